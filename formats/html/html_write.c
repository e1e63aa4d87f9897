#include "formats/html/html_write.h"

#include "formats/html/page_data.h"
#include "formats/result/out_file.h"
#include "formats/result/text.h"

#include <stdlib.h>

/* ---- files that every page is made of ---- */

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

/* ---- frames ---- */

struct abut_html {
    abut_out_file out;
    abut_page_data data;
    size_t frames;
};

abut_status abut_html_open(const char *path, int keep, const abut_prov *prov, int n, abut_html **out, abut_err *err)
{
    abut_html *h = calloc(1, sizeof *h);
    if (!h) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", path);
    abut_text_file head = { 0 };
    abut_status rc = abut_out_open(&h->out, path, keep, err);
    if (!rc) rc = abut_page_head(prov, n, 0, &head, err);
    if (rc) {
        abut_html_free(&h);
        return rc;
    }
    abut_page_begin(h->out.f);
    fprintf(h->out.f, "<script type=\"application/json\" id=\"head\">%s</script>\n", head.text);
    abut_text_file_clear(&head);
    *out = h;
    return ABUT_OK;
}

static void put_item(FILE *f, const char *what, const abut_page_item *item)
{
    fprintf(f, "<script type=\"application/json\" class=\"%s\">%s</script><script type=\"text/plain\" class=\"%s-block\">", what,
            item->json.text, what);
    abut_base64(f, item->block, item->size);
    fputs("</script>\n", f);
}

abut_status abut_html_frame(abut_html *h, const abut_shot *s, abut_err *err)
{
    abut_page_item model = { 0 }, frame = { 0 };
    const abut_status rc = abut_page_data_frame(&h->data, s, &model, &frame, err);
    if (!rc) {
        if (model.block) put_item(h->out.f, "model", &model);
        put_item(h->out.f, "frame", &frame);
        h->frames++;
    }
    abut_page_item_clear(&model);
    abut_page_item_clear(&frame);
    return rc;
}

abut_status abut_html_close(abut_html *h, abut_err *err)
{
    if (!h->frames) return abut_fail(err, ABUT_E_FORMAT, "%s: no frame to show", h->out.path);
    abut_page_end(h->out.f);
    return abut_out_close(&h->out, err);
}

void abut_html_free(abut_html **ph)
{
    abut_html *h = *ph;
    if (!h) return;
    abut_page_data_clear(&h->data);
    abut_out_drop(&h->out);
    free(h);
    *ph = NULL;
}
