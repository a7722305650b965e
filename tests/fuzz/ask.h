/* SPDX-License-Identifier: MIT */
/* Asks for all that samples all over the memory of a program or library need: functions,
 * lines, inlined calls, variables, types and their fields. */
#ifndef FUZZ_ASK_H
#define FUZZ_ASK_H

#include "module.h"
#include "type_path.h"

#ifndef QUESTIONS
#define QUESTIONS 64
#endif

static inline int count_field(void *context, const struct field *field)
{
        ++*(size_t *)context;
        return 0;
}

/* Every field of every type. */
static inline void ask_types(const struct types *types, struct string_pool *names)
{
        static const struct type_access access = {.bytes = 8};
        struct field field;
        size_t fields = 0;
        for (uint32_t i = 0; i < types->count && i < QUESTIONS; i++) {
                type_fields(types, names, i, count_field, &fields);
                for (uint64_t offset = 0; offset < 64; offset += 8)
                        type_field(types, names, i, offset, &access, &field);
                type_field(types, names, i, UINT64_MAX, &access, &field);
        }
}

/* MODULE, which is ready, at code among BYTES from START on, and at data among twice as
 * many. */
static inline void ask(struct module *module, uint64_t start, uint64_t bytes)
{
        static const char *const nowhere[] = {NULL};
        const struct debug_search search = {.directories = nowhere};
        struct code_place code[QUESTIONS] = {0}, *code_list[QUESTIONS];
        struct data_place data[QUESTIONS] = {0}, *data_list[QUESTIONS];
        struct access accesses[QUESTIONS] = {0}, *access_list[QUESTIONS];
        struct code_frames frames = {0};
        struct types types = {0};
        struct string_pool *names = string_pool_new();
        const struct module_questions questions = {
            .code = {code_list, QUESTIONS, 0},
            .data = {data_list, QUESTIONS, 0},
            .accesses = {access_list, QUESTIONS, 0}};
        const struct module_answers answers = {names, &frames, &types};
        for (size_t i = 0; i < QUESTIONS; i++) {
                code[i].vaddr = start + bytes / QUESTIONS * i;
                data[i].vaddr = start + bytes / QUESTIONS * 2 * i;
                accesses[i].code = &code[i];
                accesses[i].question = (enum flow_question)(i % (FLOW_FRAME + 1));
                code_list[i] = &code[i];
                data_list[i] = &data[i];
                access_list[i] = &accesses[i];
        }
        if (names) {
                module_name(module, &search, &questions, &answers);
                ask_types(&types, names);
        }
        types_free(&types);
        code_frames_free(&frames);
        string_pool_free(names);
}

#endif
