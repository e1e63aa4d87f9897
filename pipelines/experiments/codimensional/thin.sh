#!/usr/bin/env bash
# Runs the scenes of shells, rods and particles and writes a table of what was measured.
#
#   thin.sh [NAME ...]    rows of thin.tsv whose names begin so, or all ("C1", "C4 split")
#   BUDGET=120            seconds of processor time for each scene: it is stepped as far as they go
#   TABLE=FILE            (default: thin.md) rows that are run replace those of the same name; the others stay
#   OUT=out/thin          reports and messages; KEEP=1 leaves the streams there, too
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/thin} budget=${BUDGET:-120} table=${TABLE:-pipelines/experiments/codimensional/thin.md}
list=${LIST:-pipelines/experiments/codimensional/thin.tsv}
mkdir -p "$out"
[[ $bin == /* ]] || bin=$PWD/$bin
. pipelines/experiments/bin/advance.sh

# The smallest gap, distance less thickness, of all steps in the reports $1, in mm.
smallest_gap() {
    awk 'match($0, /"min_gap":[0-9.e+-]+/) { g = substr($0, RSTART + 10, RLENGTH - 10) + 0; if (g >= 0 && (!n++ || g < least)) least = g }
         END { if (n) printf "%.2g", 1e3 * least; else printf "-" }' "$1"
}

# The largest stretch of shells in the audit $1, the limit $2 after it when there is one.
largest_stretch() {
    awk -v limit="$2" 'match($0, /"shells": {"count": [0-9]+, "max": [0-9.e+-]+/) {
             n = split(substr($0, RSTART, RLENGTH), w, " "); s = w[n] + 0; if (s > most) most = s }
         END { if (!most) printf "-"; else if (limit != "") printf "%.5f of %s", most, limit; else printf "%.5f", most }' "$1"
}

row() { # name, arguments
    local run all nodes elements limit verdict strain n its sec _
    run=$out/$(tr -cs 'A-Za-z0-9.\n' '-' <<< "$1")
    local args
    read -ra args <<< "$2"
    if ! prepare "$run" "${args[@]}"; then
        echo "| $1 | | | | | | | refused: $(grep -m 1 '^mesh-prep' "$run.log" | tr '|' ',') | |"
        return
    fi
    nodes=$(sed -n 's/^  size  *\([0-9]*\) nodes.*/\1/p' "$run.log")
    limit=$(sed -n 's/^  largest stretch *less than \([0-9.]*\);.*/\1/p' "$run.log" | sort -u | head -n 1)
    all=$(steps_asked "$run")
    verdict=$(advance "$run" "$all")
    read -r n its _ _ sec _ < <(measures "$run.jsonl")
    nice -n "${NICE:-15}" "$bin/strain-limit" -q -j 1 --audit --json "$run.strain" "$run.abut" -o /dev/null 2>> "$run.log" && strain=kept || strain="**broken**"
    grep -qE '^  (largest stretch|smallest stretch|Green strain) ' "$run.log" || strain=none
    echo "| $1 | $nodes | $n of $all | $its | $(smallest_gap "$run.jsonl") | $(largest_stretch "$run.strain" "$limit") | $sec | $verdict |" \
         "$strain |"
    tidy "$run"
}

head_of_table() {
    cat <<'H'
# Shells, rods and particles

Made by `thin.sh` from the list in `thin.tsv`: the scenes of Li 2020 (dissertation, ch. 5) with fewer elements.
Each runs through `mesh-prep | step -j 1 | ccd-check` and `strain-limit --audit` for the processor time given to it (`BUDGET`).
Sizes and moduli that the literature does not give were chosen.

- *Least gap*: the smallest distance of all steps less the contact thickness, as the step reports it at its end.
- *Largest stretch*: the largest principal stretch of any shell in any frame, and the limit that it must stay below.
- *Seconds*: processor time of one thread per step, on a machine that others used.
- *Clean*: `ccd-check` found every pair further apart than its thickness in every frame and on the whole path between two, judged
  exactly.
- *Limits*: kept, when no shell of any frame reaches a limit of stretch or strain; none, when there is no limit.

| Scene | nodes | steps | Newton its/step | least gap, mm | largest stretch | s/step | ccd-check | limits |
|---|---|---|---|---|---|---|---|---|
H
}

read_rows
while IFS=$'\t' read -r name args <&3; do
    [[ $name != '#'* ]] && wanted "$name" "$@" || continue
    replace_row "$name" "$(row "$name" "$args")"
done 3< "$list"
