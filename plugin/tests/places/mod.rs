//! Conversations of each service.

/// An address that the channel takes.
pub(crate) fn address(channel: &str) -> &'static str {
    match channel {
        "telegram" => "1000000000",
        "discord" => "1000000000000000000",
        "slack" => "C0123456789",
        "mattermost" => "abcdefghijklmnopqrstuvwxyz",
        "line" => "U0123456789abcdef0123456789abcdef",
        "whatsapp" => "15550000000",
        _ => "",
    }
}
