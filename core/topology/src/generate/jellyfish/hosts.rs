//! Second interfaces of dual-homed Jellyfish hosts, at random switches.

use super::Random;

/// Gives each host a second switch, none of them more than `limit` times, none to a host that is there already.
///
/// Every host has one switch, none of these more than `limit` times, and there are two switches or more.
pub(super) fn add_second_homes(homes: &mut [Vec<usize>], switches: usize, limit: usize, random: &mut Random) {
    let mut room = vec![limit; switches];
    let mut open: Vec<_> = (0..switches).collect();
    for host in 0..homes.len() {
        let own = homes[host][0];
        let place = draw(&open, own, random);
        let second =
            if open[place] == own { change_places(&mut homes[..host], own, random) } else { open[place] };
        homes[host].push(second);
        room[open[place]] -= 1;
        if room[open[place]] == 0 {
            open.swap_remove(place);
        }
    }
}

/// The place of an open switch, of another one than `own` if there is one.
fn draw(open: &[usize], own: usize, random: &mut Random) -> usize {
    let place = random.below(open.len());
    if open[place] != own || open.len() == 1 {
        return place;
    }
    (place + 1 + random.below(open.len() - 1)) % open.len()
}

/// Moves the second interface of a host, drawn from those that can be there, to the switch `to`; where it was before.
///
/// As only `to` has room, the others have all their second interfaces, fewer of which belong to hosts of `to`.
fn change_places(homes: &mut [Vec<usize>], to: usize, random: &mut Random) -> usize {
    let start = random.below(homes.len());
    let (before, after) = homes.split_at_mut(start);
    let mut others = after.iter_mut().chain(before).filter(|homes| !homes.contains(&to));
    let second = others.find_map(|homes| homes.last_mut());
    second.map_or(to, |second| std::mem::replace(second, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_interfaces_are_elsewhere_and_evenly_spread() {
        for (switches, hosts) in [(2_usize, 5_usize), (3, 3), (3, 7), (10, 40), (10, 41), (60, 120)] {
            for seed in 0..100 {
                let mut homes: Vec<_> = (0..hosts).map(|host| vec![host % switches]).collect();
                let limit = hosts.div_ceil(switches);
                add_second_homes(&mut homes, switches, limit, &mut Random::new(seed));
                let mut seconds = vec![0; switches];
                homes.iter().for_each(|homes| seconds[homes[1]] += 1);
                assert!(homes.iter().all(|homes| homes[0] != homes[1]), "{switches}, {hosts}, {seed}");
                assert!(seconds.iter().all(|count| *count <= limit), "{seconds:?}");
            }
        }
    }
}
