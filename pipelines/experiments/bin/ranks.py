#!/usr/bin/env python3
"""Counts of one run cut over many processes, and the times that they predict.  No message is sent: counts need no cluster.

    ranks.py FILE.abut [RANKS ...]                  counts of the last frame, as TSV (1 2 4 16 64)
    ranks.py --predict ROW SETUP HOP ITERATIONS GROWTH [JOIN WHOLE OWN]    times, memory, efficiency

Nodes are put along a Hilbert curve through the frame and cut into ranges with equally many.  A node belongs to the rank of its
range; a rank holds every tet that has one of its nodes, and the other nodes of those are its ghosts.

nodes       of the fullest rank           off_rank    % of the blocks of the matrix that couple nodes of two ranks
ghosts      % of own nodes, most          neighbours  ranks that one exchanges nodes with, most
tets        held by all ranks, over all   kb          sent and got by a rank for one product with the matrix, most
triangles   of the contact surface that a rank gets of lower ones, % of its own, most: by boxes around 64 pieces of each rank
contacts    friction contacts of the frame: of the fullest rank over the mean, a contact being of the lowest rank of its nodes

ROW us for a node and iteration, SETUP us for a tet, HOP us for an exchange, ITERATIONS at 10^6 tets, which grow by the power GROWTH.
Of step-mpi: JOIN GB/s at which all get a vector of all nodes, twice an iteration; bytes for a tet that each rank holds WHOLE, and OWN
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../formats/python"))
PIECES = 64
NODES_PER_TET = 0.215
BYTES_PER_TET = 2700


def hilbert(x, bits=10):
    """Place of each row of x on the curve through the cube around all.  Skilling 2004 (AIP Conf. Proc. 707, 381)."""
    import numpy as np
    side = max(float(np.ptp(x, axis=0).max()), 1e-300)
    c = np.minimum(((x - x.min(axis=0)) / side * 2**bits).astype(np.int64), 2**bits - 1).T.copy()
    q = 1 << (bits - 1)
    while q > 1:
        for i in range(3):
            on = (c[i] & q) != 0
            t = np.where(on, 0, (c[0] ^ c[i]) & (q - 1))
            c[0] = np.where(on, c[0] ^ (q - 1), c[0] ^ t)
            if i:
                c[i] ^= t
        q >>= 1
    c[1] ^= c[0]
    c[2] ^= c[1]
    flip = np.zeros_like(c[0])
    q = 1 << (bits - 1)
    while q > 1:
        flip ^= np.where(c[2] & q, q - 1, 0)
        q >>= 1
    place = np.zeros_like(c[0])
    for b in range(bits - 1, -1, -1):
        for i in range(3):
            place = place << 1 | ((c[i] ^ flip) >> b & 1)
    return place


def surface_sent(tri, place, owner, x, margin, ranks):
    """Triangles that each rank gets of lower ones, over its own: the most."""
    import numpy as np
    of = owner[tri].min(axis=1)
    order = np.argsort(place[tri].min(axis=1), kind="stable")
    pieces, most = [], 0.0
    for r in range(ranks):
        own = order[of[order] == r]
        pieces.append([(len(p), x[tri[p]].min(axis=(0, 1)) - margin, x[tri[p]].max(axis=(0, 1)) + margin)
                       for p in np.array_split(own, min(PIECES, max(len(own), 1))) if len(p)])
    for r in range(ranks):
        if not pieces[r]:
            continue
        low, high = np.array([p[1] for p in pieces[r]]), np.array([p[2] for p in pieces[r]])
        got = sum(n for s in range(r) for n, lo, hi in pieces[s] if np.any(np.all((lo <= high) & (low <= hi), axis=1)))
        most = max(most, got / sum(p[0] for p in pieces[r]))
    return most


def counts(file, all_ranks):
    """One line for each number of ranks."""
    import numpy as np
    import abut_stream
    items = list(abut_stream.read(file))
    model, frame = [i for i in items if i.kind == "model"][-1], items[-1]
    tet, x = model["tet/node"], frame["node/x"]
    nodes = np.unique(tet)
    place = np.empty(len(x), np.int64)
    order = nodes[np.argsort(hilbert(x[nodes]), kind="stable")]
    place[order] = np.arange(len(order))
    tet = place[tet]
    pairs = np.unique(np.concatenate([np.sort(tet[:, [a, b]], axis=1) for a in range(4) for b in range(a + 1, 4)]), axis=0)
    tri = model["contact/triangle"] if "contact/triangle" in model.arrays else np.zeros((0, 3), int)
    if len(tri) and "contact/node" in model.arrays:
        tri = model["contact/node"][tri]
        tri = tri[np.isin(tri, nodes).all(axis=1)]
    lag = frame["lag/node"] if "lag/node" in frame.arrays else np.zeros((0, 4), int)
    print("ranks\tnodes\toff_rank\tghosts\tneighbours\ttets\tkb\ttriangles\tcontacts")
    for ranks in all_ranks:
        first = np.array([r * len(order) // ranks for r in range(ranks + 1)])
        rank = np.searchsorted(first, np.arange(len(order)), side="right") - 1
        own = np.diff(first)
        cut = pairs[rank[pairs[:, 0]] != rank[pairs[:, 1]]]
        ends = [np.stack([rank[cut[:, a]], cut[:, 1 - a]], 1) for a in (0, 1)]
        ghost = np.unique(np.concatenate(ends), axis=0)
        per_rank = np.bincount(ghost[:, 0], minlength=ranks)
        sent = np.bincount(rank[ghost[:, 1]], minlength=ranks)
        friends = np.unique(np.stack([ghost[:, 0], rank[ghost[:, 1]]], 1), axis=0)
        held = distinct(rank[tet])
        of = np.full(len(x), ranks, np.int64)
        of[nodes] = rank[place[nodes]]
        most = surface_sent(tri, place, of, x, float(model["contact/dhat"]), ranks) if len(tri) and ranks > 1 else 0
        meet = np.where(lag >= 0, of[np.maximum(lag, 0)], ranks).min(axis=1) if len(lag) else np.zeros(0, int)
        meet = np.bincount(meet[meet < ranks], minlength=ranks)
        print("%d\t%d\t%.1f\t%.0f\t%d\t%.2f\t%.0f\t%.0f\t%s" % (
            ranks, own.max(), 200 * len(cut) / (len(order) + 2 * len(pairs)), 100 * (per_rank / np.maximum(own, 1)).max(),
            np.bincount(friends[:, 0], minlength=ranks).max() if len(friends) else 0, held / len(tet),
            24e-3 * (per_rank + sent).max(), 100 * most, "%.2f" % (meet.max() / meet.mean()) if meet.sum() else "-"))


def distinct(rank):
    """Numbers of different entries in the rows of rank[n, 4], summed."""
    import numpy as np
    s = np.sort(rank, axis=1)
    return len(s) + int((np.diff(s, axis=1) != 0).sum())


def predict(row, setup, hop, iterations, growth, join=None, whole=0, own_bytes=BYTES_PER_TET):
    """Solve s / setup s / GB for each rank / efficiency of both, of conjugate gradients with algebraic multigrid."""
    print("| tets, iterations | " + " | ".join("P = %d" % p for p in (1, 16, 64, 256, 1000)) + " |")
    print("|---" * 6 + "|")
    for power in (6, 7, 8, 9):
        tets = 10.0**power
        many, cells, alone = iterations * (tets / 1e6)**growth, [], None
        for p in (1, 16, 64, 256, 1000):
            own, hops = NODES_PER_TET * tets / p, p.bit_length() - 1
            ghosts = min(1.0, 6 * own**(-1 / 3)) if p > 1 else 0.0
            solve = many * (1e-6 * row * own * (1 + ghosts) + (1e-6 * hop * (2 + hops) if p > 1 else 0))
            if join and p > 1:
                solve += many * 2 * 24e-9 * NODES_PER_TET * tets * (p - 1) / p / join
            make = 1e-6 * setup * tets / p * (1 + ghosts) + 0.05 * hops
            alone = alone or solve + make
            gigabytes = 1e-9 * (whole * tets + own_bytes * tets / p * (1 + ghosts))
            cells.append(" / ".join("%.0f" % v if v >= 100 else "%.2g" % v for v in (solve, make, gigabytes)) +
                         " / %.0f %%" % (100 * alone / (p * (solve + make))))
        print("| 10^%d, %.0f | %s |" % (power, many, " | ".join(cells)))


if __name__ == "__main__":
    words = sys.argv[1:]
    try:
        if len(words) in (6, 9) and words[0] == "--predict":
            predict(*map(float, words[1:]))
        elif words and not words[0].startswith("-"):
            ranks = [int(w) for w in words[1:]] or [1, 2, 4, 16, 64]
            if min(ranks) < 1:
                raise ValueError
            counts(words[0], ranks)
        else:
            raise ValueError
    except (ValueError, OSError) as e:
        print(f"ranks.py: {e or 'see its first lines'}", file=sys.stderr)
        sys.exit(2)
