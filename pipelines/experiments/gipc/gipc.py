"""What gipc.sh measures, and its table.

    gipc.py run RUNS GROUP ROW RULES VARIANT STEPS THREADS CHECK FILES EXIT VERDICT COMMIT SIZES
                               a line of RUNS, made or replaced
    gipc.py last STREAM OUT    the stream with its last frame alone
    gipc.py table LIST RUNS    the table, of the runs and what is published beside them
"""
import collections, csv, json, os, sys

KEY = ["group", "row", "rules", "variant"]
STAGES = {"pairs_s": ("candidates", "pairs"), "derivatives_s": ("gradient", "hessian", "assemble"),
          "solve_s": ("analyse", "factor", "solve"), "ccd_s": ("ccd", "check")}
NAMES = [*KEY, "steps", "asked", "iterations", "most", "trials", "cg", "contacts", "gap", "cpu_s", "wall_s", "threads", "others",
         *STAGES, "other_s", "nodes", "tets", "bytes", "check", "exit", "verdict", "commit"]


def made(lines):
    """Lines of a file without those that say of which version it is."""
    return (l for l in lines if not l.startswith("#"))


def read_runs(path):
    """{key: run}, a run a dictionary of NAMES."""
    if not os.path.exists(path):
        return {}
    with open(path, newline="", encoding="utf-8") as f:
        return {tuple(r[k] for k in KEY): r for r in csv.DictReader(made(f), delimiter="\t", quoting=csv.QUOTE_NONE)}


def frames(path):
    """The model, the first and the last frame of a stream."""
    import abut_stream
    model = first = last = None
    for item in abut_stream.read(path):
        if item.kind == "model":
            model = item
        else:
            first, last = first or item, item
    return model, first, last


def keep_last(path, out):
    """The history, the model and the last frame of a stream, with all that they hold."""
    import abut_stream
    reader, last = abut_stream.read(path), None
    with abut_stream.Writer(out, minor=reader.minor) as w:
        for stage in reader.prov:
            w.prov(*stage)
        for item in reader:
            if item.kind == "model":
                w.model(item.arrays)
            last = item
        w.frame(last.step, last.time, last.arrays, last.phase)


def centre(model, frame, name):
    """The mean of an object's nodes."""
    objects = model["object/name"].split("\n")
    return frame["node/x"][model["node/object"] == objects.index(name)].mean(axis=0)


def checked(check, path):
    """What is asked of the frames besides the verdict."""
    what, _, of = check.partition(" ")
    if what == "moved":
        model, first, last = frames(path)
        moved = centre(model, last, of) - centre(model, first, of)
        return of + " moved " + " ".join(f"{d:+.2g}" for d in moved) + " m"
    if what == "apart" and os.path.exists(of):
        import numpy as np
        return "apart %.2g m" % np.abs(frames(path)[2]["node/x"] - frames(of)[2]["node/x"]).max()
    return "-"


def run(path, group, row, rules, variant, asked, threads, check, at, status, verdict, commit, sizes):
    with open(at + ".jsonl", encoding="utf-8") as f:
        steps = [json.loads(line) for line in f]
    total = lambda k: sum(s[k] for s in steps)
    with open(at + ".clocks", encoding="utf-8") as f:           # of the machine, before and after each segment: busy, up
        clocks = [[float(word) for word in line.split()] for line in f]
    busy, up = (sum(c[k + 2] - c[k] for c in clocks) for k in (0, 1))
    cpu, wall = total("cpu_seconds"), sum(s["seconds"]["total"] for s in steps)
    gaps = [s["min_gap"] for s in steps if s["min_gap"] is not None]
    stage = {k: sum(s["seconds"][p] for s in steps for p in of) for k, of in STAGES.items()}
    most = lambda of: max(map(of, steps), default=0)
    nodes, tets = sizes.split()
    made = {
        "group": group, "row": row, "rules": rules, "variant": variant, "steps": len(steps) - (status == "4"), "asked": asked,
        "iterations": total("newton_iterations"), "most": most(lambda s: s["newton_iterations"]),
        "trials": total("line_search_trials"), "cg": total("cg_iterations"),
        "contacts": most(lambda s: s["contacts"] + s["half_space_contacts"]),
        "gap": "%.2e" % min(gaps) if gaps else "-", "cpu_s": "%.3f" % cpu, "wall_s": "%.3f" % wall, "threads": threads,
        "others": "%.2f" % max(0, (busy - cpu) / max(up, 0.1)), **{k: "%.3f" % s for k, s in stage.items()},
        "other_s": "%.3f" % max(0, wall - sum(stage.values())), "nodes": nodes, "tets": tets,
        "bytes": most(lambda s: s["memory_peak"]), "check": checked(check, at + ".abut") if verdict != "no frame" else "-",
        "exit": status, "verdict": verdict, "commit": commit}
    runs = read_runs(path)
    runs[tuple(made[k] for k in KEY)] = made
    with open(path + ".part", "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, NAMES, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n")
        w.writeheader()
        w.writerows(runs.values())
    os.replace(path + ".part", path)
    print(group, row, rules, variant, f"{made['steps']}/{asked}",
          *(made[k] for k in ("iterations", "cpu_s", "exit", "verdict", "check")), sep="\t")


class Table:
    """The list of experiments, and the runs that there are."""

    def __init__(self, listing, runs):
        self.runs, self.published = read_runs(runs), {}
        self.rows, self.variants = collections.defaultdict(list), collections.defaultdict(list)
        for line in open(listing, encoding="utf-8"):
            kind, *words = line.rstrip("\n").split("\t")
            if kind == "scene":
                self.rows[words[0]].append(words[1])
            elif kind == "variant":
                for group in words[0].split():
                    self.variants[group] += [(rules, words[2]) for rules in words[1].split()]
            elif kind == "published":
                self.published[tuple(words[:4])] = words[4]

    def of(self, group):
        """(row, rules, variant, run) in the order of the list."""
        for row in self.rows[group]:
            for rules, variant in self.variants[group]:
                r = self.runs.get((group, row, rules, variant))
                if r:
                    yield row, rules, variant, r

    def figure(self, group, row, variant, name):
        return self.published.get((group, row, variant, name)) or self.published.get((group, row, "-", name)) or ""

    def deviation(self, group, row, variant, its):
        """Why iterations a step are beyond half or twice the published ones, in the list, or that nobody knows."""
        of = self.figure(group, row, variant, "its/step")
        far = of and not 0.5 <= its / float(of) <= 2
        return self.figure(group, row, variant, "reason") or ("unexplained" if far else "")


def line(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")


def header(*cells):
    print()
    line(*cells)
    print("|" + "---|" * len(cells))


def cut(r):
    """How a run ended that has not ended by itself."""
    return "cut: its processor time was used up" if int(r["exit"]) > 100 else "exit " + r["exit"]


def ended(r):
    """Nothing where a run made all its steps and is clean; else what became of it."""
    words = [] if r["steps"] == r["asked"] else [f"{r['steps']} of {r['asked']} steps"]
    if r["exit"] not in ("0",):
        words.append(cut(r))
    return words + ([] if r["verdict"] == "clean" else [r["verdict"]])


def seconds(r, key="cpu_s"):
    """Per step; a star where others used more than a tenth of a core at the same time."""
    n = max(1, int(r["steps"]))
    return "%.3g%s" % (float(r[key]) / n, "*" if float(r["others"]) > 0.1 else "")


def matrix(t, group, what):
    """Newton iterations of a sweep, a row for each set of rules, and the published ones: in brackets, over the first column."""
    variants = list(dict.fromkeys(v for _, v in t.variants[group]))
    header(what, "rules", *(f"`{v}`" for v in variants))
    found = {(row, rules, v): r for row, rules, v, r in t.of(group)}
    ratio = lambda n, first: f"{n} ({float(n) / float(first):.2f})" if first and float(first) else str(n)
    for row in t.rows[group]:
        for rules in dict.fromkeys(r for r, _ in t.variants[group]):
            cells, first = [], None
            for v in variants:
                r = found.get((row, rules, v))
                if r and ended(r):
                    cells.append(f"{r['iterations']}, " + ", ".join(ended(r)))
                else:
                    first = first or (r["iterations"] if r else None)
                    cells.append(ratio(r["iterations"], first) if r else "")
            if any(cells):
                line(row, f"`{rules}`", *cells)
        cells, first = [], t.figure(group, row, variants[0], "iterations")
        for v in variants:
            n = t.figure(group, row, v, "iterations")
            cells.append(ratio(n, first) if n.isdigit() else n)
        steps = t.figure(group, row, "-", "steps")
        line(row, "*figures of GIPC*" + (f", {steps} steps" if steps else ""), *cells)


def stages(t, group):
    """Where the time of a sweep goes, as parts of the whole."""
    header("", "rules", "variant", "CPU s a step", "published: s, 16 cores", "pairs %", "derivatives %", "solve %", "CCD, checks %", "rest %",
           "most iterations in a step")
    for row, rules, variant, r in t.of(group):
        whole = float(r["wall_s"]) or 1
        line(row, rules, f"`{variant}`", seconds(r), t.figure(group, row, variant, "s/step"),
             *("%.0f" % (100 * float(r[k]) / whole) for k in [*STAGES, "other_s"]), r["most"])


def scenes(t, group):
    header("scene", "rules", "variant", "nodes, tets", "steps", "contacts", "iterations", "a step (most)", "published",
           "CPU s a step", "s a step", "threads", "published: card", "published: CPU", "MB", "kB a tet", "smallest gap, m",
           "verdict", "deviation")
    for row, rules, variant, r in t.of(group):
        n, tets, mb = max(1, int(r["steps"])), int(r["tets"]), int(r["bytes"]) / 1e6
        outcome = [r["verdict"]] + [cut(r)] * (r["exit"] != "0") + [r["check"]] * (r["check"] != "-")
        line(row, rules, f"`{variant}`", f"{r['nodes']}, {tets}", f"{r['steps']} of {r['asked']}", r["contacts"], r["iterations"],
             "%.2f (%s)" % (int(r["iterations"]) / n, r["most"]), t.figure(group, row, variant, "its/step"),
             seconds(r), seconds(r, "wall_s"), r["threads"], t.figure(group, row, variant, "s/step"),
             t.figure(group, row, variant, "cpu s/step"), "%.0f" % mb, "%.2f" % (1e3 * mb / tets) if tets > 5000 else "",
             r["gap"], ", ".join(outcome), t.deviation(group, row, variant, int(r["iterations"]) / n))


def gradients(t, group):
    variants = [v for _, v in t.variants[group]]
    header("scene", "nodes", *(f"`{v}`" for v in variants), "published")
    found = {(row, v): r for row, _, v, r in t.of(group)}
    for row in t.rows[group]:
        have = [found.get((row, v)) for v in variants]
        cells = [", ".join(["%.0f (%s)" % (int(r["cg"]) / max(1, int(r["iterations"])), r["iterations"]), *ended(r)]) if r else ""
                 for r in have]
        if any(have):
            line(row, next(r["nodes"] for r in have if r), *cells, t.figure(group, row, "-", "cg/it"))


def projection(path):
    """Nanoseconds a contact, of the bench of Hessians of contacts, beside Table 1."""
    if not os.path.exists(path):
        return
    print("""
## Table 1: one Hessian of a contact, made and projected

ns a contact on one thread, `bench_barrier_hessians 100000 9`, law `log2`. Published, of 1e5 contacts (threads not said) of 12, 9,
6 rows: by eigenvectors 236, 144, 50; closed form 48, 22, 6.4; on the card 10.8, 4.2, 1.6. That ours by eigenvectors (`dense eigen`)
take 13 to 15 times the published ones is unexplained: 16 cores would explain it, if they were used.""")
    rows = collections.defaultdict(dict)
    for r in csv.DictReader(made(open(path, encoding="utf-8")), delimiter="\t"):
        if r["law"] == "log2" and r["contacts"] == "100000":
            rows[r["contact"], r["rows"]][r["hessian"]] = r["ns a contact"]
    names = list(dict.fromkeys(h for of in rows.values() for h in of))
    header("contact", "rows", *(f"`{n}`" for n in names))
    for (contact, size), of in rows.items():
        line(contact, size, *(of.get(n, "") for n in names))


def table(listing, path):
    t = Table(listing, path)
    print("""# Experiments of GIPC beside the published figures

Made by `gipc.sh` from the list in `list.tsv`; every run with its figures is a line of [gipc.tsv](gipc.tsv).
What follows from them: [experiments](../contact/README.md#gipc-beside-its-published-figures).

- *Variants*: law of the barrier, then `step --barrier-hessian`. `ipc projected` is the published "standard IPC" and our default,
  `ipc ipc-gn` "Gauss-Newton IPC", `ipc shi-kim` Shi and Kim 2023, `log2 gn` GIPC: squared logarithm, stiffness by the rule of
  `ipc`, filter 0.01. Others are named where they differ from that.
- *Rules*: `abut`, ours; `published`: `--stop published --without look-ahead,lengthen,warm-start,majorant`, a step ends when the
  Newton direction is below the tolerance, and nothing of ours shortens the path to there; `stop`: ours, ended by that rule; `stop-cg`: by `newton-cg`;
  `gipc`: as `published` with `--stop step --ccd cfl`, `gradient` with `--stop gradient`; `cg X` is `--linear-solver cg --cg-tolerance X`, `cg, ours` without the tolerance.
- *Iterations* are of Newton's method in all steps; in brackets, over those of the first column. Published scenes are larger and
  are not described (or not ours), so ratios compare, not counts.
- *Steps*: 40 of *stiffness*, 20 of the tolerances, 3 s of the funnel; published as said there.
- *CPU s*: processor time of all threads of `step`; *s*: wall clock, as published seconds are, of a CPU with 16 cores; \\*: other processes used more than a tenth of a core
  meanwhile, so times say little. *MB*: largest resident set.
- *Clean*: `ccd-check` found no collision in any frame or between two, and no inverted element. An empty cell was not run.""")
    for title, group, what in (("Fig. 10: stiffness", "stiffness", "E, Pa"), ("Fig. 10: tolerance", "tolerance", "l/s"),
                               ("Fig. 10: tolerance of the gradient", "gradient", "N/m"),
                               ("Tolerance of conjugate gradients", "pcg", "N/m"),
                               ("Fig. 14: funnel, a generated body", "funnel", "step, s"),
                               ("Fig. 14: funnel, the published body", "funnel-mesh", "step, s")):
        if any(t.of(group)):
            print(f"\n## {title}")
            matrix(t, group, what)
            stages(t, group)
    if any(t.of("cg")):
        print("""
## Table 2: conjugate gradients

Iterations of conjugate gradients for each of Newton's (of those, in all steps). Published: scenes of 45 000 nodes and more, whole
runs, to 1e-4 of the first residual squared in the norm of the preconditioner.""")
        gradients(t, "cg")
    if any(t.of("scenes")):
        print("""
## Scenes at feasible size

Published: iterations a step and seconds a step on an RTX 4090, of scenes of 17 000 to 518 000 nodes. *Deviation*: where iterations
are beyond half or twice the published ones: why, or "unexplained".""")
        scenes(t, "scenes")
    if any(t.of("trajectories")):
        print("\n## Fig. 8: trajectories with other Hessians of contacts")
        scenes(t, "trajectories")
    if any(t.of("card")):
        print("""
## Two cores against a graphics card

The published step, tolerance and meshes (the funnel is ours, of as many triangles as the published one, or the released one of
552). Rods and mat are run from their start, where the published figures are means of 5000 steps. Published: RTX 4090; CPU: IPC on
16 cores.""")
        scenes(t, "card")
    projection(os.path.splitext(path)[0] + "-projection.tsv")


if __name__ == "__main__":
    {"run": run, "last": keep_last, "table": table}[sys.argv[1]](*sys.argv[2:])
