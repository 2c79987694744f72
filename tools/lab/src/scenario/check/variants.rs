use std::collections::{BTreeMap, BTreeSet};

use serde_saphyr::Spanned;

use super::super::Variant;
use super::super::file::{self, File};
use super::super::problem::Problems;

/// What a lab tells its controller itself.
const OWN: [&str; 6] = ["openflow", "openflow-fd", "http", "record", "network", "help"];

/// Names that differ, and options that look like some.
pub(super) fn check(file: &File, problems: &mut Problems) -> Vec<Variant> {
    let mut names = BTreeSet::new();
    for (index, variant) in file.variants.iter().enumerate() {
        let (key, name) = (format!("variants[{index}].name"), &variant.name);
        if name.value.trim().is_empty() {
            problems.add(name.referenced, key, "the name is empty", "give it one");
        } else if !names.insert(&name.value) {
            let what = format!("{:?} is the name of another variant", name.value);
            problems.add(name.referenced, key, what, "give each another one");
        }
    }
    let all = file.variants.iter().enumerate();
    all.map(|(index, it)| variant(it, &format!("variants[{index}]"), problems)).collect()
}

fn variant(variant: &file::Variant, key: &str, problems: &mut Problems) -> Variant {
    let name = variant.name.value.clone();
    let Some(options) = &variant.controller else {
        return Variant { name, controller: BTreeMap::new() };
    };
    for option in options.value.keys() {
        let key = format!("{key}.controller.{option}");
        let is_name = option.starts_with(|first: char| first.is_ascii_lowercase())
            && option.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        if OWN.contains(&&**option) {
            problems.add(options.referenced, key, format!("--{option} is the lab's own"), "remove it");
        } else if !is_name {
            let remedy = "`braid controller run --help` has those that there are";
            problems.add(options.referenced, key, format!("{option:?} is no option"), remedy);
        }
    }
    let controller =
        options.value.iter().map(|(option, value)| (option.clone(), value.to_string())).collect();
    Variant { name, controller }
}

/// A variant that an expectation names must be there.
pub(super) fn check_name(name: Option<&Spanned<String>>, key: &str, file: &File, problems: &mut Problems) {
    let Some(name) = name else { return };
    if !file.variants.iter().any(|variant| variant.name.value == name.value) {
        let what = format!("there is no variant {:?}", name.value);
        problems.add(name.referenced, key, what, "name one of variants");
    }
}
