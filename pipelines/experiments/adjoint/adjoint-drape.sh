#!/usr/bin/env bash
# The bending stiffness of a cloth from how it drapes over a ball: the loss is half the squared distance of all nodes to where they
# were recorded in four frames; unknown is the logarithm of the bending modulus, four times too small at the start
# (adjoint_minimise.sh).
set -euo pipefail
cd "$(dirname "$0")/../../.."
name=drape bin=${BIN:-bin} out=${OUT:-out/adjoint-drape} steps=40
most=20 enough=1e-10 level=0 change=1 by="--by hinge/stiffness"
scene=pipelines/experiments/adjoint/scenes/adjoint-drape.yaml true=2e5
. pipelines/experiments/adjoint/adjoint_minimise.sh

with() { # MODULUS [STEPS]
    "$bin"/mesh-prep -q "$scene" --set materials.cloth.bending-young="$1" | "$bin"/step -q -j 1 -n "${2:-$steps}"
}
unknowns() { awk -v E=$true 'BEGIN { printf "%.17g 1 %.17g %.17g\n", log(E / 4), log(E / 100), log(E * 100) }'; }
run() { with "$(awk '{ printf "%.17g", exp($1) }' "$1")" "${2:-}"; }
prepare() {
    with $true >"$out/recorded.abut"
    targets "$out/recorded.abut" cloth $((steps / 4)) $((steps / 2)) $((3 * steps / 4)) "$steps" >"$out/target.csv"
}
derivatives() { awk -F, '$1 == "loss" { print $5 } $1 == "hinge/stiffness" { g += $5 * $6 } END { printf "%.17g\n", g }'; }

minimise "$0" "$@"
[ "${1:-}" != evaluate ] || exit 0
portray "$out/start.txt" start --panels 4 --size 300x240
portray "$out/awk.txt" end --panels 4 --size 300x240
