//! What looks like a credential (ruling 17): the known forms of keys and tokens, anywhere in a text.
//!
//! A prefix alone proves nothing (`sk-` begins Slovak locale tags, `npm_` ordinary names), so each form also asks for
//! as many characters of its own alphabet as real ones have at least. Guessing at passwords is not tried.

use crate::text::{Lines, clean};

/// How the characters after a prefix must look.
#[derive(Clone, Copy)]
enum Body {
    /// Letters and digits.
    Alphanumeric,
    /// Capitals and digits, and nothing of the kind after them.
    Capitals,
    /// Hexadecimal digits.
    Hexadecimal,
    /// Letters, digits, `-`, `_`; a part of them too dense for words with hyphens between.
    Url,
    /// As `Url`, and `.`.
    Dotted,
}

/// A known form: prefix, alphabet and how many characters of it there are at least.
struct Known(&'static str, Body, usize);

const KNOWN: &[Known] = &[
    // OpenAI, Anthropic, OpenRouter and others
    Known("sk-", Body::Url, 16),
    Known("gsk_", Body::Alphanumeric, 32),
    Known("xai-", Body::Alphanumeric, 32),
    Known("pplx-", Body::Alphanumeric, 32),
    Known("nvapi-", Body::Url, 32),
    Known("hf_", Body::Alphanumeric, 30),
    Known("r8_", Body::Alphanumeric, 30),
    // GitHub, GitLab
    Known("ghp_", Body::Alphanumeric, 16),
    Known("gho_", Body::Alphanumeric, 16),
    Known("ghu_", Body::Alphanumeric, 16),
    Known("ghs_", Body::Alphanumeric, 16),
    Known("ghr_", Body::Alphanumeric, 16),
    Known("github_pat_", Body::Url, 22),
    Known("glpat-", Body::Url, 20),
    // Slack
    Known("xoxa-", Body::Url, 16),
    Known("xoxb-", Body::Url, 16),
    Known("xoxe-", Body::Url, 16),
    Known("xoxp-", Body::Url, 16),
    Known("xoxr-", Body::Url, 16),
    Known("xoxs-", Body::Url, 16),
    Known("xapp-", Body::Url, 16),
    // Amazon, Google
    Known("AKIA", Body::Capitals, 16),
    Known("ASIA", Body::Capitals, 16),
    Known("AIza", Body::Url, 35),
    Known("GOCSPX-", Body::Url, 24),
    Known("ya29.", Body::Dotted, 20),
    // Package registries
    Known("npm_", Body::Alphanumeric, 30),
    Known("pypi-", Body::Url, 32),
    // Payment, shops, mail, servers
    Known("sk_live_", Body::Alphanumeric, 16),
    Known("sk_test_", Body::Alphanumeric, 16),
    Known("rk_live_", Body::Alphanumeric, 16),
    Known("rk_test_", Body::Alphanumeric, 16),
    Known("whsec_", Body::Alphanumeric, 24),
    Known("shpat_", Body::Hexadecimal, 32),
    Known("shpca_", Body::Hexadecimal, 32),
    Known("shppa_", Body::Hexadecimal, 32),
    Known("shpss_", Body::Hexadecimal, 32),
    Known("SG.", Body::Dotted, 40),
    Known("dop_v1_", Body::Hexadecimal, 32),
    Known("doo_v1_", Body::Hexadecimal, 32),
    Known("dor_v1_", Body::Hexadecimal, 32),
    Known("hvs.", Body::Url, 24),
    Known("AGE-SECRET-KEY-1", Body::Capitals, 40),
];

/// Longest title of a private key that is looked at.
const LONGEST_TITLE: usize = 80;

/// No more of a body is looked at, so that a long message costs no more than its length.
const LONGEST_LOOK: usize = 128;

/// Whether `text` holds what looks like a credential.
pub(crate) fn looks_like_credential(text: &str) -> bool {
    // Controls that show nothing could stand inside a token and hide it.
    let text = clean(text, Lines::Many);
    holds_private_key(&text) || token_starts(&text).any(|rest| is_known(rest) || is_web_token(rest))
}

/// Whether `text` holds the beginning of a private key: one that goes on over several lines, so that everything near it
/// is secret too.
pub(crate) fn holds_private_key(text: &str) -> bool {
    let begins = text.match_indices("BEGIN").any(|(at, word)| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches(' ');
        let after = text.get(at + word.len()..).unwrap_or_default();
        // `-----BEGIN OPENSSH PRIVATE KEY-----`, and the dashes a phone makes of it.
        let title =
            run_of(after, |c| c == ' ' || c.is_ascii_uppercase() || c.is_ascii_digit(), LONGEST_TITLE);
        before.ends_with(['-', '–', '—']) && title.contains("PRIVATE KEY")
    });
    begins || text.contains("PuTTY-User-Key-File-")
}

/// Every place of `text` where a token can begin: not in the middle of a word.
fn token_starts(text: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    text.char_indices().filter_map(move |(at, c)| {
        let starts = c.is_ascii_alphanumeric() && !before.is_ascii_alphanumeric();
        before = c;
        if starts { text.get(at..) } else { None }
    })
}

fn is_known(text: &str) -> bool {
    KNOWN.iter().any(|Known(prefix, body, least)| {
        text.strip_prefix(prefix).is_some_and(|rest| match body {
            Body::Alphanumeric => run(rest, |c| c.is_ascii_alphanumeric()).len() >= *least,
            Body::Capitals => {
                let body = run(rest, |c| c.is_ascii_uppercase() || c.is_ascii_digit());
                let after = rest.get(body.len()..).unwrap_or_default();
                // AWS key ids have exactly this length; a longer word of capitals is something else.
                let whole = *least != 16 || body.len() == *least;
                body.len() >= *least && whole && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
            }
            Body::Hexadecimal => run(rest, |c| c.is_ascii_hexdigit()).len() >= *least,
            Body::Url => {
                let body = run(rest, is_url_safe);
                body.len() >= *least && is_dense(body)
            }
            Body::Dotted => {
                let body = run(rest, |c| is_url_safe(c) || c == '.');
                body.len() >= *least && is_dense(body)
            }
        })
    })
}

/// A JSON Web Token: header, claims and signature, the first two of them JSON objects in base64.
fn is_web_token(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("eyJ") else { return false };
    let header = run_of(rest, is_url_safe, LONGEST_HEADER);
    let Some(rest) = rest.get(header.len()..).and_then(|rest| rest.strip_prefix(".eyJ")) else {
        return false;
    };
    let claims = run_of(rest, is_url_safe, LONGEST_CLAIMS);
    let Some(rest) = rest.get(claims.len()..).and_then(|rest| rest.strip_prefix('.')) else { return false };
    let signature = run(rest, is_url_safe);
    header.len() >= 8 && claims.len() >= 4 && signature.len() >= 8
}

/// Headers of tokens may carry the address of a key.
const LONGEST_HEADER: usize = 512;

/// Claims may be long. They are reached from one place only, the end of a header, so that this costs little.
const LONGEST_CLAIMS: usize = 32 * 1024;

fn is_url_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn run(text: &str, is_part: impl Fn(char) -> bool) -> &str {
    run_of(text, is_part, LONGEST_LOOK)
}

/// The first characters of `text` that are all part of something, at most `longest` of them. They are ASCII, so a
/// character is a byte.
fn run_of(text: &str, is_part: impl Fn(char) -> bool, longest: usize) -> &str {
    let length = text.chars().take(longest).take_while(|c| is_part(*c)).count();
    text.get(..length).unwrap_or_default()
}

/// Whether some part of `body` is longer than words are, or mixes letters and digits as words do not.
fn is_dense(body: &str) -> bool {
    body.split(['-', '_', '.']).any(|part| {
        let digits = part.bytes().any(|b| b.is_ascii_digit());
        let letters = part.bytes().any(|b| b.is_ascii_alphabetic());
        part.len() >= 20 || (part.len() >= 8 && digits && letters)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ruling 17. None of these ever opened anything.
    #[test]
    fn known_forms_are_found_anywhere_in_a_text() {
        let body = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9";
        let hex = "0123456789abcdef0123456789abcdef";
        let mut keys = Vec::new();
        for prefix in [
            "sk-",
            "sk-proj-",
            "sk-ant-api03-",
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "glpat-",
        ] {
            keys.push(format!("{prefix}{body}"));
        }
        for prefix in
            ["xoxb-123456789012-", "xoxp-", "xoxa-2-", "xapp-1-A0-", "npm_", "hf_", "pypi-AgE", "AIza"]
        {
            keys.push(format!("{prefix}{body}"));
        }
        for prefix in ["shpat_", "dop_v1_"] {
            keys.push(format!("{prefix}{hex}{hex}"));
        }
        for prefix in ["sk_live_", "rk_live_", "sk_test_", "ya29."] {
            keys.push(format!("{prefix}{body}"));
        }
        keys.push(format!("SG.{}.{body}", &body[..22]));
        keys.push("AKIAIOSFODNN7EXAMPLE".into());
        keys.push("ASIA1234567890ABCDEF".into());
        keys.push(format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{body}"));
        keys.push("-----BEGIN PRIVATE KEY-----\nMIIE".into());
        keys.push("-----BEGIN OPENSSH PRIVATE KEY-----".into());
        keys.push("—–BEGIN RSA PRIVATE KEY—–".into());
        keys.push("-----BEGIN PGP PRIVATE KEY BLOCK-----".into());
        keys.push("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----".into());
        keys.push("PuTTY-User-Key-File-3: ssh-ed25519".into());
        for key in keys {
            for text in [
                key.clone(),
                format!("use {key} please"),
                format!("KEY={key}"),
                format!("\"{key}\"."),
                format!("キーは{key}です"),
                format!("my key:\n{key}\n"),
            ] {
                assert!(looks_like_credential(&text), "{text}");
            }
        }
    }

    #[test]
    fn a_control_character_does_not_hide_a_credential() {
        assert!(looks_like_credential("ghp_aB3dE6gH9jK2\u{0}mN5pQ8sT1vW4yZ7bC0eF3hI6kL9"));
        assert!(looks_like_credential("ghp_aB3dE6gH9jK2\u{202e}mN5pQ8sT1vW4yZ7bC0eF3hI6kL9"));
    }

    #[test]
    fn ordinary_words_are_no_credentials() {
        for text in [
            "",
            "sk-",
            "sk-SK",
            "sketch",
            "sk-learn",
            "sk-learn-with-a-very-long-name-indeed",
            "sk-2024-holiday-schedule-draft",
            "task-management-system-for-everybody-2024",
            "npm_install",
            "npm_config_registry_and_more_of_that",
            "hf_home",
            "ghp_",
            "AKIA",
            "AKIA is a key prefix",
            "ASIAPACIFICREGIONALHEADQUARTERS",
            "AIza",
            "SG.",
            "SG. Dynamo Dresden",
            "ya29.",
            "eyJ",
            "eyJhbGciOiJIUzI1NiJ9",
            "xoxo",
            "xoxb-",
            "pypi-mirror",
            "the public key: -----BEGIN PUBLIC KEY-----",
            "-----BEGIN CERTIFICATE-----",
            "BEGIN the PRIVATE KEY talk",
            "we should rotate the private key",
            "6f1ed002ab5595859014ebf0951522d9",
            "550e8400-e29b-41d4-a716-446655440000",
            "https://example.com/a?b=c",
        ] {
            assert!(!looks_like_credential(text), "{text}");
        }
    }

    #[test]
    fn long_messages_cost_no_more_than_their_length() {
        for part in ["sk-", "eyJ.", "eyJaaaaaaaaa.eyJ", "-BEGIN ", "a-", "SG.", "BEGIN", "-BEGINA"] {
            let text = part.repeat(64 * 1024 / part.len());
            let _ = looks_like_credential(&text);
        }
    }
}
