"""The source transformation: control flow of Python becomes calls of `runtime`, which look at the predicate.

A branch or the body of a loop becomes a function inside, which assigns the variables of the function around it:

    if x.sum() > 0:                def then():
        y = x                          nonlocal y
    else:              ->              y = x
        y = -x                     def other(): ...
    return y                       jst.if_(x.sum() > 0, then, other, jst.State(...))
                                   return y

`return`, `break` and `continue` leave such functions: what follows an `if` that holds one goes into its branches, so
that leaving the branch is leaving all of it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import Any

from . import names as scopes

JST = "jst_0"  # what generated code calls the module `runtime`; no name of the user's is like it
GENERATORS = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


def converted(function: ast.FunctionDef, class_name: str | None = None) -> ast.FunctionDef:
    """A function with its control flow converted, decorators dropped. The tree given is changed."""
    return _Function(function).convert()


class _Around:
    """What statements leave that are a function of their own: the body of a loop, a block of `with` or `try`.

    Attributes:
        out: the flag that ends the loop around them; None outside of loops.
        live: variables that matter afterwards; None for all.
        left: the flag that says that a block was left; None for the body of a loop.
    """

    def __init__(self, out: str | None, live: list[str] | None, left: str | None = None):
        self.out, self.live, self.left = out, live, left


class _Function:
    """The conversion of one function; those inside have their own."""

    def __init__(self, node: ast.FunctionDef, counter: Any = None):
        self.node = node
        self.counter = itertools.count(1) if counter is None else counter
        self.done, self.value = self.fresh("done"), self.fresh("value")
        self.returns_from_inside = False
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.parameters = [a.arg for a in every] + [a.arg for a in (arguments.vararg, arguments.kwarg) if a]
        declared = [n for n in scopes.own(node.body) if isinstance(n, (ast.Global, ast.Nonlocal))]
        self.globals = {x for n in declared if isinstance(n, ast.Global) for x in n.names}
        self.outer = {x for n in declared if isinstance(n, ast.Nonlocal) for x in n.names}
        self.locals = (scopes.assigned(node.body) | set(self.parameters)) - self.globals - self.outer
        self.flags: list[str] = []
        self.rests: list[ast.stmt] = []  # functions for what follows an `if`, which its branches call

    def fresh(self, word: str) -> str:
        return f"jst_{word}_{next(self.counter)}"

    # -- the function --
    def convert(self) -> ast.FunctionDef:
        node = self.node
        node.decorator_list = []
        Inner(self).block(node.body)
        if scopes.contains(node.body, GENERATORS):
            return node
        self.live = scopes.live_in_loops(node)
        Expressions(self).block(node.body)
        documented = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = self.block(node.body[len(documented) :], None)
        head: list[ast.stmt] = []
        bound = sorted(self.locals - set(self.parameters)) + self.flags
        if self.returns_from_inside:
            bound += [self.value]
            head.append(_assign(self.done, ast.Constant(False)))
        if bound:  # makes them variables of this function, without a value
            head.insert(0, ast.If(ast.Constant(False), [_assign(x, ast.Constant(None)) for x in bound], []))
        node.body = [*documented, *head, *body]
        return ast.fix_missing_locations(node)

    # -- statements --
    def block(self, body: Sequence[ast.stmt], loop: _Around | None) -> list[ast.stmt]:
        """Statements whose end is the end of the function that they are in. loop: whose body they are, if any."""
        out: list[ast.stmt] = []
        for k, s in enumerate(body):
            rest = list(body[k + 1 :])
            if isinstance(s, (ast.Return, ast.Break, ast.Continue)):
                return out + self.leave(s, loop)
            if isinstance(s, ast.If) and scopes.exits([s], loop is not None):
                return out + self.leaving_if(s, rest, loop)
            if isinstance(s, scopes.LOOPS):
                made, then = self.loop(s, loop)
                return out + made + self.block([*then, *rest], loop)
            if isinstance(s, (ast.With, ast.Try, ast.Match)) and scopes.exits([s], loop is not None):
                return out + self.leaving_other(s, rest, loop)
            out += self.plain(s, loop)
        return out

    def inside(self, body: Sequence[ast.stmt], loop: _Around | None) -> list[ast.stmt]:
        """Statements that leave nothing."""
        out: list[ast.stmt] = []
        for k, s in enumerate(body):
            if isinstance(s, scopes.LOOPS):
                made, then = self.loop(s, loop)
                return out + made + self.inside([*then, *body[k + 1 :]], loop)
            out += self.plain(s, loop)
        return out

    def plain(self, s: ast.stmt, loop: _Around | None) -> list[ast.stmt]:
        """A statement that leaves nothing."""
        if isinstance(s, ast.If):
            sides = self.inside(s.body, loop), self.inside(s.orelse, loop)
            if static(s.test):
                s.body, s.orelse = sides[0] or [ast.Pass()], sides[1]
                return [s]
            return self.if_call(s, *sides, live=None, leaving=False)
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(s, name, None)
            if isinstance(inner, list) and not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                setattr(s, name, self.inside(inner, loop) or ([ast.Pass()] if name == "body" else []))
        for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            part.body = self.inside(part.body, loop) or [ast.Pass()]
        return [s]

    def leave(self, s: ast.stmt, loop: _Around | None) -> list[ast.stmt]:
        """A statement that leaves the function, the loop or its step, as it is within a function for the body."""
        if loop is None or getattr(s, "native", False):
            return [s]
        out: list[ast.stmt] = []
        if isinstance(s, ast.Return):
            self.returns_from_inside = True
            out += [_assign(self.value, s.value or ast.Constant(None)), _assign(self.done, ast.Constant(True))]
        if not isinstance(s, ast.Continue) and loop.out is not None:
            out.append(_assign(loop.out, ast.Constant(True)))
        return [*(_at(s, x) for x in out), *self.back(s, loop)]

    def back(self, s: ast.stmt, around: _Around) -> list[ast.stmt]:
        """Leaves a body or block, as its flags say by now."""
        out: list[Any] = [] if around.left is None else [_assign(around.left, ast.Constant(True))]
        return [_at(s, x) for x in (*out, _native(ast.Return(None)))]

    def leaving_if(self, s: ast.If, rest: list[ast.stmt], loop: _Around | None) -> list[ast.stmt]:
        """An `if` with exits inside, and what follows it."""
        sides = [list(s.body), list(s.orelse)]
        out: list[ast.stmt] = []
        names: set[str] = set()
        if rest:
            if scopes.ends(sides[0]):
                sides[1] += rest
            elif scopes.ends(sides[1]):
                sides[0] += rest
            else:
                name = self.fresh("rest")
                out.append(self.helper(name, self.block(rest, loop), s))
                names = self.set_in(out[-1:])
                self.rests.append(out[-1])
                for side in sides:
                    side.append(_native(_at(s, ast.Return(_call(name)))))
        made = [self.block(side, loop) for side in sides]
        if static(s.test):
            s.body, s.orelse = made[0] or [ast.Pass()], made[1]
            return [*out, s]
        live = [] if loop is None else loop.live
        return out + self.if_call(s, *made, live=live, leaving=True, more=names)

    def leaving_other(self, s: Any, rest: list[ast.stmt], loop: _Around | None) -> list[ast.stmt]:
        """A `with`, `try` or `match` with exits inside: a function for each block, which leaves word how it ended."""
        flag = self.fresh("left")
        self.flags.append(flag)
        around = _Around(None if loop is None else loop.out, None, flag)

        def apart(body: list[ast.stmt]) -> list[ast.stmt]:
            if not scopes.exits(body, loop is not None):
                return self.inside(body, loop)
            name = self.fresh("block")
            return [self.helper(name, self.block(body, around), s), _at(body[0], ast.Expr(_call(name)))]

        if not isinstance(s, ast.Match):
            s.body = apart(s.body)
        for part in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            part.body = apart(part.body)
        if getattr(s, "orelse", None):  # of a `try` that was not left
            s.orelse = [_at(s.orelse[0], ast.If(_runtime("not_", _name(flag)), apart(s.orelse), []))]
        if getattr(s, "finalbody", None):
            s.finalbody = self.last_block(s.finalbody, s, loop)
        out = [_native(_at(s, ast.Return(_name(self.value))))] if loop is None else self.back(s, loop)
        after = _at(s, ast.If(_name(flag), out, []))
        return [_at(s, _assign(flag, ast.Constant(False))), s, *self.block([after, *rest], loop)]

    def last_block(self, body: list[ast.stmt], s: ast.stmt, loop: _Around | None) -> list[ast.stmt]:
        """The block of a `finally`: leaving it, an error that is under way is forgotten, so Python has to see it."""
        if not scopes.exits(body, loop is not None):
            return self.inside(body, loop)
        name, left = self.fresh("block"), self.fresh("left")
        self.flags.append(left)
        go_on = _native(_at(body[-1], ast.Return(_attribute("GO_ON"))))
        made = self.block(body if scopes.ends(body) else [*body, go_on], loop)
        test = ast.Compare(_name(left), [ast.IsNot()], [_attribute("GO_ON")])
        left_is = _at(body[-1], ast.If(test, [ast.Return(_name(left))], []))
        return [self.helper(name, made, s), _at(body[0], _assign(left, _call(name))), left_is]

    def loop(self, s: ast.While | ast.For, outer: _Around | None) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """A loop as a call, and the statements that come behind it: its `else`, and what follows from a return."""
        returns = any(isinstance(n, ast.Return) for n in scopes.own(s.body))
        leaves = returns or scopes.breaks(s)
        flag = self.fresh("out")
        live = sorted(self.live.get(s, set()) & self.locals | (self.live.get(s, set()) & self.outer))
        flags = [flag] if leaves else []
        if leaves:
            self.flags.append(flag)
        if returns:
            flags += [self.done, self.value]
        inner = _Around(flag, live + flags)
        body = self.block(s.body, inner)
        orelse = list(s.orelse)
        out: list[ast.stmt] = [_at(s, _assign(flag, ast.Constant(False)))] if leaves else []
        name = self.fresh("body")
        if isinstance(s, ast.For):
            item = self.fresh("item")
            body = [_at(s.target, ast.Assign([s.target], _name(item))), *body]
            out.append(self.helper(name, body, s, [item]))
        else:
            out.append(self.helper(name, body, s))
        variables = self.variables(out[-1:]) | set(flags)
        state, setter = self.state(s, out[-1:], variables, set(live + flags) | self.globals | self.outer)
        out += setter
        ended = _lambda(_name(flag)) if leaves else ast.Constant(None)
        if isinstance(s, ast.For):
            call = _runtime("for_", s.iter, _name(name), state, ended)
        else:
            test = self.fresh("test")
            out.append(self.helper(test, [_at(s.test, ast.Return(s.test))], s))
            call = _runtime("while_", _name(test), _name(name), state, ended)
        out.append(_at(s.iter if isinstance(s, ast.For) else s.test, ast.Expr(call)))
        behind: list[ast.stmt] = []
        if orelse and leaves:
            behind.append(_at(s, ast.If(_runtime("not_", _name(flag)), orelse, [])))
        else:
            behind += orelse
        if returns:
            test_done = _name(self.done)
            left: list[ast.stmt] = [_native(_at(s, ast.Return(_name(self.value))))]
            if outer is not None:
                left = [] if outer.out is None else [_at(s, _assign(outer.out, ast.Constant(True)))]
                left += self.back(s, outer)
            behind.insert(0, _at(s, ast.If(test_done, left, [])))
        return out, behind

    # -- pieces --
    def variables(self, made: Sequence[ast.stmt]) -> set[str]:
        """Variables of this function that functions inside assign."""
        known = self.locals | self.globals | self.outer | set(self.flags) | {self.done, self.value}
        return self.set_in(made) & known

    def helper(self, name: str, body: list[ast.stmt], at: ast.AST, args: Sequence[str] = ()) -> ast.stmt:
        """A function inside that assigns the variables of this one."""
        mine = scopes.assigned(body) - set(args)
        shared = [x for x in mine if x not in self.globals and (x in self.locals | self.outer or x.startswith("jst_"))]
        local = {n.name for n in scopes.own(body) if isinstance(n, ast.FunctionDef) and n.name.startswith("jst_")}
        declared: list[ast.stmt] = []
        shared = sorted(set(shared) - local)
        if shared:
            declared.append(ast.Nonlocal(shared))
        if mine & self.globals:
            declared.append(ast.Global(sorted(mine & self.globals)))
        arguments = ast.arguments([], [ast.arg(a) for a in args], None, [], [], None, [])
        made = _define(name, arguments, [*declared, *(body or [ast.Pass()])])
        return _at(at, made)

    def if_call(
        self, s: ast.If, then: list[ast.stmt], other: list[ast.stmt], live: Sequence[str] | None, leaving: bool,
        more: set[str] = frozenset(),  # type: ignore[assignment]
    ) -> list[ast.stmt]:  # fmt: skip
        names = [self.fresh("then"), self.fresh("other")]
        made = [self.helper(n, body, s) for n, body in zip(names, (then, other))]
        variables = self.variables(made) | more & self.locals
        wanted = None if live is None else set(live) | self.outer | self.globals
        state, setter = self.state(s, [*made, *self.rests], variables, wanted)
        call = _runtime("if_", s.test, _name(names[0]), _name(names[1]), state)
        last: ast.stmt = ast.Return(call) if leaving else ast.Expr(call)
        return [*made, *setter, _at(s.test, last)]

    def set_in(self, made: Sequence[ast.stmt]) -> set[str]:
        """Names that functions inside declare."""
        return {x for top in made for n in ast.walk(top) if isinstance(n, (ast.Nonlocal, ast.Global)) for x in n.names}

    def state(
        self, s: ast.AST, body: Sequence[ast.AST], variables: set[str], live: set[str] | None
    ) -> tuple[ast.expr, list[ast.stmt]]:
        """What gets and sets the variables of a construct, and the statements that define it."""
        order = sorted(variables)
        inside = [n for top in body for n in ast.walk(top) if isinstance(n, ast.stmt)]
        found = {k: v for k, v in scopes.boxes(inside).items() if _safe(v)}
        fields = {k: v for k, v in scopes.attributes(inside).items() if _safe(v)}
        setter = self.fresh("set")
        values = self.fresh("values")
        lines: list[ast.stmt] = []
        shared = [x for x in order if x not in self.globals]
        if shared:
            lines.append(ast.Nonlocal(shared))
        if len(shared) < len(order):
            lines.append(ast.Global([x for x in order if x in self.globals]))
        if order:
            lines.append(ast.Assign([ast.Tuple([_name(x, ast.Store()) for x in order], ast.Store())], _name(values)))
        for x in order:
            test = _runtime("is_unset", _name(x))
            lines.append(ast.If(test, [ast.Delete([_name(x, ast.Del())])], []))
        arguments = ast.arguments([], [ast.arg(values)], None, [], [], None, [])
        define = _define(setter, arguments, lines or [ast.Pass()])
        state = _runtime(
            "State",
            _tuple([_lambda(_name(x)) for x in order]),
            _name(setter),
            _tuple([ast.Constant(x) for x in order]),
            ast.Constant(None) if live is None else _tuple([ast.Constant(x) for x in sorted(live)]),
            _tuple([_tuple([ast.Constant(k), _lambda(_load(v))]) for k, v in sorted(found.items())]),
            _tuple(
                [
                    _tuple([ast.Constant(k), _lambda(_load(v.value)), ast.Constant(v.attr)])
                    for k, v in sorted(fields.items())
                ]
            ),
            _tuple([ast.Constant(self.value)]),
        )
        return state, [_at(s, define)]


class Inner:
    """Converts the functions that are defined inside a function."""

    def __init__(self, owner: _Function):
        self.owner = owner

    def block(self, body: list[ast.stmt]) -> None:
        for top in body:
            for node in list(scopes.own([top])):
                if isinstance(node, ast.FunctionDef):
                    decorators = node.decorator_list
                    _Function(node, self.owner.counter).convert()
                    node.decorator_list = decorators  # they belong to the statement that defines it


class Expressions(ast.NodeTransformer):
    """Calls, and operators that Python decides by the truth of a value."""

    def __init__(self, owner: _Function):
        self.first = owner.parameters[0] if owner.parameters else None

    def block(self, body: list[ast.stmt]) -> None:
        for i, s in enumerate(body):
            body[i] = self.visit(s)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args = self.visit(node.args)
        return node  # its body has been converted

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        f = node.func
        if isinstance(f, ast.Name) and f.id in ("super", "locals", "globals", "vars", "dir", "eval", "exec"):
            if f.id == "super" and not node.args and self.first is not None:
                node.args = [_name("__class__"), _name(self.first)]
            return node
        if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id == JST:
            return node
        node.func = _at(f, _runtime("call", f))  # type: ignore[assignment]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if _fixed(node):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return _at(node, _runtime(name, *(_at(v, _lambda(v)) for v in node.values)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _at(node, _runtime("not_", node.operand)) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if _fixed(node) or static(node.test):
            return node
        sides = (_at(v, _lambda(v)) for v in (node.body, node.orelse))
        return _at(node, _runtime("choose", node.test, *sides))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 or _fixed(node):
            return node
        words = _tuple([ast.Constant(type(op).__name__) for op in node.ops])
        return _at(node, _runtime("chain", words, *(_at(v, _lambda(v)) for v in (node.left, *node.comparators))))

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        message = ast.Constant(None) if node.msg is None else _lambda(node.msg)
        if _fixed(node):
            return node
        test = ast.If(_name("__debug__"), [_at(node, ast.Expr(_runtime("assert_", node.test, message)))], [])
        return _at(node, test)


def static(test: ast.expr) -> bool:
    """Whether a predicate is surely no Tensor: Python decides."""
    if isinstance(test, ast.Constant) or (isinstance(test, ast.Name) and test.id == "__debug__"):
        return True
    if isinstance(test, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops)
    return False


def _fixed(node: ast.AST) -> bool:
    """Whether an expression cannot move into a lambda."""
    return any(isinstance(n, (ast.NamedExpr, *GENERATORS)) for n in ast.walk(node))


def _safe(node: ast.expr) -> bool:
    """Whether an expression is of the user's: looking at it again does nothing."""
    return not any(isinstance(n, ast.Name) and n.id.startswith("jst_") for n in ast.walk(node))


# ---- making nodes -----------------------------------------------------------------------------
def _at(place: ast.AST, node: Any) -> Any:
    """The node, with what it is made of, at the place of another in the source."""
    if hasattr(place, "lineno"):
        for n in ast.walk(node):
            if "lineno" in n._attributes and not hasattr(n, "lineno"):
                ast.copy_location(n, place)
    return node


def _name(x: str, ctx: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(x, ctx or ast.Load())


def _assign(x: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([_name(x, ast.Store())], value)


def _attribute(word: str) -> ast.expr:
    return ast.Attribute(_name(JST), word, ast.Load())


def _runtime(word: str, *args: ast.expr) -> ast.expr:
    return ast.Call(_attribute(word), list(args), [])


def _call(name: str) -> ast.expr:
    return ast.Call(_name(name), [], [])


def _tuple(items: list[Any]) -> ast.expr:
    return ast.Tuple(items, ast.Load())


def _lambda(value: ast.expr) -> ast.expr:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), value)


def _native(node: Any) -> Any:
    """Marks a `return` that means what it says also in the body of a loop."""
    node.native = True
    return node


def _load(node: ast.expr) -> ast.expr:
    """The same expression, to be read."""
    made = ast.parse(ast.unparse(node), mode="eval").body
    for n in ast.walk(made):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(n, name):
                delattr(n, name)
    return made


def _define(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.FunctionDef(name, arguments, body, [], None)
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []
    return made
