#!/usr/bin/env bats
# step --linear-solver petsc-...: linear solvers of PETSC=1; $PETSC_BIN: the folder of that build (build/gcc-petsc/bin).
load helpers

PETSC_BIN=${PETSC_BIN:-$ROOT/build/gcc-petsc/bin}
petsc() { "$PETSC_BIN/step" "$@"; }
skip_without_petsc() { [ -x "$PETSC_BIN/step" ] || skip "no $PETSC_BIN/step: make PETSC=1"; }

# runs NAME STEPS OPTION...: NAME.abut by the default solver and by petsc-gamg: judged, and near each other by the tolerance of the scene
agrees() {
    local name=$1 steps=$2
    "$BIN/step" -q -n "$steps" "$name.abut" -o "$name-own.abut"
    for solver in "${@:4}"; do
        petsc -q -n "$steps" --linear-solver "$solver" --report "$name.jsonl" "$name.abut" -o "$name-$solver.abut"
        "$BIN/ccd-check" -q --no-output "$name-$solver.abut"
        near "$name-own.abut" "$name-$solver.abut" "$steps" "$3"
    done
}

@test "a build without PETSc says so, with exit 2" {
    two_boxes 1 0.32 | "$BIN/mesh-prep" -q - -o start.abut
    "$BIN/step" --help | grep -q petsc-gamg && skip "this build has PETSc"
    exits 2 "$BIN/step" --linear-solver petsc-gamg start.abut -o o.abut
    says "linear solver petsc-gamg: know own, cholmod, "
    says "this build has no PETSc, whose solvers are in one by make PETSC=1"
    exits 2 "$BIN/step" --linear-solver pets start.abut -o o.abut
}

@test "PETSc's solvers give the runs of the default one to the tolerance, judged clean: boxes that fall, a ball that is squeezed, a mat" {
    skip_without_petsc
    skip_without_numpy
    two_boxes 4 0.312 | "$BIN/mesh-prep" -q - --set tolerance='1e-4 m/s' -o first.abut
    one_stiffness first.abut boxes.abut
    agrees boxes 20 2e-6 petsc-schwarz petsc-gamg petsc-cholmod petsc-mumps
    grep -q '"cg_iterations":[1-9]' boxes.jsonl && false
    petsc -q -n 1 --linear-solver petsc-gamg --report boxes.jsonl boxes.abut -o one.abut
    grep -q '"cg_iterations":[1-9]' boxes.jsonl
    "$BIN/mesh-prep" -q "$ROOT/pipelines/examples/squeeze.yaml" --set objects.ball.generate.sphere.cells=4 --set tolerance="1e-4 m/s" \
        --set objects.ball.translate=[0.03,0.01,0.02] --set contact.friction.mu=0.5 -o first.abut
    one_stiffness first.abut squeeze.abut
    agrees squeeze 12 2e-6 petsc-schwarz petsc-gamg
    "$BIN/mesh-prep" -q "$ROOT/pipelines/examples/twist.yaml" --set objects.mat.generate.box.cells=[12,1,12] --set tolerance="1e-4 m/s" -o first.abut
    one_stiffness first.abut twist.abut
    agrees twist 10 2e-6 petsc-schwarz petsc-gamg
}

@test "petsc-gamg: the same bytes for every -j, from a restart, and whatever PETSC_OPTIONS says; the history has PETSc's version" {
    skip_without_petsc
    two_boxes 4 0.312 | "$BIN/mesh-prep" -q - -o start.abut
    for solver in petsc-schwarz petsc-gamg petsc-mumps petsc-cholmod; do
        petsc -q -j 1 -n 20 --linear-solver $solver start.abut -o one.abut
        PETSC_OPTIONS="-abut_mg_levels_ksp_max_it 5" petsc -q -j 3 -n 20 --linear-solver $solver start.abut -o three.abut
        cmp one.abut three.abut
        petsc -q -n 10 --linear-solver $solver start.abut | petsc -q -n 10 --linear-solver $solver -o halves.abut
        cmp one.abut halves.abut
        "$BIN/export" --dump --no-data one.abut | grep -F "\"linear_solver\":\"$solver of PETSc 3."
    done
}

@test "petsc-gamg does not take what has no positions, and an impossible step ends as with other solvers" {
    skip_without_petsc
    two_boxes 2 0.312 | "$BIN/mesh-prep" -q - -o start.abut
    exits 2 petsc --solver newton-cg --linear-solver petsc-gamg start.abut -o o.abut
    exits 4 petsc --linear-solver petsc-gamg --stop published --max-newton 1 -n 20 start.abut -o o.abut
    says "not converged after 1 Newton iteration"
}
