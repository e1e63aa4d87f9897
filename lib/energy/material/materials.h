/* Materials: isotropic hyperelastic densities by number.  A material is a file with one abut_material_ops and a row in
 * model/laws_table.h.  Those of before have forms for four at a time and for a device, too (energy/material/density_forms.h);
 * others are taken one after the other by their stretches, and a device refuses them. */
#ifndef ABUT_ENERGY_MATERIAL_MATERIALS_H
#define ABUT_ENERGY_MATERIAL_MATERIALS_H

#include "energy/material/density.h"
#include "model/laws_table.h"

typedef struct abut_material_ops {
    const char *help;           /* its energy density */
    abut_density_needs needs;   /* of one that has forms: what psi and P take */
    /** The principal form at stretches s (s[0] >= s[1] >= |s[2]|; of an injective material s[2] > 0), with Lame's parameters, Pa;
     * psi is 0 at rest.  NULL: it has forms, or is a spline.  Both functions below make one of fewer derivatives. */
    void (*principal)(double mu, double lambda, const double s[3], abut_principal *out);
} abut_material_ops;

/** By number. */
extern const abut_material_ops *const abut_materials[];

/* An energy density of the invariants I[3] = tr C, (tr(C)^2 - tr(C^2))/2, det F, C = F^T F: value, first and second
 * derivatives (A symmetric, row major). */
typedef struct abut_invariant_form {
    double psi, d[3], A[9];
} abut_invariant_form;

void abut_invariants(const double s[3], double I[3]);
/** The principal form of what w is at the invariants of s; nothing is divided by a difference of stretches. */
void abut_principal_of_invariants(const double s[3], const abut_invariant_form *w, abut_principal *out);

/** The principal form of an energy density f of stretches, symmetric in them: psi, d[3] = dpsi/ds, A[9].  Quotients of
 * differences of close stretches are integrals of A by Gauss's rule: within 1e-12 of their size. */
typedef void (*abut_stretch_density)(double mu, double lambda, const double s[3], double *psi, double d[3], double A[9]);
void abut_principal_of_stretches(abut_stretch_density f, double mu, double lambda, const double s[3], abut_principal *out);

#define ABUT_DECLARE(id, name, traits) extern const abut_material_ops abut_material_##id;
ABUT_MATERIALS(ABUT_DECLARE)
#undef ABUT_DECLARE

#endif
