#!/usr/bin/env python3
"""thread.py BOLT.obj NUT.obj: a bolt with a thread, closed, and the threaded inside of a nut around it, in metres.

At the angle a and the height y the bolt has the radius R + D cos(a + 2 pi y / P), the nut the same and a clearance.  Rows of vertices
follow the helices a + 2 pi y / P = const.  Triangles of the bolt are outward, those of the nut towards the axis.

The room between the surfaces is the clearance less the chord errors: D (1 - cos(pi / ROWS)) = 0.053 mm between rows, of one of the two
at a time, and R (1 - cos(pi / around)) = 0.003 mm of each between vertices around.  What is left, 0.19 mm, or 0.15 mm across the
flanks, must be more than dhat.  The numbers of vertices around have no common factor: else all facets of the bolt meet those of the
nut at the same time, whenever it has turned by one of them, and what the barrier gains and loses there holds a bolt without friction.
"""
import math
import sys

R, D, P, CLEARANCE = 5e-3, 0.7e-3, 6e-3, 0.25e-3
ROWS = 8                            # in a pitch
BOLT, NUT = (-10e-3, 14e-3, 96), (-4e-3, 6e-3, 89)      # from, to, vertices around


def write(path, lo, hi, around, more, closed):
    rows = round((hi - lo) / P * ROWS)
    points, faces = [], []
    for k in range(rows + 1):
        for i in range(around):
            a, y = 2 * math.pi * i / around, lo + P * (k / ROWS - i / around)
            r = R + more + D * math.cos(a + 2 * math.pi * y / P)
            points.append((r * math.cos(a), y, -r * math.sin(a)))
    at = lambda i, k: k * around + i if i < around else (k - ROWS) * around     # once around it is a pitch lower
    there = lambda i, k: 0 <= k <= rows and (i < around or k >= ROWS)
    for k in range(rows):
        for i in range(around):
            if there(i + 1, k) and there(i + 1, k + 1):
                a, b, c, d = at(i, k), at(i + 1, k), at(i, k + 1), at(i + 1, k + 1)
                faces += [(a, b, d), (a, d, c)] if closed else [(a, d, b), (a, c, d)]
    if closed:                      # from points of the axis to the rims, which have a step of one pitch
        lower = [at(i, 0) for i in range(around)] + [at(around - 1, k) for k in range(1, ROWS)]
        lower.append(at(around - 1, ROWS))
        upper = [at(0, k) for k in range(rows - ROWS, rows)] + [at(i, rows) for i in range(around)]
        for rim, y, up in ((lower, lo - P / 2, 0), (upper, hi - P / 2, 1)):
            points.append((0.0, y, 0.0))
            for a, b in zip(rim, rim[1:] + rim[:1]):
                faces.append((len(points) - 1, a, b) if up else (len(points) - 1, b, a))
    with open(path, "w") as f:
        for p in points:
            f.write("v %.17g %.17g %.17g\n" % p)
        for t in faces:
            f.write("f %d %d %d\n" % tuple(v + 1 for v in t))


write(sys.argv[1], *BOLT, 0.0, True)
write(sys.argv[2], *NUT, CLEARANCE, False)
