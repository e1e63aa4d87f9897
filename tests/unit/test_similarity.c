/* Invariance of motions under changes of units and of the directions of the axes.
 *
 * Lengths, times and masses are multiplied by powers of two (of four for masses: the factorisation takes square roots).
 * No operation but a comparison with an absolute constant rounds differently then, so the motion must come out scaled to the
 * last bit.  Every array is scaled by the unit that its table states. */
#include "scene_world.h"

/* length^a time^b mass^c of a unit as the tables write it, "kg m^2/s" and so on */
static int unit_power(const char *unit, int *length, int *time, int *mass)
{
    static const struct { const char *name; int m, s, kg; } base[] = {
        { "kg", 0, 0, 1 }, { "m", 1, 0, 0 }, { "s", 0, 1, 0 }, { "Pa", -1, -2, 1 }, { "N", 1, -2, 1 }, { "rad", 0, 0, 0 },
        { "1", 0, 0, 0 }, { "J", 2, -2, 1 },
    };
    int sign = 1;
    *length = *time = *mass = 0;
    for (const char *p = unit; *p;) {
        if (*p == '/' || *p == ' ') {
            sign = *p++ == '/' ? -1 : 1;
            continue;
        }
        size_t n = strcspn(p, "/ ^"), k = 0, all = sizeof base / sizeof *base;
        while (k < all && (strlen(base[k].name) != n || strncmp(base[k].name, p, n))) k++;
        if (k == all) return 0;
        p += n;
        const int power = sign * (*p == '^' ? (int)strtol(p + 1, (char **)&p, 10) : 1);
        *length += power * base[k].m, *time += power * base[k].s, *mass += power * base[k].kg;
    }
    return 1;
}

typedef struct units {
    int length, time, mass;     /* log2 of how many new units an old one is */
} units;

static void rescale(abut_arrays *set, units u)
{
    for (int i = 0; i < set->n; i++) {
        const abut_array *a = &set->a[i];
        int l, t, m;
        if (a->type != ABUT_F64) continue;
        const int known = unit_power(a->unit, &l, &t, &m);
        if (!known) printf("# %s: unit '%s'\n", a->name, a->unit), check_bad++;
        double *v = a->data;
        for (size_t k = 0; k < abut_array_bytes(a) / sizeof *v; k++) v[k] = ldexp(v[k], l * u.length + t * u.time + m * u.mass);
    }
}

/* A block pushed by a wall over a rough floor into another one, everything that a scene can have: friction with lags,
 * a moving obstacle, half-spaces, handles, damping. */
static const char *const BUSY =
    "{time: {step: 0.01, scheme: %s}, tolerance: %s, damping: {mass: 0.5, stiffness: 1e-3},\n"
    " contact: {dhat: 2 mm, friction: {mu: 0.3, eps_v: 1e-3 m/s, lags: 2}},\n"
    " materials: {soft: {model: %s, young: 3e4}, stiff: {young: 1e6, density: 2000, poisson: 0.3}},\n"
    " objects: {\n"
    "  low: {generate: {box: {size: [0.3, 0.2, 0.3], cells: [2, 2, 2]}}, translate: [0, 0.101, 0], material: soft},\n"
    "  high: {generate: {box: {size: [0.2, 0.2, 0.2], cells: [1, 1, 1]}}, translate: [0.1, 0.306, 0.05], material: stiff,\n"
    "    rotate: {axis: [1, 2, 3], angle: 2 deg}},\n"
    "  held: {generate: {box: {size: [0.1, 0.3, 0.1], cells: [1, 3, 1]}}, translate: [0.265, 0.2, 0], material: soft},\n"
    "  wall: {generate: {box: {size: [0.1, 0.5, 0.5], cells: [1, 1, 1]}}, translate: [-0.21, 0.26, 0], obstacle: true,\n"
    "    velocity: [0.8, 0, 0]},\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.5}},\n"
    " motion: [{select: {object: held, relative-box: [[0, 0.9, 0], [1, 1, 1]]}, fix: true}]}\n";

static const char *const SCHEME[ABUT_BDF3] = { "implicit-euler", "implicit-newmark", "bdf2", "midpoint", "quasi-static" };
enum { STEPS = 6 };

/* The busy world with its original arrays; the caller starts it. */
static void busy(world *w, int32_t scheme, const char *tolerance)
{
    char text[4096];
    *w = (world){ 0 };
    snprintf(text, sizeof text, BUSY, SCHEME[scheme], tolerance, abut_material_names[scheme]);
    scene_arrays(text, &w->model_set, &w->frame);
}

SLOW_TEST(other_units_of_length_time_and_mass_give_the_same_motion_bit_by_bit)
{
    const units other[] = { { 10, 0, 0 }, { -10, 0, 0 }, { 0, 7, 0 }, { 0, -7, 0 }, { 0, 0, 10 }, { 0, 0, -10 }, { 10, -5, 20 } };
    for (int32_t scheme = 0; scheme < ABUT_BDF3; scheme++) {
        world si;
        int contacts = 0;
        busy(&si, scheme, "1e-5 m/s");
        world_start(&si);
        for (int k = 0; k < STEPS; k++) {
            CHECK(!world_judged(&si, 1));
            contacts |= si.rep.contacts > 0 && si.rep.planes > 0;
        }
        CHECK(contacts);
        for (size_t c = 0; c < sizeof other / sizeof *other; c++) {
            world w;
            busy(&w, scheme, "1e-5 m/s");
            rescale(&w.model_set, other[c]);
            rescale(&w.frame, other[c]);
            world_start(&w);
            CHECK(!world_run(&w, STEPS));
            rescale(&w.frame, (units){ -other[c].length, -other[c].time, -other[c].mass });
            CHECK(same_frames(&si.frame, &w.frame));
            if (check_bad) printf("# %s, units 2^(%d %d %d)\n", SCHEME[scheme], other[c].length, other[c].time, other[c].mass);
            world_close(&w);
        }
        world_close(&si);
    }
}

/* x -> R x + t for points, without t for vectors, of an array that may be absent */
static void move_rows(abut_arrays *set, const char *name, const double R[9], const double t[3])
{
    const abut_array *a = abut_arrays_find(set, name);
    double *x = a ? a->data : NULL;
    for (size_t i = 0; a && i < abut_array_bytes(a) / (3 * sizeof *x); i++, x += 3) {
        double y[3];
        for (int k = 0; k < 3; k++) y[k] = R[3 * k] * x[0] + R[3 * k + 1] * x[1] + R[3 * k + 2] * x[2] + (t ? t[k] : 0);
        memcpy(x, y, sizeof y);
    }
}

static void move_world(world *w, const double R[9], const double t[3])
{
    move_rows(&w->model_set, "node/X", R, t);
    move_rows(&w->model_set, "half-space/point", R, t);
    move_rows(&w->model_set, "motion/center", R, t);
    move_rows(&w->frame, "node/x", R, t);
    move_rows(&w->model_set, "half-space/normal", R, NULL);
    move_rows(&w->model_set, "motion/linear", R, NULL);
    move_rows(&w->model_set, "motion/angular", R, NULL);
    move_rows(&w->model_set, "world/gravity", R, NULL);
    move_rows(&w->frame, "node/v", R, NULL);
}

TEST(a_scene_that_is_turned_and_moved_as_a_whole_moves_the_same_way)
{
    /* the unit quaternion (2, 1, -1, 3) / sqrt 15 */
    const double R[9] = { -1 / 3., -14 / 15., 2 / 15., 2 / 3., -1 / 3., -2 / 3., 2 / 3., -2 / 15., 11 / 15. };
    const double t[3] = { 3, -2, 5 };
    for (int32_t scheme = 0; scheme < ABUT_BDF3; scheme++) {
        world a, b;
        busy(&a, scheme, scheme == ABUT_QUASI_STATIC ? "1e-7 m/s" : "1e-9 m/s");
        busy(&b, scheme, scheme == ABUT_QUASI_STATIC ? "1e-7 m/s" : "1e-9 m/s");
        move_world(&b, R, t);
        world_start(&a);
        world_start(&b);
        double worst = 0, fast = 0;
        CHECK(!world_judged(&a, STEPS));
        CHECK(!world_judged(&b, STEPS));
        CHECK(a.rep.contacts == b.rep.contacts && a.rep.contacts > 0);
        move_rows(&a.frame, "node/x", R, t);
        move_rows(&a.frame, "node/v", R, NULL);
        for (int32_t i = 0; i < 3 * a.model.nv; i++) {
            worst = fmax(worst, fabs(get(&a, "node/x")[i] - get(&b, "node/x")[i]));
            fast = fmax(fast, fabs(get(&a, "node/v")[i] - get(&b, "node/v")[i]));
        }
        printf("# %s: turned and moved, positions differ by %.2g m, velocities by %.2g m/s\n", SCHEME[scheme], worst, fast);
        /* each step of each world ends within the tolerance, 1e-9 m/s, which the velocity takes at most twice */
        CHECK(fast < 4 * STEPS * 1e-9);
        CHECK(worst < 4 * STEPS * STEPS * 1e-11);
        world_close(&a);
        world_close(&b);
    }
}
