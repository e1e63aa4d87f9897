#!/usr/bin/env python3
"""One row of the tables of pipelines/nodal.sh, of a run whose report and table are RUN.jsonl and RUN.csv.

    pipelines/nodal_outcome.py NAME SCENE RUN          outcome, steps, seconds, contacts, mended, verdict
    pipelines/nodal_outcome.py --side NAME SCENE RUN   speed, creep, gap, iterations, seconds, memory, mended
"""
import csv, json, math, sys


def read(run):
    with open(run + ".csv", encoding="utf-8") as f:
        table = [{k: float(v) if v else math.nan for k, v in row.items() if k != "min_det_F_object"} for row in csv.DictReader(f)]
    with open(run + ".jsonl", encoding="utf-8") as f:
        return table, [json.loads(line) for line in f]


def speed(row, name):
    return math.sqrt(sum(row[f"{name}.v{k}_m/s"] ** 2 for k in "xyz"))


def moved(table, name, axis):
    return table[-1][f"{name}.{axis}_m"] - table[0][f"{name}.{axis}_m"]


def outcome(scene, name, t):
    """What became of it, in words and numbers."""
    end = t[-1]
    if scene == "slope":
        half, h = t[len(t) // 2], end["time_s"] - t[len(t) // 2]["time_s"]
        g = (end["block.vx_m/s"] - half["block.vx_m/s"]) / h
        mu = float(name.split("-")[1])
        want = max(0, 8.774330743470026 * (0.5 - mu))
        return f"speed {speed(end, 'block'):.2g} m/s, acceleration {g:.7g} m/s^2 (theory {want:.7g})"
    if scene == "capstan":
        return f"{'holds' if abs(moved(t, 'rope', 'x')) < 2e-3 else 'slides'}: centre moved {1000 * moved(t, 'rope', 'x'):.3g} mm," \
               f" speed {speed(end, 'rope'):.2g} m/s"
    if scene == "rope":
        drop = -moved(t, "block", "y")
        return f"{'locked' if drop < 0.02 else 'runs off'}: block {1000 * drop:.3g} mm lower, speed {speed(end, 'block'):.2g} m/s"
    if scene == "card-house":
        drop = -moved(t, "right20", "y")
        return f"{'stands' if drop < 0.03 else 'comes down'}: a top card {1000 * drop:.3g} mm lower, speed {speed(end, 'right20'):.2g} m/s"
    if scene == "belt":
        mass = 500 * 2 * math.pi * 0.1 * 0.1 * 1e-3
        v = math.sqrt(2 * end["kinetic_J"] / mass)
        return f"belt goes at {v:.3g} m/s (rollers {math.pi * 0.0425:.3g} at its middle)"
    if scene == "spikes":
        return f"ball and sheet {1000 * (end['spikes.y_m'] - end['sheet.y_m']):.3g} mm apart, no spike through"
    if scene == "hair-band":
        late = [row for row in t if row["time_s"] > 0.2]       # it has closed around the hair
        slid = 1000 * (moved(late, "band", "y") - moved(late, "hair", "y"))
        return f"{'stays' if abs(slid) < 5 else 'slides off'}: band {slid:.2g} mm against the hair after 0.2 s"
    if scene in ("drag", "cloth-on-ball", "box-and-cone", "pinch"):
        return f"sheet at {speed(end, 'sheet'):.2g} m/s at the end"
    return f"kinetic energy {end['kinetic_J']:.2g} J at the end"


def mended(reports):
    n = [r.get("nodal", {}).get("repaired", 0) for r in reports]
    return f"{n.count(1)}, {n.count(2)}"


def seconds(reports):
    return sum(r["seconds"]["total"] for r in reports) / len(reports)


def iterations(r):
    return r["nodal"]["admm_iterations"] if "nodal" in r else r["newton_iterations"]


def main():
    side = sys.argv[1:2] == ["--side"]
    if len(sys.argv) != 4 + side:
        sys.exit(__doc__)
    name, scene, run = sys.argv[1 + side:]
    table, reports = read(run)
    if not side:
        most = max(r["contacts"] + r["half_space_contacts"] for r in reports)
        print(f"| {name} | {outcome(scene, name, table)} | {len(reports)} | {seconds(reports):.2g} | {most} | {mended(reports)} | no collision |")
        return
    body = {"slope": "block", "capstan": "rope", "card-house": "right20", "cloth-on-ball": "sheet", "hairy-ball": "hair"}[scene]
    last = reports[-1]
    creep = last["creep_max"] if "nodal" not in last and last["creep_max"] is not None else math.nan
    print(f"| {name} | {speed(table[-1], body):.2g} | {'exact' if 'nodal' in last else f'{creep:.2g}'} | {table[-1]['gap_m']:.3g} |"
          f" {sum(map(iterations, reports)) / len(reports):.3g} | {seconds(reports):.2g} | {last['memory_peak'] / 1e6:.3g} |"
          f" {mended(reports)} |")


main()
