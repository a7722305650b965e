/* SPDX-License-Identifier: MIT */
/* Limits for nested types: a file may nest them without end. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_LIMITS_H
#define MEMLAG_SYMBOLIZE_TYPE_LIMITS_H

enum {
        TYPE_DEPTH_LIMIT = 32,    /* members on the way to a field */
        TYPE_NESTING_LIMIT = 256, /* types in types, those without a name too */
        TYPE_SHARED_LIMIT = 64,   /* fields at one place that get names */
        TYPE_FIELDS_LIMIT = 4096, /* that are listed of a type, or an index may lead to */
        TYPE_WORK_LIMIT = 65536   /* types looked at for one question */
};

#endif
