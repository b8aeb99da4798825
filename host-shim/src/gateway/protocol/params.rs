//! How parameters are read: closed objects, in which an optional member is there with a value or not at all.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::{Number, Value};

use super::error::{CallError, shortened};

/// Reads the parameters of a method. A refusal names the place.
pub(crate) fn read<T: DeserializeOwned>(method: &str, text: &str) -> Result<T, CallError> {
    match serde_json::from_str::<Object<T>>(text) {
        Ok(params) => Ok(params.0),
        // Once more, slowly: of members that come twice the last counts, as in JavaScript, and places are kept.
        Err(_) => {
            let value: Value = serde_json::from_str(text)
                .map_err(|error| CallError::invalid(format!("invalid {method} params: {error}")))?;
            let read = serde_path_to_error::deserialize::<_, Object<T>>(value);
            read.map(|params| params.0).map_err(|error| {
                let place = error.path().to_string().replace('.', "/");
                let place = if place == "/" { "" } else { &place };
                invalid(method, place, &shortened(&error.inner().to_string()))
            })
        }
    }
}

/// A JSON object. Plain derived types would take arrays as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object<T>(pub(crate) T);

impl<T> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Object)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// A refusal that names method, place and rule.
pub(crate) fn invalid(method: &str, place: &str, rule: &str) -> CallError {
    let place = if place.is_empty() { String::new() } else { format!("at /{place}: ") };
    CallError::invalid(format!("invalid {method} params: {place}{rule}"))
}

/// A member that is optional and never `null`.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A whole number of at least 1 in any spelling that JSON has for it: `5`, `5.0`, `5e3`. One that is too big for the
/// range counts as its end.
pub(crate) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    if let Some(whole) = number.as_u64() {
        return if whole > 0 { Ok(whole) } else { Err(de::Error::custom("must be at least 1")) };
    }
    match number.as_f64() {
        Some(number) if number.fract() == 0.0 && number >= 1.0 => Ok(number as u64),
        Some(number) if number.fract() == 0.0 => Err(de::Error::custom("must be at least 1")),
        _ => Err(de::Error::custom("must be a whole number")),
    }
}

/// The same, where it may be left out.
pub(crate) fn positive_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    positive(deserializer).map(Some)
}

/// Text that is not empty.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() { Err(de::Error::custom("must not be empty")) } else { Ok(text) }
}

/// The same, where it may be left out.
pub(crate) fn text_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    text(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Params {
        #[serde(default, deserialize_with = "positive_if_any")]
        n: Option<u64>,
        #[serde(default, deserialize_with = "text_if_any")]
        t: Option<String>,
    }

    #[test]
    fn numbers_come_in_many_spellings() {
        let n = |text: &str| read::<Params>("m", &format!(r#"{{"n":{text}}}"#)).map(|params| params.n);
        for (text, number) in [("1", 1), ("1.0", 1), ("5e3", 5000), ("1e30", u64::MAX)] {
            assert_eq!(n(text).expect(text), Some(number));
        }
        for text in ["0", "-1", "1.5", "0.0", "null", "\"1\"", "true", "1e400"] {
            n(text).expect_err(text);
        }
    }

    #[test]
    fn a_refusal_names_place_and_rule() {
        let message = |text: &str| read::<Params>("m", text).expect_err("it is refused").message;
        assert_eq!(message(r#"{"t":""}"#), "invalid m params: at /t: must not be empty");
        assert_eq!(message(r#"{"n":0}"#), "invalid m params: at /n: must be at least 1");
        assert!(message(r#"{"x":1}"#).contains("unknown field `x`"), "{}", message(r#"{"x":1}"#));
        assert_eq!(message("[5]"), "invalid m params: invalid type: sequence, expected an object");
        let twice = read::<Params>("m", r#"{"t":"a","t":"b"}"#).expect("the last one counts");
        assert_eq!((twice.t.as_deref(), twice.n), (Some("b"), None));
    }
}
