/* The rigid part of a motion, and motions whose rigid part is a rotation. */
#include "math/rigid.h"
#include "check.h"

#include "base/rng.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

enum { N = 20 };

typedef struct cloud {
    int32_t node[N];
    double mass[N], x[3 * N], p[3 * N], q[3 * N];
} cloud;

/* Points anywhere, in falling order, with masses from 0.1 to 1. */
static void cloud_make(cloud *c, uint64_t seed)
{
    abut_rng r = { seed };
    for (int i = 0; i < N; i++) {
        c->node[i] = N - 1 - i;
        c->mass[i] = abut_rng_real(&r, 0.1, 1);
        for (int k = 0; k < 3; k++) c->x[3 * i + k] = abut_rng_real(&r, -1, 1), c->p[3 * i + k] = abut_rng_real(&r, -1, 1);
    }
}

/* The motion minus its rigid part has neither momentum nor angular momentum. */
TEST(the_rest_has_no_momentum)
{
    cloud c;
    for (uint64_t seed = 1; seed < 20; seed++) {
        cloud_make(&c, seed);
        const abut_rigid r = abut_rigid_part(N, c.node, c.mass, c.x, c.p);
        abut_vec3 linear = { 0, 0, 0 }, angular = { 0, 0, 0 };
        for (int i = 0; i < N; i++) {
            const abut_vec3 arm = abut_v3_diff(c.x + 3 * i, r.centre);
            const abut_vec3 rigid = abut_v3_add(abut_v3_get(r.shift), abut_v3_cross(abut_v3_get(r.spin), arm));
            const abut_vec3 rest = abut_v3_sub(abut_v3_get(c.p + 3 * i), rigid);
            linear = abut_v3_axpy(linear, c.mass[i], rest);
            angular = abut_v3_axpy(angular, c.mass[i], abut_v3_cross(abut_v3_get(c.x + 3 * i), rest));
        }
        CHECK_NEAR(abut_v3_norm(linear), 0, 1e-13);
        CHECK_NEAR(abut_v3_norm(angular), 0, 1e-13);
    }
}

/* About (1, 2, 3) by the angle a around the axis (0, 0, 1), and a shift: a closed form with cos and sin of the angle. */
TEST(a_rigid_motion_keeps_all_distances_and_is_the_rotation_by_its_angle)
{
    cloud c;
    cloud_make(&c, 7);
    for (double a = 1e-9; a < 3; a *= 7) {
        const double at[3] = { 1, 2, 3 }, shift[3] = { 0.3, -0.1, 0.2 };
        for (int i = 0; i < N; i++) {
            const double dx = c.x[3 * i] - at[0], dy = c.x[3 * i + 1] - at[1];
            c.p[3 * i] = shift[0] - a * dy;
            c.p[3 * i + 1] = shift[1] + a * dx;
            c.p[3 * i + 2] = shift[2];
        }
        const abut_rigid r = abut_rigid_part(N, c.node, c.mass, c.x, c.p);
        CHECK_NEAR(r.spin[0], 0, 1e-13);
        CHECK_NEAR(r.spin[1], 0, 1e-13);
        CHECK_NEAR(r.spin[2], a, 1e-13);
        for (int i = 0; i < N; i++) {
            double q[3];
            abut_rigid_rotate(&r, c.x + 3 * i, c.p + 3 * i, q);
            const double dx = c.x[3 * i] - r.centre[0], dy = c.x[3 * i + 1] - r.centre[1];
            CHECK_NEAR(q[0], r.shift[0] + cos(a) * dx - sin(a) * dy - dx, 1e-13);
            CHECK_NEAR(q[1], r.shift[1] + sin(a) * dx + cos(a) * dy - dy, 1e-13);
            CHECK_NEAR(q[2], shift[2], 1e-13);
        }
    }
}

TEST(to_first_order_a_rotated_motion_is_the_motion)
{
    cloud c;
    cloud_make(&c, 11);
    for (double t = 1e-2; t > 1e-6; t /= 10) {
        double p[3 * N], most = 0;
        for (int i = 0; i < 3 * N; i++) p[i] = t * c.p[i];
        const abut_rigid r = abut_rigid_part(N, c.node, c.mass, c.x, p);
        for (int i = 0; i < N; i++) {
            double q[3];
            abut_rigid_rotate(&r, c.x + 3 * i, p + 3 * i, q);
            for (int k = 0; k < 3; k++) most = fmax(most, fabs(q[k] - p[3 * i + k]));
        }
        CHECK(most < 3 * t * t && most > 1e-3 * t * t);
    }
}

/* R of the rotation about w by |w|, from its quaternion. */
static void matrix_of(const double w[3], double R[3][3])
{
    const double a = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), s = a > 0 ? sin(a / 2) / a : 0.5, c = cos(a / 2);
    const double q[3] = { s * w[0], s * w[1], s * w[2] };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 3 - i - j;
            R[i][j] = 2 * q[i] * q[j];
            if (i == j) R[i][j] += 2 * c * c - 1;
            else R[i][j] += 2 * c * q[k] * ((i + 1) % 3 == j ? -1 : 1);
        }
}

TEST(what_is_not_rigid_of_a_motion_is_turned_with_it)
{
    cloud c;
    for (uint64_t seed = 20; seed < 30; seed++) {
        cloud_make(&c, seed);
        const abut_rigid r = abut_rigid_part(N, c.node, c.mass, c.x, c.p);
        double R[3][3];
        matrix_of(r.spin, R);
        for (int i = 0; i < N; i++) {
            const double *x = c.x + 3 * i, *p = c.p + 3 * i;
            double q[3], arm[3], rest[3];
            for (int k = 0; k < 3; k++) arm[k] = x[k] - r.centre[k];
            for (int k = 0; k < 3; k++) {
                const int l = (k + 1) % 3, m = (k + 2) % 3;
                rest[k] = p[k] - r.shift[k] - (r.spin[l] * arm[m] - r.spin[m] * arm[l]);
            }
            abut_rigid_rotate(&r, x, p, q);
            for (int k = 0; k < 3; k++) {
                double want = r.shift[k] - arm[k];
                for (int l = 0; l < 3; l++) want += R[k][l] * (arm[l] + rest[l]);
                CHECK_NEAR(q[k], want, 1e-14);
            }
        }
    }
}

/* Points of mass 1 at +-1 on an axis, and beside it: moments of inertia 2, 2 and 2 w^2 about the axis, nearly. */
TEST(points_beside_a_line_spin_if_their_inertia_about_it_is_more_than_rounding)
{
    for (int axis = 0; axis < 3; axis++)
        for (int wide = 0; wide < 2; wide++) {
            const int side = (axis + 1) % 3, other = (axis + 2) % 3;
            const double w = wide ? 1e-4 : 1e-7, mass[4] = { 1, 1, 1, 1 };      /* w^2/8 above and below 1e-12 */
            const int32_t node[4] = { 0, 1, 2, 3 };
            double x[12] = { 0 }, p[12] = { 0 };
            x[axis] = 1, x[3 + axis] = -1, x[6 + side] = w, x[9 + side] = -w;
            p[6 + other] = w, p[9 + other] = -w;        /* turns about the axis */
            p[other] = 0.5, p[3 + other] = -0.5;        /* and about `side` */
            const abut_rigid r = abut_rigid_part(4, node, mass, x, p);
            CHECK_NEAR(r.spin[axis], wide ? 1 : 0, 1e-9);
            CHECK_NEAR(fabs(r.spin[side]), wide ? 0.5 : 0, 1e-9);
            CHECK_NEAR(r.spin[other], 0, 1e-9);
        }
}

TEST(points_on_a_line_or_without_mass_do_not_spin)
{
    cloud c;
    cloud_make(&c, 3);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) c.x[3 * i + k] = (k + 1) * 0.1 * i;
    abut_rigid r = abut_rigid_part(N, c.node, c.mass, c.x, c.p);
    CHECK(r.spin[0] == 0 && r.spin[1] == 0 && r.spin[2] == 0);
    for (int i = 0; i < N; i++) {
        double q[3];
        abut_rigid_rotate(&r, c.x + 3 * i, c.p + 3 * i, q);
        for (int k = 0; k < 3; k++) CHECK_NEAR(q[k], c.p[3 * i + k], 1e-15);
    }
    r = abut_rigid_part(0, c.node, c.mass, c.x, c.p);
    CHECK(r.spin[0] == 0 && r.shift[0] == 0 && r.centre[0] == 0);
    memset(c.mass, 0, sizeof c.mass);
    r = abut_rigid_part(N, c.node, c.mass, c.x, c.p);
    CHECK(r.spin[0] == 0 && r.shift[0] == 0);
}
