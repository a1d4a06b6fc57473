"""Imports a package without dependencies that it loads and that are not used, which take most of its import time.

While the package is imported here, the import statements of some of its modules, and of no other, get a proxy that
imports a dependency on first use: any other use of the package or of the dependency is unaffected. Where that fails,
with another version of the package, the normal import is done.
"""

import builtins
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class _Late(ModuleType):
    """A proxy for a module until first use: a name imported from it is a function that calls it."""

    importing = True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.importing:
            return partial(_call, self.__name__, name)
        return getattr(import_module(self.__name__), name)


def _call(module: str, name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(import_module(module), name)(*args, **kwargs)


class _Patient(Loader):
    """Executes a module with a modified import statement; delegates everything else to the normal loader."""

    def __init__(self, ordinary: Loader, import_: Callable[..., ModuleType]) -> None:
        self._ordinary = ordinary
        self._import = import_

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._ordinary.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": self._import}
        self._ordinary.exec_module(module)


class _Finder(MetaPathFinder):
    """Finds the modules with deferred imports, and records their proxies."""

    def __init__(self, late: Sequence[str], within: Sequence[str]) -> None:
        self._names = tuple(late)
        self._within = tuple(within)
        self.late: dict[str, _Late] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname.startswith(self._within) else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Patient(spec.loader, self._import)
        return spec

    def _import(self, name: str, *args: Any, **kwargs: Any) -> ModuleType:
        if name.partition(".")[0] not in self._names:
            return __import__(name, *args, **kwargs)
        return self.late.setdefault(name, _Late(name))


def lightly(package: str, *, late: Sequence[str], within: Sequence[str]) -> ModuleType:
    """The package; complete if something else has imported it already.

    `late`: the top-level names of what is imported at its first use. `within`: prefixes of the modules, inside of the
    package, for which that holds.
    """
    if package in sys.modules:
        return import_module(package)
    finder = _Finder(late, within)
    sys.meta_path.insert(0, finder)
    try:
        return import_module(package)
    except Exception:  # noqa: BLE001  another version may raise anything
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
    finally:
        sys.meta_path.remove(finder)
        for proxy in finder.late.values():
            proxy.importing = False
    return import_module(package)
