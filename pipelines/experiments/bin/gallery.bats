#!/usr/bin/env bats
# bats file_tags=experiment
# Pictures of published figures: each has its line, scene, numbers and place on the page; how they are made.
load ../../../tests/tools/helpers

gallery() { BIN=$BIN OUT=$TMP/out LIST=$TMP/list.tsv GALLERY=$TMP/gallery "$PYTHON" "$ROOT/pipelines/experiments/bin/gallery" "$@"; }

# A list of one picture of two runs and one curve, in $TMP.
listed() {
    local scene=$ROOT/pipelines/experiments/published/scenes/erleben/wedge-crack.yaml
    {
        printf '# a comment\nsection\tTitle\tText.\n'
        printf 'two\tFig. 1\t%s -- -n 3 ++ %s -- -n 4\t--frames 0,1 --size 64x48\tpublished: U4 wedge crack\tA caption.\n' "$scene" "$scene"
        printf 'step-sizes\tFig. 2\tcurve -\t-\t-\tA curve.\n'
    } > list.tsv
    mkdir -p gallery
}

@test "gallery: every picture has its line, its scene, rows of tables and its place on the page; none has 300 KB" {
    "$PYTHON" "$ROOT/pipelines/experiments/bin/gallery" --check
    [ "$("$PYTHON" "$ROOT/pipelines/experiments/bin/gallery" --list | grep -c 'there$')" -ge 25 ]
}

@test "gallery: what lacks its line, picture, scene, row or page is found" {
    listed
    : > gallery/two.png
    : > gallery/step-sizes.svg
    gallery --page
    gallery --check
    found() { exits 1 gallery --check; grep -qF "$1" stdout || { cat stdout; return 1; }; }
    : > gallery/other.png; found 'other.png: no line in'; rm gallery/other.png
    rm gallery/two.png; found 'two: no '; : > gallery/two.png
    head -c 300000 /dev/zero > gallery/two.png; found 'two.png: 300000 bytes'; : > gallery/two.png
    cp list.tsv saved
    sed -i 's/U4 wedge crack/U4 nothing/' list.tsv; found "no row 'U4 nothing' in pipelines/experiments/published/published.md"; cp saved list.tsv
    sed -i 's/-n 4/-n 5/' list.tsv; found 'README.md: not what the list says'; cp saved list.tsv
    sed -i 's/A caption/Another/' list.tsv; found 'README.md: not what the list says'; cp saved list.tsv
    sed -i 's/wedge-crack.yaml/none.yaml/' list.tsv; found 'two: no '; cp saved list.tsv
    sed -i 's/^step-sizes/no-such/' list.tsv; found 'no-such: no pipelines/experiments/bin/plots/no-such.gp'; cp saved list.tsv
    sed -n 3p saved >> list.tsv; found 'two: two lines'; cp saved list.tsv
    sed -i 's/^| U4 wedge crack .*/| U4 wedge crack | 0 |/' gallery/README.md      # numbers follow their tables
    gallery --check
    printf 'short\tline\n' >> list.tsv
    exits 3 gallery --check
    says 'list.tsv:5: 2 fields, expected 6'
}

@test "gallery: the runs of a picture are drawn below each other, pixel by pixel as picture draws them, and not run twice" {
    [ -x "$BIN/picture" ] || skip "no picture"
    listed
    gallery two
    cat > pixels.py <<'P'
import struct, sys, zlib
def pixels(path):
    d, at, z = open(path, "rb").read(), 8, b""
    while at < len(d):
        n, = struct.unpack(">I", d[at:at + 4])
        kind, body = d[at + 4:at + 8], d[at + 8:at + 8 + n]
        assert zlib.crc32(kind + body) == struct.unpack(">I", d[at + 8 + n:at + 12 + n])[0]
        if kind == b"IHDR": w, h = struct.unpack(">II", body[:8])
        if kind == b"IDAT": z += body
        at += 12 + n
    raw, up, out = zlib.decompress(z), bytes(3 * w), []
    for y in range(h):
        f, line = raw[y * (3 * w + 1)], bytearray(raw[y * (3 * w + 1) + 1:(y + 1) * (3 * w + 1)])
        for i in range(3 * w):
            a, b, c = (line[i - 3], up[i], up[i - 3]) if i >= 3 else (0, up[i], 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[f]) & 255
        out.append(bytes(line)); up = line
    return w, out
w, both = pixels(sys.argv[1])
(w0, upper), (w1, lower) = pixels(sys.argv[2]), pixels(sys.argv[3])
assert w == w0 == w1 and len(both) == len(upper) + 6 + len(lower)
assert both[:len(upper)] == upper and both[len(upper) + 6:] == lower and set(both[len(upper)]) == {255}
P
    "$PYTHON" pixels.py gallery/two.png out/two.0.png out/two.1.png
    cp gallery/two.png first.png
    before=$(stat -c %n%Y%i out/*.abut)
    gallery two
    [ "$(stat -c %n%Y%i out/*.abut)" = "$before" ]
    cmp gallery/two.png first.png
    grep -q '!\[Fig. 1\](two.png)' gallery/README.md
    grep -qF 'step -n 4' gallery/README.md
    grep -q '^| U4 wedge crack | .* | clean |$' gallery/README.md
}

@test "gallery: a run that the judge refuses is no picture, status 4 names it" {
    listed
    cat > through.yaml <<'Y'
time: {step: 0.01 s, end: 1 s}
gravity: [0, 0, 0]
contact: {dhat: 1 mm}
materials: {soft: {model: arap, density: 1000, young: 1e4}}
objects:
  a: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, velocity: [1, 0, 0]}
  b: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0.15, 0.01, 0.02]}
Y
    printf 'through\tFig.\t%s -- --solver pd --contact ignore --iterations 5 -n 10\t--size 64x48\t-\tTwo boxes.\n' "$TMP/through.yaml" > list.tsv
    [ -x "$BIN/picture" ] || skip "no picture"
    exits 4 gallery
    says 'status 1 of'
    says 'not made, or too large: through'
    [ ! -e gallery/through.png ]
}

@test "gallery: curves are drawn by gnuplot, and skipped by name where it is not; pictures without a mesh are skipped" {
    listed
    if command -v gnuplot > /dev/null; then
        gallery step-sizes
        grep -q '<svg' gallery/step-sizes.svg
        cp gallery/step-sizes.svg first.svg
        gallery step-sizes
        cmp gallery/step-sizes.svg first.svg
        rm gallery/step-sizes.svg
    fi
    PATH=$TMP exits 0 gallery step-sizes
    grep -q 'step-sizes: skipped, no gnuplot' stdout
    [ ! -e gallery/step-sizes.svg ]
    sed -i 's#[^\t]*wedge-crack.yaml -- -n 3#none.yaml -- -n 3#' list.tsv
    exits 0 gallery two
    grep -q 'two: skipped, no none.yaml' stdout
    exits 2 gallery nothing
    says "no picture 'nothing'"
    exits 2 gallery --nothing
}
