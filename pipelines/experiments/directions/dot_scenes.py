"""Scenes of decomposed optimisation (Li 2020, chapter 3, and the public scripts of it): bodies of 1 m whose ends are twisted, stretched
and squashed, or that are pulled like a rubber band.

    dot_scenes.py                  names the scenes
    dot_scenes.py NAME [MOTION]    a scene as YAML
    dot_scenes.py --pull OBJECT    one of any body: OBJECT is the key of an object that makes its mesh
    ABUT_DATA=../shared/data       meshes of the public IPC code, ipc/input/tetMeshes; a scene without its mesh ends with status 3

Common to all: h 25 ms, fixed corotated, 1000 kg/m^3, E 1e5 Pa, nu 0.4, g 9.80665 along -y, no contact; handles are the outermost 1 % at
both ends along x (monkey: 2 %).  What is published of a scene, and where ours is another mesh, is in SCENES."""
import math
import os
import sys

H = 0.025
MESHES = os.path.join(os.environ.get("ABUT_DATA") or "../shared/data", "ipc/input/tetMeshes")

# speed of an end, m/s; displacements at which it reverses, outward and inward, m; twist of an end, deg/s; seconds
MOTIONS = {
    "TSS": (0.9, 0.8, 0.4, 72, 10),         # twist, stretch, squash
    "LTSS": (1.2, 1.2, 0.4, 72, 10),        # the same, larger
    "SS": (0.9, 0.8, 0.4, 0, 10),           # without the twist
    "stretch": (0.1, None, None, 0, 10),
    "twist": (0, None, None, 18, 5),
}


def capsules(rows):
    """rows: from, to, radius; to None: a ball"""
    return ", ".join("{from: %s, %sradius: %g}" % (list(a), "to: %s, " % list(b) if b else "", r) for a, b, r in rows)


def blob(cell, rows, blend=0.02):
    return "generate: {blob: {cell: %g, snap: true, blend: %g, capsules: [%s]}}" % (cell, blend, capsules(rows))


# Generated in place of meshes that are not public: thick and thin parts, the number of nodes of the published mesh.
HORSE = [([-0.22, 0, 0], [0.2, 0.02, 0], 0.1), ([0.2, 0.05, 0], [0.38, 0.25, 0], 0.055), ([0.38, 0.26, 0], [0.52, 0.18, 0], 0.04),
         ([0.18, -0.05, 0.05], [0.2, -0.42, 0.06], 0.03), ([0.18, -0.05, -0.05], [0.2, -0.42, -0.06], 0.03),
         ([-0.22, -0.05, 0.05], [-0.24, -0.42, 0.06], 0.035), ([-0.22, -0.05, -0.05], [-0.24, -0.42, -0.06], 0.035),
         ([-0.28, 0.05, 0], [-0.48, -0.1, 0], 0.022)]
APE = [([0, -0.1, 0], [0, 0.18, 0.02], 0.13), ([0, 0.36, 0.04], None, 0.09), ([0.1, 0.2, 0], [0.36, 0.12, 0.03], 0.055),
       ([0.36, 0.12, 0.03], [0.52, -0.12, 0.08], 0.045), ([-0.1, 0.2, 0], [-0.36, 0.12, 0.03], 0.055),
       ([-0.36, 0.12, 0.03], [-0.52, -0.12, 0.08], 0.045), ([0.08, -0.2, 0], [0.13, -0.45, 0], 0.06),
       ([-0.08, -0.2, 0], [-0.13, -0.45, 0], 0.06)]
BOX = "generate: {box: {size: [1, 0.25, 0.25], cells: [%d, %d, %d]}}"

# name: mesh file or key of an object, motion, published nodes, what differs
SCENES = {
    "bar17K": (BOX % (60, 16, 16), "twist", 17629, "cells of our own"),
    "bunny5K": ("bunny.msh", "LTSS", 4670, "the published mesh"),
    "monkey18K": ("monkey8K.msh", "TSS", 18388, "the same shape with 12448 nodes"),
    "hollowCat24K": ("hollowCat7.5K.msh", "TSS", 24000, "the same shape with 12827 nodes"),
    "armadillo27K": ("Armadillo13K.msh", "RBP", 27000, "the same shape with 13230 nodes"),
    "horse7K": (blob(0.0175, HORSE), "stretch", 7000, "a generated shape"),
    "horse38K": (blob(0.0095, HORSE), "TSS", 38000, "a generated shape"),
    "kingkong18K": (blob(0.0147, APE), "TSS", 18000, "a generated shape"),
}


def fail(text, status):
    print("dot_scenes: " + text, file=sys.stderr)
    sys.exit(status)


def legs(motion):
    """(first step, steps, 1 outward or -1 inward) of the ends: they reverse after the step in which they reach a bound."""
    speed, outward, inward, _, seconds = MOTIONS[motion]
    each = speed * H
    found, at, sign, place = [], 0, 1, 0.0
    while at * H < seconds - 1e-9:
        n = round(seconds / H) - at
        if outward is not None:
            left = outward - place if sign > 0 else place + inward
            n = min(n, math.ceil(left / each - 1e-9))
        found.append((at, n, sign))
        place += sign * n * each
        at, sign = at + n, -sign
    return found


def reversals(motion):
    """Steps that begin with the ends reversed."""
    return [at for at, _, _ in legs(motion)[1:]] if motion in MOTIONS else []


def ends(motion, share):
    """Selections and motions of both ends."""
    speed, twist = MOTIONS[motion][0], MOTIONS[motion][3]
    text = "selections:\n"
    for name, box in (("left", [[-1, -1, -1], [share, 2, 2]]), ("right", [[1 - share, -1, -1], [2, 2, 2]])):
        text += "  %s: {object: body, relative-box: %s}\n" % (name, box)
    text += "motion:\n"
    parts = legs(motion)
    for first, n, sign in parts:
        for name, side in (("left", -1), ("right", 1)):
            rotate = ", rotate: {axis: [1, 0, 0], center: box, rate: %g deg/s}" % (-side * twist) if twist else ""
            when = ", from: %g s, until: %g s, hold: true" % (first * H, (first + n) * H) if len(parts) > 1 else ""
            text += "  - {select: %s, translate: [%g, 0, 0]%s%s}\n" % (name, side * sign * speed, rotate, when)
    return text


def rubber_band():
    """Top and bottom 2 % apart at 0.2 m/s; the middle 4 % sideways at 2.5 m/s until 5 m off, then free; the ends then stop."""
    release = 5 / 2.5
    text = "selections:\n  top: {object: body, relative-box: [[-1, 0.98, -1], [2, 2, 2]]}\n"
    text += "  bottom: {object: body, relative-box: [[-1, -1, -1], [2, 0.02, 2]]}\n"
    text += "  middle: {object: body, relative-box: [[-1, 0.48, -1], [2, 0.52, 2]]}\nmotion:\n"
    text += "  - {select: top, translate: [0, 0.2, 0], until: %g s, hold: true}\n" % release
    text += "  - {select: bottom, translate: [0, -0.2, 0], until: %g s, hold: true}\n" % release
    return text + "  - {select: middle, translate: [-2.5, 0, 0], until: %g s}\n" % release


def scene(body, motion, share=0.01, contact="off", gravity=True):
    return """abut: 1
time: {step: 25 ms}
gravity: [0, %s, 0]
fit: 1 m
contact: %s
materials: {m: {model: fixed-corotated, density: 1000, young: 1e5, poisson: 0.4}}
objects: {body: {%s, material: m}}
""" % ("-9.80665" if gravity and motion != "RBP" else "0", contact, body) + (rubber_band() if motion == "RBP" else ends(motion, share))


def named(name, motion=None):
    if name not in SCENES:
        fail("no scene '%s'; there are: %s" % (name, " ".join(SCENES)), 2)
    body, own = SCENES[name][:2]
    motion = motion or own
    if motion != "RBP" and motion not in MOTIONS:
        fail("no motion '%s'; there are: %s RBP" % (motion, " ".join(MOTIONS)), 2)
    if body.endswith(".msh"):
        path = os.path.join(MESHES, body)
        if not os.path.exists(path):
            fail("%s: no %s (ABUT_DATA)" % (name, path), 3)
        body = "mesh: " + os.path.realpath(path)
    return scene(body, motion, 0.02 if name.startswith("monkey") else 0.01)


def main(args):
    if not args:
        for name, (body, motion, nodes, differs) in SCENES.items():
            print("%-14s %-8s published with %d nodes; %s" % (name, motion, nodes, differs))
    elif args[0] == "--pull" and len(args) == 2:
        sys.stdout.write(scene(args[1], "TSS", contact=os.environ.get("CONTACT", "{dhat: 1e-4 l}")))
    else:
        sys.stdout.write(named(*args[:2]))


if __name__ == "__main__":
    main(sys.argv[1:])
