#include "model/laws.h"

#include "model/laws_table.h"
#include "model/model.h"
#include "model/schemes.h"

#include <stdio.h>

#define LAW_NAME(id, name) name,
#define MATERIAL_NAME(id, name, traits) name,
#define MATERIAL_TRAITS(id, name, traits) traits,
#define SCHEME_ROW(id, name, order, is, ...) { name, order, is, __VA_ARGS__ },
#define SCHEME_NAME(id, name, ...) name,

const char *const abut_barrier_names[] = { ABUT_BARRIER_LAWS(LAW_NAME) NULL };
const char *const abut_friction_names[] = { ABUT_FRICTION_LAWS(LAW_NAME) NULL };
const char *const abut_material_names[] = { ABUT_MATERIALS(MATERIAL_NAME) NULL };
const unsigned char abut_material_traits[] = { ABUT_MATERIALS(MATERIAL_TRAITS) };
const abut_scheme abut_schemes[ABUT_ALL_SCHEMES] = { ABUT_TIME_SCHEMES(SCHEME_ROW) };
const char *const abut_scheme_names[] = { ABUT_TIME_SCHEMES(SCHEME_NAME) NULL };

/* the numbers of laws are their rows */
#define BARRIER_ROW(id, name) BARRIER_##id,
#define FRICTION_ROW(id, name) FRICTION_##id,
#define MATERIAL_ROW(id, name, traits) MATERIAL_##id,
enum { ABUT_BARRIER_LAWS(BARRIER_ROW) BARRIERS };
enum { ABUT_FRICTION_LAWS(FRICTION_ROW) FRICTIONS };
enum { ABUT_MATERIALS(MATERIAL_ROW) MATERIALS };
#define AT(row, number) _Static_assert((int)(row) == (int)(number), #row " is row " #number)
AT(BARRIER_ipc_c0, ABUT_BARRIER_IPC_C0);
AT(BARRIER_ipc_c1, ABUT_BARRIER_IPC_C1);
AT(BARRIER_ipc, ABUT_BARRIER_IPC);
AT(BARRIER_log2, ABUT_BARRIER_LOG2);
AT(FRICTION_c0, ABUT_FRICTION_C0);
AT(FRICTION_c1, ABUT_FRICTION_C1);
AT(FRICTION_c2, ABUT_FRICTION_C2);
AT(MATERIAL_neo_hookean, ABUT_NEO_HOOKEAN);
AT(MATERIAL_fixed_corotated, ABUT_FIXED_COROTATED);
AT(MATERIAL_stable_neo_hookean, ABUT_STABLE_NEO_HOOKEAN);
AT(MATERIAL_stvk, ABUT_STVK);
AT(MATERIAL_arap, ABUT_ARAP);
AT(MATERIAL_linear_corotated, ABUT_LINEAR_COROTATED);
AT(MATERIAL_polynomial, ABUT_POLYNOMIAL);
AT(MATERIAL_spline, ABUT_SPLINE);
AT(MATERIAL_orthogonal, ABUT_ORTHOGONAL);

int abut_names_count(const char *const *names)
{
    int n = 0;
    while (names[n]) n++;
    return n;
}

const char *abut_materials_with(unsigned trait, char *text, size_t n)
{
    int left = 0, used = 0;
    for (int k = 0; abut_material_names[k]; k++) left += abut_material_is(k, trait);
    text[0] = 0;
    for (int k = 0; abut_material_names[k] && used >= 0 && (size_t)used < n; k++) {
        if (!abut_material_is(k, trait)) continue;
        left--;
        used += snprintf(text + used, n - (size_t)used, "%s%s", abut_material_names[k], left > 1 ? ", " : left ? " or " : "");
    }
    return text;
}

int abut_scheme_with(unsigned property)
{
    int best = ABUT_FIRST_SCHEME;
    for (int k = 0; k < ABUT_ALL_SCHEMES; k++)
        if (abut_scheme_is(k, property) &&
            (!abut_scheme_is(best, property) || abut_schemes[k].order > abut_schemes[best].order)) best = k;
    return best;
}
