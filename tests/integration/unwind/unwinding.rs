// SPDX-License-Identifier: MIT
// Closures, iterators, panics that are caught.
use std::collections::BTreeMap;

#[inline(never)]
fn burn(steps: u64) -> u64 {
    (0..steps).fold(1, |sum, i| std::hint::black_box(sum ^ i * i))
}

#[inline(never)]
fn down(depth: u32, steps: u64) -> u64 {
    if depth == 0 {
        if steps % 7 == 0 {
            panic!("at the bottom");
        }
        return burn(steps);
    }
    let name = format!("{depth}");
    down(depth - 1, steps) + name.len() as u64
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let mut sums = BTreeMap::new();
    for i in 0..200u64 {
        let sum = std::panic::catch_unwind(|| down((i % 20) as u32, 200_000 + i));
        sums.insert(i, sum.unwrap_or_else(|_| burn(200_000)));
    }
    let mut keys: Vec<u64> = (0..2000).collect();
    keys.sort_by_key(|key| burn(200 + key % 3) ^ key);
    std::process::exit((sums.values().sum::<u64>() + keys[0] == 1) as i32);
}
