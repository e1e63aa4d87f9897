# Runs once before the suites of this folder: after `make` alone, builds what they run besides the programs (default variant).
setup_suite() {
    local root=$BATS_TEST_DIRNAME/../.. f
    [[ ${BIN:-bin} != */build/*/bin ]] || return 0
    for f in "$root"/tests/tools/*.c "$root"/tests/preload/*.c; do
        f=$root/build/gcc/tests/$(basename "$f" .c)
        [[ -e $f || -e $f.so ]] || { flock "$root/build/make.lock" make -s --no-print-directory -C "$root" -j"$(nproc)" aids || return; }
    done
}
