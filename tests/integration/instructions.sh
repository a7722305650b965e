#!/bin/sh
# SPDX-License-Identifier: MIT
# The database has the instructions of samples: their text is objdump's, and the access size is the
# one that the program has beside each. They no longer need the file.
. "$SOURCE_DIR/tests/integration/library.sh"

# Behind each instruction that accesses memory, how many bytes.
cat >wide.s <<'END'
	.globl main
	.text
main:	lea buffer(%rip),%rsi
	lea buffer+4096(%rip),%rdi
	mov $400,%ecx
1:	movzbl (%rsi),%eax		# 1
	movzwl (%rsi),%eax		# 2
	mov (%rsi),%eax			# 4
	mov 8(%rsi),%rax		# 8
	movss (%rsi),%xmm0		# 4
	movsd (%rsi),%xmm0		# 8
	movups (%rsi),%xmm0		# 16
	movdqa buffer(%rip),%xmm0	# 16
	movlps (%rsi),%xmm0		# 8
	cvtsi2sdl (%rsi),%xmm0		# 4
	fldt (%rsi)			# 10
	fstp %st(0)
	fldl (%rsi)			# 8
	fstp %st(0)
	addl $1,(%rsi)			# 4
	addq $1,(%rsi)			# 8
	orb $1,(%rsi)			# 1
	cmpw $1,(%rsi)			# 2
	lock xaddl %eax,(%rsi)		# 4
	push (%rsi)			# 8
	pop %rax			# 8
	movsl				# 4
	movsb				# 1
	lodsq				# 8
	call f
	sub $13,%rsi
	sub $5,%rdi
	dec %ecx
	jnz 1b
	xor %eax,%eax
	ret				# once, # 8
f:	ret				# 8
	.bss
	.balign 64
buffer:	.space 8192
	.section .note.GNU-stack,"",@progbits
END
"$CC" -g wide.s -o wide
record wide $LOADS --ldlat 1 --period 7 --no-heap -- ./wide
objdump -d --no-show-raw-insn wide >objdump.txt
python <<'END' || fail "instructions"
def plain(text):
    return re.sub(r"\s+", " ", re.sub(r"\s*[#<].*", "", text)).strip()

objdump = {int(m[1], 16): plain(m[2]) for m in re.finditer(r"^ *([0-9a-f]+):\t(.*)$", open("objdump.txt").read(), re.M)}
source = open("wide.s").read().split("\n")
rows = sqlite3.connect("file:wide.db?mode=ro", uri=True).execute(
    "SELECT DISTINCT address_offset, instruction, access_bytes, line FROM sample_view"
    " WHERE file LIKE '%wide.s'").fetchall()
for offset, text, size, line in rows:
    assert plain(text) == objdump[offset], (text, objdump[offset])
    assert source[line - 1].endswith(f"# {size}"), (text, size, source[line - 1])
marked = {n + 1: text for n, text in enumerate(source) if re.search(r"# \d+$", text)}
# What runs once may have a sample by chance.
wanted = {line for line, text in marked.items() if "once" not in text}
assert wanted <= {row[3] for row in rows} <= set(marked), wanted ^ {row[3] for row in rows}
END
# One row for each sampled place, and none for places of stacks alone.
expect "places of samples" "$(answer wide.db "SELECT count(*) FROM instruction")" \
        "$(answer wide.db "SELECT count(DISTINCT location_id) FROM sample_location
                JOIN code_location USING (location_id) WHERE module_id IS NOT NULL")"
"$MEMLAG" query --name instructions --format csv wide.db >query.csv
expect "the first of the library's query" \
        "$(sqlite3 ':memory:' ".import --csv query.csv q" "SELECT address, instruction, access_bytes, samples, L1 FROM q LIMIT 1")" \
        "$(answer wide.db "SELECT printf('%x', address_offset), instruction, access_bytes, count(*), sum(level = 'L1')
                FROM sample_view GROUP BY module, address_offset ORDER BY sum(latency_cycles) DESC LIMIT 1")"

# Without the file nothing is lost, until names are made again without it. An earlier memlag stored
# no instructions: they then come from the file.
"$MEMLAG" annotate --source-path . -i wide.db --format csv wide.s >before
changed wide.db early.db "DROP TABLE instruction"
"$MEMLAG" annotate --source-path . -i early.db --format csv wide.s 2>err >early || fail "an early recording: $(cat err)"
grep -q "by an earlier memlag" err || fail "of an early recording it says: $(cat err)"
texts() { /usr/bin/python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row["kind"], row["address_offset"], row["instruction"], row["samples"])' "$1"; }
texts before >before.texts && texts early >early.texts
[ "$(grep -c "^instruction" before.texts)" -gt 20 ] || fail "few instructions: $(cat before.texts)"
cmp before.texts early.texts || fail "instructions of an early recording"
mv wide moved
"$MEMLAG" annotate --source-path . -i wide.db --format csv wide.s >after 2>err
cmp before after || fail "instructions without the file"
expect "what is said without the file" "$(cat err)" ""
"$MEMLAG" symbolize --drop-names wide.db 2>/dev/null
expect "instructions of no file" "$(answer wide.db "SELECT count(instruction), count(access_bytes) FROM sample_view WHERE module LIKE '%/wide'")" "0|0"
