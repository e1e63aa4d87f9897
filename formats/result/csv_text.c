#include "formats/result/csv_text.h"

#include "formats/stream/dump.h"

#include <math.h>
#include <string.h>

void abut_csv_text(FILE *f, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"') fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

void abut_csv_number(FILE *f, double v)
{
    char text[ABUT_NUMBER_MAX];
    if (!isnan(v)) fputs(abut_print_f64(text, v), f);
}
