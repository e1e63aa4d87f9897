#!/usr/bin/env bats
# Every script of pipelines/examples runs, is judged by ccd-check inside, and leaves its results.
load ../tools/helpers

# What graphics drivers allocate and keep is theirs: leaks are looked for in every program but picture.
pipeline() { # name frames [arguments]
    local t bin=$BATS_TEST_TMPDIR/bin
    mkdir -p "$bin"
    for t in "$BIN"/*; do ln -sf "$t" "$bin/"; done
    rm -f "$bin/picture"
    [ -n "${NO_PICTURE:-}" ] || [ ! -x "$BIN/picture" ] || {
        printf '#!/bin/sh\nASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS} exec "%s/picture" "$@"\n' "$BIN" > "$bin/picture"
        chmod +x "$bin/picture"
    }
    BIN=$bin OUT=$BATS_TEST_TMPDIR FRAMES=$2 "$ROOT/pipelines/examples/$1.sh" "${@:3}"
}

# bats test_tags=slow
@test "drop: soft bodies fall and pile up" {
    pipeline drop 30
    [ -s "$BATS_TEST_TMPDIR/run.abut" ]
    [ -s "$BATS_TEST_TMPDIR/drop.glb" ]
    [ -s "$BATS_TEST_TMPDIR/frames.csv" ]
}
@test "where picture was not built, a pipeline says so and does all else" {
    NO_PICTURE=1 run pipeline drop 1
    [ "$status" -eq 0 ]
    [[ $output == *"drop: no pictures, "*"/picture was not built"* ]]
    [ -s "$BATS_TEST_TMPDIR/drop.glb" ]
    [ ! -e "$BATS_TEST_TMPDIR/strip.png" ]
}
# bats test_tags=slow
@test "squeeze: plates close on a ball and open" { pipeline squeeze 30; }
# bats test_tags=slow
@test "twist: a mat is wound up" { pipeline twist 30; }
# bats test_tags=slow
@test "bed: a ball on points, needles and a blade" { pipeline bed 25; }
@test "cloth: a limit set in the pipe, judged at its end" {
    pipeline cloth 4 --set objects.cloth.generate.cloth.edge='4 cm' --set objects.sand.generate.particles.count='[2, 2, 2]' \
        --set objects.net.generate.net.count='[2, 2]'
    [ "$(wc -l < "$BATS_TEST_TMPDIR/strain.jsonl")" -eq 5 ]
    ! grep -q '"outside": true' "$BATS_TEST_TMPDIR/strain.jsonl"
}
@test "slope: a block sticks and slides" {
    pipeline slope 40
    # momentum down the slope of 32 kg at the end: creep far below the stiction speed, or the slide of 0.02 g cos
    awk -F, 'END { if (!($9 < 1e-3 && $9 > -1e-3)) { print "mu 0.52:", $9; exit 1 } }' "$BATS_TEST_TMPDIR/mu-0.52.csv"
    awk -F, 'END { if (!($9 > 2 && $9 < 3)) { print "mu 0.48:", $9; exit 1 } }' "$BATS_TEST_TMPDIR/mu-0.48.csv"
}
@test "page: 100 frames of 20000 triangles stay below 15 MB" {
    run pipeline page 3
    [ "$status" -eq 0 ]
    [[ $output == *"page: 4 frames of 20601 triangles: "* ]]
    awk '/^page: 100 frames/ { n++; ok = $7 > 1 && $7 < 15 } END { exit !(n == 1 && ok) }' <<< "$output"
}
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$BATS_TEST_TMPDIR/frames.csv"; }
@test "gripper: the motor of a URDF robot closes a finger, which another follows, and they lift a soft ball" {
    pipeline gripper 160
    column ball.z_m | awk 'NR == 1 { low = $1 } NR == 121 { high = $1 } END { print low, high, $1; exit !($1 > low + 0.14 && high - $1 < 1e-3) }'
    column gripper.close-left.motor_N | awk 'END { exit !($1 > 12 - 1e-9 && $1 < 12 + 1e-9) }'
    for side in left right; do column gripper.close-$side.drift_m | awk '{ if ($1 > 1e-9) bad = 1 } END { exit bad || NR != 161 }'; done
    paste <(column gripper.close-left.position_m) <(column gripper.close-right.position_m) |
        awk '{ if ($1 - $2 > 1e-9 || $2 - $1 > 1e-9) bad = 1 } END { exit bad || $1 < 0.033 }'
}
# bats test_tags=slow
@test "gripper cloth: a fold is pinched, lifted and stays" {
    pipeline gripper 240 cloth
    column cloth.z_m | awk 'NR == 1 { low = $1 } NR == 201 { high = $1 } END { print low, high, $1; exit !($1 > low + 0.2 && high - $1 < 1e-3) }'
}
@test "restart: halves equal the whole, and a branch leaves it" { pipeline restart 4; }
@test "stage: a Python program stands between two of ours" {
    skip_without_numpy
    pipeline stage 5
    [ "$(wc -l < "$BATS_TEST_TMPDIR/frames.csv")" -ge 11 ]
}
@test "go_on: another model goes on from the last frame; other bodies, half a step and no stream are refused" {
    skip_without_numpy
    cd "$BATS_TEST_TMPDIR"
    go_on() { "$PYTHON" "$ROOT/pipelines/examples/go_on.py" "$@"; }
    "$BIN/mesh-prep" --new drop > drop.yaml
    "$BIN/mesh-prep" -q drop.yaml | "$BIN/step" -q -n 3 -o run.abut
    "$BIN/mesh-prep" -q drop.yaml --set time.step=1ms --set gravity='[0, 0, 0]' -o other.abut
    go_on other.abut < run.abut | "$BIN/step" -q -n 2 | "$BIN/ccd-check" -q -o on.abut
    "$BIN/export" -q on.abut --csv - | awk -F, 'NR == 2 { t = $3 } END { exit !(NR == 4 && $2 == 5 && $3 - t > 0.0019999 && $3 - t < 0.0020001) }'
    "$BIN/mesh-prep" --new beam | "$BIN/mesh-prep" -q - -o beam.abut
    run go_on beam.abut < run.abut
    [[ $status -eq 1 && $output == "go_on.py: beam.abut has other objects or nodes than the stream on stdin"* ]]
    "$BIN/step" -q --one-pass run.abut > half.abut
    run go_on other.abut < half.abut
    [[ $status -eq 1 && $output == "go_on.py: the stream ends in the middle of step 4"* ]]
    run go_on other.abut < drop.yaml
    [[ $status -eq 1 && $output == "go_on.py: "* ]]
    run go_on nothing.abut < run.abut
    [[ $status -eq 1 && $output == *"nothing.abut"* ]]
}
# bats test_tags=slow
@test "stages between friction passes: the identity changes no byte, a relaxation converges, a rule in awk decides" {
    skip_without_numpy
    OUT=$BATS_TEST_TMPDIR BIN=$BIN run "$ROOT/pipelines/examples/passes.sh"
    echo "$output"
    [ "$status" -eq 0 ]
    count() { sed -n "s/^$1: \([0-9]*\) passes.*/\1/p" <<< "$output"; }
    [ "$(count plain)" -gt 2 ]
    [ "$(count same)" -eq "$(count plain)" ]
    [ "$(count ruled)" -lt "$(count plain)" ]
    # the relaxed passes end in the same equilibrium, by another way: positions to a few tolerances (7e-6 m/s) times h
    cat > near.py <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import abut_stream, numpy as np
a, b = (list(abut_stream.read(f))[-1] for f in sys.argv[2:])
d = np.abs(a["node/x"] - b["node/x"]).max()
assert a.step == b.step and 0 < d < 5e-7, d
P
    "$PYTHON" near.py "$ROOT/formats/python" "$BATS_TEST_TMPDIR/plain.abut" "$BATS_TEST_TMPDIR/relaxed.abut"
}
