#!/usr/bin/env bats
# What users get wrong is said with its place: scenes, mesh files, options.
load helpers

box='{generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}'

@test "numbers too large to compute with, and angles of more than 1e6 turns, are refused wherever they come in" {
    box='objects: {b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}'
    too_much() { # SCENE MESSAGE
        printf '%s\n' "$1" >big.yaml
        exits 3 "$BIN/mesh-prep" big.yaml -o none.abut
        says "$2"
    }
    too_much "$box, rotate: {axis: [0, 1, 0], angle: 1e200 rad}}}" "big.yaml:1:102: angle is '1e200 rad': expected at most 1e+06 turns"
    too_much "$box, rotate: [{axis: [0, 1, 0], angle: -1e17 rad}]}}" "angle is '-1e17 rad': expected at most 1e+06 turns"
    too_much "{rotate: {axis: [0, 1, 0], angle: 360000001 deg}, $box}}}" "angle is '360000001 deg'"
    too_much "{$box}}, motion: [{select: {object: b}, keyframes: [{time: 1 s, rotate: {axis: [0, 1, 0], angle: 1e300 rad}}]}]}" "angle is '1e300 rad'"
    too_much "{$box}}, motion: [{select: {object: b}, rotate: {axis: [0, 1, 0], rate: 1e8 rpm}}]}" "rate is '1e8 rpm': expected at most 1e+06 turns a second"
    too_much "{time: {step: 1000 s}, $box}}, motion: [{select: {object: b}, rotate: {axis: [0, 1, 0], rate: 1e6 rpm}}]}" \
        "1.67e+07 turns in a time step of 1000 s: expected at most 1e+06"
    too_much "$box, angular-velocity: {axis: [0, 1, 0], rate: 1e17 rad/s}}}" "rate is '1e17 rad/s'"
    too_much "objects: {b: {generate: {bowl: {radius: 1, cells: [4, 4], opening: 1e9 rad}}, shell: {thickness: 1 mm}}}" "opening is '1e9 rad'"
    too_much "objects: {b: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1 mm, pressure: 1e300}}}" \
        "pressure is '1e300': expected between -1e+50 and 1e+50 in SI units"
    too_much "{materials: {m: {young: 1e306 kPa}}, $box}}}" "young is '1e306 kPa'"
    mkdir -p input
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >input/tri.obj
    printf 'shapes input 1\ninput/tri.obj 0 0 0 0 1e19 0 1 1 1\n' >big.txt
    exits 3 "$BIN/mesh-prep" --ipc-script big.txt -o none.abut
    says "angle"
    printf '%s}}\n' "$box" >small.yaml
    exits 3 "$BIN/mesh-prep" --set objects.b.rotate='{axis: [0, 1, 0], angle: 1e200 rad}' small.yaml -o none.abut
    says "angle is '1e200 rad'"
}

@test "an axis is a direction whatever its length" {
    for axis in '[0, 3, 4]' '[0, 3e-162, 4e-162]' '[0, 3e-320, 4e-320]' '[0, 3e45, 4e45]'; do
        printf 'objects: {b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, rotate: {axis: %s, angle: 180 deg}}}\n' "$axis" >axis.yaml
        "$BIN/mesh-prep" -q axis.yaml -o axis.abut
        # R = 2 a a^T - 1: the corner (1, 1, 1)/2 goes to (-1, 2 * 1.4 * 0.6 - 1, 2 * 1.4 * 0.8 - 1)/2
        "$BIN/export" --dump --array node/x axis.abut | awk 'NF == 3 && $1 < -0.499 && ($2 - 0.34) ^ 2 < 1e-8 && ($3 - 0.62) ^ 2 < 1e-8 { n++ } END { exit n != 1 }'
    done
}

@test "a tab in the indentation of a scene is called a tab, with its line" {
    printf 'objects:\n\ta: %s\n' "$box" > first.yaml
    printf 'objects:\n  a:\n    generate:\n\t\tbox: 1\n' > deep.yaml
    printf 'gravity:\n  -\t1\n  - 2\n  - 0\nobjects:\n  a: %s\n' "$box" > dash.yaml
    printf 'objects:\n  a: @\n' > other.yaml
    exits 3 "$BIN/mesh-prep" first.yaml -o x; says "first.yaml:2:1: a tab"
    exits 3 "$BIN/mesh-prep" deep.yaml -o x; says "deep.yaml:4:1: a tab"
    exits 3 "$BIN/mesh-prep" dash.yaml -o x; says "dash.yaml:2:4: a tab"
    exits 3 "$BIN/mesh-prep" other.yaml -o x
    [ "$(grep -c tab stderr)" -eq 0 ]
    printf 'objects: {a: {generate: {box: {size: [1, 1, 1],\tcells: [1, 1, 1]}}}}\n' > inside.yaml
    exits 0 "$BIN/mesh-prep" -q inside.yaml -o x
}

@test "what a first day gets wrong: a scene where a stream should be, half-spaces, numbers for vectors, a surface without a body, --html -" {
    printf 'objects:\n  a: %s\n  f: {half-space: {point: [0, -1, 0], normal: [0, 1, 0]}}\n' "$box" > s.yaml
    exits 3 "$BIN/step" s.yaml -o x; says "s.yaml is not an abut state stream: it is text; mesh-prep makes a stream of a scene or of meshes"
    printf '\x80\x81\x82\x83\x84\x85\x86\x87\x88' > other
    exits 3 "$BIN/step" other -o x; says "other is not an abut state stream: it starts with other bytes"
    sed 's/half-space/halfspace/' s.yaml > h.yaml
    exits 3 "$BIN/mesh-prep" h.yaml -o x; says "h.yaml:3:7: object: unknown key 'halfspace'; did you mean 'half-space'?"
    exits 3 "$BIN/mesh-prep" s.yaml --set gravity='0 -9.81 0' -o x
    says "gravity is '0 -9.81 0': expected a list of 3 numbers, [0, 1, 0]"
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n' > tet.obj
    exits 3 "$BIN/mesh-prep" tet.obj -o x
    says "expected shell: {thickness: length}, a solid (tetrahedralize: {max-volume: volume}), or an obstacle (obstacle: true)"
    printf 'objects:\n  a: {mesh: tet.obj, tetrahedralize: {max-volume: 0.01}}\n' > solid.yaml     # and that does it
    exits 0 "$BIN/mesh-prep" solid.yaml -o start.abut
    for o in html gltf vtu nodes; do
        exits 2 "$BIN/export" start.abut --$o -
        says "--$o -: expected the name of a file or folder"
        [ ! -e - ]
    done
    exits 0 "$BIN/export" start.abut --csv -
    writes "frame,step,time_s"
}

@test "a text, a list or a map where another one belongs is named with its place, its path of keys, and what was expected" {
    for s in drop cloth rope beam slope curved hard; do "$BIN/mesh-prep" --new $s > $s.yaml; done
    "$PYTHON" "$BATS_TEST_DIRNAME/wrong_kinds.py" "$BIN/mesh-prep" "$BATS_TEST_DIRNAME/wrong_kinds.yaml" ./*.yaml
}

@test "a selection names one object or several, each once" {
    cat > s.yaml <<'Y'
objects:
  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}
  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 2, 0]}
  c: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 4, 0]}
motion:
  - {select: {object: [c, a]}, fix: true}
Y
    nodes() { "$BIN/export" --dump --array motion/node x | sed -n 's/^ //p' | tr '\n' ' '; }
    exits 0 "$BIN/mesh-prep" --explain s.yaml -o x
    says "16 of c, a (s.yaml:6:14)"
    [ "$(nodes)" = "$(echo {0..7} {16..23}) " ]
    # fractions of the box around both: the lower tenth is of a
    "$BIN/mesh-prep" -q s.yaml --set motion.0.select.relative-box='[[0, 0, 0], [1, 0.1, 1]]' -o x
    [ "$(nodes | wc -w)" -eq 4 ]
    "$BIN/mesh-prep" -q s.yaml --set motion.0.select.object='[b]' --set motion.0.select.nodes='[1]' -o x
    [ "$(nodes)" = "9 " ]
    exits 3 "$BIN/mesh-prep" s.yaml --set motion.0.select.box='[[8, 8, 8], [9, 9, 9]]' -o x
    says "none of the 16 nodes of c, a satisfies"
    exits 3 "$BIN/mesh-prep" s.yaml --set motion.0.select.nodes='[1]' -o x
    says "nodes: numbers of nodes of one object: expected one 'object' too"
    exits 3 "$BIN/mesh-prep" s.yaml --set motion.0.select.object='[a, d, a]' -o x
    says "no object is called 'd'"
    exits 3 "$BIN/mesh-prep" s.yaml --set motion.0.select.object='[a, b, a]' -o x
    says "object: 'a' twice"
    exits 3 "$BIN/mesh-prep" s.yaml --set attachments='[{from: {object: [a, b]}, to: {object: c}, stiffness: 1 N/m}]' -o x
    says "from: expected one object, whose nodes are tied to another one"
    exits 3 "$BIN/mesh-prep" s.yaml --set objects.a.position='[0, 1, 0]' -o x
    says "object: unknown key 'position'; did you mean 'translate'?"
}

@test "a flat surface is no solid: it is refused before tetgen ends the program" {
    printf 'objects: {s: {generate: {explicit: {points: [[0, 3, 0], [1, 3, 0], [0, 3, 1]], triangles: [[0, 1, 2]]}}, tetrahedralize: {max-volume: 1}}}\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o x
    says "is of triangle 0 (points 0, 1, 2) alone: expected a closed surface, whose edges have two triangles"
}

@test "one of a thing is said in the singular, by every program" {
    cat > one.yaml <<'Y'
objects:
  t: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], tets: [[0, 1, 2, 3]]}}}
  s: {generate: {explicit: {points: [[0, 3, 0], [1, 3, 0], [0, 3, 1]], triangles: [[0, 1, 2]]}}, shell: {thickness: 1 mm}}
  r: {generate: {explicit: {points: [[0, 6, 0], [1, 6, 0]], segments: [[0, 1]]}}, rod: {radius: 1 mm}}
  p: {generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, particle: {radius: 1 mm}, translate: [0, 9, 0]}
motion: [{select: {object: p}, fix: true}]
Y
    {
        "$BIN/mesh-prep" --explain one.yaml -o start.abut
        "$BIN/step" -n 1 start.abut -o run.abut
        "$BIN/step" --dry-run start.abut
        "$BIN/step" -n 1 --max-newton 1 --stop published start.abut -o x || [ $? -eq 4 ]
        "$BIN/export" --frames 1 run.abut
        "$BIN/export" --frames 7 run.abut || [ $? -eq 2 ]
        "$BIN/salvage" start.abut -o x
        "$BIN/ccd-check" run.abut -o x
        "$BIN/decompose" -k 1 run.abut -o x
        "$BIN/strain-limit" --audit start.abut -o x
        "$BIN/tear" --stretch 2 run.abut -o x
        "$BIN/mesh-prep" --set objects='{t: {generate: {explicit: {points: [[0, 0], [1]]}}}}' one.yaml -o x || [ $? -eq 3 ]
        "$BIN/mesh-prep" --set motion='[]' --set objects='{s: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
            triangles: [[0, 1, 2]], segments: [[0, 1]]}}, tetrahedralize: {max-volume: 1}}}' one.yaml -o x || [ $? -eq 3 ]
    } >said 2>&1
    for words in "4 objects, 10 nodes, 1 tet, 1 shell, 1 rod, 1 particle" "step: 1 step to 0.01 s, 1 frame written" "1 frame taken" \
        "not converged after 1 Newton iteration;" "1 whole frame," "1 motion," "1 part of 1 tet:" "1 frame: stretch" "1 triangle,"; do
        grep -F -- "$words" said
    done
    exits 1 grep -E '(^|[^0-9a-z.,] |[(])1 ([a-z]+ )?(frame|step|object|node|tet|shell|rod|particle|triangle|edge|segment|bend|hinge|motion|part|pair|point|iteration|contact|configuration|passe|class|face)e?s\b' said
}

@test "who says no end gets one step, and is told how to get to the end of the scene" {
    printf 'time: {step: 0.01 s, end: 0.03 s}\nobjects:\n  a: %s\n' "$box" > s.yaml
    "$BIN/mesh-prep" -q s.yaml -o s.abut
    exits 0 "$BIN/step" s.abut -o one.abut
    says "one step was made, as neither -n nor --until says more; the scene's end is --until 0.03"
    for o in "-n 1" "--until 0.02" "-n 4"; do
        exits 0 "$BIN/step" $o s.abut -o x
        [ "$(grep -c 'one step' stderr)" -eq 0 ]
    done
    exits 0 "$BIN/step" -q s.abut -o x
    [ ! -s stderr ]
    exits 0 "$BIN/step" -n 2 one.abut -o three.abut
    exits 0 "$BIN/step" three.abut -o four.abut      # beyond the end
    [ "$(grep -c 'one step' stderr)" -eq 0 ]
    "$BIN/mesh-prep" -q s.yaml --set time='{step: 0.01 s}' | "$BIN/step" -o x 2> stderr
    [ "$(grep -c 'one step' stderr)" -eq 0 ]
}

@test "a key that is in a map twice is named with both lines" {
    printf 'gravity: [0, 0, 0]\nobjects:\n  a: %s\n  b: %s\ngravity: [0, 1, 0]\n' "$box" "$box" > d.yaml
    exits 3 "$BIN/mesh-prep" d.yaml -o x
    says "d.yaml:5:1: the key 'gravity' is in the map already, at line 1"
}

@test "a dhat of the size of the scene is refused, a large one brings a warning" {
    printf 'contact: {dhat: 10 m}\nobjects:\n  a: %s\n' "$box" > h.yaml
    exits 3 "$BIN/mesh-prep" h.yaml -o x
    says "h.yaml:1:17: contact.dhat is 10 m, more than the length of the scene, 1.73205 m"
    exits 0 "$BIN/mesh-prep" h.yaml --set contact.dhat='0.5 m' -o x
    says "warning: contact acts within dhat, 0.5 m, which is 0.29 of the length of the scene"
    # one body far away makes the default large beside every body where the bounding box of all is the length, and there alone
    printf 'objects:\n  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n  c: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [-1000, 0, 0]}\n' > far.yaml
    exits 0 "$BIN/mesh-prep" far.yaml -o far.abut
    [ "$(grep -c warning stderr)" -eq 0 ]
    exits 0 "$BIN/mesh-prep" --set length=bounding-box far.yaml -o far.abut
    says "warning: contact acts within dhat, 1.001 m, which is 0.58 of the length of 'b', 1.73205 m; the scene is 1001 m long"
    exits 0 "$BIN/mesh-prep" --set contact.dhat='1 mm' far.yaml -o far.abut
    [ "$(grep -c warning stderr)" -eq 0 ]
    exits 0 "$BIN/mesh-prep" h.yaml --set contact.dhat='0.1 m' -o y
    grep -v 'can be simulated' stderr >more || true
    [ ! -s more ]
}

@test "a dhat that is too small for a finite stiffness is refused in words of the scene, unless the scene fixes one" {
    printf 'contact: {dhat: 1e-9 l}\nobjects:\n  a: %s\n' "$box" > h.yaml
    exits 3 "$BIN/mesh-prep" h.yaml -o x
    says "h.yaml:1:17: contact.dhat is 1.73205e-09 m, 1e-09 of the length of the scene, 1.73205 m"
    says "expected more than 1e-8 l (default 1e-3 l)"
    [ "$(grep -c 'kappa-min' stderr)" -eq 0 ]
    exits 0 "$BIN/mesh-prep" h.yaml --set contact.dhat='1.1e-8 l' -o x
    exits 0 "$BIN/mesh-prep" h.yaml --set contact.barrier.fixed-kappa=1 -o x
}

@test "--explain says that fixed nodes stay, and from when on" {
    printf 'objects:\n  a: %s\nmotion:\n  - {select: {object: a, surface: true}, fix: true, from: 2 s}\n' "$box" > f.yaml
    exits 0 "$BIN/mesh-prep" --explain f.yaml -o x
    says "fixed: the nodes stay where they are"
    says "from 2 s on"
    [ "$(grep -c 'inf s' stderr)" -eq 0 ]
    exits 0 "$BIN/mesh-prep" --explain f.yaml --set motion.0='{select: {object: a}, translate: [1, 0, 0], until: 3 s}' -o x
    says "prescribed velocity"; says "0 s to 3 s, then let go"
}

@test "an index of an OBJ that names nothing is said with its line; one that runs ahead is fine" {
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n# f 9 9 9\nf 2 3 5\nv 1 1 1\n' > o.obj
    exits 3 "$BIN/mesh-prep" o.obj -o x
    says "o.obj:6: vertex index 5: the file has 4 vertices"
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\nf 1/1 2/4 3/1\n' > t.obj
    exits 3 "$BIN/mesh-prep" t.obj -o x
    says "t.obj:6: texture index 4: the file has 1 place"
    printf 'f 1 2 3\nl 3 4\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 1\n' > ahead.obj
    exits 0 "$BIN/ccd-check" --static ahead.obj
}

@test "a rod whose segments are no longer than its contact thickness is told so, with and without --separate" {
    cat > rod.yaml <<'Y'
objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [1.3, 0, 0]], segments: [[0, 1], [1, 2]]}}, rod: {radius: 1 mm}, contact-thickness: 1.1}}
Y
    for more in "" "--separate=1 mm"; do
        exits 3 "$BIN/mesh-prep" rod.yaml ${more:+"$more"} -o x
        says "edge of 'a' (nodes 1, 2) at (1, 0, 0) is 0.3 m long, no more than the contact thickness, 1.1 m, that it has to keep from its neighbours"
    done
    exits 3 "$BIN/mesh-prep" rod.yaml -o x
    [ "$(grep -c -e --separate stderr)" -eq 0 ]
    exits 0 "$BIN/mesh-prep" -q rod.yaml --set objects.a.contact-thickness=0.2 -o x
}

@test "where one object has curved rods, a ring of another is refused, and the first is named" {
    printf 'v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nl 1 2 3 1\n' >ring.obj
    cat >curved.yaml <<'Y'
abut: 1
objects:
  wire: {generate: {rod: {length: 0.2, cells: 4}}, rod: {radius: 2 mm, curved: true}, translate: [0, 1, 0]}
  ring: {mesh: ring.obj, rod: {radius: 2 mm}}
Y
    exits 3 "$BIN/mesh-prep" -q curved.yaml -o o.abut
    says "curved.yaml:3:9: rods of 'wire' are curved: array 'bend/node' row 3 (bend 1 0 2 of object 1): expected two segments"
}

@test "where --separate may help it is named, and then it helps" {
    cat > cross.yaml <<'Y'
objects:
  a: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}}
  b: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, translate: [0.1, 0.98, 0.03]}
Y
    exits 3 "$BIN/mesh-prep" cross.yaml -o x
    says "; --separate GAP parts what crosses or is too near"
    exits 0 "$BIN/mesh-prep" cross.yaml --separate '1 mm' -o x
}

@test "step --until a time that has passed says so and passes the stream on" {
    printf 'time: {step: 0.01 s}\nobjects: {a: %s}\n' "$box" > s.yaml
    "$BIN/mesh-prep" -q s.yaml | "$BIN/step" -q -n 3 -o three.abut
    for t in 0.02 0.03; do
        exits 0 "$BIN/step" --until $t three.abut -o o.abut
        says "--until $t s: the stream is at 0.03 s already, no step was made"
        cmp three.abut o.abut
    done
    exits 0 "$BIN/step" --until 0.04 three.abut -o o.abut
    [ "$(grep -c already stderr)" -eq 0 ]
    exits 2 "$BIN/step" -q --until=-1 three.abut -o none.abut
    says "--until -1: want 0 s or more"
    exits 2 "$BIN/step" --until -1ms three.abut -o none.abut
    [ ! -e none.abut ]
    exits 0 "$BIN/step" --until 0 three.abut -o o.abut
    cmp three.abut o.abut
}

@test "step --solver proposes the name that is nearest" {
    exits 2 "$BIN/step" --solver newtn </dev/null; says "did you mean newton?"
    exits 2 "$BIN/step" --solver mass-spring </dev/null; says "did you mean mass-springs?"
    exits 2 "$BIN/step" --solver qqq </dev/null; says "--solver qqq: know newton, newton-cg, "
}

@test "repeat may make objects of its copies, each with its name, motions and columns" {
    cat > r.yaml <<'Y'
contact: {friction: {pairs: [{between: [wall.0, wall.1], mu: 0.5}]}}
objects:
  wall: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 1, 0], repeat: {count: [2, 1, 2], spacing: [1.5, 0, 3], objects: true}}
  floor: {half-space: {normal: [0, 1, 0]}}
motion: [{select: {object: wall.3}, fix: true}]
Y
    sed 's/, objects: true//; s/^contact.*//; s/wall.3/wall/' r.yaml > one.yaml
    "$BIN/mesh-prep" -q r.yaml | "$BIN/step" -q -n 3 -o r.abut
    "$BIN/mesh-prep" -q one.yaml -o one.abut
    exits 0 "$BIN/export" r.abut --csv t.csv --nodes n
    "$BIN/export" one.abut --nodes n1
    python3 - <<'P'
import csv
t = list(csv.DictReader(open("t.csv")))
at = {k: (float(t[0][k + ".x_m"]), float(t[0][k + ".z_m"])) for k in ("wall.0", "wall.1", "wall.2", "wall.3")}
assert {k: (round(x, 9), round(z, 9)) for k, (x, z) in at.items()} == \
    {"wall.0": (0, 0), "wall.1": (1.5, 0), "wall.2": (0, 3), "wall.3": (1.5, 3)}, at
assert float(t[3]["wall.3.y_m"]) == float(t[0]["wall.3.y_m"]) and float(t[3]["wall.2.y_m"]) < float(t[0]["wall.2.y_m"])
rows = [[r[c] for c in ("x_m", "y_m", "z_m")] for r in csv.DictReader(open("n/nodes_0000.csv"))]
assert rows == [[r[c] for c in ("x_m", "y_m", "z_m")] for r in csv.DictReader(open("n1/nodes_0000.csv"))]     # the same lattice
P
    exits 3 "$BIN/mesh-prep" r.yaml --set motion.0.select.object=wall -o x; says "did you mean 'wall.0'?"
    exits 3 "$BIN/mesh-prep" r.yaml --set objects.wall.repeat.count='[1000, 1000, 1]' -o x
    says "repeat: 1000000 objects: expected at most 100000"
    for i in 0 1 2 3 4 5 6 7 8 9 10; do printf 'o%s: {repeat: {count: [100, 100, 10], spacing: [1, 1, 1], objects: true}}, ' $i; done |
        sed 's/.*/objects: {&}/' > many.yaml
    exits 3 "$BIN/mesh-prep" many.yaml -o x
    says "objects: 1100000 up to 'o10': expected at most 1000000"
    sed '/^  floor/i\  wall.2: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [9, 9, 9]}' r.yaml > twice.yaml
    exits 3 "$BIN/mesh-prep" twice.yaml -o x
    says "object 'wall.2': a copy of 'wall' has this name, too"
}

@test "--dump names the option that it does not go with" {
    printf 'objects: {a: %s}\n' "$box" > s.yaml
    "$BIN/mesh-prep" -q s.yaml -o s.abut
    exits 2 "$BIN/export" s.abut --dump --frames 3; says "does not go with --frames"
    exits 2 "$BIN/export" s.abut --dump --object a; says "does not go with --object"
    exits 2 "$BIN/export" s.abut --dump --csv t.csv; says "does not go with --csv"
    [ ! -e t.csv ]
}

@test "another spelling of a unit is proposed as the table has it; the version of a scene is 1; XML VTK is called so" {
    printf 'time: {step: 0.01 sec}\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "s.yaml:1:14: time.step is '0.01 sec': expected a number, if it has a unit one of s, ms, us, min, h, as 10 ms; did you mean 's'?"
    printf 'gravity: [0, -9.81 m/s2, 0]\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "did you mean 'm/s^2'?"
    printf 'time: {step: 0.01 kg}\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    [ "$(grep -c 'did you mean' stderr)" -eq 0 ]
    exits 2 "$BIN/step" --until '1 Seconds'
    says "--until: '1 Seconds' is not a number, if it has a unit one of s, ms, us, min, h; did you mean 's'?"
    exits 2 "$BIN/step" --checkpoint-every 10mins
    says "one of s, ms, us, min, h, as 10min; did you mean 'min'?"
    printf 'abut: 2\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "s.yaml:1:7: abut (the version of the scene language) is '2': expected 1 (key abut)"
    printf '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid">\n' > grid.vtk
    exits 3 "$BIN/mesh-prep" grid.vtk -o s.abut
    says "grid.vtk:1: is XML VTK, as .vtu and .vtp files are: expected legacy VTK"
}

@test "PLY has no element that is not there" {
    printf 'objects:\n  a: %s\n  n: {generate: {rod: {length: 1, cells: 2}}, rod: {radius: 1 mm}, translate: [3, 0, 0]}\n' "$box" > s.yaml
    "$BIN/mesh-prep" -q s.yaml -o s.abut
    "$BIN/export" s.abut --ply all
    "$BIN/export" s.abut --object a --ply box
    "$BIN/export" s.abut --object n --ply rod
    [ "$(grep -a '^element' all/frame_0000.ply | tr '\n' ' ')" = "element vertex 11 element face 12 element edge 2 " ]
    [ "$(grep -a '^element' box/frame_0000.ply | tr '\n' ' ')" = "element vertex 8 element face 12 " ]
    [ "$(grep -a '^element' rod/frame_0000.ply | tr '\n' ' ')" = "element vertex 3 element edge 2 " ]
    for d in all box rod; do "$BIN/ccd-check" -q --static $d/frame_0000.ply; done     # what we write we can read
}

@test "every line of a message is one write: lines of the programs of a pipeline do not mix" {
    "$BIN/mesh-prep" --new drop > new.yaml
    # a pipe in packet mode gives one write back for each read
    "$PYTHON" - "$BIN" new.yaml <<'P'
import os, subprocess, sys
programs, scene = sys.argv[1:]


def writes(*command):
    end, start = os.pipe2(os.O_DIRECT)
    subprocess.run([programs + "/" + command[0], *command[1:]], stderr=start, stdout=subprocess.DEVNULL)
    os.close(start)
    said = []
    while said[-1:] != [b""]:
        said.append(os.read(end, 65536))
    return said[:-1]


for command in (("mesh-prep", scene, "-o", scene + ".abut"), ("step", "-n", "2", scene + ".abut"), ("step", "--none"),
                ("ccd-check", "--no-output", scene + ".abut"), ("salvage", scene + ".abut"), ("step", "/none")):
    said = writes(*command)
    assert said, command
    for w in said:
        assert w.endswith(b"\n"), (command, said)
        assert all(line.startswith(command[0].encode() + b": ") for line in w.splitlines()), (command, said)
P
}

# vtk_tets FILE ORDER COPIES: two tets on a face; ORDER turns the first, the second or both over; COPIES: each has points of its own
vtk_tets() {
    "$PYTHON" - "$@" > "$1" <<'P'
import sys
x = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
tets = [(0, 1, 2, 3), (1, 2, 3, 4)]
tets = [(a, c, b, d) if str(i) in sys.argv[2] else (a, b, c, d) for i, (a, b, c, d) in enumerate(tets)]
if sys.argv[3] == "copies":
    x, tets = [x[i] for t in tets for i in t], [(0, 1, 2, 3), (4, 5, 6, 7)]
print("# vtk DataFile Version 2.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS", len(x), "double")
for p in x:
    print(*p)
print("CELLS 2 10")
for t in tets:
    print(4, *t)
print("CELL_TYPES 2\n10\n10")
P
}

@test "a mesh whose tets have points of their own is told of weld, and that helps; one that is inside out of flip" {
    vtk_tets good.vtk - shared
    exits 0 "$BIN/mesh-prep" good.vtk -o s.abut
    vtk_tets apart.vtk - copies
    printf 'objects:\n  a: {mesh: apart.vtk}\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "'a' has 8 points on its surface, at 5 distinct positions (several are at (0, 0, 1)): \`weld: LENGTH\`"
    [ "$(wc -l < stderr)" -eq 1 ]
    exits 0 "$BIN/mesh-prep" s.yaml --set objects.a.weld=1e-9 -o s.abut
    exits 0 "$BIN/mesh-prep" s.yaml --set contact=off -o s.abut
    vtk_tets inverted.vtk 01 shared
    printf 'objects:\n  a: {mesh: inverted.vtk}\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "s.yaml:2:6: object 'a': all 2 tets are inverted: the mesh is stored inside out, and \`flip: true\` turns it over"
    [ "$(wc -l < stderr)" -eq 1 ]
    exits 0 "$BIN/mesh-prep" s.yaml --set objects.a.flip=true -o s.abut
}

@test "one bad tet is said once, and each of several" {
    vtk_tets one.vtk 1 shared
    exits 3 "$BIN/mesh-prep" one.vtk -o s.abut
    says "one element cannot be simulated: tet 1 of 'one.vtk' (nodes 1, 3, 2, 4) is inverted"
    [ "$(wc -l < stderr)" -eq 1 ]
    printf 'objects:\n  a: {mesh: one.vtk, repeat: {count: [2, 1, 1], spacing: [3, 0, 0]}}\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "2 elements cannot be simulated; the first: tet 1 of 'a'"
    [ "$(grep -c 'tet 1 of' stderr)" -eq 1 ]
    [ "$(grep -c 'tet 3 of' stderr)" -eq 1 ]
}

@test "a file that is no scene is told which meshes are known, a stream which programs read it" {
    printf 'OFF\n4 4 0\n0 0 0\n' > m.off
    printf '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid">\n</VTKFile>\n' > m.vtu
    exits 3 "$BIN/mesh-prep" m.off -o x; says "m.off: no mesh format .off; known are .msh .vtk .obj .ply .stl"
    exits 3 "$BIN/mesh-prep" m.vtu -o x; says "m.vtu: no mesh format .vtu; known are .msh .vtk .obj .ply .stl"
    printf 'v 0 0 0\n' > M.OBJ
    exits 3 "$BIN/mesh-prep" M.OBJ -o x; says "M.OBJ: body 'M.OBJ' has 1 isolated points"
    { head -c 80 /dev/zero; printf '\062\0\0\0'; head -c 600 /dev/zero; } > short.stl
    exits 3 "$BIN/mesh-prep" short.stl -o x; says "short.stl: binary STL of 50 triangles: expected 2584 bytes, the file has 684"
    printf 'objects: {a: %s}\n' "$box" > s.txt       # any name will do for a scene
    exits 0 "$BIN/mesh-prep" s.txt -o s.abut
    printf 'objects: {a: [\n' > s.txt
    exits 3 "$BIN/mesh-prep" s.txt -o x; says "It is no scene either (s.txt:2:1: "
    cp s.txt s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o x; says "mesh-prep: s.yaml:2:1: "
    exits 3 "$BIN/mesh-prep" s.abut -o x
    says "s.abut is an abut state stream: expected a scene or meshes, of which mesh-prep makes one; \`step\` goes on"
    exits 3 "$BIN/mesh-prep" -o x < s.abut; says "standard input is an abut state stream"
}

@test "a mesh file on the command line is named once, and --set without a value says so" {
    vtk_tets bad.vtk - shared
    sed -i 's/^4 1 2 3 4/4 1 2 3 9/' bad.vtk
    exits 3 "$BIN/mesh-prep" bad.vtk -o x
    says "mesh-prep: bad.vtk:13: a point of a cell is '9': expected an integer from 0 to 4"
    printf 'objects: {a: {mesh: bad.vtk}}\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o x; says "mesh-prep: s.yaml:1:21: bad.vtk:13: a point of a cell"
    exits 2 "$BIN/mesh-prep" s.yaml --set time.step= -o x; says "--set time.step=: expected a value after '='"
}

@test "motions are counted as they are written, with what hold adds said apart" {
    cat > m.yaml <<Y
objects: {a: $box}
motion:
  - {select: {object: a, nodes: [0]}, translate: [1, 0, 0], until: 1 s, hold: true}
  - {select: {object: a, nodes: [6]}, translate: [1, 0, 0]}
Y
    exits 0 "$BIN/mesh-prep" m.yaml --explain -o s.abut; says "2 motions, 2 handle nodes"
    "$BIN/export" s.abut --summary > sum 2>&1
    grep -F "2 motions, nodes fixed or held 1 time" sum
}

@test "a solver that sees no contact asks for --contact, in the words of the command line" {
    printf 'objects:\n  a: %s\n' "$box" > s.yaml
    "$BIN/mesh-prep" -q s.yaml -o s.abut
    exits 3 "$BIN/step" -q --solver pd -n 1 s.abut -o x
    says "solver pd sees no contact and guarantees nothing"
    grep -q 'expected a choice of what becomes of them (--contact ignore or springs)$' stderr
}
