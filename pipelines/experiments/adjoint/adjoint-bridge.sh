#!/usr/bin/env bash
# The shape of a bridge that lies on two piers and carries a block: how thick it shall be along its length, from the same volume,
# so that its deck sags least.  The loss is half the squared sag of all nodes of the deck, in equilibrium with contact and friction;
# unknown are the thicknesses of 13 stations, up to the factor that keeps their sum (adjoint_minimise.sh).
set -euo pipefail
cd "$(dirname "$0")/../../.."
name=bridge bin=${BIN:-bin} out=${OUT:-out/adjoint-bridge} steps=3
most=60 enough=0 level=1e-3 change=0.3 by="--by mesh/X"
scene=pipelines/experiments/adjoint/scenes/meshes/adjoint-bridge.yaml
. pipelines/experiments/adjoint/adjoint_minimise.sh

# The mesh: nodes k + 3 (j + 3 i) at station i of 17 along x, j of 3 across, k of 3 from the bottom to the deck; six tets a cell.
# THICKNESS is a file of 13 numbers, those of the stations between the piers; weights of corners follow from it alone.
mesh() { # FILE
    awk '
        { u[NR] = $1; sum += $1 }
        END {
            print "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" 17 * 9
            for (i = 0; i < 17; i++) {
                t = i < 2 || i > 14 ? 0.08 : u[i - 1] * 13 * 0.08 / sum
                for (j = 0; j < 3; j++)
                    for (k = 0; k < 3; k++) printf "%d %.17g %.17g %.17g\n", ++n, (i - 8) / 16, -t * (2 - k) / 2, (j - 1) * 0.08
            }
            print "$EndNodes\n$Elements\n" 16 * 4 * 6
            split("0 6 4 7 0 2 6 7 0 3 2 7 0 1 3 7 0 5 1 7 0 4 5 7", c)     # corner 4 x + 2 z + y of a cell
            for (i = 0; i < 16; i++) for (j = 0; j < 2; j++) for (k = 0; k < 2; k++) for (e = 0; e < 6; e++) {
                printf "%d 4 2 0 0", ++elements
                for (v = 1; v <= 4; v++) {
                    b = c[4 * e + v]
                    printf " %d", 1 + (k + b % 2) + 3 * ((j + int(b / 2) % 2) + 3 * (i + int(b / 4)))
                }
                print ""
            }
            print "$EndElements"
        }' "$1"
}
unknowns() { for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo "0.08 0.08 0.03 0.2"; done; }
run() { # FILE [STEPS]
    cp "$scene" "$out/bridge.yaml"
    mesh "$1" >"$out/bridge.msh"
    "$bin"/mesh-prep -q "$out/bridge.yaml" -o "$out/bridge.abut" || return 9      # elements that fold, bodies that cross
    "$bin"/step -q -j 1 -n "${2:-$steps}" "$out/bridge.abut"
}
prepare() {
    awk -v n=$steps 'BEGIN { print "step,node,x,y,z"; for (i = 0; i < 17 * 9; i++) if (i % 3 == 2) printf "%d,%d,,0,\n", n, i }' >"$out/target.csv"
}
# y of node (i, j, k) is -t_i (2 - k)/2, and t_i = u_i times 13 0.08 over the sum
derivatives() {
    awk -F, -v at="$out/at" '
        $1 == "loss" { print $5 }
        $1 == "mesh/X" && $3 == 1 && $2 < 17 * 9 { g[int($2 / 9)] -= $6 * (2 - $2 % 3) / 2 }
        END {
            while ((getline u < at) > 0) { x[++n] = u; sum += u }
            for (i = 1; i <= n; i++) all += g[i + 1] * x[i] / sum
            for (i = 1; i <= n; i++) printf "%.17g\n", 13 * 0.08 / sum * (g[i + 1] - all)
        }'
}

[ "${1:-}" != mesh ] || { mesh "$2"; exit; }
minimise "$0" "$@"
[ "${1:-}" != evaluate ] || exit 0
portray "$out/start.txt" start --frames 0,-1 --size 420x260 --color stress --range 0:30000
portray "$out/awk.txt" end --frames 0,-1 --size 420x260 --color stress --range 0:30000
