#!/usr/bin/env python3
"""A stage of your own: reads a state stream on stdin, changes it, writes it to stdout.

This one gives every free node of the last frame a push, as a gust of wind would: node/v += (1, 0, 0) m/s.
    bin/step -n 10 start.abut | pipelines/examples/stage.py | bin/step -n 10 | bin/ccd-check > run.abut
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "formats", "python"))
import abut_stream  # noqa: E402

stream = abut_stream.read("-")
items = list(stream)                    # all of it: the end mark has been seen
free = [i for i in items if i.kind == "model"][-1]["node/role"] == 0
items[-1]["node/v"][free, 0] += 1.0

with abut_stream.Writer("-") as out:
    for tool, version, options in stream.prov:
        out.prov(tool, version, options)
    out.prov("gust", "1.0", {"speed": 1.0})
    for item in items:
        if item.kind == "model":
            out.model(item.arrays)
        else:
            out.frame(item.step, item.time, item.arrays, item.phase)
