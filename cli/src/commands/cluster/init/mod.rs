//! `braid cluster init`: certificates and configuration files for the members of a new cluster.

mod certificates;
mod configuration;
mod member;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use braid_types::DatapathId;

use crate::exit::{self, Code, ExitWith};
use crate::output;
use certificates::{Authority, Issued};
use configuration::Files;
use member::Member;

/// The name of the switches' certificate.
const SWITCHES: &str = "switches";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder to make, with a folder for each member and one for the switches
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The members, each with the name or address of its machine: one=192.0.2.1,two=192.0.2.2,three=192.0.2.3
    #[arg(long, value_name = "NAME=HOST,...", value_delimiter = ',', required = true)]
    members: Vec<Member>,
    /// The datapath ids that the switches' certificate may claim, in hexadecimal digits
    #[arg(long, value_name = "DPID,...", value_delimiter = ',', required = true)]
    switches: Vec<DatapathId>,
    /// The name of the cluster
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = member::word)]
    name: String,
    /// The folder that a member's files will lie in on its machine; by default where they are written
    #[arg(long, value_name = "FOLDER")]
    target: Option<PathBuf>,
}

/// Makes all files, or says why it cannot.
pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    member::check(&args.members)?;
    make_folder(&args.folder)?;
    let folder = args.folder.canonicalize().with_context(|| args.folder.display().to_string())?;
    let authorities =
        Authorities { members: authority(&folder, "members")?, switches: authority(&folder, SWITCHES)? };
    let token = random_token()?;
    write(&folder.join("token"), &format!("{token}\n"))?;
    for member in &args.members {
        authorities.write_member(args, member, &folder.join(&member.name), &token)?;
    }
    authorities.write_switches(&folder.join(SWITCHES))?;
    output::text(&configuration::next_steps(&folder, args.target.as_deref(), &args.members))
}

/// Whoever signs the certificates of members, and of switches.
struct Authorities {
    members: Authority,
    switches: Authority,
}

impl Authorities {
    /// Writes the files of a member into a new folder.
    fn write_member(&self, args: &Args, member: &Member, own: &Path, token: &str) -> anyhow::Result<()> {
        make_folder(own)?;
        let target = args.target.as_deref().unwrap_or(own);
        let files = Files { cluster: &args.name, members: &args.members, member, target };
        write_pair(own, &member.name, &self.members.sign(&member.name, &member.names())?)?;
        let texts = [
            ("members-ca.pem", self.members.pem()),
            ("switches-ca.pem", self.switches.pem()),
            ("identities.toml", configuration::identities(SWITCHES, &args.switches)),
            ("tokens.toml", configuration::tokens(token)),
            ("controller.toml", files.controller()),
            ("etcd.yaml", files.etcd()),
        ];
        texts.iter().try_for_each(|(name, text)| write(&own.join(name), text))
    }

    /// Writes the files of the switches into a new folder.
    fn write_switches(&self, own: &Path) -> anyhow::Result<()> {
        make_folder(own)?;
        write_pair(own, SWITCHES, &self.switches.sign(SWITCHES, &[SWITCHES])?)?;
        write(&own.join("members-ca.pem"), &self.members.pem())
    }
}

/// An authority, with its certificate and its key in this folder.
fn authority(folder: &Path, name: &str) -> anyhow::Result<Authority> {
    let authority = Authority::new(name)?;
    write(&folder.join(format!("{name}-ca.pem")), &authority.pem())?;
    write(&folder.join(format!("{name}-ca-key.pem")), &authority.key)?;
    Ok(authority)
}

fn write_pair(folder: &Path, name: &str, issued: &Issued) -> anyhow::Result<()> {
    write(&folder.join(format!("{name}.pem")), &issued.certificate)?;
    write(&folder.join(format!("{name}-key.pem")), &issued.key)
}

/// Makes a folder that only its owner can read. One that exists is left alone.
fn make_folder(folder: &Path) -> anyhow::Result<()> {
    let made = fs::DirBuilder::new().mode(0o700).create(folder);
    made.with_context(|| format!("cannot make {}", folder.display())).exit_with(Code::Usage)
}

/// Writes a file that only its owner can read.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn random_token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    let drawn = getrandom::fill(&mut bytes);
    drawn.map_err(|error| exit::error(Code::Machine, format!("no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
