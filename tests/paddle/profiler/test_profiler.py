"""When a profiler records, and what it does with the result."""

import json
import os
import threading

import pytest

import paddle
from paddle.engine.eager import materialize
from paddle.profiler import (
    Profiler,
    ProfilerState,
    ProfilerTarget,
    RecordEvent,
    TracerEventType,
    export_chrome_tracing,
    make_scheduler,
)
from paddle.profiler.utils import in_profiler_mode

C, Y, R, E = (ProfilerState(i) for i in range(4))


def work():
    return float((paddle.ones([4]) * 2).sum())


@pytest.mark.parametrize(
    "arguments, states",  # as PaddlePaddle 3.3.1 gives them
    [
        (dict(closed=1, ready=1, record=2), [C, Y, R, E, C, Y, R, E, C]),
        (dict(closed=1, ready=1, record=1, repeat=1), [C, Y, E, C, C, C, C]),
        (dict(closed=1, ready=2, record=1, repeat=2, skip_first=2), [C, C, C, Y, Y, E, C, Y, Y, E, C, C]),
        (dict(closed=0, ready=1, record=3, skip_first=1), [C, Y, R, R, E, Y, R, R, E]),
    ],
)
def test_schedule(arguments, states):
    schedule = make_scheduler(**arguments)
    assert [schedule(i) for i in range(len(states))] == states


def test_a_schedule_without_a_ready_step_warns():
    with pytest.warns(UserWarning, match="without a ready step"):
        schedule = make_scheduler(closed=1, ready=0, record=1)
    assert [schedule(i) for i in range(3)] == [C, E, C]


@pytest.mark.parametrize(
    "wrong", [dict(closed=-1), dict(ready=-1), dict(record=0), dict(repeat=-1), dict(skip_first=-2)]
)
def test_a_schedule_of_nothing_is_rejected(wrong):
    with pytest.raises(AssertionError, match="Invalid profiler scheduler arguments"):
        make_scheduler(**{**dict(closed=1, ready=1, record=1), **wrong})
    with pytest.raises(AssertionError, match="the step is negative"):
        make_scheduler(closed=1, ready=1, record=1)(-1)


@pytest.mark.parametrize("pair, states", [((2, 4), [C, Y, R, E, C, C]), ((0, 2), [R, E, C]), ((-3, 1), [E, C]),
                                          ((1, 2), [Y, E, C])])  # fmt: skip
def test_a_pair_of_steps(pair, states):
    schedule = Profiler(scheduler=pair).scheduler
    assert [schedule(i) for i in range(len(states))] == states


@pytest.mark.parametrize("wrong", [(3, 3), (3,), (4, 2), 7, "ab1"])
def test_a_scheduler_that_names_no_steps_is_rejected(wrong):
    with pytest.raises(AssertionError, match="names no steps"):
        Profiler(scheduler=wrong)


def test_steps_are_recorded_by_the_schedule_and_results_are_handed_over():
    seen = []
    prof = Profiler(
        scheduler=make_scheduler(closed=1, ready=1, record=2, repeat=2),
        on_trace_ready=lambda p: seen.append([e.name for e in p.profiler_result.events if e.kind == "step"]),
    )
    states = []
    with prof:
        for _ in range(10):
            states.append((prof.current_state, in_profiler_mode()))
            work()
            prof.step()
    assert states == [(s, s in (R, E)) for s in (C, Y, R, E, C, Y, R, E, C, C)]
    assert seen == [["ProfileStep#2", "ProfileStep#3"], ["ProfileStep#6", "ProfileStep#7"]]
    assert prof.step_num == 10 and prof.previous_state is C
    assert materialize.watcher is None


def test_stop_in_the_middle_hands_over_what_there_is():
    seen = []
    prof = Profiler(scheduler=(1, 9), on_trace_ready=seen.append)
    prof.start()
    for _ in range(3):
        work()
        prof.step()
    prof.stop()
    assert seen == [prof]
    assert [e.name for e in prof.profiler_result.events if e.kind == "step"] == ["ProfileStep#1", "ProfileStep#2"]


def test_a_schedule_that_breaks_off_warns():
    given = iter([R, C, Y, C, R, Y, C])
    prof = Profiler(scheduler=lambda i: next(given), on_trace_ready=lambda p: pytest.fail("nothing is ready"))
    prof.start()
    with pytest.warns(UserWarning, match="from RECORD to CLOSED: what was recorded is thrown away"):
        prof.step()
    prof.step()
    with pytest.warns(UserWarning, match="from READY to CLOSED: nothing was recorded"):
        prof.step()
    prof.step()
    with pytest.warns(UserWarning, match="from RECORD to READY"):
        prof.step()
    with pytest.warns(UserWarning, match="it stops in state READY"):
        prof.stop()
    assert materialize.watcher is None and prof.profiler_result is None


def test_one_recording_at_a_time():
    with Profiler(on_trace_ready=lambda p: None):
        with pytest.raises(RuntimeError, match="another profiler is recording"):
            Profiler().start()
        with Profiler(timer_only=True):
            work()
    with Profiler(on_trace_ready=lambda p: None) as prof:
        work()
    assert prof.profiler_result is not None


def test_an_error_inside_ends_the_recording():
    with pytest.raises(KeyError):
        with Profiler(on_trace_ready=lambda p: None):
            raise KeyError("mine")
    assert materialize.watcher is None and not in_profiler_mode()
    prof = Profiler(on_trace_ready=lambda p: None)
    prof.start()
    late = paddle.gather(paddle.ones([2]), paddle.to_tensor([5]))
    with pytest.raises(ValueError, match="gather"):
        prof.stop()  # where what was recorded is computed
    assert materialize.watcher is None and late is not None


def test_what_is_still_to_be_computed_at_the_end_is_counted():
    with Profiler(on_trace_ready=lambda p: None) as prof:
        y = paddle.ones([4]) * 3
    kinds = [e.kind for e in prof.profiler_result.events]
    assert "flush" in kinds and "kernel" in kinds and y.tolist() == [3.0] * 4


def test_default_handler_writes_a_trace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Profiler(timer_only=True):
        work()
    assert not os.path.exists("profiler_log")
    with Profiler():
        work()
    (name,) = os.listdir("profiler_log")
    assert name.startswith("host_") and name.endswith(".paddle_trace.json")
    assert json.loads((tmp_path / "profiler_log" / name).read_text())["traceEvents"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="Can not create directory"):
        export_chrome_tracing(str(tmp_path / "file" / "folder"))


def test_what_is_not_here_warns():
    with pytest.warns(UserWarning, match="GPU is not here"):
        prof = Profiler(targets=[ProfilerTarget.CPU, ProfilerTarget.GPU])
    assert prof.targets == {ProfilerTarget.CPU}
    assert Profiler().targets == [ProfilerTarget.CPU]
    with pytest.warns(UserWarning, match="emit_nvtx has no effect"):
        Profiler(emit_nvtx=True)
    with pytest.warns(UserWarning, match="custom_device_types has no effect"):
        Profiler(custom_device_types=["npu"])
    with pytest.raises(TypeError):
        Profiler([ProfilerTarget.CPU])


def test_export_and_summary_without_a_result(capsys):
    prof = Profiler(scheduler=(5, 9))
    with prof:
        work()
    prof.summary()
    assert "recorded nothing" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="nothing has been recorded"):
        prof.export("nowhere.json")


# ---- RecordEvent ------------------------------------------------------------------------------
def users(prof):
    return [(e.name, e.detail["type"]) for e in prof.profiler_result.events if e.kind == "user"]


def test_marks_in_all_their_forms(profiled):
    @RecordEvent("decorated")
    def again(n):
        return n and again(n - 1)

    def step(_):
        with RecordEvent("outer"), RecordEvent("inner", event_type=TracerEventType.Forward):
            work()
        event = RecordEvent("by hand")
        event.begin()
        event.end()
        event.end()  # once is enough
        again(2)

    prof = profiled(step)
    user = "PythonUserDefined"
    assert users(prof) == [
        ("outer", user), ("inner", "Forward"), ("by hand", user), *[("decorated", user)] * 3
    ]  # fmt: skip
    events = {e.name: e for e in prof.profiler_result.events if e.kind == "user"}
    assert events["outer"].start <= events["inner"].start <= events["inner"].end <= events["outer"].end


def test_marks_of_threads(profiled):
    def step(_):
        def mark(i):
            with RecordEvent(f"thread {i}"):
                (paddle.ones([3]) + i).numpy()

        threads = [threading.Thread(target=mark, args=(i,), name=f"mine {i}") for i in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    prof = profiled(step)
    by_thread = {e.name: e.thread for e in prof.profiler_result.events if e.kind == "user"}
    assert sorted(by_thread) == ["thread 0", "thread 1", "thread 2"]
    here = threading.get_ident()
    kernels = {e.thread for e in prof.profiler_result.events if e.kind == "kernel"}
    assert here not in by_thread.values() and kernels & set(by_thread.values())


def test_marks_without_a_profiler_or_across_its_end_are_not_noted(profiled):
    with RecordEvent("before"):
        work()
    early = RecordEvent("early")
    early.begin()
    late = RecordEvent("late")
    prof = profiled(lambda i: (early.end(), late.begin()))
    late.end()
    assert users(prof) == []


def test_a_mark_of_another_kind_warns(profiled):
    def step(_):
        with pytest.warns(UserWarning, match="TracerEventType.Kernel is not noted"):
            RecordEvent("kernel", TracerEventType.Kernel).begin()

    assert users(profiled(step)) == []
