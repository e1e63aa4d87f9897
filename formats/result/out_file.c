#define _GNU_SOURCE     /* fopencookie */
#include "formats/result/out_file.h"

#include "formats/stream/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

abut_status abut_out_folder(const char *dir, abut_err *err)
{
    struct stat st;
    if (!mkdir(dir, 0777)) return ABUT_OK;
    const int why = errno;
    if (why != EEXIST) return abut_fail(err, ABUT_E_IO, "%s: cannot make the folder: %s", dir, strerror(why));
    if (stat(dir, &st) || !S_ISDIR(st.st_mode)) return abut_fail(err, ABUT_E_IO, "%s: is no folder", dir);
    return ABUT_OK;
}

int abut_out_direct(const char *path)
{
    struct stat st;
    return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6) || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

/* Whether the name still leads to the open file fd, just locked: another process may have replaced it before. */
static int is_named(const char *part, int fd)
{
    struct stat at, name;
    return !fstat(fd, &at) && !lstat(part, &name) && at.st_dev == name.st_dev && at.st_ino == name.st_ino;
}

/* Takes the descriptor: closed on failure, and where it must be opened again (*fd is -2 then). */
static abut_status lock(const char *part, int *fd, abut_err *err)
{
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    const int held = fcntl(*fd, F_SETLK, &all) && (errno == EACCES || errno == EAGAIN);
    if (!held && is_named(part, *fd)) return ABUT_OK;
    close(*fd);
    *fd = -2;
    return held ? abut_fail(err, ABUT_E_IO, "%s: another process is writing it", part) : ABUT_OK;
}

abut_status abut_out_left(const char *part, int *fd, abut_err *err)
{
    struct stat st;
    do {
        *fd = -1;
        if (lstat(part, &st)) return errno == ENOENT ? ABUT_OK : abut_fail(err, ABUT_E_IO, "%s: %s", part, strerror(errno));
        if (!S_ISREG(st.st_mode))
            return abut_fail(err, ABUT_E_IO, "%s: is a %s; the output is written there first: expected nothing of that name, or "
                             "the file of a run that was not finished", part, S_ISLNK(st.st_mode) ? "symbolic link" :
                             S_ISDIR(st.st_mode) ? "folder" : S_ISFIFO(st.st_mode) ? "fifo" : "special file");
        *fd = open(part, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (*fd < 0 && errno != ENOENT && errno != ELOOP) return abut_fail(err, ABUT_E_IO, "%s: %s", part, strerror(errno));
        if (*fd >= 0 && lock(part, fd, err)) return err->code;
    } while (*fd < 0);
    return ABUT_OK;
}

abut_status abut_out_new(const char *part, int *fd, abut_err *err)
{
    do {
        int left = -1;
        *fd = -1;
        if (abut_out_left(part, &left, err)) return err->code;
        const int kept = left >= 0 && unlink(part), why = errno;
        if (left >= 0) close(left);
        if (kept) return abut_fail(err, ABUT_E_IO, "%s: %s", part, strerror(why));
        *fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (*fd < 0 && errno != EEXIST) return abut_fail(err, ABUT_E_IO, "%s: %s", part, strerror(errno));
        if (*fd >= 0 && lock(part, fd, err)) return err->code;
    } while (*fd < 0);
    return ABUT_OK;
}

/* A stream of the file; NULL with the reason in err. */
static FILE *open_part(const char *part, abut_err *err)
{
    int fd;
    if (abut_out_new(part, &fd, err)) return NULL;
    FILE *f = fdopen(fd, "wb");
    if (f) return f;
    abut_fail(err, ABUT_E_IO, "%s: %s", part, strerror(errno));
    close(fd);
    return NULL;
}

int abut_out_rename(const char *part, const char *path, int keep)
{
    if (!keep) return rename(part, path) ? errno : 0;
    if (!link(part, path)) return unlink(part) ? errno : 0;
    if (errno != EPERM && errno != ENOTSUP && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) return errno;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);   /* a file system without links */
    if (fd < 0) return errno;
    close(fd);
    return rename(part, path) ? errno : 0;
}

abut_status abut_out_not_renamed(const char *part, const char *path, int why, abut_err *err)
{
    if (why == EEXIST)
        return abut_fail(err, ABUT_E_IO, "%s: has appeared during the run and stays, as --no-clobber says; the output is %s",
                         path, part);
    return abut_fail(err, ABUT_E_IO, "%s: %s", path, strerror(why));
}

abut_status abut_out_open(abut_out_file *o, const char *path, int keep, abut_err *err)
{
    const int direct = abut_out_direct(path);
    const size_t n = strlen(path);
    *o = (abut_out_file){ .path = malloc(n + 1), .part = direct ? NULL : malloc(n + sizeof ".part"),
                           .keep = keep };
    if (!o->path || (!direct && !o->part)) {
        abut_out_drop(o);
        return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for the name", path);
    }
    memcpy(o->path, path, n + 1);
    if (o->part) snprintf(o->part, n + sizeof ".part", "%s.part", path);
    o->f = o->part ? open_part(o->part, err) : fopen(o->path, "wb");
    if (!o->f) {
        if (!o->part) abut_fail(err, ABUT_E_IO, "%s: %s", path, strerror(errno));
        free(o->part);
        o->part = NULL;
        abut_out_drop(o);
        return ABUT_E_IO;
    }
    return ABUT_OK;
}

abut_status abut_out_open_numbered(abut_out_file *o, const char *dir, const char *stem, int number, const char *suffix,
                                   int keep, abut_err *err)
{
    const size_t room = strlen(dir) + strlen(stem) + strlen(suffix) + 16;
    char *path = malloc(room);
    *o = (abut_out_file){ 0 };
    if (!path) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for a name", dir);
    snprintf(path, room, "%s/%s_%04d%s", dir, stem, number, suffix);
    const abut_status rc = abut_out_open(o, path, keep, err);
    free(path);
    return rc;
}

void abut_out_lend(abut_out_file *o, FILE *f)
{
    *o = (abut_out_file){ .f = f, .borrowed = 1 };
}

enum { PATH_SIZE = 4096 };  /* of Linux */

/* A file system may have nothing to wait for. */
static int sync_failed(int fd) { return fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS; }

abut_status abut_out_sync(FILE *f, const char *path, abut_err *err)
{
    return sync_failed(fileno(f)) ? abut_fail(err, ABUT_E_IO, "%s: %s", path, strerror(errno)) : ABUT_OK;
}

abut_status abut_out_sync_folder(const char *path, abut_err *err)
{
    const char *slash = strrchr(path, '/');
    const size_t n = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char folder[PATH_SIZE];     /* no memory is asked for: the file is there under its name already */
    if (n >= sizeof folder) return abut_fail(err, ABUT_E_IO, "%s: %s", path, strerror(ENAMETOOLONG));
    memcpy(folder, slash ? path : ".", n);
    folder[n] = 0;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);    /* a folder that may not be read cannot be waited for */
    if (fd >= 0 && sync_failed(fd)) abut_fail(err, ABUT_E_IO, "%s: %s", folder, strerror(errno));
    if (fd >= 0) close(fd);
    return err->code;
}

abut_status abut_out_close(abut_out_file *o, abut_err *err)
{
    if (!o->f) return err->code;
    const char *name = o->path ? o->path : "output";
    errno = 0;
    const int bad = ferror(o->f) | (fflush(o->f) != 0);
    int why = errno;
    if (o->borrowed) {
        o->f = NULL;
        if (bad && !err->code) abut_fail(err, ABUT_E_IO, "%s: %s", name, why ? strerror(why) : "a write failed");
        return err->code;
    }
    if (o->synced && o->part && !bad && !err->code && abut_out_sync(o->f, name, err)) return abut_out_drop(o), err->code;
    int closed = fclose(o->f);
    o->f = NULL;
    if (!why) why = errno;
    if (!bad && !closed && !err->code && o->part) {
        closed = why = abut_out_rename(o->part, o->path, o->keep);
        if (closed) abut_out_not_renamed(o->part, o->path, why, err);
        if (!closed || why == EEXIST) {
            free(o->part);
            o->part = NULL;
        }
        if (!closed && o->synced && abut_out_sync_folder(o->path, err)) return abut_out_drop(o), err->code;
    }
    if ((bad || closed) && !err->code) abut_fail(err, ABUT_E_IO, "%s: %s", name, why ? strerror(why) : "a write failed");
    abut_out_drop(o);
    return err->code;
}

void abut_out_drop(abut_out_file *o)
{
    if (o->f && !o->borrowed) fclose(o->f);
    if (o->part) unlink(o->part);
    free(o->path);
    free(o->part);
    *o = (abut_out_file){ 0 };
}

/* ---- texts ---- */

void abut_json_string(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') fprintf(f, "\\%c", c);
        else if (c < 0x20) fprintf(f, "\\u%04x", c);
        else fputc(c, f);
    }
    fputc('"', f);
}

void abut_json_number(FILE *f, double v)
{
    char text[ABUT_NUMBER_MAX];
    fputs(isfinite(v) ? abut_print_f64(text, v) : "null", f);
}

void abut_csv_text(FILE *f, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"') fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

void abut_csv_number(FILE *f, double v)
{
    char text[ABUT_NUMBER_MAX];
    if (!isnan(v)) fputs(abut_print_f64(text, v), f);
}

void abut_base64(FILE *f, const uint8_t *p, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4 * 256];
    size_t at = 0;
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
        line[at++] = digit[v >> 18];
        line[at++] = digit[v >> 12 & 63];
        line[at++] = left > 1 ? digit[v >> 6 & 63] : '=';
        line[at++] = left > 2 ? digit[v & 63] : '=';
        if (at == sizeof line) {
            fwrite(line, 1, at, f);
            at = 0;
        }
    }
    fwrite(line, 1, at, f);
}

/* 0 tells stdio that nothing was written: the stream is in error from then on. */
static ssize_t take(void *of, const char *from, size_t n)
{
    abut_text_file *t = of;
    if (n >= t->room - t->size) {
        const size_t want = 2 * t->room + n + 1;
        char *grown = n < SIZE_MAX / 4 && t->room < SIZE_MAX / 4 ? realloc(t->text, want) : NULL;
        if (!grown) {
            errno = ENOMEM;
            return 0;
        }
        t->text = grown;
        t->room = want;
    }
    memcpy(t->text + t->size, from, n);
    t->size += n;
    t->text[t->size] = 0;
    return (ssize_t)n;
}

abut_status abut_text_file_open(abut_text_file *t, abut_err *err)
{
    *t = (abut_text_file){ .text = calloc(1, 1), .room = 1 };
    t->f = t->text ? fopencookie(t, "w", (cookie_io_functions_t){ .write = take }) : NULL;
    if (t->f) return ABUT_OK;
    abut_text_file_clear(t);
    return abut_fail(err, ABUT_E_NOMEM, "no memory for a text");
}

abut_status abut_text_file_end(abut_text_file *t, const char *what, abut_err *err)
{
    const int lost = fflush(t->f) | ferror(t->f), closed = fclose(t->f);
    t->f = NULL;
    if (!lost && !closed) return ABUT_OK;
    abut_text_file_clear(t);
    return abut_fail(err, ABUT_E_NOMEM, "no memory for %s", what);
}

void abut_text_file_clear(abut_text_file *t)
{
    if (t->f) fclose(t->f);
    free(t->text);
    *t = (abut_text_file){ 0 };
}

/* ---- records on disk ---- */

abut_status abut_spool_open(abut_spool *s, size_t width, abut_err *err)
{
    *s = (abut_spool){ .width = width, .f = tmpfile() };
    if (!s->f) return abut_fail(err, ABUT_E_IO, "cannot make a temporary file: %s", strerror(errno));
    return ABUT_OK;
}

static abut_status go(abut_spool *s, size_t i, abut_err *err)
{
    if (!fseeko(s->f, (off_t)(i * s->width * sizeof(float)), SEEK_SET)) return ABUT_OK;
    return abut_fail(err, ABUT_E_IO, "temporary file: frame %zu: %s", i, strerror(errno));
}

abut_status abut_spool_add(abut_spool *s, const float *record, abut_err *err)
{
    const abut_status rc = go(s, s->n, err);
    if (rc) return rc;
    if (fwrite(record, sizeof *record, s->width, s->f) != s->width || fflush(s->f))
        return abut_fail(err, ABUT_E_IO, "temporary file: frame %zu: %s", s->n, strerror(errno));
    s->n++;
    return ABUT_OK;
}

abut_status abut_spool_get(abut_spool *s, size_t i, float *record, abut_err *err)
{
    const abut_status rc = go(s, i, err);
    if (rc) return rc;
    if (fread(record, sizeof *record, s->width, s->f) != s->width)
        return abut_fail(err, ABUT_E_IO, "temporary file: frame %zu cannot be read back", i);
    return ABUT_OK;
}

void abut_spool_clear(abut_spool *s)
{
    if (s->f) fclose(s->f);
    *s = (abut_spool){ 0 };
}
