#!/usr/bin/env bash
# A block on a slope of tangent 0.5 comes to rest at mu = 0.52 and slides on at mu = 0.48, with the same scene.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${BIN:-bin} out=${OUT:-out/slope} frames=${FRAMES:-50}
mkdir -p "$out"

for mu in 0.52 0.48; do
    "$bin"/mesh-prep pipelines/examples/slope.yaml --set contact.friction.mu=$mu |
        "$bin"/step -n "$frames" --with forces,energies --report "$out/steps-$mu.jsonl" |
        "$bin"/ccd-check -o "$out/mu-$mu.abut"
    "$bin"/export "$out/mu-$mu.abut" --csv "$out/mu-$mu.csv"
    echo "mu $mu: last line of $out/mu-$mu.csv"
done
