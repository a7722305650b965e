/* SPDX-License-Identifier: MIT */
/* Looks the real functions up. */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>

/* Where the linker put this object's first byte and the end of its code. */
extern char __ehdr_start[] HIDDEN;
extern char etext[] HIDDEN;

struct real_functions real;
bool real_started;

/* Finds the next definition after this object in lookup order. */
static void find_next(void **function, const char *name)
{
        *function = dlsym(RTLD_NEXT, name);
        if (!*function)
                dlerror(); /* the target must not find our error */
}

__attribute__((cold)) void real_find(void)
{
        real_started = true;
        int saved_errno = errno;
        bool engine = VALGRIND_DO_CLIENT_REQUEST_EXPR(
            0, VG_USERREQ_TOOL_BASE('M', 'L') + HEAP_REQUEST_TRACKER, __ehdr_start,
            etext - __ehdr_start, 0, 0, 0);
#define FIND_C(name, result, parameters) find_next((void **)&real.name, #name);
#define FIND_NEW(mangled, function, parameters, arguments)                               \
        find_next((void **)&real.mangled, #mangled);
#define FIND_DELETE(mangled, parameters, arguments)                                      \
        find_next((void **)&real.mangled, #mangled);
        C_FUNCTIONS(FIND_C)
        FIND_NEW(_Znwm, , , )
        if (real._Znwm) { /* else the program is not in C++ */
                NEW_OPERATORS(FIND_NEW)
                DELETE_OPERATORS(FIND_DELETE)
        }
        if (engine) /* from here on: allocations of the lookup are not the target's */
                heap_listener = ENGINE;
        errno = saved_errno;
}

/* The function NAME of a loaded library and the libraries that it needs. */
static void *find_in_library(const char *library, const char *name)
{
        void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        void *function = handle ? dlsym(handle, name) : NULL;
        bool own = (char *)function >= __ehdr_start && (char *)function < etext;
        /* The handle is never closed: the function stays in use. */
        return own ? NULL : function;
}

__attribute__((cold)) void real_find_operator(void **function, const char *name,
                                              const void *caller)
{
        int saved_errno = errno;
        Dl_info info;
        if (dladdr(caller, &info))
                *function = find_in_library(info.dli_fname, name);
        if (!*function)
                *function = find_in_library("libstdc++.so.6", name);
        if (!*function)
                *function = find_in_library("libc++.so.1", name);
        dlerror();
        errno = saved_errno;
}
