/* SPDX-License-Identifier: MIT */
/* The entries of an unwind table (.eh_frame; LSB, "Exception Frames"; DWARF 4, section
 * 6.4): each entry's function and the location of its instructions. Also part of the
 * heap tracker, which has no other code of memlag: allocates nothing, calls nothing, and
 * reads nothing outside the given bounds. */
#ifndef MEMLAG_CODE_FRAME_ENTRY_H
#define MEMLAG_CODE_FRAME_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FRAME_RETURN_REGISTER = 16 }; /* System V ABI for AMD64, section 3.6.2 */

/* ---- reading, within bounds ---- */

struct frame_bytes {
        const uint8_t *at;
        const uint8_t *end;
        bool overrun;
};

static inline uint64_t frame_fixed(struct frame_bytes *bytes, size_t size)
{
        uint64_t value = 0;
        if ((size_t)(bytes->end - bytes->at) < size) {
                bytes->overrun = true;
                bytes->at = bytes->end;
                return 0;
        }
        memcpy(&value, bytes->at, size);
        bytes->at += size;
        return value;
}

static inline uint64_t frame_leb(struct frame_bytes *bytes, bool is_signed)
{
        uint64_t value = 0;
        unsigned shift = 0;
        uint8_t byte;
        do {
                byte = (uint8_t)frame_fixed(bytes, 1);
                if (shift < 64)
                        value |= (uint64_t)(byte & 0x7f) << shift;
                shift += 7;
        } while (byte & 0x80);
        if (is_signed && (byte & 0x40) && shift < 64)
                value |= -(UINT64_C(1) << shift);
        return value;
}

static inline uint64_t frame_uleb(struct frame_bytes *bytes)
{
        return frame_leb(bytes, false);
}

static inline int64_t frame_sleb(struct frame_bytes *bytes)
{
        return (int64_t)frame_leb(bytes, true);
}

static inline void frame_skip(struct frame_bytes *bytes, uint64_t size)
{
        uint64_t left = (uint64_t)(bytes->end - bytes->at);
        bytes->overrun |= size > left;
        bytes->at += size < left ? size : left;
}

/* DW_EH_PE_... parts of a pointer's encoding: its format, and its base. */
enum {
        FRAME_POINTER_FORMAT = 0x0f,
        FRAME_POINTER_RELATION = 0x70,
        FRAME_POINTER_TO_PC = 0x10
};

static inline uint64_t frame_format(struct frame_bytes *bytes, uint8_t encoding)
{
        switch (encoding & FRAME_POINTER_FORMAT) {
        case 0x00:
        case 0x04:
        case 0x0c:
                return frame_fixed(bytes, 8);
        case 0x02:
                return frame_fixed(bytes, 2);
        case 0x03:
                return frame_fixed(bytes, 4);
        case 0x0a:
                return (uint64_t)(int16_t)frame_fixed(bytes, 2);
        case 0x0b:
                return (uint64_t)(int32_t)frame_fixed(bytes, 4);
        default:
                bytes->overrun = true;
                return 0;
        }
}

static inline uint64_t frame_pointer(struct frame_bytes *bytes, uint8_t encoding)
{
        uint64_t here = (uintptr_t)bytes->at;
        uint64_t value = frame_format(bytes, encoding);
        if ((encoding & FRAME_POINTER_RELATION) == FRAME_POINTER_TO_PC)
                return here + value;
        bytes->overrun |= (encoding & FRAME_POINTER_RELATION) != 0;
        return value;
}

/* ---- a function's entry ---- */

struct frame_entry {
        uint64_t function; /* where it begins */
        uint64_t length_bytes;
        uint64_t code_align;
        int64_t data_align;
        struct frame_bytes common; /* instructions that several functions share */
        struct frame_bytes own;    /* the function's, which follow them */
        bool of_signal;
        bool has_letters; /* the length of the augmentation data precedes OWN */
        uint8_t pointer_encoding;
};

/* The contents of the entry at ADDRESS, after its length. */
static inline struct frame_bytes frame_entry_at(uint64_t address, const uint8_t *start,
                                                const uint8_t *end)
{
        struct frame_bytes bytes = {start, end, true};
        if (address < (uintptr_t)start || address >= (uintptr_t)end)
                return bytes;
        bytes = (struct frame_bytes){start + (address - (uintptr_t)start), end, false};
        uint64_t length = frame_fixed(&bytes, 4);
        if (length == UINT32_MAX)
                length = frame_fixed(&bytes, 8);
        bytes.overrun |= length > (uint64_t)(end - bytes.at);
        if (!bytes.overrun)
                bytes.end = bytes.at + length;
        return bytes;
}

/* Interprets the letters of a common entry's augmentation. */
static inline void frame_augmentation(struct frame_entry *entry,
                                      struct frame_bytes *bytes, const char *letter)
{
        if (*letter != 'z') {
                bytes->overrun |= *letter != '\0';
                return;
        }
        entry->has_letters = true;
        struct frame_bytes data = *bytes;
        uint64_t length = frame_uleb(&data);
        *bytes = data;
        frame_skip(bytes, length);
        for (letter++; *letter && !data.overrun; letter++) {
                if (*letter == 'R')
                        entry->pointer_encoding = (uint8_t)frame_fixed(&data, 1);
                else if (*letter == 'P')
                        (void)frame_format(&data, (uint8_t)frame_fixed(&data, 1));
                else if (*letter == 'L')
                        (void)frame_fixed(&data, 1);
                else if (*letter == 'S')
                        entry->of_signal = true;
                else
                        return; /* unknown data follows; the needed letters came before */
        }
        bytes->overrun |= data.overrun;
}

static inline bool frame_common(struct frame_entry *entry, struct frame_bytes bytes)
{
        if (frame_fixed(&bytes, 4) != 0)
                return false; /* it is no common entry */
        uint8_t version = (uint8_t)frame_fixed(&bytes, 1);
        const char *letters = (const char *)bytes.at;
        while (frame_fixed(&bytes, 1) != 0)
                ;
        if (bytes.overrun || (version != 1 && version != 3))
                return false;
        entry->code_align = frame_uleb(&bytes);
        entry->data_align = frame_sleb(&bytes);
        uint64_t return_register =
            version == 1 ? frame_fixed(&bytes, 1) : frame_uleb(&bytes);
        frame_augmentation(entry, &bytes, letters);
        entry->common = bytes;
        return !bytes.overrun && return_register == FRAME_RETURN_REGISTER;
}

/* Parses BYTES after the pointer to the common part, which ENTRY already has. */
static inline void frame_own(struct frame_entry *entry, struct frame_bytes bytes)
{
        entry->function = frame_pointer(&bytes, entry->pointer_encoding);
        entry->length_bytes = frame_format(&bytes, entry->pointer_encoding);
        if (entry->has_letters)
                frame_skip(&bytes, frame_uleb(&bytes));
        entry->own = bytes;
}

static inline bool frame_entry_read(struct frame_entry *entry, uint64_t address,
                                    const uint8_t *start, const uint8_t *end)
{
        *entry = (struct frame_entry){0};
        struct frame_bytes bytes = frame_entry_at(address, start, end);
        uint64_t here = (uintptr_t)bytes.at;
        uint64_t distance = frame_fixed(&bytes, 4);
        if (bytes.overrun || distance == 0 ||
            !frame_common(entry, frame_entry_at(here - distance, start, end)))
                return false;
        frame_own(entry, bytes);
        return !entry->own.overrun;
}

#endif
