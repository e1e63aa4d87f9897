/* Lexicographic order of rows of whole numbers. */
#ifndef ABUT_BASE_ORDER_H
#define ABUT_BASE_ORDER_H

#include <stdint.h>

/** Returns -1, 0, 1 if row a[n] is less than row b[n], equal, greater. */
static inline int abut_compare(const int32_t *a, const int32_t *b, int n)
{
    for (int k = 0; k < n; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

/** Comparisons for qsort and bsearch: items that are, or begin with, one int32_t, an array of two, of three; an int64_t. */
int abut_by_one(const void *a, const void *b);
int abut_by_two(const void *a, const void *b);
int abut_by_three(const void *a, const void *b);
int abut_by_int64(const void *a, const void *b);

#endif
