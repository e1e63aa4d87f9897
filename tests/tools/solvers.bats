#!/usr/bin/env bats
# step --solver: every way to solve a step ends on the same state, keeps every promise, and repeats itself.
load helpers

# two boxes of several Schwarz parts each, on each other and on a floor, about to meet
setup_file() {
    "${BIN:-bin}"/mesh-prep -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-6 m/s' \
        -o "$BATS_FILE_TMPDIR/pile.abut"
}
setup() { pile=$BATS_FILE_TMPDIR/pile.abut; cd "$BATS_TEST_TMPDIR"; }

@test "newton-cg meets newton to the tolerance, in contact with friction, and ccd-check finds both free" {
    skip_without_numpy
    for s in newton newton-cg; do
        "$BIN/step" -q --solver $s -n 8 --report $s.jsonl "$pile" | "$BIN/ccd-check" -q -o $s.abut
    done
    "$PYTHON" - "$ROOT" <<'P'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
a, b = ([f for f in abut_stream.read(s + ".abut") if f.kind == "frame"] for s in ("newton", "newton-cg"))
rows = [json.loads(l) for l in open("newton-cg.jsonl")]
assert rows[-1]["contacts"] > 20 and all(r["cg_iterations"] > r["newton_iterations"] for r in rows)
for m, n in zip(a, b):      # a step may be off by h tolerance, and steps add up; contact amplifies
    assert abs(m["node/x"] - n["node/x"]).max() <= 100 * 0.01 * 1e-6 * max(1, m.step), m.step
P
}

@test "newton-cg restarts with the same bytes, and any number of threads gives them" {
    "$BIN/step" -q --solver newton-cg -j 1 -n 6 "$pile" -o whole.abut
    "$BIN/step" -q --solver newton-cg -j 3 -n 3 "$pile" | "$BIN/step" -q --solver newton-cg -j 2 -n 3 -o halves.abut
    cmp whole.abut halves.abut
}

@test "a solver that nobody knows is refused with those that are known" {
    exits 2 "$BIN/step" --solver newtonian "$pile" -o o.abut
    says "newton-cg"
}
