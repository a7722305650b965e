#!/bin/sh
# SPDX-License-Identifier: MIT
# Processes, threads and kinds of programs: the rows equal the actions in the program's source.
. "$SOURCE_DIR/tests/integration/library.sh"

program pie -fPIE -pie <<'END'
/* THREADS threads at once walk over a block each of SIZE bytes; then CHILDREN forked
 * processes do so one by one, and the last of them becomes /bin/true. */
enum { THREADS = 5, CHILDREN = 3, SIZE = 3 << 20 };
static pthread_barrier_t barrier;
static void walk(void)
{
        volatile char *block = malloc(SIZE);
        for (int round = 0; round < 4; round++)
                for (size_t i = 0; i < SIZE; i += 64)
                        block[i]++;
        free((char *)block);
}
static void *run(void *unused)
{
        pthread_barrier_wait(&barrier);
        walk();
        return unused;
}
int main(void)
{
        pthread_t thread[THREADS];
        pthread_barrier_init(&barrier, NULL, THREADS);
        for (int i = 0; i < THREADS; i++)
                pthread_create(&thread[i], NULL, run, NULL);
        for (int i = 0; i < THREADS; i++)
                pthread_join(thread[i], NULL);
        for (int i = 0; i < CHILDREN; i++) {
                pid_t pid = fork();
                if (pid == 0) {
                        walk();
                        if (i == CHILDREN - 1)
                                execl("/bin/true", "true", NULL);
                        _exit(0);
                }
                waitpid(pid, NULL, 0);
        }
        return 0;
}
END
compile -fno-pie -no-pie -o fixed pie.c
compile -s -o stripped pie.c
compile -static -o static pie.c

for kind in pie fixed stripped static; do
        record $kind $LOADS --period 50 -- ./$kind
        # The program, three children, and the image that the last one became.
        holds $kind.db 5 'SELECT count(*) FROM process'
        holds $kind.db 0 'SELECT count(*) FROM process WHERE end_ns IS NULL'
        holds $kind.db 4 'SELECT count(DISTINCT pid) FROM process'
        holds $kind.db 4 "SELECT parent_process_id FROM process
                           WHERE executable LIKE '%/true'"
        holds $kind.db 3 'SELECT count(*) FROM process WHERE parent_process_id = 1'
        holds $kind.db 6 'SELECT count(*) FROM thread WHERE process_id = 1'
        holds $kind.db 1 'SELECT count(*) FROM thread WHERE process_id = 2'
        # Each of eight walks misses L2 with 49152 lines in each of its last three rounds (before
        # the first, the kernel has just zeroed their pages). One load of 50 is sampled: 2949 a
        # thread. Other threads have few.
        holds $kind.db 8 'SELECT count(*) FROM (SELECT 1 FROM sample WHERE latency_cycles > 0 GROUP BY thread_id
                           HAVING count(*) BETWEEN 2890 AND 3040)'
        # Every sample's instruction is in a mapping of that time.
        holds $kind.db 0 'SELECT count(*) FROM sample JOIN thread USING (thread_id)
              WHERE NOT EXISTS (SELECT 1 FROM mapping
                    WHERE mapping.process_id = thread.process_id
                      AND ip BETWEEN start_addr AND start_addr + length_bytes - 1
                      AND time_ns >= mapping.start_ns
                      AND (mapping.end_ns IS NULL OR time_ns <= mapping.end_ns))'
        # The build-id is the file's.
        holds $kind.db "$(readelf -n $kind | sed -n 's/.*Build ID: //p')" "
                SELECT lower(hex(build_id)) FROM module WHERE path LIKE '%/$kind'"
        # The walked blocks, and only they, are heap objects of their size.
        holds $kind.db 8 'SELECT count(*) FROM allocation WHERE size_bytes = 3145728'
        holds $kind.db 8 'SELECT sum(allocations) FROM allocation_total
                           WHERE total_bytes = 3145728 * allocations'
done

# Programs that wait for each other run one after the other.
"$MEMLAG" record $LOADS --no-heap -o turns.db -- \
        sh -c 'seq 20000 >/dev/null; seq 20000 >/dev/null; :' 2>err || fail "turns: $(cat err)"
holds turns.db 1 "SELECT max(start_ns) >= min(end_ns) FROM process
                   WHERE executable LIKE '%/seq' HAVING count(*) = 2"

# Without the tracker there are none, and the ledger does not miss them.
"$MEMLAG" record $LOADS --no-heap -o none.db -- ./pie 2>err
holds none.db 0 'SELECT count(*) FROM allocation'
holds none.db 0 "SELECT count(*) FROM ledger WHERE stage = 'record'"

# A script runs as its interpreter; the programs of its pipes are recorded too.
printf '#!/bin/sh\nseq 1000 | sort -n | tail -n 1\n' >script
chmod +x script
expect "the script's output" "$("$MEMLAG" record $LOADS -o script.db -- ./script 2>err)" 1000
holds script.db 1 "SELECT count(*) FROM process WHERE executable LIKE '%/sort'"

# Processes that outlive the command continue, and are counted. (record_children.sh tests one that
# has not begun when the command ends.)
mkfifo done
"$MEMLAG" record $LOADS -o left.db -- sh -c '{ echo >begun; cat done >/dev/null; } &
        echo $! >left; while [ ! -s begun ]; do :; done' 2>err
holds left.db 1 "SELECT sum(value) FROM ledger WHERE kind IN
                  ('processes left running', 'processes between two programs')"
kill -0 "$(cat left)" || fail "a process that the command left behind has ended"
echo >done

# A child inherits what its parent had at the fork, however late it runs: here a parent
# gives its blocks back at once.
program late <<'END'
enum { CHILDREN = 12, SIZE = 1 << 20 };
int main(void)
{
        for (int i = 0; i < CHILDREN; i++) {
                volatile char *block = malloc(SIZE);
                memset((void *)block, 1, SIZE);
                if (fork() == 0) {
                        for (int round = 0; round < 3; round++)
                                for (size_t at = 0; at < SIZE; at += 64)
                                        block[at]++;
                        _exit(0);
                }
                free((void *)block);
                for (int j = 0; j < 1000; j++)
                        free(malloc(100));
        }
        while (wait(NULL) > 0)
                ;
        return 0;
}
END
record late $LOADS --period 50 -- ./late
holds late.db 12 'SELECT count(DISTINCT process_id) FROM allocation
                  WHERE process_id > 1 AND size_bytes = 1048576'
holds late.db 0 "SELECT count(*) FROM ledger WHERE stage = 'record'"

# Processes in a separate PID namespace are recorded to the end. memlag has no number there, and
# other processes have the numbers of ours.
if unshare -rpf --mount-proc true 2>/dev/null; then
        "$MEMLAG" record $LOADS --period 10 --ldlat 1 -o alone.db -- ./pie 2>err
        "$MEMLAG" record $LOADS --period 10 --ldlat 1 -o space.db -- unshare -rpf --mount-proc ./pie \
                2>err || fail "PID namespace: $(cat err)"
        wanted=$(answer alone.db 'SELECT count(*) FROM sample')
        found=$(answer space.db "SELECT count(*) FROM sample JOIN thread USING (thread_id)
                              JOIN process USING (process_id)
                              WHERE executable NOT LIKE '%/unshare'")
        [ "$found" -gt $((wanted - wanted / 100)) ] || fail "PID namespace: $found samples, $wanted outside"
        holds space.db 1 "SELECT count(*) >= 1 FROM process WHERE pid = 1"
        holds space.db 0 'SELECT count(*) FROM process WHERE end_ns IS NULL'
        # unshare, its child, the program after its exec, and four images from it.
        holds space.db 7 'SELECT count(*) FROM process'
else
        echo "record_processes: SKIPPED: no PID namespaces here (unshare -rpf --mount-proc)" >&2
fi

# A set-user-ID program runs as alone, but is not recorded.
program rights <<'END'
int main(void)
{
        return geteuid() == 65534 ? 6 : 7;
}
END
if chown 65534 rights 2>/dev/null && chmod u+s rights && ! ./rights && [ "$(id -u)" -eq 0 ]; then
        wanted=0
        ./rights || wanted=$?
        ends "$wanted" "$MEMLAG" record -o rights.db -- sh -c './rights; exit $?'
        holds rights.db 1 "SELECT value FROM ledger
                            WHERE kind = 'programs that the simulated PMU cannot run'"
else
        echo "record_processes: SKIPPED: no right to give a program another user's" >&2
fi

# Below chroot there is no memlag; the target runs there all the same, and the ledger tells
# that it was not recorded.
mkdir -p root/proc
program root/inside -static <<'END'
int main(void)
{
        return write(1, "inside\n", 7) == 7 ? 4 : 1;
}
END
status=0
unshare -r chroot root /inside >/dev/null 2>&1 || status=$?
if [ "$status" -eq 4 ]; then
        ends 4 "$MEMLAG" record -o chroot.db -- unshare -r chroot root /inside >out
        grep -qx inside out || fail "chroot: $(cat out)"
        holds chroot.db 1 "SELECT value FROM ledger
                            WHERE kind = 'programs that the simulated PMU cannot run'"
        ends 4 "$MEMLAG" record -o mounted.db -- unshare -rmpf sh -c \
                'mount -t proc proc root/proc && exec chroot root /inside' >out
else
        echo "record_processes: SKIPPED: no chroot here (unshare -r chroot)" >&2
fi

# A program cannot forbid itself system calls: its call fails (status 3), and it continues. A
# process that shares its parent's memory cannot be simulated; a message says so.
"$CC" -D_GNU_SOURCE -O1 -fno-builtin -o forbids "$SOURCE_DIR/tests/integration/heap/forbids.c"
for way in prctl syscall strict; do
        ends 3 "$MEMLAG" record $LOADS --force -o forbids.db -- ./forbids $way >out
        grep -qx allocated out || fail "forbids $way: $(cat out)"
done
program shares <<'END'
static int run(void *unused)
{
        return unused != NULL;
}
int main(void)
{
        enum { STACK_BYTES = 65536 };
        char *stack = malloc(STACK_BYTES);
        wait(NULL);
        return clone(run, stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL) < 0;
}
END
refuses 1 "^memlag record: .*clone(2).*cannot be simulated$" "$MEMLAG" record $LOADS -o shares.db -- ./shares

# exec refuses an argument that is too long, and the program before goes on, as alone.
ends 0 "$MEMLAG" record $LOADS -o long.db -- sh -c \
        'long=$(head -c 200000 /dev/zero | tr "\0" x); /bin/true "$long"; echo "status $?"' >out
says '^status 126$' out

# A program that executes itself by a link of /proc does so as it does alone: its
# arguments, its program and its status. A script's program is its interpreter.
program again <<'END'
int main(int count, char **arguments)
{
        char path[4096] = "";
        char *again[] = {"named", "last", NULL};
        int status;
        if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
                return 1;
        printf("%s %s\n", arguments[0], path);
        fflush(stdout);
        if (count < 2 || strcmp(arguments[1], "last") == 0)
                return 7;
        if (strcmp(arguments[1], "vfork") == 0) {
                if (vfork() == 0) {
                        execv("/proc/self/exe", again);
                        _exit(2);
                }
                wait(&status);
                return WEXITSTATUS(status);
        }
        snprintf(path, sizeof(path), "/proc/%d/exe", (int)getpid());
        if (strcmp(arguments[1], "number") != 0)
                strcpy(path, arguments[1]);
        execv(path, again);
        return 3;
}
END
for way in /proc/self/exe /proc/thread-self/exe number vfork; do
        ends 7 ./again $way >alone
        ends 7 "$MEMLAG" record $LOADS --force -o again.db -- ./again $way >out
        grep -v '^memlag' out | head -n 2 | cmp -s - alone || fail "again $way: $(cat out)"
        images=2
        [ "$way" != vfork ] || images=3 # its child is one before and one after
        holds again.db $images "SELECT count(*) FROM process WHERE executable LIKE '%/again'"
done
# Files executed by a descriptor, in each way: with or without a name (in memory or removed), and
# with descriptors that close at the exec or stay. The program sees no more descriptors than alone.
program by_fd <<'END'
static int copy_to(int to)
{
        int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        while (sendfile(to, from, NULL, 1 << 20) > 0)
                ;
        close(from);
        return to;
}
static int file(const char *kind, int closes)
{
        if (strcmp(kind, "memory") == 0)
                return copy_to(memfd_create("program", closes ? MFD_CLOEXEC : 0));
        if (strcmp(kind, "named") == 0)
                return open("/proc/self/exe", O_RDONLY | (closes ? O_CLOEXEC : 0));
        int written = copy_to(open("removed", O_CREAT | O_WRONLY, 0755));
        int fd = open("removed", O_RDONLY | (closes ? O_CLOEXEC : 0));
        close(written);
        unlink("removed");
        return fd;
}
static int begun(const char *name, char **arguments)
{
        printf("%s:", name);
        for (int fd = 0; fd < 100; fd++)
                if (fcntl(fd, F_GETFD) >= 0)
                        printf(" %d", fd);
        puts("");
        fflush(stdout);
        if (!arguments[2])
                return 7;
        arguments[2] = NULL; /* once more: a file that may have no name */
        execv("/proc/self/exe", arguments);
        return 4;
}
int main(int count, char **arguments)
{
        if (strcmp(arguments[1], "begun") == 0)
                return begun(arguments[0], arguments);
        char path[64];
        char *again[] = {"by another name", "begun", count > 4 ? "again" : NULL, NULL};
        int fd = file(arguments[1], strcmp(arguments[2], "closes") == 0);
        snprintf(path, sizeof(path), "%s/%d", arguments[3], fd);
        if (strcmp(arguments[3], "itself") == 0)
                fexecve(fd, again, environ);
        else
                execv(path, again);
        return 3;
}
END
by_fd()
{
        ./by_fd "$@" >alone && fail "by_fd $*: alone"
        ends 7 "$MEMLAG" record $LOADS --no-heap --force -o by_fd.db -- ./by_fd "$@" >out
        grep '^by another name' out | cmp -s - alone || fail "by_fd $*: $(cat alone out)"
}
by_fd memory stays itself
by_fd memory closes itself again
by_fd memory closes /proc/self/fd
by_fd removed closes /dev/fd again
by_fd removed stays itself
by_fd named closes itself

# A process has its program's name, which ps and pgrep show; a script's is the script's.
printf '#!/bin/sh\nread name </proc/$$/comm && echo $name && cat /proc/self/comm\n' >named.sh
chmod +x named.sh
expect "names" "$("$MEMLAG" record $LOADS --no-heap -o named.db -- ./named.sh 2>err | tr '\n' ' ')" 'named.sh cat '

# A library that is removed or replaced just after it was loaded keeps its build-id.
cat >walk.c <<'END'
int walk(volatile int *from, int count)
{
        int sum = 0;
        for (int i = 0; i < count; i += 16)
                sum += from[i];
        return sum;
}
END
program unloaded <<'END'
enum { COUNT = 1 << 22 };
int main(int count, char **arguments)
{
        void *library = dlopen("./loaded.so", RTLD_NOW);
        if (count > 1 ? rename(arguments[1], "loaded.so") : unlink("loaded.so"))
                return 2;
        int (*walk)(volatile int *, int) = dlsym(library, "walk");
        return walk(calloc(COUNT, sizeof(int)), COUNT);
}
END
for other in '' other.so; do
        "$CC" -O1 -shared -fPIC -o loaded.so walk.c
        "$CC" -O2 -g -shared -fPIC -o other.so walk.c
        id=$(readelf -n loaded.so | sed -n 's/.*Build ID: //p')
        record unloaded $LOADS -- ./unloaded $other
        holds unloaded.db "$id" "SELECT DISTINCT lower(hex(build_id)) FROM mapping
                JOIN module USING (module_id) WHERE path LIKE '%/loaded.so'"
done

# The main thread's stack is as large as its limit, which the program itself, or who executes
# it, may have raised; no larger.
program deep -O0 <<'END'
enum { FRAME_BYTES = 4096 };
static int go(int frames)
{
        volatile char frame[FRAME_BYTES] = {1};
        return frames > 0 ? go(frames - 1) + frame[0] : 0;
}
int main(int count, char **arguments)
{
        struct rlimit limit = {0, 0};
        if (count > 2) {
                getrlimit(RLIMIT_STACK, &limit);
                limit.rlim_cur = (rlim_t)atoi(arguments[2]) << 20;
                if (setrlimit(RLIMIT_STACK, &limit) != 0)
                        return 2;
        }
        return go((atoi(arguments[1]) << 20) / FRAME_BYTES) != 0;
}
END
for way in 'ulimit -Ss 8192; exec ./deep 6' 'ulimit -Ss 8192; exec ./deep 10' \
        'ulimit -Ss 65536; exec ./deep 50' 'exec ./deep 40 64' 'exec ./deep 70 64'; do
        wanted=0
        (ulimit -c 0; eval "$way") 2>err || wanted=$?
        ends "$wanted" "$MEMLAG" record $LOADS --no-heap --force -o deep.db -- \
                sh -c "ulimit -c 0; $way"
done

# Programs that cannot load the heap tracker, because they have another C library or no dynamic one,
# and whose allocators have no names. They run without noticing the tracker, and the ledger counts
# them.
program variables <<'END'
int main(int count, char **arguments)
{
        for (char **variable = environ; *variable; variable++)
                puts(*variable);
        printf("%lu\n", getauxval(AT_PAGESZ));
        fflush(stdout);
        return count > 1 ? execv(arguments[1], arguments + 1) : 5;
}
END
compile -s -static -o variables_static variables.c
another= untracked=1
if has musl-gcc; then
        musl-gcc -O1 -include "$SOURCE_DIR/tests/integration/target.h" -o variables_musl variables.c
        another=./variables_musl untracked=2
fi
for users in A=1 LD_PRELOAD=libm.so LD_PRELOAD=; do
        for heap in '' --no-heap; do
                ends 5 env -i $users B=2 ./variables_static $another ./variables >alone
                env -i $users B=2 "$MEMLAG" record $LOADS $heap --force -o variables.db -- \
                        ./variables_static $another ./variables >out 2>err && fail "variables: status 0"
                head -n "$(wc -l <alone)" out | cmp -s - alone || fail "variables: $(cat alone out err)"
                [ -n "$heap" ] || holds variables.db $untracked "SELECT value FROM ledger
                        WHERE kind = 'processes without heap objects'"
        done
done

