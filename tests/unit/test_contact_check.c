/* A collision mesh that lacks something is told from a whole one. */
#include "scene_world.h"

#include "check.h"
#include "model/model.h"

static const char scene[] =
    "abut: 1\n"
    "objects:\n"
    "  box: {generate: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, translate: [0, 0.2, 0]}\n"
    "  rag: {generate: {cloth: {size: [0.1, 0.1], cells: [2, 2]}}, translate: [0, 0.4, 0], shell: {thickness: 1 mm}}\n"
    "  rod: {generate: {rod: {length: 0.1, cells: 2}}, translate: [0, 0.5, 0], rod: {radius: 1 mm}}\n"
    "  dot: {generate: {particles: {size: [0.1, 0, 0], count: [2, 1, 1]}}, translate: [0, 0.6, 0], particle: {radius: 1 mm}}\n"
    "  pin: {generate: {rod: {length: 0.1, cells: 1}}, obstacle: true, translate: [0, 0.7, 0]}\n";

/* Row i of an array of the model is left out: the last one takes its place. */
static void drop_row(int32_t *row, int32_t *n, int width, int32_t i)
{
    memmove(row + width * (size_t)i, row + width * ((size_t)*n - 1), (size_t)width * sizeof *row);
    --*n;
}

TEST(no_row_can_be_left_out_but_those_of_obstacles)
{
    abut_arrays model = { 0 }, frame = { 0 };
    abut_model m;
    abut_err err = { 0 };
    scene_arrays(scene, &model, &frame);
    CHECK(!abut_model_view(&model, &m, &err) && !abut_contact_check(&m, 1, &err));
    int32_t *edge = malloc(2 * (size_t)m.nce * sizeof *edge), *tri = malloc(3 * (size_t)m.nct * sizeof *tri);
    int sides = 0;
    for (int32_t i = 0; i < m.nct; i++) {
        abut_model less = m;
        memcpy(tri, m.coll_tri, 3 * (size_t)m.nct * sizeof *tri);
        drop_row(tri, &less.nct, 3, i);
        less.coll_tri = tri;
        CHECK(abut_contact_check(&less, 1, &err) == ABUT_E_FORMAT && strstr(err.msg, "contact/triangle"));
        CHECK(abut_contact_check(&less, 0, &err) == ABUT_E_FORMAT);
    }
    for (int32_t i = 0; i < m.nce; i++) {
        abut_model less = m;
        memcpy(edge, m.coll_edge, 2 * (size_t)m.nce * sizeof *edge);
        const int obstacle = m.role[m.coll_node[edge[2 * i]]] == ABUT_NODE_OBSTACLE;
        drop_row(edge, &less.nce, 2, i);
        less.coll_edge = edge;
        CHECK(abut_contact_check(&less, 1, &err) == (obstacle ? ABUT_OK : ABUT_E_FORMAT));
        CHECK(obstacle || strstr(err.msg, "contact/edge"));
        sides += !abut_contact_check(&less, 0, &err);
    }
    CHECK(sides == m.nce - 2);      /* segments of the rod have no triangle that tells of them */
    free(edge);
    free(tri);
    abut_arrays_clear(&model);
    abut_arrays_clear(&frame);
}

TEST(a_particle_needs_its_vertex_and_a_model_without_vertices_is_one_without_contact)
{
    abut_arrays model = { 0 }, frame = { 0 };
    abut_model m;
    abut_err err = { 0 };
    scene_arrays(scene, &model, &frame);
    CHECK(!abut_model_view(&model, &m, &err));
    int32_t *node = malloc((size_t)m.nc * sizeof *node);
    memcpy(node, m.coll_node, (size_t)m.nc * sizeof *node);
    for (int32_t i = 0; i < m.nc; i++)
        if (node[i] == m.particle[1]) node[i] = m.tet[0];   /* any other node */
    m.coll_node = node;
    CHECK(abut_contact_check(&m, 1, &err) == ABUT_E_FORMAT && strstr(err.msg, "contact/"));
    m.nc = m.nce = m.nct = 0;
    CHECK(!abut_contact_check(&m, 1, &err));
    free(node);
    abut_arrays_clear(&model);
    abut_arrays_clear(&frame);
}

TEST(a_solver_refuses_what_would_pass_through_itself)
{
    world w = { 0 };
    scene_arrays(scene, &w.model_set, &w.frame);
    abut_array *edge = abut_arrays_find(&w.model_set, "contact/edge");
    edge->shape[0] = 1;
    CHECK(!abut_model_view(&w.model_set, &w.model, &w.err));
    CHECK(abut_stepper_init(&w.st, &w.model, NULL, &abut_solve_defaults, &w.err) == ABUT_E_FORMAT);
    CHECK(strstr(w.err.msg, "contact/edge"));
    world_close(&w);
}
