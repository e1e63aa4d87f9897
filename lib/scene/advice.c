/* Judgements on a built scene: starts that the barrier parts; advice. */
#include "scene/advice.h"

#include "contact/pairs.h"
#include "energy/barrier_pair.h"
#include "geom/dist.h"
#include "mesh/surface.h"
#include "model/motion.h"
#include "model/schemes.h"

#include <assert.h>
#include <complex.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- starts in which the barrier acts ---- */

static const double TENTH = 0.1, ROUND = 1e-12;
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
    return TENTH * (g > 0 ? sqrt(g * (isfinite(l) ? l : b->length)) : b->speed);
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
    if (!ABUT_ARRAYS(ABUT_ITEMS(s->y, 3 * (size_t)s->cm.nc), ABUT_ITEMS(s->mass, n), ABUT_ZEROS(s->seen, nv)))
        return abut_fail(err, ABUT_E_NOMEM, "pressed starts: no memory for %zu nodes", nv);
    for (size_t i = 0; i < n; i++) s->mass[i] = i < (size_t)m->no ? 0 : INFINITY;
    for (size_t i = 0; i < nv; i++) s->mass[m->body[i]] += m->role[i] == ABUT_NODE_FREE ? m->mass[i] : INFINITY;
    abut_collmesh_positions(&s->cm, x, s->y);
    s->cand.search.by_area = 1;
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

/* "'a' and half-space 'floor' start 1e-05 m apart, within dhat, 0.001 m: the barrier parts them at 0.2 m/s"; returns text, ""
 * if there is no pair. */
static const char *pressed_words(const abut_pressed *p, const abut_model *m, char text[ABUT_PRESSED_WORDS])
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
    pressed_words(p, m, text);
    if (p->is_tiny) return abut_fail(err, ABUT_E_GEOM, "%s: expected a larger gap, which --separate GAP makes, %s", text, taken);
    if (!(p->speed > p->most)) return ABUT_OK;
    return abut_fail(err, ABUT_E_GEOM, "%s, more than %.3g m/s, a tenth of %s; expected a larger gap, a smaller "
                     "contact.dhat, %s", text, p->most, g > 0 ? "sqrt(gravity l)" : "the speed of the scene", taken);
}

/* ---- advice ---- */

static const double SLENDER = 16, EDGE_PART = 0.5, BALANCE = 0.1, ROUGH = 5, HEAVY = 1000;

ABUT_PRINTF(2, 3) static void advise(abut_advice *a, const char *fmt, ...)
{
    va_list ap;
    if (a->n == ABUT_ADVICE_MOST) {
        a->left_out++;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(a->text[a->n++], ABUT_ADVICE_TEXT, fmt, ap);
    va_end(ap);
}

/* is_deep[object]: a node of it is neither on the surface nor in a tet with a node that is. */
static abut_status find_deep(const abut_model *m, uint8_t *is_deep, abut_err *err)
{
    enum { INSIDE, NEAR, SURFACE };
    int32_t *tri = NULL, n = 0;
    uint8_t *where = calloc((size_t)m->nv + 1, 1);
    abut_status rc = where ? abut_surface_triangles(m->tet, m->nt, &tri, &n, err)
                           : abut_fail(err, ABUT_E_NOMEM, "advice: %d nodes", m->nv);
    for (int32_t i = 0; i < 3 * n && !rc; i++) where[tri[i]] = SURFACE;
    for (int32_t t = 0; t < m->nt && !rc; t++) {
        const int32_t *v = m->tet + 4 * (size_t)t;
        int touches = 0;
        for (int k = 0; k < 4; k++) touches |= where[v[k]] == SURFACE;
        for (int k = 0; k < 4 && touches; k++)
            if (where[v[k]] == INSIDE) where[v[k]] = NEAR;
    }
    for (int32_t i = 0; i < 4 * m->nt && !rc; i++)
        if (where[m->tet[i]] == INSIDE) is_deep[m->body[m->tet[i]]] = 1;
    ABUT_FREE(where, tri);
    return rc;
}

static double extent(const abut_object_facts *f, int largest)
{
    double d = largest ? 0 : INFINITY;
    for (int k = 0; k < 3; k++) {
        const double e = f->hi[k] - f->lo[k];
        d = largest ? d + e * e : e < d ? e : d;
    }
    return largest ? sqrt(d) : d;
}

static void look_at_depth(const abut_scene_object *o, const abut_object_facts *f, int is_deep, abut_advice *a)
{
    const double l = extent(f, 1);
    if (!f->tets || f->order > 1 || is_deep || o->is_frame || !(f->volume > 0) || l * l * l < SLENDER * f->volume) return;
    advise(a, "'%s' is slender and less than 4 elements deep: tets of order 1 bend too stiffly then (2 deep: about half the "
           "deflection); a finer mesh or `order: 2` bends as it should", o->name);
}

static void look_at_dhat(const abut_scene_object *o, const abut_object_facts *f, double dhat, abut_advice *a)
{
    if (!(f->least_edge > 0) || dhat < EDGE_PART * f->least_edge) return;
    advise(a, "contact acts within dhat, %.3g m, which is %.2g of the shortest edge of '%s', %.3g m: contact sees less than "
           "the mesh shows; a dhat of a tenth of the edge is usual", dhat, dhat / f->least_edge, o->name, f->least_edge);
}

static void look_at_impact(const abut_scene *s, const abut_scene_object *o, const abut_object_facts *f, double h, abut_advice *a)
{
    const abut_scene_material *m = &s->material[o->material];
    const double d = extent(f, 0), lasts = 2 * d * sqrt(m->density / m->young);
    if (!f->tets || !(lasts > 0) || h <= lasts || o->rigid.is) return;
    advise(a, "an impact of '%s' lasts about %.2g s, and a time step is %.2g s: it lands without a rebound; a shorter step shows "
           "one", o->name, lasts, h);
}

/* Elasticity in the middle of a step is that of the chord: the ends of a rigid rotation by a are stretched by a^2/8. */
static void look_at_rigid(const abut_scene *s, const abut_scene_object *o, const abut_object_facts *f, abut_advice *a)
{
    const double stretch = f->rigid.angle * f->rigid.angle / 8;
    if (o->rigid.is && abut_schemes[s->scheme].share < 1 && stretch > o->rigid.strain)
        advise(a, "'%s' rotates by %.2g rad in a time step, and %s stretches it by %.2g, more than %.2g (rigid.strain), at any "
               "stiffness: expected a shorter step, or %s", o->name, f->rigid.angle, abut_schemes[s->scheme].name, stretch,
               o->rigid.strain, abut_scheme_names[abut_scheme_with(ABUT_SCHEME_DAMPS)]);
    if (o->rigid.ratio > 3)
        advise(a, "the inertia of '%s' is not that of its mesh at uniform density: its principal moments differ by a factor of "
               "%.3g", o->name, o->rigid.ratio);
}

static void look_at_thickness(const abut_scene_object *o, const abut_object_facts *f, abut_advice *a)
{
    if (!f->shells) return;
    const double side = sqrt(4 / sqrt(3) * f->area / f->shells);    /* of equilateral triangles of this area */
    if (!(o->shell.thickness > side)) return;
    advise(a, "'%s' is a shell of thickness %.3g m, more than the sides of its triangles, about %.3g m: is the unit meant? What "
           "is so thick does not behave like a shell", o->name, o->shell.thickness, side);
}

static void look_at_times(const abut_scene *s, abut_advice *a)
{
    const double end = s->end.value;
    if (!(end > 0)) return;
    if (s->step.value > end) advise(a, "time.step, %g s, is longer than the scene lasts, %g s (time.end)", s->step.value, end);
    for (int32_t i = 0; i < s->nmotions; i++)
        if (s->motion[i].window[0] >= end)
            advise(a, "the motion of %s begins at %g s, and the scene ends at %g s (time.end)", s->motion[i].from,
                   s->motion[i].window[0], end);
}

/* Motions so short that no step belongs to them; obstacles follow every part of a step. */
static void look_at_windows(const abut_scene *s, const abut_model *m, abut_advice *a)
{
    if (s->end.value > 0 && m->h[0] > s->end.value) return;     /* the step is the slip */
    for (int32_t k = 0; k < m->nmo; k++) {
        const double *w = m->mo_window + 2 * (size_t)k, h = m->h[0];
        const int32_t entry = m->mo_entry ? m->mo_entry[k] : k;
        int is_first = entry >= 0 && entry < s->nmotions && isfinite(w[1]) && m->mo_first[2 * k] < m->mo_first[2 * k + 1];
        for (int32_t j = 0; j < k && is_first; j++) is_first = (m->mo_entry ? m->mo_entry[j] : j) != entry;
        if (!is_first || m->role[m->mo_node[m->mo_first[2 * k]]] == ABUT_NODE_OBSTACLE) continue;
        if (!abut_motion_has_step(m, k, h * fmax(ceil(w[0] / h - 0.5 - 1e-9), 0)))
            advise(a, "the motion of %s, from %g to %g s, is over before the middle of a step (of %g s): it does nothing",
                   s->motion[entry].from, fmax(w[0], 0), w[1], h);
    }
}

/* Rotations alone whose nodes all lie on the axis, and of no rod, which a rotation may twist. */
static void look_at_rotations(const abut_scene *s, const abut_model *m, abut_advice *a)
{
    static const double ON_AXIS = 1e-9;     /* of the length of the scene */
    for (int32_t k = 0; k < m->nmo; k++) {
        const int32_t entry = m->mo_entry ? m->mo_entry[k] : k;
        const abut_vec3 w = abut_v3_get(m->mo_angular + 3 * (size_t)k), c = abut_v3_get(m->mo_center + 3 * (size_t)k);
        const double other = abut_v3_norm2(abut_v3_get(m->mo_linear + 3 * (size_t)k)) +
                             (m->mo_scale ? abut_v3_norm2(abut_v3_get(m->mo_scale + 3 * (size_t)k)) : 0);
        int is_still = m->mo_kind[k] == ABUT_MOTION_MOVE && abut_v3_norm2(w) > 0 && other == 0 && entry >= 0 &&
                       entry < s->nmotions && !(m->mo_window[2 * k] > 0);
        for (int32_t i = m->mo_first[2 * k]; i < m->mo_first[2 * k + 1] && is_still; i++) {
            const int32_t node = m->mo_node[i];
            const abut_vec3 d = abut_v3_sub(abut_v3_get(m->X + 3 * (size_t)node), c);
            is_still = abut_v3_norm(abut_v3_cross(w, d)) <= ON_AXIS * m->length[0] * abut_v3_norm(w);
            for (int32_t j = 0; j < 2 * m->nrd && is_still; j++) is_still = m->rod[j] != node;
        }
        if (is_still) advise(a, "the motion of %s rotates nodes that all lie on its axis: it holds them", s->motion[entry].from);
    }
}

/* The largest coefficient, and gravity: of another unit, perhaps. */
static void look_at_sizes(const abut_scene *s, abut_advice *a)
{
    const char *from = s->mu.from;
    double most = s->mu.value, g = 0;
    for (int32_t i = 0; i < s->nobjects; i++)
        if (s->object[i].has_mu && s->object[i].mu > most) most = s->object[i].mu, from = s->object[i].from;
    for (int32_t i = 0; i < s->nplanes; i++)
        if (s->plane[i].has_mu && s->plane[i].mu > most) most = s->plane[i].mu, from = s->plane[i].from;
    for (int32_t i = 0; i < s->npairs; i++)
        if (s->pair[i].mu > most) most = s->pair[i].mu, from = s->pair[i].from;
    if (most > ROUGH)
        advise(a, "mu is %g (%s): 0.2 to 1 is usual, and rubber has up to 2", most, from);
    for (int k = 0; k < 3; k++) g += s->gravity[k] * s->gravity[k];
    if (g > HEAVY * HEAVY)
        advise(a, "gravity is %g m/s^2, %.2g times that of the earth: is the unit meant?", sqrt(g), sqrt(g) / 9.81);
}

/* until[node]: from t on, some motion or rest has the node all the time up to there. */
static void follow_motions(const abut_model *m, double t, double *until)
{
    for (int32_t i = 0; i < m->nv; i++) until[i] = t;
    for (int more = 1; more;) {
        more = 0;
        for (int32_t k = 0; k < m->nmo; k++) {
            const double *w = m->mo_window + 2 * (size_t)k;
            if (m->mo_kind[k] == ABUT_MOTION_FORCE) continue;
            for (int32_t i = m->mo_first[2 * k]; i < m->mo_first[2 * k + 1]; i++) {
                double *u = &until[m->mo_node[i]];
                if (*u >= w[0] && *u < w[1]) *u = w[1], more = 1;
            }
        }
    }
}

/* Forces on nodes that go where motions say.  The forces of the model are those of the scene, in its order. */
static abut_status look_at_loads(const abut_scene *s, const abut_model *m, abut_advice *a, abut_err *err)
{
    double *until = malloc(((size_t)m->nv + 1) * sizeof *until);
    if (!until) return abut_fail(err, ABUT_E_NOMEM, "advice: %d nodes", m->nv);
    int32_t i = 0;
    for (int32_t k = 0; k < m->nmo; k++) {
        if (m->mo_kind[k] != ABUT_MOTION_FORCE) continue;
        while (i < s->nmotions && abut_act_moves(s->motion[i].act)) i++;
        if (i == s->nmotions) break;
        const double *w = m->mo_window + 2 * (size_t)k, last = s->end.value > 0 ? fmin(w[1], s->end.value) : w[1];
        follow_motions(m, w[0], until);
        int is_free = w[0] >= last;
        for (int32_t n = m->mo_first[2 * k]; n < m->mo_first[2 * k + 1]; n++) is_free |= until[m->mo_node[n]] < last;
        if (!is_free)
            advise(a, "the load of %s changes nothing: all its nodes are fixed, or moved by other motions, as long as it acts",
                   s->motion[i].from);
        i++;
    }
    free(until);
    return ABUT_OK;
}

/* ---- oscillations under multistep schemes that are not A-stable ---- */

/* The largest factor of |u| from step to step of a scheme for u' = lambda u, z = h lambda: (1 - b z) r^q = a_0 r^(q-1) + a_1
 * r^(q-2) + ... at the roots r (Hairer and Wanner 1996, V.1), which are found all at once (Durand-Kerner). */
static double amplification(const abut_scheme *of, double complex z)
{
    const int q = of->past + 1;
    double complex c[ABUT_PAST + 2] = { 1 - of->b * z, -1 }, root[ABUT_PAST + 1];
    double most = 0;
    for (int k = 0; k < of->past; k++) c[1] += of->a[k], c[k + 2] = -of->a[k];
    for (int i = 0; i < q; i++) root[i] = cpow(0.4 + 0.9 * I, i);
    for (int sweep = 0; sweep < 100; sweep++)
        for (int i = 0; i < q; i++) {
            double complex value = c[0], others = c[0];
            for (int k = 1; k <= q; k++) value = value * root[i] + c[k];
            for (int k = 0; k < q; k++) others *= k == i ? 1 : root[i] - root[k];
            root[i] -= value / others;
        }
    for (int i = 0; i < q; i++) most = fmax(most, cabs(root[i]));
    return most;
}

/* Circular frequencies that the scheme amplifies, 1/s. */
typedef struct amplified {
    double lo, hi, at, most;    /* between them; most at one of them, by this factor a step */
} amplified;

/* Finds the amplified frequencies from lo to hi, with the damping of the scene. */
static amplified find_amplified(const abut_scene *s, double lo, double hi, double h)
{
    enum { SAMPLES = 48 };
    amplified a = { INFINITY, 0, 0, 1 };
    for (int k = 0; k <= SAMPLES; k++) {
        const double w = lo * pow(hi / lo, (double)k / SAMPLES), d = 0.5 * (s->damp_mass.value + s->damp_stiffness.value * w * w);
        const double r = d < w ? amplification(&abut_schemes[s->scheme], h * (-d + I * sqrt(w * w - d * d))) : 0;
        if (r < 1 + 1e-6) continue;
        a.lo = fmin(a.lo, w);
        a.hi = fmax(a.hi, w);
        if (r > a.most) a.most = r, a.at = w;
    }
    return a;
}

/* Estimates the range of frequencies: lo of the slowest bending of a body, sqrt(E / density) d / L^2 with its least and largest
 * extent; hi of its smallest elements, four times the speed of sound over their edge. */
static void find_oscillations(const abut_scene *s, const abut_built *b, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = 0;
    for (int32_t i = 0; i < s->nobjects; i++) {
        const abut_scene_object *o = &s->object[i];
        const abut_object_facts *f = &b->object[i];
        const abut_scene_material *m = &s->material[o->material];
        const double nu = f->tets ? m->poisson : 0, c = sqrt(m->young / m->density), L = extent(f, 1);
        const double side = f->shells ? sqrt(f->area / f->shells) : f->length / fmax(f->rods, 1);
        const double edge = f->least_edge > 0 ? f->least_edge : side;
        if (o->obstacle || !(c > 0 && edge > 0 && L > 0)) continue;
        *hi = fmax(*hi, 4 * c * sqrt((1 - nu) / ((1 + nu) * (1 - 2 * nu))) / edge * fmax(f->order, 1));
        *lo = fmin(*lo, c * fmax(extent(f, 0), 0.01 * edge) / (L * L));
    }
}

/* Amplified by more than FACTOR until the end, or in a second. */
static void look_at_scheme(const abut_scene *s, const abut_built *b, double h, abut_advice *a)
{
    static const double FACTOR = 1.1, PI = 3.14159265358979323846;
    const double lasts = s->end.value > 0 ? s->end.value : 1;
    double lo, hi, step = h;
    if (abut_scheme_is(s->scheme, ABUT_SCHEME_A_STABLE)) return;
    find_oscillations(s, b, &lo, &hi);
    if (!(lo < hi)) return;
    const amplified now = find_amplified(s, lo, hi, h);
    if (log(now.most) * lasts <= log(FACTOR) * h) return;
    for (amplified then = now; log(then.most) * lasts > log(FACTOR) * step && step > 1e-6 * h;) {
        step *= 0.8;
        then = find_amplified(s, lo, hi, step);
    }
    advise(a, "%s is not A-stable: a step of %g s amplifies oscillations of %.2g to %.2g Hz, %.2g Hz by %.2g %% a step; the "
           "bodies have some from %.2g to %.2g Hz. Below %.1g s none of these grows by more than a tenth in %g s; %s damps all "
           "at any step", abut_scheme_names[s->scheme], h, now.lo / (2 * PI), now.hi / (2 * PI), now.at / (2 * PI),
           100 * (now.most - 1), lo / (2 * PI), hi / (2 * PI), step, lasts,
           abut_scheme_names[abut_scheme_with(ABUT_SCHEME_DAMPS)]);
}

static void look_at_forces(const abut_model *m, abut_advice *a)
{
    if (!m->force_tolerance || m->force_tolerance[0] <= BALANCE) return;
    advise(a, "forces are to balance to %.2g of the largest on a body: contact forces, friction and reactions may be off by that "
           "much; `force-tolerance: 0.01` asks for a hundredth", m->force_tolerance[0]);
}

static void look_at_start(const abut_model *m, const abut_pressed *p, abut_advice *a)
{
    char text[ABUT_PRESSED_WORDS], more[48] = "";
    if (!*pressed_words(p, m, text)) return;
    if (p->pairs > 1) snprintf(more, sizeof more, "; so near are %d pairs", p->pairs);
    advise(a, "%s%s", text, more);
}

abut_status abut_advice_find(const abut_scene *s, const abut_model *m, const abut_built *b, const abut_pressed *start,
                             abut_advice *a, abut_err *err)
{
    uint8_t *is_deep = calloc((size_t)m->no + 1, 1);
    *a = (abut_advice){ 0 };
    abut_status rc = is_deep ? find_deep(m, is_deep, err) : abut_fail(err, ABUT_E_NOMEM, "advice: %d objects", m->no);
    for (int32_t i = 0; i < s->nobjects && !rc; i++) {
        const abut_scene_object *o = &s->object[i];
        const abut_object_facts *f = &b->object[i];
        if (o->obstacle) continue;
        look_at_depth(o, f, is_deep[i], a);
        look_at_thickness(o, f, a);
        if (m->nc) look_at_dhat(o, f, f->dhat, a);
        if (m->nc && abut_scheme_is(s->scheme, ABUT_SCHEME_INERTIA)) look_at_impact(s, o, f, m->h[0], a);
        look_at_rigid(s, o, f, a);
    }
    if (!rc) look_at_start(m, start, a);
    if (!rc) look_at_scheme(s, b, m->h[0], a);
    if (!rc) look_at_forces(m, a);
    if (!rc) look_at_times(s, a);
    if (!rc) look_at_windows(s, m, a);
    if (!rc) look_at_rotations(s, m, a);
    if (!rc) look_at_sizes(s, a);
    if (!rc) rc = look_at_loads(s, m, a, err);
    free(is_deep);
    return rc;
}
