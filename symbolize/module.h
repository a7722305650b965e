/* SPDX-License-Identifier: MIT */
/* A file that was mapped while the program ran: whether it is still the same, and the
 * names of its addresses. */
#ifndef MEMLAG_SYMBOLIZE_MODULE_H
#define MEMLAG_SYMBOLIZE_MODULE_H

#include "accesses.h"
#include "code_names.h"
#include "data.h"
#include "debug_file.h"
#include "module_file.h"

enum module_state {
        MODULE_READY,
        MODULE_MISSING, /* gone or not readable */
        MODULE_NOT_ELF,
        MODULE_CHANGED, /* another file than at the time of recording */
        MODULE_KALLSYMS /* of the kernel, which a list of its symbols names */
};

struct module {
        int64_t module_id;
        struct module_identity wanted;

        enum module_state state;
        bool verified;          /* it is the recorded one */
        bool too_large;         /* its debug information, when unpacked */
        bool debug_of_others;   /* its separate debug files are other builds' */
        bool damaged;           /* its debug information; there is no other */
        bool too_costly;        /* the debug information was read in part */
        bool no_memory;         /* for the debug information: names come from symbols */
        bool alt_missing;       /* the alternate file of dwz is gone or damaged */
        size_t splits_missing;  /* units whose files are gone or have changed */
        size_t splits_too_many; /* units beyond the capacity */
        struct elf_file file;   /* detached; only when READY */
        const struct module_search *files; /* where to look; NULL: only at its path */
        bool thread_memory_late;           /* may be allocated at its first use */
        bool kernel;
        uint64_t kernel_text; /* virtual address of _text in its file; only when READY */
};

/* Finds the file, compares it with the record and reads its segments. The caller has set
 * WANTED and FILES. Sets STATE. 0 or -ENOMEM. */
int module_check(struct module *module);

/* Frees WANTED and FILE. FILES stays the caller's. */
void module_close(struct module *module);

/* Parts of MODULE's data whose addresses all have the same answer. Each named symbol is a
 * part; without debug information the rest of each section is another one. SEARCH tells
 * where debug files are. The caller frees PARTS. No parts where the file is not READY. 0
 * or -ENOMEM. */
int module_data_parts(const struct module *module, const struct debug_search *search,
                      struct range_map *parts);

/* Places of one module, as lists of pointers whose order may change. */
struct module_questions {
        LIST(struct code_place *) code;
        LIST(struct data_place *) data;
        LIST(struct access *) accesses; /* some of CODE's */
};

/* Where the names go. */
struct module_answers {
        struct string_pool *names;
        struct code_frames *frames;
        struct types *types;
};

/* Answers QUESTIONS about MODULE (READY). If memory does not suffice for the debug
 * information, symbols alone give the answers, or there are none. MODULE notes that. */
void module_name(struct module *module, const struct debug_search *search,
                 const struct module_questions *questions,
                 const struct module_answers *answers);

#endif
