"""Streams on disk: which models and frames there are is known at once, their arrays are read when they are asked for."""
from __future__ import annotations

import builtins
import mmap
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union, overload

import numpy as np
from abut_stream import (ALIASES, ARRAYS_MAX, COMMITTED, MAGIC, MAJOR, PENDING, REQUIRED, Array, Item, Reader, StreamError,
                         parse_data, parse_form, parse_frame, parse_prov)

_FORM_MOST = 12 + 4 * 8 + 2 * 255   # bytes before the data of an array


@dataclass(frozen=True)
class _Place:
    """Where the data of an array are in the file."""

    kind: int
    coding: int
    flags: int
    shape: tuple[int, ...]
    unit: str
    at: int
    size: int


class Arrays(Mapping[str, Any]):
    """Arrays by name, as numpy (read-only where they are the file's own bytes) or, of a text, as str.  `units[name]` is the unit
    of one."""

    def __init__(self, places: Mapping[str, Union[_Place, Array]], data: Optional[mmap.mmap] = None):
        self._places, self._data = places, data

    def _find(self, name: str) -> Union[_Place, Array]:
        place = self._places.get(name) or self._places.get(ALIASES.get(name, name))
        if place is None:
            raise KeyError("no array '%s'; there are %s" % (name, ", ".join(self._places)))
        return place

    def __getitem__(self, name: str) -> Any:
        place = self._find(name)
        if isinstance(place, Array):
            return place.data
        assert self._data is not None
        return _take(name, place, self._data)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places or ALIASES.get(str(name)) in self._places

    @property
    def units(self) -> dict[str, str]:
        """Units of all arrays, "" for none."""
        return {name: p.unit for name, p in self._places.items()}

    def array(self, name: str) -> Array:
        """The array with its unit and flags, for a Writer."""
        place = self._find(name)
        return place if isinstance(place, Array) else Array(self[name], place.unit, place.flags)

    def arrays(self) -> dict[str, Array]:
        """All arrays with their units and flags, for a Writer."""
        return {name: self.array(name) for name in self}


def _take(name: str, p: _Place, data: mmap.mmap) -> Any:
    """The array; where it is stored, as the file's own bytes."""
    def bad(why: str) -> StreamError:
        return StreamError("byte %d: %s" % (p.at, why))
    out = parse_data(name, p.kind, p.coding, p.shape, memoryview(data)[p.at:p.at + p.size], bad)
    if not isinstance(out, str):
        out.flags.writeable = False
    return out


@dataclass(frozen=True)
class Object:
    """One object of a model: its row in the `object/` arrays, and rows of the model that are its."""

    name: str
    row: int
    nodes: np.ndarray
    tets: np.ndarray
    triangles: np.ndarray

    def __repr__(self) -> str:
        return "<object %s: %d nodes, %d tets, %d triangles>" % (self.name, len(self.nodes), len(self.tets), len(self.triangles))


class Model(Arrays):
    """What is simulated."""

    def __repr__(self) -> str:
        return "<model of %s: %d arrays>" % (", ".join(self.objects), len(self))

    @property
    def objects(self) -> dict[str, Object]:
        """By name, in the order of the model.  triangles: rows of contact/triangle where contact is on."""
        body = self["node/object"]
        of_tet = body[self["tet/node"][:, 0]] if "tet/node" in self else np.empty(0, "i4")
        of_triangle = np.empty(0, "i4")
        if "contact/triangle" in self and "contact/node" in self:
            of_triangle = body[self["contact/node"][self["contact/triangle"][:, 0]]]
        names = self["object/name"].split("\n")[:-1] if "object/name" in self else []
        rows = len(self["object/friction"])
        names += ["object %d" % k for k in range(len(names), rows)]
        return {name: Object(name, k, np.flatnonzero(body == k), np.flatnonzero(of_tet == k), np.flatnonzero(of_triangle == k))
                for k, name in enumerate(names[:rows])}


class Frame(Arrays):
    """A state at a time.  `index`: its place in the stream."""

    def __init__(self, places, data=None, *, index: int, step: int, time: float, phase: int, model: Model):
        super().__init__(places, data)
        self.index, self.step, self.time, self.model = index, step, time, model
        self.pending = phase == PENDING

    @property
    def x(self) -> np.ndarray:
        """Positions [nodes, 3], m."""
        return self["node/x"]

    @property
    def v(self) -> np.ndarray:
        """Velocities [nodes, 3], m/s."""
        return self["node/v"]

    def __repr__(self) -> str:
        return "<frame %d: step %d, %g s%s>" % (self.index, self.step, self.time, ", pending" if self.pending else "")


class Run(Sequence[Frame]):
    """A whole stream on disk: a sequence of frames.  prov: its history, (tool, version, options as JSON text)."""

    def __init__(self, path: Union[str, os.PathLike]):
        self.path = os.fspath(path)
        self.prov: list[tuple[str, str, str]] = []
        self.models: list[Model] = []
        self._frames: list[Frame] = []
        with builtins.open(self.path, "rb") as f:
            if not os.fstat(f.fileno()).st_size:
                raise StreamError("%s: byte 0: the stream ends without an end mark" % self.path)
            self._data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        try:
            self._scan()
        except StreamError as e:
            raise StreamError("%s: %s" % (self.path, e)) from None

    @property
    def model(self) -> Model:
        """The model, of a stream that has one."""
        if len(self.models) != 1:
            raise ValueError("%s has %d models; each frame knows its own" % (self.path, len(self.models)))
        return self.models[0]

    @property
    def times(self) -> np.ndarray:
        """Of all frames, s."""
        return np.array([f.time for f in self._frames])

    def stack(self, name: str) -> np.ndarray:
        """An array of all frames, one above the other; of numbers of 64 bits, nan in frames without it: the first frame of a
        scene has no forces.  Raises KeyError where no frame has it"""
        rows = [np.asarray(f[name]) if name in f else None for f in self._frames]
        known = next((r for r in rows if r is not None), None)
        if known is None or (known.dtype != np.float64 and any(r is None for r in rows)):
            raise KeyError(name)
        return np.stack([np.full_like(known, np.nan) if r is None else r for r in rows])

    def check(self) -> None:
        """Reads every byte and compares checksums.  Raises StreamError"""
        for _ in Reader(self.path):
            pass

    def __len__(self) -> int:
        return len(self._frames)

    @overload
    def __getitem__(self, i: int) -> Frame: ...
    @overload
    def __getitem__(self, i: slice) -> list[Frame]: ...

    def __getitem__(self, i):
        return self._frames[i]

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return "<run %s: %d frames>" % (self.path, len(self))

    # ---- the index ----

    def _bytes(self, n: int) -> bytes:
        if self._at + n > len(self._data):
            self._at = len(self._data)
            raise self._bad("the stream ends without an end mark")
        self._at += n
        return self._data[self._at - n:self._at]

    def _bad(self, why: str) -> StreamError:
        return StreamError("byte %d: %s" % (self._at, why))

    def _section(self) -> tuple[str, int, int]:
        """Tag, place and length of the next section that is known."""
        while True:
            tag, version, flags, length = struct.unpack("<4sHHQ", self._bytes(16))
            at, name = self._at, tag.decode("latin-1")
            if length > len(self._data) - at - 4:
                self._at = len(self._data)
                raise self._bad("the stream ends without an end mark")
            self._at += length + 4
            self._count[0] += name != "ENDS"
            if name in ("PROV", "MODL", "FRAM", "ARRY", "ENDS"):
                if version != 1:
                    raise self._bad("section %s of version %d, expected 1" % (name, version))
                return name, at, length
            if flags & REQUIRED:
                raise self._bad("section %s must be understood" % name)

    def _arrays(self, n: int) -> dict[str, _Place]:
        places: dict[str, _Place] = {}
        if n > ARRAYS_MAX:
            raise self._bad("%d arrays" % n)
        for _ in range(n):
            tag, at, length = self._section()
            if tag != "ARRY":
                raise self._bad("section %s where an array should be" % tag)
            name, unit, flags, kind, coding, shape, begin = parse_form(self._data[at:at + min(length, _FORM_MOST)], self._bad)
            if name in places:
                raise self._bad("array '%s' is there twice" % name)
            places[name] = _Place(kind, coding, flags, shape, unit, at + begin, length - begin)
            self._count[3] += 1
        return places

    def _scan(self) -> None:
        self._count = [0, 0, 0, 0]
        if self._bytes(8) != MAGIC:
            raise self._bad("not an abut state stream")
        major, minor, order = struct.unpack("<HHI", self._bytes(8))
        if major != MAJOR or order != 0x01020304:
            raise self._bad("version %d.%d with byte order %08x, expected %d.x, 01020304" % (major, minor, order, MAJOR))
        self._bytes(4)
        while True:
            tag, at, length = self._section()
            b = self._data[at:at + length] if tag != "ARRY" else b""
            if tag == "PROV" and not self.models:
                self.prov.append(parse_prov(b, self._bad))
            elif tag == "MODL" and length == 8:
                self._count[1] += 1
                self.models.append(Model(self._arrays(struct.unpack_from("<I", b)[0]), self._data))
            elif tag == "FRAM" and length == 24 and self.models:
                step, time, phase, n = parse_frame(b, self._bad)
                self._count[2] += 1
                self._frames.append(Frame(self._arrays(n), self._data, index=len(self._frames), step=step, time=time, phase=phase,
                                          model=self.models[-1]))
            elif tag == "ENDS" and length == 32:
                if list(struct.unpack("<4Q", b)) != self._count or not self.models or self._at != len(self._data):
                    raise self._bad("the end mark counts other sections than there are, or something follows it")
                return
            else:
                raise self._bad("section %s of %d bytes is out of place" % (tag, length))


def open(path: Union[str, os.PathLike]) -> Run:
    """Opens a stream on disk.  Its index is read, and its end mark; `Run.check` reads all of it.  Raises StreamError, OSError

    From a pipe, or where every byte shall be checked as it comes: `abut.read`."""
    return Run(path)


def frames_of(reader: Reader) -> Iterator[Frame]:
    """The frames of a reader as they come, in memory."""
    model: Optional[Model] = None
    count = 0
    item: Item
    for item in reader:
        if item.kind == "model":
            model = Model(item.arrays)
            continue
        assert model is not None
        yield Frame(item.arrays, index=count, step=item.step, time=item.time, phase=item.phase, model=model)
        count += 1


__all__ = ["Arrays", "COMMITTED", "Frame", "Model", "Object", "PENDING", "Run", "frames_of", "open"]
