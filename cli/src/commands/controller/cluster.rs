//! Options of `braid controller run` for members of a cluster, turned into its configuration.

use std::net::SocketAddr;
use std::path::PathBuf;

use braid_controller::{
    AdvertisedAddress, ApiTrust, ClusterConfig, MemberTls, StoreAccess, StoreCredentials, StoreUrl,
};
use braid_tls::CredentialPaths;

use crate::exit::{Code, ExitWith};

/// The place of a controller in a cluster.
#[derive(clap::Args)]
pub(crate) struct ClusterArgs {
    /// Be a member of a cluster of controllers, of which the one that etcd elects serves the switches
    ///
    /// Members share an etcd: etcd://HOST:PORT, or several servers: etcd://HOST:PORT,HOST:PORT. With etcds:// over TLS.
    #[arg(long, value_name = "URL", requires = "cluster_member", env = "BRAID_CLUSTER")]
    cluster: Option<StoreUrl>,
    /// The certificate of the authority that signs those of etcd, in PEM form; needed with etcds://
    #[arg(long, value_name = "FILE", requires = "cluster", env = "BRAID_CLUSTER_ETCD_CA")]
    cluster_etcd_ca: Option<PathBuf>,
    /// The certificate that is shown to etcd, in PEM form; for an etcd with --client-cert-auth
    ///
    /// Where etcd has users and passwords as well, a certificate without a common name (CN).
    #[arg(long, value_name = "FILE", requires_all = ["cluster_etcd_ca", "cluster_etcd_key"], env = "BRAID_CLUSTER_ETCD_CERTIFICATE")]
    cluster_etcd_certificate: Option<PathBuf>,
    /// That certificate's private key in PEM form
    #[arg(long, value_name = "FILE", requires = "cluster_etcd_certificate", env = "BRAID_CLUSTER_ETCD_KEY")]
    cluster_etcd_key: Option<PathBuf>,
    /// The user of etcd that may read and write the keys below /braid/CLUSTER/
    #[arg(long, value_name = "NAME", requires_all = ["cluster", "cluster_etcd_password_file"], env = "BRAID_CLUSTER_ETCD_USER")]
    cluster_etcd_user: Option<String>,
    /// A file with that user's password; read again at each log-in
    #[arg(
        long,
        value_name = "FILE",
        requires = "cluster_etcd_user",
        env = "BRAID_CLUSTER_ETCD_PASSWORD_FILE"
    )]
    cluster_etcd_password_file: Option<PathBuf>,
    /// The name of the cluster: several clusters may share an etcd
    #[arg(long, value_name = "NAME", default_value = "default", env = "BRAID_CLUSTER_NAME")]
    cluster_name: String,
    /// The name of this member, unique in the cluster
    #[arg(long, value_name = "NAME", env = "BRAID_CLUSTER_MEMBER")]
    cluster_member: Option<String>,
    /// Listen for other members on this address; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", env = "BRAID_CLUSTER_LISTEN")]
    cluster_listen: SocketAddr,
    /// Where other members reach this one, a name or an address; they read it from etcd. By default --cluster-listen
    ///
    /// Needed where --cluster-listen is a wildcard address such as 0.0.0.0, or one behind an address translator.
    #[arg(long, value_name = "HOST:PORT", env = "BRAID_CLUSTER_ADVERTISE")]
    cluster_advertise: Option<AdvertisedAddress>,
    /// The certificate that this member shows to others, in PEM form; it has the name of --cluster-member (DNS or CN)
    ///
    /// With it, members connect by TLS and refuse whoever has no certificate of --cluster-ca. All files are read again when
    /// they change.
    #[arg(long, value_name = "FILE", requires_all = ["cluster", "cluster_key", "cluster_ca"], env = "BRAID_CLUSTER_CERTIFICATE")]
    cluster_certificate: Option<PathBuf>,
    /// That certificate's private key in PEM form
    #[arg(long, value_name = "FILE", requires = "cluster_certificate", env = "BRAID_CLUSTER_KEY")]
    cluster_key: Option<PathBuf>,
    /// The certificate of the authority that signs those of members, and of nobody else, in PEM form
    #[arg(long, value_name = "FILE", requires = "cluster_certificate", env = "BRAID_CLUSTER_CA")]
    cluster_ca: Option<PathBuf>,
    /// The certificate of the authority that signs other members' --tls-certificate, in PEM form
    ///
    /// A standby passes API requests that change something on to the leader, over TLS where that has a certificate. The file
    /// is read again when it has changed.
    #[arg(long, value_name = "FILE", requires = "cluster", env = "BRAID_CLUSTER_API_CA")]
    cluster_api_ca: Option<PathBuf>,
    /// Trust every machine that can reach --cluster-listen to be a member, without certificates
    #[arg(long, env = "BRAID_CLUSTER_TRUSTED")]
    cluster_trusted: bool,
}

impl ClusterArgs {
    /// Reads and checks all files; `None` if the controller is alone.
    pub(crate) fn read(&self) -> anyhow::Result<Option<ClusterConfig>> {
        let Some((store, member)) = self.cluster.clone().zip(self.cluster_member.clone()) else {
            return Ok(None);
        };
        let tls = self.member_files().map(|files| MemberTls::read(files, &member)).transpose();
        let access = StoreAccess::read(&store, self.credentials()).exit_with(Code::Usage)?;
        let api_trust = self.cluster_api_ca.as_deref().map(ApiTrust::read).transpose();
        Ok(Some(ClusterConfig {
            store,
            access,
            name: self.cluster_name.clone(),
            member,
            listen: self.cluster_listen,
            advertise: self.cluster_advertise.clone(),
            trusted: self.cluster_trusted,
            tls: tls.exit_with(Code::Usage)?,
            api_trust: api_trust.exit_with(Code::Usage)?,
        }))
    }

    /// The files by which members know each other.
    fn member_files(&self) -> Option<CredentialPaths> {
        let (certificate, key) = self.cluster_certificate.clone().zip(self.cluster_key.clone())?;
        Some(CredentialPaths { certificate, key, authority: self.cluster_ca.clone()? })
    }

    fn credentials(&self) -> StoreCredentials {
        StoreCredentials {
            authority: self.cluster_etcd_ca.clone(),
            certificate: self.cluster_etcd_certificate.clone(),
            key: self.cluster_etcd_key.clone(),
            user: self.cluster_etcd_user.clone(),
            password: self.cluster_etcd_password_file.clone(),
        }
    }
}
