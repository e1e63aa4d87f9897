#include "base/order.h"

int abut_by_one(const void *a, const void *b) { return abut_compare(a, b, 1); }
int abut_by_two(const void *a, const void *b) { return abut_compare(a, b, 2); }
int abut_by_three(const void *a, const void *b) { return abut_compare(a, b, 3); }

int abut_by_int64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}
