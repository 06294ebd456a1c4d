//! Doing one thing to many items on a few threads, results in order.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to every item on up to `jobs` threads.
pub fn map<T: Sync, R: Send>(jobs: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return results };
            results.push((index, work(item)));
        }
    };
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let jobs = jobs.clamp(1, items.len().max(1));
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(worker)).collect();
        let mut results = worker();
        for worker in workers {
            match worker.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
