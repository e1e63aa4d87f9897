#!/usr/bin/env bats
# bats file_tags=experiment
# Many runs at once: one case of a sweep and its restart, GNU parallel, Snakemake, Slurm arrays.
load ../tools/helpers

setup() {
    TMP=$BATS_TEST_TMPDIR
    cd "$ROOT"
    export BIN
    few=$TMP/few.tsv
    head -n 7 pipelines/examples/sweep.tsv > "$few"
}
teardown() {
    local pid
    for pid in "$TMP"/*.pid; do [ ! -e "$pid" ] || kill "$(cat "$pid")" 2> /dev/null || true; done
}

# one CASE [option of step]: in $TMP/one
one() { pipelines/examples/sweep_case pipelines/examples/slope.yaml "$few" "$TMP/one" "$1" 0.1 "${@:2}"; }
# straight NAME MU UNTIL: the same run without anything of a sweep
straight() { "$BIN/mesh-prep" -q pipelines/examples/slope.yaml --set contact.friction.mu="$2" | "$BIN/step" -q -j 1 --until "$3" -o "$TMP/$1"; }
# killing FRACTION: a folder of programs whose `step` is killed once, with its caller, with that fraction of its output on the disk
killing() {
    mkdir -p "$TMP/bin"
    ln -sf "$BIN"/* "$TMP/bin/"
    rm -rf "$TMP/bin/step" "$TMP/killed"
    cat > "$TMP/bin/step" <<K
#!/usr/bin/env bash
mkdir "$TMP/killed" 2> /dev/null || exec "$BIN/step" "\$@"    # one of those that come at once
while [ "\$1" != -o ]; do args+=("\$1"); shift; done
"$BIN/step" "\${args[@]}" -o "$TMP/whole"
head -c \$((\$(wc -c < "$TMP/whole") * $1 / 100)) "$TMP/whole" > "\$2.part"
kill -KILL \$PPID
K
    chmod +x "$TMP/bin/step"
}
# told FILE: reports name each step once, in order, to the last
told() { [ "$(grep -o '^{"step":[0-9]*' "$1" | cut -d: -f2 | tr '\n' ' ')" = "$(seq -s' ' "$2") " ]; }

@test "one case: the bytes of the same run by hand, its report, its numbers; it is not made again" {
    one mu02
    straight mine 0.05 0.1
    cmp "$TMP/mine" "$TMP/one/mu02.abut"
    told "$TMP/one/mu02.jsonl" 10
    "$BIN/export" -q --frames -1 --csv - "$TMP/mine" | cmp - "$TMP/one/mu02.csv"
    before=$(stat -c %i.%y "$TMP/one/mu02.abut")
    one mu02
    [ "$before" = "$(stat -c %i.%y "$TMP/one/mu02.abut")" ]
    exits 2 one mu77
    says "sweep_case: mu77: no case of that name in $few"
    tr '\t' ',' < "$few" > "$TMP/commas.csv"
    exits 2 pipelines/examples/sweep_case pipelines/examples/slope.yaml "$TMP/commas.csv" "$TMP/one" mu02 0.1
    says "its first line has no tab: expected columns separated by tabs"
    exits 2 one mu02 --lags 3
    says "what is there was made of"
    sed -i 's/^mu02.*/mu02\t0.06/' "$few"
    exits 2 one mu02
    exits 2 pipelines/examples/sweep_case
}

@test "a case that was killed goes on from its last whole frame to the same bytes and reports, wherever it was cut" {
    straight mine 0.05 0.1
    for cut in 1 30 60 99; do
        killing $cut
        BIN=$TMP/bin exits 137 one mu02
        [ -e "$TMP/one/mu02.run.part" ]
        [ ! -e "$TMP/one/mu02.abut" ]
        one mu02
        cmp "$TMP/mine" "$TMP/one/mu02.abut"
        told "$TMP/one/mu02.jsonl" 10
        [ -z "$(ls "$TMP/one" | grep -Ev '^mu02\.(abut|case|csv|jsonl|log)$')" ]
        rm "$TMP"/one/*
    done
    killing 60      # killed, and killed again soon after: what was made first is not lost
    BIN=$TMP/bin exits 137 one mu02
    killing 1
    BIN=$TMP/bin exits 137 one mu02
    "$BIN/salvage" -q "$TMP/one/mu02.run" -o "$TMP/saved"
    [ "$(wc -c < "$TMP/saved")" -gt $(($(wc -c < "$TMP/mine") / 2)) ]
    one mu02
    cmp "$TMP/mine" "$TMP/one/mu02.abut"
}

@test "a case that another process makes is waited for, not made twice; SIGTERM ends its run, which goes on later" {
    until=6
    straight mine 0.05 $until
    pipelines/examples/sweep_case pipelines/examples/slope.yaml "$few" "$TMP/one" mu02 $until & first=$!
    for _ in $(seq 500); do [ -s "$TMP/one/mu02.run.part" ] && break; sleep 0.01; done
    kill -TERM $first
    wait $first && false || [ $? -eq 143 ]
    [ ! -e "$TMP/one/mu02.abut" ]
    pipelines/examples/sweep_case pipelines/examples/slope.yaml "$few" "$TMP/one" mu02 $until & first=$!
    pipelines/examples/sweep_case pipelines/examples/slope.yaml "$few" "$TMP/one" mu02 $until & second=$!
    wait $first
    wait $second
    cmp "$TMP/mine" "$TMP/one/mu02.abut"
    told "$TMP/one/mu02.jsonl" 600
    [ -z "$(ls "$TMP/one" | grep part)" ]
}

@test "a case that fails says why with the exit code of the program; the table names what is missing" {
    sed -i 's/^mu01.*/mu01\tslippery/' "$few"
    exits 2 one mu01 || exits 3 one mu01
    says "slippery"
    one mu00
    exits 1 pipelines/examples/sweep_table "$few" "$TMP/one"
    says "5 not finished: mu01 mu02 mu03 mu04 mu05"
    [ "$(grep -c '^mu' "$TMP/stdout")" -eq 1 ]
    exits 4 one mu03 --max-newton 1
    says "sweep_case: mu03: step: "
}

@test "GNU parallel: 64 runs, killed in the middle and resumed, end with the table of an undisturbed sweep, and with Coulomb's law" {
    skip_without_program parallel
    export UNTIL=0.1 JOBS=2
    OUT=$TMP/whole pipelines/examples/sweep.sh
    OUT=$TMP/cut setsid pipelines/examples/sweep.sh > "$TMP/said" 2>&1 & group=$!
    for _ in $(seq 3000); do [ "$(ls "$TMP"/cut/*.abut 2> /dev/null | wc -l)" -ge 10 ] && break; sleep 0.01; done
    kill -KILL -- -$group
    wait $group || true
    made=$(ls "$TMP"/cut/*.abut | wc -l)
    ((made >= 10 && made < 64))
    [ ! -e "$TMP/cut/table.tsv" ]
    stamps=$(stat -c '%n %i %y' $(ls "$TMP"/cut/*.abut | head -n 8))
    OUT=$TMP/cut pipelines/examples/sweep.sh
    cmp "$TMP/whole/table.tsv" "$TMP/cut/table.tsv"
    [ "$stamps" = "$(stat -c '%n %i %y' $(ls "$TMP"/cut/*.abut | head -n 8))" ]
    [ "$(awk 'NR > 1 && $7 == 0' "$TMP/whole/joblog" | wc -l)" -eq 64 ]
    for f in "$TMP"/whole/*.abut; do cmp "$f" "$TMP/cut/${f##*/}"; done
    # a block of acceleration 8.774331 (0.5 - mu) slides; above 0.5 it creeps below the stiction speed
    awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "block.vx_m/s") v = i }
        NR > 1 { want = $2 < 0.5 ? 8.774331 * (0.5 - $2) * 0.1 : 0; off = $v - want
                 if (off < -1e-5 || off > ($2 < 0.45 ? 4e-3 : 1.5e-2)) { print $1, $v, want; bad = 1 } else n++ }
        END { exit bad || n != 64 }' "$TMP/whole/table.tsv"
}

@test "GNU parallel: a run that fails is named, the others are there, and only that one is tried again" {
    skip_without_program parallel
    sed -i 's/^mu03.*/mu03\tslippery/' "$few"
    export UNTIL=0.05 JOBS=2 CASES=$few OUT=$TMP/out
    exits 1 pipelines/examples/sweep.sh
    says "1 of the runs failed"
    says "sweep_table: 1 not finished: mu03"
    [ "$(ls "$OUT"/*.abut | wc -l)" -eq 5 ]
    [ "$(awk 'NR > 1 && $7 != 0' "$OUT/joblog" | wc -l)" -eq 1 ]
    sed -i 's/^mu03.*/mu03\t0.07/' "$few"
    lines=$(wc -l < "$OUT/joblog")
    pipelines/examples/sweep.sh
    [ "$(wc -l < "$OUT/joblog")" -eq $((lines + 1)) ]
    tail -n 1 "$OUT/joblog" | grep -F ' mu03 0.05'
    [ "$(wc -l < "$OUT/table.tsv")" -eq 7 ]
}

@test "Snakemake: the plan, the table of the same runs one after the other; a killed run goes on; what did not change is not made" {
    skip_without_program snakemake
    for name in mu00 mu01 mu02 mu03 mu04 mu05; do one $name; done
    pipelines/examples/sweep_table "$few" "$TMP/one" > "$TMP/table"
    snake() {
        snakemake -s pipelines/examples/sweep.smk -d "$TMP/work" -j 2 --rerun-incomplete "$@" \
            --config cases="$few" until=0.1 out="$TMP/snake" bin="${PROGRAMS:-$BIN}" > "$TMP/said" 2>&1
    }
    mkdir "$TMP/work"
    ln -s "$ROOT/pipelines" "$TMP/work/pipelines"
    snake -n
    grep -E '^run +6' "$TMP/said"
    killing 60
    PROGRAMS=$TMP/bin exits 1 snake
    [ ! -e "$TMP/snake/table.tsv" ]
    snake
    cmp "$TMP/snake/table.tsv" "$TMP/table"
    snake
    grep 'Nothing to be done' "$TMP/said"
    sed -i 's/^mu04.*/mu04\t0.6/' "$few"
    snake
    [ "$(grep -c '^rule run:' "$TMP/said")" -eq 1 ]
    [ "$(diff "$TMP/snake/table.tsv" "$TMP/table" | grep -c '^<')" -eq 1 ]
}

# a task of the array of 0.1 s of one row, without Slurm
task() {
    SLURM_ARRAY_TASK_ID=$1 SLURM_JOB_ID=9 SLURM_ARRAY_JOB_ID=8 SLURM_SUBMIT_DIR=$ROOT \
        bash pipelines/examples/sweep.sbatch pipelines/examples/slope.yaml "$few" "$TMP/out" "${2:-0.1}"
}

@test "the script of a Slurm array: task i makes row i, or rows of a pack; on USR1 it stops and is queued again" {
    task 2
    [ "$(ls "$TMP/out"/*.abut)" = "$TMP/out/mu01.abut" ]
    PACK=4 task 2
    [ "$(ls "$TMP/out"/*.abut | wc -l)" -eq 3 ]
    [ -e "$TMP/out/mu05.abut" ]
    exits 2 task 8
    says "has no row 8"
    exits 2 bash pipelines/examples/sweep.sbatch
    mkdir "$TMP/path"
    printf '#!/bin/sh\necho "$@" > "%s/queued"\n' "$TMP" > "$TMP/path/scontrol"
    chmod +x "$TMP/path/scontrol"
    PATH=$TMP/path:$PATH
    straight mine 0.01 6
    (export SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_JOB_ID=8 SLURM_SUBMIT_DIR=$ROOT
        exec bash pipelines/examples/sweep.sbatch pipelines/examples/slope.yaml "$few" "$TMP/out" 6) & batch=$!
    for _ in $(seq 500); do [ -s "$TMP/out/mu00.run.part" ] && break; sleep 0.01; done
    kill -USR1 $batch
    wait $batch
    [ "$(cat "$TMP/queued")" = "requeue 8_1" ]
    [ ! -e "$TMP/out/mu00.abut" ]
    task 1 6
    cmp "$TMP/mine" "$TMP/out/mu00.abut"
}

# Slurm's daemons on the loopback address, for this test alone: a cluster of one machine with two processors
slurm() {
    local program
    for program in munged slurmctld slurmd sbatch; do skip_without_program $program; done
    [ "$(id -u)" -eq 0 ] || skip "Slurm's daemons want root"
    mkdir -p "$TMP/state" "$TMP/spool"
    (umask 077; head -c 1024 /dev/urandom > "$TMP/key")
    port=$((20000 + $$ % 20000))
    cat > "$TMP/slurm.conf" <<C
ClusterName=loopback
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$TMP/munge.socket
StateSaveLocation=$TMP/state
SlurmdSpoolDir=$TMP/spool
SlurmctldPidFile=$TMP/slurmctld.pid
SlurmdPidFile=$TMP/slurmd.pid
SlurmctldLogFile=$TMP/slurmctld.log
SlurmdLogFile=$TMP/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,sched_min_interval=0
KillWait=5
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
C
    export SLURM_CONF=$TMP/slurm.conf
    munged --force --key-file="$TMP/key" --socket="$TMP/munge.socket" --pid-file="$TMP/munged.pid" --log-file="$TMP/munged.log" \
        --seed-file="$TMP/munged.seed" || skip "munged does not start here"
    slurmctld -c 2> "$TMP/said" && slurmd -N localhost 2>> "$TMP/said" || skip "Slurm's daemons do not start here: $(tail -n 1 "$TMP/said")"
    for _ in $(seq 100); do [ "$(sinfo -h -o %T 2> /dev/null)" != idle ] || return 0; sleep 0.1; done
    skip "Slurm's node does not come up: $(tail -n 1 "$TMP/slurmd.log")"
}

@test "a Slurm array makes the runs, and a task that depends on it the table; a killed task goes on" {
    slurm
    for name in mu00 mu01 mu02 mu03 mu04 mu05; do one $name; done
    array() {
        sbatch --parsable --mem=100M --array=1-6 --output="$TMP/task-%a.log" \
            pipelines/examples/sweep.sbatch pipelines/examples/slope.yaml "$few" "$TMP/slurm" 0.1
    }
    table() {
        sbatch --parsable --mem=100M --dependency="afterany:$1" --output="$TMP/$2" --error="$TMP/error" pipelines/examples/sweep_table "$few" "$TMP/slurm"
    }
    ended() { for _ in $(seq 300); do [ -n "$(squeue -h)" ] || return 0; sleep 0.1; done; squeue; return 1; }
    killing 60
    id=$(BIN=$TMP/bin array)
    table "$id" first
    ended
    grep -F '1 not finished: ' "$TMP/error"
    [ "$(ls "$TMP"/slurm/*.abut | wc -l)" -eq 5 ]
    id=$(array)
    table "$id" second
    ended
    pipelines/examples/sweep_table "$few" "$TMP/one" | cmp - "$TMP/second"
    for f in "$TMP"/one/*.abut; do cmp "$f" "$TMP/slurm/${f##*/}"; done
}
