/* Surfaces that tetgen may be given: what is refused and by which words; against all pairs of triangles, without trees. */
#include "check.h"

#include "base/rng.h"
#include "geom/exact/predicates.h"
#include "mesh/surface.h"

#include <stdint.h>

enum { POINTS = 64, TRIANGLES = 128 };

typedef struct soup {
    double x[3 * POINTS];
    int32_t nv, tri[3 * TRIANGLES], nf;
} soup;

/* A box, counter-clockwise from outside. */
static void add_box(soup *s, const double at[3], const double size[3])
{
    static const int QUAD[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 }, { 1, 3, 7, 5 }, { 3, 2, 6, 7 },
                                    { 2, 0, 4, 6 } };
    const int32_t first = s->nv;
    for (int c = 0; c < 8; c++, s->nv++)
        for (int k = 0; k < 3; k++) s->x[3 * s->nv + k] = at[k] + (c >> k & 1) * size[k];
    for (int q = 0; q < 6; q++)
        for (int h = 0; h < 2; h++, s->nf++)
            for (int k = 0; k < 3; k++) s->tri[3 * s->nf + k] = first + QUAD[q][k ? k + h : 0];
}

static soup one_box(void)
{
    soup s = { .nv = 0 };
    add_box(&s, (double[3]){ 0, 0, 0 }, (double[3]){ 1, 1, 1 });
    return s;
}

static void add_tri(soup *s, int32_t a, int32_t b, int32_t c)
{
    const int32_t v[3] = { a, b, c };
    memcpy(s->tri + 3 * s->nf++, v, sizeof v);
}

/* "" when it is accepted */
static const char *said(const soup *s)
{
    static abut_err err;
    err = (abut_err){ 0 };
    const abut_status rc = abut_closed_surface_check(s->x, s->nv, s->tri, s->nf, &err);
    if (rc) CHECK(rc == ABUT_E_GEOM && *err.msg);
    return rc ? err.msg : "";
}

static int says(const soup *s, const char *text)
{
    const char *found = said(s);
    if (strstr(found, text)) return 1;
    printf("# '%s' has no '%s'\n", found, text);
    return 0;
}

TEST(boxes_apart_within_each_other_or_with_an_edge_in_common_are_closed)
{
    soup s = one_box();
    CHECK(!*said(&s));
    add_box(&s, (double[3]){ 3, 0, 0 }, (double[3]){ 1, 1, 1 });
    add_box(&s, (double[3]){ 0.25, 0.25, 0.25 }, (double[3]){ 0.5, 0.5, 0.5 });
    add_box(&s, (double[3]){ 1, 1, 0 }, (double[3]){ 1, 1, 1 });
    CHECK(!*said(&s));
}

TEST(triangles_with_points_of_their_own_are_closed_where_their_places_are)
{
    const soup box = one_box();
    soup s = { .nv = 0 };
    for (int32_t i = 0; i < 3 * box.nf; i++, s.nv++) {
        memcpy(s.x + 3 * s.nv, box.x + 3 * box.tri[i], 3 * sizeof *s.x);
        for (int k = 0; k < 3; k++)
            if (s.x[3 * s.nv + k] == 0 && i % 2) s.x[3 * s.nv + k] = -0.0;
        s.tri[i] = s.nv;
    }
    s.nf = box.nf;
    CHECK(!*said(&s));
    s.x[0] = 0.125;
    CHECK(*said(&s));
}

TEST(a_triangle_that_is_there_twice_is_named_with_the_other)
{
    soup s = one_box();
    add_tri(&s, s.tri[3], s.tri[5], s.tri[4]);      /* also turned over */
    CHECK(says(&s, "triangle 12 (points 0, 1, 3) has the corners of triangle 1 (points 0, 3, 1)"));
}

TEST(triangles_without_area_are_named)
{
    soup s = one_box();
    add_tri(&s, 0, 1, 1);
    CHECK(says(&s, "triangle 12 (points 0, 1, 1) at (0, 0, 0) has no area"));
    memcpy(s.x, (double[9]){ 0, 0, 0, 1, 1, 0.5, 2, 2, 1 }, sizeof(double[9]));
    memcpy(s.tri, (int32_t[3]){ 0, 1, 2 }, sizeof(int32_t[3]));
    CHECK(says(&s, "triangle 0 (points 0, 1, 2) at (0, 0, 0) has no area"));
}

TEST(edges_that_are_open_dangling_or_passed_twice_in_one_direction_are_named)
{
    soup s = one_box();
    s.nf--;
    CHECK(says(&s, "alone: expected a closed surface"));
    s = one_box();
    memcpy(s.x + 3 * s.nv++, (double[3]){ 2, 2, 2 }, sizeof(double[3]));
    add_tri(&s, 7, 6, 8);
    CHECK(says(&s, "the edge of points 6 and 7 at (0, 1, 1) is of 3 triangles"));
    for (int32_t t = 0; t < 12; t++) {
        s = one_box();
        const int32_t v = s.tri[3 * t];
        s.tri[3 * t] = s.tri[3 * t + 1], s.tri[3 * t + 1] = v;
        CHECK(says(&s, "in the same direction: one of the two is turned over"));
    }
}

TEST(boxes_that_touch_or_cross_are_named)
{
    static const double AT[][3] = { { 0.5, 0.5, 0.5 }, { 1, 0.25, 0.25 }, { 1, 0.5, 1 }, { 0.25, 0.25, 0.5 }, { 1, 0, 0 } };
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        soup s = one_box();
        add_box(&s, AT[i], (double[3]){ 1, 1, 1 });
        CHECK(i == 4 ? says(&s, "folded onto each other") : says(&s, "touch or cross: expected"));
        for (int32_t v = 8; v < 16; v++) s.x[3 * v] += 0x1p-52;
        CHECK(!*said(&s) == (AT[i][0] == 1));               /* the next number is apart */
    }
}

/* ---- against all pairs ---- */

static int shares(const soup *s, int32_t a, int32_t t)
{
    for (int k = 0; k < 3; k++)
        if (!memcmp(s->x + 3 * a, s->x + 3 * s->tri[3 * t + k], 3 * sizeof *s->x)) return 1;
    return 0;
}

/* Some side of a triangle touches another triangle that has none of its ends. */
static int crosses(const soup *s)
{
    for (int32_t t = 0; t < s->nf; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = s->tri[3 * t + k], b = s->tri[3 * t + (k + 1) % 3];
            for (int32_t u = 0; u < s->nf; u++) {
                const int32_t *w = s->tri + 3 * u;
                if (!shares(s, a, u) && !shares(s, b, u) &&
                    abut_touch_edge_tri(s->x + 3 * a, s->x + 3 * b, s->x + 3 * w[0], s->x + 3 * w[1], s->x + 3 * w[2]))
                    return 1;
            }
        }
    return 0;
}

TEST(what_crosses_among_random_boxes_is_what_all_pairs_say)
{
    abut_rng g = { 7 };
    int crossing = 0, closed = 0;
    for (int i = 0; i < 2000; i++) {
        soup s = { .nv = 0 };
        for (int b = 0; b < 3; b++) {
            double at[3], size[3];
            /* places on a grid: faces that lie on faces, edges in common */
            for (int k = 0; k < 3; k++) at[k] = (double)abut_rng_below(&g, 8), size[k] = 1 + (double)abut_rng_below(&g, 3);
            add_box(&s, at, size);
        }
        const int wrong = crosses(&s);
        const char *text = said(&s);
        if (wrong) CHECK(*text);
        else CHECK(!*text || strstr(text, "folded") || strstr(text, "corners of"));
        crossing += wrong, closed += !*text;
    }
    CHECK(crossing > 200 && closed > 200);
}
