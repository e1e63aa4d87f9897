/* Gmsh MSH 4.1: the chosen objects of a frame, with tets of their order.
 *
 * DIR/frame_0012.msh   nodes at rest; tets (types 4, 11, 29, 30), triangles of shells and obstacles, segments, isolated points;
 *                      an entity and a physical group for each object and kind; `displacement`, `velocity` as $NodeData */
#include "formats/result/results.h"

#include "model/tets.h"

#include <stdlib.h>
#include <string.h>

/* Elements of one object and kind.  node: of all elements, `nodes` of each; NULL: tets of the model from `first` on. */
typedef struct block {
    int dim, type, nodes;
    int32_t object, n;
    int32_t *node;          /* [n * nodes] nodes of the model */
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

/* Elements of n rows of `nodes` points of a part that are nodes. */
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

/* Triangles, segments and points of an object; the triangles of a body of tets are faces of those. */
static abut_status find_blocks(writer *w, abut_err *err)
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

/* Tags follow the nodes of the model. */
static abut_status find_tags(writer *w, abut_err *err)
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

/* An entity for each block, in the physical group of its object. */
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

/* a - b (NULL: 0) at every node. */
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

abut_status abut_msh_write(const char *dir, int keep, const abut_shot *s, int binary, abut_err *err)
{
    writer w = { .binary = binary, .s = s };
    abut_out_file o = { 0 };
    abut_status rc = find_blocks(&w, err);
    if (!rc) rc = find_tags(&w, err);
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
