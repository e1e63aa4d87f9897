#!/usr/bin/python3
"""Experiments of decomposed optimisation (Li 2020, 3.5) over whole motions: iterations, time, what becomes of the end.

    dot_motions.py [EXPERIMENT ...]    motion growth step band start examples (default: all of them); rows as TSV, those of the
                                       same name replaced
    RESULTS=OUT/dot-motions            the table to write, .tsv, and curves of `step`, .svg
    OUT=out/dot-motions                streams and reports
    STEPS=n                            that many steps at most;  SCENES="bunny5K"  other scenes of dot_scenes.py

motion  a scene as long as published (10 s; the bar 5 s): every solver; the first ten steps after an end has reversed beside all others
growth  the same by dot over the number of subdomains, without and with the coarse space; the exponent of iterations in that number
step    one step in the middle of a stretch: characteristic norm over iterations and seconds, by runs to ever smaller norms
        (ADMM: to the first few, for at most a minute each)
band    the rubber band (slingshot): pulled, released, at rest?  Energies at the end beside those at the release
start   where iterations begin: at the better of x and x + h v (default), or always at x
examples    the published list of shapes and motions at the sizes that are at hand

figure      no run: the curves of `step` as the table has them

A run cut short by STEPS says how many seconds of processor time the whole motion would take at its rate.
All by the characteristic norm 1e-5, on one thread.  ccd-check judges every run."""
import json
import math
import os
import resource
import signal
import subprocess
import sys

sys.path[:0] = ["formats/python", "pipelines/experiments/bin"]
import curves               # noqa: E402
import dot_scenes           # noqa: E402

BIN, OUT = os.environ.get("BIN", "bin"), os.environ.get("OUT", "out/dot-motions")
RESULTS = os.environ.get("RESULTS") or OUT + "/dot-motions"
HEAD = ("experiment", "scene", "solver", "steps", "iterations a step", "most", "s a step", "MB", "other")
STOP = ["--stop", "characteristic", "--tolerance", "1e-5"]
EXAMPLES = ("bunny5K SS", "hollowCat24K TSS", "horse7K SS", "horse7K stretch", "kingkong18K SS", "kingkong18K TSS", "monkey18K TSS",
            "horse38K SS", "horse38K TSS", "horse38K stretch")
SOLVERS = ("newton", "lbfgs-h", "dot", "lbfgs-pd")
COUNTS = (2, 4, 8, 16, 32, 64)
ADMM = {"admm-pd": 3, "admm-dd": 5}     # norms that it is run to
PATIENCE = 60       # s of processor time for a run of ADMM to one norm
rows = []


def fail(text, status=4):
    print("dot_motions: " + text, file=sys.stderr)
    sys.exit(status)


def run(command, ok=(0,), patience=None):
    """The status; of a run that its patience (s of processor time) has ended -SIGKILL."""
    def limit():
        if patience:
            resource.setrlimit(resource.RLIMIT_CPU, (patience, patience))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    if done.returncode not in ok:
        fail("status %d of %s:\n%s" % (done.returncode, " ".join(command), done.stderr))
    return done.returncode


def put(experiment, scene, solver, steps, its, most, seconds, mb, other="-"):
    rows.append((experiment, scene, solver, str(steps), its if isinstance(its, str) else "%.1f" % its, str(most),
                 seconds if isinstance(seconds, str) else "%.3g" % seconds, mb if isinstance(mb, str) else "%.0f" % mb, other))
    print("\t".join(rows[-1]), flush=True)


def prep(name, motion=None):
    path = "%s/%s" % (OUT, name)
    with open(path + ".yaml", "w", encoding="utf-8") as f:
        f.write(dot_scenes.named(name, motion))
    run([BIN + "/mesh-prep", "-q", path + ".yaml", "-o", path + ".start.abut"])
    return path + ".start.abut"


def step(start, n, options, name, keep=50, patience=None):
    """Reports of a judged run; where step gives up or loses patience, of the steps before.  keep: every so many frames"""
    out = "%s/%s" % (OUT, name)
    status = run([BIN + "/step", "-q", "--no-sync", "-j", "1", "-n", str(n), "--every", str(keep), *options, "--report", out + ".jsonl",
                  start, "-o", out + ".abut"], (0, 4, -signal.SIGKILL) if patience else (0, 4), patience)
    if status == 0:
        run([BIN + "/ccd-check", "-q", "-j", "1", "--no-output", out + ".abut"])
    with open(out + ".jsonl", encoding="utf-8") as f:
        return [json.loads(line) for line in f], status


def whole(name, motion=None):
    motion = motion or dot_scenes.SCENES[name][1]
    return round((dot_scenes.MOTIONS[motion][4] if motion != "RBP" else 10) / dot_scenes.H)


def length(name, motion=None):
    return min(whole(name, motion), int(os.environ.get("STEPS", 1000000)))


def mean(values):
    return sum(values) / max(len(values), 1)


def summary(experiment, name, solver, reports, status, other, motion=None):
    """other: what else there is to say, - for nothing"""
    its, seconds = [r["newton_iterations"] for r in reports], mean([r["cpu_seconds"] for r in reports])
    steps = whole(name, motion)
    if status == 0 and len(reports) < steps:
        cut = "%d steps would take %.0f s" % (steps, steps * seconds)
        other = cut if other == "-" else other + "; " + cut
    name += " " + motion if motion else ""
    put(experiment, name, solver, len(reports), mean(its), max(its), seconds,
        max(r["memory_peak"] for r in reports) / 1e6, other if status == 0 else "gave up; " + other)


def scenes(default):
    return os.environ.get("SCENES", default).split()


def motion():
    for name in scenes("bunny5K horse7K"):
        start, n = prep(name), length(name)
        turns = dot_scenes.reversals(dot_scenes.SCENES[name][1])
        for solver in SOLVERS:
            reports, status = step(start, n, ["--solver", solver, *STOP], "motion")
            after = [r["newton_iterations"] for i, r in enumerate(reports) if any(t <= i < t + 10 for t in turns)]
            summary("motion", name, solver, reports, status,
                    "ten steps after a reversal: %.1f iterations a step" % mean(after) if after else "-")


def growth():
    for name in scenes("bunny5K"):
        start, n = prep(name), length(name)
        for level in (1, 2):
            found = []
            for k in COUNTS:
                reports, status = step(start, n, ["--solver", "dot", "--levels", str(level), "--parts", str(k), *STOP], "growth")
                found.append((math.log(k), math.log(mean([r["newton_iterations"] for r in reports]))))
                summary("growth", name, "dot, %d parts, level %d" % (k, level), reports, status, "-")
            mx, my = mean([p[0] for p in found]), mean([p[1] for p in found])
            slope = sum((x - mx) * (y - my) for x, y in found) / sum((x - mx) ** 2 for x, y in found)
            put("growth", name, "dot, level %d" % level, n, "-", "-", "-", "-",
                "iterations grow with the power %.2f of the number of parts" % slope)


def one_step():
    """The step after 0.5 s of TSS, each end then 0.45 m away from where it was."""
    norms = [10.0 ** -e for e in range(3, 11)]
    for name in scenes("horse7K"):
        middle = "%s/%s.middle.abut" % (OUT, name)
        with open(OUT + "/middle.yaml", "w", encoding="utf-8") as f:
            f.write(dot_scenes.named(name, "TSS"))
        run([BIN + "/mesh-prep", "-q", OUT + "/middle.yaml", "-o", OUT + "/middle.start.abut"])
        run([BIN + "/step", "-q", "-j", "1", "-n", "20", "--every", "20", "--tolerance", "1e-7", "--stop", "characteristic",
             OUT + "/middle.start.abut", "-o", middle])
        for solver in os.environ.get("SOLVERS", ",".join((*SOLVERS, "lbfgs-ic", "dot level 1", "admm-pd", "admm-dd"))).split(","):
            options = ["--solver", solver.split()[0]] + (["--levels", "1"] if "level" in solver else [])
            limits = [["--stop", "characteristic", "--tolerance", "%g" % t] for t in norms]
            if solver in ADMM:
                limits = [["--contact", "ignore", *t] for t in limits[:ADMM[solver]]]
            for limit in limits:
                patience = PATIENCE if solver in ADMM else None
                reports, status = step(middle, 1, [*options, *limit], "step", 1, patience)
                if status or not reports:
                    put("step", name, solver + ", norm " + limit[-1], 1, "-", "-", "-", "-",
                        "not reached" + (" in %d s" % patience if status == -signal.SIGKILL else ""))
                    break
                r = reports[-1]
                norm, its = r["characteristic_norm"], r["newton_iterations"]
                put("step", name, "%s, %d iterations" % (solver, its), 1, its, its, r["cpu_seconds"], r["memory_peak"] / 1e6,
                    "characteristic norm %.2e" % norm)


def band():
    for name in scenes("armadillo27K"):
        start, n = prep(name), length(name)
        for solver in ("newton", "dot"):
            reports, status = step(start, n, ["--solver", solver, *STOP], "band")
            energy = [r["kinetic_energy"] + r["elastic_energy"] for r in reports]
            released = round(2 / dot_scenes.H)
            summary("band", name, solver, reports, status, "energy %.3g J at the release, %.3g J at the end" %
                    (energy[min(released, len(energy)) - 1], energy[-1]))


def first_guess():
    for name in scenes("bunny5K"):
        start, n = prep(name), length(name)
        for solver in SOLVERS:
            for guess, options in (("the better of x and x + h v", []), ("x", ["--without", "warm-start"])):
                reports, status = step(start, n, ["--solver", solver, *options, *STOP], "start")
                summary("start", name, solver + ", from " + guess, reports, status, "-")


def examples():
    for both in os.environ.get("EXAMPLES", ",".join(EXAMPLES)).split(","):
        name, kind = both.split()
        start, n = prep(name, kind), length(name, kind)
        for solver in SOLVERS:
            reports, status = step(start, n, ["--solver", solver, *STOP], "examples")
            summary("examples", name, solver, reports, status, "-", kind)


def write():
    have = []
    if os.path.exists(RESULTS + ".tsv"):
        with open(RESULTS + ".tsv", encoding="utf-8") as f:
            have = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")][1:]
    new = {r[:3]: r for r in rows}
    merged = [new.pop(tuple(r[:3]), r) for r in have] + list(new.values())
    with open(RESULTS + ".tsv", "w", encoding="utf-8") as f:
        f.writelines("\t".join(r) + "\n" for r in [HEAD, *merged])


    figure(merged)


def figure(table):
    """Curves of the rows of `step`: iterations and seconds, norm."""
    of = {}
    for _, scene, solver, _, its, _, seconds, _, other in (r for r in table if r[0] == "step" and " norm " in r[8]):
        of.setdefault(scene, {}).setdefault(solver.split(",")[0], []).append((float(its), float(seconds), float(other.split()[-1])))
    panels = [(scene + ", one step", label, "characteristic norm",
               [(s, [(p[at], p[2]) for p in sorted(c) if p[0] > 0]) for s, c in solvers.items()])
              for scene, solvers in of.items() for at, label in ((0, "iterations"), (1, "seconds"))]
    if panels:
        with open(RESULTS + ".svg", "w", encoding="utf-8") as f:
            f.write(curves.panels(panels))


def main(args):
    kinds = {"motion": motion, "growth": growth, "step": one_step, "band": band, "start": first_guess,
             "examples": examples, "figure": lambda: None}
    for a in args:
        if a not in kinds:
            fail("no experiment '%s'; there are: %s" % (a, " ".join(kinds)), 2)
    os.makedirs(OUT, exist_ok=True)
    for a in args or [k for k in kinds if k != "figure"]:
        try:
            kinds[a]()
        finally:
            write()


main(sys.argv[1:])
