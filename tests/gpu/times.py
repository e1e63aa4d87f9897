"""A table (Markdown) of what tests/gpu/run times has measured, beside published figures.

    tests/gpu/times.py TIMES [LIST] >table.md       TIMES: lines of times.tsv; LIST: pipelines/experiments/gipc/list.tsv
"""
import collections, csv, os, sys

PHASES = {"start": ["predict"], "candidates": ["candidates"], "contacts": ["pairs"], "forces": ["gradient"],
          "matrix": ["hessian", "assemble"], "precond.": ["analyse", "factor"], "solve": ["solve"], "bounds": ["ccd"],
          "energy": ["line_search"], "judge": ["check"], "friction": ["friction"]}
BANDWIDTH = {"H100": 3.35, "H200": 4.8}     # TB/s; the published figures are of an RTX 4090
RTX_4090 = 1.01


def line(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")


def header(*cells):
    print()
    line(*cells)
    print("|" + "---|" * len(cells))


def published(path):
    """{row of the group card: {figure: number}}"""
    of = collections.defaultdict(dict)
    for words in (l.rstrip("\n").split("\t") for l in open(path, encoding="utf-8")):
        if words[0] == "published" and words[1] == "card" and words[4] != "reason":
            of[words[2]][words[4]] = float(words[5])
    return of


def read(path):
    """{scene: runs}, the last of those that are alike."""
    of = collections.defaultdict(dict)
    with open(path, newline="", encoding="utf-8") as f:
        for r in csv.DictReader((l for l in f if not l.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE):
            of[r["scene"]][r["on"]] = r
    return of


def seconds(r):
    return float(r["total"])


def ended(r):
    """What became of a run that is not clean."""
    words = {"0": [], "124": ["out of time"]}.get(r["status"], ["exit " + r["status"]])
    return ", ".join(words + [r["verdict"]] * (r["verdict"] != "-")) or "-"


def bandwidth(runs):
    """How much faster the memory of the GPU is than that of the published card, and its name."""
    for r in runs.values():
        for name, b in BANDWIDTH.items():
            if name in r["machine"]:
                return name, b / RTX_4090
    return None, None


def speeds(of, figures):
    header("scene", "nodes, tets", "on", "first step, s", "s a step", "of 16 cores at their best", "iterations", "ms an iteration",
           "published 4090: s a step, ms an iteration", "of these, a step and an iteration", "CG iterations", "contacts",
           "device, MB", "judge")
    for scene, runs in of.items():
        own = figures.get(scene.split("-")[0], {})
        cores = [seconds(r) for on, r in runs.items() if on.startswith("cpu") and seconds(r) > 0]
        for on, r in runs.items():
            s, n, fast = seconds(r), float(r["newton_iterations"]), ""
            gpu = not on.startswith("cpu")
            each = 1e3 * s / n if n else 0
            card = [own["s/step"], 1e3 * own["s/step"] / own["its/step"]] if "s/step" in own else None
            if gpu and cores and s:
                fast = "%.1fx" % (min(cores) / s)
            line(scene, f"{r['nodes']}, {r['tets']}", on, "%.3g" % float(r["first_s"]), "%.3g" % s if s else "-", fast,
                 "%.1f" % n, "%.1f" % each, "%.3g, %.0f" % tuple(card) if card else "",
                 "%.1fx, %.1fx" % (card[0] / s, card[1] / each) if card and s and n else "",
                 "%.0f" % float(r["cg_iterations"]), "%.0f" % float(r["contacts"]), r["device_MB"] if gpu else "", ended(r))


def phases(of):
    header("scene", "on", *PHASES, "transfer", "rest", "waits", "launches")
    for scene, runs in of.items():
        for on, r in runs.items():
            known = [sum(float(r[p]) for p in names) for names in PHASES.values()]
            to_and_fro = float(r["transfer_seconds"])
            rest = seconds(r) - sum(known) - to_and_fro
            line(scene, on, *("%.1f" % (1e3 * v) for v in (*known, to_and_fro, max(0, rest))), "%.0f" % float(r["waits"]),
                 "%.0f" % float(r["launches"]))


def main(times, listing=os.path.join(os.path.dirname(__file__), "../../pipelines/experiments/gipc/list.tsv")):
    of = read(times)
    print("""# Seconds a step on a GPU and on 16 cores beside it

Made by `tests/gpu/times.py` of [times.tsv](times.tsv), which `tests/gpu/run BIN OUT times` writes on a machine with a GPU; streams of
published scenes are made by `tests/gpu/streams`. Means of the steps after the first, which pays for allocation.

- *On*: `gpu` with a preconditioner (`step --device gpu --precond`); `cpu`: the same machine's cores, `newton` by Cholesky factors,
  `newton-cg` and `newton --linear-solver ic-rigid` by conjugate gradients.
- *Of 16 cores at their best*: the least seconds of the three rows `cpu` over those of this row.
- *Published*: GIPC (Huang et al. 2024) on an RTX 4090, means of whole runs of the same mesh, step and tolerance; ours start where
  the row says (`rods-800`: after 800 steps), with its own number of iterations.""")
    for machine in dict.fromkeys(r["machine"] for runs in of.values() for r in runs.values()):
        print(f"- *Machine*: {machine}.")
    name, ratio = next((b for b in map(bandwidth, of.values()) if b[0]), (None, None))
    if name:
        print(f"- *Bandwidth*: the memory of an {name} is {ratio:.1f} times as fast as that of an RTX 4090: so much of a ratio is the "
              "card's.")
    speeds(of, published(listing))
    print("\n## Milliseconds of each phase\n\nOf the device's kernels where a phase has some; start: with its broad phase, and "
          "overlapping others.")
    phases(of)


if __name__ == "__main__":
    main(*sys.argv[1:])
