/* SPDX-License-Identifier: MIT */
/* The traversal only goes forward, from its root entry to the end of the root's children.
 * Behind the last child, libdw's search for a sibling stops at the null entry that ends
 * the level (libdw.h). The traversal continues there and need not search for the parent's
 * sibling. */
#include "die_walk.h"

#include <errno.h>

#include "append.h"
#include "byte_cursor.h"

enum { DEPTH_LIMIT = 512, LONG_ENTRY = 64 };

struct walk {
        struct dwarf_file *file;
        const char *start; /* of the unit */
        const char *end;
        struct dwarf_abbreviation *known; /* of the entry; a visit may reuse its slot */
        uint32_t code;                    /* of the slot */
        struct die_entry entry;           /* or a null entry, the end of a level */
        uint32_t *values;                 /* of the parents */
        size_t depth;
        size_t capacity;
};

/* Goes to the entry at NEXT, which costs WORK. False when the budget is spent. */
static bool go_to(struct walk *walk, const char *next, uint64_t work)
{
        enum { BYTES_AHEAD = 512 }; /* most entries wait for memory: prefetch */

        __builtin_prefetch(next + BYTES_AHEAD);
        walk->entry.die.addr = (void *)(uintptr_t)next;
        walk->entry.die.abbrev = NULL;
        return die_spend(walk->file, work);
}

static const char *place(const struct walk *walk)
{
        return walk->entry.die.addr;
}

#define FORM(name) (UINT64_C(1) << DW_FORM_##name)

/* Notes the position of the sibling attribute. Stops at an attribute whose size differs
 * between entries. */
static int measure_attribute(Dwarf_Attribute *attribute, void *context)
{
        static const uint64_t fixed_forms =
            FORM(addr) | FORM(data1) | FORM(data2) | FORM(data4) | FORM(data8) |
            FORM(flag) | FORM(flag_present) | FORM(implicit_const) | FORM(line_strp) |
            FORM(ref4) | FORM(sec_offset) | FORM(strp);
        const struct walk *walk = context;
        unsigned form = dwarf_whatform(attribute);

        if (dwarf_whatattr(attribute) == DW_AT_sibling && form == DW_FORM_ref4)
                walk->known->sibling_at =
                    (uint16_t)(attribute->valp - (const uint8_t *)place(walk));
        return form <= DW_FORM_implicit_const && (fixed_forms >> form & 1)
                   ? DWARF_CB_OK
                   : DWARF_CB_ABORT;
}

/* Finds the slot of the entry's abbreviation. NULL: its code has three bytes or more. */
static struct dwarf_abbreviation *find_slot(struct walk *walk)
{
        const uint8_t *at = walk->entry.die.addr;

        if (walk->end - (const char *)at < 2 || (at[0] & at[1] & 0x80))
                return NULL;
        uint32_t code = walk->code = at[0] < 0x80 ? at[0] : at[0] | (uint32_t)at[1] << 8;
        struct dwarf_abbreviation *slot =
            &walk->file->abbreviations[(code ^ code >> 7) % DWARF_ABBREVIATIONS];

        if (slot->unit != walk->entry.die.cu || slot->code != code)
                *slot =
                    (struct dwarf_abbreviation){.unit = walk->entry.die.cu, .code = code};
        return slot;
}

static void note(struct walk *walk, struct dwarf_abbreviation *known)
{
        Dwarf_Die *die = &walk->entry.die;

        known->tag = (uint16_t)dwarf_tag(die);
        if (known->tag == DW_TAG_invalid)
                return;
        known->abbrev = die->abbrev;
        known->same_size = dwarf_getattrs(die, measure_attribute, walk, 0) == 1 &&
                           !dwarf_haschildren(die);
}

/* The tag of the entry; notes its abbreviation. */
static unsigned read_tag(struct walk *walk)
{
        struct dwarf_abbreviation *known = walk->known = find_slot(walk);

        if (!known)
                return (unsigned)dwarf_tag(&walk->entry.die);
        if (!known->abbrev)
                note(walk, known);
        walk->entry.die.abbrev = known->abbrev;
        return known->tag;
}

/* The start of the sibling entry, if the abbreviation gives it. */
static const char *find_sibling(const struct walk *walk)
{
        const struct dwarf_abbreviation *known = walk->known;
        const char *at = place(walk);
        uint32_t offset;

        if (!known || known->sibling_at + sizeof(offset) > (size_t)(walk->end - at))
                return NULL;
        if (!known->sibling_at)
                return known->entry_bytes > 0 && known->entry_bytes < walk->end - at
                           ? at + known->entry_bytes
                           : NULL;
        memcpy(&offset, at + known->sibling_at, sizeof(offset));
        return offset > at - walk->start && offset < walk->end - walk->start
                   ? walk->start + offset
                   : NULL;
}

/* Skips the entry and its children. False at the end of the unit. */
static bool go_on(struct walk *walk)
{
        Dwarf_Die next;

        if (walk->known &&
            (walk->known->unit != walk->entry.die.cu || walk->known->code != walk->code))
                read_tag(walk);
        const char *sibling = find_sibling(walk), *to = sibling;

        if (!sibling && dwarf_siblingof(&walk->entry.die, &next) < 0)
                return false;
        if (!sibling)
                to = next.addr;
        if (!to) {
                die_spend(walk->file, (uint64_t)(walk->end - place(walk)));
                return false;
        }
        uint64_t work = (uint64_t)(to - place(walk));

        if (walk->known && walk->known->same_size && work <= UINT16_MAX)
                walk->known->entry_bytes = (uint16_t)work;
        if (work > LONG_ENTRY &&
            (sibling || dwarf_hasattr(&walk->entry.die, DW_AT_sibling)))
                work = 1; /* nothing in between was read */
        return go_to(walk, to, work);
}

/* Skips the null entry at the end of a level. False when there is none. */
static bool go_up(struct walk *walk)
{
        const char *at = place(walk);

        if (at >= walk->end || *at != '\0')
                return false;
        walk->depth--;
        return go_to(walk, at + 1, 1);
}

static int push(struct walk *walk, uint32_t value)
{
        return APPEND(walk->values, walk->depth, walk->capacity, value);
}

/* Visits the entry. 0 at the end of the traversal, or a negative error. */
static int step(struct walk *walk, die_visit *visit, void *context)
{
        struct die_entry *entry = &walk->entry;
        Dwarf_Die child;

        entry->parent = entry->value = walk->values[walk->depth - 1];
        entry->tag = read_tag(walk);
        if (entry->tag == DW_TAG_invalid)
                return go_up(walk);
        int result = visit(context, entry);

        if (result > 0 && walk->depth < DEPTH_LIMIT &&
            dwarf_child(&entry->die, &child) == 0) {
                const char *at = child.addr;

                result = push(walk, entry->value);
                return result < 0 ? result
                                  : go_to(walk, at, (uint64_t)(at - place(walk)));
        }
        return result < 0 ? result : go_on(walk);
}

/* Finds the unit that contains ROOT. False: not known. */
static bool find_unit(struct walk *walk, const Dwarf_Die *root)
{
        const struct elf_bytes section = die_section(walk->file, root);
        Dwarf_Die at = *root;
        const uint64_t inside = dwarf_cuoffset(&at), long_unit = UINT32_MAX;
        const char *addr = root->addr;

        if (!section.data || inside > (uint64_t)(addr - section.data))
                return false;
        walk->start = addr - inside;
        struct byte_cursor cursor = {.at = (const uint8_t *)walk->start,
                                     .end = (const uint8_t *)section.data + section.size};
        uint64_t bytes = cursor_number(&cursor, 4);

        if (bytes == long_unit)
                bytes = cursor_number(&cursor, sizeof(bytes));
        if (!cursor_has(&cursor, bytes))
                return false;
        walk->end = (const char *)cursor.at + bytes;
        return true;
}

int die_walk(struct dwarf_file *file, const Dwarf_Die *root, die_visit *visit,
             void *context)
{
        return die_walk_from(file, root, 0, visit, context);
}

int die_walk_from(struct dwarf_file *file, const Dwarf_Die *root, uint32_t value_at_root,
                  die_visit *visit, void *context)
{
        struct walk walk = {.file = file};
        Dwarf_Die at = *root;
        int result = find_unit(&walk, root) && dwarf_child(&at, &walk.entry.die) == 0;

        if (result && push(&walk, value_at_root) < 0)
                result = -ENOMEM;
        while (result > 0 && walk.depth > 0)
                result = step(&walk, visit, context);
        free(walk.values);
        return result < 0 ? result : 0;
}
