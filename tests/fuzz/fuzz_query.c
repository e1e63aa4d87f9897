/* Any bytes as CCD queries: as the public CSV text, or as plain doubles.  What was read is decided by every method, and
 * none may deny a contact that the exact one sees.  The first byte chooses text or doubles. */
#include "formats/mesh/ccd_csv.h"
#include "geom/ccd/ccd.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* coordinates of which neither a difference nor a triple product leaves the doubles */
static int tame(const double *x)
{
    for (int i = 0; i < 12; i++)
        if (!(fabs(x[i]) < 1e90) || (x[i] != 0 && fabs(x[i]) < 1e-90)) return 0;
    return 1;
}

static void decide(const double *x0, const double *x1)
{
    static const abut_stencil kinds[] = { ABUT_PP, ABUT_PE, ABUT_PT, ABUT_EE };
    abut_arena scratch = { .limit = (size_t)64 << 20 };
    if (!tame(x0) || !tame(x1)) return;
    for (int k = 0; k < 4; k++) {
        double toi = -1, lo = -1, hi = -1;
        const int touch = abut_ccd_exact(kinds[k], x0, x1, &lo, &hi);
        if (touch && !(0 <= lo && lo <= hi && hi <= 1)) abort();
        const abut_ccd_answer additive = abut_ccd_additive(kinds[k], x0, x1, 0, 0.1, 1, &toi);
        if (touch && additive == ABUT_CCD_CLEAR) abort();
        if (touch && additive == ABUT_CCD_HIT && toi > hi) abort();
        if (touch && abut_ccd_inclusion(kinds[k], x0, x1, 0, 1e-6, 1, 2000, &toi, &scratch) == ABUT_CCD_CLEAR) abort();
    }
    abut_arena_clear(&scratch);
}

static void read_text(const uint8_t *data, size_t size)
{
    FILE *f = fmemopen((void *)(uintptr_t)data, size, "rb");
    if (!f) return;
    abut_ccd_csv csv = { f, "fuzz", 0 };
    for (int more = 1; more;) {
        abut_ccd_query q = { .truth = -1 };
        abut_err err = { 0 };
        const abut_status rc = abut_ccd_csv_next(&csv, &q, &more, &err);
        if (rc != err.code || (rc && !err.msg[0])) abort();
        if (rc) break;
        if (more && q.truth != 0 && q.truth != 1) abort();
        if (more) decide(q.x0, q.x1);
    }
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double x[24];
    if (size < 2) return 0;
    if (data[0] % 2 == 0) {
        read_text(data + 1, size - 1);
    } else if (size > sizeof x) {
        memcpy(x, data + 1, sizeof x);
        decide(x, x + 12);
    }
    return 0;
}

int fuzz_seed(unsigned char **data, size_t *size, const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".csv") ? fuzz_load(data, size, path, 0)
           : dot && !strcmp(dot, ".query") ? fuzz_load(data, size, path, 1) : 0;
}
