/* Isotropic hyperelastic energy densities, as functions of the deformation gradient F = U diag(s) V^T (rotation-variant,
 * math/svd3.h).  Their formulas are the `help` of their rows.  A spline has no moduli
 * (energy/material/model_laws.h): of the functions here only abut_density_known and abut_density_need take it. */
#ifndef ABUT_ENERGY_MATERIAL_MATERIALS_H
#define ABUT_ENERGY_MATERIAL_MATERIALS_H

#include "energy/material/principal_inline.h"
#include "math/lanes.h"
#include "model/model.h"

/* Input of psi and P: F alone; the rotation in F; its singular values.  Several F at once share the cost of the latter two. */
typedef enum abut_density_needs { ABUT_NEEDS_F, ABUT_NEEDS_ROTATION, ABUT_NEEDS_STRETCHES } abut_density_needs;

/* Materials: isotropic hyperelastic densities by number.  A material is a file with one abut_material_ops and a row in
 * model/laws_table.h.  Materials below ABUT_MATERIAL_FORMS have forms for four at a time and for a device
 * (energy/material/density_forms.h).  Others are evaluated one by one from their stretches, and not on a device. */
typedef struct abut_material_ops {
    const char *help;           /* formula of the energy density */
    abut_density_needs needs;   /* input of psi and P, of a material with forms */
    /** The principal form at stretches s (s[0] >= s[1] >= |s[2]|; s[2] > 0 if injective), with Lame's parameters, Pa; psi is 0 at
     * rest.  NULL: the material has forms, or is a spline.  energy/material/principal_inline.h completes a form with fewer
     * derivatives. */
    void (*principal)(double mu, double lambda, const double s[3], abut_principal *out);
} abut_material_ops;

/** By number. */
extern const abut_material_ops *const abut_materials[];

/* abut_principal of four, a lane each. */
typedef struct abut_principals {
    abut_lanes psi, d[3], A[9], flip[3], twist[3];
} abut_principals;

/** True when the model number is in the table. */
int abut_density_known(int model);

/** psi(F), J/m^3, and P[9] = dpsi/dF, Pa (NULL to skip); F row major, model ABUT_NEO_HOOKEAN, ...
 * +inf, P untouched, for an F of an injective material with J <= 0. */
double abut_psi(int model, double mu, double lambda, const double F[9], double *P);

/** Input of the model. */
abut_density_needs abut_density_need(int model);

/** psi and P[9] of four F[9] with moduli mu and lambda; P of a neo-Hookean F with J <= 0 is not written.  model: by F alone. */
void abut_density_direct(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, abut_lanes *psi,
                         abut_lanes *P);

/** psi and P[9] of four F[9] with rotations R[9] (math/svd3.h): |F - R|^2 = sum (s_i - 1)^2.  model: by the rotation. */
void abut_density_rotated(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *F, const abut_lanes *R,
                          abut_lanes *psi, abut_lanes *P);

/** P[9] = U diag(d) V^T, d = dpsi/ds. */
void abut_stress_principal(const abut_principal *p, const double U[9], const double V[9], double P[9]);

/** The principal form at stretches s (s[0] >= s[1] >= |s[2]|); neo-Hookean needs s[2] > 0.  Injective materials beyond
 * ABUT_MATERIAL_FORMS have psi +inf, all else 0, if s[2] <= 0. */
void abut_density_principal(int model, double mu, double lambda, const double s[3], abut_principal *out);
/** abut_density_principal of four. */
void abut_density_principals(int model, const abut_lanes *mu, const abut_lanes *lambda, const abut_lanes *s,
                             abut_principals *out);

/** p becomes lane l. */
void abut_principals_set(abut_principals *all, size_t l, const abut_principal *p);

/** Clamps every negative eigenvalue of the second derivative at 0. */
void abut_principals_project(abut_principals *p);

#endif
