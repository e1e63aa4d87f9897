#!/usr/bin/env bats
# Contact surfaces whose vertices are sums of nodes (contact/map-first): step, its judge and its tables see y = y0 + W x.
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    skip_without_numpy
    export PYTHONPATH=$ROOT/formats/python PYTHONDONTWRITEBYTECODE=1
    two_boxes 2 0.32 >scene.yaml
    echo "  post: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, obstacle: true, translate: [0.3, 0.1, 0]}" >>scene.yaml
    "$BIN/mesh-prep" scene.yaml -o nodes.abut
    "$PYTHON" "$BATS_TEST_DIRNAME/proxy.py" nodes.abut start.abut
}

@test "proxy: bodies fall on the floor and on each other by a finer surface of theirs, and the judge finds no collision" {
    "$BIN/step" -q -n 30 -j 1 --with forces,energies --report steps.jsonl start.abut -o run.abut
    "$BIN/ccd-check" --no-output --gap run.abut 2>verdict
    grep "31 configurations, 30 motions" verdict
    grep "no collision" verdict
    grep "smallest gap" verdict
    "$PYTHON" - <<'P'
import json
import numpy as np
import abut_stream
frames = list(abut_stream.read("run.abut"))
model, frames = frames[0], frames[1:]
touched = 0
for f in frames:
    if "node/contact-force" not in f.arrays:
        continue
    force = f["node/contact-force"]
    total, size = force.sum(0), np.abs(force).max()
    # bodies push each other, and a level floor pushes up: nothing is left sideways
    assert abs(total[0]) <= 1e-10 * size and abs(total[2]) <= 1e-10 * size and total[1] >= -1e-10 * size
    touched += size > 0 and "lag/vertex" in f.arrays and "lag/node" not in f.arrays
assert touched > 15
steps = [json.loads(line) for line in open("steps.jsonl")]
assert max(s["contacts"] for s in steps) > 3 and max(s["half_space_contacts"] for s in steps) > 3
# the surface is inside of the tets: their own corners are lower than contact would let them be
body = model["node/role"] != 2
assert min(f["node/x"][body, 1].min() for f in frames) < -1e-3
P
}

@test "proxy: the same bytes for every number of threads, from a checkpoint, and friction passes in a pipe" {
    "$BIN/step" -q -n 12 -j 1 start.abut -o one.abut
    "$BIN/step" -q -n 12 -j 2 start.abut | cmp - one.abut
    "$BIN/step" -q -n 12 -j 7 start.abut | cmp - one.abut
    "$BIN/step" -q -n 5 start.abut | "$BIN/step" -q -n 7 | cmp - one.abut
    "$BIN/step" -q --one-pass one.abut | "$BIN/friction-lag" | "$BIN/step" -q --one-pass | "$BIN/friction-lag" >next.abut
    "$BIN/ccd-check" --no-output next.abut
}

@test "proxy: every direction and linear solver takes it" {
    local s
    "$BIN/step" -q -n 7 start.abut -o start7.abut
    for s in "solver newton-cg" "solver lbfgs-h" "solver lbfgs-pd" "solver lbfgs-jh" "solver dot" "linear-solver cholmod"; do
        # shellcheck disable=SC2086
        "$BIN/step" -q -n 2 --${s% *} ${s#* } start7.abut -o run.abut
        "$BIN/ccd-check" --no-output run.abut
    done
}

@test "proxy: the judge names vertices that collide" {
    cat >lower.py <<'P'
import sys, abut_stream
items = list(abut_stream.read(sys.argv[1]))
with abut_stream.Writer("-") as w:
    w.model(items[0].arrays)
    w.frame(0, 0.0, items[1].arrays)
    items[1].arrays["node/x"].data[items[0]["node/object"] == 1, 1] -= float(sys.argv[2])
    w.frame(1, 0.01, items[1].arrays)
P
    "$PYTHON" lower.py start.abut 0.05 >through.abut
    exits 1 "$BIN/ccd-check" --no-output --json verdict.json through.abut
    says "vertices"
    grep '"vertices": \[' verdict.json
    # the same on the path of a step that ends where it began
    cat >there-and-back.py <<'P'
import sys, abut_stream
items = list(abut_stream.read(sys.argv[1]))
with abut_stream.Writer("-") as w:
    w.model(items[0].arrays)
    w.frame(0, 0.0, items[1].arrays)
    there = items[1]["node/x"].copy()
    there[items[0]["node/object"] == 1, 1] -= float(sys.argv[2])
    w.frame(1, 0.01, dict(items[1].arrays, **{"step/waypoints": abut_stream.Array(there, "m")}))
P
    "$PYTHON" there-and-back.py start.abut 0.05 >through.abut
    exits 1 "$BIN/ccd-check" --no-output through.abut
    says "leg 1 of the path"
    says "vertices"
    "$PYTHON" there-and-back.py start.abut 0.02 | "$BIN/ccd-check" --no-output
    # tets that overlap say nothing: the surfaces that collide are inside of them
    "$PYTHON" lower.py start.abut 0.02 | "$BIN/ccd-check" --no-output
    "$PYTHON" lower.py nodes.abut 0.02 >through.abut
    exits 1 "$BIN/ccd-check" --no-output through.abut
    says "nodes"
}

@test "proxy: export shows the surfaces where contact sees them" {
    "$BIN/step" -q -n 6 start.abut -o run.abut
    "$BIN/export" -q --obj obj --ply ply --vtu vtu --gltf run.glb --csv run.csv run.abut
    "$PYTHON" - <<'P'
import numpy as np
import abut_stream
items = list(abut_stream.read("run.abut"))
model, last = items[0], items[-1]
lo_hi, node, weight = (model["contact/map-" + n] for n in ("first", "node", "weight"))

def vertex(i, x):
    total = np.zeros(3)
    for k in range(*lo_hi[i]):
        total = total + weight[k] * x[node[k]]
    return total

want = np.array([vertex(i, last["node/x"]) for i in range(len(lo_hi))])
lines = open("obj/frame_0006.obj").read().split("\n")
got = np.array([[float(t) for t in s.split()[1:]] for s in lines if s.startswith("v ")])
assert got.shape == want.shape and (got == want).all()
faces = [[int(t) - 1 for t in s.split()[1:]] for s in lines if s.startswith("f ")]
assert (np.array(faces) == model["contact/triangle"]).all()
P
    grep -q 'Name="Points"' vtu/others_0006.vtu
    grep -q "NumberOfPoints=\"$("$PYTHON" -c 'import abut_stream as s; print(len(next(iter(s.read("run.abut")))["contact/map-first"]))')\"" vtu/others_0006.vtu
}

@test "proxy: what knows nodes alone refuses it by name" {
    exits 3 "$BIN/step" -q -n 1 --device twin start.abut -o run.abut
    says "the contact surface is a map of nodes (array 'contact/map-first')"
    exits 3 "$BIN/step" -q -n 1 --solver pd --contact springs start.abut -o run.abut
    says "collision springs: the contact surface is a map of nodes"
    "$PYTHON" - <<'P'
import abut_stream
items = list(abut_stream.read("start.abut"))
with abut_stream.Writer("stretched.abut") as w:
    w.model(items[0].arrays)
    items[1].arrays["node/x"].data[:] *= 2
    w.frame(0, 0.0, items[1].arrays)
P
    exits 3 "$BIN/tear" --stretch 1.5 stretched.abut -o torn.abut
    says "tearing: the contact surface is a map of nodes"
}

@test "proxy: rows of one node and weight 1 give what the nodes themselves give, to rounding" {
    two_boxes 2 0.32 | "$BIN/mesh-prep" --set 'tolerance=1e-9 l/s' --set 'time.step=2 ms' -o nodes.abut
    "$PYTHON" - <<'P'
import numpy as np
import abut_stream
from abut_stream import Array
items = list(abut_stream.read("nodes.abut"))
model = items[0].arrays
node = model.pop("contact/node").data
rows, must = np.arange(len(node)), abut_stream.ARRAY_REQUIRED
model["contact/map-first"] = Array(np.stack([rows, rows + 1], 1).astype("i4"), "", must)
model["contact/map-node"] = Array(node.astype("i4"), "", must)
model["contact/map-weight"] = Array(np.ones(len(node)), "", must)
with abut_stream.Writer("rows.abut") as w:
    w.model(model)
    w.frame(0, 0.0, items[1].arrays)
P
    "$BIN/step" -q -n 40 nodes.abut -o by-nodes.abut
    "$BIN/step" -q -n 40 rows.abut -o by-rows.abut
    "$BIN/ccd-check" --no-output by-rows.abut
    "$PYTHON" - <<'P'
import numpy as np
import abut_stream
a, b = (list(abut_stream.read(f"by-{n}.abut"))[-1] for n in ("nodes", "rows"))
assert np.abs(a["node/x"] - b["node/x"]).max() < 1e-9
assert np.abs(a["node/v"]).max() > 0.1
P
}
