#include "solve/step/options.h"

#include "energy/stiffness.h"

/* default bounds of rules on gradients: Li 2020, 3.5.2; Huang et al. 2024, supplement, N/m */
static const double norm_default[ABUT_STOPS] = { [ABUT_STOP_CHARACTERISTIC] = 1e-5, [ABUT_STOP_GRADIENT] = 3e-2 };

const char *const abut_stop_names[ABUT_STOPS + 1] = { "newton", "published", "characteristic", "gradient", "step", NULL };
const char *const abut_ccd_rule_names[ABUT_CCD_RULES + 1] = { "full", "cfl", NULL };
const char *const abut_guess_names[ABUT_GUESSES + 1] = { "coast", "start", "inertia", "symplectic", "accelerated", "jacobi",
                                                          NULL };
const char *const abut_contact_choice_names[ABUT_CONTACT_BY_SPRINGS + 1] = { "ignore", "springs", NULL };

const char *const abut_line_search_names[ABUT_SEARCH_NONE + 2] = { "penalty", "none", NULL };
const char *const abut_constraint_names[ABUT_CONSTRAINTS + 1] = { "gap", "volume", "impact", NULL };
const char *const abut_active_set_names[ABUT_ACTIVE_SETS + 1] = { "both", "impacts", "near", NULL };

const char *const abut_repair_names[ABUT_REPAIR_NONE + 2] = { "barrier", "none", NULL };

abut_step_options abut_step_defaults(void)
{
    return (abut_step_options){ .passes.lags = -1, .max_newton = 10000, .threads = 1, .iterations = -1,
                                .quasi = { .history = -1, .levels = 2, .fit = { ABUT_FIT_LOW, ABUT_FIT_HIGH } },
                                .inequalities = { -1, -1, -1, ABUT_SEARCH_PENALTY } };
}

double abut_step_norm(const abut_step_options *o)
{
    const double usual = norm_default[o->stop];
    return usual > 0 && o->tolerance > 0 ? o->tolerance : usual;
}

void abut_step_model_view(abut_step_model *out, const abut_model *m, const abut_step_options *o)
{
    *out = (abut_step_model){ *m, o->tolerance, o->force_tolerance, o->passes.lags };
    if (o->passes.lags >= 0) out->view.lags = &out->lags;
    if (o->tolerance > 0 && !norm_default[o->stop]) out->view.tolerance = &out->tolerance;
    if (o->force_tolerance > 0) out->view.force_tolerance = &out->force_tolerance;
}
