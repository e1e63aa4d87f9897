#!/usr/bin/env bats
# Friction against closed forms and limit analysis: friction.sh fails when a number is off.
load ../../../tests/tools/helpers

friction() { OUT=$BATS_TEST_TMPDIR BIN=$BIN "$ROOT/pipelines/experiments/friction/friction.sh" "$1"; }

@test "a block on a slope creeps by its smoothing law and slides by Coulomb's" { friction slope; }
@test "an arch stands just above the coefficient of limit analysis and falls just below" { friction arch; }
@test "leaning boards stand just above the coefficient of limit analysis and fall just below" { friction cards; }
@test "a card house of two storeys stands at 0.5 and falls at 0.2" { friction house; }
@test "a rod that is pushed foot first sticks, slips and sticks at times that do not depend on the time step" { friction rod; }

