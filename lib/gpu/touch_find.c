/* Contacts among the candidates: hits are counted, written, sorted by what they are, and equal ones merged. */
#include "gpu/touch_parts.h"

#include <float.h>
#include <stdlib.h>

enum { CLASS_BITS = 3 };

static abut_status set_need(abut_gpu_touch *c, abut_gpu_contacts *s, size_t m, abut_err *err)
{
    abut_queue *q = c->q;
    abut_status rc = abut_buffer_need(q, &s->kind, "contacts", m, sizeof(uint8_t), err);
    if (!rc) rc = abut_buffer_need(q, &s->vert, "contacts", m, 4 * sizeof(int32_t), err);
    if (!rc) rc = abut_buffer_need(q, &s->mult, "contacts", m, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &s->dist2, "contacts", m, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &s->eps_x, "contacts", m, sizeof(double), err);
    return rc;
}

static abut_status raw_need(abut_gpu_touch *c, size_t m, abut_raw_view *v, abut_err *err)
{
    abut_queue *q = c->q;
    abut_status rc = abut_buffer_need(q, &c->raw[0], "contacts before merging", m, 4 * sizeof(int32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->raw[1], "contacts before merging", m, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->raw[2], "contacts before merging", m, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->raw[3], "contacts before merging", m, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &c->key, "keys of contacts", m, sizeof(uint64_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->order, "order of contacts", m, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->head, "contacts before merging", m, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->start, "contacts before merging", m, sizeof(uint32_t), err);
    *v = (abut_raw_view){ ABUT_AT(c->raw[0], int32_t), ABUT_AT(c->raw[1], uint32_t), ABUT_AT(c->raw[2], double),
                          ABUT_AT(c->raw[3], double) };
    return rc;
}

static abut_merge_args merge_of(abut_gpu_touch *c, const abut_gpu_contacts *s, abut_raw_view raw, size_t m, int bits)
{
    return (abut_merge_args){
        .raw = raw, .order = ABUT_AT(c->order, uint32_t), .key = ABUT_AT(c->key, uint64_t), .bits = (uint32_t)bits,
        .m = (uint32_t)m,
        .head = ABUT_AT(c->head, uint32_t), .first = ABUT_AT(c->first, uint32_t), .start = ABUT_AT(c->start, uint32_t),
        .scale = abut_gpu_scale(c), .xi = ABUT_AT(c->xi, double),
        .kind = ABUT_AT(s->kind, uint8_t), .vert = ABUT_AT(s->vert, int32_t), .mult = ABUT_AT(s->mult, double),
        .dist2 = ABUT_AT(s->dist2, double), .eps_x = ABUT_AT(s->eps_x, double), .n_plain = ABUT_PULSE(c, n_plain) };
}

/* m hits: sorted by (class, vertices) in two stable halves; the number of heads comes in the pulse. */
static abut_status merge(abut_gpu_touch *c, const abut_contact_args *a, abut_gpu_contacts *s, size_t n, size_t m, abut_err *err)
{
    abut_queue *q = c->q;
    abut_contact_args raw = *a;
    abut_status rc = raw_need(c, m, &raw.raw, err);
    if (!rc) rc = set_need(c, s, m, err);
    if (rc) return rc;
    raw.key = ABUT_AT(c->key, uint64_t);
    raw.order = ABUT_AT(c->order, uint32_t);
    raw.first = ABUT_AT(c->first, uint32_t);
    const abut_merge_args g = merge_of(c, s, raw.raw, m, (int)a->bits);
    rc = ABUT_RUN(q, contact_raw, &raw, n, err);
    if (!rc) rc = q->on->sort(q, raw.key, raw.order, m, 2 * (int)a->bits, err);
    if (!rc) rc = ABUT_RUN(q, contact_key, &g, m, err);
    if (!rc) rc = q->on->sort(q, raw.key, raw.order, m, 2 * (int)a->bits + CLASS_BITS, err);
    if (!rc) rc = ABUT_RUN(q, contact_head, &g, m, err);
    if (!rc) rc = q->on->scan(q, g.head, m, ABUT_AT(c->first, uint32_t), NULL, err);
    if (!rc) rc = ABUT_RUN(q, contact_start, &g, m, err);
    if (!rc) rc = ABUT_RUN(q, contact_write, &g, m, err);
    if (!rc) rc = q->on->copy(q, ABUT_PULSE(c, n), g.first + m, sizeof(uint32_t), err);
    return rc;
}

static abut_status pairs(abut_gpu_touch *c, const double *y, abut_gpu_contacts *s, size_t *hits, abut_err *err)
{
    abut_queue *q = c->q;
    const size_t n = abut_gpu_candidates_count(c);
    uint64_t m = 0;
    *hits = 0;
    if (!n) return ABUT_OK;
    abut_status rc = abut_buffer_need(q, &c->count, "candidates that touch", n, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->first, "candidates that touch", n + 1, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->value, "gaps", n, sizeof(double), err);
    if (rc) return rc;
    abut_contact_args a = { .near = abut_gpu_near(c), .y = y, .rest2 = ABUT_AT(c->rest2, double), .scale = abut_gpu_scale(c),
                            .hit = ABUT_AT(c->count, uint32_t), .gap = ABUT_AT(c->value, double), .bits = 1 };
    while ((int64_t)1 << a.bits <= c->cm->nc) a.bits++;
    rc = ABUT_RUN(q, contact_classify, &a, n, err);
    if (!rc) rc = q->on->least(q, a.gap, n, ABUT_PULSE(c, pair), err);
    if (!rc) rc = q->on->scan(q, a.hit, n, ABUT_AT(c->first, uint32_t), &m, err);
    *hits = m;
    return rc || !m ? rc : merge(c, &a, s, n, m, err);
}

static abut_status planes(abut_gpu_touch *c, const double *y, abut_gpu_contacts *s, abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nh = (size_t)c->cm->model->nh, n = nh * (size_t)c->cm->nc;
    if (!n) return ABUT_OK;
    abut_status rc = abut_buffer_need(q, &c->count, "vertices that touch", n, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->first, "vertices that touch", n + 1, sizeof(uint32_t), err);
    if (!rc) rc = abut_buffer_need(q, &c->value, "heights", n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &s->plane_vert, "half-space contacts", n, sizeof(int32_t), err);
    if (!rc) rc = abut_buffer_need(q, &s->plane, "half-space contacts", n, sizeof(int32_t), err);
    if (!rc) rc = abut_buffer_need(q, &s->plane_dist, "half-space contacts", n, sizeof(double), err);
    if (!rc) rc = abut_buffer_need(q, &s->plane_mult, "half-space contacts", n, sizeof(double), err);
    if (rc) return rc;
    const abut_plane_args a = { y, ABUT_AT(c->xi, double), ABUT_AT(c->fixed, uint8_t), ABUT_AT(c->hs_point, double),
                                ABUT_AT(c->hs_normal, double), (uint32_t)nh, abut_gpu_scale(c), ABUT_AT(c->count, uint32_t),
                                ABUT_AT(c->value, double), ABUT_AT(c->first, uint32_t), ABUT_AT(s->plane_vert, int32_t),
                                ABUT_AT(s->plane, int32_t), ABUT_AT(s->plane_dist, double), ABUT_AT(s->plane_mult, double) };
    rc = ABUT_RUN(q, plane_classify, &a, n, err);
    if (!rc) rc = q->on->least(q, a.gap, n, ABUT_PULSE(c, plane), err);
    if (!rc) rc = q->on->scan(q, a.hit, n, ABUT_AT(c->first, uint32_t), NULL, err);
    if (!rc) rc = ABUT_RUN(q, plane_write, &a, n, err);
    if (!rc) rc = q->on->copy(q, ABUT_PULSE(c, n_plane), a.first + n, sizeof(uint32_t), err);
    return rc;
}

/* ---- what makes it fail, in the words of the search without a GPU ---- */

static abut_status pair_touches(abut_gpu_touch *c, const double *y, size_t k, abut_err *err)
{
    abut_stencil s;
    int32_t ij[2];
    const abut_status rc = abut_gpu_candidate(c, k, &s, ij, err);
    return rc ? rc : abut_pairs_too_close(c->cm, s, ij, y, err);
}

static abut_status plane_touches(const abut_gpu_touch *c, const double *y, size_t k, abut_err *err)
{
    const abut_model *m = c->cm->model;
    const size_t v = k / (size_t)m->nh, h = k % (size_t)m->nh;
    const double *o = m->hs_point + 3 * h, *n = m->hs_normal + 3 * h, *p = y + 3 * v;
    return abut_pairs_plane_too_close(c->cm, (int32_t)v, (int32_t)h,
                                     n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]), err);
}

static abut_status fails(abut_gpu_touch *c, const abut_gpu_pulse *p, const double *on_machine, abut_err *err)
{
    double *y = NULL;
    abut_status rc = abut_gpu_fetch(c, on_machine, &y, err);
    if (!rc) rc = abut_pairs_check(c->cm, y, err);
    if (!rc && p->pair.value < 0) rc = pair_touches(c, y, p->pair.number, err);
    if (!rc && p->plane.value < 0) rc = plane_touches(c, y, p->plane.number, err);
    free(y);
    return rc;
}

/* ---- public ---- */

abut_status abut_gpu_touch_find(abut_gpu_touch *c, const double *x, abut_gpu_contacts *set, abut_err *err)
{
    abut_queue *q = c->q;
    const size_t nc = (size_t)c->cm->nc;
    const abut_gpu_pulse none = { .pair = { INFINITY, UINT64_MAX }, .plane = { INFINITY, UINT64_MAX }, .n_plain = UINT32_MAX };
    abut_gpu_pulse p = none;
    size_t hits = 0;
    set->n = set->n_plain = set->n_plane = 0;
    set->smallest_gap = INFINITY;
    abut_status rc = abut_buffer_need(q, &c->y, "positions", 3 * nc, sizeof(double), err);
    if (rc) return rc;
    double *y = ABUT_AT(c->y, double);
    rc = abut_gpu_gather(c, x, y, err);
    if (!rc) rc = q->on->put(q, c->pulse.at, &none, sizeof none, err);
    if (!rc) rc = q->on->largest(q, y, 3 * nc, ABUT_PULSE(c, size), err);
    if (!rc) rc = pairs(c, y, set, &hits, err);
    if (!rc) rc = planes(c, y, set, err);
    if (!rc) rc = abut_gpu_pulse_get(c, &p, err);
    if (!rc && (!(p.size <= DBL_MAX) || p.pair.value < 0 || p.plane.value < 0)) rc = fails(c, &p, y, err);
    if (rc) return rc;
    set->n = p.n;
    set->n_plain = p.n_plain < p.n ? p.n_plain : p.n;
    set->n_plane = p.n_plane;
    set->smallest_gap = p.pair.value < p.plane.value ? p.pair.value : p.plane.value;
    return ABUT_OK;
}

static abut_status get(abut_queue *q, const abut_buffer *from, void *to, size_t n, size_t size, abut_err *err)
{
    return n ? q->on->get(q, to, from->at, n * size, err) : ABUT_OK;
}

abut_status abut_gpu_contacts_get(abut_queue *q, const abut_gpu_contacts *set, abut_pairs *out, abut_err *err)
{
    const size_t n = set->n, m = set->n_plane;
    abut_status rc = abut_pairs_reserve(out, n, m, err);
    if (!rc) rc = get(q, &set->kind, out->kind, n, sizeof *out->kind, err);
    if (!rc) rc = get(q, &set->vert, out->vert, n, sizeof *out->vert, err);
    if (!rc) rc = get(q, &set->mult, out->mult, n, sizeof *out->mult, err);
    if (!rc) rc = get(q, &set->dist2, out->dist2, n, sizeof *out->dist2, err);
    if (!rc) rc = get(q, &set->eps_x, out->eps_x, n, sizeof *out->eps_x, err);
    if (!rc) rc = get(q, &set->plane_vert, out->plane_vert, m, sizeof *out->plane_vert, err);
    if (!rc) rc = get(q, &set->plane, out->plane, m, sizeof *out->plane, err);
    if (!rc) rc = get(q, &set->plane_dist, out->plane_dist, m, sizeof *out->plane_dist, err);
    if (!rc) rc = get(q, &set->plane_mult, out->plane_mult, m, sizeof *out->plane_mult, err);
    if (rc) return rc;
    out->n = n;
    out->n_plain = set->n_plain;
    out->n_plane = m;
    return ABUT_OK;
}
