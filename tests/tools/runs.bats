#!/usr/bin/env bats
# Long runs: progress in logs, the sum at the end, rest, checkpoints, dry runs; advice before them.
load helpers

# block: a cube that falls by a hand's breadth onto a floor
block() {
    cat <<Y
abut: 1
time: {step: 0.05 s}
materials: {m: {density: 1000, young: 1e5, poisson: 0.4}}
objects:
  a: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, material: m, translate: [0, 0.06, 0]}
  f: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
}

setup() {
    TMP=$BATS_TEST_TMPDIR
    cd "$TMP" || return 1
    block >block.yaml
    "$BIN/mesh-prep" -q block.yaml -o start.abut
}

# fastest STREAM: the largest speed of a node in each frame, m/s
fastest() {
    "$BIN/export" -q --dump --array node/v "$1" |
        awk '/^frame/ { if (n++) print sqrt(most); most = 0 } /^ +-?[0-9]/ { s = $1 * $1 + $2 * $2 + $3 * $3; if (s > most) most = s }
             END { print sqrt(most) }'
}

@test "step --until-rest ends at the tenth step in a row whose end is slow, whatever --every says" {
    exits 0 "$BIN/step" --until-rest 1e-3 start.abut -o run.abut
    says ", at rest, "
    fastest run.abut >speeds
    n=$(wc -l <speeds)
    [ "$n" -gt 12 ]
    tail -10 speeds | awk '$1 > 1e-3 { bad = 1 } END { exit bad }'
    [ "$(tail -11 speeds | awk '$1 > 1e-3' | wc -l)" -eq 1 ]
    "$BIN/ccd-check" -q --no-output run.abut
    exits 0 "$BIN/step" --until-rest 1e-3 --every 7 start.abut -o few.abut
    [ "$("$BIN/export" -q --summary few.abut | grep -o 'steps 0 to [0-9]*')" = "steps 0 to $((n - 1))" ]
    same_end run.abut few.abut
    "$BIN/ccd-check" -q --no-output few.abut
}

@test "step --until-rest waits for motions and loads to come: a body at rest is pushed later, a pressure rises, a handle is let go" {
    local last one
    block | sed 's/0, 0.06, 0/0, 0.0502, 0/' > still.yaml      # on the floor
    "$BIN/mesh-prep" -q still.yaml | "$BIN/step" -q --until-rest 1e-3 --until 9 -o still.abut
    last=$("$BIN/export" -q --summary still.abut | sed -n 's/.*steps 0 to \([0-9]*\).*/\1/p')
    ((last < 40))       # 2 s
    for one in 'acceleration: [1, 0, 0], from: 3 s, until: 3.1 s' \
        'acceleration: [0, 1, 0], factor: {times: [0, 3 s, 3.1 s], values: [0, 0, 1]}' \
        'fix: true, until: 3.1 s' 'translate: [0, 0.1, 0], from: 3 s'; do
        { cat still.yaml; echo "motion: [{select: {object: a, box: [[-1, 0.08, -1], [1, 1, 1]]}, $one}]"; } > later.yaml
        exits 0 bash -c "$(printf '%q -q later.yaml | %q --until-rest 0.2 --until 9 -o later.abut' "$BIN/mesh-prep" "$BIN/step")"
        says ", at rest, "
        last=$("$BIN/export" -q --summary later.abut | sed -n 's/.*steps 0 to \([0-9]*\).*/\1/p')
        ((last >= 70 && last < 100)) || { echo "$one: $last"; false; }       # 3.1 s and ten steps; less than 5 s
        "$BIN/ccd-check" -q --no-output later.abut
    done
}

@test "step --until-rest ends with exit code 1 where nothing rests in time, and knows what cannot be" {
    exits 1 "$BIN/step" --until-rest 1e-3 -n 4 start.abut -o run.abut
    says "4 steps to 0.2 s, 4 frames written"
    says ", not at rest, "
    "$BIN/ccd-check" -q --no-output run.abut
    exits 1 "$BIN/step" --until-rest 1e-3 --until 0.1 start.abut -o run.abut
    says "2 steps to 0.1 s"
    exits 2 "$BIN/step" --until-rest 0 start.abut -o x
    says "--until-rest 0: want more than 0"
    exits 2 "$BIN/step" --until-rest 1 --one-pass start.abut -o x
    says "--until-rest and --one-pass"
    exits 2 "$BIN/step" -n -1 start.abut -o x
    says "--steps -1: want 0 or more"
}

@test "the sum at the end has steps, frames, iterations, the smallest gap, a verdict, and seconds; -q leaves it out" {
    exits 0 "$BIN/step" -n 8 --every 4 --report r.jsonl start.abut -o run.abut
    grep -xE "step: 8 steps to 0.4 s, 2 frames written: [0-9]+ iterations, smallest gap [0-9.e-]+ m, all converged, [0-9.e-]+ s" stderr
    want=$(grep -o '"newton":[0-9]*\|"newton_iterations":[0-9]*' r.jsonl | awk -F: '{ s += $2 } END { print s }')
    grep -F ": $want iterations" stderr
    least=$(grep -o '"min_gap":[0-9.e-]*' r.jsonl | awk -F: 'NR == 1 || $2 < m { m = $2 } END { printf "%.3g", m }')
    grep -F "smallest gap $least m" stderr
    exits 0 "$BIN/step" -q -n 2 start.abut -o run.abut
    [ ! -s stderr ]
    exits 0 "$BIN/mesh-prep" block.yaml -o x
    grep -xE "mesh-prep: 1 object, 27 nodes, 48 tets: can be simulated, [0-9.e-]+ s" stderr
    exits 0 "$BIN/export" --csv t.csv run.abut
    grep -xE "export: 3 frames taken, [0-9.e-]+ s" stderr
    exits 4 "$BIN/step" -n 3 --max-newton 1 --until 1 start.abut -o run.abut
    grep -c . stderr
    tail -1 stderr | grep -v "all converged"
}

@test "--progress-every writes lines into a log, and no more often" {
    exits 0 "$BIN/step" -n 40 --progress-every 1e-6 start.abut -o run.abut
    [ "$(grep -c '^step: frame [0-9]*/40  t ' stderr)" -eq 40 ]
    grep -E 'frame 20/40 .* left [0-9]+ s$' stderr
    exits 0 "$BIN/step" -n 40 --progress-every 1000 start.abut -o run.abut
    ! grep frame stderr | grep -v 'written\|replaced' || return 1
    exits 0 "$BIN/step" -n 40 start.abut -o run.abut
    ! grep '^step: frame' stderr || return 1
    exits 0 "$BIN/ccd-check" --progress-every 1e-6 --no-output run.abut
    [ "$(grep -c '^ccd-check: step [0-9]*, ' stderr)" -ge 30 ]
    exits 2 "$BIN/step" --progress-every -1 start.abut -o x
    says "--progress-every -1: expected 0 or more"
}

@test "--checkpoint-every waits for the disk so often, and the bytes stay" {
    skip_without_program strace
    export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0     # which a traced process cannot
    "$BIN/step" -q -n 30 start.abut -o plain.abut
    strace -f -e trace=fsync -o calls "$BIN/step" -q -n 30 --checkpoint-every 1e-6s start.abut -o run.abut
    [ "$(grep -c 'fsync(' calls)" -ge 30 ]
    cmp plain.abut run.abut
    strace -f -e trace=fsync -o calls "$BIN/step" -q -n 30 --checkpoint-every '1 h' start.abut -o run.abut
    [ "$(grep -c 'fsync(' calls)" -le 2 ]
}

@test "--checkpoint-every takes times with a unit" {
    for t in 1s '90 s' 10min '2 h' 0.5min; do exits 0 "$BIN/step" -q --checkpoint-every "$t" start.abut -o run.abut; done
    "$BIN/step" -q start.abut | cmp - run.abut
    "$BIN/step" -q --checkpoint-every 1e-6s start.abut | cmp - run.abut     # a pipe has no disk
    for t in 10 -1s 0s min 10years nan 'inf s' ''; do
        exits 2 "$BIN/step" --checkpoint-every "$t" start.abut -o x
        says "expected a time above 0 and its unit, one of s, ms, us, min, h, as 10min"
    done
}

@test "step --dry-run says what a step took and what all would, and writes nothing" {
    exits 0 "$BIN/step" --dry-run -n 1000 --every 10 start.abut
    [ ! -s stdout ]
    # 27 nodes with x and v of 3 doubles, and the stiffness of the barrier: 1304 bytes
    grep -E "dry run: step 1 took [0-9.e-]+ s \([0-9]+ iterations, [0-9]+ contacts\) and [0-9.]+ MB of memory; a frame has 0.0013 MB" stderr
    grep -E "dry run: 1000 steps at that rate are [0-9.e-]+ (s|min|h) and a stream of 0.13 MB" stderr
    exits 2 "$BIN/step" --dry-run start.abut -o x
    says "--dry-run and --output: nothing is written"
    [ ! -e x ]
    [ ! -e x.part ]
    exits 0 "$BIN/step" --dry-run --until-rest 1e-3 start.abut
    ! grep 'at that rate' stderr || return 1
}

# advice SCENE OPTION ...: what mesh-prep --check says, by kinds
advice() { "$BIN/mesh-prep" --check "$@" 2>&1 >/dev/null | sed -n 's/^mesh-prep: advice: //p'; }

@test "advice: a slender beam of order 1 needs four elements, by the deflection that it shows; a thick one none" {
    "$BIN/mesh-prep" --new beam >beam.yaml
    cells() { sed "s/cells: \[.*\]/cells: [$1, $2, $2]/; s/order: 2 .*/order: $3/" beam.yaml; }
    for c in 1 2 3; do
        cells $((10 * c)) $c 1 >b.yaml
        [ "$(advice b.yaml | grep -c "'beam' is slender and less than 4 elements deep")" -eq 1 ]
    done
    cells 40 4 1 >b.yaml
    [ -z "$(advice b.yaml)" ]
    cells 20 2 2 >b.yaml
    [ -z "$(advice b.yaml)" ]
    [ -z "$(advice block.yaml --set time.step=0.01)" ]
    # what is said of two elements: the deflection of that mesh is about half of that of order 2
    sinks() { "$BIN/mesh-prep" -q b.yaml | "$BIN/step" -q -n 1 | "$BIN/export" -q --dump --array node/x - |
        awk '/^frame step 1/ { on = 1 } on && /^ / && $2 < least { least = $2 } END { print -least - 0.05 }'; }
    fine=$(sinks)
    cells 20 2 1 >b.yaml
    awk -v a="$(sinks)" -v b="$fine" 'BEGIN { print a / b; exit !(a / b > 0.3 && a / b < 0.7) }'
}

@test "advice: dhat beside edges, a step beside an impact, forces beside what is asked of them" {
    advice block.yaml --set contact.dhat='4 cm' | grep -F "contact acts within dhat, 0.04 m, which is 0.8 of the shortest edge of 'a', 0.05 m"
    advice block.yaml --set contact.dhat='1 cm' --set time.step=0.01 >said
    grep -F "'a' and half-space 'f' start " said
    [ "$(wc -l <said)" -eq 1 ]
    # sqrt(E / density) = 10 m/s through 0.1 m, to and fro: 20 ms
    advice block.yaml --set materials.m.young=1e6 | grep -F "an impact of 'a' lasts about 0.0063 s, and a time step is 0.05 s"
    [ -z "$(advice block.yaml --set time.step=0.019)" ]
    [ -z "$(advice block.yaml --set time.step=0.01 --set tolerance='0.1 m/s')" ]     # forces balance all the same
    advice block.yaml --set time.step=0.01 --set force-tolerance=0.5 | grep -F "forces are to balance to 0.5 of the largest on a body"
    # and then they do not balance as they do otherwise: what the report has left of them
    left() { "$BIN/mesh-prep" -q block.yaml --set time.step=0.01 --set tolerance='1 m/s' --set force-tolerance=$1 |
        "$BIN/step" -q -n 14 --report r.jsonl -o x; grep -o '"force_residual": *[0-9.e+-]*' r.jsonl | sed 's/.*: *//' | sort -g | tail -1; }
    awk -v a="$(left 0.9)" -v b="$(left 0.01)" 'BEGIN { print a, b; exit !(a > 0.05 && a <= 0.9 && b <= 0.01) }'
}

@test "advice: slips of units and times, and loads on what is held" {
    cat > slip.yaml <<'Y'
time: {step: 0.01, end: 2 s}
objects:
  a: {generate: {cloth: {size: [1, 1], cells: [10, 10]}}, shell: {thickness: 0.4 mm}}
  f: {half-space: {point: [0, -1, 0], normal: [0, 1, 0]}}
motion:
  - {select: {object: a, nodes: [0, 1]}, fix: true, until: 1 s, hold: true}
  - {select: {object: a, nodes: [0, 2]}, force: [0, 1, 0]}
Y
    [ -z "$(advice slip.yaml)" ]        # node 2 is free
    one() { # WORDS OPTION ...: that advice alone
        [ "$(advice slip.yaml "${@:2}" | tee said | wc -l)" -eq 1 ] && grep -F "$1" said
    }
    one "'a' is a shell of thickness 0.4 m, more than the sides of its triangles" --set objects.a.shell.thickness=0.4
    one "time.step, 5 s, is longer than the scene lasts, 2 s (time.end)" --set time.step=5
    one "the motion of slip.yaml:7:5 begins at 2 s, and the scene ends at 2 s" --set motion.1.from=2
    [ -z "$(advice slip.yaml --set motion.1.from=1.9)" ]
    [ -z "$(advice slip.yaml --set time='{step: 0.01}' --set motion.1.from=2)" ]    # no end is said
    one "mu is 30 (--set contact.friction.mu:1:1)" --set contact.friction.mu=30
    one "mu is 50 (slip.yaml:4:6)" --set objects.f.mu=50
    one "mu is 6 (" --set contact.friction.pairs='[{between: [a, f], mu: 6}]'
    [ -z "$(advice slip.yaml --set objects.f.mu=5)" ]
    one "gravity is 9810 m/s^2, 1e+03 times that of the earth" --set gravity='[0, -9810, 0]'
    one "the load of slip.yaml:7:5 changes nothing" --set motion.1.select.nodes='[0, 1]'
    one "the load of slip.yaml:7:5 changes nothing" --set motion.1.select.nodes='[0, 1]' --set motion.1.until='0.5 s'
    [ -z "$(advice slip.yaml --set motion.1.select.nodes='[0, 1]' --set motion.0.hold=false)" ]
    [ -z "$(advice slip.yaml --set motion.1.select.nodes='[0, 1]' --set motion.0.from='0.5 s')" ]
}

@test "mesh-prep --check writes nothing, --explain gives the same advice, and a bad scene is refused" {
    exits 0 "$BIN/mesh-prep" --check block.yaml
    [ ! -s stdout ]
    says "can be simulated"
    exits 2 "$BIN/mesh-prep" --check block.yaml -o x
    says "--check and --output: nothing is written"
    [ ! -e x ]
    exits 0 "$BIN/mesh-prep" --explain block.yaml --set contact.dhat='4 cm' -o x
    says "advice: contact acts within dhat"
    exits 0 "$BIN/mesh-prep" block.yaml --set contact.dhat='4 cm' -o x
    ! grep advice stderr || return 1
    exits 3 "$BIN/mesh-prep" --check block.yaml --set objects.a.translate='[0, 0.04, 0]'
    # the solver of the scene is asked, too
    exits 3 "$BIN/mesh-prep" --check block.yaml --set solver=nodal --set time.scheme=bdf2
    says "solver nodal: time scheme bdf2, expected implicit-euler"
    exits 3 "$BIN/mesh-prep" --check block.yaml --set solver=sqp --set contact.friction.mu=0.2
    says "solver sqp: a friction coefficient of 0.2, expected none"
}

# spun SCHEME STEP [KEY=VALUE]: what half a second at three turns a second takes, in per cent, and the step that takes half of it
spun() {
    cat > spun.yaml <<'Y'
time: {step: 4 ms}
materials: {m: {density: 1000, young: 1e6, poisson: 0.3}}
objects:
  box:
    generate: {box: {size: [0.2, 0.1, 0.1], cells: [2, 1, 1]}}
    translate: [30, 0, 0]
    velocity: [-4, 3, 0]
    angular-velocity: {axis: [0, 0, 1], rate: 1080 deg/s}
Y
    "$BIN/mesh-prep" -q spun.yaml --set time.scheme="$1" --set time.step="$2" ${3:+--set "$3"} |
        "$BIN/step" -j 1 --until 0.5 --report r.jsonl -o spun.abut 2>said
    sed -n 's/.*implicit-euler took \([0-9.]*\) % of the spin of what nothing touched (half with steps of \([0-9.e-]*\) s).*/\1 \2/p' said
}

@test "step says what implicit Euler takes from a free rotation, and the step that takes half of it" {
    # 1 - 1/sqrt(1 + 2 omega^2 h t) with omega = 18.85/s, t = 0.5 s, 4 ms: 35 %
    read -r taken step <<<"$(spun implicit-euler "4 ms")"
    echo "$taken $step"
    [ "$taken" -eq 35 ]
    "$PYTHON" -c 'import json
rows = [json.loads(line) for line in open("r.jsonl")]
left, energy = 1, [r["kinetic_energy"] - (r["momentum"][0] ** 2 + r["momentum"][1] ** 2) / (2 * 2) for r in rows]
for r in rows[1:]: left *= 1 - r["spin_taken"]
print(left ** 2, energy[-1] / energy[0])
assert abs(energy[-1] / energy[0] / left ** 2 - 1) < 0.01'
    read -r half _ <<<"$(spun implicit-euler "$step s")"
    echo "$half"
    awk "BEGIN { exit !($half >= 17 && $half <= 18) }"
    for scheme in bdf2 midpoint implicit-newmark; do [ -z "$(spun $scheme "4 ms")" ]; done
    # prescribed nodes turn as they are told, and a slow turn loses less than 5 %
    [ -z "$(spun implicit-euler "4 ms" 'motion=[{select: {object: box, nodes: [0, 1, 2, 3]}, rotate: {axis: [0, 0, 1], rate: 1080 deg/s}}]')" ]
    [ -z "$(spun implicit-euler "4 ms" "objects.box.angular-velocity.rate=180 deg/s")" ]
}
