#!/usr/bin/env python3
"""motions.py ROOT BIN GROUP: what formats/MOTIONS.md promises, asked of mesh-prep and step: positions by closed forms, selections
against numpy, springs and messages. The functions of a group are its cases; a line is printed for each that fails."""
import io
import os
import re
import subprocess
import sys

import numpy as np

ROOT, BIN, GROUP = sys.argv[1:4]
sys.path.insert(0, os.path.join(ROOT, "formats", "python"))
import abut_stream  # noqa: E402

BOX = "generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}"
SHEET = "generate: {cloth: {size: [1, 1], cells: [4, 4]}}, shell: {thickness: 1 mm}"
CASES = {}


def case(group):
    def put(f):
        CASES.setdefault(group, []).append(f)
        return f
    return put


def program(name, *args, text=b""):
    return subprocess.run([os.path.join(BIN, name), "-q", "-j", "1", *args], input=text, capture_output=True)


def scene(motion="", objects=f"  a: {{{BOX}}}", step="0.01 s", gravity="[0, 0, 0]", more=""):
    """A scene without contact; motion: entries of the list."""
    return (f"time: {{step: {step}}}\ngravity: {gravity}\ncontact: off\ntolerance: 1e-9 m/s\n"
            f"materials: {{m: {{density: 1000, young: 1e5, poisson: 0.3}}}}\nobjects:\n{objects}\n{more}\n"
            + ("motion:\n" + motion if motion else "")).encode()


def prepared(text):
    p = program("mesh-prep", "-", text=text)
    assert p.returncode == 0 and not p.stderr, p.stderr.decode() or p.returncode
    return p.stdout


def run(text, steps):
    """The model and the positions of all frames."""
    start = prepared(text)
    p = program("step", "-n", str(steps), text=start)
    assert p.returncode == 0, p.stderr.decode()
    model, *frames = abut_stream.read(io.BytesIO(p.stdout))
    return model, np.array([f["node/x"] for f in frames])


def model_of(text):
    return next(iter(abut_stream.read(io.BytesIO(prepared(text)))))


def refused(text, words):
    p = program("mesh-prep", "-", text=text)
    assert p.returncode == 3 and words in p.stderr.decode() and not p.stdout, (p.returncode, p.stderr.decode())


def near(got, want, tolerance=1e-12):
    off = np.abs(np.asarray(got) - np.asarray(want)).max()
    assert off <= tolerance, f"off by {off:g}: {np.asarray(got).ravel()[:6]} for {np.asarray(want).ravel()[:6]}"


def turn(axis, angle):
    a = np.array(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def centre(model, x):
    """Of mass, per frame."""
    m = model["node/mass"]
    return np.einsum("i,fik->fk", m, x) / m.sum()


# ---- motions and loads ----

@case("moves")
def translate_has_a_velocity():
    model, x = run(scene("- {select: {object: a}, translate: [1, -2, 0.5]}"), 3)
    for n in range(4):
        near(x[n], model["node/X"] + 0.01 * n * np.array([1, -2, 0.5]))


@case("moves")
def rotate_is_about_the_middle_of_the_box_of_the_nodes_unless_a_centre_is_said():
    for words, c in (("", [0.5, 0, 0]), (", center: [1, 2, 3]", [1, 2, 3]), (", center: box", [0, 0, 0])):
        select = "{object: a, relative-box: [[1, 0, 0], [1, 1, 1]]}"
        model, x = run(scene(f"- {{select: {select}, rotate: {{axis: [0, 0, 2], rate: 90 deg/s{words}}}}}", step="0.1 s"), 2)
        X = model["node/X"]
        on = X[:, 0] > 0.4
        near(x[2][on], (X[on] - c) @ turn([0, 0, 1], np.pi / 10).T + c)


@case("moves")
def the_centre_moves_with_translate_from_the_start_of_the_motion_or_from_time_0():
    for start in (0.2, -3):
        model, x = run(scene(f"- {{select: {{object: a}}, translate: [1, 0, 0], rotate: {{axis: [0, 0, 1], rate: 1 rad/s}}, "
                             f"from: {start} s}}", step="0.1 s"), 4)
        t = 0.4 - max(start, 0)
        near(x[4], model["node/X"] @ turn([0, 0, 1], t).T + [t, 0, 0])


@case("moves")
def scale_grows_by_e_to_the_rate_times_time_for_each_axis():
    for rate, r in (("0.5 1/s", [0.5] * 3), ("[0.5, -1, 0]", [0.5, -1, 0])):
        model, x = run(scene(f"- {{select: {{object: a}}, scale: {{rate: {rate}, center: [1, 0, 0]}}}}", step="0.1 s"), 3)
        near(x[3], np.exp(0.3 * np.array(r)) * (model["node/X"] - [1, 0, 0]) + [1, 0, 0])


@case("moves")
def translate_rotate_and_scale_are_combined_and_share_one_centre():
    model, x = run(scene("- {select: {object: a}, translate: [0, 0, 1], rotate: {axis: [0, 1, 0], rate: 1 rad/s, "
                         "center: [1, 0, 0]}, scale: {rate: -1 1/s}}", step="0.1 s"), 3)
    near(x[3], np.exp(-0.3) * (model["node/X"] - [1, 0, 0]) @ turn([0, 1, 0], 0.3).T + [1, 0, 0.3])
    refused(scene("- {select: {object: a}, rotate: {axis: [0, 1, 0], rate: 1 rad/s, center: [1, 0, 0]}, scale: {rate: 1, center: "
                  "[0, 0, 0]}}"), "center: given twice")
    refused(scene("- {select: {object: a}, rotate: {axis: [0, 1, 0], rate: 1 rad/s}, scale: {rate: [1, 2, 3]}}"),
            "three rates together with rotate")


@case("moves")
def fixed_nodes_stay_and_nodes_that_are_let_go_are_free():
    model, x = run(scene("- {select: {object: a, nodes: [0, 1, 2, 3]}, fix: true}\n- {select: {object: a, nodes: [4, 5, 6, 7]}, "
                         "fix: true, until: 0.02 s}", gravity="[0, -10, 0]"), 4)
    near(x[:, :4], np.broadcast_to(model["node/X"][:4], (5, 4, 3)), 0)
    near(x[2], model["node/X"], 0)
    assert (x[4, 4:, 1] < x[2, 4:, 1]).all()


@case("moves")
def after_a_motion_nodes_are_free_or_held_and_the_next_begins_where_they_are():
    move = "- {select: {object: a}, translate: [1, 0, 0], until: 0.02 s%s}\n"
    model, x = run(scene(move % "", gravity="[0, -10, 0]"), 4)
    assert (x[4, :, 1] < model["node/X"][:, 1] - 1e-4).all()
    model, x = run(scene(move % ", hold: true", gravity="[0, -10, 0]"), 4)
    near(x[4], model["node/X"] + [0.02, 0, 0], 1e-15)
    model, x = run(scene(move % ", hold: true" + "- {select: {object: a}, translate: [0, 0, 1], from: 0.03 s, until: 0.05 s, "
                         "hold: true}"), 6)
    near(x[3], model["node/X"] + [0.02, 0, 0], 1e-15)
    near(x[6], model["node/X"] + [0.02, 0, 0.02], 1e-15)
    refused(scene(move % "" + "- {select: {object: a, nodes: [3]}, fix: true, from: 0.01 s}"),
            "node 3 of 'a' is moved by another motion (standard input:10:3) at the same time")


@case("moves")
def a_motion_that_begins_and_ends_within_steps_takes_place_as_a_whole():
    model, x = run(scene("- {select: {object: a}, translate: [1, 0, 0], from: 13 ms, until: 47 ms, hold: true}"), 6)
    near(x[6], model["node/X"] + [0.034, 0, 0])


@case("moves")
def obstacles_rest_before_between_and_after_their_motions():
    objects = f"  a: {{{BOX}}}\n  k: {{{BOX}, obstacle: true, translate: [5, 0, 0]}}"
    model, x = run(scene("- {select: {object: k}, translate: [1, 0, 0], from: 0.01 s, until: 0.02 s}\n"
                         "- {select: {object: k}, translate: [0, 1, 0], from: 0.03 s, until: 0.04 s}", objects), 5)
    k = model["node/object"] == 1
    for n, want in enumerate(([0, 0, 0], [0, 0, 0], [0.01, 0, 0], [0.01, 0, 0], [0.01, 0.01, 0], [0.01, 0.01, 0])):
        near(x[n][k], model["node/X"][k] + want, 1e-15)


@case("moves")
def a_motion_that_has_no_room_fails_and_names_the_obstacle():
    objects = (f"  a: {{{BOX}}}\n  floor: {{half-space: {{point: [0, -0.51, 0], normal: [0, 1, 0]}}}}\n"
               "  plate: {generate: {box: {size: [2, 0.1, 2], cells: [1, 1, 1]}}, obstacle: true, translate: [0, 0.6, 0]}")
    text = scene("- {select: {object: plate}, translate: [0, -12, 0]}", objects)
    p = program("step", "-n", "12", text=prepared(text.replace(b"contact: off\ntolerance: 1e-9 m/s\n", b"")))
    assert p.returncode == 4 and b"of 'plate' is" in p.stderr and b"scripted motion is blocked" in p.stderr, p.stderr.decode()


def load(words, steps=3, gravity="[0, 0, 0]", step="0.01 s", objects=f"  a: {{{BOX}}}", scheme=None):
    text = scene(f"- {{select: {{object: a}}, {words}}}", objects, step, gravity)
    if scheme:
        text = text.replace(b"time: {", f"time: {{scheme: {scheme}, ".encode())
    model, x = run(text, steps)
    c = centre(model, x)
    return model, c - c[0]


def falls(a, h=0.01):
    """Where implicit Euler is after steps with these accelerations at their ends."""
    v, x = 0, [0]
    for one in a:
        v = v + h * one
        x.append(x[-1] + h * v)
    return np.array(x)


@case("loads")
def loads_have_their_closed_forms_on_a_free_cube_of_a_tonne():
    t = 0.01 * np.arange(1, 5)
    for words, axis, a in (
            ("acceleration: [2, 0, 0]", 0, [2] * 4), ("force: [0, 2000, 0]", 1, [2] * 4),
            ("force-density: [0, 0, 2000]", 2, [2] * 4),
            ("acceleration: [2, 0, 0], from: 0.01 s, until: 0.03 s", 0, [0, 2, 2, 0]),
            ("acceleration: [2, 0, 0], ramp: 0.04 s", 0, 50 * t),
            ("acceleration: [2, 0, 0], ramp: 0.02 s", 0, [1, 2, 2, 2]),
            ("acceleration: [2, 0, 0], ramp: 0.02 s, interpolation: smooth", 0, [1, 2, 2, 2]),
            ("acceleration: [2, 0, 0], ramp: 0.04 s, interpolation: smooth", 0,
             [2 * u * u * (3 - 2 * u) for u in (0.25, 0.5, 0.75, 1)]),
            ("acceleration: [2, 0, 0], ramp: 0.02 s, from: 0.01 s", 0, [0, 1, 2, 2]),
            ("force: [0, 1000, 0], factor: {times: [0.01 s, 0.03 s], values: [3, -1]}", 1, [3, 1, -1, -1])):
        _, c = load(words, 4)
        want = np.zeros((5, 3))
        want[:, axis] = falls(a)
        near(c, want, 1e-9)


@case("loads")
def an_acceleration_adds_to_gravity_and_one_of_all_bodies_is_gravity_that_grows():
    _, c = load("acceleration: [2, 0, 0]", gravity="[0, -10, 0]")
    near(c[3], [falls([2] * 3)[3], falls([-10] * 3)[3], 0], 1e-9)
    text = scene("- {select: {}, acceleration: [0, -10, 0], ramp: 0.03 s}",
                 f"  a: {{{BOX}}}\n  b: {{{BOX}, translate: [3, 0, 0]}}")
    model, x = run(text, 3)
    near(x[3] - x[0], np.broadcast_to([0, falls([-10 / 3, -20 / 3, -10])[3], 0], x[0].shape), 1e-9)


@case("loads")
def midpoint_takes_loads_in_the_middle_of_a_step():
    _, c = load("force: [4000, 0, 0], ramp: 1 s", 1, step="0.01 s", scheme="midpoint")
    near(c[1], [4 * 0.005 * 0.01 ** 2 / 2, 0, 0], 1e-9 * 0.01)


@case("loads")
def traction_and_pressure_act_on_triangles_all_of_whose_corners_are_selected():
    face = f"- {{select: {{object: a, relative-box: [[0, 1, 0], [1, 1, 1]], surface: true}}, %s}}"
    for words, a in (("traction: [500, 0, 300]", [0.5, 0, 0.3]), ("pressure: 2 kPa", [0, -2, 0])):      # 1 m^2 of a tonne
        model, x = run(scene(face % words), 3)
        c = centre(model, x)
        near(c[3] - c[0], falls([1] * 3)[3] * np.array(a), 1e-9)
    _, c = load("pressure: 2 kPa")                      # all around: no resultant
    near(c, np.zeros((4, 3)), 1e-9)
    # of order 2: integrated over faces; the table has the centre of mass of the consistent mass matrix
    start = prepared(scene(face % "traction: [500, 0, 300]", f"  a: {{{BOX}, order: 2}}"))
    table = program("export", "--csv", "-", text=program("step", "-n", "3", text=start).stdout).stdout.decode().split("\n")
    last = dict(zip(table[0].split(","), table[4].split(",")))
    near([float(last[f"a.{k}_m"]) for k in "xyz"], falls([1] * 3)[3] * np.array([0.5, 0, 0.3]), 1e-9)


# ---- ends and keyframes ----

@case("keys")
def a_translation_ends_at_a_gap_past_an_object_at_a_coordinate_or_with_another_motion():
    objects = f"  a: {{{BOX}}}\n  wall: {{{BOX}, obstacle: true, translate: [2, 0, 0]}}"
    l = np.sqrt(3)
    for until, far in (("{gap: 0.9 m, to: wall}", 0.1), ("{gap: 0.5 l, to: wall}", 1 - 0.5 * l),
                       ("{past: wall, share: 0.05}", 0.15), ("{coordinate: 0.62}", 0.12)):
        model, x = run(scene(f"- {{select: {{object: a}}, translate: [10, 0, 0], until: {until}, hold: true}}", objects), 3)
        free = model["node/object"] == 0
        near(x[3][free], model["node/X"][free] + [far, 0, 0], 1e-12)
    model, x = run(scene("- {select: {object: a}, translate: [10, 0, 0], until: {coordinate: 0.62}, hold: true}\n"
                         "- {select: {object: wall}, translate: [0, 1, 0], until: {motion: 0}}", objects), 3)
    near(x[3][model["node/object"] == 1], model["node/X"][model["node/object"] == 1] + [0, 0.012, 0], 1e-12)


@case("keys")
def a_pose_scales_then_rotates_about_the_centre_and_then_moves():
    about_x, about_z = turn([1, 0, 0], np.pi / 2), turn([0, 0, 1], np.pi / 2)
    for words, R in (("rotate: {axis: [0, 0, 1], angle: 90 deg}", about_z), ("quaternion: [2, 2, 0, 0]", about_x),
                     ("rotate: [{axis: [0, 0, 1], angle: 90 deg}, {axis: [1, 0, 0], angle: 90 deg}]", about_x @ about_z)):
        for center, c in (("[1, 0, 0]", [1, 0, 0]), ("box", [0, 0, 0])):
            model, x = run(scene(f"- {{select: {{object: a}}, keyframes: [{{time: 0.02 s, translate: [0, 3, 0], {words}, "
                                 f"scale: [1, 2, 1]}}], center: {center}, hold: true}}"), 3)
            near(x[3], (model["node/X"] - c) * [1, 2, 1] @ R.T + c + [0, 3, 0])


@case("keys")
def between_keys_places_sizes_and_angles_change_evenly_or_smoothly_and_the_last_key_ends_the_motion():
    keys = "[{time: 0.02 s, translate: [1, 0, 0], rotate: {axis: [0, 0, 1], angle: 80 deg}, scale: 3}, {time: 0.04 s}]"
    for smooth in (0, 1):
        model, x = run(scene(f"- {{select: {{object: a}}, keyframes: {keys}, from: 0.01 s, interpolation: "
                             f"{'smooth' if smooth else 'linear'}}}", step="0.005 s", gravity="[0, -10, 0]"), 12)
        for n, u in ((3, 0.25), (4, 0.5), (6, 1), (8, 0.5), (10, 0)):
            w = u * u * (3 - 2 * u) if smooth else u
            near(x[n], (1 + 2 * w) * x[2] @ turn([0, 0, 1], w * np.radians(80)).T + [w, 0, 0])     # seen from where they were
        assert x[12, :, 1].mean() < x[10, :, 1].mean() - 1e-4       # free again


@case("keys")
def a_rotation_takes_the_shorter_angle_and_180_degrees_are_refused():
    keys = "[{time: 0.01 s, rotate: {axis: [0, 0, 1], angle: 170 deg}}, " \
           "{time: 0.02 s, rotate: {axis: [0, 0, 1], angle: 340 deg}}]"
    model, x = run(scene(f"- {{select: {{object: a}}, keyframes: {keys}, hold: true}}", step="0.005 s"), 4)
    for n, angle in ((1, 85), (3, 255), (4, 340)):
        near(x[n], model["node/X"] @ turn([0, 0, 1], np.radians(angle)).T)
    refused(scene("- {select: {object: a}, keyframes: [{time: 1 s, rotate: {axis: [0, 0, 1], angle: 180 deg}}]}"),
            "180 degrees or more")


@case("keys")
def a_sequence_moves_a_body_or_is_an_obstacle_that_rests_after_its_last_mesh():
    os.makedirs("seq", exist_ok=True)
    corners = np.array([[i, j, k] for k in (-0.5, 0.5) for j in (-0.5, 0.5) for i in (-0.5, 0.5)])
    for n in range(3):
        with open(f"seq/{n}.obj", "w") as f:
            f.writelines("v %g %g %g\n" % tuple(p + [0.1 * n, 0, 0]) for p in corners)
            f.write("f 1 3 2\nf 2 3 4\n")
    for files in ('files: "seq/%d.obj", step: 0.01 s', "files: [seq/0.obj, seq/1.obj, seq/2.obj], step: 0.01 s",
                  "files: [seq/0.obj, seq/1.obj, seq/2.obj], times: [0, 0.01, 0.02]"):
        objects = f"  a: {{{BOX}}}\n  k: {{sequence: {{{files}}}, obstacle: true, translate: [5, 0, 0], scale: 2}}"
        model, x = run(scene("", objects, "0.005 s"), 5)
        k = model["node/object"] == 1
        for n, far in ((1, 0.05), (2, 0.1), (4, 0.2), (5, 0.2)):
            near(x[n][k], model["node/X"][k] + [2 * far, 0, 0])
        model, x = run(scene(f"- {{select: {{object: a}}, sequence: {{{files}}}, hold: true}}",
                             f"  a: {{{BOX}, scale: 2, translate: [0, 1, 0]}}", "0.005 s"), 5)
        for n, far in ((1, 0.05), (4, 0.2), (5, 0.2)):
            near(x[n], model["node/X"] + [2 * far, 0, 0])


# ---- selections ----

@case("selections")
def every_condition_selects_what_it_says_and_all_of_them_what_all_say():
    objects = ("  a: {generate: {box: {size: [1, 1, 1], cells: [4, 4, 4]}}}\n"
               "  b: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, translate: [3, 0, 0]}\n"
               "  k: {" + BOX + ", obstacle: true, translate: [9, 0, 0]}")
    more = "selections: {low: {object: a, box: [[-9, -9, -9], [9, 0, 9]]}}"

    def selected(words):
        model = model_of(scene(f"- {{select: {words}, fix: true}}", objects, more=more))
        return model["node/role"] == 1, model["node/X"], model["node/object"]

    tol = 1e-9
    for words, rule in (
            ("{}", lambda x, o: o < 2), ("{object: a}", lambda x, o: o == 0), ("{object: [a, b]}", lambda x, o: o < 2),
            ("{box: [[0, -9, -9], [3, 0, 9]]}",
             lambda x, o: (o < 2) & (x[:, 0] >= -tol) & (x[:, 0] <= 3 + tol) & (x[:, 1] <= tol)),
            ("{object: b, relative-box: [[0, 0, 0], [1, 0.1, 1]]}", lambda x, o: (o == 1) & (x[:, 1] < -0.45)),
            ("{object: [a, b], relative-box: [[0.5, 0, 0], [1, 1, 1]]}", lambda x, o: (o == 1) & (x[:, 0] > 1)),
            ("{relative-box: [[0, 0, 0], [0.25, 1, 1]]}", lambda x, o: (o == 0) & (x[:, 0] <= 0.5 + tol)),
            ("{sphere: {center: [0, 0, 0], radius: 0.5}}", lambda x, o: (o < 2) & (np.linalg.norm(x, axis=1) <= 0.5 + tol)),
            ("{object: a, half-space: {point: [0.1, 0, 0], normal: [1, 1, 0]}}",
             lambda x, o: (o == 0) & (x[:, 0] + x[:, 1] <= 0.1 + tol)),
            ("{object: a, cylinder: {axis: [[0, -0.25, 0], [0, 0.25, 0]], radius: 0.3}}",
             lambda x, o: (o == 0) & (np.abs(x[:, 1]) <= 0.25 + tol) & (np.hypot(x[:, 0], x[:, 2]) <= 0.3)),
            ("{object: a, nodes: [0, 7, 124]}", lambda x, o: (o == 0) & np.isin(np.arange(len(x)), [0, 7, 124])),
            ("{object: a, surface: true}", lambda x, o: (o == 0) & (np.abs(x).max(axis=1) > 0.49)),
            ("{object: a, surface: true, sphere: {center: [0, 0, 0], radius: 0.6}}",
             lambda x, o: (o == 0) & (np.abs(x).max(axis=1) > 0.49) & (np.linalg.norm(x, axis=1) <= 0.6)),
            ("low", lambda x, o: (o == 0) & (x[:, 1] <= tol))):
        got, x, o = selected(words)
        want = rule(x, o)
        assert want.any() and (got == want).all(), f"{words}: {got.sum()} for {want.sum()}"
    refused(scene("- {select: {object: a, box: [[7, 7, 7], [8, 8, 8]]}, fix: true}"), "select")
    # an obstacle is selected by its name alone
    model = model_of(scene("- {select: {object: k}, translate: [1, 0, 0]}", objects))
    assert not (model["node/role"] == 1).any()


# ---- attachments and seams ----

@case("attachments")
def springs_tie_a_body_to_what_the_scene_says():
    two = f"  a: {{{BOX}}}\n  b: {{{BOX}, translate: [0, 2, 0]%s}}"
    tie = "attachments: [{from: {object: a, relative-box: [[0, 1, 0], [1, 1, 1]]}, to: %s, stiffness: 7 N/m%s}]"
    for objects, to, more, n in ((two % "", "{object: b}", "", 4), (two % ", obstacle: true", "{object: b}", "", 4),
                                 (two % "", "{point: [0, 3, 0]}", "", 4), (two % "", "{object: b}", ", within: 1.01 m", 4),
                                 (two % "", "{point: [0.5, 1, 0.5]}", ", within: 0.6 m", 1),
                                 (f"  a: {{{BOX}}}\n  b: {{{SHEET}, translate: [0, 2, 0]}}", "{object: b}", "", 4)):
        model = model_of(scene("", objects, more=tie % (to, more)))
        assert len(model["attachment/stiffness"]) == n and (model["attachment/stiffness"] == 7).all(), (to, more)
        assert (model["node/X"][model["attachment/node"][:, 0], 1] == 0.5).all()
    refused(scene("", two % "", more=tie % ("{object: b}", ", within: 0.5 m")), "within")


def rests(text):
    return text.replace(b"time: {", b"time: {scheme: quasi-static, ")


@case("attachments")
def a_spring_has_no_length_at_the_start_and_an_obstacle_carries_its_anchor():
    objects = f"  a: {{{BOX}}}\n  k: {{{BOX}, obstacle: true, translate: [0, 2, 0]}}"
    tie = "attachments: [{from: {object: a}, to: {object: k}, stiffness: 1e4 N/m}]"
    model, x = run(rests(scene("- {select: {object: k}, translate: [1, 0, 0], until: 1 s}", objects, "0.25 s", more=tie)), 3)
    near(x[0], model["node/X"], 0)
    near(x[3] - model["node/X"], np.broadcast_to([0.75, 0, 0], x[3].shape), 1e-6)
    # eight springs bear a tonne: m g / 8 k
    model, x = run(rests(scene("", objects, "0.25 s", "[0, -8, 0]", tie)), 1)
    body = model["node/object"] == 0
    near((x[1] - model["node/X"])[body, 1].mean(), -0.1, 1e-6)


@case("attachments")
def bodies_that_are_tied_together_turn_together():
    objects = f"  a: {{{BOX}}}\n  b: {{{BOX}, translate: [0.2, 1.5, 0.1]}}"
    tie = "attachments: [{from: {object: b}, to: {object: a}, stiffness: 1e4 N/m}]"
    turning = "- {select: {object: a}, rotate: {axis: [1, 2, 3], rate: 30 deg/s}}"
    model, x = run(rests(scene(turning, objects, "0.25 s", more=tie)), 4)
    near(x[4], model["node/X"] @ turn([1, 2, 3], np.radians(30)).T, 1e-5)


def anchors(model):
    """Where springs pull to at the start."""
    at = np.zeros((len(model["attachment/stiffness"]), 3))
    for i, (node, weight) in enumerate(zip(model["attachment/node"], model["attachment/weight"])):
        at[i] = sum(w * model["node/X"][k] for k, w in zip(node[1:], weight) if k >= 0)
    return at + (model["attachment/offset"] if "attachment/offset" in model.arrays else 0)


@case("attachments")
def a_shell_and_a_point_carry_no_place_away_from_themselves():
    tie = "attachments: [{from: {object: a}, to: %s, stiffness: 7 N/m}]"
    model = model_of(scene("", f"  a: {{{BOX}}}\n  b: {{{SHEET}, translate: [0, 2, 0]}}", more=tie % "{object: b}"))
    X = model["node/X"][model["attachment/node"][:, 0]]
    near(anchors(model), np.c_[X[:, 0], np.full(len(X), 2), X[:, 2]])
    model = model_of(scene("", more=tie % "{point: [0, 9, 0]}"))
    near(anchors(model), np.broadcast_to([0, 9, 0], (8, 3)))
    model = model_of(scene("", f"  a: {{{BOX}}}\n  b: {{{BOX}, obstacle: true, translate: [0, 2, 0]}}", more=tie % "{object: b}"))
    near(anchors(model), model["node/X"][model["attachment/node"][:, 0]])


@case("attachments")
def seams_sew_borders_pockets_sleeves_and_a_sheet_to_itself():
    front = (f"  front: {{{SHEET}}}\n"
             "  back: {generate: {cloth: {size: [1, 1], cells: [3, 3]}}, shell: {thickness: 2 mm}, translate: [0, 0.1, 0]}")
    side = "relative-box: [[0, 0, 0], [0, 1, 1]]"
    tubes = ("  arm: {generate: {tube: {radius: 0.1, height: 0.2, cells: [12, 2]}}, shell: {thickness: 1 mm}, "
             "translate: [0, 0.3, 0]}\n"
             "  body: {generate: {tube: {radius: 0.1, height: 0.2, cells: [6, 2]}}, shell: {thickness: 1 mm}}")
    for objects, a, b, stiffness, n, k in (
            (front, f"object: front, {side}", f"object: back, {side}", "", 5, 1e5 * 1e-3),
            (front, f"object: back, {side}", f"object: front, {side}", ", stiffness: 3 N/m", 4, 3),
            (front, f"object: back, {side}", "object: front, box: [[-0.01, -1, -1], [0.01, 1, 1]]", "", 4, 1e5 * 2e-3),
            (tubes, "object: arm, relative-box: [[0, 0, 0], [1, 0.01, 1]]",
             "object: body, relative-box: [[0, 0.99, 0], [1, 1, 1]]", "", 12, 100),
            (f"  front: {{{SHEET}}}", f"object: front, {side}", "object: front, relative-box: [[1, 0, 0], [1, 1, 1]]", "", 5,
             100)):
        model = model_of(scene("", objects, more=f"seams: [{{from: {{{a}}}, to: {{{b}}}{stiffness}}}]"))
        near(model["attachment/stiffness"], np.full(n, k), 1e-9 * k)
        assert len(model["attachment/stiffness"]) == n
        # every node is tied to the place of the same fraction of the length
        for node, weight in zip(model["attachment/node"], model["attachment/weight"]):
            at = sum(w * model["node/X"][i] for i, w in zip(node[1:], weight) if i >= 0)
            near(at[2], model["node/X"][node[0], 2], 0.03 if objects is tubes else 1e-12)
    names = f"selections: {{f: {{object: front, {side}}}, g: {{object: back, {side}}}}}\nseams: [{{from: f, to: g}}]"
    assert len(model_of(scene("", front, more=names))["attachment/stiffness"]) == 5
    apart = f"seams: [{{from: {{object: front, nodes: [0, 12]}}, to: {{object: back, {side}}}}}]"
    refused(scene("", front, more=apart), "no side of a triangle of 'front' has both ends selected")


# ---- the blocks of the document ----

SHOWN = """  roof: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 1.5, 0]}
  pad: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [2, 0, 0]}
  ball: {generate: {sphere: {radius: 0.4, cells: 2}}, translate: [4, 0, 0]}
  knife: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [6, 0, 0]}
  face: {mesh: face.msh, translate: [8, 0, 0]}
  lamp: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, translate: [10, 0, 0]}
  shelf: {generate: {box: {size: [1, 0.1, 1], cells: [1, 1, 1]}}, obstacle: true, translate: [10, 0.58, 0]}
  front: {generate: {cloth: {size: [0.4, 0.5], cells: [4, 5]}}, shell: {thickness: 1 mm}, translate: [12, 0, 0]}
  back: {generate: {cloth: {size: [0.4, 0.5], cells: [4, 4]}}, shell: {thickness: 1 mm}, translate: [12, 0.1, 0]}"""


@case("document")
def every_block_runs():
    with open("face.msh", "w") as f:
        f.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
                "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n")
    for name, s in (("smile", 1.1), ("frown", 0.9)):
        with open(name + ".obj", "w") as f:
            f.write(f"v 0 0 0\nv {s} 0 0\nv 0 1 0\nv 0 0 1\n")
    blocks = re.findall(r"```yaml\n(.*?)```", open(os.path.join(ROOT, "formats", "MOTIONS.md")).read(), re.S)
    assert len(blocks) >= 4, len(blocks)
    for block in blocks:
        text = scene("", SHOWN) + block.encode()
        names = [n for n in re.findall(r"^  (\w+):", SHOWN, re.M) if n in block]
        assert names, block
        open("shown.yaml", "wb").write(text)
        p = program("mesh-prep", "shown.yaml", "-o", "shown.abut")
        assert p.returncode == 0, p.stderr.decode()
        p = program("step", "-n", "2", "shown.abut", "-o", "run.abut")
        assert p.returncode == 0, p.stderr.decode()


def main():
    bad = 0
    for f in CASES[GROUP]:
        try:
            f()
        except AssertionError as e:
            print(f"{f.__name__}: {e}")
            bad += 1
    sys.exit(bad > 0)


main()
