"""Data of the curves of gallery: blocks of numbers for gnuplot, taken from tables and from runs."""
import glob
import re
import sys

sys.path.insert(0, "formats/python")


def file_of(name):
    """The file of a table; "" where there is none."""
    return "".join(glob.glob(f"pipelines/experiments/*/{name}.md"))


def rows(name, heading=None):
    """Cells of the rows of a table; of the first table below the heading where one is given."""
    found, on = [], heading is None
    with open(file_of(name), encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                on = heading is None or line.lstrip("# ").rstrip() == heading
            elif on and line.startswith("|"):
                found.append([c.strip() for c in line.strip().strip("|").split("|")])
            elif on and heading and found:
                break
    return found


def first(cell):
    """The first number of a cell; K is thousand."""
    m = re.match(r"-?[\d.]+(?:e[-+]?\d+)?", cell)
    return float(m[0]) * (1000 if cell[m.end():m.end() + 1] == "K" else 1) if m else None


def block(points):
    return "".join(" ".join("%.6g" % v if isinstance(v, (int, float)) else f'"{v}"' for v in p) + "\n" for p in points) + "\n\n"


def step_sizes(_):
    """Step, iterations in all, seconds in all; the second block as published."""
    ours, published = [], []
    for c in rows("published"):
        m = re.fullmatch(r"T1 rods, step ([\d.]+) s", c[0])
        if m:
            h = float(m[1])
            n = 6 / h
            ours.append((h, first(c[4]) * n, first(c[8]) * n))
            published.append((h, first(c[5]) * n, first(c[9]) * n))
    return block(ours) + block(published)


SCENES = ("mat on knives", "octocat on knives", "pin-cushion", "ball roller", "mat twist 40", "rods twist")
VARIANTS = ("c1 barrier", "full CCD", "CFL culling")    # the last two have the barrier of class C2


def ablations(_):
    """Scene, iterations a step of each variant and as published, side by side."""
    of = {c[0]: c for c in rows("published")}
    points = []
    for scene in SCENES:
        cells = [of.get(f"A {scene}, {v}") for v in VARIANTS]
        if all(cells):
            points.append((scene, *(v for c in cells for v in (first(c[4]), first(c[5])))))
    return block(points)


SOLVERS = ("newton", "lbfgs-h", "dot", "lbfgs-pd")


def directions(_):
    """One block a parameter: its value, iterations a step of each solver."""
    of, values = {}, {}
    for c in rows("directions-sweep"):
        m = re.fullmatch(r"bar, (time.step|young|poisson)=([\d.e]+)( ms)?", c[0])
        if m:
            values.setdefault(m[1], [])
            if m[2] not in values[m[1]]:
                values[m[1]].append(m[2])
            of[m[1], m[2], c[2]] = first(c[4])
    return "".join(block([(v + (" ms" if p == "time.step" else ""), *(of[p, v, s] for s in SOLVERS)) for v in values[p]])
                   for p in ("time.step", "young", "poisson"))


def gipc_iterations(_):
    """Young's modulus, iterations of three variants over those with projected Hessians: ours, then published."""
    table = rows("gipc", "Fig. 10: stiffness")
    head = table[0]
    at = [head.index(f"`{v}`") for v in ("ipc ipc-gn", "ipc shi-kim", "log2 gn")]
    ratio = lambda cell: float(m[1]) if (m := re.search(r"\(([\d.]+)\)", cell)) else "nan"      # noqa: E731
    out = ""
    for rule in ("`published`", "*figures of GIPC*"):
        out += block([(float(c[0]), *(float(ratio(c[k])) for k in at)) for c in table if c[1].startswith(rule)])
    return out


def stick_slip(streams):
    """Time, how far the rod's upper end and its lowest node have moved along the floor, mm."""
    import abut_stream
    points, start, low, high = [], None, None, None
    for item in abut_stream.read(streams[0]):
        if item.kind == "frame":
            x = item["node/x"]
            if start is None:
                start, low, high = x.copy(), x[:, 1].argmin(), x[:, 1].argmax()
            moved = 1000 * abs(x - start)[:, 0]
            points.append((item.time, moved[high], moved[low]))
    return block(points)


def of(name, streams, _bin):
    return globals()[name.replace("-", "_")](streams)
