//! Sections of the JSON file: declared by the analyses that write them, with the types of their contents, so that what is written
//! and the JSON Schema of the file are of one source.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;
use std::marker::PhantomData;

/// Version of the JSON file: grows when a field changes its meaning or goes, not when one is added.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// A section with content of this type.
#[derive(Debug)]
pub(crate) struct Section<T> {
    /// Its name in the file.
    pub(super) name: &'static str,
    content: PhantomData<fn(&T)>,
}

/// A section, for the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SectionSchema {
    pub(super) name: &'static str,
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

impl<T: Serialize + JsonSchema> Section<T> {
    /// A section with its name.
    pub(crate) const fn new(name: &'static str) -> Self {
        Section { name, content: PhantomData }
    }

    /// What the schema says of it.
    pub(crate) const fn schema(&self) -> SectionSchema {
        SectionSchema { name: self.name, schema: SchemaGenerator::subschema_for::<T> }
    }
}

/// One text, or several: see `one_or_many` of the report.
pub(super) fn one_or_many_schema(_: &mut SchemaGenerator) -> Schema {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    schemars::json_schema!({ "anyOf": [text, texts] })
}
