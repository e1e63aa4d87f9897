/* Wavefront OBJ, one file per frame: DIR/frame_0012.obj.
 *
 * Every chosen object is a group `o name`; triangles are `f`, segments `l`, isolated points `p`; indices count from 1
 * through the whole file.  Coordinates are in metres and read back to the same doubles. */
#include "formats/result/results.h"

static void put_elements(FILE *f, char key, const int32_t *list, int32_t n, int width, int32_t first)
{
    for (int32_t i = 0; i < n; i++) {
        fputc(key, f);
        for (int k = 0; k < width; k++) fprintf(f, " %d", first + list[width * i + k]);
        fputc('\n', f);
    }
}

abut_status abut_obj_write(const char *dir, int keep, const abut_shot *s, abut_err *err)
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
        put_elements(o.f, 'f', p->tri, p->ntri, 3, first);
        put_elements(o.f, 'l', p->seg, p->nseg, 2, first);
        put_elements(o.f, 'p', p->point, p->npoint, 1, first);
        first += p->nv;
    }
    return abut_out_close(&o, err);
}
