//! Report tables as columns that other programs read: Arrow in memory, Parquet on disk.
//!
//! A crate of its own because Arrow and Parquet take long to build; nothing that is built daily stands on it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lab::{Cells, Column, Report, Table};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// The columns could not be put together.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
    /// The columns could not be encoded.
    #[error("{path}: {source}")]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the encoder said.
        source: ParquetError,
    },
}

/// The table as one Arrow batch. Each field carries `unit` and `definition` in its metadata.
pub fn batch(table: &Table) -> Result<RecordBatch, Error> {
    let arrays = table.columns.iter().map(|column| array(&column.cells)).collect();
    Ok(RecordBatch::try_new(schema(table), arrays)?)
}

/// The table as an Arrow C stream, which other libraries take without a copy.
pub fn stream(table: &Table) -> Result<FFI_ArrowArrayStream, Error> {
    let batch = batch(table)?;
    let schema = batch.schema();
    Ok(FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema))))
}

/// Writes every table to `folder/NAME.parquet`. Each file is complete or absent.
pub fn save(report: &Report, folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::File { path: folder.to_owned(), source })?;
    report.tables.iter().try_for_each(|table| write(table, &folder.join(format!("{}.parquet", table.name))))
}

/// Writes one table as Parquet. The file appears under its name when it is complete.
pub fn write(table: &Table, path: &Path) -> Result<(), Error> {
    let part = path.with_extension("parquet.part");
    let file_error = |source| Error::File { path: path.to_owned(), source };
    let parquet_error = |source| Error::Parquet { path: path.to_owned(), source };
    let file = File::create(&part).map_err(file_error)?;
    let settings = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("thalweg ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer = ArrowWriter::try_new(file, schema(table), Some(settings)).map_err(parquet_error)?;
    writer.write(&batch(table)?).map_err(parquet_error)?;
    writer.close().map_err(parquet_error)?;
    fs::rename(&part, path).map_err(file_error)
}

fn schema(table: &Table) -> SchemaRef {
    Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()))
}

fn field(column: &Column) -> Field {
    let (kind, nullable) = match column.cells {
        Cells::Number(_) => (DataType::Float64, true),
        Cells::Count(_) => (DataType::UInt64, true),
        Cells::Text(_) => (DataType::Utf8, false),
        Cells::Switch(_) => (DataType::Boolean, false),
    };
    Field::new(column.name, kind, nullable)
        .with_metadata([("unit", column.unit), ("definition", column.definition)])
}

fn array(cells: &Cells) -> ArrayRef {
    match cells {
        Cells::Number(values) => Arc::new(Float64Array::from(values.clone())),
        Cells::Count(values) => Arc::new(UInt64Array::from(values.clone())),
        Cells::Text(words) => Arc::new(StringArray::from_iter_values(words.iter())),
        Cells::Switch(values) => Arc::new(BooleanArray::from(values.clone())),
    }
}
