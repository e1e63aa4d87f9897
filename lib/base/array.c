#include "base/array.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t abut_dtype_size(abut_dtype type)
{
    switch (type) {
    case ABUT_F64: case ABUT_I64: return 8;
    case ABUT_F32: case ABUT_I32: return 4;
    case ABUT_U8: case ABUT_TEXT: return 1;
    }
    return 0;
}

const char *abut_dtype_name(abut_dtype type)
{
    switch (type) {
    case ABUT_F64: return "f64";
    case ABUT_F32: return "f32";
    case ABUT_I32: return "i32";
    case ABUT_I64: return "i64";
    case ABUT_U8: return "u8";
    case ABUT_TEXT: return "text";
    }
    return "?";
}

int64_t abut_array_count(const abut_array *a)
{
    int64_t n = 1;
    for (int d = 0; d < a->rank; d++) n *= a->shape[d];
    return n;
}

size_t abut_array_bytes(const abut_array *a)
{
    return (size_t)abut_array_count(a) * abut_dtype_size(a->type);
}

double abut_array_real(const abut_array *a, int64_t i)
{
    switch (a->type) {
    case ABUT_F64: return ((const double *)a->data)[i];
    case ABUT_F32: return (double)((const float *)a->data)[i];
    case ABUT_I32: return ((const int32_t *)a->data)[i];
    case ABUT_I64: return (double)((const int64_t *)a->data)[i];
    case ABUT_U8: return ((const uint8_t *)a->data)[i];
    case ABUT_TEXT: break;
    }
    return NAN;
}

abut_array *abut_arrays_find(const abut_arrays *set, const char *name)
{
    for (int i = 0; i < set->n; i++)
        if (!strcmp(set->a[i].name, name)) return &set->a[i];
    return NULL;
}

static int name_ok(const char *s)
{
    if (!*s || strlen(s) > ABUT_NAME_MAX) return 0;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("_-./", *s)) return 0;
    return 1;
}

/* Bytes of the data, or an error when any part of the description is off. */
static abut_status check_form(const abut_array *a, size_t *bytes, abut_err *err)
{
    const size_t size = abut_dtype_size(a->type);
    if (!name_ok(a->name) || !size || a->rank < 0 || a->rank > ABUT_RANK_MAX)
        return abut_fail(err, ABUT_E_ARG, "array '%.63s': bad name, type %d or rank %d", a->name, (int)a->type, a->rank);
    size_t n = size;
    for (int d = 0; d < a->rank; d++) {
        if (a->shape[d] < 0 || (a->shape[d] > 0 && n > (SIZE_MAX >> 2) / (size_t)a->shape[d]))
            return abut_fail(err, ABUT_E_ARG, "array '%s': dimension %d is %lld", a->name, d, (long long)a->shape[d]);
        n *= (size_t)a->shape[d];
    }
    *bytes = n;
    return ABUT_OK;
}

abut_status abut_arrays_take(abut_arrays *set, const abut_array *a, abut_err *err)
{
    assert(a);
    size_t bytes;
    const abut_status rc = check_form(a, &bytes, err);
    if (rc) return rc;
    abut_array *slot = abut_arrays_find(set, a->name);
    if (slot) {
        free(slot->data);
        *slot = *a;
        return ABUT_OK;
    }
    if (set->n == set->cap) {
        const int cap = set->cap ? 2 * set->cap : 16;
        abut_array *grown = realloc(set->a, (size_t)cap * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "array '%s': no memory for the set", a->name);
        set->a = grown;
        set->cap = cap;
    }
    set->a[set->n++] = *a;
    return ABUT_OK;
}

void *abut_arrays_put(abut_arrays *set, const char *name, abut_dtype type, int rank, const int64_t *shape,
                      const char *unit, uint32_t flags, abut_err *err)
{
    if (strlen(name) > ABUT_NAME_MAX || strlen(unit) > ABUT_UNIT_MAX) {
        abut_fail(err, ABUT_E_ARG, "array '%.80s': name or unit '%.80s' is too long", name, unit);
        return NULL;
    }
    abut_array a = { .type = type, .flags = flags, .rank = rank };
    strcpy(a.name, name);
    strcpy(a.unit, unit);
    for (int d = 0; d < rank && d < ABUT_RANK_MAX; d++) a.shape[d] = shape[d];
    size_t bytes;
    if (check_form(&a, &bytes, err)) return NULL;
    a.data = calloc(bytes ? bytes : 1, 1);
    if (!a.data) {
        abut_fail(err, ABUT_E_NOMEM, "array '%s': no memory for %zu bytes", name, bytes);
        return NULL;
    }
    if (abut_arrays_take(set, &a, err)) {
        free(a.data);
        return NULL;
    }
    return a.data;
}

abut_status abut_arrays_put_f64(abut_arrays *set, const char *name, double value, const char *unit, abut_err *err)
{
    double *p = abut_arrays_put(set, name, ABUT_F64, 0, NULL, unit, 0, err);
    if (!p) return err ? err->code : ABUT_E_NOMEM;
    *p = value;
    return ABUT_OK;
}

abut_status abut_arrays_put_i32(abut_arrays *set, const char *name, int32_t value, abut_err *err)
{
    int32_t *p = abut_arrays_put(set, name, ABUT_I32, 0, NULL, "", 0, err);
    if (!p) return err ? err->code : ABUT_E_NOMEM;
    *p = value;
    return ABUT_OK;
}

void *abut_arrays_put_rows(abut_arrays *set, const char *name, abut_dtype type, int64_t n, int64_t width,
                           const char *unit, abut_err *err)
{
    return abut_arrays_put(set, name, type, width ? 2 : 1, (int64_t[]){ n, width }, unit, 0, err);
}

abut_status abut_arrays_put_text(abut_arrays *set, const char *name, const char *text, abut_err *err)
{
    const size_t n = strlen(text);
    void *p = abut_arrays_put(set, name, ABUT_TEXT, 1, (int64_t[]){ (int64_t)n }, "", 0, err);
    if (!p) return err ? err->code : ABUT_E_NOMEM;
    memcpy(p, text, n);
    return ABUT_OK;
}

abut_status abut_arrays_copy(abut_arrays *dst, const abut_array *a, abut_err *err)
{
    void *p = abut_arrays_put(dst, a->name, a->type, a->rank, a->shape, a->unit, a->flags, err);
    if (!p) return err ? err->code : ABUT_E_NOMEM;
    memcpy(p, a->data, abut_array_bytes(a));
    return ABUT_OK;
}

void abut_arrays_remove(abut_arrays *set, const char *name)
{
    abut_array *a = abut_arrays_find(set, name);
    if (!a) return;
    free(a->data);
    memmove(a, a + 1, (size_t)(&set->a[set->n] - (a + 1)) * sizeof *a);
    set->n--;
}

void abut_arrays_clear(abut_arrays *set)
{
    for (int i = 0; i < set->n; i++) free(set->a[i].data);
    free(set->a);
    *set = (abut_arrays){ 0 };
}
