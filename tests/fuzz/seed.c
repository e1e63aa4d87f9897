#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

int fuzz_load(unsigned char **data, size_t *size, const char *path, unsigned char first)
{
    enum { MOST = 1 << 20 };
    FILE *f = fopen(path, "rb");
    unsigned char *p = f ? malloc(MOST + 1) : NULL;
    if (p) {
        p[0] = first;
        *size = 1 + fread(p + 1, 1, MOST, f);
        *data = p;
    }
    if (f) fclose(f);
    return p != NULL;
}
