/* SPDX-License-Identifier: MIT */
/* libunwind unwinds a stack of another process, and asks here for registers, memory
 * and unwind tables. It trusts tables; therefore it receives only entries that
 * unwind_table.c has checked, at addresses that no process has. Each rule that
 * libunwind derives from an entry is cached with the file, and applied to frames of
 * all processes. */
#include "user_stack.h"

#include <errno.h>
#include <libunwind.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "code_file.h"
#include "db.h"
#include "intern.h"
#include "keyed.h"
#include "mapping_set.h"

/* In libunwind's library, not in its header: searches a binary search table. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_unwind_table(unw_addr_space_t space, unw_word_t ip,
                               unw_dyn_info_t *table, unw_proc_info_t *info,
                               int need_unwind_info, void *context);

/* asm/perf_regs.h of x86 */
enum { PERF_SP = 7, PERF_IP = 8 };
static const unsigned perf_register[] = {
    /* by number in DWARF: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip */
    0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, PERF_IP};

enum {
        READS_MOST = 1 << 18, /* for one frame: bounds the work that forged tables
                                 cause */
};

/* The entries of file number N are at entries_addr + N * entries_room. At table_addr is
 * a binary search table of one entry, all zero: libunwind's search ends there. */
static const uint64_t table_addr = UINT64_C(1) << 63;
static const uint64_t entries_addr = UINT64_C(1) << 62;
static const uint64_t entries_room = UINT64_C(1) << 36;
static const size_t files_most = (size_t)1 << 26;

struct user_stacks {
        const char *root;
        bool live;
        struct keyed images;       /* struct mapping_set of code by (0, image); module_id:
                                    * number of the file + 1 */
        struct intern *file_index; /* build-id and path → number + 1 */
        struct code_file *files;
        size_t file_count, file_capacity;
        struct intern *state_index; /* libunwind's state → number + 1 */
        void **states;
        size_t state_count, state_capacity;
        unw_addr_space_t addr_space;
        /* Of the current sample. */
        const struct mapping_set *code;
        const struct record_sample *sample;
        uint64_t stack_addr;
        size_t reads_left;
        /* Of the current instruction, while libunwind reads its entry. */
        const struct unwind_entry *entry;
        uint64_t entry_addr, address, bias;
        void *state; /* the rule's state; NULL: none yet */
};

void user_stacks_free(struct user_stacks *stacks)
{
        if (!stacks)
                return;
        for (size_t i = 0; i < stacks->images.count; i++)
                mapping_set_free(keyed_at(&stacks->images, i));
        for (size_t i = 0; i < stacks->file_count; i++)
                code_file_free(&stacks->files[i]);
        for (size_t i = 0; i < stacks->state_count; i++)
                free(stacks->states[i]);
        if (stacks->addr_space)
                unw_destroy_addr_space(stacks->addr_space);
        keyed_close(&stacks->images);
        intern_free(stacks->file_index);
        intern_free(stacks->state_index);
        free(stacks->files);
        free(stacks->states);
        free(stacks);
}

/* ---- mapped code ---- */

static int new_file(struct user_stacks *stacks, const struct event_mapping *event)
{
        struct code_file file = {.is_vdso = event->kind == MAPPING_VDSO,
                                 .build_id_bytes = event->build_id_bytes};
        memcpy(file.build_id, event->build_id, event->build_id_bytes);
        if (array_reserve(&stacks->files, &stacks->file_capacity, stacks->file_count,
                          sizeof(*stacks->files)) < 0 ||
            (!file.is_vdso &&
             asprintf(&file.path, "%s%s", stacks->root, event->path) < 0))
                return -ENOMEM;
        stacks->files[stacks->file_count++] = file;
        return 0;
}

/* Finds or makes the number of EVENT's file, by build-id and path; the vdso has no
 * path. */
static int place_file(struct user_stacks *stacks, const struct event_mapping *event,
                      int64_t *number)
{
        size_t path_bytes = event->kind == MAPPING_VDSO ? 0 : strlen(event->path) + 1;
        size_t key_bytes = event->build_id_bytes + path_bytes;
        char *key = malloc(key_bytes + 1);
        if (!key)
                return -ENOMEM;
        memcpy(key, event->build_id, event->build_id_bytes);
        if (path_bytes)
                memcpy(key + event->build_id_bytes, event->path, path_bytes);
        int64_t *place = intern_place(stacks->file_index, key, key_bytes);
        free(key);
        if (place && *place == 0 && new_file(stacks, event) == 0)
                *place = (int64_t)stacks->file_count;
        if (!place || *place == 0)
                return -ENOMEM;
        *number = *place;
        return 0;
}

/* Returns true if EVENT maps a file that may exist here. The vdso of a recording is this
 * machine's if the build-ids match. */
static bool has_file(const struct user_stacks *stacks, const struct event_mapping *event)
{
        if (event->kind == MAPPING_VDSO)
                return stacks->live || event->build_id_bytes;
        return event->kind == MAPPING_FILE && event->path && event->path[0] == '/';
}

static int piece_ended(void *context, const struct mapped *piece)
{
        (void)context, (void)piece;
        return 0;
}

static int piece_begun(void *context, struct mapped *piece)
{
        (void)context, (void)piece;
        return 0;
}

static const struct mapping_listener nobody = {piece_ended, piece_begun, NULL};

int user_stacks_map(struct user_stacks *stacks, const struct event_mapping *event)
{
        bool new;
        struct mapping_set *code = keyed_place(&stacks->images, 0, event->image, &new);
        if (!code)
                return -ENOMEM;
        if (event->protection[2] != 'x')
                return mapping_set_remove(code, event->start_addr, event->length_bytes,
                                          &nobody);
        struct mapped piece = {.start_addr = event->start_addr,
                               .length_bytes = event->length_bytes,
                               .file_offset_bytes = event->file_offset_bytes,
                               .kind = event->kind};
        int rc = 0;
        if (has_file(stacks, event))
                rc = place_file(stacks, event, &piece.module_id);
        if (rc == 0)
                rc = mapping_set_add(code, &piece, &nobody);
        return rc == -EINVAL ? 0 : rc; /* an empty or wrapping mapping is ignored */
}

int user_stacks_fork(struct user_stacks *stacks, image_key parent_key,
                     image_key child_key)
{
        bool new;
        if (!keyed_find(&stacks->images, 0, parent_key))
                return 0;
        struct mapping_set *child = keyed_place(&stacks->images, 0, child_key, &new);
        const struct mapping_set *parent = keyed_find(&stacks->images, 0, parent_key);
        if (!child || child == parent)
                return child ? 0 : -ENOMEM;
        mapping_set_free(child);
        *child = (struct mapping_set){NULL, 0, 0};
        return mapping_set_copy(child, parent);
}

void user_stacks_end(struct user_stacks *stacks, image_key image)
{
        struct mapping_set *code = keyed_find(&stacks->images, 0, image);
        if (!code)
                return;
        mapping_set_free(code);
        *code = (struct mapping_set){NULL, 0, 0};
}

/* ---- files ---- */

/* The file at ADDR in the sample's image, with its table, and the file's BIAS there.
 * NULL: not known. */
static struct code_file *find_file(struct user_stacks *stacks, uint64_t addr,
                                   uint64_t *bias)
{
        const struct mapped *mapped = mapping_set_find(stacks->code, addr);
        if (!mapped || !mapped->module_id)
                return NULL;
        struct code_file *file = &stacks->files[mapped->module_id - 1];
        if (!code_file_read(file) || !unwind_table_bias(file->table, mapped->start_addr,
                                                        mapped->file_offset_bytes, bias))
                return NULL;
        return file;
}

/* ---- libunwind's questions ---- */

/* The entry that find_rule has at hand. */
static int find_table(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info,
                      int need_unwind_info, void *context)
{
        const struct user_stacks *stacks = context;
        (void)ip;
        if (!stacks->entry)
                return -UNW_ENOINFO;
        unw_dyn_info_t table = {
            .start_ip = stacks->address,
            .end_ip = stacks->address + 1,
            .format = UNW_INFO_FORMAT_IP_OFFSET,
            .load_offset = stacks->bias,
            .u.rti = {.segbase = stacks->entry_addr + stacks->entry->offset,
                      .table_len = 1,
                      .table_data = table_addr},
        };
        return search_unwind_table(space, stacks->address, &table, info, need_unwind_info,
                                   context);
}

static bool read_entries(const struct user_stacks *stacks, uint64_t addr, uint64_t *word)
{
        *word = 0;
        if (addr >= table_addr)
                return addr == table_addr;
        uint64_t number = (addr - entries_addr) / entries_room;
        uint64_t offset = (addr - entries_addr) % entries_room;
        size_t length;
        if (number >= stacks->file_count || !stacks->files[number].table)
                return false;
        const uint8_t *bytes = unwind_table_bytes(stacks->files[number].table, &length);
        if (offset >= length)
                return false;
        size_t left = length - offset;
        memcpy(word, bytes + offset, left < sizeof(*word) ? left : sizeof(*word));
        return true;
}

/* Reads a word of executable memory. Only code in files can be read. The processor has
 * read it, therefore the file has the rest, too. */
static bool read_image(struct user_stacks *stacks, uint64_t addr, uint64_t *word)
{
        const struct mapped *mapped = mapping_set_find(stacks->code, addr);
        if (!mapped)
                return false;
        *word =
            mapped->module_id
                ? code_file_word(&stacks->files[mapped->module_id - 1],
                                 addr - mapped->start_addr + mapped->file_offset_bytes)
                : 0;
        return true;
}

static int access_memory(unw_addr_space_t space, unw_word_t addr, unw_word_t *word,
                         int is_write, void *context)
{
        struct user_stacks *stacks = context;
        uint64_t offset = addr - stacks->stack_addr;
        size_t copied = stacks->sample->user_stack_bytes;
        (void)space;
        if (is_write || stacks->reads_left == 0)
                return -UNW_EINVAL;
        stacks->reads_left--;
        if (addr >= entries_addr)
                return read_entries(stacks, addr, word) ? 0 : -UNW_EINVAL;
        if (offset < copied && sizeof(*word) <= copied - offset) {
                memcpy(word, stacks->sample->user_stack + offset, sizeof(*word));
                return 0;
        }
        return read_image(stacks, addr, word) ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
                           int is_write, void *context)
{
        const struct user_stacks *stacks = context;
        (void)space;
        return !is_write && number >= 0 &&
                       (size_t)number < sizeof(perf_register) / sizeof(*perf_register) &&
                       record_register(&stacks->sample->user_regs, perf_register[number],
                                       value)
                   ? 0
                   : -UNW_EBADREG;
}

static void put_table(unw_addr_space_t space, unw_proc_info_t *info, void *context)
{
        (void)space, (void)info, (void)context;
}

static int no_dynamic_tables(unw_addr_space_t space, unw_word_t *list, void *context)
{
        (void)space, (void)list, (void)context;
        return -UNW_ENOINFO;
}

static int no_vector_register(unw_addr_space_t space, unw_regnum_t number,
                              unw_fpreg_t *value, int is_write, void *context)
{
        (void)space, (void)number, (void)value, (void)is_write, (void)context;
        return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context)
{
        (void)space, (void)cursor, (void)context;
        return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t addr, char *name, size_t length,
                   unw_word_t *offset, void *context)
{
        (void)space, (void)addr, (void)name, (void)length, (void)offset, (void)context;
        return -UNW_EUNSPEC;
}

static unw_addr_space_t addr_space_new(void)
{
        unw_accessors_t accessors = {
            .find_proc_info = find_table,
            .put_unwind_info = put_table,
            .get_dyn_info_list_addr = no_dynamic_tables,
            .access_mem = access_memory,
            .access_reg = access_register,
            .access_fpreg = no_vector_register,
            .resume = no_resume,
            .get_proc_name = no_name,
        };
        unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
        if (space)
                unw_set_caching_policy(space, UNW_CACHE_NONE); /* rules are cached here */
        return space;
}

struct user_stacks *user_stacks_new(const char *root, bool live)
{
        struct user_stacks *stacks = calloc(1, sizeof(*stacks));
        if (!stacks)
                return NULL;
        stacks->root = root ? root : "";
        stacks->live = live;
        stacks->file_index = intern_new();
        stacks->state_index = intern_new();
        stacks->addr_space = addr_space_new();
        if (keyed_open(&stacks->images, sizeof(struct mapping_set)) < 0 ||
            !stacks->file_index || !stacks->state_index || !stacks->addr_space ||
            elf_version(EV_CURRENT) == EV_NONE) {
                user_stacks_free(stacks);
                return NULL;
        }
        return stacks;
}

/* ---- rules ---- */

/* Returns the stored copy of STATE; equal states are stored once. NULL: no memory. */
static void *keep_state(struct user_stacks *stacks, const void *state, size_t length)
{
        int64_t *place = intern_place(stacks->state_index, state, length);
        if (place && *place == 0) {
                void *copy = malloc(length);
                if (!copy || array_reserve(&stacks->states, &stacks->state_capacity,
                                           stacks->state_count, sizeof(copy)) < 0) {
                        free(copy);
                        return NULL;
                }
                memcpy(copy, state, length);
                stacks->states[stacks->state_count++] = copy;
                *place = (int64_t)stacks->state_count;
        }
        return place ? stacks->states[*place - 1] : NULL;
}

static int take_state(void *context, void *state, size_t length, unw_word_t start,
                      unw_word_t end)
{
        struct user_stacks *stacks = context;
        if (stacks->address >= start && stacks->address < end)
                stacks->state = keep_state(stacks, state, length);
        return 0;
}

/* The rule for the instruction at ADDRESS. NULL: not known. */
static const struct unwind_rule *find_rule(struct user_stacks *stacks,
                                           unw_cursor_t *cursor, uint64_t address)
{
        uint64_t bias;
        struct code_file *file = find_file(stacks, address, &bias);
        size_t number = file ? (size_t)(file - stacks->files) : files_most;
        if (number >= files_most)
                return NULL;
        bool new;
        struct unwind_entry entry;
        struct unwind_rule *rule = keyed_place(&file->rules, 0, address - bias, &new);
        if (rule && new &&unwind_table_find(file->table, address - bias, &entry)) {
                stacks->entry = &entry;
                stacks->entry_addr = entries_addr + number * entries_room;
                stacks->address = address;
                stacks->bias = bias;
                stacks->state = NULL;
                unw_reg_states_iterate(cursor, take_state, stacks);
                stacks->entry = NULL;
                *rule = (struct unwind_rule){stacks->state, entry.of_signal};
        }
        return rule && rule->state ? rule : NULL;
}

/* ---- one sample ---- */

bool user_stack_pointer(const struct record_sample *sample, uint64_t *stack_pointer)
{
        return sample->user_regs.abi == PERF_SAMPLE_REGS_ABI_64 &&
               record_register(&sample->user_regs, PERF_SP, stack_pointer);
}

/* Moves CURSOR to the caller, by RULE or, without a rule, by libunwind's guess from the
 * code or the frame pointer. A guess outside code is rejected. */
static bool go_on(const struct user_stacks *stacks, unw_cursor_t *cursor,
                  const struct unwind_rule *rule, uint64_t *ip)
{
        int rc = rule ? unw_apply_reg_state(cursor, rule->state) : unw_step(cursor);
        return rc > 0 && unw_get_reg(cursor, UNW_REG_IP, ip) == 0 && *ip != 0 &&
               (rule || mapping_set_find(stacks->code, *ip));
}

/* Appends the callers of FRAMES[0]; returns the new frame count. A signal handler's
 * return address and the interrupted instruction do not follow calls. As schema.md
 * specifies, their address plus one is stored. */
static size_t add_callers(struct user_stacks *stacks, unw_cursor_t *cursor,
                          uint64_t frames[USER_STACK_FRAMES_MAX],
                          uint64_t cfas[USER_STACK_FRAMES_MAX])
{
        size_t depth = 1;
        uint64_t ip = frames[0], stack_pointer;
        bool interrupted = true;
        while (depth < USER_STACK_FRAMES_MAX) {
                stacks->reads_left = READS_MOST;
                const struct unwind_rule *rule =
                    find_rule(stacks, cursor, interrupted ? ip : ip - 1);
                bool of_signal = rule && rule->of_signal;
                if (of_signal && depth > 1 && !interrupted)
                        frames[depth - 1]++;
                if (!go_on(stacks, cursor, rule, &ip))
                        break;
                if (unw_get_reg(cursor, UNW_REG_SP, &stack_pointer) == 0)
                        cfas[depth - 1] = stack_pointer; /* is the CFA of its callee */
                interrupted = of_signal;
                cfas[depth] = 0;
                frames[depth++] = ip + interrupted;
        }
        return depth;
}

size_t user_stacks_unwind(struct user_stacks *stacks, image_key image,
                          const struct record_sample *sample,
                          uint64_t frames[USER_STACK_FRAMES_MAX],
                          uint64_t cfas[USER_STACK_FRAMES_MAX])
{
        uint64_t ip;
        unw_cursor_t cursor;
        if (sample->user_stack_bytes == 0 ||
            !user_stack_pointer(sample, &stacks->stack_addr) ||
            !record_register(&sample->user_regs, PERF_IP, &ip))
                return 0;
        frames[0] = ip;
        cfas[0] = 0;
        stacks->code = keyed_find(&stacks->images, 0, image);
        if (!stacks->code)
                return 1;
        stacks->sample = sample;
        if (unw_init_remote(&cursor, stacks->addr_space, stacks) != 0)
                return 1;
        return add_callers(stacks, &cursor, frames, cfas);
}
