#!/usr/bin/env bats
# Cloth of Baraff and Witkin in scenes: it hangs, drapes and stretches as its energy says.
load helpers

# drape KEY...: the scene of a sheet that hangs from two corners and falls over a ball
drape() {
    cat > drape.yaml <<'Y'
time: {step: 0.01 s, end: 1 s}
contact: {dhat: 1 mm, friction: {mu: 0.2, eps_v: 1e-3 m/s}}
materials:
  cotton: {membrane: baraff-witkin, fabric: {warp: 168 kPa, weft: 168 kPa, shear: 5 kPa, compression: 0.01}, density: 200, young: 5e5, poisson: 0.49}
objects:
  cloth: {generate: {cloth: {size: [0.5, 0.5], cells: [16, 16]}}, shell: {thickness: 1 mm}, translate: [0, 0.3, 0]}
  ball: {generate: {sphere: {radius: 0.1, cells: 6}}, obstacle: true, translate: [0, 0.15, 0.05]}
motion:
  - {select: {object: cloth, relative-box: [[0, 0, 0], [0.001, 1, 0.001]]}, fix: true}
  - {select: {object: cloth, relative-box: [[0.999, 0, 0], [1, 1, 0.001]]}, fix: true}
Y
    "$BIN/mesh-prep" -q drape.yaml "$@" -o drape.abut
}

@test "a sheet that hangs from two corners and falls over a ball: clean, the same bytes in halves and for any number of threads" {
    drape
    "$BIN/step" -q -j 1 -n 30 --with forces,energies --report drape.jsonl drape.abut -o whole.abut
    "$BIN/ccd-check" --no-output whole.abut 2>verdict
    grep -q "no collision" verdict
    "$BIN/step" -q -j 3 -n 14 --with forces,energies drape.abut | "$BIN/step" -q -j 2 -n 16 --with forces,energies -o halves.abut
    cmp whole.abut halves.abut
    "$BIN/strain-limit" -q --audit --json audit.jsonl whole.abut -o /dev/null
    "$PYTHON" - <<'P'
import json
rows = [json.loads(l) for l in open("drape.jsonl")]
assert max(r["contacts"] for r in rows) > 20 and sum(r["newton_iterations"] for r in rows) < 300, rows[-1]
assert max(r["max_stretch"] for r in rows) < 1.2
P
}

@test "every scheme and every way to solve a step ends on the same sheet, judged" {
    skip_without_numpy
    drape --set tolerance='1e-7 m/s' --set contact.friction.mu=0
    "$BIN/step" -q -n 8 drape.abut -o newton.abut
    "$BIN/step" -q -n 8 --solver newton-cg drape.abut -o cg.abut
    "$BIN/step" -q -n 8 --solver lbfgs-h drape.abut -o lbfgs.abut
    near newton.abut cg.abut 8 1e-7
    near newton.abut lbfgs.abut 8 1e-7
    for s in implicit-newmark bdf2 midpoint; do
        drape --set time.scheme=$s
        "$BIN/step" -q -n 20 drape.abut | "$BIN/ccd-check" -q --no-output
    done
}

# strip COMPRESSION: a strip that hangs from its upper side, in equilibrium; its lowest node's height
strip() {
    cat > strip.yaml <<Y
time: {step: 1 s, scheme: quasi-static}
contact: off
gravity: [0, 0, 9.81]
materials:
  silk: {membrane: baraff-witkin, fabric: {warp: 3 kPa, weft: 20 kPa, shear: 1 kPa, compression: $1}, density: 400, young: 1}
objects:
  strip: {generate: {cloth: {size: [0.1, 1], cells: [2, 20]}}, shell: {thickness: 1 mm}, translate: [0, 0, 0.5]}
motion: [{select: {object: strip, relative-box: [[0, 0, 0], [1, 1, 0.001]]}, fix: true}]
Y
    "$BIN/mesh-prep" -q strip.yaml -o strip.abut
    "$BIN/step" -q -n 1 strip.abut -o hung.abut
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
print(list(abut_stream.read("hung.abut"))[-1]["node/x"][:, 2].max())
P
}

@test "a strip that hangs is longer by rho g L^2 / (4 k): twice its stiffness is Young's modulus, and it does not contract across" {
    skip_without_numpy
    awk -v x="$(strip 1)" 'BEGIN { want = 400 * 9.81 / (4 * 20000); print x - 1, want; exit !(x - 1 > 0.99 * want && x - 1 < 1.01 * want) }'
    # what pulls does not know compression
    awk -v x="$(strip 1)" -v y="$(strip 0.01)" 'BEGIN { d = x - y; exit !(d < 1e-6 && d > -1e-6) }'
}

@test "cloth that resists compression less folds more: the ends of a sheet that is pushed together" {
    skip_without_numpy
    for c in 1 0.01; do
        cat > push.yaml <<Y
time: {step: 1 s, scheme: quasi-static}
contact: off
gravity: [0, 0, 0]
materials:
  silk: {membrane: baraff-witkin, fabric: {warp: 20 kPa, weft: 20 kPa, shear: 1 kPa, compression: $c}, density: 400, young: 1}
objects:
  sheet: {generate: {cloth: {size: [0.2, 0.1], cells: [4, 2]}}, shell: {thickness: 1 mm}}
motion:
  - {select: {object: sheet, relative-box: [[0, 0, 0], [0.001, 1, 1]]}, fix: true}
  - {select: {object: sheet, relative-box: [[0.999, 0, 0], [1, 1, 1]]}, translate: [-0.002, 0, 0], until: 1 s}
Y
        "$BIN/mesh-prep" -q push.yaml -o push.abut
        "$BIN/step" -q -n 1 --with forces push.abut -o pushed.$c.abut
    done
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
held = []
for c in ("1", "0.01"):
    f = list(abut_stream.read(f"pushed.{c}.abut"))[-1]["node/reaction-force"][:, 0]
    held.append(f[f > 0].sum())
want = 2 * 20e3 * 0.01 * 0.1 * 1e-3       # 2 k times the strain, the width and the thickness
assert abs(held[0] - want) < 1e-3 * want and abs(held[1] - 0.01 * want) < 1e-5 * want, (held, want)
P
}
