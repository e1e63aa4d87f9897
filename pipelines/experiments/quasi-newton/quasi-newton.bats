#!/usr/bin/env bats
# bats file_tags=experiment
# The experiments of quasi-newton.sh that are short: a brush with and without the barrier, fibres; the table that they leave.
load ../../../tests/tools/helpers

@test "experiments write rows, keep those of others, and the page and the curves made of them" {
    skip_without_numpy
    export OUT=$BATS_TEST_TMPDIR/out RESULTS=$BATS_TEST_TMPDIR/table BIN PYTHON
    "$ROOT/pipelines/experiments/quasi-newton/quasi-newton.sh" q4 >said
    "$ROOT/pipelines/experiments/quasi-newton/quasi-newton.sh" q12 >>said
    cat said
    grep -qP '^q4\tbarrier\tfirst step with a collision\tnone\tnone$' table.tsv
    grep -q '^## Q4' table.md
    grep -q '^## Q12' table.md
    grep -q '</svg>' table.svg
    # stiffer fibres, less compression; every direction descends on the isotropic matrix
    awk -F '\t' '$1 == "q12" && $3 ~ /^least height/ { if (!($4 > last)) bad = 1; last = $4; n++ }
                 $1 == "q12" && $3 ~ /not descend/ && $4 != 0 { bad = 1 } END { exit bad || n != 3 }' table.tsv
    exits 2 "$ROOT/pipelines/experiments/quasi-newton/quasi-newton.sh" q99
}

@test "errors of a curtain are computed twice: by the program that steps, and from positions alone" {
    skip_without_numpy
    cd "$ROOT"
    BIN=$BIN OUT=$BATS_TEST_TMPDIR "$PYTHON" - <<'P'
import sys
sys.path.insert(0, "pipelines/experiments/quasi-newton")
import quasi_newton as q
p = q.Problem(q.curtain(9, 500))
curve = p.curve("--solver mass-springs --contact ignore --history 5", (1, 2, 5, 10))
assert all(b[1] < a[1] for a, b in zip(curve, curve[1:])) and 1e-3 < curve[0][1] < 0.2, curve
# what an iteration lowers the objective by, as the report has it, is what these objectives differ by
x1, r1 = p.end("--solver mass-springs --contact ignore --history 5 --iterations 4")
x2, r2 = p.end("--solver mass-springs --contact ignore --history 5 --iterations 5")
fell = r2["iterations"][4][5] / p.h ** 2
assert abs(p.value(x1) - p.value(x2) - fell) < 1e-6 * fell + 1e-13, (p.value(x1) - p.value(x2), fell)
P
}
