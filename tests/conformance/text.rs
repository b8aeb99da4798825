//! Text as the rulings speak of it: trimmed, cleaned, compared, read as a number. Written from the rulings and not
//! shared with the plugin, so that a condition does not follow the plugin into a mistake.

use unicode_segmentation::UnicodeSegmentation;

/// White space as JavaScript's `trim` knows it.
pub(crate) fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// `text` without white space at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// What ruling 7 takes out of a text or turns into white space.
pub(crate) fn is_unclean(c: char) -> bool {
    c.is_control() || is_direction_control(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Bidirectional overrides, embeddings and isolates.
pub(crate) fn is_direction_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What ends a line (ruling 15).
pub(crate) fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether there is nothing to see in `text`: white space, control characters, and characters without a shape.
pub(crate) fn is_blank(text: &str) -> bool {
    let has_no_shape = |c: char| {
        matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
    };
    text.chars().all(|c| is_space(c) || c.is_control() || has_no_shape(c))
}

/// One clean line: what separated words or lines is a space, other control characters are gone (ruling 7).
pub(crate) fn clean(text: &str) -> String {
    let space_or_gone = |c: char| match c {
        c if is_space(c) || is_line_break(c) => Some(if is_unclean(c) { ' ' } else { c }),
        c => (!is_unclean(c)).then_some(c),
    };
    trim(&text.chars().filter_map(space_or_gone).collect::<String>()).to_owned()
}

/// What texts are compared by where case and white space do not matter.
pub(crate) fn fold(text: &str) -> String {
    let cleaned = clean(text);
    let words: Vec<String> =
        cleaned.split(is_space).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    words.join(" ")
}

/// What labels are compared by: also without the selectors that make a symbol colourful, and with one small Σ, since
/// which of the two a capital becomes depends on its neighbours.
pub(crate) fn fold_label(text: &str) -> String {
    fold(text).replace(['\u{fe0e}', '\u{fe0f}'], "").replace('ς', "σ")
}

/// `text` as OpenClaw compares it with a label.
pub(crate) fn lower(text: &str) -> String {
    trim(text).to_lowercase()
}

/// Length in UTF-16 units.
pub(crate) fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Length in grapheme clusters as Unicode defines them.
pub(crate) fn clusters(text: &str) -> usize {
    text.graphemes(true).count()
}

/// Length in the clusters that the library counts with which OpenClaw checks what comes over the wire: marks of some
/// blocks, variation selectors and whatever follows a joiner belong to the character before, and two regional indicators
/// are one.
pub(crate) fn openclaw_clusters(text: &str) -> usize {
    let is_modifier = |c: &char| {
        matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
    };
    let is_indicator = |c: &char| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    let mut rest = text.chars().peekable();
    let mut count = 0;
    while let Some(first) = rest.next() {
        count += 1;
        while rest.next_if(is_modifier).is_some() {}
        while rest.next_if_eq(&'\u{200d}').is_some() {
            rest.next();
            while rest.next_if(is_modifier).is_some() {}
        }
        if is_indicator(&first) {
            rest.next_if(is_indicator);
        }
    }
    count
}

/// Whether `text` is a number as OpenClaw reads one: digits and nothing else.
pub(crate) fn is_digits(text: &str) -> bool {
    let text = trim(text);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The number that `text` is in one of the spellings of ruling 13: `2`, `02`, `2.`, `2)`, `#2`, keycap, full-width.
pub(crate) fn as_number(text: &str) -> Option<u64> {
    let cleaned = clean(text).replace(['\u{fe0f}', '\u{20e3}'], "");
    let bare = cleaned.strip_prefix(['#', '＃']).unwrap_or(&cleaned);
    let bare = bare.strip_suffix(['.', ')', '．', '）']).unwrap_or(bare);
    let digit = |c: char| match c {
        '０'..='９' => char::from_u32(u32::from(c) - u32::from('０') + u32::from('0')),
        c => c.is_ascii_digit().then_some(c),
    };
    let digits: String = bare.chars().map(digit).collect::<Option<_>>()?;
    if digits.is_empty() { None } else { Some(digits.parse().unwrap_or(u64::MAX)) }
}

/// `(Recommended)` off the end, in any case.
pub(crate) fn without_recommended(text: &str) -> &str {
    const SUFFIX: &str = "(recommended)";
    let text = trim(text);
    match text.len().checked_sub(SUFFIX.len()).and_then(|at| text.split_at_checked(at)) {
        Some((rest, end)) if end.eq_ignore_ascii_case(SUFFIX) => trim(rest),
        _ => text,
    }
}

/// Emoji off the front, with the white space after them. Nothing comes off a text that is nothing else.
pub(crate) fn without_emoji(text: &str) -> &str {
    let text = trim(text);
    let is_emoji = |c: char| {
        is_space(c)
            || matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}'
                | '\u{25a0}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}' | '\u{200d}' | '\u{20e3}')
    };
    // A keycap begins with an ordinary digit.
    let keycap =
        ["\u{fe0f}\u{20e3}", "\u{20e3}"].into_iter().find_map(|cap| text.get(1..)?.strip_prefix(cap));
    let rest = match keycap {
        Some(rest) => without_emoji(rest),
        None => text.trim_start_matches(is_emoji),
    };
    if is_blank(rest) { text } else { rest }
}
