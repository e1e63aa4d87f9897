#include "energy/membrane.h"

#include "linalg/log_lanes.h"
#include "linalg/spd_lanes.h"

#include <math.h>

#define INLINE ABUT_LANES_INLINE

/* ---- the law of a material ---- */

void abut_membrane_take(const abut_model *m, int32_t mat, abut_membrane *law)
{
    const double E = m->mat_young[mat], nu = m->mat_poisson[mat];
    *law = (abut_membrane){ .kind = m->mat_membrane ? m->mat_membrane[mat] : ABUT_MEMBRANE_ISOTROPIC, .model = m->mat_model[mat],
                            .mu = E / (2 * (1 + nu)), .lambda = E * nu / (1 - nu * nu) };
    if (law->kind != ABUT_MEMBRANE_ISOTROPIC) law->fabric = m->mat_fabric + 4 * (size_t)mat;
    if (law->kind == ABUT_MEMBRANE_CLOTH) law->strain = m->mat_strain + 3 * (size_t)mat;
}

abut_status abut_membrane_of(const abut_model *m, int32_t mat, abut_membrane *law, abut_err *err)
{
    abut_membrane_take(m, mat, law);
    if (law->fabric || abut_material_plane(law->model)) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "material %d is of a shell and %s: expected %s, %s or %s", mat,
                     abut_material_names[law->model], abut_material_names[ABUT_STVK], abut_material_names[ABUT_NEO_HOOKEAN],
                     abut_material_names[ABUT_FIXED_COROTATED]);
}

double abut_membrane_stiffness(const abut_membrane *law)
{
    return law->fabric ? law->fabric[0] + law->fabric[1] + law->fabric[3] : law->mu + fabs(law->lambda);
}

/* ---- isotropic laws ---- */

static void stvk(double mu, double lambda, const double s[2], abut_plane_principal *p)
{
    const double e[2] = { 0.5 * (s[0] - 1) * (s[0] + 1), 0.5 * (s[1] - 1) * (s[1] + 1) }, tr = e[0] + e[1];
    p->psi = mu * (e[0] * e[0] + e[1] * e[1]) + 0.5 * lambda * tr * tr;
    for (int i = 0; i < 2; i++) {
        p->d[i] = (2 * mu * e[i] + lambda * tr) * s[i];
        p->A[2 * i] = 2 * mu * e[i] + lambda * tr + (2 * mu + lambda) * s[i] * s[i];
    }
    p->A[1] = lambda * s[0] * s[1];
    p->flip = mu * (2 * tr + 1 + s[0] * s[1]) + lambda * tr;
    p->twist = mu * (2 * tr + 1 - s[0] * s[1]) + lambda * tr;
}

static void neo_hookean(double mu, double lambda, const double s[2], abut_plane_principal *p)
{
    const double L = log(s[0] * s[1]), c = mu - lambda * L, r[2] = { 1 / s[0], 1 / s[1] };
    p->psi = 0.5 * mu * ((s[0] - 1) * (s[0] + 1) + (s[1] - 1) * (s[1] + 1)) + L * (0.5 * lambda * L - mu);
    for (int i = 0; i < 2; i++) {
        p->d[i] = mu * s[i] - c * r[i];
        p->A[2 * i] = mu + (c + lambda) * r[i] * r[i];
    }
    p->A[1] = lambda * r[0] * r[1];
    p->flip = mu + c * r[0] * r[1];
    p->twist = mu - c * r[0] * r[1];
}

static void fixed_corotated(double mu, double lambda, const double s[2], abut_plane_principal *p)
{
    const double J = s[0] * s[1], pressure = lambda * (J - 1);
    p->psi = mu * ((s[0] - 1) * (s[0] - 1) + (s[1] - 1) * (s[1] - 1)) + 0.5 * pressure * (J - 1);
    for (int i = 0; i < 2; i++) {
        p->d[i] = 2 * mu * (s[i] - 1) + pressure * s[1 - i];
        p->A[2 * i] = 2 * mu + lambda * s[1 - i] * s[1 - i];
    }
    p->A[1] = lambda * (2 * J - 1);
    p->flip = 2 * mu - pressure;
    p->twist = 2 * mu * (s[0] - 1 + (s[1] - 1)) / (s[0] + s[1]) + pressure;
}

void abut_membrane_principal(const abut_membrane *law, const double s[2], abut_plane_principal *p)
{
    switch (law->model) {
    case ABUT_STVK: stvk(law->mu, law->lambda, s, p); break;
    case ABUT_NEO_HOOKEAN: neo_hookean(law->mu, law->lambda, s, p); break;
    default: fixed_corotated(law->mu, law->lambda, s, p);
    }
}

/* A = [a b; b c] becomes the nearest positive semidefinite matrix: less its negative eigenvalues. */
static void project2(double A[3])
{
    const double a = A[0], b = A[1], c = A[2], half = 0.5 * (a + c), det = a * c - b * b;
    if (half >= 0 && det >= 0) return;
    const double root = hypot(0.5 * (a - c), b), high = half + root;
    if (high <= 0) {
        A[0] = A[1] = A[2] = 0;
        return;
    }
    /* high q q^T, q = (b, high - a) or (high - c, b), whichever is the longer */
    const double q[2] = { a < c ? b : high - c, a < c ? high - a : b }, w = high / (q[0] * q[0] + q[1] * q[1]);
    A[0] = w * q[0] * q[0];
    A[1] = w * q[0] * q[1];
    A[2] = w * q[1] * q[1];
}

void abut_plane_project(const abut_plane_principal *p, const double s[2], abut_plane_frame *f)
{
    double A[3] = { p->A[0], p->A[1], p->A[2] };
    const double flip = fmax(p->flip, 0), twist = fmax(p->twist, 0);
    project2(A);
    *f = (abut_plane_frame){ .P = { p->d[0], 0, 0, p->d[1] }, .R = { fmax(p->d[0] / s[0], 0), 0, fmax(p->d[1] / s[1], 0) } };
    f->G[0] = A[0];
    f->G[3] = f->G[12] = A[1];
    f->G[15] = A[2];
    f->G[5] = f->G[10] = 0.5 * (flip + twist);
    f->G[6] = f->G[9] = 0.5 * (flip - twist);
}

/* ---- fabrics ---- */

void abut_fabrics_take(const abut_membrane *const *law, abut_fabrics *f)
{
    for (int l = 0; l < ABUT_LANES; l++) {
        const double *a = law[l] ? law[l]->fabric : NULL, *m = law[l] ? law[l]->strain : NULL;
        for (int i = 0; i < 4; i++) f->a[i][l] = a ? a[i] : 0;
        for (int i = 0; i < 3; i++) f->m[i][l] = m ? m[i] : INFINITY;
    }
}

/* 11, 22 and 12 among 11,11; 11,22; 22,22; 12,12 */
static const int AT[3] = { 0, 2, 3 };

/* z: the squares of the strains, and the product of the first two; those of their bounds; z over that, less than 1 where the
 * bounds are kept */
typedef struct squares {
    abut_lanes z[4], bound[4], share[4];
} squares;

INLINE void squares_of(const abut_fabrics *f, const abut_lanes *e, squares *q)
{
    for (int i = 0; i < 4; i++) {
        const int a = i == 3 ? 2 : i / 2, b = i == 3 ? 2 : (i + 1) / 2;
        q->z[i] = e[a] * e[b];
        q->bound[i] = f->m[a] * f->m[b];
        q->share[i] = q->z[i] / q->bound[i];
    }
}

/* b(z, m) = -m ln(1 - z/m), z without a bound; c(y) = -ln(1 - y^2) - y^2 */
INLINE void psi_of(const abut_fabrics *f, double k, const abut_lanes *e, abut_lanes *psi)
{
    squares q;
    abut_lanes b[4], c[4];
    abut_lane_mask inside = { -1, -1, -1, -1 };
    squares_of(f, e, &q);
    for (int i = 0; i < 3; i++) inside &= ABUT_LANES_ABS(e[i]) < f->m[i];
    for (int i = 0; i < 4; i++) {
        const abut_lanes minus = ABUT_LANES_PICK(inside, -q.share[i], ABUT_LANES_ALL(0.));
        abut_lanes ln;
        abut_lanes_log1p(&minus, &ln);
        b[i] = ABUT_LANES_PICK(q.bound[i] < INFINITY, -q.bound[i] * ln, q.z[i]);
        c[i] = minus - ln;
    }
    *psi = 0.5 * f->a[0] * b[0] + f->a[2] * b[1] + 0.5 * f->a[1] * b[2] + f->a[3] * b[3] + k * (c[0] + c[2] + c[3]);
    *psi = ABUT_LANES_PICK(inside, *psi, ABUT_LANES_ALL((double)INFINITY));
}

/* S = dpsi/de, C = d2psi/de2 */
INLINE void derivatives_of(const abut_fabrics *f, double k, const abut_lanes *e, abut_lanes *S, abut_lanes *C)
{
    squares q;
    abut_lanes db[4], ddb[4];
    squares_of(f, e, &q);
    for (int i = 0; i < 4; i++) {
        db[i] = 1 / (1 - q.share[i]);
        ddb[i] = db[i] * db[i] / q.bound[i];
    }
    S[0] = f->a[0] * db[0] * e[0] + f->a[2] * db[1] * e[1];
    S[1] = f->a[1] * db[2] * e[1] + f->a[2] * db[1] * e[0];
    S[2] = 2 * f->a[3] * db[3] * e[2];
    C[0] = f->a[0] * (2 * ddb[0] * q.z[0] + db[0]) + f->a[2] * ddb[1] * q.z[2];
    C[1] = f->a[2] * (ddb[1] * q.z[1] + db[1]);
    C[2] = f->a[1] * (2 * ddb[2] * q.z[2] + db[2]) + f->a[2] * ddb[1] * q.z[0];
    C[3] = f->a[3] * (4 * ddb[3] * q.z[3] + 2 * db[3]);
    for (int j = 0; j < 3; j++) {
        const int i = AT[j];
        const abut_lanes per = 2 * k / q.bound[i] * q.share[i] * db[i];     /* c' over e */
        S[j] += per * e[j];
        C[i] += per * (3 - q.share[i]) * db[i];
    }
}

double abut_fabric(const abut_membrane *law, double k, const double e[3], double S[3], double C[4])
{
    const abut_membrane *const laws[ABUT_LANES] = { law, law, law, law };
    const abut_lanes at[3] = { ABUT_LANES_ALL(e[0]), ABUT_LANES_ALL(e[1]), ABUT_LANES_ALL(e[2]) };
    abut_fabrics f;
    abut_lanes psi, s[3], c[4];
    abut_fabrics_take(laws, &f);
    psi_of(&f, k, at, &psi);
    derivatives_of(&f, k, at, s, c);
    for (int i = 0; i < 3; i++) S[i] = s[i][0];
    for (int i = 0; i < 4; i++) C[i] = c[i][0];
    return psi[0];
}

/* e = (V diag(s^2) V^T - I)/2 */
INLINE void green(const abut_lanes *s, const abut_lanes *V, abut_lanes *e)
{
    const abut_lanes w[2] = { 0.5 * (s[0] - 1) * (s[0] + 1), 0.5 * (s[1] - 1) * (s[1] + 1) };
    e[0] = w[0] * V[0] * V[0] + w[1] * V[1] * V[1];
    e[1] = w[0] * V[2] * V[2] + w[1] * V[3] * V[3];
    e[2] = w[0] * V[0] * V[2] + w[1] * V[1] * V[3];
}

ABUT_LANES_CLONES
void abut_fabrics_psi(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, abut_lanes *psi)
{
    abut_lanes e[3];
    green(s, V, e);
    psi_of(f, k, e, psi);
}

/* T = V^T S V of the second Piola-Kirchhoff stress [S0 S2/2; S2/2 S1] */
INLINE void turn_stress(const abut_lanes *S, const abut_lanes *V, abut_lanes *T)
{
    const abut_lanes h = 0.5 * S[2];
    T[0] = S[0] * V[0] * V[0] + 2 * h * V[0] * V[2] + S[1] * V[2] * V[2];
    T[1] = S[0] * V[0] * V[1] + h * (V[0] * V[3] + V[1] * V[2]) + S[1] * V[2] * V[3];
    T[2] = S[0] * V[1] * V[1] + 2 * h * V[1] * V[3] + S[1] * V[3] * V[3];
}

ABUT_LANES_CLONES
void abut_fabrics_stress(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, abut_lanes *P)
{
    abut_lanes e[3], S[3], T[3], C[4];
    green(s, V, e);
    derivatives_of(f, k, e, S, C);
    turn_stress(S, V, T);
    P[0] += s[0] * T[0];
    P[1] += s[0] * T[1];
    P[2] += s[1] * T[1];
    P[3] += s[1] * T[2];
}

INLINE void semidefinite2(const abut_lanes *A, abut_lane_mask *is)
{
    *is = (A[0] >= 0) & (A[2] >= 0) & (A[0] * A[2] >= A[1] * A[1]);
}

/* project2 of the lanes that are not semidefinite */
static void project2_lanes(const abut_lane_mask *is, abut_lanes A[3])
{
    for (int l = 0; l < ABUT_LANES; l++) {
        double T[3] = { A[0][l], A[1][l], A[2][l] };
        if ((*is)[l]) continue;
        project2(T);
        for (int i = 0; i < 3; i++) A[i][l] = T[i];
    }
}

ABUT_LANES_CLONES
void abut_fabrics_hessian(const abut_fabrics *f, double k, const abut_lanes *s, const abut_lanes *V, abut_lanes *G,
                          abut_lanes *R)
{
    abut_lanes e[3], S[3], T[3], C[4], D[3][4], M[16];
    abut_lane_mask taut, stiff;
    green(s, V, e);
    derivatives_of(f, k, e, S, C);
    turn_stress(S, V, T);
    for (int i = 0; i < 2; i++)     /* de/dF along u_i v_p^T */
        for (int p = 0; p < 2; p++) {
            D[0][2 * i + p] = s[i] * V[i] * V[p];
            D[1][2 * i + p] = s[i] * V[2 + i] * V[2 + p];
            D[2][2 * i + p] = 0.5 * s[i] * (V[i] * V[2 + p] + V[2 + i] * V[p]);
        }
    for (int j = 0; j < 4; j++)
        for (int l = 0; l < 4; l++) {
            M[4 * j + l] = C[0] * D[0][j] * D[0][l] + C[1] * (D[0][j] * D[1][l] + D[1][j] * D[0][l]) + C[2] * D[1][j] * D[1][l] +
                           C[3] * D[2][j] * D[2][l];
            if (j / 2 == l / 2) M[4 * j + l] += T[j % 2 + l % 2];
        }
    semidefinite2(T, &taut);
    semidefinite2(C, &stiff);
    const abut_lane_mask doubtful = ~(taut & stiff), slack = ~taut;
    if (abut_lanes_any(&doubtful)) abut_psd_project4_lanes(M);
    if (abut_lanes_any(&slack)) project2_lanes(&taut, T);
    for (int j = 0; j < 16; j++) G[j] += M[j];
    for (int j = 0; j < 3; j++) R[j] += T[j];
}
