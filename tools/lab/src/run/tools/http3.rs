//! HTTP/3 by the client and server of tquic, whose congestion control is the hosts'.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use super::super::transfer::Transfer;
use super::whole_file::WholeFile;
use crate::error::LabError;
use crate::system::Tool;

/// The folder of what is served. What is got has the same name, so the two are in different folders.
const SERVED: &str = "served";

/// The server of a file, with a new certificate that no client checks.
pub(super) fn server(transfer: &Transfer<'_>, file: &WholeFile) -> Result<Tool, LabError> {
    let folder = file.folder().join(SERVED);
    prepare(transfer, file, &folder).map_err(|error| LabError::file(&folder, error))?;
    let listen = SocketAddr::new(transfer.direction.source, transfer.port).to_string();
    let tool = transfer.lab.deployed.tool("tquic_server").args(["--log-level", "ERROR", "--listen", &listen]);
    let tool = tool.arg("--root").arg(&folder).args(congestion_control(transfer)?);
    Ok(tool.arg("--cert").arg(folder.join("certificate.pem")).arg("--key").arg(folder.join("key.pem")))
}

/// The client, which writes what it gets where the file expects it.
pub(super) fn client(transfer: &Transfer<'_>, file: &WholeFile) -> Tool {
    let server = SocketAddr::new(transfer.direction.source, transfer.port).to_string();
    let name = file.target().file_name().unwrap_or_default().to_string_lossy();
    let tool = transfer.lab.deployed.tool("tquic_client").args(["--log-level", "ERROR", "--alpn", "h3"]);
    let tool = tool.args(["--connect-to", &server, "--dump-dir"]).arg(file.folder());
    let local = transfer.direction.destination.to_string();
    tool.args(["--local-addresses", &local]).arg(format!("https://braid.example/{name}"))
}

fn prepare(transfer: &Transfer<'_>, file: &WholeFile, folder: &Path) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    fs::hard_link(file.source(), folder.join(file.target().file_name().unwrap_or_default()))?;
    let made = rcgen::generate_simple_self_signed([transfer.client.name.clone()]);
    let made = made.map_err(std::io::Error::other)?;
    fs::write(folder.join("certificate.pem"), made.cert.pem())?;
    fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())
}

/// The sender decides: its kernel's control has no part in QUIC, so the same one is named to the server.
fn congestion_control(transfer: &Transfer<'_>) -> Result<[String; 2], LabError> {
    let named = transfer.client.congestion_control.as_deref();
    match named {
        Some("cubic" | "bbr") | None => {
            let control = named.unwrap_or("cubic").to_uppercase();
            Ok(["--congestion-control-algor".to_owned(), control])
        }
        Some(other) => Err(transfer.failed(&format!("http3 has no {other}; give the hosts cubic or bbr"))),
    }
}
