#include "tools/cli/unfinished.h"
#include "base/words.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the command ---- */

/* Appends a name as one word of a shell. */
static void quote(char *text, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/=:,@%";
    size_t n = strlen(text);
    const int quotes = strspn(name, plain) < strlen(name) || !*name;
    if (quotes) text[n++] = '\'';
    for (; *name && n < ABUT_COMMAND_MAX - 8; name++) {
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

/* Writes the command of `salvage` beside this program, through the dispatcher if that has called this one. */
static void name_program(const abut_cli *cli, char *text)
{
    char path[ABUT_COMMAND_MAX];
    if (*abut_cli_before(cli)) {
        strcpy(text, "abut salvage");
        return;
    }
    snprintf(path, sizeof path, "%.*ssalvage", (int)(cli->tool - cli->called), cli->called);
    quote(text, path);
}

void abut_unfinished_command(const abut_cli *cli, const char *cut, const char *whole, char text[ABUT_COMMAND_MAX])
{
    enum { EACH = ABUT_COMMAND_MAX / 3 - 8 };
    char words[3][ABUT_COMMAND_MAX] = { "", "", "" };
    name_program(cli, words[0]);
    quote(words[1], cut ? cut : "CUT");
    quote(words[2], whole ? whole : "WHOLE");
    snprintf(text, ABUT_COMMAND_MAX, "%.*s %.*s -o %.*s", EACH, words[0], EACH, words[1], EACH, words[2]);
}

static int is_file(int fd)
{
    struct stat st;
    return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

void abut_unfinished_advise(const abut_cli *cli, abut_err *err)
{
    char command[ABUT_COMMAND_MAX];
    const size_t used = strlen(err->msg);
    if (!cli->in || !is_file(fileno(cli->in))) return;
    abut_unfinished_command(cli, cli->in == stdin ? NULL : cli->in_name, NULL, command);
    snprintf(err->msg + used, sizeof err->msg - used, "; its whole frames: %s", command);
}

void abut_unfinished_say(const abut_cli *cli, long long size)
{
    char command[ABUT_COMMAND_MAX];
    const int frames = cli->frames;
    if (!cli->part_path && !(frames && size > 0)) return;
    fprintf(stderr, "%s: %s keeps %lld byte%s of the unfinished output", cli->tool,
            cli->part_path ? cli->part_path : "the file on standard output", size, abut_s(size));
    if (frames) {
        abut_unfinished_command(cli, cli->part_path, cli->part_path ? cli->final_path : NULL, command);
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
    char head[64], keeps[2 * ABUT_COMMAND_MAX];
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

void abut_unfinished_watch(abut_cli *cli)
{
    char command[ABUT_COMMAND_MAX];
    const struct sigaction act = { .sa_handler = say_and_end };
    struct sigaction old;
    watch.fd = fileno(cli->out);
    if (!cli->part_path && !is_file(watch.fd)) return;
    abut_unfinished_command(cli, cli->part_path, cli->part_path ? cli->final_path : NULL, command);
    snprintf(watch.head, sizeof watch.head, "%s: ", cli->tool);
    snprintf(watch.keeps, sizeof watch.keeps, "; %s keeps the whole frames that were written; a stream of them: %s",
             cli->part_path ? cli->part_path : "the file on standard output", command);
    watch.cli = cli;
    for (int i = 0; i < N_ENDING; i++)
        if (!sigaction(endings[i].number, NULL, &old) && old.sa_handler == SIG_DFL) sigaction(endings[i].number, &act, NULL);
}

void abut_unfinished_unwatch(void)
{
    watch.cli = NULL;
}
