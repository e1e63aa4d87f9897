#include "model/schemes.h"

#define ROW(id, name, order, is, ...) { name, order, is, __VA_ARGS__ },
#define NAME(id, name, ...) name,

const abut_scheme abut_schemes[ABUT_ALL_SCHEMES] = { ABUT_TIME_SCHEMES(ROW) };
const char *const abut_scheme_names[] = { ABUT_TIME_SCHEMES(NAME) NULL };

int abut_scheme_with(unsigned property)
{
    int best = ABUT_FIRST_SCHEME;
    for (int k = 0; k < ABUT_ALL_SCHEMES; k++)
        if (abut_scheme_is(k, property) &&
            (!abut_scheme_is(best, property) || abut_schemes[k].order > abut_schemes[best].order)) best = k;
    return best;
}
