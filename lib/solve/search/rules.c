#include "solve/search/rules.h"

#include <math.h>

double abut_rule_error(double speed, double next)
{
    return next < speed ? next / (1 - next / speed) : next > 0 ? INFINITY : 0;
}

int abut_rule_near(double left, double tolerance) { return left <= ABUT_NEAR * tolerance; }

int abut_rule_balanced(double left, double largest, double tolerance)
{
    return !(tolerance > 0) || left <= tolerance * largest;
}

int abut_rule_lets_go(double slid, double then, double threshold) { return slid < threshold && then >= threshold; }

int abut_rule_stalls(abut_rule_stall *s, double left)
{
    const int better = !(s->best > 0) || left < 0.5 * s->best;
    if (better) s->best = left;
    s->since = better ? 0 : s->since + 1;
    return s->since >= ABUT_STALL_ITERATIONS;
}
