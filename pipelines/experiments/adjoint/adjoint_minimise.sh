# Sourced by the scripts that minimise a loss of runs by its derivatives.  Such a script has
#     name                  of the example
#     unknowns              prints a line for each unknown: value to start with, size, lowest, highest
#     run FILE [FRAMES]     prints the stream of a run with the unknowns in FILE, a number a line; exit 9 where there is none
#     derivatives           reads the table of `adjoint --csv -` of "$by", prints the loss and its derivatives by the unknowns
#     prepare               makes "$out"/target.csv
# and sets most (evaluations), enough (loss), level (of the largest derivative over the first), change (sizes that an unknown moves
# in an iteration at most), and perhaps stages: numbers of steps, one descent after the other.
#
# minimise: goes down by awk and, where PYTHON has scipy, by that.  In "$out": awk.tsv, scipy.tsv (a line for each evaluation), the
# unknowns in start.txt and awk.txt, scipy.txt; with PICTURES=1 pictures of the first run and of the best in start.png and end.png.
# The script called with `evaluate FILE` prints the loss and its derivatives.

# the loss and its derivatives of the unknowns in file $1
evaluate() {
    local rc=0
    run "$1" >"$1.abut" 2>"$1.err" || rc=$?
    [ $rc != 9 ] || { echo inf; return; }
    [ $rc = 0 ] || { cat "$1.err" >&2; return $rc; }
    # shellcheck disable=SC2086     # patterns are words
    "$bin"/adjoint -q -j 1 --error none --target "${TARGET:-$out/target.csv}" --csv - $by "$1.abut" | derivatives
}

# the run of file $1 judged, and its pictures $2.png; options of picture
portray() {
    STEPS=$steps run "$1" "${show:-}" | "$bin"/ccd-check -q -o "$out/$2.abut"
    [ "${PICTURES:-0}" = 0 ] || [ ! -x "$bin/picture" ] || "$bin"/picture -q "$out/$2.abut" --strip "$out/$2.png" "${@:3}"
}

# targets STREAM OBJECT FRAME...: the nodes of the first object, OBJECT, in these frames as targets: a table for adjoint
targets() {
    local at
    at=$(mktemp -d)
    "$bin"/export -q "$1" --nodes "$at"
    echo step,node,x,y,z
    for n in "${@:3}"; do
        awk -F, -v n="$n" -v of="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["object"] == of { printf "%d,%d,%s,%s,%s\n", n, $at["node"], $at["x_m"], $at["y_m"], $at["z_m"] }' "$at/nodes_$(printf %04d "$n").csv"
    done
    rm -rf "$at"
}

# descend awk|scipy ASK UNKNOWNS: lines of the descent added to "$out/$1.tsv", the best unknowns in "$out/$1.txt"
descend() {
    case $1 in
    awk) awk -v ask="$2" -v at="$out/at" -v best="$out/awk.txt" -v most="$most" -v enough="$enough" -v level="$level" \
            -v change="$change" -f pipelines/experiments/adjoint/adjoint_descend.awk "$3" ;;
    scipy) "$python" pipelines/experiments/adjoint/adjoint_scipy.py "$2" "$out/at" "$out/scipy.txt" "$most" "$enough" "$level" "$3" ;;
    esac >>"$out/$1.tsv"
}

minimise() {
    local me=$1 w=awk n; shift
    if [ "${1:-}" = evaluate ]; then evaluate "$2"; return; fi
    most=${MOST:-$most} python=${PYTHON:-/usr/bin/python3}
    mkdir -p "$out"
    rm -f "$out"/*.tsv
    export BIN=$bin OUT=$out STEPS TARGET
    prepare
    unknowns >"$out/unknowns.txt"
    awk '{ print $1 }' "$out/unknowns.txt" >"$out/start.txt"
    if [ "$python" != none ] && "$python" -c 'import scipy' 2>/dev/null; then w="awk scipy"; fi
    for w in $w; do
        cp "$out/unknowns.txt" "$out/next.txt"
        for STEPS in ${stages:-$steps}; do
            TARGET=$out/target.csv
            [ -z "${stages:-}" ] || { TARGET=$out/target-$STEPS.csv; awk -F, -v n="$STEPS" 'NR == 1 || $1 <= n' "$out/target.csv" >"$TARGET"; }
            descend "$w" "$me evaluate $out/at" "$out/next.txt"
            paste -d' ' "$out/$w.txt" <(cut -d' ' -f2- "$out/unknowns.txt") >"$out/next.txt"
        done
        awk -v n="$name" -v w="$w" 'NR == 1 { first = $3 } { L = NR == 1 || $2 == 0 || $3 + 0 < L ? $3 + 0 : L }
            END { printf "%s: %s: loss %.4g -> %.4g, %d evaluations\n", n, w, first, L, NR }' "$out/$w.tsv"
    done
    rm -f "$out"/at "$out"/at.* "$out/next.txt"
}
