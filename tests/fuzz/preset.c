/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as the text of a CPU to simulate. */
#include <math.h>

#include "fuzz_target.h"
#include "sim_preset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        struct sim_preset preset = {.name = "fuzz"};
        struct diag diag;
        if (sim_preset_parse((const char *)bytes, size, "fuzz.conf", &preset, &diag) < 0)
                return 0;
        for (size_t i = 0; i < SIM_PARAMETER_COUNT; i++) {
                const struct sim_parameter *p = &sim_parameters[i];
                double value;
                memcpy(&value, (const char *)&preset.params + p->offset, sizeof(value));
                if (!(value >= p->minimum && value <= p->maximum))
                        abort();
        }
        (void)sim_preset_check(&preset, &diag);
        return 0;
}
