#!/usr/bin/env bats
# Equilibria from the scene to the judge.
load helpers

scene() {
    cat > press.yaml <<'Y'
time: {step: 1 s, scheme: quasi-static}
contact: {friction: {mu: 0.3, lags: 2}}
objects:
  ball: {generate: {sphere: {radius: 0.2, cells: 4}}, translate: [0, 0.21, 0]}
  low:  {generate: {box: {size: [1, 0.1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [0.13, -0.051, 0.04]}
  top:  {generate: {box: {size: [1, 0.1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [0.13, 0.47, 0.04], velocity: [0, -0.1, 0]}
Y
    "$BIN/mesh-prep" press.yaml "$@" -o press.abut
}

@test "a ball is pressed flat in two steps, and every step passes ccd-check" {
    scene
    "$BIN/step" -n 2 press.abut | "$BIN/ccd-check" --no-output
    scene --set contact.friction.mu=0           # so that forces are those of contact alone
    "$BIN/step" -n 2 --with forces press.abut -o run.abut
    "$BIN/ccd-check" --no-output run.abut
    skip_without_numpy
    cat > forces.py <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import abut_stream
items = list(abut_stream.read("run.abut"))
model, last = items[0], items[-1]
f, body = last["node/contact-force"], model["node/object"]
weight = 9.81 * model["node/mass"][body == 0].sum()
on_ball, on_low, on_top = (f[body == k].sum(axis=0) for k in range(3))
assert abs(on_ball - [0, weight, 0]).max() < 1e-3 * weight, (on_ball, weight)      # what holds it up is its weight ...
assert on_top[1] > 5 * weight                                           # ... though it is pressed much harder
assert abs(on_ball + on_low + on_top).max() < 1e-9 * on_top[1]          # action and reaction
x = last["node/x"][body == 0, 1]
plate = last["node/x"][body == 2, 1].min()
assert abs(plate - 0.22) < 1e-3 * 0.2                                   # a thousandth of its way may be missing
assert -1e-3 < x.min() < 0 and 0.219 < x.max() < plate                  # between the plates
assert (last["node/v"] == 0).all()
P
    "$PYTHON" forces.py "$ROOT/formats/python"
}

@test "two steps are one and one, byte for byte, and for every number of threads" {
    scene
    "$BIN/step" -j 1 -n 2 press.abut -o whole.abut
    "$BIN/step" -j 2 press.abut | "$BIN/step" -j 3 -o halves.abut
    cmp whole.abut halves.abut
}

@test "--explain names the scheme and the tolerance that comes with it" {
    scene --explain > explain.txt 2>&1
    grep -q 'time scheme *quasi-static' explain.txt
    grep -q 'tolerance .*1e-06 l (default of quasi-static' explain.txt
    scene --set time.step=0.5 --set 'tolerance=1e-3 l/s' --explain > explain.txt 2>&1
    grep -q 'tolerance .*0.001 l' explain.txt
}

@test "a body with a velocity is refused with its place, one that floats with exit 4" {
    scene --set objects.ball.translate='[0, 0.21, 0]'
    exits 3 "$BIN/mesh-prep" press.yaml --set objects.ball.velocity='[0, 1, 0]' -o x.abut
    says "a body without inertia has no velocity"
    cat > loose.yaml <<'Y'
time: {scheme: quasi-static}
objects: {ball: {generate: {sphere: {radius: 0.2, cells: 2}}}}
Y
    "$BIN/mesh-prep" loose.yaml -o loose.abut
    exits 4 "$BIN/step" loose.abut -o x.abut
    says "'ball' floats: nothing holds it against its load"
    [ ! -e x.abut ]
}

balls() { # two balls of rubber, one pressed into the other by 0.25 mm and then by 0.75 mm; nothing else acts
    cat > balls.yaml <<'Y'
time: {step: 1 s, scheme: quasi-static}
gravity: [0, 0, 0]
contact: {dhat: 0.2 mm}
materials: {rubber: {young: 1e5 Pa, poisson: 0.3}}
objects:
  low: {generate: {sphere: {radius: 5 cm, cells: 12}}, material: rubber}
  top: {generate: {sphere: {radius: 5 cm, cells: 12}}, material: rubber, translate: [0, 100.25 mm, 0]}
motion:
  - {select: {object: low, half-space: {point: [0, -2.5 cm, 0], normal: [0, 1, 0]}}, fix: true}
  - {select: {object: top, half-space: {point: [0, 125.25 mm, 0], normal: [0, -1, 0]}}, translate: [0, -5e-4, 0]}
Y
    "$BIN/mesh-prep" balls.yaml "$@" -o balls.abut
}

@test "what presses a ball is what holds it, to the promised share, at the default tolerance" {
    balls
    "$BIN/step" -n 2 --with forces --report steps.jsonl balls.abut -o run.abut 2>said
    "$BIN/ccd-check" --no-output run.abut
    "$BIN/export" run.abut --csv run.csv
    # the sums that a reader of the table makes: contact and reaction on each ball cancel to 1e-3, also sideways
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } NR > 2 {
        split("low top", ball, " ")
        for (b = 1; b <= 2; b++) {
            left = big = 0
            for (k = 1; k <= 3; k++) {
                axis = substr("xyz", k, 1)
                c = $at[ball[b] ".contact_" axis "_N"]; r = $at[ball[b] ".reaction_" axis "_N"]
                left += (c + r) ^ 2; big += c ^ 2
            }
            if (!(big > 0.01) || left > 1e-6 * big) { print "frame", NR - 2, ball[b], sqrt(left), sqrt(big); bad = 1 }
            seen++
        }
        if (!($at["force_residual"] > 0 && $at["force_residual"] <= 1e-3)) { print $at["force_residual"]; bad = 1 }
    } END { exit bad || seen != 4 }' run.csv
    [ "$(grep -cE '"force_residual":(0\.000|[0-9.]+e-)' steps.jsonl)" = 2 ]
    grep -qE 'forces balance to (0\.000|[0-9.]+e-).* of the largest' said
    "$BIN/export" run.abut | grep -qE 'forces balance to (0\.000|[0-9.]+e-).* of the largest'
}

@test "the weight of a gram balances to the force tolerance beside a block of steel" {
    cat > gram.yaml <<'Y'
time: {step: 0.1 s, scheme: quasi-static}
contact: {formulation: area}
materials:
  light: {young: 1e6, poisson: 0.3, density: 1000}
  steel: {young: 2e11, poisson: 0.3, density: 7800}
objects:
  cube:  {generate: {box: {size: [0.01, 0.01, 0.01], cells: [2, 2, 2]}}, translate: [0, 0.0051, 0], material: light}
  block: {generate: {box: {size: [0.5, 0.5, 0.5], cells: [2, 2, 2]}}, translate: [1, 0.2501, 0], material: steel}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.3}
Y
    "$BIN/mesh-prep" -q gram.yaml | "$BIN/step" -q -n 1 --with forces | "$BIN/export" -q -f -1 --csv last.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { off = $at["cube.contact_y_N"] / 9.81e-3 - 1 } END { exit !(NR == 2 && off < 1e-3 && off > -1e-3) }' last.csv
}

# bats test_tags=slow
@test "forces balance as well as --force-tolerance says, in a scheme with inertia too; what rounding leaves is said" {
    balls --set time.scheme=bdf2 --set time.step=0.02 --set 'motion.1.translate=[0, -0.025, 0]'
    "$BIN/step" -n 3 --report loose.jsonl balls.abut -o loose.abut 2>said
    [ "$(grep -c rounding said)" = 0 ]
    "$BIN/step" -n 3 --force-tolerance 1e-5 --report tight.jsonl balls.abut -o tight.abut
    worst() { grep -o '"force_residual":[^,]*' "$1" | cut -d: -f2 | sort -g | tail -1; }
    awk -v a="$(worst loose.jsonl)" -v b="$(worst tight.jsonl)" 'BEGIN { exit !(a > 1e-3 && b > 0 && b <= 1e-5) }'
    balls --set force-tolerance=1e-15
    "$BIN/step" balls.abut -o rounded.abut 2>said
    grep -q 'rounding kept the forces of 1 of 1 step from balancing: up to .* (want 1e-15)' said
    exits 2 "$BIN/step" --force-tolerance 0 balls.abut -o x.abut
    exits 2 "$BIN/step" --force-tolerance 1e-3 --stop characteristic balls.abut -o x.abut
    exits 3 "$BIN/mesh-prep" balls.yaml --set force-tolerance=-1 -o x.abut
}

@test "the gap of contact and its thickness add to an interference, as SCENE.md says" {
    cat > fit.yaml <<'Y'
time: {step: 0.1 s, end: 1 s, scheme: quasi-static}
gravity: [0, 0, 0]
tolerance: 1e-6 m/s
materials: {soft: {young: 1e6, poisson: 0, density: 1000}}
objects:
  block: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [4, 4, 4]}}, translate: [0, 0.05, 0]}
  press: {generate: {box: {size: [0.2, 0.02, 0.2], cells: [1, 1, 1]}}, obstacle: true, translate: [0, 0.115, 0]}
motion:
  - {select: {object: block, box: [[-1, -0.001, -1], [1, 0.001, 1]]}, fix: true}
  - {select: {object: press}, keyframes: [{time: 0 s}, {time: 1 s, translate: [0, -0.006, 0]}]}
Y
    fit() {     # DHAT THICKNESS FORCE
        "$BIN/mesh-prep" -q fit.yaml --set contact.dhat="$1" --set objects.block.contact-thickness="$2" |
            "$BIN/step" -q --until 1 --with forces -o fit.abut
        "$BIN/ccd-check" -q --no-output fit.abut
        "$BIN/export" -q --csv fit.csv fit.abut
        "$PYTHON" -c 'import csv, sys
force, want = float(list(csv.DictReader(open("fit.csv")))[-1]["press.contact_y_N"]), float(sys.argv[1])
assert abs(force - want) < 5e-3 * want, (force, want)' "$3"
    }
    # of the material law, neo-Hookean: A mu (1 / lambda - lambda) at lambda = 0.99 is 100.5 N
    fit '1 mm' 0 119.5
    fit '0.1 mm' 0 108
    fit '0.01 mm' 0 101.4
    fit '0.01 mm' 1e-3 152.2
}
