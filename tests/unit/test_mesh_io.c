/* Mesh readers: every form of every format gives the same mesh; hostile files give an error or a mesh, never a crash. */
#include "mesh_files.h"

#include "base/rng.h"
#include "formats/mesh/mesh_io.h"

/* ---- Gmsh ---- */

static void msh2(int binary)
{
    const int32_t one = 1;
    used = 0;
    text("$MeshFormat\n2.2 %d 8\n", binary);
    if (binary) raw(&one, 4), text("\n");
    text("$EndMeshFormat\n$Nodes\n5\n");
    for (int i = 0; i < 5; i++) {
        const int tag = 100 - 7 * i;    /* descending, with gaps */
        if (binary) {
            raw_i32(tag);
            for (int k = 0; k < 3; k++) raw(&X[i][k], 8);
        } else {
            text("%d %.17g %.17g %.17g\n", tag, X[i][0], X[i][1], X[i][2]);
        }
    }
    text(binary ? "\n$EndNodes\n$Elements\n3\n" : "$EndNodes\n$Elements\n3\n");
    /* a boundary triangle with two tags, then two tets */
    if (binary) raw_i32(2), raw_i32(1), raw_i32(2), raw_i32(1), raw_i32(7), raw_i32(7);
    else text("1 2 2 7 7");
    for (int k = 0; k < 3; k++) {
        if (binary) raw_i32(100 - 7 * TRI[0][k]);
        else text(" %d", 100 - 7 * TRI[0][k]);
    }
    if (binary) raw_i32(4), raw_i32(2), raw_i32(0);
    for (int t = 0; t < 2; t++) {
        if (binary) raw_i32(t + 2);
        else text("\n%d 4 0", t + 2);
        for (int k = 0; k < 4; k++) {
            if (binary) raw_i32(100 - 7 * TET[t][k]);
            else text(" %d", 100 - 7 * TET[t][k]);
        }
    }
    text("\n$EndElements\n");
}

static void msh4(int binary)
{
    const int32_t one = 1;
    used = 0;
    text("$MeshFormat\n4.1 %d 8\n", binary);
    if (binary) raw(&one, 4), text("\n");
    text("$EndMeshFormat\n$Comments\nany text\n$EndComments\n$Nodes\n");
    put_int(binary, 2, 8), put_int(binary, 5, 8), put_int(binary, 1, 8), put_int(binary, 5, 8);
    for (int b = 0; b < 2; b++) {       /* two points on a parametric curve, three in the volume */
        const int lo = b ? 2 : 0, hi = b ? 5 : 2;
        put_int(binary, b ? 3 : 1, 4), put_int(binary, 1, 4), put_int(binary, !b, 4), put_int(binary, hi - lo, 8);
        for (int i = lo; i < hi; i++) put_int(binary, i + 1, 8);
        for (int i = lo; i < hi; i++)
            for (int k = 0; k < (b ? 3 : 4); k++) {
                const double v = k < 3 ? X[i][k] : 0.5;
                if (binary) raw(&v, 8);
                else text("%.17g ", v);
            }
    }
    text("\n$EndNodes\n$Elements\n");
    put_int(binary, 2, 8), put_int(binary, 3, 8), put_int(binary, 1, 8), put_int(binary, 3, 8);
    put_int(binary, 2, 4), put_int(binary, 1, 4), put_int(binary, 2, 4), put_int(binary, 1, 8), put_int(binary, 1, 8);
    for (int k = 0; k < 3; k++) put_int(binary, TRI[0][k] + 1, 8);
    put_int(binary, 3, 4), put_int(binary, 1, 4), put_int(binary, 4, 4), put_int(binary, 2, 8);
    for (int t = 0; t < 2; t++) {
        put_int(binary, t + 2, 8);
        for (int k = 0; k < 4; k++) put_int(binary, TET[t][k] + 1, 8);
    }
    text("\n$EndElements\n");
}

/* Version 4.0: tags before dimensions, each node's tag before its point, tags of 4 bytes. */
static void msh40(int binary)
{
    const int32_t one = 1;
    used = 0;
    text("$MeshFormat\n4 %d 8\n", binary);
    if (binary) raw(&one, 4), text("\n");
    text("$EndMeshFormat\n$Nodes\n");
    put_int(binary, 3, 8), put_int(binary, 5, 8);
    for (int b = 0; b < 3; b++) {       /* two points on a parametric curve, one on a surface, two in the volume, marked too */
        const int lo = b ? b + 1 : 0, hi = b == 2 ? 5 : b + 2, dim = b + 1;
        put_int(binary, 9, 4), put_int(binary, dim, 4), put_int(binary, 1, 4), put_int(binary, hi - lo, 8);
        for (int i = lo; i < hi; i++) {
            put_int(binary, 50 - 3 * i, 4);
            for (int k = 0; k < (dim < 3 ? 3 + dim : 3); k++) {
                const double v = k < 3 ? X[i][k] : 0.5;
                if (binary) raw(&v, 8);
                else text("%.17g ", v);
            }
        }
    }
    text("\n$EndNodes\n$Elements\n");
    put_int(binary, 2, 8), put_int(binary, 3, 8);
    put_int(binary, 9, 4), put_int(binary, 2, 4), put_int(binary, 2, 4), put_int(binary, 1, 8), put_int(binary, 1, 4);
    for (int k = 0; k < 3; k++) put_int(binary, 50 - 3 * TRI[0][k], 4);
    put_int(binary, 9, 4), put_int(binary, 3, 4), put_int(binary, 4, 4), put_int(binary, 2, 8);
    for (int t = 0; t < 2; t++) {
        put_int(binary, t + 2, 4);
        for (int k = 0; k < 4; k++) put_int(binary, 50 - 3 * TET[t][k], 4);
    }
    text("\n$EndElements\n");
}

TEST(msh_2_and_4_text_and_binary_of_both_byte_orders_give_one_mesh)
{
    for (int form = 0; form < 9; form++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        swapped = form % 3 == 2;
        if (form < 3) msh2(form % 3 > 0);
        else if (form < 6) msh4(form % 3 > 0);
        else msh40(form % 3 > 0);
        swapped = 0;
        CHECK(read_file(abut_msh_read, &m, &err) == ABUT_OK);
        if (err.code) printf("# form %d: %s\n", form, err.msg);
        CHECK(same_points(&m));
        CHECK(m.nt == 2 && !memcmp(m.tet, TET, sizeof TET));
        CHECK(m.nf == 0);               /* the triangle only marks the boundary */
        abut_mesh_clear(&m);
    }
}

TEST(msh_has_elements_of_every_dimension_and_quads_are_two_triangles)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    const char *const mixed = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n9\n10 0 0 0\n20 1 0 0\n30 1 1 0\n40 0 1 0\n"
                             "50 5 0 0\n60 6 0 0\n70 7 0 0\n80 8 0 0\n90 9 0 0\n$EndNodes\n$Elements\n4\n"
                             "1 3 0 10 20 30 40\n2 1 0 50 60\n3 15 0 90\n4 2 0 60 70 80\n$EndElements\n";
    CHECK(!read_text(abut_msh_read, mixed, &m, &err));
    CHECK(m.nv == 9 && m.nf == 3 && m.ns == 1 && m.np == 1 && m.nt == 0);
    CHECK(!memcmp(m.tri, (int32_t[9]){ 0, 1, 2, 0, 2, 3, 5, 6, 7 }, 9 * sizeof *m.tri));
    CHECK(m.seg[0] == 4 && m.seg[1] == 5 && m.point[0] == 8);
    abut_mesh_clear(&m);
}

/* One tet of each order with nodes 1, 2, ... on its lattice, behind elements that mark its boundary. */
TEST(t19_msh_has_tets_of_order_1_to_4_in_the_order_of_nodes_of_the_lattice)
{
    static const int type[] = { 0, 4, 11, 29, 30 }, segment[] = { 0, 1, 8, 26, 27 }, triangle[] = { 0, 2, 9, 21, 23 };
    for (int k = 1; k <= 4; k++) {
        char text[8000];
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        const int n = abut_tet_nodes(k), nt = abut_triangle_nodes(k);
        int at = sprintf(text, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", n);
        for (int i = 0; i < n; i++) {
            const signed char *a = abut_tet_lattice(k)[i];
            at += sprintf(text + at, "%d %d %d %d\n", i + 1, a[1], a[2], a[3]);
        }
        at += sprintf(text + at, "$EndNodes\n$Elements\n3\n1 %d 0", segment[k]);
        for (int i = 1; i <= k + 1; i++) at += sprintf(text + at, " %d", i);
        at += sprintf(text + at, "\n2 %d 0", triangle[k]);
        for (int i = 1; i <= nt; i++) at += sprintf(text + at, " %d", i);
        at += sprintf(text + at, "\n3 %d 0", type[k]);
        for (int i = 1; i <= n; i++) at += sprintf(text + at, " %d", i);
        sprintf(text + at, "\n$EndElements\n");
        CHECK(!read_text(abut_msh_read, text, &m, &err));
        if (err.code) printf("# %s\n", err.msg);
        CHECK(m.nt == 1 && m.nf == 0 && m.ns == 0 && m.nv == n && abut_mesh_order(&m) == k);
        for (int i = 0; i < n && m.nt; i++) {
            int32_t node[ABUT_TET_NODES_MAX];
            abut_mesh_tet_nodes(&m, 0, node);
            CHECK(node[i] == i && m.x[3 * i] == abut_tet_lattice(k)[i][1]);
        }
        abut_mesh_clear(&m);
    }
}

TEST(msh_errors_name_the_line_and_what_was_expected)
{
    CHECK(refused(abut_msh_read, "hello\n", "test.file:1: not a Gmsh file"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n3.0 0 8\n", "test.file:2: MSH version 3: expected 2.2, 4.0 or 4.1"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 nan 0\n$EndNodes\n",
                  "test.file:6: a node's coordinate is 'nan': expected a finite number"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2000000000\n1 0 0 0\n",
                  "2000000000 nodes are announced, but only"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n"
                  "1 31 0 1 1 1 1 1 1 1 1 1 1\n", "tet of order 5"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n"
                  "1 4 0 1 2 3 4\n", "test.file:10: an element names node 2"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n3 0 0 0\n3 1 0 0\n$EndNodes\n",
                  "node tag 3 is used twice"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Foo\n", "section $Foo has no $EndFoo"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "no $Elements"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n1 2\n1 3 0 1\n1 0 0 0\n$EndNodes\n",
                  "$Nodes announces 2 nodes and holds 1"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n1 1\n1 3 0 1\n1 0 0 0\n$EndNodes\n$Elements\n1 1\n"
                  "1 3 5 1\n1 1 1 1 1 1 1 1 1\n", "test.file:11: element type 5 (hexahedron)"));
    CHECK(refused(abut_msh_read, "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n1 1\n1 4 0 1\n1 0 0 0\n$EndNodes\n",
                  "the entity dimension is '4'"));
}

/* ---- OBJ ---- */

TEST(obj_reads_polygons_lines_points_and_negative_indices)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!read_text(abut_obj_read,
                     "# c\nmtllib a.mtl\nv 0 0 0\r\nv 1 0 0\nv 1 1 0\nv 0 1 0 1.0\nvt 0 0\nf 1/1 2/1/3 3//2 -1 # quad\n"
                     "l 1 2 \\\n 3\np 4\nv 5 5 5",
                     &m, &err));
    if (err.code) printf("# %s\n", err.msg);
    CHECK(m.nv == 5 && m.nf == 2 && m.ns == 2 && m.np == 1);
    CHECK(m.nf == 2 && !memcmp(m.tri, (int32_t[]){ 0, 1, 2, 0, 2, 3 }, 6 * sizeof *m.tri));
    CHECK(m.ns == 2 && !memcmp(m.seg, (int32_t[]){ 0, 1, 1, 2 }, 4 * sizeof *m.seg));
    CHECK(m.np == 1 && m.point[0] == 3);
    abut_mesh_clear(&m);
    CHECK(!read_text(abut_obj_read, "v 0 0 0", &m, &err));
    CHECK(m.nv == 1 && m.np == 1);
    abut_mesh_clear(&m);
}

TEST(obj_errors_name_the_line)
{
    CHECK(refused(abut_obj_read, "v 0 0 0\nf 1 2 3\n", "test.file:2: vertex index 2: the file has 1 vertex"));
    CHECK(refused(abut_obj_read, "v 0 0 0\nf 1 0 3\n", "test.file:2: vertex index 0"));
    CHECK(refused(abut_obj_read, "v 0 0 0\nf 1 -2 3\n", "test.file:2: a vertex index is '-2'"));
    CHECK(refused(abut_obj_read, "v 0 0\n", "test.file:1: z of a vertex is missing"));
    CHECK(refused(abut_obj_read, "v 0 0 1e999\n", "expected a finite number"));
    CHECK(refused(abut_obj_read, "v 0 0 0\nf 1 1 1\n", "names point 0 twice"));
    CHECK(refused(abut_obj_read, "v 0 0 0\nf 1 1\n", "test.file:2: 'f' with 2 vertices"));
    CHECK(refused(abut_obj_read, "curv 0 0\n", "expected v, f, l, p"));
    CHECK(refused(abut_obj_read, "", "no vertex"));
}

/* ---- PLY ---- */

static void ply_file(int form)          /* 0 text, 1 little, 2 big; vertices as doubles after a byte, faces as a list of int */
{
    static const char *const name[] = { "ascii", "binary_little_endian", "binary_big_endian" };
    used = 0;
    text("ply\nformat %s 1.0\ncomment c\nelement vertex 5\nproperty uchar red\nproperty double x\nproperty double y\n"
         "property double z\nelement face 2\nproperty list uchar int vertex_indices\nproperty float q\n"
         "element edge 1\nproperty int vertex1\nproperty ushort vertex2\nend_header\n", name[form]);
    swapped = form == 2;
    for (int i = 0; i < 5; i++) {
        if (!form) text("9 %.17g %.17g %.17g\n", X[i][0], X[i][1], X[i][2]);
        else text("%c", 9), raw(&X[i][0], 8), raw(&X[i][1], 8), raw(&X[i][2], 8);
    }
    if (!form) text("3 0 1 2 0.5\n4 0 2 4 3 0.5\n3 4\n");
    else {
        const uint16_t four = 4;
        text("%c", 3), raw_i32(0), raw_i32(1), raw_i32(2), raw_f32(0.5f);
        text("%c", 4), raw_i32(0), raw_i32(2), raw_i32(4), raw_i32(3), raw_f32(0.5f);
        raw_i32(3), raw(&four, 2);
    }
    swapped = 0;
}

TEST(ply_text_and_both_binary_forms_give_one_mesh)
{
    for (int form = 0; form < 3; form++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        ply_file(form);
        CHECK(!read_file(abut_ply_read, &m, &err));
        if (err.code) printf("# form %d: %s\n", form, err.msg);
        CHECK(same_points(&m));
        CHECK(m.nf == 3 && !memcmp(m.tri, (int32_t[]){ 0, 1, 2, 0, 2, 4, 0, 4, 3 }, 9 * sizeof *m.tri));
        CHECK(m.ns == 1 && m.seg[0] == 3 && m.seg[1] == 4);
        abut_mesh_clear(&m);
    }
}

TEST(ply_without_faces_is_a_cloud_of_points)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!read_text(abut_ply_read, "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                     "property float z\nend_header\n0 0 0\n1 0 0\n0 2 0\n", &m, &err));
    CHECK(m.nv == 3 && m.np == 3 && m.nf == 0);
    for (int i = 0; i < m.np; i++) CHECK(m.point[i] == i);
    abut_mesh_clear(&m);
}

TEST(ply_takes_numbers_of_every_type)
{
    static const char *const type[3][2] = { { "char", "uint" }, { "short", "ushort" }, { "int16", "uint32" } };
    for (int k = 0; k < 3; k++)
        for (int big = 0; big < 2; big++) {
            abut_mesh m = { 0 };
            abut_err err = { 0 };
            const int one = 1, is_little = *(const char *)&one == 1;
            used = 0;
            swapped = big == is_little;
            text("ply\nformat binary_%s_endian 1.0\nelement vertex 3\nproperty %s x\nproperty %s y\nproperty float z\n"
                 "element face 1\nproperty list uchar %s vertex_indices\nend_header\n", big ? "big" : "little", type[k][0],
                 type[k][0], type[k][1]);
            for (int i = 0; i < 3; i++) {
                const int8_t small[2] = { (int8_t)(i - 1), (int8_t)(-100 * i + 100) };
                const int16_t large[2] = { (int16_t)(i - 1), (int16_t)(-300 * i) };
                for (int d = 0; d < 2; d++) raw(k ? (const void *)&large[d] : &small[d], k ? 2 : 1);
                raw_f32((float)i);
            }
            const uint8_t three = 3;
            raw(&three, 1);
            for (int i = 0; i < 3; i++) {
                const uint32_t wide = (uint32_t)i;
                const uint16_t narrow = (uint16_t)i;
                raw(k == 1 ? (const void *)&narrow : &wide, k == 1 ? 2 : 4);
            }
            CHECK(!read_file(abut_ply_read, &m, &err) && m.nv == 3 && m.nf == 1);
            for (int i = 0; i < m.nv; i++) {
                CHECK(m.x[3 * i] == i - 1 && m.x[3 * i + 1] == (k ? -300 * i : -100 * i + 100) && m.x[3 * i + 2] == i);
                CHECK(m.tri[i] == i);
            }
            abut_mesh_clear(&m);
        }
    swapped = 0;
}

TEST(ply_errors_name_the_line_or_byte)
{
#define HEAD "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
    CHECK(refused(abut_ply_read, "plx\n", "test.file:1: not a PLY file"));
    CHECK(
        refused(abut_ply_read, "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n", "lacks x, y or z"));
    CHECK(refused(abut_ply_read, HEAD "end_header\n0 0\n", "a property is missing"));
    CHECK(refused(abut_ply_read, HEAD "end_header\n0 0 inf\n", "test.file:8: a property is 'inf'"));
    CHECK(refused(abut_ply_read, HEAD "element face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n3 0 0 1\n",
                  "test.file:11: a vertex index is 1: expected an integer from 0 to 0"));
    CHECK(refused(abut_ply_read, HEAD "element face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n3 0 1.5 1\n",
                  "test.file:11: a vertex index is 1.5"));
    CHECK(refused(abut_ply_read, HEAD "element edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n0 0 0\n0 -1\n",
                  "test.file:12: vertex2 is -1: expected an integer from 0 to 0"));
    /* faces may come before the points that the head announces */
    CHECK(refused(abut_ply_read, "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_index\nelement vertex 3\n"
                  "property float x\nproperty float y\nproperty float z\nend_header\n3 0 1 3\n0 0 0\n1 0 0\n0 1 0\n",
                  "test.file:10: a vertex index is 3: expected an integer from 0 to 2"));
    CHECK(refused(abut_ply_read, "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty char x\nproperty char y\n"
                  "property char z\nelement face 2\nproperty list uchar uchar vertex_index\nend_header\n"
                  "ABCDEFGHI\3abc\3ddd", "test.file: byte 176, row 0 of its element: a vertex index is 97: expected an integer "
                  "from 0 to 2"));
    CHECK(refused(abut_ply_read, "ply\nformat binary_little_endian 1.0\nelement vertex 1000000\nproperty float x\n"
                  "property float y\nproperty float z\nend_header\nabc", "1000000 elements are announced"));
    CHECK(refused(abut_ply_read, "ply\nend_header\n", "no format line"));
    CHECK(refused(abut_ply_read, HEAD, "no end_header"));
    CHECK(refused(abut_ply_read, "ply\nformat ascii 1.0\nelement vertex 1\nproperty list uchar float x\n",
                  "test.file:4: coordinates are numbers and faces are lists"));
#undef HEAD
}

/* ---- STL ---- */

static void stl_file(int binary)
{
    used = 0;
    if (binary) {
        char head[80] = "solid is a word binary files use too";
        for (int i = 0; i < 80; i++) text("%c", head[i] ? head[i] : ' ');
        raw_i32(4);
    } else {
        text("solid a name\n");
    }
    for (int t = 0; t < 4; t++) {
        if (binary) raw_f32(0), raw_f32(0), raw_f32(0);
        else text("facet normal 0 0 0\n outer loop\n");
        for (int k = 0; k < 3; k++) {
            const double *x = X[TRI[t][k]];
            if (binary) raw_f32((float)x[0]), raw_f32((float)x[1]), raw_f32((float)x[2]);
            else text("  vertex %g %g %g\n", x[0], x[1], x[2]);
        }
        if (binary) file[used] = file[used + 1] = 0, used += 2;
        else text(" endloop\nendfacet\n");
    }
    if (!binary) text("endsolid a name\n");
}

TEST(stl_text_and_binary_merge_equal_corners_in_order_of_first_use)
{
    static const int32_t want[12] = { 0, 1, 2, 0, 2, 3, 2, 1, 3, 0, 3, 1 };     /* points 0 2 1 3 of X */
    for (int binary = 0; binary < 2; binary++) {
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        stl_file(binary);
        CHECK(!read_file(abut_stl_read, &m, &err));
        if (err.code) printf("# %s\n", err.msg);
        CHECK(m.nv == 4 && m.nf == 4 && !memcmp(m.tri, want, sizeof want));
        CHECK(m.nv == 4 && !memcmp(m.x + 3, X[2], 24) && !memcmp(m.x + 6, X[1], 24));
        abut_mesh_clear(&m);
    }
    CHECK(refused(abut_stl_read, "solid a\nfacet normal 0 0 0\nouter loop\nvertex 0 0 nan\n",
                  "test.file:4: a coordinate is 'nan'"));
    CHECK(refused(abut_stl_read, "solid a\n", "without endsolid"));
    CHECK(refused(abut_stl_read, "solid a\nendsolid\n", "no triangle"));
    CHECK(refused(abut_stl_read, "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
                  "endfacet\nendsolid a\nsolid b\n", "more text after endsolid: expected one solid"));
}

/* ---- TetGen, segments, points ---- */

static abut_status pair(const char *node, const char *ele, abut_mesh *m, abut_err *err)
{
    abut_bytes a = { 0 }, b = { 0 };
    abut_status rc = bytes_copy("a.node", node, strlen(node), &a, err);
    if (!rc) rc = bytes_copy("a.ele", ele, strlen(ele), &b, err);
    if (!rc) rc = abut_tetgen_files_read(&a, &b, m, err);
    abut_bytes_clear(&a);
    abut_bytes_clear(&b);
    return rc;
}

TEST(tetgen_files_count_from_0_or_1_and_come_out_positive)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!pair("# c\n4 3 1 1\n1 0 0 0 9 0\n2 1 0 0 9 0 # c\n3 0 1 0 9 0\n4 0 0 1 9 0\n", "1 4 1\n1 1 2 4 3 5\n", &m, &err));
    CHECK(m.nv == 4 && m.nt == 1 && !memcmp(m.tet, (int32_t[]){ 0, 1, 2, 3 }, 16));
    abut_mesh_clear(&m);
    CHECK(!pair("4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "1 4 0\n0 0 1 2 3\n", &m, &err));
    CHECK(m.nt == 1 && !memcmp(m.tet, (int32_t[]){ 0, 1, 2, 3 }, 16));
    abut_mesh_clear(&m);
    for (int k = 0; k < 256; k++) {             /* every order of the corners */
        const int v[4] = { k & 3, k >> 2 & 3, k >> 4 & 3, k >> 6 };
        if ((1 << v[0] | 1 << v[1] | 1 << v[2] | 1 << v[3]) != 15) continue;
        char ele[40];
        snprintf(ele, sizeof ele, "1 4 0\n0 %d %d %d %d\n", v[0], v[1], v[2], v[3]);
        CHECK(!pair("4 3 0 0\n0 5 1 2\n1 6 1 2\n2 5 2 2\n3 5 1 3\n", ele, &m, &err) && m.nt == 1);
        int swaps = 0;                          /* an even permutation of what is positive */
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) swaps += m.tet[j] > m.tet[i];
        CHECK(swaps % 2 == 0);
        abut_mesh_clear(&m);
    }
    CHECK(pair("4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "1 4 0\n0 0 1 2 4\n", &m, &err) == ABUT_E_FORMAT);
    CHECK(strstr(err.msg, "a.ele:2: a tet's point is '4': expected an integer from 0 to 3"));
    CHECK(pair("2 3 0 0\n1 0 0 0\n3 1 0 0\n", "1 4 0\n0 0 1 2 4\n", &m, &err) == ABUT_E_FORMAT);
    CHECK(strstr(err.msg, "a.node:3: a point's number is '3'"));
}

TEST(segment_and_point_files)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(!read_text(abut_seg_read, "v 0 0 0\nv 1 0 0\r\ns 1 2", &m, &err));
    CHECK(m.nv == 2 && m.ns == 1 && m.seg[0] == 0 && m.seg[1] == 1);
    abut_mesh_clear(&m);
    CHECK(!read_text(abut_pt_read, "# points\nv 0 0 0\n1 2 3\n", &m, &err));
    CHECK(m.nv == 2 && m.np == 2 && m.x[5] == 3);
    abut_mesh_clear(&m);
    CHECK(refused(abut_seg_read, "v 0 0 0\nv 1 0 0\ns 1 3\n", "test.file:3: a segment's vertex is '3'"));
    CHECK(refused(abut_seg_read, "v 0 0 0 7\n", "test.file:1: '7' at the end of the line"));
    CHECK(refused(abut_seg_read, "v 0 0 0\nv 1 0 0\ns 1 1\n", "segment 0 names point 0 twice"));
    CHECK(refused(abut_pt_read, "s 1 2\n", "a coordinate is 's'"));
    CHECK(refused(abut_seg_read, "v 0 0 0\nl 1 2\n", "test.file:2: 'l': expected v or s"));
}

TEST(an_unknown_extension_or_a_missing_file_is_named)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    CHECK(abut_mesh_load("a/b.xyz", &m, &err) == ABUT_E_FORMAT && strstr(err.msg, "a/b.xyz: expected a mesh file"));
    CHECK(abut_mesh_load("no/such.obj", &m, &err) == ABUT_E_FORMAT && strstr(err.msg, "no/such.obj: No such file"));
}

/* ---- hostile input ---- */

TEST(a_file_cut_at_any_byte_or_with_random_bytes_never_crashes_a_reader)
{
    static char good[sizeof file];
    abut_rng rng = { 7 };
    for (int form = 0; form < 15; form++) {
        reader *read = form < 4 || form > 12 ? abut_msh_read
                       : form < 7            ? abut_ply_read
                       : form < 9            ? abut_stl_read
                                             : abut_vtk_read;
        if (form < 2) msh2(form);
        else if (form < 4) msh4(form - 2);
        else if (form > 12) msh40(form - 13);
        else if (form > 8) vtk_file(form & 1, form > 10 ? 5 : 3);
        else if (form < 7) ply_file(form - 4);
        else stl_file(form - 7);
        const size_t size = used;
        memcpy(good, file, size);
        abut_mesh m = { 0 }, full = { 0 };
        CHECK(!read_file(read, &full, NULL));
        for (size_t cut = 0; cut < size; cut++) {
            used = cut;
            if (read_file(read, &m, NULL)) continue;
            /* accepted: only an end without geometry is missing */
            CHECK(m.nv == full.nv && m.nt == full.nt && m.nf == full.nf && m.ns == full.ns && size - cut < 10);
            abut_mesh_clear(&m);
        }
        abut_mesh_clear(&full);
        for (int i = 0; i < 1500; i++) {
            memcpy(file, good, size);
            used = size;
            for (int k = 0; k <= i % 3; k++) file[abut_rng_below(&rng, (uint32_t)size)] = (char)abut_rng_below(&rng, 256);
            if (!read_file(read, &m, NULL)) CHECK(!abut_mesh_check(&m, NULL));
            abut_mesh_clear(&m);
        }
    }
}

/* ---- the mesh itself ---- */

TEST(a_mirroring_transform_keeps_tets_positive_and_triangles_outward)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    for (int i = 0; i < 5; i++) CHECK(!abut_mesh_add_vertex(&m, X[i], &err));
    CHECK(!abut_mesh_add_tet(&m, 0, 1, 2, 3, &err));
    CHECK(!abut_mesh_add_tri(&m, 0, 2, 1, &err));
    const double A[9] = { -2, 0, 0, 0, 1, 0, 0, 0, 1 }, b[3] = { 1, 2, 3 };
    abut_mesh_transform(&m, A, b);
    CHECK(!memcmp(m.tet, (int32_t[]){ 0, 1, 3, 2 }, 16) && !memcmp(m.tri, (int32_t[]){ 0, 1, 2 }, 12));
    CHECK(m.x[3] == -1 && m.x[4] == 2 && m.x[5] == 3.5);
    double lo[3], hi[3];
    abut_mesh_bounds(&m, lo, hi);
    CHECK(lo[0] == -2 && hi[0] == 1 && lo[1] == 2 && hi[1] == 3);
    abut_mesh_clear(&m);
}

TEST(appending_shifts_the_indices)
{
    abut_mesh a = { 0 }, b = { 0 };
    abut_err err = { 0 };
    for (int i = 0; i < 4; i++) CHECK(!abut_mesh_add_vertex(&a, X[i], &err));
    CHECK(!abut_mesh_add_tet(&a, 0, 1, 2, 3, &err));
    CHECK(!abut_mesh_append(&b, &a, &err) && !abut_mesh_append(&b, &a, &err));
    CHECK(b.nv == 8 && b.nt == 2 && !memcmp(b.tet, (int32_t[]){ 0, 1, 2, 3, 4, 5, 6, 7 }, 32));
    abut_mesh_clear(&a);
    abut_mesh_clear(&b);
}

/* messages name exactly the readable mesh formats, of all extensions of up to four letters */
TEST(the_kinds_of_mesh_files_are_those_that_messages_name)
{
    int known = 0, named = 0;
    for (const char *p = ABUT_MESH_KINDS; *p; p++) named += *p == '.';
    for (int k = 1; k < 27 * 27 * 27 * 27; k++) {
        char name[8] = "a.", said[8];
        int n = 2, rest = k;
        for (; rest % 27; rest /= 27) name[n++] = (char)('a' - 1 + rest % 27);
        if (rest || !abut_mesh_is_file(name)) continue;
        snprintf(said, sizeof said, "%s ", name + 1);
        CHECK(strstr(ABUT_MESH_KINDS " ", said) != NULL);
        known++;
    }
    CHECK(known == named);
}
