"""Small programs with control flow of Python. x is a vector of 3 floats, w one of the same size, n an integer.

Each is run with Python's control flow as written, converted in eager mode, and recorded as one program.
"""

import paddle


def branch(x, w, n):
    if x.sum() > 0:
        y = x * w
    else:
        y = x - w
    return y


def branch_without_else(x, w, n):
    y = x
    if x.sum() > 0:
        y = y * w
    return y + 1


def branches(x, w, n):
    if x.sum() > 2:
        y, k = x * w, 1
    elif x.sum() > 0:
        y, k = x + w, 2
    elif n > 3:
        y, k = w * 2, 3
    else:
        y, k = x * x, 4
    return y * k


def nested_branches(x, w, n):
    if x.sum() > 0:
        if n > 2:
            y = x * w
        else:
            y = x + w
    else:
        if x[0] > 0:
            y = x - w
        else:
            y = w
    return y


def early_return(x, w, n):
    if x.sum() > 0:
        return x * w
    y = x + w
    return y * 2


def early_returns(x, w, n):
    if x.sum() > 2:
        return x * w
    if x.sum() > 0:
        y = x + w
        if n > 2:
            return y * 3
    else:
        y = x - w
    y = y * 2
    if n == 0:
        return y
    return y + x


def conditional_expression(x, w, n):
    y = x * w if x.sum() > 0 else x - w
    return y if n > 2 else (y * 2 if n > 1 else y * 3)


def short_circuit(x, w, n):
    if x.sum() > 0 and n > 2:
        y = x * w
    elif not x.sum() > 0 or n == 1:
        y = x + w
    else:
        y = w * 1
    return y


def guarded_index(x, w, n):
    i = n * 1
    while i < 3 and x[i] > -1:
        i = i + 1
    return x * w * i.astype("float32") if isinstance(i, paddle.Tensor) else x * w * i


def chains(x, w, n):
    if -1 < x.sum() < 2:
        y = x * w
    else:
        y = x + w
    if 0 < n <= 2 < 5:
        y = y * 2
    return y


def while_loop(x, w, n):
    i = 0
    while i < n:
        x = x * w + 1
        i += 1
    return x


def while_by_value(x, w, n):
    s = x
    while s.abs().sum() < 30:
        s = s * 2 + w
    return s


def while_break(x, w, n):
    i = paddle.zeros([], "int64")
    while i < 10:
        x = x * w
        if x.abs().sum() > 20:
            break
        i += 1
    return x + i.astype("float32")


def while_continue(x, w, n):
    i, s = 0, x * 0
    while i < n:
        i = i + 1
        if i % 2 == 0:
            continue
        s = s + x * w
    return s


def while_else(x, w, n):
    i = 0
    while i < n:
        x = x + w
        if x.sum() > 8:
            break
        i = i + 1
    else:
        x = x * 2
    return x


def for_range(x, w, n):
    for i in range(n):
        x = x * w + i
    return x


def for_range_of_three(x, w, n):
    for i in range(n, 0, -1):
        x = x + w * i
    for j in range(1, n):
        x = x - j
    return x


def for_tensor(x, w, n):
    s = w
    for v in x:
        if v > 0:
            s = s + v
        else:
            s = s * v
    return s


def for_list(x, w, n):
    for v in [x, w, x * w]:
        if v.sum() > 0:
            x = x + v
    return x


def for_break(x, w, n):
    for _ in range(5):
        x = x * w
        if x.abs().sum() > 10:
            break
    else:
        x = x * 0 + 7
    return x


def for_continue(x, w, n):
    s = x * 0
    for i, v in enumerate(x):
        if v < 0:
            continue
        s = s + v * w * i
    return s


def for_return(x, w, n):
    for i in range(4):
        x = x + w
        if x.sum() > 6:
            return x * i
    return x * 100


def while_return(x, w, n):
    i = 0
    while i < n:
        x = x + w
        if x.sum() > 6:
            return x * 2
        i += 1
    return x * 100


def nested_loops(x, w, n):
    s = x * 0
    for i in range(n):
        j = 0
        while j < i:
            s = s + x * j
            j += 1
        s = s + w
    return s


def nested_loop_breaks(x, w, n):
    count = 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            count = count + 1
        if count > 4:
            break
    return x * w + count


def return_from_nested_loops(x, w, n):
    for i in range(3):
        for j in range(3):
            x = x + w * (i + j)
            if x.sum() > 8:
                return x
    return x * 0


def list_in_branch(x, w, n):
    out = [x]
    if x.sum() > 0:
        out.append(x * w)
    else:
        out.append(w)
    return sum(out[1:], out[0])


def list_in_loop(x, w, n):
    out = []
    for v in x:
        if v > 0:
            out.append(v * w)
        else:
            out.append(w)
    return paddle.stack(out).sum(0)


def list_items_in_loop(x, w, n):
    out = [x, w]
    i = 0
    while i < n:
        out[0] = out[0] + out[1]
        i += 1
    return out[0] * out[1]


def dict_in_branch(x, w, n):
    d = {"a": x}
    if x.sum() > 0:
        d["a"] = x * w
        d["b"] = w
    else:
        d["b"] = x
    return d["a"] + d["b"]


def tuple_swap(x, w, n):
    a, b = x, w
    for _ in range(n):
        a, b = b, a + b
    return a * b


def inner_function(x, w, n):
    def grown(v):
        if v.sum() > 0:
            return v * w
        return v - w

    k = lambda v: grown(v) if n > 2 else v
    return k(x) + grown(w)


def inner_state(x, w, n):
    total = x * 0

    def add(v):
        nonlocal total
        if v.sum() > 0:
            total = total + v

    add(x)
    add(w)
    return total * w


def comprehension(x, w, n):
    parts = [v * w if v > 0 else w for v in x]
    return paddle.stack(parts).sum(0)


def python_values(x, w, n, mode="up"):
    if mode == "up" and x.shape[0] == 3:
        y = x * w
    elif mode is None:
        y = x
    else:
        y = w
    for name in ("a", "b"):
        if name == "b":
            continue
        y = y + len(name)
    return y


def with_block(x, w, n):
    with paddle.no_grad():
        if x.sum() > 0:
            k = x * 2
        else:
            k = x * 3
    return x * k * w


def with_return(x, w, n):
    with paddle.amp.auto_cast(False):
        if n > 2:
            y = x * w
        else:
            y = x + w
        return y * 2


def try_block(x, w, n):
    try:
        if x.sum() > 0:
            y = x * w
        else:
            y = x + w
        {}["none"]
    except KeyError as e:
        y = y * len(str(e))
    finally:
        y = y + 1
    return y


def factorial(x, w, n, depth=3):
    if depth == 0:
        return x
    if x.sum() > 100:
        return w
    return factorial(x * w + 1, w, n, depth - 1)


def helper(v, w):
    if v.sum() > 0:
        return v * w, 1
    return v - w, 2


def calls(x, w, n):
    y, k = helper(x, w)
    z, m = helper(w, x)
    return y * k + z * m


def asserts(x, w, n):
    assert x.shape == [3], "three"
    if x.sum() > 0:
        assert len(w) == 3
        x = x * 2
    return x * w


def prints(x, w, n):
    if n > 100:
        print("large", x)
    return x * w


def numbers(x, w, n):
    k = 1
    if x.sum() > 0:
        k = 2.5
    s = 0
    for i in range(n):
        s += i * k
    return x * w * s


def temporaries(x, w, n):
    if x.sum() > 0:
        t = x * w
        y = t + 1
    else:
        t = x.sum()
        y = w + t
    for _ in range(n):
        t = y[:2]
        y = y + t.sum()
    return y


def in_place(x, w, n):
    y = x * 1
    if x.sum() > 0:
        y.add_(w)
    for _ in range(n):
        y.scale_(2.0)
    y[0] = 5.0
    return y * w


def long_range(x, w, n):
    for _ in range(1000):
        x = x * 0.9 + w
        if x.abs().sum() > 12:
            break
    return x


def augmented(x, w, n):
    y = [x]
    y += [w]
    i = 0
    while not i >= n:
        y[1] += x
        i += 1
    return y[0] * y[1]


def nothing_returned(x, w, n):
    y = x * 1

    def note(v):
        if v.sum() > 0:
            return
        y.add_(w)

    note(x)
    return y * w


def while_true(x, w, n):
    while True:
        x = x * 2 + w
        if x.abs().sum() > 30:
            break
    return x


def newton(x, w, n):
    target, root = x.abs() + 1, x.abs() + 1
    while (root * root - target).abs().max() > 1e-4:
        root = (root + target / root) / 2
    return root * w


def greatest_divisor(x, w, n):
    a, b = n + 12, paddle.to_tensor(18)
    while b != 0:
        a, b = b, a % b
    return x * w * a.astype("float32")


def row_in_loop(x, w, n):
    out = paddle.zeros([4, 3])
    for i in range(3):
        if i < n:
            out[i] = x * i
        else:
            out[i] = w
    return out.sum(0) * w


def row_at_tensor(x, w, n):
    out = paddle.zeros([6])
    i = 0
    while i < n:
        out[i] = x[0] * w[1] + i
        i += 1
    return out[:3] * x


def masked_steps(x, w, n):
    state = {"h": x * 0, "c": x}
    for t in range(4):
        if t < n:
            h = paddle.tanh(state["c"] * w + state["h"])
            state = {"h": h, "c": state["c"] + h}
    return state["h"] + state["c"]


def binary_search(x, w, n):
    low, high = paddle.to_tensor(0), paddle.to_tensor(8)
    while low < high:
        middle = (low + high) // 2
        if middle * middle < n:
            low = middle + 1
        else:
            high = middle
    return x * w + low.astype("float32")


def zipped(x, w, n):
    s = x[0] * 0
    for a, (k, b) in zip(x, enumerate(w)):
        if a > b:
            s = s + a * k
        elif a == b:
            continue
        else:
            s = s - b
    return x * s


def break_in_with(x, w, n):
    for _ in range(4):
        with paddle.amp.auto_cast(False):
            x = x + w
            if x.sum() > 6:
                break
        x = x * 1.5
    return x


def return_from_with(x, w, n):
    for _ in range(3):
        with paddle.amp.auto_cast(False):
            x = x + w
    with paddle.amp.auto_cast(False):
        if x.sum() > 6:
            return x * 2
        else:
            return x * 3


def continue_in_try(x, w, n):
    for i in range(3):
        try:
            if x.sum() > i:
                x = x - w
            else:
                x = x + 2 * w
        finally:
            x = x * 1.1
        if i > n:
            continue
        x = x + 1
    return x


def numbers_as_flags(x, w, n):
    found, at = False, -1
    for i, v in enumerate(x):
        if not found and v > 0.3:
            found = True
            at = i
    if found:
        return x * w * at
    return w * 2


def functions_by_name(x, w, n):
    table = {"a": lambda v: v * w if v.sum() > 0 else v, "b": helper}
    y = table["a"](x)
    z, k = table["b"](y, w)
    return z * k


def max_pooled(x, w, n):
    best = x[0]
    for v in x[1:]:
        best = v if v > best else best
    return x * best * w


def loop_over_dict(x, w, n):
    parts = {"x": x, "w": w}
    total = x * 0
    for name, v in parts.items():
        if v.sum() > 0 and name != "none":
            total += v * len(name)
    return total * w


def casts(x, w, n):
    k = int(x.sum())
    if bool(k > 1) or float(n) > 2.5:
        return x * k
    return w * float(k)


def long_shapes(x, w, n):
    for i in range(x.shape[0]):
        if x[i] > 0:
            x = x + w[i]
    for i in range(len(w)):
        x = x if i == n else x * 1.5
    return x


PROGRAMS = [f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__
            and name != "helper"]  # fmt: skip
