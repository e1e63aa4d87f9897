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
_DTYPES = {1: "<f8", 2: "<f4", 3: "<i4", 4: "<i8", 5: "u1", 6: "text"}
ALIASES = {"step/waypoints": "step/way"}    # present name: former name
_TYPES = {"f8": 1, "f4": 2, "i4": 3, "i8": 4, "u1": 5}


class StreamError(ValueError):
    """What is wrong with a stream, and at which byte."""


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
                self.prov.append(self._provenance(payload))
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

    def _provenance(self, b):
        nt, nv, zero, no = struct.unpack_from("<BBHI", b)
        if len(b) != 8 + nt + nv + no:
            raise self._bad("provenance of the wrong length")
        return b[8:8 + nt].decode(), b[8 + nt:8 + nt + nv].decode(), b[8 + nt + nv:].decode()

    def _array(self, b):
        if len(b) < 12:
            raise self._bad("an array section of %d bytes" % len(b))
        kind, rank, coding, nname, nunit = struct.unpack_from("<5B", b)
        flags = struct.unpack_from("<I", b, 8)[0]
        if kind not in _DTYPES or rank > 4 or coding > 1 or len(b) < 12 + 8 * rank + nname + nunit:
            raise self._bad("array of type %d, rank %d, coding %d" % (kind, rank, coding))
        shape = struct.unpack_from("<%dq" % rank, b, 12)
        at = 12 + 8 * rank
        name = b[at:at + nname].decode("latin-1")
        unit = b[at + nname:at + nname + nunit].decode("latin-1")
        data = b[at + nname + nunit:]
        size = 1 if kind >= 5 else int(_DTYPES[kind][2])
        count = 1
        for n in shape:
            count *= n
        if min(shape, default=0) < 0:
            raise self._bad("array '%s' of shape %s" % (name, shape))
        if coding:
            expand = zlib.decompressobj()
            try:
                data = expand.decompress(data, count * size) if count else b""
            except zlib.error as e:
                raise self._bad("array '%s': %s" % (name, e))
            data = np.frombuffer(data, "u1")
            if len(data) == count * size:
                data = data.reshape(size, count).T.tobytes()
        if len(data) != count * size:
            raise self._bad("array '%s' has %d bytes, expected %d" % (name, len(data), count * size))
        if kind == 6:
            return name, Array(bytes(data).decode("utf-8", "surrogateescape"), unit, flags)
        return name, Array(np.frombuffer(data, _DTYPES[kind]).reshape(shape).copy(), unit, flags)

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
                step, time, phase, n = struct.unpack("<qdII", b)
                self._count["frames"] += 1
                if not 0 <= step <= 1 << 53 or not np.isfinite(time) or phase > PENDING:
                    raise self._bad("step %d, time %g, phase %d" % (step, time, phase))
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
    """Writes prov, model, frame ... in this order; close, or the end of a `with` block, adds the end mark.

    minor: the version 1.x of the head; who copies a stream that it does not change may keep that of its reader."""

    def __init__(self, file, level=0, minor=MINOR):
        self._f = sys.stdout.buffer if file == "-" else open(file, "wb") if isinstance(file, str) else file
        self._own = isinstance(file, str) and file != "-"
        self._level = level
        self._count = [0, 0, 0, 0]
        self._last = None
        self._crc = 0
        self._put(MAGIC + struct.pack("<HHI", MAJOR, minor, 0x01020304))

    def _put(self, data):
        self._crc = zlib.crc32(data, self._crc)
        self._f.write(data + struct.pack("<I", self._crc))

    def _section(self, tag, payload):
        self._put(struct.pack("<4sHHQ", tag, 1, REQUIRED, len(payload)) + payload)
        self._count[0] += 1

    def prov(self, tool, version, options=None):
        """One stage of the history; options: text of a JSON object, or something json can write."""
        text = options if isinstance(options, str) else json.dumps(options or {})
        if (tool, version, text) == self._last:
            return
        self._last = (tool, version, text)
        t, v, o = tool.encode(), version.encode(), text.encode()
        self._section(b"PROV", struct.pack("<BBHI", len(t), len(v), 0, len(o)) + t + v + o)

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
        n, u = name.encode(), a.unit.encode()
        if not 0 < len(n) < 64 or len(u) > 15 or data.ndim > 4:
            raise ValueError("array '%s': name, unit or rank is too long" % name)
        form = struct.pack("<5B3xI%dq" % data.ndim, kind, data.ndim, coding, len(n), len(u), a.flags, *data.shape)
        self._section(b"ARRY", form + n + u + raw)
        self._count[3] += 1

    def model(self, arrays):
        """arrays: {name: Array or data}."""
        self._section(b"MODL", struct.pack("<II", len(arrays), 0))
        self._count[1] += 1
        for name, a in arrays.items():
            self._array(name, a)
        self._f.flush()

    def frame(self, step, time, arrays, phase=COMMITTED):
        """time in s; arrays: {name: Array or data}."""
        self._section(b"FRAM", struct.pack("<qdII", step, time, phase, len(arrays)))
        self._count[2] += 1
        for name, a in arrays.items():
            self._array(name, a)
        self._f.flush()

    def close(self):
        """Adds the end mark.  A stream without it is refused by every reader."""
        self._section(b"ENDS", struct.pack("<4Q", *self._count))
        self._f.flush()
        if self._own:
            self._f.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
        elif self._own:
            self._f.close()


def _show(file):
    reader = read(file)
    for tool, version, options in reader.prov:
        print("prov", tool, version, options)
    for item in reader:
        print("model" if item.kind == "model" else "frame step %d time %g s%s" % (
            item.step, item.time, " pending" if item.phase == PENDING else ""))
        for name, a in item.arrays.items():
            text = isinstance(a.data, str)
            few = "" if text or a.data.size > 3 else "  = " + " ".join("%.17g" % v for v in a.data.flat)
            print("  %-22s %-4s %s %s%s" % (name, "text" if text else a.data.dtype.str[1:],
                                            [len(a.data)] if text else list(a.data.shape), a.unit, few))


if __name__ == "__main__":
    try:
        for path in sys.argv[1:] or ["-"]:
            _show(path)
    except (StreamError, OSError) as problem:
        sys.exit("abut_stream: %s" % problem)
