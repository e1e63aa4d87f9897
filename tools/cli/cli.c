#define _XOPEN_SOURCE 700
#include "tools/cli/cli.h"

#include "base/par.h"
#include "base/timer.h"
#include "base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
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

static void complain(abut_cli *cli, const abut_err *err)
{
    abut_cli_progress_clear(cli);
    fprintf(stderr, "%s: %s\n", cli->tool, err->msg);
    if (err->code != ABUT_E_ARG) return;
    fprintf(stderr, "%s: 'abut %s --help' lists the options\n", cli->tool, cli->tool);
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
        if (isatty(0)) return abut_fail(err, ABUT_E_ARG, "standard input is a terminal: name a file, or pipe a stream in");
        cli->in = stdin;
        return ABUT_OK;
    }
    struct stat st;
    cli->in = fopen(path, "rb");
    if (!cli->in) return abut_fail(err, abut_open_status(errno), "%s: %s", path, strerror(errno));
    if (!fstat(fileno(cli->in), &st) && S_ISDIR(st.st_mode)) return abut_fail(err, ABUT_E_FORMAT, "%s: is a directory", path);
    return ABUT_OK;
}

/* Ends without a message by SIGPIPE, as a filter that writes into a closed pipe. */
static void end_as_filter(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

/* ---- begin and end ---- */

/* Writes a line of help that is a command and, after three spaces or more, what it does, which begins behind the widest command.
 * f  NULL: writes nothing.  Returns  the width of the command */
static int put_command(FILE *f, const char *s, int n, int widest)
{
    const char *gap = strstr(s + 4, "   ");
    const int command = gap && gap < s + n ? (int)(gap - s) : n, rest = command + (int)strspn(s + command, " ");
    if (f) fputs("    ", f);
    const int width = abut_manual_command(f, s + 4, command - 4);
    if (f && rest < n) fprintf(f, "%*s   # %.*s", widest - width, "", n - rest, s + rest);
    return width;
}

static void print_options(const abut_cli *cli, const abut_opt *opts, const abut_opt *common, int all)
{
    int widest = 0;
    for (const char *s = cli->summary; (s = strstr(s, "\n    ")) != NULL; s++) {
        const int width = put_command(NULL, s + 1, (int)strcspn(s + 1, "\n"), 0);
        if (width > widest) widest = width;
    }
    for (const char *s = cli->summary; *s;) {
        const int n = (int)strcspn(s, "\n");
        if (!strncmp(s, "    ", 4)) put_command(stdout, s, n, widest);
        else printf("%.*s", n, s);
        s += n + (s[n] == '\n');
        putchar('\n');
    }
    printf("\nusage: abut %s [options] %s\n\n", cli->tool, cli->args_help);
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
        abut_cli_write_error("output", errno, &err);
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
    if (!(cli->progress_every >= 0)) abut_fail(err, ABUT_E_ARG, "--progress-every %g: expected 0 or more", cli->progress_every);
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
    const abut_opt *common = cli->is_stream ? table : has_out ? table + 1 : abut_output_may_replace(opts) ? table + 3 : table + 4;

    abut_err err = { 0 };
    const char **args = calloc((size_t)argc + 1, sizeof *args);
    cli->args = args;
    if (!args) abut_fail(&err, ABUT_E_NOMEM, "no memory for the arguments");
    cli->threads = ABUT_NOT_GIVEN;
    if (err.code || abut_options_parse(argc, argv, opts, common, args, &cli->nargs, &err)) stop(cli, &err);
    if (help && print_help(cli, opts, common, help, &err)) stop(cli, &err);
    if (version) printf("%s (abut) %s\n", cli->tool, ABUT_VERSION);
    if (manual) abut_manual_write(stdout, cli->tool, cli->summary, cli->args_help, opts, common);
    if (help || version || manual) finish_text(cli);

    check_numbers(cli, &err);
    if (err.code || abut_options_count(args_help, args, cli->nargs, &err)) stop(cli, &err);
    if (abut_options_files(opts, common, args, &err)) stop(cli, &err);
    abut_threads_set(cli->threads);

    if (streams & ABUT_CLI_OUT_NOWHERE) cli->out_path = "/dev/null";
    /* of several processes that run as one, the one that writes looks */
    const int looks = !(streams & ABUT_CLI_OUT_NOWHERE) && (cli->no_clobber || !cli->quiet);
    if (looks && abut_output_find_existing(cli, opts, &err)) stop(cli, &err);
    if ((streams & ABUT_CLI_IN) && open_in(cli, &err)) stop(cli, &err);
    if (has_out && abut_output_open(cli, streams, &err)) stop(cli, &err);
    if (dup2(2, 1) < 0) {
        abut_cli_write_error("standard output", errno, &err);
        stop(cli, &err);
    }
}

int abut_cli_end(abut_cli *cli, int answer_is_no, const abut_err *err)
{
    abut_err last = { 0 };
    if (err) last = *err;
    int is_gone = last.code == ABUT_E_IO && abut_output_reader_is_gone(cli);
    if (last.code && !is_gone) complain(cli, &last);
    const abut_status before = last.code;
    if (cli->out) abut_output_close(cli, &is_gone, &last);
    if (last.code && !before && !is_gone) complain(cli, &last);
    abut_cli_progress_clear(cli);
    if (!is_gone && !last.code) abut_output_say_replaced(cli);
    if (*cli->sum && !is_gone) abut_cli_say(cli, "%s, %.3g s", cli->sum, abut_time_wall() - cli->began);
    if (cli->in && cli->in != stdin) fclose(cli->in);
    abut_output_clear(cli);
    free((void *)cli->args);
    cli->in = NULL;
    cli->args = NULL;
    running = NULL;
    if (is_gone) end_as_filter();
    return last.code ? exit_code(last.code) : answer_is_no ? EXIT_NO : 0;
}

/* ---- what is said ---- */

abut_status abut_cli_said(const char *option, abut_err *err)
{
    return ferror(stderr) ? abut_fail(err, ABUT_E_IO, "%s: standard error: a write failed", option) : ABUT_OK;
}

void abut_cli_progress_clear(abut_cli *cli)
{
    if (cli->progress_on) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    cli->progress_on = 0;
}

void abut_cli_say(abut_cli *cli, const char *fmt, ...)
{
    if (cli->quiet) return;
    abut_cli_progress_clear(cli);
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "%s: ", cli->tool);
    vfprintf(stderr, fmt, ap);
    putc('\n', stderr);
    va_end(ap);
}

/* Writes a progress line to a stderr that is a log. */
static void log_progress(abut_cli *cli, const char *fmt, va_list ap)
{
    const double now = abut_time_wall();
    if (!(cli->progress_every > 0) || now - cli->progressed < cli->progress_every) return;
    cli->progressed = now;
    fprintf(stderr, "%s: ", cli->tool);
    vfprintf(stderr, fmt, ap);
    putc('\n', stderr);
}

void abut_cli_sum(abut_cli *cli, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(cli->sum, sizeof cli->sum, fmt, ap);
    va_end(ap);
}

void abut_cli_progress(abut_cli *cli, const char *fmt, ...)
{
    va_list ap;
    if (cli->quiet) return;
    if (!isatty(2)) {
        va_start(ap, fmt);
        log_progress(cli, fmt, ap);
        va_end(ap);
        return;
    }
    struct winsize size = { 0 };
    char line[512];
    size_t width = !ioctl(2, TIOCGWINSZ, &size) && size.ws_col > 1 ? size.ws_col : 80;
    if (width > sizeof line) width = sizeof line;
    va_start(ap, fmt);
    vsnprintf(line, width, fmt, ap);    /* a line that wraps could not be replaced */
    va_end(ap);
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    cli->progress_on = 1;
}

/* ---- streams ---- */

static void say_note(void *who, const char *text) { abut_cli_say(who, "%s", text); }

static void advise(void *who, abut_err *err) { abut_unfinished_advise(who, err); }

abut_status abut_stream_open(abut_stream *s, abut_cli *cli, const char *options, abut_err *err)
{
    const abut_stream_io io = { .in = cli->in, .out = cli->out, .in_name = cli->in_name, .tool = cli->tool,
                                .version = ABUT_VERSION, .compress = cli->compress, .frames = &cli->frames, .note = say_note,
                                .cut = advise, .who = cli };
    return abut_stream_start(s, &io, options, err);
}

abut_status abut_stream_open_asking(abut_stream *s, abut_cli *cli,
                                    abut_status (*options)(void *ctx, const abut_model *m, const char **options, abut_err *err),
                                    void *ctx, abut_err *err)
{
    const abut_status rc = abut_stream_open(s, cli, NULL, err);
    abut_stream_ask(s, options, ctx);
    return rc;
}
