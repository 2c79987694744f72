pub(crate) mod build;
pub(crate) mod golden;
pub(crate) mod rebuild;
pub(crate) mod tool;
