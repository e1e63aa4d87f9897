#!/usr/bin/env bats
# Midpoint and Newmark where a step is too long for them: damped by implicit Euler, said, the same in one process and in stages.
load helpers

# a stiff cube that turns by 0.65 in every step and comes down on the floor with friction
spin() {
    cat > spin.yaml <<'Y'
time: {step: 29 ms, scheme: midpoint}
contact: {friction: {mu: 0.4, lags: 3}}
materials: {m: {density: 1000, young: 4e5, poisson: 0.3}}
objects:
  cube:
    generate: {box: {size: [0.3, 0.3, 0.3], cells: [2, 2, 2]}}
    translate: [0, 0.6, 0]
    velocity: [0, -4, 0]
    angular-velocity: {axis: [0, 0, 1], rate: 22 rad/s}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q spin.yaml -o a.abut
}

@test "a body that spins and lands too fast for the midpoint rule is carried on, and the damped steps are counted" {
    spin
    "$BIN/step" -j 1 -n 40 --report r.jsonl a.abut -o b.abut 2> said
    "$BIN/ccd-check" -q --no-output b.abut
    n=$(grep -c '"damped":1,' r.jsonl)
    echo "$n damped"
    [ "$n" -gt 0 ]
    [ "$n" -lt 40 ]
    grep -F "implicit Euler took $n of 40 steps of midpoint, which created energy or let volumes swing: 0.029 s is too long" said
    # energy falls by friction and impact; it never rises by more than one swing
    awk '{ match($0, /"kinetic_energy":[-0-9.e+]+/); k = substr($0, RSTART + 17, RLENGTH - 17)
           match($0, /"elastic_energy":[-0-9.e+]+/); e = substr($0, RSTART + 17, RLENGTH - 17)
           match($0, /"gravity_energy":[-0-9.e+]+/); g = substr($0, RSTART + 17, RLENGTH - 17)
           sum = k + e + g; if (NR == 1) first = sum; if (sum > 1.1 * first) { print NR, sum, first; bad = 1 } }
         END { exit bad || NR != 40 }' r.jsonl
}

@test "damped steps are the same in one process, in stages, and after a start in the middle" {
    spin
    last() { "$BIN/export" --dump "$1" | awk '/^frame/ { f = "" } { f = f "\n" $0 } END { print f }'; }
    for scheme in midpoint implicit-newmark; do
        "$BIN/mesh-prep" -q spin.yaml --set time.scheme=$scheme -o a.abut
        "$BIN/step" -q -j 1 -n 12 --with energies a.abut -o one.abut
        cp a.abut stages.abut
        for ((k = 0; k < 5; k++)); do "$BIN/step" -q -j 1 --with energies stages.abut -o next.abut; mv next.abut stages.abut; done
        "$BIN/export" --dump one.abut --array midpoint/bout | grep "^ [1-9]" >grep.out
        for ((pass = 0; pass < 21; pass++)); do
            "$BIN/step" -q -j 1 --one-pass stages.abut -o candidate.abut
            "$BIN/friction-lag" -q --with energies candidate.abut -o stages.abut
            if "$BIN/export" --dump stages.abut | grep '^frame step 12 .* committed' >grep.out; then break; fi
        done
        cmp <(last one.abut) <(last stages.abut)
    done
}

@test "a resolved midpoint run says nothing of damping" {
    spin
    "$BIN/mesh-prep" -q spin.yaml --set time.step='1 ms' --set objects.cube.velocity='[0, 0, 0]' -o a.abut
    "$BIN/step" -j 1 -n 20 --report r.jsonl a.abut -o b.abut 2> said
    exits 1 grep -F "implicit Euler took" said
    exits 1 grep -F '"damped":1' r.jsonl
}

# what resists in the middle of its path turns back with little energy, and rounding creates some where nothing moves
@test "a pendulum, and bodies at rest, are never damped" {
    cat > hung.yaml <<'Y'
time: {step: 5 ms}
materials: {m: {density: 2500, young: 1e8, poisson: 0.3}}
contact: off
objects:
  b: {generate: {box: {size: [0.3, 0.05, 0.05], cells: [6, 1, 1]}}, material: m}
motion: [{select: {object: b, box: [[-0.16, 0.02, -1], [-0.14, 1, 1]]}, fix: true}]
Y
    cat > rest.yaml <<'Y'
time: {step: 5 ms}
gravity: [0, 0, 0]
materials: {m: {density: 2500, young: 1e7, poisson: 0.3}}
objects:
  s: {generate: {cloth: {size: [0.1, 0.1], cells: [4, 4]}}, shell: {thickness: 1 mm}, rotate: {axis: [1, 2, 3], angle: 20 deg}, translate: [0, 0.3, 0], material: m}
  b: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, rotate: {axis: [1, 2, 3], angle: 20 deg}, translate: [0, 0.1, 0], material: m}
Y
    for scheme in midpoint implicit-newmark; do
        "$BIN/mesh-prep" -q hung.yaml --set time.scheme=$scheme | "$BIN/step" -q -j 1 -n 240 --report hung.jsonl -o x.abut
        "$BIN/mesh-prep" -q rest.yaml --set time.scheme=$scheme | "$BIN/step" -q -j 1 -n 40 --report rest.jsonl -o x.abut
        [ "$(cat hung.jsonl rest.jsonl | grep -c '"damped":0,')" -eq 280 ]
    done
}

@test "the work of a clamp that twists a rod is no energy of the scheme" {
    cat > shaft.yaml <<'Y'
time: {step: 5 ms}
gravity: [0, 0, 0]
contact: off
objects: {b: {generate: {rod: {length: 0.2, cells: 20}}, rod: {radius: 1 mm, curved: true}}}
motion:
  - {select: {object: b, nodes: [0, 1]}, fix: true}
  - {select: {object: b, nodes: [19, 20]}, rotate: {axis: [1, 0, 0], rate: 900 deg/s}, until: 0.5 s, hold: true}
Y
    for scheme in midpoint implicit-newmark bdf2; do
        "$BIN/mesh-prep" -q shaft.yaml --set time.scheme=$scheme | "$BIN/step" -j 1 -n 120 --report r.jsonl -o x.abut 2>said
        exits 1 grep -E '"damped":1|"energy_grows":1' r.jsonl
        exits 1 grep "energy" said
    done
}

@test "a ball that meets a cloth gains less than a hundredth of its motion" {
    cat > meet.yaml <<'Y'
time: {step: 5 ms, scheme: midpoint}
gravity: [0, 0, 0]
contact: {friction: {mu: 0.2}}
materials: {m: {density: 2500, young: 1e7, poisson: 0.3}}
objects:
  a: {generate: {sphere: {radius: 0.04, cells: 4}}, translate: [-0.03, 0.065, 0.004], velocity: [0.5, 0, 0], material: m}
  b:
    generate: {cloth: {size: [0.12, 0.12], cells: [5, 5]}}
    rotate: {axis: [0, 0, 1], angle: 80 deg}
    shell: {thickness: 1 mm}
    translate: [0.03, 0.075, -0.007]
    velocity: [-0.5, 0, 0.1]
    material: m
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    for scheme in midpoint implicit-newmark; do
        "$BIN/mesh-prep" -q meet.yaml --set time.scheme=$scheme | "$BIN/step" -q -j 1 -n 60 --with energies | "$BIN/ccd-check" -q -o b.abut
        "$BIN/export" -q --csv b.csv b.abut
        python3 -c 'import csv, sys
rows = [{k: float(v) for k, v in r.items() if k.endswith("_J") and v} for r in csv.DictReader(open("b.csv"))]
sum = [sum(r[k] for k in ("kinetic_J", "elastic_J", "gravity_J", "barrier_J") if k in r) for r in rows]
gain = (max(sum) - sum[0]) / rows[0]["kinetic_J"]
print(gain)
assert len(rows) == 61 and gain < 0.01'
    done
}

@test "a shell and a rod that fall with long steps never gain more than a hundredth of their motion" {
    cat > shell.yaml <<'Y'
time: {step: 5 ms}
materials: {m: {density: 2500, young: 1e7, poisson: 0.3}}
objects:
  s: {generate: {cloth: {size: [0.1, 0.1], cells: [4, 4]}}, shell: {thickness: 1 mm}, translate: [0, 0.03, 0], velocity: [0.3, -0.5, 0.1], angular-velocity: {axis: [1, 0, 2], rate: 2 rad/s}, material: m}
  t: {generate: {box: {size: [0.2, 0.03, 0.2], cells: [1, 1, 1]}}, translate: [0, -0.015, 0], obstacle: true}
Y
    cat > rod.yaml <<'Y'
time: {step: 20 ms}
materials: {m: {density: 2500, young: 1e7, poisson: 0.3}}
objects:
  s: {generate: {rod: {length: 0.1, cells: 10}}, rod: {radius: 0.5 mm}, translate: [0, 0.06, 0], velocity: [0.3, -2, 0.1], angular-velocity: {axis: [1, 0, 2], rate: 10 rad/s}, material: m}
  t: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    for scene in shell rod; do
        for scheme in midpoint implicit-newmark; do
            "$BIN/mesh-prep" -q $scene.yaml --set time.scheme=$scheme | "$BIN/step" -q -j 1 -n 60 --report r.jsonl -o b.abut
            "$PYTHON" -c 'import json
rows = [json.loads(line) for line in open("r.jsonl")]
sum = [r["kinetic_energy"] + r["elastic_energy"] + r["gravity_energy"] + r["barrier_energy"] for r in rows]
fall = rows[0]["kinetic_energy"] + rows[0]["gravity_energy"] - min(r["gravity_energy"] for r in rows)
print((max(sum) - sum[0]) / fall)
assert len(rows) == 60 and max(sum) - sum[0] < 0.01 * fall'
        done
    done
}
