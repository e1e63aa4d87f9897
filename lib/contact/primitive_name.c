#include "contact/primitive_name.h"

#include "model/naming.h"

#include <stdio.h>

void abut_primitive_name(const abut_collmesh *cm, const abut_arrays *set, const double *y, const int32_t *v, int n,
                         char name[ABUT_PRIMITIVE_NAME])
{
    static const char *const what[] = { "", "point", "edge", "triangle" };
    char object[64], nodes[48];
    size_t used = 0;
    const int of_nodes = abut_collmesh_selects(cm);
    for (int k = 0; k < n; k++)
        used += (size_t)snprintf(nodes + used, sizeof nodes - used, "%s%d", k ? ", " : "",
                                 of_nodes ? abut_node_number(cm->model, abut_collmesh_node(cm, v[k])) : v[k]);
    abut_text_row(set, "object/name", abut_collmesh_object(cm, v[0]), object, sizeof object);
    const double *p = y + 3 * (size_t)v[0];
    snprintf(name, ABUT_PRIMITIVE_NAME, "%s of '%s' (%s %s) at (%.6g, %.6g, %.6g)", what[n], object,
             of_nodes ? n > 1 ? "nodes" : "node" : n > 1 ? "vertices" : "vertex", nodes, p[0], p[1], p[2]);
}
