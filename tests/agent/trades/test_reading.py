import json

import pytest

from acp_agent.agents.trades.model import Notes, UnusableInput
from acp_agent.agents.trades.table.encoding import decode
from acp_agent.agents.trades.table.headers import Field
from acp_agent.agents.trades.table.reading import Table, read_table
from acp_agent.agents.trades.table.records import ALIGNED, split_records

TEXT = "Nr;Titel;Seite;Menge;Preis\n1;Nestlé;Kauf;10;5\n"


def table(text: str) -> Table:
    """Read a text as a table."""
    return read_table(text.encode(), Notes())


@pytest.mark.parametrize(
    ("written", "guessed"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16-le"), ("utf-16-le", "utf-16-le"),
     ("utf-16-be", "utf-16-be"), ("utf-32", "utf-32-le"), ("cp1252", "cp1252")],
)  # fmt: skip
def test_an_encoding_is_guessed(written: str, guessed: str) -> None:
    """An encoding is guessed."""
    decoded = decode(TEXT.encode(written))
    assert (decoded.text, decoded.encoding) == (TEXT, guessed)


def test_lines_in_different_encodings_are_read_each_in_its_own() -> None:
    """Lines in different encodings are read each in its own."""
    content = "é\n".encode() + "é\n".encode("cp1252")
    assert decode(content).text == "é\né\n"
    assert decode(b"\xef\xbb\xbf" + content).text == "é\né\n"


def test_a_stray_control_character_and_invisible_marks_are_dropped() -> None:
    """A stray control character and invisible marks are dropped."""
    assert decode(("x" * 200 + "\x01\u200b\ufeff\x1a").encode()).text == "x" * 200


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        ("\ufeff \n".encode(), "empty"),
        (b"PK\x03\x04rest of a workbook", "binary"),
        (b"%PDF-1.7", "binary"),
        (bytes(range(256)), "binary"),
        (b"\x00" * 100, "binary"),
        (b"\x00", "binary"),
        (b"\x81\x8d\x8f" * 40, "binary"),
        (b"\xff\xfea\x00\x00\x00b\x00", "binary"),
        (b"\xff\xfe\x00\xd8\x00", "encoding"),
        (b"a;b;c\n1;2;3\n", "no_table"),
        (b"Dear all,\nplease find the trades attached.", "no_table"),
        (b'[{"a": 1}]', "no_table"),
        (b"[1, 2]", "no_table"),
        (b'{"a": ', "no_table"),
    ],
)
def test_content_that_holds_no_table_is_refused_with_its_reason(content: bytes, reason: str) -> None:
    """Content that holds no table is refused with its reason."""
    with pytest.raises(UnusableInput) as refused:
        read_table(content, Notes())
    assert refused.value.reason == reason
    assert str(refused.value) == refused.value.message


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ",", "^", ALIGNED])
def test_a_delimiter_is_guessed(delimiter: str) -> None:
    """A delimiter is guessed."""
    read = table(TEXT.replace(";", delimiter))
    assert read.delimiter == delimiter
    assert len(read.rows) == 1


def test_the_delimiter_that_names_more_columns_wins() -> None:
    """The delimiter that names more columns wins."""
    read = table("Id,Qty,Price\nId;Ticker;Side;Qty;Price\n1;A;B;2;3\n")
    assert (read.delimiter, read.header.line) == (";", 2)


def test_the_spreadsheets_own_hint_names_the_delimiter() -> None:
    """The spreadsheets own hint names the delimiter."""
    read = table("sep=!\n" + TEXT.replace(";", "!"))
    assert (read.delimiter, read.header.line, read.rows[0].line) == ("!", 2, 3)


def test_a_preamble_is_passed_over_and_rows_keep_their_physical_lines() -> None:
    """A preamble is passed over and rows keep their physical lines."""
    read = table("A report; of trades\n\nDate: today\n" + TEXT + "\n\n2;ABB;Kauf;1;5\n")
    assert read.header.line == 4
    assert [row.line for row in read.rows] == [5, 8]


def test_comments_rules_and_repeated_headers_are_no_rows() -> None:
    """Comments rules and repeated headers are no rows."""
    notes = Notes()
    content = "# made by hand\n" + TEXT + "----;----;---;---;---\n#1 later\n// old\n" + TEXT
    read = read_table(content.encode(), notes)
    assert [row.line for row in read.rows] == [3, 8]
    assert notes.found == []


def test_a_repeated_header_may_order_the_columns_anew() -> None:
    """A repeated header may order the columns anew."""
    read = table("Id;Ticker;Side;Qty;Price\n1;A;B;5;6\nId;Ticker;Side;Price;Qty\n2;A;B;6;5\n")
    assert [row.cells[row.header.columns[3].index] for row in read.rows] == ["5", "6"]
    assert [row.header.columns[3].field.value for row in read.rows] == ["quantity", "price"]


@pytest.mark.parametrize(("cell", "kept"), [("SEK", True), ("03.01.2026", False)])
def test_valuta_is_a_currency_only_if_its_cells_are(cell: str, *, kept: bool) -> None:
    """Valuta is a currency only if its cells are."""
    read = table(f"Nr;Valuta;Titel;Seite;Menge;Preis\n1;{cell};ABB;Kauf;10;5\n")
    assert ("currency" in read.header.fields) is kept


@pytest.mark.parametrize(
    ("text", "cells", "unbalanced"),
    [
        ('a,"b, c",d', ("a", "b, c", "d"), False),
        ('a,"b\nc",d', ("a", "b\nc", "d"), False),
        ('a, "b, c" ,d', ("a", "b, c", "d"), False),
        ('a,"b ""c""",d', ("a", 'b "c', "d"), False),
        ('a,5" pipe,d', ("a", '5" pipe', "d"), False),
        ('a,"b,d', ("a", "b", "d"), True),
        ('a,"b "c" x,d"', ("a", "b c x", "d"), True),
    ],
)
def test_quotes_are_read_however_carelessly_they_are_set(
    text: str, cells: tuple[str, ...], *, unbalanced: bool
) -> None:
    """Quotes are read however carelessly they are set."""
    (record,) = split_records(text.splitlines(keepends=True), ",")
    assert (record.cells, record.unbalanced) == (cells, unbalanced)


def test_a_quote_that_never_closes_costs_its_own_line_only() -> None:
    """A quote that never closes costs its own line only."""
    lines = ['a,"b,c\n', *["d,e,f\n"] * 100]
    assert len(list(split_records(lines, ","))) == 101


def test_a_cell_longer_than_the_parsers_limit_is_still_a_cell() -> None:
    """A cell longer than the parsers limit is still a cell."""
    (record,) = split_records(['a,"' + "x" * 200_000 + '",b'], ",")
    assert record.cells[0] == "a"


def test_objects_in_an_array_are_rows_by_their_place() -> None:
    """Objects in an array are rows by their place."""
    item = {"id": "T1", "symbol": "AAPL", "qty": 1.50, "price": 2, "note": {"a": [1]}, "x": None, "ok": True}
    read = table(json.dumps({"trades": [item, item]}))
    assert [row.line for row in read.rows] == [1, 2]
    assert read.rows[0].cells == ("T1", "AAPL", "1.5", "2", '{"a": ["1"]}', "", "true")


def test_objects_a_line_are_rows_by_their_line() -> None:
    """Objects a line are rows by their line."""
    item = json.dumps({"id": "T1", "symbol": "AAPL", "qty": 1, "price": 2})
    assert [row.line for row in table(f"{item}\n\n{item}\n").rows] == [1, 3]


def test_a_single_object_is_one_row() -> None:
    """A single object is one row."""
    assert len(table(json.dumps({"id": "T1", "symbol": "AAPL", "qty": 1, "price": 2})).rows) == 1


@pytest.mark.parametrize("above", ["0;ABB;Kauf;7;5", "0;ABB;Kauf;7"])
def test_a_row_above_the_header_is_a_warning(above: str) -> None:
    """A row above the header is a warning."""
    notes = Notes()
    read = read_table(f"{above}\n{TEXT}".encode(), notes)
    assert len(read.rows) == 1
    assert [(warning.row, warning.code) for warning in notes.found] == [(1, "not_a_trade")]
    assert "stands above the header in row 2" in notes.found[0].message


@pytest.mark.parametrize("above", ["Desk;Zürich;of;the;bank", "Page;1;;;", "# 1;ABB;Kauf;7;5", "1;2;3"])
def test_a_preamble_is_no_row_above_the_header(above: str) -> None:
    """A preamble is no row above the header."""
    notes = Notes()
    read_table(f"{above}\n{TEXT}".encode(), notes)
    assert notes.found == []


@pytest.mark.parametrize(
    ("title", "other", "used"),
    [("Order", "Book", "7"), ("Order No", "Book", "7"), ("Order ID", "Book", "7"), ("Order Number", "Book", "7"),
     ("Order", "ID", "8"), ("Order ID", "Trade ID", "8")],
)  # fmt: skip
def test_an_orders_number_is_the_id_where_no_better_column_exists(title: str, other: str, used: str) -> None:
    """An orders number is the id where no better column exists."""
    (row,) = table(f"{title};{other};Titel;Seite;Menge;Preis\n7;8;ABB;Kauf;10;5\n").rows
    assert row.value(Field.TRADE_ID) == used
