#include "solve/failure.h"

#include "base/words.h"
#include "energy/barrier.h"
#include "math/rigid.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TINY 1e-6       /* of dhat: smaller gaps do not occur with a barrier of adequate stiffness */
#define NOT_RIGID 0.01  /* largest deforming part of a direction, squared, of a body that moves as a whole */
#define MANY 20         /* iterations without progress after which it is not a load that moves something */
#define NARROW 1e-6     /* of the length of the scene: dhat that few scenes need */

/* A message under construction; text that does not fit is cut. */
typedef struct words {
    char text[sizeof((abut_err *)0)->msg];
    size_t n;
} words;

static void ABUT_PRINTF(2, 3) say(words *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(w->text + w->n, sizeof w->text - w->n, fmt, ap);
    va_end(ap);
    if (n > 0) w->n = w->n + (size_t)n < sizeof w->text ? w->n + (size_t)n : sizeof w->text - 1;
}

static void say_object(words *w, const abut_failure_view *s, int32_t object)
{
    char name[64] = "?";
    if (s->names) abut_text_row(s->names, "object/name", object, name, sizeof name);
    if (strcmp(name, "?")) say(w, "'%s'", name);
    else say(w, "object %d", object);
}

/* "node 3 of 'ball'", "edge 3 4 of 'ball'", "triangle 3 4 7 of 'ball'" */
static void say_primitive(words *w, const abut_failure_view *s, const int32_t *node, int n)
{
    static const char *const what[] = { "", "node", "edge", "triangle" };
    const abut_model *m = s->prob->model;
    say(w, "%s", what[n]);
    for (int k = 0; k < n; k++) say(w, " %d", abut_node_number(m, node[k]));
    say(w, " of ");
    say_object(w, s, m->body[node[0]]);
}

static void say_half_space(words *w, const abut_failure_view *s, int32_t plane)
{
    char name[64] = "?";
    if (s->names) abut_text_row(s->names, "half-space/name", plane, name, sizeof name);
    if (strcmp(name, "?")) say(w, "half-space '%s'", name);
    else say(w, "half-space %d", plane);
}

static double thickness_of(const abut_model *m, int32_t node) { return m->obj_thick ? m->obj_thick[m->body[node]] : 0; }

/* Says the gap of a node; if vertices are sums of nodes, the gap `known` of its contact instead, or nothing if that is NAN. */
static void say_gap(words *w, const abut_failure_view *s, double gap, double known)
{
    const double d = abut_collmesh_selects(&s->prob->cm) ? gap : known;
    if (!isnan(d)) say(w, " (gap %.3g m)", d);
}

static double gap_to_plane(const abut_failure_view *s, int32_t node, int32_t plane)
{
    const abut_model *m = s->prob->model;
    double d = 0;
    for (int k = 0; k < 3; k++) d += m->hs_normal[3 * plane + k] * (s->here->x[3 * node + k] - m->hs_point[3 * plane + k]);
    return d - 0.5 * thickness_of(m, node);
}

/* Says two primitives, and their distance less thickness at s->here->x. */
static void say_pair(words *w, const abut_failure_view *s, abut_stencil kind, const int32_t node[4], double known)
{
    double x[12];
    const abut_model *m = s->prob->model;
    const int n = abut_stencil_size(kind), first = abut_stencil_second(kind);
    for (int k = 0; k < n; k++) memcpy(x + 3 * k, s->here->x + 3 * (size_t)node[k], 3 * sizeof *x);
    double d2;
    abut_nearest(kind, x, &d2);
    say_primitive(w, s, node, first);
    say(w, " against ");
    say_primitive(w, s, node + first, n - first);
    say_gap(w, s, abut_beyond(d2, 0.5 * (thickness_of(m, node[0]) + thickness_of(m, node[first]))), known);
}

static void say_plane(words *w, const abut_failure_view *s, int32_t node, int32_t plane, double known)
{
    say_primitive(w, s, &node, 1);
    say(w, " against ");
    say_half_space(w, s, plane);
    say_gap(w, s, gap_to_plane(s, node, plane), known);
}

/* "element 3 of 'ball' (0.2 of its rest volume left)" */
static void say_term(words *w, const abut_failure_view *s, const abut_limit *l)
{
    const int i = abut_terms_number(&s->prob->terms, l->term);
    const abut_term *t = &s->prob->terms.term[i];
    abut_bound_words b = { .object = -1 };
    if (i >= 0 && t->ops->limit_words) t->ops->limit_words(t->self, s->here->x, l, &b);
    if (!b.what) {
        say(w, "%s", l->term);
        return;
    }
    say(w, "%s %d of ", b.what, b.number);
    say_object(w, s, b.object);
    if (*b.detail) say(w, " (%s)", b.detail);
}

/* Says what bounds the step; nothing if l names no limit, as after a larger penalty that gets no further. */
static void say_limit(words *w, const abut_failure_view *s, const abut_limit *l, double bound)
{
    if (l->kind != ABUT_LIMIT_NONE) say(w, ", bounded at %.3g by ", bound);
    switch (l->kind) {
    case ABUT_LIMIT_VT: case ABUT_LIMIT_EE: case ABUT_LIMIT_VE: case ABUT_LIMIT_VV:
        say_pair(w, s, (abut_stencil)abut_limit_stencil(l->kind), l->node, NAN);
        break;
    case ABUT_LIMIT_PLANE: say_plane(w, s, l->node[0], l->node[1], NAN); break;
    case ABUT_LIMIT_TET: case ABUT_LIMIT_STRETCH: case ABUT_LIMIT_TERM: say_term(w, s, l); break;
    case ABUT_LIMIT_LENGTH: say(w, "the length of the scene"); break;
    case ABUT_LIMIT_CFL: say(w, "half of dhat for a point"); break;
    case ABUT_LIMIT_NONE: case ABUT_LIMIT_KINDS: break;
    }
}

static void say_closest(words *w, const abut_failure_view *s)
{
    const abut_pairs *q = &s->here->pairs;
    const abut_collmesh *cm = &s->prob->cm;
    size_t i;
    if (q->n + q->n_plane == 0) return;
    const double gap = abut_pairs_smallest_gap(cm, q, &i);
    say(w, "; of %zu contact%s the closest is ", q->n + q->n_plane, abut_s(q->n + q->n_plane));
    if (i < q->n) {
        int32_t n[4] = { 0 };
        for (int k = 0; k < abut_stencil_size(q->kind[i]); k++) n[k] = abut_collmesh_node(cm, q->vert[i][k]);
        say_pair(w, s, q->kind[i], n, gap);
    } else {
        say_plane(w, s, abut_collmesh_node(cm, q->plane_vert[i - q->n]), q->plane[i - q->n], gap);
    }
    say(w, ", kappa %.3g kg/m^2", abut_barrier_state_of(&s->prob->terms)->kappa);
}

/* Says the fraction of the scripted motion that is done, and the prescribed node that is furthest from its target. */
static void say_script(words *w, const abut_failure_view *s)
{
    const abut_objective *p = s->prob;
    const double *x = s->here->x;
    double far2 = 0;
    int32_t node = -1;
    for (int32_t i = 0; i < p->model->nv; i++) {
        double d2 = 0;
        for (int k = 3 * i; k < 3 * i + 3 && p->held[i]; k++) d2 += (p->target[k] - x[k]) * (p->target[k] - x[k]);
        if (d2 > far2) far2 = d2, node = i;
    }
    say(w, "; scripted motion %.4g done", s->progress);
    if (node < 0) return;
    say(w, ", ");
    say_primitive(w, s, &node, 1);
    say(w, " is %.3g m short", sqrt(far2));
}

static void say_stagnation(words *w, const abut_failure *f)
{
    const struct abut_failure_idle *i = &f->idle;
    say(w, "it stagnates after %d Newton iterations: none of the last %d made directions shorter by a tenth, and ", f->iterations,
        i->n);
    if (i->went < 1) say(w, "their steps together are %.2g of one direction", i->went);
    else say(w, "together they lowered the objective by no more than its rounding");
}

static void say_kind(words *w, const abut_failure_view *s, const abut_failure *f)
{
    switch (f->kind) {
    case ABUT_FAILED_STALLED:
        say(w, "Newton iteration %d: no step along the direction lowers the objective", f->iterations);
        break;
    case ABUT_FAILED_ITERATIONS:
        say(w, "not converged after %d Newton iteration%s", f->iterations, abut_s(f->iterations));
        break;
    case ABUT_FAILED_STAGNATES: say_stagnation(w, f); break;
    case ABUT_FAILED_BLOCKED:
        say(w, "scripted motion is blocked, after %d Newton iteration%s", f->iterations, abut_s(f->iterations));
        break;
    case ABUT_FAILED_NOT_FINITE: say(w, "Newton iteration %d: the direction is not finite", f->iterations); break;
    case ABUT_FAILED_TOUCHING:
        say(w, "Newton iteration %d: a gap has become too small for double precision", f->iterations);
        break;
    case ABUT_FAILED_UNBALANCED:
        say(w, "forces on ");
        say_object(w, s, s->prob->model->body[f->node]);
        say(w, " do not balance after %d Newton iteration%s", f->iterations, abut_s(f->iterations));
        break;
    case ABUT_FAILED_INDEFINITE:
        say(w, "Newton iteration %d: ", f->iterations);
        say(w, f->shifted ? "no shift of the diagonal makes the matrix of %d unknowns positive definite"
                          : "the matrix of %d unknowns is not positive definite, or iterations do not solve it",
            3 * s->prob->nrow);
        if (f->node < 0) break;
        say(w, f->guessed ? "; the worst of its diagonal is at " : "; the pivot that fails is at ");
        say_primitive(w, s, &f->node, 1);
        break;
    case ABUT_FAILED_FLOATING:
        say_object(w, s, s->prob->model->body[f->node]);
        say(w, " floats: nothing holds it against its load, after %d Newton iteration%s", f->iterations, abut_s(f->iterations));
        break;
    case ABUT_FAILED_NOT: say(w, "no failure"); break;
    }
}

static const char *const narrow = "dhat is tiny against the scene and its barrier steep: a larger contact.dhat (default 1e-3 l)";

/* Directions are short enough, and the step has not ended because of its forces. */
static int is_unbalanced(const abut_failure_view *s, const abut_failure *f)
{
    return f->unbalanced > 0 && (f->residual <= s->prob->model->tolerance[0] || f->kind == ABUT_FAILED_UNBALANCED);
}

/* Returns 1 if there are contacts, and the smallest gap is so small that the barrier is too soft for its load. */
static int is_pressed(const abut_failure_view *s)
{
    const double gap = abut_pairs_smallest_gap(&s->prob->cm, &s->here->pairs, NULL);
    return gap < TINY * abut_least_dhat(s->prob->model);    /* infinite where nothing touches */
}

static int is_narrow(const abut_failure_view *s)
{
    const abut_model *m = s->prob->model;
    return s->here->pairs.n + s->here->pairs.n_plane > 0 && m->dhat[0] < NARROW * m->length[0];
}

static const char *pressed_advice(const abut_failure_view *s)
{
    const abut_model *m = s->prob->model;
    if (s->prob->cm.area) return "gaps are tiny against dhat: a smaller time step or a larger contact.barrier.pressure helps";
    if (m->kappa_min[0] < m->kappa_max[0])
        return "gaps are tiny against dhat: a smaller time step or a larger contact.kappa-scale keeps them wider";
    return "gaps are tiny against dhat, so the stiffness of the barrier is too soft: a larger fixed-kappa, or none, "
           "with which each step finds its own";
}

static const char *stagnation_advice(const abut_failure *f, const abut_failure_view *s)
{
    const abut_model *m = s->prob->model;
    const int law = m->continuity ? m->continuity[0] : ABUT_BARRIER_IPC;
    if (s->prob->cm.nc && (law == ABUT_BARRIER_IPC_C0 || law == ABUT_BARRIER_IPC_C1))
        return "contacts enter and leave dhat in turns, where this barrier law is not smooth: contact.barrier.law ipc or "
               "log2 is";
    if (is_pressed(s)) return pressed_advice(s);
    if (is_narrow(s)) return narrow;
    if (is_unbalanced(s, f)) return "it is the forces that do not balance: a larger force-tolerance, a smaller time step";
    if (f->idle.went < 1) return "a smaller time step or a larger dhat may help; more iterations will not";
    return "a larger tolerance may help: rounding lets it go no further; more iterations will not";
}

/* Returns 1 if scripted nodes have not arrived, and bodies in their path are squeezed to gaps far below dhat. */
static int is_crushed(const abut_failure *f, const abut_failure_view *s)
{
    const int by_gaps = f->kind == ABUT_FAILED_STALLED || f->kind == ABUT_FAILED_ITERATIONS || f->kind == ABUT_FAILED_STAGNATES ||
                        f->kind == ABUT_FAILED_TOUCHING;
    return by_gaps && s->progress < 1 && is_pressed(s);
}

static const char *advice(const abut_failure *f, const abut_failure_view *s)
{
    if (is_crushed(f, s))
        return "what is scripted presses on what may have no room left: let the script stop earlier, or take a smaller time step";
    switch (f->kind) {
    case ABUT_FAILED_STALLED:
        if (is_narrow(s)) return narrow;
        return "a larger tolerance or a smaller time step may help: this is as far as rounding lets it go";
    case ABUT_FAILED_ITERATIONS: return "a higher limit or a smaller time step may help";
    case ABUT_FAILED_BLOCKED: return "let the script stop earlier, leave it room, or let what stands in its way give";
    case ABUT_FAILED_STAGNATES: return stagnation_advice(f, s);
    case ABUT_FAILED_UNBALANCED: return "a smaller time.step may help; a larger force-tolerance accepts what is left";
    case ABUT_FAILED_TOUCHING:
        return is_pressed(s) ? pressed_advice(s) : "a smaller time step or a larger dhat keeps gaps wider";
    case ABUT_FAILED_FLOATING:
        return "without inertia a body needs something to rest on, nodes that are held, or damping by mass";
    default: return "look for extreme moduli, masses or gaps; a smaller time step may help";
    }
}

/* Returns the part of p that is no rigid motion of the n nodes, over p, both squared. */
static double deforming(const abut_failure_view *s, const int32_t *node, size_t n)
{
    const abut_rigid part = abut_rigid_part(n, node, s->prob->model->mass, s->here->x, s->p);
    double all = 0, rest = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t i = 3 * (size_t)node[k];
        const abut_vec3 p = abut_v3_get(s->p + i), arm = abut_v3_diff(s->here->x + i, part.centre);
        const abut_vec3 spin = abut_v3_cross(abut_v3_get(part.spin), arm);
        all += abut_v3_norm2(p);
        rest += abut_v3_norm2(abut_v3_sub(abut_v3_sub(p, abut_v3_get(part.shift)), spin));
    }
    return all > 0 ? rest / all : 1;
}

/* Returns the object that the last direction moves furthest, if it moves as a whole without inertia: rounding may push a body
 * that is not held anywhere.  -1: none. */
static int32_t drifting(const abut_failure *f, const abut_failure_view *s)
{
    const abut_model *m = s->prob->model;
    const int idles = f->kind == ABUT_FAILED_STAGNATES || (f->kind == ABUT_FAILED_ITERATIONS && f->idle.n >= MANY);
    int32_t *node = idles && !s->prob->w.inertia && s->p ? malloc(((size_t)m->nv + 1) * sizeof *node) : NULL;
    int32_t fastest = 0, n = 0;
    double most = 0;
    if (!node) return -1;
    for (int32_t i = 0; i < m->nv; i++) {
        const double p2 = abut_v3_norm2(abut_v3_get(s->p + 3 * (size_t)i));
        if (p2 > most) most = p2, fastest = i;
    }
    for (int32_t i = 0; i < m->nv; i++)
        if (m->body[i] == m->body[fastest]) node[n++] = i;
    const int is_rigid = deforming(s, node, (size_t)n) < NOT_RIGID;
    free(node);
    return is_rigid ? m->body[fastest] : -1;
}

static void say_advice(words *w, const abut_failure *f, const abut_failure_view *s)
{
    const int32_t object = drifting(f, s);
    say(w, "; ");
    if (object < 0) {
        say(w, "%s", advice(f, s));
        return;
    }
    say_object(w, s, object);
    say(w, " moves as a whole, as what nothing holds is moved by rounding: a larger tolerance, damping.mass, or a node of it "
        "that is fixed");
}

abut_status abut_failure_say(const abut_failure *f, const abut_failure_view *s, abut_err *err)
{
    words w = { .n = 0 };
    say_kind(&w, s, f);
    if (isfinite(f->residual)) {
        const struct abut_failure_norm *n = &s->norm;
        if (n->words) say(&w, "; %s %.3g%s, want %.3g", n->words, f->norm, n->unit, n->want);
        else say(&w, "; residual %.3g m/s, want %.3g", f->residual, s->prob->model->tolerance[0]);
        const double *want = s->prob->model->force_tolerance;
        if (!n->words && is_unbalanced(s, f)) say(&w, "; forces balance to %.3g, want %.3g", f->unbalanced, *want);
        if (f->kind == ABUT_FAILED_UNBALANCED) say(&w, ", accepted up to %.3g", ABUT_UNBALANCED * *want);
        say(&w, "; step length %.3g", f->alpha);
        say_limit(&w, s, &f->limit, f->bound);
    }
    say_closest(&w, s);
    if (s->progress < 1) say_script(&w, s);
    say_advice(&w, f, s);
    return abut_fail(err, ABUT_E_NUMERIC, "%s", w.text);
}
