/* SPDX-License-Identifier: MIT */
/* Two lines for an instruction: registers and stack slots before it, then its text. */
#include "flow_trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "disassembly.h"

static const char *const register_names[REGISTER_COUNT] = {
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static const char *const kind_names[] = {
    [PLACE_UNKNOWN] = "unknown", [PLACE_POINTER] = "pointer",
    [PLACE_FRAME] = "frame",     [PLACE_ALIGNED] = "aligned frame",
    [PLACE_ADDRESS] = "address", [PLACE_THREAD] = "thread",
    [PLACE_NUMBER] = "number",   [PLACE_TABLE_WORD] = "table word",
    [PLACE_RESULT] = "result",   [PLACE_UNREACHED] = "unreached",
};

static const char *type_name(const struct flow_context *flow, uint32_t type)
{
        const struct type_reader *reader = flow->reader;
        const char *name =
            type < reader->types->count
                ? string_pool_text(reader->names, reader->types->items[type].name)
                : NULL;

        return name ? name : "(no name)";
}

static void print_value(const struct flow_context *flow, const struct place_value *value)
{
        printf("%s", kind_names[value->kind]);
        if (value->kind == PLACE_POINTER)
                printf(" to %s", type_name(flow, value->type));
        if (value->offset != 0)
                printf(" %+" PRId64, value->offset);
        if (value->stride_bytes > 0)
                printf(" + n * %" PRIu64, value->stride_bytes);
        if (value->unknown_index)
                printf(" + unknown index");
        if (value->guessed)
                printf(", guessed");
        if (origin_is_variable(value->origin) && value->kind == PLACE_POINTER) {
                const struct register_variable *variable =
                    &flow->variables->values[value->origin - ORIGIN_FIRST_VARIABLE];
                const char *name = string_pool_text(flow->reader->names, variable->name);

                printf(" (variable %s)", name ? name : "without a name");
        }
}

static void print_state(const struct flow_context *flow, struct flow_state *state,
                        uint64_t vaddr)
{
        fputs("   ", stdout);
        for (uint8_t i = 0; i < REGISTER_COUNT; i++) {
                struct place_value held = flow_state_held(flow, state, i, vaddr);

                if (place_says_nothing(&held))
                        continue;
                printf(" %s=", register_names[i]);
                print_value(flow, &held);
        }
        for (uint32_t i = 0; i < state->frame.count; i++) {
                printf(" frame[%+" PRId64 "]=", state->frame.slots[i].offset);
                print_value(flow, &state->frame.slots[i].value);
        }
        putchar('\n');
}

static void print_instruction(const struct elf_file *file, uint64_t vaddr)
{
        uint8_t bytes[DISASSEMBLY_CODE_BYTES];
        char text[DISASSEMBLY_TEXT_BYTES];
        size_t length = elf_file_read_code(file, vaddr, bytes, sizeof(bytes));

        if (disassembly_text(bytes, length, vaddr, DISASSEMBLY_ATT, text))
                printf("%#" PRIx64 ": %s\n", vaddr, text);
}

void flow_trace(const struct flow_walk *walk, size_t step,
                const struct flow_answer *answer)
{
        const struct flow_context *flow = walk->context;
        const char *pointer = string_pool_text(flow->reader->names, answer->pointer);

        for (size_t i = 0; i <= step; i++) {
                struct flow_state state = flow_walk_before(walk, i);

                print_state(flow, &state, walk->code->steps[i].vaddr);
                print_instruction(flow->file, walk->code->steps[i].vaddr);
        }
        printf("operand: ");
        print_value(flow, &answer->place);
        if (pointer)
                printf(", by %s", pointer);
        if (answer->variable.type != TYPE_NONE)
                printf(", in a variable of type %s",
                       type_name(flow, answer->variable.type));
        printf("%s\n", answer->folded ? ", but several functions have this code" : "");
}
