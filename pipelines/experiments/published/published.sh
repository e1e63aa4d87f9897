#!/usr/bin/env bash
# Runs the scenes of the literature and writes a table: what is published of each, and what was measured here.
#
#   published.sh [NAME ...]    rows of published.tsv whose names begin so, or all ("S1", "U4 spike")
#   BUDGET=600                 seconds of processor time for each scene: it is stepped as far as they go
#   TABLE=FILE                 (default: published.md) rows that are run replace those of the same name; the others stay
#   OUT=out/published          reports and messages; KEEP=1 leaves the streams there, too
#   RESUME=1                   runs whose streams are in OUT go on to BUDGET seconds in all; streams stay there
#   AGAIN=1                    makes rows of the runs that KEEP=1 has left in OUT
#   REASONS=1                  runs nothing: what the list has published, its conditions and reasons into rows as they are, whose
#                              numbers stay (a condition that asks for others wants a run)
# A line of the list: name, arguments of mesh-prep [-- of step], what is published of the mesh, contacts, iterations, seconds, the
# outcome; the condition of it (pipelines/experiments/bin/outcome.py), and why ours is another.
# Scenes whose file or data (ABUT_DATA) is not there are skipped by name.
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/published} budget=${BUDGET:-600} table=${TABLE:-pipelines/experiments/published/published.md}
list=${LIST:-pipelines/experiments/published/published.tsv} data=${ABUT_DATA:-../shared/data} python=${PYTHON:-/usr/bin/python3}
[ ! -d "$data" ] || data=$(realpath "$data")    # meshes are looked for from the folder of the scene
mkdir -p "$out"
[[ $bin == /* ]] || bin=$PWD/$bin

. pipelines/experiments/bin/advance.sh

# Pairs of numbers in $1, published and ours: where one is beyond half or twice the other, or the outcome $3 is not as expected, the
# reason $2, or that there is none.
deviation() {
    awk -v pairs="$1" -v reason="$2" -v came="$3" 'BEGIN {
        n = split(pairs, word, " ")
        for (k = 1; k < n; k += 2) {
            p = word[k]; scale = p ~ /K/ ? 1000 : 1; sub(/K/, "", p)
            if (p + 0 > 0 && word[k + 1] + 0 > 0) { r = word[k + 1] / (p * scale); if (r > 2 || r < 0.5) far = 1 }
        }
        if (came ~ /\*no\*/) far = 1
        print reason != "-" ? reason : far ? "unexplained" : "" }'
}

# What is left of a run is made into its row.
written() { # name, steps asked for, published: mesh, contacts, iterations, seconds, outcome; condition, reason, verdict
    local run sizes n its mean most sec came="" why
    run=$(place "$1")
    sizes=$(sed -n 's/^  size  *\([0-9]*\) nodes*, \([0-9]*\) tets*.*/\1, \2/p' "$run.log")
    read -r n its mean most sec _ < <(measures "$run.jsonl")
    if [ "$8" != - ] && "$bin/export" -q "$run.abut" --csv "$run.csv"; then
        came=$("$python" pipelines/experiments/bin/outcome.py "$run.csv" "$8" "${10}")
        ((n >= $2)) || came="so far $came"
    fi
    why=$(deviation "${5%% *} $its ${4%% *} $mean" "$9" "$came")
    echo "| $1 | $sizes | $3 | $n of $2 | $its | $5 | $mean ($most) | $4 | $sec | $6 | ${came:--} | $7 | $why | ${10} |"
}

place() { echo "$out/$(tr -cs 'A-Za-z0-9.\n' '-' <<< "$1")"; }

row() { # name, arguments of mesh-prep [-- of step], published: mesh, contacts, iterations, seconds, outcome; condition, reason
    local run all verdict args
    run=$(place "$1")
    step_options=()
    [[ $2 != *' -- '* ]] || read -ra step_options <<< "${2#* -- }"
    read -ra args <<< "${2%% -- *}"
    args=("${args[@]//@DATA@/$data}")
    if [ -z "${AGAIN:-}" ]; then
        if ! prepare "$run" "${args[@]}"; then
            echo "| $1 | | $3 | | | $5 | | $4 | | $6 | | $7 | | refused: $(grep -m 1 '^mesh-prep' "$run.log" | tr '|' ',') |"
            return
        fi
        all=$(steps_asked "$run")
        verdict=$(advance "$run" "$all")
        echo "$all $verdict" > "$run.verdict"
    fi
    read -r all verdict < "$run.verdict"
    written "$1" "$all" "${@:3}" "$verdict"
    tidy "$run"
}

# The row $1 with what the list has of it in place of its own; nothing where it is the same.
reasoned() { # row, published: mesh, contacts, iterations, seconds, outcome; condition, reason
    local cell came new
    IFS='|' read -ra cell <<< "$1"
    cell=("${cell[@]# }") cell=("${cell[@]% }")
    ((${#cell[@]} == 15)) || return 0
    if [ "$7" = - ]; then cell[11]=-
    elif came=$("$python" pipelines/experiments/bin/outcome.py --again "${cell[11]}" "$7" "${cell[14]}"); then cell[11]=$came
    else echo "published: ${cell[1]}: its outcome stays" >&2; fi
    cell[3]=$2 cell[6]=$4 cell[8]=$3 cell[10]=$5 cell[12]=$6
    cell[13]=$(deviation "${4%% *} ${cell[5]} ${3%% *} ${cell[7]%% *}" "$8" "${cell[11]}")
    new=$(printf '| %s ' "${cell[@]:1}")'|'
    [ "$new" = "$1" ] || echo "$new"
}

head_of_table() {
    cat <<'H'
# Scenes of the literature

Made by `published.sh` from the list in `published.tsv`: the scenes of Li 2020 (dissertation) with generated
meshes (`scenes/`; "its mesh": the script and mesh of its public release). Each runs through `mesh-prep | step -j 1 |
ccd-check` for the processor time given to it (`BUDGET`). A scene that was cut short has run its start only, so its means are not
those of the whole.

- *Contacts*: pairs of primitives nearer than dhat at the end of a step, with those of half-spaces, mean (most).
- *Seconds*: processor time of one thread per step. Published seconds are wall-clock time with all cores of m1 (4 cores, 2.9 GHz),
  m2 (8, 3.0), m3 (4, 3.6) or m4 (8, 3.6), where a machine is named.
- *Letters*: U unit tests, S stress tests, T steps of all sizes (Table 4.1), A ablations (App. B), F friction, R first contacts.
  Bodies that are stand-ins, and scenes of which only the idea is published, compare in kind alone.
- *c0 barrier*: one step may take all of the time, since Newton's method need not converge on it. *Published stop*: `--stop
  published`, without our test that forces balance.
- *Guess*: where the iterations of a step begin, `step --guess`; without the word it is x + h v, in the source x (`start`).
- *Outcome*: whether it came as the source says, or as it was made to show, which is in the next column: numbers of the first frame
  (`start`), the last (`end`), the least and the most of all frames (`least`, `most`). `ball.y` is how high the centre of mass of the
  object `ball` is, in m, `ball.vy` its velocity upwards, in m/s, x and z likewise. *In part*: the rest of what is published did not
  come. *clean*: by the verdict alone, as linked rings part by crossing only.
- *Deviation*: where iterations or contacts are beyond half or twice those published, or the outcome is another: the reason, or
  "unexplained".
- *Clean*: `ccd-check` found no collision in any frame or on the path between two, judged exactly, and no inverted element of a
  material that promises none.

| Scene | nodes, tets | published | steps | Newton its/step | published | contacts | published | s/step | published | outcome | published | deviation | verdict |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
H
}

read_rows
while IFS=$'\t' read -r name args mesh contacts its sec outcome condition reason <&3; do
    [[ $name != '#'* ]] && wanted "$name" "$@" || continue
    if [ -n "${REASONS:-}" ]; then
        new=$(reasoned "${rows[$name]:-}" "$mesh" "$contacts" "$its" "$sec" "${outcome:--}" "${condition:--}" "${reason:--}")
        [ -z "$new" ] || replace_row "$name" "$new"
        continue
    fi
    if [ -n "${AGAIN:-}" ] && ! [[ -e $(place "$name").verdict && -e $(place "$name").abut ]]; then
        echo "published: $name: no run in $out"
        continue
    fi
    missing=$(grep -oE '[^ =]*\.(yaml|txt|msh)' <<< "${args//@DATA@/$data}" | while read -r f; do [ -e "$f" ] || echo "$f"; done)
    [ -z "$missing" ] || { echo "published: $name: skipped, no ${missing%%$'\n'*}"; continue; }
    replace_row "$name" "$(row "$name" "$args" "$mesh" "$contacts" "$its" "$sec" "${outcome:--}" "${condition:--}" "${reason:--}")"
done 3< "$list"
