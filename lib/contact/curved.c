#include "contact/curved.h"


#include <string.h>

typedef const double (*places)[3];

int abut_curved_inverted(const abut_model *m, int32_t t, const double *x)
{
    double at[ABUT_TET_NODES_MAX][3];
    const int order = abut_tet_shape(m, t, x, at);
    return abut_jacobian_check(order, (places)at, NULL) != ABUT_JACOBIAN_POSITIVE;
}

int abut_curved_inverting(const abut_model *m, int32_t t, const double *x0, const double *x1)
{
    double from[ABUT_TET_NODES_MAX][3], to[ABUT_TET_NODES_MAX][3];
    const int order = abut_tet_shape(m, t, x0, from);
    abut_tet_shape(m, t, x1, to);
    return abut_jacobian_check_motion(order, (places)from, (places)to, NULL) != ABUT_JACOBIAN_POSITIVE;
}

double abut_curved_jacobian(const abut_model *m, int32_t t, const double *x, double enough, abut_jacobian_at *where)
{
    double at[ABUT_TET_NODES_MAX][3], rest[ABUT_TET_NODES_MAX][3];
    const int order = abut_tet_shape(m, t, x, at);
    abut_tet_shape(m, t, m->X, rest);
    return abut_jacobian_least_ratio(order, (places)at, (places)rest, enough, where);
}

static double curved_bound(const abut_model *m, int32_t t, const double *x, const double *p, double slack)
{
    double at[ABUT_TET_NODES_MAX][3], along[ABUT_TET_NODES_MAX][3];
    const int order = abut_tet_shape(m, t, x, at);
    abut_tet_motion(m, t, p, along);
    return abut_jacobian_max_step(order, (places)at, (places)along, slack);
}

void abut_limit_curved(const abut_model *m, const double *x, const double *p, double slack, abut_limit *lim)
{
    if (!m->tet_order && !m->geo_order) return;
    double least = lim->alpha;
    int32_t which = INT32_MAX;
    #pragma omp parallel
    {
        /* least bound, then lowest tet: an order in which any thread may come first */
        double mine = lim->alpha;
        int32_t tet = INT32_MAX;
        #pragma omp for schedule(monotonic : dynamic, 16) nowait
        for (int32_t t = 0; t < m->nt; t++) {
            if (!abut_is_curved(m, t) || !abut_material_injective(m->mat_model[m->tet_mat[t]])) continue;
            const double bound = curved_bound(m, t, x, p, slack);
            if (bound < mine) mine = bound, tet = t;
        }
        #pragma omp critical(abut_limit_curved)
        if (mine < least || (mine <= least && tet < which)) least = mine, which = tet;
    }
    if (which == INT32_MAX) return;
    *lim = (abut_limit){ .alpha = least, .kind = ABUT_LIMIT_TET, .tet = which };
    memcpy(lim->node, m->tet + 4 * (size_t)which, sizeof lim->node);
}
