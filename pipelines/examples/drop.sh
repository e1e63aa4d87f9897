#!/usr/bin/env bash
# Balls and bars fall into a ring of posts and pile up.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/examples/strip.sh
bin=${BIN:-bin} out=${OUT:-out/drop} frames=${FRAMES:-100}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/drop.yaml |
    "$bin"/step -n "$frames" --with forces --report "$out/steps.jsonl" |
    "$bin"/ccd-check -o "$out/run.abut"

"$bin"/export "$out/run.abut" --vtu "$out/vtu" --gltf "$out/drop.glb" --csv "$out/frames.csv"
strip --panels 5 --camera 32,18
echo "drop: $out/drop.glb (animation), vtu/ (ParaView), frames.csv, steps.jsonl"
