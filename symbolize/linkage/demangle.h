/* SPDX-License-Identifier: MIT */
/* Names of C++, Rust and Fortran functions and variables as their authors wrote them. */
#ifndef MEMLAG_SYMBOLIZE_DEMANGLE_H
#define MEMLAG_SYMBOLIZE_DEMANGLE_H

/* The readable form of a linkage name, without parameters; the caller frees it.
 * NULL when NAME is not a mangled name, or there is no memory for the other form. */
char *demangle(const char *name);
/* The same with the types of a C++ function's parameters and its qualifiers
 * ("at(unsigned long) const"). */
char *demangle_signature(const char *name);

#endif
