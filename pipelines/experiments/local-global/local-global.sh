#!/usr/bin/env bash
# A curtain of springs, solved by fast mass-springs with 1 to 1000 iterations a step: how far each is from the converged solution after
# 10 and FRAMES steps, and what a step costs on one thread.  A table (TSV) on standard output; the streams stay in OUT.
#     CELLS=20 FRAMES=30 local-global.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/local-global} frames=${FRAMES:-30} cells=${CELLS:-20} python=${PYTHON:-/usr/bin/python3}
counts=${COUNTS:-1 2 5 10 20 50 100 1000}
mkdir -p "$out"

cat >"$out/curtain.yaml" <<Y
abut: 1
time: {step: 33 ms}
gravity: [0, -9.8, 0]
tolerance: 1e-6 m/s
materials: {cotton: {density: 1000}}
objects: {curtain: {generate: {cloth: {size: [1, 1], cells: [$cells, $cells]}}, shell: {thickness: 1 mm}}}
motion:
  - {select: {object: curtain, relative-box: [[0, 0, 0], [0.001, 1, 0.001]]}, fix: true}
  - {select: {object: curtain, relative-box: [[0.999, 0, 0], [1, 1, 0.001]]}, fix: true}
Y
"$bin"/mesh-prep -q "$out/curtain.yaml" | "$bin"/springs -q --stiffness 1000 --across 1000 --replace -o "$out/start.abut"
run() { "$bin"/step -q -j 1 --solver mass-springs --contact ignore --iterations "$1" -n "$frames" --report "$out/$1.jsonl" "$out/start.abut" -o "$out/$1.abut"; }
run converged
for n in $counts; do run "$n"; done

"$python" - "$out" $counts <<'P'
import json, sys
sys.path.insert(0, "formats/python")
import abut_stream
out, counts = sys.argv[1], sys.argv[2:]
frames = lambda n: {f.step: f["node/x"] for f in abut_stream.read(f"{out}/{n}.abut") if f.kind == "frame"}
exact = frames("converged")
last = max(exact)
early = min(10, last)
print("iterations", f"off after {early} steps, m", f"off after {last} steps, m", "ms a step", sep="\t")
for n in counts + ["converged"]:
    x = frames(n)
    ms = sorted(1e3 * json.loads(l)["cpu_seconds"] for l in open(f"{out}/{n}.jsonl"))
    print(n, *("%.2e" % abs(x[k] - exact[k]).max() for k in (early, last)), "%.2f" % ms[len(ms) // 2], sep="\t")
P
