//! The OpenAPI description against the served endpoints.

use serde_json::{Value, json};

use crate::paths::network;
use crate::support::{Running, wait_for};

/// What in `value` is not as the schema says; where.
fn differences(document: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = &document["components"]["schemas"][name.rsplit('/').next().unwrap_or(name)];
        assert!(schema.is_object(), "{name} is not described");
        return differences(document, schema, value, at, found);
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let merged = json!({ "oneOf": alternatives(document, parts) });
        return differences(document, &merged, value, at, found);
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(options) = schema[choice].as_array() {
            let fits = |option: &Value| {
                let mut wrong = Vec::new();
                differences(document, option, value, at, &mut wrong);
                wrong.is_empty()
            };
            if !options.iter().any(fits) {
                found.push(format!("{at}: {value} is none of {options:?}"));
            }
            return;
        }
    }
    if !has_type(&schema["type"], value) {
        found.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    if let Value::Array(items) = value {
        items
            .iter()
            .for_each(|item| differences(document, &schema["items"], item, &format!("{at}[]"), found));
    }
    if let (Value::Object(fields), Some(known)) = (value, schema["properties"].as_object()) {
        let is_open = schema.get("additionalProperties").is_some_and(|it| it != &Value::Bool(false));
        for (name, field) in fields {
            match known.get(name) {
                Some(schema) => differences(document, schema, field, &format!("{at}.{name}"), found),
                None if is_open => {}
                None => found.push(format!("{at}.{name} is not described")),
            }
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        found.extend(
            required.filter(|name| !fields.contains_key(*name)).map(|name| format!("{at}.{name} is missing")),
        );
    }
}

/// The objects that the parts of an `allOf` make together: one, or one for each choice of a part.
fn alternatives(document: &Value, parts: &[Value]) -> Vec<Value> {
    let none = json!({ "type": "object", "properties": {}, "required": [] });
    parts.iter().fold(vec![none], |merged, part| {
        let choices = choices(document, part);
        merged.iter().flat_map(|one| choices.iter().map(|other| merge(one.clone(), other))).collect()
    })
}

/// What a part may be.
fn choices(document: &Value, part: &Value) -> Vec<Value> {
    let name = part["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let part = name.map_or(part, |name| &document["components"]["schemas"][name]);
    match (part["allOf"].as_array(), part["oneOf"].as_array()) {
        (Some(parts), _) => alternatives(document, parts),
        (None, Some(options)) => options.iter().flat_map(|option| choices(document, option)).collect(),
        (None, None) => vec![part.clone()],
    }
}

/// One object with the properties of both.
fn merge(mut merged: Value, part: &Value) -> Value {
    for (name, schema) in part["properties"].as_object().into_iter().flatten() {
        merged["properties"][name] = schema.clone();
    }
    let required = part["required"].as_array().into_iter().flatten().cloned();
    merged["required"].as_array_mut().expect("a list").extend(required);
    if let Some(more) = part.get("additionalProperties") {
        merged["additionalProperties"] = more.clone();
    }
    merged
}

fn has_type(kind: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    kind.as_array().map_or_else(|| is(kind), |kinds| kinds.iter().any(is))
}

#[test]
fn what_is_served_is_what_is_described() {
    let controller = network();
    let get = |path: &str| {
        let (status, body) = controller.get(path);
        (status, serde_json::from_str::<Value>(&body).unwrap_or_else(|error| panic!("{path}: {error}")))
    };
    let (_, document) = get("/api/v1/openapi.json");
    let history = "/api/v1/links/history?dpid=1&port=1";
    wait_for(|| get(history).0 == 200, || format!("{:?}", get(history)));
    let mut questions = without_parameters(&document);
    assert!(questions.contains(&"/api/v1/alarms") && questions.contains(&"/api/v1/policy"), "{questions:?}");
    questions.extend([
        "/api/v1/edges/history?dpid=1",
        "/api/v1/paths?src=1&dst=2",
        "/api/v1/paths?src=1&dst=3",
        history,
        "/api/v1/transfers/history?id=1",
    ]);
    for question in questions {
        let (status, answer) = get(question);
        fits(&document, "get", question.split('?').next().expect("a path"), status, &answer);
    }
}

/// The described paths that answer with JSON and need no parameters.
fn without_parameters(document: &Value) -> Vec<&str> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let plain = paths.filter(|(_, methods)| {
        let parameters = methods["get"]["parameters"].as_array().into_iter().flatten();
        methods["get"]["responses"]["200"]["content"]["application/json"].is_object()
            && !parameters.into_iter().any(|parameter| parameter["required"] == true)
    });
    plain.map(|(path, _)| path.as_str()).collect()
}

/// Whether an answer is one of those that are described.
fn fits(document: &Value, method: &str, path: &str, status: u16, answer: &Value) {
    let responses = &document["paths"][path][method]["responses"];
    let (kind, status) = if status < 300 {
        ("application/json", status.to_string())
    } else {
        ("application/problem+json", "default".to_owned())
    };
    let schema = &responses[status]["content"][kind]["schema"];
    assert!(schema.is_object(), "{method} {path} is not described: {responses}");
    let mut found = Vec::new();
    differences(document, schema, answer, path, &mut found);
    assert_eq!(found, [""; 0], "{answer}");
}

#[test]
fn what_is_refused_names_the_field() {
    let controller = Running::start(None);
    let (_, document) = controller.get("/api/v1/openapi.json");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let assignment = "/api/v1/assignments/{id}";
    let streams = "/api/v1/assignments/{id}/streams";
    let ends = r#"{"local":"10.0.0.1:1","remote":"10.0.0.2:2"}"#;
    let advice = format!(
        r#"{{"connection":{ends},"local_addresses":[],"remote_addresses":[],"subflows":[{ends},{{"local":7}}],"failed":[],"max_subflows":1}}"#
    );
    let cases = [
        ("post", "/api/v1/assignments", r#"{"src":"10.0.0.1","dst":"::1","paths":1}"#, Some("dst")),
        ("post", "/api/v1/assignments", r#"{"src":"10.0.0.1","dst":"x","paths":1}"#, Some("dst")),
        ("post", "/api/v1/assignments", r#"{"src":"10.0.0.1","dst":"10.0.0.2","paths":1,"a":-1}"#, Some("a")),
        ("put", assignment, "", Some("id")),
        ("delete", assignment, r#"{"owner":""}"#, Some("id")),
        ("post", streams, "{}", Some("id")),
        ("put", "/api/v1/policy", "[[rule]]\nname = \"a\"\nk = 0\n", Some("rule[0].k")),
        ("post", "/api/v1/advice", advice.as_str(), Some("subflows[1].local")),
        ("post", "/api/v1/advice", "[", None),
    ];
    for (method, path, body, parameter) in cases {
        let (status, answer) =
            controller.send(&method.to_uppercase(), &path.replace("{id}", "nobody"), body.as_bytes());
        let answer: Value =
            serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{method} {path}: {answer}"));
        assert_eq!((status, answer["parameter"].as_str()), (400, parameter), "{method} {path}: {answer}");
        fits(&document, method, path, status, &answer);
    }
}

#[test]
fn the_description_in_git_is_that_which_is_served() {
    let controller = Running::start(None);
    let (_, served) = controller.get("/api/v1/openapi.json");
    let served: Value = serde_json::from_str(&served).expect("JSON");
    let text = format!("{served:#}\n");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    if std::env::var_os("BRAID_WRITE_OPENAPI").is_some() {
        std::fs::write(file, &text).expect("a file that can be written");
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    assert!(kept == text, "docs/openapi.json is old: make openapi");
}

#[test]
fn what_is_described_is_served_and_documented() {
    let controller = network();
    let (_, document) = controller.get("/api/v1/openapi.json");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
    let docs = include_str!("../../../../docs/reference/api.md");
    for (path, methods) in document["paths"].as_object().expect("paths") {
        assert!(
            docs.contains(path.as_str()),
            "{path} is not in docs/reference/api.md: run scripts/docs-reference"
        );
        for method in methods.as_object().expect("methods").keys().filter(|_| !path.ends_with("stream")) {
            let named = path.replace("{id}", "0123456789abcdef").replace("{switch}", "1");
            let (status, body) = controller.request(&method.to_uppercase(), &named);
            let is_absent = status == 404
                && !["no assignment 0123456789abcdef", "no testbed", "no member of a cluster"]
                    .iter()
                    .any(|it| body.contains(it));
            assert!(!is_absent && ![405, 500].contains(&status), "{method} {path}: {status} {body}");
        }
    }
}
