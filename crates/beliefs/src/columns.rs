//! Events as columns in a Parquet file: compact, and open to any other tool.
//!
//! One file holds the events of one unit. Texts are dictionaries, numbers are small; nothing
//! else is needed to rank, so that ranking can be tuned without looking at code again.

use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use crate::event::{Event, Events, Kind, Outcome, Strings};

const TEXTS: [&str; 7] = ["kind", "outcome", "function", "file", "a", "b", "detail"];
const NUMBERS: [&str; 7] = ["site", "line", "column", "flags", "with", "without", "other_line"];

#[derive(Debug, thiserror::Error)]
pub enum ColumnsError {
    #[error("these are no events: {0}")]
    Parquet(#[from] ParquetError),
    #[error("these are events of another version: {0}")]
    Unknown(String),
}

/// The events of a unit as a Parquet file.
pub fn encode(events: &Events) -> Result<Vec<u8>, ColumnsError> {
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema()?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in 0..TEXTS.len() {
        let values: Vec<ByteArray> =
            events.rows.iter().map(|row| ByteArray::from(text(events, row, column))).collect();
        if let Some(mut writer) = group.next_column()? {
            writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            writer.close()?;
        }
    }
    for column in 0..NUMBERS.len() {
        let values: Vec<i32> = events.rows.iter().map(|row| number(row, column) as i32).collect();
        if let Some(mut writer) = group.next_column()? {
            writer.typed::<Int32Type>().write_batch(&values, None, None)?;
            writer.close()?;
        }
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

/// Reads what [`encode`] wrote.
pub fn decode(bytes: Vec<u8>) -> Result<Events, ColumnsError> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes))?;
    let mut events = Events::default();
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index)?;
        let n_rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        if group.num_columns() != TEXTS.len() + NUMBERS.len() {
            return Err(ColumnsError::Unknown("other columns".to_owned()));
        }
        let mut texts: Vec<Vec<u32>> = Vec::new();
        for (column, name) in TEXTS.iter().enumerate() {
            let ColumnReader::ByteArrayColumnReader(reader) = group.get_column_reader(column)?
            else {
                return Err(ColumnsError::Unknown(format!("{name} is no text")));
            };
            let values = whole(reader, n_rows)?;
            texts.push(values.iter().map(|value| intern(&mut events.strings, value)).collect());
        }
        let mut numbers: Vec<Vec<i32>> = Vec::new();
        for (column, name) in NUMBERS.iter().enumerate() {
            let reader = group.get_column_reader(TEXTS.len() + column)?;
            let ColumnReader::Int32ColumnReader(reader) = reader else {
                return Err(ColumnsError::Unknown(format!("{name} is no number")));
            };
            numbers.push(whole(reader, n_rows)?);
        }
        for row in 0..n_rows {
            events.rows.push(event(&events.strings, &texts, &numbers, row)?);
        }
    }
    Ok(events)
}

fn schema() -> Result<TypePtr, ParquetError> {
    let mut fields = Vec::new();
    for name in TEXTS {
        let field = Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(ConvertedType::UTF8);
        fields.push(Arc::new(field.build()?));
    }
    for name in NUMBERS {
        let field = Type::primitive_type_builder(name, Physical::INT32)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(ConvertedType::UINT_32);
        fields.push(Arc::new(field.build()?));
    }
    Ok(Arc::new(Type::group_type_builder("events").with_fields(fields).build()?))
}

fn text<'a>(events: &'a Events, row: &Event, column: usize) -> &'a str {
    match column {
        0 => row.kind.name(),
        1 => row.outcome.name(),
        2 => events.strings.get(row.function),
        3 => events.strings.get(row.file),
        4 => events.strings.get(row.a),
        5 => events.strings.get(row.b),
        _ => events.strings.get(row.detail),
    }
}

fn number(row: &Event, column: usize) -> u32 {
    match column {
        0 => row.site,
        1 => row.line,
        2 => row.column,
        3 => row.flags,
        4 => row.with,
        5 => row.without,
        _ => row.other_line,
    }
}

fn whole<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    n_rows: usize,
) -> Result<Vec<T::T>, ColumnsError> {
    let mut values = Vec::new();
    while values.len() < n_rows {
        let (_, n_read, _) = reader.read_records(n_rows - values.len(), None, None, &mut values)?;
        if n_read == 0 {
            return Err(ColumnsError::Unknown("a column ends early".to_owned()));
        }
    }
    Ok(values)
}

fn intern(strings: &mut Strings, value: &ByteArray) -> u32 {
    strings.intern(&String::from_utf8_lossy(value.data()))
}

fn event(
    strings: &Strings,
    texts: &[Vec<u32>],
    numbers: &[Vec<i32>],
    row: usize,
) -> Result<Event, ColumnsError> {
    let text = |column: usize| strings.get(texts[column][row]);
    let number = |column: usize| numbers[column][row] as u32;
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == text(0));
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == text(1));
    Ok(Event {
        kind: kind
            .ok_or_else(|| ColumnsError::Unknown(format!("no event is called {}", text(0))))?,
        outcome: outcome
            .ok_or_else(|| ColumnsError::Unknown(format!("no outcome is called {}", text(1))))?,
        function: texts[2][row],
        file: texts[3][row],
        a: texts[4][row],
        b: texts[5][row],
        detail: texts[6][row],
        site: number(0),
        line: number(1),
        column: number(2),
        flags: number(3),
        with: number(4),
        without: number(5),
        other_line: number(6),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Events {
        let mut events = Events::default();
        for line in 0..2000u32 {
            let a = events.strings.intern(if line % 2 == 0 { "lock" } else { "unlock" });
            let file = events.strings.intern("src/ä.c");
            events.rows.push(Event {
                kind: Kind::ALL[line as usize % Kind::ALL.len()],
                outcome: Outcome::ALL[line as usize % Outcome::ALL.len()],
                site: line,
                function: a,
                file,
                line,
                column: 7,
                a,
                b: 0,
                detail: file,
                flags: u32::MAX - line,
                with: 1,
                without: 2,
                other_line: line + 1,
            });
        }
        events
    }

    #[test]
    fn what_is_written_is_read() {
        let (written, read) = (events(), decode(encode(&events()).unwrap()).unwrap());
        let shown = |events: &Events, row: &Event| {
            let texts: Vec<String> =
                (0..TEXTS.len()).map(|column| text(events, row, column).to_owned()).collect();
            let numbers: Vec<u32> = (0..NUMBERS.len()).map(|column| number(row, column)).collect();
            (texts, numbers)
        };
        assert_eq!(written.rows.len(), read.rows.len());
        for (a, b) in written.rows.iter().zip(&read.rows) {
            assert_eq!(shown(&written, a), shown(&read, b));
        }
    }

    #[test]
    fn damage_is_an_error_and_no_panic() {
        let bytes = encode(&events()).unwrap();
        assert!(decode(b"nothing of the kind".to_vec()).is_err());
        assert!(decode(Vec::new()).is_err());
        assert!(decode(bytes[..bytes.len() / 2].to_vec()).is_err());
    }
}
