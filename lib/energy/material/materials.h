/* Materials: isotropic hyperelastic densities by number.  A material is a file with one abut_material_ops and a row in
 * model/laws_table.h.  Those below ABUT_MATERIAL_FORMS have forms for four at a time and for a device, too
 * (energy/material/density_forms.h); others are taken one after the other by their stretches, and a device refuses them. */
#ifndef ABUT_ENERGY_MATERIAL_MATERIALS_H
#define ABUT_ENERGY_MATERIAL_MATERIALS_H

#include "energy/material/density.h"
#include "model/laws_table.h"

typedef struct abut_material_ops {
    const char *help;           /* its energy density */
    abut_density_needs needs;   /* of one that has forms: what psi and P take */
    /** The principal form at stretches s (s[0] >= s[1] >= |s[2]|; of an injective material s[2] > 0), with Lame's parameters, Pa;
     * psi is 0 at rest.  NULL: it has forms, or is a spline.  energy/material/principal_of.h makes one of fewer
     * derivatives. */
    void (*principal)(double mu, double lambda, const double s[3], abut_principal *out);
} abut_material_ops;

/** By number. */
extern const abut_material_ops *const abut_materials[];

#define ABUT_DECLARE(id, name, traits) extern const abut_material_ops abut_material_##id;
ABUT_MATERIALS(ABUT_DECLARE)
#undef ABUT_DECLARE

#endif
