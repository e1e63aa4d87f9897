#!/usr/bin/env python3
"""What a step takes by processes that divide it, beside step with threads: two boxes pressed together on a floor.

    step_mpi.py CELLS OUT WHO...    CELLS: x,y,z of each box; WHO: a linear solver of step -j 2, or a number of processes and
                                    perhaps theirs
    step_mpi.py 30,20,30 out/ranks ic-rigid petsc-gamg 1 2 4 2:petsc-gamg

Prints tab separated: who, Newton's iterations, conjugate gradients, candidates, contacts; for each process (of threads: the one) the
most processor seconds, wall clock seconds, the most memory, GB.  Needs make MPI=1; MPI_BIN: its folder of programs.  Processes
that wait sleep (tests/preload/yielding.c), so that processor seconds are work."""
import json, os, resource, subprocess, sys, time

root = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
programs = os.environ.get("MPI_BIN", root + "/build/gcc-mpi/bin")


def measured(out, command):
    """Runs the command, and leaves what it took in out."""
    began = time.time()
    code = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(out, "w") as f:
        json.dump([used.ru_utime + used.ru_stime, time.time() - began, used.ru_maxrss * 1024e-9], f)
    return code


def run(out, who, start):
    report, result = out + "/report.jsonl", out + "/run.abut"
    me = [sys.executable, os.path.abspath(__file__)]
    number, _, solver = who.partition(":")
    if number.isdigit():
        sleeping = root + "/build/gcc/tests/yielding.so"
        command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        command += ["-x", "LD_PRELOAD=" + sleeping] if os.path.exists(sleeping) else []
        command += ["-n", number] + me + ["--rank", out, programs + "/step-mpi"]
        command += ["--linear-solver", solver] if solver else []
    else:
        command = me + ["--rank", out, programs + "/step", "-j", "2", "--linear-solver", who]
    for old in os.listdir(out):
        if old.startswith("rank."):
            os.remove(out + "/" + old)
    if subprocess.call(command + ["-q", "--no-sync", "-n", "1", "--report", report, start, "-o", result]):
        sys.exit(f"step_mpi.py: {who} failed")
    if subprocess.call([programs + "/ccd-check", "-q", "--no-output", result]):
        sys.exit(f"step_mpi.py: {who} was refused by the judge")
    took = [json.load(open(f"{out}/{f}")) for f in os.listdir(out) if f.startswith("rank.")]
    r = json.loads(open(report).read())
    most = [max(t[k] for t in took) for k in range(3)]
    print(who, r["newton_iterations"], r["cg_iterations"], r["candidates"], r["contacts"] + r["half_space_contacts"],
          "%.1f" % most[0], "%.1f" % most[1], "%.2f" % most[2], sep="\t", flush=True)


def main():
    cells, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    start = f"{out}/press-{cells}.abut"
    if not os.path.exists(start):
        box = [word for b in ("low", "high") for word in ("--set", f"objects.{b}.generate.box.cells=[{cells}]")]
        subprocess.check_call([programs + "/mesh-prep", "-q", root + "/tests/bench/press.yaml", *box, "-o", start])
    print("who", "newton", "cg", "candidates", "contacts", "cpu_s", "wall_s", "GB", sep="\t", flush=True)
    for who in sys.argv[3:]:
        run(out, who, start)


if sys.argv[1:2] == ["--rank"]:
    sys.exit(measured(f"{sys.argv[2]}/rank.{os.environ.get('OMPI_COMM_WORLD_RANK', '0')}", sys.argv[3:]))
elif len(sys.argv) < 4:
    sys.exit(__doc__)
else:
    main()
