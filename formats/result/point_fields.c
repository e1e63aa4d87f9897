#include "formats/result/point_fields.h"

#include "base/words.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* n elements of `width` nodes; the number of element e is value[stride * e]. */
typedef struct node_elements {
    int32_t n;
    int width;
    const int32_t *node;    /* [width n] */
    int stride;
} node_elements;

/* mean[nv]: the mean over the elements that have the node; NaN where none has.  Fails  ABUT_E_NOMEM */
static abut_status node_means(const node_elements *e, const double *value, int32_t nv, double *mean, abut_err *err)
{
    double *count = calloc((size_t)nv + 1, sizeof *count);
    if (!count) return abut_fail(err, ABUT_E_NOMEM, "no memory for means at %d nodes", nv);
    memset(mean, 0, (size_t)nv * sizeof *mean);
    for (size_t i = 0; i < (size_t)e->width * (size_t)e->n; i++) {
        mean[e->node[i]] += value[i / (size_t)e->width * (size_t)e->stride];
        count[e->node[i]] += 1;
    }
    for (int32_t i = 0; i < nv; i++) mean[i] /= count[i];
    free(count);
    return ABUT_OK;
}

/* ---- fields ---- */

/* Definition of a field. */
typedef struct source {
    const char *name, *label, *unit;
    int from_zero, want;
    int (*exists)(const abut_model *m);
    abut_status (*values)(const abut_shot *s, double *value, abut_err *err);
} source;

static int always(const abut_model *m) { return m->nv > 0; }
static int with_tets(const abut_model *m) { return m->nt > 0; }
static int with_shells(const abut_model *m) { return m->nsh > 0; }
static int with_contact(const abut_model *m) { return m->nc > 0; }

static double length3(const double *v) { return abut_v3_norm(abut_v3_get(v)); }

static abut_status displacement(const abut_shot *s, double *value, abut_err *err)
{
    (void)err;
    for (int32_t i = 0; i < s->parts->n_points; i++)
        value[i] = abut_v3_norm(abut_v3_sub(abut_v3_get(s->x + 3 * i), abut_v3_get(s->X + 3 * i)));
    return ABUT_OK;
}

static abut_status speed(const abut_shot *s, double *value, abut_err *err)
{
    (void)err;
    for (int32_t i = 0; i < s->parts->n_points; i++) value[i] = length3(s->v + 3 * i);
    return ABUT_OK;
}

/* Points that are sums of nodes take the value of the node that speaks for them. */
static void spread(const abut_shot *s, double *value)
{
    for (int32_t i = s->model->nv; i < s->parts->n_points; i++) value[i] = value[s->parts->lead[i]];
}

static abut_status means(const abut_shot *s, const node_elements *e, const double *of, double *value, abut_err *err)
{
    if (!of) {
        for (int32_t i = 0; i < s->model->nv; i++) value[i] = NAN;
        return ABUT_OK;
    }
    return node_means(e, of, s->model->nv, value, err);
}

static abut_status stress(const abut_shot *s, double *value, abut_err *err)
{
    return means(s, &(node_elements){ s->model->nt, 4, s->model->tet, 1 }, s->fields->stress, value, err);
}

static abut_status volume(const abut_shot *s, double *value, abut_err *err)
{
    return means(s, &(node_elements){ s->model->nt, 4, s->model->tet, 1 }, s->fields->J, value, err);
}

static abut_status stretch(const abut_shot *s, double *value, abut_err *err)
{
    return means(s, &(node_elements){ s->model->nsh, 3, s->model->shell, 5 }, s->fields->strain, value, err);
}

static abut_status force(const abut_shot *s, double *value, abut_err *err)
{
    (void)err;
    for (int32_t i = 0; i < s->model->nv; i++) value[i] = s->fields->force ? length3(s->fields->force + 3 * i) : NAN;
    return ABUT_OK;
}

static void lower(double *value, double gap) { if (!(*value <= gap)) *value = gap; }

/* The smallest gap among the contacts of each collision vertex. */
static abut_status gap(const abut_shot *s, double *value, abut_err *err)
{
    const abut_pairs *p = s->fields->pairs;
    const abut_model *m = s->model;
    (void)err;
    for (int32_t i = 0; i < s->parts->n_points; i++) value[i] = NAN;
    for (size_t i = 0; p && i < p->n + p->n_plane; i++) {
        const double g = abut_pairs_gap(s->fields->cm, p, i);
        for (int k = 0; k < (i < p->n ? 4 : 1); k++) {
            const int32_t v = i < p->n ? p->vert[i][k] : p->plane_vert[i - p->n];
            if (v >= 0) lower(value + (m->map_first ? m->nv + v : abut_model_contact_node(m, v)), g);
        }
    }
    return ABUT_OK;
}

static const source sources[] = {
    { "displacement", NULL, "m", 1, 0, always, displacement },
    { "speed", NULL, "m/s", 1, 0, always, speed },
    { "stress", "von Mises stress", "Pa", 1, ABUT_WANT_STRESS, with_tets, stress },
    { "J", "volume over volume at rest", "", 0, ABUT_WANT_STRESS, with_tets, volume },
    { "stretch", "largest stretch of shells", "", 0, ABUT_WANT_STRAIN, with_shells, stretch },
    { "contact-force", "contact force", "N", 1, ABUT_WANT_CONTACT, with_contact, force },
    { "gap", "gap to what is nearest", "m", 0, ABUT_WANT_CONTACT, with_contact, gap },
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* A number for every node, by another program. */
static int is_scalar_of_nodes(const abut_array *a, const abut_model *m)
{
    return a->type != ABUT_TEXT && a->rank >= 1 && a->shape[0] == m->nv && abut_array_count(a) == m->nv &&
           !abut_array_known(a->name);
}

int abut_point_fields(const abut_shot *s, abut_point_field field[ABUT_FIELDS_MAX])
{
    int n = 0;
    for (int i = 0; i < SOURCES; i++) {
        if (!sources[i].exists(s->model)) continue;
        field[n] = (abut_point_field){ .label = sources[i].label, .from_zero = sources[i].from_zero };
        snprintf(field[n].name, sizeof field[n].name, "%s", sources[i].name);
        snprintf(field[n++].unit, sizeof field->unit, "%s", sources[i].unit);
    }
    for (int i = 0; i < s->frame_set->n && n < ABUT_FIELDS_MAX; i++) {
        const abut_array *a = &s->frame_set->a[i];
        if (!s->model->nv || !is_scalar_of_nodes(a, s->model)) continue;
        field[n] = (abut_point_field){ .label = NULL };
        memcpy(field[n].name, a->name, sizeof a->name);
        memcpy(field[n++].unit, a->unit, sizeof a->unit);
    }
    return n;
}

abut_status abut_point_field_find(const abut_shot *s, const char *name, abut_point_field *field, abut_err *err)
{
    abut_point_field all[ABUT_FIELDS_MAX];
    const char *names[ABUT_FIELDS_MAX + 1];
    char list[160];
    const int n = abut_point_fields(s, all);
    for (int i = 0; i < n; i++) {
        names[i] = all[i].name;
        if (!strcmp(name, all[i].name)) return *field = all[i], ABUT_OK;
    }
    names[n] = NULL;
    return abut_fail(err, ABUT_E_ARG, "field '%.40s': this model has none of that name: expected %s", name,
                     n ? abut_names_join(names, list, sizeof list) : "a model with nodes");
}

int abut_point_field_want(const char *name)
{
    for (int i = 0; i < SOURCES; i++)
        if (!strcmp(name, sources[i].name)) return sources[i].want;
    return 0;
}

abut_status abut_point_field_values(const abut_shot *s, const abut_point_field *field, double *value, abut_err *err)
{
    for (int i = 0; i < SOURCES; i++)
        if (!strcmp(field->name, sources[i].name)) {
            const abut_status rc = sources[i].values(s, value, err);
            const int of_nodes = sources[i].values != displacement && sources[i].values != speed && sources[i].values != gap;
            if (!rc && of_nodes) spread(s, value);
            return rc;
        }
    const abut_array *a = abut_arrays_find(s->frame_set, field->name);
    if (a && !is_scalar_of_nodes(a, s->model)) a = NULL;
    for (int32_t i = 0; i < s->model->nv; i++) value[i] = a ? abut_array_real(a, i) : NAN;
    spread(s, value);
    return ABUT_OK;
}

/* ---- colours ---- */

static void unpack(uint32_t hex, float rgb[3])
{
    for (int d = 0; d < 3; d++) rgb[d] = (float)(hex >> (16 - 8 * d) & 255) / 255.0f;
}

void abut_palette_object(int32_t object, int obstacle, float rgb[3])
{
    static const uint32_t color[12] = { 0xe8825a, 0x4f9fc6, 0xe3b94c, 0x6fae75, 0xb57bb8, 0xd8637c,
                                        0x5fb8ad, 0xa68a64, 0x7f8fd1, 0xc7a0a8, 0x93a94a, 0x5e7f99 };
    unpack(obstacle ? 0xa9adb3 : color[(uint32_t)object % 12], rgb);
}

void abut_palette_scale(double u, float rgb[3])
{
    static const uint32_t station[11] = { 0xa6c6de, 0xcfd3b9, 0xefcd80, 0xf5b35c, 0xf0954c, 0xe47349,
                                          0xd2524f, 0xb63a5b, 0x932b66, 0x6d2268, 0x451a58 };
    if (isnan(u)) {
        rgb[0] = rgb[1] = rgb[2] = 0.6f;
        return;
    }
    const double at = 10 * fmin(fmax(u, 0), 1);
    const int i = at >= 10 ? 9 : (int)at;
    const float w = (float)(at - i);
    float a[3], b[3];
    unpack(station[i], a);
    unpack(station[i + 1], b);
    for (int d = 0; d < 3; d++) rgb[d] = a[d] + w * (b[d] - a[d]);
}

float abut_srgb_to_linear(float c) { return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f); }
