#!/usr/bin/env bash
# The friction passes of one time step with stages of your own between them: a Python stage that relaxes the lagged normal
# forces, and an awk program that decides by a rule of its own when to stop.  A stage that changes nothing changes no byte.
#   FRAMES=16               steps made before
#   PYTHON=/usr/bin/python3
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${BIN:-bin} out=${OUT:-out/passes} frames=${FRAMES:-16} python=${PYTHON:-/usr/bin/python3}
mkdir -p "$out"
"$bin"/mesh-prep -q pipelines/examples/passes.yaml | "$bin"/step -q -j 1 -n "$frames" --lags 1 -o "$out/start.abut"

# passes NAME STAGE...: the next step, pass by pass, STAGE standing between friction-lag and the next pass
passes() {
    local name=$1 count=0 status=1
    shift
    cp "$out/start.abut" "$out/next.abut"
    while ((status == 1)); do       # 1: friction-lag asks for another pass
        "$bin"/step -j 1 --one-pass "$out/next.abut" -o "$out/candidate.abut"
        status=0
        "$bin"/friction-lag -q --ask "$out/candidate.abut" -o "$out/frozen.abut" || status=$?
        "$@" < "$out/frozen.abut" > "$out/next.abut"
        count=$((count + 1))
    done
    ((status == 0)) || exit $status
    "$bin"/ccd-check -q "$out/next.abut" -o "$out/$name.abut"
    echo "$name: $count passes"
}
text() { "$bin"/export --dump "$out/$1.abut" | sed -n '/^model/,$p'; }

passes plain cat
passes same "$python" pipelines/examples/relax.py 1 "$out/candidate.abut"
cmp <(text plain) <(text same)
passes relaxed "$python" pipelines/examples/relax.py 0.7 "$out/candidate.abut"

# Another rule: stop when the sum of mu times the normal force has changed by less than 1 % from one pass to the next.
limit() {
    "$bin"/export --dump --array 'lag/*' "$1" |
        awk '/^frame/ { delete mu; delete force }
             /^array/ { name = $2; n = 0; next }
             /^ / && name == "lag/mu" { mu[++n] = $1 }
             /^ / && name == "lag/normal-force" { force[++n] = $1 }
             END { for (i in mu) sum += mu[i] * force[i]; printf "%.9g", sum }'
}
cp "$out/start.abut" "$out/next.abut"
count=0 was=0 now=1
until awk -v a="$was" -v b="$now" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) < 0.01 * b) }'; do
    was=$now
    "$bin"/step -j 1 --one-pass "$out/next.abut" -o "$out/candidate.abut"
    "$bin"/friction-lag -q --tolerance 1e-300 "$out/candidate.abut" -o "$out/next.abut"
    now=$(limit "$out/next.abut")
    count=$((count + 1))
done
"$bin"/friction-lag -q --commit "$out/candidate.abut" | "$bin"/ccd-check -q -o "$out/ruled.abut"
echo "ruled: $count passes, friction limit $now N"
