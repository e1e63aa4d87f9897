/* contact LAYERS CELLS: contact of one Newton iteration on a machine (ABUT_GPU=N: device N, else the twin) beside the
 * processor's: stage, count, milliseconds of the machine, of the processor, whether they found the same bytes.  TSV. */
#include "../unit/projected_barrier.h"
#include "base/par.h"
#include "base/timer.h"
#include "energy/barrier.h"
#include "gpu/touch.h"
#include "tests/unit/machine_open.h"
#include "tests/unit/sheets.h"

#include <stdio.h>

enum { REPEAT = 3 };

typedef struct run {
    sheets s;
    abut_queue q;
    abut_gpu_touch c;
    abut_gpu_contacts set;
    abut_buffer x, p, g, out;
    abut_candidates cand;
    abut_pairs pairs, got;
    abut_arena scratch;
    abut_limit lim, mine;
    double *y1, *grad, *H;
    int32_t *node;
    abut_err err;
} run;

enum { CANDIDATES, CCD, CONTACTS, ENERGY, GRADIENT, HESSIAN, STAGES };
static const char *const names[STAGES] = { "candidates", "ccd", "contacts", "energy", "gradient", "hessian" };

static abut_status on_machine(run *r, int stage)
{
    const double *x = ABUT_AT(r->x, double);
    abut_gpu_blocks b;
    abut_err *err = &r->err;
    switch (stage) {
    case CANDIDATES: return abut_gpu_touch_candidates(&r->c, x, ABUT_AT(r->p, double), 1, r->s.dhat, err);
    case CCD: r->mine = (abut_limit){ .alpha = 1, .tet = -1 }; return abut_gpu_touch_ccd(&r->c, 0.2, &r->mine, err);
    case CONTACTS: return abut_gpu_touch_find(&r->c, x, &r->set, err);
    case ENERGY: return abut_gpu_barrier_energy(&r->c, x, &r->set, 1, ABUT_AT(r->out, double), err);
    case GRADIENT: return abut_gpu_barrier_gradient(&r->c, x, &r->set, 1, ABUT_AT(r->g, double), err);
    default: return abut_gpu_barrier_hessian(&r->c, x, &r->set, 1, &b, err);
    }
}

static abut_status beside(run *r, int stage)
{
    const abut_collmesh *cm = &r->s.cm;
    const double *x = r->s.X;
    abut_err *err = &r->err;
    double e;
    switch (stage) {
    case CANDIDATES: return abut_candidates_find(cm, x, r->y1, r->s.dhat, NULL, &r->cand, err);
    case CCD: r->lim = (abut_limit){ .alpha = 1, .tet = -1 }; return abut_limit_ccd(cm, &r->cand, x, r->y1, 0.2, &r->lim, err);
    case CONTACTS: return abut_pairs_find(cm, &r->cand, x, NULL, &r->pairs, err);
    case ENERGY: return abut_barrier_energy(cm, &r->pairs, x, 1, &e, &r->scratch, err);
    case GRADIENT: return abut_barrier_gradient(cm, &r->pairs, x, 1, r->grad, &r->scratch, err);
    default:
        free(r->H), free(r->node);
        r->H = malloc(ABUT_PACKED * (r->pairs.n + 1) * sizeof *r->H);
        r->node = malloc(4 * (r->pairs.n + 1) * sizeof *r->node);
        if (!r->H || !r->node) return abut_fail(err, ABUT_E_NOMEM, "no memory");
        projected_barrier(cm, &r->pairs, x, 1, r->node, r->H);
        return ABUT_OK;
    }
}

/* 1 the same, 0 not; -1 nothing is compared. */
static int same(run *r, int stage, size_t *n)
{
    int yes = 1;
    *n = r->set.n;
    if (stage == CANDIDATES) {
        *n = abut_gpu_candidates_count(&r->c);
        for (int l = 0; l < ABUT_CANDIDATE_LISTS && yes; l++) {
            const abut_pair_list *list = abut_candidates_list(&r->cand, l);
            const size_t bytes = list->n * sizeof *list->ij;
            void *got = malloc(bytes + 1);
            yes = got && r->c.n[l] == list->n;
            if (yes && bytes) yes = !r->q.on->get(&r->q, got, r->c.list[l].at, bytes, &r->err) && !memcmp(got, list->ij, bytes);
            free(got);
        }
        return yes;
    }
    if (stage == CCD) {
        *n = abut_gpu_candidates_count(&r->c);
        return !memcmp(&r->lim.alpha, &r->mine.alpha, sizeof(double)) && r->lim.kind == r->mine.kind;
    }
    if (stage != CONTACTS) return -1;
    const abut_pairs *a = &r->pairs, *b = &r->got;
    if (abut_gpu_contacts_get(&r->q, &r->set, &r->got, &r->err) || a->n != b->n || a->n_plain != b->n_plain) return 0;
    return !a->n || (!memcmp(a->vert, b->vert, a->n * sizeof *a->vert) && !memcmp(a->dist2, b->dist2, a->n * sizeof *a->dist2) &&
                     !memcmp(a->mult, b->mult, a->n * sizeof *a->mult) && !memcmp(a->kind, b->kind, a->n));
}

static abut_status stages(run *r)
{
    abut_status rc = ABUT_OK;
    for (int stage = 0; stage < STAGES && !rc; stage++) {
        double ms[2] = { INFINITY, INFINITY };
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < REPEAT && !rc; k++) {
                const double t = abut_time_wall();
                rc = side ? beside(r, stage) : on_machine(r, stage);
                if (!rc && !side) rc = r->q.on->wait(&r->q, &r->err);
                ms[side] = fmin(ms[side], 1e3 * (abut_time_wall() - t));
            }
        size_t n;
        const int yes = rc ? 0 : same(r, stage, &n);
        const char *word = yes < 0 ? "-" : yes ? "same" : "NOT THE SAME";
        if (!rc) printf("%s\t%zu\t%.2f\t%.2f\t%s\n", names[stage], n, ms[0], ms[1], word);
        fflush(stdout);
    }
    return rc;
}

int main(int argc, char **argv)
{
    static run r;
    if (argc != 3) return fprintf(stderr, "usage: contact LAYERS CELLS\n"), 2;
    const int layers = atoi(argv[1]), cells = atoi(argv[2]);
    /* cells are about as far apart as layers: many candidates, some contacts */
    r.s = sheets_make(1, layers, cells, 1.0 / cells, 0.25, 0.3 / cells);
    r.s.dhat = 0.5 / cells;
    if (!sheets_init(&r.s)) return fprintf(stderr, "contact: no memory\n"), 5;
    const size_t n3 = 3 * (size_t)r.s.cm.nc;
    r.y1 = malloc(n3 * sizeof *r.y1);
    r.grad = calloc(n3, sizeof *r.grad);
    double *p = malloc(n3 * sizeof *p);
    for (size_t i = 0; i < n3; i++) p[i] = r.s.y1[i] - r.s.X[i], r.y1[i] = r.s.X[i] + p[i];
    abut_status rc = machine_open(&r.q, &r.err);
    if (!rc) rc = abut_gpu_touch_init(&r.c, &r.q, &r.s.cm, NULL, &r.err);
    if (!rc) rc = abut_buffer_put(&r.q, &r.x, "x", r.s.X, n3, sizeof(double), &r.err);
    if (!rc) rc = abut_buffer_put(&r.q, &r.p, "p", p, n3, sizeof(double), &r.err);
    if (!rc) rc = abut_buffer_need(&r.q, &r.g, "g", n3, sizeof(double), &r.err);
    if (!rc) rc = abut_buffer_need(&r.q, &r.out, "out", 1, sizeof(double), &r.err);
    if (!rc) rc = r.q.on->fill(&r.q, r.g.at, 0, n3 * sizeof(double), &r.err);
    printf("# %s, %d vertices, %d edges, %d triangles, %d threads beside\n", r.q.name, (int)r.s.cm.nc, (int)r.s.cm.ne,
           (int)r.s.cm.nt, abut_threads());
    if (!rc) rc = stages(&r);
    if (rc) fprintf(stderr, "contact: %s\n", r.err.msg);
    else printf("# %.3g GB on the machine\n", 1e-9 * (double)r.q.bytes_peak);
    return rc != ABUT_OK;
}
