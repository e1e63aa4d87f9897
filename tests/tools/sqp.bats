#!/usr/bin/env bats
# Contact as linearised inequalities (--solver sqp, qp): what is said and judged, bytes, hand-over, options, scene keys, its pipeline.
load helpers

# A box falls on a slab above a floor; with options of mesh-prep.
boxes() {
    cat > boxes.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {dhat: 1 mm}
materials: {soft: {model: fixed-corotated, density: 1000, young: 1e5, poisson: 0.4}}
objects:
  box:   {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0, 0.13, 0], velocity: [0, -1, 0]}
  slab:  {generate: {box: {size: [0.3, 0.06, 0.2], cells: [3, 1, 2]}}, translate: [0.05, 0.032, 0.01]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q boxes.yaml "$@" -o a.abut
}

# A fast box and a thin board, which what is near the ends of a step does not show.
shot() {
    cat > shot.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, 0, 0]
contact: {dhat: 1 mm}
objects:
  board: {generate: {box: {size: [1, 0.02, 1], cells: [1, 1, 1]}}, obstacle: true}
  ball:  {generate: {box: {size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}}, translate: [0, 0.1, 0], velocity: [0, -100, 0]}
Y
    "$BIN/mesh-prep" -q shot.yaml -o a.abut
}

figure() { grep -o "\"$1\":[-0-9.e+]*" "$2" | cut -d: -f2; }

@test "every form and active set runs, says that it promises no freedom from intersections, and is judged" {
    boxes
    for solver in sqp qp; do
        for form in gap volume impact; do
            "$BIN/step" -n 12 --solver $solver --constraints $form --report r.jsonl a.abut -o b.abut 2> said
            grep -F "solver $solver guarantees nothing about intersections" said
            [ "$(grep -c '"contact":"linearised inequalities: nothing is guaranteed"' r.jsonl)" -eq 12 ]
            [ "$(grep -c '"intersections"' r.jsonl)" -eq 12 ]
            [ "$(figure programs r.jsonl | wc -l)" -eq 12 ]
            [ "$(figure hits r.jsonl | sort -u)" = 0 ]
            "$BIN/ccd-check" -q --no-output b.abut
        done
    done
    "$BIN/step" -q -n 12 --solver sqp --active-set impacts --offset 2e-3 --line-search none a.abut | "$BIN/ccd-check" -q --no-output
    # the box falls further in a step than what is near: step says it, and the judge
    "$BIN/step" -n 12 --solver sqp --active-set near --offset 2e-3 a.abut -o b.abut 2> said
    grep -E "[0-9]+ of 12 steps intersect or invert something" said
    exits 1 "$BIN/ccd-check" --no-output b.abut
}

@test "a step that passes through a board is counted in report, frame and message, and ccd-check finds it; --strict stops" {
    shot
    "$BIN/step" -n 2 --solver sqp --active-set near --report r.jsonl a.abut -o b.abut 2> said
    grep -F "1 of 2 steps intersects or inverts something: the frames at their ends are not free of it (sqp/hits)" said
    exits 1 grep -F "all converged" said
    [ "$(figure hits r.jsonl | head -1)" -gt 0 ]
    exits 1 "$BIN/ccd-check" --no-output b.abut
    "$BIN/export" --dump b.abut --array sqp/hits > dump
    grep -F 'sqp/hits' dump
    exits 4 "$BIN/step" -q -n 2 --solver sqp --active-set near --strict a.abut -o c.abut
    grep -E "of '(ball|board)' and .* meet after [0-9.]+ of the step" stderr
    grep -F -- "(--strict)" stderr
    [ ! -e c.abut ]
    # the motion that leaves frames out says what it met, too
    "$BIN/step" -q -n 2 --every 2 --solver sqp --active-set near a.abut | "$BIN/export" --dump --array sqp/hits > every
    grep -F 'sqp/hits' every
}

@test "a program without a solution is exit 4 with the pair by name" {
    cat > slot.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: {dhat: 1 mm}
objects:
  plate: {generate: {box: {size: [0.1, 0.001, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.00175, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
  roof:  {half-space: {point: [0, 0.0035, 0], normal: [0, -1, 0]}}
Y
    "$BIN/mesh-prep" -q slot.yaml -o a.abut
    for solver in sqp qp; do
        exits 4 "$BIN/step" -q --solver $solver --offset 2e-3 --report r.jsonl a.abut -o b.abut
        grep -F "exclude each other" stderr
        grep -E "node [0-9]+ of 'plate' and half-space '(floor|roof)'" stderr
        grep -F '"answer":"infeasible"' r.jsonl
        "$BIN/step" -q --solver $solver --offset 1e-3 a.abut | "$BIN/ccd-check" -q --no-output
    done
}

@test "the same bytes for every thread count, and in one go or two" {
    boxes
    for j in 1 2 7; do "$BIN/step" -q -j $j -n 12 --solver sqp a.abut -o $j.abut; done
    cmp 1.abut 2.abut
    cmp 1.abut 7.abut
    "$BIN/step" -q -n 6 --solver sqp a.abut | "$BIN/step" -q -n 6 --solver sqp -o both.abut
    "$BIN/export" --dump 1.abut | grep -v '^prov' > one
    "$BIN/export" --dump both.abut | grep -v '^prov' > two
    cmp one two
    "$BIN/step" -q -n 3 both.abut | "$BIN/ccd-check" -q --no-output     # and the barrier goes on from it
}

@test "the scene chooses the solver and its keys, --solver and options go before them" {
    boxes --set solver=qp --set sqp.constraints=volume --set sqp.active-set=near --set sqp.offset=2mm
    "$BIN/mesh-prep" -q --explain boxes.yaml --set solver=qp --set sqp.constraints=volume --set sqp.offset=0mm -o /dev/null 2> text
    grep -E 'solver +qp' text
    grep -E 'sqp/constraints +volume' text
    "$BIN/step" -q -n 2 a.abut -o b.abut
    "$BIN/export" --dump b.abut > dump
    grep '^prov step .*"solver":"qp"' dump
    boxes
    "$BIN/step" -q -n 2 --solver qp --constraints volume --active-set near --offset 2e-3 a.abut -o c.abut
    "$BIN/export" --dump b.abut --array node/x | grep -v '^prov' > one
    "$BIN/export" --dump c.abut --array node/x | grep -v '^prov' > two
    cmp one two
    exits 3 boxes --set sqp.constraints=gaps
    says "sqp.constraints is 'gaps'; did you mean 'gap'?"
    exits 3 boxes --set sqp.offset=-1mm
    says "sqp.offset is '-1mm': expected 0 or more"
}

@test "options that are not known, and scenes that it cannot do, are refused by name" {
    boxes
    exits 2 "$BIN/step" --solver sqp --constraints gaps a.abut -o b.abut
    exits 2 "$BIN/step" --solver qp --line-search none a.abut -o b.abut
    says "--line-search: for --solver sqp, not for qp"
    exits 2 "$BIN/step" --constraints gap a.abut -o b.abut
    says "--constraints: for --solver sqp, qp, not for newton"
    exits 2 "$BIN/step" --solver sqp --linear-solver cg a.abut -o b.abut
    says "needs a factor"
    boxes --set contact.friction.mu=0.3
    exits 3 "$BIN/step" -q --solver sqp a.abut -o b.abut
    says "a friction coefficient of 0.3, expected none"
    boxes --set time.scheme=bdf2
    exits 3 "$BIN/step" -q --solver qp a.abut -o b.abut
    says "expected implicit-euler"
}

@test "the pipeline makes its table, with what ccd-check says" {
    cd "$BATS_TEST_DIRNAME/../.."
    OUT=$BATS_TEST_TMPDIR/out STEPS=12 H=0.05 COLUMNS="newton sqp-gap qp-impact" pipelines/experiments/sqp/sqp.sh aligned-cubes > "$BATS_TEST_TMPDIR/lines"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/lines")" -eq 3 ]
    grep -E '^\| aligned-cubes \| 0.05 \| 1e-3 \| converged; ' "$BATS_TEST_TMPDIR/out/table.md"
    grep -E '^\| converged \| \| \| 1 of 1 \|' "$BATS_TEST_TMPDIR/out/table.md"
}
