/* Findings of ccd-check, and their output: lines on stderr, a JSON report, the primitives as a mesh. */
#ifndef ABUT_TOOLS_CCD_CHECK_VERDICT_H
#define ABUT_TOOLS_CCD_CHECK_VERDICT_H

#include "judge/judge.h"
#include "tools/cli/cli.h"

/* Source of a configuration: a frame of a stream, or a file. */
typedef struct abut_place {
    int64_t step;
    double time;        /* s */
    const char *file;   /* NULL: a frame; borrowed */
    int64_t leg;        /* of a motion through the positions in step/waypoints, from 1; 0: straight */
    int pending;        /* the candidate of a step that is being solved */
} abut_place;

/* Path judged between two frames */
typedef enum abut_judged_path {
    ABUT_PATH_RECORDED,     /* the polyline through the positions in array step/waypoints [k nv, 3] of the later frame; straight
                               without it */
    ABUT_PATH_STRAIGHT,
    ABUT_PATH_NONE          /* nothing: every frame alone */
} abut_judged_path;

/* A hit and what a reader needs to find it */
typedef struct abut_finding {
    abut_hit hit;
    abut_place from, to;        /* equal for a single configuration */
    double x[5][3];             /* m: positions of its points at t_lo */
    int32_t number[5];          /* of its points: nodes within their object; points of a mesh file; else */
    int vertices;               /* 1: rows of contact/map-first */
    int32_t item;               /* number of the tet within its object; as `hit` has it otherwise */
    char object[2][48];         /* of the first and the second primitive, which may be a half-space; "" unknown */
    char plane[72];             /* the half-space, as messages call it */
} abut_finding;

typedef struct abut_verdict {
    abut_cli *cli;
    abut_judge_opts opts;
    abut_judged_path path;
    int motion_only;            /* judge no configuration alone: what touches at the start of a motion is no finding */
    int all;                    /* report every collision, not the first one alone */
    const char *json, *obj;     /* files to write, or NULL */
    size_t n, cap;
    abut_finding *finding;
    size_t collisions;          /* found: with `all` equal to n */
    int64_t frames, motions;    /* configurations and motions judged */
    int64_t pending;            /* of the configurations, candidates of steps that are being solved */
    int64_t not_judged;         /* frames after the first finding, if only the first is wanted */
    size_t pairs;
    int contact_off;            /* a model had nothing that can collide */
    int bodies_pass;            /* a model had bodies that pass through each other */
    int64_t excluded;           /* pairs of objects that do not meet, of the model that has most */
    int64_t inverted_allowed;   /* inverted tets whose material allows it, over all frames */
    int want_gap;               /* look for the smallest gap of all frames */
    abut_judge_gap gap;         /* it, where one is below dhat; +inf otherwise */
    abut_place gap_at;
    const abut_model *model;    /* of the frames judged now; NULL: mesh files */
    int32_t *node_number, *tet_number;  /* [nv], [nt] within their objects */
    abut_finding gap_found;     /* its nodes with their numbers and objects */
    int curved;                 /* segments at which the true boundary of curved tets is sampled; 0: it is not */
    abut_boundary_depth deepest;    /* of all frames */
    abut_place deepest_at;
    char deepest_words[200];    /* who is in what */
} abut_verdict;

/** "exact", "tight", "additive"; and back: 1 when text names one. */
const char *abut_method_name(abut_judge_method m);
int abut_method_parse(const char *text, abut_judge_method *m);

/** A separation as JSON: the number, or "thickness" for that of each pair (below 0). */
const char *abut_separation_json(double min_sep, char *buf, size_t size);

/** Whether judging may end: a collision is found, and only the first is wanted. */
int abut_verdict_done(const abut_verdict *v);

/** Takes over the hits of one motion x0 -> x1 (or configuration, x1 == x0) and says them. */
ABUT_MUST_USE abut_status abut_verdict_add(abut_verdict *v, const abut_hits *hits, abut_place from, abut_place to,
                                           const double *x0, const double *x1, abut_err *err);

/** A hit of the motion x0 -> x1 as a finding. */
abut_finding abut_finding_make(const abut_verdict *v, const abut_hit *hit, abut_place from, abut_place to, const double *x0,
                               const double *x1);

/** Findings from now on are of this MODEL, which is borrowed until the next call.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_verdict_model(abut_verdict *v, const abut_model *m, abut_err *err);

/** Says the summary and writes the files that were asked for. */
ABUT_MUST_USE abut_status abut_verdict_end(abut_verdict *v, abut_err *err);
void abut_verdict_clear(abut_verdict *v);

/* Score of a method on queries with known truth */
typedef struct abut_score {
    abut_judge_method method;
    size_t hits, clears, false_hits, false_clears;
    double seconds;     /* CPU */
} abut_score;

/** The scores of n methods over these files of queries. */
ABUT_MUST_USE abut_status abut_scores_json(const abut_cli *cli, const abut_score *s, int n, const char *const *files, int n_files,
                                           const char *path, abut_err *err);

/* The inputs: a state stream, mesh files, CCD queries (modes.c). */

/** Judges the committed frames of the stream in cli->in and passes the stream on to cli->out (NULL: nowhere).
 * options  JSON object for the history of the stream */
ABUT_MUST_USE abut_status abut_judge_stream(abut_verdict *v, const char *options, abut_err *err);

/** Judges mesh files as configurations of one mesh: the first (or, with `apart`, each) alone, then the straight motions from
 * each to the next.  The elements may come in any order.  Fails ABUT_E_FORMAT when those of two files differ. */
ABUT_MUST_USE abut_status abut_judge_meshes(abut_verdict *v, const char *const *files, int n, int apart, abut_err *err);

/** Runs a method over CSV files of queries (formats/mesh/ccd_csv.h).
 * kind  ABUT_PT, ABUT_EE for all of them, or -1: by "vertex-face" or "edge-edge" in the path
 * Fails  ABUT_E_ARG the kind is not known; as abut_ccd_csv_next */
ABUT_MUST_USE abut_status abut_judge_queries(const abut_judge_opts *o, const char *const *files, int n, int kind,
                                             abut_score *score, abut_err *err);

#endif
