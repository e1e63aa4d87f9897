#!/usr/bin/env bash
# Linear problems of hard contact of whole scenes by three solvers, beside the seconds that were published for scenes of the same
# kind (Daviet 2020, Table 1): mean over sampled steps of iterations and processor time until 0.01 mm (tests/bench/bench_nodal.c).
#
#   nodal_solvers.sh [NAME ...]    belt, cards-0.2, cards-0.6, drag, box-and-cone (all of them)
#   OUT=out/nodal                  runs;  TABLE=$OUT/solvers.md  the table: rows of other scenes stay
#   JOBS=1                         threads of the steps;  STEPS=n  shorter runs
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/nodal} jobs=${JOBS:-1} bench=${BENCH:-build/gcc/bench/bench_nodal}
table=${TABLE:-$out/solvers.md}
mkdir -p "$out"
export OMP_WAIT_POLICY=passive
[ -n "${BENCH:-}" ] || make -s "$bench"

# NAME SCENE STEPS, published milliseconds: ADMM, copies, anticipation; options of mesh-prep
rows() {
    cat <<'R'
belt belt 300 45 28 189
cards-0.2 card-house 1000 2.4 7.6 8.7 --set contact.friction.mu=0.2
cards-0.6 card-house 500 92 144 495 --set contact.friction.mu=0.6
drag drag 300 0.4 1.6 8.2
box-and-cone box-and-cone 300 275 292 490
R
}

head_of_table() {
    cat <<'H'
# Hard contact: linear problems of five scenes by three solvers

Made by `nodal_solvers.sh`: the first linearisation of five steps, evenly
spread over a run, each from the velocities without contact and no impulses until the residual is below 0.01 mm, or 1000
iterations (`tests/bench/bench_nodal.c`). Means: contacts; milliseconds of processor time of one thread, and beside them those of
the factor of A + W, which they do not include; iterations; in how many of the five 0.01 mm was reached. Copies take contacts of
vertices, `ADMM, vertices` the same. Published: mean milliseconds for a step of the compared code's scenes on another machine
(Daviet 2020, Table 1); their meshes and contacts are others, so the column to compare is the ratio to ADMM.

| scene, solver | contacts | ms | iterations | reached | factor, ms | ratio | published, ms | published ratio |
|---|---|---|---|---|---|---|---|---|
H
}

# The rows of scenes in the order of the list: those of this run, else those that the table has.
compose() {
    local name
    {
        head_of_table
        while read -r name _; do
            if [ -e "$out/solvers-$name.rows" ]; then cat "$out/solvers-$name.rows"
            elif [ -e "$table" ]; then grep "^| $name, " "$table" || true
            fi
        done < <(rows)
    } > "$table.part"
    mv "$table.part" "$table"
}

samples() { # FILE STEPS: what bench_nodal says of five of them; those without contacts are left out
    local k step
    for k in 1 2 3 4 5; do
        step=$((k * ($2 / 5)))
        "$bench" "$1" 1 "$step" full,ica,vertices,copies 2> "$1.said" || grep -q "no contact" "$1.said"
    done
}

# TSV of samples on stdin: solver, contacts, ms, iterations, reached "n of N", factor in ms
means() {
    awk -F '\t' '/^# .* factor: / { sub(/.*factor: /, ""); factor = $0 + 0 } /^#/ || $1 == "file" { next }
        { s = $4; n[s]++; c[s] += $3; ms[s] += 1e3 * $9; reached[s] += $7 !~ />/; sub(/>/, "", $7); it[s] += $7
          f[s] += 1e3 * factor }
        END { split("full vertices ica copies", order, " ")
              for (i = 1; i <= 4; i++) if (n[s = order[i]])
                  printf "%s %.0f %.3g %.3g %d %d %.2g\n", s, c[s] / n[s], ms[s] / n[s], it[s] / n[s], reached[s], n[s],
                      f[s] / n[s] }'
}

scene() { # NAME SCENE STEPS ADMM COPIES ANTICIPATION options
    local name=$1 steps=${STEPS:-$3} run=$out/solvers-$1 solver contacts ms iterations reached of factor words published ours=0
    local -A known=([full]=$4 [copies]=$5 [ica]=$6)
    local -A word=([full]=ADMM [vertices]="ADMM, vertices" [ica]=anticipation [copies]=copies)
    "$bin"/mesh-prep -q "pipelines/experiments/hard-contact/scenes/$2.yaml" "${@:7}" |
        "$bin"/step -q -j "$jobs" -n "$steps" --every $((steps / 5)) | "$bin"/ccd-check -q -o "$run.abut"
    samples "$run.abut" "$steps" > "$run.tsv"
    while read -r solver contacts ms iterations reached of factor; do
        words=${word[$solver]} published=${known[$solver]:-}
        [ "$solver" != full ] || ours=$ms
        [ "$solver" = full ] || factor=
        echo "| $name, $words | $contacts | $ms | $iterations | $reached of $of | $factor |$(
            awk -v a="$ms" -v b="$ours" 'BEGIN { printf " %.3g |", a / b }') $published |$(
            [ -z "$published" ] || awk -v a="$published" -v b="$4" 'BEGIN { printf " %.2g", a / b }') |"
    done < <(means < "$run.tsv") > "$run.rows"
    cat "$run.rows"
    compose
}

while read -r name scene steps rest; do
    if (($#)) && [[ " $* " != *" $name "* ]]; then continue; fi
    # shellcheck disable=SC2086
    scene "$name" "$scene" "$steps" $rest < /dev/null
done < <(rows)
