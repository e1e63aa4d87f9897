/* Streams with right checksums and wrong contents: every array of a stream with every bad value, for the tests of all programs.
 *
 *   hostile missing FILE...          names arrays of the two tables that none of the streams has
 *   hostile complete FILE > OUT      adds to the last MODEL and frame what they may have and seldom have
 *   hostile map FILE > OUT           collision vertices as sums of nodes, of one each
 *   hostile step FILE NUMBER > OUT   the step number of the last frame
 *   hostile list FILE                one line a variant: number, what must come of it (3: refused as input, -: no crash), words
 *   hostile write FILE NUMBER OUT    that variant
 *
 * Variants change the last MODEL and the last FRAME. */
#include "formats/stream/state_io.h"
#include "model/model.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MOST = 64 };

typedef struct item {
    abut_item kind;
    abut_frame_head head;
    abut_arrays set;
} item;

typedef struct stream {
    item at[ITEMS_MOST];
    int n, model, frame;    /* model, frame: the last ones */
} stream;

static void need(int ok, const char *why)
{
    if (ok) return;
    fprintf(stderr, "hostile: %s\n", why);
    exit(5);
}

static void stream_read(stream *s, const char *name)
{
    abut_err err = { 0 };
    abut_reader *r;
    FILE *f = fopen(name, "rb");
    need(f != NULL, name);
    need(!abut_reader_open(f, name, &r, &err), err.msg);
    *s = (stream){ .model = -1, .frame = -1 };
    for (;; s->n++) {
        need(s->n < ITEMS_MOST, "too many items");
        item *i = &s->at[s->n];
        need(!abut_reader_next(r, &i->kind, &i->head, &i->set, &err), err.msg);
        if (i->kind == ABUT_ITEM_END) break;
        if (i->kind == ABUT_ITEM_MODEL) s->model = s->n;
        else s->frame = s->n;
    }
    need(s->model >= 0 && s->frame > s->model, "expected a MODEL and a FRAME after it");
    abut_reader_free(&r);
    fclose(f);
}

static void stream_clear(stream *s)
{
    for (int i = 0; i < s->n; i++) abut_arrays_clear(&s->at[i].set);
}

static void stream_write(const stream *s, FILE *f)
{
    abut_err err = { 0 };
    abut_writer *w;
    need(f != NULL, "cannot write");
    need(!abut_writer_open(f, 0, &w, &err), err.msg);
    for (int i = 0; i < s->n; i++)
        need(!(s->at[i].kind == ABUT_ITEM_MODEL ? abut_writer_model(w, &s->at[i].set, &err)
                                                : abut_writer_frame(w, &s->at[i].head, &s->at[i].set, &err)), err.msg);
    need(!abut_writer_close(w, &err), err.msg);
    abut_writer_free(&w);
    need(!fclose(f), "cannot write");
}

/* ---- what the tables ask for ---- */

typedef struct row {
    const char *name, *rule, *rows;
    int is_frame;
} row;

#define MODEL_ROW(m, name, ctype, dtype, rows, width, unit, rule, range) { name, #rule, #rows, 0 },
#define FRAME_ROW(m, name, ctype, dtype, rows, width, unit, rule, range) { name, #rule, #rows, 1 },
static const row rows[] = { ABUT_MODEL_FIELDS(MODEL_ROW) ABUT_FRAME_FIELDS(FRAME_ROW) };
enum { ROWS = sizeof rows / sizeof *rows };

static const row *row_of(const char *name, int is_frame)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].is_frame == is_frame && !strcmp(rows[i].name, name)) return &rows[i];
    return NULL;
}

static int missing(int n, char **file)
{
    static stream s;
    char seen[ROWS] = { 0 };
    int lacks = 0;
    for (int k = 0; k < n; k++) {
        stream_read(&s, file[k]);
        for (int i = 0; i < ROWS; i++)
            seen[i] |= abut_arrays_find(&s.at[rows[i].is_frame ? s.frame : s.model].set, rows[i].name) != NULL;
        stream_clear(&s);
    }
    for (int i = 0; i < ROWS; i++)
        if (!seen[i]) lacks++, printf("%s\n", rows[i].name);
    return lacks > 0;
}

/* Factors of 1 and degrees by the order for tets of order 2 and more. */
static void complete_tets(abut_arrays *m)
{
    abut_err err = { 0 };
    const abut_array *order = abut_arrays_find(m, "tet/order"), *model = abut_arrays_find(m, "material/model");
    if (!order || !model) return;
    const int64_t nt = order->shape[0], nm = model->shape[0];
    double *scale = abut_model_put(m, "tet/density-scale", nt, &err), *fill = abut_model_put(m, "tet/fill", nt, &err);
    need(scale && fill && abut_model_put(m, "material/quadrature", nm, &err), err.msg);
    for (int64_t t = 0; t < nt; t++) scale[t] = fill[t] = 1;
}

/* A point in the first tet of order 2 or more. */
static void complete_points(const abut_arrays *m, abut_arrays *f)
{
    abut_err err = { 0 };
    const abut_array *order = abut_arrays_find(m, "tet/order");
    int32_t t = 0;
    while (order && t < order->shape[0] && ((const int32_t *)order->data)[t] < 2) t++;
    if (!order || t == order->shape[0]) return;
    int32_t *tet = abut_frame_put(f, "step/jacobian-tet", 1, &err);
    double *at = abut_frame_put(f, "step/jacobian-point", 1, &err);
    need(tet && at, err.msg);
    *tet = t;
    for (int c = 0; c < 4; c++) at[c] = 0.25;
}

/* Bends with rest curvature are not twisted at rest. */
static void complete_rods(abut_arrays *m)
{
    abut_err err = { 0 };
    const abut_array *curvature = abut_arrays_find(m, "rod/curvature");
    if (!curvature || abut_arrays_find(m, "rod/twist")) return;
    need(abut_model_put(m, "rod/twist", curvature->shape[0], &err) != NULL, err.msg);
}

/* A copy of the positions as the only waypoint, stiffnesses above 0; zeros are right for all else that may be and has a row,
 * three, or one for each node. */
static void complete(stream *s)
{
    abut_err err = { 0 };
    abut_arrays *f = &s->at[s->frame].set;
    const int pending = s->at[s->frame].head.phase == ABUT_PENDING;
    const abut_array *x = abut_arrays_find(f, "node/x");
    need(x != NULL, "no node/x");
    const int64_t nv = x->shape[0];
    const void *positions = x->data;
    for (int i = 0; i < ROWS; i++) {
        const row *r = &rows[i];
        const int way = !strcmp(r->name, "step/waypoints");
        const int64_t n = way || !strcmp(r->rows, "nv") ? nv : !strcmp(r->rows, "n3") ? 3 : !strcmp(r->rows, "1");
        if (!r->is_frame || !n || abut_arrays_find(f, r->name)) continue;
        if ((!strcmp(r->rule, "OPT") && !way) || (!strcmp(r->rule, "SIDE") && !pending)) continue;
        void *data = abut_frame_put(f, r->name, n, &err);
        need(data != NULL, err.msg);
        if (way) memcpy(data, positions, 3 * (size_t)nv * sizeof(double));
        if (!strcmp(r->name, "step/penalty")) *(double *)data = 1e6;
        if (!strcmp(r->name, "strain/kappa")) *(double *)data = 1;
        if (!strcmp(r->name, "pass/count")) *(int32_t *)data = 1;
    }
    abut_arrays *const m = &s->at[s->model].set;
    int32_t *meet = abut_arrays_find(m, "contact/bodies") ? NULL : abut_model_put(m, "contact/bodies", 1, &err);
    if (meet) *meet = 1;
    need(abut_arrays_find(m, "contact/bodies") != NULL, err.msg);
    complete_tets(m);
    complete_points(m, f);
    complete_rods(m);
    if (!abut_arrays_find(m, "contact/barrier-filter")) need(abut_model_put(m, "contact/barrier-filter", 1, &err) != NULL,
                                                             err.msg);
}

/* lag/vertex in place of lag/node: the collision vertex of each node. */
static void map_frame(abut_arrays *f, const int32_t *vertex_node, int64_t nc)
{
    abut_err err = { 0 };
    const abut_array *lag = abut_arrays_find(f, "lag/node");
    if (!lag) return;
    const int64_t n = 4 * lag->shape[0];
    int32_t *const vertex = abut_frame_put(f, "lag/vertex", lag->shape[0], &err);
    need(vertex != NULL, err.msg);
    const int32_t *const touched = abut_arrays_find(f, "lag/node")->data;   /* the set has grown */
    for (int64_t k = 0; k < n; k++) {
        vertex[k] = -1;
        for (int32_t i = 0; i < nc; i++)
            if (touched[k] == vertex_node[i]) vertex[k] = i;
    }
    abut_arrays_remove(f, "lag/node");
}

/* Collision vertices as sums of nodes, of one each: what the last model and its frames have for contact/node, lag/node. */
static void map(stream *s)
{
    abut_err err = { 0 };
    abut_arrays *const m = &s->at[s->model].set;
    const abut_array *node = abut_arrays_find(m, "contact/node");
    need(node && abut_arrays_find(&s->at[s->frame].set, "lag/node"), "no contact/node or lag/node");
    const int64_t nc = node->shape[0];
    int32_t *first = abut_model_put(m, "contact/map-first", nc, &err), *to = abut_model_put(m, "contact/map-node", nc, &err);
    double *weight = abut_model_put(m, "contact/map-weight", nc, &err);
    need(first && to && weight && abut_model_put(m, "contact/offset", nc, &err), err.msg);
    memcpy(to, abut_arrays_find(m, "contact/node")->data, (size_t)nc * sizeof *to);     /* the set has grown */
    for (int32_t i = 0; i < nc; i++) {
        first[2 * i] = i;
        first[2 * i + 1] = i + 1;
        weight[i] = 1;
    }
    for (int i = s->model + 1; i < s->n; i++) map_frame(&s->at[i].set, to, nc);
    abut_arrays_remove(m, "contact/node");
}

/* ---- bad values ---- */

static const double reals[] = { NAN, 1e300, 0, 5e-324, -1, INFINITY, -INFINITY, -1e300, DBL_MAX };
static const int32_t ints[] = { INT32_MAX, -1, 0, INT32_MIN, 1, 1000000 };
enum { REALS = sizeof reals / sizeof *reals, INTS = sizeof ints / sizeof *ints };

/* where a value goes: the first of them everywhere, the others in one place alone */
enum { FIRST, LAST, ALL, PLACES };
static const int reals_of[PLACES] = { REALS, 2, 4 }, ints_of[PLACES] = { INTS, 2, 3 };
static const char *const place_name[] = { "first", "last", "all" };

static const char *const shapes[] = { "absent", "doubled", "of another type", "with another unit", "of rank 4", "a row short",
                                      "a row more", "without rows" };
enum { ABSENT, DOUBLED, TYPE, UNIT, RANK, SHORT, LONG, NO_ROWS, SHAPES };

static void set_values(abut_array *a, int place, int k)
{
    const int64_t n = abut_array_count(a);
    for (int64_t i = 0; i < n; i++) {
        if ((place == FIRST && i) || (place == LAST && i < n - 1)) continue;
        if (a->type == ABUT_F64) ((double *)a->data)[i] = reals[k];
        if (a->type == ABUT_I32) ((int32_t *)a->data)[i] = ints[k];
    }
}

/* The array with as many zeros after its data as another row or dimension needs. */
static void reshape(abut_array *a, int how)
{
    const size_t was = abut_array_bytes(a);
    if (how == RANK) {
        while (a->rank < ABUT_RANK_MAX) a->shape[a->rank++] = 1;
    } else if (!a->rank) {
        a->shape[a->rank++] = how == SHORT || how == NO_ROWS ? 0 : 2;
    } else {
        a->shape[0] = how == NO_ROWS ? 0 : a->shape[0] + (how == LONG ? 1 : -1);
        if (a->shape[0] < 0) a->shape[0] = 0;
    }
    char *grown = calloc(abut_array_bytes(a) + 1, 1);
    need(grown != NULL, "no memory");
    memcpy(grown, a->data, was < abut_array_bytes(a) ? was : abut_array_bytes(a));
    free(a->data);
    a->data = grown;
}

static void change_form(abut_arrays *set, abut_array *a, int how)
{
    abut_err err = { 0 };
    char name[ABUT_NAME_MAX + 1];
    strcpy(name, a->name);
    if (how == ABSENT) {
        abut_arrays_remove(set, a->name);
    } else if (how == DOUBLED) {
        abut_array twin = *a;   /* under another name until it is in the set */
        strcpy(twin.name, "twin");
        need(!abut_arrays_copy(set, &twin, &err), err.msg);
        strcpy(set->a[set->n - 1].name, name);
    } else if (how == TYPE) {
        a->type = a->type == ABUT_F64 ? ABUT_I64 : a->type == ABUT_I32 ? ABUT_F32 : ABUT_U8;
    } else if (how == UNIT) {
        strcpy(a->unit, strcmp(a->unit, "kg") ? "kg" : "s");
    } else {
        reshape(a, how);
    }
}

/* Exit code required of a reader for number k in array a; "-": any. */
static const char *must_value(const row *r, const abut_array *a, int k)
{
    if (!r || a->type != ABUT_F64 || isfinite(reals[k])) return "-";
    return isinf(reals[k]) && !strcmp(a->name, "motion/window") ? "-" : "3";
}

static const char *must_form(const row *r, int how)
{
    if (how == DOUBLED) return "3";
    if (!r) return "-";
    if (how == TYPE || how == UNIT || how == RANK) return "3";
    return how == ABSENT && !strcmp(r->rule, "NEED") ? "3" : "-";
}

/* One array of the MODEL or the FRAME (side 1) while the variants are counted. */
typedef struct spot {
    abut_arrays *set;
    abut_array *a;
    int side, wanted, number;   /* wanted < 0: print all */
} spot;

static void print_spot(const spot *p, const char *must, const char *words)
{
    printf("%d %s %s %s %s\n", p->number, must, p->side ? "FRAME" : "MODEL", p->a->name, words);
}

static int values_of(spot *p, const row *r)
{
    const int64_t count = abut_array_count(p->a);
    const int real = p->a->type == ABUT_F64, *n = real ? reals_of : p->a->type == ABUT_I32 ? ints_of : NULL;
    for (int place = 0; place < (!n || !count ? 0 : count > 1 ? PLACES : 1); place++)
        for (int k = 0; k < n[place]; k++, p->number++) {
            char words[80];
            snprintf(words, sizeof words, "%s %g", place_name[place], real ? reals[k] : ints[k]);
            if (p->wanted < 0) print_spot(p, must_value(r, p->a, k), words);
            else if (p->number == p->wanted) return set_values(p->a, place, k), 1;
        }
    return 0;
}

static int forms_of(spot *p, const row *r)
{
    for (int how = 0; how < SHAPES; how++, p->number++) {
        if (p->wanted < 0) print_spot(p, must_form(r, how), shapes[how]);
        else if (p->number == p->wanted) return change_form(p->set, p->a, how), 1;
    }
    return 0;
}

/* Goes through the variants; makes the one of that number, or prints all (wanted < 0).  Returns whether it was there. */
static int variants(stream *s, int wanted)
{
    spot p = { .wanted = wanted };
    for (p.side = 0; p.side < 2; p.side++) {
        p.set = &s->at[p.side ? s->frame : s->model].set;
        for (int i = 0, n = p.set->n; i < n; i++) {
            p.a = &p.set->a[i];
            const row *r = row_of(p.a->name, p.side);
            if (values_of(&p, r) || forms_of(&p, r)) return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static stream s;
    const char *const verb = argc > 2 ? argv[1] : "";
    if (!strcmp(verb, "missing")) return missing(argc - 2, argv + 2);
    need(argc > 2, "missing FILE..., complete FILE, map FILE, step FILE NUMBER, list FILE, write FILE NUMBER OUT");
    stream_read(&s, argv[2]);
    if (!strcmp(verb, "complete")) {
        complete(&s);
        stream_write(&s, stdout);
    } else if (!strcmp(verb, "map")) {
        map(&s);
        stream_write(&s, stdout);
    } else if (!strcmp(verb, "step") && argc > 3) {
        s.at[s.frame].head.step = atoll(argv[3]);
        stream_write(&s, stdout);
    } else if (!strcmp(verb, "list")) {
        variants(&s, -1);
    } else {
        need(!strcmp(verb, "write") && argc > 4, "write FILE NUMBER OUT");
        need(variants(&s, atoi(argv[3])), "no such variant");
        stream_write(&s, fopen(argv[4], "wb"));
    }
    return 0;
}
