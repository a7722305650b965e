# A variable is of the function that declares it, also where that is inlined.
cat >inlined.c <<'END'
#include <stdlib.h>
static inline __attribute__((always_inline)) long count_up(int times)
{
        volatile long table[4096] = {0};
        long sum = 0;
        for (int i = 0; i < times; i++)
                sum += table[(unsigned)rand() % 4096]++;
        return sum;
}
int main(void)
{
        volatile long own[64];
        long sum = 0;
        for (int i = 0; i < 64000; i++)
                sum += own[i % 64] = i;
        return count_up(100000) + sum == 7;
}
END
gcc -O2 -g -o inlined inlined.c
"$MEMLAG" record -o inlined.db --source sim --stores --ldlat 1 --period 53 -- ./inlined >inlined.out 2>&1 ||
        fail "inlined: $(cat inlined.out)"
names=$(answer inlined.db "SELECT DISTINCT name FROM data_object WHERE name LIKE '%::table'
        OR name LIKE '%::own' ORDER BY name")
[ "$names" = "$(printf 'count_up::table\nmain::own')" ] || fail "inlined: $names"
