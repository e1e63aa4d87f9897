/* Values of a scene by the rows of its tables, the list of all keys, and names that values refer to. */
#include "formats/scene/keys.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MOST = 48, WORDS_MOST = 120 };

const char *const abut_false_true[] = { "false", "true", NULL };

/* ---- values ---- */

/* An interval from its text. */
typedef struct interval {
    double lo, hi;
    int with_lo, with_hi;
} interval;

static interval interval_of(const char *range)
{
    const char *const comma = strchr(range, ','), *const end = comma + strcspn(comma, ")]");
    return (interval){ comma == range + 1 ? -INFINITY : strtod(range + 1, NULL),
                       end == comma + 1 ? INFINITY : strtod(comma + 1, NULL), *range == '[', *end == ']' };
}

/* "more than 0 and at most 1" */
static const char *interval_words(const char *range, char words[WORDS_MOST])
{
    const interval i = interval_of(range);
    int n = 0;
    *words = 0;
    if (isfinite(i.lo)) n = snprintf(words, WORDS_MOST, i.with_lo ? "%g or more" : "more than %g", i.lo);
    if (isfinite(i.hi))
        snprintf(words + n, WORDS_MOST - (size_t)n, "%s%s %g", n ? " and " : "", i.with_hi ? "at most" : "less than", i.hi);
    return words;
}

static abut_status check_range(const abut_key *k, const abut_tree *t, const char *what, double v, abut_err *err)
{
    char words[WORDS_MOST];
    if (!k->range) return ABUT_OK;
    const interval i = interval_of(k->range);
    if ((i.with_lo ? v >= i.lo : v > i.lo) && (i.with_hi ? v <= i.hi : v < i.hi)) return ABUT_OK;
    return abut_tree_fail(t, err, "%s is '%s': expected %s%s%s", what, t->text, interval_words(k->range, words),
                          k->form ? ", " : "", k->form ? k->form : "");
}

static int is_param(const abut_key *k) { return k->size == sizeof(abut_param); }

/* Puts a number that is not a list of some. */
static void put(const abut_key *k, const abut_tree *t, double v, int per_length, void *to)
{
    abut_param *const p = to;
    if (is_param(k)) p->value = v, p->per_length = per_length, abut_scene_copy_place(t, p->from);
    else if (k->kind == ABUT_KEY_NUMBER) *(double *)to = v;
    else *(int32_t *)to = (int32_t)v;
}

static abut_status read_number(const abut_key *k, const abut_tree *t, const char *what, void *to, abut_err *err)
{
    int l = 0;
    double v = 0;
    abut_status rc = abut_tree_real(t, what, k->q, &v, is_param(k) ? &l : NULL, err);
    if (!rc) rc = check_range(k, t, what, v, err);
    if (!rc) put(k, t, v, l, to);
    return rc;
}

static abut_status read_numbers(const abut_key *k, const abut_tree *t, const char *what, double *to, abut_err *err)
{
    const int n = (int)(k->size / sizeof *to);
    const abut_tree *c = t->child;
    if (k->kind == ABUT_KEY_AXES && t->kind != ABUT_TREE_LIST) {
        const abut_status rc = abut_tree_real(t, what, k->q, to, NULL, err);
        to[1] = to[2] = to[0];
        return rc ? rc : check_range(k, t, what, *to, err);
    }
    abut_status rc = abut_tree_vector(t, what, k->q, n, to, err);
    for (int i = 0; i < n && !rc; i++, c = c->next) rc = check_range(k, c, what, to[i], err);
    return rc;
}

static abut_status read_points(const abut_key *k, const abut_tree *t, const char *what, double *to, abut_err *err)
{
    const int n = (int)(k->size / (3 * sizeof *to));
    if (k->form && (t->kind != ABUT_TREE_LIST || t->n != n)) return abut_tree_fail_kind(t, what, err, "%s", k->form);
    abut_status rc = abut_tree_list(t, what, n, "[[0, 0, 0], [0, 1, 0]]", err);
    const abut_tree *c = t->child;
    for (int i = 0; i < n && !rc; i++, c = c->next) rc = abut_tree_vector(c, what, k->q, 3, to + 3 * i, err);
    return rc;
}

static abut_status read_whole(const abut_key *k, const abut_tree *t, const char *what, void *to, abut_err *err)
{
    const interval i = interval_of(k->range);
    const int32_t lo = (int32_t)i.lo, hi = isfinite(i.hi) ? (int32_t)i.hi : INT32_MAX;
    int32_t v = 0;
    if (!is_param(k) && k->size > sizeof v) return abut_tree_ints(t, what, (int)(k->size / sizeof v), lo, hi, to, err);
    const abut_status rc = abut_tree_int(t, what, lo, hi, &v, err);
    if (!rc) put(k, t, v, 0, to);
    return rc;
}

static abut_status read_word(const abut_key *k, const abut_tree *t, const char *what, void *to, abut_err *err)
{
    int v = 0;
    const abut_status rc = abut_tree_choice(t, what, k->words, &v, err);
    if (!rc) put(k, t, v, 0, to);
    return rc;
}

/* Reads one value as its row says. */
static abut_status key_value(const abut_scene_reader *r, const abut_keys *map, const abut_key *k, const abut_tree *t, void *to,
                             abut_err *err)
{
    char what[WORDS_MOST];
    snprintf(what, sizeof what, "%s%s", k->as || !map->prefix ? "" : map->prefix, k->as ? k->as : k->name);
    switch (k->kind) {
    case ABUT_KEY_LATER: return ABUT_OK;
    case ABUT_KEY_TREE: *(const abut_tree **)to = t; return ABUT_OK;
    case ABUT_KEY_NUMBER:
    case ABUT_KEY_AXES:
        return is_param(k) || k->size == sizeof(double) ? read_number(k, t, what, to, err) : read_numbers(k, t, what, to, err);
    case ABUT_KEY_POINTS: return read_points(k, t, what, to, err);
    case ABUT_KEY_WHOLE: return read_whole(k, t, what, to, err);
    case ABUT_KEY_WORD: return read_word(k, t, what, to, err);
    case ABUT_KEY_MAP: {
        if (k->instead && (t->kind == ABUT_TREE_TEXT || (t->kind == ABUT_TREE_LIST && k->instead->kind == ABUT_KEY_NUMBER)))
            return key_value(r, map, k->instead, t, (char *)to + k->instead->at, err);
        const abut_status rc = abut_keys_read(r, k->keys, t, to, err);
        return rc || !k->read ? rc : k->read(r, t, to, err);
    }
    case ABUT_KEY_READ: return k->read(r, t, to, err);
    }
    return ABUT_OK;
}

abut_status abut_keys_some(const abut_scene_reader *r, const abut_keys *map, const abut_tree *t, void *to, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (const abut_key *k = map->row; k->name && !rc; k++) {
        const abut_tree *c = abut_tree_find(t, k->name);
        if (c && k->has) *(int *)((char *)to + k->has) = 1;
        if (c) rc = key_value(r, map, k, c, (char *)to + k->at, err);
    }
    return rc;
}

abut_status abut_keys_read(const abut_scene_reader *r, const abut_keys *map, const abut_tree *t, void *to, abut_err *err)
{
    const char *names[KEYS_MOST + 1] = { NULL }, *const what = map->what ? map->what : t->key;
    for (int i = 0; map->row[i].name; i++) assert(i < KEYS_MOST), names[i] = map->row[i].name;
    const abut_status rc = abut_tree_keys(t, what, names, err);
    if (rc) return rc;
    for (int i = 0; i < map->needs; i++)
        if (!abut_tree_find(t, names[i]))
            return map->form ? abut_tree_fail(t, err, "%s: expected %s", what, map->form)
                             : abut_tree_fail(t, err, "%s: '%s' is missing", what, names[i]);
    return abut_keys_some(r, map, t, to, err);
}

abut_status abut_scene_list(const abut_scene_reader *r, const abut_tree *t, const char *what, const char *entry,
                            abut_key_read *read, size_t size, void *rows, int32_t *n, abut_err *err)
{
    abut_status rc = abut_tree_list(t, what, 0, entry, err);
    if (!rc) rc = abut_scene_rows(rows, n, t->n, size, err);
    char *row = rc ? NULL : *(char **)rows;
    for (const abut_tree *c = t->child; c && !rc; c = c->next, row += size) rc = read(r, c, row, err);
    return rc;
}

/* ---- the list of all keys ---- */

/* "number (s, ms, us, min, h)", "3 numbers", "integer", "one of a, b" */
static const char *takes(const abut_key *k, char text[400])
{
    char units[128] = "", words[300] = "";
    const int one = is_param(k) || k->kind == ABUT_KEY_AXES, n = one ? 1 : (int)(k->size / (k->kind == ABUT_KEY_WHOLE ? 4 : 8));
    if (k->kind >= ABUT_KEY_NUMBER && k->kind <= ABUT_KEY_AXES) abut_unit_names(k->q, units, sizeof units);
    if (k->kind == ABUT_KEY_WORD) abut_names_join(k->words, words, sizeof words);
    switch (k->kind) {
    case ABUT_KEY_NUMBER:
    case ABUT_KEY_WHOLE: {
        const char *const name = k->kind == ABUT_KEY_WHOLE ? "integer" : "number";
        snprintf(text, 400, n > 1 ? "%d %ss" : "%d %s", n, name);
        if (n == 1) snprintf(text, 400, "%s", name);
        break;
    }
    case ABUT_KEY_POINTS: snprintf(text, 400, "%d points", (int)(k->size / 24)); break;
    case ABUT_KEY_AXES: snprintf(text, 400, "number, or 3 numbers"); break;
    case ABUT_KEY_WORD: snprintf(text, 400, k->words == abut_false_true ? "true or false" : "one of %s", words); break;
    default: snprintf(text, 400, "%s", k->form ? k->form : "map");
    }
    const size_t used = strlen(text);
    if (*units) snprintf(text + used, 400 - used, " (%s)", units);
    return text;
}

/* The default of a row, text: as the row says, or a number or word of the structure that has it. */
static const char *fallback(const abut_key *k, const char *defaults, char text[64])
{
    double v = 0;
    if (k->fallback || !defaults) return k->fallback ? k->fallback : "";
    *text = 0;
    if (k->kind == ABUT_KEY_WORD && !is_param(k)) return k->words[*(const int *)(defaults + k->at)];
    if (k->kind != ABUT_KEY_NUMBER || (!is_param(k) && k->size != sizeof v)) return text;
    memcpy(&v, defaults + k->at, sizeof v);
    const abut_param *const p = is_param(k) ? (const abut_param *)(defaults + k->at) : NULL;
    const int is_said = k->range && *k->range == '[';       /* 0 of other intervals: none */
    if (v != 0 || (is_said && p && *p->from)) snprintf(text, 64, "%g%s", v, p && p->per_length ? " l" : "");
    return text;
}

void abut_keys_write(FILE *f, const char *path, const abut_keys *map, const void *defaults)
{
    for (const abut_key *k = map->row; k->name; k++) {
        char text[400], range[WORDS_MOST] = "", value[64], below[200];
        const char *const at = defaults;
        snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", k->name);
        fprintf(f, "%s\t%s\t%s\t%s\n", below, takes(k, text), k->range ? interval_words(k->range, range) : "",
                fallback(k, at, value));
        if (k->keys) abut_keys_write(f, below, k->keys, at && k->kind == ABUT_KEY_MAP ? at + k->at : NULL);
    }
}

/* ---- names and places ---- */

void abut_scene_copy_place(const abut_tree *t, char from[ABUT_SCENE_FROM])
{
    abut_tree_place(t, from, ABUT_SCENE_FROM);
}

abut_status abut_scene_name(const abut_tree *t, char name[ABUT_SCENE_NAME], abut_err *err)
{
    const size_t n = strlen(t->key);
    if (n == 0 || n >= ABUT_SCENE_NAME)
        return abut_tree_fail_key(t, err, "a name of %zu letter%s: expected 1 to %d", n, abut_s(n), ABUT_SCENE_NAME - 1);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)t->key[i] < ' ') return abut_tree_fail_key(t, err, "a name with a control character");
    memcpy(name, t->key, n + 1);
    return ABUT_OK;
}

abut_status abut_scene_named(const abut_tree *t, const char *what, const char *word, const char **names, const char *expected,
                             int32_t *row, abut_err *err)
{
    char there[240];
    if (!names) return abut_fail(err, ABUT_E_NOMEM, "no memory for the names of each %s", what);
    *row = 0;
    while (names[*row] && strcmp(names[*row], word) != 0) ++*row;
    const char *const near = names[*row] ? NULL : abut_name_nearest(word, names);
    const abut_status rc = names[*row] ? ABUT_OK
        : near ? abut_tree_fail(t, err, "no %s is called '%s'; did you mean '%s'?", what, word, near)
               : abut_tree_fail(t, err, "no %s is called '%s': expected %s%s", what, word, expected ? expected : "one of ",
                                expected ? "" : abut_names_join(names, there, sizeof there));
    free(names);
    return rc;
}

abut_status abut_scene_find_object(const abut_scene_reader *r, const abut_tree *t, int planes, int32_t *row, abut_err *err)
{
    const abut_scene *s = r->scene;
    const char *word = NULL;
    const abut_status rc = abut_tree_word(t, t->key ? t->key : "the name of an object",
                                          s->nobjects ? s->object[0].name : "ball", &word, err);
    if (rc) return rc;
    for (int32_t i = 0; i < s->nplanes && !planes; i++)
        if (!strcmp(s->plane[i].name, word))
            return abut_tree_fail(t, err, "'%s' is a half-space, which has no nodes and never moves: expected a body or an "
                                  "obstacle with a mesh", word);
    const char **names = calloc((size_t)s->nobjects + (size_t)s->nplanes + 1, sizeof *names);
    for (int32_t i = 0; i < s->nobjects && names; i++) names[i] = s->object[i].name;
    for (int32_t i = 0; i < s->nplanes && names && planes; i++) names[s->nobjects + i] = s->plane[i].name;
    return abut_scene_named(t, "object", word, names, NULL, row, err);
}

abut_status abut_scene_find_material(const abut_scene_reader *r, const abut_tree *t, int32_t *row, abut_err *err)
{
    const abut_scene *s = r->scene;
    const char *word = NULL;
    const abut_status rc = abut_tree_word(t, "the name of a material", "rubber", &word, err);
    if (rc) return rc;
    const char **names = calloc((size_t)s->nmaterials + 1, sizeof *names);
    for (int32_t i = 0; i < s->nmaterials && names; i++) names[i] = s->material[i].name;
    return abut_scene_named(t, "material", word, names, NULL, row, err);
}

abut_status abut_scene_placed(const abut_tree *t, abut_status rc, abut_err *err)
{
    char at[200];
    abut_tree_place(t, at, sizeof at);
    const size_t n = strlen(at);
    const int is_said = rc && err && !strncmp(err->msg, at, n) && err->msg[n] == ':';   /* a mesh file on the command line */
    if (rc && !is_said) abut_wrap(err, "%s", at);
    if (rc != ABUT_E_ARG) return rc;
    if (err) err->code = ABUT_E_FORMAT;
    return ABUT_E_FORMAT;
}

abut_status abut_scene_nonzero(const abut_tree *t, const char *what, const double v[3], abut_err *err)
{
    if (v[0] != 0 || v[1] != 0 || v[2] != 0) return ABUT_OK;
    return abut_tree_fail(t, err, "%s: expected a vector that is not zero", what);
}
