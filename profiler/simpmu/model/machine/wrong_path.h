/* SPDX-License-Identifier: MIT */
/* Loads that a core executes after a late misprediction. The core continues on the
 * wrong path. Where the wrong path joins the right one, it executes instructions that
 * the right path will execute, too. Loads whose addresses do not depend on the path
 * bring their lines before the branch executes. The model runs only the right path.
 * When it reaches such a load, it requests the line early, at the load's unobstructed
 * issue time. The branch must still be undecided then, and the reorder window must
 * reach the load.
 *
 * Not modelled: loads on the wrong path before the join. */
#ifndef SIMPMU_MODEL_WRONG_PATH_H
#define SIMPMU_MODEL_WRONG_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "code.h"
#include "hot.h"

struct access_site;
struct machine;
struct sim_thread;

/* A register's value at an exit depends on a mask of values (hot.h) at the previous
 * exit, or at the block's entry. */
struct code_transfer {
        struct code_transfer *next;
        uint32_t count;
        struct register_transfer {
                uint64_t on;
                uint32_t id;
        } each[];
};

/* An access to a word of the frame (code.h): a load, or a store whose value depends on
 * ON. */
struct frame_access {
        struct frame_access *next;
        const struct access_site *load; /* NULL: it is a store */
        uint64_t on;
        uint32_t at; /* instructions of the stretch before it */
        uint32_t word;
};

/* Instructions that are executed one after another, up to an exit of their block. */
struct code_stretch {
        struct code_transfer *transfers; /* at that exit and before, in order */
        struct frame_access *frame;      /* likewise */
        bool begins_block;
        uint32_t count;
        uint32_t instructions[]; /* their numbers */
};

/* The branch that was predicted wrongly, how it has been predicted, and the stretch that
 * ends with it. */
struct wrong_branch {
        const struct code_stretch *stretch;
        const struct code_meeting *meeting;
        bool predicted;   /* taken */
        uint64_t decided; /* when it turns out */
};

/* The wrong path of a thread. Instructions and times are counted as if the thread ran
 * the wrong path. */
struct wrong_path {
        bool followed;
        bool met;     /* from instruction MET_AT on; else MEETING is still to come */
        bool tainted; /* CHANGED is, in READY */
        bool over;    /* nothing more can be requested before the branch is decided */
        const struct code_stretch *stretch; /* whose end has not been reached */
        uint64_t changed;                   /* registers, before the paths join */
        uint64_t stored;                    /* words of the frame, likewise */
        uint64_t kept;                    /* part of CHANGED, kept over STRETCH */
        const struct frame_access *frame; /* the next of STRETCH */
        uint64_t begun;                   /* instructions before STRETCH */
        uint64_t branch; /* instructions up to the last one predicted wrongly */
        uint64_t met_at;
        uint64_t end;   /* the last instruction that the window has room for */
        uint64_t ahead; /* wrong-path less right-path instructions */
        uint64_t decided;
        uint64_t stall;
        uint64_t window_next; /* the first access that may still stall the wrong path */
        uint32_t meeting;
        uint32_t wrong_length;
        uint64_t ready[VALUES];            /* NEVER: not while the branch is undecided */
        uint64_t frame_ready[FRAME_WORDS]; /* the same for words of the frame */
};

/* The least delay of a branch's execution after its prediction that makes its wrong
 * path worth following. */
uint64_t wrong_path_least(const struct machine *machine);

/* BRANCH, the last instruction counted, was predicted wrongly; goes before the thread
 * waits for it. */
void wrong_path_begin(struct sim_hot *hot, struct sim_thread *thread,
                      const struct wrong_branch *branch);
/* The same for a branch that executes soon. */
void wrong_path_go_on(struct sim_hot *hot, struct sim_thread *thread,
                      const struct wrong_branch *branch);

/* Nothing is followed any more. */
void wrong_path_end(struct sim_hot *hot, struct sim_thread *thread);

/* STRETCH comes next, where one is followed. */
void wrong_path_stretch(struct sim_hot *hot, struct sim_thread *thread,
                        const struct code_stretch *stretch);

/* The same for a load, before it is modelled. True: the line was late on the wrong
 * path; the load must stay out of the filters. */
bool wrong_path_load(struct machine *machine, struct sim_hot *hot,
                     struct sim_thread *thread, const struct access_site *site,
                     uint64_t address);

#endif
