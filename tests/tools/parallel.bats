#!/usr/bin/env bats
# Edges that are parallel, or nearly: bars that fall on each other edge on edge.
load helpers

# bars ANGLE: a bar falls on one that lies on an edge of its own; their edges make that angle, deg
bars() {
    cat > bars.yaml <<Y
time: {step: 0.01 s}
contact: {dhat: 1 mm}
tolerance: 1e-4 m/s
materials: {hard: {young: 1e6, poisson: 0.3, density: 800}}
objects:
  low:  {generate: {box: {size: [0.3, 0.05, 0.05], cells: [4, 1, 1]}}, material: hard, rotate: {axis: [1, 0, 0], angle: 45 deg}}
  high: {generate: {box: {size: [0.3, 0.05, 0.05], cells: [4, 1, 1]}}, material: hard, velocity: [0, -0.5, 0],
         rotate: [{axis: [1, 0, 0], angle: 45 deg}, {axis: [0, 1, 0], angle: $1 deg}], translate: [0, 0.0735, 0]}
motion: [{select: {object: low, relative-box: [[0, 0, 0], [1, 0.01, 1]]}, fix: true}]
Y
    "$BIN/mesh-prep" -q bars.yaml -o bars.abut
}

@test "bars that meet edge on edge at any angle: clean, in a bounded number of iterations whose energy never grows" {
    for angle in 0 1e-6 0.1 1 2; do
        bars $angle
        for how in "" "--barrier-hessian gn" "--barrier-hessian shi-kim"; do
            "$BIN/step" -q -n 6 $how --report bars.jsonl bars.abut -o fallen.abut
            "$BIN/ccd-check" -q --no-output fallen.abut
            "$PYTHON" - "$angle $how" <<'P'
import json, math, sys
rows = [json.loads(l) for l in open("bars.jsonl")]
its = [r["newton_iterations"] for r in rows]
assert max(its) <= 60 and max(r["contacts"] for r in rows) > 0, (sys.argv[1], its)
for r in rows:
    energy = max(abs(r["kinetic_energy"]) + abs(r["elastic_energy"]), 1e-3)
    assert all(math.isfinite(i[0]) and i[5] >= -1e-9 * energy for i in r["iterations"]), (sys.argv[1], r["iterations"])
P
        done
    done
}
