/* SPDX-License-Identifier: MIT */
#include "retire_latency.h"

#include <stddef.h>
#include <stdio.h>

bool retire_latency_known(int64_t family, int64_t model, const char *release)
{
        /* Meteor Lake, Granite Rapids, Sierra Forest, Grand Ridge, Lunar Lake, Arrow
         * Lake.
         */
        static const unsigned char models[] = {0xaa, 0xac, 0xad, 0xae, 0xaf,
                                               0xb6, 0xbd, 0xb5, 0xc5, 0xc6};
        int major, minor;
        if (family != 6 || sscanf(release, "%d.%d", &major, &minor) != 2 || major < 6 ||
            (major == 6 && minor < 3))
                return false;
        for (size_t i = 0; i < sizeof(models); i++)
                if (models[i] == model)
                        return true;
        return false;
}
