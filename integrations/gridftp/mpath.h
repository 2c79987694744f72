/* Calls of a Braid controller, over XML-RPC: the two of Huang et al. (2017), and one to say that a connection has ended. */

#ifndef MPATH_H
#define MPATH_H

#include <stddef.h>
#include <sys/socket.h>

/* How long a controller may take for an answer. It waits itself for its switches, 4 s at most. */
#define MPATH_PATIENCE_SECONDS 5

enum mpath_outcome {
    MPATH_DONE,    /* the answer is there */
    MPATH_REFUSED, /* the controller says why not */
    MPATH_AWAY     /* nobody answers there, or not in time */
};

/* How connections to the controller are opened: connect(2), unless that is what is being watched. */
typedef int mpath_connector(int socket, const struct sockaddr *address, socklen_t length);

/* Calls a method with text parameters. On MPATH_DONE `answer` holds the response; else the reason, in words. */
enum mpath_outcome mpath_call(mpath_connector *connector, const char *host, const char *port, const char *method,
                              const char *const *parameters, size_t count, char *answer, size_t size);

/* Copies the text of a member of a response's struct; returns whether there is one that fits. */
int mpath_member(const char *response, const char *name, char *value, size_t size);

#endif
