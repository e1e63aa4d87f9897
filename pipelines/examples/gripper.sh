#!/usr/bin/env bash
# A robot of a URDF file: its motor closes two fingers on a soft ball, or with the argument `cloth` on a cloth, with 6 N each,
# and a motion lifts the palm; the table has the motor's force.
set -euo pipefail
cd "$(dirname "$0")/../.."
. pipelines/examples/strip.sh
bin=${BIN:-bin} out=${OUT:-out/gripper} frames=${FRAMES:-200} scene=gripper${1:+-$1}
mkdir -p "$out"

"$bin"/mesh-prep "pipelines/examples/$scene.yaml" |
    "$bin"/step -n "$frames" --report "$out/steps.jsonl" |
    "$bin"/ccd-check -o "$out/run.abut"

"$bin"/export "$out/run.abut" --gltf "$out/gripper.glb" --csv "$out/frames.csv"
strip --panels 5 --camera 20,15
echo "gripper: $out/gripper.glb (animation), frames.csv (gripper.close-left.position_m, .motor_N), steps.jsonl"
