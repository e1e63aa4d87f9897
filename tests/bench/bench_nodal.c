/* Solvers of hard contact on one frozen linear problem: TSV.
 *
 *     bench_nodal FILE.abut [THREADS [STEP [SOLVERS]]]
 *
 * The problem is the first linearisation of the step after frame STEP (default: the last), with the contacts that `step --solver
 * nodal` finds for it.  Every solver starts from the velocities without contact and from impulses of 0.  SOLVERS, "full,ica": a
 * subset of these (default: all).
 *
 *     full          the projection of lib/solve/nodal: scalar weights, closed form, sleeping
 *     awake         full without sleeping
 *     accelerated   full with Anderson's mixing
 *     in order      full without colours: contacts one after the other in the order of their vertices
 *     everywhere    full with weights at every node, as published: nothing sleeps
 *     general       scalar weights, but a local solver for full blocks (coulomb_general.h), sleeping
 *     blocks        weights by 3x3 blocks, which need such a solver
 *     position based    the law is evaluated with velocities that the contact itself has changed, and impulses are not kept
 *     ica           iterative constraint anticipation (Otaduy et al. 2009) with that local solver
 *     vertices      full on another problem: each contact between the vertices of largest weight on either side
 *     copies        Gauss-Seidel over the nodes of that problem, copied for each contact (Li et al. 2018; coulomb_copies.h)
 *
 * Columns: residual after 25 iterations, mm, and seconds of projections until then; iterations until the residual is below
 * 0.01 mm (at most MOST), seconds of projections, and of all; ns a visit of a contact, loops over nodes included; violation of
 * Coulomb's law by p and the impulses at the end, m/s; visits of contacts until the residual is below 0.01 mm.  Seconds are
 * processor time for one thread, wall clock for several.  The residual is h (|change of v| + |v - p|), of ica h (|change of v| +
 * residual of the law), of copies h (|change of v| + |copies - their mean|). */
#include "coulomb_copies.h"
#include "nodal_blocks.h"
#include "nodal_ica.h"
#include "nodal_problem.h"

/* ---- ADMM with the projection of the library ---- */

/* From the velocities without contact and impulses of 0. */
static void iterate(bench *b, const abut_coulomb_options *o, double *all, double *projecting)
{
    abut_err err = { 0 };
    abut_nodal *s = &b->s;
    abut_coulomb_state *q = &s->state;
    const size_t n3 = 3 * (size_t)b->model.nv;
    const abut_coulomb_system y = { .nodes = b->model.nv, .h = b->h, .f = s->of.f, .w = s->of.w, .inv_w = s->of.inv_w,
                                    .awake = &s->parts.awake, .solve = timed_solve, .ctx = b };
    memset(s->contacts.rbar, 0, 3 * s->contacts.n * sizeof(double));
    memset(q->lambda, 0, n3 * sizeof(double));
    memcpy(q->v, b->v_free, n3 * sizeof(double));
    abut_coulomb_begin(q);
    b->solving = 0;
    const double clock = now(b);
    fail_on(abut_coulomb_iterate(q, &y, &s->contacts, o, &err), &err);
    *all = now(b) - clock;
    *projecting = *all - b->solving;
}

static outcome scalar(bench *b, double freeze, int accelerated)
{
    const abut_coulomb_state *q = &b->s.state;
    outcome r = { 0 };
    double unused;
    abut_coulomb_options o = { .iterations = 25, .sweeps = SWEEPS, .freeze = freeze, .accelerated = accelerated };
    iterate(b, &o, &unused, &r.seconds_25);
    r.at_25 = q->delta;
    o.iterations = MOST;
    o.tolerance = WANTED;
    b->s.state.projection.visits = 0;
    iterate(b, &o, &r.all, &r.seconds);
    r.visits = q->projection.visits;
    r.iterations = q->iterations;
    r.residual = q->delta;
    r.law = abut_coulomb_quality_at(&b->s.contacts, q->p).residual;
    return r;
}

/* Sweeps alone, from impulses of 0: ns a visit, the best of RUNS; those of contacts that sleep are counted in. */
static void time_sweeps(bench *b, double freeze, double *nominal)
{
    enum { RUNS = 40 };
    abut_err err = { 0 };
    abut_nodal *s = &b->s;
    const size_t n3 = 3 * (size_t)b->model.nv;
    double *p = take(n3, sizeof *p);
    *nominal = INFINITY;
    for (int k = 0; k < RUNS; k++) {
        const abut_project_options o = { .sweeps = 10 * SWEEPS, .asleep = freeze, .moved = s->state.moved.node,
                                         .n_moved = s->state.moved.n };
        memset(s->contacts.rbar, 0, 3 * s->contacts.n * sizeof(double));
        const double clock = now(b);
        fail_on(abut_project(&s->state.projection, &s->contacts, s->of.inv_w, b->v_free, &o, p, &err), &err);
        const double t = now(b) - clock;
        *nominal = fmin(*nominal, 1e9 * t / (10. * SWEEPS * (double)s->contacts.n));
    }
    free(p);
}

/* Solves the contacts without colours: sweeps all of them in their order. */
static outcome in_order(bench *b)
{
    const abut_touching *t = &b->s.contacts;
    abut_touching plain = { 0 };
    abut_err err = { 0 };
    fail_on(abut_touching_begin(&plain, t->nodes, &err), &err);
    memset(plain.taken, 0xff, (size_t)t->nodes * sizeof *plain.taken);
    for (size_t i = 0; i < t->n; i++) {
        abut_touch c = { .key = t->key[i], .n = t->first[i + 1] - t->first[i], .node = t->node + t->first[i],
                         .b = t->b + t->first[i], .mu = t->mu[i], .cohesion = t->cohesion[i], .give = t->give[i] };
        memcpy(c.normal, t->normal + 3 * i, sizeof c.normal);
        memcpy(c.k, t->k + 3 * i, sizeof c.k);
        fail_on(abut_touching_append(&plain, &c, &err), &err);
    }
    fail_on(abut_touching_settle(&plain, b->s.of.inv_w, &err), &err);
    const abut_touching coloured = b->s.contacts;
    b->s.contacts = plain;
    const outcome r = scalar(b, SLEEP, 0);
    abut_touching_clear(&b->s.contacts);
    b->s.contacts = coloured;
    return r;
}

/* Weights at every node from here on. */
static void weigh_everywhere(bench *b)
{
    const abut_objective *p = &b->s.objective;
    for (int32_t i = 0; i < b->model.nv; i++) {
        if (p->row[i] < 0 || b->s.of.w[i] > 0) continue;
        double *block = b->s.matrix.A.val + 9 * b->s.matrix.A.ptr[p->row[i]];
        const double w = abut_nodal_weight(block, b->model.mass[i],
                                           abut_components_mass(&b->s.parts, p->row[i]), b->s.opt.beta, b->s.opt.sigma);
        b->s.of.w[i] = w;
        b->s.of.inv_w[i] = 1 / w;
        for (int k = 0; k < 3; k++) block[4 * k] += w;
    }
    factor(b);
}

/* ---- contacts of vertices ---- */

/* The node that has most of contact c on the side of that sign, -1: none. */
static int32_t heaviest(const abut_touching *t, size_t c, double sign)
{
    int32_t node = -1;
    double most = 0;
    for (int32_t e = t->first[c]; e < t->first[c + 1]; e++)
        if (sign * t->b[e] > most) most = sign * t->b[e], node = t->node[e];
    return node;
}

/* The contacts of the problem, moved to vertices. */
static abut_touching to_vertices(const bench *b)
{
    const abut_touching *t = &b->s.contacts;
    abut_touching out = { 0 };
    abut_err err = { 0 };
    fail_on(abut_touching_begin(&out, t->nodes, &err), &err);
    for (size_t i = 0; i < t->n; i++) {
        const int32_t one = heaviest(t, i, 1), two = heaviest(t, i, -1);
        const int32_t node[2] = { one < 0 ? two : one, two };
        const double coefficient[2] = { one < 0 ? -1 : 1, -1 };
        abut_touch c = { .key = t->key[i], .n = 1 + (one >= 0 && two >= 0), .node = node, .b = coefficient, .mu = t->mu[i],
                         .cohesion = t->cohesion[i], .give = t->give[i] };
        memcpy(c.normal, t->normal + 3 * i, sizeof c.normal);
        memcpy(c.k, t->k + 3 * i, sizeof c.k);
        fail_on(abut_touching_append(&out, &c, &err), &err);
    }
    fail_on(abut_touching_settle(&out, b->s.of.inv_w, &err), &err);
    return out;
}

/* The contacts of b->s.contacts, all of vertices; *off, m: how far the ends of the velocities are from those of the state. */
static outcome by_copies(bench *b, double *off)
{
    const abut_objective *o = &b->s.objective;
    const abut_touching *t = &b->s.contacts;
    const size_t n = t->n, nrow = (size_t)o->nrow;
    double *f = take(3 * nrow, sizeof *f), *v = take(3 * nrow, sizeof *v), *k = take(3 * n, sizeof *k),
           *E = take(9 * n, sizeof *E);
    int32_t *node = take(2 * n, sizeof *node);
    outcome r = { 0 };
    add_weights(b, -1, b->W);
    rows A = full_rows(&b->s.matrix.A);
    add_weights(b, 1, b->W);
    abut_rows_gather(o, b->s.of.f, 1, f);
    abut_rows_gather(o, b->v_free, 1, v);
    for (size_t c = 0; c < n; c++) {
        const int32_t e = t->first[c];
        const double sign = t->b[e];    /* of a lone node on the other side all is turned round */
        double normal[3];
        node[2 * c] = o->row[t->node[e]];
        node[2 * c + 1] = t->first[c + 1] - e > 1 ? o->row[t->node[e + 1]] : -1;
        for (size_t d = 0; d < 3; d++) {
            k[3 * c + d] = sign * t->k[3 * c + d];
            normal[d] = sign * t->normal[3 * c + d];
        }
        general_frame(normal, E + 9 * c);
    }
    copies s = { .n = o->nrow, .contacts = (int32_t)n, .ptr = A.ptr, .col = A.col, .val = A.val, .f = f, .node = node, .E = E,
                 .k = k, .mu = t->mu };
    if (!copies_begin(&s, v)) exit(5);
    const double clock = now(b);
    for (r.iterations = 0; r.iterations < MOST;) {
        const double change = copies_sweep(&s);
        r.residual = b->h * (change + copies_spread(&s));
        if (++r.iterations == 25) r.at_25 = r.residual, r.seconds_25 = now(b) - clock;
        if (r.residual < WANTED || !isfinite(r.residual)) break;
    }
    r.seconds = r.all = now(b) - clock;
    *off = 0;
    abut_rows_gather(o, b->s.state.p, 1, v);
    for (size_t i = 0; i < 3 * nrow; i++) *off = fmax(*off, b->h * fabs(v[i] - s.v[i]));
    copies_clear(&s);
    clear_rows(&A);
    free(f), free(v), free(k), free(E), free(node);
    return r;
}

/* ---- */

static void say(const bench *b, const char *solver, const outcome *r)
{
    printf("%s\t%d\t%zu\t%s\t%.4g\t%.4g\t%s%d\t%.4g\t%.4g\t%.1f\t%.2g\t%zu\n", b->name, b->model.nv, b->s.contacts.n, solver,
           1e3 * r->at_25, r->seconds_25, r->residual < WANTED ? "" : ">", r->iterations, r->seconds, r->all,
           r->seconds_25 > 0 ? 1e9 * r->seconds_25 / (25. * SWEEPS * (double)b->s.contacts.n) : 0, r->law,
           r->visits);
    fflush(stdout);
}

/* 1: the solver is in that list; all are in none. */
static int is_asked(const char *list, const char *solver)
{
    const size_t n = strlen(solver);
    for (const char *at = list; at && (at = strstr(at, solver)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n])) return 1;
    return !list;
}

static outcome full(bench *b) { return scalar(b, SLEEP, 0); }
static outcome awake(bench *b) { return scalar(b, 0, 0); }
static outcome accelerated(bench *b) { return scalar(b, SLEEP, 1); }
static outcome general(bench *b) { return by_blocks(b, GENERAL); }
static outcome with_blocks(bench *b) { return by_blocks(b, BLOCKS); }
static outcome position_based(bench *b) { return by_blocks(b, POSITION_BASED); }

/* Runs the solvers on the original problem. */
static void run_edges(bench *b, const char *list)
{
    static const struct { const char *name; outcome (*run)(bench *); } solver[] = {
        { "full", full }, { "awake", awake }, { "accelerated", accelerated }, { "in order", in_order }, { "general", general },
        { "blocks", with_blocks }, { "position based", position_based }, { "ica", anticipate } };
    for (size_t i = 0; i < sizeof solver / sizeof *solver; i++) {
        if (!is_asked(list, solver[i].name)) continue;
        const outcome r = solver[i].run(b);
        say(b, solver[i].name, &r);
    }
}

/* Runs the solvers on the problem with contacts of vertices. */
static void run_vertices(bench *b, const char *list)
{
    const abut_touching edges = b->s.contacts;
    outcome r;
    double off;
    if (!is_asked(list, "vertices") && !is_asked(list, "copies")) return;
    b->s.contacts = to_vertices(b);
    r = scalar(b, SLEEP, 0);
    if (is_asked(list, "vertices")) say(b, "vertices", &r);
    if (is_asked(list, "copies")) {
        r = by_copies(b, &off);
        say(b, "copies", &r);
        printf("# copies end %.3g mm from vertices\n", 1e3 * off);
    }
    abut_touching_clear(&b->s.contacts);
    b->s.contacts = edges;
}

/* Sweeps alone, and the factor of A + W. */
static void say_parts(bench *b)
{
    double visit, sleeping;
    (void)scalar(b, SLEEP, 0);
    time_sweeps(b, 0, &visit);
    time_sweeps(b, SLEEP * WANTED / b->h, &sleeping);
    const double clock = now(b);
    factor(b);
    printf("# %d threads, %d colours: %.1f ns a visit; %.1f ns where contacts that change by less than %g mm sleep; factor: "
           "%.4f s\n", b->threads, abut_touching_colours(&b->s.contacts), visit, sleeping, 1e3 * SLEEP * WANTED, now(b) - clock);
}

int main(int argc, char **argv)
{
    const int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;
    const char *list = argc > 4 ? argv[4] : NULL;
    bench b = { .threads = threads };
    if (argc < 2 || argc > 5 || threads < 1)
        return fprintf(stderr, "usage: bench_nodal FILE.abut [THREADS [STEP [SOLVERS]]]\n"), 2;
    abut_threads_set(threads);
    open_problem(&b, argv[1], argc > 3 ? strtol(argv[3], NULL, 10) : LAST_FRAME, threads);
    const size_t n = b.s.contacts.n, nv = (size_t)b.model.nv;
    b.b = (blocks){ take(9 * nv, sizeof(double)), take(9 * n, sizeof(double)), take(9 * n, sizeof(double)),
                    take(3 * n, sizeof(double)), take(n, 1) };
    say_parts(&b);
    printf("file\tnodes\tcontacts\tsolver\tresidual_25_mm\tproject_25_s\titerations\tproject_s\tall_s\tns_visit\t"
           "law_m_s\tvisits\n");
    run_edges(&b, list);
    run_vertices(&b, list);
    if (is_asked(list, "everywhere")) {
        weigh_everywhere(&b);
        const outcome r = full(&b);
        say(&b, "everywhere", &r);
    }
    free(b.b.inv_w), free(b.b.S), free(b.b.E), free(b.b.r), free(b.b.asleep), free(b.W), free(b.v_free);
    abut_nodal_clear(&b.s);
    abut_arrays_clear(&b.model_set);
    abut_arrays_clear(&b.frame);
    abut_report_clear(&b.rep);
    return 0;
}
