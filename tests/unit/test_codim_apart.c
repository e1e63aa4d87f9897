/* Thin elements taken apart: the nearest corners of each, against its own energy and a search around them. */
#include "scene_made.h"

#include "base/rng.h"
#include "energy/codim_elements.h"
#include "energy/membrane.h"

/* A sheet whose hinges bend, and a rod that is straight at rest. */
static const char scene[] =
    "abut: 1\ntime: {step: 0.01 s}\n"
    "materials:\n"
    "  cotton: {model: %s, density: 500, young: 50 kPa, bending-young: 0.5 MPa, poisson: 0.3}\n"
    "  wire: {density: 1300, young: 1e6, bending-young: 1e7, poisson: 0.3}\n"
    "objects:\n"
    "  sheet: {generate: {cloth: {size: [0.3, 0.2], cells: [3, 2]}}, material: cotton, shell: {thickness: 0.5 mm}}\n"
    "  hair: {generate: {strands: {count: [1, 1], spacing: 3 mm, length: 0.1, cells: 4}}, material: wire, rod: {radius: 1 mm},\n"
    "         translate: [0, 1, 0]}\n";

/* Reference of the function that z minimises: the energy by its own functions, the distance by a double sum. */
static double value(const abut_codim_apart *a, size_t e, const double *y, const double *z)
{
    const abut_codim_ask ask = { .t = &a->t, .x = z, .parts = ABUT_CODIM_ALL, .kappa = ABUT_STRAIN_KAPPA_MIN };
    int kind = 0;
    double d[12], f[12], sum = 0;
    while (e >= a->t.first[kind + 1]) kind++;
    for (int i = 0; i < 12; i++) d[i] = z[12 * e + (size_t)i] - y[i];
    abut_codim_apart_force(a, e, d, f);
    for (int i = 0; i < 12; i++) sum += 0.5 * d[i] * f[i];
    return sum + a->scale * abut_codim_elements_energy(&ask, kind, e, e + 1);
}

static void try_material(const char *material)
{
    enum { ROUNDS = 60 };
    made s;
    char text[1024];
    abut_codim t;
    abut_codim_apart a;
    abut_rng rng = { 7 };
    double off = 0, gained = 0, length = 0;
    int found = 0, all = 0;
    snprintf(text, sizeof text, scene, material);
    CHECK(!make(&s, text));
    CHECK(!abut_codim_init(&t, &s.m, &s.err) && !abut_codim_apart_init(&a, &t, 1e-4, &s.err));
    double *z = calloc(12 * t.n, sizeof *z);
    for (int round = 0; round < ROUNDS; round++) {
        const double far = round % 3 == 0 ? 1e-7 : round % 3 == 1 ? 5e-3 : 0.01;
        for (size_t e = 0; e < t.n; e++) {
            double y[12] = { 0 }, g[12], d[12], f[12], most = 0;
            for (int i = 0; i < 12; i++) {
                const int32_t node = t.node[4 * e + (size_t)(i / 3)];
                if (node < 0) continue;
                z[12 * e + (size_t)i] = s.m.X[3 * node + i % 3];
                y[i] = z[12 * e + (size_t)i] + (round % 2 ? 0.1 : 0) + abut_rng_real(&rng, -far, far);
                length = fmax(length, fabs(z[12 * e + (size_t)i] - z[12 * e + (size_t)(i % 3)]));
            }
            all++;
            if (!abut_codim_apart_nearest(&a, e, y, z)) {
                printf("# element %zu, round %d, material %s\n", e, round, material);
                continue;
            }
            found++;
            for (int i = 0; i < 3; i++) CHECK(fabs(z[12 * e + (size_t)i] - y[i]) < 1e-15);
            /* K balance = dE/dx, and at the nearest corners that is K (y - z) */
            abut_codim_apart_balance(&a, e, z, d);
            for (int i = 0; i < 12; i++) most = fmax(most, fabs(d[i] - (y[i] - z[12 * e + (size_t)i])));
            off = fmax(off, most);
            /* and nothing around them is lower */
            const double here = value(&a, e, y, z);
            for (int k = 0; k < 20; k++) {
                memcpy(g, z + 12 * e, sizeof g);
                for (int i = 3; i < 12; i++)
                    if (t.node[4 * e + (size_t)(i / 3)] >= 0) z[12 * e + (size_t)i] += abut_rng_real(&rng, -1e-3, 1e-3);
                gained = fmax(gained, (here - value(&a, e, y, z)) / here);
                memcpy(z + 12 * e, g, sizeof g);
            }
            /* K is symmetric, sums to 0, and is positive */
            abut_codim_apart_force(&a, e, (const double[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, f);
            for (int i = 0; i < 12; i++) CHECK(fabs(f[i]) < 1e-9);
        }
    }
    printf("# %s: %d of %d, balance off by %.2g of the edges, gained %.2g\n", material, found, all, off / length, gained);
    CHECK(found == all);
    CHECK(off < 1e-9 * length);
    CHECK(gained < 1e-9);
    free(z);
    abut_codim_apart_clear(&a);
    abut_codim_clear(&t);
    drop(&s);
}

TEST(the_nearest_corners_of_every_thin_element_balance_its_forces_and_are_a_minimum)
{
    try_material("stvk");
    try_material("neo-hookean");
    try_material("fixed-corotated");
}

