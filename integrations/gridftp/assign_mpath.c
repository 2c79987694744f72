/* Asks a controller to set paths aside, and prints the assignment's id and how many there are. */

#include "mpath.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
    if (count < 7 || count > 8) {
        fprintf(stderr,
                "usage: %s CONTROLLER PORT SRC_IP SRC_MAC DST_IP PATHS [STREAMS]\n"
                "Prints the id of the assignment and the number of its paths.\n",
                arguments[0]);
        return 2;
    }
    char answer[4096], id[32], paths[16];
    const char *const *parameters = (const char *const *)arguments + 3;
    enum mpath_outcome outcome =
        mpath_call(connect, arguments[1], arguments[2], "AssignMultipath", parameters, (size_t)count - 3, answer, sizeof answer);
    if (outcome != MPATH_DONE) {
        fprintf(stderr, "%s: %s\n", arguments[0], answer);
        return 1;
    }
    if (!mpath_member(answer, "id", id, sizeof id) || !mpath_member(answer, "paths", paths, sizeof paths)) {
        fprintf(stderr, "%s: the controller's answer names no id\n", arguments[0]);
        return 1;
    }
    if (atol(paths) < atol(arguments[6]))
        fprintf(stderr, "%s: there are no more paths of use than %s\n", arguments[0], paths);
    printf("%s %s\n", id, paths);
    return 0;
}
