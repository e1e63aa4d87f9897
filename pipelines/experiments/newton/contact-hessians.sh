#!/usr/bin/env bash
# Barrier laws, Hessians of contacts and filters on small scenes of tests/corpus.tsv, at the tolerances of the scenes: Newton
# iterations, processor time, the smallest gap, the verdict of ccd-check.  A table (TSV) on standard output.
#     SCENES="drop squeeze" contact-hessians.sh > TABLE.tsv
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${BIN:-bin} out=${OUT:-out/contact-hessians} python=${PYTHON:-/usr/bin/python3}
scenes=${SCENES:-squeeze bed slope pile house chain sphere}
rm -rf "$out"; mkdir -p "$out"

# law, contact.barrier, --barrier-hessian
variants() {
    grep -v '^#' <<'V'
ipc	0	{law: ipc}	projected
ipc	0	{law: ipc}	full
ipc	0	{law: ipc}	gn
ipc	0.01	{law: ipc, filter: 0.01}	gn
ipc	0.1	{law: ipc, filter: 0.1}	gn
ipc	0	{law: ipc}	gn-j
ipc	0	{law: ipc}	ipc-gn
ipc	0	{law: ipc}	shi-kim
ipc	0	{law: ipc}	shi-kim-unsigned
log2, own kappa	0	{law: log2}	projected
log2, own kappa	0.01	{law: log2, filter: 0.01}	gn
log2, own kappa	0.1	{law: log2, filter: 0.1}	gn
log2, kappa of ipc	0	{law: log2, kappa: ipc}	projected
log2, kappa of ipc	0	{law: log2, kappa: ipc}	gn
log2, kappa of ipc	0.01	{law: log2, kappa: ipc, filter: 0.01}	gn
log2, kappa of ipc	0.1	{law: log2, kappa: ipc, filter: 0.1}	gn
V
}

run() { # scene steps prep law filter barrier hessian
    local name=$1 n=$2 prep=$3 law=$4 filter=$5 barrier=$6 hessian=$7 rc=0 verdict=-
    local at=$out/$name.$((++runs))
    # shellcheck disable=SC2086     # arguments of the table are words
    "$bin/mesh-prep" -q $prep --set contact.barrier="$barrier" -o "$at.start.abut"
    "$bin/step" -q -j 1 -n "$n" --barrier-hessian "$hessian" --report "$at.jsonl" "$at.start.abut" -o "$at.abut" 2>"$at.err" ||
        rc=$?
    [ $rc != 0 ] || { verdict=clean; "$bin/ccd-check" -q --no-output "$at.abut" || verdict=touches; }
    rm -f "$at.abut" "$at.abut.part" "$at.start.abut"
    "$python" - "$at.jsonl" "$name" "$law" "$filter" "$hessian" "$n" "$rc" "$verdict" <<'P'
import json, sys
path, *words, steps, rc, verdict = sys.argv[1:]
rows = [json.loads(l) for l in open(path)]
total = lambda k: sum(r[k] for r in rows)
gaps = [r["min_gap"] for r in rows if isinstance(r["min_gap"], float)]
print(*words, f"{len(rows)}/{steps}", total("newton_iterations"), total("diagonal_shifts"), "%.2f" % total("cpu_seconds"),
      max((r["contacts"] + r["half_space_contacts"] for r in rows), default=0), "%.2e" % min(gaps) if gaps else "-", rc, verdict, sep="\t")
P
}

runs=0
printf 'scene\tlaw\tfilter\thessian\tsteps\titerations\tshifts\tcpu s\tcontacts\tsmallest gap, m\texit\tverdict\n'
for scene in $scenes; do
    while IFS=$'\t' read -r name steps _ prep _; do
        [ "$name" = "$scene" ] || continue
        while IFS=$'\t' read -r law filter barrier hessian; do
            run "$name" "${STEPS:-$steps}" "$prep" "$law" "$filter" "$barrier" "$hessian"
        done < <(variants)
    done < <(grep -v '^#' tests/corpus.tsv)
done
