//! The registry of kinds: names, text both ways, and their documentation.

use std::collections::BTreeSet;

use braid_paths::{Kind, KindError};

#[test]
fn every_kind_is_read_as_it_is_written() {
    for kind in Kind::all(4) {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    assert_eq!("within:4".parse(), Ok(Kind::WithinHops(4)));
}

#[test]
fn every_kind_has_a_name_of_its_own_and_a_summary() {
    let names: BTreeSet<_> = Kind::catalog().map(|properties| properties.name).collect();
    assert_eq!(names.len(), Kind::catalog().count());
    assert!(Kind::catalog().all(|properties| !properties.summary.is_empty()));
}

#[test]
fn text_that_is_no_kind_is_refused_with_the_kinds_that_there_are() {
    let refused = |text: &str| text.parse::<Kind>().unwrap_err();
    let error = refused("teleport").to_string();
    assert!(error.starts_with("\"teleport\" is not one of "), "{error}");
    for properties in Kind::catalog() {
        assert!(error.contains(properties.name), "{error} lacks {}", properties.name);
    }
    assert!(error.ends_with(" or within:HOPS"), "{error}");
    for text in ["", "within", "shortest:4", ":4", "ksp:"] {
        assert_eq!(refused(text), KindError::Unknown(text.to_owned()));
    }
    for text in ["within:", "within:many", "within:-1", "within:4:5"] {
        assert_eq!(refused(text).to_string(), "HOPS is a whole number, such as within:4", "{text}");
    }
}

#[test]
fn every_kind_has_a_row_in_the_documentation() {
    let docs = include_str!("../../../../docs/paths.md");
    for properties in Kind::catalog() {
        let row = format!("| `{}`", properties.syntax());
        assert!(
            docs.lines().any(|line| line.starts_with(&row)),
            "docs/paths.md lacks a row of {}",
            properties.syntax()
        );
    }
}
