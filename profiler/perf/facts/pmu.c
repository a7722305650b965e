/* SPDX-License-Identifier: MIT */
/* Reads a PMU's directory in sysfs. */
#include "pmu.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_list.h"
#include "root_file.h"

/* Lists of CPUs are the longest that sysfs has here. */
enum { TEXT_MAX = 1 << 14 };

static bool read_text(const char *root, const char *pmu, const char *file,
                      char text[TEXT_MAX])
{
        char path[PATH_MAX];
        return snprintf(path, sizeof(path), PMU_DIRECTORY "/%s/%s", pmu, file) <
                   (int)sizeof(path) &&
               root_file_line(root, path, text, TEXT_MAX);
}

/* ---- formats ---- */

static bool parse_bit(const char **at, unsigned *bit)
{
        if (!isdigit((unsigned char)**at))
                return false;
        char *end;
        unsigned long number = strtoul(*at, &end, 10);
        *at = end;
        *bit = (unsigned)number;
        return number < 64;
}

bool pmu_parse_field(const char *text, struct pmu_field *field)
{
        *field = (struct pmu_field){0};
        if (strncmp(text, "config", 6) != 0)
                return false;
        const char *at = text + 6;
        if (*at == '1' || *at == '2')
                field->word = (unsigned)(*at++ - '0');
        if (*at++ != ':')
                return false;
        for (;;) {
                unsigned first, last;
                if (!parse_bit(&at, &first))
                        return false;
                last = first;
                if (*at == '-' && (at++, !parse_bit(&at, &last)))
                        return false;
                for (unsigned bit = first; bit <= last; bit++)
                        field->mask |= UINT64_C(1) << bit;
                if (*at != ',')
                        return last >= first && (!*at || *at == '\n');
                at++;
        }
}

bool pmu_read_field(const char *root, const char *pmu, const char *name,
                    struct pmu_field *field)
{
        char file[64], text[TEXT_MAX];
        return snprintf(file, sizeof(file), "format/%s", name) < (int)sizeof(file) &&
               read_text(root, pmu, file, text) && pmu_parse_field(text, field);
}

void pmu_set_field(struct pmu_code *code, const struct pmu_field *field, uint64_t value)
{
        code->words[field->word] &= ~field->mask;
        for (uint64_t rest = field->mask; rest; rest &= rest - 1, value >>= 1)
                if (value & 1)
                        code->words[field->word] |= rest & -rest;
}

/* ---- aliases ---- */

/* Applies one term of an alias: "event=0xcd", or a flag such as "edge". */
static bool apply_term(const char *root, const char *pmu, const char *term,
                       struct pmu_code *code)
{
        struct pmu_field field;
        char name[64];
        size_t length = strcspn(term, "=");
        uint64_t value = 1;
        if (length >= sizeof(name))
                return false;
        memcpy(name, term, length);
        name[length] = '\0';
        if (!pmu_read_field(root, pmu, name, &field))
                return false;
        if (term[length] == '=' && strcmp(term + length + 1, "?") == 0) {
                value = 0;
        } else if (term[length] == '=') {
                char *end;
                value = strtoull(term + length + 1, &end, 0);
                if (end == term + length + 1 || *end)
                        return false;
        }
        pmu_set_field(code, &field, value);
        return true;
}

bool pmu_read_alias(const char *root, const char *pmu, const char *event,
                    struct pmu_code *code)
{
        char file[64], text[TEXT_MAX], *rest;
        *code = (struct pmu_code){{0}};
        if (snprintf(file, sizeof(file), "events/%s", event) >= (int)sizeof(file) ||
            !read_text(root, pmu, file, text))
                return false;
        char *term = strtok_r(text, ",", &rest);
        if (!term)
                return false;
        for (; term; term = strtok_r(NULL, ",", &rest))
                if (!apply_term(root, pmu, term, code))
                        return false;
        return true;
}

/* ---- the rest ---- */

bool pmu_read_number(const char *root, const char *pmu, const char *file, double *number)
{
        char text[TEXT_MAX], *end;
        if (!read_text(root, pmu, file, text))
                return false;
        *number = strtod(text, &end);
        return end != text && !*end;
}

bool pmu_read_cpus(const char *root, const char *pmu, int **cpus, size_t *count)
{
        char text[TEXT_MAX];
        *cpus = NULL;
        *count = 0;
        return (read_text(root, pmu, "cpumask", text) ||
                read_text(root, pmu, "cpus", text)) &&
               cpu_list_parse(text, cpus, count) == 0;
}
