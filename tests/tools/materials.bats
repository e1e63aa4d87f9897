#!/usr/bin/env bats
# Materials by splines, fibres and squared distances: from the scene through step to the judge.
load helpers

scene() { # the material
    cat <<Y
abut: 1
time: {step: 0.01 s}
tolerance: 1e-8 m/s
materials: {m: {$1}}
objects: {arm: {generate: {box: {size: [0.6, 0.2, 0.2], cells: [3, 1, 1]}}, material: m}}
motion: [{select: {object: arm, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}]
Y
}

# lowest node of the last frame
sag() {
    "$PYTHON" - "$ROOT" "$1" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
f = [f for f in abut_stream.read(sys.argv[2]) if f.kind == "frame"][-1]
print("%.9f" % -f["node/x"][:, 1].min())
P
}

hang() { # name, material
    scene "$2" >"$1.yaml"
    "$BIN/mesh-prep" -q "$1.yaml" | "$BIN/step" -q -n 12 | "$BIN/ccd-check" -q -o "$1.abut"
    sag "$1.abut"
}

@test "neo-hookean slopes as splines bend as neo-hookean does; fibres, volume and stretch terms stiffen" {
    skip_without_numpy
    # young 1e5, poisson 0.3: mu 38461.538, lambda 57692.308 Pa; a' = mu s, c' = (lambda ln J - mu)/J
    knots=$("$PYTHON" - <<'P'
import math
mu, la = 1e5 / 2.6, 3e4 / (1.3 * 0.4)
x = [0.5 + 0.02 * i for i in range(51)]
fmt = lambda v: "[" + ", ".join("%.17g" % q for q in v) + "]"
print("{stretch: %s, a: %s, b: %s, c: %s}" % (fmt(x), fmt([mu * s for s in x]), fmt([0] * len(x)),
      fmt([(la * math.log(s) - mu) / s for s in x])))
P
)
    nh=$(hang nh "young: 1e5, poisson: 0.3")
    spline=$(hang spline "model: spline, spline: $knots")
    plain=$(hang plain "model: arap, young: 1e5")
    along=$(hang along "model: arap, young: 1e5, fibre: {direction: [1, 0, 0], stiffness: 4e5}")
    across=$(hang across "model: arap, young: 1e5, fibre: {direction: [0, 0, 1], stiffness: 4e5}")
    limit=$(hang limit "model: arap, young: 1e5, stretch: {range: [0.99, 1.01], stiffness: 4e5}, volume: 1e5")
    echo "nh $nh spline $spline; arap $plain, fibres along $along, across $across; limits $limit"
    "$PYTHON" - "$nh" "$spline" "$plain" "$along" "$across" "$limit" <<'P'
import sys
nh, spline, plain, along, across, limit = map(float, sys.argv[1:])
assert abs(spline / nh - 1) < 1e-3
assert along < 0.97 * plain and along < across < 1.001 * plain and limit < 0.999 * plain
P
}

@test "a run with a spline ends as it should, every time" {
    scene "model: spline, spline: {stretch: [0.5, 1, 1.5], a: [-1e4, 0, 1e4], b: [0, 0, 0], c: [-1e4, 0, 1e4]}" >s.yaml
    "$BIN/mesh-prep" -q s.yaml -o s.abut
    for i in 1 2 3 4 5 6 7 8; do
        exits 0 "$BIN/step" -q -j 1 -n 2 s.abut -o "o$i.abut"
        cmp o1.abut "o$i.abut"
    done
}

@test "what a material cannot be is refused with its place" {
    scene "model: spline" >a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o o.abut
    says "needs spline"
    scene "spline: {stretch: [0.5, 1.5], a: [-1, 1], b: [0, 0], c: [0, 0]}" >a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o o.abut
    says "whose model is neo-hookean"
    scene "model: spline, spline: {stretch: [1.5, 0.5], a: [-1, 1], b: [0, 0], c: [0, 0]}" >a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o o.abut
    says "0.5 after 1.5"
    scene "fibre: {direction: [0, 0, 0], stiffness: 1}" >a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o o.abut
    says "not zero"
    scene "stretch: {range: [1.1, 1.2], stiffness: 1}" >a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o o.abut
    says "0 <= low <= 1 <= high"
    scene "poisson: -0.3" >a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o o.abut
    says "poisson is -0.3: expected 0 or more for this model: with less its energy has no lower bound"
    scene "model: fixed-corotated, poisson: -0.3" >a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o o.abut
    says "expected 0 or more for this model"
    scene "model: mooney-rivlin, poisson: 0.14" >a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o o.abut
    says "expected 0.1429 or more for this model"
    for model in stable-neo-hookean stvk linear-corotated; do
        scene "model: $model, poisson: -0.3" >a.yaml
        "$BIN/mesh-prep" -q a.yaml | "$BIN/step" -q -n 2 -o "$model.abut"
    done
}

@test "a shell of a model without plane stress is refused by the scene" {
    printf 'materials: {m: {model: arap}}\nobjects:\n  b: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, material: m, shell: {thickness: 1 mm}}\n' >a.yaml
    for model in arap stable-neo-hookean linear-corotated; do
        exits 3 "$BIN/mesh-prep" a.yaml --set materials.m.model=$model -o o.abut
        says "a.yaml:3:"
        says "shell of material 'm', which is $model: expected neo-hookean, fixed-corotated or stvk"
    done
    "$BIN/mesh-prep" -q a.yaml --set materials.m.model=stvk -o o.abut
}
