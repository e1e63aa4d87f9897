/* watch: shows a run while it goes on, in a browser at the loopback address. */
#include "base/words.h"
#include "formats/html/page_data.h"
#include "formats/result/shots.h"
#include "tools/cli/cli.h"
#include "tools/watch/board.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const double SILENCE = 1.5;      /* s without a request: a page asks more often while something is missing */

/* -- server: on the loopback address, in a thread of its own; answers requests for what is on the board ------------- */

enum { MOST = 32 /* connections at once */ };
static const double PATIENCE = 10;  /* s: for a whole request, and for each part of an answer to be taken */

typedef struct connection {
    int fd;                 /* -1: free */
    double since;           /* s: when it came, or took something last */
    size_t got, sent, size;
    char *answer;           /* NULL until the request is whole */
    char request[ABUT_HTTP_REQUEST_MAX];
} connection;

typedef struct server {
    abut_board *board;
    int port, listen, stop[2];
    pthread_t thread;
    int runs;
    pthread_mutex_t lock;   /* of last */
    double last;            /* s: of the last request that is served, or of a part of its answer */
    connection c[MOST];
} server;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A refusal does not count. */
static void touch(server *s, const connection *c)
{
    static const char good[] = "HTTP/1.1 200 ";
    if (c->size < sizeof good || memcmp(c->answer, good, sizeof good - 1)) return;
    pthread_mutex_lock(&s->lock);
    s->last = now();
    pthread_mutex_unlock(&s->lock);
}

/* Seconds since the last request that is served came, or took a part of its answer; infinite before the first. */
static double server_idle(server *s)
{
    pthread_mutex_lock(&s->lock);
    const double last = s->last;
    pthread_mutex_unlock(&s->lock);
    return now() - last;
}

static void hang_up(connection *c)
{
    close(c->fd);
    free(c->answer);
    *c = (connection){ .fd = -1 };
}

static void set_nonblocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void take_call(server *s)
{
    const int fd = accept(s->listen, NULL, NULL);
    if (fd < 0) return;
    set_nonblocking(fd);
    for (int i = 0; i < MOST; i++)
        if (s->c[i].fd < 0) {
            s->c[i].fd = fd;
            s->c[i].since = now();
            return;
        }
    close(fd);
}

static void give_answer(server *s, connection *c, int status, const abut_http_request *r)
{
    c->answer = status == 200 ? abut_board_answer(s->board, r->target, r->head_only, &c->size)
                              : abut_board_refuse(status, &c->size);
    c->since = now();
    if (c->answer) touch(s, c);
    else hang_up(c);
}

static void listen_to(server *s, connection *c)
{
    abut_http_request r;
    const ssize_t n = recv(c->fd, c->request + c->got, sizeof c->request - c->got, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        hang_up(c);
        return;
    }
    c->got += (size_t)n;
    const int status = abut_http_read(c->request, c->got, s->port, &r);
    if (status) give_answer(s, c, status, &r);
}

static void speak(server *s, connection *c)
{
    const ssize_t n = send(c->fd, c->answer + c->sent, c->size - c->sent, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) {
        c->sent += (size_t)n;
        c->since = now();
        touch(s, c);
    }
    if (n < 0 || c->sent == c->size) {
        shutdown(c->fd, SHUT_WR);
        hang_up(c);
    }
}

/* Answers an incomplete request with an error; drops an answer that the client does not read. */
static void lose_patience(server *s, connection *c)
{
    const abut_http_request none = { 0 };
    if (c->answer) hang_up(c);
    else give_answer(s, c, 408, &none);
}

static void *serve(void *of)
{
    server *s = of;
    struct pollfd p[MOST + 2];
    for (;;) {
        p[0] = (struct pollfd){ .fd = s->stop[0], .events = POLLIN };
        p[1] = (struct pollfd){ .fd = s->listen, .events = POLLIN };
        for (int i = 0; i < MOST; i++)      /* negative descriptors are passed over */
            p[i + 2] = (struct pollfd){ .fd = s->c[i].fd, .events = s->c[i].answer ? POLLOUT : POLLIN };
        if (poll(p, MOST + 2, 500) < 0 && errno != EINTR) return NULL;
        if (p[0].revents) return NULL;
        for (int i = 0; i < MOST; i++) {
            connection *c = &s->c[i];
            if (c->fd < 0 || c->fd != p[i + 2].fd) continue;
            if (p[i + 2].revents & (POLLOUT | POLLIN)) (c->answer ? speak : listen_to)(s, c);
            else if (p[i + 2].revents) hang_up(c);
            else if (now() - c->since > PATIENCE) lose_patience(s, c);
        }
        if (p[1].revents & POLLIN) take_call(s);
    }
}

static abut_status listen_at(server *s, int port, abut_err *err)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof a;
    const int yes = 1;
    s->listen = socket(AF_INET, SOCK_STREAM, 0);
    if (s->listen >= 0) setsockopt(s->listen, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (s->listen < 0 || bind(s->listen, (struct sockaddr *)&a, sizeof a) || listen(s->listen, MOST) ||
        getsockname(s->listen, (struct sockaddr *)&a, &size))
        return abut_fail(err, ABUT_E_IO, "127.0.0.1:%d: %s", port, strerror(errno));
    set_nonblocking(s->listen);
    s->port = ntohs(a.sin_port);
    return ABUT_OK;
}

/* Ends the thread at once; requests in progress are dropped. */
static void server_stop(server **ps)
{
    server *s = *ps;
    if (!s) return;
    if (s->runs) {
        close(s->stop[1]);      /* which the thread sees */
        s->stop[1] = -1;
        pthread_join(s->thread, NULL);
    }
    for (int i = 0; i < MOST; i++)
        if (s->c[i].fd >= 0) hang_up(&s->c[i]);
    for (int k = 0; k < 2; k++)
        if (s->stop[k] >= 0) close(s->stop[k]);
    if (s->listen >= 0) close(s->listen);
    pthread_mutex_destroy(&s->lock);
    free(s);
    *ps = NULL;
}

/* Listens at 127.0.0.1.  port: 0 for any that is free; *at: which it is.  Borrows the board.
 * Fails  ABUT_E_IO the port is taken, or not to be had */
static abut_status server_start(abut_board *b, int port, int *at, server **out, abut_err *err)
{
    server *s = calloc(1, sizeof *s);
    if (!s) return abut_fail(err, ABUT_E_NOMEM, "no memory for a server");
    s->board = b;
    s->listen = s->stop[0] = s->stop[1] = -1;
    s->last = -INFINITY;
    for (int i = 0; i < MOST; i++) s->c[i].fd = -1;
    pthread_mutex_init(&s->lock, NULL);
    abut_status rc = listen_at(s, port, err);
    if (!rc && pipe(s->stop)) rc = abut_fail(err, ABUT_E_IO, "no pipe for the server: %s", strerror(errno));
    if (!rc) {
        const int failed = pthread_create(&s->thread, NULL, serve, s);
        s->runs = !failed;
        if (failed) rc = abut_fail(err, ABUT_E_IO, "no thread for the server: %s", strerror(failed));
    }
    *at = s->port;
    *out = s;
    if (rc) server_stop(out);
    return rc;
}

/* -- stream --------------------------------------------------------------------------------------------------------- */

typedef struct watch {
    abut_cli *cli;
    const char *report;         /* NULL: none */
    int port, keep;
    abut_opt_list objects;
    abut_reader *reader;
    abut_writer *writer;        /* NULL: no output */
    abut_text_file page;
    abut_board *board;
    server *server;
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
    int at = 0;
    if (w->port < 0 || w->port > 65535)
        return abut_fail(err, ABUT_E_ARG, "--port %d: expected 1 to 65535, 0 for a free one", w->port);
    if (w->keep && !w->cli->out_path && abut_cli_output_is_device(w->cli)) abut_cli_drop_output(w->cli);
    if (w->keep && w->cli->out)
        return abut_fail(err, ABUT_E_ARG, "--keep: a reader of the output would wait for its end: expected a file to watch, and "
                         "the output at a terminal or > /dev/null");
    abut_status rc = open_page(w, err);
    if (!rc) rc = abut_board_open(&w->page, &w->board, err);
    if (!rc) rc = server_start(w->board, w->port, &at, &w->server, err);
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
    while (w->keep || server_idle(w->server) < SILENCE) nanosleep(&moment, NULL);
}

static void clear(watch *w)
{
    server_stop(&w->server);
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
