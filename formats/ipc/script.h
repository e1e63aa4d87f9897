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

/** 1: the document is a scene of the public rigid IPC code. */
int abut_rigid_scene_is(const abut_tree *root);
/** Translates such a scene, whose comments (keys with '#') it drops.
 *
 * in         the document; the tree borrows it
 * base       folder that the mesh names are relative to, "" or ending in '/'
 * published  1: torques act as in the public code, twice
 * Fails      ABUT_E_FORMAT with file and line: an unknown or unsupported key, a wrong value, a mesh; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_rigid_scene_read(abut_arena *arena, abut_tree *in, const char *base, int published,
                                                abut_tree **root, abut_ipc_notes *notes, abut_err *err);

/* ---- of script.c, shapes.c and motions.c ---- */

/* A script while it is read; parameters start as the reference code's defaults. */
typedef struct abut_ipc_script {
    abut_scan scan;
    const char *base;
    abut_tree_maker make;
    abut_tree *root, *objects, *materials, *motion;
    int nshapes, nplanes;
    double step, end, density, young, poisson, size, mu, gravity, dhat, eps_v, tolerance, kappa_multiplier;
    double damping_ratio, damping_stiff;    /* 1, s^3 */
    int is_absolute, has_absolute_tolerance, no_self;
    int lags, time_line, size_line;
    const char *energy;
    int scheme;
    double newmark_beta, newmark_gamma;     /* of timeIntegration NM */
    abut_ipc_notes notes;
    char script[40];        /* animation script, its line, its numbers */
    int script_line, script_args;
    double script_arg[2], handle_ratio;
    long open_section;      /* line of a section that is being obeyed */
    int solver, form;       /* rows of tables in script.c; form 0: not said */
    double offset;          /* m; below 0: not said */
    long form_line, offset_line;
} abut_ipc_script;

/** The next word of a command; a lone backslash at the end of a line continues it on the next one. */
abut_word abut_ipc_word(abut_ipc_script *s);
/** n numbers of the command; `what` names them in messages. */
ABUT_MUST_USE abut_status abut_ipc_reals(abut_ipc_script *s, const char *what, int n, double *v, abut_err *err);
ABUT_MUST_USE abut_status abut_ipc_text(abut_ipc_script *s, const char *what, char *buf, size_t size, abut_err *err);

/** Notes a value that is chosen here, a command that changes nothing (abut_ipc_notes). */
void abut_ipc_assume(abut_ipc_script *s, const char *text);
void abut_ipc_unused(abut_ipc_script *s, const char *command, long line);

/** "shapes input N" and N lines of shapes; "shapeMatrix input nx ny nz [offset]" and one line. */
ABUT_MUST_USE abut_status abut_ipc_shapes(abut_ipc_script *s, abut_err *err);
ABUT_MUST_USE abut_status abut_ipc_shape_matrix(abut_ipc_script *s, abut_err *err);
/** "shape input path": one mesh, unchanged from its file. */
ABUT_MUST_USE abut_status abut_ipc_one_shape(abut_ipc_script *s, abut_err *err);
/** "meshCO path x y z scale stiffness friction [rotate rx ry rz]": an obstacle that the scene's placement leaves alone. */
ABUT_MUST_USE abut_status abut_ipc_mesh_obstacle(abut_ipc_script *s, abut_err *err);

/** "script NAME [numbers]" is remembered, and obeyed once all shapes are known. */
ABUT_MUST_USE abut_status abut_ipc_script_command(abut_ipc_script *s, abut_err *err);
ABUT_MUST_USE abut_status abut_ipc_script_run(abut_ipc_script *s, abut_err *err);

#endif
