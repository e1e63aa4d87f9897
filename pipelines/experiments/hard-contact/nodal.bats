#!/usr/bin/env bats
# nodal.sh: rows of hard contact, quick versions of its scenes, rules that say no.
load ../../../tests/tools/helpers

rows() { OUT=$PWD/out BIN=${BIN} "$ROOT/pipelines/experiments/hard-contact/nodal.sh" "$@"; }

# value FILE KEY: of the last frame
value() { awk -F, -v key="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) k = i; next } { v = $k } END { print v }' "$1"; }
holds() { awk "BEGIN { exit !($1) }" || { echo "not so: $1"; return 1; }; }

# bats test_tags=slow
@test "rows run side by side, keep their rules, and stand in the order of the list beside those that are not run again" {
    mkdir out
    {
        echo "| capstan-2.4 | old | rule | yes | 1 | 1 | 1 | 1 | 0, 0 |"
    } > out/table.md
    JOBS=2 rows slope-0.48 slope-0.52
    grep -o '^| [a-z]*-[0-9.]* |' out/table.md > names
    printf '| slope-0.52 |\n| slope-0.48 |\n| capstan-2.4 |\n' | cmp - names
    grep -E '^\| slope-0.52 \| speed [0-9.e-]+ m/s after 1 s \| below 1e-9 m/s \| yes \| 100 \|' out/table.md
    grep -E '^\| slope-0.48 .* \| yes \| 100 \|' out/table.md
    # the run at rest under the rule of the one that slides
    exits 1 "$ROOT/pipelines/experiments/hard-contact/nodal_outcome.py" slope-0.48 slope out/slope-0.52 clean
    exits 1 "$ROOT/pipelines/experiments/hard-contact/nodal_outcome.py" slope-0.52 slope out/slope-0.52 "1 collision"
    exits 1 "$ROOT/pipelines/experiments/hard-contact/nodal_outcome.py" slope-0.52 slope
    exits 1 "$ROOT/pipelines/experiments/hard-contact/nodal_outcome.py" slope-0.52 slope out/slope-0.52 clean many
    # an end that is not reached neither keeps nor breaks the rule about it
    "$ROOT/pipelines/experiments/hard-contact/nodal_outcome.py" slope-0.48 slope out/slope-0.52 clean 101 | grep -F '| cut, 101 wanted | 100 |'
    exits 1 "$ROOT/pipelines/experiments/hard-contact/nodal_outcome.py" slope-0.48 slope out/slope-0.52 clean 100
}

# bats test_tags=slow
@test "a rope over three poles holds at 0.5 and runs at 0.2" {
    STEPS=60 JOBS=2 rows rope-0.5 rope-0.2
    local start
    start=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "block.y_m") k = i } NR == 2 { print $k }' out/rope-0.5.csv)
    holds "$start - $(value out/rope-0.5.csv block.y_m) < 0.006"
    holds "$start - $(value out/rope-0.2.csv block.y_m) > 0.02"
}

# bats test_tags=slow
@test "a house of cards holds at 0.6 and gives way at 0.2" {
    STEPS=120 JOBS=2 rows cards-0.6 cards-0.2
    local low high
    low=$(value out/cards-0.2.csv right20.y_m)
    high=$(value out/cards-0.6.csv right20.y_m)
    holds "$high - $low > 0.01"
    grep '| cards-0.6 .* | 0, 0 |' out/table.md
}

# bats test_tags=slow
@test "other scenes start, each frame judged; both solvers side by side" {
    STEPS=3 JOBS=2 rows capstan-2.4 drag pinch-yields cloth-on-ball belt
    [ "$(grep -c '^| .* |  | 3 |' out/table.md)" -eq 5 ]
    STEPS=3 JOBS=2 rows side slope-0.52 cards-0.6
    grep -c '^| .*, nodal |' out/side.md
    [ "$(grep -c '^| .*, newton |' out/side.md)" -eq 2 ]
}

# bats test_tags=slow
@test "a sheet on a box and a cone comes to the same shape with the barrier and its lagged friction, and with hard contact" {
    local solver scene="$ROOT/pipelines/experiments/hard-contact/scenes/box-and-cone.yaml"
    "$BIN/mesh-prep" -q "$scene" --set objects.sheet.generate.cloth.cells='[20, 20]' -o a.abut
    for solver in "nodal" "newton --lags converged"; do
        # shellcheck disable=SC2086
        "$BIN/step" -q -j 1 -n 100 --every 50 --solver $solver a.abut | "$BIN/ccd-check" -q -o b.abut
        # of the sheet in the last frame: its nodes come first
        "$BIN/export" --dump --array node/x b.abut |
            awk '/^frame/ { n = 0; next } /^ +-?[0-9]/ { row[n++] = $0 } END { for (i = 0; i < 441; i++) print row[i] }' > "${solver%% *}"
    done
    paste nodal newton | awk '{ for (i = 1; i <= 3; i++) sum += ($i - $(i + 3)) ^ 2 }
        END { off = sqrt(sum / NR); print "root mean square of distances", off; exit !(NR == 441 && off > 0 && off < 0.02 * 0.8) }'
}
