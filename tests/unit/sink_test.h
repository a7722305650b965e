/* SPDX-License-Identifier: MIT */
#pragma once

/* A new database a.db and a sink that fills it. */
#include "db_test.h"
#include "sink.h"

static struct diag diag;
static struct db *db;
static struct writer *writer;
static struct sink *sink;

static void open_sink(void)
{
        db = create_db("a.db");
        writer = open_writer(db);
        assert_ok(sink_open(writer, &sink, &diag));
}

static void close_sink(void)
{
        assert_ok(sink_finish(sink, &diag));
        assert_ok(writer_close(writer, &diag));
        assert_ok(sink_write_ledger(sink, db, &diag));
        sink_close(sink);
        db_close(db);
}
