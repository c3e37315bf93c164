"""Libraries that are imported when they are needed."""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["try_import"]

_PACKAGES = {"cv2": "opencv-python", "PIL": "Pillow", "sklearn": "scikit-learn", "yaml": "PyYAML"}


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """A module, or an error that says how to install it.

    Args:
        module_name (str): as for `import`.
        err_msg (str, optional): the text of the error. Default: names the package to install.

    Returns:
        module: the imported module.

    Raises:
        ImportError: it cannot be imported.

    Examples:
        >>> paddle.utils.try_import("math").sqrt(4.0)
        2.0
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as e:
        if err_msg is None:
            top = module_name.split(".")[0]
            err_msg = (
                f"Failed importing {module_name}: {e}. What you called needs a package that is not part of the "
                f"installation; `pip install {_PACKAGES.get(top, top)}` usually brings it."
            )
        raise ImportError(err_msg) from e
