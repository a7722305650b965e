#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of optimised Rust that each read one field of a vector's content. Each reported field is
# right, and most reads have one. The parts of a vector that hold its memory are compiled without
# the type of its items.
. "$SOURCE_DIR/tests/integration/library.sh"

# A rustc may be there that only stands for one that is not installed.
rustc --version >/dev/null 2>&1 || skip "rustc is not installed"

cat >fields.rs <<'END_OF_RUST'
use std::collections::VecDeque;

enum Shape { Circle { r: f64 }, Rect { w: f64, h: f64 }, Line(u32, u32), Empty }
struct Point(u32, f64, u8);
struct Row { price: f64, tags: Vec<u32> }
const COUNT: usize = 3000;

/* Each reads what its name says, of what main has made. */
#[inline(never)]
fn cells(m: &Vec<Vec<f64>>) -> f64 {
    let mut s = 0.0;
    for j in 0..m[0].len() { for i in 0..m.len() { s += m[i][j]; } }
    s
}
#[inline(never)]
fn tags(rows: &[Row]) -> u64 {
    let mut s = 0;
    for row in rows { for tag in &row.tags { s += *tag as u64; } }
    s
}
#[inline(never)]
fn ones(points: &VecDeque<Point>) -> f64 {
    let mut s = 0.0;
    for point in points.iter() { s += point.1; }
    s
}
#[inline(never)]
fn zeros(points: &VecDeque<Point>, at: &[usize]) -> u64 {
    let mut s = 0;
    for i in 0..COUNT { s += points[at[i]].0 as u64; }
    s
}
#[inline(never)]
fn heights(shapes: &[Shape]) -> f64 {
    let mut s = 0.0;
    for shape in shapes { if let Shape::Rect { h, .. } = shape { s += *h; } }
    s
}
fn main() {
    let matrix: Vec<Vec<f64>> = (0..100).map(|i| vec![i as f64; 100]).collect();
    let rows: Vec<Row> =
        (0..200).map(|i| Row { price: i as f64, tags: vec![i as u32; 24] }).collect();
    let mut points = VecDeque::new();
    for i in 0..COUNT { points.push_back(Point(i as u32, 1.0, 1)); }
    let mut shapes = Vec::with_capacity(COUNT);
    for i in 0..COUNT {
        shapes.push(match i * 7919 / 13 % 4 {
            0 => Shape::Circle { r: 1.0 },
            1 => Shape::Rect { w: 2.0, h: 3.0 },
            2 => Shape::Line(1, 2),
            _ => Shape::Empty,
        });
    }
    let at: Vec<usize> = (0..COUNT).map(|i| i * 7919 % COUNT).collect();
    let mut sum = rows[0].price;
    for _ in 0..4 {
        sum += cells(&matrix) + tags(&rows) as f64 + ones(&points)
            + zeros(&points, &at) as f64 + heights(&shapes);
    }
    for shape in &shapes {
        sum += match shape {
            Shape::Circle { r } => *r,
            Shape::Rect { w, .. } => *w,
            Shape::Line(a, b) => (a + b) as f64,
            Shape::Empty => 0.0,
        };
    }
    println!("{sum} {}", points[0].2);
}
END_OF_RUST

# check FUNCTION FIELD...: the fields reported for the blocks that FUNCTION reads are among these,
# with their type. The first one is read, and at least nine in ten samples have a field.
check()
{
        function=$1
        shift
        printf "%s\n" "$@" >wanted
        sqlite3 -readonly fields.db "SELECT DISTINCT
                replace(type, ', alloc::alloc::Global', '') || coalesce(' ' || field, '')
                FROM sample_view WHERE function LIKE 'fields::$function%'
                AND object_kind = 'heap' AND type IS NOT NULL" >found
        ! grep -Fvxf wanted found >wrong || fail "$options: $function does not read $(cat wrong)"
        grep -Fqx "$1" found || fail "$options: no read of $function is of $1"
        holds fields.db 0 "SELECT count(type) < 0.9 * count(*) OR count(*) < 20
                FROM sample_view WHERE function LIKE 'fields::$function%'
                AND object_kind = 'heap'"
}

for options in "-C opt-level=2" "-C opt-level=3 -C panic=abort -C symbol-mangling-version=v0"; do
        # shellcheck disable=SC2086
        rustc -g $options -o fields fields.rs
        record fields $LOADS --ldlat 1 --period 37 -- ./fields
        pointer=buf.inner.ptr.pointer.pointer
        check cells "f64" "alloc::vec::Vec<f64> $pointer" "alloc::vec::Vec<f64> len"
        check tags "u32" "fields::Row tags.$pointer" "fields::Row tags.len"
        check ones "fields::Point __1"
        check zeros "fields::Point __0" "usize"
        check heights "fields::Shape (discriminant)" "fields::Shape Rect.h"
done
