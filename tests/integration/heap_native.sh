#!/bin/sh
# SPDX-License-Identifier: MIT
# The heap tracker in native programs: they behave as alone, and memlag gets every allocation that
# they report, from every process and thread.
. "$SOURCE_DIR/tests/integration/library.sh"

src=$SOURCE_DIR/tests/integration/heap
consume=$BINARY_DIR/bin/heap_consume
: "${CXX:=c++}"
"$CC" -D_GNU_SOURCE -O2 -fno-builtin -o calls "$src/calls.c" -pthread
"$CXX" -D_GNU_SOURCE -std=c++17 -O2 -fno-builtin -o operators "$src/operators.cc"
"$CXX" -D_GNU_SOURCE -std=c++17 -O2 -fno-builtin -shared -fPIC -o plugin.so "$src/plugin.cc"
"$CC" -O2 -o host "$src/host.c"
for program in stress forbids confines vanish leaves steps interrupts; do
        "$CC" -D_GNU_SOURCE -O1 -fno-builtin -o $program "$src/$program.c" -pthread
done

# same STATUS COMMAND...: alone and tracked; the events go to `events`
same()
{
        wanted=$1
        shift
        ends "$wanted" "$@" >alone.out 8>/dev/null
        mv err alone.err
        ends "$wanted" "$consume" events "$@" >out 8>said
        cmp alone.out out || fail "$*: another output"
        cmp alone.err err || fail "$*: another error output"
}

# said_is_in_events PROGRAM OTHERS: the events are the program's actions, in order, and at most
# OTHERS more: of libraries before the start, of an exception's memory, of the loading of a library.
said_is_in_events()
{
        grep -v ' process$' events | cut -d ' ' -f 3- >told
        [ -s said ] || fail "$1 said nothing"
        diff said told >difference || true
        ! grep '^<' difference || fail "$1: what was said was not told"
        [ "$(grep -c '^>' difference)" -le "$2" ] || fail "$1: told too much: $(cat difference)"
}

# told COUNT PATTERN: so many events have it.
told()
{
        expect "events with$2" "$(grep -c "$2" events || true)" "$1"
}

same 42 ./calls
said_is_in_events calls 4
# A thread's actions are reported too, besides the C library's for the thread, in either order.
same 42 ./calls threads
cut -d ' ' -f 3- events | sort >told
sort said | comm -23 - told >untold
[ ! -s untold ] || fail "calls threads: not told: $(cat untold)"
same 43 ./operators
said_is_in_events operators 4
same 44 ./host "$PWD/plugin.so"
said_is_in_events host 60

# Threads, signals, fork and dlopen at once. A process that waits for ever is killed (status 124).
same 0 timeout 600 ./stress "$PWD/plugin.so"
[ "$(grep -c ' process$' events)" -ge 41 ] || fail "stress: not every child was told of"

# A program that forbids itself system calls, or its clock, is not killed by the tracker's calls.
# Its earlier actions have been reported.
for way in prctl syscall strict clock; do
        same 0 ./forbids $way
        says ' alloc malloc 0x[0-9a-f]* 0x11170$' events
done

# Nor are its threads that are just telling, and nothing ends where nothing is forbidden.
same 0 timeout 600 ./confines threads
for way in refused vfork; do
        same 0 ./confines $way
        says ' alloc malloc 0x[0-9a-f]* 0x11170$' events
done

# Threads that vanish in the middle of a record delay nobody, and the earlier records of their
# process arrive.
same 0 timeout 600 ./vanish
# From 70000 (0x11170) to 70059 bytes, a child each.
expect "children that were told of" \
        "$(sed -n 's/.* alloc malloc 0x[0-9a-f]* \(0x111[0-9a-f][0-9a-f]\)$/\1/p' events | sort -u | wc -l)" 60

# A handler needs hardly more of its stack than alone. Its allocations are reported without a call
# stack.
"$CC" -D_GNU_SOURCE -O1 -fno-builtin -Wl,-z,now -o small "$src/small.c" -pthread
least=2048
until ./small $least >out 2>err; do
        least=$((least + 128))
        [ "$least" -lt 65536 ] || fail "small: does not run alone: $(cat out err)"
done
same 0 ./small $((least + 256))
says '^5 handled$' out
told 1 ' 0 alloc malloc 0x[0-9a-f]* 0x11170$'
told 5 ' alloc realloc 0x[0-9a-f]* 0x222e0$'

# A thread that a handler has taken out of a tracked function is tracked on.
same 0 timeout 600 ./leaves
for size in 0x11170 0x11171 0x11172; do # 70000 bytes and more
        told 1 " alloc malloc 0x[0-9a-f]* $size\$"
done
told 1000 ' alloc malloc 0x[0-9a-f]* 0x11173$'
# Missing events are counted.
untold=$(UNTOLD=1 "$consume" events ./leaves 2>&1 >/dev/null | tail -n 1)
told=$(grep -c 'alloc malloc 0x[0-9a-f]* 0x11174$' events || true) # 70004
[ "$untold" -gt 0 ] && [ $((told + untold)) -eq 60 ] ||
        fail "leaves: of 60 blocks, $told were told, and $untold counted"

# A thread ends or jumps away at any instruction of a record. It delays nobody, and all records of
# the others arrive.
for way in exit jump; do
        same 0 timeout 300 ./steps $way
        told 200000 ' alloc malloc 0x[0-9a-f]* 0x11170$'
done

# A handler may do anything in the middle of a tracked function: the call is reported once, as the
# function that the program called.
same 0 ./interrupts
calls=$(sed 's/ calls//' out)
[ "$calls" -gt 0 ] || fail "interrupts: none"
told "$calls" ' alloc reallocarray 0x[0-9a-f]* 0x11170$'
told "$calls" ' 0x11170$'

# Each block of each thread, in an order in which no block begins before the previous block at its
# address has ended.
program threads <<'END'
enum { THREADS = 8, BLOCKS = 50000, KEPT = 64 };
static void *run(void *seed)
{
        void *kept[KEPT] = {0};
        unsigned state = (unsigned)(size_t)seed;
        for (int i = 0; i < BLOCKS; i++) {
                state = state * 1664525 + 1013904223;
                void **place = &kept[state >> 26];
                free(*place);
                *place = malloc(1000 + (state >> 8) % 100);
        }
        for (int i = 0; i < KEPT; i++)
                free(kept[i]);
        return NULL;
}
int main(void)
{
        pthread_t threads[THREADS];
        for (size_t i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, run, (void *)(i + 1));
        for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        return 0;
}
END
same 0 ./threads
python <<'END' || fail "threads: blocks missing or out of order"
live, begun, ended = set(), 0, 0
for line in open("events"):
    words = line.split()
    if words[2] == "alloc" and 1000 <= int(words[5], 16) < 1100:
        assert words[4] not in live, words
        live.add(words[4])
        begun += 1
    elif words[2] == "free" and words[3] in live:
        live.remove(words[3])
        ended += 1
assert (begun, ended, len(live)) == (400000, 400000, 0), (begun, ended, len(live))
END

# Threads that write faster than memlag reads wait, for seconds if need be, and lose no record.
SLOW=4000 same 0 ./threads
[ "$(grep -c ' alloc malloc .* 0x' events)" -ge 400000 ] || fail "slow: blocks are missing"

# The stacks of a process are freed with it: many processes, one after the other, take no more
# memory than a few. Each has 4096 stacks of some 100 frames.
program stacks -O0 <<'END'
enum { DEPTH = 100, STACKS = 4096 };
static void left(unsigned path, int depth);
static void right(unsigned path, int depth)
{
        if (depth == 0)
                free(malloc(16));
        else if (path & 1)
                left(path >> 1, depth - 1);
        else
                right(path >> 1, depth - 1);
}
static void left(unsigned path, int depth)
{
        right(path, depth);
}
int main(int argc, char **argv)
{
        for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
                if (fork() == 0) {
                        for (unsigned path = 0; path < STACKS; path++)
                                right(path, DEPTH);
                        _exit(0);
                }
                wait(NULL);
        }
        return 0;
}
END
"$consume" events ./stacks 1
deep=$(grep -c '^[0-9]* 1[0-2][0-9] alloc malloc 0x[0-9a-f]* 0x10$' events)
[ "$deep" -ge 4096 ] || fail "stacks: $deep deep ones"
few=$(PEAK=1 "$consume" '' ./stacks 4 2>&1)
many=$(PEAK=1 "$consume" '' ./stacks 40 2>&1)
# 36 times 3.2 MB of frames would be 115 MB more.
[ "$many" -lt $((few + 40000)) ] ||
        fail "stacks: $many KiB for 40 processes, $few KiB for 4"

# The environment stays the user's, also in programs that the target executes in any of these ways.
# Each of them is tracked.
program executes <<'END'
#include <spawn.h>
int main(void)
{
        char *argv[] = {"env", NULL};
        char *own[] = {"B=3", "LD_PRELOAD=", NULL};
        pid_t pid;
        for (int way = 0; way < 10; way++) {
                fflush(stdout);
                if (way == 8)
                        posix_spawn(&pid, "/usr/bin/env", NULL, NULL, argv, own);
                else if (way == 9)
                        posix_spawnp(&pid, "env", NULL, NULL, argv, environ);
                else if ((pid = way % 2 ? vfork() : fork()) == 0) {
                        switch (way) {
                        case 0: execve("/usr/bin/env", argv, own); break;
                        case 1: execv("/usr/bin/env", argv); break;
                        case 2: execvp("env", argv); break;
                        case 3: execvpe("env", argv, own); break;
                        case 4: execl("/usr/bin/env", "env", "C=1", NULL); break;
                        case 5: execlp("env", "env", "C=1", "D=2", NULL); break;
                        case 6: execle("/usr/bin/env", "env", NULL, own); break;
                        case 7: execlp("env", "env", NULL); break;
                        }
                        _exit(1);
                }
                waitpid(pid, NULL, 0);
        }
        return 0;
}
END
same 0 env -i A=1 PATH="$PATH" LD_PRELOAD= Z=2 ./executes
# env itself, the program that it becomes, four children of fork, which call malloc or
# not, and ten programs.
programs=$(grep -c ' process$' events)
[ "$programs" -ge 12 ] || fail "executes: $programs images"
same 0 sh -c 'echo "$LD_PRELOAD" ${MEMLAG_HEAP-none}; ls -l /proc/self/fd | wc -l; echo $(seq 3)'

# So it is in shells that the C library executes, and afterwards. Of a process with several
# threads they are not followed, and counted.
program shells <<'OUTER'
static sigjmp_buf place;
static void leave(int number)
{
        siglongjmp(place, number);
}
static void *run(void *unused)
{
        pause();
        return unused;
}
static void show(const char *command)
{
        char line[256];
        FILE *stream = popen(command, "r");
        while (fgets(line, sizeof(line), stream))
                fputs(line, stdout);
        printf("%d\n", pclose(stream));
        fflush(stdout);
        printf("%d\n", system(command));
        fflush(stdout);
}
int main(int argc, char **argv)
{
        pthread_t thread;
        if (argc > 1)
                pthread_create(&thread, NULL, run, NULL);
        show("env | sort; exit 3");
        printf("%d\n", system(NULL) != 0);
        setenv("C", "3", 1);
        show("env | grep -v ^_= | sort; no-such-program; exit 4");
        for (char **variable = environ; *variable; variable++)
                puts(*variable);
        signal(SIGALRM, leave);
        if (sigsetjmp(place, 1) == 0) {
                alarm(1);
                system("exec sleep 2");
        }
        for (char **variable = environ; *variable; variable++)
                puts(*variable);
        setenv("D", "4", 1);
        printf("%s %s\n", getenv("A"), getenv("D"));
        show("env | sort; tr '\\0' ' ' </proc/$$/cmdline");
        return system(argv[0][0] ? "kill -9 $$" : "") != 9;
}
OUTER
# Signals too, in the shell, within one that a handler starts, and after one was left.
program signals <<'END'
static sigjmp_buf place;
static void show(const char *when)
{
        char line[256];
        FILE *status = fopen("/proc/self/status", "r");
        printf("%s\n", when);
        while (fgets(line, sizeof(line), status))
                if (line[0] == 'S' && line[1] == 'i' && line[2] == 'g' && line[3] != 'Q')
                        fputs(line, stdout);
        fclose(status);
        fflush(stdout);
}
static void run(const char *command)
{
        errno = 0;
        int status = system(command);
        int error = errno;
        printf("%d %d\n", status, error);
        show(command);
}
static void nest(int number)
{
        show("in a handler");
        run("grep ^Sig.*: /proc/self/status | grep -v Q");
}
static void leave(int number)
{
        siglongjmp(place, number);
}
int main(void)
{
        const char *status = "grep ^Sig.*: /proc/self/status | grep -v Q";
        sigset_t blocked;
        run(status);
        run("kill -INT $PPID; kill -QUIT $PPID; kill -INT $$");
        run("-no-such-option");
        signal(SIGALRM, nest);
        alarm(1);
        run("sleep 2");
        signal(SIGQUIT, SIG_IGN);
        signal(SIGINT, nest);
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR1);
        sigprocmask(SIG_BLOCK, &blocked, NULL);
        run(status);
        signal(SIGALRM, leave);
        if (sigsetjmp(place, 1) == 0) {
                alarm(1);
                system("exec sleep 2");
        }
        show("left");
        run(status);
        signal(SIGQUIT, SIG_DFL);
        run(status);
        signal(SIGCHLD, SIG_IGN);
        run(status);
        return 0;
}
END
same 0 ./signals
[ "$(grep -c ' process$' events)" -ge 10 ] || fail "signals: $(grep ' process$' events)"
# A handler that leaves popen where the environment may be another one, or soon after the
# beginning where the C library is called at once (it blocks signals later).
program opens <<'END'
static char **given;
static sigjmp_buf place;
static long steps_left;
static void on_trap(int number)
{
        if (environ != given || --steps_left < 0)
                siglongjmp(place, number);
}
int main(void)
{
        Dl_info popens;
        dladdr((void *)popen, &popens);
        steps_left = strstr(popens.dli_fname, "/libc.so") ? 20 : 10000000;
        signal(SIGTRAP, on_trap);
        given = environ;
        if (sigsetjmp(place, 1) == 0) {
                __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
                popen("exit", "r");
        }
        for (char **variable = environ; *variable; variable++)
                puts(*variable);
        printf("%d\n", environ == given);
        return 0;
}
END
same 0 env -i A=1 PATH="$PATH" ./opens
for users in '' LD_PRELOAD=libm.so.6; do
        same 0 env -i A=1 PATH="$PATH" $users ./shells
        # env, shells, eight shells of env, and in six of these one or more programs.
        [ "$(grep -c ' process$' events)" -ge 16 ] || fail "shells: $(grep ' process$' events)"
done
same 0 env -i A=1 PATH="$PATH" ./shells threads

# The tracker takes none of the room for thread-local memory of libraries that are loaded late. Just
# as many still load, regardless of the program's own thread-local memory.
echo '__thread char mine[8]; char *get(void) { return mine; }' >late.c
"$CC" -shared -fPIC -nostdlib -ftls-model=initial-exec -o late0.so late.c
for number in $(seq 300); do
        cp late0.so late$number.so
done
cat >loads.c <<'END'
#ifdef OWN
__thread char own[OWN];
#endif
int main(void)
{
        char name[32];
        int count = 0;
        do
                snprintf(name, sizeof(name), "./late%d.so", count);
        while (dlopen(name, RTLD_NOW) && ++count);
        printf("%d loaded: %s\n", count, dlerror());
#ifdef OWN
        return own[0];
#else
        return 0;
#endif
}
END
for own in '' -DOWN=1 -DOWN=8 -DOWN=40 -DOWN=60 -DOWN=200; do
        compile $own -o loads loads.c
        same 0 ./loads
        grep -q '^[1-9][0-9]* loaded: .*static TLS' out || fail "loads: $(cat out)"
done

# A static program has nobody to take anything out of its environment.
program static -static <<'END'
int main(void)
{
        for (char **variable = environ; *variable; variable++)
                puts(*variable);
        return 0;
}
END
same 0 env -i A=1 PATH=. ./static
same 0 env -i A=1 PATH="$PWD:$PATH" sh -c './static; static; exec ./static'
same 0 ./static

# One that another linker than the C library's own starts may not know what to do with a
# library of this one: that linker here prints the environment.
"$CC" -O1 -static -nostdlib -ffreestanding -fno-stack-protector -o linker "$src/linker.c"
"$CC" -O1 -fPIE -pie -Wl,--dynamic-linker="$PWD/linker" -o foreign "$src/small.c"
same 0 env -i A=1 ./foreign
grep -qx A=1 out || fail "foreign: $(cat out)"
same 0 env -i A=1 PATH="$PATH" sh -c './foreign; exec ./foreign'

# The GNU C library's linker is recognised by its contents, not by its name.
cp /lib64/ld-linux-x86-64.so.2 renamed
program blocks -fno-builtin -Wl,--dynamic-linker="$PWD/renamed" <<'END'
int main(void)
{
        for (int i = 0; i < 1000; i++)
                free(malloc(80000));
        return 0;
}
END
same 0 sh -c './blocks; exec ./blocks'
told 2000 ' alloc malloc .* 0x13880$'
# Each program that cannot take the tracker is counted.
refused()
{
        wanted=$1
        shift
        expect "refused: $*" "$(REFUSED=1 "$consume" '' "$@" 2>&1 >/dev/null | tail -n 1)" "$wanted"
}
refused 0 ./blocks
refused 0 ./shells
refused 8 ./shells threads
refused 1 ./static
refused 3 sh -c './static; ./blocks; ./foreign; exec ./foreign'
if has musl-gcc; then
        musl-gcc -O1 -include "$SOURCE_DIR/tests/integration/target.h" -o musl static.c
        same 0 env -i A=1 PATH="$PATH" sh -c './musl; exec ./musl'
        refused 2 sh -c './musl; exec ./musl'
fi

# The initial environment of a process shows no trace of the tracker, except empty room.
for users in '' LD_PRELOAD=libm.so.6; do
        same 0 env -i A=1 $users /bin/grep -z . /proc/self/environ
        tr '\0' '\n' <out | grep -qx A=1 || fail "environ: $(cat out)"
done

# A sanitizer's runtime ends a process if another library precedes it.
program sanitized -fsanitize=address <<'END'
int main(void)
{
        free(malloc(100));
        return 5;
}
END
same 5 env ASAN_OPTIONS=verify_asan_link_order=1 ./sanitized
same 5 sh -c './sanitized || exit $?'
# Hostile ELF headers do not delay the programs that execute the file. It has 65534 headers, which
# the kernel refuses, and each would be searched for in 2000 tables of strings; or four million
# tables.
python <<'END'
def program(name, headers, entries):
    dynamic = 64 + 56 * headers
    linker = dynamic + 16 * entries
    path = b"/lib64/ld-linux-x86-64.so.2\0"
    with open(name, "wb") as file:
        file.write(struct.pack("<16s2HI3QI6H", b"\x7fELF\2\1\1", 2, 62, 1, 0x400000, 64, 0,
                               0, 64, 56, headers, 64, 0, 0))
        for kind, at, size in (3, linker, len(path)), (2, dynamic, 16 * entries):
            file.write(struct.pack("<2I6Q", kind, 4, at, 0, 0, size, size, 1))
        file.write(bytes(56 * (headers - 2)))
        file.write(struct.pack("<2Q", 5, 0x400000) * entries + path)
program("headers", 65534, 2000)
program("entries", 2, 4000000)
END
chmod +x headers
program refused <<'END'
int main(int argc, char **argv)
{
        execv(argv[argc - 1], argv);
        perror("refused");
        return 0;
}
END
for file in ./headers ./entries; do # the latter must not be executed
        same 0 timeout 60 ./refused $file
done

# Below chroot the tracker cannot be loaded; there is no message about that.
mkdir -p root/lib64 root/lib/x86_64-linux-gnu
cp "$(command -v env)" root/env
cp /lib64/ld-linux-x86-64.so.2 root/lib64/
cp /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu/
if unshare -r chroot root /env >/dev/null 2>&1; then
        same 0 env -i A=1 PATH="$PATH" unshare -r chroot root /env
else
        echo "heap_native: SKIPPED: no chroot here (unshare -r chroot)" >&2
fi

# Missing or forbidden files keep no program from running, and the user's variables stay.
place=$(mktemp -d) # LD_PRELOAD cannot say a space
trap 'rm -r "$place"' EXIT
ln -s "$BINARY_DIR/libexec/memlag/valgrind" "$place/engine"
tracker=$place/engine/vgpreload_memlag-amd64-linux.so
MEMLAG_HEAP=1:2:3 LD_PRELOAD=$tracker env >out 2>err || fail "without memlag: $(cat err)"
! grep -q 'MEMLAG_HEAP\|vgpreload' out || fail "without memlag: $(cat out)"
[ ! -s err ] || fail "without memlag: $(cat err)"
own=$(printf '%s\n' A=1 "LD_PRELOAD=$tracker" VALGRIND_LIB=mine)
expect "the user's own variables" "$(env -i $own "$(command -v env)")" "$own"

# A killed memlag: the target, all of whose threads wait for room by then, goes on.
SLOW=4000 "$consume" events ./threads &
consumer=$!
has_child() { grep -q . /proc/$consumer/task/$consumer/children; }
until_true has_child
target=$(cat /proc/$consumer/task/$consumer/children)
target=${target% }
is_program() { [ "$(readlink /proc/$target/exe)" = "$PWD/threads" ]; }
until_true is_program
has_threads() { [ "$(ls /proc/$target/task | wc -l)" -eq 9 ]; }
until_true has_threads
kill -STOP $consumer
all_wait() { ! sed 's/.*) //' /proc/$target/task/*/stat | grep -q '^[^S]'; }
until_true all_wait
kill -0 $target 2>/dev/null || fail "the target ended before memlag was killed"
kill -KILL $consumer
wait $consumer || true
timeout 60 tail --pid=$target -f /dev/null || fail "a target waits for a memlag that was killed"
