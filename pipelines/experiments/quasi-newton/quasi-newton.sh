#!/usr/bin/env bash
# Quasi-Newton iterations on a constant matrix, projective dynamics, fixed numbers of iterations: the experiments of Liu 2018
# (chapters 5 to 8) as scenes of this size.  A table (TSV), curves (SVG) and the Markdown made of them.
#     quasi-newton.sh           all experiments
#     quasi-newton.sh q1 q10    these; rows of the others stay
#     RESULTS=quasi-newton      the table to write, .tsv, .md and .svg; default OUT/table
#     OUT=out/quasi-newton      streams and reports
# Solvers with the barrier are judged by ccd-check; of those without it, what it finds is a row.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export BIN=${BIN:-bin} OUT=${OUT:-out/quasi-newton} RESULTS=${RESULTS:-}
mkdir -p "$OUT"
"${PYTHON:-/usr/bin/python3}" pipelines/experiments/quasi-newton/quasi_newton.py "$@"
