# Minimises a loss of which a command gives value and gradient: L-BFGS (Liu and Nocedal 1989) in the unknowns over their sizes, kept
# between bounds by clipping, with halved steps where the loss does not fall (Armijo).  Of one unknown it is the secant method.
#     awk -v ask=COMMAND -v at=FILE -v best=FILE -v most=EVALUATIONS -v enough=LOSS -v level=LEVEL -v change=SIZES -f adjoint_descend.awk START
# START: a line for each unknown: value, size, lowest, highest.  COMMAND reads the unknowns in FILE `at`, a number a line, and
# prints the loss, then its derivatives, a number a line; `inf` alone: no run with these.  It ends at that loss, or where the largest
# derivative over its unknown's size is `level` of the first.  change: most that an unknown moves in an
# iteration.  On standard output a line for each evaluation: number, iteration, loss, largest scaled derivative, length of the
# step, the first six unknowns.  The best unknowns are left in FILE `best`.
{ n++; size[n] = $2; low[n] = $3 / $2; high[n] = $4 / $2; x[n] = $1 / $2 }

function write(y, file,   i) {
    for (i = 1; i <= n; i++) printf "%.17g\n", y[i] * size[i] > file
    close(file)
}
# L and g at y; -1: the command failed
function evaluate(y,   i, text, got) {
    write(y, at)
    got = ask | getline text
    if (got < 1) { failed = 1; exit 1 }
    L = text == "inf" ? 1e300 : text + 0
    largest = 0
    for (i = 1; i <= n && L < 1e300; i++) {
        if ((ask | getline text) < 1) { failed = 1; exit 1 }
        g[i] = text * size[i]
        if (g[i] < 0 ? -g[i] > largest : g[i] > largest) largest = g[i] < 0 ? -g[i] : g[i]
    }
    if (close(ask)) { failed = 1; exit 1 }
    evaluations++
    printf "%d\t%d\t%.9g\t%.4g\t%.4g", evaluations, iteration, L, largest, t
    for (i = 1; i <= n && i <= 6; i++) printf "\t%.9g", y[i] * size[i]
    printf "\n"
    fflush()
    return L
}
function dot(a, b,   i, s) { for (i = 1; i <= n; i++) s += a[i] * b[i]; return s + 0 }

# d = -H g by the last pairs s, y
function direction(   i, j, k, a, b, q) {
    for (i = 1; i <= n; i++) d[i] = -p[i]
    for (k = pairs; k > pairs - 8 && k > 0; k--) {
        a = 0
        for (i = 1; i <= n; i++) a += S[k, i] * d[i]
        alpha[k] = a / rho[k]
        for (i = 1; i <= n; i++) d[i] -= alpha[k] * Y[k, i]
    }
    if (pairs) for (i = 1; i <= n; i++) d[i] *= gamma
    for (k = pairs > 8 ? pairs - 7 : 1; k <= pairs; k++) {
        b = 0
        for (i = 1; i <= n; i++) b += Y[k, i] * d[i]
        for (i = 1; i <= n; i++) d[i] += (alpha[k] - b / rho[k]) * S[k, i]
    }
}
# a pair of the step from x to z, where it has positive curvature
function learn(   i, sy, yy) {
    for (i = 1; i <= n; i++) { S[pairs + 1, i] = z[i] - x[i]; Y[pairs + 1, i] = g[i] - p[i]; sy += (z[i] - x[i]) * (g[i] - p[i]); yy += (g[i] - p[i])^2 }
    if (sy > 1e-12 * yy) { pairs++; rho[pairs] = sy; gamma = sy / yy }
}

END {
    if (failed) exit 1
    t = 0
    here = evaluate(x)
    if (here >= 1e300) { print "adjoint_descend: no run with the first unknowns" >"/dev/stderr"; exit 1 }
    for (i = 1; i <= n; i++) p[i] = g[i]
    norm = first = largest
    while (evaluations < most && here > enough && norm > level * first) {
        iteration++
        direction()
        slope = dot(d, p)
        if (slope >= 0) { pairs = 0; direction(); slope = dot(d, p) }
        if (slope == 0) break
        reach = 0
        for (i = 1; i <= n; i++) if (d[i] * d[i] > reach * reach) reach = d[i] < 0 ? -d[i] : d[i]
        t = pairs ? 1 : change / reach
        if (t * reach > change) t = change / reach
        for (found = 0; evaluations < most && !found && t * reach > 1e-12; ) {
            for (i = 1; i <= n; i++) {
                z[i] = x[i] + t * d[i]
                if (z[i] < low[i]) z[i] = low[i]
                if (z[i] > high[i]) z[i] = high[i]
            }
            got = evaluate(z)
            if (got <= here + 1e-4 * t * slope || got < here && got <= enough) found = 1
            else if (got >= 1e300) t /= 2
            else { try = -slope * t * t / (2 * (got - here - slope * t)); t = try < t / 10 ? t / 10 : try > t / 2 ? t / 2 : try }
        }
        if (!found) break
        learn()
        for (i = 1; i <= n; i++) { x[i] = z[i]; p[i] = g[i] }
        here = got
        norm = largest
    }
    write(x, best)
}
