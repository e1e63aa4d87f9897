"""Programs: where they are, one run to its end, what is raised when it fails."""
from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any, Union


class ProgramError(RuntimeError):
    """A program ended with an error.  program, code (1 to 5, see the README; below 0: a signal), message: all that it said."""

    def __init__(self, program: str, code: int, message: str):
        super().__init__("%s ended with %d: %s" % (program, code, message.strip() or "nothing was said"))
        self.program, self.code, self.message = program, code, message.strip()


class Rejected(ProgramError):
    """The answer of a judge is no: exit code 1."""


def program(name: str) -> list[str]:
    """The command of a program: from the folder $ABUT_BIN, by `abut` on the PATH, or from the checkout that this file is in."""
    folder = os.environ.get("ABUT_BIN")
    checkout = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bin")
    for where in [folder] if folder else [checkout]:
        path = os.path.join(where, name)
        if folder or (not shutil.which("abut") and os.access(path, os.X_OK)):
            return [os.path.normpath(path)]
    found = shutil.which("abut")
    if not found:
        raise FileNotFoundError("no program '%s': neither $ABUT_BIN nor `abut` on the PATH" % name)
    return [found, name]


def options_of(options: dict[str, Any]) -> list[str]:
    """n=100, until=1, one_pass=True, set=["a=1", "b=2"], with_="forces" (a word of Python) as a program has them."""
    words: list[str] = []
    for key, value in options.items():
        name = ("-" if len(key) == 1 else "--") + key.rstrip("_").replace("_", "-")
        for v in value if isinstance(value, (list, tuple)) else [value]:
            v = v.item() if hasattr(v, "item") else v       # a number of numpy
            if v is None or v is False:
                continue
            text = os.fspath(v) if isinstance(v, os.PathLike) else v if isinstance(v, str) else repr(v)
            words += [name] if v is True else [name, text]
    return words


def error(name: str, code: int, said: str) -> ProgramError:
    """What a program that ended so has said, to be raised."""
    return (Rejected if code == 1 else ProgramError)(name, code, said)


def call(name: str, *words: Union[str, os.PathLike], **options: Any) -> str:
    """Runs one program to its end and returns what it writes as text: call("export", run, html="run.html", csv="run.csv").

    words: files and the like; options as a program has them, '_' for '-', True for those without a value.  Raises
    ProgramError, and Rejected for exit code 1."""
    done = subprocess.run([*program(name), *map(os.fspath, words), *options_of(options)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise error(name, done.returncode, done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode("utf-8", "surrogateescape")
