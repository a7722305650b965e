/* SPDX-License-Identifier: MIT */
/* See code.h. */
#include "code.h"

#define NODES       256u
#define CANDIDATES  64u
#define TO_NOWHERE  NODES       /* code that has not been translated */
#define TO_EXIT     (NODES + 1) /* out of the function, or of the part searched */
#define NODE_UNSEEN UINT32_MAX

void code_init(struct code *code, void *(*allocate)(size_t bytes))
{
        code->allocate = allocate;
        code->count = 1;
}

/* ---- instructions by their addresses ---- */

static uint32_t *head_of(struct code *code, uint64_t ip)
{
        return &code->heads[(ip * 0x9e3779b97f4a7c15u) >> 48];
}

_Static_assert(CODE_HEADS == 1u << 16, "as many as the hash has");

uint32_t code_find(const struct code *code, uint64_t ip)
{
        uint32_t number = code->heads[(ip * 0x9e3779b97f4a7c15u) >> 48];

        while (number != NO_INSTRUCTION && code_at(code, number)->ip != ip)
                number = code_at(code, number)->next;
        return number;
}

static uint32_t add_new(struct code *code, uint64_t ip)
{
        struct code_instruction **chunk = &code->chunks[code->count / CODE_CHUNK];
        uint32_t *head = head_of(code, ip);

        if (code->count == CODE_INSTRUCTIONS)
                return NO_INSTRUCTION;
        if (*chunk == NULL)
                *chunk = code->allocate(CODE_CHUNK * sizeof(**chunk));
        struct code_instruction *new = code_at(code, code->count);
        new->ip = ip;
        new->next = *head;
        *head = code->count;
        return code->count++;
}

uint32_t code_add(struct code *code, uint64_t ip, uint32_t length, enum code_kind kind,
                  uint64_t target)
{
        uint32_t number = code_find(code, ip);

        if (number == NO_INSTRUCTION)
                number = add_new(code, ip);
        if (number == NO_INSTRUCTION)
                return number;
        struct code_instruction *instruction = code_at(code, number);
        if (instruction->length != length || instruction->kind != kind ||
            instruction->target != target)
                instruction->writes = instruction->stores = 0; /* it is another one */
        instruction->length = (uint8_t)length;
        instruction->kind = (uint8_t)kind;
        instruction->target = target;
        return number;
}

/* ---- kinds of instructions ---- */

static bool is_prefix(uint8_t byte)
{
        return byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x3e ||
               byte == 0x66;
}

/* The displacement of BYTES bytes that ends an instruction. */
static int64_t displacement(const uint8_t *end, uint32_t bytes)
{
        uint32_t value = 0;

        if (bytes == 1)
                return (int8_t)end[-1];
        for (uint32_t i = 0; i < bytes; i++)
                value |= (uint32_t)end[(int32_t)i - (int32_t)bytes] << 8 * i;
        return (int32_t)value;
}

/* Of the group of opcode 0xff, by the middle of its second byte. */
static enum code_kind kind_of_group(uint8_t modrm)
{
        const uint8_t operation = modrm >> 3 & 7;

        if (operation == 2 || operation == 3)
                return CODE_CALL;
        return operation == 4 || operation == 5 ? CODE_END : CODE_PLAIN;
}

enum code_kind code_decode(const uint8_t *bytes, uint32_t length, uint64_t ip,
                           uint64_t *target)
{
        const uint8_t *end = bytes + length;

        while (bytes < end && is_prefix(*bytes))
                bytes++;
        if (bytes < end && (*bytes & 0xf0) == 0x40)
                bytes++;
        *target = 0;
        if (bytes == end)
                return CODE_PLAIN;
        const uint8_t next = bytes + 1 < end ? bytes[1] : 0;
        if ((*bytes & 0xf0) == 0x70 || (*bytes & 0xfc) == 0xe0) { /* jcc; loop, jrcxz */
                *target = ip + length + (uint64_t)displacement(end, 1);
                return CODE_CONDITIONAL;
        }
        switch (*bytes) {
        case 0x0f:
                if (next == 0x0b)
                        return CODE_STOP;
                if ((next & 0xf0) != 0x80)
                        return CODE_PLAIN;
                *target = ip + length + (uint64_t)displacement(end, 4);
                return CODE_CONDITIONAL;
        case 0xeb:
        case 0xe9:
                *target =
                    ip + length + (uint64_t)displacement(end, *bytes == 0xeb ? 1 : 4);
                return CODE_JUMP;
        case 0xe8:
                return CODE_CALL;
        case 0xc2:
        case 0xc3:
                return CODE_END;
        case 0xf4:
                return CODE_STOP;
        case 0xff:
                return kind_of_group(next);
        default:
                return CODE_PLAIN;
        }
}

/* ---- where paths join ---- */

/* The code around a branch: nodes are its instructions. */
struct around {
        struct code *code;
        uint32_t count;
        uint32_t start[2]; /* nodes, or TO_...: where the branch goes on */
        bool to_nowhere;   /* untranslated code counts as an exit */
        uint32_t number[NODES];
        uint32_t to[NODES][2];
};

/* The node at IP, a new one where there is room. */
static uint32_t node_at(struct around *around, uint64_t ip)
{
        const uint32_t number = code_find(around->code, ip);

        if (number == NO_INSTRUCTION)
                return TO_NOWHERE;
        struct code_instruction *instruction = code_at(around->code, number);
        if (instruction->search == around->code->searches)
                return instruction->node;
        if (around->count == NODES)
                return TO_EXIT;
        instruction->search = around->code->searches;
        instruction->node = around->count;
        around->number[around->count] = number;
        return around->count++;
}

static void ways_of(struct around *around, const struct code_instruction *instruction,
                    uint32_t to[2])
{
        const uint64_t behind = instruction->ip + instruction->length;

        switch ((enum code_kind)instruction->kind) {
        case CODE_CONDITIONAL:
                to[0] = node_at(around, behind);
                to[1] = node_at(around, instruction->target);
                return;
        case CODE_JUMP:
                to[0] = to[1] = node_at(around, instruction->target);
                return;
        case CODE_END:
                to[0] = to[1] = TO_EXIT;
                return;
        case CODE_STOP:
                to[0] = to[1] = TO_NOWHERE;
                return;
        default:
                to[0] = to[1] = node_at(around, behind);
                return;
        }
}

/* Nearest first; returns whether anything leads out. */
static bool look_around(struct around *around, uint32_t branch)
{
        bool leads_out;

        ways_of(around, code_at(around->code, branch), around->start);
        leads_out = around->start[0] == TO_EXIT || around->start[1] == TO_EXIT;
        for (uint32_t node = 0; node < around->count; node++) {
                ways_of(around, code_at(around->code, around->number[node]),
                        around->to[node]);
                leads_out |=
                    around->to[node][0] == TO_EXIT || around->to[node][1] == TO_EXIT;
        }
        return leads_out;
}

/* How many steps each node is from where a walk began, and from where it was reached;
 * NODE_UNSEEN: it was not, or is a start. */
struct walk {
        uint32_t steps[NODES];
        uint32_t from[NODES];
        uint32_t last; /* the node that leads out first; NODE_UNSEEN: none, or a start */
        bool leads_out;
};

static void walk_to(const struct around *around, struct walk *walk, uint32_t *queue,
                    uint32_t *queued, uint32_t from, uint32_t to)
{
        if (to == TO_EXIT || (to == TO_NOWHERE && around->to_nowhere)) {
                if (!walk->leads_out)
                        walk->last = from;
                walk->leads_out = true;
        } else if (to != TO_NOWHERE && walk->steps[to] == NODE_UNSEEN) {
                walk->steps[to] = from == NODE_UNSEEN ? 0 : walk->steps[from] + 1;
                walk->from[to] = from;
                queue[(*queued)++] = to;
        }
}

/* From STARTS, but no further than the node BUT. */
static void walk(const struct around *around, struct walk *walk, const uint32_t *starts,
                 uint32_t start_count, uint32_t but)
{
        uint32_t queue[NODES + 2];
        uint32_t queued = 0;

        walk->last = NODE_UNSEEN;
        walk->leads_out = false;
        for (uint32_t node = 0; node < around->count; node++)
                walk->steps[node] = NODE_UNSEEN;
        for (uint32_t i = 0; i < start_count; i++)
                walk_to(around, walk, queue, &queued, NODE_UNSEEN, starts[i]);
        for (uint32_t i = 0; i < queued; i++) {
                if (queue[i] == but)
                        continue;
                for (uint32_t way = 0; way < 2; way++)
                        walk_to(around, walk, queue, &queued, queue[i],
                                around->to[queue[i]][way]);
        }
}

/* A node common to all paths also lies on the shortest path. Returns the first node of
 * that path that no other path bypasses, or NODE_UNSEEN. */
static uint32_t find_meeting(const struct around *around, const struct walk *shortest)
{
        uint32_t way[NODES];
        uint32_t length = 0;
        struct walk without;

        for (uint32_t node = shortest->last; node != NODE_UNSEEN;
             node = shortest->from[node])
                way[length++] = node;
        for (uint32_t i = 0; i < length && i < CANDIDATES; i++) {
                const uint32_t node = way[length - 1 - i];
                walk(around, &without, around->start, 2, node);
                if (!without.leads_out)
                        return node;
        }
        return NODE_UNSEEN;
}

bool code_meet(struct code *code, uint32_t branch, uint64_t calls,
               struct code_meeting *meeting)
{
        struct around around = {.code = code};
        struct walk found;

        code->searches++;
        around.to_nowhere = !look_around(&around, branch);
        walk(&around, &found, around.start, 2, NODE_UNSEEN);
        const uint32_t node = find_meeting(&around, &found);
        if (node == NODE_UNSEEN)
                return false;
        *meeting = (struct code_meeting){.instruction = around.number[node]};
        for (uint32_t way = 0; way < 2; way++) {
                walk(&around, &found, &around.start[way], 1, node);
                if (found.steps[node] != NODE_UNSEEN)
                        meeting->length[way] = found.steps[node];
                for (uint32_t i = 0; i < around.count; i++) {
                        const struct code_instruction *on_way =
                            code_at(code, around.number[i]);
                        if (i == node || found.steps[i] == NODE_UNSEEN)
                                continue;
                        meeting->changed |= on_way->writes;
                        meeting->stored |= on_way->stores;
                        if (on_way->kind == CODE_CALL)
                                meeting->changed |= calls;
                }
        }
        return true;
}
