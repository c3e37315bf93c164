"""Functions of plain Python values: converted, they do what they did, in the same order, with the same errors.

`n` is an integer, `log` a list to which what happens is appended.
"""

import contextlib

STATE = {"count": 0}
TOTAL = 0


@contextlib.contextmanager
def noted(log, name):
    log.append(("enter", name))
    try:
        yield name
    finally:
        log.append(("exit", name))


def branches(n, log):
    if n > 3:
        log.append("big")
    elif n > 1:
        log.append("middle")
    else:
        log.append("small")
        if n == 0:
            return "zero"
    return n


def loops(n, log):
    for i in range(n):
        if i == 1:
            continue
        if i == 3:
            log.append("three")
            break
        log.append(i)
    else:
        log.append("all")
    while n > 0:
        n -= 1
        if n == 2:
            break
    else:
        log.append("down")
    return i if log and log[0] == 0 else n


def variable_after_empty_loop(n, log):
    for i in range(n):
        log.append(i)
    return i


def missing(n, log):
    if n > 2:
        value = n
    return value + 1


def deleted(n, log):
    x = n
    if n > 2:
        del x
    return x


def returns_in_loops(n, log):
    for i in range(4):
        for j in range(4):
            log.append((i, j))
            if i * j == n:
                return i, j
        if i == n:
            return None
    return "end"


def try_finally(n, log):
    for i in range(3):
        try:
            if i == n:
                return "returned"
            if i == n - 1:
                continue
            if n == 4 and i == 1:
                break
            log.append(1 // (n - 3))
        except ZeroDivisionError as e:
            log.append(str(e))
            if i == 1:
                raise
        else:
            log.append("fine")
        finally:
            log.append(("finally", i))
    return "end"


def try_return_value(n, log):
    try:
        if n > 2:
            return log.append("in") or "try"
    finally:
        log.append("out")
    try:
        return [1, 2][n]
    except IndexError:
        if n == 2:
            return "two"
    return "behind"


def with_blocks(n, log):
    with noted(log, "a") as a, noted(log, "b"):
        if n > 2:
            return a
        log.append("in")
    for i in range(3):
        with noted(log, i):
            if i == n:
                break
            if i < n:
                continue
            log.append("last")
    return "end"


def short_circuit(n, log):
    def said(value):
        log.append(value)
        return value

    a = said(n > 1) and said(n - 2) and said("x")
    b = said(n < 1) or said(0) or said([])
    c = not said(n)
    d = said(0) < said(n) <= said(3) != said(4)
    e = said("yes") if n > 1 and said(n) else said("no")
    return a, b, c, d, e


def evaluation_order(n, log):
    def said(value):
        log.append(value)
        return value

    result = {said("k"): said(1), **{said("m"): said(2)}}
    result[said("k")] = said(n)
    return said(max)(said(1), *[said(n)], key=said(lambda v: -v))


def closures(n, log):
    total = 0
    functions = []

    def add(k=n, *more, scale=2, **rest):
        nonlocal total
        if k > 1:
            total += k * scale
        else:
            total -= 1
        return total, more, rest

    for i in range(n):
        functions.append(lambda: i)  # noqa: B023  (the last value is what is tested)
    log.append(add())
    log.append(add(5, 6, scale=3, z=1))
    return total, [f() for f in functions]


def comprehensions(n, log):
    i = "outer"
    rows = [[i * j if i > j else -1 for j in range(i) if j != 1] for i in range(n) if i or n]
    names = {f"{k}": v for k, v in zip("abc", rows)}
    return i, rows, names, {x for x in range(n)}, sum(x for x in range(n) if x > 1)


def walrus(n, log):
    if (m := n * 2) > 4:
        log.append(m)
    while (m := m - 1) > 0 and m != 3:
        log.append(m)
    return [y for x in range(n) if (y := x * 2) > 1], m


def globals_(n, log):
    global TOTAL
    TOTAL = 0
    for i in range(n):
        if i % 2:
            TOTAL += i
    STATE["count"] += 1
    return TOTAL


def generators(n, log):
    def numbers():
        for i in range(n):
            if i == 2:
                return
            got = yield i
            log.append(got)

    return list(numbers()), sum(i for i in range(n))


def starred(n, log):
    first, *rest = range(n + 1)
    if rest:
        (a, b), c = (rest[0], first), n
    else:
        a = b = c = None
    return first, rest, a, b, c


def matching(n, log):
    match [n, {"k": n}]:
        case [0, _]:
            return "zero"
        case [1 | 2 as m, {"k": k, **rest}]:
            log.append((m, k, rest))
            if m == 2:
                return "two"
        case [x, *others] if x > 3:
            return others
        case _:
            log.append("other")
    return "end"


def raises(n, log):
    if n > 2:
        raise ValueError(f"{n}")
    assert n != 1, log.append("message") or "one"
    for i in range(n):
        {}[i]
    return n


def recursion(n, log):
    if n <= 1:
        return 1
    return n * recursion(n - 1, log)


def shadowed(n, log):
    range = lambda k: [k, k]  # noqa: A001
    out = []
    for i in range(n):
        out.append(i)
    return out


def nested_definitions(n, log):
    class Local:
        size = n if n > 1 else 1

        def get(self):
            if self.size > 2:
                return "large"
            return self.size

    def chosen():
        if n > 1:
            return Local

    made = chosen()
    return made().get() if made else None


def unpacking_in_loops(n, log):
    pairs = {}
    for k, (a, *b) in enumerate([(1, 2, 3), (4,)]):
        pairs[k] = a, b
        if k == n:
            break
    for STATE["last"] in range(n):
        pass
    return pairs, STATE.get("last")


def docstring(n, log):
    """It says something."""
    return docstring.__doc__ if n else None


def finally_exits(n, log):
    for i in range(4):
        try:
            log.append(1 // (i - 1))
            if i == n:
                return "inner"
        finally:
            if i < n:
                continue  # noqa: SIM107, B012  (that it forgets the error is what is tested)
            if i == 3:
                return "last"  # noqa: SIM107, B012  (likewise)
    return "end"


def try_else_exits(n, log):
    while n < 9:
        n += 1
        try:
            if n == 3:
                continue
            if n == 6:
                break
            [][n - 4 :][0] if n == 5 else log.append(n)
        except IndexError as e:
            log.append(str(e))
            if n % 2:
                continue
            return "even"
        else:
            log.append("else")
            if n == 7:
                return "seven"
        log.append("behind")
    else:
        log.append("loop else")
    return n


def exits_from_deep_inside(n, log):
    for i in range(3):
        with noted(log, i):
            for j in range(3):
                try:
                    with noted(log, (i, j)):
                        if j == n:
                            break
                        if i + j == n + 1:
                            return i, j
                        if j == 1:
                            continue
                        log.append("step")
                finally:
                    log.append("finally")
            else:
                log.append("no break")
                continue
            log.append("after")
        if i == 1:
            break
    return log[-1]


def match_in_loop(n, log):
    for i in range(5):
        match i:
            case 0:
                continue
            case k if k == n:
                return ("found", k)
            case 3:
                break
            case _:
                log.append(i)
        log.append("behind")
    return "end"


def awaited(n, log):
    import asyncio

    async def slow(k):
        if k > 2:
            return k
        for i in range(k):
            await asyncio.sleep(0)
            log.append(i)

    return asyncio.new_event_loop().run_until_complete(slow(n)) if n < 0 else None


def many_arguments(n, log):
    def f(a, /, b=2, *c, d, e=5, **g):
        if a:
            return a, b, c, d, e, g
        return None

    return f(n, d=1), f(n, 3, 4, d=1, e=6, h=7), f(*range(n + 1), **{"d": 1})


def mapped(n, log):
    rest = list(range(n + 3))
    popped = list(map(list.pop, [rest] * n))
    kept = list(filter(lambda k: k > 1 and k != 3, rest))
    return popped, kept, rest


def annotated(n, log):
    x: int = n
    y: "list[int]"
    if x > 2:
        y = [x]
    else:
        y = []
    return y


class Base:
    def __init__(self, n):
        self.n = n
        self.__hidden = n * 10

    def get(self, log):
        if self.n > 1:
            self.__hidden += 1
        return self.__hidden

    @property
    def twice(self):
        return self.n * 2 if self.n > 0 else -1

    @staticmethod
    def fixed(k):
        return "many" if k > 2 else "few"

    @classmethod
    def named(cls, k):
        if k:
            return cls.__name__
        return cls

    def __call__(self, k):
        if k > 1:
            return self.n
        return -self.n


class Derived(Base):
    def get(self, log):
        if self.n > 2:
            return super().get(log), __class__.__name__
        return super().get(log)


def methods(n, log):
    d = Derived(n)
    return d.get(log), d.twice, d.fixed(n), Derived.named(1), d(n), Base.get(d, log)


PROGRAMS = [
    f for f in list(globals().values())
    if callable(f) and getattr(f, "__module__", "") == __name__ and not isinstance(f, type) and f is not noted
]  # fmt: skip
