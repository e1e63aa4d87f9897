/* A scene as JSON: for programs that read no YAML. */
#ifndef ABUT_FORMATS_RESULT_TREE_JSON_H
#define ABUT_FORMATS_RESULT_TREE_JSON_H

#include "formats/scene/tree.h"

#include <stdio.h>

/** Writes a tree as JSON text, which abut_yaml_read reads back as the same scene.  A text that is a number, true or false of JSON
 * is written as that, every other one as a string.
 * Fails  ABUT_E_FORMAT a text is not UTF-8, with its place */
ABUT_MUST_USE abut_status abut_tree_json(FILE *f, const abut_tree *root, abut_err *err);

#endif
