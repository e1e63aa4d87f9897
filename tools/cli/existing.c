#include "tools/cli/existing.h"

#include "base/words.h"
#include "formats/result/out_file.h"
#include "formats/stream/bytes.h"
#include "formats/stream/state_wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct abut_existing_file {
    const char *folder;         /* what the option names; NULL: path */
    char *path;
    long long frames;           /* of a stream; -1: it is none */
    struct stat st;
};

static int is_output(const abut_opt *o)
{
    return o->kind == ABUT_OPT_OUTPUT || o->kind == ABUT_OPT_OUTPUT_TEXT || o->kind == ABUT_OPT_OUTPUT_AFTER ||
           o->kind == ABUT_OPT_FOLDER;
}

int abut_existing_may(const abut_opt *own)
{
    while (own && own->name && !is_output(own)) own++;
    return own && own->name;
}

/* From the head and the end mark of a stream; -1: the file is no whole stream. */
static long long frames_of(const char *path, off_t size)
{
    enum { END = ABUT_SECTION_HEAD_BYTES + 32 + 4 };    /* ENDS: four counts, that of frames is the third */
    unsigned char head[ABUT_HEAD_BYTES], end[END];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int read = fd >= 0 && size >= END && pread(fd, head, sizeof head, 0) == sizeof head &&
                     pread(fd, end, sizeof end, size - END) == sizeof end;
    if (fd >= 0) close(fd);
    if (!read || !abut_is_state_stream(head, sizeof head) || memcmp(end, "ENDS", 4)) return -1;
    return (long long)abut_get_le(end + ABUT_SECTION_HEAD_BYTES + 16, 8);
}

static abut_status add(abut_existing *e, const char *folder, const char *name, const struct stat *st, abut_err *err)
{
    const size_t room = (folder ? strlen(folder) : 0) + strlen(name) + 2;
    if (e->n == e->room) {
        struct abut_existing_file *grown = realloc(e->file, (2 * (size_t)e->room + 8) * sizeof *grown);
        if (!grown) return abut_fail(err, ABUT_E_NOMEM, "no memory for the files in %s", folder ? folder : name);
        e->file = grown;
        e->room = 2 * e->room + 8;
    }
    char *path = malloc(room);
    if (!path) return abut_fail(err, ABUT_E_NOMEM, "no memory for the files in %s", folder ? folder : name);
    snprintf(path, room, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    e->file[e->n++] = (struct abut_existing_file){ folder, path, folder ? -1 : frames_of(path, st->st_size), *st };
    return ABUT_OK;
}

static abut_status add_folder(abut_existing *e, const char *folder, abut_err *err)
{
    DIR *d = opendir(folder);       /* one that cannot be read may still be written: then nothing is known of it */
    abut_status rc = ABUT_OK;
    for (struct dirent *at; d && !rc && (at = readdir(d));) {
        struct stat st;
        if (!fstatat(dirfd(d), at->d_name, &st, 0) && S_ISREG(st.st_mode)) rc = add(e, folder, at->d_name, &st, err);
    }
    if (d) closedir(d);
    return rc;
}

/* "101 frames, 2026-11-29 10:00" */
static const char *describe(const struct abut_existing_file *f, char text[64])
{
    struct tm tm;
    const int n = f->frames < 0 ? 0 : snprintf(text, 64, "%lld frame%s, ", f->frames, abut_s(f->frames));
    if (!localtime_r(&f->st.st_mtime, &tm) || !strftime(text + n, 64 - (size_t)n, "%Y-%m-%d %H:%M", &tm)) strcpy(text, "of old");
    return text;
}

static abut_status find(abut_existing *e, const char *option, const char *path, int is_folder, int refuse, abut_err *err)
{
    struct stat st;
    char text[64];
    const int before = e->n;
    if (!path || !strcmp(path, "-") || stat(path, &st) || (!is_folder && abut_out_direct(path))) return ABUT_OK;
    const abut_status rc = !is_folder ? add(e, NULL, path, &st, err) : S_ISDIR(st.st_mode) ? add_folder(e, path, err) : ABUT_OK;
    if (rc || !refuse || e->n == before) return rc;
    if (is_folder)
        return abut_fail(err, ABUT_E_IO, "--%s %s: holds %d file%s; with --no-clobber expected a new or an empty folder", option,
                         path, e->n - before, abut_s(e->n - before));
    return abut_fail(err, ABUT_E_IO, "--%s %s: is there (%s); with --no-clobber expected a new name", option, path,
                     describe(&e->file[before], text));
}

abut_status abut_existing_find(abut_existing *e, const abut_cli *cli, const abut_opt *own, int refuse, abut_err *err)
{
    abut_status rc = find(e, "output", cli->out_path, 0, refuse, err);
    for (const abut_opt *o = own; o && o->name && !rc; o++)
        if (is_output(o))
            rc = find(e, o->name, *(const char **)o->value, o->kind == ABUT_OPT_FOLDER, refuse, err);
    return rc;
}

static int is_replaced(const struct abut_existing_file *f)
{
    struct stat now;
    return !stat(f->path, &now) && (now.st_ino != f->st.st_ino || now.st_dev != f->st.st_dev || now.st_size != f->st.st_size ||
                                    now.st_mtim.tv_sec != f->st.st_mtim.tv_sec || now.st_mtim.tv_nsec != f->st.st_mtim.tv_nsec);
}

void abut_existing_say(abut_cli *cli, const abut_existing *e)
{
    enum { ROOM = 1024 };
    char line[ROOM] = "", text[64];
    int at = 0;
    for (int i = 0, next; i < e->n; i = next) {
        const struct abut_existing_file *f = &e->file[i], *newest = NULL;
        int n = 0;
        for (next = i; next < e->n && (next == i || (f->folder && e->file[next].folder == f->folder)); next++)
            if (is_replaced(&e->file[next])) {
                if (!newest || e->file[next].st.st_mtime > newest->st.st_mtime) newest = &e->file[next];
                n++;
            }
        if (!n || at > ROOM - 2) continue;
        at += snprintf(line + at, (size_t)(ROOM - at), at ? ", " : "");
        if (n == 1) at += snprintf(line + at, (size_t)(ROOM - at), "%s (%s)", newest->path, describe(newest, text));
        else at += snprintf(line + at, (size_t)(ROOM - at), "%d files in %s (%s)", n, f->folder, describe(newest, text));
        if (at > ROOM - 1) at = ROOM - 1;
    }
    if (*line) abut_cli_say(cli, "replaced %s", line);
}

void abut_existing_clear(abut_existing *e)
{
    for (int i = 0; i < e->n; i++) free(e->file[i].path);
    free(e->file);
    *e = (abut_existing){ 0 };
}
