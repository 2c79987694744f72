#include "mpath.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_BODY 4096
#define MAX_RESPONSE 65536

/* Copies `text` with what XML reserves escaped; returns whether it fits. */
static int escape(char *out, size_t size, const char *text)
{
    size_t used = 0;
    for (; *text; text++) {
        char plain[2] = {*text, 0};
        const char *piece = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : plain;
        size_t length = strlen(piece);
        if (used + length >= size)
            return 0;
        memcpy(out + used, piece, length);
        used += length;
    }
    out[used] = 0;
    return 1;
}

/* Writes the call into `body`; returns its length, or 0 if it is too long. */
static size_t write_call(char *body, const char *method, const char *const *parameters, size_t count)
{
    size_t used = (size_t)snprintf(body, MAX_BODY, "<?xml version=\"1.0\"?><methodCall><methodName>%s</methodName><params>", method);
    for (size_t at = 0; at < count; at++) {
        char text[256];
        if (!escape(text, sizeof text, parameters[at]))
            return 0;
        int more = snprintf(body + used, MAX_BODY - used, "<param><value><string>%s</string></value></param>", text);
        if (more < 0 || (used += (size_t)more) >= MAX_BODY)
            return 0;
    }
    int more = snprintf(body + used, MAX_BODY - used, "</params></methodCall>");
    return more < 0 || used + (size_t)more >= MAX_BODY ? 0 : used + (size_t)more;
}

/* A connection to the controller, or -1 with errno. */
static int dial(mpath_connector *connector, const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
    if (getaddrinfo(host, port, &hints, &all) != 0) {
        errno = EHOSTUNREACH;
        return -1;
    }
    struct timeval patience = {.tv_sec = MPATH_PATIENCE_SECONDS};
    int fd = -1;
    for (struct addrinfo *it = all; it; it = it->ai_next) {
        fd = socket(it->ai_family, it->ai_socktype | SOCK_CLOEXEC, it->ai_protocol);
        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connector(fd, it->ai_addr, it->ai_addrlen) == 0)
            break;
        int why = errno;
        close(fd);
        fd = -1;
        errno = why;
    }
    freeaddrinfo(all);
    return fd;
}

static int send_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return 0;
        bytes += sent;
        length -= (size_t)sent;
    }
    return 1;
}

/* Reads until the controller closes; returns the length, or -1. */
static ssize_t receive_all(int fd, char *bytes, size_t size)
{
    size_t used = 0;
    while (used + 1 < size) {
        ssize_t got = recv(fd, bytes + used, size - used - 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    bytes[used] = 0;
    return (ssize_t)used;
}

static int exchange(int fd, const char *host, const char *body, size_t length, char *response)
{
    char head[1024];
    const char *token = getenv("MPATH_TOKEN");
    int has_token = token && *token && !strpbrk(token, "\r\n");
    int size = snprintf(head, sizeof head,
                        "POST /RPC2 HTTP/1.0\r\nHost: %s\r\nContent-Type: text/xml\r\nContent-Length: %zu\r\n%s%s%s\r\n", host,
                        length, has_token ? "Authorization: Bearer " : "", has_token ? token : "", has_token ? "\r\n" : "");
    if (size < 0 || (size_t)size >= sizeof head)
        return 0;
    return send_all(fd, head, (size_t)size) && send_all(fd, body, length) && receive_all(fd, response, MAX_RESPONSE) > 0;
}

enum mpath_outcome mpath_call(mpath_connector *connector, const char *host, const char *port, const char *method,
                              const char *const *parameters, size_t count, char *answer, size_t size)
{
    char body[MAX_BODY];
    size_t length = write_call(body, method, parameters, count);
    if (length == 0) {
        snprintf(answer, size, "the parameters are too long");
        return MPATH_REFUSED;
    }
    int fd = dial(connector, host, port);
    char *response = malloc(MAX_RESPONSE);
    int done = fd >= 0 && response && exchange(fd, host, body, length, response);
    int why = errno;
    if (fd >= 0)
        close(fd);
    enum mpath_outcome outcome = MPATH_REFUSED;
    if (!done) {
        snprintf(answer, size, "no answer from the controller at %s port %s: %s", host, port, why ? strerror(why) : "it said nothing");
        outcome = MPATH_AWAY;
    } else if (strncmp(response, "HTTP/1.", 7) != 0 || strncmp(response + 8, " 200", 4) != 0) {
        snprintf(answer, size, "the controller at %s port %s says: %.*s", host, port, (int)strcspn(response, "\r\n"), response);
    } else if (strstr(response, "<fault>")) {
        if (!mpath_member(response, "faultString", answer, size))
            snprintf(answer, size, "the controller refuses");
    } else {
        snprintf(answer, size, "%s", response);
        outcome = MPATH_DONE;
    }
    free(response);
    return outcome;
}

int mpath_member(const char *response, const char *name, char *value, size_t size)
{
    char tag[64];
    snprintf(tag, sizeof tag, "<name>%s</name><value><", name);
    const char *type = strstr(response, tag);
    const char *from = type ? strchr(type + strlen(tag), '>') : NULL;
    const char *to = from ? strchr(from, '<') : NULL;
    size_t length = to ? (size_t)(to - from - 1) : size;
    if (length >= size)
        return 0;
    memcpy(value, from + 1, length);
    value[length] = 0;
    return 1;
}
