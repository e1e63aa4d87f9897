/* Whole numbers: lexicographic order of rows, lists by groups, joined sets. */
#ifndef ABUT_BASE_ORDER_H
#define ABUT_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Returns -1, 0, 1 if row a[n] is less than row b[n], equal, greater. */
static inline int abut_compare(const int32_t *a, const int32_t *b, int n)
{
    for (int k = 0; k < n; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

/** Comparisons for qsort and bsearch: items that are, or begin with, one int32_t, two, three, four; an int64_t; a
 * double. */
static inline int abut_by_one(const void *a, const void *b) { return abut_compare(a, b, 1); }
static inline int abut_by_two(const void *a, const void *b) { return abut_compare(a, b, 2); }
static inline int abut_by_three(const void *a, const void *b) { return abut_compare(a, b, 3); }
static inline int abut_by_four(const void *a, const void *b) { return abut_compare(a, b, 4); }
static inline int abut_by_int64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static inline int abut_by_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Returns the place of `key` in n items of `size` bytes, ascending in the order `by`: how many are before it. */
static inline size_t abut_place_of(const void *key, const void *items, size_t n, size_t size,
                                   int (*by)(const void *, const void *))
{
    size_t lo = 0;
    while (lo < n) {
        const size_t mid = lo + (n - lo) / 2;
        if (by((const char *)items + mid * size, key) < 0) lo = mid + 1;
        else n = mid;
    }
    return lo;
}

/** Returns how many of v[n], ascending, are at most x. */
static inline size_t abut_count_at_most(const double *v, size_t n, double x)
{
    size_t lo = 0;
    while (lo < n) {
        const size_t mid = lo + (n - lo) / 2;
        if (v[mid] <= x) lo = mid + 1;
        else n = mid;
    }
    return lo;
}

/** Lists i < n by group[i] in 0 .. groups - 1; a negative one is in no group.
 *
 * first  [groups + 1] out: where the list of each group begins
 * item   [first[groups]] out: the list of group g is item[first[g]] .. item[first[g + 1] - 1], ascending */
static inline void abut_list_groups(const int32_t *group, size_t n, int32_t groups, int32_t *first, int32_t *item)
{
    memset(first, 0, ((size_t)groups + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++)
        if (group[i] >= 0) first[group[i] + 1]++;
    for (int32_t g = 0; g < groups; g++) first[g + 1] += first[g];
    for (size_t i = 0; i < n; i++)
        if (group[i] >= 0) item[first[group[i]]++] = (int32_t)i;
    for (int32_t g = groups; g > 0; g--) first[g] = first[g - 1];
    first[0] = 0;
}

/** Returns the root of i's set, its lowest number; root[i] = i: a set alone.  Shortens the way of later calls. */
static inline int32_t abut_set_root(int32_t *root, int32_t i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

/** Numbers the sets of n numbers in the order of their roots: root[i] becomes the number of i's set.  Returns how many sets. */
static inline int32_t abut_set_numbers(int32_t *root, int32_t n)
{
    int32_t sets = 0;
    for (int32_t i = 0; i < n; i++) root[i] = abut_set_root(root, i);
    for (int32_t i = 0; i < n; i++) root[i] = root[i] == i ? sets++ : root[root[i]];
    return sets;
}

/** Makes one set of those of i and j. */
static inline void abut_set_join(int32_t *root, int32_t i, int32_t j)
{
    const int32_t p = abut_set_root(root, i), q = abut_set_root(root, j);
    root[p < q ? q : p] = p < q ? p : q;
}

#endif
