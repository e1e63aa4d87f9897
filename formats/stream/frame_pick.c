#include "formats/stream/frame_pick.h"
#include "base/words.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_MAX = 1 << 30 };

/* A whole number at *s, if there is one; *s moves past it.  Returns 0 when the number is out of range. */
static int number(const char **s, int32_t *v, int *given)
{
    char *end;
    *given = **s == '-' || (**s >= '0' && **s <= '9');
    if (!*given) return 1;
    const long n = strtol(*s, &end, 10);
    if (end == *s || n > FRAME_MAX || n < -FRAME_MAX) return 0;
    *s = end;
    *v = (int32_t)n;
    return 1;
}

static int parse_range(const char **s, struct abut_pick_range *r)
{
    int given, colon;
    *r = (struct abut_pick_range){ .by = 1, .open = 1 };
    if (!number(s, &r->from, &given)) return 0;
    if (**s != ':') {
        r->single = 1;
        return given;
    }
    (*s)++;
    if (!number(s, &r->to, &given)) return 0;
    r->open = !given;
    colon = **s == ':';
    if (!colon) return 1;
    (*s)++;
    return number(s, &r->by, &given) && r->by > 0;
}

abut_status abut_pick_parse(const char *text, abut_pick *p, abut_err *err)
{
    abut_pick made = { 0 };
    for (const char *s = text;; s++) {
        const char *start = s;
        const int length = (int)strcspn(s, ",");
        if (made.n == ABUT_PICK_MAX) return abut_fail(err, ABUT_E_ARG, "'%.60s': more than %d parts", text, ABUT_PICK_MAX);
        struct abut_pick_range *r = &made.range[made.n++];
        if (!parse_range(&s, r) || s != start + length)
            return abut_fail(err, ABUT_E_ARG, "'%.60s': '%.*s' is neither a frame nor a range A:B:C with C > 0", text,
                             length > 40 ? 40 : length, start);
        if (-r->from > made.hold) made.hold = -r->from;
        if (-r->to > made.hold) made.hold = -r->to;
        if (!*s) break;
    }
    *p = made;
    return ABUT_OK;
}

int abut_pick_takes(const abut_pick *p, int32_t i, int32_t total)
{
    for (int k = 0; k < p->n; k++) {
        const struct abut_pick_range *r = &p->range[k];
        int32_t from = r->from < 0 ? r->from + total : r->from;
        if (r->single) {
            if (i == from) return 1;
            continue;
        }
        if (from < 0) from = 0;
        const int32_t to = r->open ? total : r->to < 0 ? r->to + total : r->to;
        if (i >= from && i < to && (i - from) % r->by == 0) return 1;
    }
    return p->n == 0;
}

abut_status abut_pick_check(const abut_pick *p, int32_t total, abut_err *err)
{
    int any = 0;
    if (!total) return abut_fail(err, ABUT_E_FORMAT, "the stream holds no frame");
    for (int k = 0; k < p->n; k++) {
        const struct abut_pick_range *r = &p->range[k];
        const int32_t from = r->from < 0 ? r->from + total : r->from;
        if (r->single && (from < 0 || from >= total))
            return abut_fail(err, ABUT_E_ARG, "frame %d was asked for; the stream has %d frame%s (0 to %d)", r->from, total,
                             abut_s(total), total - 1);
    }
    for (int32_t i = 0; i < total && !any; i++) any = abut_pick_takes(p, i, total);
    if (!any) return abut_fail(err, ABUT_E_ARG, "no frame was chosen: the stream has %d", total);
    return ABUT_OK;
}
