#!/usr/bin/env bats
# bats file_tags=experiment
# gipc.sh: what it runs, what becomes of a run that fails or is cut, and the table beside the published figures.
load ../../../tests/tools/helpers

SCENES=$ROOT/pipelines/experiments/gipc/scenes

# A list of two groups on the pair of bodies, with figures to stand beside them.
list() {
    cat > list.tsv <<L
rules	abut	-
rules	published	--stop published --without look-ahead
variant	stiffness	published abut	ipc projected	-	-
variant	stiffness	published	log2 gn	--set contact.barrier.law=log2	--barrier-hessian gn
variant	scenes	abut	ipc projected	-	-
variant	scenes	abut	ipc gn	-	--barrier-hessian gn
variant	cg	abut	cg	-	--linear-solver cg
scene	stiffness	1e5	6	1	-	$SCENES/pair.yaml
scene	stiffness	1e9	2	1	-	$SCENES/pair.yaml --set materials.soft.young=never
scene	scenes	meet	8	1	apart	$SCENES/pair.yaml
scene	scenes	none	8	1	-	$SCENES/no-such.yaml
scene	scenes	data	8	1	-	$SCENES/pair.yaml --set objects.left.mesh=@DATA@/no-such.msh
scene	scenes	rest	5	2	moved grain	$SCENES/rest.yaml
scene	cg	meet	2	1	-	$SCENES/pair.yaml
scene	cg	stops	8	1	-	$SCENES/pair.yaml -- --max-newton 2
published	stiffness	1e5	ipc projected	iterations	200
published	stiffness	1e5	log2 gn	iterations	50
published	scenes	meet	-	its/step	7.25
L
    export LIST=$TMP/list.tsv RUNS=$TMP/runs.tsv TABLE=$TMP/table.md OUT=$TMP/out ABUT_DATA=$TMP BENCH=$TMP/no-such
}

# The field of a run by the name of its column: field COLUMN GROUP ROW RULES VARIANT
field() {
    awk -F'\t' -v c="$1" -v k="$2/$3/$4/$5" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $1 "/" $2 "/" $3 "/" $4 == k { print $(at[c]) }' runs.tsv
}

@test "gipc: every run has its line, its verdict and its place beside the published figure; skips and refusals are named" {
    skip_without_numpy
    list
    ROWS=all run "$ROOT/pipelines/experiments/gipc/gipc.sh"
    [ "$status" -eq 0 ]
    [[ $output == *"gipc: stiffness: 1e9: refused: mesh-prep: "*never* ]]
    [[ $output == *"gipc: scenes: none: skipped, no $SCENES/no-such.yaml"* && $output == *"gipc: scenes: data: skipped, no $TMP/no-such.msh"* ]]
    [[ $output == *"gipc: projection: skipped, no $TMP/no-such"* ]]
    [ "$(wc -l < runs.tsv)" -eq 10 ]
    [ "$(awk -F'\t' '$27 == "clean" && $5 == $6 && $26 == 0' runs.tsv | wc -l)" -eq 8 ]
    for f in out/*.jsonl; do [ -s "$f" ]; done
    n=$(field iterations stiffness 1e5 published 'ipc projected') m=$(field iterations stiffness 1e5 published 'log2 gn')
    [ "$n" -eq "$(grep -ho '"newton_iterations":[0-9]*' out/stiffness-1e5-published-ipc-projected.jsonl |
        awk -F: '{ n += $2 } END { print n }')" ]
    grep -F "| 1e5 | \`published\` | $n (1.00) | $m ($(awk "BEGIN { printf \"%.2f\", $m / $n }")) |" table.md
    grep -F '| 1e5 | *figures of GIPC* | 200 (1.00) | 50 (0.25) |' table.md
    grep -E '^\| meet \| abut \| `ipc projected` \| 843, 3216 \| 8 of 8 \| .* \| 7.25 \| .* clean \| [^|]*\|$' table.md
    grep -E '^\| meet \| abut \| `ipc gn` .* clean, apart [0-9.e-]+ m \| [^|]*\|$' table.md
    [ "$(field check scenes rest abut 'ipc projected' | grep -c 'grain moved .* -0.0')" -eq 1 ]
    [ "$(field cg cg meet abut cg)" -gt 20 ]
    [ "$(field exit cg stops abut cg)" -eq 4 ]
    sed -i '/^scenes	meet	abut	ipc gn	/d' runs.tsv
    NEW=1 ROWS='scenes stiffness' "$ROOT/pipelines/experiments/gipc/gipc.sh" > again
    grep -c clean again | grep -x 1
    grep 'meet	abut	ipc gn	8/8' again
}

@test "gipc: a row is run alone and replaces its lines; one that gives up or is cut says so, with its whole steps judged" {
    skip_without_numpy
    list
    ROWS='stiffness/1e5' STEPS=2 "$ROOT/pipelines/experiments/gipc/gipc.sh"
    [ "$(wc -l < runs.tsv)" -eq 4 ]
    [ "$(field asked stiffness 1e5 abut 'ipc projected')" -eq 2 ]
    sed -i 's/--stop published/--max-newton 3/' list.tsv                # the bodies meet in step 5
    ROWS='stiffness/1e5' "$ROOT/pipelines/experiments/gipc/gipc.sh"
    [ "$(wc -l < runs.tsv)" -eq 4 ]
    [ "$(field exit stiffness 1e5 published 'ipc projected')" -eq 4 ]
    [ "$(field verdict stiffness 1e5 published 'ipc projected')" = clean ]
    k=$(field steps stiffness 1e5 published 'ipc projected')
    ((k > 2 && k < 6))
    grep -E "^\| 1e5 \| .published. \| [0-9]+, $k of 6 steps, exit 4 \|" table.md
    sed -i 's/	6	1	-/	4000	1	-/' list.tsv
    ROWS='stiffness/1e5' BUDGET=1 "$ROOT/pipelines/experiments/gipc/gipc.sh"
    [ "$(field exit stiffness 1e5 abut 'ipc projected')" -gt 128 ]
    [ "$(field verdict stiffness 1e5 abut 'ipc projected')" = clean ]
    grep -E '^\| 1e5 \| .abut. \| [0-9]+, [0-9]+ of 4000 steps, cut: its processor time was used up \|' table.md
    ROWS='' "$ROOT/pipelines/experiments/gipc/gipc.sh"
    cp table.md before
    ROWS='' "$ROOT/pipelines/experiments/gipc/gipc.sh"
    cmp before table.md
}

@test "gipc: a run in segments is that of one piece; one that was stopped goes on from its last frame" {
    skip_without_numpy
    list
    ROWS='stiffness/1e5' "$ROOT/pipelines/experiments/gipc/gipc.sh"
    whole=$(field iterations stiffness 1e5 abut 'ipc projected') trials=$(field trials stiffness 1e5 abut 'ipc projected')
    name=stiffness-1e5-abut-ipc-projected
    SEGMENT=3 ROWS='stiffness/1e5' OUT=$TMP/again "$ROOT/pipelines/experiments/gipc/gipc.sh" > said
    grep -c "^stiffness	1e5	abut	ipc projected	[36]/6	.*	clean" said | grep -x 2
    [ ! -e "again/$name.last.abut" ]
    [ "$(field iterations stiffness 1e5 abut 'ipc projected')/$(field trials stiffness 1e5 abut 'ipc projected')" = "$whole/$trials" ]
    steps() { grep -o '"step":[0-9]*' "$1"; }
    cmp <(steps "out/$name.jsonl") <(steps "again/$name.jsonl")
    # stopped after its first segment, it makes the second alone
    "$BIN/mesh-prep" -q "$SCENES/pair.yaml" | "$BIN/step" -q -n 3 --report again/$name.jsonl -o again/three.abut
    PYTHONPATH=$ROOT/formats/python /usr/bin/python3 "$ROOT/pipelines/experiments/gipc/gipc.py" last again/three.abut again/$name.last.abut
    sed 1q "again/$name.clocks" > again/clocks
    mv again/clocks "again/$name.clocks"
    SEGMENT=3 ROWS='stiffness/1e5' OUT=$TMP/again "$ROOT/pipelines/experiments/gipc/gipc.sh" > said
    grep -c "^stiffness	1e5	abut	ipc projected	" said | grep -x 1
    [ "$(field iterations stiffness 1e5 abut 'ipc projected')" = "$whole" ]
}

@test "gipc: every scene of the list that needs no data becomes a model, free of contact; every figure is of a row that is run" {
    unset LIST
    list=$ROOT/pipelines/experiments/gipc/list.tsv
    while IFS=$'\t' read -r kind group row steps threads check args; do
        [[ $kind == scene && $args != *@DATA@* ]] || continue
        [[ $steps =~ ^[0-9]+$ && $threads =~ ^[12]$ && $check =~ ^(-|apart|moved\ .+)$ ]]
        read -ra words <<< "${args%% -- *}"
        [ -e "$ROOT/${words[0]}" ]
        "$BIN/mesh-prep" -q "$ROOT/${words[0]}" "${words[@]:1}" --to-yaml > /dev/null || { echo "$row"; return 1; }
    done < "$list"
    for scene in "$SCENES"/*.yaml; do
        [[ $scene == */funnel.yaml || $scene == */rods.yaml ]] && continue      # their meshes come from outside
        "$BIN/mesh-prep" -q "$scene" -o start.abut
        "$BIN/ccd-check" -q -j 1 --no-output start.abut
    done
    awk -F'\t' '$1 == "scene" { row[$2, $3] } $1 == "variant" { v[$4] }
        $1 == "published" && (!(($2, $3) in row) || $4 != "-" && !($4 in v)) { print; bad = 1 } END { exit bad }' "$list"
}
