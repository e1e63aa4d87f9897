#!/usr/bin/env bash
# Runs scenes with tets of order 1 to 4 and writes a table: what is published of each, and what was measured here.
#
#   high-order.sh [NAME ...]    rows of high-order.tsv whose names begin so, or all ("Beam", "Ball P2")
#   BUDGET=120                  seconds of processor time for each scene: it is stepped as far as they go
#   JOBS=1                      rows at a time, one processor each; more than one: the last rows of the list, which take longest,
#                               begin first
#   TABLE=FILE                  (default: high-order.md) rows that are run replace those of the same name; the others stay
#   REASONS=1                   runs nothing: what the list has published and its reasons into rows as they are
#   OUT=out/high-order          surfaces, reports, messages; KEEP=1 leaves the streams there, too
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/high-order} budget=${BUDGET:-120} table=${TABLE:-pipelines/experiments/high-order/high-order.md}
list=${LIST:-pipelines/experiments/high-order/high-order.tsv} python=${PYTHON:-/usr/bin/python3} jobs=${JOBS:-1}
mkdir -p "$out"
[[ $bin == /* ]] || bin=$PWD/$bin
[[ $out == /* ]] || out=$PWD/$out
. pipelines/experiments/bin/advance.sh

# The surfaces that cages hold: a ball of radius 0.5 m in 5120 triangles; a bolt and a nut.  A figure of fine tets.
surfaces() {
    [ -e "$out/sphere/frame_0000.obj" ] ||
        echo '{abut: 1, objects: {s: {generate: {icosphere: {radius: 0.5, divisions: 16}}, shell: {thickness: 1 mm}}}}' |
        "$bin/mesh-prep" -q - | "$bin/export" -q --obj "$out/sphere"
    [ "$out/nut.obj" -nt pipelines/experiments/high-order/thread.py ] || "$python" pipelines/experiments/high-order/thread.py "$out/bolt.obj" "$out/nut.obj"
    [ -e "$out/figure/frame_0000.msh" ] ||
        "$bin/mesh-prep" -q pipelines/experiments/high-order/scenes/figure.yaml --set objects.figure.generate.blob.cell=0.05 \
            --set objects.figure.translate=[0,0.05001,0] | "$bin/export" -q --msh "$out/figure"
}

place() { echo "$out/$(tr -cs 'A-Za-z0-9.\n' '-' <<< "$1")"; }

# $1 reports: the largest resident set, in MB; for $2 tets, in kB of each
memory() {
    awk -v tets="$2" '{ if (match($0, /"memory_peak":[0-9]+/)) m = substr($0, RSTART + 14, RLENGTH - 14) + 0; if (m > most) most = m }
        END { if (most && tets) printf "%.0f, %.3g\n", most / 1e6, most / 1e3 / tets; else print "-" }' "$1"
}

row() { # name, arguments of mesh-prep [-- of step], published: tets, triangles, seconds; reason of a deviation
    local run all sizes triangles verdict outcome n its sec total args
    run=$(place "$1")
    step_options=()
    [[ $2 != *' -- '* ]] || read -ra step_options <<< "${2#* -- }"
    read -ra args <<< "$(sed 's/ -- .*//' <<< "${2//@OUT@/$out}")"
    if ! prepare "$run" "pipelines/experiments/high-order/scenes/${args[0]}" "${args[@]:1}"; then
        echo "| $1 | | $3 | | $4 | | | | | $5 | | | ${6#-} | refused: $({ grep -m 1 '^mesh-prep' "$run.log" || tail -n 1 "$run.log"; } | tr '|' ',') |"
        return
    fi
    sizes=$(sed -n 's/^  size  *\([0-9]*\) nodes*, \([0-9]*\) tets*.*/\2, \1/p' "$run.log")
    triangles=$(sed -n 's/^  size .* edges, \([0-9]*\) triangles.*/\1/p' "$run.log")
    all=$(steps_asked "$run")
    verdict=$(advance "$run" "$all")
    read -r n its _ _ sec total < <(measures "$run.jsonl")
    outcome=$("$python" pipelines/experiments/high-order/high_order.py "$1" "$run.abut" 2>> "$run.log" || echo "-")
    echo "| $1 | $sizes | $3 | $triangles | $4 | $n of $all | $its | $sec | $total | $5 | $(memory "$run.jsonl" "${sizes%%,*}") | $outcome | ${6#-} | $verdict |"
    tidy "$run"
}

# The row $1 with what the list has of it in place of its own.
reasoned() { # row, published: tets, triangles, seconds; reason
    local cell
    IFS='|' read -ra cell <<< "$1"
    cell=("${cell[@]# }") cell=("${cell[@]% }")
    ((${#cell[@]} != 14)) || cell=("${cell[@]:0:13}" "" "${cell[13]}")      # a table without reasons
    ((${#cell[@]} == 15)) || return 0
    cell[3]=$2 cell[5]=$3 cell[10]=$4 cell[13]=${5#-}
    printf '| %s ' "${cell[@]:1}"
    echo '|'
}

head_of_table() {
    cat <<'H'
# Tets of order 1 to 4

Made by `high-order.sh` from the list in `high-order.tsv`: the scenes of Ferguson et al. 2023 (high-order
incremental potential contact) with generated meshes (`pipelines/experiments/high-order/scenes/`). Each runs through `mesh-prep | step -j 1 |
ccd-check` for the processor time given to it (`BUDGET`). A scene that was cut short has run its start only.

- *Seconds*: processor time of one thread, a step and all steps that were made. Published seconds are wall-clock time of the whole
  run with 16 threads of two Xeon Platinum 8268. Figure, bolt, compactor's body and lattice are stand-ins and compare in kind alone.
- *Triangles* are those of contact, obstacles included.
- *Memory*: the largest resident set of a step, the program included, and what that is for each tet. None is published.
- *Outcome*: beam: where the mean of its upper corners is at the end. Ball: height of its centre after the first bounce, and how far
  it has moved sideways at the end. Figure: where its centre is at the end, and how high it was. Rolling: distance along the slope.
  Others: the extent of the body at the end.
- *Deviation*: where the seconds of a run, over those of the first of its body, are beyond half or twice the published ratio: why, or
  "unexplained". All are less than published, by machine, threads, meshes and code: how much by which is not known.
- *Clean*: `ccd-check` found no collision in any frame or on the path between two, judged exactly, and no tet whose Jacobian
  determinant is not positive.

| Scene | tets, nodes | published | triangles | published | steps | Newton its/step | s/step | s | published | MB, kB/tet | outcome | deviation | verdict |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
H
}

# Waits for one of the rows that are being made, and puts it into the table; a row that was not made is a failure.
collect() {
    local pid= rc=0 name
    wait -n -p pid || rc=$?
    name=${running[$pid]}
    unset "running[$pid]"
    if ((rc == 0)); then replace_row "$name" "$(cat "$(place "$name").row")"
    else echo "$0: no row '$name': status $rc, see $(place "$name").log" >&2; failed=1; fi
}

order=(cat)
((jobs == 1)) || order=(tac)
declare -A running=()
failed=0
[ -n "${REASONS:-}" ] || surfaces
read_rows
while IFS=$'\t' read -r name args tets triangles sec reason <&3; do
    [[ $name != '#'* ]] && wanted "$name" "$@" || continue
    if [ -n "${REASONS:-}" ]; then
        new=$(reasoned "${rows[$name]:-}" "$tets" "$triangles" "$sec" "${reason:--}")
        [ -z "$new" ] || replace_row "$name" "$new" > /dev/null
        continue
    fi
    ((${#running[@]} < jobs)) || collect
    row "$name" "$args" "$tets" "$triangles" "$sec" "${reason:--}" > "$(place "$name").row" &
    running[$!]=$name
done 3< <("${order[@]}" "$list")
while ((${#running[@]})); do collect; done
exit $failed
