/* SPDX-License-Identifier: MIT */
/* changed_code FILE: runs code of a mapping that changes, in every way that a program can
 * change it. FILE holds a page of code, made before the recording. Each line of output
 * has a way and the sum of the code's results. */
#include "target.h"

enum { PAGE = 4096, ROUNDS = 20 };

/* mov $VALUE, %eax; ret */
struct code {
        unsigned char bytes[6];
};

typedef int function(void);

__attribute__((noinline, naked, aligned(4096),
               section("patched,\"ax\",@progbits #"))) static int
text(void)
{
        __asm__("movl $0,%eax\n ret\n .p2align 12");
}

static struct code returning(int value)
{
        struct code code = {{0xb8, 0, 0, 0, 0, 0xc3}};
        memcpy(code.bytes + 1, &value, sizeof(value));
        return code;
}

static int call(const void *code)
{
        return ((function *)(uintptr_t)code)();
}

static void tell(const char *way, long sum)
{
        printf("%s %ld\n", way, sum);
        fflush(stdout);
}

static void must(int holds, const char *what)
{
        if (holds)
                return;
        perror(what);
        exit(1);
}

static void *map(int protection, int flags, int fd)
{
        void *start = mmap(NULL, PAGE, protection, flags, fd, 0);
        must(start != MAP_FAILED, "mmap");
        return start;
}

/* ---- text of the program ---- */

static void put_writable_once(void *code)
{
        mprotect(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
        long sum = call(code);
        for (int i = 1; i <= ROUNDS; i++) {
                *(struct code *)code = returning(i);
                sum += call(code);
        }
        mprotect(code, PAGE, PROT_READ | PROT_EXEC);
        tell("text made writable", sum);
}

static void put_writable_each_time(void *code)
{
        long sum = 0;
        for (int i = 1; i <= ROUNDS; i++) {
                mprotect(code, PAGE, PROT_READ | PROT_WRITE);
                *(struct code *)code = returning(i);
                mprotect(code, PAGE, PROT_READ | PROT_EXEC);
                sum += call(code);
        }
        tell("text made writable in turns", sum);
}

static void put_by_mem_file(void *code, const char *path)
{
        int fd = open(path, O_RDWR);
        must(fd >= 0, path);
        long sum = 0;
        for (int i = 1; i <= ROUNDS; i++) {
                struct code now = returning(i);
                must(pwrite(fd, &now, sizeof(now), (off_t)(uintptr_t)code) == sizeof(now),
                     "pwrite");
                sum += call(code);
        }
        close(fd);
        tell(path, sum);
}

static void write_process(pid_t pid, void *code, int value)
{
        struct code now = returning(value);
        struct iovec from = {&now, sizeof(now)}, to = {code, sizeof(now)};
        must(process_vm_writev(pid, &from, 1, &to, 1, 0) == sizeof(now),
             "process_vm_writev");
}

/* Only a writable page can be written so. */
static void put_by_process_vm(void)
{
        void *code =
            map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        long sum = 0;
        for (int i = 1; i <= ROUNDS; i++) {
                write_process(getpid(), code, i);
                sum += call(code);
        }
        tell("process_vm_writev", sum);
}

static void put_by_child(void *code)
{
        long sum = 0;
        for (int i = 1; i <= 4; i++) {
                pid_t parent = getpid(), child = fork();
                if (child == 0) {
                        char path[64];
                        snprintf(path, sizeof(path), "/proc/%d/mem", parent);
                        int fd = open(path, O_WRONLY);
                        struct code now = returning(i);
                        _exit(pwrite(fd, &now, sizeof(now), (off_t)(uintptr_t)code) !=
                              sizeof(now));
                }
                int status;
                waitpid(child, &status, 0);
                must(status == 0, "child");
                sum += call(code);
        }
        tell("a child writes /proc/PID/mem", sum);
}

static void drop_pages(void *code)
{
        mprotect(code, PAGE, PROT_READ | PROT_WRITE);
        *(struct code *)code = returning(7);
        mprotect(code, PAGE, PROT_READ | PROT_EXEC);
        long sum = call(code);
        madvise(code, PAGE, MADV_DONTNEED);
        tell("madvise", sum * 100 + call(code));
}

/* ---- mappings of files ---- */

static void put_through(const char *way, void *write_to, const void *code)
{
        long sum = 0;
        for (int i = 1; i <= ROUNDS; i++) {
                *(struct code *)write_to = returning(i);
                sum += call(code);
        }
        tell(way, sum);
}

typedef void writer(int fd, const char *path, int value);

static void put_pwrite(int fd, const char *path, int value)
{
        struct code now = returning(value);
        must(pwrite(fd, &now, sizeof(now), 0) == sizeof(now), "pwrite");
}

static void put_pwritev(int fd, const char *path, int value)
{
        struct code now = returning(value);
        struct iovec part = {&now, sizeof(now)};
        must(pwritev(fd, &part, 1, 0) == sizeof(now), "pwritev");
}

static int source_of(int value)
{
        struct code now = returning(value);
        int source = memfd_create("source", 0);
        must(write(source, &now, sizeof(now)) == sizeof(now), "write");
        lseek(source, 0, SEEK_SET);
        return source;
}

static void put_sendfile(int fd, const char *path, int value)
{
        int source = source_of(value);
        lseek(fd, 0, SEEK_SET);
        must(sendfile(fd, source, NULL, sizeof(struct code)) == sizeof(struct code),
             "sendfile");
        close(source);
}

static void put_splice(int fd, const char *path, int value)
{
        struct code now = returning(value);
        int ends[2];
        loff_t start = 0;
        must(pipe(ends) == 0 && write(ends[1], &now, sizeof(now)) == sizeof(now), "pipe");
        must(splice(ends[0], NULL, fd, &start, sizeof(now), 0) == sizeof(now), "splice");
        close(ends[0]);
        close(ends[1]);
}

static void put_anew(int fd, const char *path, int value)
{
        unsigned char page[PAGE] = {0};
        struct code now = returning(value);
        memcpy(page, &now, sizeof(now));
        int again = open(path, O_WRONLY | O_TRUNC);
        must(again >= 0 && write(again, page, PAGE) == PAGE, "write anew");
        close(again);
}

static void put_in_child(int fd, const char *path, int value)
{
        pid_t child = fork();
        if (child == 0) {
                put_pwrite(fd, path, value);
                _exit(0);
        }
        waitpid(child, NULL, 0);
}

static void put_in_childs_mapping(int fd, const char *path, int value)
{
        pid_t child = fork();
        if (child == 0) {
                *(struct code *)map(PROT_READ | PROT_WRITE, MAP_SHARED, fd) =
                    returning(value);
                _exit(0);
        }
        waitpid(child, NULL, 0);
}

/* Changes the code of a file that is mapped like a library: private, from a descriptor
 * for reading. Each way has a separate file, made before the recording. */
static void put_to_file(const char *way, const char *directory, writer *put)
{
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", directory, way);
        int reading = open(path, O_RDONLY);
        must(reading >= 0, path);
        const void *code = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, reading);
        close(reading);
        long sum = call(code);
        int writing = open(path, O_RDWR);
        for (int i = 1; i <= 5; i++) {
                put(writing, path, i);
                sum += call(code);
        }
        close(writing);
        tell(way, sum);
}

static void change_files(const char *directory)
{
        put_to_file("pwrite", directory, put_pwrite);
        put_to_file("pwritev", directory, put_pwritev);
        put_to_file("sendfile", directory, put_sendfile);
        put_to_file("splice", directory, put_splice);
        put_to_file("anew", directory, put_anew);
        put_to_file("child", directory, put_in_child);
        put_to_file("mapping", directory, put_in_childs_mapping);
}

static void *mapped_again(void *start)
{
        void *other = mremap(start, 0, PAGE, MREMAP_MAYMOVE);
        must(other != MAP_FAILED && other != start, "mremap");
        return other;
}

static void change_memory_files(void)
{
        int fd = memfd_create("code", 0);
        must(ftruncate(fd, PAGE) == 0, "ftruncate");
        void *writable = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
        void *all = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd);
        void *private = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd);
        put_through("two mappings", writable, map(PROT_READ | PROT_EXEC, MAP_SHARED, fd));
        put_through("two mappings, one private", writable,
                    map(PROT_READ | PROT_EXEC, MAP_PRIVATE, fd));
        put_through("shared", all, all);
        put_through("private", private, private);
        put_through("mapped again by mremap", mapped_again(writable), mapped_again(all));
        void *unnamed =
            map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1);
        put_through("shared without a file", unnamed, unnamed);
}

int main(int argc, char **argv)
{
        void *code = (void *)(uintptr_t)text;
        if (argc != 2)
                return 2;
        put_writable_once(code);
        put_writable_each_time(code);
        put_by_mem_file(code, "/proc/self/mem");
        put_by_mem_file(code, "/proc/thread-self/mem");
        put_by_process_vm();
        put_by_child(code);
        drop_pages(code);
        change_memory_files();
        change_files(argv[1]);
        return 0;
}
