#!/usr/bin/env bats
# Small scenes against closed forms, each judged by ccd-check (truth.py).
load ../../../tests/tools/helpers

truth() { BIN=$BIN OUT=$TMP/out TABLE=$TMP/table.md /usr/bin/python3 "$ROOT/pipelines/experiments/truth/truth.py" "$@"; }

@test "truth: a block stops where it has to, and creeps by eps_v" {
    truth stop eps_v
    [ "$(grep -c '^| stop\|^| eps_v' "$TMP/table.md")" -eq 5 ]
}
@test "truth: a column is straight below Euler's load and the elastica above; a rod hangs as a catenary" {
    truth column catenary
    [ "$(grep -c '^| column\|^| catenary' "$TMP/table.md")" -eq 6 ]
}
@test "truth: a bar resists torsion as Saint-Venant says" {
    truth torsion
}
# bats test_tags=slow
@test "truth: a ball that slides ends up rolling at 5/7 of its speed" {
    truth roll
}
@test "truth: gaps are within dhat, and schemes have their order with contact" {
    truth dhat order
}
@test "truth: a number that is off ends with status 1 and is named; so does a case that is unknown" {
    mkdir -p fake/pipelines/experiments/truth fake/formats
    sed 's/1 \/ (2 \* mu \* 9.81)/1.1 \/ (2 * mu * 9.81)/' "$ROOT/pipelines/experiments/truth/truth.py" > fake/pipelines/experiments/truth/truth.py
    ln -s "$ROOT/formats/python" fake/formats/python
    exits 1 env BIN="$BIN" OUT="$TMP/out" /usr/bin/python3 fake/pipelines/experiments/truth/truth.py stop
    says "truth: stop, mu 0.5: distance, m is 0.1009"
    exits 1 truth nothing
    says "no case 'nothing'"
}
