#include "mesh/generate/sheets.h"

#include "base/rng.h"
#include "base/words.h"
#include "math/vec3.h"

#include <assert.h>
#include <math.h>

#define PI 3.14159265358979323846

/* One strand: its root, the normal there and two tangents, and its own curl. */
typedef struct strand {
    abut_vec3 root, n, a, b;
    double l, rho, q, ramp, phi;
} strand;

static abut_status check(const abut_hair *h, abut_err *err)
{
    const double must[3] = { h->radius, h->offset, h->length };
    static const char *const name[3] = { "radius", "offset", "length" };
    for (int k = 0; k < 3; k++)
        if (!(must[k] > 0 && isfinite(must[k])))
            return abut_fail(err, ABUT_E_ARG, "hair: %s %g m: expected more than 0", name[k], must[k]);
    if (h->count < 1 || h->cells < 1)
        return abut_fail(err, ABUT_E_ARG, "hair: %d strand%s of %d cell%s: expected 1 or more", h->count, abut_s(h->count),
                         h->cells, abut_s(h->cells));
    const abut_status rc = abut_mesh_bound(h->count * (h->cells + 1.0), (double)h->count * h->cells, "hair", err);
    if (rc) return rc;
    if (!(h->curl >= 0 && isfinite(h->curl))) return abut_fail(err, ABUT_E_ARG, "hair: curl %g m: expected 0 or more", h->curl);
    if (!(h->vary >= 0 && h->vary <= 0.9)) return abut_fail(err, ABUT_E_ARG, "hair: vary %g: expected 0 to 0.9", h->vary);
    if (!(h->phase >= 0 && h->phase <= 1)) return abut_fail(err, ABUT_E_ARG, "hair: phase %g: expected 0 to 1", h->phase);
    if (h->curl <= 0) return ABUT_OK;
    if (!(h->wavelength > 0 && h->ramp > 0))
        return abut_fail(err, ABUT_E_ARG, "hair: wavelength %g m, ramp %g m: expected more than 0", h->wavelength, h->ramp);
    const double each = h->length / h->cells;
    if (each * 6 <= h->wavelength * (1 - h->vary) * (1 + 1e-9)) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "hair: edges of %g m on a wavelength of %g m: expected six or more on each", each,
                     h->wavelength * (1 - h->vary));
}

static strand strand_of(const abut_hair *h, int32_t i)
{
    abut_rng rng = { (uint64_t)h->seed * 0x9e3779b97f4a7c15u + (uint64_t)i * 0xd1b54a32d192ed03u };
    const double y = 1 - ((h->whole ? 2 * i + 1 : i + 0.5) / h->count), r = sqrt(fmax(0, 1 - y * y));
    const double angle = i * PI * (3 - sqrt(5));
    strand s = { .n = { r * cos(angle), y, r * sin(angle) }, .l = h->length / h->cells };
    const abut_vec3 e = fabs(s.n.x) > 0.9 ? (abut_vec3){ 0, 0, 1 } : (abut_vec3){ 1, 0, 0 };
    s.root = abut_v3_scale(h->radius + h->offset, s.n);
    const abut_vec3 across = abut_v3_sub(e, abut_v3_scale(abut_v3_dot(e, s.n), s.n));
    s.a = abut_v3_scale(1 / abut_v3_norm(across), across);
    s.b = abut_v3_cross(s.n, s.a);
    s.rho = h->curl * abut_rng_real(&rng, 1 - h->vary, 1 + h->vary);
    const double wave = h->wavelength * abut_rng_real(&rng, 1 - h->vary, 1 + h->vary);
    s.ramp = h->ramp * abut_rng_real(&rng, 1 - h->vary, 1 + h->vary);
    s.phi = 2 * PI * h->phase * abut_rng_real(&rng, 0, 1);
    s.q = s.rho > 0 ? 2 * PI / wave : 0;
    return s;
}

static abut_vec3 point_at(const strand *s, double z)
{
    double wound = 0;
    if (s->rho > 0) {
        const double t = fmin(1, fmax(0, (z - s->l) / s->ramp));
        wound = s->rho * t * t * (3 - 2 * t);
    }
    const double u = wound * cos(s->q * z + s->phi), v = wound * sin(s->q * z + s->phi);
    const abut_vec3 beside = abut_v3_add(abut_v3_scale(u, s->a), abut_v3_scale(v, s->b));
    return abut_v3_add(s->root, abut_v3_add(abut_v3_scale(z, s->n), beside));
}

/* The height above z at which the strand is one edge away, by bisection. */
static double next_height(const strand *s, double z)
{
    const abut_vec3 from = point_at(s, z);
    double lo = z, hi = z + s->l;
    if (!(s->rho > 0)) return hi;
    for (int k = 0; k < 200; k++) {
        const double mid = lo + (hi - lo) / 2;
        if (!(mid > lo && mid < hi)) break;
        if (abut_v3_norm(abut_v3_sub(point_at(s, mid), from)) < s->l) lo = mid;
        else hi = mid;
    }
    return hi;
}

abut_status abut_generate_hair(const abut_hair *h, abut_mesh *m, abut_err *err)
{
    assert(h && m);
    abut_status rc = check(h, err);
    for (int32_t i = 0; i < h->count && !rc; i++) {
        const strand s = strand_of(h, i);
        double z = 0, x[3];
        for (int32_t k = 0; k <= h->cells && !rc; k++) {
            if (k) z = k == 1 ? s.l : next_height(&s, z);
            abut_v3_put(x, point_at(&s, z));
            rc = abut_mesh_add_vertex(m, x, err);
            if (!rc && k) rc = abut_mesh_add_seg(m, m->nv - 2, m->nv - 1, err);
        }
    }
    if (rc) abut_mesh_clear(m);
    return rc;
}
