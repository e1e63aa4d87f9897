#!/usr/bin/env bash
# Rigid bodies: a roly-poly rights itself; the table has its pose and its strain.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/examples/strip.sh
bin=${BIN:-bin} out=${OUT:-out/rigid} frames=${FRAMES:-200}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/rigid.yaml |
    "$bin"/step -n "$frames" --report "$out/steps.jsonl" |
    "$bin"/ccd-check -o "$out/run.abut"

"$bin"/export "$out/run.abut" --gltf "$out/rigid.glb" --csv "$out/frames.csv"
strip --panels 5 --camera 32,18
echo "rigid: $out/rigid.glb (animation), frames.csv (poly.qw ... poly.strain), steps.jsonl"
