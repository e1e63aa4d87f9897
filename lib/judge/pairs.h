/* One class of pairs: a broad phase between two lists of elements, then a decision on each pair, in parallel. */
#ifndef ABUT_JUDGE_PAIRS_H
#define ABUT_JUDGE_PAIRS_H

#include "judge/judge.h"

/* Decides one pair: x0, x1 hold the points of a, then of b (x1 the same at t = 1); opts->min_sep is that of the pair, >= 0.
 * 1 with *t_lo, *t_hi set, or 0. */
typedef int abut_pair_test(abut_hit_kind kind, const double *x0, const double *x1, const abut_judge_opts *opts,
                           abut_arena *scratch, double *t_lo, double *t_hi);

/** Appends a hit for every pair (i of a, j of b) whose boxes over x0 -> x1, grown by the separation that opts
 * ask for, overlap and for which the test says yes.  b == a: pairs i < j.  Order and bits do not depend on the thread count. */
ABUT_MUST_USE abut_status abut_judge_pairs(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a,
                                           const abut_simplices *b, const double *x0, const double *x1,
                                           const abut_judge_opts *opts, abut_pair_test *test, abut_hits *out, abut_err *err);

/** The same for pairs that are listed, (i of a, j of b), but those of two obstacles. */
ABUT_MUST_USE abut_status abut_judge_listed(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a,
                                            const abut_simplices *b, const abut_pair_list *pairs, const double *x0,
                                            const double *x1, const abut_judge_opts *opts, abut_pair_test *test, abut_hits *out,
                                            abut_err *err);

/** Lowers *least to the smallest gap of the pairs that have one below it at x.  b == a: pairs i < j. */
ABUT_MUST_USE abut_status abut_judge_least(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a,
                                           const abut_simplices *b, const double *x, const abut_judge_opts *opts,
                                           abut_judge_gap *least, abut_err *err);
/** The same of pairs that are listed, but those of two obstacles. */
void abut_judge_least_listed(const abut_judge_shape *s, abut_hit_kind kind, const abut_simplices *a, const abut_simplices *b,
                             const abut_pair_list *pairs, const double *x, const abut_judge_opts *opts, abut_judge_gap *least);

#endif
