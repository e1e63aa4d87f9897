/* Stanford PLY, binary, one file per frame: DIR/frame_0012.ply.
 *
 * All chosen objects in one file.  vertex: x y z (double, m), vx vy vz (float, m/s), red green blue (uchar, the object's
 * colour), object, node (int, rows of the stream); face: vertex_indices; edge: vertex1 vertex2.  Isolated points are
 * vertices of no face and no edge. */
#include "formats/result/results.h"

#include "formats/result/palette.h"
#include "formats/stream/state_wire.h"

#include <string.h>

enum { VERTEX_BYTES = 3 * 8 + 3 * 4 + 3 + 2 * 4, FACE_BYTES = 1 + 3 * 4, EDGE_BYTES = 2 * 4 };

static void header(FILE *f, const abut_shot *s)
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
            row[36 + d] = (uint8_t)(255 * rgb[d] + 0.5f);
        }
        memcpy(row, s->x + 3 * node, 24);
        memcpy(row + 24, v, 12);
        memcpy(row + 39, &p->object, 4);
        memcpy(row + 43, &s->parts->number[s->parts->lead[node]], 4);
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

abut_status abut_ply_write(const char *dir, int keep, const abut_shot *s, abut_err *err)
{
    abut_out_file o;
    const abut_status rc = abut_out_open_numbered(&o, dir, "frame", s->index, ".ply", keep, err);
    if (rc) return rc;
    const abut_part *p = s->parts->part;
    header(o.f, s);
    for (int32_t k = 0; k < s->parts->n; k++) put_vertices(o.f, s, &p[k]);
    for (int32_t k = 0, first = 0; k < s->parts->n; first += p[k++].nv) put_faces(o.f, &p[k], first);
    for (int32_t k = 0, first = 0; k < s->parts->n; first += p[k++].nv) put_edges(o.f, &p[k], first);
    return abut_out_close(&o, err);
}
