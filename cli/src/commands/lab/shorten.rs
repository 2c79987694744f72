//! Scenarios with what the options of `braid lab run` say instead: fewer profiles, other times and repetitions.

use braid_lab::Scenario;

use super::Run;
use crate::exit::{Code, error};

/// The scenario with these options.
pub(super) fn shortened(mut scenario: Scenario, run: &Run) -> anyhow::Result<Scenario> {
    if let Some(traffic) = &mut scenario.traffic {
        traffic.repeat = run.repeat.unwrap_or(traffic.repeat);
        traffic.duration = run.duration.map_or(traffic.duration, Into::into);
        traffic.warm_up = run.warm_up.map_or(traffic.warm_up, Into::into);
    }
    if let Some(list) = &run.profiles {
        keep_profiles(&mut scenario, list)
            .map_err(|what| error(Code::Usage, format!("--profiles {list}: {what}")))?;
    }
    Ok(scenario)
}

/// Leaves out the profiles that the list does not name, and what is expected of more profiles than are left; the others keep
/// their order.
fn keep_profiles(scenario: &mut Scenario, list: &str) -> Result<(), String> {
    let names: Vec<_> = scenario.profiles.iter().map(|it| it.name.clone()).collect();
    if names.is_empty() {
        return Err("the scenario has no profiles".to_owned());
    }
    let mut kept = vec![false; names.len()];
    for part in list.split(',').map(str::trim) {
        let range = range(part, &names);
        let range = range.ok_or_else(|| {
            format!("there is no {part:?}; there are 1-{}: {}", names.len(), names.join(", "))
        })?;
        kept[range].fill(true);
    }
    let mut kept = kept.into_iter();
    scenario.profiles.retain(|_| kept.next().unwrap_or(false));
    let left = scenario.profiles.len();
    scenario.expect.retain(|it| it.profiles.is_none_or(|wanted| wanted <= left));
    Ok(())
}

/// The indices of a name, a number from 1, or two with a hyphen.
fn range(part: &str, names: &[String]) -> Option<std::ops::Range<usize>> {
    if let Some(index) = names.iter().position(|name| name == part) {
        return Some(index..index + 1);
    }
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last && last <= names.len()).then(|| first - 1..last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_chosen_by_name_number_and_range() {
        let names: Vec<_> = ["baseline", "rtt_40", "bw-4"].map(str::to_owned).to_vec();
        let of = |part| range(part, &names);
        assert_eq!(
            [of("2"), of("1-3"), of("rtt_40"), of("bw-4")],
            [Some(1..2), Some(0..3), Some(1..2), Some(2..3)]
        );
        assert_eq!(["0", "4", "3-1", "2-9", "", "rtt"].map(of), [const { None }; 6]);
    }

    #[test]
    fn what_is_expected_of_more_profiles_than_are_left_is_left_out() {
        let text = include_str!("../../../../scenarios/bonding-16.yaml");
        let left = |list: &str| {
            let mut scenario = Scenario::parse(text, "bonding-16.yaml").expect("a scenario");
            keep_profiles(&mut scenario, list).expect("profiles");
            scenario.expect.len()
        };
        assert_eq!([left("1-16"), left("1-8"), left("1-7")], [3, 3, 2]);
    }
}
