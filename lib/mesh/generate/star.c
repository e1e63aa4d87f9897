#include "mesh/generate/generate.h"

#include "mesh/generate/sheets.h"

abut_status abut_generate_star(double radius, int32_t divisions, abut_mesh *m, abut_err *err)
{
    abut_mesh s = { 0 };
    abut_status rc = abut_generate_icosphere(radius, divisions, &s, err);
    if (!rc) rc = abut_mesh_add_vertex(m, (double[3]){ 0 }, err);
    for (int32_t i = 0; i < s.nv && !rc; i++) rc = abut_mesh_add_vertex(m, s.x + 3 * (size_t)i, err);
    for (int32_t t = 0; t < s.nf && !rc; t++) {
        const int32_t *v = s.tri + 3 * (size_t)t;
        rc = abut_mesh_add_tet(m, 0, 1 + v[0], 1 + v[1], 1 + v[2], err);
    }
    abut_mesh_clear(&s);
    if (rc) abut_mesh_clear(m);
    return rc;
}
