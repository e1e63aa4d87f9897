#include "energy/membrane.h"

#include "linalg/spd.h"

#include <math.h>
#include <string.h>

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
    if (law->fabric || law->model == ABUT_STVK || law->model == ABUT_NEO_HOOKEAN || law->model == ABUT_FIXED_COROTATED)
        return ABUT_OK;
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

/* b(z, m) = -m ln(1 - z/m) and its derivatives; m = INFINITY: z, 1, 0 */
static double bounded(double z, double m, double *db, double *d2b)
{
    const double left = m < INFINITY ? 1 - z / m : 1;
    *db = 1 / left;
    *d2b = m < INFINITY ? 1 / (m * left * left) : 0;
    return m < INFINITY ? -m * log1p(-z / m) : z;
}

/* c(y) for y^2 = z/m, z = e^2: its derivatives by e are dc e and d2c */
static double stiffened(double z, double m, double *dc, double *d2c)
{
    const double t = z / m, left = 1 - t;
    *dc = 2 / m * t / left;
    *d2c = 2 / m * t * (3 - t) / (left * left);
    return -log1p(-t) - t;
}

/* k (c(e11/m11) + c(e22/m22) + c(e12/m12)); z, bound: the squares of the strains and of their bounds */
static double stiffen(double k, const double e[3], const double z[4], const double bound[4], double S[3], double C[4])
{
    static const int at[3] = { 0, 2, 3 };    /* of 11, 22, 12 in z, bound and C */
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double dc, d2c;
        sum += k * stiffened(z[at[i]], bound[at[i]], &dc, &d2c);
        if (S) S[i] += k * dc * e[i];
        if (C) C[at[i]] += k * d2c;
    }
    return sum;
}

double abut_fabric(const abut_membrane *law, double k, const double e[3], double S[3], double C[4])
{
    const double *a = law->fabric, *m = law->strain;
    const double z[4] = { e[0] * e[0], e[0] * e[1], e[1] * e[1], e[2] * e[2] };
    double bound[4] = { INFINITY, INFINITY, INFINITY, INFINITY }, b[4], db[4], d2b[4];
    if (m) {
        for (int i = 0; i < 3; i++)
            if (!(fabs(e[i]) < m[i])) return INFINITY;
        bound[0] = m[0] * m[0];
        bound[1] = m[0] * m[1];
        bound[2] = m[1] * m[1];
        bound[3] = m[2] * m[2];
    }
    for (int i = 0; i < 4; i++) b[i] = bounded(z[i], bound[i], &db[i], &d2b[i]);
    if (S) {
        S[0] = a[0] * db[0] * e[0] + a[2] * db[1] * e[1];
        S[1] = a[1] * db[2] * e[1] + a[2] * db[1] * e[0];
        S[2] = 2 * a[3] * db[3] * e[2];
    }
    if (C) {
        C[0] = a[0] * (2 * d2b[0] * z[0] + db[0]) + a[2] * d2b[1] * z[2];
        C[1] = a[2] * (d2b[1] * z[1] + db[1]);
        C[2] = a[1] * (2 * d2b[2] * z[2] + db[2]) + a[2] * d2b[1] * z[0];
        C[3] = a[3] * (4 * d2b[3] * z[3] + 2 * db[3]);
    }
    const double psi = 0.5 * a[0] * b[0] + a[2] * b[1] + 0.5 * a[1] * b[2] + a[3] * b[3];
    return m && k > 0 ? psi + stiffen(k, e, z, bound, S, C) : psi;
}

/* e = (V diag(s^2) V^T - I)/2 */
static void green(const double s[2], const double V[4], double e[3])
{
    const double w[2] = { 0.5 * (s[0] - 1) * (s[0] + 1), 0.5 * (s[1] - 1) * (s[1] + 1) };
    e[0] = w[0] * V[0] * V[0] + w[1] * V[1] * V[1];
    e[1] = w[0] * V[2] * V[2] + w[1] * V[3] * V[3];
    e[2] = w[0] * V[0] * V[2] + w[1] * V[1] * V[3];
}

double abut_fabric_psi(const abut_membrane *law, double k, const double s[2], const double V[4])
{
    double e[3];
    green(s, V, e);
    return abut_fabric(law, k, e, NULL, NULL);
}

/* T = V^T S V of the second Piola-Kirchhoff stress [S0 S2/2; S2/2 S1] */
static void turn_stress(const double S[3], const double V[4], double T[3])
{
    const double h = 0.5 * S[2];
    T[0] = S[0] * V[0] * V[0] + 2 * h * V[0] * V[2] + S[1] * V[2] * V[2];
    T[1] = S[0] * V[0] * V[1] + h * (V[0] * V[3] + V[1] * V[2]) + S[1] * V[2] * V[3];
    T[2] = S[0] * V[1] * V[1] + 2 * h * V[1] * V[3] + S[1] * V[3] * V[3];
}

void abut_fabric_stress(const abut_membrane *law, double k, const double s[2], const double V[4], abut_plane_frame *f)
{
    double e[3], S[3], T[3];
    green(s, V, e);
    (void)abut_fabric(law, k, e, S, NULL);
    turn_stress(S, V, T);
    f->P[0] += s[0] * T[0];
    f->P[1] += s[0] * T[1];
    f->P[2] += s[1] * T[1];
    f->P[3] += s[1] * T[2];
}

static int semidefinite2(const double A[3]) { return A[0] >= 0 && A[2] >= 0 && A[0] * A[2] >= A[1] * A[1]; }

void abut_fabric_hessian(const abut_membrane *law, double k, const double s[2], const double V[4], abut_plane_frame *f)
{
    double e[3], S[3], T[3], C[4], D[3][4], G[16];
    green(s, V, e);
    (void)abut_fabric(law, k, e, S, C);
    turn_stress(S, V, T);
    for (int i = 0; i < 2; i++)     /* de/dF along u_i v_p^T */
        for (int p = 0; p < 2; p++) {
            D[0][2 * i + p] = s[i] * V[i] * V[p];
            D[1][2 * i + p] = s[i] * V[2 + i] * V[2 + p];
            D[2][2 * i + p] = 0.5 * s[i] * (V[i] * V[2 + p] + V[2 + i] * V[p]);
        }
    for (int j = 0; j < 4; j++)
        for (int l = 0; l < 4; l++)
            G[4 * j + l] = C[0] * D[0][j] * D[0][l] + C[1] * (D[0][j] * D[1][l] + D[1][j] * D[0][l]) + C[2] * D[1][j] * D[1][l] +
                           C[3] * D[2][j] * D[2][l] + (j / 2 == l / 2 ? T[j % 2 + l % 2] : 0);
    const int taut = semidefinite2(T);
    if (!taut || !semidefinite2(C)) abut_psd_project(4, G);
    if (!taut) project2(T);
    for (int j = 0; j < 16; j++) f->G[j] += G[j];
    for (int j = 0; j < 3; j++) f->R[j] += T[j];
}
