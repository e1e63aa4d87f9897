#!/usr/bin/env bash
# A mat is wound up from both ends until it is a rope.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/examples/strip.sh
bin=${BIN:-bin} out=${OUT:-out/twist} frames=${FRAMES:-125}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/twist.yaml |
    "$bin"/step -n "$frames" --with forces --report "$out/steps.jsonl" |
    "$bin"/ccd-check -o "$out/run.abut"

"$bin"/export "$out/run.abut" --vtu "$out/vtu" --gltf "$out/twist.glb" --csv "$out/frames.csv"
strip --panels 5 --camera 25,20 --color stress
echo "twist: $out/twist.glb (animation), vtu/ (ParaView), frames.csv, steps.jsonl"
