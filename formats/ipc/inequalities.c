/* The solvers SQP and QP of the reference code, and what they need: they become the solvers sqp and qp here. */
#include "formats/ipc/script_parts.h"

#include <stdio.h>
#include <string.h>

static const struct solver {
    const char *word, *alias, *name;    /* name: in a scene; NULL: what happens anyway */
} SOLVERS[] = { { "interiorPoint", "IP", NULL }, { "SQP", NULL, "sqp" }, { "QP", NULL, "qp" } };
enum { NSOLVERS = sizeof SOLVERS / sizeof *SOLVERS };

/* Why several published forms of constraints become one of ours. */
static const struct form {
    const char *word, *name, *because;
} FORMS[] = {
    { "volume", "volume", NULL }, { "nonsmoothNewmark", "volume", NULL }, { "gapFunction", "gap", NULL },
    { "graphics", "impact", NULL },
    { "STIV", "impact", "a space-time interference volume with a fixed normal has the linear part of the gap, times an area" },
    { "CMR", "impact", "pairs stay in the active set of a step, as there" },
    { "Verschoor", "impact", "what that code changes of constraints at impacts is not known here" },
};
enum { NFORMS = sizeof FORMS / sizeof *FORMS };

static int is_solver(abut_word w, int i)
{
    return abut_word_is(w, SOLVERS[i].word) || (SOLVERS[i].alias && abut_word_is(w, SOLVERS[i].alias));
}

int abut_ipc_is_solver(const abut_ipc_script *s, abut_word w)
{
    return is_solver(w, s->solver);
}

abut_status abut_ipc_solver(abut_ipc_script *s, abut_err *err)
{
    const abut_word w = abut_ipc_word(s);
    for (int i = 0; i < NSOLVERS; i++)
        if (is_solver(w, i)) return s->solver = i, ABUT_OK;
    return abut_scan_fail(&s->scan, err, "constraintSolver '%.*s': expected interiorPoint or IP, SQP or QP",
                          (int)(w.n < 40 ? w.n : 40), w.s);
}

abut_status abut_ipc_constraint_type(abut_ipc_script *s, abut_err *err)
{
    const abut_word w = abut_ipc_word(s);
    for (int i = 0; i < NFORMS; i++)
        if (abut_word_is(w, FORMS[i].word)) return s->form = i + 1, s->form_line = s->scan.line, ABUT_OK;
    return abut_scan_fail(&s->scan, err, "constraintType '%.*s': expected volume, nonsmoothNewmark, gapFunction, graphics, STIV, "
                          "CMR or Verschoor", (int)(w.n < 40 ? w.n : 40), w.s);
}

abut_status abut_ipc_constraint_offset(abut_ipc_script *s, abut_err *err)
{
    const abut_status rc = abut_ipc_reals(s, "constraintOffset", 1, &s->offset, err);
    s->offset_line = s->scan.line;
    return rc || s->offset >= 0 ? rc : abut_scan_fail(&s->scan, err, "constraintOffset %g: expected at least 0", s->offset);
}

void abut_ipc_finish_solver(abut_ipc_script *s)
{
    char text[240];
    const char *name = SOLVERS[s->solver].name;
    if (!name) {
        if (s->form) abut_ipc_unused(s, "constraintType", s->form_line);
        if (s->offset >= 0) abut_ipc_unused(s, "constraintOffset", s->offset_line);
        return;
    }
    const struct form *form = &FORMS[s->form ? s->form - 1 : 0];
    abut_make_text(&s->make, s->root, "solver", "%s", name);
    abut_tree *sqp = abut_make_map(&s->make, s->root, "sqp");
    abut_make_text(&s->make, sqp, "constraints", "%s", form->name);
    abut_make_number(&s->make, sqp, "offset", s->offset >= 0 ? s->offset : 0, "m");
    if (form->because) {
        snprintf(text, sizeof text, "constraintType %s: sqp.constraints %s; %s", form->word, form->name, form->because);
        abut_ipc_assume(s, text);
    }
    if (s->offset < 0) abut_ipc_assume(s, "sqp.offset 0 m: the script has no constraintOffset");
}
