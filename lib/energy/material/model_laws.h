/* Material laws of a model: isotropic densities, squared distances to volume 1 and to a range of stretches
 * (energy/material/projection.h), and fibres (energy/material/fibre.h). */
#ifndef ABUT_ENERGY_MATERIAL_MODEL_LAWS_H
#define ABUT_ENERGY_MATERIAL_MODEL_LAWS_H

#include "energy/material/density.h"
#include "energy/material/spline.h"

/* Borrows the model.  Zero-filled is empty. */
typedef struct abut_model_laws {
    const abut_model *model;
    double *lame;       /* [nm * 2] mu, lambda, Pa */
    uint8_t *needs;     /* [nm] abut_density_needs, with all that the material has */
    abut_spline *spline;    /* [nm] of those materials that are one; NULL when none is */
    int32_t nspline;        /* how many there are, so that clearing needs no model; 0 or nm */
} abut_model_laws;

/** mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu)(1 - 2 nu)), Pa. */
void abut_lame(double young, double poisson, double *mu, double *lambda);

/** Fails  ABUT_E_FORMAT unknown material model, Young's modulus not positive, Poisson's ratio outside (-1, 1/2) */
ABUT_MUST_USE abut_status abut_model_laws_check(const abut_model *m, abut_err *err);
/** Fails  as abut_model_laws_check; ABUT_E_NOMEM */
ABUT_MUST_USE abut_status abut_model_laws_init(abut_model_laws *l, const abut_model *m, abut_err *err);
void abut_model_laws_clear(abut_model_laws *l);

/** The principal form of all isotropic terms of a material at stretches s. */
void abut_model_law_principal(const abut_model_laws *l, int32_t material, const double s[3], abut_principal *out);
/** 1: a density that has moduli, and nothing added. */
int abut_model_law_is_plain(const abut_model_laws *l, int32_t material);
/** Four principal forms of one material. */
void abut_model_law_principals(const abut_model_laws *l, int32_t material, const abut_lanes *s, abut_principals *out);
/** psi and P[9] of four deformation gradients F[9] of one material; fibre: its unit direction d[3] at rest, read where the
 * material has fibres.  psi +inf: P is not what is asked for. */
void abut_model_law_stress(const abut_model_laws *l, int32_t material, const double *fibre, const abut_lanes *F, abut_lanes *psi,
                           abut_lanes *P);

#endif
