//! Positions on Earth, their distance, and the delay of a straight fibre between them.

use std::time::Duration;

/// The mean radius of the Earth, in kilometres. Moritz (2000), "Geodetic Reference System 1980".
const EARTH_RADIUS_KM: f64 = 6_371.009;
/// Light in glass travels at about two thirds of its speed in vacuum.
const FIBRE_KM_PER_SECOND: f64 = 299_792.458 * 2.0 / 3.0;

/// A position on Earth, in degrees; WGS 84.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    latitude: f64,
    longitude: f64,
}

impl Position {
    /// The position at `latitude` (-90 to 90, north is positive) and `longitude` (-180 to 180, east is positive).
    /// `None` for other numbers.
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        let valid = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        valid.then_some(Self { latitude, longitude })
    }

    /// Degrees north of the equator.
    pub const fn latitude(self) -> f64 {
        self.latitude
    }

    /// Degrees east of Greenwich.
    pub const fn longitude(self) -> f64 {
        self.longitude
    }

    /// The great-circle distance in kilometres, on a sphere: at most 0.6 % from the ellipsoid's. Haversine formula.
    pub fn kilometres_to(self, other: Self) -> f64 {
        let [north, south] = [self.latitude, other.latitude].map(f64::to_radians);
        let half = |a: f64, b: f64| ((a - b).to_radians() / 2.0).sin().powi(2);
        let chord = half(self.latitude, other.latitude)
            + north.cos() * south.cos() * half(self.longitude, other.longitude);
        2.0 * EARTH_RADIUS_KM * chord.clamp(0.0, 1.0).sqrt().asin()
    }

    /// The delay of a fibre along the great circle, in whole microseconds: about 5 per kilometre. Real fibres are longer.
    pub fn fibre_delay_to(self, other: Self) -> Duration {
        let seconds = self.kilometres_to(other) / FIBRE_KM_PER_SECOND;
        Duration::from_micros((seconds * 1e6).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64) -> Position {
        Position::new(latitude, longitude).unwrap()
    }

    #[test]
    fn amsterdam_is_692_km_and_3_4_ms_from_geneva() {
        let [ams, gva] = [at(52.37, 4.9), at(46.2, 6.15)];
        assert_eq!(ams.kilometres_to(gva).round(), 692.0);
        assert_eq!(ams.fibre_delay_to(gva).as_micros() / 100, 34);
        assert_eq!(ams.kilometres_to(ams), 0.0);
    }

    #[test]
    fn antipodes_are_half_the_circumference_apart() {
        assert_eq!(at(0.0, 0.0).kilometres_to(at(0.0, 180.0)).round(), 20_015.0);
        assert_eq!(at(90.0, 0.0).kilometres_to(at(-90.0, 77.0)).round(), 20_015.0);
    }

    #[test]
    fn places_off_the_map_do_not_exist() {
        for (latitude, longitude) in [(90.1, 0.0), (0.0, -180.1), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
            assert_eq!(Position::new(latitude, longitude), None);
        }
    }
}
