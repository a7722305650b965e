/* SPDX-License-Identifier: MIT */
/* elfutils unwinds; this tells it which file is where, and reads the copied stack for it.
 * A file is given to it when an address in it is first met. */
#include "user_stack.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "build_id.h"
#include "db.h"
#include "intern.h"
#include "keyed.h"

/* asm/perf_regs.h of x86 */
enum { PERF_SP = 7, PERF_IP = 8, DWARF_SP = 7, DWARF_REGISTERS = 16 };
static const unsigned perf_register[DWARF_REGISTERS] = {
    /* by number in DWARF: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15 */
    0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};

struct code_mapping {
        uint64_t start_addr;
        uint64_t length_bytes;
        uint64_t file_offset_bytes;
        size_t file; /* index in files */
        bool reported;
};

/* A path with a build-id; the same file in many images is kept once. */
struct code_file {
        char *path;
        uint8_t build_id[RECORD_BUILD_ID_BYTES];
        size_t build_id_bytes;
        bool checked;
        bool unusable; /* not there, or another file than was mapped */
};

struct unwound_image {
        struct code_mapping *mappings; /* the later ones count */
        size_t count;
        size_t capacity;
        Dwfl *dwfl; /* NULL: nothing of it was unwound yet */
};

struct user_stacks {
        const char *root;
        struct keyed images;       /* by (0, image) */
        struct intern *file_index; /* build-id and path → index + 1 */
        struct code_file *files;
        size_t file_count, file_capacity;
        /* Of the sample in hand. */
        struct unwound_image *image;
        const struct record_sample *sample;
        uint64_t stack_addr;
        uint64_t *frames;
        uint64_t *cfas;
        size_t depth;
};

struct user_stacks *user_stacks_new(const char *root)
{
        struct user_stacks *stacks = calloc(1, sizeof(*stacks));
        if (!stacks)
                return NULL;
        stacks->root = root ? root : "";
        stacks->file_index = intern_new();
        if (keyed_open(&stacks->images, sizeof(struct unwound_image)) < 0 ||
            !stacks->file_index) {
                user_stacks_free(stacks);
                return NULL;
        }
        return stacks;
}

static void forget(struct unwound_image *image)
{
        dwfl_end(image->dwfl);
        image->dwfl = NULL;
        for (size_t i = 0; i < image->count; i++)
                image->mappings[i].reported = false;
}

void user_stacks_free(struct user_stacks *stacks)
{
        if (!stacks)
                return;
        for (size_t i = 0; i < stacks->images.count; i++) {
                struct unwound_image *image = keyed_at(&stacks->images, i);
                forget(image);
                free(image->mappings);
        }
        for (size_t i = 0; i < stacks->file_count; i++)
                free(stacks->files[i].path);
        keyed_close(&stacks->images);
        intern_free(stacks->file_index);
        free(stacks->files);
        free(stacks);
}

/* ---- what is mapped ---- */

static struct unwound_image *find_image(const struct user_stacks *stacks, image_key key)
{
        return keyed_find(&stacks->images, 0, key);
}

static struct unwound_image *place_image(struct user_stacks *stacks, image_key key)
{
        bool new;
        return keyed_place(&stacks->images, 0, key, &new);
}

static int place_file(struct user_stacks *stacks, const struct event_mapping *event,
                      size_t *index)
{
        size_t path_bytes = strlen(event->path) + 1;
        char *key = malloc(event->build_id_bytes + path_bytes);
        if (!key)
                return -ENOMEM;
        memcpy(key, event->build_id, event->build_id_bytes);
        memcpy(key + event->build_id_bytes, event->path, path_bytes);
        int64_t *place =
            intern_place(stacks->file_index, key, event->build_id_bytes + path_bytes);
        free(key);
        if (place && *place == 0) {
                char *path = NULL;
                if (array_reserve(&stacks->files, &stacks->file_capacity,
                                  stacks->file_count, sizeof(*stacks->files)) < 0 ||
                    asprintf(&path, "%s%s", stacks->root, event->path) < 0)
                        return -ENOMEM;
                struct code_file file = {.path = path,
                                         .build_id_bytes = event->build_id_bytes};
                memcpy(file.build_id, event->build_id, event->build_id_bytes);
                stacks->files[stacks->file_count++] = file;
                *place = (int64_t)stacks->file_count;
        }
        if (!place)
                return -ENOMEM;
        *index = (size_t)*place - 1;
        return 0;
}

static bool overlap(const struct code_mapping *a, const struct code_mapping *b)
{
        return a->start_addr < b->start_addr + b->length_bytes &&
               b->start_addr < a->start_addr + a->length_bytes;
}

int user_stacks_map(struct user_stacks *stacks, const struct event_mapping *event)
{
        if (event->kind != MAPPING_FILE || !event->path || event->path[0] != '/' ||
            event->protection[2] != 'x')
                return 0;
        struct unwound_image *image = place_image(stacks, event->image);
        struct code_mapping mapping = {.start_addr = event->start_addr,
                                       .length_bytes = event->length_bytes,
                                       .file_offset_bytes = event->file_offset_bytes};
        int rc = image ? place_file(stacks, event, &mapping.file) : -ENOMEM;
        if (rc < 0)
                return rc;
        for (size_t i = 0; i < image->count; i++)
                if (image->mappings[i].reported && overlap(&image->mappings[i], &mapping))
                        forget(image);
        if (array_reserve(&image->mappings, &image->capacity, image->count,
                          sizeof(*image->mappings)) < 0)
                return -ENOMEM;
        image->mappings[image->count++] = mapping;
        return 0;
}

int user_stacks_fork(struct user_stacks *stacks, image_key parent_key,
                     image_key child_key)
{
        if (!find_image(stacks, parent_key))
                return 0;
        struct unwound_image *child = place_image(stacks, child_key);
        const struct unwound_image *parent = find_image(stacks, parent_key);
        if (!child)
                return -ENOMEM;
        struct code_mapping *copy = calloc(parent->count + 1, sizeof(*copy));
        if (!copy)
                return -ENOMEM;
        forget(child);
        free(child->mappings);
        memcpy(copy, parent->mappings, parent->count * sizeof(*copy));
        child->mappings = copy;
        child->count = parent->count;
        child->capacity = parent->count + 1;
        for (size_t i = 0; i < child->count; i++)
                copy[i].reported = false;
        return 0;
}

void user_stacks_end(struct user_stacks *stacks, image_key key)
{
        struct unwound_image *image = find_image(stacks, key);
        if (image)
                forget(image);
}

/* ---- files for elfutils ---- */

/* A regular file, opened without waiting for anything; -1: there is none. */
static int open_file(const char *path)
{
        struct stat status;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
                close(fd);
                fd = -1;
        }
        return fd;
}

static bool is_usable(struct code_file *file)
{
        uint8_t id[BUILD_ID_MAX_BYTES];
        if (!file->checked && file->build_id_bytes)
                file->unusable = build_id_read(file->path, id) != file->build_id_bytes ||
                                 memcmp(id, file->build_id, file->build_id_bytes) != 0;
        file->checked = true;
        return !file->unusable;
}

/* What is added to the file's virtual addresses, by the segment that is mapped. */
static bool find_bias(int fd, const struct code_mapping *mapping, uint64_t *bias)
{
        bool found = false;
        size_t count = 0;
        Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
        if (elf && elf_getphdrnum(elf, &count) == 0)
                for (size_t i = 0; i < count && !found && i < INT32_MAX; i++) {
                        GElf_Phdr phdr;
                        const uint64_t page = 4096;
                        if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
                            !(phdr.p_flags & PF_X))
                                continue;
                        uint64_t first = phdr.p_offset & ~(page - 1);
                        uint64_t offset = mapping->file_offset_bytes;
                        found = offset >= first &&
                                offset - first < phdr.p_filesz + (phdr.p_offset - first);
                        *bias =
                            mapping->start_addr - offset + phdr.p_offset - phdr.p_vaddr;
                }
        elf_end(elf);
        return found;
}

static Dwfl_Module *report(struct user_stacks *stacks, struct code_mapping *mapping)
{
        struct code_file *file = &stacks->files[mapping->file];
        uint64_t bias;
        mapping->reported = true;
        int fd = is_usable(file) ? open_file(file->path) : -1;
        if (fd < 0)
                return NULL;
        if (!find_bias(fd, mapping, &bias)) {
                close(fd);
                return NULL;
        }
        dwfl_report_begin_add(stacks->image->dwfl);
        Dwfl_Module *module =
            dwfl_report_elf(stacks->image->dwfl, file->path, file->path, fd, bias, true);
        if (!module)
                close(fd);
        dwfl_report_end(stacks->image->dwfl, NULL, NULL);
        return module;
}

/* Makes the file at ADDR known to elfutils. */
static bool know_module(struct user_stacks *stacks, uint64_t addr)
{
        struct unwound_image *image = stacks->image;
        if (dwfl_addrmodule(image->dwfl, addr))
                return true;
        for (size_t i = image->count; i-- > 0;) {
                struct code_mapping *mapping = &image->mappings[i];
                if (addr - mapping->start_addr >= mapping->length_bytes)
                        continue;
                return !mapping->reported && report(stacks, mapping);
        }
        return false;
}

/* ---- elfutils' questions ---- */

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
        (void)dwfl;
        if (*thread)
                return 0;
        *thread = context;
        return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
        (void)dwfl;
        (void)tid;
        *thread = context;
        return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *context)
{
        const struct user_stacks *stacks = context;
        uint64_t offset = addr - stacks->stack_addr;
        (void)dwfl;
        if (offset >= stacks->sample->user_stack_bytes ||
            sizeof(*word) > stacks->sample->user_stack_bytes - offset)
                return false;
        memcpy(word, stacks->sample->user_stack + offset, sizeof(*word));
        return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
        const struct user_stacks *stacks = context;
        Dwarf_Word values[DWARF_REGISTERS + 1] = {0};
        uint64_t ip = 0;
        for (int i = 0; i < DWARF_REGISTERS; i++)
                record_register(&stacks->sample->user_regs, perf_register[i], &values[i]);
        record_register(&stacks->sample->user_regs, PERF_IP, &ip);
        values[DWARF_REGISTERS] = ip;
        return dwfl_thread_state_registers(thread, 0, DWARF_REGISTERS + 1, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

static int take_frame(Dwfl_Frame *frame, void *context)
{
        struct user_stacks *stacks = context;
        Dwarf_Addr pc;
        Dwarf_Word sp;
        if (stacks->depth == USER_STACK_FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL) ||
            pc == 0)
                return DWARF_CB_ABORT;
        /* A caller's stack pointer is the CFA of what it called. */
        if (stacks->depth > 0 && dwfl_frame_reg(frame, DWARF_SP, &sp) == 0)
                stacks->cfas[stacks->depth - 1] = sp;
        stacks->cfas[stacks->depth] = 0;
        stacks->frames[stacks->depth++] = pc;
        return know_module(stacks, stacks->depth > 1 ? pc - 1 : pc) ? DWARF_CB_OK
                                                                    : DWARF_CB_ABORT;
}

/* ---- one sample ---- */

/* Unwind tables are in the files that are mapped; debug files are not looked for. */
static int find_no_debug_file(Dwfl_Module *module, void **user, const char *name,
                              Dwarf_Addr base, const char *file, const char *link,
                              GElf_Word checksum, char **found)
{
        (void)module, (void)user, (void)name, (void)base;
        (void)file, (void)link, (void)checksum, (void)found;
        return -1;
}

static bool begin(struct user_stacks *stacks, uint64_t ip)
{
        static const Dwfl_Callbacks callbacks = {
            .find_elf = dwfl_build_id_find_elf,
            .find_debuginfo = find_no_debug_file,
        };
        struct unwound_image *image = stacks->image;
        if (!image->dwfl && !(image->dwfl = dwfl_begin(&callbacks)))
                return false;
        if (!know_module(stacks, ip) || !image->dwfl)
                return false;
        return dwfl_pid(image->dwfl) > 0 ||
               dwfl_attach_state(image->dwfl, NULL, 1, &thread_callbacks, stacks);
}

bool user_stack_pointer(const struct record_sample *sample, uint64_t *stack_pointer)
{
        return sample->user_regs.abi == PERF_SAMPLE_REGS_ABI_64 &&
               record_register(&sample->user_regs, PERF_SP, stack_pointer);
}

size_t user_stacks_unwind(struct user_stacks *stacks, image_key image,
                          const struct record_sample *sample,
                          uint64_t frames[USER_STACK_FRAMES_MAX],
                          uint64_t cfas[USER_STACK_FRAMES_MAX])
{
        uint64_t ip;
        if (sample->user_stack_bytes == 0 ||
            !user_stack_pointer(sample, &stacks->stack_addr) ||
            !record_register(&sample->user_regs, PERF_IP, &ip))
                return 0;
        frames[0] = ip;
        cfas[0] = 0;
        stacks->image = find_image(stacks, image);
        if (!stacks->image)
                return 1;
        stacks->sample = sample;
        stacks->frames = frames;
        stacks->cfas = cfas;
        stacks->depth = 0;
        if (begin(stacks, ip))
                dwfl_getthread_frames(stacks->image->dwfl, 1, take_frame, stacks);
        return stacks->depth ? stacks->depth : 1;
}
