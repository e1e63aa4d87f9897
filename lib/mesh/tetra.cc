#include "mesh/tetra.h"

#include <cmath>
#include <cstdio>
#include <exception>
#include <new>

#define TETLIBRARY
#include <tetgen.h>

/* The points and triangles of a mesh in tetgen's structure.  It frees by its counts: each is set when what it counts is there, so
 * that memory may run out between any two. */
static void to_tetgen(const abut_mesh *m, tetgenio &in)
{
    in.firstnumber = 0;
    in.pointlist = new REAL[3 * static_cast<size_t>(m->nv)];
    in.numberofpoints = m->nv;
    for (size_t i = 0; i < 3 * static_cast<size_t>(m->nv); i++) in.pointlist[i] = m->x[i];
    in.facetlist = new tetgenio::facet[static_cast<size_t>(m->nf)];
    for (int32_t i = 0; i < m->nf; i++) tetgenio::init(&in.facetlist[i]);
    in.numberoffacets = m->nf;
    for (int32_t i = 0; i < m->nf; i++) {
        tetgenio::facet &f = in.facetlist[i];
        f.polygonlist = new tetgenio::polygon[1];
        tetgenio::polygon &p = f.polygonlist[0];
        tetgenio::init(&p);
        f.numberofpolygons = 1;
        p.vertexlist = new int[3];
        p.numberofvertices = 3;
        for (int k = 0; k < 3; k++) p.vertexlist[k] = m->tri[3 * static_cast<size_t>(i) + static_cast<size_t>(k)];
    }
}

/* Six times the volume of the tet a b c d. */
static double volume6(const double *a, const double *b, const double *c, const double *d)
{
    double e[3][3];
    for (int k = 0; k < 3; k++) e[0][k] = b[k] - a[k], e[1][k] = c[k] - a[k], e[2][k] = d[k] - a[k];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Copies tetgen's tets, flipped so that all are positive; *volume6_sum gets six times their volume. */
static abut_status from_tetgen(const tetgenio &io, abut_mesh *out, double *volume6_sum, abut_err *err)
{
    abut_status rc = ABUT_OK;
    for (int i = 0; i < io.numberofpoints && !rc; i++) rc = abut_mesh_add_vertex(out, io.pointlist + 3 * i, err);
    *volume6_sum = 0;
    for (int i = 0; i < io.numberoftetrahedra && !rc; i++) {
        const int *t = io.tetrahedronlist + static_cast<size_t>(i) * static_cast<size_t>(io.numberofcorners);
        const double *x = io.pointlist;
        const double v = volume6(x + 3 * t[0], x + 3 * t[1], x + 3 * t[2], x + 3 * t[3]);
        *volume6_sum += std::fabs(v);
        rc = v < 0 ? abut_mesh_add_tet(out, t[0], t[1], t[3], t[2], err) : abut_mesh_add_tet(out, t[0], t[1], t[2], t[3], err);
    }
    return rc;
}

/* Six times the volume that the triangles enclose (divergence theorem), relative to their first point. */
static double enclosed6(const abut_mesh *m)
{
    double sum = 0;
    for (int32_t i = 0; i < m->nf; i++) {
        const int32_t *t = m->tri + 3 * static_cast<size_t>(i);
        sum += volume6(m->x + 3 * static_cast<size_t>(m->tri[0]), m->x + 3 * static_cast<size_t>(t[0]),
                       m->x + 3 * static_cast<size_t>(t[1]), m->x + 3 * static_cast<size_t>(t[2]));
    }
    return sum;
}

/* Many tets of at most that volume are half of it on average.  tetgen takes about 500 bytes for each. */
static const double TETS_MOST = 2e7, MEAN_SHARE = 0.5;

/* tetgen ends the process where all points are in a plane of two axes. */
static abut_status expect_depth(const abut_mesh *m, abut_err *err)
{
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int32_t i = 0; i < m->nv; i++) {
            lo = std::fmin(lo, m->x[3 * static_cast<size_t>(i) + k]);
            hi = std::fmax(hi, m->x[3 * static_cast<size_t>(i) + k]);
        }
        if (!(hi > lo)) return abut_fail(err, ABUT_E_GEOM, "the surface is flat across axis %c: expected a closed surface", "xyz"[k]);
    }
    return ABUT_OK;
}

static abut_status fill(const abut_mesh *m, double max_volume, int keep_surface, abut_mesh *out, abut_err *err)
{
    tetgenio in, result;
    char switches[64];
    const double tets = std::fabs(enclosed6(m)) / 6 / (MEAN_SHARE * max_volume);
    if (!(tets <= TETS_MOST))
        return abut_fail(err, ABUT_E_GEOM, "%.3g m^3 in tets of at most %g m^3 are about %.2g tets: expected at most %g",
                         std::fabs(enclosed6(m)) / 6, max_volume, tets, TETS_MOST);
    if (expect_depth(m, err)) return err->code;
    to_tetgen(m, in);
    std::snprintf(switches, sizeof switches, "p%sq1.4a%.17gQ", keep_surface ? "Y" : "", max_volume);
    ::tetrahedralize(switches, &in, &result);
    double filled = 0;
    const double want = enclosed6(m);
    abut_status rc = from_tetgen(result, out, &filled, err);
    if (!rc && out->nt == 0) rc = abut_fail(err, ABUT_E_GEOM, "tetgen found no inside: expected a closed surface");
    if (!rc && !(std::fabs(filled - want) <= 1e-6 * filled))
        rc = abut_fail(err, ABUT_E_GEOM, "the surface encloses %.6g m^3, its tets fill %.6g m^3: expected a closed surface "
                       "without cavities, all triangles counter-clockwise from outside", want / 6, filled / 6);
    return rc;
}

extern "C" abut_status abut_tetrahedralize(const abut_mesh *m, double max_volume, int keep_surface, abut_mesh *out,
                                           abut_err *err)
{
    abut_status rc;
    try {
        rc = fill(m, max_volume, keep_surface, out, err);
    } catch (const std::bad_alloc &) {
        rc = abut_fail(err, ABUT_E_NOMEM, "tetgen: no memory");
    } catch (int code) {
        rc = abut_fail(err, code == 1 ? ABUT_E_NOMEM : ABUT_E_GEOM, "tetgen gave up: %s (code %d)",
                       code == 1 ? "no memory" : code == 3 ? "the surface touches itself"
                                                           : "expected a closed surface that does not touch itself", code);
    } catch (const std::exception &e) {
        rc = abut_fail(err, ABUT_E_GEOM, "tetgen gave up: %s", e.what());
    }
    if (rc) abut_mesh_clear(out);
    return rc;
}
