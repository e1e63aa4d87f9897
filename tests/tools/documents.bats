#!/usr/bin/env bats
# The documents of the tree: lengths, links, no commit hashes, a glossary of names that the code has, and the shell
# commands of README and COOKBOOK.
load helpers

documents() { "$PYTHON" "$ROOT/tests/tools/documents.py" "$1"; }

@test "documents keep their lengths; links, headings and glossary resolve; no commit hashes" {
    documents "$ROOT"
}

@test "a document that is too long, points nowhere, names a commit or a term without code is found" {
    git init -q .
    mkdir -p docs lib/base lib/solve pipelines/results tests
    printf '# A b, c\n\n[x](#a-b-c) [y](docs/GLOSSARY.md#words)\n' > README.md
    printf '# Words\n\n- **energy** (`abut_energy`): what is minimised\n' > docs/GLOSSARY.md
    echo 'double abut_energy(void);    /* README.md */' > lib/a.h
    echo '| row | -5.306335e-16 |' > pipelines/results/a.md
    documents .
    found() { exits 1 documents .; grep -qF "$1" stdout || { cat stdout; return 1; }; [ "$(wc -l < stdout)" -eq 1 ]; }

    cp README.md saved
    echo '[z](#a-b)' >> README.md; found 'README.md:4: no heading #a-b in README.md'; cp saved README.md
    echo '[z](none.md)' >> README.md; found 'README.md:4: no file none.md'; cp saved README.md
    printf 'floor base\nfloor solve step search\n' > tests/layers.txt
    printf '| `lib/base` | x |\n| `lib/solve`: `step search` | x |\n' > CONTRIBUTING.md
    documents .
    printf '| `lib/base` | x |\n| `lib/solve`: `search step` | x |\n' > CONTRIBUTING.md; found 'CONTRIBUTING.md: floor solve'
    printf '| `lib/base` | x |\n' > CONTRIBUTING.md; found 'CONTRIBUTING.md: 1 floors, expected the 2'
    rm CONTRIBUTING.md
    echo 'see `energy/b.h`' >> README.md; found 'README.md:4: no source energy/b.h'; cp saved README.md
    { printf '| a |'; printf ' word%.0s' {1..31}; echo ' |'; } >> README.md; found 'README.md:4: a cell of 31 words'; cp saved README.md
    echo 'since 12ab34c' >> README.md; found 'README.md:4: a commit hash? 12ab34c'; cp saved README.md
    echo '| row | 12ab34c |' >> pipelines/results/a.md; found 'pipelines/results/a.md:2: a commit hash? 12ab34c'
    sed -i '$d' pipelines/results/a.md
    for i in {1..148}; do echo line; done >> README.md; found 'README.md: 151 lines, at most 150'; cp saved README.md
    echo '- **power** (`abut_power`): its rate' >> docs/GLOSSARY.md; found 'docs/GLOSSARY.md:4: no `abut_power` in the code'
    sed -i '$d' docs/GLOSSARY.md
    echo '- **power**: its rate' >> docs/GLOSSARY.md; found 'docs/GLOSSARY.md:4: expected'
    sed -i '$d' docs/GLOSSARY.md
    for i in {1..60}; do echo '- **e** (`abut_energy`): again'; done >> docs/GLOSSARY.md; found '61 terms'
    sed -i '4,$d' docs/GLOSSARY.md
    echo '/* docs/NONE.md */' >> lib/a.h; found 'lib/a.h:2: no file docs/NONE.md'
}

@test "the first scene of the README runs as it is written, and the judge says what is written there" {
    sed -n '/^<!-- first scene/,/^```$/p' "$ROOT/README.md" | sed '/^<!--/d; /^```/d' > first.sh
    [ "$(wc -l < first.sh)" -gt 10 ]
    bin=$BIN bash -euo pipefail first.sh > out 2> err
    grep '^101 frames: steps 0 to 100' out
    grep -c . run.csv | grep -x 102
    [ -s run.html ]
    grep -o 'ccd-check: .*' err > said
    grep -F "    $(cat said)" "$ROOT/README.md"
}

# blocks FILE: its framed blocks of shell commands run in their order in one folder, each ended by the first command that fails;
# $bin and bin/ are the programs.  What the judge says is in err.N
blocks() {
    awk '/^```sh$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > ("block." n) }' "$1"
    ln -s "$BIN" bin
    for ((n = 1; ; n++)); do
        [ -e block.$n ] || break
        bin=$BIN timeout 60 bash -euo pipefail block.$n > out.$n 2> err.$n || { cat block.$n err.$n; return 1; }
        grep -q ccd-check block.$n || continue
        grep -q 'ccd-check: .*: no collision' err.$n || { cat block.$n err.$n; return 1; }
    done
    blocks=$((n - 1))
}

@test "every framed block of shell commands of the README runs as it is written, and the judge finds nothing" {
    blocks "$ROOT/README.md"
    [ "$blocks" -ge 2 ]
    [ -s mine.abut ]
}

@test "every framed block of shell commands of the cookbook runs as it is written, and the judge finds nothing" {
    blocks "$ROOT/docs/COOKBOOK.md"
    [ "$blocks" -ge 7 ]
    [ -s slides.csv ]
    [ -s look.html ]
    # what the texts beside them say
    grep -q 'surface gap' err.3
    grep -q 'chord ' err.3
    grep -q '"contacts":[1-9]' nodal.jsonl
    for s in implicit-euler bdf3; do
        awk -F, 'NR == 1 { while ($++i != "numerical_total_J") ; next } { last = $i } END { print last }' swing-$s.csv
    done > taken
    xargs < taken | awk '{ print; exit !($1 < 0 && $2 < 0 && $1 < 10 * $2) }'
    grep -q '^"memory_peak":[1-9]' out.6
}

@test "a block with a command that fails, or without the verdict it asks for, is found" {
    printf '```sh\nfalse | cat\ntrue\n```\n' > a.md
    ! blocks "$PWD/a.md" > /dev/null || return 1
    rm bin block.*
    printf '```sh\necho ccd-check > /dev/null\n```\n' > b.md
    ! blocks "$PWD/b.md" > /dev/null || return 1
}
