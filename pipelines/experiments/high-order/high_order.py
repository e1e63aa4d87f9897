#!/usr/bin/env python3
"""high_order.py NAME STREAM: in a few words, what became of a scene of high-order.sh; NAME begins with its kind."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../formats/python"))
import abut_stream  # noqa: E402

name, path = sys.argv[1:]
items = iter(abut_stream.read(path))
model = next(items)
X, free = model["node/X"], model["node/role"] != 2
mass = np.where(free, model["node/mass"], 0)
times, centres, angles, last = [], [], [], None


def turned(a, b):
    """About the vertical axis through the centre, from positions a to b: less than half a turn."""
    p, q = a - mass @ a / mass.sum(), b - mass @ b / mass.sum()
    return np.arctan2(mass @ (p[:, 0] * q[:, 2] - p[:, 2] * q[:, 0]), mass @ (p[:, 0] * q[:, 0] + p[:, 2] * q[:, 2]))


for f in items:
    angles.append(turned(X if last is None else last, f["node/x"]))
    last = f["node/x"]
    times.append(f.time)
    centres.append(mass @ last / mass.sum())
c = np.array(centres)
corners = np.unique(model["tet/node"])
if name.startswith("Beam"):
    top = corners[X[corners, 1] > X[free, 1].max() - 1e-9]
    print("(%.3f, %.3f, %.3f) m" % tuple(last[top].mean(0)))
elif name.startswith("Ball"):
    low = int(np.argmax(np.diff(c[:, 1]) > 0))                  # the first frame after which it rises
    high = c[low:, 1].max() if low else np.nan
    print("%.4f m, sideways %.2g m" % (high, np.hypot(*(c[-1] - c[0])[[0, 2]])))
elif name.startswith("Figure"):
    print("(%.3f, %.3f, %.3f) m, from a height of %.3f m" % (*c[-1], c[0][1]))
elif name.startswith("Rolling"):
    print("%.4f m in %.3g s" % (np.linalg.norm(c[-1] - c[0]), times[-1]))
elif name.startswith("Nut"):
    print("down %.3g mm, turned %.4g deg" % (1e3 * (c[0] - c[-1])[1], np.degrees(sum(angles))))
else:
    print("%.3f x %.3f x %.3f m" % tuple(np.ptp(last[free], axis=0)))
