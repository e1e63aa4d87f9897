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

@test "python: what readers refuse is not written, and a stream that misses a part gets no end mark" {
    "$PYTHON" - <<'P'
import io, math, abut_stream as s
good = {"node/X": s.Array([[1.0, 2, 3]], "m")}


def writes(*calls):
    w = s.Writer(io.BytesIO())
    try:
        for name, *values in calls:
            getattr(w, name)(*values)
    except ValueError:
        return False
    return True


model, end = ("model", good), ("close",)
assert writes(("prov", "a" * 31, "1", " " * (1 << 20)), model, ("frame", 1 << 53, -1.0, good, s.PENDING), model, end)
for calls in [
    [("prov", "a" * 32, "1")], [("prov", "a", "é" * 16)], [("prov", "a\0", "1")], [("prov", "a", "1", " " * ((1 << 20) + 1))],
    [model, ("prov", "a", "1")], [("frame", 0, 0.0, good)], [end], [model, end, end],
    *([("model", {name: 1.0})] for name in ("", "a b", "é", "a" * 64, "a\n")), [("model", {"a": s.Array(1.0, "m" * 16)})],
    [("model", {"a": s.Array(1.0, "m\0")})], [("model", {"a%d" % i: 1.0 for i in range(4097)})],
    *([model, ("frame", *head)] for head in ((-1, 0.0, good), ((1 << 53) + 1, 0.0, good), (0, math.nan, good))),
    [model, ("frame", 0, 0.0, good, 2)],
]:
    assert not writes(*calls), calls
w = s.Writer(io.BytesIO())
for call, values in (w.model, ({"a b": 1.0},)), (w.close, ()):
    try:
        call(*values)
        raise SystemExit("written")
    except ValueError:
        pass
P
}

@test "python: payloads that lie are StreamErrors, by the reader and by the package" {
    "$PYTHON" - <<'P'
import struct, zlib, abut, abut_stream as s


def array(shape=(1,), data=bytes(8), coding=0, name=b"a"):
    return b"ARRY", struct.pack("<5B3xI%dq" % len(shape), 1, len(shape), coding, len(name), 0, 0, *shape) + name + data


def frame(step=0, time=0.0, phase=0):
    return b"FRAM", struct.pack("<qdII", step, time, phase, 0)


def prov(tool, more=b""):
    return b"PROV", struct.pack("<BBHI", len(tool), 0, 0, 0) + tool + more


def outcomes(*sections):
    w = s.Writer("forged.abut")
    for tag, payload in sections:
        w._section(tag, payload)
    tags = [tag for tag, _ in sections]
    w._section(b"ENDS", struct.pack("<4Q", len(tags), *map(tags.count, (b"MODL", b"FRAM", b"ARRY"))))
    w._f.close()

    def by_reader():
        reader = s.read("forged.abut")
        return [[item.arrays[k].data.tolist() for k in item.arrays] for item in reader], reader.prov

    def by_run():
        run = abut.open("forged.abut")
        return [[item[k].tolist() for k in item] for item in (*run.models, *run)], run.prov
    for read in by_reader, by_run:
        try:
            yield read()
        except s.StreamError:
            yield None


none, one = (b"MODL", struct.pack("<II", 0, 0)), (b"MODL", struct.pack("<II", 1, 0))
packed = zlib.compress(bytes(8))
for sections in [prov(b"\xff"), none, frame()], [one, array(coding=1, data=packed)], [one, array((0,), b"")]:
    a, b = outcomes(*sections)
    assert a == b and a, sections
for sections in [
    [(b"PROV", b""), none], [(b"PROV", bytes(7)), none], [prov(b"a", b"b"), none], [prov(b"a" * 32), none],
    [prov(b"\0"), none], [none, prov(b"a")], [(b"MODL", struct.pack("<II", 5000, 0))],
    [none, frame(step=-1)], [none, frame(time=float("nan"))], [none, frame(phase=2)],
    [one, (b"ARRY", b"")], [one, array((-1,))], [one, array((1 << 62,), packed, 1)], [one, array((1 << 40, 1 << 40), packed, 1)],
    [one, array(coding=1, data=packed + b"x")], [one, array(coding=1, data=zlib.compress(bytes(9)))], [one, array(name=b"\xff")],
    [one, array(coding=1, data=packed[:-1])], [one, array(data=bytes(9))],
]:
    assert list(outcomes(*sections)) == [None, None], sections
P
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
