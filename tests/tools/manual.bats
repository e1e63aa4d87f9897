#!/usr/bin/env bats
# Manual pages, completions, documents: as they are installed.
load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    make_alone install DESTDIR= prefix="$PWD/there" >log 2>&1 || { cat log; return 1; }
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    THERE=$BATS_FILE_TMPDIR/there
    MAN=$THERE/share/man
}

programs() { ls "$THERE/libexec/abut"; }

@test "every program has a page, mandoc finds nothing in any, and every page that one names is there" {
    local p x
    for p in $(programs); do [ -s "$MAN/man1/abut-$p.1" ]; done
    [ "$(find "$MAN" -type f | wc -l)" -eq $(($(programs | wc -l) + 2)) ]
    for p in "$MAN"/man*/*; do
        sed -n 's/^\.\(It \)\{0,1\}Xr \(abut[a-z-]*\) \([0-9]\).*/man\3\/\2.\3/p' "$p" | while read -r x; do [ -e "$MAN/$x" ] || exit 1; done
        head -1 "$p" | grep -E '^\.Dd [A-Z][a-z]+ [0-9]+, 20[0-9]+$'
    done
    skip_without_program mandoc
    for p in "$MAN"/man*/*; do
        mandoc -T lint "$p" >all 2>&1 || true
        exits 1 grep -v 'referenced manual not found: Xr \(abut\|diff\)\|outdated mandoc.db' all || { cat stdout; return 1; }
    done
}

# bats test_tags=slow
@test "a page has every option of --help with its whole text, and the exit codes" {
    local p
    skip_without_program mandoc
    plain() { sed 's/.\x08//g' | tr -s ' \n\t-' ' ' | sed "s/[‘’\`']/'/g"; }
    for p in $(programs); do
        mandoc -T utf8 "$MAN/man1/abut-$p.1" | plain | sed 's/‐//g' | tr -d ' ' >page
        { "$THERE/bin/abut" help "$p" all | sed -n '/^usage/,/^Exit/p' | sed '1d; $d; s/^More options://'; [ "$p" != step ] || "$THERE/bin/abut" help step solvers; } |
            sed 's/^  \(-.,\|   \) --[a-z0-9-]*\( [^ ]*\)\{0,1\}//' | plain | tr ' ' '\n' | grep -v '^$' >words
        "$THERE/bin/abut" help "$p" all | grep -oE '^  (-.,|   ) --[a-z0-9-]+' | grep -oE -- '--.*' | tr -d '-' >names
        [ "$(wc -l <names)" -ge 5 ]
        while read -r w; do grep -qF -- "$w" page || { echo "abut-$p.1: $w"; return 1; }; done <words
        while read -r w; do grep -qF -- "$w" page || { echo "abut-$p.1: --$w"; return 1; }; done <names
        grep -q '0done,1theanswerisno,2usage' page
    done
}

# No program reads the pages here.
@test "an example of a page is a command, three spaces and its comment, as --help has them" {
    local page=$MAN/man1/abut-step.1
    grep -Fx 'abut step -n 100 start.abut -o run.abut   # 100 steps' "$page"
    # each line of the summary of each program: the comment is not part of the command, nor lost
    for p in $(programs); do
        "$THERE/bin/abut" help "$p" | sed -n '/^Exit codes/q; s/^    \(abut .*[^ ]\)  *# \(.*\)$/\1   # \2/p' >lines
        while read -r line; do
            grep -qF -- "$line" "$MAN/man1/abut-$p.1" || { echo "abut-$p.1: $line"; return 1; }
            echo "$line" >>seen
        done <lines
    done
    cat seen
    [ "$(wc -l <seen)" -ge 4 ]
}

# bats test_tags=slow
@test "the example of every page runs as it is written" {
    local p n=0
    export PATH=$THERE/bin:$PATH
    for p in "$MAN"/man*/*; do
        [[ $p != *-picture.1 || -x $THERE/libexec/abut/picture ]]
        sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$p" | sed -n '/^\.Bd/,/^\.Ed/p' | sed '/^\.[BE]d/d; s/\\e/\\/g' >run.sh
        grep -q '^ *abut ' run.sh || { echo "${p##*/} has no example"; return 1; }
        mkdir "${p##*/}"
        (cd "${p##*/}" && timeout 120 bash -euo pipefail ../run.sh >out 2>err) || { cat run.sh "${p##*/}/err"; return 1; }
        if grep -q 'ccd-check' run.sh; then grep 'no collision' "${p##*/}/err"; fi
        n=$((n + 1))
    done
    [ "$n" -ge 12 ]
    grep -q '^prov step' abut-stream.5/out
    [ "$(grep -c . abut-export.1/run.csv)" -eq 6 ]
}

@test "every document that a program's help or a page names is installed" {
    local docs=$THERE/share/doc/abut p f n=0
    "$THERE/bin/abut" --help | grep -F "Documents: $docs"
    for p in $(programs); do "$THERE/bin/abut" help "$p"; done | cat - "$MAN"/man*/* | grep -oE '[A-Za-z/]+\.md' | sort -u >named
    while read -r f; do
        [ -s "$docs/$f" ] || { echo "$f"; return 1; }
        n=$((n + 1))
    done <named
    [ "$n" -ge 2 ]
    [ -s "$docs/README.md" ]
    grep "^## $("$THERE/bin/abut" --version | sed 's/abut //'), 20" "$docs/CHANGELOG.md"
    "$BIN/mesh-prep" --new drop | "$BIN/mesh-prep" -q - | "$BIN/export" --dump --no-data - | grep "^prov mesh-prep $("$THERE/bin/abut" --version | sed 's/abut //') "
}

# the options that --help all has
options() { "$THERE/bin/abut" help "$1" all | grep -oE '^  (-.,|   ) --[a-z0-9-]+' | grep -oE -- '--.*' | sort; }

@test "zsh completes programs, options with what they do, and files" {
    skip_without_program zsh
    cat >complete.zsh <<'Z'
# complete.zsh WORD ...: what would be offered for the last of them
_describe() { [[ $1 == -o ]] && shift; print -rl -- "${(@P)2}" }
_files() { print files }
words=("$@") CURRENT=$#
source $COMPLETION
Z
    export COMPLETION=$THERE/share/zsh/site-functions/_abut
    local abut=$THERE/bin/abut p
    zsh -f complete.zsh "$abut" '' | cut -d: -f1 | sort >got
    { programs; printf '%s\n' help --help --version; } | sort | cmp - got
    zsh -f complete.zsh "$abut" '' | grep '^step:Advances the state by implicit time steps'
    zsh -f complete.zsh "$abut" help '' | cut -d: -f1 | sort | cmp - <(programs | sort)
    [ "$(zsh -f complete.zsh "$abut" step run)" = files ]
    zsh -f complete.zsh "$abut" step -- | grep '^--steps:time steps to make'
    zsh -f complete.zsh "$abut" ccd-check -- | grep '^--gap:say the smallest gap'
    for p in $(programs); do cmp <(zsh -f complete.zsh "$abut" "$p" -- | cut -d: -f1 | sort) <(options "$p"); done
}

@test "fish completes programs, options with what they do, and files" {
    skip_without_program fish
    local p
    export PATH=$THERE/bin:$PATH HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
    fished() { fish --no-config -c "source $THERE/share/fish/vendor_completions.d/abut.fish; complete -C '$1'"; }
    fished 'abut ' | cut -f1 | sort >got
    { programs; printf '%s\n' help --help --version; } | sort >want
    comm -23 want got >missing
    [ ! -s missing ]
    fished 'abut st' | grep "^step	Advances the state by implicit time steps"
    [ "$(fished 'abut help fr' | cut -f1)" = friction-lag ]
    fished 'abut step --ste' | grep "^--steps	time steps to make"
    for p in $(programs); do cmp <(fished "abut $p --" | cut -f1 | sort) <(options "$p"); done
    touch scene.yaml
    [ "$(fished 'abut mesh-prep sce' | cut -f1)" = scene.yaml ]
}
