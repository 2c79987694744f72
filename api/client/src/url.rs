//! The address of a controller's API.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// Where a controller serves its API. Text: `http://10.0.0.1:8653`, `https://braid.example`, or `10.0.0.1:8653`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Url(String);

/// A scheme that is not spoken.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0} is not spoken, only http and https")]
pub struct UrlError(String);

impl Url {
    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }

    /// The address of what is at this path, which begins with a slash.
    pub(crate) fn of(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

impl From<SocketAddr> for Url {
    fn from(address: SocketAddr) -> Self {
        Self(format!("http://{address}"))
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        match text.split_once("://") {
            None => Ok(Self(format!("http://{}", text.trim_end_matches('/')))),
            Some(("http" | "https", _)) => Ok(Self(text.trim_end_matches('/').to_owned())),
            Some((scheme, _)) => Err(UrlError(scheme.to_owned())),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controller_is_a_url_or_an_address() {
        for text in ["http://10.0.0.1:80", "http://10.0.0.1:80/", "10.0.0.1:80"] {
            assert_eq!(text.parse(), Ok(Url("http://10.0.0.1:80".to_owned())), "{text}");
        }
        assert_eq!("https://10.0.0.1".parse(), Ok(Url("https://10.0.0.1".to_owned())));
        assert!("ftp://10.0.0.1".parse::<Url>().is_err());
    }
}
