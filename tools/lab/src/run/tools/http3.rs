//! HTTP/3 by the client and server of tquic, with the hosts' congestion control, or CUBIC if they name none.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::super::transfer::Transfer;
use super::whole_file::WholeFile;
use crate::error::LabError;
use crate::system::Tool;

/// The folder of the file that is served: its copy has the same name in another folder.
const SERVED: &str = "served";
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";
/// The payload of datagrams at most, as browsers have it: they must not be fragmented (RFC 9000, section 14), and those of this
/// server would be, where a tunnel has a smaller MTU than the network of the hosts.
const MAX_PAYLOAD: &str = "1350";

/// The server of a file, with a new certificate that no client checks.
pub(super) fn server(transfer: &Transfer<'_>, file: &WholeFile) -> Result<Tool, LabError> {
    let folder = file.folder().join(SERVED);
    prepare(transfer, file, &folder).map_err(|error| LabError::file(&folder, error))?;
    let listen = SocketAddr::new(transfer.direction.source, transfer.port).to_string();
    let tool = transfer.lab.deployed.tool("tquic_server").args(["--log-level", "ERROR", "--listen", &listen]);
    let tool = tool.arg("--root").arg(&folder).args(congestion_control(transfer));
    let tool = tool.arg("--cert").arg(file.folder().join(CERTIFICATE));
    Ok(tool.arg("--key").arg(file.folder().join(KEY)))
}

/// The client, which writes what it gets where the file expects it.
pub(super) fn client(transfer: &Transfer<'_>, file: &WholeFile) -> Tool {
    let server = SocketAddr::new(transfer.direction.source, transfer.port).to_string();
    let name = file.target().file_name().unwrap_or_default().to_string_lossy();
    let tool = transfer.lab.deployed.tool("tquic_client").args(["--log-level", "ERROR", "--alpn", "h3"]);
    let tool = tool.args(["--connect-to", &server, "--dump-dir"]).arg(file.folder());
    let local = transfer.direction.destination.to_string();
    let tool = tool.args(["--recv-udp-payload-size", MAX_PAYLOAD]);
    tool.args(["--local-addresses", &local]).arg(format!("https://braid.example/{name}"))
}

fn prepare(transfer: &Transfer<'_>, file: &WholeFile, folder: &Path) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    fs::hard_link(file.source(), folder.join(file.target().file_name().unwrap_or_default()))?;
    let made = rcgen::generate_simple_self_signed([transfer.client.name.clone()]);
    let made = made.map_err(std::io::Error::other)?;
    fs::write(file.folder().join(CERTIFICATE), made.cert.pem())?;
    let mut key = OpenOptions::new();
    let mut key = key.write(true).create_new(true).mode(0o600).open(file.folder().join(KEY))?;
    key.write_all(made.signing_key.serialize_pem().as_bytes())
}

/// The sender decides: its kernel's control has no part in QUIC, so the same one is named to the server.
fn congestion_control(transfer: &Transfer<'_>) -> [String; 2] {
    let control = transfer.client.congestion_control.as_deref().unwrap_or("cubic").to_uppercase();
    ["--congestion-control-algor".to_owned(), control]
}
