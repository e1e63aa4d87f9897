/* Sources of mesh-prep's scene: a YAML file, mesh files, a URDF file, an IPC script, a scene of the public rigid IPC code, and
 * --set. */
#ifndef ABUT_TOOLS_MESH_PREP_SOURCE_H
#define ABUT_TOOLS_MESH_PREP_SOURCE_H

#include "formats/mesh/scan.h"
#include "formats/scene/tree.h"
#include "tools/cli/cli.h"

#include <stdio.h>

/* A scene as given.  Zero-filled is empty. */
typedef struct abut_prep_source {
    abut_arena arena;       /* of the tree */
    abut_bytes text;
    char base[4096];        /* folder of relative paths in the scene: "" or ending in '/' */
    abut_tree *tree;
} abut_prep_source;

/** Reads the scene that the arguments and script (NULL: none) name, standard input without any, and applies the
 * KEY=VALUE items of set.  published: a scene of the public rigid code as that code computes it.  Says which commands of a
 * script have no effect, and which values were assumed; the latter with explain even if the command line has -q.
 * Fails  ABUT_E_ARG an error of the command line; ABUT_E_FORMAT an error of the files */
ABUT_MUST_USE abut_status abut_prep_source_read(abut_prep_source *p, abut_cli *cli, const char *script, int published,
                                                const abut_opt_list *set, int explain, abut_err *err);
/** Writes the scene as YAML (mesh-prep --to-yaml), or as JSON (--to-json).  Paths become absolute, so that the text may be in
 * any folder.
 * Fails  ABUT_E_FORMAT a text is not UTF-8, ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_prep_source_write(abut_prep_source *p, FILE *f, int json, abut_err *err);
void abut_prep_source_clear(abut_prep_source *p);

/* Commented scenes to begin with (mesh-prep --new): one for each kind of body and of contact.  They name no file. */

/** Writes the scene of this name as YAML.
 * Fails  ABUT_E_ARG an unknown name; the message lists all */
ABUT_MUST_USE abut_status abut_prep_first_scene(const char *name, FILE *f, abut_err *err);

#endif
