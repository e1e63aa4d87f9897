#!/usr/bin/env bats
# `tetrahedralize`: a surface that is no boundary of a solid is refused by its triangles, and nothing that tetgen does ends without
# a message.
load helpers

# obj PART ...: a mesh of boxes, "x y z SIZE" each, and of lines as they are, to a.obj
obj() {
    "$PYTHON" - "$@" > a.obj <<'P'
import sys
n = 0
for part in sys.argv[1:]:
    if part[0] in "vf":
        print(part)
        continue
    *at, size = map(float, part.split())
    for z in (0, 1):
        for y in (0, 1):
            for x in (0, 1):
                print("v", *(a + size * c for a, c in zip(at, (x, y, z))))
    for quad in ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)):
        print("f", *(n + i + 1 for i in quad))
    n += 8
P
}

# refuses TEXT: with and without keep-surface
refuses() {
    local keep
    for keep in true false; do
        printf 'objects:\n  a: {mesh: a.obj, tetrahedralize: {max-volume: 0.1, keep-surface: %s}}\n' $keep > s.yaml
        exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
        says "mesh-prep: s.yaml:2:6: object 'a': "
        says "$1"
        [ "$(wc -l < stderr)" -eq 1 ]
    done
}

# fills: likewise
fills() {
    local keep
    for keep in true false; do
        printf 'objects:\n  a: {mesh: a.obj, tetrahedralize: {max-volume: 0.1, keep-surface: %s}}\n' $keep > s.yaml
        exits 0 "$BIN/mesh-prep" s.yaml -o s.abut
    done
}

@test "a face that is there twice, a face without area, a fold, two bodies that cross: the triangles are named" {
    obj '0 0 0 1' 'f 1 3 4 2'
    refuses "triangle 12 (points 0, 2, 3) has the corners of triangle 0 (points 0, 2, 3), the first of 2 that do so"
    obj '0 0 0 1' 'v 0.5 0 0' 'f 1 2 9'
    refuses "triangle 12 (points 0, 1, 8) at (0, 0, 0) has no area"
    obj '0 0 0 1' '0.5 0.5 0.5 1'
    refuses "touch or cross: expected a closed surface that neither touches nor crosses itself"
    obj '0 0 0 1' '1 0 0 1'
    refuses "are folded onto each other"
    obj '0 0 0 1' '1 0.25 0.25 0.5'
    refuses "touch or cross"
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv .1 .1 .1\nv 1.1 .1 .1\nv .1 1.1 .1\nv .1 .1 1.1\n' > a.obj
    printf 'f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\nf 5 7 6\nf 5 6 8\nf 6 7 8\nf 5 8 7\n' >> a.obj
    refuses "triangle 4 (points 4, 6, 5) at (0.1, 0.1, 0.1) and triangle 2 (points 1, 2, 3) at (1, 0, 0) touch or cross"
}

@test "an edge of one triangle or of three, a face turned over, all of them, a cavity: said" {
    obj '0 0 0 1'
    sed -i '$d' a.obj
    refuses "alone: expected a closed surface, whose edges have two triangles"
    obj '0 0 0 1' 'v 2 2 2' 'f 7 8 9'
    refuses "the edge of points 6 and 7 at (0, 1, 1) is of 3 triangles"
    obj '0 0 0 1'
    sed -i 's/^f 1 3 4 2/f 2 4 3 1/' a.obj
    refuses "one of the two is turned over"
    obj '0 0 0 1'
    awk '$1 == "f" { print "f", $5, $4, $3, $2; next } { print }' a.obj > b.obj
    mv b.obj a.obj
    refuses "all triangles are clockwise from outside"
    sed -i 's/obj, /obj, flip: true, /' s.yaml
    exits 0 "$BIN/mesh-prep" s.yaml -o s.abut
    obj '0 0 0 1' '0.25 0.25 0.25 0.5'
    refuses "its tets fill 1 m^3: expected a closed surface without cavities"
}

@test "pieces that are apart or have an edge in common, and triangles with points of their own, are filled" {
    obj '0 0 0 1' '3 0 0 1'; fills
    obj '0 0 0 1' '1 1 0 1'; fills
    obj '0 0 0 1'
    awk '$1 == "v" { x[++n] = $0; next } { for (i = 2; i <= 5; i++) print x[$i]; f = f sprintf("f %d %d %d %d\n", k + 1, k + 2, k + 3, k + 4); k += 4 }
         END { printf "%s", f }' a.obj > soup.obj
    mv soup.obj a.obj
    fills
}

@test "a tetrahedron that is flat but for rounding, on which tetgen gives up or crashes, is refused in words" {
    printf 'v 0.5 1.0000000000000004 0.5009999999999999\nv 1 1 0.001\nv 0.5 1.000000000000001 0.001\nv 0.5 1 1.001\n' > a.obj
    printf 'f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n' >> a.obj
    printf 'objects:\n  a: {mesh: a.obj, tetrahedralize: {max-volume: 0.1}}\n' > s.yaml
    exits 3 "$BIN/mesh-prep" s.yaml -o s.abut
    says "mesh-prep: s.yaml:2:6: object 'a': "
}

@test "random bad surfaces end with exit code 0 or 3, and with a message" {
    "$PYTHON" - "$BIN/mesh-prep" <<'P'
import collections, random, subprocess, sys
CUBE = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
QUADS = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6))
BOX = CUBE, [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]
TET = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


def surface(r):
    """One to three pieces on a grid, which overlap and touch, with up to three faults."""
    x, f = [], []
    for _ in range(r.choice((1, 1, 2, 2, 3))):
        at = [r.choice((0, 0.5, 1, 1.5, r.random())) for _ in range(3)]
        points, faces = r.choice((BOX, TET))
        f += [tuple(len(x) + i for i in t) for t in faces]
        x += [tuple(a + c for a, c in zip(at, p)) for p in points]
    for _ in range(r.randrange(4)):
        k, fault = r.randrange(len(f)), r.randrange(8)
        a, b, c = f[k]
        if fault == 0:
            f.append(f[k])                                          # twice
        elif fault == 1:
            f[k] = a, c, b                                          # turned over
        elif fault == 2:
            f[k] = a, b, r.randrange(len(x))                        # another corner
        elif fault == 3:
            f.append(tuple(r.sample(range(len(x)), 3)))             # a wall
        elif fault == 4:
            f.pop(k)                                                # a hole
        elif fault == 5:
            x[r.randrange(len(x))] = x[r.randrange(len(x))]         # two points at one place
        elif fault == 6:                                            # a point on the face or near it, which it divides
            u, v, h = r.random(), r.random() / 2, r.choice((0, 1e-16, -1e-9))
            x.append(tuple(p + u * (q - p) / 2 + v * (s - p) + h for p, q, s in zip(x[a], x[b], x[c])))
            f[k:k + 1] = [(a, b, len(x) - 1), (b, c, len(x) - 1), (c, a, len(x) - 1)]
        else:
            x[a] = tuple((p + q) / 2 for p, q in zip(x[b], x[c]))   # a corner on the side opposite to it
    return x, f


ends = collections.Counter()
for seed in range(120):
    r = random.Random(seed)
    x, f = surface(r)
    with open("f.obj", "w") as o:
        o.writelines("v %r %r %r\n" % p for p in x)
        o.writelines("f %d %d %d\n" % tuple(i + 1 for i in t) for t in f)
    with open("f.yaml", "w") as o:
        o.write("objects: {a: {mesh: f.obj, tetrahedralize: {max-volume: 0.1, keep-surface: %s}}}" % r.choice(("true", "false")))
    done = subprocess.run([sys.argv[1], "f.yaml", "-o", "f.abut"], stderr=subprocess.PIPE, timeout=120)
    assert done.returncode in (0, 3) and done.stderr.startswith(b"mesh-prep: "), (seed, done)
    ends[done.returncode] += 1
assert ends[0] >= 10 and ends[3] >= 60, ends
P
}
