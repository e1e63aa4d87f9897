#!/usr/bin/env bats
# picture: frames drawn off screen.  export_check.py reads the PNG files back.
load helpers

# a box and a ball of two materials above a floor, a board beside them; four steps: made once
setup_file() {
    local bin=${BIN:-$BATS_TEST_DIRNAME/../../bin}
    cd "$BATS_FILE_TMPDIR"
    cat > pile.yaml <<'Y'
contact: {dhat: 1e-3 l, friction: {mu: 0.3}}
materials:
  jelly:  {density: 1000, young: 3e4, poisson: 0.4}
  rubber: {model: fixed-corotated, density: 1200, young: 1e5, poisson: 0.3}
objects:
  low:   {generate: {box: {size: [0.3, 0.2, 0.3], cells: [3, 3, 3]}}, material: jelly, translate: [0, 0.1003, 0]}
  high:  {generate: {sphere: {radius: 0.12, cells: 4}}, material: rubber, translate: [0.05, 0.3207, 0.05], velocity: [0.2, -0.3, 0]}
  board: {generate: {cloth: {size: [0.4, 0.4], cells: [3, 3]}}, obstacle: true, translate: [0.5, 0.05, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$bin/mesh-prep" -q pile.yaml | "$bin/step" -q -n 4 -o run.abut
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    TMP=$BATS_TEST_TMPDIR
    run=$BATS_FILE_TMPDIR/run.abut
}

check() {
    skip_without_numpy
    "$PYTHON" "$BATS_TEST_DIRNAME/export_check.py" "$@"
}
is_built() {
    [ -x "$BIN/picture" ] || skip "picture was not built: no EGL"
}
needs_opengl() {
    is_built
    exits 0 "$BIN/picture" "$run" -f 0 --png probe --size 16x16 || { grep -q OpenGL stderr && skip "no OpenGL"; }
}

@test "no other program is linked with EGL or OpenGL, and make builds them all without" {
    for t in "$BIN"/*; do
        [[ $t == */picture || ! -f $t ]] && continue
        exits 1 grep -aqE 'lib(EGL|GL|GLX|OpenGL)[.]so' "$t"
    done
    make -C "$ROOT" -n -B GL= all > commands
    grep -q "tools/export.c" commands
    exits 1 grep -E 'draw_gl|tools/picture|-lEGL' commands
}

@test "picture --help names its options and exits 0; options that fit nothing are refused" {
    is_built
    exits 0 "$BIN/picture" --help
    writes --png; writes --camera; writes "Exit codes: 0 done"
    exits 2 "$BIN/picture" "$run"; says "expected --png DIR, --strip FILE, --film FILE"
    exits 2 "$BIN/picture" "$run" --png a --panels 3; says "--panels belongs to --strip"
    exits 2 "$BIN/picture" "$run" --png a --size 9; says "--size: '9': expected WxH"
    exits 2 "$BIN/picture" "$run" --png a --camera 1,100; says "--camera: '1,100': yaw must be finite and pitch"
    exits 2 "$BIN/picture" "$run" --png a --camera 1,2,0; says "zoom must be between 0.01 and 1000"
    exits 2 "$BIN/picture" "$run" --png a --range 3:2; says "--range: '3:2': expected LOW:HIGH"
    exits 2 "$BIN/picture" "$run" --film a.avi; says "--film: 'a.avi': expected a name that ends in .gif"
    exits 2 "$BIN/picture" "$run" --png a --frames x; says "--frames: 'x': "
    [ ! -e a ]
    for n in 0 -1 65; do
        exits 2 "$BIN/picture" "$run" --strip s.png --panels $n
        says "--panels $n: want 1 to 64"
    done
}

@test "picture refuses empty, cut and damaged streams with 3, and leaves nothing that looks whole" {
    needs_opengl
    exits 3 "$BIN/picture" --strip s.png </dev/null; says "empty"
    head -c 9000 "$run" > cut.abut
    exits 3 "$BIN/picture" cut.abut --strip s.png; says "without an end mark"
    cp "$run" bad.abut
    printf '\x5a\xa5' | dd of=bad.abut bs=1 seek=9000 conv=notrunc status=none
    exits 3 "$BIN/picture" bad.abut --strip s.png; says "byte"
    [ ! -e s.png ]
    [ ! -e s.png.part ]
    exits 5 "$BIN/picture" "$run" --strip no/s.png; says "no/s.png"
    exits 2 "$BIN/picture" "$run" -f 9 --strip s.png; says "frame 9"
}

@test "pictures show something, in the size asked for" {
    needs_opengl
    exits 0 "$BIN/picture" "$run" -f 0,4 --png out --size 320x240
    check png out/frame_0000.png 320 240
    check png out/frame_0004.png 320 240
    exits 1 cmp -s out/frame_0000.png out/frame_0004.png
}

@test "a strip has its panels side by side, coloured by a field" {
    needs_opengl
    exits 0 "$BIN/picture" "$run" --strip s.png --panels 3 --size 160x120 --color speed --wireframe
    check png s.png 492 120
}

# bats test_tags=slow
@test "a strip beside pictures of another size is the strip alone" {
    needs_opengl
    exits 0 "$BIN/picture" "$run" -f 0,-1 --strip alone.png
    exits 0 "$BIN/picture" "$run" -f 0,-1 --strip beside.png --png png      # 360x360 each, and 960x720
    [ "$(ls png)" = $'frame_0000.png\nframe_0004.png' ]
    cmp alone.png beside.png
    check png alone.png 726 360
    check png png/frame_0004.png 960 720
}

@test "pictures of a model that changes on the way are refused" {
    needs_opengl
    skip_without_numpy
    twice "$run" two.abut
    exits 3 "$BIN/picture" two.abut --png no --size 64x48
    says "pictures: the model changes at frame 5; choose frames of one model with --frames"
    exits 0 "$BIN/picture" two.abut --png yes --size 64x48 --frames 3:5
}

# scales LABELLED PLAIN PANELS: for each panel, 1 if its lower left corner has what the picture without labels has not
scales() {
    "$PYTHON" - "$@" <<'P'
import struct, sys, zlib
def read(path):
    data, at, packed = open(path, "rb").read(), 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR": w, h, bits, color = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT": packed += data[at + 8:at + 8 + n]
        at += 12 + n
    assert bits == 8 and color in (2, 6), (bits, color)
    k, raw, rows = {2: 3, 6: 4}[color], zlib.decompress(packed), []
    last = bytes(w * k)
    for y in range(h):
        how, row = raw[y * (w * k + 1)], bytearray(raw[y * (w * k + 1) + 1:(y + 1) * (w * k + 1)])
        for i in range(w * k):
            a, b, c = row[i - k] if i >= k else 0, last[i], last[i - k] if i >= k else 0
            p = a + b - c
            near = min((a, b, c), key=lambda q: abs(p - q))
            row[i] = (row[i] + (0, a, b, (a + b) // 2, near)[how]) & 255
        last = bytes(row)
        rows.append([last[i:i + k] for i in range(0, w * k, k)])
    return rows
one, two, panels = read(sys.argv[1]), read(sys.argv[2]), int(sys.argv[3])
h, gap = len(one), 6 if panels > 1 else 0
w = (len(one[0]) - gap * (panels - 1)) // panels
found = []
for p in range(panels):
    x = p * (w + gap)
    found.append(int(any(one[y][x + i] != two[y][x + i] for y in range(h - 30, h) for i in range(w // 3 + 7))))
print(*found)
P
}

# bats test_tags=slow
@test "a colour scale is in pictures of a field alone, and in the last panel of a strip" {
    needs_opengl
    for options in "" "--color speed"; do
        exits 0 "$BIN/picture" "$run" -f -1 --png labelled --size 160x120 $options
        exits 0 "$BIN/picture" "$run" -f -1 --png plain --size 160x120 $options --no-label
        found=$(scales labelled/frame_0004.png plain/frame_0004.png 1)
        exits 0 "$BIN/picture" "$run" --strip labelled.png --panels 3 --size 160x120 $options
        exits 0 "$BIN/picture" "$run" --strip plain.png --panels 3 --size 160x120 $options --no-label
        in_strip=$(scales labelled.png plain.png 3)
        echo "'$options': $found; $in_strip"
        [ "$found; $in_strip" = "${options:+1; 0 0 1}" ] || [ "$options$found; $in_strip" = "0; 0 0 0" ]
        rm -r labelled plain
    done
}

@test "pictures: colours of the stretch of shells" {
    needs_opengl
    printf '%s\n' 'contact: {dhat: 1 mm}' 'objects:' \
        '  a: {generate: {cloth: {size: [1, 1], cells: [4, 4]}}, shell: {thickness: 1 mm}}' \
        '  b: {generate: {particles: {size: [0, 0, 0], count: [1, 1, 1]}}, particle: {radius: 5 cm}, translate: [0, 0.3, 0]}' > thin.yaml
    "$BIN/mesh-prep" -q thin.yaml -o thin.abut
    exits 0 "$BIN/picture" thin.abut --png p --color stretch --size 320x240
    check png p/frame_0000.png 320 240
    exits 2 "$BIN/picture" thin.abut --png p --color strain
    says "--color: field 'strain': this model has none of that name: expected displacement, speed, stretch, contact-force, gap"
    exits 2 "$BIN/picture" thin.abut --png p --color stress     # of tets
    says "field 'stress': this model has none of that name"
    exits 2 "$BIN/picture" "$run" --png a --color blue
    says "field 'blue': this model has none of that name: expected displacement, speed, stress, J, contact-force, gap"
}

# bats test_tags=slow
@test "pictures take the fields that pages have: help and document name them, each has a scale of its own" {
    needs_opengl
    sed -n '/^| field | unit/,/^| any other/p' "$ROOT/formats/EXPORT.md" | cut -d'|' -f2 | grep -o '`[^`]*`' | tr -d '`' >named
    [ "$(xargs <named)" = "displacement speed stress J stretch contact-force gap" ]
    "$BIN/picture" --help | tr -s ' \n' ' ' | grep -q "by object (default), $(paste -sd, named | sed 's/,/, /g'), or an array"
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$run" with.abut <<'P'
import sys, numpy, abut_stream
stream = abut_stream.read(sys.argv[1])
items = list(stream)
with abut_stream.Writer(sys.argv[2]) as out:
    for p in stream.prov:
        out.prov(*p)
    for i in items:
        if i.kind == "model":
            out.model(i.arrays)
        else:
            i.arrays["mine/heat"] = numpy.arange(len(i["node/x"]), dtype="f8")
            out.frame(i.step, i.time, i.arrays, i.phase)
P
    "$BIN/export" -q --html page.html with.abut
    grep -o '"fields":\[[^]]*\]' page.html | head -1 | grep -o '"name":"[^"]*"' | sed 's/.*:"\(.*\)"/\1/' >page
    [ "$(xargs <page)" = "displacement speed stress J contact-force gap mine/heat" ]
    for field in displacement contact-force gap mine/heat; do
        exits 0 "$BIN/picture" -q with.abut -f -1 --png "p-${field//\//-}" --color "$field" --size 200x150
        check png "p-${field//\//-}/frame_0004.png" 200 150
    done
    [ "$(md5sum $(find p-* -name '*.png') | cut -c1-32 | sort -u | wc -l)" -eq 4 ]
}

@test "a film has every picture, as GIF without any other program, as MP4 by ffmpeg" {
    is_built
    exits 2 "$BIN/picture" "$run" --film run.avi; says "ends in .gif, .mp4"
    exits 2 "$BIN/picture" "$run" --png a --fps 20; says "--fps belongs to --film"
    exits 2 "$BIN/picture" "$run" --film a.gif --fps 1000; says "--fps 1000"
    exits 2 "$BIN/picture" "$run" --film a.gif --fps 0; says "--fps 0: want 0.1 to 240"
    exits 2 "$BIN/picture" "$run" --png a --fps=0; says "--fps belongs to --film"
    exits 5 env PATH=/nonexistent "$BIN/picture" "$run" --film run.mp4
    says "Debian package ffmpeg"
    [ ! -e run.mp4 ]
    needs_opengl
    exits 0 env PATH=/nonexistent "$BIN/picture" "$run" --film run.gif --png png --size 121x90 --fps 20
    check film run.gif png 5
    skip_without_program ffmpeg
    exits 0 "$BIN/picture" "$run" --film run.mp4 --size 121x90
    [ "$(ffprobe -loglevel error -count_frames -show_entries stream=nb_read_frames,width,height -of csv=p=0 run.mp4)" = 122,90,5 ]
    # what ffmpeg cannot write leaves no file
    printf '#!/bin/sh\nexec head -c 5000 > /dev/null\n' > ffmpeg
    chmod +x ffmpeg
    exits 5 env PATH="$PWD:$PATH" "$BIN/picture" "$run" --film bad.mp4 --size 640x480
    says "ffmpeg has ended before the film"
    [ ! -e bad.mp4 ]
    [ ! -e bad.mp4.part ]
}
