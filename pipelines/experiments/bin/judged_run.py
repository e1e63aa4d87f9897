"""Runs of scenes that ccd-check has passed, kept so that a command is not run twice.

A command is arguments of mesh-prep, then ` -- ` and arguments of step; @DATA@ is the folder of the public meshes.
BIN=bin  ABUT_DATA=../shared/data  JOBS=1 (threads)  FRESH=1 runs all again
"""
import os, re, shlex, subprocess, sys, zlib

BIN = os.environ.get("BIN", "bin")
DATA = os.path.abspath(os.environ.get("ABUT_DATA", "../shared/data"))


def parts(command):
    """Arguments of mesh-prep, arguments of step."""
    prep, _, step = command.partition(" -- ")
    return shlex.split(prep.replace("@DATA@", DATA)), shlex.split(step)


def missing(command):
    """Files of the command that are not there."""
    words = [w for word in parts(command)[0] for w in re.findall(r"[^\s=\[\],]+\.(?:yaml|txt|msh|obj)", word)]
    return [w for w in words if not os.path.exists(w)]


def run(command, folder):
    """The judged run as a stream in the folder, its reports beside it (.jsonl); None where a program failed or the judge refused,
    which is said.  Its name is of the command, so that whoever asks for the same command has the same run."""
    to = f"{folder}/{zlib.crc32(command.encode()):08x}.abut"
    os.makedirs(folder, exist_ok=True)
    if not os.environ.get("FRESH") and os.path.exists(to) and os.path.exists(to + ".command"):
        with open(to + ".command", encoding="utf-8") as f:
            if f.read() == command:
                return to
    prep, step = parts(command)
    jobs = os.environ.get("JOBS", "1")
    chain = [[f"{BIN}/mesh-prep", "-q", *prep], [f"{BIN}/step", "-q", "-j", jobs, "--report", to + ".jsonl", *step],
             [f"{BIN}/ccd-check", "-q", "-j", jobs, "-o", to]]
    procs, source = [], None
    for words in chain:
        procs.append(subprocess.Popen(words, stdin=source, stdout=subprocess.PIPE))
        if source:
            source.close()
        source = procs[-1].stdout
    source.close()
    status = [p.wait() for p in procs]
    for words, s in zip(chain, status):
        if s:
            print(f"{os.path.basename(sys.argv[0])}: status {s} of {' '.join(words)}", file=sys.stderr)
    if any(status):
        return None
    with open(to + ".command", "w", encoding="utf-8") as f:
        f.write(command)
    return to
