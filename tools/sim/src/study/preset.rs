//! The studies that come with Braid.

use std::fmt;
use std::str::FromStr;

use crate::StudyKind;

/// A study that comes with Braid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preset {
    name: &'static str,
    text: &'static str,
}

/// No preset has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no preset {0:?}; there are {names}", names = Preset::ALL.map(|preset| preset.name).join(", "))]
pub struct UnknownPreset(String);

macro_rules! preset {
    ($name:literal) => {
        Preset { name: $name, text: include_str!(concat!("../../presets/", $name, ".yaml")) }
    };
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 6] = [
        preset!("zannettou-fattree"),
        preset!("zannettou-jellyfish"),
        preset!("zannettou-dh-jellyfish"),
        preset!("joint-placement"),
        preset!("vanderpol-convergence"),
        preset!("fct-workload"),
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// What it is.
    ///
    /// # Errors
    ///
    /// None: a test reads them all.
    pub fn study(self) -> Result<StudyKind, super::StudyError> {
        StudyKind::parse(self.text, self.name)
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Self::ALL.into_iter().find(|it| it.name == name).ok_or_else(|| UnknownPreset(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_can_be_read_and_are_called_what_they_are() {
        for preset in Preset::ALL {
            assert_eq!(preset.study().unwrap().name(), preset.name());
            assert_eq!(preset.name().parse(), Ok(preset));
        }
        assert!(
            "zannettou".parse::<Preset>().unwrap_err().to_string().contains("there are zannettou-fattree, ")
        );
    }
}
