#!/usr/bin/env bats
# Derivatives of runs at work: losses go down by them, in few evaluations (adjoint-NAME.sh, short forms).
load ../../../tests/tools/helpers

# descend NAME [BY]: by awk alone, or by scipy too
descend() {
    PYTHON=${2:-none} OUT=$BATS_TEST_TMPDIR BIN=$BIN "$ROOT/pipelines/experiments/adjoint/adjoint-$1.sh"
    cd "$BATS_TEST_TMPDIR"
}
# lowest FILE: the lowest loss of a descent
lowest() { cut -f3 "$1" | sort -g | head -n 1; }

@test "Young's modulus and friction of a sliding block are found from its recorded trajectory" {
    WINDOWS=8 MOST=14 descend identify
    # a thousandth of E, of which it has 2e5 Pa, and of mu, 0.3
    awk 'NR == 1 { E = exp($1) } NR == 2 { mu = $1 } END { exit !(E > 1.998e5 && E < 2.002e5 && mu > 0.2997 && mu < 0.3003) }' awk.txt
}

# bats test_tags=slow
@test "a ball is thrown off a wall into a bowl, in at most ten evaluations, and stays there" {
    MOST=10 descend throw
    awk -v L="$(lowest awk.tsv)" 'BEGIN { exit !(L ~ /[0-9]/ && L < 1e-5) }'
    "$BIN/export" -q end.abut --nodes nodes
    # the middle of the ball in the end, beside the axis of the bowl
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["object"] == "ball" { x += $at["x_m"] - 0.55; y += $at["y_m"]; z += $at["z_m"] - 0.12; n++ }
        END { exit !(n && sqrt(x * x + z * z) / n < 0.1 && y / n > 0.15 && y / n < 0.3) }' "$(ls nodes/*.csv | tail -n 1)"
}

@test "a bridge that carries a block sags less in another shape of the same volume" {
    MOST=6 descend bridge
    awk -v a="$(head -n 1 awk.tsv | cut -f3)" -v b="$(lowest awk.tsv)" 'BEGIN { exit !(b ~ /[0-9]/ && b < 0.65 * a) }'
    # thicker in its middle than at its ends
    awk '{ t[NR] = $1 } END { exit !(NR == 13 && t[7] > 1.5 * t[1] && t[7] > 1.5 * t[13]) }' awk.txt
}

# bats test_tags=slow
@test "the bending stiffness of a cloth is found from how it drapes, by awk and by scipy" {
    MOST=9 descend drape /usr/bin/python3
    awk '{ E = exp($1) } END { exit !(E > 1.99e5 && E < 2.01e5) }' awk.txt
    if /usr/bin/python3 -c 'import scipy' 2>/dev/null; then
        awk '{ E = exp($1) } END { exit !(E > 1.98e5 && E < 2.02e5) }' scipy.txt
    fi
}
