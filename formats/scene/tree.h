/* A document as a tree of maps, lists and texts with their places in the file: a scene file before it is interpreted.
 * YAML files and other scene scripts become such a tree; --set changes it.  Errors about values that are missing or
 * wrong name their place. */
#ifndef ABUT_FORMATS_SCENE_TREE_H
#define ABUT_FORMATS_SCENE_TREE_H

#include "base/arena.h"
#include "base/words.h"

#include <stdint.h>
#include <stdio.h>

typedef enum abut_tree_kind { ABUT_TREE_TEXT, ABUT_TREE_LIST, ABUT_TREE_MAP } abut_tree_kind;

/* One value.  All memory belongs to the arena it was made in. */
typedef struct abut_tree {
    abut_tree_kind kind;
    const char *file;               /* where the value is; line and col from 1, 0: not known */
    int line, col;
    const char *key;                /* in a map: its name, and where that is */
    int key_line, key_col;
    const char *text;               /* ABUT_TREE_TEXT */
    struct abut_tree *parent;       /* the list or map that it is in; NULL: none */
    struct abut_tree *child, *last; /* of a list or map, in order */
    struct abut_tree *next;
    int n;                          /* children */
} abut_tree;

/** A new value at a place; text is copied (NULL for lists and maps).  NULL without memory. */
abut_tree *abut_tree_new(abut_arena *arena, abut_tree_kind kind, const char *file, int line, int col, const char *text);
/** Appends child to a list (key NULL) or a map (key copied, at the place of the child).  0 without memory. */
int abut_tree_add(abut_arena *arena, abut_tree *parent, const char *key, abut_tree *child);
/** The value of a key, or NULL. */
abut_tree *abut_tree_find(const abut_tree *map, const char *key);
/** Entry i of a list, or NULL. */
abut_tree *abut_tree_at(const abut_tree *list, int i);

/** Puts value at a dotted path ("objects.ball.mu", "motion.0.until"); maps along the path are made, list entries must exist.
 * If existing keys have dots ("ball.msh"), the longest one that matches the path is taken.
 * Fails  ABUT_E_ARG the path leads through a text, past the end of a list, or holds an empty name; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_tree_set(abut_arena *arena, abut_tree *root, const char *path, abut_tree *value, abut_err *err);

/** "file:line:col" of a value; the short form is "file" when line is 0.  Returns buf. */
const char *abut_tree_place(const abut_tree *t, char *buf, size_t size);
/** Fails with ABUT_E_FORMAT and the value's place before the message; abut_tree_fail_key: the place of its key. */
abut_status abut_tree_fail(const abut_tree *t, abut_err *err, const char *fmt, ...) ABUT_PRINTF(3, 4);
abut_status abut_tree_fail_key(const abut_tree *t, abut_err *err, const char *fmt, ...) ABUT_PRINTF(3, 4);

/** Fails as abut_tree_fail, for a value of the wrong kind (text, list or map): the message has its kind, the expected one with an
 * example, and its path. */
abut_status abut_tree_fail_kind(const abut_tree *t, const char *what, abut_err *err, const char *expected, ...) ABUT_PRINTF(4, 5);
/** Fails as abut_tree_fail_kind unless t is a list of n entries (0: any number, -1: one or more).
 * entry  an example of its entries: "{between: [a, b], mu: 0.3}" */
ABUT_MUST_USE abut_status abut_tree_list(const abut_tree *t, const char *what, int n, const char *entry, abut_err *err);

/** Fails unless t is a map whose keys are all among known[] (NULL-terminated); names the nearest known one. */
ABUT_MUST_USE abut_status abut_tree_keys(const abut_tree *t, const char *what, const char *const *known, abut_err *err);

/** A number in SI units, between -ABUT_FARTHEST and ABUT_FARTHEST; angles, and rates of rotation a second, up to ABUT_TURNS_MOST.
 * per_length (NULL: not allowed) is set to 1 when the unit is l or l/s.
 * Fails  ABUT_E_FORMAT with the place, the text found, the units or the range expected */
ABUT_MUST_USE abut_status abut_tree_real(const abut_tree *t, const char *what, abut_quantity q, double *out,
                                         int *per_length, abut_err *err);
/** As abut_tree_real, more than 0. */
ABUT_MUST_USE abut_status abut_tree_positive(const abut_tree *t, const char *what, abut_quantity q, double *out,
                                             int *per_length, abut_err *err);
/** As abut_tree_real, 0 or more; without l. */
ABUT_MUST_USE abut_status abut_tree_not_negative(const abut_tree *t, const char *what, abut_quantity q, double *out,
                                                 abut_err *err);
/** A list of n such numbers. */
ABUT_MUST_USE abut_status abut_tree_vector(const abut_tree *t, const char *what, abut_quantity q, int n, double *out,
                                           abut_err *err);
/** Scales v by a power of two, its largest entry to between 1 and 2, so that squares neither overflow nor vanish.  Returns the
 * length of v after that, 0 if all entries are 0. */
double abut_tree_norm(double *v, int n);
/** An integer in [lo, hi]; a list of n of them. */
ABUT_MUST_USE abut_status abut_tree_int(const abut_tree *t, const char *what, int32_t lo, int32_t hi, int32_t *out,
                                        abut_err *err);
ABUT_MUST_USE abut_status abut_tree_ints(const abut_tree *t, const char *what, int n, int32_t lo, int32_t hi,
                                         int32_t *out, abut_err *err);
/** A text that is not empty, for instance `example`. */
ABUT_MUST_USE abut_status abut_tree_word(const abut_tree *t, const char *what, const char *example, const char **out,
                                         abut_err *err);
/** *out: index of the text among the names (NULL-terminated); an error names the nearest one. */
ABUT_MUST_USE abut_status abut_tree_choice(const abut_tree *t, const char *what, const char *const *names, int *out,
                                           abut_err *err);

/* State of a writer of a tree: one line per value.  It remembers a failed allocation, so that a writer checks once.
 * file and line: place noted with the next values. */
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

/* ---- XML text as a tree (xml.c) ---- */

struct abut_bytes;
/** Reads elements as maps and attributes as texts in them; comments and a declaration are read over.  *root: the one element of
 * the text, whose name is its key.  name is borrowed: it must live as long as the arena.
 * Fails  ABUT_E_FORMAT with line and column: all else of XML, what does not end, an attribute twice; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_xml_read(abut_arena *arena, const char *name, const struct abut_bytes *in, abut_tree **root,
                                        abut_err *err);

/* ---- YAML text as a tree, and a tree as YAML text ---- */

/** Parses one YAML document.  name is borrowed: it must live as long as the arena.  An empty document is an empty map.
 * Fails  ABUT_E_FORMAT with file, line and column: what libyaml says, a key twice in a map, a key that is no plain text,
 *        an alias, a second document, more than 64 levels; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_yaml_read(abut_arena *arena, const char *name, const char *text, size_t size,
                                         abut_tree **root, abut_err *err);

/** Writes a tree that abut_yaml_read reads back the same: short values in one line, the rest one line per key.
 * Fails  ABUT_E_FORMAT a text is not UTF-8, with its place; ABUT_E_IO f refuses; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_yaml_write(FILE *f, const abut_tree *root, abut_err *err);

/** Checks that every name and value of the tree is UTF-8, as a file of `what` ("YAML") requires.
 * Fails  ABUT_E_FORMAT with the place of the first that is not */
ABUT_MUST_USE abut_status abut_yaml_check_text(const abut_tree *root, const char *what, abut_err *err);

#endif
