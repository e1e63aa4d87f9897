#!/usr/bin/env bats
# make install and uninstall: programs, their dispatcher, and what a program of one's own is compiled and linked with.
load helpers

# installed DESTDIR PREFIX: by the make that has built $BIN, whose variables come by MAKEFLAGS
installed() {
    make_alone install DESTDIR="$1" prefix="$2" >log 2>&1 || { cat log; return 1; }
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
    [ "$(ls opt/abut/bin)" = abut ]
    [ "$(ls opt/abut/include)" = abut ]
    [ "$(ls opt/abut/include/abut | xargs)" = "abut.h array.h element_energy.h err.h run.h state_io.h" ]
    version=$(flags --modversion)
    [ "$(ls opt/abut/lib | grep -vx 'python3[.0-9]*' | xargs)" = "libabut.a libabut.so libabut.so.0 libabut.so.$version pkgconfig" ]
    [ "$(ls opt/abut/lib/python3*/dist-packages | xargs)" = "abut abut_stream.py" ]
    [ "$(readlink opt/abut/lib/libabut.so)" = libabut.so.0 ]
    [ "$(readlink opt/abut/lib/libabut.so.0)" = "libabut.so.$version" ]
    for p in mesh-prep step ccd-check export; do [ -x opt/abut/libexec/abut/$p ]; done
    grep -q '^dir=/opt/abut/libexec/abut$' opt/abut/bin/abut
    ! grep -rl '@[A-Za-z]*@' opt/abut/bin opt/abut/lib/pkgconfig || return 1
}

@test "install: the package of Python runs the programs that are installed with it" {
    skip_without_numpy
    sed "s|^dir=.*|dir=$TMP/root/opt/abut/libexec/abut|" "$TMP/root/opt/abut/bin/abut" > abut
    chmod +x abut
    PATH=$PWD:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(ls -d "$TMP"/root/opt/abut/lib/python3*/dist-packages) "$PYTHON" - <<'P'
import os
import abut
assert "/root/opt/abut/lib/python3" in abut.__file__, abut.__file__
assert abut.program("step") == [os.path.abspath("abut"), "step"], abut.program("step")
s = abut.Scene().half_space("floor", point=[0, 0, 0], normal=[0, 1, 0])
s.object("ball", generate={"sphere": {"radius": 0.1, "cells": 2}}, translate=[0, 0.2, 0])
assert [f.step for f in abut.pipe(s).step(2).judge()] == [0, 1, 2]
P
}

@test "install, uninstall: a place with a blank is refused before anything is done" {
    for target in install uninstall; do
        for v in prefix DESTDIR; do
            run make -s -C "$ROOT" $target $v="$BATS_TEST_TMPDIR/My Tools"
            [ "$status" -eq 2 ]
            [[ $output == *"$v has a blank: expected a path without"* ]]
        done
    done
}

# lacks MESSAGE VARIABLE=VALUE ... GOAL: make says so before its first command
lacks() {
    exits 2 env -u MAKEFLAGS -u MAKELEVEL -u SANITIZE -u THREADSAN -u CC -u CXX make -n -C "$ROOT" "${@:2}"
    says "*** $1.  Stop."
    [ "$(grep -c . stderr)" -eq 1 ]
    [ "$(grep -vc '^make: ' stdout)" -eq 0 ]
}

@test "what an optional build lacks is said at once, with the packages to install" {
    mkdir none
    printf '#!/bin/sh\nexit 1\n' >none/clang
    chmod +x none/clang
    export PATH=$PWD/none:$PATH PKG_CONFIG_LIBDIR=$PWD/none PKG_CONFIG_PATH=
    lacks "MPI=1: no PETSc with MPI: sudo apt-get install petsc-dev" MPI=1
    lacks "PETSC=1: no PETSc with MPI: sudo apt-get install petsc-dev" PETSC=1 unit
    lacks "GPU=1: no nvcc 12 or later at none/nvcc: install NVIDIA's CUDA toolkit, or say where it is: NVCC=/path/to/nvcc" GPU=1 NVCC=none/nvcc
    lacks "gpu-compile: no nvcc 12 or later at none/nvcc: install NVIDIA's CUDA toolkit, or say where it is: NVCC=/path/to/nvcc" NVCC=none/nvcc gpu-compile
    lacks "clang does not link programs with OpenMP: sudo apt-get install clang libomp-dev" CC=clang
    lacks "THREADSAN=1: clang does not link programs with OpenMP and -fsanitize=thread -fno-omit-frame-pointer: sudo apt-get install clang libomp-dev libclang-rt-dev" THREADSAN=1
    exits 0 env -u MAKEFLAGS -u MAKELEVEL -u SANITIZE -u THREADSAN -u CC -u CXX make -n -C "$ROOT"
    writes "picture is not built, for want of EGL and OpenGL: sudo apt-get install libegl-dev libgl-dev"
    for goal in clean layers uninstall; do exits 0 env -u MAKEFLAGS -u MAKELEVEL -u SANITIZE -u THREADSAN -u CC -u CXX make -n -C "$ROOT" MPI=1 GPU=1 CC=clang NVCC=none/nvcc $goal; done
}

@test "install: links of the documents lead to files that are installed, but those to the gallery" {
    cd "$TMP/root/opt/abut/share/doc/abut"
    "$PYTHON" "$ROOT/tests/tools/documents.py" . >"$BATS_TEST_TMPDIR/said" || true
    grep ': no file ' "$BATS_TEST_TMPDIR/said" | grep -v ': no file docs/gallery/README.md$' >"$BATS_TEST_TMPDIR/dead" || true
    cat "$BATS_TEST_TMPDIR/dead"
    [ ! -s "$BATS_TEST_TMPDIR/dead" ]
    [ -s pipelines/experiments/published/published.md ]
    [ -s pipelines/examples/pictures/drop.png ]
}

@test "install: headers need each other alone, and compile without a warning, as C11 and as C++14" {
    local cc h
    cc=$(flags --variable=cc)
    cd "$TMP/root/opt/abut/include/abut"
    for h in *.h; do
        cmp "$h" "$ROOT/include/abut/$h"        # a program includes the same ones in the checkout
        sed -n 's/^#include "\(.*\)"/\1/p' "$h" | xargs -r ls >/dev/null
        printf '#include <abut/%s>\ntypedef int alone;\n' "$h" >"$BATS_TEST_TMPDIR/alone.c"
        "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror $(flags --cflags) -fsyntax-only "$BATS_TEST_TMPDIR/alone.c"
        g++ -x c++ -std=c++14 -Wall -Wextra -Wpedantic -Werror $(flags --cflags) -fsyntax-only "$BATS_TEST_TMPDIR/alone.c"
    done
    ! grep -l '_Atomic\|stdatomic\|static inline' *.h || return 1
}

@test "install: the shared library has the names of the headers, and no other" {
    local lib=$TMP/root/opt/abut/lib/libabut.so
    readelf -d "$lib" | grep -F 'SONAME' | grep -F '[libabut.so.0]'
    sed 's|/\*.*\*/||' "$TMP"/root/opt/abut/include/abut/*.h | awk '/\/\*/ { on = 1 } !on { print } /\*\// { on = 0 }' |
        grep -oE '^[A-Za-z][A-Za-z0-9_ ]*[ *]abut_[a-z0-9_]+\(' | grep -oE 'abut_[a-z0-9_]+\(' | tr -d '(' | sort -u >said
    nm -D --defined-only "$lib" | awk '{ print $3 }' | sort >has
    [ "$(wc -l <said)" -gt 30 ]
    if [[ $(flags --libs) == *-fsanitize* ]]; then
        comm -23 said has >missing
        [ ! -s missing ]
        return
    fi
    diff said has
}

# last_positions STREAM: of every node of the last frame
last_positions() {
    "$BIN/export" -q --dump --array node/x "$1" | awk '/^frame/ { x = "" } /^ +-?[0-9]/ { x = x $0 "\n" } END { printf "%s", x }'
}

# bats test_tags=slow
@test "install: a program of forty lines over the installed headers adds an energy of its own, and ccd-check finds nothing" {
    local cc f
    cc=$(flags --variable=cc)
    cp "$ROOT/tests/examples/program/pull.c" .
    [ "$(wc -l <pull.c)" -le 40 ]
    "$cc" -std=c11 -Wall -Wextra -Werror $(flags --cflags) pull.c $(flags --libs) -o pull
    "$cc" -std=c11 $(flags --cflags) -MM pull.c >includes
    ! grep -F "$ROOT/" includes || return 1
    export LD_LIBRARY_PATH=$TMP/root/opt/abut/lib OMP_WAIT_POLICY=passive
    ldd pull | grep -F "libabut.so.0 => $TMP/root/opt/abut/lib/libabut.so.0"
    two_boxes 2 0.33 >boxes.yaml
    "$BIN/mesh-prep" -q boxes.yaml -o start.abut
    "$BIN/step" -q -n 10 start.abut -o plain.abut
    ./pull 200 0.1 0 0.05 45 46 47 <start.abut >pulled.abut
    ./pull 0 0.1 0 0.05 45 46 47 <start.abut >not.abut
    for f in plain pulled not; do
        "$BIN/ccd-check" -q --no-output $f.abut
        "$BIN/export" -q --dump $f.abut | sed -n '/^frame/,$p' >$f.txt
    done
    cmp plain.txt not.txt       # the steps are those of the program step, to the byte
    "$BIN/export" --dump pulled.abut | grep '^prov pull'
    paste <(last_positions plain.abut) <(last_positions pulled.abut) | awk '
        NR > 45 && NR <= 48 {
            for (k = 0; k < 2; k++) far[k] = sqrt(($(1 + 3 * k) - 0.1)^2 + $(2 + 3 * k)^2 + ($(3 + 3 * k) - 0.05)^2)
            print "node " NR - 1 ": " far[0] " m from there, pulled " far[1]
            n += far[1] < far[0] - 1e-3
        }
        END { exit !(n == 3) }'
    ./pull 2000 0.1 0 0.05 45 46 47 <pulled.abut >met.abut    # the boxes have met
    "$BIN/ccd-check" -q --no-output met.abut
    "$BIN/export" -q --csv met.csv met.abut
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { print $at["contacts"] " contacts"; exit !($at["contacts"] > 0) }' met.csv
    exits 3 ./pull 1 0 0 0 54 <start.abut
    says "energy 'pull': element 0 has node 54, expected 0 to 53"
    head -c 1000 start.abut >cut.abut
    exits 3 ./pull 1 0 0 0 5 <cut.abut
    says "standard input"
    exits 2 ./pull 1 0 0
    # as the cookbook has it
    sed -n '/^```sh installed$/,/^```$/p' "$ROOT/docs/COOKBOOK.md" | sed '/^```/d' >block
    grep -q pkg-config block
    sed "s|^dir=.*|dir=$TMP/root/opt/abut/libexec/abut|" "$TMP/root/opt/abut/bin/abut" >abut
    chmod +x abut
    "$BIN/mesh-prep" --new drop >scene.yaml
    rm pull
    (cc() { "$(flags --variable=cc)" "$@"; }
        export PATH=$PWD:$PATH PKG_CONFIG_PATH=$TMP/root/opt/abut/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TMP/root
        set -euo pipefail
        . ./block) 2>said
    grep 'ccd-check: .*: no collision' said
    # and the same linked with libabut.a, as pkg-config --static says where no libabut.so is
    ldd "$TMP/root/opt/abut/lib/libabut.so" >needs
    ! grep -i 'blas\|cholmod' needs || [[ $(flags --static --libs) == *petsc* ]]
    mkdir static
    cp -r "$TMP/root" static
    rm static/root/opt/abut/lib/libabut.so*
    "$cc" -std=c11 $(TMP=$PWD/static flags --cflags) pull.c $(TMP=$PWD/static flags --static --libs) -o linked
    ! ldd linked | grep libabut || return 1
    ./linked 200 0.1 0 0.05 45 46 47 <start.abut | cmp - pulled.abut
}

# by_itself DO: install or uninstall without a DESTDIR, so that the dispatcher finds its programs
by_itself() {
    make_alone "$1" DESTDIR= prefix="$PWD/there" >log 2>&1 || { cat log; return 1; }
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
        writes "usage: abut $p "
        ! grep -E '^    [^ ].*(^ *|\| )(mesh-prep|step|ccd-check) ' stdout || return 1
        exits 2 "$abut" "$p" --none </dev/null
        says "$p: 'abut $p --help' lists the options"
    done
    [ "$(grep -c '^  [a-z]' listed)" -eq "$(ls there/libexec/abut | wc -l)" ]
    exits 2 "$abut"
    says "usage: abut NAME"
    [ ! -s stdout ]
    for p in none ../bin/abut; do
        exits 2 "$abut" $p
        says "no program '$p'; abut --help"
        exits 2 "$abut" help $p
        says "no program '$p'"
    done
    exits 2 "$abut" stpe
    says "no program 'stpe'; did you mean step?"
    exits 2 "$abut" help ccdcheck
    says "did you mean ccd-check?"
    exits 2 "$abut" help step tear
    exits 2 "$abut" --versio
    says "unknown option --versio"
    for p in --help --version help; do
        "$abut" $p >/dev/full 2>stderr && rc=0 || rc=$?
        [ "$rc" -eq 5 ]
        [ "$(<stderr)" = "abut: standard output: a write failed" ]
        "$abut" $p >&- 2>stderr && rc=0 || rc=$?
        [ "$rc" -eq 5 ]
    done
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

# bats test_tags=slow
@test "bash completes programs, their options as --help has them, and files" {
    by_itself install
    . there/share/bash-completion/completions/abut
    complete -p abut
    [ "$(completed st)" = "step strain-limit" ]
    [ "$(completed he)" = help ]
    [ "$(completed help fr)" = friction-lag ]
    [ "$(completed mesh-prep --n)" = "--new --no-sync --no-clobber" ]
    [ "$(completed step --linear)" = --linear-solver ]
    [ "$(completed step --nothing)" = "" ]
    touch scene.yaml
    [ "$(completed mesh-prep sce)" = scene.yaml ]
    # every option that any program takes
    for p in there/libexec/abut/*; do
        p=${p##*/}
        "$BIN/$p" --help all | grep -oE '^  (-.,|   ) --[a-z0-9-]+' | grep -oE -- '--.*' | sort >want
        [ "$(wc -l <want)" -ge 5 ]
        completed $p -- | tr ' ' '\n' | sort >got
        cmp want got
    done
}

# bats test_tags=slow
@test "uninstall takes away all that install has put there, and nothing else" {
    by_itself install
    [ "$(find there -type f | wc -l)" -gt 20 ]
    touch there/bin/other there/libexec/abut/other there/include/abut/other.h
    by_itself uninstall
    [ "$(find there ! -type d | sort | xargs)" = "there/bin/other there/include/abut/other.h there/libexec/abut/other" ]
    rm -r there
    by_itself install
    by_itself uninstall
    [ -z "$(find there ! -type d)" ]
    [ ! -e there/libexec/abut ]
    [ ! -e there/include/abut ]
    by_itself uninstall
}

# deps UID SUDO: .ci/deps as that user, where libgmp-dev is missing; SUDO: what sudo is there
deps() {
    mkdir -p fakes && rm -f fakes/*
    printf '#!/bin/sh\necho %s\n' "$1" >fakes/id
    printf '#!/bin/sh\nfor p; do :; done\n[ $p != libgmp-dev ] || { cat there 2>/dev/null; exit; }\necho installed\n' >fakes/dpkg-query
    printf '#!/bin/sh\necho "apt-get $*" >>asked\ncase $* in *"install -y"*) echo installed >there ;; esac\n' >fakes/apt-get
    printf '#!/bin/sh\n%s\n' "$2" >fakes/sudo
    chmod +x fakes/*
    [ -n "$2" ] || rm fakes/sudo
    for p in bash env cat rm; do ln -s "$(command -v $p)" fakes/$p; done
    rm -f asked there
    PATH=$PWD/fakes exits "$3" "$ROOT/.ci/deps" </dev/null
}

@test "where a package is missing and cannot be installed, make demo says the line to type" {
    local line='    sudo apt-get install --no-install-recommends libgmp-dev'
    deps 1000 '' 5
    says "1 packages are missing, and there is no sudo"
    says "$line"
    [ ! -e asked ]
    deps 1000 'exit 1' 5
    says "and sudo would ask for a password"
    says "$line"
    deps 1000 '[ "$1" != -n ] || exit 0; exec "$@"' 0
    grep -x 'apt-get install -y --no-install-recommends libgmp-dev' asked
    deps 0 '' 0
    grep -x 'apt-get install -y --no-install-recommends libgmp-dev' asked
    rm asked
    PATH=$PWD/fakes exits 0 "$ROOT/.ci/deps"     # nothing is missing now
    [ ! -e asked ]
}

@test "packages: every file that is installed belongs to one of them, and what the build needs is what .ci/deps installs" {
    local deb=$ROOT/packaging/debian f p pattern n
    make_alone install DESTDIR="$PWD/root" prefix=/usr libdir=/usr/lib/any libexecdir=/usr/libexec \
        pythondir=/usr/lib/python3/dist-packages >log 2>&1 || { cat log; return 1; }
    [ "$(ls root)" = usr ]
    while read -r f; do
        n=0
        for p in "$deb"/*.install; do
            while read -r pattern; do
                case $f in $pattern | $pattern/*) n=$((n + 1)) ;; esac
            done <"$p"
        done
        [ "$n" -eq 1 ] || { echo "$n packages have $f"; return 1; }
    done < <(cd root && find . ! -type d | sed 's|^\./||')
    for p in $(sed -n 's/^Package: //p' "$deb/control"); do [ -s "$deb/$p.install" ]; done
    grep -A20 '^Build-Depends' "$deb/control" | sed -n '1,/^[A-Z].*: /p' >needs
    for p in $(sed -n '/^packages=/,/)$/p' "$ROOT/.ci/deps" | grep -oE '[a-z0-9.+-]+-dev'); do grep -qw -- "$p" needs || { echo "$p"; return 1; }; done
}

@test "make core: the core links without devices and pictures, computes the same bytes, and says what it is without" {
    make_alone core >log 2>&1 || { cat log; return 1; }
    local core=${AIDS%/tests}/core
    "$BIN/mesh-prep" --new drop | "$core/mesh-prep" - | tee start.abut | "$core/step" -q -n 2 | "$core/export" --dump - | grep -v '^prov' >got
    "$BIN/step" -q -n 2 start.abut | "$BIN/export" --dump - | grep -v '^prov' >expected
    cmp got expected
    exits 2 "$core/step" --device twin -n 1 start.abut
    says "--device twin: this program is linked without devices; know cpu"
    exits 0 "$core/step" -q --device cpu -n 1 start.abut
}
