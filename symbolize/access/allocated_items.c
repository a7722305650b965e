/* SPDX-License-Identifier: MIT */
/* Library functions are known by name. The type's name must be spelled as in the debug
 * information; otherwise the call does not count. */
#include "allocated_items.h"

#include <string.h>

/* Functions of GNU's library, of older versions too, and of LLVM's, by what stands before
 * the type and behind it. */
static const struct {
        const char *before;
        const char *after;
} functions[] = {
    {"std::__new_allocator<", ">::allocate"},
    {"__gnu_cxx::new_allocator<", ">::allocate"},
    {"std::allocator<", ">::allocate"},
    {"std::__1::allocator<", ">::allocate"},
    {"std::make_unique<", "[]>"},
    {"std::__1::make_unique<", "[]>"},
};

/* What follows PREFIX in TEXT; NULL: it does not begin with that. */
static const char *behind(const char *text, const char *prefix)
{
        size_t length = strlen(prefix);

        return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* Whether FUNCTION allocates items of a type with the name ITEM. */
static bool allocates(const char *function, const char *item)
{
        for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
                const char *rest = behind(function, functions[i].before);

                rest = rest ? behind(rest, item) : NULL;
                rest = rest ? behind(rest + (*rest == ' '), functions[i].after) : NULL;
                if (rest && (*rest == '\0' || *rest == '(' || *rest == '['))
                        return true;
        }
        return false;
}

bool allocated_items(const struct code_frames *frames, const struct code_place *place,
                     const struct types *types, const struct string_pool *names,
                     uint32_t type)
{
        const char *item =
            type < types->count ? string_pool_text(names, types->items[type].name) : NULL;
        uint32_t levels = place->frame_count ? place->frame_count : 1;

        for (uint32_t i = 0; item && *item && i < levels; i++) {
                uint32_t name = place->frame_count
                                    ? frames->items[place->first_frame + i].function
                                    : place->function;
                const char *function = string_pool_text(names, name);

                if (function && allocates(function, item))
                        return true;
        }
        return false;
}
