#!/usr/bin/env bats
# What would not fit into memory is refused before memory is looked for, with the number and the limit.
load helpers

# small COMMAND ...: in a program that may have 700 MB
small() { (ulimit -v 700000 && "$@"); }
scene() { printf 'objects:\n  b: {%s}\n' "$1"; }
skip_sanitized() { [[ $BIN != *sanitize* ]] || skip "address space cannot be limited under a sanitizer"; }

# too_large OBJECT TEXT: mesh-prep refuses a scene of the object at once, and says so
too_large() {
    scene "$1" >a.yaml
    exits 3 small "$BIN/mesh-prep" -q -j 1 a.yaml -o none.abut
    says "$2"
}

@test "copies are counted before they are made" {
    skip_sanitized
    too_large 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, repeat: {count: [600, 600, 600], spacing: [2, 2, 2]}' "a.yaml:2:77: repeat: 1.728e+09 points: expected at most 2e+07"
    too_large 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, repeat: {count: [4096, 4096, 4096], spacing: [2, 2, 2]}' "repeat: 5.49755814e+11 points"
}

@test "nodes of an order and vertices of a proxy are estimated before they are made, of all objects together" {
    skip_sanitized
    too_large 'generate: {box: {size: [1, 1, 1], cells: [80, 80, 80]}}, order: 4' "a.yaml:2:6: object 'b': order 4 of 3072000 tets: about 3.13e+07 points: expected at most 2e+07"
    # nor is its surface put onto the sphere before
    scene 'generate: {sphere: {radius: 1, cells: 100}}, order: 4' >a.yaml
    exits 3 timeout 5 "$BIN/mesh-prep" -q -j 1 a.yaml -o none.abut
    says "order 4 of 6000000 tets: about 6.1e+07 points: expected at most 2e+07"
    too_large 'generate: {box: {size: [1, 1, 1], cells: [9, 9, 9]}}, repeat: {count: [500, 1, 1], spacing: [2, 2, 2], objects: true}, order: 4' "object 'b.447': order 4 of 4374 tets: about 2e+07 points with all objects before this one: expected at most 2e+07"
    too_large 'generate: {box: {size: [1, 1, 1], cells: [60, 60, 60]}}, proxy: {segments: 64}' "a.yaml:2:71: contact surface of 'b': 43200 faces with 64 segments on a side: about 8.85e+07 points: expected at most 2e+07"
    too_large 'generate: {box: {size: [1, 1, 1], cells: [60, 60, 60]}}, proxy: {edge: 0.5 mm}' "43200 faces with 48 segments on a side: about 4.98e+07 points"
    too_large 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, repeat: {count: [1000, 1, 1], spacing: [2, 2, 2], objects: true}, proxy: {segments: 64}' "contact surface of 'b.813': 12 faces with 64 segments on a side: about 2e+07 points with all objects before this one"
}

# bats test_tags=slow
@test "the table of friction coefficients of all pairs is bounded" {
    skip_sanitized
    awk 'BEGIN { print "objects:\n  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}"
        for (i = 0; i < 20000; i++) printf "  p%d: {half-space: {point: [0, -2, 0], normal: [0, 1, 0]}, mu: %g}\n", i, i * 1e-5 }' >a.yaml
    exits 3 small "$BIN/mesh-prep" -q -j 1 a.yaml -o none.abut
    says "a.yaml:4098:10: more than 4096 objects differ in their friction"
}

@test "tets are estimated before tetgen makes them" {
    skip_sanitized
    scene 'generate: {icosphere: {radius: 1, divisions: 2}}, tetrahedralize: {max-volume: 1e-12}' >a.yaml
    exits 3 small "$BIN/mesh-prep" -q -j 1 a.yaml -o none.abut
    says "are about 7.3e+12 tets: expected at most 2e+07"
}

@test "a file is measured before it is read" {
    skip_sanitized
    truncate -s 5G big.obj
    exits 3 small "$BIN/mesh-prep" -q -j 1 big.obj -o none.abut
    says "big.obj: 5 GiB, expected at most 4 GiB"
    truncate -s 65M big.yaml
    exits 3 small "$BIN/mesh-prep" -q -j 1 big.yaml -o none.abut
    says "big.yaml: 65 MiB of text, expected at most 64"
}

@test "no program loads OpenBLAS at its start: 200 MB of address space are enough for --version, --help and a small run" {
    local p
    skip_sanitized
    "$BIN/step" --help | grep -q petsc-gamg && skip "PETSc loads its BLAS"
    limited() { (ulimit -v 200000 && exec timeout 10 "$@"); }
    for p in "$BIN"/*; do
        [[ $p != */abut ]] || continue      # a script
        LD_DEBUG=files "$p" --version >/dev/null 2>loaded
        grep -q 'calling init: .*/libc\.so' loaded
        ! grep -i 'blas\|lapack\|cholmod' loaded || return 1
        limited "$p" --version | grep -q "^${p##*/} (abut) "
        limited "$p" --help >help
        [ -s help ]
    done
    scene 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}' >a.yaml
    limited "$BIN/mesh-prep" -q -j 1 a.yaml -o a.abut
    limited "$BIN/step" -q -j 1 -n 1 a.abut -o b.abut
    "$BIN/ccd-check" -q --no-output b.abut
}

@test "where the buffers of OpenBLAS do not fit, a run with CHOLMOD ends with 5 and says what to raise" {
    skip_sanitized
    "$BIN/step" --help | grep -q petsc-gamg && skip "PETSc loads its BLAS"
    scene 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}' >a.yaml
    "$BIN/mesh-prep" -q a.yaml -o a.abut
    cramped() { (ulimit -v 250000 && exec timeout 10 "$BIN/step" -q -j 1 -n 1 "$@" a.abut -o b.abut); }
    for o in "--linear-solver cholmod" "--solver lbfgs-pd"; do
        OMP_NUM_THREADS=1 exits 5 cramped $o
        says "no memory for OpenBLAS, which maps 128 MiB for each thread (1) and for calls: raise the limit of address space (ulimit -v)"
        (ulimit -v 450000; OMP_NUM_THREADS=1 timeout 10 "$BIN/step" -q -j 1 -n 1 $o a.abut -o b.abut)     # the first call, too
    done
}
