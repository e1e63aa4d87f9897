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
    printf 'abut: 1\nobjects: {a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, proxy: {segments: 2}}}\n' > proxy.yaml
    "$BIN/mesh-prep" -q proxy.yaml | "$BIN/step" -q --solver pd --contact ignore -n 2 -o proxy.abut    # no springs, no node they need
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

@test "pd with a history comes nearer in ten iterations than without, restarts and repeats itself for any number of threads" {
    skip_without_numpy
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/arm.yaml" --set materials.soft.model=neo-hookean -o neo.abut
    "$BIN/step" -q -n 12 neo.abut -o newton.abut
    for h in 0 2 5; do
        "$BIN/step" -q --solver pd --contact ignore --history $h --iterations 10 -n 12 --report $h.jsonl neo.abut -o $h.abut
    done
    "$BIN/step" -q --solver pd --contact ignore --history 5 -n 12 neo.abut -o whole.abut
    "$BIN/step" -q --solver pd --contact ignore --history 5 -j 3 -n 5 neo.abut |
        "$BIN/step" -q --solver pd --contact ignore --history 5 -j 2 -n 7 -o halves.abut
    cmp whole.abut halves.abut
    "$BIN/step" -q --solver pd --contact ignore --fit-interval 0.5:1.5 -n 12 neo.abut -o same.abut
    same_end 0.abut same.abut
    "$BIN/step" -q --solver pd --contact ignore --fit-interval 0.8:1.2 -n 12 neo.abut -o other.abut
    exits 1 same_end 0.abut other.abut
    "$PYTHON" - "$ROOT" <<'P'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
x = {s: [f["node/x"] for f in abut_stream.read(s + ".abut") if f.kind == "frame"][-1] for s in ("newton", "0", "2", "5")}
off = {s: abs(x[s] - x["newton"]).max() for s in x}
assert off["5"] < 0.1 * off["0"] and off["2"] < 0.2 * off["0"] and 0 < off["0"] < 0.05, off
for s in "025":
    rows = [json.loads(l) for l in open(s + ".jsonl")]
    assert all(r["newton_iterations"] == r["fixed_iterations"] == 10 and "convergence" in r["not_guaranteed"] for r in rows)
    assert all(it[2] > 0 and it[5] > -1e-9 for r in rows for it in r["iterations"])     # the objective falls in each
P
}

@test "--history and --fit-interval go with the solvers that have them, and their values are checked" {
    exits 2 "$BIN/step" -q --solver admm-pd --contact ignore --history 5 "$arm" -o x.abut
    exits 2 "$BIN/step" -q --solver mass-springs --contact ignore --fit-interval 0.5:1.5 "$arm" -o x.abut
    for bad in 0.5 0.5:0.9 1.2:1.5 0:2 -1:2 a:b 0.5:1.5x 0.5:1000 '' ; do
        exits 2 "$BIN/step" -q --solver pd --contact ignore --fit-interval "$bad" "$arm" -o x.abut
    done
    run "$BIN/step" -q --solver pd --contact ignore --fit-interval 1.2:1.5 "$arm" -o x.abut
    [[ $output == *"--fit-interval 1.2:1.5: want LOW:HIGH with 0 < LOW < 1 < HIGH"* ]]
}

@test "shells and hinges, also with pressure from one side: pd that converges meets newton" {
    skip_without_numpy
    cat >cloth.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
tolerance: 1e-8 m/s
materials: {cotton: {density: 472.6, young: 20 kPa, poisson: 0.243, model: stvk}}
objects: {cloth: {generate: {cloth: {size: [0.5, 0.5], cells: [6, 6]}}, shell: {thickness: 0.5 mm}}}
motion: [{select: {object: cloth, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}]
Y
    for p in 0 8; do
        "$BIN/mesh-prep" -q cloth.yaml --set objects.cloth.shell.pressure="$p" -o cloth.abut
        "$BIN/step" -q -n 6 cloth.abut -o newton$p.abut
        "$BIN/step" -q --solver pd --contact ignore --iterations converged -n 6 cloth.abut -o pd$p.abut
    done
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
x = {s: [f["node/x"] for f in abut_stream.read(s + ".abut") if f.kind == "frame"][-1] for s in ("newton0", "pd0", "newton8", "pd8")}
for p in "08":
    assert abs(x["newton" + p] - x["pd" + p]).max() < 1e-7, abs(x["newton" + p] - x["pd" + p]).max()
assert x["pd0"][:, 1].min() < -1e-3 and x["pd8"][:, 1].max() > 1e-3    # it weighs 2.3 Pa
P
}

@test "admm-pd, admm-dd and pd stop at the characteristic norm that is asked for, near each other" {
    skip_without_numpy
    for s in admm-pd "admm-dd --parts 3" pd; do
        "$BIN/step" -q --solver $s --contact ignore --stop cn --tolerance 1e-8 -n 3 --report "${s%% *}.jsonl" "$arm" -o "${s%% *}.abut"
    done
    "$PYTHON" - "$ROOT" <<'P'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
names = ("admm-pd", "admm-dd", "pd")
a, b, c = ([f["node/x"] for f in abut_stream.read(s + ".abut") if f.kind == "frame"][-1] for s in names)
n = [sum(json.loads(l)["newton_iterations"] for l in open(s + ".jsonl")) for s in names]
assert all(0 < json.loads(l)["characteristic_norm"] <= 1e-8 for s in names for l in open(s + ".jsonl"))
assert max(abs(a - c).max(), abs(b - c).max()) < 1e-6 and min(n) > 6, (abs(a - c).max(), abs(b - c).max(), n)
P
}

@test "admm-dd restarts with the same bytes, and any number of threads gives them; the partition of decompose is another" {
    local dd="--solver admm-dd --contact ignore --tolerance 1e-7"
    "$BIN/step" -q $dd --parts 3 -j 1 -n 6 "$arm" -o whole.abut
    "$BIN/step" -q $dd --parts 3 -j 3 -n 2 "$arm" | "$BIN/step" -q $dd --parts 3 -j 2 -n 4 -o halves.abut
    cmp whole.abut halves.abut
    "$BIN/decompose" -q --parts 5 "$arm" -o cut.abut
    "$BIN/step" -q $dd -n 2 --report cut.jsonl cut.abut -o x.abut
    "$BIN/step" -q $dd -n 2 --report own.jsonl "$arm" -o x.abut
    [ "$(grep -o '"newton_iterations":[0-9]*' cut.jsonl | head -1)" != "$(grep -o '"newton_iterations":[0-9]*' own.jsonl | head -1)" ]
}

@test "a step that ends beyond the numbers of a frame is given up, and what was written before it stays" {
    cat > fast.yaml <<'Y'
abut: 1
time: {step: 10 s}
contact: off
materials: {m: {model: fixed-corotated, young: 1e5}}
objects: {a: {generate: {box: {size: [0.5, 0.08, 0.1], cells: [4, 2, 2]}}, velocity: [5e49, 0, 0]}}
Y
    "$BIN/mesh-prep" -q fast.yaml -o fast.abut
    exits 4 "$BIN/step" --solver admm-dd --contact ignore -n 2 fast.abut -o x.abut
    says "the step ends with coordinates of "
    says "m, at most 1e+50 is possible"
    [ ! -e x.abut ]
    "$BIN/salvage" -q x.abut.part -o y.abut
    [ "$("$BIN/export" --dump --no-data y.abut | grep -c ^frame)" -eq 1 ]
}

@test "the report of a free body that turns has its momenta and kinetic energy, by pd as by newton" {
    cat >turns.yaml <<'Y'
abut: 1
contact: off
time: {step: 1 ms}
gravity: [0, 0, 0]
materials: {soft: {model: arap, density: 1000, young: 1e6}}
objects: {box: {material: soft, velocity: [1, 2, 3], generate: {box: {size: [0.3, 0.2, 0.1], cells: [2, 2, 1]}},
                angular-velocity: {axis: [1, 2, 3], rate: 2 rad/s}}}
Y
    "$BIN/mesh-prep" -q turns.yaml -o turns.abut
    for solver in newton pd; do "$BIN/step" -q --solver $solver -n 3 --report $solver.jsonl turns.abut -o run.abut; done
    python3 - <<'P'
import json
newton, pd = ([r for r in map(json.loads, open(f + ".jsonl")) if "kinetic_energy" in r][-1] for f in ("newton", "pd"))
for key in ("momentum", "angular_momentum"):
    for a, b in zip(newton[key], pd[key]):
        assert abs(a - b) < 1e-3 * max(map(abs, newton[key])), (key, newton[key], pd[key])
assert max(map(abs, newton["angular_momentum"])) > 1e-3
assert abs(newton["kinetic_energy"] - pd["kinetic_energy"]) < 1e-3 * newton["kinetic_energy"]
P
}

@test "pd goes on until nothing moves faster than --tolerance" {
    skip_without_numpy
    for t in 1e-2 1e-6; do
        "$BIN/step" -q --solver pd --contact ignore --tolerance $t -n 3 --report $t.jsonl "$arm" -o o.abut
    done
    "$PYTHON" - <<'P'
import json
coarse, fine = ([json.loads(l) for l in open(t + ".jsonl")] for t in ("1e-2", "1e-6"))
assert all(r["residual"] <= 1e-2 for r in coarse) and all(r["residual"] <= 1e-6 for r in fine)
assert all(0 < r["force_residual"] <= 1e-3 for r in coarse + fine)
assert sum(r["newton_iterations"] for r in fine) > sum(r["newton_iterations"] for r in coarse) > 6
P
}

# hangs NAME GENERATOR BODY YOUNG: NAME.abut, held at one end under gravity, and what newton makes of 20 steps
hangs() {
    cat > hangs.yaml <<Y
time: {step: 0.01 s}
contact: off
materials: {m: {model: neo-hookean, density: 1000, young: $4, poisson: 0.3}}
objects: {b: {generate: $2, material: m$3}}
motion: [{select: {object: b, relative-box: [[0, 0, 0], [0.26, 1, 1]]}, fix: true}]
Y
    "$BIN/mesh-prep" -q hangs.yaml -o $1.abut
    if [ $1 = net ]; then "$BIN/springs" -q --replace --stiffness 100 --across 1 shell.abut -o net.abut; fi
    "$BIN/step" -q --tolerance 1e-6 --force-tolerance 1e-6 -n 20 $1.abut -o $1.newton
}

@test "converged steps at default tolerances move as newton's do within 1 %; ten iterations say what they left" {
    skip_without_numpy
    hangs box '{box: {size: [0.2, 0.05, 0.05], cells: [4, 1, 1]}}' '' 1e5
    hangs shell '{cloth: {size: [0.2, 0.1], cells: [4, 2]}}' ', shell: {thickness: 1 mm}' 1e7
    hangs rod '{rod: {length: 0.2, cells: 6}}' ', rod: {radius: 1 mm}' 1e8
    hangs net '{cloth: {size: [0.2, 0.1], cells: [4, 2]}}' ', shell: {thickness: 1 mm}' 1e7
    for row in "box pd" "box admm-pd" "box admm-dd" "box pd --history 0" "shell pd" "rod pd" "net mass-springs" "net admm-pd"; do
        set -- $row
        "$BIN/step" --solver "${@:2}" --iterations converged -n 20 --report r.jsonl $1.abut -o "$1.last" 2>said
        exits 1 grep "is left" said
        "$PYTHON" - "$ROOT" "$1" "$row" <<'P'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
a, b = ([f["node/x"] for f in abut_stream.read(sys.argv[2] + s) if f.kind == "frame"] for s in (".newton", ".last"))
off, far = abs(a[-1] - b[-1]).max(), abs(a[-1] - a[0]).max()
assert off < 0.01 * far and far > 1e-3, (sys.argv[3], off, far)
assert all(json.loads(l)["force_residual"] <= 1e-3 for l in open("r.jsonl")), sys.argv[3]
P
    done
    exits 0 "$BIN/step" --solver pd -n 20 box.abut -o ten.abut
    says "no test of convergence ended the steps: up to 0."
    says "of the largest force on a body is left"
    exits 0 "$BIN/step" --solver qp -n 20 --report r.jsonl box.abut -o qp.abut
    says "no test of convergence ended the steps: up to 0."
    grep -q '"force_residual":0.0' r.jsonl
    exits 0 "$BIN/step" --iterations 1 -n 20 box.abut -o one.abut
    says "of the largest force on a body is left"
}

@test "pd takes the twist of a curved rod along: its frames follow a scripted end as newton's do, in one go or two" {
    skip_without_numpy
    cat > wire.yaml <<'Y'
time: {step: 5 ms}
gravity: [0, 0, 0]
tolerance: 1e-7 m/s
contact: {dhat: 1 um}
materials: {wire: {density: 1300, young: 1e7, bending-young: 1e7, poisson: 0.3}}
objects:
  wire: {generate: {rod: {length: 0.2, cells: 8}}, material: wire, rod: {radius: 2 mm, curved: true}}
motion:
  - {select: {object: wire, relative-box: [[0, 0, 0], [0.2, 1, 1]]}, rotate: {axis: [0, 0.6, 0.8], center: [0, 0, 0], rate: 360 deg/s}}
Y
    "$BIN/mesh-prep" -q wire.yaml | "$BIN/step" -q -n 2 -o a.abut
    "$BIN/step" -q -n 6 a.abut -o newton.abut
    "$BIN/step" -q --solver pd --contact ignore --iterations converged -n 6 a.abut -o pd.abut
    "$BIN/step" -q --solver pd --contact ignore --iterations converged -n 3 a.abut |
        "$BIN/step" -q --solver pd --contact ignore --iterations converged -n 3 | cmp - pd.abut
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - <<'P'
import abut_stream
a, b = ([f["rod/frame"] for f in abut_stream.read(s + ".abut") if "rod/frame" in f.arrays] for s in ("newton", "pd"))
assert len(a) == len(b) == 8, (len(a), len(b))
assert abs(b[-1] - b[0]).max() > 0.05, "the frames stay where they were"
assert max(abs(p - q).max() for p, q in zip(a, b)) < 1e-3
P
}

@test "contact has to be decided about, and the run says what became of it" {
    exits 3 "$BIN/step" --solver pd "$arm" -o o.abut
    says "expected a choice of what becomes of them"
    [ ! -e o.abut ]
    exits 0 "$BIN/step" --solver pd --contact ignore "$arm" -o o.abut
    says "solver pd guarantees nothing about intersections, inversions, convergence"
    "$BIN/step" -q --solver pd --contact ignore --report r.jsonl "$arm" -o o.abut
    grep -q '"not_guaranteed":\["intersections","inversions","convergence"\],"contact":"ignored' r.jsonl
    "$BIN/step" -q --report r.jsonl "$arm" -o o.abut
    grep -q '"not_guaranteed":\[\]' r.jsonl
}

@test "options that do not fit are refused with exit 2" {
    exits 2 "$BIN/step" --solver pd --contact hope "$arm" -o o.abut
    says "know ignore, springs"
    exits 2 "$BIN/step" --solver pd --iterations 0 "$arm" -o o.abut
    says "'converged'"
    exits 2 "$BIN/step" --solver pd --one-pass "$arm" -o o.abut
    says "--one-pass: for --solver newton, newton-cg, lbfgs-h, dot, lbfgs-pd, lbfgs-jh, lbfgs-ic, gradient, lbfgs-rest, lbfgs-warped, lbfgs-id, not for pd"
    exits 2 "$BIN/step" --contact ignore "$arm" -o o.abut
    says "--contact: for --solver pd, mass-springs, admm-pd, admm-dd, not for newton"
    exits 2 "$BIN/step" --solver nodal --iterations 3 "$arm" -o o.abut
    says "--iterations: for --solver newton, newton-cg,"
    exits 3 "$BIN/step" --solver mass-springs --contact ignore "$arm" -o o.abut
    says "expected springs and attachments alone"
}

@test "what had to converge and did not is exit 4, and leaves no output" {
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/arm.yaml" --set tolerance='1e-30 m/s' -o tight.abut
    exits 4 timeout 120 "$BIN/step" --solver pd --contact ignore --iterations converged tight.abut -o o.abut
    says "not converged after 100000 iterations"
    [ ! -e o.abut ]
}
