#include "mesh/tetra.h"

extern "C" {
#include "mesh/surface.h"
}

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

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

/* What tetgen's process sends: this, the coordinates, the corners. */
struct answer {
    int code;               /* 0: done; what tetgen threw; or one of those below */
    int32_t points, tets;
};
static const int NO_MEMORY = 1, ITSELF = 3, OTHER = -1;

/* Fills the surface, in this process; returns the code of an answer. */
static int run_tetgen(const abut_mesh *m, const char *switches, tetgenio &result)
{
    try {
        tetgenio in;
        char options[64];
        std::snprintf(options, sizeof options, "%s", switches);
        to_tetgen(m, in);
        ::tetrahedralize(options, &in, &result);
    } catch (const std::bad_alloc &) {
        return NO_MEMORY;
    } catch (int code) {
        return code;
    } catch (const std::exception &) {
        return OTHER;
    }
    return 0;
}

/* All n bytes, or 0. */
template <ssize_t step(int, char *, size_t)> static int transfer(int fd, void *bytes, size_t n)
{
    char *p = static_cast<char *>(bytes);
    while (n > 0) {
        const ssize_t k = step(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return 0;
        p += k;
        n -= static_cast<size_t>(k);
    }
    return 1;
}

static ssize_t write_some(int fd, char *p, size_t n) { return write(fd, p, n); }
static ssize_t read_some(int fd, char *p, size_t n) { return read(fd, p, n); }

static void send(int fd, const abut_mesh *m, const char *switches)
{
    tetgenio result;
    answer a = { run_tetgen(m, switches, result), 0, 0 };
    if (!a.code && result.numberoftetrahedra > 0) a.points = result.numberofpoints, a.tets = result.numberoftetrahedra;
    if (transfer<write_some>(fd, &a, sizeof a) &&
        transfer<write_some>(fd, result.pointlist, 3 * static_cast<size_t>(a.points) * sizeof(REAL)))
        transfer<write_some>(fd, result.tetrahedronlist, 4 * static_cast<size_t>(a.tets) * sizeof(int));
}

/* 0 when tetgen's process ended before it had sent everything. */
static int receive(int fd, answer *a, tetgenio &result)
{
    if (!transfer<read_some>(fd, a, sizeof *a)) return 0;
    if (a->code || !a->tets) return 1;
    result.pointlist = new REAL[3 * static_cast<size_t>(a->points)];
    result.numberofpoints = a->points;
    result.tetrahedronlist = new int[4 * static_cast<size_t>(a->tets)];
    result.numberoftetrahedra = a->tets;
    result.numberofcorners = 4;
    return transfer<read_some>(fd, result.pointlist, 3 * static_cast<size_t>(a->points) * sizeof(REAL)) &&
           transfer<read_some>(fd, result.tetrahedronlist, 4 * static_cast<size_t>(a->tets) * sizeof(int));
}

/* tetgen in a process of its own: where it follows a bad pointer, or an assertion of it fails, that process alone ends.  It ends
 * with this one, too, however that ends. */
static abut_status tets_of(const abut_mesh *m, const char *switches, tetgenio &result, abut_err *err)
{
    int fd[2], status = 0;
    if (pipe(fd)) return abut_fail(err, ABUT_E_IO, "tetgen: no pipe: %s", std::strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        close(fd[0]);
        send(fd[1], m, switches);
        _exit(0);
    }
    const int problem = errno;
    answer a = { 0, 0, 0 };
    close(fd[1]);
    int whole = 0, memory = 1;
    try {
        whole = child > 0 && receive(fd[0], &a, result);
    } catch (const std::bad_alloc &) {
        memory = 0;
    }
    close(fd[0]);           /* one that still writes ends by that */
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) { }
    if (child < 0) return abut_fail(err, ABUT_E_NOMEM, "tetgen: no process: %s", std::strerror(problem));
    if (!memory || a.code == NO_MEMORY) return abut_fail(err, ABUT_E_NOMEM, "tetgen: no memory");
    if (!whole && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return abut_fail(err, ABUT_E_NOMEM, "tetgen was killed: is there enough memory?");
    if (!whole)
        return abut_fail(err, ABUT_E_GEOM, "tetgen crashed (signal %d): expected a closed surface without triangles that are nearly "
                         "flat or nearly touch", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (a.code)
        return abut_fail(err, ABUT_E_GEOM, "tetgen gave up: %s (code %d)", a.code == ITSELF ? "the surface touches itself, or nearly"
                         : "expected a closed surface that does not touch itself", a.code);
    return ABUT_OK;
}

/* Facets that meet at more than this angle are one to tetgen, which triangulates its patches anew.  Where many that bend by less
 * follow each other, the solid has another surface; then those alone are one whose angle rounding cannot tell from 180 degrees. */
static const double USUAL_ANGLE = 179.9, FLAT_ANGLE = 179.99999;

/* Fills the surface: tets of the volume that it encloses, want6 / 6, to 1e-6. */
static abut_status fill_at(const abut_mesh *m, double max_volume, int keep_surface, double angle, double want6, abut_mesh *out,
                           abut_err *err)
{
    tetgenio result;
    char switches[64];
    double filled = 0;
    std::snprintf(switches, sizeof switches, "p%.9g%sq1.4a%.17gQ", angle, keep_surface ? "Y" : "", max_volume);
    abut_status rc = tets_of(m, switches, result, err);
    if (!rc) rc = from_tetgen(result, out, &filled, err);
    if (!rc && out->nt == 0) rc = abut_fail(err, ABUT_E_GEOM, "tetgen found no inside: expected a closed surface");
    if (!rc && std::fabs(filled + want6) <= 1e-6 * filled)
        return abut_fail(err, ABUT_E_GEOM, "all triangles are clockwise from outside: expected them counter-clockwise; `flip: true` "
                         "turns them over");
    if (!rc && !(std::fabs(filled - want6) <= 1e-6 * filled))
        rc = abut_fail(err, ABUT_E_GEOM, "the surface encloses %.6g m^3, its tets fill %.6g m^3: expected a closed surface "
                       "without cavities, all triangles counter-clockwise from outside", want6 / 6, filled / 6);
    return rc;
}

static abut_status fill(const abut_mesh *m, double max_volume, int keep_surface, int *is_second, abut_mesh *out, abut_err *err)
{
    const double want = enclosed6(m), tets = std::fabs(want) / 6 / (MEAN_SHARE * max_volume);
    if (!(tets <= TETS_MOST))
        return abut_fail(err, ABUT_E_GEOM, "%.3g m^3 in tets of at most %g m^3 are about %.2g tets: expected at most %g",
                         std::fabs(want) / 6, max_volume, tets, TETS_MOST);
    abut_status rc = abut_closed_surface_check(m->x, m->nv, m->tri, m->nf, err);
    if (rc) return rc;
    abut_err why = {};
    rc = fill_at(m, max_volume, keep_surface, USUAL_ANGLE, want, out, &why);
    *is_second = rc == ABUT_E_GEOM;
    if (*is_second) {
        abut_mesh_clear(out);
        return fill_at(m, max_volume, keep_surface, FLAT_ANGLE, want, out, err);
    }
    if (rc && err) *err = why;
    return rc;
}

extern "C" abut_status abut_tetrahedralize(const abut_mesh *m, double max_volume, int keep_surface, int *is_second,
                                           abut_mesh *out, abut_err *err)
{
    *is_second = 0;
    const abut_status rc = fill(m, max_volume, keep_surface, is_second, out, err);
    if (rc) abut_mesh_clear(out);
    return rc;
}
