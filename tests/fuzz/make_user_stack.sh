#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes inputs of the fuzz target 'user_stack': make_user_stack.sh CORPUS. Small libraries
# whose unwind tables have all that the unwinder reads.
set -eu
mkdir -p "$1/user_stack"
cd "$1/user_stack"
cat >functions.c <<'EOF'
int leaf(int *p) { return *p + 1; }
int deep(int *p) { volatile char room[200]; room[*p] = 1; return leaf(p) + room[3]; }
int saves(int *p, int (*f)(int *)) { int a = f(p), b = f(p + 1), c = f(p + 2); return a * b + c + f(p); }
int any_size(int n, int (*f)(int *)) { int room[n]; return f(room) + room[n - 1]; }
int realigned(int (*f)(int *)) { _Alignas(64) int room[16]; return f(room); }
__asm__(".text\n.type trampoline,@function\ntrampoline:\n.cfi_startproc\n.cfi_signal_frame\n"
        ".cfi_escape 0x0f,4,0x77,0xa0,1,0x06\n.cfi_escape 0x10,16,3,0x77,0xa8,1\n"
        ".cfi_escape 0x10,6,2,0x77,0x78\n.cfi_escape 0x16,3,4,0x70,8,0x31,0x22\n"
        "mov $15,%eax\nsyscall\n.cfi_endproc\n.size trampoline,.-trampoline\n"
        ".type stub,@function\nstub:\n.cfi_startproc\n"
        ".cfi_escape 0x0f,11,0x77,8,0x80,0,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22\n"
        ".cfi_remember_state\nnop\n.cfi_def_cfa rbp,16\n.cfi_register rip,rbx\nnop\n"
        ".cfi_restore_state\nret\n.cfi_endproc\n.size stub,.-stub\n");
EOF
make()
{
        name=$1
        shift
        gcc -shared -fPIC -nostdlib -Wl,--build-id=none,-z,noseparate-code "$@" -o library functions.c
        objcopy --strip-unneeded --keep-section .debug_frame library
        # The words of the stack: addresses in the code, and few on the stack.
        { seq 64 | LC_ALL=C awk '{ printf "%c%c%c%c", 1 + $1 * 36 % 128, 10 + $1 % 3, 0, 0 }'; cat library; } >"$name"
}
make optimised -O2
make frame_pointers -O1 -fno-omit-frame-pointer
make no_header -O2 -Wl,--no-eh-frame-hdr
make for_debuggers -O2 -fno-asynchronous-unwind-tables -g1
rm library functions.c
