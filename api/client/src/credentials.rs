//! Credentials: the token that a client shows, and the certificates that it trusts.

use std::sync::Arc;

use ureq::http::header::AUTHORIZATION;
use ureq::http::{HeaderValue, Request, Response};
use ureq::middleware::{Middleware, MiddlewareNext};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};
use ureq::{Body, SendBody};

use crate::Error;

/// What a client shows to a controller, and by what it knows one.
#[derive(Clone, Default)]
pub struct Credentials {
    /// The token, without `Bearer`.
    pub token: Option<String>,
    /// Trusted certificates, in PEM. Without them no controller is reached over `https`.
    pub roots: Vec<u8>,
}

impl Credentials {
    /// How a controller's certificate is checked.
    pub(crate) fn tls(&self) -> TlsConfig {
        let roots: Vec<_> = parse_pem(&self.roots).filter_map(certificate).collect();
        TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .root_certs(RootCerts::Specific(roots.into()))
            .build()
    }

    /// What shows the token, if there is one.
    pub(crate) fn bearer(&self) -> Result<Option<Bearer>, Error> {
        self.token.as_deref().map(|token| Bearer::new(token.trim())).transpose()
    }
}

/// Tokens are not shown.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let has_token = self.token.is_some();
        f.debug_struct("Credentials").field("has_token", &has_token).finish_non_exhaustive()
    }
}

/// Shows a token with each request.
pub(crate) struct Bearer(HeaderValue);

impl Bearer {
    fn new(token: &str) -> Result<Self, Error> {
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| Error::Token)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl Middleware for Bearer {
    fn handle(
        &self,
        mut request: Request<SendBody<'_>>,
        next: MiddlewareNext<'_>,
    ) -> Result<Response<Body>, ureq::Error> {
        request.headers_mut().insert(AUTHORIZATION, self.0.clone());
        next.handle(request)
    }
}

/// Of what is none, or cannot be read, nothing is trusted.
fn certificate(item: Result<PemItem<'static>, ureq::Error>) -> Option<Certificate<'static>> {
    match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_shown_and_one_that_is_none_is_refused() {
        let credentials = |token: &str| Credentials { token: Some(token.to_owned()), roots: Vec::new() };
        assert!(!format!("{:?}", credentials("secret")).contains("secret"));
        assert!(credentials("0123456789abcdef\n").bearer().is_ok_and(|it| it.is_some()));
        assert!(matches!(credentials("a\nb").bearer(), Err(Error::Token)));
    }
}
