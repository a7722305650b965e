/* SPDX-License-Identifier: MIT */
/* Fuzz target: the number of a unit, then any bytes as a .dwo file and as a package. The
 * target looks for the unit, and for a type with that signature, and reads both to the
 * end. */
#include "die_walk.h"
#include "fuzz_target.h"
#include "input_file.h"
#include "split_types.h"

static int ignore_range(void *context, uint64_t low, uint64_t high)
{
        return low > high;
}

static int look(void *context, struct die_entry *entry)
{
        struct dwarf_file *file = context;
        const char *name = die_name(file, &entry->die);
        entry->value = entry->parent + 1;
        die_ranges(file, &entry->die, ignore_range, NULL);
        return !name || strlen(name) < SIZE_MAX;
}

static void read_unit(struct split_unit *unit)
{
        struct split_unit *splits[] = {unit};
        struct dwarf_file file = {
            .splits = splits, .split_count = 1, .budget = unit->work};
        die_walk(&file, &unit->die, look, &file);
}

/* A type by its signature, as an entry of another unit refers to it. */
static void look_for_type(struct split_package *package, uint64_t signature)
{
        struct split_types types = {0};
        struct split_unit *opened[2] = {NULL, NULL};
        Dwarf_Die die;
        for (int again = 0; package->there && again < 2; again++)
                if (split_types_find(&types, package, signature, &die, &opened[again]) ==
                        0 &&
                    opened[again]) {
                        opened[again]->die = die;
                        read_unit(opened[again]);
                }
        split_types_free(&types);
        for (int i = 0; i < 2; i++)
                if (opened[i])
                        split_unit_close(opened[i]);
        free(opened[0]);
        free(opened[1]);
}

static void look_for(const struct elf_file *file, uint64_t id, unsigned version,
                     struct split_package *package)
{
        const struct split_skeleton skeleton = {.path = file->path,
                                                .elf = file->elf,
                                                .version = version,
                                                .unit_id = id,
                                                .name = file->path,
                                                .low_pc = 4096};
        struct split_unit unit;
        if (split_unit_open(&unit, &skeleton, package) != 0)
                return;
        read_unit(&unit);
        split_unit_close(&unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        uint64_t id;
        struct split_package none = {.asked = true}, package = {.asked = true};
        struct elf_file file;
        if (size < sizeof(id))
                return 0;
        memcpy(&id, bytes, sizeof(id));
        struct input_file input = input_file(bytes + sizeof(id), size - sizeof(id));

        package.there = elf_file_open(&package.file, input.path) == 0;
        if (package.there && debug_image_open(&package.image, &package.file, true) != 0) {
                elf_file_close(&package.file);
                package.there = false;
        }
        if (elf_file_open(&file, input.path) == 0) {
                for (unsigned version = 4; version <= 5; version++) {
                        look_for(&file, id, version, &none);
                        look_for(&file, id, version, &package);
                }
                elf_file_close(&file);
        }
        look_for_type(&package, id);
        split_package_close(&package);
        close(input.fd);
        return 0;
}
