/* SPDX-License-Identifier: MIT */
/* Takes control characters out of strings. */
#include "json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

void text_clean(char *text)
{
        for (; *text; text++) {
                size_t length = diag_control(text);
                if (length == 0)
                        continue;
                memmove(text + 1, text + length, strlen(text + length) + 1);
                *text = '?';
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
        return rc; /* other values have no members */
}
