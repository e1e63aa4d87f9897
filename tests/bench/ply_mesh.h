/* Loads the public cloth-ball meshes for benchmarks: big-endian binary PLY, vertices of three floats, faces of three ints. */
#ifndef ABUT_BENCH_PLY_MESH_H
#define ABUT_BENCH_PLY_MESH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ply_mesh {
    int32_t nv, ne, nt;
    double *x;              /* [3 nv] */
    int32_t *edge, *tri;    /* [2 ne] unique, a < b; [3 nt] */
} ply_mesh;

static inline uint32_t ply_word(FILE *f)
{
    unsigned char b[4] = { 0 };
    return fread(b, 1, 4, f) == 4 ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3] : 0;
}

static inline int ply_edge_order(const void *p, const void *q)
{
    const int32_t *a = p, *b = q;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

static inline void ply_edges(ply_mesh *m)
{
    m->edge = malloc(6 * (size_t)m->nt * sizeof *m->edge);
    for (int32_t t = 0; t < m->nt; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = m->tri[3 * t + k], b = m->tri[3 * t + (k + 1) % 3];
            m->edge[6 * (size_t)t + 2 * k] = a < b ? a : b;
            m->edge[6 * (size_t)t + 2 * k + 1] = a < b ? b : a;
        }
    qsort(m->edge, 3 * (size_t)m->nt, 2 * sizeof *m->edge, ply_edge_order);
    m->ne = 0;
    for (int32_t e = 0; e < 3 * m->nt; e++)
        if (!m->ne || ply_edge_order(m->edge + 2 * e, m->edge + 2 * (m->ne - 1)))
            memmove(m->edge + 2 * m->ne++, m->edge + 2 * e, 2 * sizeof *m->edge);
}

/* 1 when the file was there and read whole. */
static inline int ply_load(const char *path, ply_mesh *m)
{
    *m = (ply_mesh){ 0 };
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    char line[200];
    while (fgets(line, sizeof line, f) && strncmp(line, "end_header", 10)) {
        if (!strncmp(line, "element vertex", 14)) m->nv = (int32_t)strtol(line + 14, NULL, 10);
        if (!strncmp(line, "element face", 12)) m->nt = (int32_t)strtol(line + 12, NULL, 10);
    }
    m->x = malloc(3 * (size_t)m->nv * sizeof *m->x);
    m->tri = malloc(3 * (size_t)m->nt * sizeof *m->tri);
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        const uint32_t w = ply_word(f);
        float v;
        memcpy(&v, &w, sizeof v);
        m->x[i] = v;
    }
    int ok = m->nv > 0 && m->nt > 0;
    for (int32_t t = 0; t < m->nt; t++) {
        ok &= fgetc(f) == 3;
        for (int k = 0; k < 3; k++) m->tri[3 * t + k] = (int32_t)ply_word(f);
    }
    fclose(f);
    if (ok) ply_edges(m);
    return ok;
}

static inline void ply_free(ply_mesh *m)
{
    free(m->x);
    free(m->edge);
    free(m->tri);
}

#endif
