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

# bats test_tags=slow
@test "every linear solver ends a step where the default does, free of intersections, with the same bytes for any number of threads" {
    skip_without_numpy
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-9 m/s' -o tight.abut
    one_stiffness tight.abut stiff.abut
    "$BIN/step" -q -n 6 stiff.abut -o own.abut
    for l in cholmod cg-schwarz mas mas-rigid cg ic ic-rigid; do
        "$BIN/step" -q -j 1 --linear-solver $l -n 6 stiff.abut -o $l.abut
        "$BIN/ccd-check" -q --no-output $l.abut
        for j in 2 4; do "$BIN/step" -q -j $j --linear-solver $l -n 6 stiff.abut | cmp - $l.abut; done
        near own.abut $l.abut 6 1e-9
    done
    "$BIN/export" --dump cholmod.abut >dump
    grep -q '"linear_solver":"cholmod"' dump
}

# bats test_tags=slow
@test "solvers without a matrix: frames are free of intersections, by as many Newton iterations as with cg-schwarz" {
    local pipelines=$BATS_TEST_DIRNAME/../../pipelines
    "$BIN/mesh-prep" -q "$pipelines/examples/twist.yaml" -o twist.abut
    "$BIN/mesh-prep" -q "$pipelines/examples/squeeze.yaml" -o squeeze.abut
    "$BIN/mesh-prep" -q "$pipelines/examples/cloth.yaml" --set 'tolerance=1e-2 l/s' --set 'contact.friction.eps_v=1e-3 l/s' -o cloth.abut
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/twist.yaml" --set objects.mat.generate.box.cells=[19,1,19] -o mat.abut
    for scene in twist squeeze cloth mat; do
        for l in cg-schwarz mas mas-rigid ic ic-rigid; do
            "$BIN/step" -q --linear-solver $l -n 3 --report $scene-$l.jsonl $scene.abut | "$BIN/ccd-check" -q --no-output
        done
        "$PYTHON" - $scene <<'P'
import json, sys
newton, cg = ({l: sum(json.loads(r)[k] for r in open(f"{sys.argv[1]}-{l}.jsonl")) for l in ("cg-schwarz", "mas", "mas-rigid", "ic", "ic-rigid")}
              for k in ("newton_iterations", "cg_iterations"))
assert newton["cg-schwarz"] >= 3 and all(cg[l] > newton[l] for l in cg), (newton, cg)
assert all(abs(newton[l] - newton["cg-schwarz"]) <= 1 + newton["cg-schwarz"] // 5 for l in newton), newton
assert cg["ic"] <= cg["mas"] and cg["ic-rigid"] <= cg["mas-rigid"], cg
assert sys.argv[1] != "cloth" or 3 * cg["ic"] < cg["mas"], cg
P
    done
}

# bats test_tags=slow
@test "solvers without a matrix: contacts of rank one, the same bytes for any number of threads and from any frame on" {
    skip_without_numpy
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-9 m/s' -o tight.abut
    one_stiffness tight.abut stiff.abut
    "$BIN/step" -q -n 8 --barrier-hessian gn stiff.abut -o own.abut
    for l in mas mas-rigid cg ic ic-rigid; do
        "$BIN/step" -q -j 1 --barrier-hessian gn --linear-solver $l -n 8 stiff.abut -o $l.abut
        "$BIN/ccd-check" -q --no-output $l.abut
        "$BIN/step" -q -j 4 --barrier-hessian gn --linear-solver $l -n 8 stiff.abut | cmp - $l.abut
        "$BIN/step" -q -j 2 --barrier-hessian gn --linear-solver $l -n 5 stiff.abut |
            "$BIN/step" -q -j 2 --barrier-hessian gn --linear-solver $l -n 3 | cmp - $l.abut
        near own.abut $l.abut 8 1e-9
    done
}

@test "linear solvers: unknown names and solvers that have no use for one are refused" {
    exits 2 "$BIN/step" --linear-solver cholesky "$pile"
    says "know own, cholmod, cg-schwarz, mas, mas-rigid, cg, ic, ic-rigid"
    exits 2 "$BIN/step" --linear-solver cg --solver lbfgs-h "$pile"
    says "know own, cholmod"
    exits 2 "$BIN/step" --linear-solver cholmod --solver dot "$pile"
    says "--linear-solver: for --solver newton, lbfgs-h, nodal, sqp, qp, not for dot"
    exits 2 "$BIN/step" --linear-solver cg --solver newton-cg "$pile"
    says "not for newton-cg, which has cg-schwarz"
    exits 2 "$BIN/step" --linear-solver own --solver pd --contact ignore "$pile"
    says "--linear-solver"
}

# bats test_tags=slow
@test "step --without: every step ends where it ends with all features, by other iterations, and the history says so" {
    skip_without_numpy
    one_stiffness "$pile" start.abut
    "$BIN/step" -q -n 7 --report all.jsonl start.abut -o all.abut
    for w in reuse,lengthen warm-start majorant; do
        "$BIN/step" -q -n 7 --without $w --report $w.jsonl start.abut | "$BIN/ccd-check" -q -o $w.abut
        near all.abut $w.abut 7 1e-6
        "$PYTHON" - $w.jsonl <<'P'
import json, sys
a, b = ([json.loads(l)["iterations"] for l in open(f)] for f in ("all.jsonl", sys.argv[1]))
assert sum(map(len, a)) > 7 and a != b, sys.argv[1]
P
    done
    "$BIN/export" --dump reuse,lengthen.abut >dump
    grep -q '"without":"lengthen,reuse"' dump
    "$BIN/export" --dump all.abut >dump
    exits 1 grep without dump
    "$PYTHON" -c 'import json
rows = [json.loads(l) for l in open("reuse,lengthen.jsonl")]
assert all(r["factorisations"] == r["factorisations_double"] >= r["newton_iterations"] for r in rows)'
}

# bats test_tags=slow
@test "look-ahead saves a sheet with a stretch limit that falls on a ball iterations; every step is judged clean, with the same bytes for any threads" {
    cat > sheet.yaml <<'Y'
time: {step: 0.04 s, end: 2 s}
tolerance: 1e-3 m/s
contact: {dhat: 1 mm, friction: {mu: 0.4, eps_v: 1e-3 m/s}}
materials:
  sheet: {density: 472.6, young: 0.821 MPa, poisson: 0.243}
objects:
  ball:  {generate: {icosphere: {radius: 0.152, divisions: 4}}, obstacle: true}
  cloth: {generate: {cloth: {size: [0.6, 0.6], edge: 0.06, layout: rows}}, translate: [0, 0.16, 0], material: sheet,
          shell: {thickness: 0.318 mm, stretch-limit: 1.001}}
Y
    "$BIN/mesh-prep" -q sheet.yaml -o sheet.abut
    for j in 1 2 7; do "$BIN/step" -q -n 8 -j $j --report with.jsonl sheet.abut -o with.$j.abut; done
    cmp with.1.abut with.2.abut
    cmp with.1.abut with.7.abut
    "$BIN/step" -q -n 8 --without look-ahead --report without.jsonl sheet.abut -o without.abut
    for run in with.1 without; do
        "$BIN/ccd-check" -q --no-output $run.abut
        "$BIN/strain-limit" -q --audit $run.abut -o /dev/null
    done
    "$PYTHON" -c 'import json
a, b = (sum(json.loads(l)["newton_iterations"] for l in open(f)) for f in ("with.jsonl", "without.jsonl"))
assert a < 0.95 * b, (a, b)'
}

@test "a step of more than 50 iterations says what held them up, as its rows do; a blocked motion is named" {
    cat > throw.yaml <<'Y'
gravity: [0, 0, 0]
tolerance: 1e-4 m/s
contact: {dhat: 0.5 mm, barrier: {fixed-kappa: 1e4}}
materials: {rubber: {density: 1000, young: 1e6, poisson: 0.4}}
objects:
  ball: {generate: {sphere: {radius: 0.1, cells: 4}}, translate: [0, 0.13, 0], velocity: [0, -20, 0], material: rubber}
  knob: {generate: {icosphere: {radius: 0.05, divisions: 6}}, obstacle: true, translate: [0.01, -0.06, 0.005]}
Y
    "$BIN/mesh-prep" -q throw.yaml | "$BIN/step" -n 1 --without blocked --report throw.jsonl -o x.abut 2> text
    grep -E 'step 1 took [0-9]+ iterations: contacts bounded [0-9]+, ' text
    "$BIN/mesh-prep" -q throw.yaml --set objects.ball.velocity='[0, -1, 0]' | "$BIN/step" -n 1 -o x.abut 2> text
    exits 1 grep took text
    cat > press.yaml <<'Y'
gravity: [0, 0, 0]
contact: {dhat: 0.02 mm}
materials: {rubber: {density: 1200, young: 5 MPa, poisson: 0.49}}
objects:
  ring: {generate: {torus: {radius: 20 mm, tube: 2 mm, cells: [16, 8]}}, material: rubber}
  top: {generate: {box: {size: [0.06, 0.004, 0.06], cells: [1, 1, 1]}}, obstacle: true, translate: [0, 0.0041, 0]}
  low: {generate: {box: {size: [0.06, 0.004, 0.06], cells: [1, 1, 1]}}, obstacle: true, translate: [0, -0.0041, 0]}
motion: [{select: {object: top}, translate: [0, -0.01, 0], until: 0.1 s, hold: true}]
Y
    "$BIN/mesh-prep" -q press.yaml | "$BIN/step" -q -n 2 --report press.jsonl -o x.abut
    "$PYTHON" - <<'P'
import json
throw, press = ([json.loads(l) for l in open(f)] for f in ("throw.jsonl", "press.jsonl"))
for r in throw:
    rows, held = r["iterations"], r["held_up"]
    assert held["script"] == held["element"] == 0 and len(rows) == r["newton_iterations"] > 50
    assert held["rise"] == sum(i[6] == "decrease" for i in rows) and held["stiff"] == sum(i[2] > 1 for i in rows)
    assert held["contact"] == sum(i[2] < 1 and i[6] in ("vertex-triangle", "edge-edge") for i in rows) > 50
assert press[1]["held_up"]["script"] > press[1]["newton_iterations"] / 2
P
}

# bats test_tags=slow
@test "a slow end takes a third of the iterations and ends no further off; the same bytes for any threads" {
    skip_without_numpy
    cat > press.yaml <<'Y'
gravity: [0, 0, 0]
contact: {dhat: 0.02 mm}
materials: {rubber: {density: 1200, young: 5 MPa, poisson: 0.49}}
objects:
  ring: {generate: {torus: {radius: 20 mm, tube: 2 mm, cells: [16, 8]}}, material: rubber}
  top: {generate: {box: {size: [0.06, 0.004, 0.06], cells: [1, 1, 1]}}, obstacle: true, translate: [0, 0.0041, 0]}
  low: {generate: {box: {size: [0.06, 0.004, 0.06], cells: [1, 1, 1]}}, obstacle: true, translate: [0, -0.0041, 0]}
motion: [{select: {object: top}, translate: [0, -0.01, 0], until: 0.1 s, hold: true}]
Y
    "$BIN/mesh-prep" -q press.yaml -o press.abut
    for j in 1 3; do "$BIN/step" -q -n 3 -j $j --tolerance 1e-6 --report with.jsonl press.abut -o with.$j.abut; done
    cmp with.1.abut with.3.abut
    "$BIN/step" -q -n 3 --tolerance 1e-6 --without pairs --report without.jsonl press.abut -o without.abut
    "$BIN/step" -q -n 3 --tolerance 1e-8 --without pairs press.abut -o exact.abut
    "$PYTHON" - "$ROOT" <<'P'
import json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
end, a, b = ([f for f in abut_stream.read(s + ".abut") if f.kind == "frame"][-1]["node/x"] for s in ("exact", "with.1", "without"))
n, without = (sum(json.loads(l)["newton_iterations"] for l in open(f)) for f in ("with.jsonl", "without.jsonl"))
assert 3 * n < without, (n, without)
assert abs(a - end).max() <= abs(b - end).max(), (abs(a - end).max(), abs(b - end).max())
# how far it is pressed; what slides without friction between the plates is as inexact as the tolerance leaves it
assert all(abs(q - end)[:, 1].max() < 1e-7 for q in (a, b)), [abs(q - end)[:, 1].max() for q in (a, b)]
P
}

@test "contacts that bound many directions are stiffer in the next: a thrown ball ends where it ends without, in a third of the iterations" {
    skip_without_numpy
    cat > throw.yaml <<'Y'
gravity: [0, 0, 0]
tolerance: 1e-4 m/s
contact: {dhat: 0.5 mm, barrier: {fixed-kappa: 1e4}}
materials: {rubber: {density: 1000, young: 1e6, poisson: 0.4}}
objects:
  ball: {generate: {sphere: {radius: 0.1, cells: 4}}, translate: [0, 0.13, 0], velocity: [0, -20, 0], material: rubber}
  knob: {generate: {icosphere: {radius: 0.05, divisions: 6}}, obstacle: true, translate: [0.01, -0.06, 0.005]}
Y
    "$BIN/mesh-prep" -q throw.yaml -o throw.abut
    local options=(--force-tolerance 1e-6 -n 1)     # later steps have several minima
    for j in 1 3; do "$BIN/step" -q -j $j "${options[@]}" --report with.jsonl throw.abut | "$BIN/ccd-check" -q -o with.$j.abut; done
    "$BIN/export" --dump --array node/x with.1.abut > one
    "$BIN/export" --dump --array node/x with.3.abut > three
    cmp one three
    "$BIN/step" -q "${options[@]}" --without blocked --report without.jsonl throw.abut -o without.abut
    near with.1.abut without.abut 1 1e-6
    "$BIN/step" -q "${options[@]}" -n 2 --barrier-hessian gn throw.abut -o gn.abut      # without it a gap becomes too small
    "$PYTHON" -c 'import json
n, without = (sum(json.loads(l)["newton_iterations"] for l in open(f)) for f in ("with.jsonl", "without.jsonl"))
assert n < 0.4 * without, (n, without)'
}

@test "step --without: unknown features and solvers without the barrier are refused" {
    exits 2 "$BIN/step" --without reuse,speed "$pile"
    says "'speed'"
    says "know look-ahead, second-order, lengthen, reuse, warm-start, majorant, beyond"
    exits 2 "$BIN/step" --without '' "$pile"
    exits 2 "$BIN/step" --without reuse --solver pd --contact ignore "$pile"
    says "--without"
}

@test "a short quasi-Newton direction ends no step: Newton's does, and the two meet in contact with friction" {
    skip_without_numpy
    one_stiffness "$pile" start.abut
    for s in newton lbfgs-h; do
        "$BIN/step" -q --solver $s -n 7 --report $s.jsonl start.abut | "$BIN/ccd-check" -q -o $s.abut
    done
    near newton.abut lbfgs-h.abut 7 1e-6    # a step may be off by h tolerance = 1e-8 m; steps add up, contact amplifies
    "$PYTHON" - <<'P'
import json
rows = [json.loads(l) for l in open("lbfgs-h.jsonl")]
assert rows[-1]["contacts"] > 20 and all(0 < r["newton_solves"] <= r["newton_iterations"] for r in rows)
assert sum(r["newton_solves"] for r in rows) < 0.5 * sum(r["newton_iterations"] for r in rows)
assert all(r["residual"] <= 1e-6 for r in rows)
P
}

# what ends the steps of lbfgs-h is what ends those of newton, to LIMIT; in double precision: as many of its factors as said
coarse_meets() {    # START LIMIT CONDITION
    for s in newton lbfgs-h; do
        "$BIN/step" -q --solver $s -n 3 --report $s.jsonl "$1" | "$BIN/ccd-check" -q -o $s.abut
    done
    near newton.abut lbfgs-h.abut 3 "$2"
    "$PYTHON" - "$3" <<'P'
import json, sys
rows = [json.loads(l) for l in open("lbfgs-h.jsonl")]
all_, double = (sum(r[k] for r in rows) for k in ("factorisations", "factorisations_double"))
assert all(r["factor_flops"] > 3e7 for r in rows) and eval(sys.argv[1]), (all_, double)
P
}

@test "quasi-Newton solvers stiffen the barrier as newton does: two blocks in a press, whose plates feel no force sideways" {
    skip_without_numpy
    block='generate: {box: {size: [0.1, 0.03, 0.1], cells: [2, 1, 2]}}, material: m'
    plate='generate: {box: {size: [0.3, 0.02, 0.3], cells: [1, 1, 1]}}, obstacle: true'
    "$BIN/mesh-prep" -q -o start.abut <<Y
abut: 1
time: {step: 10 ms}
gravity: [0, 0, 0]
contact: {friction: {mu: 0.5}}
materials: {m: {density: 2500, young: 1e7, poisson: 0}}
objects:
  b: {$block, translate: [0, 0.0151, 0]}
  c: {$block, translate: [0, -0.0151, 0]}
  top: {$plate, translate: [0, 0.0404, 0]}
  low: {$plate, translate: [0, -0.0404, 0]}
motion:
  - {select: {object: top}, translate: [0, -0.0235, 0], until: 0.2 s, hold: true}
  - {select: {object: low}, translate: [0, 0.0235, 0], until: 0.2 s, hold: true}
Y
    for s in newton lbfgs-h dot; do
        "$BIN/step" -q -j 1 --solver $s -n 22 --with forces --report $s.jsonl start.abut | "$BIN/export" -q --csv $s.csv
    done
    "$PYTHON" - <<'P'
import csv, json, math
kappa = {s: max(json.loads(q)["kappa"] for q in open(s + ".jsonl")) for s in ("newton", "lbfgs-h", "dot")}
assert max(kappa.values()) <= 2 * kappa["newton"], kappa
for s in kappa:
    end = {k: float(v or "nan") for k, v in list(csv.DictReader(open(s + ".csv")))[-1].items()}
    for o in ("top", "low"):
        across = math.hypot(end[o + ".contact_x_N"], end[o + ".contact_z_N"])
        assert across <= 0.005 * abs(end[o + ".contact_y_N"]), (s, o, across)
P
}

@test "lbfgs-h factors in single precision, and in double where that is too coarse" {
    skip_without_numpy
    cat >bar.yaml <<'Y'
abut: 1
time: {step: 25 ms}
tolerance: 1e-6 m/s
contact: off
materials: {m: {model: fixed-corotated, young: 1e5, poisson: 0.4}}
objects: {bar: {generate: {box: {size: [1, 0.25, 0.25], cells: [18, 6, 6]}}, material: m}}
motion:
  - {select: {object: bar, box: [[-0.51, -1, -1], [-0.49, 1, 1]]}, translate: [-0.5, 0, 0]}
Y
    "$BIN/mesh-prep" -q bar.yaml -o bar.abut
    coarse_meets bar.abut 1e-6 'all_ > 0 and double == 0'
    "$BIN/mesh-prep" -q bar.yaml --set materials.m.young=1e13 --set materials.m.density=1 --set 'motion=[]' -o free.abut
    coarse_meets free.abut 1e-4 'double > 0'     # falls by 6e-3; as stiff, it knows no better
}

# every pair of SOLVERS ends every step of START on the same positions, to LIMIT, m, times the number of the step
solvers="newton newton-cg lbfgs-h dot lbfgs-jh lbfgs-ic lbfgs-pd gradient lbfgs-rest lbfgs-warped lbfgs-id"
all_meet() {    # START STEPS LIMIT
    for s in $solvers; do
        "$BIN/step" -q --solver $s -n "$2" --report $s.jsonl "$1" | "$BIN/ccd-check" -q -o $s.abut
    done
    "$PYTHON" - "$ROOT" "$2" "$3" $solvers <<'P'
import itertools, json, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
steps, limit, names = int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
run = {s: [f["node/x"] for f in abut_stream.read(s + ".abut") if f.kind == "frame"] for s in names}
for a, b in itertools.combinations(names, 2):
    assert len(run[a]) == len(run[b]) == steps + 1
    for k in range(steps + 1):
        off = abs(run[a][k] - run[b][k]).max()
        assert off <= limit * max(1, k), (a, b, k, off)
for s in names[2:]:     # and each by its own directions, Newton's for the proof
    rows = [json.loads(l) for l in open(s + ".jsonl")]
    assert all(0 < r["newton_solves"] <= r["newton_iterations"] for r in rows), s
    assert sum(r["newton_iterations"] for r in rows) > sum(r["newton_solves"] for r in rows), s
    assert all(r["initial_matrices"] > 0 for r in rows), s
P
}

@test "all solvers meet: a bar that is twisted, fixed corotated" {
    skip_without_numpy
    cat >bar.yaml <<'Y'
abut: 1
time: {step: 25 ms}
gravity: [0, -9.81, 0]
tolerance: 1e-6 m/s
materials: {m: {model: fixed-corotated, young: 1e5, poisson: 0.4}}
objects: {bar: {generate: {box: {size: [1, 0.25, 0.25], cells: [10, 3, 3]}}, material: m}}
motion:
  - {select: {object: bar, box: [[-0.51, -1, -1], [-0.49, 1, 1]]}, rotate: {axis: [1, 0, 0], rate: 144 deg/s}}
  - {select: {object: bar, box: [[0.49, -1, -1], [0.51, 1, 1]]}, rotate: {axis: [1, 0, 0], rate: -144 deg/s}}
Y
    "$BIN/mesh-prep" -q bar.yaml | "$BIN/decompose" -q -k 5 -o bar.abut
    all_meet bar.abut 4 1e-6
}

# bats test_tags=slow
@test "all solvers meet: soft boxes in contact with friction" {
    skip_without_numpy
    "$BIN/mesh-prep" -q "$ROOT/tests/bench/pile.yaml" --set tolerance='1e-6 m/s' --set time.step='20 ms' \
        --set objects.low.generate.box.cells='[4, 3, 4]' --set objects.high.generate.box.cells='[4, 3, 4]' -o pile0.abut
    one_stiffness pile0.abut start.abut
    all_meet start.abut 6 1e-6
    "$PYTHON" -c 'import json; assert all(json.loads(l)["contacts"] + json.loads(l)["half_space_contacts"] > 5
                  for l in list(open("dot.jsonl"))[4:])'
}

# bats test_tags=slow
@test "all solvers meet: hung by springs and pulled onto a post, BDF2, damped" {
    skip_without_numpy
    cat >post.yaml <<'Y'
abut: 1
time: {step: 10 ms, scheme: bdf2}
gravity: [0, -9.81, 0]
tolerance: 1e-6 m/s
damping: {stiffness: 1e-3 s}
materials: {m: {model: neo-hookean, young: 3e4, poisson: 0.35}}
objects:
  slab: {generate: {box: {size: [0.4, 0.1, 0.2], cells: [8, 2, 4]}}, material: m, translate: [0, 0.4, 0], velocity: [0, -2, 0]}
  post: {generate: {box: {size: [0.05, 0.2, 0.3], cells: [1, 1, 1]}}, obstacle: true, translate: [0, 0.24, 0]}
attachments:
  - {from: {object: slab, nodes: [0]}, to: {point: [-0.3, 0.6, 0]}, stiffness: 200 N/m}
Y
    "$BIN/mesh-prep" -q post.yaml -o post0.abut
    one_stiffness post0.abut start.abut
    all_meet start.abut 6 1e-6
}

# bats test_tags=slow
@test "quasi-Newton solvers restart with the same bytes, and any number of threads gives them" {
    "$BIN/mesh-prep" -q "$ROOT/tests/bench/pile.yaml" --set time.step='20 ms' --set objects.low.generate.box.cells='[4, 3, 4]' \
        --set objects.high.generate.box.cells='[4, 3, 4]' | "$BIN/decompose" -q -k 6 -o cut.abut
    for s in lbfgs-h dot lbfgs-jh lbfgs-ic lbfgs-pd gradient lbfgs-rest lbfgs-warped lbfgs-id; do
        "$BIN/step" -q --solver $s -j 1 -n 6 cut.abut -o whole.abut
        "$BIN/step" -q --solver $s -j 3 -n 3 cut.abut | "$BIN/step" -q --solver $s -j 2 -n 3 -o halves.abut
        cmp whole.abut halves.abut
    done
}

# A matrix that outlives a step is that of the next one, too.
@test "solvers restart with the same bytes with damping, drag, pressure, curved rods, in every kind of scheme" {
    local material='{density: 1000, young: 1e5, poisson: 0.4}' held='fix: true}]'
    cat >tets.yaml <<Y
time: {step: 20 ms}
contact: off
materials: {m: $material}
objects: {b: {generate: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}, material: m, velocity: [0.5, -1, 0]}}
motion: [{select: {object: b, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, $held
Y
    cat >shell.yaml <<Y
time: {step: 20 ms}
contact: off
wind: [1, 3, 0]
materials: {m: $material}
objects: {b: {generate: {cloth: {size: [0.4, 0.4], edge: 0.1}}, material: m, shell: {thickness: 1 mm}, velocity: [0.5, -1, 0]}}
motion: [{select: {object: b, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, $held
Y
    cat >rod.yaml <<Y
time: {step: 20 ms}
contact: off
materials: {m: $material}
objects:
  b:
    generate: {explicit: {points: [[0, 0, 0], [0.1, 0, 0], [0.2, 0.02, 0], [0.3, 0.1, 0.05]], segments: [[0, 1], [1, 2], [2, 3]]}}
    material: m
    rod: {radius: 5 mm, curved: true}
    velocity: [0.5, -1, 0]
motion: [{select: {object: b, nodes: [0, 1]}, $held
Y
    while read -r scene solvers sets; do
        # shellcheck disable=SC2086 # lists of words
        "$BIN/mesh-prep" -q $scene.yaml $sets -o start.abut
        for s in newton lbfgs-rest lbfgs-warped ${solvers//,/ }; do
            "$BIN/step" -q --solver $s -n 4 start.abut -o whole.abut
            "$BIN/step" -q --solver $s -n 2 start.abut | "$BIN/step" -q --solver $s -n 2 -o halves.abut
            cmp whole.abut halves.abut || { echo "$scene $sets: $s"; false; }
        done
    done <<'T'
tets lbfgs-h,dot,lbfgs-pd,lbfgs-jh,lbfgs-ic,gradient,lbfgs-id,nodal --set damping.stiffness=0.01 --set damping.mass=1
tets lbfgs-pd,lbfgs-id --set damping.stiffness=0.01 --set time.scheme=implicit-newmark
tets lbfgs-pd,lbfgs-id --set damping.mass=1 --set time.scheme=bdf3
tets lbfgs-ic --set damping.stiffness=0.01 --set objects.b.order=2
shell lbfgs-pd,lbfgs-id --set objects.b.shell.drag=0.6
shell lbfgs-pd,lbfgs-id --set objects.b.shell.pressure=20
shell lbfgs-pd,lbfgs-id --set damping.stiffness=0.01
rod lbfgs-pd,lbfgs-id
T
}

@test "dot takes the partition of the stream, --parts another one, and a broken one is refused" {
    skip_without_numpy
    "$BIN/decompose" -q -k 6 "$pile" -o cut.abut
    for o in "cut.abut --parts 0" "cut.abut --parts 2" "$pile --parts 2"; do
        "$BIN/step" -q --solver dot --stop characteristic -n 2 --report r.jsonl ${o#* } "${o%% *}" -o o.abut
        "$BIN/export" --dump --array node/x o.abut | grep -v ^prov | cksum >>sums
    done
    [ "$(sed -n 2p sums)" = "$(sed -n 3p sums)" ]
    [ "$(sed -n 1p sums)" != "$(sed -n 2p sums)" ]
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
model, frame = list(abut_stream.read("cut.abut"))
model["part/element"][7] = 6
with abut_stream.Writer("bad.abut") as out:
    out.model(model.arrays)
    out.frame(frame.step, frame.time, frame.arrays)
P
    exits 3 "$BIN/step" --solver dot bad.abut -o o.abut
    says "tet 7 is in part 6, expected 0 .. 5"
}

@test "dot and admm-dd write the same frames with the parts of decompose -k N and with --parts N" {
    "$BIN/decompose" -q -k 4 "$pile" -o cut.abut
    for s in dot "admm-dd --contact ignore"; do
        "$BIN/step" -q --solver $s -n 2 cut.abut | "$BIN/export" --dump | sed -n '/^frame/,$p' >cut
        "$BIN/step" -q --solver $s -n 2 --parts 4 "$pile" | "$BIN/export" --dump | sed -n '/^frame/,$p' >own
        [ "$(grep -c ^frame own)" = 3 ]
        cmp cut own
    done
}

# bar.abut: its ends turn about x and go apart, each so fast
pulled_bar() {   # m/s
    cat >bar.yaml <<Y
time: {step: 25 ms}
materials: {m: {model: fixed-corotated, young: 1e5, poisson: 0.4}}
objects: {bar: {generate: {box: {size: [1, 0.2, 0.2], cells: [25, 5, 5]}}, material: m}}
selections:
  left: {object: bar, relative-box: [[-1, -1, -1], [0.01, 2, 2]]}
  right: {object: bar, relative-box: [[0.99, -1, -1], [2, 2, 2]]}
motion:
  - {select: left, translate: [-$1, 0, 0], rotate: {axis: [1, 0, 0], rate: 72 deg/s}}
  - {select: right, translate: [$1, 0, 0], rotate: {axis: [1, 0, 0], rate: -72 deg/s}}
Y
    "$BIN/mesh-prep" -q bar.yaml -o bar.abut
}

@test "an initial matrix that a far pull leaves behind is computed again, one that serves is not" {
    skip_without_numpy
    for v in 0.9 4; do
        pulled_bar $v
        for s in lbfgs-h dot lbfgs-pd; do
            "$BIN/step" -q --solver $s --stop characteristic -n 1 --report $s-$v.jsonl bar.abut | "$BIN/ccd-check" -q -o /dev/null
        done
    done
    "$PYTHON" - <<'P'
import json
r = {f: json.loads(open(f + ".jsonl").readline()) for f in [s + v for s in ("lbfgs-h", "dot", "lbfgs-pd") for v in ("-0.9", "-4")]}
n = {f: (r[f]["initial_matrices"], r[f]["newton_iterations"]) for f in r}
print(n)
assert n["lbfgs-h-0.9"][0] == n["dot-0.9"][0] == n["lbfgs-pd-0.9"][0] == n["lbfgs-pd-4"][0] == 1, n
assert n["lbfgs-h-4"][0] > 1 and n["lbfgs-h-4"][1] < 16 and n["dot-4"][0] > 1 and n["dot-4"][1] < 19, n     # with one: 25, 23
P
}

# bats test_tags=slow
@test "with their rigid motions as a coarse space, many subdomains of dot take few more iterations than two" {
    skip_without_numpy
    pulled_bar 0.9
    for levels in 1 2; do
        for k in 2 24; do
            "$BIN/step" -q --solver dot --levels $levels --parts $k --stop characteristic --tolerance 1e-6 -n 5 --report $levels-$k.jsonl bar.abut \
                -o o.abut
            "$BIN/ccd-check" -q o.abut -o /dev/null
        done
    done
    "$PYTHON" - <<'P'
import json
n = {f: sum(json.loads(l)["newton_iterations"] for l in open(f + ".jsonl")) for f in ("1-2", "1-24", "2-2", "2-24")}
print(n)
assert n["2-24"] < 1.4 * n["2-2"] and n["1-24"] > 2 * n["1-2"] and 2 * n["2-24"] < n["1-24"], n
P
    exits 2 "$BIN/step" --solver dot --levels 3 bar.abut -o o.abut
    says "--levels 3: want 1 to 2"
    exits 2 "$BIN/step" --levels 1 bar.abut -o o.abut
    says "--levels: for --solver dot, not for newton"
}

@test "--stop characteristic ends every step on the characteristic norm that --tolerance asks for" {
    skip_without_numpy
    for t in 1e-4 1e-7; do
        for s in newton lbfgs-h; do
            "$BIN/step" -q --solver $s --stop characteristic --tolerance $t -n 3 --report $s-$t.jsonl "$pile" -o $s-$t.abut
        done
    done
    "$PYTHON" - <<'P'
import json
for t in ("1e-4", "1e-7"):
    for s in ("newton", "lbfgs-h"):
        assert all(0 < json.loads(l)["characteristic_norm"] <= float(t) for l in open(f"{s}-{t}.jsonl")), (s, t)
n = {t: sum(json.loads(l)["newton_iterations"] for l in open(f"newton-{t}.jsonl")) for t in ("1e-4", "1e-7")}
assert n["1e-4"] < n["1e-7"], n
P
    # below rounding: no endless loop
    exits 4 "$BIN/step" --stop characteristic --tolerance 1e-30 -n 1 --report r.jsonl "$pile" -o o.abut
    says "no step along the direction lowers the objective"
    "$PYTHON" -c 'import json; n = json.loads(open("r.jsonl").readline())["newton_iterations"]; assert n < 100, n'
    exits 2 "$BIN/step" --stop cnn "$pile" -o o.abut
    says "know newton, published, characteristic"
    exits 2 "$BIN/step" --tolerance 0 "$pile" -o o.abut
    says "--tolerance 0"
    exits 2 "$BIN/step" --history -1 "$pile" -o o.abut
    says "--history -1"
}

@test "--tolerance is the scene's, for the rule of the scene" {
    "$BIN/step" -q --tolerance 1e-4 -n 2 "$pile" -o a.abut
    "${BIN:-bin}"/mesh-prep -q "$ROOT/tests/bench/pile.yaml" --set tolerance='1e-4 m/s' | "$BIN/step" -q -n 2 -o b.abut
    "$BIN/export" --dump --array node/x a.abut | grep -v ^prov >a.txt
    "$BIN/export" --dump --array node/x b.abut | grep -v ^prov >b.txt
    cmp a.txt b.txt
}

@test "a solver that nobody knows is refused with those that are known" {
    exits 2 "$BIN/step" --solver newtonian "$pile" -o o.abut
    says "newton-cg"
    says "lbfgs-h"
    says "dot"
}

@test "a direction below the tolerance that its curvature shows to be much too short is lengthened; not where only what is published counts" {
    cat >mat.yaml <<'Y'
abut: 1
time: {step: 0.04 s}
gravity: [0, 0, 0]
contact: off
materials: {mat: {model: neo-hookean, density: 1000, young: 2e4, poisson: 0.4}}
objects:
  mat: {generate: {box: {size: [1, 0.02, 0.6], cells: [16, 1, 8]}}, material: mat}
motion:
  - {select: {object: mat, box: [[-0.51, -1, -1], [-0.49, 1, 1]]}, rotate: {axis: [1, 0, 0], rate: 72 deg/s}}
  - {select: {object: mat, box: [[0.49, -1, -1], [0.51, 1, 1]]}, rotate: {axis: [1, 0, 0], rate: -72 deg/s}}
Y
    "$BIN/mesh-prep" -q mat.yaml --set tolerance='0.0116 m/s' -o mat.abut      # about to buckle in step 78
    for rule in newton published; do "$BIN/step" -q -n 90 --stop $rule --report $rule.jsonl mat.abut | "$BIN/ccd-check" -q >/dev/null; done
    "$PYTHON" - <<'P'
import json
def longest(rule):
    return max(i[2] for l in open(rule + ".jsonl") for i in json.loads(l)["iterations"] if i[0] <= 0.0116)
assert longest("newton") > 2 and longest("published") == 1, (longest("newton"), longest("published"))
P
}

@test "a scene that a solver cannot simulate is unusable input, exit code 3, with every solver and every rule, and never usage" {
    local scene s solvers box='{generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 2, 0]}'
    solvers=$({ "$BIN/step" --solver '?' </dev/null 2>&1 || true; } | sed -n 's/.*know //p' | tr -d ,)
    [ "$(wc -w <<< "$solvers")" -ge 18 ]
    scene() { printf 'time: {step: 0.01 s}\nobjects: {floor: {half-space: {normal: [0, 1, 0]}}, a: %s}\n' "$2" | "$BIN/mesh-prep" -q - "${@:3}" -o "$1"; }
    scene cloth '{generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm, stretch-limit: 1.2}, translate: [0, 1, 0]}'
    scene rod '{generate: {rod: {length: 1, cells: 4}}, rod: {radius: 1 mm}, translate: [0, 1, 0]}'
    scene curved "${box%\}}, order: 2}"
    scene bdf2 "$box" --set time.scheme=bdf2
    scene filter "$box" --set contact.barrier.filter=0.1
    scene mollifier "$box" --set contact.barrier.mollifier=off
    scene log2 "$box" --set contact.barrier.law=log2
    : > codes
    for scene in cloth rod curved bdf2 filter mollifier log2; do
        for s in $solvers 'newton --stop characteristic' 'dot --stop characteristic' 'newton --device twin' \
            'newton --barrier-hessian full' 'pd --stop characteristic'; do
            case $s in pd*|mass-springs|admm*) s+=' --contact ignore' ;; esac
            # shellcheck disable=SC2086
            timeout 60 "$BIN/step" -q -n 1 --solver $s $scene -o out 2>said && code=0 || code=$?
            echo "$code $scene $s: $(head -n 1 said)" >> codes
        done
    done
    cat codes
    exits 1 grep -v '^[034] ' codes
    for s in '3 cloth dot:' '3 rod newton --stop characteristic:' '3 cloth pd --stop' '3 filter newton:' '3 mollifier newton --device twin:' \
        '3 bdf2 nodal:' '3 curved lbfgs-pd:'; do
        grep -q "^$s" codes
    done
}
