#include "formats/result/out_file.h"

#include <errno.h>
#include <fcntl.h>
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

abut_status abut_out_open(abut_out_file *o, const char *path, abut_err *err)
{
    const int direct = abut_out_direct(path);
    const size_t n = strlen(path);
    *o = (abut_out_file){ .path = malloc(n + 1), .part = direct ? NULL : malloc(n + sizeof ".part") };
    if (!o->path || (!direct && !o->part)) {
        abut_out_drop(o);
        return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for the name", path);
    }
    memcpy(o->path, path, n + 1);
    if (o->part) snprintf(o->part, n + sizeof ".part", "%s.part", path);
    o->f = fopen(o->part ? o->part : o->path, "wb");
    if (!o->f) {
        abut_fail(err, ABUT_E_IO, "%s: %s", path, strerror(errno));
        free(o->part);
        o->part = NULL;
        abut_out_drop(o);
        return ABUT_E_IO;
    }
    return ABUT_OK;
}

abut_status abut_out_open_numbered(abut_out_file *o, const char *dir, const char *stem, int number, const char *suffix,
                                   abut_err *err)
{
    const size_t room = strlen(dir) + strlen(stem) + strlen(suffix) + 16;
    char *path = malloc(room);
    *o = (abut_out_file){ 0 };
    if (!path) return abut_fail(err, ABUT_E_NOMEM, "%s: no memory for a name", dir);
    snprintf(path, room, "%s/%s_%04d%s", dir, stem, number, suffix);
    const abut_status rc = abut_out_open(o, path, err);
    free(path);
    return rc;
}

void abut_out_lend(abut_out_file *o, FILE *f)
{
    *o = (abut_out_file){ .f = f, .borrowed = 1 };
}

enum { PATH_SIZE = 4096 };  /* of Linux */

/* A file system may have nothing to wait for. */
static int sync_failed(int fd)
{
    return fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS;
}

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
        closed = rename(o->part, o->path);
        why = errno;
        if (!closed) {
            free(o->part);
            o->part = NULL;
            if (o->synced && abut_out_sync_folder(o->path, err)) return abut_out_drop(o), err->code;
        }
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
