/* Files of meshes as tests write them, number by number, and what readers make of them. */
#ifndef TEST_MESH_FILES_H
#define TEST_MESH_FILES_H

#include "check.h"

#include "formats/mesh/mesh_io.h"
#include "bytes.h"

#include <stdarg.h>
#include <stdint.h>

/* Five points, two tets on the common triangle 1 2 3; bytes of a file as they are written. */
static const double X[5][3] = { { 0, 0, 0 }, { 1, 0, 0.5 }, { 0.25, 1, 0 }, { 0, 0, 1 }, { 1.5, 1, 1 } };
static const int32_t TET[2][4] = { { 0, 1, 2, 3 }, { 4, 3, 2, 1 } };
static const int32_t TRI[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 1, 2, 3 }, { 0, 3, 2 } };

static char file[1 << 16];
static size_t used;
static int swapped;

static inline void text(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    used += (size_t)vsnprintf(file + used, sizeof file - used, fmt, ap);
    va_end(ap);
}

static inline void raw(const void *v, size_t size)
{
    for (size_t i = 0; i < size; i++) file[used + i] = ((const char *)v)[swapped ? size - 1 - i : i];
    used += size;
}

static inline void raw_i32(int32_t v) { raw(&v, 4); }
static inline void raw_i64(int64_t v) { raw(&v, 8); }
static inline void raw_f32(float v) { raw(&v, 4); }

typedef abut_status reader(const abut_bytes *in, abut_mesh *out, abut_err *err);

static inline abut_status read_file(reader *read, abut_mesh *m, abut_err *err)
{
    abut_bytes in = { 0 };
    abut_status rc = bytes_copy("test.file", file, used, &in, err);
    if (!rc) rc = read(&in, m, err);
    abut_bytes_clear(&in);
    return rc;
}

static inline abut_status read_text(reader *read, const char *s, abut_mesh *m, abut_err *err)
{
    used = 0;
    text("%s", s);
    return read_file(read, m, err);
}

/* The text is refused and the message holds `part`. */
static inline int refused(reader *read, const char *s, const char *part)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    const abut_status rc = read_text(read, s, &m, &err);
    if (rc != ABUT_E_FORMAT || !strstr(err.msg, part)) printf("# status %d: %s\n", rc, err.msg);
    const int ok = rc == ABUT_E_FORMAT && strstr(err.msg, part) && !m.x;
    abut_mesh_clear(&m);
    return ok;
}

static inline int same_points(const abut_mesh *m)
{
    return m->nv == 5 && !memcmp(m->x, X, sizeof X);
}

static inline void put_int(int binary, int64_t v, size_t bytes)
{
    if (!binary) text("%lld ", (long long)v);
    else if (bytes == 4) raw_i32((int32_t)v);
    else raw_i64(v);
}

/* ---- VTK ---- */

static inline void vtk_ints(int binary, const int32_t *v, int n, int bytes)
{
    for (int i = 0; i < n; i++) put_int(binary, v[i], (size_t)bytes);
    text("\n");
}

/* The two tets and a boundary triangle; version 5 has offsets of 8 bytes; points are doubles, and a field is before them. */
static inline void vtk_file(int binary, int version)
{
    static const int32_t counted[] = { 4, 0, 1, 2, 3, 3, 0, 2, 1, 4, 4, 3, 2, 1 }, offsets[] = { 0, 4, 7, 11 };
    static const int32_t corners[] = { 0, 1, 2, 3, 0, 2, 1, 4, 3, 2, 1 }, types[] = { 10, 5, 10 };
    used = 0;
    swapped = 1;
    text("# vtk DataFile Version %d.0\na title: POINTS 3\n%s\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\n"
         "TIME 1 2 float\n", version, binary ? "BINARY" : "ASCII");
    if (binary) raw_f32(1), raw_f32(2);
    text(binary ? "\nPOINTS 5 double\n" : "1 2\nPOINTS 5 double\n");
    for (int i = 0; i < 15; i++) {
        if (binary) raw(&X[i / 3][i % 3], 8);
        else text("%.17g ", X[i / 3][i % 3]);
    }
    text("\nMETADATA\nINFORMATION 0\n\n");
    if (version < 5) {
        text("CELLS 3 14\n");
        vtk_ints(binary, counted, 14, 4);
    } else {
        text("CELLS 4 11\nOFFSETS vtktypeint64\n");
        vtk_ints(binary, offsets, 4, 8);
        text("CONNECTIVITY vtktypeint64\n");
        vtk_ints(binary, corners, 11, 8);
    }
    text("CELL_TYPES 3\n");
    vtk_ints(binary, types, 3, 4);
    swapped = 0;
}

#endif
