//! `AssignMultipath`, `MakePath`, and `EndPath` beside them.

use std::net::IpAddr;

use braid_assign::{Claim, Distribution, Owner};
use braid_control::{Reply, Request};
use braid_types::{FiveTuple, MacAddr};

use super::xml::{Call, Fault, Value};
use crate::http::assignments::{LEASE, same_family};

/// What a call is about.
#[derive(Debug)]
pub(super) enum Called {
    /// Something that the controller is to do.
    Request(Request),
    /// Something that needs nobody.
    Known(Value),
}

const METHODS: [(&str, &str); 4] = [
    (
        "AssignMultipath",
        "src_ip, src_mac, dst_ip, path_num[, streams[, owner]]: sets paths aside; gives their id and number",
    ),
    (
        "MakePath",
        "id, src_ip, src_port, dst_ip, dst_port[, owner]: gives one TCP connection its path, before it opens",
    ),
    ("EndPath", "id, src_ip, src_port, dst_ip, dst_port[, owner]: the connection has ended"),
    ("system.listMethods", "names the methods"),
];

/// What a call asks for.
pub(super) fn understand(call: &Call) -> Result<Called, Fault> {
    let parameters = &call.parameters;
    Ok(match call.method.as_str() {
        "AssignMultipath" => Called::Request(assign(parameters)?),
        "MakePath" => {
            let (assignment, owner, tuple) = connection("MakePath", parameters)?;
            Called::Request(Request::Place { assignment, owner, tuple })
        }
        "EndPath" => {
            let (assignment, owner, tuple) = connection("EndPath", parameters)?;
            Called::Request(Request::End { assignment, owner, tuple })
        }
        "system.listMethods" => {
            Called::Known(Value::List(METHODS.map(|(name, _)| Value::Text(name.to_owned())).to_vec()))
        }
        "system.methodHelp" => Called::Known(help(parameters)?),
        other => return Err(Fault::new(Fault::NO_METHOD, format!("there is no method {other:?}"))),
    })
}

/// What a method gives, if it is done.
pub(super) fn result_of(answer: &Reply) -> Result<Value, Fault> {
    let count = |number: usize| Value::Int(i32::try_from(number).unwrap_or(i32::MAX));
    Ok(match answer {
        Reply::Assignment(assignment) => Value::Record(vec![
            ("id", Value::Text(assignment.id.to_string())),
            ("paths", count(assignment.paths.len())),
            ("requested_paths", count(assignment.wanted)),
        ]),
        Reply::Placed(placed) => {
            let switches = placed.switches.iter().map(|dpid| Value::Text(dpid.to_string())).collect();
            // The place of the path in the assignment, from 0; -1 for another one.
            let path = placed.path.map_or(Value::Int(-1), count);
            Value::Record(vec![("path", path), ("switches", Value::List(switches))])
        }
        Reply::Ended => Value::Int(0),
        Reply::Refused(refusal) => return Err(Fault::new(Fault::APPLICATION, refusal.to_string())),
        Reply::Advice(_) => {
            return Err(Fault::new(Fault::APPLICATION, "the answer was to another question".to_owned()));
        }
    })
}

fn assign(parameters: &[Value]) -> Result<Request, Fault> {
    let usage = "AssignMultipath";
    let [src, mac, dst, paths, rest @ ..] = parameters else { return Err(arity(usage)) };
    let (streams, owner) = match rest {
        [] => (None, None),
        [streams] => (Some(streams), None),
        [streams, owner] => (Some(streams), Some(owner)),
        _ => return Err(arity(usage)),
    };
    // The address alone says which host it is; the other one is checked so that mistakes show.
    text("src_mac", mac)?.parse::<MacAddr>().map_err(|error| wrong("src_mac", error))?;
    let src = address("src_ip", src)?;
    let dst = address("dst_ip", dst)?;
    same_family(src, dst).map_err(|error| wrong("dst_ip", error))?;
    let streams = streams.map(|it| number("streams", it)).transpose()?;
    let owner = owner.map_or_else(|| src.to_string().parse().map_err(|it| wrong("src_ip", it)), name)?;
    let (distribution, model, paths) = (Distribution::Weight, None, number("path_num", paths)?);
    // None at all is as good as unknown.
    let streams = streams.filter(|streams| *streams > 0);
    Ok(Request::Assign(Claim { owner, src, dst, paths, streams, lease: LEASE, distribution, model }))
}

type Connection = (braid_assign::AssignmentId, Option<Owner>, FiveTuple);

fn connection(method: &'static str, parameters: &[Value]) -> Result<Connection, Fault> {
    let (parameters, owner) = match parameters {
        [five @ .., owner] if parameters.len() == 6 => (five, Some(name(owner)?)),
        five => (five, None),
    };
    let [id, src, src_port, dst, dst_port] = parameters else { return Err(arity(method)) };
    let id = text("id", id)?.parse().map_err(|error: String| wrong("id", error))?;
    let (src, dst) = (address("src_ip", src)?, address("dst_ip", dst)?);
    same_family(src, dst).map_err(|error| wrong("dst_ip", error))?;
    let (src_port, dst_port) = (port("src_port", src_port)?, port("dst_port", dst_port)?);
    Ok((id, owner, FiveTuple { src, dst, src_port, dst_port }))
}

fn help(parameters: &[Value]) -> Result<Value, Fault> {
    let [name] = parameters else { return Err(arity("system.methodHelp")) };
    let name = text("name", name)?;
    let help = METHODS.iter().find(|(method, _)| *method == name).map(|(_, help)| *help);
    let help = help.ok_or_else(|| Fault::new(Fault::NO_METHOD, format!("there is no method {name:?}")))?;
    Ok(Value::Text(help.to_owned()))
}

fn arity(method: &str) -> Fault {
    let usage = METHODS.iter().find(|(name, _)| *name == method).map_or("one name", |(_, usage)| *usage);
    Fault::new(Fault::PARAMETERS, format!("{method} takes {usage}"))
}

fn wrong(name: &str, why: impl std::fmt::Display) -> Fault {
    Fault::new(Fault::PARAMETERS, format!("{name}: {why}"))
}

fn text<'a>(name: &str, value: &'a Value) -> Result<&'a str, Fault> {
    match value {
        Value::Text(text) => Ok(text.trim()),
        other => Err(wrong(name, format!("expected a string, not {}", kind(other)))),
    }
}

fn address(name: &str, value: &Value) -> Result<IpAddr, Fault> {
    let text = text(name, value)?;
    let address = text.parse::<IpAddr>().map_err(|_| wrong(name, format!("{text:?} is no IP address")))?;
    Ok(address.to_canonical())
}

/// A number as such or as text, as a shell has it.
fn number(name: &str, value: &Value) -> Result<usize, Fault> {
    let number = match value {
        Value::Int(number) => usize::try_from(*number).ok(),
        Value::Text(text) => text.trim().parse().ok(),
        other => return Err(wrong(name, format!("expected a number, not {}", kind(other)))),
    };
    number.ok_or_else(|| wrong(name, "it is a whole number, and not negative"))
}

fn port(name: &str, value: &Value) -> Result<u16, Fault> {
    let port = u16::try_from(number(name, value)?).ok().filter(|port| *port > 0);
    port.ok_or_else(|| wrong(name, "a TCP port is from 1 to 65535"))
}

fn name(value: &Value) -> Result<Owner, Fault> {
    text("owner", value)?.parse().map_err(|error| wrong("owner", error))
}

fn kind(value: &Value) -> &str {
    match value {
        Value::Int(_) => "an integer",
        Value::Text(_) => "a string",
        Value::List(_) => "an array",
        Value::Record(_) => "a struct",
        Value::Other(name) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, parameters: &[Value]) -> Result<Called, i32> {
        let call = Call { method: method.to_owned(), parameters: parameters.to_vec() };
        understand(&call).map_err(|fault| fault.code)
    }

    fn given(text: &str) -> Value {
        text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Int)
    }

    fn all(texts: &[&str]) -> Vec<Value> {
        texts.iter().copied().map(given).collect()
    }

    #[test]
    fn both_calls_of_the_paper_are_understood() {
        let assigned = call("AssignMultipath", &all(&["10.0.0.1", "02:00:00:00:00:01", "10.0.0.2", "4"]));
        let Ok(Called::Request(Request::Assign(claim))) = assigned else { panic!("{assigned:?}") };
        assert_eq!((claim.paths, claim.streams, claim.owner.to_string()), (4, None, "10.0.0.1".to_owned()));
        let made = call("MakePath", &all(&["00000000000000ff", "10.0.0.1", "4711", "10.0.0.2", "2811"]));
        let Ok(Called::Request(Request::Place { assignment, tuple, .. })) = made else { panic!("{made:?}") };
        assert_eq!((assignment.0, tuple.src_port, tuple.dst_port), (255, 4711, 2811));
    }

    #[test]
    fn wrong_numbers_and_types_of_parameters_are_refused() {
        let mac = "02:00:00:00:00:01";
        for parameters in [
            all(&[]),
            all(&["10.0.0.1", mac, "10.0.0.2"]),
            all(&["10.0.0.1", mac, "10.0.0.2", "4", "1", "me", "more"]),
            all(&["10.0.0.1", mac, "10.0.0.2", "-1"]),
            all(&["10.0.0.1", mac, "10.0.0.2", "many"]),
            all(&["10.0.0.1", "mac", "10.0.0.2", "4"]),
            all(&["10.0.0.1", mac, "host", "4"]),
            all(&["10.0.0.1", mac, "fd00::2", "4"]),
            vec![Value::Int(1), given(mac), given("10.0.0.2"), Value::Int(4)],
            vec![given("10.0.0.1"), given(mac), given("10.0.0.2"), Value::Other("double".to_owned())],
        ] {
            assert_eq!(call("AssignMultipath", &parameters).err(), Some(Fault::PARAMETERS), "{parameters:?}");
        }
        for parameters in [
            all(&["00000000000000ff", "10.0.0.1", "4711", "10.0.0.2"]),
            all(&["ff", "10.0.0.1", "4711", "10.0.0.2", "1"]),
            all(&["00000000000000ff", "10.0.0.1", "0", "10.0.0.2", "1"]),
            all(&["00000000000000ff", "10.0.0.1", "65536", "10.0.0.2", "1"]),
        ] {
            assert_eq!(call("MakePath", &parameters).err(), Some(Fault::PARAMETERS), "{parameters:?}");
        }
        assert_eq!(call("Other", &[]).err(), Some(Fault::NO_METHOD));
    }
}
