#include "tools/cli/cli.h"

#include "base/words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_MAX_COMPARED = 40 };

/* Edits (insert, delete, replace, swap two neighbours) that turn a into b, none of them within another; names longer than the
 * limit are compared by their start. */
static int edit_distance(const char *a, size_t na, const char *b)
{
    size_t nb = strlen(b);
    if (na > NAME_MAX_COMPARED) na = NAME_MAX_COMPARED;
    if (nb > NAME_MAX_COMPARED) nb = NAME_MAX_COMPARED;
    int row[3][NAME_MAX_COMPARED + 1];      /* of prefixes of a, the last three */
    for (size_t j = 0; j <= nb; j++) row[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *now = row[i % 3];
        const int *before = row[(i + 2) % 3], *two_before = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int replaced = before[j - 1] + (a[i - 1] != b[j - 1]);
            const int shifted = (before[j] < now[j - 1] ? before[j] : now[j - 1]) + 1;
            now[j] = replaced < shifted ? replaced : shifted;
            const int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && two_before[j - 2] + 1 < now[j]) now[j] = two_before[j - 2] + 1;
        }
    }
    return row[na % 3][nb];
}

static const abut_opt *nearest(const char *name, size_t n, const abut_opt *const tables[2])
{
    const abut_opt *best = NULL;
    int least = n < 4 ? 2 : (int)(n / 3) + 2;
    for (int t = 0; t < 2; t++)
        for (const abut_opt *o = tables[t]; o->name; o++) {
            if (o->kind >= ABUT_OPT_ELSEWHERE || !o->help) continue;
            const int d = edit_distance(name, n, o->name);
            const int extends = n >= 3 && !strncmp(o->name, name, n < strlen(o->name) ? n : strlen(o->name));
            if (d < least || (!best && extends)) {
                best = o;
                if (d < least) least = d;
            }
        }
    return best;
}

static const abut_opt *find_long(const char *name, size_t n, const abut_opt *const tables[2])
{
    for (int t = 0; t < 2; t++)
        for (const abut_opt *o = tables[t]; o->name; o++)
            if (o->kind != ABUT_OPT_TOPIC && strlen(o->name) == n && !strncmp(o->name, name, n)) return o;
    return NULL;
}

static const abut_opt *find_letter(char c, const abut_opt *const tables[2])
{
    for (int t = 0; t < 2; t++)
        for (const abut_opt *o = tables[t]; o->name; o++)
            if (o->letter && o->letter == c) return o;
    return NULL;
}

static abut_status bad_value(const abut_opt *o, const char *text, const char *expected, abut_err *err)
{
    return abut_fail(err, ABUT_E_ARG, "--%s: '%.80s' is not %s", o->name, text, expected);
}

static int is_file(const abut_opt *o) { return o->kind != ABUT_OPT_LIST && o->unit && !strcmp(o->unit, "FILE"); }

/* A number of the SI unit that the help names, or with another unit of the same quantity. */
static abut_status store_real(const abut_opt *o, const char *text, abut_err *err)
{
    char *end, units[96], expected[192] = "a number";
    const abut_quantity q = abut_unit_measures(o->unit);
    double v = strtod(text, &end);
    if (end == text || isspace((unsigned char)*text)) return bad_value(o, text, expected, err);
    while (*end == ' ' && end[1]) end++;
    if (*end) {
        const abut_unit *u = abut_unit_find(q, end);
        abut_unit_names(q, units, sizeof units);
        const abut_unit *like = u ? NULL : abut_unit_like(q, end);
        if (q) snprintf(expected, sizeof expected, "a number, if it has a unit one of %s%s%s%s", units,
                        like ? "; did you mean '" : "", like ? like->name : "", like ? "'?" : "");
        if (!u) return bad_value(o, text, expected, err);
        v *= u->factor;
    }
    if (!isfinite(v)) return bad_value(o, text, "finite", err);
    *(double *)o->value = v;
    return ABUT_OK;
}

static abut_status store(const abut_opt *o, const char *text, abut_err *err)
{
    char *end = NULL;
    errno = 0;
    switch (o->kind) {
    case ABUT_OPT_FLAG:
        *(int *)o->value = 1;
        break;
    case ABUT_OPT_INT: {
        const long v = strtol(text, &end, 10);
        if (!*text || isspace((unsigned char)*text) || *end) return bad_value(o, text, "a whole number", err);
        if (errno || v > INT_MAX || v < INT_MIN) return bad_value(o, text, "between -2147483648 and 2147483647", err);
        *(int *)o->value = (int)v;
        break;
    }
    case ABUT_OPT_REAL: return store_real(o, text, err);
    case ABUT_OPT_OUTPUT:
    case ABUT_OPT_OUTPUT_TEXT:
    case ABUT_OPT_OUTPUT_AFTER:
    case ABUT_OPT_FOLDER:
    case ABUT_OPT_TEXT: {
        const char **word = o->value;
        const int is_place = o->kind != ABUT_OPT_TEXT || is_file(o);
        if (is_place && !*text)
            return abut_fail(err, ABUT_E_ARG, "--%s '': expected the name of a %s", o->name,
                             o->kind == ABUT_OPT_FOLDER ? "folder" : "file");
        if (is_place && *word) return abut_fail(err, ABUT_E_ARG, "--%s: given twice, %.80s and %.80s", o->name, *word, text);
        *word = text;
        break;
    }
    case ABUT_OPT_LIST: {
        abut_opt_list *list = o->value;
        if (list->n == ABUT_OPT_LIST_MAX)
            return abut_fail(err, ABUT_E_ARG, "--%s: given more than %d times", o->name, ABUT_OPT_LIST_MAX);
        list->item[list->n++] = text;
        break;
    }
    case ABUT_OPT_MAY:
        *(const char **)o->value = text;
        break;
    case ABUT_OPT_ELSEWHERE:
    case ABUT_OPT_TOPIC:
        break;
    }
    return ABUT_OK;
}

/* Reads an option at argv[*i], and the next word if that is its value. */
static abut_status parse_one(char **argv, int argc, int *i, const abut_opt *const tables[2], abut_err *err)
{
    const char *word = argv[*i], *value = NULL;
    const abut_opt *o;
    if (word[1] == '-') {
        const char *name = word + 2;
        const size_t n = strcspn(name, "=");
        if (name[n]) value = name + n + 1;
        o = find_long(name, n, tables);
        if (!o) {
            const abut_opt *like = nearest(name, n, tables);
            if (like) return abut_fail(err, ABUT_E_ARG, "unknown option '%.80s'; did you mean --%s?", word, like->name);
            return abut_fail(err, ABUT_E_ARG, "unknown option '%.80s'", word);
        }
        if (o->kind == ABUT_OPT_ELSEWHERE)
            return abut_fail(err, ABUT_E_ARG, "--%s is an option of the program '%s', which %s", o->name, o->unit, o->help);
        if (o->kind == ABUT_OPT_FLAG && value)
            return abut_fail(err, ABUT_E_ARG, "--%s takes no value, '%.80s' was given", o->name, value);
    } else {
        o = find_letter(word[1], tables);
        if (!o || (o->kind == ABUT_OPT_FLAG && word[2])) return abut_fail(err, ABUT_E_ARG, "unknown option '%.80s'", word);
        if (word[2]) value = word + 2;
    }
    if (o->kind == ABUT_OPT_MAY && !value) {
        if (*i + 1 < argc && *argv[*i + 1] != '-') value = argv[++*i];
    } else if (o->kind != ABUT_OPT_FLAG && !value) {
        if (*i + 1 >= argc)
            return abut_fail(err, ABUT_E_ARG, "--%s: a value must follow (%s)", o->name, o->unit ? o->unit : o->help);
        value = argv[++*i];
    }
    return store(o, value ? value : "", err);
}

abut_status abut_options_parse(int argc, char **argv, const abut_opt *own, const abut_opt *common, const char **args,
                               int *nargs, abut_err *err)
{
    static const abut_opt none = { 0 };
    const abut_opt *const tables[2] = { own ? own : &none, common };
    int n = 0, only_args = 0;
    for (int i = 1; i < argc; i++) {
        if (only_args || argv[i][0] != '-' || !argv[i][1]) {
            args[n++] = argv[i];
        } else if (!strcmp(argv[i], "--")) {
            only_args = 1;
        } else {
            const abut_status rc = parse_one(argv, argc, &i, tables, err);
            if (rc) return rc;
        }
    }
    args[n] = NULL;
    *nargs = n;
    return ABUT_OK;
}

/* ---- files ---- */

static int is_output(const abut_opt *o)
{
    return o->kind == ABUT_OPT_OUTPUT || o->kind == ABUT_OPT_OUTPUT_TEXT || o->kind == ABUT_OPT_OUTPUT_AFTER;
}

/* Whether the folder of a path exists.  *name: the path without it. */
static int find_folder(const char *path, const char **name, struct stat *folder)
{
    char dir[4096];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    return snprintf(dir, sizeof dir, "%.*s.", (int)(*name - path), path) < (int)sizeof dir && !stat(dir, folder);
}

/* Whether both names lead to one regular file, which need not exist; devices may be named twice. */
static int options_same_file(const char *a, const char *b)
{
    struct stat p, q;
    const char *m, *n;
    const int there = !stat(a, &p), too = !stat(b, &q);
    if (there != too) return 0;
    if (there) return S_ISREG(p.st_mode) && p.st_dev == q.st_dev && p.st_ino == q.st_ino;
    if (!strcmp(a, b)) return 1;
    return find_folder(a, &m, &p) && find_folder(b, &n, &q) && !strcmp(m, n) && p.st_dev == q.st_dev && p.st_ino == q.st_ino;
}

/* An output among the other files of the command line. */
static abut_status check_output(const abut_opt *o, const abut_opt *const tables[2], const char *const *args, abut_err *err)
{
    const char *path = *(const char **)o->value;
    if (!strcmp(path, "-") && o->kind == ABUT_OPT_OUTPUT_TEXT) return ABUT_OK;
    if (!strcmp(path, "-")) return abut_fail(err, ABUT_E_ARG, "--%s -: expected the name of a file or folder", o->name);
    for (; *args && o->kind != ABUT_OPT_OUTPUT_AFTER; args++)
        if (options_same_file(path, *args)) return abut_fail(err, ABUT_E_ARG, "--%s %.200s: is the input, too", o->name, path);
    for (int t = 0; t < 2; t++)
        for (const abut_opt *p = tables[t]; p->name; p++) {
            const char *other = is_output(p) || is_file(p) ? *(const char **)p->value : NULL;
            if (p != o && other && options_same_file(path, other))
                return abut_fail(err, ABUT_E_ARG, "--%s %.200s: is that of --%s, too", o->name, path, p->name);
        }
    return ABUT_OK;
}

abut_status abut_options_files(const abut_opt *own, const abut_opt *common, const char *const *args, abut_err *err)
{
    const abut_opt *const tables[2] = { own, common };
    for (const abut_opt *o = own; o->name; o++) {
        const abut_status rc = is_output(o) && *(const char **)o->value ? check_output(o, tables, args, err) : ABUT_OK;
        if (rc) return rc;
    }
    return ABUT_OK;
}

abut_status abut_options_count(const char *args_help, const char *const *args, int nargs, abut_err *err)
{
    int least = 0, most = 0, optional = 0;
    for (const char *s = args_help; *s;) {
        const size_t n = strcspn(s, " ");
        if (*s == '[') optional = 1;
        if (!strncmp(s, "...", 3) || (n >= 3 && strstr(s, "...") && strstr(s, "...") < s + n)) most = INT_MAX;
        else if (n && most < INT_MAX) most++;
        if (n && !optional && strncmp(s, "...", 3)) least++;
        if (n && s[n - 1] == ']') optional = 0;
        s += n + strspn(s + n, " ");
    }
    for (int i = 0; i < nargs; i++)
        if (!*args[i]) return abut_fail(err, ABUT_E_ARG, "argument '': expected %s", *args_help ? args_help : "none");
    if (nargs < least) return abut_fail(err, ABUT_E_ARG, "an argument is missing: expected %s", args_help);
    if (nargs > most)
        return abut_fail(err, ABUT_E_ARG, "unexpected argument '%.80s'%s%s", args[most], *args_help ? ": expected " : "",
                         args_help);
    return ABUT_OK;
}

/* Writes a line of text from column `at` on, wrapped at 96 columns and indented by `at`.  Returns the next line of text. */
static const char *wrap(FILE *f, int at, const char *text)
{
    int column = at;
    while (*text && *text != '\n') {
        const int n = (int)strcspn(text, " \n");
        if (column > at && column + 1 + n > 96) {
            fprintf(f, "\n%*s", at, "");
            column = at;
        }
        column += fprintf(f, "%s%.*s", column > at ? " " : "", n, text);
        text += n;
        text += strspn(text, " ");
    }
    putc('\n', f);
    return text + (*text == '\n');
}

void abut_options_table(FILE *f, int at, const char *text)
{
    enum { NAME = 18, USE = 34 };
    while (*text) {
        int column = at, n = (int)strcspn(text, "\t\n");
        fprintf(f, "%*s", *text == '\n' ? 0 : at, "");
        for (int width = NAME; text[n] == '\t'; width = USE, n = (int)strcspn(text, "\t\n")) {
            column += fprintf(f, "%-*.*s", width, n, text);
            text += n + 1;
        }
        text = wrap(f, column, text);
    }
}

/* Returns the placeholder of an option's value in the help: its unit, or a word for its kind; "" for flags. */
static const char *option_value(const abut_opt *o)
{
    static const char *const fallback[] = { "", "", "", "N", "NUMBER", "TEXT", "TEXT" };
    return o->kind == ABUT_OPT_FLAG ? "" : o->unit && *o->unit ? o->unit : fallback[o->kind];
}

const abut_opt *abut_options_help(FILE *f, const abut_opt *o)
{
    enum { AT = 28 };
    for (; o && o->name && o->kind != ABUT_OPT_TOPIC; o++) {
        if (o->kind == ABUT_OPT_ELSEWHERE || !o->help) continue;
        char head[80];
        const char *value = option_value(o);
        char letter[5] = "    ";
        if (o->letter) memcpy(letter, (char[]){ '-', o->letter, ',', ' ' }, 4);
        /* a unit is no word to type: <s>; a placeholder is: FILE */
        const int is_unit = islower((unsigned char)value[0]) || strchr(value, '/');
        const int n = snprintf(head, sizeof head, "  %s--%s%s%s%s%s", letter, o->name, *value ? " " : "",
                               *value && is_unit ? "<" : "", value, *value && is_unit ? ">" : "");
        if (n < AT) fprintf(f, "%-*s", AT, head);
        else fprintf(f, "%s\n%*s", head, AT, "");
        abut_options_table(f, AT + 2, wrap(f, AT, o->help));
    }
    return o;
}

/* ---- the manual page ---- */

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

int abut_manual_command(FILE *f, const char *line, int n)
{
    int width = n;
    for (int i = 0; i < n; i++) {
        const int is_program = i == 0 || (i > 1 && line[i - 1] == ' ' && line[i - 2] == '|');
        width += is_program ? 5 : 0;
        if (f) fprintf(f, "%s%c", is_program ? "abut " : "", line[i]);
    }
    return width;
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
        const char *value = option_value(o);
        if (*value) fputs(" Ar ", f);
        for (; *value; value++) fprintf(f, *value == '|' ? "\\*(Ba" : "%c", *value);
        putc('\n', f);
        const size_t n = strcspn(o->help, "\n");
        put_text(f, o->help, n);
        put_table(f, o->help + n);
    }
}

void abut_manual_write(FILE *f, const char *tool, const char *summary, const char *args_help, const abut_opt *own,
                       const abut_opt *common)
{
    put_phrase(f, summary);
    fprintf(f, ".Sh SYNOPSIS\n.Nm abut %s\n.Op Ar option ...\n", tool);
    put_arguments(f, args_help);
    fputs(".Sh DESCRIPTION\n", f);
    put_summary(f, summary);
    fputs(".Pp\nOptions:\n.Bl -tag -width Ds\n", f);
    put_options(f, own);
    put_options(f, common);
    fputs(".El\n", f);
    for (const abut_opt *o = own; o && o->name; o++)
        if (o->kind == ABUT_OPT_TOPIC && o->help) put_table(f, o->help);
    fputs(".Sh EXIT STATUS\n0 done, 1 the answer is no, 2 usage, 3 unusable input, 4 the solver gave up,\n5 system.\n", f);
}
