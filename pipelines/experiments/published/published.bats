#!/usr/bin/env bats
# The short scenes of the literature: every frame judged by ccd-check, and what each must hold of physics.
load ../../../tests/tools/helpers

SCENES=$ROOT/pipelines/experiments/published/scenes

# judged SCENE STEPS [options of mesh-prep]: the frames as a table in frames.csv, the report in steps.jsonl
judged() {
    "$BIN/mesh-prep" -q "$SCENES/$1.yaml" "${@:3}" | "$BIN/step" -q -j 1 -n "$2" --report steps.jsonl |
        "$BIN/ccd-check" -q -j 1 | "$BIN/export" -q --csv frames.csv
    [ "$(wc -l < steps.jsonl)" -eq "$2" ]
    grep -q '"min_gap":[0-9]' steps.jsonl       # there was contact
}

# from TIME CONDITION: it holds in every frame from this time on; v("name") is a column of the table, start("name") its first value
from() {
    awk -F, -v from="$1" '
        function v(n) { if (!(n in k)) { print "no column " n; exit bad = 1 } return $(k[n]) + 0 }
        function start(n) { v(n); return first[k[n]] + 0 }
        function abs(x) { return x < 0 ? -x : x }
        NR == 1 { for (i = 1; i <= NF; i++) k[$i] = i; next }
        NR == 2 { for (i = 1; i <= NF; i++) first[i] = $i }
        v("time_s") >= from { seen = 1; if (!('"$2"')) { print "t = " v("time_s") ": " $0; bad = 1; exit } }
        END { exit bad || !seen }' frames.csv || { echo "not from $1 s on: $2"; return 1; }
}

newton() { awk '{ match($0, /"newton_iterations":[0-9]+/); n += substr($0, RSTART + 20, RLENGTH - 20) } END { print n }' steps.jsonl; }

@test "U1: a tip on a tip pushes both apart and the sum of their momenta stays" {
    judged tip-on-tip 100
    from 0 'abs(v("lower.x_m") + v("upper.x_m") - 2 * start("lower.x_m")) < 1e-4'
    from 2.4 'abs(v("upper.vy_m/s")) < 1e-2 && v("upper.y_m") < 0.13 && v("upper.y_m") > 0.11'
}
@test "U1: a stack of aligned cubes comes to rest and stands" {
    judged cube-stack 160
    from 3 'v("stack.y_m") > 0.46 && abs(v("stack.vy_m/s")) < 2e-3 && abs(v("stack.vx_m/s")) < 1e-2'
}
@test "U2: exactly parallel edges cost no more than nearly parallel ones" {
    judged parallel-edges 60
    exact=$(newton)
    judged parallel-edges 60 --set objects.upper.rotate.angle='1e-3 deg'
    near=$(newton)
    echo "$exact $near"
    ((2 * exact < 3 * near && 2 * near < 3 * exact))
}
@test "U3: a tet fits into a slot of 1 um and rests on the floor" {
    judged slot 100
    from 0 '!v("contacts") || v("gap_m") > 0'
    from 2 'v("tet.y_m") < -0.2 && v("tet.y_m") > -0.3 && abs(v("tet.vy_m/s")) < 1e-2 && v("tet.x_m") > 0.2 && v("tet.x_m") < 0.8'
}
@test "U4: a spike rests in a hole, spike and wedge in a crack, a wedge across a wedge: none drifts" {
    for scene in spike-hole spike-crack wedge-crack wedge-wedge; do        # upright within the tolerance of a step, 1.7e-2 m/s
        judged erleben/$scene 100
        from 2.4 'abs(v("body.vx_m/s")) < 1e-4 && abs(v("body.vy_m/s")) < 1.7e-2 && abs(v("body.vz_m/s")) < 1e-4 &&
                  abs(v("body.x_m")) < 1e-4 && abs(v("body.z_m")) < 1e-4 && v("body.y_m") > start("body.y_m") - 0.1'
    done
}
@test "U4: spikes slip off a tip and a ridge, a cube stands on a cliff and on inner edges; none jumps up" {
    for scene in spike-spike spike-wedge cliff-edges internal-edges; do
        judged erleben/$scene 60 --set tolerance='1e-4 l/s'    # nothing but what a step leaves unsolved moves them sideways
        from 0 'v("body.y_m") <= start("body.y_m") + 1e-9 && v("total_J") <= start("total_J")'
    done
    from 1 'abs(v("body.x_m")) < 0.01 && abs(v("body.z_m")) < 0.01 && v("body.y_m") > 0.46'
}
@test "U4: three tips and two ridges slide over inner edges without a snag" {
    for scene in sliding-spike sliding-wedge; do
        judged erleben/$scene 80 --set tolerance='1e-4 l/s'
        # the landing costs a little; from then on the speed stays, though they cross many edges
        from 0.5 'v("body.vx_m/s") > 0.95 && v("body.vx_m/s") < 1.01 && abs(v("body.vz_m/s")) < 0.02'
        from 0.5 'abs(v("body.vy_m/s")) < 2e-3'
        from 2 'v("body.x_m") > 0.8'
    done
}
@test "U5: no ball passes the board, whatever it travels in a step" {
    for speed in 10 100 1000; do
        judged tunnelling 20 --set objects.ball.velocity="[0, -$speed, 0]" --set objects.ball.generate.sphere.cells=4
        from 0 'v("ball.y_m") > 0.01'
        from 0.38 'v("ball.vy_m/s") > 0 && v("ball.y_m") > 0.05'
    done
}
@test "U8: a small cube carries one ten thousand times heavier" {
    judged large-on-small 120
    from 2.5 'v("large.y_m") > 0.44 && abs(v("large.vy_m/s")) < 5e-3'
}
# bats test_tags=slow
@test "U9: a chain of ten links falls into its slack, bounces and holds" {
    judged chain 100 --set objects.odd.repeat.count='[1, 5, 1]' --set objects.even.repeat.count='[1, 5, 1]' \
        --set objects.odd.generate.torus.cells='[10, 2]' --set objects.even.generate.torus.cells='[10, 2]' --set objects.hook.generate.torus.cells='[10, 2]'
    from 0 'v("even.y_m") > start("even.y_m") - 1.2 && abs(v("odd.x_m")) < 0.2 && abs(v("odd.z_m")) < 0.2'
    from 0.5 'v("even.y_m") < start("even.y_m") - 0.1'
}
@test "R: first contacts of every kind end at rest or are left without a jump" {
    for scene in "$SCENES"/../../sqp/scenes/first-contacts/*.yaml; do
        judged ../../sqp/scenes/first-contacts/"$(basename "$scene" .yaml)" 40
        from 0 'v("total_J") <= start("total_J") * 1.0001'
    done
}
@test "S: mats, balls and pins meet obstacles of every dimension, coarse" {
    judged mat-on-knives 10 --set objects.mat.generate.box.cells='[15, 1, 15]'
    from 0 'v("mat.y_m") > 0.4'                                     # held: in free fall it would be at 0.1
    judged ball-on-points 13 --set objects.ball.generate.sphere.cells=6
    from 0 'v("ball.y_m") > 0.02'                                   # deep, but not through: in free fall it would be at -0.3
    judged pin-cushion 11 --set objects.ball.generate.sphere.cells=5
    from 0 'v("ball.y_m") > 0.25'                                   # in free fall it would be at 0.1
    judged squishy-ball 6 --set objects.ball.generate.tendrils='{radius: 25 mm, length: 25 mm, thickness: 8 mm, count: 20, cell: 6 mm}'
    from 0 'v("ball.x_m") < 0.03'
}
# bats test_tags=slow
@test "S10, S11: rollers that are surfaces, edges or points catch a ball, coarse" {
    for scene in ball-roller ball-roller-edges ball-roller-points; do
        judged $scene 10 --set objects.ball.generate.sphere.cells=5
        from 0.36 'v("ball.y_m") > 0.95 && v("ball.y_m") < 1.1'     # pressed between them; in free fall it would be at 0.8
    done
}
@test "bodies of capsules stand free of crossings at the start" {
    for scene in $(grep -lE 'blob|tendrils' "$SCENES"/*.yaml); do "$BIN/mesh-prep" -q "$scene" -o /dev/null; done
}
# bats test_tags=slow
@test "published: a row is made, replaced by its name, and the others stay" {
    cat > list.tsv <<L
# name	arguments
U1 one	$SCENES/erleben/spike-hole.yaml --set time.end=0.1s	8, 9	10 (20)	30	40 m1	falls	end(body.y) < start(body.y)	-
S2 two	$SCENES/erleben/spike-crack.yaml --set time.end=0.1s -- --solver lbfgs-h	-	-	-	-	rises	end(body.y) > start(body.y)	gravity
S3 none	$SCENES/no-such.yaml	-	-	-	-
S4 data	--ipc-script @DATA@/no-such.txt	-	-	-	-
S5 bad	$SCENES/erleben/spike-crack.yaml --set time.end=never	-	-	-	-
L
    export LIST=$TMP/list.tsv TABLE=$TMP/table.md OUT=$TMP/out ABUT_DATA=$TMP
    run "$ROOT/pipelines/experiments/published/published.sh" U
    [ "$status" -eq 0 ]
    grep -E '^\| U1 one \| 45, 2 \| 8, 9 \| 4 of 4 \| [0-9.]+ \| 30 \| [0-9]+ \([0-9]+\) \| 10 \(20\) \| [0-9.e-]+ \| 40 m1 \| yes: end\(body.y\) [0-9.]+, start\(body.y\) 0.27 \| falls \| unexplained \| clean \|' table.md
    sed -i 's/4 of 4/old/' table.md
    run "$ROOT/pipelines/experiments/published/published.sh" S
    [ "$status" -eq 0 ]
    [[ $output == *"S3 none: skipped, no $SCENES/no-such.yaml"* && $output == *"S4 data: skipped, no $TMP/no-such.txt"* ]]
    grep -E '^\| S2 two \| .* 4 of 4 .* \| \*\*no\*\*: end\(body.y\) .* \| rises \| gravity \| clean \|' table.md
    grep -E '^\| S5 bad \| .* refused: mesh-prep: .*never' table.md
    grep -E '^\| U1 one .* old ' table.md
    "$ROOT/pipelines/experiments/published/published.sh" 'U1 one'
    grep -E '^\| U1 one .* 4 of 4 ' table.md
    [ "$(grep -cE '^\| [US][0-9]' table.md)" -eq 3 ]
    KEEP=1 "$ROOT/pipelines/experiments/published/published.sh" 'U1 one'
    cp table.md before.md
    sed -i 's/	falls	/	sinks	/' list.tsv
    AGAIN=1 KEEP=1 "$ROOT/pipelines/experiments/published/published.sh"
    sed 's/| falls |/| sinks |/' before.md | cmp - table.md
    cp table.md before.md
    sed -i '/^U1/s/	-$/	a reason/; /^S2/s/	gravity$/	weight/' list.tsv
    REASONS=1 "$ROOT/pipelines/experiments/published/published.sh" U
    sed 's/| unexplained |/| a reason |/' before.md | cmp - table.md     # that of S2 was not asked for
}
# bats test_tags=slow
@test "published: a scene that its budget ends says what the rest would take, and its outcome so far" {
    printf 'U1 one\t%s --set time.end=100000s\t-\t-\t-\t-\tfalls\tend(body.y) < start(body.y)\t-\n' "$SCENES/erleben/spike-hole.yaml" > list.tsv
    export LIST=$TMP/list.tsv TABLE=$TMP/table.md OUT=$TMP/out
    BUDGET=1 "$ROOT/pipelines/experiments/published/published.sh"
    grep -E '^\| U1 one .* so far yes: .* \| clean; (the rest would take about [0-9.e+]+ s|step [0-9]+ takes more than [0-9]+ s) \|' table.md
}
# bats test_tags=slow
@test "published: RESUME takes a run further that its budget has cut, or that was killed; its frames are those of one that was not" {
    local scene=$SCENES/erleben/spike-hole.yaml first more
    printf 'U1 one\t%s --set time.end=100000s\t-\t-\t-\t-\t-\t-\t-\n' "$scene" > list.tsv
    export LIST=$TMP/list.tsv TABLE=$TMP/table.md OUT=$TMP/out RESUME=1
    BUDGET=1 "$ROOT/pipelines/experiments/published/published.sh"
    first=$(wc -l < out/U1-one.jsonl)
    "$BIN/step" -q -n 3 --report out/U1-one.piece out/U1-one.abut -o out/U1-one.next.part    # a piece that did not get to its end
    head -c -100 out/U1-one.next.part > whole
    mv whole out/U1-one.next.part
    BUDGET=2 "$ROOT/pipelines/experiments/published/published.sh"
    more=$(wc -l < out/U1-one.jsonl)
    ((first > 4 && more >= first + 2))
    grep -F "| $more of 4000000 |" table.md
    cut -d, -f1 out/U1-one.jsonl | sort -c -t: -k2n -u
    "$BIN/mesh-prep" -q "$scene" --set time.end=100000s | "$BIN/step" -q -j 1 -n "$more" -o one.abut
    cmp one.abut out/U1-one.abut
    BUDGET=1 "$ROOT/pipelines/experiments/published/published.sh"     # spent: the row again, no step
    [ "$(wc -l < out/U1-one.jsonl)" -eq "$more" ]
    sed -i 's/100000s/200000s/' list.tsv
    BUDGET=1 run "$ROOT/pipelines/experiments/published/published.sh"
    [[ $output == *"U1-one: begins again, other programs or another scene "* ]]
    grep -F " of 8000000 |" table.md
}
@test "outcome: numbers of a table of frames decide; what the table does not have is an error" {
    printf 'time_s,a.y_m,a.vy_m/s,gap_m\n0,1,0,\n1,-2,3,0.5\n2,4,-1,0.25\n' > t.csv
    out() { /usr/bin/python3 "$ROOT/pipelines/experiments/bin/outcome.py" t.csv "$1"; }
    [ "$(out 'start(a.y) == 1 and end(a.y) == 4 and least(a.y) == -2 and most(a.vy) == 3')" = \
        "yes: start(a.y) 1, end(a.y) 4, least(a.y) -2, most(a.vy) 3" ]
    [ "$(out 'least(gap) > 0.3')" = "**no**: least(gap) 0.25" ]
    exits 1 out 'end(b.y) > 0'
    says "no column 'b.y'"
    exits 1 out '1 > 0'
    says "asks for no column"
    [ "$(out 'partly: end(a.y) == 4')" = "**no**, in part: end(a.y) 4" ]
    [ "$(out 'partly: end(a.y) > 4')" = "**no**: end(a.y) 4" ]
    [ "$(/usr/bin/python3 "$ROOT/pipelines/experiments/bin/outcome.py" t.csv clean 'clean; more')" = "yes: clean" ]
    [ "$(/usr/bin/python3 "$ROOT/pipelines/experiments/bin/outcome.py" t.csv clean 'a collision')" = "**no**: not clean" ]
}
@test "outcome: an answer is made again of its rounded numbers where the condition asks for others, or for a part" {
    again() { /usr/bin/python3 "$ROOT/pipelines/experiments/bin/outcome.py" --again "$@"; }
    [ "$(again 'yes: end(a.y) 0.119, start(a.y) 0.119' 'end(a.y) > start(a.y)' clean)" = 'yes: end(a.y) 0.119, start(a.y) 0.119' ]
    [ "$(again 'yes: end(a.y) -1.86' 'partly: end(a.y) < -1' clean)" = '**no**, in part: end(a.y) -1.86' ]
    [ "$(again '**no**, in part: end(a.y) -1.86' 'end(a.y) < -1' clean)" = 'yes: end(a.y) -1.86' ]
    [ "$(again '**no**: least(a.y) -46.5, start(a.y) -26' clean clean)" = 'yes: clean' ]
    [ "$(again 'so far yes: end(a.y) 2, start(a.y) 1' 'end(a.y) < 1' clean)" = 'so far **no**: end(a.y) 2' ]
    exits 1 again 'yes: end(a.y) 2' 'end(b.y) < 1' clean
    says "not in the cell: end(b.y)"
}
@test "published: every scene of the list that has a file here becomes a model; every file is in a list or a recipe" {
    while IFS=$'\t' read -r name args _; do
        [[ $name != '#'* && $args != --ipc-script* && $args != *@DATA@* ]] || continue
        args=${args%% -- *}
        read -ra words <<< "$args"
        [ -e "$ROOT/${words[0]}" ] || { echo "$name: no ${words[0]}"; continue; }
        "$BIN/mesh-prep" -q "$ROOT/${words[0]}" "${words[@]:1}" --to-yaml > /dev/null || { echo "$name"; return 1; }
    done < "$ROOT/pipelines/experiments/published/published.tsv"
    cd "$ROOT/pipelines/experiments"
    for scene in */scenes/*.yaml */scenes/*/*.yaml; do
        name=$(basename "$scene")
        case $scene in      # lists of a folder of their own name the file alone
        high-order/*) grep -qE $'\t'"$name( |$(printf '\t'))" high-order/high-order.tsv ;;
        hard-contact/*) grep -qw -- "${name%.yaml}" hard-contact/nodal.sh ;;
        friction/*) grep -qw -- "${name%.yaml}" friction/friction.sh ;;
        sqp/scenes/first-contacts/*) grep -q 'sqp/scenes/first-contacts/\*' sqp/sqp.sh ;;
        *) grep -q "pipelines/experiments/$scene" ./*/*.tsv ./*/*.sh ../examples/*.sh ;;
        esac || { echo "in no list: $scene"; return 1; }
    done
}
