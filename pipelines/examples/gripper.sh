#!/usr/bin/env bash
# Joints and motors: two fingers close on a soft ball with 6 N, and a motion lifts the palm; the table has the motors' forces.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/examples/strip.sh
bin=${BIN:-bin} out=${OUT:-out/gripper} frames=${FRAMES:-200}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/gripper.yaml |
    "$bin"/step -n "$frames" --report "$out/steps.jsonl" |
    "$bin"/ccd-check -o "$out/run.abut"

"$bin"/export "$out/run.abut" --gltf "$out/gripper.glb" --csv "$out/frames.csv"
strip --panels 5 --camera 20,15
echo "gripper: $out/gripper.glb (animation), frames.csv (close-left.position_m, close-left.motor_N), steps.jsonl"
