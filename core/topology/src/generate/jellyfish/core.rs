//! Random links between the switches of a Jellyfish, without parallel ones.

use std::collections::HashSet;

use super::Random;

/// Consecutive failed draws after which the remaining pairs are listed instead.
const MAX_FAILED_DRAWS: usize = 64;

/// Joins switches at random, given how many ports each has free; the links, no two of them parallel.
pub(super) fn join(free: Vec<usize>, random: &mut Random) -> Vec<(usize, usize)> {
    let open = (0..free.len()).filter(|switch| free[*switch] > 0).collect();
    let mut core = Core { free, open, links: Vec::new(), joined: HashSet::new() };
    core.join_at_random(random);
    core.join_the_rest(random);
    while core.insert_into_a_link(random) {}
    core.links
}

struct Core {
    free: Vec<usize>,
    /// The switches with a free port.
    open: Vec<usize>,
    links: Vec<(usize, usize)>,
    /// The ends of the links, the lower first. Never iterated, since its order changes from run to run.
    joined: HashSet<(usize, usize)>,
}

impl Core {
    /// Draws pairs of open switches until too many draws in a row are of neighbours.
    fn join_at_random(&mut self, random: &mut Random) {
        let mut misses = 0;
        while self.open.len() > 1 && misses < MAX_FAILED_DRAWS {
            let [first, second] = [random.below(self.open.len()), random.below(self.open.len())];
            let (a, b) = (self.open[first], self.open[second]);
            if !self.fits(a, b) {
                misses += 1;
                continue;
            }
            misses = 0;
            self.join(a, b);
            // The higher index first, so that the removal does not shift the lower one.
            [first.max(second), first.min(second)].into_iter().for_each(|place| self.close_if_full(place));
        }
    }

    /// Joins what can be joined directly, in a random order. A pair that cannot be joined now cannot be later.
    fn join_the_rest(&mut self, random: &mut Random) {
        let mut pairs = Vec::new();
        for (place, &a) in self.open.iter().enumerate() {
            pairs.extend(self.open[..place].iter().filter(|b| self.fits(a, **b)).map(|b| (a, *b)));
        }
        random.shuffle(&mut pairs);
        for (a, b) in pairs {
            if self.free[a] > 0 && self.free[b] > 0 {
                self.join(a, b);
            }
        }
        self.open.retain(|switch| self.free[*switch] > 0);
    }

    /// Uses two free ports that cannot be joined: replaces a link x-y by u-x and v-y. Returns whether it could.
    fn insert_into_a_link(&mut self, random: &mut Random) -> bool {
        let Some((u, v)) = self.two_free_ports(random) else { return false };
        let start = random.below(self.links.len().max(1));
        let places = (start..self.links.len()).chain(0..start);
        let swaps = places.flat_map(|place| {
            let (x, y) = self.links[place];
            [(place, x, y), (place, y, x)]
        });
        let Some((place, x, y)) = swaps.into_iter().find(|(_, x, y)| self.fits(u, *x) && self.fits(v, *y))
        else {
            return false;
        };
        self.joined.remove(&ordered(x, y));
        self.links.swap_remove(place);
        // The ports of x and y are free for this moment.
        self.free[x] += 1;
        self.free[y] += 1;
        self.join(u, x);
        self.join(v, y);
        self.open.retain(|switch| self.free[*switch] > 0);
        true
    }

    /// The switches of two free ports, which may be one switch.
    fn two_free_ports(&self, random: &mut Random) -> Option<(usize, usize)> {
        let place = random.below(self.open.len().max(1));
        let u = *self.open.get(place)?;
        if self.free[u] > 1 {
            return Some((u, u));
        }
        let others = self.open.len() - 1;
        let v = (others > 0).then(|| self.open[(place + 1 + random.below(others)) % self.open.len()]);
        v.map(|v| (u, v))
    }

    fn fits(&self, a: usize, b: usize) -> bool {
        a != b && !self.joined.contains(&ordered(a, b))
    }

    fn join(&mut self, a: usize, b: usize) {
        self.free[a] -= 1;
        self.free[b] -= 1;
        self.joined.insert(ordered(a, b));
        self.links.push((a, b));
    }

    fn close_if_full(&mut self, place: usize) {
        if self.free[self.open[place]] == 0 {
            self.open.swap_remove(place);
        }
    }
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(switches: usize, links: &[(usize, usize)]) -> Vec<usize> {
        let mut degrees = vec![0; switches];
        links.iter().flat_map(|(a, b)| [*a, *b]).for_each(|end| degrees[end] += 1);
        degrees
    }

    #[test]
    fn every_port_is_used_once_whatever_the_density() {
        for (switches, ports) in [(2, 1), (10, 3), (10, 8), (10, 9), (31, 4), (64, 62), (100, 3)] {
            for seed in 0..50 {
                let links = join(vec![ports; switches], &mut Random::new(seed));
                assert_eq!(degrees(switches, &links), vec![ports; switches], "{switches} × {ports}, {seed}");
                let pairs: HashSet<_> = links.iter().map(|(a, b)| ordered(*a, *b)).collect();
                assert_eq!(pairs.len(), links.len());
                assert!(links.iter().all(|(a, b)| a != b));
            }
        }
    }

    #[test]
    fn of_an_odd_number_of_ports_one_stays_free() {
        let links = join(vec![3; 9], &mut Random::new(1));
        assert_eq!(degrees(9, &links).iter().sum::<usize>(), 26);
    }

    #[test]
    fn ports_that_nothing_can_join_stay_free() {
        assert_eq!(join(vec![2, 0, 0], &mut Random::new(1)), []);
        assert_eq!(join(vec![2, 2, 0], &mut Random::new(1)).len(), 1);
    }
}
