#!/usr/bin/env bash
# The experiments of GIPC (Huang et al. 2024): stiffness, tolerance, funnel, conjugate gradients, scenes, two cores against a
# graphics card.  What is run, and what is published of it, is in list.tsv.
#
#   gipc.sh [GROUP[/ROW] ...]          shell patterns (default: all groups but funnel-mesh and card)
#   ROWS="stiffness tolerance/1e-6"    the same by a variable; `all`; none: makes the table again from the runs
#   ROWS=card BUDGET=600               the published meshes, on two cores that do nothing else: half an hour
#   STEPS=20                           at most so many steps of each; BUDGET=60: seconds of processor time for each run
#   THREADS=1                          of step, instead of those that the list says
#   SEGMENT=100                        a run without a check goes in segments of so many steps, of which the last frame stays: one
#                                      that was cut goes on from there; BUDGET is then that of a segment
#   NEW=1                              only runs that RUNS does not have;  NEW=quiet: and those that others disturbed
#   RUNS=FILE                          (default: gipc.tsv) a line for each run; runs of the same name are replaced, others stay
#   TABLE=FILE                         (default: gipc.md) made of it beside the published figures;  OUT=out/gipc: reports and
#                                      messages
# Every run is judged by ccd-check, also one that was cut short.  Scenes whose file or data (ABUT_DATA) is not there are skipped
# by name.
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/gipc} python=${PYTHON:-/usr/bin/python3} budget=${BUDGET:-60}
list=${LIST:-pipelines/experiments/gipc/list.tsv}
runs=${RUNS:-pipelines/experiments/gipc/gipc.tsv} table=${TABLE:-pipelines/experiments/gipc/gipc.md} data=${ABUT_DATA:-../shared/data}
[ ! -d "$data" ] || data=$(realpath "$data")    # meshes are looked for from the folder of the scene
build=$(git rev-parse --short HEAD 2>/dev/null || echo -)
(($#)) || read -ra wanted <<<"${ROWS-stiffness tolerance gradient pcg funnel cg scenes trajectories projection}"
(($# == 0)) || wanted=("$@")
mkdir -p "$out"

chosen() { # group, row
    local w
    for w in "${wanted[@]}"; do
        # shellcheck disable=SC2053  # a pattern on purpose
        if [[ $w == all || $w == "$1" || $1/$2 == $w ]]; then return 0; fi
    done
    return 1
}

# Seconds of processor time of all processes, and of the wall clock, since the machine started.
clocks() {
    awk -v hz="$(getconf CLK_TCK)" 'NR == FNR { t = $1; next } $1 == "cpu" { print ($2 + $3 + $4 + $7 + $8 + $9) / hz, t }' \
        /proc/uptime /proc/stat
}

# Steps from the last frame of a stream, and the judge's word on them: sets rc and verdict, adds to FILES.clocks.
advance() { # FILES stream steps; of run: threads, options
    local before after
    rc=0 verdict=clean
    rm -f "$1.abut" "$1.abut.part" "$1.jsonl"
    before=$(clocks)
    (ulimit -t "$budget"
        exec nice -n "${NICE:-15}" "$bin/step" -q --no-sync -j "$threads" -n "$3" "${options[@]}" --report "$1.jsonl" \
            "$2" -o "$1.abut") 2>"$1.err" || rc=$?
    after=$(clocks)
    echo "$before $after" >>"$1.clocks"
    ((rc == 0)) || "$bin/salvage" -q "$1.abut.part" -o "$1.abut" 2>>"$1.err" || { verdict="no frame"; return; }
    nice -n "${NICE:-15}" "$bin/ccd-check" -q -j 1 --no-output "$1.abut" 2>>"$1.err" || verdict="judge: status $?"
    rm -f "$1.abut.part"
}

# A line of $runs, of FILES.jsonl, FILES.clocks and the last frames.
record() { # of run
    PYTHONPATH=formats/python "$python" pipelines/experiments/gipc/gipc.py run "$runs" "${key[@]}" "$steps" "$threads" "$check" "$at" "$rc" \
        "$verdict" "$build" "$sizes"
}

# A run in segments: each is judged and its line of $runs made again; what stays is the last frame, in FILES.last.abut.
segments() { # of run
    local made ends=clean n
    if [ ! -e "$at.last.abut" ]; then cp "$at.start.abut" "$at.last.abut"; rm -f "$at.jsonl" "$at.clocks"; touch "$at.jsonl"; fi
    while made=$(wc -l <"$at.jsonl"); ((made < steps)); do
        n=$((made + SEGMENT < steps ? SEGMENT : steps - made))
        rm -f "$at.segment.clocks"
        advance "$at.segment" "$at.last.abut" "$n"
        [ "$verdict" != "no frame" ] || { record; return; }
        [ "$verdict" = clean ] || ends=$verdict
        PYTHONPATH=formats/python "$python" pipelines/experiments/gipc/gipc.py last "$at.segment.abut" "$at.last.part"
        cat "$at.segment.jsonl" >>"$at.jsonl"
        cat "$at.segment.clocks" >>"$at.clocks"
        mv "$at.last.part" "$at.last.abut"
        verdict=$ends
        record
        rm -f "$at.segment".*
        ((rc == 0)) || return 0
    done
    rm -f "$at.last.abut"
}

# One run: its frames judged, its line in $runs.
run() { # group row rules variant, steps threads check, the name of its files, arguments of mesh-prep, options of step
    local steps=$5 threads=$6 check=$7 at=$8 rc verdict sizes
    local -a key=("${@:1:4}") prep options
    read -ra prep <<<"$9"
    read -ra options <<<"${10}"
    "$bin/mesh-prep" -q -j 1 "${prep[@]}" -o "$at.start.abut" 2>"$at.err" ||
        { echo "gipc: $1: $2: refused: $(head -n 1 "$at.err")"; return; }
    sizes=$("$bin/export" -q --summary "$at.start.abut" | awk '$2 == "body" { n += $3; t += $4 } END { print n + 0, t + 0 }')
    if [ -n "${SEGMENT:-}" ] && [ "$check" = - ]; then
        segments
    else
        rm -f "$at.clocks"
        advance "$at" "$at.start.abut" "$steps"
        record
    fi
    rm -f "$at.start.abut"
}

# Whether $runs has a run that may stay.
kept() { # group row rules variant
    [ -n "${NEW:-}" ] && [ -e "$runs" ] && awk -F'\t' -v g="$1" -v w="$2" -v r="$3" -v v="$4" -v new="$NEW" '
        $1 == g && $2 == w && $3 == r && $4 == v { found = new != "quiet" || $16 <= 0.1 } END { exit !found }' "$runs"
}

words() { local w; for w; do [ "$w" = - ] || printf '%s ' "$w"; done; }   # fields of the list

# The runs of one row, one after another.  The frames of the first stay for the others to be compared with.
row() { # group row steps threads check arguments
    local of rules variant prep options r check first="" at args=${6%% -- *} own=""
    [[ $6 != *" -- "* ]] || own=${6#* -- }
    while IFS=$'\t' read -r _ of rules variant prep options; do
        [[ " $of " == *" $1 "* ]] || continue
        for r in $rules; do
            ! kept "$1" "$2" "$r" "$variant" || continue
            at=$out/$(tr -cs 'A-Za-z0-9.\n' '-' <<<"$1-$2-$r-$variant")
            check=$5
            [ "$check" != apart ] || check="apart $first.abut"
            run "$1" "$2" "$r" "$variant" "$3" "$4" "$check" "$at" "$args $(words "$prep")" "$(words "$options" "${option[$r]}") $own"
            if [ -n "$first" ]; then rm -f "$at.abut"; else first=$at; fi
        done
    done < <(grep '^variant' "$list")
    rm -f "$first.abut"
}

declare -A option
while IFS=$'\t' read -r _ name options; do option[$name]=$options; done < <(grep '^rules' "$list")
while IFS=$'\t' read -r _ group name steps threads check args; do
    chosen "$group" "$name" || continue
    args=${args//@DATA@/$data}
    file=$(grep -oE '[^ =]*\.(yaml|txt|msh)' <<<"$args" | while read -r f; do [ -e "$f" ] || echo "$f"; done)
    [ -z "$file" ] || { echo "gipc: $group: $name: skipped, no ${file%%$'\n'*}"; continue; }
    [ -z "${STEPS:-}" ] || ((STEPS >= steps)) || steps=$STEPS
    row "$group" "$name" "$steps" "${THREADS:-$threads}" "$check" "$args"
done < <(grep '^scene' "$list")
if chosen projection -; then
    bench=${BENCH:-build/gcc/bench/bench_barrier_hessians}
    if [ -x "$bench" ]; then nice -n "${NICE:-15}" "$bench" 100000 9 >"${runs%.tsv}-projection.tsv"
    else echo "gipc: projection: skipped, no $bench (make $bench)"; fi
fi
"$python" pipelines/experiments/gipc/gipc.py table "$list" "$runs" >"$table.part"
mv "$table.part" "$table"
