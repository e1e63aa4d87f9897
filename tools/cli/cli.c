#define _XOPEN_SOURCE 700   /* realpath */

#include "tools/cli/cli.h"

#include "base/par.h"
#include "base/timer.h"
#include "base/words.h"
#include "formats/result/out_file.h"
#include "formats/stream/state_wire.h"
#include "tools/cli/manual.h"
#include "tools/cli/options.h"
#include "tools/cli/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NO = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_GAVE_UP = 4, EXIT_SYSTEM = 5, THREADS_MOST = 4096 };

static int exit_code(abut_status s)
{
    switch (s) {
    case ABUT_OK: return 0;
    case ABUT_E_ARG: return EXIT_USAGE;
    case ABUT_E_NOMEM: case ABUT_E_IO: return EXIT_SYSTEM;
    case ABUT_E_FORMAT: case ABUT_E_GEOM: return EXIT_INPUT;
    case ABUT_E_NUMERIC: return EXIT_GAVE_UP;
    }
    return EXIT_SYSTEM;
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

/* Whether the program has an option that names an output. */
static int may_replace(const abut_opt *own)
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

/* Lists the files that the outputs of the command line may replace: -o, those of the program, all files in its folders.  Devices
 * and fifos are none.  refuse: fails with ABUT_E_IO at the first of them. */
static abut_status find_existing(abut_existing *e, const abut_cli *cli, const abut_opt *own, int refuse, abut_err *err)
{
    abut_status rc = find_outputs(e, "output", cli->out_path, 0, refuse, err);
    for (const abut_opt *o = own; o && o->name && !rc; o++)
        if (is_output(o))
            rc = find_outputs(e, o->name, *(const char **)o->value, o->kind == ABUT_OPT_FOLDER, refuse, err);
    return rc;
}

static int is_replaced(const struct abut_existing_file *f)
{
    struct stat now;
    return !stat(f->path, &now) && (now.st_ino != f->st.st_ino || now.st_dev != f->st.st_dev || now.st_size != f->st.st_size ||
                                    now.st_mtim.tv_sec != f->st.st_mtim.tv_sec || now.st_mtim.tv_nsec != f->st.st_mtim.tv_nsec);
}

/* Says in a line which of them are other files now. */
static void say_replaced(abut_cli *cli, const abut_existing *e)
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
        if (n == 1) at += snprintf(line + at, (size_t)(ROOM - at), "%s (%s)", newest->path, describe_existing(newest, text));
        else at += snprintf(line + at, (size_t)(ROOM - at), "%d files in %s (%s)", n, f->folder, describe_existing(newest, text));
        if (at > ROOM - 1) at = ROOM - 1;
    }
    if (*line) abut_cli_say(cli, "replaced %s", line);
}

static void clear_existing(abut_existing *e)
{
    for (int i = 0; i < e->n; i++) free(e->file[i].path);
    free(e->file);
    *e = (abut_existing){ 0 };
}

/* ---- how a program was called ---- */

const char *abut_cli_before(const abut_cli *cli)
{
    static const char installed[] = "libexec/abut/";
    const int n = (int)(cli->tool - cli->called), end = (int)sizeof installed - 1;
    return n >= end && !strncmp(cli->tool - end, installed, (size_t)end) ? "abut " : "";
}

static void complain(abut_cli *cli, const abut_err *err)
{
    abut_cli_progress_clear(cli);
    fprintf(stderr, "%s: %s\n", cli->tool, err->msg);
    if (err->code != ABUT_E_ARG) return;
    fprintf(stderr, "%s: '%s%s --help' lists the options\n", cli->tool, abut_cli_before(cli), cli->tool);
}

/* The program's name until it ends by itself. */
static const char *running;

/* A library that finds no memory or no thread may end the program with a code that means something else here. */
static void ended_by_library(void)
{
    if (!running) return;
    dprintf(2, "%s: a library ended the program; its reason, if it gave one, is above\n", running);
    _exit(EXIT_SYSTEM);
}

static _Noreturn void stop(abut_cli *cli, const abut_err *err)
{
    complain(cli, err);
    running = NULL;
    exit(exit_code(err->code));
}

static abut_status write_error(const char *what, int number, abut_err *err)
{
    return abut_fail(err, ABUT_E_IO, "%s: %s", what, number == EPIPE ? "closed by the reader" :
                     number == EBADF ? "closed, or not open for writing" : strerror(number));
}

/* Threads that wait for each other spin for this long, some tenths of a millisecond, before they sleep: a thread that sleeps is
 * late for the next parallel region, and one that spins keeps other programs from its core.  libgomp reads the count before main,
 * so the program starts itself once more with it.  What the environment says wins. */
static void set_spin_count(void)
{
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY") || setenv("GOMP_SPINCOUNT", "5000", 1)) return;
    static char words[1 << 16];
    char *argv[1 << 10] = { NULL };
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, words, sizeof words - 1);
    if (fd >= 0) close(fd);
    if (n <= 0 || n == (ssize_t)sizeof words - 1) return;   /* slower, then, but right */
    int argc = 0;
    for (ssize_t i = 0; i < n && argc < (1 << 10) - 1; i += (ssize_t)strlen(words + i) + 1) argv[argc++] = words + i;
    if (argc < (1 << 10) - 1) execv("/proc/self/exe", argv);
}

/* ---- the three standard descriptors ---- */

/* A descriptor that the caller closed must not be taken by the next file opened; reading or writing it must fail. */
static void keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            const int got = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
            if (got >= 0 && got != fd) close(got);
        }
}

/* ---- input ---- */

static abut_status open_in(abut_cli *cli, abut_err *err)
{
    const char *path = cli->nargs > 0 && strcmp(cli->args[0], "-") ? cli->args[0] : NULL;
    cli->in_name = path ? path : "standard input";
    if (!path) {
        if (isatty(0))
            return abut_fail(err, ABUT_E_ARG, "standard input is a terminal: name a file, or pipe a stream in");
        cli->in = stdin;
        return ABUT_OK;
    }
    struct stat st;
    cli->in = fopen(path, "rb");
    if (!cli->in) return abut_fail(err, abut_open_status(errno), "%s: %s", path, strerror(errno));
    if (!fstat(fileno(cli->in), &st) && S_ISDIR(st.st_mode))
        return abut_fail(err, ABUT_E_FORMAT, "%s: is a directory", path);
    return ABUT_OK;
}

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
                         "(%s is left as it is)", cli->in_name, cli->part_path);
    if ((size_t)snprintf(old, sizeof old, "%s.old", cli->part_path) >= sizeof old)
        return write_error(cli->part_path, ENAMETOOLONG, err);
    if (rename(cli->part_path, old)) return write_error(old, errno, err);
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
    else if (!f) write_error(path, errno, err);
    return f;
}

static abut_status open_out(abut_cli *cli, int streams, abut_err *err)
{
    int fd = -1;
    if (cli->out_path && !strcmp(cli->out_path, "-")) cli->out_path = NULL;
    if (!cli->out_path) {
        if ((streams & ABUT_CLI_OUT_MAY) && isatty(1)) return ABUT_OK;
        fd = dup(1);
        if (fd < 0) return write_error("standard output", errno, err);
    } else if (abut_out_direct(cli->out_path)) {
        fd = open(cli->out_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return write_error(cli->out_path, errno, err);
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
        abut_unfinished_say(cli, size);
    }
}

/* Whether writing failed because the reader of standard output has gone. */
static int reader_is_gone(const abut_cli *cli)
{
    if (cli->out_path || !cli->out || !ferror(cli->out)) return 0;
    struct pollfd p = { .fd = fileno(cli->out), .events = POLLOUT };
    return poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP));
}

abut_status abut_cli_said(const char *option, abut_err *err)
{
    return ferror(stderr) ? abut_fail(err, ABUT_E_IO, "%s: standard error: a write failed", option) : ABUT_OK;
}

/* Flushes and closes; a failure goes into err unless it already holds one.  *is_gone becomes 1 if the reader has caused the
 * failure. */
static void close_out(abut_cli *cli, int *is_gone, abut_err *err)
{
    const char *what = cli->out_path ? cli->out_path : "output";
    errno = 0;
    const int bad_before = ferror(cli->out), bad_flush = fflush(cli->out), flush_errno = errno;
    *is_gone |= !err->code && reader_is_gone(cli);
    struct stat st = { 0 };
    const int sized = !fstat(fileno(cli->out), &st);
    abut_err late = { 0 };
    const int bad_sync = cli->part_path && !cli->no_sync && !err->code && !bad_flush && !bad_before &&
                         abut_out_sync(cli->out, what, &late);
    const int bad_close = fclose(cli->out);
    cli->out = NULL;
    if (!err->code) {
        if (bad_flush || (bad_close && !bad_sync)) write_error(what, bad_flush ? flush_errno : errno, err);
        else if (bad_before) abut_fail(err, ABUT_E_IO, "%s: a write failed", what);
        else if (bad_sync) *err = late;
    }
    abut_unfinished_unwatch();
    abut_cli_progress_clear(cli);
    if (cli->part_path) settle_part(cli, sized ? (long long)st.st_size : -1, err);
    else if (err->code && cli->is_stream && S_ISREG(st.st_mode)) abut_unfinished_say(cli, (long long)st.st_size);
}

/* Ends without a message by SIGPIPE, as a filter that writes into a closed pipe. */
static void end_as_filter(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

/* ---- begin and end ---- */

/* A line of help that is a command and, after three spaces or more, what it does. */
static void put_installed(const char *s, int n)
{
    const char *gap = strstr(s + 4, "   ");
    const int command = gap && gap < s + n ? (int)(gap - s) : n, rest = command + (int)strspn(s + command, " ");
    fputs("    ", stdout);
    abut_manual_command(stdout, s + 4, command - 4);
    if (rest < n) printf("   # %.*s", n - rest, s + rest);
}

static void print_options(const abut_cli *cli, const abut_opt *opts, const abut_opt *common, int all)
{
    const char *before = abut_cli_before(cli);
    for (const char *s = cli->summary; *s;) {
        const int n = (int)strcspn(s, "\n");
        if (*before && !strncmp(s, "    ", 4)) put_installed(s, n);
        else printf("%.*s", n, s);
        s += n + (s[n] == '\n');
        putchar('\n');
    }
    printf("\nusage: %s%s [options] %s\n\n", before, cli->tool, cli->args_help);
    opts = abut_options_help(stdout, opts);
    abut_options_help(stdout, common);
    if (all && opts && opts->name) printf("\nMore options:\n\n"), abut_options_help(stdout, opts + 1);
    printf("\nExit codes: 0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 the solver gave up, 5 system.\n");
}

/* Fails  ABUT_E_ARG the topic is none of the program's */
static abut_status print_help(const abut_cli *cli, const abut_opt *opts, const abut_opt *common, const char *topic, abut_err *err)
{
    enum { MOST = 4 };
    const char *names[MOST + 1] = { "all" }, *text[MOST] = { NULL };
    int n = 1, at = 0;
    for (const abut_opt *o = opts; o && o->name && n < MOST; o++)
        if (o->kind == ABUT_OPT_TOPIC && o->help) text[n] = o->help, names[n++] = o->name;
    if (*topic && abut_name_find("--help", topic, names, &at, err)) return err->code;
    if (at) abut_options_table(stdout, 0, text[at]);
    else print_options(cli, opts, common, *topic != 0);
    return ABUT_OK;
}

static _Noreturn void finish_text(abut_cli *cli)
{
    abut_err err = { 0 };
    if (fflush(stdout) || ferror(stdout) || fclose(stdout)) {
        if (errno == EPIPE) end_as_filter();
        write_error("output", errno, &err);
        stop(cli, &err);
    }
    running = NULL;
    exit(0);
}

/* Checks the numbers of the common options. */
static void check_numbers(abut_cli *cli, abut_err *err)
{
    if (cli->threads == ABUT_NOT_GIVEN) cli->threads = abut_threads();
    else if (cli->threads < 1 || cli->threads > THREADS_MOST)
        abut_fail(err, ABUT_E_ARG, "--threads: %d is not between 1 and %d", cli->threads, THREADS_MOST);
    if (cli->compress < 0 || cli->compress > 9)
        abut_fail(err, ABUT_E_ARG, "--compress: %d is not between 0 and 9", cli->compress);
    if (!(cli->progress_every >= 0))
        abut_fail(err, ABUT_E_ARG, "--progress-every %g: expected 0 or more", cli->progress_every);
}

void abut_cli_begin(abut_cli *cli, int argc, char **argv, const char *summary, const char *args_help,
                    const abut_opt *opts, int streams)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *called = argc > 0 ? argv[0] : "abut";
    *cli = (abut_cli){ .called = called, .tool = slash ? slash + 1 : called, .summary = summary,
                       .args_help = args_help, .began = abut_time_wall() };
    cli->progressed = cli->began;
    set_spin_count();
    running = cli->tool;
    atexit(ended_by_library);
    keep_standard_descriptors();
    static char line[8192];
    setvbuf(stderr, line, _IOLBF, sizeof line);     /* a line is one write: programs of a pipeline share descriptor 2 */
    signal(SIGPIPE, SIG_IGN);   /* a reader that has ended is an error of a write, so that everything is cleared; abut_cli_end */
    signal(SIGXFSZ, SIG_IGN);   /* so is a limit of the size of files */

    const int has_out = streams & (ABUT_CLI_OUT | ABUT_CLI_OUT_TEXT | ABUT_CLI_OUT_MAY);
    const char *help = NULL;
    int version = 0, manual = 0;
    const abut_opt table[] = {
        { 0, "compress", ABUT_OPT_INT, &cli->compress, "LEVEL", "compress the arrays, 0 to 9 (default 0: store them)" },
        { 'o', "output", ABUT_OPT_TEXT, &cli->out_path, "FILE", "write to FILE (through FILE.part) instead of standard output" },
        { 0, "no-sync", ABUT_OPT_FLAG, &cli->no_sync, NULL,
          "do not wait until the disk has FILE: after a power failure it may be empty" },
        { 0, "no-clobber", ABUT_OPT_FLAG, &cli->no_clobber, NULL,
          "refuse outputs that exist and folders that are not empty (exit code 5); a file that appears during the run stays" },
        { 'j', "threads", ABUT_OPT_INT, &cli->threads, "N", "number of threads (default: all cores)" },
        { 0, "progress-every", ABUT_OPT_REAL, &cli->progress_every, "s",
          "if standard error is no terminal, as in a log: write a line of progress this often (default: none)" },
        { 'q', "quiet", ABUT_OPT_FLAG, &cli->quiet, NULL, "errors only: no progress, no remarks, no summary" },
        { 'h', "help", ABUT_OPT_MAY, &help, NULL, "show this text" },
        { 0, "version", ABUT_OPT_FLAG, &version, NULL, "show the version" },
        { 0, "manual", ABUT_OPT_FLAG, &manual, NULL, NULL },    /* for docs/man/page */
        { 0 }
    };
    cli->is_stream = (streams & (ABUT_CLI_OUT | ABUT_CLI_OUT_MAY)) != 0;
    const abut_opt *common = cli->is_stream ? table : has_out ? table + 1 : may_replace(opts) ? table + 3 : table + 4;

    abut_err err = { 0 };
    const char **args = calloc((size_t)argc + 1, sizeof *args);
    cli->args = args;
    if (!args) abut_fail(&err, ABUT_E_NOMEM, "no memory for the arguments");
    cli->threads = ABUT_NOT_GIVEN;
    if (err.code || abut_options_parse(argc, argv, opts, common, args, &cli->nargs, &err)) stop(cli, &err);
    if (help && print_help(cli, opts, common, help, &err)) stop(cli, &err);
    if (version) printf("%s (abut) %s\n", cli->tool, ABUT_VERSION);
    if (manual) abut_manual_write(stdout, cli, opts, common);
    if (help || version || manual) finish_text(cli);

    check_numbers(cli, &err);
    if (err.code || abut_options_count(args_help, args, cli->nargs, &err)) stop(cli, &err);
    if (abut_options_files(opts, common, args, &err)) stop(cli, &err);
    abut_threads_set(cli->threads);

    if (streams & ABUT_CLI_OUT_NOWHERE) cli->out_path = "/dev/null";
    /* of several processes that run as one, the one that writes looks */
    const int looks = !(streams & ABUT_CLI_OUT_NOWHERE) && (cli->no_clobber || !cli->quiet);
    if (looks && find_existing(&cli->existing, cli, opts, cli->no_clobber, &err)) stop(cli, &err);
    if ((streams & ABUT_CLI_IN) && open_in(cli, &err)) stop(cli, &err);
    if (has_out && open_out(cli, streams, &err)) stop(cli, &err);
    if (cli->out && cli->is_stream) abut_unfinished_watch(cli);
    if (dup2(2, 1) < 0) {
        write_error("standard output", errno, &err);
        stop(cli, &err);
    }
}

void abut_cli_drop_output(abut_cli *cli)
{
    if (!cli->out) return;
    abut_unfinished_unwatch();
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

int abut_cli_end(abut_cli *cli, int answer_is_no, const abut_err *err)
{
    abut_err last = { 0 };
    if (err) last = *err;
    int is_gone = last.code == ABUT_E_IO && reader_is_gone(cli);
    if (last.code && !is_gone) complain(cli, &last);
    const abut_status before = last.code;
    if (cli->out) close_out(cli, &is_gone, &last);
    if (last.code && !before && !is_gone) complain(cli, &last);
    abut_cli_progress_clear(cli);
    if (!is_gone && !last.code) say_replaced(cli, &cli->existing);
    if (*cli->sum && !is_gone) abut_cli_say(cli, "%s, %.3g s", cli->sum, abut_time_wall() - cli->began);
    if (cli->in && cli->in != stdin) fclose(cli->in);
    clear_existing(&cli->existing);
    free(cli->part_path);
    free(cli->final_path);
    free((void *)cli->args);
    cli->in = NULL;
    cli->part_path = cli->final_path = NULL;
    cli->args = NULL;
    running = NULL;
    if (is_gone) end_as_filter();
    return last.code ? exit_code(last.code) : answer_is_no ? EXIT_NO : 0;
}
