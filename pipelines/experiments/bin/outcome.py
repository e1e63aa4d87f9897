"""What came of a run, in numbers, and whether it is what was expected.

    outcome.py TABLE.csv CONDITION [VERDICT]     TABLE: of `export --csv`;  prints "yes: end(ball.y) 0.312" or "**no**: ..."
    outcome.py --again CELL CONDITION VERDICT    the same of the numbers in what was printed before; status 1 where some lack

A condition is Python of numbers, compared, added, joined by `and`, `or`, `abs`; a number may be FUNCTION(COLUMN): start, end, least
or most of a column over all frames, of `ball.y` (m), `ball.vy` (m/s), or any name at the head of the table (`gap_m`, `contacts`).
`clean`: the VERDICT of ccd-check is that.  `partly: CONDITION`: it covers a part of what is published, and the rest did not come;
where it holds, the answer is "**no**, in part: ...".
"""
import csv, re, sys

TERM = r"\b(start|end|least|most)\(([^()]+)\)"


def column(rows, name):
    units = {name, name + "_m", name + "_m/s"}
    key = next((k for k in rows[0] if k in units), None)
    if key is None:
        raise SystemExit(f"outcome: no column '{name}'; there are: {' '.join(rows[0])}")
    values = [float(r[key]) for r in rows if r[key] != ""]
    if not values:
        raise SystemExit(f"outcome: column '{name}' has no number")
    return values


def decided(condition, verdict, number):
    """The answer; number(function, column) is what a term of the condition is."""
    found = {}

    def put(match):
        found[match.group()] = number(*match.groups())
        return repr(found[match.group()])

    partly, _, asked = condition.rpartition("partly: ")
    plain = re.sub(TERM, put, asked)
    clean = verdict.split(";")[0].strip() == "clean"
    words = ["clean" if clean else "not clean"] * bool(re.search(r"\bclean\b", plain)) + [f"{k} {v:.3g}" for k, v in found.items()]
    if not words:
        raise SystemExit(f"outcome: '{condition}' asks for no column")
    kept = eval(plain, {"__builtins__": {}, "abs": abs, "clean": clean})
    return ("**no**, in part: " if kept and condition != asked else "yes: " if kept else "**no**: ") + ", ".join(words)


def judge(path, condition, verdict=""):
    with open(path, encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    if not rows:
        raise SystemExit(f"outcome: {path} has no rows")

    def number(kind, name):
        v = column(rows, name)
        return {"start": v[0], "end": v[-1], "least": min(v), "most": max(v)}[kind]

    return decided(condition, verdict, number)


def again(cell, condition, verdict):
    """As judge, of the numbers in a cell, which are rounded: an answer to the same terms stays, but for whether it is in part."""
    early = "so far " * cell.startswith("so far ")
    said, _, words = cell.removeprefix("so far ").partition(": ")
    have = {m.group(): float(m.group(3)) for m in re.finditer(TERM + r" (\S+?)(?=, |$)", words)}
    have = {k.rsplit(" ", 1)[0]: v for k, v in have.items()}
    asked = {m.group() for m in re.finditer(TERM, condition)} | set(re.findall(r"\bclean\b", condition))
    if asked == set(have) | set(re.findall(r"^(?:not )?(clean)\b", words)):
        held = said in ("yes", "**no**, in part")
        return early + (said if not held else "**no**, in part" if "partly: " in condition else "yes") + ": " + words
    lack = sorted(asked - set(have) - {"clean"})
    if lack:
        raise SystemExit(f"outcome: not in the cell: {', '.join(lack)}")
    return early + decided(condition, verdict, lambda kind, name: have[f"{kind}({name})"])


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--again":
        print(again(*sys.argv[2:]))
    elif len(sys.argv) in (3, 4):
        print(judge(*sys.argv[1:]))
    else:
        raise SystemExit(__doc__)
