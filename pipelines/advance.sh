# Sourced by the scripts that run many scenes: steps a stream as far as its processor time goes, measures its reports, and keeps
# the rows of a table.  Wants $bin, $budget (seconds of processor time for a scene); for tables $table, $list, and a function
# `head_of_table` that writes what stands above the rows.

declare -a step_options=()      # more options of step, for `advance`

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

# Steps $1.abut until its $2 steps are made or the budget is spent, in pieces of at most twice the steps before, and of no
# more than what is left seems to allow; says how it ended.
advance() {
    local run=$1 all=$2 made=0 piece=1 spent=0 rc=0 cut=
    : > "$run.jsonl"
    while ((made < all)); do
        ((piece <= all - made)) || piece=$((all - made))
        rc=0
        (ulimit -t $((budget - spent + 1))
            exec nice -n "${NICE:-15}" "$bin/step" -q -j 1 -n "$piece" "${step_options[@]}" --report "$run.piece" "$run.abut" -o "$run.next") 2>> "$run.log" || rc=$?
        ((rc < 128)) || { cut=1; rm -f "$run.next.part"; break; }
        cat "$run.piece" >> "$run.jsonl"
        ((rc == 0)) || { echo "step ends with status $rc: $(grep -v 'part keeps' "$run.log" | tail -n 1 | sed 's/^step: //; s/;.*//' | tr '|' ',')"; return; }
        mv "$run.next" "$run.abut"
        made=$((made + piece))
        spent=$(measures "$run.jsonl" | awk '{ printf "%d", $6 }')
        ((spent < budget)) || break
        piece=$(awk -v n=$((2 * piece)) -v left=$((budget - spent)) -v piece="$run.piece" \
            'BEGIN { while ((getline < piece) > 0) { match($0, /"cpu_seconds":[0-9.e-]+/); c += substr($0, RSTART + 14, RLENGTH - 14); k++ }
                     m = c > 0 ? int(0.7 * left * k / c) : n; if (m < n) n = m; print n < 1 ? 1 : n }')
    done
    ((made)) || { echo "no step within $budget s"; return; }
    local said rest=""
    if [ -n "$cut" ]; then rest="; the next $piece steps take more than the $((budget - spent)) s that were left"
    elif ((made < all)); then rest="; the rest would take about $(awk -v n=$((all - made)) 'match($0, /"cpu_seconds":[0-9.e-]+/) {
        c = substr($0, RSTART + 14, RLENGTH - 14) } END { printf "%.2g", n * c }' "$run.piece") s"
    fi
    said=$(nice -n "${NICE:-15}" "$bin/ccd-check" -q -j 1 --no-output "$run.abut" 2>> "$run.log" && echo clean || tail -n 1 "$run.log" | tr '|' ',')
    echo "$said$rest"
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
