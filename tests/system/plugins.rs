//! `ask-user plugin`: what an author makes with it, and what an operator keeps with it.

use std::fs;
use std::path::Path;

use ask_user_tests::guests::channels_only;
use ask_user_tests::program::{Ran, ask_user};
use ask_user_tests::scaffold::Scaffold;
use ask_user_tests::world::parse;
use serde_json::{Value, json};

/// Inputs for the suite where it is to find something at once, or to find nothing in what is unoptimised here.
const INPUTS: &str = "1500";

fn check(component: &Path) -> (i32, Value) {
    let ran = ask_user(&["plugin", "check", component.to_str().unwrap(), "--inputs", INPUTS, "--json"], "");
    assert_eq!(ran.stderr, "");
    (ran.code, parse(&ran.stdout))
}

#[test]
fn the_built_in_channels_obey_every_law() {
    let ran = ask_user(&["plugin", "check", "--inputs", "10000", "--json"], "");
    let found = parse(&ran.stdout);
    let laws = found["laws"].as_array().unwrap();
    assert_eq!((ran.code, &found["holds"]), (0, &json!(true)), "{found:#}");
    assert_eq!(laws.len(), 7 * 12);
    let inputs: u64 = laws.iter().map(|law| law["inputs"].as_u64().unwrap()).sum();
    assert!(inputs >= 10_000, "{inputs}");
}

/// Each mistake is one that authors make. The suite finds it, by the law that it breaks, and says why.
#[test]
fn a_new_channel_builds_and_passes_and_every_mistake_in_it_is_found() {
    let scaffold = Scaffold::new();
    let folder = tempfile::tempdir().unwrap();
    let component = folder.path().join("my_chat.wasm");
    scaffold.build("", "", &component);
    let (code, found) = check(&component);
    assert_eq!((code, &found["holds"]), (0, &json!(true)), "{found:#}");

    for (right, wrong, law, why) in [
        (
            "Some(Limit { most: most as u32,",
            "Some(Limit { most: most as u32 / 8,",
            "shows every prompt, within its limits",
            "and 500 were promised",
        ),
        (
            "words.body.iter().map(|line| line.text.as_str())",
            "words.body.iter().take(3).map(|line| line.text.as_str())",
            "shows every choice in full, with numbers that work",
            "is not in the text",
        ),
        (
            "let body: Vec<&str> = words.body.iter().map(|line| line.text.as_str()).collect();",
            "let body: Vec<_> = words.body.iter().map(|line| line.text.replacen(\"1.\", \"9.\", 1)).collect();",
            "shows every choice in full, with numbers that work",
            "does not get",
        ),
        (
            "markup: Vec::new()",
            "markup: vec![\"text\".into()]",
            "lets no text of a prompt come alive",
            "as it came",
        ),
        (
            "json!({ \"conversation\": conversation, \"text\": last.text, \"buttons\": buttons });\n",
            "json!({ \"conversation\": conversation, \"text\": last.text });\n            let _ = buttons;\n",
            "has the right controls, each with a token of its own",
            "is not in the last call",
        ),
        (
            "format!(\"{TOKEN}{prompt_id}:s\"), target: BindingTarget::Skip",
            "format!(\"{TOKEN}{prompt_id}:s\"), target: BindingTarget::Submit(question.id.clone())",
            "has the right controls, each with a token of its own",
            "none of them skips",
        ),
        (
            "Action::Choose(vec![token.to_owned()])",
            "Action::Choose(vec![token.to_uppercase()])",
            "takes every tap back as its choice",
            "is taken for",
        ),
        (
            "let sender = sender.ok_or_else(|| ChannelError::Malformed(\"user.id is missing\".to_owned()))?;",
            "let sender = sender.unwrap();",
            "refuses what is no tap on a control of its own",
            "did not come back",
        ),
        (
            "\"edit\": message, \"text\": status",
            "\"text\": status, \"was\": message.len()",
            "shows how a prompt ended, without controls",
            "no call changes it",
        ),
        (
            "return Err(ChannelError::Unshowable(\"the prompt has ended\".to_owned()));",
            "",
            "refuses unknown names, addresses and states by their kind",
            "as if it were pending",
        ),
        ("name: NAME.to_owned()", "name: \"My Chat\".to_owned()", "describes itself", "the name \"My Chat\""),
    ] {
        scaffold.build(right, wrong, &component);
        let (code, found) = check(&component);
        assert_eq!((code, &found["holds"]), (1, &json!(false)), "{wrong}");
        let broken: Vec<&Value> =
            found["laws"].as_array().unwrap().iter().filter(|found| found["holds"] == false).collect();
        let named = broken.iter().find(|found| found["law"] == law);
        let said = named.unwrap_or_else(|| panic!("{wrong}: {law} is not among {broken:#?}"))["why"].as_str();
        assert!(said.unwrap().contains(why), "{wrong}: {said:?}");
    }
}

#[test]
fn a_component_that_traps_is_told_and_ends_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let component = folder.path().join("trap.wasm");
    fs::write(&component, channels_only("unreachable")).unwrap();
    let ran = ask_user(&["plugin", "check", component.to_str().unwrap()], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("trap"), "{}", ran.stderr);
}

/// A folder of plugins, and the program that keeps it.
struct Kept {
    folder: tempfile::TempDir,
    component: std::path::PathBuf,
}

impl Kept {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let component = folder.path().join("my_chat.wasm");
        Scaffold::new().build("", "", &component);
        Self { folder, component }
    }

    fn plugins(&self) -> std::path::PathBuf {
        self.folder.path().join("plugins")
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let plugins = self.plugins();
        let all: Vec<&str> =
            arguments.iter().copied().chain(["--plugins", plugins.to_str().unwrap()]).collect();
        ask_user(&all, "")
    }

    fn add(&self, name: &str, more: &[&str]) -> Ran {
        let base = ["plugin", "add", self.component.to_str().unwrap(), "--name", name];
        self.run(&[&base[..], more].concat())
    }
}

#[test]
fn a_plugin_is_added_used_listed_and_removed() {
    let kept = Kept::new();
    let empty = kept.run(&["plugin", "list"]);
    assert_eq!((empty.code, empty.stdout.starts_with("No plugins in ")), (0, true), "{empty:?}");

    let added = kept.run(&["plugin", "add", kept.component.to_str().unwrap()]);
    assert_eq!((added.code, added.stderr.as_str()), (0, ""));
    assert!(added.stdout.starts_with("Added my-chat: channels my-chat\n"), "{}", added.stdout);
    let listed = kept.run(&["plugin", "list", "--json"]);
    let told = parse(&listed.stdout);
    assert_eq!((listed.code, &told["loads"]), (0, &json!(true)));
    assert_eq!(
        told["plugins"],
        json!([{"name": "my-chat", "channels": ["my-chat"], "replaces": [], "loads": true, "refusal": null}])
    );

    let shown = kept.run(&["render", "--channel", "my-chat", "examples/deploy-target.json"]);
    assert!(shown.stdout.starts_with("POST /messages\n"), "{shown:?}");

    let removed = kept.run(&["plugin", "remove", "my-chat"]);
    assert_eq!((removed.code, removed.stdout.as_str()), (0, "Removed my-chat.\n"));
    assert_eq!(fs::read_dir(kept.plugins()).unwrap().count(), 0);
    let again = kept.run(&["plugin", "remove", "my-chat"]);
    assert_eq!((again.code, again.stderr.as_str()), (1, "ask-user: there is no plugin my-chat\n"));
    let gone = kept.run(&["render", "--channel", "my-chat", "examples/deploy-target.json"]);
    assert!(gone.code == 1 && gone.stderr.contains("no channel \"my-chat\" here"), "{gone:?}");
}

#[test]
fn names_that_are_taken_are_refused_by_name_and_nothing_is_kept() {
    let kept = Kept::new();
    assert_eq!(kept.add("my-chat", &[]).code, 0);
    for (name, more, code, why) in [
        ("my-chat", &[][..], 1, "there is a plugin my-chat already"),
        ("twin", &[], 1, "the plugins my-chat and twin both bring the channel \"my-chat\""),
        (
            "twin",
            &["--replaces", "telegram"],
            1,
            "twin is to replace the channel \"telegram\", which it does not bring",
        ),
        ("../twin", &[], 64, "the name \"../twin\" must be"),
        (".twin", &[], 64, "the name \".twin\" must be"),
    ] {
        let ran = kept.add(name, more);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.stderr.contains(why), "{why:?} is not in {:?}", ran.stderr);
    }
    assert_eq!(fs::read_dir(kept.plugins()).unwrap().count(), 1);
}

#[test]
fn a_built_in_channel_is_replaced_only_where_the_operator_says_so() {
    let kept = Kept::new();
    Scaffold::new().build(
        "const NAME: &str = \"my-chat\";",
        "const NAME: &str = \"telegram\";",
        &kept.component,
    );
    let refused = kept.add("mine", &[]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("mine brings the channel \"telegram\", which is built in"),
        "{refused:?}"
    );
    assert_eq!(kept.add("mine", &["--replaces", "telegram"]).code, 0);
    let shown = kept.run(&["render", "--channel", "telegram", "examples/deploy-target.json"]);
    assert!(shown.stdout.starts_with("POST /messages\n"), "{shown:?}");
    let other = kept.run(&["render", "--channel", "discord", "examples/deploy-target.json"]);
    assert!(other.stdout.starts_with("POST /channels/"), "{other:?}");
}

#[test]
fn a_plugin_that_was_changed_since_is_not_loaded() {
    let kept = Kept::new();
    assert_eq!(kept.add("my-chat", &[]).code, 0);
    let folder = kept.plugins().join("my-chat");
    let manifest = fs::read_to_string(folder.join("plugin.toml")).unwrap();

    let other = channels_only("unreachable");
    let component = fs::read(folder.join("my-chat.wasm")).unwrap();
    fs::write(folder.join("my-chat.wasm"), other).unwrap();
    let listed = kept.run(&["plugin", "list"]);
    assert_eq!(listed.code, 1);
    assert!(
        listed.stdout.starts_with("my-chat: does not load: my-chat: my-chat.wasm has the SHA-256 "),
        "{listed:?}"
    );
    fs::write(folder.join("my-chat.wasm"), component).unwrap();
    assert_eq!(kept.run(&["plugin", "list"]).code, 0);

    for (right, wrong, why) in [
        ("name = \"my-chat\"", "name = \"other\"", "its name is \"other\", and its folder is \"my-chat\""),
        ("file = \"my-chat.wasm\"", "file = \"/etc/passwd\"", "must be the name of a file in this folder"),
        ("[grants]", "[grant]", "unknown field `grant`"),
        ("@0.1.0", "@7.0.0", "this host speaks ask-user:plugin@0.1.0"),
    ] {
        fs::write(folder.join("plugin.toml"), manifest.replace(right, wrong)).unwrap();
        let listed = kept.run(&["plugin", "list"]);
        assert_eq!(listed.code, 1);
        assert!(listed.stdout.contains(why), "{why:?} is not in {:?}", listed.stdout);
    }
    // Whatever is wrong with it, it can be taken away.
    assert_eq!(kept.run(&["plugin", "remove", "my-chat"]).code, 0);
}

#[test]
fn a_new_channel_takes_the_place_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    fs::create_dir(&there).unwrap();
    let ran = ask_user(&["plugin", "new", "my-chat", "--folder", there.to_str().unwrap()], "");
    assert!(ran.code == 1 && ran.stderr.contains("is there already"), "{ran:?}");
    for name in ["My-Chat", "", "a b", "../x", "1st"] {
        let ran = ask_user(&["plugin", "new", name], "");
        assert!(ran.code == 64 && ran.stderr.contains("the name of a channel must be"), "{name:?}: {ran:?}");
    }
}
