#include "tools/mesh-prep/report.h"

#include <stdio.h>
#include <string.h>

enum { LISTED = 20 };

/* Writes a primitive: its points and its element; a tet as its faces. */
static void write_primitive(FILE *f, int size, const double *x, int *first)
{
    static const int FACES[4][3] = { { 1, 2, 3 }, { 0, 3, 2 }, { 0, 1, 3 }, { 0, 2, 1 } };
    for (int k = 0; k < size; k++) fprintf(f, "v %.17g %.17g %.17g\n", x[3 * k], x[3 * k + 1], x[3 * k + 2]);
    if (size == 1) fprintf(f, "p %d\n", *first);
    if (size == 2) fprintf(f, "l %d %d\n", *first, *first + 1);
    if (size == 3) fprintf(f, "f %d %d %d\n", *first, *first + 1, *first + 2);
    for (int k = 0; size == 4 && k < 4; k++)
        fprintf(f, "f %d %d %d\n", *first + FACES[k][0], *first + FACES[k][1], *first + FACES[k][2]);
    *first += size;
}

static abut_status write_obj(const abut_cli *cli, const abut_offenders *bad, const char *path, abut_err *err)
{
    FILE *f = abut_cli_create(cli, path, err);
    if (!f) return err->code;
    int first = 1;
    fprintf(f, "# %lld unusable primitives, %d listed\n", (long long)bad->total, bad->n);
    for (int i = 0; i < bad->n; i++) {
        const abut_offender *o = &bad->item[i];
        fprintf(f, "# %s\no %d\n", o->text, i + 1);
        write_primitive(f, o->size[0], o->x, &first);
        write_primitive(f, o->size[1], o->x + 3 * o->size[0], &first);
    }
    const int failed = ferror(f);
    if (fclose(f) || failed) return abut_fail(err, ABUT_E_IO, "cannot write %s", path);
    return ABUT_OK;
}

void abut_prep_report(const abut_cli *cli, const abut_offenders *bad, const char *path, abut_err *err)
{
    abut_err other = { 0 };
    for (int i = 0; i < bad->n && i < LISTED; i++)
        if (!strstr(err->msg, bad->item[i].text)) fprintf(stderr, "mesh-prep: %s\n", bad->item[i].text);
    if (bad->total > LISTED) fprintf(stderr, "mesh-prep: ... and %lld more\n", (long long)bad->total - LISTED);
    if (path && write_obj(cli, bad, path, &other)) *err = other;
}
