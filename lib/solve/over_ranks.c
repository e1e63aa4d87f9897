#include "solve/over_ranks.h"

#include "model/tets.h"

#include <assert.h>

abut_status abut_over_ranks_check(const abut_objective *o, abut_err *err)
{
    assert(o && o->model);
    const abut_model *m = o->model;
    const char *what = m->nt > abut_linear_tets_first(m) ? "tets of order 2 or more"
                       : abut_terms_number(&o->terms, "curved rods") >= 0 ? "curved rods" : NULL;
    if (what)
        return abut_fail(err, ABUT_E_FORMAT, "the scene has %s, whose work processes cannot divide yet: step has them", what);
    return o->cm.nc ? abut_collmesh_expect_nodes(&o->cm, "work that processes divide", err) : ABUT_OK;
}
