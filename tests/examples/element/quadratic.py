"""Tets of four nodes become tets of ten: a node in the middle of each edge, in motion where both ends of it are; no contact.
Masses: a tenth of that of an element at each of its nodes."""
import sys

import numpy as np

import abut_stream

model, frame = list(abut_stream.read("-"))[:2]
X, tet, material = model["node/X"], model["tet/node"], model["tet/material"]
pairs = np.sort(tet[:, [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]]], axis=2)
edge, middle = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
rows = np.hstack([material[:, None], tet, len(X) + middle.reshape(-1, 6)]).astype("i4")
volume = np.abs(np.linalg.det(X[tet[:, 1:]] - X[tet[:, :1]])) / 6
mass = np.zeros(len(X) + len(edge))
np.add.at(mass, rows[:, 1:], (model["material/density"][material] * volume / 10)[:, None])
moved = set(model["motion/node"])
between = [len(X) + i for i, (a, b) in enumerate(edge) if a in moved and b in moved]

for arrays in (model.arrays, frame.arrays):
    for name in [n for n in arrays if n.startswith("tet/") or n in ("contact/node", "contact/edge", "contact/triangle")]:
        del arrays[name]
    for name in [n for n in arrays if n.startswith("node/")]:
        a = arrays[name].data
        more = a[edge].mean(axis=1) if a.dtype == "f8" else np.minimum(a[edge[:, 0]], a[edge[:, 1]])
        arrays[name].data = np.concatenate([a, more]).astype(a.dtype)
model.arrays["node/mass"].data = mass
model.arrays["motion/node"].data = np.concatenate([model["motion/node"], between]).astype("i4")
model.arrays["motion/first"].data = np.array([[0, len(model["motion/node"])]], "i4")
model.arrays["tet10/node"] = abut_stream.Array(rows)
with abut_stream.Writer("-") as w:
    w.prov("quadratic", "1")
    w.model(model.arrays)
    w.frame(0, 0.0, frame.arrays)
