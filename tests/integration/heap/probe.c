/* SPDX-License-Identifier: MIT */
/* The engine's side of the tracker's requests, without the engine: each becomes a line
 * on descriptor 9. Called inside malloc, so it may use next to nothing. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "valgrind/valgrind.h"

static const char *const functions[] = {
#define NAME(symbol, name) name,
    HEAP_FUNCTIONS(NAME)
#undef NAME
};

static char *put_text(char *to, const char *text)
{
        size_t length = strlen(text);
        memcpy(to, text, length);
        return to + length;
}

static char *put_hex(char *to, unsigned long value)
{
        to = put_text(to, " 0x");
        int shift = 60;
        while (shift > 0 && !(value >> shift))
                shift -= 4;
        for (; shift >= 0; shift -= 4)
                *to++ = "0123456789abcdef"[(value >> shift) & 15];
        return to;
}

unsigned long heap_probe_request(unsigned long request, unsigned long first,
                                 unsigned long second, unsigned long third)
{
        int saved_errno = errno;
        char line[128];
        char *end = line;
        switch (request) {
        case HEAP_REQUEST_TRACKER:
                return 1;
        case HEAP_REQUEST_ALLOC:
                end = put_text(put_text(end, "alloc "), functions[first]);
                end = put_hex(put_hex(end, second), third);
                break;
        case HEAP_REQUEST_FREE:
                end = put_hex(put_text(end, "free"), first);
                break;
        case HEAP_REQUEST_RESIZE:
                end = put_hex(put_text(end, "resize"), first);
                break;
        case HEAP_REQUEST_RESIZED:
                end = put_hex(put_text(end, "resized"), first);
                break;
        case HEAP_REQUEST_UNMAP:
                end = put_hex(put_hex(put_text(end, "unmap"), first), second);
                break;
        }
        *end++ = '\n';
        ssize_t ignored = write(9, line, (size_t)(end - line));
        (void)ignored;
        errno = saved_errno;
        return 0;
}
