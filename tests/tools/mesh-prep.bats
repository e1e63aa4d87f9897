#!/usr/bin/env bats
# mesh-prep: scenes, mesh files, IPC scripts; what is refused, where it stands, and what the exit code says.
load helpers

# a scene of one box, one line per key, so that places can be told
scene() {
    cat > scene.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact:
  dhat: 1e-3 l
  friction: {mu: 0.3}
materials:
  jelly: {young: 3e4}
objects:
  box:
    generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}
    translate: [0, 1, 0]
  floor: {half-space: {normal: [0, 1, 0]}}
motion:
  - select: {object: box, relative-box: [[0, 0.9, 0], [1, 1, 1]]}
    fix: true
Y
}

# refused KEY=VALUE TEXT: with this --set the scene is unusable input, and the message says TEXT
refused() {
    exits 3 "$BIN/mesh-prep" scene.yaml --set "$1" -o out.abut
    says "$2"
}

# wrong LINE NEW TEXT: with line LINE of the scene replaced, the message says TEXT
wrong() {
    scene
    sed -i "$1s|.*|$2|" scene.yaml
    exits 3 "$BIN/mesh-prep" scene.yaml -o out.abut
    says "$3"
    [ ! -e out.abut ]
}

@test "a scene becomes the same bytes from a file, from standard input, and twice" {
    scene
    "$BIN/mesh-prep" scene.yaml -o a.abut
    "$BIN/mesh-prep" scene.yaml | cat > b.abut
    "$BIN/mesh-prep" - < scene.yaml > c.abut
    "$BIN/mesh-prep" -j 3 < scene.yaml > d.abut
    "$BIN/mesh-prep" --set contact.friction.mu=0.3 < scene.yaml > e.abut
    grep -a -F '{"set": ["contact.friction.mu=0.3"]}' e.abut
    cmp a.abut b.abut
    cmp a.abut c.abut
    cmp a.abut d.abut
}

@test "an unknown key is named with its place and the nearest known one" {
    wrong 2 'time: {stpe: 0.01 s}' "scene.yaml:2:8: time: unknown key 'stpe'; did you mean 'step'?"
    wrong 5 '  frictoin: {mu: 0.3}' "scene.yaml:5:3: contact: unknown key 'frictoin'; did you mean 'friction'?"
    wrong 11 '    translat: [0, 1, 0]' "scene.yaml:11:5: object: unknown key 'translat'; did you mean 'translate'?"
    wrong 1 'colour: blue' "scene.yaml:1:1: scene: unknown key 'colour'; expected one of abut, time"
}

@test "a missing or wrong unit is named with its place and what was expected" {
    wrong 4 '  dhat: 1e-3' "scene.yaml:4:9: contact.dhat is '1e-3': expected a number and its unit, one of m, cm, mm, um, nm, l"
    wrong 2 'time: {step: 0.01 m}' "scene.yaml:2:14: time.step is '0.01 m': expected a number, if it has a unit one of s, ms"
    wrong 11 '    rotate: {axis: [0, 1, 0], angle: 90}' "scene.yaml:11:38: angle is '90': expected a number and its unit, one of deg, rad"
    wrong 7 '  jelly: {young: 3e4 l}' "scene.yaml:7:18: young is '3e4 l'"
}

@test "wrong values are named with their place" {
    wrong 2 'time: {step: -1 s}' "scene.yaml:2:14: time.step is '-1 s': expected more than 0"
    wrong 2 'time: {step: nan}' "scene.yaml:2:14: time.step is 'nan'"
    wrong 2 'damping: {mass: -1 1/s}' "scene.yaml:2:17: damping.mass is '-1 1/s': expected 0 or more"
    wrong 2 'damping: {stiffness: 1 m}' "scene.yaml:2:22: damping.stiffness is '1 m': expected a number, if it has a unit one of s, ms"
    wrong 2 'time: {scheme: rk4}' "scene.yaml:2:16: time.scheme is 'rk4': expected one of implicit-euler"
    wrong 7 '  jelly: {poisson: 0.5}' "scene.yaml:7:20: poisson is '0.5': expected more than -1 and less than 0.5"
    wrong 11 '    translate: [0, 1]' "scene.yaml:11:16: translate is a list of 2: expected a list of 3 numbers, [0, 1, 0] (key objects.box.translate)"
    wrong 11 '    material: jely' "scene.yaml:11:15: no material is called 'jely'; did you mean 'jelly'?"
    wrong 14 '  - select: {object: bix}' "scene.yaml:14:22: no object is called 'bix'; did you mean 'box'?"
    wrong 14 '  - select: {object: box, box: [[9, 9, 9], [10, 10, 10]]}' "scene.yaml:14:5: this motion selects no node"
    wrong 10 '    mesh: no/such.obj' "scene.yaml:10:11: no/such.obj: No such file or directory"
    wrong 10 '    generate: {torus: {radius: 1, tube: 2, cells: [9, 2]}}' "scene.yaml:10:23: torus: tube 2 m: expected less than the radius 1 m"
    wrong 10 '    generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], tets: [[0, 1, 2, 4]]}}' "tets is '4': expected an integer from 0 to 3"
    wrong 10 '    generate: {explicit: {points: [[0, 0, 0], [1, 0, 0]]}}' "explicit: expected tets, triangles or segments"
    wrong 10 '    generate: {revolution: {profile: [[1, 0], [0, 1], [1, 2]], cells: [8, 1]}}' "scene.yaml:10:28: revolution: point 1 of the profile"
    wrong 10 '    generate: {blob: {cell: 0.1, capsules: [{from: [0, 0, 0]}]}}' "scene.yaml:10:45: capsule: expected {from"
    wrong 10 '    generate: {tendrils: {radius: 1, length: 1, thickness: 0.1, cell: 0.1}}' "scene.yaml:10:26: tendrils: 'count' is missing"
    wrong 1 'abut: 2' "scene.yaml:1:7: abut (the version of the scene language) is '2'"
}

@test "broken YAML is named with its place" {
    printf 'time: {step: 1\nobjects: {}\n' > a.yaml
    exits 3 "$BIN/mesh-prep" a.yaml -o out.abut
    says "a.yaml:2:8: did not find expected ',' or '}'"
    printf 'time: {step: 1, step: 2}\n' > b.yaml
    exits 3 "$BIN/mesh-prep" b.yaml -o out.abut
    says "b.yaml:1:17: the key 'step' is in the map already, at line 1"
    printf 'a: &x 1\nb: *x\n' > c.yaml
    exits 3 "$BIN/mesh-prep" c.yaml -o out.abut
    says "c.yaml:2:4: aliases are not read"
    printf '[%.0s' {1..100} > d.yaml
    exits 3 "$BIN/mesh-prep" d.yaml -o out.abut
    says "more than 64 levels"
    exits 3 "$BIN/mesh-prep" /dev/null -o out.abut
    says "expected 'objects:"
}

@test "a mesh file that is not there is named with what the scene says of its meshes, and so in every scene of the pipelines" {
    local source='mesh-source: make-ball.sh makes ball.msh' o n=0 scene
    for o in 'mesh: ball.msh' 'mesh: ball.ele' 'generate: {cage: {mesh: ball.obj, cell: 1}}' \
             'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, proxy: {mesh: ball.obj}' \
             'obstacle: true, sequence: {files: "ball%d.obj", step: 1 s}' \
             'obstacle: true, sequence: {files: [ball.obj, ball.obj], step: 1 s}'; do
        printf '%s\nobjects: {a: {%s}}\n' "$source" "$o" > s.yaml
        exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
        grep -Eq '^mesh-prep: s.yaml:2:[0-9]+: ball0?\.(msh|node|obj): No such file or directory; make-ball.sh makes ball.msh$' stderr
        printf 'objects: {a: {%s}}\n' "$o" > s.yaml
        exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
        grep -q 'No such file or directory$' stderr
    done
    echo 'v 0 0' > ball.obj     # it is there: what is wrong with it is said alone
    printf '%s\nobjects: {a: {mesh: ball.obj}}\n' "$source" > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    [ "$(grep -c make-ball stderr)" -eq 0 ]
    printf 'mesh-source: [a, b]\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "s.yaml:1:14: mesh-source is a list of 2: expected a text"
    for scene in $(git -C "$ROOT" ls-files 'pipelines/*.yaml' 'tests/bench/*.yaml' | xargs -I@ grep -lE '(mesh|files): *[^{]*\.' "$ROOT/@"); do
        "$BIN/mesh-prep" -q "$scene" -o /dev/null 2> stderr && continue
        grep -Eq 'No such file or directory; .*(pipelines/[a-z./-]*\.(sh|py)|public IPC code)' stderr
        n=$((n + 1))
    done
    [ $n -ge 8 ]
}

@test "--set replaces a value anywhere and its mistakes are named" {
    scene
    "$BIN/mesh-prep" scene.yaml --set time.step=5ms --set objects.box.translate='[0, 3, 0]' --explain -o a.abut 2>text
    grep -E 'time step +0.005 +s' text
    grep -F '[-0.5, 2.5, -0.5] to [0.5, 3.5, 0.5] m' text
    "$BIN/mesh-prep" scene.yaml --set motion.0.until='2 s' -s objects.wall='{generate: {cloth: {size: [9, 9], cells: [1, 1]}}, obstacle: true, translate: [0, 5, 0]}' -o b.abut
    refused time.stpe=1 "--set time.stpe:1:1: time: unknown key 'stpe'; did you mean 'step'?"
    refused time.step=[ "--set time.step"
    exits 2 "$BIN/mesh-prep" scene.yaml --set time.step -o out.abut
    says "expected key.key=value"
    exits 2 "$BIN/mesh-prep" scene.yaml --set motion.1.until=3 -o out.abut
    says "looked up in a list of 1: expected 0 to 0"
    exits 2 "$BIN/mesh-prep" scene.yaml --set time..step=3 -o out.abut
    says "an empty name"
}

@test "what is within its thickness is refused with both numbers, and a mesh finer than its contact is remarked" {
    cat > thick.yaml <<'Y'
abut: 1
contact: {dhat: 1 mm}
objects:
  sheet: {generate: {cloth: {size: [0.1, 0.1], cells: [5, 5]}}, shell: {thickness: 1 mm}, contact-thickness: 4 mm}
  sand: {generate: {particles: {size: [0.1, 0.1, 0.1], count: [2, 1, 2]}}, translate: [0, 1 cm, 0], particle: {radius: 1 mm}, contact-thickness: 2 mm}
Y
    run "$BIN/mesh-prep" thick.yaml -o thick.abut
    [ "$status" -eq 0 ]
    [[ $output != *warning* ]]
    run "$BIN/mesh-prep" thick.yaml --set objects.sand.translate='[0, 2.9 mm, 0]' -o x.abut
    [ "$status" -eq 3 ]
    [[ $output == *"point of 'sand'"*"is 0.0029 m from triangle of 'sheet'"*"expected more than their thickness, 0.003 m"* ]]
    run "$BIN/mesh-prep" thick.yaml --set objects.sheet.contact-thickness='14 mm' --set objects.sand.translate='[0, 2 cm, 0]' -o x.abut
    [ "$status" -eq 0 ]
    [[ $output == *"warning: contact pushes objects apart that are at rest"*"of 'sheet'"* ]]
    run "$BIN/mesh-prep" thick.yaml --set objects.sheet.contact-thickness='3 cm' --set objects.sand.translate='[0, 3 cm, 0]' -o x.abut
    [ "$status" -eq 3 ]
    [[ $output == *"of 'sheet'"*"expected more than their thickness, 0.03 m"* ]]
}

@test "what touches or crosses at the start is refused, named, and written as a mesh" {
    scene
    refused objects.box.translate='[0, 0.5, 0]' "(-0.5, 0, -0.5) is on half-space 'floor' (height 0 m)"
    refused objects.other='{generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 2, 0]}' "touches or crosses triangle of 'other'"
    refused objects.dust='{generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, obstacle: true, translate: [0.1, 1.2, 0.1]}' "is inside tet"
    refused objects.seed='{generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0.2, 1.2, 0.2]}' "of 'seed' (node"
    exits 3 "$BIN/mesh-prep" scene.yaml --set objects.box.translate='[0, 0.25, 0]' --report bad.obj -o out.abut
    says "9 contacts at the start without a gap"
    [ "$(grep -c ^p bad.obj)" = 9 ]
    [ ! -e out.abut ]
    "$BIN/mesh-prep" scene.yaml --set objects.box.translate='[0, 0.5000001, 0]' --explain -o out.abut 2>text
    grep -F "start gap" text | grep -F "half-space 'floor'"
}

# two free boxes above each other, 0.5 mm apart, a fraction 0.29 of dhat
pressed() {
    cat > pressed.yaml <<'Y'
time: {step: 0.01 s}
gravity: [0, 0, 0]
contact: {dhat: 1e-2 l, start: pressed}
materials: {m: {young: 1e7, poisson: 0.3}}
objects:
  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [3, 3, 3]}}}
  high: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [3, 3, 3]}}, translate: [0.013, 0.1005, 0.017]}
Y
}

# parts WITHIN STEPS OPTION ...: step parts 'low' and 'high' at the speed that --check says, but for the factor 1 + WITHIN
parts() {
    local said
    said=$("$BIN/mesh-prep" --check pressed.yaml "${@:3}" 2>&1 >/dev/null |
           sed -n "s/.*advice: 'low' and .* the barrier parts them at \(.*\) m.s$/\1/p")
    "$BIN/mesh-prep" -q pressed.yaml "${@:3}" | "$BIN/step" -q -j 1 -n "$2" | "$BIN/ccd-check" -q | "$BIN/export" -q - --csv parted.csv
    $PYTHON - "$said" "$1" <<'P'
import csv, math, sys
said, within = float(sys.argv[1]), float(sys.argv[2])
velocity = lambda row, body: [float(row.get(f"{body}.v{k}_m/s", 0)) for k in "xyz"]
found = max(math.dist(velocity(row, "low"), velocity(row, "high")) for row in csv.DictReader(open("parted.csv")))
print(f"said {said} m/s, found {found:.4g} m/s")
sys.exit(not found / (1 + within) < said < found * (1 + within))
P
}

@test "a start within dhat: bodies part at the speed that is said, stiff and soft ones, in short and long steps, by every scheme" {
    pressed
    for g in 0.1001 0.1005 0.101; do parts 0.1 8 --set objects.high.translate="[0.013, $g, 0.017]"; done
    for s in bdf2 midpoint implicit-newmark; do parts 0.1 12 --set time.scheme=$s; done
    for h in 1e-2 1e-3 1e-4; do parts 0.2 8 --set time.step=$h --set materials.m.young=1e5; done
    for h in 1e-3 1e-4 1e-5; do parts 0.2 8 --set time.step=$h --set materials.m.young=1e8; done
    parts 0.15 20 --set contact.dhat='5e-2 l' --set objects.high.translate='[0.013, 0.102, 0.017]'      # in several steps
    parts 0.1 8 --set objects.high.generate.box='{size: [0.02, 0.1, 0.02], cells: [1, 4, 1]}'
    parts 0.1 8 --set objects.high='{generate: {sphere: {radius: 0.05, cells: 8}}, translate: [0, 0.1005, 0]}'
    parts 0.1 8 --set contact.barrier='{fixed-kappa: 1000}'
    parts 0.1 8 --set contact.barrier='{law: log2}'
    parts 0.1 8 --set objects.high='{half-space: {point: [0, 0.0502, 0], normal: [0, -1, 0]}}'
    parts 0.1 8 --set objects.high='{half-space: {point: [0, 0.0005, 0], normal: [0, -1, 0]}}' \
        --set objects.low='{generate: {cloth: {size: [0.3, 0.3], cells: [9, 9]}}, shell: {thickness: 1 mm}}'
    parts 0.1 8 --set objects.low.obstacle=true
    parts 0.1 3 --set gravity='[0, -9.81, 0]' --set time.step=1e-3 --set objects.low.obstacle=true
}

@test "a start that the barrier would throw apart is refused, with both bodies, gap, dhat and speed; \`start: pressed\` takes it" {
    pressed
    exits 3 "$BIN/mesh-prep" pressed.yaml --set contact.start=apart --set time.step=1e-3 -o no.abut
    says "mesh-prep: 'low' and 'high' start 0.0005 m apart, within dhat, 0.00173 m: the barrier parts them at 0.476 m/s, more than 0.1 m/s, a tenth of the speed of the scene; expected a larger gap, a smaller contact.dhat, or \`contact: {start: pressed}\`"
    [ ! -e no.abut ]
    exits 0 "$BIN/mesh-prep" pressed.yaml --set time.step=1e-3 --explain -o a.abut
    grep -E '^  start +pressed: ' stderr
    # what a smaller dhat, a longer step, a solver without barrier, no contact, equilibria change
    local apart=(--set contact.start=apart --set time.step=1e-3)
    "$BIN/mesh-prep" -q pressed.yaml "${apart[@]}" --set contact.dhat='1e-3 l' -o a.abut
    "$BIN/mesh-prep" -q pressed.yaml "${apart[@]}" --set time.step=1e-2 -o a.abut
    for s in nodal sqp qp; do "$BIN/mesh-prep" -q pressed.yaml "${apart[@]}" --set solver=$s -o a.abut; done
    "$BIN/mesh-prep" -q pressed.yaml "${apart[@]}" --set contact=off -o a.abut
    "$BIN/mesh-prep" -q pressed.yaml "${apart[@]}" --set time.scheme=quasi-static -o a.abut
    # with gravity by sqrt(g l); what is pressed down is not thrown up; what scripts hold is not thrown
    apart+=(--set objects.low.obstacle=true --set gravity='[0, -9.81, 0]')
    exits 3 "$BIN/mesh-prep" pressed.yaml "${apart[@]}" -o no.abut
    says "more than 0.13 m/s, a tenth of sqrt(gravity l)"
    "$BIN/mesh-prep" -q pressed.yaml "${apart[@]}" --set time.step=1e-2 -o a.abut
    "$BIN/mesh-prep" -q pressed.yaml "${apart[@]}" --set gravity='[0, -200, 0]' -o a.abut
    "$BIN/mesh-prep" -q pressed.yaml "${apart[@]}" --set motion='[{select: {object: high, relative-box: [[0, 0.9, 0], [1, 1, 1]]}, fix: true}]' -o a.abut
    exits 3 "$BIN/mesh-prep" pressed.yaml --set contact.start=held -o no.abut
    says "contact.start"
}

@test "a gap that rounding made is refused in dynamics and equilibria: a box laid on a plane, two boxes, a folded sheet" {
    pressed
    local laid=(--set objects.high='{half-space: {point: [0, -0.05000000000000001, 0], normal: [0, 1, 0]}}')
    for s in implicit-euler quasi-static; do
        exits 3 "$BIN/mesh-prep" pressed.yaml "${laid[@]}" --set contact.start=apart --set time.scheme=$s -o no.abut
        says "'low' and half-space 'high' start 6.94e-18 m apart, less than a millionth of dhat, 0.00173 m: "
    done
    [ ! -e no.abut ]
    "$BIN/mesh-prep" -q pressed.yaml "${laid[@]}" -o a.abut
    "$BIN/mesh-prep" -q pressed.yaml "${laid[@]}" --set contact.start=apart --set solver=nodal | "$BIN/step" -q -n 2 | "$BIN/ccd-check" -q --no-output
    exits 3 "$BIN/mesh-prep" pressed.yaml --set contact.start=apart --set objects.high.translate='[0, 0.1000000005, 0]' --set time.step=1 -o no.abut
    says "'low' and 'high' start 5e-10 m apart, less than a millionth of dhat"
    "$BIN/mesh-prep" -q pressed.yaml --set contact.start=apart --set objects.high.translate='[0, 0.100000002, 0]' --set time.step=1 -o a.abut
    printf 'v %s\n' '0 0 0' '1 0 0' '0 0 1' '0 1e-10 0' '1 1e-10 0' '0 1e-10 1' > leaf.obj
    printf 'f %s\n' '1 2 3' '4 5 6' >> leaf.obj
    exits 3 "$BIN/mesh-prep" pressed.yaml --set contact.start=apart --set objects.leaf='{mesh: leaf.obj, shell: {thickness: 1 mm}, translate: [1, 0, 0]}' -o no.abut
    says "parts of 'leaf' start 1e-10 m apart, less than a millionth of dhat"
}

# two boxes that overlap by 0.05, and a floor under the lower one
overlap() {
    cat > overlap.yaml <<'Y'
time: {step: 0.01 s}
objects:
  low: {generate: {box: {size: [1, 0.5, 1], cells: [3, 2, 3]}}, translate: [0, 0.26, 0]}
  high: {generate: {box: {size: [0.6, 0.4, 0.6], cells: [3, 2, 3]}}, rotate: {axis: [0, 1, 0], angle: 20 deg}, translate: [0.02, 0.66, 0.03]}
  floor: {half-space: {normal: [0, 1, 0]}}
Y
}

@test "--separate parts bodies that overlap, says how, and the simulation starts from there" {
    overlap
    exits 3 "$BIN/mesh-prep" overlap.yaml -o out.abut
    says "touches or crosses"
    exits 0 "$BIN/mesh-prep" overlap.yaml --separate '2e-3 m' --explain -o a.abut
    grep -E "separate: 0.002 m asked for; [1-9][0-9]* crossings -> 0; gap 0 m -> at least 0.002 m; residual 0 m; [0-9]+ rounds" stderr
    grep -E "separate: largest move 0.0[0-9]+ m \(node [0-9]+ of '(low|high)'\), limit 0.[0-9]+ m; rms 0.0[0-9]+ m" stderr
    run grep -F "crosses" stderr
    [ "$status" -eq 1 ]
    grep -a -F '{"separate": "2e-3 m"}' a.abut
    "$BIN/step" -n 5 a.abut | "$BIN/ccd-check" -o b.abut
    "$BIN/mesh-prep" -q -j 1 overlap.yaml --separate '2 mm' --max-move '0.1 l' -o c.abut
    "$BIN/export" --dump a.abut --array 'node/x' -o a.txt
    "$BIN/export" --dump c.abut --array 'node/x' -o c.txt
    diff <(grep -v '^prov' a.txt) <(grep -v '^prov' c.txt)
}

@test "--separate names what is left of every kind, with what it lacks" {
    cat > left.yaml <<'Y'
objects:
  low: {generate: {box: {size: [1, 0.5, 1], cells: [2, 1, 2]}}, translate: [0, 0.1, 0]}
  rod: {generate: {rod: {length: 1, cells: 1}}, rod: {radius: 1 mm}, contact-thickness: 8 cm, translate: [0, 5, 0]}
  cross: {generate: {rod: {length: 1, cells: 1}}, rod: {radius: 1 mm}, contact-thickness: 8 cm, rotate: {axis: [0, 1, 0], angle: 90 deg},
          translate: [0, 5.01, 0]}
  bead: {generate: {particles: {size: [0, 0, 0], count: [1, 1, 1]}}, particle: {radius: 1 mm}, contact-thickness: 8 cm, translate: [0.3, 5.01, 0]}
  two: {generate: {particles: {size: [0.01, 0, 0], count: [2, 1, 1]}}, particle: {radius: 1 mm}, contact-thickness: 8 cm, translate: [0, 9, 0]}
  ground: {half-space: {normal: [0, 1, 0]}}
Y
    exits 3 "$BIN/mesh-prep" left.yaml --separate '1 mm' --max-move '1 mm' -o no.abut
    grep -E "node 0 of 'low' at .* would have to move 0.00[0-9]+ m beyond the limit" stderr
    # 81 mm asked for, 10 mm there, of which each side adds up to 1 mm
    grep -E "edge of 'rod' .* is 0\.069[0-9]* m too near to edge of 'cross'" stderr
    grep -E "point of 'bead' .* is 0\.069[0-9]* m too near to edge of 'rod'" stderr
    grep -E "point of 'two' .* is 0\.069[0-9]* m too near to point of 'two'" stderr
    [ "$(grep -c "of 'low' .* too near to half-space 'ground'" stderr)" -eq 9 ]
    [ ! -e no.abut ]
}

@test "--separate moves the first frame, not the rest shape, and leaves what is apart alone" {
    overlap
    local apart='objects.high.translate=[0.02, 0.9, 0.03]'
    "$BIN/mesh-prep" -q overlap.yaml --separate '1e-3 l' -o repaired.abut
    "$BIN/mesh-prep" -q overlap.yaml --set "$apart" -o apart.abut
    "$BIN/mesh-prep" -q overlap.yaml --set "$apart" --separate '1e-3 l' -o same.abut
    rows() { "$BIN/export" --dump "$1.abut" --array "$2" | grep '^ '; }
    cmp <(rows apart node/x) <(rows same node/x)
    # the 48 nodes of the lower box: at rest as ever, moved in the first frame
    cmp <(rows apart node/X | head -n 48) <(rows repaired node/X | head -n 48)
    run cmp <(rows apart node/x | head -n 48) <(rows repaired node/x | head -n 48)
    [ "$status" -eq 1 ]
}

# a thick sheet, grains in it and in each other, rods through it
thick_heap() {
    cat > heap.yaml <<'Y'
time: {step: 0.005 s}
objects:
  sheet: {generate: {cloth: {size: [0.1, 0.1], cells: [6, 6]}}, shell: {thickness: 0.5 mm}, contact-thickness: 1 mm}
  sand: {generate: {particles: {size: [6 mm, 2 mm, 6 mm], count: [3, 2, 3], jitter: 0.5 mm}}, particle: {radius: 1 mm}, contact-thickness: 4 mm, translate: [0, 1 mm, 0]}
  hair: {generate: {strands: {count: [3, 3], spacing: 2 mm, length: 2 cm, cells: 3, lean: 4 mm}}, rod: {radius: 0.5 mm}, contact-thickness: 2 mm, translate: [2.5 cm, 8 mm, 0]}
  floor: {half-space: {point: [0, -4 mm, 0], normal: [0, 1, 0]}}
Y
}

@test "--separate honours thickness, of shells, rods and grains alike" {
    thick_heap
    exits 3 "$BIN/mesh-prep" heap.yaml -o out.abut
    exits 0 "$BIN/mesh-prep" heap.yaml --separate '0.2 mm' --max-move '1.5 cm' -o a.abut
    grep -E "separate: 0.0002 m asked for; [1-9][0-9]* crossings -> 0; gap 0 m -> at least 0.0002 m; residual 0 m" stderr
    "$BIN/ccd-check" -q --gap --json v.json -o judged.abut a.abut
    python3 -c 'import json; v = json.load(open("v.json")); g = v["smallest_gap"]; assert v["clean"] and (g is None or g["m"] >= 0.0002)'
    "$BIN/step" -q -n 1 a.abut | "$BIN/ccd-check" -q -o b.abut
    exits 3 "$BIN/mesh-prep" heap.yaml --separate '0.2 mm' --max-move '0.1 mm' -o out.abut
    says "beyond the limit"
    # handles stay where they are too near to each other
    exits 3 "$BIN/mesh-prep" heap.yaml --separate '0.2 mm' --max-move '1.5 cm' --set motion='[{select: {object: sand}, fix: true}]' -o out.abut
    grep -E "point of 'sand' .* is 0.00[0-9]+ m from point of 'sand' .*, expected more than their thickness, 0.004 m" stderr
    # and a shell that would be stretched too far
    exits 3 "$BIN/mesh-prep" heap.yaml --separate '0.2 mm' --max-move '1.5 cm' --set objects.sheet.shell.stretch-limit=1.0001 -o out.abut
    grep -E "shell [0-9]+ of 'sheet' \(nodes [0-9, ]+\) would have a largest stretch of 1\.[0-9]+" stderr
    says "expected less than 1.0001"
}

@test "--separate refuses what cannot be parted, and names it" {
    overlap
    exits 3 "$BIN/mesh-prep" overlap.yaml --separate '2e-3 m' --max-move '1e-4 m' --report left.obj -o out.abut
    says "crossings left"
    says "at most 0.0001 m"
    [ ! -e out.abut ]
    [ "$(grep -cE "mesh-prep: .*(crosses|too near|beyond the limit)" stderr)" -le 20 ]
    grep -q ^v left.obj
    # handles and obstacles stay: nothing can move
    exits 3 "$BIN/mesh-prep" overlap.yaml --separate '2e-3 m' --set objects.high.obstacle=true \
        --set motion='[{select: {object: low}, fix: true}]' -o out.abut
    says "triangle of '"
    # a body wholly inside another crosses nothing: the start check refuses it
    exits 3 "$BIN/mesh-prep" overlap.yaml --separate '1e-4 m' -o out.abut \
        --set objects.high='{generate: {box: {size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}}, translate: [0.02, 0.26, 0.01]}'
    exits 2 "$BIN/mesh-prep" overlap.yaml --separate 1e-3 -o out.abut
    says "--separate: the length is '1e-3': expected a number and its unit"
    exits 2 "$BIN/mesh-prep" overlap.yaml --separate '0 m' -o out.abut
    says "expected more than 0"
    exits 2 "$BIN/mesh-prep" overlap.yaml --max-move '1 m' -o out.abut
    says "it limits --separate, which is not given"
}

@test "inverted, flat and doubled elements are refused and named" {
    printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n' > flat.obj
    cat > s.yaml <<'Y'
objects:
  box: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 9, 0]}
  thin: {mesh: flat.obj, obstacle: true}
Y
    exits 3 "$BIN/mesh-prep" s.yaml -o out.abut
    says "triangle 0 of 'thin' (nodes 0, 1, 2) has no area"
    printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 2\n' > flat.obj
    exits 3 "$BIN/mesh-prep" s.yaml -o out.abut
    says "flat.obj: triangle 0 names point 1 twice"
    printf '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 1 1 0\n' > flat.node
    printf '1 4 0\n0 0 1 2 3\n' > flat.ele
    exits 3 "$BIN/mesh-prep" flat.ele --report r.obj -o out.abut
    says "tet 0 of 'flat.ele' (nodes 0, 1, 2, 3) is flat"
    [ "$(grep -c ^f r.obj)" = 4 ]
    scene
    refused objects.box.flip=true "object 'box': all 48 tets are inverted"
}

@test "a tet of a Gmsh file of version 4.0 and of a VTK file is the tet of a TetGen file; other cells are refused by name" {
    local f head='# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n'
    printf '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n' > tet.node
    printf '1 4 0\n0 0 1 2 3\n' > tet.ele
    printf '$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n1 4\n1 3 0 4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n' > tet.msh
    printf '$Elements\n1 1\n1 3 4 1\n1 1 2 3 4\n$EndElements\n' >> tet.msh
    printf "${head}CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n" > tet.vtk
    printf "${head}CELLS 1 9\n8 0 1 2 3 0 1 2 3\nCELL_TYPES 1\n12\n" > hexahedron.vtk
    for f in tet.node tet.msh tet.vtk; do
        printf 'objects: {a: {mesh: %s, translate: [1, 2, 3]}}\n' $f > $f.yaml
        "$BIN/mesh-prep" -q $f.yaml -o $f.abut
        "$BIN/export" -q --dump $f.abut | grep -A9 -E ' (node/|tet/)' > $f.dump
        cmp tet.node.dump $f.dump
    done
    [ "$(wc -l < tet.vtk.dump)" -gt 20 ]
    exits 3 "$BIN/mesh-prep" hexahedron.vtk -o out.abut
    says "hexahedron.vtk:10: cell 0 has type 12 (hexahedron): expected vertices (1)"
    [ ! -e out.abut ]
    printf "${head}CELLS 1 5\n4 0 1 2" > cut.vtk
    exits 3 "$BIN/mesh-prep" cut.vtk -o out.abut
    says "cut.vtk:8: 5 numbers of cells are announced, but only 7 bytes follow"
}

@test "a closed surface is filled with tets; an open one is refused" {
    cat > cube.obj <<'O'
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
O
    cat > s.yaml <<'Y'
objects:
  cube: {mesh: cube.obj, tetrahedralize: {max-volume: 0.01}}
Y
    "$BIN/mesh-prep" s.yaml --explain -o a.abut 2>text
    grep -E 'volume +1 ' text
    [ "$(sed -n 's/.*mesh .* \([0-9]*\) tets.*/\1/p' text)" -ge 100 ]
    "$BIN/mesh-prep" s.yaml --set objects.cube.tetrahedralize.keep-surface=true --explain -o a.abut 2>text
    grep -E 'volume +1 ' text
    grep -F '12 triangles, 18 edges' text
    sed -i '$d' cube.obj
    exits 3 "$BIN/mesh-prep" s.yaml -o out.abut
    says "object 'cube'"
    exits 3 "$BIN/mesh-prep" cube.obj -o out.abut
    says "body 'cube.obj' has 10 triangles: expected shell: {thickness: length}, a solid (tetrahedralize: {max-volume: volume}), or an obstacle"
}

# What tetgen takes for one flat facet where neighbours bend by less than a tenth of a degree: 40 mm wide, 0.05 mm high.
@test "a lid that is nearly flat is filled with tets up to its own triangles" {
    awk -f - >dome.obj <<'A'
BEGIN {
    n = 16
    for (s = 0; s < 2; s++) for (j = 0; j <= n; j++) for (i = 0; i <= n; i++) {
        x = 2 * i / n - 1; y = 2 * j / n - 1
        printf "v %.9g %.9g %.9g\n", 20 * x, 20 * y, s ? 10 + 0.05 * (1 - x * x) * (1 - y * y) : 0
    }
    m = (n + 1) * (n + 1)
    for (j = 0; j < n; j++) for (i = 0; i < n; i++) {
        a = j * (n + 1) + i + 1; b = a + 1; c = a + n + 2; d = a + n + 1
        print "f", m + a, m + b, m + c; print "f", m + a, m + c, m + d; print "f", a, c, b; print "f", a, d, c
    }
    for (k = 0; k < n; k++) { side(k + 1, k + 2); side(k * (n + 1) + n + 1, (k + 1) * (n + 1) + n + 1)
        side(n * (n + 1) + k + 2, n * (n + 1) + k + 1); side((k + 1) * (n + 1) + 1, k * (n + 1) + 1) }
}
function side(a, b) { print "f", a, b, m + b; print "f", a, m + b, m + a }
A
    printf 'objects:\n  a: {mesh: dome.obj, scale: 0.001, tetrahedralize: {max-volume: 20 mm^3}}\n' >dome.yaml
    exits 0 "$BIN/mesh-prep" dome.yaml --explain -o a.abut
    want=$(awk '$1 == "v" { for (k = 0; k < 3; k++) x[n + 1, k] = $(k + 2) / 1000; n++ }
        $1 == "f" { for (c = 0; c < 3; c++) for (k = 0; k < 3; k++) p[c, k] = x[$(c + 2), k]
            v += p[0, 0] * (p[1, 1] * p[2, 2] - p[1, 2] * p[2, 1]) + p[0, 1] * (p[1, 2] * p[2, 0] - p[1, 0] * p[2, 2]) + p[0, 2] * (p[1, 0] * p[2, 1] - p[1, 1] * p[2, 0]) }
        END { printf "%.9g", v / 6 }' dome.obj)
    awk -v want="$want" '$1 == "volume" { d = $2 / want - 1; n++ } END { exit !(n == 1 && d < 1e-6 && d > -1e-6) }' stderr
    [ "$(grep -c "^mesh-prep: 'a': tetgen has joined triangles that bend by less than 0.1 degrees, which failed; a second attempt keeps them apart$" stderr)" -eq 1 ]
    sed -i 's/ 10\(\.[0-9]*\)\?$/ 10/' dome.obj      # flat: the first attempt
    exits 0 "$BIN/mesh-prep" dome.yaml -o a.abut
    [ "$(grep -c attempt stderr)" -eq 0 ]
}

@test "mesh files alone make a scene; mixtures and unknown files are usage errors" {
    printf '4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n' | tee a.node > b.node
    printf '1 4 0\n0 0 1 2 3\n' | tee a.ele > b.ele
    "$BIN/mesh-prep" -q a.ele --set objects.a.ele.translate='[2, 0, 0]' --set objects.a.ele.mu=0.5 --to-json -o set.json
    "$PYTHON" -c 'import json; o = json.load(open("set.json"))["objects"]; assert list(o) == ["a.ele"] and o["a.ele"]["mu"] == 0.5'
    "$BIN/mesh-prep" a.ele --explain -o out.abut 2>text
    grep -F "body a.ele" text
    exits 3 "$BIN/mesh-prep" a.ele b.node -o out.abut
    says "touches"
    "$BIN/mesh-prep" a.ele --set objects.wall.half-space.normal='[0, 1, 0]' --set objects.wall.half-space.point='[0, -1, 0]' \
        --set 'fit=2 m' --explain -o out.abut 2>text
    grep -F "half-space wall" text
    grep -F "[0, 0, 0] to [2, 2, 2] m" text
    exits 2 "$BIN/mesh-prep" a.ele s.yaml -o out.abut
    says "s.yaml: expected one scene, or mesh files alone"
    exits 3 "$BIN/mesh-prep" nothing.yaml -o out.abut
    says "nothing.yaml: No such file"
}

# a folder like the release's, with one tet mesh and one surface
release() {
    mkdir -p r/input/a/b
    printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n' > r/input/t.msh
    printf 'v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n' > r/input/tri.obj
    cat > r/input/a/b/s.txt
}

@test "an IPC script turns about z, then y, then x, then moves; keywords become velocities and motions" {
    release <<'S'
zoom 0.5   # no effect
shapes input 3
input/t.msh 0 9 0  0 0 0  2 2 2  material 500 1e6 0.3  initVel 0 -1 0  0 90 0 \
    DBC -0.1 -0.1 -0.1  0.1 0.1 0.1  0 0 0  0 0 0  1.5 \
    NBC 0.9 0 0  1.1 1 1  -5 0 0  0 1
input/tri.obj 0 0 0  0 180 90  1 1 1 angularVelocity 10 90 0
input/tri.pt  5 0 0  0 0 0  1 1 1
ground 0.1 -3
section SQP QP
nonsense 1 2 3
section end
S
    "$BIN/mesh-prep" --ipc-script r/input/a/b/s.txt --explain -o a.abut 2>text
    grep -F "commands without effect: zoom (line 1)" text
    grep -A2 -F "obstacle tri-2" text | grep -F "[0, 0, -1] to [0, 1, 0] m"
    grep -A1 -F "obstacle tri-3" text | grep -F "3 isolated points"
    grep -F "t-1: neo-hookean, 500 kg/m^3, E 1e+06 Pa, nu 0.3" text
    grep -F "3 motions, 1 handle node" text
    "$BIN/mesh-prep" --ipc-script r/input/a/b/s.txt --set time.step=0.001 -q -o b.abut
}

@test "the script twist of the IPC code turns both ends of all bodies against each other" {
    release <<'S'
shapes input 2
input/t.msh 0 9 0  0 0 0  2 2 2
input/t.msh 3 9 0  0 0 0  2 2 2
script twist
S
    "$BIN/mesh-prep" --ipc-script r/input/a/b/s.txt --explain -o a.abut 2>text
    # of [0, 5]: the three corners of the first at x = 0, the tip of the second at x = 5
    grep -F "2 motions, 4 handle nodes" text
}

@test "an unsupported command of an IPC script is named with file and line" {
    release <<'S'
shapes input 1
input/t.msh 0 9 0  0 0 0  2 2 2
timeIntegration RK4
S
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/b/s.txt -o out.abut
    says "s.txt:3: timeIntegration 'RK4': expected BE (implicit Euler) or NM (Newmark)"
    printf 'shapes input 2\ninput/t.msh 0 9 0  0 0 0  2 2 2\n' > r/input/a/b/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/b/s.txt -o out.abut
    says "the script ends where a shape is expected"
    printf 'grund 0 0\n' > r/input/a/b/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/b/s.txt -o out.abut
    says "s.txt:1: unsupported command 'grund'; the nearest known one is 'ground'"
    printf 'shapes input 1\ninput/t.msh 0 9 0  0 0 0  2 2 2 spin 3\n' > r/input/a/b/s.txt
    exits 3 "$BIN/mesh-prep" --ipc-script r/input/a/b/s.txt -o out.abut
    says "s.txt:2: 'spin': expected material, initVel"
    cp r/input/a/b/s.txt lone.txt
    exits 3 "$BIN/mesh-prep" --ipc-script lone.txt -o out.abut
    says "holds 'input'"
}

@test "every tutorial script of the IPC release loads" {
    skip_without ipc/input/tutorialExamples
    local f n=0
    while read -r f; do
        "$BIN/mesh-prep" -q --ipc-script "$f" -o out.abut
        n=$((n + 1))
    done < <(find "$DATA/ipc/input/tutorialExamples" -name '*.txt')
    [ "$n" = 22 ]
}

@test "mat on knives and ball on points of the IPC release have the counts of the literature" {
    skip_without ipc/input/paperExamples/2_matKnives.txt
    "$BIN/mesh-prep" --explain --ipc-script "$DATA/ipc/input/paperExamples/2_matKnives.txt" -o out.abut 2>text
    grep -F "3200 nodes, 9126 tets; surface: 6396 triangles" text
    "$BIN/mesh-prep" --explain --ipc-script "$DATA/ipc/input/paperExamples/2_spherePoints.txt" -o out.abut 2>text
    grep -F "7034 nodes, 27792 tets; surface: 9742 triangles" text
    grep -F "420 isolated points" text
}

@test "every generator makes a body or an obstacle that stands and falls" {
    cat > all.yaml <<'Y'
objects:
  box:      {generate: {box: {size: [1, 1, 1], cells: [1, 2, 1]}}}
  sphere:   {generate: {sphere: {radius: 0.5, cells: 3}}, translate: [2, 0, 0]}
  cylinder: {generate: {cylinder: {radius: 0.5, height: 1, cells: [3, 2]}}, translate: [4, 0, 0]}
  torus:    {generate: {torus: {radius: 0.4, tube: 0.1, cells: [20, 2]}}, translate: [6, 0, 0]}
  blob:     {generate: {blob: {cell: 0.1, blend: 0.1, snap: true, capsules: [{from: [8, 0, 0], to: [8, 1, 0], radius: 0.3}, {from: [8, 1, 0], radius: 0.4}]}}}
  tendrils: {generate: {tendrils: {radius: 0.3, length: 0.3, thickness: 0.15, count: 12, cell: 0.08}}, translate: [10, 0, 0]}
  tet:      {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], tets: [[0, 1, 2, 3]]}}, translate: [12, 0, 0]}
  cloth:    {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, obstacle: true, translate: [0, -1, 0]}
  tube:     {generate: {revolution: {profile: [[0.6, 0], [0.6, 1], [1, 2]], cells: [8, 2]}}, obstacle: true, translate: [2, -3, 0]}
  roller:   {generate: {revolution: {profile: [[0, 0], [0.5, 0], [0.5, 1], [0, 1]], cells: [8, 2]}}, use: edges, obstacle: true, translate: [4, -3, 0]}
  rod:      {generate: {rod: {length: 1, cells: 3}}, obstacle: true, translate: [6, -3, 0]}
  points:   {generate: {particles: {size: [1, 1, 1], count: [2, 2, 2]}}, obstacle: true, translate: [8, -3, 0]}
  lines:    {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], segments: [[0, 1], [1, 2]]}}, obstacle: true, translate: [12, -3, 0]}
Y
    "$BIN/mesh-prep" all.yaml --explain -o all.abut 2> text
    [ "$(grep -cE '^(body|obstacle) ' text)" -eq 13 ]
    "$BIN/step" -q -n 2 all.abut | "$BIN/ccd-check" -q --no-output
}

@test "a cage of cells holds its surface, has the mass inside of it, and follows it at a twentieth of a cell if asked" {
    printf '%s\n' 'v 0 0 0' 'v 1 0 0' 'v 1 1 0' 'v 0 1 0' 'v 0 0 1' 'v 1 0 1' 'v 1 1 1' 'v 0 1 1' 'f 4 3 2 1' 'f 5 6 7 8' \
        'f 1 2 6 5' 'f 2 3 7 6' 'f 3 4 8 7' 'f 4 1 5 8' > cube.obj
    # cage KEYS: cage.abut; its least and largest x, mass and volume
    cage() {
        printf 'objects: {cube: {generate: {cage: {mesh: cube.obj, cell: 0.5%s}}}}\n' "$1" > cage.yaml
        exits 0 "$BIN/mesh-prep" -e cage.yaml -o cage.abut
        awk '$1 == "mass" || $1 == "volume" { print $2 } $1 == "from," { gsub(/[],[]/, ""); print $3, $7 }' stderr | xargs
    }
    cage '' > loose
    awk '{ exit !($1 < 0 && $2 > 1 && $3 > 999 && $3 < 1001 && $4 > 2) }' loose        # a cube of 1 m^3; cells of the grid
    cage ', fit: true' > close
    awk '{ exit !($1 < -0.0249 && $2 > 1.0249 && $3 > 999 && $3 < 1001 && $4 > 1 && $4 < 1.25) }' close
    mv cage.abut fit.abut
    cage ', fit: true, inflate: 25 mm' > same
    cmp fit.abut cage.abut
    cage ', fit: true, inflate: 50 mm' > wider
    awk '{ exit !($1 < -0.0499 && $2 > 1.0499 && $4 > 1.25) }' wider
}

@test "a cloth is folded to a length or rolled on a radius, a gap apart, and stays as large at rest" {
    # bent KEYS: least and largest x, y and distance from the axis z, of the vertices; the area at rest is 1 m^2
    bent() {
        printf 'objects: {a: {generate: {cloth: {size: [1, 1], cells: [20, 2], %s}}, shell: {thickness: 1 mm}}}\n' "$1" > bent.yaml
        exits 0 "$BIN/mesh-prep" -e bent.yaml -o bent.abut
        grep -E '^  area +1 +m\^2' stderr > area
        "$BIN/export" -q bent.abut --obj obj
        awk '$1 == "v" { v[1] = $2; v[2] = $3; v[3] = sqrt($2 * $2 + $3 * $3)
                 for (k = 1; k < 4; k++) { if (!n || v[k] < lo[k]) lo[k] = v[k]; if (!n || v[k] > hi[k]) hi[k] = v[k] } n++ }
             END { print lo[1], hi[1], lo[2], hi[2], lo[3], hi[3], n }' obj/frame_0000.obj
    }
    bent 'fold: {length: 0.5, gap: 0.05}' > folded
    awk '{ exit !($1 == 0 && $2 > 0.5 && $2 <= 0.525 && $3 == 0 && $4 > 0.0499 && $4 < 0.0501 && $7 == 63) }' folded
    # a spiral of 1 m: pi (r^2 - 0.1^2) = 1 m * 0.05 m at its end, r = 0.161 m
    bent 'roll: {radius: 0.1, gap: 0.05}' > rolled
    awk '{ exit !($5 > 0.0999 && $5 < 0.101 && $6 > 0.155 && $6 < 0.165 && $7 == 63) }' rolled
    for k in 'roll: {radius: 0.1, gap: 0.05}, fold: {length: 0.5, gap: 0.05}' 'fold: {length: 0.5, gap: 0.05}, along: [[0, 0], [1, 0]]'; do
        sed "s/fold: {[^}]*}\|roll: {[^}]*}/$k/" bent.yaml > two.yaml
        exits 3 "$BIN/mesh-prep" two.yaml
        says "cloth: expected one of 'roll', 'fold' and 'along'"
    done
}

@test "friction of pairs, passes until they settle, cloth, grains and obstacles on their way are explained" {
    printf '%s\n' 'v 9 0 0' 'v 10 0 0' 'v 9 1 0' 'f 1 2 3' > g0.obj
    sed 's/ 0$/ 1/' g0.obj > g1.obj
    cat > told.yaml <<'Y'
contact: {friction: {lags: converged, pairs: [{materials: [a, b], mu: 0.7}, {between: [flag, ground], mu: 0.2}]}}
materials:
  a: {membrane: cloth, fabric: {warp: 2e6, weft: 1e6, coupling: 3e5, shear: 5e5}, strain-limit: {warp: 0.1, weft: 0.2, shear: 0.3}}
  b: {}
objects:
  flag: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, material: a, translate: [0, 1, 0]}
  dust: {generate: {particles: {size: [1, 1, 1], count: [2, 2, 2]}}, particle: {radius: 1 mm}, material: b, translate: [0, 4, 0]}
  ghost: {sequence: {files: [g0.obj, g1.obj], times: [0.5 s, 2 s]}, obstacle: true}
  ground: {half-space: {normal: [0, 1, 0], point: [0, -5, 0]}}
Y
    exits 0 "$BIN/mesh-prep" -e told.yaml -o a.abut
    says "until they converge; told.yaml:1:28"
    grep -E 'mu +0.7 +materials a and b \(told.yaml:1:' stderr
    grep -E 'mu +0.2 +objects flag and ground \(told.yaml:1:' stderr
    says "less than 0.1, 0.2, 0.3: warp, weft, shear"
    grep -E 'particles +8$' stderr
    says "2 positions, from 0.5 s to 2 s"
}

@test "--explain prints every parameter, object, motion and spring of a scene with its number, its unit and its place" {
    cat > e.yaml <<'Y'
time: {step: 10 ms, scheme: implicit-newmark, newmark: {beta: 0.3, gamma: 0.6}}
gravity: [0, -10, 0]
wind: [1, 2, 3]
damping: {mass: 0.5 1/s, stiffness: 2 ms}
lift: 1 mm
contact:
  dhat: 2 mm
  start: pressed
  barrier: {filter: 0.5, mollifier: off}
  friction: {mu: 0.2, lags: 3, eps_v: 1e-3 l/s, pairs: [{between: [box, floor], mu: 0.4}, {materials: [m, n], mu: 0.7}]}
force-tolerance: 0.25
tolerance: 2 mm/s
materials:
  m: {model: fixed-corotated, density: 500, young: 20 kPa, poisson: 0.25, bending-young: 30 kPa}
  n: {density: 900, young: 1e5, poisson: 0.4}
objects:
  box: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: m, translate: [0, 1, 0]}
  cloth:
    generate: {cloth: {size: [1, 1], cells: [1, 1]}}
    shell: {thickness: 1 mm, bending: plate, stretch-limit: {lower: 0.5, lower-threshold: 0.75, upper: 1.25, upper-threshold: 1.125},
            pressure: {value: 10 Pa, factor: {times: [1, 3], values: [0, 2]}}, drag: 0.6}
    material: m
    translate: [0, 3, 0]
  rope: {generate: {rod: {length: 1, cells: 2}}, rod: {radius: 1 cm}, material: m, translate: [3, 1, 0], contact-thickness: 3 mm}
  sand: {generate: {particles: {size: [0, 0, 0], count: [1, 1, 1]}}, particle: {radius: 5 mm}, material: n, translate: [5, 1, 0], mu: 0.3}
  board: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, obstacle: true, translate: [7, 1, 0], material: n}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 2, 0]}, mu: 0.1, material: m}
motion:
  - {select: {object: box, box: [[-2, 0.4, -2], [2, 0.6, 2]]}, fix: true, from: 1 s, until: 2 s}
  - {select: {object: board}, keyframes: [{time: 0 s}, {time: 2 s, translate: [1, 0, 0], rotate: {axis: [0, 0, 1], angle: 90 deg}, scale: 2}], from: 1 s, hold: true, interpolation: smooth}
  - {select: {object: sand}, force: [0, 1, 0], factor: {times: [0, 2], values: [0.5, 1]}, from: 1 s}
  - {select: {object: rope}, rotate: {axis: [1, 0, 0], rate: 2 rad/s}, scale: {rate: 0.5}, until: 1 s}
attachments:
  - {from: {object: cloth, nodes: [1]}, to: {object: box}, stiffness: 5 N/m, within: 9 m}
  - {from: {object: sand}, to: {point: [5, 2, 0]}, stiffness: 6 N/m}
Y
    exits 0 "$BIN/mesh-prep" --explain e.yaml -o e.abut
    # sand is the lightest body: 4/3 pi 5^3 mm^3 of 900 kg/m^3; kappa min is its mass times 2e11 / (4e-16 (dhat^2 / 1e-16)^2), and
    # kappa max 100 times that of a node of the box, 500 kg / 8
    diff <(sed '/^mesh-prep:/d; s/ *$//' stderr) - <<'E'
parameters
  time step        0.01           s        e.yaml:1:14
  time scheme      implicit-newmark
  Newmark's beta   0.3                     e.yaml:1:63
  Newmark's gamma  0.6                     e.yaml:1:75
  mass damping     0.5            1/s      e.yaml:4:17
  stiffness damping 0.002          s        e.yaml:4:37
  gravity          0, -10, 0 m/s^2
  l                1              m        largest distance of two nodes of 'rope', the smallest body
  start            pressed: the barrier may part bodies at any speed
  dhat             0.002          m        e.yaml:7:9
  box              l 1.73205081 m, dhat 0.002 m, mean mass of a node 62.5 kg
  cloth            l 1.41421356 m, dhat 0.002 m, mean mass of a node 0.125 kg
  rope             l 1 m, dhat 0.002 m, mean mass of a node 0.0523598776 kg
  sand             l 1 m, dhat 0.002 m, mean mass of a node 0.000471238898 kg
  barrier          ipc                     -(D - Dhat)^2 ln(D/Dhat), C2 at Dhat: Li 2020
  barrier filter   0.5            dhat     e.yaml:9:21
  mollifier        off: forces of nearly parallel edges may jump
  eps_v            0.001          m/s      0.001 l (e.yaml:10:39)
  tolerance        0.002          m/s      e.yaml:12:12
  force tolerance  0.25                    e.yaml:11:18
  mu               0.2                     e.yaml:10:18
  wind             1, 2, 3 m/s
  friction         c1                      2 q - q^2, q = y/w, 1 from w on: Li 2020, App. I
  friction lags    3                       e.yaml:10:29
  mean mass        0.000471238898 kg       of a node of the lightest body; obstacles' nodes get it too
  kappa min        147.262156     kg/m^2   2e11 mean mass / (4e-16 l^2 b''(1e-16 l^2)) of this l, mass and dhat; of other pairs by theirs
  stiffen below    0.0002         m        a tenth of dhat (default)
  kappa max        1.953125e+09   kg/m^2   100 kappa min of the heaviest body
model
  size             20 nodes, 6 tets; contact: 20 vertices, 30 edges, 16 triangles
  shells           2 triangles, 1 hinge
  rods             2 segments, 1 bend
  particles        1
  scripts          4 motions, 7 handle nodes; 5 friction classes
  mu               0.4                     objects box and floor (e.yaml:10:57)
  mu               0.7                     materials m and n (e.yaml:10:91)
  lift             0.001          m        e.yaml:5:7
  start gap        more than 0.002 m everywhere
body box (e.yaml:17:8)
  mesh             8 nodes, 6 tets; surface: 12 triangles, 18 edges, 0 isolated points
  from, to         [-0.5, 0.501, -0.5] to [0.5, 1.501, 0.5] m
  shortest edge    1              m        of the surface
  material         m: fixed-corotated, 500 kg/m^3, E 20000 Pa, nu 0.25 (e.yaml:14:6)
  mass             500            kg       density times volume
  energy density   fixed-corotated         mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2: Stomakhin 2012
  volume           1              m^3
  smallest tet     0.166666667    m^3
body cloth (e.yaml:19:5)
  mesh             4 nodes, 0 tets; surface: 2 triangles, 5 edges, 0 isolated points
  from, to         [-0.5, 3.001, -0.5] to [0.5, 3.001, 0.5] m
  shortest edge    1              m        of the surface
  material         m: fixed-corotated, 500 kg/m^3, E 20000 Pa, nu 0.25 (e.yaml:14:6)
  shell            2 triangles, 1 hinge; isotropic, in plane stress; bends like a plate; rest: a mesh, angles of the mesh
  thickness        0.001          m        of the material; contact does not see it
  area             1              m^2      at rest
  largest stretch  less than 1.25; the barrier begins at 1.125
  smallest stretch more than 0.5; the barrier begins at 0.75
  pressure         10             Pa       along the normals, which turn with the shell
  factor           1 s: 0
  factor           3 s: 2
  drag             0.6            kg/m^3   half the density of air times the coefficient
  bending modulus  30000          Pa       of hinges and bends
  mass             0.5            kg       density times volume
body rope (e.yaml:24:9)
  mesh             3 nodes, 0 tets; surface: 0 triangles, 2 edges, 0 isolated points
  from, to         [2.5, 1.001, 0] to [3.5, 1.001, 0] m
  shortest edge    0.5            m        of the surface
  contact thickness 0.003          m        two things keep the mean of theirs apart
  material         m: fixed-corotated, 500 kg/m^3, E 20000 Pa, nu 0.25 (e.yaml:14:6)
  rods             2 segments, 1 bend
  radius           0.01           m        of the material; contact does not see it
  length           1              m        of all segments at rest
  bending modulus  30000          Pa       of hinges and bends
  mass             0.157079633    kg       density times volume
body sand (e.yaml:25:9)
  mesh             1 node, 0 tets; surface: 0 triangles, 0 edges, 1 isolated point
  from, to         [5, 1.001, 0] to [5, 1.001, 0] m
  mu               0.3                     its own; of two objects with their own, the mean
  material         n: neo-hookean, 900 kg/m^3, E 100000 Pa, nu 0.4 (e.yaml:15:6)
  particles        1
  radius           0.005          m        of the material; contact does not see it
  mass             0.000471238898 kg       density times volume
obstacle board (e.yaml:26:10)
  mesh             4 nodes, 0 tets; surface: 2 triangles, 5 edges, 0 isolated points
  from, to         [6.5, 1.001, -0.5] to [7.5, 1.001, 0.5] m
  shortest edge    1              m        of the surface
  material         n, for friction
motion (e.yaml:29:5)
  nodes            4 of box (e.yaml:29:14)
  what             fixed: the nodes stay where they are
  when             1 s to 2 s, then let go (obstacles rest)
motion (e.yaml:30:5)
  nodes            4 of board (e.yaml:30:14)
  what             keyframes
  when             1 s to 3 s, then held
  pose             1 s: shift 0, 0, 0 m; rotation 1, 0, 0, 0; scale 1, 1, 1
  pose             3 s: shift 1, 0, 0 m; rotation 0.707106781, 0, 0, 0.707106781; scale 2, 2, 2
  in between       smooth
motion (e.yaml:31:5)
  nodes            1 of sand (e.yaml:31:14)
  what             force
  when             from 1 s on
  value            0, 1, 0 N, shared out by mass
  factor           1 s: 0.5
  factor           3 s: 1
  in between       linear
motion (e.yaml:32:5)
  nodes            3 of rope (e.yaml:32:14)
  what             prescribed velocity
  when             0 s to 1 s, then let go (obstacles rest)
  rotate           2, 0, 0 rad/s
  scale            0.5, 0.5, 0.5 1/s
attachment (e.yaml:34:5)
  springs          1, from cloth (e.yaml:34:12) to box
  stiffness        5              N/m      of each spring
  within           9              m        of the object or point
attachment (e.yaml:35:5)
  springs          1, from sand (e.yaml:35:12) to a point
  stiffness        6              N/m      of each spring
half-space floor (e.yaml:27:10)
  point            0, 0, 0 m, normal 0, 1, 0
  mu               0.1                     its own; of two objects with their own, the mean
  material         m, for friction
E
}

@test "--explain says of what l is if no body has two nodes, what was left out, and how fabrics and barriers stiffen" {
    printf '%s\n' 'v 0 0 0' 'v 1 0 0' 'v 0 0 1' 'v 5 5 5' 'f 1 3 2' > lone.obj
    cat > e.yaml <<'Y'
contact: {dhat: 2 mm, barrier: {stiffen-below: 1e-3 l}}
materials:
  silk: {membrane: baraff-witkin, fabric: {warp: 3000, weft: 2000, shear: 500}, density: 300}
objects:
  sand: {generate: {particles: {size: [0, 0, 0], count: [1, 1, 1]}}, particle: {radius: 5 mm}, translate: [0, 5, 0], material: silk}
  wall: {mesh: lone.obj, obstacle: true, translate: [0, -2, 0]}
Y
    exits 0 "$BIN/mesh-prep" -e e.yaml -o e.abut
    # from the grain to the corners of the wall: sqrt(1 + 7^2)
    says "l                7.07106781     m        largest distance of two nodes: no body has two"
    says "stiffen below    0.00707106781  m        0.001 l (e.yaml:1:"
    says "left out         1 point of the mesh inside the obstacle, or in no element"
    # the box of what is in the model, about whose centre a body turns as an obstacle does
    says "from, to         [0, -2, 0] to [1, -2, 1] m"
    cat > turn.yaml <<'Y'
objects: {wall: {mesh: lone.obj, shell: {thickness: 1 mm}, angular-velocity: {axis: [0, 1, 0], rate: 6 rad/s}}}
Y
    "$BIN/mesh-prep" -q turn.yaml | "$BIN/export" -q --csv turn.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { x = $at["wall.vx_m/s"] + 1; z = $at["wall.vz_m/s"] - 1; exit !(x * x + z * z < 1e-24) }' turn.csv
    exits 0 "$BIN/mesh-prep" -e e.yaml --set 'objects.sail={generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1 mm}, material: silk}' -o e.abut
    grep -E '^  fabric +3000, 2000, 500 Pa: warp, weft, shear; [01](\.[0-9]+)? of warp and weft in compression$' stderr
}

@test "--to-json writes a scene that JSON reads, and that becomes the same bytes" {
    cat > odd.yaml <<'Y'
materials: {'1.50': {density: 1e3, young: 1.0e5, poisson: .4}, 'a "b\': {density: 007, young: 1e5 Pa, poisson: 0.3}}
objects:
  é:    {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: '1.50', translate: [-0, +3, 1e400]}
  'n\u': {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: 'a "b\', translate: [5, -.5, 3.], obstacle: true}
motion: []
Y
    exits 0 "$BIN/mesh-prep" -q --to-json odd.yaml
    "$PYTHON" - <<'P'
import json
s = json.load(open("stdout"))
assert s["materials"]["1.50"] == {"density": 1000, "young": 1e5, "poisson": ".4"}, s
assert s["materials"]['a "b\\']["density"] == "007" and s["motion"] == []
assert s["objects"]["é"]["translate"] == [0, "+3", "1e400"] and s["objects"]["n\\u"]["translate"] == [5, "-.5", "3."]
assert s["objects"]["n\\u"]["obstacle"] is True
P
    "$BIN/mesh-prep" -q --set objects.é.translate='[0, 3, 0]' --to-json odd.yaml | "$BIN/mesh-prep" -q -o b.abut
    "$BIN/mesh-prep" -q --set objects.é.translate='[0, 3, 0]' --to-yaml odd.yaml | "$BIN/mesh-prep" -q -o a.abut
    cmp a.abut b.abut
    printf 'objects: {a: {mesh: f, match-mass: f, rest: {mesh: f}, proxy: {mesh: f}, surface: {snap: f}, generate: {cage: {mesh: f}}}, b: {surface: {snap: none}}}\n' > files.yaml
    "$BIN/mesh-prep" -q --to-json files.yaml -o files.json
    [ "$(grep -o "\"$PWD/f\"" files.json | wc -l)" -eq 6 ]
    grep -F '"none"' files.json
    exits 2 "$BIN/mesh-prep" --to-json --explain odd.yaml
    says "--to-json and --explain: expected one of them"
    exits 2 "$BIN/mesh-prep" --to-json --to-yaml odd.yaml
    says "--to-json and --to-yaml"
    exits 2 "$BIN/mesh-prep" --to-json --new drop
    says "--new and --to-json"
    exits 5 "$BIN/mesh-prep" -q --to-json odd.yaml -o /dev/full
    printf 'objects: {"a\\xff": {}}\n' > escaped.yaml
    "$BIN/mesh-prep" -q --to-json escaped.yaml | "$PYTHON" -c 'import json, sys; assert list(json.load(sys.stdin)["objects"]) == ["aÿ"]'
}

@test "a pocket is sewn to a line across a panel, and closes on it" {
    cat >pocket.yaml <<'Y'
time: {step: 0.02 s}
gravity: [0, 0, 0]
materials: {cotton: {density: 472.6, young: 80 kPa, poisson: 0.243}}
objects:
  panel: {generate: {cloth: {size: [0.4, 0.4], cells: [16, 16]}}, shell: {thickness: 0.5 mm}}
  pocket: {generate: {cloth: {size: [0.1, 0.1], cells: [4, 4]}}, shell: {thickness: 0.5 mm}, translate: [0, 0.01, 0]}
seams:
  - {from: {object: pocket, relative-box: [[0, 0, 0], [0, 1, 1]]}, to: {object: panel, box: [[-0.0501, -1, -0.0501], [-0.0499, 1, 0.0501]]}, stiffness: 20 N/m}
Y
    exits 0 "$BIN/mesh-prep" --explain pocket.yaml -o s.abut
    says "5, from a line of pocket to one of panel"
    exits 1 grep -F "no side of a triangle" stderr
    "$BIN/step" -q -n 20 s.abut | "$BIN/ccd-check" -q -o run.abut
    # its edge at x = -5 cm comes down from 1 cm
    "$BIN/export" --dump --array node/x run.abut | awk 'NF == 3 && $1 < -0.0495 && $1 > -0.0505 && $3 > -0.051 && $3 < 0.051 && $2 > 0 { y = $2 } END { print y; exit !(y < 0.004) }'
}

@test "shells, rods, particles, seams: explained, changed by --set, the same through --to-yaml" {
    printf '%s\n' 'v 0 0 0' 'v 1 0 0' 'v 1 1 0' 'v 0 1 0' 'vt 0 0' 'vt 0.5 0' 'vt 0.5 0.5' 'vt 0 0.5' 'f 1/1 2/2 3/3 4/4' > flag.obj
    printf '%s\n' 'v 0 2 0' 'v 0 2 1' 'v 0 2 2' 'l 1 2 3' > hair.obj
    cat > thin.yaml <<'Y'
wind: [1, 0, 0]
materials:
  cotton: {density: 472.6, young: 8 kPa, poisson: 0.243, bending-young: 0.8 MPa}
objects:
  flag: {mesh: flag.obj, rest: {uv: 2 m}, shell: {thickness: 1 mm, stretch-limit: 1.1, drag: 0.6}}
  hair: {mesh: hair.obj, rod: {radius: 1 mm}, contact-thickness: 2 mm}
  left: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, translate: [3, 0, 0]}
  right: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm, bending: plate}, translate: [4.1, 0, 0]}
seams:
  - {from: {object: left, relative-box: [[1, 0, 0], [1, 1, 1]]}, to: {object: right, relative-box: [[0, 0, 0], [0, 1, 1]]}}
Y
    exits 0 "$BIN/mesh-prep" -e thin.yaml -o a.abut
    says "2 triangles, 1 hinge; isotropic, in plane stress; bends three times as stiffly as a plate; rest: a pattern, angles 0"
    says "less than 1.1; the barrier begins at 1"
    says "2 segments, 1 bend"
    says "contact thickness 0.002"
    says "3, from a line of left to one of right"
    says "wind             1, 0, 0 m/s"
    "$BIN/mesh-prep" -q --to-yaml thin.yaml > again.yaml
    (mkdir elsewhere && cd elsewhere && "$BIN/mesh-prep" -q ../again.yaml -o ../b.abut)
    cmp a.abut b.abut
    exits 3 "$BIN/mesh-prep" thin.yaml --set objects.flag.rest.uv=1.8m -o no.abut
    says "triangle 0 of 'flag' starts with the stretch 1.11111111: expected less than its limit 1.1"
    exits 3 "$BIN/mesh-prep" thin.yaml --set objects.hair.shell.thickness=1mm -o no.abut
    says "body 'hair' has no triangles"
    exits 3 "$BIN/mesh-prep" thin.yaml --set objects.flag.shell.thicknes=1mm -o no.abut
    says "did you mean 'thickness'?"
    [ ! -e no.abut ]
}

# no_scene MESSAGE: the scene on stdin is, with that message, and nothing is written
no_scene() {
    cat > bad.yaml
    exits 3 "$BIN/mesh-prep" bad.yaml -o no.abut
    says "$1"
    [ ! -e no.abut ]
}

@test "keys of an object that exclude each other are refused at their place with what was expected" {
    printf '%s\n' 'v 0 0 0' 'v 1 0 0' 'v 0 1 0' 'v 0 0 1' 'f 1 3 2' 'f 1 2 4' 'f 1 4 3' 'f 2 3 4' > tet.obj
    printf '%s\n' 'v 0 2 0' 'v 0 2 1' 'v 0 2 2' 'l 1 2 3' > hair.obj
    no_scene "bad.yaml:1:81: origin: a sequence says where the obstacle is; expected no box-center" \
        <<< 'objects: {a: {sequence: {files: [tet.obj, tet.obj], step: 1 s}, obstacle: true, origin: box-center}}'
    for k in 'repeat: {count: [2, 1, 1], spacing: [3, 0, 0]}' 'velocity: [1, 0, 0]' 'angular-velocity: {axis: [0, 1, 0], rate: 1 rad/s}'; do
        no_scene "sequence: says where the obstacle is; expected no repeat or velocity" \
            <<< "objects: {a: {sequence: {files: [tet.obj, tet.obj], step: 1 s}, obstacle: true, $k}}"
    done
    no_scene "rest: rods of 'a' are at rest as curved as their mesh: expected \`rest\` or rod.curved" \
        <<< 'objects: {a: {mesh: hair.obj, rod: {radius: 1 mm, curved: true}, rest: {mesh: hair.obj}}}'
    no_scene "unit-size and rest: expected one of them" \
        <<< 'objects: {a: {mesh: hair.obj, rod: {radius: 1 mm}, rest: {mesh: hair.obj}, unit-size: true}}'
    no_scene "surface: of copies that are filled with tets: expected no repeat" \
        <<< 'objects: {a: {mesh: tet.obj, tetrahedralize: {max-volume: 1}, order: 2, surface: {snap: tet.obj}, repeat: {count: [2, 1, 1], spacing: [3, 0, 0]}}}'
    no_scene "mesh: expected triangles alone, this one has 0 tets, 0 triangles, 2 segments, 0 points" \
        <<< 'objects: {a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, proxy: {mesh: hair.obj}}}'
    no_scene "mesh: of one body: expected no repeat, or one with objects: true" \
        <<< 'objects: {a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, proxy: {mesh: tet.obj}, repeat: {count: [2, 1, 1], spacing: [3, 0, 0]}}}'
    for k in 'proxy: {segments: 2}' 'match-mass: tet.obj'; do
        no_scene "${k%%:*}: expected a body of tets" <<< "objects: {a: {mesh: hair.obj, rod: {radius: 1 mm}, $k}}"
    done
    for k in lower upper; do
        no_scene "$k-threshold without $k" \
            <<< "objects: {a: {mesh: tet.obj, shell: {thickness: 1 mm, stretch-limit: {$k-threshold: 1}}}}"
    done
    no_scene "frame: expected tets alone or triangles alone, this mesh has 0 tets, 0 triangles, 2 segments, 0 points" \
        <<< 'objects: {a: {mesh: hair.obj, frame: true}}'
    no_scene "bad.yaml:1:30: center without angular-velocity" <<< 'objects: {a: {mesh: tet.obj, center: [0, 0, 0]}}'
    no_scene "edge is '1 um': a side of 2 m would have more than" \
        <<< 'objects: {a: {generate: {cloth: {size: [1, 2], edge: 1 um}}, shell: {thickness: 1 mm}}}'
}

@test "a scene is one document of texts, maps and lists; a path of --set ends at a value" {
    no_scene 'bad.yaml:1:21: a text with a NUL in it' <<< 'objects: {a: {mesh: "a\0b"}}'
    no_scene 'bad.yaml:1:11: a key must be plain text' <<< 'objects: {"a\0b": {}}'
    no_scene 'bad.yaml:3:1: a second document: expected one' <<< $'gravity: [0, 0, 0]\n# none\n---\ngravity: [0, 0, 0]'
    no_scene 'aliases are not read: write the value again' <<< $'gravity: &g [0, 0, 0]\nwind: *g'
    printf 'objects: {a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}}\ntime: {step: 0.02 s}\n' > good.yaml
    exits 2 "$BIN/mesh-prep" good.yaml --set time.step.unit=s -o no.abut
    says "--set time.step.unit: 'unit' is looked up in the plain value '0.02 s'"
    exits 2 "$BIN/mesh-prep" good.yaml --set objects.a.generate.box.size.3=1 -o no.abut
    [ ! -e no.abut ]
}

@test "curved surfaces are those of capsules as they are those of a ball" {
    for snap in 'sphere: {radius: 0.5}' 'capsules: {capsules: [{from: [0, 0, 0], radius: 0.5}]}'; do
        printf 'objects: {a: {generate: {box: {size: [0.6, 0.6, 0.6], cells: [1, 1, 1]}}, order: 2, surface: {snap: {%s}}}}\n' "$snap" > a.yaml
        "$BIN/mesh-prep" -q a.yaml | "$BIN/export" --dump --array node/X |
            awk '/^ / && NF == 3 { r = sqrt($1 * $1 + $2 * $2 + $3 * $3); n[r > 1e-9 ? int(r * 1e6 + 0.5) : 0]++ }
                 END { for (k in n) print k, n[k] }' | sort -n > "${snap%%:*}"
    done
    # 8 corners, 12 edges and 6 diagonals of faces on the ball, and the middle of the box
    diff sphere - <<< $'0 1\n500000 26'
    diff capsules sphere
}

@test "shells, rods and particles that cannot be are refused by name, place and number" {
    printf 'v -0.5 0 -0.5\nv 0.5 0 -0.5\nv 0 0 0.5\nf 1 3 2\n' > one.obj
    printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n' > line.obj
    printf 'v -0.4 0 -0.4\nv 0.4 0 -0.4\nv 0 0 0.4\nf 1 3 2\n' > small.obj
    printf 'v 0 0 0\nl 1\n' > lone.obj
    printf 'v 0 0 0\nv 0 0 0\nl 1 2\n' > dot.obj
    printf 'v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n' > nan.obj
    no_scene "bad.yaml:1:14: triangle 0 of 'a' has no area at rest: 2 A = 0 m^2" \
        <<< 'objects: {a: {mesh: one.obj, shell: {thickness: 1 mm}, rest: {mesh: line.obj}}}'
    no_scene "triangle 0 of 'a' (nodes 0, 1, 2) has no area at (0, 0, 0): 2 A / L^2 = 0" \
        <<< 'objects: {a: {mesh: line.obj, shell: {thickness: 1 mm}}}'
    no_scene "nan.obj:3: x of a vertex is 'nan': expected a finite number" \
        <<< 'objects: {a: {mesh: nan.obj, shell: {thickness: 1 mm}}}'
    no_scene "lone.obj:2: 'l' with 1 vertex: expected at least 2" <<< 'objects: {a: {mesh: lone.obj, rod: {radius: 1 mm}}}'
    no_scene "segment 0 of 'a' has no length at rest" <<< 'objects: {a: {mesh: dot.obj, rod: {radius: 1 mm}}}'
    no_scene "segment 0 names point 0 twice" \
        <<< 'objects: {a: {generate: {explicit: {points: [[0, 0, 0]], segments: [[0, 0]]}}, rod: {radius: 1 mm}}}'
    no_scene "segments is '1': expected 0 (key " \
        <<< 'objects: {a: {generate: {explicit: {points: [[0, 0, 0]], segments: [[0, 1]]}}, rod: {radius: 1 mm}}}'
    no_scene "bad.yaml:1:14: triangle 0 of 'a' starts with the stretch 1.25: expected less than its limit 1.05" \
        <<< 'objects: {a: {mesh: one.obj, shell: {thickness: 1 mm, stretch-limit: 1.05}, rest: {mesh: small.obj}}}'
    no_scene "triangle 0 of 'a' starts with the stretch 0.8: expected more than its limit 0.9" \
        <<< 'objects: {a: {mesh: small.obj, shell: {thickness: 1 mm, stretch-limit: {lower: 0.9}}, rest: {mesh: one.obj}}}'
    no_scene "starts with the strain 0.28125 along warp: expected less than the limit 0.05 of 'c'" <<'Y'
materials: {c: {membrane: cloth, fabric: {warp: 1, weft: 1, coupling: 0, shear: 1}, strain-limit: {warp: 0.05, weft: 0.1, shear: 0.1}}}
objects: {a: {mesh: one.obj, material: c, shell: {thickness: 1 mm}, rest: {mesh: small.obj}}}
Y
    no_scene "rest: a mesh of 1 triangle and 0 segments, expected 8 and 0 as 'a' has" \
        <<< 'objects: {a: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, rest: {mesh: one.obj}}}'
    no_scene "point of 'a' (node 2) at (1.3, 0, 0) is 0.3 m from edge of 'a' (nodes 0, 1) at (0, 0, 0), expected more than their thickness, 1.5 m" <<'Y'
objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [1.3, 0, 0]], segments: [[0, 1], [1, 2]]}}, rod: {radius: 1 mm}, contact-thickness: 1.5}}
Y
    no_scene "contact-thickness is '-1 mm': expected 0 or more" \
        <<< 'objects: {a: {mesh: one.obj, shell: {thickness: 1 mm}, contact-thickness: -1 mm}}'
    printf 'objects: {a: {mesh: one.obj, shell: {thickness: 1 mm, drag: 0}, contact-thickness: 0}}\n' > zero.yaml
    exits 0 "$BIN/mesh-prep" zero.yaml -o zero.abut
}

@test "a contact thickness that the start does not keep is refused by name" {
    cat > thick.yaml <<'Y'
objects:
  sheet: {generate: {cloth: {size: [1, 1], cells: [10, 10]}}, shell: {thickness: 1 mm}, contact-thickness: 2 mm}
  grain: {generate: {particles: {size: [0, 0, 0], count: [1, 1, 1]}}, particle: {radius: 1 mm}, contact-thickness: 2 mm, translate: [0, 1.5 mm, 0]}
Y
    exits 3 "$BIN/mesh-prep" thick.yaml -o no.abut
    says "'grain'"
    exits 0 "$BIN/mesh-prep" thick.yaml --set objects.grain.contact-thickness=0.5mm -o yes.abut
    exits 3 "$BIN/mesh-prep" thick.yaml --set objects.grain.contact-thickness=0.5mm --set objects.sheet.contact-thickness=8cm -o no.abut
    says "'sheet'"
    [ ! -e no.abut ]
}

# bats test_tags=slow
@test "every scene of the pipelines is read, and starts free of contact" {
    for f in "$ROOT"/pipelines/experiments/{adjoint,codimensional,friction,published}/scenes/*.yaml; do
        [[ $f == */squishy-ball.yaml ]] && continue     # takes seconds; published.bats runs it
        "$BIN/mesh-prep" -q "$f" -o scene.abut || { echo "$f"; return 1; }
        "$BIN/ccd-check" -q -j 1 --no-output scene.abut || { echo "$f"; return 1; }
    done
}

@test "a selection that nobody made is named, with the nearest that there is" {
    cat > named.yaml <<'Y'
abut: 1
selections: {left-end: {object: bar, relative-box: [[0, 0, 0], [0.1, 1, 1]]}}
objects: {bar: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}}
motion: [{select: left-ent, fix: true}]
Y
    exits 3 "$BIN/mesh-prep" named.yaml -o o.abut
    says "named.yaml:4:19: no selection is called 'left-ent'; did you mean 'left-end'?"
    sed -i 's/left-ent/roof/' named.yaml
    exits 3 "$BIN/mesh-prep" named.yaml -o o.abut
    says "no selection is called 'roof': expected a name in 'selections'"
}

@test "--keys has every key of the documents, and the documents have every key with its words and default" {
    "$PYTHON" "$BATS_TEST_DIRNAME/scene_keys.py" "$BIN/mesh-prep" "$ROOT/formats"
    exits 2 "$BIN/mesh-prep" --keys s.yaml
    says "--keys and s.yaml: expected --keys alone, which writes all keys"
}
