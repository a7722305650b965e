/* SPDX-License-Identifier: MIT */
/* Fuzz target: the fields at an offset of a type, and the decoder of instructions. The
 * input is a number of members, the members (struct packed_member), types made of
 * members, and code. Members may have any type, also one that holds them. */
#include "flow_instruction.h"
#include "fuzz_target.h"
#include "type_index.h"
#include "type_padding.h"
#include "type_path.h"

enum { TYPES = 16, MEMBERS_PER_TYPE = 8 };

struct packed_member {
        uint8_t name;
        uint8_t type;
        uint8_t offset_bytes;
        uint8_t bit_offset;
        uint8_t bit_size;
};

struct packed_type {
        uint8_t kind;
        uint8_t size_bytes;
        uint8_t element;
        uint8_t items;
        uint8_t member_count;
        struct packed_member members[MEMBERS_PER_TYPE];
};

static uint64_t widen(uint8_t byte)
{
        return byte == 255 ? UINT64_MAX : byte == 254 ? UINT64_C(1) << 62 : byte;
}

static int count_field(void *context, const struct field *field)
{
        ++*(size_t *)context;
        return 0;
}

static void put_type(struct types *types, struct string_pool *names,
                     const struct packed_type *packed)
{
        struct member members[MEMBERS_PER_TYPE];
        struct type type = {.kind = packed->kind % (TYPE_ARRAY + 1),
                            .name = string_pool_put(names, "t"),
                            .size_bytes = widen(packed->size_bytes),
                            .element = packed->element,
                            .items = widen(packed->items)};
        uint32_t id;
        if (type.kind == TYPE_STRUCT || type.kind == TYPE_UNION)
                type.member_count = packed->member_count % (MEMBERS_PER_TYPE + 1);
        for (uint32_t i = 0; i < type.member_count; i++) {
                const struct packed_member *from = &packed->members[i];

                members[i] = (struct member){
                    .name = from->name & 1 ? string_pool_put(names, "m") : 0,
                    .base = (from->name & 2) != 0,
                    .type = from->type,
                    .offset_bytes = widen(from->offset_bytes),
                    .bit_offset = from->bit_offset,
                    .bit_size = from->bit_size};
        }
        if (types_put(types, &type, members, &id) < 0)
                abort();
}

static void ask(const struct types *types, struct string_pool *names, uint32_t type)
{
        static const uint64_t offsets[] = {0, 1, 7, 8, 64, UINT64_MAX, UINT64_C(1) << 62};
        for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
                const struct type_access access = {
                    .bytes = (uint32_t)i * 3,
                    .number = (enum access_number)(i % (NUMBER_FLOAT + 1)),
                    .perhaps_float = i % 2 != 0};
                struct field field;
                enum field_outcome outcome =
                    type_field(types, names, type, offsets[i], &access, &field);

                if ((outcome == FIELD_FOUND) != (field.name != 0))
                        abort();
                type_part(types, type, offsets[i]);
                type_repeats(types, type, offsets[i], 8 * i);
                uint64_t found;

                type_indexed(types, type, (int64_t)offsets[i], 1 + 3 * i, i, &found);
                type_holds(types, type, offsets[i], (uint32_t)i);
        }
}

static void decode(const uint8_t *code, size_t size)
{
        struct instruction instruction;
        for (size_t at = 0; at < size;) {
                if (!instruction_decode(&instruction, code + at, size - at, at)) {
                        at++;
                        continue;
                }
                if (instruction.length_bytes == 0 ||
                    instruction.length_bytes > size - at ||
                    instruction.destination > REGISTER_NONE ||
                    instruction.source > REGISTER_NONE ||
                    instruction.memory.base > REGISTER_NONE ||
                    instruction.memory.index > REGISTER_NONE)
                        abort();
                at += instruction.length_bytes;
        }
}

/* Padding lies inside of its type. */
static void look_for_padding(const struct types *types, uint32_t type)
{
        struct padding *found;
        size_t count;
        if (type_padding(types, type, &found, &count) < 0)
                abort();
        for (size_t i = 0; i < count; i++)
                if (found[i].size_bytes == 0 ||
                    found[i].offset_bytes >= types->items[type].size_bytes ||
                    found[i].size_bytes >
                        types->items[type].size_bytes - found[i].offset_bytes)
                        abort();
        free(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct string_pool *names = string_pool_new();
        struct types types = {0};
        struct packed_type packed;
        size_t fields = 0;
        if (!names)
                abort();
        for (int i = 0; i < TYPES && size >= sizeof(packed); i++) {
                memcpy(&packed, data, sizeof(packed));
                put_type(&types, names, &packed);
                data += sizeof(packed);
                size -= sizeof(packed);
        }
        for (uint32_t i = 0; i < types.count; i++) {
                ask(&types, names, i);
                type_fields(&types, names, i, count_field, &fields);
                look_for_padding(&types, i);
        }
        decode(data, size);
        types_free(&types);
        string_pool_free(names);
        return 0;
}
