#!/usr/bin/env bats
# Friction against closed forms and limit analysis: pipelines/friction.sh fails when a number is off.
load ../tools/helpers

friction() { OUT=$BATS_TEST_TMPDIR BIN=$BIN "$ROOT/pipelines/friction.sh" "$1"; }

@test "a block on a slope creeps by its smoothing law and slides by Coulomb's" { friction slope; }
@test "an arch stands just above the coefficient of limit analysis and falls just below" { friction arch; }
@test "leaning boards stand just above the coefficient of limit analysis and fall just below" { friction cards; }
@test "a card house of two storeys stands at 0.5 and falls at 0.2" { friction house; }
@test "a rod that is pushed foot first sticks, slips and sticks at times that do not depend on the time step" { friction rod; }

# bats test_tags=slow
@test "stages between friction passes: the identity changes no byte, a relaxation converges, a rule in awk decides" {
    skip_without_numpy
    OUT=$BATS_TEST_TMPDIR BIN=$BIN run "$ROOT/pipelines/passes.sh"
    echo "$output"
    [ "$status" -eq 0 ]
    count() { sed -n "s/^$1: \([0-9]*\) passes.*/\1/p" <<< "$output"; }
    [ "$(count plain)" -gt 2 ]
    [ "$(count same)" -eq "$(count plain)" ]
    [ "$(count ruled)" -lt "$(count plain)" ]
    # the relaxed passes end in the same equilibrium, by another way: positions to a few tolerances (7e-6 m/s) times h
    cat > near.py <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import abut_stream, numpy as np
a, b = (list(abut_stream.read(f))[-1] for f in sys.argv[2:])
d = np.abs(a["node/x"] - b["node/x"]).max()
assert a.step == b.step and 0 < d < 5e-7, d
P
    "$PYTHON" near.py "$ROOT/formats/python" "$BATS_TEST_TMPDIR/plain.abut" "$BATS_TEST_TMPDIR/relaxed.abut"
}
