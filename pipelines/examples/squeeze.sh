#!/usr/bin/env bash
# Two plates close on a soft ball and open again.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/examples/strip.sh
bin=${BIN:-bin} out=${OUT:-out/squeeze} frames=${FRAMES:-75}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/squeeze.yaml |
    "$bin"/step -n "$frames" --with forces --report "$out/steps.jsonl" |
    "$bin"/ccd-check -o "$out/run.abut"

"$bin"/export "$out/run.abut" --vtu "$out/vtu" --gltf "$out/squeeze.glb" --csv "$out/frames.csv"
strip --panels 5 --camera 12,14 --color stress
echo "squeeze: $out/squeeze.glb (animation), vtu/ (ParaView), frames.csv, steps.jsonl"
