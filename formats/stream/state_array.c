#include "formats/stream/state_array.h"

#include "formats/stream/bytes.h"
#include "formats/stream/zlib_stream.h"

#include <stdlib.h>
#include <string.h>

/* Payload: [type u8][rank u8][coding u8][name bytes u8][unit bytes u8][0 0 0][flags u32][shape i64 x rank][name][unit]
 * [data].  DEFLATED data is the zlib stream of the shuffled bytes. */
enum { STORED = 0, DEFLATED = 1, FIXED_BYTES = 12 };
static const size_t ARRAY_MOST = (size_t)64 << 30;      /* bytes: the largest count of rows, four numbers each */

/* ---- reading ---- */

/* The description at the start of the payload; *bytes: size of the data once expanded. */
static abut_status read_form(abut_source *s, abut_array *a, int *coding, size_t *bytes, abut_err *err)
{
    unsigned char b[FIXED_BYTES], shape[8 * ABUT_RANK_MAX];
    abut_status rc = abut_source_bytes(s, b, sizeof b, err);
    if (rc) return rc;
    a->type = (abut_dtype)b[0];
    a->rank = b[1];
    *coding = b[2];
    a->flags = (uint32_t)abut_get_le(b + 8, 4);
    if (!abut_dtype_size(a->type)) return abut_source_fail(s, err, "array of unknown type %d", b[0]);
    if (a->rank > ABUT_RANK_MAX) return abut_source_fail(s, err, "array of rank %d, at most %d", a->rank, ABUT_RANK_MAX);
    if (*coding != STORED && *coding != DEFLATED) return abut_source_fail(s, err, "array of unknown coding %d", *coding);
    if (b[3] > ABUT_NAME_MAX || b[4] > ABUT_UNIT_MAX || b[5] || b[6] || b[7])
        return abut_source_fail(s, err, "array with a name of %d and a unit of %d bytes", b[3], b[4]);
    if ((rc = abut_source_bytes(s, shape, 8 * (size_t)a->rank, err)) || (rc = abut_source_bytes(s, a->name, b[3], err)) ||
        (rc = abut_source_bytes(s, a->unit, b[4], err)))
        return rc;
    if (strlen(a->name) != b[3] || strlen(a->unit) != b[4]) return abut_source_fail(s, err, "a 0 byte in a name or unit");
    size_t n = abut_dtype_size(a->type);
    for (int d = 0; d < a->rank; d++) {
        const uint64_t extent = abut_get_le(shape + 8 * d, 8);
        if (extent > INT64_MAX || (extent && n > (SIZE_MAX >> 2) / extent))
            return abut_source_fail(s, err, "array '%s': dimension %d is %llu", a->name, d, (unsigned long long)extent);
        a->shape[d] = (int64_t)extent;
        n *= (size_t)extent;
    }
    if (n > ARRAY_MOST)
        return abut_source_fail(s, err, "array '%s' of %.3g GiB, expected at most %zu", a->name, (double)n / (1 << 30),
                                ARRAY_MOST >> 30);
    *bytes = n;
    return ABUT_OK;
}

/* Expands zlib data that has arrived whole into new memory. */
static abut_status expand(const abut_array *a, const unsigned char *packed, size_t m, size_t bytes, unsigned char **data,
                          abut_err *err)
{
    const size_t size = abut_dtype_size(a->type);
    if (bytes > abut_inflate_bound(m))
        return abut_fail(err, ABUT_E_FORMAT, "array '%s': %zu bytes cannot expand to %zu", a->name, m, bytes);
    unsigned char *shuffled = malloc(bytes + 1), *plain = malloc(bytes + 1);
    abut_status rc = ABUT_OK;
    if (!shuffled || !plain)
        rc = abut_fail(err, ABUT_E_NOMEM, "array '%s': no memory for %zu bytes", a->name, bytes);
    else if (abut_inflate(packed, m, shuffled, bytes, err))
        rc = abut_wrap(err, "array '%s'", a->name);
    else
        abut_bytes_unshuffle(plain, shuffled, bytes / size, size);
    free(shuffled);
    if (rc) {
        free(plain);
        return rc;
    }
    *data = plain;
    return ABUT_OK;
}

abut_status abut_array_read(abut_source *s, abut_arrays *set, abut_err *err)
{
    abut_array a = { 0 };
    int coding;
    size_t bytes = 0;
    unsigned char *data = NULL;
    abut_status rc = read_form(s, &a, &coding, &bytes, err);
    if (rc) return rc;
    if (coding == STORED && s->section.left != bytes)
        return abut_source_fail(s, err, "array '%s' needs %zu bytes of data, the section has %llu", a.name, bytes,
                                (unsigned long long)s->section.left);
    const uint64_t arrives = s->section.left;
    if ((rc = abut_source_block(s, arrives, &data, err))) return rc;
    if ((rc = abut_source_section_end(s, err))) goto done;
    if (coding == DEFLATED) {
        unsigned char *plain = NULL;
        if ((rc = expand(&a, data, (size_t)arrives, bytes, &plain, err))) {
            abut_wrap(err, "%s", s->name);
            goto done;
        }
        free(data);
        data = plain;
    }
    if (ABUT_HOST_BIG_ENDIAN) abut_bytes_swap(data, bytes / abut_dtype_size(a.type), abut_dtype_size(a.type));
    if (abut_arrays_find(set, a.name)) {
        rc = abut_source_fail(s, err, "array '%s' is there twice", a.name);
        goto done;
    }
    a.data = data;
    rc = abut_arrays_take(set, &a, err);
    if (rc == ABUT_E_ARG) rc = abut_source_fail(s, err, "array '%s': bad name", a.name);
    if (!rc) data = NULL;
done:
    free(data);
    return rc;
}

/* ---- writing ---- */

/* The bytes of the data as they go on the wire: the array's own, or new memory (*own) that the caller frees. */
static abut_status prepare(const abut_array *a, int level, const unsigned char **data, size_t *n, int *coding,
                           unsigned char **own, abut_err *err)
{
    const size_t size = abut_dtype_size(a->type), bytes = abut_array_bytes(a);
    *own = NULL;
    *coding = STORED;
    *data = a->data;
    *n = bytes;
    if (level <= 0 && !ABUT_HOST_BIG_ENDIAN) return ABUT_OK;
    unsigned char *plain = malloc(bytes + 1), *shuffled = malloc(bytes + 1), *packed = NULL;
    size_t m = 0;
    if (!plain || !shuffled) {
        free(plain);
        free(shuffled);
        return abut_fail(err, ABUT_E_NOMEM, "array '%s': no memory for %zu bytes", a->name, bytes);
    }
    memcpy(plain, a->data, bytes);
    if (ABUT_HOST_BIG_ENDIAN) abut_bytes_swap(plain, bytes / size, size);
    abut_bytes_shuffle(shuffled, plain, bytes / size, size);
    const abut_status rc = level > 0 ? abut_deflate(shuffled, bytes, level, &packed, &m, err) : ABUT_OK;
    free(shuffled);
    if (rc) {
        free(plain);
        return abut_wrap(err, "array '%s'", a->name);
    }
    *own = packed ? packed : plain;
    if (packed) {
        free(plain);
        *coding = DEFLATED;
        *n = m;
    }
    *data = *own;
    return ABUT_OK;
}

static size_t put_form(unsigned char *b, const abut_array *a, int coding)
{
    const size_t name = strlen(a->name), unit = strlen(a->unit);
    memset(b, 0, FIXED_BYTES);
    b[0] = (unsigned char)a->type;
    b[1] = (unsigned char)a->rank;
    b[2] = (unsigned char)coding;
    b[3] = (unsigned char)name;
    b[4] = (unsigned char)unit;
    abut_put_le(b + 8, a->flags, 4);
    unsigned char *p = b + FIXED_BYTES;
    for (int d = 0; d < a->rank; d++, p += 8) abut_put_le(p, (uint64_t)a->shape[d], 8);
    memcpy(p, a->name, name);
    memcpy(p + name, a->unit, unit);
    return (size_t)(p - b) + name + unit;
}

abut_status abut_array_write(abut_sink *s, const abut_array *a, int level, abut_err *err)
{
    unsigned char form[FIXED_BYTES + 8 * ABUT_RANK_MAX + ABUT_NAME_MAX + ABUT_UNIT_MAX], *own;
    const unsigned char *data;
    size_t n;
    int coding;
    abut_status rc = prepare(a, level, &data, &n, &coding, &own, err);
    if (rc) return rc;
    const size_t nform = put_form(form, a, coding);
    if (!(rc = abut_sink_section(s, "ARRY", ABUT_SECTION_VERSION, ABUT_SECTION_REQUIRED, nform + n, err)) &&
        !(rc = abut_sink_bytes(s, form, nform, err)) && !(rc = abut_sink_bytes(s, data, n, err)))
        rc = abut_sink_section_end(s, err);
    free(own);
    return rc;
}
