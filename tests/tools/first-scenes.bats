#!/usr/bin/env bats
# mesh-prep --new: commented scenes to begin with.  Each runs as it is written, and does what its comments say.
load helpers

names="drop cloth rope beam slope curved hard"

# start NAME [option ...]: its first frame, NAME.abut
start() {
    "$BIN/mesh-prep" --new "$1" | "$BIN/mesh-prep" -q - "${@:2}" -o "$1.abut"
}

# middle FILE OBJECT: the mean x and y of its nodes in the last frame
middle() {
    "$BIN/export" -q --frames -1 --nodes nodes.$2 "$1"
    awk -F, -v o="$2" 'NR > 1 && $2 == o { n++; x += $3; y += $4 } END { print x / n, y / n }' nodes.$2/*.csv
}

@test "every scene of --new has comments, runs through the pipe and is judged clean" {
    for s in $names; do
        exits 0 "$BIN/mesh-prep" --new $s
        [ "$(grep -c '#' stdout)" -ge 4 ]
        [ ! -s stderr ]
        cp stdout $s.yaml
        exits 0 "$BIN/mesh-prep" --new $s -o file.yaml
        cmp file.yaml $s.yaml
        "$BIN/mesh-prep" - < $s.yaml 2>said | "$BIN/step" -q -n 5 | "$BIN/ccd-check" -o run.abut 2>verdict
        ! grep warning said || return 1
        grep -F "6 configurations, 5 motions" verdict
        grep -F "no collision" verdict
    done
}

@test "--new names the scenes that there are, and is alone" {
    exits 2 "$BIN/mesh-prep" --new slop
    says "--new slop: did you mean slope? know ${names// /, }"
    [ ! -s stdout ]
    exits 0 "$BIN/mesh-prep" --help
    local name
    for name in $names; do grep -E "^ +$name  +a " stdout; done
    exits 2 "$BIN/mesh-prep" --new drop --set time.step=1
    says "--new and --set: expected --new NAME alone"
    exits 2 "$BIN/mesh-prep" --new drop scene.yaml
    says "--new and scene.yaml"
    exits 2 "$BIN/mesh-prep" --new drop --explain
    exits 2 "$BIN/mesh-prep" --new drop -o none.yaml --separate '1 mm'
    [ ! -e none.yaml ]
}

@test "the beam sinks as its comment says, to 3 per cent" {
    start beam
    "$BIN/step" -q -n 1 beam.abut | "$BIN/ccd-check" -q -o run.abut
    "$BIN/export" -q --nodes nodes run.abut
    paste -d, nodes/*.csv | awk -F, 'NR > 1 && $3 == 0.5 && $4 == 0 && $5 == 0 { d = 1e3 * ($4 - $15); n++ }
        END { print d " mm"; exit !(n == 1 && d > 0.97 * 36.8 && d < 1.03 * 36.8) }'
}

@test "the block on the slope stays, and slides on at the other coefficient with the acceleration of Coulomb's law" {
    start slope
    "$BIN/step" -q -n 60 slope.abut | "$BIN/ccd-check" -q -o stays.abut
    start slope --set contact.friction.mu=0.48
    "$BIN/step" -q -n 60 slope.abut | "$BIN/ccd-check" -q -o slides.abut
    for s in stays slides; do
        "$BIN/export" -q --nodes $s $s.abut
        for f in 20 60; do awk -F, 'NR > 1 { n++; v += $6 } END { print v / n }' $s/nodes_00$f.csv; done
    done > speeds
    xargs < speeds | awk '{ print; a = ($4 - $3) / 0.4; g = 4.387165 - 0.48 * 8.774331
        exit !($2 < 1e-5 && $2 > -1e-5 && a > 0.99 * g && a < 1.01 * g) }'
}

@test "the ball of hard contact goes down the slope, its block stays, and the barrier takes the same scene" {
    start hard
    "$BIN/step" -q -n 60 hard.abut | "$BIN/ccd-check" -q -o run.abut
    read -r block _ <<< "$(middle run.abut block)"
    read -r ball _ <<< "$(middle run.abut ball)"
    awk -v a="$block" -v b="$ball" 'BEGIN { print a, b; exit !(a < 0.005 && b > 0.3) }'
    "$BIN/step" -q -n 5 --solver newton hard.abut | "$BIN/ccd-check" -q --no-output
}

@test "the cloth, the rope and the curved ball meet what they fall on" {
    start cloth
    "$BIN/step" -q -n 14 --report cloth.jsonl cloth.abut | "$BIN/ccd-check" -q --no-output
    start rope
    "$BIN/step" -q -n 40 --report rope.jsonl rope.abut | "$BIN/ccd-check" -q --no-output
    start curved
    "$BIN/step" -q -n 20 --report curved.jsonl curved.abut | "$BIN/ccd-check" -q --no-output
    for s in cloth rope curved; do
        grep -o '"contacts": *[0-9]*' $s.jsonl | awk -F: '{ n += $2 } END { print n " contacts"; exit !(n > 0) }'
    done
}
