/* SPDX-License-Identifier: MIT */
/* Branch prediction: the direction of conditional ones and the target of indirect
 * ones. Knows nothing of time, nor of how branches are written.
 *
 * Directions are predicted after TAGE (A. Seznec and P. Michaud, "A case for
 * (partially) tagged geometric history length branch prediction", JILP 8, 2006). A
 * counter belongs to each branch; tagged tables are indexed by the branch and by
 * histories of growing length. The matching table with the longest history predicts.
 * Targets are predicted likewise (ITTAGE), from the history of targets.
 *
 * A branch with a long run of equal outcomes is settled. It is predicted to repeat,
 * and is neither looked up nor part of the history until its outcome changes.
 * Generated code tests settled branches itself. */
#ifndef SIMPMU_MODEL_BRANCH_H
#define SIMPMU_MODEL_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#define BRANCH_TABLES         4u
#define BRANCH_TABLE_ENTRIES  2048u
#define BRANCH_TARGET_TABLES  3u
#define BRANCH_TARGET_ENTRIES 512u
#define BRANCH_NEW            128u       /* look-ups in which a branch is learnt */
#define BRANCH_UNSETTLED      UINT64_MAX /* neither a direction nor a target */

struct branch_counter {
        uint16_t tag;
        int8_t counter; /* taken from 0 on */
        uint8_t useful;
};

struct branch_target {
        uint64_t target;
        uint16_t tag;
        uint8_t confidence;
};

/* Of a core; all zero at first. */
struct branch_predictor {
        uint64_t directions; /* the history, the last branch in the lowest bit */
        uint64_t targets;
        struct branch_counter tables[BRANCH_TABLES][BRANCH_TABLE_ENTRIES];
        struct branch_target target_tables[BRANCH_TARGET_TABLES][BRANCH_TARGET_ENTRIES];
};

/* A branch of the program, and how it went by itself. */
struct branch {
        uint64_t settled;   /* the direction (0 or 1) or target that it always has */
        uint64_t key;       /* of the branch's address, see branch_init */
        uint64_t last;      /* direction or target */
        uint32_t run;       /* times that it has been LAST in a row */
        uint16_t needed;    /* required run, to be settled */
        uint16_t looked_up; /* times, up to BRANCH_NEW */
        int8_t counter;     /* taken from 0 on */
};

/* A branch at the address IP that has not been executed yet. */
void branch_init(struct branch *branch, uint64_t ip);

/* BRANCH is taken or not. Returns whether the core has predicted that. */
bool branch_direction(struct branch_predictor *predictor, struct branch *branch,
                      bool taken);

/* BRANCH goes to TARGET. Returns whether the core has predicted that. */
bool branch_target(struct branch_predictor *predictor, struct branch *branch,
                   uint64_t target);

#endif
