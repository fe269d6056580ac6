/* Connections to a server of this machine, and the address by which others would reach it. For
 * tests only. */
#ifndef BRIO_TEST_LOOPBACK_H
#define BRIO_TEST_LOOPBACK_H

#include "program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* -1: nobody listens there. Nothing is waited for longer than half a minute. */
static inline int connect_to(in_addr_t machine, int port)
{
    struct sockaddr_in place = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {machine}};
    int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(client >= 0);
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 30},
               sizeof(struct timeval));
    if (connect(client, (struct sockaddr *)&place, sizeof place) == 0) return client;
    close(client);
    return -1;
}

/* Nobody can connect from outside. Nothing is sent to find out. */
static inline void expect_closed_to_others(int port)
{
    struct sockaddr_in own = {0};
    socklen_t size = sizeof own;
    int other = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in far = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(0xc0000201)}};
    if (connect(other, (struct sockaddr *)&far, sizeof far) == 0 &&
        getsockname(other, (struct sockaddr *)&own, &size) == 0)
        assert_int_equal(connect_to(own.sin_addr.s_addr, port), -1);
    else
        print_message("this machine has no other address to try\n");
    close(other);
}

#endif
