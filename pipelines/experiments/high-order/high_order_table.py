#!/usr/bin/env python3
"""high_order_table.py RESULTS: the runs in RESULTS.tsv as errors, rates and costs in RESULTS.md, and as curves in RESULTS.svg."""
import collections
import math
import os
import sys
import textwrap

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "../bin"), here]
import curves  # noqa: E402
from high_order_error import DEPTH, DHAT, finite_ball_force, hertz_force  # noqa: E402

Run = collections.namedtuple("Run", "order cells unknowns triangles iterations seconds errors verdict")
LEVELS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
TITLES = {
    "beam": ("A clamped beam bends", ("deflection", "elastic energy"), """\
The beam of 1 x 8 x 1 m of `tests/unit/test_high_beam.c` under 2000 N/m^3 across it, Poisson's ratio 0.4, in equilibrium; meshes have
*cells* x 8 *cells* x *cells* cells of six tets. Deflection: mean of the four corners of its end. Both errors are relative to the
reference: order %(order)d, %(cells)d cells, %(unknowns)d unknowns, deflection %(first).6g m, energy %(second).6g J."""),
    "twist": ("Two bars wind about each other", ("torque", "elastic energy"), """\
A body of two bars of 0.8 x 0.8 m, 0.4 m apart, and a block at either end of them; the ends rotate by 150 degrees against each other in
five equilibria, and the bars touch: contact of a body with itself. A mesh has *cells* cells for each of the 14 coarse ones. All
meshes have one contact surface of %(segments)d segments to a coarse cell, so that their errors are those of the tets. Both are relative to
the reference: order %(order)d, %(cells)d cells, %(unknowns)d unknowns, torque %(first).6g Nm, energy %(second).6g J."""),
    "hertz": ("A ball between two plates (Hertz)", ("force", "pressure"), """\
A ball of 1 m between rigid plates that come %(depth)g m nearer to its centre each, so that the radius of contact is %(contact).2g m. Meshes
have *cells* cells over the diameter, finer at the plates; contact has the nodes of the surface as its vertices. Plates act from dhat
= %(dhat)g m on, so d of F(d) = 4/3 E* sqrt(R) d^1.5 is the depth and the mean gap of the vertices that touch, weighed by their forces.
Error of the force: of F / F(d), relative to the reference: order %(order)d, %(cells)d cells, %(unknowns)d unknowns, F / F(d) = %(first).4f. Hertz's formula is that of a half-space:
with the displacement that the load on the other side causes at a distance of 2 R (Boussinesq) theory has %(theory).4f. Error of the
pressure: L2 norm on the surface, relative to that of Hertz's p0 sqrt(1 - r^2/a^2), p0 = 3 F(d)/(2 pi a^2), a = sqrt(R d); the pressure is
the field of the order of the tets whose loads are the contact forces of the nodes. Theory itself is off by a few percent there."""),
    "ball": ("The shape of a ball", ("volume", "radius"), """\
The ball of 20 *cells*^2 tets around its centre, of geometry of the order of the tets, at rest. Errors: of the volume, relative, and of
the radius, the root of the mean square over the surface; both against the exact ball."""),
}


def read(path):
    """{case: (reference or None, segments, [rows])} of a .tsv"""
    cases = {}
    with open(path) as f:
        text = [line for line in f if not line.startswith("#")]
        names = text[0].rstrip("\n").split("\t")
        for line in text[1:]:
            row = dict(zip(names, line.rstrip("\n").split("\t")))
            for name in ("order", "cells", "unknowns", "segments", "triangles", "iterations"):
                row[name] = int(row[name])
            for name in ("first", "second", "seconds"):
                row[name] = float(row[name])
            cases.setdefault(row["case"], []).append(row)
    return cases


def compared(case, rows):
    """(reference or None, runs that are smaller than half of it, with errors)"""
    finest = max((r for r in rows if r["role"] == "reference"), key=lambda r: r["unknowns"], default=None)
    if case != "ball" and finest is None:
        return None, []
    rows = [r for r in rows if r["role"] == "run" and (not finest or
            (2 * r["unknowns"] <= finest["unknowns"] and r["segments"] == finest["segments"]))]
    runs = []
    for r in sorted(rows, key=lambda r: (r["order"], r["cells"])):
        errors = [abs(r["first"]), abs(r["second"])]
        if finest:
            errors[0] = abs(r["first"] / finest["first"] - 1)
        if finest and case != "hertz":
            errors[1] = abs(r["second"] / finest["second"] - 1)
        runs.append(Run(r["order"], r["cells"], r["unknowns"], r["triangles"], r["iterations"], r["seconds"], errors, r["verdict"]))
    return finest, runs


def rate(runs, which):
    """Least squares of -log error over log cells through the last three meshes of an order; None for fewer than two."""
    pairs = [(math.log(r.cells), -math.log(r.errors[which])) for r in runs[-3:] if r.errors[which] > 0]
    if len(pairs) < 2:
        return None
    x, y = (sum(p[i] for p in pairs) / len(pairs) for i in range(2))
    return sum((a - x) * (b - y) for a, b in pairs) / sum((a - x) ** 2 for a, _ in pairs)


def own_error(finest, runs):
    """About what the reference is off by: the error of its order on the next coarser mesh, less by the rate of that order, or of
    the highest one that has two meshes."""
    coarser = [r for r in runs if r.order == finest["order"]]
    rates = [v for v in (rate(of, 0) for k, of in orders(runs) if k <= finest["order"]) if v is not None]
    if not coarser or not rates:
        return 0.0
    return coarser[-1].errors[0] * (coarser[-1].cells / finest["cells"]) ** rates[-1]


def cost(runs, level, what, least):
    """Unknowns or seconds at which the error of an order falls to the level, between two meshes on a straight line of logarithms;
    none at levels below the least error that is known."""
    if level < least:
        return "-"
    if runs[0].errors[0] <= level:
        return "<= %.3g" % getattr(runs[0], what)
    for a, b in zip(runs, runs[1:]):
        if b.errors[0] <= level:
            t = math.log(a.errors[0] / level) / math.log(a.errors[0] / max(b.errors[0], 1e-300))
            p, q = getattr(a, what), getattr(b, what)
            return "%.3g" % (p * (q / p) ** t) if p > 0 and q > 0 else "-"
    return "-"


def orders(runs):
    return [(k, [r for r in runs if r.order == k]) for k in range(1, 5) if any(r.order == k for r in runs)]


def section(case, finest, runs):
    title, names, text = TITLES[case]
    known = dict(finest or {}, depth=DEPTH, dhat=DHAT, contact=math.sqrt(DEPTH), theory=finite_ball_force(DEPTH) / hertz_force(DEPTH))
    out = ["## " + title, "", textwrap.fill(text % known, 130, break_on_hyphens=False), ""]
    timed = case != "ball"
    out += ["| order | cells | unknowns | %serror: %s | %s |" % ("triangles | Newton its | s | " if timed else "", *names)
            + (" verdict |" if timed else ""), "|---" * (9 if timed else 5) + "|"]
    least = 2 * own_error(finest, runs) if finest else 0.0
    known_well = [r for r in runs if r.errors[0] >= least]
    for r in runs:
        solved = "%d | %d | %.3g | " % (r.triangles, r.iterations, r.seconds) if timed else ""
        mark = "" if r.errors[0] >= least else " *"
        out.append("| P%d | %d | %d | %s%.3g%s | %.3g |" % (r.order, r.cells, r.unknowns, solved, r.errors[0], mark, r.errors[1])
                   + (" %s |" % r.verdict if timed else ""))
    fitted = [(k, [rate(of, i) for i in range(2)]) for k, of in orders(known_well)]
    rates = "; ".join("P%d %s" % (k, ", ".join("%s %.2f" % (n, r) for n, r in zip(names, both)))
                      for k, both in fitted if both[0] is not None)
    if finest:
        out += ["", "The reference itself is off by about %.1g%s." % (
            least / 2, "; *: less than twice that" if len(known_well) < len(runs) else "")]
    if rates:
        out += ["", textwrap.fill("Rates in cells (least squares over the last three meshes): %s." % rates, 130)]
    for what, unit in (("unknowns", "Unknowns"), ("seconds", "Seconds")) if timed else (("unknowns", "Unknowns"),):
        out += ["", "| %s for an error of the %s of | %s |" % (unit, names[0], " | ".join("%g" % v for v in LEVELS)),
                "|---" * (len(LEVELS) + 1) + "|"]
        out += ["| P%d | %s |" % (k, " | ".join(cost(of, v, what, least) for v in LEVELS)) for k, of in orders(runs)]
    return out + [""]


HEAD = """# Error of tets of order 1 to 4 against their cost

Made by `UNKNOWNS=%s BUDGET=%s high-order-error.sh`, which keeps the runs in the .tsv beside this table. Seconds are processor
time of one thread. The reference has at least twice as many unknowns as any row; what it is off by itself follows from the rate of
its order. Costs between two meshes are interpolated; "<=": the coarsest mesh has a smaller error, "-": no mesh has. *Clean*: `ccd-check` found no
collision in any frame or on the path between two, judged exactly, and no tet whose Jacobian determinant is not positive.

![Errors over unknowns and over seconds](%s)
"""


def main(results):
    cases = read(results + ".tsv")
    out, drawn = [HEAD % (os.environ["UNKNOWNS"], os.environ["BUDGET"], os.path.basename(results) + ".svg")], []
    for case in TITLES:
        if case not in cases:
            continue
        finest, runs = compared(case, cases[case])
        if not runs:
            continue
        out += section(case, finest, runs)
        for what in ("unknowns", "seconds") if case != "ball" else ("unknowns",):
            of = [("P%d" % k, [(getattr(r, what), r.errors[0]) for r in rows if getattr(r, what) > 0 and r.errors[0] > 0])
                  for k, rows in orders(runs)]
            drawn.append((TITLES[case][0], what, "error: " + TITLES[case][1][0], [c for c in of if c[1]]))
    with open(results + ".md", "w") as f:
        f.write("\n".join(out).rstrip("\n") + "\n")
    with open(results + ".svg", "w") as f:
        f.write(curves.panels(drawn))
    print("%s.md, %s.svg" % (results, results))


if __name__ == "__main__":
    main(sys.argv[1])
