#include "energy/elastic.h"
#include "kuhn.h"

#include "check.h"

/* sqrt((2 mu + 3 lambda)^2 + 20 mu^2): every isotropic density has the second derivative of Hooke's law at rest. */
static double closed_form(double mu, double lambda)
{
    return sqrt((2 * mu + 3 * lambda) * (2 * mu + 3 * lambda) + 20 * mu * mu);
}

/* |d2psi/dF2|_F at rest, by a tet whose nodes have 12 + 3 * 4 times its square */
static double stiffness(int model, double mu, double lambda)
{
    double X[12] = { 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2 }, node[4];
    double density = 1, young = mu * (3 * lambda + 2 * mu) / (lambda + mu), poisson = lambda / (2 * (lambda + mu));
    int32_t tet[4] = { 0, 1, 2, 3 }, mat = 0;
    const abut_model m = { .nv = 4, .nt = 1, .nm = 1, .X = X, .tet = tet, .tet_mat = &mat, .mat_model = &model,
                           .mat_density = &density, .mat_young = &young, .mat_poisson = &poisson };
    const uint8_t held[4] = { 0 };
    abut_elastic e;
    CHECK(!abut_elastic_init(&e, &m, NULL));
    const double force = abut_characteristic_force(&e, held, node);
    abut_elastic_clear(&e);
    return force / sqrt(12 + 3 * 4);
}

TEST(the_stiffness_has_its_closed_form_for_every_material)
{
    double mu, lambda;
    abut_lame(1e5, 0.4, &mu, &lambda);
    const int models[] = { ABUT_NEO_HOOKEAN, ABUT_FIXED_COROTATED, ABUT_STABLE_NEO_HOOKEAN, ABUT_STVK };
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(stiffness(models[i], mu, lambda), closed_form(mu, lambda), 1e-9 * closed_form(mu, lambda));
    CHECK_NEAR(stiffness(ABUT_NEO_HOOKEAN, mu, lambda), 5.249e5, 50);
    CHECK_NEAR(stiffness(ABUT_ARAP, mu, lambda), closed_form(mu, 0), 1e-9 * closed_form(mu, 0));
}

TEST(one_tet_has_the_areas_of_its_faces)
{
    double X[12] = { 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2 }, node[4];
    int32_t tet[4] = { 0, 1, 2, 3 }, mat[1] = { 0 }, model[1] = { ABUT_STABLE_NEO_HOOKEAN };
    double density[1] = { 1000 }, young[1] = { 1e5 }, poisson[1] = { 0.4 };
    const abut_model m = { .nv = 4, .nt = 1, .nm = 1, .X = X, .tet = tet, .tet_mat = mat, .mat_model = model,
                           .mat_density = density,
                           .mat_young = young, .mat_poisson = poisson };
    abut_elastic e;
    double mu, lambda;
    CHECK(!abut_elastic_init(&e, &m, NULL));
    abut_lame(1e5, 0.4, &mu, &lambda);
    const double want = closed_form(mu, lambda) * sqrt(12 + 3 * 4);     /* (2 sqrt 3)^2 opposite to the corner, 2^2 thrice */
    uint8_t held[4] = { 0, 0, 0, 0 };
    CHECK_NEAR(abut_characteristic_force(&e, held, node), want, 1e-9 * want);
    held[2] = 1;
    CHECK_NEAR(abut_characteristic_force(&e, held, node), want * sqrt(0.75), 1e-9 * want);
    held[0] = held[1] = held[3] = 1;
    CHECK(abut_characteristic_force(&e, held, node) == 0);
    abut_elastic_clear(&e);
}

TEST(it_grows_with_the_modulus_and_the_square_of_the_size)
{
    kuhn_box a, b;
    kuhn_build(&a, 3, 0.1, 0.2, 1);
    kuhn_build(&b, 3, 0.3, 0.2, 1);
    b.young[0] = 5 * a.young[0];
    abut_elastic ea, eb;
    CHECK(!abut_elastic_init(&ea, &a.model, NULL) && !abut_elastic_init(&eb, &b.model, NULL));
    uint8_t *held = calloc((size_t)a.model.nv, 1);
    double *node = calloc((size_t)a.model.nv, sizeof *node);
    const double small = abut_characteristic_force(&ea, held, node), large = abut_characteristic_force(&eb, held, node);
    CHECK_NEAR(large, 45 * small, 1e-9 * large);
    free(held), free(node);
    abut_elastic_clear(&ea), abut_elastic_clear(&eb);
    kuhn_free(&a), kuhn_free(&b);
}
