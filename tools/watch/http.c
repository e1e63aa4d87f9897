#include "tools/watch/http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

void abut_http_head(FILE *f, int status, const char *type, size_t n)
{
    fprintf(f, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n", status, reason(status), type, n);
    if (status == 405) fputs("Allow: GET, HEAD\r\n", f);
    fputs("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
          "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n", f);
}
