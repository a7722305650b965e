/* SPDX-License-Identifier: MIT */
/* Each case of a switch, or both sides of a choice, read a member of a union. The compiler
 * moves the load before them. The use in one case shows nothing about the others. */
struct message {
        uint32_t kind, from;
        union { uint64_t index, last; double lag; } u;
        struct message *next;
};
static struct message *queue;
static uint64_t table[4096];
static volatile double result;
__attribute__((noinline)) static double step(void)
{
        double lags = 0;
        uint64_t sum = 0;
        for (struct message *m = queue; m; m = m->next)
                switch (m->kind) {
                case 0: sum += table[m->u.index * 3]; break;
                case 1: sum += m->u.last; table[m->from]++; break;
                default: lags += m->u.lag; sum ^= m->from;
                }
        return lags + (double)sum;
}
__attribute__((noinline)) static double lags(void)
{
        double sum = 0;
        for (struct message *m = queue; m; m = m->next)
                if (m->kind == 2)
                        sum += m->u.lag;
        return sum;
}
__attribute__((noinline)) static double choice(void)
{
        double sum = 0;
        for (struct message *m = queue; m; m = m->next)
                sum += m->kind == 2 ? m->u.lag : (double)(int64_t)m->u.last;
        return sum;
}
int main(void)
{
        for (int i = 0; i < 6000; i++) {
                struct message *m = malloc(sizeof *m);
                m->kind = i % 3;
                m->from = i & 7;
                if (m->kind == 2)
                        m->u.lag = i;
                else
                        m->u.index = i % 1000;
                m->next = queue;
                queue = m;
        }
        for (int i = 0; i < 20; i++)
                result += step() + lags() + choice();
        return 0;
}
