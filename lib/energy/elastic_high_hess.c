/* Projected Hessians of hyperelastic tetrahedra of higher order.
 *
 * At a point the modulus A_dc,ke = w J^-1_ci (d2psi/dF_di dF_kj) J^-1_ej (d, k in space; c, e axes of xi) is independent of the
 * bases.  The block of nodes a, b is K_dk = sum over points and axes of dphi_a/dxi_c A_dc,ke dphi_b/dxi_e: for each d, k a
 * product of two matrices with (point, axis) inside. */
#include "energy/elastic_high_lanes.h"

#include "energy/material/density_inline.h"
#include "energy/material/model_laws.h"
#include "math/svd3.h"
#include "geom/lagrange.h"
#include "sparse/packed_inline.h"

#include "math/forms_lanes.h"
#define PRINCIPAL abut_principals
#include "energy/tet_forms.h"
#undef PRINCIPAL
#include "math/forms_end.h"

enum { BLOCKS = 6, MODULI = BLOCKS * 9 * ABUT_LANES,     /* numbers of a group of points */
       AT_ONCE = 8,                                      /* groups whose products are summed before they are added */
       INSIDE = 3 * ABUT_LANES * AT_ONCE, WIDEST = (ABUT_TET_NODES_MAX + ABUT_LANES - 1) / ABUT_LANES * ABUT_LANES };

/* Number of the block of axes c <= e. */
static inline int block_of(int c, int e) { return c * (5 - c) / 2 + e; }

size_t abut_elastic_high_moduli_size(const abut_elastic_high *e, int32_t t)
{
    return (size_t)MODULI * (size_t)e->table[e->degree[t]].groups;
}

/* Adds the moduli of fibres along d at the points of a group: (J^-1 d)_c (J^-1 d)_e M */
static void add_fibres(double kappa, const double d[3], const abut_lanes F[9], const abut_lanes Ji[9], const abut_lanes *w,
                       abut_lanes *A)
{
    for (int l = 0; l < ABUT_LANES; l++) {
        double f[9], M[9], along[3];
        for (int i = 0; i < 9; i++) f[i] = F[i][l];
        for (int c = 0; c < 3; c++) along[c] = Ji[3 * c][l] * d[0] + Ji[3 * c + 1][l] * d[1] + Ji[3 * c + 2][l] * d[2];
        abut_fibre_hessian((*w)[l] * kappa, d, f, 1, M);
        for (int c = 0; c < 3; c++)
            for (int e = c; e < 3; e++)
                for (int i = 0; i < 9; i++) A[9 * block_of(c, e) + i][l] += along[c] * along[e] * M[i];
    }
}

/* Moduli of groups [g, end) into A, of the first of them on; u: displacements of the nodes. */
ABUT_LANES_CLONES
static void moduli(const abut_elastic_high *e, int32_t t, const double *u, double scale, int g, int end, double *A)
{
    const abut_basis_table *b = &e->table[e->degree[t]];
    const int32_t material = e->model->tet_mat[e->first + t];
    const double kappa = e->model->mat_fibre ? e->model->mat_fibre[material] : 0;
    for (; g < end; g++, A += MODULI) {
        abut_lanes G[9], Ji[9], F[9], U[9], s[3], V[9], w, axes[9], K[BLOCKS * 9];
        abut_principals p;
        abut_modes_lanes h;
        abut_high_gradients(b, e->nodes, g, u, G);
        abut_high_rest(e, t, g, Ji, &w);
        abut_high_deformation(G, Ji, F);
        abut_svd3_lanes(F, U, s, V);
        abut_model_law_principals(&e->laws, material, s, &p);
        abut_principals_project(&p);
        w = scale * w;
        abut_modes_of_lanes(&p, &w, &h);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) axes[3 * i + j] = Ji[3 * i] * V[j] + Ji[3 * i + 1] * V[3 + j] + Ji[3 * i + 2] * V[6 + j];
        for (int c = 0; c < 3; c++)
            for (int d = c; d < 3; d++) abut_mode_block_lanes(&h, U, axes + 3 * c, axes + 3 * d, K + 9 * block_of(c, d));
        if (kappa > 0) add_fibres(kappa, e->model->tet_fibre + 3 * (size_t)(e->first + t), F, Ji, &w, K);
        for (int i = 0; i < BLOCKS * 9; i++) *(abut_lanes_anywhere *)(A + ABUT_LANES * i) = K[i];
    }
}

void abut_elastic_high_moduli(const abut_elastic_high *e, int32_t t, const double *x, double scale, double *A)
{
    double u[3 * ABUT_TET_NODES_MAX];
    abut_high_displacements(e, t, x, u);
    moduli(e, t, u, scale, 0, e->table[e->degree[t]].groups, A);
}

/* T[(3 q + c) wide + b] = sum over e of A_dc,ke dphi_b/dxi_e for n points from group g on, whose moduli are A */
ABUT_LANES_INLINE void half_product(const abut_basis_table *b, int wide, int g, int n, const double *A, int d, int k, double *T)
{
    const double *D = b->by_point + (size_t)(3 * ABUT_LANES * g * wide);
    for (int q = 0; q < n; q++) {
        const double *at = A + MODULI * (q / ABUT_LANES) + q % ABUT_LANES, *row = D + 3 * q * wide;
        double *to = T + 3 * q * wide;
        double a[9];
        for (int c = 0; c < 3; c++)
            for (int e = 0; e < 3; e++)
                a[3 * c + e] = at[ABUT_LANES * (c <= e ? 9 * block_of(c, e) + 3 * d + k : 9 * block_of(e, c) + 3 * k + d)];
        for (int v = 0; v < wide; v += ABUT_LANES) {
            const abut_lanes x = *(const abut_lanes_anywhere *)(row + v), y = *(const abut_lanes_anywhere *)(row + wide + v);
            const abut_lanes z = *(const abut_lanes_anywhere *)(row + 2 * wide + v);
            for (int c = 0; c < 3; c++)
                *(abut_lanes_anywhere *)(to + c * wide + v) = a[3 * c] * x + a[3 * c + 1] * y + a[3 * c + 2] * z;
        }
    }
}

/* Blocks (a, b), a <= b, of four rows from a0 on and `two` times four columns from b0 on: the entry d, k of each. */
ABUT_LANES_INLINE void tile(int nodes, int wide, int inside, const double *D, const double *T, int a0, int b0, int two, int entry,
                            int add, double *H)
{
    abut_lanes sum[ABUT_LANES][2];
    for (int r = 0; r < ABUT_LANES; r++) sum[r][0] = sum[r][1] = ABUT_LANES_ALL(0.);
    for (int m = 0; m < inside; m++) {
        const double *row = D + m * wide + a0, *col = T + m * wide + b0;
        const abut_lanes lo = *(const abut_lanes_anywhere *)col;
        const abut_lanes hi = *(const abut_lanes_anywhere *)(col + (two ? ABUT_LANES : 0));
        for (int r = 0; r < ABUT_LANES; r++) {
            sum[r][0] += row[r] * lo;
            if (two) sum[r][1] += row[r] * hi;
        }
    }
    for (int r = 0; r < ABUT_LANES && a0 + r < nodes; r++)
        for (int c = 0; c < ABUT_LANES * (1 + two) && b0 + c < nodes; c++) {
            if (b0 + c < a0 + r) continue;
            double *to = H + 9 * abut_packed_block(nodes, a0 + r, b0 + c) + entry;
            const double v = sum[r][c / ABUT_LANES][c % ABUT_LANES];
            *to = add ? *to + v : v;
        }
}

/* H, = or += by `add`: sums over the points of at most AT_ONCE groups from g on, with their moduli A. */
ABUT_LANES_INLINE void pack(const abut_basis_table *b, int nodes, const double *A, int g, int add, double *H)
{
    const int wide = (nodes + ABUT_LANES - 1) / ABUT_LANES * ABUT_LANES;
    const int rest = b->n - ABUT_LANES * g, n = rest < ABUT_LANES * AT_ONCE ? rest : ABUT_LANES * AT_ONCE;
    const double *D = b->by_point + (size_t)(3 * ABUT_LANES * g * wide);
    double T[INSIDE * WIDEST] __attribute__((aligned(32)));
    for (int entry = 0; entry < 9; entry++) {
        half_product(b, wide, g, n, A, entry / 3, entry % 3, T);
        for (int a = 0; a < wide; a += ABUT_LANES)
            for (int c = a; c < wide; c += 2 * ABUT_LANES) {
                if (c + ABUT_LANES < wide) tile(nodes, wide, 3 * n, D, T, a, c, 1, entry, add, H);
                else tile(nodes, wide, 3 * n, D, T, a, c, 0, entry, add, H);
            }
    }
}

ABUT_LANES_CLONES
static void pack_groups(const abut_elastic_high *e, int32_t t, const double *A, int g, int add, double *H)
{
    const abut_basis_table *b = &e->table[e->degree[t]];
    switch (e->order) {
    case 2: pack(b, 10, A, g, add, H); break;
    case 3: pack(b, 20, A, g, add, H); break;
    default: pack(b, 35, A, g, add, H);
    }
}

void abut_elastic_high_pack(const abut_elastic_high *e, int32_t t, const double *A, double *H)
{
    const int groups = e->table[e->degree[t]].groups;
    for (int g = 0; g < groups; g += AT_ONCE) pack_groups(e, t, A + (size_t)MODULI * (size_t)g, g, g > 0, H);
}

void abut_elastic_high_hessian(const abut_elastic_high *e, const double *x, double scale, size_t lo, size_t hi, double *H)
{
    double A[MODULI * AT_ONCE], u[3 * ABUT_TET_NODES_MAX];
    for (size_t i = lo; i < hi; i++, H += abut_packed_size(e->nodes)) {
        const int32_t t = (int32_t)i;
        const int groups = e->table[e->degree[t]].groups;
        abut_high_displacements(e, t, x, u);
        for (int g = 0; g < groups; g += AT_ONCE) {
            moduli(e, t, u, scale, g, g + AT_ONCE < groups ? g + AT_ONCE : groups, A);
            pack_groups(e, t, A, g, g > 0, H);
        }
    }
}

ABUT_LANES_CLONES
void abut_elastic_high_product(const abut_elastic_high *e, int32_t t, const double *A, const double *u, double *f)
{
    const abut_basis_table *b = &e->table[e->degree[t]];
    for (int i = 0; i < 3 * e->nodes; i++) f[i] = 0;
    for (int g = 0; g < b->groups; g++, A += MODULI) {
        const int n = b->n - ABUT_LANES * g < ABUT_LANES ? b->n - ABUT_LANES * g : ABUT_LANES;
        const abut_lanes_anywhere *K = (const abut_lanes_anywhere *)A;
        abut_lanes G[9];
        double S[ABUT_LANES][9];
        abut_high_gradients(b, e->nodes, g, u, G);
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 3; c++) {
                abut_lanes s = ABUT_LANES_ALL(0.);
                for (int k = 0; k < 3; k++)
                    for (int a = 0; a < 3; a++)
                        s += K[c <= a ? 9 * block_of(c, a) + 3 * d + k : 9 * block_of(a, c) + 3 * k + d] * G[3 * k + a];
                for (int l = 0; l < ABUT_LANES; l++) S[l][3 * d + c] = s[l];
            }
        abut_high_spread(b, e->nodes, g, n, (const double(*)[9])S, f);
    }
}
