#!/usr/bin/env bats
# export --html: a page that plays a run.  html_check.py decodes it by itself, and looks at it in headless Chromium.
load helpers

setup_file() {
    local bin=${BIN:-$BATS_TEST_DIRNAME/../../bin}
    load helpers
    cd "$BATS_FILE_TMPDIR"
    two_boxes 3 0.32 > two.yaml
    "$bin/mesh-prep" -q two.yaml -o start.abut
    "$bin/step" -q -n 12 --with forces,energies start.abut -o run.abut
    "$bin/export" run.abut --html run.html
}

setup() {
    cd "$BATS_TEST_TMPDIR"
    TMP=$BATS_TEST_TMPDIR
    run=$BATS_FILE_TMPDIR/run.abut page=$BATS_FILE_TMPDIR/run.html
}

check() {
    skip_without_numpy
    "$PYTHON" "$BATS_TEST_DIRNAME/html_check.py" "$@"
}
skip_without_chromium() {
    skip_without_numpy
    command -v "${CHROMIUM:-chromium}" >/dev/null || skip "no chromium"
}

@test "the frames of a page are those of the stream: positions, stress, forces, gaps" {
    check numbers "$page" "$run"
}

@test "a page asks for nothing and says so to the browser" {
    grep -qF "default-src 'none'" "$page"
    exits 1 grep -qE '<(link|img|iframe|object|embed)[ >]|<script[^>]+src=' "$page"
    exits 0 "$BIN/export" "$run" --html again.html
    cmp "$page" again.html
    exits 0 "$BIN/export" -j 1 "$run" --html again.html
    cmp "$page" again.html
}

@test "a browser shows objects where they are, plays, paints fields, clips and hides, without complaint" {
    skip_without_chromium
    check browser "$page" "$run"
    check look "$page" seen.png
    [ "$(head -c 4 seen.png | tail -c 3)" = PNG ]
}

@test "names that look like markup are only names" {
    cat > odd.yaml <<'Y'
objects:
  '</script><script>window.hacked = 1</script>': {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}
  '<img src=x onerror="window.hacked = 1">':     {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [2, 0, 0]}
  'it''s "<!--" <b>\u0026lt;':                   {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [4, 0, 0]}
  '<script>':                                    {half-space: {point: [0, -1, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q odd.yaml -o odd.abut
    exits 0 "$BIN/export" odd.abut --html odd.html
    exits 1 grep -qE '"name":"[^"]*<' odd.html
    skip_without_chromium
    check hostile odd.html '</script><script>window.hacked = 1</script>' '<img src=x onerror="window.hacked = 1">' \
        'it'"'"'s "<!--" <b>\u0026lt;' '<script>'
}

@test "names with newlines and bytes that are no text, and positions that a browser has no numbers for, do not break a page" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$run" bad.abut <<'P'
import sys
import numpy as np
import abut_stream as s
with s.Writer(sys.argv[2]) as w:
    for i in s.read(sys.argv[1]):
        if i.kind == "model":
            i.arrays["object/name"] = s.Array("low\r\x00\x1f\n\udcff\udc80</script\n")
            w.model(i.arrays)
            continue
        if i.step == 12:
            x = i["node/x"].copy()
            x[0, 1], x[5, 0], x[7] = 1e49, -1e49, 1e45
            i.arrays["node/x"] = s.Array(x, "m")
            v = i["node/v"].copy()
            v[3] = 0, 1e49, -1e49
            i.arrays["node/v"] = s.Array(v, "m/s")
        w.frame(i.step, i.time, i.arrays, i.phase)
P
    exits 0 "$BIN/export" bad.abut --html bad.html
    skip_without_chromium
    check lost bad.html 3
}

@test "a page without frames, or of a stream that was cut, is not written" {
    head -c 20000 "$run" > cut.abut
    exits 3 "$BIN/export" cut.abut --html cut.html
    [ ! -e cut.html ]
    [ ! -e cut.html.part ]
    exits 2 "$BIN/export" "$run" --frames 99 --html none.html
    [ ! -e none.html ]
}

@test "--object, --frames and --smooth choose what a page shows; a model may change on the way" {
    exits 0 "$BIN/export" "$run" --object low --frames 0,-1 --html few.html
    [ "$(grep -c 'class="frame"' few.html)" = 2 ]
    grep -q '"name":"low"' few.html
    exits 1 grep -q '"name":"high"' few.html
    skip_without_numpy
    twice "$run" twice.abut
    exits 0 "$BIN/export" twice.abut --html twice.html
    [ "$(grep -c 'class="model"' twice.html)" = 2 ]
    [ "$(grep -c '"model":1' twice.html)" = 13 ]
}

@test "rods, particles and obstacles are there; a full disk and a cut pipe are said" {
    cat > thin.yaml <<'Y'
materials: {hemp: {density: 1000, young: 1e6, poisson: 0.3}}
objects:
  ball: {generate: {sphere: {radius: 0.1, cells: 2}}, material: hemp}
  wire: {generate: {rod: {length: 0.3, cells: 4}}, obstacle: true, translate: [0, 0.12, 0]}
  dots: {generate: {particles: {size: [0.1, 0.1, 0.1], count: [3, 2, 1]}}, obstacle: true, translate: [-0.2, 0, 0]}
Y
    "$BIN/mesh-prep" -q thin.yaml -o thin.abut
    exits 0 "$BIN/export" thin.abut --html thin.html
    grep -q '"name":"wire".*"segments":4,"dots":0' thin.html
    grep -q '"name":"dots".*"segments":0,"dots":6' thin.html
    exits 5 "$BIN/export" thin.abut --html /dev/full
    exits 5 "$BIN/export" thin.abut --html /no/such/folder/a.html
    skip_without_chromium
    "$PYTHON" - "$BATS_TEST_DIRNAME" <<'P'
import os, sys
sys.path.insert(0, sys.argv[1])
from browser import Browser
with Browser() as b:
    page = b.open("file://%s/thin.html#view=30,18,0.5" % os.getcwd())
    page.wait("!!(window.abut && abut.frame)")
    seen = []
    for name in ("", "ball", "wire", "dots"):
        page.evaluate("(abut.state.hidden.clear(), abut.state.hidden.add('%s'), abut.restyle())" % name)
        seen.append(page.screenshot()[:600, :830].astype("i4"))
    change = [(abs(s - seen[0]).max(2) > 20).sum() for s in seen[1:]]
    assert min(change) > 20, change      # each of them is to be seen, and only until it is hidden
    assert not page.trouble, page.trouble
P
}

@test "100 frames of 20000 triangles take less than 15 MB" {
    skip_without_numpy
    cat > ball.yaml <<'Y'
materials: {rubber: {density: 1000, young: 1e5, poisson: 0.4}}
objects:
  ball:  {generate: {sphere: {radius: 0.3, cells: 14}}, translate: [0, 0.6, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
    "$BIN/mesh-prep" -q ball.yaml -o ball.abut
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - <<'P'
import numpy as np
import abut_stream as s
model, frame = s.read("ball.abut")
X = model["node/X"]
with s.Writer("big.abut") as w:
    w.model(model.arrays)
    for k in range(20):     # turning, falling, in waves: nothing that the frame before would tell
        c, n = np.cos(0.2 * k), np.sin(0.2 * k)
        x = (X - X.mean(0)) @ np.array([[c, 0, n], [0, 1, 0], [-n, 0, c]]).T + X.mean(0) + 0.02 * np.sin(12 * X[:, [1, 2, 0]] + k)
        frame.arrays["node/x"] = s.Array(x, "m")
        frame.arrays["node/v"] = s.Array(np.cos(5 * x[:, [2, 0, 1]] + k), "m/s")
        w.frame(k, 0.1 * k, frame.arrays)
P
    exits 0 "$BIN/export" big.abut --html big.html
    exits 0 "$BIN/export" big.abut --html one.html --frames 0
    triangles=$(grep -o '"triangles":[0-9]*' one.html | tr -dc 0-9)
    [ "$triangles" -gt 2000 ]
    each=$(( ($(stat -c %s big.html) - $(stat -c %s one.html)) / 19 ))
    echo "$each bytes a frame of $triangles triangles"
    [ $((100 * each * 20000 / triangles + $(stat -c %s one.html))) -lt 15000000 ]
}
