/* SPDX-License-Identifier: MIT */
/* A block holds more than its allocation's type if an access contradicts that type, or if
 * a pointer to another type leads there. */
#include "block_evidence.h"

#include "rule.h"
#include "site.h"
#include "type_by_instruction.h"

/* Whether samples are in functions that may copy or compare bytes. Other samples then
 * decide whether the block holds bytes only. */
static bool has_calls(const struct sweep *sweep)
{
        for (size_t i = 0; i < sweep->place_count; i++)
                if (place_asks(&sweep->places[i])->argument.code)
                        return true;
        return false;
}

/* Whether there are indexes: addresses tell whether they lead where they seem to. */
static bool has_indexes(const struct sweep *sweep)
{
        for (size_t i = 0; i < sweep->place_count; i++)
                if (instruction_points(&sweep->places[i]) &&
                    place_asks(&sweep->places[i])->access.flow.place.indexed)
                        return true;
        return false;
}

void block_evidence_begin(struct sample_types *finder)
{
        const struct raw *raw = finder->sweep->raw;

        finder->learns = has_calls(finder->sweep) || has_indexes(finder->sweep);
        for (size_t i = 0; i < raw->stack_count; i++)
                finder->blocks[i] =
                    (struct block_type){.type = TYPE_NONE, .item = TYPE_NONE};
        /* Blocks without samples too: they belong to the same objects. */
        for (size_t i = 0; i < raw->total_count; i++)
                if (raw->totals[i].stack != RAW_NONE)
                        finder->blocks[raw->totals[i].stack] = block_type_of_allocation(
                            finder->sweep, finder->types, raw->totals[i].stack);
        for (size_t i = 0; i < raw->allocation_count; i++) {
                uint32_t stack = raw->allocations[i].stack;

                if (stack == RAW_NONE)
                        continue;
                finder->blocks[stack] =
                    block_type_of_allocation(finder->sweep, finder->types, stack);
                finder->learns |= finder->blocks[stack].type != TYPE_NONE;
        }
}

/* Whether an access shows that BLOCKS hold more than their allocated type. Hash functions
 * count with the bits of floating point, too. */
static bool doubts(const struct sample_types *finder, const struct place *place,
                   const struct block_type *blocks, const struct raw_allocation *block,
                   uint64_t inside, unsigned relation)
{
        const struct types *types = finder->types;
        const struct type_access *access = instruction_access(place);

        if (access->number == NUMBER_ANY || blocks->type == TYPE_NONE ||
            !block_type_fills(types, blocks->type, block->size_bytes) ||
            !type_contradicted(types, blocks->type,
                               block_type_offset(types, blocks->type, inside), access))
                return false;
        return !(relation & BLOCK_AGREES) || access->number >= NUMBER_FLOATS ||
               !place_stays_inside(types, &place_asks(place)->access.flow.place);
}

void block_evidence_learn(struct sample_types *finder,
                          const struct sample_location *location, uint32_t stack)
{
        const struct target *target = &location->target;
        const struct place *place = &finder->sweep->places[location->place];
        const struct place_value *pointed = &place_asks(place)->access.flow.place;
        struct block_type *blocks = &finder->blocks[stack];
        bool tells_type = instruction_points(place) && !pointed->guessed;
        unsigned relation = tells_type
                                ? block_type_relation(finder->types, blocks->type,
                                                      target->offset_bytes, pointed)
                                : 0;

        finder->relations[location->place] |= (uint8_t)relation;
        if (rule_applies("doubts") &&
            doubts(finder, place, blocks, &finder->sweep->raw->allocations[target->index],
                   target->offset_bytes, relation))
                blocks->mixed = blocks->doubted = true;
        if (!instruction_points(place))
                return;
        blocks->used |= pointed->type != TYPE_NONE &&
                        finder->types->items[pointed->type].kind == TYPE_STRUCT;
        if (pointed->guessed)
                return;
        block_type_learn(blocks, finder->types, pointed, relation);
        block_type_learn_items(blocks, finder->types, target->offset_bytes, pointed);
        finder->records[finder->groups[stack]] |= blocks->records;
}
