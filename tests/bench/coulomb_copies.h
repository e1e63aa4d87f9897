/* The discrete Coulomb friction problem by Gauss and Seidel over the velocities of nodes (Li et al. 2018, as described by Daviet
 * 2020, 2): the unknowns are velocities, so no inverse of A is needed, and every contact is one of vertices, of a node with an
 * obstacle or of two nodes.
 *
 *     A v = f + B^T r,    u = v_i - v_j + k  (or v_i + k),    (u, r) of the law of Signorini and Coulomb
 *
 * A node of n contacts is copied n times, A_dd = A_ii/n, A_dj = A_ij/n, f_d = f_i/n.  Copies are tied by multipliers that give
 * each the mean of their forces, so that at a fixed point all have the same velocity.  Two nodes i and j in contact are visited
 * in (v_i - v_j)/sqrt 2, which has the law, and (v_i + v_j)/sqrt 2, which has no force.  Local problems: coulomb_general.h. */
#ifndef ABUT_BENCH_COULOMB_COPIES_H
#define ABUT_BENCH_COULOMB_COPIES_H

#include "coulomb_general.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct copies {
    int32_t n, contacts;
    /* borrowed: rows of A with all their blocks; f[3 n]; node i of a contact, and j, -1: an obstacle; frames E[9], the normal
     * first */
    const size_t *ptr;
    const int32_t *col;
    const double *val, *f;
    const int32_t *node;        /* [2 contacts] */
    const double *E, *k, *mu;   /* [9], [3], [1] of each */
    /* owned */
    int32_t *count;             /* [n] contacts of a node */
    double *v;                  /* [3 n] mean of the copies of a node */
    double *copy, *r;           /* [6 contacts] velocity of the copy at either node; force on it */
    double *mean;               /* [3 n] of those forces over the copies */
} copies;

static inline void copies_clear(copies *s)
{
    free(s->count), free(s->v), free(s->copy), free(s->r), free(s->mean);
}

/* From the velocities v[3 n], forces 0; 0: no memory. */
static inline int copies_begin(copies *s, const double *v)
{
    const size_t n = (size_t)s->n, c = (size_t)s->contacts;
    s->count = calloc(n + 1, sizeof *s->count);
    s->v = calloc(3 * n + 1, sizeof *s->v);
    s->mean = calloc(3 * n + 1, sizeof *s->mean);
    s->copy = calloc(6 * c + 1, sizeof *s->copy);
    s->r = calloc(6 * c + 1, sizeof *s->r);
    if (!s->count || !s->v || !s->mean || !s->copy || !s->r) return 0;
    memcpy(s->v, v, 3 * n * sizeof *v);
    for (size_t e = 0; e < 2 * c; e++) {
        if (s->node[e] < 0) continue;
        s->count[s->node[e]]++;
        memcpy(s->copy + 3 * e, v + 3 * (size_t)s->node[e], 3 * sizeof *v);
    }
    return 1;
}

/* The block of row i at column j, or zero. */
static inline void copies_block(const copies *s, int32_t i, int32_t j, double B[9])
{
    memset(B, 0, 9 * sizeof *B);
    for (size_t e = s->ptr[i]; e < s->ptr[i + 1]; e++)
        if (s->col[e] == j) memcpy(B, s->val + 9 * e, 9 * sizeof *B);
}

/* The force that node i needs for the velocity own[3] beside the mean velocities of others, over its copies. */
static inline void copies_force(const copies *s, int32_t i, const double own[3], double q[3])
{
    const int n = s->count[i] > 0 ? s->count[i] : 1;
    for (int d = 0; d < 3; d++) q[d] = -s->f[3 * i + d];
    for (size_t e = s->ptr[i]; e < s->ptr[i + 1]; e++) {
        const double *B = s->val + 9 * e, *v = s->col[e] == i ? own : s->v + 3 * (size_t)s->col[e];
        for (int d = 0; d < 9; d++) q[d / 3] += B[d] * v[d % 3];
    }
    for (int d = 0; d < 3; d++) q[d] /= n;
}

/* A node without contacts; returns the largest change. */
static inline double copies_free(copies *s, int32_t i)
{
    double q[3], D[9], dv[3], most = 0;
    copies_force(s, i, s->v + 3 * i, q);
    copies_block(s, i, i, D);
    if (!general_solve(D, q, dv)) return INFINITY;
    for (int d = 0; d < 3; d++) {
        s->v[3 * i + d] -= dv[d];
        most = fmax(most, fabs(dv[d]));
    }
    return most;
}

/* The copy at place e of the contacts gets dv; returns the largest of them. */
static inline double copies_move(copies *s, size_t e, const double dv[3])
{
    const int32_t i = s->node[e];
    double most = 0;
    for (int d = 0; d < 3; d++) {
        s->copy[3 * e + (size_t)d] += dv[d];
        s->v[3 * i + d] += dv[d] / s->count[i];
        most = fmax(most, fabs(dv[d]));
    }
    return most;
}

static inline void copies_push(copies *s, size_t e, const double r[3], double sign)
{
    const int32_t i = s->node[e];
    for (size_t d = 0; d < 3; d++) {
        s->mean[3 * (size_t)i + d] += (sign * r[d] - s->r[3 * e + d]) / s->count[i];
        s->r[3 * e + d] = sign * r[d];
    }
}

/* Contact force on the copy at place e that balances its velocity under the present multipliers. */
static inline void copies_needs(const copies *s, size_t e, double g[3])
{
    const int32_t i = s->node[e];
    copies_force(s, i, s->copy + 3 * e, g);
    for (size_t d = 0; d < 3; d++) g[d] -= s->mean[3 * (size_t)i + d] - s->r[3 * e + d];
}

/* One contact, which keeps the law after the visit.  Returns the largest change, INFINITY where a local problem has no
 * solution. */
static inline double copies_contact(copies *s, size_t c)
{
    const size_t a = 2 * c, b = a + 1;
    const int two = s->node[b] >= 0;
    const double root = two ? sqrt(2) : 1, *E = s->E + 9 * c;
    double W[9], S[9], C[9], g[3], h[3] = { 0 }, u[3], inv[9], L[9], rest[3], local[3], r[3], da[3], ds[3], most = 0;
    copies_block(s, s->node[a], s->node[a], W);
    copies_needs(s, a, g);
    for (size_t d = 0; d < 3; d++) u[d] = s->copy[3 * a + d] + s->k[3 * c + d];
    for (int d = 0; d < 9; d++) S[d] = W[d] /= s->count[s->node[a]];
    if (two) {
        const double ni = s->count[s->node[a]], nj = s->count[s->node[b]];
        double D[9];
        copies_block(s, s->node[b], s->node[b], D);
        copies_block(s, s->node[a], s->node[b], C);
        copies_needs(s, b, h);
        for (int d = 0; d < 9; d++) {
            const double cross = (C[d] + C[3 * (d % 3) + d / 3]) / (ni * nj), sum = W[d] + D[d] / nj;
            W[d] = 0.5 * (sum - cross);
            S[d] = 0.5 * (sum + cross);
        }
        for (size_t d = 0; d < 3; d++) {
            const double mine = g[d];
            u[d] -= s->copy[3 * b + d];
            g[d] = (mine - h[d]) / root;
            h[d] = (mine + h[d]) / root;
        }
    }
    /* u = root^2 W^-1 r + (u - root W^-1 g), in the frame of the contact */
    for (int j = 0; j < 3; j++) {
        const double e[3] = { j == 0, j == 1, j == 2 };
        double x[3];
        if (!general_solve(W, e, x)) return INFINITY;
        for (int i = 0; i < 3; i++) inv[3 * i + j] = x[i];
    }
    for (int i = 0; i < 3; i++) rest[i] = u[i] - root * (inv[3 * i] * g[0] + inv[3 * i + 1] * g[1] + inv[3 * i + 2] * g[2]);
    general_rotated(E, inv, E, L);
    for (int d = 0; d < 9; d++) L[d] *= root * root;
    for (int i = 0; i < 3; i++) {
        local[i] = E[3 * i] * rest[0] + E[3 * i + 1] * rest[1] + E[3 * i + 2] * rest[2];
        r[i] = E[3 * i] * s->r[3 * a] + E[3 * i + 1] * s->r[3 * a + 1] + E[3 * i + 2] * s->r[3 * a + 2];
    }
    if (!general_coulomb(L, local, s->mu[c], r)) return INFINITY;
    for (int i = 0; i < 3; i++) rest[i] = E[i] * r[0] + E[3 + i] * r[1] + E[6 + i] * r[2];
    for (int i = 0; i < 3; i++) local[i] = root * rest[i] - g[i];
    for (int i = 0; i < 3; i++) da[i] = (inv[3 * i] * local[0] + inv[3 * i + 1] * local[1] + inv[3 * i + 2] * local[2]) / root;
    if (two && !general_solve(S, h, ds)) return INFINITY;
    if (two) {
        double first[3], second[3];
        for (int i = 0; i < 3; i++) first[i] = da[i] - ds[i] / root, second[i] = -da[i] - ds[i] / root;
        most = fmax(copies_move(s, a, first), copies_move(s, b, second));
        copies_push(s, b, rest, -1);
    } else most = copies_move(s, a, da);
    copies_push(s, a, rest, 1);
    return most;
}

/* One sweep; returns the largest change of a velocity, m/s. */
static inline double copies_sweep(copies *s)
{
    double most = 0;
    for (int32_t i = 0; i < s->n; i++)
        if (!s->count[i]) most = fmax(most, copies_free(s, i));
    for (int32_t c = 0; c < s->contacts; c++) most = fmax(most, copies_contact(s, (size_t)c));
    return most;
}

/* How far copies are from their mean, m/s. */
static inline double copies_spread(const copies *s)
{
    double most = 0;
    for (size_t e = 0; e < 2 * (size_t)s->contacts; e++)
        for (size_t d = 0; d < 3 && s->node[e] >= 0; d++)
            most = fmax(most, fabs(s->copy[3 * e + d] - s->v[3 * (size_t)s->node[e] + d]));
    return most;
}

#endif
