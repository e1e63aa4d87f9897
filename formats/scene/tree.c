#include "formats/scene/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *abut_tree_path(const abut_tree *t, char *buf, size_t size)
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
    if (*abut_tree_path(t, path, sizeof path)) snprintf(key, sizeof key, " (key %s)", path);
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
