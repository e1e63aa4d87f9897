#include "formats/scene/tree_make.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Adds a value to its parent.  NULL after a failure: every caller passes it on as a parent, and nothing is added to it. */
static abut_tree *add(abut_tree_maker *m, abut_tree_kind kind, abut_tree *parent, const char *key, const char *text)
{
    abut_tree *t = m->failed ? NULL : abut_tree_new(m->arena, kind, m->file, m->line, 1, text);
    if (!t || (parent && !abut_tree_add(m->arena, parent, key, t))) m->failed = 1;
    return t;
}

abut_tree *abut_make_map(abut_tree_maker *m, abut_tree *parent, const char *key)
{
    return add(m, ABUT_TREE_MAP, parent, key, NULL);
}

abut_tree *abut_make_list(abut_tree_maker *m, abut_tree *parent, const char *key)
{
    return add(m, ABUT_TREE_LIST, parent, key, NULL);
}

void abut_make_text(abut_tree_maker *m, abut_tree *parent, const char *key, const char *fmt, ...)
{
    char text[4352];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    add(m, ABUT_TREE_TEXT, parent, key, text);
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
