#!/usr/bin/env python3
"""The recipes of docs/COOKBOOK.md from Python: each function does what the shell commands under the heading of its name do, and
leaves files of the same names.

    PYTHONPATH=formats/python python3 formats/python/recipes.py [NAME ...]

Run at the root of the checkout, after make; those named, or all.  Needs numpy, and the programs (make, or make install).
"""
import os
import sys

import abut


def a_scene_to_begin_with():
    scene = abut.new("slope")
    scene["contact"]["friction"]["mu"] = 0.48
    run = abut.pipe(scene).step(20).judge().save("slides.abut")
    print(abut.call("export", run, csv="slides.csv", summary=True))


def look_at_a_run():
    run = abut.pipe(abut.new("drop")).step(20, with_="forces,energies").judge().save("look.abut")
    abut.call("export", run, html="look.html", vtu="look-vtu")


def solids():
    prepared = abut.pipe("pipelines/examples/drop.yaml", set="time.step=5ms", explain=True)
    prepared.save("pile.abut")
    print(prepared.said["mesh-prep"])       # every derived parameter with its reason


def curved_bodies():
    scene = abut.new("curved")
    scene["objects"]["ball"]["order"] = 3
    run = abut.pipe(scene).step(30).judge().save("curved.abut")
    abut.call("export", run, frames=-1, vtu="curved")


def cloth_rods_grains():
    limited = abut.pipe(abut.new("cloth")).stage("strain-limit", upper=1.06).step(14).judge()
    limited.stage("strain-limit", audit=True).save("limited.abut")


def friction():
    scene = abut.load("pipelines/examples/slope.yaml", set="contact.friction.mu=0.48")
    run = abut.pipe(scene).step(20, with_="forces,energies").save("slide.abut")
    abut.call("export", run, csv="slide.csv", nodes="slide-nodes")


def hard_contact():
    start = abut.pipe(abut.new("hard")).save("hard.abut")
    run = abut.pipe(start).step(20).save("hard-20.abut")                    # hard contact, as the scene says
    barrier = abut.pipe(run).step(10, solver="newton")                      # the barrier goes on from there,
    barrier.step(10, solver="nodal", report="nodal.jsonl").judge().save("both.abut")    # and hard contact from its last frame


def a_press_test():
    scene = abut.Scene(time={"step": "0.1 s", "scheme": "quasi-static"}, gravity=[0, 0, 0])
    scene.material("rubber", model="neo-hookean", density=1000, young="1 MPa", poisson=0.45)
    scene.object("sample", generate={"cylinder": {"radius": "2 cm", "height": "2 cm", "cells": [6, 4]}})
    scene.motion(select={"object": "sample", "relative-box": [[0, 0, 0], [1, 0.001, 1]]}, fix=True)
    scene.motion(select={"object": "sample", "relative-box": [[0, 0.999, 0], [1, 1, 1]]}, traction=[0, "-200 kPa", 0],
                 factor={"times": [0, "1 s", "1.5 s"], "values": [0, 1, 0]})
    run = abut.pipe(scene).step(until=1.5, with_="energies").judge().save("press.abut")
    abut.call("export", run, csv="press.csv")


def time_schemes():
    for scheme in "implicit-euler", "bdf3":
        scene = abut.new("beam")
        scene["time"].update(scheme=scheme, step="5ms")
        scene["damping"] = {"stiffness": "1ms"}
        run = abut.pipe(scene).step(60, with_="energies").judge().save("swing-%s.abut" % scheme)
        abut.call("export", run, csv="swing-%s.csv" % scheme)


def solvers():
    scene = abut.new("drop")
    scene["objects"]["ball"]["generate"]["sphere"]["cells"] = 12
    large = abut.pipe(scene).save("large.abut")
    abut.pipe(large).step(8, linear_solver="ic-rigid", report="large.jsonl").judge().save("large-8.abut")
    scene = abut.new("drop")
    scene.setdefault("contact", {})["barrier"] = {"law": "log2", "kappa": "ipc", "filter": 0.01}
    gipc = abut.pipe(scene).save("gipc.abut")
    abut.pipe(gipc).step(20, barrier_hessian="gn").judge().save("gipc-20.abut")


def derivatives_of_a_run():
    scene = abut.Scene(contact={"kappa-range": 1, "friction": {"mu": 0.3, "lags": 1}}, tolerance="1e-6 m/s")
    scene.material("soft", density=1000, young=1e5, poisson=0.4)
    scene.object("block", generate={"box": {"size": [0.2, 0.1, 0.2], "cells": [2, 1, 2]}}, material="soft",
                 translate=[0, 0.053, 0], velocity=[1, 0, 0]).half_space("floor", point=[0, 0, 0], normal=[0, 1, 0])
    with open("there.csv", "w") as f:
        f.write("step,object,x\n20,block,0.3\n")
    run = abut.pipe(scene).step(20).save("throw.abut")
    with open("derivatives.csv", "w") as f:
        f.write(abut.call("adjoint", run, target="there.csv", csv="-"))


def a_fixed_number_of_iterations():
    drop = abut.pipe(abut.new("drop")).save("drop.abut")
    fast = abut.pipe(drop).step(20, solver="lbfgs-pd", iterations=10, history=5, fit_interval="0.8:1.2")
    fast.judge().save("fast.abut")


def cloth_in_real_time():
    cloth = abut.pipe("pipelines/experiments/codimensional/scenes/hang.yaml")
    net = cloth.stage("springs", stiffness=1000, across=1000, replace=True).save("net.abut")
    abut.pipe(net).step(30, solver="mass-springs", iterations=10, contact="ignore").save("hang.abut")


def bodies_that_intersect_at_the_start():
    scene = abut.Scene().material("rubber", density=1000, young=1e5, poisson=0.4)
    box = {"box": {"size": [1, 1, 1], "cells": [4, 4, 4]}}
    scene.object("low", generate=box, material="rubber")
    scene.object("high", generate=box, material="rubber", translate=[0.1, 0.98, 0.1])
    abut.pipe(scene, separate="1e-3 l", max_move="0.05 l").step(10).judge().save("parted.abut")


def restart_and_branch():
    start = abut.pipe(abut.new("slope")).save("start.abut")
    run = abut.pipe(start).step(20).save("run.abut")                        # 20 steps ...
    twice = abut.pipe(start).step(10).step(10).save("twice.abut")           # ... are the same bytes as 10 and 10
    assert open(run, "rb").read() == open(twice, "rb").read()
    abut.pipe(run).step(10, from_=10, lags=4).save("branch.abut")           # another branch from frame 10 on

    scene = abut.new("slope")
    scene["contact"]["friction"]["mu"] = 0.9
    rough, last = abut.pipe(scene).save("rough.abut"), abut.open("run.abut")[-1]
    with abut.Writer("half-way.abut") as out:                               # as pipelines/examples/go_on.py does: another model
        out.model(rough.model.arrays())
        out.frame(last.step, last.time, last.arrays())
    abut.pipe("half-way.abut").step(10).judge().save("rougher.abut")


def an_interrupted_run():
    """From the files of restart_and_branch: what is left of a run that was ended in the middle."""
    whole = open("run.abut", "rb").read()
    open("cut.abut.part", "wb").write(whole[:len(whole) // 2])
    abut.call("salvage", "cut.abut.part", o="cut.abut")
    cut = abut.open("cut.abut")
    again = abut.pipe(cut).step(20 - cut[-1].step).judge().save("again.abut")
    assert (again[-1].x == abut.open("run.abut")[-1].x).all()


def stuck_or_slow():
    start = abut.pipe(abut.new("slope")).save("slope.abut")
    try:
        abut.pipe(start).step(100, max_newton=1, dump_stuck="stuck.abut").save("none.abut")
    except abut.ProgramError as e:
        assert e.code == 4
        print(e.message)                                                    # what bounded the step, and what may help
        abut.call("export", "stuck.abut", vtu="stuck-vtu")
    abut.pipe("stuck.abut").step(max_newton=100000).judge().save("unstuck.abut")
    abut.pipe(start).step(until_rest=1e-3, until=1).judge().save("rested.abut")


def a_stage_of_your_own():
    start = abut.open("start.abut")
    passes = abut.pipe(start).step(one_pass=True).stage("friction-lag").step(one_pass=True).stage("friction-lag")
    following = passes.save("next.abut")
    candidate = abut.pipe(following).step(one_pass=True).save("candidate.abut")
    frozen = abut.pipe(candidate).stage("friction-lag").save("frozen.abut")
    with abut.Writer("relaxed.abut") as out:        # as pipelines/examples/relax.py does: the lagged normal forces, relaxed
        out.model(frozen.model.arrays())
        for frame in frozen:
            arrays = frame.arrays()
            if frame.pending:
                before = dict(zip(map(tuple, candidate[-1]["lag/node"].tolist()), candidate[-1]["lag/normal-force"]))
                force = frame["lag/normal-force"].copy()
                for i, nodes in enumerate(frame["lag/node"].tolist()):
                    force[i] += (1 - 0.7) * (before.get(tuple(nodes), force[i]) - force[i])
                arrays["lag/normal-force"] = abut.Array(force, frame.units["lag/normal-force"], arrays["lag/normal-force"].flags)
            out.frame(frame.step, frame.time, arrays, frame.pending)


def scripts_of_the_public_ipc_code():
    """With a copy of that code's `input` folder."""
    abut.call("mesh-prep", ipc_script="input/tutorialExamples/2cubesFall.txt", o="cubes.abut")
    run = abut.pipe("cubes.abut").step(until=5).judge().save("cubes-5.abut")
    abut.call("export", run, gltf="cubes.glb")


RECIPES = [a_scene_to_begin_with, look_at_a_run, solids, curved_bodies, cloth_rods_grains, friction, hard_contact,
           a_press_test, time_schemes, solvers, derivatives_of_a_run, a_fixed_number_of_iterations, cloth_in_real_time,
           bodies_that_intersect_at_the_start, restart_and_branch, an_interrupted_run, stuck_or_slow, a_stage_of_your_own]
if os.path.isdir("input"):
    RECIPES.append(scripts_of_the_public_ipc_code)

if __name__ == "__main__":
    for recipe in RECIPES:
        if len(sys.argv) == 1 or recipe.__name__ in sys.argv[1:]:
            print("==", recipe.__name__.replace("_", " "))
            recipe()
