#!/usr/bin/env python3
"""What became of a run of sqp.sh, and the table of all of them.

    sqp_outcome.py line SCENE H OFFSET COLUMN STEPS STATUS VERDICT RUN
        one line: scene, h, offset, column, outcome, at step, steps made, steps, iterations a step, seconds a step.  STATUS of step,
        VERDICT of ccd-check on what was written (0: no collision); RUN.jsonl, RUN.log: report and messages
    sqp_outcome.py table RESULTS NEW
        lines of NEW replace those of RESULTS; the table on standard output"""
import json, os, re, sys

WHY = (("exclude each other", "infeasible"), ("quadratic program of", "program unsolved"), ("lowers the penalty", "stalls"),
       ("not converged after", "not converged"), ("no finite energy", "inverted"), ("pivot", "no factor"))
COLUMNS = ["newton", "sqp-gap", "sqp-volume", "sqp-impact", "qp-gap", "qp-volume", "qp-impact"]
HEAD = """# Linearised inequalities beside the barrier

Made by `sqp.sh`, with other
`H` and `OFFSET` for some scenes, and `H=0.04 BUDGET=15` for the mat; an empty cell was not run, and the barrier has no offset.
`sqp`: a quadratic program with the objective and the inequalities of each iterate; `qp`: one fixed quadratic a step.
`gap`, `volume`, `impact`: what a pair may not do ([keys](../../../formats/SCENE.md#linearised-inequalities)). `newton`: the barrier.
A cell has the outcome, iterations a step (quadratic programs, or Newton's), and ms of processor time a step.

- *converged*: all steps were made, and `ccd-check` found no collision in any frame or between two.
- *intersects n*: `ccd-check` found one; n is the first step that the judge within `step` counted. The run went on.
- *inverts n*: likewise an element that inverted, of a material that forbids it, and no collision.
- *infeasible n*, *program unsolved n*, *stalls n*, *not converged n*, *inverted n*, *no factor n*: `step` stopped at step n
  with exit code 4: a program without a solution; one that 200 iterations do not solve; no step along its solution lowers the
  penalty; 200 programs are not enough; an element has no finite energy; a matrix is not positive definite. What was written before
  is free of collisions.
- *budget n*: after n steps the processor time was used up; no collision up to there.

Published (Li et al. 2020, of re-implementations on 30 scenes, h and offset of 1e-2 to 1e-5, projected gaps, volumes and gaps at
impacts, all quadratic programs or one a step): success needs a small h or a large offset; large offsets make programs infeasible,
or start violated and rarely recover; the barrier converges on all scenes at all h. No outcome of a single scene is in what we have.
The last line of the table counts ours: most converge, at h 0.025 and an offset of 1e-3, too, where the source needs a smaller h or a
larger offset. Why is unexplained: the source has one rate of success for all scenes, and solvers and penalties of its own.

"""


def first_hit(reports):
    return next((r["step"] for r in reports if r.get("sqp", {}).get("hits", 0)), 0)


def line(scene, h, offset, column, steps, status, verdict, run):
    with open(run + ".jsonl", encoding="utf-8") as f:
        reports = []
        for text in f:
            try:
                reports.append(json.loads(text))
            except ValueError:
                break                   # cut by the limit of processor time
    with open(run + ".log", encoding="utf-8") as f:
        log = f.read()
    made = len(reports) - (status == "4")
    at, outcome = made, "converged"
    if verdict not in "01":
        sys.exit(f"{scene} {column}: ccd-check ends with status {verdict}")
    if verdict == "1":
        with open(run + ".judge", encoding="utf-8") as f:
            judged = f.read()
        outcome, at = "inverts" if "invert" in judged and "no collision" in judged else "intersects", first_hit(reports)
    elif status == "4":
        outcome, at = next((word for text, word in WHY if text in log), None), made + 1
        if outcome is None:
            sys.exit(f"{scene} {column}: why it stopped is not known: {log}")
    elif int(status) >= 128:
        outcome = "budget"
    elif status != "0":
        sys.exit(f"{scene} {column}: step ends with status {status}: {log}")
    done = reports[:made] or reports
    its = sum(r["newton_iterations"] for r in done) / max(len(done), 1)
    cpu = sum(r["cpu_seconds"] for r in done) / max(len(done), 1)
    print(scene, h, offset, column, outcome, at, made, steps, f"{its:.2f}", f"{cpu:.4g}", sep="\t")


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        rows = [l.rstrip("\n").split("\t") for l in f if not l.startswith(("#", "scene\t"))]
    return {tuple(r[:4]): r for r in rows}


def cell(row):
    if row is None:
        return ""
    outcome, at, its, cpu = row[4], row[5], row[8], float(row[9])
    where = "" if outcome == "converged" else f" {at}"
    return f"{outcome}{where}; {float(its):.3g}; {1000 * cpu:.3g} ms"


def table(results, new):
    rows = read(results)
    order = {k: i for i, k in enumerate(rows)}
    rows.update(read(new))
    for k in rows:
        order.setdefault(k, len(order))
    with open(results, "w", encoding="utf-8") as f:
        print("scene", "h, s", "offset, m", "column", "outcome", "at step", "steps made", "of", "iterations a step", "seconds a step",
              sep="\t", file=f)
        for k in sorted(rows, key=order.get):
            print("\t".join(rows[k]), file=f)
    keys = list(dict.fromkeys(k[:3] for k in sorted(rows, key=order.get)))
    print(HEAD, end="")
    print("| scene | h, s | offset, m | " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * (3 + len(COLUMNS)))
    for k in keys:
        print(f"| {k[0]} | {k[1]} | {k[2]} | " + " | ".join(cell(rows.get(k + (c,))) for c in COLUMNS) + " |")
    sums = []
    for c in COLUMNS:
        mine = [r for k, r in rows.items() if k[3] == c]
        sums.append(f"{sum(r[4] == 'converged' for r in mine)} of {len(mine)}")
    print("| converged | | | " + " | ".join(sums) + " |")


if __name__ == "__main__":
    {"line": line, "table": table}[sys.argv[1]](*sys.argv[2:])
