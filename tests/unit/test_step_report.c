/* The line of JSON of a step: every key, in its order, with its number, and null where there is none. */
#include "check.h"

#include "formats/result/out_file.h"
#include "formats/result/results.h"
#include "solve/solvers.h"

/* A ball of a tet, and a sheet of two triangles above a floor. */
static const int32_t body[] = { 0, 0, 0, 0, 1, 1, 1, 1 }, tet[] = { 0, 1, 2, 3 }, shell[] = { 4, 5, 6, 4, 6, 7 };
static const char objects[] = "ball\nthe \"sheet\"\n", planes[] = "floor\n";
static const abut_model model = { .nv = 8, .nt = 1, .nsh = 2, .no = 2, .nh = 1, .body = body, .tet = tet, .shell = shell,
                                  .object_name = { objects, sizeof objects - 1 },
                                  .half_space_name = { planes, sizeof planes - 1 } };

/* Whether the line of a report is `want`; says where it is not. */
static int is_line(const abut_report *r, const char *want)
{
    abut_text_file t;
    abut_err err = { 0 };
    size_t same = 0;
    if (abut_text_file_open(&t, &err)) return 0;
    const abut_status rc = abut_report_write(r, &model, t.f, &err);
    if (abut_text_file_end(&t, "a report", &err) || rc) return 0;
    while (want[same] && t.text[same] == want[same]) same++;
    const int equal = t.text[same] == want[same];
    if (!equal) printf("# got      %.60s\n# expected %.60s\n", t.text + same, want + same);
    abut_text_file_clear(&t);
    return equal;
}

#define HEAD(newton) "{\"step\":0,\"time\":0,\"newton_iterations\":" #newton ",\"line_search_trials\":0,\"passes\":0," \
    "\"diagonal_shifts\":0,\"cg_iterations\":0,\"iterations_given_up\":0,\"factorisations\":0,\"factorisations_double\":0," \
    "\"waypoints\":0,\"damped\":0,\"newton_solves\":0,\"initial_matrices\":0,\"not_descending\":0,\"pairs_skipped\":0," \
    "\"characteristic_norm\":null,\"gradient_norm\":null,\"residual\":0,\"force_residual\":null,\"force_largest\":null," \
    "\"contact_error\":null,\"contact_error_balance\":null,\"contact_error_passes\":null,\"contact_error_newton\":null," \
    "\"lag_residual\":null,\"lag_force\":null,\"lag_force_largest\":null,\"lag_friction\":null,\"lag_speed\":null,\"parts\":1," \
    "\"scripted_fraction\":0,\"kappa\":0,\"fixed_iterations\":0,\"not_guaranteed\":[\"intersections\",\"inversions\"," \
    "\"convergence\",\"restarts\",\"any number of threads\"],\"contact\":\"barrier\",\"contacts\":0,\"mollified\":0," \
    "\"half_space_contacts\":0,\"candidates\":0,\"sticking_contacts\":0,\"sliding_contacts\":0,\"creep_max\":null," \
    "\"creep_mean\":null,"
#define GAP "\"min_gap\":null,\"min_gap_nodes\":null,\"min_gap_objects\":null,"
#define MEASURED "\"min_jacobian\":null,\"min_jacobian_tet\":-1,\"min_jacobian_object\":null,\"max_stretch\":null," \
    "\"min_stretch\":null,\"stretch_margin\":null,\"strain_kappa\":null,\"max_stretch_shell\":-1,\"max_stretch_object\":null," \
    "\"rigid_strain\":null,\"stiffened\":0,"
#define ENERGIES "\"kinetic_energy\":0,\"elastic_energy\":0,\"gravity_energy\":0,\"barrier_energy\":0,\"energy_growth\":null," \
    "\"energy_grows\":0,\"spin_taken\":0,\"momentum\":[0,0,0],\"angular_momentum\":[0,0,0],"
#define REST "\"factor_nnz\":0,\"factor_flops\":0,\"factor_bytes\":0,\"memory_peak\":0,\"cpu_seconds\":0.000000,\"shifts\":0," \
    "\"eta\":0,\"stretch_room\":null,\"device\":\"cpu\","
#define SECONDS "\"seconds\":{\"predict\":0.000000,\"candidates\":0.000000,\"pairs\":0.000000,\"gradient\":0.000000," \
    "\"hessian\":0.000000,\"assemble\":0.000000,\"analyse\":0.000000,\"factor\":0.000000,\"solve\":0.000000,\"ccd\":0.000000," \
    "\"line_search\":0.000000,\"check\":0.000000,\"friction\":0.000000,\"total\":0.000000,\"other\":0.000000}}\n"
#define NO_ROWS "\"iterations\":[],\"iterations_left_out\":0," \
    "\"held_up\":{\"script\":0,\"contact\":0,\"element\":0,\"rise\":0,\"stiff\":0},"

static const abut_report nothing = { .lag_residual = -1, .min_gap = -1, .min_jacobian_tet = -1, .max_stretch_shell = -1 };

TEST(what_a_step_has_not_measured_is_null)
{
    CHECK(is_line(&nothing, HEAD(0) GAP MEASURED "\"limit\":null," ENERGIES NO_ROWS REST SECONDS));
}

TEST(every_number_is_under_its_key)
{
    abut_iteration row[] = { { .residual = 0.5, .bound = 1, .alpha = 0.25, .decrease = 2.5, .contacts = 3, .trials = 4 },
                             { .residual = 1.0 / 3, .bound = 0.75, .alpha = 0.75, .decrease = NAN, .limit = ABUT_LIMIT_EE,
                               .contacts = 5, .trials = 1 } };
    const abut_report r = {
        .step = 1LL << 40, .time = 0.1, .newton = 2, .trials = 101, .passes = 102, .shifts = 103, .cg_iterations = 104,
        .iterations_given_up = 105, .factorisations = 106, .factorisations_double = 107, .waypoints = 108, .damped = 1,
        .newton_solves = 109, .initial_matrices = 110, .not_descending = 111, .pairs_skipped = 112, .norm = 113, .gradient = 114,
        .residual = 115, .force_residual = 0, .force_largest = 117, .contact_error = { 0.25, 0, 0.5 }, .lag_residual = 0,
        .lags = { .change = 118, .largest = 119, .friction = 120, .speed = 121, .parts = 4 }, .eta = 0.5, .kappa = 122,
        .fixed_iterations = 123, .promises = ABUT_KEEPS_VOLUME | ABUT_KEEPS_RESTART, .contact = ABUT_CONTACT_HARD,
        .contacts = 124, .mollified = 125, .planes = 126, .candidates = 127, .sticking = 128, .sliding = 129,
        .creep_max = 130, .creep_mean = 131, .min_gap = 0, .gap_node = { 1, 5, 6, 7 }, .min_jacobian = 132,
        .min_jacobian_tet = 0,
        .max_stretch = 133, .min_stretch = 134, .stretch_room = 135, .strain_kappa = 136, .max_stretch_shell = 1,
        .stiffened = 189,
        .limit = { .alpha = 0.125, .kind = ABUT_LIMIT_STRETCH, .node = { 4, 6, 7, -1 }, .tet = 1 }, .limit_iteration = 2,
        .kinetic = 137, .elastic = 138, .gravity = -139, .barrier = 140, .energy_growth = 141, .energy_grows = 1,
        .spin_taken = 142, .momentum = { 143, 144, 145 }, .angular = { 146, 147, 148 }, .it = row,
        .held = { 189, 190, 191, 192, 193 },
        .factor_nnz = 149, .factor_flops = 150, .factor_bytes = INFINITY, .memory_peak = 152, .cpu = 153,
        .device = { "twin", 154, 155, 156, 157, 158, 159, 160 },
        .nodal = { .solved = 1, .linearisations = 161, .iterations = 162, .rounds = 163, .visits = 3, .asleep = 1,
                   .contacts = 164, .appended = 165, .colours = 166, .delta_inf = 167, .delta_2 = 168, .delta_elastic = 169,
                   .unbalanced = NAN, .penetration = 170, .coulomb_residual = 171, .balance_residual = 172, .rising = 1,
                   .sticking = 173, .sliding = 174, .yielding = 175, .opening = 176, .repaired = 2, .twist_iterations = 177,
                   .detect = 178, .project = 179, .judge = 180 },
        .sqp = { .solved = 1, .programs = 181, .qp_iterations = 182, .pairs = 183, .hits = 184, .violation = 185,
                 .last = { .answer = ABUT_QP_LIMIT, .stationary = 186, .feasible = 187, .complementary = 188 } },
        .seconds = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 92.5 } };
    CHECK(is_line(&r, "{\"step\":1099511627776,\"time\":0.10000000000000001,\"newton_iterations\":2,\"line_search_trials\":101,"
        "\"passes\":102,\"diagonal_shifts\":103,\"cg_iterations\":104,\"iterations_given_up\":105,\"factorisations\":106,"
        "\"factorisations_double\":107,\"waypoints\":108,\"damped\":1,\"newton_solves\":109,\"initial_matrices\":110,"
        "\"not_descending\":111,\"pairs_skipped\":112,\"characteristic_norm\":113,\"gradient_norm\":114,\"residual\":115,"
        "\"force_residual\":0,\"force_largest\":117,\"contact_error\":0.75,\"contact_error_balance\":0.25,"
        "\"contact_error_passes\":0,\"contact_error_newton\":0.5,\"lag_residual\":0,\"lag_force\":118,\"lag_force_largest\":119,"
        "\"lag_friction\":120,\"lag_speed\":121,\"parts\":4,\"scripted_fraction\":0.5,\"kappa\":122,\"fixed_iterations\":123,"
        "\"not_guaranteed\":[\"intersections\",\"convergence\",\"any number of threads\"],\"contact\":\"hard, judged\","
        "\"contacts\":124,\"mollified\":125,\"half_space_contacts\":126,\"candidates\":127,\"sticking_contacts\":128,"
        "\"sliding_contacts\":129,\"creep_max\":130,\"creep_mean\":131,\"min_gap\":0,\"min_gap_nodes\":[1,1,2,3],"
        "\"min_gap_objects\":[\"ball\",\"the \\\"sheet\\\"\",\"the \\\"sheet\\\"\",\"the \\\"sheet\\\"\"],\"min_jacobian\":132,"
        "\"min_jacobian_tet\":0,\"min_jacobian_object\":\"ball\",\"max_stretch\":133,\"min_stretch\":134,\"stretch_margin\":135,"
        "\"strain_kappa\":136,\"max_stretch_shell\":1,\"max_stretch_object\":\"the \\\"sheet\\\"\","
        "\"rigid_strain\":null,\"stiffened\":189,\"limit\":{\"kind\":\"stretch\","
        "\"alpha\":0.125,\"iteration\":2,\"nodes\":[0,2,3,-1],\"objects\":[\"the \\\"sheet\\\"\",\"the \\\"sheet\\\"\","
        "\"the \\\"sheet\\\"\",null],\"tet\":1},\"kinetic_energy\":137,\"elastic_energy\":138,\"gravity_energy\":-139,"
        "\"barrier_energy\":140,\"energy_growth\":141,\"energy_grows\":1,\"spin_taken\":142,\"momentum\":[143,144,145],"
        "\"angular_momentum\":[146,147,148],\"iterations\":[[0.5,1,0.25,3,4,2.5,\"decrease\"],"
        "[0.333333,0.75,0.75,5,1,null,\"edge-edge\"]],\"iterations_left_out\":0,\"held_up\":{\"script\":189,"
        "\"contact\":190,\"element\":191,\"rise\":192,\"stiff\":193},\"factor_nnz\":149,\"factor_flops\":150,"
        "\"factor_bytes\":null,\"memory_peak\":152,\"cpu_seconds\":153.000000,\"shifts\":103,\"eta\":0.5,\"stretch_room\":135,"
        "\"device\":\"twin\",\"waits\":154,\"launches\":155,\"device_bytes\":156,\"device_bytes_peak\":157,\"corrections\":158,"
        "\"cg_double\":159,\"transfer_seconds\":160.000000,\"nodal\":{\"linearisations\":161,\"admm_iterations\":162,"
        "\"rounds\":163,\"contact_visits\":3,\"asleep_fraction\":0.25,\"contacts\":164,\"contacts_appended\":165,\"colours\":166,"
        "\"delta_inf\":167,\"delta_2\":168,\"delta_elastic\":169,\"unbalanced\":null,\"penetration\":170,"
        "\"coulomb_residual\":171,\"balance_residual\":172,\"rising\":1,\"sticking\":173,\"sliding\":174,\"yielding\":175,"
        "\"opening\":176,\"repaired\":2,\"twist_iterations\":177,\"seconds\":{\"detect\":178.000000,\"project\":179.000000,"
        "\"judge\":180.000000}},\"sqp\":{\"programs\":181,\"qp_iterations\":182,\"pairs\":183,\"hits\":184,\"answer\":\"limit\","
        "\"violation\":185,\"stationary\":186,\"feasible\":187,\"complementary\":188},\"seconds\":{\"predict\":1.000000,"
        "\"candidates\":2.000000,\"pairs\":3.000000,\"gradient\":4.000000,\"hessian\":5.000000,\"assemble\":6.000000,"
        "\"analyse\":7.000000,\"factor\":8.000000,\"solve\":9.000000,\"ccd\":10.000000,\"line_search\":11.000000,"
        "\"check\":12.000000,\"friction\":13.000000,\"total\":92.500000,\"other\":1.500000}}\n"));   /* 1 + .. + 13 = 91 */
}

TEST(a_half_space_is_the_last_of_four_nodes)
{
    abut_report r = nothing;
    r.min_gap = 0.5;
    memcpy(r.gap_node, (const int32_t[]){ 6, -1, -1, 0 }, sizeof r.gap_node);
    r.limit = (abut_limit){ .alpha = 1, .kind = ABUT_LIMIT_PLANE, .node = { 6, 0, -1, -1 }, .tet = -1 };
    r.limit_iteration = 1;
#define ABOVE_FLOOR(nodes, objects) "\"" nodes "\":[2,-1,-1,0],\"" objects "\":[\"the \\\"sheet\\\"\",null,null,\"floor\"]"
    CHECK(is_line(&r, HEAD(0) "\"min_gap\":0.5," ABOVE_FLOOR("min_gap_nodes", "min_gap_objects") "," MEASURED
                  "\"limit\":{\"kind\":\"half-space\",\"alpha\":1,\"iteration\":1," ABOVE_FLOOR("nodes", "objects")
                  ",\"tet\":-1},"
                  ENERGIES NO_ROWS REST SECONDS));
}

TEST(the_element_of_a_term_keeps_its_number_and_a_tet_gets_that_of_its_object)
{
    abut_report r = nothing;
    r.limit = (abut_limit){ .alpha = 1, .kind = ABUT_LIMIT_TERM, .node = { -1, -1, -1, -1 }, .tet = 7, .term = "mine" };
    r.limit_iteration = 3;
    CHECK(is_line(&r, HEAD(0) GAP MEASURED "\"limit\":{\"kind\":\"mine\",\"alpha\":1,\"iteration\":3,\"nodes\":[-1,-1,-1,-1],"
                  "\"objects\":[null,null,null,null],\"tet\":7}," ENERGIES NO_ROWS REST SECONDS));
    r.limit = (abut_limit){ .alpha = 1, .kind = ABUT_LIMIT_TET, .node = { 0, 1, 2, 3 }, .tet = 0 };
    CHECK(is_line(&r, HEAD(0) GAP MEASURED "\"limit\":{\"kind\":\"inversion\",\"alpha\":1,\"iteration\":3,\"nodes\":[0,1,2,3],"
                  "\"objects\":[\"ball\",\"ball\",\"ball\",\"ball\"],\"tet\":0}," ENERGIES NO_ROWS REST SECONDS));
}

TEST(a_report_that_is_not_written_says_so)
{
    abut_err err = { 0 };
    FILE *f = fopen("/dev/full", "w");
    CHECK(f && abut_report_write(&nothing, &model, f, &err) == ABUT_E_IO);
    CHECK(strstr(err.msg, "step report: No space left"));
    if (f) fclose(f);
}
