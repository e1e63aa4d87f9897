#define _XOPEN_SOURCE 700   /* realpath */
/* The output of a program: FILE.part and its name, outputs that are there before the run, unfinished streams. */
#include "tools/cli/cli.h"

#include "base/arena.h"
#include "base/words.h"
#include "formats/result/out_file.h"
#include "formats/stream/state_wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

abut_status abut_cli_write_error(const char *what, int number, abut_err *err)
{
    return abut_fail(err, ABUT_E_IO, "%s: %s", what, number == EPIPE ? "closed by the reader" :
                     number == EBADF ? "closed, or not open for writing" : strerror(number));
}

/* ---- outputs that are there before the run: refused with --no-clobber, else named if they were replaced ---- */

struct abut_existing_file {
    const char *folder;         /* named by the option; NULL: path */
    char *path;
    long long frames;           /* of a stream; -1: it is none */
    struct stat st;
};

static int is_output(const abut_opt *o)
{
    return o->kind == ABUT_OPT_OUTPUT || o->kind == ABUT_OPT_OUTPUT_TEXT || o->kind == ABUT_OPT_OUTPUT_AFTER ||
           o->kind == ABUT_OPT_FOLDER;
}

int abut_output_may_replace(const abut_opt *own)
{
    while (own && own->name && !is_output(own)) own++;
    return own && own->name;
}

/* Number of frames by the head and the end mark of a stream; -1: the file is no complete stream. */
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

static abut_status add_existing(abut_existing *e, const char *folder, const char *name, const struct stat *st, abut_err *err)
{
    const size_t room = (folder ? strlen(folder) : 0) + strlen(name) + 2;
    if (!ABUT_GROW(e->file, e->n + 1, e->room))
        return abut_fail(err, ABUT_E_NOMEM, "no memory for the files in %s", folder ? folder : name);
    char *path = malloc(room);
    if (!path) return abut_fail(err, ABUT_E_NOMEM, "no memory for the files in %s", folder ? folder : name);
    snprintf(path, room, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    e->file[e->n++] = (struct abut_existing_file){ folder, path, folder ? -1 : frames_of(path, st->st_size), *st };
    return ABUT_OK;
}

static abut_status add_files_of(abut_existing *e, const char *folder, abut_err *err)
{
    DIR *d = opendir(folder);       /* an unreadable folder may be writable; its files are then unknown */
    abut_status rc = ABUT_OK;
    for (struct dirent *at; d && !rc && (at = readdir(d));) {
        struct stat st;
        if (!fstatat(dirfd(d), at->d_name, &st, 0) && S_ISREG(st.st_mode)) rc = add_existing(e, folder, at->d_name, &st, err);
    }
    if (d) closedir(d);
    return rc;
}

/* "101 frames, 2026-11-29 10:00" */
static const char *describe_existing(const struct abut_existing_file *f, char text[64])
{
    struct tm tm;
    const int n = f->frames < 0 ? 0 : snprintf(text, 64, "%lld frame%s, ", f->frames, abut_s(f->frames));
    if (!localtime_r(&f->st.st_mtime, &tm) || !strftime(text + n, 64 - (size_t)n, "%Y-%m-%d %H:%M", &tm)) strcpy(text, "of old");
    return text;
}

static abut_status find_outputs(abut_existing *e, const char *option, const char *path, int is_folder, int refuse, abut_err *err)
{
    struct stat st;
    char text[64];
    const int before = e->n;
    if (!path || !strcmp(path, "-") || stat(path, &st) || (!is_folder && abut_out_direct(path))) return ABUT_OK;
    const abut_status rc = !is_folder ? add_existing(e, NULL, path, &st, err) :
                           S_ISDIR(st.st_mode) ? add_files_of(e, path, err) : ABUT_OK;
    if (rc || !refuse || e->n == before) return rc;
    if (is_folder)
        return abut_fail(err, ABUT_E_IO, "--%s %s: holds %d file%s; with --no-clobber expected a new or an empty folder", option,
                         path, e->n - before, abut_s(e->n - before));
    return abut_fail(err, ABUT_E_IO, "--%s %s: is there (%s); with --no-clobber expected a new name", option, path,
                     describe_existing(&e->file[before], text));
}

abut_status abut_output_find_existing(abut_cli *cli, const abut_opt *own, abut_err *err)
{
    abut_existing *e = &cli->existing;
    const int refuse = cli->no_clobber;
    abut_status rc = find_outputs(e, "output", cli->out_path, 0, refuse, err);
    for (const abut_opt *o = own; o && o->name && !rc; o++)
        if (is_output(o)) rc = find_outputs(e, o->name, *(const char **)o->value, o->kind == ABUT_OPT_FOLDER, refuse, err);
    return rc;
}

static int is_replaced(const struct abut_existing_file *f)
{
    struct stat now;
    return !stat(f->path, &now) && (now.st_ino != f->st.st_ino || now.st_dev != f->st.st_dev || now.st_size != f->st.st_size ||
                                    now.st_mtim.tv_sec != f->st.st_mtim.tv_sec || now.st_mtim.tv_nsec != f->st.st_mtim.tv_nsec);
}

void abut_output_say_replaced(abut_cli *cli)
{
    const abut_existing *e = &cli->existing;
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
        if (n == 1) at += snprintf(line + at, (size_t)(ROOM - at), "%s (%s)", newest->path, describe_existing(newest, text));
        else at += snprintf(line + at, (size_t)(ROOM - at), "%d files in %s (%s)", n, f->folder, describe_existing(newest, text));
        if (at > ROOM - 1) at = ROOM - 1;
    }
    if (*line) abut_cli_say(cli, "replaced %s", line);
}

void abut_output_clear(abut_cli *cli)
{
    abut_existing *e = &cli->existing;
    for (int i = 0; i < e->n; i++) free(e->file[i].path);
    ABUT_FREE(e->file, cli->part_path, cli->final_path);
    *e = (abut_existing){ 0 };
    cli->part_path = cli->final_path = NULL;
}

/* ---- a stream that was not finished: the command that saves its frames ---- */

enum { COMMAND_MAX = 3072 /* longer names are cut */ };

/* Appends a name as one word of a shell. */
static void quote(char *text, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/=:,@%";
    size_t n = strlen(text);
    const int quotes = strspn(name, plain) < strlen(name) || !*name;
    if (quotes) text[n++] = '\'';
    for (; *name && n < COMMAND_MAX - 8; name++) {
        if (*name == '\'') {
            memcpy(text + n, "'\\''", 4);
            n += 4;
        } else {
            text[n++] = *name;
        }
    }
    if (quotes) text[n++] = '\'';
    text[n] = 0;
}

/* Writes the command of `salvage` beside this program; of installed programs, `abut` runs it. */
static void name_program(const abut_cli *cli, char *text)
{
    static const char installed[] = "libexec/abut/";
    char path[COMMAND_MAX];
    const int n = (int)(cli->tool - cli->called), end = (int)sizeof installed - 1;
    if (n >= end && !strncmp(cli->tool - end, installed, (size_t)end)) {
        strcpy(text, "abut salvage");
        return;
    }
    snprintf(path, sizeof path, "%.*ssalvage", n, cli->called);
    quote(text, path);
}

/* "bin/salvage cut.part -o cut" for a program that was called as bin/step, the names quoted as a shell wants them; NULL for a
 * name that only the caller knows: a word in capitals takes its place. */
static void unfinished_command(const abut_cli *cli, const char *cut, const char *whole, char text[COMMAND_MAX])
{
    enum { EACH = COMMAND_MAX / 3 - 8 };
    char words[3][COMMAND_MAX] = { "", "", "" };
    name_program(cli, words[0]);
    quote(words[1], cut ? cut : "CUT");
    quote(words[2], whole ? whole : "WHOLE");
    snprintf(text, COMMAND_MAX, "%.*s %.*s -o %.*s", EACH, words[0], EACH, words[1], EACH, words[2]);
}

static int is_file(int fd)
{
    struct stat st;
    return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

void abut_unfinished_advise(const abut_cli *cli, abut_err *err)
{
    char command[COMMAND_MAX];
    const size_t used = strlen(err->msg);
    if (!cli->in || !is_file(fileno(cli->in))) return;
    unfinished_command(cli, cli->in == stdin ? NULL : cli->in_name, NULL, command);
    snprintf(err->msg + used, sizeof err->msg - used, "; its whole frames: %s", command);
}

/* Says what remains of an unfinished output of size bytes: in FILE.part, or in a file that is standard output. */
static void unfinished_say(const abut_cli *cli, long long size)
{
    char command[COMMAND_MAX];
    const int frames = cli->frames;
    if (!cli->part_path && !(frames && size > 0)) return;
    fprintf(stderr, "%s: %s keeps %lld byte%s of the unfinished output", cli->tool,
            cli->part_path ? cli->part_path : "the file on standard output", size, abut_s(size));
    if (frames) {
        unfinished_command(cli, cli->part_path, cli->part_path ? cli->final_path : NULL, command);
        fprintf(stderr, ", whole frames: %d; a stream of them: %s", frames, command);
    }
    putc('\n', stderr);
}

/* ---- signals ---- */

static const struct ending {
    int number;
    const char *name;
} endings[] = { { SIGINT, "interrupted (SIGINT)" },
                { SIGTERM, "terminated (SIGTERM)" },
                { SIGHUP, "the terminal is gone (SIGHUP)" },
                { SIGXCPU, "the limit of processor time is reached (SIGXCPU)" } };
enum { N_ENDING = sizeof endings / sizeof *endings };

/* Data that a handler may read: made before it can run. */
static struct watch {
    const abut_cli *volatile cli;
    int fd;
    atomic_flag said;   /* another thread may get a second signal */
    char head[64], keeps[2 * COMMAND_MAX];
} watch = { .said = ATOMIC_FLAG_INIT };

static void put(const char *text)
{
    const ssize_t n = write(2, text, strlen(text));
    (void)n;
}

static void say_and_end(int number)
{
    const abut_cli *cli = watch.cli;
    const char *name = "";
    if (atomic_flag_test_and_set(&watch.said)) return;
    for (int i = 0; i < N_ENDING; i++)
        if (endings[i].number == number) name = endings[i].name;
    if (cli) {
        struct stat st;
        const int sized = !fstat(watch.fd, &st);
        if (cli->progress_on) put("\r\033[K");
        put(watch.head);
        put(name);
        if (cli->frames && sized && st.st_size > 0) put(watch.keeps);
        else if (cli->part_path) unlink(cli->part_path);
        put("\n");
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* From here on SIGINT, SIGTERM, SIGHUP and SIGXCPU, unless ignored, say what cli->out keeps before they end the program as usual;
 * a FILE.part without a whole frame is removed.  One cli at a time; it must not move in memory. */
static void watch_unfinished(abut_cli *cli)
{
    char command[COMMAND_MAX];
    const struct sigaction act = { .sa_handler = say_and_end };
    struct sigaction old;
    watch.fd = fileno(cli->out);
    if (!cli->part_path && !is_file(watch.fd)) return;
    unfinished_command(cli, cli->part_path, cli->part_path ? cli->final_path : NULL, command);
    snprintf(watch.head, sizeof watch.head, "%s: ", cli->tool);
    snprintf(watch.keeps, sizeof watch.keeps, "; %s keeps the whole frames that were written; a stream of them: %s",
             cli->part_path ? cli->part_path : "the file on standard output", command);
    watch.cli = cli;
    for (int i = 0; i < N_ENDING; i++)
        if (!sigaction(endings[i].number, NULL, &old) && old.sa_handler == SIG_DFL) sigaction(endings[i].number, &act, NULL);
}

/* Ends this watch, when the output is closed. */
static void unwatch_unfinished(void) { watch.cli = NULL; }

/* ---- output ---- */

/* Contents of FILE.part left by an earlier run. */
typedef enum leftover { NOTHING, A_STREAM, OUR_INPUT } leftover;

static leftover look_at_part(const abut_cli *cli, int fd)
{
    unsigned char b[4];
    struct stat part, in;
    if (fstat(fd, &part)) return NOTHING;
    if (cli->in && !fstat(fileno(cli->in), &in) && in.st_dev == part.st_dev && in.st_ino == part.st_ino) return OUR_INPUT;
    return pread(fd, b, sizeof b, 0) == sizeof b && !memcmp(b, "\x89" "ABT", 4) ? A_STREAM : NOTHING;
}

/* Renames FILE.part of an unfinished run to FILE.part.old.  The program before this one in the pipeline may be about to read
 * it, and has opened it when its first byte is here: so waits for that. */
static abut_status keep_leftover(abut_cli *cli, abut_err *err)
{
    char old[4096];
    const int first = cli->in ? getc(cli->in) : 0;
    if (cli->in && first != EOF) ungetc(first, cli->in);
    if (first == EOF)
        return abut_fail(err, ABUT_E_FORMAT, "%s is not an abut state stream: it is empty; the stage that should write it failed "
                         "(%s is not touched)", cli->in_name, cli->part_path);
    if ((size_t)snprintf(old, sizeof old, "%s.old", cli->part_path) >= sizeof old)
        return abut_cli_write_error(cli->part_path, ENAMETOOLONG, err);
    if (rename(cli->part_path, old)) return abut_cli_write_error(old, errno, err);
    abut_cli_say(cli, "%s of a run that was not finished is kept as %s", cli->part_path, old);
    return ABUT_OK;
}

/* Opens FILE.part, or FILE.part.part when FILE.part is the input; refuses when another process is writing it. */
static abut_status open_part(abut_cli *cli, int *fd, abut_err *err)
{
    /* through a link to the file it names, so that the link survives the rename */
    cli->final_path = realpath(cli->out_path, NULL);
    if (!cli->final_path) cli->final_path = strdup(cli->out_path);
    const size_t room = cli->final_path ? strlen(cli->final_path) + sizeof ".part.part" : 0;
    cli->part_path = room ? malloc(room) : NULL;
    if (!cli->part_path) return abut_fail(err, ABUT_E_NOMEM, "no memory for the name of the output");
    snprintf(cli->part_path, room, "%s.part", cli->final_path);
    int old;
    abut_status rc = abut_out_left(cli->part_path, &old, err);
    const leftover left = old >= 0 ? look_at_part(cli, old) : NOTHING;
    if (left == OUR_INPUT) strcat(cli->part_path, ".part");
    if (left == A_STREAM && cli->is_stream) rc = keep_leftover(cli, err);
    if (old >= 0) close(old);
    return rc ? rc : abut_out_new(cli->part_path, fd, err);
}

abut_status abut_cli_refuse_terminal(abut_err *err)
{
    return abut_fail(err, ABUT_E_ARG, "the output is a binary stream and a terminal would show it: use -o FILE, or a pipe");
}

FILE *abut_cli_create(const abut_cli *cli, const char *path, abut_err *err)
{
    FILE *f = fopen(path, cli->no_clobber && !abut_out_direct(path) ? "wx" : "w");
    if (!f && errno == EEXIST)
        abut_fail(err, ABUT_E_IO, "%s: has appeared since the start and stays, as --no-clobber says", path);
    else if (!f) abut_cli_write_error(path, errno, err);
    return f;
}

abut_status abut_output_open(abut_cli *cli, int streams, abut_err *err)
{
    int fd = -1;
    if (cli->out_path && !strcmp(cli->out_path, "-")) cli->out_path = NULL;
    if (!cli->out_path) {
        if ((streams & ABUT_CLI_OUT_MAY) && isatty(1)) return ABUT_OK;
        fd = dup(1);
        if (fd < 0) return abut_cli_write_error("standard output", errno, err);
    } else if (abut_out_direct(cli->out_path)) {
        fd = open(cli->out_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return abut_cli_write_error(cli->out_path, errno, err);
    } else {
        const abut_status rc = open_part(cli, &fd, err);
        if (rc) return rc;
    }
    if (!(streams & ABUT_CLI_OUT_TEXT) && isatty(fd)) {
        close(fd);
        return abut_cli_refuse_terminal(err);
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    cli->out = fdopen(fd, "wb");
    if (!cli->out) {
        close(fd);
        return abut_fail(err, ABUT_E_IO, "%s: closed, or not open for writing",
                         cli->out_path ? cli->out_path : "standard output");
    }
    if (cli->is_stream) watch_unfinished(cli);
    return ABUT_OK;
}

/* Renames FILE.part, flushed and closed, of `size` bytes; after an error keeps it if it is of use, else removes it. */
static void settle_part(abut_cli *cli, long long size, abut_err *err)
{
    const int of_use = size != 0 && (cli->frames || !cli->is_stream) && err->code != ABUT_E_ARG;
    if (!err->code) {
        const int why = abut_out_rename(cli->part_path, cli->final_path, cli->no_clobber);
        if (why) abut_out_not_renamed(cli->part_path, cli->out_path, why, err);
        else if (!cli->no_sync && abut_out_sync_folder(cli->final_path, err)) return;
    } else if (!of_use) {
        unlink(cli->part_path);
    } else {
        unfinished_say(cli, size);
    }
}

int abut_output_reader_is_gone(const abut_cli *cli)
{
    if (cli->out_path || !cli->out || !ferror(cli->out)) return 0;
    struct pollfd p = { .fd = fileno(cli->out), .events = POLLOUT };
    return poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP));
}

void abut_output_close(abut_cli *cli, int *is_gone, abut_err *err)
{
    const char *what = cli->out_path ? cli->out_path : "output";
    errno = 0;
    const int bad_before = ferror(cli->out), bad_flush = fflush(cli->out), flush_errno = errno;
    *is_gone |= !err->code && abut_output_reader_is_gone(cli);
    struct stat st = { 0 };
    const int sized = !fstat(fileno(cli->out), &st);
    abut_err late = { 0 };
    const int bad_sync = cli->part_path && !cli->no_sync && !err->code && !bad_flush && !bad_before &&
                         abut_out_sync(cli->out, what, &late);
    const int bad_close = fclose(cli->out);
    cli->out = NULL;
    if (!err->code) {
        if (bad_flush || (bad_close && !bad_sync)) abut_cli_write_error(what, bad_flush ? flush_errno : errno, err);
        else if (bad_before) abut_fail(err, ABUT_E_IO, "%s: a write failed", what);
        else if (bad_sync) *err = late;
    }
    unwatch_unfinished();
    abut_cli_progress_clear(cli);
    if (cli->part_path) settle_part(cli, sized ? (long long)st.st_size : -1, err);
    else if (err->code && cli->is_stream && S_ISREG(st.st_mode)) unfinished_say(cli, (long long)st.st_size);
}

void abut_cli_drop_output(abut_cli *cli)
{
    if (!cli->out) return;
    unwatch_unfinished();
    fclose(cli->out);
    cli->out = NULL;
}

void abut_cli_keep_nothing(abut_cli *cli)
{
    struct stat in;
    if (cli->in && !fstat(fileno(cli->in), &in) && S_ISREG(in.st_mode)) cli->frames = 0;
}

int abut_cli_output_is_device(const abut_cli *cli)
{
    struct stat s;
    return cli->out && !fstat(fileno(cli->out), &s) && S_ISCHR(s.st_mode);
}
