#!/usr/bin/env bats
# tear: elements beyond a stretch go, nodes split, and what follows is judged by ccd-check as all else is.
load helpers

setup_file() {
    cat > "$BATS_FILE_TMPDIR/bar.yaml" <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, 0, 0]
materials: {soft: {young: 1e4, poisson: 0.3, density: 100}}
objects: {bar: {generate: {box: {size: [0.8, 0.2, 0.2], cells: [8, 2, 2]}}}}
motion:
  - {select: {object: bar, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, translate: [-1.5, 0, 0]}
  - {select: {object: bar, relative-box: [[0.99, 0, 0], [1, 1, 1]]}, translate: [1.5, 0.6, 0]}
Y
    "${BIN:-bin}"/mesh-prep -q "$BATS_FILE_TMPDIR/bar.yaml" -o "$BATS_FILE_TMPDIR/bar.abut"
}
setup() { bar=$BATS_FILE_TMPDIR/bar.abut; cd "$BATS_TEST_TMPDIR"; }

@test "a bar pulled apart tears, keeps its mass, and every step before and after is free" {
    skip_without_numpy
    cp "$bar" run.abut
    for k in 1 2 3 4 5 6 7 8 9 10 11 12; do
        "$BIN/step" -q -n 2 run.abut | "$BIN/tear" --stretch 1.35 -o next.abut 2>>said
        mv next.abut run.abut
    done
    "$BIN/ccd-check" -q run.abut -o judged.abut
    grep -q "nodes split off" said
    "$PYTHON" - "$ROOT" <<'P'
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
items = list(abut_stream.read("judged.abut"))
models = [f for f in items if f.kind == "model"]
assert len(models) > 1
first, last = models[0], models[-1]
assert len(last["tet/node"]) < len(first["tet/node"])
assert abs(last["node/mass"].sum() - first["node/mass"].sum()) < 1e-12 * first["node/mass"].sum() * len(last["node/mass"])
assert sum(len(m["node/X"]) for m in models[-1:]) >= len(first["node/X"])
# every triangle of the surface is a face of exactly one tet that is left
faces = {}
for t in last["tet/node"].tolist():
    for k in range(4):
        f = frozenset(t[:k] + t[k + 1:])
        faces[f] = faces.get(f, 0) + 1
node = last["contact/node"]
tri = [frozenset(node[v].tolist()) for v in last["contact/triangle"]]
assert len(tri) == len(set(tri)) and all(faces[t] == 1 for t in tri) and len(tri) == sum(n == 1 for n in faces.values())
P
}

@test "what does not tear passes unchanged, and frames after a tear are dropped and said" {
    "$BIN/step" -q -n 3 "$bar" -o short.abut
    "$BIN/tear" --stretch 5 short.abut -o same.abut
    "$BIN/export" -q --dump short.abut | grep -v '^ *prov' >a
    "$BIN/export" -q --dump same.abut | grep -v '^ *prov' >b
    cmp a b
    "$BIN/step" -q -n 20 "$bar" | "$BIN/tear" --stretch 1.35 -o torn.abut 2>said
    grep -q "frames after the tear are dropped" said
    "$BIN/step" -q -n 1 torn.abut | "$BIN/ccd-check" -q -o on.abut
    exits 2 "$BIN/step" -n 1 --from 2 torn.abut -o on.abut
    says "another MODEL comes after the frame of step 2: only frames of the last MODEL can be gone on from"
}

@test "rods tear: segments, the bends over them and their contact edges go, and what is left goes on free" {
    skip_without_numpy
    cat >rod.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, -9.81, 0]
contact: {dhat: 2 mm}
materials: {rubber: {young: 1e5, poisson: 0.3, density: 1000}}
objects:
  rod: {generate: {rod: {length: 0.4, cells: 8}}, rod: {radius: 4 mm}, material: rubber, translate: [-0.2, 0, 0]}
  post: {generate: {box: {size: [0.02, 0.02, 0.1], cells: [1, 1, 1]}}, obstacle: true, translate: [-0.1, -0.02, 0]}
motion:
  - {select: {object: rod, nodes: [4]}, fix: true}
  - {select: {object: rod, nodes: [8]}, translate: [0.5, 0, 0]}
Y
    "$BIN/mesh-prep" -q rod.yaml -o run.abut
    for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$BIN/step" -q -n 1 run.abut | "$BIN/tear" --stretch 1.3 -o next.abut 2>>said
        mv next.abut run.abut
    done
    grep -q " 0 tets, 0 shells, 0 springs, [1-8] rods tear (stretch up to 1.3" said
    "$BIN/ccd-check" -q run.abut -o judged.abut
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
m = [f for f in abut_stream.read("judged.abut") if f.kind == "model"]
rods = {tuple(sorted(r)) for r in m[-1]["rod/node"].tolist()}
whole = {tuple(sorted(r)) for r in m[0]["rod/node"].tolist()}
assert len(m) > 1 and 0 < len(rods) < len(whole) == 8 and len(m[0]["bend/node"]) == 7
assert len(m[-1]["rod/length"]) == len(rods) and len(m[-1]["bend/stiffness"]) == len(m[-1]["bend/node"])
bends = [tuple(b) for b in m[-1]["bend/node"].tolist()]
have = [tuple(b) for b in m[0]["bend/node"].tolist() if tuple(sorted(b[:2])) in rods and tuple(sorted(b[1:])) in rods]
assert bends == have, (bends, have)
node = m[-1]["contact/node"]
edges = {tuple(sorted(node[e].tolist())) for e in m[-1]["contact/edge"]}
assert rods <= edges and not (whole - rods) & edges, (edges, rods)
assert (m[-1]["node/mass"] == m[0]["node/mass"]).all()
P
}

@test "a net of springs tears: springs and the triangles on them go" {
    skip_without_numpy
    "$BIN/springs" -q --stiffness 20 --replace "$bar" |
        "$BIN/step" -q --solver mass-springs --contact ignore -n 10 |
        "$BIN/tear" --stretch 1.3 -o torn.abut
    "$BIN/step" -q --solver mass-springs --contact ignore -n 5 torn.abut -o on.abut
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
m = [f for f in abut_stream.read("on.abut") if f.kind == "model"]
assert len(m) == 2 and len(m[1]["spring/node"]) < len(m[0]["spring/node"])
assert len(m[1]["contact/triangle"]) < len(m[0]["contact/triangle"])
# sides of the triangles that are left are springs that are left, where they were springs before
before, after = ({tuple(sorted(e)) for e in n["spring/node"].tolist()} for n in m)
node = m[1]["contact/node"]
sides = {tuple(sorted((int(node[t[k]]), int(node[t[k - 1]])))) for t in m[1]["contact/triangle"] for k in range(3)}
assert sides & before and not sides & before - after, len(sides & before - after)
P
}

@test "tear wants a limit above 1" {
    exits 2 "$BIN/tear" "$bar" -o o.abut
    says "--stretch S must be given"
    exits 2 "$BIN/tear" --stretch 0.9 "$bar" -o o.abut
    says "more than 1"
}
