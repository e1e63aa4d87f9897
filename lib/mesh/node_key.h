/* Key of a node of a tet of order 1 to 4: equal in all tets that share the node.
 *
 * A node at the barycentric point a/k is on the corners c with a_c > 0: its key is the list of those corners with their a_c, by
 * ascending corner.  A corner has the key (itself, k), a node of an edge two corners, of a face three, of the interior four. */
#ifndef ABUT_MESH_NODE_KEY_H
#define ABUT_MESH_NODE_KEY_H

#include <stdint.h>

typedef struct abut_node_key {
    int32_t corner[4];          /* ascending; unused ones -1, at the end */
    signed char weight[4];      /* of those, 0 unused; their sum is the order */
} abut_node_key;

/** The key of the node a of a tet with these corners, any numbers that name them. */
abut_node_key abut_node_key_of(const int32_t corner[4], const signed char a[4]);

/** Number of corners of the key: 1 to 4. */
int abut_node_key_size(const abut_node_key *k);

/** < 0, 0, > 0: corners before edges, faces and the interior; among equal sizes by corners, then by weights of the first, ... */
int abut_node_key_compare(const abut_node_key *a, const abut_node_key *b);

#endif
