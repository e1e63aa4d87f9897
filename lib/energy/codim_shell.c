#include "energy/codim_shell.h"

#include "energy/stretch_limit.h"
#include "sparse/packed_lanes.h"
#include "sparse/packed_inline.h"
#include "math/svd32.h"

#include <math.h>
#include <string.h>

#include "math/forms_lanes.h"

#include "energy/shell_forms.h"

#include "math/forms_end.h"

/* Four shells from number t on, of which n count; the others are copies of the first. */
typedef struct group {
    size_t t[ABUT_LANES], n;
    abut_lanes F[6], U[6], s[2], V[4];
} group;

void abut_shell_gradient_of(const abut_codim *t, const double *x, size_t shell, double F[6])
{
    const int32_t *v = t->node + 4 * shell;
    const double *x0 = x + 3 * (size_t)v[0], *x1 = x + 3 * (size_t)v[1], *x2 = x + 3 * (size_t)v[2], *B = t->B + 4 * shell;
    abut_shell_deform(x0, x1, x2, B, F);
}

static void group_at(const abut_codim_ask *a, size_t lo, size_t hi, group *g)
{
    g->n = hi - lo < ABUT_LANES ? hi - lo : ABUT_LANES;
    for (size_t l = 0; l < ABUT_LANES; l++) {
        double F[6];
        g->t[l] = l < g->n ? lo + l : lo;
        abut_shell_gradient_of(a->t, a->x, g->t[l], F);
        for (int i = 0; i < 6; i++) g->F[i][l] = F[i];
    }
    abut_svd32_lanes(g->F, g->U, g->s, g->V);
}

void abut_shell_deformation(const abut_codim *t, const double *x, int32_t shell, double F[6], double s[2])
{
    abut_lanes f[6], U[6], S[2], V[4];
    abut_shell_gradient_of(t, x, (size_t)shell, F);
    for (int i = 0; i < 6; i++) f[i] = ABUT_LANES_ALL(F[i]);
    abut_svd32_lanes(f, U, S, V);
    s[0] = S[0][0];
    s[1] = S[1][0];
}

/* Terms of one shell that the caller asks for: its membrane, in the member of its kind, and its row of limits; NULL: none. */
typedef struct terms {
    const abut_membrane *isotropic, *fabric, *bw;
    const double *limit;
} terms;

static terms terms_of(const abut_codim_ask *a, size_t shell)
{
    const abut_model *m = a->t->model;
    const abut_membrane *law = &a->t->membrane[m->shell_mat[shell]];
    const int asked = a->parts & (law->strain ? ABUT_CODIM_BOUNDED : ABUT_CODIM_ELASTIC);
    const int bw = law->kind == ABUT_MEMBRANE_BARAFF_WITKIN;
    return (terms){ asked && law->kind == ABUT_MEMBRANE_ISOTROPIC ? law : NULL, asked && law->fabric ? law : NULL,
                    asked && bw ? law : NULL,
                    a->parts & ABUT_CODIM_BOUNDED && m->shell_limit ? m->shell_limit + 4 * shell : NULL };
}

/* The fabrics of a group; 0: the group has none, or they are not evaluated. */
static int fabrics_of(const abut_codim_ask *a, const group *g, abut_fabrics *f)
{
    const abut_membrane *law[ABUT_LANES];
    int any = 0;
    for (int l = 0; l < ABUT_LANES; l++) any |= (law[l] = terms_of(a, g->t[l]).fabric) != NULL;
    if (any) abut_fabrics_take(law, f);
    return any;
}

/* Membrane and limits together, as far as they are functions of the principal stretches. */
static abut_plane_principal principal(const abut_codim_ask *a, const terms *w, const double s[2])
{
    abut_plane_principal p = { 0 };
    if (w->isotropic) abut_membrane_principal(w->isotropic, s, &p);
    if (w->limit) abut_stretch_limit_add(w->limit, a->kappa, s, &p);
    return p;
}

/* psi of shell l of the group by Baraff and Witkin, P += its stress; 0 if the shell has another membrane. */
static double stretch_and_shear(const terms *w, const group *g, size_t l, double P[4])
{
    if (!w->bw) return 0;
    const double s[2] = { g->s[0][l], g->s[1][l] }, V[4] = { g->V[0][l], g->V[1][l], g->V[2][l], g->V[3][l] };
    double T[4];
    const double psi = abut_bw_stress(w->bw->bw, s, V, T);
    for (int i = 0; i < 4; i++) P[i] += T[i];
    return psi;
}

double abut_codim_shell_energy(const abut_codim_ask *a, size_t lo, size_t hi)
{
    double sum = 0;
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes woven = ABUT_LANES_ALL(0.);
        abut_fabrics f;
        group_at(a, lo, hi, &g);
        if (fabrics_of(a, &g, &f)) abut_fabrics_psi(&f, abut_strain_stiffening(a->kappa), g.s, g.V, &woven);
        for (size_t l = 0; l < g.n; l++) {
            const double s[2] = { g.s[0][l], g.s[1][l] };
            const terms w = terms_of(a, g.t[l]);
            if (!(s[0] > 0 && s[1] > 0)) return INFINITY;
            double P[4] = { 0 };
            sum += a->t->vol[g.t[l]] * (principal(a, &w, s).psi + woven[l] + stretch_and_shear(&w, &g, l, P));
        }
    }
    return sum;
}

static void corner_forces(const group *g, size_t l, double w, const double *B, const double T[4], double f[12])
{
    double U[6], V[4];
    for (int i = 0; i < 6; i++) U[i] = g->U[i][l];
    for (int i = 0; i < 4; i++) V[i] = g->V[i][l];
    abut_shell_forces(U, V, w, B, T, f);
}

void abut_codim_shell_gradient(const abut_codim_ask *a, size_t lo, size_t hi, double *f)
{
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes woven[4] = { ABUT_LANES_ALL(0.), ABUT_LANES_ALL(0.), ABUT_LANES_ALL(0.), ABUT_LANES_ALL(0.) };
        abut_fabrics laws;
        group_at(a, lo, hi, &g);
        if (fabrics_of(a, &g, &laws)) abut_fabrics_stress(&laws, abut_strain_stiffening(a->kappa), g.s, g.V, woven);
        for (size_t l = 0; l < g.n; l++) {
            const size_t t = g.t[l];
            const double s[2] = { g.s[0][l], g.s[1][l] };
            const terms w = terms_of(a, t);
            const abut_plane_principal p = principal(a, &w, s);
            double P[4] = { p.d[0] + woven[0][l], woven[1][l], woven[2][l], p.d[1] + woven[3][l] };
            (void)stretch_and_shear(&w, &g, l, P);
            corner_forces(&g, l, a->scale * a->t->vol[t], a->t->B + 4 * t, P, f + 12 * (t - a->base));
        }
    }
}

/* Second derivatives of four shells in their frames, in the end scaled by volume. */
typedef struct frames {
    abut_lanes G[16], R[3];
} frames;

ABUT_LANES_CLONES
static void pack(const frames *h, const abut_lanes *U, const abut_lanes *B, const abut_lanes *V, abut_lanes *H)
{
    abut_shell_pack_lanes(h->G, h->R, U, B, V, H);
}

/* Writes all terms of shell l of the group but its fabric into lane l of out. */
static void frame_put(const abut_codim_ask *a, const group *g, int l, frames *out)
{
    const double s[2] = { g->s[0][l], g->s[1][l] };
    const terms w = terms_of(a, g->t[l]);
    abut_plane_frame f = { .P = { 0 } };
    if (w.isotropic || w.limit) {
        const abut_plane_principal p = principal(a, &w, s);
        if (a->as_is) abut_plane_as_is(&p, s, &f);
        else abut_plane_project(&p, s, &f);
    }
    const double V[4] = { g->V[0][l], g->V[1][l], g->V[2][l], g->V[3][l] };
    if (w.limit && a->limits && a->limits->any) abut_stretch_ahead_frame(&a->limits->of[g->t[l]], a->kappa, s, V, f.G);
    if (w.bw) {
        double G[16], R[3];
        abut_bw_hessian(w.bw->bw, s, V, !a->as_is, G, R);
        for (int k = 0; k < 16; k++) f.G[k] += G[k];
        for (int k = 0; k < 3; k++) f.R[k] += R[k];
    }
    for (int k = 0; k < 16; k++) out->G[k][l] = f.G[k];
    for (int k = 0; k < 3; k++) out->R[k][l] = f.R[k];
}

static void frames_of(const abut_codim_ask *a, const group *g, frames *out)
{
    abut_lanes scale;
    abut_fabrics f;
    for (int l = 0; l < ABUT_LANES; l++) {
        frame_put(a, g, l, out);
        scale[l] = a->scale * a->t->vol[g->t[l]];
    }
    if (fabrics_of(a, g, &f)) abut_fabrics_hessian(&f, abut_strain_stiffening(a->kappa), g->s, g->V, !a->as_is, out->G, out->R);
    for (int k = 0; k < 16; k++) out->G[k] *= scale;
    for (int k = 0; k < 3; k++) out->R[k] *= scale;
}

void abut_codim_shell_hessian(const abut_codim_ask *a, size_t lo, size_t hi, double *H)
{
    static const size_t used[] = { 0, 9, 18, 36, 45, 63 };  /* of three corners */
    group g;
    for (; lo < hi; lo += g.n) {
        abut_lanes B[4];
        abut_packed_lanes K;
        frames h;
        group_at(a, lo, hi, &g);
        frames_of(a, &g, &h);
        for (int l = 0; l < ABUT_LANES; l++)
            for (int k = 0; k < 4; k++) B[k][l] = a->t->B[4 * g.t[l] + (size_t)k];
        pack(&h, g.U, B, g.V, K);
        for (size_t l = 0; l < g.n; l++) {
            double *to = H + abut_packed_size(4) * (lo + l - a->base);
            for (size_t b = 0; b < sizeof used / sizeof *used; b++)
                for (size_t k = used[b]; k < used[b] + 9; k++) to[k] = a->add ? to[k] + K[k][l] : K[k][l];
        }
    }
}
