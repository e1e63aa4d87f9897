#!/usr/bin/env bash
# Many runs at once by GNU parallel: a block on a slope of tangent 0.5 at 64 coefficients of friction, one thread a run.  Killed at
# any moment and started again, it makes what is missing and comes to the same table.
#
#   [SCENE=FILE CASES=FILE.tsv UNTIL=SECONDS OUT=DIR JOBS=N] pipelines/examples/sweep.sh [option of step ...]
#
# OUT/joblog has start, seconds, exit code and signal of each run, OUT/table.tsv the results.  What sweep_case says of one
# run holds.  Exit code 1: some runs failed; those are tried again next time.
set -euo pipefail
cd "$(dirname "$0")/../.."
scene=${SCENE:-pipelines/examples/slope.yaml} cases=${CASES:-pipelines/examples/sweep.tsv}
until=${UNTIL:-0.2} out=${OUT:-out/sweep}
mkdir -p "$out"
export PARALLEL_SHELL=/bin/bash
parallel --will-cite --quote --jobs "${JOBS:-$(nproc)}" --joblog "$out/joblog" --resume-failed --colsep '\t' --header : \
    pipelines/examples/sweep_case "$scene" "$cases" "$out" {case} "$until" "$@" :::: "$cases" ||
    echo "sweep: $? of the runs failed, or more than 100: see $out/joblog and the .log of each" >&2
pipelines/examples/sweep_table "$cases" "$out" > "$out/table.part"
mv "$out/table.part" "$out/table.tsv"
echo "sweep: $(($(wc -l < "$out/table.tsv") - 1)) runs in $out/table.tsv"
