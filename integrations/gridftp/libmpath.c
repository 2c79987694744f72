/* Announces each TCP connection to a Braid controller before it opens, for programs that know nothing of it.
 *
 * Loaded with LD_PRELOAD. From the environment:
 *   MPATH_ASSIGNMENT_ID  the assignment whose paths connections take, as assign_mpath prints it
 *   MPATH_PATHS          without an id: so many paths are set aside for each destination, when it is first connected to
 *   MPATH_CONTROLLER     HOST:PORT of the controller's HTTP port, 127.0.0.1:8653 by default
 *   MPATH_EXCEPT         TCP ports, with commas between them, to which connections are left alone; 2811 by default, on which GridFTP
 *                        is told what to do
 *
 * A connection that the controller does not place opens all the same, and goes the way of all others. */

#define _GNU_SOURCE

#include "mpath.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FDS 65536
#define MAX_PEERS 64

struct ends {
    pid_t opener; /* children inherit the connection, and close their copy of it */
    char id[32];
    char src[INET6_ADDRSTRLEN], src_port[8], dst[INET6_ADDRSTRLEN], dst_port[8];
};

/* An assignment that was made here, and for which destination. */
struct peer {
    char dst[INET6_ADDRSTRLEN], id[32];
};

static mpath_connector *real_connect;
static int (*real_close)(int);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ends *placed[MAX_FDS];
static struct peer peers[MAX_PEERS];
static size_t peer_count;
static int is_away, has_warned;

__attribute__((constructor)) static void find_real(void)
{
    real_connect = (mpath_connector *)dlsym(RTLD_NEXT, "connect");
    real_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
}

static void warn_once(const char *why)
{
    if (!__atomic_exchange_n(&has_warned, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "mpath: %s. Connections go the way of all others.\n", why);
}

static enum mpath_outcome call(const char *method, const char *const *parameters, size_t count, char *answer, size_t size)
{
    const char *controller = getenv("MPATH_CONTROLLER");
    char host[256] = "127.0.0.1", port[8] = "8653";
    const char *colon = controller ? strrchr(controller, ':') : NULL;
    if (colon) {
        int bracketed = controller[0] == '[' && colon[-1] == ']';
        snprintf(host, sizeof host, "%.*s", (int)(colon - controller) - 2 * bracketed, controller + bracketed);
        snprintf(port, sizeof port, "%s", colon + 1);
    }
    enum mpath_outcome outcome = mpath_call(real_connect, host, port, method, parameters, count, answer, size);
    if (outcome == MPATH_AWAY)
        __atomic_store_n(&is_away, 1, __ATOMIC_RELAXED);
    return outcome;
}

/* The address in text, as IPv4 if it is one in disguise; returns the port, 0 if it is none of the internet's. */
static uint16_t describe(const struct sockaddr_storage *address, char *text)
{
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &v4->sin_addr, text, INET6_ADDRSTRLEN);
        return ntohs(v4->sin_port);
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    if (address->ss_family != AF_INET6)
        return 0;
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text, INET6_ADDRSTRLEN);
    else
        inet_ntop(AF_INET6, &v6->sin6_addr, text, INET6_ADDRSTRLEN);
    return ntohs(v6->sin6_port);
}

static int is_except(unsigned port)
{
    const char *list = getenv("MPATH_EXCEPT");
    for (const char *at = list ? list : "2811"; *at;) {
        char *end;
        if (strtoul(at, &end, 10) == port && end != at)
            return 1;
        at = end + strcspn(end, ",");
        at += *at == ',';
    }
    return 0;
}

/* Gives a socket the address and port from which it will connect; the kernel would do it a moment later. */
static int bind_early(int fd, const struct sockaddr *address, socklen_t length, struct sockaddr_storage *local)
{
    socklen_t size = sizeof *local;
    uint16_t bound = 0;
    char text[INET6_ADDRSTRLEN];
    if (getsockname(fd, (struct sockaddr *)local, &size) == 0)
        bound = describe(local, text);
    if (bound)
        return 1;
    /* A datagram socket shows which address the route to there has, and sends nothing. */
    int probe = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    size = sizeof *local;
    int known = probe >= 0 && real_connect(probe, address, length) == 0 && getsockname(probe, (struct sockaddr *)local, &size) == 0;
    if (probe >= 0)
        real_close(probe);
    if (!known)
        return 0;
    if (local->ss_family == AF_INET)
        ((struct sockaddr_in *)local)->sin_port = 0;
    else
        ((struct sockaddr_in6 *)local)->sin6_port = 0;
    if (bind(fd, (struct sockaddr *)local, size) != 0)
        return 0;
    size = sizeof *local;
    return getsockname(fd, (struct sockaddr *)local, &size) == 0;
}

/* The assignment for a destination: the given one, or one that is made here. */
static int find_assignment(struct ends *ends)
{
    const char *id = getenv("MPATH_ASSIGNMENT_ID"), *paths = getenv("MPATH_PATHS");
    if (id && *id) {
        snprintf(ends->id, sizeof ends->id, "%s", id);
        return 1;
    }
    if (!paths)
        return 0;
    for (size_t at = 0; at < peer_count; at++)
        if (strcmp(peers[at].dst, ends->dst) == 0) {
            memcpy(ends->id, peers[at].id, sizeof ends->id);
            return 1;
        }
    char answer[4096];
    /* Which interface it is follows from the address. */
    const char *parameters[] = {ends->src, "00:00:00:00:00:00", ends->dst, paths};
    if (call("AssignMultipath", parameters, 4, answer, sizeof answer) != MPATH_DONE) {
        warn_once(answer);
        return 0;
    }
    if (!mpath_member(answer, "id", ends->id, sizeof ends->id))
        return 0;
    if (peer_count < MAX_PEERS) {
        struct peer *peer = &peers[peer_count++];
        memcpy(peer->dst, ends->dst, sizeof peer->dst);
        memcpy(peer->id, ends->id, sizeof peer->id);
    }
    return 1;
}

static void announce(int fd, const struct sockaddr *address, socklen_t length)
{
    struct sockaddr_storage remote = {0}, local = {0};
    struct ends ends = {.opener = getpid()};
    if (length > sizeof remote)
        return;
    memcpy(&remote, address, length);
    uint16_t dst_port = describe(&remote, ends.dst);
    if (dst_port == 0 || is_except(dst_port) || !bind_early(fd, address, length, &local))
        return;
    uint16_t src_port = describe(&local, ends.src);
    snprintf(ends.src_port, sizeof ends.src_port, "%u", src_port);
    snprintf(ends.dst_port, sizeof ends.dst_port, "%u", dst_port);
    /* What stays on this machine needs no path. */
    if (strcmp(ends.src, ends.dst) == 0)
        return;
    pthread_mutex_lock(&lock);
    int found = find_assignment(&ends);
    pthread_mutex_unlock(&lock);
    if (!found)
        return;
    char answer[4096];
    const char *parameters[] = {ends.id, ends.src, ends.src_port, ends.dst, ends.dst_port};
    if (call("MakePath", parameters, 5, answer, sizeof answer) != MPATH_DONE) {
        warn_once(answer);
        return;
    }
    struct ends *copy = fd < MAX_FDS ? malloc(sizeof *copy) : NULL;
    if (copy) {
        *copy = ends;
        free(__atomic_exchange_n(&placed[fd], copy, __ATOMIC_ACQ_REL));
    }
}

static int is_tcp(int fd)
{
    int type = 0, protocol = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
        return 0;
    size = sizeof protocol;
    return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 && protocol == IPPROTO_TCP;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int wanted = getenv("MPATH_ASSIGNMENT_ID") || getenv("MPATH_PATHS");
    int away = __atomic_load_n(&is_away, __ATOMIC_RELAXED);
    /* A program that asks again whether its connection is open has announced it. */
    int known = fd >= 0 && fd < MAX_FDS && __atomic_load_n(&placed[fd], __ATOMIC_ACQUIRE);
    if (wanted && !away && !known && address && length >= sizeof(sa_family_t) && is_tcp(fd))
        announce(fd, address, length);
    return real_connect(fd, address, length);
}

/* Says that a connection has ended; else the controller forgets it when it has been idle for a while. */
static void forget(int fd)
{
    struct ends *ends = fd >= 0 && fd < MAX_FDS ? __atomic_exchange_n(&placed[fd], NULL, __ATOMIC_ACQ_REL) : NULL;
    if (!ends)
        return;
    char answer[4096];
    const char *parameters[] = {ends->id, ends->src, ends->src_port, ends->dst, ends->dst_port};
    if (ends->opener == getpid() && !__atomic_load_n(&is_away, __ATOMIC_RELAXED))
        call("EndPath", parameters, 5, answer, sizeof answer);
    free(ends);
}

int close(int fd)
{
    int result = real_close(fd), why = errno;
    forget(fd);
    errno = why;
    return result;
}

/* Programs leave it to their end to close what they keep for later. */
__attribute__((destructor)) static void forget_all(void)
{
    for (int fd = 0; fd < MAX_FDS; fd++)
        if (__atomic_load_n(&placed[fd], __ATOMIC_RELAXED))
            forget(fd);
}
