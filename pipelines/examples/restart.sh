#!/usr/bin/env bash
# A frame is a checkpoint: 10 + 10 steps are the same bytes as 20; and from frame 10 a second story can branch off.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${BIN:-bin} out=${OUT:-out/restart} half=${FRAMES:-10}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/squeeze.yaml -o "$out/start.abut"
"$bin"/step -n $((2 * half)) "$out/start.abut" -o "$out/whole.abut"
"$bin"/step -n "$half" "$out/start.abut" | "$bin"/step -n "$half" -o "$out/halves.abut"
cmp "$out/whole.abut" "$out/halves.abut"
echo "restart: $half + $half steps give the same bytes as $((2 * half))"

# the same frame again, solved with other options: a branch
"$bin"/step --from "$half" -n "$half" --lags 4 "$out/whole.abut" | "$bin"/ccd-check -o "$out/branch.abut"
echo "restart: $out/branch.abut leaves $out/whole.abut at frame $half"
