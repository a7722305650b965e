/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls whose first argument is constant. Valgrind loads the arguments of a
 * conditional call before it tests the condition. A constant would then cost two
 * instructions even if the call is not made. Here a few bytes of machine code before
 * the function load the constant, and generated code calls these bytes. They lie in
 * the translation's memory. All of Valgrind's memory is executable, because it also
 * contains generated code. */
#include "instrument.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"

struct __attribute__((packed)) entry {
        UChar second_from_first[3]; /* mov %rdi,%rsi */
        UChar set_first[2];         /* mov $constant,%rdi */
        ULong constant;
        UChar set_target[2]; /* mov $function,%r11d */
        UInt function;
        UChar jump[3]; /* jmp *%r11 */
};

static void *entry_new(struct pass *pass, void *function, const void *constant)
{
        struct entry *entry = site_new(pass, sizeof(*entry));

        tl_assert((Addr)function <= 0xffffffffu); /* the simulated PMU lies below 4 GiB */
        *entry = (struct entry){
            .second_from_first = {0x48, 0x89, 0xfe},
            .set_first = {0x48, 0xbf},
            .constant = (Addr)constant,
            .set_target = {0x41, 0xbb},
            .function = (UInt)(Addr)function,
            .jump = {0x41, 0xff, 0xe3},
        };
        return entry;
}

IRDirty *call_with_constant(struct pass *pass, const HChar *name, void *function,
                            const void *constant, IRExpr *argument)
{
        void *entry = entry_new(pass, function, constant);

        return argument == NULL
                   ? unsafeIRDirty_0_N(0, name, entry, mkIRExprVec_0())
                   : unsafeIRDirty_0_N(1, name, entry, mkIRExprVec_1(argument));
}
