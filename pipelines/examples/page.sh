#!/usr/bin/env bash
# How large a page of export --html is: a cloth of 20 601 triangles swings down from two corners, FRAMES (100) steps in real time.
# Says bytes of the stream and of the page, bytes a frame, and the page without frames; to 100 frames of 20 000 triangles.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${BIN:-bin} out=${OUT:-out/page} frames=${FRAMES:-100}
mkdir -p "$out"

"$bin"/mesh-prep -q pipelines/experiments/codimensional/scenes/hang.yaml --set objects.cloth.generate.cloth.edge=0.0106 |
    "$bin"/springs -q --stiffness 1000 --across 1000 --replace |
    "$bin"/step -q -n "$frames" --solver mass-springs --iterations 10 --contact ignore -o "$out/run.abut"
"$bin"/export -q "$out/run.abut" --html "$out/run.html"
"$bin"/export -q "$out/run.abut" --frames 0 --html "$out/one.html"
bytes() { stat -c %s "$1"; }
triangles=$(grep -o '"triangles":[0-9]*' "$out/one.html" | tr -dc 0-9)
awk -v stream="$(bytes "$out/run.abut")" -v page="$(bytes "$out/run.html")" -v one="$(bytes "$out/one.html")" -v n="$frames" \
    -v t="$triangles" 'BEGIN {
    each = (page - one) / n
    printf "page: %d frames of %d triangles: stream %.1f MB, page %.2f MB, %.0f bytes a frame, %.2f MB with one frame\n", n + 1, t, stream / 1e6,
           page / 1e6, each, one / 1e6
    printf "page: 100 frames of 20000 triangles: %.2f MB\n", (one + 99 * each * 20000 / t) / 1e6 }'
