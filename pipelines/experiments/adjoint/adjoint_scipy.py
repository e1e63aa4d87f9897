"""Minimises what adjoint_descend.awk does by scipy's L-BFGS-B, with the same files and the same lines on standard output:
    adjoint_scipy.py ASK AT BEST MOST ENOUGH LEVEL START
"""
import math
import subprocess
import sys

import numpy
from scipy.optimize import minimize

ask, at, best, most, enough, level, start = sys.argv[1:]
value, size, low, high = numpy.array([[float(w) for w in line.split()] for line in open(start)]).T
seen = []


class Enough(Exception):
    pass


def loss(u):
    with open(at, "w") as f:
        f.writelines(f"{x!r}\n" for x in (u * size).tolist())
    words = subprocess.run(ask, shell=True, check=True, capture_output=True, text=True).stdout.split()
    L = float(words[0])
    gradient = numpy.array([float(w) for w in words[1:]]) * size if math.isfinite(L) else numpy.zeros(len(u))
    if not seen and not math.isfinite(L):
        sys.exit("adjoint_scipy: no run with the first unknowns")
    seen.append((L, u.copy(), abs(gradient).max()))
    print(len(seen), "-", f"{L:.9g}", f"{seen[-1][2]:.4g}", "-", *(f"{x:.9g}" for x in (u * size)[:6]), sep="\t", flush=True)
    if L <= float(enough) or len(seen) >= int(most) or math.isfinite(L) and seen[-1][2] <= float(level) * seen[0][2]:
        raise Enough
    return L / seen[0][0], gradient / seen[0][0]


try:
    minimize(loss, value / size, jac=True, method="L-BFGS-B", bounds=list(zip(low / size, high / size)),
             options={"maxfun": int(most), "ftol": 0, "gtol": 1e-12})
except Enough:
    pass
with open(best, "w") as f:
    f.writelines(f"{x!r}\n" for x in (min(seen, key=lambda s: s[0])[1] * size).tolist())
