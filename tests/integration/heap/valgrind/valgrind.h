/* SPDX-License-Identifier: MIT */
/* Stands in for Valgrind's header when the tests build the tracker: requests go to
 * probe.c, as if the program ran inside the simulated PMU. */
#ifndef HEAP_TEST_VALGRIND_H
#define HEAP_TEST_VALGRIND_H

unsigned long heap_probe_request(unsigned long request, unsigned long first,
                                 unsigned long second, unsigned long third);

#define VG_USERREQ_TOOL_BASE(a, b) 0u
#define VALGRIND_DO_CLIENT_REQUEST_EXPR(otherwise, request, a, b, c, d, e)               \
        heap_probe_request((request), (unsigned long)(a), (unsigned long)(b),            \
                           (unsigned long)(c))
#define HEAP_REQUEST(words)                                                              \
        ((void)heap_probe_request((words)[0], (words)[1], (words)[2], (words)[3]))

#endif
