/* A self-contained page that plays the frames of a stream in a browser.  Frames are written as they arrive, each in its own
 * block (page_data.h), which the page expands when it shows the frame. */
#ifndef ABUT_FORMATS_HTML_HTML_WRITE_H
#define ABUT_FORMATS_HTML_HTML_WRITE_H

#include "formats/result/frame_view.h"

#include <stdio.h>

typedef struct abut_html abut_html;

/** Opens path (through path.part) and writes what comes before the frames.  prov[n]: history of the stream.
 * Fails  ABUT_E_IO, ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_html_open(const char *path, int keep, const abut_prov *prov, int n, abut_html **h,
                                         abut_err *err);
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
