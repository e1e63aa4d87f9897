/* watch: shows a run while it goes on, in a browser at the loopback address. */
#include "base/words.h"
#include "formats/html/page_data.h"
#include "formats/result/frame_views.h"
#include "tools/cli/cli.h"
#include "tools/watch/server.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double SILENCE = 1.5;      /* s without a request: a page asks more often while something is missing */

typedef struct watch {
    abut_cli *cli;
    const char *report;         /* NULL: none */
    int port, keep;
    abut_opt_list objects;
    abut_reader *reader;
    abut_writer *writer;        /* NULL: no output */
    abut_text_file page;
    abut_board *board;
    abut_server *server;
    abut_page_data data;
    abut_shots shots;
    FILE *lines;                /* of the report, once it is there */
    char *line;
    size_t room;
} watch;

static abut_status open_page(watch *w, abut_err *err)
{
    abut_text_file head = { 0 };
    abut_status rc = abut_page_head(NULL, 0, 1, &head, err);
    if (!rc) rc = abut_text_file_open(&w->page, err);
    if (!rc) {
        abut_page_begin(w->page.f);
        fprintf(w->page.f, "<script type=\"application/json\" id=\"head\">%s</script>\n", head.text);
        abut_page_end(w->page.f);
        rc = abut_text_file_end(&w->page, "the page", err);
    }
    abut_text_file_clear(&head);
    return rc;
}

/* Page and server, before a byte of the stream has come. */
static abut_status open_server(watch *w, abut_err *err)
{
    int at;
    if (w->port < 0 || w->port > 65535)
        return abut_fail(err, ABUT_E_ARG, "--port %d: expected 1 to 65535, 0 for a free one", w->port);
    if (w->keep && !w->cli->out_path && abut_cli_output_is_device(w->cli)) abut_cli_drop_output(w->cli);
    if (w->keep && w->cli->out)
        return abut_fail(err, ABUT_E_ARG, "--keep: a reader of the output would wait for its end: expected a file to watch, and "
                         "the output at a terminal or > /dev/null");
    abut_status rc = open_page(w, err);
    if (!rc) rc = abut_board_open(&w->page, &w->board, err);
    if (!rc) rc = abut_server_start(w->board, w->port, &at, &w->server, err);
    if (!rc) abut_cli_say(w->cli, "http://127.0.0.1:%d/", at);
    return rc;
}

/* Opens the reader, and the writer if there is an output. */
static abut_status open_stream(watch *w, abut_err *err)
{
    int n;
    abut_text_file head = { 0 };
    abut_status rc = abut_reader_open(w->cli->in, w->cli->in_name, &w->reader, err);
    if (rc) return rc;
    const abut_prov *prov = abut_reader_prov(w->reader, &n);
    if (w->cli->out) rc = abut_writer_open(w->cli->out, w->cli->compress, &w->writer, err);
    for (int i = 0; i < n && !rc && w->writer; i++)
        rc = abut_writer_prov(w->writer, prov[i].tool, prov[i].version, prov[i].options, err);
    if (!rc) rc = abut_page_head(prov, n, 1, &head, err);
    if (!rc) rc = abut_board_head(w->board, head.text, err);
    abut_text_file_clear(&head);
    return rc;
}

/* Whole lines that the report has got since the last call.  A file that is not there yet may come. */
static abut_status take_report(watch *w, abut_err *err)
{
    if (w->report && !w->lines) w->lines = fopen(w->report, "r");
    abut_status rc = ABUT_OK;
    while (w->lines && !rc) {
        const long start = ftell(w->lines);
        const ssize_t n = getline(&w->line, &w->room, w->lines);
        if (n <= 0 || w->line[n - 1] != '\n') {
            clearerr(w->lines);
            fseek(w->lines, start, SEEK_SET);
            break;
        }
        w->line[n - 1] = 0;
        rc = abut_board_report(w->board, w->line, err);
    }
    return rc;
}

static abut_status take_frames(watch *w, abut_err *err)
{
    const abut_shot *s;
    abut_page_item model = { 0 }, frame = { 0 };
    const abut_shots_opts opt = { .names = w->objects.item, .n_names = w->objects.n, .want = ABUT_PAGE_WANT, .copy = w->writer };
    abut_status rc;
    abut_shots_open(&w->shots, w->reader, &opt);
    while (!(rc = abut_shots_next(&w->shots, &s, err)) && s) {
        w->cli->frames = w->shots.seen;
        abut_cli_progress(w->cli, "frame %d  t %.4g s", s->index, s->head->time);
        rc = abut_page_data_frame(&w->data, s, &model, &frame, err);
        if (!rc && model.block) rc = abut_board_put(w->board, 1, &model, err);
        if (!rc) rc = abut_board_put(w->board, 0, &frame, err);
        if (!rc) rc = take_report(w, err);
        if (rc) break;
    }
    abut_page_item_clear(&model);
    abut_page_item_clear(&frame);
    if (*w->shots.note) abut_cli_say(w->cli, "%s", w->shots.note);
    if (!rc) rc = take_report(w, err);
    if (!rc && w->report && !w->lines) abut_cli_say(w->cli, "--report %s: no such file came", w->report);
    return rc;
}

/* Pages that are open get what they lack, and a message of how it ended. */
static void end(watch *w, const abut_err *err)
{
    char message[sizeof err->msg + 64];
    snprintf(message, sizeof message, err->code ? "ended after %d frame%s: %s" : "ended: %d frame%s", w->shots.seen,
             abut_s(w->shots.seen), err->msg);
    abut_board_end(w->board, message);
    const struct timespec moment = { .tv_nsec = 50000000 };
    while (w->keep || abut_server_idle(w->server) < SILENCE) nanosleep(&moment, NULL);
}

static void clear(watch *w)
{
    abut_server_stop(&w->server);
    abut_board_free(&w->board);
    abut_shots_clear(&w->shots);
    abut_page_data_clear(&w->data);
    abut_text_file_clear(&w->page);
    abut_writer_free(&w->writer);
    abut_reader_free(&w->reader);
    if (w->lines) fclose(w->lines);
    free(w->line);
}

int main(int argc, char **argv)
{
    abut_cli cli;
    watch w = { .cli = &cli };
    const abut_opt opts[] = {
        { 'p', "port", ABUT_OPT_INT, &w.port, "N", "of 127.0.0.1 (default: one that is free)" },
        { 0, "report", ABUT_OPT_TEXT, &w.report, "FILE", "what step --report writes meanwhile: its numbers are shown, too" },
        { 0, "keep", ABUT_OPT_FLAG, &w.keep, NULL, "stay after the end of the stream, until interrupted" },
        { 0, "object", ABUT_OPT_LIST, &w.objects, "NAME", "only this object (may be given again)" },
        { 0 }
    };
    abut_cli_begin(&cli, argc, argv,
                   "Shows a run in a browser while it runs, and passes the stream on.\n"
                   "Prints its address, which is on the loopback interface alone, and ends with the stream.",
                   "[FILE]", opts, ABUT_CLI_IN | ABUT_CLI_OUT_MAY);
    abut_err err = { 0 };
    if (!open_server(&w, &err)) {
        abut_status rc = open_stream(&w, &err);
        if (!rc) rc = take_frames(&w, &err);
        if (rc && w.reader && abut_reader_cut(w.reader, NULL)) abut_unfinished_advise(&cli, &err);
        end(&w, &err);
    }
    clear(&w);
    return abut_cli_end(&cli, 0, &err);
}
