"""The floor of all compiled code: kernels, calls by signature, and what is kept of both on disk.

`kernels` has the decorator, `entries` functions that are called by their address, of a signature that who uses them
names; `kept` keeps machine code, and `compiler` alone knows how numba makes it.  It knows no views and no learners.
"""

from lpsm.native.kept import Kept, folder_of, is_plain
from lpsm.native.kernels import Kernel, block, compiled

__all__ = ["Kept", "Kernel", "block", "compiled", "folder_of", "is_plain"]
