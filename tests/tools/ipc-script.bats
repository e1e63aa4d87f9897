#!/usr/bin/env bats
# mesh-prep --ipc-script: the animation scripts, obstacles and placement of the public IPC code; --to-yaml.
load helpers

# a folder like the release's: a tet, a triangle, and a cube whose corner is at the origin; the script is standard input
release() {
    mkdir -p r/input/a
    printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n' > r/input/t.msh
    printf 'v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n' > r/input/tri.obj
    printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n' > r/input/cube.obj
    cat > r/input/a/s.txt
}

explained() { "$BIN/mesh-prep" --ipc-script r/input/a/s.txt --explain -o a.abut "$@" 2>text; }
yaml() { "$BIN/mesh-prep" -q --ipc-script r/input/a/s.txt --to-yaml -o s.yaml "$@"; }
# refused TEXT: the script on standard input is unusable, and the message says TEXT
refused() {
    release
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut && says "$1" && [ ! -e out.abut ]
}

@test "script fall raises the fitted scene by half of l; half-spaces and meshCO stay" {
    release <<'S'
size 2
script fall
shapes input 1
input/t.msh 5 6 7  0 0 0  3 3 3
halfSpace 0 0.5 0  0 1 0  50 0.1
meshCO input/cube.obj -3 0 0  4  50  0.3
S
    explained
    # fitted to 2 with its corner at 0; l = 2 sqrt 3
    grep -A2 "body t-1" text | grep -F "[0, 1.73205, 0] to [2, 3.73205, 2] m"
    grep -A2 "obstacle cube-2" text | grep -F "[-5, -2, -2] to [-1, 2, 2] m"
    grep -F "0, 0.5, 0 m, normal 0, 1, 0" text
}

@test "meshCO: the middle of the mesh, scaled and turned, comes to the point" {
    release <<'S'
shapes input 1
input/t.msh 0 9 0  0 0 0  1 1 1
meshCO input/tri.obj 1 2 3  2  50  0.25  rotate 0 0 90  # a comment
S
    explained
    grep -A2 "obstacle tri-2" text | grep -F "[1, 1, 2] to [1, 3, 4] m"
    grep -A9 "obstacle tri-2" text | grep -E "mu +0.25"
}

@test "rotateModel turns all shapes about the origin before size" {
    release <<'S'
shapes input 2
input/t.msh 0 0 0  0 0 0  1 1 1
input/t.msh 3 0 0  0 0 0  1 1 1
rotateModel 0 0 1 90
size 4
S
    explained
    grep -A2 "body t-2" text | grep -F "[0, 3, 0] to [1, 4, 1] m"
}

@test "shape input places one mesh as it stands; handleRatio widens the ends that twist turns" {
    release <<'S'
shape input input/t.msh
script twist
handleRatio 0.5
S
    yaml
    grep -F "{relative-box: [[-1, -1, -1], [0.5, 2, 2]]}" s.yaml
    grep -F "{relative-box: [[0.5, -1, -1], [2, 2, 2]]}" s.yaml
    explained
    grep -A2 "body t-1" text | grep -F "[0, 0, 0] to [1, 1, 1] m"
    grep -F "2 motions, 4 handle nodes" text
}

@test "dragright pulls the foremost 4 % along x; pushRightMost1 the last node" {
    release <<'S'
shapes input 1
input/t.msh 0 0 0  0 0 0  1 1 1
script dragright
S
    yaml
    grep -F "{relative-box: [[0.96, -1, -1], [2, 2, 2]]}" s.yaml
    grep -F "translate: [0.5, 0, 0]" s.yaml
    grep -F "lift: 0.5 l" s.yaml
    explained && grep -F "1 motions, 1 handle nodes" text
    sed -i 's/dragright/pushRightMost1/' r/input/a/s.txt
    yaml
    grep -F "translate: [0.15, 0, 0]" s.yaml
    run grep -F "lift" s.yaml
    [ "$status" -eq 1 ]
    explained && grep -F "1 motions, 1 handle nodes" text
}

@test "DCORotCylinders: the gap of each pair draws downwards" {
    release <<'S'
shapes input 5
input/cube.obj 0 0 0  0 0 0  1 1 1
input/cube.obj 0 0 2  0 0 0  1 1 1
input/cube.obj 0 -3 0  0 0 0  1 1 1
input/cube.obj 2 -3 0  0 0 0  1 1 1
input/t.msh 0 9 0  0 0 0  1 1 1
script DCORotCylinders
time 1 0.01
turnOffGravity
S
    yaml
    # the first is at z = 0, the second at z = 2: turning about +x moves the side z > 0 of the first towards -y
    [ "$(grep -cF 'axis: [2, 0, 0]' s.yaml)" = 1 ] && [ "$(grep -cF 'axis: [-2, 0, 0]' s.yaml)" = 1 ]
    [ "$(grep -cF 'rate: 90 deg/s' s.yaml)" = 4 ]
    explained
    "$BIN/step" -q -j 1 -n 1 a.abut -o b.abut
    # of each cube a corner beside the gap, and one on the far side
    "$BIN/export" --dump b.abut --array node/x | grep '^ ' | awk '
        NR <= 36 { y[NR - 1] = $2 }
        NR > 36 { rise[NR - 37] = $2 - y[NR - 37] }
        END { exit !(NR == 72 && rise[4] < 0 && rise[8] < 0 && rise[17] < 0 && rise[24] < 0 &&
                     rise[0] > 0 && rise[12] > 0 && rise[16] > 0 && rise[25] > 0) }'
}

@test "DCOSqueezeOut moves the first obstacle down, DCOBallHitWall throws the bodies" {
    release <<'S'
shapes input 3
input/tri.obj 0 20 0  0 0 0  1 1 1
input/tri.obj 0 5 0  0 0 0  1 1 1
input/t.msh 0 9 0  0 0 0  1 1 1
script DCOSqueezeOut
S
    yaml
    grep -A1 -F "select: {object: tri-1}" s.yaml | grep -F "translate: [0, -0.3, 0]"
    sed -i 's/DCOSqueezeOut/DCOBallHitWall 1 67/' r/input/a/s.txt
    yaml
    grep -F "velocity: [67, 0, 0]" s.yaml
    sed -i 's/DCOBallHitWall 1 67/DCOBallHitWall 2 67/' r/input/a/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
    says "s.txt:5: script 'DCOBallHitWall': the first number is not 1"
}

@test "DCOSegBedSquash lowers the last obstacle until the time that --set must say" {
    release <<'S'
shapes input 3
input/tri.obj 0 0 0  0 0 0  1 1 1
input/tri.obj 0 20 0  0 0 0  1 1 1
input/t.msh 0 9 0  0 0 0  1 1 1
script DCOSegBedSquash
S
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
    says "s.txt:5:1: until is 'not said in the script (give it with --set)'"
    explained --set motion.0.until='2 s'
    yaml
    grep -A1 -F "select: {object: tri-2}" s.yaml | grep -F "translate: [0, -1, 0]"
}

@test "what is not published, not known or wrong is refused with file and line" {
    local t=$'\ninput/t.msh 0 9 0  0 0 0  1 1 1'
    refused "s.txt:3: script 'stretchAndPause': how fast the ends move" <<< "shapes input 1$t"$'\nscript stretchAndPause'
    refused "s.txt:3: script 'DCOVerschoorRoller': which roller turns" <<< "shapes input 1$t"$'\nscript DCOVerschoorRoller'
    refused "s.txt:3: script 'twirst': not known; the nearest known one is 'twist'" <<< "shapes input 1$t"$'\nscript twirst'
    refused "s.txt:3: script 'fall': expected no number after it" <<< "shapes input 1$t"$'\nscript fall 3'
    refused "s.txt:3: script 'DCORotCylinders': expected four obstacles" <<< "shapes input 1$t"$'\nscript DCORotCylinders'
    refused "s.txt:3: script 'DCOSqueezeOut': expected an obstacle" <<< "shapes input 1$t"$'\nscript DCOSqueezeOut'
    refused "s.txt:3: handleRatio 1: expected more than 0 and less than 1" <<< "shapes input 1$t"$'\nhandleRatio 1'
    refused "s.txt:3: meshCO: 'turn': expected rotate" <<< "shapes input 1$t"$'\nmeshCO input/tri.obj 0 0 0 1 50 0 turn 1 2 3'
    refused "s.txt:4: rotateModel a second time" <<< "shapes input 1$t"$'\nrotateModel 1 0 0 9\nrotateModel 1 0 0 9'
    refused "s.txt:3: damping 0.1 is not supported yet" <<< "shapes input 1$t"$'\ndampingRatio 0.1'
}

@test "--to-yaml writes a scene that becomes the same bytes, from any folder" {
    release <<'S'
size 2
script fall
shapes input 3
input/t.msh 5 6 7  0 10 0  3 3 3  material 500 1e6 0.3  initVel 0 -1 0  0 90 0 \
    DBC -0.1 -0.1 -0.1  1.1 0.5 1.1  0 0 0.1  0 20 0  1.5 2
input/tri.pt -20 0 0  0 0 0  1 1 1
input/tri.seg 20 0 0  0 0 0  1 1 1  angularVelocity 0 30 1
halfSpace 0 -0.5 0  0 1 0  50 0.1
rotateModel 0 0 1 0.7
meshCO input/cube.obj -3.3 0 0  4  50  0.3
S
    explained --set time.step=0.3333333333333333
    mkdir elsewhere
    "$BIN/mesh-prep" -q --ipc-script r/input/a/s.txt --set time.step=0.3333333333333333 --to-yaml > elsewhere/s.yaml
    "$BIN/mesh-prep" -q elsewhere/s.yaml -o b.abut
    # the history tells of --set; the model and the frame are the same
    cmp <("$BIN/export" --dump a.abut | grep -v '^prov') <("$BIN/export" --dump b.abut | grep -v '^prov')
    "$BIN/mesh-prep" -q --ipc-script r/input/a/s.txt -o c.abut
    "$BIN/mesh-prep" -q --ipc-script r/input/a/s.txt --to-yaml | "$BIN/mesh-prep" -q -o d.abut
    cmp c.abut d.abut
    # a scene of our own, twice: the text no longer changes
    "$BIN/mesh-prep" -q --to-yaml elsewhere/s.yaml | cmp - elsewhere/s.yaml
    exits 2 "$BIN/mesh-prep" --to-yaml --separate '1 mm' elsewhere/s.yaml -o out && says "--to-yaml and --separate: expected one of them"
}

@test "every tutorial script becomes the same bytes through --to-yaml" {
    skip_without ipc/input/tutorialExamples
    local f n=0
    while read -r f; do
        grep -q '^timeIntegration NM' "$f" && continue
        "$BIN/mesh-prep" -q --ipc-script "$f" -o a.abut
        "$BIN/mesh-prep" -q --ipc-script "$f" --to-yaml | "$BIN/mesh-prep" -q -o b.abut
        cmp a.abut b.abut
        n=$((n + 1))
    done < <(find "$DATA/ipc/input/tutorialExamples" -name '*.txt')
    [ "$n" = 21 ]
}

@test "the dolphin stands before its funnel, the tet above its slot, one node pushes the pencil" {
    skip_without ipc/input/paperExamples/13_dolphinFunnel.txt
    local p=$DATA/ipc/input/paperExamples
    "$BIN/mesh-prep" --explain --ipc-script "$p/13_dolphinFunnel.txt" -o a.abut 2>text
    grep -F "1 motions, 84 handle nodes" text
    "$BIN/mesh-prep" --explain --ipc-script "$p/10_tetSlots.txt" -o a.abut 2>text
    grep -A2 "obstacle cube-2" text | grep -F "to [-5e-07, 0.5, 1] m"
    "$BIN/mesh-prep" --explain --ipc-script "$p/20_pencilStickSlip.txt" -o a.abut 2>text
    grep -F "1 motions, 1 handle nodes" text
}
