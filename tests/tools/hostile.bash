# Every array of a stream with every bad value, through every program: for tests/tools/hostile.bats and tests/attack/arrays.
#   $BIN folder of the programs, $AIDS that of hostile; works in the current folder

# The streams of hostile_base, which hold every array of both tables between them.
hostile_streams=(committed.abut pending.abut mapped.abut high.abut hard.abut inequalities.abut rigid.abut)
hostile_base() {
    cat >every.yaml <<'Y'
abut: 1
time: {step: 0.01 s, scheme: bdf2}
wind: [0.1, 0, 0]
force-tolerance: 0.1
damping: {mass: 0.1, stiffness: 1e-4}
contact: {dhat: 4 mm, barrier: {continuity: c1, stiffen-below: 0.1 mm}, friction: {mu: 0.3, smoothing: c2, lags: 2}}
materials:
  firm: {model: neo-hookean, density: 900, young: 1e5, poisson: 0.3, fibre: {direction: [1, 0, 0], stiffness: 1e4}, volume: 1e3,
         stretch: {range: [0.9, 1.1], stiffness: 1e3}}
  bent: {model: spline, density: 800, spline: {stretch: [0.5, 1, 1.5], a: [-1e4, 0, 1e4], b: [0, 0, 0], c: [-1e4, 0, 1e4]}}
  wool: {density: 400, young: 1e4, poisson: 0.3, membrane: cloth, fabric: {warp: 1e4, weft: 1e4, coupling: 1e3, shear: 1e3},
         strain-limit: {warp: 0.3, weft: 0.3, shear: 0.3}}
  skin: {density: 400, young: 1e4, poisson: 0.3}
objects:
  low:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: firm, translate: [0, 0.052, 0], velocity: [0.1, 0, 0]}
  high:  {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: bent, translate: [0.02, 0.155, 0.01]}
  rag:   {generate: {cloth: {size: [0.1, 0.1], cells: [1, 1]}}, material: wool, translate: [0.3, 0.2, 0],
          shell: {thickness: 1 mm}, contact-thickness: 1 mm}
  sail:  {generate: {cloth: {size: [0.1, 0.1], cells: [1, 1]}}, material: skin, translate: [0.6, 0.2, 0],
          shell: {thickness: 1 mm, stretch-limit: 1.1, pressure: {value: 1, ramp: 20 ms}, drag: 0.5}}
  hair:  {generate: {rod: {length: 0.1, cells: 2}}, material: skin, translate: [0.9, 0.2, 0], rod: {radius: 1 mm}}
  sand:  {generate: {particles: {size: [0.1, 0, 0], count: [2, 1, 1]}}, material: skin,
          translate: [1.2, 0.0035, 0], particle: {radius: 1 mm}}
  knife: {generate: {explicit: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1]], triangles: [[0, 1, 2]]}}, obstacle: true,
          translate: [1.5, 0.2, 0]}
  plate: {generate: {explicit: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0, 0.1]], triangles: [[0, 1, 2]]}}, obstacle: true,
          translate: [1.8, 0.2, 0]}
  pole:  {generate: {rod: {length: 0.1, cells: 1}}, obstacle: true, translate: [2.1, 0.2, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
motion:
  - {select: {object: knife}, translate: [0, 0.1, 0], rotate: {axis: [0, 1, 0], rate: 10 deg/s}, scale: {rate: 0.1 1/s}}
  - {select: {object: high}, acceleration: [0, -1, 0], factor: {times: [0, 1 s], values: [1, 2]}}
  - {select: {object: high, surface: true}, pressure: 1 Pa}
  - {select: {object: plate}, keyframes: [{time: 0.5 s, translate: [0, 0.2, 0]}]}
  - {select: {object: pole}, sequence: {files: [pole.obj], times: [1 s]}}
  - {select: {object: rag, nodes: [0]}, fix: true}
  - {select: {object: rag, nodes: [1]}, translate: [0, 0.1, 0], until: 10 ms, hold: true}
attachments:
  - {from: {object: high, nodes: [0]}, to: {object: low}, stiffness: 10 N/m}
  - {from: {object: sail, nodes: [0]}, to: {point: [0.6, 0.3, 0]}, stiffness: 10 N/m}
Y
    printf 'v -0.05 0.1 0\nv 0.05 0.1 0\n' >pole.obj
    "$BIN/mesh-prep" -q every.yaml | "$BIN/springs" -q --stiffness 5 | "$BIN/decompose" -q -k 2 |
        "$BIN/step" -q -n 3 --with forces,energies --keep-passes -o 3.abut || return
    "$BIN/step" -q --one-pass 3.abut -o 4.abut || return
    "$AIDS/hostile" complete 3.abut >committed.abut || return
    "$AIDS/hostile" complete 4.abut >pending.abut || return
    "$AIDS/hostile" map committed.abut >mapped.abut || return
    hostile_curved && hostile_hard && hostile_inequalities && hostile_rigid
}

# high.abut: what is of order 2 and 3, contact weighed by area, Newmark's method, rods with rest curvature, cloth of Baraff and Witkin
hostile_curved() {
    cat >curved.yaml <<'Y'
abut: 1
time: {step: 0.01 s, scheme: implicit-newmark, newmark: {beta: 0.3, gamma: 0.55}}
contact: {formulation: area, edge-share: 0.2, reach: fixed, barrier: {mollifier: off}}
materials:
  firm: {}
  wire: {density: 1000, young: 1e6, poisson: 0.4, bending-young: 1e9}
  silk: {membrane: baraff-witkin, fabric: {warp: 20 kPa, weft: 20 kPa, shear: 1 kPa, compression: 0.1}, density: 400, young: 1}
objects:
  curl:
    generate: {hair: {count: 1, radius: 20 mm, offset: 2 mm, length: 20 mm, cells: 6, curl: {radius: 4 mm, wavelength: 25 mm, ramp: 10 mm}}}
    material: wire
    rod: {radius: 0.2 mm, curved: true}
    translate: [0.6, 0.2, 0]
  rag:   {generate: {cloth: {size: [0.1, 0.1], cells: [1, 1]}}, material: silk, shell: {thickness: 1 mm}, translate: [0.9, 0.2, 0]}
  box:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: firm, translate: [0.3, 0.1, 0]}
  ball:  {generate: {sphere: {radius: 0.1, cells: 1}}, order: 2, geometry: 3, material: firm, translate: [0, 0.11, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
motion:
  - {select: {object: ball, surface: true}, pressure: 1 Pa}
Y
    "$BIN/mesh-prep" -q curved.yaml | "$BIN/step" -q -n 1 -o 5.abut || return
    "$AIDS/hostile" complete 5.abut >high.abut
}

# inequalities.abut: what is of SQP
hostile_inequalities() {
    cat >inequalities.yaml <<'Y'
abut: 1
solver: sqp
time: {step: 0.01 s}
sqp: {constraints: volume, active-set: near, offset: 0.1 mm}
contact: {dhat: 1 mm}
objects:
  low:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.051, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q inequalities.yaml | "$BIN/step" -q -n 2 -o inequalities.abut
}

# rigid.abut: two rigid bodies that do not meet, one locked, joined to the other, which a torque turns; two wheels with a gear, of
# which a motor drives one; soft nodes on the other body
hostile_rigid() {
    cat >rigid.yaml <<'Y'
abut: 1
objects:
  a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, rigid: true, groups: [pair], lock: {translate: [true, false, false]}}
  b: {generate: {sphere: {radius: 1, cells: 2}}, rigid: true, translate: [0, 3, 0], groups: [pair]}
  c: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, rigid: true, translate: [5, 0, 0]}
  d: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, rigid: true, translate: [8, 0, 0]}
  soft: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, 6, 0]}
joints:
  j: {slider: {at: [0, 1, 0], direction: [0, 1, 0]}, between: [a, b], spring: {stiffness: 1}, damper: 1, limits: [-1, 1], friction: 1 N}
  first: {hinge: {at: [5, 0, 0], direction: [0, 0, 1]}, between: [world, c]}
  second: {hinge: {at: [8, 0, 0], direction: [0, 0, 1]}, between: [world, d]}
  cogs: {gear: {of: [first, second], ratio: 2}}
  glue: {weld: {select: {object: soft, box: [[-1, 5, -1], [1, 5.6, 1]]}}, between: [b, soft]}
motors: [{joint: first, torque: {times: [0, 1 s], values: [0, 1 N m]}}]
motion:
  - {select: {object: b}, torque: [0, 1 N m, 0]}
Y
    "$BIN/mesh-prep" -q rigid.yaml | "$BIN/step" -q -n 2 -o rigid.abut
}

# hard.abut: contacts of boxes on each other and on the ground by `step --solver nodal`
hostile_hard() {
    cat >hard.yaml <<'Y'
abut: 1
solver: nodal
time: {step: 0.01 s}
contact: {dhat: 1 mm, friction: {mu: 0.3}, cohesion: [{between: [low, high], force: 0.01, range: 1 mm}]}
nodal: {integrator: newton, newton: 2, iterations: 20, sweeps: 5, tolerance: 0.01 mm, gap: 0.5 mm, return: elastic, freeze: 0.01,
        beta: 25, sigma: 1e-3, accelerated: true, compliance: 1e6}
objects:
  low:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.051, 0], velocity: [0.1, -0.1, 0]}
  high:  {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0.02, 0.152, 0.01], velocity: [0, -0.2, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q hard.yaml | "$BIN/step" -q -n 3 --with contacts,forces -o hard.abut
}

# hostile_list: the variants of both streams, one a line: FILE NUMBER MUST ITEM ARRAY WORDS.  The MODEL of a pending stream matters
# to friction-lag alone.
# A filter is an option of step's as well: a valid one without that is a usage error.
hostile_list() {
    hostile_lists | grep -v 'contact/barrier-filter .* 4.94066e-324'
}
hostile_lists() {
    "$AIDS/hostile" list committed.abut | sed 's/^/committed.abut /'
    "$AIDS/hostile" list pending.abut | sed 's/^/pending.abut /'
    "$AIDS/hostile" list high.abut |
        grep -E ' (tet/|geometry/|rod/|bend/|material/(quadrature|membrane|fabric|compression)|motion/newtons|contact/mollifier)' |
        sed 's/^/high.abut /'
    "$AIDS/hostile" list hard.abut | grep -E ' (solve/solver|nodal/|touch/|node/contact-impulse|half-space/[a-z]*-force)' | sed 's/^/hard.abut /'
    "$AIDS/hostile" list rigid.abut | grep -E ' (rigid|lock|joint)/' | sed 's/^/rigid.abut /'
    "$AIDS/hostile" list mapped.abut | grep -E ' (contact/(map-|offset)|lag/vertex)' | sed 's/^/mapped.abut /'
}

# The program that takes a step: step, with hard contact where the scene asks for it.
hostile_stepper() { [[ $1 == hard.abut* ]] && echo nodal || echo step; }
hostile_programs=(step one-pass friction-lag ccd-check export dump strain-limit tear springs decompose)
hostile_program() { # name stream
    local out=$2.out
    case $1 in
    step) "$BIN/step" -q -j 1 -n 1 --max-newton 40 "$2" -o /dev/null ;;
    nodal) "$BIN/step" -q -j 1 -n 1 --solver nodal "$2" -o /dev/null ;;
    one-pass) "$BIN/step" -q -j 1 --one-pass --max-newton 40 --solver dot "$2" -o /dev/null ;;
    friction-lag) "$BIN/friction-lag" -q -j 1 "$2" -o /dev/null ;;
    ccd-check) "$BIN/ccd-check" -q -j 1 --no-output "$2" ;;
    export) mkdir -p "$out" && "$BIN/export" -q -j 1 --vtu "$out" --obj "$out" --ply "$out" --gltf "$out/a.glb" --csv "$out/a.csv" \
        --json "$out/a.json" --nodes "$out" "$2" ;;
    dump) "$BIN/export" -q -j 1 --dump "$2" -o /dev/null && "$BIN/export" -q -j 1 --summary "$2" -o /dev/null ;;
    strain-limit) "$BIN/strain-limit" -q -j 1 --audit "$2" -o /dev/null ;;
    tear) "$BIN/tear" -q -j 1 --stretch 1.01 "$2" -o /dev/null ;;
    springs) "$BIN/springs" -q -j 1 --stiffness 1 "$2" -o /dev/null ;;
    decompose) "$BIN/decompose" -q -j 1 -k 2 "$2" -o /dev/null ;;
    esac
}

# hostile_try FILE NUMBER MUST WORDS -- PROGRAM...: says which programs crash, hang, find fault with themselves (exit 2, 5), or
# take what must be refused.
hostile_try() {
    local file=$1 number=$2 must=$3 words=$4 s p rc bad=0
    shift 5
    s=$file.$number
    "$AIDS/hostile" write "$file" "$number" "$s" || return
    for p in "$@"; do
        rc=0
        (export -f hostile_program; timeout 60 bash -c 'hostile_program "$@"' - "$p" "$s") >"$s.said" 2>&1 || rc=$?
        case $rc in
        3) continue ;;
        0 | 1 | 4) [[ $must == 3 ]] || continue ;;
        esac
        bad=1
        echo "$p: status $rc: $words ($file, variant $number)"
        grep -m 3 -E 'ERROR|runtime error|#[0-3] |^[a-z-]*: ' "$s.said"
    done
    rm -rf "$s" "$s.out" "$s.said"
    return $bad
}
