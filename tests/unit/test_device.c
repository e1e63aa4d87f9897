/* Steps on a device, the twin, against those of the processor, both solved so far that only rounding is left between them. */
#include "check.h"
#include "machine_open.h"
#include "solve/options.h"
#include "tied_scene.h"

static const char drop[] = "abut: 1\n"
                           "time: {step: 0.01 s, scheme: %s}\n"
                           "gravity: [0, -9.81, 0]\n"
                           "tolerance: 1e-9 m/s\n"
                           "contact: {dhat: 1 cm, friction: {mu: 0.3, eps_v: 1e-3 m/s}}\n"
                           "materials: {jelly: {model: %s, density: 1000, young: 1e5, poisson: 0.4}}\n"
                           "objects:\n"
                           "  low: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, material: jelly,\n"
                           "        translate: [0, 0.51, 0]}\n"
                           "  high: {generate: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}, material: jelly,\n"
                           "         translate: [0.3, 1.53, 0.2], velocity: [0, -1, 0]}\n"
                           "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
                           "motion:\n"
                           "  - {select: {object: high, box: [[-9, 2, -9], [9, 9, 9]]}, translate: [0, -0.3, 0.1],\n"
                           "     until: 0.1 s}\n";

/* Gives w a stepper on the device. */
static void on_device(world *w)
{
    const char *gpu = getenv("ABUT_GPU");
    char name[40] = "twin";
    if (gpu && *gpu) snprintf(name, sizeof name, "gpu:%s", gpu);
    CHECK(!abut_device_parse(name, &w->o.device.place, &w->err));
    world_renew(w);
}

/* The largest distance between positions of the processor and of the device after `steps` steps, over the length of the
 * scene. */
static double apart_after(world *cpu, world *dev, int steps, int *contacts)
{
    on_device(dev);
    CHECK(!world_run(cpu, steps));
    CHECK(!world_run(dev, steps));
    if (dev->err.msg[0]) printf("# %s\n", dev->err.msg);
    double far = 0;
    for (int32_t i = 0; i < 3 * cpu->model.nv; i++) far = fmax(far, fabs(get(cpu, "node/x")[i] - get(dev, "node/x")[i]));
    far /= cpu->model.length[0];
    *contacts = dev->rep.contacts + dev->rep.planes;
    CHECK(cpu->rep.contacts == dev->rep.contacts && cpu->rep.planes == dev->rep.planes);
    CHECK_NEAR(cpu->rep.kappa, dev->rep.kappa, 1e-6 * cpu->rep.kappa);
    world_close(cpu);
    world_close(dev);
    return far;
}

static double apart(const char *scene, const char *scheme, const char *material, int steps, int *contacts)
{
    world cpu, dev;
    world_scene(&cpu, scene, scheme, material);
    world_scene(&dev, scene, scheme, material);
    return apart_after(&cpu, &dev, steps, contacts);
}

TEST(boxes_that_meet_on_a_script_end_where_the_processor_lets_them)
{
    static const char *const material[] = { "neo-hookean", "fixed-corotated" };
    for (int m = 0; m < 2; m++) {
        int contacts = 0;
        CHECK_NEAR(apart(drop, "implicit-euler", material[m], 8, &contacts), 0, 1e-9);
        CHECK(contacts > 0);
    }
}

TEST(schemes_of_second_order_too)
{
    int contacts;
    CHECK_NEAR(apart(drop, "bdf2", "neo-hookean", 8, &contacts), 0, 1e-9);
    CHECK_NEAR(apart(drop, "implicit-newmark", "neo-hookean", 8, &contacts), 0, 1e-9);
    CHECK_NEAR(apart(drop, "midpoint", "neo-hookean", 8, &contacts), 0, 1e-9);
    CHECK(contacts > 0);
}

/* A box that stands on what is held is pressed down by a plate and bent to the side. */
static const char bend[] = "abut: 1\n"
                           "time: {step: 0.01 s, scheme: %s}\n"
                           "gravity: [0, -2, 0]\n"
                           "tolerance: 1e-9 m/s\n"
                           "contact: {dhat: 1 cm, friction: {mu: 0.3, eps_v: 1e-3 m/s}}\n"
                           "materials: {jelly: {model: %s, density: 1000, young: 1e5, poisson: 0.4}}\n"
                           "objects:\n"
                           "  box: {generate: {box: {size: [0.4, 1, 0.4], cells: [2, 5, 2]}}, material: jelly}\n"
                           "  plate: {generate: {box: {size: [2, 0.1, 2], cells: [1, 1, 1]}}, obstacle: true,\n"
                           "          translate: [0.1, 0.562, 0.05]}\n"
                           "motion:\n"
                           "  - {select: {object: box, box: [[-9, -9, -9], [9, -0.45, 9]]}, fix: true}\n"
                           "  - {select: {object: plate}, translate: [0.1, -0.2, 0], until: 0.1 s}\n";

TEST(steps_from_equilibrium_to_equilibrium_too)
{
    int contacts;
    CHECK_NEAR(apart(bend, "quasi-static", "neo-hookean", 6, &contacts), 0, 1e-9);
    CHECK(contacts > 0);
}

SLOW_TEST(rods_springs_attachments_and_damping_end_where_the_processor_lets_them)
{
    static const char *const scheme[] = { "implicit-euler", "bdf2", "midpoint" };
    for (int k = 0; k < 3; k++) {
        world cpu, dev;
        int contacts;
        tied_world(&cpu, scheme[k]);
        tied_world(&dev, scheme[k]);
        CHECK_NEAR(apart_after(&cpu, &dev, 5, &contacts), 0, 1e-9);
        CHECK(contacts > 0);
    }
}

/* Plates that close on a block: prescribed nodes meet it and have to be pushed. */
static const char press[] = "abut: 1\n"
                            "time: {step: 0.02 s}\n"
                            "gravity: [0, 0, 0]\n"
                            "tolerance: 1e-9 m/s\n"
                            "contact: {dhat: 1 cm}\n"
                            "materials: {jelly: {model: neo-hookean, density: 1000, young: 2e4, poisson: 0.4}}\n"
                            "objects:\n"
                            "  ball: {generate: {sphere: {radius: 0.5, cells: 4}}, material: jelly}\n"
                            "  left: {generate: {box: {size: [0.1, 1.6, 1.6], cells: [1, 1, 1]}}, obstacle: true,\n"
                            "         translate: [-0.57, 0, 0]}\n"
                            "  right: {generate: {box: {size: [0.1, 1.6, 1.6], cells: [1, 1, 1]}}, obstacle: true,\n"
                            "          translate: [0.57, 0, 0]}\n"
                            "motion:\n"
                            "  - {select: {object: left},  translate: [0.4, 0, 0], until: 1 s}\n"
                            "  - {select: {object: right}, translate: [-0.4, 0, 0], until: 1 s}\n";

TEST(scripted_plates_that_meet_a_ball_push_it)
{
    world dev;
    world_scene(&dev, press);
    on_device(&dev);
    CHECK(!world_judged(&dev, 8));
    CHECK(dev.rep.contacts > 0 && dev.rep.eta > 0.999);
    world_close(&dev);
}
