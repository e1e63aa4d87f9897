#include "tools/cli/cli.h"

#include "base/timer.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
