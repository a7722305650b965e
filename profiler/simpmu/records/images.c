/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process image: its program and its mappings. A record has the protection at the
 * time of the mapping. Later mprotects are not recorded. */
#include "tool.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_threadstate.h"

#include "address_map.h"
#include "compat/program.h"
#include "hidden/exec_fd.h"
#include "syscalls.h"

#define PATH_BYTES 4096
#define EXECUTABLE 1 /* X_OK, from unistd.h */

#define CLIENT_SEGMENTS (SkAnonC | SkFileC | SkShmC)

/* The last executable segment that an address was looked up in. */
static Addr executable_start;
static Addr executable_end;

static void forget_executable(void)
{
        executable_start = 0;
        executable_end = 0;
}

Bool images_executable(Addr address)
{
        const NSegment *segment;

        if (address >= executable_start && address < executable_end)
                return True;
        segment = VG_(am_find_nsegment)(address);
        if (segment == NULL || !segment->hasX)
                return False;
        executable_start = segment->start;
        executable_end = segment->end;
        return True;
}

void images_process(UInt flags, ULong start_ns)
{
        HChar link[64];
        HChar path[PATH_BYTES];
        struct simpmu_process *record;
        SSizeT length;
        SizeT bytes;

        VG_(snprintf)(link, sizeof(link), "/proc/self/fd/%d", VG_(cl_exec_fd));
        length = VG_(readlink)(link, path, sizeof(path) - 1);
        path[length < 0 ? 0 : length] = '\0';
        bytes = VG_(strlen)(path) + 1;
        record = ring_begin(SIMPMU_PROCESS, flags, start_ns, 0,
                            ring_round(sizeof(*record) + bytes));
        if (record == NULL)
                return;
        record->pid = (UInt)VG_(getpid)();
        record->reserved = 0;
        record->origin = ring_origin();
        VG_(memcpy)(record->executable, path, bytes);
        ring_publish(record);
}

struct mapping {
        Addr start;
        SizeT length;
        ULong file_offset;
        UInt permissions;
        enum simpmu_map_kind kind;
        const HChar *path;
        UInt build_id_bytes;
        UChar build_id[SIMPMU_BUILD_ID_BYTES];
};

static void write_mapping(const struct mapping *mapping)
{
        SizeT path_bytes = VG_(strlen)(mapping->path) + 1;
        struct simpmu_map *record;

        record = ring_begin(SIMPMU_MAP, mapping->permissions, threads_now_ns(), 0,
                            ring_round(sizeof(*record) + path_bytes));
        if (record == NULL)
                return;
        record->start = mapping->start;
        record->length_bytes = mapping->length;
        record->file_offset_bytes = mapping->file_offset;
        record->kind = mapping->kind;
        record->build_id_bytes = mapping->build_id_bytes;
        VG_(memcpy)(record->build_id, mapping->build_id, sizeof(record->build_id));
        VG_(memcpy)(record->path, mapping->path, path_bytes);
        ring_publish(record);
}

static enum simpmu_map_kind kind_of(const NSegment *segment, const HChar *path)
{
        if (VG_(strcmp)(path, "[vdso]") == 0)
                return SIMPMU_MAP_VDSO;
        if (segment->kind == SkFileC)
                return SIMPMU_MAP_FILE;
        return segment->isCH ? SIMPMU_MAP_HEAP : SIMPMU_MAP_ANON;
}

/* The part of SEGMENT that lies in [START, START + LENGTH). */
static void write_segment(const NSegment *segment, Addr start, SizeT length)
{
        Addr from = segment->start > start ? segment->start : start;
        Addr last = segment->end < start + length - 1 ? segment->end : start + length - 1;
        const HChar *path = VG_(am_get_filename)(segment);
        struct mapping mapping = {
            .start = from,
            .length = last - from + 1,
            .permissions = (segment->hasR ? SIMPMU_READ : 0) |
                           (segment->hasW ? SIMPMU_WRITE : 0) |
                           (segment->hasX ? SIMPMU_EXEC : 0),
            .path = path == NULL ? "" : path,
        };

        mapping.kind = kind_of(segment, mapping.path);
        mapping.build_id_bytes = mapped_build_id(segment, mapping.build_id);
        if (segment->kind == SkFileC)
                mapping.file_offset = (ULong)segment->offset + (from - segment->start);
        if (segment->kind == SkFileC && mapping.file_offset == 0)
                address_map_file(mapping.path, from);
        write_mapping(&mapping);
}

static void write_range(Addr start, SizeT length)
{
        Addr at = start;

        while (at - start < length) {
                const NSegment *segment = VG_(am_find_nsegment)(at);
                if (segment == NULL)
                        return;
                if ((segment->kind & CLIENT_SEGMENTS) != 0)
                        write_segment(segment, start, length);
                if (segment->end + 1 <= at)
                        return; /* the end of the address space */
                at = segment->end + 1;
        }
}

/* The initial stack: a segment that grows down into a reservation. Its record covers
 * the whole range that it can take. False: SEGMENT is something else. */
static Bool write_main_stack(const NSegment *segment)
{
        const NSegment *below = VG_(am_find_nsegment)(segment->start - 1);

        if (segment->kind != SkAnonC || below == NULL || below->kind != SkResvn ||
            below->smode != SmUpper)
                return False;
        write_mapping(&(struct mapping){
            .start = below->start,
            .length = segment->end + 1 - below->start,
            .permissions = SIMPMU_READ | SIMPMU_WRITE,
            .kind = SIMPMU_MAP_STACK,
            .path = "",
        });
        return True;
}

static void forget_pages(Addr start, SizeT length)
{
        ULong first = start >> PAGE_SHIFT, count = length >> PAGE_SHIFT;

        address_map_pages_change(start, length);
        if (pages_forget(&tool_machine.pages, first, count))
                machine_forget_translations(&tool_machine, &tool_hot, first, count);
}

static void on_startup(Addr start, SizeT length, Bool read, Bool write, Bool execute,
                       ULong debug_info)
{
        const NSegment *segment = VG_(am_find_nsegment)(start);

        (void)read, (void)write, (void)execute, (void)debug_info;
        if (segment != NULL && !write_main_stack(segment))
                write_range(start, length);
}

static void on_mmap(Addr start, SizeT length, Bool read, Bool write, Bool execute,
                    ULong debug_info)
{
        (void)read, (void)write, (void)execute, (void)debug_info;
        forget_executable();
        forget_pages(start, length);
        write_range(start, length);
}

static void on_brk(Addr start, SizeT length, ThreadId tid)
{
        (void)tid;
        write_mapping(&(struct mapping){
            .start = start,
            .length = length,
            .permissions = SIMPMU_READ | SIMPMU_WRITE,
            .kind = SIMPMU_MAP_HEAP,
            .path = "",
        });
}

static void on_unmap(Addr start, SizeT length)
{
        struct simpmu_unmap *record;

        forget_executable();
        forget_pages(start, length);
        address_map_range_ends(start, length);
        record = ring_begin(SIMPMU_UNMAP, 0, threads_now_ns(), 0, sizeof(*record));
        if (record == NULL)
                return;
        record->start = start;
        record->length_bytes = length;
        ring_publish(record);
}

/* Part of a mapping has moved (mremap); the old addresses are recorded as unmapped. */
static void on_remap(Addr from, Addr to, SizeT length)
{
        forget_executable();
        if (pages_move(&tool_machine.pages, from >> PAGE_SHIFT, to >> PAGE_SHIFT,
                       length >> PAGE_SHIFT))
                machine_forget_translations(&tool_machine, &tool_hot, from >> PAGE_SHIFT,
                                            length >> PAGE_SHIFT);
        write_range(to, length);
}

static void after_advice(const UWord *arguments)
{
        struct pages *pages = &tool_machine.pages;
        ULong first = arguments[0] >> PAGE_SHIFT;
        ULong count = (arguments[1] + VKI_PAGE_SIZE - 1) >> PAGE_SHIFT;

        if (arguments[2] == MADV_HUGEPAGE || arguments[2] == MADV_NOHUGEPAGE)
                pages_set_huge(pages, first, count, arguments[2] == MADV_HUGEPAGE);
        else if (arguments[2] == MADV_DONTNEED && pages_release(pages, first, count))
                machine_forget_translations(&tool_machine, &tool_hot, first, count);
}

/* Bytes of the shared memory that a call has mapped at RESULT; 0: none. A segment may
 * hold other mappings, too. */
static ULong shared_bytes(UInt number, const UWord *arguments, UWord result)
{
        const NSegment *segment;

        if (number == __NR_mmap)
                return (arguments[3] & VKI_MAP_SHARED) != 0 ? arguments[1] : 0;
        segment = number == __NR_shmat ? VG_(am_find_nsegment)(result) : NULL;
        return segment == NULL ? 0 : segment->end + 1 - result;
}

void images_after_syscall(UInt number, const UWord *arguments, UWord result)
{
        const ULong shared = shared_bytes(number, arguments, result);

        if (shared > 0)
                pages_set_shared(&tool_machine.pages, result >> PAGE_SHIFT,
                                 (shared + VKI_PAGE_SIZE - 1) >> PAGE_SHIFT);
        if (number == __NR_madvise)
                after_advice(arguments);
        else if (number == __NR_mmap && (arguments[3] & MAP_HUGETLB) != 0)
                pages_set_huge(&tool_machine.pages, result >> PAGE_SHIFT,
                               arguments[1] >> PAGE_SHIFT, True);
}

/* Whether the kernel has populated memory: a mapping of a file that others share for
 * reads, and else for what the program may do. */
Bool images_populated(UInt number, const UWord *arguments, UWord result,
                      struct populated *memory)
{
        const UWord how = number == __NR_mmap      ? arguments[3]
                          : number == __NR_madvise ? arguments[2]
                                                   : 0;
        const Bool mapped = number == __NR_mmap &&
                            ((how & MAP_LOCKED) != 0 ||
                             (how & (MAP_POPULATE | MAP_NONBLOCK)) == MAP_POPULATE);
        const Bool advised = number == __NR_madvise &&
                             (how == MADV_POPULATE_READ || how == MADV_POPULATE_WRITE);
        const NSegment *segment;

        if (!mapped && !advised && number != __NR_mlock)
                return False;
        *memory = (struct populated){mapped ? result : arguments[0], arguments[1], False};
        segment = VG_(am_find_nsegment)(memory->start);
        if (segment == NULL || !(segment->hasR || segment->hasW))
                return False;
        memory->writes = advised ? how == MADV_POPULATE_WRITE
                                 : segment->hasW && (segment->kind == SkAnonC ||
                                                     (how & VKI_MAP_SHARED) == 0);
        return True;
}

/* Instructions that programs run on purpose to be stopped: ud0, ud1, ud2. */
static Bool undefined_on_purpose(const UChar *bytes, UInt length)
{
        if (length < 2 || bytes[0] != 0x0f)
                return False;
        return bytes[1] == 0x0b || bytes[1] == 0xb9 || bytes[1] == 0xff;
}

void images_unhandled(Addr ip)
{
        struct simpmu_unhandled *record;
        UChar bytes[sizeof(record->bytes)];
        UInt length = 0;

        while (length < sizeof(bytes) &&
               VG_(am_is_valid_for_client)(ip + length, 1, VKI_PROT_READ)) {
                bytes[length] = *(const UChar *)(ip + length);
                length++;
        }
        if (undefined_on_purpose(bytes, length))
                return;
        record = ring_begin(SIMPMU_UNHANDLED, 0, threads_now_ns(),
                            threads_lwp(VG_(get_running_tid)()), sizeof(*record));
        if (record == NULL)
                return;
        record->ip = ip;
        record->length = length;
        record->reserved = 0;
        VG_(memset)(record->bytes, 0, sizeof(record->bytes));
        VG_(memcpy)(record->bytes, bytes, length);
        ring_publish(record);
}

/* Whether PROGRAM gains privileges from the kernel, with which Valgrind cannot run. */
static Bool gains_rights(const HChar *program)
{
        struct vg_stat status;
        SysRes result = VG_(stat)(program, &status);

        if (sr_isError(result))
                return False;
        return (status.mode & (VKI_S_ISUID | VKI_S_ISGID)) != 0 ||
               raw_syscall4(__NR_getxattr, (long)program, (long)"security.capability", 0,
                            0) > 0;
}

static Bool may_execute(const HChar *path)
{
        return raw_syscall4(__NR_access, (long)path, EXECUTABLE, 0, 0) == 0;
}

/* Below chroot, or in another mount namespace, Valgrind may be missing. It also may
 * not run programs that gain privileges. The target must work in any case: such
 * programs run natively. */
void images_before_exec(const HChar *program)
{
        Bool known = program != NULL &&
                     VG_(am_is_valid_for_client)((Addr)program, 1, VKI_PROT_READ);

        VG_(clo_trace_children) =
            may_execute(VG_(name_of_launcher)) && !(known && gains_rights(program));
        watch_finish(&tool_machine.watch);
        exec_fd_pass_recording(VG_(clo_trace_children));
        if (!VG_(clo_trace_children) && known && may_execute(program))
                ring_finish(SIMPMU_EXECED | SIMPMU_NATIVE);
}

/* Another process may have written pages of System V segments. They count as pages of
 * a file, because their cached lines are not known. */
static enum page_kind page_kind(uint64_t page, uint64_t *first, uint64_t *end)
{
        const Bool moved = address_map_origin(page, &page);
        const NSegment *segment = VG_(am_find_nsegment)(page << PAGE_SHIFT);

        if (moved)
                return segment != NULL && segment->kind == SkFileC ? PAGE_IS_OF_FILE
                                                                   : PAGE_IS_ZEROED;
        if (segment == NULL || (segment->kind & CLIENT_SEGMENTS) == 0)
                return PAGE_IS_THERE;
        *first = segment->start >> PAGE_SHIFT;
        *end = (segment->end >> PAGE_SHIFT) + 1;
        return segment->kind == SkAnonC ? PAGE_IS_ZEROED : PAGE_IS_OF_FILE;
}

void images_register(void)
{
        tool_machine.page_kind = page_kind;
        VG_(track_new_mem_startup)(on_startup);
        VG_(track_new_mem_mmap)(on_mmap);
        VG_(track_new_mem_brk)(on_brk);
        VG_(track_die_mem_brk)(on_unmap);
        VG_(track_die_mem_munmap)(on_unmap);
        VG_(track_copy_mem_remap)(on_remap);
}
