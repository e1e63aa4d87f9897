#!/usr/bin/env bats
# make bench: the harness, on one small scene.
load helpers

bench() { (cd "$ROOT" && BENCH=pile-start BENCH_OUT=$TMP/bench tests/bench/bench "$BIN" "$@"); }

@test "bench prints a table with every phase, and ratios to itself that are 1 where time does not matter" {
    bench >table.tsv 2>/dev/null
    [ "$(wc -l <table.tsv)" -eq 2 ]
    for column in scene nodes tets steps newton ms_per_newton candidates hessian assemble factor solve ccd line_search memory_MB; do
        head -1 table.tsv | tr '\t' '\n' | grep -x "$column"
    done
    [ "$(awk -F '\t' 'END { print $1, $2, $3, $4 }' table.tsv)" = "pile-start 1134 4608 10" ]
    awk -F '\t' 'NR == 1 { n = NF } END { exit !(NF == n && $5 >= 10 && $8 > 0) }' table.tsv
    bench "$TMP/table.tsv" >ratios.tsv 2>/dev/null
    [ "$(awk -F '\t' 'END { print $1, $2, $5 }' ratios.tsv)" = "pile-start 1.000 1.000" ]
}

@test "bench refuses a baseline that is not there and a scene that no table knows" {
    run bench nowhere.tsv
    [ "$status" -eq 3 ]
    run bash -c "cd '$ROOT' && BENCH=no-such-scene BENCH_OUT=$TMP/bench tests/bench/bench '$BIN'"
    [ "$status" -eq 1 ]
    [[ $output == *"no scene was run"* ]]
}

@test "every scene of the bench that needs no data becomes a model; every figure of others has a source that is described, and a row" {
    while IFS=$'\t' read -r name group warm steps args; do
        [[ -n $name && $name != \#* && $args != *@DATA@* ]] || continue
        [[ $warm =~ ^[0-9]+$ && $steps =~ ^[0-9]+$ ]]
        read -ra argv <<<"$args"
        (cd "$ROOT" && "$BIN/mesh-prep" -q "${argv[@]}" --to-yaml >/dev/null) || { echo "$name"; return 1; }
    done <"$ROOT/tests/bench/scenes.tsv"
    for scene in "$ROOT"/tests/bench/thin/*.yaml; do
        "$BIN/mesh-prep" -q "$scene" -o start.abut
        "$BIN/ccd-check" -q -j 1 --no-output start.abut
    done
    awk -F '\t' 'NR == FNR { if ($1 ~ /^# [a-z-]+$/ && NF == 6) source[substr($1, 3)]; else if ($1 !~ /^#/) of[$1] = $4; next }
        FILENAME ~ /equal-error/ { seen[$2 "/" $3] } $1 in of { seen[$1] } END { for (s in of) if (!(of[s] in source) || !(s in seen)) { print s; bad = 1 }; exit bad }' \
        "$ROOT/tests/bench/reference.tsv" "$ROOT/tests/bench/scenes.tsv" "$ROOT/pipelines/experiments/directions/equal-error.tsv"
}

@test "errors: a scene that is not in the list is refused by name, one without its data skipped by name" {
    skip_without_numpy
    run "$PYTHON" "$ROOT/tests/bench/errors" "$BIN" no-such-scene
    [ "$status" -ne 0 ]
    [[ $output == *"no-such-scene is no scene of scenes.tsv"* ]]
    run env OUT="$TMP/errors" ABUT_DATA=/no/such/place "$PYTHON" "$ROOT/tests/bench/errors" "$BIN" cloth-hang
    [ "$status" -eq 0 ]
    [[ $output == *"cloth-hang skipped: no /no/such/place/codim/hang.yaml"* ]]
}

@test "kinds: a scene that is not in its table is refused by name, one without its data skipped, iterations are counted once" {
    skip_without_numpy
    run "$PYTHON" "$ROOT/tests/bench/kinds" "$BIN" no-such-scene
    [ "$status" -ne 0 ]
    [[ $output == *"no-such-scene is no scene of kinds.tsv"* ]]
    run env OUT="$TMP/kinds" ABUT_DATA=/no/such/place "$PYTHON" "$ROOT/tests/bench/kinds" "$BIN" hairs
    [ "$status" -eq 0 ]
    [[ $output == *"hairs skipped: no /no/such/place/codim/hairs.yaml"* ]]
    cd "$ROOT"
    OUT="$TMP/kinds" "$PYTHON" tests/bench/kinds "$BIN" squeeze >"$TMP/kinds.md"
    awk -F '|' '/squeeze/ { split($10, n, " "); seen = 1; bad = $3 + 0 != n[1] + n[2] + n[3] + n[4] + n[5] || $7 + 0 > 1 } END { exit bad || !seen }' "$TMP/kinds.md"
}
