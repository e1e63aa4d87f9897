#include "formats/stream/dump.h"

#include "base/arena.h"
#include "base/words.h"
#include "formats/stream/state_wire.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

char *abut_print_f64(char *buf, double v)
{
    if (isnan(v)) {
        snprintf(buf, ABUT_NUMBER_MAX, "nan(0x%016" PRIx64 ")", abut_bits_of(v));
        return buf;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, ABUT_NUMBER_MAX, "%.*g", digits, v);
        if (abut_bits_of(strtod(buf, NULL)) == abut_bits_of(v)) break;
    }
    return buf;
}

static void print_f32(FILE *out, float v)
{
    uint32_t bits, back;
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v)) {
        fprintf(out, " nan(0x%08" PRIx32 ")", bits);
        return;
    }
    char buf[ABUT_NUMBER_MAX];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, (double)v);
        const float w = strtof(buf, NULL);
        memcpy(&back, &w, sizeof back);
        if (back == bits) break;
    }
    fprintf(out, " %s", buf);
}

static void print_element(FILE *out, const abut_array *a, int64_t i)
{
    char buf[ABUT_NUMBER_MAX];
    switch (a->type) {
    case ABUT_F64: fprintf(out, " %s", abut_print_f64(buf, ((const double *)a->data)[i])); break;
    case ABUT_F32: print_f32(out, ((const float *)a->data)[i]); break;
    case ABUT_I32: fprintf(out, " %" PRId32, ((const int32_t *)a->data)[i]); break;
    case ABUT_I64: fprintf(out, " %" PRId64, ((const int64_t *)a->data)[i]); break;
    case ABUT_U8: fprintf(out, " %d", ((const unsigned char *)a->data)[i]); break;
    case ABUT_TEXT: break;
    }
}

static void put_byte(FILE *out, unsigned char c)
{
    if (c < 0x20 || c == 0x7f) fprintf(out, "\\x%02x", c);
    else putc(c, out);
}

void abut_print_line(FILE *out, const char *text) { for (; *text; text++) put_byte(out, (unsigned char)*text); }

/* Lines of text in quotes: nothing in them can be mistaken for the dump's own lines, or hide. */
static void print_text(FILE *out, const abut_array *a)
{
    const unsigned char *p = a->data;
    const int64_t n = abut_array_count(a);
    int open = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!open) fputs(" \"", out);
        open = p[i] != '\n';
        if (p[i] == '\n') fputs("\\n\"\n", out);
        else if (p[i] == '"' || p[i] == '\\') fprintf(out, "\\%c", p[i]);
        else put_byte(out, p[i]);
    }
    if (open) fputs("\"\n", out);
}

/* the line that describes an array and, unless no_data, its rows */
static void dump_array(FILE *out, const abut_array *a, int no_data)
{
    fprintf(out, "array %s %s [", a->name, abut_dtype_name(a->type));
    for (int d = 0; d < a->rank; d++) fprintf(out, "%s%" PRId64, d ? ", " : "", a->shape[d]);
    fputs(*a->unit ? "] " : "]", out);
    abut_print_line(out, a->unit);
    fprintf(out, "%s%s\n", a->flags & ABUT_A_REQUIRED ? " required" : "", a->flags & ABUT_A_CARRY ? " carry" : "");
    if (no_data) return;
    if (a->type == ABUT_TEXT) {
        print_text(out, a);
        return;
    }
    const int64_t n = abut_array_count(a), rows = a->rank ? a->shape[0] : 1, width = rows ? n / rows : 0;
    for (int64_t i = 0; i < n; i++) {
        print_element(out, a, i);
        if ((i + 1) % width == 0) putc('\n', out);
    }
}

/* ---- what is shown ---- */

/* Which patterns an array had, and the names of all arrays, each once. */
typedef struct shown {
    const abut_dump_opts *opts;
    unsigned char *had;         /* [opts->narrays] */
    char **name;                /* [names], NULL behind them */
    size_t names, room;
} shown;

static abut_status shown_init(shown *s, const abut_dump_opts *opts, abut_err *err)
{
    *s = (shown){ .opts = opts, .had = calloc((size_t)opts->narrays + 1, 1), .name = calloc(1, sizeof *s->name), .room = 1 };
    return s->had && s->name ? ABUT_OK : abut_fail(err, ABUT_E_NOMEM, "dump: %d patterns", opts->narrays);
}

static void shown_clear(shown *s)
{
    for (size_t i = 0; i < s->names; i++) free(s->name[i]);
    free(s->name);
    free(s->had);
}

static abut_status note_name(shown *s, const char *name, abut_err *err)
{
    for (size_t i = 0; i < s->names; i++)
        if (!strcmp(s->name[i], name)) return ABUT_OK;
    if (!ABUT_GROW(s->name, s->names + 2, s->room)) return abut_fail(err, ABUT_E_NOMEM, "dump: %zu names", s->names);
    s->name[s->names] = strdup(name);
    if (!s->name[s->names]) return abut_fail(err, ABUT_E_NOMEM, "dump: %zu names", s->names);
    s->name[++s->names] = NULL;
    return ABUT_OK;
}

/* *is_shown: whether a pattern has it, or there is none. */
static abut_status select_array(shown *s, const char *name, int *is_shown, abut_err *err)
{
    *is_shown = !s->opts->narrays;
    if (*is_shown) return ABUT_OK;
    for (int i = 0; i < s->opts->narrays; i++)
        if (!fnmatch(s->opts->arrays[i], name, 0)) *is_shown = s->had[i] = 1;
    return note_name(s, name, err);
}

/* Every pattern had an array. */
static abut_status check_patterns(const shown *s, abut_err *err)
{
    char all[600];
    int i = 0;
    while (i < s->opts->narrays && s->had[i]) i++;
    if (i == s->opts->narrays) return ABUT_OK;
    const char *pattern = s->opts->arrays[i];
    const char *near = strpbrk(pattern, "*?[") ? NULL : abut_name_nearest(pattern, (const char *const *)s->name);
    abut_names_join((const char *const *)s->name, all, sizeof all);
    char *const cut = strlen(all) + 1 == sizeof all ? strrchr(all, ',') : NULL;
    if (cut) *cut = 0;
    return abut_fail(err, ABUT_E_ARG, "no array is called '%.60s'%s%s%s; there are %s%s", pattern, near ? "; did you mean " : "",
                     near ? near : "", near ? "?" : "", all, cut ? ", and more" : "");
}

abut_status abut_dump(abut_reader *r, FILE *out, const abut_dump_opts *opts, abut_err *err)
{
    static const abut_dump_opts everything = { 0 };
    if (!opts) opts = &everything;
    int n;
    const abut_prov *prov = abut_reader_prov(r, &n);
    fputs("abut-state\n", out);
    for (int i = 0; i < n; i++) {
        const char *const text[] = { "prov", prov[i].tool, prov[i].version, prov[i].options };
        for (int k = 0; k < 4; k++) {
            abut_print_line(out, text[k]);
            putc(k < 3 ? ' ' : '\n', out);
        }
    }

    abut_arrays set = { 0 };
    abut_item item;
    abut_frame_head head;
    shown s;
    abut_status rc = shown_init(&s, opts, err);
    while (!rc && !(rc = abut_reader_next(r, &item, &head, &set, err)) && item != ABUT_ITEM_END) {
        char time[ABUT_NUMBER_MAX];
        if (item == ABUT_ITEM_MODEL) fputs("model\n", out);
        else
            fprintf(out, "frame step %" PRId64 " time %s %s\n", head.step, abut_print_f64(time, head.time),
                    head.phase == ABUT_PENDING ? "pending" : "committed");
        for (int i = 0, is_shown = 0; i < set.n && !rc; i++) {
            rc = select_array(&s, set.a[i].name, &is_shown, err);
            if (!rc && is_shown) dump_array(out, &set.a[i], opts->no_data);
        }
    }
    abut_arrays_clear(&set);
    if (!rc) rc = check_patterns(&s, err);
    if (!rc) fputs("end\n", out);
    shown_clear(&s);
    return rc;
}
