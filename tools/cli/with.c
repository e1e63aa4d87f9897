#include "tools/cli/with.h"

#include <string.h>

static int is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && !memcmp(word, name, n);
}

abut_status abut_with_parse(const char *text, int *with, abut_err *err)
{
    *with = 0;
    for (const char *word = text; word;) {
        const size_t n = strcspn(word, ",");
        if (is(word, n, "forces")) *with |= ABUT_WITH_FORCES;
        else if (is(word, n, "energies")) *with |= ABUT_WITH_ENERGIES;
        else if (is(word, n, "contacts")) *with |= ABUT_WITH_CONTACTS;
        else return abut_fail(err, ABUT_E_ARG, "--with %s: '%.*s' is none of forces, energies, contacts", text, (int)n, word);
        word = word[n] ? word + n + 1 : NULL;
    }
    return ABUT_OK;
}
