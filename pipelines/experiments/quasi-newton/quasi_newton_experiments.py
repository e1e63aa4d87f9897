"""The experiments of quasi-newton.sh: Q1 to Q3 curtains, Q4 and Q5 contact, Q6 to Q9 materials, Q10 and Q11 initial
matrices, Q12 fibres, Q13 tearing, Q14 contact."""
import re

import numpy as np

import quasi_newton as q
from quasi_newton import (BIN, OUT, Problem, bar, curtain, frames, judge, must_be_free, prep, put, run, set_array, step,
                          stretches, tets)

# errors of another implementation, in another language, of the same scenes: curtain, and bar with w pairs
OTHER = {
    (100, 0): (2.09e-2, 6.75e-3, 1.24e-3, 6.83e-4, 4.09e-4, 1.37e-4),
    (100, 5): (2.09e-2, 6.39e-3, 7.57e-4, 2.25e-4, 3.16e-5, 1.29e-6),
    (1000, 0): (2.21e-2, 7.83e-3, 8.05e-4, 1.42e-4, 8.11e-5, 5.32e-5),
    (1000, 5): (2.21e-2, 7.46e-3, 1.84e-4, 8.17e-5, 1.90e-5, 4.40e-6),
    (10000, 0): (2.29e-2, 7.96e-3, 7.93e-4, 9.03e-5, 1.47e-5, 8.69e-6),
    (10000, 5): (2.29e-2, 7.54e-3, 1.55e-4, 1.31e-5, 8.49e-6, 9.12e-7),
}
NEWTON = {100: 7.96e-4, 1000: 5.69e-4, 10000: 6.26e-4}
COUNTS = (1, 2, 5, 10, 20, 50)


def q1():
    for k in (100, 1000, 10000):
        p = Problem(curtain(21, k))
        for w in (0, 5):
            for (n, e), other in zip(p.curve(f"--solver mass-springs --contact ignore --history {w}", COUNTS), OTHER[k, w]):
                put("q1", f"{k} N/m, history {w}", f"error, {n} iterations", e, "%.2e" % other)
        put("q1", f"{k} N/m, newton", "error, 1 iterations", p.error("--solver newton --iterations 1")[0], "%.2e" % NEWTON[k])


def at_ten(experiment, case, p):
    for w in (0, 5):
        e, report = p.error(f"--solver mass-springs --contact ignore --history {w} --iterations 10")
        put(experiment, f"{case}, history {w}", "error, 10 iterations", e)
        put(experiment, f"{case}, history {w}", "ms a step", 1e3 * report["cpu_seconds"])


def q2():
    for k in (100, 1000, 10000, 100000):
        at_ten("q2", f"{k} N/m", Problem(curtain(21, k)))


def q3():
    for n in (11, 21, 41):
        at_ten("q3", f"{n} x {n} nodes, {1000 * (n - 1) // 20} N/m", Problem(curtain(n, 1000 * (n - 1) / 20)))


def contact_runs(experiment, start, n, solvers, measure=None):
    """Each solver on one start: whether ccd-check finds a collision, which solvers with the barrier must not have, and times."""
    for name, options in solvers:
        stream, report = step(start, options, n, f"{experiment}-{name.replace(' ', '-')}")
        promised = "intersections" not in report[-1]["not_guaranteed"]
        found = judge(stream)
        if promised:
            must_be_free(stream)
        detection = sum(r["seconds"][k] for r in report for k in ("predict", "candidates", "pairs", "ccd", "check"))
        put(experiment, name, "first step with a collision", found, "none" if promised else "-")
        put(experiment, name, "ms a step, CPU", 1e3 * sum(r["cpu_seconds"] for r in report) / n)
        put(experiment, name, "of it collision detection",
            detection / sum(r["seconds"]["total"] for r in report) if promised else "-")
        put(experiment, name, "energies a step", sum(r["line_search_trials"] for r in report) / n)
        put(experiment, name, "largest kinetic energy, J", max(r["kinetic_energy"] for r in report))
        if measure:
            measure(name, stream, report)


def corotated(mu, lam, more=""):
    young, nu = mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu))
    return f"{{model: linear-corotated, density: 1000, young: {young:g}, poisson: {nu:.12g}{more}}}"


PD = "--solver pd --contact springs --history 5 --iterations 10"
BARRIER = "--solver lbfgs-pd --iterations 10"


def q4():
    """A brush of strands pressed on a ball."""
    start = prep("brush", """time: {step: 10 ms}
contact: {dhat: 2 mm, friction: {mu: 0.2}}
materials: {m: {model: neo-hookean, density: 1000, young: 1e6, poisson: 0.4}}
objects:
  brush: {generate: {strands: {count: [6, 6], spacing: 2 cm, length: 0.15, cells: 10}}, material: m, rod: {radius: 2 mm}}
  ball: {generate: {icosphere: {radius: 0.08, divisions: 5}}, obstacle: true, translate: [0.05, -0.19, 0.05]}
motion: [{select: {object: brush, relative-box: [[0, 0.999, 0], [1, 1, 1]]}, translate: [0, -0.3, 0], until: 0.3 s, hold: true}]
""")
    out = f"{OUT}/brush-springs.abut"
    run(f"{BIN}/springs", "-q", "--stiffness", 200, "--across", 20, "--replace", start, "-o", out)
    contact_runs("q4", out, 40, (("mass-springs", PD.replace("pd", "mass-springs", 1)), ("barrier", BARRIER)))


def q5():
    """A tube of cloth around a capsule that moves."""
    start = prep("sleeve", """time: {step: 33.3 ms}
contact: {dhat: 2 mm, friction: {mu: 0.2}}
materials: {m: {model: neo-hookean, density: 400, young: 1e5, poisson: 0.3}}
objects:
  sleeve: {generate: {tube: {radius: 0.1, height: 0.5, cells: [40, 32]}}, material: m, shell: {thickness: 0.5 mm}}
  limb: {generate: {blob: {cell: 2.5 cm, snap: true, capsules: [{from: [0, -0.4, 0], to: [0, 0.4, 0], radius: 7 cm}]}},
         obstacle: true}
motion: [{select: {object: limb}, rotate: {axis: [0, 0, 1], rate: 40 deg/s, center: [0, 0, 0]}, translate: [0.2, 0, 0]}]
""")
    contact_runs("q5", start, 8, (("pd", PD.replace("10", "20")), ("barrier", BARRIER.replace("10", "20"))))


def q6():
    """A sheet of tets hung by two corners, with soft limits of its stretch."""
    for low, high in ((0.9, 1.1), (0.8, 1.2), (0.7, 1.3)):
        for weight in (0, 1e5, 1e6, 1e7):
            extra = f", stretch: {{range: [{low}, {high}], stiffness: {weight:g}}}" if weight else ""
            start = prep("sheet", f"""time: {{step: 33.3 ms}}
contact: off
materials: {{m: {{model: arap, density: 1000, young: 1e4{extra}}}}}
objects: {{sheet: {{generate: {{box: {{size: [1, 0.02, 1], cells: [12, 1, 12]}}}}, material: m}}}}
motion:
  - {{select: {{object: sheet, relative-box: [[0, 0, 0], [0.09, 1, 0.09]]}}, fix: true}}
  - {{select: {{object: sheet, relative-box: [[0.91, 0, 0], [1, 1, 0.09]]}}, fix: true}}
""")
            stream, _ = step(start, "--solver pd --contact ignore --history 5 --iterations 20", 30)
            model, fs = frames(stream)
            s, vol = stretches(model, fs[-1]["node/x"])
            out = ((s < low - 1e-3) | (s > high + 1e-3)).any(1)
            put("q6", f"{low} to {high}, {weight:g} Pa", "volume outside the limits", (vol * out).sum() / vol.sum())
            put("q6", f"{low} to {high}, {weight:g} Pa", "largest stretch", s.max())


def q7():
    """A bar that bends under its weight, by weights of strain and volume."""
    for strain in (5e3, 2e4, 8e4):
        for volume in (0, 2e4, 2e5):
            extra = f", volume: {volume:g}" if volume else ""
            start = prep("beam", f"""time: {{step: 33.3 ms}}
contact: off
materials: {{m: {{model: arap, density: 1000, young: {2.8 * strain:g}{extra}}}}}
objects: {{b: {{generate: {{box: {{size: [0.9, 0.3, 0.3], cells: [9, 3, 3]}}}}, material: m}}}}
motion: [{{select: {{object: b, relative-box: [[0, 0, 0], [0.01, 1, 1]]}}, fix: true}}]
""")
            stream, _ = step(start, "--solver pd --contact ignore --history 5 --iterations 20", 30)
            model, fs = frames(stream)
            x, X = fs[-1]["node/x"], model["node/X"]
            s, vol = stretches(model, x)
            J = s.prod(1)
            case = f"strain {2 * strain:g} Pa, volume {volume:g} Pa"
            put("q7", case, "largest change of volume of a tet", abs(J - 1).max())
            put("q7", case, "change of volume", abs((vol * J).sum() / vol.sum() - 1))
            put("q7", case, "lowest point, m", -(x[:, 1] - X[:, 1]).min())


def spline(mu, lam, below, above):
    """Slopes of the neo-Hookean density; a' is steeper by these factors in compression and in tension."""
    s = [0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.7, 2.0, 2.5]
    a = [mu * (1 + (x - 1) * (below if x < 1 else above)) for x in s]
    c = [(lam * np.log(x) - mu) / x for x in s]
    text = lambda v: "[" + ", ".join("%.10g" % e for e in v) + "]"       # noqa: E731
    return f", spline: {{stretch: {text(s)}, a: {text(a)}, b: {text([0 * x for x in s])}, c: {text(c)}}}"


def typical(start, options):
    """CPU seconds of a step but the first, which prepares."""
    return float(np.median([r["cpu_seconds"] for r in step(start, options, 8)[1]][1:]))


def q8():
    """Materials: ten iterations with a history, and Newton's first, on the bar twisted by a quarter."""
    for model in ("linear-corotated", "stvk", "neo-hookean", "polynomial", "mooney-rivlin"):
        p = Problem(bar(model, np.pi / 2))
        e, report = p.error("--solver pd --contact ignore --history 5 --iterations 10")
        put("q8", model, "error, 10 iterations", e)
        put("q8", model, "error, 1 Newton iteration", p.error("--solver newton --iterations 1")[0])
        put("q8", model, "rejected trials in 10 iterations", report["line_search_trials"] - 10)
        ten = typical(p.path, "--solver pd --contact ignore --history 5 --iterations 10")
        one = typical(p.path, "--solver newton --iterations 1")
        put("q8", model, "CPU of a step, over that of one Newton iteration", ten / one)
    for name, below, above in (("spline A, stiff in compression", 4, 1), ("spline B, stiff in tension", 1, 4)):
        start = bar("spline", np.pi / 2, extra=spline(1e4, 4e4, below, above))
        _, report = step(start, "--solver pd --contact ignore --history 5 --iterations 10")
        falls = [it[5] for it in report[-1]["iterations"]]
        put("q8", name, "decrease of the last of 10 iterations over the first", falls[-1] / falls[0])
        put("q8", name, "rejected trials in 10 iterations", report[-1]["line_search_trials"] - 10)


def q9():
    """A ball whose nodes are anywhere in its box, back to its shape."""
    mu, lam = 2e4, 1e5
    start = prep("ball", f"""time: {{step: 33.3 ms}}
gravity: [0, 0, 0]
contact: off
materials: {{m: {corotated(mu, lam)}}}
objects: {{b: {{generate: {{sphere: {{radius: 0.1, cells: 6}}}}, material: m}}}}
""")

    def shake(model, frame):
        X = model["node/X"].data
        set_array(frame, "node/x", np.random.default_rng(9).uniform(X.min(0), X.max(0), X.shape))
    start = q.change(start, f"{OUT}/shaken.abut", shake)
    for history, iterations in ((0, 20), (5, 20), (5, 100)):
        case = f"history {history}, {iterations} iterations"
        stream, report = step(start, f"--solver pd --contact ignore --history {history} --iterations {iterations}", 100)
        model, fs = frames(stream)
        m, X = model["node/mass"].reshape(-1, 1), model["node/X"]
        for at in (0, 10, 100):
            x = fs[at]["node/x"]
            A, B = X - (m * X).sum(0) / m.sum(), x - (m * x).sum(0) / m.sum()
            U, _, V = np.linalg.svd((m * A).T @ B)
            R = U @ np.diag([1, 1, np.sign(np.linalg.det(U @ V))]) @ V
            put("q9", case, f"inverted tets after {at} steps", int((stretches(model, x)[0].prod(1) < 0).sum()))
            put("q9", case, f"furthest from rest, over the diameter, after {at}", np.linalg.norm(A @ R - B, axis=1).max() / 0.2)
        put("q9", case, "kinetic energy at the end, J", report[-1]["kinetic_energy"])
        trials, all_of = (sum(r[k] for r in report) for k in ("line_search_trials", "newton_iterations"))
        put("q9", case, "rejected trials an iteration", trials / all_of - 1)


TEN = (1, 2, 5, 10, 20)
MATRICES = (     # name, options, errors of the other implementation after TEN
    ("constant matrix, no history", "--solver pd --contact ignore", (5.15e-1, 3.28e-1, 9.93e-2, 1.53e-2, 4.02e-4)),
    ("constant matrix, history 2", "--solver pd --contact ignore --history 2", (5.15e-1, 1.88e-1, 4.45e-3, 2.08e-5, 6.46e-9)),
    ("constant matrix, history 5", "--solver pd --contact ignore --history 5", (5.15e-1, 1.88e-1, 4.22e-3, 1.91e-5, 3.15e-9)),
    ("constant matrix, history 10", "--solver pd --contact ignore --history 10", (5.15e-1, 1.88e-1, 4.22e-3, 1.93e-5, 3.06e-9)),
    ("constant matrix, 0.8 to 1.2", "--solver pd --contact ignore --history 5 --fit-interval 0.8:1.2",
     (4.57e-1, 1.52e-1, 1.55e-3, 8.24e-6, 4.27e-10)),
    ("lbfgs-pd", "--solver lbfgs-pd --armijo 0.03 --without scale", (5.15e-1, 1.88e-1, 4.22e-3, 1.91e-5, 3.15e-9)),
    ("lbfgs-rest", "--solver lbfgs-rest --armijo 0.03", (4.92e-1, 3.91e-1, 1.76e-1, 7.93e-3, 1.77e-4)),
    ("lbfgs-warped", "--solver lbfgs-warped --armijo 0.03", ("-",) * 5),
    ("lbfgs-id", "--solver lbfgs-id --armijo 0.03", (8.63e-1, 7.09e-1, 7.08e-2, 1.25e-2, 8.05e-4)),
    ("lbfgs-h", "--solver lbfgs-h", (2.08e-3, 7.38e-6, 2.57e-12, "-", "-")),
    ("newton", "--solver newton", (2.08e-3, 1.11e-5, 1.81e-11, "-", "-")),
    ("newton, cg to 1e-1", "--solver newton --linear-solver cg --cg-tolerance 1e-1", ("-",) * 5),
    ("newton, cg to 1e-2", "--solver newton --linear-solver cg --cg-tolerance 1e-2", ("-",) * 5),
)


def q10():
    """The bar twisted by 180 degrees: initial matrices, histories, intervals; the same lying otherwise."""
    p = Problem(bar())
    for name, options, other in MATRICES:
        for n, want in zip(TEN, other):
            e, report = p.error(f"{options} --iterations {n}")
            put("q10", name, f"error, {n} iterations", e, want if want == "-" else "%.2e" % want)
        phases = ("gradient", "hessian", "assemble", "analyse", "factor", "solve", "line_search")
        busy = sum(report["seconds"][k] for k in phases)
        put("q10", name, "ms an iteration of 20", 1e3 * busy / report["newton_iterations"])
    p = Problem(bar(quarter=True))
    for (n, e), other in zip(p.curve("--solver lbfgs-rest --armijo 0.03", TEN), (5.73e-1, 3.28e-1, 6.82e-2, 4.53e-3, 4.01e-5)):
        put("q10", "lbfgs-rest, rotated by 90 degrees", f"error, {n} iterations", e, "%.2e" % other)


def q11():
    """A cube stretched by a tenth: condition numbers, as tests/unit/test_quasi_newton.c computes them, and errors."""
    run("make", "-s", "build/gcc/unit/test_quasi_newton")
    said = run("build/gcc/unit/test_quasi_newton", "condition").stdout
    lines = re.findall(r"# (\d+) degrees: constant matrix ([\d.]+), Hessian at rest ([\d.]+)", said)
    for line, rest in zip(lines, (2.07, 41.5, 138.2)):
        put("q11", f"{line[0]} degrees", "condition number, constant matrix", float(line[1]), 13.71)
        put("q11", f"{line[0]} degrees", "condition number, Hessian at rest", float(line[2]), rest)
    for angle in (0, 45, 90):
        a = np.radians(angle)
        start = tets("cube", [0.3, 0.3, 0.3], [3, 3, 3])

        def stretch(model, frame):
            X = model["node/X"].data * (1.1, 1, 1)
            set_array(frame, "node/x", X @ np.array([[np.cos(a), np.sin(a), 0], [-np.sin(a), np.cos(a), 0], [0, 0, 1]]))
        p = Problem(q.change(start, f"{OUT}/stretched.abut", stretch))
        for s in ("pd --contact ignore --history 5", "lbfgs-rest --armijo 0.03"):
            for n in (2, 5):
                e, _ = p.error(f"--solver {s} --iterations {n}")
                put("q11", f"{angle} degrees", f"error of {s.split()[0]}, {n} iterations", e)


def q12():
    """A cube with vertical fibres that falls on a floor: how far it is compressed."""
    mu, lam = 1e4, 1e5
    for kappa in (0, 5e4, 2e5):
        fibre = f", fibre: {{direction: [0, 1, 0], stiffness: {kappa:g}}}" if kappa else ""
        start = prep("fibres", f"""time: {{step: 10 ms}}
contact: {{dhat: 2 mm, friction: {{mu: 0.3}}}}
materials: {{m: {corotated(mu, lam, fibre)}}}
objects:
  cube: {{generate: {{box: {{size: [0.3, 0.3, 0.3], cells: [6, 6, 6]}}}}, material: m, translate: [0, 0.16, 0],
         velocity: [0, -3, 0]}}
  floor: {{half-space: {{point: [0, 0, 0], normal: [0, 1, 0]}}}}
""")
        stream, report = step(start, BARRIER, 16)
        must_be_free(stream)
        lowest = min(np.ptp(f["node/x"][:, 1]) for f in frames(stream)[1]) / 0.3
        put("q12", f"kappa {kappa:g} Pa", "least height, over that at rest", lowest)
        put("q12", f"kappa {kappa:g} Pa", "directions that did not descend", sum(r["not_descending"] for r in report))
        trials, all_of = (sum(r[k] for r in report) for k in ("line_search_trials", "newton_iterations"))
        put("q12", f"kappa {kappa:g} Pa", "energies an iteration", trials / all_of)


def q13():
    """A flag in the wind that tears: a new model, and a new factor, follows each tear."""
    start = prep("flag", """time: {step: 20 ms}
wind: [8, 0, 3]
contact: off
materials: {m: {model: stvk, density: 400, young: 2e4, poisson: 0.3}}
objects: {flag: {generate: {cloth: {size: [0.9, 0.6], cells: [30, 20]}}, material: m, shell: {thickness: 0.5 mm, drag: 0.6}}}
motion: [{select: {object: flag, relative-box: [[0, 0, 0], [0.001, 1, 1]]}, fix: true}]
""")
    at, ms, triangles, nodes, torn = start, [], [], [], 0
    for k in range(24):
        stream, report = step(at, "--solver lbfgs-pd --iterations 10", 1, f"flag-{k % 2}")
        ms.append(1e3 * report[0]["cpu_seconds"])
        at = f"{OUT}/torn-{k % 2}.abut"
        run(f"{BIN}/tear", "-q", "--stretch", 1.2, stream, "-o", at)
        items = list(q.abut_stream.read(at))
        model = [i for i in items if i.kind == "model"][-1]
        triangles.append(len(model["shell/node"])), nodes.append(len(model["node/X"]))
        at = q.change_last(at, f"{OUT}/flag-next-{k % 2}.abut")
        torn += triangles[-1] < triangles[-2] if k else 0
    first = next((k for k in range(1, 24) if triangles[k] < triangles[0]), 24)
    put("q13", "24 steps of 10 iterations", "triangles at the start and the end", f"{triangles[0]}, {triangles[-1]}")
    put("q13", "24 steps of 10 iterations", "nodes at the start and the end", f"{nodes[0]}, {nodes[-1]}")
    put("q13", "24 steps of 10 iterations", "steps that tear", torn)
    put("q13", "24 steps of 10 iterations", "ms a step before the first tear", float(np.median(ms[:first])) if first else 0.0)
    put("q13", "24 steps of 10 iterations", "ms a step after it", float(np.median(ms[first:])) if first < 24 else 0.0)


def q14():
    """A soft ellipsoid pulled through a torus by its front."""
    mu, lam = 5e3, 2e5
    start = prep("torus", f"""time: {{step: 10 ms}}
gravity: [0, 0, 0]
contact: {{dhat: 2 mm, friction: {{mu: 0}}}}
materials: {{m: {corotated(mu, lam)}}}
objects:
  body: {{generate: {{sphere: {{radius: 0.07, cells: 8}}}}, scale: [1, 1.5, 1], material: m, translate: [0, 0.18, 0]}}
  torus: {{generate: {{torus: {{radius: 0.1, tube: 0.04, cells: [32, 8]}}}}, obstacle: true}}
motion: [{{select: {{object: body, relative-box: [[0.3, 0, 0.3], [0.7, 0.1, 0.7]]}}, translate: [0, -0.5, 0]}}]
""")

    def passed(name, stream, report):
        model, fs = frames(stream)
        body = model["node/object"] == 0
        put("q14", name, "highest point of the body at the end, m", fs[-1]["node/x"][body, 1].max())
    more = PD.replace("10", "40")
    solvers = (("pd, 10 iterations", PD), ("pd, 40 iterations", more), ("barrier, 10 iterations", BARRIER))
    contact_runs("q14", start, 90, solvers, passed)


EXPERIMENTS = {f"q{k}": f for k, f in enumerate((q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14), 1)}
