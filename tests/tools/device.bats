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
    exits 2 "$BIN/step" --device twin --solver dot "$pile" -o o.abut; says "--device: for --solver newton, newton-cg, not for dot"
    exits 2 "$BIN/step" --device twin --solver pd "$pile" -o o.abut; says "not for pd"
    exits 2 "$BIN/step" --device twin --stop cn "$pile" -o o.abut; says "takes --stop newton"
    exits 2 "$BIN/step" --device twin --linear-solver own "$pile" -o o.abut; says "not own"
    exits 2 "$BIN/step" --precond rigid "$pile" -o o.abut; says "is for --device twin and gpu"
    exits 2 "$BIN/step" --device twin --precond rigit "$pile" -o o.abut; says "did you mean rigid?"
}

@test "a build without CUDA says so, with exit 2; one with CUDA and no GPU what the driver says, with exit 5" {
    run "$BIN/step" --device gpu "$pile" -o o.abut
    [[ $status -ne 0 ]] || skip "there is a GPU"
    if [[ $output == *"this build has no CUDA"* ]]; then [ "$status" -eq 2 ]; else [ "$status" -eq 5 ]; fi
    [[ $output == *--device* ]]
}

# bats test_tags=slow
@test "boxes fall on each other with friction: clean, and the same bytes for every -j and from every frame" {
    "$BIN/step" --device twin -j 1 -n 40 "$pile" -o one.abut
    "$BIN/ccd-check" -q one.abut -o /dev/null
    "$BIN/step" --device twin --from 34 -n 6 one.abut -o again.abut
    cmp one.abut again.abut
    "$BIN/step" --device twin -j 3 -n 20 "$pile" | "$BIN/step" --device twin -j 3 -n 20 -o halves.abut
    cmp one.abut halves.abut
}

# bats test_tags=slow
@test "a box that a script presses on another: clean" {
    cp "$ROOT/tests/gpu/press.yaml" .
    "$BIN/mesh-prep" -q press.yaml -o press.abut
    "$BIN/step" --device twin -n 20 --report r.json press.abut -o o.abut
    "$BIN/ccd-check" -q o.abut -o /dev/null
    tail -n 1 r.json | grep -q '"contacts":[1-9]'
}

@test "scripted plates that meet a ball push it: clean, and the same bytes from a restart" {
    "$BIN/mesh-prep" -q "$ROOT/pipelines/examples/squeeze.yaml" --set objects.ball.generate.sphere.cells=4 -o squeeze.abut
    "$BIN/step" --device twin -n 12 --report r.json squeeze.abut -o o.abut
    "$BIN/ccd-check" -q o.abut -o /dev/null
    tail -n 1 r.json | grep -q '"contacts":[1-9]'
    "$BIN/step" --device twin -n 7 squeeze.abut | "$BIN/step" --device twin -n 5 -o halves.abut
    cmp o.abut halves.abut
}

# apart A B: how far the nodes of their last frames are apart, m
apart() {
    rm -rf a b
    "$BIN/export" -q -f -1 --nodes a "$1"
    "$BIN/export" -q -f -1 --nodes b "$2"
    paste -d, a/*.csv b/*.csv | awk -F, '
        NR == 1 { for (k = 1; k <= NF; k++) if ($k ~ /^[xyz]_m$/) at[$k, ++seen[$k]] = k; next }
        { for (c in seen) { d = $at[c, 1] - $at[c, 2]; if (d < 0) d = -d; if (d > far) far = d } }
        END { if (NR < 2 || seen["z_m"] != 2) exit 1; printf "%.12f\n", far }'
}

@test "a cloth falls on a ball: clean, where --device cpu has it, and the same bytes for every -j and from every frame" {
    cat > drape.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {dhat: 1 mm, friction: {mu: 0.3}}
materials:
  cotton: {density: 472.6, young: 80 kPa, poisson: 0.243, bending-young: 0.8 MPa}
objects:
  cloth: {generate: {cloth: {size: [0.2, 0.2], edge: 25 mm, layout: rows}}, translate: [0, 0.127, 0], material: cotton,
          shell: {thickness: 0.318 mm}}
  ball:  {generate: {icosphere: {radius: 0.06, divisions: 3}}, obstacle: true, translate: [0, 0.065, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q drape.yaml -o drape.abut
    "$BIN/step" --device twin -j 1 -n 12 --tolerance 1e-4 --report r.json drape.abut -o twin.abut
    "$BIN/ccd-check" -q twin.abut -o /dev/null
    tail -n 1 r.json | grep -q '"contacts":[1-9]'
    "$BIN/step" -n 12 --tolerance 1e-4 drape.abut -o cpu.abut
    far=$(apart twin.abut cpu.abut)
    echo "apart: $far m"
    awk -v far="$far" 'BEGIN { exit !(far < 1e-4) }'
    "$BIN/step" --device twin -j 3 -n 7 --tolerance 1e-4 drape.abut | "$BIN/step" --device twin -n 5 --tolerance 1e-4 -o halves.abut
    cmp twin.abut halves.abut
}

@test "sheets that hang from a side swing as with --device cpu, whatever their membrane" {
    cat > hang.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {dhat: 1 mm}
materials:
  cotton: {density: 472.6, young: 80 kPa, poisson: 0.243, bending-young: 0.8 MPa}
  rubber: {model: neo-hookean, density: 900, young: 50 kPa, poisson: 0.4}
  plain:  {membrane: orthotropic, fabric: {warp: 24500, weft: 36600, coupling: 6100, shear: 3800}, density: 300}
  woven:  {membrane: baraff-witkin, fabric: {warp: 24500, weft: 16600, shear: 800, compression: 0.1}, density: 300}
objects:
  a: {generate: {cloth: {size: [0.3, 0.3], cells: [3, 3]}}, material: cotton, shell: {thickness: 0.318 mm}}
  d: {generate: {cloth: {size: [0.3, 0.3], cells: [3, 3]}}, material: woven, shell: {thickness: 1 mm}, translate: [3, 0, 0]}
  b: {generate: {cloth: {size: [0.3, 0.3], cells: [3, 3]}}, material: rubber, shell: {thickness: 1 mm}, translate: [1, 0, 0]}
  c: {generate: {cloth: {size: [0.3, 0.3], cells: [3, 3]}}, material: plain, shell: {thickness: 1 mm}, translate: [2, 0, 0]}
motion:
  - {select: {object: a, relative-box: [[0, 0, 0], [1, 1, 0.01]]}, fix: true}
  - {select: {object: b, relative-box: [[0, 0, 0], [1, 1, 0.01]]}, fix: true}
  - {select: {object: c, relative-box: [[0, 0, 0], [1, 1, 0.01]]}, fix: true}
  - {select: {object: d, relative-box: [[0, 0, 0], [1, 1, 0.01]]}, fix: true}
Y
    "$BIN/mesh-prep" -q hang.yaml -o hang.abut
    "$BIN/step" --device twin -n 40 --tolerance 1e-7 hang.abut -o twin.abut
    "$BIN/step" -n 40 --tolerance 1e-7 hang.abut -o cpu.abut
    far=$(apart twin.abut cpu.abut)
    fallen=$(apart cpu.abut hang.abut)
    echo "apart: $far m, from the start: $fallen m"
    awk -v far="$far" -v fallen="$fallen" 'BEGIN { exit !(far < 1e-7 && fallen > 0.05) }'
}

@test "a soft box falls on a sheet that is held: clean, and where --device cpu has it" {
    cat > both.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {dhat: 1 mm}
materials:
  jelly:  {density: 500, young: 1e5, poisson: 0.4}
  canvas: {model: neo-hookean, density: 500, young: 1 MPa, poisson: 0.3}
objects:
  box:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, material: jelly, translate: [0, 0.055, 0]}
  sheet: {generate: {cloth: {size: [0.3, 0.3], cells: [5, 5]}}, material: canvas, shell: {thickness: 1 mm}}
motion:
  - {select: {object: sheet, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}
  - {select: {object: sheet, relative-box: [[0.99, 0, 0], [1, 1, 1]]}, fix: true}
Y
    "$BIN/mesh-prep" -q both.yaml -o both.abut
    "$BIN/step" --device twin -n 10 --tolerance 1e-4 --report r.json both.abut -o twin.abut
    "$BIN/ccd-check" -q twin.abut -o /dev/null
    tail -n 1 r.json | grep -q '"contacts":[1-9]'
    "$BIN/step" -n 10 --tolerance 1e-4 both.abut -o cpu.abut
    far=$(apart twin.abut cpu.abut)
    echo "apart: $far m"
    awk -v far="$far" 'BEGIN { exit !(far < 1e-5) }'
}

@test "sheets are pulled tight against limits of stretch and bounds of strain, as with --device cpu" {
    "$BIN/mesh-prep" -q "$ROOT/tests/gpu/limits.yaml" -o limits.abut
    "$BIN/step" --device twin -j 1 -n 30 --tolerance 1e-6 --report r.json limits.abut -o twin.abut
    "$BIN/ccd-check" -q twin.abut -o /dev/null
    "$BIN/step" -n 30 --tolerance 1e-6 limits.abut -o cpu.abut
    far=$(apart twin.abut cpu.abut)
    echo "apart: $far m"
    awk -v far="$far" 'BEGIN { exit !(far < 1e-7) }'
    grep -q '"stretch_room":0\.0' r.json
    "$BIN/step" --device twin -j 3 -n 17 --tolerance 1e-6 limits.abut |
        "$BIN/step" --device twin -n 13 --tolerance 1e-6 -o halves.abut
    cmp twin.abut halves.abut
}

# bats test_tags=slow
@test "a net of rods falls on a box, with attachments and damping: clean, and where --device cpu has it" {
    "$BIN/mesh-prep" -q "$ROOT/tests/gpu/tied.yaml" --set objects.net.generate.net.cells=2 -o tied.abut
    "$BIN/step" --device twin -j 1 -n 4 --tolerance 1e-6 --report r.json tied.abut -o twin.abut
    "$BIN/ccd-check" -q twin.abut -o /dev/null
    tail -n 1 r.json | grep -q '"contacts":[1-9]'
    "$BIN/step" -n 4 --tolerance 1e-6 tied.abut -o cpu.abut
    far=$(apart twin.abut cpu.abut)
    echo "apart: $far m"
    awk -v far="$far" 'BEGIN { exit !(far < 1e-7) }'
    "$BIN/step" --device twin -j 3 -n 2 --tolerance 1e-6 tied.abut | "$BIN/step" --device twin -n 2 --tolerance 1e-6 -o halves.abut
    cmp twin.abut halves.abut
}

@test "the report names the device and what it did; the stream says so, too" {
    "$BIN/step" --device twin -n 1 --report r.json "$pile" -o o.abut
    grep -q '"device":"twin","waits":[1-9]' r.json
    grep -q '"device_bytes_peak":[1-9]' r.json
    "$BIN/export" --summary o.abut | grep -q '"device":"twin"'
    "$BIN/step" -n 1 --report r.json "$pile" -o o.abut
    grep -q '"device":"cpu",' r.json
}

@test "a kernel that fails ends the run with exit 5 and no end mark, after whole frames" {
    exits 5 env ABUT_DEVICE_FAULT=100 "$BIN/step" --device twin -n 3 "$pile" -o o.abut; says "illegal memory access"
    [ ! -e o.abut ]
    exits 5 env ABUT_DEVICE_FAULT=4000 "$BIN/step" --device twin -n 30 "$pile" -o o.abut; says "illegal memory access"
    [ ! -e o.abut ]
    exits 3 "$BIN/ccd-check" -q o.abut.part -o /dev/null
    "$BIN/salvage" -q o.abut.part -o whole.abut
    "$BIN/ccd-check" -q whole.abut -o /dev/null
}

@test "a device without enough memory says what wants how much, with exit 5" {
    for bytes in 1 100000 500000; do
        exits 5 env ABUT_DEVICE_LIMIT=$bytes "$BIN/step" --device twin -n 3 "$pile" -o o.abut; says "memory: "
        says " GB"
        [ ! -e o.abut ]
    done
}

@test "what a device cannot do is refused by name with exit 3" {
    refused "has pressures" <<'Y'
abut: 1
time: {step: 0.01 s}
materials: {felt: {density: 500, young: 20 kPa, poisson: 0.3}}
objects:
  sail: {generate: {cloth: {size: [0.2, 0.2], cells: [3, 3]}}, material: felt, shell: {thickness: 1 mm, pressure: 2}}
Y
    refused "'reed' has rods that are curved at rest" <<'Y'
abut: 1
time: {step: 0.01 s}
materials: {felt: {density: 500, young: 20 kPa, poisson: 0.3}}
objects:
  reed: {generate: {rod: {length: 0.2, cells: 4}}, material: felt, rod: {radius: 8 mm, curved: true}}
Y
    refused "bounds of stretch or strain in a step of midpoint" <<'Y'
abut: 1
time: {step: 0.01 s, scheme: midpoint}
materials: {felt: {density: 500, young: 20 kPa, poisson: 0.3}}
objects:
  flag: {generate: {cloth: {size: [0.2, 0.2], cells: [3, 3]}}, material: felt,
         shell: {thickness: 1 mm, stretch-limit: {upper: 1.1, upper-threshold: 1.02}}}
Y
}

@test "seconds of device and processor become a table, and every timed run is judged" {
    mkdir -p b/streams && ln -s "$BIN" b/bin && cp "$pile" b/streams/pile.abut
    DEVICE=twin STREAMS=b/streams SIZES= TIMED=2 THREADS=2 ON="jacobi newton" "$ROOT/tests/gpu/run" b out times
    [ "$(grep -c clean out/times.tsv)" = 2 ]
    "$PYTHON" "$ROOT/tests/gpu/times.py" out/times.tsv > table.md
    grep -q '^| pile | .* | twin jacobi | .* clean |$' table.md
    grep -q '^| pile | cpu newton | ' table.md
}
