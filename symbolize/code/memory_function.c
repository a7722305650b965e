/* SPDX-License-Identifier: MIT */
/* A call goes to the function, to a stub of the linkage table with its name, or through a
 * word that the dynamic linker fills in. */
#include "memory_function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "relocations.h"

struct memory_slot {
        uint64_t vaddr;
        enum memory_function function;
};

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

/* The memory function that is called. Only the C library's counts: others of that name
 * may order their arguments differently. */
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

static int take(void *context, const struct relocation *relocation)
{
        struct memory_slots *slots = context;
        enum memory_function function = called_function(relocation->name);

        if (function == MEMORY_NONE)
                return 0;
        return PUSH(slots, (struct memory_slot){relocation->vaddr, function});
}

int memory_slots_read(struct memory_slots *slots, const struct elf_file *file)
{
        int error = relocations_each(file, take, slots);

        SORT(slots->items, slots->count, number_order);
        return error;
}

void memory_slots_free(struct memory_slots *slots)
{
        free(slots->items);
        *slots = (struct memory_slots){0};
}

enum memory_function memory_function_called(const struct memory_slots *slots,
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
        const struct memory_slot *slot =
            NUMBER_FIND(slots->items, slots->count, (uint64_t)memory->displacement);

        return slot ? slot->function : MEMORY_NONE;
}
