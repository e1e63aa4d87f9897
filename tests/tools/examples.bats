#!/usr/bin/env bats
# tests/examples: a stage of one's own is one new file and at most three lines in tables.
load helpers

@test "a linear solver is one file and two rows: a dense LDL^T gives the frames of the default" {
    "$ROOT/tests/examples/run" linear-solver
}

@test "a direction is one file and three rows: scaled gradient descent ends where Newton does, with contact" {
    "$ROOT/tests/examples/run" direction
}
