#!/usr/bin/env bats
# step --solver pd, mass-springs: constant matrix, no barrier, and honest about it.
load helpers

setup_file() {
    cat > "$BATS_FILE_TMPDIR/arm.yaml" <<'Y'
abut: 1
time: {step: 0.01 s}
tolerance: 1e-9 m/s
materials: {soft: {model: arap, density: 1000, young: 3e4}}
objects: {arm: {generate: {box: {size: [0.6, 0.2, 0.2], cells: [6, 2, 2]}}}}
motion: [{select: {object: arm, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}]
Y
    "${BIN:-bin}"/mesh-prep -q "$BATS_FILE_TMPDIR/arm.yaml" -o "$BATS_FILE_TMPDIR/arm.abut"
}
setup() { arm=$BATS_FILE_TMPDIR/arm.abut; cd "$BATS_TEST_TMPDIR"; }

@test "pd restarts with the same bytes, and any number of threads gives them" {
    "$BIN/step" -q --solver pd --contact ignore -j 1 -n 20 "$arm" -o whole.abut
    "$BIN/step" -q --solver pd --contact ignore -j 3 -n 7 "$arm" | "$BIN/step" -q --solver pd --contact ignore -j 2 -n 13 -o halves.abut
    cmp whole.abut halves.abut
}

@test "pd that converges meets newton, ten iterations come near, two less so" {
    skip_without_numpy
    "$BIN/step" -q -n 20 "$arm" -o newton.abut
    for n in 2 10 converged; do
        "$BIN/step" -q --solver pd --contact ignore --iterations $n -n 20 --report $n.jsonl "$arm" -o $n.abut
    done
    "$PYTHON" - "$ROOT" <<'P'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
x = {s: [f["node/x"] for f in abut_stream.read(s + ".abut") if f.kind == "frame"][-1] for s in ("newton", "2", "10", "converged")}
off = {s: abs(x[s] - x["newton"]).max() for s in x}
assert off["converged"] < 1e-8 and off["10"] < 1e-3 and off["10"] < 0.2 * off["2"], off
rows = [json.loads(l) for l in open("10.jsonl")]
assert all(r["newton_iterations"] == 10 and r["contact"] == "ignored: nothing is guaranteed" for r in rows)
P
}

@test "contact has to be decided about, and the run says what became of it" {
    exits 3 "$BIN/step" --solver pd "$arm" -o o.abut
    says "expected a choice of what becomes of them"
    [ ! -e o.abut ]
    exits 0 "$BIN/step" --solver pd --contact ignore "$arm" -o o.abut
    says "nothing guarantees that these frames are free of intersections"
}

@test "options that do not fit are refused with exit 2" {
    exits 2 "$BIN/step" --solver pd --contact hope "$arm" -o o.abut
    says "want ignore or springs"
    exits 2 "$BIN/step" --solver pd --iterations 0 "$arm" -o o.abut
    says "'converged'"
    exits 2 "$BIN/step" --solver pd --one-pass "$arm" -o o.abut
    says "knows no --one-pass"
    exits 2 "$BIN/step" --iterations 3 "$arm" -o o.abut
    says "not for newton"
    exits 3 "$BIN/step" --solver mass-springs --contact ignore "$arm" -o o.abut
    says "expected springs and attachments alone"
}

@test "what had to converge and did not is exit 4, and leaves no output" {
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/arm.yaml" --set tolerance='1e-30 m/s' -o tight.abut
    exits 4 timeout 120 "$BIN/step" --solver pd --contact ignore --iterations converged tight.abut -o o.abut
    says "not converged after 100000 iterations"
    [ ! -e o.abut ]
}
