#!/usr/bin/env bash
# A cloth with a limit of stretch, a net of rods and a column of grains fall over a ball; the limit is judged at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/examples/strip.sh
bin=${BIN:-bin} out=${OUT:-out/cloth} frames=${FRAMES:-40} upper=${UPPER:-1.05}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/cloth.yaml "$@" |
    "$bin"/strain-limit --upper "$upper" --object cloth |
    "$bin"/step -n "$frames" --report "$out/steps.jsonl" |
    "$bin"/ccd-check |
    "$bin"/strain-limit --audit --json "$out/strain.jsonl" -o "$out/run.abut"

"$bin"/export "$out/run.abut" --vtu "$out/vtu" --gltf "$out/cloth.glb" --csv "$out/frames.csv"
strip --panels 5 --camera 28,16
echo "cloth: $out/cloth.glb (animation), vtu/ (ParaView), strain.jsonl, frames.csv, steps.jsonl"
