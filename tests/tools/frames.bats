#!/usr/bin/env bats
# Bodies that move as one affine frame (`frame: true`): free motion, a pendulum, energies and the law of contact of whole bodies.
load helpers

# rows of numbers of an array in the last frame of FILE
last() {
    "$BIN/export" --dump --array "$2" "$1" |
        awk '/^frame/ { n = 0 } /^ +-?[0-9]/ { row[n++] = $0 } END { for (i = 0; i < n; i++) print row[i] }'
}

figure() { grep -o "\"$1\":[-0-9.e+]*" "$2" | cut -d: -f2; }

# column TABLE NAME: of every frame
column() { awk -F, -v key="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) k = i; next } { print $k }' "$1"; }

brick() {
    cat > brick.yaml <<'Y'
abut: 1
solver: nodal
time: {step: 0.01 s}
contact: {dhat: 1 mm, friction: {mu: 0.4}}
materials: {wood: {density: 700, young: 1e7, poisson: 0.3}}
objects:
  brick: {generate: {box: {size: [0.3, 0.1, 0.2], cells: [3, 1, 2]}}, frame: true, rotate: {axis: [1, 2, 3], angle: 30 deg},
          translate: [0, 1, 0]}
Y
    "$BIN/mesh-prep" -q brick.yaml "$@" -o a.abut
}

@test "a frame has four nodes, the surface, mass and angular momentum of the body" {
    brick --set objects.brick.angular-velocity='{axis: [0, 1, 0], rate: 2 rad/s}'
    "$BIN/export" --dump --no-data a.abut > dump
    grep -F 'array node/X f64 [4, 3] m' dump
    grep -F 'array contact/triangle i32 [44, 3]' dump
    "$BIN/export" -q a.abut --csv a.csv
    # m R diag(I) R^T w about the centre of mass, which is at rest
    awk -v lx="$(column a.csv angular_x_Nms)" -v ly="$(column a.csv angular_y_Nms)" \
        -v lz="$(column a.csv angular_z_Nms)" -v p="$(column a.csv momentum_x_Ns)" 'BEGIN {
        n = sqrt(14); a[1] = 1 / n; a[2] = 2 / n; a[3] = 3 / n; co = sqrt(3) / 2; si = 0.5
        m = 0.006 * 700; s[1] = 0.3; s[2] = 0.1; s[3] = 0.2
        for (i = 1; i <= 3; i++) for (j = 1; j <= 3; j++) R[i, j] = (i == j ? co : 0) + (1 - co) * a[i] * a[j]
        R[1, 2] -= si * a[3]; R[2, 1] += si * a[3]; R[1, 3] += si * a[2]
        R[3, 1] -= si * a[2]; R[2, 3] -= si * a[1]; R[3, 2] += si * a[1]
        for (i = 1; i <= 3; i++) {
            for (j = 1; j <= 3; j++) want[i] += R[i, j] * m / 12 * (0.14 - s[j] * s[j]) * R[2, j] * 2 }
        got[1] = lx; got[2] = ly; got[3] = lz
        for (i = 1; i <= 3; i++) { d = got[i] - want[i]; print got[i], want[i]; if (d * d > 1e-20) bad = 1 }
        exit bad || p * p > 1e-24 }'
}

@test "a load on the surface of a frame and a surface that is open are refused" {
    brick
    for act in 'traction: [0, 1 kPa, 0]' 'pressure: 1 kPa'; do
        exits 3 "$BIN/mesh-prep" brick.yaml --set motion="[{select: {object: brick, surface: true}, $act}]"
        says "on 'brick', which is a frame: its four nodes have no surface; expected force, force-density or acceleration"
    done
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' > closed.obj
    sed '$d' closed.obj > open.obj
    exits 0 "$BIN/mesh-prep" brick.yaml --set objects='{brick: {mesh: closed.obj, frame: true}}' -o a.abut
    exits 3 "$BIN/mesh-prep" brick.yaml --set objects='{brick: {mesh: open.obj, frame: true}}'
    says "expected a closed surface, whose edges have two triangles"
}

@test "a frame falls as implicit Euler says, without a strain, and rotates rigidly" {
    brick --set objects.brick.velocity='[1, 2, 0]'
    "$BIN/step" -q -n 20 --report r.jsonl a.abut | "$BIN/ccd-check" -q -o b.abut
    "$BIN/export" -q b.abut --csv b.csv
    column b.csv brick.y_m | awk 'NR == 1 { y0 = $1 }
        { n = NR - 1; d = $1 - y0 - 0.02 * n + 9.81e-4 * n * (n + 1) / 2; if (d * d > 1e-24) bad = 1 }
        END { exit bad || NR != 21 }'
    column b.csv brick.x_m |
        awk 'NR == 1 { x0 = $1 } { d = $1 - x0 - 0.01 * (NR - 1); if (d * d > 1e-24) bad = 1 } END { exit bad }'
    # rounding of mu V (I - 3) is 1e-11 J
    figure elastic_energy r.jsonl | awk '{ if ($1 > most) most = $1 } END { print most; exit most > 1e-10 || NR != 20 }'
    # a full rotation about no principal axis: what centrifugal forces stretch is little, and angular momentum stays
    brick --set gravity='[0, 0, 0]' --set time.step='1 ms' --set time.scheme=midpoint --set solver=newton \
        --set tolerance='1e-9 m/s' --set objects.brick.angular-velocity='{axis: [1, 0, 2], rate: 6.2831853 rad/s}'
    "$BIN/step" -q -n 1000 --every 500 --report s.jsonl -o s.abut a.abut
    paste <(figure kinetic_energy s.jsonl | head -1) <(figure kinetic_energy s.jsonl | tail -1) \
        <(figure elastic_energy s.jsonl | tail -1) | awk '{ print; ok = NF == 3 && $3 < 1e-3 * $1 && ($2 / $1 - 1) ^ 2 < 1e-6 } END { exit NR != 1 || !ok }'
    "$BIN/export" -q s.abut --csv s.csv
    for k in x y z; do
        column s.csv angular_${k}_Nms | awk 'NR == 1 { a = $1 } { d = $1 - a; print d; if (d * d > 1e-16) bad = 1 }
            END { exit bad || NR != 3 }'
    done
}

@test "a cube that hangs by a control point swings with the period of a rigid one" {
    # the point is half a side from the centre, in direction (1,1,1): w^2 = g a/2 / (a^2/6 + a^2/4) = 6 g/(5 a)
    cat > swing.yaml <<'Y'
abut: 1
time: {step: 2 ms, scheme: midpoint}
tolerance: 1e-9 m/s
contact: off
materials: {steel: {density: 7800, young: 1e10, poisson: 0.3}}
objects:
  cube: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}}, frame: true}
rotate: {axis: [-1, 0, 1], angle: 52.7356103 deg}
motion: [{select: {object: cube, nodes: [0]}, fix: true}]
Y
    "$BIN/mesh-prep" -q swing.yaml -o a.abut
    "$BIN/step" -q -n 500 -o b.abut a.abut
    "$BIN/export" -q b.abut --csv b.csv
    paste <(column b.csv time_s) <(column b.csv cube.x_m) <(column b.csv cube.z_m) <(last a.abut node/x | head -1) | awk '
        NR == 1 { px = $4; pz = $6 } { x = ($2 - px) + ($3 - pz); if (NR == 1) A = x
          d = x / A - cos(sqrt(6 * 9.81 / (5 * 0.2)) * $1); if (d < 0) d = -d; if (d > most) most = d }
        END { print "amplitude", A, "off by", most; exit !(NR == 501 && most < 5e-3 && A * A > 1e-6) }'
}

# (kinetic energies differ by what lumping does to the mass of the whole mesh; the frame has none of that)
@test "an affine deformation of a frame has the elastic energy of the body" {
    cat > stretch.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: off
gravity: [0, 0, 0]
materials: {rubber: {model: MODEL, density: 1000, young: 1e5, poisson: 0.4}}
objects: {body: {generate: {sphere: {radius: 0.1, cells: 6}}, material: rubber}}
motion: [{select: {object: body}, scale: {rate: [2 1/s, -1 1/s, 5 1/s], center: [0.1, 0.2, 0.3]}}]
Y
    for model in neo-hookean fixed-corotated; do
        sed "s/MODEL/$model/" stretch.yaml > one.yaml
        "$BIN/mesh-prep" -q one.yaml | "$BIN/step" -q -n 5 --report whole.jsonl -o whole.abut
        "$BIN/mesh-prep" -q one.yaml --set objects.body.frame=true | "$BIN/step" -q -n 5 --report frame.jsonl -o frame.abut
        paste <(figure elastic_energy whole.jsonl) <(figure elastic_energy frame.jsonl) <(figure kinetic_energy whole.jsonl) \
            <(figure kinetic_energy frame.jsonl) | awk '{ d = $2 / $1 - 1; k = $4 / $3 - 1; print
                  if (d * d > 1e-20 || k * k > 1e-4 || !($1 > 0)) bad = 1 }
                END { exit bad || NR != 5 }'
    done
}

@test "a frame on a slope sticks without creep and slides with Coulomb's acceleration; frames pile up, judged" {
    for mu in 0.52 0.48; do
        "$BIN/mesh-prep" -q "$ROOT/pipelines/experiments/hard-contact/scenes/slope.yaml" --set objects.block.frame=true \
            --set contact.friction.mu=$mu | "$BIN/step" -q -n 100 | "$BIN/ccd-check" -q -o $mu.abut
        "$BIN/export" -q $mu.abut --csv $mu.csv
    done
    column 0.52.csv block.vx_m/s | awk '{ v = $1 } END { print v; exit !(v * v < 1e-18) }'
    column 0.48.csv block.vx_m/s | awk 'NR == 51 { half = $1 } { v = $1 }
        END { g = (v - half) / 0.5; want = 8.774330743470026 * 0.02; print g, want; exit !((g / want - 1) ^ 2 < 1e-12) }'
    cat > pile.yaml <<'Y'
abut: 1
solver: nodal
time: {step: 5 ms}
contact: {dhat: 1 mm, friction: {mu: 0.4}}
nodal: {beta: 1e9}
materials: {wood: {density: 700, young: 1e8, poisson: 0.3}}
objects:
  brick: {generate: {box: {size: [0.2, 0.1, 0.1], cells: [2, 1, 1]}}, frame: true, translate: [0, 0.06, 0],
          repeat: {count: [1, 3, 1], spacing: [0, 0.12, 0], objects: true}}
  ball:  {generate: {sphere: {radius: 0.05, cells: 4}}, frame: true, translate: [0.03, 0.5, 0.01]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q pile.yaml | "$BIN/step" -q -j 1 -n 60 --report r.jsonl | "$BIN/ccd-check" -q -o pile.abut
    "$BIN/mesh-prep" -q pile.yaml | "$BIN/step" -q -j 3 -n 60 | "$BIN/ccd-check" -q | cmp - pile.abut
    [ "$(figure repaired r.jsonl | grep -c 2)" -eq 0 ]
    [ "$(figure contacts r.jsonl | sort -n | tail -1)" -gt 3 ]
}

@test "what cannot be a frame is refused by name" {
    refused() { # OPTION MESSAGE
        exits 3 "$BIN/mesh-prep" -q brick.yaml --set "$1"
        grep -F -- "$2" stderr
    }
    brick
    refused objects.brick.obstacle=true "frame: of a body; an obstacle moves as its motion says"
    refused objects.brick.proxy='{segments: 2}' "its own surface and mass: expected no proxy"
    refused objects.brick.order=2 "frame: expected tets of order 1"
    refused objects.brick.generate='{cloth: {size: [1, 1], cells: [1, 1]}}' "expected a closed surface"
    refused objects.brick.repeat='{count: [2, 1, 1], spacing: [1, 0, 0]}' "expected objects: true"
    refused objects.brick.frame=perhaps "frame"
}

# figures of a report: greatest strain of rigid bodies, how often it was above its bound, mean and greatest number of iterations
strains() {
    paste <(figure rigid_strain "$1") <(figure stiffened "$1") <(figure newton_iterations "$1") |
        awk '{ if ($1 > most) most = $1; again += $2; n += $3; if ($3 > worst) worst = $3 }
            END { print most, again + 0, n / NR, worst, NR }'
}

spinner() { # OPTIONS
    cat > spin.yaml <<'Y'
abut: 1
gravity: [0, 0, 0]
time: {step: 0.01 s}
contact: off
tolerance: 1e-9 m/s
objects: {brick: {generate: {box: {size: [0.3, 0.2, 0.1], cells: [1, 1, 1]}}, rigid: true, angular-velocity: {axis: [0, 0, 1], rate: 10 rad/s}}}
Y
    "$BIN/mesh-prep" -q spin.yaml "$@"
}

@test "a rigid body that spins is strained by w^2 S / 8K, and loses of its rotation what its time scheme takes" {
    spinner --explain 2> why | "$BIN/step" -q -n 100 --report euler.jsonl -o euler.abut
    # w'^2 = w^2 / (1 + 2 h w^2 t)
    figure kinetic_energy euler.jsonl | tail -1 | awk '{ want = 3.25 / (1 + 2 * 0.01 * 100); print $1, want; exit !(($1 / want - 1) ^ 2 < 1e-4) }'
    # S = m a^2 / 12 = 0.045 kg m^2; the rate is that of the end of the first step, where it was greatest
    K=$(awk '/stiffness K/ { print $3; exit }' why)
    strains euler.jsonl | awk -v K="$K" '{ want = 100 * 0.045 / (8 * K); print; exit !(($1 / want - 1) ^ 2 < 4e-4 && $2 == 0 && $1 < 1e-4) }'
    # w' = w / (1 + 2 h^3 w^4 t)^(1/4), after the first steps, which Euler starts
    spinner --set time.scheme=bdf2 | "$BIN/step" -q -n 400 --report bdf2.jsonl -o bdf2.abut
    figure kinetic_energy bdf2.jsonl | awk 'NR == 10 { a = $1 } { b = $1 }
        END { w2 = 100 * a / 3.25; want = a / sqrt(1 + 2 * 1e-6 * w2 * w2 * 3.9); print b, want; exit !((b / want - 1) ^ 2 < 1e-5) }'
    # four iterations a step, for the first point has rotated
    strains bdf2.jsonl | awk '{ print; exit !($1 < 1e-4 && $2 == 0 && $3 < 4.5) }'
    # its quaternion does not jump, and turns the nodes at rest to where they are in the end
    "$BIN/export" -q bdf2.abut --csv b.csv
    paste <(column b.csv brick.qw) <(column b.csv brick.qz) <(column b.csv brick.qx) <(column b.csv brick.wz_rad/s) \
        <(column b.csv brick.wy_rad/s) <(column b.csv brick.strain) | awk '
        NR > 1 { angle += 0.01 * $4; if ($1 * w + $2 * z < 0.99) bad = 1 } { w = $1; z = $2; d = w - cos(angle / 2); n = w * w + z * z - 1
          if (d * d > 1e-2 || $3 * $3 > 1e-20 || $5 * $5 > 1e-20 || n * n > 1e-24 || $6 > 1e-4) bad = 1 }
        END { print angle, w, z; exit bad || NR != 401 || angle < 37 }'
    spinner -o first.abut
    paste <(last first.abut node/x) <(last bdf2.abut node/x) | awk -v w="$(column b.csv brick.qw | tail -1)" -v z="$(column b.csv brick.qz | tail -1)" '
        { c = w * w - z * z; s = 2 * w * z; d = $4 - c * $1 + s * $2; e = $5 - s * $1 - c * $2; f = $6 - $3
          if (d * d + e * e + f * f > 1e-10) bad = 1; print d, e, f } END { exit bad || NR != 4 }'
    exits 3 spinner --set time.scheme=implicit-newmark
    says "'brick' is rigid, and time.scheme is implicit-newmark, in which a stretch rings without end: expected implicit-euler or bdf2"
    "$BIN/mesh-prep" spin.yaml --set time.scheme=midpoint --set time.step='4 ms' --check 2> advice
    grep -F "'brick' rotates by 0.04 rad in a time step, and midpoint stretches it by 0.0002, more than 0.0001 (rigid.strain)" advice
    exits 3 spinner --set time.scheme=midpoint
    says "rotates by 0.1 rad in a time step, and time.scheme is midpoint: expected at most 0.05 rad"
}

@test "rigid bodies that fall on each other end every step below their strain, judged, to the same bytes when restarted" {
    cat > heap.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {dhat: 1 mm, friction: {mu: 0.4}}
materials: {wood: {density: 700}}
objects:
  brick: {generate: {box: {size: [0.3, 0.1, 0.2], cells: [3, 1, 2]}}, rigid: true, rotate: {axis: [1, 2, 3], angle: 30 deg}, translate: [0, 0.5, 0]}
  other: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.05, 0.2, 0]}
  soft:  {generate: {box: {size: [0.1, 0.05, 0.1], cells: [2, 1, 2]}}, translate: [0.1, 0.06, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q heap.yaml -o start.abut
    "$BIN/step" -q -j 1 -n 60 --report r.jsonl start.abut | "$BIN/ccd-check" -q -o whole.abut
    strains r.jsonl | awk '{ print; exit !($1 < 1e-4 && $2 <= 3 && $5 == 60) }'
    # of a stiffness far too small the steps are repeated, and the larger one is in the frames
    weak=(--set objects.other.rigid='{stiffness: 1 kPa}')
    "$BIN/mesh-prep" -q heap.yaml "${weak[@]}" | "$BIN/step" -q -j 1 -n 40 --report w.jsonl -o weak.abut
    strains w.jsonl | awk '{ print; exit !($1 < 1e-4 && $2 > 0) }'
    "$BIN/mesh-prep" -q heap.yaml "${weak[@]}" -o first.abut
    "$BIN/step" -q -j 3 -n 20 first.abut | "$BIN/step" -q -j 1 -n 20 -o halves.abut
    cmp weak.abut halves.abut
    # 1 J at the start
    last weak.abut rigid/stiffness | awk '{ for (i = 1; i <= NF; i++) K[n++] = $i } END { print K[0], K[1], K[2]; exit !(K[0] > 1 && K[1] >= 4 && K[2] == 0) }'
}

@test "rigid sheets, rods, clouds of points and bodies of a given tensor fall onto a floor and stay rigid, judged" {
    cat > thin.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {dhat: 1 mm, friction: {mu: 0.4}}
materials: {wood: {density: 700}}
objects:
  sheet: {generate: {cloth: {size: [0.3, 0.2], cells: [3, 2]}}, rigid: true, shell: {thickness: 5 mm}, contact-thickness: 5 mm,
          rotate: {axis: [1, 2, 3], angle: 30 deg}, translate: [0, 0.25, 0]}
  stick: {generate: {rod: {length: 0.2, cells: 2}}, rigid: true, rod: {radius: 3 mm}, contact-thickness: 6 mm,
          rotate: {axis: [1, 2, 3], angle: 30 deg}, translate: [0, 0.1, 0]}
  dice:  {generate: {particles: {size: [0.1, 0.1, 0.1], count: [2, 2, 2]}}, rigid: true, particle: {radius: 3 mm},
          contact-thickness: 6 mm, translate: [0.05, 0.4, 0]}
  given: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0.3, 0.1, 0],
          rigid: {mass: 2 kg, center: [0, -4 cm, 0], inertia: [1e-3, 3e-3, 10000 g cm^2, 0, 0, 0]}, rotate: {axis: [0, 0, 1], angle: 90 deg}}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    exits 3 "$BIN/mesh-prep" -q thin.yaml -o start.abut
    says "an inertia that no body has: 0.001 + 0.001 < 0.003 kg m^2"
    sed -i 's/1e-3, 3e-3/1e-3, 1e-3/' thin.yaml
    "$BIN/mesh-prep" --check thin.yaml 2> advice
    grep -F "the inertia of 'given' is not that of its mesh at uniform density: its principal moments differ by a factor of 3.33" advice
    "$BIN/mesh-prep" -q thin.yaml -o start.abut
    "$BIN/step" -q -n 60 --report r.jsonl start.abut | "$BIN/ccd-check" -q -o fall.abut
    strains r.jsonl | awk '{ print; exit !($1 < 1e-4 && $2 == 0) }'
    # the centre of mass of the last is 4 cm to the right of its cube: x' = -y
    "$BIN/export" -q start.abut --csv s.csv
    column s.csv given.x_m | awk '{ print; exit !(($1 - 0.34) ^ 2 < 1e-24) }'
    column s.csv given.y_m | awk '{ print; exit !(($1 - 0.1) ^ 2 < 1e-24) }'
}

@test "a rigid body has no contact with itself, but with others, and an intersection with itself is refused at the start" {
    dice() { echo "{generate: {particles: {size: [3 mm, 3 mm, 3 mm], count: [2, 2, 2]}}, rigid: true, particle: {radius: 1 mm}, contact-thickness: $1, translate: [$2, 0, 0]}"; }
    scene() { printf 'gravity: [0, 0, 0]\ncontact: {dhat: 2 mm}\nmaterials: {m: {density: 1000, young: 1e7}}\nobjects:\n'; }
    { scene; echo "  one: $(dice '2 mm' 0)"; } > s.yaml
    "$BIN/mesh-prep" -q s.yaml | "$BIN/step" -q -n 2 --report r.jsonl | "$BIN/ccd-check" -q --no-output
    [ "$(figure contacts r.jsonl | tail -1)" = 0 ]
    "$BIN/mesh-prep" -q --set objects.one.rigid=false s.yaml | "$BIN/step" -q -n 1 --report r.jsonl -o a.abut
    [ "$(figure contacts r.jsonl)" -ge 12 ]
    { scene; echo "  one: $(dice '2 mm' 0)"; echo "  two: $(dice '2 mm' '6 mm')"; } > s.yaml
    "$BIN/mesh-prep" -q s.yaml | "$BIN/step" -q -n 1 --report r.jsonl | "$BIN/ccd-check" -q --no-output
    [ "$(figure contacts r.jsonl)" = 4 ]
    { scene; echo "  one: $(dice '4 mm' 0)"; } > s.yaml
    exits 3 "$BIN/mesh-prep" -q s.yaml -o a.abut
    grep -F "of 'one'" stderr
}

@test "rigid bodies by hard contact slide with Coulomb's acceleration, and pile up below their strain, judged, to the same bytes" {
    "$BIN/mesh-prep" -q "$ROOT/pipelines/experiments/hard-contact/scenes/slope.yaml" --set objects.block.rigid=true \
        --set contact.friction.mu=0.48 | "$BIN/step" -q -n 100 | "$BIN/ccd-check" -q -o slope.abut
    "$BIN/export" -q slope.abut --csv slope.csv
    column slope.csv block.vx_m/s | awk 'NR == 51 { half = $1 } { v = $1 }
        END { g = (v - half) / 0.5; want = 8.774330743470026 * 0.02; print g, want; exit !((g / want - 1) ^ 2 < 1e-8) }'
    cat > pile.yaml <<'Y'
abut: 1
solver: nodal
time: {step: 5 ms}
contact: {dhat: 1 mm, friction: {mu: 0.4}}
materials: {wood: {density: 700}}
objects:
  brick: {generate: {box: {size: [0.2, 0.1, 0.1], cells: [2, 1, 1]}}, rigid: true, translate: [0, 0.06, 0],
          repeat: {count: [1, 3, 1], spacing: [0.02, 0.12, 0], objects: true}}
  ball:  {generate: {sphere: {radius: 0.05, cells: 4}}, rigid: true, translate: [0.03, 0.5, 0.01]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q pile.yaml | "$BIN/step" -q -j 1 -n 60 --report r.jsonl | "$BIN/ccd-check" -q -o pile.abut
    figure rigid_strain r.jsonl | awk '{ if ($1 > most) most = $1 } END { print most; exit !(NR == 60 && most < 1e-4 && most > 0) }'
    "$BIN/mesh-prep" -q pile.yaml | "$BIN/step" -q -j 3 -n 30 | "$BIN/step" -q -j 1 -n 30 | "$BIN/ccd-check" -q -o halves.abut
    cmp pile.abut halves.abut
}

@test "what is no rigid body is refused by name" {
    refused() { # OBJECT MESSAGE
        exits 3 spinner --set objects.brick="$1"
        grep -F -- "$2" stderr
    }
    cube='generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}'
    refused "{$cube, rigid: true, frame: true}" "frame: and rigid: expected one"
    refused "{$cube, rigid: true, obstacle: true}" "rigid: of a body; an obstacle moves as its motion says"
    refused "{$cube, rigid: {mass: 1, inertia: [0.1, 0.2, 0.4, 0, 0, 0]}}" "an inertia that no body has: 0.1 + 0.2 < 0.4"
    refused "{$cube, rigid: {mass: 1, inertia: [1, 1, 1]}}" "inertia"
    refused "{$cube, rigid: {strain: 0}}" "strain"
    spinner -o spin.abut
    for solver in qp sqp pd; do
        exits 3 "$BIN/step" -q -n 1 --solver $solver spin.abut
        says "solver $solver: rigid objects (array 'rigid/range'), expected none"
    done
    "$BIN/step" -q -n 2 spin.abut -o two.abut
    printf '%s\n' step,object,x,y,z,weight 2,brick,0,,,1 > target.csv
    exits 3 "$BIN/adjoint" -q --target target.csv --json - two.abut
    says "rigid objects are not differentiated"
}

# arms.yaml: two arms and a sled that joints hold, over a floor
arms() {
    cat > arms.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {dhat: 1 mm, friction: {mu: 0.4}}
materials: {wood: {density: 700}}
objects:
  upper: {generate: {box: {size: [0.3, 0.04, 0.04], cells: [3, 1, 1]}}, rigid: true, translate: [0.15, 0.3, 0]}
  lower: {generate: {box: {size: [0.3, 0.04, 0.04], cells: [3, 1, 1]}}, rigid: true, translate: [0.45, 0.3, 0]}
  sled:  {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.6, 0.3, 0.05]}
  stone: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.25, 0.06, 0.02]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
joints:
  shoulder: {hinge: {axis: [[0, 0.3, -0.1], [0, 0.3, 0.1]]}, between: [world, upper], damper: 0.01 N m s/rad, load: -10 mN m}
  elbow: {universal: {at: [0.3, 0.3, 0], first: [0, 0, 1], second: [0, 1, 0]}, between: [upper, lower]}
  hand: {slider: {at: [0.6, 0.3, 0], direction: [1, 0, 0]}, between: [lower, sled], spring: {stiffness: 20 N/m, rest: 1 cm}, damper: 1 N s/m}
Y
}

@test "joints hold through contact, judged, to the same bytes when restarted and with any number of threads" {
    arms
    "$BIN/mesh-prep" -q arms.yaml -o start.abut
    "$BIN/mesh-prep" arms.yaml --explain -o x.abut 2> why
    grep -A 1 '^joint elbow' why | grep -F 'lower to upper'
    "$BIN/step" -q -j 1 -n 40 start.abut -o whole.abut
    "$BIN/ccd-check" --json c.json --no-output whole.abut 2> said
    grep -F "2 pairs of objects that do not meet (groups, joints) left out" said
    grep '"excluded_pairs": 2' c.json
    "$BIN/step" -q -j 3 -n 20 start.abut | "$BIN/step" -q -j 1 -n 20 -o halves.abut
    cmp whole.abut halves.abut
    "$BIN/export" -q whole.abut --csv a.csv
    for joint in shoulder elbow hand; do
        column a.csv $joint.drift_m | awk '{ if ($1 > 1e-9) bad = 1 } END { exit bad || NR != 41 }'
    done
    # the arms lie on the stone, the sled on the floor; the shoulder has turned clockwise, and bears a force, from the first step on
    column a.csv contacts | awk 'END { exit !($1 > 6) }'
    column a.csv shoulder.angle_rad | awk 'NR == 1 { a = $1 } END { exit !(a == 0 && $1 < -0.3) }'
    column a.csv shoulder.force_y_N | awk 'NR > 1 && $1 == 0 { bad = 1 } END { exit bad || NR != 41 }'
    column a.csv hand.position_m | awk 'END { exit !(NR == 41) }'
}

@test "motors start within a run, to the same bytes when restarted, and tables say what they do" {
    cat > crank.yaml <<'Y'
time: {step: 5 ms}
contact: {dhat: 1 mm, friction: {mu: 0.3}}
objects:
  crank: {generate: {box: {size: [0.1, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true, translate: [0.05, 0.3, 0]}
  rod: {generate: {box: {size: [0.3, 0.02, 0.02], cells: [1, 1, 1]}}, rigid: true, translate: [0.25, 0.3, 0.04]}
  piston: {generate: {box: {size: [0.06, 0.06, 0.02], cells: [1, 1, 1]}}, rigid: true, translate: [0.4, 0.3, 0]}
  block: {generate: {box: {size: [0.1, 0.05, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.2, 0.026, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
joints:
  main: {hinge: {axis: [[0, 0.3, -0.1], [0, 0.3, 0.1]]}, between: [world, crank]}
  pin: {hinge: {axis: [[0.1, 0.3, -0.1], [0.1, 0.3, 0.1]]}, between: [crank, rod], friction: 1 mN m}
  head: {hinge: {axis: [[0.4, 0.3, -0.1], [0.4, 0.3, 0.1]]}, between: [rod, piston]}
  way: {slider: {at: [0.4, 0.3, 0], direction: [1, 0, 0]}, between: [world, piston]}
  push: {slider: {at: [0.2, 0.026, 0], direction: [1, 0, 0]}, between: [world, block]}
motors:
  - {joint: main, rate: {times: [0, 50 ms], values: [0 rpm, 60 rpm]}, from: 50 ms}
  - {joint: push, target: 5 cm, stiffness: 1 kN/m, damper: 60 N s/m, max: 3 N}
Y
    "$BIN/mesh-prep" -q crank.yaml -o start.abut
    "$BIN/mesh-prep" crank.yaml --explain -o x.abut 2> why
    grep -A 1 '^motor of main' why | grep -F 'rate of 2 keys, exactly'
    "$BIN/step" -q -j 1 -n 40 start.abut -o whole.abut
    "$BIN/ccd-check" --no-output whole.abut
    "$BIN/step" -q -j 3 -n 23 start.abut | "$BIN/step" -q -j 1 -n 17 -o halves.abut
    cmp whole.abut halves.abut
    "$BIN/export" -q whole.abut --csv a.csv
    # falls for 50 ms, then adds 2 pi (t - 0.075) to where it was
    column a.csv main.angle_rad | awk 'NR == 11 { from = $1 } END { d = $1 - from - 8 * atan2(1, 1) * 0.125; exit !(from < -0.01 && d * d < 1e-16) }'
    column a.csv main.rate_rad/s | awk 'END { d = $1 - 8 * atan2(1, 1); exit !(d * d < 1e-2) }'
    column a.csv main.motor_Nm | awk 'NR == 10 { off = $1 } END { exit !(off == 0 && $1 != 0) }'
    column a.csv push.motor_N | awk 'NR == 3 { exit !(3 - $1 < 1e-12 && $1 - 3 < 1e-12) }'
    column a.csv push.position_m | awk 'END { exit !($1 > 0.04 && $1 < 0.055) }'
    exits 3 "$BIN/mesh-prep" -q crank.yaml --set motors.0.joint=pinn
    says "did you mean 'pin'"
}

@test "a motion bears what hangs from its body, and works of motors, springs, dampers and friction are in the book" {
    cat > lift.yaml <<'Y'
time: {step: 2 ms, scheme: bdf2}
contact: {dhat: 1 mm}
materials: {m: {density: 2000}}
objects:
  carrier: {generate: {box: {size: [0.2, 0.05, 0.05], cells: [1, 1, 1]}}, rigid: true}
  load: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0, -0.2, 0], velocity: [0.1, 0.5, 0]}
  wheel: {generate: {box: {size: [0.2, 0.2, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [2, 0, 0], angular-velocity: {axis: [0, 0, 1], rate: 6 rad/s}}
  bob: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [3, 0, 0]}
  disc: {generate: {box: {size: [0.2, 0.2, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [4, 0, 0]}
joints:
  j: {ball: {at: [0, 0, 0]}, between: [carrier, load]}
  stops: {hinge: {at: [2, 0, 0], direction: [0, 0, 1]}, between: [world, wheel], friction: 1 N m}
  springs: {slider: {at: [3, 0, 0], direction: [0, -1, 0]}, between: [world, bob], spring: {stiffness: 200 N/m}, damper: 8 N s/m}
  turns: {hinge: {at: [4, 0, 0], direction: [0, 0, 1]}, between: [world, disc]}
motors:
  - {joint: turns, torque: 0.5 N m}
motion: [{select: {object: carrier}, translate: [0.1, 0.5, 0]}]
Y
    "$BIN/mesh-prep" -q lift.yaml | "$BIN/step" -q -n 500 --every 50 --with forces,energies -o run.abut
    "$BIN/export" -q run.abut --csv r.csv
    column r.csv motion.0.reaction_y_N | awk 'END { d = $1 / (9.81 * 3) - 1; exit !(d * d < 1e-8) }'
    # the wheel stops: half of I w^2; the disc turns by T t^2 / 2 I; the bob, 2 kg, falls by x and has the speed v
    last() { column r.csv "$1" | tail -1; }
    awk -v friction="$(last friction_total_J)" -v load="$(last load_total_J)" -v damping="$(last damping_total_J)" \
        -v numerical="$(last numerical_total_J)" -v v="$(last springs.speed_m/s)" 'function off(a, b) { return (a / b - 1) ^ 2 > 1e-4 } BEGIN {
        I = 8 * 0.08 / 12; x = 0.111450630; print friction, load, damping, numerical
        exit off(friction, -I * 36 / 2) || off(load, 0.5 * 0.5 / (2 * I)) || off(damping, -(2 * 9.81 * x - 100 * x ^ 2 - v ^ 2)) || numerical ^ 2 > 0.01 ^ 2 }'
}

@test "motors go on once in a step whose friction passes are solved by hand" {
    cat > push.yaml <<'Y'
time: {step: 5 ms}
contact: {dhat: 1 mm, friction: {mu: 0.3, lags: 3}}
objects:
  block: {generate: {box: {size: [0.1, 0.05, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.2, 0.0255, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
joints: {push: {slider: {at: [0.2, 0.026, 0], direction: [1, 0, 0]}, between: [world, block]}}
motors: [{joint: push, rate: 10 cm/s}]
Y
    "$BIN/mesh-prep" -q push.yaml -o now.abut
    local k
    for k in 1 2 3 4 5 6; do
        "$BIN/step" -q --one-pass now.abut | "$BIN/friction-lag" -q -o next.abut
        mv next.abut now.abut
    done
    "$BIN/export" -q now.abut --csv a.csv
    paste <(column a.csv time_s) <(column a.csv pending) <(column a.csv push.position_m) |
        awk '$2 == 0 { d = $3 - 0.1 * $1; if (d * d > 1e-20) bad = 1; n++ } END { exit bad || n < 3 }'
}

@test "a weld has one force in tables, and a run with it the same bytes when restarted" {
    cat > weld.yaml <<'Y'
contact: {dhat: 1 mm}
materials: {steel: {density: 2000}, rubber: {density: 1000, young: 2e5, poisson: 0.4}}
objects:
  plate: {generate: {box: {size: [0.2, 0.02, 0.2], cells: [1, 1, 1]}}, material: steel, rigid: true, translate: [0, 0.06, 0]}
  pad: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [3, 3, 3]}}, material: rubber}
joints:
  glue: {weld: {select: {box: [[-1, 0.049, -1], [1, 1, 1]]}}, between: [plate, pad]}
motion: [{select: {object: plate}, fix: true}]
Y
    "$BIN/mesh-prep" -q weld.yaml -o start.abut
    "$BIN/step" -q -j 1 -n 100 start.abut | "$BIN/ccd-check" -q -o whole.abut
    "$BIN/step" -q -j 3 -n 40 start.abut | "$BIN/step" -q -j 1 -n 60 -o halves.abut
    "$BIN/step" -q -j 1 -n 100 start.abut -o again.abut
    cmp again.abut halves.abut
    "$BIN/export" -q whole.abut --csv a.csv
    column a.csv glue.force_y_N | awk 'END { d = $1 / 9.81 - 1; exit !(d * d < 1e-10) }'
    column a.csv glue.drift_m | awk '{ if ($1 > 1e-9) bad = 1 } END { exit bad || NR != 101 }'
    [ "$(head -1 a.csv | tr , '\n' | grep -c 'force_y_N$')" -eq 1 ]
}

@test "what knows no joints refuses them by name" {
    arms
    "$BIN/mesh-prep" -q arms.yaml -o start.abut
    for with in '--solver lbfgs-h' '--solver nodal' '--device twin'; do
        exits 3 "$BIN/step" -q -n 1 $with start.abut -o x.abut
        says "joints (array 'joint/node'): expected --solver newton with a linear solver that takes a matrix"
    done
    for with in '--solver newton-cg' '--linear-solver ic-rigid'; do
        exits 3 "$BIN/step" -q -n 1 $with start.abut -o x.abut
        says "joints (array 'joint/node'): expected a linear solver that factors, not"
    done
    exits 3 "$BIN/mesh-prep" -q arms.yaml --set time.scheme=implicit-newmark
    "$BIN/step" -q -n 1 start.abut -o one.abut
    printf '%s\n' step,object,x 1,stone,0.2 > there.csv
    exits 3 "$BIN/adjoint" -q --target there.csv --csv - --by material/density one.abut
    says "joints (array 'joint/node') are not differentiated"
}

# bats test_tags=slow
@test "joints of every kind drift by less than a nanometre in a thousand steps under load" {
    for kind in 'ball: {at: [0.2, 0, 0]}' 'hinge: {at: [0.2, 0, 0], direction: [1, 2, 2]}' 'fixed: {}' \
        'cylinder: {at: [0.2, 0, 0], direction: [0, 0, 1]}' 'slider: {at: [0.2, 0, 0], direction: [0, 1, 2]}' \
        'planar: {at: [0.2, 0, 0], normal: [0, 1, 0]}' 'pin-slot: {at: [0.2, 0, 0], direction: [1, 0, 1]}' \
        'universal: {at: [0.2, 0, 0], first: [0, 0, 1], second: [0, 1, 0]}' 'distance: {from: [0.1, 0, 0], to: [0.4, 0, 0]}'; do
        cat > pair.yaml <<Y
time: {step: 5 ms, scheme: bdf2}
contact: {dhat: 1 mm}
objects:
  a: {generate: {box: {size: [0.3, 0.2, 0.1], cells: [1, 1, 1]}}, rigid: true}
  b: {generate: {box: {size: [0.3, 0.2, 0.1], cells: [1, 1, 1]}}, rigid: true, translate: [0.4, 0.1, 0]}
joints:
  held: {ball: {at: [-0.2, 0, 0]}, between: [world, a]}
  tried: {$kind, between: [a, b]}
motion: [{select: {object: b}, torque: [0.2, 0.5, 0.1]}]
Y
        "$BIN/mesh-prep" -q pair.yaml | "$BIN/step" -q -n 1000 --every 10 -o run.abut
        "$BIN/export" -q run.abut --csv r.csv
        for joint in held tried; do column r.csv $joint.drift_m | awk '{ if ($1 > 1e-9) bad = 1 } END { exit bad || NR != 101 }'; done
    done
}

# bats test_tags=slow
@test "factors of hanging chains grow with their length, and every joint bears what is under it" {
    local before=0 n now
    for n in 50 100 200 400; do
        awk -v n=$n 'BEGIN {
            print "time: {step: 10 ms}\ncontact: off\nobjects:"
            for (i = 0; i < n; i++)
                printf "  l%d: {generate: {box: {size: [0.05, 0.18, 0.05], cells: [1, 1, 1]}}, rigid: true, translate: [0, %.17g, 0]}\n", i, -0.1 - 0.2 * i
            print "joints:"
            for (i = 0; i < n; i++)
                printf "  j%d: {ball: {at: [0, %.17g, 0]}, between: [%s, l%d]}\n", i, -0.2 * i, i ? "l" i - 1 : "world", i
        }' > chain.yaml
        "$BIN/mesh-prep" -q chain.yaml | "$BIN/step" -q -n $((n == 50 ? 100 : 3)) --report c.jsonl -o chain.abut
        now=$(tail -1 c.jsonl | grep -o '"factor_nnz":[0-9]*' | grep -o '[0-9]*$')
        echo "$n: $now"
        ((before == 0 || 10 * now < 22 * before))
        before=$now
        exits 1 grep '"stiffened":[1-9]' c.jsonl       # the first is as stiff as what hangs from it asks for
        ((n == 50)) || continue
        "$BIN/export" -q --frames -1 chain.abut --csv c.csv
        for i in 0 20 49; do
            column c.csv j$i.force_y_N | awk -v i=$i '{ want = (50 - i) * 0.45 * 9.81; print i, $1, want; exit !(($1 / want - 1) ^ 2 < 1e-12) }'
        done
    done
}

# bats test_tags=slow
@test "a double pendulum is where its equations have it after 0.5, 1 and 2 s, from two starts" {
    pendulum() { # degrees, degrees, then angles at 0.5, 1, 2 s
        awk -v a="$1" -v b="$2" 'BEGIN {
            d = atan2(0, -1) / 180; x = sin(a * d); y = -cos(a * d); u = sin(b * d); v = -cos(b * d)
            print "time: {step: 2.5 ms, scheme: bdf2}\ncontact: off\nobjects:"
            box = "{generate: {box: {size: [0.1, 1, 0.1], cells: [1, 1, 1]}}, rigid: true, rotate: {axis: [0, 0, 1], angle: %s deg}, translate: [%.17g, %.17g, 0]}\n"
            printf "  upper: " box, a, x / 2, y / 2
            printf "  lower: " box, b, x + u / 2, y + v / 2
            printf "joints:\n  first: {hinge: {at: [0, 0, 0], direction: [0, 0, 1]}, between: [world, upper]}\n"
            printf "  second: {hinge: {at: [%.17g, %.17g, 0], direction: [0, 0, 1]}, between: [upper, lower]}\n", x, y
        }' > pendulum.yaml
        "$BIN/mesh-prep" -q pendulum.yaml | "$BIN/step" -q --until 2 -o p.abut
        "$BIN/export" -q p.abut --csv p.csv
        paste <(column p.csv time_s) <(column p.csv first.angle_rad) <(column p.csv second.angle_rad) |
            awk -v a="$1" -v b="$2" -v want="${*:3}" 'BEGIN { split(want, w, " "); d = atan2(0, -1) / 180; split("3e-4 1.5e-3 7e-3", tol, " ") }
                function off(x, y) { x -= y; x -= 360 * d * int(x / (360 * d) + (x > 0 ? 0.5 : -0.5)); return x < 0 ? -x : x }
                NR == 201 || NR == 401 || NR == 801 {
                    k++; e = off(a * d + $2, w[2 * k - 1]); f = off(b * d + $2 + $3, w[2 * k]); print $1, e, f
                    if (e > tol[k] || f > tol[k]) bad = 1 }
                END { exit bad || k != 3 }'
    }
    pendulum 90 90 0.447992788 1.044122030 -1.204324079 -0.819980712 -0.084527036 0.392041930
    pendulum 45 -20 -0.265116508 0.851016437 -0.098493116 -1.041025294 -0.164536126 1.195549383
}
