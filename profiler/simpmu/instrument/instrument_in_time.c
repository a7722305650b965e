/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions that the recorder named: their data is brought in time (in_time.h). */
#include "instrument.h"

#include "pub_tool_aspacemgr.h"

#include "model/machine/access.h"
#include "model/machine/in_time.h"
#include "path_hash.h"

static VG_REGPARM(2) void load_in_time(const struct access_site *site, Addr address)
{
        in_time_bring(&tool_machine, &tool_hot, tool_thread, site, address, False);
        access_memory(&tool_machine, &tool_hot, tool_thread, site, ACCESS_LOAD,
                      ACCESS_IN_GENERAL, address);
}

static VG_REGPARM(2) void store_in_time(const struct access_site *site, Addr address)
{
        in_time_bring(&tool_machine, &tool_hot, tool_thread, site, address, True);
        access_memory(&tool_machine, &tool_hot, tool_thread, site, ACCESS_STORE,
                      ACCESS_IN_GENERAL, address);
}

static VG_REGPARM(2) void update_in_time(const struct access_site *site, Addr address)
{
        in_time_bring(&tool_machine, &tool_hot, tool_thread, site, address, True);
        access_memory(&tool_machine, &tool_hot, tool_thread, site, ACCESS_UPDATE,
                      ACCESS_IN_GENERAL, address);
}

static Bool is_named(const struct simpmu_control *control, Addr ip)
{
        const NSegment *segment = VG_(am_find_nsegment)(ip);
        const HChar *path = segment == NULL ? NULL : VG_(am_get_filename)(segment);
        ULong offset, hash;

        if (path == NULL)
                return False;
        offset = ip - segment->start + (ULong)segment->offset;
        hash = path_hash(path);
        for (UInt i = 0; i < control->in_time_count && i < SIMPMU_IN_TIME_MAX; i++)
                if (control->in_time[i].file_offset_bytes == offset &&
                    control->in_time[i].path_hash == hash)
                        return True;
        return False;
}

void *in_time_call(const struct pass *pass, enum access_kind kind)
{
        static void *const calls[] = {[ACCESS_LOAD] = (void *)load_in_time,
                                      [ACCESS_STORE] = (void *)store_in_time,
                                      [ACCESS_UPDATE] = (void *)update_in_time};
        const struct simpmu_control *control = ring_control();

        if (control->in_time_count == 0 || !is_named(control, pass->ip))
                return NULL;
        return calls[kind];
}
