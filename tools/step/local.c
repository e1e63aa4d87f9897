#include "tools/step/local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int index_of(const char *word, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(word, names[i])) return i;
    return -1;
}

static abut_status parse_iterations(const char *word, int *n, abut_err *err)
{
    char *end;
    if (!strcmp(word, "converged")) return *n = 0, ABUT_OK;
    const long v = strtol(word, &end, 10);
    if (!*word || *end || v < 1 || v > 1000000)
        return abut_fail(err, ABUT_E_ARG, "--iterations %.80s: want 1 to 1000000, or 'converged'", word);
    *n = (int)v;
    return ABUT_OK;
}

abut_status abut_local_parse(const abut_local_words *w, int *is_local, abut_lg_opts *o, abut_err *err)
{
    *o = abut_lg_defaults();
    const int method = index_of(w->solver, abut_lg_names);
    *is_local = method >= 0;
    if (!*is_local) {
        if (w->iterations || w->contact)
            return abut_fail(err, ABUT_E_ARG, "--%s: for --solver pd, mass-springs and admm-pd, not for %.80s",
                             w->iterations ? "iterations" : "contact", w->solver);
        return ABUT_OK;
    }
    o->method = method;
    if (w->barrier_options)
        return abut_fail(err, ABUT_E_ARG,
                         "--solver %s: knows no --one-pass, --lags, --with, --max-newton, --history, --linear-solver, "
                         "--without and --dump-stuck",
                         w->solver);
    const int by_norm = !strcmp(w->stop, "cn");
    if (!isnan(w->tolerance) && !by_norm)
        return abut_fail(err, ABUT_E_ARG, "--tolerance: of --solver %s with --stop cn alone", w->solver);
    if (by_norm) {
        o->norm = isnan(w->tolerance) ? 1e-5 : w->tolerance;
        o->iterations = 0;
    }
    if (w->contact) {
        const int choice = index_of(w->contact, abut_lg_contact_names);
        if (choice < 0) return abut_fail(err, ABUT_E_ARG, "--contact %.80s: want ignore or springs", w->contact);
        o->contact = ABUT_LG_IGNORE + choice;
    }
    return w->iterations ? parse_iterations(w->iterations, &o->iterations, err) : ABUT_OK;
}
