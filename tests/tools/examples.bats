#!/usr/bin/env bats
# tests/examples: a stage of one's own is one new file and at most three lines in tables.  All but
# the element, whose array no other scene has, are added to one copy of the tree.
# bats file_tags=slow
load helpers

setup_file() {
    "$ROOT/tests/examples/run" --build "$ROOT/build/examples/all" linear-solver direction barrier friction-law material term \
        time-scheme option key
}

claim() { "$ROOT/tests/examples/run" --test "$ROOT/build/examples/all" "$1"; }

@test "a linear solver is one file and two rows: a dense LDL^T gives the frames of the default" {
    claim linear-solver
}

@test "a direction is one file and two rows: scaled gradient descent ends where Newton does, with contact" {
    claim direction
}

@test "a barrier is one file and one row: a cube comes to rest on one without a logarithm" {
    claim barrier
}

@test "a friction law is one file and one row: a block holds, creeps and slides by a sine" {
    claim friction-law
}

@test "a material is one file and one row: a bar of Yeoh's is as long and as thin as its closed form" {
    claim material
}

@test "a time scheme is one row and its test: backward differences between second and third order, from one checkpoint to the next" {
    claim time-scheme
}

@test "an option of step is one row and its use: read, bounded, refused, explained and recorded" {
    claim option
}

@test "a key of scenes is one row and its use: listed, read, bounded and explained, and it acts" {
    claim key
}

@test "an energy with a bound is one file and one row: no segment of a rod gets longer than its limit" {
    claim term
}

@test "an element is one file and three rows: a beam of ten-node tetrahedra bends as Timoshenko's" {
    skip_without_numpy
    PYTHON=$PYTHON "$ROOT/tests/examples/run" element
}
