//! JSON schemas of values that are written as text, so that editors find mistakes while a file is written.
//!
//! Each parser has its pattern beside it. A pattern is as ECMA 262 writes them, and matches the whole text.

use schemars::{Schema, json_schema};

/// A text that matches the pattern; `form` says in words what it is.
pub fn text_schema(form: &str, pattern: &str) -> Schema {
    json_schema!({ "type": "string", "description": form, "pattern": format!("^(?:{pattern})$") })
}

/// An amount: a text that matches the pattern, or a bare zero, which has no unit.
pub fn amount_schema(form: &str, pattern: &str) -> Schema {
    let text = text_schema(form, &format!(r"{pattern}|0+(?:\.0*)?|\.0+"));
    json_schema!({ "description": form, "anyOf": [text, json_schema!({ "const": 0 })] })
}

/// One of these texts.
pub fn choice_schema<'a>(choices: impl IntoIterator<Item = &'a str>) -> Schema {
    let choices: Vec<_> = choices.into_iter().collect();
    json_schema!({ "type": "string", "enum": choices })
}

/// Gives a type a schema of its own. The crate must depend on schemars.
#[macro_export]
macro_rules! with_schema {
    ($type:ty, $schema:expr) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($type)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

/// Gives a wrapper of one value, `Wrapper<T>`, the schema of the value. The crate must depend on schemars.
#[macro_export]
macro_rules! with_inner_schema {
    ($wrapper:ident) => {
        impl<T: schemars::JsonSchema> schemars::JsonSchema for $wrapper<T> {
            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                T::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                T::json_schema(generator)
            }
        }
    };
}
