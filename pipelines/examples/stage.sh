#!/usr/bin/env bash
# A stage of your own between two of ours: a Python program gives every free node a sideways push.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${BIN:-bin} out=${OUT:-out/stage} frames=${FRAMES:-20}
mkdir -p "$out"

"$bin"/mesh-prep pipelines/examples/drop.yaml |
    "$bin"/step -n "$frames" |
    "${PYTHON:-/usr/bin/python3}" pipelines/examples/stage.py |
    "$bin"/step -n "$frames" |
    "$bin"/ccd-check -o "$out/run.abut"
"$bin"/export "$out/run.abut" --csv "$out/frames.csv"
echo "stage: $out/frames.csv (the momentum jumps after frame $frames)"
