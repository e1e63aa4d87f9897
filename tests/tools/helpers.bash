# For every tests/tools/*.bats: load helpers
#   $BIN   folder of the programs (default: bin under the repository's root)
#   $AIDS  folder of the programs that tests run besides
#   $ROOT  the repository's root;  $TMP  an empty folder for this test and its working folder
#   $DATA  data that need not be there: skip_without FILE ...

# a stage that dies in the middle of a pipe fails the test, and so does one in $(...)
set -o pipefail
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BIN=${BIN:-$ROOT/bin}
[[ $BIN == /* ]] || BIN=$ROOT/$BIN
if [[ $BIN =~ /build/[^/]+/bin$ ]]; then AIDS=${BIN%/bin}/tests; else AIDS=${BIN%/bin}/build/gcc/tests; fi
DATA=${ABUT_DATA:-$ROOT/../shared/data}
PYTHON=${PYTHON:-/usr/bin/python3}

setup() {
    TMP=$BATS_TEST_TMPDIR
    cd "$TMP" || return 1
}

# two_boxes CELLS HEIGHT: the scene of two soft boxes of CELLS cells a side above a floor, the upper one's centre at HEIGHT.
two_boxes() {
    cat <<Y
abut: 1
time: {step: 0.01 s}
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.3}}
materials:
  jelly: {model: neo-hookean, density: 1000, young: 3e4, poisson: 0.4}
objects:
  low:   {generate: {box: {size: [0.3, 0.2, 0.3], cells: [$1, $1, $1]}}, material: jelly, translate: [0, 0.105, 0]}
  high:  {generate: {box: {size: [0.3, 0.2, 0.3], cells: [$1, $1, $1]}}, material: jelly, translate: [0.1, $2, 0.05]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
}

# make_alone ARGUMENT...: make in the repository, where another suite may do the same at this time.
make_alone() { flock "$ROOT/build/make.lock" make -s --no-print-directory -C "$ROOT" "$@"; }

# same_end STREAM STREAM: the last frames of both have the same positions.
same_end() {
    local stream
    for stream; do
        "$BIN/export" --dump --array node/x "$stream" |
            awk '/^frame/ { x = $3 "\n" } /^ +-?[0-9]/ { x = x $0 "\n"; n++ } END { printf "%s", x; exit !n }' > "end.${stream//\//_}"
    done
    cmp "end.${1//\//_}" "end.${2//\//_}"
}

# Skips by name when one of the files (relative to $DATA) is absent.
skip_without() {
    local f
    for f in "$@"; do
        [[ -e $DATA/$f ]] || skip "no $f under $DATA (ABUT_DATA)"
    done
}

# Skips by name when a program or a Python module is absent.
skip_without_program() {
    command -v "$1" >/dev/null || skip "no $1"
}
skip_without_numpy() {
    "$PYTHON" -c 'import numpy' 2>/dev/null || skip "no numpy for $PYTHON"
}

# exits N COMMAND ...: the command ends with status N; its output is in the files stdout and stderr of $TMP.
exits() {
    local want=$1 got=0
    shift
    "$@" >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" || got=$?
    if ((got != want)); then
        echo "status $got, expected $want: $*"
        head -c 2000 "$BATS_TEST_TMPDIR/stderr"
        return 1
    fi
}

# says TEXT: the last command given to exits said so on stderr.
says() {
    grep -qF -- "$1" "$BATS_TEST_TMPDIR/stderr" && return
    echo "expected on stderr: $1"
    head -c 2000 "$BATS_TEST_TMPDIR/stderr"
    return 1
}

# writes TEXT: ... on stdout.
writes() {
    grep -qF -- "$1" "$BATS_TEST_TMPDIR/stdout" && return
    echo "expected on stdout: $1"
    head -c 2000 "$BATS_TEST_TMPDIR/stdout"
    return 1
}

# one barrier stiffness for whole runs: how often it is doubled on the way depends on the way, and with it the objective
one_stiffness() {
    "$PYTHON" - "$ROOT" "$1" "$2" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
model, frame = list(abut_stream.read(sys.argv[2]))
model["contact/kappa-min"][...] *= 20
model["contact/kappa-max"][...] = model["contact/kappa-min"]
with abut_stream.Writer(sys.argv[3]) as out:
    out.prov("one-stiffness", "1.0")
    out.model(model.arrays)
    out.frame(frame.step, frame.time, frame.arrays)
P
}

# near A B STEPS LIMIT: the frames of two runs agree to LIMIT, m, times the number of the step
near() {
    "$PYTHON" - "$ROOT" "$@" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
a, b = ([f for f in abut_stream.read(s) if f.kind == "frame"] for s in sys.argv[2:4])
assert len(a) == len(b) == int(sys.argv[4]) + 1
for m, n in zip(a, b):
    off = abs(m["node/x"] - n["node/x"]).max()
    assert off <= float(sys.argv[5]) * max(1, m.step), (m.step, off)
P
}

# twisted_mat ORDER [OPTIONS of mesh-prep]: twist.abut, a mat that is twisted by its ends until tets nearly invert at a corner
twisted_mat() {
    cat > twist.yaml <<'Y'
abut: 1
time: {step: 0.04 s}
gravity: [0, 0, 0]
contact: off
materials: {soft: {density: 1000, young: 2e4, poisson: 0.4}}
objects: {mat: {generate: {box: {size: [1, 0.05, 1], cells: [6, 1, 4]}}, order: 2}}
motion:
  - {select: {object: mat, box: [[-0.501, -1, -1], [-0.499, 1, 1]]}, rotate: {axis: [1, 0, 0], rate: 180 deg/s}}
  - {select: {object: mat, box: [[0.499, -1, -1], [0.501, 1, 1]]}, rotate: {axis: [1, 0, 0], rate: -180 deg/s}}
Y
    "$BIN/mesh-prep" -q twist.yaml --set objects.mat.order="$1" "${@:2}" -o twist.abut
}

# twice STREAM OUT: its model and frames two times, one after the other
twice() {
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$@" <<'P'
import sys
import abut_stream as s
with s.Writer(sys.argv[2]) as w:
    for _ in range(2):
        for i in s.read(sys.argv[1]):
            if i.kind == "model":
                w.model(i.arrays)
            else:
                w.frame(i.step, i.time, i.arrays, i.phase)
P
}
