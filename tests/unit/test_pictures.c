/* Parts of pictures without OpenGL: split normals, tubes and balls, the camera, colours, images, films by another program. */
#define _XOPEN_SOURCE 700   /* mkdtemp */
#include "check.h"
#include "kuhn.h"

#include "formats/picture/draw.h"
#include "formats/picture/image.h"
#include "formats/picture/picture.h"
#include "formats/result/object_parts.h"
#include "formats/result/out_file.h"
#include "formats/result/point_fields.h"
#include "mesh/surface.h"

#include <sys/stat.h>
#include <unistd.h>

/* The surface of n^3 cells as one part whose points are all nodes. */
static void box_part(kuhn_box *b, int n, double jitter, abut_part *p)
{
    abut_err err = { 0 };
    kuhn_build(b, n, 0.1, jitter, 1);
    *p = (abut_part){ .name = "box", .nv = b->model.nv, .node = malloc(sizeof(int32_t) * (size_t)b->model.nv) };
    for (int32_t i = 0; i < p->nv; i++) p->node[i] = i;
    CHECK(!abut_surface_triangles(b->tet, b->model.nt, &p->tri, &p->ntri, &err));
}

static void box_free(kuhn_box *b, abut_part *p)
{
    free(p->node);
    free(p->tri);
    kuhn_free(b);
}

static float *positions(const kuhn_box *b)
{
    float *x = malloc(3 * sizeof *x * (size_t)b->model.nv);
    for (int32_t i = 0; i < 3 * b->model.nv; i++) x[i] = (float)b->X[i];
    return x;
}

TEST(a_box_keeps_its_edges_and_every_normal_stands_on_its_face)
{
    kuhn_box b;
    abut_part p;
    abut_shading_mesh s = { 0 };
    abut_err err = { 0 };
    box_part(&b, 3, 0, &p);
    CHECK(!abut_shading_mesh_make(&p, b.X, 0.7, &s, &err));
    CHECK(s.ntri == 108 && s.nv == 6 * 16);
    float *x = positions(&b), *n = malloc(3 * sizeof *n * (size_t)s.nv);
    abut_shading_mesh_normals(&s, x, n);
    for (int32_t t = 0; t < s.ntri; t++) {
        const int32_t *v = s.tri + 3 * t;
        for (int k = 0; k < 3; k++) CHECK(s.point[v[k]] == p.tri[3 * t + k]);
        int axis = 0;
        for (int d = 1; d < 3; d++)
            if (fabsf(n[3 * v[0] + d]) > 0.5f) axis = d;
        const float at = x[3 * s.point[v[0]] + axis], out = at > 0.15f ? 1.0f : -1.0f;
        for (int k = 0; k < 3; k++) CHECK_NEAR(n[3 * v[k] + axis], out, 1e-6);
    }
    free(x);
    free(n);
    abut_shading_mesh_clear(&s);
    box_free(&b, &p);
}

TEST(without_sharp_edges_every_point_has_one_vertex)
{
    kuhn_box b;
    abut_part p;
    abut_shading_mesh s = { 0 };
    abut_err err = { 0 };
    box_part(&b, 3, 0.2, &p);
    CHECK(!abut_shading_mesh_make(&p, b.X, 3.2, &s, &err));
    CHECK(s.nv == 56);      /* 64 nodes, 8 of them inside */
    float *x = positions(&b), *n = malloc(3 * sizeof *n * (size_t)s.nv);
    abut_shading_mesh_normals(&s, x, n);
    for (int32_t i = 0; i < s.nv; i++)
        CHECK_NEAR(n[3 * i] * n[3 * i] + n[3 * i + 1] * n[3 * i + 1] + n[3 * i + 2] * n[3 * i + 2], 1, 1e-5);
    free(x);
    free(n);
    abut_shading_mesh_clear(&s);
    box_free(&b, &p);
}

TEST(tubes_and_balls_are_closed_in_outward_orientation_and_as_thick_as_asked)
{
    static const double X[9] = { 0, 0, 0, 0.3, 0.4, 0, 0.1, 0, 0.2 };
    int32_t node[3] = { 0, 1, 2 }, seg[2] = { 0, 1 }, point[1] = { 2 };
    abut_part part = { .name = "wire", .nv = 3, .node = node, .nseg = 1, .seg = seg, .npoint = 1, .point = point };
    const abut_parts parts = { .n = 1, .part = &part };
    const float x[9] = { 0, 0, 0, 0.3f, 0.4f, 0, 0.1f, 0, 0.2f };
    abut_draw_mesh m;
    abut_err err = { 0 };
    CHECK(!abut_draw_mesh_make(&m, &parts, X, NULL, &err));
    abut_draw_mesh_fill(&m, x, NULL, (double[2]){ 0, 1 }, 0.01);
    for (size_t t = 0; t < m.n_tri; t++) {
        const float *v[3];
        for (int k = 0; k < 3; k++) v[k] = m.vertex + ABUT_DRAW_VERTEX * m.tri[3 * t + (size_t)k];
        double a[3], c[3], along = 0;
        for (int d = 0; d < 3; d++) {
            a[d] = v[1][d] - v[0][d];
            c[d] = v[2][d] - v[0][d];
        }
        for (int d = 0; d < 3; d++)
            along += (a[(d + 1) % 3] * c[(d + 2) % 3] - a[(d + 2) % 3] * c[(d + 1) % 3]) *
                     ((double)v[0][3 + d] + v[1][3 + d] + v[2][3 + d]);
        CHECK(along > -1e-8);       /* 1e-4 is usual; at the poles of a ball some have no area */
    }
    for (size_t i = 0; i < 16; i++) {
        const float *v = m.vertex + ABUT_DRAW_VERTEX * i;   /* the tube comes first; its axis is (0.6, 0.8, 0) */
        const double t = 0.6 * v[0] + 0.8 * v[1];
        CHECK_NEAR(sqrt(pow(v[0] - 0.6 * t, 2) + pow(v[1] - 0.8 * t, 2) + v[2] * v[2]), 0.01, 1e-6);
    }
    abut_draw_mesh_clear(&m);
}

TEST(the_camera_holds_every_point_and_comes_as_close_as_it_can)
{
    abut_rng r = { 5 };
    for (int k = 0; k < 40; k++) {
        const abut_view view = { abut_rng_real(&r, -180, 180), abut_rng_real(&r, -85, 85), 1 };
        abut_fit f;
        float p[20][3];
        abut_fit_begin(&f, &view, k % 3, k % 2 ? 1 : -1, 0.5 + 0.1 * k);
        for (int i = 0; i < 20; i++) {
            for (int d = 0; d < 3; d++) p[i][d] = (float)abut_rng_real(&r, -1, 2 + d);
            abut_fit_add(&f, p[i]);
        }
        const abut_camera c = abut_fit_end(&f, 1);
        double most[2] = { 0, 0 };
        for (int i = 0; i < 20; i++) {
            double x = 0, y = 0, z = 0;
            for (int d = 0; d < 3; d++) {
                const double to = (double)p[i][d] - c.eye[d];
                x += to * c.right[d];
                y += to * c.up[d];
                z -= to * c.back[d];
            }
            CHECK(z > 0);
            most[0] = fmax(most[0], fabs(x / z) / c.tan_x);
            most[1] = fmax(most[1], fabs(y / z) / c.tan_y);
        }
        CHECK_NEAR(fmax(most[0], most[1]), 0.92, 1e-4);
    }
}

TEST(a_view_is_two_angles_and_a_zoom)
{
    static const char *const bad[] = { "", "30", "30,", "30,x", "30,18,1,2", "30,18,1x", "30,90", "30,-89.5", "inf,0", "nan,0",
                                       "0,nan", "0,0,0", "0,0,-1", "0,0,2000" };
    abut_view v = { 7, 7, 7 };
    abut_err err = { 0 };
    CHECK(!abut_view_parse("30,-18.5,2", &v, &err) && v.yaw == 30 && v.pitch == -18.5 && v.zoom == 2);
    CHECK(!abut_view_parse("-400,89", &v, &err) && v.yaw == -400 && v.pitch == 89 && v.zoom == 1);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char said[80];
        snprintf(said, sizeof said, "'%s': ", bad[k]);
        CHECK(abut_view_parse(bad[k], &v, &err) == ABUT_E_ARG && strstr(err.msg, said) && v.yaw == -400);
    }
}

TEST(yaw_0_looks_from_the_front_whatever_is_up)
{
    const abut_view front = { 0, 0, 1 };
    abut_fit f;
    abut_fit_begin(&f, &front, 1, 1, 1);
    CHECK_NEAR(f.camera.back[2], 1, 1e-7);
    CHECK_NEAR(f.camera.right[0], 1, 1e-7);
    abut_fit_begin(&f, &front, 2, 1, 1);
    CHECK_NEAR(f.camera.back[1], -1, 1e-7);
    CHECK_NEAR(f.camera.up[2], 1, 1e-7);
    const abut_view above = { 90, 60, 1 };
    abut_fit_begin(&f, &above, 1, 1, 1);
    CHECK_NEAR(f.camera.back[0], 0.5, 1e-6);
    CHECK_NEAR(f.camera.back[1], sqrt(0.75), 1e-6);
}

TEST(colors_are_told_apart_and_linear_light_goes_there_and_back)
{
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < i; j++) {
            float a[3], b[3];
            abut_palette_object(i, 0, a);
            abut_palette_object(j, 0, b);
            CHECK(fabsf(a[0] - b[0]) + fabsf(a[1] - b[1]) + fabsf(a[2] - b[2]) > 0.15f);
        }
    for (int i = 0; i <= 255; i++) {
        const double c = abut_srgb_to_linear((float)i / 255);
        CHECK_NEAR(c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055, i / 255.0, 1e-5);
    }
    float lo[3], hi[3], below[3], none[3];
    abut_palette_scale(0, lo);
    abut_palette_scale(1, hi);
    abut_palette_scale(-3, below);
    abut_palette_scale(NAN, none);
    CHECK(!memcmp(lo, below, sizeof lo) && memcmp(lo, hi, sizeof lo));
    CHECK(none[0] == none[1] && none[1] == none[2]);
}

/* Two tets with a common face and a node beside them; points 6 and 7 are sums of nodes, for which nodes 1 and 5 speak. */
static const int32_t two_tets[] = { 0, 1, 2, 3, 1, 2, 3, 4 }, spoken_for[] = { 0, 1, 2, 3, 4, 5, 1, 5 };

TEST(fields_are_those_that_a_model_can_have_then_numbers_of_nodes_by_other_programs)
{
    static const char *const want[] = { "displacement", "speed", "stress", "J", "mine/heat" };
    static const char *const unit[] = { "m", "m/s", "Pa", "", "K" };
    const abut_parts parts = { .n_points = 6 };
    const abut_model model = { .nv = 6, .nt = 2, .tet = two_tets };
    abut_arrays set = { 0 };
    abut_err err = { 0 };
    CHECK(abut_arrays_put_rows(&set, "node/x", ABUT_F64, 6, 3, "m", &err));
    CHECK(abut_arrays_put_rows(&set, "mine/heat", ABUT_F32, 6, 0, "K", &err));
    CHECK(abut_arrays_put_rows(&set, "mine/pair", ABUT_F64, 6, 2, "", &err));
    CHECK(abut_arrays_put_rows(&set, "mine/tet", ABUT_F64, 2, 0, "", &err));
    const abut_shot s = { .model = &model, .parts = &parts, .frame_set = &set };
    abut_point_field field[ABUT_FIELDS_MAX], one;
    CHECK(abut_point_fields(&s, field) == 5);
    for (int i = 0; i < 5; i++) {
        CHECK(!strcmp(field[i].name, want[i]) && !strcmp(field[i].unit, unit[i]) && field[i].from_zero == (i < 3));
        CHECK(!abut_point_field_find(&s, want[i], &one, &err) && !strcmp(one.name, want[i]) && !strcmp(one.unit, unit[i]));
    }
    CHECK(!strcmp(field[2].label, "von Mises stress") && !field[4].label);
    CHECK(abut_point_field_find(&s, "gap", &one, &err) == ABUT_E_ARG);
    CHECK(strstr(err.msg, "field 'gap': this model has none of that name: expected displacement, speed, stress, J, mine/heat"));
    CHECK(abut_point_field_want("stress") == ABUT_WANT_STRESS && abut_point_field_want("gap") == ABUT_WANT_CONTACT);
    CHECK(abut_point_field_want("mine/heat") == 0 && abut_point_field_want("speed") == 0);

    const abut_model shell = { .nv = 6, .nsh = 1, .nc = 1 }, empty = { .nt = 0 };
    const abut_shot t = { .model = &shell, .parts = &parts, .frame_set = &set }, u = { .model = &empty, .frame_set = &set };
    CHECK(abut_point_fields(&t, field) == 6 && !strcmp(field[2].name, "stretch") && !strcmp(field[3].name, "contact-force"));
    CHECK(!strcmp(field[4].name, "gap") && !strcmp(field[5].name, "mine/heat"));
    CHECK(abut_point_fields(&u, field) == 0);
    CHECK(abut_point_field_find(&u, "speed", &one, &err) == ABUT_E_ARG && strstr(err.msg, "expected a model with nodes"));
    abut_arrays_clear(&set);
}

TEST(a_point_has_the_mean_of_its_tets_and_a_sum_of_nodes_the_number_of_the_one_that_speaks_for_it)
{
    static const double stress[] = { 2, 5 }, J[] = { 0.5, 1.5 }, strain[] = { 1.25, 9, 9, 9, 9, 2.25, 9, 9, 9, 9 };
    static const double force[18] = { 3, 4, 0, 0, 0, 0, 0, 0, -2 };
    static const int32_t shell[] = { 4, 5, 0, 5, 0, 3 };
    const double none = NAN;
    const double at_points[][8] = { { 2, 3.5, 3.5, 3.5, 5, none, 3.5, none }, { 0.5, 1, 1, 1, 1.5, none, 1, none },
                                    { 1.75, none, none, 2.25, 1.25, 1.75, none, 1.75 }, { 5, 0, 2, 0, 0, 0, 0, 0 },
                                    { 10, 11, 12, 13, 14, 15, 11, 15 }, { 0, 1, 2, 3, 4, 5, 6, 7 },
                                    { 0, 2, 4, 6, 8, 10, 12, 14 } };
    static const char *const name[] = { "stress", "J", "stretch", "contact-force", "mine/heat", "displacement", "speed" };
    double X[24], x[24], v[24], value[8];
    for (int i = 0; i < 24; i++) X[i] = 0.5 * i, x[i] = X[i] + (i % 3 == 1 ? i / 3 : 0), v[i] = i % 3 == 2 ? -2 * (i / 3) : 0;
    const abut_parts parts = { .n_points = 8, .lead = (int32_t *)spoken_for };
    const abut_model model = { .nv = 6, .nt = 2, .tet = two_tets, .nsh = 2, .shell = shell, .nc = 1 };
    abut_fields fields = { .stress = stress, .J = J, .strain = strain, .force = force };
    abut_arrays set = { 0 };
    abut_err err = { 0 };
    float *heat = abut_arrays_put_rows(&set, "mine/heat", ABUT_F32, 6, 0, "K", &err);
    for (int i = 0; heat && i < 6; i++) heat[i] = 10 + (float)i;
    const abut_shot s = { .model = &model, .parts = &parts, .frame_set = &set, .fields = &fields, .X = X, .x = x, .v = v };
    for (int known = 1; known >= 0; known--) {
        for (int k = 0; k < 7; k++) {
            abut_point_field f;
            CHECK(!abut_point_field_find(&s, name[k], &f, &err) && !abut_point_field_values(&s, &f, value, &err));
            for (int i = 0; i < 8; i++) {
                const double want = known || k > 3 ? at_points[k][i] : NAN;
                CHECK(isnan(want) ? isnan(value[i]) : fabs(value[i] - want) < 1e-14);
            }
        }
        fields = (abut_fields){ 0 };    /* not measured */
    }
    CHECK(!abut_point_field_values(&s, &(abut_point_field){ .name = "mine/other" }, value, &err));     /* of an earlier frame */
    for (int i = 0; i < 8; i++) CHECK(isnan(value[i]));
    abut_arrays_clear(&set);
}

TEST(a_half_space_square_lies_in_its_plane_and_faces_out)
{
    const double point[3] = { 0.1, -0.4, 2 }, normal[3] = { 0.6, 0, 0.8 }, center[3] = { 3, 1, -1 };
    const abut_model m = { .nh = 1, .hs_point = point, .hs_normal = normal };
    double c[12], e[3], g[3], facing = 0;
    abut_half_space_square(&m, 0, center, 2, c);
    for (int k = 0; k < 4; k++) {
        double off = 0;
        for (int d = 0; d < 3; d++) off += (c[3 * k + d] - point[d]) * normal[d];
        CHECK_NEAR(off, 0, 1e-14);
    }
    for (int d = 0; d < 3; d++) {
        e[d] = c[3 + d] - c[d];
        g[d] = c[6 + d] - c[d];
    }
    for (int d = 0; d < 3; d++) facing += normal[d] * (e[(d + 1) % 3] * g[(d + 2) % 3] - e[(d + 2) % 3] * g[(d + 1) % 3]);
    CHECK_NEAR(facing, 16, 1e-12);     /* sides of 4 m */
}

TEST(a_minus_is_a_row_of_dots_and_a_blank_has_none)
{
    abut_err err = { 0 };
    for (int k = 0; k < 2; k++) {
        abut_image a = { 0 };
        int lit[8] = { 0 }, rows = 0, dots = 0;
        CHECK(!abut_image_make(&a, 6, 8, (uint8_t[3]){ 0, 0, 0 }, &err));
        abut_image_text(&a, 0, 0, 1, k ? "-" : " ", (uint8_t[3]){ 9, 9, 9 });
        for (int i = 0; i < 6 * 8; i++) lit[i / 6] += a.rgb[3 * i] == 9;
        for (int y = 0; y < 8; y++) rows += lit[y] > 0, dots += lit[y];
        CHECK(rows == k && (k ? dots >= 3 : dots == 0));
        abut_image_clear(&a);
    }
}

TEST(letters_are_dots_of_7_rows_whose_lines_begin_below_each_other)
{
    /* rows of an F, the next line 10 rows below, the next letter 6 columns to the right */
    static const char *const f[7] = { "#####", "#....", "#....", "####.", "#....", "#....", "#...." };
    static const int at[3][2] = { { 1, 2 }, { 7, 2 }, { 1, 12 } };
    abut_err err = { 0 };
    for (int scale = 1; scale <= 2; scale++) {
        abut_image a = { 0 };
        int wrong = 0;
        CHECK(!abut_image_make(&a, 14 * scale, 20 * scale, (uint8_t[3]){ 0, 0, 0 }, &err));
        abut_image_text(&a, scale, 2 * scale, scale, "FF\nF", (uint8_t[3]){ 7, 8, 9 });
        for (int y = 0; y < a.h; y++)
            for (int x = 0; x < a.w; x++) {
                int lit = 0;
                for (int k = 0; k < 3; k++) {
                    const int c = x / scale - at[k][0], r = y / scale - at[k][1];
                    lit |= c >= 0 && c < 5 && r >= 0 && r < 7 && f[r][c] == '#';
                }
                wrong += memcmp(a.rgb + 3 * (y * a.w + x), lit ? (uint8_t[]){ 7, 8, 9 } : (uint8_t[]){ 0, 0, 0 }, 3) != 0;
            }
        CHECK(wrong == 0);
        CHECK(abut_image_text_width("FF\nFFF", scale) == 11 * scale && abut_image_text_width("\n", scale) == 0);
        CHECK(abut_image_text_height(scale) == 7 * scale);
        abut_image_clear(&a);
    }
}

TEST(letters_beyond_ascii_are_a_box)
{
    abut_err err = { 0 };
    for (const char *c = "\x1f\x7f\xe9"; *c; c++) {
        abut_image a = { 0 };
        int lit = 0;
        CHECK(!abut_image_make(&a, 5, 7, (uint8_t[3]){ 0, 0, 0 }, &err));
        abut_image_text(&a, 0, 0, 1, (char[]){ *c, 0 }, (uint8_t[3]){ 1, 1, 1 });
        for (int i = 0; i < 35; i++) {
            const int edge = i % 5 == 0 || i % 5 == 4 || i < 5 || i >= 30;
            lit += a.rgb[3 * i] == edge;
        }
        CHECK(lit == 35);
        abut_image_clear(&a);
    }
}

TEST(a_colour_laid_over_another_is_their_weighted_mean)
{
    abut_image a = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_image_make(&a, 3, 2, (uint8_t[3]){ 10, 200, 0 }, &err));
    abut_image_fill(&a, 1, 0, 1, 1, (uint8_t[3]){ 20, 100, 255 }, 0.25);
    CHECK(!memcmp(a.rgb + 3, (uint8_t[]){ 13, 175, 64 }, 3));      /* 12.5, 175 and 63.75, rounded */
    for (int i = 0; i < 6; i++) CHECK(i == 1 || !memcmp(a.rgb + 3 * i, (uint8_t[]){ 10, 200, 0 }, 3));
    abut_image_clear(&a);
}

TEST(a_picture_pasted_keeps_each_pixel_where_it_goes)
{
    for (int y = -3; y < 7; y++)
        for (int x = -4; x < 9; x++) {
            abut_image a = { 0 }, b = { 0 };
            abut_err err = { 0 };
            int wrong = 0;
            CHECK(!abut_image_make(&a, 8, 6, (uint8_t[3]){ 255, 255, 255 }, &err));
            CHECK(!abut_image_make(&b, 3, 2, (uint8_t[3]){ 0, 0, 0 }, &err));
            for (int i = 0; i < 18; i++) b.rgb[i] = (uint8_t)i;
            abut_image_paste(&a, &b, x, y);
            for (int i = 0; i < 48; i++) {
                const int c = i % 8 - x, r = i / 8 - y, inside = c >= 0 && c < 3 && r >= 0 && r < 2;
                for (int d = 0; d < 3; d++) wrong += a.rgb[3 * i + d] != (inside ? 3 * (3 * r + c) + d : 255);
            }
            CHECK(wrong == 0);
            abut_image_clear(&a);
            abut_image_clear(&b);
        }
}

/* Makes `folder`/ffmpeg a shell script, and looks for programs there alone. */
static void ffmpeg_is(const char *folder, const char *script)
{
    char path[200];
    snprintf(path, sizeof path, "%s/ffmpeg", folder);
    FILE *f = fopen(path, "w");
    if (!f || fprintf(f, "#!/bin/sh\n%s\n", script) < 0 || fclose(f) || chmod(path, 0755) || setenv("PATH", folder, 1)) abort();
}

TEST(films_other_than_gif_are_what_ffmpeg_makes_of_their_pixels_and_fail_as_it_does)
{
    char folder[] = "/tmp/abut-film.XXXXXX", name[64], said[64], got[600] = "", words[600];
    const char *before = getenv("PATH");
    char *path = before ? strdup(before) : NULL;
    abut_film *film = NULL;
    abut_image im[2] = { { 0 }, { 0 } };
    abut_err err = { 0 };
    if (!mkdtemp(folder)) abort();
    snprintf(name, sizeof name, "%s/run.webm", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    for (int k = 0; k < 2; k++) CHECK(!abut_image_make(&im[k], 3, 2, (uint8_t[3]){ (uint8_t)(10 * k), 1, 2 }, &err));

    ffmpeg_is(folder, "echo \"$@\" > \"${0%/*}/said\"; for last; do :; done; exec /bin/cat > \"${last#file:}\"");
    CHECK(!abut_film_open(name, 0, 3, 2, 12.5, &film, &err));
    for (int k = 0; k < 2; k++) CHECK(!abut_film_picture(film, &im[k], &err));
    CHECK(!abut_film_close(film, &err));
    abut_film_free(&film);
    FILE *f = fopen(name, "rb");
    CHECK(f && fread(got, 1, sizeof got, f) == 36 && !memcmp(got, im[0].rgb, 18) && !memcmp(got + 18, im[1].rgb, 18));
    if (f) fclose(f);
    f = fopen(said, "r");
    snprintf(words, sizeof words, "-nostdin -y -loglevel error -f rawvideo -pix_fmt rgb24 -s 3x2 -r 12.5 -i pipe:0 "
             "-vf pad=ceil(iw/2)*2:ceil(ih/2)*2 -pix_fmt yuv420p -c:v libvpx-vp9 -crf 20 -threads 2 -fflags +bitexact "
             "-flags:v +bitexact -f webm file:%s.part\n", name);
    CHECK(f && fgets(got, sizeof got, f) && !strcmp(got, words));
    if (f) fclose(f);
    remove(name);

    ffmpeg_is(folder, "/bin/cat > /dev/null; exit 3");
    CHECK(!abut_film_open(name, 0, 3, 2, 12.5, &film, &err) && !abut_film_picture(film, &im[0], &err));
    CHECK(abut_film_close(film, &err) == ABUT_E_IO && strstr(err.msg, "run.webm: ffmpeg ended with 3"));
    abut_film_free(&film);
    err = (abut_err){ 0 };
    ffmpeg_is(folder, "exit 0");
    CHECK(!abut_film_open(name, 0, 3, 2, 12.5, &film, &err));
    abut_status rc = ABUT_OK;
    for (int i = 0; i < 1000000 && !rc; i++) rc = abut_film_picture(film, &im[0], &err);
    CHECK(rc == ABUT_E_IO && strstr(err.msg, "run.webm: ffmpeg has ended before the film"));
    abut_film_free(&film);
    f = fopen(name, "rb");
    CHECK(!f);      /* nothing is left of films that failed */
    if (f) fclose(f);

    snprintf(got, sizeof got, "%s/ffmpeg", folder);
    remove(got);
    remove(said);
    CHECK(!rmdir(folder));
    if (path) setenv("PATH", path, 1);
    free(path);
    for (int k = 0; k < 2; k++) abut_image_clear(&im[k]);
}

TEST(images_are_clipped_at_every_side)
{
    abut_image a = { 0 }, b = { 0 };
    abut_err err = { 0 };
    CHECK(!abut_image_make(&a, 20, 10, (uint8_t[3]){ 1, 2, 3 }, &err));
    CHECK(!abut_image_make(&b, 8, 8, (uint8_t[3]){ 9, 9, 9 }, &err));
    abut_image_paste(&a, &b, -4, -4);
    abut_image_paste(&a, &b, 17, 7);
    abut_image_fill(&a, 19, -5, 100, 7, (uint8_t[3]){ 200, 200, 200 }, 1);
    abut_image_text(&a, -3, -3, 2, "Wq\x80\n.", (uint8_t[3]){ 5, 5, 5 });
    int nine = 0, bright = 0;
    for (int i = 0; i < 200; i++) {
        nine += a.rgb[3 * i] == 9;
        bright += a.rgb[3 * i] == 200;
    }
    CHECK(nine > 8 && nine < 26 && bright == 2);
    abut_image_clear(&a);
    abut_image_clear(&b);
}

TEST(the_spool_gives_back_what_it_took_in_any_order)
{
    abut_spool s;
    abut_err err = { 0 };
    CHECK(!abut_spool_open(&s, 3, &err));
    for (int i = 0; i < 50; i++) CHECK(!abut_spool_add(&s, (float[3]){ (float)i, 2, -1 }, &err));
    for (int i = 49; i >= 0; i -= 7) {
        float got[3];
        CHECK(!abut_spool_get(&s, (size_t)i, got, &err));
        CHECK(got[0] == (float)i && got[2] == -1);
        if (i == 28) CHECK(!abut_spool_add(&s, (float[3]){ 7, 7, 7 }, &err));
    }
    CHECK(s.n == 51);
    float last[3];
    CHECK(!abut_spool_get(&s, 50, last, &err) && last[1] == 7);
    CHECK(abut_spool_get(&s, 51, last, &err) == ABUT_E_IO);
    abut_spool_clear(&s);
}

TEST(a_spool_says_that_its_disk_is_full)
{
    abut_err err = { 0 };
    abut_spool s = { .f = fopen("/dev/full", "w+"), .width = 3 };
    CHECK(s.f && abut_spool_add(&s, (float[3]){ 1, 2, 3 }, &err) == ABUT_E_IO);
    CHECK(s.n == 0 && strstr(err.msg, "temporary file: frame 0"));
    abut_spool_clear(&s);
}
