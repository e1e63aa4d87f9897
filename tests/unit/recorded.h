/* A run kept frame by frame, a loss of it, and its derivatives by adjoints and by central differences of runs that are made with
 * other numbers: what the tests of lib/adjoint have in common. */
#ifndef ABUT_TESTS_RECORDED_H
#define ABUT_TESTS_RECORDED_H

#include "scene_world.h"

#include "adjoint/adjoint.h"
#include "base/rng.h"

enum { RECORDED_MOST = 64 };

/* A run of n steps. */
typedef struct recorded {
    abut_arrays model_set, frame[RECORDED_MOST + 1];
    abut_model m;
    int n, keeps;               /* keeps: frames hold the results of friction passes */
    double loss;
    abut_state_bar bar;         /* of frame 0 */
    abut_adjoint *a;
    abut_parameter_bar bars;    /* of the sweep */
    double correction, residual, unreached, kappa, growth;
    int frozen, contacts, indefinite, rounds;
} recorded;

static inline double *numbers(abut_arrays *set, const char *name)
{
    abut_array *a = (abut_array *)abut_arrays_find(set, name);
    if (!a) printf("# no array %s\n", name), abort();
    return a->data;
}

/* One stiffness of the barrier for the whole run, as exact derivatives need it. */
static inline void fix_kappa(abut_arrays *model, double times)
{
    const double kappa = times * *numbers(model, "contact/kappa-min");
    *numbers(model, "contact/kappa-min") = *numbers(model, "contact/kappa-max") = kappa;
}

/* Weights of coordinate k in step n: deterministic, of the size of one. */
static inline double loss_weight(int n, int k) { return 0.5 + 0.5 * sin(1.7 * k + 0.9 * n); }
static inline double loss_target(int k) { return 0.1 * cos(0.37 * k); }

/* sum w/2 (x - target)^2 over steps, and a sum of the last velocities */
static inline double loss_of(const recorded *r)
{
    double L = 0;
    const int32_t n3 = 3 * r->m.nv;
    for (int n = 1; n <= r->n; n++) {
        const double *x = abut_arrays_find(&r->frame[n], "node/x")->data, *v = abut_arrays_find(&r->frame[n], "node/v")->data;
        for (int32_t k = 0; k < n3; k++) {
            L += 0.5 * loss_weight(n, k) * (x[k] - loss_target(k)) * (x[k] - loss_target(k));
            if (n == r->n) L += 0.01 * loss_weight(1, k) * v[k];
        }
    }
    return L;
}

static inline void loss_bars(const recorded *r, int n, abut_state_bar *bar)
{
    const double *x = abut_arrays_find(&r->frame[n], "node/x")->data;
    for (int32_t k = 0; k < 3 * r->m.nv && n > 0; k++) {
        bar->x[k] += loss_weight(n, k) * (x[k] - loss_target(k));
        if (n == r->n) bar->v[k] += 0.01 * loss_weight(1, k);
    }
}

/* Copies what a run is of. */
static inline void recorded_like(recorded *to, const recorded *from)
{
    abut_err err = { 0 };
    *to = (recorded){ .n = from->n, .keeps = from->keeps };
    for (int i = 0; i < from->model_set.n; i++)
        if (abut_arrays_copy(&to->model_set, &from->model_set.a[i], &err)) printf("# %s\n", err.msg), abort();
    for (int i = 0; i < from->frame[0].n; i++)
        if (abut_arrays_copy(&to->frame[0], &from->frame[0].a[i], &err)) printf("# %s\n", err.msg), abort();
}

/* Steps from frame 0 on, judged where asked. */
static inline int record(recorded *r, int judged)
{
    world w = { .f = NULL };
    abut_err err = { 0 };
    w.model_set = r->model_set;
    world_start(&w);
    w.o.passes.keep = r->keeps;
    int ok = 1;
    for (int n = 0; n < r->n && ok; n++) {
        abut_arrays_clear(&w.next);
        abut_report_clear(&w.rep);
        if (abut_step_advance(&w.st, &r->frame[n], 0, &w.at, 0, &r->frame[n + 1], &w.rep, &err)) {
            printf("# step %d: %s\n", n + 1, err.msg);
            ok = 0;
        }
        if (ok && judged) {
            w.frame = r->frame[n + 1];
            CHECK(world_collisions(&w, abut_arrays_find(&r->frame[n], "node/x")->data) == 0);
        }
    }
    abut_stepper_clear(&w.st);
    abut_report_clear(&w.rep);
    r->m = w.model;
    if (ok) r->loss = loss_of(r);
    return ok;
}

/* The whole sweep. */
static inline int backwards(recorded *r, const abut_adjoint_options *o)
{
    abut_err err = { 0 };
    abut_status rc = abut_adjoint_open(&r->a, &r->m, o, &err);
    if (!rc) rc = abut_state_bar_init(&r->bar, &r->m, &err);
    r->correction = r->residual = r->unreached = r->kappa = 0;
    r->frozen = r->contacts = r->indefinite = r->rounds = 0;
    for (int n = r->n; n > 0 && !rc; n--) {
        abut_adjoint_report rep;
        const abut_instant at = { n - 1, (n - 1) * r->m.h[0] };
        loss_bars(r, n, &r->bar);
        rc = abut_adjoint_step(r->a, &r->frame[n - 1], at, &r->frame[n], &r->bar, &rep, &err);
        r->correction += rep.correction;
        r->kappa += rep.kappa;
        r->unreached += rep.unreached;
        r->residual = fmax(r->residual, rep.residual);
        r->frozen += rep.frozen;
        r->contacts += rep.contacts;
        r->indefinite += rep.indefinite;
        r->rounds += rep.rounds;
        if (getenv("ADJOINT_SHOW") && rep.unreached > 0) printf("# step %d: %.2g of L unreached\n", n, rep.unreached);
    }
    if (!rc) rc = abut_adjoint_finish(r->a, &r->frame[0], (abut_instant){ 0 }, &r->bar, &err);
    CHECK(rc || !err.code);     /* what has another solution is no error */
    if (rc) printf("# backwards: %s\n", err.msg);
    else abut_adjoint_take(&r->a, &r->bars);
    return rc == ABUT_OK;
}

/* The run of r with ends at which forces balance better: lib/adjoint's refinement. */
static inline int refine(const recorded *r, recorded *to)
{
    const abut_adjoint_options o = { .lags = -1, .threads = 1, .refined = 1 };
    abut_err err = { 0 };
    recorded_like(to, r);
    abut_status rc = abut_model_view(&to->model_set, &to->m, &err);
    if (!rc) rc = abut_adjoint_open(&to->a, &to->m, &o, &err);
    for (int n = 0; n < r->n && !rc; n++)
        rc = abut_adjoint_refine(to->a, &to->frame[n], (abut_instant){ n, n * to->m.h[0] }, &r->frame[n + 1], &to->frame[n + 1],
                                 &err);
    abut_adjoint_free(&to->a);
    if (rc) printf("# refined: %s\n", err.msg);
    else to->loss = loss_of(to);
    return rc == ABUT_OK;
}

static inline void forget(recorded *r)
{
    abut_adjoint_free(&r->a);
    abut_state_bar_clear(&r->bar);
    abut_parameter_bar_clear(&r->bars);
    abut_arrays_clear(&r->model_set);
    for (int n = 0; n <= r->n; n++) abut_arrays_clear(&r->frame[n]);
}

static inline void recorded_scene(recorded *r, const char *text, int n, double tolerance)
{
    *r = (recorded){ .n = n };
    scene_arrays(text, &r->model_set, &r->frame[0]);
    *numbers(&r->model_set, "solve/tolerance") = tolerance;
    fix_kappa(&r->model_set, 1);
}

/* A change of a run: number i of an array, or all of them along a direction. */
typedef struct change {
    const char *what;
    void (*apply)(recorded *r, double by);  /* adds `by` of it */
    double by;
    double (*bar)(const recorded *r);       /* its derivative, of the sweep */
} change;

/* (L(by) - L(-by))/2by; *ok 0: a run gave up */
static inline double central(const recorded *r, const change *c, double by, int *ok)
{
    double L[2];
    for (int side = 0; side < 2; side++) {
        recorded other;
        recorded_like(&other, r);
        c->apply(&other, (side ? 1 : -1) * by);
        *ok &= record(&other, 0);
        L[side] = other.loss;
        forget(&other);
    }
    return (L[1] - L[0]) / (2 * by);
}

static inline double relative(double d, double b) { return fabs(d - b) / (fabs(d) + fabs(b) + 1e-300); }

/* That difference where it is near enough to b; else with that of half the change, extrapolated. */
static inline double difference(const recorded *r, const change *c, double b, double tol, int *ok)
{
    const double d = central(r, c, c->by, ok);
    if (relative(d, b) <= tol && !getenv("ADJOINT_SHOW")) return d;
    return (4 * central(r, c, 0.5 * c->by, ok) - d) / 3;
}

/* Each change against its difference. */
static inline void differences_agree(const recorded *r, const change *c, int n, double tol, const char *of)
{
    for (int i = 0; i < n; i++) {
        int ok = 1;
        const double b = c[i].bar(r), d = difference(r, &c[i], b, tol, &ok), off = relative(d, b);
        if (getenv("ADJOINT_SHOW")) printf("# difference\t%s\t%s\t%.12g\t%.12g\t%.1e\n", of, c[i].what, b, d, off);
        CHECK(ok);
        if (off <= tol) continue;
        check_bad++;
        printf("# %s, by %s: %.12g, differences give %.12g: %.2g off, expected %.0e\n", of, c[i].what, b, d, off, tol);
    }
}

#endif
