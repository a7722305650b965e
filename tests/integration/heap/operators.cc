// SPDX-License-Identifier: MIT
// Calls every operator new and delete, and leaves one by an exception.
#include <new>

#include "expect.h"

static void *volatile last;
static volatile size_t huge = SIZE_MAX / 2 - 10;

static void *shown(const char *function, void *block, size_t size)
{
        last = block;
        expect_alloc(function, block, size);
        expect_free(block);
        return block;
}

static void by_name()
{
        const std::align_val_t align{64};
        const char *one = "operator new", *many = "operator new[]";
        operator delete(shown(one, operator new(10), 10));
        operator delete(shown(one, operator new(11), 11), 11);
        operator delete(shown(one, operator new(12, std::nothrow), 12), std::nothrow);
        operator delete(shown(one, operator new(13, align), 13), align);
        operator delete(shown(one, operator new(14, align), 14), 14, align);
        operator delete(shown(one, operator new(15, align, std::nothrow), 15), align,
                        std::nothrow);
        operator delete[](shown(many, operator new[](20), 20));
        operator delete[](shown(many, operator new[](21), 21), 21);
        operator delete[](shown(many, operator new[](22, std::nothrow), 22),
                          std::nothrow);
        operator delete[](shown(many, operator new[](23, align), 23), align);
        operator delete[](shown(many, operator new[](24, align), 24), 24, align);
        operator delete[](shown(many, operator new[](25, align, std::nothrow), 25), align,
                          std::nothrow);
        void *block = operator new(100, align);
        shown(one, block, 100);
        show((uintptr_t)block % 64 == 0);
        operator delete(block, align);
}

static void by_exception()
{
        bool thrown = false;
        try {
                last = operator new[](huge);
        } catch (const std::bad_alloc &) {
                thrown = true;
        }
        show(thrown);
        show(operator new(huge, std::nothrow) == nullptr);
        // After it, blocks are seen as before.
        void *block = malloc(9);
        last = block;
        expect_alloc("malloc", block, 9);
        expect_free(block);
        free(block);
}

int main()
{
        setvbuf(stdout, NULL, _IONBF, 0);
        by_name();
        by_exception();
        return 43;
}
