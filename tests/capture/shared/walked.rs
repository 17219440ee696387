// SPDX-License-Identifier: MIT
//
// walked.rs - a Rust program that allocates through closures, iterators,
// threads and panics

use std::collections::HashMap;
use std::panic;
use std::thread;

fn nested(depth: usize) -> Vec<Box<dyn Fn(usize) -> String>> {
    let mut all: Vec<Box<dyn Fn(usize) -> String>> = Vec::new();
    all.push(Box::new(move |n| "x".repeat(depth + n)));
    if depth > 0 {
        all.extend(nested(depth - 1));
    }
    all
}

fn descend(depth: usize) -> String {
    let mine = format!("depth {}", depth);
    if depth == 0 {
        panic!("the bottom");
    }
    mine + &descend(depth - 1)
}

fn work(rounds: usize) -> usize {
    let mut sum = 0;
    for i in 0..rounds {
        let mut words: HashMap<String, Vec<usize>> = HashMap::new();
        for j in 0..20 {
            words.entry(format!("word{}", i * j % 31)).or_default().push(j);
        }
        let mut keys: Vec<_> = words.into_iter().collect();
        keys.sort();
        sum += keys.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>();
        sum += nested(i % 20).iter().map(|f| f(i % 7).len()).sum::<usize>();
        if i % 10 == 0 {
            sum += panic::catch_unwind(|| descend(i % 40)).is_err() as usize;
        }
    }
    sum
}

fn main() {
    let rounds = std::env::args().nth(1).unwrap().parse().unwrap();
    panic::set_hook(Box::new(|_| {}));
    let threads: Vec<_> =
        (0..3).map(|_| thread::spawn(move || work(rounds))).collect();
    let sum: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
    println!("{}", sum + work(rounds));
}
