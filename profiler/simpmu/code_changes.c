/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All processes of a run share the list of files that may change (struct simpmu_code).
 * A file enters the list if it is mapped shared or from a descriptor open for writing.
 * It also enters if it has no name, has changed since the recording began, or is
 * written to while its code is in use. Two hashes of device and inode stand for a
 * file. A collision only causes needless checks. */
#include "code_changes.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"

#include "calls.h"
#include "compat/translations.h"
#include "syscalls.h"
#include "tool.h"

#define LINK_BYTES    32
#define PATH_BYTES    4096
#define NS_PER_SECOND 1000000000ull

/* From linux headers that Valgrind's lack. */
#define MAP_KIND_MASK        0xf
#define MAP_KIND_PRIVATE     2
#define ACCESS_MASK          3
#define OPEN_TRUNCATES       01000
#define CLONE_FILE           0x40049409 /* FICLONE */
#define CLONE_RANGE          0x4020940d /* FICLONERANGE */
#define DEDUPE_RANGE         0xc0189436 /* FIDEDUPERANGE */
#define POKE_TEXT            4          /* PTRACE_POKETEXT */
#define POKE_DATA            5
#define MADV_REMOVE          9
#define MADV_DONTNEED_LOCKED 24

static struct simpmu_code unshared; /* of a process that is not recorded */
static uint64_t seen_changes;
static Bool seen_begun;
static OSet *known_files; /* hashes of the files checked so far */

static struct simpmu_code *shared_code(void)
{
        struct simpmu_code *code = ring_code();

        return code != NULL ? code : &unshared;
}

/* ---- sets of files ---- */

static ULong file_hash(ULong device, ULong inode)
{
        ULong hash = inode * 0x9e3779b97f4a7c15ull ^ device;

        hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
        return hash ^ hash >> 32;
}

static Bool has_bit(const uint8_t *bits, ULong bit)
{
        return (__atomic_load_n(&bits[bit / 8], __ATOMIC_SEQ_CST) & 1 << bit % 8) != 0;
}

static Bool set_has(const uint8_t *set, ULong hash)
{
        return has_bit(set, hash % SIMPMU_CODE_BITS) &&
               has_bit(set, (hash >> 32) % SIMPMU_CODE_BITS);
}

static void set_add(uint8_t *set, ULong hash)
{
        const ULong bits[] = {hash % SIMPMU_CODE_BITS, (hash >> 32) % SIMPMU_CODE_BITS};

        for (UInt i = 0; i < 2; i++)
                __atomic_fetch_or(&set[bits[i] / 8], (uint8_t)(1 << bits[i] % 8),
                                  __ATOMIC_SEQ_CST);
}

/* All processes discard their translations. */
static void tell_change(void)
{
        __atomic_fetch_add(&shared_code()->changes, 1, __ATOMIC_SEQ_CST);
}

static void note_changing(ULong hash)
{
        struct simpmu_code *code = shared_code();

        if (set_has(code->changing, hash))
                return;
        set_add(code->changing, hash);
        if (set_has(code->in_use, hash))
                tell_change();
}

static void note_written(const struct vg_stat *file)
{
        ULong hash = file_hash(file->dev, file->ino);

        if (VKI_S_ISREG(file->mode) && set_has(shared_code()->in_use, hash))
                note_changing(hash);
}

/* ---- code about to be translated ---- */

static Bool has_changed_lately(const struct vg_stat *file)
{
        return file->ctime * NS_PER_SECOND + file->ctime_nsec >=
               shared_code()->begun_realtime_ns;
}

/* A file that is new or has no name is likely to be written to. */
static Bool may_be_written(const NSegment *segment)
{
        const HChar *name = VG_(am_get_filename)(segment);
        struct vg_stat file;

        return name == NULL || sr_isError(VG_(stat)(name, &file)) ||
               file.dev != segment->dev || file.ino != segment->ino ||
               has_changed_lately(&file);
}

static Bool file_changes(const NSegment *segment)
{
        ULong hash = file_hash(segment->dev, segment->ino);
        struct simpmu_code *code = shared_code();

        if (known_files == NULL)
                known_files = VG_(OSetWord_Create)(VG_(malloc), "code", VG_(free));
        if (!VG_(OSetWord_Contains)(known_files, hash)) {
                VG_(OSetWord_Insert)(known_files, hash);
                if (may_be_written(segment))
                        note_changing(hash);
                /* Before the test of CHANGING: a writer does both in the opposite
                 * order. */
                set_add(code->in_use, hash);
        }
        return set_has(code->changing, hash);
}

Bool code_may_change(Addr start, SizeT length)
{
        Addr at = start;

        do {
                const NSegment *segment = VG_(am_find_nsegment)(at);

                if (segment == NULL)
                        return True;
                if (segment->kind == SkFileC && (segment->hasW || file_changes(segment)))
                        return True;
                at = segment->end + 1;
        } while (at != 0 && at < start + length);
        return False;
}

/* ---- files that are written to ---- */

void code_file_mapped(UWord flags, Int fd)
{
        struct vg_stat file;

        if ((flags & MAP_KIND_MASK) == MAP_KIND_PRIVATE &&
            (raw_syscall4(__NR_fcntl, fd, VKI_F_GETFL, 0, 0) & ACCESS_MASK) ==
                VKI_O_RDONLY)
                return;
        if (VG_(fstat)(fd, &file) == 0 && VKI_S_ISREG(file.mode))
                note_changing(file_hash(file.dev, file.ino));
}

static void descriptor_written(Int fd)
{
        struct vg_stat file;

        if (VG_(fstat)(fd, &file) == 0)
                note_written(&file);
}

static void path_written(const HChar *path)
{
        struct vg_stat file;

        if (VG_(am_is_valid_for_client)((Addr)path, 1, VKI_PROT_READ) &&
            !sr_isError(VG_(stat)(path, &file)))
                note_written(&file);
}

Bool code_is_process_memory(Int fd)
{
        HChar link[LINK_BYTES];
        HChar path[PATH_BYTES];
        struct vg_stat file;
        SSizeT length;

        if (VG_(fstat)(fd, &file) != 0 || !VKI_S_ISREG(file.mode) || file.size != 0 ||
            !is_in_procfs(fd))
                return False;
        VG_(snprintf)(link, sizeof(link), "/proc/self/fd/%d", fd);
        length = VG_(readlink)(link, path, sizeof(path));
        return length > 4 && VG_(memcmp)(path + length - 4, "/mem", 4) == 0;
}

static Bool copies_file(UWord request)
{
        return request == CLONE_FILE || request == CLONE_RANGE || request == DEDUPE_RANGE;
}

void code_before_call(UInt number, const UWord *argument)
{
        const struct call_info *call = call_info(number);

        for (UInt i = 0; call->arguments[i] != '\0'; i++) {
                if (call->arguments[i] == 'w')
                        descriptor_written((Int)argument[i]);
                else if (call->arguments[i] == 't')
                        path_written((const HChar *)argument[i]);
        }
        if (number == __NR_ioctl && copies_file(argument[1]))
                descriptor_written((Int)argument[0]);
}

static Bool truncates(UInt number, const UWord *argument)
{
        return (number == __NR_open && (argument[1] & OPEN_TRUNCATES) != 0) ||
               (number == __NR_openat && (argument[2] & OPEN_TRUNCATES) != 0) ||
               number == NR_openat2;
}

/* ---- memory that changes without its code ---- */

/* Pages of a private mapping are the file's again. */
static void pages_dropped(Addr start, SizeT length)
{
        for (Addr at = start; at - start < length;) {
                const NSegment *segment = VG_(am_find_nsegment)(at);

                if (segment == NULL)
                        return;
                if (segment->kind == SkFileC && segment->hasX) {
                        translations_discard(start, length);
                        return;
                }
                at = segment->end + 1;
        }
}

static Bool drops_pages(UWord advice)
{
        return advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED ||
               advice == MADV_REMOVE;
}

static Bool writes_memory(UInt number, const UWord *argument)
{
        const struct call_info *call = call_info(number);

        if (number == __NR_process_vm_writev)
                return True;
        if (number == __NR_ptrace)
                return argument[0] == POKE_TEXT || argument[0] == POKE_DATA;
        if (number == NR_process_madvise)
                return drops_pages(argument[3]);
        for (UInt i = 0; call->arguments[i] != '\0'; i++)
                if (call->arguments[i] == 'w')
                        return code_is_process_memory((Int)argument[i]);
        return False;
}

void code_after_call(UInt number, const UWord *argument, UWord result)
{
        if (truncates(number, argument))
                descriptor_written((Int)result);
        else if (number == __NR_madvise && drops_pages(argument[2]))
                pages_dropped(argument[0], argument[1]);
        else if (writes_memory(number, argument))
                tell_change();
        code_look_for_changes();
}

void code_look_for_changes(void)
{
        uint64_t changes = __atomic_load_n(&shared_code()->changes, __ATOMIC_SEQ_CST);

        if (!seen_begun) /* nothing was translated that began before this program */
                seen_changes = changes;
        seen_begun = True;
        if (changes == seen_changes)
                return;
        seen_changes = changes;
        translations_discard(0, ~(Addr)0);
}
