/* Report of mesh-prep on primitives that cannot be simulated. */
#ifndef ABUT_TOOLS_MESH_PREP_REPORT_H
#define ABUT_TOOLS_MESH_PREP_REPORT_H

#include "model/naming.h"
#include "tools/cli/cli.h"

/** Lists the first 20 on stderr and writes all that were kept to `path` as an OBJ mesh (NULL: not wanted); a failure to
 * write replaces the error in err. */
void abut_prep_report(const abut_cli *cli, const abut_offenders *bad, const char *path, abut_err *err);

#endif
