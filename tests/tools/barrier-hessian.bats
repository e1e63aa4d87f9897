#!/usr/bin/env bats
# step --barrier-hessian: every choice ends on the same state, free of intersections, and repeats itself.
load helpers

setup_file() {
    "${BIN:-bin}"/mesh-prep -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-9 m/s' -o "$BATS_FILE_TMPDIR/pile.abut"
}
setup() { pile=$BATS_FILE_TMPDIR/pile.abut; cd "$BATS_TEST_TMPDIR"; }

# bats test_tags=slow
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

# drop NAME SET...: two soft boxes fall on a floor; thin NAME ROTATION GENERATOR BODY: thin bodies fall on a ball and a floor
drop() {
    cat >drop.yaml <<'Y'
time: {step: 20 ms}
contact: {dhat: 1 mm}
materials: {n: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects:
  b: {generate: {box: {size: [0.4, 0.1, 0.1], cells: [8, 2, 2]}}, material: n, translate: [0, 0.06, 0], velocity: [0, -1, 0]}
  c: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, material: n, translate: [0.1, 0.18, 0.02], velocity: [0, -2, 0]}
  f: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    local name=$1 sets=()
    for s in "${@:2}"; do sets+=(--set "$s"); done
    "$BIN/mesh-prep" -q drop.yaml "${sets[@]}" -o "$name.abut"
}
thin() {
    cat >thin.yaml <<Y
time: {step: 10 ms}
contact: {dhat: 2 mm, friction: {mu: 0.2}}
materials: {c: {density: 300, young: 1e5, poisson: 0.3}}
objects:
  a: {generate: $3, material: c, $4, translate: [-0.02, 0.15, 0], rotate: {axis: [0, 1, 0], angle: $2}, velocity: [0, -1, 0]}
  b: {generate: {sphere: {radius: 0.12, cells: 3}}, obstacle: true}
  f: {half-space: {point: [0, -0.11, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q thin.yaml -o "$1.abut"
}

# all_end HESSIANS SCENES STEPS OPTION...: each of them, judged
all_end() {
    local h s
    for h in $1; do
        for s in $2; do
            "$BIN/step" -q -n "$3" --barrier-hessian "$h" "${@:4}" "$s.abut" -o "$s.$h.abut"
            "$BIN/ccd-check" -q --no-output "$s.$h.abut" || { echo "$h $s"; return 1; }
        done
    done
}

@test "a full Hessian, which may be indefinite, ends drops, with iterative solvers, too; a shifted direction ends no step" {
    drop hard
    drop soft materials.n.young=1e4
    drop edge 'objects.c.rotate={axis: [1, 0.5, 2], angle: 50 deg}' 'objects.c.translate=[0.1, 0.23, 0.02]'
    all_end full "hard soft edge" 12 --report full.jsonl
    grep -q '"shifts":[1-9]' full.jsonl
    for s in mas ic; do all_end full edge 5 --linear-solver $s; done
    drop wide contact.dhat='10 mm'
    all_end full wide 30 --report wide.jsonl        # forces balance; where shifted directions end steps, to 0.065
    "$PYTHON" -c 'import json
for line in list(open("wide.jsonl")):
    assert json.loads(line).get("force_residual", 0) < 0.01, line'
}

# bats test_tags=slow
@test "every Hessian of contacts ends ten scenes, judged free of intersections" {
    drop hard
    drop soft materials.n.young=1e4
    drop short time.step='5 ms'
    drop log2 contact.barrier.law=log2
    drop rub contact.friction.mu=0.5
    drop edge 'objects.c.rotate={axis: [1, 0.5, 2], angle: 50 deg}' 'objects.c.translate=[0.1, 0.23, 0.02]'
    drop wide contact.dhat='10 mm'
    drop fast 'objects.c.velocity=[0, -8, 0]' length=bounding-box
    thin sheet '20 deg' '{cloth: {size: [0.5, 0.5], edge: 0.05}}' 'shell: {thickness: 1 mm}'
    thin rod '65 deg' '{rod: {length: 0.4, cells: 8}}' 'rod: {radius: 5 mm}'
    all_end "projected full gn ipc-gn gn-j shi-kim shi-kim-unsigned" "hard soft short log2 rub edge wide fast sheet rod" 30
}

# bats test_tags=slow
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
    says "know projected, full, gn, ipc-gn, gn-j, shi-kim, shi-kim-unsigned"
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
        "$BIN/mesh-prep" -q "$ROOT/pipelines/experiments/published/scenes/parallel-edges.yaml" --set contact.barrier.mollifier=$m -o $m.start.abut
        "$BIN/step" -q -n 60 --report $m.jsonl $m.start.abut -o $m.abut
        "$BIN/ccd-check" -q --no-output $m.abut
    done
    grep -q '"mollified":[1-9]' on.jsonl
    exits 1 grep -q '"mollified":[1-9]' off.jsonl
    grep -q '"contacts":[1-9]' off.jsonl
    exits 3 "$BIN/step" --device twin off.start.abut -o o.abut
    says "--device: contact.barrier.mollifier is off, which a device does not know: expected on"
    exits 3 "$BIN/mesh-prep" -q "$ROOT/pipelines/experiments/published/scenes/parallel-edges.yaml" --set contact.barrier.mollifier=none -o o.abut
    says "contact.barrier.mollifier"
}
