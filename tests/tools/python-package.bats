#!/usr/bin/env bats
# formats/python/abut: streams, scenes and pipelines from Python.
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    TMP=$BATS_TEST_TMPDIR
    skip_without_numpy
    export PYTHONPATH=$ROOT/formats/python PYTHONDONTWRITEBYTECODE=1 ABUT_BIN=$BIN
    cat > scene.py <<'P'
import abut
import numpy as np
def scene(young=1e5):
    s = abut.Scene(time={"step": "0.01 s"}, contact={"friction": {"mu": 0.3}})
    s.material("rubber", model="neo-hookean", density=1000, young=young, poisson=0.4)
    s.object("ball", generate={"sphere": {"radius": np.float64(0.1), "cells": 3}}, translate=np.array([0, 0.15, 0]))
    return s.half_space("floor", point=[0, 0, 0], normal=[0, 1, 0])
P
}

@test "a scene of Python is the scene of YAML, byte by byte" {
    cat > drop.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {friction: {mu: 0.3}}
materials:
  rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}
objects:
  ball:  {generate: {sphere: {radius: 0.1, cells: 3}}, translate: [0, 0.15, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q drop.yaml | "$BIN/step" -q -n 4 --with forces -o shell.abut
    "$PYTHON" - <<'P'
from scene import *
run = abut.pipe(scene()).step(4, with_="forces").save("python.abut")
assert len(run) == 5 and run[-1].step == 4
P
    cmp shell.abut python.abut
    "$PYTHON" -c 'from scene import *; s = scene(); s["objects"]["\U0001f600"] = s["objects"].pop("ball"); s.save("named.yaml")'
    "$BIN/mesh-prep" -q named.yaml -o named.abut
    "$BIN/export" --dump --array object/name named.abut | grep -F '"😀\n"'
}

@test "an open stream has what the one-file reader reads, and opens the file's own bytes" {
    "$PYTHON" - "$ROOT/tests/golden" <<'P'
import sys
from scene import *
run = abut.pipe(scene()).step(3).judge().save("run.abut")
run.check()
for path in ("run.abut", *("%s/%s-1.0.abut" % (sys.argv[1], n) for n in ("stored", "compressed", "waypoints"))):
    run, items = abut.open(path), list(abut.read(path))
    frames = [i for i in items if i.kind == "frame"]
    assert len(run) == len(frames) and len(run.models) == len(items) - len(frames)
    assert run.prov == abut.read(path).prov
    for got, item in zip(run, frames):
        assert (got.step, got.time, got.pending) == (item.step, item.time, item.phase == 1) and list(got) == list(item.arrays)
        for name, a in item.arrays.items():
            assert got.units[name] == a.unit and got.array(name).flags == a.flags
            assert got[name] == a.data if isinstance(a.data, str) else np.array_equal(got[name], a.data, equal_nan=True)
            assert isinstance(a.data, str) or (got[name].shape == a.data.shape and got[name].dtype == a.data.dtype)
run = abut.open("run.abut")
x = run[-1].x
assert not x.flags.writeable and x.base is not None and type(x.base.obj if isinstance(x.base, memoryview) else x.base) is not bytes
ball = run.model.objects["ball"]
assert len(ball.nodes) == len(x) and len(ball.tets) == len(run.model["tet/node"]) and ball.row == 0
assert run.stack("node/x").shape == (4, *x.shape) and list(run.times) == [f.time for f in run] and len(run[1:3]) == 2
forces = abut.pipe(scene()).step(2, with_="forces").save("forces.abut").stack("node/contact-force")     # the first frame has none
assert forces.shape == (3, *x.shape) and np.isnan(forces[0]).all() and not np.isnan(forces[1:]).any()
assert "step/waypoints" not in run[0] or run[0]["step/waypoints"].size
try:
    run[0]["node/y"]
    raise SystemExit("an array that is not there was found")
except KeyError as e:
    assert "node/x" in str(e)
P
}

@test "a stream that is cut or damaged is refused, as the programs refuse it" {
    "$PYTHON" - <<'P'
import random
from scene import *
abut.pipe(scene()).step(1).save("run.abut")
data = open("run.abut", "rb").read()
def opens(b):
    open("bad.abut", "wb").write(b)
    try:
        run = abut.open("bad.abut")
        run.check()
        return True
    except abut.StreamError as e:
        assert "bad.abut: byte " in str(e) or str(e).startswith("byte "), e
        return False
assert opens(data)
for n in [0, 1, 10, 19, 20, 30, len(data) - 1, *random.Random(7).sample(range(len(data)), 40)]:
    assert not opens(data[:n]), n
assert not opens(data + b"x")
r = random.Random(8)
for _ in range(60):
    b = bytearray(data)
    b[r.randrange(len(b))] ^= 1 << r.randrange(8)
    assert not opens(bytes(b))
try:
    abut.open("none.abut")
    raise SystemExit("a file that is not there was opened")
except FileNotFoundError:
    pass
P
}

@test "frames come while the programs run, and who stops early ends them" {
    "$PYTHON" - <<'P'
import os, subprocess, time
from scene import *
seen = []
for frame in abut.pipe(scene()).step(100000).judge():
    seen.append(frame.time)
    if len(seen) == 4:
        break
assert np.allclose(seen, [0, 0.01, 0.02, 0.03])
time.sleep(0.3)
left = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "comm="], capture_output=True, text=True).stdout.split()
assert set(left) <= {"ps"}, left
p = abut.pipe(scene()).step(3).judge()
assert len(list(p)) == 4 and "no collision" in p.said["ccd-check"]
again = [f.x for f in p]                    # a pipe runs as often as it is asked
assert len(again) == 4
P
}

@test "a program that goes on after what is no stream is ended" {
    mkdir fake
    printf '#!/bin/sh\nexec head -c 10000000 /dev/zero\n' > fake/spew
    chmod +x fake/spew
    cp "$ROOT/tests/golden/stored-1.0.abut" start.abut
    ABUT_BIN=$PWD/fake exits 0 timeout 20 "$PYTHON" - <<'P'
import abut
try:
    list(abut.pipe("start.abut").stage("spew"))
    raise SystemExit("zeros are no stream")
except abut.StreamError as e:
    assert "not an abut state stream" in str(e), e
P
}

@test "an exception carries the message of the program that failed, and its exit code" {
    "$PYTHON" - <<'P'
from scene import *
def fails(kind, program, code, words, run):
    try:
        run()
    except kind as e:
        assert type(e) is kind and (e.program, e.code) == (program, code) and words in e.message and words in str(e), e
        return
    raise SystemExit("%s did not fail" % words)
broken = scene()
broken["objects"]["ball"]["generate"] = {"sphere": {"radius": 0.1}}
fails(abut.ProgramError, "mesh-prep", 3, "'cells' is missing", lambda: list(abut.pipe(broken).step(2).judge()))
fails(abut.ProgramError, "step", 2, "--solver nope", lambda: list(abut.pipe(scene()).step(1, solver="nope").judge()))
fails(abut.ProgramError, "step", 2, "--solver nope", lambda: abut.pipe(scene()).step(1, solver="nope").save("no.abut"))
import os
assert not os.path.exists("no.abut")
# a judge whose answer is no: a motion through the floor, written by hand
start = abut.pipe(scene()).step(0).save("start.abut")
with abut.Writer("through.abut") as w:
    w.model(start.model.arrays())
    for k in range(2):
        a = start[0].arrays()
        a["node/x"] = abut.Array(start[0].x - [0, 0.3 * k, 0], "m")
        w.frame(k, 0.01 * k, a)
fails(abut.Rejected, "ccd-check", 1, "floor", lambda: list(abut.pipe("through.abut").judge()))
try:
    scene().object("ball")
    raise SystemExit("two objects of one name")
except ValueError as e:
    assert "ball" in str(e)
P
}

@test "a run goes on from a stream, and stages of every kind fit between" {
    "$PYTHON" - <<'P'
from scene import *
whole = abut.pipe(scene()).step(6).save("whole.abut")
half = abut.pipe(scene()).step(3).save("half.abut")
on = abut.pipe(half).step(3).save("on.abut")
assert open("on.abut", "rb").read() == open("whole.abut", "rb").read()
parts = abut.pipe("half.abut").stage("decompose", k=2).save("parts.abut")
assert any(name.startswith("part/") for name in parts.model)
until = abut.pipe(half).step(until=0.05).save("until.abut")
assert until[-1].time == 0.05
# a link that waits at FILE.part is replaced, its target left alone
import os
os.symlink("whole.abut", "again.abut.part")
again = abut.pipe(scene()).step(2).save("again.abut")
assert len(again) == 3 and not os.path.islink("again.abut") and not os.path.lexists("again.abut.part")
assert open("on.abut", "rb").read() == open("whole.abut", "rb").read()
P
}

@test "scenes of files are dictionaries to change, and any program runs and says what is wrong" {
    "$PYTHON" - <<'P'
from scene import *
for name in ("drop", "cloth", "rope", "beam", "slope", "curved", "hard"):
    said = abut.call("mesh-prep", new=name, o="-")
    assert "#" in said
    open(name + ".yaml", "w").write(said)
    s = abut.new(name)
    assert s == abut.load(name + ".yaml") and s["abut"] == 1 and type(s["objects"]) is dict
    a = abut.pipe(s).step(0).save("a.abut")
    b = abut.pipe(name + ".yaml").step(np.int64(0)).save("b.abut")
    assert open(a, "rb").read() == open(b, "rb").read(), name
s = abut.new("slope")
s["contact"]["friction"]["mu"] = 0.48
a = abut.pipe(s).step(2).save("a.abut")
b = abut.pipe("slope.yaml", set=["contact.friction.mu=0.48"]).step(2).save("b.abut")
assert np.array_equal(a[-1].x, b[-1].x) and a.model["object/friction"].tolist() == b.model["object/friction"].tolist()
assert abut.load("slope.yaml", set="contact.friction.mu=0.48")["contact"]["friction"]["mu"] == 0.48
assert "3 frames: steps 0 to 2" in abut.call("export", b)
assert abut.call("export", b, csv="-", frames=np.int64(-1)).startswith("frame,step,time_s")
for kind, code, words, run in (
        (abut.ProgramError, 2, "did you mean slope", lambda: abut.new("slop")),
        (abut.ProgramError, 3, "none.yaml: No such file", lambda: abut.load("none.yaml")),
        (abut.Rejected, 1, "strain-limit", lambda: abut.call("strain-limit", abut.pipe(abut.new("cloth")).step(14).save("c.abut"),
                                                             audit=True, upper=1.0000001, no_sync=True, o="/dev/null")),
        (ValueError, None, "--set a=1 are for scenes", lambda: list(abut.pipe(b, set="a=1").step(1)))):
    try:
        run()
    except kind as e:
        assert type(e) is kind and getattr(e, "code", None) == code and words in str(e), e
        continue
    raise SystemExit("did not fail: %s" % words)
P
}

@test "messages about a scene name its keys; models and objects say in a line what they are; any dictionary is a scene" {
    "$PYTHON" - <<'P'
from scene import *
def says(change, words):
    s = scene()
    s.object("box", generate={"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}}, translate=[5, 0, 0])
    s.motion(select={"object": "ball"}, fix=True)
    s.motion(select={"object": "box"}, translate=[1, 0, 0])
    change(s)
    try:
        list(abut.pipe(s).step(1))
    except abut.ProgramError as e:
        assert "mesh-prep: " + words in e.message and "standard input" not in e.message, e
        return
    raise SystemExit("nothing was said of " + words)
def put(keys, value):
    def change(s):
        for k in keys[:-1]:
            s = s[k]
        s[keys[-1]] = value
    return change
says(put(["objects", "box", "generate", "box", "size"], [1, 1]), "objects.box.generate.box.size: size is a list of 2")
says(put(["objects", "box", "generate", "box", "size", 1], "x"), "objects.box.generate.box.size.1: size is 'x'")
says(put(["motion", 1, "velocity"], [1, 0, 0]), "motion.1.velocity: motion: unknown key 'velocity'")
says(put(["tiem"], {}), "tiem: scene: unknown key 'tiem'; did you mean 'time'?")
says(put(["objects", "ball", "material"], "ruber"), "objects.ball.material: no material is called 'ruber'")
run = abut.pipe(dict(scene())).step(1).save("run.abut")
assert repr(run.model).startswith("<model of ball: ") and "%d nodes" % len(run[0].x) in repr(run.model.objects), run.model
P
}

@test "meshes of your own go in, as arrays and by meshio, and frames come out" {
    "$PYTHON" - <<'P'
from scene import *
X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1 / 3, 1, 1]])
tets = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
s = scene()
s.mesh("solid", points=X, tets=tets, material="rubber", translate=[0.5, 0.3, 0])
s.mesh("sheet", points=X, triangles=np.array([[0, 1, 2]]), obstacle=True, translate=[5, 0.3, 0])
s.mesh("line", points=X, segments=np.array([[0, 4]]), obstacle=True, translate=[9, 0.3, 0])
run = abut.pipe(s).step(1).judge().save("own.abut")
solid = run.model.objects["solid"]
assert len(solid.tets) == 2 and np.array_equal(run.model["node/X"][solid.nodes], X + [0.5, 0.3, 0])
assert len(run.model.objects["sheet"].nodes) == 3 and len(run.model.objects["line"].nodes) == 2
for bad in ({"points": X[:, :2], "tets": tets}, {"points": X, "tets": tets + 3}, {"points": X, "tets": tets * 1.0}, {"points": X},
            {"points": X, "tets": tets, "triangles": tets[:, :3]}):
    try:
        scene().mesh("bad", **bad)
        raise SystemExit("a bad mesh was taken: %s" % bad)
    except ValueError:
        pass
P
    "$PYTHON" -c 'import meshio' 2> /dev/null || skip "no meshio for $PYTHON"
    "$PYTHON" - <<'P'
from scene import *
import meshio
run = abut.open("own.abut")
m = abut.to_meshio(run[-1])
assert [b.type for b in m.cells] == ["tetra"] and np.array_equal(m.points, run[-1].x)
assert np.allclose(m.point_data["displacement"], run[-1].x - run.model["node/X"])
m.write("last.vtu")
back = meshio.read("last.vtu")
assert np.array_equal(back.points, run[-1].x) and np.array_equal(back.cells[0].data, run.model["tet/node"])
s = scene()
s.mesh("copy", meshio.Mesh(m.points, [("vertex", [[0]]), ("tetra", run.model["tet/node"][run.model.objects["solid"].tets])]),
       material="rubber", translate=[0, 1, 0])
again = abut.pipe(s).step(0).save("again.abut")
assert np.array_equal(again.model["node/X"][again.model.objects["copy"].nodes], run[-1].x[run.model.objects["solid"].nodes] + [0, 1, 0])
P
}

# bats test_tags=slow
@test "pip installs the package into a virtual environment, where it finds the programs, and takes it away" {
    "$PYTHON" -c 'import venv, ensurepip' 2> /dev/null || skip "no venv for $PYTHON"
    "$PYTHON" -c 'import setuptools, wheel' 2> /dev/null || skip "no setuptools or wheel for $PYTHON, and no network in a test"
    cp -r "$ROOT/formats/python" source
    unset PYTHONPATH
    "$PYTHON" -m venv --system-site-packages env
    env/bin/pip install --quiet --no-index --no-build-isolation --disable-pip-version-check ./source
    rm -r source
    cd env
    bin/python - <<'P'
import abut, abut_stream, importlib.metadata, os, sys
for module in abut, abut_stream:
    assert module.__file__.startswith(sys.prefix), module.__file__
assert importlib.metadata.version("abut") == abut.__version__
assert os.path.exists(os.path.join(os.path.dirname(abut.__file__), "py.typed"))
assert "numpy" in importlib.metadata.requires("abut")
assert [f.step for f in abut.pipe(abut.new("slope")).step(3).judge()] == [0, 1, 2, 3]
del os.environ["ABUT_BIN"]          # neither there nor on the PATH
os.environ["PATH"] = os.path.dirname(sys.executable)
try:
    abut.new("slope")
    raise SystemExit("programs from nowhere")
except FileNotFoundError as e:
    assert "$ABUT_BIN" in str(e) and "PATH" in str(e), e
P
    bin/pip uninstall --quiet --yes --disable-pip-version-check abut
    exits 1 bin/python -c 'import abut'
}

@test "the example makes its figure" {
    "$PYTHON" -c 'import matplotlib' 2> /dev/null || skip "no matplotlib for $PYTHON"
    MPLCONFIGDIR=$TMP "$PYTHON" "$ROOT/formats/python/example.py" figure.png
    [ "$(head -c 4 figure.png | tail -c 3)" = PNG ]
    [ "$(stat -c %s figure.png)" -gt 40000 ]
}

@test "the package has one version with the programs, docstrings and types" {
    "$PYTHON" - "$ROOT" <<'P'
import inspect, re, subprocess, sys
import abut
said = subprocess.run([*abut.program("step"), "--version"], capture_output=True, text=True).stdout
assert abut.__version__ in said.split(), said
for name in abut.__all__:
    thing = getattr(abut, name)
    assert inspect.getdoc(thing), name
    if inspect.isfunction(thing) and thing.__module__.startswith("abut."):
        hints = inspect.signature(thing)
        assert all(p.annotation is not p.empty for p in hints.parameters.values()) and hints.return_annotation is not hints.empty, name
    if inspect.isclass(thing) and thing.__module__.startswith("abut."):
        for method, f in vars(thing).items():
            if inspect.isfunction(f) and not method.startswith("_"):
                assert inspect.getdoc(f), (name, method)
                assert inspect.signature(f).return_annotation is not inspect.Signature.empty, (name, method)
P
}

@test "the block of Python in the cookbook runs as it is written" {
    sed -n '/^```python$/,/^```$/p' "$ROOT/docs/COOKBOOK.md" | sed '/^```/d' > block.py
    grep -q 'abut.pipe' block.py
    "$PYTHON" block.py > out
    [ "$(grep -c '^0' out)" -ge 20 ]
    grep -q '^N ' out
}
