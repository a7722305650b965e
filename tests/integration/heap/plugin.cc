// SPDX-License-Identifier: MIT
// A library in C++ that a program in C loads for itself alone.
#include <new>

#include "expect.h"

extern "C" int run_plugin()
{
        static void *volatile last;
        last = operator new(77);
        void *block = last;
        expect_alloc("operator new", block, 77);
        expect_free(block);
        operator delete(block);
        return block ? 44 : 1;
}
