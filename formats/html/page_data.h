/* MODELs and FRAMEs as the viewer of a page reads them (viewer/data.js): a text of JSON and a block of bytes each.
 *
 * A block is a zlib stream.  That of a MODEL holds, for every part, u32 numbers: point of each vertex of its skin, triangles
 * over those vertices, segments and isolated points over its points; each list as differences to the number before, all bytes
 * of the block grouped by significance.
 *
 * That of a FRAME holds f32 numbers: for every part the low corner of its box and its size, 6; then u16 numbers, grouped by
 * significance.  Of every part x of all points, then y, then z: 0 to 65534 from side to side of its box; of every field 0
 * to 4095 over its range in this frame, 65535 where it is not known; each list as differences to the number before, modulo 65536.
 * Contacts last, six lists: place in the box of all parts, and force, 32767 + 32767 f / fmax for each component.
 *
 * Numbers are little-endian.  What is shown is as good as 1/65534 of the box of a part in this frame; the stream stays the
 * place of exact numbers. */
#ifndef ABUT_FORMATS_HTML_PAGE_DATA_H
#define ABUT_FORMATS_HTML_PAGE_DATA_H

#include "formats/result/out_file.h"
#include "formats/result/point_fields.h"
#include "formats/result/table_write.h"

/* Points of contact in a frame, and their forces: for points and arrows.  Owns its array; zero-filled is empty. */
typedef struct abut_contact_points {
    int32_t n, cap;
    double (*at)[6];    /* [n] m: midpoint of the contact; N: force on its first primitive, opposite to that on the second;
                           NaN if the frame has no forces */
} abut_contact_points;

/* One MODEL or FRAME; owns its memory.  Zero-filled is empty. */
typedef struct abut_page_item {
    abut_text_file json;    /* no '<' in it */
    unsigned char *block;
    size_t size;
} abut_page_item;
void abut_page_item_clear(abut_page_item *item);

/* Data of a model for the blocks of its frames, and scratch.  Owns its arrays.  Zero-filled is empty. */
typedef struct abut_page_data {
    int models;             /* seen so far */
    int model_index;        /* of the stream, of the last one */
    int n_fields;
    abut_point_field field[ABUT_FIELDS_MAX];
    double *value;          /* [n_points] */
    uint8_t *raw;           /* a block before compression */
    size_t raw_room;
    abut_contact_points contacts;
} abut_page_data;

enum { ABUT_PAGE_WANT = ABUT_WANT_STRESS | ABUT_WANT_CONTACT | ABUT_WANT_TOTALS | ABUT_WANT_STRAIN };

/** Makes the item of one frame (measured with ABUT_PAGE_WANT) and, if its model differs from that of the frame before, of the
 * model; else model->block is NULL.  Both are cleared first.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_page_data_frame(abut_page_data *d, const abut_shot *s, abut_page_item *model,
                                               abut_page_item *frame, abut_err *err);
void abut_page_data_clear(abut_page_data *d);

/** Writes the JSON object that begins the data of a page: colours of the scale, history of the stream.
 * live: the page requests frames from its server.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_page_head(const abut_prov *prov, int n, int live, abut_text_file *json, abut_err *err);

/* A self-contained page that plays the frames of a stream in a browser.  Frames are written as they arrive, each in its own
 * block, which the page expands when it shows the frame. */
typedef struct abut_html abut_html;

/** Opens path (through path.part) and writes what comes before the frames.  prov[n]: history of the stream.
 * Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_html_open(const char *path, int keep, const abut_prov *prov, int n, abut_html **h, abut_err *err);
/** Takes one frame, measured with ABUT_PAGE_WANT.  Models may change.  Fails  ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_html_frame(abut_html *h, const abut_shot *s, abut_err *err);
/** Ends the page.  Fails  ABUT_E_FORMAT no frame was taken; ABUT_E_IO */
ABUT_MUST_USE abut_status abut_html_close(abut_html *h, abut_err *err);
void abut_html_free(abut_html **h);

/* The files that every page is made of are embedded at build: markup, style, the drawing library and the viewer. */

/** Writes a page from its first byte to where data may follow: head, style, markup.  Write errors stay with f. */
void abut_page_begin(FILE *f);
/** Writes the rest: the library and the viewer, which starts when all before it is there. */
void abut_page_end(FILE *f);

#endif
