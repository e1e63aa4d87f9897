#!/usr/bin/env python3
"""The cases of high-order-error.sh, whose solutions or references are known.

    high_order_error.py runs CASE UNKNOWNS          lines "order cells unknowns", the reference last: "order cells unknowns
                                                    reference"
    high_order_error.py scene CASE ORDER CELLS DIR  writes DIR/CASE.msh where the case has one; the scene to standard output
    high_order_error.py measure CASE STREAM REPORT  the two figures of the case; triangles that may touch, Newton iterations,
                                                    seconds
"""
import itertools
import json
import os
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "../../../formats/python"), here]
import abut_stream  # noqa: E402
import lagrange_faces  # noqa: E402

SEGMENTS = int(os.environ.get("SEGMENTS", "6"))     # of the bars: divisions of a coarse cell that contact sees, in all meshes alike

BEAM = """abut: 1
time: {step: 0.1 s, scheme: quasi-static, end: 0.1 s}
gravity: [-2, 0, 0]
tolerance: 1e-7 m/s
contact: {dhat: 1 mm}
materials: {soft: {model: neo-hookean, density: 1000, young: 1e7, poisson: 0.4}}
objects: {beam: {generate: {box: {size: [1, 8, 1], cells: [%(n)d, %(n8)d, %(n)d]}}, order: %(k)d, proxy: {segments: 1}}}
motion: [{select: {object: beam, relative-box: [[0, 0, 0], [1, 0.001, 1]]}, fix: true}]
"""
TWIST = """abut: 1
time: {step: 1 s, scheme: quasi-static, end: 5 s}
gravity: [0, 0, 0]
tolerance: 1e-5 m/s
contact: {dhat: 10 mm}
materials: {soft: {model: neo-hookean, density: 1000, young: 1e6, poisson: 0.4}}
objects: {bars: {mesh: twist.msh, order: %(k)d, proxy: {segments: %(segments)d}}}
motion:
  - {select: {object: bars, box: [[-2, 1.9999, -1], [2, 3, 1]]}, rotate: {axis: [0, 1, 0], rate: 15 deg/s, center: [0, 0, 0]}}
  - {select: {object: bars, box: [[-2, -3, -1], [2, -1.9999, 1]]}, rotate: {axis: [0, 1, 0], rate: -15 deg/s, center: [0, 0, 0]}}
"""
YOUNG, POISSON, DHAT = 1e6, 0.3, 1e-4               # of a ball of radius 1 m between two plates
DEPTH = float(os.environ.get("DEPTH", "0.01"))
PLATE = 1 + 1.1 * DHAT                                  # where they start
HERTZ = """abut: 1
time: {step: 1 s, scheme: quasi-static, end: 1 s}
gravity: [0, 0, 0]
tolerance: 1e-8 m/s
force-tolerance: 1e-5
contact: {dhat: %(dhat)g m}
materials: {soft: {model: neo-hookean, density: 1000, young: %(young)g, poisson: %(poisson)g}}
objects:
  ball: {mesh: hertz.msh, order: %(k)d, surface: {snap: {sphere: {radius: 1, center: [0, 0, 0]}}}, proxy: {segments: %(k)d}}
  above: {obstacle: true, generate: {explicit: {triangles: [[0, 1, 2]],
          points: [[-9, %(plate).17g, -7], [0, %(plate).17g, 13], [9, %(plate).17g, -7]]}}}
  below: {obstacle: true, generate: {explicit: {triangles: [[0, 1, 2]],
          points: [[-9, -%(plate).17g, -7], [9, -%(plate).17g, -7], [0, -%(plate).17g, 13]]}}}
  hold: {obstacle: true, generate: {explicit: {points: [[30, 0, 0], [31, 0, 0], [30, 0, 1]], triangles: [[0, 1, 2]]}}}
attachments:    # a ball on the corner of a mesh would roll: springs to where nodes of its equator are hold it
  - {from: {object: ball, box: [[-2, -1e-6, -2], [2, 1e-6, 2]], surface: true}, to: {object: hold}, stiffness: 100 N/m}
motion:
  - {select: {object: above}, keyframes: [{time: 1 s, translate: [0, -%(by).17g, 0]}]}
  - {select: {object: below}, keyframes: [{time: 1 s, translate: [0, %(by).17g, 0]}]}
  - {select: {object: ball, sphere: {center: [0, 0, 0], radius: 1e-6}}, fix: true}
"""
BALL = """abut: 1
contact: off
objects: {ball: {generate: {ball: {radius: 1, divisions: %(n)d}}, order: %(k)d}}
"""


def kuhn(counts, keep=lambda cell: True, centred=False):
    """Six tets for each cell of a lattice, around its diagonal; centred: around the one that leads away from the middle."""
    size = [c + 1 for c in counts]
    number = lambda v: (v[0] * size[1] + v[1]) * size[2] + v[2]     # noqa: E731
    tets = []
    for cell in itertools.product(*map(range, counts)):
        if not keep(cell):
            continue
        side = [-1 if centred and 2 * c < m else 1 for c, m in zip(cell, counts)]
        for p in itertools.permutations(range(3)):
            v = [c if s > 0 else c + 1 for c, s in zip(cell, side)]
            tet = [number(v)]
            for axis in p:
                v[axis] += side[axis]
                tet.append(number(v))
            if (p in ((0, 1, 2), (1, 2, 0), (2, 0, 1))) != (side[0] * side[1] * side[2] > 0):
                tet[1], tet[2] = tet[2], tet[1]
            tets.append(tet)
    return np.array(tets)


def bars(n):
    """Two bars side by side, 0.4 m apart, with one block at either end: a box with a slot, n cells to a coarse one."""
    def fine(coarse):
        return np.append(np.concatenate([np.linspace(a, b, n, endpoint=False) for a, b in zip(coarse, coarse[1:])]), coarse[-1])
    axes = [fine(c) for c in ((-1, -0.2, 0.2, 1), (-2, -1.5, -0.75, 0, 0.75, 1.5, 2), (-0.4, 0.4))]
    points = np.array(list(itertools.product(*axes)))
    tets = kuhn([len(a) - 1 for a in axes], lambda c: not (c[0] // n == 1 and 0 < c[1] // n < 5))
    used = np.unique(tets)
    new = np.zeros(len(points), int)
    new[used] = np.arange(len(used))
    return points[used], new[tets]


def pressed_ball(n):
    """A ball of radius 1 m, n cells over the diameter (even): shells of a cube, finer to the surface and to the poles on the y axis."""
    s = np.linspace(-1, 1, n + 1)
    p = np.array(list(itertools.product(s, s, s)))
    shell = np.abs(p).max(1)
    q = p * [0.2, 1, 0.2]
    size = np.sqrt((q ** 2).sum(1))
    return q * np.divide(1 - (1 - shell) ** 2, size, out=np.zeros_like(size), where=size > 0)[:, None], kuhn([n] * 3, centred=True)


def write_msh(path, points, tets):
    with open(path, "w") as f:
        f.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(points))
        f.writelines("%d %.17g %.17g %.17g\n" % (i + 1, *p) for i, p in enumerate(points))
        f.write("$EndNodes\n$Elements\n%d\n" % len(tets))
        f.writelines("%d 4 0 %d %d %d %d\n" % (i + 1, *(t + 1)) for i, t in enumerate(tets))
        f.write("$EndElements\n")


def bars_unknowns(m):
    """A mesh of order k has the nodes of one of order 1 with k cells for each: m = k n.  Those of both ends are prescribed."""
    across, along, deep = 3 * m + 1, 6 * m + 1, m + 1
    return 3 * (across * along - (m - 1) * (4 * m - 1) - 2 * across) * deep


def star_unknowns(k, d):
    v, e, f = 10 * d * d + 2, 30 * d * d, 20 * d * d
    return 3 * (v + 1 + (e + v) * (k - 1) + (f + e) * (k - 1) * (k - 2) // 2 + f * (k - 1) * (k - 2) * (k - 3) // 6)


CASES = {       # unknowns of order k with n cells; numbers of cells; the order of the reference
    "beam": (lambda k, n: 3 * (k * n + 1) ** 2 * 8 * k * n, [1, 2, 3, 4, 6, 8, 12, 16, 24], 4),
    "twist": (lambda k, n: bars_unknowns(k * n), [n for n in range(1, SEGMENTS + 1) if SEGMENTS % n == 0], 4),
    "hertz": (lambda k, n: 3 * ((k * n + 1) ** 3 - 1), [2, 4, 6, 8, 10, 12, 16, 20, 24, 32], 3),
    "ball": (star_unknowns, [1, 2, 3, 4, 6, 8, 12, 16], 0),
}


def runs(case, limit):
    unknowns, cells, reference = CASES[case]
    rows = [(k, n, unknowns(k, n)) for k in range(1, 5) for n in cells if unknowns(k, n) <= limit]
    if not rows:
        sys.exit("high_order_error.py: %s has more than %d unknowns in every mesh" % (case, limit))
    for row in rows:
        print(*row)
    most = max(row[2] for row in rows)
    finer = [(unknowns(reference, n), n) for n in cells if unknowns(reference, n) >= 2 * most] if reference else []
    if reference and not finer:
        sys.exit("high_order_error.py: %s has no mesh of order %d with %d unknowns" % (case, reference, 2 * most))
    if reference:
        print(reference, min(finer)[1], min(finer)[0], "reference")


def scene(case, k, n, folder):
    if case in ("twist", "hertz"):
        write_msh(os.path.join(folder, case + ".msh"), *(bars(n) if case == "twist" else pressed_ball(n)))
    text = {"beam": BEAM, "twist": TWIST, "hertz": HERTZ, "ball": BALL}[case]
    print(text % {"k": k, "n": n, "n8": 8 * n, "segments": SEGMENTS // n, "dhat": DHAT, "young": YOUNG, "poisson": POISSON,
                  "plate": PLATE, "by": PLATE - (1 - DEPTH)}, end="")


def hertz_force(depth):
    """Hertz 1882: 4/3 E* sqrt(R) d^1.5 of a ball of radius 1 m on a rigid plate."""
    return 4 / 3 * YOUNG / (1 - POISSON ** 2) * depth ** 1.5


def finite_ball_force(depth):
    """The same with what the load on the other side adds at this one (Boussinesq, at the distance of a diameter)."""
    low, high = 0.0, 4 * hertz_force(depth)
    for _ in range(100):
        force = (low + high) / 2
        a = (3 * (1 - POISSON ** 2) * force / (4 * YOUNG)) ** (1 / 3)
        rho = np.hypot(a, 2)
        back = force / (np.pi * YOUNG) * (2 * (1 + POISSON) / rho ** 3 + (1 - POISSON ** 2) / rho)
        low, high = (force, high) if a * a - back < depth else (low, force)
    return force


def mean_gap(model, x, plate):
    """Of the vertices of the ball that touch the plate below, at that height, weighed by the forces of the barrier law on them."""
    if "contact/map-first" in model.arrays:
        first, node, weight = (model["contact/map-" + a] for a in ("first", "node", "weight"))
        y = np.add.reduceat(weight * x[node, 1], first[:, 0])
    else:
        y = x[model["contact/node"], 1]
    gap = y - plate
    gap = gap[(gap > 0) & (gap < DHAT)]
    D = (gap / DHAT) ** 2
    force = gap * (2 * (D - 1) * np.log(D) + (D - 1) ** 2 / D)
    return (force * gap).sum() / force.sum()


def pressure_error(model, frame, radius, peak):
    """|p - p_Hertz| / |p_Hertz| in L2 on the faces below: p has the order of the tets, and the nodal contact forces as loads."""
    x, force = frame["node/x"], frame["node/contact-force"][:, 1]
    faces, k = lagrange_faces.boundary(model)
    corners = x[faces[:, :3]]
    near = (corners[:, :, 1].max(1) < 0) & (np.hypot(corners[:, :, 0], corners[:, :, 2]).min(1) < 2 * radius)
    faces = faces[near & (model["node/role"][faces[:, 0]] == 0)]
    at, area, phi = lagrange_faces.surface(faces, k, x)
    weight = -area[:, :, 1]
    used, local = np.unique(faces, return_inverse=True)
    local = local.reshape(faces.shape)
    M = np.zeros((len(used),) * 2)
    np.add.at(M, (local[:, :, None], local[:, None, :]), np.einsum("fq,qa,qb->fab", weight, phi, phi))
    p = np.einsum("qa,fa->fq", phi, np.linalg.solve(M, force[used])[local])
    exact = peak * np.sqrt(np.maximum(0, 1 - (at[:, :, 0] ** 2 + at[:, :, 2] ** 2) / radius ** 2))
    return np.sqrt((weight * (p - exact) ** 2).sum() / (weight * exact ** 2).sum())


def measure_hertz(model, last):
    obstacle = model["node/role"] == 2
    x, force = last["node/x"], last["node/contact-force"]
    low, high = (x[obstacle, 1][side(x[obstacle, 1])].mean() for side in (lambda y: y < 0, lambda y: y > 0))
    depth = 1 - (high - low) / 2 + mean_gap(model, x, low)
    load = force[~obstacle & (model["node/X"][:, 1] < 0), 1].sum()
    hertz = hertz_force(depth)
    radius = np.sqrt(depth)
    return load / hertz, pressure_error(model, last, radius, 3 * hertz / (2 * np.pi * depth))


def measure(case, path, report):
    items = list(abut_stream.read(path))
    model, last = items[0], items[-1]
    X, x = model["node/X"], last["node/x"]
    if case == "beam":
        corners = np.unique(model["tet/node"])
        tip = corners[(np.abs(X[corners, 1] - 4) < 1e-9) & (np.abs(X[corners, 0]) > 0.499) & (np.abs(X[corners, 2]) > 0.499)]
        figures = -(x - X)[tip, 0].mean(), last["energy/elastic"]
    elif case == "twist":
        end = X[:, 1] > 1.9999
        figures = np.cross(x[end], last["node/reaction-force"][end])[:, 1].sum(), last["energy/elastic"]
    elif case == "hertz":
        figures = measure_hertz(model, last)
    else:
        faces, k = lagrange_faces.boundary(model)
        at, area, _ = lagrange_faces.surface(faces, k, X)
        size = np.linalg.norm(area, axis=2)
        off = np.linalg.norm(at, axis=2) - 1
        figures = (at * area).sum() / 3 / (4 * np.pi / 3) - 1, np.sqrt((size * off ** 2).sum() / size.sum())
    triangles = len(model["contact/triangle"]) if "contact/triangle" in model.arrays else 0
    steps = [json.loads(line) for line in open(report)] if case != "ball" else []
    print("%.12g\t%.12g\t%d\t%d\t%.3g" % (*figures, triangles, sum(s["newton_iterations"] for s in steps),
                                         sum(s["cpu_seconds"] for s in steps)))


if __name__ == "__main__":
    what, case = sys.argv[1:3]
    if what == "runs":
        runs(case, int(sys.argv[3]))
    elif what == "scene":
        scene(case, int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    else:
        measure(case, *sys.argv[3:5])
