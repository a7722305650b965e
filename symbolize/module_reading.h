/* SPDX-License-Identifier: MIT */
/* What is read of a module before its addresses can be named: the file, its symbols and
 * its debug information. */
#ifndef MEMLAG_SYMBOLIZE_MODULE_READING_H
#define MEMLAG_SYMBOLIZE_MODULE_READING_H

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
        enum module_state state;
        struct elf_file file; /* only when READY, as the rest */
        struct debug_info info;
        struct symbol_table symbols;
};

/* Opens MODULE's file, when it is the one that was mapped. 0 or -ENOMEM. */
int module_open_same(const struct module *module, struct elf_file *file,
                     enum module_state *state);

/* Reads MODULE. Where variables are is read WITH_LOCATIONS only. 0 or -ENOMEM; the caller
 * closes READING in any case. */
int module_reading_open(struct module_reading *reading, const struct module *module,
                        const struct debug_search *search, bool with_locations);
void module_reading_close(struct module_reading *reading);
/* Lets go of READING's debug information; its symbols stay. */
void module_reading_drop_dwarf(struct module_reading *reading);

#endif
