#!/usr/bin/env bats
# Friction passes: they converge in oblique impacts, and one of them says when it is too few.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# impact H MU: a tilted soft block meets a floor at 11 m/s; four steps with converged passes, at most 50 in a step
impact() {
    cat > scene.yaml <<Y
time: {step: $1 s}
contact: {dhat: 1 mm, friction: {mu: $2, lags: converged}}
materials: {n: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects:
  b: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [4, 4, 4]}}, material: n, rotate: {axis: [0, 0, 1], angle: 20 deg},
      translate: [0, 0.2, 0], velocity: [8, -8, 0]}
  f: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q scene.yaml | "$BIN/step" -q -n 4 --report r.jsonl -o run.abut
    "$BIN/ccd-check" -q --no-output run.abut
    python3 - <<'P'
import json
rows = [json.loads(line) for line in open("r.jsonl")]
passes = [r["passes"] for r in rows]
assert len(rows) == 4 and max(passes) <= 50, passes
assert max(p for r, p in zip(rows, passes) if r["parts"] == 1) <= 24, passes
P
}

@test "friction passes of an oblique impact converge: 10 ms, mu 0.8" { impact 0.01 0.8; }
@test "friction passes of an oblique impact converge: 5 ms, mu 1.5" { impact 0.005 1.5; }
# bats test_tags=slow
@test "friction passes of twelve oblique impacts converge, in parts of a step where they must" {
    for h in 0.05 0.02 0.01 0.005; do for mu in 0.3 0.8 1.5; do impact $h $mu; done; done
}

# slide X Y STEPS [YOUNG]: a block comes down on a floor with this velocity
slide() {
    "$BIN/mesh-prep" -q - <<Y | "$BIN/step" -n "$3" -o run.abut
time: {step: 10 ms}
contact: {friction: {mu: 0.5}}
materials: {m: {density: 1000, young: ${4:-1e6}, poisson: 0.3}}
objects:
  b: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0, 0.0501, 0], velocity: [$1, $2, 0], material: m}
  f: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
}

@test "one friction pass says that it is too few in an oblique impact, and nothing where it is enough" {
    run slide 2 -2 3
    [ "$status" -eq 0 ]
    [[ "$output" == *"one friction pass is not enough in "*"--lags converged"* ]]
    run slide 0 0 3 1e9
    [ "$status" -eq 0 ]
    [[ "$output" != *"friction pass"* ]]
}
