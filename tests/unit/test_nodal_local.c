/* The exact law of one contact: solve/nodal/coulomb_inline.h. */
#include "check.h"

#include "nodal_net.h"
#include "solve/nodal/coulomb_inline.h"
#include "tests/bench/coulomb_copies.h"
#include "tests/bench/coulomb_general.h"

TEST(reference_values_have_the_bits_of_their_closed_form)
{
    static const struct {
        double mu, in[3], out[3];
    } row[] = { { 0.5, { 1, 0, -1 }, { 0.5, 0, 0 } },
                { 0.5, { 0.3, 0.4, -1 }, { 0, 0, 0 } },
                { 0.5, { 1, 2, 0.1 }, { 1, 2, 0.1 } },
                { 0.5, { 0, 0, -1 }, { 0, 0, 0 } },
                { 0, { 1, 0, -1 }, { 1, 0, 0 } } };
    static const double n[3] = { 0, 0, 1 };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double u[3];
        (void)abut_coulomb_velocity(row[i].in, n, row[i].mu, u);
        for (int d = 0; d < 3; d++) CHECK(u[d] == row[i].out[d]);
    }
}

/* The law itself, checked on a million problems: no residual beyond rounding, and the state it says. */
TEST(a_million_random_problems_have_no_residual)
{
    static const double mus[] = { 0, 0.05, 0.2, 0.5, 1, 3, 1000 };
    abut_rng rng = { 1 };
    double worst = 0, most_off_cone = 0;
    int seen[3] = { 0, 0, 0 };
    for (int i = 0; i < 1000000; i++) {
        double n[3], ustar[3], u[3], r[3];
        net_unit(&rng, n);
        const double mu = mus[abut_rng_below(&rng, 7)], scale = pow(10, abut_rng_real(&rng, -6, 3));
        const double along = abut_rng_real(&rng, -1, 1) * scale;
        for (int d = 0; d < 3; d++) ustar[d] = i % 50 ? scale * abut_rng_real(&rng, -1, 1) : along * n[d];
        const abut_touch_state state = abut_coulomb_velocity(ustar, n, mu, u);
        for (int d = 0; d < 3; d++) r[d] = u[d] - ustar[d];
        seen[state]++;
        worst = fmax(worst, abut_coulomb_residual(u, r, n, mu) / (scale * fmax(1, mu)));
        const double rN = r[0] * n[0] + r[1] * n[1] + r[2] * n[2];
        double rT = 0;
        for (int d = 0; d < 3; d++) rT += (r[d] - rN * n[d]) * (r[d] - rN * n[d]);
        if (state == ABUT_TOUCH_SLIDES && mu > 0) most_off_cone = fmax(most_off_cone, fabs(sqrt(rT) / (mu * rN) - 1));
    }
    printf("# residual %.3g, off the cone %.3g, open %d, stick %d, slide %d\n", worst, most_off_cone, seen[0], seen[1], seen[2]);
    CHECK(worst < 1e-12);
    CHECK(most_off_cone < 1e-9);
    CHECK(seen[0] > 100000);
    CHECK(seen[1] > 100000);
    CHECK(seen[2] > 100000);
}

/* De Saxce's bipotential: r = projection of r - rho (u + mu |u_T| n) onto the cone, from the other side: impulses. */
static void project_onto_cone(double r[3], const double n[3], double mu)
{
    const double rN = r[0] * n[0] + r[1] * n[1] + r[2] * n[2];
    double t[3], size = 0;
    for (int d = 0; d < 3; d++) {
        t[d] = r[d] - rN * n[d];
        size += t[d] * t[d];
    }
    size = sqrt(size);
    if (size <= mu * rN) return;
    const double on = mu * size <= -rN ? 0 : (rN + mu * size) / (1 + mu * mu);
    for (int d = 0; d < 3; d++) r[d] = on * (n[d] + (size > 0 ? mu * t[d] / size : 0));
}

TEST(a_fixed_point_on_impulses_finds_the_same_velocities)
{
    static const double mus[] = { 0, 0.05, 0.2, 0.5 };
    abut_rng rng = { 2 };
    double worst = 0;
    for (int i = 0; i < 2000; i++) {
        double n[3], ustar[3], u[3], r[3] = { 0, 0, 0 };
        net_unit(&rng, n);
        const double mu = mus[i % 4];
        for (int d = 0; d < 3; d++) ustar[d] = abut_rng_real(&rng, -1, 1);
        for (int k = 0; k < 400; k++) {
            double v[3], uN = 0, uT = 0;
            for (int d = 0; d < 3; d++) v[d] = ustar[d] + r[d], uN += v[d] * n[d];
            for (int d = 0; d < 3; d++) uT += (v[d] - uN * n[d]) * (v[d] - uN * n[d]);
            for (int d = 0; d < 3; d++) r[d] -= 0.5 * (v[d] + mu * sqrt(uT) * n[d]);
            project_onto_cone(r, n, mu);
        }
        (void)abut_coulomb_velocity(ustar, n, mu, u);
        for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(u[d] - ustar[d] - r[d]));
    }
    CHECK(worst < 1e-12);
}

/* No facets: on a plane, friction is along the slide in every direction. */
TEST(friction_opposes_the_slide_in_every_direction)
{
    static const double n[3] = { 0, 0, 1 };
    for (int i = 0; i < 3600; i++) {
        const double a = 2 * 3.14159265358979323846 * i / 3600, ustar[3] = { cos(a), sin(a), -0.5 };
        double u[3];
        CHECK(abut_coulomb_velocity(ustar, n, 0.7, u) == ABUT_TOUCH_SLIDES);
        const double r[2] = { u[0] - ustar[0], u[1] - ustar[1] };
        CHECK(fabs(r[0] * u[1] - r[1] * u[0]) < 1e-10 * hypot(r[0], r[1]) * hypot(u[0], u[1]));
        CHECK(r[0] * u[0] + r[1] * u[1] < 0);
    }
}

/* ---- what others need: full blocks, by a quartic and by Newton's method (tests/bench/coulomb_general.h) ---- */

static double general_residual(const double W[9], const double b[3], double mu, const double r[3])
{
    static const double n[3] = { 1, 0, 0 };
    const double s = (W[0] + W[4] + W[8]) / 3, rbar[3] = { s * r[0], s * r[1], s * r[2] };
    double u[3], size = 0;
    general_apply(W, r, b, u);
    for (int d = 0; d < 3; d++) size = fmax(size, fmax(fabs(b[d]), fmax(fabs(u[d]), fabs(rbar[d]))));
    return abut_coulomb_residual(u, rbar, n, mu) / (size * fmax(1, mu));
}

/* A random symmetric positive definite block of condition up to 1e4. */
static void random_block(abut_rng *rng, double W[9])
{
    double B[9];
    for (int k = 0; k < 9; k++) B[k] = abut_rng_real(rng, -1, 1) * pow(10, abut_rng_real(rng, -1, 0));
    for (int k = 0; k < 9; k++) {
        W[k] = k % 4 == 0 ? 1e-4 : 0;
        for (int j = 0; j < 3; j++) W[k] += B[3 * (k / 3) + j] * B[3 * (k % 3) + j];
    }
}

TEST(a_quartic_solves_every_contact_with_a_full_block)
{
    static const double mus[] = { 0.05, 0.2, 0.5, 1, 3 };
    abut_rng rng = { 7 };
    double worst = 0, newton = 0;
    int converged = 0, none = 0;
    const int runs = check_runs(100000, 1000000);
    for (int i = 0; i < runs; i++) {
        double W[9], b[3], r[3], r2[3] = { 0, 0, 0 };
        random_block(&rng, W);
        for (int d = 0; d < 3; d++) b[d] = abut_rng_real(&rng, -1, 1);
        const double mu = mus[abut_rng_below(&rng, 5)];
        if (!general_enumerate(W, b, mu, r)) none++;
        else worst = fmax(worst, general_residual(W, b, mu, r));
        if (b[0] < 0 && general_newton(W, b, mu, r2)) {
            converged++;
            newton = fmax(newton, general_residual(W, b, mu, r2));
        }
    }
    printf("# residual %.3g; Newton converged in %.1f %%, residual %.3g; %d without a root\n", worst, 200. * converged / runs,
           newton, none);
    CHECK(none == 0);
    CHECK(worst < 1e-8);
    CHECK(converged > runs / 2 * 0.9);
    CHECK(newton < 1e-8);
}

TEST(the_quartic_agrees_with_the_closed_form_where_the_block_is_isotropic)
{
    static const double n[3] = { 1, 0, 0 };
    abut_rng rng = { 8 };
    double worst = 0;
    for (int i = 0; i < 20000; i++) {
        const double s = pow(10, abut_rng_real(&rng, -2, 2)), W[9] = { s, 0, 0, 0, s, 0, 0, 0, s }, mu = 0.1 + 0.1 * (i % 9);
        double b[3], r[3], u[3], v[3];
        for (int d = 0; d < 3; d++) b[d] = abut_rng_real(&rng, -1, 1);
        CHECK(general_enumerate(W, b, mu, r));
        general_apply(W, r, b, v);
        (void)abut_coulomb_velocity(b, n, mu, u);
        for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(u[d] - v[d]));
    }
    CHECK(worst < 1e-12);
}

/* ---- the same by copies of nodes (tests/bench/coulomb_copies.h) ---- */

enum { NET = 12, NET_CONTACTS = 4 };

/* Contacts between node 0 and others, and of node 1 with an obstacle, so that 0 has two or three and 1 two. */
static const int32_t net_node[2 * NET_CONTACTS] = { 0, 1, 0, 2, 1, -1, 3, -1 };

TEST(copies_of_nodes_solve_the_dynamics_and_the_law_of_all_contacts)
{
    abut_rng rng = { 23 };
    double worst = 0, apart = 0;
    int sweeps = 0;
    for (int problem = 0; problem < 12; problem++) {
        size_t ptr[NET + 1];
        int32_t col[NET * NET];
        double val[9 * NET * NET], f[3 * NET], k[3 * NET_CONTACTS], E[9 * NET_CONTACTS], mu[NET_CONTACTS], v0[3 * NET] = { 0 };
        /* springs between neighbours and masses */
        memset(val, 0, sizeof val);
        for (int i = 0; i <= NET; i++) ptr[i] = (size_t)(NET * i);
        for (int i = 0; i < NET; i++) {
            for (int j = 0; j < NET; j++) col[NET * i + j] = j;
            for (int d = 0; d < 3; d++) val[9 * (NET * i + i) + 4 * d] += abut_rng_real(&rng, 1, 3);
            for (int d = 0; d < 3; d++) f[3 * i + d] = abut_rng_real(&rng, -1, 1);
        }
        for (int i = 0; i < NET; i++) {
            const int j = (i + 1 + problem % 3) % NET;
            double a[3];
            for (int d = 0; d < 3; d++) a[d] = abut_rng_real(&rng, -1, 1);
            for (int l = 0; l < 9; l++) {
                const double h = a[l / 3] * a[l % 3];
                val[9 * (NET * i + i) + l] += h, val[9 * (NET * j + j) + l] += h;
                val[9 * (NET * i + j) + l] -= h, val[9 * (NET * j + i) + l] -= h;
            }
        }
        for (int c = 0; c < NET_CONTACTS; c++) {
            double n[3], size = 0;
            for (int d = 0; d < 3; d++) n[d] = abut_rng_real(&rng, -1, 1), size += n[d] * n[d];
            for (int d = 0; d < 3; d++) n[d] /= sqrt(size), k[3 * c + d] = abut_rng_real(&rng, -0.4, 0.2);
            general_frame(n, E + 9 * c);
            mu[c] = abut_rng_real(&rng, 0, 0.6);
        }
        copies s = { .n = NET, .contacts = NET_CONTACTS, .ptr = ptr, .col = col, .val = val, .f = f, .node = net_node, .E = E,
                     .k = k, .mu = mu };
        CHECK(copies_begin(&s, v0));
        double change = 1;
        int n = 0;
        while (n < 5000 && change + copies_spread(&s) > 1e-13) change = copies_sweep(&s), n++;
        sweeps += n;
        apart = fmax(apart, copies_spread(&s));
        /* A v - f = B^T r, from the mean velocities and the forces of contacts */
        double left[3 * NET];
        for (int i = 0; i < 3 * NET; i++) {
            left[i] = -f[i];
            for (int j = 0; j < 3 * NET; j++) left[i] += val[9 * (NET * (i / 3) + j / 3) + 3 * (i % 3) + j % 3] * s.v[j];
        }
        for (int e = 0; e < 2 * NET_CONTACTS; e++)
            for (int d = 0; d < 3 && net_node[e] >= 0; d++) left[3 * net_node[e] + d] -= s.r[3 * e + d];
        for (int i = 0; i < 3 * NET; i++) worst = fmax(worst, fabs(left[i]));
        for (int c = 0; c < NET_CONTACTS; c++) {
            const int32_t i = net_node[2 * c], j = net_node[2 * c + 1];
            double u[3];
            for (int d = 0; d < 3; d++) u[d] = s.v[3 * i + d] - (j < 0 ? 0 : s.v[3 * j + d]) + k[3 * c + d];
            worst = fmax(worst, abut_coulomb_residual(u, s.r + 6 * c, E + 9 * c, mu[c]));
            for (int d = 0; d < 3 && j >= 0; d++) CHECK(s.r[6 * c + d] == -s.r[6 * c + 3 + d]);
        }
        copies_clear(&s);
    }
    printf("# %d sweeps on average, worst residual %.3g, copies apart by %.3g\n", sweeps / 12, worst, apart);
    CHECK(worst < 1e-9);
    CHECK(apart < 1e-9);
}
