/* The files that every page is made of, embedded at build: markup, style, the drawing library and the viewer. */
#ifndef ABUT_FORMATS_HTML_ASSETS_H
#define ABUT_FORMATS_HTML_ASSETS_H

#include <stdio.h>

/** Writes a page from its first byte to where data may follow: head, style, markup.  Write errors stay with f. */
void abut_page_begin(FILE *f);
/** Writes the rest: the library and the viewer, which starts when all before it is there. */
void abut_page_end(FILE *f);

#endif
