/* Forces, energies, momenta and their balance (solve/step/measures.h), in every time scheme, against closed
 * forms, conservation laws and finite differences of the potentials. */
#include "base/par.h"
#include "energy/barrier.h"
#include "energy/friction.h"
#include "math/vec3.h"
#include "solve/step/measures.h"
#include "scene_world.h"
#include "elastic_gradient.h"

static const char *const NAME[ABUT_ALL_SCHEMES] = { "implicit Euler", "implicit Newmark", "BDF2", "midpoint", "quasi-static",
                                                 "BDF3", "BDF4", "BDF5", "BDF6" };
enum { STABLE = ABUT_BDF3 };   /* the schemes before it swing no body up that they do not resolve */

static double number(const world *w, const char *name) { return get(w, name)[0]; }

/* component k of the sum of a node array, over an object or (-1) all */
static double resultant(const world *w, const char *name, int k, int32_t object)
{
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < w->model.nv; i++)
        if (object < 0 || w->model.body[i] == object) abut_acc_add(&sum, get(w, name)[3 * i + k]);
    return sum.hi + sum.lo;
}

/* a copy of an array of the present frame, or zeros; the caller frees it */
static double *keep(const world *w, const char *name)
{
    double *copy = calloc(3 * (size_t)w->model.nv, sizeof *copy);
    const abut_array *a = abut_arrays_find(&w->frame, name);
    if (a) memcpy(copy, a->data, abut_array_bytes(a));
    return copy;
}

static double *elastic_force(world *w, const double *x)
{
    double *f = calloc(3 * (size_t)w->model.nv, sizeof *f);
    CHECK(!elastic_gradient(abut_elastic_of(&w->st.solver.prob.terms), x, -1, f, &w->st.solver.scratch, &w->err));
    return f;
}

/* ---- what a body weighs ---- */

static void hang(world *w, int32_t scheme)
{
    fixture *f = fixture_new();
    f->scheme = scheme;
    f->tol = 1e-9;
    f->h = 0.01;
    f->damp_mass = 60;
    fixture_box(f, 0, 1, 0, 0.2, 0.2, 0.2, 1, 1, 1, 0);
    fixture_move(f, 0, 1, 1.2 - 1e-9, 1.2 + 1e-9, (double[]){ 0, 0, 0 }, (double[]){ 0, 0, 0 });
    world_open(w, f, NULL);
}

TEST(the_reactions_of_a_hanging_body_sum_to_its_weight)
{
    for (int32_t scheme = 0; scheme < STABLE; scheme++) {
        world w;
        hang(&w, scheme);
        CHECK(!world_run(&w, 60));
        CHECK_NEAR(resultant(&w, "node/reaction-force", 1, -1), 9.81 * 8, 9.81 * 8 * 1e-5);
        CHECK_NEAR(resultant(&w, "node/reaction-force", 0, -1), 0, 1e-4);
        for (int32_t i = 0; i < w.model.nv; i++)
            if (w.model.role[i] == ABUT_NODE_FREE)
                for (int k = 0; k < 3; k++) CHECK(get(&w, "node/reaction-force")[3 * i + k] == 0);
        CHECK(number(&w, "work/reaction-total") == 0);
        world_close(&w);
    }
}

TEST(a_body_on_a_shaken_support_gains_the_momentum_that_its_reactions_give)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w;
        hang(&w, scheme);
        const double h = w.model.h[0], weight = 9.81 * 8;
        double p0 = 0, p1 = 0, last = 0, *speed = abut_arrays_find(&w.model_set, "motion/linear")->data;
        for (int k = 0; k < 20; k++) {
            speed[1] = 0.3 * sin(0.4 * k);
            CHECK(!world_run(&w, 1));
            const double damping = resultant(&w, "node/damping-force", 1, -1), p = get(&w, "momentum/linear")[1];
            const double dp = scheme == ABUT_BDF2 && k ? 0.5 * (3 * p - 4 * p0 + p1) : p - p0;
            const double force = scheme == ABUT_IMPLICIT_NEWMARK ? 0.5 * (last + damping) : damping;
            CHECK_NEAR(h * (resultant(&w, "node/reaction-force", 1, -1) - weight + force), dp, 1e-7 * h * weight);
            CHECK(p == w.rep.momentum[1]);
            last = damping;
            p1 = p0, p0 = p;
        }
        world_close(&w);
    }
}

/* A block below a board that jerks it along, by springs: all that the script gives passes through them. */
TEST(what_is_tied_to_an_obstacle_is_driven_by_its_reactions)
{
    static const char *const name[LOW_SCHEMES] = { "implicit-euler", "implicit-newmark", "bdf2", "midpoint" };
    for (int scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w;
        world_scene(&w, "time: {step: 0.02, scheme: %s}\ntolerance: 1e-9 m/s\nobjects:\n"
                    "  b: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}}\n"
                    "  k: {generate: {cloth: {size: [2, 2], cells: [1, 1]}}, obstacle: true, translate: [0, 0.6, 0]}\n"
                    "motion:\n  - {select: {object: k}, translate: [0, 0.5, 1], until: 0.2 s}\n"
                    "attachments:\n  - {from: {object: b}, to: {object: k}, within: 15 cm, stiffness: 1e5 N/m}\n", name[scheme]);
        const double h = w.model.h[0], weight = 9.81 * 1000;
        double p0[3] = { 0 }, p1[3] = { 0 }, most = 0;
        CHECK(w.model.na == 4);
        for (int n = 0; n < 20; n++) {
            CHECK(!world_run(&w, 1));
            const double *p = get(&w, "momentum/linear");
            for (int k = 0; k < 3; k++) {
                const double dp = scheme == ABUT_BDF2 && n ? 0.5 * (3 * p[k] - 4 * p0[k] + p1[k]) : p[k] - p0[k];
                const double r = resultant(&w, "node/reaction-force", k, -1);
                CHECK_NEAR(h * (r - (k == 1 ? weight : 0)), dp, 1e-7 * h * weight);
                most = fmax(most, fabs(r));
                p1[k] = p0[k], p0[k] = p[k];
            }
        }
        CHECK(most > 1.5 * weight);
        CHECK(number(&w, "work/reaction-total") > 100);
        world_close(&w);
    }
}

/* ---- free flight ---- */

static void flight(world *w, int32_t scheme, double gravity)
{
    fixture *f = fixture_new();
    f->scheme = scheme;
    f->tol = 1e-12;
    f->h = 0.005;
    f->gravity[1] = gravity;
    fixture_box(f, 0.3, 1, -0.1, 0.3, 0.2, 0.2, 1, 1, 1, 0);
    world_open(w, f, NULL);
    for (int32_t i = 0; i < w->model.nv; i++) {     /* turning about a slanting axis, and moving on */
        const abut_vec3 r = abut_v3_sub(abut_v3_get(w->model.X + 3 * i), abut_v3(0.45, 1.1, 0));
        abut_v3_put(get(w, "node/v") + 3 * i, abut_v3_add(abut_v3(0.5, 1, -0.2), abut_v3_cross(abut_v3(3, -2, 6), r)));
    }
}

TEST(momentum_in_flight_changes_by_gravity_alone)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w;
        flight(&w, scheme, -9.81);
        const double m = 12, want[3] = { 0.5 * m, 1 * m - 9.81 * m * 40 * 0.005, -0.2 * m };
        CHECK(!world_run(&w, 40));
        for (int k = 0; k < 3; k++) CHECK_NEAR(get(&w, "momentum/linear")[k], want[k], 1e-10 * m);
        world_close(&w);
    }
}

/* Per step, f the elastic forces and u = x' - x: the midpoint rule keeps it; Newmark gains h/4 sum u x (f - f'), implicit Euler
 * h sum m v' x v, which is the loss of its numerical damping. */
TEST(angular_momentum_in_flight_changes_as_each_scheme_must)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        if (scheme == ABUT_BDF2) continue;
        world w;
        flight(&w, scheme, 0);
        const double h = w.model.h[0];
        double l[3], most = 0;
        abut_angular_momentum(&(abut_mass){ .model = &w.model }, get(&w, "node/x"), get(&w, "node/v"), l);
        const double size = abut_v3_norm(abut_v3_get(l));
        for (int k = 0; k < 40; k++) {
            double *x = keep(&w, "node/x"), *v = keep(&w, "node/v"), *f = elastic_force(&w, x);
            CHECK(!world_run(&w, 1));
            double *f1 = elastic_force(&w, get(&w, "node/x"));
            abut_vec3 gain = abut_v3(0, 0, 0);
            for (int32_t i = 0; i < w.model.nv; i++) {
                const abut_vec3 x1 = abut_v3_get(get(&w, "node/x") + 3 * i), v1 = abut_v3_get(get(&w, "node/v") + 3 * i);
                const abut_vec3 u = abut_v3_sub(x1, abut_v3_get(x + 3 * i));
                const abut_vec3 df = abut_v3_sub(abut_v3_get(f + 3 * i), abut_v3_get(f1 + 3 * i));
                if (scheme == ABUT_IMPLICIT_NEWMARK) gain = abut_v3_axpy(gain, h / 4, abut_v3_cross(u, df));
                if (scheme == ABUT_IMPLICIT_EULER)
                    gain = abut_v3_axpy(gain, h * w.model.mass[i], abut_v3_cross(v1, abut_v3_get(v + 3 * i)));
            }
            const double *now = get(&w, "momentum/angular");
            CHECK_NEAR(now[0] - l[0], gain.x, 1e-11 * size);
            CHECK_NEAR(now[1] - l[1], gain.y, 1e-11 * size);
            CHECK_NEAR(now[2] - l[2], gain.z, 1e-11 * size);
            most = fmax(most, abut_v3_norm(gain));
            memcpy(l, now, sizeof l);
            free(x), free(v), free(f), free(f1);
        }
        printf("# %s: largest change in a step %.3g of %.3g\n", NAME[scheme], most, size);
        CHECK(scheme == ABUT_MIDPOINT ? most == 0 : most > 1e-9 * size);
        world_close(&w);
    }
}

/* A body that is pushed for five steps and let go: Newmark and midpoint give it the energy of the push, no more, no less. */
TEST(a_scripted_force_does_its_work)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        fixture *f = fixture_new();
        f->scheme = scheme;
        f->tol = 1e-12;
        fixture_box(f, 0, 1, 0, 0.3, 0.2, 0.2, 1, 1, 1, 0);
        fixture_move(f, 0, 0, -1, 1, (double[]){ 3, 0, 1 }, (double[]){ 0, 0, 0 });
        world w;
        world_open(&w, f, NULL);
        *(int32_t *)abut_arrays_find(&w.model_set, "motion/kind")->data = ABUT_MOTION_FORCE;
        ((double *)abut_arrays_find(&w.model_set, "motion/window")->data)[1] = 5 * w.model.h[0];
        double work = 0, lost = 0;
        for (int k = 0; k < 10; k++) {
            const double push = scheme == ABUT_IMPLICIT_NEWMARK && k == 5 ? 0.5 : k < 5 ? 1 : 0;
            const double x = mean(&w, "node/x", 0, 0), z = mean(&w, "node/x", 2, 0);
            CHECK(!world_run(&w, 1));
            work += push * 12 * (3 * (mean(&w, "node/x", 0, 0) - x) + 1 * (mean(&w, "node/x", 2, 0) - z));
            lost += number(&w, "work/numerical");
            CHECK_NEAR(number(&w, "work/load-total"), work, 1e-12);
        }
        CHECK(work > 0.01);
        if (scheme == ABUT_IMPLICIT_NEWMARK || scheme == ABUT_MIDPOINT) CHECK_NEAR(lost, 0, 1e-12);
        else CHECK(lost < -1e-3);
        world_close(&w);
    }
}

/* ---- contact ---- */

enum { STORY = 9 };

/* Two soft boxes, one on the other and sliding, a wall that pushes and a handle that pulls: everything acts at once.  Its
 * frames are kept, for several tests to read. */
typedef struct story {
    world w;
    abut_arrays frame[STORY + 1];
} story;
static story *stories[ABUT_ALL_SCHEMES];

static void story_frame(story *s, int k)
{
    for (int i = 0; i < s->w.frame.n; i++) CHECK(!abut_arrays_copy(&s->frame[k], &s->w.frame.a[i], &s->w.err));
}

static story *crowd(int32_t scheme)
{
    if (stories[scheme]) return stories[scheme];
    story *s = stories[scheme] = calloc(1, sizeof *s);
    fixture *f = fixture_new();
    f->scheme = scheme;
    f->plane = 1;
    f->mu = 0.3;
    f->lags = 2;
    f->tol = 1e-10;
    f->young = 3e4;
    f->h = 0.005;
    f->damp_mass = 0.5;
    f->damp_stiffness = 1e-3;
    fixture_box(f, 0, 1.2e-3, 0, 0.3, 0.2, 0.3, 1, 1, 1, 0);
    fixture_box(f, 0.1, 0.2022, 0.05, 0.2, 0.2, 0.2, 1, 1, 1, 0);
    const int32_t wall = fixture_box(f, -0.102, 1e-3, -0.1, 0.1, 0.5, 0.5, 1, 1, 1, 1);
    fixture_move(f, wall, 0, -1, 1, (double[]){ 0.4, 0, 0 }, (double[]){ 0, 0, 0 });
    fixture_move(f, 0, 0, 0.3 - 1e-9, 0.3 + 1e-9, (double[]){ 0.1, 0.02, 0 }, (double[]){ 0, 0, 0 });
    world_open(&s->w, f, (double[]){ 0, -0.1, 0, 0.4, -0.3, 0.1, 0, 0, 0 });
    story_frame(s, 0);
    for (int k = 1; k <= STORY; k++) {
        CHECK(!world_run(&s->w, 1));
        story_frame(s, k);
    }
    return s;
}

static void stories_end(void)
{
    for (int k = 0; k < ABUT_ALL_SCHEMES; k++) {
        if (!stories[k]) continue;
        for (int i = 0; i <= STORY; i++) abut_arrays_clear(&stories[k]->frame[i]);
        world_close(&stories[k]->w);
        free(stories[k]);
    }
}

/* an array of frame k; zeros when it has none.  The caller frees it. */
static double *of(const story *s, int k, const char *name)
{
    double *copy = calloc(3 * (size_t)s->w.model.nv, sizeof *copy);
    const abut_array *a = abut_arrays_find(&s->frame[k], name);
    if (a) memcpy(copy, a->data, abut_array_bytes(a));
    return copy;
}

static double number_of(const story *s, int k, const char *name)
{
    return *(const double *)abut_arrays_find(&s->frame[k], name)->data;
}

/* h dv/dt at frame k by backward differences of as many frames as BDF of that order has by then; of other schemes v' - v */
static void changes(const story *s, int k, int32_t scheme, double *dv)
{
    static const double weight[7][7] = { [1] = { 1, -1 },
                                         [2] = { 3 / 2., -2, 1 / 2. },
                                         [3] = { 11 / 6., -3, 3 / 2., -1 / 3. },
                                         [4] = { 25 / 12., -4, 3, -4 / 3., 1 / 4. },
                                         [5] = { 137 / 60., -5, 5, -10 / 3., 5 / 4., -1 / 5. },
                                         [6] = { 49 / 20., -6, 15 / 2., -20 / 3., 15 / 4., -6 / 5., 1 / 6. } };
    const int most = scheme == ABUT_BDF2 ? 2 : scheme >= ABUT_BDF3 ? scheme - ABUT_BDF3 + 3 : 1, order = most < k ? most : k;
    for (int32_t i = 0; i < 3 * s->w.model.nv; i++) dv[i] = 0;
    for (int j = 0; j <= order && scheme != ABUT_QUASI_STATIC; j++) {
        double *v = of(s, k - j, "node/v");
        for (int32_t i = 0; i < 3 * s->w.model.nv; i++) dv[i] += weight[order][j] * v[i];
        free(v);
    }
}

/* The step to frame k: way, change of velocity, and the forces under which the scheme takes it. */
typedef struct hop {
    double *u, *dv, *v0, *v, *elastic, *contact, *friction, *damping;
} hop;

static double *mean_of(double *last, double *now, int32_t n, int32_t scheme)
{
    for (int32_t i = 0; i < n && scheme == ABUT_IMPLICIT_NEWMARK; i++) now[i] = 0.5 * (last[i] + now[i]);
    free(last);
    return now;
}

static hop hop_to(story *s, int k, int32_t scheme)
{
    const int32_t n3 = 3 * s->w.model.nv;
    double *x0 = of(s, k - 1, "node/x"), *x = of(s, k, "node/x");
    hop h = { .u = of(s, k, "node/x"), .dv = of(s, k, "node/v"), .v0 = of(s, k - 1, "node/v"), .v = of(s, k, "node/v") };
    changes(s, k, scheme, h.dv);
    for (int32_t i = 0; i < n3; i++) {
        h.u[i] -= x0[i];
        if (scheme == ABUT_MIDPOINT) x[i] = 0.5 * (x0[i] + x[i]);
    }
    h.elastic = mean_of(elastic_force(&s->w, x0), elastic_force(&s->w, x), n3, scheme);
    h.contact = of(s, k, "node/contact-force");
    h.friction = of(s, k, "node/friction-force");
    double *damping = of(s, k - 1, "node/damping-force");
    for (int32_t i = 0; i < n3 && k == 1; i++)     /* the start: every object moves as one, so that its mass alone is damped */
        if (s->w.model.role[i / 3] != ABUT_NODE_OBSTACLE) damping[i] = -s->w.f->damp_mass * s->w.model.mass[i / 3] * h.v0[i];
    h.damping = mean_of(damping, of(s, k, "node/damping-force"), n3, scheme);
    free(x0), free(x);
    return h;
}

static void hop_end(hop h)
{
    free(h.u), free(h.dv), free(h.v0), free(h.v), free(h.elastic), free(h.contact), free(h.friction), free(h.damping);
}

/* m dv/h = all forces: at free nodes with what acts there, at prescribed ones with the reaction, at obstacles without mass */
TEST(the_forces_of_a_frame_move_its_nodes)
{
    for (int32_t scheme = 0; scheme < ABUT_ALL_SCHEMES; scheme++) {
        story *s = crowd(scheme);
        const abut_model *m = &s->w.model;
        double worst = 0, most = 0, pull = 0;
        for (int k = 1; k <= STORY; k++) {
            const hop q = hop_to(s, k, scheme);
            double *r = of(s, k, "node/reaction-force");
            for (int32_t i = 0; i < 3 * m->nv; i++) {
                const double mass = m->role[i / 3] == ABUT_NODE_OBSTACLE ? 0 : m->mass[i / 3];
                const double f = q.elastic[i] + q.contact[i] + q.friction[i] + q.damping[i] + r[i];
                worst = fmax(worst, fabs(mass * (q.dv[i] / m->h[0] - m->gravity[i % 3]) - f));
                most = fmax(most, fabs(q.contact[i]));
                pull = fmax(pull, fabs(r[i]));
                CHECK(m->role[i / 3] != ABUT_NODE_FREE || r[i] == 0);
            }
            free(r);
            hop_end(q);
        }
        printf("# %s: %.3g N of %.3g N are left over\n", NAME[scheme], worst, most);
        CHECK(most > 10);
        CHECK(pull > 10);
        CHECK(worst < 1e-7 * most);
    }
}

TEST(action_is_reaction)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        fixture *f = fixture_new();
        f->scheme = scheme;
        f->gravity[1] = 0;
        f->mu = 0.4;
        f->tol = 1e-8;
        fixture_box(f, 0, 0, 0, 0.3, 0.3, 0.3, 1, 1, 1, 0);
        fixture_box(f, 0.305, 0.05, 0.1, 0.3, 0.3, 0.3, 1, 2, 1, 0);
        world w;
        world_open(&w, f, (double[]){ 1, 0, 0, -1, 0.5, 0.2 });
        double most = 0, rub = 0;
        for (int n = 0; n < 6; n++) {
            CHECK(!world_run(&w, 1));
            const double push = fabs(resultant(&w, "node/contact-force", 0, 0));
            const double slip = fabs(resultant(&w, "node/friction-force", 1, 0));
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(resultant(&w, "node/contact-force", k, -1), 0, 1e-12 * push);
                CHECK_NEAR(resultant(&w, "node/friction-force", k, -1), 0, 1e-12 * (push + slip) + 1e-12);
            }
            abut_vec3 torque = abut_v3(0, 0, 0);
            for (int32_t i = 0; i < w.model.nv; i++)
                torque = abut_v3_add(torque, abut_v3_cross(abut_v3_get(get(&w, "node/x") + 3 * i),
                                                           abut_v3_get(get(&w, "node/contact-force") + 3 * i)));
            CHECK_NEAR(abut_v3_norm(torque), 0, 1e-11 * push);
            most = fmax(most, push);
            rub = fmax(rub, slip);
        }
        CHECK(most > 100);
        CHECK(rub > 1);
        world_close(&w);
    }
}

TEST(forces_are_the_slopes_of_the_potentials)
{
    for (int32_t scheme = 0; scheme < ABUT_ALL_SCHEMES; scheme++) {
        world *w = &crowd(scheme)->w;
        abut_search *s = &w->st.solver;
        const abut_objective *p = &s->prob;
        const int32_t n3 = 3 * w->model.nv;
        const double t = 1e-9, newton = p->w.h_force * p->w.h_force, *contact = get(w, "node/contact-force");
        const double *friction = get(w, "node/friction-force");
        double *x0 = keep(w, "node/x"), slope[2] = { 0, 0 }, b[2], d[2];
        for (int32_t i = 0; i < n3; i++) {
            slope[0] -= contact[i] * sin(1 + 3.7 * i);
            slope[1] -= friction[i] * sin(1 + 3.7 * i);
        }
        const abut_stiction law = abut_stiction_of(p->model, &p->step);
        for (int k = 0; k < 2; k++) {
            for (int32_t i = 0; i < n3; i++) s->here.x[i] = x0[i] + (k ? t : -t) * sin(1 + 3.7 * i);
            CHECK(!abut_search_contacts(s, &w->rep, &w->err));
            CHECK(!abut_barrier_energy(&p->cm, &s->here.pairs, s->here.y, abut_barrier_state_of(&p->terms)->kappa, &b[k],
                                       &s->scratch,
                                       &w->err));
            CHECK(!abut_friction_energy(&w->st.solved_lag, &law, s->here.x, p->still, &d[k], &s->scratch, &w->err));
        }
        CHECK(fabs(slope[0]) > 1);
        CHECK(fabs(slope[1]) > 1e-2);
        CHECK_NEAR((b[1] - b[0]) / (2 * t) / newton, slope[0], 1e-5 * fabs(slope[0]));
        CHECK_NEAR((d[1] - d[0]) / (2 * t) / newton, slope[1], 1e-5 * fabs(slope[1]));
        free(x0);
    }
}

/* ---- energy ---- */

static double dot(const double *a, const double *b, int32_t n)
{
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < n; i++) abut_acc_add(&sum, a[i] * b[i]);
    return sum.hi + sum.lo;
}

/* Gain of kinetic energy beyond the work of forces: m (v'^2 - v^2)/2 - m dv/h.u.  Implicit Euler loses m |v' - v|^2 / 2.
 * Newmark and midpoint lose nothing, except at prescribed nodes, whose velocity is that of Euler. */
static double kinetic_gain(const abut_model *m, const hop *q, int32_t scheme)
{
    abut_acc sum = { 0, 0 };
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        const double mass = m->mass[i / 3], dv = q->v[i] - q->v0[i];
        if (m->role[i / 3] == ABUT_NODE_OBSTACLE) continue;
        if (scheme == ABUT_BDF2 || scheme >= ABUT_BDF3)
            abut_acc_add(&sum, 0.5 * mass * (q->v[i] * q->v[i] - q->v0[i] * q->v0[i]) - mass * q->dv[i] / m->h[0] * q->u[i]);
        else if (scheme == ABUT_IMPLICIT_EULER || m->role[i / 3] == ABUT_NODE_HANDLE)
            abut_acc_add(&sum, -0.5 * mass * dv * dv);
    }
    return sum.hi + sum.lo;
}

static double energy_of(const story *s, int k)
{
    return number_of(s, k, "energy/kinetic") + number_of(s, k, "energy/elastic") + number_of(s, k, "energy/gravity") +
           number_of(s, k, "energy/barrier");
}

TEST(the_energy_that_no_force_explains_is_that_of_the_time_scheme)
{
    static const char *const work[] = { "work/friction", "work/damping", "work/reaction", "work/load", "work/stiffness",
                                        "work/numerical" };
    for (int32_t scheme = 0; scheme < ABUT_ALL_SCHEMES; scheme++) {
        story *s = crowd(scheme);
        const int32_t n3 = 3 * s->w.model.nv;
        double sum[6] = { 0 }, worst = 0;
        for (int k = 1; k <= STORY; k++) {
            double explained = 0, size = 0;
            for (int i = 0; i < 6; i++) {
                char name[40];
                const double here = number_of(s, k, work[i]);
                snprintf(name, sizeof name, "%s-total", work[i]);
                CHECK(number_of(s, k, name) == (sum[i] += here));
                explained += here;
                size += fabs(here);
            }
            if (k == 1) continue;   /* frame 0 tells no energies */
            CHECK_NEAR(energy_of(s, k) - energy_of(s, k - 1), explained, 1e-12 * fabs(energy_of(s, k)));
            const hop q = hop_to(s, k, scheme);
            const double b = number_of(s, k - 1, "energy/barrier") + number_of(s, k, "work/stiffness");
            const double gain = kinetic_gain(&s->w.model, &q, scheme) + dot(q.elastic, q.u, n3) + dot(q.contact, q.u, n3) +
                                number_of(s, k, "energy/elastic") - number_of(s, k - 1, "energy/elastic") +
                                number_of(s, k, "energy/barrier") - b;
            const double numerical = number_of(s, k, "work/numerical");
            worst = fmax(worst, fabs(numerical - gain) / size);
            CHECK_NEAR(number_of(s, k, "work/friction"), dot(q.friction, q.u, n3), 1e-12 * size);
            CHECK_NEAR(number_of(s, k, "work/damping"), dot(q.damping, q.u, n3), 1e-12 * size);
            if (scheme == ABUT_IMPLICIT_EULER)
                CHECK(numerical < 0 && number_of(s, k, "work/friction") < 0 && number_of(s, k, "work/damping") < 0);
            hop_end(q);
        }
        printf("# %s: friction %.3g J, damping %.3g J, reactions %.3g J, numerical %.3g J; closed form missed by %.2g\n",
               NAME[scheme], sum[0], sum[1], sum[2], sum[5], worst);
        CHECK(worst < 1e-8);
        CHECK(sum[0] < -1e-3 && sum[1] < -1e-3 && sum[2] > 1e-2);
    }
}

/* ---- friction ---- */

static fixture *slope_scene(int32_t scheme, double h)
{
    fixture *f = fixture_new();
    f->h = h;
    f->lags = 8;
    f->scheme = scheme;
    f->damp_mass = 100;
    return f;
}

TEST(a_sliding_block_is_held_back_by_mu_times_its_weight)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w;
        slope_open(&w, slope_scene(scheme, 0.005), 0.4);
        CHECK(!world_run(&w, 50));
        const double n = resultant(&w, "node/contact-force", 1, -1), t = resultant(&w, "node/friction-force", 0, -1);
        const double x0 = mean(&w, "node/x", 0, 0), w0 = number(&w, "work/friction-total"), weight = 16 * 9.81 * 2 / sqrt(5);
        /* Newmark and midpoint leave a little of the block's bouncing */
        const double rest = scheme == ABUT_IMPLICIT_EULER || scheme == ABUT_BDF2 ? 1e-4 : 5e-3;
        CHECK_NEAR(n, weight, rest * weight);
        CHECK_NEAR(t, -0.4 * n, 0.4 * rest * n);
        CHECK_NEAR(resultant(&w, "node/friction-force", 2, -1), 0, rest * n);
        CHECK(abut_arrays_find(&w.frame, "contact/sliding") && w.rep.sticking == 0 && w.rep.sliding == 4);
        CHECK(!world_run(&w, 10));
        const double way = mean(&w, "node/x", 0, 0) - x0, lost = number(&w, "work/friction-total") - w0;
        printf("# %s: %.6g J lost over %.4g m\n", NAME[scheme], lost, way);
        CHECK_NEAR(lost, -0.4 * weight * way, 2e-3 * 0.4 * weight * way);
        world_close(&w);
    }
}

/* on a slope of tangent 0.5 friction holds with f1 = 0.5/mu of its strength, at the speed eps_v (1 - sqrt(1 - 0.5/mu)) */
TEST(a_block_that_sticks_creeps_as_smoothed_friction_makes_it)
{
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        world w;
        slope_open(&w, slope_scene(scheme, 0.05), 0.6);
        CHECK(!world_run(&w, 30));
        const double want = 1e-5 * (1 - sqrt(1 - 0.5 / 0.6)), *x = get(&w, "node/x"), *v = get(&w, "node/v");
        double most = 0, sum = 0;
        int stick = 0, slide = 0;
        for (int32_t i = 0; i < w.model.nv; i++) {
            const double speed = hypot(v[3 * i], v[3 * i + 2]);
            if (x[3 * i + 1] > w.model.dhat[0]) continue;
            if (speed >= w.model.eps_v[0]) slide++;
            else stick++, sum += speed, most = fmax(most, speed);
        }
        printf("# %s: creep %.4g m/s at most, %.4g in the mean, want %.4g\n", NAME[scheme], number(&w, "contact/creep-max"),
               number(&w, "contact/creep-mean"), want);
        CHECK(stick > 0 && w.rep.sticking == stick && w.rep.sliding == slide);
        CHECK(number(&w, "contact/creep-max") == w.rep.creep_max && number(&w, "contact/creep-mean") == w.rep.creep_mean);
        CHECK_NEAR(w.rep.creep_max, most, 1e-9 * most);
        CHECK_NEAR(w.rep.creep_mean, sum / stick, 1e-9 * most);
        /* the last bounces take longer in the other schemes */
        if (scheme == ABUT_IMPLICIT_EULER || scheme == ABUT_BDF2) CHECK_NEAR(w.rep.creep_mean, want, 0.03 * want);
        world_close(&w);
    }
}

/* ---- rotation ---- */

/* Velocities of the nodes of an object: `move`, a turn about its middle by `turn` with velocities aside by `angle`, a growth. */
static void swing(const world *w, int32_t object, const double middle[3], const double move[3], double turn, double angle,
                  double growth, double *v)
{
    for (int32_t i = 0; i < w->model.nv; i++) {
        if (w->model.body[i] != object) continue;
        const double *X = w->model.X + 3 * i, x = X[0] - middle[0], y = X[1] - middle[1], u = -turn * y, q = turn * x;
        v[3 * i] = move[0] + cos(angle) * u - sin(angle) * q + growth * x;
        v[3 * i + 1] = move[1] + sin(angle) * u + cos(angle) * q + growth * y;
        v[3 * i + 2] = move[2] + growth * (X[2] - middle[2]);
    }
}

/* Four boxes of 6 kg: the first alone rotates freely and fast; the others are slow, held or swell. */
static void boxes_open(world *w, int order)
{
    world_scene(w, "time: {step: 0.01}\ngravity: [0, 0, 0]\nmaterials: {m: {density: 1000}}\nobjects:\n"
                "  a: {generate: {box: {size: [0.1, 0.2, 0.3], cells: [1, 1, 1]}}, order: %d, translate: [4, 1, -2]}\n"
                "  b: {generate: {box: {size: [0.1, 0.2, 0.3], cells: [1, 1, 1]}}, translate: [1, 0, 0]}\n"
                "  c: {generate: {box: {size: [0.1, 0.2, 0.3], cells: [1, 1, 1]}}, translate: [2, 0, 3]}\n"
                "  d: {generate: {box: {size: [0.1, 0.2, 0.3], cells: [1, 1, 1]}}, translate: [-3, 0, 0]}\n"
                "motion: [{select: {object: c, nodes: [0]}, fix: true}]\n", order);
    CHECK(!abut_step_begin(&w->st, &w->frame, w->at, &w->rep, &w->err));
}

/* L[3]: moments of the first box that turns about z by 1, over its middle: sums over nodes, or of the continuum. */
static void turned(const world *w, int order, double L[3])
{
    L[0] = L[1] = 0, L[2] = order == 2 ? 6 * (0.01 + 0.04) / 12 : 0;
    for (int32_t i = 0; i < w->model.nv && order == 1; i++) {
        const double *X = w->model.X + 3 * i, d[3] = { X[0] - 4, X[1] - 1, X[2] + 2 };
        if (w->model.body[i]) continue;
        for (int k = 0; k < 2; k++) L[k] -= w->model.mass[i] * d[k] * d[2];
        L[2] += w->model.mass[i] * (d[0] * d[0] + d[1] * d[1]);
    }
}

/* The velocities of a body turn by an angle: their cross products with the former ones are -sin(angle) w^2 Izz along z, and the
 * step takes h times what is of that along L = w (Ixz, Iyz, Izz). */
TEST(a_step_takes_of_rotations_what_its_change_of_velocities_turns_aside)
{
    static const double at[4][3] = { { 4, 1, -2 }, { 1, 0, 0 }, { 2, 0, 3 }, { -3, 0, 0 } };
    for (int order = 1; order <= 2; order++) {
        world w;
        double taken = NAN, L[3];
        boxes_open(&w, order);
        const abut_objective *p = &w.st.solver.prob;
        double *v = calloc(6 * (size_t)w.model.nv, sizeof *v), *v1 = v + 3 * w.model.nv;
        const double turn[4] = { 3, 0.1, 3, 0 }, growth[4] = { 0, 0, 0, 5 };
        for (int32_t o = 0; o < 4; o++) {
            swing(&w, o, at[o], (double[]){ 7, -2, 1 }, turn[o], 0, growth[o], v);
            swing(&w, o, at[o], (double[]){ -1, 4, 2 }, turn[o], o ? 0.9 : 0.2, growth[o], v1);
        }
        turned(&w, order, L);
        const double share = L[2] * L[2] / (L[0] * L[0] + L[1] * L[1] + L[2] * L[2]), half = 0.5 * 9 * L[2];
        CHECK(!abut_spin_taken(p, v, v1, 0.999 * half, &taken, &w.st.solver.scratch, &w.err));
        CHECK_NEAR(taken, 0.01 * 3 * sin(0.2) * share, 1e-13);
        CHECK(!abut_spin_taken(p, v, v1, 1.001 * half, &taken, &w.st.solver.scratch, &w.err) && taken == 0);
        free(v);
        world_close(&w);
    }
}

TEST(moments_of_a_state_are_those_of_the_continuum_with_consistent_masses_and_of_the_nodes_with_lumped_ones)
{
    for (int order = 1; order <= 2; order++) {
        world w;
        double c[3], l[3], L[3];
        boxes_open(&w, order);
        const abut_mass *M = abut_mass_of(&w.st.solver.prob.terms);
        double *v = calloc(3 * (size_t)w.model.nv, sizeof *v);
        swing(&w, 0, (double[]){ 4, 1, -2 }, (double[]){ 7, -2, 1 }, 3, 0, 0, v);
        turned(&w, order, L);
        abut_mass_center(M, w.model.X, c);
        abut_angular_momentum(M, w.model.X, v, l);
        CHECK_NEAR(c[0], 1, 1e-13);
        CHECK_NEAR(c[1], 0.25, 1e-13);
        CHECK_NEAR(c[2], 0.25, 1e-13);
        /* 6 kg times (4, 1, -2) x (7, -2, 1), and the turn */
        CHECK_NEAR(l[0], 6 * (1 * 1 - -2 * -2) + 3 * L[0], 1e-11);
        CHECK_NEAR(l[1], 6 * (-2 * 7 - 4 * 1) + 3 * L[1], 1e-11);
        CHECK_NEAR(l[2], 6 * (4 * -2 - 1 * 7) + 3 * L[2], 1e-11);
        CHECK_NEAR(abut_kinetic_energy(M, v), 0.5 * 6 * (49 + 4 + 1) + 0.5 * 9 * L[2], 1e-11);
        free(v);
        world_close(&w);
    }
}

/* ---- growth ---- */

/* A body that flies by itself keeps its energy: what was before is made less by hand. */
TEST(a_step_that_ends_with_a_tenth_more_energy_than_ever_is_refused_and_another_scheme_is_named)
{
    static const char *const better[LOW_SCHEMES] = { [ABUT_IMPLICIT_EULER] = "time.step may help",
        [ABUT_IMPLICIT_NEWMARK] = "may help, or bdf2, which damps every oscillation",
        [ABUT_BDF2] = "may help, or implicit-euler",
        [ABUT_MIDPOINT] = "may help, or bdf2, which damps every oscillation" };
    for (int32_t scheme = 0; scheme < LOW_SCHEMES; scheme++) {
        fixture *f = fixture_new();
        world w;
        f->scheme = scheme;
        f->gravity[1] = 0;
        f->tol = 1e-9;
        fixture_box(f, 0, 0, 0, 0.3, 0.2, 0.2, 1, 1, 1, 0);
        world_open(&w, f, (const double[3]){ 2, 0, 0 });
        CHECK(!world_run(&w, 3));
        const double E = 0.5 * 12 * 4;
        w.st.watch.most = 0.91 * E;
        CHECK(!world_run(&w, 1));
        CHECK_NEAR(w.rep.energy_growth, 1.09, 1e-9);
        w.st.watch.most = 0.88 * E;
        w.o.real_time.iterations = 3;       /* such steps need not converge */
        CHECK(!world_run(&w, 1) && w.rep.energy_grows);
        w.o.real_time.iterations = 0;
        CHECK(world_run(&w, 1) == ABUT_E_NUMERIC);
        CHECK_NEAR(w.rep.energy_growth, 1.12, 1e-9);
        CHECK(strstr(w.err.msg, "step 6 (t = 0.05 s): total energy has grown to 1.12 times what it was"));
        CHECK(strstr(w.err.msg, "accepted up to 1.1; the time scheme "));
        const size_t n = strlen(w.err.msg), m = strlen(better[scheme]);
        CHECK(n > m && !strcmp(w.err.msg + n - m, better[scheme]));
        world_close(&w);
    }
}

TEARDOWN
{
    stories_end();
}
