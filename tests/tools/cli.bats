#!/usr/bin/env bats
# What holds for every program: help, version, bad options, damaged input, full disks, killed stages, closed pipes.
load helpers

# two boxes above a floor, three frames
setup_file() {
    cd "$BATS_FILE_TMPDIR"
    two_boxes 1 0.32 > small.yaml
    "$BIN/mesh-prep" small.yaml -o first.abut
    "$BIN/step" -q -n 2 first.abut -o small.abut
}
setup() {
    small=$BATS_FILE_TMPDIR/small.abut first=$BATS_FILE_TMPDIR/first.abut
    cd "$BATS_TEST_TMPDIR"
}

every="mesh-prep springs tear decompose step friction-lag strain-limit ccd-check salvage adjoint export watch"
[ ! -x "$BIN/picture" ] || every+=" picture"

# one run that succeeds, reading a stream on stdin and writing to stdout
pass_on() {
    case $1 in
    decompose) "$BIN/decompose" -q -k 2 ;;
    springs) "$BIN/springs" -q --stiffness 10 ;;
    tear) "$BIN/tear" -q --stretch 100 ;;
    step) "$BIN/step" -q -n 1 ;;
    strain-limit) "$BIN/strain-limit" -q --audit ;;
    friction-lag | ccd-check | salvage) "$BIN/$1" -q ;;
    export) "$BIN/export" -q --dump ;;
    esac
}

@test "every program shows its options with --help and its version with --version" {
    for t in $every; do
        exits 0 "$BIN/$t" --help
        writes "usage: abut $t"
        writes "Exit codes: 0 done"
        exits 0 "$BIN/$t" --version
        writes "$t (abut) "
    done
}

@test "abut beside the programs runs them, from every folder and through a link, and lists them" {
    local t
    ln -s "$BIN/abut" linked
    for t in $every; do
        exits 0 ./linked $t --version
        writes "$t (abut) "
    done
    exits 0 "$BIN/abut" --help
    for t in $every; do writes "  $t "; done
    exits 2 "$BIN/abut" stpe
    says "no program 'stpe'; did you mean step?"
    exits 2 ./linked step --stps </dev/null
    says "step: 'abut step --help' lists the options"
}

@test "every program refuses an unknown option with exit 2 and proposes the nearest" {
    for t in $every; do
        exits 2 "$BIN/$t" --hepl </dev/null
        says "did you mean --help?"
        [ ! -s stdout ]
    done
}

@test "every program refuses --threads 0, a missing value and a number with letters" {
    for t in $every; do
        exits 2 "$BIN/$t" --threads 0 </dev/null
        exits 2 "$BIN/$t" --threads 2x </dev/null
        exits 2 "$BIN/$t" --threads
    done
}

@test "every program that reads a stream passes on what it does not know and accepts what it wrote" {
    for t in springs tear decompose step friction-lag strain-limit ccd-check salvage; do
        exits 0 pass_on "$t" <"$small"
        cp stdout "$t.abut"
        exits 0 pass_on strain-limit <"$t.abut"
    done
}

@test "every program that reads a stream refuses an empty and a cut one with exit 3" {
    local size
    size=$(wc -c <"$small")
    for t in springs tear decompose step friction-lag strain-limit ccd-check export; do
        exits 3 pass_on "$t" </dev/null
        says "empty"
        for n in 19 1000 $((size / 2)) $((size - 1)); do
            head -c "$n" "$small" >cut
            exits 3 pass_on "$t" <cut
            says "without an end mark"
        done
    done
}

@test "every program that reads a stream refuses a damaged one with exit 3" {
    local size
    size=$(wc -c <"$small")
    for t in springs tear decompose step friction-lag strain-limit ccd-check export; do
        cp "$small" bad
        printf '\x5a\xa5' | dd of=bad bs=1 seek=$((size * 2 / 3)) conv=notrunc status=none
        exits 3 pass_on "$t" <bad
        says "byte"
    done
}

@test "every program fails with exit 5 and says so when the disk is full" {
    [[ -w /dev/full ]] || skip "no /dev/full"
    for t in springs tear decompose step friction-lag strain-limit ccd-check salvage export; do
        pass_on "$t" <"$small" >/dev/full 2>stderr && rc=0 || rc=$?
        [ "$rc" -eq 5 ] || { echo "$t ended with $rc"; false; }
        says "No space left"
    done
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/small.yaml" >/dev/full 2>stderr && rc=0 || rc=$?
    [ "$rc" -eq 5 ]
}

@test "every filter whose reader has gone ends by SIGPIPE and says nothing" {
    mkfifo gate     # opened when the pipe has no reader any more
    for t in springs tear decompose step friction-lag strain-limit ccd-check salvage export; do
        rm -f code
        { read -r <gate; pass_on $t <"$small" 2>stderr || echo $? >code; } | { exec <&-; echo >gate; }
        [ "$(cat code)" -eq 141 ] || { echo "$t ended with $(cat code)"; cat stderr; false; }
        [ ! -s stderr ] || { cat stderr; false; }
    done
    rm -f code
    { "$BIN/step" -n 200 "$first" 2>stderr || echo $? >code; } | { head -c 1000 >/dev/null; sleep 0.3; }    # meanwhile the pipe fills
    [ "$(cat code)" -eq 141 ]
    [ ! -s stderr ] || { cat stderr; false; }
    rm -f code
    { read -r <gate; "$BIN/export" "$small" --csv - 2>stderr || echo $? >code; } | { exec <&-; echo >gate; }
    [ "$(cat code)" -eq 141 ]
    [ ! -s stderr ]
    for t in $every; do         # step --help | head -1
        rm -f code
        { read -r <gate; "$BIN/$t" --help 2>stderr || echo $? >code; } | { exec <&-; echo >gate; }
        [ "$(cat code)" -eq 141 ]
        [ ! -s stderr ]
    done
}

@test "a stage killed in the middle of a pipeline fails the stages after it" {
    mkfifo pipe
    "$BIN/step" -q -n 100000 "$first" >pipe 2>/dev/null &
    local victim=$!
    (sleep 0.5; kill -9 $victim) &
    exits 3 "$BIN/ccd-check" -q pipe
    says "without an end mark"
}

@test "a killed program leaves FILE.part only, and no program accepts it" {
    "$BIN/step" -q -n 100000 "$first" -o long.abut 2>/dev/null &
    local victim=$!
    for _ in $(seq 100); do [ -s long.abut.part ] && break; sleep 0.05; done
    sleep 0.1
    kill -9 $victim
    wait $victim || true
    [ ! -e long.abut ]
    [ -s long.abut.part ]
    for t in springs tear decompose step friction-lag strain-limit ccd-check export; do
        exits 3 pass_on "$t" <long.abut.part
    done
}

@test "the history of a stream names every stage once, without clock, path or thread count" {
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/small.yaml" | "$BIN/step" -q -n 1 -j 1 --factor-threads 1 |
        "$BIN/step" -q -n 1 -j 2 --factor-threads 1 |
        "$BIN/export" -q --dump | grep '^prov' >prov
    [ "$(cut -d' ' -f2 prov | tr '\n' ' ')" = "mesh-prep step " ]
    exits 1 grep -E "$BATS_FILE_TMPDIR|/tmp|$(date +%Y-)" prov
}

# writers: every output through FILE.part, as "FILE COMMAND ..."
writers() {
    cat <<'W'
o step -q -n 1 first.abut -o o
o mesh-prep -q small.yaml -o o
o salvage -q small.abut -o o
o export --dump small.abut -o o
o ccd-check -q --no-output --json o small.abut
o adjoint --dl d.csv --csv o small.abut
o adjoint --dl d.csv --json - --report o small.abut
o export --csv o small.abut
o export --json o small.abut
o.glb export --gltf o.glb small.abut
o export --html o small.abut
dir/solids_0000.vtu export --vtu dir small.abut
dir/scene.pvd export --vtu dir small.abut
dir/frame_0000.msh export --msh dir small.abut
dir/frame_0000.obj export --obj dir small.abut
dir/frame_0000.ply export --ply dir small.abut
dir/nodes_0000.csv export --nodes dir small.abut
W
    [ ! -x "$BIN/picture" ] || cat <<'W'
o.png picture --size 64x64 --strip o.png small.abut
o.gif picture --size 64x64 --film o.gif small.abut
dir/frame_0000.png picture --size 64x64 --png dir small.abut
W
}

# bats test_tags=slow
@test "what waits at FILE.part is not written into: links, fifos and folders are refused, what a killed run left is replaced" {
    cp "$BATS_FILE_TMPDIR"/{small.yaml,first.abut,small.abut} .
    printf 'step,node,dx\n1,0,1\n' > d.csv
    echo precious > victim
    local file command
    while read -r file command; do
        mkdir -p dir
        if [ "$file" = "${file#dir/}" ]; then ln -s victim "$file.part"; else ln -s ../victim "$file.part"; fi
        exits 5 "$BIN"/$command </dev/null
        says "$file.part: is a symbolic link; the output is written there first"
        rm "$file.part"
        mkfifo "$file.part"
        exits 5 timeout 20 "$BIN"/$command </dev/null
        says "$file.part: is a fifo"
        rm "$file.part"
        mkdir "$file.part"
        exits 5 "$BIN"/$command </dev/null
        says "$file.part: is a folder"
        rmdir "$file.part"
        [ ! -e "$file" ]
        # of one file with another name, a hard link: its bytes stay
        ln victim "$file.part"
        exits 0 "$BIN"/$command </dev/null
        [ -s "$file" ]
        [ ! -e "$file.part" ]
        [ "$(stat -c %h victim)" -eq 1 ]
        [ "$(cat victim)" = precious ]
        rm -rf dir "$file"
    done < <(writers)
    # two at a time: the second is refused
    "$BIN/step" -q -n 100000 first.abut -o long.abut &
    local first_run=$!
    for _ in $(seq 500); do [ -s long.abut.part ] && break; sleep 0.02; done
    exits 5 "$BIN/step" -q -n 1 first.abut -o long.abut
    says "long.abut.part: another process is writing it"
    kill $first_run
    wait $first_run || true
}

@test "--help, --version: a full or closed output is exit code 5 with a message, a reader that has gone is silence" {
    local p o rc
    [[ -w /dev/full ]] || skip "no /dev/full"
    for p in "$BIN"/*; do
        [[ $p != */abut ]] || continue      # its own messages: install.bats
        for o in --help --version; do
            "$p" $o >/dev/full 2>stderr && rc=0 || rc=$?
            [ "$rc" -eq 5 ]
            [ "$(<stderr)" = "${p##*/}: output: No space left on device" ]
            "$p" $o >&- 2>stderr && rc=0 || rc=$?
            [ "$rc" -eq 5 ]
            [ "$(<stderr)" = "${p##*/}: output: closed, or not open for writing" ]
            rc=$("$BASH" -c '"$1" '$o' 2>stderr | : ; echo ${PIPESTATUS[0]}' bash "$p")
            [ "$rc" -eq 0 ] || [ "$rc" -eq 141 ]        # the pipe takes a text that fits
            [ ! -s stderr ]
        done
    done
}

@test "what --explain and --dry-run say is lost: exit code 5, and no output" {
    [[ -w /dev/full ]] || skip "no /dev/full"
    "$BIN/mesh-prep" --explain "$BATS_FILE_TMPDIR/small.yaml" -o none.abut 2>/dev/full && rc=0 || rc=$?
    [ "$rc" -eq 5 ]
    [ ! -e none.abut ]
    "$BIN/step" --dry-run "$small" 2>/dev/full && rc=0 || rc=$?
    [ "$rc" -eq 5 ]
    "$BIN/step" --dry-run "$small" 2>&- && rc=0 || rc=$?
    [ "$rc" -eq 5 ]
}

# bats test_tags=slow
@test "--no-clobber refuses outputs that are there, before work; without it a line says what was replaced, and -q leaves it out" {
    cp "$BATS_FILE_TMPDIR"/{small.yaml,first.abut,small.abut} .
    printf 'step,node,dx\n1,0,1\n' > d.csv
    local file command option
    while read -r file command; do
        command=${command/ -q / }
        exits 0 "$BIN"/$command --no-clobber </dev/null
        [ "$(grep -c replaced stderr)" -eq 0 ]
        touch -d '2001-02-03 04:05:06' "$file"
        option=$(grep -o -- "--\?[a-z]* \(${file%%/*}\)\b" <<<"$command")
        [[ $option != -o* ]] || option="--output $file"
        exits 5 "$BIN"/$command --no-clobber </dev/null
        if [ "$file" = "${file#dir/}" ]; then says "${command%% *}: $option: is there ("
        else says "${command%% *}: $option: holds "; fi
        says "; with --no-clobber expected a new"
        [ "$(stat -c %y "$file" | cut -c-16)" = '2001-02-03 04:05' ]
        cp -rp "$file" kept
        [ "$file" = "${file#dir/}" ] || { rm dir/*; cp -p kept "$file"; }      # one file: that it was is said by name
        exits 0 "$BIN"/$command </dev/null
        case $(head -c 4 kept | tail -c 3) in
        ABT) grep -Eq "^[a-z-]+: replaced $file \([1-3] frames?, 2001-02-03 04:05\)$" "$BATS_TEST_TMPDIR/stderr" ;;
        *) says "${command%% *}: replaced $file (2001-02-03 04:05)" ;;
        esac
        exits 0 "$BIN"/$command -q </dev/null
        [ "$(grep -c replaced stderr)" -eq 0 ]
        rm -rf "$file" dir kept
    done < <(writers)
    exits 0 "$BIN/export" --obj dir --csv a small.abut
    touch -d '2001-02-03 04:05:06' a dir/*
    touch -d '2001-02-03 04:07:06' dir/frame_0001.obj
    touch -d '2001-02-03 04:08:06' dir/other
    exits 0 "$BIN/export" --obj dir --csv a small.abut
    says "export: replaced 3 files in dir (2001-02-03 04:07), a (2001-02-03 04:05)"
    # the report of a step that is not taken; nothing is replaced, and nothing is said, where the program fails
    exits 5 "$BIN/step" -n 1 --no-clobber --report a first.abut -o o
    says "--report a: is there ("
    exits 3 "$BIN/step" -n 1 a -o small.abut
    [ "$(grep -c replaced stderr)" -eq 0 ]
    # the reason of a failure is the last line, also where a report was begun anew
    exits 4 "$BIN/step" -n 1 --max-newton 1 --stop published --report a first.abut -o small.abut
    [ "$(find a -newer small.abut)" = a ]
    [ "$(grep -c replaced stderr)" -eq 0 ]
    # devices are no files
    exits 0 "$BIN/step" -q -n 1 --no-clobber first.abut -o /dev/null
    mkdir -p empty
    exits 0 "$BIN/export" -q --no-clobber --obj empty small.abut
}

@test "--no-clobber: a file that appears after the start stays, whatever writes it, and the message says where the output is" {
    cp "$BATS_FILE_TMPDIR"/{small.yaml,first.abut,small.abut} .
    printf 'step,node,dx\n1,0,1\n' > d.csv
    sed 's/0\.105/0.05/' small.yaml > sunk.yaml
    local file command input pid i n=0
    while read -r file command; do
        input=$(grep -o '\(small\|first\|sunk\)\.\(abut\|yaml\)' <<<"$command")
        command=${command/$input/fifo}
        rm -rf fifo dir o*
        [ "$file" = "${file#dir/}" ] || mkdir dir
        mkfifo fifo
        "$BIN"/$command --no-clobber </dev/null >/dev/null 2>stderr & pid=$!
        for ((i = 0; i < 100; i++)); do     # until it waits for its input
            [[ $(cat /proc/$pid/wchan 2>/dev/null) != wait_for_partner ]] || break
            sleep 0.01
        done
        echo theirs > "$file"
        timeout 10 sh -c 'cat "$0" > fifo' "$input" || true     # some programs end before they have read all
        local rc=0; wait $pid || rc=$?
        echo "$command: exit code $rc: $(cat stderr)"
        [ $rc -eq 5 ] || [[ $command == *--dump-stuck* && $rc -eq 4 ]]      # the step is the reason there
        [ "$(cat "$file")" = theirs ]
        grep -E "^${command%% *}: (.*: )?$file: has appeared (during the run|since the start) and stays, as --no-clobber says" stderr
        if grep -q 'the output is' stderr; then [ -s "$file.part" ]; fi
        n=$((n + 1))
    done < <(writers; cat <<'W'
o decompose -k 2 --json o small.abut -o /dev/null
o strain-limit --audit --json o small.abut
o step -n 1 --report o first.abut -o /dev/null
o step -n 1 --max-newton 1 --stop published --dump-stuck o first.abut -o /dev/null
o mesh-prep --report o sunk.yaml
o ccd-check --write-hits o small.abut
W
    )
    [ $n -ge 20 ]
}

@test "an empty name of a file or folder is an error of usage, whatever the program and the option" {
    local t option n=0
    for t in $every; do
        for option in $("$BIN/$t" --help all | sed -n 's/^ .* \(--[a-z-]*\) \(FILE\|FILE\.obj\|DIR\)\( .*\|$\)/\1/p'); do
            exits 2 "$BIN/$t" $option= "$BATS_FILE_TMPDIR/small.abut"
            grep -Eqx "$t: $option '': expected the name of a (file|folder)" "$BATS_TEST_TMPDIR/stderr"
            exits 2 "$BIN/$t" $option '' "$BATS_FILE_TMPDIR/small.abut"
            n=$((n + 1))
        done
        exits 2 "$BIN/$t" ''
        says "$t: argument '': expected "
    done
    [ $n -ge 35 ]
    exits 2 "$BIN/step" -o '' "$BATS_FILE_TMPDIR/small.abut"
    says "--output '': expected the name of a file"
}
