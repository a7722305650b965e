/* SPDX-License-Identifier: MIT */
/* Loads the library that its argument names, unseen by the rest of the program. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
        void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
        int (*run)(void) = library ? (int (*)(void))dlsym(library, "run_plugin") : NULL;
        const char *error = dlerror();
        if (error)
                puts(error);
        return run ? run() : 1;
}
