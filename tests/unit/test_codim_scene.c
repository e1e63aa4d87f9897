/* Shells, rods and particles, from the scene to the arrays of the model: hinges, masses, rest shapes, refusals. */
#include "scene_world.h"

#include "energy/hinge.h"
#include "formats/mesh/mesh_io.h"
#include "mesh/generate/generate.h"
#include "mesh/surface.h"

static const double PI = 3.14159265358979323846;

/* A scene as arrays and views. */
typedef struct codim_scene {
    abut_arrays model_set, frame_set;
    abut_model m;
    abut_frame f;
} codim_scene;

static codim_scene made(const char *text)
{
    codim_scene s = { 0 };
    abut_err err = { 0 };
    scene_arrays(text, &s.model_set, &s.frame_set);
    abut_status rc = abut_model_view(&s.model_set, &s.m, &err);
    if (!rc) rc = abut_frame_view(&s.frame_set, &s.m, &s.f, &err);
    if (rc) printf("# %s\n", err.msg), abort();
    return s;
}

static void drop(codim_scene *s)
{
    abut_arrays_clear(&s->model_set);
    abut_arrays_clear(&s->frame_set);
}

static int refused(const char *text, const char *part)
{
    return scene_refused(text, ABUT_E_FORMAT, part, "test.yaml:");
}

/* well said, but no geometry that can be simulated */
static int impossible(const char *text, const char *part)
{
    return scene_refused(text, ABUT_E_GEOM, part, "test.yaml:");
}

static double sum(const double *v, int32_t n)
{
    double s = 0;
    for (int32_t i = 0; i < n; i++)
        s += v[i];
    return s;
}

TEST(masses_are_those_of_real_continua)
{
    codim_scene s = made(
        "materials: {m: {density: 500, young: 1 MPa, poisson: 0.3}}\n"
        "objects:\n"
        "  a: {generate: {cloth: {size: [2, 3], edge: 0.3, layout: rows, jitter: 0.2}}, shell: {thickness: 2 mm}}\n"
        "  b: {generate: {rod: {length: 2, cells: 7}}, rod: {radius: 3 mm}, translate: [0, 1, 0]}\n"
        "  c: {generate: {particles: {size: [1, 1, 1], count: [2, 2, 3]}}, particle: {radius: 1 cm}, translate: [0, 3, 0]}\n"
        "  d: {generate: {box: {size: [1, 1, 1], cells: [1, 1, 1]}}, translate: [0, -3, 0]}\n");
    double mass[4] = { 0 };
    for (int32_t i = 0; i < s.m.nv; i++)
        mass[s.m.body[i]] += s.m.mass[i];
    CHECK_NEAR(mass[0], 500 * 6 * 0.002, 1e-12);
    CHECK_NEAR(mass[1], 500 * PI * 9e-6 * 2, 1e-15);
    CHECK_NEAR(mass[2], 12 * 500 * 4.0 / 3 * PI * 1e-6, 1e-15);
    CHECK_NEAR(mass[3], 500, 1e-12);
    CHECK(s.m.nrd == 7 && s.m.nbd == 6 && s.m.np == 12 && s.m.nt == 6);
    CHECK_NEAR(sum(s.m.rod_length, s.m.nrd), 2, 1e-15);
    for (int32_t i = 0; i < s.m.nv; i++)
        CHECK(s.m.mass[i] > 0);
    drop(&s);
}

/* C = F^T F of F = [x1 - x0, x2 - x0] R^-1. */
static void metric(const codim_scene *s, int32_t t, double C[3])
{
    const double *R = s->m.shell_rest + 4 * t, det = R[0] * R[3] - R[1] * R[2];
    const double *x[3];
    double f[2][3];
    for (int k = 0; k < 3; k++)
        x[k] = s->f.x + 3 * s->m.shell[3 * t + k];
    for (int d = 0; d < 3; d++) {
        const double a = x[1][d] - x[0][d], b = x[2][d] - x[0][d];
        f[0][d] = (a * R[3] - b * R[2]) / det, f[1][d] = (b * R[0] - a * R[1]) / det;
    }
    C[0] = C[1] = C[2] = 0;
    for (int d = 0; d < 3; d++)
        C[0] += f[0][d] * f[0][d], C[1] += f[1][d] * f[1][d], C[2] += f[0][d] * f[1][d];
}

TEST(a_turned_and_scaled_sheet_starts_at_rest_with_its_warp_along)
{
    codim_scene s = made("objects: {a: {generate: {cloth: {size: [2, 3], edge: 0.5}}, shell: {thickness: 2 mm, warp: [1, 0, "
                        "1]}, scale: 0.7,\n"
                        "  rotate: {axis: [1, 2, 3], angle: 50 deg}, translate: [1, 2, 3]}}\n");
    const double *first = s.f.x + 3 * s.m.shell[0];
    for (int32_t t = 0; t < s.m.nsh; t++) {
        double C[3];
        metric(&s, t, C);
        CHECK_NEAR(C[0], 1, 1e-13);
        CHECK_NEAR(C[1], 1, 1e-13);
        CHECK_NEAR(C[2], 0, 1e-13);
        /* edges along x and z of the sheet make half a right angle with warp */
        const double *R = s.m.shell_rest + 4 * t;
        const int diagonal = fabs(fabs(R[0]) - fabs(R[2])) > 1e-12 || fabs(fabs(R[1]) - fabs(R[3])) > 1e-12;
        CHECK(!diagonal || fabs(R[0] * R[2]) < 1e-12 || fabs(R[1] * R[3]) < 1e-12);
    }
    CHECK(first != NULL && s.m.shell_limit == NULL && s.m.mat_membrane == NULL && s.m.obj_thick == NULL);
    drop(&s);
}

TEST(stretching_against_another_rest_shape_is_the_stretch_of_the_start)
{
    FILE *f = fopen("/tmp/abut-test-rest.obj", "w");
    CHECK(f != NULL);
    fprintf(f, "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nf 1 3 2\nf 2 3 4\n");
    fclose(f);
    codim_scene s =
        made("objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1.5, 0, 0], [0, 0, 0.8], [1.5, 0, 0.8]],\n"
             "  triangles: [[0, 2, 1], [1, 2, 3]]}}, rest: {mesh: /tmp/abut-test-rest.obj}, shell: {thickness: 1 mm},\n"
             "  rotate: {axis: [1, 1, 0], angle: 20 deg}}}\n");
    for (int32_t t = 0; t < 2; t++) {
        double C[3];
        metric(&s, t, C);
        CHECK_NEAR(C[0], 1.5 * 1.5, 1e-13);
        CHECK_NEAR(C[1], 0.64, 1e-13);
        CHECK_NEAR(C[2], 0, 1e-13);
    }
    CHECK_NEAR(sum(s.m.mass, s.m.nv), 1000 * 1 * 0.001, 1e-15); /* of the area at rest */
    drop(&s);
    CHECK(impossible("objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1.5, 0, 0], [0, 0, 0.8], [1.5, 0, 0.8]],\n"
                  "  triangles: [[0, 2, 1], [1, 2, 3]]}}, rest: {mesh: /tmp/abut-test-rest.obj},\n"
                  "  shell: {thickness: 1 mm, stretch-limit: 1.4}}}\n",
                  "triangle 0 of 'a' starts with the stretch 1.5: expected less than its "
                  "limit 1.4"));
    CHECK(impossible("objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1.5, 0, 0], [0, 0, 0.8], [1.5, 0, 0.8]],\n"
                  "  triangles: [[0, 2, 1], [1, 2, 3]]}}, rest: {mesh: /tmp/abut-test-rest.obj},\n"
                  "  shell: {thickness: 1 mm, stretch-limit: {lower: 0.9}}}}\n",
                  "starts with the stretch 0.8: expected more than its limit 0.9"));
    CHECK(
        impossible("materials: {c: {membrane: cloth, fabric: {warp: 2 kPa, weft: 1 kPa, coupling: 0, shear: 1 kPa},\n"
                "  strain-limit: {warp: 0.7, weft: 0.1, shear: 0.1}}}\n"
                "objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1.5, 0, 0], [0, 0, 0.8], [1.5, 0, 0.8]],\n"
                "  triangles: [[0, 2, 1], [1, 2, 3]]}}, rest: {mesh: /tmp/abut-test-rest.obj}, shell: {thickness: 1 mm}}}\n",
                "starts with the strain -0.18 along weft: expected less than the limit 0.1 of 'c'"));
    remove("/tmp/abut-test-rest.obj");
}

TEST(hinges_know_their_angle_at_rest_and_the_stiffness_of_the_formula)
{
    /* a roof: wings up by 0.3 at a width of 1 */
    const char *const roof =
        "materials: {m: {young: 2 MPa, poisson: 0.25, bending-young: 1 MPa}}\n"
        "objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0.5, 1, 0.3], [0.5, -1, 0.3]],\n"
        "  triangles: [[0, 1, 2], [1, 0, 3]]}}, shell: {thickness: 1 cm%s}, rotate: {axis: [1, 2, 3], angle: 30 deg}}}\n";
    const char *const kind[3] = { "", ", rest-angle: flat", ", bending: plate" };
    const double A = sqrt(1.09), k = 3 * 1e6 * 1e-6 / (24 * (1 - 0.0625)) / A;
    for (int i = 0; i < 3; i++) {
        char text[600];
        snprintf(text, sizeof text, roof, kind[i]);
        codim_scene s = made(text);
        CHECK(s.m.nhg == 1);
        CHECK_NEAR(s.m.hinge_angle[0], i == 1 ? 0 : -2 * atan(0.3), 1e-14);
        CHECK_NEAR(s.m.hinge_stiffness[0], i == 2 ? k / 3 : k, 1e-13 * k);
        double x[12];
        for (int c = 0; c < 4; c++)
            memcpy(x + 3 * c, s.f.x + 3 * s.m.hinge[c], 3 * sizeof *x);
        CHECK_NEAR(abut_hinge_theta(x, NULL), -2 * atan(0.3), 1e-14);
        drop(&s);
    }
}

/* As many hinges as edges of two triangles, each once, opposite nodes those of the two triangles. */
TEST(every_inner_edge_has_one_hinge)
{
    abut_mesh m = { 0 };
    abut_err err = { 0 };
    abut_hinge *h = NULL;
    int32_t *edge = NULL, n = 0, ne = 0, border = 0;
    CHECK(!abut_generate_sheet(&(abut_sheet){ { 1, 1 }, { 9, 11 }, ABUT_LAYOUT_ROWS, 0.2, 5 }, &m, &err));
    CHECK(!abut_hinges_find(m.tri, m.nf, m.nv, &h, &n, &err));
    CHECK(!abut_surface_edges(m.tri, m.nf, NULL, 0, &edge, &ne, &err));
    border = 2 * ne - 3 * m.nf;                           /* 3 F = 2 E - border */
    CHECK(n == ne - border && border == 9 + 10 + 2 * 11); /* the last row is shifted */
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) {
            const int32_t *t = m.tri + 3 * h[i].tri[k];
            int found = 0;
            for (int c = 0; c < 3; c++)
                found += t[c] == h[i].node[0] || t[c] == h[i].node[1] || t[c] == h[i].node[2 + k];
            CHECK(found == 3);
        }
    free(h), free(edge);
    abut_mesh_clear(&m);
}

TEST(bends_stand_where_two_segments_meet)
{
    /* a line of three, a fork of three at 4, a ring of three */
    const int32_t seg[] = { 1, 0, 1, 2, 3, 2, 4, 5, 4, 6, 7, 4, 8, 9, 9, 10, 10, 8 }, twice[] = { 0, 1, 2, 3, 1, 0 };
    abut_bend *b = NULL;
    int32_t n = 0;
    abut_err err = { 0 };
    CHECK(!abut_bends_find(seg, 9, 11, &b, &n, &err));
    CHECK(n == 5);
    CHECK(b[0].node[1] == 1 && b[1].node[1] == 2 && b[2].node[1] == 8 && b[3].node[1] == 9 && b[4].node[1] == 10);
    CHECK(b[0].node[0] + b[0].node[2] == 2 && b[1].node[0] + b[1].node[2] == 4);
    free(b);
    CHECK(abut_bends_find(twice, 3, 4, &b, &n, &err) == ABUT_E_GEOM &&
          strstr(err.msg, "segments 0 and 2 have the same ends"));
    CHECK_NEAR(abut_bend_stiffness(2e9, 1e-3, 0.01, 0.03), 2e9 * PI * 1e-12 / 4 / 0.04, 1e-12);
}

TEST(fabrics_limits_and_what_acts_become_arrays)
{
    codim_scene s = made("wind: [1, 0, -2]\n"
                        "materials:\n"
                        "  silk: {membrane: cloth, fabric: {warp: 245, weft: 366, coupling: 61, shear: 38}, density: 300,\n"
                        "         strain-limit: {warp: 0.06, weft: 0.12, shear: 0.1}}\n"
                        "  foam: {model: stvk}\n"
                        "objects:\n"
                        "  a: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, material: silk, contact-thickness: 2 mm,\n"
                        "      shell: {thickness: 1 mm, stretch-limit: {upper: 1.1, upper-threshold: 1.02, lower: 0.7}, "
                        "pressure: -3, drag: 0.6}}\n"
                        "  b: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, material: foam, translate: [0, 1, 0], "
                        "shell: {thickness: 1 mm}}\n"
                        "  c: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, translate: [0, 2, 0], obstacle: true, "
                        "contact-thickness: 1 cm}\n");
    const abut_model *m = &s.m;
    CHECK(m->mat_membrane[0] == ABUT_MEMBRANE_CLOTH && m->mat_membrane[1] == ABUT_MEMBRANE_ISOTROPIC);
    CHECK(m->mat_fabric[0] == 245 && m->mat_fabric[1] == 366 && m->mat_fabric[2] == 61 && m->mat_fabric[3] == 38);
    CHECK(m->mat_strain[0] == 0.06 && m->mat_strain[1] == 0.12 && m->mat_strain[2] == 0.1);
    CHECK(m->nsh == 10 && m->shell_limit[0] == 0.7 && m->shell_limit[1] == 1 && m->shell_limit[2] == 1.02 &&
          m->shell_limit[3] == 1.1);
    CHECK(m->shell_limit[4 * 8] == 0 && m->shell_limit[4 * 9 + 3] == 0);
    CHECK(m->obj_thick[0] == 0.002 && m->obj_thick[1] == 0 && m->obj_thick[2] == 0.01);
    CHECK(m->obj_pressure[0] == -3 && m->obj_drag[0] == 0.6 && m->obj_pressure[1] == 0);
    CHECK(m->wind[0] == 1 && m->wind[1] == 0 && m->wind[2] == -2);
    static const char *const must[] = { "shell/node",        "shell/stretch-limit", "hinge/node",
                                        "material/membrane", "material/fabric",     "object/thickness",
                                        "object/pressure",   "object/drag",         "world/wind" };
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        CHECK(abut_arrays_find(&s.model_set, must[i])->flags & ABUT_A_REQUIRED);
    drop(&s);
}

TEST(a_lattice_of_rods_keeps_its_rest_lengths_and_fit_scales_them)
{
    codim_scene s = made("fit: 3\n"
                        "objects: {a: {generate: {rod: {length: 1, cells: 4}}, rod: {radius: 1 mm}, scale: [2, 1, 1], "
                        "rotate: {axis: [0, 0, 1], "
                        "angle: 90 deg},\n  repeat: {count: [3, 1, 2], spacing: [0.1, 0, 0.2]}}}\n");
    CHECK(s.m.nrd == 24 && s.m.nbd == 18);
    for (int32_t i = 0; i < s.m.nrd; i++) {
        const double *a = s.f.x + 3 * s.m.rod[2 * i], *b = s.f.x + 3 * s.m.rod[2 * i + 1];
        CHECK_NEAR(s.m.rod_length[i], 0.75, 1e-14);
        CHECK_NEAR(hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]), 0.75, 1e-14);
    }
    drop(&s);
}

TEST(a_welded_lattice_is_one_sheet)
{
    codim_scene s =
        made("objects: {a: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, weld: 0.001 mm,\n"
             "  repeat: {count: [3, 1, 2], spacing: [1, 0, 1]}}}\n");
    CHECK(s.m.nv == 7 * 5 && s.m.nsh == 6 * 8);
    CHECK(s.m.nhg == s.m.nce - 20); /* all edges but those of the border */
    CHECK_NEAR(sum(s.m.mass, s.m.nv), 6 * 1000 * 0.001, 1e-13);
    drop(&s);
}

TEST(what_makes_no_thin_body_is_refused_by_name)
{
    CHECK(refused("objects: {a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}}}\n",
                  "body 'a' has 2 triangles: expected shell"));
    CHECK(refused("objects: {a: {generate: {rod: {length: 1, cells: 2}}}}\n",
                  "body 'a' has 2 segments: expected rod: {radius: length}"));
    CHECK(refused("objects: {a: {generate: {particles: {size: [1, 1, 1], count: [2, 1, 1]}}}}\n",
                  "2 isolated points: expected particle"));
    CHECK(refused("objects: {a: {generate: {particles: {size: [1, 1, 1], count: [1, 1, 1]}}, rod: {radius: 1 mm}}}\n",
                  "body 'a' has no segments"));
    CHECK(refused("objects: {a: {generate: {rod: {length: 1, cells: 2}}, rod: {radius: 1 mm}, shell: {thickness: 1}}}\n",
                  "body 'a' has no triangles"));
    CHECK(refused("objects: {a: {generate: {rod: {length: 1, cells: 2}}, rod: {radius: 0}}}\n", "radius"));
    CHECK(refused("objects: {a: {generate: {rod: {length: 1, cells: 2}}, rod: {}}}\n", "'radius' is missing"));
    CHECK(refused("objects: {a: {generate: {rod: {length: 1, cells: 2}}, rod: {radius: 1 mm}, obstacle: true}}\n",
                  "rod: an obstacle is made of no material"));
    CHECK(scene_refused(
        "objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [2, 0, 0]], triangles: [[0, 1, 2]]}},\n"
        "  shell: {thickness: 1}}}\n",
        ABUT_E_GEOM, "triangle 0 of 'a' (nodes 0, 1, 2) has no area", ""));
    CHECK(impossible("objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]],\n"
                  "  triangles: [[0, 1, 2], [0, 1, 3], [0, 1, 4]]}}, shell: {thickness: 1}}}\n",
                  "triangles 0, 1 and 2 have the edge 0 1"));
    CHECK(impossible("objects: {a: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],\n"
                  "  triangles: [[0, 1, 2], [0, 1, 3]]}}, shell: {thickness: 1, pressure: 1}}}\n",
                  "face opposite ways"));
    CHECK(refused(
        "objects: {a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1, stretch-limit: 1}}}\n",
        "stretch-limit is '1': expected more than 1"));
    CHECK(refused("objects: {a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1, stretch-limit: "
                  "{lower: 1}}}}\n",
                  "expected 0 <= lower < threshold <= 1"));
    CHECK(refused(
        "objects: {a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1, stretch-limit: {upper: 1.1, "
        "upper-threshold: 1.2}}}}\n",
        "expected 1 <= threshold < upper"));
    CHECK(refused(
        "materials: {m: {membrane: orthotropic}}\nobjects: {a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: "
        "{thickness: 1}}}\n",
        "membrane: orthotropic needs fabric"));
    CHECK(refused("materials: {m: {membrane: cloth, fabric: {warp: 1, weft: 1, coupling: 0, shear: 1}}}\nobjects: {a: "
                  "{generate: {cloth: "
                  "{size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1}}}\n",
                  "needs strain-limit"));
    CHECK(refused("materials: {m: {membrane: orthotropic, fabric: {warp: 1, weft: 1, coupling: 2, shear: 1}}}\nobjects: {a: "
                  "{generate: "
                  "{cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1}}}\n",
                  "coupling^2 less than"));
    CHECK(impossible("materials: {m: {membrane: orthotropic, fabric: {warp: 1, weft: 1, coupling: 0, shear: 1}}}\nobjects: {a: "
                  "{generate: "
                  "{cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1, warp: [0, 1, 0]}}}\n",
                  "lies across warp"));
#define SHEET "objects: {a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1}}}\n"
    CHECK(refused("materials: {m: {membrane: baraff-witkin}}\n" SHEET, "needs fabric: {warp: .., weft: .., shear: ..}"));
    CHECK(refused("materials: {m: {membrane: baraff-witkin, fabric: {warp: 1, shear: 1}}}\n" SHEET, "fabric: 'weft' is missing"));
    CHECK(refused("materials: {m: {membrane: baraff-witkin, fabric: {warp: 1, weft: 0, shear: 1}}}\n" SHEET, "weft is '0'"));
    CHECK(refused("materials: {m: {membrane: baraff-witkin, fabric: {warp: 1, weft: 1, coupling: 0, shear: 1}}}\n" SHEET,
                  "coupling"));
    CHECK(refused("materials: {m: {membrane: baraff-witkin, fabric: {warp: 1, weft: 1, shear: 1, compression: 0}}}\n" SHEET,
                  "compression is '0': expected more than 0 and at most 1"));
    CHECK(refused("materials: {m: {membrane: baraff-witkin, fabric: {warp: 1, weft: 1, shear: 1},\n"
                  "  strain-limit: {warp: 1, weft: 1, shear: 1}}}\n" SHEET, "expected cloth"));
#undef SHEET
    CHECK(
        refused("objects: {a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1}, rest: {uv: 1 m}}}\n",
                "'a' has no pattern"));
    CHECK(refused(
        "objects: {a: {generate: {tube: {radius: 1, height: 1, cells: [5, 2]}}, shell: {thickness: 1}, scale: [1, 2, 1]}}\n",
        "scaled by one number only"));
    CHECK(refused("objects: {a: {generate: {cloth: {size: [1, 1], cells: [1, 1]}}, shell: {thickness: 1}, weld: 2}}\n",
                  "names point"));
}

/* A rolled sheet, three times: each copy at rest is the flat sheet. */
TEST(a_pattern_is_repeated_with_its_mesh)
{
    codim_scene s = made("objects:\n  a: {generate: {cloth: {size: [1, 0.2], cells: [20, 2], roll: {radius: 0.05, gap: 0.01}}},\n"
                        "      shell: {thickness: 1 mm}, repeat: {count: [1, 1, 3], spacing: [0, 0, 1]}}\n");
    const int32_t one = s.m.nsh / 3;
    CHECK(s.m.nsh == 3 * 80 && s.m.nhg % 3 == 0);
    for (int32_t t = 0; t < s.m.nsh; t++) {
        const double *R = s.m.shell_rest + 4 * t;
        CHECK(!memcmp(R, s.m.shell_rest + 4 * (t % one), 4 * sizeof *R));
        CHECK_NEAR(0.5 * (R[0] * R[3] - R[1] * R[2]), 0.5 * 0.05 * 0.1, 1e-15);
    }
    drop(&s);
}

/* ---- seams and attachments ---- */

static const char *const PANELS =
    "gravity: [0, 0, 0]\ncontact: {dhat: 2 mm}\ntime: {step: 0.02}\n"
    "materials: {m: {young: 50 kPa, poisson: 0.3, density: 300}}\n"
    "objects:\n"
    "  front: {generate: {cloth: {size: [0.4, 0.5], cells: [4, 5]}}, shell: {thickness: 1 mm}, translate: [0, 1 cm, 0]}\n"
    "  back:  {generate: {cloth: {size: [0.4, 0.5], cells: [4, 4]}}, shell: {thickness: 1 mm}%s}\n"
    "seams:\n"
    "  - {from: {object: front, relative-box: [[0, 0, 0], [0.01, 1, 1]]}, to: {object: back, box: [[-0.21, -1, -1], [-0.19, 1, "
    "1]]}}\n"
    "  - {from: {object: front, relative-box: [[0.99, 0, 0], [1, 1, 1]]}, to: {object: back, box: [[0.19, -1, -1], [0.21, 1, "
    "1]]},\n"
    "     stiffness: 30 N/m}\n";

/* p: the point to which spring i pulls its node. */
static void pulled_to(const abut_model *m, const double *x, int32_t i, double p[3])
{
    memcpy(p, m->tie_offset + 3 * i, 3 * sizeof *p);
    for (int k = 0; k < 4; k++)
        for (int d = 0; d < 3 && m->attach_node[5 * i + 1 + k] >= 0; d++)
            p[d] += m->attach_weight[4 * i + k] * x[3 * m->attach_node[5 * i + 1 + k] + d];
}

TEST(a_seam_ties_equal_shares_of_two_borders_from_their_nearer_ends)
{
    for (int turned = 0; turned < 2; turned++) {
        char text[1500];
        snprintf(text, sizeof text, PANELS, turned ? ", rotate: {axis: [0, 1, 0], angle: 180 deg}" : "");
        codim_scene s = made(text);
        CHECK(s.m.na == 12);
        for (int32_t i = 0; i < s.m.na; i++) {
            const double *x = s.f.x + 3 * s.m.attach_node[5 * i];
            double p[3];
            pulled_to(&s.m, s.f.x, i, p);
            CHECK_NEAR(p[0], x[0], 1e-14);      /* shares of equal lines stand opposite each other */
            CHECK_NEAR(p[1], 0, 1e-14);
            CHECK_NEAR(p[2], x[2], 1e-14);
            CHECK_NEAR(s.m.attach_stiffness[i], i < 6 ? 50 : 30, 1e-12);
        }
        drop(&s);
    }
}

TEST(a_seam_closes_as_far_as_contact_lets_it)
{
    world w;
    world_scene(&w, PANELS, "");
    const abut_model *m = &w.model;
    CHECK(!world_judged(&w, 60));
    for (int32_t i = 0; i < m->na; i++) {
        const double *x = get(&w, "node/x") + 3 * m->attach_node[5 * i];
        double p[3], d2 = 0;
        pulled_to(m, get(&w, "node/x"), i, p);
        for (int d = 0; d < 3; d++) d2 += (x[d] - p[d]) * (x[d] - p[d]);
        CHECK(d2 < 0.002 * 0.002 && d2 > 0);
    }
    world_close(&w);
}

/* Two tubes stand on each other, one with half as many points around and turned by five of the other's: every point of the
 * upper rim is tied to the place right below it, and none twice. */
TEST(closed_borders_are_sewn_where_the_springs_are_shortest)
{
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        char text[900];
        snprintf(text, sizeof text,
                 "objects:\n"
                 "  arm: {generate: {tube: {radius: 0.1, height: 0.2, cells: [24, 2]}}, shell: {thickness: 1 mm}, translate: [0, "
                 "0.3, 0]}\n"
                 "  body: {generate: {tube: {radius: 0.1, height: 0.2, cells: [12, 2]}}, shell: {thickness: 1 mm}%s,\n"
                 "         rotate: {axis: [0, 1, 0], angle: 75 deg}}\n"
                 "seams: [{from: {object: arm, relative-box: [[0, 0, 0], [1, 0.01, 1]]}, to: {object: body, relative-box: [[0, "
                 "0.99, 0], [1, 1, 1]]}}]\n",
                 mirrored ? ", scale: [1, 1, -1]" : "");
        codim_scene s = made(text);
        CHECK(s.m.na == 24);
        for (int32_t i = 0; i < s.m.na; i++) {
            const double *x = s.f.x + 3 * s.m.attach_node[5 * i];
            double p[3];
            pulled_to(&s.m, s.f.x, i, p);
            CHECK_NEAR(x[1], 0.2, 1e-14);
            CHECK_NEAR(p[1], 0.1, 1e-14);
            CHECK_NEAR(hypot(p[0] - x[0], p[2] - x[2]), i % 2 ? 0 : 0.1 * (1 - cos(acos(-1) / 12)), 1e-12);
            for (int32_t j = 0; j < i; j++) CHECK(s.m.attach_node[5 * i] != s.m.attach_node[5 * j]);
        }
        drop(&s);
    }
}

/* Two meshes of one shape: each node is sewn to the point below it. */
static void sewn_to_below(const char *text, int32_t n)
{
    codim_scene s = made(text);
    CHECK(s.m.na == n);
    for (int32_t i = 0; i < s.m.na; i++) {
        const double *x = s.f.x + 3 * s.m.attach_node[5 * i];
        double p[3];
        pulled_to(&s.m, s.f.x, i, p);
        CHECK_NEAR(p[0], x[0], 1e-14);
        CHECK_NEAR(p[1], x[1] - 0.1, 1e-14);
        CHECK_NEAR(p[2], x[2], 1e-14);
    }
    drop(&s);
}

TEST(a_line_of_uneven_sides_is_sewn_to_its_like_that_is_numbered_the_other_way)
{
    sewn_to_below("objects:\n"
                  "  a: {generate: {explicit: {points: [[0, 0, 0], [0, 0, 0.2], [0, 0, 1], [1, 0, 0], [1, 0, 0.2], [1, 0, 1]],\n"
                  "      triangles: [[0, 1, 3], [3, 1, 4], [1, 2, 4], [4, 2, 5]]}}, shell: {thickness: 1 mm},\n"
                  "      translate: [0, 0.1, 0]}\n"
                  "  b: {generate: {explicit: {points: [[0, 0, 1], [0, 0, 0.2], [0, 0, 0], [1, 0, 1], [1, 0, 0.2], [1, 0, 0]],\n"
                  "      triangles: [[2, 1, 5], [5, 1, 4], [1, 0, 4], [4, 0, 3]]}}, shell: {thickness: 1 mm}}\n"
                  "seams: [{from: {object: a, nodes: [0, 1, 2]}, to: {object: b, nodes: [0, 1, 2]}}]\n", 3);
}

/* The two neighbours of a corner are joined by an inner side, whose triangles stand far apart in the list. */
TEST(a_line_around_a_corner_follows_the_border)
{
#define CORNER "{generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 1], [1, 0, 1], [2, 0, 1], [0, 0, 2], " \
               "[1, 0, 2], [2, 0, 2]],\n      triangles: [[0, 3, 1], [1, 4, 2], [2, 4, 5], [3, 6, 4], [4, 6, 7], [4, 7, 5], " \
               "[5, 7, 8], [1, 3, 4]]}}, shell: {thickness: 1 mm}"
    sewn_to_below("objects:\n  a: " CORNER ", translate: [0, 0.1, 0]}\n  b: " CORNER "}\n"
                  "seams: [{from: {object: a, nodes: [0, 1, 2, 3, 6]}, to: {object: b, nodes: [0, 1, 2, 3, 6]}}]\n", 5);
#undef CORNER
}

/* The middle line of a sheet to the border of another, as a pocket is: along inner sides where the selection is no border. */
TEST(a_line_across_a_panel_is_sewn_too)
{
    codim_scene s =
        made("objects:\n"
             "  a: {generate: {cloth: {size: [1, 1], cells: [4, 4]}}, shell: {thickness: 1 mm}}\n"
             "  b: {generate: {cloth: {size: [1, 1], cells: [2, 2]}}, shell: {thickness: 1 mm}, translate: [0.5, 0.1, 0]}\n"
             "seams: [{from: {object: a, box: [[-0.01, 0, -1], [0.01, 0, 1]]}, to: {object: b, box: [[-0.01, 0, -1], [0.01, 1, "
             "1]]}}]\n");
    CHECK(s.m.na == 5);
    for (int32_t i = 0; i < s.m.na; i++) {
        const double *x = s.f.x + 3 * s.m.attach_node[5 * i];
        double p[3];
        pulled_to(&s.m, s.f.x, i, p);
        CHECK_NEAR(x[0], 0, 1e-15);
        CHECK_NEAR(p[0], 0, 1e-15);
        CHECK_NEAR(p[1], 0.1, 1e-15);
        CHECK_NEAR(p[2], x[2], 1e-15);
    }
    drop(&s);
}

TEST(what_is_no_line_along_triangles_is_no_seam)
{
    static const char *const sheets = "objects:\n"
        "  a: {generate: {cloth: {size: [1, 1], cells: [3, 3]}}, shell: {thickness: 1 mm}}\n"
        "  b: {generate: {cloth: {size: [1, 1], cells: [3, 3]}}, shell: {thickness: 1 mm}, translate: [0, 1, 0]}\n"
        "  c: {generate: {rod: {length: 1, cells: 2}}, rod: {radius: 1 mm}, translate: [0, 2, 0]}\n"
        "seams: [{from: {object: a, %s}, to: {object: %s}}]\n";
    static const char *const line = "b, nodes: [0, 1, 2, 3]";
    const char *const bad[6][3] = {
        { "nodes: [0, 1, 2, 3]", "c", "expected one object that is a shell" },
        { "nodes: [0, 1, 2, 3]", "b", "the line branches at node " },      /* all of b */
        { "nodes: [0, 1, 11]", line, "2 of the 3 selected nodes of 'a' lie on one line" },
        { "nodes: [0, 2]", line, "no side of a triangle of 'a' has both ends selected" },
        { "nodes: [1, 4, 5, 6, 9]", line, "the line branches at node 5 of 'a'" },
        { "nodes: [0, 1, 2, 3, 7, 11, 15, 14, 13, 12, 8, 4]", line, "the line of 'a' is closed, that of 'b' has two ends" } };
    for (int i = 0; i < 6; i++) {
        char text[900];
        snprintf(text, sizeof text, sheets, bad[i][0], bad[i][1]);
        CHECK(refused(text, bad[i][2]));
    }
}

TEST(attachments_to_thin_bodies_pull_to_their_nearest_place)
{
    codim_scene s = made("objects:\n"
                        "  a: {generate: {explicit: {points: [[0, 0, 0], [1, 0, 0], [0, 0, 1]], triangles: [[0, 2, 1]]}}, shell: "
                        "{thickness: 1 mm}}\n"
                        "  b: {generate: {rod: {length: 1, cells: 2}}, rod: {radius: 1 mm}, translate: [0.75, 0.5, 0]}\n"
                        "  c: {generate: {particles: {size: [0, 0, 0], count: [1, 1, 1]}}, particle: {radius: 1 mm}, translate: "
                        "[0.2, 0.4, 0.2]}\n"
                        "attachments:\n"
                        "  - {from: {object: c}, to: {object: a}, stiffness: 1}\n"
                        "  - {from: {object: c}, to: {object: b}, stiffness: 1}\n"
                        "  - {from: {object: a, nodes: [0]}, to: {object: c}, stiffness: 1}\n");
    static const double want[3][3] = { { 0.2, 0, 0.2 }, { 0.25, 0.5, 0 }, { 0.2, 0.4, 0.2 } };
    CHECK(s.m.na == 3);
    for (int32_t i = 0; i < 3; i++) {
        double p[3];
        pulled_to(&s.m, s.f.x, i, p);
        for (int d = 0; d < 3; d++) CHECK_NEAR(p[d], want[i][d], 1e-15);
    }
    drop(&s);
}

/* ---- patterns of files ---- */

TEST(an_obj_brings_its_pattern_when_every_corner_has_a_place)
{
    static const char *const text[3] = {
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 2 0 0.5\nvt 2 3\nvt 0 3 # end\nf 1/1 2/2 3/3/9 4/-1\n",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\nf 1//1 3 4\n",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nf 1/1 2/2 3/1\n"
    };
    for (int i = 0; i < 3; i++) {
        char copy[300];
        snprintf(copy, sizeof copy, "%s", text[i]);
        const abut_bytes in = { .name = "m.obj", .data = copy, .size = strlen(copy) };
        abut_mesh m = { 0 };
        abut_err err = { 0 };
        const abut_status rc = abut_obj_read(&in, &m, &err);
        if (i == 2) {
            CHECK(rc == ABUT_E_FORMAT && strstr(err.msg, "texture index 2: the file has 1 place"));
            continue;
        }
        CHECK(!rc && m.nf == 2 && !m.uv == (i == 1));
        static const double want[12] = { 0, 0, 2, 0, 2, 3, 0, 0, 2, 3, 0, 3 };
        for (int k = 0; m.uv && k < 12; k++)
            CHECK(m.uv[k] == want[k]);
        if (m.uv) {
            abut_mesh_flip(&m);
            CHECK(m.uv[2] == 2 && m.uv[3] == 3 && m.uv[4] == 2 && m.uv[5] == 0);
        }
        abut_mesh_clear(&m);
    }
}
