#include "base/arena.h"
#include "model/naming.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t abut_node_number(const abut_model *m, int32_t node)
{
    int32_t before = 0;
    for (int32_t i = 0; i < node; i++) before += m->body[i] == m->body[node];
    return node < 0 ? -1 : before;
}

int32_t abut_element_number(const abut_model *m, const int32_t *element, int width, int32_t row)
{
    int32_t before = 0;
    for (int32_t i = 0; i < row; i++) before += m->body[element[width * (size_t)i]] == m->body[element[width * (size_t)row]];
    return row < 0 ? -1 : before;
}

abut_status abut_node_numbers(const abut_model *m, int32_t *number, abut_err *err)
{
    assert(m);
    int32_t *seen = calloc((size_t)m->no + 1, sizeof *seen);
    if (!seen) return abut_fail(err, ABUT_E_NOMEM, "no memory to count the nodes of %d objects", m->no);
    for (int32_t i = 0; i < m->nv; i++) number[i] = seen[m->body[i]]++;
    free(seen);
    return ABUT_OK;
}

abut_status abut_element_numbers(const abut_model *m, const int32_t *element, int width, int32_t n, int32_t *number,
                                 abut_err *err)
{
    int32_t *seen = calloc((size_t)m->no + 1, sizeof *seen);
    if (!seen) return abut_fail(err, ABUT_E_NOMEM, "no memory to count the elements of %d objects", m->no);
    for (int32_t i = 0; i < n; i++) number[i] = seen[m->body[element[(size_t)width * (size_t)i]]]++;
    free(seen);
    return ABUT_OK;
}

/* Writes `quoted` and line i of the text in quotes; if the line is unknown, `numbered` and i. */
static const char *words(const abut_text *t, const char *quoted, const char *numbered, int32_t i, char *buf)
{
    char name[ABUT_OBJECT_WORDS - 16];
    abut_text_line(t, i, name, sizeof name);
    if (strcmp(name, "?")) snprintf(buf, ABUT_OBJECT_WORDS, "%s'%s'", quoted, name);
    else snprintf(buf, ABUT_OBJECT_WORDS, "%s%d", numbered, i);
    return buf;
}

const char *abut_object_words(const abut_model *m, int32_t object, char *buf)
{
    return words(&m->object_name, "", "object ", object, buf);
}

const char *abut_half_space_words(const abut_model *m, int32_t plane, char *buf)
{
    return words(&m->half_space_name, "half-space ", "half-space ", plane, buf);
}

const char *abut_half_space_name(const abut_model *m, int32_t plane, char *buf)
{
    abut_text_line(&m->half_space_name, plane, buf, ABUT_OBJECT_WORDS);
    if (!strcmp(buf, "?")) snprintf(buf, ABUT_OBJECT_WORDS, "half-space %d", plane);
    return buf;
}

const char *abut_nodes_words(const abut_model *m, const int32_t *node, int n, char *buf)
{
    static const char *const what[] = { "", "node", "edge", "triangle" };
    char object[ABUT_OBJECT_WORDS];
    size_t used = (size_t)snprintf(buf, ABUT_NODES_WORDS, "%s", what[n]);
    for (int k = 0; k < n; k++)
        used += (size_t)snprintf(buf + used, ABUT_NODES_WORDS - used, " %d", abut_node_number(m, node[k]));
    snprintf(buf + used, ABUT_NODES_WORDS - used, " of %s", abut_object_words(m, m->body[node[0]], object));
    return buf;
}

/* ---- primitives that cannot be simulated ---- */

abut_status abut_offenders_add(abut_offenders *list, int size0, int size1, const double *x, abut_err *err, const char *fmt, ...)
{
    list->total++;
    if (list->n == ABUT_OFFENDERS_KEPT) return ABUT_OK;
    if (!ABUT_GROW(list->item, list->n + 1, list->cap))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for a list of %d unusable primitives", list->n + 1);
    abut_offender *o = &list->item[list->n++];
    o->size[0] = size0;
    o->size[1] = size1;
    memcpy(o->x, x, 3 * (size_t)(size0 + size1) * sizeof *x);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->text, sizeof o->text, fmt, ap);
    va_end(ap);
    return ABUT_OK;
}

void abut_offenders_clear(abut_offenders *list)
{
    free(list->item);
    memset(list, 0, sizeof *list);
}
