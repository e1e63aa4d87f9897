#include "tools/cli/manual.h"

#include "tools/cli/options.h"

#include <ctype.h>
#include <string.h>

enum { COLUMNS = 78 };

/* A word as mdoc shows it; at the start of a line neither a request nor, in capitals and two letters, a macro. */
static int put_word(FILE *f, const char *word, int n, int first)
{
    int width = 0;
    if (first && (*word == '.' || *word == '\'')) width += fprintf(f, "\\&");
    for (int i = 0; i < n; i++) width += word[i] == '\\' ? fprintf(f, "\\e") : fprintf(f, "%c", word[i]);
    return width;
}

/* 1: a sentence ends with this word, so that the next begins a line. */
static int ends_sentence(const char *word, int n)
{
    while (n > 1 && strchr(")'\"", word[n - 1])) n--;
    return n > 2 && strchr(".?!", word[n - 1]) && (islower((unsigned char)word[n - 2]) || strchr(")]'", word[n - 2]));
}

/* text[n], wrapped; the line ends. */
static void put_text(FILE *f, const char *text, size_t n)
{
    const char *const end = text + n;
    int column = 0, fresh = 1;
    while (text < end) {
        const char *word = text;
        while (text < end && !isspace((unsigned char)*text)) text++;
        const int length = (int)(text - word);
        if (length) {
            if (!fresh && column + 1 + length > COLUMNS) fresh = 1, putc('\n', f);
            if (fresh) column = 0;
            else column += fprintf(f, " ");
            column += put_word(f, word, length, fresh);
            fresh = ends_sentence(word, length) && text < end;
            if (fresh) putc('\n', f);
        }
        for (; text < end && isspace((unsigned char)*text); text++)
            if (*text == '\t') column += fprintf(f, ":");
    }
    putc('\n', f);
}

/* Lines of cells, the first of them a tag. */
static void put_table(FILE *f, const char *s)
{
    if (!*s) return;
    fputs(".Bl -tag -width Ds\n", f);
    for (s += strspn(s, "\n"); *s; s += strspn(s, "\n")) {
        size_t n = strcspn(s, "\t\n");
        fprintf(f, ".It %.*s\n", (int)n, s);
        s += n + (s[n] == '\t');
        n = strcspn(s, "\n");
        if (n) put_text(f, s, n);
        s += n;
    }
    fputs(".El\n", f);
}

void abut_manual_command(FILE *f, const char *line, int n)
{
    for (int i = 0; i < n; i++) {
        if (i == 0 || (i > 1 && line[i - 1] == ' ' && line[i - 2] == '|')) fputs("abut ", f);
        putc(line[i], f);
    }
}

/* Writes lines of the summary that are indented by four literally; text after several spaces becomes a comment of the shell. */
static const char *put_literal(FILE *f, const char *s)
{
    fputs(".Bd -literal -offset indent\n", f);
    while (!strncmp(s, "    ", 4)) {
        const size_t n = strcspn(s, "\n");
        const char *gap = strstr(s + 4, "   ");
        const size_t command = gap && gap < s + n ? (size_t)(gap - s) : n;
        abut_manual_command(f, s + 4, (int)command - 4);
        gap = s + command + strspn(s + command, " ");
        if (gap < s + n) fputs("   # ", f), put_word(f, gap, (int)(s + n - gap), 0);
        putc('\n', f);
        s += n + (s[n] == '\n');
    }
    fputs(".Ed\n", f);
    return s;
}

static void put_summary(FILE *f, const char *s)
{
    for (int first = 1; *s; first = 0) {
        if (!strncmp(s, "    ", 4)) {
            s = put_literal(f, s);
        } else {
            const char *end = strstr(s, "\n\n");
            const size_t n = end ? (size_t)(end - s) : strlen(s);
            if (!first) fputs(".Pp\n", f);
            put_text(f, s, n);
            s += n;
        }
        s += strspn(s, "\n");
    }
}

/* The first sentence as a phrase. */
static void put_phrase(FILE *f, const char *s)
{
    size_t n = strcspn(s, ".:?");
    while (s[n] && s[n + 1] && !isspace((unsigned char)s[n + 1])) n += 1 + strcspn(s + n + 1, ".:?");
    fputs(".Nd ", f);
    for (size_t i = 0; i < n; i++) putc(s[i] == '\n' ? ' ' : i ? s[i] : tolower((unsigned char)s[i]), f);
    putc('\n', f);
}

/* "[SCENE.yaml | MESH ...]" */
static void put_arguments(FILE *f, const char *args)
{
    const int optional = *args == '[';
    if (!*args) return;
    fputs(optional ? ".Op" : ".Ar", f);
    for (args += optional; *args;) {
        const int n = (int)strcspn(args, " ]"), bar = n == 1 && *args == '|';
        fprintf(f, bar ? " \\*(Ba" : optional && strncmp(args, "...", 3) ? " Ar %.*s" : " %.*s", n, args);
        args += n + strspn(args + n, " ]");
    }
    putc('\n', f);
}

static void put_options(FILE *f, const abut_opt *o)
{
    for (; o && o->name; o++) {
        if (o->kind >= ABUT_OPT_ELSEWHERE || !o->help) continue;
        fputs(".It", f);
        if (o->letter) fprintf(f, " Fl %c ,", o->letter);
        fprintf(f, " Fl -%s", o->name);
        const char *value = abut_option_value(o);
        if (*value) fputs(" Ar ", f);
        for (; *value; value++) fprintf(f, *value == '|' ? "\\*(Ba" : "%c", *value);
        putc('\n', f);
        const size_t n = strcspn(o->help, "\n");
        put_text(f, o->help, n);
        put_table(f, o->help + n);
    }
}

void abut_manual_write(FILE *f, const abut_cli *cli, const abut_opt *own, const abut_opt *common)
{
    put_phrase(f, cli->summary);
    fprintf(f, ".Sh SYNOPSIS\n.Nm abut %s\n.Op Ar option ...\n", cli->tool);
    put_arguments(f, cli->args_help);
    fputs(".Sh DESCRIPTION\n", f);
    put_summary(f, cli->summary);
    fputs(".Pp\nOptions:\n.Bl -tag -width Ds\n", f);
    put_options(f, own);
    put_options(f, common);
    fputs(".El\n", f);
    for (const abut_opt *o = own; o && o->name; o++)
        if (o->kind == ABUT_OPT_TOPIC && o->help) put_table(f, o->help);
    fputs(".Sh EXIT STATUS\n0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 the solver gave up,\n5 system.\n", f);
}
