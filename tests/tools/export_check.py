#!/usr/bin/env python3
"""Readers of what export writes, made from the specifications of the formats and not from export; numpy only.

    export_check.py vtu DIR STREAM [NAME ...]     .vtu and scene.pvd against the frames of the stream
    export_check.py contact DIR DIR | obj DIR STREAM | ply DIR STREAM | glb FILE STREAM | table CSV JSON STREAM REPORT | with CSV DIR STREAM | png FILE W H

Exits 1 with the first thing that is wrong.
"""
import base64
import csv
import json
import os
import re
import struct
import sys
import xml.etree.ElementTree as ET
import zlib

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "formats", "python"))
import abut_stream  # noqa: E402


def need(ok, *what):
    if not ok:
        sys.exit("export_check: " + " ".join(str(w) for w in what))


def load(path):
    items = list(abut_stream.read(path))
    return items[0], items[1:]


def close(a, b, tol, *what, least=1e-300):
    """Relative to the largest number of b, or to `least` where rounding of such numbers is all there is."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    need(a.shape == b.shape, *what, "shapes", a.shape, b.shape)
    scale = max(least, np.abs(b).max(initial=0))
    need(np.array_equal(np.isnan(a), np.isnan(b)), *what, "NaN in other places")
    off = np.abs(np.nan_to_num(a - b)).max(initial=0)
    need(off <= tol * scale, *what, "off by", off, "of", scale)


def names(model):
    return model["object/name"].split("\n")[:-1] if model["object/name"].endswith("\n") else model["object/name"].split("\n")


def numbers(objects):
    """How many rows of the same object come before each."""
    n = np.empty(len(objects), int)
    for o in np.unique(objects):
        n[objects == o] = np.arange((objects == o).sum())
    return n


def rows(objects, o, number):
    """The rows that have these numbers within these objects."""
    at = {k: i for i, k in enumerate(zip(objects.tolist(), numbers(objects).tolist()))}
    return np.array([at[k] for k in zip(o.tolist(), number.tolist())], int)


# ---- VTK XML ----

def vtk_array(e):
    """One DataArray: inline base64, a header of uint64 [blocks, block size, last size, sizes...], zlib blocks."""
    dtype = {"Float64": "<f8", "Float32": "<f4", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}[e.get("type")]
    if e.get("format") == "ascii":
        return np.array(e.text.split(), dtype)
    text = e.text.strip()
    blocks = struct.unpack("<Q", base64.b64decode(text[:12])[:8])[0]
    size = (3 + blocks) * 8
    n = (size + 2) // 3 * 4
    head = struct.unpack("<%dQ" % (3 + blocks), base64.b64decode(text[:n])[:size])
    packed, at, out = base64.b64decode(text[n:]), 0, b""
    for k in range(blocks):
        piece = zlib.decompress(packed[at:at + head[3 + k]])
        need(len(piece) == (head[2] if k == blocks - 1 and head[2] else head[1]), "block", k, "has", len(piece), "bytes")
        at += head[3 + k]
        out += piece
    need(at == len(packed), e.get("Name"), "bytes left behind the blocks")
    width = int(e.get("NumberOfComponents", 1))
    a = np.frombuffer(out, dtype)
    return a.reshape(-1, width) if width > 1 else a


def vtk_grid(path):
    root = ET.parse(path).getroot()
    need(root.attrib == {"type": "UnstructuredGrid", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64",
                         "compressor": "vtkZLibDataCompressor"}, path, root.attrib)
    piece = root.find("UnstructuredGrid/Piece")
    read = lambda where: {e.get("Name"): vtk_array(e) for e in piece.findall(where + "/DataArray")}
    g = {"point": read("PointData"), "cell": read("CellData"), "cells": read("Cells"), "x": read("Points")["Points"],
         "time": vtk_array(root.find("UnstructuredGrid/FieldData/DataArray"))[0]}
    need(len(g["x"]) == int(piece.get("NumberOfPoints")), path, "points")
    need(len(g["cells"]["types"]) == int(piece.get("NumberOfCells")), path, "cells")
    for k, a in g["point"].items():
        need(len(a) == len(g["x"]), path, k, len(a))
    for k, a in g["cell"].items():
        need(len(a) == len(g["cells"]["types"]), path, k, len(a))
    return g


def stress(model, x):
    """det F and von Mises stress of every tet, from the closed forms with inverse transposes."""
    X, tet, mat = model["node/X"], model["tet/node"], model["tet/material"]
    edges = lambda p: np.stack([p[tet[:, k]] - p[tet[:, 0]] for k in (1, 2, 3)], axis=2)
    F = edges(x) @ np.linalg.inv(edges(X))
    J = np.linalg.det(F)
    E, nu = model["material/young"][mat], model["material/poisson"][mat]
    mu, lam = (E / (2 * (1 + nu)))[:, None, None], (E * nu / ((1 + nu) * (1 - 2 * nu)))[:, None, None]
    FiT, j = np.swapaxes(np.linalg.inv(F), 1, 2), J[:, None, None]
    U, s, Vt = np.linalg.svd(F)
    neo = mu * (F - FiT) + lam * np.log(j) * FiT
    corotated = 2 * mu * (F - U @ Vt) + lam * (j - 1) * j * FiT
    P = np.where((model["material/model"][mat] == 0)[:, None, None], neo, corotated)
    sigma = P @ np.swapaxes(F, 1, 2) / j
    dev = sigma - np.trace(sigma, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    return J, np.sqrt(1.5 * (dev ** 2).sum((1, 2))), F, sigma


def check_solids(g, model, f, extra):
    node = rows(model["node/object"], g["point"]["object"], g["point"]["node"])
    tet = rows(model["node/object"][model["tet/node"][:, 0]], g["cell"]["object"], g["cell"]["tet"])
    need(np.array_equal(tet, np.arange(len(model["tet/node"]))), "tets")
    need(set(g["cells"]["types"]) == {10} and np.array_equal(g["cells"]["offsets"], 4 * np.arange(1, len(tet) + 1)), "cells")
    need(np.array_equal(node[g["cells"]["connectivity"]].reshape(-1, 4), model["tet/node"]), "connectivity")
    J, mises, F, sigma = stress(model, f["node/x"])
    close(g["cell"]["J"], J, 1e-12, "J")
    close(g["cell"]["von_mises_stress"], mises, 1e-12, "von Mises stress", least=model["material/young"].max())
    if "cauchy_stress" in g["cell"]:
        close(g["cell"]["cauchy_stress"], sigma.reshape(-1, 9), 1e-12, "Cauchy stress", least=model["material/young"].max())
        close(g["cell"]["deformation_gradient"], F.reshape(-1, 9), 1e-12, "deformation gradient", least=1)
    need(np.array_equal(g["cell"]["material"], model["tet/material"]), "material")
    for k in extra:
        where = g["point"] if k.startswith("node/") else g["cell"]
        need(k in where, "array", k, "is missing")
        a, b = where[k], f[k][node if k.startswith("node/") else tet]
        need(a.dtype == b.dtype and np.array_equal(a, b.reshape(a.shape)), "array", k)


def check_shells(g, model, f):
    """Stretches by the singular values of F, strains by F^T F, angles by the normals of the triangles."""
    shell, x = model["shell/node"], f["node/x"]
    row = rows(model["node/object"][shell[:, 0]], g["cell"]["object"], g["cell"]["shell"])
    node = rows(model["node/object"], g["point"]["object"], g["point"]["node"])
    need(np.array_equal(row, np.arange(len(shell))) and set(g["cells"]["types"]) == {5}, "shells")
    need(np.array_equal(node[g["cells"]["connectivity"]].reshape(-1, 3), shell), "connectivity")
    edges = np.stack([x[shell[:, k]] - x[shell[:, 0]] for k in (1, 2)], axis=2)
    F = edges @ np.linalg.inv(model["shell/rest"].reshape(-1, 2, 2))
    s = np.linalg.svd(F, compute_uv=False)
    E = 0.5 * (np.swapaxes(F, 1, 2) @ F - np.eye(2))
    for k, want in (("sigma_1", s[:, 0]), ("sigma_2", s[:, 1]), ("strain_warp", E[:, 0, 0]), ("strain_weft", E[:, 1, 1]),
                    ("strain_shear", E[:, 0, 1])):
        close(g["cell"][k], want, 1e-11, k, least=1)
    bend = np.zeros(len(shell))
    for v, rest in zip(model["hinge/node"], model["hinge/angle"]):
        p = x[v]
        a, b = np.cross(p[1] - p[0], p[2] - p[0]), np.cross(p[3] - p[0], p[1] - p[0])
        angle = np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)) * -np.sign(a @ (p[3] - p[0]))
        for t in np.flatnonzero((shell[:, :, None] == v[None, None, :2]).any(1).all(1)):
            if abs(angle - rest) > abs(bend[t]):
                bend[t] = angle - rest
    close(g["cell"]["hinge_angle"], bend, 1e-6, "hinge_angle", least=1)
    need(np.array_equal(g["cell"]["thickness"], model["shell/thickness"]), "thickness")
    need(np.array_equal(g["cell"]["material"], model["shell/material"]), "material")


def check_vtu(folder, stream, extra):
    model, frames = load(stream)
    sets = ET.parse(os.path.join(folder, "scene.pvd")).getroot().findall("Collection/DataSet")
    times = sorted({float(d.get("timestep")) for d in sets})
    need(times == [f.time for f in frames], "times", times)
    for f in frames:
        seen = []
        for d in sets:
            if float(d.get("timestep")) != f.time:
                continue
            g = vtk_grid(os.path.join(folder, d.get("file")))
            node = rows(model["node/object"], g["point"]["object"], g["point"]["node"])
            seen += list(node)
            need(g["time"] == f.time, "time")
            need(np.array_equal(g["x"], f["node/x"][node]), "points")
            need(np.array_equal(g["point"]["velocity"], f["node/v"][node]), "velocity")
            need(np.array_equal(g["point"]["object"], model["node/object"][node]), "object")
            need(np.array_equal(g["point"]["displacement"], f["node/x"][node] - model["node/X"][node]), "displacement")
            if "node/contact-force" in f.arrays:
                close(g["point"]["contact_force"], f["node/contact-force"][node], 1e-9, "contact force")
            for kind in ("friction", "damping", "reaction"):
                got, told = g["point"][kind + "_force"], "node/contact-force" in f.arrays
                want = f["node/%s-force" % kind][node] if "node/%s-force" % kind in f.arrays else np.full(got.shape, 0. if told else np.nan)
                need(np.array_equal(got, want, equal_nan=True), kind, "force")
            if d.get("part") == "0":
                check_solids(g, model, f, extra)
            elif d.get("part") == "2":
                check_shells(g, model, f)
            else:
                need("shell/node" in model.arrays or sorted(set(g["cells"]["types"])) == [1, 3, 5], "cell types", set(g["cells"]["types"]))
                need(g["cells"]["offsets"][-1] == len(g["cells"]["connectivity"]), "offsets")
        need(sorted(seen) == list(range(len(model["node/X"]))), "every node once")


# ---- OBJ and PLY ----

def closed(tri):
    """Every edge of a closed, oriented surface runs once each way."""
    e = np.concatenate([tri[:, [0, 1]], tri[:, [1, 2]], tri[:, [2, 0]]])
    there = {tuple(r) for r in e}
    return len(there) == len(e) and all((b, a) in there for a, b in there)


def surface_nodes(model, obj):
    """Nodes that the collision mesh of an object uses."""
    n = np.unique(model["contact/node"])
    return n[model["node/object"][n] == obj]


def check_obj(folder, stream):
    model, frames = load(stream)
    for k, f in enumerate(frames):
        x, groups, kinds = [], [], {"f": [], "l": [], "p": []}
        for line in open(os.path.join(folder, "frame_%04d.obj" % k)):
            w = line.split()
            if w[0] == "v":
                x.append([float(c) for c in w[1:]])
            elif w[0] == "o":
                groups.append((w[1], len(x)))
            elif w[0] in kinds:
                kinds[w[0]].append([int(i) - 1 for i in w[1:]])
        need([g[0] for g in groups] == [n for i, n in enumerate(names(model)) if len(surface_nodes(model, i))], "groups", groups)
        want = np.concatenate([f["node/x"][surface_nodes(model, i)] for i in range(len(names(model)))])
        need(np.array_equal(np.array(x), want), "frame", k, "vertices are not the same doubles")
        tri = np.array(kinds["f"])
        need(closed(tri[tri[:, 0] < groups[2][1]]), "the bodies are not closed")
        need(len(tri) == len(model["contact/triangle"]), "triangles")
        need(len(kinds["l"]) == 4 and len(kinds["p"]) == 6, "segments and points")


def check_ply(folder, stream):
    model, frames = load(stream)
    for k, f in enumerate(frames):
        data = open(os.path.join(folder, "frame_%04d.ply" % k), "rb").read()
        head, body = data.split(b"end_header\n", 1)
        count = {e: int(n) for e, n in re.findall(r"element (\w+) (\d+)", head.decode())}
        vertex = np.dtype([("x", "<f8", 3), ("v", "<f4", 3), ("rgb", "u1", 3), ("object", "<i4"), ("node", "<i4")])
        face = np.dtype([("n", "u1"), ("v", "<i4", 3)])
        sizes = [count["vertex"] * vertex.itemsize, count["face"] * face.itemsize, count["edge"] * 8]
        need(sum(sizes) == len(body), "bytes", sum(sizes), len(body))
        v = np.frombuffer(body, vertex, count["vertex"])
        t = np.frombuffer(body, face, count["face"], sizes[0])
        e = np.frombuffer(body, "<i4", 2 * count["edge"], sizes[0] + sizes[1])
        node = rows(model["node/object"], v["object"], v["node"])
        need(np.array_equal(v["x"], f["node/x"][node]), "positions")
        need(np.array_equal(v["v"], f["node/v"][node].astype("f4")), "velocities")
        need(sorted(node) == sorted(i for o in range(len(names(model))) for i in surface_nodes(model, o)), "nodes")
        need((t["n"] == 3).all() and len(e) == 8, "faces and edges")
        tri = {tuple(r) for r in np.sort(node[t["v"]], axis=1)}
        need(tri == {tuple(r) for r in np.sort(model["contact/node"][model["contact/triangle"]], axis=1)}, "triangles")


# ---- glTF ----

def glb(path):
    data = open(path, "rb").read()
    magic, version, length = struct.unpack("<4sII", data[:12])
    need((magic, version, length) == (b"glTF", 2, len(data)), "head", magic, version, length, len(data))
    n, kind = struct.unpack("<I4s", data[12:20])
    need(kind == b"JSON" and n % 4 == 0, "JSON chunk")
    doc = json.loads(data[20:20 + n])
    m, kind = struct.unpack("<I4s", data[20 + n:28 + n])
    need(kind == b"BIN\0" and m % 4 == 0 and 28 + n + m == len(data) and doc["buffers"] == [{"byteLength": m}], "BIN chunk")
    need(max(v["byteOffset"] + v["byteLength"] for v in doc["bufferViews"]) == m, "the buffer is longer than its views")
    return doc, data[28 + n:]


def accessor(doc, buf, i):
    a = doc["accessors"][i]
    view = doc["bufferViews"][a["bufferView"]]
    dtype, size = {5125: ("<u4", 4), 5126: ("<f4", 4)}[a["componentType"]]
    width = {"SCALAR": 1, "VEC3": 3}[a["type"]]
    at, stride = a.get("byteOffset", 0), view.get("byteStride", size * width)
    need(stride == size * width and at % 4 == 0, "accessor", i, "stride or offset")
    need(at + a["count"] * stride <= view["byteLength"], "accessor", i, "runs out of its view")
    need(view["byteOffset"] + view["byteLength"] <= len(buf), "view", a["bufferView"], "runs out of the buffer")
    v = np.frombuffer(buf, dtype, a["count"] * width, view["byteOffset"] + at).reshape(-1, width)
    if "min" in a:
        need(np.array_equal(np.array(a["min"], "f4"), v.min(0)) and np.array_equal(np.array(a["max"], "f4"), v.max(0)),
             "accessor", i, "min and max")
    return v


def unit(n):
    return np.abs(np.linalg.norm(n, axis=1) - 1).max() < 1e-5


def check_mesh(doc, buf, mesh, model, obj, frames):
    """Every primitive at every frame: its vertices are nodes of the object, where the stream has them."""
    nodes = surface_nodes(model, obj)
    moves = any(not np.array_equal(f["node/x"][nodes].astype("f4"), frames[0]["node/x"][nodes].astype("f4")) for f in frames)
    for prim in mesh["primitives"]:
        base = accessor(doc, buf, prim["attributes"]["POSITION"])
        need("min" in doc["accessors"][prim["attributes"]["POSITION"]], "POSITION without bounds")
        index = accessor(doc, buf, prim["indices"])
        need(index.max() < len(base) and len(np.unique(index)) == len(base), "indices")
        start = frames[0]["node/x"][nodes].astype("f4")
        of = np.array([np.flatnonzero((start == p).all(1))[0] for p in base])
        need(len(prim.get("targets", [])) == (len(frames) - 1 if moves else 0), "morph targets")
        for k, target in enumerate(prim.get("targets", [])):
            need("min" in doc["accessors"][target["POSITION"]], "morph POSITION without bounds")
            now = base + accessor(doc, buf, target["POSITION"])
            close(now, frames[k + 1]["node/x"][nodes][of], 1e-6, "morph", k)
            if "NORMAL" in target:
                need(unit(accessor(doc, buf, prim["attributes"]["NORMAL"]) + accessor(doc, buf, target["NORMAL"])), "normals", k)
        if prim["mode"] == 4:
            n, t = accessor(doc, buf, prim["attributes"]["NORMAL"]), index.reshape(-1, 3)
            need(unit(n), "normals")
            flat = np.cross(base[t[:, 1]] - base[t[:, 0]], base[t[:, 2]] - base[t[:, 0]])
            need(((n[t] * flat[:, None, :]).sum(2) > 0).all(), "normals against their triangles")
    need(len(mesh.get("weights", [])) == (len(frames) - 1 if moves else 0), "weights")
    return moves


def check_glb(path, stream):
    model, frames = load(stream)
    doc, buf = glb(path)
    need(doc["asset"]["version"] == "2.0", "version")
    objects = [i for i in range(len(names(model))) if len(surface_nodes(model, i))]
    planes = len(model["half-space/point"])
    need(len(doc["meshes"]) == len(objects) + planes == len(doc["materials"]), "meshes", len(doc["meshes"]))
    moving = set()
    for i, obj in enumerate(objects):
        need(doc["meshes"][i]["name"] == names(model)[obj], "name", doc["meshes"][i]["name"])
        if check_mesh(doc, buf, doc["meshes"][i], model, obj, frames):
            moving.add(i)
    for i in range(planes):
        prim = doc["meshes"][len(objects) + i]["primitives"][0]
        gap = (accessor(doc, buf, prim["attributes"]["POSITION"]) - model["half-space/point"][i]) @ model["half-space/normal"][i]
        need(np.abs(gap).max() < 1e-6, "half-space", i)
    nodes = doc["nodes"]
    need(doc["scenes"][doc["scene"]]["nodes"] == [0] and nodes[0]["children"] == list(range(1, len(nodes))), "nodes")
    every = [names(model)[obj] for obj in objects] + model["half-space/name"].split("\n")[:planes]
    need([n["name"] for n in nodes[1:]] == every == [m["name"] for m in doc["meshes"]], "names", [n["name"] for n in nodes[1:]])
    need([doc["materials"][m["primitives"][0]["material"]]["name"] for m in doc["meshes"]] == every, "names of materials")
    anim, = doc["animations"]
    sampler, = anim["samplers"]
    need({nodes[c["target"]["node"]]["mesh"] for c in anim["channels"]} == moving, "animated nodes")
    time, weight = accessor(doc, buf, sampler["input"]), accessor(doc, buf, sampler["output"])
    close(time.ravel(), [f.time - frames[0].time for f in frames], 1e-6, "times")
    n = len(frames)
    need(np.array_equal(weight.reshape(n, n - 1), np.eye(n, n - 1, -1)), "weights of the animation")


def check_contact(folder, given):
    """The contact forces that export computes are those that step wrote."""
    seen = 0.0
    for name in sorted(os.listdir(given)):
        if not name.endswith(".vtu"):
            continue
        a, b = (vtk_grid(os.path.join(d, name))["point"]["contact_force"] for d in (folder, given))
        first = name.endswith("_0000.vtu")      # tells no stiffness
        need(first or np.isfinite(b).all(), name, "forces are numbers")
        if not first:
            close(a, b, 1e-9, "contact force", name, least=1e-9)
            seen = max(seen, abs(b).max())
    need(seen > 0, "nothing touches")


# ---- tables ----

def check_table(csv_path, json_path, stream, report):
    model, frames = load(stream)
    rows = list(csv.DictReader(open(csv_path)))
    doc = json.load(open(json_path))
    need(len(rows) == len(frames) == len(doc["rows"]) and doc["columns"] == list(rows[0]), "rows and columns")
    for r, j in zip(rows, doc["rows"]):
        need({k: float(v) if v else None for k, v in r.items()} == j, "CSV and JSON differ")
    value = lambda c: np.array([r[c] if r[c] is not None else np.nan for r in doc["rows"]])
    body = model["node/role"] != 2
    m = model["node/mass"][body]
    x = np.array([f["node/x"][body] for f in frames])
    v = np.array([f["node/v"][body] for f in frames])
    close(value("kinetic_J"), 0.5 * ((v ** 2).sum(2) @ m), 1e-12, "kinetic energy")
    close(value("gravity_J"), -(x @ model["world/gravity"]) @ m, 1e-12, "gravity")
    close(value("total_J"), value("kinetic_J") + value("elastic_J") + value("gravity_J"), 1e-14, "total")
    for d, c in enumerate("xyz"):
        close(value("momentum_%s_Ns" % c), v[:, :, d] @ m, 1e-9, "momentum", c)
        close(value("angular_%s_Nms" % c), np.cross(x, v)[:, :, d] @ m, 1e-9, "angular momentum", c)
    for i, name in enumerate(names(model)):
        of = model["node/object"] == i
        w = model["node/mass"][of] / model["node/mass"][of].sum()
        for d, c in enumerate("xyz"):
            close(value("%s.%s_m" % (name, c)), [w @ f["node/x"][of, d] for f in frames], 1e-9, "centre of", name, least=1)
            close(value("%s.v%s_m/s" % (name, c)), [w @ f["node/v"][of, d] for f in frames], 1e-9, "velocity of", name, least=1)
    close(value("min_det_F"), [stress(model, f["node/x"])[0].min() for f in frames], 1e-12, "smallest det F")
    steps = {r["step"]: r for r in map(json.loads, open(report))}
    pairs = (("elastic_J", "elastic_energy"), ("kinetic_J", "kinetic_energy"), ("min_det_F", "min_jacobian"), ("gap_m", "min_gap"),
             ("kappa", "kappa"), ("time_s", "time"))
    known = [r for r in doc["rows"] if r["step"] in steps]
    need(known, "no row has its line in the report")
    for column, key in pairs:
        close([r[column] for r in known], [steps[r["step"]][key] for r in known], 1e-9, column, "and the report of step")
    close([r["contacts"] for r in known], [steps[r["step"]]["contacts"] + steps[r["step"]]["half_space_contacts"] for r in known],
          0, "contacts and the report of step")


COLUMNS = {"barrier_J": "energy/barrier", "creep_max_m/s": "contact/creep-max", "creep_mean_m/s": "contact/creep-mean",
           "sticking_contacts": "contact/sticking", "sliding_contacts": "contact/sliding", "iterations": "step/iterations"}
for _work in ("friction", "damping", "reaction", "load", "stiffness", "numerical"):
    COLUMNS[_work + "_work_J"] = "work/" + _work
    COLUMNS[_work + "_total_J"] = "work/" + _work + "-total"


def check_with(csv_path, nodes, stream):
    """What step --with forces,energies left: columns of the table, files of nodes, and their sums."""
    model, frames = load(stream)
    rows = list(csv.DictReader(open(csv_path)))
    body = model["node/role"] != 2
    for r, f in zip(rows, frames):
        for column, name in COLUMNS.items():
            need((float(r[column]) if r[column] else None) == (f[name] if name in f.arrays else None), column, r[column])
        each = list(csv.DictReader(open("%s/nodes_%04d.csv" % (nodes, int(r["frame"])))))
        need([int(n["node"]) for n in each] == list(numbers(model["node/object"])), "a row for every node")
        need([n["object"] for n in each] == [names(model)[i] for i in model["node/object"]], "objects")
        for d, c in enumerate("xyz"):
            need([float(n[c + "_m"]) for n in each] == list(f["node/x"][:, d]), "positions")
            for kind in ("contact", "friction", "reaction"):
                array = "node/%s-force" % kind
                if array not in f.arrays:
                    need(r["%s_%s_N" % (kind, c)] == "", "a resultant of nothing")
                    continue
                F = f[array][:, d]
                need([float(n["%s_force_%s_N" % (kind, c)]) for n in each] == list(F), kind, "forces of nodes")
                close([float(r["%s_%s_N" % (kind, c)])], [F[body].sum()], 1e-9, kind, "resultant", least=1)
                if kind != "reaction":          # the floor takes what everything else does not
                    close([float(r["floor.%s_%s_N" % (kind, c)])], [-F.sum()], 1e-9, kind, "on the floor", least=1)
                else:
                    close([float(r["floor.reaction_%s_N" % c])],
                          [(f["node/contact-force"] + f["node/friction-force"])[:, d].sum()], 1e-9, "of the floor", least=1)
                for i, name in enumerate(names(model)):
                    close([float(r["%s.%s_%s_N" % (name, kind, c)])], [F[model["node/object"] == i].sum()], 1e-9, kind, name, least=1)
    E = [float(r["total_J"]) + float(r["barrier_J"]) for r in rows[1:]]
    spent = [sum(float(r[w + "_total_J"]) for w in ("friction", "damping", "reaction", "load", "stiffness", "numerical")) for r in rows[1:]]
    close(np.diff(E), np.diff(spent), 1e-9, "the balance of energy", least=abs(E[0]))
    need(abs(spent[-1]) > 0, "something happens")


# ---- PNG ----

def png(path):
    data = open(path, "rb").read()
    need(data[:8] == b"\x89PNG\r\n\x1a\n", "signature")
    at, idat, order = 8, b"", []
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        need(struct.unpack(">I", data[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body), "CRC of", kind)
        order.append(kind)
        if kind == b"IHDR":
            w, h, depth, color, packing, filtering, lace = struct.unpack(">IIBBBBB", body)
            need((depth, color, packing, filtering, lace) == (8, 2, 0, 0, 0), "IHDR")
        if kind == b"IDAT":
            idat += body
        at += 12 + n
    need(order[0] == b"IHDR" and order[-1] == b"IEND", order)
    raw = np.frombuffer(zlib.decompress(idat), "u1").reshape(h, 3 * w + 1)
    out = np.zeros((h + 1, 3 * w + 3), int)         # a row above and a pixel to the left, zero
    for y in range(h):
        kind, line, up = raw[y, 0], raw[y, 1:].astype(int), out[y]
        row = out[y + 1]
        if kind == 0:
            row[3:] = line
        elif kind == 2:
            row[3:] = (line + up[3:]) % 256
        else:
            for i in range(3 * w):
                a, b, c = row[i], up[i + 3], up[i]
                p = a + b - c
                paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
                row[i + 3] = (line[i] + {1: a, 3: (a + b) // 2, 4: paeth}[kind]) % 256
    return out[1:, 3:].reshape(h, w, 3)


def check_png(path, w, h):
    """A picture of that size that shows something coloured on a quiet ground, and dark letters in its corner."""
    im = png(path)
    need(im.shape == (h, w, 3), "size", im.shape)
    colored = (im.max(2) - im.min(2) > 60).mean()
    need(0.01 < colored < 0.7, "share of coloured pixels", colored)
    need((im[:h // 8, :w // 3].max(2) < 90).sum() > 20, "no letters in the corner")
    need(im[0].std() < 12, "the upper edge is not background")


def gif(path):
    """The pictures of a GIF as they are shown, and the hundredths of a second of each."""
    b = open(path, "rb").read()
    need(b[:6] == b"GIF89a" and b[-1:] == b"\x3b", "no whole GIF")
    w, h = struct.unpack_from("<HH", b, 6)
    shown, at = np.zeros((h, w, 3), "u1"), 13 + 19
    while b[at] != 0x3b:
        need(b[at:at + 3] == b"\x21\xf9\x04", "no control block")
        hundredths = struct.unpack_from("<H", b, at + 4)[0]
        x, y, pw, ph = struct.unpack_from("<HHHH", b, at + 9)
        palette = np.frombuffer(b, "u1", 768, at + 18).reshape(256, 3)
        at += 18 + 768 + 1
        data = b""
        while b[at]:
            data += b[at + 1:at + 1 + b[at]]
            at += 1 + b[at]
        at += 1
        shown = shown.copy()
        shown[y:y + ph, x:x + pw] = palette[lzw(data)].reshape(ph, pw, 3)
        yield shown, hundredths


def lzw(data):
    """Codes of 9 to 12 bits, 256 clears, 257 ends."""
    stream, have, width, out, table, before = 0, 0, 9, [], [], None
    for byte in data:
        stream |= byte << have
        have += 8
        while have >= width:
            code, stream, have = stream & ((1 << width) - 1), stream >> width, have - width
            if code == 257:
                return np.frombuffer(b"".join(out), "u1")
            if code == 256:
                table, before, width = [bytes([i]) for i in range(256)] + [b"", b""], None, 9
                continue
            word = table[code] if code < len(table) else before + before[:1]
            if before is not None and len(table) < 4096:
                table.append(before + word[:1])
                if len(table) == 1 << width and width < 12:
                    width += 1
            out.append(word)
            before = word
    need(False, "the codes end early")


def check_film(path, folder, hundredths):
    """The pictures of a GIF are those of a folder, in 256 colours."""
    films, files = list(gif(path)), sorted(os.listdir(folder))
    need(len(films) == len(files), "pictures", len(films))
    for (im, time), name in zip(films, files):
        off = np.abs(im.astype("i4") - png(os.path.join(folder, name)))
        need(time == int(hundredths) and off.mean() < 2 and off.max() < 60, name, time, off.mean(), off.max())


def main(what, *args):
    if what == "vtu":
        check_vtu(args[0], args[1], args[2:])
    elif what == "png":
        check_png(args[0], int(args[1]), int(args[2]))
    else:
        {"obj": check_obj, "ply": check_ply, "glb": check_glb, "table": check_table, "contact": check_contact, "with": check_with,
         "film": check_film}[what](*args)


if __name__ == "__main__":
    main(*sys.argv[1:])
