//! Tokens of controls (ruling 30): a mark of ours, the prompt's unguessable id, and which control it is. A token is data
//! that anybody may send; what it stands for is in the bindings that the host keeps with the delivery.

/// What every token of ours begins with, with the version of this form.
const MARK: &str = "au1:";

/// Which control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The choice at this index of the question at this one.
    Choice(usize, usize),
    /// The free-text answer of the question at this index.
    Other(usize),
    /// Submits the choices of the question at this index.
    Submit(usize),
    /// Skips the prompt.
    Skip,
}

/// The token of a control, if it has at most `most` bytes.
pub fn token(prompt_id: &str, control: Control, most: usize) -> Option<String> {
    let control = match control {
        Control::Choice(question, choice) => format!("{question}:{choice}"),
        Control::Other(question) => format!("{question}:o"),
        Control::Submit(question) => format!("{question}:s"),
        Control::Skip => "x".to_owned(),
    };
    let token = format!("{MARK}{prompt_id}:{control}");
    (token.len() <= most && token.bytes().all(|byte| byte.is_ascii_graphic())).then_some(token)
}

/// Whether `data` was made here, as far as its form tells.
pub fn is_ours(data: &str) -> bool {
    data.starts_with(MARK)
}

/// Whether a token of ours is that of a control that submits.
pub fn submits(data: &str) -> bool {
    is_ours(data) && data.ends_with(":s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_short_and_holds_no_label() {
        let id = "ask_0123456789abcdef0123456789abcdef";
        let longest = token(id, Control::Choice(2, 3), 64).unwrap();
        assert_eq!(longest, "au1:ask_0123456789abcdef0123456789abcdef:2:3");
        assert_eq!(longest.len(), 44);
        assert!(is_ours(&longest) && !is_ours("tgq1:ask_1:0"));
    }

    #[test]
    fn a_token_that_would_be_too_long_is_none() {
        assert!(token(&"x".repeat(56), Control::Choice(0, 0), 64).is_some_and(|token| token.len() == 64));
        assert_eq!(token(&"x".repeat(57), Control::Choice(0, 0), 64), None);
        assert_eq!(token("ask_é", Control::Skip, 64), None);
    }
}
