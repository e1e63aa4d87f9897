#include "formats/result/json_text.h"

#include "formats/stream/dump.h"

#include <math.h>

void abut_json_string(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') fprintf(f, "\\%c", c);
        else if (c < 0x20) fprintf(f, "\\u%04x", c);
        else fputc(c, f);
    }
    fputc('"', f);
}

void abut_json_number(FILE *f, double v)
{
    char text[ABUT_NUMBER_MAX];
    fputs(isfinite(v) ? abut_print_f64(text, v) : "null", f);
}
