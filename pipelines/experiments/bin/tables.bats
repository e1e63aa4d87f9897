#!/usr/bin/env bats
# Tables: made by one command each, of which version they are, and small scenes beside them.
load ../../../tests/tools/helpers

# A repository with a table of two rows, made by a script of two rows, and a TSV.
setup() {
    TMP=$BATS_TEST_TMPDIR/tree
    mkdir -p "$TMP"
    cd "$TMP" || return 1
    command -v git > /dev/null || skip "no git"
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git init -q .
    mkdir -p pipelines/experiments/bin lib
    cp "$ROOT/pipelines/experiments/bin/tables" pipelines/experiments/bin/
    printf 'all:\n' > Makefile
    echo 'one' > lib/a.c
    {
        printf '# a comment\n'
        printf 't\tt.md\t1\tsteps; its; came:\tV=7 ./run.sh t.md "$@"\tV=${V:-7} ./run.sh $TO "A one"\n'
        printf 'u\tu.tsv u.md\t2\t-\tprintf "a\\tb\\tc\\n1\\t2\\t3\\n" > u.tsv; echo "| a |" > u.md\t-\n'
        printf 'd\tt.md\t1\tits\tfalse\techo "no data"; exit ${RC:-0}\n'
    } > pipelines/experiments/bin/tables.tsv
    cat > run.sh <<'R'
#!/usr/bin/env bash
to=$1; shift
[ -e "$to" ] || printf '# T\n\n| name | steps | its | s | came |\n|---|---|---|---|---|\n| A one | | | | |\n| B two | | | | |\n' > "$to"
for row in "A one" "B two"; do
    for prefix in "${@:-}"; do
        [[ $row != "$prefix"* ]] || sed -i "s/^| $row .*/| $row | ${STEPS:-5 of 5} | $V | 0.$RANDOM | ${CAME:-yes: 3} |/" "$to"
    done
done
[ "$to" = t.md ] || sed -i '/| | |/d' "$to"
[ -z "${STATUS:-}" ] || { sed -i '/^<!--/d' "$to"; exit "$STATUS"; }     # a table that it writes anew, and a broken rule
R
    printf '# T\n\n| name | steps | its | s | came |\n|---|---|---|---|---|\n| A one | 1 | 1 | 1 | no |\n| B two | 1 | 1 | 1 | no |\n' > t.md
    chmod +x run.sh
    git add -A
    git commit -qm one
}
tables() { ./pipelines/experiments/bin/tables "$@"; }
commit() { git add -A && git commit -qm "$1"; }

@test "tables: the first line of a table is the commit, date, machine and command that made it; a line for later rows follows" {
    tables t
    first=$(git rev-parse --short=12 HEAD)
    [[ $(head -n 1 t.md) == "<!-- $first"$'\t'"$(date +%F)"$'\t'*cores*$'\t'"V=7 ./run.sh t.md -->" ]]
    [ "$(sed -n 2p t.md)" = "# T" ]
    [ "$(grep -c '^| [AB].* | 5 of 5 | 7 |' t.md)" -eq 2 ]
    echo two > lib/a.c
    sed -i 's/V=7 /V=8 /' pipelines/experiments/bin/tables.tsv
    commit two
    tables t 'A one'
    [[ $(sed -n 1p t.md) == "<!-- $first"$'\t'*'t.md -->' ]]
    [[ $(sed -n 2p t.md) == "<!-- $(git rev-parse --short=12 HEAD)"$'\t'*$'\t'"V=8 ./run.sh t.md 'A one' -->" ]]
    [[ $(grep '^| A' t.md) == *'| 8 |'* && $(grep '^| B' t.md) == *'| 7 |'* ]]
    STATUS=1 exits 1 tables t 'B two'   # a broken rule: rows before it are of their versions
    [ "$(grep -c '^<!--' t.md)" -eq 3 ]
    [[ $(sed -n 1p t.md) == "<!-- $first"$'\t'* && $(sed -n 3p t.md) == *"t.md 'B two' -->" ]]
    STEPS=failed exits 1 tables d       # what makes no row adds no line
    [ "$(grep -c '^<!--' t.md)" -eq 3 ]
    commit three
    tables t        # the whole table has one line again
    [ "$(grep -c '^<!--' t.md)" -eq 1 ]
    tables u        # files that one command makes, each in its manner
    [[ $(head -n 1 u.tsv) == "# $(git rev-parse --short=12 HEAD)"$'\t'* && $(head -n 1 u.md) == "<!-- "* && $(sed -n 2p u.md) == "| a |" ]]
}

@test "tables: code that is not committed, rows of a table that is made whole, and names that are none are refused" {
    echo two > lib/a.c
    exits 2 tables t
    says "t: not committed"
    says "lib/a.c"
    git checkout -q lib/a.c
    exits 2 tables u row
    says "u: its command makes all rows"
    exits 2 tables none
    says "no table 'none'; there are: t u d"
    exits 2 tables --none
    exits 1 tables d
    says "d: status 1 of false"
    [ "$(sed -n 1p t.md)" = "# T" ]
    echo "short	line" >> pipelines/experiments/bin/tables.tsv
    exits 3 tables
    says "'short' has 2 fields, expected 6"
}

@test "tables: a check compares counts to a tenth and verdicts, no seconds; what has no data is skipped by name" {
    tables t
    run tables --check t
    [[ $status -eq 0 && $output == t$'\t1 row, '* ]]
    V=7.5 CAME='yes: 4' tables --check t
    V=8 exits 1 tables --check t
    [ "$(cat ../stdout)" = $'t\tA one\tits\t7\t8' ]
    STEPS='4 of 5' exits 1 tables --check t
    [ "$(cat ../stdout)" = $'t\tA one\tsteps\t5 of 5\t4 of 5' ]
    CAME='no: 3' exits 1 tables --check t
    [ "$(cat ../stdout)" = $'t\tA one\tcame\tyes: 3\tno: 3' ]
    sed -i '/^| A/d' t.md
    exits 1 tables --check t
    [ "$(cat ../stdout)" = $'t\tA one\tno such row in t.md' ]
    run tables --check d
    [[ $status -eq 0 && $output == $'d\tskipped: no data' ]]
    RC=4 exits 1 tables --check d
    [ "$(cat ../stdout)" = $'d\tstatus 4: no data' ]
    exits 2 tables --check u
    says "u: has no check"
}

@test "tables: every result says of which version it is and is in the list; every script of an experiment has a check" {
    cd "$ROOT"
    [ -e pipelines/experiments/bin/tables.tsv ]
    for file in pipelines/experiments/*/*.{md,tsv} tests/bench/{table,cloth}.md; do
        case $file in
        */README.md | */bin/*.tsv | */list.tsv | */published.tsv | */thin.tsv | */high-order.tsv) continue ;;
        esac
        grep -qE $'[\t ]'"$file"$'[\t ]' pipelines/experiments/bin/tables.tsv || { echo "not in the list: $file"; return 1; }
        head -n 1 "$file" | grep -qP '^(# |<!-- )[0-9a-f]{12}\t\d{4}-\d\d-\d\d\t[^\t]+\t.' || { echo "of no version: $file"; return 1; }
    done
    for folder in pipelines/experiments/*/; do
        [[ $folder != */bin/ ]] && compgen -G "$folder*.sh" > /dev/null || continue
        awk -F'\t' -v d="$folder" '$2 ~ "^" d && $6 != "-" { n++ } END { exit !n }' pipelines/experiments/bin/tables.tsv || { echo "no check: $folder"; return 1; }
    done
    PYTHONPATH=pipelines/experiments/bin "$PYTHON" - <<'P'
import importlib.machinery, importlib.util, sys
sys.argv = ["tables", "--help"]
load = importlib.machinery.SourceFileLoader("tables", "pipelines/experiments/bin/tables")
mod = importlib.util.module_from_spec(importlib.util.spec_from_loader("tables", load))
load.exec_module(mod)
for t in mod.tables().values():
    rows = t.rows(t.files[0])
    assert rows, t.files[0]
    for c in t.compared:
        assert any(c.rstrip(":") in cells for cells in rows.values()), (t.name, c)
P
}
