#!/usr/bin/env bats
# All directions on the same steps: pipelines/directions.sh fails when ccd-check finds a collision; a row says which step did not converge.
load ../tools/helpers

@test "every solver makes the steps of the comparison, and its row" {
    OUT=$BATS_TEST_TMPDIR/out BIN=$BIN run "$ROOT/pipelines/directions.sh" smoke
    echo "$output"
    [ "$status" -eq 0 ]
    for s in newton newton-cg lbfgs-h dot lbfgs-pd lbfgs-jh lbfgs-ic gradient; do
        grep -q "| bar, coarse | 425 | $s | 3 | [0-9.]* |" "$BATS_TEST_TMPDIR/out/table.md"
    done
    exits 1 grep -q status "$BATS_TEST_TMPDIR/out/table.md"
    exits 2 "$ROOT/pipelines/directions.sh" nothing
}
