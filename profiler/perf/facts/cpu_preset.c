/* SPDX-License-Identifier: MIT */
/* See cpu_preset.h. */
#include "cpu_preset.h"

#include <stddef.h>
#include <string.h>

/* Models of one vendor and family, and the preset of their microarchitecture. Intel:
 * Software Developer's Manual vol. 4, table 2-1; AMD: revision guides of each family. A
 * vendor's last row is the newest. UNLIKE: why the preset belongs to another
 * microarchitecture; NULL: it matches. The first row with a model counts. */
#define OLDER       "this CPU is older than all presets"
#define SMALL_CORES "there is no preset of its small cores (Atom)"
#define NOT_KNOWN   "this CPU is not known"

static const struct {
        const char *vendor;
        int family;
        int first_model, last_model;
        const char *preset;
        const char *unlike;
} cpus[] = {
    {"GenuineIntel", 6, 0x1c, 0x1c, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x26, 0x27, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x35, 0x37, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x4a, 0x4a, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x4c, 0x4d, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x5a, 0x5a, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x5c, 0x5d, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x5f, 0x5f, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x75, 0x75, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x7a, 0x7a, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x86, 0x86, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x96, 0x96, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0x9c, 0x9c, "haswell", SMALL_CORES},
    {"GenuineIntel", 6, 0xaf, 0xaf, "alderlake", SMALL_CORES},
    {"GenuineIntel", 6, 0xb6, 0xb6, "alderlake", SMALL_CORES},
    {"GenuineIntel", 6, 0xbe, 0xbe, "alderlake", SMALL_CORES},
    {"GenuineIntel", 6, 0x00, 0x3a, "haswell", OLDER},
    {"GenuineIntel", 6, 0x3e, 0x3e, "haswell", OLDER},
    {"GenuineIntel", 15, 0x00, 0xff, "haswell", OLDER},
    {"GenuineIntel", 6, 0x3c, 0x3c, "haswell", NULL},
    {"GenuineIntel", 6, 0x45, 0x46, "haswell", NULL},
    {"GenuineIntel", 6, 0x3f, 0x3f, "haswell-ep", NULL},
    {"GenuineIntel", 6, 0x3d, 0x3d, "broadwell", NULL},
    {"GenuineIntel", 6, 0x47, 0x47, "broadwell", NULL},
    {"GenuineIntel", 6, 0x4f, 0x4f, "broadwell-ep", NULL},
    {"GenuineIntel", 6, 0x56, 0x56, "broadwell-ep", NULL},
    {"GenuineIntel", 6, 0x4e, 0x4e, "skylake", NULL},
    {"GenuineIntel", 6, 0x5e, 0x5e, "skylake", NULL},
    {"GenuineIntel", 6, 0x8e, 0x8e, "skylake", NULL},
    {"GenuineIntel", 6, 0x9e, 0x9e, "skylake", NULL},
    {"GenuineIntel", 6, 0xa5, 0xa6, "skylake", NULL},
    {"GenuineIntel", 6, 0x55, 0x55, "skylake-sp", NULL},
    {"GenuineIntel", 6, 0x7d, 0x7e, "icelake", NULL},
    {"GenuineIntel", 6, 0x8c, 0x8d, "icelake", NULL},
    {"GenuineIntel", 6, 0xa7, 0xa7, "icelake", NULL},
    {"GenuineIntel", 6, 0x6a, 0x6a, "icelake-sp", NULL},
    {"GenuineIntel", 6, 0x6c, 0x6c, "icelake-sp", NULL},
    {"GenuineIntel", 6, 0x97, 0x97, "alderlake", NULL},
    {"GenuineIntel", 6, 0x9a, 0x9a, "alderlake", NULL},
    {"GenuineIntel", 6, 0xb7, 0xb7, "alderlake", NULL},
    {"GenuineIntel", 6, 0xba, 0xba, "alderlake", NULL},
    {"GenuineIntel", 6, 0xbf, 0xbf, "alderlake", NULL},
    {"GenuineIntel", 6, 0xaa, 0xaa, "meteorlake", NULL},
    {"GenuineIntel", 6, 0xac, 0xac, "meteorlake", NULL},
    {"GenuineIntel", 6, 0x8f, 0x8f, "sapphire-rapids", NULL},
    {"GenuineIntel", 6, 0xcf, 0xcf, "emerald-rapids", NULL},
    {"GenuineIntel", 6, 0xad, 0xae, "granite-rapids", NULL},
    {"AuthenticAMD", 0x15, 0x00, 0xff, "zen2", OLDER},
    {"AuthenticAMD", 0x16, 0x00, 0xff, "zen2", OLDER},
    {"AuthenticAMD", 0x17, 0x00, 0x2f, "zen2", OLDER}, /* Zen and Zen+ */
    {"AuthenticAMD", 0x17, 0x31, 0x3f, "zen2", NULL},
    {"AuthenticAMD", 0x17, 0x60, 0x7f, "zen2", NULL},
    {"AuthenticAMD", 0x17, 0x90, 0xaf, "zen2", NULL},
    {"AuthenticAMD", 0x19, 0x00, 0x0f, "zen3", NULL},
    {"AuthenticAMD", 0x19, 0x20, 0x5f, "zen3", NULL},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, "zen4", NULL},
    {"AuthenticAMD", 0x19, 0x60, 0x7f, "zen4", NULL},
    {"AuthenticAMD", 0x19, 0xa0, 0xaf, "zen4", NULL},
    {"AuthenticAMD", 0x1a, 0x00, 0xff, "zen5", NULL},
};

const char *cpu_preset(const char *vendor, int64_t family, int64_t model,
                       const char **unlike)
{
        const char *newest = "sapphire-rapids";
        *unlike = NOT_KNOWN;
        for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
                if (strcmp(cpus[i].vendor, vendor) != 0)
                        continue;
                newest = cpus[i].preset;
                if (family != cpus[i].family || model < cpus[i].first_model ||
                    model > cpus[i].last_model)
                        continue;
                *unlike = cpus[i].unlike;
                break;
        }
        return newest;
}
