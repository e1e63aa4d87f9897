#!/usr/bin/env bats
# export: files that other programs read, tables.  export_check.py reads them back, by the formats' own rules.
load helpers

# bodies of two materials, obstacles of every dimension, one of them moving; six steps with contact: made once
setup_file() {
    local bin=${BIN:-$BATS_TEST_DIRNAME/../../bin}
    cd "$BATS_FILE_TMPDIR"
    cat > pile.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.3}}
materials:
  jelly:  {model: neo-hookean, density: 1000, young: 3e4, poisson: 0.4}
  rubber: {model: fixed-corotated, density: 1200, young: 1e5, poisson: 0.3}
objects:
  low:   {generate: {box: {size: [0.3, 0.2, 0.3], cells: [3, 3, 3]}}, material: jelly, translate: [0, 0.1003, 0]}
  high:  {generate: {sphere: {radius: 0.12, cells: 4}}, material: rubber, translate: [0.05, 0.3207, 0.05], velocity: [0.2, -0.3, 0]}
  board: {generate: {cloth: {size: [0.4, 0.4], cells: [3, 3]}}, obstacle: true, translate: [0.5, 0.05, 0]}
  wire:  {generate: {rod: {length: 0.3, cells: 4}}, obstacle: true, translate: [0, 0.1, 0.3]}
  dots:  {generate: {particles: {size: [0.2, 0.1, 0.1], count: [3, 2, 1]}}, obstacle: true, translate: [-0.4, 0.1, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
motion:
  - {select: {object: wire}, translate: [0, 0.5, 0], until: 1 s}
Y
    "$bin/mesh-prep" pile.yaml -o start.abut
    "$bin/step" -n 6 --report steps.jsonl start.abut -o run.abut
    "$bin/step" -n 6 --with forces,energies start.abut -o forces.abut
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    TMP=$BATS_TEST_TMPDIR
    run=$BATS_FILE_TMPDIR/run.abut
}
teardown() { :; }

check() {
    skip_without_numpy
    "$PYTHON" "$BATS_TEST_DIRNAME/export_check.py" "$@"
}
@test "export --help names its options and exits 0" {
    exits 0 "$BIN/export" --help
    writes --gltf; writes --frames
}

@test "VTU holds positions, fields and cells of every frame, and scene.pvd their times" {
    exits 0 "$BIN/export" "$run" --vtu out
    check vtu out "$run"
}

@test "VTU --tensors adds Cauchy's stress and the deformation gradient to every tet of every frame, and nothing else" {
    exits 0 "$BIN/export" "$run" --vtu out --tensors
    check vtu out "$run"
    exits 0 "$BIN/export" "$run" --vtu plain
    names() { grep -ho 'Name="[^"]*"' "$1" | sort; }
    for f in out/solids_*.vtu; do
        [ "$(comm -13 <(names "plain/${f##*/}") <(names "$f") | xargs)" = "Name=cauchy_stress Name=deformation_gradient" ]
        [ -z "$(comm -23 <(names "plain/${f##*/}") <(names "$f"))" ]
    done
    [ "$(ls out | wc -l)" -eq "$(ls plain | wc -l)" ]
    cmp out/others_0000.vtu plain/others_0000.vtu
    exits 2 "$BIN/export" "$run" --tensors --csv t.csv
    says "--tensors: expected --vtu"
}

@test "contact forces computed by export are those that step --with forces writes" {
    exits 0 "$BIN/export" "$run" --vtu out
    exits 0 "$BIN/export" "$BATS_FILE_TMPDIR/forces.abut" --vtu given
    check vtu given "$BATS_FILE_TMPDIR/forces.abut"
    check contact out given
}

@test "arrays that abut does not know become point and cell data of VTU under their names" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$run" more.abut <<'P'
import sys
import numpy as np
import abut_stream as s
with s.Writer(sys.argv[2]) as w:
    for i in s.read(sys.argv[1]):
        if i.kind == "model":
            nv, nt = len(i["node/X"]), len(i["tet/node"])
            w.model(i.arrays)
            continue
        i.arrays["node/heat"] = s.Array(np.arange(nv, dtype="f4") + i.step, "K")
        i.arrays["node/pair"] = s.Array(np.arange(2 * nv, dtype="i8").reshape(nv, 2))
        i.arrays["tet/flag"] = s.Array((np.arange(nt) % 7).astype("u1"))
        w.frame(i.step, i.time, i.arrays, i.phase)
P
    exits 0 "$BIN/export" more.abut --vtu out
    check vtu out more.abut node/heat node/pair tet/flag
}

@test "OBJ holds the same doubles as the stream, in closed surfaces" {
    exits 0 "$BIN/export" "$run" --obj out
    check obj out "$run"
}

@test "OBJ files go back through ccd-check as a sequence" {
    exits 0 "$BIN/export" "$run" --obj out --object low --object high
    exits 0 "$BIN/ccd-check" out/frame_*.obj
}

@test "PLY holds the same doubles as the stream" {
    exits 0 "$BIN/export" "$run" --ply out
    check ply out "$run"
}

@test "glTF is well formed and its animation takes every mesh through all frames" {
    exits 0 "$BIN/export" "$run" --gltf run.glb
    check glb run.glb "$run"
}

@test "glTF of one frame, and of bodies that rest, has no animation and no room for one" {
    "$BIN/step" -q -n 2 "$run" | "$BIN/export" -q -f 0 --gltf one.glb
    printf 'objects: {s: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}}\ngravity: [0, 0, 0]\n' |
        "$BIN/mesh-prep" -q - | "$BIN/step" -q -n 2 | "$BIN/export" -q --gltf still.glb
    "$PYTHON" - "$ROOT/tests/tools" one.glb still.glb <<'P'
import sys
sys.path.insert(0, sys.argv[1])
from export_check import glb
for name in sys.argv[2:]:
    doc, buf = glb(name)
    assert "animations" not in doc and not any("targets" in p for m in doc["meshes"] for p in m["primitives"]), name
P
}

@test "a name that ends in .gltf gets the document of the .glb as JSON, its buffer within it" {
    exits 0 "$BIN/export" "$run" --gltf run.glb
    exits 0 "$BIN/export" "$run" --gltf run.gltf
    "$PYTHON" - run.glb run.gltf <<'P'
import base64, json, struct, sys
binary = open(sys.argv[1], "rb").read()
n = struct.unpack("<I", binary[12:16])[0]
doc, buffer = json.loads(binary[20:20 + n]), binary[28 + n:]
one = json.load(open(sys.argv[2]))
uri = one["buffers"][0].pop("uri")
assert one == doc and len(buffer) > 3072
kind, data = uri.split(",")
assert kind == "data:application/octet-stream;base64"
assert base64.b64decode(data, validate=True) == buffer
P
}

@test "OBJ has the names of objects as they are, and reads back" {
    cat > names.yaml <<'Y'
objects:
  a b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}
  a_b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [3, 0, 0]}
  'v # x': {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [6, 0, 0]}
Y
    "$BIN/mesh-prep" -q names.yaml -o names.abut
    exits 0 "$BIN/export" --obj out names.abut
    diff <(printf '%s\n' 'o a b' 'o a_b' 'o v # x') <(grep ^o out/frame_0000.obj)
    printf 'objects: {all: {mesh: out/frame_0000.obj, shell: {thickness: 1 mm}}}' > back.yaml
    exits 0 "$BIN/mesh-prep" back.yaml -o back.abut
    "$BIN/export" --dump --no-data back.abut | grep '^array node/X .*24'
}

@test "after an error nothing is said of frames that were not taken" {
    exits 2 "$BIN/export" "$run" --object nobody
    [ "$(grep -c taken stderr)" -eq 0 ]
    exits 2 "$BIN/export" "$run" --frames 99 --obj none
    [ "$(grep -c taken stderr)" -eq 0 ]
    exits 0 "$BIN/export" "$run" -f 0 --obj out
    says "1 frame taken"
}

@test "tables agree with each other, with numpy, and with the report of step" {
    exits 0 "$BIN/export" "$run" --csv t.csv --json t.json
    check table t.csv t.json "$run" "$BATS_FILE_TMPDIR/steps.jsonl"
}

@test "tables and files of nodes hold what step --with forces,energies left, and the energies balance" {
    exits 0 "$BIN/export" "$BATS_FILE_TMPDIR/forces.abut" --csv t.csv --json t.json --nodes nodes
    check table t.csv t.json "$BATS_FILE_TMPDIR/forces.abut" "$BATS_FILE_TMPDIR/steps.jsonl"
    check with t.csv nodes "$BATS_FILE_TMPDIR/forces.abut"
    exits 0 "$BIN/export" "$run" --csv plain.csv
    ! head -1 plain.csv | grep -E '_N[,"]|_work_J|creep'
}

# A block on an obstacle, and one on the floor that leans against a wall, until they rest; with options of mesh-prep.
corner() {
    cat > corner.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [2, -9.81, 0]
contact: {dhat: 1e-3 m}
nodal: {iterations: 200, tolerance: 1e-9 m}
force-tolerance: 1e-6
damping: {mass: 10 1/s}
materials: {soft: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.3}}
objects:
  plate: {generate: {box: {size: [0.5, 0.05, 0.5], cells: [2, 1, 2]}}, obstacle: true, mu: 0.6}
  block: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [0, 0.0756, 0]}
  low:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: soft, translate: [1, 0.0506, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.1}
  wall:  {half-space: {point: [1.0506, 0, 0], normal: [-1, 0, 0]}, mu: 0}
Y
    "$BIN/mesh-prep" -q corner.yaml "$@" | "$BIN/step" -q -n 80 --with forces -o corner.abut
    "$BIN/export" -q corner.abut --csv corner.csv
}

# balanced KIND: the sum of its columns over all objects and half-spaces is 0 in every row that has them, in x, y and z
balanced() {
    awk -F, -v kind="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { for (k = 1; k <= 3; k++) {
              sum = 0; c = substr("xyz", k, 1)
              for (name in at) if (name ~ ("^[a-z]+[.]" kind "_" c "_N$")) { if ($at[name] == "") next; sum += $at[name]; n++ }
              if (sum * sum > 1e-20) { print NR, c, sum; bad = 1 } } }
        END { print n; exit bad || n < 1200 }' corner.csv
}

# last COLUMN: of the last row
last() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { print at[name] ? $at[name] : "none" }' corner.csv; }

# near NUMBER NUMBER TOLERANCE
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { if (a !~ /[0-9]/ || (a - b)^2 > t^2) { print a, "expected", b; exit 1 } }'; }

@test "half-spaces have columns of forces: action is reaction, and who rests on one presses it with its weight" {
    for how in newton nodal; do
        corner --set solver=$how
        balanced contact
        balanced friction
        for side in contact friction; do
            near "$(last floor.${side}_z_N)" 0 1e-3
            near "$(last wall.${side}_z_N)" 0 1e-3
        done
        # 1 kg each; friction on the floor takes a tenth of the weight, the wall what is left
        near "$(last floor.contact_y_N)" -9.81 1e-3
        near "$(last floor.reaction_y_N)" 9.81 1e-3
        near "$(echo "$(last floor.friction_x_N)" "$(last wall.contact_x_N)" | awk '{ print $1 + $2 }')" 2 1e-2
        [ "$(last wall.friction_y_N)" = 0 ]
        near "$(echo "$(last plate.contact_y_N)" "$(last plate.friction_y_N)" | awk '{ print $1 + $2 }')" -9.81 1e-3
        near "$(echo "$(last plate.contact_x_N)" "$(last plate.friction_x_N)" | awk '{ print $1 + $2 }')" 2 1e-2
    done
    # collision vertices that are sums of nodes
    for how in newton nodal; do
        corner --set solver=$how --set objects.low.order=2 --set objects.block.order=2
        balanced contact
        near "$(last floor.contact_y_N)" -9.81 1e-3
    done
    "$BIN/export" -q corner.abut --object wall --csv corner.csv
    [ "$(last floor.contact_y_N)" = none ]
    near "$(last wall.contact_y_N)" 0 1e-12
    # two half-spaces with friction: each has its own, along itself
    for how in newton nodal; do
        corner --set objects.wall.mu=0.1 --set solver=$how
        balanced contact
        balanced friction
        near "$(last floor.friction_y_N)" 0 1e-12
        near "$(last wall.friction_x_N)" 0 1e-12
        near "$(echo "$(last wall.reaction_x_N)" "$(last wall.contact_x_N)" | awk '{ print $1 + $2 }')" 0 1e-12
        near "$(echo "$(last floor.contact_y_N)" "$(last wall.friction_y_N)" "$(last plate.contact_y_N)" \
            "$(last plate.friction_y_N)" | awk '{ print $1 + $2 + $3 + $4 }')" -19.62 1e-2
    done
    # without forces in the frames there are no columns
    "$BIN/mesh-prep" -q corner.yaml | "$BIN/step" -q -n 2 | "$BIN/export" -q --csv corner.csv
    [ "$(last floor.contact_y_N)" = none ]
}

@test "friction on the one half-space that has some is what holds the bodies, if the frame does not say it" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$BATS_FILE_TMPDIR/forces.abut" less.abut <<'P'
import sys
import abut_stream as s
with s.Writer(sys.argv[2]) as w:
    for i in s.read(sys.argv[1]):
        if i.kind == "model":
            w.model(i.arrays)
            continue
        i.arrays.pop("half-space/friction-force", None)
        w.frame(i.step, i.time, i.arrays, i.phase)
P
    "$BIN/export" -q "$BATS_FILE_TMPDIR/forces.abut" --csv all.csv
    "$BIN/export" -q less.abut --csv less.csv
    "$PYTHON" - <<'P'
import csv
a, b = (list(csv.DictReader(open(n))) for n in ("all.csv", "less.csv"))
told = [k for k in a[0] if k.startswith("floor.")]
assert a[0].keys() == b[0].keys() and len(told) == 9, told
for r, q in zip(a[1:], b[1:]):
    for k in told:
        assert abs(float(r[k]) - float(q[k])) < 1e-9, (k, r[k], q[k])
assert max(abs(float(r["floor.friction_x_N"])) for r in b[1:]) > 1e-3
P
}

@test "a state in which things touch has no number of contacts, the gap 0 and no forces of contact" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$run" touch.abut <<'P'
import sys
import numpy as np
import abut_stream as s
with s.Writer(sys.argv[2]) as w:
    for i in s.read(sys.argv[1]):
        if i.kind == "model":
            low = np.flatnonzero(i["node/X"][:, 1] == i["node/X"][:, 1].min())[0]
            w.model(i.arrays)
            continue
        if i.step == 3:
            x = i["node/x"].copy()
            x[np.argmin(x[:, 1]), 1] = 0
            i.arrays["node/x"] = s.Array(x, "m")
        w.frame(i.step, i.time, i.arrays, i.phase)
P
    exits 0 "$BIN/export" touch.abut --csv t.csv --nodes nodes
    "$PYTHON" - <<'P'
import csv
rows = list(csv.DictReader(open("t.csv")))
assert [r["contacts"] == "" for r in rows] == [k == 3 for k in range(7)], [r["contacts"] for r in rows]
assert float(rows[3]["gap_m"]) == 0 and float(rows[4]["gap_m"]) > 0
assert all(r["contact_force_x_N"] == "" for r in csv.DictReader(open("nodes/nodes_0003.csv")))
assert any(r["contact_force_y_N"] != "" for r in csv.DictReader(open("nodes/nodes_0004.csv")))
P
}

@test "glTF says which frames a viewer plays if 256 morphs are too few" {
    skip_without_numpy
    printf 'objects: {t: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], tets: [[0, 1, 2, 3]]}}}}\n' |
        "$BIN/mesh-prep" -q - -o t.abut
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - <<'P'
import abut_stream as s
model, frame = s.read("t.abut")
with s.Writer("many.abut") as w:
    w.model(model.arrays)
    for k in range(258):
        w.frame(k, 0.01 * k, {"node/x": s.Array(frame["node/x"] + 0.01 * k, "m"), "node/v": frame.arrays["node/v"]})
P
    exits 0 "$BIN/export" many.abut --gltf many.glb
    grep -E 'many.glb: some viewers cannot play 25[78] frames; --frames ::2 would make it 129$' stderr
    exits 0 "$BIN/export" many.abut --frames ::2 --gltf few.glb
    exits 1 grep 'cannot play' stderr
}

@test "a name under /dev or /proc that leads to a file is written directly, and not replaced" {
    exits 0 "$BIN/export" "$run" --csv t.csv
    "$BIN/export" "$run" --csv /proc/self/fd/3 3> direct.csv
    cmp t.csv direct.csv
}

@test "names with commas and quotes are one cell of a table" {
    cat > odd.yaml <<'Y'
objects:
  'left, "upper"': {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}
Y
    "$BIN/mesh-prep" -q odd.yaml -o odd.abut
    exits 0 "$BIN/export" odd.abut --csv odd.csv --json odd.json --nodes odd
    "$PYTHON" - <<'P'
import csv, json
head, row = list(csv.reader(open("odd.csv")))
assert len(head) == len(row) and 'left, "upper".x_m' in head, head
assert json.load(open("odd.json"))["columns"] == head
rows = list(csv.DictReader(open("odd/nodes_0000.csv")))
assert len(rows) == 8 and all(r["object"] == 'left, "upper"' for r in rows)
P
}

@test "files of nodes hold arrays of other programs, in the rows of the chosen objects" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$run" more.abut <<'P'
import sys
import numpy as np
import abut_stream as s
with s.Writer(sys.argv[2]) as w:
    for i in s.read(sys.argv[1]):
        if i.kind == "model":
            nv = len(i["node/X"])
            w.model(i.arrays)
            continue
        i.arrays["node/heat"] = s.Array(np.arange(nv, dtype="f4") + 0.5, "K")
        i.arrays["node/pair"] = s.Array(np.arange(2 * nv, dtype="i8").reshape(nv, 2))
        w.frame(i.step, i.time, i.arrays, i.phase)
P
    exits 0 "$BIN/export" more.abut -f -1 --object wire --nodes nodes
    "$PYTHON" -c '
import csv
rows = list(csv.DictReader(open("nodes/nodes_0006.csv")))
assert len(rows) == 5 and {r["object"] for r in rows} == {"wire"} and [int(r["node"]) for r in rows] == [0, 1, 2, 3, 4]
row = [int(float(r["node/heat"]) - 0.5) for r in rows]
assert row == list(range(row[0], row[0] + 5)) and row[0] > 64 and all(int(r["node/pair.1"]) == 2 * i + 1 for i, r in zip(row, rows))'
}

@test "several outputs in one pass are the same bytes as one by one" {
    exits 0 "$BIN/export" "$run" --vtu a --obj a --ply a --gltf a.glb --csv a.csv
    exits 0 "$BIN/export" "$run" --vtu b
    exits 0 "$BIN/export" "$run" --obj b
    exits 0 "$BIN/export" "$run" --ply b
    exits 0 "$BIN/export" "$run" --gltf b.glb
    exits 0 "$BIN/export" -j 1 "$run" --csv b.csv
    diff -r a b; cmp a.glb b.glb; cmp a.csv b.csv
}

@test "--frames counts as Python does, also from the end of a pipe" {
    exits 0 "$BIN/export" "$run" -f 0:5:2 --obj a
    [ "$(ls a)" = $'frame_0000.obj\nframe_0002.obj\nframe_0004.obj' ]
    cat "$run" | "$BIN/export" -f 1,-2: --obj b
    [ "$(ls b)" = $'frame_0001.obj\nframe_0005.obj\nframe_0006.obj' ]
    exits 2 "$BIN/export" "$run" -f 7 --csv -; says "frame 7"
    exits 2 "$BIN/export" "$run" -f 1:x --csv -; says "1:x"
}

@test "--object takes the objects named and refuses others by name" {
    exits 0 "$BIN/export" "$run" -f 0 --object high --obj a
    grep -q '^o high$' a/frame_0000.obj
    [ "$(grep -c '^o ' a/frame_0000.obj)" -eq 1 ]
    exits 2 "$BIN/export" "$run" --object hihg --obj b; says "there are low, high, board, wire, dots"
}

@test "the summary tells objects, materials and frames" {
    exits 0 "$BIN/export" "$run"
    grep -Eq '^low +body +64 +162 +108' stdout
    writes "7 frames: steps 0 to 6, 0 s to 0.06 s"; writes "rubber"; writes "step "
}

@test "the summary counts what a scene has, and names its materials, half-spaces and motions" {
    cat > all.yaml <<'Y'
time: {step: 0.01 s}
contact: {dhat: 2 mm, friction: {mu: 0.2, eps_v: 1 mm/s}}
tolerance: 2 mm/s
force-tolerance: 0.25
materials:
  m: {model: fixed-corotated, density: 500, young: 20 kPa, poisson: 0.25}
  a much longer name: {density: 900, young: 1e5, poisson: 0.4}
objects:
  box:   {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: m, translate: [0, 1, 0]}
  cloth: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1 mm, stretch-limit: 1.1}, material: m, translate: [0, 3, 0]}
  rope:  {generate: {rod: {length: 1, cells: 2}}, rod: {radius: 1 cm}, material: m, translate: [3, 1, 0]}
  sand:  {generate: {particles: {size: [0, 0, 0], count: [1, 1, 1]}}, particle: {radius: 5 mm}, material: a much longer name, translate: [5, 1, 0]}
  board: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, obstacle: true, translate: [7, 1, 0]}
  floor: {half-space: {point: [0, -1, 0], normal: [0, 2, 0]}}
motion:
  - {select: {object: box, box: [[-2, 0.4, -2], [2, 0.6, 2]]}, fix: true}
  - {select: {object: board}, translate: [0, 0.5, 0], until: 1 s}
  - {select: {object: rope}, scale: {rate: [0, 0, 0.5]}}
  - {select: {object: sand}, force: [0, 0, 0]}
Y
    "$BIN/mesh-prep" -q all.yaml | "$BIN/export" -q | tail -n +2 > summary     # behind the history
    diff summary - <<'E'

object                              nodes      tets triangles segments   points
box                        body         8         6        12        0        0
cloth                      body         4         0         2        0        0
rope                       body         3         0         0        2        0
sand                       body         1         0         0        0        1
board                  obstacle         4         0         2        0        0
shells: 2 triangles, 1 hinge, limits of stretch
rods: 2 segments, 1 bend
particles: 1
half-space 'floor': point (0, -1, 0) m, normal (0, 1, 0)
material m           fixed-corotated, density 500 kg/m^3, Young's modulus 20000 Pa, Poisson's ratio 0.25
material a much longer name neo-hookean, density 900 kg/m^3, Young's modulus 100000 Pa, Poisson's ratio 0.4
time step 0.01 s, gravity (0, -9.81, 0) m/s^2, length of the scene 1 m
contact within 0.002 m, stiction speed 0.001 m/s, tolerance 0.002 m/s, 3 motions, nodes fixed or held 1 time
forces are to balance to 0.25 of the largest on a body

1 frame: steps 0 to 0, 0 s to 0 s
its arrays: node/x 20x3, node/v 20x3
E
    "$BIN/mesh-prep" -q all.yaml --set contact=off --set 'motion=[]' --set 'objects.floor={half-space: {normal: [1, 0, 0]}}' |
        "$BIN/export" -q > summary
    grep '^contact off; contact within' summary
    grep ', 0 motions$' summary
    grep -x "half-space 'floor': point (0, 0, 0) m, normal (1, 0, 0)" summary
}

@test "the summary has the times of all frames, the largest force left, and arrays in lines of 100 letters" {
    skip_without_numpy
    printf 'objects: {t: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], tets: [[0, 1, 2, 3]]}}}}\n' |
        "$BIN/mesh-prep" -q - -o t.abut
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - <<'P'
import abut_stream as s
model, frame = s.read("t.abut")
for name, widths in (("full", (31, 30, 4, 31, 31, 23, 3)), ("over", (31, 31, 31, 30, 3))):
    with s.Writer(name + ".abut") as w:
        w.model(model.arrays)
        for k, left in enumerate((0.125, 0.5, 0.25)):
            a = {"node/x": frame.arrays["node/x"], "node/v": frame.arrays["node/v"]}
            for i, n in enumerate(widths):
                a["%d/" % i + "a" * (n - 2)] = s.Array(1.0, "")
            if name == "full" and k < 2:
                a["step/force-residual"] = s.Array(left, "")
            w.frame(7 + k, 0.5 * k, a)
P
    "$BIN/export" -q full.abut > full
    grep -x '3 frames: steps 7 to 9, 0 s to 1 s' full
    grep -x 'forces balance to 0.5 of the largest on a body, or better' full
    "$BIN/export" -q over.abut > over
    exits 1 grep 'forces balance to' over
    # "its arrays: node/x 4x3, node/v 4x3," has 35 letters; lines after it begin with four blanks, and all but the last name end
    # with a comma
    widths() { sed -n '/^its arrays:/,$p' "$1" | awk '{ printf "%d ", length($0) }'; }
    [ "$(widths full)" = "100 100 7 " ]
    [ "$(widths over)" = "68 69 39 " ]
}

@test "the summary names every array of the last frame, in lines that end between names" {
    exits 0 "$BIN/export" "$BATS_FILE_TMPDIR/forces.abut"
    "$BIN/export" "$BATS_FILE_TMPDIR/forces.abut" --dump --no-data > dump
    sed -n '/^its arrays:/,/[^,]$/p' stdout | tr '\n' ' ' | sed 's/its arrays: //; s/ *$//; s/,  */\n/g' | cut -d' ' -f1 > told
    awk '/^frame/ { n = 0 } /^array/ { name[n++] = $2 } END { for (i = 0; i < n; i++) print name[i] }' dump > there
    [ "$(wc -l < there)" -gt 30 ]
    diff told there
    [ "$(awk 'length > 130' stdout | wc -l)" -eq 0 ]
}

@test "--dump writes the stream as text, and goes with nothing else" {
    exits 0 "$BIN/export" "$ROOT/tests/golden/stored-1.0.abut" --dump
    diff stdout "$ROOT/tests/golden/1.0.txt"
    exits 2 "$BIN/export" "$run" --dump --csv t.csv
    exits 2 "$BIN/export" "$run" --no-data --csv t.csv; says "--dump"
}

@test "--dump and --summary show control characters of texts: none forges a line" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$run" odd.abut <<'P'
import sys
import abut_stream as s
with s.Writer(sys.argv[2]) as w:
    w.prov("odd\nend", "1\x1b[2J", '{"a":\x7f}')
    for i in s.read(sys.argv[1]):
        if i.kind == "model":
            w.model({**i.arrays, "my/array": s.Array([1.0], "m\nend")})
        else:
            w.frame(i.step, i.time, i.arrays)
P
    exits 0 "$BIN/export" odd.abut --dump --no-data
    writes 'prov odd\x0aend 1\x1b[2J {"a":\x7f}'
    writes 'array my/array f64 [1] m\x0aend'
    [ "$(grep -c '^end' stdout)" -eq 1 ]
    exits 0 "$BIN/export" odd.abut --summary
    writes 'odd\x0aend'
    cp stdout said
    exits 1 grep -P '[\x00-\x09\x0b-\x1f\x7f]' said
    exits 0 "$BIN/export" "$run" --summary      # a line for each program of the history
    [ "$(sed '/^$/q' stdout | grep -cE '^(mesh-prep|step) ')" -eq 2 ]
}

@test "a section of a later version is left out by its name, and without one nothing is said" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$ROOT/tests/golden/stored-1.0.abut" <<'P'
import struct, sys
import abut_stream as s
class Later(s.Writer):
    def _section(self, tag, payload):
        if tag == b"MODL":
            self._put(struct.pack("<4sHHQ", b"MINE", 1, 0, 5) + b"hello")
            self._count[0] += 1
        super()._section(tag, payload)
with Later("later.abut") as w:
    for i in s.read(sys.argv[1]):
        w.model(i.arrays) if i.kind == "model" else w.frame(i.step, i.time, i.arrays, i.phase)
P
    exits 0 "$BIN/export" later.abut --csv t.csv
    [ "$(grep -v taken stderr)" = "export: later.abut: left out section MINE (5 bytes), which this program does not know" ]
    exits 0 "$BIN/export" "$ROOT/tests/golden/stored-1.0.abut" --csv t.csv
    [ -z "$(grep -v 'taken\|replaced' stderr)" ]
}

@test "a model that changes on the way starts new grids; glTF refuses it" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$run" "$ROOT/tests/golden/stored-1.0.abut" two.abut <<'P'
import sys
import abut_stream as s
with s.Writer(sys.argv[3]) as w:
    step = 0
    for i in list(s.read(sys.argv[1])) + list(s.read(sys.argv[2])):
        if i.kind == "model":
            w.model(i.arrays)
        else:
            step += 1
            w.frame(step, 0.1 * step, i.arrays)
P
    exits 0 "$BIN/export" two.abut --vtu out --obj out --csv t.csv --summary
    writes "7 frames: steps 1 to 7"
    [ -e out/solids_0006.vtu ]; [ -e out/frame_0007.obj ]
    [ "$(grep -c '' t.csv)" -gt 8 ]
    exits 3 "$BIN/export" two.abut --gltf two.glb; says "the model changes at frame 7"
    [ ! -e two.glb ]
    exits 0 "$BIN/export" two.abut -f 0:7 --gltf two.glb
}

@test "a candidate of a step still being solved is shown as pending" {
    exits 0 "$BIN/step" --one-pass "$run" -o pending.abut
    exits 0 "$BIN/export" pending.abut -f -1 --csv -
    [[ $(tail -1 stdout) == 7,6,0.06,1,* ]]
    exits 3 "$BIN/export" pending.abut --gltf p.glb; says "not after the frame before it"
}

@test "a stream without its end leaves nothing that looks whole" {
    head -c 60000 "$run" > cut.abut
    exits 3 "$BIN/export" cut.abut --vtu v --gltf c.glb --csv c.csv --json c.json
    says "end mark"
    [ ! -e v/scene.pvd ]; [ ! -e c.glb ]; [ ! -e c.csv ]; [ ! -e c.json ]
    [ -z "$(find . -name '*.part')" ]
}

@test "outputs that cannot be written end with 5 and name the file" {
    exits 5 "$BIN/export" "$run" --csv no/t.csv; says "no/t.csv"
    exits 5 "$BIN/export" "$run" --vtu no/such/folder; says "no/such/folder"
    exits 5 "$BIN/export" "$run" --csv /dev/full; says "No space left"
    exits 5 "$BIN/export" "$run" --gltf /dev/full; says "No space left"
}

@test "options that fit nothing are refused" {
    exits 2 "$BIN/export" "$run" --csv - --json -; says "only one"
    exits 2 "$BIN/export" "$run" --obj a -o b; says "nothing goes there"
    [ ! -e a ]
}

@test "options of pictures are refused with the name of the program that draws them" {
    for o in png=a strip=s.png panels=3 size=16x16 camera=1,2 color=stress range=1:2 wireframe no-label; do
        exits 2 "$BIN/export" "$run" --$o
        says "--${o%=*} is an option of the program 'picture'"
    done
    "$BIN/export" --help > help
    exits 1 grep -e --strip help
    exits 2 "$BIN/export" "$run" --pln a; says "did you mean --ply?"
}

@test "export --thick: surfaces of shells, rods and grains are closed, as far apart as their gaps, and in every format of surfaces" {
    cat > thick.yaml <<'Y'
time: {step: 0.02 s}
contact: {dhat: 1 mm}
materials: {m: {density: 500, young: 1e5, poisson: 0.3}}
objects:
  low:   {generate: {cloth: {size: [0.2, 0.2], cells: [4, 4]}}, contact-thickness: 10 mm, obstacle: true}
  high:  {generate: {cloth: {size: [0.1, 0.1], cells: [2, 2]}}, contact-thickness: 10 mm, translate: [0, 12 mm, 0], shell: {thickness: 1 mm}}
  grain: {generate: {particles: {size: [0, 0, 0], count: [1, 1, 1]}}, contact-thickness: 10 mm, particle: {radius: 5 mm},
          translate: [0, 24 mm, 0]}
Y
    "$BIN/mesh-prep" -q thick.yaml | "$BIN/step" -q -n 20 -o thick.abut
    "$BIN/export" -q --thick --obj thick thick.abut --frames -2:
    "$BIN/export" -q --obj thin thick.abut --frames -2:
    grep -c '^o ' thick/frame_0020.obj | grep -x 3
    [ "$(grep -c '^[lp] ' thick/frame_0020.obj)" -eq 0 ]
    grep -q '^p ' thin/frame_0020.obj
    "$BIN/ccd-check" -q thick/frame_0019.obj thick/frame_0020.obj        # gaps are positive,
    "$BIN/export" -q --thick --object low --object high --obj sheets thick.abut --frames -2:
    exits 1 "$BIN/ccd-check" -q -s 1e-3 sheets/frame_0019.obj sheets/frame_0020.obj     # and below dhat
    "$BIN/ccd-check" -q -s 9e-3 thin/frame_0019.obj thin/frame_0020.obj
    "$BIN/export" -q --thick --ply ply --gltf thick.glb --html thick.html --frames -1 thick.abut
    [ "$(sed -n 's/^element vertex //p;/end_header/q' ply/frame_0020.ply)" -eq "$(grep -c '^v ' thick/frame_0020.obj)" ]
    [ "$(sed -n 's/^element face //p;/end_header/q' ply/frame_0020.ply)" -eq "$(grep -c '^f ' thick/frame_0020.obj)" ]
    [ -s thick.glb ]
    [ -s thick.html ]
    exits 2 "$BIN/export" --thick --vtu x thick.abut
    says '--thick: expected --gltf, --html, --obj and --ply alone'
    exits 2 "$BIN/export" --thick thick.abut
}

@test "shells, rods and particles: VTU holds their strains and angles, OBJ and PLY all of them" {
    cat > thin.yaml <<'Y'
materials: {m: {young: 20 kPa, density: 500, poisson: 0.3}}
contact: {dhat: 1 mm}
objects:
  tube:  {generate: {tube: {radius: 0.1, height: 0.3, cells: [12, 6], layout: rows}}, shell: {thickness: 1 mm, rest-angle: mesh, warp: [1, 1, 0]}}
  sheet: {generate: {cloth: {size: [0.4, 0.4], cells: [5, 5]}}, translate: [0, 0.3, 0], shell: {thickness: 1 mm}}
  hair:  {generate: {strands: {count: [2, 2], spacing: 0.05, length: 0.2, cells: 4}}, translate: [0.5, 0, 0], rod: {radius: 2 mm}}
  sand:  {generate: {particles: {size: [0.1, 0.1, 0.1], count: [2, 3, 2]}}, translate: [1, 0, 0], particle: {radius: 5 mm}}
  board: {generate: {cloth: {size: [3, 1], cells: [3, 1]}}, obstacle: true, translate: [0, -0.16, 0]}
Y
    "$BIN/mesh-prep" -q thin.yaml | "$BIN/step" -q -n 8 -o thin.abut
    "$BIN/ccd-check" -q --no-output thin.abut
    exits 0 "$BIN/export" thin.abut --vtu out --obj out --ply out --gltf out.glb
    check vtu out thin.abut
    for k in shells others; do [ -s out/${k}_0008.vtu ]; done
    [ ! -e out/solids_0008.vtu ]
    [ "$(grep -c '^f' out/frame_0008.obj)" -eq $((12 * 6 * 2 + 50 + 6)) ]
    [ "$(grep -c '^l' out/frame_0008.obj)" -eq 16 ]
    [ "$(grep -c '^p' out/frame_0008.obj)" -eq 12 ]
    "$BIN/ccd-check" -q --no-output out/frame_*.obj
}

# bare ON-OR-OFF: bare.abut, one object of each kind, with contact or without
bare() {
    cat > bare.yaml <<Y
gravity: [0, 0, 0]
contact: $1
objects:
  cloth: {generate: {cloth: {size: [1, 1], cells: [4, 4]}}, shell: {thickness: 1 mm}}
  rope:  {generate: {rod: {length: 1, cells: 5}}, rod: {radius: 1 cm}, translate: [0, 1, 0]}
  sand:  {generate: {particles: {size: [0.1, 0.1, 0.1], count: [2, 2, 2]}}, particle: {radius: 5 mm}, translate: [2, 0, 0]}
  box:   {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, translate: [4, 0, 0]}
  wall:  {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, obstacle: true, translate: [8, 0, 0]}
Y
    "$BIN/mesh-prep" -q bare.yaml "${@:2}" -o bare.abut
}

# shapes FILE: the objects of an OBJ with the number of triangles, lines and points of each
shapes() { awk '$1 == "o" { o[n++] = $2 } /^[flp]/ { k[n, $1]++ }
    END { for (i = 0; i < n; i++) printf "%s %d %d %d\n", o[i], k[i+1, "f"], k[i+1, "l"], k[i+1, "p"] }' "$1"; }

@test "a model without contact is shown by its elements, in every format" {
    bare on
    "$BIN/export" -q --obj on --vtu on bare.abut
    bare off
    exits 0 "$BIN/export" --obj off --ply off --vtu off --gltf off.glb --html off.html bare.abut
    shapes off/frame_0000.obj > shapes
    diff <(shapes on/frame_0000.obj | grep -v wall) <(grep -v wall shapes)
    diff <(printf '%s\n' 'cloth 32 0 0' 'rope 0 5 0' 'sand 0 0 8' 'box 48 0 0' 'wall 0 0 9') shapes
    grep -aq '^element vertex 74$' off/frame_0000.ply       # 25 6 8 26 9, without the centre of the box
    grep -aq '^element face 80$' off/frame_0000.ply
    for k in solids shells; do cmp {on,off}/${k}_0000.vtu; done
    grep -q 'NumberOfPoints="23" NumberOfCells="22"' off/others_0000.vtu
    [ "$(grep -ao '"name":"[a-z]*","mesh"' off.glb | sort -u | wc -l)" -eq 5 ]
    grep -q '"name":"cloth".*"triangles":32' off.html
    exits 0 "$BIN/export" --object rope --obj rope bare.abut
    diff <(echo rope 0 5 0) <(shapes rope/frame_0000.obj)
    "$BIN/springs" -q --stiffness 1 --replace bare.abut -o net.abut
    exits 0 "$BIN/export" --obj net net.abut
    diff <(printf '%s\n' 'cloth 0 56 0' 'rope 0 5 0' 'sand 0 0 8' 'box 0 98 0' 'wall 0 0 9') <(shapes net/frame_0000.obj)
}

@test "a curved body beside them leaves shells, rods, particles and obstacles in MSH, and their surfaces once in VTU" {
    bare on
    "$BIN/export" -q --msh-text flat --vtu flat bare.abut
    bare '{dhat: 7 mm}' --set objects.ball='{generate: {ball: {radius: 0.5, divisions: 1}}, order: 2, translate: [6, 0, 0]}'
    exits 0 "$BIN/export" --msh-text curved --msh binary --vtu curved bare.abut
    grep -q '^3 6 "ball"$' curved/frame_0000.msh
    for k in cloth rope sand box wall; do
        [ "$(grep "\"$k\"" flat/frame_0000.msh)" = "$(grep "\"$k\"" curved/frame_0000.msh)" ]
        grep -aq "\"$k\"" binary/frame_0000.msh
        rm -rf one
        exits 0 "$BIN/export" --object $k --msh-text one bare.abut
        [ "$(sed -n '/^.Nodes/{n;s/.* //p}' one/frame_0000.msh)" -gt 0 ]
    done
    # the ball's contact surface besides: 642 points, 1280 triangles
    grep -q 'NumberOfPoints="23" NumberOfCells="21"' flat/others_0000.vtu
    grep -q 'NumberOfPoints="665" NumberOfCells="1301"' curved/others_0000.vtu
}
