#!/usr/bin/env python3
"""Writes bernstein_table.h: what takes Lagrange values on the lattice of a tet to Bernstein coefficients, for orders 2 to 4.

With phi_b(L) = product over c of P(b_c, L_c), P(m, t) = t' (t' - 1) ... (t' - m + 1)/m!, t' = r t, each monomial L^j is raised to
the order r by (L0 + L1 + L2 + L3)^(r - |j|), and L^a = B_a / (r!/(a0! a1! a2! a3!)).

    lib/geom/bernstein_table.py > lib/geom/bernstein_table.h
"""
import itertools
import math
from fractions import Fraction


def tuples(d):
    """As abut_bernstein_index counts them."""
    return [(d - s, s - t, t - k, k) for s in range(d + 1) for t in range(s + 1) for k in range(t + 1)]


def multinomial(a):
    return math.factorial(sum(a)) // math.prod(math.factorial(i) for i in a)


def silvester(m, r):
    """Coefficients of P(m, t) by powers of t."""
    p = [Fraction(1)]
    for j in range(m):
        p = [(r * a - j * b) / (j + 1) for a, b in zip([0, *p], [*p, 0])]
    return p


def entry(r, a, b):
    p, total = [silvester(m, r) for m in b], Fraction(0)
    for j in itertools.product(*[range(min(x, y) + 1) for x, y in zip(a, b)]):
        total += math.prod(q[i] for q, i in zip(p, j)) * multinomial([x - y for x, y in zip(a, j)])
    return total / multinomial(a)


def main():
    print("/* Written by bernstein_table.py: row, column, numerator. */")
    for r in (2, 3, 4):
        rows = [[entry(r, a, b) for b in tuples(r)] for a in tuples(r)]
        common = math.lcm(*(x.denominator for row in rows for x in row))
        items = [f"{{{i},{k},{x * common}}}" for i, row in enumerate(rows) for k, x in enumerate(row) if x]
        largest = max(sum(abs(x) for x in row) for row in rows)
        print(f"#define BERNSTEIN_{r}_DENOMINATOR {common}")
        print(f"#define BERNSTEIN_{r}_ROW_SUM {largest}   /* the largest of |entries| */")
        print(f"static const short BERNSTEIN_{r}[{len(items)}][3] = {{")
        line = "   "
        for item in items:
            if len(line) + len(item) + 2 > 128:
                print(line)
                line = "   "
            line += " " + item + ","
        print(line + "\n};")


main()
