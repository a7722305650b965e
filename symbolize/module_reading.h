/* SPDX-License-Identifier: MIT */
/* What is read of a module before its addresses can be named: the file, its symbols and
 * its debug information; in a thread of its own when there is time before it is needed.
 */
#ifndef MEMLAG_SYMBOLIZE_MODULE_READING_H
#define MEMLAG_SYMBOLIZE_MODULE_READING_H

#include <pthread.h>

#include "module.h"

/* The debug information of FILE: its own or a separate file's, opened as DEBUG. */
struct debug_info {
        struct elf_file debug;
        struct elf_file alt;
        struct dwarf_file dwarf;
        bool has_debug;
        bool has_alt;
        bool needs_alt;
        bool has_dwarf;
        bool too_large;
        bool debug_of_others; /* the separate files that there are */
        bool damaged;
        bool no_memory; /* for it; what of it is there was let go of */
};

struct module_reading {
        const struct module *module;
        const struct debug_search *search;
        bool with_locations;
        bool ahead;
        bool in_thread;
        pthread_t thread;
        /* what was read */
        enum module_state state;
        struct elf_file file; /* only when READY, as the rest */
        struct debug_info info;
        struct symbol_table symbols;
        int error;
};

/* Opens MODULE's file, when it is the one that was mapped. 0 or -ENOMEM. */
int module_open_same(const struct module *module, struct elf_file *file,
                     enum module_state *state);

/* Begins to read MODULE, which must stay as it is; AHEAD: in another thread. Where
 * variables are is read WITH_LOCATIONS only. 0 or -ENOMEM. */
int module_reading_begin(struct module_reading **reading, const struct module *module,
                         const struct debug_search *search, bool with_locations,
                         bool ahead);
/* Waits until it is read. 0 or -ENOMEM. */
int module_reading_wait(struct module_reading *reading);
void module_reading_end(struct module_reading *reading);
/* The same in another thread, THREAD, where it can be had: true when that is to be
 * joined. What READING's module is must stay until then. */
bool module_reading_end_aside(struct module_reading *reading, pthread_t *thread);
/* Lets go of READING's debug information; its symbols stay. */
void module_reading_drop_dwarf(struct module_reading *reading);

#endif
