//! What the keys of a terminal mean here.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a person does at the keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    PageUp,
    PageDown,
    /// Tab.
    NextRow,
    /// Shift-Tab.
    PreviousRow,
    Enter,
    /// A new line within own text: Shift-Enter where the terminal tells it apart, Alt-Enter, Ctrl-J.
    NewLine,
    Escape,
    Backspace,
    Delete,
    DeleteWord,
    DeleteToStart,
    DeleteToEnd,
    /// Ctrl-S.
    Skip,
    /// Ctrl-C.
    Abort,
    Char(char),
    /// Never taken for keys, whatever it holds.
    Paste(String),
}

/// The key that an event of the terminal is, if it is one that we know.
pub(super) fn key(event: Event) -> Option<Key> {
    match event {
        Event::Key(event) if event.kind != KeyEventKind::Release => pressed(event),
        Event::Paste(text) => Some(Key::Paste(text)),
        _ => None,
    }
}

fn pressed(event: KeyEvent) -> Option<Key> {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let alt = event.modifiers.contains(KeyModifiers::ALT);
    let shift = event.modifiers.contains(KeyModifiers::SHIFT);
    let key = match event.code {
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left if control || alt => Key::WordLeft,
        KeyCode::Right if control || alt => Key::WordRight,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::BackTab => Key::PreviousRow,
        KeyCode::Tab if shift => Key::PreviousRow,
        KeyCode::Tab => Key::NextRow,
        KeyCode::Enter if shift || alt => Key::NewLine,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace if control || alt => Key::DeleteWord,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        // Ctrl and Alt together are AltGr on Windows, which types characters.
        KeyCode::Char(c) if control && !alt => return controlled(c),
        KeyCode::Char(c) if alt && !control => return alternate(c),
        KeyCode::Char(c) => Key::Char(c),
        _ => return None,
    };
    Some(key)
}

fn controlled(c: char) -> Option<Key> {
    let key = match c.to_ascii_lowercase() {
        'c' => Key::Abort,
        's' => Key::Skip,
        'j' => Key::NewLine,
        'm' => Key::Enter,
        'h' => Key::Backspace,
        'w' => Key::DeleteWord,
        'u' => Key::DeleteToStart,
        'k' => Key::DeleteToEnd,
        'a' => Key::Home,
        'e' => Key::End,
        'b' => Key::Left,
        'f' => Key::Right,
        'p' => Key::Up,
        'n' => Key::Down,
        'd' => Key::Delete,
        _ => return None,
    };
    Some(key)
}

fn alternate(c: char) -> Option<Key> {
    match c {
        'b' => Some(Key::WordLeft),
        'f' => Some(Key::WordRight),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
        key(Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn letters_are_letters_and_commands_need_a_modifier() {
        assert_eq!(of(KeyCode::Char('s'), KeyModifiers::NONE), Some(Key::Char('s')));
        assert_eq!(of(KeyCode::Char('S'), KeyModifiers::SHIFT), Some(Key::Char('S')));
        assert_eq!(of(KeyCode::Char('s'), KeyModifiers::CONTROL), Some(Key::Skip));
        assert_eq!(of(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Abort));
        assert_eq!(of(KeyCode::Char('@'), KeyModifiers::CONTROL | KeyModifiers::ALT), Some(Key::Char('@')));
    }

    #[test]
    fn shift_enter_is_a_new_line_and_enter_is_not() {
        assert_eq!(of(KeyCode::Enter, KeyModifiers::SHIFT), Some(Key::NewLine));
        assert_eq!(of(KeyCode::Enter, KeyModifiers::ALT), Some(Key::NewLine));
        assert_eq!(of(KeyCode::Enter, KeyModifiers::NONE), Some(Key::Enter));
    }

    #[test]
    fn a_key_that_is_let_go_does_nothing() {
        let released = KeyEvent::new_with_kind(KeyCode::Char('1'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(key(Event::Key(released)), None);
        assert_eq!(key(Event::Resize(3, 4)), None);
    }
}
