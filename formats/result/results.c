/* Writers of one file per frame (Gmsh MSH, Wavefront OBJ, Stanford PLY); then all results of a pass over a stream. */
#include "formats/result/results.h"

#include "formats/result/point_fields.h"
#include "formats/stream/state_wire.h"

#include <stdlib.h>
#include <string.h>

/* ---- Gmsh MSH 4.1: the chosen objects of a frame, with tets of their order.
 *
 * DIR/frame_0012.msh   nodes at rest; tets (types 4, 11, 29, 30), triangles of shells and obstacles, segments, isolated points;
 *                      an entity and a physical group for each object and kind; `displacement`, `velocity` as $NodeData */

/* Elements of one object and kind. */
typedef struct block {
    int dim, type, nodes;
    int32_t object, n;
    int32_t *node;          /* [n * nodes] of the model: `nodes` of each element */
} block;

typedef struct writer {
    FILE *f;
    int binary;
    const abut_shot *s;
    int32_t nn;             /* nodes that are written */
    int32_t *tag;           /* [model nodes] from 1; 0: not written */
    block *block;
    int32_t nblocks;
} writer;

static void put_int(const writer *w, int32_t v, char end)
{
    if (w->binary) fwrite(&v, sizeof v, 1, w->f);
    else fprintf(w->f, "%d%c", v, end);
}

static void put_size(const writer *w, uint64_t v, char end)
{
    if (w->binary) fwrite(&v, sizeof v, 1, w->f);
    else fprintf(w->f, "%llu%c", (unsigned long long)v, end);
}

static void put_real(const writer *w, double v, char end)
{
    if (w->binary) fwrite(&v, sizeof v, 1, w->f);
    else fprintf(w->f, "%.17g%c", v, end);
}

static void put_end(const writer *w, const char *section)
{
    fprintf(w->f, "%s$End%s\n", w->binary ? "\n" : "", section);
}

/* ---- what is written ---- */

static int tet_type(int order)
{
    static const int type[] = { 4, 11, 29, 30 };
    return type[order - 1];
}

static abut_status tet_block(writer *w, const abut_part *p, abut_err *err)
{
    const abut_model *m = w->s->model;
    block *b = &w->block[w->nblocks];
    *b = (block){ .dim = 3, .object = p->object };
    int32_t first = -1;
    for (int32_t t = 0; t < m->nt; t++)
        if (m->body[m->tet[4 * (size_t)t]] == p->object) first = first < 0 ? t : first, b->n++;
    if (!b->n) return ABUT_OK;
    const int order = abut_tet_order(m, first);
    b->type = tet_type(order);
    b->nodes = abut_tet_nodes(order);
    b->node = malloc((size_t)b->n * (size_t)b->nodes * sizeof *b->node);
    if (!b->node) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for its tets", p->name);
    int32_t *to = b->node;
    for (int32_t t = first; t < m->nt; t++)
        if (m->body[m->tet[4 * (size_t)t]] == p->object) to += abut_tet_corners(m, t, to);
    w->nblocks++;
    return ABUT_OK;
}

/* Adds elements of dim + 1 nodes each: n rows of `point`, points of the part. */
static abut_status part_block(writer *w, const abut_part *p, int dim, int type, const int32_t *point, int32_t n, abut_err *err)
{
    const int nodes = dim + 1;
    block *b = &w->block[w->nblocks];
    if (!n) return ABUT_OK;
    *b = (block){ dim, type, nodes, p->object, n, malloc((size_t)n * (size_t)nodes * sizeof *b->node) };
    if (!b->node) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for its elements", p->name);
    for (size_t i = 0; i < (size_t)n * (size_t)nodes; i++) b->node[i] = p->node[point[i]];
    w->nblocks++;
    return ABUT_OK;
}

/* Makes the blocks of all objects: tets, triangles without faces of tets, segments, points. */
static abut_status make_blocks(writer *w, abut_err *err)
{
    const abut_parts *all = w->s->parts;
    w->block = calloc(4 * (size_t)all->n + 1, sizeof *w->block);
    if (!w->block) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d objects", all->n);
    abut_status rc = ABUT_OK;
    for (int32_t k = 0; k < all->n && !rc; k++) {
        const abut_part *p = &all->part[k];
        rc = tet_block(w, p, err);
        if (!rc && !p->solid && !p->proxy) rc = part_block(w, p, 2, 2, p->tri, p->ntri, err);
        if (!rc && !p->proxy) rc = part_block(w, p, 1, 1, p->seg, p->nseg, err);
        if (!rc && !p->proxy) rc = part_block(w, p, 0, 15, p->point, p->npoint, err);
    }
    return rc;
}

/* Numbers the nodes of all blocks from 1, in the order of the model. */
static abut_status make_tags(writer *w, abut_err *err)
{
    const abut_model *m = w->s->model;
    w->tag = calloc((size_t)m->nv + 1, sizeof *w->tag);
    if (!w->tag) return abut_fail(err, ABUT_E_NOMEM, "no memory for %d nodes", m->nv);
    for (int32_t k = 0; k < w->nblocks; k++)
        for (size_t i = 0; i < (size_t)w->block[k].n * (size_t)w->block[k].nodes; i++) w->tag[w->block[k].node[i]] = 1;
    for (int32_t i = 0; i < m->nv; i++)
        if (w->tag[i]) w->tag[i] = ++w->nn;
    return ABUT_OK;
}

/* ---- the sections ---- */

static void put_format(const writer *w)
{
    fprintf(w->f, "$MeshFormat\n4.1 %d 8\n", w->binary);
    if (w->binary) put_int(w, 1, '\n');
    put_end(w, "MeshFormat");
}

static const char *name_of(const writer *w, int32_t object)
{
    const abut_parts *all = w->s->parts;
    for (int32_t k = 0; k < all->n; k++)
        if (all->part[k].object == object) return all->part[k].name;
    return "?";
}

static void put_names(const writer *w)
{
    fprintf(w->f, "$PhysicalNames\n%d\n", w->nblocks);
    for (int32_t k = 0; k < w->nblocks; k++)
        fprintf(w->f, "%d %d \"%s\"\n", w->block[k].dim, w->block[k].object + 1, name_of(w, w->block[k].object));
    fputs("$EndPhysicalNames\n", w->f);
}

static void box_of(const writer *w, const block *b, double box[6])
{
    const double *X = w->s->model->X;
    for (int d = 0; d < 3; d++) box[d] = box[3 + d] = X[3 * (size_t)b->node[0] + (size_t)d];
    for (size_t i = 0; i < (size_t)b->n * (size_t)b->nodes; i++)
        for (size_t d = 0; d < 3; d++) {
            const double x = X[3 * (size_t)b->node[i] + d];
            if (x < box[d]) box[d] = x;
            if (x > box[3 + d]) box[3 + d] = x;
        }
}

/* Writes an entity for each block, in the physical group of its object. */
static void put_entities(const writer *w)
{
    fputs("$Entities\n", w->f);
    for (int dim = 0; dim < 4; dim++) {
        uint64_t n = 0;
        for (int32_t k = 0; k < w->nblocks; k++) n += w->block[k].dim == dim;
        put_size(w, n, dim < 3 ? ' ' : '\n');
    }
    for (int dim = 0; dim < 4; dim++)
        for (int32_t k = 0; k < w->nblocks; k++) {
            const block *b = &w->block[k];
            double box[6];
            if (b->dim != dim) continue;
            put_int(w, b->object + 1, ' ');
            box_of(w, b, box);
            for (int d = 0; d < (dim ? 6 : 3); d++) put_real(w, box[d], ' ');
            put_size(w, 1, ' ');
            put_int(w, b->object + 1, dim ? ' ' : '\n');
            if (dim) put_size(w, 0, '\n');
        }
    put_end(w, "Entities");
}

static void put_nodes(const writer *w)
{
    const abut_model *m = w->s->model;
    const uint64_t n = (uint64_t)w->nn;
    fputs("$Nodes\n", w->f);
    put_size(w, n > 0, ' '), put_size(w, n, ' '), put_size(w, n > 0, ' '), put_size(w, n, '\n');
    if (n) {
        put_int(w, w->block[0].dim, ' '), put_int(w, w->block[0].object + 1, ' '), put_int(w, 0, ' ');
        put_size(w, n, '\n');
        for (uint64_t i = 1; i <= n; i++) put_size(w, i, '\n');
        for (int32_t i = 0; i < m->nv; i++)
            for (int d = 0; d < 3 && w->tag[i]; d++) put_real(w, m->X[3 * (size_t)i + (size_t)d], d < 2 ? ' ' : '\n');
    }
    put_end(w, "Nodes");
}

static void put_elements(const writer *w)
{
    uint64_t total = 0, at = 0;
    for (int32_t k = 0; k < w->nblocks; k++) total += (uint64_t)w->block[k].n;
    fputs("$Elements\n", w->f);
    put_size(w, (uint64_t)w->nblocks, ' '), put_size(w, total, ' '), put_size(w, total > 0, ' '), put_size(w, total, '\n');
    for (int32_t k = 0; k < w->nblocks; k++) {
        const block *b = &w->block[k];
        put_int(w, b->dim, ' '), put_int(w, b->object + 1, ' '), put_int(w, b->type, ' ');
        put_size(w, (uint64_t)b->n, '\n');
        for (int32_t e = 0; e < b->n; e++) {
            put_size(w, ++at, ' ');
            for (int c = 0; c < b->nodes; c++)
                put_size(w, (uint64_t)w->tag[b->node[(size_t)e * (size_t)b->nodes + (size_t)c]], c < b->nodes - 1 ? ' ' : '\n');
        }
    }
    put_end(w, "Elements");
}

/* Writes a - b at every node with a tag; b NULL: a. */
static void put_data(const writer *w, const char *name, const double *a, const double *b)
{
    const abut_shot *s = w->s;
    fprintf(w->f, "$NodeData\n1\n\"%s\"\n1\n%.17g\n3\n%d\n3\n%d\n", name, s->head->time, s->index, w->nn);
    for (int32_t i = 0; i < s->model->nv; i++) {
        if (!w->tag[i]) continue;
        put_int(w, w->tag[i], ' ');
        for (size_t d = 0; d < 3; d++) {
            const size_t k = 3 * (size_t)i + d;
            put_real(w, b ? a[k] - b[k] : a[k], d < 2 ? ' ' : '\n');
        }
    }
    put_end(w, "NodeData");
}

/* Writes one frame into folder dir, which must exist.  binary: 1 eight-byte numbers of this machine, 0 text with 17 digits:
 * both are exact. */
static abut_status msh_write(const char *dir, int keep, const abut_shot *s, int binary, abut_err *err)
{
    writer w = { .binary = binary, .s = s };
    abut_out_file o = { 0 };
    abut_status rc = make_blocks(&w, err);
    if (!rc) rc = make_tags(&w, err);
    if (!rc) rc = abut_out_open_numbered(&o, dir, "frame", s->index, ".msh", keep, err);
    if (!rc) {
        w.f = o.f;
        put_format(&w);
        put_names(&w);
        put_entities(&w);
        put_nodes(&w);
        put_elements(&w);
        put_data(&w, "displacement", s->x, s->model->X);
        put_data(&w, "velocity", s->v, NULL);
        rc = abut_out_close(&o, err);
    }
    for (int32_t k = 0; w.block && k < w.nblocks; k++) free(w.block[k].node);
    free(w.block), free(w.tag);
    return rc;
}

/* ---- Wavefront OBJ, one file per frame: DIR/frame_0012.obj.
 *
 * Every chosen object is a group `o name`; triangles are `f`, segments `l`, isolated points `p`; indices count from 1
 * through the whole file.  Coordinates are in metres and read back to the same doubles. */

static void put_lines(FILE *f, char key, const int32_t *list, int32_t n, int width, int32_t first)
{
    for (int32_t i = 0; i < n; i++) {
        fputc(key, f);
        for (int k = 0; k < width; k++) fprintf(f, " %d", first + list[width * i + k]);
        fputc('\n', f);
    }
}

static abut_status obj_write(const char *dir, int keep, const abut_shot *s, abut_err *err)
{
    abut_out_file o;
    const abut_status rc = abut_out_open_numbered(&o, dir, "frame", s->index, ".obj", keep, err);
    if (rc) return rc;
    fprintf(o.f, "# abut: frame %d, step %lld, t = %.17g s\n", s->index, (long long)s->head->step, s->head->time);
    int32_t first = 1;
    for (int32_t k = 0; k < s->parts->n; k++) {
        const abut_part *p = &s->parts->part[k];
        if (!p->nv) continue;
        fprintf(o.f, "o %s\n", p->name);
        for (int32_t i = 0; i < p->nv; i++) {
            const double *x = s->x + 3 * p->node[i];
            fprintf(o.f, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
        }
        put_lines(o.f, 'f', p->tri, p->ntri, 3, first);
        put_lines(o.f, 'l', p->seg, p->nseg, 2, first);
        put_lines(o.f, 'p', p->point, p->npoint, 1, first);
        first += p->nv;
    }
    return abut_out_close(&o, err);
}

/* ---- Stanford PLY, binary, one file per frame: DIR/frame_0012.ply.
 *
 * All chosen objects in one file.  vertex: x y z (double, m), vx vy vz (float, m/s), red green blue (uchar, the object's
 * colour), object, node (int, rows of the stream); face: vertex_indices; edge: vertex1 vertex2.  Isolated points are
 * vertices of no face and no edge. */

enum { AT_VELOCITY = 3 * 8, AT_COLOUR = AT_VELOCITY + 3 * 4, AT_OBJECT = AT_COLOUR + 3, AT_NODE = AT_OBJECT + 4,
       VERTEX_BYTES = AT_NODE + 4, FACE_BYTES = 1 + 3 * 4, EDGE_BYTES = 2 * 4 };

static void put_header(FILE *f, const abut_shot *s)
{
    int64_t nv = 0, ntri = 0, nseg = 0;
    for (int32_t k = 0; k < s->parts->n; k++) {
        nv += s->parts->part[k].nv;
        ntri += s->parts->part[k].ntri;
        nseg += s->parts->part[k].nseg;
    }
    fprintf(f, "ply\nformat binary_%s_endian 1.0\ncomment abut: frame %d, step %lld, t = %.17g s\n",
            ABUT_HOST_BIG_ENDIAN ? "big" : "little", s->index, (long long)s->head->step, s->head->time);
    fprintf(f, "element vertex %lld\nproperty double x\nproperty double y\nproperty double z\n"
            "property float vx\nproperty float vy\nproperty float vz\n"
            "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty int object\nproperty int node\n",
            (long long)nv);
    if (ntri) fprintf(f, "element face %lld\nproperty list uchar int vertex_indices\n", (long long)ntri);
    if (nseg) fprintf(f, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n", (long long)nseg);
    fputs("end_header\n", f);
}

static void put_vertices(FILE *f, const abut_shot *s, const abut_part *p)
{
    float rgb[3];
    abut_palette_object(p->object, p->obstacle, rgb);
    for (int32_t i = 0; i < p->nv; i++) {
        const int32_t node = p->node[i];
        uint8_t row[VERTEX_BYTES];
        float v[3];
        for (int d = 0; d < 3; d++) {
            v[d] = (float)s->v[3 * node + d];
            row[AT_COLOUR + d] = (uint8_t)(255 * rgb[d] + 0.5f);
        }
        memcpy(row, s->x + 3 * node, AT_VELOCITY);
        memcpy(row + AT_VELOCITY, v, sizeof v);
        memcpy(row + AT_OBJECT, &p->object, 4);
        memcpy(row + AT_NODE, &s->parts->number[s->parts->lead[node]], 4);
        fwrite(row, 1, sizeof row, f);
    }
}

static void put_faces(FILE *f, const abut_part *p, int32_t first)
{
    for (int32_t i = 0; i < p->ntri; i++) {
        uint8_t row[FACE_BYTES] = { 3 };
        for (int k = 0; k < 3; k++) {
            const int32_t v = first + p->tri[3 * i + k];
            memcpy(row + 1 + 4 * k, &v, 4);
        }
        fwrite(row, 1, sizeof row, f);
    }
}

static void put_edges(FILE *f, const abut_part *p, int32_t first)
{
    for (int32_t i = 0; i < p->nseg; i++) {
        const int32_t row[2] = { first + p->seg[2 * i], first + p->seg[2 * i + 1] };
        fwrite(row, 1, EDGE_BYTES, f);
    }
}

static abut_status ply_write(const char *dir, int keep, const abut_shot *s, abut_err *err)
{
    abut_out_file o;
    const abut_status rc = abut_out_open_numbered(&o, dir, "frame", s->index, ".ply", keep, err);
    if (rc) return rc;
    const abut_part *p = s->parts->part;
    put_header(o.f, s);
    for (int32_t k = 0; k < s->parts->n; k++) put_vertices(o.f, s, &p[k]);
    for (int32_t k = 0, first = 0; k < s->parts->n; first += p[k++].nv) put_faces(o.f, &p[k], first);
    for (int32_t k = 0, first = 0; k < s->parts->n; first += p[k++].nv) put_edges(o.f, &p[k], first);
    return abut_out_close(&o, err);
}

/* ---- all results of a pass ---- */

int abut_results_want(const abut_results_opts *opt)
{
    int want = 0;
    if (opt->vtu) want |= ABUT_WANT_STRESS | ABUT_WANT_CONTACT | ABUT_WANT_STRAIN;
    if (opt->vtu && opt->tensors) want |= ABUT_WANT_TENSORS;
    if (opt->nodes) want |= ABUT_WANT_CONTACT;
    if (opt->csv || opt->json) want |= ABUT_WANT_TOTALS | ABUT_WANT_CONTACT;
    return want;
}

static abut_status open_text(abut_out_file *o, const char *path, int keep, FILE *text, abut_err *err)
{
    if (strcmp(path, "-")) return abut_out_open(o, path, keep, err);
    abut_out_lend(o, text);
    return ABUT_OK;
}

abut_status abut_results_open(abut_results *r, const abut_results_opts *opt, FILE *text, abut_err *err)
{
    *r = (abut_results){ .opt = *opt };
    abut_status rc = ABUT_OK;
    if (opt->vtu) rc = abut_vtu_open(opt->vtu, opt->keep, &r->vtu, err);
    if (!rc && opt->msh) rc = abut_out_folder(opt->msh, err);
    if (!rc && opt->msh_text) rc = abut_out_folder(opt->msh_text, err);
    if (!rc && opt->obj) rc = abut_out_folder(opt->obj, err);
    if (!rc && opt->ply) rc = abut_out_folder(opt->ply, err);
    if (!rc && opt->nodes) rc = abut_out_folder(opt->nodes, err);
    if (!rc && opt->gltf) rc = abut_gltf_open(opt->gltf, opt->keep, &r->gltf, err);
    if (!rc && opt->csv) rc = open_text(&r->csv, opt->csv, opt->keep, text, err);
    if (!rc && opt->json) rc = open_text(&r->json, opt->json, opt->keep, text, err);
    return rc;
}

abut_status abut_results_frame(abut_results *r, const abut_shot *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (r->vtu) rc = abut_vtu_frame(r->vtu, s, err);
    if (!rc && r->opt.msh) rc = msh_write(r->opt.msh, r->opt.keep, s, 1, err);
    if (!rc && r->opt.msh_text) rc = msh_write(r->opt.msh_text, r->opt.keep, s, 0, err);
    if (!rc && r->opt.obj) rc = obj_write(r->opt.obj, r->opt.keep, s, err);
    if (!rc && r->opt.ply) rc = ply_write(r->opt.ply, r->opt.keep, s, err);
    if (!rc && r->opt.nodes) rc = abut_node_table_write(r->opt.nodes, r->opt.keep, s, err);
    if (!rc && r->gltf) rc = abut_gltf_frame(r->gltf, s, err);
    if (!rc && (r->opt.csv || r->opt.json)) rc = abut_table_frame(&r->table, s, err);
    return rc;
}

abut_status abut_results_close(abut_results *r, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (r->vtu) rc = abut_vtu_close(r->vtu, err);
    if (!rc && r->gltf) rc = abut_gltf_close(r->gltf, err);
    if (!rc && r->opt.csv) {
        abut_table_csv(&r->table, r->csv.f);
        rc = abut_out_close(&r->csv, err);
    }
    if (!rc && r->opt.json) {
        abut_table_json(&r->table, r->json.f);
        rc = abut_out_close(&r->json, err);
    }
    return rc;
}

void abut_results_clear(abut_results *r)
{
    abut_vtu_free(&r->vtu);
    abut_gltf_free(&r->gltf);
    abut_table_clear(&r->table);
    abut_out_drop(&r->csv);
    abut_out_drop(&r->json);
    *r = (abut_results){ 0 };
}
