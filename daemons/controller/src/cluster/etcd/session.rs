//! The log-in that all clients of one member share, and why the last request failed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ureq::http::HeaderValue;

use super::failure::EtcdError;

/// The token of the last log-in, and the last failure.
#[derive(Default)]
pub(super) struct Session {
    token: Mutex<Option<HeaderValue>>,
    failure: Mutex<Option<String>>,
}

impl Session {
    pub(super) fn token(&self) -> Option<HeaderValue> {
        lock(&self.token).clone()
    }

    /// Forgets this token, unless there is another one by now.
    pub(super) fn forget(&self, token: Option<&HeaderValue>) {
        lock(&self.token).take_if(|current| Some(&*current) == token);
    }

    /// # Errors
    /// It is none.
    pub(super) fn note_token(&self, token: &str) -> Result<(), EtcdError> {
        let unfit = |_| EtcdError::Unreachable("etcd has given a token that cannot be sent".to_owned());
        let mut token = HeaderValue::try_from(token).map_err(unfit)?;
        token.set_sensitive(true);
        *lock(&self.token) = Some(token);
        Ok(())
    }

    pub(super) fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    /// The last request failed, or has not.
    pub(super) fn note_failure(&self, failure: Option<String>) {
        *lock(&self.failure) = failure;
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
