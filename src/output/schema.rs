//! The JSON Schema of the result file: that of the report and those of the sections of all analyses.

use super::report::Report;
use super::sections::{SCHEMA_VERSION, SectionSchema};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The JSON Schema of the file, with these sections.
pub(crate) fn schema_of_results(sections: impl Iterator<Item = SectionSchema>) -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator = settings.into_generator();
    let mut schema = Report::json_schema(&mut generator);
    let mut properties = match schema.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    for section in sections {
        properties.insert(section.name.into(), (section.schema)(&mut generator).to_value());
    }
    let mut whole = Map::new();
    whole.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("$id".into(), json!(format!("urn:mlsearch:result:{SCHEMA_VERSION}")));
    whole.insert("title".into(), json!("Result of mlsearch"));
    if let Value::Object(rest) = schema.to_value() {
        whole.extend(rest.into_iter().filter(|(name, _)| name != "$schema" && name != "title"));
    }
    whole.insert("properties".into(), Value::Object(properties));
    whole.insert("$defs".into(), Value::Object(generator.take_definitions(true)));
    format!("{:#}\n", Value::Object(whole))
}
