"""What the matrices of known answers share: rows, runs of programs, the TAP that they print."""
import argparse
import csv
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor

try:
    import numpy as np
except ImportError:
    print("1..1\nok 1 - %s # skip python3-numpy is not installed" % os.path.basename(sys.argv[0]))
    sys.exit(0)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../formats/python"))
import abut_stream  # noqa: E402


class Row:
    """One question and its answer; it holds if error <= tolerance."""

    def __init__(self, name, found, truth, error, tolerance):
        self.name, self.found, self.truth, self.error, self.tolerance = name, found, truth, float(error), tolerance
        self.holds = self.error <= tolerance            # NaN does not hold

    def __str__(self):
        def show(q):
            a = np.asarray(q)
            return str(q) if a.dtype.kind not in "fiu" else "%.9g" % a if a.ndim == 0 else \
                np.array2string(a.ravel()[:6], precision=9).replace("\n", "") + (" ..." if a.size > 6 else "")
        return "%s: found %s, truth %s, error %.3g, tolerance %.3g" % (self.name, show(self.found), show(self.truth), self.error,
            self.tolerance)


def near(name, found, truth, tolerance, size=None):
    """Row: the distance of two numbers or arrays, relative to size (default: the length of the truth)."""
    a, b = np.asarray(found, float), np.asarray(truth, float)
    if a.shape != b.shape:
        return Row(name, "shape %s" % (a.shape,), "shape %s" % (b.shape,), np.nan, tolerance)
    length = np.linalg.norm(b.ravel()) if size is None else size
    apart = np.subtract(a, b, where=a != b, out=np.zeros(a.shape))      # infinities may be equal
    return Row(name, a, b, np.linalg.norm(apart.ravel()) / (length or 1), tolerance)


def below(name, found, most):
    """Row: found <= most."""
    return Row(name, found, "at most %g" % most, found, most)


def same(name, found, truth):
    """Row: two values are equal."""
    return Row(name, found, truth, 0 if found == truth else 1, 0)


class Stopped(Exception):
    """A program ended with another exit code than expected."""

    def __init__(self, program, code, said):
        super().__init__("%s ended with %d: %s" % (program, code, said.strip().split("\n")[0]))
        self.said, self.code = said, code


class Frame:
    def __init__(self, item):
        self.arrays, self.time, self.step = item.arrays, item.time, item.step

    def __getitem__(self, name):
        return self.arrays[name].data

    def __contains__(self, name):
        return name in self.arrays

    x = property(lambda self: self["node/x"])
    v = property(lambda self: self["node/v"])
    pull = property(lambda self: self["node/reaction-force"])      # on prescribed nodes, N


class Run:
    """What a run left: model, frames, and the table of export --csv."""

    def __init__(self, lab, path):
        self.lab, self.path, self.frames, self.made = lab, path, [], None
        for item in abut_stream.read(path):
            if item.kind == "model":
                self.model = item
            elif item.kind == "frame":
                self.frames.append(Frame(item))

    first = property(lambda self: self.frames[0])
    last = property(lambda self: self.frames[-1])

    @property
    def table(self):
        if self.made is None:
            self.made = table_of(self.lab.call("export", "-q", "-j", 1, "--csv", "-", self.path))
        return self.made

    def vector(self, name, row=-1):
        """Three columns of the table; name has %s in place of x, y, z."""
        return np.array([self.table[row][name % c] for c in "xyz"])

    def nodes(self, name):
        """Numbers of the nodes of an object."""
        return np.flatnonzero(self.model["node/object"] == self.names().index(name))

    def names(self):
        return str(self.model["object/name"]).rstrip("\n").split("\n")

    def reached(self):
        """Largest distance of a node from its place in the first frame."""
        return np.linalg.norm(self.last.x - self.first.x, axis=1).max()


class Lab:
    """Runs programs in a folder of its own."""

    def __init__(self, programs, folder):
        self.bin, self.folder, self.count = programs, folder, 0
        self.env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="passive", LC_ALL="C.UTF-8")

    def new(self):
        self.count += 1
        path = tempfile.mkdtemp(prefix="%05d." % self.count, dir=self.folder)
        return path

    def run(self, *words, input=b"", cwd=None, timeout=60):
        """(exit code, output, messages) of a program; a signal is a negative code, 999 a time-out."""
        try:
            r = subprocess.run([os.path.join(self.bin, words[0]), *map(str, words[1:])], input=input, capture_output=True,
                               cwd=cwd, timeout=timeout, env=self.env)
            return r.returncode, r.stdout, r.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            return 999, b"", "not done in %g s" % timeout

    def call(self, *words, **how):
        """Output of a program that has to end with 0."""
        code, out, said = self.run(*words, **how)
        if code:
            raise Stopped(words[0], code, said)
        return out

    def files(self, folder, contents):
        for name, data in contents.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode())

    def prepare(self, scene, files=None, words=()):
        """(folder, stream of mesh-prep) of a scene, a map or text."""
        folder = self.new()
        self.files(folder, {"scene.yaml": scene if isinstance(scene, str) else json.dumps(scene), **(files or {})})
        start = os.path.join(folder, "start.abut")
        self.call("mesh-prep", "-q", "scene.yaml", "-o", start, *words, cwd=folder)
        return folder, start

    def prepare_bytes(self, data):
        """Path of a new file in.abut with the bytes of a stream."""
        folder = self.new()
        self.files(folder, {"in.abut": data})
        return os.path.join(folder, "in.abut")

    def simulate(self, scene, steps=1, words=(), files=None, between=None, report="forces,energies"):
        """The Run of a scene. between: a program, with its options, between mesh-prep and step."""
        folder, start = self.prepare(scene, files)
        if between:
            piped = os.path.join(folder, "piped.abut")
            self.call(*between, start, "-o", piped)
            start = piped
        end = os.path.join(folder, "run.abut")
        self.call("step", "-q", "-j", 1, "-n", steps, *(("--with", report) if report else ()), *words, start, "-o", end)
        return Run(self, end)


def table_of(text):
    """Rows of a CSV file of numbers as maps; empty cells are NaN."""
    return [{k: float(v) if v else np.nan for k, v in r.items()} for r in csv.DictReader(io.StringIO(text.decode()))]


GROUPS = []


def group(function):
    """A test of the matrix: function() yields cases (name, job) or (name, job, True); job(lab) yields rows; True: in the core."""
    GROUPS.append(function)
    return function


def main(doc, table=None):
    """Asks all rows; exit 1 if one does not hold. table(rows): a text for the option --table, which prints it in place of TAP."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bin", metavar="BIN", help="folder of the programs")
    p.add_argument("-t", "--test", action="append", metavar="TEST",
                   help="this test alone; may be given again: %s" % ", ".join(g.__name__ for g in GROUPS))
    p.add_argument("-k", "--word", default="", metavar="WORD", help="cases whose name has this word")
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), metavar="N",
                   help="programs at once (default: a program for each processor)")
    p.add_argument("--core", action="store_true", help="the core alone: seconds in place of minutes")
    p.add_argument("--rows", action="store_true", help="print every row")
    if table:
        p.add_argument("--table", action="store_true", help="print the table of all rows in place of TAP, failing rows on stderr")
    o = p.parse_args()
    shown = not (table and o.table)
    wrong = set(o.test or ()) - {g.__name__ for g in GROUPS}
    if wrong:
        p.error("-t %s: there are %s" % (", ".join(sorted(wrong)), ", ".join(g.__name__ for g in GROUPS)))
    if not os.path.exists(os.path.join(o.bin, "mesh-prep")):
        p.error("%s has no mesh-prep" % o.bin)
    tests = [g for g in GROUPS if not o.test or g.__name__ in o.test]
    failed = total = 0
    if shown:
        print("1..%d" % len(tests), flush=True)
    with tempfile.TemporaryDirectory(prefix="truth.") as folder, ThreadPoolExecutor(max(1, o.jobs)) as pool:
        lab = Lab(os.path.abspath(o.bin), folder)

        def answer(name, job):
            try:
                rows = list(job(lab))
                for r in rows:
                    r.name = "%s, %s" % (name, r.name)
                return rows
            except Stopped as why:
                return [Row(name, str(why), "a run", 1, 0)]
            except Exception as why:
                where = traceback.extract_tb(why.__traceback__)
                return [Row(name, "%s: %s (line %d, %d)" % (type(why).__name__, why, where[1].lineno if len(where) > 1 else 0,
                                                            where[-1].lineno), "an answer", 1, 0)]

        waiting = []
        for g in tests:
            cases = [c for c in g() if o.word in c[0] and (not o.core or (len(c) > 2 and c[2]))]
            waiting.append([pool.submit(answer, c[0], c[1]) for c in cases])
        asked = []
        for n, (g, answers) in enumerate(zip(tests, waiting), 1):
            rows = [r for a in answers for r in a.result()]
            asked += rows
            bad = [r for r in rows if not r.holds]
            known = sum(r.holds and not r.error <= r.tolerance for r in rows)
            worst = max((r for r in rows if r.holds and r.error <= r.tolerance), default=None,
                        key=lambda r: r.error / r.tolerance if r.tolerance else 0)
            failed, total = failed + len(bad), total + len(rows)
            tail = ", %d known to be wrong" % known if known else ""
            tail += ", worst %.2g of its tolerance: %s" % (worst.error / worst.tolerance,
                                                          worst.name) if worst and worst.tolerance else ""
            skip = "" if rows else " # skip no case"
            if not shown:
                print(*bad, sep="\n", end="\n" if bad else "", file=sys.stderr)
                continue
            print("%s %d - %s: %d rows%s%s%s" % ("not ok" if bad else "ok", n, g.__name__, len(rows),
                                                 ", %d fail" % len(bad) if bad else "", tail, skip))
            for r in bad if not o.rows else rows:
                print("#   %s%s" % ("" if r.holds else "FAILS " if o.rows else "", r))
            sys.stdout.flush()
    if not shown:
        print(table(asked), end="")
        return 1 if failed else 0
    used = [sum(resource.getrusage(w)[:2]) for w in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    print("# %d rows, %d fail; %.0f s of processor time, %.0f s of it in this program" % (total, failed, sum(used), used[1]))
    return 1 if failed else 0
