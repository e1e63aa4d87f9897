/* Components of a pattern against a walk over its graph. */
#include "base/rng.h"
#include "solve/nodal/nodal.h"

#include "check.h"

enum { ROWS = 60 };

/* Everything that is connected with row i, by passing labels on until none changes. */
static void labels(uint8_t joined[ROWS][ROWS], int32_t of[ROWS])
{
    int changed = 1;
    for (int32_t i = 0; i < ROWS; i++) of[i] = i;
    while (changed) {
        changed = 0;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++)
                if (joined[i][j] && of[j] < of[i]) of[i] = of[j], changed = 1;
    }
}

TEST(components_are_what_is_connected_and_wake_as_a_whole)
{
    abut_components c = { 0 };
    abut_rng r = { 4 };
    size_t several = 0;
    for (int trial = 0; trial < 40; trial++) {
        uint8_t joined[ROWS][ROWS] = { { 0 } };
        int32_t entry[4 * ROWS], of[ROWS];
        int edges = 20 + trial;
        for (int k = 0; k < edges; k++) {
            const int32_t a = (int32_t)abut_rng_below(&r, ROWS), b = (int32_t)abut_rng_below(&r, ROWS);
            joined[a][b] = joined[b][a] = 1;
            memcpy(entry + 2 * k, (int32_t[]){ a, b == a ? -1 : b }, 2 * sizeof *entry);
        }
        abut_bsr A = { 0 };
        const abut_elements set = { .corners = 2, .n = (size_t)edges, .row = entry };
        CHECK(!abut_bsr_pattern(&A, ROWS, &set, 1, NULL));
        CHECK(!abut_components_find(&c, &A, ROWS + 5, NULL));
        labels(joined, of);
        CHECK(!memcmp(of, c.of, sizeof of));
        CHECK(c.awake.n == 0);

        /* five nodes do not move; two rows wake */
        int32_t node_row[ROWS + 5];
        for (int i = 0; i < ROWS + 5; i++) node_row[i] = i % 13 == 7 ? -1 : i - (i + 5) / 13;
        const int32_t a = (int32_t)abut_rng_below(&r, ROWS), b = (int32_t)abut_rng_below(&r, ROWS);
        abut_components_wake(&c, a);
        abut_components_list(&c, node_row, ROWS + 5);
        abut_components_wake(&c, b);
        abut_components_list(&c, node_row, ROWS + 5);
        int32_t n = 0;
        for (int i = 0; i < ROWS + 5; i++) {
            const int32_t at = node_row[i];
            const int awake = at >= 0 && (of[at] == of[a] || of[at] == of[b]);
            if (awake) CHECK(n < c.awake.n && c.awake.node[n] == i);
            if (at >= 0) CHECK(c.wanted[at] == awake);
            n += awake;
        }
        CHECK(n == c.awake.n);
        several += of[a] != of[b];
        abut_bsr_clear(&A);
    }
    CHECK(several > 5);
    abut_components_clear(&c);
}
