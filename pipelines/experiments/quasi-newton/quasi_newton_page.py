"""Markdown and curves of the table of quasi-newton.sh."""
import re

TITLES = {
    "q1": "Q1: a curtain, error of one step (Liu 2018, figure 5.1)", "q2": "Q2: stiffness of the curtain (figure 5.3, left)",
    "q3": "Q3: its resolution, stiffness in proportion (figure 5.3, right)", "q4": "Q4: a brush pressed on a ball (figure 5.4)",
    "q5": "Q5: a sleeve around a limb that moves (figure 5.5)", "q6": "Q6: soft limits of stretch (figure 6.1)",
    "q7": "Q7: weights of strain and volume (figure 6.2)", "q8": "Q8: materials (figure 7.1)",
    "q9": "Q9: a ball with its nodes anywhere (figure 7.2)", "q10": "Q10: a twisted bar, initial matrices (figures 7.3 to 7.8)",
    "q11": "Q11: a stretched cube in three orientations (figure 7.4, table 7.1)", "q12": "Q12: fibres (figure 8.1)",
    "q13": "Q13: a torn flag (figure 8.2)", "q14": "Q14: a body pulled through a torus (figure 8.3)",
}


def page(table, name):
    """One table for each experiment: cases down, measures across; `other` beside the value where there is one."""
    out = ["# Quasi-Newton and projective dynamics", "",
           f"Made by `quasi-newton.sh` of [{name}.tsv]({name}.tsv); curves: [{name}.svg]({name}.svg).",
           "In brackets: what another implementation of the same scene has, or what is promised. What the numbers say:",
           "[experiments](README.md).", ""]
    for experiment, title in TITLES.items():
        rows = [r for r in table if r[0] == experiment]
        if not rows:
            continue
        cases, measures = list(dict.fromkeys(r[1] for r in rows)), list(dict.fromkeys(r[2] for r in rows))
        cell = {(r[1], r[2]): r[3] if r[4] == "-" else f"{r[3]} ({r[4]})" for r in rows}
        short = [re.sub(r"^error, (\d+) iterations$", r"\1", m) for m in measures]
        head = "case, errors after iterations" if short != measures else "case"
        short = [m.replace("of it collision detection", "collision detection, part of that") for m in short]
        out += [f"## {title}", "", f"| {head} | " + " | ".join(short) + " |", "|---" * (len(measures) + 1) + "|"]
        out += ["| " + " | ".join([c] + [cell.get((c, m), "") for m in measures]) + " |" for c in cases] + [""]
    return "\n".join(out).rstrip() + "\n"


def curve(table, experiment, case):
    found = [(int(m.group(1)), float(r[3])) for r in table if r[0] == experiment and r[1] == case
             and (m := re.fullmatch(r"error, (\d+) iterations", r[2]))]
    return [(k, max(e, 1e-12)) for k, e in found]


def panels(table):
    """Errors over iterations: two panels of curtains, initial matrices, histories; errors over stiffness and resolution."""
    out = []
    for history in (0, 5):
        found = [(f"{k} N/m", curve(table, "q1", f"{k} N/m, history {history}")) for k in (100, 1000, 10000)]
        if all(c for _, c in found):
            out.append((f"Curtain, history {history}", "iterations", "relative error", found))
    matrices = ("lbfgs-pd", "lbfgs-rest", "lbfgs-warped", "lbfgs-id", "newton", "newton, cg to 1e-1")
    histories = [f"constant matrix, {h}" for h in ("no history", "history 2", "history 5", "history 10", "0.8 to 1.2")]
    for title, names in (("Twisted bar: matrices, history 5", matrices), ("Twisted bar: histories", histories)):
        found = [(n.replace("constant matrix, ", ""), curve(table, "q10", n)) for n in names]
        if all(c for _, c in found):
            out.append((title, "iterations", "relative error", found))
    sweeps = ("q2", "Curtain: stiffness", "stiffness, N/m"), ("q3", "Curtain: resolution", "nodes along a side")
    for experiment, title, label in sweeps:
        found = []
        for h in (0, 5):
            points = [(int(re.match(r"\d+", r[1]).group()), float(r[3])) for r in table
                      if r[0] == experiment and r[1].endswith(f"history {h}") and r[2].startswith("error")]
            found.append((f"history {h}", points))
        if all(p for _, p in found):
            out.append((title, label, "error, 10 iterations", found))
    return out
