#!/usr/bin/env bats
# Scenes of the public IPC release, from its own scripts: the first steps, through contact, judged by ccd-check.
load ../../../tests/tools/helpers

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

scenes() { OUT=$TMP "$ROOT/pipelines/experiments/scene-scripts/scenes.sh" "$@"; }
@test "scenes: skipped by name without the data; a script becomes a row, a refused one says why" {
    ABUT_DATA=$TMP/none run scenes
    [ "$status" -eq 0 ]
    [[ $output == "scenes: skipped, no $TMP/none/ipc/input"* ]]
    mkdir -p ipc/input/tutorialExamples
    printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n' > ipc/input/t.msh
    printf 'shape input input/t.msh\nground 0 -1\ntime 0.1 0.02\n' > ipc/input/tutorialExamples/good.txt
    printf 'nonsense\n' > ipc/input/tutorialExamples/bad.txt
    ABUT_DATA=$TMP run scenes
    [ "$status" -eq 0 ]
    [[ $output == *"| good | 4 | 1 | 5 of 5 | "*" | 0 | - |  | clean |"* ]]
    [[ $output == *"| bad | | | | | | | | refused: line 1: unsupported command 'nonsense'"* ]]
    [ -s "$BATS_TEST_TMPDIR/scenes.md" ]
    # a row in place of the one of its scene, one that was not there at the end of the table; the rest stays
    printf 'before\n\n| scene | x |\n|---|---|\n| good | old |\n| other | stays |\n\nafter\n' > table.md
    printf 'shape input input/t.msh\nscript stretch\ntime 0.04 0.02\nturnOffGravity\n' > ipc/input/tutorialExamples/new.txt
    ABUT_DATA=$TMP INTO=table.md run scenes new good
    [ "$status" -eq 0 ]
    [ "$(sed -n '5s/ of 5 .*//p' table.md)" = "| good | 4 | 1 | 5" ]
    [ "$(sed -n 6p table.md)" = "| other | stays |" ]
    [[ "$(sed -n 7p table.md)" == "| new | 4 | 1 | 2 of 2 | "*" | clean; assumed: the ends along x move apart, each at 0.1 m/s |" ]]
    [ "$(sed -n '8,$p' table.md)" = $'\nafter' ]
    [ "$(wc -l < table.md)" = 9 ]
    ABUT_DATA=$TMP INTO=table.md run scenes nobody
    [ "$status" -eq 2 ]
    [[ $output == *"scenes: no script nobody.txt under "* ]]
}
