//! Report tables as columns that other programs read: Arrow in memory, Parquet on disk.
//!
//! This is a separate crate because Arrow and Parquet take long to build; only `python` depends on it.

mod record;

use std::fs::{self, File};
use std::ops::Range;
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

pub use record::{Record, record};

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Error of the file system.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Error of Arrow.
    #[error("{0}")]
    Arrow(#[from] ArrowError),
    /// Error of the Parquet encoder.
    #[error("{path}: {source}")]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The error of the encoder.
        source: ParquetError,
    },
}

/// Maximum number of rows of a batch: less memory than the whole of a long table, and its text is below the limit of 2
/// GB.
const ROWS: usize = 1 << 20;

/// A table as Arrow batches, at least one. Each field has `unit` and `definition` in its metadata.
pub fn batches(table: &Table) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
    let (schema, rows) = (schema(table), table.rows());
    let count = rows.div_ceil(ROWS).max(1);
    (0..count).map(move |number| {
        let part = |column: &Column| {
            let len = column.cells.len();
            // the last one has what is left, so that columns of unequal length are an error
            let end = if number + 1 == count { len } else { len.min((number + 1) * ROWS) };
            array(&column.cells, len.min(number * ROWS)..end)
        };
        RecordBatch::try_new(schema.clone(), table.columns.iter().map(part).collect())
    })
}

/// A table as an Arrow C stream, which other libraries read without a copy.
pub fn stream(table: &Table) -> Result<FFI_ArrowArrayStream, Error> {
    let all = batches(table).collect::<Result<Vec<_>, _>>()?;
    Ok(FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(all.into_iter().map(Ok), schema(table)))))
}

/// Writes every table to `folder/NAME.parquet`. Each file is complete or does not exist.
pub fn save(report: &Report, folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::File { path: folder.to_owned(), source })?;
    report.tables.iter().try_for_each(|table| write(table, &folder.join(format!("{}.parquet", table.name))))
}

/// Writes one table as Parquet. The file gets its name when it is complete.
pub fn write(table: &Table, path: &Path) -> Result<(), Error> {
    let part = path.with_extension("parquet.part");
    let file_error = |source| Error::File { path: path.to_owned(), source };
    let parquet_error = |source| Error::Parquet { path: path.to_owned(), source };
    let file = File::create(&part).map_err(file_error)?;
    let settings = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("thalweg ", env!("CARGO_PKG_VERSION")).to_owned())
        // each key is there once: a dictionary of them takes time and is no shorter
        .set_column_dictionary_enabled("metric".into(), false)
        .build();
    let mut writer = ArrowWriter::try_new(file, schema(table), Some(settings)).map_err(parquet_error)?;
    for batch in batches(table) {
        writer.write(&batch?).map_err(parquet_error)?;
    }
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
        Cells::Text(_) | Cells::Keys(_) => (DataType::Utf8, false),
        Cells::Switch(_) => (DataType::Boolean, false),
    };
    Field::new(column.name, kind, nullable)
        .with_metadata([("unit", column.unit), ("definition", column.definition)])
}

fn array(cells: &Cells, rows: Range<usize>) -> ArrayRef {
    match cells {
        Cells::Number(values) => Arc::new(Float64Array::from_iter(values[rows].iter().copied())),
        Cells::Count(values) => Arc::new(UInt64Array::from_iter(values[rows].iter().copied())),
        Cells::Text(words) => Arc::new(StringArray::from_iter_values(words.range(rows))),
        Cells::Keys(keys) => Arc::new(StringArray::from_iter_values(keys.range(rows))),
        Cells::Switch(values) => Arc::new(BooleanArray::from(values[rows].to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::RecordBatchReader;
    use arrow_array::cast::AsArray;
    use arrow_array::ffi_stream::RecordBatchStreamReader;
    use arrow_array::types::{Float64Type, UInt64Type};
    use lab::Words;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    fn table() -> Table {
        let mut words = Words::default();
        words.push("flow.a", 2);
        words.push("flow.b", 1);
        let column = |name, unit, cells| Column { name, unit, definition: "what it says", cells };
        Table {
            name: "sample",
            columns: vec![
                column("subject", "", Cells::Text(words)),
                column("rtt_s", "s", Cells::Number(vec![Some(0.25), None, Some(0.5)])),
                column("drops", "packets", Cells::Count(vec![Some(u64::MAX), Some(0), None])),
                column("pass", "", Cells::Switch(vec![true, false, true])),
            ],
        }
    }

    /// The only batch of a short table.
    fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
        let mut all = batches(table);
        let first = all.next().expect("there is at least one");
        assert!(all.next().is_none());
        first
    }

    fn check(batch: &RecordBatch) {
        let text: Vec<Option<&str>> = batch.column(0).as_string::<i32>().iter().collect();
        assert_eq!(text, [Some("flow.a"), Some("flow.a"), Some("flow.b")]);
        let numbers: Vec<Option<f64>> = batch.column(1).as_primitive::<Float64Type>().iter().collect();
        assert_eq!(numbers, [Some(0.25), None, Some(0.5)]);
        let counts: Vec<Option<u64>> = batch.column(2).as_primitive::<UInt64Type>().iter().collect();
        assert_eq!(counts, [Some(u64::MAX), Some(0), None]);
        let switches: Vec<Option<bool>> = batch.column(3).as_boolean().iter().collect();
        assert_eq!(switches, [Some(true), Some(false), Some(true)]);
        let schema = batch.schema();
        let field = schema.field(1);
        assert_eq!(field.metadata().get("unit").map(String::as_str), Some("s"));
        assert_eq!(field.metadata().get("definition").map(String::as_str), Some("what it says"));
        assert!(field.is_nullable() && !schema.field(0).is_nullable());
    }

    #[test]
    fn a_table_keeps_its_values_its_gaps_and_its_units_in_arrow() {
        check(&batch(&table()).expect("the columns are equally long"));
    }

    #[test]
    fn a_stream_passes_on_the_table() {
        let mut taken =
            RecordBatchStreamReader::try_new(stream(&table()).expect("a stream")).expect("a reader");
        assert_eq!(taken.schema().fields().len(), 4);
        check(&taken.next().expect("one batch").expect("no error"));
        assert!(taken.next().is_none());
    }

    #[test]
    fn a_report_is_a_folder_of_parquet_files_that_read_back() {
        let folder = Folder::new("report");
        let report = Report { tables: vec![table(), Table { name: "empty", ..table() }] };
        save(&report, &folder.0).expect("a fresh folder");
        save(&report, &folder.0).expect("the same again");
        let file = File::open(folder.0.join("sample.parquet")).expect("it was written");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
        let mut batches = reader.build().expect("readable");
        check(&batches.next().expect("one batch").expect("no error"));
        let names: Vec<_> = fs::read_dir(&folder.0)
            .expect("a folder")
            .map(|entry| entry.expect("a file").file_name())
            .collect();
        assert_eq!(names.len(), 2, "no part of a file is left: {names:?}");
    }

    #[test]
    fn a_table_without_rows_has_a_batch_and_a_long_one_several() {
        let cells = |rows| Table {
            name: "numbers",
            columns: vec![Column { name: "x", unit: "", definition: "", cells: rows }],
        };
        assert_eq!(batch(&cells(Cells::Number(Vec::new()))).expect("one column").num_rows(), 0);
        let mut words = Words::default();
        (0..3).for_each(|word| words.push(word, ROWS / 2));
        let long = cells(Cells::Text(words));
        let rows: Vec<usize> = batches(&long).map(|batch| batch.expect("one column").num_rows()).collect();
        assert_eq!(rows, [ROWS, ROWS / 2]);
        let last = batches(&long).last().expect("two").expect("one column");
        assert_eq!(last.column(0).as_string::<i32>().value(0), "2");
    }

    #[test]
    fn columns_of_unequal_length_are_an_error_and_so_is_a_place_that_cannot_be_written() {
        let mut uneven = table();
        uneven.columns[1].cells = Cells::Number(vec![None]);
        assert!(batch(&uneven).is_err());
        assert!(matches!(stream(&uneven), Err(Error::Arrow(_))));
        let nowhere = Path::new("/dev/null/nowhere");
        let error = save(&Report { tables: vec![table()] }, nowhere).expect_err("no folder can be there");
        assert!(error.to_string().starts_with("/dev/null/nowhere: "), "{error}");
    }

    /// A folder for one test, removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("thalweg-tables-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("the temporary folder can be written");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).expect("the folder was made by this test");
        }
    }
}
