"""abut from Python: streams as numpy arrays, scenes as dictionaries, the programs as a pipeline.

    import abut

    run = abut.open("run.abut")                     # lazy: an array is read when it is asked for
    run.model.objects["ball"].nodes                 # numbers of its nodes
    run[-1]["node/x"]                               # numpy, from the file's own bytes where it can
    run.times, len(run)

    scene = abut.Scene(time={"step": "0.01 s"})
    scene.material("rubber", model="neo-hookean", density=1000, young=1e5, poisson=0.4)
    scene.object("ball", generate={"sphere": {"radius": 0.1, "cells": 8}}, translate=[0, 0.25, 0])
    scene.half_space("floor", point=[0, 0, 0], normal=[0, 1, 0], mu=0.5)
    for frame in abut.pipe(scene).step(100).judge():
        print(frame.time, frame.x.min(axis=0))      # while the programs run

    scene = abut.new("slope")                       # as mesh-prep --new; abut.load("scene.yaml") reads a file of your own
    scene["contact"]["friction"]["mu"] = 0.48
    run = abut.pipe(scene).step(20).judge().save("run.abut")
    abut.call("export", run, html="run.html")       # any program

The stream stays the interface (formats/STATE.md of abut): nothing here simulates.  What a program has to say is in the exception
that it raises.  numpy alone is needed; meshio, where it is installed, takes meshes in and out (`Scene.mesh`, `to_meshio`).
"""
from abut_stream import Array, Reader, StreamError, Writer, read

from .mesh import to_meshio
from .pipe import Pipe, pipe
from .programs import ProgramError, Rejected, call, program
from .run import Frame, Model, Object, Run, open
from .scene import Scene, load, new

__version__ = "0.2.0"
__all__ = ["Array", "Frame", "Model", "Object", "Pipe", "ProgramError", "Reader", "Rejected", "Run", "Scene", "StreamError", "Writer",
           "call", "load", "new", "open", "pipe", "program", "read", "to_meshio"]
