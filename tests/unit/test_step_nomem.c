/* The n-th allocation of a whole step fails, for every n: the step reports it, frees everything, crashes nowhere. */
#include "all_terms.h"
#include "base/par.h"
#include "failing_malloc.h"
#include "solve/solvers.h"
#include "sparse/linear_solver.h"
#include "solve/options.h"

#include "check.h"

#ifdef ALLOCATOR_STAYS
TEST(every_failing_allocation_of_a_step_is_reported_and_nothing_leaks) { SKIP("the allocator cannot be replaced here"); }
#else

static const abut_linear_solver_ops *linear;    /* NULL: the solver's */

/* One step of a scene from its first frame. */
static abut_status step(const abut_solver_row *solver, const abut_model *m, const abut_arrays *frame, abut_err *err)
{
    void *self = NULL;
    abut_solve_options o = abut_solve_defaults;
    o.linear.solver = linear;
    abut_instant at = { 0, 0 };
    abut_report rep = { .lag_residual = -1 };
    abut_arrays next = { 0 };
    int written = 1;
    abut_status rc = abut_solver_make(&self, m, solver, &o, err);
    if (!rc) rc = abut_stepper_advance(solver->stepper, self, frame, 0, &at, &written, 0, &next, &rep, err);
    abut_arrays_clear(&next);
    abut_report_clear(&rep);
    if (self) solver->stepper->free(self);
    return rc;
}

/* Steps with the n-th allocation failing for n = 0, 1, ... until one needs no more; returns how many there were. */
static int exhaust(const char *name, const char *text)
{
    abut_arrays model_set = { 0 }, frame = { 0 };
    abut_model m;
    abut_err err = { 0 };
    scene_arrays(text, &model_set, &frame);
    CHECK(!abut_model_view(&model_set, &m, &err));
    const abut_solver_row *solver = abut_solver_find(name, 0, &err);
    CHECK(solver && !step(solver, &m, &frame, &err));     /* makes all that is made once in a process */
    int n = 0, wrong = 0;
    for (int more = 1; more && wrong < 5; n += more) {
        err = (abut_err){ 0 };
        const int before = live;
        failed = 0, countdown = n;
        const abut_status rc = step(solver, &m, &frame, &err);
        countdown = -1;
        more = failed;
        if (rc == (more ? ABUT_E_NOMEM : ABUT_OK) && err.code == rc && live == before) continue;
        printf("# %s, allocation %d: status %d, %d left, %s\n", name, n, rc, live - before, err.msg);
        wrong++;
    }
    CHECK(!wrong);
    printf("# %s: %d allocations\n", name, n);
    abut_arrays_clear(&model_set);
    abut_arrays_clear(&frame);
    return n;
}

/* Two boxes above a floor, the centre of the upper one at height y; more keys of contact, more objects. */
#define TWO(y, keys, more) \
    "{time: {step: 10 ms}, contact: {dhat: 4 mm, friction: {mu: 0.3}" keys "},\n" \
    " objects: {\n" \
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}},\n" \
    "  low: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0, 0.052, 0]},\n" \
    "  high: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, translate: [0.02, " y ", 0.01]}" more "}}\n"
#define BOXES(y) TWO(y, "", "")
/* with a rod and a grain beside them, in contact by area */
#define BY_AREA(y) TWO(y, ", formulation: area", ",\n" \
    "  rod: {generate: {rod: {length: 0.1, cells: 2}}, rod: {radius: 1 mm}, translate: [0.2, 0.003, 0]},\n" \
    "  grain: {generate: {particles: {size: [1 mm, 1 mm, 1 mm], count: [1, 1, 1]}}, particle: {radius: 1 mm},\n" \
    "          translate: [0.3, 0.003, 0]}")

TEST(every_failing_allocation_of_a_step_is_reported_and_nothing_leaks)
{
    static const char *const solver[] = { "newton", "newton-cg", "lbfgs-h", "nodal" };
    const int threads = abut_threads();
    abut_threads_set(1);
    for (int k = 0; k < 4; k++) CHECK(exhaust(solver[k], BOXES("0.154")) > 400);
    CHECK(!abut_linear_solver_find("ic", &linear, NULL));
    CHECK(exhaust("newton", BOXES("0.154")) > 300);
    linear = NULL;
    abut_threads_set(threads);
}

/* Eight steps in which bodies fall onto the floor and onto each other: contacts come, and the rooms for them grow. */
static void fall(const char *solver, const char *text)
{
    abut_arrays model_set = { 0 }, frame[2] = { { 0 } };
    abut_model m;
    abut_err err = { 0 };
    void *self = NULL;
    abut_solve_options o = abut_solve_defaults;
    abut_instant at = { 0, 0 };
    int written = 1;
    scene_arrays(text, &model_set, &frame[0]);
    CHECK(!abut_model_view(&model_set, &m, &err));
    const abut_solver_row *row = abut_solver_find(solver, 0, &err);
    CHECK(row && !abut_solver_make(&self, &m, row, &o, &err));
    for (int i = 0; i < 8 && self; i++) {
        abut_report rep = { .lag_residual = -1 };
        CHECK(!abut_stepper_advance(row->stepper, self, &frame[i % 2], 0, &at, &written, 0, &frame[1 - i % 2], &rep, &err));
        abut_arrays_clear(&frame[i % 2]);
        abut_report_clear(&rep);
    }
    if (self) row->stepper->free(self);
    abut_arrays_clear(&frame[0]);
    abut_arrays_clear(&model_set);
}

TEST(steps_in_which_contacts_come_leave_no_memory)
{
    static const char *const solver[] = { "newton", "lbfgs-h", "dot", "nodal", "newton" };
    const int threads = abut_threads();
    abut_threads_set(1);
    for (int k = 0; k < 5; k++) {
        const char *text = k < 4 ? BOXES("0.158") : BY_AREA("0.158");
        fall(solver[k], text);    /* makes all that is made once in a process */
        const int before = live;
        fall(solver[k], text);
        CHECK(live == before);
    }
    abut_threads_set(threads);
}

SLOW_TEST(every_failing_allocation_of_a_step_with_every_term_is_reported_and_nothing_leaks)
{
    const int threads = abut_threads();
    char text[4096];
    abut_threads_set(1);
    snprintf(text, sizeof text, ALL, "implicit-euler", "", "");
    CHECK(exhaust("newton", text) > 600);
    CHECK(exhaust("newton", BY_AREA("0.154")) > 600);
    abut_threads_set(threads);
}

#endif
