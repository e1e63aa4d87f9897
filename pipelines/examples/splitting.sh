#!/usr/bin/env bash
# What it is worth to solve for limits of stretch together with everything else: a cloth with weights, once with the limits in the
# step, once in two steps as is classical (predict without limits, project onto them), in time steps of several lengths.
#
#   pipelines/examples/splitting.sh [--set KEY=VALUE ...]
#   STEPS="0.04 0.02 0.01" UPPER=1.0608 UNTIL=0.4 SCENE=pipelines/experiments/codimensional/scenes/weights.yaml
# Writes $OUT/splitting.tsv: time step, largest and smallest stretch of both, largest distance of a node between the two at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${BIN:-bin} out=${OUT:-out/splitting} scene=${SCENE:-pipelines/experiments/codimensional/scenes/weights.yaml}
steps=${STEPS:-0.04 0.02 0.01} upper=${UPPER:-1.0608} until=${UNTIL:-0.4}
mkdir -p "$out"

stretches() { # the audit $1: largest and smallest stretch of all frames
    sed 's/.*"shells": {"count": [0-9]*, "max": \([0-9.e+-]*\), "max_row": [0-9]*, "min": \([0-9.e+-]*\),.*/\1 \2/' "$1" |
        awk 'NR == 1 || $1 > most { most = $1 } NR == 1 || $2 < least { least = $2 } END { printf "%.5f\t%.5f", most, least }'
}
last_nodes() { "$bin/export" -q --nodes "$2" --frames -1 "$1"; cat "$2"/*.csv; rm -r "$2"; }

printf 'step_s\tcoupled_max\tcoupled_min\tsplit_max\tsplit_min\tdistance_m\n' > "$out/splitting.tsv"
for h in $steps; do
    n=$(awk -v h="$h" -v t="$until" 'BEGIN { printf "%.0f", t / h }')
    "$bin/mesh-prep" -q "$scene" --set time.step="$h" "$@" -o "$out/start.abut"
    "$bin/strain-limit" -q --upper "$upper" "$out/start.abut" | "$bin/step" -q -n "$n" -o "$out/coupled.abut"
    cp "$out/start.abut" "$out/split.abut"
    for ((k = 0; k < n; k++)); do
        "$bin/step" -q -n 1 "$out/split.abut" | "$bin/strain-limit" -q --project --upper "$upper" -o "$out/next.abut"
        mv "$out/next.abut" "$out/split.abut"
    done
    for kind in coupled split; do
        "$bin/ccd-check" -q --no-output "$out/$kind.abut"
        "$bin/strain-limit" -q --audit --upper "$upper" --json "$out/$kind.jsonl" "$out/$kind.abut" -o /dev/null
        last_nodes "$out/$kind.abut" "$out/$kind.nodes" > "$out/$kind.csv"
    done
    far=$(paste -d, "$out/coupled.csv" "$out/split.csv" | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^x/ && !a) a = i; else if ($i ~ /^x/ && i > NF / 2 && !b) b = i; next }
        { d = ($a - $b)^2 + ($(a + 1) - $(b + 1))^2 + ($(a + 2) - $(b + 2))^2; if (d > far) far = d }
        END { printf "%.4g", sqrt(far) }')
    printf '%s\t%s\t%s\t%s\n' "$h" "$(stretches "$out/coupled.jsonl")" "$(stretches "$out/split.jsonl")" "$far" >> "$out/splitting.tsv"
done
cat "$out/splitting.tsv"
