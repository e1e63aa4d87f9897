/* Commented scenes to begin with (mesh-prep --new): one for each kind of body and of contact.  They name no file. */
#ifndef ABUT_TOOLS_MESH_PREP_FIRST_H
#define ABUT_TOOLS_MESH_PREP_FIRST_H

#include "base/err.h"

#include <stdio.h>

/** Writes the scene of this name as YAML.
 * Fails  ABUT_E_ARG an unknown name; the message lists all */
ABUT_MUST_USE abut_status abut_prep_first_scene(const char *name, FILE *f, abut_err *err);

#endif
