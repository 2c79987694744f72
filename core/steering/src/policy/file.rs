//! Policy files in TOML.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use braid_paths::Kind;
use braid_types::{IpPrefix, choice_schema, plain_words, text_schema, with_schema};
use schemars::{JsonSchema, Schema, schema_for};
use serde::Deserialize;

use super::spanned::Spanned;
use super::{Imbalance, Policies, PolicyRule, PortRange, Resequence, SteerAs, Steering};
use crate::{AdviceRequest, Policy};

/// Every connection that opens is compared with every rule.
const MAX_RULES: usize = 1_024;
/// Prefixes of a rule, and ranges of ports.
const MAX_PREFIXES: usize = 256;
/// Further paths between two switches cost more time than they give capacity.
const MAX_PATHS: usize = 64;
/// The greatest difference of delays that a policy allows: a resequencer holds packets 1.5 times as long.
const MAX_DELAY_DIFFERENCE_MS: usize = 1_000;

/// A problem in a file, and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyProblem {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The field, such as `rule[0].k`; empty if the file is not TOML.
    pub field: String,
    /// The problem.
    pub what: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    /// Of the rules, the first that matches a connection applies
    #[serde(default)]
    #[schemars(length(max = MAX_RULES))]
    rule: Vec<Rule>,
    /// The steering of other connections, and of fields that the rule does not set
    #[serde(default)]
    default: Fields,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// A name that no other rule has
    #[schemars(length(min = 1))]
    name: Spanned<String>,
    /// Prefixes of the opening host; without them, anywhere
    #[serde(default)]
    #[schemars(with = "Vec<PrefixText>", length(max = MAX_PREFIXES))]
    from: Vec<Spanned<String>>,
    /// Prefixes of the answering host; without them, anywhere
    #[serde(default)]
    #[schemars(with = "Vec<PrefixText>", length(max = MAX_PREFIXES))]
    to: Vec<Spanned<String>>,
    /// The answering host's ports, and ranges of them; without any, all
    #[serde(default)]
    #[schemars(length(max = MAX_PREFIXES))]
    ports: Vec<Spanned<Port>>,
    /// Which connections are spread, and how
    #[schemars(with = "Option<SteerAs>")]
    kind: Option<Spanned<String>>,
    /// The kind of path set for its streams
    #[schemars(with = "Option<PathsText>")]
    paths: Option<Spanned<String>>,
    /// The number of paths
    #[schemars(range(min = 1, max = MAX_PATHS))]
    k: Option<Spanned<i64>>,
    /// How a stream's path is chosen among them
    #[schemars(with = "Option<PlacementText>")]
    placement: Option<Spanned<String>>,
    /// The total number of subflows that a host is advised to open
    #[schemars(range(min = 1, max = AdviceRequest::MAX_SUBFLOWS))]
    subflows: Option<Spanned<i64>>,
    /// When the packets of a sprayed connection are resequenced
    #[schemars(with = "Option<Resequence>")]
    resequence: Option<Spanned<String>>,
    /// The greatest delay imbalance of paths that are sprayed over together
    #[schemars(range(min = 0.0, max = 0.5))]
    max_mdi: Option<Spanned<f64>>,
    /// The greatest difference of delays, in milliseconds, of paths that are sprayed over together
    #[schemars(range(min = 0, max = MAX_DELAY_DIFFERENCE_MS))]
    max_delay_difference_ms: Option<Spanned<i64>>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fields {
    /// Which connections are spread, and how
    #[schemars(with = "Option<SteerAs>")]
    kind: Option<Spanned<String>>,
    /// The kind of path set for its streams
    #[schemars(with = "Option<PathsText>")]
    paths: Option<Spanned<String>>,
    /// The number of paths
    #[schemars(range(min = 1, max = MAX_PATHS))]
    k: Option<Spanned<i64>>,
    /// How a stream's path is chosen among them
    #[schemars(with = "Option<PlacementText>")]
    placement: Option<Spanned<String>>,
    /// The total number of subflows that a host is advised to open
    #[schemars(range(min = 1, max = AdviceRequest::MAX_SUBFLOWS))]
    subflows: Option<Spanned<i64>>,
    /// When the packets of a sprayed connection are resequenced
    #[schemars(with = "Option<Resequence>")]
    resequence: Option<Spanned<String>>,
    /// The greatest delay imbalance of paths that are sprayed over together
    #[schemars(range(min = 0.0, max = 0.5))]
    max_mdi: Option<Spanned<f64>>,
    /// The greatest difference of delays, in milliseconds, of paths that are sprayed over together
    #[schemars(range(min = 0, max = MAX_DELAY_DIFFERENCE_MS))]
    max_delay_difference_ms: Option<Spanned<i64>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a port is a number or a text such as \"50000-51000\"")]
enum Port {
    Number(#[schemars(range(min = 1, max = u16::MAX))] i64),
    Text(#[schemars(pattern(r"^\d{1,5}(?:-\d{1,5})?$"))] String),
}

// What the texts of a file may be, for its JSON schema.
enum PathsText {}
enum PlacementText {}
enum PrefixText {}

with_schema!(PathsText, {
    let kinds = Kind::catalog().map(|it| it.name.to_owned() + it.parameter.map_or("", |_| r":\d+"));
    text_schema(&format!("one of {}", Kind::list()), &kinds.collect::<Vec<_>>().join("|"))
});
with_schema!(PlacementText, choice_schema(Policy::ALL.map(Policy::name)));
with_schema!(
    PrefixText,
    text_schema("a prefix such as 10.0.0.0/8, or an address", r"[0-9a-fA-F:.]+(?:/\d{1,3})?")
);

impl Policies {
    /// The JSON schema of a policy file, without what `parse` checks of several fields together.
    pub fn schema() -> Schema {
        schema_for!(File)
    }

    /// Reads a policy file.
    ///
    /// # Errors
    ///
    /// Every problem in the file, in the order of the file.
    pub fn parse(text: &str) -> Result<Self, Vec<PolicyProblem>> {
        let mut reader = Reader { text, problems: Vec::new() };
        let file = toml::from_str::<File>(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            reader.add(span, String::new(), &plain_words(error.message()));
            std::mem::take(&mut reader.problems)
        })?;
        let policies = reader.policies(file);
        reader.problems.sort_by_key(|it| (it.line, it.column));
        if reader.problems.is_empty() { Ok(policies) } else { Err(reader.problems) }
    }
}

struct Reader<'a> {
    text: &'a str,
    problems: Vec<PolicyProblem>,
}

impl Reader<'_> {
    fn policies(&mut self, file: File) -> Policies {
        if file.rule.len() > MAX_RULES {
            let what = format!("there are {} rules, and {MAX_RULES} may be", file.rule.len());
            self.add(0..0, "rule".to_owned(), &what);
            return Policies::default();
        }
        let mut names = BTreeSet::new();
        let rules = file.rule.into_iter().enumerate();
        let rules =
            rules.map(|(index, rule)| self.rule(&format!("rule[{index}]"), rule, &mut names)).collect();
        Policies { rules, default: self.steering("default", file.default) }
    }

    fn rule(&mut self, key: &str, rule: Rule, names: &mut BTreeSet<String>) -> PolicyRule {
        let Rule { name, from, to, ports, kind, paths, k, placement, subflows, .. } = rule;
        let Rule { resequence, max_mdi, max_delay_difference_ms, .. } = rule;
        let (span, name) = (name.span(), name.into_inner());
        if name.trim().is_empty() {
            self.add(span, format!("{key}.name"), "it is empty");
        } else if !names.insert(name.clone()) {
            self.add(span, format!("{key}.name"), &format!("{name:?} is the name of another rule"));
        }
        let fields =
            Fields { kind, paths, k, placement, subflows, resequence, max_mdi, max_delay_difference_ms };
        let from = self.list(&format!("{key}.from"), from, |text| read::<IpPrefix>(&text));
        let to = self.list(&format!("{key}.to"), to, |text| read::<IpPrefix>(&text));
        let ports = self.list(&format!("{key}.ports"), ports, |port| match port {
            Port::Number(number) => read::<PortRange>(&number.to_string()),
            Port::Text(text) => read(&text),
        });
        PolicyRule { name, from, to, ports, steering: self.steering(key, fields) }
    }

    fn steering(&mut self, key: &str, fields: Fields) -> Steering {
        let kind = self.value(key, "kind", fields.kind, |text| match text.as_str() {
            "auto" => Ok(SteerAs::Auto),
            "single" => Ok(SteerAs::Single),
            "spray" => Ok(SteerAs::Spray),
            "parallel" => Ok(SteerAs::Parallel),
            _ => Err(format!("{text:?} is not auto, single, spray or parallel")),
        });
        Steering {
            steer_as: kind.unwrap_or_default(),
            paths: self.value(key, "paths", fields.paths, |text| read::<Kind>(&text)),
            k: self.value(key, "k", fields.k, |it| within(it, 1, MAX_PATHS)),
            placement: self.value(key, "placement", fields.placement, |text| read::<Policy>(&text)),
            subflows: self
                .value(key, "subflows", fields.subflows, |it| within(it, 1, AdviceRequest::MAX_SUBFLOWS)),
            resequence: self.value(key, "resequence", fields.resequence, |text| read::<Resequence>(&text)),
            max_mdi: self.value(key, "max_mdi", fields.max_mdi, |it| {
                Imbalance::try_from(it).map_err(|error| error.to_string())
            }),
            max_delay_difference: self
                .value(key, "max_delay_difference_ms", fields.max_delay_difference_ms, |it| {
                    within(it, 0, MAX_DELAY_DIFFERENCE_MS)
                })
                .map(|millis| Duration::from_millis(millis as u64)),
        }
    }

    fn value<T, U>(
        &mut self,
        key: &str,
        name: &str,
        value: Option<Spanned<T>>,
        read: impl Fn(T) -> Result<U, String>,
    ) -> Option<U> {
        let value = value?;
        let span = value.span();
        read(value.into_inner()).map_err(|what| self.add(span, format!("{key}.{name}"), &what)).ok()
    }

    fn list<T, U>(
        &mut self,
        key: &str,
        values: Vec<Spanned<T>>,
        read: impl Fn(T) -> Result<U, String>,
    ) -> Vec<U> {
        if values.len() > MAX_PREFIXES {
            let what = format!("there are {}, and {MAX_PREFIXES} may be", values.len());
            self.add(values[0].span(), key.to_owned(), &what);
        }
        let values = values.into_iter().take(MAX_PREFIXES).enumerate();
        let read = values.filter_map(|(index, value)| {
            let span = value.span();
            read(value.into_inner()).map_err(|what| self.add(span, format!("{key}[{index}]"), &what)).ok()
        });
        read.collect()
    }

    fn add(&mut self, span: Range<usize>, field: String, what: &str) {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
        self.problems.push(PolicyProblem { line, column, field, what: what.trim_end().to_owned() });
    }
}

fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn within(value: i64, least: usize, most: usize) -> Result<usize, String> {
    let valid = usize::try_from(value).ok().filter(|it| (least..=most).contains(it));
    valid.ok_or_else(|| format!("{value} is not from {least} to {most}"))
}

/// `LINE:COLUMN: FIELD: WHAT`, for a file's name to be put before.
impl Display for PolicyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.what)
    }
}
