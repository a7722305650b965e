/* SPDX-License-Identifier: MIT */
/* Where the debug information of an ELF file is: in itself, or in a separate file
 * as distributions package them. Nothing is fetched from a network unless a
 * fetcher is given. */
#ifndef MEMLAG_SYMBOLIZE_DEBUG_FILE_H
#define MEMLAG_SYMBOLIZE_DEBUG_FILE_H

#include "elf_file.h"
#include "looked_for.h"

/* A request: the debug information of the file with BUILD_ID. */
struct elf_wanted {
        const char *path; /* of the program or library, for messages; or NULL */
        const uint8_t *build_id;
        size_t build_id_bytes;
};

/* Opens the wanted file as FILE: 0, -ENOENT if no server has it, -ENOMEM. */
typedef int elf_fetch(void *context, const struct elf_wanted *wanted,
                      struct elf_file *file);

struct debug_search {
        const char *const *directories; /* NULL-terminated; /usr/lib/debug comes last */
        const char *root; /* stands for "/" in absolute names; NULL: as they are */
        elf_fetch *fetch; /* NULL: only local files */
        void *fetch_context;
        struct looked_for *looked_for; /* notes the files of split units; or NULL */
};

/* Whether FILE itself contains debug information. */
bool debug_file_has_dwarf(const struct elf_file *file);

/* Opens the separate debug file of FILE, by build-id and then by .gnu_debuglink. 0;
 * -ENOENT if there is none; -ESTALE if all candidates have another build-id or checksum;
 * -ENOMEM. */
int debug_file_find(const struct elf_file *file, const struct debug_search *search,
                    struct elf_file *debug);

/* Opens the alternate debug file, which contains the common entries that dwz moved out of
 * DEBUG. DEBUG's link names its build-id. Searches by build-id, then by the link's name.
 * Each search directory also replaces /usr/lib/debug in that name. A relative name is
 * relative to DEBUG. 0, -ENOENT or -ENOMEM. */
int debug_file_find_alt(const struct elf_file *debug, const struct debug_search *search,
                        struct elf_file *alt);

/* The name and build-id of DEBUG's alternate debug file, as "NAME (build-id HEX)". The
 * caller frees it. 0; -ENOENT if dwz moved no entries; -ENOMEM. */
int debug_file_alt_wanted(const struct elf_file *debug, char **text);

#endif
