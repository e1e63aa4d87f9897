#include "formats/result/vtu_touch.h"

#include "formats/result/vtu_array.h"

#include <assert.h>
#include <stdlib.h>

/* A cell of one point for each contact. */
static abut_status put_cells(FILE *out, size_t n, abut_err *err)
{
    int64_t *point = malloc((n + 1) * sizeof *point), *end = malloc((n + 1) * sizeof *end);
    uint8_t *type = malloc(n + 1);
    abut_status rc = point && end && type ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "no memory for %zu contacts", n);
    for (size_t i = 0; i < n && !rc; i++) point[i] = (int64_t)i, end[i] = (int64_t)i + 1, type[i] = 1 /* VTK_VERTEX */;
    if (!rc) rc = abut_vtu_array(out, "connectivity", ABUT_I64, point, n, 1, err);
    if (!rc) rc = abut_vtu_array(out, "offsets", ABUT_I64, end, n, 1, err);
    if (!rc) rc = abut_vtu_array(out, "types", ABUT_U8, type, n, 1, err);
    free(point);
    free(end);
    free(type);
    return rc;
}

abut_status abut_vtu_touches(FILE *out, const abut_frame *f, double time, abut_err *err)
{
    assert(f->touch_point);
    const size_t n = (size_t)f->ntc;
    abut_vtu_head(out, "UnstructuredGrid");
    fprintf(out, "<UnstructuredGrid>\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n"
            "<Points>\n", time, n, n);
    abut_status rc = abut_vtu_array(out, "Points", ABUT_F64, f->touch_point, n, 3, err);
    fputs("</Points>\n<PointData>\n", out);
    if (!rc) rc = abut_vtu_array(out, "normal", ABUT_F64, f->touch_normal, n, 3, err);
    if (!rc) rc = abut_vtu_array(out, "impulse", ABUT_F64, f->touch_impulse, n, 3, err);
    if (!rc) rc = abut_vtu_array(out, "mu", ABUT_F64, f->touch_mu, n, 1, err);
    if (!rc) rc = abut_vtu_array(out, "state", ABUT_I32, f->touch_state, n, 1, err);
    fputs("</PointData>\n<Cells>\n", out);
    if (!rc) rc = put_cells(out, n, err);
    fputs("</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", out);
    return rc;
}
