/* Small models made by hand, for the tests of contact, energies and the time step. */
#ifndef ABUT_TESTS_FIXTURE_H
#define ABUT_TESTS_FIXTURE_H

#include "check.h"
#include "contact/intersect.h"
#include "model/schemes.h"

#include <stdint.h>

enum { LOW_SCHEMES = 4 };    /* rows of model/schemes.h with inertia, of order 1 and 2 */

/* Boxes of nx x ny x nz cells, six tets each (Kuhn), and flat sheets of shells, joined into one model. */
typedef struct fixture {
    double X[3 * 4096];
    int32_t tet[4 * 16384], role[4096], body[4096];
    int32_t tri[3 * 8192], edge[2 * 16384], node[4096];
    int32_t nv, nt, ntri, nedge, no;
    double stiffen_below;               /* m; 0: the default */
    double h, dhat, mu, eps_v, tol, young, poisson, gravity[3];
    int material, lags, plane;          /* plane: half-space y >= 0 */
    int32_t shell[3 * 4096], nshell;    /* all of one thickness, row of limits and membrane */
    double shell_rest[4 * 4096], shell_thick, limit[4], fabric[4], strain[3];
    int32_t membrane;
    int32_t scheme;
    double newmark[2];      /* beta, gamma; 0: none said */
    double damp_mass, damp_stiffness;
    int32_t mo_nodes[4096], mo_first[2 * 8], n_mo_nodes, nmo;
    double mo_linear[3 * 8], mo_angular[3 * 8];
} fixture;

static inline fixture *fixture_new(void)
{
    fixture *f = calloc(1, sizeof *f);
    f->h = 0.01;
    f->dhat = 1e-3;
    f->eps_v = 1e-3;
    f->tol = 1e-4;
    f->young = 1e5;
    f->poisson = 0.4;
    f->lags = 1;
    f->gravity[1] = -9.81;
    f->shell_thick = 1e-3;
    return f;
}

static inline void fixture_face(fixture *f, int32_t a, int32_t b, int32_t c)
{
    /* a face met a second time is inner: drop both */
    for (int32_t t = 0; t < f->ntri; t++) {
        int same = 0;
        for (int k = 0; k < 3; k++) same += f->tri[3 * t + k] == a || f->tri[3 * t + k] == b || f->tri[3 * t + k] == c;
        if (same == 3) {
            f->ntri--;
            for (int k = 0; k < 3; k++) f->tri[3 * t + k] = f->tri[3 * f->ntri + k];
            return;
        }
    }
    int32_t *t = f->tri + 3 * f->ntri++;
    t[0] = a, t[1] = b, t[2] = c;
}

/* One tet with corners X[12], positively oriented; returns its object. */
static inline int32_t fixture_tet(fixture *f, const double X[12])
{
    const int32_t a = f->nv;
    memcpy(f->X + 3 * a, X, 12 * sizeof *X);
    for (int32_t k = 0; k < 4; k++) {
        f->tet[4 * f->nt + k] = a + k;
        f->body[f->nv++] = f->no;
    }
    f->nt++;
    fixture_face(f, a, a + 2, a + 1);
    fixture_face(f, a, a + 1, a + 3);
    fixture_face(f, a, a + 3, a + 2);
    fixture_face(f, a + 1, a + 2, a + 3);
    return f->no++;
}

/* A box with its lowest corner at o; returns its object. */
static inline int32_t fixture_box(fixture *f, double ox, double oy, double oz, double sx, double sy, double sz, int nx,
                                  int ny, int nz, int obstacle)
{
    static const int perm[6][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 2, 1, 0 }, { 1, 0, 2 } };
    const int32_t base = f->nv;
    for (int i = 0; i <= nx; i++)
        for (int j = 0; j <= ny; j++)
            for (int k = 0; k <= nz; k++) {
                double *X = f->X + 3 * f->nv;
                X[0] = ox + sx * i / nx, X[1] = oy + sy * j / ny, X[2] = oz + sz * k / nz;
                f->role[f->nv] = obstacle ? ABUT_NODE_OBSTACLE : ABUT_NODE_FREE;
                f->body[f->nv++] = f->no;
            }
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            for (int k = 0; k < nz; k++)
                for (int p = 0; p < 6; p++) {
                    int c[3] = { i, j, k };
                    int32_t v[4];
                    for (int s = 0; s < 4; s++) {
                        v[s] = base + (c[0] * (ny + 1) + c[1]) * (nz + 1) + c[2];
                        if (s < 3) c[perm[p][s]]++;
                    }
                    if (p >= 3) { /* odd permutations come out mirrored */
                        const int32_t swap = v[1];
                        v[1] = v[2], v[2] = swap;
                    }
                    if (!obstacle) memcpy(f->tet + 4 * f->nt++, v, sizeof v);
                    fixture_face(f, v[0], v[2], v[1]);
                    fixture_face(f, v[0], v[1], v[3]);
                    fixture_face(f, v[0], v[3], v[2]);
                    fixture_face(f, v[1], v[2], v[3]);
                }
    return f->no++;
}

/* A flat sheet at the height oy over [ox, ox + sx] x [oz, oz + sz], diagonals alternating; warp along x, weft along z.  Node
 * (i, k) is the first node plus i (nz + 1) + k.  Returns its object. */
static inline int32_t fixture_sheet(fixture *f, double ox, double oy, double oz, double sx, double sz, int nx, int nz)
{
    const int32_t base = f->nv;
    for (int i = 0; i <= nx; i++)
        for (int k = 0; k <= nz; k++) {
            double *X = f->X + 3 * f->nv;
            X[0] = ox + sx * i / nx, X[1] = oy, X[2] = oz + sz * k / nz;
            f->role[f->nv] = ABUT_NODE_FREE;
            f->body[f->nv++] = f->no;
        }
    for (int i = 0; i < nx; i++)
        for (int k = 0; k < nz; k++) {
            const int32_t a = base + i * (nz + 1) + k, b = a + nz + 1, quad[4] = { a, b, b + 1, a + 1 };
            for (int t = 0; t < 2; t++) {
                const int at = (i + k) % 2;
                const int32_t v[3] = { quad[at], quad[at + 1 + t], quad[(at + 2 + t) % 4] };
                double *R = f->shell_rest + 4 * f->nshell;
                for (int c = 0; c < 2; c++)
                    for (int d = 0; d < 2; d++) R[2 * d + c] = f->X[3 * v[1 + c] + 2 * d] - f->X[3 * v[0] + 2 * d];
                memcpy(f->shell + 3 * f->nshell++, v, sizeof v);
                memcpy(f->tri + 3 * f->ntri++, v, sizeof v);
            }
        }
    return f->no++;
}

/* Holds one node where it is, or moves it. */
static inline void fixture_pin(fixture *f, int32_t node, const double linear[3])
{
    const int32_t k = f->nmo++;
    f->mo_first[2 * k] = f->n_mo_nodes;
    f->role[node] = ABUT_NODE_HANDLE;
    f->mo_nodes[f->n_mo_nodes++] = node;
    f->mo_first[2 * k + 1] = f->n_mo_nodes;
    memcpy(f->mo_linear + 3 * k, linear, 3 * sizeof(double));
}

/* Prescribes a rigid motion of all nodes of an object inside a slab lo <= X[axis] <= hi. */
static inline void fixture_move(fixture *f, int32_t object, int axis, double lo, double hi, const double linear[3],
                                const double angular[3])
{
    const int32_t k = f->nmo++;
    f->mo_first[2 * k] = f->n_mo_nodes;
    for (int32_t i = 0; i < f->nv; i++) {
        if (f->body[i] != object || f->X[3 * i + axis] < lo || f->X[3 * i + axis] > hi) continue;
        if (f->role[i] == ABUT_NODE_FREE) f->role[i] = ABUT_NODE_HANDLE;
        f->mo_nodes[f->n_mo_nodes++] = i;
    }
    f->mo_first[2 * k + 1] = f->n_mo_nodes;
    memcpy(f->mo_linear + 3 * k, linear, 3 * sizeof(double));
    memcpy(f->mo_angular + 3 * k, angular, 3 * sizeof(double));
}

static inline void fixture_edge(fixture *f, int32_t a, int32_t b)
{
    if (a > b) {
        const int32_t s = a;
        a = b, b = s;
    }
    for (int32_t e = 0; e < f->nedge; e++)
        if (f->edge[2 * e] == a && f->edge[2 * e + 1] == b) return;
    f->edge[2 * f->nedge] = a;
    f->edge[2 * f->nedge++ + 1] = b;
}

#define FIXTURE_PUT(name, rows, src) \
    do { \
        abut_err fe_ = { 0 }; \
        void *p_ = abut_model_put(set, name, rows, &fe_); \
        if (!p_) printf("# fixture: %s\n", fe_.msg), abort(); \
        const abut_array *a_ = abut_arrays_find(set, name); \
        memcpy(p_, src, abut_array_bytes(a_)); \
    } while (0)

/* The MODEL and its first FRAME (rest shape, velocity v0 for the objects listed by it: v0[3 * object]). */
static inline void fixture_build(fixture *f, abut_arrays *set, abut_arrays *frame, const double *v0)
{
    /* collision vertices are all nodes: fine for hollow tests, inner ones simply never touch */
    for (int32_t i = 0; i < f->nv; i++) f->node[i] = i;
    for (int32_t t = 0; t < f->ntri; t++)
        for (int k = 0; k < 3; k++) fixture_edge(f, f->tri[3 * t + k], f->tri[3 * t + (k + 1) % 3]);
    double lo[3] = { 1e30, 1e30, 1e30 }, hi[3] = { -1e30, -1e30, -1e30 };
    double *mass = calloc((size_t)f->nv, sizeof *mass), total = 0;
    int32_t nsim = 0;
    for (int32_t t = 0; t < f->nt; t++) {
        const int32_t *v = f->tet + 4 * t;
        double d[3][3];
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++) d[a][k] = f->X[3 * v[a + 1] + k] - f->X[3 * v[0] + k];
        const double vol =
            (d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
             d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0])) /
            6;
        if (!(vol > 0)) printf("# fixture: tet %d has volume %g\n", t, vol), abort();
        for (int a = 0; a < 4; a++) mass[v[a]] += 1000 * vol / 4;
        total += 1000 * vol;
    }
    for (int32_t t = 0; t < f->nshell; t++) {
        const double *R = f->shell_rest + 4 * t, part = 1000 * 0.5 * (R[0] * R[3] - R[1] * R[2]) * f->shell_thick / 3;
        for (int a = 0; a < 3; a++) mass[f->shell[3 * t + a]] += part;
        total += 3 * part;
    }
    for (int32_t i = 0; i < f->nv; i++) {
        if (f->role[i] == ABUT_NODE_OBSTACLE) continue;
        nsim++;
        for (int k = 0; k < 3; k++) lo[k] = fmin(lo[k], f->X[3 * i + k]), hi[k] = fmax(hi[k], f->X[3 * i + k]);
    }
    for (int32_t i = 0; i < f->nv; i++)
        if (f->role[i] == ABUT_NODE_OBSTACLE) mass[i] = total / nsim;
    const double l =
        sqrt((hi[0] - lo[0]) * (hi[0] - lo[0]) + (hi[1] - lo[1]) * (hi[1] - lo[1]) + (hi[2] - lo[2]) * (hi[2] - lo[2]));
    int32_t *zeros = calloc((size_t)f->nt + (size_t)f->no + (size_t)f->nshell + 8, sizeof *zeros);
    const double rho = 1000, window[16] = { 0, 1e9, 0, 1e9, 0, 1e9, 0, 1e9, 0, 1e9, 0, 1e9, 0, 1e9, 0, 1e9 };
    const double origin[3] = { 0, 0, 0 }, up[3] = { 0, 1, 0 }, centers[24] = { 0 };
    /* Li 2020, App. F, written out: mean mass 1e11 / (4e-16 l^2 b''(1e-16 l^2)) */
    const double D = 1e-16 * l * l, H = f->dhat * f->dhat, b2 = -2 * log(D / H) + (H - D) * (H + 3 * D) / (D * D);
    const double kappa = 1e11 * (total / nsim) / (4e-16 * l * l * b2), kappa_max = 100 * kappa;
    FIXTURE_PUT("node/X", f->nv, f->X);
    FIXTURE_PUT("node/mass", f->nv, mass);
    FIXTURE_PUT("node/role", f->nv, f->role);
    FIXTURE_PUT("node/object", f->nv, f->body);
    if (f->nt) FIXTURE_PUT("tet/node", f->nt, f->tet);
    if (f->nt) FIXTURE_PUT("tet/material", f->nt, zeros);
    const int32_t material = f->material, lags = f->lags;
    FIXTURE_PUT("material/model", 1, &material);
    FIXTURE_PUT("material/density", 1, &rho);
    FIXTURE_PUT("material/young", 1, &f->young);
    FIXTURE_PUT("material/poisson", 1, &f->poisson);
    if (f->nshell) {
        double *thick = calloc(5 * (size_t)f->nshell, sizeof *thick), *limit = thick + f->nshell;
        for (int32_t t = 0; t < f->nshell; t++) {
            thick[t] = f->shell_thick;
            memcpy(limit + 4 * t, f->limit, sizeof f->limit);
        }
        FIXTURE_PUT("shell/node", f->nshell, f->shell);
        FIXTURE_PUT("shell/material", f->nshell, zeros);
        FIXTURE_PUT("shell/thickness", f->nshell, thick);
        FIXTURE_PUT("shell/rest", f->nshell, f->shell_rest);
        if (f->limit[1] > 0 || f->limit[2] > 0) FIXTURE_PUT("shell/stretch-limit", f->nshell, limit);
        free(thick);
        if (f->membrane) {
            FIXTURE_PUT("material/membrane", 1, &f->membrane);
            FIXTURE_PUT("material/fabric", 1, f->fabric);
            FIXTURE_PUT("material/strain-limit", 1, f->strain);
        }
    }
    FIXTURE_PUT("object/friction", f->no, zeros);
    FIXTURE_PUT("contact/node", f->nv, f->node);
    FIXTURE_PUT("contact/edge", f->nedge, f->edge);
    FIXTURE_PUT("contact/triangle", f->ntri, f->tri);
    FIXTURE_PUT("contact/mu", 1, &f->mu);
    if (f->plane) {
        FIXTURE_PUT("half-space/point", 1, origin);
        FIXTURE_PUT("half-space/normal", 1, up);
        FIXTURE_PUT("half-space/friction", 1, zeros);
    }
    if (f->nmo) {
        FIXTURE_PUT("motion/kind", f->nmo, zeros);
        FIXTURE_PUT("motion/window", f->nmo, window);
        FIXTURE_PUT("motion/linear", f->nmo, f->mo_linear);
        FIXTURE_PUT("motion/angular", f->nmo, f->mo_angular);
        FIXTURE_PUT("motion/center", f->nmo, centers);
        FIXTURE_PUT("motion/first", f->nmo, f->mo_first);
        FIXTURE_PUT("motion/node", f->n_mo_nodes, f->mo_nodes);
    }
    FIXTURE_PUT("world/gravity", 3, f->gravity);
    FIXTURE_PUT("time/step", 1, &f->h);
    if (f->damp_mass > 0) FIXTURE_PUT("damping/mass", 1, &f->damp_mass);
    if (f->damp_stiffness > 0) FIXTURE_PUT("damping/stiffness", 1, &f->damp_stiffness);
    if (f->scheme) FIXTURE_PUT("time/scheme", 1, &f->scheme);
    if (f->newmark[0] > 0) FIXTURE_PUT("time/newmark-beta", 1, f->newmark);
    if (f->newmark[1] > 0) FIXTURE_PUT("time/newmark-gamma", 1, f->newmark + 1);
    FIXTURE_PUT("scene/length", 1, &l);
    FIXTURE_PUT("contact/dhat", 1, &f->dhat);
    if (f->stiffen_below > 0) FIXTURE_PUT("contact/stiffen-below", 1, &f->stiffen_below);
    FIXTURE_PUT("contact/eps-v", 1, &f->eps_v);
    FIXTURE_PUT("contact/lags", 1, &lags);
    FIXTURE_PUT("solve/tolerance", 1, &f->tol);
    FIXTURE_PUT("contact/kappa-min", 1, &kappa);
    FIXTURE_PUT("contact/kappa-max", 1, &kappa_max);
    abut_err err = { 0 };
    double *x = abut_frame_put(frame, "node/x", f->nv, &err), *v = abut_frame_put(frame, "node/v", f->nv, &err);
    if (!x || !v) printf("# fixture: %s\n", err.msg), abort();
    x = abut_arrays_find(frame, "node/x")->data;
    memcpy(x, f->X, 3 * (size_t)f->nv * sizeof *x);
    for (int32_t i = 0; i < f->nv && v0; i++)
        for (int k = 0; k < 3; k++) v[3 * i + k] = v0[3 * f->body[i] + k];
    free(mass);
    free(zeros);
}

#endif
