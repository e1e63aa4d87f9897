/* Words from a list of names, as options and keys have them. */
#ifndef ABUT_BASE_WORDS_H
#define ABUT_BASE_WORDS_H

#include "base/err.h"

#include <stddef.h>

/** The name nearest to `word` (fewest letters to change: at most a third of its own, rounded up), NULL: none is near.
 * names: NULL-terminated. */
const char *abut_name_nearest(const char *word, const char *const *names);

/** The names in their order, comma separated, as far as they fit; returns buf. */
const char *abut_names_join(const char *const *names, char *buf, size_t size);

/** For messages with numbers: "s" unless n is 1, as in "%d frame%s", n, abut_s(n); or one of two words. */
static inline const char *abut_plural(long long n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}
static inline const char *abut_s(long long n)
{
    return abut_plural(n, "", "s");
}

/** *index: the place of `word` among names.
 * Fails  ABUT_E_ARG with `what` and the word, the nearest name and all of them */
ABUT_MUST_USE abut_status abut_name_find(const char *what, const char *word, const char *const *names, int *index, abut_err *err);

#endif
