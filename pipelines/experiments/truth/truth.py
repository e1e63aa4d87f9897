"""Small scenes against closed forms: a table of what was expected and what came out; status 1 where one is off by more than said.

    truth.py [stop|roll|torsion|column|catenary|eps_v|dhat|order|silo ...]    all of them
    TABLE=out/truth/table.md                        the table (pipelines/experiments/bin/tables truth: truth.md);  OUT=out/truth:
                                                    scenes and frames
Every trajectory passes through ccd-check.
"""
import csv, json, math, os, subprocess, sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
sys.path.insert(0, "formats/python")
import abut_stream

BIN, OUT = os.environ.get("BIN", "bin"), os.environ.get("OUT", "out/truth")
HEAD = """# Small scenes against closed forms

Made by `tables truth` (`truth.py`), which fails where a number is off by more than the part in the last column,
or, of an interval (`0 to 1`), outside of it.
Every trajectory passed `ccd-check`.

- **stop**: a block slides 1 m/s on a floor; it stops after v^2/(2 mu g), less v h/2 of implicit Euler.
- **roll**: a ball of tets slides 1 m/s; friction lets it roll, at 5/7 of that speed, without a trace of mu.
- **torsion**: a square bar of side a is rotated by an angle phi at one end; its energy is G J phi^2 / (2 L), J = 0.1406 a^4. Both ends
  are held flat, which stiffens it; tets of order 1 are too stiff by an error that falls with the square of their size.
- **column**: a clamped rod under an axial load; it stays straight below pi^2 B / (4 L^2) and bends to Euler's elastica above.
- **catenary**: a rod with hardly any bending stiffness between two points; its lowest point.
- **eps_v**: creep of a block that sticks on a slope, over eps_v: 1 - sqrt(1 - 0.5 / mu) for every eps_v.
- **dhat**: how high a block lies on a floor: within dhat, and lower in proportion.
- **order**: a block falls on a soft barrier, of a force that depends on the gap alone (`fixed-kappa` in proportion
  to h^2); how fast the change by half the step falls.
- **silo**: what fills a square tube of side a is lowered by its bottom, so that it slides on all walls. Friction carries the
  rest of its weight: the bottom carries rho g a^2 L (1 - exp(-H / L)), L = a / (4 mu K), K = nu / (1 - nu) (Janssen 1895). The
  bottom layer of cells, held sideways, does not lean on the walls: an error in proportion to the size of a cell. *Cells to 0*:
  extrapolated from the last two.

| case | quantity | expected | measured | off | at most |
|---|---|---|---|---|---|
"""
rows, failed = [], []


def run(name, scene, steps, options=(), array="node/x"):
    """The frames of a scene, judged: (columns of the table of frames, an array of the last frame: positions)."""
    at = os.path.join(OUT, name)
    with open(at + ".yaml", "w", encoding="utf-8") as f:
        json.dump(scene, f)
    step = [f"{BIN}/step", "-q", "-j", "1", "-n", str(steps), *options, at + ".start.abut", "-o", at + ".abut"]
    for command in ([f"{BIN}/mesh-prep", "-q", at + ".yaml", "-o", at + ".start.abut"], step,
                    [f"{BIN}/ccd-check", "-q", "-j", "1", "--no-output", at + ".abut"],
                    [f"{BIN}/export", "-q", at + ".abut", "--csv", at + ".csv"]):
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"truth: {name}: status {done.returncode} of {' '.join(command)}: {done.stderr.strip()}")
    with open(at + ".csv", encoding="utf-8") as f:
        table = list(csv.DictReader(f))
    last = [f for f in abut_stream.read(at + ".abut") if f.kind == "frame"][-1][array]
    return {k: [float(r[k] or "nan") for r in table] for k in table[0]}, last


def near(case, what, expected, measured, part):
    off = abs(measured - expected) / abs(expected)
    rows.append(f"| {case} | {what} | {expected:.6g} | {measured:.6g} | {off:.1e} | {part:g} |")
    print(rows[-1], flush=True)
    if not off <= part:
        failed.append(f"{case}: {what} is {measured:.6g}, expected {expected:.6g}")


def within(case, what, low, high, measured):
    rows.append(f"| {case} | {what} | {low:g} to {high:g} | {measured:.6g} | | |")
    print(rows[-1], flush=True)
    if not low < measured < high:
        failed.append(f"{case}: {what} is {measured:.6g}, expected between {low:g} and {high:g}")


FLOOR = {"half-space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}


def block(dhat, mu, eps_v, g, v):
    return {"abut": 1, "time": {"step": 0.002}, "gravity": g, "tolerance": "1e-9 m/s",
            "contact": {"dhat": f"{dhat} m", "friction": {"mu": mu, "eps_v": f"{eps_v} m/s", "lags": "converged"}},
            "materials": {"stiff": {"model": "fixed-corotated", "density": 1000, "young": 1e8, "poisson": 0.4}},
            "objects": {"block": {"generate": {"box": {"size": [0.4, 0.1, 0.4], "cells": [1, 1, 1]}}, "velocity": v,
                                  "translate": [0, 0.05 + 0.9 * dhat, 0]}, "floor": FLOOR}}


def stop():
    for mu in (0.5, 0.25):
        scene = block(1e-3, mu, 1e-4, [0, -9.81, 0], [1, 0, 0])
        frames, _ = run(f"stop-{mu}", scene, int(1.2 / (mu * 9.81 * 0.002)))
        near(f"stop, mu {mu}", "distance, m", 1 / (2 * mu * 9.81) - 0.001, frames["block.x_m"][-1] - frames["block.x_m"][0], 0.01)


def roll():
    for mu in (0.2, 0.4):
        scene = {"abut": 1, "time": {"step": 0.002}, "gravity": [0, -9.81, 0], "tolerance": "1e-5 m/s",
                 "contact": {"dhat": "2 mm", "friction": {"mu": mu, "eps_v": "1e-4 m/s", "lags": 10}},
                 "materials": {"stiff": {"model": "fixed-corotated", "density": 1000, "young": 3e6, "poisson": 0.4}},
                 "objects": {"ball": {"generate": {"sphere": {"radius": 0.1, "cells": 8}}, "velocity": [1, 0, 0],
                                      "translate": [0, 0.1017, 0]}, "floor": FLOOR}}
        slides = 2 / (7 * mu * 9.81)
        frames, _ = run(f"roll-{mu}", scene, round(1.25 * slides / 0.002))
        near(f"roll, mu {mu}", "speed, m/s", 5 / 7, frames["ball.vx_m/s"][-1], 0.03)


def torsion():
    a, L, phi, young, nu = 0.1, 1.0, math.radians(5), 1e6, 0.3
    exact = young / (2 * (1 + nu)) * 0.1406 * a ** 4 * phi ** 2 / (2 * L)
    for order, n, part in ((1, 4, 2.6), (1, 8, 0.7), (2, 2, 0.06), (2, 4, 0.015)):
        scene = {"abut": 1, "time": {"step": 1, "scheme": "quasi-static"}, "gravity": [0, 0, 0], "contact": "off",
                 "materials": {"m": {"model": "fixed-corotated", "density": 1000, "young": young, "poisson": nu}},
                 "objects": {"bar": {"generate": {"box": {"size": [L, a, a], "cells": [5 * n // 2, n, n]}}, "order": order}},
                 "motion": [{"select": {"object": "bar", "relative-box": [[-1, -1, -1], [1e-6, 2, 2]]}, "fix": True},
                            {"select": {"object": "bar", "relative-box": [[1 - 1e-6, -1, -1], [2, 2, 2]]},
                             "rotate": {"axis": [1, 0, 0], "rate": f"{phi} rad/s"}}]}
        frames, _ = run(f"torsion-{order}-{n}", scene, 1)
        near(f"torsion, order {order}, {n} cells across", "energy, J", exact, frames["elastic_J"][-1], part)


def rod(points, young, radius, motion, gravity, bending=None):
    n = len(points)
    return {"abut": 1, "time": {"step": 1, "scheme": "quasi-static"}, "gravity": gravity, "contact": "off",
            "materials": {"m": {"density": 1000, "young": young, "poisson": 0.3, **({"bending-young": bending} if bending else {})}},
            "objects": {"rod": {"generate": {"explicit": {"points": points, "segments": [[i, i + 1] for i in range(n - 1)]}},
                                "rod": {"radius": radius}}}, "motion": motion}


def elliptic_k(k):
    a, b = 1.0, math.sqrt(1 - k * k)
    for _ in range(40):
        a, b = (a + b) / 2, math.sqrt(a * b)
    return math.pi / (2 * a)


def column():
    n, L, radius, young = 60, 1.0, 0.01, 1e8
    B = young * math.pi * radius ** 4 / 4
    points = [[i * L / (n - 0.5), 0, 0] for i in range(n + 1)]     # the first segment is held, half of it bends with the second
    for degrees in (20, 60, 100):
        k = math.sin(math.radians(degrees) / 2)
        load = elliptic_k(k) ** 2 * B / L ** 2
        motion = [{"select": {"object": "rod", "nodes": [0, 1]}, "fix": True},
                  {"select": {"object": "rod", "nodes": [n]}, "force": [-load, 0, 0]},
                  {"select": {"object": "rod", "nodes": [n]}, "force": [0, 1e-4 * load, 0], "until": 1}]
        _, x = run(f"column-{degrees}", rod(points, young, radius, motion, [0, 0, 0]), 40)
        near(f"column, {load * 4 * L ** 2 / (math.pi ** 2 * B):.3f} of Euler's load", "deflection over length",
             2 * k / elliptic_k(k), abs(x[n][1]) / L, 2e-3)
    load = 0.95 * math.pi ** 2 * B / (4 * L ** 2)
    motion[1]["force"], motion[2]["force"] = [-load, 0, 0], [0, 1e-4 * load, 0]
    _, x = run("column-0", rod(points, young, radius, motion, [0, 0, 0]), 40)
    near("column, 0.95 of Euler's load", "1 - deflection over length", 1, 1 - abs(x[n][1]) / L, 5e-3)


def catenary():
    n, span = 80, 1.0
    for a in (0.5, 0.3):
        length = 2 * a * math.sinh(span / (2 * a))
        rise = a * (math.cosh(span / (2 * a)) - 1)
        # starts as a V of the same length
        deep = math.sqrt(length ** 2 - span ** 2) / 2
        points = [[span * i / n, -deep * (1 - abs(2 * i / n - 1)), 0] for i in range(n + 1)]
        motion = [{"select": {"object": "rod", "nodes": [0, n]}, "fix": True}]
        _, x = run(f"catenary-{a}", rod(points, 1e9, 1e-3, motion, [0, -9.81, 0], 1e3), 20)
        near(f"catenary, {length:.3f} m over 1 m", "lowest point, m", rise, -min(p[1] for p in x), 0.003)


def eps_v():
    slope, mu = math.atan(0.5), 0.6
    for speed in (1e-3, 1e-4, 1e-5):
        scene = block(1e-3, mu, speed, [9.81 * math.sin(slope), -9.81 * math.cos(slope), 0], [0, 0, 0])
        scene["time"]["step"] = 0.01
        frames, _ = run(f"eps_v-{speed:g}", scene, 150)
        creep = (frames["block.x_m"][-1] - frames["block.x_m"][-51]) / 0.5
        near(f"eps_v, {speed:g} m/s", "creep over eps_v", 1 - math.sqrt(1 - 0.5 / mu), creep / speed, 5e-3)


def dhat():
    gaps = []
    for d in (4e-3, 2e-3, 1e-3):
        scene = block(d, 0, 1e-4, [0, -9.81, 0], [0, 0, 0])
        scene["time"] = {"step": 1, "scheme": "quasi-static"}
        del scene["objects"]["block"]["velocity"]
        _, x = run(f"dhat-{d:g}", scene, 3)
        gaps.append(min(p[1] for p in x) / d)
        within(f"dhat, {d:g} m", "gap over dhat", 0, 1, gaps[-1])


def order():
    """A block that falls on the barrier: the force of a gap is the same for every step where kappa is K s h^2.  Newmark takes
    the force of a contact at the end of the step alone: order 1 while one acts."""
    K, end = 1.42e8, 0.032
    for scheme, s, rate in (("implicit-euler", 1, 1), ("bdf2", 4 / 9, 2), ("implicit-newmark", 0.5, 1)):
        height = []
        for h in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
            scene = block(4e-3, 0, 1e-4, [0, -9.81, 0], [0, 0, 0])
            scene["time"] = {"step": h, "scheme": scheme}
            scene["contact"]["barrier"] = {"fixed-kappa": K * s * h * h}
            scene["objects"]["block"]["translate"] = [0, 0.05 + 1.05 * 4e-3, 0]
            frames, _ = run(f"order-{scheme}-{h:g}", scene, round(end / h))
            if frames["contacts"][-1] < 4:
                sys.exit(f"truth: order: {scheme}, {h:g} s: the block does not touch at the end")
            height.append(frames["block.y_m"][-1])
        change = [height[k] - height[k + 1] for k in range(3)]
        near(f"order, {scheme}", "of what half a step changes", rate, math.log2(abs(change[1] / change[2])), 0.15)


def silo():
    a, density, g, nu, dhat = 0.1, 1000, 9.81, 0.4, 4e-6

    def load(height, mu, cells):
        """What the bottom carries, and what Janssen says of it."""
        L, w = a * (1 - nu) / (4 * mu * nu), a / 2 + 1.0001 * dhat      # walls just beyond the reach of the barrier
        walls = {name: {"half-space": {"point": [-w * x, 0, -w * z], "normal": [x, 0, z]}}
                 for name, x, z in (("west", 1, 0), ("east", -1, 0), ("south", 0, 1), ("north", 0, -1))}
        column = {"generate": {"box": {"size": [a, height, a], "cells": [cells, round(height / a * cells), cells]}}}
        scene = {"abut": 1, "time": {"step": 1, "scheme": "quasi-static"}, "gravity": [0, -g, 0],
                 "contact": {"dhat": f"{dhat} m", "friction": {"mu": mu, "eps_v": "1e-6 m/s", "lags": "converged"}},
                 "materials": {"m": {"model": "fixed-corotated", "density": density, "young": 1e6, "poisson": nu}},
                 "objects": {"column": column, **walls},
                 "motion": [{"select": {"object": "column", "relative-box": [[-1, -1, -1], [2, 1e-6, 2]]},
                             "translate": [0, -1e-4, 0]}]}
        _, force = run(f"silo-{height}-{mu}-{cells}", scene, 3, ("--with", "forces"), "node/reaction-force")
        return density * g * L * a * a * (1 - math.exp(-height / L)), sum(f[1] for f in force)

    loads = []
    for cells, part in ((2, 0.075), (4, 0.04), (6, 0.03)):
        expected, measured = load(0.6, 0.1, cells)
        loads.append(measured)
        near(f"silo, 0.6 m, mu 0.1, {cells} cells across", "load of the bottom, N", expected, measured, part)
    near("silo, 0.6 m, mu 0.1, cells to 0", "load of the bottom, N", expected, 3 * loads[2] - 2 * loads[1], 0.01)
    for height, mu in ((0.3, 0.1), (1.2, 0.1), (0.6, 0.05)):
        near(f"silo, {height} m, mu {mu}, 4 cells across", "load of the bottom, N", *load(height, mu, 4), 0.05)


CASES = {f.__name__: f for f in (stop, roll, torsion, column, catenary, eps_v, dhat, order, silo)}
wanted = sys.argv[1:] or list(CASES)
for name in wanted:
    if name not in CASES:
        sys.exit(f"truth: no case '{name}'; there are: {' '.join(CASES)}")
os.makedirs(OUT, exist_ok=True)
for name in wanted:
    CASES[name]()
with open(os.environ.get("TABLE", os.path.join(OUT, "table.md")), "w", encoding="utf-8") as f:
    f.write(HEAD + "\n".join(rows) + "\n")
for line in failed:
    print(f"truth: {line}", file=sys.stderr)
sys.exit(bool(failed))
