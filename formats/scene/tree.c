#include "formats/scene/tree.h"

#include "scene/scene.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static const char *copy(abut_arena *arena, const char *s, size_t n)
{
    char *p = abut_arena_alloc(arena, n + 1, 1);
    if (p) memcpy(p, s, n);
    return p;
}

abut_tree *abut_tree_new(abut_arena *arena, abut_tree_kind kind, const char *file, int line, int col, const char *text)
{
    abut_tree *t = ABUT_NEW(arena, abut_tree, 1);
    if (!t) return NULL;
    *t = (abut_tree){ .kind = kind, .file = file, .line = line, .col = col };
    if (text && !(t->text = copy(arena, text, strlen(text)))) return NULL;
    return t;
}

int abut_tree_add(abut_arena *arena, abut_tree *parent, const char *key, abut_tree *child)
{
    if (!child || (key && !(child->key = copy(arena, key, strlen(key))))) return 0;
    if (!child->key_line) child->key_line = child->line, child->key_col = child->col;
    if (parent->last) parent->last->next = child;
    else parent->child = child;
    parent->last = child;
    child->parent = parent;
    parent->n++;
    return 1;
}

abut_tree *abut_tree_find(const abut_tree *map, const char *key)
{
    for (abut_tree *c = map->kind == ABUT_TREE_MAP ? map->child : NULL; c; c = c->next)
        if (!strcmp(c->key, key)) return c;
    return NULL;
}

abut_tree *abut_tree_at(const abut_tree *list, int i)
{
    abut_tree *c = list->kind == ABUT_TREE_LIST && i >= 0 ? list->child : NULL;
    while (c && i--) c = c->next;
    return c;
}

/* Puts `by` in the place of `old` among the children of parent. */
static void replace(abut_tree *parent, abut_tree *old, abut_tree *by)
{
    abut_tree **at = &parent->child;
    while (*at != old) at = &(*at)->next;
    by->key = old->key;
    by->key_line = by->line, by->key_col = by->col;
    by->next = old->next;
    by->parent = parent;
    *at = by;
    if (parent->last == old) parent->last = by;
}

/* Letters of the name that a path begins with: the longest key of the map, which may have dots, else what is before a dot. */
static size_t length_of_name(const abut_tree *map, const char *path)
{
    size_t most = strcspn(path, ".");
    for (const abut_tree *c = map->kind == ABUT_TREE_MAP ? map->child : NULL; c; c = c->next) {
        const size_t n = strlen(c->key);
        if (n > most && !strncmp(path, c->key, n) && (!path[n] || path[n] == '.')) most = n;
    }
    return most;
}

/* Follows one name of a path; *to: the child, NULL if a map has no such key yet. */
static abut_status walk(const abut_tree *t, const char *path, const char *name, abut_tree **to, abut_err *err)
{
    if (t->kind == ABUT_TREE_MAP) {
        *to = abut_tree_find(t, name);
        return ABUT_OK;
    }
    if (t->kind == ABUT_TREE_TEXT)
        return abut_fail(err, ABUT_E_ARG, "--set %s: '%s' is looked up in the plain value '%s'", path, name, t->text);
    char *stop;
    const long i = strtol(name, &stop, 10);
    *to = *name >= '0' && *name <= '9' && !*stop && i < t->n ? abut_tree_at(t, (int)i) : NULL;
    if (*to) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "--set %s: '%s' is looked up in a list of %d: expected 0 to %d", path, name, t->n,
                     t->n - 1);
}

abut_status abut_tree_set(abut_arena *arena, abut_tree *root, const char *path, abut_tree *value, abut_err *err)
{
    abut_tree *t = root;
    for (const char *p = path;;) {
        const size_t n = length_of_name(t, p);
        const char *name = copy(arena, p, n);
        abut_tree *to = NULL;
        if (!name) return abut_fail(err, ABUT_E_NOMEM, "--set %s: no memory", path);
        if (!n) return abut_fail(err, ABUT_E_ARG, "--set %s: an empty name: expected key.key.key=value", path);
        const abut_status rc = walk(t, path, name, &to, err);
        if (rc) return rc;
        const int last = !p[n];
        if (last && to) {
            replace(t, to, value);
            return ABUT_OK;
        }
        if (!to) {
            to = last ? value : abut_tree_new(arena, ABUT_TREE_MAP, value->file, value->line, value->col, NULL);
            if (!abut_tree_add(arena, t, name, to)) return abut_fail(err, ABUT_E_NOMEM, "--set %s: no memory", path);
        }
        if (last) return ABUT_OK;
        t = to;
        p += n + 1;
    }
}

static const char *place(const char *file, int line, int col, char *buf, size_t size)
{
    /* messages keep the end of a long path: the file's name */
    const size_t n = strlen(file), most = size / 2;
    const char *tail = n > most ? file + (n - most) : file;
    if (line) snprintf(buf, size, "%s%s:%d:%d", n > most ? "..." : "", tail, line, col);
    else snprintf(buf, size, "%s%s", n > most ? "..." : "", tail);
    return buf;
}

const char *abut_tree_place(const abut_tree *t, char *buf, size_t size)
{
    return place(t->file, t->line, t->col, buf, size);
}

static abut_status fail_at(const char *file, int line, int col, abut_err *err, const char *fmt, va_list ap)
{
    char text[720], at[200];
    vsnprintf(text, sizeof text, fmt, ap);
    return abut_fail(err, ABUT_E_FORMAT, "%s: %s", place(file, line, col, at, sizeof at), text);
}

abut_status abut_tree_fail(const abut_tree *t, abut_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const abut_status rc = fail_at(t->file, t->line, t->col, err, fmt, ap);
    va_end(ap);
    return rc;
}

abut_status abut_tree_fail_key(const abut_tree *t, abut_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const abut_status rc = fail_at(t->file, t->key_line, t->key_col, err, fmt, ap);
    va_end(ap);
    return rc;
}

/* The path of a value from the root, as --set takes it: "motion.0.select.object"; its end, where it is long.  Returns buf. */
static const char *tree_path(const abut_tree *t, char *buf, size_t size)
{
    char *at = buf + size - 1;      /* written from its end, so that the end is what is kept */
    *at = 0;
    for (; t->parent; t = t->parent) {
        char number[16];
        const char *name = t->key;
        if (!name) {
            int i = 0;
            for (const abut_tree *c = t->parent->child; c && c != t; c = c->next) i++;
            snprintf(number, sizeof number, "%d", i);
            name = number;
        }
        const size_t n = strlen(name), dot = *at != 0;
        if ((size_t)(at - buf) < n + dot + 3) {
            at -= 3;
            memcpy(at, "...", 3);
            break;
        }
        if (dot) *--at = '.';
        at -= n;
        memcpy(at, name, n);
    }
    return memmove(buf, at, (size_t)(buf + size - at));
}

abut_status abut_tree_fail_kind(const abut_tree *t, const char *what, abut_err *err, const char *expected, ...)
{
    char want[400], is[80], path[120], key[140] = "";
    va_list ap;
    va_start(ap, expected);
    vsnprintf(want, sizeof want, expected, ap);
    va_end(ap);
    if (t->kind == ABUT_TREE_TEXT) snprintf(is, sizeof is, *t->text ? "'%.60s'" : "empty", t->text);
    else if (!t->n) snprintf(is, sizeof is, "an empty %s", t->kind == ABUT_TREE_LIST ? "list" : "map");
    else if (t->kind == ABUT_TREE_LIST) snprintf(is, sizeof is, "a list of %d", t->n);
    else snprintf(is, sizeof is, "a map with the key '%.40s'", t->child->key);
    if (*tree_path(t, path, sizeof path)) snprintf(key, sizeof key, " (key %s)", path);
    return abut_tree_fail(t, err, "%s is %s: expected %s%s", what, is, want, key);
}

abut_status abut_tree_list(const abut_tree *t, const char *what, int n, const char *entry, abut_err *err)
{
    if (t->kind == ABUT_TREE_LIST && (n > 0 ? t->n == n : n == 0 || t->n > 0)) return ABUT_OK;
    if (n > 0) return abut_tree_fail_kind(t, what, err, "a list of %d, %s", n, entry);
    return abut_tree_fail_kind(t, what, err, "a list%s, [%s, ...]", n ? " of one or more" : "", entry);
}

/* Returns the known key for which `key` is another program's name; NULL if there is none. */
static const char *known_as(const char *key, const char *const *known)
{
    static const char *const other[][2] = { { "position", "translate" }, { "location", "translate" }, { "friction", "mu" },
                                            { "dt", "step" }, { "fixed", "fix" }, { "objects", "object" } };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        for (int k = 0; !strcmp(key, other[i][0]) && known[k]; k++)
            if (!strcmp(known[k], other[i][1])) return known[k];
    return NULL;
}

abut_status abut_tree_keys(const abut_tree *t, const char *what, const char *const *known, abut_err *err)
{
    char list[240];
    abut_names_join(known, list, sizeof list);
    if (t->kind != ABUT_TREE_MAP)
        return abut_tree_fail_kind(t, what, err, "a map with keys among %s, as {%s: ...}", list, known[0]);
    for (const abut_tree *c = t->child; c; c = c->next) {
        int found = 0;
        for (int i = 0; known[i] && !found; i++) found = !strcmp(c->key, known[i]);
        if (found) continue;
        const char *const other = known_as(c->key, known), *near = other ? other : abut_name_nearest(c->key, known);
        if (near) return abut_tree_fail_key(c, err, "%s: unknown key '%s'; did you mean '%s'?", what, c->key, near);
        return abut_tree_fail_key(c, err, "%s: unknown key '%s'; expected one of %s", what, c->key, list);
    }
    return ABUT_OK;
}

/* ---- values ---- */

static const char *const EXAMPLES[] = {
    [ABUT_Q_PURE] = "0.5", [ABUT_Q_TIME] = "10 ms", [ABUT_Q_PER_TIME] = "2 1/s", [ABUT_Q_LENGTH] = "2 mm",
    [ABUT_Q_LENGTH_OR_L] = "1e-3 l", [ABUT_Q_SPEED] = "1 m/s", [ABUT_Q_SPEED_OR_L] = "1e-3 l/s",
    [ABUT_Q_ACCELERATION] = "-9.81 m/s^2", [ABUT_Q_FORCE] = "10 N", [ABUT_Q_TORQUE] = "2 N m", [ABUT_Q_STIFFNESS] = "100 N/m",
    [ABUT_Q_TWIST] = "5 N m/rad", [ABUT_Q_DRAG] = "2 N s/m", [ABUT_Q_TWIST_DRAG] = "0.1 N m s/rad",
    [ABUT_Q_FORCE_DENSITY] = "10 N/m^3", [ABUT_Q_DENSITY] = "1000 kg/m^3", [ABUT_Q_PRESSURE] = "10 kPa",
    [ABUT_Q_VOLUME] = "1e-6 m^3", [ABUT_Q_MASS] = "2 kg", [ABUT_Q_INERTIA] = "0.1 kg m^2",
    [ABUT_Q_ANGLE] = "90 deg", [ABUT_Q_RATE] = "90 deg/s",
};

static int unit_needed(abut_quantity q)
{
    return q == ABUT_Q_LENGTH_OR_L || q == ABUT_Q_SPEED_OR_L || q == ABUT_Q_ANGLE || q == ABUT_Q_RATE;
}

static abut_status wrong(const abut_tree *t, const char *what, abut_quantity q, abut_err *err)
{
    char units[128], *end = NULL;
    abut_unit_names(q, units, sizeof units);
    if (t->kind == ABUT_TREE_TEXT) (void)strtod(t->text, &end);
    const abut_unit *like = end && end != t->text && *end ? abut_unit_like(q, end) : NULL;
    return abut_tree_fail_kind(t, what, err, "a number%s%s%s, as %s%s%s%s",
                               !*units ? "" : unit_needed(q) ? " and its unit, one of " : ", if it has a unit one of ", units,
                               q == ABUT_Q_LENGTH_OR_L ? " (l: the diagonal of the simulated bodies)" : "", EXAMPLES[q],
                               like ? "; did you mean '" : "", like ? like->name : "",
                               like ? "'?" : "");
}

/* Angles beyond it have no digits left of a turn that mean anything; powers of other numbers beyond it are not finite. */
static double most(abut_quantity q)
{
    return q == ABUT_Q_ANGLE || q == ABUT_Q_RATE ? ABUT_TURNS_MOST * ABUT_TURN : ABUT_FARTHEST;
}

static abut_status too_large(const abut_tree *t, const char *what, abut_quantity q, abut_err *err)
{
    if (q != ABUT_Q_ANGLE && q != ABUT_Q_RATE)
        return abut_tree_fail(t, err, "%s is '%.60s': expected between -%g and %g in SI units", what, t->text, most(q), most(q));
    return abut_tree_fail(t, err, "%s is '%.60s': expected at most %g turns%s", what, t->text, ABUT_TURNS_MOST,
                          q == ABUT_Q_RATE ? " a second" : "");
}

abut_status abut_tree_real(const abut_tree *t, const char *what, abut_quantity q, double *out, int *per_length, abut_err *err)
{
    if (t->kind != ABUT_TREE_TEXT || !*t->text) return wrong(t, what, q, err);
    char *end;
    const double v = strtod(t->text, &end);
    if (end == t->text || !isfinite(v)) return wrong(t, what, q, err);
    while (*end == ' ') end++;
    const abut_unit *u = *end ? abut_unit_find(q, end) : NULL;
    if ((*end || unit_needed(q)) && !u) return wrong(t, what, q, err);
    if (u && u->per_length && !per_length) return wrong(t, what, q, err);
    const double si = u ? v * u->factor : v;
    if (fabs(si) > most(q)) return too_large(t, what, q, err);
    *out = si;
    if (per_length) *per_length = u ? u->per_length : 0;
    return ABUT_OK;
}

abut_status abut_tree_positive(const abut_tree *t, const char *what, abut_quantity q, double *out, int *per_length, abut_err *err)
{
    double v;
    int l = 0;
    const abut_status rc = abut_tree_real(t, what, q, &v, per_length ? &l : NULL, err);
    if (rc) return rc;
    if (!(v > 0)) return abut_tree_fail(t, err, "%s is '%s': expected more than 0", what, t->text);
    *out = v;
    if (per_length) *per_length = l;
    return ABUT_OK;
}

abut_status abut_tree_not_negative(const abut_tree *t, const char *what, abut_quantity q, double *out, abut_err *err)
{
    double v;
    const abut_status rc = abut_tree_real(t, what, q, &v, NULL, err);
    if (rc) return rc;
    if (!(v >= 0)) return abut_tree_fail(t, err, "%s is '%s': expected 0 or more", what, t->text);
    *out = v;
    return ABUT_OK;
}

double abut_tree_norm(double *v, int n)
{
    double largest = 0, sum = 0;
    for (int k = 0; k < n; k++) largest = fmax(largest, fabs(v[k]));
    for (int k = 0; k < n && largest > 0; k++) v[k] = scalbn(v[k], -ilogb(largest)), sum += v[k] * v[k];
    return sqrt(sum);
}

static abut_status list_of(const abut_tree *t, const char *what, int n, const char *example, abut_err *err)
{
    if (t->kind == ABUT_TREE_LIST && t->n == n) return ABUT_OK;
    return abut_tree_fail_kind(t, what, err, "a list of %d numbers%s%s", n, example ? ", " : "", example ? example : "");
}

abut_status abut_tree_vector(const abut_tree *t, const char *what, abut_quantity q, int n, double *out, abut_err *err)
{
    static const char *const example[] = { NULL, "[1]", "[0, 1]", "[0, 1, 0]", "[1, 0, 0, 0]" };
    abut_status rc = list_of(t, what, n, n < 5 ? example[n] : NULL, err);
    const abut_tree *c = t->child;
    for (int i = 0; i < n && !rc; i++, c = c->next) rc = abut_tree_real(c, what, q, &out[i], NULL, err);
    return rc;
}

abut_status abut_tree_int(const abut_tree *t, const char *what, int32_t lo, int32_t hi, int32_t *out, abut_err *err)
{
    if (t->kind == ABUT_TREE_TEXT && *t->text) {
        char *end;
        errno = 0;
        const long long v = strtoll(t->text, &end, 10);
        if (!*end && !errno && v >= lo && v <= hi) {
            *out = (int32_t)v;
            return ABUT_OK;
        }
    }
    return abut_tree_fail_kind(t, what, err, lo == hi ? "%d" : "an integer from %d to %d", lo, hi);
}

abut_status abut_tree_ints(const abut_tree *t, const char *what, int n, int32_t lo, int32_t hi, int32_t *out, abut_err *err)
{
    static const char *const example[] = { NULL, "[4]", "[4, 4]", "[4, 4, 4]", "[4, 5, 6, 7]" };
    abut_status rc = list_of(t, what, n, n < 5 ? example[n] : NULL, err);
    const abut_tree *c = t->child;
    for (int i = 0; i < n && !rc; i++, c = c->next) rc = abut_tree_int(c, what, lo, hi, &out[i], err);
    return rc;
}

abut_status abut_tree_word(const abut_tree *t, const char *what, const char *example, const char **out, abut_err *err)
{
    if (t->kind != ABUT_TREE_TEXT || !*t->text) return abut_tree_fail_kind(t, what, err, "a text, as '%s'", example);
    *out = t->text;
    return ABUT_OK;
}

abut_status abut_tree_choice(const abut_tree *t, const char *what, const char *const *names, int *out, abut_err *err)
{
    char list[200];
    size_t used = 0;
    const char *word = t->kind == ABUT_TREE_TEXT ? t->text : NULL;
    for (int i = 0; names[i]; i++) {
        if (word && !strcmp(word, names[i])) {
            *out = i;
            return ABUT_OK;
        }
        if (used < sizeof list) used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = word ? abut_name_nearest(word, names) : NULL;
    if (near) return abut_tree_fail(t, err, "%s is '%.60s'; did you mean '%s'?", what, word, near);
    return abut_tree_fail_kind(t, what, err, "one of %s", list);
}

/* ---- a tree written by hand ---- */

/* Adds a value to its parent.  NULL after a failure: every caller passes it on as a parent, and nothing is added to it. */
static abut_tree *make(abut_tree_maker *m, abut_tree_kind kind, abut_tree *parent, const char *key, const char *text)
{
    abut_tree *t = m->failed ? NULL : abut_tree_new(m->arena, kind, m->file, m->line, 1, text);
    if (!t || (parent && !abut_tree_add(m->arena, parent, key, t))) m->failed = 1;
    return t;
}

abut_tree *abut_make_map(abut_tree_maker *m, abut_tree *parent, const char *key)
{
    return make(m, ABUT_TREE_MAP, parent, key, NULL);
}

abut_tree *abut_make_list(abut_tree_maker *m, abut_tree *parent, const char *key)
{
    return make(m, ABUT_TREE_LIST, parent, key, NULL);
}

void abut_make_text(abut_tree_maker *m, abut_tree *parent, const char *key, const char *fmt, ...)
{
    char text[4352];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    make(m, ABUT_TREE_TEXT, parent, key, text);
}

void abut_make_number(abut_tree_maker *m, abut_tree *parent, const char *key, double v, const char *unit)
{
    char text[40];
    int digits = 15;
    do snprintf(text, sizeof text, "%.*g", digits, v);
    while (digits++ < 17 && strtod(text, NULL) != v);
    abut_make_text(m, parent, key, unit ? "%s %s" : "%s", text, unit);
}

void abut_make_numbers(abut_tree_maker *m, abut_tree *parent, const char *key, const double *v, int n)
{
    abut_tree *list = abut_make_list(m, parent, key);
    for (int i = 0; i < n; i++) abut_make_number(m, list, NULL, v[i], NULL);
}

/* ---- a tree of YAML ---- */

enum { DEPTH_MAX = 64 };

typedef struct reader {
    yaml_parser_t parser;
    abut_arena *arena;
    const char *name, *text;
    size_t size;
    abut_err *err;
} reader;

static abut_status refuse_at(const reader *r, yaml_mark_t mark, const char *text)
{
    return abut_fail(r->err, ABUT_E_FORMAT, "%s:%zu:%zu: %s", r->name, mark.line + 1, mark.column + 1, text);
}

/* Whether a tab is among the blanks and dashes that the line of a mark begins with. */
static int is_tab(const reader *r, yaml_mark_t mark)
{
    const char *p = r->text, *const end = r->text + r->size;
    for (size_t line = 0; line < mark.line && p; line++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (p) p++;
    }
    for (; p && p < end && (*p == ' ' || *p == '-' || *p == '\t'); p++)
        if (*p == '\t') return 1;
    return 0;
}

static abut_status no_memory(const reader *r)
{
    return abut_fail(r->err, ABUT_E_NOMEM, "%s: no memory for the document", r->name);
}

static abut_status next(reader *r, yaml_event_t *ev)
{
    if (yaml_parser_parse(&r->parser, ev)) return ABUT_OK;
    const yaml_parser_t *p = &r->parser;
    memset(ev, 0, sizeof *ev);
    if (p->error == YAML_MEMORY_ERROR) return no_memory(r);
    const yaml_mark_t at = p->error == YAML_READER_ERROR ? p->mark : p->problem_mark;
    if (p->error == YAML_SCANNER_ERROR && is_tab(r, at))
        return refuse_at(r, at, "a tab: lines of YAML are indented by spaces alone");
    return refuse_at(r, at, p->problem ? p->problem : "not YAML");
}

static abut_tree *node_of(reader *r, abut_tree_kind kind, const yaml_event_t *ev)
{
    const char *text = kind == ABUT_TREE_TEXT ? (const char *)ev->data.scalar.value : NULL;
    return abut_tree_new(r->arena, kind, r->name, (int)ev->start_mark.line + 1, (int)ev->start_mark.column + 1, text);
}

static abut_status value(reader *r, const yaml_event_t *ev, int depth, abut_tree **out);

static abut_status twice(const reader *r, yaml_mark_t mark, const abut_tree *before)
{
    char text[160];
    snprintf(text, sizeof text, "the key '%.80s' is in the map already, at line %d", before->key, before->key_line);
    return refuse_at(r, mark, text);
}

static abut_status children(reader *r, abut_tree *parent, yaml_event_type_t end, int depth)
{
    for (;;) {
        yaml_event_t key, ev;
        abut_tree *child = NULL;
        abut_status rc = next(r, &key);
        if (rc) return rc;
        if (key.type == end) {
            yaml_event_delete(&key);
            return ABUT_OK;
        }
        if (parent->kind == ABUT_TREE_LIST) {
            rc = value(r, &key, depth, &child);
            if (!rc && !abut_tree_add(r->arena, parent, NULL, child)) rc = no_memory(r);
        } else if (key.type != YAML_SCALAR_EVENT || strlen((char *)key.data.scalar.value) != key.data.scalar.length) {
            rc = refuse_at(r, key.start_mark, "a key must be plain text");
        } else if ((child = abut_tree_find(parent, (char *)key.data.scalar.value))) {
            rc = twice(r, key.start_mark, child);
        } else if (!(rc = next(r, &ev))) {
            rc = value(r, &ev, depth, &child);
            if (!rc) {
                child->key_line = (int)key.start_mark.line + 1, child->key_col = (int)key.start_mark.column + 1;
                if (!abut_tree_add(r->arena, parent, (char *)key.data.scalar.value, child)) rc = no_memory(r);
            }
            yaml_event_delete(&ev);
        }
        yaml_event_delete(&key);
        if (rc) return rc;
    }
}

static abut_status value(reader *r, const yaml_event_t *ev, int depth, abut_tree **out)
{
    if (depth == DEPTH_MAX) return refuse_at(r, ev->start_mark, "more than 64 levels of maps and lists");
    switch (ev->type) {
    case YAML_SCALAR_EVENT:
        if (strlen((char *)ev->data.scalar.value) != ev->data.scalar.length)
            return refuse_at(r, ev->start_mark, "a text with a NUL in it");
        *out = node_of(r, ABUT_TREE_TEXT, ev);
        return *out ? ABUT_OK : no_memory(r);
    case YAML_SEQUENCE_START_EVENT:
        *out = node_of(r, ABUT_TREE_LIST, ev);
        return *out ? children(r, *out, YAML_SEQUENCE_END_EVENT, depth + 1) : no_memory(r);
    case YAML_MAPPING_START_EVENT:
        *out = node_of(r, ABUT_TREE_MAP, ev);
        return *out ? children(r, *out, YAML_MAPPING_END_EVENT, depth + 1) : no_memory(r);
    case YAML_ALIAS_EVENT: return refuse_at(r, ev->start_mark, "aliases are not read: write the value again");
    default: return refuse_at(r, ev->start_mark, "expected a value");
    }
}

/* Stream start, document start, one value, document end, stream end. */
static abut_status document(reader *r, abut_tree **root)
{
    yaml_event_t ev;
    abut_status rc = ABUT_OK;
    int done = 0, documents = 0;
    while (!done && !rc) {
        if ((rc = next(r, &ev))) break;
        if (ev.type == YAML_STREAM_END_EVENT) done = 1;
        else if (ev.type == YAML_DOCUMENT_START_EVENT && ++documents > 1)
            rc = refuse_at(r, ev.start_mark, "a second document: expected one");
        else if (ev.type != YAML_STREAM_START_EVENT && ev.type != YAML_DOCUMENT_START_EVENT && ev.type != YAML_DOCUMENT_END_EVENT)
            rc = value(r, &ev, 0, root);
        yaml_event_delete(&ev);
    }
    return rc;
}

abut_status abut_yaml_read(abut_arena *arena, const char *name, const char *text, size_t size, abut_tree **root, abut_err *err)
{
    reader r = { .arena = arena, .name = name, .text = text, .size = size, .err = err };
    abut_tree *t = NULL;
    if (!yaml_parser_initialize(&r.parser)) return no_memory(&r);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    abut_status rc = document(&r, &t);
    yaml_parser_delete(&r.parser);
    if (!rc && !t && !(t = abut_tree_new(arena, ABUT_TREE_MAP, name, 1, 1, NULL))) rc = no_memory(&r);
    if (!rc) *root = t;
    return rc;
}

/* ---- writing ---- */

/* Depth from which on values are written in one line. */
enum { FLOW_DEPTH = 3 };

static int put_bytes(void *file, unsigned char *text, size_t n)
{
    return fwrite(text, 1, n, file) == n;
}

static int put_text(yaml_emitter_t *e, const char *s)
{
    yaml_event_t ev;
    return yaml_scalar_event_initialize(&ev, NULL, NULL, (const yaml_char_t *)s, (int)strlen(s), 1, 1, YAML_ANY_SCALAR_STYLE) &&
           yaml_emitter_emit(e, &ev);
}

static int holds_texts(const abut_tree *t)
{
    for (const abut_tree *c = t->child; c; c = c->next)
        if (c->kind != ABUT_TREE_TEXT) return 0;
    return 1;
}

static int put_value(yaml_emitter_t *e, const abut_tree *t, int depth)
{
    yaml_event_t ev;
    const int is_map = t->kind == ABUT_TREE_MAP, in_line = depth >= FLOW_DEPTH || (!is_map && holds_texts(t));
    if (t->kind == ABUT_TREE_TEXT) return put_text(e, t->text);
    int ok = is_map ? yaml_mapping_start_event_initialize(&ev, NULL, NULL, 1,
                                                          in_line ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE)
                    : yaml_sequence_start_event_initialize(&ev, NULL, NULL, 1,
                                                           in_line ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
    ok = ok && yaml_emitter_emit(e, &ev);
    for (const abut_tree *c = t->child; c && ok; c = c->next) ok = (!is_map || put_text(e, c->key)) && put_value(e, c, depth + 1);
    if (!ok) return 0;
    return (is_map ? yaml_mapping_end_event_initialize(&ev) : yaml_sequence_end_event_initialize(&ev)) &&
           yaml_emitter_emit(e, &ev);
}

static int put_document(yaml_emitter_t *e, const abut_tree *root)
{
    yaml_event_t ev;
    return yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING) && yaml_emitter_emit(e, &ev) &&
           yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, 1) && yaml_emitter_emit(e, &ev) && put_value(e, root, 0) &&
           yaml_document_end_event_initialize(&ev, 1) && yaml_emitter_emit(e, &ev) &&
           yaml_stream_end_event_initialize(&ev) && yaml_emitter_emit(e, &ev);
}

/* Returns the byte after a character of UTF-8 (RFC 3629, 4), or NULL if it is invalid. */
static const unsigned char *after_utf8(const unsigned char *s)
{
    const int n = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 : (*s & 0xf0) == 0xe0 ? 3 : *s >= 0xf0 && *s < 0xf5 ? 4 : 0;
    unsigned code = n > 1 ? *s & (0x7fu >> n) : *s;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return NULL;
        code = code << 6 | (s[i] & 0x3f);
    }
    const int is_long = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000), is_surrogate = code >= 0xd800 && code < 0xe000;
    return n && !is_long && !is_surrogate && code < 0x110000 ? s + n : NULL;
}

static int is_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (s && *s) s = after_utf8(s);
    return s != NULL;
}

/* The first value that is no text of YAML or JSON, or NULL. */
static const abut_tree *find_other_bytes(const abut_tree *t)
{
    if ((t->key && !is_utf8(t->key)) || (t->kind == ABUT_TREE_TEXT && !is_utf8(t->text))) return t;
    const abut_tree *bad = NULL;
    for (const abut_tree *c = t->kind == ABUT_TREE_TEXT ? NULL : t->child; c && !bad; c = c->next) bad = find_other_bytes(c);
    return bad;
}

abut_status abut_yaml_check_text(const abut_tree *root, const char *what, abut_err *err)
{
    const abut_tree *bad = find_other_bytes(root);
    if (bad) return abut_tree_fail(bad, err, "the name or the value holds bytes that are not UTF-8: %s cannot hold them", what);
    return ABUT_OK;
}

abut_status abut_yaml_write(FILE *f, const abut_tree *root, abut_err *err)
{
    yaml_emitter_t e;
    abut_status rc = abut_yaml_check_text(root, "YAML", err);
    if (rc) return rc;
    if (!yaml_emitter_initialize(&e)) return abut_fail(err, ABUT_E_NOMEM, "no memory to write YAML");
    yaml_emitter_set_output(&e, put_bytes, f);
    yaml_emitter_set_unicode(&e, 1);
    yaml_emitter_set_width(&e, -1);
    if (!put_document(&e, root))
        rc = e.error == YAML_WRITER_ERROR ? abut_fail(err, ABUT_E_IO, "YAML: %s", strerror(errno))
                                          : abut_fail(err, ABUT_E_NOMEM, "YAML: %s", e.problem ? e.problem : "no memory");
    yaml_emitter_delete(&e);
    return rc;
}
