//! Who may connect: tokens, each with a tenant, a subject and scopes. Tokens are kept as hashes and compared in
//! constant time. White space around a token is no part of it, as in OpenClaw.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::protocol::scope;
use crate::ids::{NoRandomness, random};
use crate::store::TenantId;
use crate::text::trim;

/// The shortest token that is taken from a configuration.
pub const SHORTEST_TOKEN: usize = 16;

/// What the holder of a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Whose questions they see.
    pub tenant: TenantId,
    /// The person or program, as it is written down where they answer.
    pub subject: String,
    /// What they may do, of [`Authority::scopes`].
    pub scopes: Vec<String>,
}

impl Holder {
    /// Somebody who may do everything in the tenant of a host that has only one.
    pub fn administrator(subject: impl Into<String>) -> Self {
        Self { tenant: TenantId::default(), subject: subject.into(), scopes: vec![scope::ADMIN.into()] }
    }
}

/// All tokens.
#[derive(Clone, Default)]
pub struct Authority {
    tokens: Vec<([u8; 32], Holder)>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holders: Vec<_> = self.tokens.iter().map(|(_, holder)| holder).collect();
        formatter.debug_struct("Authority").field("holders", &holders).finish_non_exhaustive()
    }
}

impl Authority {
    /// The scopes that a token can have.
    pub fn scopes() -> &'static [&'static str] {
        &scope::ALL
    }

    /// One token that may do everything.
    pub fn single_token(token: &str) -> Self {
        let mut authority = Self::default();
        authority.admit(token, Holder::administrator("operator"));
        authority
    }

    /// Lets the holder of a token in. Whether the token is new.
    pub fn admit(&mut self, token: &str, holder: Holder) -> bool {
        let is_new = self.holder(token).is_none();
        if is_new {
            self.tokens.push((hash(token), holder));
        }
        is_new
    }

    /// Whether nobody can get in.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Whose token it is. How long that takes depends on how many tokens there are, and on nothing else.
    pub(crate) fn holder(&self, token: &str) -> Option<&Holder> {
        let hash = hash(token);
        let (mut found, mut place) = (Choice::from(0), 0_u64);
        for (index, (known, _)) in self.tokens.iter().enumerate() {
            let is_it = known.ct_eq(&hash);
            place.conditional_assign(&(index as u64), is_it);
            found |= is_it;
        }
        if bool::from(found) { self.tokens.get(place as usize).map(|(_, holder)| holder) } else { None }
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(trim(token).as_bytes()).into()
}

/// A token that nobody can guess: 256 random bits in hexadecimal digits.
pub fn fresh_token() -> Result<String, NoRandomness> {
    Ok(format!("{:032x}{:032x}", random()?, random()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_has_its_holder() {
        let mut authority = Authority::default();
        assert!(authority.is_empty());
        assert!(authority.admit("one", Holder::administrator("ada")));
        assert!(authority.admit("two", Holder::administrator("bob")));
        assert!(!authority.admit("two", Holder::administrator("eve")));
        let subject = |token| authority.holder(token).map(|holder| holder.subject.as_str());
        assert_eq!(
            (subject("one"), subject("two"), subject("One"), subject("")),
            (Some("ada"), Some("bob"), None, None)
        );
        assert_eq!(subject("\u{feff} one\u{a0}\n"), Some("ada"));
        assert!(!authority.admit(" one", Holder::administrator("eve")));
        assert!(!format!("{authority:?}").contains("one"));
    }

    #[test]
    fn a_fresh_token_is_another_each_time() {
        let [one, other] = [(); 2].map(|()| fresh_token().expect("there is randomness"));
        assert_ne!(one, other);
        assert_eq!(one.len(), 64);
    }
}
