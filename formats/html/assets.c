#include "formats/html/assets.h"

/* Label and path of each file; scripts in the order in which they run. */
#define SCRIPTS(A) \
    A(three, "three.min.js") A(data, "viewer/data.js") A(source, "viewer/source.js") A(colors, "viewer/colors.js") \
    A(marks, "viewer/marks.js") A(stage, "viewer/stage.js") A(graph, "viewer/graph.js") A(panel, "viewer/panel.js") \
    A(main, "viewer/main.js")
#define ASSETS(A) A(style, "page.css") A(markup, "page.html") SCRIPTS(A)

/* The bytes of a file between two labels that only this file sees. */
#define EMBED(label, path) \
    __asm__(".pushsection .rodata\nabut_asset_" #label ":\n.incbin \"formats/html/" path "\"\nabut_asset_" #label \
            "_end:\n.byte 0\n.popsection\n"); \
    extern const char abut_asset_##label[], abut_asset_##label##_end[];
ASSETS(EMBED)

static void put(FILE *f, const char *begin, const char *end)
{
    fwrite(begin, 1, (size_t)(end - begin), f);
}

void abut_page_begin(FILE *f)
{
    /* the page may load nothing from elsewhere; it may request data from its own server, `watch`, alone */
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
          "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"abut " ABUT_VERSION "\">\n<title>abut</title>\n<style>\n", f);
    put(f, abut_asset_style, abut_asset_style_end);
    fputs("</style>\n</head>\n<body>\n", f);
    put(f, abut_asset_markup, abut_asset_markup_end);
}

void abut_page_end(FILE *f)
{
#define SCRIPT(label, path) \
    fputs("<script>\n", f); \
    put(f, abut_asset_##label, abut_asset_##label##_end); \
    fputs("</script>\n", f);
    SCRIPTS(SCRIPT)
    fputs("</body>\n</html>\n", f);
}
