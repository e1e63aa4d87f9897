/* Nodes with springs between them and rigid walls that each node may touch: steps of hard contact with dense matrices, an
 * independent twin of what `step --solver nodal` does with the objective. */
#ifndef ABUT_TESTS_NODAL_SPRINGS_H
#define ABUT_TESTS_NODAL_SPRINGS_H

#include "solve/nodal/coulomb.h"

enum { SPRINGS_NODES = 40, SPRINGS_MOST = 64, SPRINGS_WALLS = 4 };

typedef struct springs {
    int n, ns, walls;
    double x[3 * SPRINGS_NODES], v[3 * SPRINGS_NODES], load[3 * SPRINGS_NODES], mass[SPRINGS_NODES];
    double impulse[3 * SPRINGS_NODES];
    struct { int a, b; double k, rest; } spring[SPRINGS_MOST];
    /* gap at x, m, and the unit normal away from wall k */
    double (*gap)(const double *x, int k, double normal[3]);
    double mu, h, beta, sigma, margin;
    double wall_v[SPRINGS_WALLS][3];    /* m/s */
    double give, cohesion;
    int everywhere, cold, fits; /* fits: weights follow the iterations */
    double times;               /* all that weights were multiplied by in this step */
    abut_coulomb_options o;
    /* of the last step */
    int iterations;
    double delta;
    abut_coulomb_quality quality;
    double *L, *A;              /* [9 n n] */
    double f[3 * SPRINGS_NODES], w[SPRINGS_NODES], inv_w[SPRINGS_NODES];
    abut_touching t;
    abut_coulomb_state s;
    abut_err err;
} springs;

static inline void springs_clear(springs *e)
{
    abut_touching_clear(&e->t);
    abut_coulomb_state_clear(&e->s);
    free(e->L);
    free(e->A);
}

static inline void springs_defaults(springs *e)
{
    memset(e, 0, sizeof *e);
    e->h = 2e-3;
    e->beta = 25;
    e->sigma = 1e-3;
    e->margin = 1e-3;
    e->o = (abut_coulomb_options){ .iterations = 1000, .sweeps = 10, .tolerance = 1e-12 };
    e->L = malloc(9 * SPRINGS_NODES * SPRINGS_NODES * sizeof *e->L);
    e->A = malloc(9 * SPRINGS_NODES * SPRINGS_NODES * sizeof *e->A);
}

static inline void springs_add(springs *e, int a, int b, double k)
{
    double l2 = 0;
    for (int d = 0; d < 3; d++) l2 += (e->x[3 * a + d] - e->x[3 * b + d]) * (e->x[3 * a + d] - e->x[3 * b + d]);
    e->spring[e->ns].a = a;
    e->spring[e->ns].b = b;
    e->spring[e->ns].k = k;
    e->spring[e->ns++].rest = sqrt(l2);
}

/* A = M + h^2 K+ at x and the force there. */
static inline void springs_assemble(springs *e, const double *x, double *force)
{
    const int n3 = 3 * e->n;
    memset(e->A, 0, (size_t)n3 * (size_t)n3 * sizeof *e->A);
    for (int i = 0; i < n3; i++) {
        e->A[i * n3 + i] = e->mass[i / 3];
        force[i] = e->load[i];
    }
    for (int s = 0; s < e->ns; s++) {
        const int a = 3 * e->spring[s].a, b = 3 * e->spring[s].b;
        double t[3], l = 0;
        for (int d = 0; d < 3; d++) t[d] = x[b + d] - x[a + d], l += t[d] * t[d];
        l = sqrt(l);
        const double pull = e->spring[s].k * (l - e->spring[s].rest), across = fmax(0, 1 - e->spring[s].rest / l);
        for (int d = 0; d < 3; d++) t[d] /= l;
        for (int d = 0; d < 3; d++) {
            force[a + d] += pull * t[d];
            force[b + d] -= pull * t[d];
            for (int c = 0; c < 3; c++) {
                const double k = e->h * e->h * e->spring[s].k * (t[d] * t[c] + across * ((d == c) - t[d] * t[c]));
                e->A[(a + d) * n3 + a + c] += k;
                e->A[(b + d) * n3 + b + c] += k;
                e->A[(a + d) * n3 + b + c] -= k;
                e->A[(b + d) * n3 + a + c] -= k;
            }
        }
    }
}

static inline void springs_factor(springs *e)
{
    const int n = 3 * e->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = e->A[i * n + j] + (i == j ? e->w[i / 3] : 0);
            for (int k = 0; k < j; k++) s -= e->L[i * n + k] * e->L[j * n + k];
            e->L[i * n + j] = i == j ? sqrt(s) : s / e->L[j * n + j];
        }
}

static inline abut_status springs_solve(void *ctx, const double *rhs, double *v, abut_err *err)
{
    const springs *e = ctx;
    const int n = 3 * e->n;
    (void)err;
    for (int i = 0; i < n; i++) {
        double s = rhs[i];
        for (int k = 0; k < i; k++) s -= e->L[i * n + k] * v[k];
        v[i] = s / e->L[i * n + i];
    }
    for (int i = n; i-- > 0;) {
        double s = v[i];
        for (int k = i + 1; k < n; k++) s -= e->L[k * n + i] * v[k];
        v[i] = s / e->L[i * n + i];
    }
    return ABUT_OK;
}

static inline void springs_contacts(springs *e)
{
    static const double one[1] = { 1 };
    CHECK(!abut_touching_begin(&e->t, e->n, &e->err));
    for (int32_t i = 0; i < e->n; i++)
        for (int k = 0; k < e->walls; k++) {
            abut_touch c = { .key = { .kind = ABUT_PP, .vert = { i, -1, -1, -1 }, .plane = k }, .n = 1, .node = &i, .b = one,
                             .mu = e->mu, .give = e->give, .cohesion = e->cohesion };
            const double gap = e->gap(e->x + 3 * i, k, c.normal);
            if (gap > e->margin) continue;
            for (int d = 0; d < 3; d++) c.k[d] = gap / e->h * c.normal[d] - e->wall_v[k][d];
            CHECK(!abut_touching_append(&e->t, &c, &e->err));
        }
}

static inline void springs_weigh(springs *e)
{
    const int n3 = 3 * e->n;
    double w[SPRINGS_NODES];
    for (int i = 0; i < e->n; i++) {
        double B[9];
        for (int k = 0; k < 9; k++) B[k] = e->A[(3 * i + k / 3) * n3 + 3 * i + k % 3];
        w[i] = e->times * abut_nodal_weight(B, e->mass[i], INFINITY, e->beta, e->sigma);
        e->w[i] = e->everywhere ? w[i] : 0;
    }
    for (size_t k = 0; k < e->t.m; k++) e->w[e->t.node[k]] = w[e->t.node[k]];
    for (int i = 0; i < e->n; i++) e->inv_w[i] = e->w[i] > 0 ? 1 / e->w[i] : 0;
}

/* Multiplies all weights: the nodes are one body. */
static inline abut_status springs_reweigh(void *ctx, double *times, int *changed, abut_err *err)
{
    springs *e = ctx;
    (void)err;
    *changed = 1;
    e->times *= *times;
    for (int i = 0; i < e->n; i++) {
        e->w[i] *= *times;
        e->inv_w[i] = e->w[i] > 0 ? 1 / e->w[i] : 0;
    }
    springs_factor(e);
    return ABUT_OK;
}

/* One step with so many linearisations. */
static inline void springs_step(springs *e, int newton)
{
    const int n3 = 3 * e->n;
    double vk[3 * SPRINGS_NODES], x[3 * SPRINGS_NODES], force[3 * SPRINGS_NODES];
    if (!e->s.v) CHECK(!abut_coulomb_state_init(&e->s, e->n, &e->err));
    memcpy(vk, e->v, sizeof vk);
    springs_contacts(e);
    e->iterations = 0;
    e->times = 1;
    for (int k = 0; k < newton; k++) {
        for (int i = 0; i < n3; i++) x[i] = e->x[i] + e->h * vk[i];
        springs_assemble(e, x, force);
        for (int i = 0; i < n3; i++) {
            e->f[i] = e->mass[i / 3] * e->v[i] + e->h * force[i] - e->mass[i / 3] * vk[i];
            for (int j = 0; j < n3; j++) e->f[i] += e->A[i * n3 + j] * vk[j];
        }
        memset(e->w, 0, sizeof e->w);
        if (k == 0) {
            double with[3 * SPRINGS_NODES];     /* the impulses of the last step */
            for (int i = 0; i < n3; i++) with[i] = e->f[i] + (e->cold ? 0 : e->impulse[i]);
            springs_factor(e);
            CHECK(!springs_solve(e, with, e->s.v, &e->err));
        }
        springs_weigh(e);
        springs_factor(e);
        springs_contacts(e);
        CHECK(!abut_touching_settle(&e->t, e->inv_w, &e->err));
        for (int i = 0; i < n3; i++) e->s.lambda[i] = e->cold ? 0 : e->inv_w[i / 3] * e->impulse[i];
        const abut_coulomb_system y = { .nodes = e->n, .h = e->h, .f = e->f, .w = e->w, .inv_w = e->inv_w,
                                        .solve = springs_solve, .reweigh = e->fits ? springs_reweigh : NULL, .ctx = e };
        abut_coulomb_begin(&e->s);
        CHECK(!abut_coulomb_iterate(&e->s, &y, &e->t, &e->o, &e->err));
        e->iterations += e->s.iterations;
        for (int i = 0; i < n3; i++) e->impulse[i] = e->w[i / 3] * e->s.lambda[i];
        memcpy(vk, e->s.p, (size_t)n3 * sizeof *vk);
    }
    e->delta = e->s.delta;
    e->quality = abut_coulomb_quality_at(&e->t, e->s.p);
    memcpy(e->v, vk, (size_t)n3 * sizeof *vk);
    for (int i = 0; i < n3; i++) e->x[i] += e->h * e->v[i];
}

#endif
