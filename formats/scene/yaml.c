#include "formats/scene/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 64 };

typedef struct reader {
    yaml_parser_t parser;
    abut_arena *arena;
    const char *name, *text;
    size_t size;
    abut_err *err;
} reader;

static abut_status fail_at(const reader *r, yaml_mark_t mark, const char *text)
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
        return fail_at(r, at, "a tab: lines of YAML are indented by spaces alone");
    return fail_at(r, at, p->problem ? p->problem : "not YAML");
}

static abut_tree *make(reader *r, abut_tree_kind kind, const yaml_event_t *ev)
{
    const char *text = kind == ABUT_TREE_TEXT ? (const char *)ev->data.scalar.value : NULL;
    return abut_tree_new(r->arena, kind, r->name, (int)ev->start_mark.line + 1, (int)ev->start_mark.column + 1, text);
}

static abut_status value(reader *r, const yaml_event_t *ev, int depth, abut_tree **out);

static abut_status twice(const reader *r, yaml_mark_t mark, const abut_tree *before)
{
    char text[160];
    snprintf(text, sizeof text, "the key '%.80s' is in the map already, at line %d", before->key, before->key_line);
    return fail_at(r, mark, text);
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
            rc = fail_at(r, key.start_mark, "a key must be plain text");
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
    if (depth == DEPTH_MAX) return fail_at(r, ev->start_mark, "more than 64 levels of maps and lists");
    switch (ev->type) {
    case YAML_SCALAR_EVENT:
        if (strlen((char *)ev->data.scalar.value) != ev->data.scalar.length)
            return fail_at(r, ev->start_mark, "a text with a NUL in it");
        *out = make(r, ABUT_TREE_TEXT, ev);
        return *out ? ABUT_OK : no_memory(r);
    case YAML_SEQUENCE_START_EVENT:
        *out = make(r, ABUT_TREE_LIST, ev);
        return *out ? children(r, *out, YAML_SEQUENCE_END_EVENT, depth + 1) : no_memory(r);
    case YAML_MAPPING_START_EVENT:
        *out = make(r, ABUT_TREE_MAP, ev);
        return *out ? children(r, *out, YAML_MAPPING_END_EVENT, depth + 1) : no_memory(r);
    case YAML_ALIAS_EVENT: return fail_at(r, ev->start_mark, "aliases are not read: write the value again");
    default: return fail_at(r, ev->start_mark, "expected a value");
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
            rc = fail_at(r, ev.start_mark, "a second document: expected one");
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
