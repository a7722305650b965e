/* SPDX-License-Identifier: MIT */
/* See cpu_preset.h. */
#include "cpu_preset.h"

#include <stddef.h>
#include <string.h>

/* Models of one vendor and family, and the preset of their microarchitecture. Intel:
 * Software Developer's Manual vol. 4, table 2-1; AMD: revision guides of each family. Of
 * a vendor's rows the last is the newest. */
static const struct {
        const char *vendor;
        int family;
        int first_model, last_model;
        const char *preset;
} cpus[] = {
    {"GenuineIntel", 6, 0x3c, 0x3c, "haswell"},
    {"GenuineIntel", 6, 0x45, 0x46, "haswell"},
    {"GenuineIntel", 6, 0x3f, 0x3f, "haswell-ep"},
    {"GenuineIntel", 6, 0x3d, 0x3d, "broadwell"},
    {"GenuineIntel", 6, 0x47, 0x47, "broadwell"},
    {"GenuineIntel", 6, 0x4f, 0x4f, "broadwell-ep"},
    {"GenuineIntel", 6, 0x56, 0x56, "broadwell-ep"},
    {"GenuineIntel", 6, 0x4e, 0x4e, "skylake"},
    {"GenuineIntel", 6, 0x5e, 0x5e, "skylake"},
    {"GenuineIntel", 6, 0x8e, 0x8e, "skylake"},
    {"GenuineIntel", 6, 0x9e, 0x9e, "skylake"},
    {"GenuineIntel", 6, 0xa5, 0xa6, "skylake"},
    {"GenuineIntel", 6, 0x55, 0x55, "skylake-sp"},
    {"GenuineIntel", 6, 0x7d, 0x7e, "icelake"},
    {"GenuineIntel", 6, 0x8c, 0x8d, "icelake"},
    {"GenuineIntel", 6, 0xa7, 0xa7, "icelake"},
    {"GenuineIntel", 6, 0x6a, 0x6a, "icelake-sp"},
    {"GenuineIntel", 6, 0x6c, 0x6c, "icelake-sp"},
    {"GenuineIntel", 6, 0x97, 0x97, "alderlake"},
    {"GenuineIntel", 6, 0x9a, 0x9a, "alderlake"},
    {"GenuineIntel", 6, 0xb7, 0xb7, "alderlake"},
    {"GenuineIntel", 6, 0xba, 0xba, "alderlake"},
    {"GenuineIntel", 6, 0xbf, 0xbf, "alderlake"},
    {"GenuineIntel", 6, 0xaa, 0xaa, "meteorlake"},
    {"GenuineIntel", 6, 0xac, 0xac, "meteorlake"},
    {"GenuineIntel", 6, 0x8f, 0x8f, "sapphire-rapids"},
    {"GenuineIntel", 6, 0xcf, 0xcf, "emerald-rapids"},
    {"GenuineIntel", 6, 0xad, 0xae, "granite-rapids"},
    {"AuthenticAMD", 0x17, 0x31, 0x3f, "zen2"},
    {"AuthenticAMD", 0x17, 0x60, 0x7f, "zen2"},
    {"AuthenticAMD", 0x17, 0x90, 0xaf, "zen2"},
    {"AuthenticAMD", 0x19, 0x00, 0x0f, "zen3"},
    {"AuthenticAMD", 0x19, 0x20, 0x5f, "zen3"},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, "zen4"},
    {"AuthenticAMD", 0x19, 0x60, 0x7f, "zen4"},
    {"AuthenticAMD", 0x19, 0xa0, 0xaf, "zen4"},
    {"AuthenticAMD", 0x1a, 0x00, 0xff, "zen5"},
};

const char *cpu_preset(const char *vendor, int64_t family, int64_t model, bool *same)
{
        const char *newest = "sapphire-rapids";
        *same = false;
        for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
                if (strcmp(cpus[i].vendor, vendor) != 0)
                        continue;
                newest = cpus[i].preset;
                *same = cpus[i].family == family && cpus[i].first_model <= model &&
                        model <= cpus[i].last_model;
                if (*same)
                        return newest;
        }
        return newest;
}
