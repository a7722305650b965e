/* SPDX-License-Identifier: MIT */
#include "module_reading.h"

#include <errno.h>

int module_open_same(const struct module *module, struct elf_file *file,
                     enum module_state *state)
{
        static const struct module_search at_its_path = {0};
        const struct module_identity identity = {
            module->path, module->build_id, module->build_id_bytes, module->recorded};
        int error = module_file_open(&identity,
                                     module->files ? module->files : &at_its_path, file);

        *state = error == 0          ? MODULE_READY
                 : error == -ENOEXEC ? MODULE_NOT_ELF
                 : error == -ESTALE  ? MODULE_CHANGED
                                     : MODULE_MISSING;
        return error == -ENOMEM ? error : 0;
}

/* PROGRAM is the path of what SOURCE is, or has, the debug information of. */
static int open_dwarf(const struct elf_file *source, const char *program,
                      const struct debug_search *search, bool with_locations,
                      struct debug_info *info)
{
        int error = debug_file_find_alt(source, search, &info->alt);

        info->has_alt = error == 0;
        info->needs_alt = elf_file_section(source, ".gnu_debugaltlink") != NULL;
        if (error == -ENOMEM)
                return error;
        error = dwarf_file_open(&info->dwarf, source, info->has_alt ? &info->alt : NULL,
                                with_locations);
        info->has_dwarf = error == 0;
        info->dwarf.package.looked_for = search->looked_for;
        info->dwarf.package.program = program;
        return error;
}

static void open_debug_info(const struct elf_file *file,
                            const struct debug_search *search, bool with_locations,
                            struct debug_info *info)
{
        int error = open_dwarf(file, file->path, search, with_locations, info);

        if (error == -ENOENT || error == -EINVAL) {
                int own = error;

                if (info->has_alt)
                        elf_file_close(&info->alt);
                info->has_alt = false;
                error = debug_file_find(file, search, &info->debug);
                info->has_debug = error == 0;
                if (error == 0)
                        error = open_dwarf(&info->debug, file->path, search,
                                           with_locations, info);
                info->debug_of_others = error == -ESTALE;
                if (error == -ENOENT || error == -ESTALE)
                        error = own;
        }
        info->too_large = error == -EFBIG;
        info->damaged = error == -EINVAL;
        info->no_memory = error == -ENOMEM;
}

static void close_debug_info(struct debug_info *info)
{
        if (info->has_dwarf)
                dwarf_file_close(&info->dwarf);
        if (info->has_alt)
                elf_file_close(&info->alt);
        if (info->has_debug)
                elf_file_close(&info->debug);
}

int module_reading_open(struct module_reading *reading, const struct module *module,
                        const struct debug_search *search, bool with_locations)
{
        *reading = (struct module_reading){.state = MODULE_MISSING};
        int error = module_open_same(module, &reading->file, &reading->state);

        if (error || reading->state != MODULE_READY)
                return error;
        open_debug_info(&reading->file, search, with_locations, &reading->info);
        return symbol_table_read(&reading->symbols, &reading->file,
                                 reading->info.has_debug ? &reading->info.debug : NULL);
}

void module_reading_drop_dwarf(struct module_reading *reading)
{
        dwarf_file_close(&reading->info.dwarf);
        reading->info.has_dwarf = false;
}

void module_reading_close(struct module_reading *reading)
{
        symbol_table_free(&reading->symbols);
        close_debug_info(&reading->info);
        if (reading->state == MODULE_READY)
                elf_file_close(&reading->file);
}
