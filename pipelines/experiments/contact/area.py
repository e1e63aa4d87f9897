#!/usr/bin/env python3
"""Pressures and gaps between unlike meshes, with contact weighed by area and with counted contacts.

    area.py [ROW ...]       rows whose names begin so; default: all
    BIN=bin  TABLE=FILE     programs; where the table goes (default: standard output)

patch R TURN: a block of 1 x 0.25 x 1 m (1 MPa) with R times 12 cells along an edge, turned by TURN degrees, pressed by 1 kPa onto a
wider, stiff block of 12 cells a metre; dhat 5 mm, 1 kPa of stiffness, so that the gap is 0.7800 dhat; friction 0.5, no inertia.
Pressure of a vertex: its contact force over a third of the triangles at it that face the other block, both as parts of 1 kPa, within
0.35 m of the axis.  Deviations are of the upper, finer side.  plate: one plate on a pad of 2 mm and one of 4 mm mesh, gap of each."""
import json, os, subprocess, sys, tempfile
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(ROOT, "formats/python"))
import numpy as np
import abut

BIN, DHAT = os.environ.get("BIN") or os.path.join(ROOT, "bin"), 0.005
HEAD = ["row", "formulation", "gap/dhat", "mean", "mean of the lower", "deviation", "largest", "iterations", "verdict"]
SCENE = """abut: 1
time: {step: 1 s, scheme: quasi-static}
gravity: [0, 0, 0]
tolerance: 1e-7 l/s
"""


def contact(form, dhat, kappa):
    of = f"formulation: area, barrier: {{pressure: {kappa}}}" if form == "area" else "formulation: ipc"
    return f"contact: {{{of}, dhat: {dhat} m, friction: {{mu: 0.5}}}}\n"


def run(text, folder):
    """The last frame of two steps, or None; iterations of both; the verdict of the judge."""
    path = [os.path.join(folder, n) for n in ("s.yaml", "s.abut", "r.abut", "r.jsonl")]
    with open(path[0], "w") as f:
        f.write(text)
    said = lambda *a: subprocess.run([os.path.join(BIN, a[0]), "-q", *a[1:]], capture_output=True, timeout=300).returncode
    if said("mesh-prep", path[0], "-o", path[1]):
        sys.exit(f"area.py: mesh-prep refuses {path[0]}")
    if said("step", "-j", "1", "-n", "2", "--with", "forces", "--report", path[3], path[1], "-o", path[2]):
        return None, [], "step gave up"
    with open(path[3]) as f:
        steps = [json.loads(l) for l in f]
    counts = [s["newton_iterations"] for s in steps if "newton_iterations" in s]
    judged = said("ccd-check", "--no-output", path[2])
    return abut.open(path[2]), counts, "clean" if judged == 0 else f"ccd-check {judged}"


def sides(R, inside, facing):
    """For each object and the sign of its facing normal: pressures in Pa, areas, positions of vertices that lie inside."""
    f, M = R[-1], R.model
    X, x, of, F = (np.array(a) for a in (M["node/X"], f["node/x"], M["node/object"], f["node/contact-force"]))
    T = np.array(M["contact/node"])[np.array(M["contact/triangle"])]
    n = np.cross(X[T[:, 1]] - X[T[:, 0]], X[T[:, 2]] - X[T[:, 0]]) / 2
    for name, up in facing:
        t = (of[T[:, 0]] == name) & (n[:, 1] * up > 0.9 * np.linalg.norm(n, axis=1))
        A = np.zeros(len(X))
        for k in range(3):
            np.add.at(A, T[t, k], np.linalg.norm(n[t], axis=1) / 3)
        v = np.where((A > 0) & inside(X))[0]
        yield -up * F[v, 1] / A[v], A[v], x[v]


def patch(form, ratio, turn, folder):
    m, high = 12 * ratio, 0.25 + 0.95 * DHAT
    R, counts, verdict = run(SCENE + contact(form, DHAT, 1000) + f"""materials:
  m: {{model: neo-hookean, density: 1000, young: 1e6, poisson: 0.0001}}
  hard: {{model: neo-hookean, density: 1000, young: 1e9, poisson: 0.0001}}
objects:
  low: {{generate: {{box: {{size: [1.25, 0.25, 1.25], cells: [15, 2, 15]}}}}, material: hard, translate: [0, -0.125, 0]}}
  top: {{generate: {{box: {{size: [1, 0.25, 1], cells: [{m}, 2, {m}]}}}}, material: m, rotate: {{axis: [0, 1, 0], angle: {turn} deg}},
        translate: [0.003, {0.125 + 0.95 * DHAT}, 0.002]}}
motion:
  - {{select: {{object: low, box: [[-2, -0.251, -2], [2, -0.249, 2]]}}, fix: true}}
  - {{select: {{object: top, box: [[-2, {high - 0.001}, -2], [2, {high + 0.001}, 2]]}}, traction: [0, -1000, 0]}}
""", folder)
    if R is None:
        return [""] * 5 + ["", verdict]
    (pl, al, xl), (pt, at, xt) = sides(R, lambda X: np.hypot(X[:, 0], X[:, 2]) < 0.35, ((0, 1), (1, -1)))
    mean = np.average(pt, weights=at) / 1000
    gap = np.average(xt[:, 1], weights=at) - np.average(xl[:, 1], weights=al)
    return [f"{gap / DHAT:.4f}", f"{mean:.4f}", f"{np.average(pl, weights=al) / 1000:.4f}",
            f"{np.sqrt(np.average((pt / 1000 - mean) ** 2, weights=at)):.3f}", f"{np.abs(pt / 1000 - mean).max():.3f}",
            " ".join(map(str, counts)), verdict]


def plate(form, folder):
    dhat, pads = 0.5e-3, ((16, -0.05), (8, 0.05))
    pad = "\n".join(f"""  pad{i}: {{generate: {{box: {{size: [0.032, 0.01, 0.032], cells: [{c}, 2, {c}]}}}}, material: hard,
         translate: [{x}, -0.005, 0]}}""" for i, (c, x) in enumerate(pads))
    fixed = "\n".join(f"  - {{select: {{object: pad{i}, box: [[-1, -0.0101, -1], [1, -0.0099, 1]]}}, fix: true}}" for i in range(2))
    R, counts, verdict = run(SCENE + contact(form, dhat, 1000) + f"""materials:
  hard: {{model: neo-hookean, density: 1000, young: 1e9, poisson: 0.0001}}
objects:
{pad}
  plate: {{generate: {{box: {{size: [0.15, 0.02, 0.05], cells: [50, 2, 16]}}}}, material: hard, translate: [0, {0.01 + 0.95 * dhat}, 0]}}
motion:
{fixed}
  - {{select: {{object: plate, box: [[-1, {0.0199 + 0.95 * dhat}, -1], [1, {0.0201 + 0.95 * dhat}, 1]]}}, traction: [0, -273.07, 0]}}
""", folder)
    rows = []
    for i, (c, x) in enumerate(pads):
        if R is None:
            rows.append([""] * 6 + [verdict])
            continue
        inside = lambda X: (np.abs(X[:, 0] - x) < 0.012) & (np.abs(X[:, 2]) < 0.012)
        (p, a, low), (q, b, top) = sides(R, inside, ((i, 1), (2, -1)))
        gap = np.average(top[:, 1], weights=b) - np.average(low[:, 1], weights=a)
        mean = np.average(p, weights=a) / 1000
        rows.append([f"{gap / dhat:.4f}", f"{mean:.4f}", "", f"{np.sqrt(np.average((p / 1000 - mean) ** 2, weights=a)):.3f}",
                     f"{np.abs(p / 1000 - mean).max():.3f}", " ".join(map(str, counts)), verdict])
    return rows


def main():
    wanted, out = sys.argv[1:], []
    asked = lambda name: not wanted or any(name.startswith(w) for w in wanted)
    with tempfile.TemporaryDirectory() as folder:
        for form in ("area", "ipc"):
            for turn in (0, 17, 45):
                for ratio in (1, 2, 3, 4):
                    name = f"patch 1:{ratio} turned {turn}"
                    if asked(name):
                        out.append([name, form, *patch(form, ratio, turn, folder)])
            if asked("plate"):
                out += [[f"plate, pad of {mm} mm", form, *row] for mm, row in zip((2, 4), plate(form, folder))]
    text = "".join("\t".join(r) + "\n" for r in [HEAD, *out])
    if os.environ.get("TABLE"):
        with open(os.environ["TABLE"], "w") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


main()
