#!/usr/bin/env bash
# Young's modulus and the friction coefficient of a sliding block from its recorded trajectory: the loss is the squared distance of
# all nodes to where they were recorded, its derivatives come from `adjoint`, and a loop in awk (steepest descent in ln E and mu,
# each by its own scale, with Barzilai and Borwein's step lengths, halved where the loss grows) goes down.  With scipy (PYTHON)
# L-BFGS-B does the same.  FRAMES: length of the recording; MOST: evaluations.
set -euo pipefail
cd "$(dirname "$0")/.."
me=pipelines/adjoint-identify.sh
bin=${BIN:-bin} out=${OUT:-out/adjoint-identify} frames=${FRAMES:-60} most=${MOST:-40} python=${PYTHON:-python3}
scene=pipelines/adjoint-identify.yaml
export BIN=$bin OUT=$out FRAMES=$frames    # of evaluations, which are runs of this script
mkdir -p "$out"

# run E MU: the stream of a run with these numbers
run() {
    "$bin"/mesh-prep -q "$scene" --set materials.soft.young="$1" --set contact.friction.mu="$2" | "$bin"/step -q -n "$frames"
}

# evaluate lnE MU: "L dL/dlnE dL/dmu" on standard output
evaluate() {
    local E
    E=$(awk -v l="$1" 'BEGIN { printf "%.17g", exp(l) }')
    run "$E" "$2" | "$bin"/adjoint -q --target "$out/track.csv" --csv - | awk -F, '
        $1 == "loss" { L = $5 } $1 == "material/young" { E = $5 * $6 } $1 == "contact/mu" { mu = $6 }
        END { printf "%.17g %.17g %.17g\n", L, E, mu }'
}

if [ "${1:-}" = evaluate ]; then
    evaluate "$2" "$3"
    exit
fi

# what was recorded: E 2e5 Pa, mu 0.3
run 2e5 0.3 | "$bin"/ccd-check -q -o "$out/recorded.abut"
rm -rf "$out/nodes"
mkdir -p "$out/nodes"
"$bin"/export -q "$out/recorded.abut" --nodes "$out/nodes"
awk -F, 'FNR == 1 { n = f++; for (i = 1; i <= NF; i++) at[$i] = i; if (n == 0) print "step,node,x,y,z"; next }
    n > 0 { printf "%d,%d,%s,%s,%s\n", n, $at["node"], $at["x_m"], $at["y_m"], $at["z_m"] }' "$out"/nodes/*.csv >"$out/track.csv"

# descend lnE MU: awk asks this script for evaluations
descend() {
    awk -v x="$1" -v y="$2" -v most="$most" -v me="$me" '
        function value(a, b, command, got) {
            command = sprintf("%s evaluate %.17g %.17g", me, a, b)
            got = command | getline
            if (close(command) || got < 1) { failed = 1; exit 1 }
            L = $1; gx = $2; gy = $3 * sy
            printf "%d,%.9g,%.9g,%.9g\n", ++n, exp(a), b, L
        }
        BEGIN {
            sy = 0.3                            # mu by the side of ln E
            value(x, y); best = L; px = gx; py = gy
            t = 0.2 / sqrt(gx * gx + gy * gy)
            while (n < most && best > 1e-13) {
                bx = x - t * px; by = y - sy * t * py
                if (by < 0) by = 0
                value(bx, by)
                if (L > best) { t /= 2; if (t * sqrt(px * px + py * py) < 1e-10) break; continue }
                dx = bx - x; dy = (by - y) / sy; ex = gx - px; ey = gy - py
                x = bx; y = by; px = gx; py = gy; best = L
                s = dx * ex + dy * ey
                t = s > 0 ? (dx * dx + dy * dy) / s : 2 * t
            }
            exit failed
        }'
}

start=$(awk 'BEGIN { printf "%.17g", log(3e5) }')
{ echo evaluation,E,mu,loss; descend "$start" 0.45; } >"$out/awk.csv"
echo "awk: $(tail -1 "$out/awk.csv")"

if "$python" -c 'import scipy' 2>/dev/null; then
    "$python" - "$start" "$me" >"$out/scipy.csv" <<'P'
import subprocess, sys, math
from scipy.optimize import minimize
n = 0
print("evaluation,E,mu,loss")
def f(q):
    global n
    answer = subprocess.run([sys.argv[2], "evaluate", repr(float(q[0])), repr(float(q[1]))], check=True, capture_output=True,
                            text=True).stdout.split()
    L, a, b = map(float, answer)
    n += 1
    print(f"{n},{math.exp(q[0]):.9g},{q[1]:.9g},{L:.9g}", flush=True)
    return L * 1e3, [a * 1e3, b * 1e3]
minimize(f, [float(sys.argv[1]), 0.45], jac=True, method="L-BFGS-B", bounds=[(math.log(1e4), math.log(1e7)), (0, 2)],
         options={"maxfun": 40, "ftol": 1e-15, "gtol": 1e-9})
P
    echo "scipy: $(tail -1 "$out/scipy.csv")"
fi
if [ -x "$bin/picture" ] && [ "${PICTURES:-0}" = 1 ]; then
    run 3e5 0.45 >"$out/start.abut"
    "$bin"/picture -q "$out/recorded.abut" --strip "$out/recorded.png"
    "$bin"/picture -q "$out/start.abut" --strip "$out/start.png"
fi
