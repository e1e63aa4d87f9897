"""Compares two results of `tests/corpus make`: names of runs on stdin, folders as arguments.  Exit 1 where frames differ.
MOTION=1: positions, velocities and iterations have to be the same; arrays that are added or corrected are named, and count not."""
import json
import os
import sys

import numpy as np

import abut_stream


def frames(path):
    for item in abut_stream.read(path):
        yield item


def length_of(model):
    X = model["node/X"]
    return float(np.linalg.norm(X.max(axis=0) - X.min(axis=0))) if len(X) else 1.0


def present(item):
    """Its arrays by their present names."""
    now = {then: name for name, then in abut_stream.ALIASES.items()}
    return {now.get(name, name): array for name, array in item.arrays.items()}


def first_difference(a, b):
    """(step, array, largest difference of positions over the scene's length), or None where the streams agree."""
    length, largest, place = 1.0, 0.0, None
    for p, q in zip(frames(a), frames(b)):
        if p.kind == "model":
            length = length_of(p)
        where = "model" if p.kind == "model" else p.step
        one_set, two_set = present(p), present(q)
        for name in sorted(set(one_set) | set(two_set)):
            if place is not None and name != "node/x":
                continue
            one, two = one_set.get(name), two_set.get(name)
            same = one is not None and two is not None and (
                one.data == two.data if isinstance(one.data, str) else
                one.data.dtype == two.data.dtype and one.data.shape == two.data.shape and one.data.tobytes() == two.data.tobytes())
            if not same and place is None:
                place = (where, name)
            if not same and name == "node/x" and one is not None and two is not None and one.data.shape == two.data.shape:
                largest = max(largest, float(np.abs(one.data - two.data).max()) / length)
    return None if place is None else (*place, largest)


def motion(path):
    """Steps, times, positions and velocities of all frames."""
    return [(f.step, f.time, f.arrays["node/x"].data.tobytes(), f.arrays["node/v"].data.tobytes())
            for f in frames(path) if f.kind != "model"]


def iterations(path):
    try:
        with open(path + ".jsonl") as f:
            return sum(json.loads(line).get("newton_iterations", 0) for line in f if line.strip())
    except OSError:
        return None


def verdict(path):
    try:
        with open(path + ".verdict") as f:
            report = json.load(f)
        return "clean" if report["clean"] else "not clean"
    except (OSError, ValueError):
        return "none"


def main():
    first, second = sys.argv[1:3]
    differ = 0
    for name in sys.stdin.read().split():
        for j in (1, 2):
            a, b = (os.path.join(d, f"{name}.j{j}.abut") for d in (first, second))
            if not (os.path.exists(a) and os.path.exists(b)):
                missing = [p for p in (a, b) if not os.path.exists(p)]
                print(f"{name:18} -j {j}  absent: {' '.join(missing)}")
                differ += len(missing) == 1
                continue
            with open(a + ".sum") as f, open(b + ".sum") as g:
                same = f.read() == g.read()
            if same:
                print(f"{name:18} -j {j}  same bytes   {verdict(b)}")
                continue
            d = first_difference(a, b)
            what = "other text of the dump, same arrays" if d is None else f"step {d[0]}, {d[1]}, {d[2]:.2e} of the length"
            if os.environ.get("MOTION") and (iterations(a), verdict(a)) == (iterations(b), verdict(b)) and motion(a) == motion(b):
                print(f"{name:18} -j {j}  same motion  {what}; {verdict(b)}")
                continue
            differ += 1
            print(f"{name:18} -j {j}  differs: {what}; iterations {iterations(a)}, {iterations(b)}; {verdict(a)}, {verdict(b)}")
    for f in sorted(os.listdir(first)):
        if f.endswith(".instr") and os.path.exists(os.path.join(second, f)):
            with open(os.path.join(first, f)) as p, open(os.path.join(second, f)) as q:
                one, two = p.read().strip(), q.read().strip()
            if one and two:
                print(f"{f[:-6]:18} instructions {float(two) / float(one):.4f}")
    sys.exit(differ > 0)


main()
