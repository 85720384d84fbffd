//! The JSON Schema of scenario files, from the tables that the loader reads.

use schemars::generate::SchemaSettings;

use crate::file::File;

/// The JSON Schema (draft 2020-12) of a scenario, so that editors complete and check files.
pub fn schema() -> serde_json::Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<File>();
    schema.insert("title".to_owned(), "Thalweg scenario".into());
    schema.to_value()
}
