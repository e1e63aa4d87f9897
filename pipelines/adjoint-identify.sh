#!/usr/bin/env bash
# Young's modulus and the friction coefficient of a sliding block from its recorded trajectory: the loss is the squared distance of
# all nodes to where they were recorded, its derivatives come from `adjoint`, and a loop in awk (steepest descent in ln E and mu,
# each by its own scale, with Barzilai and Borwein's step lengths, halved where the loss grows) goes down.  With scipy (PYTHON)
# L-BFGS-B does the same.  What sways has a minimum for every phase that fits: windows of growing length (WINDOWS, frames) lead to
# the right one.  MOST: evaluations of a window.
set -euo pipefail
cd "$(dirname "$0")/.."
me=pipelines/adjoint-identify.sh
bin=${BIN:-bin} out=${OUT:-out/adjoint-identify} windows=${WINDOWS:-8 15 30 60} most=${MOST:-20} python=${PYTHON:-python3}
scene=pipelines/adjoint-identify.yaml
frames=${windows##* }
export BIN=$bin OUT=$out    # of evaluations, which are runs of this script
mkdir -p "$out"

# run E MU FRAMES: the stream of a run with these numbers
run() {
    "$bin"/mesh-prep -q "$scene" --set materials.soft.young="$1" --set contact.friction.mu="$2" | "$bin"/step -q -n "$3"
}

# evaluate lnE MU FRAMES: "L dL/dlnE dL/dmu" on standard output
evaluate() {
    local E
    E=$(awk -v l="$1" 'BEGIN { printf "%.17g", exp(l) }')
    run "$E" "$2" "$3" | "$bin"/adjoint -q --target "$out/track-$3.csv" --csv - | awk -F, '
        $1 == "loss" { L = $5 } $1 == "material/young" { E = $5 * $6 } $1 == "contact/mu" { mu = $6 }
        END { printf "%.17g %.17g %.17g\n", L, E, mu }'
}

if [ "${1:-}" = evaluate ]; then
    evaluate "$2" "$3" "$4"
    exit
fi

# what was recorded: E 2e5 Pa, mu 0.3
run 2e5 0.3 "$frames" | "$bin"/ccd-check -q -o "$out/recorded.abut"
rm -rf "$out/nodes"
mkdir -p "$out/nodes"
"$bin"/export -q "$out/recorded.abut" --nodes "$out/nodes"
awk -F, 'FNR == 1 { n = f++; for (i = 1; i <= NF; i++) at[$i] = i; if (n == 0) print "step,node,x,y,z"; next }
    n > 0 { printf "%d,%d,%s,%s,%s\n", n, $at["node"], $at["x_m"], $at["y_m"], $at["z_m"] }' "$out"/nodes/*.csv >"$out/track.csv"
for n in $windows; do awk -F, -v n="$n" 'NR == 1 || $1 <= n' "$out/track.csv" >"$out/track-$n.csv"; done

# descend lnE MU FRAMES: awk asks this script for evaluations
descend() {
    awk -v x="$1" -v y="$2" -v most="$most" -v me="$me" -v frames="$3" '
        function value(a, b, command, got) {
            command = sprintf("%s evaluate %.17g %.17g %d", me, a, b, frames)
            got = command | getline
            if (close(command) || got < 1) { failed = 1; exit 1 }
            L = $1; gx = $2; gy = $3 * sy
            printf "%d,%d,%.9g,%.9g,%.9g\n", frames, ++n, exp(a), b, L
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

x=$(awk 'BEGIN { printf "%.17g", log(3e5) }') y=0.45
echo frames,evaluation,E,mu,loss >"$out/awk.csv"
for n in $windows; do
    descend "$x" "$y" "$n" >"$out/window.csv"
    cat "$out/window.csv" >>"$out/awk.csv"
    read -r x y < <(sort -t, -g -k5,5 "$out/window.csv" | awk -F, 'NR == 1 { printf "%.17g %s\n", log($3), $4 }')
done
echo "awk: $(sort -t, -g -k5,5 "$out/window.csv" | head -n 1)"

if "$python" -c 'import scipy' 2>/dev/null; then
    "$python" - "$me" $windows >"$out/scipy.csv" <<'P'
import subprocess, sys, math
from scipy.optimize import minimize
n = 0
print("frames,evaluation,E,mu,loss")
def f(q, frames):
    global n
    answer = subprocess.run([sys.argv[1], "evaluate", repr(float(q[0])), repr(float(q[1])), frames], check=True,
                            capture_output=True, text=True).stdout.split()
    L, a, b = map(float, answer)
    n += 1
    print(f"{frames},{n},{math.exp(q[0]):.9g},{q[1]:.9g},{L:.9g}", flush=True)
    return L * 1e4, [a * 1e4, b * 1e4]
q = [math.log(3e5), 0.45]
for frames in sys.argv[2:]:
    q = minimize(f, q, (frames,), jac=True, method="L-BFGS-B", bounds=[(math.log(1e4), math.log(1e7)), (0, 2)],
                 options={"maxfun": 20, "ftol": 1e-15, "gtol": 1e-9}).x
P
    echo "scipy: $(tail -n 1 "$out/scipy.csv")"
fi
if [ -x "$bin/picture" ] && [ "${PICTURES:-0}" = 1 ]; then
    run 3e5 0.45 "$frames" >"$out/start.abut"
    "$bin"/picture -q "$out/recorded.abut" --strip "$out/recorded.png"
    "$bin"/picture -q "$out/start.abut" --strip "$out/start.png"
fi
