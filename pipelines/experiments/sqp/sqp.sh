#!/usr/bin/env bash
# Contact as linearised inequalities beside the barrier: the same scenes by sequential quadratic programs, by one quadratic a step,
# and by Newton's method with the barrier.  What becomes of each run is what `ccd-check` says of it, and why step stopped.
#
#   sqp.sh [SCENE ...]              rows of scenes whose names begin so (all of them)
#   H="0.01" OFFSET="1e-3"          time steps, s; offsets, m: every pair of them is a row of each scene
#   COLUMNS="newton sqp-gap ..."    solvers and forms; SET=both: the active set
#   SECONDS_EACH=1                  simulated seconds of a unit scene;  STEPS=n: that many steps at most (for tests)
#   BUDGET=60                       seconds of processor time for a run: it stops there, and its cell says after how many steps
#   OUT=out/sqp                     TABLE=$OUT/table.md  RESULTS=$OUT/results.tsv    runs that are made again replace their lines;
#                                   the others stay
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/sqp} budget=${BUDGET:-60} set=${SET:-both} seconds=${SECONDS_EACH:-1}
offsets=${OFFSET:-1e-3} columns=${COLUMNS:-newton sqp-gap sqp-volume sqp-impact qp-gap qp-volume qp-impact}
mkdir -p "$out"
table=${TABLE:-$out/table.md} results=${RESULTS:-$out/results.tsv}
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1

# NAME FILE SECONDS [options of mesh-prep]
scenes() {
    local f
    for f in pipelines/experiments/sqp/scenes/first-contacts/*.yaml; do
        [[ $f == */rod-plane.yaml || $f == */head-plane.yaml ]] || echo "$(basename "$f" .yaml) $f $seconds"
    done
    for f in pipelines/experiments/published/scenes/erleben/*.yaml; do echo "$(basename "$f" .yaml) $f $seconds"; done
    cat <<'R'
large:chain-5 pipelines/experiments/published/scenes/chain.yaml 1 --set objects.odd.repeat.count=[1,3,1] --set objects.even.repeat.count=[1,2,1]
large:rod-plane pipelines/experiments/sqp/scenes/first-contacts/rod-plane.yaml 1
large:head-plane pipelines/experiments/sqp/scenes/first-contacts/head-plane.yaml 1
large:mat-twist-12 pipelines/experiments/published/scenes/mat-twist.yaml 10 --set objects.mat.generate.box.cells=[11,1,11]
large:mat-twist-40 pipelines/experiments/published/scenes/mat-twist.yaml 10
R
}

# NAME h offset column STREAM STEPS: one line of results
one() {
    local name=$1 h=$2 offset=$3 column=$4 start=$5 n=$6 run=$out/run rc=0 verdict=0 options=(--solver newton)
    [ "$column" = newton ] || options=(--solver "${column%-*}" --constraints "${column#*-}" --offset "$offset" --active-set "$set"
                                       --max-newton 200)
    rm -f "$run".*
    (ulimit -t "$budget"
        exec nice -n 10 "$bin/step" -q -j 1 -n "$n" "${options[@]}" --report "$run.jsonl" "$start" -o "$run.abut") 2> "$run.log" || rc=$?
    [ -e "$run.abut" ] || nice -n 10 "$bin/salvage" -q "$run.abut.part" -o "$run.abut" 2>> "$run.log" || cp "$start" "$run.abut"
    nice -n 10 "$bin/ccd-check" -q -j 1 --no-output "$run.abut" 2> "$run.judge" || verdict=$?
    pipelines/experiments/sqp/sqp_outcome.py line "$name" "$h" "$offset" "$column" "$n" "$rc" "$verdict" "$run"
}

: > "$out/new.tsv"
while read -r name file all options; do
    if (($#)); then
        mine=
        for prefix in "$@"; do [[ $name != "$prefix"* ]] || mine=1; done
        [ -n "$mine" ] || continue
    fi
    for h in ${H:-0.01}; do
        # shellcheck disable=SC2086
        "$bin/mesh-prep" -q "$file" --set time.step="$h s" $options -o "$out/start.abut"
        n=$(awk -v t="$all" -v h="$h" 'BEGIN { printf "%.0f", t / h }')
        [ -z "${STEPS:-}" ] || ((n <= STEPS)) || n=$STEPS
        for offset in $offsets; do
            for column in $columns; do
                # the barrier has no offset: once for each h
                [ "$column" != newton ] || [ "$offset" = "${offsets%% *}" ] || continue
                one "$name" "$h" "$offset" "$column" "$out/start.abut" "$n" | tee -a "$out/new.tsv"
            done
        done
    done
done < <(scenes)
pipelines/experiments/sqp/sqp_outcome.py table "$results" "$out/new.tsv" > "$table"
