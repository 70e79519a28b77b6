"""What recordings are called."""

import pytest

from acp_client.testing.names import name_of

FOLDER = "tests/testing"


@pytest.mark.parametrize(
    ("node_id", "name"),
    [
        ("a/test_x.py::test_it", "test_x.test_it"),
        ("test_x.py::TestA::TestB::test_it", "test_x.TestA.TestB.test_it"),
        ("test_x.py::test_it[1-asyncio]", "test_x.test_it-1-asyncio"),
        ("test_x.py::test_it[a::b]", "test_x.test_it-a_b-f8a74353"),
    ],
)
def test_a_name_says_which_test_it_is(node_id: str, name: str) -> None:
    """The module, the classes, the test, the case."""
    assert name_of(node_id) == name


def test_names_differ_where_the_ids_do() -> None:
    """Also where what cannot be in a file's name is all that differs, or what is cut away."""
    cases = ["a/b", "a:b", "a b", "a_b", "", "x" * 300, "x" * 301, "\\xe9", "é", "[", "[]"]
    names = {name_of(f"test_x.py::test_it[{case}]") for case in cases} | {name_of("test_x.py::test_it")}
    assert len(names) == len(cases) + 1
    assert all(len(name.encode()) <= 200 and "/" not in name for name in names)
