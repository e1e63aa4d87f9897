#!/usr/bin/env bats
# What formats/MOTIONS.md promises, asked of the programs: each key, each condition, each block of the document.
load helpers

promises() {
    skip_without_numpy
    "$PYTHON" "$ROOT/tests/tools/motions.py" "$ROOT" "$BIN" "$1"
}

@test "motions that prescribe nodes are where the document says, held, free or resting afterwards" { promises moves; }
@test "loads have their closed forms: what is said, when, times their factors" { promises loads; }
@test "ends of motions, keyframes and sequences" { promises keys; }
@test "selections are those of numpy" { promises selections; }
@test "attachments and seams tie what the document says" { promises attachments; }
@test "every block of the document runs" { promises document; }
