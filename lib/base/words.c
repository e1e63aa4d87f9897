#include "base/words.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 40 };

/* Letters to insert, delete or change, counting a swap of neighbours as one (optimal string alignment). */
static int word_distance(const char *a, const char *b)
{
    const int n = (int)strlen(a), m = (int)strlen(b);
    int d[WORD_MAX + 1][WORD_MAX + 1];
    if (n > WORD_MAX || m > WORD_MAX) return WORD_MAX;
    for (int i = 0; i <= n; i++) d[i][0] = i;
    for (int k = 0; k <= m; k++) d[0][k] = k;
    for (int i = 1; i <= n; i++)
        for (int k = 1; k <= m; k++) {
            int best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            if (d[i - 1][k] + 1 < best) best = d[i - 1][k] + 1;
            if (d[i][k - 1] + 1 < best) best = d[i][k - 1] + 1;
            const int swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            if (swapped && d[i - 2][k - 2] + 1 < best) best = d[i - 2][k - 2] + 1;
            d[i][k] = best;
        }
    return d[n][m];
}

const char *abut_name_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    int least = ((int)strlen(word) + 2) / 3 + 1;
    for (; *names; names++) {
        const int d = word_distance(word, *names);
        if (d < least) least = d, best = *names;
    }
    return best;
}

const char *abut_names_join(const char *const *names, char *buf, size_t size)
{
    size_t used = 0;
    *buf = 0;
    for (int i = 0; names[i] && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", names[i]);
    return buf;
}

abut_status abut_name_find(const char *what, const char *word, const char *const *names, int *index, abut_err *err)
{
    char all[240];
    for (*index = 0; names[*index]; ++*index)
        if (!strcmp(word, names[*index])) return ABUT_OK;
    const char *near = abut_name_nearest(word, names);
    return abut_fail(err, ABUT_E_ARG, "%s %.80s: %s%s%sknow %s", what, word, near ? "did you mean " : "", near ? near : "",
                     near ? "? " : "", abut_names_join(names, all, sizeof all));
}
