#include "model/model.h"

#include "base/words.h"
#include "model/schemes.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_OPT, RULE_NEED, RULE_MAY, RULE_SIDE };

/* Numbers that an array may have, in the words of the tables. */
typedef struct range {
    enum { ANY, ENDLESS, BETWEEN, NAMED, ROW, NEAR, UNIT } is;
    double low, high;       /* BETWEEN; UNIT: high is the tolerance */
    int open, closed;       /* BETWEEN: low is excluded; high is not */
    int once;               /* ROW: not twice in a row */
    const char *of;         /* ROW: the count of these rows */
    const char *const *names;
} range;
#define RANGE_ANY { .is = ANY }
#define RANGE_ENDLESS { .is = ENDLESS }
#define RANGE_NEAR { .is = NEAR }
#define RANGE_UNIT(e) { .is = UNIT, .high = e }
#define RANGE_ABOVE(x) { .is = BETWEEN, .low = x, .high = INFINITY, .open = 1 }
#define RANGE_FROM(x) { .is = BETWEEN, .low = x, .high = INFINITY }
#define RANGE_IN(x, y) { .is = BETWEEN, .low = x, .high = y }
#define RANGE_WITHIN(x, y) { .is = BETWEEN, .low = x, .high = y, .open = 1 }
#define RANGE_PART { .is = BETWEEN, .high = 1, .open = 1, .closed = 1 }
#define RANGE_NAMES(list) { .is = NAMED, .names = list }
#define RANGE_ROW(n) { .is = ROW, .of = #n }
#define RANGE_ROW_OR_NONE(n) { .is = ROW, .low = -1, .of = #n }
#define RANGE_CORNERS(n) { .is = ROW, .once = 1, .of = #n }
#define RANGE_CORNERS_OR_NONE(n) { .is = ROW, .low = -1, .once = 1, .of = #n }

/* A line of a table, and a count; rows and width are kept in their spelling. */
typedef struct field {
    const char *name;
    abut_dtype type;
    const char *rows, *width, *unit;
    int rule;           /* RULE_* */
    range range;
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

#define MODEL_FIELD(m, name, ctype, dtype, rows, width, unit, rule, range) \
    { name, ABUT_##dtype, #rows, #width, unit, RULE_##rule, RANGE_##range, offsetof(abut_model, m) },
#define FRAME_FIELD(m, name, ctype, dtype, rows, width, unit, rule, range) \
    { name, ABUT_##dtype, #rows, #width, unit, RULE_##rule, RANGE_##range, offsetof(abut_frame, m) },
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

static const field *field_of(const table *t, const char *name)
{
    for (int i = 0; i < t->nfields; i++)
        if (!strcmp(t->fields[i].name, name)) return &t->fields[i];
    return NULL;
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

/* Numbers in a row of an array. */
static size_t row_width(const abut_array *a) { return a->rank == 2 && a->shape[1] ? (size_t)a->shape[1] : 1; }

static abut_status check_finite(const field *f, const abut_array *a, abut_err *err)
{
    const double *v = a->data;
    const size_t n = (size_t)abut_array_count(a);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]) && !(f->range.is == ENDLESS && isinf(v[i])))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %g, expected a finite number", f->name, i / row_width(a),
                             v[i]);
    return ABUT_OK;
}

/* Vectors of three numbers, or of four where a row has four. */
static abut_status check_units(const field *f, const abut_array *a, abut_err *err)
{
    const size_t n = (size_t)abut_array_count(a), size = row_width(a) == 4 ? 4 : 3;
    const double *v = a->data;
    for (size_t i = 0; i < n; i += size) {
        double sum = 0;
        for (size_t k = i; k < i + size; k++) sum += v[k] * v[k];
        if (!(fabs(sqrt(sum) - 1) <= f->range.high))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: length %.17g, expected 1 within %g", f->name,
                             i / row_width(a), sqrt(sum), f->range.high);
    }
    return ABUT_OK;
}

static abut_status wrong_real(const field *f, size_t row, double v, abut_err *err)
{
    const range *r = &f->range;
    if (r->is == NEAR)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %g, expected a number between -%g and %g", f->name, row, v,
                         ABUT_FARTHEST, ABUT_FARTHEST);
    char most[40] = "";
    if (r->high < INFINITY) snprintf(most, sizeof most, ", %s %g", r->closed ? "at most" : "less than", r->high);
    return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %.17g, expected %s%g%s%s", f->name, row, v,
                     r->open ? "more than " : "", r->low, r->open ? "" : " or more", most);
}

static abut_status check_reals(const field *f, const abut_array *a, abut_err *err)
{
    const range *r = &f->range;
    const double *v = a->data;
    const size_t n = (size_t)abut_array_count(a);
    for (size_t i = 0; i < n; i++) {
        const int above = r->open ? v[i] > r->low : v[i] >= r->low, below = r->closed ? v[i] <= r->high : v[i] < r->high;
        if (!(r->is == NEAR ? fabs(v[i]) <= ABUT_FARTHEST : above && below)) return wrong_real(f, i / row_width(a), v[i], err);
    }
    return ABUT_OK;
}

/* Whole numbers in [low, high). */
static abut_status check_wholes(const field *f, const abut_array *a, double high, abut_err *err)
{
    const int32_t *v = a->data;
    const size_t n = (size_t)abut_array_count(a), width = row_width(a);
    for (size_t i = 0; i < n; i++) {
        if (v[i] < f->range.low || v[i] >= high)
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %d, expected %.0f <= value < %.0f", f->name, i / width,
                             v[i], f->range.low, high);
        for (size_t k = i - i % width; k < i && f->range.once; k++)
            if (v[k] == v[i] && v[i] >= 0)
                return abut_fail(err, ABUT_E_FORMAT, "array '%s' row %zu: %d twice, expected distinct indices", f->name,
                                 i / width, v[i]);
    }
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
        if (set->a[i].flags & ABUT_A_REQUIRED && !field_of(t, present_name(set->a[i].name)))
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

static int32_t count_in(const table *t, int k, const void *view)
{
    int32_t n;
    memcpy(&n, (const char *)view + t->counts[k].member, sizeof n);
    return n;
}

/* Arrays that need another one; only_with: if this one is there. */
typedef struct need {
    const char *has, *needs, *only_with;
} need;
#define NEEDS(has, needs) { has, needs, NULL }
#define TOGETHER(a, b) NEEDS(a, b), NEEDS(b, a)
static const need model_needs[] = {
    { "material/fibre", "tet/fibre", "tet/node" }, NEEDS("contact/map-node", "contact/map-first"),
    NEEDS("contact/offset", "contact/map-first"), TOGETHER("tet/order", "tet/first"), NEEDS("tet/more", "tet/order"),
    TOGETHER("geometry/order", "geometry/first"), NEEDS("geometry/X", "geometry/order"),
    TOGETHER("object/length", "object/node-mass"), TOGETHER("rigid/range", "rigid/strain"), NEEDS("rod/twist", "rod/curvature"),
    TOGETHER("nodal/cohesion-force", "nodal/cohesion-range"), TOGETHER("contact/formulation", "contact/pressure"),
    NEEDS("contact/edge-share", "contact/formulation"), NEEDS("contact/fixed-reach", "contact/formulation"), NEEDS(NULL, NULL)
};
/* Positions and velocities of former states come together, and with all later ones; hard contacts have all of touch/. */
static const need frame_needs[] = {
    TOGETHER("node/x1", "node/v1"), TOGETHER("node/x2", "node/v2"), TOGETHER("node/x3", "node/v3"),
    TOGETHER("node/x4", "node/v4"), TOGETHER("node/x5", "node/v5"), NEEDS("node/x2", "node/x1"), NEEDS("node/x3", "node/x2"),
    NEEDS("node/x4", "node/x3"), NEEDS("node/x5", "node/x4"), TOGETHER("step/penalty", "step/multiplier"),
    TOGETHER("step/jacobian-tet", "step/jacobian-point"), NEEDS("touch/first", "touch/node"), NEEDS("touch/node", "touch/weight"),
    NEEDS("touch/weight", "touch/point"), NEEDS("touch/point", "touch/normal"), NEEDS("touch/normal", "touch/impulse"),
    NEEDS("touch/impulse", "touch/mu"), NEEDS("touch/mu", "touch/state"), NEEDS("touch/state", "touch/first"),
    NEEDS("pass/x", "pass/count"), NEEDS("pass/kappa", "pass/count"), NEEDS("pass/strain-kappa", "pass/count"), NEEDS(NULL, NULL)
};

static abut_status check_needs(const need *n, const abut_arrays *set, const char *there_is, abut_err *err)
{
    for (; n->has; n++)
        if (abut_array_named(set, n->has) && !abut_array_named(set, n->needs) &&
            (!n->only_with || abut_array_named(set, n->only_with)))
            return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: %s '%s'", n->needs, there_is, n->has);
    return ABUT_OK;
}

/* Checks the numbers of all arrays of a view whose counts are known; m: the model. */
static abut_status check_ranges(const table *t, const abut_arrays *set, const void *view, const abut_model *m, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < t->nfields && !rc; i++) {
        const field *f = &t->fields[i];
        const abut_array *a = abut_array_named(set, f->name);
        if (!a || f->range.is == ANY || f->range.is == ENDLESS) continue;
        if (f->range.is == UNIT) rc = check_units(f, a, err);
        else if (f->type == ABUT_F64) rc = check_reals(f, a, err);
        else if (f->range.is == BETWEEN) rc = check_wholes(f, a, f->range.high, err);
        else if (f->range.is == NAMED) rc = check_wholes(f, a, abut_names_count(f->range.names), err);
        else {
            const int own = count_row(t, f->range.of) >= 0;     /* rows of this set, else of the model */
            const table *of = own ? t : &model_table;
            rc = check_wholes(f, a, count_in(of, count_row(of, f->range.of), own ? view : m), err);
        }
    }
    return rc;
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
    if (!rc && m.nv < 1) rc = abut_fail(err, ABUT_E_FORMAT, "array 'node/X' has no rows, expected a node or more");
    if (!rc) rc = check_needs(model_needs, set, "there is", err);
    if (!rc) rc = check_ranges(&model_table, set, &m, &m, err);
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

/* ---- relations between the arrays of a frame, whose numbers are in range ---- */

/* Frozen contacts name nodes, or collision vertices where those are no nodes. */
static abut_status check_lag_name(const abut_frame *f, const abut_model *m, abut_err *err)
{
    const int mapped = m->map_first != NULL;
    const char *name = mapped ? "lag/vertex" : "lag/node", *other = mapped ? "lag/node" : "lag/vertex";
    if (mapped ? f->lag_node != NULL : f->lag_vertex != NULL)
        return abut_fail(err, ABUT_E_FORMAT, "array '%s': expected '%s', as collision vertices are %s of the MODEL", other, name,
                         mapped ? "sums of nodes" : "nodes");
    if (f->nl && !(mapped ? f->lag_vertex : f->lag_node))
        return abut_fail(err, ABUT_E_FORMAT, "array '%s' is missing: 'lag/mu' has %d row%s", name, f->nl, abut_s(f->nl));
    return ABUT_OK;
}

static abut_status check_lag(const abut_frame *f, int mapped, abut_err *err)
{
    const int32_t *slot = mapped ? f->lag_vertex : f->lag_node;
    const char *name = mapped ? "lag/vertex" : "lag/node";
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
    if (!f->passes) return ABUT_OK;
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
    return ABUT_OK;
}

/* Hard contacts have ranges of touch/node. */
static abut_status check_touch(const abut_frame *f, abut_err *err)
{
    for (size_t c = 0; f->touch_first && c < (size_t)f->ntc; c++) {
        const int32_t lo = f->touch_first[2 * c], hi = f->touch_first[2 * c + 1];
        if (!(0 <= lo && lo <= hi && hi <= f->ntn))
            return abut_fail(err, ABUT_E_FORMAT,
                             "array 'touch/first' row %zu: %d, %d, expected a range of the %d row%s of touch/node", c, lo, hi,
                             f->ntn, abut_s(f->ntn));
    }
    return ABUT_OK;
}

/* Points in tets of order 2 and more. */
static abut_status check_points(const abut_frame *f, const abut_model *m, abut_err *err)
{
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
    if ((rc = check_lag(f, m->map_first != NULL, err)) || (rc = check_passes(f, err)) || (rc = check_touch(f, err)) ||
        (rc = check_points(f, m, err)))
        return rc;
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
                     { "njo", "joint/node of the MODEL", model->njo }, { "njr", "joint/along of the MODEL", model->njr },
                     { "nh", "half-space/point of the MODEL", model->nh }, { "no", "object/friction of the MODEL", model->no } };
    for (size_t i = 0; i < sizeof of_model / sizeof *of_model; i++) {
        const int row = count_row(&frame_table, of_model[i].name);
        c.n[row] = of_model[i].n;
        c.by[row] = of_model[i].by;
    }
    abut_status rc = check_understood(&frame_table, set, err);
    if (!rc) rc = fill(&frame_table, set, &f, &c, err);
    if (!rc) rc = check_needs(frame_needs, set, "the frame has", err);
    if (!rc) rc = check_lag_name(&f, model, err);
    if (!rc) rc = check_ranges(&frame_table, set, &f, model, err);
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
    const field *f = field_of(&model_table, present_name(name));
    if (!f) f = field_of(&frame_table, present_name(name));
    return f && f->rule != RULE_SIDE;
}

static void *put(const table *t, const char *what, abut_arrays *set, const char *name, int64_t rows, abut_err *err)
{
    const field *f = field_of(t, name);
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
    const field *f = field_of(&frame_table, name);
    return f ? (int)(f - frame_fields) : frame_table.nfields;
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
