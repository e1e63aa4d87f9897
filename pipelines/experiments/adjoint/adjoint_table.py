"""adjoint_table.py FROM INTO: the table, the curves and the losses of the descents in FROM/NAME/{awk,scipy}.tsv, which
adjoint.sh makes."""
import os
import sys

sys.path.insert(0, "pipelines/experiments/bin")
from curves import panels   # noqa: E402

FROM, INTO = sys.argv[1:]
HEAD = """# Losses that go down by derivatives of runs

Made by `adjoint.sh`; the loss of every evaluation is in [adjoint-losses.tsv](adjoint-losses.tsv), curves are
[beside](adjoint.svg). An evaluation is a run and its backward pass; *steps* are those of the descent, the others shorten one. The
descent ends at a loss, or where the largest derivative is small beside the first (the scripts say which). Figures of others are
those of their files; the scenes are not the same.

| example | by | unknown | evaluations | steps | loss at first | loss found | published |
|---|---|---|---|---|---|---|---|
"""
POLYFEM = "PolyFEM (Huang et al. 2024) "
EXAMPLES = {     # unknown, published
    "identify": ("E and mu of a sliding block", POLYFEM + "Fig. 20: E and nu of two bodies, at most 20 steps; Fig. 21: mu, 5 steps"),
    "throw": ("velocity of a ball: off a wall into a bowl", POLYFEM + "Fig. 1: velocity of a body in a bowl, at most 20 steps, to a squared distance of 0.005"),
    "bridge": ("13 thicknesses of a bridge of fixed volume", POLYFEM + "Fig. 17: a bridge's material by element, at most 100 steps"),
    "drape": ("bending stiffness of cloth", "GIPC (Huang et al. 2024) Fig. 16: stretch stiffness of a garment, 200 s"),
}

losses, rows, curves = [], [], []
for name, (unknown, published) in EXAMPLES.items():
    lines = []
    for by in ("awk", "scipy"):
        path = os.path.join(FROM, name, by + ".tsv")
        if not os.path.exists(path):
            continue
        found = [line.rstrip("\n").split("\t") for line in open(path)]
        losses += [(name, by, str(i + 1), f[0], f[1], f[2], f[3]) for i, f in enumerate(found)]
        best, stages = [], 0
        for f in found:
            stages += f[0] == "1"
            best.append(float(f[2]) if f[0] == "1" or not best else min(best[-1], float(f[2])))
        steps = sum(1 for i, f in enumerate(found) if f[0] != "1" and (i + 1 == len(found) or found[i + 1][1] != f[1] or found[i + 1][0] == "1"))
        rows.append("| %s | %s | %s | %d | %s | %s | %.2e | %s |" % (name, by, unknown, len(found), steps if by == "awk" else "-",
                                                                    "%.2e" % float(found[0][2]), best[-1], published))
        lines.append((by, [(i + 1, L) for i, L in enumerate(best) if L > 0]))
    if lines:
        curves.append((name, "evaluations", "loss, m^2", lines))

with open(os.path.join(INTO, "adjoint-losses.tsv"), "w") as f:
    f.write("example\tby\trow\tevaluation\tstep\tloss\tderivative\n")
    f.writelines("\t".join(line) + "\n" for line in losses)
with open(os.path.join(INTO, "adjoint.md"), "w") as f:
    f.write(HEAD + "\n".join(rows) + "\n")
with open(os.path.join(INTO, "adjoint.svg"), "w") as f:
    f.write(panels(curves))
