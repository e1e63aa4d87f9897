"""Meshes in and out."""
from __future__ import annotations

from typing import Any

import numpy as np

_KINDS = {"tetra": "tets", "triangle": "triangles", "line": "segments"}


def cells_of(mesh: Any) -> tuple[np.ndarray, str, np.ndarray]:
    """Points, kind and cells of a meshio.Mesh: its tets, else its triangles, else its lines, with the points that they use."""
    for meshio_name, kind in _KINDS.items():
        cells = [np.asarray(block.data) for block in mesh.cells if block.type == meshio_name]
        if cells:
            all_cells = np.concatenate(cells)
            used, number = np.unique(all_cells, return_inverse=True)
            points = np.asarray(mesh.points, "f8")[used]
            if points.shape[1] == 2:
                points = np.column_stack([points, np.zeros(len(points))])
            return points, kind, number.reshape(all_cells.shape)
    raise ValueError("the mesh has neither tets nor triangles nor lines, but %s" % sorted({b.type for b in mesh.cells}))


def write_mesh(stem: str, points: Any, kind: str, cells: Any) -> str:
    """Writes a mesh that mesh-prep reads, coordinates to the last bit; returns its path."""
    x, c = np.asarray(points, "f8"), np.asarray(cells)
    corners = {"tets": 4, "triangles": 3, "segments": 2}[kind]
    if x.ndim != 2 or x.shape[1] != 3:
        raise ValueError("points of shape %s, expected [n, 3]" % (x.shape,))
    if c.ndim != 2 or c.shape[1] != corners or not np.issubdtype(c.dtype, np.integer):
        raise ValueError("%s of shape %s and type %s, expected integers [n, %d]" % (kind, c.shape, c.dtype, corners))
    if c.size and not (0 <= c.min() and c.max() < len(x)):
        raise ValueError("%s name points %d to %d, there are %d" % (kind, c.min(), c.max(), len(x)))
    if kind == "segments":
        with open(stem + ".seg", "w") as f:
            f.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in x)
            f.writelines("s %d %d\n" % tuple(s + 1) for s in c)
        return stem + ".seg"
    if kind == "triangles":
        with open(stem + ".obj", "w") as f:
            f.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in x)
            f.writelines("f %d %d %d\n" % tuple(t + 1) for t in c)
        return stem + ".obj"
    with open(stem + ".msh", "w") as f:
        f.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(x))
        f.writelines("%d %.17g %.17g %.17g\n" % (i + 1, *p) for i, p in enumerate(x))
        f.write("$EndNodes\n$Elements\n%d\n" % len(c))
        f.writelines("%d 4 0 %d %d %d %d\n" % (i + 1, *(t + 1)) for i, t in enumerate(c))
        f.write("$EndElements\n")
    return stem + ".msh"


def to_meshio(frame: Any) -> Any:
    """A frame as a meshio.Mesh: tets, shells, else the triangles that touch; displacement, velocity and every array with a row
    per node as point data, the object as `object`.  Needs meshio.

        abut.to_meshio(run[-1]).write("last.vtu")
    """
    import meshio

    model, nodes = frame.model, len(frame.x)
    cells = [(kind, np.asarray(model[name])) for kind, name in (("tetra", "tet/node"), ("triangle", "shell/node")) if name in model]
    if not cells and "contact/triangle" in model and "contact/node" in model:
        cells = [("triangle", model["contact/node"][model["contact/triangle"]])]
    if not cells:
        cells = [("line", np.asarray(model["rod/node"]))] if "rod/node" in model else [("vertex", np.arange(nodes)[:, None])]
    data = {"displacement": frame.x - model["node/X"], "velocity": np.asarray(frame.v), "object": np.asarray(model["node/object"])}
    for name in frame:
        if name not in ("node/x", "node/v") and not isinstance(frame[name], str) and frame[name].shape[:1] == (nodes,):
            data[name] = np.asarray(frame[name])
    return meshio.Mesh(np.asarray(frame.x), cells, point_data=data)
