#include "formats/mesh/ccd_csv.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

enum { ROW_MAX = 1 << 16, ROWS = 8 };

/* One row without its line end; *len -1 at the end of the file */
static abut_status read_row(abut_ccd_csv *r, char *buf, int *len, abut_err *err)
{
    int n = 0, c;
    while ((c = getc(r->f)) != EOF && c != '\n') {
        if (n == ROW_MAX - 1)
            return abut_fail(err, ABUT_E_FORMAT, "%s, line %ld: longer than %d bytes", r->name, r->line + 1, ROW_MAX - 1);
        buf[n++] = (char)c;
    }
    if (ferror(r->f)) return abut_fail(err, ABUT_E_IO, "%s, line %ld: cannot be read", r->name, r->line + 1);
    if (n && buf[n - 1] == '\r') n--;
    buf[n] = 0;
    *len = c == EOF && n == 0 ? -1 : n;
    r->line += *len >= 0;
    return ABUT_OK;
}

/* A decimal integer that ends at `stop`; *p moves behind it */
static abut_status read_integer(const abut_ccd_csv *r, const char *row, char **p, char stop, mpz_t z, abut_err *err)
{
    char *s = *p, *e = s;
    if (*e == '-' || *e == '+') e++;
    const char *const digits = e;
    while (*e >= '0' && *e <= '9') e++;
    if (e == digits || *e != stop)
        return abut_fail(err, ABUT_E_FORMAT, "%s, line %ld, column %d: expected a decimal integer%s", r->name, r->line,
                         (int)(e - row) + 1, stop ? " and a comma" : " and the end of the line");
    *e = 0;
    mpz_set_str(z, *s == '+' ? s + 1 : s, 10);
    *p = e + (stop != 0);
    return ABUT_OK;
}

/* q as a double if it is one.  The sizes are looked at first: GMP leaves the overflow of a conversion open. */
static int exact_double(const mpq_t q, mpq_t back, double *v)
{
    const double bits = (double)mpz_sizeinbase(mpq_numref(q), 2) - (double)mpz_sizeinbase(mpq_denref(q), 2);
    if (fabs(bits) > 1100 && mpq_sgn(q)) return 0;
    *v = mpq_get_d(q);
    if (!isfinite(*v)) return 0;
    mpq_set_d(back, *v);
    return mpq_equal(q, back);
}

static abut_status parse_row(const abut_ccd_csv *r, char *row, mpq_t q, mpq_t back, double x[3], int *truth, abut_err *err)
{
    char *p = row;
    for (int k = 0; k < 3; k++) {
        abut_status rc = read_integer(r, row, &p, ',', mpq_numref(q), err);
        const int column = (int)(p - row) + 1;
        if (!rc) rc = read_integer(r, row, &p, ',', mpq_denref(q), err);
        if (rc) return rc;
        if (mpz_sgn(mpq_denref(q)) <= 0)
            return abut_fail(err, ABUT_E_FORMAT, "%s, line %ld, column %d: the denominator is below 1", r->name, r->line, column);
        mpq_canonicalize(q);
        if (!exact_double(q, back, &x[k]))
            return abut_fail(err, ABUT_E_FORMAT, "%s, line %ld, column %d: the coordinate %c is not exactly a double",
                             r->name, r->line, column, "xyz"[k]);
    }
    const int column = (int)(p - row) + 1;
    const abut_status rc = read_integer(r, row, &p, 0, mpq_numref(q), err);
    if (rc) return rc;
    if (mpz_cmp_ui(mpq_numref(q), 1) > 0 || mpz_sgn(mpq_numref(q)) < 0)
        return abut_fail(err, ABUT_E_FORMAT, "%s, line %ld, column %d: the truth is neither 0 nor 1", r->name, r->line, column);
    *truth = (int)mpz_get_ui(mpq_numref(q));
    return ABUT_OK;
}

static abut_status read_query(abut_ccd_csv *r, char *row, mpq_t q, mpq_t back, abut_ccd_query *out, int *more, abut_err *err)
{
    for (int i = 0; i < ROWS; i++) {
        int len, truth = 0;
        abut_status rc;
        do rc = read_row(r, row, &len, err);
        while (!rc && len == 0 && i == 0);  /* empty lines between queries, and at the end */
        if (rc) return rc;
        if (len < 0 && i == 0) {
            *more = 0;
            return ABUT_OK;
        }
        if (len < 0)
            return abut_fail(err, ABUT_E_FORMAT, "%s, line %ld: the file ends after %d of %d rows of a query", r->name, r->line,
                             i, (int)ROWS);
        if (memchr(row, 0, (size_t)len)) return abut_fail(err, ABUT_E_FORMAT, "%s, line %ld: a zero byte", r->name, r->line);
        rc = parse_row(r, row, q, back, i < 4 ? out->x0 + 3 * i : out->x1 + 3 * (i - 4), &truth, err);
        if (rc) return rc;
        if (i && truth != out->truth)
            return abut_fail(err, ABUT_E_FORMAT, "%s, line %ld: truth %d, but %d in the first row of the query", r->name,
                             r->line, truth, out->truth);
        out->truth = truth;
    }
    *more = 1;
    return ABUT_OK;
}

abut_status abut_ccd_csv_next(abut_ccd_csv *r, abut_ccd_query *q, int *more, abut_err *err)
{
    char row[ROW_MAX];
    mpq_t value, back;
    abut_ccd_query out = { .truth = 0 };
    int any = 0;
    mpq_inits(value, back, NULL);
    const abut_status rc = read_query(r, row, value, back, &out, &any, err);
    mpq_clears(value, back, NULL);
    if (rc) return rc;
    *more = any;
    if (any) *q = out;
    return ABUT_OK;
}
