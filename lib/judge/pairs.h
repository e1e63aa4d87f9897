/* One class of pairs: a broad phase between two lists of elements, then a decision on each pair, in parallel. */
#ifndef ABUT_JUDGE_PAIRS_H
#define ABUT_JUDGE_PAIRS_H

#include "judge/judge.h"

/* Decides one pair: x0 and x1 hold the points of a, then of b, at t = 0 and t = 1; opts->min_sep >= 0 is the separation of the
 * pair.  1 with *t_lo, *t_hi set, or 0. */
typedef int abut_pair_test(abut_hit_kind kind, const double *x0, const double *x1, const abut_judge_opts *opts,
                           abut_arena *scratch, double *t_lo, double *t_hi);

/** Appends a hit for every pair (i of a, j of b) whose boxes over x0 -> x1, grown by the separation of opts, overlap and for
 * which the test returns 1.  b == a: pairs i < j.  Order and bits do not depend on the thread count. */
ABUT_MUST_USE abut_status abut_judge_pairs(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a,
                                           const abut_simplices *b, const double *x0, const double *x1,
                                           const abut_judge_opts *opts, abut_pair_test *test, abut_hits *out, abut_err *err);

/** abut_judge_pairs for the listed pairs (i of a, j of b), without pairs of two obstacles. */
ABUT_MUST_USE abut_status abut_judge_listed(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a,
                                            const abut_simplices *b, const abut_pair_list *pairs, const double *x0,
                                            const double *x1, const abut_judge_opts *opts, abut_pair_test *test, abut_hits *out,
                                            abut_err *err);

/** Lowers *least to the smallest gap of the pairs at x, if smaller.  b == a: pairs i < j. */
ABUT_MUST_USE abut_status abut_judge_least(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a,
                                           const abut_simplices *b, const double *x, const abut_judge_opts *opts,
                                           abut_judge_gap *least, abut_err *err);
/** abut_judge_least for the listed pairs, without pairs of two obstacles. */
void abut_judge_least_listed(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a, const abut_simplices *b,
                             const abut_pair_list *pairs, const double *x, const abut_judge_opts *opts, abut_judge_gap *least);

#endif
