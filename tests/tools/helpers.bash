# For every tests/tools/*.bats: load helpers
#   $BIN   folder of the programs (default: bin under the repository's root)
#   $ROOT  the repository's root;  $TMP  an empty folder for this test and its working folder
#   $DATA  data that need not be there: skip_without FILE ...

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
BIN=${BIN:-$ROOT/bin}
[[ $BIN == /* ]] || BIN=$ROOT/$BIN
DATA=${ABUT_DATA:-$ROOT/../shared/data}
PYTHON=${PYTHON:-/usr/bin/python3}

setup() {
    TMP=$BATS_TEST_TMPDIR
    cd "$TMP" || return 1
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
