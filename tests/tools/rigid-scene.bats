#!/usr/bin/env bats
# Scenes of the public rigid IPC code: every key against what it is said to mean, by fixtures written here; the release's own.
load helpers

# release: meshes/ beside fixtures/: a cube of side 1, a brick of 1 x 2 x 3 from the origin, a square plate, two cubes in one
# file, a cube as .stl
release() {
    skip_without_numpy
    mkdir -p meshes fixtures/a
    "$PYTHON" - "$ROOT" <<'P'
import itertools
tri = [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7),
       (1, 7, 3)]
def box(lo, hi):
    return [[(lo, hi)[b][k] for k, b in enumerate(bits)] for bits in itertools.product((0, 1), repeat=3)]
def obj(name, points, tris, more=""):
    with open("meshes/" + name, "w") as f:
        f.writelines("v %r %r %r\n" % tuple(p) for p in points)
        f.writelines("f %d %d %d\n" % tuple(i + 1 for i in t) for t in tris)
        f.write(more)
cube = box([-.5] * 3, [.5] * 3)
obj("cube.obj", cube, tri)
obj("brick.obj", box([0, 0, 0], [1, 2, 3]), tri)
obj("plate.obj", [[-.5, 0, -.5], [-.5, 0, .5], [.5, 0, .5], [.5, 0, -.5]], [(0, 1, 2), (0, 2, 3)])
obj("two.obj", cube + [[x + 5, y, z] for x, y, z in cube], tri + [tuple(i + 8 for i in t) for t in tri])
with open("meshes/cube.stl", "w") as f:
    f.write("solid s\n")
    for t in tri:
        f.write(" facet normal 0 0 0\n  outer loop\n")
        f.writelines("   vertex %r %r %r\n" % tuple(cube[i]) for i in t)
        f.write("  endloop\n endfacet\n")
    f.write("endsolid s\n")
P
    cat > look.py <<'P'
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
model, *frames = list(abut_stream.read("s.abut"))
frame = frames[-1]
names = model["object/name"].split("\n")[:-1]
def nodes(o): return np.flatnonzero(model["node/object"] == names.index(o))
def mass(o): return model["node/mass"][nodes(o)].sum()
def center(o, x=None):
    x = frame["node/x"] if x is None else x
    m = model["node/mass"][nodes(o)]
    return x[nodes(o)].mean(0) if not m.all() else (m[:, None] * x[nodes(o)]).sum(0) / m.sum()
def points(o, x=None):          # of the contact surface
    x = frame["node/x"] if x is None else x
    first, node, w = (model["contact/map-" + k] for k in ("first", "node", "weight"))
    y = np.array([(w[a:b, None] * x[node[a:b]]).sum(0) for a, b in first])
    return y[[model["node/object"][node[a]] == names.index(o) for a, b in first]]
def same(a, b, tol=1e-12):      # as sets of points
    a, b = np.asarray(a), np.asarray(b)
    assert len(a) == len(b), (a, b)
    far = np.abs(a[:, None] - b[None]).max(2).min(1).max()
    assert far <= tol, far
def near(a, b, tol=1e-12): assert np.abs(np.asarray(a) - np.asarray(b)).max() <= tol, (a, b)
def turn(degrees):
    a, b, c = np.radians(degrees)
    X = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    Y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    Z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return Z @ Y @ X
def box(lo, hi):
    bits = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    return np.array([[(lo, hi)[i][0], (lo, hi)[j][1], (lo, hi)[k][2]] for i, j, k in bits], float)
cube, brick = box([-.5] * 3, [.5] * 3), box([0, 0, 0], [1, 2, 3])
P
}
# scene TEXT [OPTION...]: a fixture with these bodies, and other keys of OTHER and PROBLEM
scene() {
    printf '{"scene_type": "distance_barrier_rb_problem", "#note": 1, %s"rigid_body_problem": {%s"rigid_bodies": [%s]}}\n' \
        "${OTHER:-}" "${PROBLEM:-}" "$1" > fixtures/a/s.json
    "$BIN/mesh-prep" "${@:2}" fixtures/a/s.json -o s.abut
}
look() { "$PYTHON" <(cat look.py -) "$ROOT"; }
refused() { exits 3 scene "$1"; says "$2"; }

@test "a body is scaled, turned about x, y and z about the origin of its mesh, and moved; velocities are about its centre" {
    release
    scene '{"mesh": "brick.obj", "scale": [2, 1, 0.5], "rotation": [30, 40, 50], "position": [1, 2, 3], "density": 500,
            "linear_velocity": [1, 2, 3], "angular_velocity": [0, 90, 0], "#density": 3},
           {"mesh": "brick.obj", "dimensions": [3, 4, 5], "scale": 9, "position": [20, 0, 0]},
           {"mesh": "plate.obj", "dimensions": [10, 0, 4], "type": "static", "position": [0, -9, 0]},
           {"mesh": "cube.stl", "scale": 2, "position": [0, 30, 0], "ipc_comparison_enabled": false},
           {"mesh": "cube.obj", "enabled": false}' -q
    look <<'P'
assert names == ["brick-0", "brick-1", "plate-2", "cube-3"], names
R, d = turn([30, 40, 50]), np.array([2, 1, .5])
same(points("brick-0"), (brick * d) @ R.T + [1, 2, 3])
near(mass("brick-0"), 500 * 6 * 1, 1e-9)
c = R @ (d * [.5, 1, 1.5]) + [1, 2, 3]
near(center("brick-0"), c)
for i in nodes("brick-0"):
    near(frame["node/v"][i], np.array([1, 2, 3]) + np.cross([0, np.pi / 2, 0], frame["node/x"][i] - c))
same(points("brick-1"), brick * [3, 2, 5 / 3] + [20, 0, 0])
near(mass("brick-1"), 60e3, 1e-7)
same(points("plate-2"), [[x, -9, z] for x in (-5, 5) for z in (-2, 2)])
assert (model["node/role"][nodes("plate-2")] == 2).all()
same(points("cube-3"), 2 * cube + [0, 30, 0], 1e-12)
P
}

@test "densities are of the area of open surfaces, the length of edges and the number of points, which meet each other" {
    release
    PROBLEM='"gravity": [0, -9.8, 0], '
    scene '{"mesh": "plate.obj", "scale": 2, "density": 3, "type": "dynamic", "position": [0, 0.005, 0]},
           {"vertices": [[-1, 0, 0], [1, 0, 0], [0, 0, 2]], "edges": [[0, 1], [1, 2]], "density": 3, "position": [0, 0.02, 0]},
           {"vertices": [[0, 0, 0], [0.1, 0, 0], [0, 1, 0], [0, 0, 0.1]], "density": 3, "position": [-0.5, 0.01, -0.5]},
           {"mesh": "plate.obj", "scale": 5, "type": "static"}' -q
    look <<'P'
near(mass("plate-0"), 12, 1e-9)
near(center("plate-0"), [0, 0.005, 0])
near(mass("body-1"), 3 * (2 + 5 ** .5), 1e-9)
near(mass("body-2"), 12, 1e-9)
near(center("body-2"), [-0.475, 0.26, -0.475])
P
    "$BIN/step" -q -n 12 s.abut -o run.abut
    "$BIN/ccd-check" --no-output run.abut
    mv run.abut s.abut
    look <<'P'
assert points("plate-0")[:, 1].min() > 0 and points("body-1")[:, 1].min() > points("plate-0")[:, 1].min()
assert points("body-2")[:, 1].min() > points("plate-0")[:, 1].min()     # it stands on the plate
P
}

@test "forces are in N, torques become N m by pi/180 alone, and as published twice that" {
    release
    body='{"mesh": "cube.obj", "force": [0, 6, 0], "torque": [0, 0, 90]}'
    scene "$body" -q
    look <<'P'
near(model["motion/torque"].sum(0), [0, 0, np.pi / 2])
near(model["motion/linear"].sum(0) * mass("cube-0"), [0, 6, 0])
P
    scene "$body" -q --as-published
    look <<< 'near(model["motion/torque"].sum(0), [0, 0, np.pi])'
    # I alpha = T: cube of 1000 kg, 1000/6 kg m^2 about each axis
    scene "$body" -q
    "$BIN/step" -q -n 10 s.abut -o run.abut && mv run.abut s.abut
    look <<'P'
x = frame["node/x"] - center("cube-0")
w = np.cross(x, frame["node/v"] - frame["node/v"].mean(0)).sum(0) / (x ** 2).sum() * 1.5
near(w, [0, 0, np.pi / 2 / (1000 / 6) * 0.1], 1e-8)
near(center("cube-0"), [0, 6 / 1000 * 1e-4 * 55, 0], 1e-9)
P
    echo 'objects: {}' > plain.yaml
    exits 2 "$BIN/mesh-prep" --as-published plain.yaml
    says "which have a rigid_body_problem"
}

@test "is_dof_fixed locks translations and rotations, all six make an obstacle, and one rotation is refused" {
    release
    scene '{"mesh": "cube.obj", "is_dof_fixed": [true, true, true, true, false, true], "angular_velocity": [5, 45, 0]},
           {"mesh": "cube.obj", "position": [5, 0, 0], "is_dof_fixed": [false, true, false, true, true, true],
            "linear_velocity": [1, 1, 0]},
           {"mesh": "cube.obj", "position": [9, 0, 0], "is_dof_fixed": true},
           {"mesh": "cube.obj", "position": [13, 0, 0], "is_dof_fixed": false},
           {"mesh": "cube.obj", "position": [17, 0, 0], "is_dof_fixed": [true, true, true, true, true, true]}' 2> said
    grep -F "cube-0: velocities along what is_dof_fixed locks have no effect" said
    look <<'P'
of = [names[model["node/object"][k[0]]] for k in model["lock/node"]]
assert of == ["cube-0"] * 6 + ["cube-1"] * 10, of
assert [model["node/role"][nodes(n)[0]] for n in names] == [0, 0, 2, 0, 2]
near(frame["node/v"][nodes("cube-1")], [[1, 0, 0]] * 4)
near(frame["node/v"][nodes("cube-0")][:, 1], 0)
P
    refused '{"mesh": "cube.obj", "is_dof_fixed": [false, false, false, true, false, false]}' \
        "one rotation alone is no linear condition"
    refused '{"mesh": "cube.obj", "is_dof_fixed": [true, false]}' "is_dof_fixed"
}

@test "kinematic bodies follow velocities about the centre of mass and poses of it, one at the end of each step" {
    release
    OTHER='"timestep": 0.01, "max_time": 1, '
    scene '{"mesh": "brick.obj", "type": "kinematic", "linear_velocity": [1, 0, 0], "angular_velocity": [0, 0, 90]},
           {"mesh": "cube.obj", "type": "kinematic", "position": [0, 9, 0], "linear_velocity": [0, 0, 2],
            "kinematic_max_time": 0.03},
           {"mesh": "brick.obj", "type": "kinematic", "position": [20, 0, 0], "linear_velocity": [0, 3, 0],
            "kinematic_poses": [{"position": [20, 1, 0]}, {"rotation": [0, 0.5, 0]}]},
           {"mesh": "cube.obj", "position": [0, 0, 90]}' -q
    "$BIN/step" -q -n 6 s.abut -o run.abut && mv run.abut s.abut
    look <<'P'
mid = np.array([.5, 1, 1.5])
for f in frames:
    t, n = f.time, f.step
    same(points("brick-0", f["node/x"]), (brick - mid) @ turn([0, 0, 90 * t]).T + mid + [t, 0, 0], 1e-11)
    near(center("cube-1", f["node/x"]), [0, 9, 2 * min(t, 0.03)])
    # the longest axis, of the smallest moment of inertia, is the first principal one
    x = points("brick-2", f["node/x"])
    if n == 0: same(x, brick + [20, 0, 0])
    if n == 1: same(x, box([20 - 1.5, 0, -.5], [20 + 1.5, 2, .5]), 1e-11)
    if n >= 2: same(x, box([-1.5, -1, -.5], [1.5, 1, .5]) @ turn([0, np.degrees(.5), 0]).T + [0, 3 * (t - 0.02), 0], 1e-11)
P
}

@test "bodies of one number do not meet; all that do not move freely are one group, which a number of one of them joins" {
    release
    scene '{"mesh": "cube.obj", "group_id": 0}, {"mesh": "cube.obj", "position": [0.1, 0.1, 0.1], "group_id": 0},
           {"mesh": "cube.obj", "position": [5, 0, 0], "group_id": 3},
           {"mesh": "plate.obj", "type": "static", "position": [5, 0.1, 0], "group_id": 3},
           {"mesh": "plate.obj", "type": "static", "position": [5, -0.1, 0]},
           {"mesh": "cube.obj", "position": [9, 0, 0], "group_id": -1}' -q
    look <<'P'
pairs = {tuple(names[i] for i in p) for p in model["contact/excluded"]}
assert {("cube-0", "cube-1"), ("cube-2", "plate-3"), ("cube-2", "plate-4")} <= pairs, pairs
assert all("cube-5" not in p for p in pairs) and ("cube-0", "cube-2") not in pairs
P
    "$BIN/step" -q -n 2 s.abut | "$BIN/ccd-check" --no-output
}

@test "split_components makes a body of each connected set, and lists of points stand for a mesh" {
    release
    scene '{"mesh": "two.obj", "split_components": true, "angular_velocity": [0, 90, 0]},
           {"vertices": [[0, 9, 0], [1, 9, 0], [0, 10, 0], [0, 9, 1]], "faces": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            "position": [0, 1, 0]},
           {"vertices": [[0, 0, 0], [1, 0, 0]], "edges": [[0, 1]], "position": [0, 20, 0], "type": "static"}' -q
    look <<'P'
assert names == ["two-0.0", "two-0.1", "body-1", "body-2"], names
same(points("two-0.1"), cube + [5, 0, 0])
near(frame["node/v"][nodes("two-0.1")].mean(0), 0)
near(mass("body-1"), 1000 / 6, 1e-9)
near(center("body-1"), [.25, 10.25, .25])
P
}

@test "keys of the whole: times, distances, friction, tolerances; what has no effect is listed" {
    release
    OTHER='"timestep": 0.02, "max_time": 0.05, "solver": "ipc_solver", "ipc_solver": {"velocity_conv_tol": 1e-3,
           "dhat_epsilon": 1e-8, "min_barrier_stiffness_scale": 2e11}, "newton_solver": {"velocity_conv_tol": 7},
           "distance_barrier_constraint": {"initial_barrier_activation_distance": 0.002, "minimum_separation_distance": 0.03,
           "detection_method": "bvh", "trajectory_type": "rigid", "barrier_type": "ipc"}, "viewport_bbox": {"min": [0, 0]},
           "homotopy_solver": {}, "ncp_solver": {}, "volume_constraint": {"volume_epsilon": 1}, "oriented": false,
           "friction_constraints": {"iterations": -1, "static_friction_speed_bound": 1e-5}, '
    PROBLEM='"gravity": [0, -9.8, 0], "coefficient_friction": 0.4, "coefficient_restitution": -1,
             "time_stepper": "implicit_euler", "collision_eps": 2, "do_intersection_check": false, '
    cubes='{"mesh": "cube.obj"}, {"mesh": "cube.obj", "position": [0, 3, 4]}'
    exits 0 scene "$cubes" --explain
    says "keys without effect: "
    for key in detection_method trajectory_type viewport_bbox homotopy_solver ncp_solver volume_constraint oriented \
        collision_eps do_intersection_check coefficient_restitution; do
        says "$key (line "
    done
    "$BIN/mesh-prep" -q --to-yaml fixtures/a/s.json > s.yaml
    grep -F "step: 0.02 s" s.yaml
    grep -F "end: 0.06 s" s.yaml                    # three steps
    grep -F "gravity: [0, -9.8, 0]" s.yaml
    grep -F "dhat: 0.002 m" s.yaml
    grep -F "kappa-scale: 2" s.yaml
    grep -F "mu: 0.4" s.yaml
    grep -F "eps_v: 1e-05 m/s" s.yaml
    grep -F "lags: converged" s.yaml
    grep -cF "contact-thickness: 0.03 m" s.yaml | grep -x 2
    # diagonal of the box of all points: (1, 4, 5)
    awk '/^tolerance/ { exit !($2 > 0.99999e-3 * sqrt(42) && $2 < 1.00001e-3 * sqrt(42)) }' s.yaml
    awk '/stiffen-below/ { exit !($2 > 0.99999e-8 * sqrt(42) && $2 < 1.00001e-8 * sqrt(42)) }' s.yaml
    OTHER='"friction_constraints": {"iterations": 0}, 
           "ipc_solver": {"velocity_conv_tol": 0.5, "is_velocity_conv_tol_abs": true}, '
    PROBLEM='"coefficient_friction": 0.4, "time_stepper": "implicit_newmark", '
    exits 3 scene "$cubes" -q                       # rigid bodies refuse the scheme
    says "implicit-newmark"
    "$BIN/mesh-prep" --to-yaml fixtures/a/s.json > s.yaml 2> said
    grep -F "iterations 0: no friction" said
    grep -F "mu: 0" s.yaml
    grep -F "tolerance: 0.5 m/s" s.yaml
    grep -F "gravity: [0, 0, 0]" s.yaml             # without the key
    grep -F "end: 10 s" s.yaml                      # 1000 steps of 0.01 s
    grep -F "scheme: implicit-newmark" s.yaml
    OTHER='"max_iterations": 7, ' PROBLEM= scene "$cubes" -q
    "$BIN/mesh-prep" -q --to-yaml fixtures/a/s.json | grep -F "end: 0.07 s"
}

@test "unknown keys and values are refused by name, with the place in the file" {
    release
    cube='{"mesh": "cube.obj"}'
    refused '{"mesh": "cube.obj", "positon": [0, 0, 0]}' "rigid body: unknown key 'positon'; did you mean 'position'?"
    says "fixtures/a/s.json:1:"
    OTHER='"timestp": 1, ' refused "$cube" "rigid scene: unknown key 'timestp'"
    PROBLEM='"gravty": [0, 0, 0], ' refused "$cube" "rigid_body_problem: unknown key 'gravty'"
    OTHER='"ipc_solver": {"tolerance": 1}, ' refused "$cube" "ipc_solver: unknown key 'tolerance'"
    OTHER='"friction_constraints": {"mu": 1}, ' refused "$cube" "friction_constraints: unknown key 'mu'"
    OTHER='"distance_barrier_constraint": {"dhat": 1}, ' refused "$cube" "distance_barrier_constraint: unknown key 'dhat'"
    OTHER='"distance_barrier_constraint": {"barrier_type": "poly_log"}, ' refused "$cube" "barrier_type is 'poly_log'"
    OTHER='"solver": "ncp_solver", ' refused "$cube" "solver is 'ncp_solver'"
    OTHER='"max_time": 1, "max_iterations": 3, ' refused "$cube" "expected one of them"
    refused '{"mesh": "cube.obj", "type": "soft"}' "type is 'soft'"
    refused '{"mesh": "cube.obj", "dimensions": [1, 0, 1]}' "no extent along y"
    refused '{"position": [0, 0, 0]}' "expected one of mesh and vertices"
    refused '{"mesh": "no.obj"}' "meshes/no.obj"
    refused '{"mesh": "cube.obj", "kinematic_poses": [{"place": [0, 0, 0]}], "type": "kinematic"}' \
        "kinematic pose: unknown key 'place'"
    sed -i 's/distance_barrier_rb_problem/other_problem/' fixtures/a/s.json
    exits 3 "$BIN/mesh-prep" fixtures/a/s.json
    says "scene_type is 'other_problem'"
    mv meshes elsewhere
    exits 3 "$BIN/mesh-prep" fixtures/a/s.json
    says "no folder above it holds 'meshes'"
}

@test "a cube on a slope of tangent 0.5 slides as its friction says, and holds above the tangent" {
    release
    OTHER='"timestep": 0.025, "max_time": 3, "friction_constraints": {"iterations": -1, "static_friction_speed_bound": 1e-5},
           "ipc_solver": {"velocity_conv_tol": 1e-5}, '
    for mu in 0.49 0.51; do
        PROBLEM='"gravity": [0, -9.8, 0], "coefficient_friction": '$mu', '
        scene '{"mesh": "cube.obj", "rotation": [0, 0, 26.565], "position": [-0.225, 0.4495, 0]},
               {"mesh": "plate.obj", "scale": 20, "rotation": [0, 0, 26.565], "is_dof_fixed": true}' -q
        "$BIN/step" -q -n 120 s.abut -o run.abut
        "$BIN/ccd-check" -q --no-output run.abut
        mv run.abut s.abut
        look <<P
v = [np.linalg.norm(f["node/v"][nodes("cube-0")].mean(0)) for f in frames]
a = np.radians(26.565)
if $mu == 0.49: near((v[120] - v[60]) / 1.5, 9.8 * (np.sin(a) - 0.49 * np.cos(a)), 0.01 * 0.0876)
else: assert v[120] < 2e-5, v[120]
P
    done
}

# bats test_tags=slow
@test "the 31 fixtures of the release are read, and their first steps are clean by the judge" {
    skip_without rigid/fixtures
    n=0
    while IFS= read -r f; do
        "$BIN/mesh-prep" -q "$f" -o s.abut
        steps=5
        [[ $f != *-bike-chain* && $f != *16x16* ]] || steps=1      # seconds each
        "$BIN/step" -q -n $steps s.abut -o run.abut || { echo "$f"; return 1; }
        "$BIN/ccd-check" -q --no-output run.abut || { echo "$f"; return 1; }
        n=$((n + 1))
    done < <(find "$DATA/rigid/fixtures" -name '*.json' | sort)
    ((n == 31))
}
