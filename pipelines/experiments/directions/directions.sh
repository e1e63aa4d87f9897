#!/usr/bin/env bash
# Every direction of `step --solver` on the same steps, with the same rule that ends them: iterations and processor seconds per
# step.  Every trajectory passes through ccd-check.
#
#   directions.sh [smoke|published|shapes|large|parts|sweep|contact ...]    smoke alone
#   STEPS=12                                        steps of each run (shapes, large, parts, sweep)
#   SOLVERS="newton dot"                            only these; admm-pd, which knows no contact, for published alone
#   ABUT_DATA=../shared/data                        the public meshes: ipc/input/tetMeshes/*.msh; without them the generated ones
#                                                   alone
#   OUT=out/directions                              streams and reports;  TABLE=$OUT/table.md  the table
#
# smoke: a coarse twisted bar.  shapes: bodies twisted and stretched by their ends, characteristic norm 1e-5.  published: scenes of
# decomposed optimisation as they are published (dot_scenes.py), without contact, and the bunny with it; errors beside the
# seconds: equal_error.py.  large: a doll of 30 000 and of 100 000 nodes.  parts: dot over the number of subdomains,
# without and with its coarse space.  sweep: over time step, Young's modulus and Poisson's ratio.  contact: a ball thrown on a floor, boxes that fall on each
# other, with friction, Newton rule.
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} python=${PYTHON:-/usr/bin/python3} out=${OUT:-out/directions} steps=${STEPS:-12}
meshes=${ABUT_DATA:-../shared/data}/ipc/input/tetMeshes
solvers=${SOLVERS:-newton newton-cg lbfgs-h dot lbfgs-pd lbfgs-jh lbfgs-ic gradient}
mkdir -p "$out"
head='| scene | nodes | solver | steps | iterations a step | energies a step | Newton directions a step | CPU s a step | factors, MB | memory, MB | contacts at most |'
table=${TABLE:-$out/table.md}
{
    cat <<H
# Directions compared: ${*:-smoke}

Made by

    ${SOLVERS:+SOLVERS=\"$SOLVERS\" }${STEPS:+STEPS=$STEPS }${TABLE:+TABLE=$TABLE }pipelines/experiments/directions/directions.sh ${*:-smoke}

\`ccd-check\` judged every trajectory. CPU seconds are of a whole step with one thread: compare them within a table. An iteration is
one direction and one search; *Newton directions* are those among them that were computed to prove or to help; *factors* is their
memory; *memory* is the largest resident set.

H
    echo "$head"
    echo "$head" | sed 's/[^|]\+/---/g'
} > "$table"
echo "$head"

# The ends of any body rotate about x and go apart (dot_scenes.py).
pulled() {  # OBJECT OUTFILE [mesh-prep options]
    local object=$1 to=$2
    shift 2
    "$python" pipelines/experiments/directions/dot_scenes.py --pull "$object" >"$out/pulled.yaml"
    "$bin"/mesh-prep -q "$out/pulled.yaml" "$@" -o "$to"
}

# One row: what the report of a run sums up to.  A run that ends early says so.
row() {     # SCENE NODES SOLVER REPORT STATUS
    awk -v scene="$1" -v nodes="$2" -v solver="$3" -v status="$5" '
        function value(key) { return match($0, "\"" key "\":[-0-9.e+]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : 0 }
        { n++; it += value("newton_iterations"); tr += value("line_search_trials"); ns += value("newton_solves"); cpu += value("cpu_seconds")
          c = value("contacts") + value("half_space_contacts"); most = c > most ? c : most; mb = 1e-6 * value("factor_bytes")
          peak = 1e-6 * value("memory_peak") }
        END { printf "| %s | %d | %s | %s | %.1f | %.1f | %.1f | %.3f | %.0f | %.0f | %d |\n", scene, nodes, solver,
                     status ? n " (status " status ")" : n, it / n, tr / n, solver ~ /^newton/ ? it / n : ns / n, cpu / n, mb, peak, most }' "$4" |
        tee -a "$table"
}

# Every solver on one start, and options of step; parts: the options of those that cut the body up.
compare() {     # SCENE START STEPS [step options]
    local scene=$1 start=$2 n=$3 s status
    local nodes own parts=${parts-}
    nodes=$("$bin"/export -q --summary "$start" | sed -n 's/^its arrays: node\/x \([0-9]*\)x3.*/\1/p')
    shift 3
    for s in $solvers; do
        status=0
        [[ " dot lbfgs-jh " == *" $s "* ]] && own=($parts) || own=()
        "$bin"/step -q -j 1 --solver "$s" "${own[@]}" -n "$n" --report "$out/run.jsonl" "$@" "$start" -o "$out/run.abut" || status=$?
        ((status)) || "$bin"/ccd-check -q "$out/run.abut" -o /dev/null
        row "$scene" "${nodes:-0}" "$s" "$out/run.jsonl" "$status"
    done
}

smoke() {
    pulled 'generate: {box: {size: [1, 0.25, 0.25], cells: [16, 4, 4]}}' "$out/start.abut"
    parts='--parts 4' compare 'bar, coarse' "$out/start.abut" 3 --stop characteristic
}

shapes() {
    local m
    pulled 'generate: {box: {size: [1, 0.25, 0.25], cells: [40, 10, 10]}}' "$out/start.abut"
    compare bar "$out/start.abut" "$steps" --stop characteristic
    for m in bunny hollowCat7.5K monkey8K Armadillo13K; do
        [[ -e $meshes/$m.msh ]] || continue
        pulled "mesh: $(realpath "$meshes/$m.msh")" "$out/start.abut"
        compare "$m" "$out/start.abut" "$steps" --stop characteristic
    done
}

published() {
    local name n
    while read -r name n; do
        "$python" pipelines/experiments/directions/dot_scenes.py $name >"$out/scene.yaml" || { (($? == 3)); continue; }
        "$bin"/mesh-prep -q "$out/scene.yaml" -o "$out/start.abut"
        compare $name "$out/start.abut" ${STEPS:-$n} --stop characteristic
    done <<'S'
bunny5K 40
bar17K 20
horse7K 40
kingkong18K 20
monkey18K 20
S
    "$python" pipelines/experiments/directions/dot_scenes.py bunny5K >"$out/scene.yaml" || { (($? == 3)); return; }
    "$bin"/mesh-prep -q "$out/scene.yaml" --set contact='{dhat: 1e-4 l}' -o "$out/start.abut"
    solvers=${solvers/ admm-pd/} compare 'bunny5K, with contact' "$out/start.abut" "${STEPS:-40}" --stop characteristic
}

# A body with head and limbs: thick and thin, of cells of this size.
doll() {
    echo "generate: {blob: {cell: $1, snap: true, blend: 0.02, capsules: [{from: [-0.15, 0, 0], to: [0.15, 0, 0], radius: 0.1}, " \
        "{from: [0.33, 0, 0], radius: 0.09}, {from: [0.1, 0.1, 0], to: [0.2, 0.35, 0.05], radius: 0.03}, " \
        "{from: [0.1, -0.1, 0], to: [0.2, -0.35, 0.05], radius: 0.03}, {from: [-0.2, 0.05, 0], to: [-0.5, 0.12, 0], radius: 0.045}, " \
        "{from: [-0.2, -0.05, 0], to: [-0.5, -0.12, 0], radius: 0.045}]}}"
}

large() {
    local cell
    for cell in 0.0095 0.0063; do
        pulled "$(doll $cell)" "$out/start.abut"
        compare doll "$out/start.abut" "$steps" --stop characteristic
    done
}

parts() {
    local m k object
    for m in bar monkey8K; do
        object='generate: {box: {size: [1, 0.25, 0.25], cells: [40, 10, 10]}}'
        if [[ $m != bar ]]; then
            [[ -e $meshes/$m.msh ]] || continue
            object="mesh: $(realpath "$meshes/$m.msh")"
        fi
        pulled "$object" "$out/start.abut"
        for k in 1 2 4 8 16 32 64 128; do
            "$bin"/decompose -q -k $k "$out/start.abut" -o "$out/cut.abut"
            for l in 1 2; do solvers=dot compare "$m, $k subdomains, level $l" "$out/cut.abut" "$steps" --stop characteristic --levels $l; done
        done
    done
}

sweep() {
    local o
    for o in time.step='10 ms' time.step='40 ms' materials.m.young=2.5e4 materials.m.young=4e5 materials.m.poisson=0.3 \
        materials.m.poisson=0.45; do
        pulled 'generate: {box: {size: [1, 0.25, 0.25], cells: [40, 10, 10]}}' "$out/start.abut" --set "$o"
        compare "bar, ${o#materials.m.}" "$out/start.abut" "$steps" --stop characteristic
    done
}

# Mostly elastic, lightly touching; and mostly touching.
contact() {
    local c
    cat >"$out/ball.yaml" <<'Y'
abut: 1
time: {step: 10 ms}
gravity: [0, -9.81, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.3}}
materials: {jelly: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects:
  ball: {generate: {sphere: {radius: 0.2, cells: 16}}, material: jelly, translate: [0, 0.201, 0], velocity: [0.5, -0.5, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$bin"/mesh-prep -q "$out/ball.yaml" -o "$out/start.abut"
    for c in 6e-3 1e-4; do compare "ball thrown on a floor, $c m/s" "$out/start.abut" 8 --tolerance $c; done
    for c in '[8, 6, 8]' '[12, 9, 12]' '[16, 12, 16]'; do
        "$bin"/mesh-prep -q tests/bench/pile.yaml --set objects.low.generate.box.cells="$c" --set objects.high.generate.box.cells="$c" \
            -o "$out/start.abut"
        compare "two boxes of $c cells" "$out/start.abut" 20
    done
}

(($#)) || set -- smoke
for group; do
    case $group in
    smoke | published | shapes | large | parts | sweep | contact) $group ;;
    *) echo "directions.sh: no group '$group'" >&2; exit 2 ;;
    esac
done
