/* SPDX-License-Identifier: MIT */
/* libelf reads the file and libdw parses entries; frame_program.c checks the
 * instructions for the unwinder. Bytes are read, not mapped. */
#include "unwind_table.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "frame_entry.h"
#include "frame_program.h"
#include "keyed.h"

enum {
        HEADER_BYTES = 12,              /* of .eh_frame_hdr, before its table */
        HEADER_ENTRY_BYTES = 8,         /* function and entry */
        HEADER_TABLE_ENCODING = 0x3b,   /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */
        HEADER_POINTER_ENCODING = 0x1b, /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
        HEADER_COUNT_ENCODING = 0x03,   /* DW_EH_PE_udata4 */
        ENTRY_MOST_BYTES = 1 << 16,     /* of instructions */
        ENTRY_FRAME_BYTES = 96, /* of a rewritten entry, beside instructions, at most */
};
static const uint64_t section_most_bytes = UINT64_C(1) << 30;

struct place {
        uint64_t function;
        uint64_t entry; /* offset in the section */
};

/* .eh_frame or .debug_frame. */
struct frames {
        Elf_Data data; /* d_buf NULL: the file lacks this section */
        uint64_t address;
        bool is_debug;
        struct place *places; /* by function; where no header has them */
        size_t place_count, place_capacity;
};

struct segment {
        uint64_t file_offset, file_bytes, address;
        bool executable;
};

struct unwind_table {
        Elf *elf;
        unsigned char ident[EI_NIDENT];
        struct segment *segments;
        size_t segment_count;
        const uint8_t *header; /* .eh_frame_hdr's table */
        size_t header_count;
        uint64_t header_address;
        struct frames frames[2]; /* in lookup order */
        struct keyed entries;    /* struct unwind_entry by (which frames, offset) */
        uint8_t *bytes;
        size_t byte_count, byte_capacity, byte_limit;
};

/* ---- the file ---- */

static bool read_segments(struct unwind_table *table)
{
        size_t count;
        GElf_Ehdr file;
        if (elf_kind(table->elf) != ELF_K_ELF || !gelf_getehdr(table->elf, &file) ||
            file.e_machine != EM_X86_64 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
            elf_getphdrnum(table->elf, &count) != 0)
                return false;
        memcpy(table->ident, file.e_ident, sizeof(table->ident));
        table->segments = calloc(count + 1, sizeof(*table->segments));
        for (size_t i = 0; table->segments && i < count; i++) {
                GElf_Phdr header;
                if (gelf_getphdr(table->elf, (int)i, &header) && header.p_type == PT_LOAD)
                        table->segments[table->segment_count++] =
                            (struct segment){header.p_offset, header.p_filesz,
                                             header.p_vaddr, header.p_flags & PF_X};
        }
        return table->segments;
}

bool unwind_table_bias(const struct unwind_table *table, uint64_t start_addr,
                       uint64_t file_offset, uint64_t *bias)
{
        const uint64_t page = 4096;
        for (size_t i = 0; i < table->segment_count; i++) {
                const struct segment *segment = &table->segments[i];
                uint64_t in_page = segment->file_offset % page;
                uint64_t into = file_offset - (segment->file_offset - in_page);
                if (!segment->executable || into >= segment->file_bytes + in_page)
                        continue;
                *bias =
                    start_addr - file_offset + segment->file_offset - segment->address;
                return true;
        }
        return false;
}

/* Reads the file's bytes from ADDRESS on, LENGTH bytes or up to the segment's end. */
static Elf_Data *read_at(const struct unwind_table *table, uint64_t address,
                         uint64_t length)
{
        for (size_t i = 0; i < table->segment_count; i++) {
                const struct segment *segment = &table->segments[i];
                uint64_t into = address - segment->address;
                if (into >= segment->file_bytes)
                        continue;
                uint64_t left = segment->file_bytes - into;
                left = left < length ? left : length;
                if (left > section_most_bytes)
                        return NULL;
                return elf_getdata_rawchunk(
                    table->elf, (int64_t)(segment->file_offset + into), left, ELF_T_BYTE);
        }
        return NULL;
}

static bool find_section(const struct unwind_table *table, const char *name,
                         struct frames *frames)
{
        size_t names;
        Elf_Scn *section = NULL;
        if (elf_getshdrstrndx(table->elf, &names) != 0)
                return false;
        while ((section = elf_nextscn(table->elf, section))) {
                GElf_Shdr header;
                const char *found = gelf_getshdr(section, &header)
                                        ? elf_strptr(table->elf, names, header.sh_name)
                                        : NULL;
                if (!found || strcmp(found, name) != 0 || header.sh_type == SHT_NOBITS)
                        continue;
                GElf_Chdr packed;
                if (header.sh_flags & SHF_COMPRESSED &&
                    (!gelf_getchdr(section, &packed) ||
                     packed.ch_size > section_most_bytes ||
                     elf_compress(section, 0, 0) < 0))
                        return false;
                const Elf_Data *data = elf_getdata(section, NULL);
                if (!data || !data->d_buf || data->d_size > section_most_bytes)
                        return false;
                frames->data = *data;
                frames->address = header.sh_addr;
                return true;
        }
        return false;
}

/* ---- entries as they are in the file ---- */

struct raw_entry {
        Dwarf_CIE common;
        struct frame_bytes program;
        uint64_t function, length_bytes;
        bool of_signal;
};

/* Interprets the augmentation letters of the CIE. False: unknown letters. */
static bool read_letters(const Dwarf_CIE *common, uint8_t *encoding, bool *of_signal)
{
        struct frame_bytes data = {common->augmentation_data,
                                   common->augmentation_data
                                       ? common->augmentation_data +
                                             common->augmentation_data_size
                                       : NULL,
                                   false};
        *encoding = 0;
        *of_signal = false;
        if (!*common->augmentation)
                return true;
        if (*common->augmentation != 'z')
                return false;
        for (const char *letter = common->augmentation + 1; *letter; letter++) {
                if (*letter == 'R')
                        *encoding = (uint8_t)frame_fixed(&data, 1);
                else if (*letter == 'P')
                        (void)frame_format(&data, (uint8_t)frame_fixed(&data, 1));
                else if (*letter == 'L')
                        (void)frame_fixed(&data, 1);
                else if (*letter == 'S')
                        *of_signal = true;
                else
                        return false;
        }
        return !data.overrun;
}

static bool next_entry(const struct unwind_table *table, struct frames *frames,
                       uint64_t offset, uint64_t *next, Dwarf_CFI_Entry *entry)
{
        Dwarf_Off after;
        if (offset >= frames->data.d_size ||
            dwarf_next_cfi(table->ident, &frames->data, !frames->is_debug, offset, &after,
                           entry) != 0)
                return false;
        *next = after;
        return true;
}

static bool read_entry(const struct unwind_table *table, struct frames *frames,
                       const Dwarf_FDE *own, struct raw_entry *entry)
{
        uint64_t next;
        uint8_t encoding;
        Dwarf_CFI_Entry common;
        if (!next_entry(table, frames, own->CIE_pointer, &next, &common) ||
            !dwarf_cfi_cie_p(&common) ||
            common.cie.return_address_register != FRAME_RETURN_REGISTER ||
            !read_letters(&common.cie, &encoding, &entry->of_signal))
                return false;
        entry->common = common.cie;
        entry->program = (struct frame_bytes){own->start, own->end, false};
        uint64_t here = frames->address +
                        (uint64_t)(own->start - (const uint8_t *)frames->data.d_buf);
        entry->function = frame_pointer(&entry->program, encoding);
        if ((encoding & FRAME_POINTER_RELATION) == FRAME_POINTER_TO_PC)
                entry->function += here - (uintptr_t)own->start;
        entry->length_bytes = frame_format(&entry->program, encoding);
        if (*common.cie.augmentation == 'z')
                frame_skip(&entry->program, frame_uleb(&entry->program));
        return !entry->program.overrun;
}

/* ---- where entries are ---- */

static int compare_places(const void *a, const void *b)
{
        const struct place *one = a, *other = b;
        return (one->function > other->function) - (one->function < other->function);
}

/* Reads all entries of FRAMES, which has no header with an index. */
static void index_frames(const struct unwind_table *table, struct frames *frames)
{
        Dwarf_CFI_Entry own;
        uint64_t next;
        for (uint64_t at = 0; next_entry(table, frames, at, &next, &own) && next > at;
             at = next) {
                struct raw_entry entry;
                if (dwarf_cfi_cie_p(&own) || !read_entry(table, frames, &own.fde, &entry))
                        continue;
                if (array_reserve(&frames->places, &frames->place_capacity,
                                  frames->place_count, sizeof(*frames->places)) < 0)
                        break;
                frames->places[frames->place_count++] =
                    (struct place){entry.function, at};
        }
        if (frames->place_count)
                qsort(frames->places, frames->place_count, sizeof(*frames->places),
                      compare_places);
}

/* Reads the header and the section that it points to. False: there is none, or its form
 * is unusual for linkers. */
static bool read_header(struct unwind_table *table, struct frames *frames)
{
        GElf_Phdr found = {.p_type = PT_NULL};
        size_t count;
        if (elf_getphdrnum(table->elf, &count) != 0)
                return false;
        for (size_t i = 0; i < count && found.p_type != PT_GNU_EH_FRAME; i++)
                if (!gelf_getphdr(table->elf, (int)i, &found))
                        return false;
        if (found.p_type != PT_GNU_EH_FRAME)
                return false;
        const Elf_Data *data = read_at(table, found.p_vaddr, found.p_filesz);
        if (!data || data->d_size < HEADER_BYTES)
                return false;
        const uint8_t *bytes = data->d_buf;
        struct frame_bytes fields = {bytes + 4, bytes + data->d_size, false};
        if (bytes[0] != 1 || bytes[1] != HEADER_POINTER_ENCODING ||
            bytes[2] != HEADER_COUNT_ENCODING || bytes[3] != HEADER_TABLE_ENCODING)
                return false;
        frames->address =
            found.p_vaddr + 4 + (uint64_t)(int64_t)(int32_t)frame_fixed(&fields, 4);
        table->header_count = frame_fixed(&fields, 4);
        size_t room = (data->d_size - HEADER_BYTES) / HEADER_ENTRY_BYTES;
        if (table->header_count > room)
                table->header_count = room;
        const Elf_Data *entries = read_at(table, frames->address, UINT64_MAX);
        if (!entries)
                return false;
        frames->data = *entries;
        table->header = bytes + HEADER_BYTES;
        table->header_address = found.p_vaddr;
        return true;
}

static int32_t header_word(const struct unwind_table *table, size_t index, size_t word)
{
        int32_t value;
        memcpy(&value, table->header + index * HEADER_ENTRY_BYTES + word * sizeof(value),
               sizeof(value));
        return value;
}

static bool find_in_header(const struct unwind_table *table, const struct frames *frames,
                           uint64_t address, uint64_t *entry)
{
        int64_t wanted = (int64_t)(address - table->header_address);
        size_t low = 0, high = table->header_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (header_word(table, middle, 0) <= wanted)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0)
                return false;
        *entry = table->header_address +
                 (uint64_t)(int64_t)header_word(table, low - 1, 1) - frames->address;
        return true;
}

static bool begins_until(const void *item, const void *address)
{
        return ((const struct place *)item)->function <= *(const uint64_t *)address;
}

static bool find_place(const struct frames *frames, uint64_t address, uint64_t *entry)
{
        size_t until =
            array_count_before(frames->places, frames->place_count,
                               sizeof(*frames->places), begins_until, &address);
        if (until)
                *entry = frames->places[until - 1].entry;
        return until;
}

/* ---- rewriting ---- */

static void put(struct unwind_table *table, const void *bytes, size_t length)
{
        memcpy(table->bytes + table->byte_count, bytes, length);
        table->byte_count += length;
}

static void put_byte(struct unwind_table *table, uint8_t byte)
{
        put(table, &byte, 1);
}

static void put_leb(struct unwind_table *table, uint64_t value, bool is_signed)
{
        bool more = true;
        while (more) {
                uint8_t byte = value & 0x7f;
                value = is_signed ? (uint64_t)((int64_t)value >> 7) : value >> 7;
                more = is_signed ? value != (byte & 0x40 ? UINT64_MAX : 0) : value != 0;
                put_byte(table, byte | (more ? 0x80 : 0));
        }
}

static bool put_program(struct unwind_table *table, const uint8_t *start,
                        const uint8_t *end)
{
        size_t copied;
        bool sound =
            frame_program_copy(start, end, table->bytes + table->byte_count, &copied);
        table->byte_count += copied;
        return sound;
}

/* Stores the length of the completed entry that begins at START. */
static void put_length(struct unwind_table *table, size_t start)
{
        uint32_t length = (uint32_t)(table->byte_count - start - sizeof(length));
        memcpy(table->bytes + start, &length, sizeof(length));
}

static bool put_common(struct unwind_table *table, const struct raw_entry *entry)
{
        const Dwarf_CIE *common = &entry->common;
        const char *letters = entry->of_signal ? "zRS" : "zR";
        size_t start = table->byte_count;
        put(table, "\0\0\0\0\0\0\0\0\1", 9); /* length, no CIE pointer, version */
        put(table, letters, strlen(letters) + 1);
        put_leb(table, common->code_alignment_factor, false);
        put_leb(table, (uint64_t)common->data_alignment_factor, true);
        put(table, "\x10\1\4", 3); /* return address; a letter: DW_EH_PE_udata8 */
        if (!put_program(table, common->initial_instructions,
                         common->initial_instructions_end))
                return false;
        put_length(table, start);
        return true;
}

static bool put_own(struct unwind_table *table, const struct raw_entry *entry,
                    size_t common)
{
        static const uint8_t padding[8];
        size_t start = table->byte_count;
        uint32_t distance = (uint32_t)(start + sizeof(distance) - common);
        put(table, padding, sizeof(uint32_t)); /* length */
        put(table, &distance, sizeof(distance));
        put(table, &entry->function, sizeof(entry->function));
        put(table, &entry->length_bytes, sizeof(entry->length_bytes));
        put_byte(table, 0); /* letters have no data */
        if (!put_program(table, entry->program.at, entry->program.end))
                return false;
        put(table, padding, sizeof(padding)); /* readers may go some bytes too far */
        put_length(table, start);
        return true;
}

static bool reserve_bytes(struct unwind_table *table, size_t wanted)
{
        if (wanted > table->byte_limit - table->byte_count)
                return false;
        if (wanted <= table->byte_capacity - table->byte_count)
                return true;
        size_t capacity = 2 * (table->byte_capacity + wanted);
        uint8_t *bytes = realloc(table->bytes, capacity);
        if (!bytes)
                return false;
        table->bytes = bytes;
        table->byte_capacity = capacity;
        return true;
}

static void rewrite(struct unwind_table *table, const struct raw_entry *raw,
                    struct unwind_entry *entry)
{
        size_t start = table->byte_count;
        size_t common = (size_t)(raw->common.initial_instructions_end -
                                 raw->common.initial_instructions);
        size_t own = (size_t)(raw->program.end - raw->program.at);
        if (common > ENTRY_MOST_BYTES || own > ENTRY_MOST_BYTES ||
            !reserve_bytes(table, common + own + ENTRY_FRAME_BYTES))
                return;
        bool sound = put_common(table, raw);
        size_t offset = table->byte_count;
        if (!sound || !put_own(table, raw, start)) {
                table->byte_count = start;
                return;
        }
        *entry = (struct unwind_entry){true, raw->of_signal, offset, raw->function,
                                       raw->length_bytes};
}

static const struct unwind_entry *entry_at(struct unwind_table *table,
                                           struct frames *frames, uint64_t offset)
{
        bool new;
        struct unwind_entry *entry =
            keyed_place(&table->entries, frames->is_debug, offset, &new);
        uint64_t next;
        Dwarf_CFI_Entry own;
        struct raw_entry raw;
        if (entry && new &&next_entry(table, frames, offset, &next, &own) &&
            !dwarf_cfi_cie_p(&own) && read_entry(table, frames, &own.fde, &raw))
                rewrite(table, &raw, entry);
        return entry;
}

/* ---- the table ---- */

struct unwind_table *unwind_table_new(Elf *elf)
{
        struct unwind_table *table = calloc(1, sizeof(*table));
        if (!table)
                return NULL;
        table->elf = elf;
        table->frames[1].is_debug = true;
        if (keyed_open(&table->entries, sizeof(struct unwind_entry)) < 0 ||
            !read_segments(table)) {
                unwind_table_free(table);
                return NULL;
        }
        if (!read_header(table, &table->frames[0]) &&
            find_section(table, ".eh_frame", &table->frames[0]))
                index_frames(table, &table->frames[0]);
        if (find_section(table, ".debug_frame", &table->frames[1]))
                index_frames(table, &table->frames[1]);
        /* Entries of sound files do not overlap, and share their common parts. */
        table->byte_limit =
            8 * (table->frames[0].data.d_size + table->frames[1].data.d_size) +
            ENTRY_FRAME_BYTES;
        return table;
}

void unwind_table_free(struct unwind_table *table)
{
        if (!table)
                return;
        for (size_t i = 0; i < 2; i++)
                free(table->frames[i].places);
        keyed_close(&table->entries);
        free(table->segments);
        free(table->bytes);
        free(table);
}

bool unwind_table_find(struct unwind_table *table, uint64_t address,
                       struct unwind_entry *entry)
{
        for (size_t i = 0; i < 2; i++) {
                struct frames *frames = &table->frames[i];
                uint64_t offset;
                bool has_header = i == 0 && table->header;
                if (!(has_header ? find_in_header(table, frames, address, &offset)
                                 : find_place(frames, address, &offset)))
                        continue;
                const struct unwind_entry *found = entry_at(table, frames, offset);
                if (!found || !found->known ||
                    address - found->start_addr >= found->length_bytes)
                        continue;
                *entry = *found;
                return true;
        }
        return false;
}

const uint8_t *unwind_table_bytes(const struct unwind_table *table, size_t *length)
{
        *length = table->byte_count;
        return table->bytes;
}
