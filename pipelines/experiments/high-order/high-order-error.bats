#!/usr/bin/env bats
# bats file_tags=experiment
# high-order-error.sh: errors of tets of order 1 to 4 fall as they must; runs that are there are not made again.
load ../../../tests/tools/helpers

errors() { OUT=$TMP/out RESULTS=$TMP/results BIN=$BIN "$ROOT/pipelines/experiments/high-order/high-order-error.sh" "$@"; }

# figure CASE ROLE ORDER CELLS COLUMN of the .tsv
figure() {
    awk -F'\t' -v k="$1/$2/$3/$4" -v c="$5" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $1 "/" $2 "/" $3 "/" $4 == k { print $(at[c]) }' results.tsv
}
# error CASE ORDER CELLS: of the first figure, relative to the reference
error() {
    awk -F'\t' -v c="$1" -v k="$2/$3" '$1 == c && $2 == "reference" { want = $7 } $1 == c && $2 == "run" && $3 "/" $4 == k { got = $7 }
        END { e = got / want - 1; print e < 0 ? -e : e }' results.tsv
}
holds() { awk "BEGIN { exit !($1) }" || { echo "not so: $1"; return 1; }; }

# bats test_tags=slow
@test "the beam, the bars and the ball at few unknowns: judged clean, higher orders have smaller errors, rates are those of the order" {
    skip_without_numpy
    UNKNOWNS=700 SEGMENTS=2 errors beam twist ball
    [ "$(awk -F'\t' 'NR > 1 && $1 != "ball" && $NF != "clean"' results.tsv | wc -l)" -eq 0 ]
    [ "$(grep -c reference results.tsv)" -eq 2 ]
    holds "$(error beam 2 1) < 0.06 && $(error beam 1 2) > 0.5"             # 432 unknowns both
    holds "$(error twist 2 1) < 0.2 * $(error twist 1 2)"                   # 630 unknowns both
    [ "$(figure twist reference 4 1 iterations)" -gt 10 ]
    # the curved boundary: errors of the volume fall by the second and the fourth power of the size of its faces
    holds "$(figure ball run 1 2 first) / $(figure ball run 1 4 first) > 3.5 && $(figure ball run 1 2 first) / $(figure ball run 1 4 first) < 4"
    holds "$(figure ball run 2 1 first) / $(figure ball run 2 2 first) > 12 && $(figure ball run 2 1 first) / $(figure ball run 2 2 first) < 16"
    grep -E '^Rates in cells .*P1 volume 1\.[0-9]*, radius 1\.[0-9]*; P2 volume 3\.' results.md
    grep -F '| P2 | 1 | 432 |' results.md
    [ "$(grep -c 'The reference itself is off by about 0.[0-9]*' results.md)" -eq 2 ]
    "$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' results.svg
}

@test "Hertz: the force of a pressed ball falls to that of theory, its pressure to the half ellipse" {
    skip_without_numpy
    UNKNOWNS=2200 errors hertz
    holds "$(error hertz 1 8) < 0.5 * $(error hertz 1 4) && $(error hertz 1 4) < 0.4 * $(error hertz 1 2)"
    holds "$(error hertz 2 4) < 0.7 * $(error hertz 1 8) && $(error hertz 4 2) < 0.7 * $(error hertz 1 8)"     # 2184 unknowns all
    # Hertz's formula and what the other plate adds: 1.058; the reference is stiffer, as all finite elements are
    holds "$(figure hertz reference 3 4 first) > 1.03 && $(figure hertz reference 3 4 first) < 1.10"
    holds "$(figure hertz reference 3 4 second) < 0.35 && $(figure hertz run 1 2 second) > 1"
    grep -F 'theory has 1.05' results.md
}

@test "a run that is there is not made again; one that is missing is; what cannot be is refused" {
    skip_without_numpy
    UNKNOWNS=100 errors ball > first
    [ "$(grep -c '^ball' first)" -eq 1 ]
    UNKNOWNS=200 errors ball > second
    [ "$(grep -c '^ball' second)" -eq 2 ]
    cp results.tsv all.tsv
    sed -i '/^ball	run	2/d' results.tsv
    UNKNOWNS=200 errors ball > third
    grep '^ball' third | grep -c '^ball	run	2	1	'
    cmp <(sort results.tsv) <(sort all.tsv)
    UNKNOWNS=10 run errors ball
    [ "$status" -ne 0 ]
    [[ $output == *"ball has more than 10 unknowns in every mesh"* ]]
    # a run without an end is named, the others are kept
    mkdir bin
    ln -s "$BIN"/* bin/
    rm bin/step
    printf '#!/bin/sh\necho "step: it cannot be" >&2\nexit 4\n' > bin/step
    chmod +x bin/step
    BIN=$TMP/bin UNKNOWNS=100 run errors beam
    [ "$status" -eq 4 ]
    [[ $output == *"high-order-error: beam, order 1, 1 cells: 0 of 1 steps, step ends with status 4: it cannot be"* ]]
    [ "$(wc -l < results.tsv)" -eq "$(wc -l < all.tsv)" ]
}
