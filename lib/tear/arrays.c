#include "tear/arrays.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static abut_status fail_rows(const abut_array *a, int32_t want, abut_err *err)
{
    return abut_fail(err, ABUT_E_FORMAT, "array '%s' has %lld rows, expected %d to tear them", a->name,
                     a->rank ? (long long)a->shape[0] : 1LL, want);
}

/* Rows from[0 .. n) of an array, as an array of the same name. */
static abut_status put_rows(abut_arrays *set, const abut_array *a, const int32_t *from, int32_t n, abut_err *err)
{
    int64_t shape[ABUT_RANK_MAX];
    memcpy(shape, a->shape, sizeof shape);
    shape[0] = n;
    const size_t row = a->shape[0] ? abut_array_bytes(a) / (size_t)a->shape[0] : 0;
    char *to = abut_arrays_put(set, a->name, a->type, a->rank, shape, a->unit, a->flags, err);
    if (!to) return err->code;
    for (int32_t k = 0; k < n; k++) memcpy(to + (size_t)k * row, (const char *)a->data + (size_t)from[k] * row, row);
    return ABUT_OK;
}

/* The families of rows: node/ grows, elements shrink. */
abut_status abut_tear_copy_arrays(const abut_tearing *w, const abut_arrays *from, int is_frame, abut_arrays *to, abut_err *err)
{
    assert(w);
    const abut_model *m = w->m;
    const struct { const char *prefix; int32_t n; const uint8_t *gone; } family[] = {
        { "tet/", m->nt, w->gone }, { "shell/", m->nsh, w->gone + m->nt }, { "spring/", m->nsp, w->gone + m->nt + m->nsh },
        { "rod/curvature", m->nbd, w->no_bend }, { "rod/twist", m->nbd, w->no_bend },   /* before the others of rods */
        { "rod/", m->nrd, w->no_rod }, { "bend/", m->nbd, w->no_bend }
    };
    static const char *const dropped[] = {
        "part/", "contact/node", "contact/edge", "contact/triangle", "hinge/", "lag/", "pass/", "step/", "touch/"
    };
    int32_t *rows =
        malloc(((size_t)m->nv + (size_t)w->ncopies + (size_t)m->nt + (size_t)m->nsh + (size_t)m->nsp + (size_t)m->nrd +
                (size_t)m->nbd + 1) * sizeof *rows);
    abut_status rc = rows ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: rows");
    for (int i = 0; i < from->n && !rc; i++) {
        const abut_array *a = &from->a[i];
        int skip = 0, done = 0;
        for (size_t k = 0; k < sizeof dropped / sizeof *dropped; k++) skip |= !strncmp(a->name, dropped[k], strlen(dropped[k]));
        if (skip) continue;
        if (!strncmp(a->name, "node/", 5) && a->type != ABUT_TEXT) {
            if (!a->rank || a->shape[0] != m->nv) rc = fail_rows(a, m->nv, err);
            for (int32_t k = 0; k < m->nv; k++) rows[k] = k;
            for (int32_t k = 0; k < w->ncopies; k++) rows[m->nv + k] = w->copy[k].from;
            if (!rc) rc = put_rows(to, a, rows, m->nv + w->ncopies, err);
            done = 1;
        }
        for (size_t f = 0; f < sizeof family / sizeof *family && !done; f++) {
            if (is_frame && strcmp(a->name, "rod/frame")) break;
            if (strncmp(a->name, family[f].prefix, strlen(family[f].prefix))) continue;
            int32_t n = 0;
            if (!a->rank || a->shape[0] != family[f].n) rc = fail_rows(a, family[f].n, err);
            for (int32_t k = 0; k < family[f].n; k++)
                if (!family[f].gone[k]) rows[n++] = k;
            if (!rc && n) rc = put_rows(to, a, rows, n, err);
            done = 1;
        }
        if (!rc && !done) rc = abut_arrays_copy(to, a, err);
    }
    free(rows);
    return rc;
}

/* The node that a cell with both a and b has in place of a; a itself when no cell that stays has both. */
static int32_t seen_from(const abut_tear_cells *c, int32_t a, int32_t b)
{
    for (int32_t k = c->first[a]; k < c->first[a + 1]; k++) {
        const int32_t cell = c->inc[k], *v = c->node + 4 * (size_t)cell;
        int32_t at = a, has = 0;
        for (int q = 0; q < 4; q++) {
            if (v[q] == a) at = c->now[4 * (size_t)cell + (size_t)q];
            has |= v[q] == b;
        }
        if (has && !c->gone[cell]) return at;
    }
    return a;
}

/* the shell with these three corners, -1: none that stays */
static int32_t shell_of(const abut_tear_cells *c, int32_t a, int32_t b, int32_t d)
{
    for (int32_t k = c->first[a]; k < c->first[a + 1]; k++) {
        const int32_t cell = c->inc[k], *v = c->node + 4 * (size_t)cell;
        if (v[3] >= 0 || c->gone[cell]) continue;
        int found = 0;
        for (int q = 0; q < 3; q++) found += v[q] == a || v[q] == b || v[q] == d;
        if (found == 3) return cell;
    }
    return -1;
}

static int32_t corner_now(const abut_tear_cells *c, int32_t cell, int32_t node)
{
    for (int q = 0; q < 4; q++)
        if (c->node[4 * (size_t)cell + (size_t)q] == node) return c->now[4 * (size_t)cell + (size_t)q];
    return -1;
}

abut_status abut_tear_put_elements(const abut_tearing *w, const abut_arrays *old, abut_arrays *set, abut_err *err)
{
    const abut_model *m = w->m;
    const abut_tear_cells *c = &w->c;
    abut_array *tet = abut_arrays_find(set, "tet/node"), *shell = abut_arrays_find(set, "shell/node"),
               *spring = abut_arrays_find(set, "spring/node");
    size_t n = 0;
    for (int32_t t = 0; tet && t < m->nt; t++)
        if (!c->gone[t]) memcpy((int32_t *)tet->data + 4 * n++, c->now + 4 * (size_t)t, 4 * sizeof(int32_t));
    n = 0;
    for (int32_t t = 0; shell && t < m->nsh; t++)
        if (!c->gone[c->nt + t]) memcpy((int32_t *)shell->data + 3 * n++, c->now + 4 * (size_t)(c->nt + t), 3 * sizeof(int32_t));
    n = 0;
    for (int32_t s = 0; spring && s < m->nsp; s++) {
        if (w->gone[m->nt + m->nsh + s]) continue;
        const int32_t a = m->spring[2 * s], b = m->spring[2 * s + 1];
        ((int32_t *)spring->data)[2 * n] = seen_from(c, a, b);
        ((int32_t *)spring->data)[2 * n++ + 1] = seen_from(c, b, a);
    }
    int32_t *rows = malloc(((size_t)m->nhg + 1) * sizeof *rows), *node = malloc(4 * ((size_t)m->nhg + 1) * sizeof *node),
            kept = 0;
    abut_status rc = rows && node ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "tearing: %d hinges", m->nhg);
    for (int32_t h = 0; h < m->nhg && !rc; h++) {
        const int32_t *v = m->hinge + 4 * (size_t)h, p = shell_of(c, v[0], v[1], v[2]), q = shell_of(c, v[1], v[0], v[3]);
        if (p < 0 || q < 0 || corner_now(c, p, v[0]) != corner_now(c, q, v[0]) ||
            corner_now(c, p, v[1]) != corner_now(c, q, v[1]))
            continue;
        node[4 * kept] = corner_now(c, p, v[0]), node[4 * kept + 1] = corner_now(c, p, v[1]);
        node[4 * kept + 2] = corner_now(c, p, v[2]), node[4 * kept + 3] = corner_now(c, q, v[3]);
        rows[kept++] = h;
    }
    for (int i = 0; i < old->n && !rc && kept; i++)
        if (!strncmp(old->a[i].name, "hinge/", 6)) rc = put_rows(set, &old->a[i], rows, kept, err);
    abut_array *hinge = abut_arrays_find(set, "hinge/node");
    if (!rc && hinge) memcpy(hinge->data, node, 4 * (size_t)kept * sizeof *node);
    free(rows);
    free(node);
    return rc;
}

void abut_tear_share_impulse(const abut_tearing *w, abut_arrays *frame)
{
    const abut_array *a = abut_arrays_find(frame, "node/contact-impulse");
    double *impulse = a ? a->data : NULL;
    for (int32_t k = 0; k < w->ncopies && impulse; k++)
        for (int d = 0; d < 3; d++) {
            double *copy = impulse + 3 * (w->m->nv + k) + d, *left = impulse + 3 * w->copy[k].from + d;
            *copy = w->copy[k].share * *copy;
            *left -= *copy;
        }
}

void abut_tear_put_mass(const abut_tearing *w, abut_arrays *set)
{
    double *mass = abut_arrays_find(set, "node/mass")->data;
    for (int32_t k = 0; k < w->ncopies; k++) {
        const double part = w->copy[k].share * w->m->mass[w->copy[k].from];
        mass[w->m->nv + k] = part;
        mass[w->copy[k].from] -= part;
    }
}
