#include "formats/result/shading_mesh.h"

#include "math/vec3.h"

#include <stdlib.h>
#include <string.h>

/* Corners (3 * triangle + place) at every point: those of point i are list[first[i] .. first[i + 1]). */
typedef struct fans {
    int32_t *first, *list;
    abut_vec3 *normal;      /* of each triangle at rest, unit */
} fans;

static void fans_clear(fans *f)
{
    free(f->first);
    free(f->list);
    free(f->normal);
}

static abut_vec3 rest_normal(const abut_part *p, const double *X, int32_t t)
{
    const int32_t *v = p->tri + 3 * t;
    const abut_vec3 a = abut_v3_get(X + 3 * p->node[v[0]]), b = abut_v3_get(X + 3 * p->node[v[1]]),
                    c = abut_v3_get(X + 3 * p->node[v[2]]);
    const abut_vec3 n = abut_v3_cross(abut_v3_sub(b, a), abut_v3_sub(c, a));
    const double len = abut_v3_norm(n);
    return len > 0 ? abut_v3_scale(1 / len, n) : abut_v3(0, 0, 0);
}

static abut_status fans_make(const abut_part *p, const double *X, fans *f, abut_err *err)
{
    f->first = calloc((size_t)p->nv + 2, sizeof *f->first);
    f->list = malloc((3 * (size_t)p->ntri + 1) * sizeof *f->list);
    f->normal = malloc(((size_t)p->ntri + 1) * sizeof *f->normal);
    if (!f->first || !f->list || !f->normal) return abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for normals", p->name);
    for (int32_t c = 0; c < 3 * p->ntri; c++) f->first[p->tri[c] + 2]++;
    for (int32_t i = 0; i < p->nv; i++) f->first[i + 2] += f->first[i + 1];
    for (int32_t c = 0; c < 3 * p->ntri; c++) f->list[f->first[p->tri[c] + 1]++] = c;
    for (int32_t t = 0; t < p->ntri; t++) f->normal[t] = rest_normal(p, X, t);
    return ABUT_OK;
}

/* True when the triangles of two corners at one point have a second point in common: they are neighbours around it. */
static int share_edge(const abut_part *p, int32_t ca, int32_t cb)
{
    const int32_t *a = p->tri + 3 * (ca / 3), *b = p->tri + 3 * (cb / 3);
    const int32_t ends[2] = { a[(ca + 1) % 3], a[(ca + 2) % 3] };
    for (int k = 1; k < 3; k++)
        for (int e = 0; e < 2; e++)
            if (b[(cb + k) % 3] == ends[e]) return 1;
    return 0;
}

/* Gives the corners of one point to vertices: corners connected over smooth edges share one.  group[n] is scratch. */
static void split_point(const abut_part *p, const fans *f, int32_t i, double cosine, int32_t *group, abut_shading_mesh *s)
{
    const int32_t lo = f->first[i], n = f->first[i + 1] - lo;
    for (int32_t a = 0; a < n; a++) group[a] = a;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a + 1; b < n; b++) {
            const int32_t ca = f->list[lo + a], cb = f->list[lo + b];
            if (group[a] == group[b] || !share_edge(p, ca, cb)) continue;
            if (abut_v3_dot(f->normal[ca / 3], f->normal[cb / 3]) < cosine) continue;
            const int32_t from = group[b], to = group[a];
            for (int32_t c = 0; c < n; c++)
                if (group[c] == from) group[c] = to;
        }
    for (int32_t a = 0; a < n; a++) {
        if (group[a] < 0) continue;
        const int32_t g = group[a];
        for (int32_t b = a; b < n; b++)
            if (group[b] == g) {
                s->tri[f->list[lo + b]] = s->nv;
                group[b] = -1;
            }
        s->point[s->nv++] = i;
    }
}

abut_status abut_shading_mesh_make(const abut_part *p, const double *X, double crease, abut_shading_mesh *out, abut_err *err)
{
    fans f = { 0 };
    abut_shading_mesh s = { .ntri = p->ntri };
    abut_status rc = fans_make(p, X, &f, err);
    int32_t most = 0;
    for (int32_t i = 0; i < p->nv && !rc; i++)
        if (f.first[i + 1] - f.first[i] > most) most = f.first[i + 1] - f.first[i];
    int32_t *group = malloc(((size_t)most + 1) * sizeof *group);
    s.point = malloc((3 * (size_t)p->ntri + 1) * sizeof *s.point);
    s.tri = malloc((3 * (size_t)p->ntri + 1) * sizeof *s.tri);
    if (!rc && (!group || !s.point || !s.tri)) rc = abut_fail(err, ABUT_E_NOMEM, "object '%s': no memory for normals", p->name);
    for (int32_t i = 0; i < p->nv && !rc; i++) split_point(p, &f, i, cos(crease), group, &s);
    fans_clear(&f);
    free(group);
    if (rc) abut_shading_mesh_clear(&s);
    else *out = s;
    return rc;
}

void abut_shading_mesh_clear(abut_shading_mesh *s)
{
    free(s->point);
    free(s->tri);
    *s = (abut_shading_mesh){ 0 };
}

void abut_shading_mesh_normals(const abut_shading_mesh *s, const float *x, float *n)
{
    memset(n, 0, 3 * (size_t)s->nv * sizeof *n);
    for (int32_t t = 0; t < s->ntri; t++) {
        const int32_t *v = s->tri + 3 * t;
        const float *a = x + 3 * s->point[v[0]], *b = x + 3 * s->point[v[1]], *c = x + 3 * s->point[v[2]];
        const float e[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] }, g[3] = { c[0] - a[0], c[1] - a[1], c[2] - a[2] };
        const float area[3] = { e[1] * g[2] - e[2] * g[1], e[2] * g[0] - e[0] * g[2], e[0] * g[1] - e[1] * g[0] };
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) n[3 * v[k] + d] += area[d];
    }
    for (int32_t i = 0; i < s->nv; i++) {
        float *p = n + 3 * i;
        /* scaled first: squares of tiny areas would underflow */
        const float big = fmaxf(fabsf(p[0]), fmaxf(fabsf(p[1]), fabsf(p[2]))), scale = big > 1e-36f ? 1 / big : 0;
        const float u[3] = { p[0] * scale, p[1] * scale, p[2] * scale };
        const float len = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (int d = 0; d < 3; d++) p[d] = len > 0 ? u[d] / len : d == 1;
    }
}
