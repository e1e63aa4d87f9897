#!/usr/bin/env python3
"""Writes the scenes of nodal.sh whose places have to be computed: card house, capstan, rope.

    nodal_scenes.py FOLDER    card-house.yaml, capstan.yaml, rope.yaml there
"""
import math, os, sys


def points(rows, width=6):
    """A list of points as YAML, a few a line."""
    text = [f"[{x:.6g}, {y:.6g}, {z:.6g}]" for x, y, z in rows]
    return ",\n           ".join(", ".join(text[i:i + width]) for i in range(0, len(text), width))


def card_house(storeys=3, lean=math.radians(20), length=0.2, width=0.1, xi=1e-3, reserve=0.25e-3):
    """Fifteen shells: storeys of 3, 2, 1 pairs that lean by 20 degrees, with flat cards between storeys."""
    near = xi + reserve             # the distance at which hard contact rests
    apart = near * 1.02             # the start: a little more, so that nothing has to open
    out, y = [], apart - xi / 2     # half-spaces have half the thickness
    half = length / 2
    pitch = 2 * length * math.sin(lean) + 2 * apart / math.cos(lean) + apart
    for s in range(storeys):
        pairs, centre = storeys - s, y + half * math.cos(lean)
        for p in range(pairs):
            x = (p - (pairs - 1) / 2) * pitch
            side = half * math.sin(lean) + apart / (2 * math.cos(lean))
            for sign, name in ((-1, "left"), (1, "right")):
                # the sheet lies in x and z: turned upright, its upper side towards the middle
                out.append((f"{name}{s}{p}", x + sign * side, centre, (90 - math.degrees(lean)) * -sign))
        y += length * math.cos(lean) + apart
        for p in range(pairs - 1):      # longer than the pitch: each lies on the one before
            out.append((f"flat{s}{p}", (p - (pairs - 2) / 2) * pitch, y + p * apart, 0))
        y += (pairs - 1) * apart
    cards = "\n".join(
        f"  {n + ':':9} {{generate: {{cloth: {{size: [{length:g}, {width:g}], cells: [8, 4]}}}}, material: card, shell: {{thickness: 0.1 mm}},"
        f" contact-thickness: {1000 * xi:g} mm, rotate: {{axis: [0, 0, 1], angle: {a:g} deg}}, translate: [{x:.6f}, {h:.6f}, 0]}}"
        for n, x, h, a in out)
    return f"""# A house of fifteen cards that lean by 20 degrees, storeys of 3, 2 and 1 pairs; made by nodal_scenes.py.  A rigid
# pair stands where mu is at least tan(20 degrees)/2 = 0.182: at 0.6 the house stands, at 0.2 it comes down.
abut: 1
solver: nodal
time: {{step: 2 ms, end: 2 s}}
gravity: [0, -9.81, 0]
contact: {{dhat: 0.5 mm, friction: {{mu: 0.6, eps_v: 1e-4 m/s, lags: 20}}}}
tolerance: 1e-4 m/s
nodal: {{iterations: 50, sweeps: 10, tolerance: 1e-4 mm}}
materials:
  card: {{density: 1000, young: 50 MPa, bending-young: 400 GPa, poisson: 0.3}}
objects:
{cards}
  floor:    {{half-space: {{point: [0, 0, 0], normal: [0, 1, 0]}}}}
"""


def capstan(edges=12, radius=0.1):
    """A rope of `edges` edges over half a fixed cylinder, and one more at each side that hangs."""
    step, n = 0.02, edges
    xi, reserve = 4e-3, 0.5e-3
    r = radius + xi + reserve * 1.01
    arc = math.pi * r
    n = round(arc / step)
    # corners of the polyline outside of the circle, so that its edges do not cut it
    rows = [(-r, -3 * step * k / 3, 0) for k in (6, 5, 4, 3, 2, 1)]
    rr = r / math.cos(math.pi / (2 * n))
    rows += [(-rr * math.cos(math.pi * k / n), rr * math.sin(math.pi * k / n), 0) for k in range(n + 1)]
    rows += [(r, -step * k, 0) for k in (1, 2, 3, 4, 5, 6)]
    last = len(rows) - 1
    segs = ", ".join(f"[{i}, {i + 1}]" for i in range(last))
    return f"""# A rope over half a cylinder, pulled at both ends; made by nodal_scenes.py.  It slides where the forces differ by
# more than a factor of about exp(mu pi): 2.57 at mu 0.3.
abut: 1
solver: nodal
time: {{step: 2 ms, end: 0.4 s}}
gravity: [0, 0, 0]
damping: {{mass: 5}}
contact: {{dhat: 1 mm, friction: {{mu: 0.3, eps_v: 1e-5 m/s, lags: converged}}}}
tolerance: 1e-6 m/s
nodal: {{iterations: 50, sweeps: 10, tolerance: 1e-4 mm}}
materials: {{rope: {{density: 1000, young: 50 MPa, bending-young: 0.05 MPa, poisson: 0.3}}}}
objects:
  rope:
    generate: {{explicit: {{points: [{points(rows)}],
           segments: [{segs}]}}}}
    material: rope
    rod: {{radius: 2 mm}}
    contact-thickness: 4 mm
  pole: {{generate: {{revolution: {{profile: [[{radius:g}, -0.05], [{radius:g}, 0.05]], cells: [360, 1]}}}}, obstacle: true,
         rotate: {{axis: [1, 0, 0], angle: 90 deg}}, contact-thickness: 4 mm}}
motion:
  - {{select: {{object: rope, nodes: [0]}}, force: [0, -1, 0]}}
  - {{select: {{object: rope, nodes: [{last}]}}, force: [0, -2.4, 0]}}
"""


def rope(radius=0.05):
    """A rope in a zigzag over three cylinders: half a circle around each, a block at one end, a small one at the other."""
    xi, reserve = 6e-3, 0.5e-3
    r = radius + xi + 1.05 * reserve
    step = 0.011
    centres = [(-2 * r, 0.30, 1), (0, 0.16, -1), (2 * r, 0.30, 1)]     # over, under, over

    def line(a, b):
        n = max(1, round(math.dist(a, b) / step))
        return [(a[0] + (b[0] - a[0]) * k / n, a[1] + (b[1] - a[1]) * k / n, 0) for k in range(n)]

    rows = line((-3 * r, 0.10), (-3 * r, 0.30))
    for i, (cx, cy, up) in enumerate(centres):
        n = round(math.pi * r / step)
        rr = r / math.cos(math.pi / (2 * n))
        rows += [(cx - rr * math.cos(math.pi * k / n), cy + up * rr * math.sin(math.pi * k / n), 0) for k in range(n + 1)]
        end = (cx + r, cy)
        to = (end[0], centres[i + 1][1]) if i < 2 else (end[0], 0.02)
        rows += line(end, to)[1:]
    rows.append((3 * r, 0.02, 0))
    last = len(rows) - 1
    segs = ", ".join(f"[{i}, {i + 1}]" for i in range(last))
    poles = "\n".join(
        f"  pole{i}: {{generate: {{revolution: {{profile: [[{radius:g}, -0.04], [{radius:g}, 0.04]], cells: [96, 1]}}}}, obstacle: true,"
        f" rotate: {{axis: [1, 0, 0], angle: 90 deg}}, translate: [{cx:.6f}, {cy:.6f}, 0], contact-thickness: {1000 * xi:g} mm}}"
        for i, (cx, cy, _) in enumerate(centres))
    return f"""# A rope over, under and over three cylinders, a heavy block at one end and a light weight at the other; made by
# nodal_scenes.py.  Three half circles hold a ratio of exp(3 pi mu): 111 at mu 0.5, 6.6 at mu 0.2.  The forces differ
# by a factor of 25: the rope locks at 0.5 and runs off at 0.2.
abut: 1
solver: nodal
time: {{step: 4 ms, end: 2 s}}
gravity: [0, -9.81, 0]
contact: {{dhat: 1 mm, friction: {{mu: 0.5, eps_v: 1e-4 m/s, lags: 20}}}}
nodal: {{iterations: 50, sweeps: 10, tolerance: 1e-3 mm}}
damping: {{stiffness: 1 ms}}
materials:
  rope: {{density: 200, young: 50 MPa, bending-young: 0.02 MPa, poisson: 0.3}}
  jelly: {{density: 1000, young: 1 MPa, poisson: 0.3}}
objects:
  rope:
    generate: {{explicit: {{points: [{points(rows)}],
           segments: [{segs}]}}}}
    material: rope
    rod: {{radius: 3 mm}}
    contact-thickness: {1000 * xi:g} mm
  block: {{generate: {{box: {{size: [0.08, 0.08, 0.08], cells: [2, 2, 2]}}}}, material: jelly,
          translate: [{-3 * r:.6f}, 0.05, 0]}}
{poles}
attachments:
  - {{from: {{object: rope, nodes: [0]}}, to: {{object: block}}, stiffness: 5e3 N/m}}
motion:
  - {{select: {{object: rope, nodes: [{last}]}}, force: [0, -0.2, 0]}}
"""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, text in (("card-house", card_house()), ("capstan", capstan()), ("rope", rope())):
        with open(os.path.join(sys.argv[1], name + ".yaml"), "w", encoding="utf-8") as f:
            f.write(text)


main()
