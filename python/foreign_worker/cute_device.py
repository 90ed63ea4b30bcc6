"""CuTe DSL without a GPU: its compiler writes PTX, and its host code calls the recording runtime instead of CUDA's."""
import ctypes
import os
import re
import tempfile

from kw_foreign_worker.common import Refused
from kw_foreign_worker.ptx import param_sizes, renamed


class Cute:
    """The compiled kernels."""

    def __init__(self, job, memory):
        self.memory, self.images, self.names = memory, {}, {}
        os.environ.update(CUTE_DSL_ARCH=job["cute"]["target"], CUTE_DSL_KEEP="ptx", CUTE_DSL_DUMP_DIR=job["cute"]["folder"],
                          CUTE_DSL_CACHE_DIR=job["cute"]["folder"], CUTE_DSL_DISABLE_FILE_CACHING="1", CUTE_DSL_LIBS=job["runtime"])
        tempfile.tempdir = job["cute"]["folder"]
        import cutlass.cute  # noqa: F401  on import it looks for programs, which is not possible later
        import cutlass.cute.runtime  # noqa: F401
        from cutlass.cutlass_dsl import cuda_jit_executor
        self.alias = memory.runtime.library.kw_record_alias
        self.alias.argtypes, self.alias.restype = [ctypes.c_char_p, ctypes.c_char_p], None
        compiled = cuda_jit_executor.CudaDialectJitCompiledFunction
        make, load = compiled.__init__, compiled._load_cuda_library

        def made(function, *words, **named):
            make(function, *words, **named)
            text = getattr(function.artifacts, "PTX", None)
            if isinstance(text, str) and ".entry" in text:
                self.names[function] = self.keep(text)

        def loaded(function):
            if function not in self.names:
                raise Refused("a CuTe kernel is launched whose PTX was not kept")
            for name, entry in self.names[function].items():
                self.alias(name.encode(), entry.encode())
            return load(function)

        compiled.__init__, compiled._load_cuda_library, compiled.num_devices = made, loaded, 1

    def keep(self, text):
        """The names of its kernels, and the names they have in the recording."""
        names = re.findall(r"\.entry\s+(\w+)", text)
        text, entries = renamed(text, names)
        for entry in entries:
            self.images[entry] = text
            numbers = [0, 0, 0, 0, *param_sizes(text, entry)]
            self.memory.runtime.kernel(entry.encode(), (ctypes.c_long * len(numbers))(*numbers), len(numbers))
        return dict(zip(names, entries))
