/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a program or library. Functions, lines, inlined calls,
 * variables and types are asked for all over its memory, as for samples. */

#include "input_file.h"
#include "module.h"
#include "target.h"

enum { QUESTIONS = 64, SEGMENTS = 8 };

static void ask(struct module *module, const struct elf_segment *segment)
{
        static const char *const nowhere[] = {NULL};
        const struct debug_search search = {.directories = nowhere};
        struct code_place code[QUESTIONS] = {0}, *code_list[QUESTIONS];
        struct data_place data[QUESTIONS] = {0}, *data_list[QUESTIONS];
        struct access accesses[QUESTIONS] = {0}, *access_list[QUESTIONS];
        struct code_frames frames = {0};
        struct types types = {0};
        struct string_pool *names = string_pool_new();
        const struct module_questions questions = {code_list, QUESTIONS,   data_list,
                                                   QUESTIONS, access_list, QUESTIONS};
        const struct module_answers answers = {names, &frames, &types};

        for (size_t i = 0; i < QUESTIONS; i++) {
                code[i].vaddr = data[i].vaddr =
                    segment->vaddr + segment->memory_bytes / QUESTIONS * i;
                accesses[i].code = &code[i];
                accesses[i].question = (enum flow_question)(i % (FLOW_FRAME + 1));
                code_list[i] = &code[i];
                data_list[i] = &data[i];
                access_list[i] = &accesses[i];
        }
        if (names && module->state == MODULE_READY)
                module_name(module, &search, &questions, &answers);
        types_free(&types);
        code_frames_free(&frames);
        string_pool_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        struct input_file file = input_file(bytes, size);
        struct module module = {.path = file.path};

        if (module_check(&module) == 0 && module.state == MODULE_READY) {
                for (size_t i = 0; i < module.file.segment_count && i < SEGMENTS; i++)
                        ask(&module, &module.file.segments[i]);
                elf_file_close(&module.file);
        }
        close(file.fd);
        return 0;
}
