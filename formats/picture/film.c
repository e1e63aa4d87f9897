#define _GNU_SOURCE     /* environ */

#include "formats/picture/film.h"

#include "formats/picture/image_gif.h"
#include "formats/result/out_file.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct abut_film {
    abut_out_file out;
    int w, h;
    abut_gif *gif;      /* NULL: ffmpeg */
    pid_t ffmpeg;       /* 0: none, or it has ended */
    int to;             /* it reads there; -1: closed */
};

/* Suffix of the name, and ffmpeg's names of the container and the codec; NULL: without ffmpeg. */
static const struct kind {
    const char *suffix, *container, *coding;
} kinds[] = { { ".gif", NULL, NULL }, { ".mp4", "mp4", "libx264" }, { ".mov", "mov", "libx264" },
              { ".mkv", "matroska", "libx264" }, { ".webm", "webm", "libvpx-vp9" } };

static const struct kind *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(dot, kinds[i].suffix)) return &kinds[i];
    return NULL;
}

/* A program of that name in a folder of the PATH. */
static int is_on_path(const char *name)
{
    char path[4096];
    for (const char *p = getenv("PATH"); p && *p;) {
        const size_t n = strcspn(p, ":");
        if (n + strlen(name) + 2 < sizeof path) {
            snprintf(path, sizeof path, "%.*s/%s", (int)n, p, name);
            if (!access(path, X_OK)) return 1;
        }
        p += n + (p[n] == ':');
    }
    return 0;
}

abut_status abut_film_check(const char *path, abut_err *err)
{
    const struct kind *k = kind_of(path);
    if (!k)
        return abut_fail(err, ABUT_E_ARG, "'%.200s': expected a name that ends in .gif, .mp4, .mov, .mkv or .webm", path);
    if (k->container && !is_on_path("ffmpeg"))
        return abut_fail(err, ABUT_E_IO, "'%.200s' needs the program ffmpeg (Debian package ffmpeg); .gif needs none", path);
    return ABUT_OK;
}

/* Pictures go to its input by a socket: a send to one that has ended is an error, and no signal. */
static abut_status start_ffmpeg(abut_film *f, const struct kind *k, double per_second, abut_err *err)
{
    extern char **environ;
    char size[32], rate[32], *part;
    const char *out = f->out.part ? f->out.part : f->out.path;
    int pair[2];
    posix_spawn_file_actions_t actions;
    snprintf(size, sizeof size, "%dx%d", f->w, f->h);
    snprintf(rate, sizeof rate, "%.6g", per_second);
    if (!(part = malloc(strlen(out) + 6))) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for a name", out);
    sprintf(part, "file:%s", out);
    const char *const words[] = { "ffmpeg", "-nostdin", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
                                  "-s", size, "-r", rate, "-i", "pipe:0", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                  "-pix_fmt", "yuv420p", "-c:v", k->coding, "-crf", "20", "-threads", "2",
                                  "-fflags", "+bitexact", "-flags:v", "+bitexact", "-f", k->container, part, NULL };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        free(part);
        return abut_fail(err, ABUT_E_IO, "no socket to ffmpeg: %s", strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
    const int failed = posix_spawnp(&f->ffmpeg, "ffmpeg", &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    free(part);
    f->to = pair[0];
    if (!failed) return ABUT_OK;
    f->ffmpeg = 0;
    return abut_fail(err, ABUT_E_IO, "ffmpeg: %s", strerror(failed));
}

abut_status abut_film_open(const char *path, int keep, int w, int h, double per_second, abut_film **out, abut_err *err)
{
    abut_status rc = abut_film_check(path, err);
    if (rc) return rc;
    abut_film *f = calloc(1, sizeof *f);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory", path);
    *f = (abut_film){ .w = w, .h = h, .to = -1 };
    const struct kind *k = kind_of(path);
    rc = abut_out_open(&f->out, path, keep, err);
    if (!rc && k->container) rc = start_ffmpeg(f, k, per_second, err);
    /* many viewers take 1/100 s for something else */
    else if (!rc) rc = abut_gif_open(f->out.f, w, h, (int)fmax(2, lrint(100 / per_second)), &f->gif, err);
    if (rc) abut_film_free(&f);
    *out = f;
    return rc;
}

abut_status abut_film_picture(abut_film *f, const abut_image *im, abut_err *err)
{
    if (f->gif) return abut_gif_picture(f->gif, im, err);
    const uint8_t *p = im->rgb;
    for (size_t left = 3 * (size_t)f->w * (size_t)f->h; left;) {
        const ssize_t n = send(f->to, p, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return abut_fail(err, ABUT_E_IO, "%s: ffmpeg has ended before the film: %s", f->out.path, strerror(errno));
        p += n, left -= (size_t)n;
    }
    return ABUT_OK;
}

/* Ends its input and waits; its exit status, -1 where a signal has ended it. */
static int end_ffmpeg(abut_film *f)
{
    int status = 0;
    close(f->to);
    f->to = -1;
    while (waitpid(f->ffmpeg, &status, 0) < 0 && errno == EINTR) {}
    f->ffmpeg = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

abut_status abut_film_close(abut_film *f, abut_err *err)
{
    if (f->gif) abut_gif_close(f->gif);
    else {
        const int code = end_ffmpeg(f);
        if (code) return abut_fail(err, ABUT_E_IO, "%s: ffmpeg ended with %d", f->out.path, code);
    }
    return abut_out_close(&f->out, err);
}

void abut_film_free(abut_film **pf)
{
    abut_film *f = *pf;
    if (!f) return;
    if (f->ffmpeg) (void)end_ffmpeg(f);
    if (f->to >= 0) close(f->to);
    abut_gif_free(&f->gif);
    abut_out_drop(&f->out);
    free(f);
    *pf = NULL;
}
