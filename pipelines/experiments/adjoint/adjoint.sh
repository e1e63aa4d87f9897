#!/usr/bin/env bash
# Losses that go down by the derivatives of runs: identify, throw, bridge, drape (adjoint-NAME.sh), by L-BFGS in awk and by
# scipy's.  Into INTO (out/adjoint): adjoint-losses.tsv, the loss of every evaluation; adjoint.md, a table of them beside published
# counts; adjoint.svg, the curves; pictures of the first run and of the last, NAME-start.png and NAME-end.png, in PICTURES_TO.
#     adjoint.sh [NAME ...]
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=${OUT:-out/adjoint} into=${INTO:-$out} to=${PICTURES_TO:-$out}
mkdir -p "$out" "$into" "$to"
for name in "${@:-identify throw bridge drape}"; do
    for example in $name; do
        PICTURES=1 OUT=$out/$example pipelines/experiments/adjoint/adjoint-"$example".sh
        for end in start end; do
            [ ! -e "$out/$example/$end.png" ] || cp "$out/$example/$end.png" "$to/adjoint-$example-$end.png"
        done
    done
done
"${PYTHON:-/usr/bin/python3}" pipelines/experiments/adjoint/adjoint_table.py "$out" "$into"
