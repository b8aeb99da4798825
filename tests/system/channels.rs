//! Prompts on messaging services: shown where the turn came from, answered by who may, and settled everywhere.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ask_user_host::channels::{
    Answerers, ChannelService, Channels, ChannelsError, DeliveryState, DeliveryStore, Heard, Outcome, Place,
    Shown, Tapped,
};
use ask_user_host::contract::{NoAnswerReason, Outcome as Ended, Person, Prompt, Target};
use ask_user_host::store::{MemoryStore, SqliteStore, Store, TenantId};
use ask_user_host::{PendingPrompt, Reply, Submission};
use ask_user_tests::messenger::{FakeService, Told};
use ask_user_tests::world::{
    START, World, ada, answer, message, multi, one_question, operator, parse, plugin, question,
};
use serde_json::{Value, json};

const CHAT: &str = "1000000000";

/// A host, its channels, and the services they are shown on.
struct Chat {
    world: World,
    channels: ChannelService,
    service: FakeService,
    tenant: TenantId,
}

impl Chat {
    fn new() -> Self {
        Self::on(Arc::new(MemoryStore::default()), START)
    }

    fn on<S: Store + DeliveryStore>(store: Arc<S>, now: u64) -> Self {
        let world = World::on(store.clone(), now);
        let channels = Channels::of(plugin().channel().clone()).unwrap();
        let channels = ChannelService::new(world.host.clone(), channels, store);
        Self { world, channels, service: FakeService::default(), tenant: TenantId::default() }
    }

    /// Asks and shows in these places.
    async fn ask(&self, arguments: &Value, places: Vec<Place>) -> PendingPrompt {
        let pending = self.world.ask_json(arguments).await;
        let shown =
            self.channels.show_with(&self.service, &self.tenant, pending.id(), places, false).await.unwrap();
        assert!(matches!(shown, Shown::In(1..)), "{shown:?}");
        pending
    }

    /// Taps the control whose label begins like this, as the service reports it.
    async fn tap(&self, place: &Place, prompt: &str, label: &str, sender: &str) -> Tapped {
        let payload = self.payload(place, prompt, label, sender).await;
        self.channels.tapped_with(&self.service, &self.tenant, &place.channel, &payload).await.unwrap()
    }

    async fn payload(&self, place: &Place, prompt: &str, label: &str, sender: &str) -> String {
        let store = self.deliveries(prompt).await;
        let bindings = store.iter().filter(|delivery| delivery.place == *place).flat_map(|one| &one.bindings);
        let binding =
            bindings.into_iter().find(|binding| binding.label.starts_with(label)).expect("a control");
        let known = self.channels.channels().get(&place.channel).unwrap();
        let example = known.descriptor.example_tap.as_deref().unwrap();
        example
            .replace("{token}", &binding.token)
            .replace("{sender}", sender)
            .replace(&known.descriptor.example_address, &place.target.address)
    }

    async fn deliveries(&self, prompt: &str) -> Vec<ask_user_host::channels::Delivery> {
        self.channels.deliveries(&self.tenant, prompt).await.unwrap()
    }

    async fn say(&self, place: &Place, sender: &str, text: &str) -> Heard {
        let Place { channel, target, .. } = place;
        self.channels
            .said(&self.tenant, channel, &target.address, target.thread.as_deref(), sender, &message(text))
            .await
            .unwrap()
    }

    /// Brings all places up to date, as the loop of a host does.
    async fn settle(&self, prompt: &str) -> Vec<Told> {
        for update in self.channels.updates(&self.tenant, prompt).await.unwrap() {
            for call in &update.calls {
                ask_user_host::channels::Messenger::edit(&self.service, &update.delivery.place, call)
                    .await
                    .unwrap();
            }
            self.channels.updated(&self.tenant, &update.delivery.id).await.unwrap();
        }
        self.service.take()
    }

    async fn prompt(&self, id: &str) -> Arc<Prompt> {
        self.world.host.get(&operator(), id).await.unwrap()
    }
}

fn place(channel: &str, address: &str) -> Place {
    Place {
        channel: channel.into(),
        target: Target {
            address: address.into(),
            requester: Some(Person { id: "42".into(), name: None }),
            ..Target::private(None)
        },
        answerers: Answerers::Requester,
    }
}

fn telegram() -> Place {
    place("telegram", CHAT)
}

fn deploy() -> Value {
    one_question("target", &["Staging", "Production"])
}

#[tokio::test]
async fn a_tap_answers_and_every_place_is_told() {
    let chat = Chat::new();
    let places = vec![telegram(), place("slack", "C1"), place("text", "")];
    let pending = chat.ask(&deploy(), places).await;
    let sent = chat.service.take();
    assert_eq!(sent.iter().filter(|told| matches!(told, Told::Send(..))).count(), 3);

    assert_eq!(chat.tap(&telegram(), pending.id(), "Production", "42").await, Tapped::Answered);
    let told = chat.service.take();
    assert!(
        matches!(&told[..], [Told::Acknowledge(call)] if call.method == "answerCallbackQuery"),
        "{told:?}"
    );
    let result = pending.outcome().await.unwrap();
    assert_eq!(parse(&result.json)["answers"]["answers"]["target"], json!(["Production"]));
    let prompt = chat.prompt(pending.id()).await;
    assert_eq!(prompt.settlement.as_ref().unwrap().resolved_by.as_deref(), Some("ada"));

    let updates = chat.settle(pending.id()).await;
    assert_eq!(updates.len(), 3, "{updates:?}");
    for update in &updates {
        assert!(update.call().unwrap().text.contains("Production"), "{update:?}");
        assert!(!update.call().unwrap().body.contains("au1:"), "{update:?}");
    }
    assert_eq!(updates[0].body()["message_id"], 101);
    // Once is enough.
    assert_eq!(chat.settle(pending.id()).await, []);
    for delivery in chat.deliveries(pending.id()).await {
        assert_eq!(delivery.state, DeliveryState::Done);
    }
}

#[tokio::test]
async fn b42_a_second_tap_is_told_that_it_came_too_late() {
    let chat = Chat::new();
    let pending = chat.ask(&deploy(), vec![telegram()]).await;
    assert_eq!(chat.tap(&telegram(), pending.id(), "Production", "42").await, Tapped::Answered);
    chat.service.take();
    assert_eq!(chat.tap(&telegram(), pending.id(), "Staging", "42").await, Tapped::AlreadyEnded);
    let told = chat.service.take();
    assert!(told[0].body()["text"].as_str().unwrap().contains("already"), "{told:?}");
    assert_eq!(pending.outcome().await.unwrap().json.matches("Production").count(), 1);
}

#[tokio::test]
async fn b41_whoever_types_instead_of_tapping_has_answered_and_the_buttons_go() {
    let chat = Chat::new();
    let pending = chat.ask(&deploy(), vec![telegram()]).await;
    chat.service.take();
    let text = "what does the second one cost?";
    let heard = chat.say(&telegram(), "42", text).await;
    assert!(matches!(&heard, Heard::Reply { reply: Reply::Answered(_), .. }), "{heard:?}");
    let result = pending.outcome().await.unwrap();
    assert_eq!(parse(&result.json)["answers"]["answers"]["target"], json!([text]));
    let updates = chat.settle(pending.id()).await;
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0].call().unwrap().method, "editMessageText");
}

#[tokio::test]
async fn b32_what_the_agent_wrote_before_the_question_comes_before_it() {
    let chat = Chat::new();
    chat.ask(&deploy(), vec![telegram(), place("slack", "C1")]).await;
    let told = chat.service.take();
    let kinds: Vec<&str> = told
        .iter()
        .map(|told| match told {
            Told::Flush(_) => "flush",
            Told::Send(..) => "send",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["flush", "send", "flush", "send"]);
}

#[tokio::test]
async fn b57_a_prompt_that_nobody_can_see_ends_at_once() {
    let chat = Chat::new();
    chat.service.is_down.store(true, Ordering::SeqCst);
    let pending = chat.world.ask_json(&deploy()).await;
    let places = vec![telegram(), place("telegram", "not an address"), place("nowhere", "1")];
    let shown = chat.channels.show_with(&chat.service, &chat.tenant, pending.id(), places, false).await;
    assert_eq!(shown.unwrap(), Shown::Nowhere);
    let result = parse(&pending.outcome().await.unwrap().json);
    assert_eq!((&result["status"], &result["reason"]), (&json!("no_answer"), &json!("undeliverable")));
}

#[tokio::test]
async fn b57_what_can_be_seen_elsewhere_goes_on() {
    let chat = Chat::new();
    chat.service.is_down.store(true, Ordering::SeqCst);
    let pending = chat.world.ask_json(&deploy()).await;
    let shown =
        chat.channels.show_with(&chat.service, &chat.tenant, pending.id(), vec![telegram()], true).await;
    assert_eq!(shown.unwrap(), Shown::In(0));
    assert_eq!(chat.prompt(pending.id()).await.settlement, None);
    // Nor does one place that works need the others.
    chat.service.is_down.store(false, Ordering::SeqCst);
    let places = vec![place("nowhere", "1"), telegram()];
    let shown = chat.channels.show_with(&chat.service, &chat.tenant, pending.id(), places, false).await;
    assert_eq!(shown.unwrap(), Shown::In(1));
    assert_eq!(chat.prompt(pending.id()).await.settlement, None);
}

#[tokio::test]
async fn b58_a_client_of_plain_text_shows_the_prompt_and_takes_the_answer() {
    let chat = Chat::new();
    let plain = place("text", "room-1");
    let arguments = json!({ "questions": [question("target", &["Staging", "Production"]), multi("suites", &["Unit", "Load"])] });
    let pending = chat.ask(&arguments, vec![plain.clone()]).await;
    let told = chat.service.take();
    let text = &told[1].call().unwrap().text;
    assert!(text.contains("Staging") && text.contains("Load"), "{text}");
    let first = chat.say(&plain, "42", "target: 2").await;
    assert!(
        matches!(&first, Heard::Reply { reply: Reply::Incomplete { missing, .. }, .. } if missing == &["suites"]),
        "{first:?}"
    );
    let second = chat.say(&plain, "42", "suites: 1,2").await;
    assert!(matches!(&second, Heard::Reply { reply: Reply::Answered(_), .. }), "{second:?}");
    let result = parse(&pending.outcome().await.unwrap().json);
    assert_eq!(result["answers"]["answers"], json!({"target": ["Production"], "suites": ["Unit", "Load"]}));
}

#[tokio::test]
async fn b66_people_who_may_not_answer_neither_answer_nor_disturb() {
    let chat = Chat::new();
    let group = Place {
        target: Target {
            address: "-100".into(),
            thread: Some("7".into()),
            shared: true,
            ..telegram().target
        },
        ..telegram()
    };
    let pending = chat.ask(&deploy(), vec![group.clone()]).await;
    chat.service.take();
    assert_eq!(chat.say(&group, "43", "2").await, Heard::NotAllowed);
    assert_eq!(chat.tap(&group, pending.id(), "Production", "43").await, Tapped::NotAllowed);
    assert_eq!(chat.prompt(pending.id()).await.settlement, None);
    // Not in the thread, so not about it.
    let outside = Place { target: Target { thread: None, ..group.target.clone() }, ..group.clone() };
    assert_eq!(chat.say(&outside, "42", "2").await, Heard::Chat);
    let heard = chat.say(&group, "42", "2").await;
    assert!(matches!(heard, Heard::Reply { reply: Reply::Answered(_), .. }), "{heard:?}");
}

#[tokio::test]
async fn who_may_answer_is_the_operators_to_say() {
    let people = Answerers::People(vec!["43".into()]);
    for (answerers, sender, tapped, by) in [
        (Answerers::Requester, "42", Tapped::Answered, Some("ada")),
        (Answerers::Requester, "43", Tapped::NotAllowed, None),
        (people.clone(), "43", Tapped::Answered, Some("telegram:43")),
        (people.clone(), "42", Tapped::Answered, Some("ada")),
        (people, "44", Tapped::NotAllowed, None),
        (Answerers::Everybody, "44", Tapped::Answered, Some("telegram:44")),
    ] {
        let chat = Chat::new();
        let there = Place { answerers, ..telegram() };
        let pending = chat.ask(&deploy(), vec![there.clone()]).await;
        assert_eq!(chat.tap(&there, pending.id(), "Staging", sender).await, tapped, "{there:?} {sender}");
        let prompt = chat.prompt(pending.id()).await;
        let resolved_by = prompt.settlement.as_ref().and_then(|settlement| settlement.resolved_by.as_deref());
        assert_eq!(resolved_by, by, "{there:?} {sender}");
    }
}

#[tokio::test]
async fn b67_an_answer_in_one_conversation_does_not_answer_in_another() {
    let chat = Chat::new();
    let other = place("telegram", "2000000000");
    let pending = chat.ask(&deploy(), vec![telegram()]).await;
    assert_eq!(chat.say(&other, "42", "2").await, Heard::Chat);
    let payload = chat.payload(&telegram(), pending.id(), "Production", "42").await;
    let forged = payload.replace(CHAT, "2000000000");
    let tapped = chat.channels.tapped(&chat.tenant, "telegram", &forged).await.unwrap();
    assert_eq!(tapped.tapped, Tapped::Expired);
    assert_eq!(chat.prompt(pending.id()).await.settlement, None);
    // Nor does one of another tenant.
    let stranger = TenantId::new("stranger").unwrap();
    let tapped = chat.channels.tapped(&stranger, "telegram", &payload).await.unwrap();
    assert_eq!(tapped.tapped, Tapped::Expired);
    assert_eq!(chat.prompt(pending.id()).await.settlement, None);
}

#[tokio::test]
async fn skip_and_own_text_are_controls_like_the_others() {
    let chat = Chat::new();
    let pending = chat.ask(&deploy(), vec![telegram()]).await;
    chat.service.take();
    assert_eq!(chat.tap(&telegram(), pending.id(), "Other", "42").await, Tapped::Composer);
    let told = chat.service.take();
    assert!(
        told.iter().any(|told| told.body().pointer("/reply_markup/force_reply") == Some(&json!(true))),
        "{told:?}"
    );
    assert_eq!(chat.prompt(pending.id()).await.settlement, None);
    assert_eq!(chat.tap(&telegram(), pending.id(), "Skip", "42").await, Tapped::Skipped);
    let result = parse(&pending.outcome().await.unwrap().json);
    assert_eq!(result["reason"], "skipped");
}

#[tokio::test]
async fn skip_is_taken_as_the_place_shows_it() {
    let chat = Chat::new();
    let there = Place { target: Target { locale: Some("nl".into()), ..telegram().target }, ..telegram() };
    let pending = chat.ask(&deploy(), vec![there.clone()]).await;
    let text = chat.service.take()[1].call().unwrap().text.clone();
    assert!(text.contains("/overslaan"), "{text}");
    let heard = chat.say(&there, "42", "/overslaan").await;
    assert!(matches!(heard, Heard::Reply { reply: Reply::Skipped(_), .. }), "{heard:?}");
    assert_eq!(parse(&pending.outcome().await.unwrap().json)["reason"], "skipped");
}

#[tokio::test]
async fn several_choices_come_in_their_order_and_nothing_is_no_answer() {
    let chat = Chat::new();
    let there = Place {
        target: Target { extras: true, ..place("discord", "1000000000000000000").target },
        ..place("discord", "1000000000000000000")
    };
    let arguments = json!({ "questions": [multi("suites", &["Unit", "Integration", "Load"])] });
    let pending = chat.ask(&arguments, vec![there.clone()]).await;
    let known = chat.channels.channels().get("discord").unwrap();
    let example = known.descriptor.example_tap.clone().unwrap();
    let tokens: Vec<String> =
        chat.deliveries(pending.id()).await[0].bindings.iter().map(|binding| binding.token.clone()).collect();
    let mut payload: Value = serde_json::from_str(&example.replace("{sender}", "42")).unwrap();
    payload["data"] = json!({ "component_type": 3, "custom_id": "x", "values": [tokens[2], tokens[0]] });
    let custom_id = chat.service.take()[1].body().pointer("/components/0/components/0/custom_id").cloned();
    payload["data"]["custom_id"] = custom_id.unwrap();
    let reaction = chat.channels.tapped(&chat.tenant, "discord", &payload.to_string()).await.unwrap();
    assert_eq!(reaction.tapped, Tapped::Answered);
    let result = parse(&pending.outcome().await.unwrap().json);
    assert_eq!(result["answers"]["answers"]["suites"], json!(["Unit", "Load"]));
}

#[tokio::test]
async fn what_ends_while_it_is_being_sent_is_told_as_soon_as_it_is_there() {
    let chat = Chat::new();
    let pending = chat.world.ask_json(&deploy()).await;
    let prepared = chat.channels.show(&chat.tenant, pending.id(), telegram(), false).await.unwrap();
    chat.world
        .host
        .resolve(&ada(), pending.id(), Submission::of(vec![answer("target", &["Staging"])]))
        .await
        .unwrap();
    assert_eq!(chat.channels.updates(&chat.tenant, pending.id()).await.unwrap(), []);
    let outcome = chat.channels.shown(&chat.tenant, &prepared.delivery.id, &["101".into()]).await.unwrap();
    let Outcome::Ended(update) = outcome else { panic!("{outcome:?}") };
    assert!(update.calls[0].text.contains("Staging"), "{update:?}");
    // What has ended is not shown any more.
    let late = chat.channels.show(&chat.tenant, pending.id(), telegram(), false).await;
    assert!(matches!(late, Err(ChannelsError::Unshowable(_))), "{late:?}");
}

#[tokio::test]
async fn a_tenant_that_keeps_nothing_leaves_no_buttons_behind() {
    let store = Arc::new(MemoryStore::default());
    let shared: Arc<dyn Store> = store.clone();
    let world =
        World::with(START, |builder| builder.shared_store(shared).retention(std::time::Duration::ZERO));
    let channels = Channels::of(plugin().channel().clone()).unwrap();
    let channels = ChannelService::new(world.host.clone(), channels, store);
    let chat = Chat { world, channels, service: FakeService::default(), tenant: TenantId::default() };
    let pending = chat.ask(&deploy(), vec![telegram()]).await;
    assert_eq!(chat.tap(&telegram(), pending.id(), "Staging", "42").await, Tapped::Answered);
    chat.service.take();
    // Nobody is told of it any more.
    assert!(chat.world.host.get(&operator(), pending.id()).await.is_err());
    let updates = chat.settle(pending.id()).await;
    assert!(updates[0].call().unwrap().text.contains("Staging"), "{updates:?}");
}

#[tokio::test]
async fn an_expired_prompt_is_told_everywhere_and_a_late_tap_is_told_so() {
    let chat = Chat::new();
    let pending = chat.ask(&deploy(), vec![telegram()]).await;
    chat.service.take();
    chat.world.clock.advance(901_000);
    assert_eq!(chat.tap(&telegram(), pending.id(), "Staging", "42").await, Tapped::Expired);
    let prompt = chat.prompt(pending.id()).await;
    assert_eq!(prompt.settlement.as_ref().unwrap().outcome, Ended::NoAnswer(NoAnswerReason::Expired));
    assert!(chat.service.take()[0].body()["text"].as_str().unwrap().contains("expired"));
    assert_eq!(chat.settle(pending.id()).await.len(), 1);
}

#[tokio::test]
async fn a_restart_forgets_no_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("questions.db");
    let (id, payload);
    {
        let chat = Chat::on(Arc::new(SqliteStore::open(&path).unwrap()), START);
        let pending = chat.ask(&deploy(), vec![telegram(), place("slack", "C1")]).await;
        payload = chat.payload(&telegram(), pending.id(), "Production", "42").await;
        id = pending.id().to_owned();
    }
    let chat = Chat::on(Arc::new(SqliteStore::open(&path).unwrap()), START + 60_000);
    let reaction = chat.channels.tapped(&chat.tenant, "telegram", &payload).await.unwrap();
    assert_eq!(reaction.tapped, Tapped::Answered);
    // It is handed out, and nobody says that it was done: the next start hands it out again.
    assert_eq!(chat.channels.updates(&chat.tenant, &id).await.unwrap().len(), 2);
    drop(chat);
    let chat = Chat::on(Arc::new(SqliteStore::open(&path).unwrap()), START + 120_000);
    let left = chat.channels.all_updates(&chat.tenant).await.unwrap();
    assert_eq!(left.len(), 2);
    assert_eq!(left[0].delivery.messages, ["101"]);
    for update in &left {
        chat.channels.updated(&chat.tenant, &update.delivery.id).await.unwrap();
    }
    assert_eq!(chat.channels.all_updates(&chat.tenant).await.unwrap(), []);
    // A deleted prompt leaves nothing of its places.
    assert!(chat.world.host.delete(&operator(), &id).await.unwrap());
    assert_eq!(chat.deliveries(&id).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_follows_updates_every_place_by_itself() {
    let chat = Arc::new(Chat::new());
    let pending = chat.ask(&deploy(), vec![telegram(), place("slack", "C1")]).await;
    chat.service.take();
    let follower = tokio::spawn({
        let chat = Arc::clone(&chat);
        async move { chat.channels.follow(&chat.service, &chat.tenant).await }
    });
    chat.world
        .host
        .resolve(&ada(), pending.id(), Submission::of(vec![answer("target", &["Staging"])]))
        .await
        .unwrap();
    while chat.service.count() < 2 {
        tokio::task::yield_now().await;
    }
    assert!(chat.service.take().iter().all(|told| matches!(told, Told::Edit(..))));
    follower.abort();
}

#[tokio::test]
async fn what_is_no_tap_is_told_apart() {
    let chat = Chat::new();
    let tapped = |channel: &'static str, payload: String| {
        let chat = &chat;
        async move { chat.channels.tapped(&chat.tenant, channel, &payload).await }
    };
    assert_eq!(tapped("telegram", "{}".into()).await.unwrap().tapped, Tapped::NotOurs);
    assert!(matches!(tapped("telegram", "{".into()).await, Err(ChannelsError::Malformed(_))));
    assert!(matches!(tapped("nowhere", "{}".into()).await, Err(ChannelsError::NoChannel(_))));
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(matches!(tapped("telegram", deep).await, Err(ChannelsError::Malformed(_))));
    assert!(matches!(
        chat.channels.shown(&chat.tenant, "dlv_1", &[]).await,
        Err(ChannelsError::NoDelivery(_))
    ));
    let pending = chat.world.ask_json(&deploy()).await;
    let prepared = chat.channels.show(&chat.tenant, pending.id(), telegram(), false).await.unwrap();
    let failed = chat.channels.failed(&chat.tenant, &prepared.delivery.id, "no such chat").await.unwrap();
    assert_eq!(failed, Outcome::Undeliverable);
    assert!(matches!(
        chat.channels.shown(&chat.tenant, &prepared.delivery.id, &[]).await,
        Err(ChannelsError::Failed(_))
    ));
}
