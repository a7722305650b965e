/* SPDX-License-Identifier: MIT */
/* libdw looks for a missing alternate file or split unit by itself, at a path that
 * the file names, and opens it whatever it is; nothing here lets it come to that. */
#include "die.h"

#include <errno.h>
#include <string.h>

#include "array.h"
#include "die_cost.h"
#include "die_split.h"

enum { CHAIN_LIMIT = 16, INFO_STRINGS = 2 };

uint64_t dwarf_work(uint64_t entry_bytes, uint64_t line_bytes)
{
        return UINT64_C(16) * entry_bytes + UINT64_C(4) * line_bytes + 65536;
}

static int read_units(struct dwarf_file *file)
{
        Dwarf_Off offset = 0, next;
        size_t header_bytes, capacity = 0;

        while (dwarf_next_unit(file->dwarf, offset, &next, &header_bytes, NULL, NULL,
                               NULL, NULL, NULL, NULL) == 0 &&
               next > offset) {
                if (array_reserve(&file->units, &capacity, file->unit_count,
                                  sizeof(*file->units)) < 0)
                        return -ENOMEM;
                file->units[file->unit_count++] =
                    (struct dwarf_unit){.die_offset = offset + header_bytes};
                offset = next;
        }
        file->units_end = offset;
        file->budget =
            dwarf_work(offset, (uint64_t)(file->lines.end - file->lines.start));
        return 0;
}

static struct dwarf_bytes section_bytes(Elf *elf, const char *name)
{
        size_t size;
        const char *data = elf_section_data(elf, name, &size);

        return (struct dwarf_bytes){data, data ? data + size : NULL};
}

static void find_strings(Elf *elf, struct dwarf_bytes *strings)
{
        strings[0] = section_bytes(elf, ".debug_str");
        strings[1] = section_bytes(elf, ".debug_line_str");
        strings[INFO_STRINGS] = section_bytes(elf, ".debug_info");
        strings[3] = section_bytes(elf, ".debug_types");
}

/* libdw trusts that the last string of a section ends. The section is in memory of its
 * own, where an end can be put. */
static void end_strings(struct dwarf_bytes bytes)
{
        if (bytes.end > bytes.start)
                *((char *)(uintptr_t)bytes.end - 1) = '\0';
}

/* Opens the DWARF of FILE, unpacked into IMAGE where it is packed; *REFUSED of its units
 * are not read. */
static int open_unpacked(const struct elf_file *file, bool with_locations,
                         struct debug_image *image, Dwarf **dwarf,
                         struct dwarf_bytes *strings, size_t *refused)
{
        int error = debug_image_open(image, file, with_locations);

        if (error)
                return error;
        find_strings(image->elf, strings);
        end_strings(strings[0]);
        end_strings(strings[1]);
        *dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
        return *dwarf ? die_check_cost(*dwarf, image->made ? refused : NULL) : -ENOENT;
}

/* Whether units, each beginning with the entry of one, fill all of the section; of
 * REFUSED no entry can be read. */
static bool all_units(Dwarf *dwarf, const struct dwarf_bytes *section, size_t refused)
{
        Dwarf_Off offset = 0, next;
        size_t header_bytes;
        Dwarf_Die die;

        while (dwarf_next_unit(dwarf, offset, &next, &header_bytes, NULL, NULL, NULL,
                               NULL, NULL, NULL) == 0 &&
               next > offset) {
                int tag = dwarf_offdie(dwarf, offset + header_bytes, &die)
                              ? dwarf_tag(&die)
                              : DW_TAG_invalid;

                if (tag == DW_TAG_invalid && refused > 0)
                        refused--;
                else if (tag != DW_TAG_partial_unit && tag != DW_TAG_compile_unit)
                        return false;
                offset = next;
        }
        return offset == (Dwarf_Off)(section->end - section->start);
}

/* Opens what dwz moved to ALT. When that cannot be read it is as if it were not there,
 * which who opened DWARF sees. */
static int open_alt(struct dwarf_file *dwarf, const struct elf_file *alt,
                    bool with_locations)
{
        int error = open_unpacked(alt, with_locations, &dwarf->alt_image, &dwarf->alt,
                                  dwarf->strings + 4, &dwarf->alt_units_refused);

        if (error || all_units(dwarf->alt, &dwarf->strings[4 + INFO_STRINGS],
                               dwarf->alt_units_refused))
                return error;
        dwarf->alt_units_refused = 0;
        memset(dwarf->strings + 4, 0, 4 * sizeof(dwarf->strings[0]));
        dwarf_end(dwarf->alt);
        dwarf->alt = NULL;
        return -EINVAL;
}

int dwarf_file_open(struct dwarf_file *dwarf, const struct elf_file *file,
                    const struct elf_file *alt, bool with_locations)
{
        int error;

        *dwarf = (struct dwarf_file){.source = file};
        error = open_unpacked(file, with_locations, &dwarf->image, &dwarf->dwarf,
                              dwarf->strings, &dwarf->units_refused);
        if (!error && alt)
                error = open_alt(dwarf, alt, with_locations);
        if (error == -ENOMEM || error == -EFBIG || !dwarf->dwarf) {
                dwarf_file_close(dwarf);
                return error;
        }
        if (dwarf->alt)
                dwarf_setalt(dwarf->dwarf, dwarf->alt);
        dwarf->lines = section_bytes(dwarf->image.elf, ".debug_line");
        error = read_units(dwarf);
        if (!error && dwarf->unit_count == 0)
                error = -ENOENT;
        if (error)
                dwarf_file_close(dwarf);
        return error;
}

void dwarf_file_close(struct dwarf_file *dwarf)
{
        dwarf_file_forget(dwarf);
        for (size_t i = 0; i < dwarf->split_count; i++) {
                split_unit_close(dwarf->splits[i]);
                free(dwarf->splits[i]);
        }
        free(dwarf->splits);
        free(dwarf->bases.addresses);
        free(dwarf->bases.ranges);
        split_types_free(&dwarf->types);
        split_package_close(&dwarf->package);
        dwarf_end(dwarf->dwarf);
        dwarf_end(dwarf->alt);
        debug_image_close(&dwarf->image);
        debug_image_close(&dwarf->alt_image);
        free(dwarf->units);
        range_map_free(&dwarf->unit_map);
        *dwarf = (struct dwarf_file){0};
}

static bool is_split(Dwarf_Die *unit)
{
        uint8_t type = 0;

        return dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0 ||
               type == DW_UT_skeleton;
}

bool dwarf_file_shareable(const struct dwarf_file *file)
{
        Dwarf_Die unit;

        if (!file->image.made || (file->alt && !file->alt_image.made))
                return false;
        for (size_t i = 0; i < file->unit_count; i++)
                if (dwarf_offdie(file->dwarf, file->units[i].die_offset, &unit) &&
                    is_split(&unit))
                        return false;
        return true;
}

static int share(struct debug_image *copy, const struct debug_image *image, Dwarf **dwarf,
                 struct dwarf_bytes *strings)
{
        if (debug_image_share(copy, image) < 0)
                return -ENOMEM;
        find_strings(copy->elf, strings);
        *dwarf = dwarf_begin_elf(copy->elf, DWARF_C_READ, NULL);
        return *dwarf ? 0 : -ENOMEM;
}

int dwarf_file_share(struct dwarf_file *copy, const struct dwarf_file *file)
{
        *copy =
            (struct dwarf_file){.source = file->source,
                                .shared = true,
                                .lines = file->lines,
                                .units = malloc(file->unit_count * sizeof(*file->units)),
                                .unit_count = file->unit_count,
                                .units_end = file->units_end,
                                .budget = file->budget};
        int error = copy->units
                        ? share(&copy->image, &file->image, &copy->dwarf, copy->strings)
                        : -ENOMEM;

        if (!error && file->alt)
                error = share(&copy->alt_image, &file->alt_image, &copy->alt,
                              copy->strings + 4);
        if (error) {
                dwarf_file_close(copy);
                return -ENOMEM;
        }
        memcpy(copy->units, file->units, file->unit_count * sizeof(*file->units));
        if (copy->alt)
                dwarf_setalt(copy->dwarf, copy->alt);
        return 0;
}

bool die_spend(struct dwarf_file *file, uint64_t work)
{
        if (file->budget < work) {
                file->budget = 0;
                return false;
        }
        file->budget -= work;
        return true;
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

/* To look for one attribute after the other would go over all of them each time. */
void die_call(Dwarf_Die *die, struct die_call *call)
{
        *call = (struct die_call){0};
        dwarf_getattrs(die, take_call, call, 0);
}

/* The split unit that DIE is in, or NULL; the latest is asked for most. */
static const struct split_unit *split_of(const struct dwarf_file *file,
                                         const Dwarf_Die *die)
{
        Dwarf *dwarf = file->split_count ? dwarf_cu_getdwarf(die->cu) : NULL;

        for (size_t i = file->split_count; i-- > 0 && dwarf != file->dwarf;)
                if (file->splits[i]->dwarf == dwarf)
                        return file->splits[i];
        return NULL;
}

/* The bytes that TEXT, a string of DIE, is in; start is NULL when they are not known. */
static struct dwarf_bytes around(const struct dwarf_file *file, const Dwarf_Die *die,
                                 const char *text)
{
        const struct split_unit *split = split_of(file, die);

        for (size_t i = 0; i < sizeof(file->strings) / sizeof(file->strings[0]); i++)
                if (text >= file->strings[i].start && text < file->strings[i].end)
                        return file->strings[i];
        if (split && text >= split->image && text < split->image + split->image_bytes)
                return (struct dwarf_bytes){split->image,
                                            split->image + split->image_bytes};
        return (struct dwarf_bytes){NULL, NULL};
}

/* What a text costs: it is compared many bytes at a time. One that is longer than any
 * name may have to be kept, for each of many entries that begin somewhere in it. */
static uint64_t text_work(uint64_t bytes)
{
        enum { COMPARED_TOGETHER = 64, LONG_TEXT = 1 << 16 };

        return bytes > LONG_TEXT ? bytes : bytes / COMPARED_TOGETHER;
}

/* libdw does not look for the end of every string, and one may be as long as its section,
 * for any number of entries. */
const char *die_string(struct dwarf_file *file, Dwarf_Die *die, unsigned name)
{
        Dwarf_Attribute attribute;
        const char *text = die_attribute(file, die, name, &attribute)
                               ? dwarf_formstring(&attribute)
                               : NULL;
        struct dwarf_bytes bytes = {NULL, NULL};

        if (text)
                bytes = around(file, die, text);
        const char *end =
            bytes.start ? memchr(text, '\0', (size_t)(bytes.end - text)) : NULL;
        size_t length = bytes.start ? (size_t)((end ? end : bytes.end) - text) : 0;

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

        /* libdw reads the directory itself when it reads lines. */
        if (!dwarf_offdie(file->dwarf, opened->die_offset, die) ||
            (dwarf_attr(die, DW_AT_comp_dir, &directory) &&
             !die_string(file, die, DW_AT_comp_dir)))
                return false;
        if (!opened->split_asked)
                opened->split = die_split_open(file, die);
        opened->split_asked = true;
        *entries = opened->split ? opened->split->die : *die;
        return true;
}

bool die_has_files(const struct dwarf_file *file, const Dwarf_Die *die)
{
        const struct split_unit *split = split_of(file, die);

        return !split || split->has_files;
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

/* Calls ADD for what libdw reads from AT on: 0 is what DIE says itself. */
static int add_list(struct dwarf_file *file, Dwarf_Die *die, ptrdiff_t at,
                    Dwarf_Addr base, die_add_range *add, void *context)
{
        Dwarf_Addr low, high;

        while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
                int error = die_spend(file, 1) ? add(context, low, high) : -ENOENT;

                if (error)
                        return error;
        }
        return 0;
}

int die_ranges(struct dwarf_file *file, Dwarf_Die *die, die_add_range *add, void *context)
{
        const struct split_unit *split = split_of(file, die);
        Dwarf_Addr base = 0;
        ptrdiff_t at = 0;
        Dwarf_Attribute ranges;

        /* A unit in a file of its own does not know its base. */
        if (split && die_attribute(file, die, DW_AT_ranges, &ranges)) {
                at = (ptrdiff_t)split_unit_range_list(split, &ranges);
                base = split->low_pc;
                if (at <= 0)
                        return 0;
        }

        return add_list(file, die, at, base, add, context);
}

uint64_t die_range_base(Dwarf_Die *unit)
{
        Dwarf_Addr base;

        return dwarf_lowpc(unit, &base) == 0 || dwarf_entrypc(unit, &base) == 0 ? base
                                                                                : 0;
}

int die_ranges_at(struct dwarf_file *file, Dwarf_Die *die, uint64_t offset, uint64_t base,
                  die_add_range *add, void *context)
{
        /* libdw means something else by the first two. */
        if (offset <= 1 || offset > PTRDIFF_MAX || split_of(file, die))
                return die_ranges(file, die, add, context);
        return add_list(file, die, (ptrdiff_t)offset, base, add, context);
}

struct dwarf_bytes die_section(const struct dwarf_file *file, const Dwarf_Die *die)
{
        const char *at = die->addr;

        for (size_t i = 0; i < sizeof(file->strings) / sizeof(file->strings[0]); i++)
                if (at >= file->strings[i].start && at < file->strings[i].end)
                        return file->strings[i];
        const struct split_unit *split = split_of(file, die);

        if (split)
                return (struct dwarf_bytes){split->image,
                                            split->image + split->image_bytes};
        return (struct dwarf_bytes){NULL, NULL};
}

static Elf *elf_of(const Dwarf_Die *die)
{
        return dwarf_getelf(dwarf_cu_getdwarf(die->cu));
}

bool die_swapped(const Dwarf_Die *die)
{
        const char *identity = elf_getident(elf_of(die), NULL);

        return identity && identity[EI_DATA] == ELFDATA2MSB;
}

static const uint8_t *bytes_at(const char *at)
{
        return (const uint8_t *)at;
}

int die_line_table(struct dwarf_file *file, Dwarf_Die *die, struct line_table *table)
{
        const struct line_sections sections = {
            .lines = bytes_at(file->lines.start),
            .lines_end = bytes_at(file->lines.end),
            .texts = bytes_at(file->strings[0].start),
            .texts_end = bytes_at(file->strings[0].end),
            .line_texts = bytes_at(file->strings[1].start),
            .line_texts_end = bytes_at(file->strings[1].end),
            .code_at_zero = elf_file_has_code(file->source, 0),
            .swapped = die_swapped(die)};
        uint64_t offset;

        *table = (struct line_table){0};
        if (!die_number(file, die, DW_AT_stmt_list, &offset))
                return -ENOENT;
        int error = line_table_read(table, &sections, offset, &file->budget);

        if (error)
                line_table_free(table);
        return error == -EINVAL ? -ENOENT : error;
}

enum {
        KEPT = sizeof(((struct dwarf_file *)NULL)->abbreviations) /
               sizeof(((struct dwarf_file *)NULL)->abbreviations[0])
};

/* Where the table at START is, or goes: not where another one is in use. NULL when out of
 * memory. */
static struct dwarf_abbreviations *place_of_table(struct dwarf_file *file,
                                                  const char *start,
                                                  const struct unit_layout *layout)
{
        struct dwarf_abbreviations *kept =
            &file->abbreviations[((uintptr_t)start >> 4) % KEPT];

        if (kept->start == start && memcmp(&kept->layout, layout, sizeof(*layout)) == 0)
                return kept;
        if (kept->users > 0) {
                kept = calloc(1, sizeof(*kept));
                if (kept)
                        kept->of_one_walk = true;
                return kept;
        }
        abbreviations_free(&kept->table);
        *kept = (struct dwarf_abbreviations){0};
        return kept;
}

int die_abbreviations(struct dwarf_file *file, const Dwarf_Die *die, uint64_t offset,
                      const struct unit_layout *layout, struct dwarf_abbreviations **kept)
{
        struct dwarf_bytes section = section_bytes(elf_of(die), ".debug_abbrev");
        size_t read_bytes;
        int error = 0;

        *kept = NULL;
        if (!section.start || offset >= (uint64_t)(section.end - section.start))
                return -ENOENT;
        const char *start = section.start + offset;
        struct dwarf_abbreviations *place = place_of_table(file, start, layout);

        if (!place)
                return -ENOMEM;
        *kept = place;
        place->users++;
        if (place->start)
                return 0;
        error = abbreviations_read(&place->table, layout, (const uint8_t *)start,
                                   (const uint8_t *)section.end, &read_bytes);
        if (!error && !die_spend(file, read_bytes))
                error = -ENOENT;
        if (!error) {
                place->start = start;
                place->layout = *layout;
        }
        return error;
}

void die_abbreviations_done(struct dwarf_abbreviations *kept)
{
        if (!kept || --kept->users > 0 || !kept->of_one_walk)
                return;
        abbreviations_free(&kept->table);
        free(kept);
}

void dwarf_file_forget(struct dwarf_file *dwarf)
{
        for (size_t i = 0;
             i < sizeof(dwarf->abbreviations) / sizeof(dwarf->abbreviations[0]); i++)
                abbreviations_free(&dwarf->abbreviations[i].table);
        memset(dwarf->abbreviations, 0, sizeof(dwarf->abbreviations));
}
