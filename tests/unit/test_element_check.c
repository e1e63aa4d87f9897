/* The check of a program's derivatives: right ones pass at every size, one wrong entry is named. */
#include "energy/element_energy.h"
#include "energy/term.h"

#include "check.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct law {
    double k, size;     /* stiffness; rest length */
    int wrong_g, wrong_H;   /* entries that are off by a thousandth of the largest; -1 none */
} law;

/* k (|x1 - x0|^2 / size^2 - 1)^2 + k cos(x1 x / size) */
static double spring(const void *own, int32_t element, const double *x, double *g, double *H)
{
    const law *l = own;
    const double s = 1 / (l->size * l->size), d[3] = { x[3] - x[0], x[4] - x[1], x[5] - x[2] };
    const double c = s * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - 1, at = x[3] / l->size;
    (void)element;
    for (int i = 0; i < 3 && g; i++) g[3 + i] = 4 * l->k * s * c * d[i], g[i] = -g[3 + i];
    if (g) g[3] -= l->k * sin(at) / l->size;
    for (int i = 0; i < 9 && H; i++) {
        const double h = l->k * s * (8 * s * d[i / 3] * d[i % 3] + (i % 4 ? 0 : 4 * c));
        const int block = 6 * (i / 3) + i % 3;
        H[block] = H[block + 21] = h, H[block + 3] = H[block + 18] = -h;
    }
    if (H) H[21] -= l->k * s * cos(at);
    if (g && l->wrong_g >= 0) g[l->wrong_g] += 1e-3 * 4 * l->k / l->size;
    if (H && l->wrong_H >= 0) H[l->wrong_H] += 1e-3 * 8 * l->k * s;
    return l->k * (c * c + cos(at));
}

enum { NV = 4 };
static const int32_t node[] = { 3, 1, 0, 2 };

static abut_status checked(law l, double away, abut_err *err)
{
    const double shape[3 * NV] = { 0.1, 0.2, -0.3, 1.2, 0.1, 0.4, -0.9, 0.7, 0.6, 0.3, -0.2, 0.1 };
    double x[3 * NV];
    for (int i = 0; i < 3 * NV; i++) x[i] = l.size * (shape[i] + away);
    const abut_element_energy e = { "spring", 2, 2, node, spring, &l };
    return abut_element_check(&e, x, err);
}

TEST(right_derivatives_pass_at_every_size_and_place)
{
    abut_err err = { 0 };
    for (double size = 1e-6; size < 2e3; size *= 10)
        for (double away = 0; away < 200; away = away * 10 + 1.5)
            CHECK(!checked((law){ 1e4, size, -1, -1 }, away, &err));
}

TEST(every_wrong_entry_is_found)
{
    abut_err err = { 0 };
    for (double size = 1e-3; size < 2; size *= 10) {
        for (int i = 0; i < 6; i++) {
            CHECK(checked((law){ 1e4, size, i, -1 }, 0, &err) == ABUT_E_ARG);
            CHECK(strstr(err.msg, "energy 'spring', element 0: its derivative by "));
        }
        for (int i = 0; i < 36; i++) {
            CHECK(checked((law){ 1e4, size, -1, i }, 0, &err) == ABUT_E_ARG);
            CHECK(strstr(err.msg, "element 0: its second derivative by "));
        }
    }
}

TEST(the_message_names_nodes_axes_and_both_numbers)
{
    abut_err err = { 0 };
    law l = { 1, 1, 4, -1 };
    CHECK(checked(l, 0, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "by y of node 1 is ") && strstr(err.msg, ", differences give "));
    l.wrong_g = -1, l.wrong_H = 6 * 2 + 3;
    CHECK(checked(l, 0, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "by z of node 3 and x of node 1 is "));
}

/* 1 / x of a node, where x is positive; its derivative as 0/0 where own says so */
static double wall(const void *own, int32_t element, const double *x, double *g, double *H)
{
    (void)element;
    if (!(x[0] > 0)) return INFINITY;
    if (g) g[0] = own ? NAN : -1 / (x[0] * x[0]);
    if (H) H[0] = 2 / (x[0] * x[0] * x[0]);
    return 1 / x[0];
}

TEST(infinite_energies_are_left_out_and_what_is_no_number_is_said)
{
    const double x[] = { -1, 0, 0, 0.5, 0, 0, DBL_MIN, 0, 0 };
    const int32_t all[] = { 0, 1, 2 };
    abut_err err = { 0 };
    abut_element_energy e = { "wall", 1, 2, all, wall, NULL };
    CHECK(!abut_element_check(&e, x, &err));
    e.own = x;
    CHECK(abut_element_check(&e, x, &err) == ABUT_E_ARG && strstr(err.msg, "element 1: its derivative by x of node 1 is nan"));
    e.n = 1;
    CHECK(!abut_element_check(&e, x, &err));
}

static double nothing(const void *own, int32_t element, const double *x, double *g, double *H)
{
    (void)own, (void)x, (void)g, (void)H;
    return element ? NAN : 0;
}

TEST(a_value_that_is_no_number_is_said_with_its_element)
{
    const double x[] = { 1, 0, 0, 2, 0, 0 };
    const int32_t all[] = { 0, 1 };
    abut_err err = { 0 };
    abut_element_energy e = { "void", 1, 2, all, nothing, NULL };
    CHECK(abut_element_check(&e, x, &err) == ABUT_E_ARG && strstr(err.msg, "element 1: its value is not a number"));
    e.n = 1;
    CHECK(!abut_element_check(&e, x, &err));
}
