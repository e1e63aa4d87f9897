#include "scene/advice.h"

#include "contact/pairs.h"
#include "energy/barrier_pair.h"
#include "geom/dist.h"
#include "math/vec3.h"
#include "model/naming.h"
#include "model/schemes.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PART = 0.1, ROUND = 1e-12;
enum { STEPS = 1000, ITERATIONS = 200 };

/* A contact of objects or half-spaces lo < hi: its distance, and the unit normal towards lo. */
typedef struct touch {
    int32_t lo, hi;
    size_t row;                 /* of the list of contacts */
    int32_t vert[4];            /* the first `n_lo` on lo, then those on hi; -1 unused */
    int n_lo;
    double weight, d, xi, dhat; /* multiplicity times mollifier; m */
    abut_vec3 n;
    double slope;               /* change of d in a motion of lo along the resultant */
} touch;

/* All that a search holds. */
typedef struct search {
    const abut_scene *scene;
    const abut_built *built;
    abut_collmesh cm;
    double *y;                  /* [3 nc] */
    abut_candidates cand;
    abut_pairs pairs;
    touch *touch;
    double *mass;               /* [no + nh] of things; infinite: scripted in part, or a half-space */
    size_t *seen;               /* [nv] 1 + the first contact of the pair of things that has counted this node */
} search;

/* A pair of things: its contacts, and what moves. */
typedef struct couple {
    const abut_model *m;
    touch *at;
    size_t n;
    double mass;                /* kg, reduced, of what moves with the two surfaces in a step */
    double all;                 /* kg, reduced, of the two things; infinite: neither moves */
    double gravity;             /* m/s^2, against the parting */
} couple;

static int by_things(const void *a, const void *b)
{
    const touch *p = a, *q = b;
    if (p->lo != q->lo) return p->lo < q->lo ? -1 : 1;
    if (p->hi != q->hi) return p->hi < q->hi ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static void take_pair(const search *s, size_t i, touch *t)
{
    const abut_pairs *p = &s->pairs;
    double x[12], w[4], e = 1;
    abut_vec3 r = { 0, 0, 0 };
    const abut_stencil kind = abut_pairs_get(p, i, s->y, x);
    const int n = abut_stencil_size(kind), second = abut_stencil_second(kind);
    const int32_t a = abut_collmesh_object(&s->cm, p->vert[i][0]), b = abut_collmesh_object(&s->cm, p->vert[i][second]);
    const int swap = b < a, n_lo = swap ? n - second : second;
    if (p->eps_x[i] > 0) {
        e = abut_mollify(abut_cross2(x, NULL, NULL), p->eps_x[i], NULL, NULL);
        (void)abut_closest(kind, x, w);
    } else (void)abut_dist2(kind, x, w);
    for (int k = 0; k < n; k++) r = abut_v3_axpy(r, w[k], abut_v3_get(x + 3 * k));
    *t = (touch){ swap ? b : a, swap ? a : b, i, { -1, -1, -1, -1 }, n_lo, p->mult[i] * e, sqrt(p->dist2[i]),
                  abut_pairs_xi(&s->cm, p, i), abut_pairs_dhat(&s->cm, p, i), { 0, 0, 0 }, 0 };
    t->n = abut_v3_scale((swap ? -1 : 1) / t->d, r);
    for (int k = 0; k < n; k++) t->vert[k] = p->vert[i][swap ? (k < n_lo ? second + k : k - n_lo) : k];
}

static void take_plane(const search *s, size_t i, touch *t)
{
    const abut_pairs *p = &s->pairs;
    const abut_model *m = s->cm.model;
    const int32_t v = p->plane_vert[i];
    *t = (touch){ abut_collmesh_object(&s->cm, v), m->no + p->plane[i], p->n + i, { v, -1, -1, -1 }, 1, p->plane_mult[i],
                  p->plane_dist[i], abut_pairs_plane_xi(&s->cm, p, i), abut_pairs_plane_dhat(&s->cm, p, i),
                  abut_v3_get(m->hs_normal + 3 * (size_t)p->plane[i]), 0 };
}

/* Force of a contact at the distance d along its normal, over kappa, m^3, and its change with d, m^2. */
static double force(const abut_model *m, const touch *t, double d, double *change)
{
    double db, ddb;
    (void)abut_barrier(abut_model_barrier(m, t->dhat, t->xi), (d - t->xi) * (d + t->xi), &db, &ddb);
    *change = -t->weight * (4 * d * d * ddb + 2 * db);
    return -t->weight * 2 * d * db;
}

/* The force along the resultant when the surfaces have parted by u, and its change; -inf if other contacts are closed then. */
static double resultant(const couple *c, double u, double *change)
{
    double f = 0;
    *change = 0;
    for (size_t i = 0; i < c->n; i++) {
        double df;
        const touch *t = &c->at[i];
        const double d = t->d + t->slope * u, one = d > t->xi ? force(c->m, t, d, &df) : INFINITY;
        if (isinf(one)) return -INFINITY;
        f += t->slope * one;
        *change += t->slope * t->slope * df;
    }
    return f;
}

/* The end v >= u of a step that begins at u: mass (v - hat) = kappa F(v).  F falls: Newton's method between bounds. */
static double step_end(const couple *c, double u, double hat)
{
    const double kappa = c->m->kappa_min[0];
    double lo = u, hi = INFINITY, v = fmax(u, hat), last = -INFINITY, df;
    for (int k = 0; k < ITERATIONS && fabs(v - last) > ROUND * fabs(v); k++) {
        const double lacks = kappa * resultant(c, v, &df) - c->mass * (v - hat), next = v + lacks / (c->mass - kappa * df);
        if (lacks > 0) lo = v;
        else hi = v;
        last = v;
        v = next > lo && next < hi ? next : isfinite(hi) ? 0.5 * (lo + hi) : next;
    }
    return v;
}

/* x' = x + h (v + v')/2, and gravity and contact act with h^2/2. */
static int is_mean(int scheme)
{
    return abut_scheme_is(scheme, ABUT_SCHEME_KEEPS_ENERGY);
}

/* The largest speed of the surfaces, by the steps of the scheme (solve/integrator.h). */
static double surface_speed(const couple *c, int scheme)
{
    const int mean = is_mean(scheme), is_bdf = abut_schemes[scheme].past > 0;
    const double h = c->m->h[0];
    double u = 0, v = 0, u0 = 0, v0 = 0;
    for (int k = 0; k < STEPS; k++) {
        const double past = is_bdf && k > 0 ? 1.0 / 3 : 0, share = mean ? 0.5 : past > 0 ? 2.0 / 3 : 1;
        const double from = u + past * (u - u0), start = v + past * (v - v0), weight = mean ? 0.5 : share * share;
        const double end = step_end(c, u, from + (mean ? 1 : share) * h * start - weight * h * h * c->gravity);
        const double next = (end - from) / (share * h) - (mean ? v : 0);
        if (!(next > v * (1 + ROUND))) break;
        u0 = u, u = end;
        v0 = v, v = next;
    }
    return v;
}

static double reduced(double a, double b)
{
    return 1 / (1 / a + 1 / b);
}

/* Mass of the nodes of one side that have contacts. */
static double mass_in_contact(search *s, const couple *c, int is_hi)
{
    const size_t first = (size_t)(c->at - s->touch) + 1;
    double mass = 0;
    for (const touch *t = c->at; t < c->at + c->n; t++)
        for (int k = is_hi ? t->n_lo : 0; k < (is_hi ? 4 : t->n_lo) && t->vert[k] >= 0; k++) {
            const int32_t node = abut_collmesh_node(&s->cm, t->vert[k]);
            if (s->seen[node] == first) continue;
            s->seen[node] = first;
            mass += c->m->mass[node];
        }
    return mass;
}

/* Mass that moves with the surface of one side in a step.  A step of implicit Euler moves a bar of length L by
 * cosh((L - x) / ch) / cosh(L / ch), c the speed of plane waves, of which the mean is tanh(L / ch) ch / L; schemes of the mean
 * have half of ch.  Shells and rods bend: only the nodes with contacts move. */
static double mass_moved(search *s, const couple *c, int is_hi, abut_vec3 n)
{
    const int32_t thing = is_hi ? c->at->hi : c->at->lo;
    const double all = s->mass[thing];
    if (isinf(all)) return all;
    const abut_object_facts *f = &s->built->object[thing];
    const abut_scene_material *m = &s->scene->material[s->scene->object[thing].material];
    const double nu = m->poisson, speed = sqrt(m->young * (1 - nu) / ((1 + nu) * (1 - 2 * nu) * m->density));
    const double L = fabs(n.x) * (f->hi[0] - f->lo[0]) + fabs(n.y) * (f->hi[1] - f->lo[1]) + fabs(n.z) * (f->hi[2] - f->lo[2]);
    const double ch = speed * c->m->h[0] * (is_mean(s->scene->scheme) ? 0.5 : 1);
    return fmin(all, fmax(mass_in_contact(s, c, is_hi), !f->tets ? 0 : L > 0 ? all * tanh(L / ch) * ch / L : all));
}

/* Direction, masses and weight of a pair: what is pushed up has its weight against it. */
static void set_motion(search *s, couple *c)
{
    const double lo = s->mass[c->at->lo], hi = s->mass[c->at->hi];
    abut_vec3 f = { 0, 0, 0 };
    double df;
    for (size_t i = 0; i < c->n; i++) f = abut_v3_axpy(f, force(c->m, &c->at[i], c->at[i].d, &df), c->at[i].n);
    const double size = abut_v3_norm(f);
    const abut_vec3 n = abut_v3_scale(size > 0 ? 1 / size : 0, f);
    const double up = -abut_v3_dot(abut_v3_get(c->m->gravity), n);
    for (size_t i = 0; i < c->n; i++) c->at[i].slope = abut_v3_dot(n, c->at[i].n);
    c->all = reduced(lo, hi);
    c->mass = reduced(mass_moved(s, c, 0, n), mass_moved(s, c, 1, n));
    c->gravity = isfinite(lo) && up > 0 ? up : isfinite(hi) && up < 0 ? -up : 0;
}

/* The bound on the speed of a pair. */
static double most_of(const abut_model *m, const abut_built *b, const touch *t)
{
    const double g = abut_v3_norm(abut_v3_get(m->gravity));
    double l = INFINITY;
    for (int k = 0; k < 2; k++) {
        const int32_t thing = k ? t->hi : t->lo;
        if (thing < m->no && b->object[thing].extent > 0) l = fmin(l, b->object[thing].extent);
    }
    return PART * (g > 0 ? sqrt(g * (isfinite(l) ? l : b->length)) : b->speed);
}

static int is_worse(const abut_pressed *p, const abut_pressed *q)
{
    if (p->is_tiny || q->is_tiny) return p->is_tiny && (!q->is_tiny || p->gap * q->dhat < q->gap * p->dhat);
    return q->pairs == 0 || p->speed * q->most > q->speed * p->most;
}

static void look_at(search *s, couple *c, abut_pressed *out)
{
    const touch *t = c->at;
    const int is_one = t->lo == t->hi;
    abut_pressed p = { .pairs = out->pairs + !is_one, .thing = { t->lo, t->hi }, .gap = INFINITY, .dhat = 1 };
    for (size_t i = 0; i < c->n; i++)
        if ((t[i].d - t[i].xi) * p.dhat < p.gap * t[i].dhat) p.gap = t[i].d - t[i].xi, p.dhat = t[i].dhat;
    p.is_tiny = p.gap < ABUT_GAP_TINY * p.dhat;
    if (is_one && !p.is_tiny) return;
    if (!is_one && abut_scheme_is(s->scene->scheme, ABUT_SCHEME_INERTIA)) {
        set_motion(s, c);
        p.most = most_of(c->m, s->built, t);
        if (isfinite(c->all)) p.speed = surface_speed(c, s->scene->scheme) * c->mass / c->all;
    }
    if (is_worse(&p, out)) *out = p;
    out->pairs = p.pairs;
}

static abut_status prepare(search *s, const double *x, abut_err *err)
{
    const abut_model *m = s->cm.model;
    const size_t n = (size_t)(m->no + m->nh), nv = (size_t)m->nv;
    s->y = malloc((3 * (size_t)s->cm.nc + 1) * sizeof *s->y);
    s->mass = malloc((n + 1) * sizeof *s->mass);
    s->seen = calloc(nv + 1, sizeof *s->seen);
    if (!s->y || !s->mass || !s->seen) return abut_fail(err, ABUT_E_NOMEM, "pressed starts: no memory for %zu nodes", nv);
    for (size_t i = 0; i < n; i++) s->mass[i] = i < (size_t)m->no ? 0 : INFINITY;
    for (size_t i = 0; i < nv; i++) s->mass[m->body[i]] += m->role[i] == ABUT_NODE_FREE ? m->mass[i] : INFINITY;
    abut_collmesh_positions(&s->cm, x, s->y);
    abut_status rc = abut_candidates_find(&s->cm, s->y, NULL, m->dhat[0], s->cm.obstacle, &s->cand, err);
    if (!rc) rc = abut_pairs_find(&s->cm, &s->cand, s->y, s->cm.obstacle, &s->pairs, err);
    if (rc) return rc;
    s->touch = malloc((s->pairs.n + s->pairs.n_plane + 1) * sizeof *s->touch);
    return s->touch ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "pressed starts: no memory for %zu contacts", s->pairs.n);
}

abut_status abut_pressed_find(const abut_scene *s, const abut_model *m, const abut_built *b, const double *x, abut_pressed *out,
                              abut_err *err)
{
    assert(out);
    search a = { .scene = s, .built = b };
    *out = (abut_pressed){ 0 };
    abut_status rc = abut_collmesh_init(&a.cm, m, err);
    if (!rc) rc = prepare(&a, x, err);
    const size_t np = a.pairs.n, n = rc ? 0 : np + a.pairs.n_plane;
    for (size_t i = 0; i < n; i++) i < np ? take_pair(&a, i, &a.touch[i]) : take_plane(&a, i - np, &a.touch[i]);
    if (n) qsort(a.touch, n, sizeof *a.touch, by_things);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && a.touch[next].lo == a.touch[i].lo && a.touch[next].hi == a.touch[i].hi;) next++;
        couple c = { .m = m, .at = a.touch + i, .n = next - i };
        look_at(&a, &c, out);
    }
    abut_pairs_clear(&a.pairs);
    abut_candidates_clear(&a.cand);
    abut_collmesh_clear(&a.cm);
    free(a.touch), free(a.seen), free(a.mass), free(a.y);
    return rc;
}

static const char *thing_words(const abut_model *m, int32_t thing, char *buf)
{
    return thing < m->no ? abut_object_words(m, thing, buf) : abut_half_space_words(m, thing - m->no, buf);
}

const char *abut_pressed_words(const abut_pressed *p, const abut_model *m, char text[ABUT_PRESSED_WORDS])
{
    char a[ABUT_OBJECT_WORDS], b[ABUT_OBJECT_WORDS], two[2 * ABUT_OBJECT_WORDS + 16], parts[64] = "";
    *text = 0;
    if (!p->pairs && !p->is_tiny) return text;
    thing_words(m, p->thing[0], a);
    if (p->thing[0] == p->thing[1]) snprintf(two, sizeof two, "parts of %s", a);
    else snprintf(two, sizeof two, "%s and %s", a, thing_words(m, p->thing[1], b));
    if (!p->is_tiny && p->most > 0) snprintf(parts, sizeof parts, ": the barrier parts them at %.3g m/s", p->speed);
    snprintf(text, ABUT_PRESSED_WORDS, "%s start %.3g m apart, %s dhat, %.3g m%s", two, p->gap,
             p->is_tiny ? "less than a millionth of" : "within", p->dhat, parts);
    return text;
}

abut_status abut_pressed_refuse(const abut_pressed *p, const abut_model *m, abut_err *err)
{
    static const char taken[] = "or `contact: {start: pressed}`, which leaves the start alone";
    const double g = abut_v3_norm(abut_v3_get(m->gravity));
    char text[ABUT_PRESSED_WORDS];
    abut_pressed_words(p, m, text);
    if (p->is_tiny)
        return abut_fail(err, ABUT_E_GEOM, "%s: expected a larger gap, which --separate GAP makes, %s", text, taken);
    if (!(p->speed > p->most)) return ABUT_OK;
    return abut_fail(err, ABUT_E_GEOM, "%s, more than %.3g m/s, a tenth of %s; expected a larger gap, a smaller "
                     "contact.dhat, %s", text, p->most, g > 0 ? "sqrt(gravity l)" : "the speed of the scene", taken);
}
