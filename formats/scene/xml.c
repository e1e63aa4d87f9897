/* XML as a tree: elements are maps, attributes are texts in them.  Comments and a declaration are read over; all else (a document
 * type, CDATA) is refused. */
#include "formats/mesh/mesh_io.h"
#include "formats/scene/tree.h"
#include "scene/scene.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MOST = 64 };

typedef struct xml {
    abut_arena *arena;
    const char *p, *end;
    abut_tree at;           /* place of p */
} xml;

static void skip(xml *x, size_t n)
{
    for (; n--; x->p++) {
        x->at.col++;
        if (*x->p == '\n') x->at.line++, x->at.col = 1;
    }
}

static int begins(const xml *x, const char *with)
{
    return (size_t)(x->end - x->p) >= strlen(with) && !memcmp(x->p, with, strlen(with));
}

static void skip_space(xml *x)
{
    while (x->p < x->end && isspace((unsigned char)*x->p)) skip(x, 1);
}

/* Moves behind the next `end`; `what` began here. */
static abut_status skip_past(xml *x, const char *end, const char *what, abut_err *err)
{
    const abut_tree from = x->at;
    while (x->p < x->end && !begins(x, end)) skip(x, 1);
    if (x->p == x->end) return abut_tree_fail(&from, err, "%s does not end: expected %s", what, end);
    skip(x, strlen(end));
    return ABUT_OK;
}

/* Moves to the next tag, over text and comments. */
static abut_status skip_text(xml *x, abut_err *err)
{
    for (;;) {
        while (x->p < x->end && *x->p != '<') skip(x, 1);
        if (!begins(x, "<!--")) return ABUT_OK;
        const abut_status rc = skip_past(x, "-->", "a comment", err);
        if (rc) return rc;
    }
}

static abut_status read_name(xml *x, const char *what, char name[ABUT_SCENE_NAME], abut_err *err)
{
    size_t n = 0;
    while (x->p + n < x->end && (isalnum((unsigned char)x->p[n]) || (x->p[n] && strchr("_:.-", x->p[n])))) n++;
    if (!n || n >= ABUT_SCENE_NAME || !(isalpha((unsigned char)*x->p) || *x->p == '_'))
        return abut_tree_fail(&x->at, err, "%s: expected a name of at most %d letters", what, ABUT_SCENE_NAME - 1);
    memcpy(name, x->p, n);
    name[n] = 0;
    skip(x, n);
    return ABUT_OK;
}

/* The letter that "&name;" stands for; 0: none. */
static char entity(const char *name, size_t n)
{
    static const struct { const char *name; char letter; } ALL[] = {
        { "lt", '<' }, { "gt", '>' }, { "amp", '&' }, { "quot", '"' }, { "apos", '\'' } };
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (strlen(ALL[i].name) == n && !memcmp(ALL[i].name, name, n)) return ALL[i].letter;
    return 0;
}

/* name="value", as a text of the element. */
static abut_status read_attribute(xml *x, abut_tree *element, abut_err *err)
{
    char name[ABUT_SCENE_NAME], *text;
    const abut_tree from = x->at;
    abut_status rc = read_name(x, "an attribute", name, err);
    if (rc) return rc;
    if (abut_tree_find(element, name)) return abut_tree_fail(&from, err, "%s: twice in one element", name);
    skip_space(x);
    if (!begins(x, "=")) return abut_tree_fail(&x->at, err, "%s: expected =\"value\"", name);
    skip(x, 1);
    skip_space(x);
    const char quote = x->p < x->end ? *x->p : 0, *end = quote == '"' || quote == '\'' ? memchr(x->p + 1, quote,
                                                                           (size_t)(x->end - x->p) - 1) : NULL;
    if (!end) return abut_tree_fail(&x->at, err, "%s: expected a value in quotes", name);
    abut_tree *value = abut_tree_new(x->arena, ABUT_TREE_TEXT, x->at.file, x->at.line, x->at.col, NULL);
    value = value && (value->text = text = abut_arena_alloc(x->arena, (size_t)(end - x->p), 1)) ? value : NULL;
    for (skip(x, 1); value && x->p < end; skip(x, 1)) {
        const char *stop = *x->p == '&' ? memchr(x->p, ';', (size_t)(end - x->p)) : NULL;
        if (*x->p == '<') return abut_tree_fail(&x->at, err, "%s: a value with '<': expected &lt;", name);
        *text = *x->p == '&' ? stop ? entity(x->p + 1, (size_t)(stop - x->p) - 1) : 0 : *x->p;
        if (!*text++) return abut_tree_fail(&x->at, err, "%s: '&': expected &lt; &gt; &amp; &quot; or &apos;", name);
        if (stop) skip(x, (size_t)(stop - x->p));
    }
    skip(x, 1);
    return abut_tree_add(x->arena, element, name, value) ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%s: no memory", x->at.file);
}

/* An element with its attributes and all that is in it, as a child of `in`. */
static abut_status read_element(xml *x, int depth, abut_tree *in, abut_err *err)
{
    char name[ABUT_SCENE_NAME], end[ABUT_SCENE_NAME + 3];
    const abut_tree from = x->at;
    skip(x, 1);
    abut_status rc = read_name(x, "an element (elements, attributes and comments are read)", name, err);
    if (rc) return rc;
    if (depth > DEPTH_MOST) return abut_tree_fail(&from, err, "<%s>: elements in more than %d others", name, DEPTH_MOST);
    abut_tree *t = abut_tree_new(x->arena, ABUT_TREE_MAP, x->at.file, from.line, from.col, NULL);
    if (!t || !abut_tree_add(x->arena, in, name, t)) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", x->at.file);
    for (;;) {
        const char *before = x->p;
        skip_space(x);
        if (begins(x, "/>")) return skip(x, 2), ABUT_OK;
        if (begins(x, ">")) break;
        if (x->p == before || x->p == x->end) return abut_tree_fail(&x->at, err, "<%s> does not end: expected >", name);
        if ((rc = read_attribute(x, t, err))) return rc;
    }
    skip(x, 1);
    snprintf(end, sizeof end, "</%s", name);
    while (!(rc = skip_text(x, err)) && x->p < x->end && !begins(x, "</"))
        if ((rc = read_element(x, depth + 1, t, err))) return rc;
    if (rc) return rc;
    const abut_tree *at = x->p < x->end ? &x->at : &from;
    const int is_end = begins(x, end);
    if (is_end) skip(x, strlen(end)), skip_space(x);
    if (is_end && begins(x, ">")) return skip(x, 1), ABUT_OK;
    return abut_tree_fail(at, err, "<%s> of line %d: expected %s>", name, from.line, end);
}

abut_status abut_xml_read(abut_arena *arena, const char *name, const abut_bytes *in, abut_tree **root, abut_err *err)
{
    xml x = { arena, in->data, in->data + in->size, { .file = name, .line = 1, .col = 1 } };
    abut_tree *all = abut_tree_new(arena, ABUT_TREE_MAP, name, 1, 1, NULL);
    abut_status rc = all ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%s: no memory", name);
    if (begins(&x, "\xef\xbb\xbf")) x.p += 3;
    if (!rc && begins(&x, "<?xml")) rc = skip_past(&x, "?>", "the declaration", err);
    if (!rc) rc = skip_text(&x, err);
    if (!rc && x.p == x.end) rc = abut_tree_fail(&x.at, err, "no element: expected <robot>");
    if (!rc) rc = read_element(&x, 1, all, err);
    if (!rc) rc = skip_text(&x, err);
    if (!rc && x.p < x.end) rc = abut_tree_fail(&x.at, err, "a second element: expected one, <%s>", all->child->key);
    if (!rc) *root = all->child;
    return rc;
}
