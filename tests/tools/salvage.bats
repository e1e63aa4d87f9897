#!/usr/bin/env bats
# salvage: the whole frames of a cut stream as a whole stream; and what programs say of a stream that they could not finish.
load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    two_boxes 1 0.32 > small.yaml
    "$BIN/mesh-prep" -q small.yaml -o first.abut
    "$BIN/step" -q -n 60 first.abut -o whole.abut
}
setup() {
    first=$BATS_FILE_TMPDIR/first.abut whole=$BATS_FILE_TMPDIR/whole.abut
    cd "$BATS_TEST_TMPDIR"
    PATH=$BIN:$PATH
}

# goes_on FILE: FILE, gone on from to the end of the whole run, has its bytes
goes_on() {
    step -q --until 0.6 "$1" -o done.abut
    cmp done.abut "$whole"
}

# advice: the command that the last message names, run
advice() {
    local command
    command=$(sed -n 's/.*a stream of them: //p' stderr)
    [[ $command == *salvage* ]] || { cat stderr; return 1; }
    eval "$command" 2>advised
}

@test "salvage --help says what it does, and bad options are refused with exit 2" {
    exits 0 salvage --help
    writes "intact, checksummed frames"
    exits 2 salvage --frames 3 "$whole"
    exits 2 salvage "$whole" "$first"
}

@test "a stream cut anywhere behind its first frame goes on to the bytes of the run that was never cut" {
    local size
    size=$(wc -c <"$whole")
    for n in 5000 $((size / 3)) $((size / 2)) $((size * 9 / 10)) $((size - 60)) $((size - 1)); do
        head -c "$n" "$whole" >cut.part
        exits 0 salvage cut.part -o saved.abut
        says "cut.part ends after $n bytes without an end mark: "
        goes_on saved.abut
    done
    says "61 whole frames, the last one step 60 (0.6 s)"
}

@test "a whole stream passes unchanged, and is said to be whole" {
    exits 0 salvage "$whole" -o same.abut
    says "is whole: 61 whole frames"
    cmp same.abut "$whole"
}

@test "frames before damage are saved, and the damage is said" {
    cp "$whole" bad.abut
    printf '\x5a\xa5' | dd of=bad.abut bs=1 seek=$(($(wc -c <"$whole") * 2 / 3)) conv=notrunc status=none
    exits 3 step -q bad.abut -o o.abut
    exits 0 salvage bad.abut -o saved.abut
    says "byte"
    says "whole frames, the last one step"
    goes_on saved.abut
}

@test "a stream without a whole frame, one that is none, and sections that are not understood are refused" {
    for n in 0 10 1000; do
        head -c $n "$whole" >cut
        exits 3 salvage cut -o none.abut
        [ ! -e none.abut ]
        [ ! -e none.abut.part ]
    done
    says "no frame is whole"
    "$PYTHON" - "$whole" <<'P'
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
at, crc, out = 20, zlib.crc32(data[:16]), data[:20]
while at < len(data):
    tag, version, flags, n = struct.unpack('<4sHHQ', data[at:at + 16])
    body = data[at:at + 16 + n]
    if tag == b'ENDS':
        new = struct.pack('<4sHHQ', b'NEWX', 1, 1, 3) + b'abc'
        crc = zlib.crc32(new, crc)
        out += new + struct.pack('<I', crc)
    crc = zlib.crc32(body, crc)
    out += body + struct.pack('<I', crc)
    at += 20 + n
open('new.abut', 'wb').write(out)
P
    exits 3 salvage new.abut -o none.abut
    says "must be understood"
    [ ! -e none.abut ]
}

@test "a model that is cut before its first frame is left out: the frames before it are gone on from" {
    local size
    tear -q --stretch 1.0001 "$whole" -o torn.abut
    size=$(wc -c <torn.abut)
    head -c $((size - 1000)) torn.abut >cut
    [ "$("$BIN/export" --dump --no-data torn.abut | grep -c '^model')" -eq 2 ]
    exits 0 salvage cut -o saved.abut
    [ "$("$BIN/export" --dump --no-data saved.abut | grep -c '^model')" -eq 1 ]
    step -q -n 1 saved.abut -o next.abut
}

@test "kill -9 at any moment: what is left goes on to the same bytes" {
    RANDOM=7
    for i in 1 2 3 4; do
        step -q --no-sync -n 60 "$first" -o run.abut 2>/dev/null & victim=$!
        for _ in $(seq 200); do [ -s run.abut.part ] && break; sleep 0.005; done
        sleep 0.0$((RANDOM % 30 + 10))
        kill -9 $victim || true
        wait $victim || true
        [ -e run.abut ] || salvage -q run.abut.part -o run.abut
        goes_on run.abut
        rm run.abut*
    done
}

@test "SIGTERM, SIGINT, SIGHUP: the message names the command, which works, for names with blanks too" {
    for signal in TERM INT HUP; do
        env --default-signal=INT,HUP "$BIN/step" -q -n 100000 "$first" -o "my run.abut" 2>stderr & victim=$!
        for _ in $(seq 1000); do [ -s "my run.abut.part" ] && break; sleep 0.01; done
        sleep 0.1
        kill -s $signal $victim
        wait $victim && false || [ $? -eq $((128 + $(kill -l $signal))) ]
        grep "^step: .*(SIG$signal)" stderr
        [ ! -e "my run.abut" ]
        advice
        grep -F "whole frames, the last one step" advised
        step -q -n 1 "my run.abut" -o next.abut
        rm my*
    done
}

@test "a limit of processor time and of the size of files: likewise" {
    (ulimit -S -t 1; "$BIN/step" -q -j 1 -n 1000000 "$first" -o run.abut 2>stderr) && rc=0 || rc=$?
    [ "$rc" -eq 152 ]
    says "(SIGXCPU)"
    advice
    step -q -n 1 run.abut -o next.abut
    (ulimit -f 40; "$BIN/step" -q -n 1000000 "$first" -o full.abut 2>stderr) && rc=0 || rc=$?
    [ "$rc" -eq 5 ]
    says "File too large"
    advice
    goes_on full.abut
}

@test "a step that is given up: the message names the command, and the frames before are gone on from" {
    exits 4 step -q --max-newton 1 -n 60 "$first" -o run.abut
    says "not converged after 1 Newton iteration"
    says "a stream of them: salvage run.abut.part -o run.abut"
    advice
    goes_on run.abut
}

@test "a stage whose feeder dies keeps what it got, and a reader of a cut file names the command" {
    head -c 20000 "$whole" >cut.abut
    exits 3 ccd-check -q cut.abut -o judged.abut
    says "; its whole frames: salvage cut.abut -o WHOLE"
    advice
    "$BIN/export" --dump --no-data judged.abut >text
    exits 3 "$BIN/export" -q --csv table.csv cut.abut
    says "; its whole frames: $BIN/salvage cut.abut -o WHOLE"
    mkdir -p libexec/abut
    cp "$BIN/export" libexec/abut/
    exits 3 libexec/abut/export -q --csv table.csv cut.abut     # as the dispatcher calls it
    says "; its whole frames: abut salvage cut.abut -o WHOLE"
}

@test "what an interrupted run left is neither lost to the next run nor to a pipe that reads it" {
    head -c 20000 "$whole" >run.abut.part
    cp run.abut.part copy
    salvage -q run.abut.part | step -q --until 0.6 -o run.abut
    cmp run.abut "$whole"
    cmp run.abut.part.old copy
    cp copy run.abut.part
    exits 3 step -q -o run.abut </dev/null
    cmp run.abut.part copy
    exits 0 step --until 0.6 "$first" -o run.abut
    says "run.abut.part of a run that was not finished is kept as "
}

@test "a usage error and a stream without frames leave no FILE.part" {
    exits 2 step -q --from 99 "$whole" -o run.abut
    [ ! -e run.abut.part ]
    printf '%s\n' 'abut: 1' 'objects: {cloth: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}}}' >cloth.yaml
    mesh-prep -q cloth.yaml -o cloth.abut
    exits 3 step -q --solver dot cloth.abut -o run.abut
    says "no tetrahedra"
    [ ! -e run.abut.part ]
    head -c 1000 "$whole" >cut
    exits 3 step -q cut -o run.abut
    [ ! -e run.abut.part ]
}

@test "a finished file is waited for before it gets its name, but with --no-sync" {
    skip_without_program strace
    export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0     # which a traced process cannot
    strace -f -o calls -e trace=fsync,rename step -q -n 1 "$first" -o run.abut || skip "no strace here"
    [ "$(grep -oE 'fsync|rename' calls | tr '\n' ' ')" = "fsync rename fsync " ]
    strace -f -o calls -e trace=fsync,rename step -q --no-sync -n 1 "$first" -o run.abut
    [ "$(grep -oE 'fsync|rename' calls | tr '\n' ' ')" = "rename " ]
}
