/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "calls.h"

static const struct call_info calls[] = {
#define CALL(number, name, arguments, flags) [number] = {#name, arguments, flags},
#include "calls.inc"
#undef CALL
};

const struct call_info *call_info(unsigned long number)
{
        if (number >= sizeof(calls) / sizeof(calls[0]) || calls[number].name == (void *)0)
                return (void *)0;
        return &calls[number];
}
