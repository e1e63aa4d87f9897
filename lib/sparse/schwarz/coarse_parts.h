/* Members of a coarse space, for coarse_space.c and coarse_elements.c. */
#ifndef ABUT_SPARSE_SCHWARZ_COARSE_PARTS_H
#define ABUT_SPARSE_SCHWARZ_COARSE_PARTS_H

#include "sparse/own/cholesky.h"
#include "sparse/schwarz/coarse_space.h"

/* A row of a set: motions of the set displace it by weight [I, w -> w x arm]. */
typedef struct member {
    int32_t row, set;
    double weight;
    double arm[3];      /* from the middle of the set, in units of its radius */
} member;

enum { MOTIONS = 6 };

/* A row near a set: its place in `near`. */
typedef struct nearness {
    int32_t place, set;
} nearness;

struct abut_coarse_space {
    int32_t n, k;
    int32_t *first;     /* [k + 1] members of set j: first[j] .. first[j+1] */
    member *in;
    int32_t *at, *of;   /* [n + 1]; of[at[i] .. at[i+1]): the members that are row i, by sets */
    int32_t *reach;     /* [k + 1] rows that A joins with those of set j, its own among them: near[reach[j] .. reach[j+1]) */
    int32_t *near;
    int32_t *near_at;   /* [n + 1]; near_of[near_at[i] .. near_at[i+1]): the sets that row i is near, ascending */
    nearness *near_of;
    double (*AZ)[3 * MOTIONS];  /* [reach[k]] what A makes of the motions of the set there, row major */
    struct set_pairs {  /* of different sets that elements join, ascending: lower number * k + higher */
        size_t n, cap;
        uint64_t *key;
    } pairs;
    abut_bsr E;         /* two block rows a set: translations, rotations */
    abut_chol *chol;
    double *v;          /* [6 k] */
};

/* q[3][6] += weight B [I, S], S w = w x arm */
static inline void add_motions(const member *m, const double B[9], double q[3 * MOTIONS])
{
    const double *a = m->arm, w = m->weight;
    for (int i = 0; i < 3; i++) {
        const double *b = B + 3 * i;
        double *to = q + MOTIONS * i;
        for (int j = 0; j < 3; j++) to[j] += w * b[j];
        to[3] += w * (b[2] * a[1] - b[1] * a[2]);
        to[4] += w * (b[0] * a[2] - b[2] * a[0]);
        to[5] += w * (b[1] * a[0] - b[0] * a[1]);
    }
}

/* t[6] += weight [I, S]^T f */
static inline void add_resultant(const member *m, const double f[3], double t[MOTIONS])
{
    const double *a = m->arm, w = m->weight;
    for (int d = 0; d < 3; d++) t[d] += w * f[d];
    t[3] += w * (a[1] * f[2] - a[2] * f[1]);
    t[4] += w * (a[2] * f[0] - a[0] * f[2]);
    t[5] += w * (a[0] * f[1] - a[1] * f[0]);
}

/** c->pairs of the elements of A.  Fails  as A->read */
ABUT_MUST_USE abut_status abut_coarse_pairs_find(abut_coarse_space *c, const abut_operator *A, abut_err *err);
/** E += Z^T H Z of the elements of A.  Fails  as A->read */
ABUT_MUST_USE abut_status abut_coarse_elements_add(abut_coarse_space *c, const abut_operator *A, abut_err *err);

#endif
