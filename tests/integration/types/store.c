/* SPDX-License-Identifier: MIT */
/* Reads memory as a store of objects in C keeps it: entries of variable length that are
 * in a list by their use and in a hash table by their key, a tree whose links hold a
 * colour, a lock-free list's marked links, messages of segments, files whose operations
 * and private data differ, and slabs of connections with a bit map. */
#include <stdint.h>
#include <string.h>

#include "truth.h"

#define NOINLINE ONE_FUNCTION

#define container_of(at, type, member) ((type *)((char *)(at)-offsetof(type, member)))

enum { COUNT = 300, ROUNDS = 20, BUCKETS = 128, SEGMENTS = 5, SLAB = 16 };

static volatile uint64_t result;

struct link {
        struct link *next, *prev;
};

static void put_last(struct link *head, struct link *link)
{
        link->prev = head->prev;
        link->next = head;
        head->prev->next = link;
        head->prev = link;
}

/* ---- entries of variable length ---- */

struct bucket_link {
        struct bucket_link *next, **before;
};

struct entry {
        struct link used;
        struct bucket_link hash;
        uint64_t key;
        unsigned holders : 20, dirty : 1, state : 3;
        unsigned length;
        short bytes[];
};

struct cache {
        struct link used;
        unsigned count;
        struct bucket_link *buckets[BUCKETS];
};

static struct cache cache;

static size_t entry_bytes(unsigned length)
{
        return sizeof(struct entry) + length * sizeof(short);
}

NOINLINE static struct entry *make_entry(uint64_t key, unsigned length)
{
        struct entry *entry = calloc(1, entry_bytes(length));
        struct bucket_link **bucket = &cache.buckets[key % BUCKETS];

        entry->key = key;
        entry->length = length;
        entry->state = key % 5;
        entry->hash.next = *bucket;
        entry->hash.before = bucket;
        if (*bucket)
                (*bucket)->before = &entry->hash.next;
        *bucket = &entry->hash;
        put_last(&cache.used, &entry->used);
        cache.count++;
        return entry;
}

NOINLINE static struct entry *find_entry(uint64_t key)
{
        for (struct bucket_link *at = cache.buckets[key % BUCKETS]; at; at = at->next) {
                struct entry *entry = container_of(at, struct entry, hash);

                if (entry->key == key)
                        return entry;
        }
        return NULL;
}

NOINLINE static long sum_used(void)
{
        long sum = 0;

        for (struct link *at = cache.used.next; at != &cache.used; at = at->next) {
                struct entry *entry = container_of(at, struct entry, used);

                if (entry->dirty)
                        continue;
                sum += entry->state;
                for (unsigned i = 0; i < entry->length; i++)
                        sum += entry->bytes[i];
        }
        return sum;
}

/* ---- a tree with a colour in each link to the parent ---- */

struct branch {
        uintptr_t parent_and_colour;
        struct branch *left, *right;
};

struct area {
        unsigned long start, end;
        struct branch branch;
        unsigned long gap;
        const char *what;
};

NOINLINE static struct area *make_area(unsigned long start)
{
        struct area *area = malloc(sizeof(*area));

        *area = (struct area){.start = start, .end = start + 8, .gap = start % 3};
        return area;
}

static void put_area(struct branch **root, struct area *area)
{
        struct branch **at = root, *parent = NULL;

        while (*at) {
                parent = *at;
                at = area->start < container_of(parent, struct area, branch)->start
                         ? &parent->left
                         : &parent->right;
        }
        area->branch.parent_and_colour = (uintptr_t)parent | (area->start & 1);
        *at = &area->branch;
}

NOINLINE static struct area *find_area(struct branch *at, unsigned long where)
{
        while (at) {
                struct area *area = container_of(at, struct area, branch);

                if (where < area->start)
                        at = at->left;
                else if (where >= area->end)
                        at = at->right;
                else
                        return area;
        }
        return NULL;
}

NOINLINE static int count_up(struct area *area)
{
        int depth = 0;
        struct branch *at = &area->branch;

        while ((at = (struct branch *)(at->parent_and_colour & ~(uintptr_t)3)))
                depth += 1 + (int)container_of(at, struct area, branch)->gap;
        return depth;
}

/* ---- marked links ---- */

struct ticket {
        uintptr_t next_and_mark;
        int number;
        float price;
};

NOINLINE static struct ticket *make_tickets(void)
{
        struct ticket *first = NULL;

        for (int i = 0; i < COUNT; i++) {
                struct ticket *ticket = malloc(sizeof(*ticket));

                ticket->next_and_mark = (uintptr_t)first | (i % 4 == 0);
                ticket->number = i;
                ticket->price = (float)i;
                first = ticket;
        }
        return first;
}

NOINLINE static double sum_tickets(const struct ticket *ticket)
{
        double sum = 0;

        while (ticket) {
                uintptr_t next = ticket->next_and_mark;

                if (!(next & 1))
                        sum += ticket->price;
                sum += ticket->number;
                ticket = (const struct ticket *)(next & ~(uintptr_t)1);
        }
        return sum;
}

/* ---- messages of segments ---- */

struct segment {
        unsigned offset, length;
        void *base;
};

struct message {
        int count;
        short kind;
        struct segment segments[];
};

NOINLINE static struct message **make_messages(void)
{
        struct message **all = malloc(COUNT * sizeof(*all));

        for (int i = 0; i < COUNT; i++) {
                int count = 1 + i % SEGMENTS;

                all[i] =
                    calloc(1, sizeof(**all) + (size_t)count * sizeof(struct segment));
                all[i]->count = count;
                for (int j = 0; j < count; j++)
                        all[i]->segments[j].length = (unsigned)(i + j);
        }
        return all;
}

NOINLINE static unsigned long sum_messages(struct message **all)
{
        unsigned long sum = 0;

        for (int i = 0; i < COUNT; i++) {
                const struct message *message = all[i];

                for (int j = 0; j < message->count; j++)
                        sum += message->segments[j].length +
                               (message->segments[j].base != NULL);
                sum += (unsigned long)message->kind;
        }
        return sum;
}

/* ---- files ---- */

struct file;

struct operations {
        const char *name;
        long (*read)(struct file *file, long bytes);
        long (*tell)(const struct file *file);
};

struct file {
        const struct operations *operations;
        void *own;
        long place;
        int holders;
};

struct pipe {
        long readers, writers;
        int head, tail;
};

struct socket {
        int family, protocol;
        double rate;
        struct pipe *to;
};

static long pipe_read(struct file *file, long bytes)
{
        struct pipe *pipe = file->own;

        file->place += bytes;
        return pipe->head - pipe->tail + pipe->writers;
}

static long pipe_tell(const struct file *file)
{
        const struct pipe *pipe = file->own;

        return file->place + pipe->readers;
}

static long socket_read(struct file *file, long bytes)
{
        struct socket *socket = file->own;

        file->place += bytes + socket->to->head;
        return socket->family + (long)socket->rate;
}

static long socket_tell(const struct file *file)
{
        return ((const struct socket *)file->own)->protocol + file->place;
}

static const struct operations pipe_operations = {"pipe", pipe_read, pipe_tell};
static const struct operations socket_operations = {"socket", socket_read, socket_tell};

NOINLINE static struct pipe *make_pipe(void)
{
        struct pipe *pipe = calloc(1, sizeof(*pipe));

        pipe->writers = 1; /* the last call would be a jump */
        return pipe;
}

NOINLINE static struct socket *make_socket(struct pipe *to)
{
        struct socket *socket = calloc(1, sizeof(*socket));

        socket->to = to;
        return socket;
}

NOINLINE static struct file *make_file(int i)
{
        struct file *file = calloc(1, sizeof(*file));

        file->operations = i % 2 ? &pipe_operations : &socket_operations;
        file->own = make_pipe();
        if (i % 2 == 0)
                file->own = make_socket(file->own);
        return file;
}

NOINLINE static long read_files(struct file **files)
{
        long sum = 0;

        for (int i = 0; i < COUNT; i++)
                sum += files[i]->operations->read(files[i], i) +
                       files[i]->operations->tell(files[i]);
        return sum;
}

/* ---- slabs ---- */

struct connection {
        struct link all;
        uint64_t sent, received;
        unsigned short port, flags;
        unsigned char address[12];
};

struct slab {
        struct slab *next;
        uint32_t free;
        struct connection connections[SLAB];
};

NOINLINE static struct slab *make_slabs(struct link *head)
{
        struct slab *first = NULL;

        for (int i = 0; i < COUNT / SLAB; i++) {
                struct slab *slab = calloc(1, sizeof(*slab));

                slab->free = 0x5a5a;
                slab->next = first;
                first = slab;
                for (int j = 0; j < SLAB; j++)
                        if (!(slab->free >> j & 1))
                                put_last(head, &slab->connections[j].all);
        }
        return first;
}

NOINLINE static uint64_t sum_slabs(const struct slab *slab)
{
        uint64_t sum = 0;

        for (; slab; slab = slab->next)
                for (int i = 0; i < SLAB; i++)
                        if (!(slab->free >> i & 1))
                                sum +=
                                    slab->connections[i].sent + slab->connections[i].port;
        return sum;
}

NOINLINE static uint64_t sum_connections(const struct link *head)
{
        uint64_t sum = 0;

        for (const struct link *at = head->next; at != head; at = at->next) {
                const struct connection *c = container_of(at, struct connection, all);

                sum += c->received + c->flags + c->address[3];
        }
        return sum;
}

/* ---- the truth ---- */

/* Without optimisation a link is read by a pointer to links. */
#define IN_LINK(tag, links, type, member)                                                \
        truth_field("struct " #tag, #links "." #member,                                  \
                    offsetof(struct tag, links.member), 8, "struct~" #type ":" #member)

static void say_fields(void)
{
        IN_LINK(entry, used, link, next);
        IN_LINK(entry, used, link, prev);
        IN_LINK(entry, hash, bucket_link, next);
        IN_LINK(entry, hash, bucket_link, before);
        TRUTH_FIELD(entry, key);
        truth_field("struct entry", "holders|dirty|state",
                    offsetof(struct entry, length) - 4, 4,
                    "struct~entry:holders struct~entry:dirty struct~entry:state "
                    "struct~entry:dirty|state struct~entry:holders|dirty");
        TRUTH_FIELD(entry, length);
        truth_field("struct entry", "bytes[]", offsetof(struct entry, bytes), 4096, "");
        TRUTH_FIELD(area, start);
        TRUTH_FIELD(area, end);
        IN_LINK(area, branch, branch, parent_and_colour);
        IN_LINK(area, branch, branch, left);
        IN_LINK(area, branch, branch, right);
        TRUTH_FIELD(area, gap);
        TRUTH_FIELD(ticket, next_and_mark);
        TRUTH_FIELD(ticket, number);
        TRUTH_FIELD(ticket, price);
        TRUTH_FIELD(message, count);
        TRUTH_FIELD(message, kind);
        for (size_t i = 0; i < SEGMENTS; i++) {
                size_t at =
                    offsetof(struct message, segments) + i * sizeof(struct segment);

                truth_field("struct message", "segments[].offset", at, 4,
                            "struct~segment:offset");
                truth_field("struct message", "segments[].length", at + 4, 4,
                            "struct~segment:length");
                truth_field("struct message", "segments[].base", at + 8, 8,
                            "struct~segment:base");
        }
        TRUTH_FIELD(file, operations);
        TRUTH_FIELD(file, own);
        TRUTH_FIELD(file, place);
        TRUTH_FIELD(pipe, readers);
        TRUTH_FIELD(pipe, writers);
        TRUTH_FIELD(pipe, head);
        TRUTH_FIELD(pipe, tail);
        TRUTH_FIELD(socket, family);
        TRUTH_FIELD(socket, protocol);
        TRUTH_FIELD(socket, rate);
        TRUTH_FIELD(socket, to);
        TRUTH_FIELD(operations, name);
        TRUTH_FIELD(operations, read);
        TRUTH_FIELD(operations, tell);
        TRUTH_FIELD(slab, next);
        TRUTH_FIELD(slab, free);
        TRUTH_FIELD(cache, count);
        TRUTH_FIELD(cache, used.next);
        TRUTH_FIELD(cache, used.prev);
        truth_field("struct cache", "buckets[]", offsetof(struct cache, buckets),
                    sizeof(cache.buckets), "");
}

#define IN_SLAB(i, member, bytes, also)                                                  \
        truth_field("struct slab", "connections[]." #member,                             \
                    offsetof(struct slab, connections) +                                 \
                        (i) * sizeof(struct connection) +                                \
                        offsetof(struct connection, member),                             \
                    bytes, "struct~connection:" #member also)

static void say_slabs(const struct slab *slab)
{
        for (size_t i = 0; i < SLAB; i++) {
                IN_SLAB(i, all.next, 8, " struct~link:next");
                IN_SLAB(i, all.prev, 8, " struct~link:prev");
                IN_SLAB(i, sent, 8, "");
                IN_SLAB(i, received, 8, "");
                IN_SLAB(i, port, 2, "");
                IN_SLAB(i, flags, 2, "");
                truth_field("struct slab", "connections[].address[]",
                            offsetof(struct slab, connections) +
                                i * sizeof(struct connection) +
                                offsetof(struct connection, address),
                            12, "struct~connection:address[]");
        }
        for (; slab; slab = slab->next)
                truth_object("heap", "make_slabs at ", "struct slab", slab, sizeof(*slab),
                             1, "*");
}

static void say_file(const struct file *file, int i)
{
        const struct pipe *pipe = file->own;

        truth_object("heap", "make_file at ", "struct file", file, sizeof(*file), 1, "*");
        if (i % 2 == 0) {
                const struct socket *socket = file->own;

                truth_object("heap", "make_socket at ", "struct socket", socket,
                             sizeof(*socket), 1, "*");
                pipe = socket->to;
        }
        truth_object("heap", "make_pipe at ", "struct pipe", pipe, sizeof(*pipe), 1, "*");
}

int main(void)
{
        struct file *files[COUNT];
        struct branch *root = NULL;
        struct area *areas[COUNT];
        struct link connections = {&connections, &connections};

        truth_open();
        say_fields();
        cache.used.next = cache.used.prev = &cache.used;
        truth_object("global", "cache", "struct cache", &cache, sizeof(cache), 1, "*");
        truth_object("global", "pipe_operations", "struct operations", &pipe_operations,
                     sizeof(pipe_operations), 1, "*");
        truth_object("global", "socket_operations", "struct operations",
                     &socket_operations, sizeof(socket_operations), 1, "*");
        for (int i = 0; i < COUNT; i++) {
                struct entry *entry = make_entry((uint64_t)i * 7, 1 + (unsigned)i % 9);

                truth_object("heap", "make_entry at ", "struct entry", entry,
                             entry_bytes(entry->length), 1, "*");
                areas[i] = make_area((unsigned long)(i * 37 % COUNT) * 8);
                put_area(&root, areas[i]);
                truth_object("heap", "make_area at ", "struct area", areas[i],
                             sizeof(*areas[i]), 1, "*");
                files[i] = make_file(i);
                say_file(files[i], i);
        }
        struct ticket *tickets = make_tickets();
        struct message **messages = make_messages();
        struct slab *slabs = make_slabs(&connections);

        for (struct ticket *t = tickets; t;
             t = (struct ticket *)(t->next_and_mark & ~(uintptr_t)1))
                truth_object("heap", "make_tickets at ", "struct ticket", t, sizeof(*t),
                             1, "*");
        for (int i = 0; i < COUNT; i++)
                truth_object("heap", "make_messages at ", "struct message", messages[i],
                             sizeof(*messages[i]) +
                                 (size_t)messages[i]->count * sizeof(struct segment),
                             1, "*");
        truth_object("heap", "make_messages at ", "struct message *", messages, 8, COUNT,
                     "*");
        say_slabs(slabs);
        for (int i = 0; i < ROUNDS; i++) {
                uint64_t sum = (uint64_t)(sum_used() + read_files(files)) +
                               sum_messages(messages) + sum_slabs(slabs) +
                               sum_connections(&connections) +
                               (uint64_t)sum_tickets(tickets);

                for (int j = 0; j < COUNT; j++) {
                        const struct entry *entry = find_entry((uint64_t)j * 7);

                        sum += entry ? entry->length : 0;
                        sum += find_area(root, (unsigned long)j * 8)->gap;
                        sum += (uint64_t)count_up(areas[j]);
                }
                result += sum;
        }
        truth_close();
        return 0;
}
