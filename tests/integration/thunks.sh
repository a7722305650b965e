#!/bin/sh
# SPDX-License-Identifier: MIT
# g++ makes thunks, which turn a pointer to a base class into a pointer to the object. They are
# named as thunks, with the virtual function's file. Their accesses have a reason for their missing
# type.
. "$SOURCE_DIR/tests/integration/library.sh"

cat >thunks.cc <<'END'
struct base { virtual long first(long) = 0; virtual ~base() {} long a = 1; };
struct other { virtual long second(long) = 0; virtual ~other() {} long b = 2; };
struct middle : virtual base { virtual long third(long x) { return x; } long c = 3; };
struct object : middle, other {
        long first(long x) override;
        long second(long x) override;
        long d = 4, rest[8];
};
long object::first(long x) { return x + d; }
long object::second(long x) { return x * d; }
enum { COUNT = 4000 };
static base *bases[COUNT];
static other *others[COUNT];
__attribute__((noinline)) static long sum()
{
        long sum = 0;
        for (int i = 0; i < COUNT; i++)
                sum += bases[i]->first(i) + others[i]->second(i);
        return sum;
}
int main()
{
        for (int i = 0; i < COUNT; i++) {
                object *made = new object;
                bases[i * 7919L % COUNT] = made;
                others[i * 7919L % COUNT] = made;
        }
        long all = 0;
        for (int i = 0; i < 10; i++)
                all += sum();
        return all == 0;
}
END
g++ -g -O2 -fno-devirtualize-speculatively -o thunks thunks.cc
record thunks $LOADS --ldlat 1 --period 37 -- ./thunks
holds thunks.db "non-virtual thunk to object::second(long)|thunks.cc|1
virtual thunk to object::first(long)|thunks.cc|1" "SELECT function, replace(file, rtrim(file, replace(file, '/', '')), ''),
        count(*) > 100 FROM sample_view WHERE function LIKE '%thunk to%'
        AND object_kind = 'heap' GROUP BY 1, 2"
holds thunks.db "thunk of a virtual function|1" "SELECT reason, count(*) > 100 FROM unresolved_view
        JOIN sample_view USING (sample_id) WHERE subject = 'type' AND function LIKE '%thunk to%'
        AND object_kind = 'heap' GROUP BY 1"
