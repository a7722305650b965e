/* SPDX-License-Identifier: MIT */
/* What the tracker keeps for each of the program's threads. */
#ifndef MEMLAG_HEAP_THREAD_H
#define MEMLAG_HEAP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* The C library lays the thread-locals of a program and of the libraries it starts with
 * one behind the other, and rounds their sum up to this (x86-64). What rounding adds, and
 * some 1700 bytes, are for libraries loaded later. */
enum { THREAD_LOCALS_UNIT_BYTES = 64 };

/* What is kept for each thread. Nothing else may be thread-local: one whole unit leaves
 * as much for libraries loaded later as there is without the tracker. */
union heap_thread {
        struct {
                const void *call;    /* frame address of the tracked function that the
                                        program called and that is under way; NULL: none */
                const void *returns; /* where to it will return */
                uint64_t position;   /* in the ring, of the place that it wants or has */
                uint32_t record_bytes;
                uint32_t tid;
                uint32_t nested; /* calls within CALL */
                uint16_t image;  /* in which it has this tid: counts forks */
                bool writes;     /* a record, or wants to */
                uint8_t calls;   /* the tracker's system calls that it is in */
        };
        char unit[THREAD_LOCALS_UNIT_BYTES];
};
_Static_assert(sizeof(union heap_thread) == THREAD_LOCALS_UNIT_BYTES,
               "thread-locals of one unit");
extern __thread union heap_thread heap_thread __attribute__((visibility("hidden")));

#endif
