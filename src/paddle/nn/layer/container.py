"""Layers that hold others: Sequential, LayerList, LayerDict, ParameterList, ParameterDict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...engine import errors
from ...framework.param import Parameter
from .layers import Layer

__all__ = ["LayerDict", "LayerList", "ParameterDict", "ParameterList", "Sequential"]


def _absolute(i: Any, n: int, where: str) -> int:
    """A position in [0, n). KeyError, as upstream, for what is no integer; IndexError where there is none."""
    if not hasattr(i, "__index__"):
        raise errors.missing_key(f"{where}: this is no position.", expected="an int or a slice", received=f"{i!r}")
    if not -n <= i < n:
        raise errors.out_of_range(
            f"{where}: there is no such entry.", expected=f"an integer in [{-n}, {n})", received=f"index: {i}"
        )
    return i + n if i < 0 else i


def _member(members: Mapping[str, Any], key: Any, where: str) -> Any:
    try:
        return members[key]
    except KeyError:
        raise errors.missing_key(
            f"{where}: there is no entry {key!r}.", expected=f"one of {list(members)}", received=f"{key!r}"
        ) from None


def _layer(given: Any, where: str) -> Layer:
    if not isinstance(given, Layer):
        raise errors.asserted(f"{where}: not a Layer.", expected="a Layer", received=f"module: {type(given).__name__}")
    return given


class Sequential(Layer):
    """Layers called one after another.

    Args:
        *layers (Layer|tuple[str, Layer]): the layers, or pairs of a name and a layer; or one dictionary of them.

    Examples:
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), ("act", paddle.nn.ReLU()))
        >>> net(paddle.ones([2, 4])).shape
        paddle.Size([2, 3])
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], Mapping):
            layers = tuple(layers[0].items())
        if layers and isinstance(layers[0], (list, tuple)) and not isinstance(layers[0], Layer):
            if len(layers) == 1 and not (len(layers[0]) == 2 and isinstance(layers[0][0], str)):
                layers = tuple(layers[0])
        for i, layer in enumerate(layers):
            if isinstance(layer, (list, tuple)):
                self.add_sublayer(layer[0], layer[1])
            else:
                self.add_sublayer(str(i), layer)

    def _key(self, i: int) -> str:
        return list(self._sub_layers)[_absolute(i, len(self._sub_layers), "Sequential")]

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, slice):
            return type(self)(*list(self._sub_layers.values())[name])
        if isinstance(name, str):
            return _member(self._sub_layers, name, "Sequential")
        return self._sub_layers[self._key(name)]

    def __setitem__(self, name: Any, layer: Layer) -> None:
        is_new = isinstance(name, str) or (isinstance(name, int) and name >= len(self))
        self.add_sublayer(str(name) if is_new else self._key(name), _layer(layer, "Sequential"))

    def __delitem__(self, name: Any) -> None:
        names = list(self._sub_layers)
        if isinstance(name, slice):
            gone = names[name]
        elif isinstance(name, int) and -len(names) <= name < len(names):
            gone = [names[name]]
        else:
            gone = [str(name)]
        for key in gone:
            if key not in self._sub_layers:
                raise errors.asserted(
                    f"Sequential: there is no entry {name!r}.", expected=f"one of {names}", received=f"{name!r}"
                )
            del self._sub_layers[key]  # the others keep their names, and with them their places in a state_dict

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(list(self._sub_layers.values()))

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise errors.invalid_argument(
                "Sequential: what is added is no Sequential.", expected="a Sequential", received=type(other).__name__
            )
        return Sequential(*self, *other)

    def append(self, module: Layer) -> Sequential:
        """Adds a layer at the end; returns the container."""
        self.add_sublayer(self._free(), _layer(module, "Sequential.append"))
        return self

    def _free(self) -> str:
        """The first number from the length on that is no name."""
        i = len(self)
        while str(i) in self._sub_layers:
            i += 1
        return str(i)

    def extend(self, sequential: Iterable[Layer]) -> Sequential:
        """Adds several layers at the end; returns the container."""
        for layer in list(sequential):
            self.append(layer)
        return self

    def insert(self, index: int, module: Layer) -> Sequential:
        """Puts a layer before position `index`; returns the container. Numbers are given anew, names stay."""
        _layer(module, "Sequential.insert")
        n = len(self)
        if not -n <= index <= n:
            raise errors.out_of_range(
                "Sequential.insert: there is no such position.", expected=f"[{-n}, {n}]", received=f"index: {index}"
            )
        numbered = list(self._sub_layers) == [str(i) for i in range(n)]
        pairs = list(self._sub_layers.items())
        pairs.insert(index + n if index < 0 else index, (self._free(), module))
        self._sub_layers.clear()
        for i, (name, layer) in enumerate(pairs):
            self.add_sublayer(str(i) if numbered else name, layer)
        return self

    def pop(self, key: int | slice) -> Any:
        """Takes a layer out, and returns it."""
        found = self[key]
        del self[key]
        return found

    def forward(self, input: Any) -> Any:
        for layer in self._sub_layers.values():
            input = layer(input)
        return input


class _Holder(Layer):
    """A layer that only holds others."""

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        kind = type(self).__name__
        raise errors.unimplemented(
            f"{kind}: it holds others and computes nothing.",
            expected="a call of one of its entries, or of a Sequential",
            received=f"a call of {kind}",
            hint="write a Layer whose forward calls them, as in `for layer in layers: x = layer(x)`.",
        )


class LayerList(_Holder):
    """A list of layers, all of them registered.

    Args:
        sublayers (Iterable[Layer], optional): the first entries.

    Examples:
        >>> layers = paddle.nn.LayerList([paddle.nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers)
        3
    """

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        for i, layer in enumerate(sublayers or ()):
            self.add_sublayer(str(i), layer)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._sub_layers.values())[idx])
        return self._sub_layers[str(_absolute(idx, len(self), "LayerList"))]

    def __setitem__(self, idx: int, sublayer: Layer) -> None:
        self.add_sublayer(str(_absolute(idx, len(self), "LayerList")), _layer(sublayer, "LayerList"))

    def __delitem__(self, idx: Any) -> None:
        layers = list(self._sub_layers.values())
        if not isinstance(idx, slice):
            idx = _absolute(idx, len(layers), "LayerList")
        del layers[idx]
        self._renumber(layers)

    def _renumber(self, layers: list[Layer]) -> None:
        self._sub_layers.clear()
        for i, layer in enumerate(layers):
            self._sub_layers[str(i)] = layer

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(list(self._sub_layers.values()))

    def __add__(self, other: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *other])

    def __iadd__(self, other: Iterable[Layer]) -> LayerList:
        return self.extend(other)

    def append(self, sublayer: Layer) -> LayerList:
        """Adds a layer at the end; returns the list."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """Adds layers at the end; returns the list."""
        for layer in list(sublayers):
            self.append(layer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Puts a layer before position `index`."""
        if not isinstance(index, int) or not -len(self) <= index <= len(self):
            raise errors.asserted(
                "LayerList.insert: there is no such position.",
                expected=f"an integer in [{-len(self)}, {len(self)}]",
                received=f"index: {index!r}",
            )
        layers = list(self)
        layers.insert(index + len(self) if index < 0 else index, sublayer)
        self._renumber(layers)

    def pop(self, key: int = -1) -> Layer:
        """Takes a layer out, and returns it."""
        found = self[key]
        del self[key]
        return found


class LayerDict(_Holder):
    """A dictionary of layers, all of them registered.

    Args:
        sublayers (LayerDict|dict|list[tuple[str, Layer]], optional): the first entries.

    Examples:
        >>> layers = paddle.nn.LayerDict({"fc": paddle.nn.Linear(2, 2)})
        >>> list(layers.keys())
        ['fc']
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Layer:
        return _member(self._sub_layers, key, "LayerDict")

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        _member(self._sub_layers, key, "LayerDict")
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        self._sub_layers.clear()

    def pop(self, key: str) -> Layer:
        """Takes a layer out, and returns it."""
        _member(self._sub_layers, key, "LayerDict")
        return self._sub_layers.pop(key)

    def keys(self) -> Iterable[str]:
        return self._sub_layers.keys()

    def items(self) -> Iterable[tuple[str, Layer]]:
        return self._sub_layers.items()

    def values(self) -> Iterable[Layer]:
        return self._sub_layers.values()

    def update(self, sublayers: Any) -> None:
        """Adds or replaces entries, from a dictionary or from pairs."""
        if not isinstance(sublayers, Iterable):
            raise errors.asserted(
                "LayerDict.update: this holds no layers.",
                expected="a dict, LayerDict or iterable of pairs",
                received=type(sublayers).__name__,
            )
        pairs = sublayers.items() if isinstance(sublayers, (Mapping, LayerDict)) else sublayers
        for i, pair in enumerate(pairs):
            if len(pair) != 2:
                raise errors.invalid_argument(
                    f"LayerDict.update: entry {i} is not a pair.",
                    expected="a name and a layer",
                    received=f"{len(pair)} elements",
                )
            self.add_sublayer(*pair)


class ParameterList(_Holder):
    """A list of parameters, all of them registered.

    Args:
        parameters (Iterable[Parameter], optional): the first entries.
    """

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__()
        for i, p in enumerate(parameters or ()):
            self._accept(p)
            self.add_parameter(str(i), p)

    def _accept(self, p: Any) -> None:
        if not isinstance(p, Parameter):
            raise errors.asserted("ParameterList: not a Parameter.", expected="a Parameter", received=type(p).__name__)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._parameters.values())[idx])
        at = idx + len(self) if isinstance(idx, int) and idx < 0 else idx
        return _member(self._parameters, str(at), "ParameterList")

    def __setitem__(self, idx: int, param: Any) -> None:
        self._accept(param)
        setattr(self, str(_absolute(idx, len(self), "ParameterList")), param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._parameters.values()))

    def append(self, parameter: Any) -> ParameterList:
        """Adds a parameter at the end; returns the list."""
        self.add_parameter(str(len(self)), parameter)
        return self

    def extend(self, parameters: Iterable[Any]) -> ParameterList:
        """Adds parameters at the end; returns the list."""
        for p in list(parameters):
            self.append(p)
        return self


class ParameterDict(_Holder):
    """A dictionary of parameters, all of them registered.

    Args:
        parameters (ParameterDict|dict|list[tuple[str, Parameter]], optional): the first entries.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return _member(self._parameters, key, "ParameterDict")

    def __setitem__(self, key: str, param: Any) -> None:
        if not isinstance(param, Parameter):
            raise errors.asserted(
                "ParameterDict: not a Parameter.", expected="a Parameter", received=type(param).__name__
            )
        setattr(self, key, param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> Iterable[str]:
        return self._parameters.keys()

    def values(self) -> Iterable[Any]:
        return self._parameters.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        return self._parameters.items()

    def update(self, parameters: Any) -> None:
        """Adds or replaces entries, from a dictionary or from pairs."""
        if not isinstance(parameters, Iterable):
            raise errors.asserted(
                "ParameterDict.update: this holds no parameters.",
                expected="a dict, ParameterDict or iterable of pairs",
                received=type(parameters).__name__,
            )
        pairs = parameters.items() if isinstance(parameters, (Mapping, ParameterDict)) else parameters
        for i, pair in enumerate(pairs):
            if len(pair) != 2:
                raise errors.invalid_argument(
                    f"ParameterDict.update: entry {i} is not a pair.",
                    expected="a name and a parameter",
                    received=f"{len(pair)} elements",
                )
            self[pair[0]] = pair[1]
