import ctypes
import os
import struct
import sys

import numpy as np
import pytest

from paddle.engine import flags
from paddle.engine.cpu import elf, jit

AARCH64 = ("aarch64-unknown-linux-gnu", "generic", "")

TABLE = """
@table = private constant [8 x float] [float 1.0, float 2.0, float 4.0, float 8.0,
                                       float 16.0, float 32.0, float 64.0, float 128.0]
@count = internal global i64 5
@room = internal global [100 x i64] zeroinitializer
declare ptr @memcpy(ptr, ptr, i64)

define float @look(i64 %i) nounwind {
  %p = getelementptr float, ptr @table, i64 %i
  %v = load float, ptr %p
  ret float %v
}
define i64 @next() nounwind {
  %v = load i64, ptr @count
  %n = add i64 %v, 1
  store i64 %n, ptr @count
  %p = getelementptr i64, ptr @room, i64 %v
  store i64 %n, ptr %p
  %r = load i64, ptr %p
  ret i64 %r
}
define void @copy(ptr %to, ptr %from, i64 %n) nounwind {
  %r = call ptr @memcpy(ptr %to, ptr %from, i64 %n)
  ret void
}
define ptr @where() nounwind {
  ret ptr @memcpy
}
define i64 @choose(i64 %i) nounwind {
  switch i64 %i, label %z [ i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e ]
a:
  %va = call i64 @next()
  ret i64 %va
b:
  ret i64 77
c:
  %vc = mul i64 %i, 1001
  ret i64 %vc
d:
  store i64 0, ptr @count
  ret i64 3
e:
  ret i64 -1
z:
  ret i64 99
}
"""


@pytest.fixture(autouse=True)
def verified():
    flags.set_("FLAGS_cpu_verify", True)
    yield
    flags.set_("FLAGS_cpu_verify", False)
    flags.set_("FLAGS_cpu_features", "")


def function(loaded, name, result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)(loaded.addresses[name])


@pytest.mark.parametrize("level", ["", "sse2", "generic"] if jit.is_x86() else ["", "generic"])
@pytest.mark.parametrize("optimize", [True, False])
def test_code_finds_its_data_its_constants_and_c_functions(level, optimize):
    flags.set_("FLAGS_cpu_features", level)
    names = ["look", "next", "copy", "where", "choose"]
    loaded = jit.load(jit.compile_object(TABLE, optimize), names)
    number = ctypes.c_int64
    look = function(loaded, "look", ctypes.c_float, number)
    assert [look(i) for i in range(8)] == [2.0**i for i in range(8)]
    step = function(loaded, "next", number)
    assert [step(), step()] == [6, 7]
    x, y = np.arange(9), np.zeros(9, int)
    function(loaded, "copy", None, ctypes.c_void_p, ctypes.c_void_p, number)(y.ctypes.data, x.ctypes.data, x.nbytes)
    np.testing.assert_array_equal(x, y)
    assert function(loaded, "where", ctypes.c_void_p)() == jit.resolve("memcpy")
    choose = function(loaded, "choose", number, number)
    assert [choose(i) for i in (0, 1, 2, 3, 4, 5)] == [8, 77, 2002, 3, -1, 99]


def test_two_loads_of_one_object_have_data_of_their_own():
    data = jit.compile_object(TABLE)
    a, b = (function(loaded, "next", ctypes.c_int64) for loaded in [jit.load(data, ["next"]).keep() for _ in "ab"])
    assert [a(), a(), b()] == [6, 7, 6]


def test_unknown_c_functions_are_refused():
    data = jit.compile_object("declare void @no_such_thing()\ndefine void @f() { call void @no_such_thing() ret void }")
    with pytest.raises(RuntimeError, match="there is no function no_such_thing"):
        jit.load(data, ["f"])
    data = jit.compile_object(
        "declare i32 @system(ptr)\ndefine i32 @f(ptr %x) { %r = call i32 @system(ptr %x) ret i32 %r }"
    )
    with pytest.raises(RuntimeError, match="there is no function system"):
        jit.load(data, ["f"])


def test_missing_names_are_refused():
    with pytest.raises(RuntimeError, match="does not define g, h"):
        jit.load(jit.compile_object("define void @f() { ret void }"), ["f", "g", "h"])


def test_text_that_llvm_does_not_accept():
    with pytest.raises(RuntimeError, match="LLVM does not accept the text"):
        jit.compile_object("define void @f() { ret i32 }")
    with pytest.raises(RuntimeError, match="LLVM does not accept the text"):
        jit.compile_object(
            "define i32 @f(i32 %x) {\n br label %a\na:\n %z = add i32 %y, 1\n %y = add i32 %x, 1\n ret i32 %z\n}"
        )


def test_damaged_objects_are_refused_or_placed_but_never_crash():
    data = jit.compile_object(TABLE)
    for n in range(0, len(data), 5):
        with pytest.raises(RuntimeError):
            jit.load(data[:n], ["look"])
    rng = np.random.default_rng(0)
    for _ in range(600):
        bad = bytearray(data)
        bad[rng.integers(len(bad))] = rng.integers(256)
        try:
            jit.load(bytes(bad), ["look"])
        except RuntimeError:
            continue


def test_objects_for_another_cpu_are_refused():
    other = AARCH64 if jit.is_x86() else ("x86_64-unknown-linux-gnu", "x86-64", "")
    with pytest.raises(RuntimeError, match="not for this process"):
        jit.load(jit.compile_object(TABLE, for_target=other), ["look"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_release_gives_the_memory_back():
    data = jit.compile_object(TABLE.replace("100 x i64", "100000 x i64"), optimize=False)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    jit.load(data, ["look"]).release()
    before = resident()
    for i in range(200):
        loaded = jit.load(data, ["look"])
        assert loaded.nbytes >= 800_000
        if i % 2:
            loaded.release()
            loaded.release()
    del loaded
    assert resident() - before < 40_000_000


def test_levels_have_their_features():
    if not jit.is_x86():
        pytest.skip("levels are of x86-64")
    found = {}
    for level in ("avx512", "avx2", "sse2", "generic"):
        flags.set_("FLAGS_cpu_features", level)
        found[level] = (jit.vector_bytes(), jit.has("avx512f"), jit.has("fma"), jit.has("f16c"), jit.has("sse2"))
    assert found == {
        "avx512": (64, True, True, True, True),
        "avx2": (32, False, True, True, True),
        "sse2": (16, False, False, False, True),
        "generic": (16, False, False, False, True),
    }


def test_unknown_levels_are_refused():
    flags.set_("FLAGS_cpu_features", "avx9")
    with pytest.raises(RuntimeError, match="'avx9' is no target here"):
        jit.target()


def test_a_level_above_this_cpu_compiles_but_does_not_load():
    if not jit.is_x86() or jit.has("avx512f"):
        pytest.skip("needs an x86-64 CPU without AVX-512")
    flags.set_("FLAGS_cpu_features", "avx512")
    text = """define void @f(ptr %p) {
      %v = load <16 x float>, ptr %p
      %w = fadd <16 x float> %v, %v
      store <16 x float> %w, ptr %p
      ret void
    }"""
    assert "%zmm" in jit.assembly(text)
    with pytest.raises(RuntimeError, match="cannot run code for avx512"):
        jit.load(jit.compile_object(text), ["f"])


def test_loops_become_vectors():
    text = """
    define void @f(ptr noalias %x, ptr noalias %y, i64 %n) nounwind {
      br label %l
    l:
      %i = phi i64 [ 0, %0 ], [ %j, %l ]
      %p = getelementptr float, ptr %x, i64 %i
      %v = load float, ptr %p
      %w = fadd float %v, 1.0
      %q = getelementptr float, ptr %y, i64 %i
      store float %w, ptr %q
      %j = add i64 %i, 1
      %c = icmp slt i64 %j, %n
      br i1 %c, label %l, label %x1
    x1:
      ret void
    }"""
    if jit.is_x86():
        flags.set_("FLAGS_cpu_features", "avx2")
        assert "vaddps" in jit.assembly(text) and "%ymm" in jit.assembly(text)
    assert "fadd\tv" in jit.assembly(text, for_target=AARCH64)


def instructions(address, count=12):
    return struct.unpack(f"<{count}I", ctypes.string_at(address, 4 * count))


def page_and_low(address):
    """The address that an ADRP and the ADD, load or store after it stand for."""
    words = instructions(address)
    k = next(i for i, w in enumerate(words) if w & 0x9F000000 == 0x90000000)
    pages = (words[k] >> 29 & 3) | (words[k] >> 5 & 0x7FFFF) << 2
    pages -= (pages & 1 << 20) << 1
    scale = 0 if words[k + 1] & 0x7F000000 == 0x11000000 else words[k + 1] >> 30
    return ((address + 4 * k) & ~0xFFF) + pages * 4096 + ((words[k + 1] >> 10 & 0xFFF) << scale)


def test_relocations_of_aarch64_point_where_they_should(monkeypatch):
    monkeypatch.setattr(elf, "_machine", lambda: 183)
    data = jit.compile_object(TABLE, for_target=AARCH64)
    loaded = elf.link(data, ["look", "next", "copy", "where", "choose"], {"memcpy": 0x123456789ABC}.get)
    table = page_and_low(loaded.addresses["look"])
    assert struct.unpack("<8f", ctypes.string_at(table, 32)) == tuple(2.0**i for i in range(8))
    count = page_and_low(loaded.addresses["next"])
    assert struct.unpack("<q", ctypes.string_at(count, 8)) == (5,)
    slot = page_and_low(loaded.addresses["where"])
    assert struct.unpack("<Q", ctypes.string_at(slot, 8)) == (0x123456789ABC,)
    copy = loaded.addresses["copy"]
    at, branch = next((i, w) for i, w in enumerate(instructions(copy)) if w & 0x7C000000 == 0x14000000)
    distance = branch & 0x3FFFFFF
    stub = copy + 4 * at + 4 * (distance - ((distance & 1 << 25) << 1))
    load, jump, target = struct.unpack("<IIQ", ctypes.string_at(stub, 16))
    assert (load, jump, target) == (0x58000050, 0xD61F0200, 0x123456789ABC)  # ldr x16, .+8; br x16


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_compiling_leaks_nothing():
    text = "define void @f(ptr %p) {\nstore i64 1, ptr %p\nret void\n}\n"

    def pages():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    for _ in range(20):
        jit.compile_object(text)
    before = pages()
    for _ in range(300):
        jit.compile_object(text)
    assert (pages() - before) * 4096 / 300 < 8192


def test_what_llvm_remarks_is_kept_from_stderr(capfd):
    """A loop that cannot be made of vectors, with a width asked for."""
    text = """
declare i1 @more(i64)
define void @f(ptr %p) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %n, %head ]
  %v = call i1 @more(i64 %i)
  %n = add i64 %i, 1
  %again = icmp slt i64 %n, 64
  br i1 %again, label %head, label %done, !llvm.loop !0
done:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.vectorize.width", i32 4}
"""
    jit.compile_object(text)
    assert capfd.readouterr().err == ""
    with jit._without_remarks():
        os.write(2, b"remark: nothing\nsomething else\n")
    assert capfd.readouterr().err == "something else\n"
