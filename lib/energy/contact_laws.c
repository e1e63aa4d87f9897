#include "energy/contact_laws.h"

#include "energy/barrier_inline.h"
#include "energy/friction_inline.h"
#include "model/laws_table.h"

/* ---- barrier laws ----
 *
 * The barrier of Li et al. 2020, 4.6, with two that are less smooth at Dhat, made as large by powers of Dhat, and the squared
 * logarithm of Huang et al. 2024 (GIPC), Eq. 24: with equal stiffness, stronger than the barrier of Li 2020 at small distances,
 * and weaker near Dhat.  Formulas: energy/contact_forms.h. */

/* ln(D / Dhat) to full precision near Dhat, too. */
static double log_share(double D, double Dhat)
{
    const double gap = Dhat - D;   /* exact where the logarithm needs it, from Dhat / 2 up */
    return gap < 0.5 * Dhat ? log1p(-gap / Dhat) : log(D / Dhat);
}

#define BARRIER(id, number, text)                                                                               \
    static double id##_law(double D, double Dhat, double *db, double *ddb)                                      \
    {                                                                                                           \
        const double L = log_share(D, Dhat);                                                                    \
        double b;                                                                                               \
        abut_barrier_by_one(number, &Dhat, &D, &L, &b, db, ddb);                                                \
        return b;                                                                                               \
    }                                                                                                           \
    const abut_barrier_law_ops abut_barrier_law_##id = { text, id##_law };
BARRIER(ipc_c0, ABUT_BARRIER_IPC_C0, "-Dhat^2 ln(D/Dhat), continuous at Dhat")
BARRIER(ipc_c1, ABUT_BARRIER_IPC_C1, "Dhat (D - Dhat) ln(D/Dhat), C1 at Dhat")
BARRIER(ipc, ABUT_BARRIER_IPC, "-(D - Dhat)^2 ln(D/Dhat), C2 at Dhat: Li 2020")
BARRIER(log2, ABUT_BARRIER_LOG2, "(D - Dhat)^2 ln^2(D/Dhat), C3 at Dhat: Huang 2024")

#define BARRIER_DECLARED(id, name) extern const abut_barrier_law_ops abut_barrier_law_##id;
ABUT_BARRIER_LAWS(BARRIER_DECLARED)
#define BARRIER_ROW(id, name) &abut_barrier_law_##id,
const abut_barrier_law_ops *const abut_barrier_laws[] = { ABUT_BARRIER_LAWS(BARRIER_ROW) };

/* ---- friction laws: the polynomials of Li et al. 2020, App. I, below the threshold ---- */

#define FRICTION(id, number, text)                                                                              \
    static double id(double y, double w, double *f1_over_y, double *f2)                                         \
    {                                                                                                           \
        return abut_friction_f0_fn(number, y, w, f1_over_y, f2);                                                \
    }                                                                                                           \
    const abut_friction_law_ops abut_friction_law_##id = { text, id };
FRICTION(c0, ABUT_FRICTION_C0, "q = y/w, 1 from w on")
FRICTION(c1, ABUT_FRICTION_C1, "2 q - q^2, q = y/w, 1 from w on: Li 2020, App. I")
FRICTION(c2, ABUT_FRICTION_C2, "3 q - 3 q^2 + q^3, q = y/w, 1 from w on")

#define FRICTION_DECLARED(id, name) extern const abut_friction_law_ops abut_friction_law_##id;
ABUT_FRICTION_LAWS(FRICTION_DECLARED)
#define FRICTION_ROW(id, name) &abut_friction_law_##id,
const abut_friction_law_ops *const abut_friction_laws[] = { ABUT_FRICTION_LAWS(FRICTION_ROW) };
