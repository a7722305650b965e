/* SPDX-License-Identifier: MIT */
/* What a core loads after a wrong prediction that turns out late. It goes on along the
 * wrong way, and where that meets the right one again it executes what the right one will
 * execute, too: loads whose addresses do not depend on the way bring their lines before
 * the branch is decided. The model runs the right way alone, so that these loads are
 * asked for ahead when it comes to them: at the time at which they would have issued had
 * nothing held them up, while the branch is not decided and the reorder window reaches.
 *
 * Not modelled: loads on the wrong way before the ways meet. */
#ifndef SIMPMU_MODEL_WRONG_PATH_H
#define SIMPMU_MODEL_WRONG_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "code.h"
#include "hot.h"

struct access_site;
struct machine;
struct sim_thread;

/* What registers hold at an exit depends on a mask of values (hot.h) as they were at the
 * exit before it, or at the block's entry. */
struct code_transfer {
        struct code_transfer *next;
        uint32_t count;
        struct register_transfer {
                uint64_t on;
                uint32_t id;
        } each[];
};

/* An access to a word of the frame (code.h): a load, or a store of what depends on ON. */
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

/* Of a thread. Instructions and times are as the thread would count them on the wrong
 * way. */
struct wrong_path {
        bool followed;
        bool met;     /* from instruction MET_AT on; else MEETING is still to come */
        bool tainted; /* CHANGED is, in READY */
        bool over;    /* nothing more can be asked for before the branch is decided */
        const struct code_stretch *stretch; /* whose end has not been reached */
        uint64_t changed;                   /* registers, before the ways meet */
        uint64_t stored;                    /* words of the frame, likewise */
        uint64_t kept;                    /* of CHANGED, what does not come in STRETCH */
        const struct frame_access *frame; /* the next of STRETCH */
        uint64_t begun;                   /* instructions before STRETCH */
        uint64_t branch; /* instructions up to the last one predicted wrongly */
        uint64_t met_at;
        uint64_t end;   /* the last instruction that the window has room for */
        uint64_t ahead; /* instructions of the wrong way less those of the right */
        uint64_t decided;
        uint64_t stall;
        uint64_t window_next; /* the first access that may still hold the wrong way up */
        uint32_t meeting;
        uint32_t wrong_length;
        uint64_t ready[VALUES];            /* NEVER: not while the branch is undecided */
        uint64_t frame_ready[FRAME_WORDS]; /* the same of what is stored there */
};

/* How much later than it was predicted a branch has to turn out for its wrong way to be
 * worth following. */
uint64_t wrong_path_least(const struct machine *machine);

/* BRANCH, the last instruction counted, was predicted wrongly; goes before the thread
 * waits for it. */
void wrong_path_begin(struct sim_hot *hot, struct sim_thread *thread,
                      const struct wrong_branch *branch);
/* The same of one that turns out soon. */
void wrong_path_go_on(struct sim_hot *hot, struct sim_thread *thread,
                      const struct wrong_branch *branch);

/* Nothing is followed any more. */
void wrong_path_end(struct sim_hot *hot, struct sim_thread *thread);

/* STRETCH comes next, where one is followed. */
void wrong_path_stretch(struct sim_hot *hot, struct sim_thread *thread,
                        const struct code_stretch *stretch);

/* The same of a load, before it is modelled. True: its line had not come when it was
 * wanted on the wrong way, and has to be kept out of the filters. */
bool wrong_path_load(struct machine *machine, struct sim_hot *hot,
                     struct sim_thread *thread, const struct access_site *site,
                     uint64_t address);

#endif
