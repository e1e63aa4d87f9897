#!/usr/bin/env python3
"""proxy.py IN OUT: gives the bodies of a stream a contact surface of their own, four times as fine as their tets, inside of them.

Every vertex of it is a barycentric sum of the corners of a tet; those of obstacles are their nodes."""
import sys

import numpy as np

import abut_stream
from abut_stream import Array

REQUIRED = abut_stream.ARRAY_REQUIRED


def refined(points, triangles):
    """The triangles cut in four, and points that are joined by their numbers."""
    points, middle, out = list(points), {}, []

    def between(a, b):
        key = (min(a, b), max(a, b))
        if key not in middle:
            middle[key] = len(points)
            points.append((points[a] + points[b]) / 2)
        return middle[key]

    for a, b, c in triangles:
        ab, bc, ca = between(a, b), between(b, c), between(c, a)
        out += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.array(points), np.array(out)


def barycentric(X, tets, p):
    """The tet that p is in, and its weights there."""
    corner = X[tets]
    edges = np.moveaxis(corner[:, 1:] - corner[:, :1], 1, 2)
    w = np.linalg.solve(edges, (p - corner[:, 0])[..., None])[..., 0]
    w = np.concatenate([1 - w.sum(1, keepdims=True), w], 1)
    best = np.argmax(w.min(1))
    assert w[best].min() > -1e-9, "a point is in no tet"
    return tets[best], w[best]


def main(source, target):
    items = list(abut_stream.read(source))
    model = items[0].arrays
    X, body, tet = (model[n].data for n in ("node/X", "node/object", "tet/node"))
    node, triangle = model.pop("contact/node").data, model["contact/triangle"].data
    random = np.random.default_rng(1)
    rows, triangles = [], []
    for o in range(body.max() + 1):
        tri = node[triangle[body[node[triangle[:, 0]]] == o]]
        used = np.unique(tri)
        local = np.searchsorted(used, tri)
        first, tets = len(rows), tet[body[tet[:, 0]] == o]
        if len(tets):
            points, local = refined(X[used], local)
            center = points.mean(0)
            points = center + (points - center) * random.uniform(0.93, 0.95, (len(points), 1))
            rows += [barycentric(X, tets, p) for p in points]
        else:
            rows += [([n], [1.0]) for n in used]
        triangles += [(a + first, b + first, c + first) for a, b, c in local]
    rows = [[(n, w) for n, w in zip(*row) if abs(w) > 1e-12] for row in rows]
    ends = np.cumsum([len(r) for r in rows])
    edges = sorted({(min(t[i], t[i - 1]), max(t[i], t[i - 1])) for t in triangles for i in range(3)})
    model["contact/map-first"] = Array(np.stack([ends - [len(r) for r in rows], ends], 1).astype("i4"), "", REQUIRED)
    model["contact/map-node"] = Array(np.array([n for r in rows for n, w in r], "i4"), "", REQUIRED)
    model["contact/map-weight"] = Array(np.array([w for r in rows for n, w in r], "f8"), "", REQUIRED)
    model["contact/triangle"].data = np.array(triangles, "i4")
    model["contact/edge"].data = np.array(edges, "i4")
    with abut_stream.Writer(target) as w:
        w.prov("proxy", "1")
        w.model(model)
        for f in items[1:]:
            w.frame(f.step, f.time, f.arrays, f.phase)


main(*sys.argv[1:])
