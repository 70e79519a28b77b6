from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agents.trades.values.dates import DateOrder, date_order, read_date

DATES = st.dates(date(1970, 1, 1), date(2069, 12, 31))


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-01-03", "2026-01-03"),
        ("2026/1/3", "2026-01-03"),
        ("20260103", "2026-01-03"),
        ("31.12.2025", "2025-12-31"),
        ("1.2.26", "2026-02-01"),
        ("31/12/2025", "2025-12-31"),
        ("12/31/2025", "2025-12-31"),
        ("05/05/2026", "2026-05-05"),
        ("31-12-98", "1998-12-31"),
        ("3 Jan 2026", "2026-01-03"),
        ("03-Jan-26", "2026-01-03"),
        ("03JAN2026", "2026-01-03"),
        ("2026-Jan-03", "2026-01-03"),
        ("Jan 3, 2026", "2026-01-03"),
        ("Sept. 4, 2026", "2026-09-04"),
        ("3rd January 2026", "2026-01-03"),
        ("3. M\u00e4rz 2026", "2026-03-03"),
        ("5 janv. 2026", "2026-01-05"),
        ("1er ao\u00fbt 2026", "2026-08-01"),
        ("5 de enero de 2026", "2026-01-05"),
        ("Thursday, 5 Feb 2026", "2026-02-05"),
        ("2026-01-05T23:30:00-05:00", "2026-01-05"),
        ("2026-01-05T10:00:00.123Z", "2026-01-05"),
        ("2026-01-05 09:15", "2026-01-05"),
        ("05.01.2026 09:15", "2026-01-05"),
        ("20260105 10:11:12", "2026-01-05"),
        ("20260105T101112", "2026-01-05"),
        ("31/12/2025 10:11:12 AM", "2025-12-31"),
    ],
)
def test_a_date_is_read_to_iso(text: str, iso: str) -> None:
    """A date is read to iso."""
    reading = read_date(text, DateOrder.UNKNOWN)
    assert (reading.iso, reading.problem) == (iso, "")


@pytest.mark.parametrize("text", ["", "today", "2026-02-30", "13.13.2026", "12345", "5 Foo 2026", "99999999"])
def test_what_is_no_date_is_unreadable(text: str) -> None:
    """What is no date is unreadable."""
    assert read_date(text, DateOrder.DAY_FIRST).problem == "unreadable"


@pytest.mark.parametrize("text", ["31.12.1800", "12/31/1800", "1926-02-03", "3 Feb 2126"])
def test_a_date_out_of_the_plausible_range_is_told_from_no_date(text: str) -> None:
    """A date out of the plausible range is told from no date."""
    assert read_date(text, DateOrder.UNKNOWN).problem == "implausible"


@pytest.mark.parametrize("text", ["46027", "46027.5", "46027,25"])
def test_a_spreadsheets_day_number_is_read_and_told(text: str) -> None:
    """A spreadsheets day number is read and told."""
    reading = read_date(text, DateOrder.UNKNOWN)
    assert (reading.iso, reading.problem) == ("2026-01-05", "serial")


@pytest.mark.parametrize(
    ("column", "order", "iso"),
    [
        (["03/04/2026", "13/04/2026"], DateOrder.DAY_FIRST, "2026-04-03"),
        (["03/04/2026", "04/13/2026"], DateOrder.MONTH_FIRST, "2026-03-04"),
        (["03/04/2026", "05/06/2026", "no date"], DateOrder.UNKNOWN, None),
        (["03/04/2026", "13/04/2026", "04/13/2026"], DateOrder.UNKNOWN, None),
        (["03/04/2026", "31.12.2025"], DateOrder.UNKNOWN, None),
    ],
)
def test_the_column_tells_whether_the_day_comes_first(column: list[str], order: DateOrder, iso: str | None) -> None:
    """The column tells whether the day comes first."""
    assert date_order(column) is order
    reading = read_date("03/04/2026", order)
    assert (reading.iso, reading.problem) == (iso, "" if iso else "ambiguous")


@given(
    DATES, st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%d %b %Y", "%B %d, %Y", "%Y%m%d", "%d-%b-%y", "%Y/%m/%dT%H:%M"])
)
def test_a_formatted_date_comes_back(day: date, form: str) -> None:
    """A formatted date comes back."""
    assert read_date(day.strftime(form), DateOrder.UNKNOWN).iso == day.isoformat()


@given(DATES)
def test_an_order_that_is_known_is_followed(day: date) -> None:
    """An order that is known is followed."""
    assert read_date(day.strftime("%d/%m/%Y"), DateOrder.DAY_FIRST).iso == day.isoformat()
    assert read_date(day.strftime("%m/%d/%Y"), DateOrder.MONTH_FIRST).iso == day.isoformat()


@given(st.text(max_size=30))
def test_no_text_breaks_the_reader(text: str) -> None:
    """No text breaks the reader."""
    date_order([text])
    reading = read_date(text, DateOrder.UNKNOWN)
    assert (reading.iso is None) == (reading.problem in ("ambiguous", "unreadable"))
