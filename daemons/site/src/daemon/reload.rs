//! The file is read again while packets pass.

use std::path::{Path, PathBuf};

use braid_tunnel::SiteSettings;

use super::{SiteDaemon, settings};
use crate::config::{Changes, Config};
use crate::error::ReloadError;
use crate::names::Names;
use crate::nat::Nat;

/// A file that was read again, and can be used.
pub(super) struct Reload {
    file: PathBuf,
    config: Config,
    /// Those of its peers, if these are others.
    names: Option<Names>,
    changes: Changes,
}

impl SiteDaemon {
    /// Goes on with what the file says now, once its networks are translated, or as before if that cannot be.
    pub(super) fn reload(&mut self, file: &Path) {
        match self.prepare(file) {
            Ok(reload) => match &self.nat {
                Some(nat) => {
                    tracing::debug!(file = %file.display(), "waiting for address translation");
                    nat.set_networks(reload.config.networks());
                    self.pending = Some(reload);
                }
                None => self.apply(reload),
            },
            Err(error) => self.refuse(&error),
        }
    }

    /// Ends a reload whose networks are translated, or cannot be.
    pub(super) fn finish_reload(&mut self) {
        let Some(answer) = self.nat.as_ref().and_then(Nat::poll_networks) else { return };
        let Some(reload) = self.pending.take() else { return };
        match answer {
            Ok(()) => self.apply(reload),
            Err(error) => {
                let back = self.lan.set_networks(self.config.networks());
                back.unwrap_or_else(|error| tracing::error!("{error}"));
                self.refuse(&error.into());
            }
        }
    }

    fn prepare(&mut self, file: &Path) -> Result<Reload, ReloadError> {
        let config = Config::read(file)?;
        let changes = self.config.changes_to(&config);
        let changes = changes.map_err(|keys| ReloadError::NeedsRestart { file: file.to_owned(), keys })?;
        let names = (config.peers != self.config.peers).then(|| Names::new(&config.peers)).transpose()?;
        self.lan.set_networks(config.networks())?;
        Ok(Reload { file: file.to_owned(), config, names, changes })
    }

    fn apply(&mut self, reload: Reload) {
        let Reload { file, config, names, changes } = reload;
        let SiteSettings { peers, networks, traffic, .. } = settings(&config);
        let now = self.now();
        self.site.reconfigure(now, peers, networks, traffic, changes.anew());
        names.into_iter().for_each(|names| self.names = names);
        (self.config, self.reloaded) = (config, true);
        tracing::info!(file = %file.display(), "reloaded: {changes}");
    }

    fn refuse(&mut self, error: &ReloadError) {
        self.reloaded = false;
        tracing::error!("not reloaded, the last good configuration stays in use:\n{error}");
    }
}
