import pytest

import paddle


def test_a_flag_of_upstreams_machinery_is_kept_and_said_to_have_no_effect():
    name = "FLAGS_use_mkldnn"
    assert paddle.get_flags(name) == {name: False}
    paddle.set_flags({name: False})  # nothing changes, so nothing is said
    with pytest.warns(UserWarning, match="FLAGS_use_mkldnn has no effect"):
        paddle.set_flags({name: 1})
    assert paddle.get_flags([name, "FLAGS_check_nan_inf"]) == {name: True, "FLAGS_check_nan_inf": False}
    paddle.set_flags({name: False})  # said once
    with pytest.raises(ValueError, match="does not take this value"):
        paddle.set_flags({"FLAGS_alignment_size": "much"})


def test_a_flag_that_nobody_knows():
    for call in (lambda: paddle.get_flags("FLAGS_nope"), lambda: paddle.set_flags({"FLAGS_nope": 1})):
        with pytest.raises(ValueError, match="no flag FLAGS_nope"):
            call()


def test_values_of_the_wrong_kind_are_refused():
    with pytest.raises(ValueError, match=r"FLAGS_cache_bytes(?s:.*)expected: a number that is not negative"):
        paddle.set_flags({"FLAGS_cache_bytes": -5})
    with pytest.raises(
        ValueError, match=r"FLAGS_cpu_threads(?s:.*)expected: a value of type int(?s:.*)received: 'abc'"
    ):
        paddle.set_flags({"FLAGS_cpu_threads": "abc"})
