#!/usr/bin/env bats
# bats file_tags=experiment
# Solvers of hard contact side by side on one linear problem (nodal_ablation.sh).
load ../../../tests/tools/helpers

# the bench of the variant that is tested: a rule of the make that runs this
setup_file() {
    local variant=${BIN#"$ROOT/"}
    [ "$variant" = bin ] && variant=build/gcc/bin
    export BENCH=$ROOT/${variant%/bin}/bench/bench_nodal
    make -s -C "$ROOT" "${BENCH#"$ROOT/"}"
}

@test "every solver has its row, a run again replaces them, and what leaves Coulomb's law shows it" {
    cat > ball.yaml <<'Y'
abut: 1
solver: nodal
time: {step: 0.01 s}
contact: {dhat: 0.5 mm, friction: {mu: 0.4}}
materials: {rubber: {density: 1000, young: 1e5, poisson: 0.4}}
objects:
  ball:  {generate: {sphere: {radius: 0.1, cells: 4}}, translate: [0, 0.2, 0], velocity: [0.5, -1, 0]}
  bar:   {generate: {box: {size: [0.5, 0.08, 0.1], cells: [8, 1, 2]}}, translate: [0.1, 0.05, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    export SCENE=$PWD/ball.yaml STEPS=6 OUT=$PWD/out TABLE=$PWD/table.md
    "$ROOT/pipelines/experiments/hard-contact/nodal_ablation.sh" > first
    "$ROOT/pipelines/experiments/hard-contact/nodal_ablation.sh" > second
    [ "$(grep -c '^| ball, ' table.md)" -eq 11 ]
    law() { grep "^| ball, $1 |" table.md | cut -d'|' -f10; }
    for solver in full awake accelerated general; do awk -v law="$(law "$solver")" 'BEGIN { exit !(law ~ /[0-9]/ && law < 1e-2) }'; done
    awk -v a="$(law 'position based')" -v b="$(law full)" 'BEGIN { exit !(a > 3 * b) }'
}

@test "problems of a whole scene by three solvers: rows of scenes that are not run again stay, in the order of the list" {
    mkdir out
    echo "| belt, ADMM | 1 | 2 | 3 | 5 of 5 | 4 | 1 | 45 | 1 |" > out/solvers.md
    OUT=$PWD/out STEPS=25 "$ROOT/pipelines/experiments/hard-contact/nodal_solvers.sh" drag
    grep -o '^| [a-z]*, [A-Za-z, ]* |' out/solvers.md | grep -v scene > names
    printf '| belt, ADMM |\n| drag, ADMM |\n| drag, ADMM, vertices |\n| drag, anticipation |\n| drag, copies |\n' | cmp - names
    grep -E '^\| drag, ADMM \| [0-9]+ \| [0-9.]+ \| [0-9.]+ \| 5 of 5 \| [0-9.e-]+ \| 1 \| 0.4 \| 1 \|$' out/solvers.md
    grep -E '^\| drag, anticipation \| .* \| 5 of 5 \|  \| [0-9.]+ \| 8.2 \| 20 \|$' out/solvers.md
}
