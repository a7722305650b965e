/* SPDX-License-Identifier: MIT */
/* Linkage names to readable ones. */
#include "name.h"

#include <stdlib.h>
#include <string.h>

#include "demangle.h"

uint32_t name_put_linkage(struct string_pool *names, const char *linkage_name)
{
        char *readable = demangle(linkage_name);
        uint32_t id = string_pool_put(names, readable ? readable : linkage_name);

        free(readable);
        return id;
}

/* Up to the first of the characters of END. */
static uint32_t put_up_to(struct string_pool *names, const char *symbol, const char *end)
{
        char *name = strndup(symbol, strcspn(symbol, end));
        uint32_t id = name && *name ? name_put_linkage(names, name) : 0;

        free(name);
        return id;
}

uint32_t name_put_symbol(struct string_pool *names, const char *symbol)
{
        return put_up_to(names, symbol, "@");
}

uint32_t name_put_stub(struct string_pool *names, const char *function)
{
        char *readable = demangle(function);
        uint32_t id = string_pool_format(names, "%s@plt", readable ? readable : function);

        free(readable);
        return id;
}

bool name_mangled(const char *symbol)
{
        return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');
}

uint32_t name_put_part(struct string_pool *names, const char *symbol)
{
        return put_up_to(names, symbol, "@.");
}
