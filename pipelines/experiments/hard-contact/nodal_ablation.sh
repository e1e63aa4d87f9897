#!/usr/bin/env bash
# One linear problem of hard contact, hair on a ball, by several solvers: iterations, visits of contacts, processor time
# (tests/bench/bench_nodal.c).  The frames before it pass through ccd-check.
#
#   nodal_ablation.sh [HAIRS ...]    1000, 2000, 4000 hairs (all of them)
#   OUT=out/nodal                    runs;  TABLE=$OUT/ablation.md  the table: rows that are run again are replaced
#   JOBS=1                           threads of the steps;  STEPS=n  fewer steps
#   SCENE=FILE.yaml                  another scene, after STEPS steps
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/nodal} jobs=${JOBS:-1} bench=${BENCH:-build/gcc/bench/bench_nodal}
table=${TABLE:-$out/ablation.md}
mkdir -p "$out"
export OMP_WAIT_POLICY=passive
[ -n "${BENCH:-}" ] || make -s "$bench"

# HAIRS STEPS
rows() {
    if [ -n "${SCENE:-}" ]; then echo "$(basename "$SCENE" .yaml) $STEPS"; return; fi
    cat <<'R'
1000 60
2000 45
4000 35
R
}

head_of_table() {
    cat <<'H'
# Hard contact: one linear problem by several solvers

Made by `nodal_ablation.sh`: hair on a ball that rotates
(`tests/bench/hair.yaml`), the first linearisation of the step after 60, 45 and 35 of them. Until the residual is below 0.01 mm:
iterations, visits of contacts, seconds of projections, seconds of all with the linear solutions. Then the residual after 25
iterations; ns a visit, loops over nodes and contacts that sleep counted in; what is left of Coulomb's law at the end. Processor
time of one thread. Solvers (`tests/bench/bench_nodal.c`):

- *full*: ours; one weight for each node of a contact, a closed form for each contact, contacts that no longer change sleep.
- *awake*: without sleeping. *accelerated*: with Anderson's mixing. *in order*: contacts one after the other in the order of
  their nodes, not by colours that threads could share.
- *everywhere*: weights at every node, not at those of contacts alone, as published; nothing sleeps.
- *general*: a local solver for full 3x3 blocks in place of the closed form. *blocks*: weights by such blocks, which need it.
- *position based*: the law is asked with velocities that the contact itself has changed, and impulses are not kept.
- *ica*: iterative constraint anticipation (Otaduy et al. 2009).
- *vertices*: as *full* on another problem, each contact between the one node that has most of it on either side. *copies*:
  Gauss-Seidel over the nodes of that problem, copied for each contact (Li et al. 2018); it visits nodes, not contacts.

| hairs, solver | contacts | iterations | visits | projections, s | all, s | residual at 25, mm | ns a visit | law, m/s |
|---|---|---|---|---|---|---|---|---|
H
}

# the row of that name in place of the one that is there
put() {
    [ -e "$table" ] || head_of_table > "$table"
    { grep -v "^| $1 |" "$table" || true; echo "$2"; } > "$table.new"
    mv "$table.new" "$table"
}

ablation() { # HAIRS STEPS
    local run=$out/ablation-$1 scene=(tests/bench/hair.yaml --set "objects.hair.generate.hair.count=$1")
    local nodes contacts solver at25 iterations seconds all visit law visits
    [ -z "${SCENE:-}" ] || scene=("$SCENE")
    "$bin"/mesh-prep -q "${scene[@]}" |
        "$bin"/step -q -j "$jobs" -n "${STEPS:-$2}" | "$bin"/ccd-check -q -o "$run.abut"
    "$bench" "$run.abut" 1 > "$run.tsv"
    while IFS=$'\t' read -r _ nodes contacts solver at25 _ iterations seconds all visit law visits; do
        put "$1, $solver" \
            "| $1, $solver | $contacts of $nodes nodes | $iterations | $visits | $seconds | $all | $at25 | $visit | $law |"
    done < <(grep -v '^#' "$run.tsv" | tail -n +2)
    grep "^| $1, " "$table"
}

while read -r hairs steps; do
    if (($#)) && [[ " $* " != *" $hairs "* ]]; then continue; fi
    ablation "$hairs" "$steps" < /dev/null
done < <(rows)
