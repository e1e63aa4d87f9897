/* Any bytes as a state stream: an error, or something that is written and read again the same.
 *
 * The first byte chooses: odd, the bytes are taken as they are; even, the head and every checksum are first made right,
 * so that the search gets past them. */
#include "formats/stream/dump.h"
#include "formats/stream/state_io.h"
#include "formats/stream/state_wire.h"
#include "model/model.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void repair(unsigned char *p, size_t n)
{
    static const unsigned char head[16] = { 0x89, 'A', 'B', 'T', '\r', '\n', 0x1a, '\n', 1, 0, 0, 0, 4, 3, 2, 1 };
    if (n < ABUT_HEAD_BYTES) return;
    memcpy(p, head, sizeof head);
    uint32_t crc = abut_crc32(0, p, sizeof head);
    abut_put_le(p + sizeof head, crc, 4);
    size_t at = ABUT_HEAD_BYTES;
    while (n - at >= ABUT_SECTION_HEAD_BYTES + 4) {
        const uint64_t length = abut_get_le(p + at + 8, 8), room = n - at - ABUT_SECTION_HEAD_BYTES - 4;
        if (length > room) return;
        const size_t covered = ABUT_SECTION_HEAD_BYTES + (size_t)length;
        crc = abut_crc32(crc, p + at, covered);
        abut_put_le(p + at + covered, crc, 4);
        at += covered + 4;
    }
}

/* The text of a stream, malloc'ed; NULL when it is refused. */
static char *text_of(const unsigned char *p, size_t n, size_t *size)
{
    char *text = NULL;
    FILE *in = fmemopen((void *)p, n, "rb"), *out = open_memstream(&text, size);
    abut_reader *r;
    abut_err err = { 0 };
    if (!in || !out) abort();
    abut_status rc = abut_reader_open(in, "fuzz", &r, &err);
    if (!rc) rc = abut_dump(r, out, NULL, &err);
    if (rc != err.code || (rc && !err.msg[0])) abort();
    abut_reader_free(&r);
    fclose(in);
    fclose(out);
    if (!rc) return text;
    free(text);
    return NULL;
}

/* Reads the stream, looks at it as model and frames, writes it again compressed. */
static void rewrite(const unsigned char *p, size_t n, FILE *out)
{
    FILE *in = fmemopen((void *)p, n, "rb");
    abut_reader *r;
    abut_writer *w;
    abut_arrays model = { 0 }, set = { 0 };
    abut_model view;
    abut_frame frame;
    abut_frame_head head;
    abut_item item;
    int nprov, valid = 0;
    if (!in || abut_reader_open(in, "fuzz", &r, NULL) || abut_writer_open(out, 6, &w, NULL)) abort();
    const abut_prov *prov = abut_reader_prov(r, &nprov);
    for (int i = 0; i < nprov; i++)
        if (abut_writer_prov(w, prov[i].tool, prov[i].version, prov[i].options, NULL)) abort();
    while (!abut_reader_next(r, &item, &head, &set, NULL) && item != ABUT_ITEM_END) {
        if (abut_writer_kept(w, r, NULL)) abort();
        if (item == ABUT_ITEM_MODEL) {
            if (abut_writer_model(w, &set, NULL)) abort();
            abut_arrays_clear(&model);
            model = set;
            set = (abut_arrays){ 0 };
            valid = !abut_model_view(&model, &view, NULL);
        } else {
            if (abut_writer_frame(w, &head, &set, NULL)) abort();
            if (valid && !abut_frame_view(&set, &view, &frame, NULL) && frame.nv != view.nv) abort();
        }
    }
    if (abut_writer_close(w, NULL)) abort();
    abut_arrays_clear(&model);
    abut_arrays_clear(&set);
    abut_writer_free(&w);
    abut_reader_free(&r);
    fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    const size_t n = size - 1;
    unsigned char *copy = malloc(n);
    if (!copy) return 0;
    memcpy(copy, data + 1, n);
    if (!(data[0] & 1)) repair(copy, n);
    size_t before, after, packed_size;
    char *text = text_of(copy, n, &before), *packed = NULL;
    if (text) {
        FILE *out = open_memstream(&packed, &packed_size);
        if (!out) abort();
        rewrite(copy, n, out);
        fclose(out);
        char *again = text_of((unsigned char *)packed, packed_size, &after);
        /* equal neighbours in the history are one record for the writer: compare from the model on */
        const char *a = strstr(text, "\nmodel\n"), *b = again ? strstr(again, "\nmodel\n") : NULL;
        if (!a || !b || strcmp(a, b)) abort();
        free(again);
    }
    free(packed);
    free(text);
    free(copy);
    return 0;
}

int fuzz_seed(unsigned char **data, size_t *size, const char *path)
{
    return fuzz_load(data, size, path, 0);
}
