/* Sets of contacts and the projection by Gauss-Seidel: contact/touching.h, solve/nodal/coulomb.h. */
#include "check.h"

#include "base/par.h"
#include "nodal_net.h"
#include "solve/nodal/coulomb_inline.h"

static void project(net *e, int sweeps, const double *from)
{
    const abut_project_options o = { .sweeps = sweeps };
    CHECK(!abut_project(&e->q, &e->t, e->inv_w, from, &o, e->p, &e->err));
}

/* The largest residual of the law at e->p. */
static double residual(const net *e)
{
    double worst = 0;
    for (size_t c = 0; c < e->t.n; c++) {
        double u[3];
        abut_touching_velocity(&e->t, c, e->p, u);
        worst = fmax(worst, abut_coulomb_residual(u, e->t.rbar + 3 * c, e->t.normal + 3 * c, e->t.mu[c]));
    }
    return worst;
}

static double penetration(const net *e)
{
    double worst = 0;
    for (size_t c = 0; c < e->t.n; c++) {
        double u[3], uN = 0;
        abut_touching_velocity(&e->t, c, e->p, u);
        for (size_t d = 0; d < 3; d++) uN += u[d] * e->t.normal[3 * c + d];
        worst = fmax(worst, -uN);
    }
    return worst;
}

/* |W p - W v - B^T r|, the largest. */
static double imbalance(const net *e, const double *v)
{
    double *f = calloc(3 * (size_t)e->nodes, sizeof *f), worst = 0;
    abut_touching_forces(&e->t, f);
    for (int32_t i = 0; i < 3 * e->nodes; i++) worst = fmax(worst, fabs(e->w[i / 3] * (e->p[i] - v[i]) - f[i]));
    free(f);
    return worst;
}

/* From zero impulses the same v is projected again and again: rbar is kept, so sweeps add up. */
TEST(sweeps_converge_to_signorini_and_coulomb)
{
    double worst = 0, off = 0;
    long sweeps = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        net e;
        net_make(&e, seed, 200, 100, 0.5);
        int k = 0;
        for (; k < 2000 && (k == 0 || residual(&e) > 1e-12); k += 5) project(&e, 5, e.v);
        sweeps += k;
        worst = fmax(worst, residual(&e));
        off = fmax(off, imbalance(&e, e.v));
        net_clear(&e);
    }
    printf("# mean sweeps %ld, residual %.3g, imbalance %.3g\n", sweeps / 20, worst, off);
    CHECK(worst < 1e-12);
    CHECK(off < 1e-12);
}

TEST(truncated_sweeps_leave_the_penetration_that_is_known_of_them)
{
    static const int sweeps[] = { 1, 5, 10, 25, 100 };
    static const double known[3][5] = { { 0.57, 0.11, 0.036, 3.6e-3, 2.7e-7 }, { 0.96, 0.41, 0.24, 0.085, 6e-3 },
                                        { 1.0, 0.45, 0.32, 0.16, 0.038 } };
    static const struct { int32_t nodes; size_t contacts; } size[] = { { 200, 100 }, { 100, 200 }, { 40, 200 } };
    for (int s = 0; s < 3; s++)
        for (int k = 0; k < 5; k++) {
            double mean = 0;
            for (uint64_t seed = 1; seed <= 20; seed++) {
                net e;
                net_make(&e, seed + 100, size[s].nodes, size[s].contacts, 0.3);
                project(&e, sweeps[k], e.v);
                mean += penetration(&e) / 20;
                net_clear(&e);
            }
            printf("# %d nodes %zu contacts, %d sweeps: %.3g, known %.3g\n", size[s].nodes, size[s].contacts, sweeps[k], mean,
                   known[s][k]);
            CHECK(mean < 4 * known[s][k] + 1e-5);
            CHECK(mean > known[s][k] / 4 || known[s][k] < 1e-4);
        }
}

/* Two frictionless half-spaces on one node, normals at -10 and +40 degrees from y (Daviet 2020, figure 5). */
static void two_planes(abut_touching *t, abut_err *err)
{
    static const double inv_w[1] = { 1 }, one[1] = { 1 };
    static const int32_t node[1] = { 0 };
    const double degree = 3.14159265358979323846 / 180, angle[2] = { -10 * degree, 40 * degree };
    CHECK(!abut_touching_begin(t, 1, err));
    for (int k = 0; k < 2; k++) {
        const abut_touch c = { .key = { .kind = ABUT_PP, .vert = { 0, -1, -1, -1 }, .plane = k }, .n = 1, .node = node, .b = one,
                               .normal = { sin(angle[k]), cos(angle[k]), 0 } };
        CHECK(!abut_touching_append(t, &c, err));
    }
    CHECK(!abut_touching_settle(t, inv_w, err));
}

TEST(a_contact_that_acted_too_much_lets_go_again)
{
    static const double v[3] = { -1, -1, 0 }, inv_w[1] = { 1 };
    abut_touching t = { 0 };
    abut_projection q = { 0 };
    abut_err err = { 0 };
    double p[3], u[3];
    two_planes(&t, &err);
    const abut_project_options o = { .sweeps = 100 };
    CHECK(!abut_project(&q, &t, inv_w, v, &o, p, &err));
    CHECK_NEAR(p[0], -0.094420, 5e-7);
    CHECK_NEAR(p[1], 0.079228, 5e-7);
    const size_t first = t.key[0].plane == 0 ? 0 : 1;
    abut_touching_velocity(&t, first, p, u);
    CHECK_NEAR(u[0] * t.normal[3 * first] + u[1] * t.normal[3 * first + 1], 0.0944, 5e-5);
    CHECK(fabs(t.rbar[3 * first]) < 1e-15 && fabs(t.rbar[3 * first + 1]) < 1e-15);
    CHECK(fabs(p[0] * (p[0] - v[0]) + p[1] * (p[1] - v[1])) < 1e-14);
    abut_touching_clear(&t);
    abut_projection_clear(&q);
}

/* The update of position based dynamics evaluates the law with u for ustar: active contacts never open, and make energy. */
TEST(the_update_of_position_based_dynamics_makes_energy)
{
    abut_touching t = { 0 };
    abut_err err = { 0 };
    double p[3] = { -1, -1, 0 }, r[2] = { 0, 0 };
    two_planes(&t, &err);
    for (int sweep = 0; sweep < 100; sweep++)
        for (size_t k = 0; k < 2; k++) {
            const size_t c = t.key[0].plane == (int32_t)k ? 0 : 1;
            double u[3], now[3];
            abut_touching_velocity(&t, c, p, u);
            (void)abut_coulomb_velocity(u, t.normal + 3 * c, 0, now);
            for (size_t d = 0; d < 3; d++) {
                p[d] += now[d] - u[d];
                r[k] += (now[d] - u[d]) * t.normal[3 * c + d];
            }
        }
    CHECK_NEAR(p[0], -0.570428, 5e-7);
    CHECK_NEAR(p[1], 0.478646, 5e-7);
    CHECK_NEAR(r[0], 0.811, 5e-4);
    CHECK_NEAR(p[0] * (p[0] + 1) + p[1] * (p[1] + 1), 0.463, 5e-4);
    abut_touching_clear(&t);
}

TEST(cones_are_kept_friction_dissipates_and_momentum_stays)
{
    net e;
    net_make(&e, 7, 400, 600, 0.4);
    for (int run = 0; run < 40; run++) {
        project(&e, 1 + run % 5, e.v);
        double total[3] = { 0, 0, 0 }, size = 0;
        for (size_t c = 0; c < e.t.n; c++) {
            const double *n = e.t.normal + 3 * c, *r = e.t.rbar + 3 * c;
            const double rN = r[0] * n[0] + r[1] * n[1] + r[2] * n[2];
            double rT = 0;
            for (int d = 0; d < 3; d++) rT += (r[d] - rN * n[d]) * (r[d] - rN * n[d]);
            CHECK(rN >= 0);
            CHECK(sqrt(rT) <= e.t.mu[c] * rN * (1 + 1e-9) + 1e-16);
        }
        for (int32_t i = 0; i < 3 * e.nodes; i++) {
            total[i % 3] += e.w[i / 3] * (e.p[i] - e.v[i]);
            size += fabs(e.w[i / 3] * (e.p[i] - e.v[i]));
        }
        for (int d = 0; d < 3; d++) CHECK(fabs(total[d]) <= 1e-14 * size);
    }
    for (int k = 0; k < 100; k++) project(&e, 25, e.v);
    for (size_t c = 0; c < e.t.n; c++) {
        const double *n = e.t.normal + 3 * c, *r = e.t.rbar + 3 * c;
        double u[3], dot = 0;
        abut_touching_velocity(&e.t, c, e.p, u);
        const double uN = u[0] * n[0] + u[1] * n[1] + u[2] * n[2], rN = r[0] * n[0] + r[1] * n[1] + r[2] * n[2];
        for (int d = 0; d < 3; d++) dot += (u[d] - uN * n[d]) * (r[d] - rN * n[d]);
        CHECK(dot <= 1e-10);
    }
    net_clear(&e);
}

/* Kinetic energy in the weights: contacts at rest (k = 0) never add to it. */
TEST(contacts_at_rest_never_add_energy)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        net e;
        net_make(&e, seed + 50, 300, 150, 0.5);
        for (int k = 0; k < 60; k++) project(&e, 10, e.v);
        double before = 0, after = 0;
        for (int32_t i = 0; i < 3 * e.nodes; i++) {
            before += e.w[i / 3] * e.v[i] * e.v[i];
            after += e.w[i / 3] * e.p[i] * e.p[i];
        }
        CHECK(after <= before);
        net_clear(&e);
    }
}

TEST(bits_do_not_depend_on_threads)
{
    static const int threads[] = { 1, 2, 3, 7 };
    net e[4];
    const int now = abut_threads();
    for (int k = 0; k < 4; k++) {
        abut_threads_set(threads[k]);
        net_make(&e[k], 11, 5000, 10000, 0.3);
        for (int i = 0; i < 3; i++) project(&e[k], 5, e[k].v);
        CHECK(!memcmp(e[k].p, e[0].p, 3 * (size_t)e[0].nodes * sizeof(double)));
        CHECK(!memcmp(e[k].t.rbar, e[0].t.rbar, 3 * e[0].t.n * sizeof(double)));
        CHECK(e[k].q.visits == 3 * 5 * e[k].t.n);
    }
    for (int k = 0; k < 4; k++) net_clear(&e[k]);
    abut_threads_set(now);
}

/* Contacts without a common node have one colour; a sweep solves each by itself, as a plain loop over all of them does.  Sets of
 * two or more chunks of 64 contacts are divided, the last chunk takes the rest. */
TEST(a_sweep_visits_every_contact_of_a_colour_whatever_their_number)
{
    static const size_t count[] = { 1, 63, 64, 65, 127, 128, 129, 150, 191, 192, 193, 255, 256, 300 };
    const int now = abut_threads();
    for (size_t s = 0; s < 2 * sizeof count / sizeof *count; s++) {
        net e;
        const size_t n = count[s / 2];
        abut_rng r = { 77 + n };
        abut_threads_set(s % 2 ? 3 : 1);
        net_make(&e, n, 4 * (int32_t)n, 0, 0);
        for (size_t c = 0; c < n; c++) {
            abut_touch k;
            int32_t node[4];
            double b[4];
            net_contact(&r, 4 * (int32_t)n, 0.4, &k, node, b);
            for (int j = 0; j < 4; j++) node[j] = k.key.vert[j] = 4 * (int32_t)c + j;
            CHECK(!abut_touching_append(&e.t, &k, &e.err));
        }
        CHECK(!abut_touching_settle(&e.t, e.inv_w, &e.err));
        CHECK(e.t.start[0] == 0 && e.t.start[1] == n);
        double *want = malloc(3 * n * sizeof *want), u[3], ustar[3], then[3];
        int pressed = 0;
        for (size_t c = 0; c < n; c++) {
            abut_touching_velocity(&e.t, c, e.v, u);
            memcpy(ustar, u, sizeof ustar);
            (void)abut_coulomb_velocity(ustar, e.t.normal + 3 * c, e.t.mu[c], then);
            for (size_t d = 0; d < 3; d++) want[3 * c + d] = then[d] - ustar[d];
            pressed += then[0] != ustar[0];
        }
        CHECK(pressed > (int)n / 5 - 1);
        /* once more, the impulses are there already, and the sweep changes none */
        for (int again = 0; again < 2; again++) {
            project(&e, 1, e.v);
            CHECK(e.q.visits == (size_t)(again + 1) * n);
            for (size_t k = 0; k < 3 * n; k++) CHECK_NEAR(e.t.rbar[k], want[k], 1e-14);
            CHECK(imbalance(&e, e.v) < 1e-13);
        }
        free(want);
        net_clear(&e);
    }
    abut_threads_set(now);
}

TEST(contacts_of_one_colour_have_no_node_in_common)
{
    net e;
    net_make(&e, 3, 5000, 10000, 0.3);
    int32_t *seen = malloc((size_t)e.nodes * sizeof *seen);
    for (int32_t i = 0; i < e.nodes; i++) seen[i] = -1;
    CHECK(e.t.start[ABUT_TOUCH_COLOURS + 1] == e.t.n);
    for (int k = 0; k < ABUT_TOUCH_COLOURS; k++)
        for (size_t c = e.t.start[k]; c < e.t.start[k + 1]; c++) {
            CHECK(e.t.colour[c] == k);
            for (int32_t j = e.t.first[c]; j < e.t.first[c + 1]; j++) {
                CHECK(seen[e.t.node[j]] < k);
                seen[e.t.node[j]] = k;
            }
        }
    printf("# %d colours\n", abut_touching_colours(&e.t));
    CHECK(abut_touching_colours(&e.t) <= 30);
    free(seen);
    net_clear(&e);
}

/* A node with more contacts than colours: the remaining contacts are swept in order. */
TEST(more_contacts_at_a_node_than_colours)
{
    enum { N = 100 };
    abut_touching t = { 0 };
    abut_projection q = { 0 };
    abut_err err = { 0 };
    const double inv_w[1] = { 2 }, one[1] = { 1 }, v[3] = { 0.2, -0.3, -1 };
    const int32_t node[1] = { 0 };
    abut_rng r = { 9 };
    double p[3];
    CHECK(!abut_touching_begin(&t, 1, &err));
    for (int32_t k = 0; k < N; k++) {
        abut_touch c = { .key = { .kind = ABUT_PP, .vert = { 0, -1, -1, -1 }, .plane = k }, .n = 1, .node = node, .b = one,
                         .normal = { abut_rng_real(&r, -0.3, 0.3), abut_rng_real(&r, -0.3, 0.3), 0 } };
        c.normal[2] = sqrt(1 - c.normal[0] * c.normal[0] - c.normal[1] * c.normal[1]);
        CHECK(!abut_touching_append(&t, &c, &err));
    }
    CHECK(!abut_touching_settle(&t, inv_w, &err));
    CHECK(t.start[ABUT_TOUCH_COLOURS + 1] - t.start[ABUT_TOUCH_COLOURS] == N - ABUT_TOUCH_COLOURS);
    for (size_t c = t.start[ABUT_TOUCH_COLOURS]; c + 1 < t.n; c++) CHECK(t.key[c].plane < t.key[c + 1].plane);
    const abut_project_options o = { .sweeps = 20000 };
    CHECK(!abut_project(&q, &t, inv_w, v, &o, p, &err));
    for (size_t c = 0; c < t.n; c++) {
        double u[3];
        abut_touching_velocity(&t, c, p, u);
        CHECK(abut_coulomb_residual(u, t.rbar + 3 * c, t.normal + 3 * c, 0) < 1e-12);
    }
    abut_touching_clear(&t);
    abut_projection_clear(&q);
}

/* Twenty contacts of twelve primitives, in two orders, half of them late: the same set. */
TEST(a_set_does_not_know_in_which_order_contacts_came)
{
    net a = { .nodes = 60 }, b = { .nodes = 60 };
    double inv_w[60];
    abut_touch c[40];
    int32_t node[40][4];
    double w[40][4];
    abut_rng r = { 5 };
    for (int i = 0; i < 60; i++) inv_w[i] = 1 + 0.01 * i;
    for (int i = 0; i < 40; i++) {
        net_contact(&r, 60, 0.3, &c[i], node[i], w[i]);
        if (i % 4 == 3) {   /* the primitives of the one before: found again (same normal), or from the other side */
            memcpy(node[i], node[i - 1], sizeof node[i]);
            c[i].key = c[i - 1].key;
            for (int d = 0; d < 3; d++) c[i].normal[d] = (i % 8 == 3 ? 1 : -1) * c[i - 1].normal[d];
        }
        c[i].key.toi = i % 4 == 3 ? 0.5 : 0;
        c[i].key.round = i < 20 ? 0 : 5;
    }
    CHECK(!abut_touching_begin(&a.t, 60, &a.err));
    CHECK(!abut_touching_begin(&b.t, 60, &b.err));
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < 20; i++) {
            CHECK(!abut_touching_append(&a.t, &c[20 * part + i], &a.err));
            CHECK(!abut_touching_append(&b.t, &c[20 * part + 19 - i], &b.err));
        }
        CHECK(!abut_touching_settle(&a.t, inv_w, &a.err));
        CHECK(!abut_touching_settle(&b.t, inv_w, &b.err));
    }
    CHECK(a.t.n == 35 && b.t.n == 35);
    CHECK(!memcmp(a.t.first, b.t.first, 36 * sizeof *a.t.first));
    CHECK(!memcmp(a.t.node, b.t.node, a.t.m * sizeof *a.t.node));
    CHECK(!memcmp(a.t.normal, b.t.normal, 3 * a.t.n * sizeof *a.t.normal));
    abut_touching_clear(&a.t);
    abut_touching_clear(&b.t);
}

TEST(other_weights_keep_the_impulse)
{
    net e;
    net_make(&e, 21, 50, 20, 0.5);
    project(&e, 20, e.v);
    double *before = calloc(3 * (size_t)e.nodes, sizeof *before), *after = calloc(3 * (size_t)e.nodes, sizeof *after);
    abut_touching_forces(&e.t, before);
    for (int32_t i = 0; i < e.nodes; i++) e.inv_w[i] *= 1 + 0.5 * (i % 7);
    abut_touching_weigh(&e.t, e.inv_w);
    abut_touching_forces(&e.t, after);
    for (int32_t i = 0; i < 3 * e.nodes; i++) CHECK_NEAR(after[i], before[i], 1e-13);
    free(before);
    free(after);
    net_clear(&e);
}

/* A node between two walls that close at V, which give: v = (w1 V - w2 V) / (m + w1 + w2). */
TEST(walls_that_give_pinch_as_springs_do)
{
    const double m = 1e-3, w1 = 10e-3, w2 = 20e-3, V = 0.1, inv_w[1] = { 1 / m }, one[1] = { 1 }, v[3] = { 0, 0, 0 };
    const int32_t node[1] = { 0 };
    abut_touching t = { 0 };
    abut_projection q = { 0 };
    abut_err err = { 0 };
    double p[3];
    CHECK(!abut_touching_begin(&t, 1, &err));
    for (int32_t k = 0; k < 2; k++) {
        const double side = k ? -1 : 1;
        const abut_touch c = { .key = { .kind = ABUT_PP, .vert = { 0, -1, -1, -1 }, .plane = k }, .n = 1, .node = node, .b = one,
                               .normal = { side, 0, 0 }, .k = { -side * V, 0, 0 }, .give = 1 / (k ? w2 : w1) };
        CHECK(!abut_touching_append(&t, &c, &err));
    }
    CHECK(!abut_touching_settle(&t, inv_w, &err));
    const abut_project_options o = { .sweeps = 2000 };
    CHECK(!abut_project(&q, &t, inv_w, v, &o, p, &err));
    CHECK_NEAR(p[0], -3.2258e-2, 5e-7);
    CHECK_NEAR(p[0], (w1 * V - w2 * V) / (m + w1 + w2), 1e-13);
    for (size_t c = 0; c < 2; c++) {
        double r[3];
        abut_touching_impulse(&t, c, r);
        CHECK_NEAR(r[0], t.normal[3 * c] > 0 ? 1.3226e-3 : -1.3548e-3, 5e-8);
    }
    abut_touching_clear(&t);
    abut_projection_clear(&q);
}

/* 1 g on a plane with 10 mN of cohesion for 1 ms: it holds against a pull of less, and lets go beyond; against a pull along the
 * plane it holds up to mu 10 mN. */
TEST(cohesion_holds_exactly_as_much_as_it_says)
{
    static const struct { double pull, along; int moves; } row[] = { { 9.999e-3, 0, 0 }, { 10.001e-3, 0, 1 }, { 0, 4.999e-3, 0 },
                                                                     { 0, 5.001e-3, 1 } };
    const double m = 1e-3, h = 1e-3, inv_w[1] = { 1 / m }, one[1] = { 1 };
    const int32_t node[1] = { 0 };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const double v[3] = { h * row[i].along / m, 0, h * row[i].pull / m };
        const abut_touch c = { .key = { .kind = ABUT_PP, .vert = { 0, -1, -1, -1 }, .plane = 0 }, .n = 1, .node = node, .b = one,
                               .normal = { 0, 0, 1 }, .mu = 0.5, .cohesion = h * 10e-3 };
        abut_touching t = { 0 };
        abut_projection q = { 0 };
        abut_err err = { 0 };
        double p[3];
        CHECK(!abut_touching_begin(&t, 1, &err));
        CHECK(!abut_touching_append(&t, &c, &err));
        CHECK(!abut_touching_settle(&t, inv_w, &err));
        const abut_project_options o = { .sweeps = 3 };
        CHECK(!abut_project(&q, &t, inv_w, v, &o, p, &err));
        CHECK((fabs(p[0]) + fabs(p[2]) > 1e-9) == row[i].moves);
        abut_touching_clear(&t);
        abut_projection_clear(&q);
    }
}

TEST(sleeping_contacts_are_visited_less_and_the_law_is_kept_as_well)
{
    net e;
    net_make(&e, 31, 2000, 1000, 0.3);
    const abut_project_options o = { .sweeps = 25, .asleep = 1e-6 };
    CHECK(!abut_project(&e.q, &e.t, e.inv_w, e.v, &o, e.p, &e.err));
    CHECK(e.q.skipped > e.t.n);
    CHECK(e.q.visits + e.q.skipped == 25 * e.t.n);
    CHECK(imbalance(&e, e.v) < 1e-12);
    net_clear(&e);
}

TEST(a_million_contacts_take_less_than_250_bytes_each)
{
    const size_t per_node = 4 * (sizeof(int32_t) + sizeof(double));
    const abut_touching t = { 0 };
    const size_t numbers = 3 * 3 + 4;   /* normal, k, rbar; mu, s, cohesion, give */
    const size_t bytes = sizeof *t.first + per_node + numbers * sizeof(double) + sizeof *t.key + 1 /* colour */ + 1 /* asleep */;
    CHECK(sizeof *t.key == 32);
    CHECK(bytes <= 250);
}

/* A contact found again with another normal: if settled, the first stays; if renewed, the new one gets its impulse. */
TEST(a_contact_that_is_renewed_keeps_its_impulse_and_gets_the_new_normal)
{
    for (int renewed = 0; renewed < 2; renewed++) {
        net e;
        net_make(&e, 41, 30, 1, 0.5);
        double before[3], after[3];
        project(&e, 5, e.v);
        abut_touching_impulse(&e.t, 0, before);
        abut_touch c = { .key = e.t.key[0], .n = 4, .node = e.t.node, .b = (const double[4]){ 1, -0.2, -0.3, -0.5 }, .mu = 0.5,
                         .give = 0.25 };
        int32_t node[4];
        memcpy(node, e.t.node, sizeof node);
        c.node = node;      /* the arrays of the set may move */
        c.key.round = 6;
        c.key.yields = 1;
        const double tilt[3] = { 0.1, -0.2, 0.1 };
        double size = 0;
        for (int d = 0; d < 3; d++) c.normal[d] = e.t.normal[d] + tilt[d], size += c.normal[d] * c.normal[d];
        for (int d = 0; d < 3; d++) c.normal[d] /= sqrt(size);
        const double old[3] = { e.t.normal[0], e.t.normal[1], e.t.normal[2] };
        CHECK(!abut_touching_append(&e.t, &c, &e.err));
        CHECK(!(renewed ? abut_touching_renew(&e.t, e.inv_w, &e.err) : abut_touching_settle(&e.t, e.inv_w, &e.err)));
        CHECK(e.t.n == 1);
        CHECK(!memcmp(e.t.normal, renewed ? c.normal : old, sizeof old));
        CHECK((e.t.b[1] == -0.2) == renewed && (e.t.give[0] > 0) == renewed && e.t.key[0].yields == renewed);
        abut_touching_impulse(&e.t, 0, after);
        for (int d = 0; d < 3; d++) CHECK_NEAR(after[d], before[d], 1e-15);
        net_clear(&e);
    }
}

/* The measures of a set of contacts, one by one, by the law itself; some yield. */
TEST(the_quality_of_a_projection_counts_and_sums_its_contacts)
{
    net e;
    net_make(&e, 11, 150, 90, 0.4);
    for (size_t c = 0; c < e.t.n; c += 3) e.t.give[c] = 0.2 / e.t.s[c];
    for (int sweeps = 0; sweeps <= 400; sweeps += 400) {    /* none: every contact is open */
        if (sweeps) project(&e, sweeps, e.v);
        else memcpy(e.p, e.v, 3 * (size_t)e.nodes * sizeof *e.p);
        const abut_coulomb_quality q = abut_coulomb_quality_at(&e.t, e.p);
        size_t count[3] = { 0 };
        double depth = 0, friction = 0, normal = 0, off = 0, size = 0;
        for (size_t c = 0; c < e.t.n; c++) {
            const double *n = e.t.normal + 3 * c, *rbar = e.t.rbar + 3 * c;
            double u[3], star[3], now[3], uN = 0, rN = 0, both = 0;
            abut_touching_velocity(&e.t, c, e.p, u);
            for (int d = 0; d < 3; d++) {
                u[d] += e.t.give[c] * rbar[d] / e.t.s[c];
                star[d] = u[d] - rbar[d];
                uN += u[d] * n[d], rN += rbar[d] * n[d], both += u[d] * rbar[d];
            }
            const abut_touch_state state = abut_coulomb_velocity(star, n, e.t.mu[c], now);
            count[sweeps ? state : ABUT_TOUCH_OPEN]++;
            depth = fmax(depth, -uN);
            friction += (both - uN * rN) / e.t.s[c], normal += uN * rN / e.t.s[c], size += fabs(both) / e.t.s[c] + 1e-3;
            off = fmax(off, abut_coulomb_residual(u, rbar, n, e.t.mu[c]));
        }
        CHECK(q.open == count[ABUT_TOUCH_OPEN] && q.stick == count[ABUT_TOUCH_STICKS] && q.slide == count[ABUT_TOUCH_SLIDES]);
        CHECK(sweeps ? q.open > 2 && q.stick > 2 && q.slide > 2 : q.open == e.t.n);
        CHECK_NEAR(q.penetration, depth, 1e-14);
        CHECK_NEAR(q.residual, off, 1e-14);
        CHECK_NEAR(q.friction_work, friction, 1e-12 * size);
        CHECK_NEAR(q.normal_work, normal, 1e-12 * size);
        CHECK(sweeps ? q.residual < 1e-9 && q.friction_work < -1e-3 : q.penetration > 0.1);
    }
    net_clear(&e);
}
