#include "adjoint/bars.h"

#include "model/motion.h"
#include "solve/integrator.h"

#include <stdlib.h>
#include <string.h>

abut_status abut_state_bar_init(abut_state_bar *s, const abut_model *m, abut_err *err)
{
    const int past = abut_schemes[abut_scheme_of(m)].past;
    double **field[3 + 2 * ABUT_PAST] = { &s->x, &s->v, &s->a };
    int n = 3;
    *s = (abut_state_bar){ 0 };
    for (int k = 0; k < past; k++) field[n++] = &s->past_x[k], field[n++] = &s->past_v[k];
    for (int i = 0; i < n; i++) {
        *field[i] = calloc(3 * (size_t)m->nv + 1, sizeof(double));
        if (*field[i]) continue;
        abut_state_bar_clear(s);
        return abut_fail(err, ABUT_E_NOMEM, "derivatives by the state of %d nodes", m->nv);
    }
    return ABUT_OK;
}

void abut_state_bar_zero(abut_state_bar *s, const abut_model *m)
{
    const size_t bytes = 3 * (size_t)m->nv * sizeof(double);
    memset(s->x, 0, bytes);
    memset(s->v, 0, bytes);
    memset(s->a, 0, bytes);
    for (int k = 0; k < ABUT_PAST && s->past_x[k]; k++) memset(s->past_x[k], 0, bytes), memset(s->past_v[k], 0, bytes);
}

void abut_state_bar_clear(abut_state_bar *s)
{
    ABUT_FREE(s->x, s->v, s->a);
    for (int k = 0; k < ABUT_PAST; k++) free(s->past_x[k]), free(s->past_v[k]);
    *s = (abut_state_bar){ 0 };
}

void abut_parameter_bar_rows(abut_parameter_bar *p, const abut_model *m, abut_bar_row *row)
{
    const int64_t nv = m->nv, nt = m->nt, nm = m->nm, no = m->no, ngg = (int64_t)m->ng * m->ng, one = 1, nsp = m->nsp, na = m->na,
                  nhg = m->nhg, nbd = m->nbd, nsh = m->nsh, nrd = m->nrd, nmo = m->nmo, nk = m->nk, npx = m->npx;
#define ROW(member, name, count, width, unit) *row++ = (abut_bar_row){ name, unit, &p->member, count, width };
    ABUT_PARAMETER_BARS(ROW)
#undef ROW
}

const char *abut_parameter_bar_lacks(const abut_model *m, const char *name)
{
    int cloth = 0;
    for (int32_t i = 0; i < m->nsh; i++) cloth |= m->mat_membrane && m->mat_membrane[m->shell_mat[i]] == ABUT_MEMBRANE_CLOTH;
    if (m->np && !strcmp(name, "material/density")) return "particles do not say which material they are of";
    const int young = !strcmp(name, "shell/young") || !strcmp(name, "object/young");
    if (cloth && young) return "the strain bounds of cloth are no factor of it";
    const int rest = !strcmp(name, "node/X") || !strcmp(name, "mesh/X");
    if (rest && (m->nsh || m->nrd)) return "shells and rods have rest shapes of their own, which it would have to move";
    const int area = m->formulation && m->formulation[0] == ABUT_CONTACT_AREA;
    if (rest && area) return "contacts are weighed by areas of the rest shape, which it would have to change";
    if (area && !strcmp(name, "contact/dhat")) return "edges meet within a distance of their own where contact is by area";
    if (rest && m->map_first) return "the contact surface is made of weights, which it would have to move";
    if (rest && m->mat_fibre) return "fibres are not differentiated by the shape";
    if (rest && m->damp_stiffness && m->damp_stiffness[0] > 0) return "damping by stiffness is not differentiated by the shape";
    if (cloth && !strcmp(name, "object/thickness")) return "the strain bounds of cloth are no factor of it";
    if (!strcmp(name, "object/pressure") && !m->obj_pressure) return "no object is under pressure";
    if ((!strcmp(name, "object/drag") || !strcmp(name, "world/wind")) && !m->obj_drag) return "nothing is dragged";
    if (!strcmp(name, "key/factor")) return m->key_factor ? NULL : "no load changes in time";
    if (!strncmp(name, "key/", 4) && !m->key_shift) return "no motion has poses";
    if (!strcmp(name, "damping/stiffness") && !(m->damp_stiffness && m->damp_stiffness[0] > 0))
        return "nothing is damped by stiffness: it has one side there";
    return NULL;
}

abut_status abut_parameter_bar_init(abut_parameter_bar *p, const abut_model *m, abut_err *err)
{
    abut_bar_row row[ABUT_BARS];
    *p = (abut_parameter_bar){ 0 };
    abut_parameter_bar_rows(p, m, row);
    for (int i = 0; i < ABUT_BARS; i++) {
        if (!row[i].rows) continue;
        *row[i].data = calloc((size_t)row[i].rows * (size_t)row[i].width, sizeof(double));
        if (*row[i].data) continue;
        abut_parameter_bar_clear(p);
        return abut_fail(err, ABUT_E_NOMEM, "derivatives by %s: %lld rows", row[i].name, (long long)row[i].rows);
    }
    return ABUT_OK;
}

void abut_parameter_bar_clear(abut_parameter_bar *p)
{
#define FREE(member, name, rows, width, unit) free(p->member);
    ABUT_PARAMETER_BARS(FREE)
#undef FREE
    *p = (abut_parameter_bar){ 0 };
}

/* ---- targets of prescribed nodes ---- */

typedef struct probe {
    const abut_model *m;
    double time;
    const double *x, *tb;
    const uint8_t *held;
    double *target;
    uint8_t *held_there;
} probe;

/* sum of tb . target over prescribed nodes, for a model with other numbers */
static double weigh(const probe *p, const abut_model *m)
{
    double sum = 0;
    abut_motion_targets(m, p->time, p->x, p->target, p->held_there);
    for (int32_t i = 0; i < 3 * m->nv; i++)
        if (p->held[i / 3]) sum += p->tb[i] * (p->target[i] - p->x[i]);
    return sum;
}

/* Derivative of the probe by *number, a number of m; size: a change of it that matters. */
static double slope(const probe *p, const abut_model *m, double *number, double size)
{
    const double at = *number;
    double d[2];
    for (int k = 0; k < 2; k++) {
        const double h = size * (k ? 1e-3 : 5e-4);
        *number = at + h;
        const double more = weigh(p, m);
        *number = at - h;
        d[k] = (more - weigh(p, m)) / (2 * h);
    }
    *number = at;
    return (4 * d[0] - d[1]) / 3;
}

/* A change of axis k of all positions moves target j of the same nodes by column k of dt/dx. */
static void to_positions(const probe *p, double *moved, double *base, double *x_bar)
{
    const abut_model *m = p->m;
    const size_t n3 = 3 * (size_t)m->nv;
    const double step = m->length[0];
    abut_motion_targets(m, p->time, p->x, base, p->held_there);
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < n3; i++) moved[i] = p->x[i] + (i % 3 == k ? step : 0);
        abut_motion_targets(m, p->time, moved, p->target, p->held_there);
        for (size_t i = 0; i < (size_t)m->nv; i++) {
            if (!p->held[i]) continue;
            for (size_t j = 0; j < 3; j++) x_bar[3 * i + k] += p->tb[3 * i + j] * (p->target[3 * i + j] - base[3 * i + j]) / step;
        }
    }
}

/* Adds the derivatives by rows [lo, hi) of numbers[3 rows], a copy that m refers to. */
static void slopes(const probe *p, const abut_model *m, double *numbers, size_t lo, size_t hi, double size, double *bar)
{
    for (size_t i = 3 * lo; i < 3 * hi; i++) bar[i] += slope(p, m, numbers + i, size);
}

/* keys of motion k next to a time of the step */
static void key_range(const abut_model *m, int32_t k, double time, int32_t *lo, int32_t *hi)
{
    *lo = m->mo_key[2 * k], *hi = m->mo_key[2 * k + 1];
    while (*lo + 1 < *hi && m->key_time[*lo + 1] <= time) ++*lo;
    while (*hi - 1 > *lo && m->key_time[*hi - 2] >= time + m->h[0]) --*hi;
}

static double *copy_of(const double *from, size_t n, abut_arena *scratch)
{
    double *to = ABUT_ROOM(scratch, double, n + 1);
    if (to && n) memcpy(to, from, n * sizeof *to);
    return to;
}

static abut_status to_motions(const probe *p, abut_parameter_bar *bars, abut_arena *scratch, abut_err *err)
{
    const abut_model *m = p->m;
    abut_model other = *m;
    double *linear = copy_of(m->mo_linear, 3 * (size_t)m->nmo, scratch), *angular = copy_of(m->mo_angular, 3 * (size_t)m->nmo,
                                                                                            scratch);
    double *center = copy_of(m->mo_center, 3 * (size_t)m->nmo, scratch), *growth = ABUT_NEW(scratch, double, 3 * (size_t)m->nmo);
    double *shift = copy_of(m->key_shift, m->key_shift ? 3 * (size_t)m->nk : 0, scratch);
    double *size = copy_of(m->key_scale, m->key_scale ? 3 * (size_t)m->nk : 0, scratch);
    double *path = copy_of(m->path_x, 3 * (size_t)m->npx, scratch);
    if (!linear || !angular || !center || !growth || !shift || !size || !path)
        return abut_fail(err, ABUT_E_NOMEM, "derivatives by %d motions", m->nmo);
    other.mo_linear = linear, other.mo_angular = angular, other.path_x = path;
    if (m->mo_scale) memcpy(growth, m->mo_scale, 3 * (size_t)m->nmo * sizeof *growth);
    other.mo_center = center, other.mo_scale = growth;
    if (m->key_shift) other.key_shift = shift;
    if (m->key_scale) other.key_scale = size;
    for (int32_t k = 0; k < m->nmo; k++) {
        const size_t at = (size_t)k, nodes = (size_t)(m->mo_first[2 * k + 1] - m->mo_first[2 * k]);
        int32_t lo, hi;
        if (m->mo_kind[k] == ABUT_MOTION_MOVE) {
            slopes(p, &other, linear, at, at + 1, m->length[0] / m->h[0], bars->linear);
            slopes(p, &other, angular, at, at + 1, 1 / m->h[0], bars->angular);
            slopes(p, &other, center, at, at + 1, m->length[0], bars->center);
            slopes(p, &other, growth, at, at + 1, 1 / m->h[0], bars->growth);
        } else if (m->mo_kind[k] != ABUT_MOTION_FORCE) {
            key_range(m, k, p->time, &lo, &hi);
            if (m->mo_kind[k] == ABUT_MOTION_KEYS) {
                slopes(p, &other, shift, (size_t)lo, (size_t)hi, m->length[0], bars->key_shift);
                if (m->key_scale) slopes(p, &other, size, (size_t)lo, (size_t)hi, 1, bars->key_size);
            } else {
                const size_t first = (size_t)m->mo_path[k], from = (size_t)(lo - m->mo_key[2 * k]);
                slopes(p, &other, path, first + from * nodes, first + (from + (size_t)(hi - lo)) * nodes, m->length[0],
                       bars->path_x);
            }
        }
    }
    return ABUT_OK;
}

abut_status abut_script_back(const abut_model *m, double time, const double *x, const uint8_t *held, const double *tb,
                             double *x_bar, abut_parameter_bar *bars, abut_arena *scratch, abut_err *err)
{
    const size_t n3 = 3 * (size_t)m->nv;
    int any = 0;
    for (size_t i = 0; i < n3; i++) any |= held[i / 3] && tb[i] != 0;
    if (!any) return ABUT_OK;
    const abut_mark mark = abut_arena_mark(scratch);
    double *target = ABUT_NEW(scratch, double, n3), *moved = ABUT_NEW(scratch, double, n3), *base = ABUT_NEW(scratch, double, n3);
    uint8_t *there = ABUT_NEW(scratch, uint8_t, (size_t)m->nv);
    if (!target || !moved || !base || !there) return abut_fail(err, ABUT_E_NOMEM, "targets of %d nodes", m->nv);
    const probe p = { m, time, x, tb, held, target, there };
    to_positions(&p, moved, base, x_bar);
    const abut_status rc = m->nmo ? to_motions(&p, bars, scratch, err) : ABUT_OK;
    abut_arena_release(scratch, mark);
    return rc;
}

/* ---- accelerations ---- */

/* By a FORCE motion: both are linear, so a unit along each axis is exact; by the keys of its factor; and by the masses that a
 * force of the scene was divided by. */
static void to_force(const abut_model *m, int32_t k, double time, double at, const double *acc_bar, abut_parameter_bar *bars)
{
    const int newtons = m->mo_newtons && m->mo_newtons[k];
    if (!abut_motion_has_step(m, k, time)) return;
    const abut_factor f = abut_motion_factor(m, k, at);
    const int32_t by = m->mo_by_force ? m->mo_by_force[k] : ABUT_BY_FORCE_NONE;
    double sum = 0, mass = 0;
    for (int32_t j = m->mo_first[2 * k]; j < m->mo_first[2 * k + 1]; j++) {
        const int32_t i = m->mo_node[j];
        mass += m->mass[i];
        for (int d = 0; d < 3; d++) {
            const double share = m->mo_share ? m->mo_share[3 * (size_t)j + (size_t)d] : 1;
            const double bar = share * acc_bar[3 * i + d] / (newtons ? m->mass[i] : 1);
            bars->linear[3 * k + d] += f.value * bar;
            sum += m->mo_linear[3 * k + d] * bar;
            if (by == ABUT_BY_FORCE_ON_EACH) bars->mass[i] -= f.value * m->mo_linear[3 * k + d] * bar / m->mass[i];
        }
    }
    for (int32_t j = m->mo_first[2 * k]; j < m->mo_first[2 * k + 1] && by == ABUT_BY_FORCE_ON_ALL; j++)
        bars->mass[m->mo_node[j]] -= f.value * sum / mass;
    if (f.lo < 0) return;
    bars->key_factor[f.lo] += (1 - f.u) * sum;
    bars->key_factor[f.hi] += f.u * sum;
}

abut_status abut_script_forces_back(const abut_model *m, double time, double at, const double *acc_bar,
                                    abut_parameter_bar *bars, abut_arena *scratch, abut_err *err)
{
    const abut_mark mark = abut_arena_mark(scratch);
    double *f = ABUT_NEW(scratch, double, 3 * (size_t)m->nv);
    if (!f) return abut_fail(err, ABUT_E_NOMEM, "forces on %d nodes", m->nv);
    const int loads = abut_motion_load(m, time, at, f);
    for (int32_t i = 0; i < 3 * m->nv; i++) {
        bars->gravity[i % 3] += acc_bar[i];
        bars->force[i] += acc_bar[i] / m->mass[i / 3];
        if (loads) bars->mass[i / 3] -= acc_bar[i] * f[i] / (m->mass[i / 3] * m->mass[i / 3]);
    }
    for (int32_t k = 0; k < m->nmo; k++)
        if (m->mo_kind[k] == ABUT_MOTION_FORCE) to_force(m, k, time, at, acc_bar, bars);
    abut_arena_release(scratch, mark);
    return ABUT_OK;
}
