#!/usr/bin/env python3
"""Files with tets of order 1 to 4 read back by the rules of their formats, independently of export; numpy only.

    high_order.py msh FILE STREAM       MSH 4.1, text or binary, against the first frame of the stream
    high_order.py vtu FILE STREAM       volumes of VTK cells 10, 24 and 71, in VTK's own order of nodes
    high_order.py volume STREAM         volume of the tets of the first frame, m^3
    high_order.py surface FILE.obj STREAM OBJECT N
                                        the object in the file is the boundary of its tets in the last frame, N segments on a side

Exits 1 with the first thing that is wrong.
"""
import os
import struct
import sys
from itertools import product

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "formats", "python"))
sys.path.insert(0, here)
import abut_stream  # noqa: E402
from export_check import need, vtk_grid  # noqa: E402


# ---- the order of nodes, from the rule in words of the Gmsh manual ----

def gmsh_triangle(k, base):
    """Tuples over three corners with sum k, the corners being the unit vectors `base`."""
    if k < 0:
        return []
    if k == 0:
        return [sum(base) * 0]
    nodes = [k * b for b in base]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        nodes += [(k - j) * base[a] + j * base[b] for j in range(1, k)]
    return nodes + [n + sum(base) for n in gmsh_triangle(k - 3, base)]


def gmsh_tet(k):
    e = np.eye(4, dtype=int)
    if k < 0:
        return []
    if k == 0:
        return [np.zeros(4, int)]
    nodes = [k * b for b in e]
    for a, b in ((0, 1), (1, 2), (2, 0), (3, 0), (3, 2), (3, 1)):
        nodes += [(k - j) * e[a] + j * e[b] for j in range(1, k)]
    for f in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (3, 1, 2)):
        base = [e[i] for i in f]
        nodes += [n + sum(base) for n in gmsh_triangle(k - 3, base)]
    return nodes + [n + sum(e) for n in gmsh_tet(k - 4)]


def vtk_triangle(k):
    """VTK: corners with barycentrics (0,0,k), (k,0,0), (0,k,0); edges 01, 12, 20; the triangle inside."""
    if k == 0:
        return [np.zeros(3, int)]
    corner = [np.array(c) for c in ((0, 0, k), (k, 0, 0), (0, k, 0))]
    nodes = list(corner)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        nodes += [((k - j) * corner[a] + j * corner[b]) // k for j in range(1, k)]
    return nodes + ([n + 1 for n in vtk_triangle(k - 3)] if k >= 3 else [])


def vtk_tet(k):
    """vtkHigherOrderTetra: barycentrics (xi, eta, zeta, 1 - sum); corner 0 is the last of them."""
    if k == 0:
        return [np.zeros(4, int)]
    corner = [k * np.eye(4, dtype=int)[i] for i in (3, 0, 1, 2)]
    nodes = list(corner)
    for a, b in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)):
        nodes += [((k - j) * corner[a] + j * corner[b]) // k for j in range(1, k)]
    for axes, zero in (((0, 2, 3), 1), ((2, 0, 1), 3), ((2, 1, 3), 0), ((1, 0, 3), 2)):
        for p in vtk_triangle(k - 3) if k >= 3 else []:
            n = np.zeros(4, int)
            n[list(axes)] = p + 1
            nodes.append(n)
    return nodes + ([n + 1 for n in vtk_tet(k - 4)] if k >= 4 else [])


def volume(nodes, X):
    """Of tets whose nodes are at the barycentrics nodes[n, 4], those of xi, eta, zeta first; places X[m, n, 3].  The map by monomials,
    det J integrated by Gauss points of a cube that is drawn together to a tet.  Returns volumes and the least det J there."""
    k = int(nodes.sum(1)[0])
    exponents = [e for e in product(range(k + 1), repeat=3) if sum(e) <= k]
    at = lambda p, e: np.prod([p[:, i] ** e[i] for i in range(3)], axis=0)
    V = np.stack([at(nodes[:, :3] / k, e) for e in exponents], axis=1)
    coef = np.einsum("en,mnd->med", np.linalg.inv(V), X)
    g, w = np.polynomial.legendre.leggauss(8)
    g, w = (g + 1) / 2, w / 2
    points = np.array([(a, b * (1 - a), c * (1 - a) * (1 - b)) for a, b, c in product(g, repeat=3)])
    weights = np.array([u * v * z * (1 - a) ** 2 * (1 - b) for (a, u), (b, v), (_, z) in product(list(zip(g, w)), repeat=3)])
    J = np.zeros((len(X), len(points), 3, 3))
    for c in range(3):
        for i, e in enumerate(exponents):
            if e[c]:
                d = list(e)
                d[c] -= 1
                J[:, :, :, c] += coef[:, None, i, :] * (e[c] * at(points, d))[None, :, None]
    det = np.linalg.det(J)
    return det @ weights, det.min()


def gmsh_nodes(k):
    return np.roll(np.array(gmsh_tet(k)), -1, axis=1)           # corner 0 is the origin of xi, eta, zeta


def tets(model):
    """{order: rows of nodes}"""
    out, order = {}, model["tet/order"] if "tet/order" in model.arrays else np.ones(len(model["tet/node"]), int)
    for t, k in enumerate(order):
        row = list(model["tet/node"][t])
        if k > 1:
            first = model["tet/first"][t]
            row += list(model["tet/more"][first:first + (k + 1) * (k + 2) * (k + 3) // 6 - 4])
        out.setdefault(int(k), []).append(row)
    return {k: np.array(v) for k, v in out.items()}


def load(stream):
    items = list(abut_stream.read(stream))
    return items[0], items[1]


def total(model, x):
    return sum(volume(gmsh_nodes(k), x[v])[0].sum() for k, v in tets(model).items())


# ---- MSH 4.1 ----

class Msh:
    def __init__(self, path):
        self.data, self.at = open(path, "rb").read(), 0
        need(self.line() == "$MeshFormat", "no $MeshFormat")
        version, self.binary, size = self.line().split()
        need((version, size) == ("4.1", "8"), version, size)
        self.binary = self.binary == "1"
        if self.binary:
            need(self.ints(1) == [1], "byte order")
            self.line()
        need(self.line() == "$EndMeshFormat", "no $EndMeshFormat")
        self.section = {}
        while self.at < len(self.data):
            name = self.line()
            need(name[:1] == "$", name)
            self.section.setdefault(name[1:], []).append(getattr(self, "read_" + name[1:])())
            need(self.line() in ("", ) and self.line() == "$End" + name[1:] if self.binary and name != "$PhysicalNames"
                 else self.line() == "$End" + name[1:], "end of", name)

    def line(self):
        end = self.data.index(b"\n", self.at)
        text, self.at = self.data[self.at:end].decode(), end + 1
        return text

    def take(self, n, code):
        if self.binary:
            v = struct.unpack_from("<%d%s" % (n, code), self.data, self.at)
            self.at += struct.calcsize("<%d%s" % (n, code))
            return list(v)
        words = []
        while len(words) < n:
            words += self.line().split()
        need(len(words) == n, "a line with", words)
        return [float(w) if code == "d" else int(w) for w in words]

    def ints(self, n): return self.take(n, "i")
    def sizes(self, n): return self.take(n, "Q")
    def reals(self, n): return self.take(n, "d")

    def row(self, codes):
        """Mixed numbers of one line."""
        if self.binary:
            v = list(struct.unpack_from("<" + codes, self.data, self.at))
            self.at += struct.calcsize("<" + codes)
            return v
        words = self.line().split()
        need(len(words) == len(codes), words, codes)
        return [float(w) if c == "d" else int(w) for w, c in zip(words, codes)]

    def read_PhysicalNames(self):
        return [self.line().split(None, 2) for _ in range(int(self.line()))]

    def read_Entities(self):
        counts, out = self.sizes(4), []
        for dim, n in enumerate(counts):
            for _ in range(n):
                out.append((dim, self.row("idddQi" if dim == 0 else "iddddddQiQ")))
        return out

    def read_Nodes(self):
        blocks, n, lo, hi = self.sizes(4)
        tags, x = [], []
        for _ in range(blocks):
            dim, tag, parametric, k = self.row("iiiQ")
            tags += [self.sizes(1)[0] for _ in range(k)]
            x += [self.reals(3) for _ in range(k)]
        need(len(tags) == n and (min(tags), max(tags)) == (lo, hi), "nodes", n, lo, hi)
        return np.array(tags), np.array(x)

    def read_Elements(self):
        nodes_of = {1: 2, 2: 3, 15: 1, 4: 4, 11: 10, 29: 20, 30: 35}
        blocks, n, lo, hi = self.sizes(4)
        out, seen = [], []
        for _ in range(blocks):
            dim, tag, kind, k = self.row("iiiQ")
            rows = [self.row("Q" * (1 + nodes_of[kind])) for _ in range(k)]
            seen += [r[0] for r in rows]
            out.append((dim, tag, kind, np.array([r[1:] for r in rows])))
        need(len(seen) == n and (min(seen), max(seen)) == (lo, hi) and len(set(seen)) == n, "elements")
        return out

    def read_NodeData(self):
        need(self.line() == "1", "string tags")
        name = self.line()
        need(self.line() == "1", "real tags")
        time = float(self.line())
        need(self.line() == "3", "integer tags")
        step, width, n = (int(self.line()) for _ in range(3))
        rows = [self.row("iddd") for _ in range(n)]
        need(width == 3, "components", width)
        return name.strip('"'), time, np.array([r[0] for r in rows]), np.array([r[1:] for r in rows])


def check_msh(path, stream):
    m, (model, frame) = Msh(path), load(stream)
    tags, X = m.section["Nodes"][0]
    index = {t: i for i, t in enumerate(tags.tolist())}
    need(len(index) == len(tags), "a tag twice")
    where = {}                                                  # place at rest -> node of the model, for nodes are unique there
    for i, x in enumerate(model["node/X"].tolist()):
        where.setdefault(tuple(x), []).append(i)
    need(all(tuple(x) in where for x in X.tolist()), "places")
    want, got = tets(model), {}
    kinds = {4: 1, 11: 2, 29: 3, 30: 4}
    for dim, tag, kind, rows in m.section["Elements"][0]:
        if kind in kinds:
            got.setdefault(kinds[kind], []).append(X[[[index[t] for t in r] for r in rows.tolist()]])
    need(sorted(got) == sorted(want), "orders", sorted(got), sorted(want))
    for k, v in want.items():
        need(np.array_equal(np.sort(np.concatenate(got[k]), 0), np.sort(model["node/X"][v], 0)), "tets of order", k)
        vol, least = volume(gmsh_nodes(k), np.concatenate(got[k]))
        need(least > 0, "det J", least)
    data = {name: (time, t, rows) for name, time, t, rows in m.section["NodeData"]}
    node = np.array([where[tuple(x)][0] for x in X.tolist()])
    unique = np.array([len(where[tuple(x)]) == 1 for x in X.tolist()])
    for name, want in (("displacement", frame["node/x"] - model["node/X"]), ("velocity", frame["node/v"])):
        time, t, rows = data[name]
        need(time == frame.time and np.array_equal(t, tags), name)
        need(np.array_equal(rows[unique], want[node[unique]]), name)


def check_vtu(path, stream):
    model, frame = load(stream)
    g = vtk_grid(path)
    order = {10: 1, 24: 2, 71: None}
    sum_, first, least = 0, 0, np.inf
    for kind, end in zip(g["cells"]["types"].tolist(), g["cells"]["offsets"].tolist()):
        c = g["cells"]["connectivity"][first:end]
        k = {4: 1, 10: 2, 20: 3, 35: 4}[len(c)]
        need(kind in order and order[kind] in (None, k), "cell", kind, "of", len(c))
        if kind == 24:          # quadratic tet: corners, then the middles of 01, 12, 20, 03, 13, 23
            e = np.eye(4, dtype=int)
            nodes = [2 * e[i] for i in range(4)] + [e[a] + e[b] for a, b in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))]
        else:
            nodes = vtk_tet(k)
        nodes = np.array(nodes)
        if kind == 24:
            nodes = nodes[:, [1, 2, 3, 0]]
        v, low = volume(nodes, g["x"][c][None])
        sum_, first, least = sum_ + v.sum(), end, min(least, low)
    want = total(model, frame["node/x"])
    need(least > 0, "det J", least)
    need(abs(sum_ - want) <= 1e-12 * want, "volume", sum_, "expected", want)


# ---- surfaces ----

def obj_object(path, name):
    """Vertices [n, 3] of an object of an OBJ file, triangles [m, 3] of them."""
    at, v, f, first = None, [], [], 0
    for line in open(path):
        word = line.split()
        if word[:1] == ["o"]:
            at = word[1]
        elif word[:1] == ["v"] and at != name:
            first += not len(v)
        elif word[:1] == ["v"]:
            v.append([float(c) for c in word[1:4]])
        elif word[:1] == ["f"] and at == name:
            f.append([int(c) - 1 - first for c in word[1:]])
    return np.array(v), np.array(f)


def boundary_points(rows, k, x, n):
    """The lattice with n segments on a side of every face that one tet has, on its polynomial: by monomials."""
    nodes = gmsh_nodes(k)
    exponents = [e for e in product(range(k + 1), repeat=3) if sum(e) <= k]
    at = lambda L: np.stack([np.prod([(L[:, i] / L.sum(1)) ** e[i] for i in range(3)], axis=0) for e in exponents], axis=1)
    inverse, faces = np.linalg.inv(at(nodes)), {}
    for t, row in enumerate(rows):
        for c in range(4):
            faces.setdefault(tuple(sorted(row[j] for j in range(4) if j != c)), []).append((t, c))
    out = []
    for t, c in (f[0] for f in faces.values() if len(f) == 1):
        # corner 0 is where xi, eta, zeta are 0, the last column
        L = np.array([np.insert(w, (c - 1) % 4, 0) for w in product(range(n + 1), repeat=3) if sum(w) == n])
        out.append(at(L) @ inverse @ x[rows[t]])
    return np.concatenate(out)


def check_surface(path, stream, name, n):
    items = list(abut_stream.read(stream))
    model, x = items[0], items[-1]["node/x"]
    row = model["object/name"].split("\n").index(name)
    (k, rows), = ((k, r[model["node/object"][r[:, 0]] == row]) for k, r in tets(model).items()
                  if (model["node/object"][r[:, 0]] == row).any())
    v, f = obj_object(path, name)
    p = boundary_points(rows, k, x, int(n))
    d = np.linalg.norm(v[:, None] - p[None], axis=2)
    size = np.ptp(x, axis=0).max()
    need(d.min(1).max() < 1e-12 * size, "a vertex off the boundary by", d.min(1).max())
    need(d.min(0).max() < 1e-12 * size, "no vertex on the boundary within", d.min(0).max())
    sides = {(a, b) for t in f for a, b in zip(t, np.roll(t, -1))}
    need(len(sides) == 3 * len(f) and all((b, a) in sides for a, b in sides), "the surface is not closed")
    need(len(v) == len(f) // 2 + 2, "vertices", len(v), "triangles", len(f))
    inside = np.einsum("ij,ij", v[f[:, 0]], np.cross(v[f[:, 1]], v[f[:, 2]])) / 6
    want = volume(gmsh_nodes(k), x[rows])[0].sum()
    need(abs(inside - want) < 0.03 * want, "volume", inside, "expected about", want)


if __name__ == "__main__":
    what, args = sys.argv[1], sys.argv[2:]
    if what == "msh":
        check_msh(*args)
    elif what == "vtu":
        check_vtu(*args)
    elif what == "surface":
        check_surface(*args)
    else:
        model, frame = load(args[0])
        print("%.15g" % total(model, frame["node/x"]))
