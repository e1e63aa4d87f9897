#!/usr/bin/env python3
"""Reads and writes abut state streams.  One file, numpy only: copy it next to your script.

    import abut_stream
    for item in abut_stream.read("run.abut"):           # a path, "-" or a binary file; streams, holds one item
        if item.kind == "model":
            X = item["node/X"]                          # numpy array; item.arrays["node/X"].unit == "m"
        else:
            print(item.step, item.time, item["node/x"].min(axis=0))

    with abut_stream.Writer("out.abut") as w:           # the end mark is written only if nothing was raised
        w.prov("my-script", "1.0", {"scale": 2})
        w.model({"node/X": abut_stream.Array(X, "m"), ...})
        w.frame(0, 0.0, {"node/x": abut_stream.Array(x, "m"), ...})

Whoever stops before the end of `read` has not seen the end mark, so the rest of the stream may be missing.
formats/STATE.md of abut describes the format and the arrays.
"""
import json
import math
import re
import struct
import sys
import zlib

import numpy as np

MAGIC = b"\x89ABT\r\n\x1a\n"
MAJOR, MINOR = 1, 2
REQUIRED, KEEP = 1, 2                   # section flags
ARRAY_REQUIRED, ARRAY_CARRY = 1, 2      # array flags
COMMITTED, PENDING = 0, 1
ARRAYS_MAX = 4096
STEP_MOST = 1 << 53
_TEXT_MOST, _OPTIONS_MOST, _ARRAY_MOST = 31, 1 << 20, 64 << 30     # bytes
_NAME = re.compile(r"[A-Za-z0-9_\-./]{1,63}")
_DTYPES = {1: "<f8", 2: "<f4", 3: "<i4", 4: "<i8", 5: "u1", 6: "u1"}    # 6: text
ALIASES = {"step/waypoints": "step/way"}    # present name: former name
_TYPES = {"f8": 1, "f4": 2, "i4": 3, "i8": 4, "u1": 5}


class StreamError(ValueError):
    """What is wrong with a stream, and at which byte."""


# ---- payloads of sections; bad(why) makes the StreamError that is raised ----

def parse_prov(b, bad):
    """(tool, version, options) of the bytes of a PROV section."""
    tool, version, _, options = struct.unpack_from("<BBHI", b.ljust(8, b"\0"))
    if len(b) != 8 + tool + version + options or max(tool, version) > _TEXT_MOST or options > _OPTIONS_MOST or b"\0" in b[8:]:
        raise bad("provenance of the wrong length, or with a 0 byte")
    text = (b[8:8 + tool], b[8 + tool:8 + tool + version], b[8 + tool + version:])
    return tuple(t.decode("utf-8", "surrogateescape") for t in text)


def parse_frame(b, bad):
    """(step, time, phase, number of arrays) of the 24 bytes of a FRAM section."""
    step, time, phase, n = struct.unpack("<qdII", b)
    if not 0 <= step <= STEP_MOST or not math.isfinite(time) or phase > PENDING:
        raise bad("step %d, time %g, phase %d" % (step, time, phase))
    return step, time, phase, n


def parse_form(b, bad):
    """What an ARRY section begins with: (name, unit, flags, kind, coding, shape, place of the data); b: at least these bytes."""
    if len(b) < 12:
        raise bad("an array section of %d bytes" % len(b))
    kind, rank, coding, n_name, n_unit, zeros, flags = struct.unpack_from("<5B3sI", b)
    at = 12 + 8 * rank
    end = at + n_name + n_unit
    if kind not in _DTYPES or rank > 4 or coding > 1 or n_unit > 15 or zeros != b"\0\0\0" or len(b) < end:
        raise bad("array of type %d, rank %d, coding %d" % (kind, rank, coding))
    shape = struct.unpack_from("<%dq" % rank, b, 12)
    name, unit = (text.decode("utf-8", "surrogateescape") for text in (b[at:at + n_name], b[at + n_name:end]))
    if not _NAME.fullmatch(name) or "\0" in unit:
        raise bad("array '%s' of unit '%s'" % (name, unit))
    if min(shape, default=0) < 0 or math.prod(max(n, 1) for n in shape) > _ARRAY_MOST // np.dtype(_DTYPES[kind]).itemsize:
        raise bad("array '%s' of shape %s" % (name, shape))
    return name, unit, flags, kind, coding, shape, end


def parse_data(name, kind, coding, shape, data, bad):
    """The numpy array, or str, of the data of an array; read-only where it is these bytes."""
    dtype = np.dtype(_DTYPES[kind])
    size = math.prod(shape) * dtype.itemsize
    if coding:
        expand = zlib.decompressobj()
        try:
            plain = expand.decompress(data, size + 1)
        except zlib.error as e:
            raise bad("array '%s': %s" % (name, e)) from None
        if len(plain) != size or not expand.eof or expand.unused_data:
            raise bad("array '%s': the compressed data is no zlib stream of %d bytes" % (name, size))
        data = np.frombuffer(plain, "u1").reshape(dtype.itemsize, -1).T.tobytes()
    if len(data) != size:
        raise bad("array '%s' has %d bytes, expected %d" % (name, len(data), size))
    if kind == 6:
        return bytes(data).decode("utf-8", "surrogateescape")
    return np.frombuffer(data, dtype).reshape(shape)


class Array:
    """data: a numpy array of f8, f4, i4, i8 or u1, or a str; unit: SI, "" for none; flags: ARRAY_*."""

    def __init__(self, data, unit="", flags=0):
        self.data = data if isinstance(data, str) else np.asarray(data)
        self.unit = unit
        self.flags = flags


class Item:
    """A "model" or a "frame" (with step, time, phase); item[name] is the data of an array, by its present name where it had another."""

    def __init__(self, kind, arrays, step=0, time=0.0, phase=COMMITTED):
        self.kind, self.arrays, self.step, self.time, self.phase = kind, arrays, step, time, phase

    def __getitem__(self, name):
        return self.arrays[name if name in self.arrays else ALIASES.get(name, name)].data


class Reader:
    """Iterates over the items; prov is the list of (tool, version, options text), complete from the start."""

    def __init__(self, file):
        self._f = sys.stdin.buffer if file == "-" else open(file, "rb") if isinstance(file, str) else file
        self._at = self._crc = 0
        self._count = {"sections": 0, "models": 0, "frames": 0, "arrays": 0}
        self.prov = []
        self._head()
        self._next = self._section()
        while self._next[0] not in ("MODL", "FRAM", "ENDS"):
            tag, payload = self._next
            if tag == "PROV":
                self.prov.append(parse_prov(payload, self._bad))
            elif tag == "ARRY":
                raise self._bad("an array outside of a MODL or FRAM")
            self._next = self._section()

    def _bad(self, why):
        return StreamError("byte %d: %s" % (self._at, why))

    def _take(self, n):
        pieces = []
        while n:                        # in pieces: a length that lies must not allocate more than arrives
            data = self._f.read(min(n, 1 << 24))
            if not data:
                raise self._bad("the stream ends without an end mark")
            pieces.append(data)
            self._at += len(data)
            n -= len(data)
        return b"".join(pieces)

    def _checked(self, n):
        data = self._take(n)
        self._crc = zlib.crc32(data, self._crc)
        return data

    def _check(self):
        if struct.unpack("<I", self._take(4))[0] != self._crc:
            raise self._bad("damaged, or a section is missing, doubled or out of place")

    def _head(self):
        head = self._checked(16)
        if head[:8] != MAGIC:
            raise self._bad("not an abut state stream")
        major, minor, order = struct.unpack("<HHI", head[8:])
        if major != MAJOR or order != 0x01020304:
            raise self._bad("version %d.%d with byte order %08x, expected %d.x, 01020304" % (major, minor, order, MAJOR))
        self.minor = minor
        self._check()

    def _section(self):
        """The next section of a known kind, (tag, payload); unknown ones are refused or left out."""
        while True:
            tag, version, flags, length = struct.unpack("<4sHHQ", self._checked(16))
            payload = self._checked(length)
            self._check()
            tag = tag.decode("latin-1")
            if tag in ("PROV", "MODL", "FRAM", "ARRY", "ENDS"):
                if version != 1:
                    raise self._bad("section %s of version %d, expected 1" % (tag, version))
                if tag == "ENDS":
                    return tag, payload
                self._count["sections"] += 1
                return tag, payload
            if flags & REQUIRED:
                raise self._bad("section %s must be understood" % tag)
            self._count["sections"] += 1

    def _array(self, b):
        name, unit, flags, *form, at = parse_form(b, self._bad)
        data = parse_data(name, *form, b[at:], self._bad)
        return name, Array(data if isinstance(data, str) else data.copy(), unit, flags)

    def _arrays(self, n):
        if n > ARRAYS_MAX:
            raise self._bad("%d arrays" % n)
        arrays = {}
        for _ in range(n):
            tag, payload = self._section()
            if tag != "ARRY":
                raise self._bad("section %s where an array should be" % tag)
            name, array = self._array(payload)
            if name in arrays:
                raise self._bad("array '%s' is there twice" % name)
            arrays[name] = array
            self._count["arrays"] += 1
        return arrays

    def __iter__(self):
        while True:
            tag, b = self._next
            if tag == "MODL" and len(b) == 8:
                self._count["models"] += 1
                item = Item("model", self._arrays(struct.unpack_from("<I", b)[0]))
            elif tag == "FRAM" and len(b) == 24 and self._count["models"]:
                step, time, phase, n = parse_frame(b, self._bad)
                self._count["frames"] += 1
                item = Item("frame", self._arrays(n), step, time, phase)
            elif tag == "ENDS" and len(b) == 32:
                if struct.unpack("<4Q", b) != tuple(self._count.values()) or not self._count["models"]:
                    raise self._bad("the end mark counts other sections than there are")
                if self._f.read(1):
                    raise self._bad("something follows the end mark")
                return
            else:
                raise self._bad("section %s of %d bytes is out of place" % (tag, len(b)))
            yield item
            self._next = self._section()


def read(file):
    """Iterates over the items of a stream (path, "-" or binary file); see Reader for the history."""
    return Reader(file)


class Writer:
    """Writes prov, model, frame ... in this order; close, or the end of a `with` block, adds the end mark.  What readers refuse
    raises ValueError, and so does what follows a call that failed.

    minor: the version 1.x of the head; who copies a stream that it does not change may keep that of its reader."""

    def __init__(self, file, level=0, minor=MINOR):
        self._f = sys.stdout.buffer if file == "-" else open(file, "wb") if isinstance(file, str) else file
        self._own = isinstance(file, str) and file != "-"
        self._level = level
        self._count = [0, 0, 0, 0]
        self._last = None
        self._bad = False
        self._crc = 0
        self._put(MAGIC + struct.pack("<HHI", MAJOR, minor, 0x01020304))

    def _put(self, data):
        self._crc = zlib.crc32(data, self._crc)
        self._f.write(data + struct.pack("<I", self._crc))

    def _section(self, tag, payload):
        self._put(struct.pack("<4sHHQ", tag, 1, REQUIRED, len(payload)) + payload)
        self._count[0] += 1

    def _begin(self, what, in_order):
        if self._bad or not in_order:
            raise ValueError("%s %s" % (what, "after a call that failed, or the end" if self._bad else "is out of order"))
        self._bad = True

    def prov(self, tool, version, options=None):
        """One stage of the history; options: text of a JSON object, or something json can write."""
        text = options if isinstance(options, str) else json.dumps(options or {})
        t, v, o = (s.encode("utf-8", "surrogateescape") for s in (tool, version, text))
        if max(len(t), len(v)) > _TEXT_MOST or len(o) > _OPTIONS_MOST or b"\0" in t + v + o:
            raise ValueError("provenance of '%s': a text is too long, or has a 0 byte" % tool)
        self._begin("provenance", not self._count[1])
        if (tool, version, text) != self._last:
            self._section(b"PROV", struct.pack("<BBHI", len(t), len(v), 0, len(o)) + t + v + o)
        self._last = (tool, version, text)
        self._bad = False

    def _array(self, name, a):
        if not isinstance(a, Array):
            a = Array(a)
        if isinstance(a.data, str):
            kind, data = 6, np.frombuffer(a.data.encode("utf-8", "surrogateescape"), "u1")
        else:
            data = np.asarray(a.data, order="C")
            code = data.dtype.str[1:]
            if code not in _TYPES:
                raise TypeError("array '%s' is %s, expected f8, f4, i4, i8 or u1" % (name, data.dtype))
            kind = _TYPES[code]
            data = data.astype(data.dtype.newbyteorder("<"))
        raw, coding = data.tobytes(), 0
        if self._level and len(raw) > 1:
            deflate = zlib.compressobj(self._level)
            bytes_first = np.frombuffer(raw, "u1").reshape(-1, data.dtype.itemsize).T.tobytes()
            packed = deflate.compress(bytes_first) + deflate.flush()
            if len(packed) < len(raw):
                raw, coding = packed, 1
        n, u = (s.encode("utf-8", "surrogateescape") for s in (name, a.unit))
        if not _NAME.fullmatch(name) or len(u) > 15 or b"\0" in u or data.ndim > 4:
            raise ValueError("array '%s' of unit '%s' and rank %d: expected a name of 1 to 63 letters, digits, '_', '-', '.' and "
                             "'/', a unit of 15 bytes and rank 4 at most" % (name, a.unit, data.ndim))
        form = struct.pack("<5B3xI%dq" % data.ndim, kind, data.ndim, coding, len(n), len(u), a.flags, *data.shape)
        self._section(b"ARRY", form + n + u + raw)
        self._count[3] += 1

    def _arrays(self, arrays):
        for name, a in arrays.items():
            self._array(name, a)
        self._f.flush()
        self._bad = False

    def model(self, arrays):
        """arrays: {name: Array or data}."""
        self._begin("a model", len(arrays) <= ARRAYS_MAX)
        self._section(b"MODL", struct.pack("<II", len(arrays), 0))
        self._count[1] += 1
        self._arrays(arrays)

    def frame(self, step, time, arrays, phase=COMMITTED):
        """time in s; arrays: {name: Array or data}."""
        if not 0 <= step <= STEP_MOST or not math.isfinite(time) or phase not in (COMMITTED, PENDING):
            raise ValueError("a frame of step %s at %s s, phase %s" % (step, time, phase))
        self._begin("a frame", self._count[1] and len(arrays) <= ARRAYS_MAX)
        self._section(b"FRAM", struct.pack("<qdII", step, time, phase, len(arrays)))
        self._count[2] += 1
        self._arrays(arrays)

    def close(self):
        """Adds the end mark.  A stream without it is refused by every reader."""
        self._begin("the end mark", self._count[1])
        self._section(b"ENDS", struct.pack("<4Q", *self._count))
        self._f.flush()
        if self._own:
            self._f.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                self.close()
        finally:
            if self._own:
                self._f.close()


def _printable(text):
    return "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in text)


def _show(file):
    reader = read(file)
    for stage in reader.prov:
        print("prov", *map(_printable, stage))
    for item in reader:
        print("model" if item.kind == "model" else "frame step %d time %g s%s" % (
            item.step, item.time, " pending" if item.phase == PENDING else ""))
        for name, a in item.arrays.items():
            text = isinstance(a.data, str)
            few = "" if text or a.data.size > 3 else "  = " + " ".join("%.17g" % v for v in a.data.flat)
            print("  %-22s %-4s %s %s%s" % (name, "text" if text else a.data.dtype.str[1:],
                                            [len(a.data)] if text else list(a.data.shape), _printable(a.unit), few))


if __name__ == "__main__":
    try:
        for path in sys.argv[1:] or ["-"]:
            _show(path)
    except (StreamError, OSError) as problem:
        sys.exit("abut_stream: %s" % problem)
