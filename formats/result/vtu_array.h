/* One DataArray of a VTK XML file: inline base64 of zlib blocks (vtkZLibDataCompressor, header of 64-bit counts). */
#ifndef ABUT_FORMATS_RESULT_VTU_ARRAY_H
#define ABUT_FORMATS_RESULT_VTU_ARRAY_H

#include "base/array.h"

#include <stdio.h>

/** Writes n rows of `width` numbers of that type.  Fails  ABUT_E_NOMEM; write errors stay with f */
ABUT_MUST_USE abut_status abut_vtu_array(FILE *f, const char *name, abut_dtype type, const void *data, size_t n,
                                         size_t width, abut_err *err);

/** The first lines of a file of that type ("UnstructuredGrid"). */
void abut_vtu_head(FILE *f, const char *type);

#endif
