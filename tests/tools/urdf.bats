#!/usr/bin/env bats
# Robots of URDF files: the same motion as of scenes written by hand, forward kinematics, statics, closed forms, refusals.
load helpers

box='<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
mass='<inertial><mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.02"/></inertial>'
# urdf TEXT: robot.urdf with these elements
urdf() { printf '<?xml version="1.0"?>\n<robot name="r">\n%s\n</robot>\n' "$1" > robot.urdf; }
# joint NAME TYPE PARENT CHILD [MORE]
joint() { printf '<joint name="%s" type="%s"><parent link="%s"/><child link="%s"/>%s</joint>\n' "$1" "$2" "$3" "$4" "${5-}"; }
prep() { "$BIN/mesh-prep" -q robot.urdf "$@"; }
refused() { exits 3 prep --to-yaml "${@:2}"; says "$1"; }
# same_places A B: all nodes of both streams, in every frame, to rounding
same_places() {
    "$PYTHON" - "$ROOT" "$@" <<'P'
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
a, b = (list(abut_stream.read(f))[1:] for f in sys.argv[2:4])
assert len(a) == len(b) > 1
for x, y in zip(a, b):
    assert np.abs(x["node/x"] - y["node/x"]).max() < 1e-9 and np.abs(x["node/v"] - y["node/v"]).max() < 1e-7
P
}

@test "a pendulum and an arm of two links move as in the scenes written by hand, to the byte" {
    skip_without_numpy
    rod='<inertial><origin xyz="0.5 0 0"/><mass value="10"/><inertia ixx="0.0166" iyy="0.8416" izz="0.8416" ixy="0.001"/></inertial>
<collision><origin xyz="0.5 0 0"/><geometry><box size="0.75 0.125 0.125"/></geometry></collision>'
    urdf "<link name='world'/><link name='upper'>$rod</link><link name='lower'>$rod</link>
$(joint shoulder continuous world upper '<origin xyz="0 0 1"/><axis xyz="0 2 0"/><dynamics damping="0.5" friction="0.25"/>')
$(joint elbow revolute upper lower '<origin xyz="1 0 0"/><axis xyz="0 1 0"/><limit lower="-0.5" upper="0.25" effort="9"/>')"
    cat > hand.yaml <<'Y'
gravity: [0, 0, -9.81]
objects:
  robot.upper: {union: [{generate: {box: {size: [0.75, 0.125, 0.125], cells: [1, 1, 1]}}, translate: [0.5, 0, 0]}], translate: [0, 0, 1],
          rigid: {mass: 10 kg, center: [0.5, 0, 0], inertia: [0.0166, 0.8416, 0.8416, 0.001, 0, 0]}}
  robot.lower: {union: [{generate: {box: {size: [0.75, 0.125, 0.125], cells: [1, 1, 1]}}, translate: [0.5, 0, 0]}], translate: [1, 0, 1],
          rigid: {mass: 10 kg, center: [0.5, 0, 0], inertia: [0.0166, 0.8416, 0.8416, 0.001, 0, 0]}}
joints:
  robot.shoulder: {hinge: {at: [0, 0, 1], direction: [0, 1, 0]}, between: [world, robot.upper], damper: 0.5, friction: 0.25 N m}
  robot.elbow: {hinge: {at: [1, 0, 1], direction: [0, 1, 0]}, between: [robot.upper, robot.lower], limits: [-0.5 rad, 0.25 rad]}
Y
    prep | "$BIN/step" -q -n 60 -o a.abut
    "$BIN/mesh-prep" -q hand.yaml | "$BIN/step" -q -n 60 -o b.abut
    cmp <("$BIN/export" --dump a.abut) <("$BIN/export" --dump b.abut)
    sed -i 's/union: \[{\(.*\)}\], /\1, /; s/translate: \[0.5, 0, 0\], translate: \[0,/translate: [0.5,/
            s/translate: \[0.5, 0, 0\], translate: \[1,/translate: [1.5,/; s/center: \[0.5/center: [0/' hand.yaml
    "$BIN/mesh-prep" -q hand.yaml | "$BIN/step" -q -n 60 -o b.abut
    same_places a.abut b.abut
    "$BIN/ccd-check" -q --no-output a.abut
    prep --to-yaml > again.yaml
    "$BIN/mesh-prep" -q again.yaml | "$BIN/step" -q -n 60 -o b.abut
    cmp <("$BIN/export" --dump a.abut) <("$BIN/export" --dump b.abut)
}

@test "a pendulum that starts at 5 degrees has the period of the closed form" {
    skip_without_numpy
    urdf "<link name='world'/><link name='rod'><inertial><origin xyz='0 0 -0.5'/><mass value='10'/><inertia ixx='0.841666666666667'
iyy='0.841666666666667' izz='0.016666666666667'/></inertial><collision><origin xyz='0 0 -0.5'/><geometry>
<box size='0.1 0.1 1'/></geometry></collision></link>$(joint pin continuous world rod '<axis xyz="0 1 0"/>')"
    prep --set robots.robot.position.pin='5 deg' --set time='{step: 5 ms, scheme: bdf2}' --set contact=off |
        "$BIN/step" -q -n 340 | "$BIN/export" -q - --csv frames.csv
    "$PYTHON" - <<'P'
import csv
import numpy as np
rows = list(csv.DictReader(open("frames.csv")))
t, q = (np.array([float(r[k]) for r in rows]) for k in ("time_s", "robot.pin.angle_rad"))
q += np.radians(5)                      # counted from the start
down = [t[i] + q[i] / (q[i] - q[i + 1]) * (t[i + 1] - t[i]) for i in range(len(q) - 1) if q[i] * q[i + 1] < 0]
assert len(down) == 2, down
# T0 = 2 pi sqrt((I + m c^2) / (m g c)), times the elliptic integral of 5 degrees
assert abs(2 * (down[1] - down[0]) / 1.640773661 - 1) < 5e-4, down
P
}

# six: an arm of six joints of all kinds of axes, and its kinematics in numpy: place(q) of the links, with the tool that is fixed
six() {
    cat > six.py <<'P'
import numpy as np
def about(u, a):
    u = np.array(u, float) / np.linalg.norm(u)
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + np.sin(a) * K + (1 - np.cos(a)) * K @ K
def frame(xyz, rpy):
    T = np.eye(4)
    T[:3, :3] = about([0, 0, 1], rpy[2]) @ about([0, 1, 0], rpy[1]) @ about([1, 0, 0], rpy[0])
    T[:3, 3] = xyz
    return T
rng = np.random.default_rng(3)
JOINTS = [("revolute", [0, 0, 1]), ("continuous", [0, 1, 0]), ("prismatic", [1, 1, 0]), ("revolute", [1, 2, 3]),
          ("continuous", [0, 0, -1]), ("revolute", [-3, 1, 1])]
ORIGIN = [(rng.uniform(-.2, .2, 3) + [.5, 0, .5], rng.uniform(-2, 2, 3)) for _ in JOINTS]
CENTER = [(rng.uniform(-.1, .1, 3), rng.uniform(-2, 2, 3)) for _ in JOINTS]
MASS = rng.uniform(1, 3, 6)
TENSOR = [np.diag(rng.uniform(.2, .3, 3)) for _ in JOINTS]
TOOL = (np.array([.1, .2, -.1]), np.array([.3, -1, 2]))
def text(v): return " ".join(repr(float(x)) for x in v)
def origin(o): return f'<origin xyz="{text(o[0])}" rpy="{text(o[1])}"/>'
def inertial(o, m, I):
    i = " ".join(f'{k}="{float(I[a][b])!r}"' for k, a, b in
                 (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2)))
    return f'<inertial>{origin(o)}<mass value="{float(m)!r}"/><inertia {i}/></inertial>'
def place(q, tool=False):
    T, all = np.eye(4), []
    for (kind, axis), o, x in zip(JOINTS, ORIGIN, q):
        M = np.eye(4)
        u = np.array(axis, float) / np.linalg.norm(axis)
        if kind == "prismatic": M[:3, 3] = x * u
        else: M[:3, :3] = about(u, x)
        T = T @ frame(*o) @ M
        all.append(T)
    return all
def parts(i):                           # (mass, centre, tensor about it) in the axes of link i; the last with its tool
    c = frame(*CENTER[i])
    one = [(MASS[i], c[:3, 3], c[:3, :3] @ TENSOR[i] @ c[:3, :3].T)]
    if i == 5:
        t = frame(*TOOL)
        one.append((.7, t[:3, 3], t[:3, :3] @ np.diag([.02, .03, .04]) @ t[:3, :3].T))
    m = sum(p[0] for p in one)
    c = sum(p[0] * p[1] for p in one) / m
    I = sum(p[2] + p[0] * ((p[1] - c) @ (p[1] - c) * np.eye(3) - np.outer(p[1] - c, p[1] - c)) for p in one)
    return m, c, I
P
    cat > write.py <<'P'
from six import *
shape = '<collision><geometry><box size="0.05 0.06 0.07"/></geometry></collision>'
print('<robot name="arm"><link name="world"/>')
for i, (kind, axis) in enumerate(JOINTS):
    limit = '<limit lower="-3" upper="3" effort="90" velocity="1"/>' if kind in ("revolute", "prismatic") else ""
    print(f'<link name="l{i}">{inertial(CENTER[i], MASS[i], TENSOR[i])}{shape}</link>')
    print(f'<joint name="j{i}" type="{kind}"><parent link="{"l%d" % (i - 1) if i else "world"}"/><child link="l{i}"/>'
          f'{origin(ORIGIN[i])}<axis xyz="{text(axis)}"/>{limit}</joint>')
print(f'<link name="tool">{inertial(([0, 0, 0], [0, 0, 0]), .7, np.diag([.02, .03, .04]))}{shape}</link>')
print(f'<joint name="flange" type="fixed"><parent link="l5"/><child link="tool"/>{origin(TOOL)}</joint></robot>')
P
    PYTHONPATH=. "$PYTHON" write.py > robot.urdf
}

@test "six joints at ten positions put links, their masses and tensors where forward kinematics does, a fixed tool in the last" {
    skip_without_numpy
    six
    cat > look.py <<'P'
import subprocess, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream
from six import *
for _ in range(10):
    q = rng.uniform(-2, 2, 6)
    at = [f"--set=robots.robot.position.j{i}={x!r}{' m' if JOINTS[i][0] == 'prismatic' else ' rad'}" for i, x in enumerate(q.tolist())]
    subprocess.run([sys.argv[2] + "/mesh-prep", "-q", "robot.urdf", "-o", "s.abut", "--set=contact=off"] + at, check=True)
    model, frame = abut_stream.read("s.abut")
    assert model["object/name"].split("\n")[:-1] == [f"robot.l{i}" for i in range(6)]
    for i, T in enumerate(place(q)):
        n = np.flatnonzero(model["node/object"] == i)
        x, w = frame["node/x"][n], model["node/mass"][n]
        m, c, I = parts(i)
        center = (w[:, None] * x).sum(0) / w.sum()
        S = sum(a * np.outer(p - center, p - center) for a, p in zip(w, x))
        assert abs(w.sum() - m) < 1e-12 and np.abs(center - (T[:3, :3] @ c + T[:3, 3])).max() < 1e-12
        assert np.abs(np.trace(S) * np.eye(3) - S - T[:3, :3] @ I @ T[:3, :3].T).max() < 1e-12
P
    PYTHONPATH=. "$PYTHON" look.py "$ROOT" "$BIN"
}

@test "motors that hold the arm have the torques of its weight" {
    skip_without_numpy
    six
    cat > scene.yaml <<'Y'
gravity: [0, 0, -9.81]
contact: off
robots: {arm: {urdf: robot.urdf, position: {j0: 0.3 rad, j1: -0.7 rad, j2: 0.2 m, j3: 1 rad, j4: 0.5 rad, j5: -1 rad}}}
motors: [{joint: arm.j0, target: 0 deg}, {joint: arm.j1, target: 0 deg}, {joint: arm.j2, target: 0 m}, {joint: arm.j3, target: 0 deg},
         {joint: arm.j4, target: 0 deg}, {joint: arm.j5, target: 0 deg}]
Y
    "$BIN/mesh-prep" -q scene.yaml | "$BIN/step" -q -n 30 | "$BIN/export" -q - --csv frames.csv
    cat > look.py <<'P'
import csv
from six import *
last = list(csv.DictReader(open("frames.csv")))[-1]
q = np.array([.3, -.7, .2, 1, .5, -1])
def energy(q): return sum(9.81 * m * (T[:3, :3] @ c + T[:3, 3])[2] for T, (m, c, I) in zip(place(q), map(parts, range(6))))
for i in range(6):
    d = 1e-5 * np.eye(6)[i]
    want = (energy(q + d) - energy(q - d)) / 2e-5
    found = float(last[f"arm.j{i}.motor_" + ("N" if JOINTS[i][0] == "prismatic" else "Nm")])
    assert abs(found - want) < 1e-4 * max(abs(want), 1), (i, found, want)
P
    PYTHONPATH=. "$PYTHON" look.py
}

@test "a mimic turns with its leader, a limit stops it, and the effort of a joint bounds its motor" {
    skip_without_numpy
    urdf "<link name='world'/><link name='a'>$mass$box</link><link name='b'>$mass$box</link><link name='c'>$mass$box</link>
$(joint lead revolute world a '<axis xyz="0 0 1"/><limit lower="-2" upper="1" effort="0.5"/>')
$(joint follow continuous world b '<origin xyz="1 0 0"/><axis xyz="0 0 1"/><mimic joint="lead" multiplier="-2" offset="0.25"/>')
$(joint push prismatic world c '<origin xyz="2 0 0"/><axis xyz="0 1 0"/><limit lower="-0.1" upper="0.05" effort="7"/>')"
    cat > scene.yaml <<'Y'
gravity: [0, 0, 0]
robots: {r: {urdf: robot.urdf}}
motors: [{joint: r.lead, target: 170 deg, stiffness: 50, damper: 1}, {joint: r.push, target: 2 m, stiffness: 40, damper: 1, max: 3 N}]
Y
    "$BIN/mesh-prep" -q scene.yaml -o s.abut
    "$BIN/mesh-prep" -q scene.yaml --to-json | "$PYTHON" -c 'if True:
        import json, sys
        s = json.load(sys.stdin)
        assert [m["max"] for m in s["motors"]] == [0.5, "3 N"], s["motors"]
        assert s["objects"]["r.b"]["rotate"]["angle"] == "0.25 rad" and s["joints"]["r.follow-mimic"]["gear"]["ratio"] == -2'
    "$BIN/step" -q -n 120 s.abut | "$BIN/export" -q - --csv frames.csv
    "$PYTHON" - <<'P'
import csv
rows = list(csv.DictReader(open("frames.csv")))
value = lambda k: [float(r[k]) for r in rows[1:]]
lead, follow, torque = value("r.lead.angle_rad"), value("r.follow.angle_rad"), value("r.lead.motor_Nm")
assert max(abs(f + 2 * x) for f, x in zip(follow, lead)) < 1e-9
assert max(map(abs, torque)) <= 0.5 * (1 + 1e-9) and abs(torque[0]) > 0.4999
assert 0.98 < lead[-1] < 1 and max(lead) < 1
# free at first: both masses by the ratio, 0.02 + 4 * 0.02
t = float(rows[10]["time_s"])
assert abs(lead[9] / (0.5 * 0.5 / 0.1 * t * (t + 0.01)) - 1) < 1e-3, lead[9]
push, force = value("r.push.position_m"), value("r.push.motor_N")
assert max(push) < 0.05 and push[-1] > 0.0495 and max(force) <= 3 * (1 + 1e-9)
P
}

@test "a finger that mimics another on one palm takes its part of the force, unless the palm moves freely" {
    urdf "<link name='palm'>$mass$box</link><link name='a'>$mass$box</link><link name='b'>$mass$box</link>
$(joint lead prismatic palm a '<origin xyz="1 0 0"/><axis xyz="0 1 0"/><limit lower="-2" upper="2"/>')
$(joint follow prismatic palm b '<origin xyz="-1 0 0"/><axis xyz="0 1 0"/><limit lower="-2" upper="2"/>
<mimic joint="lead" multiplier="-2"/>')"
    printf 'gravity: [0, 0, 0]\nrobots: {r: {urdf: robot.urdf, base: fixed}}\nmotors: [{joint: r.lead, force: 12 N}]\n' > scene.yaml
    "$BIN/mesh-prep" -q scene.yaml | "$BIN/step" -q -n 40 | "$BIN/export" -q - --csv frames.csv
    # 12 N on 2 + 2^2 2 kg, in 40 steps of 10 ms of implicit Euler
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "r.lead.position_m") a = i; if ($i == "r.follow.position_m") b = i } }
             END { want = 12 / 10 * 0.01 ^ 2 * 40 * 41 / 2; print $a, $b, want
                   exit !($a > want * 0.9999 && $a < want * 1.0001 && $b + 2 * $a < 1e-9 && $b + 2 * $a > -1e-9) }' frames.csv
    exits 3 "$BIN/mesh-prep" scene.yaml --set robots.r.base=free
    says "'r.follow-mimic' is a gear of joints of 'r.palm', which moves freely: expected \`lock: all\` or a motion of it"
}

@test "shapes of several links joined by fixed ones are one body, which may overlap itself, and meets others" {
    urdf "<link name='a'>$mass$box$box<collision><origin xyz='0.15 0 0' rpy='0 1 0'/><geometry><cylinder radius='0.05' length='0.3'/>
</geometry></collision></link><link name='b'>$mass<visual><geometry><sphere radius='0.12'/></geometry></visual></link>
<link name='c'>$mass$box</link>$(joint j fixed a b '<origin xyz="0.1 0 0"/>')$(joint k floating a c '<origin xyz="0 0 0.5"/>')"
    prep --to-json > s.json
    grep -c '"mass": 4' s.json
    grep -c icosphere s.json
    prep --set 'objects.floor={half-space: {point: [0, 0, -0.2], normal: [0, 0, 1]}}' | "$BIN/step" -q -n 60 | "$BIN/ccd-check" -o run.abut
    "$BIN/export" -q run.abut --csv frames.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "contacts") c = i } END { exit !($c > 3) }' frames.csv
    urdf "<link name='a'>$mass$box</link><link name='c'>$mass$box</link>$(joint k floating a c '<origin xyz="0.1 0 0"/>')"
    exits 3 prep
    says "touches or crosses"
    prep --set robots.robot.contact=off | "$BIN/step" -q -n 2 | "$BIN/ccd-check" -q --no-output
}

@test "a base is free or held; a root without shape is the world; planar joints keep their plane" {
    skip_without_numpy
    urdf "<link name='a'>$mass$box</link><link name='b'>$mass$box</link>
$(joint j planar a b '<origin xyz="1 0 0"/><axis xyz="0 1 0"/>')"
    prep -o free.abut
    prep --set robots.robot.base=fixed --set 'robots.robot.translate=[0, 0, 5]' | "$BIN/step" -q -n 20 | "$BIN/export" -q - --csv f.csv
    "$BIN/step" -q -n 20 free.abut | "$BIN/export" -q - --csv g.csv
    "$PYTHON" - <<'P'
import csv
f, g = (list(csv.DictReader(open(n)))[-1] for n in ("f.csv", "g.csv"))
assert abs(float(f["robot.a.z_m"]) - 5) < 1e-12 and float(g["robot.a.z_m"]) < -0.15
for r, top in (f, 5), (g, 0):
    assert float(r["robot.b.z_m"]) < top - 0.15 and abs(float(r["robot.b.y_m"])) < 1e-9 and abs(float(r["robot.b.x_m"]) - 1) < 1e-9
P
    urdf "<link name='a'>${mass/2/0}$box</link><link name='b'>$mass$box</link>$(joint j continuous a b)"
    refused "robot.urdf:3:1: link 'a' has no mass: expected more than 0, or \`base: fixed\` of the robot"
    prep --set robots.robot.base=fixed -o held.abut
    urdf "<link name='a'/><link name='b'>$mass$box</link>$(joint j continuous a b)"
    refused "link 'a' has no <collision> and no <visual>: expected a shape, or \`base: fixed\` of the robot"
    prep --set robots.robot.base=fixed --to-yaml | grep -F 'between: [world, robot.b]'
}

@test "meshes are beside the file, in packages of a folder above it, scaled, and those of .stl in one piece" {
    skip_without_numpy
    mkdir -p top/arm_description/urdf top/arm_description/meshes
    "$PYTHON" - <<'P'
tri = [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
x = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
with open("top/arm_description/meshes/c.stl", "w") as f:
    f.write("solid s\n")
    for t in tri:
        f.write("facet normal 0 0 0\nouter loop\n" + "".join("vertex %r %r %r\n" % x[i] for i in t) + "endloop\nendfacet\n")
    f.write("endsolid s\n")
with open("top/arm_description/urdf/c.obj", "w") as f:
    f.writelines("v %r %r %r\n" % p for p in x)
    f.writelines("f %d %d %d\n" % tuple(i + 1 for i in t) for t in tri)
P
    mesh() { echo "<collision><geometry><mesh filename='$1' scale='0.001 0.002 -0.003'/></geometry></collision>"; }
    urdf "<link name='a'>$(mesh package://arm_description/meshes/c.stl)</link><link name='b'>$mass$(mesh c.obj)</link>
<link name='c'>$mass$(mesh "file://$TMP/top/arm_description/meshes/c.stl")</link>
$(joint i floating a b '<origin xyz="1 0 0"/>')$(joint j floating b c '<origin xyz="1 0 0"/>')"
    mv robot.urdf top/arm_description/urdf/
    exits 0 "$BIN/mesh-prep" top/arm_description/urdf/robot.urdf --set contact.dhat='1e-4 m' -o s.abut
    says "link 'a' has no <inertial>: its mass is that of its shapes, by the density of its material"
    "$PYTHON" - "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import numpy as np, abut_stream
model, frame = abut_stream.read("s.abut")
m = [model["node/mass"][model["node/object"] == i].sum() for i in range(3)]
assert np.allclose(m, [6e-6, 2, 2], rtol=1e-9), m
assert len(model["contact/map-first"]) == 24 and len(model["contact/triangle"]) == 36
P
    mkdir elsewhere
    "$BIN/mesh-prep" -q top/arm_description/urdf/robot.urdf --to-yaml > elsewhere/s.yaml
    "$BIN/mesh-prep" -q elsewhere/s.yaml --set contact.dhat='1e-4 m' -o t.abut
    cmp <("$BIN/export" --dump s.abut) <("$BIN/export" --dump t.abut)
    mv top/arm_description top/other                    # a folder above it that is the package by another name
    sed -i 's/<link name=.c.*//; s/<joint name="j".*<\/joint>//' top/other/urdf/robot.urdf
    "$BIN/mesh-prep" -q top/other/urdf/robot.urdf --set contact.dhat='1e-4 m' -o t.abut
    rm top/other/meshes/c.stl
    exits 3 "$BIN/mesh-prep" top/other/urdf/robot.urdf
    says "package://arm_description/meshes/c.stl: no folder above top/other/urdf/robot.urdf has it"
}

@test "a scene adds keys to objects and joints of a robot; what has no effect is one note" {
    urdf "<link name='a'>$mass$box</link><gazebo/><gazebo/><transmission name='t'><type>x</type></transmission>"
    cat > scene.yaml <<'Y'
materials: {steel: {density: 7800}, rubber: {density: 900}}
robots: {left: {urdf: robot.urdf, material: steel}, right: {urdf: robot.urdf, translate: [1, 0, 0], material: rubber}}
objects: {left.a: {mu: 0.7}}
Y
    exits 0 "$BIN/mesh-prep" scene.yaml --set objects.right.a.mu=0.2 --to-json
    grep -c '"mu": 0.7' stdout
    grep -c '"mu": 0.2' stdout
    (($(grep -c "without effect: gazebo (line 3), transmission (line 3)" stderr) == 2))
    exits 0 "$BIN/mesh-prep" -q scene.yaml --to-json
    [[ ! -s stderr ]]
}

@test "a wrong file is refused with the line, and nothing is written" {
    two="<link name='a'>$mass$box</link>
<link name='b'>$mass$box</link>"
    # wrong TEXT PLACE-AND-MESSAGE [OPTION...]: of a file with these elements from line 3 on
    wrong() { urdf "$1"; refused "robot.urdf:$2" "${@:3}"; exits 3 prep -o out.abut "${@:3}"; [[ ! -e out.abut ]]; }
    with() { joint j continuous a b "$1"; }
    wrong "$two" "4:1: links 'a' and 'b': two roots"
    wrong "$two
$(joint j screw a b)" "5:22: type is 'screw': expected one of revolute, continuous, prismatic, planar, fixed, floating"
    wrong "$two
$(joint j revolute a b)" "5:1: joint 'j' is revolute: expected <limit"
    wrong "$two
$(joint j continuous a c)" "5:53: no link is called 'c'; did you mean 'a'?"
    wrong "$two
$(joint j continuous a b)$(joint k continuous b a)" "5:78: joint 'k' is in a loop of links"
    wrong "$two
$(with)
$(joint k fixed a b)" "6:48: link 'b' is the child of the joints 'j' and 'k': expected one"
    wrong "$two
$(with)
$(with)" "6:1: joint 'j': twice, the first in line 5"
    wrong "<link name='a'>$mass$box</link>
<link name='a'/>" "4:1: link 'a': twice, the first in line 3"
    wrong "$two
$(joint j revolute a b '<limit lower="0" upper="1"/>')" "5:1: joint 'j' starts at 0, expected between its limits, 0 and 1"
    wrong "$two
$(joint j revolute a b '<limit lower="-1" upper="1"/>')" "5:1: joint 'j' starts at 2" --set robots.robot.position.j='2 rad'
    wrong "$two
$(with '<origin xyz="nan 0 0"/>')" "5:82: xyz of <origin>: 'nan 0 0': expected 3 finite numbers"
    wrong "$two
$(with '<origin rpy="1 2"/>')" "5:82: rpy of <origin>: '1 2': expected 3 finite numbers"
    wrong "$two
$(with '<origin xzy="1 2 3"/>')" "5:82: <origin> has no attribute 'xzy': 'xyz'?"
    wrong "$two
$(with '<axis xyz="0 0 0"/>')" "5:70: <axis>: a direction of length 0"
    wrong "$two
$(with '<mimic joint="j"/>')" "5:1: joint 'j' follows itself (mimic)"
    wrong "$two
$(with '<mimic joint="k"/>')" "5:70: no joint is called 'k'; did you mean 'j'?"
    wrong "$two
$(joint j floating a b)$(joint k x a b)" "5:97: type is 'x'"
    wrong "<link name='a'>${mass/2/-2}$box</link>" "3:26: mass of link 'a': -2 kg: expected 0 or more"
    wrong "<link name='a'>${mass/2/0}$box</link>" "3:1: link 'a' has no mass"
    wrong "<link name='a'>${mass/0.02/0.05}$box</link>" "3:43: inertia of link 'a': principal moments from 0.02 to 0.05"
    wrong "<link name='a'>${mass//0.02/0}$box</link>" "3:43: inertia of link 'a'"
    wrong "<link name='a'>${mass//0.02/-1}$box</link>" "3:43: inertia of link 'a'"
    wrong "<link name='a'>${mass/iyy=\"0.02\"/}$box</link>" "3:43: <inertia>: expected iyy"
    wrong "<link name='a'>$mass</link>" "3:1: link 'a' has no <collision> and no <visual>: expected a shape"
    shape() { echo "<link name='a'>$mass<collision><geometry>$1</geometry></collision></link>"; }
    wrong "$(shape '<capsule radius="1"/>')" "3:118: <capsule>: a geometry that is not known: expected box, cylinder, sphere or mesh"
    wrong "$(shape '<sphere radius="1"/><sphere radius="1"/>')" "3:108: <collision> of link 'a': expected <geometry> with one of"
    wrong "$(shape '<cylinder radius="1"/>')" "3:118: <cylinder>: radius 1, length 0: expected more than 0"
    wrong "$(shape '<mesh scale="1 1 1"/>')" "3:118: <mesh>: expected filename="
    urdf "$(shape '<sphere radius="-1"/>')"
    exits 3 prep
    says "robot.urdf:3:1: radius is '-1': expected more than 0"
    urdf "$(shape '<mesh filename="no.obj"/>')"
    exits 3 prep
    says "robot.urdf:3:1: no.obj: No such file or directory"
    urdf "$two
$(with)"
    refused "position: unknown key 'k'; did you mean 'j'?" --set robots.robot.position.k='1 deg'
    refused "robot: unknown key 'bse'; did you mean 'base'?" --set robots.robot.bse=fixed
    exits 3 "$BIN/mesh-prep" no.urdf
    says "no.urdf: No such file or directory"
}

@test "XML: entities, quotes and comments are read; all that is cut, doubled or foreign is refused with its place" {
    skip_without_numpy
    wrong() { printf '%b' "$1" > robot.urdf; refused "robot.urdf:$2"; }
    wrong '' "1:1: no element: expected <robot>"
    wrong '<robot' "1:7: <robot> does not end: expected >"
    wrong '<robot name="a">\n<link/>\n' "1:1: <robot> of line 1: expected </robot>"
    wrong '<robot>\n<link>\n</robot>' "3:1: <link> of line 2: expected </link>"
    wrong '<robot>\n</robots>' "2:8: <robot> of line 1: expected </robot>"
    wrong '<!DOCTYPE robot>\n<robot/>' "1:2: an element (elements, attributes and comments are read)"
    wrong '<robot>\n<![CDATA[x]]></robot>' "2:2: an element"
    wrong '<robot/>\n<robot/>' "2:1: a second element"
    wrong '<robot>\n<!-- ' "2:1: a comment does not end"
    wrong '<?xml' "1:1: the declaration does not end"
    wrong '<robot name="a\n' "1:13: name: expected a value in quotes"
    wrong '<robot name=a/>' "1:13: name: expected a value in quotes"
    wrong '<robot name/>' '1:12: name: expected ="value"'
    wrong '<robot a="1" a="2"/>' "1:14: a: twice in one element"
    wrong '<robot a="<"/>' "1:11: a: a value with '<': expected &lt;"
    wrong '<robot a="&nbsp;"/>' "1:11: a: '&': expected &lt;"
    wrong '<robot a="&"/>' "1:11: a: '&': expected &lt;"
    wrong '<robot\0/>' "1:7: <robot> does not end"
    wrong "$(printf '<a>%.0s' {1..70})" "1:193: <a>: elements in more than 64 others"
    wrong '<mesh/>' "1:1: <mesh> with 0 <link> and 0 <joint>: expected <robot>"
    urdf "<!-- <robot> --><link name = 'a&lt;&amp;&quot;&apos;&gt;' >text $mass$box</link>"
    prep --to-json | "$PYTHON" -c "if True:
        import json, sys
        assert list(json.load(sys.stdin)['objects']) == ['robot.a<&\"\'>']"
    urdf "<link name='a'>$mass$box</link><link name='b'>$mass$box</link>
$(joint j revolute a b '<!-- a comment --><origin xyz="1 0 0"/><limit lower="-1" upper="1" effort="1"/>')"
    "$PYTHON" - "$BIN/mesh-prep" <<'P'
import subprocess, sys
all = open("robot.urdf", "rb").read()
run = lambda text, *more: (open("p.urdf", "wb").write(text),
                           subprocess.run([sys.argv[1], "-q", "p.urdf", *more], capture_output=True))[1]
assert run(all).returncode == 0
for n in range(len(all.rstrip())):
    r = run(all[:n], "--to-yaml")
    assert r.returncode == 3 and not r.stdout and b"p.urdf:" in r.stderr and r.stderr.count(b"\n") == 1, (n, r)
P
}
