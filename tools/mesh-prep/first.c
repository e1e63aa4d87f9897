#include "tools/mesh-prep/first.h"

#include "base/words.h"

/* The texts, in the order of the names. */
static const char *const NAME[] = { "drop", "cloth", "rope", "beam", "slope", "curved", "hard", NULL };

static const char *const TEXT[] = {
    /* drop */
    "# A ball falls on a bar on a floor.\n"
    "abut: 1                                   # version of this language\n"
    "time: {step: 0.01 s, end: 1 s}            # `step` without -n or --until takes one step\n"
    "gravity: [0, -9.81, 0]                    # m/s^2; y points upwards\n"
    "contact:\n"
    "  dhat: 1 mm                              # contact acts within this distance\n"
    "  friction: {mu: 0.3, eps_v: 1e-3 m/s}    # slower than eps_v counts as sticking\n"
    "materials:\n"
    "  rubber: {model: neo-hookean, density: 1000, young: 100 kPa, poisson: 0.4}\n"
    "objects:\n"
    "  # `mesh: FILE` in place of `generate` reads .msh .vtk .obj .ply .stl; `tetrahedralize` makes closed triangles solid.\n"
    "  ball:  {generate: {sphere: {radius: 0.1, cells: 8}}, translate: [0, 0.25, 0], velocity: [0, -1, 0]}\n"
    "  bar:   {generate: {box: {size: [0.5, 0.08, 0.1], cells: [20, 3, 4]}}, translate: [0.1, 0.05, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}, mu: 0.5}\n",
    /* cloth */
    "# A cloth falls on a ball that does not move, and drapes it.\n"
    "abut: 1\n"
    "time: {step: 0.02 s, end: 2 s}\n"
    "contact: {dhat: 1 mm, friction: {mu: 0.4}}\n"
    "materials:\n"
    "  # Young's modulus of the membrane; bending-young that of the hinges between triangles\n"
    "  cotton: {density: 472.6, young: 80 kPa, poisson: 0.243, bending-young: 0.8 MPa}\n"
    "objects:\n"
    "  cloth:\n"
    "    generate: {cloth: {size: [0.6, 0.6], edge: 3 cm, layout: rows}}   # edge: 1 cm has finer folds\n"
    "    translate: [0, 0.35, 0]\n"
    "    shell: {thickness: 0.3 mm, stretch-limit: 1.06}                   # no direction is ever 6 % longer\n"
    "  ball:  {generate: {icosphere: {radius: 0.15, divisions: 8}}, obstacle: true, translate: [0, 0.16, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n",
    /* rope */
    "# A rope, held at one end, swings down onto a pole.\n"
    "abut: 1\n"
    "time: {step: 0.01 s, end: 1 s}\n"
    "contact: {dhat: 1 mm, friction: {mu: 0.3}}\n"
    "materials:\n"
    "  hemp: {density: 500, young: 5 MPa, poisson: 0.3, bending-young: 0.5 MPa}\n"
    "objects:\n"
    "  rope:\n"
    "    generate: {rod: {length: 1, cells: 40}}     # along x, around the origin\n"
    "    translate: [0, 0.5, 0]\n"
    "    rod: {radius: 5 mm}                         # mass and stiffness\n"
    "    contact-thickness: 10 mm                    # what it keeps from itself: its diameter; segments are longer\n"
    "  pole:\n"
    "    generate: {cylinder: {radius: 0.05, height: 0.3, cells: [8, 4]}}\n"
    "    obstacle: true\n"
    "    rotate: {axis: [1, 0, 0], angle: 90 deg}\n"
    "    translate: [0, 0.3, 0]\n"
    "motion:\n"
    "  # boxes are fractions of the bounding box of the object; two nodes are held, so that the end is clamped\n"
    "  - {select: {object: rope, relative-box: [[0, 0, 0], [0.03, 1, 1]]}, fix: true}\n",
    /* beam */
    "# A beam, clamped at its left end, bends under its own weight: its equilibrium.\n"
    "# Euler and Bernoulli: its end sinks by 12 density g length^4 / (8 young height^2), here 36.8 mm.\n"
    "abut: 1\n"
    "time: {step: 1 s, end: 1 s, scheme: quasi-static}   # one step from equilibrium to equilibrium\n"
    "gravity: [0, -9.81, 0]\n"
    "contact: {dhat: 1 mm}\n"
    "materials:\n"
    "  rubber: {model: neo-hookean, density: 1000, young: 40 MPa, poisson: 0.3}\n"
    "objects:\n"
    "  beam:\n"
    "    generate: {box: {size: [1, 0.1, 0.1], cells: [10, 1, 1]}}\n"
    "    order: 2    # of the tets.  Order 1 needs four or more cells through the height, or the beam is far too stiff\n"
    "motion:\n"
    "  - {select: {object: beam, relative-box: [[0, 0, 0], [0.001, 1, 1]]}, fix: true}\n",
    /* slope */
    "# A block on a slope of tangent 0.5: it stays at a friction coefficient of 0.52 and slides on at 0.48.\n"
    "abut: 1\n"
    "time: {step: 0.01 s, end: 1 s}\n"
    "gravity: [4.387165, -8.774331, 0]         # 9.81 m/s^2; the gravity is tilted, the floor is level\n"
    "contact:\n"
    "  dhat: 1e-3 l                            # l: the diagonal of what is simulated\n"
    "  friction:\n"
    "    mu: 0.52\n"
    "    eps_v: 1e-5 m/s                       # what sticks creeps up to this fast\n"
    "    lags: 20                              # normal forces in step with friction, in up to 20 passes\n"
    "tolerance: 1e-6 m/s                       # well below eps_v: else the friction that holds is not resolved\n"
    "materials:\n"
    "  stiff: {model: fixed-corotated, density: 1000, young: 10 MPa, poisson: 0.4}\n"
    "objects:\n"
    "  block: {generate: {box: {size: [0.4, 0.2, 0.4], cells: [2, 1, 2]}}, translate: [0, 0.1003, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n",
    /* curved */
    "# A round ball of 20 curved tets falls on a bar.  Contact sees triangles that are finer than the tets.\n"
    "abut: 1\n"
    "time: {step: 5 ms, end: 0.5 s}\n"
    "contact: {dhat: 1 mm, friction: {mu: 0.3}}\n"
    "materials:\n"
    "  rubber: {model: neo-hookean, density: 1000, young: 100 kPa, poisson: 0.4}\n"
    "objects:\n"
    "  ball:\n"
    "    generate: {ball: {radius: 0.1, divisions: 1}}\n"
    "    order: 2                              # 10 nodes a tet; 3: 20, 4: 35\n"
    "    proxy: {tolerance: 0.5 mm}            # contact triangles no further than this from the curved boundary\n"
    "    translate: [0, 0.22, 0]\n"
    "    velocity: [0, -1, 0]\n"
    "  bar:                                    # straight tets and curved ones may be in one scene\n"
    "    generate: {box: {size: [0.5, 0.08, 0.1], cells: [10, 2, 2]}}\n"
    "    translate: [0.1, 0.05, 0]\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n"
    "# `mesh-prep --explain` says how far the contact surface is from the boundary.\n",
    /* hard */
    "# A ball falls on a block on a slope of tangent 0.5, by hard contact with Coulomb's law itself: no barrier, no smoothing.\n"
    "abut: 1\n"
    "solver: nodal                             # `newton`, or step --solver newton: the barrier; a run may change between them\n"
    "time: {step: 0.01 s, end: 1 s}\n"
    "gravity: [4.387165, -8.774331, 0]         # 9.81 m/s^2; the gravity is tilted, the floor is level\n"
    "contact:\n"
    "  dhat: 1 mm                              # of the barrier, which takes steps that the judge refuses\n"
    "  friction: {mu: 0.52}\n"
    "nodal:\n"
    "  iterations: 50                          # of ADMM in a step, at most\n"
    "  tolerance: 1e-3 mm                      # they end when nothing would move further in the step\n"
    "materials:\n"
    "  rubber: {model: neo-hookean, density: 1000, young: 100 kPa, poisson: 0.4}\n"
    "objects:\n"
    "  block: {generate: {box: {size: [0.2, 0.1, 0.2], cells: [4, 2, 4]}}, translate: [0, 0.051, 0]}\n"
    "  ball:  {generate: {sphere: {radius: 0.05, cells: 6}}, translate: [0, 0.16, 0]}\n"
    "  floor: {half-space: {point: [0, 0, 0], normal: [0, 1, 0]}}\n",
};

_Static_assert(sizeof NAME == sizeof TEXT + sizeof *NAME, "a text for each name");

abut_status abut_prep_first_scene(const char *name, FILE *f, abut_err *err)
{
    int i;
    const abut_status rc = abut_name_find("--new", name, NAME, &i, err);
    if (!rc) fputs(TEXT[i], f);
    return rc;
}
