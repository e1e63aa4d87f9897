#include "formats/yaml.h"

#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 64 };

typedef struct reader {
    yaml_parser_t parser;
    abut_arena *arena;
    const char *name;
    abut_err *err;
} reader;

static abut_status fail_at(const reader *r, yaml_mark_t mark, const char *text)
{
    return abut_fail(r->err, ABUT_E_FORMAT, "%s:%zu:%zu: %s", r->name, mark.line + 1, mark.column + 1, text);
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
    return fail_at(r, at, p->problem ? p->problem : "not YAML");
}

static abut_tree *make(reader *r, abut_tree_kind kind, const yaml_event_t *ev)
{
    const char *text = kind == ABUT_TREE_TEXT ? (const char *)ev->data.scalar.value : NULL;
    return abut_tree_new(r->arena, kind, r->name, (int)ev->start_mark.line + 1, (int)ev->start_mark.column + 1, text);
}

static abut_status value(reader *r, const yaml_event_t *ev, int depth, abut_tree **out);

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
        } else if (abut_tree_find(parent, (char *)key.data.scalar.value)) {
            rc = fail_at(r, key.start_mark, "this key is in the map already");
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
        else if (ev.type != YAML_STREAM_START_EVENT && ev.type != YAML_DOCUMENT_START_EVENT &&
                 ev.type != YAML_DOCUMENT_END_EVENT)
            rc = value(r, &ev, 0, root);
        yaml_event_delete(&ev);
    }
    return rc;
}

abut_status abut_yaml_read(abut_arena *arena, const char *name, const char *text, size_t size, abut_tree **root,
                           abut_err *err)
{
    reader r = { .arena = arena, .name = name, .err = err };
    abut_tree *t = NULL;
    if (!yaml_parser_initialize(&r.parser)) return no_memory(&r);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    abut_status rc = document(&r, &t);
    yaml_parser_delete(&r.parser);
    if (!rc && !t && !(t = abut_tree_new(arena, ABUT_TREE_MAP, name, 1, 1, NULL))) rc = no_memory(&r);
    if (!rc) *root = t;
    return rc;
}
