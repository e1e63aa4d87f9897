/* YAML text as a tree (formats/scene/tree.h), and a tree as YAML text.  yaml.c alone uses libyaml. */
#ifndef ABUT_FORMATS_SCENE_YAML_H
#define ABUT_FORMATS_SCENE_YAML_H

#include "formats/scene/tree.h"

#include <stdio.h>

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
