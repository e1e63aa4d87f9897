#include "solve/without.h"

#include <stdio.h>
#include <string.h>

enum { FEATURES = 9 };
/* in the order of their bits */
static const char *const feature[FEATURES] = { "look-ahead", "second-order", "lengthen", "reuse", "warm-start", "majorant",
                                               "beyond", "rotations", "scale" };

abut_status abut_without_parse(const char *list, unsigned *without, abut_err *err)
{
    *without = 0;
    for (const char *word = list; word;) {
        const size_t n = strcspn(word, ",");
        char all[ABUT_WITHOUT_WORDS];
        int k = 0;
        while (k < FEATURES && (strlen(feature[k]) != n || memcmp(feature[k], word, n))) k++;
        if (k == FEATURES)
            return abut_fail(err, ABUT_E_ARG, "'%.*s' is no feature to do without: know %s", n < 80 ? (int)n : 80, word,
                             abut_without_words(~0u, all));
        *without |= 1u << k;
        word = word[n] ? word + n + 1 : NULL;
    }
    return ABUT_OK;
}

const char *abut_without_words(unsigned without, char text[ABUT_WITHOUT_WORDS])
{
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; k < FEATURES; k++)
        if (without & 1u << k)
            used += (size_t)snprintf(text + used, ABUT_WITHOUT_WORDS - used, "%s%s", used ? "," : "", feature[k]);
    return text;
}
