#!/usr/bin/env bats
# Contact surfaces of bodies of tets that mesh-prep makes: the boundary of curved tets, and any surface in a coarse mesh.
load helpers

# scene KEYS: a ball of tets of order 2, a bar of order 3, a block of order 1 and a cloth above a floor; KEYS are of the ball.
scene() {
    cat <<Y
abut: 1
time: {step: 0.01 s}
contact: {friction: {mu: 0.3}}
materials:
  rubber: {model: neo-hookean, density: 1000, young: 5e4, poisson: 0.4}
  cloth: {model: neo-hookean, density: 400, young: 1e5, poisson: 0.3}
objects:
  ball:  {material: rubber, generate: {sphere: {radius: 0.1, cells: 2}}, order: 2, translate: [0, 0.13, 0],
          velocity: [0, -1, 0]${1:+, }$1}
  bar:   {material: rubber, generate: {box: {size: [0.5, 0.08, 0.1], cells: [5, 1, 1]}}, order: 3, proxy: {edge: 3 cm},
          translate: [0.1, -0.045, 0]}
  block: {material: rubber, generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0.25, 0.06, 0]}
  sheet: {material: cloth, generate: {cloth: {size: [0.5, 0.3], cells: [10, 6]}}, shell: {thickness: 1 mm},
          translate: [0, 0.26, 0]}
  floor: {half-space: {point: [0, -0.1, 0], normal: [0, 1, 0]}, mu: 0.5}
Y
}

# caged SIZE KEYS: a ball as an OBJ file in a box of six tets of that size.
caged() {
    cat >dense.yaml <<Y
abut: 1
materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects: {ball: {generate: {sphere: {radius: 0.1, cells: 5}}}}
Y
    "$BIN/mesh-prep" dense.yaml | "$BIN/export" -q --obj .
    cat <<Y
abut: 1
time: {step: 0.01 s}
materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects:
  ball:  {generate: {box: {size: [$1, $1, $1], cells: [1, 1, 1]}}, order: $2, proxy: {mesh: frame_0000.obj${3:+, }$3},
          translate: [0, 0.11, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.5}
Y
}

# bats test_tags=slow
@test "contact-surface: bodies of order 1, 2 and 3 and a cloth fall on each other, and the judge finds nothing" {
    scene 'proxy: {segments: 4}' | "$BIN/mesh-prep" -o start.abut
    "$BIN/step" -q -j 1 -n 25 start.abut -o run.abut
    "$BIN/ccd-check" --no-output --gap run.abut 2>verdict
    grep "26 configurations" verdict
    grep "no collision" verdict
    grep -E "smallest gap [0-9.e-]+ m" verdict
    "$BIN/step" -q -j 7 -n 11 start.abut | "$BIN/step" -q -j 2 -n 14 | cmp - run.abut
    "$BIN/step" -q --one-pass run.abut | "$BIN/friction-lag" | "$BIN/step" -q --one-pass | "$BIN/friction-lag" >next.abut
    "$BIN/ccd-check" --no-output next.abut
}

@test "contact-surface: T1: one segment on a side of straight tets is no surface of its own, to the byte" {
    two_boxes 2 0.32 >plain.yaml
    sed 's/cells: \[2, 2, 2\]}}/&, proxy: {segments: 1}/' plain.yaml >one.yaml
    [[ $(grep -c 'proxy' one.yaml) -eq 2 ]]
    "$BIN/mesh-prep" plain.yaml -o plain.abut
    "$BIN/mesh-prep" one.yaml | cmp - plain.abut
    sed 's/segments: 1/segments: 2/' one.yaml | "$BIN/mesh-prep" -o two.abut
    "$BIN/step" -q -n 3 two.abut | "$BIN/ccd-check" --no-output
}

# bats test_tags=slow
@test "contact-surface: explained: segments, chord, altitude; by order, by edge, by tolerance" {
    scene | "$BIN/mesh-prep" --explain -o start.abut 2>text
    # 24 n^2 + 2 vertices, for a dhat of 0.2 mm
    grep -E "contact surface +5402 vertices, the boundary with 15 segments on a side \(by the order, dhat/4 and the altitudes" text
    grep -E "contact surface +[0-9]+ vertices, the boundary with 5 segments on a side \(standard input:10:" text
    grep -E "chord +[0-9.]+e-05 +m" text
    grep -E "chord bound +[0-9.]+e-05 +m" text
    scene 'proxy: {tolerance: 1 mm}' | "$BIN/mesh-prep" --explain -o start.abut 2>text
    grep -E "the boundary with 4 segments" text
    exits 3 "$BIN/mesh-prep" <(scene 'proxy: {tolerance: 1e-6 m}') -o start.abut
    says "16 segments leave"
    exits 0 "$BIN/mesh-prep" <(scene 'proxy: {segments: 64}') --set 'contact.dhat=5 mm' -o start.abut
    says "contact surface of 'ball' has triangles with an altitude"
}

@test "contact-surface: a dense ball in six tets rolls on the floor with them" {
    caged 0.2 1 >cage.yaml
    "$BIN/mesh-prep" --explain cage.yaml -o cage.abut 2>text
    grep -E "contact surface +152 vertices, of a surface in the tets" text
    grep -E "outside +0 vertices" text
    "$BIN/step" -q -n 20 cage.abut -o run.abut
    "$BIN/ccd-check" --no-output run.abut
    caged 0.2 2 >cage.yaml
    "$BIN/mesh-prep" cage.yaml | "$BIN/step" -q -n 20 | "$BIN/ccd-check" --no-output
}

@test "contact-surface: thickness, obstacles and held nodes" {
    cat >thick.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects:
  ball:  {generate: {sphere: {radius: 0.1, cells: 2}}, order: 2, proxy: {segments: 4}, contact-thickness: 4 mm,
          translate: [0, 0.11, 0]}
  bar:   {generate: {box: {size: [0.5, 0.08, 0.1], cells: [5, 1, 1]}}, proxy: {segments: 2}, contact-thickness: 2 mm,
          translate: [0.1, -0.045, 0]}
  post:  {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, obstacle: true, translate: [0.05, -0.15, 0]}
motion:
  - {select: {object: bar, box: [[0.3, -1, -1], [1, 1, 1]]}, fix: true}
Y
    "$BIN/mesh-prep" thick.yaml | "$BIN/step" -q -n 25 -o run.abut
    exits 0 "$BIN/ccd-check" --no-output --gap run.abut
    says "no collision"
    # thinner than half of both together: the thickness is what keeps them apart
    exits 1 "$BIN/ccd-check" --no-output --min-separation 3.5e-3 run.abut
    "$BIN/mesh-prep" thick.yaml --set contact=off | "$BIN/step" -q -n 2 | "$BIN/ccd-check" --no-output
}

@test "contact-surface: tets weigh what the surface holds, in two copies" {
    caged 0.2 1 'max-extrapolation: 0.2' | sed "s/translate: \[0, 0.11, 0\]/match-mass: frame_0000.obj, translate: [0, 0.11, 0], repeat: {count: [2, 1, 1], spacing: [0.3, 0, 0], objects: true}/" >cage.yaml
    "$BIN/mesh-prep" --explain cage.yaml -o cage.abut 2>text
    "$BIN/mesh-prep" --explain dense.yaml -o dense.abut 2>dense
    want=$(sed -nE 's/^  mass +([0-9.]+) .*/\1/p' dense)
    [[ $(grep -c "^  mass  *$want .*that of another mesh" text) -eq 2 ]]
    grep "densities" text
    "$BIN/step" -q -n 20 cage.abut | "$BIN/ccd-check" --no-output
    caged 0.2 1 | sed "s/translate:/match-mass: frame_0000.obj, origin: box-center, translate:/" >cage.yaml
    exits 3 "$BIN/mesh-prep" cage.yaml -o cage.abut
    says "expected no origin"
}

@test "contact-surface: what lies outside of the tets is extrapolated, or refused with its place" {
    caged 0.15 1 >small.yaml
    exits 0 "$BIN/mesh-prep" --explain small.yaml -o small.abut
    grep -E "outside +[1-9][0-9]* vertices, by at most 0.[0-9]+" stderr
    "$BIN/step" -q -n 12 small.abut | "$BIN/ccd-check" --no-output
    caged 0.15 2 >small.yaml
    exits 3 "$BIN/mesh-prep" small.yaml -o small.abut
    says "contact surface of 'ball'"
    says "outside of all tets by more than 0.1"
    caged 0.15 2 'max-extrapolation: 0.9' >small.yaml
    exits 3 "$BIN/mesh-prep" small.yaml -o small.abut
    says "max-extrapolation: 0.9, expected at most 0.5 for tets of order 2"
}

@test "contact-surface: a body inside of another is refused at the start, though no surfaces touch" {
    two_boxes 2 0.105 | sed 's/size: \[0.3, 0.2, 0.3\], cells: \[2, 2, 2\]}}, material: jelly, translate: \[0.1/size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}}, order: 2, material: jelly, translate: [0.05/' >in.yaml
    exits 3 "$BIN/mesh-prep" in.yaml -o x.abut
    says "of 'high' (vertex"
    says "is inside of 'low'"
    two_boxes 2 0.3 | sed 's/material: jelly/order: 2, material: jelly/' >over.yaml
    exits 3 "$BIN/mesh-prep" over.yaml --set objects.high.translate='[0.1, 0.28, 0.05]' -o x.abut
    says "touches or crosses"
    says "(vertices "
}

@test "contact-surface: a body with a surface of its own may be inside of another if bodies do not meet, and only then" {
    two_boxes 2 0.105 | sed 's/size: \[0.3, 0.2, 0.3\], cells: \[2, 2, 2\]}}, material: jelly, translate: \[0.1/size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}}, order: 2, proxy: {segments: 2}, material: jelly, translate: [0.05/' >in.yaml
    "$BIN/mesh-prep" -q in.yaml --set contact.bodies=off -o off.abut
    "$BIN/step" -q -j 1 -n 2 off.abut | "$BIN/ccd-check" -q --no-output
    exits 3 "$BIN/mesh-prep" in.yaml --set contact.bodies=on -o x.abut
    says "is inside of 'low'"
}

@test "contact-surface: the judge refuses a body that is inside of another, in any frame" {
    skip_without_numpy
    two_boxes 2 0.4 | sed 's/size: \[0.3, 0.2, 0.3\], cells: \[2, 2, 2\]}}, material: jelly, translate: \[0.1/size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}}, order: 2, material: jelly, translate: [0.05/' >in.yaml
    "$BIN/mesh-prep" in.yaml -o out.abut
    exits 0 "$BIN/ccd-check" --no-output out.abut
    "$PYTHON" - "$BATS_TEST_DIRNAME/../../formats/python" <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import abut_stream
items = iter(abut_stream.read("out.abut"))
model, frame = next(items), next(items)
high = model["object/name"].split("\n").index("high")
with abut_stream.Writer("in.abut") as w:                # the small box as it is, 0.295 m lower
    w.model(dict(model.arrays))
    x = frame["node/x"].copy()
    x[model["node/object"] == high, 1] -= 0.295
    frame.arrays["node/x"].data = x
    w.frame(frame.step, frame.time, dict(frame.arrays))
P
    exits 1 "$BIN/ccd-check" --no-output --json in.json in.abut
    says "step 0 (0 s): vertex in body: vertices 26 of high and the inside of low, at"
    "$PYTHON" -c 'import json; c = json.load(open("in.json"))["collisions"][0]; assert c["inside_of"] == "low", c'
    exits 1 "$BIN/ccd-check" --no-output --all --json in.json in.abut
    "$PYTHON" -c 'import json; c = json.load(open("in.json"))["collisions"]; assert {k["kind"] for k in c} == {"vertex in body"}, c'
}

@test "contact-surface: keys that make no sense are refused by name" {
    local keys
    while read -r keys; do
        exits 3 "$BIN/mesh-prep" <(scene "${keys%%|*}") -o x.abut
        says "${keys##*|}"
    done <<'T'
proxy: {segments: 0}|segments
proxy: {segments: 65}|segments
proxy: {segments: 2, edge: 1 cm}|expected one of segments, edge, tolerance, mesh
proxy: {}|expected one of segments, edge, tolerance, mesh
proxy: {edge: 1e-5 m}|expected no more than 64 segments
proxy: {segments: 2, max-extrapolation: 0.1}|max-extrapolation: without a mesh
proxy: {mesh: none.obj}|none.obj
proxy: {segments: 2}, obstacle: true|obstacle
T
}

@test "contact-surface: the true boundary is in what it touches by no more than the chord" {
    cat >drop.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects:
  ball:  {generate: {sphere: {radius: 0.1, cells: 2}}, order: 3, proxy: {segments: 3}, translate: [0, 0.11, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" --explain drop.yaml -o drop.abut 2>text
    "$BIN/step" -q -n 15 drop.abut -o run.abut
    exits 0 "$BIN/ccd-check" --no-output --curved 9 run.abut
    says "--curved 9: the true boundary is in what it touches by up to"
    says "of 'ball' in half-space 'floor'"
    depth=$(sed -nE 's/.*by up to ([0-9.e-]+) m.*/\1/p' stderr)
    bound=$(sed -nE 's/.*chord bound +([0-9.e-]+) .*/\1/p' text)
    awk -v d="$depth" -v b="$bound" 'BEGIN { exit !(d > 0 && d < 1.2 * b) }'
    exits 0 "$BIN/ccd-check" --no-output --curved 3 run.abut
    says "--curved 3: the true boundary is in nothing"
    exits 2 "$BIN/ccd-check" --no-output --curved 65 run.abut
    exits 0 "$BIN/ccd-check" --no-output run.abut       # not asked for, nothing is said of it
    [ "$(grep -c -e --curved stderr)" -eq 0 ]
    two_boxes 1 0.32 | "$BIN/mesh-prep" | "$BIN/ccd-check" --no-output --curved 3 2>text
    grep "no curved tets" text
}

@test "contact-surface: an open surface has no inside, whatever drapes over what" {
    cat >drape.yaml <<'Y'
abut: 1
contact: {dhat: 1 mm}
materials: {m: {density: 1000, young: 1e5, poisson: 0.4}}
objects:
  ball:  {generate: {ball: {radius: 0.08, divisions: 1}}, order: 2}
  cloth: {generate: {cloth: {size: [0.4, 0.4], cells: [10, 10]}}, shell: {thickness: 1 mm}, contact-thickness: 1 mm, translate: [0, 0.082, 0]}
motion: [{select: {object: ball, box: [[-0.02, -0.02, -0.02], [0.02, 0.02, 0.02]]}, fix: true}]
Y
    "$BIN/mesh-prep" -q drape.yaml | "$BIN/step" -q -n 22 -o run.abut
    exits 0 "$BIN/ccd-check" --no-output --curved 6 run.abut
    says "--curved 6: the true boundary is in nothing"
}

@test "contact-surface: what knows nodes alone refuses it by name" {
    two_boxes 2 0.32 | sed 's/cells: \[2, 2, 2\]}}/&, proxy: {segments: 2}/' >two.yaml
    exits 3 "$BIN/mesh-prep" --separate 1e-3l two.yaml -o x.abut
    says "separation: the contact surface is a map of nodes"
    "$BIN/mesh-prep" two.yaml -o two.abut
    exits 3 "$BIN/step" -q -n 1 --device twin two.abut -o x.abut
    says "the contact surface is a map of nodes"
    exits 3 "$BIN/step" -q -n 1 --solver pd --contact springs two.abut -o x.abut
    says "collision springs: the contact surface is a map of nodes"
}

@test "contact-surface: the judge finds a curved tet that is inverted between its corners" {
    skip_without_numpy
    scene 'proxy: {segments: 2}' | "$BIN/mesh-prep" -o start.abut
    PYTHONPATH=$ROOT/formats/python PYTHONDONTWRITEBYTECODE=1 "$PYTHON" - <<'P'
import abut_stream
items = list(abut_stream.read("start.abut"))
model, frame = items[0], items[1]
# the middle of an inner edge of the ball goes to beyond one of its ends
tet, first, more = model["tet/node"][0], model["tet/first"][0], model["tet/more"]
a, b, middle = tet[0], tet[1], more[first]
x = frame["node/x"].copy()
x[middle] = x[a] - 0.2 * (x[b] - x[a])
with abut_stream.Writer("bad.abut") as w:
    w.model(model.arrays)
    w.frame(0, 0.0, frame.arrays)
    frame.arrays["node/x"].data = x
    w.frame(1, 0.01, frame.arrays)
P
    exits 1 "$BIN/ccd-check" --no-output --all bad.abut
    says "inverted tet"
    says "of ball, tet 0"
    exits 1 "$BIN/ccd-check" --no-output --motion none --all bad.abut
    says "inverted tet"
    exits 3 "$BIN/step" -q -n 1 bad.abut -o x.abut
    says "is inverted at the start"
}
