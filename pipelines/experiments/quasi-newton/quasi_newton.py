"""Scenes, runs and measures of quasi-newton.sh.  Objectives are computed here again, from positions alone.

A row is experiment, case, measure, value, other: what another implementation of the same scene has, or the source says; - where
it says nothing."""
import json, os, re, subprocess, sys, time

import numpy as np

sys.path[:0] = ["formats/python", "pipelines/experiments/bin"]
import abut_stream      # noqa: E402
import curves           # noqa: E402

BIN, OUT = os.environ["BIN"], os.environ["OUT"]
RESULTS = os.environ.get("RESULTS") or OUT + "/table"
HEAD = ("experiment", "case", "measure", "value", "other")
H = 1 / 30
rows, figures = [], {}


def put(experiment, case, measure, value, other="-"):
    text = value if isinstance(value, str) else f"{value:.3g}"
    rows.append((experiment, case, measure, text, str(other)))
    print("\t".join(rows[-1]), flush=True)


# ---- runs ----

def run(*command, ok=(0,), **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode not in ok:
        sys.exit(f"quasi-newton: status {done.returncode} of {' '.join(map(str, command))}:\n{done.stderr}")
    return done


def prep(name, text):
    path, out = f"{OUT}/{name}.yaml", f"{OUT}/{name}.abut"
    with open(path, "w", encoding="utf-8") as f:
        f.write("abut: 1\n" + text)
    run(f"{BIN}/mesh-prep", "-q", path, "-o", out)
    return out


def step(start, options, n=1, name="run"):
    """The stream of n steps, and the rows of its report."""
    out = f"{OUT}/{name}.abut"
    run(f"{BIN}/step", "-q", "-j", 1, *options.split(), "-n", n, "--report", f"{OUT}/{name}.jsonl", start, "-o", out)
    with open(f"{OUT}/{name}.jsonl", encoding="utf-8") as f:
        return out, [json.loads(line) for line in f]


def judge(stream):
    """The step whose motion has the first collision that ccd-check finds, or none."""
    done = run(f"{BIN}/ccd-check", "--no-output", stream, ok=(0, 1))
    if done.returncode == 0:
        return "none"
    at = re.search(r" to step (\d+) ", done.stderr)
    return at.group(1) if at else "at the start"


def must_be_free(stream):
    if judge(stream) != "none":
        sys.exit(f"quasi-newton: ccd-check finds a collision in {stream}")


def frames(path):
    items = list(abut_stream.read(path))
    return items[0], [i for i in items if i.kind == "frame"]


def change(path, out, do):
    """The first model and the last frame of a stream, changed by do(model arrays, frame arrays), as a stream."""
    items = list(abut_stream.read(path))
    model, frame = dict(items[0].arrays), dict(items[-1].arrays)
    do(model, frame)
    with abut_stream.Writer(out) as to:
        to.prov("quasi-newton", "1", {})
        to.model(model)
        to.frame(items[-1].step, items[-1].time, frame)
    return out


def change_last(path, out):
    """The last model of a stream, which may have more than one, and its last frame."""
    items = list(abut_stream.read(path))
    model = [i for i in items if i.kind == "model"][-1]
    with abut_stream.Writer(out) as to:
        to.prov("quasi-newton", "1", {})
        to.model(model.arrays)
        to.frame(items[-1].step, items[-1].time, items[-1].arrays)
    return out


# ---- objectives ----

def lame(model):
    E, nu = model["material/young"], model["material/poisson"]
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def stretches(model, x):
    """Principal stretches of every tet, signed, and the volumes at rest."""
    tet, X = model["tet/node"], model["node/X"]
    edges = lambda p: np.stack([p[tet[:, a]] - p[tet[:, 0]] for a in (1, 2, 3)], axis=2)       # noqa: E731
    D = edges(X)
    F = edges(x) @ np.linalg.inv(D)
    s = np.linalg.svd(F, compute_uv=False)
    s[:, 2] *= np.sign(np.linalg.det(F))
    return s, np.linalg.det(D) / 6


DENSITY = {
    0: lambda m, l, s, J: m / 2 * ((s * s).sum(1) - 3) - m * np.log(J) + l / 2 * np.log(J) ** 2,
    3: lambda m, l, s, J: m / 4 * ((s * s - 1) ** 2).sum(1) + l / 8 * ((s * s - 1).sum(1)) ** 2,
    5: lambda m, l, s, J: m * ((s - 1) ** 2).sum(1) + l / 2 * ((s - 1).sum(1)) ** 2,
    6: lambda m, l, s, J: m * ((s - 1) ** 4).sum(1),
    8: lambda m, l, s, J: (0.4 * m * ((s * s).sum(1) - 3) + 0.1 * m * ((s * s * np.roll(s, 1, 1) ** 2).sum(1) - 3)
                           + (l / 4 - m / 10) * (J * J - 1) - (m + l / 2) * np.log(J)),
}


def energy(model, x):
    """J: of tets, springs and attachments."""
    E = 0.0
    if "tet/node" in model.arrays and len(model["tet/node"]):
        s, vol = stretches(model, x)
        m, l = lame(model)
        which = int(model["material/model"][0]) if "material/model" in model.arrays else 0
        E += (vol * DENSITY[which](m[0], l[0], s, s.prod(1))).sum()
    if "spring/node" in model.arrays:
        a, b = model["spring/node"].T
        E += (model["spring/stiffness"] / 2 * (np.linalg.norm(x[a] - x[b], axis=1) - model["spring/length"]) ** 2).sum()
    if "attachment/node" in model.arrays:
        n = model["attachment/node"][:, 0]
        E += (model["attachment/stiffness"] / 2 * ((x[n] - model["attachment/offset"]) ** 2).sum(1)).sum()
    return E


class Problem:
    """The next step of the last frame of a stream without contact: errors (g - g*)/(g(y) - g*) of its iterates."""

    def __init__(self, path):
        self.path = path
        self.model, fs = frames(path)
        f, self.h = fs[-1], float(self.model["time/step"])
        self.mass = self.model["node/mass"].reshape(-1, 1)
        self.y = f["node/x"] + self.h * f["node/v"] + self.h ** 2 * self.model["world/gravity"].reshape(1, 3)
        best = self.end("--solver newton --tolerance 1e-10")[0]
        self.least, self.start = self.value(best), self.value(self.y)

    def value(self, x):
        return (self.mass * (x - self.y) ** 2).sum() / (2 * self.h ** 2) + energy(self.model, x)

    def end(self, options):
        out, report = step(self.path, options)
        return frames(out)[1][-1]["node/x"], report[-1]

    def error(self, options):
        x, report = self.end(options)
        return max((self.value(x) - self.least) / (self.start - self.least), 1e-14), report

    def curve(self, options, counts):
        return [(k, self.error(f"{options} --iterations {k}")[0]) for k in counts]


# ---- scenes ----

UNIT = {"spring/length": "m", "spring/stiffness": "N/m", "attachment/offset": "m", "attachment/stiffness": "N/m",
        "node/mass": "kg"}


def set_array(arrays, name, value):
    """In place of the one that there is, with its unit and flags."""
    was = arrays.get(name, abut_stream.Array(value, UNIT.get(name, "")))
    arrays[name] = abut_stream.Array(value, was.unit, was.flags)


def curtain(n, k):
    """n x n nodes, 1 m and 1 kg, springs k on edges and both diagonals, two corners tied by 100 k; after 14 steps."""
    start = prep("curtain", f"time: {{step: {1000 * H:.17g} ms}}\ngravity: [0, -9.8, 0]\ncontact: off\ntolerance: 1e-9 m/s\n"
                 "materials: {m: {density: 1000}}\n"
                 f"objects: {{c: {{generate: {{cloth: {{size: [1, 1], cells: [{n - 1}, {n - 1}]}}}}, "
                 "material: m, shell: {thickness: 1 mm}}}\n")
    start = run_springs(start)

    def net(model, frame):
        X = model["node/X"].data
        at = {tuple(np.rint((p[[0, 2]] - X[:, [0, 2]].min(0)) * (n - 1)).astype(int)): i for i, p in enumerate(X)}
        pairs = [(at[i, j], at[i + a, j + b]) for i in range(n) for j in range(n) for a, b in ((1, 0), (0, 1), (1, 1), (1, -1))
                 if (i + a, j + b) in at]
        pairs = np.array(pairs, dtype=np.int32)
        tie = np.full((2, 5), -1, dtype=np.int32)
        tie[:, 0] = at[0, 0], at[n - 1, 0]
        for name, value in (("spring/node", pairs), ("spring/length", np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)),
                            ("spring/stiffness", np.full(len(pairs), float(k))), ("attachment/node", tie),
                            ("attachment/weight", np.zeros((2, 4))), ("attachment/offset", X[tie[:, 0]]),
                            ("attachment/stiffness", np.full(2, 100.0 * k)), ("node/mass", np.full(n * n, 1 / n ** 2))):
            set_array(model, name, value)
    start = change(start, f"{OUT}/net.abut", net)
    out, _ = step(start, "--solver newton", 14, "swung")
    return change(out, f"{OUT}/swung-14.abut", lambda model, frame: None)


def run_springs(start):
    out = f"{OUT}/springs.abut"
    run(f"{BIN}/springs", "-q", "--stiffness", 1, "--replace", start, "-o", out)
    return out


def tets(name, size, cells, model="neo-hookean", mu=1e4, lam=4e4, extra=""):
    young, nu = mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu))
    return prep(name, f"time: {{step: {1000 * H:.17g} ms}}\ngravity: [0, 0, 0]\ncontact: off\ntolerance: 1e-10 m/s\n"
                f"materials: {{m: {{model: {model}, density: 1000, young: {young:.17g}, poisson: {nu:.17g}{extra}}}}}\n"
                f"objects: {{b: {{generate: {{box: {{size: {size}, cells: {cells}}}}}, material: m}}}}\n")


def bar(model="neo-hookean", angle=np.pi, quarter=False, extra=""):
    """3 x 3 x 9 cubes of 0.1 m twisted about z by an angle, both end layers tied where they are then by 1e5 N/m."""
    start = tets("bar", [0.3, 0.3, 0.9], [3, 3, 9], model, extra=extra)

    def twist(model, frame):
        X = model["node/X"].data
        X0 = X - X.min(0)
        a = angle * X0[:, 2] / 0.9
        u, v = X0[:, 0] - 0.15, X0[:, 1] - 0.15
        x = np.stack((np.cos(a) * u - np.sin(a) * v, np.sin(a) * u + np.cos(a) * v, X0[:, 2]), axis=1)
        if quarter:
            x = np.stack((x[:, 2], x[:, 1], -x[:, 0]), axis=1)
        n = np.flatnonzero((X0[:, 2] < 1e-9) | (X0[:, 2] > 0.9 - 1e-9)).astype(np.int32)
        tie = np.full((len(n), 5), -1, dtype=np.int32)
        tie[:, 0] = n
        set_array(frame, "node/x", x)
        for name, value in (("attachment/node", tie), ("attachment/weight", np.zeros((len(n), 4))), ("attachment/offset", x[n]),
                            ("attachment/stiffness", np.full(len(n), 1e5))):
            set_array(model, name, value)
    return change(start, f"{OUT}/twisted.abut", twist)


# ---- what is written ----

def write(names):
    """The table, rows of other experiments kept; the curves of this run; Markdown of all rows."""
    old = []
    if os.path.exists(RESULTS + ".tsv"):
        with open(RESULTS + ".tsv", encoding="utf-8") as f:
            old = [tuple(line.rstrip("\n").split("\t")) for line in f if not line.startswith("#")][1:]
    number = lambda r: int(r[0][1:])        # noqa: E731
    table = sorted([r for r in old if r[0] not in names] + rows, key=number)
    with open(RESULTS + ".tsv", "w", encoding="utf-8") as f:
        f.write("".join("\t".join(r) + "\n" for r in [HEAD] + table))
    from quasi_newton_page import page, panels
    with open(RESULTS + ".svg", "w", encoding="utf-8") as f:
        f.write(curves.panels(panels(table)))
    with open(RESULTS + ".md", "w", encoding="utf-8") as f:
        f.write(page(table, os.path.basename(RESULTS)))


if __name__ == "__main__":
    sys.modules["quasi_newton"] = sys.modules["__main__"]
    from quasi_newton_experiments import EXPERIMENTS
    wanted = sys.argv[1:] or list(EXPERIMENTS)
    for w in wanted:
        if w not in EXPERIMENTS:
            print(f"quasi-newton.sh: no experiment '{w}'; there are: {' '.join(EXPERIMENTS)}", file=sys.stderr)
            sys.exit(2)
    for w in wanted:
        clock = time.time()
        EXPERIMENTS[w]()
        print(f"# {w}: {time.time() - clock:.0f} s", flush=True)
    write(wanted)
