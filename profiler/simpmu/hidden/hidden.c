/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Valgrind keeps its descriptors above the target's limit. A path leads there by such a
 * number in a directory of procfs (/proc/PID/fd and others), by an address in
 * /proc/PID/map_files, or, through links, to a file of the recording. */
#include "hidden.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"

#include "calls.h"
#include "compat/descriptors.h"
#include "hidden_memory.h"
#include "syscalls.h"

#define PATH_BYTES 4096
#define LINK_BYTES 32
#define LINKS_MAX  40 /* as deep as Linux follows them */
/* Libraries that the loader finds in a directory that Valgrind has open. */
#define PRELOADED "/vgpreload_"
#define FILES     4

/* From Linux headers that Valgrind's lack. */
#define CURRENT_DIRECTORY (-100)
#define OPEN_PATH         0x200000 /* O_PATH */
#define NO_FOLLOW         0x20000  /* O_NOFOLLOW */
#define CLOSE_ON_EXEC     0x80000  /* O_CLOEXEC */
#define DUPLICATE_CLOEXEC 1030     /* F_DUPFD_CLOEXEC */
#define DIRECTORY_ENTRY   4        /* DT_DIR */

static const HChar no_path[] = "/proc/self/fd/2147483647";

static struct {
        ULong device, inode;
} files[FILES];
static UInt file_count;

void hidden_add_file(Int fd)
{
        struct vg_stat status;

        if (file_count == FILES || VG_(fstat)(fd, &status) != 0)
                return;
        files[file_count].device = status.dev;
        files[file_count++].inode = status.ino;
}

Bool hidden_descriptor(UWord argument)
{
        return (Int)argument >= VG_(fd_hard_limit);
}

/* ---- paths ---- */

/* Whether NAME, up to its end or a slash, is a number that Valgrind's descriptors have.
 */
static Bool is_hidden_number(const HChar *name)
{
        ULong number = 0;
        SizeT i = 0;

        for (; name[i] >= '0' && name[i] <= '9' && number < NO_DESCRIPTOR; i++)
                number = number * 10 + (ULong)(name[i] - '0');
        if (VG_(strncmp)(name + i, PRELOADED, sizeof(PRELOADED) - 1) == 0)
                return False;
        return i > 0 && (name[i] == '\0' || name[i] == '/') &&
               number >= (ULong)VG_(fd_hard_limit);
}

/* Whether NAME is of a mapping of Valgrind's, as in /proc/PID/map_files. */
static Bool is_hidden_mapping(const HChar *name)
{
        HChar *end;
        const UWord start = VG_(strtoull16)(name, &end);
        UWord address = start;

        if (end == name || *end != '-')
                return False;
        hidden_pointer(&address);
        return address != start;
}

static Bool is_hidden_name(const HChar *name)
{
        return is_hidden_number(name) || is_hidden_mapping(name);
}

/* Whether the entry NAME of DIRECTORY, up to a slash, is a link or a file of procfs: a
 * directory is a process's. Where procfs is mounted does not matter. */
static Bool is_entry_of_procfs(Int directory, const HChar *name)
{
        HChar entry[PATH_BYTES];
        struct vg_stat status;
        SizeT length = VG_(strcspn)(name, "/");
        Bool is_entry;
        long fd;

        if (!is_in_procfs(directory) || length >= sizeof(entry))
                return False;
        VG_(memcpy)(entry, name, length);
        entry[length] = '\0';
        fd = raw_syscall4(__NR_openat, directory, (long)entry, OPEN_PATH | NO_FOLLOW, 0);
        if (fd < 0)
                return False;
        is_entry = VG_(fstat)((Int)fd, &status) == 0 && !VKI_S_ISDIR(status.mode);
        (void)raw_syscall4(__NR_close, fd, 0, 0, 0);
        return is_entry;
}

/* The same for the directory whose path from DIRECTORY is the LENGTH first bytes of PATH,
 * and the name behind them. */
static Bool leads_to_procfs(Int directory, const HChar *path, SizeT length)
{
        HChar parent[PATH_BYTES];
        long fd;
        Bool leads;

        VG_(memcpy)(parent, path, length);
        parent[length] = '\0';
        fd = raw_syscall4(__NR_openat, directory, (long)(length == 0 ? "." : parent),
                          OPEN_PATH, 0);
        if (fd < 0)
                return False;
        leads = is_entry_of_procfs((Int)fd, path + length);
        (void)raw_syscall4(__NR_close, fd, 0, 0, 0);
        return leads;
}

static Bool passes_hidden_name(Int directory, const HChar *path)
{
        for (SizeT i = 0; path[i] != '\0'; i++)
                if ((i == 0 || path[i - 1] == '/') && is_hidden_name(path + i) &&
                    leads_to_procfs(directory, path, i))
                        return True;
        return False;
}

/* Replaces PATH by its target, while PATH is a symbolic link. False: it is none. */
static Bool follow_link(Int directory, HChar path[PATH_BYTES])
{
        HChar target[PATH_BYTES];
        SizeT kept = 0;
        long length = raw_syscall4(__NR_readlinkat, directory, (long)path, (long)target,
                                   sizeof(target) - 1);

        if (length <= 0)
                return False;
        target[length] = '\0';
        if (target[0] != '/') {
                const HChar *slash = VG_(strrchr)(path, '/');

                kept = slash == NULL ? 0 : (SizeT)(slash + 1 - path);
        }
        if (kept + (SizeT)length >= PATH_BYTES)
                return False;
        VG_(strcpy)(path + kept, target);
        return True;
}

static Bool leads_to_hidden_name(Int directory, const HChar *start)
{
        HChar path[PATH_BYTES];

        /* Another process may lengthen it meanwhile. */
        VG_(strncpy)(path, start, sizeof(path) - 1);
        path[sizeof(path) - 1] = '\0';
        for (UInt links = 0; links < LINKS_MAX; links++) {
                if (passes_hidden_name(directory, path))
                        return True;
                if (!follow_link(directory, path))
                        return False;
        }
        return False;
}

static Bool is_hidden_file(Int directory, const HChar *path)
{
        struct vg_stat status;
        long fd;

        if (file_count == 0)
                return False;
        fd = raw_syscall4(__NR_openat, directory, (long)path, OPEN_PATH, 0);
        if (fd < 0)
                return False;
        if (VG_(fstat)((Int)fd, &status) != 0)
                status.ino = 0;
        (void)raw_syscall4(__NR_close, fd, 0, 0, 0);
        for (UInt i = 0; i < file_count; i++)
                if (status.dev == files[i].device && status.ino == files[i].inode)
                        return True;
        return False;
}

static Bool is_path(const HChar *path)
{
        for (SizeT i = 0; i < PATH_BYTES; i++) {
                if ((i == 0 || ((Addr)(path + i) & (VKI_PAGE_SIZE - 1)) == 0) &&
                    !VG_(am_is_valid_for_client)((Addr)(path + i), 1, VKI_PROT_READ))
                        return False;
                if (path[i] == '\0')
                        return i > 0;
        }
        return False;
}

/* ---- calls ---- */

static UWord hide_path(const struct call_info *call, UWord *argument, UInt i)
{
        const HChar *path = (const HChar *)argument[i];
        const Bool at = i > 0 && call->arguments[i - 1] == 'd';
        const Int directory = at ? (Int)argument[i - 1] : CURRENT_DIRECTORY;

        if (!is_path(path) ||
            (!leads_to_hidden_name(directory, path) && !is_hidden_file(directory, path)))
                return 0;
        if ((call->flags & ENGINE) != 0)
                return VKI_ENOENT;
        argument[i] = (UWord)no_path;
        return 0;
}

static UWord hide_argument(const struct call_info *call, UWord *argument, UInt i)
{
        switch (call->arguments[i]) {
        case 'f':
        case 'w':
        case 'd':
                if (hidden_descriptor(argument[i]))
                        argument[i] = NO_DESCRIPTOR;
                return 0;
        case 'p':
        case 't':
                hidden_pointer(&argument[i]);
                return hide_path(call, argument, i);
        case 'm':
                hidden_pointer(&argument[i]);
                return 0;
        case 'a':
                if ((call->flags & ENGINE) == 0)
                        hidden_range(&argument[i], &argument[i + 1]);
                return 0;
        default:
                return 0;
        }
}

/* The limit that the target has set is unknown to Valgrind. */
static Bool duplicates_over_limit(UInt number, const UWord *argument)
{
        if (number != __NR_dup2 &&
            (number != __NR_dup3 || (argument[2] & ~(UWord)CLOSE_ON_EXEC) != 0))
                return False;
        return (UInt)argument[0] != (UInt)argument[1] &&
               (UInt)argument[1] >= (UInt)VG_(fd_soft_limit);
}

UWord hidden_before_call(UInt number, UWord *argument)
{
        const struct call_info *call = call_info(number);

        if (duplicates_over_limit(number, argument))
                return VKI_EBADF;

        for (UInt i = 0; call->arguments[i] != '\0'; i++) {
                UWord error = hide_argument(call, argument, i);

                if (error != 0)
                        return error;
        }
        if (number == __NR_fcntl &&
            (argument[1] == VKI_F_DUPFD || argument[1] == DUPLICATE_CLOEXEC) &&
            argument[2] >= (UWord)VG_(fd_soft_limit))
                argument[2] = NO_DESCRIPTOR;
        return hidden_in_memory(number, argument);
}

/* Removes Valgrind's descriptors and mappings from the BYTES of a directory listing.
 * Entries of directories, as processes are, stay. */
static UWord remove_hidden(UInt number, UChar *entries, UWord bytes)
{
        const Bool wide = number == __NR_getdents64;
        const UWord name = wide ? 19 : 18;
        UWord kept = 0;

        for (UWord at = 0; at + name < bytes;) {
                const UShort length = *(UShort *)(entries + at + 16);
                const UChar type = entries[at + (wide ? 18 : length - 1u)];

                if (length == 0)
                        break;
                if (type == DIRECTORY_ENTRY ||
                    !is_hidden_name((const HChar *)entries + at + name)) {
                        VG_(memmove)(entries + kept, entries + at, length);
                        kept += length;
                }
                at += length;
        }
        return kept;
}

/* A list from which all is removed is no end: the next one follows. */
static UWord listed(UInt number, const UWord *argument, UWord bytes)
{
        if (!is_in_procfs((Int)argument[0]))
                return bytes;
        while (bytes > 0) {
                const UWord kept = remove_hidden(number, (UChar *)argument[1], bytes);
                long more;

                if (kept > 0)
                        return kept;
                more = raw_syscall4(number, (long)argument[0], (long)argument[1],
                                    (long)argument[2], 0);
                bytes = more < 0 ? 0 : (UWord)more;
        }
        return 0;
}

UWord hidden_after_call(UInt number, const UWord *argument, UWord result)
{
        if (number == __NR_getdents64 || number == __NR_getdents)
                return listed(number, argument, result);
        return result;
}
