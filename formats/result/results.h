/* All the result files that one pass over a stream is asked for. */
#ifndef ABUT_FORMATS_RESULT_RESULTS_H
#define ABUT_FORMATS_RESULT_RESULTS_H

#include "formats/result/shots.h"
#include "formats/result/out_file.h"
#include "formats/result/table_write.h"
#include "solve/report.h"

/* VTK grids for ParaView (vtu.c). */
typedef struct abut_vtu abut_vtu;

/** Starts a series in folder dir (made if missing).  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_vtu_open(const char *dir, int keep, abut_vtu **w, abut_err *err);
/** Writes the grids of one frame; uses fields J, stress, force.  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_vtu_frame(abut_vtu *w, const abut_shot *s, abut_err *err);
/** Writes scene.pvd.  Without this call there is none. */
ABUT_MUST_USE abut_status abut_vtu_close(abut_vtu *w, abut_err *err);
void abut_vtu_free(abut_vtu **w);

/* glTF 2.0: one file with all frames (gltf.c). */
enum { ABUT_GLTF_FRAMES_MAX = 4096,     /* weights grow with the square of the frames */
       ABUT_GLTF_FRAMES_SAFE = 256 };   /* morph targets that every WebGL 2 device must hold */

typedef struct abut_gltf abut_gltf;

/** Opens path (through path.part).  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gltf_open(const char *path, int keep, abut_gltf **w, abut_err *err);
/** Takes one frame.
 * Fails  ABUT_E_FORMAT the model has changed, or time does not rise; ABUT_E_ARG too many frames; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gltf_frame(abut_gltf *w, const abut_shot *s, abut_err *err);
/** Writes the file.  Fails  ABUT_E_FORMAT nothing to show; ABUT_E_ARG it would exceed 4 GiB; ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_gltf_close(abut_gltf *w, abut_err *err);
/** Number of frames taken so far. */
int abut_gltf_count(const abut_gltf *w);
void abut_gltf_free(abut_gltf **w);

/* Path of each result; NULL: not wanted.  "-" for csv and json: the open text stream. */
typedef struct abut_results_opts {
    const char *vtu, *msh, *msh_text, *obj, *ply, *gltf, *csv, *json, *nodes;
    int keep;       /* files that appear meanwhile under these names stay (out_file.h) */
    int tensors;    /* vtu: stress and deformation gradient whole */
} abut_results_opts;

/* Zero-filled is empty. */
typedef struct abut_results {
    abut_results_opts opt;
    abut_vtu *vtu;
    abut_gltf *gltf;
    abut_table table;
    abut_out_file csv, json;
} abut_results;

/** Returns the ABUT_WANT_* that abut_measure_frame must compute for these results. */
int abut_results_want(const abut_results_opts *opt);

/** Makes folders and opens files.  text: borrowed, may be NULL unless a name is "-".  Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_results_open(abut_results *r, const abut_results_opts *opt, FILE *text, abut_err *err);
ABUT_MUST_USE abut_status abut_results_frame(abut_results *r, const abut_shot *s, abut_err *err);
/** Completes the files at the end of the stream: single files appear now, files of a series are complete before. */
ABUT_MUST_USE abut_status abut_results_close(abut_results *r, abut_err *err);
void abut_results_clear(abut_results *r);

/** Writes one object and a newline.  Keys are fixed (formats/REPORT.md); numbers that do not exist are null.
 * Fails  ABUT_E_IO */
ABUT_MUST_USE abut_status abut_report_write(const abut_report *r, const abut_model *m, FILE *f, abut_err *err);

#endif
