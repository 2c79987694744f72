//! The messages of OVSDB: JSON values, one after another. RFC 7047 §4.

use serde_json::{Value, json};

use super::bridge::MaxBackoff;
use super::plan::PortBfd;

/// The longest message; the tables of thousands of ports are smaller.
const MAX_MESSAGE: usize = 64 << 20;
const MONITOR_ID: u64 = 1;
/// The mark of ports whose BFD is Braid's, in the column `external_ids`.
pub(super) const BFD_MARK: &str = "braid-bfd";
/// The same of controllers whose `max_backoff` is Braid's.
pub(super) const BACKOFF_MARK: &str = "braid-max-backoff";

/// Bytes that have arrived, and the messages in them.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// Bytes that were searched in vain for the end of the first message: it is sought again when twice as many are there.
    searched: usize,
}

/// A message of a database.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Message {
    /// The content of the monitored tables, or changes of them.
    Update(Value),
    /// A question whether we are there, to be answered.
    Echo(Value),
    /// Something was refused.
    Refused(String),
    /// Anything else, such as the confirmation of a transaction.
    Other,
}

/// The bytes are no messages of a database.
#[derive(Debug, thiserror::Error)]
pub(super) enum MessageError {
    #[error("a message is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("a message has more than {MAX_MESSAGE} bytes")]
    TooLong,
}

impl Inbox {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message.
    pub(super) fn next(&mut self) -> Result<Option<Message>, MessageError> {
        if self.bytes.len() < self.searched.saturating_mul(2) {
            return Ok(None);
        }
        let mut values = serde_json::Deserializer::from_slice(&self.bytes).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let used = values.byte_offset();
                self.bytes.drain(..used);
                self.searched = 0;
                Ok(Some(Message::of(&value)))
            }
            Some(Err(error)) if !error.is_eof() => Err(error.into()),
            _ if self.bytes.len() > MAX_MESSAGE => Err(MessageError::TooLong),
            Some(Err(_)) => {
                // Small messages are sought at once, so that none waits for bytes that do not come.
                self.searched =
                    if self.bytes.len() < 1 << 16 { 0 } else { (self.bytes.len() / 2).saturating_add(1) };
                Ok(None)
            }
            None => Ok(None),
        }
    }
}

impl Message {
    fn of(value: &Value) -> Self {
        let method = value.get("method").and_then(Value::as_str);
        match method {
            Some("echo") => Self::Echo(json!({
                "id": value.get("id"), "result": value.get("params"), "error": null
            })),
            Some("update") => Self::Update(value.pointer("/params/1").cloned().unwrap_or_default()),
            Some(_) => Self::Other,
            None => match (refusal(value), value.get("id").and_then(Value::as_u64)) {
                (Some(refusal), _) => Self::Refused(refusal),
                (None, Some(MONITOR_ID)) => Self::Update(value.get("result").cloned().unwrap_or_default()),
                (None, _) => Self::Other,
            },
        }
    }
}

/// The error of a reply, or of an operation within it. RFC 7047 §4.1.3.
fn refusal(reply: &Value) -> Option<String> {
    let error = |value: &Value| value.get("error").filter(|error| !error.is_null()).map(ToString::to_string);
    let results = reply.get("result").and_then(Value::as_array);
    error(reply).or_else(|| results.into_iter().flatten().find_map(error))
}

/// A question whether the database is there.
pub(super) fn echo() -> Value {
    json!({ "id": "braid", "method": "echo", "params": [] })
}

/// Asks for bridges, their controllers, ports and interfaces, and for what changes of them.
pub(super) fn monitor() -> Value {
    json!({ "id": MONITOR_ID, "method": "monitor", "params": ["Open_vSwitch", null, {
        "Bridge": { "columns": [
            "name", "datapath_id", "ports", "controller", "fail_mode", "protocols", "stp_enable", "rstp_enable",
        ] },
        "Controller": { "columns": ["target", "max_backoff", "external_ids"] },
        "Port": { "columns": ["interfaces", "qos"] },
        "QoS": { "columns": ["type", "other_config"] },
        "Interface": { "columns": ["name", "ofport", "bfd", "bfd_status", "external_ids"] },
    }] })
}

/// A transaction of these operations: one for all ports, since Open vSwitch looks at its whole configuration after each.
pub(super) fn transact(id: u64, operations: Vec<Value>) -> Value {
    let comment = json!({ "op": "comment", "comment": "braid: BFD of links, max_backoff of controllers" });
    let params: Vec<_> = [json!("Open_vSwitch")].into_iter().chain(operations).chain([comment]).collect();
    json!({ "id": id, "method": "transact", "params": params })
}

/// The operations that set BFD of an interface.
pub(super) fn set_bfd(interface: &str, bfd: PortBfd) -> [Value; 2] {
    let wanted = match bfd {
        PortBfd::Off => json!([]),
        PortBfd::On { interval } => {
            let millis = interval.as_millis().to_string();
            json!([["enable", "true"], ["min_rx", millis], ["min_tx", millis]])
        }
    };
    let row = Row { table: "Interface", uuid: interface };
    [row.update(&json!({ "bfd": ["map", wanted] })), row.mark(BFD_MARK, bfd != PortBfd::Off)]
}

/// The operations that set `max_backoff` of a controller.
pub(super) fn set_max_backoff(controller: &str, MaxBackoff(wanted): MaxBackoff) -> [Value; 2] {
    let row = Row { table: "Controller", uuid: controller };
    let value = wanted.map_or_else(|| json!(["set", []]), |millis| json!(millis));
    [row.update(&json!({ "max_backoff": value })), row.mark(BACKOFF_MARK, wanted.is_some())]
}

/// A row of a table.
#[derive(Clone, Copy)]
struct Row<'a> {
    table: &'a str,
    uuid: &'a str,
}

impl Row<'_> {
    /// The operation that sets columns.
    fn update(self, columns: &Value) -> Value {
        json!({ "op": "update", "table": self.table, "where": self.place(), "row": columns })
    }

    /// The operation that sets Braid's mark or removes it.
    fn mark(self, mark: &str, is_ours: bool) -> Value {
        let mutation = match is_ours {
            true => json!(["external_ids", "insert", ["map", [[mark, "true"]]]]),
            false => json!(["external_ids", "delete", ["set", [mark]]]),
        };
        json!({ "op": "mutate", "table": self.table, "where": self.place(), "mutations": [mutation] })
    }

    fn place(self) -> Value {
        json!([["_uuid", "==", ["uuid", self.uuid]]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_pieces_and_several_at_once() {
        let mut inbox = Inbox::default();
        let echo = br#"{"id":"echo","method":"echo","params":[]}{"id":7,"result":[{}],"error":null}{"id":1,"#;
        for byte in &echo[..20] {
            inbox.push(&[*byte]);
            assert_eq!(inbox.next().expect("JSON"), None);
        }
        inbox.push(&echo[20..]);
        let answer = json!({ "id": "echo", "result": [], "error": null });
        assert_eq!(inbox.next().expect("JSON"), Some(Message::Echo(answer)));
        assert_eq!(inbox.next().expect("JSON"), Some(Message::Other));
        assert_eq!(inbox.next().expect("JSON"), None);
        inbox.push(br#""result":{"Port":{}},"error":null}"#);
        assert_eq!(inbox.next().expect("JSON"), Some(Message::Update(json!({ "Port": {} }))));
    }

    #[test]
    fn errors_of_transactions_are_found_and_other_bytes_refused() {
        let mut inbox = Inbox::default();
        inbox.push(br#"{"id":2,"result":[{"count":1},{"error":"constraint violation"}],"error":null}"#);
        assert_eq!(
            inbox.next().expect("JSON"),
            Some(Message::Refused("\"constraint violation\"".to_owned()))
        );
        inbox.push(b"HTTP/1.1 400 Bad Request");
        assert!(inbox.next().is_err());
    }
}
