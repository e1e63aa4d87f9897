#!/usr/bin/env bats
# springs: a net of springs in place of elements, solved by Newton with the barrier and by fast mass-springs without.
load helpers

setup_file() {
    cat > "$BATS_FILE_TMPDIR/arm.yaml" <<'Y'
abut: 1
time: {step: 0.01 s}
tolerance: 1e-9 m/s
objects: {arm: {generate: {box: {size: [0.6, 0.2, 0.2], cells: [3, 1, 1]}}}}
motion: [{select: {object: arm, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}]
Y
    "${BIN:-bin}"/mesh-prep -q "$BATS_FILE_TMPDIR/arm.yaml" -o "$BATS_FILE_TMPDIR/arm.abut"
}
setup() { arm=$BATS_FILE_TMPDIR/arm.abut; cd "$BATS_TEST_TMPDIR"; }

@test "springs stand on every edge once, as long as it is, and take the place of elements" {
    skip_without_numpy
    "$BIN/springs" -q --stiffness 300 "$arm" -o both.abut
    "$BIN/springs" -q --stiffness 300 --replace "$arm" -o net.abut
    "$PYTHON" - "$ROOT" <<'P'
import itertools, sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
both, net = (next(f for f in abut_stream.read(s + ".abut") if f.kind == "model") for s in ("both", "net"))
want = {tuple(sorted(p)) for t in both["tet/node"] for p in itertools.combinations(t.tolist(), 2)}
for m in both, net:
    got = [tuple(p) for p in m["spring/node"].tolist()]
    assert len(got) == len(set(got)) and set(got) == want
    X = m["node/X"]
    assert np.allclose(m["spring/length"], [np.linalg.norm(X[a] - X[b]) for a, b in got]) and (m["spring/stiffness"] == 300).all()
assert "tet/node" not in net.arrays and "tet/node" in both.arrays and "contact/triangle" in net.arrays
P
}

@test "newton with the barrier and converged mass-springs end on the same net; restarts are the same bytes" {
    skip_without_numpy
    "$BIN/springs" -q --stiffness 2000 --replace "$arm" -o net.abut
    "$BIN/step" -q -n 10 net.abut | "$BIN/ccd-check" -q -o newton.abut
    "$BIN/step" -q --solver mass-springs --contact ignore --iterations converged -n 10 net.abut -o ms.abut
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
a, b = ([f["node/x"] for f in abut_stream.read(s + ".abut") if f.kind == "frame"][-1] for s in ("newton", "ms"))
assert abs(a - b).max() < 1e-8 and a[:, 1].min() < 0, abs(a - b).max()
P
    "$BIN/step" -q --solver mass-springs --contact ignore -n 6 net.abut -o whole.abut
    "$BIN/step" -q --solver mass-springs --contact ignore -n 2 net.abut |
        "$BIN/step" -q --solver mass-springs --contact ignore -n 4 -o halves.abut
    cmp whole.abut halves.abut
}

@test "springs that are there stay, before the new ones; across hinges and bends others resist bending" {
    skip_without_numpy
    cat > thin.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
objects:
  cloth: {generate: {cloth: {size: [0.3, 0.2], cells: [3, 2]}}, shell: {thickness: 1 mm}}
  rod: {generate: {rod: {length: 0.4, cells: 4}}, rod: {radius: 4 mm}, translate: [0, 0.1, 0]}
Y
    "$BIN/mesh-prep" -q thin.yaml | "$BIN/springs" -q --stiffness 300 --across 20 |
        "$BIN/springs" -q --stiffness 40 -o twice.abut
    "$PYTHON" - "$ROOT" <<'P'
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
m = next(f for f in abut_stream.read("twice.abut") if f.kind == "model")
pair = lambda a, b: (min(a, b), max(a, b))
sides = {}
for t in m["shell/node"].tolist():
    for k in range(3):
        sides.setdefault(pair(t[k], t[k - 1]), []).append(t[k - 2])
edges = set(sides) | {pair(*r) for r in m["rod/node"].tolist()}
across = {pair(*c) for c in sides.values() if len(c) == 2} | {pair(b[0], b[2]) for b in m["bend/node"].tolist()}
got, k = [pair(*p) for p in m["spring/node"].tolist()], m["spring/stiffness"]
n = len(edges) + len(across - edges)
assert len(got) == n + len(edges) and across - edges and len(m["bend/node"]) == 3
assert set(got[n:]) == edges and (k[n:] == 40).all()
assert {p for p, s in zip(got[:n], k) if s == 300} == edges and {p for p, s in zip(got[:n], k) if s == 20} == across - edges
X = m["node/X"]
assert np.allclose(m["spring/length"], [np.linalg.norm(X[a] - X[b]) for a, b in got])
P
}

@test "springs take the place of elements of a spline material" {
    cat > spline.yaml <<'Y'
abut: 1
materials: {m: {model: spline, spline: {stretch: [0.5, 1, 1.5], a: [-1e4, 0, 1e4], b: [0, 0, 0], c: [-1e4, 0, 1e4]}}}
objects: {arm: {generate: {box: {size: [0.6, 0.2, 0.2], cells: [3, 1, 1]}}, material: m}}
Y
    "$BIN/mesh-prep" -q spline.yaml | "$BIN/springs" -q --stiffness 300 --replace | "$BIN/step" -q -n 1 -o /dev/null
}

@test "springs refuses what makes none" {
    exits 2 "$BIN/springs" "$arm" -o o.abut
    says "--stiffness N/m must be given"
    exits 2 "$BIN/springs" --stiffness -3 "$arm" -o o.abut
    exits 2 "$BIN/springs" --stiffness 3 --across -1 "$arm" -o o.abut
    "$BIN/springs" -q --stiffness 3 --replace "$arm" -o net.abut
    exits 3 "$BIN/springs" --stiffness 3 net.abut -o o.abut
    says "no edges of tets, shells or rods"
}
