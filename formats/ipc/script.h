/* Scene scripts of the public IPC reference code (one command per line), translated to the tree of a scene file (formats/IPC.md),
 * so that --set, --explain and every check work for both. */
#ifndef ABUT_FORMATS_IPC_SCRIPT_H
#define ABUT_FORMATS_IPC_SCRIPT_H

#include "formats/mesh/scan.h"
#include "formats/scene/tree.h"

/* Remarks for the user about a translation; in the arena, "" if there are none. */
typedef struct abut_ipc_notes {
    const char *unused;     /* commands that change nothing here: "zoom (line 7), view (line 9)" */
    const char *assumed;    /* one line for each value that neither the script nor a publication holds, and how to set it */
} abut_ipc_notes;

/** Translates a script.
 *
 * in     its text; in->name is borrowed by the tree
 * base   folder that the mesh names are relative to (the one that holds `input/`), "" or ending in '/'
 * Fails  ABUT_E_FORMAT with file and line: an unknown or unsupported command, a wrong number; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_ipc_script_read(abut_arena *arena, const abut_bytes *in, const char *base,
                                               abut_tree **root, abut_ipc_notes *notes, abut_err *err);

#endif
