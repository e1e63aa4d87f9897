#!/usr/bin/env bats
# bats file_tags=experiment
# Outcomes of shells, rods and particles beside the published ones (codim_outcomes.py).
load ../../../tests/tools/helpers

outcomes() { BIN=$BIN OUT=$TMP/out TABLE=$TMP/table.md "$PYTHON" "$ROOT/pipelines/experiments/codimensional/codim_outcomes.py" "$@"; }

@test "codim-outcomes: a row is made, in the order of the list; the others stay; a name that is none is refused" {
    printf '| C99 gone | 1 |\n| C22 CCD, needles | 7 | old | x |  |  |\n| C7 ten sheets, dhat 1 mm | 8 | old | x |  |  |\n' > table.md
    outcomes "C22 CCD, cards"
    grep '^| C' table.md > rows
    sed -n 1p rows | grep -qF '| C7 ten sheets, dhat 1 mm | 8 | old | x |  |  |'
    sed -n 2p rows | grep -qE '^\| C22 CCD, cards \| 759 \| [0-9.e-]+ ms of processor time an iteration, [0-9.e-]+ us a node \| 165.2 ms'
    sed -n 3p rows | grep -qF '| C22 CCD, needles | 7 | old | x |  |  |'
    [ "$(wc -l < rows)" -eq 3 ]
    exits 1 outcomes C98
    says "no row 'C98'"
}

@test "codim-outcomes: an outcome that is not the published one ends with status 1 and is unexplained, unless a reason is given" {
    mkdir -p fake/pipelines/experiments/codimensional fake/formats
    ln -s "$ROOT/formats/python" fake/formats/python
    ln -s "$ROOT/pipelines/experiments/bin" fake/pipelines/experiments/
    ln -s "$ROOT/pipelines/experiments/codimensional/scenes" fake/pipelines/experiments/codimensional/
    fake() { BIN=$BIN OUT=$TMP/out TABLE=$TMP/table.md "$PYTHON" "$TMP/fake/pipelines/experiments/codimensional/codim_outcomes.py" "$@"; }
    short='s/TABLE_CLOTH % 4, falls(lambda d: not d), "all stay", "-"/TABLE_CLOTH.replace("80", "2") % 4, falls(lambda d: CHECK), "all stay", "WHY"/'
    edit() { sed "${short/CHECK/$1}" "$ROOT/pipelines/experiments/codimensional/codim_outcomes.py" | sed "s/WHY/$2/" > fake/pipelines/experiments/codimensional/codim_outcomes.py; }
    edit 'not d' -
    fake "C13 table-cloth at 4"
    grep -q '^| C13 table-cloth at 4 m/s | 1344 | below the board: none; moved along: cube 0 cm, tetra 0 cm.*| all stay | yes |  |$' table.md
    edit 'd' -
    exits 1 fake "C13 table-cloth at 4"
    grep -q '| all stay | \*\*no\*\* | unexplained |$' table.md
    edit 'd' 'for a reason'
    fake "C13 table-cloth at 4"
    grep -q '| all stay | \*\*no\*\* | for a reason |$' table.md
}
