#include "sparse/cg.h"

#include "sparse/pcg.h"

#include <math.h>

#define MOST 5000           /* iterations */
#define SERVES 8            /* matrices */
#define SLOWER 1.3          /* times the iterations with new factors: as long as that costs less than these */
#define TOO_SLOW 3          /* times them: the solution is given up */

void abut_cg_forget(abut_cg_state *s)
{
    s->matrices = 0;
    s->fresh = s->last = 0;
}

void abut_cg_clear(abut_cg_state *s)
{
    abut_arena_clear(&s->scratch);
    *s = (abut_cg_state){ 0 };
}

static abut_status make(abut_cg_state *s, const abut_operator *A, abut_cg_renew_fn *renew, void *self, abut_err *err)
{
    abut_cg_forget(s);
    const abut_status rc = renew(self, A, err);
    s->matrices = !rc;
    return rc;
}

abut_status abut_cg_factor(abut_cg_state *s, const abut_operator *A, abut_cg_renew_fn *renew, void *self, abut_err *err)
{
    const int is_due = !s->matrices || s->matrices >= SERVES || s->last > SLOWER * s->fresh;
    if (is_due) return make(s, A, renew, self, err);
    s->matrices++;
    return ABUT_OK;
}

static int most_of(const abut_solve_goal *goal)
{
    return goal->most > 0 ? goal->most : MOST;
}

/* Largest number of iterations on old factors: those of new ones for all digits of the goal, times TOO_SLOW. */
static int patience(const abut_cg_state *s, const abut_solve_goal *goal)
{
    const double least = goal->drop > 0 ? sqrt(goal->drop) : goal->close;
    const double most = TOO_SLOW * s->fresh * -log10(least);
    return most > 0 && most < most_of(goal) ? (int)most + 1 : most_of(goal);
}

static abut_status solve(abut_cg_state *s, const abut_operator *A, const abut_precond *M, const double *b,
                         const abut_solve_goal *goal, int most, double *x, abut_pcg_report *rep, abut_err *err)
{
    const abut_pcg_reach reach = { .far = goal->far, .close = goal->close, .fraction = goal->fraction, .near = goal->near,
                                   .within = goal->within, .drop = goal->drop, .max_iterations = most };
    const abut_status rc = abut_pcg_solve_near(A, M, b, x, reach, rep, &s->scratch, err);
    if (rc) return rc;
    s->iterations += rep->iterations;
    s->last = rep->residual > 0 && rep->residual < 1 ? rep->iterations / fmax(-log10(rep->residual), 1) : 0;
    if (!(s->fresh > 0)) s->fresh = s->last;
    return ABUT_OK;
}

abut_status abut_cg_solve(abut_cg_state *s, const abut_operator *A, const abut_precond *M, abut_cg_renew_fn *renew, void *self,
                          const double *b, const abut_solve_goal *goal, double *x, abut_err *err)
{
    const int are_old = M && s->matrices > 1;
    abut_pcg_report rep;
    s->iterations = 0;      /* and if it fails: A is not positive definite */
    abut_status rc = solve(s, A, M, b, goal, are_old ? patience(s, goal) : most_of(goal), x, &rep, err);
    if (!rc && !rep.converged && are_old) {
        s->iterations = 0;
        rc = make(s, A, renew, self, err);
        if (!rc) rc = solve(s, A, M, b, goal, most_of(goal), x, &rep, err);
    }
    if (rc || rep.converged) return rc;
    if (goal->drop > 0)
        return abut_fail(err, ABUT_E_NUMERIC, "conjugate gradients: residual %.3g of the right-hand side after %d iterations, "
                         "want its square in the norm of the preconditioner at %.3g", rep.residual, rep.iterations, goal->drop);
    return abut_fail(err, ABUT_E_NUMERIC,
                     "conjugate gradients: residual %.3g of the right-hand side after %d iterations, want %.3g", rep.residual,
                     rep.iterations, rep.residual > goal->far ? goal->far : goal->close);
}
