/* SPDX-License-Identifier: MIT */
/* A call goes to the function, to its stub in the linkage table, or through a word that
 * the dynamic linker fills in. */
#include "memory_function.h"

#include <string.h>

bool name_is_version(const char *name, const char *function)
{
        size_t length = strlen(function);

        name += strspn(name, "_");
        return strncmp(name, function, length) == 0 &&
               (name[length] == '\0' || name[length] == '_' || name[length] == '@');
}

enum memory_function memory_function(const char *name)
{
        static const struct {
                const char *name;
                enum memory_function function;
        } functions[] = {{"memcpy", MEMORY_COPY},      {"memmove", MEMORY_COPY},
                         {"mempcpy", MEMORY_COPY},     {"memcmp", MEMORY_COMPARE},
                         {"memcmpeq", MEMORY_COMPARE}, {"bcmp", MEMORY_COMPARE},
                         {"memchr", MEMORY_SEARCH},    {"memrchr", MEMORY_SEARCH},
                         {"rawmemchr", MEMORY_SEARCH}};

        for (size_t i = 0; name && i < sizeof(functions) / sizeof(*functions); i++)
                if (name_is_version(name, functions[i].name))
                        return functions[i].function;
        return MEMORY_NONE;
}

/* The memory function called NAME. Only the C library's counts: another function of that
 * name may have other arguments. */
static enum memory_function called_function(const char *name)
{
        static const char *const allocators[] = {"calloc", "__calloc", "__libc_calloc"};

        for (size_t i = 0; name && i < sizeof(allocators) / sizeof(*allocators); i++) {
                size_t length = strlen(allocators[i]);

                if (strncmp(name, allocators[i], length) == 0 &&
                    (name[length] == '\0' || name[length] == '@'))
                        return MEMORY_ALLOCATE_ITEMS;
        }
        return memory_function(name);
}

enum memory_function memory_function_called(const struct relocations *slots,
                                            const struct symbol_table *symbols,
                                            const struct instruction *call)
{
        const struct memory_operand *memory = &call->memory;

        if (call->target != 0) {
                const struct symbol *symbol =
                    symbol_table_function(symbols, call->target);

                return symbol ? called_function(symbol->name) : MEMORY_NONE;
        }
        if (!call->has_memory || memory->base != REGISTER_NONE ||
            memory->index != REGISTER_NONE || memory->thread_local)
                return MEMORY_NONE;
        const struct relocation *slot =
            relocation_at(slots, (uint64_t)memory->displacement);

        return slot ? called_function(slot->name) : MEMORY_NONE;
}
