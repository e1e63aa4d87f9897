#define _XOPEN_SOURCE 700   /* pread */
#include "tools/watch/board.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { ROWS_MOST = 256 };   /* frames and lines in one answer */

/* Texts in the order they came; where their blocks are, if they have any. */
typedef struct list {
    struct entry {
        char *text;
        off_t at;
        size_t size;
    } *item;
    size_t n, cap;
} list;

struct abut_board {
    const abut_text_file *page;
    pthread_mutex_t lock;       /* of all below */
    list heads, models, frames, reports;    /* heads: one, or none yet */
    FILE *blocks;
    off_t end;
    char message[1100];         /* how it ended; "" while it has not */
};

abut_status abut_board_open(const abut_text_file *page, abut_board **out, abut_err *err)
{
    abut_board *b = calloc(1, sizeof *b);
    if (!b) return abut_fail(err, ABUT_E_NOMEM, "no memory to keep frames");
    b->page = page;
    pthread_mutex_init(&b->lock, NULL);
    b->blocks = tmpfile();
    if (!b->blocks) {
        abut_board_free(&b);
        return abut_fail(err, ABUT_E_IO, "no temporary file to keep frames in: %s", strerror(errno));
    }
    *out = b;
    return ABUT_OK;
}

static void list_clear(list *l)
{
    for (size_t i = 0; i < l->n; i++) free(l->item[i].text);
    free(l->item);
}

void abut_board_free(abut_board **pb)
{
    abut_board *b = *pb;
    if (!b) return;
    list_clear(&b->heads);
    list_clear(&b->models);
    list_clear(&b->frames);
    list_clear(&b->reports);
    if (b->blocks) fclose(b->blocks);
    pthread_mutex_destroy(&b->lock);
    free(b);
    *pb = NULL;
}

static abut_status add(list *l, const char *text, off_t at, size_t size, abut_err *err)
{
    if (!ABUT_GROW(l->item, l->n + 1, l->cap)) return abut_fail(err, ABUT_E_NOMEM, "no memory to keep %zu frames", l->n + 1);
    char *copy = malloc(strlen(text) + 1);
    if (!copy) return abut_fail(err, ABUT_E_NOMEM, "no memory to keep a frame");
    strcpy(copy, text);
    l->item[l->n++] = (struct entry){ copy, at, size };
    return ABUT_OK;
}

static abut_status write_all(int to, const unsigned char *p, size_t n, off_t at, abut_err *err)
{
    while (n) {
        const ssize_t done = pwrite(to, p, n, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return abut_fail(err, ABUT_E_IO, "the temporary file that keeps frames: %s", strerror(errno));
        p += done, n -= (size_t)done, at += done;
    }
    return ABUT_OK;
}

abut_status abut_board_put(abut_board *b, int is_model, const abut_page_item *item, abut_err *err)
{
    /* the other thread reads only before the end */
    abut_status rc = write_all(fileno(b->blocks), item->block, item->size, b->end, err);
    if (rc) return rc;
    pthread_mutex_lock(&b->lock);
    rc = add(is_model ? &b->models : &b->frames, item->json.text, b->end, item->size, err);
    if (!rc) b->end += (off_t)item->size;
    pthread_mutex_unlock(&b->lock);
    return rc;
}

/* A text without a block. */
static abut_status put_text(abut_board *b, list *l, const char *text, abut_err *err)
{
    pthread_mutex_lock(&b->lock);
    const abut_status rc = add(l, text, 0, 0, err);
    pthread_mutex_unlock(&b->lock);
    return rc;
}

abut_status abut_board_head(abut_board *b, const char *json, abut_err *err)
{
    return put_text(b, &b->heads, json, err);
}

abut_status abut_board_report(abut_board *b, const char *line, abut_err *err)
{
    return put_text(b, &b->reports, line, err);
}

void abut_board_end(abut_board *b, const char *message)
{
    pthread_mutex_lock(&b->lock);
    snprintf(b->message, sizeof b->message, "%s", message);
    pthread_mutex_unlock(&b->lock);
}

static const char *reason(int status)
{
    switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Internal Server Error";
    }
}

/* Status line and headers of an answer with a body of n bytes; the connection ends with it. */
static void http_head(FILE *f, int status, const char *type, size_t n)
{
    fprintf(f, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n", status, reason(status), type, n);
    if (status == 405) fputs("Allow: GET, HEAD\r\n", f);
    fputs("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
          "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n", f);
}

/* ---- answers ---- */

/* Head and body in one piece. */
static char *answer(int status, const char *type, int head_only, const char *body, size_t size, size_t *n)
{
    abut_text_file t;
    abut_err err = { 0 };
    *n = 0;
    if (abut_text_file_open(&t, &err)) return NULL;
    http_head(t.f, status, type, size);
    if (!head_only) fwrite(body, 1, size, t.f);
    if (abut_text_file_end(&t, "an answer", &err)) return NULL;
    *n = t.size;
    return t.text;
}

char *abut_board_refuse(int status, size_t *n)
{
    char body[64];
    const int size = snprintf(body, sizeof body, "%d: only this page and its frames are here\n", status);
    return answer(status, "text/plain; charset=utf-8", 0, body, (size_t)size, n);
}

/* Texts from number `from` on, as the elements of a JSON array; lines of the report are strings there: others write them. */
static void put_texts(FILE *f, const char *key, const list *l, long from, int as_strings)
{
    fprintf(f, "\"%s\":[", key);
    for (size_t i = from < 0 ? 0 : (size_t)from, k = 0; i < l->n && k < ROWS_MOST; i++, k++) {
        if (k) fputc(',', f);
        if (as_strings) abut_json_string(f, l->item[i].text);
        else fputs(l->item[i].text, f);
    }
    fputs("],", f);
}

static char *status(abut_board *b, const char *target, int head_only, size_t *n)
{
    abut_text_file t;
    abut_err err = { 0 };
    if (abut_text_file_open(&t, &err)) return NULL;
    pthread_mutex_lock(&b->lock);
    fputc('{', t.f);
    put_texts(t.f, "heads", &b->heads, 0, 0);
    put_texts(t.f, "models", &b->models, abut_http_number(target, "models"), 0);
    put_texts(t.f, "frames", &b->frames, abut_http_number(target, "frames"), 0);
    put_texts(t.f, "reports", &b->reports, abut_http_number(target, "reports"), 1);
    fprintf(t.f, "\"total\":%zu,\"lines\":%zu,\"ended\":%s,\"message\":", b->frames.n, b->reports.n,
            *b->message ? "true" : "false");
    abut_json_string(t.f, b->message);
    fputc('}', t.f);
    pthread_mutex_unlock(&b->lock);
    if (abut_text_file_end(&t, "an answer", &err)) return NULL;
    char *out = answer(200, "application/json", head_only, t.text, t.size, n);
    abut_text_file_clear(&t);
    return out;
}

/* The number that follows `kind` in "/kind/12"; -1: the target is another. */
static long block_number(const char *target, const char *kind)
{
    const size_t n = strlen(kind);
    char query[ABUT_HTTP_TARGET_MAX + 4];
    if (strncmp(target, kind, n)) return -1;
    snprintf(query, sizeof query, "?n=%s", target + n);
    return abut_http_number(query, "n");
}

static char *give_block(abut_board *b, const list *l, long i, int head_only, size_t *n)
{
    pthread_mutex_lock(&b->lock);
    const struct entry e = i >= 0 && (size_t)i < l->n ? l->item[i] : (struct entry){ 0 };
    pthread_mutex_unlock(&b->lock);
    if (!e.text) return abut_board_refuse(404, n);
    char *body = malloc(e.size), *out = NULL;
    size_t done = 0;
    while (body && done < e.size) {
        const ssize_t got = pread(fileno(b->blocks), body + done, e.size - done, e.at + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (size_t)got;
    }
    if (body && done == e.size) out = answer(200, "application/octet-stream", head_only, body, e.size, n);
    else if (body) out = abut_board_refuse(500, n);
    free(body);
    return out;
}

char *abut_board_answer(abut_board *b, const char *target, int head_only, size_t *n)
{
    if (!strcmp(target, "/")) return answer(200, "text/html; charset=utf-8", head_only, b->page->text, b->page->size, n);
    if (!strncmp(target, "/status", 7) && (!target[7] || target[7] == '?')) return status(b, target, head_only, n);
    long i = block_number(target, "/frame/");
    if (i >= 0) return give_block(b, &b->frames, i, head_only, n);
    i = block_number(target, "/model/");
    if (i >= 0) return give_block(b, &b->models, i, head_only, n);
    return abut_board_refuse(404, n);
}

/* ---- HTTP ---- */

/* The end of the line that begins at p: its CR, or NULL where no CR LF follows before end. */
static const char *line_end(const char *p, const char *end)
{
    for (; p + 1 < end; p++)
        if (p[0] == '\r' && p[1] == '\n') return p;
    return NULL;
}

static int is_token(char c)
{
    return c > 0x20 && c < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

/* 127.0.0.1 or localhost, with this port. */
static int is_here(const char *host, size_t n, int port)
{
    char want[32];
    static const char *const name[] = { "127.0.0.1", "localhost" };
    for (int i = 0; i < 2; i++) {
        const size_t len = (size_t)snprintf(want, sizeof want, "%s:%d", name[i], port);
        if (n == len && !strncasecmp(host, want, n)) return 1;
    }
    return 0;
}

/* Reads a header line; *hosts counts Host.  Returns 200 or the status of the refusal. */
static int read_field(const char *p, const char *end, int port, int *hosts)
{
    const char *name = p;
    while (p < end && is_token(*p)) p++;
    const size_t n = (size_t)(p - name);
    if (!n || p == end || *p != ':') return 400;
    for (p++; p < end && (*p == ' ' || *p == '\t'); p++) {}
    while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
    for (const char *c = p; c < end; c++)
        if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f) return 400;
    if (n == 4 && !strncasecmp(name, "Host", 4)) {
        ++*hosts;
        return is_here(p, (size_t)(end - p), port) ? 200 : 403;
    }
    if (n == 17 && !strncasecmp(name, "Transfer-Encoding", 17)) return 413;
    if (n == 14 && !strncasecmp(name, "Content-Length", 14)) return end - p == 1 && *p == '0' ? 200 : 413;
    return 200;
}

static int read_line(const char *p, const char *end, abut_http_request *r)
{
    const char *method = p;
    while (p < end && is_token(*p)) p++;
    const size_t n = (size_t)(p - method);
    if (!n || p == end || *p != ' ') return 400;
    const char *target = ++p;
    while (p < end && *p > 0x20 && *p < 0x7f) p++;
    const size_t length = (size_t)(p - target);
    if (!length || *target != '/' || p == end || *p != ' ') return 400;
    p++;
    if (end - p != 8 || strncmp(p, "HTTP/", 5)) return 400;
    if (strncmp(p, "HTTP/1.", 7)) return 505;
    r->head_only = n == 4 && !strncmp(method, "HEAD", 4);
    if (!r->head_only && (n != 3 || strncmp(method, "GET", 3))) return 405;
    if (length >= sizeof r->target) return 414;
    memcpy(r->target, target, length);
    r->target[length] = 0;
    return 200;
}

int abut_http_read(const char *bytes, size_t n, int port, abut_http_request *r)
{
    const char *end = bytes + n, *p = bytes, *stop = line_end(p, end);
    int hosts = 0, status = 200, refused = 0;
    *r = (abut_http_request){ 0 };
    if (!stop) return n >= ABUT_HTTP_REQUEST_MAX ? 431 : 0;
    if ((status = read_line(p, stop, r)) != 200) return status;
    for (p = stop + 2;; p = stop + 2) {
        stop = line_end(p, end);
        if (!stop) return refused ? refused : n >= ABUT_HTTP_REQUEST_MAX ? 431 : 0;
        if (stop == p) break;
        if ((status = read_field(p, stop, port, &hosts)) != 200 && !refused) refused = status;
    }
    return refused ? refused : hosts == 1 ? 200 : 400;
}

long abut_http_number(const char *target, const char *key)
{
    const size_t n = strlen(key);
    const char *p = strchr(target, '?');
    for (; p; p = strchr(p, '&')) {
        p++;
        if (strncmp(p, key, n) || p[n] != '=') continue;
        const char *digit = p + n + 1;
        long v = 0;
        if (*digit < '0' || *digit > '9') return -1;
        for (; *digit >= '0' && *digit <= '9'; digit++) {
            v = 10 * v + (*digit - '0');
            if (v > 0x7fffffffL) return -1;
        }
        return *digit && *digit != '&' ? -1 : v;
    }
    return -1;
}

