#!/usr/bin/env bats
# What would not fit into memory is refused before memory is looked for, with the number and the limit.
load helpers

# small COMMAND ...: in a program that may have 700 MB
small() { (ulimit -v 700000 && "$@"); }
scene() { printf 'objects:\n  b: {%s}\n' "$1"; }
skip_sanitized() { [[ $BIN != *sanitize* ]] || skip "address space cannot be limited under a sanitizer"; }

@test "copies are counted before they are made" {
    skip_sanitized
    scene 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, repeat: {count: [600, 600, 600], spacing: [2, 2, 2]}' >a.yaml
    exits 3 small "$BIN/mesh-prep" -q -j 1 a.yaml -o none.abut
    says "a.yaml:2:77: repeat: 1.728e+09 points: expected at most 2e+07"
    scene 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, repeat: {count: [4096, 4096, 4096], spacing: [2, 2, 2]}' >a.yaml
    exits 3 small "$BIN/mesh-prep" -q -j 1 a.yaml -o none.abut
    says "repeat: 5.49755814e+11 points"
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
