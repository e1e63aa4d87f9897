#!/usr/bin/env bats
# bats file_tags=experiment
# Relative error over iterations of fast mass-springs: local-global.sh.
load ../../../tests/tools/helpers

@test "more local/global iterations come nearer to the converged solution" {
    skip_without_numpy
    FRAMES=6 CELLS=8 COUNTS="2 10 50" OUT=$BATS_TEST_TMPDIR/out BIN=$BIN PYTHON=$PYTHON "$ROOT/pipelines/experiments/local-global/local-global.sh" >table.tsv
    cat table.tsv
    awk -F '\t' 'NR > 1 { if (n++ && !($3 < last)) bad = 1; last = $3 } END { exit bad || n != 4 }' table.tsv
}
