#!/usr/bin/env bats
# Tets of order 2 to 4: scenes, files, tools.  high_order.py reads files back by the rules of their formats.
load helpers

# ball K: a ball of tets of order K, that falls.  setup_file: orders 1 to 4, built and stepped once.
ball() {
    cat <<Y
abut: 1
time: {step: 0.005 s}
materials: {rubber: {model: neo-hookean, density: 700, young: 5.91e5, poisson: 0.45}}
objects:
  ball:  {generate: {ball: {radius: 0.1, divisions: 1}}, order: $1, translate: [0, 0.105, 0], velocity: [0, -1, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
}

setup_file() {
    local bin=${BIN:-$BATS_TEST_DIRNAME/../../bin} k
    cd "$BATS_FILE_TMPDIR"
    for k in 1 2 3 4; do
        ball $k > ball$k.yaml
        "$bin/mesh-prep" ball$k.yaml -o start$k.abut
        "$bin/step" -n 4 start$k.abut -o run$k.abut
    done
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    TMP=$BATS_TEST_TMPDIR
    files=$BATS_FILE_TMPDIR
}

check() {
    skip_without_numpy
    "$PYTHON" "$BATS_TEST_DIRNAME/high_order.py" "$@"
}

# scene LINE: one object `a` with these keys
scene() {
    printf 'abut: 1\nobjects:\n  a: {%s}\n' "$1" > a.yaml
}

# wrong LINE TEXT: that object is refused with the text
wrong() {
    scene "$1"
    exits 3 "$BIN/mesh-prep" a.yaml -o a.abut
    says "$2"
}

@test "the steps of balls of every order are judged clean, and nothing inverts" {
    for k in 1 2 3 4; do exits 0 "$BIN/ccd-check" "$files/run$k.abut" -o /dev/null; done
}

# bats test_tags=slow
@test "T19: Gmsh files of every order, binary and text, hold the tets, nodes and displacements of the stream" {
    for k in 1 2 3 4; do
        exits 0 "$BIN/export" "$files/run$k.abut" --frames 0 --msh bin$k --msh-text text$k
        check msh bin$k/frame_0000.msh "$files/run$k.abut"
        check msh text$k/frame_0000.msh "$files/run$k.abut"
    done
}

@test "T19: what export writes as Gmsh file becomes the same MODEL and FRAME" {
    for k in 1 2 3 4; do
        exits 0 "$BIN/export" "$files/start$k.abut" --msh bin --msh-text text
        exits 0 "$BIN/export" "$files/start$k.abut" --dump
        grep -v '^prov' stdout > want
        for d in bin text; do
            sed "s|generate: {ball: {radius: 0.1, divisions: 1}}, order: $k, translate: .0, 0.105, 0.|mesh: $PWD/$d/frame_0000.msh|" \
                "$files/ball$k.yaml" > again.yaml
            exits 0 "$BIN/mesh-prep" again.yaml -o again.abut
            exits 0 "$BIN/export" again.abut --dump
            grep -v '^prov' stdout > got
            cmp want got
        done
        rm -r bin text
    done
}

@test "T20: VTK cells of every order have positive Jacobian determinants and the volume of the tets" {
    for k in 1 2 3 4; do
        exits 0 "$BIN/export" "$files/run$k.abut" --vtu v$k
        check vtu v$k/solids_0000.vtu "$files/run$k.abut"
    done
    "$PYTHON" -c 'import vtk' 2>/dev/null || skip "no VTK library for $PYTHON"
    "$PYTHON" - v?/solids_0000.vtu <<'P'
import sys, vtk
for path in sys.argv[1:]:
    r = vtk.vtkXMLUnstructuredGridReader()
    r.SetFileName(path)
    r.Update()
    g = r.GetOutput()
    assert g.GetNumberOfCells() == 20, path
    for i in range(20):                     # the library's own map: volumes of a fine lattice of each cell are positive
        c, x, w, s = g.GetCell(i), [0] * 3, [0] * g.GetCell(i).GetNumberOfPoints(), vtk.mutable(0)
        P = {}
        for a in range(5):
            for b in range(5 - a):
                for d in range(5 - a - b):
                    c.EvaluateLocation(s, [a / 4, b / 4, d / 4], x, w)
                    P[a, b, d] = list(x)
        for (a, b, d), o in P.items():
            if a + b + d == 4:
                continue
            e = [[P[q][k] - o[k] for k in range(3)] for q in ((a + 1, b, d), (a, b + 1, d), (a, b, d + 1))]
            det = sum(e[0][k] * (e[1][(k + 1) % 3] * e[2][(k + 2) % 3] - e[1][(k + 2) % 3] * e[2][(k + 1) % 3]) for k in range(3))
            assert det > 0, (path, i, a, b, d)
P
}

# bats test_tags=slow
@test "tets of every order resist where they are about to invert, between their points of quadrature, too" {
    # order, steps: those of the first that ends with a message without the barrier of det F, and two more
    while read -r k n; do
        twisted_mat "$k"
        "$BIN/step" -q -n "$n" --max-newton 100 --report $k.jsonl twist.abut -o $k.run
        "$BIN/ccd-check" -q --no-output $k.run
        tail -n 1 $k.jsonl | "$PYTHON" -c "import json, sys; assert 0.01 < json.loads(sys.stdin.read())['min_jacobian'] < 0.3 or $k == 4"
    done <<<$'2 30\n3 22\n4 18'
    # the points of the barrier are of the frame at which a step starts: pieces, threads
    "$BIN/step" -q -j 7 -n 10 --max-newton 100 <("$BIN/mesh-prep" -q twist.yaml --set objects.mat.order=3) |
        "$BIN/step" -q -n 12 --max-newton 100 | cmp - 3.run
    # what is in the way is named
    run "$BIN/step" -q -n 1 --max-newton 1 3.run -o no.run
    [ "$status" -eq 4 ]
    [[ $output == *"bounded at"*"by element "*" of 'mat' (det F at least "*" at its points of quadrature: raise 'quadrature')"* ]]
}

@test "the stages of friction give the bytes of whole steps where the barrier of det F is at work" {
    twisted_mat 3
    sed -i 's/contact: off/contact: {friction: {mu: 0.3, lags: 2}}/' twist.yaml
    "$BIN/mesh-prep" -q twist.yaml --set objects.mat.order=2 | "$BIN/step" -q -n 21 -o start.run
    "$BIN/step" -q -n 1 start.run -o whole.run
    "$BIN/step" -q --one-pass start.run -o pending.run
    "$BIN/export" --dump pending.run > dump.txt
    grep 'step/jacobian-point f64 .*, 4' dump.txt
    "$BIN/friction-lag" -q pending.run | "$BIN/step" -q --one-pass | "$BIN/friction-lag" -q -o stages.run
    for f in whole stages; do "$BIN/export" --dump $f.run | sed -n '/^frame/,$p' > $f.txt; done
    cmp whole.txt stages.txt
    run grep -c step/jacobian whole.txt
    [ "$output" = 0 ]
}

@test "degrees of quadrature that are too low or too high are refused" {
    twisted_mat 2
    run "$BIN/mesh-prep" -q twist.yaml --set materials.soft.quadrature=1 -o low.abut
    [ "$status" -eq 3 ]
    [[ $output == *"1 for elastic energy, expected 0, or 2 or more for tets of order 2"* ]]
    run "$BIN/mesh-prep" -q twist.yaml --set materials.soft.quadrature=41 -o high.abut
    [ "$status" -eq 3 ]
    [[ $output == *"quadrature is '41': expected an integer from 1 to 40"* ]]
}

@test "T21: a scene mixes orders, cloth and rods; 6 steps are 3 and 3, whatever the threads" {
    cat > mixed.yaml <<'Y'
abut: 1
time: {step: 0.005 s}
contact: {friction: {mu: 0.3}}
materials: {rubber: {model: neo-hookean, density: 700, young: 1e5, poisson: 0.4}}
objects:
  ball:  {generate: {ball: {radius: 0.1, divisions: 1}}, order: 2, translate: [0, 0.222, 0], velocity: [0, -1, 0]}
  block: {generate: {box: {size: [0.4, 0.1, 0.4], cells: [3, 1, 3]}}, translate: [0, 0.051, 0]}
  top:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, order: 3, translate: [0, 0.42, 0]}
  sheet: {generate: {cloth: {size: [0.3, 0.3], cells: [3, 3]}}, shell: {thickness: 1 mm}, translate: [0, 0.34, 0]}
  wire:  {generate: {rod: {length: 0.3, cells: 3}}, rod: {radius: 1 mm}, translate: [0, 0.49, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" mixed.yaml -o mixed.abut
    for j in 1 2; do "$BIN/step" -q -j $j -n 6 mixed.abut -o $j.abut; done
    cmp 1.abut 2.abut
    "$BIN/step" -q -j 7 -n 3 mixed.abut | "$BIN/step" -q -j 7 -n 3 -o twice.abut
    cmp 1.abut twice.abut
    exits 0 "$BIN/ccd-check" 1.abut -o /dev/null
}

@test "--explain says orders, nodes, det J and how far the surface is from its shape" {
    scene 'generate: {sphere: {radius: 1, cells: 2}}, order: 3'
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "order            3 on a shape of order 3; 316 nodes are no corners"
    says "least det J      0.7"
    says "surface gap      0.0"
    scene 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, geometry: 4'
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "order            2 on a shape of order 4"
    says "rigid rotations store energy"
    exits 0 "$BIN/mesh-prep" a.yaml -o a.abut
    says "warning: 'a' has tets of order 2 on a rest shape of order 4: rigid rotations store energy; geometry: 2 avoids that"
    exits 0 "$BIN/export" a.abut --dump --array 'geometry/*' --no-data
    writes "geometry/X f64 [1680, 3] m required"
    scene 'generate: {explicit: {points: [[1, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]], tets: [[0, 1, 2, 3]]}}, order: 3,
           surface: {snap: {sphere: {radius: 1.7}}}'
    exits 0 "$BIN/mesh-prep" a.yaml -o a.abut
    says "'a': 0 corners and 1 tet (the first is 0) do not reach the surface that they stand for"
    scene 'generate: {sphere: {radius: 1, cells: 2}}, order: 3, geometry: 1'
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "least det J      1 "
}

@test "a surface goes onto a file of triangles, a shape, or nothing" {
    printf 'abut: 1\nobjects: {s: {generate: {icosphere: {radius: 1, divisions: 12}}, shell: {thickness: 1 mm}}}\n' > s.yaml
    "$BIN/mesh-prep" s.yaml | "$BIN/export" --obj o
    scene "generate: {sphere: {radius: 0.97, cells: 3}}, order: 2, surface: {snap: o/frame_0000.obj}"
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "corners          56 moved onto it, 0 of them less than all the way"
    scene 'generate: {sphere: {radius: 0.97, cells: 2}}, surface: {snap: {sphere: {radius: 1}}}, scale: 2'
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "[-2, -2, -2] to [2, 2, 2] m"
    scene 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, surface: {snap: none}'
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "least det J      1 "
    scene 'generate: {blob: {capsules: [{from: [0, 0, 0], to: [1, 0, 0], radius: 0.4}], cell: 0.3, snap: true}}, order: 2'
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "surface gap      0.0"
    scene 'mesh: o/frame_0000.obj, tetrahedralize: {max-volume: 0.5, keep-surface: true}, order: 2,
           surface: {snap: o/frame_0000.obj}, scale: 2, translate: [1, 2, 3]'
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "order            2 on a shape of order 2"
}

@test "what is wrong with order, geometry and surface is named with its place" {
    wrong 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, order: 5' "a.yaml:3:"
    says "order"
    wrong 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, order: 2, geometry: 0' "geometry"
    wrong 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, order: 2, geometry: 2' \
          "object 'a': geometry: 2: expected 1, or a surface that the mesh is put onto"
    wrong 'generate: {sphere: {radius: 1, cells: 2}}, geometry: 2' "geometry: 2: expected 1 for tets of order 1"
    wrong 'generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, order: 2' "object 'a': order: 2: expected a mesh of tets"
    wrong 'generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, order: 2' "object 'a': order: 2: expected none, as an obstacle"
    wrong 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, surface: 3' "surface"
    wrong 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, surface: {}' "surface: expected {snap:"
    wrong 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, surface: {snap: {cube: {size: 1}}}' "unknown key 'cube'"
    wrong 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, surface: {snap: {sphere: {}}}' "'radius' is missing"
    wrong 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, surface: {snap: {sphere: {radius: -1}}}' "radius"
    wrong 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, surface: {snap: {torus: {radius: 1, tube: 2}}}' "expected less than the radius"
    wrong 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, surface: {snap: no-such.obj}' "no-such.obj"
    wrong 'generate: {icosphere: {radius: 1, divisions: 2}}, tetrahedralize: {max-volume: 1}, order: 2, surface: {snap: {sphere: {radius: 1}}}' \
          "of a surface that is filled with tets: expected a file of triangles"
    wrong 'generate: {ball: {radius: 1}}' "'divisions' is missing"
    wrong "mesh: $files/none.msh, order: 2" "none.msh"
}

@test "what is wrong with a Gmsh file of higher order is named with its line" {
    exits 0 "$BIN/export" "$files/start2.abut" --msh-text t
    sed 's/^3 1 11 20$/3 1 31 20/' t/frame_0000.msh > five.msh
    wrong 'mesh: five.msh' "element type 31 (tet of order 5): expected points, segments, triangles, quadrangles or tets of order 1 to 4"
    wrong 'mesh: t/frame_0000.msh, order: 2, geometry: 3' "geometry: 3: expected at most the order of the mesh"
    wrong 'mesh: t/frame_0000.msh, obstacle: true' "an obstacle of tets of order 2: expected order: 1"
    wrong 'mesh: t/frame_0000.msh, surface: {snap: {sphere: {radius: 1}}}' "surface: for tets of order 2: expected straight tets"
    scene 'mesh: t/frame_0000.msh, obstacle: true, order: 1'
    echo '  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [5, 0, 0]}' >> a.yaml
    exits 0 "$BIN/mesh-prep" a.yaml -o a.abut
    "$PYTHON" - t/frame_0000.msh <<'P'
import sys
text = open(sys.argv[1]).read().split("\n")
at = text.index("3 1 11 20")
row = text[at + 1].split()
def write(name, r):
    open(name, "w").write("\n".join(text[:at + 1] + [" ".join(r)] + text[at + 2:]))
write("twice.msh", row[:10] + [row[9]])                         # a node twice
write("crossed.msh", row[:5] + [row[6], row[5]] + row[7:])      # two nodes of edges exchanged
mixed = text[:at] + ["3 1 4 1", "1 " + " ".join(row[1:5]), "3 1 11 19"] + text[at + 2:]
open("mixed.msh", "w").write("\n".join(mixed).replace("$Elements\n1 20", "$Elements\n2 20"))
P
    wrong 'mesh: twice.msh' "twice"
    wrong 'mesh: crossed.msh' "at two places"
    wrong 'mesh: mixed.msh' "tets of order 2 after others of order 1: expected one order in a mesh"
    head -c 3000 t/frame_0000.msh > cut.msh
    wrong 'mesh: cut.msh' "cut.msh"
}

@test "a rest shape that folds over is refused, and the tet is named" {
    exits 0 "$BIN/export" "$files/start2.abut" --msh-text t
    "$PYTHON" - t/frame_0000.msh <<'P'
import sys
text = open(sys.argv[1]).read().split("\n")
at = text.index("3 1 11 20")
node = int(text[at + 1].split()[5])                     # the middle of the first edge of tet 0: from the centre outwards
n = int(text[text.index("$Nodes") + 1].split()[1])
line = text.index("$Nodes") + 2 + n + node
x = [float(w) for w in text[line].split()]
text[line] = "%.17g %.17g %.17g" % (3 * x[0], 0.105 + 3 * (x[1] - 0.105), 3 * x[2])
open("fold.msh", "w").write("\n".join(text))
P
    wrong 'mesh: fold.msh' "of order 2, is not one-to-one: det J ="
}

@test "tear, springs and --separate refuse tets of order 2" {
    exits 3 "$BIN/tear" --stretch 2 "$files/start2.abut"
    says "tets of order 2, expected order 1"
    exits 3 "$BIN/springs" --stiffness 10 "$files/start2.abut"
    says "tets of order 2, expected order 1"
    exits 3 "$BIN/mesh-prep" --separate '1e-3 l' "$files/ball2.yaml"
    says "tets of order 2, expected order 1"
}

@test "smooth surfaces are the boundary of curved tets as finely as asked for; what has a surface of its own keeps it" {
    for k in 2 3 4; do
        for n in 1 5; do
            exits 0 "$BIN/export" "$files/run$k.abut" --frames -1 --smooth $n --obj s$k.$n
            [ "$n" -eq 1 ] || check surface s$k.$n/frame_0004.obj "$files/run$k.abut" ball $n
            [ "$(grep -c ^f s$k.$n/frame_0004.obj)" -eq $((20 * n * n)) ]
        done
    done
    exits 0 "$BIN/export" "$files/run3.abut" --smooth 6 --gltf fine.glb --ply fine --vtu fine
    exits 0 "$BIN/export" "$files/run3.abut" --smooth 2 --gltf few.glb
    (($(wc -c < fine.glb) > 4 * $(wc -c < few.glb)))
    grep -aq "element face 720" fine/frame_0004.ply
    # a rest shape of a higher order than the displacement
    scene 'generate: {sphere: {radius: 1, cells: 2}}, order: 2, geometry: 4'
    "$BIN/mesh-prep" -q a.yaml | "$BIN/export" --smooth 8 --obj g
    awk '$1 == "v" { r = sqrt($2^2 + $3^2 + $4^2); if (r < 0.997 || r > 1.003) exit 1 }' g/frame_0000.obj
    # tets of order 1, a surface in a cage, no contact surface at all
    exits 0 "$BIN/export" "$files/run1.abut" --smooth 5 --obj one
    exits 0 "$BIN/export" "$files/run1.abut" --obj plain
    cmp one/frame_0004.obj plain/frame_0004.obj
    printf 'abut: 1\nobjects: {s: {generate: {icosphere: {radius: 1, divisions: 4}}, shell: {thickness: 1 mm}}}\n' > s.yaml
    "$BIN/mesh-prep" -q s.yaml | "$BIN/export" --obj o
    scene 'generate: {cage: {mesh: o/frame_0000.obj, solid: icosahedron}}, order: 2, proxy: {mesh: o/frame_0000.obj}'
    "$BIN/mesh-prep" -q a.yaml | "$BIN/export" --smooth 3 --obj cage
    [ "$(grep -c ^f cage/frame_0000.obj)" -eq "$(grep -c ^f o/frame_0000.obj)" ]
    "$BIN/mesh-prep" -q "$files/ball3.yaml" --set contact=off | "$BIN/export" --smooth 5 --obj off
    [ "$(grep -c ^f off/frame_0000.obj)" -eq 500 ]
    exits 2 "$BIN/export" "$files/run3.abut" --smooth 65 --obj x
    says "--smooth 65: expected 1 to 64 segments"
    exits 2 "$BIN/export" "$files/run3.abut" --smooth 3 --csv t.csv
    says "expected --gltf, --html, --obj, --ply or --vtu"
}

@test "export --smooth divides curved surfaces alone: obstacles and rods beside them stay as they are" {
    cat > beside.yaml <<'Y'
contact: {dhat: 1 mm}
objects:
  ball: {generate: {ball: {radius: 0.5, divisions: 1}}, order: 2}
  wall: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, obstacle: true, translate: [0, -2, 0]}
  rope: {generate: {rod: {length: 1, cells: 5}}, rod: {radius: 1 cm}, translate: [0, 2, 0]}
Y
    "$BIN/mesh-prep" -q beside.yaml -o beside.abut
    "$BIN/export" -q beside.abut --obj plain
    "$BIN/export" -q beside.abut --obj smooth --smooth 3
    # vertices, and triangles and segments as numbers within their object
    told() { awk '$1 == "o" { name = $2; first = n; print } $1 == "v" { n++ } name == "ball" || $1 == "o" { next }
                  $1 == "v" { print } $1 == "f" { print "f", $2 - first, $3 - first, $4 - first } $1 == "l" { print "l", $2 - first, $3 - first }' "$1"; }
    diff <(told plain/frame_0000.obj) <(told smooth/frame_0000.obj)
    [ "$(told smooth/frame_0000.obj | grep -c '^[vfl]')" -eq $((9 + 8 + 6 + 5)) ]
    # 20 faces of the ball in 3^2 triangles each
    [ "$(grep -c '^f' smooth/frame_0000.obj)" -eq $((8 + 20 * 9)) ]
    [ "$(grep -c '^v' smooth/frame_0000.obj)" -eq $((9 + 6 + 10 * 9 + 2)) ]
}

# bats test_tags=slow
@test "a cage holds a surface and has the mass inside of it" {
    printf 'abut: 1\nobjects: {s: {generate: {icosphere: {radius: 1, divisions: 8}}, shell: {thickness: 1 mm}}}\n' > s.yaml
    "$BIN/mesh-prep" s.yaml | "$BIN/export" --obj o
    local mass kind
    for kind in 'cell: 0.6' 'cell: 0.6, fit: true' 'solid: icosahedron' 'solid: octahedron' 'star: 1' 'star: 2'; do
        for k in 1 2; do
            scene "generate: {cage: {mesh: o/frame_0000.obj, $kind}}, order: $k"
            exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
            mass=$(awk '$1 == "mass" && $3 == "kg" { print $2 }' stderr)
            # this icosphere of radius 1 has a bit less than 4/3 pi m^3, at 1000 kg/m^3
            awk -v m="$mass" 'BEGIN { exit !(m > 4150 && m < 4160) }'
        done
        exits 0 "$BIN/step" -q -n 1 a.abut -o b.abut
        exits 0 "$BIN/ccd-check" b.abut -o /dev/null
    done
    wrong 'generate: {cage: {mesh: o/frame_0000.obj}}' "cage: expected {mesh: file, cell: length}"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, cell: 1, solid: octahedron}}' "cage: expected {mesh: file, cell: length}"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, cell: 1, star: 2}}' "or {mesh: file, star: divisions}"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, star: 0}}' "star is '0': expected an integer from 1 to 6"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, star: 2, fit: true}}' "fit and inflate are of its cells"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, solid: octahedron, inflate: 1 mm}}' "fit and inflate are of its cells"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, cell: 1, fit: 3}}' "fit"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, solid: cube}}' "solid"
    wrong 'generate: {cage: {mesh: none.obj, cell: 1}}' "none.obj"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, cell: 1}}, obstacle: true' "an obstacle is its surface"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, cell: 1}}, repeat: {count: [2, 1, 1], spacing: [3, 0, 0]}' "expected objects: true"
    wrong 'generate: {cage: {mesh: o/frame_0000.obj, cell: 1 mm}}' "expected larger ones"
    sed '0,/^f/{/^f/d}' o/frame_0000.obj > open.obj
    awk '/^f/ { print "f", $2, $4, $3; next } 1' o/frame_0000.obj > inside.obj
    for kind in 'cell: 1' 'solid: octahedron' 'star: 2'; do
        wrong "generate: {cage: {mesh: open.obj, $kind}}" "expected a closed surface, whose edges have two triangles"
        wrong "generate: {cage: {mesh: inside.obj, $kind}}" "or a closed surface with its normals outward"
    done
}

@test "selections, parts and summaries know all nodes of curved tets" {
    scene 'generate: {sphere: {radius: 1, cells: 2}}, order: 2'
    printf 'motion:\n  - {select: {object: a, surface: true}, fix: true}\n' >> a.yaml
    exits 0 "$BIN/mesh-prep" -e a.yaml -o a.abut
    says "nodes            98 of a"                   # 26 corners, 72 edges of 48 triangles
    exits 0 "$BIN/decompose" --parts 4 "$files/start3.abut" -o parts.abut
    exits 0 "$BIN/step" -q -n 1 parts.abut -o stepped.abut
    exits 0 "$BIN/export" stepped.abut --summary --csv t.csv --obj o --ply p --gltf g.glb --nodes n
    [ -s t.csv ]
    [ -s g.glb ]
    [ "$(wc -l < n/nodes_0000.csv)" -ge 147 ]
}

# beam K: a bar of order K that is clamped at one end and sags under its weight onto a post, with damping and a pulled face.
beam() {
    cat <<Y
abut: 1
time: {step: 0.02 s}
tolerance: 1e-7 m/s
damping: {mass: 0.5, stiffness: 2 ms}
materials: {m: {model: neo-hookean, density: 1000, young: 2e5, poisson: 0.4}}
objects:
  bar:  {generate: {box: {size: [1, 0.1, 0.1], cells: [4, 1, 1]}}, order: $1}
  post: {generate: {icosphere: {radius: 0.1, divisions: 3}}, obstacle: true, translate: [0.3, -0.16, 0]}
contact: {dhat: 1 mm, friction: {mu: 0.3}}
motion:
  - {select: {object: bar, relative-box: [[0, 0, 0], [0.001, 1, 1]]}, fix: true}
  - {select: {object: bar, relative-box: [[0.999, 0, 0], [1, 1, 1]]}, traction: [500 Pa, 0, 200 Pa]}
Y
}

@test "every direction ends at one state on tets of order 2, judged clean, and a load on a face acts" {
    beam 2 > beam.yaml
    "$BIN/mesh-prep" -q beam.yaml -o beam.abut
    "$BIN/export" beam.abut --dump --array motion/newtons | grep -A2 newtons
    for s in newton newton-cg lbfgs-h lbfgs-jh lbfgs-ic dot; do
        "$BIN/step" -q --solver $s -n 3 beam.abut -o $s.abut
        "$BIN/ccd-check" -q --no-output $s.abut
        "$BIN/export" $s.abut --csv - | tail -1 > $s.csv
    done
    for s in newton-cg lbfgs-h lbfgs-jh lbfgs-ic dot; do    # elastic energy, to the tolerance of a step
        paste -d, newton.csv $s.csv | awk -F, '{ d = $6 - $(6 + NF / 2); if (d < 0) d = -d; exit !($6 > 0 && d < 1e-5 * $6) }'
    done
}

@test "solvers and rules that know linear tets alone refuse others by their order" {
    beam 3 > beam.yaml
    "$BIN/mesh-prep" -q beam.yaml -o beam.abut
    for s in pd mass-springs admm-pd admm-dd; do
        exits 3 "$BIN/step" --solver $s --contact ignore -n 1 beam.abut -o x.abut
        says "solver $s: tets of order 3, expected order 1"
    done
    exits 3 "$BIN/step" --solver lbfgs-pd -n 1 beam.abut -o x.abut
    says "solver lbfgs-pd: tets of order 3, expected order 1"
    exits 3 "$BIN/step" --solver lbfgs-id -n 1 beam.abut -o x.abut
    says "solver lbfgs-id: tets of order 3, expected order 1"
    "$BIN/mesh-prep" --new curved > curved.yaml
    "$BIN/mesh-prep" -q curved.yaml | "$BIN/step" -q --until 0.25 -o touching.abut
    exits 3 "$BIN/step" --solver lbfgs-pd -n 1 touching.abut -o x.abut
    says "solver lbfgs-pd: tets of order 2, expected order 1"
    exits 3 "$BIN/step" --stop cn -n 1 beam.abut -o x.abut
    says "characteristic norm: tets of order 3, expected order 1"
    exits 3 "$BIN/step" --device twin -n 1 beam.abut -o x.abut
    says "order 2 and more"
}

@test "balances of force, energy and momentum hold on tets of higher order in every time scheme" {
    beam 3 > beam.yaml
    for s in implicit-euler bdf2 implicit-newmark midpoint; do
        "$BIN/mesh-prep" -q beam.yaml --set time.scheme=$s | "$BIN/step" -q -n 6 --with forces,energies | "$BIN/ccd-check" -q -o run.abut
        "$BIN/strain-limit" --audit --upper 1.5 run.abut -o /dev/null
        # what the solver has left at free nodes is none of the reactions at the clamped end
        "$BIN/export" run.abut --dump --array step/force-residual | awk '/^ / { if ($1 > 1e-3) bad = 1; n++ } END { exit bad || !n }'
    done
}

@test "a steel bar that tips over an edge rotates step by step: the same path without that in twice as many iterations" {
    cat > bar.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
tolerance: 1e-5 m/s
contact: {dhat: 1 mm, barrier: {stiffen-below: 1e-9 l}}     # else the stiffness depends on the iterations
materials: {steel: {model: neo-hookean, density: 8000, young: 2e11, poisson: 0.3}}
objects:
  bar:  {generate: {box: {size: [0.2, 0.02, 0.02], cells: [4, 1, 1]}}, order: 2, proxy: {segments: 2}, translate: [0.05, 0.0315, 0]}
  post: {generate: {box: {size: [0.02, 0.04, 0.1], cells: [1, 1, 1]}}, obstacle: true}
  floor: {half-space: {point: [0, -0.1, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q bar.yaml -o bar.abut
    "$BIN/step" -q -j 1 -n 12 --report with.jsonl bar.abut -o with.abut
    "$BIN/step" -q -j 1 -n 12 --report without.jsonl --without rotations bar.abut -o without.abut
    for run in with without; do
        "$BIN/ccd-check" -q --no-output $run.abut
        "$BIN/export" -q --csv $run.csv $run.abut
        [ "$(wc -l < $run.jsonl)" -eq 12 ]
    done
    for j in 2 7; do "$BIN/step" -q -j $j -n 12 bar.abut | cmp - with.abut; done
    its() { awk '{ match($0, /"newton_iterations":[0-9]+/); n += substr($0, RSTART + 20, RLENGTH - 20) } END { print n }' "$1"; }
    fall() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bar.y_m") c = i } END { print $c }' "$1"; }
    awk -v a="$(its with.jsonl)" -v b="$(its without.jsonl)" 'BEGIN { print a, b; exit !(a > 12 && 2 * a < b) }'
    awk -v a="$(fall with.csv)" -v b="$(fall without.csv)" 'BEGIN { print a, b; d = a - b; exit !(a < 0.02 && d < 1e-5 && d > -1e-5) }'
}

# Nothing but its stress resists the rotation of this body about the load.  The projected matrix pairs a strain with a rotation by up
# to 1e4 rad there: steps that take the same part of both need a thousand iterations.  Newton's method itself needs five: strains of
# 0.3, then 0.08, and squares of that down to 1e-6 of the length; the bound is twice as many.
@test "a free body of higher order that balanced tractions stretch takes few iterations to its closed form" {
    for k in 2 3; do
        # traction, J and energy of mu/2 (I - 3) - mu ln J + lambda/2 ln^2 J under that nominal stress with free sides
        while read -r pull jacobian energy; do
            cat > pulled.yaml <<Y
abut: 1
time: {step: 0.1 s, scheme: quasi-static}
gravity: [0, 0, 0]
materials: {m: {model: neo-hookean, density: 1000, young: 1e6, poisson: 0.3}}
objects:
  b: {generate: {box: {size: [0.1, 0.08, 0.06], cells: [2, 1, 1]}}, material: m, order: $k}
motion:
  - {select: {object: b, relative-box: [[-0.01, -0.1, -0.1], [0.01, 1.1, 1.1]]}, traction: [-$pull, 0, 0]}
  - {select: {object: b, relative-box: [[0.99, -0.1, -0.1], [1.01, 1.1, 1.1]]}, traction: [$pull, 0, 0]}
Y
            "$BIN/mesh-prep" -q pulled.yaml | "$BIN/step" -q -j 1 --report step.jsonl -o pulled.abut
            "$PYTHON" -c "
import json
d = json.loads(open('step.jsonl').read())
print(d['newton_iterations'], d['min_jacobian'], d['elastic_energy'])
assert d['newton_iterations'] <= 10
assert abs(d['min_jacobian'] / $jacobian - 1) < 1e-7 and abs(d['elastic_energy'] / $energy - 1) < 1e-8"
        done <<'T'
50000 1.020282762 0.6315562103
100000 1.041087183 2.657385762
200000 1.083931221 11.7261912
T
    done
}
