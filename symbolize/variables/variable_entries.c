/* SPDX-License-Identifier: MIT */
/* One traversal of a function's entries. A variable with a location list names the
 * instructions of each location. A variable with a single location lives as long as
 * the block that declares it. */
#include "variables.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "die_walk.h"
#include "location.h"
#include "type_field.h"
#include "unit_kind.h"

struct code_range {
        uint64_t low;
        uint64_t high;
};

/* The ranges of one block: a part of collector.ranges. */
struct scope {
        size_t first;
        size_t count;
        uint32_t inlined; /* name of the inlined function around it; 0: none */
        uint16_t depth;
        uint16_t level; /* of inlined functions */
        bool codeless;  /* has the enclosing block's ranges */
};

struct collector {
        struct variables *variables;
        struct type_reader *reader;
        LIST(struct code_range) ranges;
        LIST(struct scope) scopes; /* a walk value is index + 1 */
        bool base_is_frame; /* the base of DW_OP_fbreg is the CFA, else a register */
        bool base_known;
        bool of_gcc;
        uint8_t base_register;
        /* the current variable */
        Dwarf_Die *die;
        uint64_t low;
        uint64_t high;
        uint32_t number;
        const struct scope *scope; /* NULL: none */
        bool scoped;               /* it lives as long as its scope */
        uint32_t type;             /* type and name, read with the first location */
        uint32_t name;
        bool type_read;
        bool name_read;
};

/* ---- scopes ---- */

static int add_range(void *context, uint64_t low, uint64_t high)
{
        struct collector *collector = context;

        return PUSH(&collector->ranges, (struct code_range){low, high});
}

static uint16_t add_one(uint16_t count)
{
        return count < UINT16_MAX ? (uint16_t)(count + 1) : UINT16_MAX;
}

/* Sorts the ranges from FIRST on, all of one block, and removes overlaps. Returns
 * their number. */
static size_t order_ranges(struct collector *collector, size_t first)
{
        size_t count = collector->ranges.count - first, kept = 0;
        struct code_range *ranges = count > 0 ? &collector->ranges.items[first] : NULL;

        SORT(ranges, count, number_order);
        for (size_t i = 0; i < count; i++) {
                struct code_range *last = kept ? &ranges[kept - 1] : NULL;

                if (!last || ranges[i].low >= last->high)
                        ranges[kept++] = ranges[i];
                else if (ranges[i].high > last->high)
                        last->high = ranges[i].high;
        }
        collector->ranges.count = first + kept;
        return kept;
}

/* *VALUE is the outer scope, and becomes DIE's scope. */
static int add_scope(struct collector *collector, Dwarf_Die *die, uint32_t *value)
{
        struct scope scope = {.first = collector->ranges.count};
        const struct scope *outer = *value ? &collector->scopes.items[*value - 1] : NULL;

        if (die_ranges(collector->reader->dwarf, die, add_range, collector) == -ENOMEM)
                return -ENOMEM;
        scope.count = order_ranges(collector, scope.first);
        if (scope.count == 0) { /* no separate code: the outer block's ranges count */
                if (!outer || dwarf_tag(die) != DW_TAG_lexical_block)
                        return 0;
                scope.first = outer->first;
                scope.count = outer->count;
                scope.codeless = true;
        }
        if (dwarf_tag(die) == DW_TAG_inlined_subroutine)
                scope.inlined =
                    die_put_name(collector->reader->dwarf, collector->reader->names, die);
        else if (outer)
                scope.inlined = outer->inlined;
        if (outer) {
                scope.depth = add_one(outer->depth);
                scope.level = dwarf_tag(die) == DW_TAG_inlined_subroutine
                                  ? add_one(outer->level)
                                  : outer->level;
        }
        if (collector->scopes.count >= UINT32_MAX - 1 ||
            PUSH(&collector->scopes, scope) < 0)
                return -ENOMEM;
        *value = (uint32_t)collector->scopes.count;
        return 0;
}

/* ---- variables ---- */

/* Many variables have no useful location. Their types are read on demand. */
static uint32_t type_in_work(struct collector *collector)
{
        if (!collector->type_read)
                collector->type = type_of_variable(collector->reader, collector->die);
        collector->type_read = true;
        return collector->type;
}

static uint32_t name_in_work(struct collector *collector)
{
        if (!collector->name_read)
                collector->name = die_put_name(collector->reader->dwarf,
                                               collector->reader->names, collector->die);
        collector->name_read = true;
        return collector->name;
}

/* The register holds a pointer of TYPE minus the location's offset. */
static int put_register(struct collector *collector, enum variables_by by,
                        const struct location *location, uint32_t type)
{
        struct variables *variables = collector->variables;

        if (variables->value_count >= UINT32_MAX ||
            array_reserve(&variables->values, &variables->value_capacity,
                          variables->value_count, sizeof(*variables->values)) < 0)
                return -ENOMEM;
        const struct scope *scope = collector->scope;
        const struct code_range *ranges =
            scope && scope->count > 0 ? &collector->ranges.items[scope->first] : NULL;

        const struct code_range code =
            ranges ? (struct code_range){ranges[0].low, ranges[scope->count - 1].high}
                   : (struct code_range){0, UINT64_MAX};

        variables->values[variables->value_count] = (struct register_variable){
            .low = collector->low,
            .high = collector->high,
            .inlined_low = code.low,
            .inlined_high = code.high,
            .level = scope ? scope->level : 0,
            .type = type,
            .name = name_in_work(collector),
            .offset = location->kind == LOCATION_VALUE ? location->offset : 0,
            .number = collector->number,
            .from_set = by == VARIABLES_SET,
            .reg = location->reg,
            .block = scope ? (uint32_t)(scope - collector->scopes.items) + 1 : 0,
            .codeless = scope && scope->codeless,
            .pointed = by == VARIABLES_POINTED,
            .given = scope && scope->depth == 0 &&
                     dwarf_tag(collector->die) == DW_TAG_formal_parameter};
        return range_map_add(&variables->maps[by][location->reg], collector->low,
                             collector->high, (uint32_t)variables->value_count++);
}

static int add_in_register(struct collector *collector, const struct location *location)
{
        uint32_t type = type_in_work(collector);

        if (type == TYPE_NONE)
                return collector->reader->error;
        /* Only the part of a struct in registers, an iterator for instance. */
        if (location->part_offset_bytes > 0 ||
            collector->reader->types->items[type].kind != TYPE_POINTER)
                type = type_part(collector->reader->types, type,
                                 location->part_offset_bytes);
        if (type_kind(collector->reader->types, type) != TYPE_POINTER)
                return 0;
        enum variables_by by = location->kind == LOCATION_VALUE && location->offset != 0
                                   ? VARIABLES_BESIDE
                               : collector->scoped && collector->of_gcc ? VARIABLES_SET
                                                                        : VARIABLES_IN;

        return put_register(collector, by, location, type);
}

/* Adds a variable at exactly the address in a register, such as a Fortran parameter
 * passed by address. The stack pointer and the frame base do not count as such a
 * register. A single number or pointer is excluded: it may lie at the start of the
 * closure or structure that contains it. */
static int add_behind_register(struct collector *collector,
                               const struct location *location)
{
        const uint8_t stack_pointer = 7;

        if (location->offset != 0 || location->reg == stack_pointer ||
            (!collector->base_is_frame && location->reg == collector->base_register) ||
            type_is_single(collector->reader->types, type_in_work(collector)))
                return 0;
        uint32_t type = type_pointer_to(collector->reader, collector->die);

        return type == TYPE_NONE
                   ? collector->reader->error
                   : put_register(collector, VARIABLES_POINTED, location, type);
}

static int add_in_memory(struct collector *collector, const struct location *location)
{
        struct variables *variables = collector->variables;
        struct frame_variable variable = {.low = collector->low,
                                          .high = collector->high,
                                          .reg = location->reg,
                                          .offset = location->offset};

        if (location->part_offset_bytes > 0)
                return 0;
        variable.type = location->kind == LOCATION_BEHIND
                            ? type_pointer_to(collector->reader, collector->die)
                            : type_in_work(collector);
        if (variable.type == TYPE_NONE)
                return collector->reader->error;
        if (location->kind != LOCATION_MEMORY) {
                if (!collector->base_known)
                        return 0;
                variable.in_frame = collector->base_is_frame;
                variable.reg = collector->base_register;
        }
        variable.name = name_in_work(collector);
        variable.number = collector->number;
        variable.scoped = collector->scoped;
        if (collector->scope) {
                variable.inlined = collector->scope->inlined;
                variable.depth = collector->scope->depth;
                variable.shared = collector->scoped && collector->scope->codeless;
        }
        if (PUSH(&variables->frames, variable) < 0)
                return -ENOMEM;
        return location->kind == LOCATION_MEMORY
                   ? add_behind_register(collector, location)
                   : 0;
}

static int add_location(void *context, const struct location *location)
{
        switch (location->kind) {
        case LOCATION_REGISTER:
        case LOCATION_VALUE:
                return add_in_register(context, location);
        case LOCATION_MEMORY:
        case LOCATION_FRAME:
        case LOCATION_BEHIND:
                return add_in_memory(context, location);
        default:
                return 0;
        }
}

static int add_everywhere(struct collector *collector, Dwarf_Attribute *attribute)
{
        const struct scope *scope = collector->scope;
        Dwarf_Op *ops;
        size_t count;
        int error = 0;

        if (!scope || dwarf_getlocation(attribute, &ops, &count) != 0 ||
            !die_spend(collector->reader->dwarf, (count + 1) * (scope->count + 1)))
                return 0;
        collector->scoped = true;
        for (size_t i = 0; i < scope->count && !error; i++) {
                const struct code_range *range =
                    &collector->ranges.items[scope->first + i];

                collector->low = range->low;
                collector->high = range->high;
                error = location_parts(attribute, ops, count, add_location, collector);
        }
        return error;
}

/* Adds a variable without a location whose block has code. */
static int add_nowhere(struct collector *collector)
{
        struct variables *variables = collector->variables;
        const struct scope *scope = collector->scope;

        if (scope->codeless || scope->depth == 0 || !collector->of_gcc ||
            dwarf_tag(collector->die) != DW_TAG_variable ||
            !die_spend(collector->reader->dwarf, scope->count + 1))
                return 0;
        for (size_t i = 0; i < scope->count; i++) {
                const struct code_range *range =
                    &collector->ranges.items[scope->first + i];

                if (PUSH(&variables->unplaced,
                         (struct unplaced_variable){range->low, range->high,
                                                    *collector->die}) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int add_listed(struct collector *collector, Dwarf_Attribute *attribute)
{
        Dwarf_Addr base, low, high;
        Dwarf_Op *ops;
        size_t count;
        ptrdiff_t at = 0;
        int error = 0;

        while (!error && (at = dwarf_getlocations(attribute, at, &base, &low, &high, &ops,
                                                  &count)) > 0) {
                if (!die_spend(collector->reader->dwarf, count + 1))
                        return 0;
                collector->low = low;
                collector->high = high;
                error = location_parts(attribute, ops, count, add_location, collector);
        }
        return error;
}

static int add_variable(struct collector *collector, Dwarf_Die *die, uint32_t scope)
{
        Dwarf_Attribute attribute;

        collector->die = die;
        collector->scope = scope ? &collector->scopes.items[scope - 1] : NULL;
        collector->scoped = false;
        collector->number++;
        collector->type_read = collector->name_read = false;
        collector->name = 0;
        if (!die_attribute(collector->reader->dwarf, die, DW_AT_location, &attribute))
                return collector->scope ? add_nowhere(collector) : 0;
        switch (dwarf_whatform(&attribute)) {
        case DW_FORM_sec_offset:
        case DW_FORM_loclistx:
        case DW_FORM_data4:
        case DW_FORM_data8:
                return add_listed(collector, &attribute);
        default:
                return add_everywhere(collector, &attribute);
        }
}

static int add_call(struct collector *collector, Dwarf_Die *die)
{
        struct variables *variables = collector->variables;
        struct dwarf_file *dwarf = collector->reader->dwarf;
        Dwarf_Attribute attribute;
        Dwarf_Die callee;
        Dwarf_Addr address;

        if ((!die_attribute(dwarf, die, DW_AT_call_return_pc, &attribute) &&
             !die_attribute(dwarf, die, DW_AT_low_pc, &attribute)) ||
            dwarf_formaddr(&attribute, &address) != 0 ||
            (!die_reference(dwarf, die, DW_AT_call_origin, &callee) &&
             !die_reference(dwarf, die, DW_AT_abstract_origin, &callee)))
                return 0;
        uint32_t type = type_of_variable(collector->reader, &callee);

        if (type_kind(collector->reader->types, type) != TYPE_POINTER)
                return collector->reader->error;
        return PUSH(
            &variables->calls,
            (struct call_result){address, type,
                                 die_put_name(dwarf, collector->reader->names, &callee)});
}

static int visit(void *context, struct die_entry *entry)
{
        struct collector *collector = context;
        Dwarf_Die *die = &entry->die;
        int error;

        switch (entry->tag) {
        case DW_TAG_formal_parameter:
        case DW_TAG_variable:
                return add_variable(collector, die, entry->parent);
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
                error = add_scope(collector, die, &entry->value);
                return error ? error : 1;
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
                return add_call(collector, die);
        default:
                return 0;
        }
}

static void read_frame_base(struct collector *collector, Dwarf_Die *function)
{
        Dwarf_Attribute attribute;
        Dwarf_Op *ops;
        size_t count;

        if (!die_attribute(collector->reader->dwarf, function, DW_AT_frame_base,
                           &attribute) ||
            dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1)
                return;
        if (ops[0].atom == DW_OP_call_frame_cfa) {
                collector->base_known = collector->base_is_frame = true;
        } else if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg15) {
                collector->base_known = true;
                collector->base_register = (uint8_t)(ops[0].atom - DW_OP_reg0);
        }
}

int variable_entries_read(struct variables *variables, struct type_reader *reader,
                          Dwarf_Die *function)
{
        struct collector collector = {.variables = variables, .reader = reader};
        uint32_t scope = 0;

        read_frame_base(&collector, function);
        collector.of_gcc = function_is_of_gcc(reader->dwarf, function);
        int error = add_scope(&collector, function, &scope);

        /* A walk begins with the value 0; the function's own scope is number 1. */
        if (!error && scope == 1)
                error = die_walk_from(reader->dwarf, function, 1, visit, &collector);
        free(collector.ranges.items);
        free(collector.scopes.items);
        return error == -ENOMEM ? error : 0;
}
