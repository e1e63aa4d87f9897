#!/usr/bin/env bats
# bats file_tags=experiment
# Rows of tables, of which code they are, and which the code has left behind.
load ../../../tests/tools/helpers

# A repository with a table of two rows, made by a script that counts, of two scenes and one file of code.
setup() {
    TMP=$(mktemp -d)
    cd "$TMP"
    command -v git > /dev/null || skip "no git"
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git init -q .
    mkdir -p pipelines/results pipelines/experiments/bin lib tests
    cp "$ROOT/pipelines/experiments/bin/tables" pipelines/experiments/bin/
    printf 'all:\n' > Makefile
    echo 'one' > lib/a.c
    echo 'text' > ./lib/a.md
    echo 'scene: 1' > one.yaml
    echo 'scene: 2' > two.yaml
    printf '# name\targuments\nA one\tone.yaml\nB two\ttwo.yaml --set x=1\n' > pipelines/list.tsv
    {
        printf 'set\tcode\tlib/*.c\n'
        printf 't\tpipelines/results/t.md\t1\tnamed\t@code\tpipelines/list.tsv\tV=7 pipelines/run.sh\n'
        printf 'u\tpipelines/results/u.tsv\t2\tall\t@code\t-\tprintf "a\\tb\\tc\\n1\\t2\\t3\\n1\\t3\\t4\\n" > pipelines/results/u.tsv\n'
        printf 'd\td.md#Two\t1\treplace\t@code\t-\techo "| r | new |"\n'
    } > pipelines/experiments/bin/tables.tsv
    cat > pipelines/run.sh <<'R'
#!/usr/bin/env bash
table=./pipelines/results/t.md
for row in "A one" "B two"; do
    [[ $row == "${1:-}"* ]] || continue
    sed -i "s/^| $row .*/| $row | $V |/" $table
    grep "^| $row" $table
done
R
    printf '# D\n## One\n| n | v |\n|---|---|\n| r | old |\n## Two\n| n | v |\n|---|---|\n| r | old |\n| s | old |\n\n| r | other |\n' > d.md
    printf '# T\n\n| name | value |\n|---|---|\n| A one | 0 |\n| B two | 0 |\n' > ./pipelines/results/t.md
    printf '#!/bin/sh\n[ "$1" = compare ] && cat said && exit "$(cat status)"\n' > tests/corpus
    chmod +x pipelines/run.sh tests/corpus
    git add -A
    git commit -qm one
}
teardown() { rm -rf "$TMP"; }
tables() { ./pipelines/experiments/bin/tables "$@"; }
commit() { git add -A && git commit -qm "$1"; }

@test "tables: a row that is made is recorded with commit, date, machine and command; the others have no record" {
    tables t 'A one'
    commit made
    run tables --tsv t
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "A one"$'\t'7$'\t'"$(git rev-parse --short=12 HEAD~1)"$'\t'"$(date +%F)"$'\t'*cores*$'\t'"V=7 pipelines/run.sh 'A one'" ]]
    [[ ${lines[1]} == "B two"$'\t'0$'\t-\t-\t-\t-' ]]
    tables t B
    sed -i 's/V=7/V=8/' pipelines/experiments/bin/tables.tsv
    commit "another command"
    tables --adopt t HEAD~1 ./pipelines/results/t.md      # the command of today is not that of the commit: in full
    run cut -f6 pipelines/results/rows.tsv
    [ "$output" = $'command\nV=8 pipelines/run.sh\nV=8 pipelines/run.sh' ]
    tables --adopt t HEAD ./pipelines/results/t.md        # it is: not repeated
    run cut -f6 pipelines/results/rows.tsv
    [ "$output" = $'command\n=\n=' ]
    sed -i 's/V=8/V=9/' pipelines/experiments/bin/tables.tsv
    run tables --tsv t
    [[ ${lines[0]} == *$'\tV=8 pipelines/run.sh' ]]
    git checkout -q pipelines/experiments/bin/tables.tsv
    sed -i '/^t\tB two/d' pipelines/results/rows.tsv
    run tables --stale t
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "t"$'\t'"B two"$'\t'"no record" ]
    tables t
    run tables --stale t
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "tables: a budget of the caller's is in the record of a table that has one" {
    sed -i 's|V=7 pipelines/run.sh|V=${BUDGET:-9} pipelines/run.sh|' pipelines/experiments/bin/tables.tsv
    commit "with a budget"
    BUDGET=5 tables t A
    tables t B
    BUDGET=5 tables u
    run cut -f2,6 pipelines/results/rows.tsv
    [ "${lines[1]}" = $'A one\texport BUDGET=5; V=${BUDGET:-9} pipelines/run.sh '"'A'" ]
    [ "${lines[2]}" = $'B two\tV=${BUDGET:-9} pipelines/run.sh '"'B'" ]
    [ "${lines[3]}" = $'1, 2\t=' ]
    run grep -F '| A one | 5 |' ./pipelines/results/t.md
    [ "$status" -eq 0 ]
}

@test "tables: rows are stale once their code has changed, not their texts, and current again where it is taken back" {
    tables t
    commit made
    echo more >> ./lib/a.md
    commit text
    tables --stale t
    echo two > lib/a.c
    run tables --stale t
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *"changed since: lib/a.c" && ${lines[1]} == *"B two"* ]]
    commit code
    run tables --stale t
    [ "$status" -eq 1 ]
    echo one > lib/a.c
    commit back
    tables --stale t
}

@test "tables: a scene or a line of the list that changes makes its own row stale alone" {
    tables t
    commit made
    echo 'scene: 3' > two.yaml
    commit scene
    run tables --stale t
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *"B two"*"two.yaml changed since"* && $output != *"A one"* ]]
    git revert --no-edit HEAD > /dev/null
    tables --stale t
    sed -i '1i # of two\nmesh-source: two.sh' two.yaml      # what no run depends on
    commit words
    tables --stale t
    sed -i 's/x=1/x=2/' pipelines/list.tsv
    run tables --stale t
    [[ ${lines[0]} == *"B two"*"its line in pipelines/list.tsv has changed"* && $output != *"A one"* ]]
}

@test "tables: commits of the same bytes keep rows current, for the tables named, and only if the corpus says so" {
    tables t
    tables u
    commit made
    first=$(git rev-parse HEAD)
    echo two > lib/a.c
    commit two
    echo "drop -j 1  differs: step 3" > said; echo 1 > status
    exits 1 ./pipelines/experiments/bin/tables --same "$first" HEAD
    echo "drop -j 1  absent: x" > said; echo 0 > status
    exits 1 ./pipelines/experiments/bin/tables --same "$first" HEAD
    [ ! -e pipelines/results/same.tsv ]
    echo "drop -j 1  same bytes  clean" > said
    exits 2 env ROWS=drop ./pipelines/experiments/bin/tables --same "$first" HEAD
    tables --same "$first" HEAD t
    tables --stale t
    run tables --stale u
    [ "$status" -eq 1 ]
    tables --same HEAD "$first"         # either way round
    tables --stale u
    echo three > lib/a.c                # what came after it counts again
    commit three
    run tables --stale t u
    [ "$status" -eq 1 ]
    tables --same HEAD HEAD~1 t         # a chain
    tables --stale t
    printf 'drop -j 1  same bytes  clean\nslope -j 1  same motion  step 1, node/force; clean\n' > said
    tables --same HEAD HEAD~1 u
    tail -n 1 pipelines/results/same.tsv | grep -q 'tests/corpus: 2 runs; of 1 other arrays differ, positions'
}

@test "tables: a row that a hand has changed is listed, and one that is gone has no record any more" {
    tables t
    commit made
    sed -i 's/^| A one .*/| A one | 8 |/' ./pipelines/results/t.md
    run tables --stale t
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *"A one"*"its text is not what its command wrote" ]]
    sed -i '/^| A one/d' ./pipelines/results/t.md
    tables t B
    run grep -c . pipelines/results/rows.tsv
    [ "$output" -eq 2 ]
}

@test "tables: rows whose words alone differ keep their record; one whose numbers differ is refused" {
    printf 'words\tt\tpublished, reason, came:\n' | cat - pipelines/experiments/bin/tables.tsv > list && mv list pipelines/experiments/bin/tables.tsv
    printf '# T\n\n| name | value | came |\n|---|---|---|\n| A one | 7 | yes: 3 |\n| B two | 7 | yes: 4 |\n' > ./pipelines/results/t.md
    commit made
    tables --adopt t HEAD ./pipelines/results/t.md
    commit recorded
    # another verdict on the same number, another column of words
    printf '# T\n\n| name | value | came | reason |\n|---|---|---|---|\n| A one | 7 | no: 3 | x |\n| B two | 7 | yes: 4 |  |\n' > ./pipelines/results/t.md
    exits 1 ./pipelines/experiments/bin/tables --stale t
    cut -f1-6 pipelines/results/rows.tsv > before
    tables --reworded t
    cut -f1-6 pipelines/results/rows.tsv | cmp - before
    tables --stale t
    commit words
    sed -i 's/no: 3/no: 5/' ./pipelines/results/t.md
    exits 1 ./pipelines/experiments/bin/tables --reworded t
    sed -i 's/no: 5/no: 3/; s/| B two | 7/| B two | 8/' ./pipelines/results/t.md
    run tables --reworded t
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == $'t\tB two\tmore than its words has changed' ]]
    exits 1 ./pipelines/experiments/bin/tables --stale t
    exits 2 ./pipelines/experiments/bin/tables --reworded u
    git checkout -q .
    sed -i 's/yes: 4/yes: 4, 5/' ./pipelines/results/t.md       # a number that was not there
    exits 1 ./pipelines/experiments/bin/tables --reworded t
}

@test "tables: words of a file that scripts of today have made; what they have changed does not count if numbers are the same" {
    printf 'words\tt\tpublished, reason\n' | cat - pipelines/experiments/bin/tables.tsv > list && mv list pipelines/experiments/bin/tables.tsv
    sed -i 's|lib/\*.c|lib/*.c pipelines/run.sh|' pipelines/experiments/bin/tables.tsv
    printf '# T\n\n| name | value | reason |\n|---|---|---|\n| A one | 7, 0.3 ms | a |\n| B two | 7 | b |\n' > ./pipelines/results/t.md
    commit made
    tables --adopt t HEAD ./pipelines/results/t.md
    commit recorded
    first=$(git rev-parse --short=12 HEAD)
    printf '# other reasons\n' >> pipelines/run.sh
    commit scripts
    exits 1 ./pipelines/experiments/bin/tables --stale t
    printf '| name | value | reason |\n|---|---|---|\n| A one | 8, 0.4 ms | c |\n' > other.md
    exits 1 ./pipelines/experiments/bin/tables --words t other.md "$first"
    sed -i 's/ 8, / 7, /' other.md
    tables --words t other.md "$first"
    grep -qF '| A one | 7, 0.3 ms | c |' ./pipelines/results/t.md
    tables --stale t
    tail -n 1 pipelines/results/same.tsv | grep -qP "^$first\t.*\tt\tscripts alone differ; 1 rows"
    echo two > lib/a.c
    commit code
    exits 1 ./pipelines/experiments/bin/tables --words t other.md "$first"
}

@test "tables: what a script says of its table and of itself is no code" {
    printf '"""Says."""\nHEAD = "a table"\nN = "3"\n' > pipelines/made.py
    printf 'cat <<'"'H'"'\na table\nH\necho 1\n' > pipelines/made.sh
    sed -i 's|lib/\*.c|lib/*.c pipelines/made.*|' pipelines/experiments/bin/tables.tsv
    commit scripts
    tables t
    commit made
    printf '"""Says more."""\nHEAD = "another table"\nN = "3"  # three\n' > pipelines/made.py
    printf 'cat <<'"'H'"'\nanother table\nH\necho 1\n' > pipelines/made.sh
    tables --stale t
    commit texts
    tables --stale t
    sed -i 's/"3"/"4"/' pipelines/made.py
    run tables --stale t
    [ "$status" -eq 1 ]
    [[ ${lines[0]} == *"changed since: pipelines/made.py" ]]
    git checkout -q pipelines/made.py
    sed -i 's/echo 1/echo 2/' pipelines/made.sh
    exits 1 ./pipelines/experiments/bin/tables --stale t
}

@test "tables: code that is not committed makes no rows; nor does a command that fails, a table that is unknown" {
    echo two > lib/a.c
    run tables t
    [ "$status" -eq 2 ]
    [[ $output == *"not committed"*lib/a.c* ]]
    commit two
    exits 2 ./pipelines/experiments/bin/tables u row
    exits 2 ./pipelines/experiments/bin/tables none
    exits 2 ./pipelines/experiments/bin/tables --none
    sed -i 's/printf "a/false; printf "a/' pipelines/experiments/bin/tables.tsv
    sed -i 's/false; \(.*\) > /false \&\& \1 > /' pipelines/experiments/bin/tables.tsv
    exits 1 ./pipelines/experiments/bin/tables u
    [ ! -e pipelines/results/rows.tsv ] || [ "$(grep -c '^u' pipelines/results/rows.tsv)" -eq 0 ]
}

@test "tables: rows made elsewhere are adopted with their commit; rows on standard output replace those below their heading" {
    tables t
    commit made
    first=$(git rev-parse --short=12 HEAD)
    printf '| name | value |\n|---|---|\n| B two | 9 |\n' > "$TMP/other.md"
    tables --adopt t HEAD "$TMP/other.md" 2030-01-02 'a machine'
    run tables --tsv t
    [[ ${lines[1]} == "B two"$'\t'9$'\t'$first$'\t2030-01-02\ta machine\t'* ]]
    tables --stale t
    printf '| name | value |\n|---|---|\n| A more | 1 |\n' > "$TMP/other.md"
    sed -i 's/^B two/A more\tone.yaml\n&/' pipelines/list.tsv
    tables --adopt t HEAD "$TMP/other.md"
    run grep '^| [AB]' ./pipelines/results/t.md
    [ "$output" = $'| A one | 7 |\n| A more | 1 |\n| B two | 9 |' ]
    tables d
    [ "$(grep -c '| r | old |' d.md)" -eq 1 ]
    [ "$(grep -n '| r | new |' d.md | cut -d: -f1)" -eq 9 ]
    [ "$(grep -c '| r | other |' d.md)" -eq 1 ]
    run tables --tsv d
    [[ ${lines[0]} == r$'\t'new$'\t'* && ${lines[1]} == s$'\t'old$'\t-\t-\t-\t-' && ${#lines[@]} -eq 2 ]]
}

# bats test_tags=slow
@test "tables: every table of pipelines/results is in the list, its file has rows, and records are of rows that are there" {
    cd "$ROOT"
    [ -e pipelines/results/rows.tsv ] && git rev-parse -q --verify HEAD > /dev/null || skip "no repository"
    for file in pipelines/experiments/*/*.md pipelines/experiments/*/*.tsv; do
        [[ $file != *.md || ! -e ${file%.md}.tsv ]] || continue        # made of that
        case $file in
        */README.md | */rows.tsv | */same.tsv) ;;
        *) grep -q $'\t'"$file" pipelines/experiments/bin/tables.tsv || { echo "not in pipelines/experiments/bin/tables.tsv: $file"; false; } ;;
        esac
    done
    while IFS=$'\t' read -r name file _; do
        [[ $name != '#'* && $name != set && $name != words ]] || continue
        [ -e "${file%%#*}" ]
        pipelines/experiments/bin/tables --tsv "$name" > "$TMP/rows"
        [ -s "$TMP/rows" ]
        [ "$(wc -l < "$TMP/rows")" -ge "$(grep -c "^$name"$'\t' pipelines/results/rows.tsv)" ] || { echo "records of rows that are gone: $name"; false; }
    done < pipelines/experiments/bin/tables.tsv
}
