#!/usr/bin/env bash
# Scenes of hard contact with exact Coulomb friction: outcome, seconds, how many steps were mended, verdict of ccd-check; and the
# same scenes by the barrier beside it.  Every trajectory passes through ccd-check; the first one that does not ends the run.
#
#   pipelines/nodal.sh [NAME ...]     rows of this name: slope, capstan, ... (all of them)
#   pipelines/nodal.sh side [NAME ...]  the scenes that both solvers take, side by side
#   OUT=out/nodal     runs and tables;  TABLE=$OUT/table.md  the table: rows that are run again are replaced
#   JOBS=2            threads;  STEPS=n  shorter runs (for tests)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-bin} out=${OUT:-out/nodal} jobs=${JOBS:-2}
table=${TABLE:-$out/table.md}
mkdir -p "$out"
export OMP_WAIT_POLICY=passive

# ROW SCENE STEPS [options of mesh-prep]
rows() {
    cat <<'R'
slope-0.52 slope 100 --set contact.friction.mu=0.52
slope-0.48 slope 100 --set contact.friction.mu=0.48
capstan-2.4 capstan 200
capstan-2.8 capstan 200 --set motion.1.force=[0,-2.8,0]
rope-0.5 rope 500 --set contact.friction.mu=0.5
rope-0.2 rope 500 --set contact.friction.mu=0.2
cards-0.6 card-house 1000 --set contact.friction.mu=0.6
cards-0.2 card-house 1000 --set contact.friction.mu=0.2
drag drag 300
belt belt 300
pinch pinch 300
pinch-yields pinch 300 --set nodal.compliance=200
cloth-on-ball cloth-on-ball 100
box-and-cone box-and-cone 150
blobs blobs 200
sticky-patch sticky-patch 200
spikes spikes 160
hair-band hair-band 110
hairy-ball hairy-ball 72
R
}

# the row of that name in place of the one that is there
put() {
    local name=$1 row=$2
    [ -e "$table" ] || head_of_table > "$table"
    { grep -v "^| $name |" "$table" || true; echo "$row"; } > "$table.new"
    mv "$table.new" "$table"
}

head_of_table() {
    cat <<'H'
# Hard contact: outcomes

Made by `TABLE=pipelines/results/nodal.md pipelines/nodal.sh`; every trajectory passed `ccd-check`. Steps that the
judge refused passed after more rounds of detection, or the barrier took them ("mended": rounds, barrier). Seconds depend on
the machine and on what else it does.

![The house at 0.6 and at 0.2, the rope at 0.5, a ball with spikes on a sheet](../pictures/nodal.png)

| run | outcome | steps | s a step | contacts, most | mended | verdict |
|---|---|---|---|---|---|---|
H
}

run() { # NAME SCENE STEPS options
    local name=$1 scene=$2 steps=${STEPS:-$3} run=$out/$1
    shift 3
    "$bin"/mesh-prep -q "pipelines/scenes/nodal/$scene.yaml" "$@" |
        "$bin"/step -q -j "$jobs" -n "$steps" --report "$run.jsonl" | "$bin"/ccd-check -q -o "$run.abut"
    "$bin"/export -q "$run.abut" --csv "$run.csv"
    put "$name" "$(pipelines/nodal_outcome.py "$name" "$scene" "$run")"
    grep "^| $name |" "$table"
}

# NAME SCENE STEPS options: the same scene by both
side() {
    local name=$1 scene=$2 steps=${STEPS:-$3} solver
    shift 3
    for solver in nodal newton; do
        "$bin"/mesh-prep -q "pipelines/scenes/nodal/$scene.yaml" "$@" |
            "$bin"/step -q -j "$jobs" --solver "$solver" -n "$steps" --report "$out/$name-$solver.jsonl" |
            "$bin"/ccd-check -q -o "$out/$name-$solver.abut"
        "$bin"/export -q "$out/$name-$solver.abut" --csv "$out/$name-$solver.csv"
        put "$name, $solver" "$(pipelines/nodal_outcome.py --side "$name, $solver" "$scene" "$out/$name-$solver")"
        grep "^| $name, $solver |" "$table"
    done
}

sides() {
    cat <<'R'
slope-0.52 slope 100
capstan-2.4 capstan 200
cards-0.6 card-house 200
cloth-on-ball cloth-on-ball 100
hairs-1000 hairy-ball 40 --set motion.0.keyframes.0.time=0.02s --set motion.1.keyframes.0.time=0.02s
R
}

each() { # FUNCTION LIST names
    local do=$1 list=$2 name scene steps options
    shift 2
    while read -r name scene steps options; do
        if (($#)) && [[ " $* " != *" $name "* ]]; then continue; fi
        # shellcheck disable=SC2086
        "$do" "$name" "$scene" "$steps" $options < /dev/null
    done < <("$list")
}

if [ "${1:-}" = side ]; then
    shift
    table=${TABLE_SIDE:-$out/side.md}
    head_of_table() {
        cat <<'H'
# Hard contact and the barrier side by side

Made by `TABLE_SIDE=pipelines/results/nodal-side.md pipelines/nodal.sh side`. The same scene, the same step; creep: the largest speed
of a contact that sticks, of the barrier, or the largest speed of an object at the end; gap: the smallest distance less
thickness of the last frame. Every trajectory passed `ccd-check`.

| run | speed at the end, m/s | creep, m/s | gap, m | iterations a step | s a step | memory, MB | mended |
|---|---|---|---|---|---|---|---|
H
    }
    each side sides "$@"
else
    each run rows "$@"
fi
