#include "formats/result/tree_json.h"

#include "formats/result/json_text.h"
#include "formats/scene/yaml.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *digits(const char *s)
{
    if (!isdigit((unsigned char)*s)) return NULL;
    while (isdigit((unsigned char)*s)) s++;
    return s;
}

/* A number by the grammar of JSON (RFC 8259, 6) that a double holds. */
static int is_number(const char *text)
{
    const char *s = text + (*text == '-');
    s = *s == '0' ? s + 1 : digits(s);
    if (s && *s == '.') s = digits(s + 1);
    if (s && (*s == 'e' || *s == 'E')) s = digits(s + 1 + (s[1] == '-' || s[1] == '+'));
    return s && !*s && isfinite(strtod(text, NULL));
}

static void put_text(FILE *f, const char *text)
{
    if (is_number(text) || !strcmp(text, "true") || !strcmp(text, "false")) fputs(text, f);
    else abut_json_string(f, text);
}

/* A value in one line: a text, or a list of texts. */
static int is_short(const abut_tree *t)
{
    if (t->kind == ABUT_TREE_MAP) return !t->child;
    for (const abut_tree *c = t->kind == ABUT_TREE_LIST ? t->child : NULL; c; c = c->next)
        if (c->kind != ABUT_TREE_TEXT) return 0;
    return 1;
}

static void put_value(FILE *f, const abut_tree *t, int depth)
{
    if (t->kind == ABUT_TREE_TEXT) {
        put_text(f, t->text);
        return;
    }
    const int is_map = t->kind == ABUT_TREE_MAP, in_line = is_short(t);
    fputc(is_map ? '{' : '[', f);
    for (const abut_tree *c = t->child; c; c = c->next) {
        if (!in_line) fprintf(f, "\n%*s", depth + 1, "");
        if (is_map) {
            abut_json_string(f, c->key);
            fputs(": ", f);
        }
        put_value(f, c, depth + 1);
        if (c->next) fputs(in_line ? ", " : ",", f);
    }
    if (!in_line) fprintf(f, "\n%*s", depth, "");
    fputc(is_map ? '}' : ']', f);
}

abut_status abut_tree_json(FILE *f, const abut_tree *root, abut_err *err)
{
    abut_status rc = abut_yaml_check_text(root, "JSON", err);
    if (rc) return rc;
    put_value(f, root, 0);
    fputc('\n', f);
    return ABUT_OK;
}
