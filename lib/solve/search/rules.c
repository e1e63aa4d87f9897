#include "solve/search/rules.h"

#include <math.h>

#define LONGEST 8           /* times a direction that turns out too short */
#define MUCH_LONGER 4       /* least factor that lengthens a short direction */
#define CLEAR_OF_NOISE 1e3  /* times the rounding of the objective: least decrease that shows a curvature */
#define HALF_OF_DHAT (0.5 * (1 - 1e-9)) /* clear of the rounding of positions */
#define SHORTER 0.9         /* times the shortest direction before: progress */
#define BEYOND 0.8          /* of the slope at the start: 1 - 2 delta */
#define BLOCKED_GAIN 1e-6   /* of the scripted motion: less is nothing */

double abut_rule_ceiling(double start, double noise, double part, double alpha, double slope)
{
    return part > 0 ? start + noise - part * alpha * slope : start + noise;
}

int abut_rule_not_beyond(double from, double to) { return to >= -BEYOND * from; }

double abut_rule_cfl(double dhat, double alpha, double motion)
{
    return motion > 0 ? HALF_OF_DHAT * dhat * alpha / motion : INFINITY;
}

double abut_rule_error(double speed, double next)
{
    return next < speed ? next / (1 - next / speed) : next > 0 ? INFINITY : 0;
}

int abut_rule_near(double left, double tolerance, int shrinks)
{
    return left <= (shrinks ? ABUT_NEAR : 1. / ABUT_NEARER) * tolerance;
}

int abut_rule_may_be_last(double last, double speed, double tolerance)
{
    return speed < last && speed * (speed / last) <= tolerance;
}

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

int abut_rule_is_short(double speed, double tolerance) { return speed <= tolerance; }

double abut_rule_curvature(double slope, double start, double reached, double noise)
{
    const double curvature = 2 * (reached - start + slope);
    return slope > CLEAR_OF_NOISE * noise ? curvature / slope : 1;
}

double abut_rule_length(double curvature, int is_short)
{
    double length = 1;
    while (length < LONGEST && 2 * length * curvature <= 1) length *= 2;
    return is_short && length < MUCH_LONGER ? 1 : length;
}

int abut_rule_is_due(abut_rule_wait *w) { return w->left ? w->left--, 0 : 1; }

void abut_rule_tried(abut_rule_wait *w, int good, int longest)
{
    if (good) w->patience = 0;
    else w->patience = w->patience ? (int)fmin(3 * w->patience, longest) : 1;
    w->left = w->patience;
}

int abut_rule_is_blocked(abut_rule_blocked *b, double fraction)
{
    if (fraction > b->fraction + BLOCKED_GAIN) *b = (abut_rule_blocked){ .fraction = fraction };
    else b->updates++;
    return b->updates >= ABUT_BLOCKED_UPDATES;
}

int abut_rule_stagnates(abut_rule_stagnation *s, double speed, double went, double fell, double noise)
{
    s->went += went;
    s->fell += fell;
    const int shorter = !(s->speed > 0) || speed < SHORTER * s->speed, falls = s->went >= 1 && s->fell > noise;
    if (shorter) s->speed = speed;
    if (shorter || falls) s->went = s->fell = s->since = 0;
    else s->since++;
    return s->since;
}

int abut_rule_patience(int most) { return most / 5 > ABUT_STAGNATION ? most / 5 : ABUT_STAGNATION; }
