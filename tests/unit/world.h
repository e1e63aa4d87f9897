/* A model made by hand, stepped in this process: what the tests of the time step share. */
#ifndef ABUT_TESTS_WORLD_H
#define ABUT_TESTS_WORLD_H

#include "fixture.h"
#include "solve/step/barrier_stepper.h"
#include "solve/step/measures.h"

typedef struct world {
    fixture *f;
    abut_arrays model_set, frame, next;
    abut_model model;
    abut_solver_row row;        /* its direction and linear solver; NULL: Newton's */
    abut_solve_options o;
    abut_stepper st;
    abut_instant at;
    abut_report rep;
    abut_err err;
} world;

static inline void world_open(world *w, fixture *f, const double *v0)
{
    *w = (world){ .f = f };
    fixture_build(f, &w->model_set, &w->frame, v0);
    if (abut_model_view(&w->model_set, &w->model, &w->err)) printf("# %s\n", w->err.msg), abort();
    w->o = abut_solve_defaults;
    if (abut_stepper_init(&w->st, &w->model, &w->row, &w->o, &w->err)) printf("# %s\n", w->err.msg), abort();
}

/* Renews the stepper, for other options. */
static inline void world_renew(world *w)
{
    abut_stepper_clear(&w->st);
    CHECK(!abut_stepper_init(&w->st, &w->model, &w->row, &w->o, &w->err));
}

/* Renews the stepper, as in a new process that knows only the frame. */
static inline void world_forget(world *w)
{
    w->o = abut_solve_defaults;
    world_renew(w);
}

/* Makes *twin of the model and frame of w, with its own stepper; *twin must not move in memory.  world_twin_close clears it. */
static inline void world_twin(world *twin, const world *w)
{
    *twin = *w;
    twin->next = (abut_arrays){ 0 };
    twin->rep = (abut_report){ 0 };
    CHECK(!abut_stepper_init(&twin->st, &w->model, &twin->row, &twin->o, &twin->err));
}

static inline void world_twin_close(world *twin)
{
    abut_stepper_clear(&twin->st);
    abut_arrays_clear(&twin->next);
    abut_report_clear(&twin->rep);
}

/* A new process whose solver does without these features (solve/options.h). */
static inline void world_without(world *w, unsigned without)
{
    w->o.search.without = without;
    world_renew(w);
}

static inline void world_close(world *w)
{
    abut_stepper_clear(&w->st);
    abut_arrays_clear(&w->model_set);
    abut_arrays_clear(&w->frame);
    abut_arrays_clear(&w->next);
    abut_report_clear(&w->rep);
    free(w->f);
}

/* all that a frame may tell */
enum { WORLD_WITH = ABUT_WITH_FORCES | ABUT_WITH_ENERGIES };

/* from the frame that was made */
static inline void world_go_on(world *w)
{
    const abut_arrays swap = w->frame;
    w->frame = w->next;
    w->next = swap;
}

/* n steps; every frame is checked for crossings and inversion by the exact predicates */
static inline abut_status world_run(world *w, int n)
{
    abut_status rc = ABUT_OK;
    for (int k = 0; k < n && !rc; k++) {
        abut_report_clear(&w->rep);
        rc = abut_step_advance(&w->st, &w->frame, 0, &w->at, WORLD_WITH, &w->next, &w->rep, &w->err);
        if (rc) break;
        world_go_on(w);
        CHECK(w->rep.min_jacobian_tet < 0 || w->rep.min_jacobian > 0);
        CHECK(w->rep.min_gap != 0);
    }
    if (rc) printf("# step %d: %s\n", (int)w->at.step, w->err.msg);
    return rc;
}

static inline double *get(const world *w, const char *name)
{
    return abut_arrays_find(&w->frame, name)->data;
}

static inline double mean(const world *w, const char *name, int k, int32_t object)
{
    double s = 0, n = 0;
    for (int32_t i = 0; i < w->model.nv; i++)
        if (w->model.body[i] == object) s += get(w, name)[3 * i + k], n++;
    return s / n;
}

static inline int same_frames(const abut_arrays *a, const abut_arrays *b)
{
    int same = a->n == b->n;
    for (int i = 0; i < a->n && same; i++) {
        const abut_array *q = abut_arrays_find(b, a->a[i].name);
        same = q && abut_array_bytes(q) == abut_array_bytes(&a->a[i]) &&
               !memcmp(q->data, a->a[i].data, abut_array_bytes(q));
        if (!same) printf("# %s differs\n", a->a[i].name);
    }
    return same;
}

/* Whether the gradient of the objective at the iterate, along d[3 nv], is its central difference over 2e-8 d; a step is begun. */
static inline int slope_agrees(world *w, const double *d)
{
    abut_search *s = &w->st.solver;
    const int32_t n3 = 3 * w->model.nv;
    double *g = calloc((size_t)n3, sizeof *g), slope = 0, e[2];
    const double t = 1e-8;
    const abut_at at = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
    CHECK(!abut_objective_gradient(&s->prob, &at, ABUT_KINDS_ALL, g, &s->scratch, &w->err));
    for (int32_t i = 0; i < n3; i++) slope += g[i] * d[i];
    memcpy(s->p, s->here.x, (size_t)n3 * sizeof(double));
    for (int k = 0; k < 2; k++) {
        abut_energy part;
        for (int32_t i = 0; i < n3; i++) s->here.x[i] = s->p[i] + (k ? t : -t) * d[i];
        CHECK(!abut_search_contacts(s, &w->rep, &w->err));
        const abut_at there = abut_objective_at(&s->prob, s->here.x, s->here.y, &s->here.pairs);
        CHECK(!abut_objective_energy(&s->prob, &there, &part, &s->scratch, &w->err));
        e[k] = part.sum;
    }
    free(g);
    return fabs((e[1] - e[0]) / (2 * t) - slope) <= 1e-4 * fabs(slope);
}

/* A stiff block released on a slope of tangent 0.5 (gravity is tilted, not the floor).  h, lags, scheme and damping are
 * those of f. */
static inline void slope_open(world *w, fixture *f, double mu)
{
    f->plane = 1;
    f->mu = mu;
    f->eps_v = 1e-5;
    f->tol = 1e-6;
    f->young = 1e7;
    f->material = ABUT_FIXED_COROTATED;
    const double c = 2 / sqrt(5), s = 1 / sqrt(5);
    f->gravity[0] = 9.81 * s, f->gravity[1] = -9.81 * c;
    fixture_box(f, 0, 8.7e-4, 0, 0.4, 0.1, 0.4, 1, 1, 1, 0);
    world_open(w, f, NULL);
}

/* its speed after n steps */
static inline double slope_speed(fixture *f, double mu, int n)
{
    world w;
    slope_open(&w, f, mu);
    CHECK(!world_run(&w, n));
    const double v = mean(&w, "node/v", 0, 0);
    world_close(&w);
    return v;
}

#endif
