#!/usr/bin/env bash
# A ball falls on points, needles and a blade.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/examples/strip.sh
bin=${BIN:-bin} out=${OUT:-out/bed} frames=${FRAMES:-60}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/bed.yaml |
    "$bin"/step -n "$frames" --with forces --report "$out/steps.jsonl" |
    "$bin"/ccd-check -o "$out/run.abut"

"$bin"/export "$out/run.abut" --vtu "$out/vtu" --gltf "$out/bed.glb" --csv "$out/frames.csv"
strip --panels 5 --camera 25,12
echo "bed: $out/bed.glb (animation), vtu/ (ParaView), frames.csv, steps.jsonl"
