#!/usr/bin/env bats
# step --device twin: the algorithm of --device gpu, run on the processor; and what either refuses.
load helpers

# two boxes and a floor, friction: made once
setup_file() {
    two_boxes 3 0.312 > "$BATS_FILE_TMPDIR/pile.yaml"
    "${BIN:-bin}"/mesh-prep "$BATS_FILE_TMPDIR/pile.yaml" -o "$BATS_FILE_TMPDIR/pile.abut"
}
setup() { pile=$BATS_FILE_TMPDIR/pile.abut; cd "$BATS_TEST_TMPDIR"; }

# refused TEXT: the scene of the standard input is refused by name, by both tools' exit code 3
refused() {
    cat > scene.yaml
    "$BIN/mesh-prep" -q scene.yaml -o scene.abut
    exits 3 "$BIN/step" --device twin scene.abut -o o.abut
    says "$1"
    says "--device cpu takes it"
}

@test "a device of another name is refused with exit 2, and so are solvers and stopping rules that it has not" {
    exits 2 "$BIN/step" --device abacus "$pile" -o o.abut; says "know cpu, twin, gpu and gpu:N"
    exits 2 "$BIN/step" --device gpu: "$pile" -o o.abut
    exits 2 "$BIN/step" --device gpu:1x "$pile" -o o.abut
    exits 2 "$BIN/step" --device twin --solver dot "$pile" -o o.abut; says "not --solver dot"
    exits 2 "$BIN/step" --device twin --solver pd "$pile" -o o.abut; says "not --solver pd"
    exits 2 "$BIN/step" --device twin --stop cn "$pile" -o o.abut; says "takes --stop newton"
}

@test "a build without CUDA says so, with exit 2; one with CUDA and no GPU what the driver says, with exit 5" {
    run "$BIN/step" --device gpu "$pile" -o o.abut
    [[ $status -ne 0 ]] || skip "there is a GPU"
    if [[ $output == *"this build has no CUDA"* ]]; then [ "$status" -eq 2 ]; else [ "$status" -eq 5 ]; fi
    [[ $output == *--device* ]]
}

@test "boxes fall on each other with friction: clean, and the same bytes for every -j and from every frame" {
    "$BIN/step" --device twin -j 1 -n 40 "$pile" -o one.abut
    "$BIN/ccd-check" -q one.abut -o /dev/null
    "$BIN/step" --device twin -j 3 -n 40 "$pile" -o three.abut
    cmp one.abut three.abut
    "$BIN/step" --device twin --from 34 -n 6 one.abut -o again.abut
    cmp one.abut again.abut
    "$BIN/step" --device twin -n 20 "$pile" | "$BIN/step" --device twin -n 20 -o halves.abut
    cmp one.abut halves.abut
}

@test "a box that a script presses on another: clean" {
    cp "$ROOT/tests/gpu/press.yaml" .
    "$BIN/mesh-prep" -q press.yaml -o press.abut
    "$BIN/step" --device twin -n 20 --report r.json press.abut -o o.abut
    "$BIN/ccd-check" -q o.abut -o /dev/null
    tail -n 1 r.json | grep -q '"contacts":[1-9]'
}

@test "scripted plates that meet a ball push it: clean, and the same bytes from a restart" {
    "$BIN/mesh-prep" -q "$ROOT/pipelines/squeeze.yaml" --set objects.ball.generate.sphere.cells=4 -o squeeze.abut
    "$BIN/step" --device twin -n 12 --report r.json squeeze.abut -o o.abut
    "$BIN/ccd-check" -q o.abut -o /dev/null
    tail -n 1 r.json | grep -q '"contacts":[1-9]'
    "$BIN/step" --device twin -n 7 squeeze.abut | "$BIN/step" --device twin -n 5 -o halves.abut
    cmp o.abut halves.abut
}

@test "the report names the device and what it did; the stream says so, too" {
    "$BIN/step" --device twin -n 1 --report r.json "$pile" -o o.abut
    grep -q '"device":"twin","waits":[1-9]' r.json
    grep -q '"device_bytes_peak":[1-9]' r.json
    "$BIN/export" --summary o.abut | grep -q '"device":"twin"'
    "$BIN/step" -n 1 --report r.json "$pile" -o o.abut
    grep -q '"device":"cpu",' r.json
}

@test "what a device cannot do is refused by name with exit 3" {
    refused "'cloth' is a shell" <<'Y'
abut: 1
time: {step: 0.01 s}
materials: {cotton: {density: 472.6, young: 80 kPa, poisson: 0.243, bending-young: 0.8 MPa}}
objects:
  cloth: {generate: {cloth: {size: [0.3, 0.3], edge: 0.1, layout: rows}}, material: cotton, shell: {thickness: 0.318 mm}}
Y
    refused "quasi-static" <<'Y'
abut: 1
time: {step: 0.01 s, scheme: quasi-static}
materials: {jelly: {density: 1000, young: 1e5, poisson: 0.4}}
objects: {box: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: jelly}}
Y
    refused "damping" <<'Y'
abut: 1
time: {step: 0.01 s}
damping: {mass: 1}
materials: {jelly: {density: 1000, young: 1e5, poisson: 0.4}}
objects: {box: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: jelly}}
Y
}
