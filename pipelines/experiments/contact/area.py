#!/usr/bin/env python3
"""Pressures and gaps between unlike meshes, with contact weighed by area and with counted contacts.

    area.py [ROW ...]       rows whose names begin so; default: all
    BIN=bin  TABLE=FILE     programs; where the table goes (default: standard output)

patch R TURN: a block of 1 x 0.25 x 1 m (1 MPa) with R times 12 cells along an edge, turned by TURN degrees, pressed by 1 kPa onto
a wider, stiff block of 12 cells a metre; dhat 5 mm, 1 kPa of stiffness, so that the gap is 0.7800 dhat; friction 0.5, no inertia.
Pressure of a vertex: its contact force over a third of the triangles at it that face the other block, both as parts of 1 kPa,
within 0.35 m of the axis.  Deviations are of the upper, finer side.
unlike C D: C and D cells a metre, turned by 20 degrees, at the pressure of the barrier and at a hundredth of it.
refined C P: C cells a metre in both blocks, turned by 17 degrees, P times the pressure of the barrier; h/10: dhat of a tenth of a
cell.
half-space C P: a block of C cells a metre on a half-space.
plate: one plate on a pad of 2 mm and one of 4 mm mesh, gap of each; MM: cells of the plate.  The mean is that of the middle of
the pad, of the lower that of its whole face."""
import json, math, os, subprocess, sys, tempfile
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


def patch(form, low, top, turn, folder, load=1, dhat=DHAT):
    """low, top: cells a metre, low 0: a half-space; load: 1 kPa over the pressure of the barrier."""
    high, wide = 0.25 + 0.95 * dhat, math.ceil(1.25 * low)
    floor = "{half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}" if not low else \
        f"""{{generate: {{box: {{size: [{wide / low}, 0.25, {wide / low}], cells: [{wide}, 2, {wide}]}}}}, material: hard,
        translate: [0, -0.125, 0]}}"""
    fix = "  - {select: {object: low, box: [[-2, -0.251, -2], [2, -0.249, 2]]}, fix: true}\n" if low else ""
    R, counts, verdict = run(SCENE + contact(form, dhat, 1000 / load) + f"""materials:
  m: {{model: neo-hookean, density: 1000, young: 1e6, poisson: 0.0001}}
  hard: {{model: neo-hookean, density: 1000, young: 1e9, poisson: 0.0001}}
objects:
  low: {floor}
  top: {{generate: {{box: {{size: [1, 0.25, 1], cells: [{top}, 2, {top}]}}}}, material: m,
        rotate: {{axis: [0, 1, 0], angle: {turn} deg}}, translate: [0.003, {0.125 + 0.95 * dhat}, 0.002]}}
motion:
{fix}  - {{select: {{object: top, box: [[-2, {high - 0.001}, -2], [2, {high + 0.001}, 2]]}}, traction: [0, -1000, 0]}}
""", folder)
    if R is None:
        return [""] * 5 + ["", verdict]
    *below, (pt, at, xt) = sides(R, lambda X: np.hypot(X[:, 0], X[:, 2]) < 0.35, ((0, 1), (1, -1)) if low else ((0, -1),))
    mean = np.average(pt, weights=at) / 1000
    gap, of_low = np.average(xt[:, 1], weights=at), ""
    for p, a, x in below:
        gap, of_low = gap - np.average(x[:, 1], weights=a), f"{np.average(p, weights=a) / 1000:.4f}"
    return [f"{gap / dhat:.4f}", f"{mean:.4f}", of_low,
            f"{np.sqrt(np.average((pt / 1000 - mean) ** 2, weights=at)):.3f}", f"{np.abs(pt / 1000 - mean).max():.3f}",
            " ".join(map(str, counts)), verdict]


def plate(form, mm, folder):
    dhat, pads = 0.5e-3, ((16, -0.05), (8, 0.05))
    pad = "\n".join(f"""  pad{i}: {{generate: {{box: {{size: [0.032, 0.01, 0.032], cells: [{c}, 2, {c}]}}}}, material: hard,
         translate: [{x}, -0.005, 0]}}""" for i, (c, x) in enumerate(pads))
    fixed = "\n".join(f"  - {{select: {{object: pad{i}, box: [[-1, -0.0101, -1], [1, -0.0099, 1]]}}, fix: true}}"
                      for i in range(2))
    R, counts, verdict = run(SCENE + contact(form, dhat, 1000) + f"""materials:
  hard: {{model: neo-hookean, density: 1000, young: 1e9, poisson: 0.0001}}
objects:
{pad}
  plate: {{generate: {{box: {{size: [0.15, 0.02, 0.05], cells: [{150 // mm}, 2, {50 // mm}]}}}}, material: hard,
          translate: [0, {0.01 + 0.95 * dhat}, 0]}}
motion:
{fixed}
  - {{select: {{object: plate, box: [[-1, {0.0199 + 0.95 * dhat}, -1], [1, {0.0201 + 0.95 * dhat}, 1]]}},
     traction: [0, -273.07, 0]}}
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
        whole = R[-1]["node/contact-force"][np.array(R.model["node/object"]) == i, 1].sum() / -0.032 ** 2 / 1000
        deviation = np.sqrt(np.average((p / 1000 - mean) ** 2, weights=a))
        rows.append([f"{gap / dhat:.4f}", f"{mean:.4f}", f"{whole:.4f}", f"{deviation:.3f}",
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
                        out.append([name, form, *patch(form, 12, 12 * ratio, turn, folder)])
            for low, top in ((8, 8), (8, 11), (8, 19)):
                for load in (1, 0.01) if form == "area" else (1,):
                    name = f"unlike {low} {top}, p/pressure {load}"
                    if asked(name):
                        out.append([name, form, *patch(form, low, top, 20, folder, load)])
            for cells in (4, 8, 16, 32):
                for load in (0.01, 0.1, 1, 10) if form == "area" else (1,):
                    for kind, low in (("refined", cells), ("half-space", 0)):
                        name = f"{kind} {cells}, p/pressure {load}"
                        if asked(name):
                            out.append([name, form, *patch(form, low, cells, 17, folder, load)])
                name = f"refined {cells}, h/10"
                if asked(name):
                    out.append([name, form, *patch(form, cells, cells, 17, folder, 1, 0.1 / cells)])
            for mm in (3, 2):
                name = f"plate of {mm} mm"
                if asked(name):
                    out += [[f"{name}, pad of {of} mm", form, *row] for of, row in zip((2, 4), plate(form, mm, folder))]
    text = "".join("\t".join(r) + "\n" for r in [HEAD, *out])
    if os.environ.get("TABLE"):
        with open(os.environ["TABLE"], "w") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


main()
