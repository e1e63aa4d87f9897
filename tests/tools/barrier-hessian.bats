#!/usr/bin/env bats
# step --barrier-hessian: every choice ends on the same state, free of intersections, and repeats itself.
load helpers

setup_file() {
    "${BIN:-bin}"/mesh-prep -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-9 m/s' -o "$BATS_FILE_TMPDIR/pile.abut"
}
setup() { pile=$BATS_FILE_TMPDIR/pile.abut; cd "$BATS_TEST_TMPDIR"; }

@test "every Hessian of contacts ends a step where the default does, with the same bytes for any number of threads" {
    skip_without_numpy
    one_stiffness "$pile" stiff.abut
    "$BIN/step" -q -n 6 stiff.abut -o own.abut
    for h in projected full gn gn-j ipc-gn shi-kim shi-kim-unsigned; do
        "$BIN/step" -q -j 1 --barrier-hessian $h -n 6 stiff.abut -o $h.abut
        "$BIN/ccd-check" -q --no-output $h.abut
        "$BIN/step" -q -j 3 --barrier-hessian $h -n 6 stiff.abut | cmp - $h.abut
        near own.abut $h.abut 6 1e-9
    done
    "$BIN/export" --dump gn.abut | grep -v '^prov' >gn
    "$BIN/export" --dump projected.abut | grep -v '^prov' >projected
    "$BIN/export" --dump own.abut | grep -v '^prov' | cmp - projected
    exits 1 cmp -s gn projected
    "$BIN/export" --dump gn.abut >dump
    grep -q '"barrier_hessian":"gn"' dump
}

@test "a filter and the squared logarithm end where they do without it, by newton-cg too, and restart with the same bytes" {
    skip_without_numpy
    for f in 0 0.1; do
        "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-9 m/s' \
            --set contact.barrier="{law: log2, filter: $f}" -o tight$f.abut
        one_stiffness tight$f.abut stiff$f.abut
    done
    "$BIN/step" -q -n 6 stiff0.abut -o own.abut
    for s in newton newton-cg; do
        "$BIN/step" -q -n 6 --solver $s --barrier-hessian gn stiff0.1.abut -o $s.abut
        near own.abut $s.abut 6 1e-9
        "$BIN/ccd-check" -q --no-output $s.abut
        "$BIN/step" -q -n 3 --solver $s --barrier-hessian gn stiff0.1.abut |
            "$BIN/step" -q -n 3 --solver $s --barrier-hessian gn -o halves.abut
        cmp $s.abut halves.abut
    done
}

@test "what does not take a Hessian of contacts, or a filter, refuses it by name" {
    exits 2 "$BIN/step" --barrier-hessian newton "$pile"
    says "know projected, full, gn, gn-j, ipc-gn, shi-kim, shi-kim-unsigned"
    exits 2 "$BIN/step" --barrier-hessian gn --solver lbfgs-h "$pile"
    says "--barrier-hessian: for --solver newton, newton-cg, not for lbfgs-h"
    exits 2 "$BIN/step" --barrier-hessian shi-kim --device twin "$pile"
    says "--device: has projected, gn and ipc-gn Hessians of contacts, not --barrier-hessian shi-kim"
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set contact.barrier="{law: log2, filter: 0.1}" -o filter.abut
    exits 3 "$BIN/step" filter.abut
    says "contact.barrier.filter is 0.1: --barrier-hessian projected takes none"
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set contact.barrier.law=ipc-c1 -o c1.abut
    exits 2 "$BIN/step" --device twin --barrier-hessian full c1.abut
    says "not --barrier-hessian full"
}

@test "a device takes the squared logarithm, and ends a step where the processor does" {
    skip_without_numpy
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-9 m/s' --set contact.barrier.law=log2 -o log2.abut
    one_stiffness log2.abut stiff.abut
    "$BIN/step" -q -n 4 stiff.abut -o cpu.abut
    "$BIN/step" -q -n 4 --device twin stiff.abut -o twin.abut
    near cpu.abut twin.abut 4 1e-9
    "$BIN/ccd-check" -q --no-output twin.abut
}

@test "a device takes Gauss-Newton Hessians of contacts, filtered, and ends a step where the processor does" {
    skip_without_numpy
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-9 m/s' \
        --set contact.barrier="{law: log2, filter: 0.01}" -o filter.abut
    one_stiffness filter.abut stiff.abut
    for name in gn ipc-gn; do
        "$BIN/step" -q -n 4 --barrier-hessian $name stiff.abut -o cpu.abut
        "$BIN/step" -q -n 4 --device twin --barrier-hessian $name stiff.abut -o twin.abut
        near cpu.abut twin.abut 4 1e-9
    done
}

@test "without the mollifier parallel edges are plain contacts, judged free of intersections; a device refuses it by name" {
    for m in on off; do
        "$BIN/mesh-prep" -q "$ROOT/pipelines/scenes/parallel-edges.yaml" --set contact.barrier.mollifier=$m -o $m.start.abut
        "$BIN/step" -q -n 60 --report $m.jsonl $m.start.abut -o $m.abut
        "$BIN/ccd-check" -q --no-output $m.abut
    done
    grep -q '"mollified":[1-9]' on.jsonl
    exits 1 grep -q '"mollified":[1-9]' off.jsonl
    grep -q '"contacts":[1-9]' off.jsonl
    exits 3 "$BIN/step" --device twin off.start.abut -o o.abut
    says "--device: contact.barrier.mollifier is off, which a device does not know: expected on"
    exits 3 "$BIN/mesh-prep" -q "$ROOT/pipelines/scenes/parallel-edges.yaml" --set contact.barrier.mollifier=none -o o.abut
    says "contact.barrier.mollifier"
}
