"""The tables, in the order of the page. A new one is one `TABLE` in one file, and one name here."""

from benchmarks.table import Table
from benchmarks.tables import answers, drawing, frontier, gain, orders, release

PARTS: dict[str, tuple[Table, ...]] = {
    "What a user gains": (gain.TABLE,),
    "Side by side with other packages": (answers.TABLE, orders.TABLE, drawing.TABLE, release.TABLE),
    "The largest problems": (frontier.TABLE,),
}
TABLES = tuple(table for tables in PARTS.values() for table in tables)
