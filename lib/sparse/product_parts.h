/* Members of a product, for product.c and product_read.c. */
#ifndef ABUT_SPARSE_PRODUCT_PARTS_H
#define ABUT_SPARSE_PRODUCT_PARTS_H

#include "sparse/product.h"

/* The corners of one set by the rows of the matrix, or of vertices that its map has. */
typedef struct set_corners {
    int32_t rows;
    const abut_row_map *map;    /* NULL: rows of the matrix; a map that selects is not kept either */
    int32_t *row;               /* [n * corners] */
    size_t *first;              /* [rows + 1] */
    uint32_t *corner;           /* of row r: first[r] .. first[r+1], ascending */
    double *force;              /* [3 n corners] of each corner; of stored terms of rank one s v . x, [n rank] */
    double *x, *y;              /* [3 rows] on vertices; NULL without a map */
} set_corners;

struct abut_product {
    int32_t n;
    int nsets, summed;          /* sets; those before number `summed` are in S */
    abut_bsr S;                 /* the diagonal with them; summed 0: empty */
    set_corners set[ABUT_SETS_MAX];     /* of those in S rows alone */
    abut_elements elements[ABUT_SETS_MAX];
    const double *diag;         /* diagonal not in S */
};

#endif
