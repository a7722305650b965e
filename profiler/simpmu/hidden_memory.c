/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hidden_memory.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"

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
#define IOCB_FD       20 /* where struct iocb has its descriptor */
#define KCMP_FILE     0
#define CLONE_FILE    0x40049409 /* FICLONE */
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

static UWord in_messages(UWord *argument)
{
        const UWord message_bytes = sizeof(struct message) + sizeof(UWord);

        if ((UInt)argument[2] > MESSAGES_MAX)
                argument[2] = MESSAGES_MAX;
        for (UWord i = 0; i < (UInt)argument[2]; i++)
                if (passes_hidden(argument[1] + i * message_bytes))
                        return VKI_EBADF;
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

/* Limits a list of requests to the requests before the first wrong one. */
static UWord in_requests(UWord *argument)
{
        const Addr *requests = (const Addr *)argument[2];

        for (Word i = 0; i < (Word)argument[1]; i++) {
                if (!readable((Addr)&requests[i], sizeof(Addr)) ||
                    !readable(requests[i] + IOCB_FD, sizeof(Int)))
                        return 0;
                if (!hidden_descriptor((UWord) * (const Int *)(requests[i] + IOCB_FD)))
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
                return argument[1] == CLONE_FILE && hidden_descriptor(argument[2])
                           ? VKI_EBADF
                           : 0;
        default:
                return 0;
        }
}
