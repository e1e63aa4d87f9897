/* Named, self-describing arrays, and sets of them: what a stream carries and what every tool passes on. */
#ifndef ABUT_BASE_ARRAY_H
#define ABUT_BASE_ARRAY_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

ABUT_PUBLIC_BEGIN

typedef enum abut_dtype {
    ABUT_F64 = 1,   /* double                                     */
    ABUT_F32 = 2,   /* float                                      */
    ABUT_I32 = 3,   /* int32_t                                    */
    ABUT_I64 = 4,   /* int64_t                                    */
    ABUT_U8 = 5,    /* uint8_t                                    */
    ABUT_TEXT = 6   /* UTF-8 bytes, rank 1; lines end with '\n'   */
} abut_dtype;

enum {
    ABUT_A_REQUIRED = 1, /* a reader that does not know this array must refuse the stream                */
    ABUT_A_CARRY = 2     /* in a FRAME: a stage that makes a new frame copies the array into it          */
};

#define ABUT_NAME_MAX 63
#define ABUT_UNIT_MAX 15
#define ABUT_RANK_MAX 4

/* One array, C order (last index fastest).  data is malloc'ed and owned by the set. */
typedef struct abut_array {
    char name[ABUT_NAME_MAX + 1];   /* "node/x": letters, digits, '_', '-', '.', '/' */
    char unit[ABUT_UNIT_MAX + 1];   /* SI, "" when dimensionless */
    abut_dtype type;
    uint32_t flags;
    int rank;                       /* 0 = one number */
    int64_t shape[ABUT_RANK_MAX];
    void *data;
} abut_array;

/* A set of arrays in the order they were added.  Zero-filled is a valid empty set. */
typedef struct abut_arrays {
    abut_array *a;
    int n, cap;
} abut_arrays;

/** Bytes of one element; 0 for an unknown type. */
size_t abut_dtype_size(abut_dtype type);
/** Name of a type as the dump prints it ("f64", "i32", ...); "?" if unknown. */
const char *abut_dtype_name(abut_dtype type);

/** Product of the shape; 1 for rank 0. */
int64_t abut_array_count(const abut_array *a);
size_t abut_array_bytes(const abut_array *a);

/** Number i of an array, in C order, as a double; NaN in a text. */
double abut_array_real(const abut_array *a, int64_t i);

/** The array of that name, or NULL.  Adding another array moves the structure, but not its data. */
abut_array *abut_arrays_find(const abut_arrays *set, const char *name);

/** Adds a zero-filled array, or replaces the one of that name in place, and returns its data.
 * shape[rank]; NULL data with err set on a bad name, rank, shape (ABUT_E_ARG) or no memory. */
void *abut_arrays_put(abut_arrays *set, const char *name, abut_dtype type, int rank, const int64_t *shape,
                      const char *unit, uint32_t flags, abut_err *err);

/** abut_arrays_put for common shapes: one number; n rows of `width` numbers (width 0: a plain vector). */
ABUT_MUST_USE abut_status abut_arrays_put_f64(abut_arrays *set, const char *name, double value, const char *unit, abut_err *err);
ABUT_MUST_USE abut_status abut_arrays_put_i32(abut_arrays *set, const char *name, int32_t value, abut_err *err);
void *abut_arrays_put_rows(abut_arrays *set, const char *name, abut_dtype type, int64_t n, int64_t width,
                           const char *unit, abut_err *err);
ABUT_MUST_USE abut_status abut_arrays_put_text(abut_arrays *set, const char *name, const char *text, abut_err *err);

/** Adds an array without a copy, or replaces the one of that name in place.  a->data comes from malloc and belongs to the set
 * if the call succeeds.  Fails ABUT_E_ARG on a bad name, type, rank or shape; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_arrays_take(abut_arrays *set, const abut_array *a, abut_err *err);
/** Deep copy of one array into dst (added or replaced). */
ABUT_MUST_USE abut_status abut_arrays_copy(abut_arrays *dst, const abut_array *a, abut_err *err);
/** Removes the array of that name if it is there. */
void abut_arrays_remove(abut_arrays *set, const char *name);
/** Frees all arrays; the set is empty and usable again. */
void abut_arrays_clear(abut_arrays *set);

ABUT_PUBLIC_END

#endif
