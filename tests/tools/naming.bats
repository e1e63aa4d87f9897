#!/usr/bin/env bats
# One numbering: nodes are counted within their object, from 0, in messages, tables and selections; half-spaces keep their names.
load helpers

# a box of 8 nodes, a triangle whose first point no element uses, a floor with a name
scene() { # further lines: keys of the triangle
    printf 'v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 0 1\nf 2 3 4\n' > leaf.obj
    cat <<Y
materials: {m: {young: 1e5}}
contact: {dhat: 5 cm}
objects:
  box:  {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [5, 1, 0]}
  leaf: {mesh: leaf.obj, shell: {thickness: 1 mm}, translate: [0, $1, 0]}
  'the "floor"': {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
}

@test "mesh-prep, step --report, ccd-check and the tables of nodes say the number that select: nodes takes" {
    { scene 0.02; echo 'motion: [{select: {object: leaf, nodes: [2]}, fix: true}]'; } > s.yaml
    exits 0 "$BIN/mesh-prep" s.yaml -o s.abut
    exits 0 "$BIN/step" --with forces -n 2 --report r.jsonl s.abut -o run.abut
    exits 0 "$BIN/ccd-check" run.abut --no-output --gap --json judge.json
    exits 0 "$BIN/export" run.abut -f -1 --nodes nodes --csv t.csv
    python3 - <<'P'
import csv, json
r = [json.loads(l) for l in open("r.jsonl")][-1]
assert r["min_gap_nodes"][0] in (0, 1, 2) and r["min_gap_nodes"][1:] == [-1, -1, 0], r["min_gap_nodes"]
assert r["min_gap_objects"] == ["leaf", None, None, 'the "floor"'], r["min_gap_objects"]
assert (r["min_jacobian_object"], r["max_stretch_shell"], r["max_stretch_object"]) == ("box", 0, "leaf")
g = json.load(open("judge.json"))["smallest_gap"]
assert g["nodes"][0] in (0, 1, 2) and g["objects"] == ["leaf", 'the "floor"'], g
rows = list(csv.DictReader(open("nodes/nodes_0002.csv")))
assert [(n["object"], int(n["node"])) for n in rows] == [("box", i) for i in range(8)] + [("leaf", i) for i in range(3)]
held = [n for n in rows if float(n["reaction_force_y_N"])]
assert [(n["object"], n["node"], float(n["z_m"])) for n in held] == [("leaf", "2", 1)], held
t = list(csv.DictReader(open("t.csv")))[-1]
assert float(t["min_det_F_object"]) == 0 and 0 <= float(t["min_det_F_tet"]) < 6
P
    { scene 0.02; echo 'motion: [{select: {object: leaf, nodes: [3]}, fix: true}]'; } > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "nodes: 'leaf' has no node 3: expected 0 to 2 (points of its mesh that no element uses are left out: 1)"
}

@test "what lies where it may not is named by the numbers of its object, and the half-space by its name" {
    scene 0 > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "point of 'leaf' (node 0) at (0, 0, 0) is on half-space 'the \"floor\"'"
    { scene 1; echo 'motion: [{select: {object: leaf}, fix: true}, {select: {object: leaf, nodes: [1]}, translate: [0, 1, 0]}]'; } > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "node 1 of 'leaf' is moved by another motion"
    printf 'v 9 9 9\nv 0 0 0\nv 1 0 0\nv 2 0 0\nf 2 3 4\n' > flat.obj
    exits 3 "$BIN/mesh-prep" s.yaml --set objects.leaf.mesh=flat.obj -o s.abut
    says "triangle 0 of 'leaf' (nodes 0, 1, 2) has no area"
}

@test "half-spaces keep their names in the summary and in glTF, and --object takes them" {
    scene 1 > s.yaml
    sed -i '/floor/a\  wall: {half-space: {point: [-3, 0, 0], normal: [1, 0, 0]}}' s.yaml
    "$BIN/mesh-prep" -q s.yaml -o s.abut
    exits 0 "$BIN/export" s.abut --gltf all.glb --summary
    writes "half-space 'the \"floor\"': point (0, 0, 0) m, normal (0, 1, 0)"; writes "half-space 'wall'"
    exits 0 "$BIN/export" s.abut --object leaf --object wall --gltf some.glb --summary
    writes "half-space 'wall'"
    [ "$(grep -c floor stdout)" -eq 0 ]
    python3 - <<'P'
import json, struct
def glb(path):
    data = open(path, "rb").read()
    return json.loads(data[20:20 + struct.unpack("<I", data[12:16])[0]])
for path, want in ("all.glb", ["box", "leaf", 'the "floor"', "wall"]), ("some.glb", ["leaf", "wall"]):
    doc = glb(path)
    for kind in "meshes", "materials":
        assert [m["name"] for m in doc[kind]] == want, (kind, doc[kind])
    assert sorted(n["name"] for n in doc["nodes"] if "mesh" in n) == sorted(want)
P
    exits 2 "$BIN/export" s.abut --object flor --gltf no.glb
    says "there are box, leaf, the \"floor\", wall"
}
