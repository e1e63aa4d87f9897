#!/usr/bin/env python3
"""Goes on with another model: that of the stream NEW.abut, and the last frame of the stream on stdin, to stdout.

    bin/mesh-prep scene.yaml --set materials.rubber.young=1e6 -o stiff.abut
    pipelines/examples/go_on.py stiff.abut < run.abut | bin/step -n 10 | bin/ccd-check > on.abut

Both have the same objects and nodes; all else may differ.  Needs numpy.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "formats", "python"))
import abut_stream  # noqa: E402


def fail(why):
    sys.exit(f"go_on.py: {why}")


def last_of(file):
    """The stream, its last model and its last frame."""
    stream = abut_stream.read(file)
    model = frame = None
    for item in stream:
        if item.kind == "model":
            model = item
        else:
            frame = item
    return stream, model, frame


def objects(model):
    return model["node/object"].tolist(), model["node/role"].tolist(), model["tet/node"].tolist() if "tet/node" in model.arrays else []


if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
try:
    other, model, _ = last_of(sys.argv[1])
    stream, was, frame = last_of("-")
except (OSError, abut_stream.StreamError) as e:
    fail(e)
if frame.phase != abut_stream.COMMITTED:
    fail(f"the stream ends in the middle of step {frame.step + 1}: step finishes it first")
if objects(model) != objects(was):
    fail(f"{sys.argv[1]} has other objects or nodes than the stream on stdin: expected the same, in the same order")
with abut_stream.Writer("-") as out:
    for made_by in stream.prov:
        out.prov(*made_by)
    for made_by in other.prov:
        out.prov(*made_by)
    out.model(model.arrays)
    out.frame(frame.step, frame.time, frame.arrays, frame.phase)
