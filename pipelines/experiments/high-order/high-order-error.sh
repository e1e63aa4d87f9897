#!/usr/bin/env bash
# Error against unknowns and against seconds of tets of order 1 to 4: a table, rates, curves.
#
#   high-order-error.sh [CASE ...]          beam, twist (with contact of a body with itself), hertz (a ball between plates), ball
#                                           (its shape); all of them
#   UNKNOWNS=8000                           largest system of a run; the reference of a case has at least twice as many as its
#                                           largest run
#   BUDGET=300                              seconds of processor time for each run: where they do not suffice, its row says how
#                                           far it came
#   SEGMENTS=6                              twist: divisions of a coarse cell that contact sees; meshes have 1 to that many cells
#                                           for it
#   DEPTH=0.01                              hertz: how far a plate presses, m; another one wants RESULTS of its own
#   RESULTS=out/high-order-error/results    .tsv, .md and .svg; runs that the .tsv has are not made again, unless FRESH=1
#   OUT=out/high-order-error                scenes, reports, messages
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/high-order-error} budget=${BUDGET:-300} unknowns=${UNKNOWNS:-8000} python=${PYTHON:-/usr/bin/python3}
results=${RESULTS:-$out/results}
export SEGMENTS=${SEGMENTS:-6} DEPTH=${DEPTH:-0.01}
mkdir -p "$out"
[[ $bin == /* ]] || bin=$PWD/$bin
[[ $out == /* ]] || out=$PWD/$out
"$python" -c 'import numpy' 2> /dev/null || { echo "high-order-error: skipped, no numpy for $python"; exit 0; }
. pipelines/experiments/bin/advance.sh
step_options=(--with forces,energies)
error() { "$python" pipelines/experiments/high-order/high_order_error.py "$@"; }

# The columns of the .tsv; `role` is run or reference.
columns=$'case\trole\torder\tcells\tunknowns\tsegments\tfirst\tsecond\ttriangles\titerations\tseconds\tverdict'
[ -z "${FRESH:-}" ] || rm -f "$results.tsv"
[ -e "$results.tsv" ] || echo "$columns" > "$results.tsv"

# The row of one run, or nothing and a message where it has no figures.
one() { # case, role, order, cells, unknowns
    local run=$out/$1-p$3-$4 steps=0 all=0 verdict=valid figures
    error scene "$1" "$3" "$4" "$out" > "$run.yaml"
    prepare "$run" "$run.yaml" ||
        { echo "high-order-error: $1, order $3, $4 cells: $(tail -n 1 "$run.log")" >&2; return 1; }
    if [ "$1" != ball ]; then
        all=1
        [ "$1" != twist ] || all=5
        verdict=$(advance "$run" "$all")
        steps=$(wc -l < "$run.jsonl")
        ((steps == all)) || { echo "high-order-error: $1, order $3, $4 cells: $steps of $all steps, $verdict" >&2; return 1; }
    fi
    figures=$(error measure "$1" "$run.abut" "$run.jsonl")
    printf '%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$SEGMENTS" "$figures" "$verdict"
    rm -f "$run.abut" "$run.by" "$run.piece" "$run.next" "$run.next.part"
}

status=0
for case in beam twist hertz ball; do
    wanted "$case" "$@" || continue
    list=$(error runs "$case" "$unknowns")
    while read -r order cells size role; do
        role=${role:-run}
        key=$case$'\t'$role$'\t'$order$'\t'$cells$'\t'$size$'\t'$SEGMENTS$'\t'
        ! grep -qF "$key" "$results.tsv" || continue
        row=$(one "$case" "$role" "$order" "$cells" "$size") || { status=4; continue; }
        echo "$row" | tee -a "$results.tsv"
    done <<< "$list"
done
UNKNOWNS=$unknowns BUDGET=$budget "$python" pipelines/experiments/high-order/high_order_table.py "$results"
exit $status
