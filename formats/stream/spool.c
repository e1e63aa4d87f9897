#include "formats/stream/spool.h"

#include <errno.h>
#include <string.h>

abut_status abut_spool_open(abut_spool *s, size_t width, abut_err *err)
{
    *s = (abut_spool){ .width = width, .f = tmpfile() };
    if (!s->f) return abut_fail(err, ABUT_E_IO, "cannot make a temporary file: %s", strerror(errno));
    return ABUT_OK;
}

static abut_status go(abut_spool *s, size_t i, abut_err *err)
{
    if (!fseeko(s->f, (off_t)(i * s->width * sizeof(float)), SEEK_SET)) return ABUT_OK;
    return abut_fail(err, ABUT_E_IO, "temporary file: frame %zu: %s", i, strerror(errno));
}

abut_status abut_spool_add(abut_spool *s, const float *record, abut_err *err)
{
    const abut_status rc = go(s, s->n, err);
    if (rc) return rc;
    if (fwrite(record, sizeof *record, s->width, s->f) != s->width || fflush(s->f))
        return abut_fail(err, ABUT_E_IO, "temporary file: frame %zu: %s", s->n, strerror(errno));
    s->n++;
    return ABUT_OK;
}

abut_status abut_spool_get(abut_spool *s, size_t i, float *record, abut_err *err)
{
    const abut_status rc = go(s, i, err);
    if (rc) return rc;
    if (fread(record, sizeof *record, s->width, s->f) != s->width)
        return abut_fail(err, ABUT_E_IO, "temporary file: frame %zu cannot be read back", i);
    return ABUT_OK;
}

void abut_spool_clear(abut_spool *s)
{
    if (s->f) fclose(s->f);
    *s = (abut_spool){ 0 };
}
