#!/bin/sh
# SPDX-License-Identifier: MIT
# A variable with several symbols is one object, with the public name of the whole. Some symbols end
# earlier, like the older versions of a library's table.
. "$SOURCE_DIR/tests/integration/library.sh"

program aliases <<'END'
extern const long _versions_internal[100];
__asm__(".section .rodata\n.balign 64\n"
        "_versions_internal: .globl versions\nversions: _versions: .globl _versions\n"
        "old_versions: .globl old_versions\n.globl versions_head\nversions_head:\n"
        ".fill 100, 8, 7\n"
        ".type _versions_internal, @object\n.size _versions_internal, 792\n"
        ".type versions, @object\n.size versions, 800\n"
        ".type _versions, @object\n.size _versions, 800\n"
        ".type old_versions, @object\n.size old_versions, 400\n"
        ".type versions_head, @object\n.size versions_head, 8\n.text\n");
int main(void)
{
        volatile const long *from = _versions_internal;
        long sum = 0;
        for (int i = 0; i < 1000; i++)
                for (int j = 0; j < 100; j++)
                        sum += from[j];
        return sum == 0;
}
END
record run $LOADS --ldlat 1 --period 100 -- ./aliases
# 100000 loads, one in 100 with jitter; names of the program's own file alone, and not of
# what start-up reads once, which may have a sample by chance.
holds run.db 'versions 800 1' "SELECT group_concat(object || ' ' || v.size_bytes || ' '
                || (samples BETWEEN 900 AND 1100), ', ')
        FROM object_view AS v JOIN data_object USING (object_id) JOIN module USING (module_id)
        WHERE object_kind = 'global' AND path LIKE '%/aliases'
                AND object NOT LIKE '[%' AND samples > 10"
