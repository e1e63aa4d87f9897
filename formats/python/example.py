#!/usr/bin/env python3
"""From a scene to a figure: a ball falls on a bar, judged while it is computed.

    PYTHONPATH=formats/python python3 formats/python/example.py figure.png

Needs numpy and matplotlib, and the programs (make, or make install).
"""
import sys

import abut
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# ---- a scene
scene = abut.Scene(time={"step": "0.01 s"}, contact={"friction": {"mu": 0.5}})
scene.material("rubber", model="neo-hookean", density=1000, young=1e5, poisson=0.4)
scene.object("ball", generate={"sphere": {"radius": 0.1, "cells": 6}}, translate=[0, 0.25, 0])
scene.object("bar", generate={"box": {"size": [0.5, 0.08, 0.1], "cells": [14, 2, 3]}}, translate=[0.1, 0.05, 0])
scene.half_space("floor", point=[0, 0, 0], normal=[0, 1, 0])

# ---- the programs, frame by frame
times, heights, energies, surfaces = [], [], [], {}
for frame in abut.pipe(scene).step(60, with_="energies").judge():
    objects = frame.model.objects
    times.append(frame.time)
    heights.append([frame.x[objects[name].nodes, 1].min() for name in ("ball", "bar")])
    if "energy/kinetic" in frame:
        energies.append((frame.time, *(float(frame["energy/" + kind]) for kind in ("kinetic", "elastic", "barrier"))))
    if frame.step in (0, 15, 60):
        surfaces[frame.time] = frame.x

# ---- a figure
triangles = frame.model["contact/node"][frame.model["contact/triangle"]]
figure = plt.figure(figsize=(9, 6), layout="constrained")
for k, (time, x) in enumerate(surfaces.items()):
    axes = figure.add_subplot(2, 3, k + 1, projection="3d")
    axes.plot_trisurf(x[:, 0], x[:, 2], x[:, 1], triangles=triangles, color="#4f9fc6", edgecolor="#1c273355", linewidth=0.2)
    axes.set(title="%g s" % time, xlim=(-0.2, 0.4), ylim=(-0.3, 0.3), zlim=(0, 0.4), box_aspect=(0.6, 0.6, 0.4))
axes = figure.add_subplot(2, 2, 3)
axes.plot(times, heights, label=["ball", "bar"])
axes.set(xlabel="time, s", ylabel="lowest point, m")
axes.legend()
axes = figure.add_subplot(2, 2, 4)
e = np.array(energies)
axes.plot(e[:, 0], e[:, 1:], label=["kinetic", "elastic", "barrier"])
axes.set(xlabel="time, s", ylabel="energy, J")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "figure.png", dpi=110)
