#!/usr/bin/env bash
# Scenes of hard contact with exact Coulomb friction: outcome as a number with a rule that it has to keep, seconds, how many steps
# were mended; and the same scenes by the barrier beside it.  Every trajectory is judged by ccd-check; status 1 where one is not
# clean, or an outcome does not keep its rule.
#
#   nodal.sh [NAME ...]         rows of this name: slope-0.52, capstan-2.4, ... (all of them)
#   nodal.sh side [NAME ...]    the scenes that both solvers take, side by side
#   OUT=out/nodal               runs, rows and tables;  TABLE=$OUT/table.md, TABLE_SIDE=$OUT/side.md: rows that are not run again
#                               stay
#   JOBS=1                      rows at the same time, one thread each
#   BUDGET=600                  seconds of processor time for a row: it stops there, and its row says after how many steps, "cut"
#                               in place of whether its rule is kept
#   STEPS=n                     shorter runs, whose outcomes are not held to their rules (for tests)
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/nodal} jobs=${JOBS:-1} budget=${BUDGET:-600}
mkdir -p "$out"
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1
# shellcheck source=pipelines/experiments/bin/advance.sh
. pipelines/experiments/bin/advance.sh

# ROW SCENE STEPS [options of mesh-prep] [-- options of step]
rows() {
    cat <<'R'
slope-0.52 slope 100 --set contact.friction.mu=0.52
slope-0.48 slope 100 --set contact.friction.mu=0.48
capstan-2.4 capstan 200
capstan-2.8 capstan 200 --set motion.1.force=[0,-2.8,0]
capstan-4.0 capstan 200 --set contact.friction.mu=0.5 --set materials.rope.young=5MPa --set damping.mass=100 --set motion.1.force=[0,-4,0]
capstan-5.35 capstan 200 --set contact.friction.mu=0.5 --set materials.rope.young=5MPa --set damping.mass=100 --set motion.1.force=[0,-5.35,0]
rope-0.5 rope 2500 --set contact.friction.mu=0.5 -- --every 5
rope-0.2 rope 500 --set contact.friction.mu=0.2 -- --every 5
cards-0.6 card-house 4000 --set contact.friction.mu=0.6 -- --every 20
cards-0.2 card-house 4000 --set contact.friction.mu=0.2 -- --every 20
drag drag 300
belt belt 300
pinch pinch 300
pinch-refused pinch 300 -- --repair none
pinch-yields pinch 1000 --set nodal.compliance=200 -- --every 10
cloth-on-ball cloth-on-ball 150
box-and-cone box-and-cone 300
blobs blobs 400
blobs-frames blobs 400 --set objects.ball.frame=true
sticky-patch sticky-patch 300 -- --every 2
sticky-patch-dry sticky-patch 300 --set contact.cohesion=[] -- --every 2
spikes spikes 160
spikes-starved spikes 160 --set nodal.iterations=1 --set nodal.sweeps=1 -- --lenient
hair-band hair-band 218
hairy-ball hairy-ball 456 -- --every 4
hairy-ball-frizzy hairy-ball 456 --set objects.hair.generate.hair.curl.radius=0.3mm --set objects.hair.generate.hair.curl.wavelength=36mm --set objects.hair.generate.hair.curl.ramp=15mm --set objects.hair.generate.hair.curl.vary=0.15 --set objects.hair.rod.curved=true -- --every 4
R
}

# ROW SCENE STEPS [options of mesh-prep]
sides() {
    cat <<'R'
slope-0.52 slope 100
capstan-2.4 capstan 200
cards-0.6 card-house 200
cloth-on-ball cloth-on-ball 100
hairs-1000 hairy-ball 40 --set motion.0.keyframes.0.time=0.02s --set motion.1.keyframes.0.time=0.02s
R
}

head_of_rows() {
    cat <<'H'
# Hard contact: outcomes

Made by `nodal.sh`; every trajectory passed `ccd-check`. Refused: how many steps the
judge refused at first; they passed after more rounds of detection, or the barrier took them. Seconds of processor time, one
thread, depend on the machine and on what else it does.

![The house at 0.6 and at 0.2, the rope at 0.5, a ball with spikes on a sheet](pictures/nodal.png)
![A belt, a sheet on a ball, on a box and a cone, between two spheres](pictures/nodal-cloth.png)
![Spikes on a sheet, a band around hair, balls in a bowl, the rope at 0.2](pictures/nodal-bodies.png)
![A block that sticks on a slope, a rope over a cylinder that holds at 2.4 and slides at 2.8, a sheet led by a corner](pictures/nodal-friction.png)
![Hair that sticks to itself and to a sphere at 0.6, 1 and 2 s, and dry hair](pictures/nodal-sticky.png)
![1000 hairs on a ball, straight at 0.5 and 1.5 s, frizzy at 1.3 s](pictures/nodal-hair.png)

| run | outcome | rule | kept | steps | s a step | contacts, most | iterations a step | refused: rounds, barrier |
|---|---|---|---|---|---|---|---|---|
H
}

head_of_sides() {
    cat <<'H'
# Hard contact and the barrier side by side

Made by `nodal.sh side`. The same scene, the same step. Creep: the largest
speed of a contact that sticks, at the end (of hard contact: by how much its law is missed); gap: the smallest distance less
thickness of all frames; penetration: by how much a step ended beyond its linear gaps, which keep a reserve. Iterations: of
ADMM, of Newton. Refused: steps that were mended by more rounds, by the barrier. Every trajectory passed `ccd-check`.

| run | speed at the end, m/s | creep, m/s | gap, m | penetration, m | iterations a step | s a step | memory, MB | refused |
|---|---|---|---|---|---|---|---|---|
H
}

# NAME SCENE STEPS options: its steps, within the budget, and what ccd-check says, into $verdict; options of step in step_options
steps_of() {
    local run=$out/$1 scene=$2 steps=$3
    shift 3
    prepare "$run" "pipelines/experiments/hard-contact/scenes/$scene.yaml" "$@" || { cat "$run.log" >&2; return 1; }
    verdict=$(advance "$run" "$steps")
    "$bin"/export -q "$run.abut" --csv "$run.csv"
}

one_row() {
    local name=$1 scene=$2 steps=${STEPS:-$3} given=() verdict
    step_options=()
    shift 3
    while (($#)) && [ "$1" != -- ]; do given+=("$1"); shift; done
    (($# == 0)) || step_options=("${@:2}")
    steps_of "$name" "$scene" "$steps" "${given[@]}"
    pipelines/experiments/hard-contact/nodal_outcome.py ${STEPS:+--short} "$name" "$scene" "$out/$name" "$verdict" "$steps" > "$out/$name.row"
}

one_side() {
    local name=$1 scene=$2 steps=${STEPS:-$3} solver verdict status=0
    shift 3
    for solver in nodal newton; do
        step_options=(--solver "$solver")
        steps_of "$name-$solver" "$scene" "$steps" "$@"
        pipelines/experiments/hard-contact/nodal_outcome.py --side "$name, $solver" "$scene" "$out/$name-$solver" "$verdict" || status=1
    done > "$out/$name.side"
    return $status
}

# The rows of $1 that the files *.$2 have, else those that the table has; in the order of the list.
merge() {
    local list=$1 kind=$2 head=$3 name _
    {
        "$head"
        while read -r name _; do
            if [ -e "$out/$name.$kind" ]; then cat "$out/$name.$kind"
            elif [ -e "$table" ]; then grep -E "^\| $name(,[^|]*)? \|" "$table" || true
            fi
        done < <("$list")
    } > "$table.part"
    mv "$table.part" "$table"
}

each() { # FUNCTION LIST KIND HEAD names
    local do=$1 list=$2 kind=$3 head=$4 name scene steps options
    shift 4
    rm -f "$out"/*.status
    while read -r name scene steps options; do
        if (($#)) && [[ " $* " != *" $name "* ]]; then continue; fi
        while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
        rm -f "$out/$name.$kind"
        # shellcheck disable=SC2064,SC2086
        (trap "echo \$? > '$out/$name.status'; cat '$out/$name.$kind'" EXIT
            "$do" "$name" "$scene" "$steps" $options < /dev/null) &
    done < <("$list")
    wait
    merge "$list" "$kind" "$head"
    ! grep -qvx 0 "$out"/*.status
}

if [ "${1:-}" = side ]; then
    table=${TABLE_SIDE:-$out/side.md}
    each one_side sides side head_of_sides "${@:2}"
else
    table=${TABLE:-$out/table.md}
    each one_row rows row head_of_rows "$@"
fi
