#!/usr/bin/env bats
# Streams with right checksums and wrong contents: refused as input, by name; nothing crashes.
load helpers
load hostile

setup_file() {
    export AIDS BIN
    cd "$BATS_FILE_TMPDIR"
    hostile_base
    hostile_list >list
}
setup() { cd "$BATS_FILE_TMPDIR"; }

# variant WORDS: the stream `file` with that change
variant() {
    local line
    line=$(grep -m 1 -F -- "$1" list)
    read -r file number _ <<<"$line"
    "$AIDS/hostile" write "$file" "$number" "$BATS_TEST_TMPDIR/bad.abut"
    bad=$BATS_TEST_TMPDIR/bad.abut
}
# refused PROGRAM WORDS TEXT: exit 3 and that text
refused() {
    variant "$2"
    exits 3 hostile_program "$1" "$bad"
    says "$3"
}

@test "the streams to spoil hold every array of both tables" {
    "$AIDS/hostile" missing "${hostile_streams[@]}"
}

@test "the streams are what programs take before one array is spoilt: each array alone is at fault in what follows" {
    local s p
    for s in committed.abut mapped.abut high.abut hard.abut inequalities.abut rigid.abut; do
        for p in "$(hostile_stepper $s)" "${hostile_programs[@]:1}"; do
            [[ $p != tear || ($s != mapped.abut && $s != high.abut && $s != rigid.abut) ]] || continue      # it refuses both kinds
            [[ $p != one-pass || ($s != hard.abut && $s != rigid.abut) ]] || continue     # passes refuse cohesion and locks
            [[ $p != springs || $s != high.abut ]] || continue
            exits 0 hostile_program "$p" $s
        done
    done
    exits 0 hostile_program friction-lag pending.abut
}

# bats test_tags=slow
@test "a sample of all arrays with bad values: no crash, no hang, refused where they must be" {
    local k=0 n=$((${#hostile_programs[@]} - 1)) file number must words
    while read -r file number must words; do
        k=$((k + 1))
        hostile_try "$file" "$number" "$must" "$words" -- "$(hostile_stepper "$file")" "${hostile_programs[k % n + 1]}"
    done < <(grep -v "^pending.*MODEL" list | awk 'NR % 31 == 7')
    ((k > 90))
}

@test "what no mesh gives is refused: contact/edge, contact/triangle, contact/node with rows missing" {
    refused step "MODEL contact/edge without rows" "array 'contact/edge' lacks a side of row 0"
    refused one-pass "MODEL contact/triangle without rows" "the collision mesh is not whole"
    refused ccd-check "MODEL contact/triangle without rows" "array 'contact/triangle' lacks outer face 0"
}

# bats test_tags=slow
@test "tets of order 2: what is wrong with their arrays is refused by name, and nothing crashes" {
    refused step "MODEL tet/order first 2.14748e+09" "array 'tet/order' row 0: 2147483647, expected an order from 1 to 4"
    refused ccd-check "MODEL tet/more first -1" "array 'tet/more' row 0: -1"
    refused export "MODEL tet/more a row short" "array 'tet/more'"
    refused dump "MODEL tet/more without rows" "array 'tet/more'"
    refused step "MODEL tet/first absent" "array 'tet/first' is missing"
    refused step "MODEL tet/fill first nan" "array 'tet/fill' row 0"
    refused step "MODEL geometry/X first nan" "array 'geometry/X' row 0"
    refused step "MODEL geometry/order all -1" "array 'geometry/order' row 0: -1"
    refused step "MODEL material/quadrature first 1" "array 'material/quadrature' row 0: 1"
    local k=0 file number must words
    while read -r file number must words; do
        k=$((k + 1))
        hostile_try "$file" "$number" "$must" "$words" -- step ccd-check export
    done < <(grep '^high' list | awk 'NR % 7 == 3')
    ((k > 20))
}

@test "factors of loads: what is wrong with their keys is refused by name, and nothing crashes" {
    refused step "MODEL key/factor first nan" "array 'key/factor' row 0: nan, expected a finite number"
    refused export "MODEL key/factor a row short" "array 'key/factor' has"
    refused ccd-check "MODEL key/factor absent" "array 'key/factor' is missing: the pressure of object"
    refused step "MODEL object/pressure-key first -1" "array 'object/pressure-key' row 0: [-1, "
    local k=0 file number must words
    while read -r file number must words; do
        k=$((k + 1))
        hostile_try "$file" "$number" "$must" "$words" -- step export
    done < <(grep -E '^committed.*(key/factor|object/pressure-key)' list | awk 'NR % 5 == 2')
    ((k > 7))
}

# bats test_tags=slow
@test "hard contact: what is wrong with its keys and its contacts is refused by name, and nothing crashes" {
    local k=0 file number must words
    refused nodal "MODEL solve/solver first 1e+06" "array 'solve/solver' row 0: 1000000"
    refused nodal "MODEL nodal/sweeps first -1" "array 'nodal/sweeps' row 0: -1"
    refused nodal "MODEL nodal/sweeps first 2.14748e+09" "array 'nodal/sweeps' row 0: 2147483647"
    refused nodal "MODEL nodal/tolerance first nan" "array 'nodal/tolerance' row 0"
    refused nodal "MODEL nodal/cohesion-range absent" "array 'nodal/cohesion-range' is missing"
    refused export "FRAME touch/first first 2.14748e+09" "array 'touch/first' row 0: 2147483647"
    refused ccd-check "FRAME touch/node a row short" "array 'touch/weight'"
    refused dump "FRAME touch/normal without rows" "array 'touch/normal'"
    refused nodal "FRAME touch/impulse first inf" "array 'touch/impulse' row 0"
    while read -r file number must words; do
        k=$((k + 1))
        hostile_try "$file" "$number" "$must" "$words" -- nodal ccd-check export
    done < <(grep '^hard' list | awk 'NR % 9 == 4')
    ((k > 40))
}

@test "numbers that overflow are refused with their array and row" {
    refused step "MODEL material/spline all -1" "array 'material/spline' row 1: -1, -1"
    refused step "MODEL part/count first 1e+06" "part/count is 1000000, expected 1 to 12"
    refused step "FRAME step/pass first -1" "array 'step/pass' row 0: -1"
    refused friction-lag "FRAME step/pass first 2.14748e+09" "array 'step/pass' row 0: 2147483647"
    for v in nan inf 1e+300; do
        for a in step/x0 step/penalty step/multiplier; do
            refused step "FRAME $a first $v" "array '$a' row 0"
            refused friction-lag "FRAME $a first $v" "array '$a' row 0"
        done
    done
}

@test "step numbers end at 2^53" {
    exits 3 "$BIN/step" -q -n 1 <("$AIDS/hostile" step committed.abut 9007199254740992) -o /dev/null
    says "the largest number is 2^53"
    "$BIN/step" -q -n 1 <("$AIDS/hostile" step committed.abut 9007199254740991) -o /dev/null
    "$BIN/ccd-check" -q --no-output <("$AIDS/hostile" step committed.abut 9007199254740992)
}

@test "a MODEL without nodes is refused by every program" {
    skip_without attack/nv0.abut
    for p in "${hostile_programs[@]}"; do
        cp "$DATA/attack/nv0.abut" bad.abut
        exits 3 hostile_program "$p" bad.abut
        says "array 'node/X' has no rows"
    done
}

@test "a FRAME of step 2^63-1 is refused by every program" {
    skip_without attack/bad_1092_step_98.abut
    for p in "${hostile_programs[@]}"; do
        cp "$DATA/attack/bad_1092_step_98.abut" bad.abut
        exits 3 hostile_program "$p" bad.abut
        says "expected a step of at most 2^53"
    done
}

@test "--until beyond the last step number is a usage error" {
    exits 2 "$BIN/step" -q --until 1e20 committed.abut -o out.abut
    says "--until 1e+20 s is 1e+22 steps"
    [ ! -e out.abut ]
}
