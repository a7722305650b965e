/* SPDX-License-Identifier: MIT */
/* Non-temporal stores, recognised by their bytes: Valgrind translates them to ordinary
 * stores. A pure function; knows neither Valgrind nor the model. */
#ifndef SIMPMU_NONTEMPORAL_H
#define SIMPMU_NONTEMPORAL_H

#include <stdbool.h>
#include <stdint.h>

/* The instruction of LENGTH BYTES, which are a whole one, is MOVNTI, MOVNTQ, MOVNTDQ,
 * MOVNTPS, MOVNTPD or one of their forms with VEX. MASKMOVDQU is not among them. */
bool nontemporal_store_decode(const uint8_t *bytes, uint32_t length);

#endif
