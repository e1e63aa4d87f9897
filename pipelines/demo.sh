#!/usr/bin/env bash
# The demonstration: scene -> step -> judge -> pictures, in about a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
t0=$SECONDS
OUT=${OUT:-out/demo} pipelines/drop.sh
echo "demo: $((SECONDS - t0)) s"
