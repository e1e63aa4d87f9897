#!/usr/bin/env python3
"""The recipe of the golden streams of format version 1.0: run as tests/golden/make-1.0.py DIRECTORY.

The streams hold every element type, special numbers, empty arrays, flags, both phases and a second MODEL; stored
and compressed.  They stay readable for good: a later version adds its own recipe and files, it changes none of these.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../formats/python"))
from abut_stream import ARRAY_CARRY, PENDING, Array, Writer  # noqa: E402

X = np.array([[0, 1, 0], [1, 1, 0], [0, 1, 1], [0, 2, 0]], "f8")
TET = np.array([[0, 2, 1, 3]], "i4")
special = np.array([0.0, -0.0, np.inf, -np.inf, 5e-324, -1.7976931348623157e308, 0.1, 1 / 3], "f8")
nans = np.array([0x7FF8DEAD0000BEEF, 0xFFF0000000000001], "u8")
special = np.concatenate([special.view("u8"), nans]).view("f8")


def model():
    return {
        "node/X": Array(X, "m"), "node/mass": Array(np.full(4, 0.25), "kg"), "node/role": Array(np.array([0, 0, 0, 1], "i4")),
        "node/object": Array(np.zeros(4, "i4")), "tet/node": Array(TET), "tet/material": Array(np.zeros(1, "i4")),
        "material/model": Array(np.zeros(1, "i4")), "material/density": Array(np.array([6000.0]), "kg/m^3"),
        "material/young": Array(np.array([1e5]), "Pa"), "material/poisson": Array(np.array([0.4])),
        "object/friction": Array(np.zeros(1, "i4")), "object/name": Array("corner\n"),
        "contact/node": Array(np.arange(4, dtype="i4")),
        "contact/edge": Array(np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]], "i4")),
        "contact/triangle": Array(np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]], "i4")),
        "contact/mu": Array(np.array([[0.5]])), "half-space/point": Array(np.array([[0.0, 0, 0]]), "m"),
        "half-space/normal": Array(np.array([[0.0, 1, 0]])), "half-space/friction": Array(np.zeros(1, "i4")),
        "motion/kind": Array(np.zeros(1, "i4")), "motion/window": Array(np.array([[0, np.inf]]), "s"),
        "motion/linear": Array(np.array([[0, 0.25, 0]]), "m/s"), "motion/angular": Array(np.zeros((1, 3)), "rad/s"),
        "motion/center": Array(np.zeros((1, 3)), "m"), "motion/first": Array(np.array([[0, 1]], "i4")),
        "motion/node": Array(np.array([3], "i4")), "world/gravity": Array(np.array([0, -9.81, 0]), "m/s^2"),
        "time/step": Array(np.array(0.01), "s"), "scene/length": Array(np.array(1.7320508075688772), "m"),
        "contact/dhat": Array(np.array(0.0017), "m"), "contact/eps-v": Array(np.array(0.0017), "m/s"),
        "contact/lags": Array(np.array(1, "i4")), "solve/tolerance": Array(np.array(0.017), "m/s"),
        "contact/kappa-min": Array(np.array(10.0), "kg/m^2"), "contact/kappa-max": Array(np.array(1000.0), "kg/m^2"),
        "golden/special": Array(special.reshape(5, 2), "m/s"), "golden/f32": Array(np.array([[[1.5], [-0.1]]], "f4")),
        "golden/i64": Array(np.array([-2 ** 63, 72623859790382856], "i8")), "golden/u8": Array(np.array([255, 0, 7], "u1")),
        "golden/empty": Array(np.zeros((2, 0, 3, 1)), "m"), "golden/text": Array('two "lines"\n\\ \x01 \u00e4, no newline'),
    }


def frame(k):
    shift = np.array([0, -0.001 * k * k, 0])
    return {
        "node/x": Array(X + shift, "m"), "node/v": Array(np.tile([0, -0.1 * k, 0], (4, 1)), "m/s"),
        "contact/kappa": Array(np.array(10 / 3), "kg/m^2"), "lag/node": Array(np.array([[0, -1, -1, -1]], "i4")),
        "lag/weight": Array(np.array([[1.0, 0, 0, 0]])), "lag/basis": Array(np.array([[1.0, 0, 0, 0, 0, 1]])),
        "lag/normal-force": Array(np.array([4.9]), "N"), "lag/mu": Array(np.array([0.5])),
        "golden/carried": Array(np.arange(40, dtype="i4") // 4, "", ARRAY_CARRY),
    }


def write(path, level):
    with Writer(path, level, minor=0) as w:
        w.prov("mesh-prep", "0.1.0", '{"scene": "corner"}')
        w.prov("step", "0.1.0", '{"solver": "newton"}')
        w.model(model())
        w.frame(0, 0.0, frame(0))
        w.frame(1, 0.01, frame(1))
        w.model(model())
        w.frame(2, 0.02, frame(2), PENDING)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(os.path.join(sys.argv[1], "stored-1.0.abut"), 0)
    write(os.path.join(sys.argv[1], "compressed-1.0.abut"), 9)
