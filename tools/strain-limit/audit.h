/* The audit of strain-limit: remarks and output for every frame. */
#ifndef ABUT_TOOLS_STRAIN_LIMIT_AUDIT_H
#define ABUT_TOOLS_STRAIN_LIMIT_AUDIT_H

#include "energy/elastic_high.h"
#include "energy/stretch.h"
#include "model/tets.h"
#include "tools/cli/stream.h"

/* Requested limits; NAN: none. */
typedef struct abut_strain_limits {
    double lower, lower_begins, upper_begins, upper;
} abut_strain_limits;

typedef struct abut_strain_audit {
    abut_strain_limits limits;
    const abut_opt_list *objects;   /* names; none: all */
    FILE *json;                     /* NULL: none */
    const char *json_name;
    abut_reordered *ordered;        /* the model in the stream; NULL where all its tets have order 1 */
    abut_elastic elastic;           /* of it */
    abut_elastic_high high[3];      /* orders 2 to 4 */
    abut_codim codim;
    abut_arena scratch;
    double *rows;                   /* [4 nsh] limits of the shells */
    uint8_t *chosen;                /* [no] */
    int all;                        /* every object is chosen */
    double max, min;                /* over all frames, and when */
    int64_t max_step, min_step, frames, outside;
    double room;                    /* least over all frames */
} abut_strain_audit;

/** Prepares for a MODEL of the stream: its limits, and those of the options for the chosen objects.
 * Fails  ABUT_E_ARG a name is unknown; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_strain_audit_model(abut_strain_audit *a, const abut_stream *s, abut_err *err);
/** Judges the frame of the stream; says which elements are outside the limits. */
ABUT_MUST_USE abut_status abut_strain_audit_frame(abut_strain_audit *a, const abut_stream *s, abut_err *err);
/** Says a line about all frames. */
void abut_strain_audit_say(const abut_strain_audit *a, abut_cli *cli);
void abut_strain_audit_clear(abut_strain_audit *a);

/** "shell 7 (object 'cloth', nodes 1 2 3)". */
const char *abut_strain_shell_name(const abut_stream *s, int32_t shell, char *buf, size_t size);

#endif
