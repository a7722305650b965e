/* SPDX-License-Identifier: MIT */
/* Debugging information that leads nowhere, as a part of the program to damage. */

/* A compile unit beside the compiler's. Entries are their own origin, type or sibling.
 * The file of a call does not exist. */
__asm__(".pushsection .text\n"
        ".globl hostile_code\n"
        ".type hostile_code, @function\n"
        "hostile_code: mov 8(%rdi), %rax\n ret\n"
        ".size hostile_code, 5\n"
        ".popsection\n"
        ".pushsection .data\n"
        "hostile_data: .quad 1\n"
        ".popsection\n"
        ".pushsection .debug_abbrev\n"
        "hostile_abbrev:\n"
        ".uleb128 1, 0x11\n .byte 1\n" /* compile unit with children */
        ".uleb128 0x11, 1, 0x12, 1, 0, 0\n"
        ".uleb128 2, 0x2e\n .byte 1\n" /* function: range, origin, sibling */
        ".uleb128 0x11, 1, 0x12, 1, 0x31, 0x13, 1, 0x13, 0, 0\n"
        ".uleb128 3, 0x1d\n .byte 0\n" /* inlined: range, origin, call file and line */
        ".uleb128 0x11, 1, 0x12, 1, 0x31, 0x13, 0x58, 6, 0x59, 6, 0, 0\n"
        ".uleb128 4, 0x34\n .byte 0\n" /* variable: location, type, specification */
        ".uleb128 2, 0x18, 0x49, 0x13, 0x47, 0x13, 0, 0\n"
        ".uleb128 5, 0x01\n .byte 0\n" /* array of itself */
        ".uleb128 0x49, 0x13, 0, 0\n"
        ".uleb128 6, 0x0f\n .byte 0\n" /* pointer */
        ".uleb128 0x49, 0x13, 0, 0\n"
        ".uleb128 7, 0x16\n .byte 0\n" /* typedef */
        ".uleb128 0x49, 0x13, 0, 0\n"
        ".uleb128 8, 0x13\n .byte 1\n" /* struct of so many bytes */
        ".uleb128 0x0b, 0x0f, 0, 0\n"
        ".uleb128 9, 0x0d\n .byte 0\n" /* member: offset and type */
        ".uleb128 0x38, 0x0f, 0x49, 0x13, 0, 0\n"
        ".uleb128 10, 0x05\n .byte 0\n" /* parameter: location and type */
        ".uleb128 2, 0x18, 0x49, 0x13, 0, 0\n"
        ".byte 0\n"
        ".popsection\n"
        ".pushsection .debug_info\n"
        "hostile_unit: .4byte hostile_end - hostile_version\n"
        "hostile_version: .2byte 4\n .4byte hostile_abbrev\n .byte 8\n"
        ".uleb128 1\n .8byte hostile_code, hostile_code + 5\n"
        "hostile_function: .uleb128 2\n .8byte hostile_code, hostile_code + 5\n"
        ".4byte hostile_function - hostile_unit, hostile_function - hostile_unit\n"
        "hostile_inlined: .uleb128 3\n .8byte hostile_code, hostile_code + 5\n"
        ".4byte hostile_inlined - hostile_unit, 0xffffffff, 0xffffffff\n"
        /* in rdi; in register 2^63 - 1; at a computed address */
        ".uleb128 10, 1\n .byte 0x55\n .4byte hostile_pointer - hostile_unit\n"
        ".uleb128 10, 10\n .byte 0x90\n .uleb128 0x7fffffffffffffff\n"
        ".4byte hostile_pointer - hostile_unit\n"
        ".uleb128 10, 3\n .byte 0x75, 0x00, 0x06\n"
        ".4byte hostile_pointer - hostile_unit\n"
        ".byte 0\n"
        /* a pointer to a struct that holds itself and itself again, in a register */
        "hostile_pointer: .uleb128 6\n .4byte hostile_struct - hostile_unit\n"
        "hostile_typedef: .uleb128 7\n .4byte hostile_typedef - hostile_unit\n"
        "hostile_struct: .uleb128 8, 16\n"
        ".uleb128 9, 0\n .4byte hostile_struct - hostile_unit\n"
        ".uleb128 9, 0\n .4byte hostile_array - hostile_unit\n"
        ".uleb128 9, 8\n .4byte hostile_typedef - hostile_unit\n"
        ".uleb128 9, 8\n .4byte hostile_pointer - hostile_unit\n"
        ".byte 0\n"
        "hostile_variable: .uleb128 4, 9\n .byte 3\n .8byte hostile_data\n"
        ".4byte hostile_array - hostile_unit, hostile_variable - hostile_unit\n"
        "hostile_array: .uleb128 5\n .4byte hostile_array - hostile_unit\n"
        ".byte 0\n"
        "hostile_end:\n"
        ".popsection\n");
