#!/usr/bin/env bats
# Loads that change in time: closed forms in every scheme, equilibria, pressures, checkpoints, threads, what is said of them.
load helpers

# column NAME: that column of the last row of a table
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } { x = $c } END { printf "%.15g\n", x }'; }
# near A B TOLERANCE
near() { awk "BEGIN { d = ($1) - ($2); exit !((d < 0 ? -d : d) <= $3) }" || { echo "$1, expected $2 within $3"; return 1; }; }

# a cube of a tonne; its acceleration grows from 0 to 6 m/s^2 in 2 s, so that it is at t^3/2
cube() {
    cat > cube.yaml <<'Y'
time: {step: 0.1 s, end: 2 s}
gravity: [0, 0, 0]
contact: off
tolerance: 1e-9 m/s
objects:
  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}
motion:
  - {select: {object: a}, force: [6 N, 0, 0], ramp: 2 s}
Y
    sed -i 's/6 N/6000 N/' cube.yaml
}
# at SCHEME STEP [OPTION...]: where the cube is after 2 s
at() {
    "$BIN/mesh-prep" -q cube.yaml --set time.scheme="$1" --set time.step="$2" |
        "$BIN/step" -q --until 2 "${@:3}" | "$BIN/export" -q --csv table.csv
    column a.x_m < table.csv
}

@test "a mass under a ramp moves by F t^3 / (6 m T), to the order of each scheme" {
    cube
    for h in 0.1 0.05; do
        n=$(awk "BEGIN { print 2 / $h }")
        near "$(at implicit-euler $h)" "$h^3 * $n * ($n + 1) * ($n + 2) / 2" 1e-9     # v' = v + h a', x' = x + h v'
        near "$(at implicit-newmark $h --with energies)" "4 + $h^2 / 2" 1e-9                         # (a + a')/4: h^3 a_t / 12 too much in a step
        near "$(column numerical_total_J < table.csv)" 0 1e-6
        near "$(column load_total_J < table.csv)" 18000 1e-6                         # kinetic energy at 6 m/s
        near "$(at midpoint $h --with energies)" "4 + $h^2 / 2" 1e-9
        near "$(column load_total_J < table.csv)" 18000 1e-6
    done
    for scheme in bdf2 bdf4; do         # whole runs have order 2: the first step is of order 1
        a=$(at $scheme 0.1)
        b=$(at $scheme 0.05)
        near "($a - 4) / ($b - 4)" 4 0.3
    done
}

@test "solvers that take implicit Euler on their own, and the twin of a GPU, have the same loads" {
    cube
    for solver in newton nodal pd sqp; do
        [[ $solver != pd ]] || sed -i 's/^objects:/materials: {m: {model: arap}}\nobjects:/' cube.yaml
        options=(--solver $solver)
        [[ $solver != pd ]] || options+=(--contact ignore)
        near "$(at implicit-euler 0.1 "${options[@]}")" 4.62 1e-5
    done
    near "$(at implicit-euler 0.1 --device twin)" 4.62 1e-6
}

@test "a force and a pressure on a side of curved tets accelerate the whole by the force over the mass, by every solver of them" {
    cube
    sed -i 's/cells: \[1, 1, 1\]}}/&, order: 2/; s/{object: a}, force/{object: a, relative-box: [[-1, -1, -1], [0.001, 2, 2]]}, force/' cube.yaml
    for solver in newton nodal; do near "$(at implicit-euler 0.1 --solver $solver)" 4.62 1e-5; done
    sed -i 's/force: .*, ramp/pressure: 6 kPa, ramp/' cube.yaml
    for solver in newton nodal; do near "$(at implicit-euler 0.1 --solver $solver)" 4.62 1e-5; done
}

# a cube on eight springs of 100 N/m under 8 N: 1 cm, times the factor
sprung() {
    cat > sprung.yaml <<'Y'
time: {step: 0.25 s, end: 2.5 s, scheme: quasi-static}
gravity: [0, 0, 0]
contact: off
tolerance: 1e-9 m/s
materials: {m: {young: 1e9}}
objects:
  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}
  k: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 9, 0], obstacle: true}
attachments:
  - {from: {object: a}, to: {object: k}, stiffness: 100 N/m}
motion:
  - {select: {object: a}, force: [8, 0, 0], factor: {times: [0, 1 s, 2 s], values: [0.2, 1, -0.5]}}
Y
}

@test "the displacement of springs in equilibrium is that of the factor, in between and after the last time" {
    sprung
    "$BIN/mesh-prep" -q sprung.yaml -o a.abut
    "$BIN/step" -q -n 10 a.abut | "$BIN/export" -q --csv a.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "a.x_m") c = i; next } { print $3, $c }' a.csv |
        awk '{ t = $1; f = t < 1 ? 0.2 + 0.8 * t : t < 2 ? 1 - 1.5 * (t - 1) : -0.5; if (NR == 1) f = 0
               d = $2 - 0.01 * f; if (d < -1e-7 || d > 1e-7) { print "at", t, "s:", $2; bad = 1 } } END { exit bad || NR != 11 }'
}

# a balloon between two springs of air: its pressure and a load on a block below change
two_loads() {
    cat > two.yaml <<Y
time: {step: 10 ms, scheme: $1}
contact: {dhat: 4 mm, friction: {mu: 0.3}}
materials:
  skin: {young: 1e5, poisson: 0.3, density: 1000}
  soft: {young: 3e4, poisson: 0.35, density: 900}
objects:
  skin: {generate: {icosphere: {radius: 0.1, divisions: 2}}, material: skin, translate: [0, 0.206, 0],
         shell: {thickness: 2 mm, pressure: {value: 300, factor: {times: [10 ms, 40 ms, 60 ms], values: [0.1, 1, 0.4]}}}}
  low:  {generate: {box: {size: [0.3, 0.1, 0.3], cells: [3, 1, 3]}}, material: soft, translate: [0, 0.0525, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
motion:
  - {select: {object: low, relative-box: [[0, 0.99, 0], [1, 1, 1]]}, traction: [0, -200, 0], ramp: 55 ms, interpolation: smooth}
  - {select: {object: skin}, acceleration: [0, -1, 0], from: 30 ms, ramp: 15 ms, until: 55 ms}
Y
    "$BIN/mesh-prep" -q two.yaml -o two.abut
}

@test "six steps under changing loads are three and three, byte for byte, and for every number of threads" {
    for scheme in implicit-euler implicit-newmark midpoint bdf3; do
        two_loads $scheme
        "$BIN/step" -q -j 1 -n 6 two.abut -o whole.abut
        "$BIN/step" -q -j 2 -n 3 two.abut | "$BIN/step" -q -j 7 -n 3 -o halves.abut
        cmp whole.abut halves.abut
    done
    exits 0 "$BIN/ccd-check" -q --no-output whole.abut
}

@test "a pressure at half of its factor has the equilibrium of half the pressure" {
    two_loads quasi-static
    inflate() { # PRESSURE STEPS
        "$BIN/mesh-prep" -q two.yaml --set motion='[]' --set time.step=0.1s --set contact=off --set gravity='[0, 0, 0]' \
            --set objects.skin.shell.pressure="$1" | "$BIN/step" -q -n "$2" --with energies | "$BIN/export" -q --csv table.csv
        column elastic_J < table.csv
    }
    half=$(inflate '150' 1)
    near "$(inflate '{value: 300, ramp: 0.4 s}' 2)" "$half" "1e-6 * -($half)"
    near "$(inflate "{value: 300, ramp: 0.4 s}" 4)" "$(inflate 300 1)" 1e-6
}

@test "energies of a run whose pressure changes add up to the works that are named" {
    two_loads midpoint
    "$BIN/step" -q -n 6 --with energies two.abut | "$BIN/export" -q --csv table.csv
    awk -F, 'function of(name) { return $c[name "_total_J"] }
             function sum() { return of("friction") + of("damping") + of("reaction") + of("load") + of("stiffness") + of("numerical") }
             NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
             NR == 3 { first = $c["total_J"] + $c["barrier_J"]; before = sum() }
             END { d = $c["total_J"] + $c["barrier_J"] - first - (sum() - before); print d, $c["stiffness_total_J"]
                   exit !(d < 1e-9 && d > -1e-9 && $c["stiffness_total_J"] < -0.1) }' table.csv
}

@test "--explain lists factors, --to-yaml keeps them, and a load without them makes the arrays of before" {
    two_loads implicit-euler
    exits 0 "$BIN/mesh-prep" --explain two.yaml -o a.abut
    says "factor           0.04 s: 1"
    says "factor           0.055 s: 1"
    says "factor           0.045 s: 1"
    says "in between       smooth"
    "$BIN/mesh-prep" -q --to-yaml two.yaml -o b.yaml
    "$BIN/mesh-prep" -q b.yaml -o b.abut
    cmp a.abut b.abut
    "$BIN/export" --dump a.abut > dump
    grep -q 'key/factor' dump
    sed -i 's/, ramp: 55 ms, interpolation: smooth//; s/, ramp: 15 ms//' two.yaml
    "$BIN/mesh-prep" -q two.yaml --set objects.skin.shell.pressure=300 | "$BIN/export" --dump > dump
    run grep -cE 'key/|object/pressure-key' dump
    [ "$output" = 0 ]
}

@test "tables that are none are refused with their place and number, as is a key that nobody knows" {
    two_loads implicit-euler
    wrong() { # VALUE OF THE PRESSURE, WORDS
        exits 3 "$BIN/mesh-prep" two.yaml --set objects.skin.shell.pressure="$1" -o x.abut
        says "$2"
    }
    wrong '{value: 3, factor: {times: [0, 2 s, 2 s], values: [1, 2, 3]}}' "times: 2 s after 2 s: expected ascending times"
    wrong '{value: 3, factor: {times: [], values: []}}' "times: expected a list of one number or more"
    wrong '{value: 3, factor: {times: [0], values: [.inf]}}' "values is '.inf'"
    wrong '{value: 3, rampe: 1 s}' "did you mean 'ramp'"
    wrong '{ramp: 1 s}' "pressure: expected {value"
    wrong '{value: 3, ramp: 1 s, factor: {times: [0], values: [1]}}' "expected one of ramp and factor"
    sed -i 's/ramp: 55 ms/ramp: -55 ms/' two.yaml
    exits 3 "$BIN/mesh-prep" two.yaml -o x.abut
    says "two.yaml:12:"
    says "ramp is '-55 ms': expected more than 0"
}

@test "the arrays of a ramp are those that STATE names" {
    skip_without_numpy
    cube
    "$BIN/mesh-prep" -q cube.yaml -o a.abut
    "$PYTHON" - a.abut "$ROOT" <<'P'
import sys
sys.path.insert(0, sys.argv[2] + "/formats/python")
import abut_stream
model = list(abut_stream.read(sys.argv[1]))[0]
assert list(model["key/factor"]) == [0, 1] and list(model["key/time"]) == [0, 2]
assert [list(r) for r in model["motion/key"]] == [[0, 2]]
P
}

@test "derivatives by the keys of a ramp are those of its closed form, and refused by name where no load changes" {
    cube
    sed -i 's/^contact: off/contact: {kappa-range: 1}/' cube.yaml
    "$BIN/mesh-prep" -q cube.yaml | "$BIN/step" -q -n 3 -o run.abut
    # x = h^2 sum (4 - k) 6 f(k h), f(t) = f0 + (f1 - f0) t / 2; the loss is (x - 0.3)^2 / 2
    printf 'step,object,x\n3,a,0.3\n' > there.csv
    "$BIN/adjoint" -q --error none --target there.csv --by key/factor --csv - run.abut > d.csv
    x="0.01 * 6 * (3 * 0.05 + 2 * 0.1 + 0.15)"
    near "$(awk -F, '$1 == "key/factor" && $2 == 1 { print $6 }' d.csv)" "($x - 0.3) * $x" 1e-9
    near "$(awk -F, '$1 == "key/factor" && $2 == 0 { print $6 }' d.csv)" "($x - 0.3) * 0.01 * 6 * (3 * 0.95 + 2 * 0.9 + 0.85)" 1e-9
    sed -i 's/, ramp: 2 s//' cube.yaml
    "$BIN/mesh-prep" -q cube.yaml | "$BIN/step" -q -n 3 -o run.abut
    exits 2 "$BIN/adjoint" --target there.csv --by key/factor --csv - run.abut
    says "no load changes in time"
}

@test "the pressures of a run are refused by a device, by name, whether they change or not" {
    two_loads implicit-euler
    exits 3 "$BIN/step" -q --device twin two.abut -o x.abut
    says "the scene has pressures"
    sed -i 's/, pressure: {value.*]}}/, pressure: 0/' two.yaml
    "$BIN/mesh-prep" -q two.yaml -o two.abut
    "$BIN/step" -q -n 4 --device twin two.abut -o twin.abut
    "$BIN/step" -q -n 4 two.abut -o host.abut
    at_end() { "$BIN/export" -q --csv - "$1" | column low.y_m; }
    near "$(at_end twin.abut)" "$(at_end host.abut)" 1e-6
    [ "$(at_end host.abut)" != "$("$BIN/mesh-prep" -q two.yaml --set motion='[]' | "$BIN/step" -q -n 4 | "$BIN/export" -q --csv - | column low.y_m)" ]
}

@test "forces on particles balance where none acts: a residual of 0, in free flight and of what is held" {
    cat > dust.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, 0, 0]
objects: {b: {generate: {particles: {size: [0.1, 0.1, 0.1], count: [2, 2, 2]}}, particle: {radius: 1 mm}, velocity: [1, 0.3, 0.7]}}
Y
    for scheme in implicit-euler implicit-newmark bdf2 midpoint; do
        for motion in '[]' '[{select: {object: b}, fix: true}]'; do
            "$BIN/mesh-prep" -q dust.yaml --set time.scheme=$scheme --set "motion=$motion" | "$BIN/step" -q -n 3 --with forces -o dust.abut
            [ "$("$BIN/export" dust.abut --dump --array step/force-residual | awk '/^ / { n += $1 < 1e-6 } END { print n }')" = 3 ]
        done
    done
}
