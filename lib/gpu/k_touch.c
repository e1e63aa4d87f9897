/* Candidates to contacts (contact/pairs.h): classified, sorted, merged. */
#include "gpu/near_inline.h"

#include "gpu/kernel.h"

ABUT_FN_LITERAL int touch_of_kind(abut_stencil s, const abut_contact_args *a, const abut_near_pair *p, abut_touch *c)
{
    double x[12];
    const double eps_x = s == ABUT_EE ? abut_mollify_eps_fn(a->rest2[p->i], a->rest2[p->j]) : 0;
    abut_near_points(a->y, p->v, abut_stencil_size(s), x);
    const double dhat = abut_pair_dhat(&a->scale, p->v[0], p->v[abut_stencil_second(s)]);
    return abut_touch_of(s, p->v, x, p->xi, dhat, eps_x, c);
}

ABUT_FN int touch_at(const abut_contact_args *a, const abut_near_pair *p, abut_touch *c)
{
    switch (p->kind) {
    case ABUT_PT: return touch_of_kind(ABUT_PT, a, p, c);
    case ABUT_EE: return touch_of_kind(ABUT_EE, a, p, c);
    case ABUT_PE: return touch_of_kind(ABUT_PE, a, p, c);
    default: return touch_of_kind(ABUT_PP, a, p, c);
    }
}

ABUT_KERNEL(contact_classify, abut_contact_args)
{
    abut_touch c;
    const abut_near_pair p = abut_near_at(&a->near, i);
    const int hit = touch_at(a, &p, &c);
    a->hit[i] = hit > 0;
    a->gap[i] = hit > 0 ? abut_beyond(c.dist2, p.xi) : hit < 0 ? -1 : (double)INFINITY;
}

ABUT_KERNEL(contact_raw, abut_contact_args)
{
    if (!a->hit[i]) return;
    abut_touch c;
    const abut_near_pair p = abut_near_at(&a->near, i);
    (void)touch_at(a, &p, &c);
    const size_t to = a->first[i];
    for (int k = 0; k < 4; k++) a->raw.vert[4 * to + k] = c.v[k];
    a->raw.class_[to] = (uint32_t)c.touch_class;
    a->raw.dist2[to] = c.dist2;
    a->raw.eps_x[to] = c.eps_x;
    a->key[to] = (uint64_t)(c.v[2] + 1) << a->bits | (uint64_t)(c.v[3] + 1);
    a->order[to] = (uint32_t)to;
}

ABUT_KERNEL(contact_key, abut_merge_args)
{
    const size_t r = a->order[i];
    const int32_t *v = a->raw.vert + 4 * r;
    a->key[i] = ((uint64_t)a->raw.class_[r] << a->bits | (uint64_t)(v[0] + 1)) << a->bits | (uint64_t)(v[1] + 1);
}

ABUT_KERNEL(contact_head, abut_merge_args)
{
    const size_t r = a->order[i], before = i ? a->order[i - 1] : r;
    int same = i > 0 && a->raw.class_[r] != ABUT_TOUCH_MOLLIFIED && a->raw.class_[r] == a->raw.class_[before];
    for (int k = 0; k < 4; k++) same &= a->raw.vert[4 * r + k] == a->raw.vert[4 * before + k];
    a->head[i] = !same;
}

ABUT_KERNEL(contact_start, abut_merge_args)
{
    if (a->head[i]) a->start[a->first[i]] = (uint32_t)i;
}

ABUT_KERNEL(contact_write, abut_merge_args)
{
    const uint32_t n = a->first[a->m], k = (uint32_t)i;
    if (k >= n) return;
    const uint32_t at = a->start[k], end = k + 1 < n ? a->start[k + 1] : a->m;
    const size_t r = a->order[at];
    const uint32_t c = a->raw.class_[r];
    a->kind[k] = (uint8_t)(c == ABUT_TOUCH_MOLLIFIED ? ABUT_EE : c);
    for (int d = 0; d < 4; d++) a->vert[4 * i + d] = a->raw.vert[4 * r + d];
    const int32_t *v = a->raw.vert + 4 * r, *w = v + abut_stencil_second((abut_stencil)a->kind[k]);
    a->mult[k] = (end - at) * abut_pair_weight(&a->scale, *v, *w, abut_near_xi((abut_stencil)a->kind[k], a->xi, v));
    a->dist2[k] = a->raw.dist2[r];
    a->eps_x[k] = a->raw.eps_x[r];
    if (c == ABUT_TOUCH_MOLLIFIED && (k == 0 || a->raw.class_[a->order[a->start[k - 1]]] != c)) *a->n_plain = k;
}

ABUT_KERNEL(plane_classify, abut_plane_args)
{
    const size_t v = i / a->nh, h = i % a->nh;
    const double xi = a->xi ? 0.5 * a->xi[v] : 0, d = abut_near_height(a->y + 3 * v, a->point + 3 * h, a->normal + 3 * h);
    const int near = !(a->fixed && a->fixed[v]) && d - xi < abut_pair_dhat(&a->scale, (int32_t)v, -1);
    a->hit[i] = near;
    a->gap[i] = !near ? (double)INFINITY : d > xi ? d - xi : -1;
}

ABUT_KERNEL(plane_write, abut_plane_args)
{
    if (!a->hit[i]) return;
    const size_t v = i / a->nh, h = i % a->nh, to = a->first[i];
    a->plane_vert[to] = (int32_t)v;
    a->plane[to] = (int32_t)h;
    a->plane_dist[to] = abut_near_height(a->y + 3 * v, a->point + 3 * h, a->normal + 3 * h);
    a->plane_mult[to] = abut_pair_weight(&a->scale, (int32_t)v, -1, a->xi ? 0.5 * a->xi[v] : 0);
}

ABUT_KERNEL(slot_key, abut_slots_args)
{
    const int32_t node = a->node[i];
    a->key[i] = node >= 0 && !(a->drop && a->drop[node]) ? (uint64_t)node : a->nv;
    a->order[i] = (uint32_t)i;
}

ABUT_KERNEL(slot_first, abut_slots_args)
{
    uint32_t lo = 0, hi = a->n;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (a->key[mid] < i) lo = mid + 1;
        else hi = mid;
    }
    a->first[i] = lo;
}
