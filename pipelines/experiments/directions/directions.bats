#!/usr/bin/env bats
# bats file_tags=experiment
# All directions on the same steps: directions.sh fails when ccd-check finds a collision; a row says which step did not converge.
load ../../../tests/tools/helpers

@test "every solver makes the steps of the comparison, and its row" {
    OUT=$BATS_TEST_TMPDIR/out BIN=$BIN run "$ROOT/pipelines/experiments/directions/directions.sh" smoke
    echo "$output"
    [ "$status" -eq 0 ]
    for s in newton newton-cg lbfgs-h dot lbfgs-pd lbfgs-jh lbfgs-ic gradient; do
        grep -q "| bar, coarse | 425 | $s | 3 | [0-9.]* |" "$BATS_TEST_TMPDIR/out/table.md"
    done
    exits 1 grep -q status "$BATS_TEST_TMPDIR/out/table.md"
    exits 2 "$ROOT/pipelines/experiments/directions/directions.sh" nothing
}

@test "the scenes of decomposed optimisation reverse their ends where they are said to, and go at their speed" {
    skip_without_numpy
    exits 2 "$PYTHON" "$ROOT/pipelines/experiments/directions/dot_scenes.py" cat7K
    says "no scene 'cat7K'; there are: bar17K bunny5K"
    exits 3 env ABUT_DATA=/nowhere "$PYTHON" "$ROOT/pipelines/experiments/directions/dot_scenes.py" bunny5K
    cd "$BATS_TEST_TMPDIR"
    "$PYTHON" "$ROOT/pipelines/experiments/directions/dot_scenes.py" --pull 'generate: {box: {size: [1, 0.25, 0.25], cells: [4, 1, 1]}}' > pull.yaml
    "$BIN/mesh-prep" -q pull.yaml --set contact=off | "$BIN/step" -q -n 95 --stop characteristic --tolerance 1e-3 -o run.abut
    "$PYTHON" - "$ROOT" <<'P'
import math, sys
sys.path.insert(0, sys.argv[1] + "/formats/python")
import abut_stream, numpy as np
x = [f["node/x"].copy() for f in abut_stream.read("run.abut") if f.kind == "frame"]
end = x[0][:, 0] < 1e-9
away = [float((x[0] - f)[end, 0].mean()) for f in x]
assert abs(max(away) - 0.81) < 1e-9 and np.argmax(away) == 36, (max(away), np.argmax(away))     # the first step beyond 0.8 m
assert abs(min(away) + 0.405) < 1e-9 and np.argmin(away) == 90, (min(away), np.argmin(away))    # and beyond 0.4 m inward
middle = 0.5 * (x[0].min(0) + x[0].max(0))[1:]
a, b = ((f[end, 1:] - middle) for f in (x[0], x[10]))                                           # 18 degrees about the middle of the box
c, s = math.cos(math.pi / 10), math.sin(math.pi / 10)
assert min(abs(a @ np.array([[c, z * s], [-z * s, c]]) - b).max() for z in (1, -1)) < 1e-9
P
}

@test "error and time: three rows for a solver, and the last leaves no more error than the first" {
    skip_without_numpy
    export OUT=$BATS_TEST_TMPDIR/error STEPS=1 SOLVERS=lbfgs-pd BIN
    cd "$ROOT"
    exits 2 "$PYTHON" pipelines/experiments/directions/equal_error.py dot cat7K
    "$PYTHON" pipelines/experiments/directions/equal_error.py dot horse7K
    [ "$(cut -f4 "$OUT/equal-error.tsv" | tail -n +2 | paste -sd,)" = "published form,default,equal error" ]
    awk -F'\t' 'NR == 2 { e = $7 } NR == 4 { ok = $7 <= e && e > 0 && $8 > 0 } END { exit !ok }' "$OUT/equal-error.tsv"
    grep -q '^| dot | horse7K | lbfgs-pd | equal error |' "$OUT/equal-error.md"
}
