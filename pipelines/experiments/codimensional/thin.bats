#!/usr/bin/env bats
# The scenes of shells, rods and particles, each with few elements: every frame judged by ccd-check and strain-limit.
load ../../../tests/tools/helpers

THIN=$ROOT/pipelines/experiments/codimensional/scenes

# judged SCENE STEPS [options of mesh-prep]: the frames in run.abut, the report in steps.jsonl, the strains in strain.jsonl
judged() {
    "$BIN/mesh-prep" -q "$THIN/$1.yaml" "${@:3}" | "$BIN/step" -q -j 1 -n "$2" --report steps.jsonl -o run.abut
    "$BIN/ccd-check" -q -j 1 --no-output run.abut
    "$BIN/strain-limit" -q --audit --json strain.jsonl run.abut -o /dev/null
    [ "$(wc -l < steps.jsonl)" -eq "$2" ]
}
touched() { grep -q '"min_gap":[0-9]' steps.jsonl; }

# frames KEY: a number of every frame's table, one a line
frames() { "$BIN/export" -q run.abut --csv - | awk -F, -v key="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) k = i; next } { print $k }'; }

# largest: the largest stretch of shells over all frames
largest() { sed 's/.*"max": \([0-9.e+-]*\),.*/\1/' strain.jsonl | sort -g | tail -n 1; }
holds() { awk "BEGIN { exit !($1) }" || { echo "not so: $1"; return 1; }; }

@test "a cloth on a ball stretches less the stiffer it is, and least with a limit" {
    small="--set objects.cloth.generate.cloth.edge=0.2 --set objects.ball.generate.icosphere.divisions=4 --set objects.cloth.translate=[0,0.615,0]"
    judged cloth-on-sphere 14 $small --set materials.cotton.young=1kPa
    touched
    soft=$(largest)
    judged cloth-on-sphere 14 $small --set materials.cotton.young=1kPa --set objects.cloth.shell.stretch-limit=1.05
    holds "$(largest) < 1.05 && $soft > 1.05"
    judged cloth-on-sphere 14 $small --set materials.cotton.young=0.8MPa
    holds "$(largest) < $soft"
}

@test "a cloth hangs from two corners below its limit, however tight" {
    for s in 1.01 1.001; do
        judged hang 12 --set objects.cloth.generate.cloth.edge=0.2 --set "objects.cloth.shell.stretch-limit=$s"
        holds "$(largest) < $s && $(largest) > 1"
    done
}

@test "a woven cloth keeps the limits of warp and weft, whichever way they run" {
    for warp in '[1, 0, 0]' '[0.866, 0, 0.5]' '[1, 0, 1]'; do
        judged anisotropic 12 --set objects.cloth.generate.cloth.edge=0.2 --set "objects.cloth.shell.warp=$warp"
        grep -q '"strain_share": {"warp": 0\.' strain.jsonl
    done
}

@test "ribbons, cards, a tube, needles, a table-cloth and a stack of cloths begin as they should" {
    judged ribbons 4 --set objects.left.generate.cloth.cells='[40, 2]' --set objects.right.generate.cloth.cells='[40, 2]'
    judged cards 6 --set objects.even.generate.cloth.edge='22 mm' --set objects.odd.generate.cloth.edge='22 mm'
    touched
    judged tube-twist 4 --set objects.tube.generate.tube.edge=0.1
    judged needles 8 --set objects.cloth.generate.cloth.edge=0.15 --set objects.cloth.translate='[0, 0.032, 0]'
    touched
    judged table-cloth 5 --set objects.cloth.generate.cloth.edge=0.15 --set motion.0.from='0 s'
    touched
    judged stack 3 $(for i in 0 1 2 3 4 5 6 7 8 9; do echo "--set objects.cloth$i.generate.cloth.edge=0.17"; done)
    touched
}

@test "a ball that turns, a funnel and a dress begin as they should" {
    judged rotating-ball 6 --set objects.cloth.generate.cloth.edge=0.2 --set objects.cloth.translate='[0, 0.412, 0]' --set motion.0.from='0 s' \
        --set objects.ball.generate.icosphere.divisions=4
    touched
    judged funnel 10 --set objects.cloths.generate.cloth.edge=0.1 --set objects.funnel.generate.revolution.cells='[12, 2]' \
        --set objects.cloths.translate='[0, 0.28, 0]'
    touched
    judged garment 6 --set objects.front.generate.cloth.edge=0.12 --set objects.back.generate.cloth.edge=0.12 \
        --set objects.body.generate.revolution.cells='[10, 2]'
}

@test "strands, a net, noodles, sprinkles, sand and all of them together begin as they should" {
    judged rods-twist 5 --set objects.left.generate.strands.cells=8 --set objects.right.generate.strands.cells=8
    judged hair 8 --set objects.held.generate.strands.count='[3, 3]' --set objects.held.generate.strands.cells=8 \
        --set objects.falling.generate.strands.count='[3, 3]' --set objects.falling.generate.strands.cells=8 \
        --set objects.falling.translate='[0, 0.0625, 0.02]'
    judged net 12 --set objects.net.generate.net.count='[4, 4]' --set objects.net.translate='[0, 0.109, 0]'
    touched
    judged noodles 3 --set objects.noodles.generate.strands.count='[3, 3]' --set objects.noodles.generate.strands.cells=15 \
        --set objects.noodles.translate='[0, 0.052, 0]'
    touched
    judged sprinkles 5 --set objects.sprinkles.generate.sprinkles.count='[3, 3, 3]' --set objects.sprinkles.translate='[0, -0.012, 0]'
    touched
    judged sand-on-cloth 8 --set objects.sand.generate.particles.count='[4, 6, 4]' --set objects.cloth.generate.cloth.edge='3 cm' \
        --set objects.sand.generate.particles.size='[1.2 cm, 2 cm, 1.2 cm]' --set objects.sand.translate='[0, 1.4 cm, 0]'
    touched
    judged all-in 8 --set objects.cloth.generate.cloth.edge='4 cm' --set objects.sand.generate.particles.count='[3, 6, 3]' \
        --set objects.net.generate.net.count='[3, 3]'
    touched
}

@test "splitting keeps the limits too, and comes closer to the coupled solve with shorter steps" {
    OUT=$TMP/out STEPS="0.08 0.02" UNTIL=0.32 UPPER=1.02 "$ROOT/pipelines/examples/splitting.sh" --set objects.cloth.generate.cloth.edge=0.25 > table
    awk 'NR == 1 { next } { far[$1] = $6; bad += $2 >= 1.02 || $4 >= 1.02 || $2 <= 1 || $4 <= 1 }
         END { exit bad || !(0 < far["0.02"] && far["0.02"] < far["0.08"]) }' table || { cat table; false; }
}
