#include "base/timer.h"
#include "formats/mesh/ccd_csv.h"
#include "tools/ccd-check/modes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024 };

static int kind_of(const char *path)
{
    if (strstr(path, "edge-edge")) return ABUT_EE;
    return strstr(path, "vertex-face") ? ABUT_PT : -1;
}

/* the queries of a file in batches, so that the clock runs over the method alone */
static abut_status read_batch(abut_ccd_csv *csv, abut_ccd_query *q, int *n, abut_err *err)
{
    int more = 1;
    for (*n = 0; *n < BATCH; ++*n) {
        const abut_status rc = abut_ccd_csv_next(csv, &q[*n], &more, err);
        if (rc || !more) return rc;
    }
    return ABUT_OK;
}

static abut_status judge_file(const abut_judge_opts *o, const char *path, abut_stencil kind, abut_ccd_query *q,
                              abut_score *score, abut_arena *scratch, abut_err *err)
{
    abut_ccd_csv csv = { fopen(path, "r"), path, 0 };
    if (!csv.f) return abut_fail(err, abut_open_status(errno), "%s: %s", path, strerror(errno));
    int n = BATCH;
    abut_status rc = ABUT_OK;
    while (!rc && n == BATCH) {
        int answer[BATCH];
        if ((rc = read_batch(&csv, q, &n, err))) break;
        const double start = abut_time_cpu();
        for (int i = 0; i < n; i++) answer[i] = abut_judge_pair(kind, q[i].x0, q[i].x1, o, scratch);
        score->seconds += abut_time_cpu() - start;
        for (int i = 0; i < n; i++) {
            score->hits += answer[i] && q[i].truth;
            score->clears += !answer[i] && !q[i].truth;
            score->false_hits += answer[i] && !q[i].truth;
            score->false_clears += !answer[i] && q[i].truth;
        }
    }
    fclose(csv.f);
    return rc;
}

abut_status abut_judge_queries(const abut_judge_opts *o, const char *const *files, int n, int kind, abut_score *score,
                               abut_err *err)
{
    abut_arena scratch = { 0 };
    abut_ccd_query *q = malloc(BATCH * sizeof *q);
    abut_status rc = q ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "%d queries", (int)BATCH);
    for (int i = 0; !rc && i < n; i++) {
        const int k = kind < 0 ? kind_of(files[i]) : kind;
        if (k < 0)
            rc = abut_fail(err, ABUT_E_ARG, "%s: the path holds neither edge-edge nor vertex-face: say --kind", files[i]);
        else
            rc = judge_file(o, files[i], (abut_stencil)k, q, score, &scratch, err);
    }
    abut_arena_clear(&scratch);
    free(q);
    return rc;
}
