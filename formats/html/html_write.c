#include "formats/html/html_write.h"

#include "formats/html/assets.h"
#include "formats/html/page_data.h"
#include "formats/result/out_file.h"
#include "formats/result/text.h"

#include <stdlib.h>

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
