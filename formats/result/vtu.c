/* VTK unstructured grids for ParaView: one .vtu per frame and kind of body, and scene.pvd that puts them in time.
 *
 * DIR/solids_0012.vtu   tets: points with displacement, velocity, contact_force, object, node;
 *                       cells with J, von_mises_stress, material, tet; and cauchy_stress and deformation_gradient, [9] row
 *                       major, where the fields F and sigma are there
 * DIR/others_0012.vtu   triangles, segments, isolated points of objects without tets (obstacles)
 * DIR/contacts_0012.vtu  hard contacts as points, of frames that have the table touch/: normal, impulse, mu, state
 * The number is the frame's place in the stream.  Arrays of the stream that abut itself does not know are written too,
 * under their names, when their first dimension is the number of nodes or of tets.  EXPORT.md has the details. */
#include "formats/result/results.h"

#include "base/arena.h"
#include "base/array.h"
#include "formats/stream/state_wire.h"
#include "model/model.h"
#include "model/naming.h"
#include "model/tets.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one DataArray: inline base64 of zlib blocks (vtkZLibDataCompressor, header of 64-bit counts) ---- */

enum { BLOCK = 1 << 17, LEVEL = 1 };

/* The blocks of the data, compressed and joined; head: count, size of a block, size of a partial last block, then the
 * compressed size of each. */
static abut_status compress_blocks(const uint8_t *data, size_t bytes, uint64_t *head, size_t blocks, uint8_t **joined,
                                   size_t *size, abut_err *err)
{
    size_t cap = bytes / 2 + BLOCK, n = 0;
    uint8_t *all = malloc(cap);
    if (!all) return abut_fail(err, ABUT_E_NOMEM, "no memory to compress %zu bytes", bytes);
    for (size_t b = 0; b < blocks; b++) {
        const size_t lo = b * BLOCK, len = bytes - lo < BLOCK ? bytes - lo : BLOCK;
        uint8_t *z;
        size_t nz;
        abut_status rc = abut_zlib_stream(data + lo, len, LEVEL, &z, &nz, err);
        if (!rc && !ABUT_GROW(all, n + nz, cap)) rc = abut_fail(err, ABUT_E_NOMEM, "no memory to compress %zu bytes", bytes);
        if (rc) {
            ABUT_FREE(all, z);
            return rc;
        }
        for (size_t i = 0; i < nz; i++) all[n + i] = z[i];
        free(z);
        n += nz;
        head[3 + b] = nz;
    }
    head[0] = blocks;
    head[1] = BLOCK;
    head[2] = bytes % BLOCK;
    *joined = all;
    *size = n;
    return ABUT_OK;
}

static const char *vtk_type(abut_dtype type)
{
    static const char *const name[] = { [ABUT_F64] = "Float64", [ABUT_F32] = "Float32", [ABUT_I32] = "Int32",
                                        [ABUT_I64] = "Int64", [ABUT_U8] = "UInt8", [ABUT_TEXT] = "UInt8" };
    return name[type];
}

/* text with the five characters of XML escaped */
static void xml_text(FILE *f, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '&': fputs("&amp;", f); break;
        case '"': fputs("&quot;", f); break;
        case '\'': fputs("&apos;", f); break;
        default: fputc(*text, f);
        }
}

/* Writes n rows of `width` numbers of that type.  Fails  ABUT_E_NOMEM; write errors stay with f */
static abut_status put_array(FILE *f, const char *name, abut_dtype type, const void *data, size_t n, size_t width, abut_err *err)
{
    const size_t bytes = n * width * abut_dtype_size(type), blocks = (bytes + BLOCK - 1) / BLOCK;
    uint64_t *head = calloc(3 + blocks, sizeof *head);
    uint8_t *joined = NULL;
    size_t size = 0;
    if (!head) return abut_fail(err, ABUT_E_NOMEM, "array %s: no memory", name);
    const abut_status rc = compress_blocks(data, bytes, head, blocks, &joined, &size, err);
    if (!rc) {
        fprintf(f, "<DataArray type=\"%s\" Name=\"", vtk_type(type));
        xml_text(f, name);
        fprintf(f, "\" NumberOfComponents=\"%zu\" format=\"binary\">\n", width);
        abut_base64(f, (const uint8_t *)head, (3 + blocks) * sizeof *head);
        abut_base64(f, joined, size);
        fputs("\n</DataArray>\n", f);
    }
    ABUT_FREE(head, joined);
    return rc;
}

/* The first lines of a file of that type ("UnstructuredGrid"). */
static void put_head(FILE *f, const char *type)
{
    fprintf(f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\"%s>\n",
            type, ABUT_HOST_BIG_ENDIAN ? "BigEndian" : "LittleEndian",
            strcmp(type, "Collection") ? " compressor=\"vtkZLibDataCompressor\"" : "");
}

/* ---- the part of a model in one file, and its elements as cells ---- */

/* Constant over the frames of a model; owns its arrays.  Zero-filled is empty. */
typedef struct vtu_grid {
    const char *stem;
    int32_t np, nc;
    int32_t *node, *lead;   /* [np] point of the model that each is, and the node that speaks for it */
    int64_t *conn, *offset; /* cells over the points */
    uint8_t *type;          /* [nc] */
    int32_t *row;           /* [nc] tet or shell of each cell; NULL in the grid of others */
} vtu_grid;

enum { VTK_VERTEX = 1, VTK_LINE = 3, VTK_TRIANGLE = 5, VTK_TETRA = 10, VTK_QUADRATIC_TETRA = 24, VTK_LAGRANGE_TETRAHEDRON = 71 };

static void grid_clear(vtu_grid *g)
{
    ABUT_FREE(g->node, g->lead, g->conn, g->offset, g->type, g->row);
    *g = (vtu_grid){ 0 };
}

static abut_status grid_room(vtu_grid *g, size_t points, size_t cells, size_t corners, abut_err *err)
{
    if (ABUT_ARRAYS(ABUT_ITEMS(g->node, points), ABUT_ITEMS(g->lead, points), ABUT_ITEMS(g->conn, corners),
                    ABUT_ITEMS(g->offset, cells), ABUT_ITEMS(g->type, cells), ABUT_ITEMS(g->row, cells))) return ABUT_OK;
    return abut_fail(err, ABUT_E_NOMEM, "no memory for a grid of %zu cells", cells);
}

static void add_cell(vtu_grid *g, int type, const int32_t *point, int n, int32_t first)
{
    int64_t at = g->nc ? g->offset[g->nc - 1] : 0;
    for (int k = 0; k < n; k++) g->conn[at++] = first + point[k];
    g->offset[g->nc] = at;
    g->type[g->nc++] = (uint8_t)type;
}

/* Elements of a model, of any number of nodes. */
typedef struct elements {
    int32_t n;
    int most;               /* nodes of one, at most */
    /* Nodes of element e in VTK's order, the first of them its first in the model; returns how many, and the type of the cell. */
    int (*read)(const abut_model *m, int32_t e, int32_t *node, int *type);
} elements;

static int read_shell(const abut_model *m, int32_t e, int32_t *node, int *type)
{
    *type = VTK_TRIANGLE;
    memcpy(node, m->shell + 3 * (size_t)e, 3 * sizeof *node);
    return 3;
}

/* VTK orders the edges of a tet 01, 12, 20, 03, 13, 23, and has orders of its own of faces and their nodes: VTK's node i is
 * node place[i] of ours, by order. */
static const signed char place2[] = { 0, 1, 2, 3, 4, 5, 6, 7, 9, 8 };
static const signed char place3[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10, 15, 14, 13, 12, 17, 19, 18, 16 };
static const signed char place4[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 15, 14, 13, 21, 20,
                                      19, 18, 17, 16, 25, 26, 27, 33, 31, 32, 28, 29, 30, 22, 23, 24, 34 };

static int read_tet(const abut_model *m, int32_t e, int32_t *node, int *type)
{
    static const signed char *const place[] = { NULL, NULL, place2, place3, place4 };
    int32_t ours[ABUT_TET_NODES_MAX];
    const int order = abut_tet_order(m, e), n = abut_tet_corners(m, e, ours);
    *type = order == 1 ? VTK_TETRA : order == 2 ? VTK_QUADRATIC_TETRA : VTK_LAGRANGE_TETRAHEDRON;
    for (int i = 0; i < n; i++) node[i] = ours[place[order] ? place[order][i] : i];
    return n;
}

/* Makes the grid of the elements of chosen objects, and their nodes. */
static abut_status make_elements(const abut_shot *s, const char *stem, elements all, vtu_grid *g, abut_err *err)
{
    const abut_model *m = s->model;
    int32_t *local = malloc(((size_t)m->nv + 1) * sizeof *local), node[ABUT_TET_NODES_MAX];
    abut_status rc = local ? grid_room(g, (size_t)m->nv, (size_t)all.n, (size_t)all.most * (size_t)all.n, err)
                           : abut_fail(err, ABUT_E_NOMEM, "no memory for a grid of %d points", m->nv);
    int type;
    g->stem = stem;
    if (!rc) {
        for (int32_t i = 0; i < m->nv; i++) local[i] = -1;
        for (int32_t e = 0; e < all.n; e++) {
            const int n = all.read(m, e, node, &type);
            for (int k = 0; k < n && s->parts->chosen[node[0]]; k++) local[node[k]] = 0;
        }
        for (int32_t i = 0; i < m->nv; i++)
            if (local[i] == 0) {
                local[i] = g->np;
                g->node[g->np] = g->lead[g->np] = i;
                g->np++;
            }
        for (int32_t e = 0; e < all.n; e++) {
            const int n = all.read(m, e, node, &type);
            if (!s->parts->chosen[node[0]]) continue;
            for (int k = 0; k < n; k++) node[k] = local[node[k]];
            g->row[g->nc] = e;
            add_cell(g, type, node, n, 0);
        }
    }
    free(local);
    return rc;
}

/* Makes the grid of the tets, or the shells, of chosen objects, and their nodes.  stem: borrowed.  Fails  ABUT_E_NOMEM */
static abut_status tet_grid(const abut_shot *s, const char *stem, vtu_grid *g, abut_err *err)
{
    const elements tets = { s->model->nt, abut_tet_nodes(abut_model_order(s->model)), read_tet };
    return make_elements(s, stem, tets, g, err);
}

static abut_status shell_grid(const abut_shot *s, const char *stem, vtu_grid *g, abut_err *err)
{
    return make_elements(s, stem, (elements){ s->model->nsh, 3, read_shell }, g, err);
}

static int32_t other_triangles(const abut_part *p) { return p->obstacle || p->proxy ? p->ntri : 0; }

/* Makes the grid of the rest: triangles of obstacles, and of contact surfaces that are no faces; segments, isolated points. */
static abut_status other_grid(const abut_shot *s, const char *stem, vtu_grid *g, abut_err *err)
{
    size_t np = 0, nc = 0;
    for (int32_t k = 0; k < s->parts->n; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!other_triangles(p) && !p->nseg && !p->npoint) continue;
        np += (size_t)p->nv;
        nc += (size_t)other_triangles(p) + (size_t)p->nseg + (size_t)p->npoint;
    }
    const abut_status rc = grid_room(g, np, nc, 3 * nc, err);
    g->stem = stem;
    if (rc) return rc;
    free(g->row);
    g->row = NULL;
    for (int32_t k = 0; k < s->parts->n; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!other_triangles(p) && !p->nseg && !p->npoint) continue;
        for (int32_t i = 0; i < other_triangles(p); i++) add_cell(g, VTK_TRIANGLE, p->tri + 3 * i, 3, g->np);
        for (int32_t i = 0; i < p->nseg; i++) add_cell(g, VTK_LINE, p->seg + 2 * i, 2, g->np);
        for (int32_t i = 0; i < p->npoint; i++) add_cell(g, VTK_VERTEX, p->point + i, 1, g->np);
        for (int32_t i = 0; i < p->nv; i++, g->np++) {
            g->node[g->np] = p->node[i];
            g->lead[g->np] = s->parts->lead[p->node[i]];
        }
    }
    return ABUT_OK;
}

/* ---- the table of hard contacts of a frame (touch/) as a grid of points ---- */

/* The head of a grid, up to its points; time in s. */
static void put_grid(FILE *f, double time, int32_t points, int32_t cells)
{
    put_head(f, "UnstructuredGrid");
    fprintf(f, "<UnstructuredGrid>\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<Points>\n",
            time, points, cells);
}

/* Cells over the points, and the data of the cells begin. */
static abut_status put_cells(FILE *f, const int64_t *conn, size_t corners, const int64_t *end, const uint8_t *type, size_t n,
                             abut_err *err)
{
    fputs("<Cells>\n", f);
    abut_status rc = put_array(f, "connectivity", ABUT_I64, conn, corners, 1, err);
    if (!rc) rc = put_array(f, "offsets", ABUT_I64, end, n, 1, err);
    if (!rc) rc = put_array(f, "types", ABUT_U8, type, n, 1, err);
    fputs("</Cells>\n", f);
    return rc;
}

/* A cell of one point for each contact. */
static abut_status put_vertices(FILE *out, size_t n, abut_err *err)
{
    int64_t *point = malloc((n + 1) * sizeof *point), *end = malloc((n + 1) * sizeof *end);
    uint8_t *type = malloc(n + 1);
    abut_status rc = point && end && type ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "no memory for %zu contacts", n);
    for (size_t i = 0; i < n && !rc; i++) point[i] = (int64_t)i, end[i] = (int64_t)i + 1, type[i] = 1 /* VTK_VERTEX */;
    if (!rc) rc = put_cells(out, point, n, end, type, n, err);
    ABUT_FREE(point, end, type);
    return rc;
}

/* A whole file: a vertex at each contact, with normal, impulse (N s), mu and state (0 open, 1 sticks, 2 slides); time in s.
 * Fails  ABUT_E_NOMEM; write errors stay with f */
static abut_status put_touches(FILE *out, const abut_frame *f, double time, abut_err *err)
{
    assert(f->touch_point);
    const size_t n = (size_t)f->ntc;
    put_grid(out, time, f->ntc, f->ntc);
    abut_status rc = put_array(out, "Points", ABUT_F64, f->touch_point, n, 3, err);
    fputs("</Points>\n<PointData>\n", out);
    if (!rc) rc = put_array(out, "normal", ABUT_F64, f->touch_normal, n, 3, err);
    if (!rc) rc = put_array(out, "impulse", ABUT_F64, f->touch_impulse, n, 3, err);
    if (!rc) rc = put_array(out, "mu", ABUT_F64, f->touch_mu, n, 1, err);
    if (!rc) rc = put_array(out, "state", ABUT_I32, f->touch_state, n, 1, err);
    fputs("</PointData>\n", out);
    if (!rc) rc = put_vertices(out, n, err);
    fputs("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", out);
    return rc;
}

/* ---- a series of files ---- */

enum { SOLIDS, OTHERS, SHELLS, GRIDS, TOUCHES = GRIDS, STEMS };

static const char *const STEM[STEMS] = { "solids", "others", "shells", "contacts" };

struct abut_vtu {
    char *dir;
    int keep;               /* files that appear meanwhile stay */
    int model_index;        /* of the grids; -1 before the first */
    vtu_grid grid[GRIDS];
    struct entry {
        double time;
        int index, has[STEMS];
    } *entry;
    size_t n, cap;
    void *rows;             /* one array, gathered */
    size_t rows_size;
};

/* ---- arrays ---- */

/* Writes rows index[n] of an array whose rows are `width` numbers. */
static abut_status put_rows(abut_vtu *w, FILE *f, const char *name, abut_dtype type, const void *data,
                            const int32_t *index, int32_t n, size_t width, abut_err *err)
{
    const size_t row = width * abut_dtype_size(type), need = (size_t)n * row + 1;
    if (need > w->rows_size) {
        free(w->rows);
        w->rows = malloc(need);
        w->rows_size = w->rows ? need : 0;
        if (!w->rows) return abut_fail(err, ABUT_E_NOMEM, "array %s: no memory for %zu bytes", name, need);
    }
    for (int32_t i = 0; i < n; i++) memcpy((char *)w->rows + (size_t)i * row, (const char *)data + (size_t)index[i] * row, row);
    return put_array(f, name, type, w->rows, (size_t)n, width, err);
}

static abut_status put_displacement(FILE *f, const vtu_grid *g, const abut_shot *s, abut_err *err)
{
    double *u = malloc((3 * (size_t)g->np + 1) * sizeof *u);
    if (!u) return abut_fail(err, ABUT_E_NOMEM, "no memory for displacements");
    for (int32_t i = 0; i < g->np; i++)
        for (int d = 0; d < 3; d++) u[3 * i + d] = s->x[3 * g->node[i] + d] - s->X[3 * g->node[i] + d];
    const abut_status rc = put_array(f, "displacement", ABUT_F64, u, (size_t)g->np, 3, err);
    free(u);
    return rc;
}

/* Puts arrays of other stages with one row per node (of_nodes) or per tet, but not per shell.  If both counts are equal, the
 * name decides. */
static abut_status put_unknown(abut_vtu *w, FILE *f, const vtu_grid *g, const abut_model *m, const abut_arrays *set,
                               int of_nodes, abut_err *err)
{
    const int32_t want = of_nodes ? m->nv : m->nt;
    abut_status rc = ABUT_OK;
    for (int i = 0; i < set->n && !rc; i++) {
        const abut_array *a = &set->a[i];
        if (a->type == ABUT_TEXT || a->rank < 1 || a->shape[0] != want || abut_array_known(a->name)) continue;
        if (m->nv == m->nt && of_nodes == !strncmp(a->name, "tet/", 4)) continue;
        rc = put_rows(w, f, a->name, a->type, a->data, of_nodes ? g->lead : g->row, of_nodes ? g->np : g->nc,
                      (size_t)(abut_array_count(a) / a->shape[0]), err);
    }
    return rc;
}

/* Puts a constant at every point. */
static abut_status put_constant(FILE *f, const char *name, double value, size_t n, abut_err *err)
{
    double *v = malloc((n + 1) * sizeof *v);
    if (!v) return abut_fail(err, ABUT_E_NOMEM, "array %s: no memory for %zu numbers", name, n);
    for (size_t i = 0; i < n; i++) v[i] = value;
    const abut_status rc = put_array(f, name, ABUT_F64, v, n / 3, 3, err);
    free(v);
    return rc;
}

/* The forces that `step --with forces` left in the frame (a PENDING one keeps others).  All are in every file: NaN where the
 * frame does not have its forces, 0 where it has forces without this one.  That of contact is computed in any case. */
static abut_status put_forces(abut_vtu *w, FILE *f, const vtu_grid *g, const abut_shot *s, abut_err *err)
{
    const struct {
        const char *name;
        const double *f;
    } force[] = { { "contact_force", s->fields->force }, { "friction_force", s->frame->f_friction },
                  { "damping_force", s->frame->f_damping }, { "air_force", s->frame->f_air },
                  { "reaction_force", s->frame->f_reaction } };
    const int known = s->head->phase == ABUT_COMMITTED && s->frame->f_contact;
    abut_status rc = ABUT_OK;
    for (size_t i = 0; i < sizeof force / sizeof *force && !rc; i++)
        if (force[i].f && (known || i == 0)) rc = put_rows(w, f, force[i].name, ABUT_F64, force[i].f, g->lead, g->np, 3, err);
        else rc = put_constant(f, force[i].name, known ? 0 : NAN, 3 * (size_t)g->np, err);
    return rc;
}

static abut_status put_points(abut_vtu *w, FILE *f, const vtu_grid *g, const abut_shot *s, abut_err *err)
{
    abut_status rc = put_rows(w, f, "Points", ABUT_F64, s->x, g->node, g->np, 3, err);
    fputs("</Points>\n<PointData>\n", f);
    if (!rc) rc = put_displacement(f, g, s, err);
    if (!rc) rc = put_rows(w, f, "velocity", ABUT_F64, s->v, g->node, g->np, 3, err);
    if (!rc) rc = put_forces(w, f, g, s, err);
    if (!rc) rc = put_rows(w, f, "object", ABUT_I32, s->model->body, g->lead, g->np, 1, err);
    if (!rc) rc = put_rows(w, f, "node", ABUT_I32, s->parts->number, g->lead, g->np, 1, err);
    if (!rc) rc = put_unknown(w, f, g, s->model, s->model_set, 1, err);
    if (!rc) rc = put_unknown(w, f, g, s->model, s->frame_set, 1, err);
    fputs("</PointData>\n", f);
    return rc;
}

/* The object of each cell, and the number of its element there. */
static abut_status put_element_numbers(FILE *f, const vtu_grid *g, const abut_model *m, const char *name,
                                       const int32_t *element, int width, int32_t n, abut_err *err)
{
    const size_t nc = (size_t)g->nc;
    int32_t *all = malloc(((size_t)n + 1) * sizeof *all);
    int32_t *object = malloc((nc + 1) * sizeof *object), *number = malloc((nc + 1) * sizeof *number);
    abut_status rc = all && object && number ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "array %s: no memory", name);
    if (!rc) rc = abut_element_numbers(m, element, width, n, all, err);
    for (size_t i = 0; i < nc && !rc; i++) {
        object[i] = m->body[element[(size_t)width * (size_t)g->row[i]]];
        number[i] = all[g->row[i]];
    }
    if (!rc) rc = put_array(f, "object", ABUT_I32, object, nc, 1, err);
    if (!rc) rc = put_array(f, name, ABUT_I32, number, nc, 1, err);
    free(all), free(object), free(number);
    return rc;
}

static abut_status put_tet_data(abut_vtu *w, FILE *f, const vtu_grid *g, const abut_shot *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (s->fields->J) rc = put_rows(w, f, "J", ABUT_F64, s->fields->J, g->row, g->nc, 1, err);
    if (!rc && s->fields->stress) rc = put_rows(w, f, "von_mises_stress", ABUT_F64, s->fields->stress, g->row, g->nc, 1, err);
    if (!rc && s->fields->sigma) rc = put_rows(w, f, "cauchy_stress", ABUT_F64, s->fields->sigma, g->row, g->nc, 9, err);
    if (!rc && s->fields->F) rc = put_rows(w, f, "deformation_gradient", ABUT_F64, s->fields->F, g->row, g->nc, 9, err);
    if (!rc) rc = put_rows(w, f, "material", ABUT_I32, s->model->tet_mat, g->row, g->nc, 1, err);
    if (!rc) rc = put_element_numbers(f, g, s->model, "tet", s->model->tet, 4, s->model->nt, err);
    if (!rc) rc = put_unknown(w, f, g, s->model, s->model_set, 0, err);
    if (!rc) rc = put_unknown(w, f, g, s->model, s->frame_set, 0, err);
    return rc;
}

/* Puts column k of the strains. */
static abut_status put_strain(FILE *f, const vtu_grid *g, const double *strain, const char *name, size_t k, abut_err *err)
{
    double *v = malloc(((size_t)g->nc + 1) * sizeof *v);
    if (!v) return abut_fail(err, ABUT_E_NOMEM, "array %s: no memory for %d numbers", name, g->nc);
    for (int32_t i = 0; i < g->nc; i++) v[i] = strain[5 * (size_t)g->row[i] + k];
    const abut_status rc = put_array(f, name, ABUT_F64, v, (size_t)g->nc, 1, err);
    free(v);
    return rc;
}

static abut_status put_shell_data(abut_vtu *w, FILE *f, const vtu_grid *g, const abut_shot *s, abut_err *err)
{
    static const char *const name[] = { "sigma_1", "sigma_2", "strain_warp", "strain_weft", "strain_shear" };
    const abut_fields *e = s->fields;
    abut_status rc = ABUT_OK;
    for (size_t k = 0; k < 5 && !rc && e->strain; k++) rc = put_strain(f, g, e->strain, name[k], k, err);
    if (!rc && e->bend) rc = put_rows(w, f, "hinge_angle", ABUT_F64, e->bend, g->row, g->nc, 1, err);
    if (!rc) rc = put_rows(w, f, "thickness", ABUT_F64, s->model->shell_thick, g->row, g->nc, 1, err);
    if (!rc) rc = put_rows(w, f, "material", ABUT_I32, s->model->shell_mat, g->row, g->nc, 1, err);
    return rc ? rc : put_element_numbers(f, g, s->model, "shell", s->model->shell, 3, s->model->nsh, err);
}

static abut_status put_cell_data(abut_vtu *w, FILE *f, const vtu_grid *g, const abut_shot *s, abut_err *err)
{
    if (!g->row) return ABUT_OK;
    fputs("<CellData>\n", f);
    const abut_status rc = g->stem == STEM[SHELLS] ? put_shell_data(w, f, g, s, err) : put_tet_data(w, f, g, s, err);
    fputs("</CellData>\n", f);
    return rc;
}

static abut_status write_grid(abut_vtu *w, FILE *f, const vtu_grid *g, const abut_shot *s, abut_err *err)
{
    put_grid(f, s->head->time, g->np, g->nc);
    abut_status rc = put_points(w, f, g, s, err);
    const size_t corners = g->nc ? (size_t)g->offset[g->nc - 1] : 0;
    if (!rc) rc = put_cells(f, g->conn, corners, g->offset, g->type, (size_t)g->nc, err);
    if (!rc) rc = put_cell_data(w, f, g, s, err);
    fputs("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", f);
    return rc;
}

/* ---- the series ---- */

abut_status abut_vtu_open(const char *dir, int keep, abut_vtu **out, abut_err *err)
{
    const abut_status rc = abut_out_folder(dir, err);
    if (rc) return rc;
    abut_vtu *w = calloc(1, sizeof *w);
    if (w) w->dir = malloc(strlen(dir) + 1);
    if (!w || !w->dir) {
        free(w);
        return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", dir);
    }
    strcpy(w->dir, dir);
    w->keep = keep;
    w->model_index = -1;
    *out = w;
    return ABUT_OK;
}

static abut_status take_model(abut_vtu *w, const abut_shot *s, abut_err *err)
{
    if (w->model_index == s->model_index) return ABUT_OK;
    for (int k = 0; k < GRIDS; k++) grid_clear(&w->grid[k]);
    w->model_index = -1;
    abut_status rc = tet_grid(s, STEM[SOLIDS], &w->grid[SOLIDS], err);
    if (!rc) rc = shell_grid(s, STEM[SHELLS], &w->grid[SHELLS], err);
    if (!rc) rc = other_grid(s, STEM[OTHERS], &w->grid[OTHERS], err);
    if (!rc) w->model_index = s->model_index;
    return rc;
}

/* A file of the frame: grid k, or the table of hard contacts as points. */
static abut_status write_file(abut_vtu *w, const abut_shot *s, int k, struct entry *e, abut_err *err)
{
    abut_out_file o;
    abut_status rc = abut_out_open_numbered(&o, w->dir, STEM[k], s->index, ".vtu", w->keep, err);
    if (rc) return rc;
    rc = k == TOUCHES ? put_touches(o.f, s->frame, s->head->time, err) : write_grid(w, o.f, &w->grid[k], s, err);
    e->has[k] = 1;
    if (rc) abut_out_drop(&o);
    else rc = abut_out_close(&o, err);
    return rc;
}

abut_status abut_vtu_frame(abut_vtu *w, const abut_shot *s, abut_err *err)
{
    abut_status rc = take_model(w, s, err);
    if (rc) return rc;
    if (!ABUT_GROW(w->entry, w->n + 1, w->cap))
        return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for %zu frames", w->dir, w->n + 1);
    struct entry *e = &w->entry[w->n];
    *e = (struct entry){ .time = s->head->time, .index = s->index };
    for (int k = 0; k < GRIDS && !rc; k++)
        if (w->grid[k].nc) rc = write_file(w, s, k, e, err);
    if (!rc && s->frame->ntc && s->frame->touch_point) rc = write_file(w, s, TOUCHES, e, err);
    if (!rc) w->n++;
    return rc;
}

abut_status abut_vtu_close(abut_vtu *w, abut_err *err)
{
    const size_t room = strlen(w->dir) + sizeof "/scene.pvd";
    char *path = malloc(room);
    if (!path) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for a name", w->dir);
    snprintf(path, room, "%s/scene.pvd", w->dir);
    abut_out_file o;
    abut_status rc = abut_out_open(&o, path, w->keep, err);
    free(path);
    if (rc) return rc;
    put_head(o.f, "Collection");
    fputs("<Collection>\n", o.f);
    for (size_t i = 0; i < w->n; i++)
        for (int k = 0; k < STEMS; k++)
            if (w->entry[i].has[k])
                fprintf(o.f, "<DataSet timestep=\"%.17g\" group=\"\" part=\"%d\" name=\"%s\" file=\"%s_%04d.vtu\"/>\n",
                        w->entry[i].time, k, STEM[k], STEM[k], w->entry[i].index);
    fputs("</Collection>\n</VTKFile>\n", o.f);
    return abut_out_close(&o, err);
}

void abut_vtu_free(abut_vtu **w)
{
    if (!*w) return;
    for (int k = 0; k < GRIDS; k++) grid_clear(&(*w)->grid[k]);
    ABUT_FREE((*w)->dir, (*w)->entry, (*w)->rows, *w);
    *w = NULL;
}
