//! Facts that hold for every store that keeps deliveries.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::{DURING, ended, ours, prompt, settle_now, store_new, tenant};
use crate::contract::{Binding, BindingTarget, ChoiceRef, NoAnswerReason, Prompt, Target};
use crate::store::{Answerers, ChannelStore, Delivery, DeliveryState, Door, Place, Store, TenantId, Whose};

/// Makes a module with one test for each fact, as [`store_conformance!`](crate::store_conformance) does for prompts.
#[macro_export]
macro_rules! delivery_conformance {
    ($module:ident, $open:expr) => {
        $crate::delivery_conformance! { @tests $module, $open,
            a_delivery_is_found_as_it_was,
            a_delivery_needs_its_prompt,
            deliveries_of_tenants_do_not_meet,
            a_delivery_moves_on_once,
            an_address_shows_what_is_pending_there_newest_first,
            what_shows_an_ended_prompt_is_outdated,
            deliveries_go_with_their_prompt,
        }
    };
    (@tests $module:ident, $open:expr, $($fact:ident,)*) => {
        mod $module {
            #[allow(unused_imports, reason = "the expression may need nothing from outside")]
            use super::*;

            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $fact() {
                    let (_kept, store) = $open;
                    $crate::store::conformance::deliveries::$fact(store).await;
                }
            )*
        }
    };
}

/// The store that a fact looks at.
pub type Subject = Arc<dyn ChannelStore>;

fn delivery(id: &str, prompt: &str, address: &str) -> Delivery {
    let binding = |token: String, target| Binding { token, target, label: "Grün 🌿 \"x\"".into() };
    let choice = ChoiceRef { question_id: "colour".into(), index: 1 };
    Delivery {
        id: id.into(),
        prompt: prompt.into(),
        place: Place {
            channel: "telegram".into(),
            target: Target { address: address.into(), thread: Some("7".into()), ..Target::private(None) },
            answerers: Answerers::People(vec!["42".into()]),
        },
        bindings: vec![
            binding(format!("{prompt}:1"), BindingTarget::Choice(choice)),
            binding(format!("{prompt}:s"), BindingTarget::Skip),
        ],
        messages: Vec::new(),
        elsewhere: true,
        state: DeliveryState::Sending,
    }
}

async fn stored(store: &Subject, tenant: &TenantId, id: &str) -> Prompt {
    let prompt = prompt(id);
    let prompts: Arc<dyn Store> = store.clone();
    store_new(&prompts, tenant, &prompt, Door::Client).await;
    prompt
}

async fn end(store: &Subject, tenant: &TenantId, id: &str) {
    let prompts: Arc<dyn Store> = store.clone();
    settle_now(&prompts, tenant, id, &ended(NoAnswerReason::Cancelled, DURING)).await;
}

async fn keep(store: &Subject, tenant: &TenantId, delivery: &Delivery) {
    assert!(store.insert_delivery(tenant, delivery).await.unwrap(), "{delivery:?}");
}

async fn move_on(store: &Subject, id: &str, from: DeliveryState, to: DeliveryState) -> bool {
    store.move_delivery(&ours(), id, from, to, None).await.unwrap()
}

/// By its id, its prompt, the token of a control, its address.
pub async fn a_delivery_is_found_as_it_was(store: Subject) {
    stored(&store, &ours(), "p").await;
    let (first, second) = (delivery("d1", "p", "1"), delivery("d2", "p", "2"));
    keep(&store, &ours(), &first).await;
    keep(&store, &ours(), &second).await;
    assert_eq!(store.delivery(&ours(), "d1").await.unwrap(), Some(first.clone()));
    assert_eq!(store.delivery(&ours(), "d3").await.unwrap(), None);
    let both = vec![first.clone(), second];
    assert_eq!(store.deliveries_of(&ours(), "p").await.unwrap(), both);
    assert_eq!(store.deliveries_with(&ours(), "telegram", "p:s").await.unwrap(), both);
    assert_eq!(store.deliveries_with(&ours(), "slack", "p:s").await.unwrap(), []);
    assert_eq!(store.deliveries_with(&ours(), "telegram", "p:").await.unwrap(), []);
    assert_eq!(store.deliveries_at(&ours(), "telegram", "1").await.unwrap(), [first]);
    assert_eq!(store.deliveries_at(&ours(), "slack", "1").await.unwrap(), []);
}

/// One without is not kept.
pub async fn a_delivery_needs_its_prompt(store: Subject) {
    assert!(!store.insert_delivery(&ours(), &delivery("d", "p", "1")).await.unwrap());
    assert_eq!(store.delivery(&ours(), "d").await.unwrap(), None);
    assert_eq!(store.deliveries_with(&ours(), "telegram", "p:s").await.unwrap(), []);
}

/// The same ids, tokens and addresses in two tenants are two things.
pub async fn deliveries_of_tenants_do_not_meet(store: Subject) {
    let theirs = tenant("theirs");
    stored(&store, &ours(), "p").await;
    stored(&store, &theirs, "p").await;
    let (mine, other) = (delivery("d", "p", "1"), Delivery { elsewhere: false, ..delivery("d", "p", "1") });
    keep(&store, &ours(), &mine).await;
    assert_eq!(store.delivery(&theirs, "d").await.unwrap(), None);
    keep(&store, &theirs, &other).await;
    assert_eq!(store.delivery(&ours(), "d").await.unwrap(), Some(mine));
    assert_eq!(store.deliveries_of(&theirs, "p").await.unwrap(), std::slice::from_ref(&other));
    assert_eq!(
        store.deliveries_with(&theirs, "telegram", "p:s").await.unwrap(),
        std::slice::from_ref(&other)
    );
    assert!(move_on(&store, "d", DeliveryState::Sending, DeliveryState::Failed).await);
    assert_eq!(store.delivery(&theirs, "d").await.unwrap(), Some(other));
}

/// Of many who move it, one does.
pub async fn a_delivery_moves_on_once(store: Subject) {
    stored(&store, &ours(), "p").await;
    keep(&store, &ours(), &delivery("d", "p", "1")).await;
    let (sending, shown, updating) = (DeliveryState::Sending, DeliveryState::Shown, DeliveryState::Updating);
    assert!(!move_on(&store, "d", shown, updating).await);
    assert!(!move_on(&store, "nobody", sending, shown).await);
    let messages = ["101".to_owned(), "102 \"é\"".to_owned()];
    assert!(store.move_delivery(&ours(), "d", sending, shown, Some(&messages)).await.unwrap());
    let moves = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { move_on(&store, "d", shown, updating).await })
    });
    let mut moved = 0;
    for one in moves.collect::<Vec<_>>() {
        moved += usize::from(one.await.unwrap());
    }
    assert_eq!(moved, 1);
    let kept = store.delivery(&ours(), "d").await.unwrap().unwrap();
    assert_eq!((kept.state, kept.messages.as_slice()), (updating, &messages[..]));
}

/// What has ended there is not, and there is an end to it.
pub async fn an_address_shows_what_is_pending_there_newest_first(store: Subject) {
    for number in 0..20 {
        let id = format!("p{number}");
        stored(&store, &ours(), &id).await;
        keep(&store, &ours(), &delivery(&format!("d{number}"), &id, "1")).await;
    }
    end(&store, &ours(), "p18").await;
    let there = store.deliveries_at(&ours(), "telegram", "1").await.unwrap();
    let ids: Vec<&str> = there.iter().map(|delivery| delivery.id.as_str()).collect();
    assert_eq!(ids.len(), 16);
    assert_eq!(ids[..3], ["d19", "d17", "d16"]);
}

/// Shown, or said to be updated soon: whoever has to do with it may be gone.
pub async fn what_shows_an_ended_prompt_is_outdated(store: Subject) {
    for id in ["pending", "ended"] {
        stored(&store, &ours(), id).await;
        for (name, state) in [
            ("sending", DeliveryState::Sending),
            ("shown", DeliveryState::Shown),
            ("updating", DeliveryState::Updating),
            ("done", DeliveryState::Done),
            ("failed", DeliveryState::Failed),
        ] {
            keep(&store, &ours(), &Delivery { state, ..delivery(&format!("{id}-{name}"), id, "1") }).await;
        }
    }
    end(&store, &ours(), "ended").await;
    let mut ids: Vec<String> = Vec::new();
    for outdated in store.outdated_deliveries(&ours(), 10).await.unwrap() {
        ids.push(outdated.id);
    }
    ids.sort();
    assert_eq!(ids, ["ended-shown", "ended-updating"]);
    assert_eq!(store.outdated_deliveries(&ours(), 1).await.unwrap().len(), 1);
    assert_eq!(store.outdated_deliveries(&tenant("theirs"), 10).await.unwrap(), []);
}

/// In whatever way it goes.
pub async fn deliveries_go_with_their_prompt(store: Subject) {
    for id in ["deleted", "purged", "kept"] {
        stored(&store, &ours(), id).await;
        keep(&store, &ours(), &delivery(&format!("d-{id}"), id, id)).await;
    }
    end(&store, &ours(), "deleted").await;
    assert!(store.delete(&ours(), "deleted").await.unwrap());
    end(&store, &ours(), "purged").await;
    assert_eq!(store.purge(&Whose::ALL, DURING, 10).await.unwrap(), 1);
    for gone in ["deleted", "purged"] {
        assert_eq!(store.delivery(&ours(), &format!("d-{gone}")).await.unwrap(), None, "{gone}");
        assert_eq!(
            store.deliveries_with(&ours(), "telegram", &format!("{gone}:s")).await.unwrap(),
            [],
            "{gone}"
        );
    }
    assert_eq!(store.deliveries_of(&ours(), "kept").await.unwrap().len(), 1);
    // Its names can be used again.
    stored(&store, &ours(), "deleted").await;
    assert_eq!(store.deliveries_of(&ours(), "deleted").await.unwrap(), []);
}
