"""What came of a run, in numbers, and whether it is what was expected.

    pipelines/outcome.py TABLE.csv CONDITION        TABLE: of `export --csv`;  prints "yes: end(ball.y) 0.312" or "**no**: ..."

A condition is Python of numbers, compared, added, joined by `and`, `or`, `abs`; a number may be FUNCTION(COLUMN): start, end, least
or most of a column over all frames, of `ball.y` (m), `ball.vy` (m/s), or any name at the head of the table (`gap_m`, `contacts`).
"""
import csv, re, sys


def column(rows, name):
    units = {name, name + "_m", name + "_m/s"}
    key = next((k for k in rows[0] if k in units), None)
    if key is None:
        raise SystemExit(f"outcome: no column '{name}'; there are: {' '.join(rows[0])}")
    values = [float(r[key]) for r in rows if r[key] != ""]
    if not values:
        raise SystemExit(f"outcome: column '{name}' has no number")
    return values


def judge(path, condition):
    with open(path, encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    if not rows:
        raise SystemExit(f"outcome: {path} has no rows")
    found = {}

    def number(match):
        kind, name = match.groups()
        v = column(rows, name)
        found[match.group()] = {"start": v[0], "end": v[-1], "least": min(v), "most": max(v)}[kind]
        return repr(found[match.group()])

    plain = re.sub(r"\b(start|end|least|most)\(([^()]+)\)", number, condition)
    if not found:
        raise SystemExit(f"outcome: '{condition}' asks for no column")
    kept = eval(plain, {"__builtins__": {}, "abs": abs})
    return ("yes: " if kept else "**no**: ") + ", ".join(f"{k} {v:.3g}" for k, v in found.items())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(judge(*sys.argv[1:]))
