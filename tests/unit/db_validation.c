/* SPDX-License-Identifier: MIT */
/* A validation that cannot be used is an error, and leaves its reader nothing to free. */

#include "data_home.h"
#include "validation.h"

static const struct simulated_counters counters = {"skylake-sp", "on"};
/* Loads a validation file with TEXT; NULL: no file. */
static int load(const char *text, json_t **document)
{
        struct diag diag;
        char *path = validation_path(&counters, &diag);
        assert_non_null(path);
        if (text)
                write_text(path, text);
        free(path);
        return validation_load(&counters, document, &diag);
}

TEST(what_cannot_be_used_leaves_no_document)
{
        json_t *document = NULL;
        assert_int_equal(load(NULL, &document), -ENOENT);
        assert_null(document);
        assert_int_equal(load("{\"format\": 99}", &document), -EBADMSG);
        assert_null(document);
        assert_int_equal(load("{\"format\": 1,", &document), -EBADMSG);
        assert_null(document);
        assert_int_equal(load("[]", &document), -EBADMSG);
        assert_null(document);
        assert_int_equal(load("{\"format\": 1}", &document), 0);
        assert_non_null(document);
        json_decref(document);
}

/* jansson's memory: allocation number LAST and all later ones fail. */
static struct {
        size_t made, last, held;
} memory;

static void *allocate(size_t size)
{
        void *block = memory.made++ < memory.last ? malloc(size) : NULL;
        memory.held += block != NULL;
        return block;
}

static void release(void *block)
{
        memory.held -= block != NULL;
        free(block);
}

/* Cleaning the string needs memory after the whole file has been read. */
TEST(without_memory_nothing_is_kept)
{
        json_t *document = NULL;
        int rc = -ENOMEM;
        json_set_alloc_funcs(allocate, release);
        for (size_t last = 0; rc != 0 && last < 1000; last++) {
                memory.made = 0;
                memory.last = last;
                rc = load("{\"format\": 1, \"cpu\": \"\\u001b[31m\"}", &document);
                if (rc != 0) {
                        assert_null(document);
                        assert_int_equal(memory.held, 0);
                }
        }
        assert_int_equal(rc, 0);
        assert_string_equal(json_string_value(json_object_get(document, "cpu")), "?[31m");
        json_decref(document);
        assert_int_equal(memory.held, 0);
        json_set_alloc_funcs(malloc, free);
}
