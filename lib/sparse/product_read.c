#include "sparse/product_parts.h"

#include "base/par.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 32 };   /* made side by side, then read */

/* Elements of a set, packed, some chunks at a time; buffer[CHUNKS * ABUT_ELEMENTS_ROOM]. */
static void read_packed(const set_corners *c, const abut_elements *e, const abut_operator_reader *to, double *buffer)
{
    const size_t each = abut_elements_at_once(e), size = abut_packed_size(e->corners), corners = (size_t)e->corners;
    for (size_t lo = 0; lo < e->n; lo += CHUNKS * each) {
        const size_t most = e->n - lo, n = most < CHUNKS * each ? most : CHUNKS * each, chunks = (n + each - 1) / each;
        #pragma omp parallel for schedule(dynamic, 1) if (n >= ABUT_PAR_MIN / 4)
        for (size_t i = 0; i < chunks; i++) {
            double room[ABUT_ELEMENTS_ROOM] __attribute__((aligned(64)));
            const size_t from = lo + i * each, past = from + each < lo + n ? from + each : lo + n;
            const double *H = abut_elements_packed(e, from, past, room);
            memcpy(buffer + i * each * size, H, (past - from) * size * sizeof *H);
        }
        to->elements(to->ctx, &(abut_operator_elements){ .corners = e->corners, .n = n, .row = c->row + corners * lo,
                                                         .val = buffer, .map = c->map });
    }
}

abut_status abut_product_read(abut_product *p, int values, const abut_operator_reader *to, abut_err *err)
{
    double *buffer = values ? malloc((size_t)CHUNKS * ABUT_ELEMENTS_ROOM * sizeof *buffer) : NULL;
    if (values && !buffer) return abut_fail(err, ABUT_E_NOMEM, "product: room for element matrices");
    if (p->diag && values) to->diagonal(to->ctx, p->diag);
    if (p->summed) to->matrix(to->ctx, &p->S);
    for (int s = p->summed; s < p->nsets; s++) {
        const set_corners *c = &p->set[s];
        const abut_elements *e = &p->elements[s];
        if (!e->n) continue;
        if (values && !e->val) read_packed(c, e, to, buffer);
        else to->elements(to->ctx, &(abut_operator_elements){ .corners = e->corners, .rank = values ? e->rank : 0, .n = e->n,
                                                              .row = c->row, .val = values ? e->val : NULL, .map = c->map });
    }
    free(buffer);
    return ABUT_OK;
}
