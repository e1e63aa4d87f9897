/* Materials: isotropic hyperelastic densities by number.  A material is a file with one abut_material_ops and a row in
 * model/laws_table.h.  Materials below ABUT_MATERIAL_FORMS have forms for four at a time and for a device
 * (energy/material/density_forms.h).  Others are evaluated one by one from their stretches, and not on a device. */
#ifndef ABUT_ENERGY_MATERIAL_MATERIALS_H
#define ABUT_ENERGY_MATERIAL_MATERIALS_H

#include "energy/material/density.h"
#include "model/laws_table.h"

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

#define ABUT_DECLARE(id, name, traits) extern const abut_material_ops abut_material_##id;
ABUT_MATERIALS(ABUT_DECLARE)
#undef ABUT_DECLARE

#endif
