/* SPDX-License-Identifier: MIT */
/* A simple location is one operation that names a base, perhaps a constant to add, and
 * perhaps the mark that the sum is the value. Pieces follow each other. */
#include "location.h"

#include <dwarf.h>

enum { REGISTERS = 16 };

static bool set_register(struct location *location, enum location_kind kind, uint64_t reg,
                         int64_t offset)
{
        if (reg >= REGISTERS)
                return false;
        *location =
            (struct location){.kind = kind, .reg = (uint8_t)reg, .offset = offset};
        return true;
}

/* An address in another section of the file (DW_OP_addrx). */
static bool indexed_address(Dwarf_Attribute *attribute, const Dwarf_Op *op,
                            struct location *location)
{
        Dwarf_Attribute at;
        Dwarf_Addr address;

        if (dwarf_getlocation_attr(attribute, op, &at) != 0 ||
            dwarf_formaddr(&at, &address) != 0)
                return false;
        *location =
            (struct location){.kind = LOCATION_ADDRESS, .offset = (int64_t)address};
        return true;
}

/* A constant, perhaps in another section of the file. */
static bool constant(Dwarf_Attribute *attribute, const Dwarf_Op *op, Dwarf_Word *number)
{
        Dwarf_Attribute at;

        if (op->atom != DW_OP_constx && op->atom != DW_OP_GNU_const_index) {
                *number = op->number;
                return true;
        }
        return dwarf_getlocation_attr(attribute, op, &at) == 0 &&
               dwarf_formudata(&at, number) == 0;
}

/* The base location that operation *AT names; moves *AT past the decoded operations. */
static bool base(Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
                 size_t *at, struct location *location)
{
        const Dwarf_Op *op = &ops[*at];
        Dwarf_Word number;

        (*at)++;
        if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
                return set_register(location, LOCATION_REGISTER, op->atom - DW_OP_reg0,
                                    0);
        if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
                return set_register(location, LOCATION_MEMORY, op->atom - DW_OP_breg0,
                                    (int64_t)op->number);
        switch (op->atom) {
        case DW_OP_regx:
                return set_register(location, LOCATION_REGISTER, op->number, 0);
        case DW_OP_bregx:
                return set_register(location, LOCATION_MEMORY, op->number,
                                    (int64_t)op->number2);
        case DW_OP_fbreg:
                *location = (struct location){.kind = LOCATION_FRAME,
                                              .offset = (int64_t)op->number};
                return true;
        case DW_OP_addr:
                *location = (struct location){.kind = LOCATION_ADDRESS,
                                              .offset = (int64_t)op->number};
                return true;
        case DW_OP_addrx:
        case DW_OP_GNU_addr_index:
                return indexed_address(attribute, op, location);
        case DW_OP_constx:
        case DW_OP_GNU_const_index:
        case DW_OP_const4u:
        case DW_OP_const8u:
                if (!constant(attribute, op, &number) || *at >= count ||
                    (ops[*at].atom != DW_OP_form_tls_address &&
                     ops[*at].atom != DW_OP_GNU_push_tls_address))
                        return false;
                (*at)++;
                *location =
                    (struct location){.kind = LOCATION_THREAD, .offset = (int64_t)number};
                return true;
        default:
                return false;
        }
}

/* Adds the constant that follows, if one does. */
static void add_constant(const Dwarf_Op *ops, size_t count, size_t *at,
                         struct location *location)
{
        bool plain = location->kind != LOCATION_REGISTER;

        if (plain && *at < count && ops[*at].atom == DW_OP_plus_uconst) {
                location->offset =
                    (int64_t)((uint64_t)location->offset + ops[*at].number);
                (*at)++;
        }
}

int location_parts(Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
                   location_add *add, void *context)
{
        uint64_t part_offset = 0;
        int result = 0;

        for (size_t at = 0; at < count && !result;) {
                struct location location;
                bool known = ops[at].atom != DW_OP_piece &&
                             base(attribute, ops, count, &at, &location);

                if (known)
                        add_constant(ops, count, &at, &location);
                if (known && at < count && ops[at].atom == DW_OP_stack_value) {
                        at++;
                        known = location.kind == LOCATION_MEMORY;
                        location.kind = LOCATION_VALUE;
                }
                if (known && at + 1 == count && ops[at].atom == DW_OP_deref &&
                    location.kind == LOCATION_FRAME) {
                        at++;
                        location.kind = LOCATION_BEHIND;
                }
                /* An unknown operation invalidates its piece, or the whole location. */
                while (at < count && ops[at].atom != DW_OP_piece) {
                        known = false;
                        at++;
                }
                if (known) {
                        location.part_offset_bytes = part_offset;
                        result = add(context, &location);
                }
                if (at < count)
                        part_offset += ops[at++].number;
        }
        return result;
}

struct single {
        struct location location;
        unsigned count;
};

static int keep_single(void *context, const struct location *location)
{
        struct single *single = context;

        single->location = *location;
        single->count++;
        return 0;
}

/* For the offset of a variable in a split unit, gcc (12) has the linker write the address
 * of its first value (R_X86_64_64 in place of R_X86_64_DTPOFF64). */
static uint64_t thread_offset(const struct elf_file *file, uint64_t number)
{
        bool address = number >= file->thread_bytes && number >= file->thread_vaddr &&
                       number - file->thread_vaddr < file->thread_bytes;

        return address ? number - file->thread_vaddr : number;
}

bool location_fixed(Dwarf_Attribute *attribute, const struct elf_file *file,
                    uint64_t *vaddr)
{
        struct single single = {0};
        Dwarf_Op *ops;
        size_t count;

        if (dwarf_whatform(attribute) == DW_FORM_sec_offset ||
            dwarf_whatform(attribute) == DW_FORM_loclistx ||
            dwarf_getlocation(attribute, &ops, &count) != 0)
                return false;
        location_parts(attribute, ops, count, keep_single, &single);
        *vaddr = (uint64_t)single.location.offset;
        if (single.count != 1 || single.location.part_offset_bytes != 0)
                return false;
        if (single.location.kind == LOCATION_THREAD) {
                *vaddr = thread_offset(file, *vaddr) + ELF_THREAD_LOCAL;
                return elf_thread_local(*vaddr);
        }
        return single.location.kind == LOCATION_ADDRESS &&
               (*vaddr != 0 || elf_file_section_at(file, 0));
}
