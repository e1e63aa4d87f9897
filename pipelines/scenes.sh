#!/usr/bin/env bash
# Runs the scene scripts of the public IPC code and writes a table of them.  The scripts are not part of this project: they
# are looked for under ${ABUT_DATA:-../shared/data}/ipc/input.
#
#   pipelines/scenes.sh [NAME|FILE ...]     all scripts, or those given: 10_tetTet, or a path
#   BUDGET=60                               seconds for each scene; it is stepped in growing pieces until they are spent
#   OUT=out/scenes                          table, streams' reports and messages
#   INTO=pipelines/results/scenes.md        puts the rows into that table instead, each in place of the one of its scene
set -euo pipefail
for a; do [[ $a != *.txt ]] || a=$(realpath "$a"); set -- "$@" "$a"; shift; done
into=${INTO:+$(realpath "$INTO")}
cd "$(dirname "$0")/.."
bin=${BIN:-bin} out=${OUT:-out/scenes} budget=${BUDGET:-60} input=${ABUT_DATA:-../shared/data}/ipc/input
[ -d "$input" ] || { echo "scenes: skipped, no $input (set ABUT_DATA)"; exit 0; }
mkdir -p "$out"
mapfile -t found < <(find "$input"/{paper,tutorial}Examples -name '*.txt' | sort)
(($#)) || set -- "${found[@]}"
for a; do   # a name becomes the path of its script
    [[ $a == *.txt ]] || a=$(printf '%s\n' "${found[@]}" | grep -m 1 -F "/$a.txt") ||
        { echo "scenes: no script $1.txt under $input" >&2; exit 2; }
    set -- "$@" "$a"
    shift
done

# what the literature reports: Newton iterations per step, most contacts (Li et al. 2020, Fig. 4.22)
declare -A published=([2_spherePoints]='6.6; 182' [2_matKnives]='5.5; 472' [13_dolphinFunnel]='39.7; 31K'
    [17_pinCushionBall]='9.5; 496' [19_golfBall]='9.3; 4K' [1_squeezeOut]='42.5; 277K' [8_rollerBall]='58.6; 5.6K'
    [7_masonryArch]='5.7; 118')
# what is set, one a line: meshes that the copy of the release lacks, and where what stands in for them is
declare -A chosen=([19_golfBall]='objects.sphere19K-1.mesh=input/tetMeshes/sphere5K.msh'
    [16_armaRoller_E1e5]='objects.armadillo_verschoor-7.mesh=input/tetMeshes/Armadillo13K.msh
objects.armadillo_verschoor-7.scale=0.0066
objects.armadillo_verschoor-7.translate=[0, 1.55, 0]')
# meshes that were missing, so that a copy that has them runs the scene itself
declare -A missing=([19_golfBall]=tetMeshes/sphere19K.msh [16_armaRoller_E1e5]=tetMeshes/armadillo_verschoor.msh)

# Steps $1.abut in pieces of 1, 2, 4, ..., 32 until its $2 steps are made or the time is up; the reports join in $1.jsonl.
advance() {
    local run=$1 all=$2 made=0 piece=1 start=$SECONDS left rc
    : > "$run.jsonl"
    while ((made < all)); do
        ((piece <= all - made)) || piece=$((all - made))
        left=$((budget - (SECONDS - start)))
        ((left > 0)) || break
        rc=0
        timeout "$left" nice "$bin/step" -q -j 1 -n "$piece" --report "$run.piece" "$run.abut" -o "$run.next" 2>> "$run.log" || rc=$?
        ((rc != 124)) || break
        ((rc == 0)) || { echo "step ends with status $rc: $(tail -n 1 "$run.log")"; return; }
        mv "$run.next" "$run.abut"
        cat "$run.piece" >> "$run.jsonl"
        made=$((made + piece)) piece=$((piece < 32 ? 2 * piece : piece))
    done
    rm -f "$run.piece" "$run.next" "$run.next.part"
    ((made)) || { echo "no step within $budget s"; return; }
    if nice "$bin/ccd-check" -j 1 --no-output "$run.abut" 2>> "$run.log"; then echo clean; else tail -n 1 "$run.log"; fi
}

row() { # script
    local name run sizes its verdict all
    name=$(basename "$1" .txt) run=$out/$name
    local set=() sets=() item remarks
    if [ -n "${chosen[$name]:-}" ] && [ ! -e "$input/${missing[$name]}" ]; then mapfile -t sets <<< "${chosen[$name]}"; fi
    for item in "${sets[@]}"; do set+=(--set "$item"); done
    if ! nice "$bin/mesh-prep" --explain -j 1 "${set[@]}" --ipc-script "$1" -o "$run.abut" 2> "$run.log"; then
        echo "| $name | | | | | | | refused: $(grep -m 1 '^mesh-prep' "$run.log" | sed "s|.*/$name.txt:|line |; s|$input/||; s/|/,/g") |"
        return
    fi
    sizes=$(sed -n 's/^  size  *\([0-9]*\) nodes*, \([0-9]*\) tets*.*/\1 | \2/p' "$run.log")
    all=$(awk '$1 == "time" && $2 == "step" { h = $3 } $1 == "end" { e = $2 } END { printf "%.0f", e / h }' "$run.log")
    verdict=$(advance "$run" "$all")
    its=$(awk '{ match($0, /"newton_iterations":[0-9]+/); n += substr($0, RSTART + 20, RLENGTH - 20)
                 match($0, /"contacts":[0-9]+/); c = substr($0, RSTART + 11, RLENGTH - 11) + 0
                 match($0, /"half_space_contacts":[0-9]+/); c += substr($0, RSTART + 22, RLENGTH - 22)
                 if (c > most) most = c }
               END { if (NR) printf "%d of '"$all"' | %.1f | %d", NR, n / NR, most; else printf "0 of '"$all"' | | " }' "$run.jsonl")
    remarks=$(sed -n 's/^mesh-prep: assumed: script \(.*\) (line [0-9]*): \(.*\); --set.*/; assumed: \2/p' "$run.log" | tr -d '\n')
    for item in "${sets[@]}"; do remarks+="; with --set '$item'"; done
    echo "| $name | $sizes | $its | ${published[$name]:--} | ${verdict//|/,}${remarks//|/,} |"
    rm -f "$run.abut"
}

# Puts a row into a table in place of the one of the same scene, or at its end.
replace() { # row table
    ROW=$1 awk '
        BEGIN { row = ENVIRON["ROW"]; split(row, word, " "); name = word[2] }
        $1 == "|" && $2 == name && !done { print row; done = 1; next }
        in_table && !/^\|/ && !done { print row; done = 1 }
        { in_table = /^\|/; print }
        END { if (!done) print row }' "$2" > "$2.part" && mv "$2.part" "$2"
}

if [ -n "$into" ]; then
    for script; do
        line=$(row "$script")
        echo "$line"
        replace "$line" "$into"
    done
    exit
fi
{
    cat <<'H'
# Scene scripts of the public IPC code

Made by `pipelines/scenes.sh`: every script runs through `mesh-prep --ipc-script | step -j 1 | ccd-check` for as many of its steps as
fit in the time given (`BUDGET`, default 60 s for each scene on one core). `INTO=pipelines/results/scenes.md BUDGET=600
pipelines/scenes.sh 17_pinCushionBall` runs one row again and replaces it.

- *Contacts*: pairs of primitives nearer than dhat at the end of a step, with those of half-spaces.
- *Published*: Newton iterations per step over the whole scene, and the largest number of contacts (Li et al. 2020, Fig. 4.22). A
  scene that was cut short has run its start only, often an impact, so its mean does not compare with the published one.
- *Clean*: `ccd-check` found no collision in any frame or on the path between two, judged exactly, and no inverted element of a
  material that promises none.
- *Assumed*: a value that is neither in a script nor in a publication ([formats/IPC.md](../../formats/IPC.md)); `mesh-prep` names the
  key that changes it.
- *With --set*: another mesh of the release replaces one that the copy of the release lacked: such a row says that the commands
  run, not what the published scene does.

| scene | nodes | tets | steps run | Newton iterations per step | most contacts | published | verdict |
|---|---|---|---|---|---|---|---|
H
    for script; do row "$script"; done
} | tee "$out/scenes.md"
