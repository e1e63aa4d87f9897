#!/usr/bin/env bats
# formats/python/abut_stream.py: reads and writes what the programs do.
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR"
    skip_without_numpy
    export PYTHONPATH=$ROOT/formats/python PYTHONDONTWRITEBYTECODE=1
    golden=$ROOT/tests/golden
}

@test "python: the golden streams can be made again from their recipe" {
    "$PYTHON" "$golden/make-1.0.py" .
    cmp stored-1.0.abut "$golden/stored-1.0.abut"
    cat >same.py <<'P'
import sys, abut_stream
a, b = (list(abut_stream.read(p)) for p in sys.argv[1:])
assert len(a) == len(b) == 5
for x, y in zip(a, b):
    assert (x.kind, x.step, x.time, x.phase) == (y.kind, y.step, y.time, y.phase) and list(x.arrays) == list(y.arrays)
    for name in x.arrays:
        p, q = x.arrays[name], y.arrays[name]
        assert p.unit == q.unit and p.flags == q.flags
        assert p.data == q.data if isinstance(p.data, str) else p.data.tobytes() == q.data.tobytes() and p.data.shape == q.data.shape
P
    "$PYTHON" same.py compressed-1.0.abut "$golden/stored-1.0.abut"
    "$PYTHON" same.py "$golden/compressed-1.0.abut" "$golden/stored-1.0.abut"
}

@test "python: a stream that is read and written keeps its bytes" {
    cat >copy.py <<'P'
import sys, abut_stream
reader = abut_stream.read(sys.argv[1])
with abut_stream.Writer("-", int(sys.argv[2]), reader.minor) as w:
    for record in reader.prov:
        w.prov(*record)
    for item in reader:
        if item.kind == "model":
            w.model(item.arrays)
        else:
            w.frame(item.step, item.time, item.arrays, item.phase)
P
    "$PYTHON" copy.py "$golden/compressed-1.0.abut" 0 | cmp - "$golden/stored-1.0.abut"
    "$PYTHON" copy.py "$golden/stored-1.0.abut" 6 >packed
    [ "$(wc -c <packed)" -lt "$(wc -c <"$golden/stored-1.0.abut")" ]
    "$PYTHON" copy.py packed 0 | cmp - "$golden/stored-1.0.abut"
}

@test "python: waypoints of version 1.0 are found by the name that they have now, and keep theirs in what is written" {
    "$PYTHON" - "$golden/waypoints-1.0.abut" <<'P'
import sys, abut_stream
frame = list(abut_stream.read(sys.argv[1]))[-1]
assert "step/waypoints" not in frame.arrays and frame["step/waypoints"].shape == (32, 3)
assert frame["step/waypoints"] is frame["step/way"]
P
    "$BIN/ccd-check" -q "$golden/waypoints-1.0.abut" -o out.abut    # it follows them: the straight line would meet the post
    exits 1 "$BIN/ccd-check" -q --motion straight --no-output "$golden/waypoints-1.0.abut"
    "$BIN/export" --dump out.abut >out.txt
    grep -q '^array step/way f64' out.txt
    "$BIN/step" -q -n 1 "$golden/waypoints-1.0.abut" -o on.abut
    [ "$("$BIN/export" --dump on.abut | grep -c '^frame')" -eq 3 ]
    "$BIN/mesh-prep" -q "$golden/waypoints-1.0.yaml" | "$BIN/step" -q -n 12 --every 12 -o new.abut
    "$BIN/export" --dump new.abut >new.txt
    grep -q '^array step/waypoints f64' new.txt
}

@test "python: a stream made with numpy is a stream to the programs, and theirs to python" {
    cat >make.py <<'P'
import sys
import numpy as np
import abut_stream
items = list(abut_stream.read(sys.argv[1]))
model, frame = items[0], items[1]
with abut_stream.Writer("moved.abut") as w:
    w.prov("move", "1", {"by": 1})
    w.model(model.arrays)
    frame.arrays["node/x"].data += [0, 1, 0]
    w.frame(frame.step, frame.time, frame.arrays)
P
    cat >box.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l}
materials:
  jelly: {model: neo-hookean, density: 1000, young: 3e4, poisson: 0.4}
objects:
  box:   {generate: {box: {size: [0.3, 0.2, 0.3], cells: [1, 1, 1]}}, material: jelly, translate: [0, 0.2, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q --compress 6 box.yaml -o box.abut
    "$PYTHON" make.py box.abut
    exits 0 "$BIN/step" -q -n 2 moved.abut
    "$PYTHON" -c 'import sys, abut_stream
frames = [i for i in abut_stream.read(sys.argv[1]) if i.kind == "frame"]
assert [f.step for f in frames] == [0, 1, 2] and frames[0]["node/x"][:, 1].min() > frames[2]["node/x"][:, 1].min() > 1' stdout
}

@test "python: cut and damaged streams are refused, and wrong data never comes" {
    cat >damage.py <<'P'
import io, random, sys, abut_stream
good = open(sys.argv[1], "rb").read()


def content(data):
    out = []
    try:
        for item in abut_stream.read(io.BytesIO(data)):
            out.append((item.kind, item.step, item.time, item.phase, [
                (n, a.unit, a.flags, a.data if isinstance(a.data, str) else a.data.tobytes()) for n, a in item.arrays.items()]))
    except abut_stream.StreamError:
        return out, False
    return out, True


whole, ok = content(good)
assert ok
random.seed(1)
for n in random.sample(range(len(good)), 300):
    got, ok = content(good[:n])
    assert not ok and got == whole[:len(got)], n
for i in range(600):
    bad, at = bytearray(good), random.randrange(len(good))
    kind = i % 3
    if kind == 0:
        bad[at] ^= 1 << random.randrange(8)
    elif kind == 1:
        bad[at:at + 8] = bytes(random.randrange(256) for _ in range(len(bad[at:at + 8])))
    else:
        del bad[at:at + random.randrange(1, 40)]
    got, ok = content(bytes(bad))
    assert got == whole[:len(got)] and (not ok or bytes(bad) == good), (i, at)
P
    "$PYTHON" damage.py "$golden/stored-1.0.abut"
    "$PYTHON" damage.py "$golden/compressed-1.0.abut"
}

@test "python: run as a program it lists a stream, and refuses a damaged one" {
    exits 0 "$PYTHON" "$PYTHONPATH/abut_stream.py" "$golden/compressed-1.0.abut"
    writes "frame step 2 time 0.02 s pending"
    writes "node/X                 f8   [4, 3] m"
    writes "time/step              f8   [] s  = "
    head -c 5000 "$golden/stored-1.0.abut" >cut
    exits 1 "$PYTHON" "$PYTHONPATH/abut_stream.py" cut
    says "without an end mark"
}
