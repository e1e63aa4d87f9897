#include "model/model.h"

#include "base/words.h"
#include "model/check.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_OPT, RULE_NEED, RULE_MAY, RULE_SIDE };

/* A line of a table, and a count; rows and width are kept in their spelling. */
typedef struct field {
    const char *name;
    abut_dtype type;
    const char *rows, *width, *unit;
    int rule;           /* RULE_* */
    size_t member;      /* offset of the pointer in the view */
} field;

typedef struct count {
    const char *name;
    size_t member;      /* offset of the int32_t in the view */
} count;

/* Which table a view is made from. */
typedef struct table {
    const field *fields;
    const count *counts;
    int nfields, ncounts;
} table;

#define FIELD(view, m, name, dtype, rows, width, unit, rule) \
    { name, ABUT_##dtype, #rows, #width, unit, RULE_##rule, offsetof(view, m) },
#define MODEL_FIELD(m, name, ctype, dtype, rows, width, unit, rule) \
    FIELD(abut_model, m, name, dtype, rows, width, unit, rule)
#define FRAME_FIELD(m, name, ctype, dtype, rows, width, unit, rule) \
    FIELD(abut_frame, m, name, dtype, rows, width, unit, rule)
#define MODEL_COUNT(n) { #n, offsetof(abut_model, n) },
#define FRAME_COUNT(n) { #n, offsetof(abut_frame, n) },

static const field model_fields[] = { ABUT_MODEL_FIELDS(MODEL_FIELD) };
static const field frame_fields[] = { ABUT_FRAME_FIELDS(FRAME_FIELD) };
static const count model_counts[] = { ABUT_MODEL_COUNTS(MODEL_COUNT) };
static const count frame_counts[] = { ABUT_FRAME_COUNTS(FRAME_COUNT) };

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))
static const table model_table = { model_fields, model_counts, LENGTH(model_fields), LENGTH(model_counts) };
static const table frame_table = { frame_fields, frame_counts, LENGTH(frame_fields), LENGTH(frame_counts) };

enum { COUNTS_MAX = 32, UNSET = -1 };
_Static_assert(LENGTH(model_counts) <= COUNTS_MAX && LENGTH(frame_counts) <= COUNTS_MAX, "raise COUNTS_MAX");

/* The counts met so far and the array that fixed each. */
typedef struct counting {
    int64_t n[COUNTS_MAX];
    const char *by[COUNTS_MAX];
} counting;

/* Row of a count in its table, or -1 when the entry is a number ("3", "n3"). */
static int count_row(const table *t, const char *entry)
{
    for (int i = 0; i < t->ncounts; i++)
        if (!strcmp(t->counts[i].name, entry)) return i;
    return -1;
}

static int64_t entry_number(const char *entry)
{
    return strtol(entry + (*entry == 'n'), NULL, 10);
}

static int field_rank(const field *f)
{
    return !strcmp(f->rows, "1") ? 0 : !strcmp(f->width, "0") ? 1 : 2;
}

static void print_shape(char *buf, size_t size, int rank, const int64_t *shape)
{
    size_t used = (size_t)snprintf(buf, size, "[");
    for (int d = 0; d < rank && used < size; d++)
        used += (size_t)snprintf(buf + used, size - used, "%s%lld", d ? ", " : "", (long long)shape[d]);
    if (used < size) snprintf(buf + used, size - used, "]");
}

static abut_status wrong_form(const field *f, const abut_array *a, abut_err *err)
{
    char found[120], expected[40] = "[]";
    print_shape(found, sizeof found, a->rank, a->shape);
    if (field_rank(f) == 1) snprintf(expected, sizeof expected, "[%s]", f->rows);
    if (field_rank(f) == 2) snprintf(expected, sizeof expected, "[%s, %s]", f->rows, f->width);
    return abut_fail(err, ABUT_E_FORMAT, "array '%s' is %s %s in '%s', expected %s %s in '%s'", f->name,
                     abut_dtype_name(a->type), found, a->unit, abut_dtype_name(f->type), expected, f->unit);
}

/* Checks a dimension against its entry: a number, or a count that the first array with it fixes. */
static abut_status check_extent(const table *t, const field *f, const abut_array *a, int d, counting *c, abut_err *err)
{
    const char *entry = d ? f->width : f->rows;
    const int k = count_row(t, entry);
    if (k < 0) return a->shape[d] == entry_number(entry) ? ABUT_OK : wrong_form(f, a, err);
    /* four numbers of each have a count that an int32_t holds: coordinates, corners */
    if (a->shape[d] > INT32_MAX / 4)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' has %lld row%s, at most %d are possible", f->name,
                         (long long)a->shape[d], abut_s(a->shape[d]), INT32_MAX / 4);
    if (c->n[k] == UNSET) {
        c->n[k] = a->shape[d];
        c->by[k] = f->name;
    }
    if (a->shape[d] != c->n[k])
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' has %lld %s, expected %lld (%s) as in '%s'", f->name,
                         (long long)a->shape[d], d ? "columns" : "rows", (long long)c->n[k], entry, c->by[k]);
    return ABUT_OK;
}

static abut_status check_finite(const field *f, const abut_array *a, abut_err *err)
{
    const double *v = a->data;
    const int64_t n = abut_array_count(a), width = a->rank == 2 && a->shape[1] ? a->shape[1] : 1;
    const int inf_ok = !strcmp(f->name, "motion/window");
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(v[i]) && !(inf_ok && isinf(v[i])))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %lld: %g, expected a finite number", f->name,
                             (long long)(i / width), v[i]);
    return ABUT_OK;
}

static abut_status check_field(const table *t, const field *f, const abut_array *a, counting *c, abut_err *err)
{
    if (a->type != f->type || strcmp(a->unit, f->unit) || a->rank != field_rank(f)) return wrong_form(f, a, err);
    for (int d = 0; d < a->rank; d++) {
        const abut_status rc = check_extent(t, f, a, d, c, err);
        if (rc) return rc;
    }
    return f->type == ABUT_F64 ? check_finite(f, a, err) : ABUT_OK;
}

static const struct {
    const char *then, *now;
} aliases[] = {
#define ALIAS(then, now) { then, now },
    ABUT_ARRAY_ALIASES(ALIAS)
#undef ALIAS
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

/* Returns the present name of an array whose name may be a former one. */
static const char *present_name(const char *name)
{
    for (int i = 0; i < ALIASES; i++)
        if (!strcmp(aliases[i].then, name)) return aliases[i].now;
    return name;
}

const abut_array *abut_array_named(const abut_arrays *set, const char *name)
{
    const abut_array *a = abut_arrays_find(set, name);
    for (int i = 0; i < ALIASES && !a; i++)
        if (!strcmp(aliases[i].now, name)) a = abut_arrays_find(set, aliases[i].then);
    return a;
}

/* An array that changes the meaning of the others, from a program that knows more than this one. */
static abut_status check_understood(const table *t, const abut_arrays *set, abut_err *err)
{
    for (int i = 0; i < set->n; i++) {
        int known = !(set->a[i].flags & ABUT_A_REQUIRED);
        for (int k = 0; k < t->nfields && !known; k++) known = !strcmp(t->fields[k].name, present_name(set->a[i].name));
        if (!known)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' must be understood, and this program does not know it",
                             set->a[i].name);
    }
    return ABUT_OK;
}

/* Fills the pointers and counts of a view, whose counts that are known beforehand stand in c. */
static abut_status fill(const table *t, const abut_arrays *set, void *view, counting *c, abut_err *err)
{
    for (int i = 0; i < t->nfields; i++) {
        const field *f = &t->fields[i];
        const abut_array *a = abut_array_named(set, f->name);
        if (!a && f->rule == RULE_NEED) return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing", f->name);
        if (!a) continue;
        const abut_status rc = check_field(t, f, a, c, err);
        if (rc) return rc;
        memcpy((char *)view + f->member, &a->data, sizeof a->data);
    }
    for (int i = 0; i < t->nfields; i++) {
        const field *f = &t->fields[i];
        const int k = count_row(t, f->rows);
        if (f->rule != RULE_MAY && f->rule != RULE_SIDE && k >= 0 && c->n[k] > 0 && !abut_array_named(set, f->name))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: '%s' has %lld row%s", f->name, c->by[k],
                             (long long)c->n[k], abut_s(c->n[k]));
    }
    for (int k = 0; k < t->ncounts; k++) {
        const int32_t n = c->n[k] == UNSET ? 0 : (int32_t)c->n[k];
        memcpy((char *)view + t->counts[k].member, &n, sizeof n);
    }
    return ABUT_OK;
}

static counting no_counts(void)
{
    counting c = { 0 };
    for (int k = 0; k < COUNTS_MAX; k++) c.n[k] = UNSET;
    return c;
}

static abut_text text_of(const abut_arrays *set, const char *name)
{
    const abut_array *a = abut_arrays_find(set, name);
    return a && a->type == ABUT_TEXT ? (abut_text){ a->data, abut_array_count(a) } : (abut_text){ 0 };
}

abut_status abut_model_view(const abut_arrays *set, abut_model *view, abut_err *err)
{
    abut_model m = { 0 };
    counting c = no_counts();
    abut_status rc = check_understood(&model_table, set, err);
    if (!rc) rc = fill(&model_table, set, &m, &c, err);
    if (!rc) rc = abut_model_check(&m, err);
    if (rc) {
        abut_wrap(err, "MODEL");
        return rc;
    }
    m.object_name = text_of(set, "object/name");
    m.half_space_name = text_of(set, "half-space/name");
    *view = m;
    return ABUT_OK;
}

/* ---- the numbers of a frame, whose arrays have their types and shapes ---- */

/* Positions and velocities of former states come together, and with all later ones. */
static abut_status check_past(const abut_frame *f, abut_err *err)
{
    const double *const x[] = { f->x1, f->x2, f->x3, f->x4, f->x5 }, *const v[] = { f->v1, f->v2, f->v3, f->v4, f->v5 };
    for (int k = 0; k < ABUT_PAST; k++) {
        char lacks[24], has[24];
        const int later = k > 0 && x[k] && !x[k - 1];
        if (!x[k] == !v[k] && !later) {
            snprintf(has, sizeof has, "node/x%d", k + 1);
            abut_status rc = abut_check_near(has, x[k], f->nv, err);
            has[5] = 'v';
            if (!rc) rc = abut_check_near(has, v[k], f->nv, err);
            if (rc) return rc;
            continue;
        }
        snprintf(lacks, sizeof lacks, "node/%c%d", later || v[k] ? 'x' : 'v', later ? k : k + 1);
        snprintf(has, sizeof has, "node/%c%d", x[k] ? 'x' : 'v', k + 1);
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: the frame has '%s'", lacks, has);
    }
    return ABUT_OK;
}

static abut_status check_vectors(const abut_frame *f, abut_err *err)
{
    abut_status rc;
    if ((rc = abut_check_near("node/x", f->x, f->nv, err)) || (rc = abut_check_near("node/v", f->v, f->nv, err)) ||
        (rc = abut_check_near("node/a", f->a, f->nv, err)) || (rc = check_past(f, err)) ||
        (rc = abut_check_near("step/waypoints", f->waypoints, f->nw, err)) ||
        (rc = abut_check_near("node/contact-impulse", f->impulse, f->nv, err)) ||
        (rc = abut_check_near("step/x0", f->x0, f->nv, err)))
        return rc;
    return abut_check_near("step/multiplier", f->multiplier, f->nv, err);
}

/* Checks counts and stiffnesses; the penalty of a Lagrangian grows from 1e6 to about 1e8. */
static abut_status check_numbers(const abut_frame *f, abut_err *err)
{
    abut_status rc;
    enum { MOST = 1 << 30 };
    if ((f->pass && (rc = abut_check_indices("step/pass", f->pass, 1, 1, 0, MOST, err))) ||
        (f->iterations && (rc = abut_check_indices("step/iterations", f->iterations, 1, 1, 0, MOST, err))) ||
        (f->sticking && (rc = abut_check_indices("contact/sticking", f->sticking, 1, 1, 0, INT32_MAX, err))) ||
        (f->sliding && (rc = abut_check_indices("contact/sliding", f->sliding, 1, 1, 0, INT32_MAX, err))) ||
        (f->penalty && (rc = abut_check_domain("step/penalty", f->penalty, 1, 0, 0, 1e12, err))) ||
        (f->strain_kappa && (rc = abut_check_domain("strain/kappa", f->strain_kappa, 1, 0, 0, INFINITY, err))) ||
        (f->strain_kappa0 && (rc = abut_check_domain("step/strain-kappa", f->strain_kappa0, 1, 0, 0, INFINITY, err))) ||
        (f->kappa && (rc = abut_check_domain("contact/kappa", f->kappa, 1, 0, 1, INFINITY, err))))
        return rc;
    return ABUT_OK;
}

/* Frozen contacts name nodes, or collision vertices where those are no nodes. */
static abut_status check_lag(const abut_frame *f, const abut_model *m, abut_err *err)
{
    const int mapped = m->map_first != NULL;
    const int32_t *slot = mapped ? f->lag_vertex : f->lag_node;
    const char *name = mapped ? "lag/vertex" : "lag/node", *other = mapped ? "lag/node" : "lag/vertex";
    if (mapped ? f->lag_node != NULL : f->lag_vertex != NULL)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s': expected '%s', as collision vertices are %s of the MODEL", other, name,
                         mapped ? "sums of nodes" : "nodes");
    if (f->nl && !slot)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: 'lag/mu' has %d row%s", name, f->nl, abut_s(f->nl));
    const abut_status rc = abut_check_indices(name, slot, f->nl, 4, -1, mapped ? m->nc : m->nv, err);
    if (rc) return rc;
    for (size_t i = 0; i < (size_t)f->nl; i++)
        if (slot[4 * i] < 0)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: starts with %d, expected a %s", name, i, slot[4 * i],
                             mapped ? "vertex" : "node");
    for (size_t i = 0; i < 4 * (size_t)f->nl; i++)
        if (i % 4 && slot[i] >= 0 && slot[i - 1] < 0)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %d after -1, expected -1 in the rest of the row", name,
                             i / 4, slot[i]);
    return ABUT_OK;
}

/* Results of friction passes: of all but the last. */
static abut_status check_passes(const abut_frame *f, abut_err *err)
{
    enum { MOST = 1 << 20 };
    if (!f->passes) {
        if (!f->pass_x && !f->pass_kappa && !f->pass_strain_kappa) return ABUT_OK;
        return abut_fail(err, ABUT_E_FORMAT, "array 'pass/count' is missing: the frame has results of friction passes (pass/)");
    }
    abut_status rc = abut_check_indices("pass/count", f->passes, 1, 1, 1, MOST, err);
    if (rc) return rc;
    const int64_t n = f->passes[0] - 1;
    if (f->nix != n * f->nv)
        return abut_fail(err, ABUT_E_FORMAT, "array 'pass/x' has %d row%s, expected %lld: %d %s but the last, %d node%s", f->nix,
                         abut_s(f->nix), (long long)n * f->nv, f->passes[0], abut_plural(f->passes[0], "pass", "passes"), f->nv,
                         abut_s(f->nv));
    if (n > 0 && !f->pass_kappa)
        return abut_fail(err, ABUT_E_FORMAT, "array 'pass/kappa' is missing: 'pass/count' is %d", f->passes[0]);
    if (f->nip != n)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' has %d row%s, expected %lld: %d %s but the last",
                         f->pass_kappa ? "pass/kappa" : "pass/strain-kappa", f->nip, abut_s(f->nip), (long long)n, f->passes[0],
                         abut_plural(f->passes[0], "pass", "passes"));
    rc = abut_check_near("pass/x", f->pass_x, f->nix, err);
    if (!rc && f->pass_kappa) rc = abut_check_domain("pass/kappa", f->pass_kappa, (size_t)n, 0, 1, INFINITY, err);
    if (!rc && f->pass_strain_kappa)
        rc = abut_check_domain("pass/strain-kappa", f->pass_strain_kappa, (size_t)n, 0, 0, INFINITY, err);
    return rc;
}

/* A table of hard contacts: all of it, or nothing. */
static abut_status check_touch(const abut_frame *f, const abut_model *m, abut_err *err)
{
    const size_t n = (size_t)f->ntc;
    const void *const all[] = { f->touch_first, f->touch_node, f->touch_weight, f->touch_point, f->touch_normal,
                                f->touch_impulse, f->touch_mu, f->touch_state };
    int there = 0;
    for (int i = 0; i < 8; i++) there += all[i] != NULL;
    if (there == 0) return ABUT_OK;
    if (there < 8)
        return abut_fail(err, ABUT_E_FORMAT, "arrays 'touch/': %d of first, node, weight, point, normal, impulse, mu, state are "
                         "there, expected all or none", there);
    abut_status rc = ABUT_OK;
    for (size_t c = 0; c < n && !rc; c++) {
        const int32_t lo = f->touch_first[2 * c], hi = f->touch_first[2 * c + 1];
        if (!(0 <= lo && lo <= hi && hi <= f->ntn))
            rc = abut_fail(err, ABUT_E_FORMAT,
                           "array 'touch/first' row %zu: %d, %d, expected a range of the %d row%s of touch/node", c, lo, hi,
                           f->ntn, abut_s(f->ntn));
    }
    if (!rc) rc = abut_check_indices("touch/node", f->touch_node, f->ntn, 1, 0, m->nv, err);
    if (!rc) rc = abut_check_units("touch/normal", f->touch_normal, n, 1e-6, err);
    if (!rc) rc = abut_check_domain("touch/mu", f->touch_mu, n, 0, 1, INFINITY, err);
    return rc ? rc : abut_check_indices("touch/state", f->touch_state, f->ntc, 1, 0, 3, err);
}

/* Points in tets of order 2 and more. */
static abut_status check_points(const abut_frame *f, const abut_model *m, abut_err *err)
{
    if (!f->point_tet != !f->point_at)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: the frame has '%s'",
                         f->point_tet ? "step/jacobian-point" : "step/jacobian-tet",
                         f->point_tet ? "step/jacobian-tet" : "step/jacobian-point");
    const abut_status rc = abut_check_indices("step/jacobian-tet", f->point_tet, f->njp, 1, 0, m->nt, err);
    if (rc) return rc;
    for (size_t k = 0; k < (size_t)f->njp; k++) {
        const double *L = f->point_at + 4 * k, least = fmin(fmin(L[0], L[1]), fmin(L[2], L[3])), sum = L[0] + L[1] + L[2] + L[3];
        if (!m->tet_order || m->tet_order[f->point_tet[k]] < 2)
            return abut_fail(err, ABUT_E_FORMAT, "array 'step/jacobian-tet' row %zu: tet %d, expected one of order 2 or more", k,
                             f->point_tet[k]);
        if (!(least >= 0 && fabs(sum - 1) <= 1e-12))
            return abut_fail(err, ABUT_E_FORMAT, "array 'step/jacobian-point' row %zu: least %g, sum %.17g, expected 0 .., 1",
                             k, least, sum);
    }
    return ABUT_OK;
}

static abut_status check_frame(const abut_frame *f, const abut_model *m, abut_err *err)
{
    assert(f);
    abut_status rc;
    const size_t nl = (size_t)f->nl;
    if ((rc = check_vectors(f, err)) || (rc = check_numbers(f, err)) ||
        (rc = check_lag(f, m, err)) || (rc = check_passes(f, err)) || (rc = check_touch(f, m, err)) ||
        (rc = check_points(f, m, err)) ||
        (rc = abut_check_units("rod/frame", f->rod_frame, f->rod_frame ? (size_t)m->nrd : 0, 1e-6, err)) ||
        (rc = abut_check_units("lag/basis", f->lag_basis, 2 * nl, 1e-6, err)) ||
        (rc = abut_check_domain("lag/normal-force", f->lag_force, nl, 0, 1, INFINITY, err)) ||
        (rc = abut_check_domain("lag/mu", f->lag_mu, nl, 0, 1, INFINITY, err)))
        return rc;
    if ((f->gain && (rc = abut_check_domain("midpoint/gain", f->gain, 1, 0, 1, INFINITY, err))) ||
        (f->euler_left && (rc = abut_check_indices("midpoint/damped-steps", f->euler_left, 1, 1, 0, 65, err))) ||
        (f->euler_bout && (rc = abut_check_indices("midpoint/bout", f->euler_bout, 1, 1, 0, 65, err))))
        return rc;
    if (!f->penalty != !f->multiplier)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: the frame has '%s'",
                         f->penalty ? "step/multiplier" : "step/penalty", f->penalty ? "step/penalty" : "step/multiplier");
    if (f->nw % f->nv)
        return abut_fail(err, ABUT_E_FORMAT, "step/waypoints has %d row%s, expected a multiple of the %d node%s", f->nw,
                         abut_s(f->nw), f->nv, abut_s(f->nv));
    return ABUT_OK;
}

abut_status abut_frame_view(const abut_arrays *set, const abut_model *model, abut_frame *view, abut_err *err)
{
    assert(model);
    abut_frame f = { 0 };
    counting c = no_counts();
    const struct {
        const char *name, *by;
        int32_t n;
    } of_model[] = { { "nv", "node/X of the MODEL", model->nv }, { "nrd", "rod/node of the MODEL", model->nrd },
                     { "nh", "half-space/point of the MODEL", model->nh }, { "no", "object/friction of the MODEL", model->no } };
    for (size_t i = 0; i < sizeof of_model / sizeof *of_model; i++) {
        const int row = count_row(&frame_table, of_model[i].name);
        c.n[row] = of_model[i].n;
        c.by[row] = of_model[i].by;
    }
    abut_status rc = check_understood(&frame_table, set, err);
    if (!rc) rc = fill(&frame_table, set, &f, &c, err);
    if (!rc) rc = check_frame(&f, model, err);
    if (rc) {
        abut_wrap(err, "FRAME");
        return rc;
    }
    *view = f;
    return ABUT_OK;
}

void abut_model_forget(abut_model *m)
{
#ifdef ABUT_POISON
    memset(m, 0x5a, sizeof *m);
#else
    *m = (abut_model){ 0 };
#endif
}

int abut_array_known(const char *name)
{
    const table *const all[] = { &model_table, &frame_table };
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < all[t]->nfields; i++)
            if (!strcmp(all[t]->fields[i].name, present_name(name))) return all[t]->fields[i].rule != RULE_SIDE;
    return 0;
}

static void *put(const table *t, const char *what, abut_arrays *set, const char *name, int64_t rows, abut_err *err)
{
    const field *f = NULL;
    for (int i = 0; i < t->nfields && !f; i++)
        if (!strcmp(t->fields[i].name, name)) f = &t->fields[i];
    if (!f) {
        abut_fail(err, ABUT_E_ARG, "'%.80s' is no array of a %s", name, what);
        return NULL;
    }
    const int fixed = count_row(t, f->rows) < 0;
    if (rows < 0 || rows > INT32_MAX || (fixed && rows != entry_number(f->rows))) {
        abut_fail(err, ABUT_E_ARG, "array '%s': %lld row%s, expected %s", name, (long long)rows, abut_s(rows), f->rows);
        return NULL;
    }
    const int64_t width = count_row(t, f->width) < 0 ? entry_number(f->width) : rows;
    return abut_arrays_put(set, name, f->type, field_rank(f), (int64_t[]){ rows, width }, f->unit, 0, err);
}

void *abut_model_put(abut_arrays *set, const char *name, int64_t rows, abut_err *err)
{
    return put(&model_table, "MODEL", set, name, rows, err);
}

void *abut_frame_put(abut_arrays *set, const char *name, int64_t rows, abut_err *err)
{
    return put(&frame_table, "FRAME", set, name, rows, err);
}

static int frame_row(const char *name)
{
    int i = 0;
    while (i < frame_table.nfields && strcmp(frame_table.fields[i].name, name) != 0) i++;
    return i;
}

void abut_frame_sort(abut_arrays *set, int first)
{
    for (int i = first + 1; i < set->n; i++) {
        const abut_array a = set->a[i];
        int k = i;
        for (; k > first && frame_row(set->a[k - 1].name) > frame_row(a.name); k--) set->a[k] = set->a[k - 1];
        set->a[k] = a;
    }
}

abut_status abut_frame_carry(const abut_arrays *from, abut_arrays *to, abut_err *err)
{
    for (int i = 0; i < from->n; i++) {
        abut_array a = from->a[i];      /* a view, under its present name */
        snprintf(a.name, sizeof a.name, "%s", present_name(from->a[i].name));
        if (!(a.flags & ABUT_A_CARRY) || abut_arrays_find(to, a.name)) continue;
        const abut_status rc = abut_arrays_copy(to, &a, err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

const char *abut_text_line(const abut_text *text, int i, char *buf, size_t size)
{
    snprintf(buf, size, "?");
    if (!text->data || i < 0) return buf;
    const char *p = text->data, *end = p + text->size;
    for (; i > 0 && p < end; i--) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        p = eol ? eol + 1 : end;
    }
    if (p >= end) return buf;
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    snprintf(buf, size, "%.*s", (int)((eol ? eol : end) - p), p);
    return buf;
}

const char *abut_text_row(const abut_arrays *set, const char *name, int i, char *buf, size_t size)
{
    const abut_text text = text_of(set, name);
    return abut_text_line(&text, i, buf, size);
}
