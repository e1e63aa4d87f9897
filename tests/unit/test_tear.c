/* Tearing, stage by stage: elements found by a known stretch, and the remains of a strip cut by hand. */
#include "check.h"
#include "slender.h"

#include "tear/tear.h"

typedef struct torn_world {
    world w;
    abut_arrays model, frame;   /* what is left */
    abut_torn torn;
    uint8_t *gone;              /* [tets, shells, springs, rods], for the caller to mark */
} torn_world;

/* A strip of n squares of two shells each, nodes 2 i, 2 i + 1 at x = i / 10, sagging by `sag` in a parabola; where from >= 0,
 * a rod of one segment joins two of its nodes, which need not be neighbours. */
static void strip_open(torn_world *t, int n, double sag, int32_t from, int32_t to)
{
    slender *s = slender_new();
    for (int i = 0; i <= 2 * n + 1; i++) {
        const double at = 2.0 * (i / 2) / n - 1;
        (void)slender_node(s, 0.1 * (i / 2), sag * at * at, 0.1 * (i % 2));
    }
    for (int i = 0; i < 2 * n; i++) slender_shell(s, i, i % 2 ? i + 1 : i + 2, i % 2 ? i + 2 : i + 1);
    slender_hinges(s, 0);
    if (from >= 0) {
        slender_rod(s, 0, 1);   /* moved to where it belongs */
        s->rod[0] = from, s->rod[1] = to;
    }
    *t = (torn_world){ 0 };
    slender_open(&t->w, s);
    t->gone = calloc((size_t)t->w.model.nsh + (size_t)t->w.model.nrd + 1, 1);
}

static void strip_tear(torn_world *t)
{
    const abut_status rc = abut_tear_apply(&t->w.model_set, &t->w.frame, t->gone, &t->model, &t->frame, &t->torn, &t->w.err);
    if (rc) printf("# %s\n", t->w.err.msg);
    CHECK(!rc);
}

static void strip_close(torn_world *t)
{
    abut_arrays_clear(&t->model);
    abut_arrays_clear(&t->frame);
    free(t->gone);
    world_close(&t->w);
}

static const abut_array *left(const torn_world *t, const char *name)
{
    return abut_arrays_find(&t->model, name);
}

/* whether the contact surface that is left has this edge */
static int has_contact_edge(const torn_world *t, int32_t a, int32_t b)
{
    const abut_array *edge = left(t, "contact/edge");
    const int32_t *node = left(t, "contact/node")->data, *v = edge->data;
    for (int64_t e = 0; e < edge->shape[0]; e++)
        if ((node[v[2 * e]] == a && node[v[2 * e + 1]] == b) || (node[v[2 * e]] == b && node[v[2 * e + 1]] == a)) return 1;
    return 0;
}

TEST(stretch_is_found_element_by_element)
{
    torn_world t;
    strip_open(&t, 3, 0, 0, 7);
    const int32_t nsh = t.w.model.nsh;
    double *x = get(&t.w, "node/x");
    for (int i = 0; i < 8; i++) x[3 * i] += 0.05 * (i / 2 > 1) * (i / 2 - 1);   /* the second and third square: 1.5 */
    CHECK(!abut_tear_find(&t.w.model, x, 1.45, t.gone, &t.torn, &t.w.err));
    CHECK_NEAR(t.torn.worst, 1.5, 1e-12);
    CHECK(t.torn.shells == 4 && !t.torn.rods && !t.torn.tets && !t.torn.springs);
    for (int32_t s = 0; s < nsh; s++) CHECK(t.gone[s] == (s >= 2));
    const double rod = sqrt(0.4 * 0.4 + 0.01) / sqrt(0.3 * 0.3 + 0.01);
    CHECK(!abut_tear_find(&t.w.model, x, rod * (1 - 1e-12), t.gone, &t.torn, &t.w.err));
    CHECK(t.torn.rods == 1 && t.gone[nsh]);
    CHECK(!abut_tear_find(&t.w.model, x, rod * (1 + 1e-12), t.gone, &t.torn, &t.w.err));
    CHECK(!t.torn.rods && !t.gone[nsh]);
    CHECK(!abut_tear_find(&t.w.model, x, 1.5 * (1 + 1e-12), t.gone, &t.torn, &t.w.err));
    CHECK(!t.torn.shells);
    strip_close(&t);
}

TEST(a_node_between_two_fans_becomes_two_with_its_mass)
{
    torn_world t;
    strip_open(&t, 4, 0, -1, -1);
    const int32_t nv = t.w.model.nv;
    /* node 5 is in shells 3, 4, 5: without 4 in two fans */
    t.gone[4] = 1;
    double *impulse = abut_frame_put(&t.w.frame, "node/contact-impulse", t.w.model.nv, &t.w.err);
    double had[3] = { 0 }, has[3] = { 0 };
    for (int32_t i = 0; i < 3 * t.w.model.nv; i++) had[i % 3] += impulse[i] = 1 + i % 7;
    impulse = NULL;
    strip_tear(&t);
    /* and the impulse of hard contact, in the same parts */
    impulse = abut_arrays_find(&t.frame, "node/contact-impulse")->data;
    for (int32_t i = 0; i < 3 * (t.w.model.nv + 1); i++) has[i % 3] += impulse[i];
    for (int d = 0; d < 3; d++) CHECK_NEAR(has[d], had[d], 1e-12);
    CHECK(t.torn.copies == 1);
    CHECK(left(&t, "node/X")->shape[0] == nv + 1 && left(&t, "shell/node")->shape[0] == 7);
    const double *mass = left(&t, "node/mass")->data;
    double sum = 0, before = 0;
    for (int32_t i = 0; i < nv; i++) before += t.w.model.mass[i];
    for (int32_t i = 0; i <= nv; i++) sum += mass[i];
    CHECK_NEAR(sum, before, 1e-15);
    CHECK_NEAR(mass[5], 0.5 * t.w.model.mass[5], 1e-15);     /* triangles of the same area */
    CHECK_NEAR(mass[nv], 0.5 * t.w.model.mass[5], 1e-15);
    const int32_t *v = left(&t, "shell/node")->data;
    int at_old = 0, at_new = 0;
    for (int k = 0; k < 21; k++) at_old += v[k] == 5, at_new += v[k] == nv;
    CHECK(at_old == 1 && at_new == 1);
    const double *x = abut_arrays_find(&t.frame, "node/x")->data;
    double apart = 0;
    for (int d = 0; d < 3; d++) apart += fabs(x[15 + d] - x[3 * nv + d]);
    CHECK(apart > 0);
    strip_close(&t);
}

/* A rod along no side of any triangle, though both of its ends are corners; along a side; and along one of a shell that goes. */
TEST(contact_edges_of_rods_go_with_their_rods_alone)
{
    const struct { int32_t from, to, shell; } at[] = { { 0, 9, -1 }, { 0, 1, -1 }, { 8, 9, 7 }, { 8, 9, -1 } };
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        for (int torn = 0; torn < 2; torn++) {
            torn_world t;
            strip_open(&t, 4, 0.05, at[k].from, at[k].to);
            const int side = at[k].to - at[k].from == 1 && at[k].shell < 0;    /* of a triangle that stays */
            if (at[k].shell >= 0) t.gone[at[k].shell] = 1;
            t.gone[t.w.model.nsh] = (uint8_t)torn;
            strip_tear(&t);
            CHECK(has_contact_edge(&t, at[k].from, at[k].to) == (side || !torn));
            const abut_array *rod = left(&t, "rod/node");
            CHECK((rod ? rod->shape[0] : 0) == !torn);
            CHECK(has_contact_edge(&t, 0, 2) && !has_contact_edge(&t, 0, 3));
            strip_close(&t);
        }
    }
}

/* A node that an attachment holds is not split when elements around it tear. */
TEST(a_node_that_is_tied_is_not_split)
{
    torn_world t;
    strip_open(&t, 4, 0, -1, -1);
    int32_t *node = abut_model_put(&t.w.model_set, "attachment/node", 1, &t.w.err);
    node[0] = 0, node[1] = 5, node[2] = node[3] = node[4] = -1;
    *(double *)abut_model_put(&t.w.model_set, "attachment/weight", 1, &t.w.err) = 1;
    CHECK(abut_model_put(&t.w.model_set, "attachment/offset", 1, &t.w.err) != NULL);
    *(double *)abut_model_put(&t.w.model_set, "attachment/stiffness", 1, &t.w.err) = 1;
    t.gone[4] = 1;
    strip_tear(&t);
    CHECK(t.torn.copies == 0 && left(&t, "node/X")->shape[0] == t.w.model.nv && left(&t, "shell/node")->shape[0] == 7);
    strip_close(&t);
}

static void refused(torn_world *t, abut_status status, const char *part)
{
    CHECK(abut_tear_apply(&t->w.model_set, &t->w.frame, t->gone, &t->model, &t->frame, &t->torn, &t->w.err) == status);
    if (!strstr(t->w.err.msg, part)) printf("# %s\n", t->w.err.msg);
    CHECK(strstr(t->w.err.msg, part) && !t->model.n && !t->frame.n);
    strip_close(t);
}

TEST(what_cannot_be_torn_is_refused)
{
    torn_world t;
    static const char *const array[3] = { "node/heat", "shell/colour", "rod/colour" };
    static const char *const why[3] = { "array 'node/heat' has 3 rows, expected 10 to tear them",
                                        "array 'shell/colour' has 3 rows, expected 8 to tear them",
                                        "array 'rod/colour' has 3 rows, expected 1 to tear them" };
    for (int k = 0; k < 3; k++) {
        strip_open(&t, 4, 0, 0, 9);
        CHECK(abut_arrays_put_rows(&t.w.model_set, array[k], ABUT_F64, 3, 0, "", &t.w.err) != NULL);
        refused(&t, ABUT_E_FORMAT, why[k]);
    }
    strip_open(&t, 4, 0, -1, -1);       /* the last edge across the first triangle: no share of the way undoes that */
    double *x = get(&t.w, "node/x");
    memcpy(x + 24, (double[6]){ 0.03, -0.5, 0.03, 0.03, 0.5, 0.03 }, 6 * sizeof *x);
    t.gone[4] = 1;
    refused(&t, ABUT_E_NUMERIC, "cannot be parted without touching or inversion");
}
