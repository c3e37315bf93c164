"""Which names a piece of a function assigns and reads, and in what order."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.While, ast.For)
MUTATING = frozenset("append extend insert pop remove clear update setdefault add discard popitem sort reverse".split())


def own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of the same scope: not those of functions and classes inside, whose definitions themselves count."""
    for node in nodes:
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from own([*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)])
        elif isinstance(node, ast.ClassDef):
            yield from own([*node.decorator_list, *node.bases, *(k.value for k in node.keywords)])
        elif not isinstance(node, ast.Lambda):
            yield from own(ast.iter_child_nodes(node))


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that are given a value, or deleted, in this scope."""
    found: set[str] = set()
    for node in own(nodes):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
    return found - comprehended(nodes)


def comprehended(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that are targets of comprehensions and nothing else: they live inside those."""
    inside: set[str] = set()
    outside: set[str] = set()

    def visit(node: ast.AST, within: bool) -> None:
        if isinstance(node, ast.comprehension):
            inside.update(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
            visit(node.iter, within)
            for test in node.ifs:
                visit(test, within)
            return
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            outside.add(node.id)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, FUNCTIONS):
                visit(child, within)

    for node in nodes:
        visit(node, False)
    return inside - outside


def loaded(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that are read, in functions inside as well."""
    found: set[str] = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
    return found


def read_first(body: Sequence[ast.stmt]) -> tuple[set[str], set[str] | None]:
    """Names that statements may read before they give them a value; and those that they surely give one.

    None for the second: they never come to their end.
    """
    uses: set[str] = set()
    given: set[str] = set()
    for s in body:
        first, sure = _read_first(s)
        uses |= first - given
        if sure is None:
            return uses, None
        given |= sure
    return uses, given


def _read_first(s: ast.stmt) -> tuple[set[str], set[str] | None]:
    if isinstance(s, ast.If):
        sides = [read_first(s.body), read_first(s.orelse)]
        uses = loaded([s.test]) | sides[0][0] | sides[1][0]
        ends = [given for _, given in sides if given is not None]
        return uses, set.intersection(*ends) if ends else None
    if isinstance(s, ast.While):
        return loaded([s.test]) | read_first(s.body)[0] | read_first(s.orelse)[0], set()
    if isinstance(s, ast.For):
        inside = read_first(s.body)[0] - assigned([s.target])
        return loaded([s.iter, s.target]) | inside | read_first(s.orelse)[0], set()
    if isinstance(s, ast.With):
        uses, given = read_first(s.body)
        mine = assigned(list(s.items))
        return loaded(list(s.items)) | (uses - mine), None if given is None else given | mine
    if isinstance(s, (ast.Try, ast.Match)):
        return loaded([s]), set()
    if isinstance(s, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return loaded([s]), None
    return loaded([s]), assigned([s])


def escaping(body: Sequence[ast.stmt]) -> set[str]:
    """Names that functions inside read: they may do so at any time."""
    return {
        name
        for top in body
        for node in ast.walk(top)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.GeneratorExp))
        for name in loaded([node])
    }


def live_in_loops(function: ast.FunctionDef) -> dict[ast.AST, set[str]]:
    """Per loop, names whose values matter when a step begins or the loop has ended."""
    found: dict[ast.AST, set[str]] = {}
    always = escaping(function.body)

    def visit(nodes: Sequence[ast.AST], after: set[str]) -> None:
        """after: what is read behind these statements."""
        later = set(after)
        for node in reversed(nodes):
            if isinstance(node, LOOPS):
                test = loaded([node.test if isinstance(node, ast.While) else node.iter])
                first = read_first(node.body)[0] - (assigned([node.target]) if isinstance(node, ast.For) else set())
                found[node] = always | later | first | loaded(node.orelse)
                if isinstance(node, ast.While):
                    found[node] |= test
                visit(node.body, later | loaded([node]))
                visit(node.orelse, later)
            elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                for name in ("body", "orelse", "finalbody"):
                    inner = getattr(node, name, None)
                    if isinstance(inner, list):
                        visit(inner, later | (loaded([node]) if isinstance(node, ast.Try) else set()))
                for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                    visit(part.body, later)
            later |= loaded([node])

    visit(function.body, set())
    return found


def dotted(node: ast.AST) -> bool:
    """Whether an expression is a name, or attributes of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def boxes(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Expressions, by their text, of lists and dicts that may be changed in place."""
    found: dict[str, ast.expr] = {}
    for node in own(nodes):
        at: ast.expr | None = None
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in MUTATING:
            at = node.value
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            at = node.value
            while isinstance(at, ast.Subscript):
                at = at.value
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, (ast.Name, ast.Attribute)):
            at = node.target  # a list grows by +=
        if at is not None and dotted(at):
            found[ast.unparse(at)] = at
    return found


def attributes(nodes: Iterable[ast.AST]) -> dict[str, ast.Attribute]:
    """Attributes, by their text, that are assigned: of names, or of attributes of names."""
    return {
        ast.unparse(node): node
        for node in own(nodes)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and dotted(node)
    }


def contains(nodes: Iterable[ast.AST], what: type | tuple[type, ...]) -> bool:
    return any(isinstance(n, what) for n in own(nodes))


def exits(nodes: Sequence[ast.stmt], jumps: bool) -> bool:
    """Whether statements may return, or leave the loop around them or its step (`jumps`)."""

    def visit(node: ast.AST, jumps: bool) -> bool:
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, (ast.Break, ast.Continue)):
            return jumps
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return False
        if isinstance(node, (ast.While, ast.For, ast.AsyncFor)):
            return any(visit(n, False) for n in node.body) or any(visit(n, jumps) for n in node.orelse)
        return any(visit(n, jumps) for n in ast.iter_child_nodes(node))

    return any(visit(n, jumps) for n in nodes)


def breaks(loop: ast.While | ast.For) -> bool:
    """Whether a loop has a `break` of its own."""

    def visit(node: ast.AST) -> bool:
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return False
        if isinstance(node, (ast.While, ast.For, ast.AsyncFor)):
            return any(map(visit, node.orelse))
        return any(map(visit, ast.iter_child_nodes(node)))

    return any(map(visit, loop.body))


def ends(body: Sequence[ast.stmt]) -> bool:
    """Whether statements never come to their end."""
    last = body[-1] if body else None
    if isinstance(last, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return True
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    return isinstance(last, ast.With) and ends(last.body)
