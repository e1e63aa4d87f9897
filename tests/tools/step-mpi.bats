#!/usr/bin/env bats
# step-mpi: step by processes that divide the work, of `make MPI=1`; $MPI_BIN: the folder of that build (build/gcc-mpi/bin).
# What the processes divide is tested to the bit in tests/unit/test_ranks.c, without MPI.  ABUT_LONG=1 adds a block of 200 000 tets.
load helpers

MPI_BIN=${MPI_BIN:-$ROOT/build/gcc-mpi/bin}
skip_without_mpi() {
    [ -x "$MPI_BIN/step-mpi" ] || skip "no $MPI_BIN/step-mpi: make MPI=1"
    skip_without_program mpirun
}
# a run that a failed test leaves ends with it
teardown() { [ ! -e "$TMP/running" ] || kill "$(< "$TMP/running")" 2>/dev/null || true; }
# ranks N OPTION...: step-mpi by N processes, which sleep while they wait: there are fewer processors
ranks() {
    local n=$1; shift
    timeout "${PATIENCE:-300}" mpirun --oversubscribe --allow-run-as-root --bind-to none --mca mpi_yield_when_idle 1 -x LD_PRELOAD="$AIDS/yielding.so" \
        -n "$n" "$MPI_BIN/step-mpi" "$@"
}
# words of step-mpi itself on stderr, of the last command given to exits, without those of mpirun
words() { grep '^step-mpi: \|^process ' "$BATS_TEST_TMPDIR/stderr"; }

# same_iterations FILE...: reports of one run by different numbers of processes: in each step conjugate gradients for one of Newton's
# iterations that are within 2 of each other, and in the whole run within a half
same_iterations() {
    "$PYTHON" - "$@" <<'P'
import json, sys
runs = [[json.loads(line) for line in open(f)] for f in sys.argv[1:]]
for step in zip(*runs):
    of = [r["cg_iterations"] / max(r["newton_iterations"], 1) for r in step]
    assert max(of) - min(of) <= 2, (step[0]["step"], of)
mean = [sum(r["cg_iterations"] for r in rows) / sum(r["newton_iterations"] for r in rows) for rows in runs]
assert min(mean) > 0.5 and max(mean) - min(mean) <= 0.5, mean
P
}

# agree NAME STEPS LIMIT N...: NAME.abut by step and by N processes: judged, near each other by LIMIT, m, for each step
agree() {
    local name=$1 steps=$2 limit=$3 n
    "$BIN/step" -q -n "$steps" "$name.abut" -o "$name-step.abut"
    for n in "${@:4}"; do
        ranks "$n" -q -n "$steps" --report "$name-$n.jsonl" "$name.abut" -o "$name-$n.abut"
        "$BIN/ccd-check" -q --no-output "$name-$n.abut"
        near "$name-step.abut" "$name-$n.abut" "$steps" "$limit"
    done
    local reports=("${@:4}")
    reports=("${reports[@]/#/$name-}")
    same_iterations "${reports[@]/%/.jsonl}"
}

# made NAME [OPTION...]: NAME.abut of the scene on standard input, with one barrier stiffness
made() {
    local name=$1; shift
    "$BIN/mesh-prep" -q - "$@" -o "$name-first.abut"
    one_stiffness "$name-first.abut" "$name.abut"
}

@test "the default build has no step-mpi and nothing of MPI" {
    case $BIN in *-mpi/bin) skip "this build has MPI" ;; esac
    [ ! -e "$BIN/step-mpi" ]
    ldd "$BIN/step" > libraries
    exits 1 grep -i 'libmpi\|petsc' libraries
}

@test "eight bodies drop on each other, on an obstacle and on a floor, with friction: runs of 1 to 4 processes are those of step" {
    skip_without_mpi
    skip_without_numpy
    made drop <<'Y'
abut: 1
time: {step: 0.01 s}
tolerance: 1e-4 m/s
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.4}}
materials:
  jelly: {model: neo-hookean, density: 1000, young: 5e4, poisson: 0.4}
objects:
  a: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [3, 2, 3]}}, material: jelly, translate: [0, 0.06, 0]}
  b: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [2, 2, 2]}}, material: jelly, translate: [0.1, 0.17, 0.04]}
  c: {generate: {sphere: {radius: 0.06, cells: 3}}, material: jelly, translate: [0, 0.3, 0]}
  d: {generate: {box: {size: [0.1, 0.1, 0.3], cells: [2, 1, 3]}}, material: jelly, translate: [0.28, 0.06, 0]}
  e: {generate: {box: {size: [0.2, 0.05, 0.05], cells: [4, 1, 1]}}, material: jelly, rotate: {axis: [0, 1, 0], angle: 30 deg}, translate: [0.15, 0.26, 0.02]}
  f: {generate: {sphere: {radius: 0.05, cells: 3}}, material: jelly, translate: [0.3, 0.175, 0]}
  g: {generate: {box: {size: [0.08, 0.08, 0.08], cells: [1, 1, 1]}}, material: jelly, translate: [-0.3, 0.045, 0]}
  h: {generate: {box: {size: [0.08, 0.08, 0.08], cells: [2, 2, 2]}}, material: jelly, rotate: {axis: [1, 0, 1], angle: 20 deg}, translate: [-0.3, 0.15, 0]}
  post: {generate: {cylinder: {radius: 0.03, height: 0.2, cells: [3, 2]}}, obstacle: true, translate: [0.02, 0.11, 0.25]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    agree drop 20 2e-6 1 2 3 4
    "$PYTHON" - drop-3.jsonl <<'P'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert max(r["contacts"] for r in rows) > 20 and max(r["sticking_contacts"] for r in rows) > 10 and rows[-1]["candidates"] > 100
P
}

@test "handles twist a mat: runs of 1 to 4 processes are those of step" {
    skip_without_mpi
    skip_without_numpy
    made twist --set objects.mat.generate.box.cells=[12,1,12] --set tolerance="1e-4 m/s" < "$ROOT/pipelines/examples/twist.yaml"
    agree twist 20 2e-6 1 2 3 4
}

@test "two cards lean on each other by friction under a third: runs of 1 to 4 processes are those of step" {
    skip_without_mpi
    skip_without_numpy
    made cards <<'Y'
abut: 1
time: {step: 0.01 s}
tolerance: 1e-4 m/s
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.6}}
materials:
  card: {model: neo-hookean, density: 600, young: 1e7, poisson: 0.3}
objects:
  left:  {generate: {box: {size: [0.01, 0.2, 0.15], cells: [1, 6, 4]}}, material: card, rotate: {axis: [0, 0, 1], angle: -20 deg}, translate: [-0.0408, 0.0962, 0]}
  right: {generate: {box: {size: [0.01, 0.2, 0.15], cells: [1, 6, 4]}}, material: card, rotate: {axis: [0, 0, 1], angle: 20 deg}, translate: [0.0408, 0.0962, 0.01]}
  roof:  {generate: {box: {size: [0.2, 0.01, 0.15], cells: [6, 1, 4]}}, material: card, translate: [0, 0.1985, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    agree cards 20 2e-6 1 2 3 4
}

@test "two boxes of several parts each press on each other: 1 to 4 processes take the same conjugate gradients, whatever the cut" {
    skip_without_mpi
    skip_without_numpy
    made press --set objects.low.generate.box.cells=[12,8,12] --set objects.high.generate.box.cells=[12,8,12] \
        --set tolerance='1e-4 m/s' < "$ROOT/tests/bench/press.yaml"
    agree press 4 2e-6 1 2 3 4
    "$PYTHON" - press-1.jsonl press-2.jsonl press-3.jsonl press-4.jsonl <<'P'
import json, sys
runs = [[json.loads(line) for line in open(f)] for f in sys.argv[1:]]
assert min(r["contacts"] for r in runs[0]) > 500
for key in "newton_iterations", "cg_iterations":
    of = [[r[key] for r in rows] for rows in runs]
    assert all(abs(a - b) <= 2 for rows in of for a, b in zip(rows, of[0])), (key, of)
P
}

@test "a block of 200 000 tets comes down on a plane: runs of 1 to 4 processes are those of step" {
    [ -n "${ABUT_LONG:-}" ] || skip "ABUT_LONG is not set"
    skip_without_mpi
    skip_without_numpy
    made block <<'Y'
abut: 1
time: {step: 0.01 s}
tolerance: 1e-3 m/s
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.3}}
materials:
  jelly: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}
objects:
  block: {generate: {box: {size: [1, 0.3, 1], cells: [45, 17, 45]}}, material: jelly, translate: [0, 0.1522, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    PATIENCE=1800 agree block 20 2e-5 1 2 3 4
}

@test "shells, rods, springs, attachments and pressure beside tets: runs of 1 to 3 processes are those of step" {
    skip_without_mpi
    skip_without_numpy
    "$BIN/mesh-prep" -q - -o bare.abut <<'Y'
abut: 1
time: {step: 0.01 s}
tolerance: 1e-4 m/s
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.3}}
materials:
  jelly: {model: neo-hookean, density: 1000, young: 5e4, poisson: 0.4}
  felt: {density: 500, young: 20 kPa, poisson: 0.3}
  wire: {density: 1000, young: 1e6, poisson: 0.3}
objects:
  block: {generate: {box: {size: [0.2, 0.06, 0.2], cells: [4, 2, 4]}}, material: jelly, translate: [0, 0.0315, 0]}
  cover: {generate: {cloth: {size: [0.24, 0.24], cells: [8, 8]}}, material: felt, shell: {thickness: 1 mm}, translate: [0.02, 0.067, 0.01]}
  sail:  {generate: {cloth: {size: [0.1, 0.1], cells: [4, 4]}}, material: felt, shell: {thickness: 1 mm, pressure: 2}, translate: [0.4, 0.2, 0]}
  rope:  {generate: {rod: {length: 0.3, cells: 10}}, material: wire, rod: {radius: 3 mm}, translate: [0, 0.12, 0.02]}
  slab:  {generate: {box: {size: [0.1, 0.05, 0.1], cells: [2, 1, 2]}}, material: jelly, translate: [-0.4, 0.2, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
attachments:
  - {from: {object: slab, nodes: [0]}, to: {point: [-0.4, 0.4, 0]}, stiffness: 200 N/m}
Y
    "$BIN/springs" -q --stiffness 20 bare.abut -o first.abut
    one_stiffness first.abut thin.abut
    agree thin 10 2e-6 1 2 3
    grep -q '"contacts":[1-9]' thin-3.jsonl
}

@test "processes with no unknown, and a body that all of them have some of" {
    skip_without_mpi
    skip_without_numpy
    two_boxes 1 0.312 | made small --set tolerance='1e-4 m/s' --set contact.friction.mu=0
    agree small 8 2e-6 1 5
    "$PYTHON" - "$ROOT" small.abut <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
model, frame = list(abut_stream.read(sys.argv[2]))
assert len(frame["node/x"]) == 16
P
    ranks 18 -q -n 2 small.abut -o many.abut
    "$BIN/ccd-check" -q --no-output many.abut
}

@test "a stage of a pipe; a restart has the same bytes, and so has every -j; the history names the processes and PETSc" {
    skip_without_mpi
    two_boxes 3 0.312 | "$BIN/mesh-prep" -q - -o start.abut
    ranks 2 -q -n 8 start.abut -o whole.abut
    "$BIN/mesh-prep" -q <(two_boxes 3 0.312) | ranks 2 -q -n 5 | ranks 2 -q -j 2 -n 3 | "$BIN/ccd-check" -q -o piped.abut
    same_end whole.abut piped.abut
    "$BIN/export" --dump --no-data whole.abut > dump
    grep -F '"linear_solver":"petsc-schwarz of PETSc 3.' dump
    grep -F '"ranks":2' dump
}

@test "what is not there is refused by name: of a scene with exit 3, of the options with 2" {
    skip_without_mpi
    two_boxes 2 0.312 | "$BIN/mesh-prep" -q - -o start.abut
    exits 2 ranks 2 --solver dot start.abut -o o.abut
    [ "$(words | head -1)" = "step-mpi: --solver dot: step-mpi has newton; step has the others" ]
    exits 2 ranks 2 --linear-solver own start.abut -o o.abut
    says "step-mpi: --linear-solver own: step-mpi has petsc-schwarz and petsc-gamg; step has the others"
    exits 2 ranks 2 --one-pass start.abut -o o.abut
    exits 2 ranks 2 --nonsense start.abut -o o.abut
    exits 3 ranks 2 none.abut -o o.abut
    says "none.abut: No such file or directory"
    "$BIN/mesh-prep" --new curved | "$BIN/mesh-prep" -q - -o curved.abut
    exits 3 ranks 2 curved.abut -o o.abut
    [ "$(grep -c 'the scene has' stderr)" = 1 ]
    says "the scene has tets of order 2 or more, whose work processes cannot divide yet: step has them"
    "$BIN/mesh-prep" -q - -o reed.abut <<'Y'
abut: 1
time: {step: 0.01 s}
materials: {felt: {density: 500, young: 20 kPa, poisson: 0.3}}
objects:
  reed: {generate: {rod: {length: 0.2, cells: 4}}, material: felt, rod: {radius: 8 mm, curved: true}}
Y
    exits 3 ranks 2 reed.abut -o o.abut
    says "the scene has curved rods"
    [ ! -e o.abut ]
}

@test "a step that no iterations solve ends with exit 4 and one message, that of step but for the solver" {
    skip_without_mpi
    two_boxes 2 0.312 | "$BIN/mesh-prep" -q - --set tolerance='1e-6 m/s' -o start.abut
    exits 4 "$BIN/step" -q -n 5 --stop published --max-newton 1 start.abut -o s.abut
    says "step 1 (t = 0 s)"
    exits 4 ranks 3 -q -n 5 --stop published --max-newton 1 start.abut -o m.abut
    words > said
    [ "$(grep -c 'step 1 (t = 0 s)' said)" = 1 ]
    [ ! -e m.abut ]
}

@test "process 0 fails alone, as the disk is full: exit 5 and its message within seconds" {
    skip_without_mpi
    two_boxes 2 0.312 | "$BIN/mesh-prep" -q - -o start.abut
    exits 5 timeout 60 mpirun --oversubscribe --allow-run-as-root --bind-to none -x LD_PRELOAD="$AIDS/yielding.so" -n 3 \
        "$MPI_BIN/step-mpi" -q -n 400 start.abut -o /dev/full
    says "step-mpi: "
    says "No space left on device"
}

# the process of that number of the run that mpirun, $1, has started
process_of() {
    local p
    for p in $(pgrep -P "$1"); do
        tr '\0' '\n' < "/proc/$p/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$2" && echo "$p" && return
    done
}

@test "a process is killed: an exit code, nothing that looks whole, and salvage has the frames" {
    skip_without_mpi
    two_boxes 2 0.312 | "$BIN/mesh-prep" -q - -o start.abut
    local number
    for number in 1 0; do
        rm -f run.abut*
        : > run.jsonl
        mpirun --oversubscribe --allow-run-as-root --bind-to none --mca mpi_yield_when_idle 1 -x LD_PRELOAD="$AIDS/yielding.so" -n 3 \
            "$MPI_BIN/step-mpi" -q -n 100000 --report run.jsonl start.abut -o run.abut 2> said &
        local run=$! tries=0
        echo "$run" > "$TMP/running"
        until [ "$(wc -l < run.jsonl)" -ge 3 ]; do
            sleep 0.1
            tries=$((tries + 1))
            [ $tries -lt 600 ]
        done
        kill -KILL "$(process_of $run $number)"
        local code=0
        wait $run || code=$?
        [ $code -ne 0 ]
        [ ! -e run.abut ]
        [ -e run.abut.part ]
        exits 3 "$BIN/step" -q run.abut.part -o on.abut
        "$BIN/salvage" run.abut.part -o saved.abut
        "$BIN/ccd-check" -q --no-output saved.abut
    done
}
