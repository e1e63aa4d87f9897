#!/usr/bin/env bash
# The demonstration: scene -> step -> judge -> pictures, in about a minute.
set -euo pipefail
cd "$(dirname "$0")/../.."
t0=$SECONDS
export OUT=${OUT:-out/demo}
pipelines/examples/drop.sh
"${BIN:-bin}"/export "$OUT/run.abut" --html "$OUT/run.html"
echo "demo: $OUT/run.html plays it in a browser"
echo "demo: $((SECONDS - t0)) s"
