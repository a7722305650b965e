/* SPDX-License-Identifier: MIT */
/* libdw searches for a missing alternate file or split unit at a path that the file
 * names, and opens a file of any kind. The code here never lets libdw do so. */
#include "die.h"

#include <errno.h>
#include <string.h>

#include "append.h"
#include "die_split.h"
#include "name.h"

enum { CHAIN_LIMIT = 16 };

bool die_spend(struct dwarf_file *file, uint64_t work)
{
        return line_table_spend(&file->budget, work);
}

static bool points_to_alt(unsigned form)
{
        return form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt ||
               form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8 ||
               form == DW_FORM_strp_sup;
}

bool die_attribute(const struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                   Dwarf_Attribute *attribute)
{
        return dwarf_attr(die, name, attribute) &&
               (file->alt || !points_to_alt(dwarf_whatform(attribute)));
}

bool die_lost(const struct dwarf_file *file, Dwarf_Die *die, unsigned name)
{
        Dwarf_Attribute attribute;

        return !file->alt && dwarf_attr(die, name, &attribute) &&
               points_to_alt(dwarf_whatform(&attribute));
}

bool die_number(const struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                uint64_t *number)
{
        Dwarf_Attribute attribute;
        Dwarf_Word word;

        if (!die_attribute(file, die, name, &attribute) ||
            dwarf_formudata(&attribute, &word) != 0)
                return false;
        *number = word;
        return true;
}

static int take_call(Dwarf_Attribute *attribute, void *context)
{
        struct die_call *call = context;
        Dwarf_Word number;
        unsigned name = dwarf_whatattr(attribute);

        if ((name != DW_AT_call_file && name != DW_AT_call_line &&
             name != DW_AT_call_column) ||
            dwarf_formudata(attribute, &number) != 0)
                return DWARF_CB_OK;
        if (name == DW_AT_call_line)
                call->line = number;
        else if (name == DW_AT_call_column)
                call->column = number;
        else
                call->file = number;
        call->has_file |= name == DW_AT_call_file;
        return DWARF_CB_OK;
}

/* One pass over the attributes: a separate search for each would repeat it. */
void die_call(Dwarf_Die *die, struct die_call *call)
{
        *call = (struct die_call){0};
        dwarf_getattrs(die, take_call, call, 0);
}

/* The split unit that contains DIE, or NULL. Most queries are for the latest one. */
static const struct split_unit *split_of(const struct dwarf_file *file,
                                         const Dwarf_Die *die)
{
        Dwarf *dwarf = file->split_count ? dwarf_cu_getdwarf(die->cu) : NULL;

        for (size_t i = file->split_count; i-- > 0 && dwarf != file->dwarf;)
                if (file->splits[i]->dwarf == dwarf)
                        return file->splits[i];
        return NULL;
}

static bool holds(struct elf_bytes bytes, const char *at)
{
        return bytes.data && at >= bytes.data && (size_t)(at - bytes.data) < bytes.size;
}

/* The section that contains AT, a string of DIE; no bytes if the section is not known. */
static struct elf_bytes around(const struct dwarf_file *file, const Dwarf_Die *die,
                               const char *at)
{
        for (size_t i = 0; i < sizeof(file->strings) / sizeof(file->strings[0]); i++)
                if (holds(file->strings[i], at))
                        return file->strings[i];
        const struct split_unit *split = split_of(file, die);
        const struct elf_bytes image = {split ? split->image : NULL,
                                        split ? split->image_bytes : 0};

        return holds(image, at) ? image : (struct elf_bytes){NULL, 0};
}

/* The cost of a text: a comparison takes many bytes at a time. Many entries may begin in
 * one overlong text, and each may need its own copy. */
static uint64_t text_work(uint64_t bytes)
{
        enum { COMPARED_TOGETHER = 64, LONG_TEXT = 1 << 16 };

        return bytes > LONG_TEXT ? bytes : bytes / COMPARED_TOGETHER;
}

/* libdw does not look for the end of every string. A string may be as long as its
 * section, for any number of entries. */
const char *die_string(struct dwarf_file *file, Dwarf_Die *die, unsigned name)
{
        Dwarf_Attribute attribute;
        const char *text = die_attribute(file, die, name, &attribute)
                               ? dwarf_formstring(&attribute)
                               : NULL;
        struct elf_bytes bytes = {NULL, 0};

        if (text && file->budget > 0)
                bytes = around(file, die, text);
        size_t room = bytes.data ? (size_t)(bytes.data + bytes.size - text) : 0;
        const char *end = room > 0 ? memchr(text, '\0', room) : NULL;
        size_t length = end ? (size_t)(end - text) : room;

        return die_spend(file, text_work(length)) && end ? text : NULL;
}

bool die_reference(struct dwarf_file *file, Dwarf_Die *die, unsigned name,
                   Dwarf_Die *target)
{
        Dwarf_Attribute attribute;

        if (!die_attribute(file, die, name, &attribute))
                return false;
        return dwarf_formref_die(&attribute, target) ||
               (dwarf_whatform(&attribute) == DW_FORM_ref_sig8 &&
                die_split_type(file, die_section(file, die), &attribute, target));
}

bool die_open_unit(struct dwarf_file *file, size_t unit, Dwarf_Die *die,
                   Dwarf_Die *entries)
{
        struct dwarf_unit *opened = &file->units[unit];

        Dwarf_Attribute directory;

        /* libdw uses the directory when it reads lines. */
        if (!dwarf_offdie(file->dwarf, opened->die_offset, die) ||
            (dwarf_attr(die, DW_AT_comp_dir, &directory) &&
             !die_string(file, die, DW_AT_comp_dir)))
                return false;
        if (!opened->split_asked)
                opened->split = die_split_open(file, die, unit);
        opened->split_asked = true;
        *entries = opened->split ? opened->split->die : *die;
        return true;
}

bool die_lines_unit(struct dwarf_file *file, Dwarf_Die *die, Dwarf_Die *unit,
                    size_t *number)
{
        const struct split_unit *split = split_of(file, die);

        if (split) {
                *number = split->number;
                return split->number < file->unit_count &&
                       dwarf_offdie(file->dwarf, file->units[split->number].die_offset,
                                    unit);
        }
        if (dwarf_cu_getdwarf(die->cu) != file->dwarf ||
            !dwarf_diecu(die, unit, NULL, NULL))
                return false;
        uint64_t offset = dwarf_dieoffset(unit);

        *number = NUMBER_FROM(file->units, file->unit_count, offset);
        return *number < file->unit_count && file->units[*number].die_offset == offset;
}

bool die_origin(struct dwarf_file *file, Dwarf_Die *die, Dwarf_Die *origin)
{
        return die_reference(file, die, DW_AT_abstract_origin, origin) ||
               die_reference(file, die, DW_AT_specification, origin);
}

static const char *inherited_string(struct dwarf_file *file, const Dwarf_Die *die,
                                    unsigned name)
{
        Dwarf_Die at = *die, origin;
        const char *text = die_string(file, &at, name);

        for (int i = 0; !text && i < CHAIN_LIMIT && die_origin(file, &at, &origin); i++) {
                at = origin;
                text = die_string(file, &at, name);
        }
        return text;
}

bool die_inherited_reference(struct dwarf_file *file, const Dwarf_Die *die, unsigned name,
                             Dwarf_Die *target)
{
        Dwarf_Die at = *die, origin;

        for (int i = 0; i < CHAIN_LIMIT; i++) {
                if (die_reference(file, &at, name, target))
                        return true;
                if (!die_origin(file, &at, &origin))
                        return false;
                at = origin;
        }
        return false;
}

const char *die_linkage_name(struct dwarf_file *file, Dwarf_Die *die)
{
        const char *name = inherited_string(file, die, DW_AT_linkage_name);

        return name ? name : inherited_string(file, die, DW_AT_MIPS_linkage_name);
}

const char *die_name(struct dwarf_file *file, Dwarf_Die *die)
{
        const char *name = die_linkage_name(file, die);

        return name ? name : inherited_string(file, die, DW_AT_name);
}

uint32_t die_put_name(struct dwarf_file *file, struct string_pool *names, Dwarf_Die *die)
{
        const char *name = die_name(file, die);

        return name ? name_put_linkage(names, name) : 0;
}

int die_ranges(struct dwarf_file *file, Dwarf_Die *die, die_add_range *add, void *context)
{
        const struct split_unit *split = split_of(file, die);
        Dwarf_Addr base = 0, low, high;
        ptrdiff_t at = 0;
        Dwarf_Attribute ranges;

        /* A split unit does not know its base: the program has it. */
        if (split && die_attribute(file, die, DW_AT_ranges, &ranges)) {
                at = (ptrdiff_t)split_unit_range_list(split, &ranges);
                base = split->low_pc;
                if (at <= 0)
                        return 0;
        }

        while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
                int error = die_spend(file, 1) ? add(context, low, high) : -ENOENT;

                if (error)
                        return error;
        }
        return 0;
}

struct elf_bytes die_section(const struct dwarf_file *file, const Dwarf_Die *die)
{
        return around(file, die, die->addr);
}

int die_line_table(struct dwarf_file *file, Dwarf_Die *die, struct line_table *table)
{
        const struct line_sections sections = {.lines = file->lines,
                                               .texts = file->strings[0],
                                               .line_texts = file->strings[1],
                                               .code_at_zero =
                                                   elf_file_has_code(file->source, 0)};
        uint64_t offset;

        *table = (struct line_table){0};
        if (!die_number(file, die, DW_AT_stmt_list, &offset))
                return -ENOENT;
        int error = line_table_read(table, &sections, offset, &file->budget);

        if (error)
                line_table_free(table);
        return error == -EINVAL ? -ENOENT : error;
}

static int take_first(void *context, uint64_t low, uint64_t high)
{
        (void)high;
        *(Dwarf_Addr *)context = low;
        return 1;
}

bool die_entry_address(struct dwarf_file *file, Dwarf_Die *die, Dwarf_Addr *entry)
{
        return dwarf_entrypc(die, entry) == 0 ||
               die_ranges(file, die, take_first, entry) == 1;
}
