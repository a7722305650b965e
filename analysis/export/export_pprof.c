/* SPDX-License-Identifier: MIT */
/* pprof's profile.proto: a message Profile without gzip, which pprof accepts. The encoder
 * only needs numbers and length-delimited fields: too little for a library dependency. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"

/* Field numbers of profile.proto. */
enum profile_field {
        PROFILE_SAMPLE_TYPE = 1,
        PROFILE_SAMPLE = 2,
        PROFILE_MAPPING = 3,
        PROFILE_LOCATION = 4,
        PROFILE_FUNCTION = 5,
        PROFILE_STRING = 6,
        PROFILE_DURATION_NS = 10,
        PROFILE_COMMENT = 13
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2 };
enum mapping_field { MAPPING_ID = 1, MAPPING_HAS_FUNCTIONS = 7 };
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1 };
enum function_field {
        FUNCTION_ID = 1,
        FUNCTION_NAME = 2,
        FUNCTION_SYSTEM_NAME = 3,
        FUNCTION_FILE = 4
};

/* ---- protocol buffers ---- */

static void write_number(FILE *out, uint64_t number)
{
        for (; number >= 0x80; number >>= 7)
                putc((int)(number & 0x7f) | 0x80, out);
        putc((int)number, out);
}

static void write_integer(FILE *out, int field, uint64_t number)
{
        write_number(out, (uint64_t)field << 3);
        write_number(out, number);
}

static void write_bytes(FILE *out, int field, const char *bytes, size_t size)
{
        write_number(out, (uint64_t)field << 3 | 2);
        write_number(out, size);
        fwrite(bytes, 1, size, out);
}

/* A nested message: built in MEMORY first, because its length precedes it. */
struct part {
        char *bytes;
        size_t size;
        FILE *memory;
};

static bool part_open(struct part *part)
{
        part->bytes = NULL;
        part->memory = open_memstream(&part->bytes, &part->size);
        return part->memory;
}

/* Writes the bytes added since the last call. */
static void part_write(struct part *part, FILE *out, int field)
{
        fflush(part->memory);
        write_bytes(out, field, part->bytes, part->size);
        rewind(part->memory);
}

static bool part_close(struct part *part)
{
        bool whole = !ferror(part->memory);
        whole = fclose(part->memory) == 0 && whole;
        free(part->bytes);
        return whole;
}

/* ---- the profile ---- */

/* Text numbers: first the weights and the note, then name and module of each function. */
enum {
        TEXT_NONE,
        TEXT_STALLED,
        TEXT_LATENCY,
        TEXT_SAMPLES,
        TEXT_MILLIONTHS,
        TEXT_COUNT,
        TEXT_NOTE,
        TEXT_NAMES
};

static void write_texts(FILE *out, const struct call_tree *tree, const char *note)
{
        const char *const texts[] = {"",           "stalled", "latency", "samples",
                                     "millionths", "count",   note};
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                write_bytes(out, PROFILE_STRING, texts[i], strlen(texts[i]));
        for (size_t i = 0; i < tree->function_count; i++) {
                const struct call_function *function = &tree->functions[i];
                write_bytes(out, PROFILE_STRING, function->name, strlen(function->name));
                write_bytes(out, PROFILE_STRING, function->module,
                            strlen(function->module));
        }
}

static void write_types(FILE *out, struct part *part, const struct call_tree *tree)
{
        for (int i = 0; i < EXPORT_WEIGHTS; i++) {
                if (!tree->known[i])
                        continue;
                write_integer(part->memory, VALUE_TYPE_TYPE,
                              (uint64_t)(TEXT_STALLED + i));
                write_integer(part->memory, VALUE_TYPE_UNIT,
                              i == EXPORT_SAMPLES ? TEXT_COUNT : TEXT_MILLIONTHS);
                part_write(part, out, PROFILE_SAMPLE_TYPE);
        }
}

/* A function has one location: calls have no known line. */
static void write_functions(FILE *out, struct part *part, struct part *line,
                            const struct call_tree *tree)
{
        for (size_t i = 0; i < tree->function_count; i++) {
                write_integer(part->memory, FUNCTION_ID, i + 1);
                write_integer(part->memory, FUNCTION_NAME, TEXT_NAMES + 2 * i);
                write_integer(part->memory, FUNCTION_SYSTEM_NAME, TEXT_NAMES + 2 * i);
                write_integer(part->memory, FUNCTION_FILE, TEXT_NAMES + 2 * i + 1);
                part_write(part, out, PROFILE_FUNCTION);
                write_integer(part->memory, LOCATION_ID, i + 1);
                write_integer(part->memory, LOCATION_MAPPING, 1);
                write_integer(line->memory, LINE_FUNCTION, i + 1);
                part_write(line, part->memory, LOCATION_LINE);
                part_write(part, out, PROFILE_LOCATION);
        }
}

static void write_samples(FILE *out, struct part *part, const struct call_tree *tree)
{
        for (size_t i = 0; i < tree->count; i++) {
                const struct call *call = &tree->calls[i];
                if (!call->own[EXPORT_STALLED] && !call->own[EXPORT_LATENCY] &&
                    !call->own[EXPORT_SAMPLES])
                        continue;
                for (size_t at = i; at != SIZE_MAX; at = tree->calls[at].parent)
                        write_integer(part->memory, SAMPLE_LOCATION,
                                      tree->calls[at].function + 1);
                for (int w = 0; w < EXPORT_WEIGHTS; w++)
                        if (tree->known[w])
                                write_integer(part->memory, SAMPLE_VALUE,
                                              (uint64_t)call->own[w]);
                part_write(part, out, PROFILE_SAMPLE);
        }
}

static int write_profile(FILE *out, const struct call_tree *tree,
                         const struct report_summary *summary, const char *note)
{
        struct part part, line;
        if (!part_open(&part))
                return -1;
        if (!part_open(&line)) {
                part_close(&part);
                return -1;
        }
        write_types(out, &part, tree);
        write_samples(out, &part, tree);
        write_integer(part.memory, MAPPING_ID, 1);
        write_integer(part.memory, MAPPING_HAS_FUNCTIONS, 1);
        part_write(&part, out, PROFILE_MAPPING);
        write_functions(out, &part, &line, tree);
        write_texts(out, tree, note);
        write_integer(out, PROFILE_DURATION_NS, (uint64_t)(1e9 * summary->duration_s));
        write_integer(out, PROFILE_COMMENT, TEXT_NOTE);
        const bool whole = part_close(&line);
        return part_close(&part) && whole ? 0 : -1;
}

int export_pprof(struct db *db, const struct report_summary *summary, FILE *out,
                 struct diag *diag)
{
        struct call_tree tree;
        int code = call_tree_read(db, &tree, diag);
        char *note = code ? NULL : export_provenance(summary);
        if (!code && (!note || write_profile(out, &tree, summary, note)))
                code = diag_no_memory(diag);
        free(note);
        call_tree_free(&tree);
        return code;
}
