/* SPDX-License-Identifier: MIT */
/* Removes the files of an import that a signal ends. All names are made in advance: a
 * handler may not allocate memory. */
#include "import_interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "db.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { SIGNALS = sizeof(ending_signals) / sizeof(*ending_signals) };

/* Global, because a signal handler receives only the signal number. */
static struct {
        struct sigaction before[SIGNALS];
        char *files[DB_FILES];
        bool begun;
} interrupt;

static bool is_handler(void (*handler)(int))
{
        return handler != SIG_IGN && handler != SIG_DFL;
}

/* Calls the previous handler of the signal, once. Returns false without such a
 * handler. */
static bool hand_on(int number)
{
        for (size_t i = 0; i < SIGNALS; i++) {
                void (*handler)(int) = interrupt.before[i].sa_handler;
                if (ending_signals[i] == number && is_handler(handler)) {
                        interrupt.before[i].sa_handler = SIG_DFL;
                        handler(number);
                        return true;
                }
        }
        return false;
}

static void remove_and_end(int number)
{
        static const char message[] =
            "memlag import: interrupted; nothing of it is kept\n";
        if (hand_on(number))
                return;
        for (size_t i = 0; i < DB_FILES; i++)
                unlink(interrupt.files[i]);
        (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
        signal(number, SIG_DFL);
        raise(number); /* takes effect when this function has ended */
}

int import_interrupt_begin(const char *path, struct diag *diag)
{
        struct sigaction action = {.sa_handler = remove_and_end, .sa_flags = SA_RESTART};
        for (size_t i = 0; i < DB_FILES; i++)
                if (asprintf(&interrupt.files[i], "%s%s", path, db_file_suffixes[i]) <
                    0) {
                        while (i > 0)
                                free(interrupt.files[--i]);
                        return diag_no_memory(diag);
                }
        interrupt.begun = true;
        sigfillset(&action.sa_mask);
        for (size_t i = 0; i < SIGNALS; i++) {
                sigaction(ending_signals[i], NULL, &interrupt.before[i]);
                if (interrupt.before[i].sa_handler != SIG_IGN)
                        sigaction(ending_signals[i], &action, NULL);
        }
        return 0;
}

void import_interrupt_end(void)
{
        if (!interrupt.begun)
                return;
        for (size_t i = 0; i < SIGNALS; i++)
                sigaction(ending_signals[i], &interrupt.before[i], NULL);
        for (size_t i = 0; i < DB_FILES; i++)
                free(interrupt.files[i]);
        interrupt.begun = false;
}
