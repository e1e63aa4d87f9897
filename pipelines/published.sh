#!/usr/bin/env bash
# Runs the scenes of the literature and writes a table: what is published of each, and what was measured here.
#
#   pipelines/published.sh [NAME ...]       rows of pipelines/published.tsv whose names begin so, or all ("S1", "U4 spike")
#   BUDGET=600                              seconds of processor time for each scene: it is stepped as far as they go
#   TABLE=pipelines/results/published.md    rows that are run replace those of the same name; the others stay
#   OUT=out/published                       reports and messages; KEEP=1 leaves the streams there, too
# Scenes whose file or data (ABUT_DATA) is not there are skipped by name.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-bin} out=${OUT:-out/published} budget=${BUDGET:-600} table=${TABLE:-pipelines/results/published.md}
list=${LIST:-pipelines/published.tsv} data=${ABUT_DATA:-../shared/data}
mkdir -p "$out"
[[ $bin == /* ]] || bin=$PWD/$bin

. pipelines/advance.sh

row() { # name, arguments, published: mesh, contacts, iterations, seconds
    local run all sizes verdict n its mean most sec _
    run=$out/$(tr -cs 'A-Za-z0-9.\n' '-' <<< "$1")
    local args
    read -ra args <<< "${2//@DATA@/$data}"
    if ! nice -n "${NICE:-15}" "$bin/mesh-prep" --explain -j 1 "${args[@]}" -o "$run.abut" 2> "$run.log"; then
        echo "| $1 | | $3 | | | $5 | | $4 | | $6 | refused: $(grep -m 1 '^mesh-prep' "$run.log" | tr '|' ',') |"
        return
    fi
    sizes=$(sed -n 's/^  size  *\([0-9]*\) nodes, \([0-9]*\) tets.*/\1, \2/p' "$run.log")
    all=$(awk '$1 == "time" && $2 == "step" { h = $3 } $1 == "end" { e = $2 } END { printf "%.0f", e / h }' "$run.log")
    verdict=$(advance "$run" "$all")
    read -r n its mean most sec _ < <(measures "$run.jsonl")
    echo "| $1 | $sizes | $3 | $n of $all | $its | $5 | $mean ($most) | $4 | $sec | $6 | $verdict |"
    [ -n "${KEEP:-}" ] || rm -f "$run.abut"
    rm -f "$run.piece" "$run.next"
}

head_of_table() {
    cat <<'H'
# Scenes of the literature

Made by `pipelines/published.sh` from the list in `pipelines/published.tsv`: the scenes of Li 2020 (dissertation) with generated
meshes (`pipelines/scenes/`; "its mesh": the script and mesh of its public release). Each runs through `mesh-prep | step -j 1 |
ccd-check` for the processor time given to it (`BUDGET`). A scene that was cut short has run its start only, so its means are not
those of the whole.

- *Contacts*: pairs of primitives nearer than dhat at the end of a step, with those of half-spaces, mean (most).
- *Seconds*: processor time of one thread per step. Published seconds are wall-clock time with all cores of m1 (4 cores, 2.9 GHz),
  m2 (8, 3.0), m3 (4, 3.6) or m4 (8, 3.6), where a machine is named.
- *Letters*: U unit tests, S stress tests, T steps of all sizes (Table 4.1), A ablations (App. B), F friction, R first contacts.
  Bodies that are stand-ins, and scenes of which only the idea is published, compare in kind alone.
- *c0 barrier*: one step may take all of the time, since Newton's method need not converge on it.
- *Clean*: `ccd-check` found no collision in any frame or on the path between two, judged exactly, and no inverted element of a
  material that promises none.

| Scene | nodes, tets | published | steps | Newton its/step | published | contacts | published | s/step | published | verdict |
|---|---|---|---|---|---|---|---|---|---|---|
H
}

read_rows
while IFS=$'\t' read -r name args mesh contacts its sec <&3; do
    [[ $name != '#'* ]] && wanted "$name" "$@" || continue
    file=$(grep -o '[^ ]*\.\(yaml\|txt\)' <<< "${args//@DATA@/$data}")
    [ -e "$file" ] || { echo "published: $name: skipped, no $file"; continue; }
    replace_row "$name" "$(row "$name" "$args" "$mesh" "$contacts" "$its" "$sec")"
done 3< "$list"
