#!/usr/bin/env python3
"""One row of the tables of nodal.sh, of a run whose reports and table are RUN.jsonl and RUN.csv.  VERDICT: "clean", or how
the run ended.

    nodal_outcome.py [--short] NAME SCENE RUN VERDICT [STEPS]
        outcome, its rule and whether it is kept, steps, seconds, contacts, iterations, refused steps; --short: without a rule.
        A run of fewer than STEPS steps is cut: its end is not the one that the rule is about
    nodal_outcome.py --side NAME SCENE RUN VERDICT
        speed, creep, gap, penetration, iterations, seconds, memory, refused steps

Status 1: the rule is not kept, or the verdict is not the one expected."""
import csv, json, math, sys


def read(run):
    with open(run + ".csv", encoding="utf-8") as f:
        table = [{k: number(v) for k, v in row.items()} for row in csv.DictReader(f)]
    with open(run + ".jsonl", encoding="utf-8") as f:
        return table, [json.loads(line) for line in f]


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def speed(row, name):
    return math.sqrt(sum(row[f"{name}.v{k}_m/s"] ** 2 for k in "xyz"))


def moved(table, name, axis):
    return table[-1][f"{name}.{axis}_m"] - table[0][f"{name}.{axis}_m"]


def counts(reports):
    n = [r.get("nodal", {}).get("repaired", 0) for r in reports]
    return n.count(1), n.count(2)


# ---- outcomes: what became of it in words and numbers, the rule, whether it is kept ----

def slope(name, t, reports):
    mu, end, half = float(name.split("-")[1]), t[-1], t[len(t) // 2]
    g = (end["block.vx_m/s"] - half["block.vx_m/s"]) / (end["time_s"] - half["time_s"])
    want = max(0, 8.774330743470026 * (0.5 - mu))
    v = speed(end, "block")
    if want == 0:
        return f"speed {v:.2g} m/s after 1 s", "below 1e-9 m/s", v < 1e-9
    return f"acceleration {g:.8g} m/s^2, off by {abs(g / want - 1):.1g}", f"{want:.7g} to 1e-6", abs(g / want - 1) < 1e-6


def capstan(name, t, reports):
    x, v = 1000 * abs(moved(t, "rope", "x")), speed(t[-1], "rope")
    words = f"centre moved {x:.3g} mm, speed {v:.2g} m/s"
    if name in ("capstan-2.4", "capstan-4.0"):
        return words, "holds: below 2 mm and 1 mm/s", x < 2 and v < 1e-3
    return words, "slides: 10 mm or more", x >= 10


def rope(name, t, reports):
    drop, v = -1000 * moved(t, "block", "y"), speed(t[-1], "block")
    words = f"block {drop:.3g} mm lower after {t[-1]['time_s']:.3g} s, speed {v:.2g} m/s"
    if name == "rope-0.5":
        return words, "locks: below 10 mm and 1 mm/s", drop < 10 and v < 1e-3
    return words, "unravels: 200 mm or more", drop >= 200


def cards(name, t, reports):
    drop, v = -1000 * moved(t, "right20", "y"), speed(t[-1], "right20")
    words = f"a top card {drop:.3g} mm lower after {t[-1]['time_s']:.3g} s, speed {v:.2g} m/s"
    if name == "cards-0.6":
        return words, "up: below 2 mm and 1 mm/s", drop < 2 and v < 1e-3
    return words, "down: 300 mm or more", drop >= 300


def belt(name, t, reports):
    v = math.sqrt(2 * t[-1]["kinetic_J"] / (500 * 2 * math.pi * 0.1 * 0.1 * 1e-3))
    rollers = math.pi * 0.0425      # at the middle of the cloth
    return f"belt at {v:.3g} m/s, rollers at {rollers:.3g} m/s there", "0.9 to 1 of theirs", 0.9 <= v / rollers <= 1


def drag(name, t, reports):
    end = t[-1]
    x, y, z = (end[f"sheet.{k}_m"] for k in "xyz")
    return f"sheet's centre at ({x:.2f}, {y:.3f}, {z:.2f}) m", "led round, on the floor: within 0.3 m of its start, below 50 mm", \
        math.hypot(x, z) < 0.3 and y < 0.05


def pinch(name, t, reports):
    rounds, barrier = counts(reports)
    if name == "pinch-refused":
        return f"refused after {len(reports)} steps", "exit 4, never an intersection", True
    if name == "pinch":
        return f"{rounds + barrier} steps refused and mended", "some, and no intersection", rounds + barrier > 0
    v = speed(t[-1], "sheet")
    return f"sheet at {v:.2g} m/s after {t[-1]['time_s']:.3g} s", "below 10 mm/s, no intersection", v < 0.01


def drape(name, t, reports):
    v = speed(t[-1], "sheet")
    y = t[-1]["sheet.y_m"]
    return f"sheet at {v:.2g} m/s, its centre {1000 * y:.3g} mm high", "on what it fell on (above -150 mm), below 20 mm/s", v < 0.02 and y > -0.15


def blobs(name, t, reports):
    low = min(v for k, v in t[-1].items() if k.startswith("ball") and k.endswith(".y_m"))
    most, end = max(r["kinetic_J"] for r in t), t[-1]["kinetic_J"]
    return f"lowest centre {1000 * low:.3g} mm, kinetic energy {end:.2g} J of {most:.2g} J", \
        "in the bowl or on the floor: above -220 mm; a tenth of the energy", low > -0.22 and end < most / 10


def sticky(name, t, reports):
    x = 1000 * moved(t, "hair", "x")
    n = reports[-1]["contacts"]
    v = speed(t[-1], "hair")
    words = f"hair {x:.2g} mm aside at {1000 * v:.2g} mm/s, {n} contacts at the end"
    if name == "sticky-patch-dry":
        return words, "slips off, but for what leans on the sphere: at rest below 10 mm, 1000 contacts", \
            abs(x) < 10 and n < 1000 and v < 1e-3
    return words, "clings to the sphere: at rest beyond 30 mm, 10000 contacts", x >= 30 and n >= 10000 and v < 1e-3


def spikes(name, t, reports):
    apart = 1000 * (t[-1]["spikes.y_m"] - t[-1]["sheet.y_m"])
    rounds, barrier = counts(reports)
    words = f"ball {apart:.3g} mm above the sheet's centre"
    if name == "spikes-starved":
        return words, "no spike through, some steps mended", apart > 0 and rounds + barrier > 0
    return words, "no spike through, none by the barrier", apart > 0 and barrier == 0


def hair_band(name, t, reports):
    late = [row for row in t if row["time_s"] > 0.2] or t      # it has closed around the hair
    slid = 1000 * (moved(late, "band", "y") - moved(late, "hair", "y"))
    return f"band {slid:.2g} mm against the hair after 0.2 s", "stays: within 3 mm", abs(slid) < 3


def hairy_ball(name, t, reports):
    v, most = speed(t[-1], "hair"), max(speed(r, "hair") for r in t)
    barrier = counts(reports)[1]
    return f"hair's centre at {1000 * v:.2g} mm/s, {1000 * most:.3g} mm/s at most", \
        "below 1 mm/s in the end, none by the barrier", v < 1e-3 and barrier == 0


OUTCOMES = {"slope": slope, "capstan": capstan, "rope": rope, "card-house": cards, "belt": belt, "drag": drag, "pinch": pinch,
            "cloth-on-ball": drape, "box-and-cone": drape, "blobs": blobs, "sticky-patch": sticky, "spikes": spikes,
            "hair-band": hair_band, "hairy-ball": hairy_ball}


# ---- rows ----

def mean(reports, of):
    return sum(map(of, reports)) / max(1, len(reports))


def iterations(r):
    return r["nodal"]["admm_iterations"] if "nodal" in r else r["newton_iterations"]


def row(name, scene, run, verdict, steps, short):
    table, reports = read(run)
    words, rule, kept = OUTCOMES[scene](name, table, reports)
    expected = "clean; step ends with status 4" if name == "pinch-refused" else "clean"
    clean = verdict.startswith(expected)
    cut = expected == "clean" and len(reports) < steps
    kept = "" if short else f"cut, {steps} wanted" if cut else "yes" if kept else "no"
    most = max((r["contacts"] + r["half_space_contacts"] for r in reports), default=0)
    rounds, barrier = counts(reports)
    print(f"| {name} | {words}{'' if clean else '; ' + verdict} | {rule} | {kept} | {len(reports)} |"
          f" {mean(reports, lambda r: r['cpu_seconds']):.2g} | {most} | {mean(reports, iterations):.3g} | {rounds}, {barrier} |")
    return 0 if clean and kept != "no" else 1


def side(name, scene, run, verdict):
    table, reports = read(run)
    body = {"slope": "block", "capstan": "rope", "card-house": "right20", "cloth-on-ball": "sheet", "hairy-ball": "hair"}[scene]
    last = reports[-1]
    creep = last["nodal"]["coulomb_residual"] if "nodal" in last else last["creep_max"]
    beyond = max((r["nodal"]["penetration"] for r in reports), default=0) if "nodal" in last else None
    gap = min((r["gap_m"] for r in table if not math.isnan(r["gap_m"])), default=math.nan)
    rounds, barrier = counts(reports)
    print(f"| {name} | {speed(table[-1], body):.2g} | {creep or 0:.2g} | {gap:.3g} | {'none' if beyond is None else f'{beyond:.2g}'} |"
          f" {mean(reports, iterations):.3g} | {mean(reports, lambda r: r['cpu_seconds']):.2g} | {last['memory_peak'] / 1e6:.3g} |"
          f" {rounds}, {barrier} |{'' if verdict == 'clean' else ' ' + verdict}")
    return 0 if verdict == "clean" else 1


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    rest = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(rest) not in (4, 5) or options not in ([], ["--short"], ["--side"]) or len(rest) == 5 and not rest[4].isdigit():
        sys.exit(__doc__)
    steps = int(rest[4]) if len(rest) == 5 else 0
    sys.exit(side(*rest[:4]) if options == ["--side"] else row(*rest[:4], steps, options == ["--short"]))


main()
