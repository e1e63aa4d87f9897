#!/usr/bin/env bats
# Memory that is not there, reads that fail, libraries that end the program: said with exit code 5, and no file that looks whole.
load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    two_boxes 1 0.32 >scene.yaml
    "$BIN/mesh-prep" -q scene.yaml | "$BIN/step" -q -n 2 -o run.abut
}
setup() {
    [[ $BIN != *sanitize* && $BIN != *threadsan* ]] || skip "faults cannot be loaded before a sanitizer"
    cd "$BATS_FILE_TMPDIR"
}

# with FAULT=N ... -- COMMAND ...: the command meets that
with() {
    local set=()
    while [[ $1 != -- ]]; do set+=("$1"); shift; done
    shift
    env GOMP_SPINCOUNT=2000 LD_PRELOAD="$AIDS/faults.so" "${set[@]}" "$@"
}
# counted 1|2 COMMAND ...: how many allocations, or reads, the command makes
counted() {
    with FAULT_COUNT=count -- "${@:2}" >/dev/null 2>&1
    cut -d ' ' -f "$1" count
}

@test "a library that ends the program ends it with 5, not with the answer no" {
    exits 5 with FAULT_EXIT=150 -- "$BIN/ccd-check" -q --no-output run.abut
    says "ccd-check: a library ended the program"
    exits 0 with FAULT_EXIT=99999999 -- "$BIN/ccd-check" -q --no-output run.abut
}

skip_under_clang() { [[ $BIN != *clang* ]] || skip "clang's OpenMP ends the program, or waits for itself, when it has no memory"; }

@test "a file that cannot be opened for lack of memory is no wrong input" {
    skip_under_clang
    local n
    for n in 0 1 2 3 4 5 6 7 8; do
        exits 5 with FAULT_MALLOC_FROM=$n -- "$BIN/ccd-check" -q -j 1 --no-output run.abut
        exits 5 with FAULT_MALLOC_FROM=$n -- "$BIN/mesh-prep" -q -j 1 scene.yaml -o none.abut
    done
    exits 3 "$BIN/ccd-check" -q --no-output nowhere.abut
}

# whole OPTION: export OPTION writes the whole file or none, whichever allocation fails
whole() {
    skip_under_clang
    "$BIN/export" -q -j 1 run.abut "$1" good
    local n all fault
    all=$(counted 1 "$BIN/export" -q -j 1 run.abut "$1" other)
    for ((n = all - 1; n > 0; n -= n > all - 60 ? 1 : 17)); do
        for fault in FAULT_MALLOC FAULT_MALLOC_FROM; do
            rm -f bad
            if with $fault=$n -- "$BIN/export" -q -j 1 run.abut "$1" bad 2>said; then
                cmp good bad
            else
                [[ $? -eq 5 && ! -e bad ]]
            fi
        done
    done
}

@test "export --gltf writes the whole document or none, whichever allocation fails" { whole --gltf; }

@test "export --html writes the whole page or none, whichever allocation fails" { whole --html; }

@test "an allocation that fails inside METIS is a lack of memory, too" {
    skip_under_clang
    local n rc all
    all=$(counted 1 "$BIN/decompose" -q -j 1 -k 2 run.abut -o /dev/null)
    for ((n = all / 3; n < all; n++)); do
        rc=0
        with FAULT_MALLOC=$n -- "$BIN/decompose" -q -j 1 -k 2 run.abut -o /dev/null 2>said || rc=$?
        [[ $rc == 0 || $rc == 5 ]] || { echo "allocation $n: status $rc"; cat said; return 1; }
    done
}

# unreadable COMMAND ...: 5, and the reason, whichever read fails
unreadable() {
    local n all
    all=$(counted 2 "$@")
    ((all > 0))
    for ((n = 0; n < all; n += all > 8 ? all / 8 : 1)); do
        exits 5 with FAULT_READ=$n -- "$@"
        grep -qiE 'input/output error|cannot be read' "$BATS_TEST_TMPDIR/stderr" || { echo "read $n of: $*"; cat "$BATS_TEST_TMPDIR/stderr"; return 1; }
    done
}

@test "a read that fails is an error of the system, in every reader" {
    local p
    for p in "step -n 1" "step --one-pass" ccd-check "export --summary" "export --dump" "decompose -k 2" "tear --stretch 2" \
        "springs --stiffness 1" "strain-limit --audit" friction-lag; do
        # shellcheck disable=SC2086
        unreadable "$BIN"/$p -q -j 1 -o /dev/null run.abut
    done
    "$BIN/export" -q run.abut --obj . --ply .
    printf '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n' >tet.node
    printf '1 4 0\n0 0 1 2 3\n' >tet.ele
    printf '0 1\n1 2\n' >rod.seg
    printf 'v 0 0 0\nv 1 0 0\n' >dot.pt
    printf '$MeshFormat\n4.1 0 8\n$EndMeshFormat\n' >bad.msh
    printf '# vtk DataFile Version 3.0\n' >bad.vtk
    printf 'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n' >a.stl
    printf 'energy NH\ntime 1 0.01\nshapes input 0\n' >script.txt
    printf '0,1,0,1,0,1,0\n%.0s' {1..8} >vf.csv
    for p in *.obj *.ply tet.node tet.ele rod.seg dot.pt bad.msh bad.vtk a.stl scene.yaml; do
        exits 5 with FAULT_READ=0 -- "$BIN/mesh-prep" -q -j 1 "$p" -o /dev/null
        says "Input/output error"
    done
    exits 5 with FAULT_READ=0 -- "$BIN/mesh-prep" -q -j 1 --ipc-script script.txt -o /dev/null
    says "Input/output error"
    exits 5 with FAULT_READ=20 -- "$BIN/ccd-check" -q -j 1 --csv-queries --kind vf vf.csv
    says "vf.csv"
}
