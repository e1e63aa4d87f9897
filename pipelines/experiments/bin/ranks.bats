#!/usr/bin/env bats
# bats file_tags=experiment
# ranks.py: counts of a run cut over many processes, against sets that are counted one by one.
load ../../../tests/tools/helpers

@test "ranks, ghosts, blocks, tets and neighbours are those of sets counted one by one; one rank has none of others" {
    skip_without_numpy
    two_boxes 4 0.312 | "$BIN/mesh-prep" -q - | "$BIN/step" -q -n 8 -o run.abut
    "$PYTHON" "$ROOT/pipelines/experiments/bin/ranks.py" run.abut 1 3 7 > counts
    cat > brute.py <<'P'
import sys
sys.path[:0] = [sys.argv[1] + "/formats/python", sys.argv[1] + "/pipelines/experiments/bin"]
import abut_stream, ranks
items = list(abut_stream.read("run.abut"))
x, tet = items[-1]["node/x"], items[0]["tet/node"].tolist()
key = ranks.hilbert(x)
order = sorted(range(len(x)), key=lambda i: (key[i], i))
told = [line.split("\t") for line in open("counts").read().splitlines()]
for row in told[1:]:
    got, P = dict(zip(told[0], row)), int(row[0])
    cuts = [r * len(x) // P for r in range(P + 1)]
    rank = {i: next(r for r in range(P) if cuts[r] <= k < cuts[r + 1]) for k, i in enumerate(order)}
    beside, ghosts, friends, held = set(), [set() for _ in range(P)], [set() for _ in range(P)], 0
    for t in tet:
        held += len({rank[i] for i in t})
        beside |= {(i, j) for i in t for j in t}
        for i in t:
            for j in t:
                if rank[i] != rank[j]:
                    ghosts[rank[i]].add(j)
                    friends[rank[i]].add(rank[j])
    off = sum(rank[i] != rank[j] for i, j in beside)
    own = [cuts[r + 1] - cuts[r] for r in range(P)]
    sent = [sum(rank[j] == r for g in ghosts for j in g) for r in range(P)]
    want = [max(own), "%.1f" % (100 * off / len(beside)), "%.0f" % max(100 * len(g) / n for g, n in zip(ghosts, own)),
            max(map(len, friends)), "%.2f" % (held / len(tet)), "%.0f" % max(24e-3 * (len(g) + s) for g, s in zip(ghosts, sent))]
    assert list(map(str, want)) == row[1:7], (want, row)
    lag = [{rank[i] for i in l if i >= 0} for l in items[-1]["lag/node"].tolist()]
    meet = [sum(min(l) == r for l in lag) for r in range(P)]
    assert len(lag) > 5 and got["contacts"] == "%.2f" % (max(meet) * P / sum(meet)), (meet, got)
assert told[1][2:] == ["0.0", "0", "0", "1.00", "0", "0", "1.00"]
# the curve through 8^3 cells: all are on it, consecutive ones have a common face
import numpy as np
cells = np.array([(a, b, c) for a in range(8) for b in range(8) for c in range(8)] + [(8, 8, 8)], float)
places = ranks.hilbert(cells, 3)[:-1]
assert sorted(places.tolist()) == list(range(512))
assert (abs(np.diff(cells[:-1][np.argsort(places)], axis=0)).sum(axis=1) == 1).all()
P
    "$PYTHON" brute.py "$ROOT"
    "$PYTHON" "$ROOT/pipelines/experiments/bin/ranks.py" --predict 1 8 25 23 0.12 > table
    [ "$(wc -l < table)" -eq 6 ]
    "$PYTHON" "$ROOT/pipelines/experiments/bin/ranks.py" --predict 1 8 25 10 0 1 1000 2000 > joined
    grep -F '| 10^6, 10 | 2.1 / 8 / 3 / 100 % | 0.27 / ' joined     # 2.15 us x 10^6; 1000 + 2000 bytes; 0.097 s of joins at 16
    exits 2 "$PYTHON" "$ROOT/pipelines/experiments/bin/ranks.py" --predict 1 8 25 10 0 1
    exits 2 "$PYTHON" "$ROOT/pipelines/experiments/bin/ranks.py"
    exits 2 "$PYTHON" "$ROOT/pipelines/experiments/bin/ranks.py" run.abut 0
}
