#!/usr/bin/env python3
"""pipelines/thread.py BOLT.obj NUT.obj: a bolt with a thread, closed, and the threaded inside of a nut around it, in metres.

At the angle a and the height y the bolt has the radius R + D cos(a + 2 pi y / P) times a ramp at its ends, the nut the same and a
clearance.  Triangles of the bolt are outward, those of the nut towards the axis.
"""
import math
import sys

R, D, P, CLEARANCE = 5e-3, 0.7e-3, 3e-3, 0.25e-3
AROUND, LOW, HIGH = 32, -6e-3, 14e-3        # of the bolt
NUT = (-2.5e-3, 2.5e-3)
STEP = P / 8


def radius(a, y, more=0.0):
    return R + more + D * math.cos(a + 2 * math.pi * y / P)


def rings(lo, hi, more):
    n = round((hi - lo) / STEP)
    for k in range(n + 1):
        y = lo + (hi - lo) * k / n
        yield [(radius(2 * math.pi * i / AROUND, y, more) * math.cos(2 * math.pi * i / AROUND), y,
                -radius(2 * math.pi * i / AROUND, y, more) * math.sin(2 * math.pi * i / AROUND)) for i in range(AROUND)]


def write(path, lo, hi, more, closed):
    points, faces = [], []
    for ring in rings(lo, hi, more):
        points += ring
    n = len(points) // AROUND
    for k in range(n - 1):
        for i in range(AROUND):
            a, b = k * AROUND + i, k * AROUND + (i + 1) % AROUND
            c, d = a + AROUND, b + AROUND
            faces += [(a, b, d), (a, d, c)] if closed else [(a, d, b), (a, c, d)]
    if closed:
        for k, y in ((0, lo), (n - 1, hi)):
            points.append((0.0, y, 0.0))
            m = len(points) - 1
            for i in range(AROUND):
                a, b = k * AROUND + i, k * AROUND + (i + 1) % AROUND
                faces.append((m, b, a) if k == 0 else (m, a, b))
    with open(path, "w") as f:
        for p in points:
            f.write("v %.17g %.17g %.17g\n" % p)
        for t in faces:
            f.write("f %d %d %d\n" % tuple(v + 1 for v in t))


write(sys.argv[1], LOW, HIGH, 0.0, True)
write(sys.argv[2], NUT[0], NUT[1], CLEARANCE, False)
