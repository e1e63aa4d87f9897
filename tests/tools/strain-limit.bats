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
}
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

@test "the stream passes through unchanged" {
    "$BIN/strain-limit" -q --audit "$(rod)" -o out.abut
    cmp "$(rod)" out.abut
    "$BIN/strain-limit" -q --audit < "$(rod)" | cmp "$(rod)" -
}

@test "a frame above the upper limit is named with its element, and the answer is no" {
    exits 1 "$BIN/strain-limit" --audit --upper 1.05 "$(rod)"
    says "is above the limit 1.05"
    says "object 'rod'"
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

@test "the same answer for every thread count" {
    for j in 1 2 7; do "$BIN/strain-limit" -q -j $j --audit --json $j.jsonl "$(rod)" -o /dev/null; done
    cmp 1.jsonl 2.jsonl
    cmp 1.jsonl 7.jsonl
}

@test "senseless requests exit 2 and say why" {
    exits 2 "$BIN/strain-limit" "$(rod)" -o no.abut
    says "give --audit"
    exits 2 "$BIN/strain-limit" --audit --upper 0.9 "$(rod)" -o no.abut
    says "more than 1"
    exits 2 "$BIN/strain-limit" --audit --lower 1 "$(rod)" -o no.abut
    says "less than 1"
    exits 2 "$BIN/strain-limit" --audit --upper x "$(rod)" -o no.abut
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
