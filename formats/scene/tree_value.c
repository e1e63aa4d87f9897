#include "formats/scene/tree_value.h"

#include "scene/scene.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const EXAMPLES[] = {
    [ABUT_Q_PURE] = "0.5", [ABUT_Q_TIME] = "10 ms", [ABUT_Q_PER_TIME] = "2 1/s", [ABUT_Q_LENGTH] = "2 mm",
    [ABUT_Q_LENGTH_OR_L] = "1e-3 l", [ABUT_Q_SPEED] = "1 m/s", [ABUT_Q_SPEED_OR_L] = "1e-3 l/s",
    [ABUT_Q_ACCELERATION] = "-9.81 m/s^2", [ABUT_Q_FORCE] = "10 N", [ABUT_Q_STIFFNESS] = "100 N/m",
    [ABUT_Q_FORCE_DENSITY] = "10 N/m^3", [ABUT_Q_DENSITY] = "1000 kg/m^3", [ABUT_Q_PRESSURE] = "10 kPa",
    [ABUT_Q_VOLUME] = "1e-6 m^3", [ABUT_Q_ANGLE] = "90 deg", [ABUT_Q_RATE] = "90 deg/s",
};

static int unit_needed(abut_quantity q)
{
    return q == ABUT_Q_LENGTH_OR_L || q == ABUT_Q_SPEED_OR_L || q == ABUT_Q_ANGLE || q == ABUT_Q_RATE;
}

static abut_status wrong(const abut_tree *t, const char *what, abut_quantity q, abut_err *err)
{
    char units[128], *end = NULL;
    abut_unit_names(q, units, sizeof units);
    if (t->kind == ABUT_TREE_TEXT) (void)strtod(t->text, &end);
    const abut_unit *like = end && end != t->text && *end ? abut_unit_like(q, end) : NULL;
    return abut_tree_fail_kind(t, what, err, "a number%s%s%s, as %s%s%s%s",
                               !*units ? "" : unit_needed(q) ? " and its unit, one of " : ", if it has a unit one of ", units,
                               q == ABUT_Q_LENGTH_OR_L ? " (l: the diagonal of the simulated bodies)" : "", EXAMPLES[q],
                               like ? "; did you mean '" : "", like ? like->name : "",
                               like ? "'?" : "");
}

/* Angles beyond it have no digits left of a turn that mean anything; powers of other numbers beyond it are not finite. */
static double most(abut_quantity q)
{
    return q == ABUT_Q_ANGLE || q == ABUT_Q_RATE ? ABUT_TURNS_MOST * ABUT_TURN : ABUT_FARTHEST;
}

static abut_status too_large(const abut_tree *t, const char *what, abut_quantity q, abut_err *err)
{
    if (q != ABUT_Q_ANGLE && q != ABUT_Q_RATE)
        return abut_tree_fail(t, err, "%s is '%.60s': expected between -%g and %g in SI units", what, t->text, most(q), most(q));
    return abut_tree_fail(t, err, "%s is '%.60s': expected at most %g turns%s", what, t->text, ABUT_TURNS_MOST,
                          q == ABUT_Q_RATE ? " a second" : "");
}

abut_status abut_tree_real(const abut_tree *t, const char *what, abut_quantity q, double *out, int *per_length,
                           abut_err *err)
{
    if (t->kind != ABUT_TREE_TEXT || !*t->text) return wrong(t, what, q, err);
    char *end;
    const double v = strtod(t->text, &end);
    if (end == t->text || !isfinite(v)) return wrong(t, what, q, err);
    while (*end == ' ') end++;
    const abut_unit *u = *end ? abut_unit_find(q, end) : NULL;
    if ((*end || unit_needed(q)) && !u) return wrong(t, what, q, err);
    if (u && u->per_length && !per_length) return wrong(t, what, q, err);
    const double si = u ? v * u->factor : v;
    if (fabs(si) > most(q)) return too_large(t, what, q, err);
    *out = si;
    if (per_length) *per_length = u ? u->per_length : 0;
    return ABUT_OK;
}

abut_status abut_tree_positive(const abut_tree *t, const char *what, abut_quantity q, double *out, int *per_length,
                               abut_err *err)
{
    double v;
    int l = 0;
    const abut_status rc = abut_tree_real(t, what, q, &v, per_length ? &l : NULL, err);
    if (rc) return rc;
    if (!(v > 0)) return abut_tree_fail(t, err, "%s is '%s': expected more than 0", what, t->text);
    *out = v;
    if (per_length) *per_length = l;
    return ABUT_OK;
}

abut_status abut_tree_not_negative(const abut_tree *t, const char *what, abut_quantity q, double *out, abut_err *err)
{
    double v;
    const abut_status rc = abut_tree_real(t, what, q, &v, NULL, err);
    if (rc) return rc;
    if (!(v >= 0)) return abut_tree_fail(t, err, "%s is '%s': expected 0 or more", what, t->text);
    *out = v;
    return ABUT_OK;
}

double abut_tree_norm(double *v, int n)
{
    double largest = 0, sum = 0;
    for (int k = 0; k < n; k++) largest = fmax(largest, fabs(v[k]));
    for (int k = 0; k < n && largest > 0; k++) v[k] = scalbn(v[k], -ilogb(largest)), sum += v[k] * v[k];
    return sqrt(sum);
}

static abut_status list_of(const abut_tree *t, const char *what, int n, const char *example, abut_err *err)
{
    if (t->kind == ABUT_TREE_LIST && t->n == n) return ABUT_OK;
    return abut_tree_fail_kind(t, what, err, "a list of %d numbers%s%s", n, example ? ", " : "", example ? example : "");
}

abut_status abut_tree_vector(const abut_tree *t, const char *what, abut_quantity q, int n, double *out, abut_err *err)
{
    static const char *const example[] = { NULL, "[1]", "[0, 1]", "[0, 1, 0]", "[1, 0, 0, 0]" };
    abut_status rc = list_of(t, what, n, n < 5 ? example[n] : NULL, err);
    const abut_tree *c = t->child;
    for (int i = 0; i < n && !rc; i++, c = c->next) rc = abut_tree_real(c, what, q, &out[i], NULL, err);
    return rc;
}

abut_status abut_tree_int(const abut_tree *t, const char *what, int32_t lo, int32_t hi, int32_t *out, abut_err *err)
{
    if (t->kind == ABUT_TREE_TEXT && *t->text) {
        char *end;
        errno = 0;
        const long long v = strtoll(t->text, &end, 10);
        if (!*end && !errno && v >= lo && v <= hi) {
            *out = (int32_t)v;
            return ABUT_OK;
        }
    }
    return abut_tree_fail_kind(t, what, err, lo == hi ? "%d" : "an integer from %d to %d", lo, hi);
}

abut_status abut_tree_ints(const abut_tree *t, const char *what, int n, int32_t lo, int32_t hi, int32_t *out,
                           abut_err *err)
{
    static const char *const example[] = { NULL, "[4]", "[4, 4]", "[4, 4, 4]", "[4, 5, 6, 7]" };
    abut_status rc = list_of(t, what, n, n < 5 ? example[n] : NULL, err);
    const abut_tree *c = t->child;
    for (int i = 0; i < n && !rc; i++, c = c->next) rc = abut_tree_int(c, what, lo, hi, &out[i], err);
    return rc;
}

abut_status abut_tree_word(const abut_tree *t, const char *what, const char *example, const char **out, abut_err *err)
{
    if (t->kind != ABUT_TREE_TEXT || !*t->text) return abut_tree_fail_kind(t, what, err, "a text, as '%s'", example);
    *out = t->text;
    return ABUT_OK;
}

abut_status abut_tree_choice(const abut_tree *t, const char *what, const char *const *names, int *out, abut_err *err)
{
    char list[200];
    size_t used = 0;
    const char *word = t->kind == ABUT_TREE_TEXT ? t->text : NULL;
    for (int i = 0; names[i]; i++) {
        if (word && !strcmp(word, names[i])) {
            *out = i;
            return ABUT_OK;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = word ? abut_name_nearest(word, names) : NULL;
    if (near) return abut_tree_fail(t, err, "%s is '%.60s'; did you mean '%s'?", what, word, near);
    return abut_tree_fail_kind(t, what, err, "one of %s", list);
}

abut_status abut_tree_flag(const abut_tree *t, const char *what, int *out, abut_err *err)
{
    static const char *const names[] = { "false", "true", NULL };
    return abut_tree_choice(t, what, names, out, err);
}
