/* Quantities of a frame: stress and volume of every tet, contact forces, energies, momenta, centres of mass. */
#ifndef ABUT_FORMATS_RESULT_MEASURE_H
#define ABUT_FORMATS_RESULT_MEASURE_H

#include "contact/pairs.h"
#include "energy/term.h"

/* Quantities to compute; the rest of abut_fields stays empty. */
enum { ABUT_WANT_STRESS = 1 /* J, stress */, ABUT_WANT_CONTACT = 2 /* force, contacts, gap */,
       ABUT_WANT_TOTALS = 4 /* energies, momenta, centre; implies STRESS */, ABUT_WANT_STRAIN = 8 /* strain, bend */,
       ABUT_WANT_TENSORS = 16 /* F, sigma; implies STRESS */ };

/* Pointers are good until the next call of abut_measure_frame. */
typedef struct abut_fields {
    const double *J;        /* [nt] det F; of tets of order 2 and more the least at their quadrature points */
    const double *stress;   /* [nt] von Mises, Pa, of those the mean; NaN where a neo-Hookean tet is inverted */
    const double *F, *sigma;    /* [9 nt] row major: deformation gradient; Cauchy stress, Pa, NaN where stress is; means */
    const double *strain;   /* [5 nsh] of shells: principal stretches, the larger first; Green strain E11, E22, E12 */
    const double *bend;     /* [nsh] rad: angle of the hinge of the shell that is furthest from rest, less that at rest */
    const double *force;    /* [3 nv] N, of the contact barrier; NaN when the frame does not tell its stiffness */
    const double *plane_force;  /* [3 nh] N, on half-spaces, NaN where `force` is; the frame's own of hard contact */
    const double *plane_friction;   /* [3 nh] N; NaN where the frame does not tell whose it is; NULL without friction forces */

    int contacts_known;     /* 1 when the next two are filled */
    int32_t contacts;       /* stencils and half-space contacts within dhat; -1 when something touches */
    double gap; /* m, the smallest distance less thickness; 0 when something touches, +inf when nothing is within dhat */
    const abut_collmesh *cm;    /* of the model; NULL until contacts_known */
    const abut_pairs *pairs;    /* these contacts, at the collision vertices y; NULL when something touches */
    const double *y;            /* [3 nc] m */

    int totals_known;       /* 1 when the rest is filled.  Obstacles have no part in it. */
    double kinetic, elastic, gravity;   /* J; elastic: of all terms that depend on positions alone; gravity: -sum m g.x */
    double linear[3];       /* kg m/s */
    double angular[3];      /* kg m^2/s, about the origin */
    double min_J;           /* NaN without tets */
    int32_t min_J_tet;      /* -1 without tets */
    const double *center;   /* [3 no] m, centre of mass by object */
    const double *velocity; /* [3 no] m/s, of that centre */
} abut_fields;

/* Zero-filled is empty.  Borrows the model. */
typedef struct abut_measure {
    const abut_model *model;
    abut_reordered *reordered;  /* model of the terms; NULL if all tets have order 1: the model itself */
    abut_collmesh cm;
    abut_terms terms;
    abut_candidates cand;
    abut_pairs pairs;
    double *F, *sigma;          /* NULL until they are asked for */
    double *J, *stress, *strain, *bend, *force, *plane, *y, *center, *velocity, *mass;
    uint8_t *held;              /* [nv] 1: see potential */
    abut_arena scratch;
} abut_measure;

/** Fails  as abut_collmesh_init and abut_terms_init; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_measure_init(abut_measure *ms, const abut_model *m, abut_err *err);
void abut_measure_clear(abut_measure *ms);

/** Computes what `want` names (ABUT_WANT_*) of one frame, at that time, s.  set: its arrays; node/contact-force is taken from
 * there when a stage has written it.
 * Friction on half-spaces: all of node/friction-force is between bodies, obstacles and half-spaces, so where one half-space alone
 * has a coefficient above 0 it takes the opposite of the sum over all nodes. */
ABUT_MUST_USE abut_status abut_measure_frame(abut_measure *ms, const abut_arrays *set, const abut_frame *f, double time,
                                             int want, abut_fields *out, abut_err *err);

#endif
