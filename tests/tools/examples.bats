#!/usr/bin/env bats
# tests/examples: a stage of one's own is one new file and at most three lines in tables.
load helpers

@test "a linear solver is one file and two rows: a dense LDL^T gives the frames of the default" {
    "$ROOT/tests/examples/run" linear-solver
}

@test "a direction is one file and three rows: scaled gradient descent ends where Newton does, with contact" {
    "$ROOT/tests/examples/run" direction
}

@test "a barrier is one file and one row: a cube comes to rest on one without a logarithm" {
    "$ROOT/tests/examples/run" barrier
}

@test "a friction law is one file and one row: a block holds, creeps and slides by a sine" {
    "$ROOT/tests/examples/run" friction-law
}

@test "a material is one file and one row: a bar of Yeoh's is as long and as thin as its closed form" {
    "$ROOT/tests/examples/run" material
}

@test "an energy with a bound is one file and one row: no segment of a rod gets longer than its limit" {
    "$ROOT/tests/examples/run" term
}

@test "an element is one file and three rows: a beam of ten-node tetrahedra bends as Timoshenko's" {
    skip_without_numpy
    PYTHON=$PYTHON "$ROOT/tests/examples/run" element
}
