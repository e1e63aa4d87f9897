#include "formats/mesh/mesh_io.h"
#include "base/order.h"
#include "base/words.h"
#include "tools/ccd-check/modes.h"

#include <stdlib.h>
#include <string.h>

static int by_corners(const void *a, const void *b) { return abut_compare(a, b, 5); }

/* Elements of k corners in an order of their own: corners ascending, then whether that flipped a tet; rows ascending. */
static int32_t (*in_order(const int32_t *element, int32_t n, int k))[5]
{
    int32_t(*row)[5] = calloc((size_t)n + 1, sizeof *row);
    for (int32_t i = 0; row && i < n; i++) {
        int32_t *r = row[i], swaps = 0;
        memcpy(r, element + (size_t)k * (size_t)i, (size_t)k * sizeof *r);
        for (int a = 1; a < k; a++)
            for (int b = a; b > 0 && r[b - 1] > r[b]; b--, swaps++) {
                const int32_t keep = r[b];
                r[b] = r[b - 1];
                r[b - 1] = keep;
            }
        if (k == 4) r[4] = swaps % 2;
    }
    if (row) qsort(row, (size_t)n, sizeof *row, by_corners);
    return row;
}

/* 1 if a and b list equal elements, in any order, from any first corner, triangles from either side; 0 if not; -1: no memory. */
static int same(const int32_t *a, int32_t na, const int32_t *b, int32_t nb, int k)
{
    if (na != nb) return 0;
    if (na == 0 || !memcmp(a, b, (size_t)na * (size_t)k * sizeof *a)) return 1;
    int32_t(*ra)[5] = in_order(a, na, k), (*rb)[5] = in_order(b, nb, k);
    const int equal = ra && rb ? !memcmp(ra, rb, (size_t)na * sizeof *ra) : -1;
    free(ra);
    free(rb);
    return equal;
}

/* motions need the same elements on the same points; those of the first file are judged */
static abut_status same_elements(const abut_mesh *a, const abut_mesh *b, const char *pa, const char *pb, abut_err *err)
{
    if (a->nv != b->nv)
        return abut_fail(err, ABUT_E_FORMAT, "%s has %d point%s, %s has %d: not one mesh in motion", pa, a->nv, abut_s(a->nv), pb,
                         b->nv);
    const int equal[4] = { same(a->tet, a->nt, b->tet, b->nt, 4), same(a->tri, a->nf, b->tri, b->nf, 3),
                           same(a->seg, a->ns, b->seg, b->ns, 2), same(a->point, a->np, b->point, b->np, 1) };
    for (int k = 0; k < 4; k++)
        if (equal[k] < 0) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory to compare its elements", pb);
    if (equal[0] && equal[1] && equal[2] && equal[3]) return ABUT_OK;
    return abut_fail(err, ABUT_E_FORMAT, "%s and %s differ in their elements: not one mesh in motion", pa, pb);
}

static abut_status load(const char *path, abut_mesh *m, abut_err *err)
{
    abut_status rc = abut_mesh_load(path, m, err);
    if (!rc) rc = abut_mesh_check(m, err);
    if (!rc) rc = abut_mesh_drop_markers(m, err);
    return rc;
}

static abut_status judge_alone(abut_verdict *v, const abut_judge_shape *s, const abut_mesh *m, const char *path,
                               abut_hits *hits, abut_err *err)
{
    const abut_place here = { .file = path };
    abut_status rc = abut_judge_static(s, m->x, hits, err);
    if (!rc) rc = abut_judge_near(s, m->x, &v->opts, hits, err);
    if (!rc) rc = abut_judge_inverted(s, m->x, 0, hits, err);
    if (!rc) rc = abut_judge_flat(s, m->x, hits, err);
    v->frames++;
    return rc ? rc : abut_verdict_add(v, hits, here, here, m->x, m->x, err);
}

static abut_status judge_motion(abut_verdict *v, const abut_judge_shape *s, const abut_mesh m[2], const char *const *path,
                                abut_hits *hits, abut_err *err)
{
    const abut_place from = { .file = path[0] }, to = { .file = path[1] };
    abut_status rc = same_elements(&m[0], &m[1], path[0], path[1], err);
    if (!rc) rc = abut_judge_motion(s, m[0].x, m[1].x, &v->opts, hits, err);
    if (!rc && !v->motion_only) rc = abut_judge_inverting(s, m[0].x, m[1].x, 0, hits, err);
    if (rc) return rc;
    v->motions++;
    v->frames += !v->motion_only;
    rc = abut_verdict_add(v, hits, from, to, m[0].x, m[1].x, err);
    hits->n = hits->pairs = 0;
    return rc;
}

abut_status abut_judge_meshes(abut_verdict *v, const char *const *files, int n, int apart, abut_err *err)
{
    abut_mesh m[2] = { { 0 }, { 0 } };   /* the last one and this one */
    abut_judge_shape shape = { 0 };
    abut_hits hits = { 0 };
    abut_status rc = ABUT_OK;
    for (int i = 0; i < n && !rc && !abut_verdict_done(v); i++) {
        abut_cli_progress(v->cli, "%s, %zu pair%s, %zu collision%s", files[i], v->pairs, abut_s(v->pairs), v->collisions,
                          abut_s(v->collisions));
        abut_mesh_clear(&m[0]);
        m[0] = m[1];
        m[1] = (abut_mesh){ 0 };
        rc = load(files[i], &m[1], err);
        if (!rc && (i == 0 || apart)) {
            abut_judge_shape_clear(&shape);
            rc = abut_judge_shape_mesh(&shape, &m[1], err);
            if (!rc && !v->motion_only) rc = judge_alone(v, &shape, &m[1], files[i], &hits, err);
        } else if (!rc) {
            rc = judge_motion(v, &shape, m, files + i - 1, &hits, err);
        }
    }
    abut_hits_clear(&hits);
    abut_judge_shape_clear(&shape);
    abut_mesh_clear(&m[0]);
    abut_mesh_clear(&m[1]);
    return rc;
}
