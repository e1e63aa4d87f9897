#include "formats/result/results.h"

#include <string.h>

int abut_results_want(const abut_results_opts *opt)
{
    int want = 0;
    if (opt->vtu) want |= ABUT_WANT_STRESS | ABUT_WANT_CONTACT | ABUT_WANT_STRAIN;
    if (opt->vtu && opt->tensors) want |= ABUT_WANT_TENSORS;
    if (opt->nodes) want |= ABUT_WANT_CONTACT;
    if (opt->csv || opt->json) want |= ABUT_WANT_TOTALS | ABUT_WANT_CONTACT;
    return want;
}

static abut_status open_text(abut_out_file *o, const char *path, int keep, FILE *text, abut_err *err)
{
    if (strcmp(path, "-")) return abut_out_open(o, path, keep, err);
    abut_out_lend(o, text);
    return ABUT_OK;
}

abut_status abut_results_open(abut_results *r, const abut_results_opts *opt, FILE *text, abut_err *err)
{
    *r = (abut_results){ .opt = *opt };
    abut_status rc = ABUT_OK;
    if (opt->vtu) rc = abut_vtu_open(opt->vtu, opt->keep, &r->vtu, err);
    if (!rc && opt->msh) rc = abut_out_folder(opt->msh, err);
    if (!rc && opt->msh_text) rc = abut_out_folder(opt->msh_text, err);
    if (!rc && opt->obj) rc = abut_out_folder(opt->obj, err);
    if (!rc && opt->ply) rc = abut_out_folder(opt->ply, err);
    if (!rc && opt->nodes) rc = abut_out_folder(opt->nodes, err);
    if (!rc && opt->gltf) rc = abut_gltf_open(opt->gltf, opt->keep, &r->gltf, err);
    if (!rc && opt->csv) rc = open_text(&r->csv, opt->csv, opt->keep, text, err);
    if (!rc && opt->json) rc = open_text(&r->json, opt->json, opt->keep, text, err);
    return rc;
}

abut_status abut_results_frame(abut_results *r, const abut_shot *s, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (r->vtu) rc = abut_vtu_frame(r->vtu, s, err);
    if (!rc && r->opt.msh) rc = abut_msh_write(r->opt.msh, r->opt.keep, s, 1, err);
    if (!rc && r->opt.msh_text) rc = abut_msh_write(r->opt.msh_text, r->opt.keep, s, 0, err);
    if (!rc && r->opt.obj) rc = abut_obj_write(r->opt.obj, r->opt.keep, s, err);
    if (!rc && r->opt.ply) rc = abut_ply_write(r->opt.ply, r->opt.keep, s, err);
    if (!rc && r->opt.nodes) rc = abut_node_table_write(r->opt.nodes, r->opt.keep, s, err);
    if (!rc && r->gltf) rc = abut_gltf_frame(r->gltf, s, err);
    if (!rc && (r->opt.csv || r->opt.json)) rc = abut_table_frame(&r->table, s, err);
    return rc;
}

abut_status abut_results_close(abut_results *r, abut_err *err)
{
    abut_status rc = ABUT_OK;
    if (r->vtu) rc = abut_vtu_close(r->vtu, err);
    if (!rc && r->gltf) rc = abut_gltf_close(r->gltf, err);
    if (!rc && r->opt.csv) {
        abut_table_csv(&r->table, r->csv.f);
        rc = abut_out_close(&r->csv, err);
    }
    if (!rc && r->opt.json) {
        abut_table_json(&r->table, r->json.f);
        rc = abut_out_close(&r->json, err);
    }
    return rc;
}

void abut_results_clear(abut_results *r)
{
    abut_vtu_free(&r->vtu);
    abut_gltf_free(&r->gltf);
    abut_table_clear(&r->table);
    abut_out_drop(&r->csv);
    abut_out_drop(&r->json);
    *r = (abut_results){ 0 };
}
