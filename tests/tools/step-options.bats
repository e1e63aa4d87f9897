#!/usr/bin/env bats
# Options of the time step: how it ends, what a step has to bring, what bounds a direction.
load helpers

setup_file() {
    "${BIN:-bin}"/mesh-prep -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set tolerance='1e-6 m/s' --set length=bounding-box -o "$BATS_FILE_TMPDIR/pile.abut"
}
setup() { pile=$BATS_FILE_TMPDIR/pile.abut; cd "$BATS_TEST_TMPDIR"; }

# go NAME OPTION...: eight steps of the pile, judged, with 1 and 3 threads and in two halves
go() {
    local name=$1; shift
    "$BIN/step" -q -j 1 -n 8 --report "$name.jsonl" "$@" "$pile" -o "$name.abut"
    "$BIN/ccd-check" -q --no-output "$name.abut"
    "$BIN/step" -q -j 3 -n 4 "$@" "$pile" | "$BIN/step" -q -j 2 -n 4 "$@" | cmp - "$name.abut"
}

# claims CLAIM FILE...: of r, the rows of each report, by its name
claims() {
    "$PYTHON" - "$@" <<'P'
import json, sys
r = {f: [json.loads(l) for l in open(f + ".jsonl")] for f in sys.argv[2:]}
total = lambda f, key: sum(row[key] for row in r[f])
its = lambda f: [it for row in r[f] for it in row["iterations"]]
assert eval(sys.argv[1]), sys.argv[1]
P
}

# bats test_tags=slow
@test "--stop step ends at the direction by which published would end, and does not follow it" {
    skip_without_numpy
    go published --stop published
    go step --stop step
    claims 'total("step", "newton_iterations") == total("published", "newton_iterations")' step published
    claims 'total("step", "line_search_trials") == total("published", "line_search_trials") - 8' step published
    claims 'all(row["iterations"][-1][0] <= 1e-6 and row["iterations"][-1][2] == 0 for row in r["step"])' step
    claims 'all(row["iterations"][-1][2] > 0 and row["gradient_norm"] is None for row in r["published"])' published
    near step.abut published.abut 8 1e-6
    "$BIN/step" -q -n 1 --stop step --tolerance 1e9 --report loose.jsonl "$pile" -o loose.abut
    claims 'r["loose"][0]["newton_iterations"] == 2' loose      # never at the first direction
}

# bats test_tags=slow
@test "--iterations N ends every minimisation after N, without a test of convergence, and keeps all other promises" {
    for s in newton lbfgs-pd lbfgs-h dot lbfgs-rest lbfgs-warped lbfgs-id; do
        go "$s" --solver $s --iterations 4
        claims 'all(row["newton_iterations"] <= row["fixed_iterations"] == 4 and row["not_guaranteed"] == ["convergence"]
                    for row in r["'$s'"])' $s
    done
    claims 'total("newton", "newton_iterations") == 32 and total("newton", "contacts") > 100' newton
    claims 'total("lbfgs-pd", "newton_solves") == 0 and total("lbfgs-id", "newton_solves") == 0' lbfgs-pd lbfgs-id
    "$BIN/step" -n 1 --iterations 4 "$pile" -o x.abut 2>said
    grep -q 'solver newton guarantees nothing about convergence' said
    exits 1 grep -q converged said
    "$BIN/export" --dump x.abut >dump
    grep -q '"iterations":4' dump
    "$BIN/step" -q -n 1 --report loose.jsonl --iterations converged "$pile" -o x.abut
    claims 'r["loose"][0]["fixed_iterations"] == 0 and r["loose"][0]["not_guaranteed"] == []' loose
    for o in '--stop published' '--tolerance 1e-3' '--force-tolerance 1e-3'; do
        # shellcheck disable=SC2086
        exits 2 "$BIN/step" -q --iterations 4 $o "$pile" -o x.abut
    done
    exits 2 "$BIN/step" -q --iterations 0 "$pile" -o x.abut
}

# bats test_tags=slow
@test "--stop gradient ends when no force for a metre of the scene is out of balance by more than the tolerance" {
    go loose --stop gradient
    go tight --stop gradient --tolerance 1e-6
    claims 'all(0 < row["gradient_norm"] <= 0.03 for row in r["loose"])' loose
    claims 'all(0 < row["gradient_norm"] <= 1e-6 for row in r["tight"])' tight
    claims 'total("loose", "newton_iterations") < total("tight", "newton_iterations")' loose tight
    # the same number by the forces of a frame: mass times acceleration less all forces, of the largest entry
    "$BIN/step" -q -n 8 --stop gradient --with forces "$pile" -o forces.abut
    skip_without_numpy
    "$PYTHON" - "$ROOT" <<'P'
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
model, *frames = list(abut_stream.read("forces.abut"))
rows = [json.loads(l) for l in open("loose.jsonl")]
h, l, m = float(model["time/step"]), float(model["scene/length"]), model["node/mass"].reshape(-1, 1)
E, nu = float(model["material/young"][0]), float(model["material/poisson"][0])
mu, lam, tet = E / 2 / (1 + nu), E * nu / (1 + nu) / (1 - 2 * nu), model["tet/node"]

def edges(x): return np.stack([x[tet[:, k]] - x[tet[:, 0]] for k in (1, 2, 3)], axis=2)
D = edges(model["node/X"])
B, volume = np.linalg.inv(D), np.linalg.det(D) / 6

def elastic_force(x):       # neo-Hookean: P = mu (F - F^-T) + lambda ln J F^-T
    F = edges(x) @ B
    T = np.linalg.inv(F).transpose(0, 2, 1)
    P = mu * (F - T) + (lam * np.log(np.linalg.det(F)))[:, None, None] * T
    g, f = volume[:, None, None] * (P @ B.transpose(0, 2, 1)), np.zeros_like(x)
    for k in (1, 2, 3):
        np.add.at(f, tet[:, k], -g[:, :, k - 1])
        np.add.at(f, tet[:, 0], g[:, :, k - 1])
    return f

for before, f, row in zip(frames, frames[1:], rows):
    lacks = m * ((f["node/v"] - before["node/v"]) / h - model["world/gravity"].reshape(1, 3)) - elastic_force(f["node/x"])
    lacks -= f["node/contact-force"] + f["node/friction-force"]
    found = abs(lacks).max() / l
    assert abs(found - row["gradient_norm"]) <= 1e-6 * found + 1e-9, (f.step, found, row["gradient_norm"])
P
}

@test "--stop gradient goes on where rounding hides what directions bring, as long as they lower the norm" {
    skip_without_numpy
    "$BIN/mesh-prep" -q "$ROOT/pipelines/experiments/gipc/scenes/drop.yaml" --set objects.ball.generate.sphere.cells=5 \
        --set 'objects.ring.generate.torus.cells=[12, 2]' --set 'objects.bar.generate.box.cells=[8, 1, 1]' \
        --set 'objects.bowl.generate.bowl.cells=[16, 6]' --set length=bounding-box --set 'contact.barrier.stiffen-below=1e-9 l' -o drop.abut
    "$BIN/step" -q -n 11 --stop gradient --tolerance 1e-8 --without pairs --report slow.jsonl drop.abut | "$BIN/ccd-check" -q --no-output
    # of more than thirty directions in a row none lowers the objective beyond rounding, 1e-15 of it
    claims 'len(r["slow"]) == 11 and all(row["gradient_norm"] <= 1e-8 for row in r["slow"])' slow
    claims 'max(row["newton_iterations"] for row in r["slow"]) > 60 and sum(it[5] < 1e-15 for it in its("slow")) > 40' slow
}

# bats test_tags=slow
@test "--armijo shortens steps that fall by less, and ends where the default does" {
    skip_without_numpy
    go plain
    go much --armijo 0.49
    "$BIN/step" -q -n 8 "$pile" | cmp - plain.abut
    claims 'sum(it[6] == "decrease" for it in its("much")) > sum(it[6] == "decrease" for it in its("plain"))' plain much
    near plain.abut much.abut 8 1e-6
}

# bats test_tags=slow
@test "--ccd cfl lets no point go further than half of dhat where near pairs allow no more than dhat, and ends where full does" {
    skip_without_numpy
    go full
    go cfl --ccd cfl
    claims 'sum(it[6] == "cfl" for it in its("cfl")) >= 3 and not any(it[6] == "cfl" for it in its("full"))' full cfl
    claims 'all(it[6] != "none" for it in its("cfl") if it[1] < 1)' cfl    # what sets a bound is named
    near full.abut cfl.abut 8 1e-6
    # the fastest node moves by residual times h times the step length: half of dhat, where a row says cfl
    "$PYTHON" - "$ROOT" "$pile" <<'P'
import json, math, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
model = next(iter(abut_stream.read(sys.argv[2])))
h, dhat = float(model["time/step"]), float(model["contact/dhat"])
rows = [it for l in open("cfl.jsonl") for it in json.loads(l)["iterations"] if it[6] == "cfl"]
assert rows
for residual, bound, *_ in rows:        # the residual is the largest entry, the motion the length of the three
    assert 0.5 * dhat / math.sqrt(3) * 0.999 <= residual * h * bound <= 0.5 * dhat, (residual * h * bound, dhat)
P
}

# bats test_tags=slow
@test "--cg-tolerance ends iterations of linear solvers earlier or later, restarts, and ends where the default does" {
    skip_without_numpy
    local l x
    for l in cg mas ic-rigid; do
        go $l --linear-solver $l
        for x in 1e-2 1e-4 1e-12; do
            go $l-$x --linear-solver $l --cg-tolerance $x
            near $l.abut $l-$x.abut 8 1e-5
        done
        claims "total('$l-1e-2', 'cg_iterations') < total('$l-1e-4', 'cg_iterations') < total('$l-1e-12', 'cg_iterations')" \
            $l-1e-2 $l-1e-4 $l-1e-12
    done
    "$BIN/export" --dump ic-rigid-1e-4.abut >dump
    grep -q '"cg_tolerance":0.0001' dump
    "$BIN/step" -q --solver newton-cg --cg-tolerance 1e-4 -n 1 "$pile" -o /dev/null
}

@test "options of the time step: what does not go together, and what is no number of its kind, is refused" {
    exits 2 "$BIN/step" --stop soon "$pile"
    says "know newton, published, characteristic, gradient, step"
    exits 2 "$BIN/step" --armijo 1 "$pile"
    says "--armijo 1: want less than 1"
    exits 2 "$BIN/step" --armijo 0 "$pile"
    says "--armijo 0: want more than 0"
    exits 2 "$BIN/step" --cg-tolerance 1e-4 "$pile"
    says "--linear-solver own is direct, expected one that iterates"
    exits 2 "$BIN/step" --cg-tolerance 1 --solver newton-cg "$pile"
    says "--cg-tolerance 1: want less than 1"
    exits 2 "$BIN/step" --cg-tolerance 1e-4 --solver lbfgs-h "$pile"
    says "--cg-tolerance: for --solver newton, newton-cg, not for lbfgs-h"
    exits 2 "$BIN/step" --cg-tolerance 1e-4 --device twin "$pile"
    says "--device: has iterations of its own"
    exits 2 "$BIN/step" --ccd some "$pile"
    says "know full, cfl"
    exits 2 "$BIN/step" --ccd cfl --device twin "$pile"
    says "--device: takes --ccd full, not cfl"
    exits 2 "$BIN/step" --stop gradient --device twin "$pile"
    says "takes --stop newton and published, not gradient"
    exits 2 "$BIN/step" --stop step --force-tolerance 0.1 "$pile"
    says "--force-tolerance does not go with --stop step"
    exits 2 "$BIN/step" --ccd cfl --solver pd --contact ignore "$pile"
    says "--ccd: for --solver newton"
    exits 2 "$BIN/step" --stop gradient --solver pd --contact ignore "$pile"
    says "--stop gradient does not go with --solver pd"
}

@test "a rule that asks for a gradient says how far it is from it when it gives up" {
    exits 4 "$BIN/step" -n 8 --stop gradient --tolerance 1e-9 --max-newton 3 "$pile" -o part.abut
    says "; gradient "
    says " N/m, want 1e-09; step length"
}

@test "--keep-passes is for runs of whole steps by solvers with friction passes" {
    exits 2 "$BIN/step" --keep-passes --one-pass "$pile" -o o.abut
    says "--keep-passes and --one-pass"
    exits 2 "$BIN/step" --keep-passes --solver pd --contact ignore "$pile" -o o.abut
    says "--keep-passes: for --solver newton"
    "$BIN/step" -q --one-pass --lags 3 "$pile" -o pending.abut
    exits 3 "$BIN/step" --keep-passes --lags 3 pending.abut -o o.abut
    says "it is PENDING, and the results of its 1 friction pass cannot be kept"
    exits 2 "$BIN/step" --keep-passes "$pile" -o o.abut                 # one pass, or converged: nothing to keep
    says "--keep-passes: steps have one friction pass, expected --lags 2 or more"
    exits 2 "$BIN/step" --keep-passes --lags 1 "$pile" -o o.abut
    exits 2 "$BIN/step" --keep-passes --lags converged "$pile" -o o.abut
    says "--keep-passes: friction passes go on until they converge"
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" --set contact.friction.mu=0 -o smooth.abut
    exits 2 "$BIN/step" --keep-passes --lags 2 smooth.abut -o o.abut
    says "--keep-passes: the scene has no friction"
    exits 0 "$BIN/step" --keep-passes --lags 2 "$pile" -o o.abut
}

@test "options that a solver or another option leaves nothing to do are refused, with who understands them" {
    "$BIN/mesh-prep" --new hard | "$BIN/mesh-prep" -q - -o hard.abut
    for in in "$pile" hard.abut; do                                     # the scene asks for nodal as well as the option
        exits 2 "$BIN/step" --solver nodal --tolerance 1e-3 "$in" -o o.abut
        says "--tolerance: for --solver newton, newton-cg,"
        says "admm-pd, admm-dd, not for nodal"
    done
    exits 2 "$BIN/step" --tolerance 1e-3 hard.abut -o o.abut
    says "not for nodal"
    exits 2 "$BIN/step" --stop newton hard.abut -o o.abut
    says "--stop: for --solver newton"
    exits 2 "$BIN/step" --with forces,contacts "$pile" -o o.abut
    says "--with contacts: for --solver nodal, not for newton"
    exits 0 "$BIN/step" --with forces,contacts hard.abut -o o.abut
    exits 2 "$BIN/step" --solver pd --contact ignore --iterations 5 --tolerance 1e-3 "$pile" -o o.abut
    says "--tolerance does not go with --iterations 5"
    exits 2 "$BIN/step" --iterations 5 --max-newton 9 "$pile" -o o.abut
    says "--max-newton does not go with --iterations 5"
    for o in "-n 2" "--until 1" "--every 2" "--with forces"; do
        # shellcheck disable=SC2086
        exits 2 "$BIN/step" --one-pass $o "$pile" -o o.abut
        says " and --one-pass: "
    done
    exits 2 "$BIN/step" --dry-run --checkpoint-every 1min "$pile"
    says "--dry-run and --checkpoint-every"
    exits 2 "$BIN/step" --dry-run --compress 3 "$pile"
    says "--dry-run and --compress"
}

@test "-n and --until: what comes first ends the run" {
    frames() { "$BIN/step" -q "$@" "$pile" | "$BIN/export" --dump --no-data | grep -c ^frame; }
    [ "$(frames -n 2 --until 0.05)" -eq 3 ]         # steps of 0.01 s, and the frame at the start
    [ "$(frames -n 5 --until 0.03)" -eq 4 ]
    [ "$(frames -n 0 --until 0.03)" -eq 1 ]
    "$BIN/step" -q -n 3 --until-rest 1e-9 --until 0.02 "$pile" -o rest.abut || [ $? -eq 1 ]
    [ "$("$BIN/export" --dump --no-data rest.abut | grep -c ^frame)" -eq 3 ]
}

@test "numbers of options take the units of a scene" {
    "$BIN/step" -q --until 0.03 "$pile" -o to.abut
    for t in 30ms '0.03 s' 5e-4min 30e3us; do "$BIN/step" -q --until "$t" "$pile" | cmp - to.abut; done
    exits 2 "$BIN/step" --until 30mm "$pile"
    says "--until: '30mm' is not a number, if it has a unit one of s, ms, us, min, h"
    exits 2 "$BIN/step" --armijo 0.1s "$pile"
    says "--armijo: '0.1s' is not a number"
    exits 2 "$BIN/step" --until ms "$pile"
    says "'ms' is not a number"
}

# bats test_tags=slow
@test "step --guess: every step ends where it ends from any guess, start is --without warm-start" {
    skip_without_numpy
    go coast --guess coast
    for g in start inertia symplectic accelerated jacobi; do
        go $g --guess $g
        near coast.abut $g.abut 8 1e-5
        claims 'its("coast") != its("'$g'")' coast $g
    done
    "$BIN/step" -q -j 1 -n 8 --without warm-start "$pile" -o cold.abut
    near start.abut cold.abut 8 0
    exits 2 "$BIN/step" --guess luck "$pile"
    says "coast, start, inertia, symplectic, accelerated, jacobi"
    exits 2 "$BIN/step" --guess jacobi --device twin "$pile"
    says "takes --guess coast"
    exits 2 "$BIN/step" --guess inertia --solver nodal "$pile"
    says "--guess"
}

@test "step: --with and --without given again add to what was said before; a file given twice is refused" {
    "$BIN/step" -q -n 2 --with forces,energies "$pile" -o one.abut
    "$BIN/step" -q -n 2 --with energies --with forces "$pile" -o two.abut
    cmp one.abut two.abut
    "$BIN/step" -q -n 2 --without reuse,look-ahead "$pile" -o one.abut
    "$BIN/step" -q -n 2 --without look-ahead --without reuse "$pile" -o two.abut
    cmp one.abut two.abut
    "$BIN/step" -q -n 1 --lags +2 --iterations 010 "$pile" -o one.abut
    "$BIN/export" --dump --no-data one.abut | grep -F '"iterations":10,"lags":2}'
    exits 2 "$BIN/step" -n 2 "$pile" -o one.abut --report a.jsonl --report b.jsonl
    says "--report: given twice, a.jsonl and b.jsonl"
    exits 2 "$BIN/export" --csv a.csv one.abut --csv b.csv
    says "--csv: given twice, a.csv and b.csv"
    [ ! -e a.csv ]
}

@test "step: a scene that its solver refuses leaves no file, not even the frames that it came with" {
    "$BIN/mesh-prep" --new drop > drop.yaml
    "$BIN/mesh-prep" -q drop.yaml -o drop.abut
    exits 3 "$BIN/step" --solver sqp drop.abut -o o.abut
    exits 1 grep salvage "$BATS_TEST_TMPDIR/stderr"
    [ ! -e o.abut.part ]
    exits 3 "$BIN/step" --solver pd drop.abut -o o.abut
    [ ! -e o.abut ]
    [ ! -e o.abut.part ]
    cat drop.abut | exits 3 "$BIN/step" --solver pd -o o.abut      # of a pipe there is no other copy
    [ -e o.abut.part ]
}
