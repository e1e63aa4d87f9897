#!/usr/bin/env bats
# adjoint: derivatives of a run, against runs that are made with other numbers; what it refuses, by name.
load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    slide >slide.yaml
    "$BIN/mesh-prep" -q slide.yaml | "$BIN/step" -q -n 12 -o run.abut
    "$BIN/ccd-check" -q run.abut -o judged.abut
    printf '%s\n' '# where it shall be' step,object,x,y,z,weight 12,block,0.3,,0.1,2 6,0,0.1,,,1 >target.csv
}
setup() {
    run=$BATS_FILE_TMPDIR/run.abut target=$BATS_FILE_TMPDIR/target.csv
    cd "$BATS_TEST_TMPDIR"
}

# slide [MORE]: a block that slides on a floor, with one stiffness of the barrier
slide() {
    cat <<Y
abut: 1
time: {step: 0.01 s}
contact: {dhat: 2 mm, kappa-range: 1, friction: {mu: 0.4, eps_v: 0.005 m/s, lags: 1}}
tolerance: 1e-9 m/s
materials: {soft: {model: stable-neo-hookean, density: ${RHO:-1000}, young: ${E:-2e5}, poisson: 0.3}}
objects:
  block: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [2, 1, 2]}}, material: soft, translate: [0, 0.0515, 0],
          velocity: [${V:-1}, 0, 0.2]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: ${MU:-0.3}}
$1
Y
}

# column NAME ROW: the derivative of a table
of() { awk -F, -v a="$1" -v r="$2" '$1 == a && $2 == r { print $6; exit }' table.csv; }
# loss of the run with other numbers in the environment
loss() { slide | "$BIN/mesh-prep" -q - | "$BIN/step" -q -n 12 | "$BIN/adjoint" -q --target "$target" --csv - - | awk -F, '$1 == "loss" { printf "%.17g", $5 }'; }
# near A B: to 1e-5
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; s = a < 0 ? -a : a; exit !(a ~ /[0-9]/ && b ~ /[0-9]/ && d <= 1e-5 * s) }'; }
# slope A B H
slope() { awk -v a="$1" -v b="$2" -v h="$3" 'BEGIN { printf "%.17g", (a - b) / (2 * h) }'; }

@test "derivatives by Young's modulus, friction and velocity are those of runs that are made with others" {
    "$BIN/adjoint" -q --target "$target" --csv table.csv --by 'material/*' --by contact/mu --by node/v "$run"
    near "$(of material/young 0)" "$(slope "$(E=200002 loss)" "$(E=199998 loss)" 2)"
    near "$(of contact/mu 1)" "$(slope "$(MU=0.30001 loss)" "$(MU=0.29999 loss)" 1e-5)"
    v=$(awk -F, '$1 == "node/v" && $3 == 0 { s += $6 } END { printf "%.17g", s }' table.csv)
    near "$v" "$(slope "$(V=1.00001 loss)" "$(V=0.99999 loss)" 1e-5)"
}

@test "a run from a pipe has the derivatives that it has from a file; one table goes to standard output" {
    "$BIN/adjoint" -q --target "$target" --csv table.csv --by contact/mu "$run"
    cat "$run" | "$BIN/adjoint" -q --target "$target" --csv piped.csv --by contact/mu -
    cmp table.csv piped.csv
    exits 2 "$BIN/adjoint" --target "$target" --csv - --json - "$run"
    says "only one of --csv - and --json - can go to standard output"
}

@test "a target without a coordinate, and an object that is not there, are refused at their line" {
    printf '%s\n' step,node 3,0 >bad.csv
    exits 3 "$BIN/adjoint" --target bad.csv "$run"
    says "no column x, y or z"
    for object in nobody 1 -1; do
        printf '%s\n' step,object,x 3,$object,0 >bad.csv
        exits 3 "$BIN/adjoint" --target bad.csv "$run"
        says "object '$object': expected a name or a number below 1"
    done
}

@test "of the density the stiffness of the barrier is left out, which is made of masses: contact/kappa-scale is the rest" {
    "$BIN/adjoint" -q --error none --target "$target" --report r.jsonl --csv table.csv --by material/density --by contact/kappa-scale "$run"
    near "$(grep -o '"kappa": [^,]*' r.jsonl | awk '{ s += $2 } END { printf "%.17g", s }')" "$(of contact/kappa-scale 0)"
    all=$(awk -v d="$(of material/density 0)" -v k="$(of contact/kappa-scale 0)" 'BEGIN { printf "%.17g", d + k / 1000 }')
    by=$(slope "$(RHO=1000.1 loss)" "$(RHO=999.9 loss)" 0.1)
    near "$all" "$by"
    exits 1 near "$(of material/density 0)" "$by"
}

# pushed: blocks of two materials, under a traction, a force on both that grows, and a force per volume
pushed() {
    cat <<Y
time: {step: 0.01 s}
tolerance: 1e-9 m/s
materials:
  soft: {density: ${SOFT:-1000}, young: 1e5, poisson: 0.3}
  hard: {density: ${HARD:-2000}, young: 1e6, poisson: 0.3}
objects:
  a: {generate: {box: {size: [0.3, 0.1, 0.1], cells: [3, 1, 1]}}, material: soft}
  b: {generate: {box: {size: [0.3, 0.1, 0.1], cells: [3, 1, 1]}}, material: hard, translate: [0, 0.5, 0]}
motion:
  - {select: {object: a, relative-box: [[0.99, 0, 0], [1, 1, 1]]}, traction: [0, 30, 5]}
  - {select: {object: [a, b]}, force: [1, 2, 0.5], ramp: 0.1 s}
  - {select: {object: b}, force-density: [100, 0, 20]}
Y
}
pushed_loss() {
    pushed | "$BIN/mesh-prep" -q - | "$BIN/step" -q -n 15 | "$BIN/adjoint" -q --error none --target there.csv --csv - - |
        awk -F, '$1 == "loss" { printf "%.17g", $5 }'
}

@test "of densities under forces of the scene, the same force moves more mass less" {
    printf '%s\n' time,object,x,y,z,weight 0.15,a,0.2,0.1,0,1 0.15,b,0.1,0.6,0.1,1 > there.csv
    pushed | "$BIN/mesh-prep" -q - | "$BIN/step" -q -n 15 -o pushed.abut
    "$BIN/adjoint" -q --error none --target there.csv --by material/density --csv table.csv pushed.abut
    near "$(of material/density 0)" "$(slope "$(SOFT=1001 pushed_loss)" "$(SOFT=999 pushed_loss)" 1)"
    near "$(of material/density 1)" "$(slope "$(HARD=2001 pushed_loss)" "$(HARD=1999 pushed_loss)" 1)"
}

# hung: a cloth that hangs on a side, of Young's modulus E
hung() {
    cat <<Y
abut: 1
contact: off
tolerance: 1e-9 m/s
materials: {c: {density: 200, young: ${E:-1e6}, poisson: 0.2}}
objects: {s: {generate: {cloth: {size: [0.2, 0.2], cells: [3, 3]}}, material: c, shell: {thickness: 3 mm}}}
motion: [{select: {object: s, relative-box: [[0, 0, 0], [0.4, 1, 1]]}, fix: true}]
Y
}
hung_run() { hung | "$BIN/mesh-prep" -q - | "$BIN/step" -q -n 10; }
hung_loss() { hung_run | "$BIN/adjoint" -q --error none --target low.csv --csv - - | awk -F, '$1 == "loss" { printf "%.17g", $5 }'; }

@test "material/young leaves the bending of shells out, which hinge/stiffness has, and object/young includes it" {
    printf '%s\n' step,object,x,y,z 10,s,,0.1, >low.csv
    hung_run >hung.abut
    "$BIN/adjoint" -q --error none --target low.csv --csv table.csv --by '*/young' --by hinge/stiffness hung.abut
    by=$(awk -v d="$(slope "$(E=1000100 hung_loss)" "$(E=999900 hung_loss)" 100)" 'BEGIN { printf "%.17g", d * 1e6 }')
    near "$(of object/young 0)" "$by"
    exits 1 near "$(awk -v d="$(of material/young 0)" 'BEGIN { printf "%.17g", d * 1e6 }')" "$by"
    near "$(awk -F, '$1 == "material/young" { s += $5 * $6 } $1 == "hinge/stiffness" { s += $5 * $6 } END { printf "%.17g", s }' table.csv)" "$by"
}

@test "a stream, a table and JSON hold the same numbers, for every number of threads, from a file and a pipe" {
    "$BIN/adjoint" -q -j 1 --target "$target" --csv a.csv --json a.json -o a.abut "$run"
    "$BIN/adjoint" -q -j 2 --target "$target" --csv b.csv -o b.abut - < <(cat "$run")
    cmp a.csv b.csv
    cmp a.abut b.abut
    "$BIN/export" --dump --array gradient/material/young a.abut >dump
    grep -qF "$(awk -F, '$1 == "material/young" { print $6 }' a.csv)" dump
    python3 -c 'import json, sys; t = json.load(open("a.json")); assert abs(t["gradient"]["material/young"][0]) > 0 and t["loss"] > 0'
    "$BIN/export" --summary a.abut >/dev/null
}

@test "derivatives of a loss of one's own are those of targets" {
    printf '%s\n' step,object,x,y,z,weight 12,block,0.3,,0.1,2 >last.csv
    "$BIN/adjoint" -q --target last.csv --csv table.csv --by node/x --from 12 "$run"
    { echo step,node,dx,dy,dz; awk -F, '$1 == "node/x" { d[$2, $3] = $6; if ($2 > n) n = $2 }
        END { for (i = 0; i <= n; i++) printf "12,%d,%s,%s,%s\n", i, d[i, 0], d[i, 1], d[i, 2] }' table.csv; } >own.csv
    "$BIN/adjoint" -q --target last.csv --csv a.csv "$run"
    "$BIN/adjoint" -q --dl own.csv --csv b.csv "$run"
    near "$(awk -F, '$1 == "material/young" { print $6 }' a.csv)" "$(awk -F, '$1 == "material/young" { print $6 }' b.csv)"
    near "$(awk -F, '$1 == "world/gravity" { print $6; exit }' a.csv)" "$(awk -F, '$1 == "world/gravity" { print $6; exit }' b.csv)"
}

@test "friction contacts that are taken as constant give another derivative" {
    "$BIN/adjoint" -q --target "$target" --csv table.csv "$run"
    exact=$(of material/young 0)
    "$BIN/adjoint" -q --lag constant --target "$target" --csv table.csv "$run"
    exits 1 near "$exact" "$(of material/young 0)"
}

@test "each derivative has its error beside it, and a refined run has less of it" {
    slide | "$BIN/mesh-prep" -q - --set tolerance=1e-4m/s | "$BIN/step" -q -n 12 -o loose.abut
    "$BIN/adjoint" -q --target "$target" --csv exact.csv --error none "$run"
    "$BIN/adjoint" -q -j 1 --target "$target" --csv loose.csv --json loose.json -o loose.out loose.abut
    "$BIN/adjoint" -q -j 2 --target "$target" --refine --csv refined.csv -o refined.out - < <(cat loose.abut)
    # within a tenth of the true error, and that of the refined run is a hundredth of it
    awk -F, 'FNR == 1 { f++ } { d[f, $1, $2, $3] = $6; e[f, $1, $2, $3] = $7 }
        f == 3 && $1 ~ /material|world/ { t = $6 - d[1, $1, $2, $3]; o = d[2, $1, $2, $3] - d[1, $1, $2, $3]; if (o < 0) o = -o; if (t < 0) t = -t
            if (!(o > 0 && t <= 0.01 * o)) bad = 1
            if (!(e[2, $1, $2, $3] > 0.9 * o && e[2, $1, $2, $3] < 1.1 * o)) bad = 1
            n++ } END { exit bad || n < 6 }' exact.csv loose.csv refined.csv
    "$BIN/export" --dump --array gradient-error/material/young loose.out >dump
    grep -qF "$(awk -F, '$1 == "material/young" { print $7 }' loose.csv)" dump
    python3 -c 'import json; t = json.load(open("loose.json")); assert t["error"]["material/young"][0] > 0'
    "$BIN/adjoint" -q --target "$target" --csv none.csv --error none loose.abut
    [ "$(awk -F, '{ print $7 }' none.csv | sort -u | grep -c .)" -eq 1 ]
    cmp <(cut -d, -f1-6 none.csv) <(cut -d, -f1-6 loose.csv)
    "$BIN/export" --summary refined.out >/dev/null
}

@test "a report has a line for every step, with how exact it is" {
    "$BIN/adjoint" -q --target "$target" --report steps.jsonl --csv /dev/null "$run"
    [ "$(wc -l <steps.jsonl)" -eq 12 ]
    python3 -c 'import json; r = [json.loads(l) for l in open("steps.jsonl")]; assert max(s["residual"] for s in r) < 1e-8 and r[0]["step"] == 12'
}

@test "options that make no sense are refused with exit 2" {
    exits 2 "$BIN/adjoint" "$run"
    says "must be given"
    exits 2 "$BIN/adjoint" --target "$target" --dl "$target" "$run"
    says "one of them"
    exits 2 "$BIN/adjoint" --target "$target" --lag often "$run"
    says "exact or constant"
    exits 2 "$BIN/adjoint" --target "$target" --error often "$run"
    says "residual or none"
    exits 2 "$BIN/adjoint" --target "$target" --error none --refine "$run"
    says "one of them"
    exits 2 "$BIN/adjoint" --target "$target" --by material/colour --csv - "$run"
    says "no derivatives by that"
    exits 2 "$BIN/adjoint" --target "$target" --from 9 --to 3 "$run"
    says "in their order"
}

@test "a MODEL that comes again before the first frame is taken, one after a frame is refused" {
    skip_without_numpy
    PYTHONPATH=$ROOT/formats/python "$PYTHON" - "$run" <<'P'
import sys, abut_stream
items = list(abut_stream.read(sys.argv[1]))
for name, again in (("before", 0), ("after", 2)):
    with abut_stream.Writer(name + ".abut") as w:
        for k, i in enumerate(items):
            w.model(i.arrays) if i.kind == "model" else w.frame(i.step, i.time, i.arrays, i.phase)
            if k == again:
                w.model(items[0].arrays)
P
    cmp <("$BIN/adjoint" -q --target "$target" --csv - before.abut) <("$BIN/adjoint" -q --target "$target" --csv - "$run")
    exits 3 "$BIN/adjoint" --target "$target" after.abut
    says "the MODEL changes after frame 1"
}

@test "runs and tables that are none are refused with exit 3, by what is wrong" {
    "$BIN/step" -q -n 4 --every 2 "$run" -o every.abut
    exits 3 "$BIN/adjoint" --target "$target" every.abut
    says "steps between are missing"
    head -c 20000 "$run" >cut.abut
    exits 3 "$BIN/adjoint" --target "$target" cut.abut
    says "without an end mark"
    printf '%s\n' step,node,x 3,99999,0 >bad.csv
    exits 3 "$BIN/adjoint" --target bad.csv "$run"
    says "bad.csv:2"
    printf '%s\n' step,node,x 33,0,0 >bad.csv
    exits 3 "$BIN/adjoint" --target bad.csv "$run"
    says "expected 0 to 12"
    for time in 1e300 0.0123 -1e300; do
        printf '%s\n' time,object,x "$time,block,1" >bad.csv
        exits 3 "$BIN/adjoint" --target bad.csv "$run"
        says "row 1 of the loss is at"
        says "no frame is, steps are 0.01 s"
    done
    printf '%s\n' step,nude,x 3,0,0 >bad.csv
    exits 3 "$BIN/adjoint" --target bad.csv "$run"
    says "nude"
    printf '%s\n' step,node,node,x 3,0,1,0 >bad.csv
    exits 3 "$BIN/adjoint" --target bad.csv "$run"
    says "two columns 'node'"
    { printf '\xef\xbb\xbf' && grep -v '^#' "$target"; } >marked.csv
    cmp <("$BIN/adjoint" -q --target marked.csv --csv - "$run") <("$BIN/adjoint" -q --target "$target" --csv - "$run")
    exits 3 "$BIN/adjoint" --target missing.csv "$run"
}

@test "friction passes that frames hold are not solved again: the same run, the same derivatives" {
    slide | sed 's/lags: 1/lags: 3/' | "$BIN/mesh-prep" -q - -o start.abut
    "$BIN/step" -q -n 12 start.abut -o plain.abut
    "$BIN/step" -q -n 12 --keep-passes start.abut -o kept.abut
    "$BIN/step" -q -j 2 -n 12 --keep-passes start.abut | cmp - kept.abut
    "$BIN/step" -q -n 5 --keep-passes start.abut | "$BIN/step" -q -n 7 --keep-passes | "$BIN/export" --dump >parts
    "$BIN/export" --dump plain.abut >plain
    "$BIN/export" --dump kept.abut >kept
    # without pass/ nothing differs but the history
    awk '/^(array|frame|model|end)/ { drop = $2 ~ /^pass\// } !drop && !/^prov/' kept >less
    grep -v '^prov' plain | cmp - less
    grep -v '^prov' parts >parts-alone
    grep -v '^prov' kept | cmp - parts-alone
    [ "$(grep -c '^array pass/count' kept)" -eq 12 ]
    [ "$(grep -c '^array pass/x' kept)" -ge 10 ]
    # a judge and others pass them through
    "$BIN/ccd-check" -q kept.abut -o judged.abut
    "$BIN/export" --dump judged.abut | grep -v '^prov' | cmp - <(grep -v '^prov' kept)
    "$BIN/export" --summary judged.abut >/dev/null
    for of in plain kept judged; do "$BIN/adjoint" -q --target "$target" --csv $of.csv $of.abut; done
    cmp kept.csv judged.csv
    join -t' ' <(awk -F, 'NR > 1 && $6 != "" { print $1 "," $2 "," $3 "," $4, $6 }' plain.csv | sort) \
        <(awk -F, 'NR > 1 && $6 != "" { print $1 "," $2 "," $3 "," $4, $6 }' kept.csv | sort) >both
    awk '{ d = $2 - $3; s = $2 < 0 ? -$2 : $2; if (d < 0) d = -d; if (s > most) most = s; if (d > 1e-7 * s && d > 1e-12) bad = 1 } END { exit !(NR > 10 && most > 0) || bad }' both
}

# laid: a block with a cloth on it, of two friction passes, which slides with that MU
laid() {
    cat <<Y
abut: 1
tolerance: 1e-8 m/s
contact: {kappa-range: 1, friction: {mu: ${MU:-0.3}, lags: 2}}
materials: {m: {density: 1000, young: 5e4, poisson: 0.3}, c: {density: 500, young: 1e5, poisson: 0.2}}
objects:
  b: {generate: {box: {size: [0.2, 0.1, 0.1], cells: [4, 2, 2]}}, material: m, translate: [0, 0.052, 0], velocity: [1, 0, 0]}
  s: {generate: {cloth: {size: [0.24, 0.24], cells: [6, 6]}}, material: c, shell: {thickness: 1 mm}, translate: [0, 0.11, 0]}
  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}
Y
}
laid_run() { laid | "$BIN/mesh-prep" -q - | "$BIN/step" -q -n 8 "$@"; }
laid_loss() { laid_run --keep-passes | "$BIN/adjoint" -q --error none --target there.csv --csv - - | awk -F, '$1 == "loss" { printf "%.17g", $5 }'; }

@test "friction passes are solved again with the Hessians of the run, where second derivatives are indefinite" {
    printf '%s\n' step,object,x,y,z 8,b,0.2,0.05,0.01 >there.csv
    laid_run | "$BIN/adjoint" -q --error none --target there.csv --csv table.csv -
    laid_run --keep-passes | "$BIN/adjoint" -q --error none --target there.csv --csv kept.csv -
    for of in 'material/young' 'contact/mu' 'world/gravity'; do
        near "$(of $of 0)" "$(awk -F, -v a=$of '$1 == a { print $6; exit }' kept.csv)"
    done
    near "$(of contact/mu 0)" "$(slope "$(MU=0.30001 laid_loss)" "$(MU=0.29999 laid_loss)" 1e-5)"
    # the results of passes are refined, too
    laid_run --keep-passes | "$BIN/adjoint" -q --refine --target there.csv --csv refined.csv -o refined.abut -
    "$BIN/ccd-check" -q --no-output refined.abut
    near "$(of contact/mu 0)" "$(awk -F, '$1 == "contact/mu" { print $6; exit }' refined.csv)"
}

@test "friction passes that are not those of the run are refused" {
    slide | sed 's/lags: 1/lags: 3/' | "$BIN/mesh-prep" -q - -o start.abut
    "$BIN/step" -q -n 6 --keep-passes start.abut -o kept.abut
    printf '%s\n' step,object,x 6,block,0.3 >there.csv
    exits 3 "$BIN/adjoint" --lags 2 --target there.csv kept.abut
    says "pass/count is 3, expected at most 2"
}

@test "results of friction passes that are cut are refused, by their number or by their forces" {
    skip_without_numpy
    slide | sed 's/lags: 1/lags: 3/' | "$BIN/mesh-prep" -q - | "$BIN/step" -q -n 6 --keep-passes -o kept.abut
    printf '%s\n' step,object,x 6,block,0.3 >there.csv
    # one result less in the last frame: in all of pass/, or not in pass/count
    for less in x all; do
        PYTHONPATH=$ROOT/formats/python "$PYTHON" - $less <<'P'
import sys, abut_stream
items = list(abut_stream.read("kept.abut"))
with abut_stream.Writer(sys.argv[1] + ".abut") as w:
    for item in items:
        a = item.arrays
        if item is items[-1]:
            a["pass/x"].data = a["pass/x"].data[:len(a["node/x"].data)]
            if sys.argv[1] == "all":
                a["pass/kappa"].data = a["pass/kappa"].data[:1]
                a["pass/count"].data[...] -= 1
        w.model(a) if item.kind == "model" else w.frame(item.step, item.time, a)
P
    done
    exits 3 "$BIN/adjoint" --target there.csv x.abut
    says "array 'pass/x' has"
    exits 3 "$BIN/ccd-check" -q --no-output x.abut
    exits 3 "$BIN/adjoint" --target there.csv all.abut
    says "from where the forces of this step balance"
}

# starts TEXT: a line of what the last command given to exits said
starts() { grep -q "^$1" "$BATS_TEST_TMPDIR/stderr"; }

@test "what is not differentiated is refused by name" {
    printf '%s\n' step,node,x 1,0,0 >one.csv
    slide 'damping: {stiffness: 1 ms}' | "$BIN/mesh-prep" -q - --set time.scheme=implicit-newmark | "$BIN/step" -q -n 12 -o damped.abut
    exits 3 "$BIN/adjoint" --target "$target" damped.abut
    starts "adjoint: damping.stiffness"
    laid | "$BIN/mesh-prep" -q - --set damping.stiffness=1ms | "$BIN/step" -q -n 1 -o damped.abut
    exits 3 "$BIN/adjoint" --target one.csv damped.abut
    starts "adjoint: damping.stiffness of shells and rods is not differentiated"
    "$BIN/mesh-prep" -q --new curved >curved.yaml
    "$BIN/mesh-prep" -q curved.yaml | "$BIN/step" -q -n 1 -o curved.abut
    exits 3 "$BIN/adjoint" --target one.csv curved.abut
    starts "adjoint: tets of order"
    laid | "$BIN/mesh-prep" -q - --set objects.s.shell.drag=0.6 --set time.scheme=implicit-newmark | "$BIN/step" -q -n 1 -o drag.abut
    exits 3 "$BIN/adjoint" --target one.csv drag.abut
    starts "adjoint: the drag of wind is not differentiated in implicit-newmark"
    # a step that implicit Euler takes, though contact is in the accelerations of this Newmark
    cat >turn.yaml <<'Y'
time: {step: 20 ms, scheme: implicit-newmark, newmark: {beta: 0.4}}
contact: off
materials: {m: {model: stable-neo-hookean, density: 1000, young: 4e5, poisson: 0.3}}
objects:
  cube: {generate: {box: {size: [0.3, 0.3, 0.3], cells: [2, 2, 2]}}, angular-velocity: {axis: [0, 0, 1], rate: 32 rad/s}, material: m}
Y
    "$BIN/mesh-prep" -q turn.yaml | "$BIN/step" -q -n 6 --report r.jsonl -o turn.abut
    grep -q '"damped":1' r.jsonl
    exits 3 "$BIN/adjoint" --target one.csv turn.abut
    says "implicit Euler took this step, which is not differentiated if time.newmark.beta is above gamma / 2; a smaller time step"
}
