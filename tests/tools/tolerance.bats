#!/usr/bin/env bats
# What the end of a step means: how near it is to the minimum, beside the same step by the published rule and far beyond it.
load helpers

# apart A B: the largest distance of a coordinate between the last frames of two streams, m
apart() {
    local f
    for f in "$1" "$2"; do "$BIN/export" --frames -1 --nodes "nodes.$f" "$f" 2>/dev/null; done
    paste -d, "nodes.$1"/*.csv "nodes.$2"/*.csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF / 2; i++) if ($i ~ /^[xyz]_m$/) at[++n] = i; half = NF / 2; next }
        { for (k = 1; k <= n; k++) { d = $at[k] - $(at[k] + half); d = d < 0 ? -d : d; if (d > far) far = d } }
        END { if (n != 3 || NR < 2) exit 1; print far + 0 }'
}

@test "stiff hair ends a step within a few tolerances of its minimum, where the published rule stops far from it" {
    "$BIN/mesh-prep" "$ROOT/pipelines/scenes/thin/hair.yaml" --set 'objects.held.generate.strands.count=[2,2]' \
        --set 'objects.falling.generate.strands.count=[3,2]' -o hair.abut
    "$BIN/step" -j 1 -n 6 --stop published hair.abut -o run.abut
    "$BIN/step" -j 1 --stop published run.abut -o published.abut
    "$BIN/step" -j 1 run.abut -o ours.abut
    "$BIN/step" -j 1 --tolerance 1e-7 run.abut -o exact.abut
    "$BIN/ccd-check" --no-output ours.abut
    tolerance=$("$BIN/export" run.abut | grep -o 'tolerance [^ ]* m/s' | cut -d' ' -f2)
    h=$("$BIN/export" run.abut | grep -o 'time step [^ ]* s' | cut -d' ' -f3)
    awk -v p="$(apart published.abut exact.abut)" -v o="$(apart ours.abut exact.abut)" -v one="$tolerance" -v h="$h" '
        BEGIN { print p / one / h, o / one / h; exit !(p > 8 * one * h && o > 0 && o < 4 * one * h) }'
}

# slid OPTION...: how far the block has gone after 1.25 s
slid() {
    "$BIN/step" -j 1 -n 50 --every 50 --with energies "$@" slope.abut | "$BIN/export" --csv - |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "center_x_m") at = i; next } { x = $at } END { print x }'
}

@test "a block on a slope lets go in time at the default tolerance" {
    cat > slope.yaml <<'Y'
time: {step: 0.025 s}
gravity: [4.387165371735013, -8.774330743470026, 0]
contact: {friction: {mu: 0.49}}
materials: {stiff: {young: 1e7}}
objects:
  block: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, material: stiff, translate: [0, 0.501, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" slope.yaml -o slope.abut
    awk -v exact="$(slid --tolerance 1e-6)" -v ours="$(slid)" -v published="$(slid --stop published)" 'BEGIN {
        print exact, ours, published
        exit !(exact > 0.1 && ours > 0.9 * exact && ours < 1.02 * exact && published < 0.6 * exact) }'
}

@test "friction passes go on while a contact is about to let go, though the tolerance is beyond the stiction speed" {
    cat > slope.yaml <<'Y'
time: {step: 0.025 s}
gravity: [4.387165371735013, -8.774330743470026, 0]
contact: {dhat: 1e-3 l, friction: {mu: 0.49, eps_v: 1e-5 l/s, lags: converged}}
tolerance: 1e-4 l/s
materials: {stiff: {model: fixed-corotated, young: 1e9}}
objects:
  block: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, material: stiff, translate: [0, 0.502, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    for mu in 0.48 0.49 0.52; do
        "$BIN/mesh-prep" slope.yaml --set contact.friction.mu=$mu -o slope.abut
        awk -v mu=$mu -v exact="$(slid --tolerance 1e-7)" -v ours="$(slid)" -v published="$(slid --stop published)" 'BEGIN {
            print mu, exact, ours, published
            if (exact !~ /[0-9]/ || ours !~ /[0-9]/ || published !~ /[0-9]/) exit 1
            if (mu > 0.5) exit !(exact < 1e-3 && ours < 1e-3)
            exit !(exact > 0.06 && ours > 0.99 * exact && ours < 1.01 * exact && published < 0.95 * exact) }'
    done
}

@test "--stop published is the first condition alone, and goes with no tolerance of forces" {
    two_boxes 2 0.31 > boxes.yaml
    "$BIN/mesh-prep" boxes.yaml -o boxes.abut
    "$BIN/step" -n 4 --stop published --report p.jsonl boxes.abut -o p.abut
    grep -q '"stop":"published"' <("$BIN/export" p.abut)
    "$BIN/ccd-check" --no-output p.abut
    exits 2 "$BIN/step" --stop published --force-tolerance 0.1 boxes.abut -o x.abut
    exits 2 "$BIN/step" --stop published --solver pd --contact ignore boxes.abut -o x.abut
    says "--stop published does not go with --solver pd"
}
