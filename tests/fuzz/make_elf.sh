#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes inputs of the targets elf, split, dwz and mini_debug: make_elf.sh CORPUS. Programs of a
# few kilobytes by gcc and clang.
set -eu
rm -rf "$1/programs"
mkdir -p "$1/programs"
cd "$1/programs"
cat >small.c <<'END'
struct node { struct node *next; union { int i; double d; } u[2]; unsigned bit : 3; };
struct node nodes[4];
static int count;
static inline int inner(struct node *at) { return at->next ? at->next->bit + ++count : 0; }
__attribute__((noinline)) static int outer(struct node *at) { return inner(at) + 1; }
int work(int n) { return outer(&nodes[n & 3]) + inner(&nodes[0]); }
END
mkdir -p elf split dwz mini_debug
link='-O2 -nostdlib -shared -fPIC -Wl,--build-id=none,-z,noseparate-code,-n small.c'
for compiler in gcc clang; do
        for version in 3 4 5; do
                $compiler -g -gdwarf-$version $link -o elf/$compiler-$version
        done
        for version in 4 5; do
                $compiler -g -gdwarf-$version -gsplit-dwarf $link -o split.so
                id=$(readelf --debug-dump=info split.so |
                        sed -n 's/.*\(dwo_id\|DWO ID\) *: *0x\([0-9a-f]*\).*/\2/p' | head -1)
                python3 -c "import sys; sys.stdout.buffer.write(int('$id', 16).to_bytes(8, 'little'))" \
                        >id
                cat id ./*.dwo >split/$compiler-$version
                if [ $version = 4 ]; then
                        llvm-dwp -e split.so -o split.dwp
                        cat id split.dwp >split/$compiler-package
                fi
                rm -f ./*.dwo
        done
done
# One with stubs of the linkage table.
echo 'int other(int); int work(int n) { return other(n) + 1; }' >stubs.c
gcc -O2 -nostdlib -shared -fPIC -Wl,--build-id=none,-z,noseparate-code,-n stubs.c -o elf/gcc-stubs
# Common blocks in each other, which no compiler makes.
cat >blocks.c <<'END'
int total;
int work(int n) { { static int outer; { static int inner; inner += n; outer += inner; } total += outer; } return total; }
END
gcc -O0 -g -dA -S -fPIC "-fdebug-prefix-map=$PWD=." blocks.c
sed -i '/TAG: DW_TAG_lexical_block/s/0xb/0x1a/' blocks.s
gcc -O0 -nostdlib -shared -fPIC -Wl,--build-id=none,-z,noseparate-code,-n blocks.s -o elf/gcc-blocks
# The signature of a type that refers to others, and a package of their units.
cat >types.cc <<'END'
struct inner { int i; }; struct outer { inner x; double d; };
struct node { node *next; union { int i; double d; } u[2]; outer both; unsigned bit : 3; };
node nodes[4];
int work(int n) { return nodes[n & 3].bit; }
END
for version in 4 5; do
        gcc -c -g -O2 -gdwarf-$version -gsplit-dwarf -fdebug-types-section types.cc
        llvm-dwp -o split.dwp types.dwo
        id=$(llvm-dwarfdump --debug-tu-index split.dwp |
                sed -n 's/^ *[0-9]* 0x\([0-9a-f]*\) \[0x0*, .*/\1/p')
        python3 -c "import sys; sys.stdout.buffer.write(int('$id', 16).to_bytes(8, 'little'))" >id
        cat id split.dwp >split/types-$version
done
# Two programs with one header. dwz moves its debug information to a separate file.
for i in 1 2 3 4 5 6; do
        echo "struct shared_$i { int first_of_$i; struct shared_$i *next_of_$i; char text[1$i]; };"
        echo "struct shared_$i variable_of_$i;"
        echo "static inline int inlined_$i(struct shared_$i *p) { return p->first_of_$i; }"
done >common.h
for version in 4 5; do
        for program in one other; do
                printf '#include "common.h"\nint %s(void) { return inlined_1(&variable_of_1); }\n' \
                        $program >$program.c
                gcc -g -gdwarf-$version -O2 -nostdlib -shared -fPIC -Wl,--build-id,-z,noseparate-code,-n \
                        -o $program $program.c
        done
        rm -f common.debug
        dwz -m common.debug one other
        python3 - one common.debug >dwz/gcc-$version <<'END'
import sys
program, common = (open(path, "rb").read() for path in sys.argv[1:])
sys.stdout.buffer.write(len(program).to_bytes(2, "little") + program + common)
END
done
gcc -g -gz $link -o elf/compressed
strip -o symbols --strip-debug elf/gcc-4
xz -k symbols
cp symbols.xz mini_debug/symbols
strip -o elf/packed elf/gcc-4
objcopy --add-section .gnu_debugdata=symbols.xz elf/packed
cp -r elf split dwz mini_debug ..
rm -r "$PWD"
