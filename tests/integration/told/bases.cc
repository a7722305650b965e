/* SPDX-License-Identifier: MIT */
/* A cast from the second base class keeps the null pointer by a conditional move. The pointers
 * to the base and to the object around it are no two items of an array. */
template <int Tag> struct Hook { Hook *next, *prev; };
struct Task : Hook<0>, Hook<1> { unsigned long id; double cost; unsigned state, priority; };
static Hook<1> all = {&all, &all};
static volatile unsigned long result;
__attribute__((noinline)) static unsigned long walk()
{
        unsigned long sum = 0;
        for (Hook<1> *h = all.next; h != &all; h = h->next)
                sum += static_cast<Task *>(h)->priority;
        return sum;
}
int main()
{
        for (int i = 0; i < 3000; i++) {
                Task *task = new Task();
                Hook<1> *h = task;
                h->next = all.next;
                all.next = h;
        }
        for (int i = 0; i < 20; i++)
                result += walk();
}
