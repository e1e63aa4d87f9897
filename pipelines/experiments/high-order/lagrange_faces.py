"""Boundary faces of tets of order 1 to 4 in a stream, in numpy: what lib/geom/lagrange.c does, written another time to check it."""
import itertools

import numpy as np

FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))        # outward, of a tet of positive volume


def triangle_lattice(k):
    """Tuples of three whole numbers of sum k in the order of MSH files: corners, edges 01, 12, 20, interior."""
    if k == 0:
        return [(0, 0, 0)]
    rows = [tuple(k if i == c else 0 for i in range(3)) for c in range(3)]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        rows += [tuple(k - j if i == a else j if i == b else 0 for i in range(3)) for j in range(1, k)]
    return rows + [tuple(a + 1 for a in r) for r in triangle_lattice(k - 3)] if k > 2 else rows


def tet_lattice(k):
    """Tuples of four in the order of MSH files (formats/STATE.md, tets of higher order)."""
    if k == 0:
        return [(0, 0, 0, 0)]
    rows = [tuple(k if i == c else 0 for i in range(4)) for c in range(4)]
    for a, b in ((0, 1), (1, 2), (2, 0), (3, 0), (3, 2), (3, 1)):
        rows += [tuple(k - j if i == a else j if i == b else 0 for i in range(4)) for j in range(1, k)]
    if k > 2:
        for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (3, 1, 2)):
            for r in triangle_lattice(k - 3):
                rows.append(tuple(r[face.index(i)] + 1 if i in face else 0 for i in range(4)))
    return rows + [tuple(a + 1 for a in r) for r in tet_lattice(k - 4)] if k > 3 else rows


def tet_nodes(model):
    """[nt, nodes] of a model whose tets have one order, and that order."""
    corners = model["tet/node"]
    if "tet/order" not in model.arrays:
        return corners, 1
    more = model["tet/more"].reshape(len(corners), -1)
    return np.hstack([corners, more]), int(model["tet/order"][0])


def boundary(model):
    """[nf, nodes of a triangle] nodes of the faces that one tet has, in the order of triangle_lattice, and the order."""
    nodes, k = tet_nodes(model)
    at = {a: i for i, a in enumerate(tet_lattice(k))}
    rows = []
    for face in FACES:
        pick = []
        for r in triangle_lattice(k):
            a = [0, 0, 0, 0]
            for corner, n in zip(face, r):
                a[corner] = n
            pick.append(at[tuple(a)])
        rows.append(nodes[:, pick])
    rows = np.vstack(rows)
    _, first, count = np.unique(np.sort(rows[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    return rows[np.sort(first[count == 1])], k


def rule(n=8):
    """[n^2, 3] barycentric points and [n^2] weights of sum 1/2: a product of Gauss rules, exact to degree 2 n - 2."""
    t, w = np.polynomial.legendre.leggauss(n)
    t, w = (t + 1) / 2, w / 2
    points = [(1 - u - v * (1 - u), u, v * (1 - u)) for u, v in itertools.product(t, t)]
    return np.array(points), np.array([a * b * (1 - u) for (u, a), b in itertools.product(zip(t, w), w)])


def basis(k, L):
    """phi [points, nodes] and its derivatives by the second and third barycentric coordinate [points, nodes, 2]."""
    value, slope = np.zeros((k + 1,) + L.shape), np.zeros((k + 1,) + L.shape)
    value[0] = 1
    for m in range(k):                                      # Silvester's factors: product of (k t - j)/(j + 1), j < m
        slope[m + 1] = (slope[m] * (k * L - m) + value[m] * k) / (m + 1)
        value[m + 1] = value[m] * (k * L - m) / (m + 1)
    phi, d = [], []
    for r in triangle_lattice(k):
        p = [value[r[c], :, c] for c in range(3)]
        q = [slope[r[c], :, c] for c in range(3)]
        phi.append(p[0] * p[1] * p[2])
        d0, d1, d2 = q[0] * p[1] * p[2], p[0] * q[1] * p[2], p[0] * p[1] * q[2]
        d.append(np.stack([d1 - d0, d2 - d0], -1))
    return np.stack(phi, -1), np.stack(d, 1)


def surface(faces, k, x, n=8):
    """Of the faces with nodes at x: points [nf, points, 3], vector areas [nf, points, 3] (their sum over the points is that of
    the face), and the basis at the points."""
    L, w = rule(n)
    phi, d = basis(k, L)
    at = x[faces]
    u, v = (np.einsum("qa,fac->fqc", d[:, :, c], at) for c in range(2))
    return np.einsum("qa,fac->fqc", phi, at), np.cross(u, v) * w[None, :, None], phi
