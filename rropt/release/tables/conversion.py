"""Columns of a table in another format: the numbers of a text file as numbers, and values as text."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rropt.errors import WrongType
from rropt.release.tables.coding import is_text
from rropt.release.tables.streams import Source

WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
"""A number that int64 holds, in the only way that it is written: 007 is a code and no number."""
DECIMAL = r"^-?(0|[1-9][0-9]{0,17})([.][0-9]+)?([eE][+-]?[0-9]{1,2})?$"


def typed_schema(source: Source, text: set[str]) -> pa.Schema:
    """The schema of a text file in another format: a column whose values are all whole numbers, or numbers, or blank,
    is int64 or float64; the columns `text` stay as they are. Reads the file once."""
    kinds = {name: [pa.int64(), pa.float64()] for name in source.schema.names if name not in text}
    filled: set[str] = set()
    for batch in source.batches():
        for name, left in kinds.items():
            values = batch.column(name)
            blank = pc.equal(values, "")
            if pc.all(blank).as_py() or not left:
                continue
            filled.add(name)
            for kind, pattern in ((pa.int64(), WHOLE), (pa.float64(), DECIMAL)):
                if kind in left and not pc.all(pc.or_(blank, pc.match_substring_regex(values, pattern))).as_py():
                    left.remove(kind)
    types = {name: left[0] for name, left in kinds.items() if left and name in filled}
    return pa.schema([field.with_type(types.get(field.name, field.type)) for field in source.schema])


def converted(column: pa.Array, type_: pa.DataType) -> pa.Array:
    """A column of text as numbers, blanks as missing values; any other column as it is."""
    if is_text(type_) or column.type == type_ or not is_text(column.type):
        return column
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column).cast(type_)


def text_of(column: pa.Array, where: str) -> pa.Array:
    """A column as text, missing values as empty text. Raises InputError for a type that has none."""
    if pa.types.is_dictionary(column.type):
        words = text_of(column.dictionary, where)
        if column.null_count == 0:
            return pa.DictionaryArray.from_arrays(column.indices, words)
        column = words.take(column.indices)
    try:
        return (column if pa.types.is_string(column.type) else column.cast(pa.string())).fill_null("")
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        remedy = "write a .parquet file, or leave the column out"
        raise WrongType(f"values of type {column.type} are not written as text", where, remedy) from None


def number_words(numbers: np.ndarray) -> pa.Array:
    """Floats as the shortest text that means them."""
    return pa.array([repr(float(one)) for one in numbers], type=pa.string())
