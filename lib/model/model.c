#include "model/model.h"

#include "base/words.h"
#include "model/frame_check.h"
#include "model/model_check.h"

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
    if (!rc) rc = abut_frame_check(&f, model, err);
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
