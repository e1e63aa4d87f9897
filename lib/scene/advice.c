#include "scene/advice.h"

#include "mesh/surface.h"
#include "model/laws.h"
#include "model/motion.h"
#include "model/schemes.h"

#include <complex.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
    abut_status rc = where ? abut_surface_triangles(m->tet, m->nt, m->nv, &tri, &n, err)
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
    free(where);
    free(tri);
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
    if (!f->tets || !(lasts > 0) || h <= lasts) return;
    advise(a, "an impact of '%s' lasts about %.2g s, and a time step is %.2g s: it lands without a rebound; a shorter step shows "
           "one", o->name, lasts, h);
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
    if (!*abut_pressed_words(p, m, text)) return;
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
