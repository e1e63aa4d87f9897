/* pull STIFFNESS X Y Z NODE...: the next frame, in which springs pull these nodes to a point: E = sum_i k/2 |x_i - to|^2.
 * Standard input is a stream; what is written has its model, its last frame and the next one. */
#include "energy/terms.h"
#include "formats/stream/state_io.h"
#include "solve/solvers.h"
#include "solve/step/options.h"

typedef struct pull { double k, to[3]; int32_t n, node[100]; } pull;

static abut_status make(void **self, const abut_term_world *w, abut_err *err)
{
    const pull *p = *self = w->own;
    for (int i = 0; i < p->n; i++)
        if (p->node[i] < 0 || p->node[i] >= w->model->nv) return abut_fail(err, ABUT_E_ARG, "there is no node %d", p->node[i]);
    return ABUT_OK;
}

static abut_status energy(void *self, const abut_at *at, double scale, double *e, abut_arena *scratch, abut_err *err)
{
    const pull *p = self;
    (void)scratch, (void)err, *e = 0;
    for (int i = 0; i < 3 * p->n; i++) {
        const double d = at->x[3 * p->node[i / 3] + i % 3] - p->to[i % 3];
        *e += scale * p->k / 2 * d * d;
    }
    return ABUT_OK;
}

static abut_status gradient(void *self, const abut_at *at, double scale, double *g, abut_arena *scratch, abut_err *err)
{
    const pull *p = self;
    (void)scratch, (void)err;
    for (int i = 0, k; i < 3 * p->n; i++) k = 3 * p->node[i / 3] + i % 3, g[k] += scale * p->k * (at->x[k] - p->to[i % 3]);
    return ABUT_OK;
}

static abut_status elements(void *self, const abut_at *at, abut_elements *set, abut_err *err)
{
    (void)at, (void)err;
    set->corners = 1, set->n = (size_t)((pull *)self)->n, set->row = ((pull *)self)->node;
    return ABUT_OK;
}

static void hessian(void *self, const abut_at *at, double scale, size_t lo, size_t hi, double *val)
{
    (void)at;
    for (size_t i = 9 * lo; i < 9 * hi; i++) *val++ = i % 9 % 4 ? 0 : scale * ((pull *)self)->k;
}

static const abut_term_ops pulls = { .name = "pull", .kind = ABUT_TERM_POTENTIAL, .weight = ABUT_TERM_AT_X, .make = make,
                                     .energy = energy, .gradient = gradient, .set = "pulled nodes", .set_is = ABUT_SET_LASTS,
                                     .elements = elements, .hessian = hessian };
static abut_err err;

static void must(abut_status rc)
{
    if (rc) fprintf(stderr, "pull: %s\n", err.msg), exit(3);
}

int main(int argc, char **argv)
{
    static pull p;
    abut_reader *in;
    abut_writer *out;
    abut_arrays first = { 0 }, frame[2] = { { 0 } }, next = { 0 };
    abut_frame_head head[2] = { { 0 } };
    abut_model model;
    abut_item item;
    if (argc < 6 || argc > 105) return fprintf(stderr, "pull STIFFNESS X Y Z NODE..., at most 100 nodes\n"), 2;
    p.k = atof(argv[1]);
    for (int i = 0; i < 3; i++) p.to[i] = atof(argv[2 + i]);
    for (int i = 5; i < argc; i++) p.node[p.n++] = atoi(argv[i]);

    int last = 0;
    must(abut_reader_open(stdin, "standard input", &in, &err));
    must(abut_reader_next(in, &item, head, &first, &err));
    must(abut_model_view(&first, &model, &err));
    do must(abut_reader_next(in, &item, &head[!last], &frame[!last], &err));
    while (item == ABUT_ITEM_FRAME && (last = !last, 1));

    const abut_own_term own[] = { { &pulls, &p }, { NULL, NULL } };
    abut_step_options options = abut_step_defaults();
    options.names = &first, options.terms = own;
    const abut_stepper_ops *stepper = abut_solver_table->stepper;
    abut_instant at = { head[last].step, head[last].time };
    abut_report report = { 0 };
    void *self;
    int written = 1;
    must(stepper->make(&self, &model, abut_solver_table, &options, &err));
    must(abut_stepper_advance(stepper, self, &frame[last], head[last].phase, &at, &written, 0, &next, &report, &err));
    must(abut_writer_open(stdout, 0, &out, &err));
    must(abut_writer_model(out, &first, &err));
    must(abut_writer_frame(out, &head[last], &frame[last], &err));
    must(abut_writer_frame(out, &(abut_frame_head){ at.step, at.time, ABUT_COMMITTED }, &next, &err));
    must(abut_writer_close(out, &err));
    stepper->free(self);
    abut_report_clear(&report);
    for (int i = 0; i < 2; i++) abut_arrays_clear(&frame[i]);
    abut_arrays_clear(&first);
    abut_arrays_clear(&next);
    abut_reader_free(&in);
    abut_writer_free(&out);
    return 0;
}
