/* Walks a folder of public CCD query files; the kind of a file is its folder, edge-edge or vertex-face. */
#ifndef ABUT_TESTS_QUERY_FILES_H
#define ABUT_TESTS_QUERY_FILES_H

#include "formats/mesh/ccd_csv.h"
#include "geom/dist.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

typedef struct query_set {
    abut_ccd_query *q;
    abut_stencil *kind;
    size_t n, cap;
    abut_err err;               /* of the first file that could not be read */
} query_set;

static inline void query_set_add(query_set *set, const abut_ccd_query *q, abut_stencil kind)
{
    if (set->n == set->cap) {
        set->cap = set->cap ? 2 * set->cap : 1024;
        set->q = realloc(set->q, set->cap * sizeof *set->q);
        set->kind = realloc(set->kind, set->cap * sizeof *set->kind);
    }
    set->q[set->n] = *q;
    set->kind[set->n++] = kind;
}

static inline void query_set_file(query_set *set, const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) return;
    abut_ccd_csv r = { f, path, 0 };
    abut_ccd_query q;
    const abut_stencil kind = strstr(path, "edge-edge") ? ABUT_EE : ABUT_PT;
    for (int more = 1; !set->err.code && !abut_ccd_csv_next(&r, &q, &more, &set->err) && more;) query_set_add(set, &q, kind);
    fclose(f);
}

/* Adds every .csv file under the folder; none if there is no such folder. */
static inline void query_set_load(query_set *set, const char *folder, int depth)
{
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        char path[1200];
        const size_t n = strlen(e->d_name);
        if (e->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path) continue;
        if (n > 4 && !strcmp(e->d_name + n - 4, ".csv")) query_set_file(set, path);
        else if (depth > 0) query_set_load(set, path, depth - 1);
    }
    closedir(d);
}

static inline void query_set_clear(query_set *set)
{
    free(set->q);
    free(set->kind);
    *set = (query_set){ 0 };
}

#endif
