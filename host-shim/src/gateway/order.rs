//! Keeps the calls of one connection that concern the same question in their order, though all are carried out at once.

use std::collections::HashMap;

use tokio_util::sync::CancellationToken;

use super::methods::Order;

/// The changes of a connection that are not done.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    /// The newest change of each question. A token fires when its change is done.
    newest: HashMap<String, CancellationToken>,
    unnamed: u64,
}

/// A change that others wait for. Dropping it says that it is done.
#[derive(Debug)]
pub(super) struct Change {
    key: String,
    done: CancellationToken,
}

impl Unfinished {
    /// What has to be done before a call begins.
    pub(super) fn before(&self, order: &Order<'_>) -> Vec<CancellationToken> {
        match order {
            _ if self.newest.is_empty() => Vec::new(),
            Order::Free | Order::Changes(None) => Vec::new(),
            Order::After(id) | Order::Changes(Some(id)) => {
                self.newest.get(*id).cloned().into_iter().collect()
            }
            Order::AfterAll => self.newest.values().cloned().collect(),
        }
    }

    /// Notes a change that could not be done at once.
    pub(super) fn begin(&mut self, id: Option<String>) -> Change {
        let key = id.unwrap_or_else(|| {
            self.unnamed += 1;
            format!("\0{}", self.unnamed)
        });
        let done = CancellationToken::new();
        self.newest.insert(key.clone(), done.clone());
        Change { key, done }
    }

    /// Notes that a change is done.
    pub(super) fn end(&mut self, change: &Change) {
        change.done.cancel();
        // Unless a later one has taken its place.
        if self.newest.get(&change.key).is_some_and(CancellationToken::is_cancelled) {
            self.newest.remove(&change.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_waits_for_the_newest_change_of_its_question() {
        let mut unfinished = Unfinished::default();
        assert!(unfinished.before(&Order::AfterAll).is_empty());
        let first = unfinished.begin(Some("a".into()));
        let second = unfinished.begin(Some("a".into()));
        let other = unfinished.begin(None);
        assert_eq!(unfinished.before(&Order::After("a")).len(), 1);
        assert_eq!(unfinished.before(&Order::AfterAll).len(), 2);
        assert!(unfinished.before(&Order::After("b")).is_empty());
        assert!(unfinished.before(&Order::Changes(None)).is_empty());

        unfinished.end(&first);
        assert!(!unfinished.before(&Order::After("a"))[0].is_cancelled());
        unfinished.end(&second);
        unfinished.end(&other);
        assert!(unfinished.newest.is_empty());
    }
}
