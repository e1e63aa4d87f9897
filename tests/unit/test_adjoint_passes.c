/* Backward passes of runs whose frames hold the results of their friction passes: beside those of the same run without them,
 * which solve each step again, and beside differences of runs. */
#include "adjoint_scenes.h"

static const abut_adjoint_options PLAIN = { .lags = -1, .threads = 1 }, REFINED = { .lags = -1, .threads = 1, .refined = 1 };

static void drop_passes(recorded *r)
{
    static const char *const name[] = { "pass/count", "pass/x", "pass/kappa", "pass/strain-kappa" };
    for (int n = 1; n <= r->n; n++)
        for (int k = 0; k < 4; k++) abut_arrays_remove(&r->frame[n], name[k]);
}

/* passes of all steps that frames hold, or -1: one of them holds none */
static int passes_held(const recorded *r)
{
    int held = 0;
    for (int n = 1; n <= r->n; n++) {
        const abut_array *count = abut_arrays_find(&r->frame[n], "pass/count");
        if (!count) return -1;
        held += *(const int32_t *)count->data;
    }
    return held;
}

/* Whether two runs have equal arrays, byte for byte, apart from pass/. */
static int frames_are_same(const recorded *a, const recorded *b)
{
    for (int n = 0; n <= a->n; n++)
        for (int i = 0; i < a->frame[n].n; i++) {
            const abut_array *p = &a->frame[n].a[i], *q = abut_arrays_find(&b->frame[n], p->name);
            if (!strncmp(p->name, "pass/", 5)) continue;
            if (!q || abut_array_bytes(p) != abut_array_bytes(q) || memcmp(p->data, q->data, (size_t)abut_array_bytes(p)))
                return printf("# frame %d: %s differs\n", n, p->name), 0;
        }
    return 1;
}

/* by all changes, relative; where */
static double farthest(const recorded *a, const recorded *b, const change *by, int n, const char **what)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        const double d = by[i].bar(a), e = by[i].bar(b), off = fabs(d - e) / (fabs(d) + fabs(e) + 1e-300);
        if (off > most) most = off, *what = by[i].what;
    }
    return most;
}

static void derivatives_are_same(const recorded *kept, recorded *solved, const change *by, int n, const abut_adjoint_options *o,
                                 double tol, const char *of)
{
    const char *what = "";
    const int back = backwards(solved, o);
    CHECK(back);
    if (!back) return;
    const double off = farthest(kept, solved, by, n, &what);
    if (getenv("ADJOINT_SHOW")) printf("# %s: %.2g off those of steps that are solved again, by %s\n", of, off, what);
    if (off <= tol) return;
    check_bad++;
    printf("# %s, by %s: %.2g off derivatives of steps that are solved again, expected %.0e\n", of, what, off, tol);
}

/* r is a run to be; changes from number `first` on are compared with differences */
static void kept_agree(recorded *r, const change *by, int n, int first, int least, const char *of)
{
    recorded same;
    recorded_like(&same, r);
    CHECK(record(&same, 0));
    r->keeps = 1;
    CHECK(record(r, 1));
    CHECK(frames_are_same(r, &same) && frames_are_same(&same, r));
    CHECK(passes_held(r) >= least && passes_held(&same) == -1);
    const int back = backwards(r, &PLAIN);
    CHECK(back && r->frozen > 20);
    if (back) derivatives_are_same(r, &same, by, n, &PLAIN, 1e-9, of);
    if (back) differences_agree(r, by + first, n - first, 1e-6, of);
    forget(&same);
    forget(r);
}

static void blocks_keep(const char *scheme, const char *lags, int n, int least, int first)
{
    char of[80];
    recorded r;
    two(&r, scheme, lags, "", "stable-neo-hookean", "", n);
    snprintf(of, sizeof of, "blocks that keep passes: %s, lags %s", scheme, lags);
    kept_agree(&r, ALL_OF_TWO, NALL, first, least, of);
}
TEST(two_passes) { blocks_keep("implicit-euler", "2", 24, 40, 0); }
TEST(three_passes_of_bdf2) { blocks_keep("bdf2", "3", 24, 50, 0); }
TEST(two_passes_of_midpoint) { blocks_keep("midpoint", "2", 9, 12, NALL - 2); }
TEST(two_passes_of_sheets_with_limits)
{
    recorded r;
    thin(&r, "bdf2", "2", "", ", stretch-limit: 1.05", 12);
    kept_agree(&r, ALL_OF_THIN, NTHIN, NTHIN - 2, 16, "sheet, rod that keep passes: bdf2, lags 2");
}

/* Kept passes serve a run above rounding, too: the refined run reaches balanced forces with and without them. */
TEST(refined_runs_of_kept_passes)
{
    recorded r, same, kept, solved;
    two(&r, "implicit-euler", "2", "", "stable-neo-hookean", "", 12);
    *numbers(&r.model_set, "solve/tolerance") = 1e-6;
    r.keeps = 1;
    CHECK(record(&r, 0));
    recorded_like(&same, &r);
    CHECK(record(&same, 0));
    drop_passes(&same);
    CHECK(refine(&r, &kept) && refine(&same, &solved));
    CHECK(passes_held(&kept) == passes_held(&r));
    const int back = backwards(&kept, &REFINED);
    CHECK(back);
    if (back) derivatives_are_same(&kept, &solved, ALL_OF_TWO, NALL, &REFINED, 1e-9, "refined blocks that keep passes");
    forget(&r);
    forget(&same);
    forget(&kept);
    forget(&solved);
}

/* whether one step backwards from frame n fails with those words */
static void step_refused(recorded *r, int n, const abut_adjoint_options *o, const char *words)
{
    abut_err err = { 0 };
    abut_adjoint_report rep;
    CHECK(!abut_adjoint_open(&r->a, &r->m, o, &err) && !abut_state_bar_init(&r->bar, &r->m, &err));
    loss_bars(r, n, &r->bar);
    const abut_status rc = abut_adjoint_step(r->a, &r->frame[n - 1], (abut_instant){ n - 1, (n - 1) * r->m.h[0] }, &r->frame[n],
                                             &r->bar, &rep, &err);
    CHECK(rc == ABUT_E_FORMAT && strstr(err.msg, words));
    if (!strstr(err.msg, words)) printf("# expected '%s' in: %s\n", words, err.msg);
    abut_adjoint_free(&r->a);
    abut_state_bar_clear(&r->bar);
}

/* The passes of the last frame become `count`: the last results are left out, or the last one comes again. */
static void make_passes(recorded *r, int count)
{
    abut_err err = { 0 };
    abut_arrays *f = &r->frame[r->n];
    const size_t n3 = 3 * (size_t)r->m.nv;
    const int had = *(int32_t *)abut_arrays_find(f, "pass/count")->data - 1, n = count - 1;
    double *x = calloc((size_t)had * n3, sizeof *x), kappa[8];
    memcpy(x, numbers(f, "pass/x"), (size_t)had * n3 * sizeof *x);
    memcpy(kappa, numbers(f, "pass/kappa"), (size_t)had * sizeof *kappa);
    *(int32_t *)abut_arrays_find(f, "pass/count")->data = count;
    abut_arrays_remove(f, "pass/x");
    abut_arrays_remove(f, "pass/kappa");
    double *to = n ? abut_frame_put(f, "pass/x", (int64_t)n * r->m.nv, &err) : NULL;
    for (int i = 0; i < n; i++) memcpy(to + (size_t)i * n3, x + (size_t)(i < had ? i : had - 1) * n3, n3 * sizeof *x);
    to = n ? abut_frame_put(f, "pass/kappa", n, &err) : NULL;
    for (int i = 0; i < n; i++) to[i] = kappa[i < had ? i : had - 1];
    free(x);
}

TEST(passes_that_are_none_of_the_step_are_refused)
{
    const abut_adjoint_options one = { .lags = 1, .threads = 1 }, two_of = { .lags = 2, .threads = 1 },
                               converged = { .lags = 0, .threads = 1 };
    recorded r;
    two(&r, "implicit-euler", "3", "", "stable-neo-hookean", "", 10);
    r.keeps = 1;
    CHECK(record(&r, 0));
    CHECK(*(int32_t *)abut_arrays_find(&r.frame[r.n], "pass/count")->data == 3);
    step_refused(&r, r.n, &two_of, "pass/count is 3, expected at most 2 friction passes");
    step_refused(&r, r.n, &one, "the run had several friction passes, expected 1");
    step_refused(&r, r.n, &converged, "expected that they converge");
    make_passes(&r, 4);
    step_refused(&r, r.n, &PLAIN, "pass/count is 4, expected at most 3 friction passes");
    make_passes(&r, 2);     /* the last pass began from the second, not from the first */
    step_refused(&r, r.n, &PLAIN, "from where the forces of this step balance");
    make_passes(&r, 1);
    step_refused(&r, r.n, &PLAIN, "from where the forces of this step balance");
    *(int32_t *)abut_arrays_find(&r.frame[r.n], "pass/count")->data = 2;
    step_refused(&r, r.n, &PLAIN, "array 'pass/x' has 0 rows");
    forget(&r);
}
