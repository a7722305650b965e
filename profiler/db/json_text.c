/* SPDX-License-Identifier: MIT */
/* Takes control characters out of strings. */
#include "json_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* C0, DEL, and C1, which UTF-8 writes as two bytes. */
static bool is_control(const unsigned char *at)
{
        return *at < 0x20 || *at == 0x7f ||
               (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0);
}

void text_clean(char *text)
{
        for (unsigned char *at = (unsigned char *)text; *at; at++) {
                if (!is_control(at))
                        continue;
                if (*at == 0xc2)
                        memmove(at, at + 1, strlen((char *)at));
                *at = '?';
        }
}

static int clean_string(json_t *string)
{
        char *text = strdup(json_string_value(string));
        if (!text)
                return -ENOMEM;
        text_clean(text);
        int rc = strcmp(text, json_string_value(string)) == 0 ||
                         json_string_set(string, text) == 0
                     ? 0
                     : -ENOMEM;
        free(text);
        return rc;
}

int json_text_clean(json_t *root)
{
        const char *key;
        json_t *member;
        size_t index;
        int rc = 0;
        if (json_is_string(root))
                return clean_string(root);
        json_array_foreach(root, index, member)
        {
                if (rc == 0)
                        rc = json_text_clean(member);
        }
        json_object_foreach(root, key, member)
        {
                if (rc == 0)
                        rc = json_text_clean(member);
        }
        return rc; /* what is no array or no object has no members */
}
