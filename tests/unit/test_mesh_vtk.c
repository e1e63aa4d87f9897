/* The reader of legacy VTK files: text and binary, every version, cell and number type; what it refuses, and where. */
#include "mesh_files.h"

#include "formats/mesh/mesh_io.h"

TEST(vtk_of_both_versions_text_and_big_endian_give_one_mesh)
{
    for (int form = 0; form < 4; form++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        vtk_file(form & 1, form & 2 ? 5 : 3);
        text("CELL_DATA 3\nSCALARS a int 1\nwhatever\n");
        CHECK(read_file(abut_vtk_read, &m, &err) == ABUT_OK);
        if (err.code) printf("# form %d: %s\n", form, err.msg);
        CHECK(same_points(&m));
        CHECK(m.nt == 2 && !memcmp(m.tet, TET, sizeof TET));
        CHECK(m.nf == 0);
        abut_mesh_clear(&m);
    }
}

#define VTK "# vtk DataFile Version 2.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK_POINTS "POINTS 5 float\n0 0 0 1 0 0 1 1 0 0 1 0 0 0 1\n"

TEST(vtk_has_cells_of_every_dimension_and_points_of_every_number_type)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!read_text(abut_vtk_read, VTK "points 7 FLOAT\n0 0 0 1 0 0 1 1 0 0 1 0 0 0 5 1 0 5 9 9 9\n"
                     "CELLS 3 10\n4 0 1 2 3\n2 4 5\n1 6\n"
                     "CELL_TYPES 3\n9 3 1", &m, &err));
    if (err.code) printf("# %s\n", err.msg);
    CHECK(m.nv == 7 && m.nf == 2 && m.ns == 1 && m.np == 1 && m.nt == 0);
    CHECK(m.nf == 2 && !memcmp(m.tri, (int32_t[6]){ 0, 1, 2, 0, 2, 3 }, 6 * sizeof *m.tri));
    CHECK(m.seg[0] == 4 && m.seg[1] == 5 && m.point[0] == 6);
    abut_mesh_clear(&m);
    static const char *const name[] = { "char", "unsigned_char", "short", "unsigned_short", "int", "unsigned_int", "long",
                                        "unsigned_long", "float", "double" };
    static const int size[] = { 1, 1, 2, 2, 4, 4, 8, 8, 4, 8 };
    for (int t = 0; t < 10; t++) {
        used = 0;
        text("# vtk DataFile Version 4.2\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 %s\n", name[t]);
        swapped = 1;
        for (int k = 0; k < 3; k++) {
            const double d = k + 1;
            const float f = (float)d;
            const int64_t i = k + 1;
            if (t >= 8) raw(t == 8 ? (const void *)&f : &d, (size_t)size[t]);
            else raw(&i, (size_t)size[t]);
        }
        text("CELLS 1 2\n"), raw_i32(1), raw_i32(0), text("CELL_TYPES 1\n"), raw_i32(1);
        swapped = 0;
        CHECK(!read_file(abut_vtk_read, &m, &err) && m.nv == 1 && m.np == 1 && m.x[0] == 1 && m.x[1] == 2 && m.x[2] == 3);
        abut_mesh_clear(&m);
    }
}

TEST(vtk_errors_name_the_line_the_cell_and_what_was_expected)
{
    CHECK(refused(abut_vtk_read, "hello\n", "test.file:1: not a legacy VTK file"));
    CHECK(refused(abut_vtk_read, "# vtk DataFile Version 6.0\n", "VTK version 6: expected 1.0 to 5.1"));
    CHECK(refused(abut_vtk_read, "# vtk DataFile Version 2.0\nt\nXML\n", "test.file:3: 'XML': expected ASCII or BINARY"));
    CHECK(refused(abut_vtk_read, "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\n", "data set 'POLYDATA'"));
    CHECK(refused(abut_vtk_read, VTK "POINTS 2000000000 float\n0 0 0\n",
                  "6000000000 coordinates of points are announced, but only"));
    CHECK(refused(abut_vtk_read, VTK "POINTS 1 bit\n0 0 0\n", "test.file:5: data type 'bit'"));
    CHECK(refused(abut_vtk_read, VTK "POINTS 1 float\n0 inf 0\n", "test.file:6: a coordinate of a point is 'inf'"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS, "the file has no CELLS"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 4\n", "the file has no CELL_TYPES"));
    CHECK(refused(abut_vtk_read, VTK "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n", "the file has no POINTS"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 1 9\n8 0 1 2 3 4 0 1 2\nCELL_TYPES 1\n12\n",
                  "test.file:10: cell 0 has type 12 (hexahedron)"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 1 7\n6 0 1 2 3 4 0\nCELL_TYPES 1\n13\n", "type 13 (wedge)"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 1 7\n6 0 1 2 3 4 0\nCELL_TYPES 1\n99\n", "type 99 (unknown)"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n",
                  "cell 0, a tet, has 3 points: expected 4"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 1 6\n4 0 1 2 4 9\nCELL_TYPES 1\n10\n",
                  "CELLS announces 6 numbers and its 1 cell has 5"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 2 5\n4 0 1 2 4\nCELL_TYPES 2\n10 10\n", "the number of points of a cell"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 2\n10 10\n",
                  "2 cell types: expected one for each of 1"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 7\nCELL_TYPES 1\n10\n",
                  "test.file:8: a point of a cell is '7': expected an integer from 0 to 4"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS "CELL_TYPES 1\n10\n", "CELL_TYPES before CELLS"));
    CHECK(refused(abut_vtk_read, VTK VTK_POINTS VTK_POINTS, "a second POINTS"));
    CHECK(refused(abut_vtk_read, VTK "SCALARS a\n", "test.file:5: 'SCALARS': expected POINTS"));
    CHECK(refused(abut_vtk_read, "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" VTK_POINTS
                  "CELLS 2 4\nOFFSETS vtktypeint64\n0 3\nCONNECTIVITY vtktypeint64\n0 1 2 4\nCELL_TYPES 1\n10\n",
                  "OFFSETS are from 0 to 3: expected 0 to 4"));
    CHECK(refused(abut_vtk_read, "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" VTK_POINTS
                  "CELLS 3 4\nOFFSETS vtktypeint64\n0 4 3\nCONNECTIVITY vtktypeint64\n0 1 2 4\nCELL_TYPES 2\n10 10\n",
                  "OFFSETS decrease behind cell 1"));
}
