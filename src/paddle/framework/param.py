"""Parameters: the Tensors that training changes, what is asked of them, and how they are made."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..engine import errors, types
from ..engine.eager import capture
from ..engine.eager import trace as tracing
from ..engine.eager.sharing import DETACH, share
from ..engine.ops.creation import Full
from ..engine.types import TensorType, dtype_of
from ..tensor.tensor import Tensor
from ..utils import unique_name

__all__ = ["ParamAttr", "Parameter", "create_parameter"]


class EagerParamBase(Tensor):
    """A Tensor that a layer learns: `stop_gradient` is False, and layers find it among their attributes.

    Args:
        data (Tensor, optional): the first values; they are shared, not copied. Default: an empty Tensor.
        requires_grad (bool): whether it is trained. Default: True.

    Attributes:
        name (str): unique, as in `linear_0.w_0`.
        trainable (bool): the contrary of stop_gradient.
        optimize_attr (dict): "learning_rate" multiplies the optimizer's.
        regularizer: replaces the optimizer's, or None.
        need_clip (bool): whether gradient clipping applies.

    Examples:
        >>> p = paddle.nn.Parameter(paddle.ones([2]))
        >>> p.stop_gradient
        False
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True, **kwargs: Any) -> "Parameter":
        p = object.__new__(cls)
        p.gnode = p.leaf = p.kin = None
        p.epoch = p.slot = 0
        p.sg = not requires_grad
        if "shape" in kwargs or isinstance(requires_grad, (str, types.DType)):  # the older form: shape, dtype
            kind = dtype_of(kwargs.get("dtype", requires_grad))
            p.sg, p.type = kind.kind not in "fc", TensorType(tuple(kwargs.get("shape", data)), kind)
            p.buffer = np.zeros(p.type.shape, kind.np)
        elif data is None or not isinstance(data, Tensor):
            if data is not None:
                a = np.array(data)
            else:
                a = np.zeros((0,), types.default_dtype().np)
            p.type, p.buffer = TensorType(a.shape, dtype_of(a.dtype)), np.ascontiguousarray(a) if a.ndim else a
        else:
            p.type = data.type
            adopt(p, data.detach())
            share(data, p, DETACH)
        return p

    def __init__(self, data: Any = None, requires_grad: bool = True, **kwargs: Any) -> None:
        state = self.__dict__
        state["_name"] = kwargs.get("name") or unique_name.generate("_eager_param_base")
        state["_persistable"] = True
        state["optimize_attr"] = kwargs.get("optimize_attr", {"learning_rate": 1.0})
        state["regularizer"] = kwargs.get("regularizer")
        state["do_model_average"] = kwargs.get("do_model_average")
        state["need_clip"] = kwargs.get("need_clip", True)
        state["is_distributed"] = kwargs.get("is_distributed", False)
        if "trainable" in kwargs:
            self.sg = not kwargs["trainable"]

    @classmethod
    def from_tensor(cls, tensor: Tensor, **kwargs: Any) -> "Parameter":
        """A Parameter with the values of a Tensor.

        Args:
            tensor (Tensor): is not changed.
            **kwargs: name, trainable, optimize_attr, regularizer, need_clip.
        """
        return cls(tensor, **kwargs)

    @property
    def trainable(self) -> bool:
        return not self.sg

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise errors.invalid_argument(
                "trainable: not a bool.", expected="True or False", received=f"{type(value).__name__}"
            )
        self.stop_gradient = not value

    def initialize(self) -> None:
        """Gives a Parameter that was made under LazyGuard its first values."""
        start = self.__dict__.pop("_start", None)
        if start is not None:
            start()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Parameter":
        p = type(self)(self, requires_grad=not self.sg)
        p.kin = None  # memory of its own
        if p.buffer is not None:
            p.buffer = p.buffer.copy()
        for key, value in self.__dict__.items():
            p.__dict__[key] = copy.deepcopy(value, memo)
        p.__dict__["_name"] = self.name + unique_name.generate("_deepcopy")
        memo[id(self)] = p
        return p

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild, (type(self), self.numpy_exact(), self.sg, dict(self.__dict__))

    def numpy_exact(self) -> np.ndarray:
        """The values in their own element type, copied."""
        return self.array().copy()

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    __str__ = __repr__


Parameter = EagerParamBase  # its public name; upstream's class bears the longer one too


def _rebuild(cls: type[Parameter], a: np.ndarray, sg: bool, state: dict[str, Any]) -> Parameter:
    p = cls(tracing.from_array(a), requires_grad=not sg, name=state.get("_name"))
    p.__dict__.update(state)
    return p


def adopt(p: Tensor, new: Tensor) -> None:
    """p, which nothing has used yet, takes the value of `new`, a Tensor that nobody else holds."""
    trace = tracing.local.trace
    if new.buffer is None and new.epoch == trace.epoch and trace.values.get(new.slot) is new:
        trace.values[new.slot] = p
    p.type, p.epoch, p.slot, p.buffer = new.type, new.epoch, new.slot, new.buffer


class ParamAttr:
    """What is asked of a parameter that a layer makes.

    Args:
        name (str, optional): its name; a unique one by default.
        initializer (Initializer, optional): its first values; the layer's default otherwise.
        learning_rate (float): multiplies the optimizer's rate. Default: 1.0.
        regularizer (L1Decay|L2Decay, optional): replaces the optimizer's weight decay.
        trainable (bool): Default: True.
        do_model_average (bool): Default: True.
        need_clip (bool): whether gradient clipping applies. Default: True.

    Examples:
        >>> attr = paddle.ParamAttr(name="w", learning_rate=0.5)
        >>> paddle.nn.Linear(2, 3, weight_attr=attr).weight.name
        'w'
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Any = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        from ..nn.initializer import Initializer
        from ..regularizer import WeightDecayRegularizer

        for label, value, kinds in (
            ("name", name, str),
            ("learning_rate", learning_rate, (float, int)),
            ("trainable", trainable, bool),
            ("do_model_average", do_model_average, bool),
            ("need_clip", need_clip, bool),
            ("initializer", initializer, Initializer),
            ("regularizer", regularizer, WeightDecayRegularizer),
        ):
            if value is not None and not isinstance(value, kinds):
                raise errors.invalid_type(
                    f"ParamAttr: {label} is of the wrong type.",
                    expected=getattr(kinds, "__name__", str(kinds)),
                    received=f"{label}: {type(value).__name__}",
                )
        if name == "":
            raise errors.invalid_argument("ParamAttr: the name is empty.", expected="None or a name", received="''")
        self.name, self.initializer, self.learning_rate = name, initializer, learning_rate
        self.regularizer, self.trainable = regularizer, trainable
        self.do_model_average, self.need_clip = do_model_average, need_clip

    @staticmethod
    def _to_attr(arg: Any) -> Any:
        """The ParamAttr that None, a name, an initializer, a regularizer or True means; False means no parameter."""
        from ..nn.initializer import Initializer
        from ..regularizer import WeightDecayRegularizer

        if arg is None or arg is True:
            return ParamAttr()
        if isinstance(arg, (list, tuple)):
            return [ParamAttr._to_attr(a) for a in arg]
        if isinstance(arg, ParamAttr) or arg is False:
            return arg
        if isinstance(arg, str):
            return ParamAttr(name=arg)
        if isinstance(arg, Initializer):
            return ParamAttr(initializer=arg)
        if isinstance(arg, WeightDecayRegularizer):
            return ParamAttr(regularizer=arg)
        raise errors.invalid_type(
            "ParamAttr: this does not describe a parameter.",
            expected="a ParamAttr, str, Initializer, regularizer, bool or None",
            received=type(arg).__name__,
        )


def make_parameter(
    shape: Any, dtype: Any, attr: ParamAttr, owner: str, is_bias: bool, default_initializer: Any = None
) -> Parameter:
    """A new parameter.

    Args:
        owner: what its name starts with, as in `linear_0`.
        default_initializer: used where attr has none; then the global one, zeros for a bias, Xavier for the rest.
    """
    from ..nn import initializer as init

    if isinstance(shape, Tensor):
        shape = shape.tolist()
    elif isinstance(shape, (int, np.integer)):
        shape = [shape]
    if not all(isinstance(n, (int, np.integer, Tensor)) for n in shape):
        raise errors.invalid_type(
            "create_parameter: the shape is not made of integers.", expected="list of int", received=f"shape: {shape!r}"
        )
    shape = tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise errors.asserted(
            "create_parameter: a size is negative.", expected="sizes of 0 or more", received=f"shape: {list(shape)}"
        )
    if min(shape, default=0) < 0:
        raise errors.asserted(
            "create_parameter: a size is negative.", expected="sizes of 0 or more", received=f"shape: {list(shape)}"
        )
    kind = types.default_dtype() if dtype is None else dtype_of(dtype)
    start = attr.initializer
    if start is None:
        start = init.global_initializer(is_bias) or default_initializer
    if start is None:
        start = init.Constant(0.0) if is_bias or kind.kind not in "fc" else init.XavierUniform()
    name = attr.name or unique_name.generate(f"{owner}.{'b' if is_bias else 'w'}")
    trace = tracing.current()
    if unique_name.is_used(name) and not trace.abstract:  # programs share variables by name
        raise errors.invalid_argument(
            "create_parameter: a parameter has this name already.",
            expected="a name that no other parameter has",
            received=f"name: {name!r}",
            hint="leave the name out, or build the second network in paddle.utils.unique_name.guard().",
        )
    p = object.__new__(Parameter)
    p.gnode = p.leaf = p.kin = None
    p.epoch = p.slot = 0
    p.sg, p.type, p.buffer = not (attr.trainable and kind.kind in "fc"), TensorType(shape, kind), None
    p.__init__(  # type: ignore[misc]
        name=name,
        optimize_attr={"learning_rate": attr.learning_rate},
        regularizer=attr.regularizer,
        do_model_average=attr.do_model_average,
        need_clip=attr.need_clip,
    )
    if init.lazy_init.active():
        zeros = Full(shape, 0.0 if kind.kind in "fc" else 0, kind)()
        adopt(p, zeros)
        p.__dict__["_start"] = lambda: start(p)
        tracing.current().flush_before_next()
    elif trace.abstract:
        capture.start(p, start)
    else:
        start(p)
        if p.buffer is None and p.epoch == 0:
            raise errors.precondition(f"{type(start).__name__}: the initializer gave the parameter no value.")
    return p


def create_parameter(
    shape: Any,
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Parameter:
    """A parameter outside any layer.

    Args:
        shape (list[int]): its shape.
        dtype (str|DType): its element type.
        name (str, optional): its name; a unique one by default.
        attr (ParamAttr, optional): what is asked of it.
        is_bias (bool): starts with zeros by default. Default: False.
        default_initializer (Initializer, optional): the first values if attr gives none; Xavier uniform otherwise.

    Returns:
        Parameter: of this shape and dtype, trainable.

    Examples:
        >>> paddle.create_parameter([2, 3], "float32").shape
        paddle.Size([2, 3])
    """
    if not isinstance(shape, (list, tuple, Tensor)):
        raise errors.invalid_type(
            "create_parameter: shape is not a list.", expected="list or tuple of int", received=type(shape).__name__
        )
    if name is not None and not isinstance(name, str):
        raise errors.invalid_type("create_parameter: name is not a str.", expected="str", received=type(name).__name__)
    if attr is None or not isinstance(attr, ParamAttr):
        found = ParamAttr._to_attr(attr)
        attr = copy.copy(found) if isinstance(found, ParamAttr) else ParamAttr()
        attr.name = attr.name or name
    return make_parameter(shape, dtype, attr, unique_name.generate("create_parameter"), is_bias, default_initializer)
