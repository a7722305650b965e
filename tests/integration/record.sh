#!/bin/sh
# SPDX-License-Identifier: MIT
# memlag record from outside: the target's input, output and status pass through, and
# each thing that can be wrong is one line on standard error with its status.
. "$SOURCE_DIR/tests/integration/library.sh"

# refused STATUS PATTERN OPTION...: memlag record says PATTERN in its only line, and
# leaves no database.
refused()
{
        wanted=$1 pattern=$2
        shift 2
        refuses "$wanted" "$pattern" "$MEMLAG" record --source sim -o refused.db "$@"
        [ "$wanted" -eq 2 ] || [ "$(wc -l <err)" -eq 1 ] || fail "more than a line: $(cat err)"
        [ ! -e refused.db ] || fail "a database was left behind by: $*"
}

# ---- what passes through ----
head -c 1000000 /dev/urandom >bytes
"$MEMLAG" record $SIM -o cat.db -- cat <bytes >copied 2>err
cmp bytes copied
head -n 1 err | grep -q 'modelled, not measured' || fail "no word on the source: $(cat err)"

# The default model is this machine's, if its system reports enough. The recording notes if the user
# named another machine's model.
ends 0 "$MEMLAG" record --source sim -o default.db -- true >out
nodes=$(lscpu -p=NODE | grep -v '^#' | sort -u | wc -l)
holds default.db "$(($(lscpu -p=CORE | grep -v '^#' | sort -u | wc -l) / nodes)).0" \
        "SELECT value FROM machine WHERE key = 'cores'"
expect "prefetchers" "$(answer default.db "SELECT value FROM run WHERE key = 'sim_prefetch'" | wc -w)" 4
[ -z "$(sqlite3 default.db "SELECT value FROM run WHERE key = 'host_cpu'")" ]
[ -n "$(sqlite3 cat.db "SELECT value FROM run WHERE key = 'host_cpu'")" ]
grep -q '^The model is skylake-sp' err && fail "the default model is said to be another's: $(cat err)"
"$MEMLAG" record $SIM --sim-list | awk 'NR > 1 { print $1, "=", $2 }' >own.conf
ends 0 "$MEMLAG" record $SIM --sim-cpu ./own.conf -o own.db -- true >out
! grep -q 'odel is' err || fail "a file of the user's is said to be another machine: $(cat err)"

ends 7 "$MEMLAG" record $SIM -o exit.db -- sh -c 'exit 7' >out
ends 143 "$MEMLAG" record $SIM -o term.db -- sh -c 'kill -TERM $$' >out
says '^memlag record: the command was ended by signal 15 (Terminated)$'
holds exit.db 7 "SELECT value FROM run WHERE key = 'exit_status'"
holds term.db 15 "SELECT value FROM run WHERE key = 'signal'"
holds term.db complete "SELECT value FROM run WHERE key = 'state'"

# Arguments, environment, descriptors (below Valgrind's) and signals are the same as for the program
# alone; argv[0] is the typed name.
program inherits <<'END'
int main(int argc, char **argv)
{
        struct rlimit files;
        getrlimit(RLIMIT_NOFILE, &files);
        for (int i = 0; i < argc; i++)
                printf("argument %s\n", argv[i]);
        for (char **e = environ; *e; e++)
                if (strncmp(*e, "_=", 2) != 0)
                        printf("environment %s\n", *e);
        for (int i = 1; i < 32; i++) {
                struct sigaction action;
                if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
                        printf("ignored %d\n", i);
        }
        sigset_t mask;
        sigprocmask(SIG_BLOCK, NULL, &mask);
        for (int i = 1; i < 32; i++)
                if (sigismember(&mask, i))
                        printf("blocked %d\n", i);
        DIR *fds = opendir("/proc/self/fd");
        for (struct dirent *fd; (fd = readdir(fds));)
                if (atoi(fd->d_name) < (int)files.rlim_cur)
                        printf("descriptor %s\n", fd->d_name);
        return 0;
}
END
./inherits a 'b c' '' >alone 5<bytes
"$MEMLAG" record $SIM -o inherits.db -- ./inherits a 'b c' '' >recorded 2>err 5<bytes
diff alone recorded
(trap '' HUP; ./inherits) >alone
(trap '' HUP; "$MEMLAG" record $SIM --force -o inherits.db -- ./inherits) >recorded 2>err
grep -q 'ignored 1$' alone
diff alone recorded
PATH=$PWD:$PATH "$MEMLAG" record $SIM --force -o inherits.db -- inherits >recorded 2>err
grep -q '^argument inherits$' recorded || fail "argv[0] is not as typed"
# Programs that it executes have the names that it gives them, longer or shorter.
cat >names.sh <<'END'
(exec -a short ./inherits a)
(exec -a a-name-that-is-much-longer-than-the-path-of-the-program-itself-and-its-directory ./inherits)
(exec -a -sh sh -c 'echo "$0"')
(exec -a gone ./missing) 2>/dev/null
(exec -a after ./inherits)
END
bash names.sh | grep -v ^fd >alone
"$MEMLAG" record $SIM --force -o inherits.db -- bash names.sh 2>err | grep -v ^fd >recorded
grep -q '^argument a-name-that' recorded
grep '^argument\|^-' alone >called
grep '^argument\|^-' recorded | cmp called -

# A signal that a program queues to itself comes before the call returns.
program queues <<'END'
static volatile sig_atomic_t came;
static void take(int number)
{
        came = number;
}
int main(void)
{
        const union sigval value = {.sival_int = 7};
        signal(SIGRTMIN, take);
        sigqueue(getpid(), SIGRTMIN, value);
        return came ? 7 : 1;
}
END
ends 7 "$MEMLAG" record $LOADS --force -o queues.db -- ./queues

# A load faults also where nobody uses its value.
program faults <<'END'
static void end(int number)
{
        _exit(number == SIGSEGV ? 7 : 1);
}
int main(void)
{
        signal(SIGSEGV, end);
        __asm__ volatile("mov (%0), %%eax; xor %%eax, %%eax" : : "r"(8L) : "eax", "cc");
        return 0;
}
END
ends 7 ./faults
ends 7 "$MEMLAG" record $LOADS --force -o faults.db -- ./faults

# Limits that a program sets on itself are set, are kept to, and do not end the engine.
program limits -fno-builtin <<'END'
static void limit(int resource, rlim_t soft, rlim_t hard)
{
        struct rlimit now = {soft, hard};
        int status = setrlimit(resource, &now);
        getrlimit(resource, &now);
        printf("%d: %d, %ld %ld\n", resource, status, (long)now.rlim_cur,
               (long)now.rlim_max);
}
static void ask(void)
{
        char *start = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        printf("%d", malloc(64 << 20) != NULL);
        printf(" %d", malloc(1 << 30) != NULL);
        printf(" %d", start != MAP_FAILED);
        if (start != MAP_FAILED)
                printf(" %d", mremap(start, 4096, 1 << 30, MREMAP_MAYMOVE) != MAP_FAILED);
        printf(" %d\n", sbrk(1 << 30) != (void *)-1);
}
int main(int argc, char **argv)
{
        setvbuf(stdout, NULL, _IONBF, 0);
        if (argc > 1) {
                limit(RLIMIT_AS, 512 << 20, 768 << 20);
                ask();
                limit(RLIMIT_AS, 2, 1);
        }
        limit(RLIMIT_AS, 1 << 20, 1 << 20);
        ask();
        if (fork() == 0) {
                ask();
                limit(RLIMIT_AS, 1000, 1000);
                return 0;
        }
        wait(NULL);
        limit(RLIMIT_NOFILE, 16, 16);
        limit(RLIMIT_NOFILE, 17, 16);
        while (open("/dev/null", O_RDONLY) >= 0)
                ;
        printf("%d\n", errno);
        limit(RLIMIT_NOFILE, 0, 0);
        return 3;
}
END
for steps in "" more; do
        ends 3 ./limits $steps >out
        mv out alone
        ends 3 "$MEMLAG" record $SIM --force -o limits.db -- ./limits $steps >out
        diff alone out || { cat err >&2; fail "limits are not as alone"; }
done

# A sandbox is refused, as by a kernel without it, with a message. A program that tests for it finds
# it refused.
program sandbox <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
int main(int argc, char **argv)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog program = {4, code};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (argc > 1) /* asks only */
                return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1 ? errno : 0;
        int set = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
        if (!set && errno != EINVAL)
                return 1;
        if (!set && (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != -1 ||
                     errno != ENOSYS))
                return 2;
        int held = syscall(SYS_getppid) == -1;
        printf("%s\n", held == set ? "as it was told" : "not as it was told");
        return 0;
}
END
ends 0 ./sandbox >out
mv out alone
ends 0 "$MEMLAG" record $SIM --force -o sandbox.db -- ./sandbox >out
diff alone out || { cat err >&2; fail "a sandbox is not what the program was told"; }
[ "$(grep -c 'forbid itself system calls' err)" -eq 1 ] || fail "sandbox: $(cat err)"
holds sandbox.db 2 "SELECT value FROM ledger WHERE kind = 'sandboxes refused'"
ends 22 "$MEMLAG" record $SIM --force -o sandbox.db -- ./sandbox asks >out
! grep -q 'forbid itself system calls' err || fail "sandbox: $(cat err)"

# A standard descriptor that is closed stays so.
program closed <<'END'
int main(void)
{
        int open_ones = 0;
        for (int fd = 0; fd < 3; fd++)
                open_ones |= (fcntl(fd, F_GETFD) >= 0) << fd;
        return 10 + open_ones;
}
END
for closed in 11:'>&- 2>&-' 12:'<&- 2>&-' 14:'<&- >&-' 10:'<&- >&- 2>&-'; do
        status=0
        eval "\"\$MEMLAG\" record --force -o closed.db -- ./closed ${closed#*:}" || status=$?
        [ "$status" -eq "${closed%%:*}" ] || fail "${closed#*:}: status $status"
        holds closed.db ok 'PRAGMA integrity_check'
done

# If nobody can read the report, the status is still the target's: all of it was recorded.
"$MEMLAG" record $SIM -o unread.db -- true 2>/dev/full || fail "standard error on a full disk: status $?"
holds unread.db 1 "SELECT count(*) > 0 FROM line_finding WHERE
        (SELECT value FROM run WHERE key = 'state') = 'complete'"

# The user's settings for Valgrind have no effect.
VALGRIND_OPTS=--tool=none "$MEMLAG" record $SIM -o opts.db -- true 2>err
holds opts.db 1 'SELECT count(*) FROM process'

# The command is kept as a shell would read it.
"$MEMLAG" record $SIM -o quoted.db -- echo "it's" 'a b' plain '' >out 2>err
sh -c "$(sqlite3 quoted.db "SELECT value FROM run WHERE key = 'command'")" >again
head -n 1 out | cmp - again

# ---- what cannot be recorded ----
refused 127 "no such command in PATH" -- no-such-command
refused 127 "cannot run './missing': No such file" -- ./missing
refused 126 "is a directory" -- ./
echo text >plain
refused 126 "not executable" -- ./plain
chmod +x plain
refused 126 "neither an ELF program nor a script" -- ./plain
printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0' >program32
chmod +x program32
refused 126 "32-bit program" -- ./program32
if [ "$(id -u)" -ne 0 ]; then
        cp "$(command -v true)" unreadable
        chmod 111 unreadable
        refused 126 "not readable" -- ./unreadable
fi

# ---- options ----
refused 2 "no command given"
refused 2 "unrecognized option" --nonsense -- true
refused 2 "'0' is not a whole number" --period 0 -- true
refused 2 "not a whole number" --ldlat 30.5 -- true
refused 2 "there is no source 'nosuch'" --source nosuch -- true
refused 2 "no preset 'nosuch'; there are: .*skylake-sp" --sim-cpu nosuch -- true
refused 2 "did you mean 'dram.bandwidth_gbs'" --sim-set dram.bandwith_gbs=1 -- true
refused 2 "out of range" --sim-set core.count=0 -- true
refused 2 "divide into sets" --sim-set l2.ways=7 -- true

refused 2 "'--' is no FILE" -o -- true
refused 2 "'--force' is no FILE" -o --force -- true
refused 2 "'a b .db' is not a whole number" --period "$(printf 'a\nb\033.db')" -- true

# A name with control characters is a valid name; messages about it are one line.
odd=$(printf 'odd\nna\033me.db')
ends 0 "$MEMLAG" record $SIM -o "$odd" -- true >out
[ "$(sqlite3 "$odd" 'PRAGMA integrity_check')" = ok ]
grep -q '^memlag record: wrote odd na me.db (' err || fail "$(cat err)"

# All listed presets load; a changed copy is a preset, a broken one is refused. (Without this
# machine's calibration, which an older memlag may have made.)
export XDG_DATA_HOME=$PWD/share
"$MEMLAG" record $SIM --sim-cpu help >presets
grep -qx skylake-sp presets
while read -r preset; do
        "$MEMLAG" record $SIM --sim-cpu "$preset" --sim-list >list ||
                fail "the preset $preset does not load"
done <presets
"$MEMLAG" record $SIM --sim-list --sim-set dram.bandwidth_gbs=15 | grep -Eq '^dram.bandwidth_gbs +15 +GB/s'
# What must be whole has a range that begins with a whole number.
"$MEMLAG" record $SIM --sim-list | grep -Eq '^core.load_ports .* 1 to 16$'
refused 2 "give 1 to 16" --sim-set core.load_ports=0.1 -- true
"$MEMLAG" record $SIM --sim-list | awk 'NR > 1 { print $1, "=", $2 }' >mine.conf
"$MEMLAG" record $SIM --sim-cpu ./mine.conf -o mine.db -- true 2>err
holds mine.db mine "SELECT value FROM run WHERE key = 'sim_preset'"
sed -i 's/^l2.ways = .*/l2.ways = many/' mine.conf
refused 2 "mine.conf:[0-9]*: l2.ways: 'many' is not a number" --sim-cpu mine.conf -- true

# By time: a walk against the rows does little but wait, and the samples stand for it.
ends 0 "$MEMLAG" record $SIM --freq 20000 -o timed.db -- "$BINARY_DIR/examples/columns" >out
holds timed.db "1|1" "SELECT min(latency_cycles IS NULL AND stall_ns > 0), total(stall_ns) /
        (SELECT value FROM run WHERE key = 'duration_ns') BETWEEN 0.7 AND 1 FROM sample"
refused 1 'record without --ldlat' --freq 100 --ldlat 30 -- true

# If a sanitizer does not work simulated, a message says so before the program starts.
echo 'int main(void) { return 0; }' >sanitized.c
for kind in address leak; do
        "$CC" -fsanitize=$kind -o sanitized sanitized.c 2>/dev/null || continue
        refused 126 "-fsanitize=$kind" -- ./sanitized
        ends 0 "$MEMLAG" record --source clock --force -o clock.db -- ./sanitized >out
done
"$CC" -fsanitize=thread -o sanitized sanitized.c 2>/dev/null && record sanitized $SIM -- ./sanitized

# ---- the output file ----
refuses 1 'exit.db exists' "$MEMLAG" record $SIM -o exit.db -- true
holds exit.db 7 "SELECT value FROM run WHERE key = 'exit_status'"
ends 0 "$MEMLAG" record $SIM --force -o exit.db -- true >out
ends 1 "$MEMLAG" record $SIM --force -o bytes -- true >out
head -c 1000000 copied | cmp - bytes # what is no database is never replaced
: >hollow # an empty file is replaced, too, but not without being told
ends 1 "$MEMLAG" record $SIM -o hollow -- true >out
[ ! -s hollow ] || fail "an empty file is written without --force"
ends 0 "$MEMLAG" record $SIM --force -o hollow -- true >out
holds hollow true "SELECT value FROM run WHERE key = 'command'"
ends 1 "$MEMLAG" record $SIM -o nowhere/run.db -- true >out

# ---- an instruction that the engine does not know ----
program evex <<'END'
int main(void)
{
        puts("before");
        fflush(stdout);
        __asm__ volatile(".byte 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0"); /* vaddps zmm */
        return 0;
}
END
refuses 132 ' vaddps (AVX512F_512) at .*/evex+0x' "$MEMLAG" record $SIM -o evex.db -- ./evex
grep -qx before out
# The same in memory that is of no file.
program made <<'EOF'
int main(void)
{
        static const unsigned char code[] = {0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0, 0xc3};
        void *page = mmap((void *)0x7e0000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        memcpy(page, code, sizeof(code));
        ((void (*)(void))page)();
        return 0;
}
EOF
"$MEMLAG" record $SIM -o made.db -- ./made 2>err || true
grep -q ' vaddps (AVX512F_512) at address 0x7e0000000;' err || fail "code of no file: $(cat err)"

# ---- a file that the engine cannot read ----
# Names of symbols that lie outside: the kernel does not look at them, the engine gives up.
cat >spoil.py <<'END'
import struct, sys
elf = bytearray(open(sys.argv[1], "rb").read())
(sections,) = struct.unpack_from("<Q", elf, 0x28)
(count,) = struct.unpack_from("<H", elf, 0x3C)
for header in range(sections, sections + 64 * count, 64):
    kind, = struct.unpack_from("<I", elf, header + 4)
    offset, size = struct.unpack_from("<QQ", elf, header + 24)
    if kind == 2:  # SHT_SYMTAB
        for symbol in range(offset, offset + size, 24):
            struct.pack_into("<I", elf, symbol, 0x7FFFFFF0)
open(sys.argv[2], "wb").write(elf)
END
python3 spoil.py evex spoiled
chmod +x spoiled
refuses 1 '^memlag record: the simulated PMU failed: .*spoiled' "$MEMLAG" record $SIM -o spoiled.db -- ./spoiled

# Debug information that the engine knows nothing of does not matter: DWARF 5 with split
# units and with type units.
cat >fine.c <<'END'
struct pair { long a, b; } pair;
int main(void) { puts("fine"); return (int)pair.a; }
END
for option in -gsplit-dwarf -fdebug-types-section; do
        compile -gdwarf-5 $option -o fine fine.c
        ends 0 "$MEMLAG" record $SIM --force -o fine.db -- ./fine >out
        grep -qx fine out || fail "$option: $(cat err)"
done

# The engine's own log stays inside, also when the target misbehaves.
"$MEMLAG" record $SIM -o quiet.db -- sh -c 'exec 3>&-; kill -SEGV $$' >out 2>err || true
! grep -q '==[0-9]*==' err || fail "the engine's log came out: $(cat err)"
