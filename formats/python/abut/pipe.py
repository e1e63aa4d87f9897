"""The programs as a pipeline of processes, frame by frame."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from typing import IO, Any, Optional, Union

from abut_stream import MAGIC, Reader, StreamError

from .programs import error, options_of, program
from .run import Frame, Run, frames_of, open as open_run
from .scene import Scene

_SIGPIPE = 13


class Pipe:
    """Programs after each other.  Nothing runs until frames are asked for: by iterating, or by `save`.

    Each method returns another pipe, so that one can be the start of several."""

    def __init__(self, source: Union[Scene, Run, str, os.PathLike], stages: tuple[tuple[str, tuple[str, ...]], ...] = (),
                 prepare: tuple[str, ...] = ()):
        self.source = Scene(source) if isinstance(source, dict) and not isinstance(source, Scene) else source
        self.stages, self.prepare = stages, prepare
        self.said: dict[str, str] = {}

    def stage(self, name: str, *words: str, **options: Any) -> "Pipe":
        """Any program: stage("tear", stretch=1.5).  Options as a program has them, '_' for '-', True for those without a value."""
        return Pipe(self.source, (*self.stages, (name, (*words, *options_of(options)))), self.prepare)

    def step(self, n: Optional[int] = None, **options: Any) -> "Pipe":
        """n time steps, or step(until=1.0)."""
        return self.stage("step", **({} if n is None else {"n": n}), **options)

    def judge(self, **options: Any) -> "Pipe":
        """ccd-check: raises Rejected where something touches or inverts."""
        return self.stage("ccd-check", **options)

    def _first(self) -> tuple[list[list[str]], Optional[bytes]]:
        """The commands, and what the first one reads from its input."""
        commands = [[*program(name), *words] for name, words in self.stages]
        source = self.source
        if isinstance(source, Scene):
            return [[*program("mesh-prep"), "-", *self.prepare], *commands], source.text().encode()
        path = source.path if isinstance(source, Run) else os.fspath(source)
        with open(path, "rb") as f:
            is_stream = f.read(len(MAGIC)) == MAGIC
        if not is_stream:
            return [[*program("mesh-prep"), path, *self.prepare], *commands], None
        if self.prepare:
            raise ValueError("%s is a stream, and %s are for scenes" % (path, " ".join(self.prepare)))
        if not commands:
            raise ValueError("%s is a stream: a pipe of nothing; use abut.open" % path)
        commands[0].append(path)
        return commands, None

    def __iter__(self) -> Iterator[Frame]:
        """Frames while the programs run.  After the last one all of them have ended well, or ProgramError is raised; who stops
        before ends them."""
        with _Running(*self._first()) as running:
            try:
                yield from frames_of(Reader(running.output))
            except StreamError:
                running.output.close()      # who still writes ends by SIGPIPE
                running.finish(self)
                raise
            running.finish(self)

    def save(self, path: Union[str, os.PathLike]) -> Run:
        """Runs to the end; path appears when all has gone well.  Raises ProgramError; path.part keeps what came until then."""
        part = os.fspath(path) + ".part"
        if os.path.lexists(part):       # of a run that was not finished; where it is a link, the link
            os.unlink(part)
        with _Running(*self._first()) as running, open(part, "xb") as f:
            shutil.copyfileobj(running.output, f, 1 << 20)
            running.finish(self)
        os.replace(part, path)
        return open_run(path)


class _Running:
    """The processes of a pipe."""

    def __init__(self, commands: list[list[str]], text: Optional[bytes]):
        self.commands, self.text = commands, text
        self.processes: list[subprocess.Popen] = []
        self.errors: list[IO[bytes]] = []

    def __enter__(self) -> "_Running":
        before: Any = subprocess.PIPE if self.text is not None else subprocess.DEVNULL
        try:
            for command in self.commands:
                self.errors.append(tempfile.TemporaryFile())
                process = subprocess.Popen(command, stdin=before, stdout=subprocess.PIPE, stderr=self.errors[-1])
                if self.processes and self.processes[-1].stdout:
                    self.processes[-1].stdout.close()       # the next one has it
                self.processes.append(process)
                before = process.stdout
        except BaseException:
            self.__exit__()
            raise
        last = self.processes[-1].stdout
        assert last is not None
        self.output: IO[bytes] = last
        self.feeder = threading.Thread(target=self._feed, daemon=True)
        self.feeder.start()
        return self

    def _feed(self) -> None:
        to = self.processes[0].stdin
        if to is None:
            return
        try:
            to.write(self.text)
            to.close()
        except BrokenPipeError:     # it has ended, and says why
            pass

    def __exit__(self, *_: Any) -> None:
        for p in self.processes:
            if p.poll() is None:
                p.terminate()
        for p in self.processes:
            p.wait()
            if p.stdout:
                p.stdout.close()
        for f in self.errors:
            f.close()

    def finish(self, pipe: Pipe) -> None:
        """Waits for all; raises what the first one that failed by itself has said."""
        codes = [p.wait() for p in self.processes]
        said = []
        for f in self.errors:
            f.seek(0)
            said.append(f.read().decode("utf-8", "replace"))
        names = ["mesh-prep"] * (len(self.commands) - len(pipe.stages)) + [name for name, _ in pipe.stages]
        pipe.said = {}
        for name, text in zip(names, said):
            pipe.said[name] = pipe.said.get(name, "") + text
        for name, code, text in zip(names, codes, said):
            if code not in (0, -_SIGPIPE, 128 + _SIGPIPE):
                raise error(name, code, _located(text, self.text))


def _places(value: Any, path: tuple[str, ...], at: int, found: dict[int, str]) -> int:
    """Which line of Scene.text says what: found[line] = "objects.ball.translate".  Returns the last line of the value."""
    found[at] = ".".join(path)
    if isinstance(value, (dict, list)) and value:
        for key, v in value.items() if isinstance(value, dict) else enumerate(value):
            at = _places(v, (*path, str(key)), at + 1, found)
        at += 1     # the bracket that closes
    return at


def _located(said: str, scene: Optional[bytes]) -> str:
    """A message with the keys of a Scene in place of lines of the text that it became."""
    found: dict[int, str] = {}
    if scene:
        _places(json.loads(scene), (), 1, found)
    return re.sub(r"standard input:(\d+):\d+", lambda m: found.get(int(m[1])) or m[0], said)


def pipe(source: Union[Scene, Run, str, os.PathLike], **options: Any) -> Pipe:
    """A pipeline that starts with a scene (a Scene or another dictionary, or a file of one) or with a stream (a Run, or a
    file of one).  options: of mesh-prep, for a scene.

        for frame in abut.pipe(scene).step(100).judge(): ...
        run = abut.pipe("start.abut").step(until=2).judge().save("run.abut")
        run = abut.pipe("scene.yaml", set="time.step=5ms").step(10).save("run.abut")
    """
    return Pipe(source, prepare=tuple(options_of(options)))
