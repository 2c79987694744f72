//! The text of the files of a member, for its controller and its etcd, and what to do with them.

use std::path::Path;

use braid_types::DatapathId;

use super::member::Member;

const OPENFLOW: u16 = 6_653;
const MEMBERS: u16 = 7_653;
const HTTP: u16 = 8_653;
const ETCD_CLIENTS: u16 = 2_379;
const ETCD_PEERS: u16 = 2_380;

/// What the files of one member are about.
pub(super) struct Files<'a> {
    pub(super) cluster: &'a str,
    pub(super) members: &'a [Member],
    pub(super) member: &'a Member,
    /// The folder of the files on its machine.
    pub(super) target: &'a Path,
}

impl Files<'_> {
    /// The options of `braid controller run`. Files are looked for beside it.
    pub(super) fn controller(&self) -> String {
        let Self { cluster, members, member, .. } = self;
        let name = &member.name;
        let stores: Vec<_> = members.iter().map(|it| it.at(ETCD_CLIENTS)).collect();
        let stores = stores.join(",");
        let listen = |port| member.listens_at(port);
        format!(
            r#"# Member {name} of a cluster: braid controller run --config FILE
cluster = "etcds://{stores}"
cluster_name = "{cluster}"
cluster_member = "{name}"
cluster_listen = "{members_at}"
cluster_advertise = "{advertised}"
cluster_certificate = "{name}.pem"
cluster_key = "{name}-key.pem"
cluster_ca = "members-ca.pem"
cluster_api_ca = "members-ca.pem"
cluster_etcd_ca = "members-ca.pem"
cluster_etcd_certificate = "{name}.pem"
cluster_etcd_key = "{name}-key.pem"

openflow = "{openflow}"
openflow_tls = "required"
openflow_tls_certificate = "{name}.pem"
openflow_tls_key = "{name}-key.pem"
openflow_tls_ca = "switches-ca.pem"
openflow_identities = "identities.toml"

http = "{http}"
tls_certificate = "{name}.pem"
tls_key = "{name}-key.pem"
tokens = "tokens.toml"
"#,
            members_at = listen(MEMBERS),
            advertised = member.at(MEMBERS),
            openflow = listen(OPENFLOW),
            http = listen(HTTP),
        )
    }

    /// The configuration of its etcd, which has the member's certificate.
    pub(super) fn etcd(&self) -> String {
        let Self { members, member, target, .. } = self;
        let file = |name: String| target.join(name).display().to_string();
        let (certificate, key) =
            (file(format!("{}.pem", member.name)), file(format!("{}-key.pem", member.name)));
        let (authority, data) = (file("members-ca.pem".to_owned()), file("etcd".to_owned()));
        let peers: Vec<_> =
            members.iter().map(|it| format!("{}=https://{}", it.name, it.at(ETCD_PEERS))).collect();
        let security = |what: &str| {
            format!(
                "{what}-transport-security:\n  cert-file: \"{certificate}\"\n  key-file: \"{key}\"\n  \
                 client-cert-auth: true\n  trusted-ca-file: \"{authority}\"\n"
            )
        };
        format!(
            "# The etcd of member {name}: etcd --config-file FILE\nname: {name}\ndata-dir: \"{data}\"\n\
             listen-client-urls: https://{}\nadvertise-client-urls: https://{}\n\
             listen-peer-urls: https://{}\ninitial-advertise-peer-urls: https://{}\n\
             initial-cluster: {}\ninitial-cluster-state: new\n\
             # Controllers speak JSON with it. A configuration file turns that off.\nenable-grpc-gateway: true\n{}{}",
            member.listens_at(ETCD_CLIENTS),
            member.at(ETCD_CLIENTS),
            member.listens_at(ETCD_PEERS),
            member.at(ETCD_PEERS),
            peers.join(","),
            security("client"),
            security("peer"),
            name = member.name,
        )
    }
}

/// Which datapath ids the switches' certificate may claim.
pub(super) fn identities(certificate: &str, switches: &[DatapathId]) -> String {
    let ids: Vec<_> = switches.iter().map(|dpid| format!("\"{dpid}\"")).collect();
    format!("[[switch]]\ncertificate = \"{certificate}\"\ndatapath_ids = [{}]\n", ids.join(", "))
}

/// The token with which an operator may change everything.
pub(super) fn tokens(token: &str) -> String {
    format!("[[token]]\nname = \"operator\"\ntoken = \"{token}\"\naccess = \"change\"\n")
}

/// What comes next, for a person.
pub(super) fn next_steps(folder: &Path, target: Option<&Path>, members: &[Member]) -> String {
    let mut text = String::new();
    for Member { name, host } in members {
        let own = folder.join(name);
        let at = target.unwrap_or(&own).display();
        text += &match target {
            Some(_) => format!("on {host}, with the files of {} in {at}:\n", own.display()),
            None => format!("on {host}:\n"),
        };
        text += &format!("  etcd --config-file {at}/etcd.yaml\n");
        text += &format!("  braid controller run --config {at}/controller.toml\n");
    }
    let controllers: Vec<_> = members.iter().map(|it| format!("ssl:{}", it.at(OPENFLOW))).collect();
    text += &format!("on each machine with switches, with the files of {}/switches:\n", folder.display());
    text += "  ovs-vsctl set-ssl $PWD/switches-key.pem $PWD/switches.pem $PWD/members-ca.pem\n";
    text += &format!("  ovs-vsctl set-controller BRIDGE {}\n", controllers.join(" "));
    if let Some(first) = members.first() {
        let (folder, url) = (folder.display(), first.at(HTTP));
        text += "here:\n";
        text += &format!(
            "  BRAID_CA={folder}/members-ca.pem BRAID_TOKEN_FILE={folder}/token braid cluster status \
             --controller https://{url}\n"
        );
    }
    text
}
