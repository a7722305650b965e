/* SPDX-License-Identifier: MIT */
/* What an instruction does itself to the word that it reads or writes in memory, and
 * where the bits are afterwards. */
#ifndef MEMLAG_SYMBOLIZE_BIT_BEGIN_H
#define MEMLAG_SYMBOLIZE_BIT_BEGIN_H

#include "bit_watch.h"
#include "flow_code.h"
#include "flow_state.h"

/* Bits of a word that are used. */
struct bit_used {
        uint64_t bits;
        bool whole; /* all in one piece: as one number, say */
};

/* Sets WATCH to the state behind STEP of CODE, which reads or writes memory, and *USED to
 * the bits that STEP uses. STATE is the state before it. False: the instruction is not
 * followed and uses the whole word. */
bool bit_begin(const struct flow_code *code, size_t step, const struct flow_state *state,
               struct bit_watch *watch, struct bit_used *used);

#endif
