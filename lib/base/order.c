#include "base/order.h"

#include <string.h>

int abut_by_one(const void *a, const void *b) { return abut_compare(a, b, 1); }
int abut_by_two(const void *a, const void *b) { return abut_compare(a, b, 2); }
int abut_by_three(const void *a, const void *b) { return abut_compare(a, b, 3); }

int abut_by_int64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void abut_list_groups(const int32_t *group, size_t n, int32_t groups, int32_t *first, int32_t *item)
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

int32_t abut_set_numbers(int32_t *root, int32_t n)
{
    int32_t sets = 0;
    for (int32_t i = 0; i < n; i++) root[i] = abut_set_root(root, i);
    for (int32_t i = 0; i < n; i++) root[i] = root[i] == i ? sets++ : root[root[i]];
    return sets;
}
