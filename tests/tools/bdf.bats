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

# bats test_tags=slow
@test "14 steps are the same bytes as 7 and 7 more, for any number of threads, and nothing collides" {
    for q in 3 6; do
        pile=$BATS_FILE_TMPDIR/pile$q.abut
        "$BIN/step" -q -j 1 -n 14 --with forces,energies "$pile" -o whole.abut
        "$BIN/step" -q -j 3 -n 7 --with forces,energies "$pile" | "$BIN/step" -q -j 2 -n 7 --with forces,energies -o halves.abut
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
    grep -q "time scheme *bdf6" explained
    exits 3 "$BIN/mesh-prep" "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set time.scheme=bdf7 -o no.abut
    says "time.scheme is 'bdf7'"
    exits 3 "$BIN/step" -n 1 --solver pd --contact ignore six.abut -o no.abut
    says "expected implicit-euler"
    exits 3 "$BIN/strain-limit" --project --upper 1.02 six.abut -o no.abut
}

@test "contact.barrier.fixed-kappa is the stiffness of every frame, and goes with no bounds" {
    "$BIN/mesh-prep" -q "$ROOT/pipelines/squeeze.yaml" --set contact.barrier.fixed-kappa=3e6 --explain -o fixed.abut 2>text
    grep -E 'fixed kappa +3000000 +kg/m\^2' text
    run grep -c 'kappa m' text
    [ "$output" -eq 0 ]
    "$BIN/step" -q -j 1 -n 12 fixed.abut | "$BIN/ccd-check" -q | "$BIN/export" -q --csv frames.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $(at["contacts"]) > 0 { n++; if ($(at["kappa"]) != 3e6) bad = 1 }
        END { exit bad || !n }' frames.csv
    for other in contact.kappa-scale=2 contact.barrier.kappa=ipc "contact.barrier.stiffen-below=1 mm"; do
        exits 3 "$BIN/mesh-prep" "$ROOT/pipelines/squeeze.yaml" --set contact.barrier.fixed-kappa=3e6 --set "$other" -o x.abut
        says "contact.barrier.fixed-kappa is there, which has no bounds"
    done
    exits 3 "$BIN/mesh-prep" "$ROOT/pipelines/squeeze.yaml" --set contact.barrier.fixed-kappa=0 -o x.abut
    says "contact.barrier.fixed-kappa"
}

@test "time.newmark takes what is stable for every step, and implicit-newmark alone" {
    newmark() { "$BIN/mesh-prep" -q "$ROOT/pipelines/drop.yaml" --set time.scheme=implicit-newmark --set "time.newmark=$1" -o n.abut; }
    newmark '{beta: 0.25, gamma: 0.5}'
    cp n.abut plain.abut
    "$BIN/mesh-prep" -q "$ROOT/pipelines/drop.yaml" --set time.scheme=implicit-newmark -o same.abut
    "$BIN/export" -q --dump n.abut | grep -v '^prov ' > one
    "$BIN/export" -q --dump same.abut | grep -v '^prov ' | cmp - one
    newmark '{beta: 0.3025, gamma: 0.6}'
    "$BIN/step" -q -j 1 -n 12 n.abut | "$BIN/ccd-check" -q -o damped.abut
    exits 3 newmark '{beta: 0.25, gamma: 0.4}'
    says "time.newmark.gamma is 0.4: expected at least 0.5"
    exits 3 newmark '{beta: 0.2}'
    says "time.newmark.beta is 0.2: expected at least gamma / 2 = 0.25"
    exits 3 newmark '{delta: 0.2}'
    exits 3 "$BIN/mesh-prep" -q "$ROOT/pipelines/drop.yaml" --set time.newmark.beta=0.5 -o n.abut
    says "expected time.scheme to be implicit-newmark"
}
