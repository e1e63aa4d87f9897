# Sourced by the scripts that run many scenes: prepares a stream, steps it as far as its processor time goes, measures its reports,
# and keeps the rows of a table.  Wants $bin, $budget (seconds of processor time for a scene); for tables $table, $list, and a
# function `head_of_table` that writes what stands above the rows.
#   RESUME=1    a run that is in its place goes on to $budget seconds in all, if this `step` and this scene have begun it

declare -a step_options=()      # more options of step, for `prepare` and `advance`

# What a run depends on: checksums of the programs and of the files among the arguments, the arguments, the options of step.
made_by() {
    local a
    for a in "$bin/mesh-prep" "$bin/step" "$@"; do [ ! -f "$a" ] || cksum < "$a"; done
    echo "$*" -- "${step_options[*]}"
}

# Makes $1.abut of the arguments of mesh-prep that follow, $1.log of its messages, and no report yet; status 1 where they are refused.
# With RESUME=1 a run that goes on stays as it is, with what an interrupted piece of it has made.
prepare() {
    local run=$1 by
    shift
    by=$(made_by "$@")
    if [ -n "${RESUME:-}" ] && [ -e "$run.abut" ] && [ -e "$run.jsonl" ]; then
        if [ "$by" = "$(cat "$run.by" 2> /dev/null)" ]; then
            salvage_piece "$run"
            return 0
        fi
        echo "$run: begins again, other programs or another scene have made what is there" >&2
    fi
    rm -f "$run.by"
    nice -n "${NICE:-15}" "$bin/mesh-prep" --explain -j 1 "$@" -o "$run.abut" 2> "$run.log" || return 1
    rm -f "$run.next.part"
    : > "$run.jsonl"
    echo "$by" > "$run.by"
}

# Steps that the scene of $1.log asks for.
steps_asked() { awk '$1 == "time" && $2 == "step" { h = $3 } $1 == "end" { e = $2 } END { printf "%.0f", e / h }' "$1.log"; }

# $1 reports: steps, Newton iterations per step, contacts (mean and most), seconds of processor time per step
measures() {
    awk 'function value(key, n) {
             n = length(key) + 3
             return match($0, "\"" key "\":[-0-9.e+]+") ? substr($0, RSTART + n, RLENGTH - n) + 0 : 0
         }
         { its += value("newton_iterations"); cpu += value("cpu_seconds")
           c = value("contacts") + value("half_space_contacts"); sum += c; if (c > most) most = c }
         END { if (NR) printf "%d %.2f %.0f %d %.3g %.1f\n", NR, its / NR, sum / NR, most, cpu / NR, cpu; else print "0 - - - - 0" }' "$1"
}

# What a piece that has ended early has made: its whole frames become $1.abut, and its reports of those steps are kept.
salvage_piece() {
    local run=$1 last
    [ -e "$run.next.part" ] || return 0
    # a file that is cut before its first frame has nothing to keep: salvage says so in the log
    last=$({ "$bin/salvage" "$run.next.part" -o "$run.next" 2>&1 || :; } | tee -a "$run.log" |
        sed -n 's/.*the last one step \([0-9]*\).*/\1/p')
    rm -f "$run.next.part"
    [ -n "$last" ] || return 0
    awk -v last="$last" 'match($0, /"step":[0-9]+/) && substr($0, RSTART + 7, RLENGTH - 7) + 0 <= last' "$run.piece" >> "$run.jsonl"
    mv "$run.next" "$run.abut"
}

# Whether every frame of $1.abut is clean, in a word, or what is not.
judged() {
    nice -n "${NICE:-15}" "$bin/ccd-check" -q -j 1 --no-output "$1.abut" 2>> "$1.log" && echo clean || tail -n 1 "$1.log" | tr '|' ','
}

# Of a run that the budget has cut off: what its next step has taken without an end, where that is more than ten times what the last
# one took; otherwise nothing.
stalled() {
    awk -v budget="$budget" 'match($0, /"cpu_seconds":[0-9.e-]+/) { c = substr($0, RSTART + 14, RLENGTH - 14); sum += c }
        END { if (budget - sum > 10 * c) printf "step %d takes more than %.0f s", NR + 1, budget - sum }' "$1.jsonl"
}

# Steps $1.abut, whose reports are in $1.jsonl, until its $2 steps are made or the budget is spent, in pieces of at most twice the
# steps before, and of no more than what is left seems to allow; says how it ended.  Whatever the end, all frames there are have
# been judged.
advance() {
    local run=$1 all=$2 made piece=1 spent rc=0 cut= why=
    made=$(measures "$run.jsonl" | awk '{ print $1 }')
    spent=$(measures "$run.jsonl" | awk '{ printf "%d", $6 }')
    while ((made < all && spent < budget)); do
        ((piece <= all - made)) || piece=$((all - made))
        rc=0
        (ulimit -t $((budget - spent + 1))
            exec nice -n "${NICE:-15}" "$bin/step" -q -j 1 -n "$piece" "${step_options[@]}" --report "$run.piece" "$run.abut" -o "$run.next") 2>> "$run.log" || rc=$?
        if ((rc)); then
            why="step ends with status $rc: $(sed '/part keeps/d' "$run.log" | tail -n 1 | sed 's/^step: //; s/;.*//; s/ iterations: none of .*/ iterations/' | tr '|' ',')"
            ((rc != 128 + 24 && rc != 128 + 9)) || cut=1    # SIGXCPU, or SIGKILL after it: the budget is spent
            salvage_piece "$run"
            made=$(measures "$run.jsonl" | awk '{ print $1 }')
            break
        fi
        cat "$run.piece" >> "$run.jsonl"
        mv "$run.next" "$run.abut"
        made=$((made + piece))
        spent=$(measures "$run.jsonl" | awk '{ printf "%d", $6 }')
        piece=$(awk -v n=$((2 * piece)) -v left=$((budget - spent)) -v piece="$run.piece" \
            'BEGIN { while ((getline < piece) > 0) { match($0, /"cpu_seconds":[0-9.e-]+/); c += substr($0, RSTART + 14, RLENGTH - 14); k++ }
                     m = c > 0 ? int(0.7 * left * k / c) : n; if (m < n) n = m; print n < 1 ? 1 : n }')
    done
    if ((made == 0)); then
        if [ -n "$cut" ]; then echo "no step within $budget s"; else echo "${why:-no step}"; fi
        return
    fi
    [ -z "$cut" ] || why=$(stalled "$run")
    if [ -z "$why" ] && ((made < all)); then
        why="the rest would take about $(awk -v n=$((all - made)) 'match($0, /"cpu_seconds":[0-9.e-]+/) {
            c = substr($0, RSTART + 14, RLENGTH - 14) } END { printf "%.2g", n * c }' "$run.jsonl") s"
    fi
    echo "$(judged "$run")${why:+; $why}"
}

# Removes what nobody asks for of the run $1: the stream stays with KEEP=1 or RESUME=1.
tidy() {
    [ -n "${KEEP:-}${RESUME:-}" ] || rm -f "$1.abut" "$1.by"
    rm -f "$1.piece" "$1.next"
}

declare -A rows

# The rows that $table has.
read_rows() {
    local line name
    [ -e "$table" ] || return 0
    while IFS= read -r line; do
        name=${line#| } name=${name%% |*}
        rows[$name]=$line
    done < <(grep '^| [A-Z]' "$table" | grep -v '^| Scene ' || true)
}

# Puts the row $2 of the scene $1 into $table, whose rows are in the order of $list.
replace_row() {
    local name _
    rows[$1]=$2
    echo "$2"
    {
        head_of_table
        while IFS=$'\t' read -r name _; do
            [[ $name == '#'* || -z ${rows[$name]:-} ]] || echo "${rows[$name]}"
        done < "$list"
    } > "$table.part"
    mv "$table.part" "$table"
}

# Whether $1 begins as one of the others does; all do when there are none.
wanted() {
    local prefix
    (($# > 1)) || return 0
    for prefix in "${@:2}"; do [[ $1 != "$prefix"* ]] || return 0; done
    return 1
}
