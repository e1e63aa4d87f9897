#!/usr/bin/env python3
"""A stage of your own: reads a state stream on stdin, changes it, writes it to stdout.

This one pushes every free node of the last frame sideways, as a gust of wind would: node/v += (1, 0, 0) m/s.
    bin/step -n 10 start.abut | pipelines/stage.py | bin/step -n 10 | bin/ccd-check > run.abut
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats", "python"))
import abut_stream  # noqa: E402

stream = abut_stream.read(sys.stdin.buffer)
free = stream.model["node/role"] == 0
stream.frames[-1]["node/v"][free, 0] += 1.0
abut_stream.write(sys.stdout.buffer, stream)
