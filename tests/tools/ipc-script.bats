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
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
    says "$1"
    [ ! -e out.abut ]
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

@test "meshCO: divided by its longest side, scaled and turned, the mean of its points comes to the point" {
    release <<'S'
shapes input 1
input/t.msh 0 9 0  0 0 0  1 1 1
meshCO input/wedge.obj 1 2 3  2  50  0.25  rotate 0 0 90  # a comment
S
    # 6 x 3 x 4 with the mean of its points at (2, 1, 1): in units of the longest side -1/3 to 2/3, -1/6 to 1/3, -1/6 to 1/2
    printf 'v 0 0 0\nv 6 0 0\nv 0 3 0\nv 2 1 4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' > r/input/wedge.obj
    explained
    grep -A2 "obstacle wedge-2" text | grep -F "[0.333333, 1.33333, 2.66667] to [1.33333, 3.33333, 4] m"
    grep -A9 "obstacle wedge-2" text | grep -E "mu +0.25"
    yaml
    grep -A9 "wedge-2:" s.yaml | grep -F "origin: vertex-mean"
    grep -A9 "wedge-2:" s.yaml | grep -F "unit-size: true"
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

@test "dragright pulls the foremost 4 % along x through the obstacle; pushRightMost1 the last node back" {
    release <<'S'
shapes input 1
input/t.msh 0 0 0  0 0 0  1 1 1
ground 0 -9
script dragright
meshCO input/cube.obj 9 0 0  2  50  0
S
    yaml
    grep -F "{relative-box: [[0.96, -1, -1], [2, 2, 2]]}" s.yaml
    grep -F "translate: [0.5, 0, 0]" s.yaml
    grep -F "lift: 0.5 l" s.yaml
    grep -F "until: {past: cube-2}" s.yaml
    explained
    grep -F "1 motion, 1 handle node" text
    # the node at x = 1 passes x = 10 at 0.5 m/s
    "$BIN/export" --dump a.abut --array motion/window | grep -E "^ +0 +18$"
    exits 1 grep -F "assumed" text
    sed -i '/meshCO/d' r/input/a/s.txt
    explained
    grep -F "assumed: script 'dragright' (line 4): there is no obstacle to pull the tip through: it is pulled for ever" text
    sed -i 's/dragright/pushRightMost1/' r/input/a/s.txt
    yaml
    grep -F "translate: [-0.15, 0, 0]" s.yaml
    run grep -F "lift" s.yaml
    [ "$status" -eq 1 ]
    explained
    grep -F "1 motion, 1 handle node" text
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
    [ "$(grep -cF 'axis: [2, 0, 0]' s.yaml)" = 1 ]
    [ "$(grep -cF 'axis: [-2, 0, 0]' s.yaml)" = 1 ]
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
    explained
    grep -F "assumed: script 'DCOSqueezeOut' (line 5): the plate stops when it has done 90 % of its way to the lower end" text
    # from 20 to 5 it is 15 m, of which 13.5 m at 0.3 m/s
    "$BIN/export" --dump a.abut --array motion/window | grep -E "^ +0 +45$"
    sed -i 's/DCOSqueezeOut/DCOBallHitWall 1 67/' r/input/a/s.txt
    yaml
    grep -F "velocity: [67, 0, 0]" s.yaml
    sed -i 's/DCOBallHitWall 1 67/DCOBallHitWall 2 67/' r/input/a/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
    says "s.txt:5: script 'DCOBallHitWall': the first number is not 1"
}

@test "DCOSegBedSquash lowers the last obstacle to 0.1 m over the first" {
    release <<'S'
shapes input 3
input/tri.obj 0 1 0  0 0 0  1 1 1
input/tri.obj 0 20 0  0 0 0  1 1 1
input/t.msh 0 9 0  0 0 0  1 1 1
script DCOSegBedSquash
S
    explained
    "$BIN/export" --dump a.abut --array motion/window | grep -E "^ +0 +18.9(0000*[0-9]+)?$"
    yaml
    grep -A2 -F "select: {object: tri-2}" s.yaml | grep -F "translate: [0, -1, 0]"
    # from 20 to 1 + 2 at 1 m/s
    explained --set motion.0.until='{gap: 2 m, to: tri-1}'
    "$BIN/export" --dump a.abut --array motion/window | grep -E "^ +0 +17$"
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt --set motion.0.until='{gap: 19 m, to: tri-1}' -o out.abut
    says "19 m to 'tri-1' along the motion at the start: expected more than the gap, 19 m"
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt --set motion.0.until='{gap: 19 m}' -o out.abut
    says "expected a time, or {gap: length, to: name}, {past: name, share: number}, {coordinate: length} or {motion: number}"
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt --set motion.0.until='{gap: 19, to: tri-1}' -o out.abut
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt --set motion.0.rotate='{axis: [0, 1, 0], rate: 1 rad/s}' -o out.abut
    says "until: a motion that ends at a place has to be 'translate' alone"
}

# ends NAME: the script NAME over a body of two tets, [0, 4] along x; its motions are compared with standard input
ends() {
    cat > wanted
    release <<< "shapes input 2"$'\ninput/t.msh 0 0 0  0 0 0  1 1 1\ninput/t.msh 3 0 0  0 0 0  1 1 1\nscript '"$1"$'\nturnOffGravity'
    explained
    yaml
    sed -n '/^motion:$/,/^[a-z]/p' s.yaml | grep -E '^[- ]' | diff - wanted
    grep -F "4 handle nodes" text
    "$BIN/mesh-prep" -q s.yaml -o b.abut
    cmp a.abut b.abut
}

@test "stretch, squash, bend, twistnstretch move the outermost hundredths along x against each other" {
    ends stretch <<'Y'
- select: {relative-box: [[-1, -1, -1], [0.01, 2, 2]]}
  translate: [-0.1, 0, 0]
- select: {relative-box: [[0.99, -1, -1], [2, 2, 2]]}
  translate: [0.1, 0, 0]
Y
    grep -F "assumed: script 'stretch' (line 4): the ends along x move apart, each at 0.1 m/s; --set motion.0 to motion.1" text
    explained -q        # asked for, so it is said
    grep -F "assumed: script 'stretch' (line 4): " text
    yaml 2>text
    [ ! -s text ]
    ends squash <<'Y'
- select: {relative-box: [[-1, -1, -1], [0.01, 2, 2]]}
  translate: [0.03, 0, 0]
- select: {relative-box: [[0.99, -1, -1], [2, 2, 2]]}
  translate: [-0.03, 0, 0]
Y
    ends bend <<'Y'
- select: {relative-box: [[-1, -1, -1], [0.01, 2, 2]]}
  rotate: {axis: [0, 0, -1], rate: 9 deg/s}
- select: {relative-box: [[0.99, -1, -1], [2, 2, 2]]}
  rotate: {axis: [0, 0, 1], rate: 9 deg/s}
Y
    ends twistnstretch <<'Y'
- select: {relative-box: [[-1, -1, -1], [0.01, 2, 2]]}
  translate: [-0.1, 0, 0]
  rotate: {axis: [-1, 0, 0], rate: 18 deg/s, center: box}
- select: {relative-box: [[0.99, -1, -1], [2, 2, 2]]}
  translate: [0.1, 0, 0]
  rotate: {axis: [1, 0, 0], rate: 18 deg/s, center: box}
Y
}

@test "twist turns the lower end about -x and the upper one about x, both about the middle of all bodies' box" {
    ends twist <<'Y'
- select: {relative-box: [[-1, -1, -1], [0.01, 2, 2]]}
  rotate: {axis: [-1, 0, 0], rate: 72 deg/s, center: box}
- select: {relative-box: [[0.99, -1, -1], [2, 2, 2]]}
  rotate: {axis: [1, 0, 0], rate: 72 deg/s, center: box}
Y
    # the bodies fill [0, 4] x [0, 1] x [0, 1]; the upper end is one node
    "$BIN/export" --dump a.abut --array motion/center | grep -cE "^ +2 +0.5 +0.5$" | grep -x 2
}

@test "stretchAndPause draws the ends apart at 1 m/s until the lower one is at -0.28 m, and then holds them" {
    ends stretchAndPause <<'Y'
- select: {relative-box: [[-1, -1, -1], [0.01, 2, 2]]}
  translate: [-1, 0, 0]
  until: {coordinate: -0.28 m}
  hold: true
- select: {relative-box: [[0.99, -1, -1], [2, 2, 2]]}
  translate: [1, 0, 0]
  until: {motion: 0}
  hold: true
Y
    exits 1 grep -F "assumed" text
    explained --set time.step=0.02
    "$BIN/step" -q -j 1 -n 16 a.abut -o c.abut
    "$BIN/ccd-check" -q --no-output c.abut
    # the lower end's first node and the upper end's one: at the 5th step 0.1 m out, from the 14th on 0.28 m
    "$BIN/export" --dump c.abut --array node/x | awk '/^ / { if (k % 8 == 0) x[n++] = $1; if (k % 8 == 5) u[m++] = $1; k++ }
        function near(a, b) { return a - b < 1e-12 && b - a < 1e-12 }
        END { exit !(n == 17 && near(x[5], -0.1) && near(u[5], 4.1) && near(x[14], -0.28) && near(u[14], 4.28) &&
                     x[16] == x[14] && u[16] == u[14]) }'
    # a body whose lower end starts beyond it
    sed -i 's/^input\/t.msh 0 0 0/input\/t.msh -1 0 0/' r/input/a/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
    says "the foremost selected node starts at the coordinate -1 m: expected before -0.28 m, where it stops"
}

@test "hangLeft holds the lower end along x, fixLowerHalf the lower half along y" {
    release <<< $'shapes input 1\ninput/t.msh 0 0 0  0 0 0  1 1 1\nscript hangLeft\nhandleRatio 0.1'
    yaml
    grep -A1 -F "relative-box: [[-1, -1, -1], [0.1, 2, 2]]" s.yaml | grep -F "fix: true"
    explained
    grep -F "assumed: script 'hangLeft' (line 3): the lower end along x stays where it is; --set motion.0" text
    sed -i 's/hangLeft/fixLowerHalf/' r/input/a/s.txt
    yaml
    grep -A1 -F "relative-box: [[-1, -1, -1], [2, 0.5, 2]]" s.yaml | grep -F "fix: true"
    explained
    grep -F "assumed: script 'fixLowerHalf' (line 3): the lower half of the bodies' box along y stays where it is" text
}

# six walls around a tet, in an order of their own
walls() {
    release <<'S'
shapes input 7
input/sheet.obj 0 1 0   0 0 0  2 2 2
input/sheet.obj 1 0 0   0 0 90  2 2 2
input/sheet.obj 0 0 -1  90 0 0  2 2 2
input/sheet.obj -1 0 0  0 0 90  2 2 2
input/sheet.obj 0 -1 0  0 0 0  2 2 2
input/sheet.obj 0 0 1   90 0 0  2 2 2
input/t.msh 0 0 0  0 0 0  0.1 0.1 0.1
turnOffGravity
time 1 0.1
script DCOSquash6
S
    printf 'v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 1 2 3\nf 1 3 4\n' > r/input/sheet.obj
}

@test "DCOSquash6: six walls come together at 1 m/s and part again, whatever their order" {
    walls
    explained
    grep -F "assumed: script 'DCOSquash6' (line 11): the six obstacles move inwards at 1 m/s for 0.8 s and back" text
    "$BIN/step" -q -j 1 -n 10 a.abut -o b.abut
    # the first node of each wall, in all frames: after 8 steps at 0.2 m, after 10 at 0.4 m from the middle
    "$BIN/export" --dump b.abut --array node/x | awk '/^ / { if (k % 28 < 24 && k % 4 == 0) { f = int(k / 28); w = int(k % 28 / 4)
            p[f, w] = w == 0 || w == 4 ? $2 : w == 1 || w == 3 ? $1 : $3 } k++ }
        function near(a, b) { return a - b < 1e-9 && b - a < 1e-9 }
        END { split("1 1 -1 -1 -1 1", s, " ")
              for (w = 0; w < 6; w++)
                  if (!near(p[0, w], s[w + 1]) || !near(p[8, w], 0.2 * s[w + 1]) || !near(p[10, w], 0.4 * s[w + 1])) exit 1
              exit k != 11 * 28 }'
    sed -i 's/^shapes input 7/shapes input 6/; 3d' r/input/a/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
    says "script 'DCOSquash6': expected six obstacles among the shapes, the walls"
}

@test "the names and numbers of the reference: IP, fallNoShift, a third number of ground, a start value of the stiffness" {
    local t=$'shapes input 1\ninput/t.msh 0 9 0  0 0 0  1 1 1\n'
    release <<< "${t}ground 0.1 0.5"
    yaml
    mv s.yaml plain.yaml
    release <<< "${t}ground 0.1 0.5"$'\nconstraintSolver IP\nscript fallNoShift\ntuning 1\n5e6'
    yaml
    cmp s.yaml plain.yaml
    explained
    grep -F "assumed: tuning (line 6): the barrier stiffness starts at 5e+06, clamped to its bounds; here every step finds it" text
    release <<< "${t}ground 0.1 0.5 50  # stiffness"
    yaml
    cmp s.yaml plain.yaml
    release <<< "${t}ground 0.1 0.5"$'\nsection SQP IP\ndHat 2e-3\nsection end\nsection SQP QP\ndHat 3e-3\nsection end'
    yaml
    grep -F "dhat: 0.002 l" s.yaml
}

@test "selfCollisionOff: bodies pass through themselves and each other, not through obstacles and half-spaces" {
    # two tets that cross, over a floor, beside an obstacle
    release <<'S'
shapes input 3
input/t.msh 0 0.05 0  0 0 0  1 1 1
input/t.msh 0.1 0.1 0.1  0 0 0  1 1 1
input/tri.obj -5 3 -5  0 0 0  9 1 9
ground 0 0
time 1 0.05
selfCollisionOff
S
    explained
    grep -F "contact.bodies is off" text
    yaml
    grep -F "bodies: off" s.yaml
    "$BIN/step" -q -j 1 -n 20 --report r.jsonl a.abut -o b.abut
    "$BIN/ccd-check" --no-output b.abut 2> verdict
    grep -F "bodies were judged against obstacles and half-spaces, not against bodies" verdict
    # nothing is below the floor, and something is near it
    "$BIN/export" --dump b.abut --array node/x | awk '/^ / { if (n++ == 0 || $2 < low) low = $2 } END { exit !(low > 0 && low < 0.02) }'
    grep -F '"contact":"barrier against obstacles: nothing is guaranteed between bodies"' r.jsonl
    # a solver that knows no contact lets them fall through the floor, and the judge sees that
    "$BIN/step" -q -j 1 -n 20 --solver pd --contact ignore a.abut -o c.abut
    exits 1 "$BIN/ccd-check" --no-output c.abut
    says "half-space"
    # a body that starts across the obstacle is refused, with it on or off
    sed -i 's/-5 3 -5/-1 0.2 -1/' r/input/a/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
    # and bodies that cross are refused where they do meet, the last word counts
    sed -i 's/-1 0.2 -1/-5 3 -5/; s/selfCollisionOff/selfCollisionOff\nselfCollisionOn/' r/input/a/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
}

@test "topbottomfix holds the uppermost and lowest hundredth" {
    release <<< $'shapes input 1\ninput/t.msh 0 0 0  0 0 0  1 1 1\nscript topbottomfix'
    yaml
    grep -A1 -F "relative-box: [[-1, -1, -1], [2, 0.01, 2]]" s.yaml | grep -F "fix: true"
    grep -A1 -F "relative-box: [[-1, 0.99, -1], [2, 2, 2]]" s.yaml | grep -F "fix: true"
}

@test "DCOVerschoorRoller: four rollers draw inwards over two that draw downwards" {
    release <<'S'
shapes input 7
input/cube.obj -3 2 0  0 0 0  1 1 1
input/cube.obj -1.5 2 0  0 0 0  1 1 1
input/cube.obj 0.5 2 0  0 0 0  1 1 1
input/cube.obj 2 2 0  0 0 0  1 1 1
input/cube.obj 0 0 -1.5  0 0 0  1 1 1
input/cube.obj 0 0 0.5  0 0 0  1 1 1
input/t.msh 0 9 0  0 0 0  1 1 1
script DCOVerschoorRoller
time 1 0.01
turnOffGravity
S
    explained
    exits 1 grep -F "assumed" text
    yaml
    grep -c "axis: \[0, 0, -1\], rate: 4 rad/s" s.yaml | grep -x 1
    grep -c "axis: \[0, 0, -1\], rate: 2 rad/s" s.yaml | grep -x 1
    grep -c "axis: \[0, 0, 1\], rate: 2 rad/s" s.yaml | grep -x 1
    grep -c "axis: \[0, 0, 1\], rate: 4 rad/s" s.yaml | grep -x 1
    grep -c "axis: \[1, 0, 0\], rate: 2 rad/s" s.yaml | grep -x 1
    grep -c "axis: \[-1, 0, 0\], rate: 2 rad/s" s.yaml | grep -x 1
    "$BIN/step" -q -j 1 -n 1 a.abut -o b.abut
    # on top, x grows for the first two and shrinks for the others; beside the lower gap (z = -0.5, 0.5) y shrinks
    "$BIN/export" --dump b.abut --array node/x | grep '^ ' | awk '
        NR <= 52 { x[NR - 1] = $1; y[NR - 1] = $2; z[NR - 1] = $3; next }
        { i = NR - 53; dx[i] = $1 - x[i]; dy[i] = $2 - y[i] }
        END {
            for (i = 0; i < 32; i++) if (y[i] == 3 && (i < 16 ? dx[i] < 0.009 : dx[i] > -0.009)) exit 1
            for (i = 32; i < 48; i++) if ((z[i] == -0.5 || z[i] == 0.5) && dy[i] > -0.009) exit 1
            exit NR != 104
        }'
    sed -i 's/^shapes input 7/shapes input 6/; 5d' r/input/a/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt -o out.abut
    says "s.txt:8: script 'DCOVerschoorRoller': expected six obstacles among the shapes"
}

# damping_is SECONDS: the scene has this stiffness damping
damping_is() {
    awk -v want="$1" '$1 == "stiffness:" && $3 == "s" { n++; off = $2 / want - 1 }
        END { exit !(n == 1 && off < 1e-14 && off > -1e-14) }' s.yaml || { cat s.yaml; return 1; }
}

@test "damping in seconds: 3/4 of the ratio times h, or the coefficient over h^2, over the weight of the scheme" {
    local t=$'shapes input 1\ninput/t.msh 0 9 0  0 0 0  1 1 1\n'
    release <<< "${t}dampingRatio 0.1"$'\ntime 5 0.01'
    yaml
    damping_is 0.00075
    release <<< "${t}dampingRatio 0.1"$'\ntime 5 0.01\ntimeIntegration NM 0.25 0.5'
    yaml
    damping_is 0.003
    release <<< "${t}dampingStiff 4e-16"$'\ntime 4e-3 2e-5\ntimeIntegration NM  # trapezoidal'
    yaml
    damping_is 4e-6
    explained
    grep -E "stiffness damping 4e-06 +s" text
    release <<< "${t}dampingStiff 1e-9"$'\ntime 5 0.01'
    yaml
    damping_is 1e-5
    release <<< "${t}dampingRatio 0"$'\ndampingStiff 0'
    yaml
    exits 1 grep -F "damping" s.yaml
}

@test "accuracies in metres: useAbsParameters, useAbsTol; kappaMinMultiplier scales the barrier stiffness" {
    local t=$'shapes input 1\ninput/t.msh 0 9 0  0 0 0  2 2 2\ndHat 2e-3\nepsv 3e-3\ntol 2\n0.5\n0.5\n'
    release <<< "$t"
    yaml
    grep -F "dhat: 0.002 l" s.yaml
    grep -F "eps_v: 0.003 l/s" s.yaml
    grep -F "tolerance: 0.5 l/s" s.yaml
    release <<< "${t}useAbsParameters"
    yaml
    grep -F "dhat: 0.002 m" s.yaml
    grep -F "eps_v: 0.003 m/s" s.yaml
    grep -F "tolerance: 0.5 l/s" s.yaml
    explained
    grep -E "kappa min" text | awk '{ print $3 }' > one
    release <<< "${t}useAbsParameters"$'\nuseAbsTol\nkappaMinMultiplier 2e12'
    yaml
    grep -F "tolerance: 0.5 m/s" s.yaml
    explained
    grep -E "kappa scale +20 " text
    grep -E "kappa min" text | awk -v one="$(cat one)" '{ exit !($3 > 19.999 * one && $3 < 20.001 * one) }'
}

@test "a section for the interior point is read, one for other solvers is not" {
    local t=$'\ninput/t.msh 0 9 0  0 0 0  1 1 1'
    release <<< "shapes input 1$t"$'\nsection QP\nselfFric 0.9\nsection end\nsection SQP interiorPoint\nselfFric 0.2\nsection end\ndHat 2e-3'
    explained
    grep -E '^  mu +0.2 ' text
    grep -E '^  dhat +[0-9.]+ +m +0.002 l' text
}

@test "SQP and QP, their constraints and their sections become the solvers sqp and qp" {
    local t=$'shapes input 1\ninput/t.msh 0 9 0  0 0 0  1 1 1\n' of
    for of in volume:volume nonsmoothNewmark:volume gapFunction:gap graphics:impact STIV:impact CMR:impact Verschoor:impact; do
        release <<< "$t"$'constraintSolver SQP\nsection interiorPoint\nconstraintOffset 7\nsection end\nsection SQP QP\nconstraintOffset 1e-3
useActiveSetConvergence\nsection end\nQPSolver OSQP\nconstraintType '"${of%:*}"
        yaml
        grep -x 'solver: sqp' s.yaml
        grep -A 2 -x 'sqp:' s.yaml | grep -x "  constraints: ${of#*:}"
        grep -A 2 -x 'sqp:' s.yaml | grep -F 'offset: 0.001 m'
        explained
        grep -F 'commands without effect: useActiveSetConvergence (line 9), QPSolver (line 11)' text
    done
    grep -F 'constraintType Verschoor: sqp.constraints impact' text
    release <<< "$t"$'constraintSolver QP'
    yaml
    grep -x 'solver: qp' s.yaml
    explained
    grep -F 'assumed: sqp.offset 0 m' text
}

@test "display, and what only other solvers use, is listed and changes nothing" {
    local t=$'shapes input 1\ninput/t.msh 0 9 0  0 0 0  1 1 1\n'
    release <<< "$t"
    yaml
    mv s.yaml plain.yaml
    release <<< "$t"$'zoom 2\nview orthographic\ncameraTracking\nplayBackSpeed 0.1\nappendStr x\ndisableCout\nwarmStart 1
CCDMethod TightInclusion\nCCDTolerance 1e-6\nQPSolver a\npartitionAmt 4\nblockSize 3\nconstraintType graphics
constraintOffset 1e-3\nQPSolver Gurobi\nuseActiveSetConvergence\nconstraintSolver interiorPoint'
    yaml
    cmp s.yaml plain.yaml
    explained
    grep -F "commands without effect: zoom (line 3), view (line 4), cameraTracking (line 5), playBackSpeed (line 6), appendStr (line 7)" text
    grep -F "QPSolver (line 17), useActiveSetConvergence (line 18), constraintType (line 15), constraintOffset (line 16)" text
}

@test "what is not known, not supported or wrong is refused with file and line" {
    local t=$'\ninput/t.msh 0 9 0  0 0 0  1 1 1'
    refused "s.txt:3: script 'twirst': not known; the nearest known one is 'twist'" <<< "shapes input 1$t"$'\nscript twirst'
    refused "s.txt:3: script 'fall': expected no number after it" <<< "shapes input 1$t"$'\nscript fall 3'
    refused "s.txt:3: script 'DCORotCylinders': expected four obstacles" <<< "shapes input 1$t"$'\nscript DCORotCylinders'
    refused "s.txt:3: script 'DCOSqueezeOut': expected two obstacles" <<< "shapes input 1$t"$'\nscript DCOSqueezeOut'
    refused "s.txt:3: handleRatio 1: expected more than 0 and less than 1" <<< "shapes input 1$t"$'\nhandleRatio 1'
    refused "s.txt:3: this section has no end" <<< "shapes input 1$t"$'\nsection QP\ndt 1'
    refused "s.txt:3: meshCO: 'turn': expected rotate" <<< "shapes input 1$t"$'\nmeshCO input/tri.obj 0 0 0 1 50 0 turn 1 2 3'
    refused "s.txt:4: rotateModel a second time" <<< "shapes input 1$t"$'\nrotateModel 1 0 0 9\nrotateModel 1 0 0 9'
    refused "s.txt:3: dampingRatio -0.1: expected at least 0" <<< "shapes input 1$t"$'\ndampingRatio -0.1'
    refused "s.txt: dampingRatio and dampingStiff: expected one of them" <<< "shapes input 1$t"$'\ndampingRatio 1\ndampingStiff 1'
    refused "s.txt:2: material a second time: expected one" <<< "shapes input 1$t  material 1 1 0.3  material 2 1 0.3"
    refused "s.txt:3: dHat 0: expected more than 0" <<< "shapes input 1$t"$'\ndHat 0'
    refused "s.txt:3: density: '2' at the end of the line" <<< "shapes input 1$t"$'\ndensity 1 2'
    refused "s.txt:3: time: 5 s in steps of 0 s: expected more than 0" <<< "shapes input 1$t"$'\ntime 5 0'
    refused "s.txt: time.newmark.beta is 0.2: expected at least gamma / 2 = 0.25" <<< "shapes input 1$t"$'\ntimeIntegration NM 0.2 0.5'
    refused "s.txt: time.newmark.beta is 0.3: expected at least gamma / 2 = 0.35" <<< "shapes input 1$t"$'\ntimeIntegration NM 0.3 0.7'
    release <<< "shapes input 1$t"$'\ntimeIntegration NM 0.3 0.6'
    yaml
    grep -A2 "newmark:" s.yaml | tr -d "\n " | grep "newmark:beta:0.3gamma:0.6"
    refused "s.txt:3: restart is not supported: a status file" <<< "shapes input 1$t"$'\nrestart status20'
    refused "tol: 1 for the first step and 2 for step 2: expected one tolerance" <<< "shapes input 1$t"$'\ntol 2\n1\n2'
    refused "s.txt:4: tuning: a barrier stiffness -7: expected at least 0" <<< "shapes input 1$t"$'\ntuning 1\n-7'
    refused "s.txt:3: constraintSolver 'LP': expected interiorPoint or IP, SQP or QP" <<< "shapes input 1$t"$'\nconstraintSolver LP'
    refused "s.txt:3: constraintType 'gap': expected volume, nonsmoothNewmark, gapFunction" <<< "shapes input 1$t"$'\nconstraintType gap'
    refused "s.txt:3: constraintOffset -1: expected at least 0" <<< "shapes input 1$t"$'\nconstraintOffset -1'
    refused "s.txt:3: ground: stiffness is '50x': expected a finite number" <<< "shapes input 1$t"$'\nground 0 0 50x'
    refused "s.txt:3: script 'onepoint': it starts from inverted tets" <<< "shapes input 1$t"$'\nscript onepoint'
    refused "s.txt:3: script 'twistnsns': where the ends turn back is not known" <<< "shapes input 1$t"$'\nscript twistnsns'
    refused "s.txt:3: script 'rubberBandPull': what it moves and how fast is not known" <<< "shapes input 1$t"$'\nscript rubberBandPull'
    refused "s.txt:3: script 'DCOBallHitWall': initVel and the script both give a velocity" <<< \
        "shapes input 1$t  initVel 1 0 0  0 0 0"$'\nscript DCOBallHitWall 1 3'
    refused "s.txt:2: initVel: an obstacle does not start with a velocity, it keeps one" <<< \
        "shapes input 1"$'\ninput/tri.obj 0 9 0  0 0 0  1 1 1  initVel 1 0 0  0 0 0'
    refused "s.txt:2: meshSeq input: no mesh 0.seg, 0.obj, ... in it" <<< \
        "shapes input 1"$'\ninput/tri.obj 0 9 0  0 0 0  1 1 1  meshSeq input'
    refused "s.txt:3: unsupported command 'kappaMinMultiplyer'; the nearest known one is 'kappaMinMultiplier'" <<< "shapes input 1$t"$'\nkappaMinMultiplyer 3'
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
    exits 2 "$BIN/mesh-prep" --to-yaml --separate '1 mm' elsewhere/s.yaml -o out
    says "--to-yaml and --separate: expected one of them"
}

@test "a mesh called half-space and a half-space are two objects, whichever comes first" {
    release <<< $'ground 0 -2\nshapes input 1\ninput/half-space.msh 0 9 0  0 0 0  1 1 1\nground 0 -3'
    cp r/input/t.msh r/input/half-space.msh
    explained
    grep -a "^body half-space-2 " text
    grep -a "^half-space half-space-1 " text
    grep -a "^half-space half-space-3 " text
}

@test "--to-yaml refuses a name that YAML cannot hold" {
    release <<< $'shapes input 1\ninput/t\x98.msh 0 9 0  0 0 0  1 1 1'
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt --to-yaml
    says "s.txt:2:1: the name or the value holds bytes that are not UTF-8: YAML cannot hold them"
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/s.txt --to-json
    says "s.txt:2:1: the name or the value holds bytes that are not UTF-8: JSON cannot hold them"
    cp r/input/t.msh r/input/$'tö\xf0\x9f\x90\xac.msh'
    release <<< $'shapes input 1\ninput/tö\xf0\x9f\x90\xac.msh 0 9 0  0 0 0  1 1 1'
    yaml
    "$BIN/mesh-prep" -q s.yaml -o b.abut
}

@test "every tutorial script becomes the same bytes through --to-yaml" {
    skip_without ipc/input/tutorialExamples
    local f n=0
    while read -r f; do
        "$BIN/mesh-prep" -q --ipc-script "$f" -o a.abut
        "$BIN/mesh-prep" -q --ipc-script "$f" --to-yaml | "$BIN/mesh-prep" -q -o b.abut
        cmp a.abut b.abut
        n=$((n + 1))
    done < <(find "$DATA/ipc/input/tutorialExamples" -name '*.txt')
    [ "$n" = 22 ]
}

@test "the dolphin stands before its funnel, the tet above its slot, one node pushes the pencil" {
    skip_without ipc/input/paperExamples/13_dolphinFunnel.txt
    local p=$DATA/ipc/input/paperExamples
    "$BIN/mesh-prep" --explain --ipc-script "$p/13_dolphinFunnel.txt" -o a.abut 2>text
    grep -F "1 motion, 84 handle nodes" text
    "$BIN/mesh-prep" --explain --ipc-script "$p/10_tetSlots.txt" -o a.abut 2>text
    grep -A2 "obstacle cube-2" text | grep -F "to [-5e-07, 0.5, 1] m"
    "$BIN/mesh-prep" --explain --ipc-script "$p/20_pencilStickSlip.txt" -o a.abut 2>text
    grep -F "1 motion, 1 handle node" text
}

# bats test_tags=slow
@test "the masonry arch: passes that would go around in a circle settle, in one process and in stages" {
    skip_without ipc/input/paperExamples/7_masonryArch.txt
    "$BIN/mesh-prep" -q --ipc-script "$DATA/ipc/input/paperExamples/7_masonryArch.txt" -o arch.abut
    "$BIN/step" -q -j 1 -n 60 --report steps.jsonl arch.abut | "$BIN/ccd-check" -q -o run.abut
    # of steps that are taken whole
    busy=$(awk '!/"parts":1,/ { next } { match($0, /"passes":[0-9]+/); n = substr($0, RSTART + 9, RLENGTH - 9) + 0
                  if (n > most) { most = n; at = NR } }
                END { print at - 1, most }' steps.jsonl)
    read -r at most <<< "$busy"
    echo "step $((at + 1)): $most passes"
    ((most > 10 && most < 100))
    "$BIN/step" -q -j 1 -n "$at" arch.abut -o stages.abut
    "$BIN/step" -q -j 1 stages.abut -o one.abut
    for ((k = 1; k <= most; k++)); do
        "$BIN/step" -q -j 1 --one-pass stages.abut -o candidate.abut
        "$BIN/friction-lag" -q candidate.abut -o stages.abut
    done
    cmp <("$BIN/export" --dump one.abut | sed -n '/^model/,$p') <("$BIN/export" --dump stages.abut | sed -n '/^model/,$p')
}

@test "two tets that slide off each other drift as far at the tolerance of the script as at a tight one" {
    release <<'S'
energy FCR
size 1
time 5 0.025
stiffness 100000 0.4
script fall
shapes input 2
input/t.msh 0 0 0  0 0 0  1 1 1
input/t.msh 0 1.1 0  0 0 0  1 1 1
halfSpace 0 0 0  0 1 0  50 0
selfCollisionOn
constraintSolver IP
S
    # x of the mean node of the second tet, after 5 s
    drift() {
        "$BIN/mesh-prep" -q --ipc-script r/input/a/s.txt "$@" -o a.abut
        "$BIN/step" -q -j 1 -n 200 a.abut | "$BIN/export" --dump - --array node/x |
            awk '/^frame/ { n = x = 0 } /^ / { if (n++ > 3) x += $1 / 4 } END { print x }'
    }
    at_default=$(drift)
    tight=$(drift --set tolerance='1e-5 l/s')
    stiff=$(drift --set tolerance='1e-5 l/s' --set contact.kappa-scale=100)
    echo "$at_default $tight $stiff"
    # 5.718 by five minimisers and by Newton's method without a first guess; the drift is decided in five steps
    awk "BEGIN { exit !($at_default > 0.97 * $tight && $at_default < 1.03 * $tight) }"
    awk "BEGIN { exit !($tight > 5.7 && $tight < 5.74) }"
    awk "BEGIN { exit !($stiff > 0.985 * $tight && $stiff < 1.015 * $tight) }"
}

@test "origin: vertex-mean, unit-size and contact.bodies are refused where they mean nothing" {
    release <<< ''
    scene() { printf 'objects:\n  a: {mesh: r/input/t.msh, translate: [0, 9, 0]}\n  b: {%s, obstacle: true}\n%s\n' "$1" "${2:-}" > s.yaml; }
    scene 'mesh: r/input/cube.obj, origin: vertex-mean, unit-size: true, scale: 3'
    "$BIN/mesh-prep" --explain s.yaml -o a.abut 2> text
    grep -A2 "obstacle b" text | grep -F "[-1.5, -1.5, -1.5] to [1.5, 1.5, 1.5] m"
    scene 'mesh: r/input/cube.obj, origin: center'
    exits 3 "$BIN/mesh-prep" s.yaml -o out.abut
    says "vertex-mean"
    scene 'mesh: r/input/cube.obj, unit-size: 2'
    exits 3 "$BIN/mesh-prep" s.yaml -o out.abut
    says "s.yaml:3:42: unit-size is '2': expected one of false, true"
    scene 'generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, unit-size: true'
    exits 3 "$BIN/mesh-prep" s.yaml -o out.abut
    says "unit-size: the mesh has no extent: expected one that has"
    scene 'mesh: r/input/cube.obj' 'contact: {bodies: no}'
    exits 3 "$BIN/mesh-prep" s.yaml -o out.abut
    says "contact.bodies"
}

@test "scripts stiffen the barrier below 1e-9 l, as published, unless a key of --set excludes it" {
    release <<< $'shapes input 1\ninput/t.msh 0 9 0  0 0 0  1 1 1'
    explained
    grep -E 'stiffen below .* 1e-09 l' text
    explained --set contact.barrier.stiffen-below='1 mm'
    grep -E 'stiffen below +0.001 ' text
    for other in contact.barrier.fixed-kappa=1e-3 contact.formulation=area; do
        explained --set $other
        exits 1 grep 'stiffen below' text
    done
    exits 3 explained --set contact.formulation=area --set contact.barrier.stiffen-below='1 mm'
    grep -F "contact.barrier.stiffen-below: contact.formulation is area" text
}

@test "fricIterAmt is the number of friction lags, and as many as it takes from 0 down" {
    for n in 3 0 -1; do
        release <<< $'shapes input 1\ninput/t.msh 0 9 0  0 0 0  1 1 1\nfricIterAmt '"$n"
        yaml
        tr -d ' \n' < s.yaml | grep -o 'lags:[a-z0-9]*' >> lags
    done
    diff lags - <<< $'lags:3tolerance\nlags:convergedtolerance\nlags:convergedtolerance'
    refused "s.txt:3: fricIterAmt" <<< $'shapes input 1\ninput/t.msh 0 9 0  0 0 0  1 1 1\nfricIterAmt 1.5'
}

@test "cylinders that rotate against each other are four obstacles, two by two side by side, without velocities of their own" {
    t=$'\ninput/t.msh 0 9 0  0 0 0  1 1 1'
    o() { printf '\ninput/tri.obj %s  0 0 0  1 1 1  %s' "$1" "$2"; }
    three=$(o '2 0 0' '')$(o '-2 -3 0' '')$(o '2 -3 0' '')
    refused "script 'DCORotCylinders': expected four obstacles among the shapes" <<< "shapes input 4$t$(o '-2 0 0' '')${three%$'\n'*}"$'\nscript DCORotCylinders'
    refused "script 'DCORotCylinders': expected the shapes of a pair side by side at one height" \
        <<< "shapes input 5$t$(o '-2 0.5 0' '')$three"$'\nscript DCORotCylinders'
    refused "script 'DCORotCylinders': expected the shapes of a pair side by side at one height" \
        <<< "shapes input 5$t$(o '2 0 0' '')$three"$'\nscript DCORotCylinders'
    refused "script 'DCORotCylinders': a shape has a velocity of its own" \
        <<< "shapes input 5$t$(o '-2 0 0' 'linearVelocity 1 0 0')$three"$'\nscript DCORotCylinders'
}

@test "a matrix of shapes has its spacing in the place of its shape, and may be shifted as a whole" {
    release <<< $'shapeMatrix input 2 1 3  1 9 0.5\ninput/t.msh 3 4 5  0 0 0  1 1 1'
    explained
    # tets of 1 m: the first at the offset, the last 3 m and 2 x 5 m further
    grep -F "[1, 9, 0.5] to [5, 10, 11.5] m" text
    grep -E "^  mesh +24 nodes, 6 tets" text
    release <<< $'shapeMatrix input 2 1 3\ninput/t.msh 3 4 5  0 0 0  1 1 1'
    explained
    grep -F "[0, 0, 0] to [4, 1, 11] m" text
    refused "shapeMatrix: the offset" <<< $'shapeMatrix input 2 1 3  1 9\ninput/t.msh 3 4 5  0 0 0  1 1 1'
}
