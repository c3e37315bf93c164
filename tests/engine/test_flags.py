"""Settings: everyone who asked is told of a change."""

import pytest

from paddle.engine import flags


def test_all_who_asked_are_told_of_a_change(monkeypatch):
    monkeypatch.setattr(flags, "_flags", {})
    monkeypatch.setattr(flags, "_values", {})
    flags.define("FLAGS_x", 1, "a number")
    told = []
    for who in "ab":
        flags.on_change("FLAGS_x", lambda value, who=who: told.append((who, value)))
    flags.set_("FLAGS_x", 1)
    assert told == [("a", 1), ("b", 1)]
    flags.set_("FLAGS_x", 2)
    assert told[2:] == [("a", 2), ("b", 2)]
    with pytest.raises(ValueError, match="no flag FLAGS_y"):
        flags.set_("FLAGS_y", 1)
