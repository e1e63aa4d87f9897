/* Balances of the whole step: momentum, moment of momentum and energy, in free flight and through a collision.
 *
 * An elastic or contact force has no resultant and, about the positions where it acts, no moment.  Multiplying the equation of
 * a scheme by m and x' therefore says exactly what a step does to the two momenta, and only the residual of Newton's method
 * is left.  Its step p solves H p = -g, where the rows of H - M have no sum: after a step of full length the sum of g is zero to
 * rounding, after one of length alpha it is (1 - alpha) sum M p.  For the moment the same holds up to a second factor p: the
 * bound is the tolerance times the moment of inertia's first-order scale, sum m |x|. */
#include "scene_world.h"

static const char *const SCHEME[LOW_SCHEMES] = { "implicit-euler", "implicit-newmark", "bdf2", "midpoint" };

/* State before a step; the arrays are copies. */
typedef struct past {
    double *x, *v, *a, *v1;
} past;

static double *copy(const world *w, const char *name)
{
    const abut_array *a = abut_arrays_find(&w->frame, name);
    double *to = calloc(3 * (size_t)w->model.nv, sizeof *to);
    if (a) memcpy(to, a->data, abut_array_bytes(a));
    return to;
}

static past remember(const world *w)
{
    return (past){ .x = copy(w, "node/x"), .v = copy(w, "node/v"), .a = copy(w, "node/a"), .v1 = copy(w, "node/v1") };
}

static void forget(past *q)
{
    free(q->x);
    free(q->v);
    free(q->a);
    free(q->v1);
}

/* component k of a x b */
static double cross(const double *a, const double *b, int k)
{
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    return a[i] * b[j] - a[j] * b[i];
}

/* sum of m u x w over all nodes, component k; m NULL: ones */
static double moment(const world *w, const double *m, const double *u, const double *b, int k)
{
    double s = 0;
    for (int32_t i = 0; i < w->model.nv; i++) s += (m ? m[i] : 1) * cross(u + 3 * i, b + 3 * i, k);
    return s;
}

/* Residual of the moment of the scheme's equation, kg m^2/s: zero but for Newton's residual.
 *   Euler     sum m x' x (v' - v)
 *   Newmark   sum m x' x (v' - v - h/2 a) = h/2 sum m x' x a'
 *   BDF2      sum m x' x (3 v' - 4 v + v1) / 2
 *   midpoint  sum m xm x (v' - v) - h sum xm x F, where the contact forces F act at x' */
static double moment_defect(const world *w, int32_t scheme, int first, const past *q, int k)
{
    const int32_t n3 = 3 * w->model.nv;
    const double *x = get(w, "node/x"), *v = get(w, "node/v"), *F = get(w, "node/contact-force"), h = w->model.h[0];
    double *at = calloc((size_t)n3, sizeof *at), *dv = calloc((size_t)n3, sizeof *dv), s;
    for (int32_t i = 0; i < n3; i++) {
        at[i] = scheme == ABUT_MIDPOINT ? (x[i] + q->x[i]) / 2 : x[i];
        if (scheme == ABUT_IMPLICIT_NEWMARK) dv[i] = v[i] - q->v[i] - h / 2 * q->a[i];
        else if (scheme == ABUT_BDF2 && !first) dv[i] = (3 * v[i] - 4 * q->v[i] + q->v1[i]) / 2;
        else dv[i] = v[i] - q->v[i];
    }
    s = moment(w, w->model.mass, at, dv, k);
    if (scheme == ABUT_MIDPOINT) s -= h * moment(w, NULL, at, F, k);
    free(at);
    free(dv);
    return s;
}

/* sum m |x| and sum m of all nodes */
static double first_moment(const world *w)
{
    double s = 0;
    for (int32_t i = 0; i < w->model.nv; i++) {
        const double *x = get(w, "node/x") + 3 * i;
        s += w->model.mass[i] * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }
    return s;
}

static double total_mass(const world *w)
{
    double s = 0;
    for (int32_t i = 0; i < w->model.nv; i++) s += w->model.mass[i];
    return s;
}

/* the velocity after a step is this times (x' - c) / h */
static const double RATE[LOW_SCHEMES] = { 1, 2, 1.5, 2 };

/* n steps; after each the balances of both momenta.  *worst: the largest defects, in units of what is allowed. */
static void balanced_run(world *w, int32_t scheme, int n, double tol, double worst[2])
{
    double p0[3], allowed = 0;
    for (int k = 0; k < 3; k++) {
        p0[k] = 0;
        for (int32_t i = 0; i < w->model.nv; i++) p0[k] += w->model.mass[i] * get(w, "node/v")[3 * i + k];
    }
    const double mass = total_mass(w);
    for (int step = 0; step < n; step++) {
        past q = remember(w);
        CHECK(!world_judged(w, 1));
        const abut_iteration *last = &w->rep.it[w->rep.newton - 1];
        /* what is left of the last residual; Newmark and BDF2 may hand it on, so it adds up */
        allowed += 2 * RATE[scheme] * mass * (1 - last->alpha) * last->residual + 1e-13 * mass;
        for (int k = 0; k < 3; k++) {
            const double dp = fabs(w->rep.momentum[k] - p0[k]), dl = fabs(moment_defect(w, scheme, w->at.step == 1, &q, k));
            const double arm = RATE[scheme] * tol * first_moment(w);
            worst[0] = fmax(worst[0], dp / allowed);
            worst[1] = fmax(worst[1], dl / arm);
            CHECK(dp <= allowed);
            CHECK(dl <= arm);
        }
        forget(&q);
    }
}

static const char *const FLYING =
    "{time: {step: %g, scheme: %s}, gravity: [0, 0, 0], tolerance: %g m/s, materials: {a: {young: 1e5}},\n"
    " objects: {box: {generate: {box: {size: [0.4, 0.2, 0.1], cells: [3, 2, 1]}}, translate: [0.3, -0.2, 0.1],\n"
    "  velocity: [1, 0.5, -0.3], angular-velocity: {axis: [3, 5, -2], rate: 5 rad/s}}}}\n";

TEST(a_body_in_free_flight_keeps_its_momentum_to_rounding_and_its_moment_of_momentum_as_its_scheme_must)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w;
        double worst[2] = { 0, 0 };
        world_scene(&w, FLYING, 0.01, SCHEME[scheme], 1e-7);
        balanced_run(&w, scheme, 50, 1e-7, worst);
        printf("# %s: %.2g of the allowed change of momentum, %.2g of that of its moment\n", SCHEME[scheme], worst[0], worst[1]);
        world_close(&w);
    }
}

static const char *const CRASH =
    "{time: {step: 0.002, scheme: %s}, gravity: [0, 0, 0], tolerance: %g m/s, contact: {dhat: 1 mm},\n"
    " materials: {a: {young: 1e5}, b: {young: 1e6, density: 3000, model: fixed-corotated}},\n"
    " objects: {\n"
    "  a: {generate: {box: {size: [0.3, 0.3, 0.3], cells: [2, 2, 2]}}, velocity: [2, 0, 0], material: a},\n"
    "  b: {generate: {box: {size: [0.2, 0.3, 0.2], cells: [2, 2, 2]}}, translate: [0.27, 0.1, 0.05], velocity: [-1, 0.1, 0],\n"
    "    angular-velocity: {axis: [1, 1, 0], rate: 1 rad/s}, material: b}}}\n";

TEST(two_bodies_that_collide_without_friction_keep_their_momenta_as_their_scheme_must)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w;
        double worst[2] = { 0, 0 }, peak = 0, before = 0;
        world_scene(&w, CRASH, SCHEME[scheme], 1e-6);
        for (int k = 0; k < 60; k++) {
            balanced_run(&w, scheme, 1, 1e-6, worst);
            if (!k) before = w.rep.kinetic + w.rep.elastic;
            peak = fmax(peak, fabs(total(&w, "node/contact-force", 0, 0)));
        }
        const double after = w.rep.kinetic + w.rep.elastic;
        printf(
            "# %s: %.2g of the allowed change of momentum, %.2g of that of its moment; peak %.3g N, energy %.4g J, then %.4g J\n",
            SCHEME[scheme], worst[0], worst[1], peak, before, after);
        CHECK(peak > 1000);
        CHECK(w.rep.contacts == 0);
        CHECK(mean(&w, "node/v", 0, 0) < mean(&w, "node/v", 0, 1));
        CHECK(after < before);
        world_close(&w);
    }
}

/* ---- energy of a free body ---- */

typedef struct drift {
    double early, late;     /* largest deviation from the start in each half of the time, of the start's energy */
    double end, grew;       /* last deviation; largest growth in one step */
} drift;

static drift drift_of(int32_t scheme, double h, int n)
{
    world w;
    drift d = { .grew = -INFINITY };
    double e0 = 0, before;
    world_scene(&w, FLYING, h, SCHEME[scheme], 1e-8);
    for (int32_t i = 0; i < 3 * w.model.nv; i++) e0 += 0.5 * w.model.mass[i / 3] * get(&w, "node/v")[i] * get(&w, "node/v")[i];
    before = e0;
    for (int step = 0; step < n; step++) {
        CHECK(!world_judged(&w, 1));
        const double e = w.rep.kinetic + w.rep.elastic;
        double *half = step < n / 2 ? &d.early : &d.late;
        *half = fmax(*half, fabs(e - e0) / e0);
        d.grew = fmax(d.grew, (e - before) / e0);
        d.end = (e - e0) / e0;
        before = e;
    }
    world_close(&w);
    return d;
}

TEST(energy_of_a_free_body_is_kept_within_a_bound_of_order_two_or_lost)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        const drift coarse = drift_of(scheme, 0.004, 200), fine = drift_of(scheme, 0.002, 400);
        const double order = log2(fmax(coarse.early, coarse.late) / fmax(fine.early, fine.late));
        printf("# %s: energy off by %.3g early, %.3g late, %.3g at the end; grew by %.2g in a step; order %.3f\n", SCHEME[scheme],
               fine.early, fine.late, fine.end, fine.grew, order);
        if (scheme == ABUT_IMPLICIT_EULER) {
            CHECK(fine.grew < 0);
            CHECK_NEAR(order, 1, 0.2);
        } else if (scheme == ABUT_BDF2) {
            CHECK(fine.end < -fine.early && fine.late <= -fine.end * 1.1);
            CHECK(order > 1.5);
        } else {
            CHECK(fine.late < 1.5 * fine.early && fine.late < 1e-4);
            CHECK_NEAR(order, 2, 0.4);
        }
    }
}
