#include "formats/step_report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void number(FILE *f, const char *key, double v)
{
    if (isfinite(v))
        fprintf(f, "\"%s\":%.17g,", key, v);
    else
        fprintf(f, "\"%s\":null,", key);
}

static void nodes(FILE *f, const char *key, const int32_t n[4])
{
    fprintf(f, "\"%s\":[%d,%d,%d,%d],", key, n[0], n[1], n[2], n[3]);
}

static void limit(FILE *f, const abut_report *r)
{
    if (!r->limit_iteration) {
        fputs("\"limit\":null,", f);
        return;
    }
    fprintf(f, "\"limit\":{\"kind\":\"%s\",\"alpha\":%.17g,\"iteration\":%d,", abut_limit_name(r->limit.kind), r->limit.alpha,
            r->limit_iteration);
    nodes(f, "nodes", r->limit.node);
    fprintf(f, "\"tet\":%d},", r->limit.tet);
}

/* One entry of a row. */
static void entry(FILE *f, double v)
{
    if (isfinite(v)) fprintf(f, "%.6g,", v);
    else fputs("null,", f);
}

static void iterations(FILE *f, const abut_report *r)
{
    const int n = abut_report_rows(r);
    fputs("\"iterations\":[", f);
    for (int i = 0; i < n; i++) {
        const abut_iteration *it = abut_report_row(r, i);
        fputs(i ? ",[" : "[", f);
        entry(f, it->residual);
        entry(f, it->bound);
        entry(f, it->alpha);
        fprintf(f, "%d,%d,", it->contacts, it->trials);
        entry(f, it->decrease);
        fprintf(f, "\"%s\"]", abut_iteration_bounded_by(it));
    }
    fprintf(f, "],\"iterations_left_out\":%d,", r->newton - n);
}

static void seconds(FILE *f, const abut_phase_seconds *s)
{
    double named = -s->total;
    fputs("\"seconds\":{", f);
#define PUT(name) fprintf(f, "\"" #name "\":%.6f,", s->name), named += s->name;
    ABUT_PHASES(PUT)
#undef PUT
    fprintf(f, "\"other\":%.6f}", fmax(0, s->total - named));
}

static void device(FILE *f, const abut_device_report *d)
{
    if (!d->name) {
        fputs("\"device\":\"cpu\",", f);
        return;
    }
    fprintf(f, "\"device\":\"%s\",\"waits\":%zu,\"launches\":%zu,\"device_bytes\":%zu,\"device_bytes_peak\":%zu,", d->name,
            d->waits, d->launches, d->bytes, d->bytes_peak);
    fprintf(f, "\"corrections\":%d,\"cg_double\":%d,\"transfer_seconds\":%.6f,", d->corrections, d->cg_double, d->transfer);
}

abut_status abut_report_write(const abut_report *r, FILE *f, abut_err *err)
{
    const double none = NAN;
    fprintf(f, "{\"step\":%lld,", (long long)r->step);
    number(f, "time", r->time);
    fprintf(f, "\"newton_iterations\":%d,\"line_search_trials\":%d,\"passes\":%d,\"shifts\":%d,\"cg_iterations\":%d,"
            "\"factorisations\":%d,\"factorisations_double\":%d,\"waypoints\":%d,",
            r->newton, r->trials, r->passes, r->shifts, r->cg_iterations, r->factorisations, r->factorisations_double,
            r->waypoints);
    fprintf(f, "\"newton_solves\":%d,\"initial_matrices\":%d,\"not_descending\":%d,\"pairs_skipped\":%d,", r->newton_solves,
            r->initial_matrices, r->not_descending, r->pairs_skipped);
    number(f, "characteristic_norm", r->norm > 0 ? r->norm : none);
    number(f, "residual", r->residual);
    number(f, "lag_residual", r->lag_residual < 0 ? none : r->lag_residual);
    number(f, "eta", r->eta);
    number(f, "kappa", r->kappa);
    fprintf(f, "\"contact\":\"%s\",", abut_contact_names[r->contact]);
    fprintf(f, "\"contacts\":%d,\"mollified\":%d,\"half_space_contacts\":%d,\"candidates\":%zu,", r->contacts, r->mollified,
            r->planes, r->candidates);
    fprintf(f, "\"sticking_contacts\":%d,\"sliding_contacts\":%d,", r->sticking, r->sliding);
    number(f, "creep_max", r->sticking ? r->creep_max : none);
    number(f, "creep_mean", r->sticking ? r->creep_mean : none);
    number(f, "min_gap", r->min_gap < 0 ? none : r->min_gap);
    if (r->min_gap >= 0) nodes(f, "min_gap_nodes", r->gap_node);
    else fputs("\"min_gap_nodes\":null,", f);
    number(f, "min_jacobian", r->min_jacobian_tet < 0 ? none : r->min_jacobian);
    fprintf(f, "\"min_jacobian_tet\":%d,", r->min_jacobian_tet);
    const int shells = r->max_stretch_shell >= 0;
    number(f, "max_stretch", shells ? r->max_stretch : none);
    number(f, "min_stretch", shells ? r->min_stretch : none);
    number(f, "stretch_room", shells ? r->stretch_room : none);
    number(f, "strain_kappa", shells ? r->strain_kappa : none);
    fprintf(f, "\"max_stretch_shell\":%d,", r->max_stretch_shell);
    limit(f, r);
    number(f, "kinetic_energy", r->kinetic);
    number(f, "elastic_energy", r->elastic);
    number(f, "gravity_energy", r->gravity);
    fprintf(f, "\"momentum\":[%.17g,%.17g,%.17g],\"angular_momentum\":[%.17g,%.17g,%.17g],", r->momentum[0], r->momentum[1],
            r->momentum[2], r->angular[0], r->angular[1], r->angular[2]);
    iterations(f, r);
    number(f, "factor_nnz", r->factor_nnz);
    number(f, "factor_flops", r->factor_flops);
    number(f, "factor_bytes", r->factor_bytes);
    fprintf(f, "\"memory_peak\":%zu,\"cpu_seconds\":%.6f,", r->memory_peak, r->cpu);
    device(f, &r->device);
    seconds(f, &r->seconds);
    fputs("}\n", f);
    if (fflush(f) || ferror(f)) return abut_fail(err, ABUT_E_IO, "step report: %s", strerror(errno));
    return ABUT_OK;
}
