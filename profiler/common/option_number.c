/* SPDX-License-Identifier: MIT */
#include "option_number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

bool number_parse(const char *text, size_t length, double *value)
{
        char copy[64];
        if (length >= sizeof(copy))
                return false;
        memcpy(copy, text, length);
        copy[length] = '\0';
        size_t whole = strspn(copy, digits), point = copy[whole] == '.';
        size_t fraction = strspn(copy + whole + point, digits);
        *value = strtod(copy, NULL);
        return whole + fraction > 0 && whole + point + fraction == length;
}

/* The power of two that the unit C of bytes stands for; 0: C is no unit. */
static unsigned unit_shift(char c)
{
        static const char units[] = "KMGT";
        const char *unit = c ? strchr(units, c) : NULL;
        return unit ? 10 * (unsigned)(unit - units + 1) : 0;
}

bool number_parse_bytes(const char *text, size_t length, double *value)
{
        unsigned shift = length > 0 ? unit_shift(text[length - 1]) : 0;
        if (!number_parse(text, length - (shift > 0), value))
                return false;
        *value *= (double)(UINT64_C(1) << shift);
        return true;
}

int option_number(const char *option, const char *text, double least, double most,
                  double *value, struct diag *diag)
{
        if (number_parse(text, strlen(text), value) && *value >= least && *value <= most)
                return 0;
        return diag_set(diag, -EINVAL, "%s: '%s' is not a number from %.10g to %.10g",
                        option, text, least, most);
}

/* Reads digits up to *END; false: none, or too many. */
static bool read_digits(const char *text, const char **end, uint64_t *value)
{
        char *behind;
        errno = 0;
        *value = strtoull(text, &behind, 10);
        *end = behind;
        return text[0] >= '0' && text[0] <= '9' && errno == 0;
}

int option_whole(const char *option, const char *text, uint64_t least, uint64_t most,
                 uint64_t *value, struct diag *diag)
{
        const char *end;
        if (read_digits(text, &end, value) && !*end && *value >= least && *value <= most)
                return 0;
        if (most >= INT64_MAX) /* as good as no limit */
                return diag_set(diag, -EINVAL,
                                "%s: '%s' is not a whole number, %" PRIu64 " or more",
                                option, text, least);
        return diag_set(diag, -EINVAL,
                        "%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64,
                        option, text, least, most);
}

int option_bytes(const char *option, const char *text, uint64_t least, uint64_t most,
                 uint64_t *value, struct diag *diag)
{
        const char *end;
        bool read = read_digits(text, &end, value);
        unsigned shift = unit_shift(*end);
        if (!read || end[shift > 0] || *value > (uint64_t)INT64_MAX >> shift)
                return diag_set(diag, -EINVAL,
                                "%s: '%s' is not a number of bytes, such as 64K or 2G",
                                option, text);
        *value <<= shift;
        if (*value < least || *value > most)
                return diag_set(diag, -EINVAL,
                                "%s: '%s' is not from %" PRIu64 " to %" PRIu64 " bytes",
                                option, text, least, most);
        return 0;
}
