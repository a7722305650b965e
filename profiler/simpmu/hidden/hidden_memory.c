/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hidden_memory.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"

#include "code_changes.h"
#include "compat/descriptors.h"
#include "hidden.h"
#include "syscalls.h"

#define NO_ADDRESS    (~(UWord)0xfff) /* not the target's, on any machine */
#define LOWEST_PAGE   0x1000          /* Linux maps nothing below it */
#define MESSAGES_MAX  1024            /* UIO_MAXIOV: the kernel takes no more */
#define HIDDEN_POLL   0x40000000      /* makes an unused descriptor number */
#define VALGRINDS_MAX 65536           /* more descriptors than Valgrind has */
#define SOL_SOCKET    1               /* from asm-generic/socket.h */
#define SCM_RIGHTS    1
#define IOCB_FD       20 /* where struct iocb has its descriptor, */
#define IOCB_FLAGS    56 /* whether it has another one, and which */
#define IOCB_NOTIFIED 60
#define NOTIFIES      1 /* IOCB_FLAG_RESFD */
#define KCMP_FILE     0
#define CLONE_FILE    0x40049409 /* FICLONE */
#define CLONE_RANGE   0x4020940d /* FICLONERANGE */
#define BITS_PER_WORD 64

static Bool readable(Addr start, SizeT length)
{
        return VG_(am_is_valid_for_client)(start, length, VKI_PROT_READ);
}

/* ---- addresses ---- */

static Bool is_valgrinds(const NSegment *segment)
{
        return segment != NULL && (segment->kind == SkAnonV || segment->kind == SkFileV);
}

void hidden_pointer(UWord *address)
{
        if (*address != 0 && is_valgrinds(VG_(am_find_nsegment)(*address)))
                *address = NO_ADDRESS;
}

void hidden_range(UWord *start, UWord *length)
{
        Addr at = *start;

        if (*start + *length < *start)
                return; /* no range, which the kernel says itself */
        while (at - *start < *length) {
                const NSegment *segment = VG_(am_find_nsegment)(at);

                if (is_valgrinds(segment)) {
                        *start = LOWEST_PAGE;
                        *length = VKI_PAGE_SIZE;
                        return;
                }
                if (segment == NULL || segment->end + 1 <= at)
                        return;
                at = segment->end + 1;
        }
}

/* ---- descriptors in structures ---- */

struct message {
        UWord name, name_length;
        UWord parts, part_count;
        UWord control, control_length;
        UWord flags;
};

struct control {
        UWord length;
        Int level, type;
        Int data[];
};

/* Whether a message passes a descriptor of Valgrind's. */
static Bool passes_hidden(Addr address)
{
        const struct message *message = (const struct message *)address;
        UWord at = 0;

        if (!readable(address, sizeof(*message)) || message->control == 0 ||
            message->control_length == 0 ||
            !readable(message->control, message->control_length))
                return False;
        while (message->control_length - at >= sizeof(struct control)) {
                const struct control *part =
                    (const struct control *)(message->control + at);

                if (part->length < sizeof(*part) ||
                    part->length > message->control_length - at)
                        return False;
                for (UWord i = 0; part->level == SOL_SOCKET && part->type == SCM_RIGHTS &&
                                  i < (part->length - sizeof(*part)) / sizeof(Int);
                     i++)
                        if (hidden_descriptor((UWord)part->data[i]))
                                return True;
                at += (part->length + 7) & ~(UWord)7;
                if (at > message->control_length)
                        return False;
        }
        return False;
}

/* Limits a list of messages to the ones before the first wrong one. */
static UWord in_messages(UWord *argument)
{
        const UWord message_bytes = sizeof(struct message) + sizeof(UWord);

        if ((UInt)argument[2] > MESSAGES_MAX)
                argument[2] = MESSAGES_MAX;
        for (UWord i = 0; i < (UInt)argument[2]; i++) {
                if (!passes_hidden(argument[1] + i * message_bytes))
                        continue;
                argument[2] = i;
                return i == 0 ? VKI_EBADF : 0;
        }
        return 0;
}

/* A bit for each descriptor. */
static UWord in_sets(const UWord *argument)
{
        const Int count = (Int)argument[0];

        for (UInt set = 1; set <= 3; set++)
                for (Int fd = VG_(fd_hard_limit); argument[set] != 0 && fd < count;
                     fd++) {
                        const UWord *word =
                            (const UWord *)argument[set] + fd / BITS_PER_WORD;

                        if (!readable((Addr)word, sizeof(*word)))
                                break;
                        if ((*word >> fd % BITS_PER_WORD & 1) != 0)
                                return VKI_EBADF;
                }
        return 0;
}

static Bool asks_of_hidden(Addr request)
{
        const Int *fd = (const Int *)(request + IOCB_FD);
        const UInt *flags = (const UInt *)(request + IOCB_FLAGS);
        const Int *notified = (const Int *)(request + IOCB_NOTIFIED);

        return hidden_descriptor((UWord)*fd) ||
               ((*flags & NOTIFIES) != 0 && hidden_descriptor((UWord)*notified));
}

/* Limits a list of requests to the requests before the first wrong one. */
static UWord in_requests(UWord *argument)
{
        const Addr *requests = (const Addr *)argument[2];

        for (Word i = 0; i < (Word)argument[1]; i++) {
                if (!readable((Addr)&requests[i], sizeof(Addr)) ||
                    !readable(requests[i], IOCB_NOTIFIED + sizeof(Int)))
                        return 0;
                if (!asks_of_hidden(requests[i]))
                        continue;
                argument[1] = (UWord)i;
                return i == 0 ? VKI_EBADF : 0;
        }
        return 0;
}

static Bool polls(UInt number)
{
        return number == __NR_poll || number == __NR_ppoll;
}

/* Whether in_poll made FD of one of Valgrind's, which are next to each other. */
static Bool is_marked(Int fd)
{
        return fd >= HIDDEN_POLL + VG_(fd_hard_limit) &&
               fd < HIDDEN_POLL + VG_(fd_hard_limit) + VALGRINDS_MAX;
}

/* Descriptors with HIDDEN_POLL count as wrong, and poll says so of each. */
static void in_poll(const UWord *argument)
{
        struct vki_pollfd *polled = (struct vki_pollfd *)argument[0];

        for (UWord i = 0; i < argument[1]; i++) {
                if (!VG_(am_is_valid_for_client)((Addr)&polled[i], sizeof(*polled),
                                                 VKI_PROT_READ | VKI_PROT_WRITE))
                        return;
                if (polled[i].fd >= 0 && is_marked(polled[i].fd | HIDDEN_POLL))
                        polled[i].fd |= HIDDEN_POLL;
        }
}

void hidden_after_any_call(UInt number, const UWord *argument)
{
        struct vki_pollfd *polled = (struct vki_pollfd *)argument[0];

        for (UWord i = 0; polls(number) && i < (UInt)argument[1]; i++) {
                if (!VG_(am_is_valid_for_client)((Addr)&polled[i], sizeof(*polled),
                                                 VKI_PROT_READ | VKI_PROT_WRITE))
                        return;
                if (is_marked(polled[i].fd))
                        polled[i].fd &= ~HIDDEN_POLL;
        }
}

static Bool clones_hidden(UWord request, UWord argument)
{
        if (request == CLONE_RANGE)
                return readable(argument, sizeof(Long)) &&
                       hidden_descriptor(*(const UWord *)argument);
        return request == CLONE_FILE && hidden_descriptor(argument);
}

/* Whether COUNT parts of memory at ADDRESS, each an address and a length, have some of
 * Valgrind's. */
static UWord in_vector(Addr address, UWord count)
{
        for (UWord i = 0; i < count && i < MESSAGES_MAX; i++) {
                const UWord *part = (const UWord *)address + 2 * i;
                UWord start, length;

                if (!readable((Addr)part, 2 * sizeof(*part)))
                        return 0;
                start = part[0];
                length = part[1];
                hidden_range(&start, &length);
                if (start != part[0])
                        return VKI_EFAULT;
        }
        return 0;
}

/* The offset in /proc/PID/mem is an address. */
static UWord in_process_memory(const UWord *argument)
{
        return is_valgrinds(VG_(am_find_nsegment)(argument[3])) &&
                       code_is_process_memory((Int)argument[0])
                   ? VKI_EIO
                   : 0;
}

UWord hidden_in_memory(UInt number, UWord *argument)
{
        switch (number) {
        case __NR_sendmsg:
                return passes_hidden(argument[1]) ? VKI_EBADF : 0;
        case __NR_sendmmsg:
        case __NR_recvmmsg:
                return in_messages(argument);
        case __NR_select:
        case __NR_pselect6:
                return in_sets(argument);
        case __NR_io_submit:
                return in_requests(argument);
        case __NR_poll:
        case __NR_ppoll:
                if (number == __NR_ppoll && argument[2] != 0 &&
                    !readable(argument[2], 2 * sizeof(UWord)))
                        return VKI_EFAULT; /* the time, which is checked first */
                if ((UInt)argument[1] > (UInt)VG_(fd_soft_limit))
                        return VKI_EINVAL;
                argument[1] = (UInt)argument[1];
                in_poll(argument);
                return 0;
        case __NR_vmsplice:
                if (argument[2] > MESSAGES_MAX) /* an error, which takes Valgrind ages */
                        argument[2] = MESSAGES_MAX + 1;
                return 0;
        case __NR_kcmp:
                for (UInt i = 3; i <= 4 && argument[2] == KCMP_FILE; i++)
                        if (hidden_descriptor(argument[i]))
                                argument[i] = NO_DESCRIPTOR;
                return 0;
        case __NR_ioctl:
                return clones_hidden(argument[1], argument[2]) ? VKI_EBADF : 0;
        case __NR_pread64:
        case __NR_pwrite64:
        case __NR_pwritev:
        case __NR_pwritev2:
                return in_process_memory(argument);
        case __NR_preadv:
        case __NR_preadv2:
                if (in_process_memory(argument) != 0)
                        return VKI_EIO;
                return in_vector(argument[1], argument[2]);
        case __NR_readv:
                return in_vector(argument[1], argument[2]);
        case __NR_process_vm_readv:
        case __NR_process_vm_writev:
                if ((Int)argument[0] != VG_(getpid)())
                        return in_vector(argument[1], argument[2]);
                if (in_vector(argument[1], argument[2]) != 0)
                        return VKI_EFAULT;
                return in_vector(argument[3], argument[4]);
        default:
                return 0;
        }
}
