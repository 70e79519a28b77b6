"""The tables of what a connection and its requests can be."""

import itertools

import pytest

from acp_client.protocol import states
from acp_client.protocol.errors import LocalError
from acp_client.protocol.link import Link
from acp_client.protocol.states import Stateful

TABLES = [states.CONNECTION, states.OUR_REQUEST, states.THEIR_REQUEST]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_leads_only_to_states_that_it_knows_or_to_its_end(table: dict[tuple[str, str], str]) -> None:
    """What is not in a table is refused, and the state stays."""

    class One(Stateful):
        __slots__ = ()

    known = {state for state, _ in table} | {"settled", "closed"}
    assert set(table.values()) <= known
    One.table = table
    one = One()
    for state, action in itertools.product(known, {action for _, action in table}):
        one.state = state
        if (state, action) in table:
            one.move(action)
            assert one.state == table[state, action]
        else:
            with pytest.raises(LocalError, match=f"cannot {action} while {state}"):
                one.move(action)
            assert one.state == state


@pytest.mark.parametrize("order", list(itertools.product(["receive", "send"], repeat=3)))
def test_both_ends_close_in_any_order_and_any_number_of_times(order: tuple[str, ...]) -> None:
    """Closing is asked for by several parties."""
    link = Link()
    for end in order:
        if end == "receive":
            link.receive_eof()
        else:
            link.send_eof()
    expected = {"receive": "half_closed_remote", "send": "half_closed_local"}
    assert link.state == (expected[order[0]] if len(set(order)) == 1 else "closed")
