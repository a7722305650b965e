/* SPDX-License-Identifier: MIT */
/* Functions that copy, compare or read strings: the caller's arguments decide. */
#include "type_by.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "site.h"

/* Whether NAME (NULL: none) is a member function of std::string, which reads only
 * char. */
static bool string_member(const char *name)
{
        static const char *const strings[] = {
            "std::__cxx11::basic_string<char, std::char_traits<char>,",
            "std::basic_string<char, std::char_traits<char>,",
            "std::__1::basic_string<char, std::__1::char_traits<char>,"};

        for (size_t i = 0; name && i < sizeof(strings) / sizeof(*strings); i++)
                if (strncmp(name, strings[i], strlen(strings[i])) == 0)
                        return true;
        return false;
}

/* Whether NAME (NULL: none) is a string function, or a processor's version of one, such
 * as "__strlen_avx2". */
static bool string_function(const char *name)
{
        static const char *const functions[] = {
            "strlen",      "strnlen", "strcmp",  "strncmp",   "strcasecmp",
            "strncasecmp", "strchr",  "strrchr", "strchrnul", "strcpy",
            "strncpy",     "stpcpy",  "stpncpy", "strcat",    "strncat",
            "strspn",      "strcspn", "strpbrk", "strstr",    "strcasestr"};

        for (size_t i = 0; name && i < sizeof(functions) / sizeof(*functions); i++)
                if (name_is_version(name, functions[i]))
                        return true;
        return false;
}

/* Whether the data belongs to a library, such as its tables of letters. */
static bool own_data(const struct sweep *sweep, const struct place *place,
                     const struct target *target)
{
        return target->kind == TARGET_THREAD ||
               (target->kind == TARGET_VARIABLE &&
                sweep->variables.items[target->index].module == place->module);
}

enum memory_function memory_function_at(const struct sample_types *finder, uint32_t place)
{
        const struct code_place *code = &finder->sweep->places.items[place].code;

        return memory_function(string_pool_text(finder->names, code->function));
}

/* The program's type char, for functions that read texts. */
static struct sample_type characters(const struct sample_types *finder)
{
        return (struct sample_type){
            .reason = TYPED,
            .type = finder->character,
            .source = {TYPE_BY_FUNCTION, 0, TYPE_SOURCE_NO_PLACE}};
}

/* In a function that copies or compares memory, the caller's pointer gives the type. The
 * address gives the offset, if the block has room for only one item. */
static struct sample_type by_argument(struct sample_types *finder,
                                      const struct sample_location *location)
{
        static const struct type_access any;
        const struct sweep *sweep = finder->sweep;
        const struct target *target = &location->target;
        enum memory_function function = memory_function_at(finder, location->place);

        if (function == MEMORY_NONE || location->caller == RAW_NONE)
                return type_left_open(UNTYPED_ASSEMBLER);
        const struct place *caller = &sweep->places.items[location->caller];

        if (string_member(string_pool_text(finder->names, caller->code.function)) &&
            finder->character != TYPE_NONE)
                return characters(finder);
        const struct access *argument = &place_asks(caller)->argument;

        if (!argument->asked || argument->flow.outcome != FLOW_FOUND ||
            argument->flow.called != function)
                return type_left_open(UNTYPED_ASSEMBLER);
        const struct place_value *place = &argument->flow.place;
        const struct type_source source = {TYPE_BY_ARGUMENT, argument->flow.pointer,
                                           location->caller};

        /* A copy that begins there reads one type only, without different fields. */
        if (type_is_single(finder->types, place->type))
                return type_told(sample_field_at(finder, place->type, 0, &any), source);
        if (target->kind != TARGET_BLOCK || place->indexed ||
            sweep->raw->allocations[target->index].size_bytes !=
                type_size(finder->types, place->type))
                return type_left_open(UNTYPED_INDEX);
        return type_told(sample_field_at(finder, place->type, target->offset_bytes, &any),
                         source);
}

/* The reason for an unknown type if no debug information describes the code of PLACE. */
static enum untyped undescribed(const struct place *place)
{
        return place->code.assembler ? UNTYPED_ASSEMBLER
               : place->code.thunk   ? UNTYPED_THUNK
                                     : UNTYPED_NO_DEBUG_INFO;
}

struct sample_type type_by_function(struct sample_types *finder,
                                    const struct sample_location *location)
{
        const struct place *place = &finder->sweep->places.items[location->place];

        if (!site_in_c_library(finder->sweep, place) ||
            own_data(finder->sweep, place, &location->target))
                return type_left_open(undescribed(place));
        struct sample_type found = by_argument(finder, location);

        if (found.reason == TYPED)
                return found;
        if (finder->character != TYPE_NONE &&
            string_function(string_pool_text(finder->names, place->code.function)))
                return characters(finder);
        return type_left_open(undescribed(place));
}
