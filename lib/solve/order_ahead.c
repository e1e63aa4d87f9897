#include "solve/order_ahead.h"

#include "base/par.h"
#include "part/graph.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct abut_order_ahead {
    pthread_t thread;
    int runs;               /* it has not been waited for */
    int all_threads;        /* of the program's regions, before and after */
    int lets_term;          /* SIGTERM was not blocked */
    int32_t nv, nrow;
    int32_t *node_row, *tet_row;
    abut_elems *set;
    int nsets, threads;
    /* the answer */
    abut_bsr A;
    int32_t *perm;
    abut_chol *chol;
    abut_status rc;
    abut_err err;
};

static void *run(void *of)
{
    abut_order_ahead *job = of;
    abut_threads_set(1);    /* of regions of this thread */
    job->rc = abut_bsr_pattern(&job->A, job->nrow, job->set, job->nsets, &job->err);
    if (!job->rc) job->rc = abut_graph_order(&job->A, job->perm, &job->err);
    if (!job->rc) job->rc = abut_chol_new(&job->chol, &job->A, job->perm, job->threads, &job->err);
    return NULL;
}

/* In all threads of the program's regions. */
static void mask_term(int how)
{
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    #pragma omp parallel
    pthread_sigmask(how, &term, NULL);
}

static int term_is_let(void)
{
    sigset_t now;
    return !pthread_sigmask(SIG_BLOCK, NULL, &now) && !sigismember(&now, SIGTERM);
}

abut_status abut_order_ahead_begin(abut_order_ahead **out, int32_t nv, const int32_t *node_row, int32_t nrow, int32_t nt,
                                   const int32_t *tet, int nsets, int threads, abut_err *err)
{
    const size_t corners = 4 * (size_t)nt;
    abut_order_ahead *job = *out = calloc(1, sizeof *job);
    if (!job) return abut_fail(err, ABUT_E_NOMEM, "ordering ahead: out of memory");
    *job = (abut_order_ahead){ .all_threads = abut_threads(), .nv = nv, .nrow = nrow, .nsets = nsets, .threads = threads };
    job->node_row = malloc(((size_t)nv + 1) * sizeof *job->node_row);
    job->tet_row = malloc((corners + 1) * sizeof *job->tet_row);
    job->set = calloc((size_t)nsets + 1, sizeof *job->set);
    job->perm = malloc(((size_t)nrow + 1) * sizeof *job->perm);
    if (!job->node_row || !job->tet_row || !job->set || !job->perm) {
        abut_order_ahead_free(out);
        return abut_fail(err, ABUT_E_NOMEM, "ordering ahead: %d nodes, %d tets", nv, nt);
    }
    memcpy(job->node_row, node_row, (size_t)nv * sizeof *node_row);
    for (size_t i = 0; i < corners; i++) job->tet_row[i] = node_row[tet[i]];
    job->set[0] = (abut_elems){ (size_t)nt, job->tet_row, NULL };

    job->lets_term = term_is_let();
    if (job->lets_term) mask_term(SIG_BLOCK);
    job->runs = !pthread_create(&job->thread, NULL, run, job);
    if (job->runs) {
        abut_threads_set(job->all_threads > 1 ? job->all_threads - 1 : 1);
        return ABUT_OK;
    }
    if (job->lets_term) mask_term(SIG_UNBLOCK);
    abut_order_ahead_free(out);
    return abut_fail(err, ABUT_E_IO, "ordering ahead: its thread cannot be started");
}

int abut_order_ahead_serves(const abut_order_ahead *job, int32_t nv, const int32_t *node_row, int32_t nrow)
{
    return job->nv == nv && job->nrow == nrow && !memcmp(job->node_row, node_row, (size_t)nv * sizeof *node_row);
}

void abut_order_ahead_wait(abut_order_ahead *job)
{
    if (!job || !job->runs) return;
    pthread_join(job->thread, NULL);
    job->runs = 0;
    abut_threads_set(job->all_threads);
    if (job->lets_term) mask_term(SIG_UNBLOCK);
}

abut_status abut_order_ahead_take(abut_order_ahead *job, abut_bsr *A, int32_t *perm, abut_chol **chol, abut_err *err)
{
    abut_order_ahead_wait(job);
    if (job->rc) {
        if (err) *err = job->err;
        return job->rc;
    }
    abut_bsr_clear(A);
    *A = job->A;
    job->A = (abut_bsr){ 0 };
    memcpy(perm, job->perm, (size_t)job->nrow * sizeof *perm);
    abut_chol_free(chol);
    *chol = job->chol;
    job->chol = NULL;
    return ABUT_OK;
}

void abut_order_ahead_free(abut_order_ahead **out)
{
    abut_order_ahead *job = *out;
    if (!job) return;
    abut_order_ahead_wait(job);
    free(job->node_row);
    free(job->tet_row);
    free(job->set);
    free(job->perm);
    abut_bsr_clear(&job->A);
    abut_chol_free(&job->chol);
    free(job);
    *out = NULL;
}
