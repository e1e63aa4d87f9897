#!/usr/bin/env bats
# strain-limit: finds how far the elements of every frame are stretched.
load helpers

# a rod of 1 m whose right end is pulled 0.1 m to the right in ten steps: a rest frame and ten more, made once
setup_file() {
    cat > "$BATS_FILE_TMPDIR/rod.yaml" <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, 0, 0]
contact: {dhat: 1e-3 l}
materials:
  jelly: {model: neo-hookean, density: 1000, young: 1e6, poisson: 0.3}
objects:
  rod: {generate: {box: {size: [1, 0.2, 0.2], cells: [10, 2, 2]}}, material: jelly}
motion:
  - {select: {object: rod, box: [[-0.51, -1, -1], [-0.49, 1, 1]]}, translate: [0, 0, 0]}
  - {select: {object: rod, box: [[0.49, -1, -1], [0.51, 1, 1]]}, translate: [1, 0, 0]}
Y
    "$BIN"/mesh-prep "$BATS_FILE_TMPDIR/rod.yaml" | "$BIN"/step -q -n 10 -o "$BATS_FILE_TMPDIR/rod.abut"
    # two sheets, one that hangs from two corners with weights on the others
    cat > "$BATS_FILE_TMPDIR/hang.yaml" <<'Y'
time: {step: 0.02 s}
contact: {dhat: 1 mm}
materials: {cotton: {density: 472.6, young: 8 kPa, poisson: 0.243, bending-young: 0.8 MPa}}
objects:
  hung:   {generate: {cloth: {size: [1, 1], edge: 0.2, layout: rows}}, shell: {thickness: 0.318 mm}}
  fallen: {generate: {cloth: {size: [1, 1], edge: 0.25}}, shell: {thickness: 0.318 mm}, translate: [3, 0, 0]}
motion:
  - {select: {object: hung, relative-box: [[0, 0, 0], [0.01, 1, 0.01]]}, fix: true}
  - {select: {object: hung, relative-box: [[0.99, 0, 0], [1, 1, 0.01]]}, fix: true}
  - {select: {object: hung, relative-box: [[0, 0, 0.99], [1, 1, 1]]}, force: [0, -1, 0]}
Y
    "$BIN"/mesh-prep "$BATS_FILE_TMPDIR/hang.yaml" -o "$BATS_FILE_TMPDIR/hang.abut"
}
hang() { echo "$BATS_FILE_TMPDIR/hang.abut"; }
rod() { echo "$BATS_FILE_TMPDIR/rod.abut"; }

@test "strain-limit --help names its options and exits 0" {
    exits 0 "$BIN/strain-limit" --help
    writes --audit
    writes --upper
    writes --json
}

@test "without limits the audit reports the extremes and says yes" {
    exits 0 "$BIN/strain-limit" --audit "$(rod)"
    says "11 frames"
    says "0 outside the limits"
}

@test "a stream without frames is audited, and one whose last steps do not follow each other is not projected" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$(rod)" "$(hang)" <<'P'
import sys
import abut_stream as s
with s.Writer("none.abut") as w:
    w.model(next(iter(s.read(sys.argv[1]))).arrays)
model, frame = s.read(sys.argv[2])
for name, steps in (("one", [3]), ("apart", [3, 5])):
    with s.Writer(name + ".abut") as w:
        w.model(model.arrays)
        for k in steps:
            w.frame(k, 0.02 * k, frame.arrays)
P
    exits 0 "$BIN/strain-limit" --audit none.abut
    says "the stream has no frames"
    exits 3 "$BIN/strain-limit" --project --upper 1.02 one.abut -o no.abut
    says "1 frame: the projection needs a start and its next step"
    exits 3 "$BIN/strain-limit" --project --upper 1.02 apart.abut -o no.abut
    says "step 5 after step 3: the projection needs two in a row, COMMITTED"
}

@test "20 frames outside the limits are named, further ones are only counted" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$(rod)" <<'P'
import sys
import abut_stream as s
items = list(s.read(sys.argv[1]))
with s.Writer("many.abut") as w:
    w.model(items[0].arrays)
    for k in range(22):
        w.frame(k, 0.01 * k, items[-1].arrays)
P
    exits 1 "$BIN/strain-limit" --audit --upper 1.05 many.abut
    [ "$(grep -c 'is above the limit 1.05' stderr)" -eq 20 ]
    [ "$(grep -c 'further frames outside the limits are only counted' stderr)" -eq 1 ]
    says "22 outside the limits"
}

@test "the stream passes through unchanged" {
    "$BIN/strain-limit" -q --audit "$(rod)" -o out.abut
    cmp "$(rod)" out.abut
    "$BIN/strain-limit" -q --audit < "$(rod)" | cmp "$(rod)" -
}

@test "a frame above the upper limit is named with its element, and the answer is no" {
    exits 1 "$BIN/strain-limit" --audit --upper 1.05 "$(rod)"
    says "is above the limit 1.05"
    says "of 'rod' (nodes "
    exits 0 "$BIN/strain-limit" --audit --upper 3 "$(rod)"
}

@test "a frame below the lower limit is named, and the stream still comes out whole" {
    exits 1 "$BIN/strain-limit" --audit --lower 0.999 "$(rod)" -o out.abut
    says "is below the limit 0.999"
    cmp "$(rod)" out.abut
    exits 0 "$BIN/strain-limit" --audit --lower 0.1 "$(rod)"
}

@test "the JSON has one line per frame and the stretch that the pull asks for" {
    "$BIN/strain-limit" -q --audit --json rod.jsonl "$(rod)" -o /dev/null
    "$PYTHON" - <<'P'
import json
rows = [json.loads(line) for line in open("rod.jsonl")]
assert [r["step"] for r in rows] == list(range(11))
assert abs(rows[0]["max"] - 1) < 1e-12 and abs(rows[0]["min"] - 1) < 1e-12
# the mean stretch along the rod is 1.1 in the end: some element has at least that much
assert 1.1 - 1e-9 <= rows[10]["max"] < 2 and 0.5 < rows[10]["min"] < 1
assert not any(r["outside"] for r in rows)
P
}

# two columns of squares of a fabric whose Green strain has bounds, drawn to 1.08 along the warp
woven() {
    cat > woven.yaml <<'Y'
contact: off
gravity: [0, 0, 0]
time: {step: 0.1 s, scheme: quasi-static}
materials:
  a: {membrane: cloth, fabric: {warp: 2e6, weft: 1e6, coupling: 3e5, shear: 5e5}, strain-limit: {warp: 0.1, weft: 0.2, shear: 0.3}}
objects:
  flag: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}}
motion:
  - {select: {object: flag, box: [[-0.51, -1, -1], [-0.49, 1, 1]]}, fix: true}
  - {select: {object: flag, box: [[0.49, -1, -1], [0.51, 1, 1]]}, translate: [0.4, 0, 0]}
Y
    "$BIN/mesh-prep" -q woven.yaml | "$BIN/step" -q -n 2 -o woven.abut
}

@test "the strains of cloth are judged as shares of their bounds, by direction" {
    skip_without_numpy
    woven
    exits 0 "$BIN/strain-limit" --audit --json woven.jsonl woven.abut -o /dev/null
    "$PYTHON" - "$ROOT" <<'P'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
import numpy as np
share = json.loads(open("woven.jsonl").readlines()[-1])["shells"]["strain_share"]
model, *frames = abut_stream.read("woven.abut")
X, x, tri = model["node/X"][:, [0, 2]], frames[-1]["node/x"], model["shell/node"]
largest = np.zeros(3)
for t in tri:       # Green strain from the squared lengths of the three sides, warp along x: s.E.s = (|d|^2 - |D|^2) / 2
    D = np.array([X[t[(k + 1) % 3]] - X[t[k]] for k in range(3)])
    d = np.array([x[t[(k + 1) % 3]] - x[t[k]] for k in range(3)])
    M = np.array([[s[0] ** 2, s[1] ** 2, 2 * s[0] * s[1]] for s in D])
    largest = np.maximum(largest, abs(np.linalg.solve(M, ((d ** 2).sum(1) - (D ** 2).sum(1)) / 2)))
assert abs(share["warp"] - largest[0] / 0.1) < 1e-9 and share["warp"] > 0.8
assert abs(share["weft"] - largest[1] / 0.2) < 1e-9
assert abs(share["shear"] - largest[2] / 0.3) < 1e-9
with abut_stream.Writer("beyond.abut") as w:    # pressed together along the weft: E22 = (0.7^2 - 1) / 2 = -0.255
    w.model(model.arrays)
    a = dict(frames[0].arrays)
    a["node/x"] = abut_stream.Array(model["node/X"] * [1, 1, 0.7], "m")
    w.frame(0, 0.0, a)
P
    exits 1 "$BIN/strain-limit" --audit beyond.abut -o /dev/null
    says "strain along weft of shell 0 of 'flag' (nodes 0, 3, 4) is 1.275 times its limit"
    exits 0 "$BIN/strain-limit" --audit woven.abut -o /dev/null
}

@test "the same answer for every thread count" {
    for j in 1 2 7; do "$BIN/strain-limit" -q -j $j --audit --json $j.jsonl "$(rod)" -o /dev/null; done
    cmp 1.jsonl 2.jsonl
    cmp 1.jsonl 7.jsonl
}

@test "a shell that lines a face of a tet is in contact once, whichever way round, and its limit is kept" {
    local t
    for t in 0,2,1 0,1,2; do
        cat > lined.yaml <<Y
abut: 1
gravity: [0, 0, 0]
objects:
  t: {generate: {explicit: {points: [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], tets: [[0,1,2,3]], triangles: [[$t]]}}, shell: {thickness: 1 mm, stretch-limit: 1.1}, velocity: [1, 0, 0], angular-velocity: {axis: [0, 0, 1], rate: 1 rad/s}}
Y
        "$BIN/mesh-prep" -q lined.yaml | "$BIN/step" -q -n 3 | "$BIN/ccd-check" -q | "$BIN/strain-limit" -q --audit -o lined.abut
        [ "$("$BIN/export" -q --dump --array contact/triangle lined.abut | grep -cE '^ +[0-9]+ [0-9]+ [0-9]+$')" -eq 4 ]
    done
}

@test "senseless requests exit 2 and say why" {
    exits 2 "$BIN/strain-limit" "$(rod)" -o no.abut
    says "give --audit"
    exits 2 "$BIN/strain-limit" --audit --upper 0.9 "$(rod)" -o no.abut
    says "more than 1"
    exits 2 "$BIN/strain-limit" --audit --lower 1 "$(rod)" -o no.abut
    says "less than 1"
    exits 2 "$BIN/strain-limit" --audit --upper x "$(rod)" -o no.abut
    printf 'abut: 1\nobjects:\n  s: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1 mm}}\n  b: %s\n' \
        '{generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [9, 0, 0]}' > two.yaml
    "$BIN/mesh-prep" -q two.yaml | "$BIN/step" -q -n 2 -o two.abut
    exits 2 "$BIN/strain-limit" --upper 1.5 --object b two.abut -o no.abut
    says "--object b: it has no shells, which alone have limits"
    exits 2 "$BIN/strain-limit" --project two.abut -o no.abut
    says "--project: no shell of the stream has a limit: expected --upper or --lower"
    [ ! -e no.abut ]
}

@test "a cut stream exits 3, a JSON file that cannot be made and a full disk exit 5" {
    head -c 4000 "$(rod)" > short.abut
    exits 3 "$BIN/strain-limit" --audit short.abut -o no.abut
    exits 3 "$BIN/strain-limit" --audit nowhere.abut -o no.abut
    says nowhere.abut
    exits 5 "$BIN/strain-limit" --audit --json nowhere/rod.jsonl "$(rod)" -o no.abut
    [ ! -e no.abut ]
    exits 5 "$BIN/strain-limit" --audit "$(rod)" -o /dev/full
}

@test "limits that are set are kept by step, and only by the object they are of" {
    exits 0 "$BIN/strain-limit" --upper 1.05 --lower 0.5 --object hung "$(hang)" -o limited.abut
    "$BIN/step" -q -n 12 limited.abut -o limited-12.abut
    "$BIN/ccd-check" -q --no-output limited-12.abut
    exits 0 "$BIN/strain-limit" --audit --json limited.jsonl limited-12.abut -o same.abut
    says "0 outside the limits"
    says "least room before a limit"
    cmp limited-12.abut same.abut
    # without them the same sheet is stretched further; the audit says so of the shell that it names
    "$BIN/step" -q -n 12 "$(hang)" -o free.abut
    exits 1 "$BIN/strain-limit" --audit --upper 1.05 --object hung free.abut -o /dev/null
    says "of 'hung' (nodes"
    says "is at or above the limit 1.05"
    exits 0 "$BIN/strain-limit" --audit --upper 1.05 --object fallen free.abut -o /dev/null
    exits 1 "$BIN/strain-limit" -q --audit --upper 1.05 --json free.jsonl free.abut -o /dev/null
    "$PYTHON" - <<'P'
import json
def last(name): return [json.loads(line) for line in open(name)][-1]
limited, free = last("limited.jsonl"), last("free.jsonl")
assert limited["max"] < 1.05 < 1.1 < free["max"]
assert limited["max_element"].startswith("shell ") and not limited["outside"] and free["outside"]
for r in (limited, free):
    s = r["shells"]
    assert sum(s["histogram"]["counts"]) == 2 * s["count"] == 2 * (6 * 11 + 32)
    assert s["max"] == r["max"] and s["min"] == r["min"]
assert 0 < limited["shells"]["room"] < 1 and free["shells"]["room"] < 0 and limited["shells"]["outside"] == 0
P
}

@test "limits that the frames do not keep, or that no shell could have, are refused" {
    "$BIN/step" -q -n 12 "$(hang)" -o free.abut
    exits 3 "$BIN/strain-limit" --upper 1.05 free.abut -o no.abut
    says "is at or above the limit 1.05"
    says "no simulation goes on from there"
    exits 3 "$BIN/strain-limit" --upper 1.05 "$(rod)" -o no.abut
    says "the model has no shells"
    exits 2 "$BIN/strain-limit" --upper 1.05 --object hang "$(hang)" -o no.abut
    says "no object is called 'hang'; there are hung, fallen"
    exits 2 "$BIN/strain-limit" --upper 1.05 --upper-threshold 1.05 "$(hang)" -o no.abut
    exits 2 "$BIN/strain-limit" --lower 0.5 --lower-threshold 0.4 "$(hang)" -o no.abut
    exits 2 "$BIN/strain-limit" --audit --project "$(hang)" -o no.abut
    [ ! -e no.abut ]
}

@test "a limit that is set in the scene is the one that is set in the stream" {
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/hang.yaml" --set objects.hung.shell.stretch-limit=1.05 --set objects.fallen.shell.stretch-limit=1.05 -o a.abut
    "$BIN/strain-limit" -q --upper 1.05 "$(hang)" -o b.abut
    "$BIN/export" --dump --array 'shell/*' a.abut | grep -v '^prov' > a.txt
    "$BIN/export" --dump --array 'shell/*' b.abut | grep -v '^prov' > b.txt
    grep -q stretch-limit a.txt
    diff <(grep -A400 stretch-limit a.txt) <(grep -A400 stretch-limit b.txt)
}

@test "the splitting keeps the limits and passes no contact; its steps are its own" {
    skip_without_numpy
    cp "$(hang)" now.abut
    for i in 1 2 3 4 5 6; do
        "$BIN/step" -q -n 1 now.abut | "$BIN/strain-limit" -q --project --upper 1.02 -o next.abut
        mv next.abut now.abut
    done
    exits 0 "$BIN/strain-limit" --audit now.abut -o /dev/null
    says "7 frames"
    "$BIN/ccd-check" -q --no-output now.abut
    # a stream of several models keeps all frames of those before the last
    "$PYTHON" - "$ROOT" "$(hang)" now.abut two.abut <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream as s
with s.Writer(sys.argv[4]) as w:
    for i in [*s.read(sys.argv[2]), *s.read(sys.argv[3])]:
        w.model(i.arrays) if i.kind == "model" else w.frame(i.step, i.time, i.arrays)
P
    "$BIN/strain-limit" -q --project --upper 1.02 two.abut -o on.abut
    for s in two on; do "$BIN/export" --dump --no-data $s.abut | grep '^model\|^frame' > $s.heads; done
    cmp two.heads on.heads
    # forces that the projection has none of: rods curved at rest, fibres
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/hang.yaml" --set objects.hung.material=cotton --set objects.fallen.material=cotton \
        --set materials.jelly.density=1000 --set materials.jelly.young=1e5 \
        --set 'materials.jelly.fibre={direction: [0, 1, 0], stiffness: 1 MPa}' \
        --set 'objects.cube={generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: jelly, translate: [6, 0, 0]}' \
        --set 'objects.wire={generate: {rod: {length: 0.2, cells: 4}}, rod: {radius: 2 mm, curved: true}, material: cotton,
            translate: [7, 0, 0]}' | "$BIN/step" -q -n 1 | "$BIN/strain-limit" -q --project --upper 1.02 -o more.abut
    exits 0 "$BIN/strain-limit" --audit more.abut -o /dev/null
    exits 3 "$BIN/strain-limit" --project --upper 1.02 "$(hang)" -o no.abut
    says "1 frame: the projection needs a start and its next step"
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/hang.yaml" --set time.scheme=bdf2 | "$BIN/step" -q -n 1 -o bdf2.abut
    exits 3 "$BIN/strain-limit" --project --upper 1.02 bdf2.abut -o no.abut
    says "the projection knows implicit Euler"
}
