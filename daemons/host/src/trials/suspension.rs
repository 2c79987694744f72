//! Trials carried out in the kernel, and told.

use std::fmt::{self, Display};
use std::time::Instant;

use braid_subflows::Change;

use super::{ConnectionTrials, Notice, Observer, Order};
use crate::netlink::NetlinkError;

/// The trials of a network namespace and who is told of them.
pub struct Suspension {
    trials: ConnectionTrials,
    observer: Observer,
}

impl fmt::Debug for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suspension").field("trials", &self.trials).finish_non_exhaustive()
    }
}

impl Suspension {
    /// For the connections of the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// The kernel does not tell of its sockets.
    pub fn open(observer: Observer) -> Result<Self, NetlinkError> {
        Ok(Self { trials: ConnectionTrials::open()?, observer })
    }

    /// When there is something to do next.
    #[must_use]
    pub const fn due(&self) -> Instant {
        self.trials.due()
    }

    /// Looks at the connections if it is time, and has `carry_out` suspend and resume their subflows.
    pub fn act<E: Display>(&mut self, mut carry_out: impl FnMut(Order) -> Result<(), E>) {
        let orders = self.trials.look().unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot look at connections");
            Vec::new()
        });
        for order in orders {
            match carry_out(order) {
                Ok(()) => log(order),
                Err(error) => {
                    tracing::debug!(token = %order.token, change = ?order.change, %error, "refused");
                    self.trials.handle_refusal(order);
                }
            }
        }
        while let Some(notice) = self.trials.poll_notice() {
            log_result(&notice);
            (self.observer)(&notice);
        }
    }

    /// What was ordered has been taken back, and is not ordered again.
    pub fn handle_refusal(&mut self, order: Order) {
        self.trials.handle_refusal(order);
    }

    /// Has `carry_out` resume what is suspended, since nobody will do so later.
    pub fn end<E: Display>(&mut self, mut carry_out: impl FnMut(Order) -> Result<(), E>) {
        for (token, ends) in self.trials.suspended() {
            if let Err(error) = carry_out(Order { token, change: Change::Resume(ends) }) {
                tracing::warn!(%token, %ends, %error, "cannot resume a subflow");
            }
        }
    }
}

fn log(Order { token, change }: Order) {
    match change {
        Change::Suspend(ends) => tracing::debug!(%token, %ends, "going on without a subflow"),
        Change::Resume(ends) => tracing::debug!(%token, %ends, "going on with a subflow"),
    }
}

fn log_result(notice: &Notice) {
    let Notice { event, token, ends, cause, with_bps, without_bps } = notice;
    tracing::info!(%token, %ends, %cause, with_bps, without_bps, "subflow {event}");
}
