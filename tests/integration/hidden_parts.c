/* SPDX-License-Identifier: MIT */
/* Looks for descriptors above the limit on open files, where Valgrind's are. Tries all
 * ways to a descriptor, does harm to each one and prints it. It finds none. */
#include "target.h"

#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <sys/mount.h>

enum { TRIED = 24 };

static int limit;
static int found;

static void harm(const char *way, int fd)
{
        if (fd < 0)
                return;
        found++;
        printf("%s: a descriptor\n", way);
        (void)!ftruncate(fd, 0);
        (void)!write(fd, "nothing of yours", 16);
        close(fd);
}

/* The second structure has no memory: the call fails, and the first structure stays. */
static void poll_half(int fd)
{
        char *page =
            mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED || munmap(page + 4096, 4096) != 0)
                return;
        struct pollfd *last = (struct pollfd *)(void *)(page + 4096) - 1;
        *last = (struct pollfd){.fd = fd, .events = POLLIN};
        if (poll(last, 2, 0) != -1 || errno != EFAULT || last->fd != fd)
                printf("poll of one and a half: %d is %d\n", fd, last->fd);
        munmap(page, 4096);
}

static void use_number(int fd)
{
        struct pollfd polled = {.fd = fd, .events = POLLIN};
        fd_set *set = calloc(1, (size_t)limit / 8 + 1024);
        if (dup(fd) >= 0 || fcntl(fd, F_GETFD) >= 0 || ftruncate(fd, 0) == 0 ||
            lseek(fd, 0, SEEK_SET) >= 0 || fchmod(fd, 0) == 0)
                harm("number", fd);
        if (poll(&polled, 1, 0) != 1 || polled.revents != POLLNVAL || polled.fd != fd)
                printf("poll: %d %x\n", fd, (unsigned)polled.revents);
        poll_half(fd);
        ((unsigned long *)set)[fd / 64] |= 1UL << fd % 64;
        if (syscall(SYS_select, fd + 1, set, NULL, NULL, &(struct timeval){0, 0}) >= 0 &&
            ((unsigned long *)set)[fd / 64] != 1UL << fd % 64)
                printf("select: %d\n", fd);
        free(set);
}

static void pass(int fd)
{
        int ends[2], passed = -1;
        char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
        struct iovec part = {&byte, 1};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = room,
                                 .msg_controllen = sizeof(room)};
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0)
                return;
        if (sendmsg(ends[0], &message, 0) == 1 && recvmsg(ends[1], &message, 0) == 1)
                memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(passed));
        harm("a message", passed);
        close(ends[0]);
        close(ends[1]);
}

/* The first of two messages is sent; the second gets the error. */
static void use_structure(int fd)
{
        aio_context_t context = 0;
        struct iocb request = {.aio_lio_opcode = IOCB_CMD_NOOP,
                               .aio_flags = IOCB_FLAG_RESFD,
                               .aio_resfd = (unsigned)fd},
                    *requests = &request;
        struct file_clone_range range = {.src_fd = fd};
        char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
        struct iovec part = {&byte, 1};
        struct msghdr plain = {.msg_iov = &part, .msg_iovlen = 1}, passing = plain;
        passing.msg_control = room;
        passing.msg_controllen = sizeof(room);
        struct mmsghdr messages[] = {{plain, 0}, {passing, 0}};
        struct cmsghdr *rights = CMSG_FIRSTHDR(&passing);
        int ends[2], file = open("file", O_RDWR | O_CREAT, 0600);
        *rights = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
        if (syscall(SYS_io_setup, 1, &context) == 0 &&
            (syscall(SYS_io_submit, context, 1, &requests) != -1 || errno != EBADF))
                printf("a request: %d, %d\n", fd, errno);
        syscall(SYS_io_destroy, context);
        if (ioctl(file, FICLONERANGE, &range) != -1 || errno != EBADF)
                printf("a clone: %d, %d\n", fd, errno);
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0 &&
            sendmmsg(ends[0], messages, 2, 0) != 1)
                printf("messages: %d\n", fd);
        close(ends[0]);
        close(ends[1]);
        close(file);
        unlink("file");
}

static bool is_mounted; /* the directory of descriptors, as another one */

static void use_path(int fd)
{
        char path[PATH_MAX], number[32];
        const int mode = O_RDWR | O_NONBLOCK;
        snprintf(path, sizeof(path), "mounted/%d", fd);
        if (is_mounted)
                harm("mount", open(path, mode));
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        snprintf(number, sizeof(number), "%d", fd);
        harm("path", open(path, mode));
        unlink("link");
        if (symlink(path, "link") == 0)
                harm("link", open("link", mode));
        unlink("link");
        if (symlink("/proc/self/fd", "link") == 0) {
                snprintf(path, sizeof(path), "link/./%d", fd);
                harm("link to the directory", open(path, mode));
        }
        int directory = open("/proc/thread-self/fd", O_RDONLY | O_DIRECTORY);
        harm("directory", openat(directory, number, mode));
        if (truncate(path, 0) == 0)
                printf("truncate: %d\n", fd);
        close(directory);
        snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", getpid(), getpid(), fd);
        harm("path of a thread", open(path, mode));
        int here = open(".", O_RDONLY | O_DIRECTORY);
        if (chdir("/proc/self/fd") == 0)
                harm("working directory", open(number, mode));
        (void)!fchdir(here);
        close(here);
}

/* Files of the recording are mapped, and the kernel has a link to each mapping. */
static void use_mappings(void)
{
        DIR *directory = opendir("/proc/self/map_files");
        for (struct dirent *entry; directory && (entry = readdir(directory));) {
                char path[PATH_MAX], target[PATH_MAX] = "";
                snprintf(path, sizeof(path), "/proc/self/map_files/%s", entry->d_name);
                if (readlink(path, target, sizeof(target) - 1) > 0 &&
                    strstr(target, "memlag-simpmu"))
                        harm("mapping", open(path, O_RDWR));
        }
        if (directory)
                closedir(directory);
}

/* Where Valgrind's programs are (readelf -l), this one has no memory. */
static void use_memory(void)
{
        void *there = (void *)0x58000000;
        char bytes[8];
        struct iovec parts[] = {{bytes, 8}, {there, 8}};
        int memory = open("/proc/self/mem", O_RDWR), zeros = open("/dev/zero", O_RDONLY);
        if (readv(zeros, &parts[1], 1) != -1 || errno != EFAULT)
                printf("readv: %d\n", errno);
        if (process_vm_readv(getpid(), parts, 1, &parts[1], 1, 0) != -1)
                printf("process_vm_readv\n");
        if (process_vm_writev(getpid(), parts, 1, &parts[1], 1, 0) != -1)
                printf("process_vm_writev\n");
        if (pread(memory, bytes, 8, 0x58000000) != -1 || errno != EIO ||
            pwrite(memory, bytes, 8, 0x58000000) != -1 || errno != EIO)
                printf("memory: %d\n", errno);
        close(memory);
        close(zeros);
}

static void *wait_forever(void *nothing)
{
        pause();
        return nothing;
}

static void list(void)
{
        DIR *directory = opendir("/proc/self/fd");
        for (struct dirent *entry; (entry = readdir(directory));)
                if (atoi(entry->d_name) >= limit)
                        printf("listed: %s\n", entry->d_name);
        closedir(directory);
}

int main(void)
{
        struct rlimit files;
        void *block = malloc(100);
        if (getrlimit(RLIMIT_NOFILE, &files) != 0)
                return 2;
        limit = (int)files.rlim_cur;
        list();
        mkdir("mounted", 0700);
        is_mounted = unshare(CLONE_NEWNS) == 0 &&
                     mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                     mount("/proc/self/fd", "mounted", NULL, MS_BIND, NULL) == 0;
        for (int fd = limit; fd < limit + TRIED; fd++) {
                use_number(fd);
                use_structure(fd);
                pass(fd);
                use_path(fd);
        }
        if (is_mounted)
                umount("mounted");
        rmdir("mounted");
        use_mappings();
        use_memory();
        /* The shared memory is not there for madvise either: it knows no such address. */
        for (unsigned long at = 0x1000000000; at < 0x1100000000; at += 1 << 20)
                if (madvise((void *)at, 4096, MADV_REMOVE) == 0)
                        printf("madvise: %lx\n", at);
        files.rlim_cur = 32;
        if (setrlimit(RLIMIT_NOFILE, &files) != 0 || dup2(0, 31) != 31 ||
            dup2(0, 32) != -1 || errno != EBADF || dup3(0, 32, O_CLOEXEC) != -1 ||
            errno != EBADF)
                printf("a descriptor over the limit\n");
        /* Its threads end with it, as if it could still queue signals. */
        pthread_t thread;
        struct rlimit signals = {0, 0};
        if (pthread_create(&thread, NULL, wait_forever, NULL) != 0 ||
            setrlimit(RLIMIT_SIGPENDING, &signals) != 0 ||
            getrlimit(RLIMIT_SIGPENDING, &signals) != 0 || signals.rlim_max != 0)
                printf("a limit on signals\n");
        printf("found %d\n", found);
        free(block);
        return 5;
}
