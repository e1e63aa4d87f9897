#!/usr/bin/env bats
# BDF of order 3 to 6: frames are checkpoints, every step is judged, what scenes and streams say of them.
load helpers

setup_file() {
    for q in 3 4 5 6; do
        "${BIN:-bin}"/mesh-prep -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set time.scheme=bdf$q --set tolerance='1e-5 m/s' \
            -o "$BATS_FILE_TMPDIR/pile$q.abut"
    done
}
setup() { cd "$BATS_TEST_TMPDIR"; }

@test "20 steps are the same bytes as 10 and 10 more, for any number of threads, and nothing collides" {
    for q in 3 6; do
        pile=$BATS_FILE_TMPDIR/pile$q.abut
        "$BIN/step" -q -j 1 -n 20 --with forces,energies "$pile" -o whole.abut
        "$BIN/step" -q -j 3 -n 10 --with forces,energies "$pile" | "$BIN/step" -q -j 2 -n 10 --with forces,energies -o halves.abut
        cmp whole.abut halves.abut
        "$BIN/ccd-check" --no-output whole.abut 2>verdict
        grep -q "no collision" verdict
    done
}

@test "the start takes one step of each order, and a cut anywhere in it changes nothing" {
    pile=$BATS_FILE_TMPDIR/pile5.abut
    "$BIN/step" -q -n 6 "$pile" -o whole.abut
    for n in 1 2 3 4 5; do
        "$BIN/step" -q -n $n "$pile" | "$BIN/step" -q -n $((6 - n)) -o halves.abut
        cmp whole.abut halves.abut
    done
    "$BIN/export" --dump whole.abut | grep -a '^array node/[xv][0-9]\|^frame' >past
    # frame 0 has no past, frame n has n states, at most four
    "$PYTHON" - <<'P'
n, seen = -1, {}
for line in open("past"):
    if line.startswith("frame"): n += 1; seen[n] = []
    else: seen[n].append(line.split()[1])
for n, names in seen.items():
    want = [f"node/{c}{k}" for k in range(1, min(n, 4) + 1) for c in "xv"]
    assert sorted(names) == sorted(want), (n, names)
P
}

@test "the stages of friction give the bytes of whole steps" {
    pile=$BATS_FILE_TMPDIR/pile4.abut
    "$BIN/step" -q -n 6 "$pile" -o whole.abut
    "$BIN/step" -q -n 2 "$pile" -o now.abut
    for _ in 1 2 3 4; do
        "$BIN/step" -q --one-pass now.abut | "$BIN/friction-lag" -q --max-lags 1 -o next.abut
        mv next.abut now.abut
    done
    for f in whole now; do "$BIN/export" --dump $f.abut | sed -n '/^frame/,$p' >$f.txt; done
    cmp whole.txt now.txt
}

@test "mesh-prep names the scheme, refuses others, and programs that know one scheme refuse these" {
    "$BIN/mesh-prep" --explain "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set time.scheme=bdf6 -o six.abut 2>explained >&2
    grep -q "time scheme *BDF6" explained
    exits 3 "$BIN/mesh-prep" "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set time.scheme=bdf7 -o no.abut
    says "time.scheme is 'bdf7'"
    exits 3 "$BIN/step" -n 1 --solver pd --contact ignore six.abut -o no.abut
    says "expected implicit Euler"
    exits 3 "$BIN/strain-limit" --project --upper 1.02 six.abut -o no.abut
}
