#include "formats/result/vtu_array.h"

#include "formats/result/base64.h"
#include "formats/stream/zlib_stream.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 17, LEVEL = 4 };

/* The blocks of the data, compressed and joined; head: count, size of a block, size of a partial last block, then the
 * compressed size of each. */
static abut_status compress_blocks(const uint8_t *data, size_t bytes, uint64_t *head, size_t blocks, uint8_t **joined,
                                   size_t *size, abut_err *err)
{
    size_t cap = bytes / 2 + BLOCK, n = 0;
    uint8_t *all = malloc(cap);
    if (!all) return abut_fail(err, ABUT_E_NOMEM, "no memory to compress %zu bytes", bytes);
    for (size_t b = 0; b < blocks; b++) {
        const size_t lo = b * BLOCK, len = bytes - lo < BLOCK ? bytes - lo : BLOCK;
        uint8_t *z, *grown = all;
        size_t nz;
        const abut_status rc = abut_zlib_stream(data + lo, len, LEVEL, &z, &nz, err);
        if (!rc && n + nz > cap) {
            cap = 2 * (n + nz);
            grown = realloc(all, cap);
        }
        if (rc || !grown) {
            free(all);
            free(z);
            return rc ? rc : abut_fail(err, ABUT_E_NOMEM, "no memory to compress %zu bytes", bytes);
        }
        all = grown;
        for (size_t i = 0; i < nz; i++) all[n + i] = z[i];
        free(z);
        n += nz;
        head[3 + b] = nz;
    }
    head[0] = blocks;
    head[1] = BLOCK;
    head[2] = bytes % BLOCK;
    *joined = all;
    *size = n;
    return ABUT_OK;
}

static const char *vtk_type(abut_dtype type)
{
    switch (type) {
    case ABUT_F64: return "Float64";
    case ABUT_F32: return "Float32";
    case ABUT_I32: return "Int32";
    case ABUT_I64: return "Int64";
    case ABUT_U8: case ABUT_TEXT: return "UInt8";
    }
    return "UInt8";
}

/* The value of the attribute byte_order on this machine. */
static const char *byte_order(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one ? "LittleEndian" : "BigEndian";
}

/* text with the five characters of XML escaped */
static void xml_text(FILE *f, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '&': fputs("&amp;", f); break;
        case '"': fputs("&quot;", f); break;
        case '\'': fputs("&apos;", f); break;
        default: fputc(*text, f);
        }
}

abut_status abut_vtu_array(FILE *f, const char *name, abut_dtype type, const void *data, size_t n, size_t width,
                           abut_err *err)
{
    const size_t bytes = n * width * abut_dtype_size(type), blocks = (bytes + BLOCK - 1) / BLOCK;
    uint64_t *head = calloc(3 + blocks, sizeof *head);
    uint8_t *joined = NULL;
    size_t size = 0;
    if (!head) return abut_fail(err, ABUT_E_NOMEM, "array %s: no memory", name);
    const abut_status rc = compress_blocks(data, bytes, head, blocks, &joined, &size, err);
    if (!rc) {
        fprintf(f, "<DataArray type=\"%s\" Name=\"", vtk_type(type));
        xml_text(f, name);
        fprintf(f, "\" NumberOfComponents=\"%zu\" format=\"binary\">\n", width);
        abut_base64(f, (const uint8_t *)head, (3 + blocks) * sizeof *head);
        abut_base64(f, joined, size);
        fputs("\n</DataArray>\n", f);
    }
    free(head);
    free(joined);
    return rc;
}

void abut_vtu_head(FILE *f, const char *type)
{
    fprintf(f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\"%s>\n",
            type, byte_order(), strcmp(type, "Collection") ? " compressor=\"vtkZLibDataCompressor\"" : "");
}
