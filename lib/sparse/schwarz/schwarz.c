#include "sparse/schwarz/schwarz.h"

#include "sparse/schwarz/coarse_space.h"
#include "sparse/schwarz/subdomains.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 2 };        /* of a part, that move as rigid bodies in the coarse space */

struct abut_schwarz {
    int32_t n, k;
    size_t nnz;
    abut_subdomains *dom;       /* the parts */
    abut_coarse_space *coarse;  /* the rigid motions of their pieces */
    double *x, *rest;           /* [3 n] */
};

void abut_schwarz_free(abut_schwarz **out)
{
    abut_schwarz *s = *out;
    if (!s) return;
    abut_subdomains_free(&s->dom);
    abut_coarse_space_free(&s->coarse);
    free(s->x);
    free(s->rest);
    free(s);
    *out = NULL;
}

/* Each part in pieces of rows that follow each other. */
static abut_status analyse_coarse(abut_schwarz *s, const abut_bsr *A, const abut_strong_parts *parts, abut_err *err)
{
    int32_t *first = malloc(((size_t)s->k * PIECES + 1) * sizeof *first), pieces = 0;
    if (!first) return abut_fail(err, ABUT_E_NOMEM, "pieces of %d parts", s->k);
    for (int32_t p = 0; p < s->k; p++) {
        const int32_t at = parts->first[p], rows = parts->first[p + 1] - at, n = rows < PIECES ? rows : PIECES;
        for (int32_t i = 0; i < n; i++) first[pieces++] = at + (int32_t)((int64_t)rows * i / n);
    }
    first[pieces] = s->n;
    const abut_status rc = abut_coarse_space_analyse(&s->coarse, &(abut_operator){ .matrix = A }, pieces, first, parts->row, err);
    free(first);
    return rc;
}

static abut_status place(abut_schwarz *s, int32_t n, const double *x, abut_err *err)
{
    const size_t bytes = 3 * (size_t)n * sizeof *x;
    if (s->n != n) {
        free(s->x);
        free(s->rest);
        s->x = malloc(bytes);
        s->rest = malloc(bytes);
    }
    s->n = n;
    if (!s->x || !s->rest) return abut_fail(err, ABUT_E_NOMEM, "Schwarz preconditioner: %d rows", n);
    memcpy(s->x, x, bytes);
    return ABUT_OK;
}

abut_status abut_schwarz_analyse(abut_schwarz **out, const abut_bsr *A, const abut_strong_parts *parts, const double *x,
                                 abut_err *err)
{
    assert(A && parts);
    if (*out && (*out)->k != parts->k) abut_schwarz_free(out);
    if (parts->k < 1 || parts->n != A->n)
        return abut_schwarz_free(out), abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: %d parts of %d rows, want %d rows",
                                                 parts->k, parts->n, A->n);
    abut_schwarz *s = *out ? *out : calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "Schwarz preconditioner: out of memory");
    *out = s;
    s->k = parts->k;
    s->nnz = A->nnz;
    abut_status rc = place(s, A->n, x, err);
    if (!rc) rc = abut_subdomains_analyse(&s->dom, A, s->k, parts->first, parts->row, err);
    if (!rc) rc = analyse_coarse(s, A, parts, err);
    if (rc) abut_wrap(err, "Schwarz preconditioner"), abut_schwarz_free(out);
    return rc;
}

abut_status abut_schwarz_factor(abut_schwarz *s, const abut_bsr *A, abut_err *err)
{
    if (A->n != s->n || A->nnz != s->nnz)
        return abut_fail(err, ABUT_E_ARG, "Schwarz preconditioner: matrix of %d rows, %zu blocks; %d, %zu were analysed", A->n,
                         A->nnz, s->n, s->nnz);
    abut_status rc = abut_subdomains_factor(s->dom, A, ABUT_SINGLE, err);
    if (rc) return abut_wrap(err, "Schwarz preconditioner"), rc;
    rc = abut_coarse_space_factor(s->coarse, &(abut_operator){ .matrix = A }, s->x, err);
    return rc ? abut_wrap(err, "Schwarz preconditioner, coarse matrix"), rc : ABUT_OK;
}

static abut_status apply(void *of, const double *r, double *z, abut_err *err)
{
    abut_schwarz *s = of;
    memset(z, 0, 3 * (size_t)s->n * sizeof *z);
    abut_status rc = abut_coarse_space_project(s->coarse, r, s->rest, err);
    if (!rc) rc = abut_subdomains_add(s->dom, ABUT_JOIN_SUM, s->rest, z, err);
    return rc ? rc : abut_coarse_space_correct(s->coarse, r, z, err);
}

abut_precond abut_schwarz_precond(abut_schwarz *s)
{
    return (abut_precond){ apply, s, s->n };
}

abut_schwarz_stats abut_schwarz_get_stats(const abut_schwarz *s)
{
    const abut_coarse_space_stats c = abut_coarse_space_get_stats(s->coarse);
    const abut_subdomains_stats d = abut_subdomains_get_stats(s->dom);
    return (abut_schwarz_stats){ .parts = s->k, .largest = d.largest, .factor_nnz = c.factor_nnz + d.factor_nnz,
                                 .factor_flops = c.factor_flops + d.factor_flops, .bytes = c.bytes + d.bytes };
}
