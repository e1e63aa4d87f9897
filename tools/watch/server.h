/* A server on the loopback address, in a thread of its own: answers requests for what is on a board. */
#ifndef ABUT_TOOLS_WATCH_SERVER_H
#define ABUT_TOOLS_WATCH_SERVER_H

#include "tools/watch/board.h"

typedef struct abut_server abut_server;

/** Listens at 127.0.0.1.  port: 0 for any that is free; *at: which it is.  Borrows the board.
 * Fails  ABUT_E_IO the port is taken, or not to be had */
ABUT_MUST_USE abut_status abut_server_start(abut_board *b, int port, int *at, abut_server **s, abut_err *err);
/** Seconds since the last request that is served came, or took a part of its answer; infinite before the first.  Requests that
 * are refused do not count. */
double abut_server_idle(abut_server *s);
/** Ends the thread at once; requests in progress are dropped. */
void abut_server_stop(abut_server **s);

#endif
