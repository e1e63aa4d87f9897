#!/usr/bin/env bats
# Scenes of the public IPC release, from its own scripts: the first steps, through contact, judged by ccd-check.
load ../tools/helpers

judged() { # script steps
    skip_without "ipc/input/$1"
    "$BIN/mesh-prep" --ipc-script "$DATA/ipc/input/$1" | "$BIN/step" -n "$2" --report r.jsonl | "$BIN/ccd-check" > /dev/null
    [ "$(wc -l < r.jsonl)" -eq "$2" ]
    grep -q '"min_gap":[0-9]' r.jsonl     # there was contact
}

@test "two cubes fall" { judged tutorialExamples/2cubesFall.txt 60; }
@test "a rotating obstacle of points" { judged tutorialExamples/MCO/2cubesFall_rotateCO_points.txt 60; }
@test "a rotating obstacle of edges" { judged tutorialExamples/MCO/2cubesFall_rotateCO_edges.txt 60; }
@test "a rotating triangle" { judged tutorialExamples/MCO/2cubesFall_rotateCO_triangle.txt 60; }
@test "an obstacle that follows a mesh sequence" { judged tutorialExamples/advanced/2cubesFall_rotateCO_meshSeq.txt 60; }
@test "handles pull two corners apart" { judged tutorialExamples/BC/2cubesFall_DBC_timeRange.txt 80; }
# bats test_tags=slow
@test "mat on knives" { judged paperExamples/2_matKnives.txt 12; }
# bats test_tags=slow
@test "ball on points" { judged paperExamples/2_spherePoints.txt 9; }
