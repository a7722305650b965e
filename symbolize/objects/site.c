/* SPDX-License-Identifier: MIT */
/* Allocation sites. Library and function names identify allocators. */
#include "site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_path.h"

static bool begins_with(const char *text, const char *const *beginnings)
{
        for (; *beginnings; beginnings++)
                if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
                        return true;
        return false;
}

static bool in_libraries(const struct sweep *sweep, const struct place *place,
                         const char *const *libraries)
{
        return place->module != RAW_NONE &&
               begins_with(path_base(sweep->raw->modules[place->module].wanted.path),
                           libraries);
}

static const char *const c_libraries[] = {"libc.so", "libc-2.", "ld-linux",
                                          "libpthread.so", NULL};
static const char *const cxx_libraries[] = {"libstdc++.so", "libc++.so", "libc++abi.so",
                                            NULL};

bool site_in_c_library(const struct sweep *sweep, const struct place *place)
{
        return in_libraries(sweep, place, c_libraries);
}

/* The same functions in a program with a private copy, allocation functions that C++
 * libraries inline, and common wrappers. */
static const char *const known_allocators[] = {
    "malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign",
    "posix_memalign", "valloc", "pvalloc", "mmap", "mmap64", "mremap", "brk", "sbrk",
    "strdup", "strndup", "asprintf", "vasprintf", "getline", "getdelim", "__libc_malloc",
    "__libc_calloc", "__libc_realloc", "__libc_memalign", "__strdup", "__strndup",
    "__mmap", "operator new*", "std::*", "__gnu_cxx::*", "alloc::*", "__rust_alloc*",
    "__rdl_alloc*", "__rustc*", "hashbrown::*", "<alloc::*", "<std::*", "<hashbrown::*",
    "<core::*", "core::*",
    /* the usual names of wrappers that end the program when there is no memory */
    "xmalloc*", "xcalloc*", "xrealloc*", "xreallocarray", "xzalloc*", "x2realloc*",
    "x2nrealloc*", "xnmalloc*", "xnrealloc*", "xstrdup*", "xstrndup*", "xmemdup*",
    "xasprintf", "emalloc*", "ecalloc*", "ezalloc*", "erealloc*", "safe_malloc*",
    "checked_malloc*",
    /* and wrappers with a program's or library's prefix */
    "*malloc", "*calloc", "*realloc", "*zalloc", "*mallocz", "*malloc64", "*realloc64",
    "*reallocarray", "*mem_alloc", "*Malloc", "*Calloc", "*Realloc", "*MallocRaw*",
    "*MallocZero*", "mallocWithAlarm",
    /* libraries */
    "g_malloc*", "g_try_malloc*", "g_realloc*", "g_try_realloc*", "g_slice_*",
    "g_strdup*", "g_memdup*", "g_aligned_alloc*", "zmalloc*", "zcalloc*", "zrealloc*",
    "ztry*", "CRYPTO_malloc", "CRYPTO_zalloc", "CRYPTO_realloc", "av_malloc*",
    "av_calloc", "av_realloc*", "PyMem_*", "_PyMem_*", "PyObject_Malloc",
    "PyObject_Calloc", "PyObject_Realloc", "_PyObject_Malloc", "_PyObject_New*",
    "_PyObject_GC_*", "gc_alloc", "PyType_GenericAlloc", "_PyType_AllocNoTrack", "luaM_*",
    "luaC_newobj*", "MagickMalloc*", "MagickCalloc*", "MagickRealloc*",
    "_MagickAllocateResource*", "_MagickReallocateResource*",
    /* pools and arenas: the block belongs to the caller that made them grow */
    "_obstack_*", "call_chunkfun", "_objalloc_alloc", "objalloc_create", "bfd_alloc",
    "bfd_alloc2", "bfd_zalloc2", "bfd_hash_allocate", "apr_palloc*", "apr_pcalloc*",
    "apr_pstrdup", "apr_pstrndup", "apr_pmemdup", "apr_pool_create*", "allocator_alloc",
    "apr_allocator_alloc", "ngx_alloc", "ngx_palloc*", "ngx_pnalloc", "ngx_pmemalign",
    "ngx_memalign", "ngx_create_pool", "talloc_*", "_talloc*", "__talloc*", "palloc",
    "palloc0", "palloc_*", "repalloc*", "pstrdup", "MemoryContextAlloc*",
    "AllocSetAlloc*", "AllocSetContextCreate*", "GenerationAlloc*", "SlabAlloc*",
    "ggc_internal_*", "ggc_alloc*", "ggc_cleared_*", "alloc_page", "alloc_anon",
    "mem_pool_*", "arena_alloc*", "*_arena_alloc", "pool_alloc*", "*_pool_alloc",
    "llvm::BumpPtrAllocatorImpl*", "llvm::allocate_buffer", "google::protobuf::Arena::*",
    "google::protobuf::internal::*Arena::*", NULL};

/* In PATTERN each "*" stands for any characters, or none. All others are literal,
 * because names contain brackets and question marks. After a mismatch the last "*"
 * takes one character more. */
static bool matches(const char *pattern, const char *function)
{
        const char *after_star = NULL, *taken = NULL;

        while (*function) {
                if (*pattern == '*') {
                        after_star = ++pattern;
                        taken = function;
                } else if (*pattern == *function) {
                        pattern++;
                        function++;
                } else if (after_star) {
                        pattern = after_star;
                        function = ++taken;
                } else {
                        return false;
                }
        }
        while (*pattern == '*')
                pattern++;
        return *pattern == '\0';
}

static bool in_list(const char *const *list, const char *function)
{
        for (; list && *list; list++)
                if (matches(*list, function))
                        return true;
        return false;
}

/* Whether FILE is a source of Rust's libraries, under the compiler makers' path or as
 * installed. Programs compile their generic functions, and may call them for a type of
 * the program. */
static bool in_rust_library(const char *file)
{
        return (strncmp(file, "/rustc/", strlen("/rustc/")) == 0 &&
                strstr(file, "/library/")) ||
               strncmp(file, "/rust/deps/", strlen("/rust/deps/")) == 0 ||
               strstr(file, "/lib/rustlib/src/rust/library/");
}

/* Whether FILE is a header of the C++ library, GNU's or LLVM's. A function's name is no
 * evidence if its arguments include local types, such as lambdas: gcc then omits the
 * scope. */
static bool in_cxx_library(const char *file)
{
        return strstr(file, "/include/c++/") != NULL;
}

static bool hands_on(const struct site_search *search, const struct site *site)
{
        const char *function = string_pool_text(search->names, site->function);
        const char *file = string_pool_text(search->names, site->file);

        return function && (in_list(known_allocators, function) ||
                            in_list(search->allocators, function) ||
                            (file && (in_rust_library(file) || in_cxx_library(file))));
}

/* The number of functions at PLACE: the code's function and all functions around it that
 * it is inlined into. */
static uint32_t level_count(const struct place *place)
{
        return place->code.frame_count > 1 ? place->code.frame_count : 1;
}

/* PLACE in the function at LEVEL, 0 the innermost. */
static struct site site_at_level(const struct site_search *search,
                                 const struct place *place, uint32_t level)
{
        const struct code_place *code = &place->code;

        if (level == 0)
                return (struct site){.function = code->function,
                                     .file = code->file,
                                     .line = code->line,
                                     .number = code->number,
                                     .column = code->column};
        const struct code_frame *frame =
            &search->frames->items[code->first_frame + level - 1];

        return (struct site){.function = frame[1].function,
                             .file = frame->call_file,
                             .line = frame->call_line,
                             .number = frame[1].number,
                             .column = frame->call_column};
}

/* The innermost function of PLACE, from LEVEL on, outside of allocators. False: none. */
static bool site_at(const struct site_search *search, const struct place *place,
                    uint32_t level, struct site *site)
{
        *site = site_at_level(search, place, level);
        if (in_libraries(search->sweep, place, c_libraries) ||
            in_libraries(search->sweep, place, cxx_libraries))
                return false;
        for (; level < level_count(place); level++) {
                *site = site_at_level(search, place, level);
                if (!hands_on(search, site))
                        return true;
        }
        return false;
}

/* Whether the user named FUNCTION as an allocator; records the names that match. */
static bool is_named(const struct site_search *search, const char *function)
{
        bool named = false;

        for (size_t i = 0; function && search->allocators[i]; i++)
                if (matches(search->allocators[i], function)) {
                        named = true;
                        search->met[i] = true;
                }
        return named;
}

/* The start of the search: behind the outermost function that the user named. Calls
 * inside that function do not matter. */
struct beginning {
        uint32_t stack;
        uint32_t level;
};

static struct beginning find_beginning(const struct site_search *search, uint32_t stack)
{
        const struct sweep *sweep = search->sweep;
        struct beginning beginning = {stack, 0};

        for (; search->allocators && stack != RAW_NONE;
             stack = sweep->raw->stacks[stack].parent) {
                if (sweep->stack_places[stack] == RAW_NONE)
                        continue;
                const struct place *place =
                    &sweep->places.items[sweep->stack_places[stack]];

                for (uint32_t level = 0; level < level_count(place); level++) {
                        struct site site = site_at_level(search, place, level);

                        if (is_named(search,
                                     string_pool_text(search->names, site.function)))
                                beginning = (struct beginning){stack, level};
                }
        }
        return beginning;
}

static uint32_t site_name(const struct sweep *sweep, struct string_pool *names,
                          const struct place *place, const struct site *site)
{
        const char *function = string_pool_text(names, site->function);
        const char *file = string_pool_text(names, site->file);
        const char *module =
            place->module != RAW_NONE
                ? path_base(sweep->raw->modules[place->module].wanted.path)
                : NULL;

        if (function && file && site->line)
                return string_pool_format(names, "%s at %s:%" PRIu32, function,
                                          path_base(file), site->line);
        if (function)
                return string_pool_format(names, "%s in %s", function,
                                          module ? module : "[unknown]");
        return string_pool_format(names, "%s+0x%" PRIx64, module ? module : "[unknown]",
                                  place->code.vaddr);
}

uint32_t site_name_with_column(struct string_pool *names, const struct site *site)
{
        return string_pool_format(names, "%s:%" PRIu32,
                                  string_pool_text(names, site->name), site->column);
}

/* The site of place NUMBER from LEVEL on, cached for the many stacks that share it. */
static struct place_site ask_place(const struct site_search *search, uint32_t number,
                                   uint32_t level)
{
        const struct place *place = &search->sweep->places.items[number];
        struct place_site *kept =
            level == 0 && number < search->place_count ? &search->places[number] : NULL;

        if (kept && kept->asked)
                return *kept;
        struct place_site answer = {.asked = true};

        answer.found = site_at(search, place, level, &answer.site);
        if (answer.found)
                answer.site.name =
                    site_name(search->sweep, search->names, place, &answer.site);
        if (kept)
                *kept = answer;
        return answer;
}

struct site site_find(const struct site_search *search, uint32_t stack)
{
        const struct sweep *sweep = search->sweep;
        const struct place *innermost = NULL;
        struct site first = {0};
        struct beginning from = find_beginning(search, stack);

        for (stack = from.stack; stack != RAW_NONE;
             stack = sweep->raw->stacks[stack].parent) {
                if (sweep->stack_places[stack] == RAW_NONE)
                        continue;
                uint32_t number = sweep->stack_places[stack];
                struct place_site answer =
                    ask_place(search, number, stack == from.stack ? from.level : 0);

                if (answer.found)
                        return answer.site;
                if (!innermost) {
                        innermost = &sweep->places.items[number];
                        first = answer.site;
                }
        }
        if (innermost)
                first.name = site_name(sweep, search->names, innermost, &first);
        return first;
}
