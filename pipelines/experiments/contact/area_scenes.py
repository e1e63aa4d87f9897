"""Contact weighed by area beside counted contacts (contact.formulation: area, ipc), against closed forms and against each other.

    area_scenes.py [CASE ...]  cases of CASES whose names begin so, or all of them: eight minutes of one core, and ten for `twist`
    BIN=bin  OUT=out/contact   programs; scenes and frames
    TABLE=FILE                 the table (pipelines/experiments/bin/tables contact-area-scenes: area_scenes.tsv)

SHAPE-ORDER-FLOOR-CELLS: Hertz, a sphere or a cylinder on a half-space, an obstacle of two triangles a side, or an elastic body of
the same mesh; CELLS along 1.1 times the radius of the contact.  Forces are those of the measured indentation, within 2 %.
flat, rest, stack, thin: cloth at rest (rest: large), sheets under their weight, a plate at rest.  layers: twenty sheets.  slits:
a buttonhole and a comb at rest.  twist, mat: a cloth, a mat whose ends turn.  slide, land, roll, mirror: bodies on flat tables,
against the worst of them.  grip: pads lift a cube without friction.  squeeze, house, ball: scenes of other experiments.
corpus: those of tests/corpus.tsv that step by default options.
contacts: most of a step; iterations, cpu s: of all steps; judged: by ccd-check.
"""
import functools, itertools, json, math, os, subprocess, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
sys.path.insert(0, "formats/python")
import numpy as np
import abut_stream

BIN, OUT = os.environ.get("BIN", "bin"), os.environ.get("OUT", "out/contact")
HEAD = ["case", "formulation", "mesh", "quantity", "expected", "measured", "error, %", "unknowns", "contacts", "iterations",
        "cpu s", "judged"]
rows = []


class Run:
    """Frames of a scene, or of words of mesh-prep that make it: model, frames, reports; gave: what step said if it gave up."""

    def __init__(self, name, scene, steps, options=()):
        at = os.path.join(OUT, name)
        os.makedirs(OUT, exist_ok=True)
        for end in (".start.abut", ".abut", ".jsonl"):
            if os.path.exists(at + end):
                os.remove(at + end)
        if isinstance(scene, dict):
            with open(at + ".yaml", "w", encoding="utf-8") as f:
                json.dump(scene, f)
            scene = [at + ".yaml"]
        prep = subprocess.run([f"{BIN}/mesh-prep", "-q", *scene, "-o", at + ".start.abut"], stderr=subprocess.PIPE, text=True)
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
        moved = self.model["motion/node"] if "motion/node" in self.model.arrays else []
        self.unknowns = 3 * len(np.setdiff1d(np.where(self.model["node/role"] == 0)[0], moved))

    def sum(self, key):
        return sum(r[key] for r in self.reports)

    def row(self, case, form, mesh, quantity, expected, measured):
        show = lambda v: v if isinstance(v, str) else f"{v:.4g}"
        gave = self.gave and f"gave up in step {len(self.frames)}"
        error = f"{100 * (measured / expected - 1):.2f}" if not isinstance(expected, str) and expected and not gave else ""
        rows.append([case, form, mesh, quantity, show(expected), gave or show(measured), error, str(self.unknowns),
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

RADIUS, EXTENT, FAR, DEPTH, LENGTH, YOUNG = 200.0, 1.0, 400.0, 20.0, 50.0, 1e6    # m, of the contact 1 m; Pa
MESHES = {("sphere", 1): (6, 8, 10), ("sphere", 2): (4, 5, 6), ("cylinder", 1): (6, 8, 16), ("cylinder", 2): (4, 6, 8)}


def tets_of(at):
    """Six tets for each cell of a lattice of point numbers, around the diagonal from its corner with even numbers to the opposite
    one, so that neighbours are mirror images."""
    cell, tets = np.indices([m - 1 for m in at.shape]).reshape(3, -1), []
    for even in np.ndindex(2, 2, 2):
        low = cell[:, (cell % 2 == np.array(even)[:, None]).all(0)]
        for order in itertools.permutations(range(3)):
            corner, path = np.array(even), []
            for axis in (None, *order):
                if axis is not None:
                    corner[axis] ^= 1
                path.append(at[tuple(low + corner[:, None])])
            tets.append(np.stack(path, -1))
    return np.concatenate(tets)


def onion(cells, growth, flat):
    """Points and tets of a half-space y > 0 around 0: a lattice with `cells` along 1.1 m, and shells around it up to FAR that
    become round.  growth: ln of the ratio of the first two, factor from one to the next, its bound.  flat: one cell along z."""
    half, s, shells = 1.1 * EXTENT, 0.0, [0.0]
    rate, by, most = growth
    while shells[-1] < math.log(FAR / half):
        shells.append(shells[-1] + rate)
        rate = min(by * rate, most)
    shells = np.exp(np.array(shells) * math.log(FAR / half) / shells[-1])
    x = np.linspace(-half, half, 2 * cells + 1)
    z = np.array([-0.5, 0.5]) * LENGTH if flat else x
    core = np.stack(np.meshgrid(x, x[cells:], z, indexing="ij"), -1)
    at = np.arange(core[..., 0].size).reshape(core.shape[:3])
    core = core.reshape(-1, 3)
    skin = np.where((np.abs(core[:, 0]) == half) | (core[:, 1] == half) | (not flat and np.abs(core[:, 2]) == half))[0]
    layer = np.full((len(shells), len(core)), -1)
    layer[0] = np.arange(len(core))
    layer[1:, skin] = len(core) + np.arange(len(skin) * (len(shells) - 1)).reshape(-1, len(skin))
    grow = np.array([1, 1, 0 if flat else 1])
    square = core[skin] * grow
    ball = np.tan(math.pi / 4 * square / half)
    ball *= half / np.linalg.norm(ball, axis=1)[:, None]
    points = [core]
    for f in shells[1:]:
        part = min(1, math.log(f) / math.log(3))
        points.append(f * ((1 - part) * square + part * ball) + core[skin] * (1 - grow))
    points = np.concatenate(points)
    sides = [at[0], at[-1], at[:, -1]] + ([] if flat else [at[:, :, 0], at[:, :, -1]])
    tets = np.concatenate([tets_of(at)] + [tets_of(layer[:, side]) for side in sides])
    return points, tets


def outward(points, tets):
    """The tets with positive volume."""
    e = points[tets[:, 1:]] - points[tets[:, :1]]
    tets[np.linalg.det(e) < 0] = tets[np.linalg.det(e) < 0][:, [0, 1, 3, 2]]
    return {"explicit": {"points": points.tolist(), "tets": tets.tolist()}}


class Hertz:
    """Closed forms for a sphere, and a cylinder of LENGTH in plane strain; star: of both bodies; sides: elastic ones."""

    def __init__(self, shape, nu, sides):
        self.sphere, self.star, self.sides = shape == "sphere", YOUNG / (1 - nu * nu) / sides, sides

    def force(self, a):
        if self.sphere:
            return 4 / 3 * self.star * a ** 3 / RADIUS
        return math.pi / 4 * self.star * a * a / RADIUS * LENGTH

    def peak(self, a):
        return 2 * self.star / math.pi * a / RADIUS if self.sphere else self.star / 2 * a / RADIUS

    def indentation(self, a, depth):
        """Approach of distant points; of a cylinder, of points at a depth (Johnson 1985, 5.57, Poisson's ratio 0)."""
        return a * a / RADIUS if self.sphere else a * a / (2 * RADIUS) * math.log(2 * depth / a)

    def radius(self, indentation, depth):
        low, high = 1e-3 * EXTENT, 10 * EXTENT
        for _ in range(100):
            a = (low + high) / 2
            low, high = (a, high) if self.indentation(a, depth) < indentation else (low, a)
        return low


def hertz(shape, order, floor, cells):
    """An elastic half-space with a spherical or cylindrical bump, pressed until the contact has about the radius EXTENT.
    Its top, FAR away, moves down; plane strain is a slice without Poisson's ratio, thick enough not to buckle."""
    flat, nu, sides = shape == "cylinder", 0.0 if shape == "cylinder" else 0.3, 2 if floor == "body" else 1
    law = Hertz(shape, nu, sides)
    points, tets = onion(cells, (0.06, 1.05, 0.3) if order == 1 else (0.25, 1.2, 0.8), flat)
    r = np.minimum(np.abs(points[:, 0]) if flat else np.hypot(points[:, 0], points[:, 2]), 3 * EXTENT)
    bump = points + np.stack([0 * r, (RADIUS - np.sqrt(RADIUS ** 2 - r ** 2)) * np.exp(-points[:, 1] / 3), 0 * r], -1)
    dhat = 0.04 * EXTENT ** 2 / RADIUS
    start = 0.95 * dhat
    travel = law.indentation(EXTENT, FAR) + start - gap_at(law.peak(2 / 3 * EXTENT) / (0.1 * YOUNG)) * dhat
    steps, top = 2, {"point": [0, 0.6 * FAR, 0], "normal": [0, -1, 0]}
    objects = {"ball": {"generate": outward(bump, tets), "material": "m", "order": order, "translate": [0, start, 0]}}
    motion = [{"select": {"object": "ball", "half-space": top}, "translate": [0, -travel / steps, 0]}]
    if floor == "half-space":
        objects["floor"] = {"half-space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}
    elif floor == "obstacle":
        objects["floor"] = {"obstacle": True, "generate": {"box": {"size": [80, 10, 80], "cells": [1, 1, 1]}},
                            "translate": [0.1, -5, 0.3]}
    else:
        objects["floor"] = {"generate": outward(points * [1, -1, 1], tets), "material": "m", "order": order}
        motion.append({"select": {"object": "floor", "half-space": {"point": [0, -0.6 * FAR, 0], "normal": [0, 1, 0]}},
                       "fix": True})
    scene = {"abut": 1, "time": {"scheme": "quasi-static", "step": 1}, "gravity": [0, 0, 0],
             "tolerance": f"{1e-3 * dhat:.3g} m/s", "contact": contact("area", dhat), "objects": objects, "motion": motion,
             "materials": {"m": {"model": "neo-hookean", "density": 1000, "young": YOUNG, "poisson": nu}}}
    run = Run(f"hertz-{shape}-{order}-{floor}-{cells}", scene, steps)
    measure(run, law, f"{shape}, {floor}", f"order {order}, {cells} cells", travel, start)


def measure(run, law, case, mesh, travel, start):
    """Force, peak pressure and radius beside those of the measured indentation: approach of points at a depth in both bodies,
    less what the gap has changed by.  Gaps are means over the forces; the radius is that of a profile sqrt(1 - r^2 / a^2) with
    the second moment of the forces, the peak that of such a profile in the inner half."""
    f, m, rest = run.frames[-1], run.model, run.frames[0]["node/x"]
    force, x, body = f["node/contact-force"][:, 1], f["node/x"], m["node/object"]
    ball = body == body[np.argmax(rest[:, 1])]
    r = np.hypot(rest[:, 0], rest[:, 2]) if law.sphere else np.abs(rest[:, 0])
    height = lambda of: float((force * x[:, 1])[of].sum() / force[of].sum())
    gap, depth, approach = height(ball), FAR, travel
    if law.sides == 2:
        gap -= height(~ball)
    if not law.sphere:
        axis = np.where(r < 1e-9)[0]
        depth = rest[axis[np.argmin(np.abs(rest[axis, 1] - DEPTH))], 1] - start
        down = lambda y: float(np.mean((rest - x)[axis[np.abs(rest[axis, 1] - y) < 1e-6], 1]))
        approach = down(depth + start) - (down(-depth) if law.sides == 2 else 0)
    a = law.radius(approach - start + gap, depth)
    total = float(force[ball].sum())
    moment = (2.5 if law.sphere else 4) * float((force * r * r)[ball].sum()) / total
    inner = ball & (r < 0.5 * a)
    peak = force[inner].sum() / (areas(m)[inner] * np.sqrt(1 - (r[inner] / a) ** 2)).sum()
    for quantity, expected, got in (("force, N", law.force(a), total), ("peak pressure, Pa", law.peak(a), peak),
                                    ("radius of contact, m", a, math.sqrt(moment))):
        run.row(case, "area", mesh, quantity, expected, got)


def collision_vertices(m, x):
    """The vertices of the contact surface where nodes are at x, and the sums that make them: of which vertex, node, weight."""
    if "contact/node" in m.arrays:
        node = m["contact/node"]
        first, weight = np.stack([np.arange(len(node)), np.arange(len(node)) + 1], -1), np.ones(len(node))
    else:
        first, node, weight = m["contact/map-first"], m["contact/map-node"], m["contact/map-weight"]
    vertex = np.repeat(np.arange(len(first)), first[:, 1] - first[:, 0])
    at = np.concatenate([np.arange(lo, hi) for lo, hi in first])
    y = np.zeros((len(first), 3))
    np.add.at(y, vertex, weight[at, None] * x[node[at]])
    return y, (vertex, node[at], weight[at])


def areas(m):
    """The share of every node in the lower faces: a third of each triangle at a collision vertex, by the nodes of that vertex."""
    y, (vertex, node, weight) = collision_vertices(m, m["node/X"])
    t = m["contact/triangle"]
    n = np.cross(y[t[:, 1]] - y[t[:, 0]], y[t[:, 2]] - y[t[:, 0]]) / 6
    area, shares = np.zeros(len(y)), np.zeros(len(m["node/X"]))
    for k in range(3):
        np.add.at(area, t[:, k], np.where(n[:, 1] < -0.9 * np.linalg.norm(n, axis=1), -n[:, 1], 0))
    np.add.at(shares, node, weight * area[vertex])
    return shares


def hertz_cases():
    for (shape, order), meshes in MESHES.items():
        for floor, chosen in (("half-space", meshes), ("obstacle", meshes[:1]), ("body", meshes[:1])):
            for cells in chosen:
                yield f"{shape}-{order}-{floor}-{cells}", functools.partial(hertz, shape, order, floor, cells)


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
    """Cloth at rest whose dhat is one to four edges: flat, with bumps of a tenth of an edge, bent to a radius of four edges."""
    cells = 24
    h, at = 1 / cells, np.arange(cells + 1)
    u, w = (a.ravel() for a in np.meshgrid(at * h, at * h, indexing="ij"))
    tri = np.array([t for i in range(cells) for v in range(i * (cells + 1), i * (cells + 1) + cells)
                    for t in ((v, v + 1, v + cells + 1), (v + cells + 1, v + 1, v + cells + 2))])
    arc = np.minimum(u, 11 * h) / (4 * h)
    shapes = {"flat": (u, 0 * u), "bumpy": (u, 0.1 * h * np.random.default_rng(1).uniform(-1, 1, len(u))),
              "bent": (4 * h * np.sin(arc) + np.maximum(u - 11 * h, 0) * np.cos(11 / 4),
                       4 * h * (1 - np.cos(arc)) + np.maximum(u - 11 * h, 0) * np.sin(11 / 4))}
    for shape, (x, y) in shapes.items():
        points = np.stack([x, y, w], -1)
        cloth = {"generate": {"explicit": {"points": points.tolist(), "triangles": tri.tolist()}}, "material": "cloth",
                 "shell": {"thickness": "0.3 mm"}}
        for form, edges in [("area", 1), ("area", 2), ("area", 4), ("ipc", 2)]:
            run = Run(f"{shape}-{form}-{edges}", cloths(form, edges * h, {"sheet": cloth}, tolerance="1e-6 m/s"),
                      10 if form == "area" else 2)
            run.row(f"{shape} cloth at rest, dhat {edges} edges", form, f"{cells} cells", "largest displacement, m", 0,
                    float(np.abs(run.frames[-1]["node/x"] - run.frames[0]["node/x"]).max()))


def rest():
    """The same of 46 656 nodes, without contact and with dhat of up to four edges: the median of five steps after the first."""
    cells = 215
    for edges in (0, 1, 2, 4):
        scene = cloths("area", max(edges, 1) / cells, {"sheet": sheet([1, 1], [cells, cells], [0, 0, 0])})
        if not edges:
            scene["contact"] = "off"
        run = Run(f"rest-{edges}", scene, 6)
        run.row("flat cloth at rest, " + (f"dhat {edges} edges" if edges else "no contact"), "area" if edges else "off",
                f"{cells} cells", "cpu s a step", "-", float(np.median([r["cpu_seconds"] for r in run.reports[1:]])))


def stack():
    """Four layers of cloth of unlike meshes on a floor under their weight: gaps, each over that of the law."""
    for form in ("area", "ipc"):
        dhat, weight = 1e-3, 500 * 3e-4 * 9.81
        for name, cells in (("1:1", (8, 8, 8, 8)), ("1:2", (8, 16, 8, 16)), ("1:4", (6, 24, 6, 24))):
            objects = {f"s{i}": sheet([0.2, 0.2], [c, c], [0.002 * i, 0.95e-3 * (i + 1), 0.001 * i]) for i, c in enumerate(cells)}
            objects["floor"] = {"half-space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}
            run = Run(f"stack-{form}-{name.replace(':', '-')}",
                      cloths(form, dhat, objects, gravity=(0, -9.81, 0), pressure=weight, mu=0.3, scheme="quasi-static",
                             step=1), 2)
            x, body, rest = run.frames[-1]["node/x"], run.model["node/object"], run.model["node/X"]
            inner = (np.abs(rest[:, 0]) < 0.06) & (np.abs(rest[:, 2]) < 0.06)
            heights = [0] + [float(x[inner & (body == b)][:, 1].mean()) for b in np.unique(body)]
            for i in range(len(cells)):
                run.row(f"stack of sheets {name}, gap {i}", form, "-".join(map(str, cells)), "gap over dhat",
                        gap_at(len(cells) - i), (heights[i + 1] - heights[i]) / dhat)


def layers():
    """The same of twenty layers: least and largest gap over that of the law."""
    count, dhat, weight = 20, 1e-3, 500 * 3e-4 * 9.81
    for name, pair in (("1:1", (8, 8)), ("1:2", (8, 16)), ("1:4", (6, 24))):
        objects = {f"s{i}": sheet([0.2, 0.2], [pair[i % 2]] * 2, [0.002 * (i % 4), 0.95e-3 * (i + 1), 0.001 * (i % 4)])
                   for i in range(count)}
        objects["floor"] = {"half-space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}
        run = Run(f"layers-{name.replace(':', '-')}", cloths("area", dhat, objects, gravity=(0, -9.81, 0), pressure=5 * weight,
                                                             mu=0.3, scheme="quasi-static", step=1), 2)
        x, body, rest = run.frames[-1]["node/x"], run.model["node/object"], run.model["node/X"]
        inner = (np.abs(rest[:, 0]) < 0.06) & (np.abs(rest[:, 2]) < 0.06)
        heights = np.array([0] + [float(x[inner & (body == b)][:, 1].mean()) for b in np.unique(body)])
        part = np.diff(heights) / dhat / [gap_at((count - i) / 5) for i in range(count)]
        for what, got in (("least", part.min()), ("largest", part.max())):
            run.row(f"stack of {count} sheets {name}", "area", "-".join(map(str, pair)), f"{what} gap over that of the law", 1,
                    float(got))


def slits():
    """Cloth with a buttonhole, and a comb of cloth, at rest: slits half as wide as dhat."""
    dhat, cell = 5e-3, 5e-3
    shapes = {"buttonhole": ([cell] * 16, [cell] * 3 + [dhat / 2] + [cell] * 3, lambda i, j: j != 3 or not 4 <= i < 12),
              "comb": ([cell] * 16, [cell, dhat / 2] * 6 + [cell], lambda i, j: j % 2 == 0 or i < 3)}
    for name, (along, across, keep) in shapes.items():
        x, z = np.cumsum([0] + along), np.cumsum([0] + across)
        at = lambda i, j: i * len(z) + j
        cells = [(i, j) for i in range(len(along)) for j in range(len(across)) if keep(i, j)]
        tri = np.array([t for i, j in cells for t in ((at(i, j), at(i, j + 1), at(i + 1, j)),
                                                      (at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)))])
        used, tri = np.unique(tri, return_inverse=True)
        points = np.array([[p, 0, q] for p in x for q in z])[used]
        cloth = {"generate": {"explicit": {"points": points.tolist(), "triangles": tri.reshape(-1, 3).tolist()}},
                 "material": "cloth", "shell": {"thickness": "0.3 mm"}}
        for form, reach in (("area", "adaptive"), ("area", "fixed"), ("ipc", "")):
            scene = cloths(form, dhat, {"cloth": cloth}, tolerance="1e-6 m/s")
            if reach:
                scene["contact"]["reach"] = reach
            run = Run(f"{name}-{form}-{reach}", scene, 10)
            run.row(f"{name}, slits of half of dhat", f"{form} {reach}".strip(), f"{len(cells)} cells", "largest displacement, m",
                    0, float(np.abs(run.frames[-1]["node/x"] - run.frames[0]["node/x"]).max()))


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


def twist(form, dhat):
    """A cloth of 40 000 vertices, 1 m, dhat of an edge, whose ends turn against each other by half a turn in 20 steps; counted
    contacts need a dhat below the edges."""
    ends = [{"select": {"object": "sheet", "box": [[s * 0.5 - 1e-6, -1, -1], [s * 0.5 + 1e-6, 1, 1]]},
             "rotate": {"axis": [1, 0, 0], "rate": f"{s * 90} deg/s"}} for s in (-1, 1)]
    run = Run(f"twist-{form}", cloths(form, dhat, {"sheet": sheet([1, 1], [199, 199], [0, 0, 0])}, ends, step=0.05), 20)
    run.row("twisted cloth, half a turn", form, "199 cells", "cpu s a step", "-", run.sum("cpu_seconds") / 20)


def mat_twist():
    """A mat whose ends turn until it winds up (pipelines/examples/twist.yaml): iterations of both."""
    dhat, by_ipc = 1.1664e-3, ""
    mat = {"generate": {"box": {"size": [1, 0.02, 0.6], "cells": [24, 1, 14]}}, "material": "mat"}
    turn = [{"select": {"object": "mat", "box": [[side * 0.5 - 0.01, -1, -1], [side * 0.5 + 0.01, 1, 1]]},
             "rotate": {"axis": [1, 0, 0], "rate": f"{-72 * side} deg/s"}} for side in (-1, 1)]
    for form in ("ipc", "area"):
        run = Run(f"mat-{form}", {"abut": 1, "time": {"step": 0.04}, "gravity": [0, 0, 0], "contact": contact(form, dhat),
                                    "materials": {"mat": {"model": "neo-hookean", "density": 1000, "young": 2e4, "poisson": 0.4}},
                                    "objects": {"mat": mat}, "motion": turn}, 125)
        run.row("mat twist, 125 steps; expected: of ipc", form, "24 x 14 cells", "iterations", by_ipc,
                run.sum("newton_iterations"))
        by_ipc = run.sum("newton_iterations")


# ---- bodies on tables

def box(size, cells, **more):
    return {"generate": {"box": {"size": size, "cells": cells}}, **more}


def of(word, more=(), **keys):
    return {"generate": {word: keys}, **dict(more)}


BODIES = {      # and the height of the middle
    "tets": (box([0.1, 0.06, 0.1], [2, 2, 2]), 0.03),
    "tets of order 2": (box([0.1, 0.06, 0.1], [2, 1, 2], order=2), 0.03),
    "tets of order 3": (box([0.1, 0.06, 0.1], [1, 1, 1], order=3), 0.03),
    "frame": (box([0.1, 0.06, 0.1], [2, 2, 2], frame=True), 0.03),
    "shell": (of("cloth", {"shell": {"thickness": "1 mm"}}, size=[0.1, 0.1], cells=[4, 4]), 0),
    "rod": (of("rod", {"rod": {"radius": "1 mm"}}, length=0.1, cells=10), 0),
    "particles": (of("particles", {"particle": {"radius": "1 mm"}}, size=[0.06, 0.001, 0.06], count=[3, 1, 3]), 0)}
TURNED = {"rotate": {"axis": [1, 0, 0], "angle": "90 deg"}}
ROUND = {
    "ball of order 2": of("ball", {"order": 2, "proxy": {"tolerance": "0.03 mm"}}, radius=0.1, divisions=2),
    "ball as a frame": of("icosphere", {"frame": True}, radius=0.1, divisions=24),
    "cylinder of order 2": of("cylinder", {"order": 2, "proxy": {"tolerance": "0.02 mm"}, **TURNED}, radius=0.1, height=0.1,
                              cells=[4, 1]),
    "cylinder as a frame": of("revolution", {"weld": "1e-6 m", "frame": True, **TURNED},
                              profile=[[0, -0.05], [0.1, -0.05], [0.1, 0.05], [0, 0.05]], cells=[150, 1])}


def tables(y, names):
    """Flat tables with tops at y: a half-space, obstacles of 8 and 40 cells, a body of 5 cells whose floor is fixed."""
    slab = {"obstacle": True, "translate": [0, y - 0.05, 0]}
    every = {"plane": {"half-space": {"point": [0, y, 0], "normal": [0, 1, 0]}},
             "coarse": box([1.2, 0.1, 0.4], [8, 1, 3], **slab), "fine": box([1.2, 0.1, 0.4], [40, 1, 13], **slab),
             "body": box([0.4, 0.1, 0.4], [5, 1, 5], material="hard", translate=[0, y - 0.05, 0])}
    return {n: every[n] for n in names}


def on_table(form, body, table, mu, step=0.01, dhat=None):
    fixed = [{"select": {"object": "table", "half-space": {"point": [0, -0.0999, 0], "normal": [0, 1, 0]}}, "fix": True}]
    rubber = {"model": "neo-hookean", "density": 2500, "young": 1e7, "poisson": 0.3}
    return {"abut": 1, "time": {"step": step}, "contact": {"formulation": form, "friction": {"mu": mu},
                                                            **({"dhat": dhat} if dhat else {})},
            "materials": {"m": rubber, "hard": {**rubber, "young": 1e9}},
            "objects": {"b": {"material": "m", **body}, "table": table}, "motion": fixed if "material" in table else []}


def middle(run, frame, key="node/x"):
    """The mean of a field over the masses of object b."""
    m = run.model
    mine = m["node/object"] == 0
    return np.average(run.frames[frame][key][mine], axis=0, weights=np.maximum(m["node/mass"][mine], 0))


def worst_of(case, form, quantity, expected, runs):
    """One row for runs of tables: [(table, Run, measured)]."""
    table, run, got = max(runs, key=lambda r: (bool(r[1].gave), r[1].judged != "clean", abs(r[2])))
    run.row(case, form, f"worst of {len(runs)}: {table}", quantity, expected, got)


def slide():
    """Bodies slide over flat tables without friction: what they lose of the first speed in 0.4 s."""
    v = np.array([1, 0, 0.2])
    for form in ("area", "ipc"):
        for name, (body, height) in BODIES.items():
            runs = []
            for t, table in tables(0.05, ("plane", "coarse", "fine")).items():
                gap = 0.0008 if name == "particles" else 0.0004 if height == 0 else 0.0003
                at = {"translate": [-0.35 if name == "rod" else -0.3, 0.05 + height + gap, 0.013], "velocity": v.tolist()}
                run = Run(f"slide-{form}-{name}-{t}", on_table(form, {**body, **at}, table, 0, dhat="0.5 mm"), 40)
                runs.append((t, run, 100 * float(np.linalg.norm(middle(run, -1, "node/v") - v) / np.linalg.norm(v))))
            worst_of(f"{name}, slides without friction", form, "change of velocity, %", 0, runs)


def land():
    """Bodies land on flat tables without friction: drift of the last half of a second."""
    for form in ("area", "ipc"):
        for name, (body, height) in BODIES.items():
            runs = []
            for t, table in tables(0, ("plane", "coarse", "fine", "body")).items():
                run = Run(f"land-{form}-{name}-{t}",
                          on_table(form, {**body, "translate": [0, height + 3e-4, 0.013]}, table, 0), 100)
                drift = middle(run, -1) - middle(run, 50) if len(run.frames) > 100 else np.zeros(3)
                runs.append((t, run, 1e3 * float(np.linalg.norm(drift)) / 0.5))
            worst_of(f"{name}, lands without friction", form, "drift, mm/s", 0, runs)


def roll():
    """Balls and cylinders roll on flat tables from 0.1 to 0.6 s: speed lost, and across, in percent."""
    for form in ("area", "ipc"):
        for name, body in ROUND.items():
            lost, aside = [], []
            for t, table in tables(0, ("plane", "coarse", "fine")).items():
                at = {"translate": [-0.2, 0.1001, 0.013], "velocity": [0.3, 0, 0],
                      "angular-velocity": {"axis": [0, 0, -1], "rate": "3 rad/s"}}
                run = Run(f"roll-{form}-{name}-{t}", on_table(form, {**body, **at}, table, 0.5), 60)
                u, w = (middle(run, k if k < len(run.frames) else -1, "node/v") for k in (10, 60))
                lost.append((t, run, 100 * float(1 - w[0] / u[0])))
                aside.append((t, run, 100 * float(abs(w[2])) / 0.3))
            worst_of(f"{name}, rolls", form, "speed lost, %; within -0.1, 3", "-", lost)
            worst_of(f"{name}, rolls", form, "speed across, %; at most 1", 0, aside)


def mirror():
    """Two bodies that are mirror images meet above a table, also if one starts 1 nm higher: asymmetry over their extent."""
    slab = {"explicit": {"points": [[x, 0, z] for z in (-0.5, 0.5) for x in (-0.5, 0, 0.5)],
                         "triangles": [[0, 3, 4], [0, 4, 1], [1, 4, 2], [2, 4, 5]]}}
    grounds = {"plane": tables(0, ("plane",))["plane"], "mesh": {"generate": slab, "obstacle": True}}
    wall = lambda turn: of("cloth", {"shell": {"thickness": "1 mm"}, "rotate": {"axis": [0, 0, 1], "angle": f"{turn} deg"}},
                           size=[0.06, 0.1], cells=[2, 4])
    kinds = {"tets": (BODIES["tets"][0],) * 2, "tets of order 2": (box([0.1, 0.06, 0.1], [1, 1, 1], order=2),) * 2,
             "frame": (BODIES["frame"][0],) * 2, "shell": (wall(90), wall(-90)),
             "rod": (of("rod", {"rod": {"radius": "1 mm"}}, length=0.1, cells=6),) * 2}
    for form in ("area", "ipc"):
        for name, (left, right) in kinds.items():
            away, steps = (0.002, 12) if name == "shell" else (0.06, 60)
            for nudge in (0, 1e-9) if name != "rod" else (0,):
                runs = []
                for g, ground in grounds.items():
                    at = lambda body, side, up: {**body, "material": "m", "translate": [side * away, 0.05 + up, 0],
                                                 "velocity": [-0.5 * side, 0, 0]}
                    scene = on_table(form, {}, ground, 0.2, 0.005)
                    scene["objects"] = {"b": at(left, -1, nudge), "c": {**at(right, 1, 0), "scale": [-1, 1, 1]}, "table": ground}
                    run = Run(f"mirror-{form}-{name}-{g}-{nudge}", scene, steps)
                    y, (vertex, node, _) = collision_vertices(run.model, run.frames[-1]["node/x"])
                    body = np.zeros(len(y), int)
                    body[vertex] = run.model["node/object"][node]
                    runs.append((g, run, float(np.linalg.norm(y[body == 0] - y[body == 1] * [-1, 1, 1], axis=1).max()) / 0.22))
                case = f"{name}, mirror images meet" + (", one 1 nm higher" if nudge else "")
                worst_of(case, form, "asymmetry; at most 1e-4", 0, runs)


def grip():
    """Two pads squeeze a cube on the floor without friction and go up: it slips, whatever its mesh is."""
    for form in ("area", "ipc"):
        for cells in (3, 4, 5, 8, 12):
            pad = lambda x: box([0.01, 0.02, 0.02], [1, 2, 2], obstacle=True, translate=[x, 0.02, 0])
            keys = lambda x: [{"time": t, "translate": [x, y, 0]} for t, y in ((0.5, 0), (1, 0), (2, 0.1), (6, 0.1))]
            scene = {"abut": 1, "time": {"step": 0.01}, "contact": {"formulation": form, "friction": {"mu": 0}},
                     "materials": {"cube": {"density": 500, "young": 5e6, "poisson": 0.3}},
                     "objects": {"cube": box([0.04, 0.04, 0.04], [cells] * 3, translate=[0, 0.0201, 0]),
                                 "left": pad(-0.026), "right": pad(0.026),
                                 "floor": {"half-space": {"point": [0, 0, 0], "normal": [0, 1, 0]}, "mu": 0.5}},
                     "motion": [{"select": {"object": o}, "keyframes": keys(x)}
                                for o, x in (("left", 0.00105), ("right", -0.00105))]}
            run = Run(f"grip-{form}-{cells}", scene, 210)
            run.row("cube between pads without friction", form, f"{cells} cells", "rise, mm", 0,
                    1e3 * float(middle(run, -1)[1] - middle(run, 0)[1]))


# ---- scenes of other experiments

def beside(case, name, words, steps, mesh, options=()):
    """Iterations of both formulations."""
    by_ipc = ""
    for form in ("ipc", "area"):
        run = Run(f"{name}-{form}", [*words, "--set", f"contact.formulation={form}"], steps, options)
        run.row(f"{case}; expected: of ipc", form, mesh, "iterations", by_ipc, run.sum("newton_iterations"))
        by_ipc = run.sum("newton_iterations")


def squeeze():
    beside("squeeze out, 200 steps", "squeeze", ["pipelines/experiments/published/scenes/squeeze-out.yaml"], 200, "as it is")


def house():
    beside("card house, 25 steps", "house", ["pipelines/experiments/friction/scenes/house.yaml"], 25, "19 x 19 cells")


def ball():
    beside("cloth on ball, 100 steps", "ball", ["pipelines/experiments/codimensional/scenes/cloth-on-sphere.yaml"], 100,
           "as it is")


def corpus():
    with open("tests/corpus.tsv", encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    for name, steps, how, words, options in lines:
        if how in ("run", "instr") and options == "-":
            beside(f"corpus: {name}", f"corpus-{name}", words.split(), int(steps), f"{steps} steps")


CASES = {**dict(hertz_cases()), "flat": flat, "rest": rest, "stack": stack, "layers": layers,
         "thin": thin, "slits": slits, "twist-area": functools.partial(twist, "area", 0.005),
         "twist-ipc": functools.partial(twist, "ipc", 0.001), "mat": mat_twist, "slide": slide, "land": land, "roll": roll,
         "mirror": mirror, "grip": grip, "squeeze": squeeze, "house": house, "ball": ball, "corpus": corpus}
chosen = [c for c in CASES if not sys.argv[1:] or any(c.startswith(w) for w in sys.argv[1:])]
if not chosen:
    sys.exit(f"area_scenes: no case begins so, expected one of {', '.join(CASES)}")
for c in chosen:
    CASES[c]()
if "TABLE" in os.environ:
    table, path = {tuple(r[:4]): r for r in rows}, os.environ["TABLE"]
    if len(chosen) < len(CASES) and os.path.exists(path):     # the others are kept
        with open(path, encoding="utf-8") as f:
            old = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")][1:]
        table = {**{tuple(r[:4]): r for r in old}, **table}
    with open(path, "w", encoding="utf-8") as f:
        f.writelines("\t".join(r) + "\n" for r in [HEAD, *table.values()])
