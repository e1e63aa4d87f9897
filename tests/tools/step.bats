#!/usr/bin/env bats
# step: advances the state.
load helpers

# two boxes and a floor, 2 x 162 tets: made once
setup_file() {
    two_boxes 3 0.312 > "$BATS_FILE_TMPDIR/pile.yaml"
    "${BIN:-bin}"/mesh-prep "$BATS_FILE_TMPDIR/pile.yaml" -o "$BATS_FILE_TMPDIR/pile.abut"
}
setup() { pile=$BATS_FILE_TMPDIR/pile.abut; cd "$BATS_TEST_TMPDIR"; }

@test "step --help names its options and exits 0" {
    run "$BIN/step" --help all
    [ "$status" -eq 0 ]
    [[ $output == *--report* && $output == *--one-pass* ]]
}

@test "step refuses unknown options and bad numbers with exit 2" {
    run "$BIN/step" --stepz 3 "$pile"; [ "$status" -eq 2 ]; [[ $output == *--steps* ]]
    run "$BIN/step" -n x "$pile" -o o.abut; [ "$status" -eq 2 ]
    run "$BIN/step" --every 0 "$pile" -o o.abut; [ "$status" -eq 2 ]
    run "$BIN/step" --with forces,heat "$pile" -o o.abut; [ "$status" -eq 2 ]; [[ $output == *"'heat'"* ]]
    run "$BIN/step" --with "" "$pile" -o o.abut; [ "$status" -eq 2 ]
}

@test "a large body, ordered beside its first step, gives the same bytes for every -j, whole and halved" {
    cat > large.yaml <<'EOF'
abut: 1
time: {step: 0.01 s}
gravity: [0, -9.81, 0]
materials: {jelly: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.4}}
objects: {box: {generate: {box: {size: [1, 0.8, 1], cells: [20, 14, 20]}}, material: jelly}}
motion: [{select: {object: box, box: [[-0.51, -1, -1], [-0.49, 1, 1]]}, translate: [0, 0, 0]}]
EOF
    "$BIN/mesh-prep" -q large.yaml -o large.abut
    for j in 1 2; do "$BIN/step" -q -j $j -n 2 large.abut -o j$j.abut; done
    cmp j1.abut j2.abut
    "$BIN/step" -q -j 3 -n 1 large.abut | "$BIN/step" -q -j 3 -n 1 -o halves.abut
    cmp j1.abut halves.abut
}

@test "40 steps equal 20 steps twice, byte for byte" {
    "$BIN/step" -n 40 "$pile" -o whole.abut
    "$BIN/step" -n 20 "$pile" | "$BIN/step" -n 20 -o halves.abut
    cmp whole.abut halves.abut
}

@test "a restart from any frame gives the same bytes" {
    "$BIN/step" -n 12 "$pile" -o whole.abut
    for k in 0 3 11; do
        "$BIN/step" --from $k -n $((12 - k)) whole.abut -o again.abut
        cmp whole.abut again.abut
    done
}

@test "where the straight way between two frames would invert a tet, the frame has another, and the judge follows it" {
    cat > turn.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
contact: off
gravity: [0, 0, 0]
materials: {jelly: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.3}}
objects: {box: {generate: {box: {size: [0.3, 0.2, 0.3], cells: [2, 2, 2]}}, material: jelly}}
motion:
  - select: {object: box}
    keyframes:
      - {time: 0.2 s, rotate: {axis: [0, 0, 1], angle: 90 deg}, scale: [1, 1.5, 1]}
      - {time: 0.4 s, rotate: {axis: [0, 0, 1], angle: 180 deg}, scale: [1, 2, 1]}
Y
    "$BIN/mesh-prep" -q turn.yaml -o turn.abut
    "$BIN/step" -q --every 40 -n 40 turn.abut -o turned.abut
    exits 1 "$BIN/ccd-check" --motion straight --no-output turned.abut
    says "of the way: inverted tet: nodes"
    exits 0 "$BIN/ccd-check" --no-output turned.abut
    says "2 configurations, 2 motions"
    exits 0 "$BIN/ccd-check" --motion none --no-output turned.abut
}

@test "-j 1, 2 and 3 give the same bytes, with --factor-threads 1 and without" {
    for j in 1 2 3; do "$BIN/step" -j $j -n 20 "$pile" -o j$j.abut; done
    "$BIN/step" -j 2 --factor-threads 1 -n 20 "$pile" -o b1.abut
    cmp j1.abut j2.abut
    cmp j1.abut j3.abut
    cmp j1.abut b1.abut
}

@test "grains and rods with thickness: the same bytes in halves and for any -j, and the judge finds no violation" {
    cat > thick.yaml <<'Y'
abut: 1
time: {step: 0.005}
contact: {dhat: 1 mm, friction: {mu: 0.3, eps_v: 1e-3 m/s}}
tolerance: 1e-3 m/s
objects:
  sand: {generate: {particles: {size: [15 mm, 15 mm, 15 mm], count: [3, 3, 3], jitter: 0.3 mm}}, translate: [0, 3 cm, 0], particle: {radius: 1 mm}, contact-thickness: 2 mm}
  hair: {generate: {strands: {count: [2, 2], spacing: 6 mm, length: 16 mm, cells: 2, lean: 1 mm}}, translate: [0, 12 mm, 0], rod: {radius: 1 mm}, contact-thickness: 1 mm}
  bowl: {generate: {bowl: {radius: 3 cm, cells: [12, 6]}}, obstacle: true, translate: [0, 3 cm, 0], contact-thickness: 0.5 mm}
Y
    "$BIN/mesh-prep" thick.yaml -o thick.abut
    "$BIN/step" -j 1 -n 30 thick.abut -o whole.abut
    "$BIN/step" -j 2 -n 15 thick.abut | "$BIN/step" -j 3 -n 15 -o halves.abut
    cmp whole.abut halves.abut
    "$BIN/ccd-check" --gap --json v.json --no-output whole.abut
    python3 -c 'import json; v = json.load(open("v.json")); assert v["clean"] and v["configurations"] == 31 and 0 < v["smallest_gap"]["m"] < 1e-3'
}

# bats test_tags=slow
@test "shells in the wind, rods and grains: the same bytes in halves, in stages and for any -j, and every frame is judged" {
    cat > mix.yaml <<'Y'
abut: 1
time: {step: 0.01, scheme: implicit-newmark}
contact: {dhat: 1 mm, friction: {mu: 0.3, eps_v: 1e-3 m/s}}
tolerance: 1e-2 m/s
wind: [1, 0, 0.2]
materials:
  wool: {membrane: cloth, fabric: {warp: 30 kPa, weft: 20 kPa, coupling: 5 kPa, shear: 10 kPa}, strain-limit: {warp: 0.05, weft: 0.05, shear: 0.1}, density: 400}
  silk: {model: stvk, young: 20 kPa, poisson: 0.3, density: 400}
  grit: {density: 1600}
objects:
  under: {generate: {cloth: {size: [0.3, 0.3], cells: [20, 20], layout: rows}}, material: wool, shell: {thickness: 0.4 mm, drag: 2}, contact-thickness: 0.5 mm}
  over: {generate: {cloth: {size: [0.3, 0.3], cells: [18, 18]}}, material: silk, shell: {thickness: 0.3 mm, stretch-limit: 1.06, pressure: 1 Pa}, translate: [0, 2 mm, 0], rotate: {axis: [0, 1, 0], angle: 30 deg}}
  hair: {generate: {net: {count: [6, 6], spacing: 3 cm, cells: 4, offset: 1.5 mm}}, material: silk, rod: {radius: 0.5 mm}, translate: [0, 6 mm, 0], contact-thickness: 1 mm}
  sand: {generate: {particles: {size: [8 cm, 1 cm, 8 cm], count: [14, 2, 14], jitter: 1 mm}}, material: grit, translate: [0, 20 mm, 0], particle: {radius: 1 mm}, contact-thickness: 2 mm, velocity: [0, -1, 0]}
motion: [{select: {object: under, relative-box: [[0, 0, 0], [0, 1, 1]]}, fix: true}, {select: {object: under, relative-box: [[1, 0, 0], [1, 1, 1]]}, fix: true}]
Y
    "$BIN/mesh-prep" mix.yaml -o mix.abut
    for j in 1 2; do "$BIN/step" -j $j -n 2 --with forces,energies mix.abut -o j$j.abut; done
    cmp j1.abut j2.abut
    "$BIN/step" -j 3 -n 1 --with forces,energies mix.abut -o half.abut
    "$BIN/step" -j 3 -n 1 --with forces,energies half.abut -o halves.abut
    cmp j1.abut halves.abut
    "$BIN/step" --one-pass half.abut | "$BIN/friction-lag" -q --max-lags 1 --with forces,energies -o staged.abut
    for f in staged j1; do "$BIN/export" --dump $f.abut | sed -n '/^frame/,$p' > $f.txt; done
    cmp staged.txt j1.txt
    grep -F 'node/air-force' j1.txt
    "$BIN/ccd-check" -q j1.abut | "$BIN/strain-limit" -q --audit -o audited.abut
}

@test "the friction work so far is the same bytes in one run, in two, in stages and for any -j" {
    "$BIN/step" -n 20 --with forces,energies "$pile" -o whole.abut
    "$BIN/step" -n 10 --with forces,energies "$pile" | "$BIN/step" -n 10 --with energies,forces -o halves.abut
    cmp whole.abut halves.abut
    for j in 1 3; do "$BIN/step" -j $j -n 20 --with forces,energies "$pile" -o j.abut; cmp whole.abut j.abut; done
    "$BIN/step" -n 12 --with energies "$pile" | "$BIN/step" --one-pass | "$BIN/friction-lag" -q --max-lags 1 --with energies |
        "$BIN/step" -n 7 --with energies -o staged.abut
    "$BIN/step" -n 20 --with energies "$pile" -o energies.abut
    for f in staged energies; do "$BIN/export" --dump $f.abut | sed -n '/^frame/,$p' > $f.txt; done
    cmp staged.txt energies.txt
    "$BIN/ccd-check" whole.abut > /dev/null
    skip_without_numpy
    "$PYTHON" - "$ROOT/formats/python" <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import abut_stream
frames = [i for i in abut_stream.read("whole.abut") if i.kind == "frame"][1:]
assert len(frames) == 20
total = 0.0
for f in frames:
    assert f["work/friction"] <= 0
    total += float(f["work/friction"])
    assert f["work/friction-total"] == total
assert total < 0
P
}

@test "what --with adds is gone when a step does not ask for it" {
    "$BIN/step" -n 5 --with forces,energies "$pile" | "$BIN/step" -n 5 -o mixed.abut
    "$BIN/step" -n 10 "$pile" -o plain.abut
    for f in mixed plain; do "$BIN/export" --dump $f.abut | sed -n '/^frame 10/,$p' > $f.txt; done
    cmp mixed.txt plain.txt
}

@test "friction passes in a pipeline give the frames of one process" {
    "$BIN/mesh-prep" "$BATS_FILE_TMPDIR/pile.yaml" --set length=bounding-box --set 'tolerance=1e-2 l/s' \
        --set 'contact.friction.eps_v=1e-3 l/s' -o pile.abut
    "$BIN/step" -n 14 pile.abut -o a.abut
    "$BIN/step" --lags 3 -n 2 a.abut -o one.abut
    for _ in 1 2; do
        while "$BIN/step" --one-pass a.abut -o b.abut; ! "$BIN/friction-lag" -q --ask --max-lags 3 b.abut -o a.abut; do
            passes=$((${passes:-0} + 1))
        done
    done
    [ "$passes" -gt 0 ]
    for f in one a; do "$BIN/export" --dump $f.abut | sed -n '/^frame/,$p' > $f.txt; done
    cmp one.txt a.txt
    [ "$(grep -c ^frame a.txt)" -eq 17 ]
}

@test "a friction table, both smoothings and passes until they converge: stages, halves and one process agree" {
    "$BIN/mesh-prep" "$BATS_FILE_TMPDIR/pile.yaml" --set contact.friction.smoothing=c2 --set contact.friction.lags=converged \
        --set contact.barrier.continuity=c1 --set objects.floor.material=jelly \
        --set contact.friction.pairs='[{materials: [jelly, jelly], mu: 0.4}, {between: [low, floor], mu: 0.6}]' -o s.abut
    "$BIN/step" -q -n 22 s.abut --report r.jsonl | "$BIN/ccd-check" -o one.abut
    "$BIN/step" -n 21 s.abut -o a.abut
    passes=1
    while "$BIN/step" --one-pass a.abut -o b.abut; ! "$BIN/friction-lag" -q --ask b.abut -o a.abut; do passes=$((passes + 1)); done
    "$BIN/step" -n 11 s.abut | "$BIN/step" -n 11 -o halves.abut
    for f in one a halves; do "$BIN/export" --dump $f.abut | sed -n '/^model/,$p' > $f.txt; done
    cmp one.txt a.txt
    cmp one.txt halves.txt
    tail -1 r.jsonl | grep -F "\"passes\":$passes,"
    grep -F '"passes":2,' r.jsonl
    ! grep '"lag_residual":null' r.jsonl
}

@test "friction passes that end before they converge are told on stderr; bad numbers of them are exit 2" {
    "$BIN/mesh-prep" "$BATS_FILE_TMPDIR/pile.yaml" --set tolerance='1e-5 l/s' | "$BIN/step" -q -n 16 -o a.abut
    run "$BIN/step" --lags 2 -n 4 a.abut -o o.abut
    [ "$status" -eq 0 ]
    [[ $output == *"friction had not converged in "*" of 4 steps after 2 passes: lag residual up to "* ]]
    run "$BIN/step" --lags converged -n 4 a.abut -o o.abut
    [ "$status" -eq 0 ]
    [[ $output != *"had not converged"* ]]
    for bad in 0 -1 x 1.5 ''; do
        run "$BIN/step" --lags "$bad" a.abut -o o.abut; [ "$status" -eq 2 ]; [[ $output == *"--lags"* ]]
        run "$BIN/friction-lag" --max-lags "$bad" a.abut -o o.abut; [ "$status" -eq 2 ]; [[ $output == *"--max-lags"* ]]
    done
}

@test "contact: off: bodies fall through each other and the floor, every tool says so, and halves are the whole" {
    cp "$BATS_FILE_TMPDIR/pile.yaml" .
    exits 3 "$BIN/mesh-prep" pile.yaml --set contact=of -o bad.abut
    says "contact is 'of'"
    "$BIN/mesh-prep" pile.yaml --set contact=on | "$BIN/step" -n 3 --report on.jsonl -o /dev/null
    exits 0 "$BIN/mesh-prep" pile.yaml --set contact=off -o off.abut
    says "contact is off"
    "$BIN/export" --summary off.abut | grep '^contact off'
    "$BIN/step" -n 30 --report off.jsonl off.abut -o run.abut
    "$BIN/step" -n 15 off.abut | "$BIN/step" -n 15 -o halves.abut
    cmp run.abut halves.abut
    grep -q '"contact":"barrier"' on.jsonl
    [ "$(grep -c '"contact":"off: nothing is guaranteed","contacts":0,.*"half_space_contacts":0,' off.jsonl)" -eq 30 ]
    exits 0 "$BIN/ccd-check" --no-output run.abut
    says "contact is off in this scene"
    # free fall by implicit Euler, through the floor: -g h^2 n (n + 1) / 2
    "$BIN/export" --nodes nodes -f -1 run.abut
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "y_m") c = i; next } $c < low || NR == 2 { low = $c }
             END { exit !(low - 0.005 + 9.81e-4 * 465 < 1e-6 && low - 0.005 + 9.81e-4 * 465 > -1e-6) }' nodes/*.csv
    "$BIN/export" --obj obj -f 0 run.abut
    grep -q '^f ' obj/*.obj
}

@test "the report has one line of JSON per step with phases and limits" {
    "$BIN/step" -n 6 "$pile" -o o.abut --report r.jsonl
    [ "$(wc -l < r.jsonl)" -eq 6 ]
    /usr/bin/env python3 - <<'P'
import json
rows = [json.loads(l) for l in open("r.jsonl")]
assert [r["step"] for r in rows] == [1, 2, 3, 4, 5, 6]
assert all(r["newton_iterations"] == len(r["iterations"]) >= 1 for r in rows)
assert all(r["residual"] <= 1 and r["min_jacobian"] > 0 for r in rows)
assert any(r["min_gap"] and r["min_gap"] > 0 for r in rows)
its = [i for r in rows for i in r["iterations"]]
kinds = {"none", "decrease", "vertex-triangle", "edge-edge", "half-space", "inversion", "length"}
assert all(len(i) == 7 and i[6] in kinds and (i[2] == 1) == (i[6] == "none") for i in its)
assert {i[6] for i in its} > {"none"} and sum(i[5] for i in its) > 0
assert all(r["iterations_left_out"] == 0 for r in rows)
assert all((r["creep_max"] is None) == (r["sticking_contacts"] == 0) for r in rows)
assert all(r["creep_max"] is None or 0 <= r["creep_mean"] <= r["creep_max"] for r in rows)
assert any(r["sticking_contacts"] + r["sliding_contacts"] > 0 for r in rows)
# predict holds parts of other phases; all else is disjoint
assert all(sum(v for k, v in r["seconds"].items() if k not in ("total", "other", "predict")) <= r["seconds"]["total"] + 1e-4 for r in rows)
assert all(0 < r["seconds"]["predict"] <= r["seconds"]["total"] for r in rows)
P
    # whether anything touches or not, with tets or without: the same keys, and REPORT.md has them all
    printf '%s\n' "objects: {net: {generate: {rod: {length: 0.1, cells: 2}}, rod: {radius: 1 mm}}}" > rod.yaml
    "$BIN/mesh-prep" -q rod.yaml | "$BIN/step" -q --report far.jsonl -o o.abut
    "$BIN/step" -q --device twin "$pile" --report twin.jsonl -o o.abut     # a device has keys of its own, after those of all
    /usr/bin/env python3 - "$ROOT/formats/REPORT.md" <<'P'
import json, re, sys
rows = [json.loads(l) for l in open("r.jsonl").readlines() + open("far.jsonl").readlines()]
assert all(list(r) == list(rows[0]) for r in rows)
far, told, twin = rows[-1], open(sys.argv[1]).read(), json.loads(open("twin.jsonl").readline())
table = told.split("\n## ")[0]     # the keys come before the first heading
keys = {k for cell in re.findall(r"^\| (`[^|]*) \|", table, re.M) for k in re.findall(r"`(\w+)`", cell)}
assert set(far) < set(twin) <= keys, (set(far) - set(twin), set(twin) - keys)
assert keys <= set(twin), keys - set(twin)
assert far["min_gap"] is far["min_gap_nodes"] is far["min_jacobian"] is far["max_stretch"] is None
assert far["min_jacobian_tet"] == far["max_stretch_shell"] == -1
P
}

@test "every frame passes ccd-check" {
    "$BIN/step" -n 30 "$pile" | "$BIN/ccd-check" > /dev/null
}

@test "--every leaves out frames, not the way between those that stay" {
    "$BIN/step" -q -n 30 "$pile" -o all.abut
    "$BIN/step" -q -n 30 --every 15 --report r.jsonl "$pile" -o few.abut
    [ "$("$BIN/export" --dump few.abut | grep -c '^frame')" -eq 3 ]
    same_end all.abut few.abut
    grep -q '"waypoints":[1-9]' r.jsonl
    "$BIN/ccd-check" few.abut > /dev/null
    exits 1 "$BIN/ccd-check" --motion straight few.abut > /dev/null
}

# bats test_tags=slow
@test "--every: frames that are left out cost little memory, and the path between those that stay is judged" {
    cat > turn.yaml <<'Y'
abut: 1
time: {step: 0.01 s}
gravity: [0, 0, 0]
materials: {jelly: {model: neo-hookean, density: 1000, young: 1e5, poisson: 0.3}}
objects:
  a: {generate: {box: {size: [0.4, 0.4, 0.4], cells: [14, 14, 14]}}, material: jelly}
  b: {generate: {box: {size: [0.4, 0.4, 0.4], cells: [14, 14, 14]}}, material: jelly, translate: [0, 0.45, 0]}
motion:
  - {select: {object: a}, rotate: {axis: [0, 1, 0], rate: 400 deg/s}}
  - {select: {object: b}, rotate: {axis: [0, 1, 0], rate: -400 deg/s}}
Y
    "$BIN/mesh-prep" -q turn.yaml -o turn.abut
    for n in 1 40; do "$BIN/step" -q --no-sync -j 1 -n 40 --every $n --report $n.jsonl turn.abut -o $n.abut; done
    "$BIN/ccd-check" -q --no-output 40.abut
    "$PYTHON" -c 'import json
peak = {n: max(json.loads(line)["memory_peak"] for line in open(n + ".jsonl")) for n in ("1", "40")}
assert peak["40"] < 1.6 * peak["1"], peak'
    same_end 1.abut 40.abut
}

# bats test_tags=slow
@test "--every: a stuck state is joined to the frame beside it, not to the last one that was written" {
    "$BIN/mesh-prep" -q "$BATS_TEST_DIRNAME/../bench/pile.yaml" | "$BIN/step" -q -n 27 --every 27 -o start.abut
    for most in 14 13 12 11 10 9 8; do      # gives up after a frame that is not reached straight
        ! "$BIN/step" -q -n 60 --every 100 --max-newton $most --dump-stuck stuck.abut start.abut -o o.abut || continue
        ! "$BIN/export" --dump stuck.abut | grep 'step/waypoints' || break
    done
    "$BIN/export" --dump stuck.abut | grep 'step/waypoints'
    "$BIN/step" -q stuck.abut | "$BIN/ccd-check" --no-output
}

@test "not converging is exit 4 with the reason, and leaves no whole file" {
    run "$BIN/step" -n 40 --max-newton 1 "$pile" -o o.abut
    [ "$status" -eq 4 ]
    [[ $output == *"not converged after 1 Newton iteration"* ]]
    [ ! -e o.abut ]
}

@test "a step that is given up names objects and numbers, and the frames before it are whole" {
    run "$BIN/step" -n 40 --max-newton 3 "$pile" -o o.abut --report r.jsonl
    [ "$status" -eq 4 ]
    [[ $output == *"(t = 0."*"not converged after 3 Newton iterations; residual "*" m/s, want "*"; step length "*" contacts the closest is "* ]]
    [[ $output == *"of 'low'"* && $output == *"half-space 'floor' (gap "*"kappa "*"may help"* ]]
    [ ! -e o.abut ]
    # and the report has the gap and the stiffness of the message
    [[ $output =~ "contacts the closest is "[^\(]*"(gap "([^ ]+)" m), kappa "([^ ]+)" kg/m^2" ]]
    tail -n 1 r.jsonl | grep -o '"\(kappa\|min_gap\)":[^,]*' | sort |
        awk -F: -v kappa="${BASH_REMATCH[2]}" -v gap="${BASH_REMATCH[1]}" \
            'function near(a, b) { return b > 0 && (a - b) ^ 2 <= (1e-2 * b) ^ 2 }
             /kappa/ { k = near($2, kappa) } /gap/ { g = near($2, gap) } END { exit !(k && g) }'
    made=$(($(wc -l < r.jsonl) - 1))
    [ "$made" -gt 0 ]
    "$BIN/step" -n "$made" "$pile" -o before.abut
    size=$(stat -c %s o.abut.part)
    cmp -n "$size" o.abut.part before.abut
    [ "$(stat -c %s before.abut)" -le $((size + 60)) ]     # nothing but the end mark is missing
    run "$BIN/ccd-check" --no-output o.abut.part
    [ "$status" -eq 3 ]
}

@test "a barrier with a kink at dhat is not converged on, and step says so; one with a bend is" {
    "$BIN/mesh-prep" "$BATS_FILE_TMPDIR/pile.yaml" --set contact.barrier.continuity=c0 -o c0.abut
    run "$BIN/step" -n 20 --max-newton 300 c0.abut -o o.abut
    [ "$status" -eq 4 ]
    [[ $output == *"not converged after 300 Newton iterations"* ]]
    [ ! -e o.abut ]
    "$BIN/mesh-prep" "$BATS_FILE_TMPDIR/pile.yaml" --set contact.barrier.continuity=c1 | "$BIN/step" -q -n 20 | "$BIN/ccd-check" > /dev/null
}

@test "a cut stream is refused with exit 3, at every cut" {
    size=$(stat -c %s "$pile")
    for cut in 0 7 100 $((size / 2)) $((size - 1)); do
        head -c "$cut" "$pile" > cut.abut
        run "$BIN/step" cut.abut -o o.abut
        [ "$status" -eq 3 ]
        [ ! -e o.abut ]
    done
}

@test "a missing file is exit 3, a full disk exit 5" {
    run "$BIN/step" nowhere.abut -o o.abut; [ "$status" -eq 3 ]; [[ $output == *nowhere.abut* ]]
    run "$BIN/step" "$pile" -o /dev/full; [ "$status" -eq 5 ]
}

@test "a killed stage leaves nothing that a later stage accepts" {
    "$BIN/step" -n 4000 "$pile" -o killed.abut & pid=$!
    sleep 1; kill -9 $pid; wait $pid || true
    [ ! -e killed.abut ]
    [ -s killed.abut.part ]
    run "$BIN/step" killed.abut.part -o next.abut
    [ "$status" -eq 3 ]
    [ ! -e next.abut ]
}

@test "a frame that is not there, and tolerances that are none, are exit 2" {
    "$BIN/step" -q -n 2 "$pile" -o run.abut
    exits 2 "$BIN/step" --from 7 run.abut -o no.abut
    says "--from 7: run.abut has no frame of step 7; the last one before it is 2"
    exits 2 "$BIN/step" --from -1 run.abut -o no.abut
    says "--from -1: want 0 or more"
    exits 2 "$BIN/step" --factor-threads 0 run.abut -o no.abut
    says "--factor-threads 0: want 1 or more"
    exits 2 "$BIN/step" --blas-threads 0 run.abut -o no.abut     # its former name
    says "--blas-threads 0: want 1 or more"
    for bad in 0 -1 nan; do
        exits 2 "$BIN/friction-lag" --tolerance $bad run.abut -o no.abut
        says "--tolerance"
    done
    [ ! -e no.abut ]
}

@test "an intersecting frame is refused by name" {
    "$BIN/mesh-prep" "$BATS_FILE_TMPDIR/pile.yaml" -o a.abut
    run "$BIN/mesh-prep" "$BATS_FILE_TMPDIR/pile.yaml" --set objects.high.translate='[0.1, 0.3, 0.05]' -o b.abut
    [ "$status" -eq 3 ]
    [[ $output == *low* && $output == *high* ]]
}

@test "a stream that intersects at the start is refused by nodes, with exit 3, before any step" {
    skip_without_numpy
    cat > cross.py <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import abut_stream
items = list(abut_stream.read("-"))
high = items[0]["node/object"] == 1
items[-1]["node/x"][high, 1] -= 0.01
with abut_stream.Writer("-") as out:
    out.model(items[0].arrays)
    for f in items[1:]:
        out.frame(f.step, f.time, f.arrays, f.phase)
P
    "$PYTHON" cross.py "$ROOT/formats/python" < "$pile" > cross.abut
    run "$BIN/step" cross.abut -o o.abut
    [ "$status" -eq 3 ]
    [[ $output == *"touches triangle"*"at the start"* ]]
    [ ! -e o.abut ]
}

# distance A B: the largest distance between nodes of their last frames, m, which must be of one step and phase
distance() {
    cat > distance.py <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import abut_stream, numpy
a, b = (list(abut_stream.read(f))[-1] for f in sys.argv[2:4])
assert (a.step, a.time, a.phase) == (b.step, b.time, b.phase)
print(numpy.abs(a["node/x"] - b["node/x"]).max())
P
    "$PYTHON" distance.py "$ROOT/formats/python" "$1" "$2"
}

@test "--dump-stuck leaves nothing without a failure, and an older file as it is" {
    "$BIN/step" -n 2 --dump-stuck stuck.abut "$pile" -o o.abut
    [ ! -e stuck.abut ]
    [ ! -e stuck.abut.part ]
    echo old > stuck.abut
    "$BIN/step" -n 2 --dump-stuck stuck.abut "$pile" -o o.abut
    [ "$(cat stuck.abut)" = old ]
}

@test "--dump-stuck keeps a stream that other programs read and that step goes on from" {
    skip_without_numpy
    run "$BIN/step" -n 40 --max-newton 4 --dump-stuck stuck.abut "$pile" -o o.abut --report r.jsonl
    [ "$status" -eq 4 ]
    [[ $output == *"stuck.abut keeps the stuck state"* ]]
    [ ! -e o.abut ]
    [ ! -e stuck.abut.part ]
    "$BIN/ccd-check" --no-output stuck.abut
    "$BIN/export" --dump stuck.abut > dump.txt
    grep -q 'pending' dump.txt
    for a in why gradient direction residual alpha limit; do grep -q "stuck/$a" dump.txt; done
    grep -q 'not converged after 4 Newton iterations' dump.txt
    exits 3 "$BIN/friction-lag" stuck.abut -o o.abut        # the candidate must not be committed
    says "given up before it converged"
    "$BIN/export" --vtu out stuck.abut
    ls out/*.vtu

    n=$(wc -l < r.jsonl)
    [ "$n" -gt 1 ]
    "$BIN/step" -n "$n" "$pile" -o whole.abut
    "$BIN/step" stuck.abut -o on.abut
    "$BIN/ccd-check" --no-output on.abut
    run distance on.abut whole.abut
    [ "$status" -eq 0 ]
    awk -v d="$output" 'BEGIN { exit !(d >= 0 && d < 1e-4) }'     # a tolerance of 1e-2 l/s, 0.01 s long
    "$BIN/export" --dump --no-data on.abut > on.txt
    [ "$(grep -c 'stuck/' on.txt)" -eq 0 ]
    "$BIN/step" -n 2 on.abut | "$BIN/ccd-check" --no-output
}

@test "a stuck step without contacts goes on to the bytes of the undisturbed run, in many pieces" {
    cat > swing.yaml <<'Y'
time: {step: 0.05 s}
objects: {bar: {generate: {box: {size: [0.5, 0.1, 0.1], cells: [5, 1, 1]}}}}
tolerance: 1e-7 m/s
motion: [{select: {object: bar, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, fix: true}]
Y
    "$BIN/mesh-prep" swing.yaml -o swing.abut
    "$BIN/step" swing.abut -o whole.abut
    exits 4 "$BIN/step" --max-newton 1 --dump-stuck stuck.abut swing.abut -o o.abut
    pieces=1
    until "$BIN/step" --max-newton 1 --dump-stuck stuck.abut stuck.abut -o on.abut; do
        pieces=$((pieces + 1))
        [ "$pieces" -lt 1000 ]
    done
    [ "$pieces" -gt 2 ]
    cmp on.abut whole.abut
}

@test "scripted motion that is blocked is said, kept and taken up again with its multipliers" {
    cat > wall.yaml <<'Y'
time: {step: 0.02 s}
gravity: [0, 0, 0]
objects:
  bar:  {generate: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}}
  wall: {half-space: {point: [0.21, 0, 0], normal: [-1, 0, 0]}}
motion: [{select: {object: bar, relative-box: [[0.99, 0, 0], [1, 1, 1]]}, translate: [1, 0, 0]}]
Y
    "$BIN/mesh-prep" wall.yaml -o wall.abut
    exits 4 "$BIN/step" --dump-stuck stuck.abut wall.abut -o o.abut
    says "scripted motion is blocked"
    says "of 'bar' against half-space 'wall' (gap "
    says "scripted motion 0.5 done, node "
    "$BIN/export" --dump --no-data stuck.abut > dump.txt
    grep -q step/multiplier dump.txt
    "$BIN/ccd-check" --no-output stuck.abut
    exits 4 "$BIN/step" stuck.abut -o o.abut
    says "scripted motion is blocked"
}

@test "a plate that presses a block flat on a floor is said to leave it no room" {
    cat > press.yaml <<'Y'
time: {step: 10 ms}
contact: {dhat: 1 mm, friction: {mu: 0.3}}
materials: {m: {density: 1000, young: 1 MPa, poisson: 0.4}}
objects:
  block: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.051, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
  plate: {generate: {box: {size: [0.3, 0.02, 0.3], cells: [1, 1, 1]}}, obstacle: true, translate: [0, 0.115, 0]}
motion: [{select: {object: plate}, translate: [0, -1, 0]}]
Y
    "$BIN/mesh-prep" -q press.yaml -o press.abut
    exits 4 "$BIN/step" -n 20 press.abut --report press.jsonl -o o.abut
    says "of 'plate'"
    says "let the script stop earlier"     # a gap becomes too small, or the script is blocked: which, rounding decides
    # CCD that crawls along faces at tiny gaps takes ten times as many
    tail -n 1 press.jsonl | grep -o '"newton_iterations":[0-9]*' | awk -F: '{ exit !($2 < 2000) }'
    "$BIN/salvage" -q o.abut.part -o o.abut
    "$BIN/ccd-check" -q --no-output o.abut
}

@test "--dump-stuck names a bad path before it starts, and a full disk after the reason" {
    exits 5 "$BIN/step" --dump-stuck nowhere/stuck.abut "$pile" -o o.abut
    says "nowhere/stuck.abut"
    [ ! -e o.abut ]
    exits 2 "$BIN/step" --dump-stuck o.abut "$pile" -o o.abut
    exits 2 "$BIN/step" --dump-stuck ./none.abut "$pile" -o none.abut
    says "--dump-stuck ./none.abut: is that of --output, too"
    exits 4 "$BIN/step" -n 40 --max-newton 3 --dump-stuck /dev/full "$pile" -o o.abut
    says "not converged after 3 Newton iterations"
    says "the stuck state is not kept: /dev/full"
}
