//! Spans of time as people write them: `15s`, `90m`, `24h`, `1d 12h`.

use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map_err(|error| {
        Error::custom(format!("{text:?} is no span of time such as \"15s\", \"24h\" or \"7d\": {error}"))
    })
}

pub(super) fn read_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    read(deserializer).map(Some)
}
