#!/usr/bin/env bats
# decompose: cuts the tetrahedra of each model into connected parts along few faces.
load helpers

# a box of 8 x 8 x 8 cells, 3072 tets, 729 nodes, and a stream without tets: made once
setup_file() {
    cat > "$BATS_FILE_TMPDIR/box.yaml" <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l}
materials:
  jelly: {model: neo-hookean, density: 1000, young: 3e4, poisson: 0.4}
objects:
  box: {generate: {box: {size: [1, 1, 1], cells: [8, 8, 8]}}, material: jelly}
Y
    "${BIN:-bin}"/mesh-prep "$BATS_FILE_TMPDIR/box.yaml" -o "$BATS_FILE_TMPDIR/box.abut"
}
setup() { box=$BATS_FILE_TMPDIR/box.abut; cd "$BATS_TEST_TMPDIR"; }

figure() { # name: its value in the JSON of the last model
    sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" figures.json | tail -1
}

@test "decompose --help names its options and exits 0" {
    run "$BIN/decompose" --help
    [ "$status" -eq 0 ]
    [[ $output == *--parts* && $output == *--target-size* && $output == *--json* ]]
}

@test "decompose adds both arrays and reports balance, cut and interface" {
    run "$BIN/decompose" -k 4 --json figures.json "$box" -o cut.abut
    [ "$status" -eq 0 ]
    [[ $output == *"4 parts of 3072 tets"* && $output == *"faces cut"* && $output == *"nodes on interfaces"* ]]
    grep -aq part/element cut.abut
    grep -aq part/count cut.abut
    [ "$(figure parts)" -eq 4 ]
    [ "$(figure split_parts)" -eq 0 ]
    [ "$(figure largest)" -le 845 ]         # 1.1 of the mean
    [ "$(figure cut)" -gt 0 ]
    [ "$(figure cut)" -lt $(($(figure faces) / 10)) ]
    [ "$(figure interface_nodes)" -lt 365 ] # half of all
}

@test "a few tets are cut into as many parts as none is empty, unless a number is asked for" {
    for cells in 1,1,1 2,1,1 3,1,1; do
        printf 'objects: {b: {generate: {box: {size: [1, 1, 1], cells: [%s]}}}}\n' $cells > few.yaml
        "$BIN/mesh-prep" -q few.yaml -o few.abut
        for option in "" "--target-size 1"; do
            exits 0 "$BIN/decompose" $option --json figures few.abut -o cut.abut
            [ "$(grep -o '"smallest": [0-9]*' figures | cut -d' ' -f2)" -ge 1 ]
        done
    done
    "$BIN/mesh-prep" -q few.yaml --set objects.b.generate.box.cells=[1,1,1] -o few.abut
    exits 2 "$BIN/decompose" -k 6 few.abut -o cut.abut
    says "cutting 6 tets into 6 parts leaves one empty: want fewer parts"
}

@test "one part cuts nothing" {
    "$BIN/decompose" -q -k 1 --json figures.json "$box" -o cut.abut
    [ "$(figure cut)" -eq 0 ]
    [ "$(figure interface_nodes)" -eq 0 ]
}

@test "a target size gives as many parts as hold that many nodes" {
    "$BIN/decompose" -q --target-size 100 --json figures.json "$box" -o cut.abut
    [ "$(figure parts)" -eq 8 ]
}

@test "the partition is the same for every thread count and every time" {
    for j in 1 2 7; do "$BIN/decompose" -q -j $j -k 5 "$box" -o $j.abut; done
    cmp 1.abut 2.abut
    cmp 1.abut 7.abut
}

@test "a new partition replaces the old one" {
    "$BIN/decompose" -q -k 3 "$box" | "$BIN/decompose" -q -k 5 -o twice.abut
    "$BIN/decompose" -q -k 5 "$box" -o once.abut
    for f in twice once; do "$BIN/export" --dump --array 'part/*' $f.abut | grep -v ^prov > $f; done
    grep part/element once
    cmp twice once
}

@test "the arrays of the model and its frames pass through unchanged" {
    "$BIN/decompose" -q -k 2 "$box" -o cut.abut
    "$BIN/export" --dump --array 'node/*' --array 'tet/*' "$box" | sed 1,/node/d >before
    "$BIN/export" --dump --array 'node/*' --array 'tet/*' cut.abut | sed 1,/node/d >after
    [ "$(wc -l <before)" -gt 2000 ]
    cmp before after
}

@test "senseless requests exit 2 and say why" {
    for bad in "-k 0" "-k -3" "--target-size 0" "-k 2 --target-size 10" "-k 4000"; do
        run "$BIN/decompose" $bad "$box" -o no.abut
        [ "$status" -eq 2 ]
        [ ! -e no.abut ]
    done
    [[ $output == *"4000 parts of 3072 tets, want 1 .. 3072"* ]]
}

@test "a cut stream exits 3 and a JSON file that cannot be made exits 5" {
    head -c 4000 "$box" > short.abut
    run "$BIN/decompose" short.abut -o no.abut
    [ "$status" -eq 3 ]
    [ ! -e no.abut ]
    run "$BIN/decompose" --json nowhere/figures.json "$box" -o no.abut
    [ "$status" -eq 5 ]
    [ ! -e no.abut ]
}

@test "recursive bisection, cuts by nodes and weights make other partitions, each balanced in its own way" {
    skip_without_numpy
    for o in "--method kway" "--method recursive" "--by nodes" "--by nodes --method recursive" "--by nodes --weights node/mass"; do
        "$BIN/decompose" -q -k 4 $o --json figures.json "$box" -o "cut${o//[ \/]/}.abut"
        [ "$(figure split_parts)" -eq 0 ]
        awk -v b="$(figure balance)" 'BEGIN { exit !(b >= 1 && b < 1.2) }'
        "$BIN/export" --dump --array 'part/*' "cut${o//[ \/]/}.abut" | grep -v ^prov | cksum >>sums
    done
    [ "$(sort -u sums | wc -l)" -eq 5 ]
    exits 1 grep -aq part/node "cut--methodkway.abut"
    grep -aq part/node "cut--bynodes.abut"
    exits 2 "$BIN/decompose" --method spectral "$box" -o x.abut
    says "know kway and recursive"
    exits 2 "$BIN/decompose" -k 0 "$box" -o x.abut
    says "at least 1 part"
    exits 2 "$BIN/decompose" --by faces "$box" -o x.abut
    says "know elements and nodes"
    exits 2 "$BIN/decompose" --weights node/mass "$box" -o x.abut
    says "one number for each tet"
}

@test "weights of tets are those of the numbers that the stream gives them" {
    skip_without_numpy
    "$PYTHON" - "$ROOT" "$box" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream, numpy
model, frame = list(abut_stream.read(sys.argv[2]))
model.arrays["my/weight"] = numpy.arange(3072.0)
with abut_stream.Writer("weighed.abut") as out:
    out.model(model.arrays)
    out.frame(frame.step, frame.time, frame.arrays)
P
    "$BIN/decompose" -q -k 4 --weights my/weight --json figures.json weighed.abut -o cut.abut
    "$PYTHON" - "$ROOT" "$(figure balance)" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream, numpy
sums = numpy.bincount(next(iter(abut_stream.read("cut.abut")))["part/element"], numpy.arange(3072.0))
assert len(sums) == 4 and abs(sums.max() * 4 / sums.sum() - float(sys.argv[2])) < 1e-12 and float(sys.argv[2]) < 1.1, sums
P
}

@test "a partition is drawn: part/element is cell data of the VTU" {
    skip_without_numpy
    "$BIN/decompose" -q -k 4 "$box" | "$BIN/export" -q --vtu out
    grep -aq 'Name="part/element"' out/*.vtu
}
