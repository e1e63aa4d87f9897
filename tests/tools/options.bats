#!/usr/bin/env bats
# Options of all programs that have nothing to do are refused by name, those of step apart (step-options.bats).
load helpers

setup_file() {
    local bin=${BIN:-$BATS_TEST_DIRNAME/../../bin}
    cd "$BATS_FILE_TMPDIR"
    "$bin"/mesh-prep --new cloth > cloth.yaml
    "$bin"/mesh-prep -q cloth.yaml | "$bin"/step -q -n 2 -o run.abut
}
setup() { run=$BATS_FILE_TMPDIR/run.abut; cd "$BATS_TEST_TMPDIR"; }

@test "numbers that an option does not take are refused, also those that a program might take for none" {
    exits 2 "$BIN/export" --smooth 0 "$run"
    says "--smooth 0: expected 1 to 64 segments"
    exits 2 "$BIN/ccd-check" --curved 0 "$run" --no-output
    says "--curved 0: expected 1 to 64 segments"
    exits 2 "$BIN/step" -j -1 "$run" -o x.abut
    says "--threads: -1 is not between 1 and 4096"
    exits 2 "$BIN/adjoint" --dl dl.csv --from -3 "$run"
    says "--from -3 --to 2: expected steps from 0 to 2"
    exits 2 "$BIN/adjoint" --dl dl.csv --to -2 "$run"
    says "--from 0 --to -2: expected"
}

@test "a file that a program writes beside its output is no other file of the command line" {
    cp "$run" in.abut
    for command in "step -n 1 --report" "strain-limit --audit --json" "decompose --json" "ccd-check --json" "export --csv" \
                   "export --gltf" "picture --strip" "adjoint --dl d.csv --csv"; do
        exits 2 "$BIN"/$command in.abut in.abut
        says "in.abut: is the input, too"
        cmp in.abut "$run"
        ln -sf in.abut link.abut
        exits 2 "$BIN"/$command link.abut in.abut
        says "link.abut: is the input, too"
    done
    exits 2 "$BIN/step" -n 1 --report out.abut in.abut -o out.abut
    says "--report out.abut: is that of --output, too"
    exits 2 "$BIN/step" -n 1 --report "$PWD/out.abut" in.abut -o ./out.abut
    says "out.abut: is that of --output, too"
    exits 2 "$BIN/export" --csv a --json a in.abut
    says "--csv a: is that of --json, too"
    printf 'step,node,dx\n1,0,1\n' > d.csv
    exits 2 "$BIN/adjoint" --dl d.csv --csv ./d.csv in.abut
    says "--csv ./d.csv: is that of --dl, too"
    for command in "step -n 1 --report" "decompose --json" "ccd-check --json" "export --gltf" "picture --strip"; do
        exits 2 "$BIN"/$command - in.abut
        says " -: expected the name of a file"
    done
    local name
    for name in - a out.abut; do [ ! -e ./$name ]; done
    exits 0 "$BIN/step" -n 1 --report /dev/null in.abut -o /dev/null
}

@test "an option whose help begins with the option that it belongs to is refused without that" {
    "$PYTHON" - "$BIN" "$run" <<'P'
import os, re, subprocess, sys
folder, run = sys.argv[1:]
tried = []
for program in sorted(os.listdir(folder)):
    text = subprocess.run([folder + "/" + program, "--help", "all"], stdout=subprocess.PIPE, check=True, text=True).stdout
    for m in re.finditer(r"^ {2,6}(?:-\w, )?--([\w-]+)(?: (\S+))?\s+(--[\w-]+[^.;]{0,70}?): ", text, re.M):
        option, value = m[1], {None: [], "N": ["3"], "S": ["1.01"], "LOW:HIGH": ["1:2"], "<m>": ["0.1"], "<vf|ee>": ["vf"]}.get(
            m[2], ["0.1"])
        files = ["--png", "p"] if program == "picture" else ["--target", "t.csv"] if program == "adjoint" else []
        given = run.replace("run.abut", "cloth.yaml") if program == "mesh-prep" else run
        said = subprocess.run([folder + "/" + program, "--" + option, *value, *files, given], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        tried.append(program + " --" + option)
        first = said.stderr.split("\n")[0]
        assert said.returncode == 2 and "--" + option in first, (tried[-1], said.returncode, first)
        needs = re.findall(r"--[\w-]+", m[3])
        assert any(n in first for n in needs), (tried[-1], needs, first)
wanted = ["adjoint --by", "ccd-check --delta", "ccd-check --kind", "export --array", "export --no-data", "export --smooth",
          "export --tensors", "export --thick", "mesh-prep --max-move", "strain-limit --lower-threshold",
          "strain-limit --upper-threshold"] + ["picture --fps", "picture --panels", "picture --range"] * ("picture" in os.listdir(folder))
assert set(wanted) <= set(tried), set(wanted) - set(tried)
P
}

@test "export --dump --array: a pattern that no array has is refused with the names that there are" {
    exits 2 "$BIN/export" --dump --array node/Y "$run" -o dump
    says "--array: no array is called 'node/Y'; did you mean node/X?; there are node/X, node/mass, "
    [ ! -e dump ]
    exits 2 "$BIN/export" --dump --array node/x --array 'nope/*' "$run"
    says "no array is called 'nope/*'; there are"
    exits 0 "$BIN/export" --dump --array 'node/*' --array contact/kappa "$run"     # of the model, of frames alone
    writes "array node/X"
    writes "array contact/kappa"
}

@test "watch says that a report never came" {
    exits 0 timeout 60 "$BIN/watch" --report never.jsonl "$run"
    says "--report never.jsonl: no such file came"
    : > there.jsonl
    exits 0 timeout 60 "$BIN/watch" --report there.jsonl "$run"
    [ "$(grep -c came stderr)" -eq 0 ]
}

@test "export says where --smooth and --thick find nothing to show" {
    exits 0 "$BIN/export" --smooth 3 --obj o "$run"
    says "--smooth 3: no curved tets"
    printf 'objects: {a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}}\n' | "$BIN/mesh-prep" -q - -o box.abut
    exits 0 "$BIN/export" --thick --obj o box.abut
    says "--thick: no shells, rods or particles"
    "$BIN/mesh-prep" -q "$BATS_FILE_TMPDIR/cloth.yaml" --set objects.cloth.contact-thickness='1 mm' -o thick.abut
    exits 0 "$BIN/export" --thick --obj o thick.abut
    [ "$(grep -c -e --thick stderr)" -eq 0 ]
    printf 'objects: {a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, order: 2}}\n' | "$BIN/mesh-prep" -q - -o curved.abut
    exits 0 "$BIN/export" --smooth 3 --obj o curved.abut
    [ "$(grep -c -e --smooth stderr)" -eq 0 ]
}

@test "options of which one leaves the other nothing to do are refused, and both are named" {
    pair() {    # PROGRAM ONE OTHER OPTION...
        local program=$1 one=$2 other=$3
        shift 3
        exits 2 "$BIN/$program" "$@"
        says "$one"
        says "$other"
    }
    pair friction-lag --commit --tolerance --commit -t 1 "$run" -o x
    pair friction-lag --commit --max-lags --commit --max-lags 2 "$run" -o x
    pair friction-lag --commit --ask --commit --ask "$run" -o x
    pair friction-lag "--with contacts" "--solver nodal" --with contacts "$run" -o x
    pair strain-limit --audit --upper-threshold --audit --upper 1.2 --upper-threshold 1.1 "$run"
    pair ccd-check --delta "--method tight" --delta 1e-3 -m exact --no-output "$run"
    exits 0 "$BIN/ccd-check" -q --delta 1e-3 -m tight --no-output "$run"
    "$BIN/export" -q --obj o "$run"
    pair ccd-check --motion --static --static --motion straight o/frame_0000.obj
    pair ccd-check "-o x" stream --static o/frame_0000.obj -o x
    for o in max-move=1 report=f check compress=3; do
        pair mesh-prep --to-yaml "--${o%=*}" --to-yaml "--$o" "$BATS_FILE_TMPDIR/cloth.yaml"
    done
    printf 'objects: {a: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}}\n' | "$BIN/mesh-prep" -q - -o box.abut
    exits 2 "$BIN/decompose" --weights nope box.abut -o x
    says "--weights nope: the MODEL has no such array"
    exits 2 "$BIN/adjoint" --target t.csv --tolerance 0 "$run"
    says "--tolerance 0: expected more than 0"
}

# the options that a help lists, a line each
listed() { grep -oE '^  (-.,|   ) --[a-z0-9-]+' | grep -oE -- '--.*' | sort; }

# The tables are tools/step/options.c and lib/solve/options.h, the options of all programs are in tools/cli/cli.c; blas-threads is a former name.
@test "step --help has the everyday options in at most 90 lines and names its topics, --help all has every option" {
    "$BIN/step" --help >help
    [ "$(wc -l <help)" -le 90 ]
    grep -E '^    abut step --help all   +# every option$' help
    grep -E '^    abut step --help solvers   +' help
    "$BIN/step" -h | cmp - help
    "$BIN/step" -n 3 "$run" --help | cmp - help
    "$BIN/step" --help all >all
    { sed -n 's/^    { "\([a-z-]*\)", ABUT_OPTION.*/--\1/p' "$ROOT/tools/step/options.c" | grep -vx -- --blas-threads
      tr -d '\n' <"$ROOT/lib/solve/options.h" | grep -oE 'F\([a-z_]+, [^"]*"[a-z-]+"' | sed 's/.*"\(.*\)"/--\1/'
      sed -n 's/^        { [^,]*, "\([a-z-]*\)", ABUT_OPT.*/--\1/p' "$ROOT/tools/cli/cli.c" | grep -vx -- --manual; } | sort >table
    [ "$(wc -l <table)" -ge 45 ]
    listed <all | cmp - table
    listed <help >everyday
    [ "$(wc -l <everyday)" -lt "$(wc -l <table)" ]
    comm -23 everyday table >more
    [ ! -s more ]
    for name in mesh-prep export ccd-check; do "$BIN/$name" --help all | cmp - <("$BIN/$name" --help); done
    for name in help all; do
        awk 'length > 98 { print; bad = 1 } END { exit bad }' $name
    done
}

@test "step --help solvers names every solver once, what is for comparison in a table of its own" {
    "$BIN/step" --help solvers >tables
    "$BIN/step" --help=solvers | cmp - tables
    exits 2 "$BIN/step" --solver nope "$run"
    sed -n 's/.*know //p' stderr | tr -d ' ' | tr ',' '\n' | sort >solvers
    [ "$(wc -l <solvers)" -ge 18 ]
    sed -n 's/^\([a-z][a-z-]*\)   *[^ ].*/\1/p' tables | grep -vx name | sort | cmp - solvers
    sed -n '/^Baselines/,$s/^\([a-z][a-z-]*\)   *[^ ].*/\1/p' tables | grep -vx name >compared
    [ "$(sort compared | tr '\n' ' ')" = "admm-dd admm-pd gradient lbfgs-ic lbfgs-id lbfgs-jh lbfgs-rest lbfgs-warped qp sqp " ]
}

@test "a topic of --help that a program has not is an error of usage, with those that it has" {
    exits 2 "$BIN/step" --help nope
    says "--help nope: know all, solvers"
    [ ! -s stdout ]
    exits 2 "$BIN/mesh-prep" --help solvers
    says "--help solvers: know all"
    exits 2 "$BIN/step" --solvers "$run"
    says "unknown option '--solvers'; did you mean --solver?"
}

@test "a table in the help of an option of step has the values that the option takes" {
    "$BIN/step" --help all >all
    for option in stop guess without linear-solver barrier-hessian; do
        exits 2 "$BIN/step" --$option nope "$run"
        sed -n 's/; this build.*//; s/.*know //p' stderr | tr -d ' ' | tr ',' '\n' | sort >values
        [ "$(wc -l <values)" -ge 5 ]
        awk -v option="--$option" '/^      --/ { its = $1 == option } its && match($0, /^ *[a-z]/) && RLENGTH == 31 { print $1 }' all | sort | cmp - values
    done
}
