/* The barriers of stretch limits (energy/membrane.h).  The including file defines the logarithms LN(v) and
 * LN1P(v) = ln(1 + v), LIMIT_FN, the specifiers of a function, and LIMIT(name), its name. */

/** abut_stretch_barrier; db and d2b are not NULL. */
LIMIT_FN double LIMIT(abut_stretch_barrier)(double s, double begins, double limit, double *db, double *d2b)
{
    const double w = limit - begins, q = limit - s, y = (begins - s) / w;     /* on the lower side w, q change sign */
    if (!(y < 0)) return *db = *d2b = 0;
    if (!(q / w > 0)) return (double)INFINITY;
    const double l = y > -0.5 ? LN1P(y) : LN(q / w), r = y * w / q;    /* r = (t - s)/(u - s) */
    *db = (2 * y * l + y * r) / w;
    *d2b = (-2 * l - 4 * r + r * r) / (w * w);
    return -y * y * l;
}

/* b of both stretches on one side */
LIMIT_FN void LIMIT(abut_stretch_side_add)(double begins, double limit, double kappa, const double s[2], abut_plane_principal *p)
{
    double b[2], d[2], dd[2], mid = 0, none;
    for (int i = 0; i < 2; i++) {
        b[i] = LIMIT(abut_stretch_barrier)(s[i], begins, limit, &d[i], &dd[i]);
        if (!(b[i] < (double)INFINITY)) {
            p->psi = (double)INFINITY;
            return;
        }
    }
    if (b[0] == 0 && b[1] == 0) return;
    const double far[2] = { fabs(limit - s[0]), fabs(limit - s[1]) }, left = far[0] < far[1] ? far[0] : far[1];
    const double apart = s[0] - s[1];
    if (fabs(apart) > ABUT_STRETCH_SAME * left) mid = (d[0] - d[1]) / apart;
    else (void)LIMIT(abut_stretch_barrier)(0.5 * (s[0] + s[1]), begins, limit, &none, &mid);
    p->psi += kappa * (b[0] + b[1]);
    for (int i = 0; i < 2; i++) {
        p->d[i] += kappa * d[i];
        p->A[2 * i] += kappa * dd[i];
    }
    p->flip += kappa * mid;
    p->twist += kappa * (d[0] + d[1]) / (s[0] + s[1]);
}

/** abut_stretch_limit_add. */
LIMIT_FN void LIMIT(abut_stretch_limit_add)(const double row[4], double kappa, const double s[2], abut_plane_principal *p)
{
    if (abut_stretch_acts(row, 1))
        LIMIT(abut_stretch_side_add)(row[ABUT_STRETCH_HIGH_BEGINS], row[ABUT_STRETCH_HIGH], kappa, s, p);
    if (abut_stretch_acts(row, 0))
        LIMIT(abut_stretch_side_add)(row[ABUT_STRETCH_LOW_BEGINS], row[ABUT_STRETCH_LOW], kappa, s, p);
}
