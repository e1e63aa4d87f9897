#include "mesher/generate.h"

#include <math.h>

enum { CELLS_MAX = 4096 };

static abut_status check_size(const char *what, const double *size, int n, abut_err *err)
{
    for (int k = 0; k < n; k++)
        if (!(size[k] > 0 && isfinite(size[k])))
            return abut_fail(err, ABUT_E_ARG, "%s: size %g m: expected more than 0", what, size[k]);
    return ABUT_OK;
}

static abut_status check_cells(const char *what, const int32_t *cells, int n, abut_err *err)
{
    double total = 1;
    for (int k = 0; k < n; k++) {
        if (cells[k] < 1 || cells[k] > CELLS_MAX)
            return abut_fail(err, ABUT_E_ARG, "%s: %d cells: expected 1 to %d", what, cells[k], CELLS_MAX);
        total *= cells[k] + 1.0;
    }
    if (total > 5e6) return abut_fail(err, ABUT_E_ARG, "%s: %.3g points: expected at most 5e6", what, total);
    return ABUT_OK;
}

/* Points of a lattice over [-1, 1]^3, x fastest. */
static abut_status lattice_points(const int32_t n[3], abut_mesh *m, abut_err *err)
{
    for (int32_t k = 0; k <= n[2]; k++)
        for (int32_t j = 0; j <= n[1]; j++)
            for (int32_t i = 0; i <= n[0]; i++) {
                const double p[3] = { (2.0 * i - n[0]) / n[0], (2.0 * j - n[1]) / n[1], (2.0 * k - n[2]) / n[2] };
                const abut_status rc = abut_mesh_add_vertex(m, p, err);
                if (rc) return rc;
            }
    return ABUT_OK;
}

/* Six tets of cell c; flip[k] mirrors the cell along axis k. */
static abut_status cell_tets(const int32_t n[3], const int32_t c[3], const int flip[3], abut_mesh *m, abut_err *err)
{
    static const int PATH[6][3] = { { 0, 1, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 1, 0, 2 }, { 2, 1, 0 } };
    const int mirrored = (flip[0] + flip[1] + flip[2]) & 1;
    for (int q = 0; q < 6; q++) {
        int corner[3] = { 0, 0, 0 };
        int32_t v[4];
        for (int step = 0; step < 4; step++) {
            if (step) corner[PATH[q][step - 1]] = 1;
            int32_t at[3];
            for (int k = 0; k < 3; k++) at[k] = c[k] + (corner[k] ^ flip[k]);
            v[step] = (at[2] * (n[1] + 1) + at[1]) * (n[0] + 1) + at[0];
        }
        const int odd = (q >= 3) ^ mirrored;    /* the last three paths are odd permutations */
        const abut_status rc = abut_mesh_add_tet(m, v[0], v[1], v[odd ? 3 : 2], v[odd ? 2 : 3], err);
        if (rc) return rc;
    }
    return ABUT_OK;
}

/* Tets of the whole lattice; along the axes of `radial` the diagonals point away from the middle. */
static abut_status lattice(const int32_t n[3], const int radial[3], abut_mesh *m, abut_err *err)
{
    abut_status rc = lattice_points(n, m, err);
    for (int32_t k = 0; k < n[2] && !rc; k++)
        for (int32_t j = 0; j < n[1] && !rc; j++)
            for (int32_t i = 0; i < n[0] && !rc; i++) {
                const int32_t c[3] = { i, j, k };
                int flip[3];
                for (int d = 0; d < 3; d++) flip[d] = radial[d] && 2 * c[d] < n[d];
                rc = cell_tets(n, c, flip, m, err);
            }
    if (rc) abut_mesh_clear(m);
    return rc;
}

abut_status abut_generate_box(const double size[3], const int32_t cells[3], abut_mesh *m, abut_err *err)
{
    abut_status rc = check_size("box", size, 3, err);
    if (!rc) rc = check_cells("box", cells, 3, err);
    if (!rc) rc = lattice(cells, (int[3]){ 0, 0, 0 }, m, err);
    for (int32_t i = 0; i < m->nv && !rc; i++)
        for (int k = 0; k < 3; k++) m->x[3 * (size_t)i + k] *= size[k] / 2;
    return rc;
}

/* p -> r p |p|max / |p|2 over the coordinates that `radial` marks. */
static void round_off(double *p, const int radial[3], double r)
{
    double big = 0, norm2 = 0;
    for (int k = 0; k < 3; k++)
        if (radial[k]) big = fmax(big, fabs(p[k])), norm2 += p[k] * p[k];
    const double s = norm2 > 0 ? r * big / sqrt(norm2) : 0;
    for (int k = 0; k < 3; k++)
        if (radial[k]) p[k] *= s;
}

static abut_status check_even(const char *what, int32_t cells, abut_err *err)
{
    if (cells % 2 == 0) return ABUT_OK;
    return abut_fail(err, ABUT_E_ARG, "%s: %d cells over the diameter: expected an even number", what, cells);
}

abut_status abut_generate_sphere(double radius, int32_t cells, abut_mesh *m, abut_err *err)
{
    const int radial[3] = { 1, 1, 1 };
    const int32_t n[3] = { cells, cells, cells };
    abut_status rc = check_size("sphere", &radius, 1, err);
    if (!rc) rc = check_cells("sphere", n, 3, err);
    if (!rc) rc = check_even("sphere", cells, err);
    if (!rc) rc = lattice(n, radial, m, err);
    for (int32_t i = 0; i < m->nv && !rc; i++) round_off(m->x + 3 * (size_t)i, radial, radius);
    return rc;
}

abut_status abut_generate_cylinder(double radius, double height, int32_t across, int32_t along, abut_mesh *m,
                                   abut_err *err)
{
    const int radial[3] = { 1, 0, 1 };
    const int32_t n[3] = { across, along, across };
    abut_status rc = check_size("cylinder", (double[2]){ radius, height }, 2, err);
    if (!rc) rc = check_cells("cylinder", n, 3, err);
    if (!rc) rc = check_even("cylinder", across, err);
    if (!rc) rc = lattice(n, radial, m, err);
    for (int32_t i = 0; i < m->nv && !rc; i++) {
        round_off(m->x + 3 * (size_t)i, radial, radius);
        m->x[3 * (size_t)i + 1] *= height / 2;
    }
    return rc;
}

static abut_status cloth_cell(const int32_t cells[2], int32_t i, int32_t k, abut_mesh *m, abut_err *err)
{
    const int32_t a = k * (cells[0] + 1) + i, b = a + 1, c = a + cells[0] + 1, d = c + 1;
    /* corners a (-,-), b (+,-), c (-,+), d (+,+) of (x, z); counter-clockwise seen from above (+y) */
    const int cut = (i + k) & 1;
    abut_status rc = abut_mesh_add_tri(m, a, c, cut ? b : d, err);
    if (!rc) rc = cut ? abut_mesh_add_tri(m, b, c, d, err) : abut_mesh_add_tri(m, a, d, b, err);
    return rc;
}

abut_status abut_generate_cloth(const double size[2], const int32_t cells[2], abut_mesh *m, abut_err *err)
{
    abut_status rc = check_size("cloth", size, 2, err);
    if (!rc) rc = check_cells("cloth", cells, 2, err);
    for (int32_t k = 0; !rc && k <= cells[1]; k++)
        for (int32_t i = 0; i <= cells[0] && !rc; i++) {
            const double p[3] = { size[0] * ((double)i / cells[0] - 0.5), 0, size[1] * ((double)k / cells[1] - 0.5) };
            rc = abut_mesh_add_vertex(m, p, err);
        }
    for (int32_t k = 0; !rc && k < cells[1]; k++)
        for (int32_t i = 0; i < cells[0] && !rc; i++) rc = cloth_cell(cells, i, k, m, err);
    if (rc) abut_mesh_clear(m);
    return rc;
}

abut_status abut_generate_rod(double length, int32_t cells, abut_mesh *m, abut_err *err)
{
    abut_status rc = check_size("rod", &length, 1, err);
    if (!rc) rc = check_cells("rod", &cells, 1, err);
    for (int32_t i = 0; !rc && i <= cells; i++) {
        const double p[3] = { length * ((double)i / cells - 0.5), 0, 0 };
        rc = abut_mesh_add_vertex(m, p, err);
        if (!rc && i) rc = abut_mesh_add_seg(m, i - 1, i, err);
    }
    if (rc) abut_mesh_clear(m);
    return rc;
}

static double grid_place(double size, int32_t count, int32_t i)
{
    return count > 1 ? size * ((double)i / (count - 1) - 0.5) : 0;
}

abut_status abut_generate_particles(const double size[3], const int32_t count[3], abut_mesh *m, abut_err *err)
{
    abut_status rc = check_cells("particles", count, 3, err);
    for (int k = 0; k < 3 && !rc; k++)
        if (count[k] > 1) rc = check_size("particles", &size[k], 1, err);
    for (int32_t k = 0; !rc && k < count[2]; k++)
        for (int32_t j = 0; j < count[1]; j++)
            for (int32_t i = 0; i < count[0] && !rc; i++) {
                const double p[3] = { grid_place(size[0], count[0], i), grid_place(size[1], count[1], j),
                                      grid_place(size[2], count[2], k) };
                rc = abut_mesh_add_vertex(m, p, err);
                if (!rc) rc = abut_mesh_add_point(m, m->nv - 1, err);
            }
    if (rc) abut_mesh_clear(m);
    return rc;
}
