//! Instances that serve more than one call: for one owner only, not for ever, not after anything went wrong, and never so
//! that a decision could tell.

use std::sync::Arc;
use std::time::Duration;

use ask_user_host::contract::{
    Answer, Cancellation, Context, CredentialPolicy, NoAnswerReason, Outcome, Policy, Prompt, RecordForm,
    RepeatPolicy, RequestParams, Resolution, Settlement, Target,
};
use ask_user_host::sandbox::{CallError, Limits, Owner, Plugin, Reuse, Sandbox};
use ask_user_tests::guests::hostile;
use ask_user_tests::world::{START, answer, message, multi, plugin, question, run};
use serde_json::json;

fn reusing(calls: u32) -> Reuse {
    Reuse::SameOwner { calls }
}

/// A component that does something, and then tells how many calls its instance has had.
fn counting(body: &str, limits: Limits, reuse: Reuse) -> Plugin {
    let component = hostile(&format!(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
         {body}
         (i32.store8 (i32.const 1024) (i32.const 1))
         (i32.store (i32.const 1028) (i32.const 2048)) (i32.store (i32.const 1032) (global.get $calls))
         (i32.const 1024)"
    ));
    Sandbox::builder().build().unwrap().load_trusted("counting", &component, limits, reuse).unwrap()
}

fn on(call: u32, what: &str) -> String {
    format!("(if (i32.eq (global.get $calls) (i32.const {call})) (then {what}))")
}

fn count(plugin: &Plugin) -> Result<usize, CallError> {
    Ok(plugin.definition(run().origin())?.expect("it always tells").name.len())
}

fn owned(plugin: &Plugin, name: &str) -> Plugin {
    plugin.owned_by(Owner::new(name))
}

#[test]
fn an_instance_serves_as_many_calls_as_it_may() {
    let ours = owned(&counting("", Limits::default(), reusing(3)), "ours");
    let counts: Vec<_> = (0..7).map(|_| count(&ours).unwrap()).collect();
    assert_eq!(counts, [1, 2, 3, 1, 2, 3, 1]);
}

#[test]
fn owners_never_share_an_instance() {
    let plugin = counting("", Limits::default(), reusing(1000));
    let owners: Vec<_> = (0..20).map(|n| owned(&plugin, &format!("tenant {n}"))).collect();
    for turn in 1..=50 {
        for owner in &owners {
            assert_eq!(count(owner).unwrap(), turn);
        }
        assert_eq!(count(&plugin).unwrap(), 1, "without an owner nothing is used again");
    }
}

#[test]
fn two_plugins_of_one_sandbox_do_not_share_for_the_same_owner() {
    let sandbox = Sandbox::builder().build().unwrap();
    let load = |body| {
        let component = hostile(body);
        sandbox.load_trusted("either", &component, Limits::default(), Reuse::default()).unwrap()
    };
    let (silent, trapping) = (owned(&load("(i32.const 4096)"), "ours"), owned(&load("unreachable"), "ours"));
    for _ in 0..3 {
        assert_eq!(silent.definition(run().origin()).unwrap(), None);
        assert!(trapping.definition(run().origin()).is_err());
    }
}

#[test]
fn more_owners_than_can_be_kept_are_served_by_the_rest() {
    let plugin = counting("", Limits::default(), Reuse::default());
    for round in 0..3 {
        for n in 0..500 {
            assert_eq!(count(&owned(&plugin, &n.to_string())).unwrap(), 1, "{n} in round {round}");
        }
    }
    assert_eq!(count(&owned(&plugin, "499")).unwrap(), 2, "the last one was kept");
}

#[test]
fn calls_of_many_owners_on_many_threads_fit_into_the_pool() {
    let plugin = counting("", Limits::default(), reusing(7));
    std::thread::scope(|scope| {
        for thread in 0..100 {
            let plugin = &plugin;
            scope.spawn(move || {
                for n in 0..50 {
                    let calls = count(&owned(plugin, &(thread * n % 90).to_string())).unwrap();
                    assert!((1..=7).contains(&calls));
                }
            });
        }
    });
}

#[test]
fn a_component_that_nobody_trusts_begins_afresh_for_every_call() {
    let component = hostile(
        "(if (global.get $calls) (then unreachable)) (global.set $calls (i32.const 1)) (i32.const 4096)",
    );
    let plugin = Sandbox::builder().build().unwrap().load("stranger", &component, Limits::default()).unwrap();
    let ours = owned(&plugin, "ours");
    for _ in 0..50 {
        assert_eq!(ours.definition(run().origin()).unwrap(), None);
    }
}

#[test]
fn reuse_can_be_switched_off() {
    let ours = owned(&counting("", Limits::default(), Reuse::Never), "ours");
    assert_eq!((count(&ours).unwrap(), count(&ours).unwrap()), (1, 1));
}

#[test]
fn a_trap_drops_the_instance() {
    let ours = owned(&counting(&on(3, "unreachable"), Limits::default(), Reuse::default()), "ours");
    for _ in 0..3 {
        assert_eq!((count(&ours).unwrap(), count(&ours).unwrap()), (1, 2));
        assert!(matches!(count(&ours), Err(CallError::Trap { .. })));
    }
}

#[test]
fn a_result_that_cannot_be_taken_drops_the_instance() {
    let broken = on(2, "(i32.store8 (i32.const 1024) (i32.const 9)) (return (i32.const 1024))");
    let ours = owned(&counting(&broken, Limits::default(), Reuse::default()), "ours");
    for _ in 0..3 {
        assert_eq!(count(&ours).unwrap(), 1);
        assert!(matches!(count(&ours), Err(CallError::Result { .. })));
    }
}

#[test]
fn an_instance_that_has_grown_is_dropped() {
    for grow in
        ["(drop (memory.grow (i32.const 1)))", "(drop (table.grow $spare (ref.null func) (i32.const 1)))"]
    {
        let ours = owned(&counting(&on(2, grow), Limits::default(), Reuse::default()), "ours");
        let counts: Vec<_> = (0..6).map(|_| count(&ours).unwrap()).collect();
        assert_eq!(counts, [1, 2, 1, 2, 1, 2]);
    }
}

/// The time that other calls took meanwhile is not counted, and an instance that ran out of time is dropped.
#[test]
fn every_call_has_its_whole_time() {
    let limits = Limits { deadline: Duration::from_millis(50), ..Limits::default() };
    let plugin = counting(&on(3, "(loop $again (br $again))"), limits, Reuse::default());
    let (ours, theirs) = (owned(&plugin, "ours"), owned(&plugin, "theirs"));
    assert_eq!((count(&ours).unwrap(), count(&theirs).unwrap(), count(&theirs).unwrap()), (1, 1, 2));
    assert!(matches!(count(&theirs), Err(CallError::Timeout { .. })));
    assert_eq!(count(&ours).unwrap(), 2, "our instance has waited longer than a call may take");
    assert_eq!(count(&theirs).unwrap(), 1);
}

const POLICY: Policy = Policy {
    credentials: CredentialPolicy::Refuse,
    own_text_limit: Some(16 << 10),
    repeats: RepeatPolicy::FirstResult,
};

/// Numbers that look like random ones and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// One decision of those that a host asks for, as text that shows all of it.
fn decide(plugin: &Plugin, turn: u64, prompt: &mut Option<Prompt>) -> String {
    let mut numbers = Numbers(turn);
    let now = START + turn;
    let words =
        ["Production", "Staging", "Other", "2", "ja, maar niet vandaag", "🎉 party", "", "x\u{202e}y"];
    let text = |numbers: &mut Numbers| {
        let times = numbers.of(&[1, 1, 1, 3, 400]);
        numbers.of(&words).repeat(times)
    };
    let context = Context { now, id: format!("ask_{turn}"), origin: run().origin().clone() };
    let kept = prompt.clone();
    let Some(current) = kept.filter(|_| numbers.below(8) > 0) else {
        let ask = match numbers.below(4) {
            0 => {
                json!({ "questions": [multi("a", &["One", "Two, or more", "Three"]), question("b", &["1", "2"])] })
            }
            1 => {
                json!({ "questions": [question("a", &[&text(&mut numbers), &text(&mut numbers)])], "timeoutSeconds": 31 })
            }
            2 => json!({ "questions": "nonsense", "more": text(&mut numbers) }),
            _ => json!({ "questions": [question("target", &["Production", "Staging"])] }),
        };
        let decision = plugin.ask_user(&ask.to_string(), &context);
        if let Ok(Ok(asked)) = &decision {
            *prompt = Some(asked.clone());
        }
        return format!("{decision:?}");
    };
    let answers: Vec<Answer> =
        current.questions.iter().map(|question| answer(&question.id, &[&text(&mut numbers)])).collect();
    let resolution =
        Resolution { answers: answers.clone(), resolved_by: Some("ada".into()), resolution_id: None };
    let settled = Prompt {
        settlement: Some(Settlement {
            outcome: Outcome::Answered(answers),
            at: now,
            resolved_by: None,
            resolution_id: None,
        }),
        ..current.clone()
    };
    let target = Target::private(numbers.of(&[None, Some("nl".into()), Some("id-ID".into())]));
    match numbers.below(11) {
        0 => {
            let params = RequestParams { questions: current.questions.clone(), timeout_ms: None };
            format!("{:?}", plugin.request(&params, &context))
        }
        1 => format!("{:?}", plugin.resolve(&current, &resolution, POLICY, now)),
        2 => format!("{:?}", plugin.expire(&current, numbers.of(&[now, current.expires_at]))),
        3 => {
            let cancellation = Cancellation { reason: Some(NoAnswerReason::Skipped), resolved_by: None };
            format!("{:?}", plugin.cancel(&current, &cancellation, now))
        }
        4 => format!("{:?}", plugin.interpret(&current, &message(&text(&mut numbers)), None, POLICY)),
        5 => format!("{:?}", plugin.channel().render(&current, "text", &target)),
        6 => format!("{:?}", plugin.channel().render_settled(&settled, "text", &target, &[])),
        7 => format!("{:?}", plugin.outcome(&settled)),
        8 => format!("{:?}", plugin.record(&settled, RecordForm::Extended, now)),
        9 => {
            let settled = Arc::new(settled);
            let page: Vec<_> = (0..numbers.of(&[0, 1, 40])).map(|_| Arc::clone(&settled)).collect();
            format!("{:?}", plugin.records(&page, RecordForm::Extended, now))
        }
        _ => format!("{:?} {:?}", plugin.phrases(Some("nl")), plugin.definition(run().origin())),
    }
}

#[test]
fn a_decision_is_the_same_in_a_fresh_instance_and_in_one_that_has_served() {
    let (fresh, warm) = (plugin(), owned(&plugin(), "warm"));
    let (mut for_fresh, mut for_warm) = (None, None);
    for turn in 0..5_000 {
        let expected = decide(&fresh, turn, &mut for_fresh);
        assert_eq!(decide(&warm, turn, &mut for_warm), expected, "turn {turn}");
    }
}
