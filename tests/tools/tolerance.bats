#!/usr/bin/env bats
# What the end of a step means: how near it is to the minimum, beside the same step by the published rule and far beyond it.
load helpers

# apart A B: the largest distance of a coordinate between the last frames of two streams, m
apart() {
    local f
    for f in "$1" "$2"; do "$BIN/export" --frames -1 --nodes "nodes.$f" "$f" 2>/dev/null; done
    paste -d, "nodes.$1"/*.csv "nodes.$2"/*.csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF / 2; i++) if ($i ~ /^[xyz]_m$/) at[++n] = i; half = NF / 2; next }
        { for (k = 1; k <= n; k++) { d = $at[k] - $(at[k] + half); d = d < 0 ? -d : d; if (d > far) far = d } }
        END { if (n != 3 || NR < 2) exit 1; print far + 0 }'
}

@test "stiff hair ends a step within a few tolerances of its minimum, where the published rule stops far from it" {
    "$BIN/mesh-prep" "$ROOT/pipelines/experiments/codimensional/scenes/hair.yaml" --set 'objects.held.generate.strands.count=[2,2]' \
        --set 'objects.falling.generate.strands.count=[3,2]' --set length=bounding-box --set 'tolerance=1e-2 l/s' \
        --set 'contact.friction.eps_v=1e-3 l/s' -o hair.abut
    "$BIN/step" -j 1 -n 6 --stop published hair.abut -o run.abut
    "$BIN/step" -j 1 --stop published run.abut -o published.abut
    "$BIN/step" -j 1 run.abut -o ours.abut
    "$BIN/step" -j 1 --tolerance 1e-7 run.abut -o exact.abut
    "$BIN/ccd-check" --no-output ours.abut
    tolerance=$("$BIN/export" run.abut | grep -o 'tolerance [^ ]* m/s' | cut -d' ' -f2)
    h=$("$BIN/export" run.abut | grep -o 'time step [^ ]* s' | cut -d' ' -f3)
    awk -v p="$(apart published.abut exact.abut)" -v o="$(apart ours.abut exact.abut)" -v one="$tolerance" -v h="$h" '
        BEGIN { print p / one / h, o / one / h; exit !(p > 8 * one * h && o > 0 && o < 4 * one * h) }'
}

# slid OPTION...: how far the block has gone after 1.25 s
slid() {
    "$BIN/step" -j 1 -n 50 --every 50 --with energies "$@" slope.abut | "$BIN/export" --csv - |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "center_x_m") at = i; next } { x = $at } END { print x }'
}

@test "a block on a slope lets go in time at the default tolerance" {
    cat > slope.yaml <<'Y'
time: {step: 0.025 s}
gravity: [4.387165371735013, -8.774330743470026, 0]
contact: {friction: {mu: 0.49}}
materials: {stiff: {young: 1e7}}
objects:
  block: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, material: stiff, translate: [0, 0.501, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" slope.yaml -o slope.abut
    awk -v exact="$(slid --tolerance 1e-6)" -v ours="$(slid)" 'BEGIN { exit !(exact > 0.09 && ours > 0.9 * exact && ours < 1.02 * exact) }'
    "$BIN/mesh-prep" slope.yaml --set 'tolerance=1e-2 l/s' --set 'contact.friction.eps_v=1e-3 l/s' \
        --set contact.kappa-scale=0.5 -o slope.abut
    awk -v exact="$(slid --tolerance 1e-6)" -v ours="$(slid)" -v published="$(slid --stop published)" 'BEGIN {
        print exact, ours, published
        exit !(exact > 0.09 && ours > 0.9 * exact && ours < 1.02 * exact && published < 0.6 * exact) }'
}

@test "a step goes on where friction lets go on a direction that would have been the last" {
    cat > meet.yaml <<'Y'
abut: 1
time: {step: 0.005 s}
contact: {friction: {mu: 0.2}}
materials: {m: {model: neo-hookean, density: 2500, young: 1e7, poisson: 0.3}}
objects:
  a: {generate: {box: {size: [0.1, 0.06, 0.1], cells: [2, 2, 2]}}, frame: true, translate: [-0.0515, 0.065, 0.004],
      velocity: [0.5, 0, 0], material: m}
  b: {generate: {box: {size: [0.1, 0.06, 0.1], cells: [2, 2, 2]}}, frame: true, translate: [0.0515, 0.075, -0.007],
      velocity: [-0.5, 0, 0.1], material: m}
Y
    "$BIN/mesh-prep" -q meet.yaml | "$BIN/step" -q -n 4 -o run.abut
    local k
    for k in 1 2 3; do
        "$BIN/step" -q -j 1 --from $k -n 1 run.abut -o ours.abut
        "$BIN/step" -q -j 1 --from $k -n 1 --tolerance 1e-7 run.abut -o exact.abut
        rm -rf nodes.*
        apart ours.abut exact.abut
    done | awk '{ print $1 / 0.005 / 0.00124; if ($1 > 0.005 * 0.00124) bad = 1 } END { exit bad || NR != 3 }'   # sqrt(g l) is 1.24 m/s
}

@test "friction passes go on while a contact is about to let go, though the tolerance is beyond the stiction speed" {
    cat > slope.yaml <<'Y'
time: {step: 0.025 s}
gravity: [4.387165371735013, -8.774330743470026, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.49, eps_v: 1e-5 l/s, lags: converged}}
tolerance: 1e-4 l/s
materials: {stiff: {model: fixed-corotated, young: 1e9}}
objects:
  block: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: stiff, translate: [0, 0.502, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    for mu in 0.48 0.49 0.52; do
        "$BIN/mesh-prep" slope.yaml --set contact.friction.mu=$mu -o slope.abut
        awk -v mu=$mu -v exact="$(slid --tolerance 1e-7)" -v ours="$(slid)" -v published="$(slid --stop published)" 'BEGIN {
            print mu, exact, ours, published
            if (exact !~ /[0-9]/ || ours !~ /[0-9]/ || published !~ /[0-9]/) exit 1
            if (mu > 0.5) exit !(exact < 1e-3 && ours < 1e-3)
            exit !(exact > 0.06 && ours > 0.99 * exact && ours < 1.01 * exact && published < 0.95 * exact) }'
    done
}

@test "--stop published is the first condition alone, and goes with no tolerance of forces" {
    two_boxes 2 0.31 > boxes.yaml
    "$BIN/mesh-prep" boxes.yaml -o boxes.abut
    "$BIN/step" -n 4 --stop published --report p.jsonl boxes.abut -o p.abut
    grep -q '"stop":"published"' <("$BIN/export" p.abut)
    "$BIN/ccd-check" --no-output p.abut
    exits 2 "$BIN/step" --stop published --force-tolerance 0.1 boxes.abut -o x.abut
    exits 2 "$BIN/step" --stop published --solver pd --contact ignore boxes.abut -o x.abut
    says "--stop published does not go with --solver pd"
}

@test "a step whose forces are ten times further from balance than asked for is given up; rounding of positions is no reason" {
    cat > hour.yaml <<'Y'
time: {step: 1 h}
force-tolerance: 1e-3
contact: {friction: {mu: 0.4}}
materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects:
  top: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0.02, 0.2, 0]}
  bottom: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}}, translate: [0, 0.06, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.5}
Y
    "$BIN/mesh-prep" -q hour.yaml -o hour.abut
    for j in 1 2; do
        exits 4 "$BIN/step" -n 3 -j $j --dump-stuck stuck$j.abut --report hour.jsonl hour.abut -o x.abut
        says "step 1 (t = 0 s): forces on 'top' do not balance after"
        says "want 0.001, accepted up to 0.01"
        says "a smaller time.step may help; a larger force-tolerance accepts what is left"
    done
    cmp stuck1.abut stuck2.abut
    awk -F'"force_residual":' '{ split($2, a, ","); n++; if (!(a[1] > 0.01)) exit 1 } END { exit n != 1 }' hour.jsonl
    "$BIN/salvage" -q x.abut.part -o before.abut
    "$BIN/step" -q --stop published before.abut | "$BIN/ccd-check" -q --no-output
    "$BIN/export" --dump stuck1.abut > dump
    grep -q 'forces on .top. do not balance' dump
    exits 4 "$BIN/step" stuck1.abut -o y.abut
    # rules and stages that do not ask for balance
    "$BIN/step" -q --iterations 3 hour.abut -o y.abut
    "$BIN/step" -q --one-pass --iterations 3 hour.abut | "$BIN/friction-lag" -q --max-lags 1 -o y.abut
    # 10 s balance
    "$BIN/mesh-prep" -q hour.yaml --set time.step='10 s' | "$BIN/step" -q -n 3 --report ten.jsonl | "$BIN/ccd-check" -q --no-output
    # what is asked for is below the last digit of the positions
    "$BIN/mesh-prep" -q hour.yaml --set time.step='0.01 s' | "$BIN/step" --force-tolerance 1e-17 -n 2 -o z.abut 2>said
    grep -q 'rounding kept the forces of 2 of 2 steps from balancing: up to .* (want 1e-17)' said
}

@test "step --with forces writes the error of contact forces, its summary says it, export has it; without forces there is none" {
    two_boxes 2 0.31 > boxes.yaml
    "$BIN/mesh-prep" -q boxes.yaml --set contact.friction.mu=0.3 -o boxes.abut
    for j in 1 2 7; do "$BIN/step" -j $j -n 6 --with forces --report r.jsonl boxes.abut -o j$j.abut 2>said; done
    cmp j1.abut j2.abut
    cmp j1.abut j7.abut
    "$BIN/step" -q -n 2 --with forces boxes.abut | "$BIN/step" -q -n 4 --with forces -o rest.abut
    for f in j1 rest; do "$BIN/export" --dump --array object/contact-error $f.abut | grep -A2 '^array' | tail -n 11 > $f.error; done
    cmp j1.error rest.error
    "$BIN/export" -q j1.abut --csv all.csv
    # of the step where it is largest: percent of the largest force on the body, and the parts above a hundredth of it
    python3 - r.jsonl said all.csv <<'P'
import csv, json, re, sys
steps = [json.loads(l) for l in open(sys.argv[1])]
parts = ("balance", "passes", "newton")
worst = max((s for s in steps if s["contact_error"]), key=lambda s: s["contact_error"])
assert abs(worst["contact_error"] - sum(worst["contact_error_" + p] for p in parts)) < 1e-12 * worst["contact_error"]
said = re.search(r"contact forces within (\S+) % of the largest force on a body \((.*)\)", open(sys.argv[2]).read())
assert abs(float(said[1]) - 100 * worst["contact_error"]) <= 0.05 * float(said[1]), (said[0], worst)
shown = dict(p.split() for p in said[2].split(", "))
assert set(shown) == {p for p in parts if worst["contact_error_" + p] > 0.01 * worst["contact_error"]}, (said[0], worst)
rows = list(csv.DictReader(open(sys.argv[3])))
for row, step in zip(rows[1:], steps):
    of = [float(row[c]) for c in row if c.endswith(".contact_error_N")]
    assert len(of) == 2 and (step["contact_error"] is None) == (max(of) == 0), row
    if step["contact_error"]: assert max(of) / step["force_largest"] <= 1.0001 * step["contact_error"]
P
    "$BIN/step" -n 6 --report r.jsonl boxes.abut -o plain.abut 2>said
    exits 1 grep -q 'contact forces within' said
    exits 1 grep -q '"contact_error":[0-9]' r.jsonl
    "$BIN/export" --dump --no-data plain.abut > dump
    exits 1 grep -q contact-error dump
    # positions are those of a step without
    for f in j1 plain; do "$BIN/export" --dump --array node/x $f.abut | grep -v '^prov\|^frame' > $f.x; done
    cmp j1.x plain.x
    # --every: of frames that are written
    "$BIN/step" -q -n 6 --every 3 --with forces boxes.abut | "$BIN/export" --dump --array object/contact-error | grep -A2 '^array' | tail -n 2 | cmp - <(tail -n 2 j1.error)
}

# bats test_tags=slow
@test "contact forces are as wrong as their estimate says: at most 3 times it, beside the step solved to the last digit, by each solver" {
    cat > errors.py <<'P'
# Takes single steps of small scenes with default options and, from the same frame, at 1e-4 of both tolerances with converged friction.
import csv, io, subprocess, sys
bin, solver, scenes = sys.argv[1], sys.argv[2], sys.argv[3:]

def run(*words, stdin=None):
    return subprocess.run([bin + "/" + words[0], "-q", *map(str, words[1:])], input=stdin, stdout=subprocess.PIPE, check=True).stdout

def box(name, at, more="", size="[0.1, 0.1, 0.1]", cells="[2, 2, 2]"):
    return "  %s: {generate: {box: {size: %s, cells: %s}}, translate: %s%s}\n" % (name, size, cells, at, more)

def scene(objects, floor=True, motion="", time="0.01 s", gravity="[0, -9.81, 0]"):
    return ("time: {step: %s}\ngravity: %s\ncontact: {friction: {mu: 0.4}}\n"
            "materials: {rubber: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}\nobjects:\n%s%s%s" % (time, gravity,
            objects, "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.5}\n" if floor else "", motion))

rest = box("box", "[0, 0.052, 0]")
flat = ", obstacle: true, mu: 0.5"
SCENES = {      # text, the steps that are looked at
    "rest": (scene(rest), (3, 6, 12, 25)),
    "rest on a mesh": (scene(rest + box("floor", "[0.013, -0.05, 0.021]", flat, "[1, 0.1, 1]", "[3, 1, 3]"), False), (3, 6, 8, 25)),
    "slide": (scene(box("box", "[0, 0.052, 0]", ", velocity: [2, 0, 0]")), (3, 6, 12)),
    "pressed": (scene(box("block", "[0, 0.0502, 0]") + box("plate", "[0, 0.1112, 0]", "", "[0.2, 0.02, 0.2]", "[2, 1, 2]"),
                      motion="motion:\n  - {select: {object: plate}, translate: [0, -0.05, 0]}\n"), (4, 10, 15, 18, 20)),
    "stack": (scene(box("low", "[0, 0.052, 0]") + box("high", "[0.01, 0.1545, 0.005]")), (4, 8, 16, 30)),
    "ball of order 2": (scene("  ball: {generate: {ball: {radius: 0.05, divisions: 1}}, order: 2, translate: [0, 0.053, 0]}\n"), (4, 8, 30)),
    "shell": (scene("  sheet: {generate: {cloth: {size: [0.2, 0.2], cells: [4, 4]}}, translate: [0, 0.002, 0], "
                    "shell: {thickness: 1 mm}, material: rubber}\n"), (2, 3, 4)),
    "rod": (scene("  rod: {generate: {rod: {length: 0.2, cells: 8}}, translate: [0, 0.004, 0], rod: {radius: 2 mm}, "
                  "material: rubber}\n"), (3, 4, 5)),
    "incline": (scene(rest, gravity="[2.5, -9.5, 0]"), (3, 5, 12, 25)),
    "impact": (scene(box("box", "[0, 0.06, 0]", ", velocity: [0.5, -2, 0], rotate: {axis: [0, 0, 1], angle: 10 deg}"),
                     time="0.005 s"), (1, 2, 4, 6)),
    "indent": (scene(box("block", "[0, 0.05, 0]", "", "[0.2, 0.1, 0.2]", "[4, 2, 4]") +
                     "  ball: {generate: {sphere: {radius: 0.03, cells: 4}}, translate: [0, 0.1305, 0]}\n", False,
                     "motion:\n  - {select: {object: ball}, translate: [0, -0.01, 0]}\n"
                     "  - {select: {object: block, relative-box: [[0, 0, 0], [1, 0, 1]]}, fix: true}\n", "0.1 s, scheme: quasi-static"),
               (3, 6, 8)),
}

def row(stream):
    return list(csv.DictReader(io.StringIO(run("export", "--csv", "-", stdin=stream).decode())))[-1]

def number(stream, array):
    lines = run("export", "--dump", "--array", array, stdin=stream).decode().split("\n")
    return float(next(lines[i + 1] for i, l in enumerate(lines) if l.startswith("array " + array)))

bad = seen = near = 0
for name in scenes or SCENES:
    text, steps = SCENES[name]
    before, at = run("mesh-prep", "-", stdin=text.encode()), 0
    for step in steps:
        if step - 1 > at:
            before, at = run("step", "--solver", solver, "-n", step - 1 - at, stdin=before), step - 1
        one = run("step", "--solver", solver, "-n", 1, "--with", "forces", stdin=before)
        tight = run("step", "-n", 1, "--with", "forces", "--lags", "converged",
                    "--tolerance", 1e-4 * number(before, "solve/tolerance"),
                    "--force-tolerance", 1e-4 * number(before, "solve/force-tolerance"), stdin=before)
        a, b = row(one), row(tight)
        for column in [c for c in a if c.endswith(".contact_error_N")]:
            o = column[:-len("contact_error_N")]
            force = lambda r: [float(r[o + "contact_%s_N" % k]) + float(r[o + "friction_%s_N" % k]) for k in "xyz"]
            f, g = force(a), force(b)
            true, size = sum((p - q) ** 2 for p, q in zip(f, g)) ** 0.5, sum(p * p for p in g) ** 0.5
            estimate = float(a[column])
            parts = [float(a[o + "contact_error_%s_N" % k]) for k in ("balance", "passes", "newton")]
            if abs(estimate - sum(parts)) > 1e-12 * estimate: sys.exit("%s is not the sum of its parts" % column)
            if true <= 1e-9 * size: continue        # rounding
            ratio = true / estimate if estimate > 0 else float("inf")
            seen, near, bad = seen + 1, near + (ratio > 1 / 3), bad + (ratio > 3)
            print("%-16s step %2d %-6s %10.4g N, error %8.2g N, estimate %8.2g N (%s): %.2f" % (name, step, o[:-1], size, true,
                  estimate, " ".join("%.1g" % p for p in parts), ratio))
print(seen, "errors,", bad, "above 3 estimates,", near, "above a third of one")
sys.exit(bad > 0 or seen < 2 * len(scenes or SCENES) or near < 0.8 * seen)
P
    python3 errors.py "$BIN" newton
    for solver in lbfgs-h dot newton-cg; do python3 errors.py "$BIN" $solver slide stack impact; done
}

# meets NAME TURN TIME LENGTH MORE: boxes of order 2 that meet at 1 m/s over a floor, turned about (1, 2, 3) by TURN degrees, in units of
# TIME seconds and LENGTH metres, with MORE objects, run for 20 steps; their middles, in LENGTH and turned back, are the lines of NAME.
meets() {
    python3 - "$@" > "$1.yaml" <<'P'
import math, sys
turn, time, length, more = *(float(a) for a in sys.argv[2:5]), sys.argv[5]
x, y, z = (q / math.sqrt(14) for q in (1, 2, 3))
c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
t = 1 - c
R = [[t*x*x + c, t*x*y - s*z, t*x*z + s*y], [t*x*y + s*z, t*y*y + c, t*y*z - s*x], [t*x*z - s*y, t*y*z + s*x, t*z*z + c]]
def vec(v, f=1): return "[%s]" % ", ".join("%.17g" % (f * sum(r[k] * v[k] for k in range(3))) for r in R)
spin = "rotate: {axis: [1, 2, 3], angle: %.17g deg}, " % turn if turn else ""
box = "generate: {box: {size: [0.1, 0.06, 0.1], cells: [1, 1, 1]}}, order: 2, scale: %.17g, %smaterial: m" % (length, spin)
print("time: {step: %.17g s}" % (0.005 * time))
print("gravity: %s" % vec([0, -9.81, 0], length * time ** -2))
print("contact: {friction: {mu: 0.2}}")
print("materials: {m: {density: 2500, young: %.17g, poisson: 0.3}}" % (1e7 * (length / time) ** 2))
print("objects:")
print("  a: {%s, translate: %s, velocity: %s}" % (box, vec([-0.0515, 0.065, 0.004], length), vec([0.5, 0, 0], length / time)))
print("  b: {%s, translate: %s, velocity: %s}" % (box, vec([0.0515, 0.075, -0.007], length), vec([-0.5, 0, 0.1], length / time)))
print("  floor: {half-space: {point: [0, 0, 0], normal: %s}}" % vec([0, 1, 0]))
print(more)
P
    "$BIN/mesh-prep" -q "$1.yaml" --explain -o "$1.start.abut" 2> "$1.explained"
    "$BIN/step" -q -j 1 -n 20 --report "$1.jsonl" "$1.start.abut" -o "$1.abut"
    "$BIN/ccd-check" -q --no-output "$1.abut"
    "$BIN/export" -q --csv - "$1.abut" | python3 -c '
import csv, math, sys
turn = math.radians(-float(sys.argv[1])); unit = float(sys.argv[2]); k = [q / math.sqrt(14) for q in (1, 2, 3)]; c, s = math.cos(turn), math.sin(turn)
for r in csv.DictReader(sys.stdin):
    for o in "ab":
        v = [float(r["%s.%s_m" % (o, q)]) / unit for q in "xyz"]; d = sum(p * q for p, q in zip(k, v))
        w = [k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2], k[0] * v[1] - k[1] * v[0]]
        print(*["%.17g" % (c * v[i] + s * w[i] + (1 - c) * d * k[i]) for i in range(3)])' "$2" "$4" > "$1"
    grep -h '"newton_iterations"' "$1.jsonl" | grep -o '"newton_iterations":[0-9]*' > "$1.iterations"
}

@test "a scene that is turned, in another unit of time, of another size, or beside a far body moves as before, at the defaults" {
    meets base 0 1 1 ''
    meets turned 37 1 1 ''
    meets slow 0 1000 1 ''
    meets tiny 0 1e-9 1e-9 ''
    meets far 0 1 1 '  c: {generate: {box: {size: [0.1, 0.06, 0.1], cells: [1, 1, 1]}}, order: 2, translate: [10, 5, 0], material: m}'
    local other
    for other in turned slow tiny far; do
        paste base "$other" | awk -v what="$other" '
            { for (k = 1; k <= 3; k++) { d = $k - $(k + 3); d = d < 0 ? -d : d; if (d > far) far = d } }
            END { print what, NR, far; exit !(NR == 42 && far < 1e-6) }'     # the bodies move by 0.05 m and more
    done
    cmp base.iterations slow.iterations
    cmp base.iterations tiny.iterations
    # the extent of a box is its diagonal
    grep -E "^  l +0.153622915 +m .*, the smallest body" far.explained
    # sqrt(g l) is 1.2276 m/s
    grep -E "^  eps_v +0.00012276159 +m/s +0.0001 of sqrt" far.explained
    grep -E "^  tolerance +0.0012276159 +m/s +0.001 of sqrt" far.explained
    meets large 0 1 1 '  c: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [10, 5, 0], material: m}'
    diff <(grep -E "^  (l|dhat|eps_v|tolerance|mean mass|kappa min) " base.explained) \
        <(grep -E "^  (l|dhat|eps_v|tolerance|mean mass|kappa min) " large.explained)
    grep -E "^  c +l 1.73205081 m, dhat 0.00173205081 m" large.explained
    meets light 0 1 1 '  c: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [10, 5, 0], material: m, velocity: [0, 1, 0]}'
    paste base light | awk '{ for (k = 1; k <= 3; k++) { d = $k - $(k + 3); if (d * d > 1e-6) bad = 1 } } END { exit bad }'
}

@test "particles land on a body a hundred thousand times as heavy, whose rounding hides what they weigh" {
    cat > particles.yaml <<'END'
abut: 1
time: {step: 0.005 s}
contact: {friction: {mu: 0.2}}
materials:
  m: {model: neo-hookean, density: 2500, young: 1e7, poisson: 0.3}
  hard: {model: neo-hookean, density: 2500, young: 1e9, poisson: 0.3}
objects:
  b: {generate: {particles: {size: [0.06, 0.001, 0.06], count: [3, 1, 3]}}, particle: {radius: 1 mm}, material: m,
      translate: [0, 0.03, 0.013], velocity: [0.3, -0.5, 0.1], angular-velocity: {axis: [1, 0, 2], rate: 2 rad/s}}
  table: {generate: {box: {size: [0.4, 0.1, 0.4], cells: [5, 1, 5]}}, translate: [0, -0.05, 0], material: hard}
motion:
  - {select: {object: table, half-space: {point: [0, -0.0999, 0], normal: [0, 1, 0]}}, fix: true}
END
    "$BIN/mesh-prep" -q particles.yaml -o start.abut
    "$BIN/step" -q -n 60 --with forces start.abut -o run.abut
    "$BIN/ccd-check" -q run.abut
    # nine spheres of 2500 kg/m^3: 9.246e-4 N
    "$BIN/export" -q --csv - run.abut | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "b.contact_y_N") at = i }
        END { print $at; exit !(NR == 62 && $at > 9.2e-4 && $at < 9.3e-4) }'
}

# meet [MORE]: a ball meets a cloth over a floor, 0.12 s
meet() {
    cat > meet.yaml <<Y
time: {step: 5 ms, scheme: $scheme}
tolerance: 1e-7 m/s
contact: {friction: {mu: 0.2}}
materials: {m: {model: neo-hookean, density: 2500, young: 1e7, poisson: 0.3}}
objects:
  ball:  {generate: {sphere: {radius: 0.04, cells: 4}}, translate: [-0.03, 0.065, 0.004], velocity: [0.5, 0, 0]}
  cloth: {generate: {cloth: {size: [0.12, 0.12], cells: [5, 5]}}, rotate: {axis: [0, 0, 1], angle: 80 deg},
          shell: {thickness: 1 mm}, translate: [0.03, 0.075, -0.007], velocity: [-0.5, 0, 0.1]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
$1
Y
    "$BIN/mesh-prep" -q meet.yaml -o meet.abut
}

@test "each cluster of bodies has a stiffness of its own: a body that rests elsewhere changes no gap, force or derivative" {
    local far='  far: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [10, 0.0502, 0]}' run scheme
    printf '%s\n' step,object,x,y,z,weight 24,cloth,0.3,,0.1,2 6,ball,0.1,,,1 >target.csv
    for scheme in implicit-euler bdf2; do
        meet
        "$BIN/step" -q -n 24 --with forces meet.abut -o alone.abut
        meet "$far"
        "$BIN/step" -q -n 24 --with forces meet.abut -o both.abut
        "$BIN/step" -q -j 2 -n 11 --with forces meet.abut | "$BIN/step" -q -n 13 --with forces -o parts.abut
        cmp both.abut parts.abut
        "$BIN/step" -q -n 4 --with forces --device twin meet.abut -o twin.abut
        "$BIN/step" -q -n 10 meet.abut | "$BIN/ccd-check" -q -o plain.abut     # without forces: export computes them
        for run in alone both twin plain; do
            "$BIN/export" -q --csv $run.csv $run.abut
            "$BIN/export" -q -f 4 --nodes $run.nodes $run.abut
        done
        for run in alone both; do
            "$BIN/adjoint" -q --error none --target target.csv --by material/young --by contact/mu --csv $run.table $run.abut >/dev/null
        done
        python3 - $scheme <<'P'
import csv, glob, sys

alone, both, twin = [list(csv.DictReader(open(f + ".csv"))) for f in ("alone", "both", "twin")]
off = lambda a, b, k: max(abs(float(p[k] or 0) - float(q[k] or 0)) for p, q in zip(a, b))
for other, allowed in ((both, 1), (twin, 10)):
    for k in ("ball.x_m", "cloth.y_m", "cloth.z_m"):
        assert off(alone, other, k) < 1e-8 * allowed, (k, off(alone, other, k))
    for k in ("ball.contact_x_N", "cloth.friction_y_N"):
        assert off(alone, other, k) < 1e-5 * allowed, (k, off(alone, other, k))
if sys.argv[1] == "implicit-euler":         # the largest stiffness is not that of the two in every step
    assert off(alone, both, "kappa") > 1e5
rows = lambda f: [float(r["contact_force_%s_N" % k]) for r in csv.DictReader(open(glob.glob(f + ".nodes/*")[0])) for k in "xyz"]
recorded, computed = rows("both"), rows("plain")
assert max(recorded) > 1e-3 and max(abs(a - b) for a, b in zip(recorded, computed)) < 1e-9, max(recorded)
slopes = [[float(r["derivative"]) for r in csv.DictReader(open(f + ".table")) if r["derivative"]] for f in ("alone", "both")]
assert len(slopes[0]) == 2 and all(abs(a - b) < 1e-4 * abs(a) for a, b in zip(*slopes)), slopes
P
    done
}
