/* SPDX-License-Identifier: MIT */
/* The nearest variable up to the place counts. */
#include "behind_header.h"

#include "rule.h"

/* The size of the structure that VALUE points to; 0: to none, or to one without an end.
 */
static int64_t header_bytes(const struct types *types, const struct place_value *value)
{
        if (value->kind != PLACE_POINTER || value->guessed || value->ahead != 0 ||
            !type_has_fields(types, value->type) || type_open_ended(types, value->type) ||
            type_size(types, value->type) > INT32_MAX || value->offset > INT32_MAX ||
            value->offset < INT32_MIN)
                return 0;
        int64_t bytes = (int64_t)type_size(types, value->type);

        /* An index that counts the structure's own items may lead to NAMED. */
        return bytes > 0 && value->indexed &&
                       (value->stride_bytes == 0 ||
                        value->stride_bytes % (uint64_t)bytes == 0)
                   ? 0
                   : bytes;
}

bool behind_header_begins(const struct types *types, const struct place_value *value,
                          const struct place_value *named)
{
        int64_t bytes = header_bytes(types, value);

        return bytes > 0 && !value->indexed && named->kind == PLACE_POINTER &&
               type_has_fields(types, named->type) && named->offset < 0 &&
               named->offset >= INT32_MIN && value->offset - named->offset >= bytes &&
               type_size(types, named->type) % (uint64_t)bytes != 0;
}

bool behind_header_ends(const struct types *types, const struct place_value *named)
{
        int64_t bytes = header_bytes(types, named);

        return bytes > 0 && !named->indexed && named->offset >= bytes;
}

static bool same_header(const struct place_value *a, const struct place_value *b)
{
        return a->kind == PLACE_POINTER && a->type == b->type && a->origin == b->origin &&
               !a->indexed && !a->guessed && a->stride_bytes == 0 && a->ahead == 0;
}

struct place_value behind_header(const struct flow_context *flow,
                                 const struct flow_state *state,
                                 const struct place_value *base, int64_t plus,
                                 uint64_t vaddr)
{
        int64_t bytes = header_bytes(flow->types, base), nearest = INT64_MIN;
        const struct register_variable *found = NULL;
        struct place_value result = *base;

        if (!rule_applies("behind-header") || bytes == 0 || plus > INT32_MAX ||
            plus < INT32_MIN)
                return result;
        int64_t at = base->offset + plus;

        if (at >= 0 && at < bytes)
                return result;
        for (uint8_t reg = 0; reg < REGISTER_COUNT; reg++) {
                const struct register_variable *variable =
                    variables_at(flow->variables, VARIABLES_BESIDE, reg, vaddr);
                const struct place_value *held = &state->registers[reg];

                if (!variable || !same_header(held, base) ||
                    variable->offset > INT32_MAX || variable->offset < INT32_MIN)
                        continue;
                int64_t begin = held->offset + variable->offset;
                uint32_t type = type_pointee(flow->reader, variable->type);

                /* A number by reference is a part of what its name does not say. */
                if (!type_has_fields(flow->types, type) || begin > at ||
                    begin <= nearest || (at >= 0 && begin < bytes) ||
                    (at < 0 && (uint64_t)(at - begin) >= type_size(flow->types, type)))
                        continue;
                nearest = begin;
                found = variable;
                result.type = type;
                result.offset = base->offset - begin;
                result.origin =
                    origin_of_variable((size_t)(variable - flow->variables->values));
        }
        return variable_has_rival(found) ? place_unknown : result;
}
