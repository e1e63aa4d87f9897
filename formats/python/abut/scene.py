"""Scenes as dictionaries: what formats/SCENE.md says, with names in place of indentation."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np

from .mesh import cells_of, write_mesh
from .programs import call


def _plain(value: Any) -> Any:
    """What json writes of numpy and of paths."""
    if isinstance(value, np.ndarray) or isinstance(value, np.generic):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError("a scene cannot hold a %s" % type(value).__name__)


class Scene(dict):
    """A scene as mesh-prep reads it; a dictionary with some help.  Keys that are given as arguments may have '_' for '-'.

    scene = Scene(time={"step": "0.01 s"}, contact={"friction": {"mu": 0.3}})
    """

    def __init__(self, *args: Any, **keys: Any):
        super().__init__({"abut": 1})
        self.update(*args, **{k.replace("_", "-"): v for k, v in keys.items()})
        self._folder: Optional[tempfile.TemporaryDirectory] = None

    def _put(self, group: str, name: str, keys: dict) -> "Scene":
        entry = {k.replace("_", "-"): v for k, v in keys.items()}
        if name in self.setdefault(group, {}):
            raise ValueError("the scene has '%s' among its %s already" % (name, group))
        self[group][name] = entry
        return self

    def material(self, name: str, **keys: Any) -> "Scene":
        """model, density, young, poisson, ...: formats/MATERIALS.md."""
        return self._put("materials", name, keys)

    def object(self, name: str, **keys: Any) -> "Scene":
        """generate or mesh, material, translate, rotate, velocity, obstacle, ...: formats/SCENE.md."""
        return self._put("objects", name, keys)

    def half_space(self, name: str, point: Sequence[float], normal: Sequence[float], **keys: Any) -> "Scene":
        """A half-space that does not move; normal: out of the solid."""
        return self._put("objects", name, {"half-space": {"point": list(point), "normal": list(normal)}, **keys})

    def motion(self, **keys: Any) -> "Scene":
        """select, and what moves it: formats/MOTIONS.md."""
        self.setdefault("motion", []).append({k.replace("_", "-"): v for k, v in keys.items()})
        return self

    def mesh(self, name: str, mesh: Any = None, *, points: Optional[np.ndarray] = None, tets: Optional[np.ndarray] = None,
             triangles: Optional[np.ndarray] = None, segments: Optional[np.ndarray] = None, **keys: Any) -> "Scene":
        """An object with a mesh of your own: arrays, or a meshio.Mesh (its tets; else triangles; else lines).

        points [n, 3] in m; one of tets [t, 4], triangles [t, 3], segments [t, 2]; keys as for `object`."""
        if mesh is not None:
            points, kind, cells = cells_of(mesh)
        else:
            given = [(k, c) for k, c in (("tets", tets), ("triangles", triangles), ("segments", segments)) if c is not None]
            if points is None or len(given) != 1:
                raise ValueError("mesh '%s': expected points, and one of tets, triangles and segments" % name)
            kind, cells = given[0]
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="abut-scene-")
        path = write_mesh(os.path.join(self._folder.name, "%d" % len(os.listdir(self._folder.name))), points, kind, cells)
        return self._put("objects", name, {"mesh": path, **keys})

    def text(self) -> str:
        """The scene as JSON, which is YAML, too."""
        return json.dumps(self, indent=1, default=_plain, allow_nan=False, ensure_ascii=False) + "\n"

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the scene for mesh-prep.  Meshes that were given as arrays stay in a temporary folder of this object."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.text())


def load(path: Union[str, os.PathLike], **options: Any) -> Scene:
    """The scene of a file, to be changed: numbers are numbers, with a unit they are text ("0.01 s"); paths of meshes are absolute.

    options: of mesh-prep, as set="time.step=5ms".  Raises ProgramError where it is no scene language."""
    return Scene(json.loads(call("mesh-prep", path, to_json=True, quiet=True, **options)))


def new(name: str) -> Scene:
    """A scene to begin with: drop, cloth, rope, beam, slope, curved or hard.  `mesh-prep --new NAME` has it with comments."""
    with tempfile.TemporaryDirectory(prefix="abut-scene-") as folder:
        path = os.path.join(folder, name.replace(os.sep, "_") + ".yaml")
        call("mesh-prep", new=name, o=path)
        return load(path)
