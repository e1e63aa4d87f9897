#!/usr/bin/env bats
# ccd-check: the judge of trajectories, single meshes and CCD queries.

load helpers

setup() {
    aids=$AIDS
    data=$DATA
    cd "$BATS_TEST_TMPDIR"
}
stream() { "$aids/judge_streams" "$1"; }
judge() { stream "$1" > "$1.abut"; run "$BIN/ccd-check" --no-output "${@:2}" "$1.abut"; }

# a unit square of two triangles at height $2, or with $1 = up a triangle that stands on height $2
square() { printf 'v 0 0 %s\nv 1 0 %s\nv 1 1 %s\nv 0 1 %s\nv 0.5 0.6 1\nv 0.6 0.5 1\nv 0.5 0.5 2\nf 1 2 3\nf 1 3 4\nf 5 6 7\n' "$1" "$1" "$1" "$1"; }

@test "ccd-check --help names its options and exits 0" {
    run "$BIN/ccd-check" --help
    [ "$status" -eq 0 ]
    [[ $output == *--method* && $output == *--min-separation* && $output == *--csv-queries* && $output == *--static* ]]
}

@test "ccd-check refuses bad options with exit 2" {
    stream clean > clean.abut
    for bad in "--method fast" "--min-separation -1" "--delta 0" "--kind xx" "--static --csv-queries" "--no-output -o x.abut" "--bogus"; do
        run "$BIN/ccd-check" $bad clean.abut
        [ "$status" -eq 2 ]
    done
    run "$BIN/ccd-check" --static < clean.abut; [ "$status" -eq 2 ]
    run "$BIN/ccd-check" clean.abut clean.abut; [ "$status" -eq 2 ]
}

@test "a clean stream is clean by every method, and obstacles may cross each other" {
    for kind in clean blades; do
        for method in exact tight additive; do
            judge "$kind" --method "$method"
            [ "$status" -eq 0 ]
            [[ $output == *"4 configurations, 3 motions"*"no collision"* ]]
        done
    done
}

@test "a body that jumps through another between two frames is found by every method" {
    for method in exact tight additive; do
        judge tunnel --method "$method"
        [ "$status" -eq 1 ]
        [[ $output == *"step 1 (0.01 s) to step 2 (0.02 s)"*right*left* ]]
    done
}

@test "the first frame is checked alone: crossing bodies, and a body inside another" {
    judge start; [ "$status" -eq 1 ]; [[ $output == *"step 0"*edge-triangle*left*right* ]]
    judge nested; [ "$status" -eq 1 ]; [[ $output == *"step 0"*"vertex in tet"*right*left* ]]
}

@test "obstacle points and segments that pierce a body are found" {
    judge pin; [ "$status" -eq 1 ]; [[ $output == *vertex-triangle*pin*left* ]]
    judge wire; [ "$status" -eq 1 ]; [[ $output == *edge-edge*left*wire* ]]
}

@test "a vertex under a half-space is found with its time" {
    judge sink; [ "$status" -eq 1 ]
    [[ $output == *"0.677852349 of the way: vertex-half-space: nodes 0 of right and half-space 0, at "* ]]
}

@test "inverted tets are an error where the material forbids them, a remark where it does not" {
    judge invert; [ "$status" -eq 1 ]; [[ $output == *"step 2"*"inverted tet: nodes 0 1 2 3 of right, tet 0, at "* ]]
    judge soft; [ "$status" -eq 0 ]; [[ $output == *"2 inverted tets over all frames, which their materials allow"* ]]
}

@test "pending candidates are judged from the frame before, and the frame after them is not judged from there" {
    judge pending --all --json r.json
    [ "$status" -eq 1 ]
    [[ $output == *"6 configurations (2 of them PENDING candidates), 5 motions"* ]]
    [[ $output == *"step 1 (0.01 s) to the PENDING candidate of the step after step 2 (0.02 s)"*right*left* ]]
    python3 -c 'import json; r = json.load(open("r.json"))
assert r["configurations"] == 6 and r["pending"] == 2 and r["not_judged"] == 0
assert all(c["to"].get("pending") and "pending" not in c["from"] and c["from"]["step"] == 1 for c in r["collisions"]), r'
}

@test "what is not judged after the first finding is said" {
    judge tunnel --json r.json
    [ "$status" -eq 1 ]
    [[ $output == *"1 frame after the first collision was not judged"* ]]
    python3 -c 'import json; assert json.load(open("r.json"))["not_judged"] == 1'
    judge tunnel --all; [[ $output != *"not judged"* ]]
}

@test "a tet that loses its volume between two frames is found, by every method, unless its material allows it" {
    for method in exact tight additive; do
        judge turn --method $method --json r.json
        [ "$status" -eq 1 ]
        [[ $output == *"step 1 (0.01 s) to step 2 (0.02 s), 0.5 of the way: inverted tet: nodes 0 1 2 3 of right, tet 0"* ]]
    done
    python3 -c 'import json; c = json.load(open("r.json"))["collisions"]; assert c[0]["kind"] == "inverted tet" and 0.4999 < c[0]["toi"][0] <= c[0]["toi"][1] < 0.5001 and c[0]["tet"] == 0'
    judge turn --motion none; [ "$status" -eq 0 ]
    judge soft-turn; [ "$status" -eq 0 ]
}

@test "meshes: a tet that loses its volume on the straight way from one file to the next is found" {
    tet() { printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 %s\n3 %s\n4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n' "$1" "$2"; }
    tet '1 0 0' '0 1 0' > a.msh
    tet '-1 0 0' '0 -1 0' > b.msh
    run "$BIN/ccd-check" --static a.msh b.msh; [ "$status" -eq 0 ]
    run "$BIN/ccd-check" --all a.msh b.msh
    [ "$status" -eq 1 ]
    [[ $output == *"0.5 of the way: inverted tet"* ]]
}

@test "a second model starts anew: its first frame is checked alone, no motion leads to it" {
    judge remodel; [ "$status" -eq 1 ]
    [[ $output == *"step 2 (0.02 s): edge-triangle"* && $output == *"1 motion"* ]]
}

@test "a frame that names positions on its way is judged along them, unless straight motion is asked for" {
    judge detour; [ "$status" -eq 0 ]; [[ $output == *"4 configurations, 5 motions"* ]]
    judge detour --motion straight; [ "$status" -eq 1 ]; [[ $output == *"3 configurations, 2 motions"* ]]
    judge detour-through --json r.json; [ "$status" -eq 1 ]; [[ $output == *"leg 2 of the path"* ]]
    grep -q '"leg": 2' r.json
}

@test "--motion none checks every frame alone" {
    judge tunnel --motion none; [ "$status" -eq 0 ]; [[ $output == *"4 configurations, 0 motions"* ]]
    judge pierce; [ "$status" -eq 1 ]
    judge pierce --motion none; [ "$status" -eq 1 ]; [[ $output == *"step 2 (0.02 s): edge-triangle"* ]]
    judge clean --motion sideways; [ "$status" -eq 2 ]
}

@test "min-separation reports what comes nearer and nothing else" {
    for method in exact tight additive; do
        judge near --method "$method" --min-separation 0.2; [ "$status" -eq 1 ]
        judge near --method "$method" --min-separation 0.05; [ "$status" -eq 0 ]
    done
    judge hover --min-separation 0.25; [ "$status" -eq 1 ]     # exactly that far above the floor
    [[ $output == *vertex-half-space* ]]
    judge hover --min-separation 0.2499999; [ "$status" -eq 0 ]
}

@test "the thickness of the objects is judged, to 1e-13 m of 1e-4 m" {
    judge thick-out; [ "$status" -eq 0 ]
    judge thick-out --motion none; [ "$status" -eq 0 ]
    judge thick-out --gap --json gap.json
    [ "$status" -eq 0 ]
    [[ $output == *"smallest gap "*" m: step 2 (0.02 s), vertex-"*" of node 0 of pin"* ]]
    python3 -c 'import json; r = json.load(open("gap.json")); g = r["smallest_gap"]
assert r["min_separation"] == "thickness" and g["step"] == 2 and g["nodes"][0] == 0 and g["objects"][0] == "pin" and abs(g["m"] - 1e-13) < 1e-17'
    for way in path none; do
        judge thick-in --motion $way
        [ "$status" -eq 1 ]
        [[ $output == *vertex-triangle*"nodes 0 of pin and"*left* ]]
    done
    judge thick-in --min-separation 0; [ "$status" -eq 0 ]
    judge thick-in --min-separation 9.9e-5; [ "$status" -eq 0 ]
    judge thick-out --min-separation 1.1e-4; [ "$status" -eq 1 ]
    judge clean --gap; [ "$status" -eq 0 ]; [[ $output == *"smallest gap: above dhat in every frame"* ]]
    run "$BIN/ccd-check" --gap --static clean.abut; [ "$status" -eq 2 ]
}

@test "the stream passes through, unknown arrays too, with one record in its history" {
    stream clean > in.abut
    "$BIN/ccd-check" in.abut -q -o once.abut
    "$BIN/ccd-check" -q < once.abut > twice.abut
    cmp once.abut twice.abut
    [ "$(grep -ac user/colour once.abut)" -ge 1 ]
    [ "$(grep -ao user/colour once.abut | wc -l)" -eq 4 ]
    [ "$(grep -ao ccd-check once.abut | wc -l)" -eq 1 ]
}

@test "a stream with a collision still passes whole, with exit 1" {
    stream tunnel > in.abut
    run "$BIN/ccd-check" in.abut -o out.abut
    [ "$status" -eq 1 ]
    [ "$(grep -ao user/colour out.abut | wc -l)" -eq 4 ]
    run "$BIN/ccd-check" --no-output out.abut
    [ "$status" -eq 1 ]
}

@test "a stream cut anywhere is exit 3 and leaves no output" {
    stream clean > whole.abut
    size=$(stat -c %s whole.abut)
    for n in 0 1 7 8 40 200 1000 2500 4000 5000 6000 7000 $((size - 60)) $((size - 9)) $((size - 1)); do
        ((n < size)) || continue
        head -c "$n" whole.abut > cut.abut
        run "$BIN/ccd-check" -q cut.abut -o out.abut
        [ "$status" -eq 3 ]
        [ ! -e out.abut ]
    done
}

@test "--all lists every collision, --json and --write-hits hold them, the same for every thread count" {
    for j in 1 2 7; do
        stream tunnel > in.abut
        run "$BIN/ccd-check" -j $j --all --no-output --json $j.json --write-hits $j.obj in.abut
        [ "$status" -eq 1 ]
        [ "$(grep -c 'of the way' <<< "$output")" -eq "$(grep -c '"kind"' $j.json)" ]
        [ "$(grep -c '^o ' $j.obj)" -eq "$(grep -c '"kind"' $j.json)" ]
    done
    [ "$(grep -c '"kind"' 1.json)" -gt 1 ]
    grep -q '"clean": false' 1.json
    grep -q '"object": "left"' 1.json
    cmp 1.json 2.json
    cmp 1.json 7.json
    cmp 1.obj 2.obj
    cmp 1.obj 7.obj
    run "$BIN/ccd-check" --static 1.obj     # what we write we can read
    [ "$status" -le 1 ]
}

@test "a full disk and a missing file have their own exit codes" {
    [ -e /dev/full ] || skip "no /dev/full"
    stream clean > in.abut
    run "$BIN/ccd-check" -q in.abut -o /dev/full; [ "$status" -eq 5 ]
    run "$BIN/ccd-check" -q --no-output --json /nonexistent/x.json in.abut; [ "$status" -eq 5 ]
    if [[ $BIN != *clang* ]]; then     # whose OpenMP writes a file of its own before ours
        run bash -c "ulimit -f 0; '$BIN/ccd-check' -q --no-output --json r.json in.abut"
        [ "$status" -eq 5 ]
    fi
    [ ! -e r.json.part ]
    mkfifo pipe
    timeout 5 cat pipe > got &
    run "$BIN/ccd-check" -q --no-output --json pipe in.abut; [ "$status" -eq 0 ]
    wait
    [ -p pipe ]
    grep -q '"clean": true' got
    run "$BIN/ccd-check" nowhere.abut; [ "$status" -eq 3 ]
}

@test "a sequence of meshes is judged as one motion after another" {
    square 0 > a.obj; square 0.5 > b.obj; square 1.5 > c.obj; square 2.5 > d.obj
    run "$BIN/ccd-check" a.obj b.obj; [ "$status" -eq 0 ]; [[ $output == *"2 configurations, 1 motion"* ]]
    run "$BIN/ccd-check" a.obj b.obj c.obj; [ "$status" -eq 1 ]; [[ $output == *"b.obj to c.obj, 0.5 of the way"* ]]
    run "$BIN/ccd-check" a.obj d.obj; [ "$status" -eq 1 ]
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > other.obj
    run "$BIN/ccd-check" a.obj other.obj; [ "$status" -eq 3 ]; [[ $output == *"not one mesh in motion"* ]]
    sed 's/^f 1 3 4/f 1 3 7/' a.obj > changed.obj
    run "$BIN/ccd-check" a.obj changed.obj; [ "$status" -eq 3 ]; [[ $output == *"a.obj and changed.obj differ in their elements"* ]]
    cp c.obj 'odd "name".obj'   # names of files are JSON texts
    run "$BIN/ccd-check" b.obj 'odd "name".obj' --json r.json; [ "$status" -eq 1 ]
    /usr/bin/env python3 -c 'import json; assert "odd \"name\".obj" in json.dumps(json.load(open("r.json"))).replace("\\\"", "\"")'
}

@test "--static names crossings, touches, folds, duplicates, flat and inverted elements" {
    square 1.5 > cross.obj
    run "$BIN/ccd-check" --static cross.obj; [ "$status" -eq 1 ]; [[ $output == *edge-triangle* ]]
    square 1 > touch.obj
    run "$BIN/ccd-check" --static touch.obj; [ "$status" -eq 1 ]
    square 0.5 > clean.obj
    run "$BIN/ccd-check" --static clean.obj; [ "$status" -eq 0 ]
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 1 0\nf 1 2 3\nf 1 2 4\n' > fold.obj
    run "$BIN/ccd-check" --static --all fold.obj; [ "$status" -eq 1 ]; [[ $output == *"folded triangles"* ]]
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 2 3 1\n' > twice.obj
    run "$BIN/ccd-check" --static twice.obj; [ "$status" -eq 1 ]; [[ $output == *"duplicate triangle"* ]]
    printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n' > flat.obj
    run "$BIN/ccd-check" --static flat.obj; [ "$status" -eq 1 ]; [[ $output == *"triangle without area"* ]]
    printf '8 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 5 0 0\n5 6 0 0\n6 5 1 0\n7 5 0 1\n' > t.node
    printf '2 4 0\n0 0 1 2 3\n1 4 6 5 7\n' > t.ele    # the second has its corners in the wrong order
    run "$BIN/ccd-check" --static t.ele; [ "$status" -eq 1 ]; [[ $output == *"inverted tet"* ]]
    run "$BIN/ccd-check" --static --all clean.obj touch.obj fold.obj; [ "$status" -eq 1 ]; [[ $output == *"3 configurations, 0 motions"* ]]
}

# the reference query: a vertex falls onto a face; the first row is (x, 1/4, 1)
query() {
    printf '%s,1,4,1,1,%d\n0,1,0,1,0,1,%d\n1,1,0,1,0,1,%d\n0,1,1,1,0,1,%d\n' "$1" $2 $2 $2 $2
    printf '%s,1,4,-1,1,%d\n0,1,0,1,0,1,%d\n1,1,0,1,0,1,%d\n0,1,1,1,0,1,%d\n' "$1" $2 $2 $2 $2
}

@test "the same elements in another order are the same mesh, a tet turned over is not" {
    square 0 > a.obj
    for z in 0.5 2.5; do    # triangles backwards, each from another corner
        { square $z | grep ^v; square $z | grep ^f | tac | sed 's/^f \([0-9]*\) \([0-9]*\) \([0-9]*\)/f \2 \3 \1/'; } > order-$z.obj
    done
    run "$BIN/ccd-check" a.obj order-0.5.obj; [ "$status" -eq 0 ]; [[ $output == *"2 configurations, 1 motion"* ]]
    run "$BIN/ccd-check" a.obj order-2.5.obj; [ "$status" -eq 1 ]; [[ $output == *"0.4 of the way"*"nodes 4 and 0 2 3"* ]]
    for f in t same over; do printf '5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n' > $f.node; done
    printf '2 4 0\n1 1 2 3 4\n2 2 3 4 5\n' > t.ele; printf '2 4 0\n1 3 4 2 5\n2 2 3 1 4\n' > same.ele
    printf '2 4 0\n1 2 1 3 4\n2 2 3 4 5\n' > over.ele
    run "$BIN/ccd-check" t.ele same.ele; [ "$status" -eq 0 ]
    run "$BIN/ccd-check" t.ele over.ele; [ "$status" -eq 3 ]; [[ $output == *"differ in their elements"* ]]
}

@test "--motion-only says when what touches already next comes into contact, and judges no configuration" {
    square 1.5 > cross.obj; square 2.5 > d.obj; square 1.75 > near.obj
    run "$BIN/ccd-check" cross.obj d.obj; [ "$status" -eq 1 ]; [[ $output == *"cross.obj: edge-triangle"*"0 motions"* ]]
    run "$BIN/ccd-check" --motion-only cross.obj d.obj
    [ "$status" -eq 1 ]
    [[ $output == *"cross.obj to d.obj, 0.5 of the way: vertex-triangle: nodes 6 and 0 1 2"*"0 configurations, 1 motion"* ]]
    run "$BIN/ccd-check" --motion-only cross.obj near.obj; [ "$status" -eq 0 ]
    judge start --motion-only; [ "$status" -eq 1 ]; [[ $output == *"step 0 (0 s) to step 1 (0.01 s), 0 of the way"*"0 configurations, "* ]]
    judge tunnel --motion-only; [ "$status" -eq 1 ]; [[ $output == *"step 1 (0.01 s) to step 2 (0.02 s)"* ]]
    for bad in "--static cross.obj" "--motion none start.abut" "cross.obj"; do
        run "$BIN/ccd-check" --motion-only $bad; [ "$status" -eq 2 ]; [[ $output == *"--motion-only"* ]]
    done
}

@test "a half-space that a vertex goes through is named in the report" {
    printf 'v 0 1 0\nv 1 1 0\nv 0 1 1\nv 0 2 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n' > tet.obj
    printf 'objects: {falls: {generate: {explicit: {points: [[0, 1, 0], [1, 1.5, 0], [0, 1.5, 1], [0, 2, 0]], tets: [[0, 2, 1, 3]]}}}, "a \\"floor\\"": {half-space: {normal: [0, 1, 0]}}}' > fall.yaml
    "$BIN/mesh-prep" -q fall.yaml -o fall.abut
    PYTHONPATH=$BATS_TEST_DIRNAME/../../formats/python "${PYTHON:-/usr/bin/python3}" - <<'P' || skip "no numpy"
import abut_stream as s
model, frame = s.read("fall.abut")
with s.Writer("through.abut") as w:
    w.model(model.arrays)
    for k in range(2):
        w.frame(k, 0.01 * k, {"node/x": s.Array(frame["node/x"] - [0, 1.25 * k, 0], "m"), "node/v": frame.arrays["node/v"]})
P
    run "$BIN/ccd-check" --no-output --motion-only --json r.json through.abut
    [ "$status" -eq 1 ]
    python3 -c '
import json
c = json.load(open("r.json"))["collisions"]
assert c[0]["half_space"] == "a \"floor\"", c
assert c[0]["toi"][0] <= 0.8 <= c[0]["toi"][1] + 1e-9 and c[0]["primitives"][0]["nodes"] == [0], c'
    for o in --static "--csv-queries --kind vf"; do
        run "$BIN/ccd-check" $o --curved 2 tet.obj; [ "$status" -eq 2 ]; [[ $output == *"--curved: expected a stream"* ]]
    done
    run "$BIN/ccd-check" --curved 2 tet.obj tet.obj; [ "$status" -eq 2 ]; [[ $output == *"--curved: expected a stream"* ]]
}

@test "--csv-queries --json writes the scores, and options of motions do not go with it" {
    { query 1,4 1; query 5,4 0; } > vertex-face.csv
    run "$BIN/ccd-check" --csv-queries vertex-face.csv --json scores.json
    [ "$status" -eq 0 ]
    /usr/bin/env python3 -c '
import json
s = json.load(open("scores.json"))
assert s["files"] == ["vertex-face.csv"] and [m["method"] for m in s["methods"]] == ["exact", "tight", "additive"], s
assert all(m["queries"] == 2 and m["false_negative"] == 0 for m in s["methods"]) and s["methods"][0]["true_positive"] == 1, s'
    run "$BIN/ccd-check" --csv-queries vertex-face.csv --json no/scores.json; [ "$status" -eq 5 ]
    for bad in "--write-hits h.obj" "--motion path" --motion-only --all; do
        run "$BIN/ccd-check" --csv-queries $bad vertex-face.csv; [ "$status" -eq 2 ]; [[ $output == *"${bad%% *}"* ]]
    done
}

@test "--csv-queries scores every method, and exits 1 when the truth says otherwise" {
    { query 1,4 1; query 5,4 0; query 3,4 1; } > vertex-face.csv
    run "$BIN/ccd-check" --csv-queries vertex-face.csv
    [ "$status" -eq 0 ]
    [[ $output == *$'exact\t3\t2\t1\t0\t0\t'* && $output == *$'tight\t3\t2\t1\t0\t0\t'* && $output == *$'additive\t3\t2\t1\t0\t0\t'* ]]
    { query 1,4 0; query 5,4 1; } > vertex-face.csv
    run "$BIN/ccd-check" --csv-queries --method exact vertex-face.csv
    [ "$status" -eq 1 ]
    [[ $output == *$'exact\t2\t0\t0\t1\t1\t'* && $output != *tight* ]]
}

@test "--csv-queries asks for the kind, and refuses damaged files with exit 3" {
    query 1,4 1 > q.csv
    run "$BIN/ccd-check" --csv-queries q.csv; [ "$status" -eq 2 ]; [[ $output == *--kind* ]]
    run "$BIN/ccd-check" --csv-queries --kind vf q.csv; [ "$status" -eq 0 ]
    head -5 q.csv > cut.csv
    run "$BIN/ccd-check" --csv-queries --kind vf cut.csv; [ "$status" -eq 3 ]; [[ $output == *"5 of 8 rows"* ]]
    sed '3s/1/x/' q.csv > bad.csv
    run "$BIN/ccd-check" --csv-queries --kind vf bad.csv; [ "$status" -eq 3 ]; [[ $output == *"line 3, column 1"* ]]
}

@test "public sample queries: no method misses a contact, the exact one is never wrong" {
    [ -d "$data/ccd-queries" ] || skip "public sample queries: no data"
    mapfile -t files < <(find "$data/ccd-queries" -name '*.csv' | sort)
    run "$BIN/ccd-check" --csv-queries "${files[@]}"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(awk '$1 == "exact" { print $5 + $6 }' <<< "$output")" -eq 0 ]
    [ "$(awk 'NR > 1 { miss += $6; n++ } END { print miss + 100 * (n != 3) }' <<< "$output")" -eq 0 ]
}

@test "objects in one group may overlap, and ccd-check says how many pairs it leaves out, by the array of the model" {
    cat > in.yaml <<'Y'
time: {step: 0.01 s}
contact: {dhat: 1 mm}
objects:
  a: {generate: {box: {size: [0.3, 0.2, 0.3], cells: [1, 1, 1]}}, translate: [0, 1, 0], groups: [one]}
  b: {generate: {box: {size: [0.3, 0.2, 0.3], cells: [1, 1, 1]}}, frame: true, translate: [0.1, 1.1, 0.05], groups: [one]}
  c: {generate: {box: {size: [0.3, 0.2, 0.3], cells: [1, 1, 1]}}, frame: true, translate: [0.1, 0.8, 0.05], groups: [other]}
Y
    exits 3 "$BIN/mesh-prep" in.yaml -o x.abut
    sed -i 's/other/other, one/' in.yaml
    exits 0 "$BIN/mesh-prep" -e in.yaml -o x.abut
    says "3 pairs of objects that do not meet"
    "$BIN/step" -q -n 3 x.abut -o run.abut
    exits 0 "$BIN/ccd-check" --json report.json --no-output run.abut
    says "3 pairs of objects that do not meet (groups, joints) left out"
    grep -F '"excluded_pairs": 3,' report.json
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
model, *frames = list(abut_stream.read("run.abut"))
del model.arrays["contact/excluded"]
with abut_stream.Writer("all.abut") as out:
    out.prov("all", "1.0")
    out.model(model.arrays)
    for f in frames:
        out.frame(f.step, f.time, f.arrays)
P
    exits 1 "$BIN/ccd-check" --no-output all.abut
    sed 's/frame: true, //' in.yaml | "$BIN/mesh-prep" -q -o soft.abut
    exits 3 "$BIN/step" -n 1 soft.abut --device twin -o y.abut
    says "expected no groups"
}
