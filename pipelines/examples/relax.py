#!/usr/bin/env python3
"""A stage of your own between two friction passes: relaxes the lagged normal forces.

    bin/step --one-pass start.abut -o candidate.abut
    bin/friction-lag candidate.abut | pipelines/examples/relax.py 0.5 candidate.abut > next.abut

friction-lag freezes friction anew; of every contact that was frozen before, too, this keeps
lag/normal-force = (1 - w) force before + w force now.  With w = 1, or on a COMMITTED frame, the frames pass unchanged.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "formats", "python"))
import abut_stream  # noqa: E402

w, before = float(sys.argv[1]), list(abut_stream.read(sys.argv[2]))[-1]
stream = abut_stream.read("-")
items = list(stream)                    # all of it: the end mark has been seen
now = items[-1]
if now.phase == abut_stream.PENDING and w != 1:
    old = {tuple(n): f for n, f in zip(before["lag/node"].tolist(), before["lag/normal-force"])}
    force = now["lag/normal-force"]
    for i, nodes in enumerate(now["lag/node"].tolist()):
        force[i] += (1 - w) * (old.get(tuple(nodes), force[i]) - force[i])

with abut_stream.Writer("-") as out:
    for tool, version, options in stream.prov:
        out.prov(tool, version, options)
    out.prov("relax", "1.0", {"weight": w})
    for item in items:
        if item.kind == "model":
            out.model(item.arrays)
        else:
            out.frame(item.step, item.time, item.arrays, item.phase)
