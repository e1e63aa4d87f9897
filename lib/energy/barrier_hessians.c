#include "energy/barrier_hessians.h"

#include "base/words.h"

#define ROWS(ROW) ROW(projected) ROW(full) ROW(gn) ROW(gn_j) ROW(ipc_gn) ROW(shi_kim) ROW(shi_kim_unsigned)
#define DECLARED(id) extern const abut_barrier_hessian_ops abut_barrier_hessian_##id;
#define POINTER(id) &abut_barrier_hessian_##id,
ROWS(DECLARED)
const abut_barrier_hessian_ops *const abut_barrier_hessians[] = { ROWS(POINTER) NULL };
enum { KNOWN = sizeof abut_barrier_hessians / sizeof *abut_barrier_hessians };

abut_status abut_barrier_hessian_find(const char *name, const abut_barrier_hessian_ops **ops, abut_err *err)
{
    const char *names[KNOWN] = { NULL };
    int at = 0;
    for (int i = 0; abut_barrier_hessians[i]; i++) names[i] = abut_barrier_hessians[i]->name;
    const abut_status rc = abut_name_find("--barrier-hessian", name, names, &at, err);
    if (!rc) *ops = abut_barrier_hessians[at];
    return rc;
}

double abut_barrier_normal(const abut_barrier_curvature *c, abut_barrier_law law, double d)
{
    return c->ops->normal ? c->ops->normal(law, c->least, d) : abut_barrier_along(law, d, 0, 0);
}
