#!/usr/bin/env bats
# A table: scene, program or solver with its options.  Each row writes the same bytes for any number of threads and in halves.
load helpers

# scene NAME: NAME.abut, several blocks of nodes and elements in contact within two steps
scene() {
    case $1 in
    boxes) two_boxes 6 0.3055 ;;
    curved) two_boxes 2 0.3055 | sed 's/material: jelly/order: 2, &/' ;;
    thin) cat <<'Y'
abut: 1
time: {step: 5 ms}
contact: {dhat: 1 mm, friction: {mu: 0.3}}
materials: {m: {density: 400, young: 1e5, poisson: 0.3}}
objects:
  cloth: {generate: {cloth: {size: [0.4, 0.4], cells: [16, 16]}}, shell: {thickness: 0.5 mm, stretch-limit: 1.05}, translate: [0, 0.157, 0], velocity: [0, -1, 0]}
  hair:  {generate: {hair: {count: 12, radius: 0.1, offset: 5 mm, length: 0.05, cells: 8}}, rod: {radius: 0.5 mm}}
  ball:  {generate: {ball: {radius: 0.1, divisions: 4}}, obstacle: true}
Y
    ;;
    esac > "$1.yaml"
    "$BIN/mesh-prep" -q "$1.yaml" -o "$1.abut"
}

# same SCENE STEPS OPTIONS OF step: twice STEPS by one thread are STEPS by two and STEPS by seven, and collide nowhere
same() {
    local scene=$1 steps=$2
    shift 2
    "$BIN/step" -q -j 1 -n $((2 * steps)) "$@" "$scene.abut" -o whole.abut || return
    "$BIN/step" -q -j 2 -n "$steps" "$@" "$scene.abut" | "$BIN/step" -q -j 7 -n "$steps" "$@" -o halves.abut
    cmp whole.abut halves.abut || { echo "$scene $*"; return 1; }
}
judged() { same "$@"; "$BIN/ccd-check" -q --no-output whole.abut; }

@test "boxes of tets that meet with friction: by the solvers for every day" {
    scene boxes
    judged boxes 2
    same boxes 1 --solver newton-cg
    same boxes 1 --linear-solver ic-rigid
    same boxes 1 --solver lbfgs-h
    same boxes 1 --solver dot --parts 4
    judged boxes 1 --solver nodal
    same boxes 2 --solver pd --contact ignore
}

@test "curved tets, cloth within limits, and rods in contact" {
    scene curved
    judged curved 2
    scene thin
    judged thin 2
}

@test "programs beside step" {
    scene boxes
    "$BIN/step" -q -n 2 --with forces,energies boxes.abut -o run.abut
    for j in 1 7; do
        "$BIN/mesh-prep" -q -j $j boxes.yaml -o model.$j
        "$BIN/decompose" -q -j $j -k 5 boxes.abut -o parts.$j
        "$BIN/strain-limit" -q -j $j --audit run.abut -o limit.$j
        "$BIN/ccd-check" -q -j $j --json judge.$j --no-output run.abut
        "$BIN/export" -q -j $j --csv table.$j --vtu vtu.$j --html page.$j run.abut
    done
    for f in model parts limit judge table page; do cmp $f.1 $f.7; done
    diff -r vtu.1 vtu.7
}

# bats test_tags=slow
@test "boxes of tets: by every solver and every linear solver that takes them" {
    scene boxes
    for s in lbfgs-pd lbfgs-jh lbfgs-ic gradient lbfgs-rest lbfgs-warped lbfgs-id; do same boxes 2 --solver $s; done
    for s in admm-pd admm-dd; do same boxes 2 --solver $s --contact ignore; done
    for l in cholmod cg-schwarz mas mas-rigid cg ic; do same boxes 2 --linear-solver $l --blas-threads 1; done
    for h in gn gn-j ipc-gn shi-kim shi-kim-unsigned; do same boxes 2 --barrier-hessian $h; done
    same boxes 2 --device twin
}
