#!/usr/bin/env bash
# How exact derivatives of runs are, and what they cost: tables on standard output.
#     adjoint-exact.sh differences    every number of lib/adjoint's tests beside central differences of runs (TSV)
#     adjoint-exact.sh tolerance      errors of derivatives against the tolerance of the run, true and estimated
#     adjoint-exact.sh cost           processor seconds forwards and backwards, memory for runs of two lengths
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} unit=${UNIT:-build/gcc/unit} out=${OUT:-out/adjoint-exact} python=${PYTHON:-/usr/bin/python3}
mkdir -p "$out"

differences() {
    printf 'scene\tparameter\tadjoint\tdifferences\trelative\n'
    for program in "$unit"/test_adjoint "$unit"/test_adjoint_paths "$unit"/test_adjoint_passes; do
        ADJOINT_SHOW=1 OMP_NUM_THREADS=1 "$program" | awk -F'\t' '
            $1 == "# difference" { printf "%s\t%s\t%s\t%s\t%s\n", $2, $3, $4, $5, $6 } /^not ok/ { bad = 1 } END { exit bad }'
    done
}

# derivatives of the sliding block, by E, nu, density, mu and gravity: scheme tolerance more
derivatives() {
    "$bin"/mesh-prep -q pipelines/experiments/adjoint/scenes/adjoint-identify.yaml --set time.scheme="$1" --set tolerance="$2 m/s" |
        "$bin"/step -q -j 1 -n 24 -o "$out/run.abut"
    printf '%s\n' step,object,x,y,z 24,block,0.3,0.1,0.1 12,block,0.2,, >"$out/target.csv"
    "$bin"/adjoint -q -j 1 "${@:3}" --target "$out/target.csv" --csv - "$out/run.abut"
}

tolerance() {
    printf '%s\n' '| scheme | tolerance, m/s | derivatives off by | estimated over true error | off by with `--refine` | loss off by | with its correction |' \
        '|---|---|---|---|---|---|---|'
    local scheme tol
    for scheme in ${SCHEMES:-implicit-euler bdf2 implicit-newmark midpoint}; do
        derivatives "$scheme" 1e-10 --refine >"$out/exact.csv"
        for tol in ${TOLERANCES:-1e-2 1e-3 1e-4 1e-5 1e-6 1e-7}; do
            derivatives "$scheme" "$tol" >"$out/some.csv"
            derivatives "$scheme" "$tol" --refine >"$out/refined.csv"
            awk -F, -v scheme="$scheme" -v tol="$tol" '
                function size(x) { return x < 0 ? -x : x }
                FNR == 1 { file++ }
                $1 == "loss" { L[file] = $5 }
                $1 == "loss/correction" { E[file] = $5 }
                $1 ~ /^(material|world|contact.mu)/ { k = $1 "," $2 "," $3; d[file, k] = $6; e[file, k] = $7; if (file == 1 && $6 != 0) is[k] = 1 }
                END {
                    lowest = 1e300
                    for (k in is) {
                        off = size(d[2, k] - d[1, k]); left = size(d[3, k] - d[1, k]); all = size(d[1, k])
                        if (off > most * all) most = off / all
                        if (left > rest * all) rest = left / all
                        if (off < 1e-11 * all) continue     # both are rounding
                        r = e[2, k] / off
                        if (r < lowest) lowest = r
                        if (r > highest) highest = r
                    }
                    printf "| %s | %s | %.1e | %s | %.1e | %.1e | %.1e |\n", scheme, tol, most,
                        (highest > 0 ? sprintf("%.3f to %.3f", lowest, highest) : "-"), rest,
                        size(L[2] - L[1]) / L[1], size(L[2] + E[2] - L[1]) / L[1]
                }' "$out/exact.csv" "$out/some.csv" "$out/refined.csv"
        done
    done
}

# measure COMMAND...: processor seconds and the largest resident set in MB
measure() {
    "$python" - "$@" <<'P'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.2f %.0f" % (r.ru_utime + r.ru_stime, r.ru_maxrss / 1024))
P
}

cost() {
    printf '%s\n' '| scene | steps | `step`, s | `adjoint --error none`, s | of it | `adjoint`, s | of it | MB, 10 steps | MB, 20 steps |' \
        '|---|---|---|---|---|---|---|---|---|'
    local name steps prep more_options
    while IFS='|' read -r name steps prep more_options; do
        # shellcheck disable=SC2086     # arguments of the list are words
        "$bin"/mesh-prep -q $prep -o "$out/start.abut"
        printf '%s\n' step,node,x "10,0,0" >"$out/target.csv"
        local forward backward full few more
        # shellcheck disable=SC2086
        forward=$(measure "$bin"/step -q -j 1 -n "$steps" $more_options "$out/start.abut" -o "$out/run.abut")
        backward=$(measure "$bin"/adjoint -q -j 1 --error none --target "$out/target.csv" --csv /dev/null "$out/run.abut")
        full=$(measure "$bin"/adjoint -q -j 1 --target "$out/target.csv" --csv /dev/null "$out/run.abut")
        few=$(measure "$bin"/adjoint -q -j 1 --error none --to 10 --target "$out/target.csv" --csv /dev/null "$out/run.abut")
        more=$(measure "$bin"/adjoint -q -j 1 --error none --to 20 --target "$out/target.csv" --csv /dev/null "$out/run.abut")
        awk -v name="$name" -v steps="$steps" -v f="${forward% *}" -v b="${backward% *}" -v a="${full% *}" -v m="${few#* }" \
            -v n="${more#* }" 'BEGIN { printf "| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %d | %d |\n", name, steps, f, b, b / f, a, a / f, m, n }'
    done < <(scenes)
}

# name|steps|arguments of mesh-prep|options of step
scenes() {
    local fast="--set contact.kappa-range=1 --set tolerance=1e-5m/s"
    cat <<L
blocks, implicit Euler|20|pipelines/experiments/adjoint/scenes/adjoint-blocks.yaml
blocks, BDF2|20|pipelines/experiments/adjoint/scenes/adjoint-blocks.yaml --set time.scheme=bdf2
blocks, Newmark|20|pipelines/experiments/adjoint/scenes/adjoint-blocks.yaml --set time.scheme=implicit-newmark
blocks, midpoint|20|pipelines/experiments/adjoint/scenes/adjoint-blocks.yaml --set time.scheme=midpoint
blocks, 2 friction passes|20|pipelines/experiments/adjoint/scenes/adjoint-blocks.yaml --set contact.friction.lags=2
blocks, 2 friction passes, --keep-passes|20|pipelines/experiments/adjoint/scenes/adjoint-blocks.yaml --set contact.friction.lags=2|--keep-passes
blocks, 3 friction passes, --keep-passes|20|pipelines/experiments/adjoint/scenes/adjoint-blocks.yaml --set contact.friction.lags=3|--keep-passes
drape of cloth|40|pipelines/experiments/adjoint/scenes/adjoint-drape.yaml
squeeze|20|pipelines/examples/squeeze.yaml $fast
L
}

case ${1:-} in
differences | tolerance | cost) "$1" ;;
*) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
