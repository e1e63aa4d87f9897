#!/usr/bin/env bash
# How a ball must be thrown at a wall to come back into a bowl: the loss is half the squared distance of the ball's centre from a
# place over the middle of the bowl after 0.54 s; unknown are the three numbers of its velocity (adjoint_minimise.sh).
# The best throw is followed for 1.6 s: the ball stays in the bowl.
set -euo pipefail
cd "$(dirname "$0")/../../.."
name=throw bin=${BIN:-bin} out=${OUT:-out/adjoint-throw} steps=135 show=400
most=20 enough=1e-5 level=0 change=0.5 by="--by node/v"
scene=pipelines/experiments/adjoint/scenes/adjoint-throw.yaml
. pipelines/experiments/adjoint/adjoint_minimise.sh

unknowns() { printf '%s\n' "3.5 1 2 8" "2 1 -5 5" "0 1 -5 5"; }
run() { # FILE [STEPS]
    "$bin"/mesh-prep -q "$scene" --set objects.ball.velocity="$(paste -sd, "$1" | sed 's/.*/[&]/')" |
        "$bin"/step -q -j 1 -n "${2:-$steps}"
}
prepare() { printf '%s\n' step,object,x,y,z "$steps,ball,0.55,0.4,0.12" >"$out/target.csv"; }
# nodes of the ball move together at the start
derivatives() {
    awk -F, '$1 == "loss" { print $5 } $1 == "node/v" { g[$3] += $6 } END { for (i = 0; i < 3; i++) printf "%.17g\n", g[i] }'
}

minimise "$0" "$@"
[ "${1:-}" != evaluate ] || exit 0
portray "$out/start.txt" start --panels 4 --size 300x240
portray "$out/awk.txt" end --panels 4 --size 300x240
