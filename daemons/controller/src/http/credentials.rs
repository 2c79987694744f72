//! Credentials of API clients and browsers.

use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The token that a request shows: as a bearer token, or as the password that a browser has asked its user for.
pub(super) fn token(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?;
    // What is neither is a token that nobody has.
    let value = value.to_str().unwrap_or_default();
    bearer(value).map(str::to_owned).or_else(|| password(value)).or(Some(String::new()))
}

/// RFC 6750 §2.1.
pub(super) fn bearer(value: &str) -> Option<&str> {
    after("bearer", value)
}

/// RFC 7617 §2; whatever the user is called.
fn password(value: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(after("basic", value)?).ok()?).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

fn after<'a>(scheme: &str, value: &'a str) -> Option<&'a str> {
    let (found, rest) = value.split_once(' ')?;
    found.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_shown_as_such_or_as_a_password() {
        let shown = |value: &'static str| {
            token(&[(header::AUTHORIZATION, value.parse().expect("a value"))].into_iter().collect())
        };
        assert_eq!(token(&HeaderMap::new()), None);
        assert_eq!(shown("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(shown("basic YW55Ym9keTphOmI=").as_deref(), Some("a:b"));
        for odd in ["", "Bearer", "Basic !", "Basic YWJj", "Digest abc"] {
            assert_eq!(shown(odd).as_deref(), Some(""), "{odd}");
        }
    }
}
