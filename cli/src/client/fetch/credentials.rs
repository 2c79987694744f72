//! What a controller on another machine wants to see, and by what it is known.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use ureq::http::header::AUTHORIZATION;
use ureq::http::{HeaderValue, Request, Response};
use ureq::middleware::{Middleware, MiddlewareNext};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};
use ureq::{Body, Error, SendBody};

use crate::exit::{Code, ExitWith};

/// A file with the token; `BRAID_TOKEN` is the token itself.
const TOKEN_FILE: &str = "BRAID_TOKEN_FILE";
const TOKEN: &str = "BRAID_TOKEN";
/// A file with the certificates that controllers' lead to.
const ROOTS: &str = "BRAID_CA";
/// Where Debian has those of the world.
const USUAL_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Shows a token with each request.
pub(super) struct Bearer(HeaderValue);

impl Bearer {
    /// With the token of the environment, if there is one.
    pub(super) fn from_environment() -> anyhow::Result<Option<Self>> {
        let file = env::var_os(TOKEN_FILE).map(PathBuf::from);
        let token = match file {
            Some(file) => {
                let text = fs::read_to_string(&file);
                Some(
                    text.with_context(|| format!("{TOKEN_FILE}: {}", file.display()))
                        .exit_with(Code::Usage)?,
                )
            }
            None => env::var(TOKEN).ok(),
        };
        token.map(|token| Self::new(token.trim())).transpose()
    }

    fn new(token: &str) -> anyhow::Result<Self> {
        let value = HeaderValue::try_from(format!("Bearer {token}"));
        let mut value = value.context("the token has characters that no token has").exit_with(Code::Usage)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl Middleware for Bearer {
    fn handle(
        &self,
        mut request: Request<SendBody<'_>>,
        next: MiddlewareNext<'_>,
    ) -> Result<Response<Body>, Error> {
        request.headers_mut().insert(AUTHORIZATION, self.0.clone());
        next.handle(request)
    }
}

/// How a controller's certificate is checked.
pub(crate) fn tls() -> anyhow::Result<TlsConfig> {
    let file = env::var_os(ROOTS).map_or_else(|| PathBuf::from(USUAL_ROOTS), PathBuf::from);
    let text = fs::read(&file);
    let text = text.with_context(|| format!("certificates to trust ({ROOTS}): {}", file.display()));
    let roots: Vec<_> = parse_pem(&text.exit_with(Code::Usage)?).filter_map(certificate).collect();
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::Specific(roots.into()))
        .build())
}

/// Of what is none, or cannot be read, nothing is trusted.
fn certificate(item: Result<PemItem<'static>, Error>) -> Option<Certificate<'static>> {
    match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    }
}
