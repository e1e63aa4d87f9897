#!/usr/bin/env bats
# make install and uninstall: programs, their dispatcher, and what a program of one's own is compiled and linked with.
load helpers

# installed DESTDIR PREFIX: by the make that has built $BIN, whose variables come by MAKEFLAGS
installed() {
    make -s --no-print-directory -C "$ROOT" install DESTDIR="$1" prefix="$2" >log 2>&1 || { cat log; return 1; }
}

# flags: those of the package, of what is under $TMP/root
flags() {
    PKG_CONFIG_PATH=$TMP/root/opt/abut/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TMP/root pkg-config "$@" abut
}

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    installed "$PWD/root" /opt/abut
}

setup() {
    TMP=$BATS_FILE_TMPDIR
    cd "$BATS_TEST_TMPDIR" || return 1
    skip_without_program pkg-config
}

@test "install: programs, the library, its package, its headers, and nothing else" {
    cd "$TMP/root"
    [ "$(ls)" = opt ]
    [ "$(ls opt)" = abut ]
    [ "$(ls opt/abut | xargs)" = "bin include lib libexec share" ]
    [ "$(find opt/abut/share -type f)" = opt/abut/share/bash-completion/completions/abut ]
    [ "$(ls opt/abut/bin)" = abut ]
    [ "$(ls opt/abut/include)" = abut ]
    [ "$(find opt/abut/lib -type f | sort | xargs)" = "opt/abut/lib/libabut.a opt/abut/lib/pkgconfig/abut.pc" ]
    [ "$(find opt/abut/include -type f ! -name '*.h' | wc -l)" -eq 0 ]
    for p in mesh-prep step ccd-check export; do [ -x opt/abut/libexec/abut/$p ]; done
    grep -q '^dir=/opt/abut/libexec/abut$' opt/abut/bin/abut
    ! grep -rl '@[A-Za-z]*@' opt/abut/bin opt/abut/lib/pkgconfig || return 1
}

@test "install: every header is there with all that it includes, and compiles alone without a warning" {
    local cc h n=0
    cc=$(flags --variable=cc)
    cd "$TMP/root/opt/abut/include/abut"
    for h in $(find . -name '*.h' | sort); do
        case $h in *_forms.h | */forms_*.h) continue ;; esac    # text for several number types, between forms_*.h
        printf '#include "%s"\ntypedef int alone;\n' "${h#./}" >"$BATS_TEST_TMPDIR/alone.c"
        "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror $(flags --cflags) -fsyntax-only "$BATS_TEST_TMPDIR/alone.c" || {
            echo "$h"
            return 1
        }
        n=$((n + 1))
    done
    [ "$n" -gt 40 ]
    for h in sparse/elements energy/term energy/barrier_laws solve/objective solve/point solve/direction solve/stepper formats/stream/state_io; do
        [ -e "$h.h" ]
    done
}

@test "install: a program over the installed headers adds a term of its own, and ccd-check finds nothing" {
    local cc f i
    cc=$(flags --variable=cc)
    cp "$ROOT/tests/examples/program/pull.c" .
    "$cc" -std=c11 -Wall -Wextra -Werror $(flags --cflags) pull.c $(flags --libs) -o pull
    "$cc" -std=c11 $(flags --cflags) -MM pull.c >includes
    ! grep -F "$ROOT/" includes || return 1
    two_boxes 2 0.33 >boxes.yaml
    "$BIN/mesh-prep" -q boxes.yaml -o start.abut
    "$BIN/step" -q -n 1 start.abut -o plain.abut
    ./pull 200 0.1 0 0.05 45 46 47 <start.abut >pulled.abut
    ./pull 0 0.1 0 0.05 45 46 47 <start.abut >not.abut
    for f in plain pulled not; do
        "$BIN/ccd-check" -q --no-output $f.abut
        "$BIN/export" -q --dump $f.abut | sed -n '/^frame/,$p' >$f.txt
        "$BIN/export" -q --nodes $f --frames -1 $f.abut
    done
    cmp plain.txt not.txt
    paste -d, plain/*.csv pulled/*.csv | awk -F, '
        NR == 1 { for (i = NF; i > NF / 2; i--) at[$i] = i - NF / 2; half = NF / 2; next }
        NR - 2 >= 45 && NR - 2 <= 47 {
            for (k = 0; k < 2; k++) {
                x = $(at["x_m"] + k * half); y = $(at["y_m"] + k * half); z = $(at["z_m"] + k * half)
                far[k] = sqrt((x - 0.1)^2 + y^2 + (z - 0.05)^2)
            }
            print "node " NR - 2 ": " far[0] " m from there, pulled " far[1]
            n += far[1] < far[0] - 1e-4
        }
        END { exit !(n == 3) }'
    cp pulled.abut run.abut     # until the boxes meet
    for i in 1 2 3 4 5 6 7 8 9 10; do ./pull 2000 0.1 0 0.05 45 46 47 <run.abut >more.abut && mv more.abut run.abut; done
    "$BIN/ccd-check" -q --no-output run.abut
    "$BIN/export" -q --csv run.csv run.abut
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { print $at["contacts"] " contacts"; exit !($at["contacts"] > 0) }' run.csv
    exits 3 ./pull 1 0 0 0 54 <start.abut
    says "there is no node 54"
    exits 2 ./pull 1 0 0
}

# by_itself DO: install or uninstall without a DESTDIR, so that the dispatcher finds its programs
by_itself() {
    make -s --no-print-directory -C "$ROOT" "$1" DESTDIR= prefix="$PWD/there" >log 2>&1 || { cat log; return 1; }
}

@test "abut runs the programs, lists each with a sentence, knows its version, and refuses what it does not know" {
    local p abut=$PWD/there/bin/abut
    by_itself install
    exits 0 "$abut" --version
    [ "$(<stdout)" = "abut $("$BIN/step" --version | sed -n '1s/.*(abut) \([0-9.]*\).*/\1/p')" ]
    exits 0 "$abut" --help
    cp stdout listed
    exits 0 "$abut" help
    cmp listed stdout
    for p in there/libexec/abut/*; do
        p=${p##*/}
        grep -E "^  $p  *[A-Z][a-z]+s [^.:?]{15,100}$" listed
        exits 0 "$abut" help "$p"
        writes "usage: $p "
    done
    [ "$(grep -c '^  [a-z]' listed)" -eq "$(ls there/libexec/abut | wc -l)" ]
    exits 2 "$abut"
    says "usage: abut NAME"
    [ ! -s stdout ]
    for p in none ../bin/abut; do
        exits 2 "$abut" $p
        says "no program '$p'"
        exits 2 "$abut" help $p
        says "no program '$p'"
    done
    exits 2 "$abut" help step tear
    exits 2 "$abut" --versio
    says "unknown option --versio"
    # its last line, as it is written
    grep '^abut mesh-prep' listed | sed 's/-n 100/-q -n 3/; s/-o run.abut/--no-output/' >last.sh
    PATH=$PWD/there/bin:$PATH bash -euo pipefail last.sh 2>said
    grep -F "4 configurations, 3 motions" said
}

# completed WORD ...: what bash offers for the last of the words after `abut`
completed() {
    COMP_WORDS=("$PWD/there/bin/abut" "$@") COMP_CWORD=$#
    _abut
    echo "${COMPREPLY[*]}"
}

@test "bash completes programs, their options as --help has them, and files" {
    by_itself install
    . there/share/bash-completion/completions/abut
    complete -p abut
    [ "$(completed st)" = "step strain-limit" ]
    [ "$(completed he)" = help ]
    [ "$(completed help fr)" = friction-lag ]
    [ "$(completed mesh-prep --n)" = "--new --no-sync" ]
    [ "$(completed step --linear)" = --linear-solver ]
    [ "$(completed step --nothing)" = "" ]
    touch scene.yaml
    [ "$(completed mesh-prep sce)" = scene.yaml ]
    # every option that any program takes
    for p in there/libexec/abut/*; do
        p=${p##*/}
        "$BIN/$p" --help | grep -oE '^  (-.,|   ) --[a-z0-9-]+' | grep -oE -- '--.*' | sort >want
        [ "$(wc -l <want)" -ge 5 ]
        completed $p -- | tr ' ' '\n' | sort >got
        cmp want got
    done
}

@test "uninstall takes away all that install has put there, and nothing else" {
    by_itself install
    [ "$(find there -type f | wc -l)" -gt 50 ]
    touch there/bin/other there/libexec/abut/other there/include/abut/energy/other.h
    by_itself uninstall
    [ "$(find there -type f | sort | xargs)" = "there/bin/other there/include/abut/energy/other.h there/libexec/abut/other" ]
    rm -r there
    by_itself install
    by_itself uninstall
    [ -z "$(find there -type f)" ]
    [ ! -e there/libexec/abut ]
    [ ! -e there/include/abut ]
    by_itself uninstall
}
