/* SPDX-License-Identifier: MIT */
/* The target's environment. Removes the variables that started the tracker: the target
 * sees its original environment. Adds them again for executed programs. Knows nothing of
 * blocks. */
#ifndef MEMLAG_HEAP_ENVIRONMENT_H
#define MEMLAG_HEAP_ENVIRONMENT_H

/* The value of CHANNEL_VARIABLE, or NULL. */
const char *environment_channel(char **environment);

/* Removes the added variables, in place. */
void environment_restore(char **environment);

/* From now on executed programs are given the tracker and CHANNEL_VARIABLE again; to be
 * called before environment_restore. */
void environment_follow(char **environment);

/* Executed programs get nothing from now on. */
void environment_unfollow(void);

#endif
