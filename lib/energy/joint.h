/* Joints of rigid bodies, exact: rows g = u . w - c = 0 of the nodes of two bodies, u and w weighted sums of these nodes and a
 * constant.  A row whose u is a constant is linear; others have constant second derivatives.
 *
 * In every iteration of Newton's method the direction solves
 *     H p + C^T lambda = -grad,    C p = -g                                                C = dg/dx at the iterate
 * by passes with the factor of one matrix H + rho C^T C, which is positive definite also where rows are redundant, as in loops
 * (solve/direction/newton.c).  The term itself is what searches and stopping rules see of it: with the multipliers of that
 * direction the objective gets
 *     lambda . g + sigma / 2 |g|^2                                                         kg m^2
 * along which the direction descends.  Where all rows are linear and closed, that is 0 along every direction. */
#ifndef ABUT_ENERGY_JOINT_H
#define ABUT_ENERGY_JOINT_H

#include "energy/term.h"
#include "model/motion.h"

enum { ABUT_JOINT_NODES = 8, ABUT_JOINT_WIDTH = 3 * ABUT_JOINT_NODES };
#define ABUT_JOINT_RHO 1e4  /* of rho, over the largest diagonal entry of a joint's nodes in the matrix */

/* Rows of a joint in a step are those of the model, but for gears and for the last one of a joint with an exact motor,
 *     gear    d (q_1 - r q_2) of the coordinates of two joints
 *     hinge   d sin(phi - target) = d/2 (b.n' - n.b') for n and b turned by the target    slider   t.(y - o) - target */
typedef struct abut_joints {
    const abut_model *model;
    const abut_term_step *step;
    int bend;               /* 1: some rows are not linear */
    double *weight;         /* [njo * 4 * 11] of vectors of the coordinate: weights of the nodes, and a constant; NULL: none */
    double *start, *target; /* [njo] coordinates where the step starts, of exact motors at its end */
    int resumes;            /* 1: the step has passes behind it, and its targets */
    abut_motor *motor;      /* [njo] in this step */
    uint8_t *counts;        /* [njo] 1: its coordinate is of use */
    uint8_t *has;           /* [nv] 1: a joint has the node */
    double *newtons;        /* [njr] multipliers, N */
    double *sigma;          /* [njo] kg: 0 until a matrix is known in the minimisation */
    double *rho;            /* [njo] kg, of the last matrix */
    double *g, *C;          /* [njr] m, [njr * ABUT_JOINT_WIDTH]: rows at the last abut_joints_set, node by node */
} abut_joints;

/** The joints of a list of terms; NULL: there are none. */
abut_joints *abut_joints_of(const abut_terms *terms);
/** Returns 1 if there are joints whose rows are not linear.  With their multipliers the objective may fall for ever along a line
 * that opens them: a direction is not lengthened. */
int abut_joints_bend(const abut_terms *terms);
/** Residual of row r of joint j at x[3 nv], m, its motor, if any, at 0; C[ABUT_JOINT_WIDTH]: its derivative, 0 at unused nodes;
 * NULL to skip. */
double abut_joint_row(const abut_model *m, int32_t j, int32_t r, const double *x, double *C);
/** Returns the end of the rows of joint j without that of its motor. */
int32_t abut_joint_end(const abut_model *m, int32_t j);
/** Sets g and C at x[3 nv]. */
void abut_joints_set(abut_joints *t, const double *x);
/** Returns the largest |residual| of joint j at x[3 nv], m, without its motor; of all joints for j -1. */
double abut_joint_gap(const abut_model *m, int32_t j, const double *x);
/** As abut_joint_gap of all joints, with their motors. */
double abut_joints_gap(const abut_joints *t, const double *x);
/** Force on the second body of joint j by its multipliers (N, of all rows) but that of its motor, and its moment about its point
 * on that body. */
void abut_joint_reaction(const abut_model *m, int32_t j, const double *x, const double *newtons, double force[3],
                         double torque[3]);
/** Angle of the second body of a hinge or cylinder about its axis on the first, rad in (-pi, pi], and position of the second
 * along the axis of a cylinder or slider, m; NAN where a joint has none. */
void abut_joint_coordinates(const abut_model *m, int32_t j, const double *x, double *angle, double *position);
/** Their rates at velocities v[3 nv], rad/s and m/s. */
void abut_joint_rates(const abut_model *m, int32_t j, const double *x, const double *v, double *rate, double *speed);
/** f[3 nv] += forces of rows and drives at the end `at` of a step, N. */
void abut_joints_force(const abut_joints *t, const abut_at *at, double *f);
/* Energies of springs and stops at both ends of a step, and works in it, J. */
typedef struct abut_joints_book {
    double start, end, load, damping, friction;     /* load: with motors */
} abut_joints_book;
/** Returns the book of the step that ends at `at`; t NULL: zeros. */
abut_joints_book abut_joints_energies(const abut_joints *t, const abut_at *at);
/** Returns 1 if a joint has the node; t NULL: none does. */
int abut_joints_have(const abut_joints *t, int32_t node);

#endif
