//! Address translation towards the Internet, by a thread of its own: `nft` may take seconds while the machine is busy, and
//! packets do not wait for it.

mod rules;
mod table;

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use braid_types::IpPrefix;

use crate::error::SiteError;
use rules::Rules;
use table::Table;

/// The interval at which the table is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// The translation, which exists as long as this value.
pub(crate) struct Nat {
    mtu: usize,
    /// `None` once the thread is to end.
    changes: Option<Sender<Change>>,
    answers: Receiver<Result<(), SiteError>>,
    thread: Option<JoinHandle<()>>,
}

/// What is to be otherwise.
enum Change {
    Mtu(usize),
    Networks(Vec<IpPrefix>),
}

impl Nat {
    /// Translates what comes from `networks` and leaves by one of the uplinks.
    ///
    /// # Errors
    ///
    /// [`SiteError::Nat`] if the system has no nftables, or refuses them.
    pub(crate) fn open<'a>(
        device: &str,
        uplinks: impl Iterator<Item = &'a str>,
        networks: impl Iterator<Item = &'a IpPrefix>,
        mtu: usize,
    ) -> Result<Self, SiteError> {
        let uplinks = uplinks.map(str::to_owned).collect();
        let rules = Rules { device: device.to_owned(), uplinks, networks: networks.copied().collect(), mtu };
        let table = Table::open(rules)?;
        let ((changes, changed), (answer, answers)) = (channel(), channel());
        let thread = std::thread::Builder::new().name("nat".to_owned());
        let thread = thread.spawn(move || keep(table, &changed, &answer));
        let thread = thread.map_err(|error| SiteError::system("a thread for address translation", error))?;
        Ok(Self { mtu, changes: Some(changes), answers, thread: Some(thread) })
    }

    /// Follows the MTU of the device: servers may not hear that a packet is too long.
    pub(crate) fn set_mtu(&mut self, mtu: usize) {
        if mtu != self.mtu {
            self.mtu = mtu;
            self.ask(Change::Mtu(mtu));
        }
    }

    /// Begins to translate what comes from these networks; [`Self::poll_networks`] says whether it is done.
    pub(crate) fn set_networks<'a>(&self, networks: impl Iterator<Item = &'a IpPrefix>) {
        self.ask(Change::Networks(networks.copied().collect()));
    }

    /// Whether the networks that were set last are translated; `None` while that is not known.
    ///
    /// # Errors
    ///
    /// [`SiteError::Nat`] if nothing is translated; it is tried again, with the networks from before.
    pub(crate) fn poll_networks(&self) -> Option<Result<(), SiteError>> {
        match self.answers.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                let ended = io::Error::other("its thread has ended");
                Some(Err(SiteError::system("address translation", ended)))
            }
        }
    }

    fn ask(&self, change: Change) {
        // If the thread has ended, its answers say so.
        let _ = self.changes.as_ref().map(|changes| changes.send(change));
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        // The thread ends without the sender, and the table with the thread.
        self.changes = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Changes the table as is asked for, and looks at it now and then, until nobody can ask any more.
fn keep(mut table: Table, changed: &Receiver<Change>, answer: &Sender<Result<(), SiteError>>) {
    loop {
        match changed.recv_timeout(LOOK_INTERVAL) {
            Ok(Change::Mtu(mtu)) => table.set_mtu(mtu),
            Ok(Change::Networks(networks)) => {
                let _ = answer.send(table.set_networks(networks));
            }
            Err(RecvTimeoutError::Timeout) => table.look(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
