#include "tools/watch/server.h"

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

enum { MOST = 32 /* connections at once */ };
static const double PATIENCE = 10;  /* s: for a whole request, and for each part of an answer to be taken */

typedef struct connection {
    int fd;                 /* -1: free */
    double since;           /* s: when it came, or took something last */
    size_t got, sent, size;
    char *answer;           /* NULL until the request is whole */
    char request[ABUT_HTTP_REQUEST_MAX];
} connection;

struct abut_server {
    abut_board *board;
    int port, listen, stop[2];
    pthread_t thread;
    int runs;
    pthread_mutex_t lock;   /* of last */
    double last;            /* s: of the last request that is served, or of a part of its answer */
    connection c[MOST];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A refusal does not count. */
static void touch(abut_server *s, const connection *c)
{
    static const char good[] = "HTTP/1.1 200 ";
    if (c->size < sizeof good || memcmp(c->answer, good, sizeof good - 1)) return;
    pthread_mutex_lock(&s->lock);
    s->last = now();
    pthread_mutex_unlock(&s->lock);
}

double abut_server_idle(abut_server *s)
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

static void take_call(abut_server *s)
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

static void give_answer(abut_server *s, connection *c, int status, const abut_http_request *r)
{
    c->answer = status == 200 ? abut_board_answer(s->board, r->target, r->head_only, &c->size)
                              : abut_board_refuse(status, &c->size);
    c->since = now();
    if (c->answer) touch(s, c);
    else hang_up(c);
}

static void listen_to(abut_server *s, connection *c)
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

static void speak(abut_server *s, connection *c)
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
static void lose_patience(abut_server *s, connection *c)
{
    const abut_http_request none = { 0 };
    if (c->answer) hang_up(c);
    else give_answer(s, c, 408, &none);
}

static void *serve(void *of)
{
    abut_server *s = of;
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

static abut_status listen_at(abut_server *s, int port, abut_err *err)
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

abut_status abut_server_start(abut_board *b, int port, int *at, abut_server **out, abut_err *err)
{
    abut_server *s = calloc(1, sizeof *s);
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
    if (rc) abut_server_stop(out);
    return rc;
}

void abut_server_stop(abut_server **ps)
{
    abut_server *s = *ps;
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
