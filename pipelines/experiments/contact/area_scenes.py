"""Contact weighed by area beside counted contacts (contact.formulation: area, ipc), against closed forms and against each other.

    area_scenes.py [CASE ...]  cases of CASES whose names begin so, or all of them: two minutes of one core
    BIN=bin  OUT=out/contact   programs; scenes and frames
    TABLE=FILE                 the table (pipelines/experiments/bin/tables contact-area-scenes: area_scenes.tsv)

Of the sphere (tets of order 1) errors of force and peak pressure fall with its cells: 6.4, 5.3, 4.2 % and 7.7, 4.8, 2.3 %.
Gaps of sheets are within 2.1 % of the law's.  The flat cloth and the plate rest.
contacts: most of a step; iterations, cpu s: of all steps; judged: by ccd-check.
"""
import json, math, os, subprocess, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
sys.path.insert(0, "formats/python")
import numpy as np
import abut_stream

BIN, OUT = os.environ.get("BIN", "bin"), os.environ.get("OUT", "out/contact")
HEAD = ["case", "formulation", "mesh", "quantity", "expected", "measured", "contacts", "iterations", "cpu s", "judged"]
rows = []


class Run:
    """Frames of a scene: model, last frame, reports; gave: what step said if it gave up."""

    def __init__(self, name, scene, steps, options=()):
        at = os.path.join(OUT, name)
        os.makedirs(OUT, exist_ok=True)
        for end in (".start.abut", ".abut", ".jsonl"):
            if os.path.exists(at + end):
                os.remove(at + end)
        with open(at + ".yaml", "w", encoding="utf-8") as f:
            json.dump(scene, f)
        prep = subprocess.run([f"{BIN}/mesh-prep", "-q", at + ".yaml", "-o", at + ".start.abut"], stderr=subprocess.PIPE, text=True)
        if prep.returncode:
            sys.exit(f"area_scenes: {name}: {prep.stderr.strip()}")
        done = subprocess.run([f"{BIN}/step", "-q", "-j", "1", "-n", str(steps), "--with", "forces", "--report", at + ".jsonl",
                               at + ".start.abut", "-o", at + ".abut", *options], stderr=subprocess.PIPE, text=True)
        self.gave = done.stderr.strip() if done.returncode else ""
        self.reports = []
        if os.path.exists(at + ".jsonl"):
            with open(at + ".jsonl", encoding="utf-8") as f:
                self.reports = [json.loads(line) for line in f]
        judged = subprocess.run([f"{BIN}/ccd-check", "-q", "-j", "1", "--no-output", at + ".abut"], stderr=subprocess.PIPE)
        self.judged = "clean" if judged.returncode == 0 else f"status {judged.returncode}"
        items = list(abut_stream.read(at + ".abut"))
        self.model = next(i for i in items if i.kind == "model")
        self.frames = [i for i in items if i.kind == "frame"]

    def sum(self, key):
        return sum(r[key] for r in self.reports)

    def row(self, case, form, mesh, quantity, expected, measured):
        show = lambda v: v if isinstance(v, str) else f"{v:.4g}"
        gave = self.gave and f"gave up in step {len(self.frames)}"
        rows.append([case, form, mesh, quantity, show(expected), gave or show(measured),
                     str(max((r["contacts"] + r["half_space_contacts"] for r in self.reports), default=0)),
                     str(self.sum("newton_iterations")), f"{self.sum('cpu_seconds'):.1f}", self.judged])
        print("\t".join(rows[-1]), flush=True)


def contact(form, dhat, pressure=None, mu=0, **more):
    c = {"formulation": form, "dhat": f"{dhat:.17g} m", "friction": {"mu": mu}, **more}
    if form == "area" and pressure:
        c["barrier"] = {"pressure": pressure}
    return c


def gap_at(p):
    """Gap over dhat under p, a pressure over that of the barrier (law ipc)."""
    low, high = 1e-9, 1 - 1e-9
    for _ in range(100):
        r = (low + high) / 2
        f = 4 * r * (r * r - 1) * math.log(r * r) + 2 * (r * r - 1) ** 2 / r
        low, high = (r, high) if f > p else (low, r)
    return low


# ---- Hertz

def graded(core, cells, far, growth):
    """Coordinates from 0: cells of core / cells up to 1.25 core, then cells that grow by `growth` up to far."""
    h = core / cells
    x = [h * i for i in range(math.ceil(1.25 * cells) + 1)]
    while x[-1] < far:
        h *= growth
        x.append(x[-1] + h)
    x = np.array(x)
    inner = math.ceil(1.25 * cells)
    x[inner:] = x[inner] + (x[inner:] - x[inner]) * (far - x[inner]) / (x[-1] - x[inner])
    return x


def lattice(xs, ys, zs):
    """Points and tets (six for each cell, around its diagonal) of a lattice."""
    n = (len(xs), len(ys), len(zs))
    points = np.stack(np.meshgrid(xs, ys, zs, indexing="ij"), -1).reshape(-1, 3)
    at = np.arange(len(points)).reshape(n)
    tets = []
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)):
        odd = order in ((0, 2, 1), (1, 0, 2), (2, 1, 0))
        corner, path = [0, 0, 0], []
        for step in (None, *order):
            if step is not None:
                corner[step] = 1
            path.append(at[tuple(slice(c, m - 1 + c) for c, m in zip(corner, n))].ravel())
        if odd:
            path[2], path[3] = path[3], path[2]
        tets.append(np.stack(path, -1))
    return points, np.concatenate(tets)


def sphere(cells, young=1e6, nu=0.3, far=8.0, growth=1.5):
    """An elastic body with a spherical end, radius 4 m, pressed until the contact has the radius 0.1 m.
    The body is a box of 16 m by 8 m whose bottom is the sphere within 0.3 m; its other faces move down."""
    radius, a = 4.0, 0.1
    half = graded(a, cells, far, growth)
    xs = np.concatenate([-half[:0:-1], half])
    points, tets = lattice(xs, half, xs)
    r = np.minimum(np.hypot(points[:, 0], points[:, 2]), 0.3)
    flat = points[:, 1].copy()
    points[:, 1] += (radius - np.sqrt(radius ** 2 - r ** 2)) * np.exp(-flat / 0.3)
    fixed = np.where(np.maximum(np.maximum(np.abs(points[:, 0]), np.abs(points[:, 2])), flat) > far - 1e-9)[0]
    star = young / (1 - nu * nu)
    dhat = 5e-5
    start = 0.95 * dhat
    peak = 2 * star / math.pi * a / radius
    stiffness = 0.1 * young
    # the floor is where the gap of the peak pressure puts it
    travel = a * a / radius + start - gap_at(peak / stiffness) * dhat
    steps = 2
    mesh = {"explicit": {"points": points.tolist(), "tets": tets.tolist()}}
    objects = {"ball": {"generate": mesh, "material": "m", "translate": [0, start, 0]},
               "floor": {"half-space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}}
    motion = [{"select": {"object": "ball", "nodes": fixed.tolist()}, "translate": [0, -travel / steps, 0]}]
    scene = {"abut": 1, "time": {"scheme": "quasi-static", "step": 1}, "gravity": [0, 0, 0], "contact": contact("area", dhat),
             "materials": {"m": {"model": "neo-hookean", "density": 1000, "young": young, "poisson": nu}}, "objects": objects,
             "motion": motion}
    run = Run(f"hertz-{cells}", scene, steps)
    mesh = f"{cells} cells"
    force = 4 / 3 * star * math.sqrt(radius) * (a * a / radius) ** 1.5
    f, centre, extent = hertz_forces(run)
    run.row("sphere on a half-space", "area", mesh, "force, N", force, f)
    run.row("sphere on a half-space", "area", mesh, "peak pressure, Pa", peak, centre)
    run.row("sphere on a half-space", "area", mesh, "radius of contact, m", a, extent)


def hertz_forces(run):
    """Force, pressure at the centre, and the radius where the pressure ends, by the second moment of the forces: that of the
    profile sqrt(1 - r^2 / a^2) is 2/5 a^2."""
    f, m = run.frames[-1], run.model
    force, x, body = f["node/contact-force"], f["node/x"], m["node/object"]
    ball = np.where(body == 0)[0] if (body == 0).any() else np.arange(len(x))
    tris = m["contact/node"][m["contact/triangle"]] if "contact/node" in m.arrays else m["contact/triangle"]
    rest = m["node/X"]
    n = np.cross(rest[tris[:, 1]] - rest[tris[:, 0]], rest[tris[:, 2]] - rest[tris[:, 0]]) / 6
    area = np.zeros(len(x))
    for k in range(3):
        np.add.at(area, tris[:, k], np.linalg.norm(n, axis=1))
    p, r2 = force[ball, 1], x[ball, 0] ** 2 + x[ball, 2] ** 2
    total = p.sum()
    inner = ball[(r2 < 0.04 ** 2) & (area[ball] > 0) & (force[ball, 1] > 0)]
    profile = np.sqrt(1 - (x[inner, 0] ** 2 + x[inner, 2] ** 2) / 0.01)
    peak = force[inner, 1].sum() / (area[inner] * profile).sum()
    return total, peak, math.sqrt(2.5 * (p * r2).sum() / total)


def hertz():
    for cells in (3, 4, 6):
        sphere(cells)


# ---- sheets

def sheet(size, cells, at, **more):
    return {"generate": {"cloth": {"size": size, "cells": cells}}, "material": "cloth", "shell": {"thickness": "0.3 mm"},
            "translate": at, **more}


def cloths(form, dhat, objects, motion=(), gravity=(0, 0, 0), young=1e6, pressure=None, mu=0,
           scheme="implicit-euler", step=0.01, **more):
    return {"abut": 1, "time": {"scheme": scheme, "step": step}, "gravity": list(gravity),
            "contact": contact(form, dhat, pressure, mu),
            "materials": {"cloth": {"model": "neo-hookean", "density": 500, "young": young, "poisson": 0.3}},
            "objects": objects, "motion": list(motion), **more}


def flat():
    """A flat cloth with dhat of two edges, at rest."""
    for cells in (50,):
        for form in ("area", "ipc"):
            run = Run(f"flat-{form}-{cells}", cloths(form, 2 / cells, {"sheet": sheet([1, 1], [cells, cells], [0, 0, 0])},
                                                     tolerance="1e-6 m/s"), 10 if form == "area" else 2)
            run.row("flat cloth, dhat 2 edges", form, f"{cells} cells", "largest displacement, m", 0,
                    float(np.abs(run.frames[-1]["node/x"] - run.frames[0]["node/x"]).max()))


def stack():
    """Four layers of cloth of unlike meshes on a floor under their weight: gaps, each over that of the law."""
    for form in ("area", "ipc"):
        dhat, weight = 1e-3, 500 * 3e-4 * 9.81
        for name, cells in (("1:1", (8, 8, 8, 8)), ("1:2", (8, 16, 8, 16)), ("1:4", (6, 24, 6, 24))):
            objects = {f"s{i}": sheet([0.2, 0.2], [c, c], [0.002 * i, 0.95e-3 * (i + 1), 0.001 * i]) for i, c in enumerate(cells)}
            objects["floor"] = {"half-space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}
            run = Run(f"stack-{form}-{name.replace(':', '-')}",
                      cloths(form, dhat, objects, gravity=(0, -9.81, 0), pressure=weight, mu=0.3, scheme="quasi-static", step=1), 2)
            x, body, rest = run.frames[-1]["node/x"], run.model["node/object"], run.model["node/X"]
            inner = (np.abs(rest[:, 0]) < 0.06) & (np.abs(rest[:, 2]) < 0.06)
            heights = [0] + [float(x[inner & (body == b)][:, 1].mean()) for b in np.unique(body)]
            for i in range(len(cells)):
                run.row(f"stack of sheets {name}, gap {i}", form, "-".join(map(str, cells)), "gap over dhat",
                        gap_at(len(cells) - i), (heights[i + 1] - heights[i]) / dhat)


def thin():
    """A plate of tets half as thick as dhat, at rest."""
    for form, reach in (("area", "adaptive"), ("area", "fixed"), ("ipc", "")):
        plate = {"generate": {"box": {"size": [0.1, 0.005, 0.1], "cells": [10, 1, 10]}}, "material": "cloth"}
        scene = cloths(form, 0.01, {"plate": plate}, tolerance="1e-6 m/s")
        if reach:
            scene["contact"]["reach"] = reach
        run = Run(f"thin-{form}-{reach}", scene, 10)
        run.row("plate, dhat twice its thickness", f"{form} {reach}".strip(), "10 cells", "largest displacement, m", 0,
                float(np.abs(run.frames[-1]["node/x"] - run.frames[0]["node/x"]).max()))


def twist():
    """A cloth of 40 000 vertices, 1 m, dhat of an edge, whose ends turn against each other by half a turn in 20 steps; counted
    contacts need a dhat below the edges."""
    for form, dhat in (("area", 0.005), ("ipc", 0.001)):
        ends = [{"select": {"object": "sheet", "box": [[s * 0.5 - 1e-6, -1, -1], [s * 0.5 + 1e-6, 1, 1]]},
                 "rotate": {"axis": [1, 0, 0], "rate": f"{s * 90} deg/s"}} for s in (-1, 1)]
        run = Run(f"twist-{form}", cloths(form, dhat, {"sheet": sheet([1, 1], [199, 199], [0, 0, 0])}, ends, step=0.05), 20)
        run.row("twisted cloth, half a turn", form, "199 cells", "cpu s a step", "-", run.sum("cpu_seconds") / 20)


CASES = {"hertz": hertz, "flat": flat, "stack": stack, "thin": thin, "twist": twist}
chosen = [c for c in CASES if not sys.argv[1:] or any(c.startswith(w) for w in sys.argv[1:])]
if not chosen:
    sys.exit(f"area_scenes: no case begins so, expected one of {', '.join(CASES)}")
for c in chosen:
    CASES[c]()
if "TABLE" in os.environ:
    with open(os.environ["TABLE"], "w", encoding="utf-8") as f:
        f.writelines("\t".join(r) + "\n" for r in [HEAD, *rows])
