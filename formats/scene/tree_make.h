/* Writing a document tree by hand: one line per value.  A failed allocation is remembered, so that a writer checks once. */
#ifndef ABUT_FORMATS_SCENE_TREE_MAKE_H
#define ABUT_FORMATS_SCENE_TREE_MAKE_H

#include "formats/scene/tree.h"

/* State of a writer; file and line: place noted with the next values. */
typedef struct abut_tree_maker {
    abut_arena *arena;
    const char *file;
    int line;
    int failed;     /* memory ran out */
} abut_tree_maker;

/** A new map or list under parent (key NULL: an entry of a list; parent NULL: a root).  NULL once memory ran out; from
 * then on nothing is added to anything, so a NULL may be passed on as a parent. */
abut_tree *abut_make_map(abut_tree_maker *m, abut_tree *parent, const char *key);
abut_tree *abut_make_list(abut_tree_maker *m, abut_tree *parent, const char *key);
/** A text value, printf-style. */
void abut_make_text(abut_tree_maker *m, abut_tree *parent, const char *key, const char *fmt, ...) ABUT_PRINTF(4, 5);
/** A number in the fewest digits that read back the same, and its unit (NULL: none). */
void abut_make_number(abut_tree_maker *m, abut_tree *parent, const char *key, double v, const char *unit);
/** A list of n such numbers. */
void abut_make_numbers(abut_tree_maker *m, abut_tree *parent, const char *key, const double *v, int n);

#endif
