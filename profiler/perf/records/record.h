/* SPDX-License-Identifier: MIT */
/* Decodes the records of the kernel's perf_event interface (perf_event_open(2),
 * linux/perf_event.h). Pure functions from bytes to structures: no I/O, no state, every
 * length checked. Records may come from a ring or a file, in this machine's byte order.
 * Their contents are untrusted, and the caller interprets them. */
#ifndef MEMLAG_PERF_RECORD_H
#define MEMLAG_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/* The attributes of an event that define the layout of its records. */
struct record_layout {
        uint64_t sample_type;
        uint64_t branch_sample_type;
        uint64_t read_format;
        uint64_t sample_regs_user;
        uint64_t sample_regs_intr;
        bool sample_id_all;
};

/* Gets the layout of ATTR's records. -ENOTSUP when their fields cannot be located.
 * Causes: bits of sample_type, branch_sample_type or read_format that are newer than
 * this code; WEIGHT together with WEIGHT_STRUCT; or STACK_USER with size 0, where the
 * kernel misplaces fields. */
int record_layout(const struct perf_event_attr *attr, struct record_layout *layout);

enum record_kind {
        RECORD_SAMPLE,
        RECORD_MMAP, /* MMAP and MMAP2 */
        RECORD_COMM,
        RECORD_FORK,
        RECORD_EXIT,
        RECORD_LOST,
        RECORD_LOST_SAMPLES,
        RECORD_THROTTLE,
        RECORD_UNTHROTTLE,
        RECORD_OTHER,  /* a known type without a decoder, such as AUX */
        RECORD_UNKNOWN /* a type newer than this code, or not the kernel's */
};

/* Task, CPU and time: of a sample, or the trailer that sample_id_all adds to other
 * records. PRESENT has the PERF_SAMPLE_ bits of the existing fields; IDENTIFIER is
 * stored as ID. */
struct record_id {
        uint64_t present;
        uint32_t pid; /* (uint32_t)-1: of an ended task */
        uint32_t tid;
        uint64_t time;
        uint64_t id;
        uint64_t stream_id;
        uint32_t cpu;
};

/* Counter values in the form of read_format, as in read(2) of an event. */
struct record_read {
        uint64_t count; /* of values: 1 without PERF_FORMAT_GROUP */
        uint64_t time_enabled;
        uint64_t time_running;
        const uint64_t *values; /* in the record */
        size_t stride;          /* from one value to the next, in values */
        bool has_id;
        bool has_lost;
};

struct record_value {
        uint64_t value;
        uint64_t id;   /* 0 without PERF_FORMAT_ID */
        uint64_t lost; /* 0 without PERF_FORMAT_LOST */
};

/* INDEX < read->count. */
struct record_value record_read_value(const struct record_read *read, size_t index);

struct record_regs {
        uint64_t abi;           /* PERF_SAMPLE_REGS_ABI_ */
        uint64_t mask;          /* the registers that are there, by number */
        const uint64_t *values; /* in the record, in order of their numbers */
};

/* Reads register NUMBER (PERF_REG_X86_...); false: not recorded. */
bool record_register(const struct record_regs *regs, unsigned number, uint64_t *value);

/* Fields that are not in the sample type are zero. Pointers refer to the record. */
struct record_sample {
        uint64_t ip;
        uint64_t addr;
        uint64_t period;
        struct record_read read;
        const uint64_t *callchain; /* with PERF_CONTEXT_ markers */
        size_t callchain_count;
        const uint8_t *raw;
        size_t raw_bytes;
        const uint64_t *branches; /* from, to, flags of each */
        size_t branch_count;
        struct record_regs user_regs;
        const uint8_t *user_stack;
        size_t user_stack_bytes; /* that were really copied */
        uint64_t weight;         /* unchanged; see datasrc.h */
        uint64_t data_src;       /* unchanged; see datasrc.h */
        uint64_t transaction;
        struct record_regs intr_regs;
        uint64_t phys_addr;
        uint64_t cgroup;
        uint64_t data_page_size;
        uint64_t code_page_size;
        const uint8_t *aux;
        size_t aux_bytes;
};

enum { RECORD_BUILD_ID_BYTES = 20 };

struct record_mmap {
        uint32_t pid;
        uint32_t tid;
        uint64_t addr;
        uint64_t length_bytes;
        uint64_t file_offset_bytes;
        bool has_inode; /* MMAP2 without a build-id */
        uint32_t device_major;
        uint32_t device_minor;
        uint64_t inode;
        uint64_t inode_generation;
        uint8_t build_id[RECORD_BUILD_ID_BYTES];
        size_t build_id_bytes; /* 0: none */
        bool has_protection;   /* MMAP2 */
        uint32_t protection;   /* PROT_ */
        uint32_t flags;        /* MAP_ */
        bool is_data;          /* not executable; the only protection that MMAP records */
        const char *path;
};

struct record_comm {
        uint32_t pid;
        uint32_t tid;
        bool exec;
        const char *name;
};

struct record_task { /* FORK and EXIT */
        uint32_t pid;
        uint32_t parent_pid;
        uint32_t tid;
        uint32_t parent_tid;
        uint64_t time;
};

struct record_lost {
        uint64_t id; /* 0 in LOST_SAMPLES */
        uint64_t count;
};

struct record_throttle {
        uint64_t time;
        uint64_t id;
        uint64_t stream_id;
};

struct record {
        enum record_kind kind;
        uint32_t type; /* PERF_RECORD_ */
        uint16_t misc; /* PERF_RECORD_MISC_ */
        struct record_id id;
        union {
                struct record_sample sample;
                struct record_mmap mmap;
                struct record_comm comm;
                struct record_task task;
                struct record_lost lost;
                struct record_throttle throttle;
        };
};

/* Returns the size in bytes of the record that begins at BYTES, with SIZE bytes
 * available; 0 when they cannot begin a record. The result may exceed SIZE: the rest has
 * not arrived. */
size_t record_size(const void *bytes, size_t size);

/* Gets the id of the event that wrote the record of SIZE bytes at BYTES. All events must
 * have PERF_SAMPLE_IDENTIFIER, which is at the same position in all records. Returns
 * false when the record is too short. */
bool record_identifier(const void *bytes, size_t size, uint64_t *id);

/* Reads the record's time, without decoding the rest; false when LAYOUT has none or the
 * record is too short. */
bool record_time(const struct record_layout *layout, const void *bytes, size_t size,
                 uint64_t *time);

/* Decodes the record of exactly SIZE bytes at BYTES, which must be aligned to 8, into
 * RECORD; its pointers live as long as BYTES. -EBADMSG when it is damaged: shorter or
 * longer than its type and LAYOUT require, or with an unterminated name. */
int record_decode(const struct record_layout *layout, const void *bytes, size_t size,
                  struct record *record);

#endif
