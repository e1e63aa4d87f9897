#!/usr/bin/env bats
# Derivatives of runs at work: pipelines/adjoint-identify.sh finds the numbers that a recorded run was made with.
load ../tools/helpers

@test "Young's modulus and friction of a sliding block are found from its recorded trajectory" {
    WINDOWS=8 MOST=14 PYTHON=none OUT=$BATS_TEST_TMPDIR BIN=$BIN "$ROOT/pipelines/adjoint-identify.sh"
    # 5 percent of E after 8 frames, of which it has 2e5 Pa, and a thousandth of mu, 0.3
    awk -F, 'END { exit !($3 > 1.9e5 && $3 < 2.1e5 && $4 > 0.2997 && $4 < 0.3003) }' <(sort -t, -gr -k5,5 "$BATS_TEST_TMPDIR/window.csv")
}
