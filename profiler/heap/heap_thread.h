/* SPDX-License-Identifier: MIT */
/* The tracker's state for each of the program's threads. */
#ifndef MEMLAG_HEAP_THREAD_H
#define MEMLAG_HEAP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* The C library places the thread-locals of a program and its initial libraries
 * consecutively, and rounds the sum up to this (x86-64). The padding, and some 1700
 * bytes, are available for libraries loaded later. */
enum { THREAD_LOCALS_UNIT_BYTES = 64 };

/* Per-thread state. Nothing else may be thread-local: one whole unit leaves as much
 * space for libraries loaded later as without the tracker. */
union heap_thread {
        struct {
                const void *call;    /* frame address of the current call: the tracked
                                        function that the program called; NULL: none */
                const void *returns; /* where to it will return */
                uint64_t position;   /* ring position of the wanted or reserved record */
                uint32_t record_bytes;
                uint32_t tid;
                uint32_t nested; /* calls within CALL */
                uint16_t image;  /* image of this tid: counts forks */
                bool writes;     /* a record, or wants to */
                uint8_t calls;   /* the tracker's system calls in progress */
        };
        char unit[THREAD_LOCALS_UNIT_BYTES];
};
_Static_assert(sizeof(union heap_thread) == THREAD_LOCALS_UNIT_BYTES,
               "thread-locals of one unit");
extern __thread union heap_thread heap_thread __attribute__((visibility("hidden")));

#endif
