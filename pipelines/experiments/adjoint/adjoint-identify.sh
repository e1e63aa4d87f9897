#!/usr/bin/env bash
# Young's modulus and the friction coefficient of a sliding block from its recorded trajectory: the loss is half the squared distance
# of all nodes to where they were recorded in all frames, unknown are ln E and mu (adjoint_minimise.sh).  What sways has a
# minimum for every phase that fits: windows of growing length (WINDOWS, frames) lead to the right one.
set -euo pipefail
cd "$(dirname "$0")/../../.."
name=identify bin=${BIN:-bin} out=${OUT:-out/adjoint-identify} stages=${WINDOWS:-8 15 30 60}
most=20 enough=1e-13 level=0 change=0.2 by="--by material/young --by contact/mu"
steps=${stages##* }
scene=pipelines/experiments/adjoint/scenes/adjoint-identify.yaml
. pipelines/experiments/adjoint/adjoint_minimise.sh

with() { # E MU [FRAMES]
    "$bin"/mesh-prep -q "$scene" --set materials.soft.young="$1" --set contact.friction.mu="$2" |
        "$bin"/step -q -j 1 -n "${3:-${STEPS:-$steps}}"
}
unknowns() { awk 'BEGIN { printf "%.17g 1 %.17g %.17g\n0.45 0.3 0 2\n", log(3e5), log(1e4), log(1e7) }'; }
run() {
    local E mu
    { read -r E; read -r mu; } < <(awk '{ printf "%.17g\n", NR == 1 ? exp($1) : $1 }' "$1")
    with "$E" "$mu"
}
prepare() { # E 2e5 Pa, mu 0.3
    with 2e5 0.3 >"$out/recorded.abut"
    # shellcheck disable=SC2046
    targets "$out/recorded.abut" block $(seq "$steps") >"$out/target.csv"
}
derivatives() {
    awk -F, '$1 == "loss" { L = $5 } $1 == "material/young" { E = $5 * $6 } $1 == "contact/mu" { mu = $6 }
        END { printf "%.17g\n%.17g\n%.17g\n", L, E, mu }'
}

minimise "$0" "$@"
[ "${1:-}" != evaluate ] || exit 0
portray "$out/start.txt" start --panels 4 --size 300x240
portray "$out/awk.txt" end --panels 4 --size 300x240
