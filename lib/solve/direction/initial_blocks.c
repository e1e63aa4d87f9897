/* The Newton matrix on disjoint sets of nodes, in single precision, as an initial matrix: block Jacobi.  Entries between
 * different sets are dropped. */
#include "solve/direction/initial.h"

#include "graph/graph.h"
#include "sparse/schwarz/subdomains.h"

#include <stdlib.h>
#include <string.h>

#define NODES_PER_PART 1500     /* if the options give no number of parts */

typedef struct blocks {
    abut_subdomains *domains;
    int parts;              /* wanted; 0: by the number of nodes */
} blocks;

static abut_status make(void **self, const abut_direction_options *opt, abut_err *err)
{
    blocks *b = *self = calloc(1, sizeof(blocks));
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "initial matrix");
    b->parts = opt->parts;
    return ABUT_OK;
}

/* The rows of A cut along few blocks: set j is row[first[j] .. first[j+1]), ascending; first[k + 2], part[n] is scratch. */
static abut_status cut_rows(const abut_bsr *A, int32_t k, int32_t *first, int32_t *row, int32_t *part, abut_err *err)
{
    const abut_status rc = abut_graph_cut(abut_bsr_graph(A), NULL, k, part, err);
    if (rc) return rc;
    for (int32_t i = 0; i < A->n; i++) first[part[i] + 2]++;
    for (int32_t j = 0; j < k; j++) first[j + 1] += first[j];
    for (int32_t i = 0; i < A->n; i++) row[first[part[i] + 1]++] = i;
    return ABUT_OK;
}

static abut_status factor(void *self, const abut_initial_at *at, abut_report *rep, abut_err *err)
{
    (void)rep;
    blocks *b = self;
    const abut_bsr *A = &at->matrix->A;
    const int32_t want = b->parts ? b->parts : (A->n + NODES_PER_PART - 1) / NODES_PER_PART;
    const int32_t k = want < 1 ? 1 : want < A->n ? want : A->n;
    int32_t *first = calloc((size_t)k + 2, sizeof *first), *row = malloc(((size_t)A->n + 1) * sizeof *row),
            *part = malloc(((size_t)A->n + 1) * sizeof *part);
    abut_status rc = first && row && part ? cut_rows(A, k, first, row, part, err)
                                          : abut_fail(err, ABUT_E_NOMEM, "initial matrix: %d unknowns", 3 * A->n);
    if (!rc) rc = abut_subdomains_analyse(&b->domains, A, k, first, row, err);
    if (!rc) rc = abut_subdomains_factor(b->domains, A, ABUT_SINGLE, err);
    free(first);
    free(row);
    free(part);
    return rc;
}

static abut_status apply(void *self, const double *r, double *z, abut_err *err)
{
    const blocks *b = self;
    memset(z, 0, 3 * (size_t)abut_subdomains_rows(b->domains) * sizeof *z);
    return abut_subdomains_add(b->domains, ABUT_JOIN_SUM, r, z, err);
}

static abut_precond precond(void *self, int symmetric)
{
    (void)symmetric;
    return (abut_precond){ apply, self, abut_subdomains_rows(((blocks *)self)->domains) };
}

static void stats(const void *self, abut_report *rep)
{
    const abut_subdomains_stats c = abut_subdomains_get_stats(((const blocks *)self)->domains);
    rep->factor_nnz = c.factor_nnz, rep->factor_flops = c.factor_flops, rep->factor_bytes = (double)c.bytes;
}

static void release(void *self)
{
    abut_subdomains_free(&((blocks *)self)->domains);
    free(self);
}

const abut_initial_ops abut_initial_blocks = { .needs = ABUT_NEEDS_MATRIX, .make = make, .factor = factor, .precond = precond,
                                               .stats = stats, .free = release };
